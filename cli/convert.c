/* `saddle convert`: from one file of a matrix to another. */
#include "cli/command.h"
#include "cli/memory.h"
#include "cli/outfile.h"
#include "cli/progress.h"

#include <inttypes.h>
#include <string.h>

enum { STORAGE_KEEP, STORAGE_SYMMETRIC, STORAGE_GENERAL };

static int wanted_storage(const arguments *a)
{
    if (argument_flag(a, "symmetric")) return STORAGE_SYMMETRIC;
    return argument_flag(a, "general") ? STORAGE_GENERAL : STORAGE_KEEP;
}

/* B is A sorted by columns, without duplicates, in the storage wanted: symmetric ones as their lower
 * triangle. */
static saddle_status rearrange(const arguments *a, const saddle_matrix *A, const saddle_hooks *hooks,
                               saddle_matrix *B, char *message)
{
    const int storage = wanted_storage(a);
    const bool symmetric =
        storage == STORAGE_SYMMETRIC || (storage == STORAGE_KEEP && A->shape != SADDLE_GENERAL);
    return saddle_convert(A, SADDLE_COLUMNS, symmetric ? SADDLE_LOWER : SADDLE_GENERAL, hooks, B, message);
}

static saddle_status convert(const arguments *a, const saddle_hooks *hooks, char *message)
{
    const char *from = a->operands[0], *to = a->operands[1];
    saddle_matrix A = {0}, B = {0};
    char inner[SADDLE_MESSAGE_SIZE] = "";
    saddle_status status = saddle_read_matrix(from, hooks, &A, message);
    if (status != SADDLE_OK) return status;
    status = rearrange(a, &A, hooks, &B, inner);
    saddle_matrix_free(&A, hooks);
    if (status != SADDLE_OK) {
        snprintf(message, SADDLE_MESSAGE_SIZE, "%.200s: %.300s", from, inner);
        return status;
    }
    if (progress_interrupted())
        status = SADDLE_CANCELLED;
    else
        status = saddle_write_matrix(to, &B, NULL, message);
    if (status == SADDLE_OK && argument_flag(a, "verbose"))
        fprintf(stderr, "%s: %" PRId64 " x %" PRId64 ", %" PRId64 " entries stored, %s\n", to, B.rows,
                B.columns, B.entries, B.shape == SADDLE_LOWER ? "symmetric" : "general");
    saddle_matrix_free(&B, hooks);
    return status;
}

static int run_convert(const arguments *a)
{
    char message[SADDLE_MESSAGE_SIZE] = "";
    memory counted;
    if (argument_flag(a, "symmetric") && argument_flag(a, "general"))
        return usage_error(a, "--symmetric and --general are mutually exclusive");
    const int error = outfile_check(a->operands[1]);
    if (error) return fail(EXIT_FILE, "%s: cannot be written: %s", a->operands[1], strerror(error));
    saddle_hooks hooks = progress_begin(a);
    memory_begin(&counted, a->library.max_memory, &hooks);
    saddle_status status = convert(a, &hooks, message);
    progress_end();
    if (status != SADDLE_OK && progress_interrupted()) {
        status = SADDLE_CANCELLED;
        snprintf(message, sizeof message, "interrupted; nothing was written");
    }
    status = memory_settle(&counted, status, message);
    return status == SADDLE_OK ? EXIT_DONE : fail(exit_status(status), "%s", message);
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
