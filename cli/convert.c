/* `saddle convert`: from one file of a matrix to another. */
#include "cli/outfile.h"
#include "cli/progress.h"
#include "cli/run.h"

#include <inttypes.h>

/* Sorted by columns, without duplicates, in the storage wanted: symmetric ones as their lower triangle. */
static saddle_status convert(run *r)
{
    const arguments *a = r->a;
    const char *to = a->operands[1];
    saddle_matrix B = {0};
    char inner[SADDLE_MESSAGE_SIZE] = "";
    saddle_status status = run_read(r, NULL);
    if (status != SADDLE_OK) return status;
    const bool whole =
        argument_given(a, "general") || (r->A.shape == SADDLE_GENERAL && !argument_given(a, "symmetric"));
    status =
        saddle_convert(&r->A, SADDLE_COLUMNS, whole ? SADDLE_GENERAL : SADDLE_LOWER, &r->hooks, &B, inner);
    saddle_matrix_free(&r->A, &r->hooks);
    if (status != SADDLE_OK) return run_fail(r, status, "%.200s: %.300s", r->path, inner);
    status = progress_interrupted() ? SADDLE_CANCELLED : saddle_write_matrix(to, &B, NULL, r->message);
    if (status == SADDLE_OK && argument_given(a, "verbose"))
        fprintf(stderr, "%s: %" PRId64 " x %" PRId64 ", %" PRId64 " entries stored, %s\n", to, B.rows,
                B.columns, B.entries, B.shape == SADDLE_LOWER ? "symmetric" : "general");
    saddle_matrix_free(&B, &r->hooks);
    return status;
}

static int run_convert(const arguments *a)
{
    run r;
    if (argument_given(a, "symmetric") && argument_given(a, "general"))
        return usage_error(a, "--symmetric and --general are mutually exclusive");
    const int refused = outfile_refuse(a->operands[1]);
    if (refused != EXIT_DONE) return refused;
    run_begin(&r, a);
    run_end(&r, convert(&r));
    if (r.status == SADDLE_CANCELLED) run_fail(&r, r.status, "interrupted; nothing was written");
    return r.status == SADDLE_OK ? EXIT_DONE : fail(r.exit, "%s", r.message);
}

static const option convert_options[] = {
    OPTION_FLAG("symmetric", 0, "write one triangle; fail if the matrix is not symmetric"),
    OPTION_FLAG("general", 0, "write all entries, even if the matrix is symmetric"),
    OPTION_END,
};

const command command_convert = {
    .name = "convert",
    .operands = "IN OUT",
    .help = "write a matrix in another format",
    .about =
        "Reads a matrix and writes it with sorted indices and duplicate entries summed. The input format is "
        "recognised by its content, the output format is chosen by the file name: .mtx (Matrix Market) or "
        ".rb (Rutherford-Boeing), either with .gz; - is standard input or output, written as Matrix Market. "
        "A matrix that is symmetric in value is written as its lower triangle.",
    .examples = "  saddle convert A.rb A.mtx.gz\n"
                "  saddle convert A.mtx - --general | less   # both triangles\n",
    .options = convert_options,
    .library = "max_memory",
    .least = 2,
    .most = 2,
    .run = run_convert,
};
