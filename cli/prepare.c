/*
 * `saddle prepare`: what is done to a matrix before it is factored, by itself: scaling, matching, pairs,
 * ordering, blocking. All of it comes from saddle_prepare; here it is asked for, written and told.
 */
#include "cli/prepare.h"

#include "cli/outfile.h"
#include "cli/plot.h"
#include "cli/progress.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A message of the library does not know the file: its name goes before it. */
static saddle_status prepare_matrix(prepare_run *r)
{
    char inner[SADDLE_MESSAGE_SIZE] = "";
    const saddle_status status =
        saddle_prepare(&r->run.A, &r->run.a->library, &r->given.arrays, &r->run.hooks, &r->p, inner);
    r->prepared = status == SADDLE_OK;
    if (r->prepared) return status;
    if (status == SADDLE_BAD_OPTION) { /* options that do not go together: in the program's spelling */
        for (char *c = inner; *c; ++c) {
            if (*c == '_') *c = '-';
        }
        return run_fail(&r->run, status, "%s", inner);
    }
    const char *file = given_at_fault(r->run.a, status);
    return run_fail(&r->run, status, "%.200s: %.300s", file ? file : r->run.path,
                    *inner ? inner : saddle_status_text(status));
}

/* From the file to the preparation. */
static saddle_status work(prepare_run *r)
{
    saddle_status status = run_read(&r->run, "matrices can be prepared");
    if (status == SADDLE_OK)
        status = given_read(r->run.a, &r->run.A, &r->run.memory, &r->run.hooks, &r->given, r->run.message);
    if (status == SADDLE_OK) status = prepare_matrix(r);
    given_free(&r->given, &r->run.memory, &r->run.hooks);
    return status;
}

/* Why --json or --plot cannot be written there: the message in r->run.message, and true. */
static bool is_refused(prepare_run *r, const char *path)
{
    const int error = outfile_check(path);
    if (error)
        run_fail(&r->run, SADDLE_FILE_WRITE, "%.200s: cannot be written: %s", path, strerror(error));
    else if (path && argument_given(r->run.a, "out") && is_vector_file(r, path))
        run_fail(&r->run, SADDLE_FILE_WRITE, "%.200s: cannot be written: --out writes a file of this name",
                 path);
    else
        return false;
    return true;
}

/* What cannot be written is told before the work, not after it. */
static saddle_status check_outputs(prepare_run *r)
{
    const saddle_status status = argument_given(r->run.a, "out") ? check_folder(r) : SADDLE_OK;
    char first[SADDLE_MESSAGE_SIZE];
    memcpy(first, r->run.message, sizeof first);
    r->run.json_refused = is_refused(r, argument_text(r->run.a, "json"));
    if (status != SADDLE_OK) {
        memcpy(r->run.message, first, sizeof first);
        return status;
    }
    return r->run.json_refused || is_refused(r, argument_text(r->run.a, "plot")) ? SADDLE_FILE_WRITE
                                                                                 : SADDLE_OK;
}

static void finish(prepare_run *r)
{
    const char *plot = argument_text(r->run.a, "plot");
    if (r->prepared && argument_given(r->run.a, "out")) run_settle(&r->run, write_folder(r));
    if (r->run.status == SADDLE_OK && !argument_given(r->run.a, "quiet") && !is_standard(r->run.a, "json"))
        print_preparation(r);
    if (r->run.exit == EXIT_USAGE)
        usage_error(r->run.a, "%s", r->run.message);
    else if (r->run.status != SADDLE_OK)
        fail(r->run.exit, "%s", r->run.message);
    if (r->prepared && plot) run_output(&r->run, plot_preparation(r, plot));
    run_json(&r->run, json_preparation, r);
    leave_folder(r);
    saddle_preparation_free(&r->p, &r->run.hooks);
    saddle_matrix_free(&r->run.A, &r->run.hooks);
}

static int run_prepare(const arguments *a)
{
    static const char *const outputs[] = {"json", "plot", "out"}, *const inputs[] = {"scaling", "order",
                                                                                     NULL};
    static prepare_run r;
    int status = outputs_check(a, outputs, 3);
    if (status == EXIT_DONE) status = given_check(a, a->operands[0], inputs);
    if (status == EXIT_DONE && is_standard(a, "out"))
        status = usage_error(a, "--out is a folder and cannot be standard output");
    if (status == EXIT_DONE) status = plot_check(argument_text(a, "plot"));
    if (status != EXIT_DONE) return status;
    run_begin(&r.run, a);
    saddle_status result = check_outputs(&r);
    if (result == SADDLE_OK) result = work(&r);
    run_end(&r.run, result);
    finish(&r);
    return r.run.exit;
}

static const option prepare_options[] = {
    OPTION_TEXT("out", "DIR", NULL,
                "write scaling, order, pairs and blocks into this folder, created if missing"),
    OPTION_TEXT("json", "FILE|-", NULL, "write all results as one JSON object"),
    OPTION_TEXT("plot", "FILE", NULL, "draw the prepared matrix and its blocks (.svg or .png)"),
    OPTION_END,
};

const command command_prepare = {
    .name = "prepare",
    .operands = "A.mtx[.gz]",
    .help = "scale, match, pair, order and block a matrix, and measure the result",
    .about = "Prepares a matrix for factorization: scales it, matches rows and columns so that the product "
             "of the matched entries is maximal, keeps matched 2x2 pairs together, orders it for low fill, "
             "and partitions it into blocks. Reports what was chosen and measures it: exact fill and "
             "operations of a complete factorization, level sets, stored entries, dominance.\n\n"
             "--scaling and --order also accept a file, an n x 1 vector: positive numbers for --scaling (for "
             "a general matrix also two files, ROWS,COLS); for --order the old index, counted from 1, at "
             "each new position.\n\n"
             "--out writes n x 1 arrays, all counted from 1: scaling.mtx; permutation.mtx (the old index at "
             "each new position); pairs.mtx (the partner of each row, or 0); blocks.mtx (the first row of "
             "each block in the new order, then n + 1); matching.mtx (the row matched with each column, or "
             "0) if there is a matching. A general matrix has scaling-row.mtx, scaling-col.mtx and "
             "row-permutation.mtx; permutation.mtx is then the order of its columns.",
    .examples = "  saddle prepare A.mtx.gz                             # what auto chooses, and its fill\n"
                "  saddle prepare A.mtx --blocking clusters --plot B.png\n"
                "  saddle prepare A.mtx --order amd --out prepared     # the vectors, as files\n"
                "  saddle prepare A.mtx --order prepared/permutation.mtx --scaling prepared/scaling.mtx\n",
    .options = prepare_options,
    .library = "scaling|order|pairs|blocking|block_size|factorizations|threads|max_memory",
    .least = 1,
    .most = 1,
    .run = run_prepare,
};
