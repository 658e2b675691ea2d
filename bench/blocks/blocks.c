/*
 * `saddle bench blocks`: kernels on batches of small dense blocks beside the peers and a copy of the batch.
 *
 * The program sees the public header alone and is linked with no peer, so the measuring is done by drivers,
 * blocks-cpu and blocks-cuda (driver/driver.h), whose lines are shown, as tables, JSON and a picture. With
 * matrices the public solver runs block-Jacobi on them (solve.c).
 */
#include "bench/blocks/blocks.h"

#include "bench/child.h"
#include "cli/memory.h"
#include "cli/progress.h"
#include "cli/run.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS_MOST = 11, PASSED_SIZE = 2, NAMES_LENGTH = 256, SIZE_MOST = 32, PART_MIXED = 2 };

static int no_driver(const char *file, const char *path)
{
    if (strcmp(file, "blocks-cuda") == 0)
        return fail(EXIT_FILE,
                    "%s does not exist: it is built if nvcc is found (scripts/build release "
                    "-DSADDLE_CUDA=ON), and is not installed",
                    path);
    return fail(EXIT_FILE,
                "%s does not exist: scripts/build builds it if LAPACK is found, except with sanitizers or "
                "-DSADDLE_PEERS=OFF; it is not installed",
                path);
}

/* One line of the driver; an exit status. */
static int take_line(blocks_report *t, const saddle_hooks *hooks, const char *line, bool *done)
{
    if (strncmp(line, "measured ", 9) == 0) {
        block_row *row = one_more(&t->rows, &t->row_count, &t->row_room, sizeof *row);
        if (!row) return fail(EXIT_MEMORY, "out of memory for the measurements");
        if (!block_row_parse(line, row)) return fail(EXIT_FILE, "unexpected line from the driver: %s", line);
    } else if (strncmp(line, "step ", 5) == 0) {
        char *rest;
        const int64_t step = strtoll(line + 5, &rest, 10), steps = strtoll(rest, NULL, 10);
        const saddle_progress where = {"measure", step - 1, steps, NAN};
        hooks->progress(&where, hooks->user);
    } else if (strncmp(line, "machine ", 8) == 0) {
        snprintf(t->machine, sizeof t->machine, "%.250s", line + 8);
    } else if (strncmp(line, "note ", 5) == 0) {
        if (!argument_given(t->a, "quiet")) fail(EXIT_DONE, "%s", line + 5);
    } else if (strncmp(line, "failed ", 7) == 0) {
        return fail(EXIT_DEVICE, "%s", line + 7);
    } else if (strcmp(line, "done") == 0) {
        *done = true;
    }
    return EXIT_DONE;
}

static int listen(blocks_report *t, const saddle_hooks *hooks, const char *const *argv)
{
    child c;
    char line[1024];
    bool done = false;
    int status = EXIT_DONE;
    if (!child_start(&c, argv, INFINITY, false)) return fail(EXIT_FILE, "%s cannot be started", argv[0]);
    while (status == EXIT_DONE && child_line(&c, line, sizeof line) == CHILD_LINE)
        status = take_line(t, hooks, line, &done);
    const int ended = child_end(&c, progress_interrupted());
    if (progress_interrupted()) return fail(EXIT_INTERRUPTED, "interrupted while the driver was running");
    if (status == EXIT_DONE && !done)
        return fail(EXIT_FILE, "%s ended early, with status %d", argv[0], ended);
    return status;
}

/* What was said on the command line, for the driver; text: room for names. */
static void choose_cases(const arguments *a, char *text, size_t room, const char **argv)
{
    static const struct {
        const char *name, *option, *usual;
    } passed[] = {{"part", "--part", "all"},
                  {"threads", "--threads", "1"},
                  {"size", "--size", NULL},
                  {"kernel-version", "--version", NULL},
                  {"instructions", "--instructions", NULL}};
    for (size_t k = 0; k < sizeof passed / sizeof passed[0]; ++k) {
        const char *value =
            argument_given(a, passed[k].name) ? argument_text(a, passed[k].name) : passed[k].usual;
        if (!value || (k == PASSED_SIZE && argument_count(a, "size") == 0)) continue;
        *argv++ = passed[k].option;
        *argv++ = value;
    }
    if (argument_given(a, "quick")) *argv++ = "--quick";
    if (a->library.device == SADDLE_DEVICE_REFERENCE) *argv++ = "--reference";
    snprintf(text, room, "%s", argument_given(a, "kernel") ? argument_text(a, "kernel") : "");
    for (const char *const *last = argv + 2 * KERNELS_MOST; *text && argv < last;) {
        const size_t length = strcspn(text, ",");
        *argv++ = "--kernel";
        *argv++ = text;
        if (!text[length]) break;
        text[length] = 0;
        text += length + 1;
    }
    *argv = NULL;
}

static int run_driver(blocks_report *t, const saddle_hooks *hooks)
{
    const arguments *a = t->a;
    const char *file = strcmp(t->device, "cuda") == 0 ? "blocks-cuda" : "blocks-cpu";
    char path[4096], text[NAMES_LENGTH];
    const char *argv[14 + 2 * KERNELS_MOST] = {path};
    if (!bench_driver(file, argument_text(a, "peers"), path, sizeof path)) return no_driver(file, path);
    choose_cases(a, text, sizeof text, argv + 1);
    return listen(t, hooks, argv);
}

/* Names with commas between them: of kernels that are measured, or of those that matrices are solved with. */
static int check_kernels(const arguments *a, bool measured)
{
    const char *name = argument_given(a, "kernel") ? argument_text(a, "kernel") : NULL;
    if (name && strlen(name) >= NAMES_LENGTH - 4) return usage_error(a, "--kernel: too many names");
    while (name) {
        const size_t length = strcspn(name, ",");
        if (!(measured ? block_kernel_known : block_solver_known)(name, length))
            return usage_error(a, "--kernel: there is no kernel \"%.*s\"", (int)length, name);
        name = name[length] ? name + length + 1 : NULL;
    }
    return EXIT_DONE;
}

/* What is said of kernels, where kernels are measured. */
static int check_cases(const arguments *a)
{
    static const char *const names[] = {"size", "kernel-version", "instructions"};
    const bool measured = a->operand_count == 0 || argument_given(a, "part");
    for (size_t k = 0; !measured && k < sizeof names / sizeof names[0]; ++k) {
        if (argument_given(a, names[k]))
            return usage_error(a, "--%s applies to kernels: with matrices, give --part too", names[k]);
    }
    const bool gpu = a->library.device == SADDLE_DEVICE_CUDA;
    if (argument_given(a, "kernel-version") && !gpu)
        return usage_error(a, "--kernel-version applies to --device cuda");
    if (argument_given(a, "instructions") && (gpu || a->library.device == SADDLE_DEVICE_REFERENCE))
        return usage_error(a, "--instructions applies to --device cpu");
    if (argument_count(a, "size") > 0 && argument_choice(a, "part") == PART_MIXED)
        return usage_error(a, "--size does not apply to mixed batches");
    return check_kernels(a, measured);
}

/* Options that would do nothing. */
static int check_options(const arguments *a)
{
    static const char *const of_solves[] = {"scaling",    "pairs",        "blocking",        "limit",
                                            "block-size", "block-kernel", "block-precision", "repeat"};
    for (size_t k = 0; a->operand_count == 0 && k < sizeof of_solves / sizeof of_solves[0]; ++k) {
        if (argument_given(a, of_solves[k]))
            return usage_error(a, "--%s applies to solves with block-Jacobi, but no matrix is given",
                               of_solves[k]);
    }
    if (a->operand_count > 0 && argument_given(a, "quick") && !argument_given(a, "part"))
        return usage_error(a, "--quick applies to kernels: with matrices, give --part too");
    const int status = bench_check_files(a);
    return status == EXIT_DONE ? check_cases(a) : status;
}

static int check_usage(const arguments *a)
{
    static const char *const outputs[] = {"json", "plot"};
    int status = bench_check_operands(a);
    if (status == EXIT_DONE) status = check_options(a);
    if (status == EXIT_DONE) status = plot_check(argument_text(a, "plot"));
    return status == EXIT_DONE ? outputs_check(a, outputs, 2) : status;
}

static int run_blocks(const arguments *a)
{
    static const char *const devices[] = {"cpu", "cpu", "cuda", "reference"};
    const bool print = bench_prints(a);
    blocks_report t = {.a = a, .device = devices[a->library.device]};
    int status = check_usage(a);
    if (status != EXIT_DONE) return status;
    if (a->operand_count == 0 || argument_given(a, "part")) {
        const saddle_hooks hooks = progress_begin(a);
        status = run_driver(&t, &hooks);
        progress_end();
    }
    if (status == EXIT_DONE && a->operand_count > 0) status = bench_blocks_solve(&t, print);
    if (print && t.row_count > 0) print_blocks(&t);
    if (print && t.solve_count > 0) print_block_solves(&t);
    if (t.row_count + t.solve_count > 0) status = bench_draw(a, status, json_blocks, &t);
    free(t.rows);
    free(t.solves);
    return status;
}

static const option blocks_options[] = {
    OPTION_CHOICE("part", "all|kernels|mixed|apply|setup",
                  "what to measure; with matrices, kernels are measured only if this is given"),
    OPTION_FLAG("quick", 0, "few and small batches, for a first look"),
    OPTION_TEXT(
        "kernel", "NAME[,NAME...]", NULL,
        "only these kernels, out of ldu, ldu-partial, ldu-full, llt, llt-diagonal, ldlt-static, "
        "ldlt-bunch-kaufman, ldlt-complete, jordan, huard, huard-t; with matrices, out of jordan, huard, "
        "huard-t, lu, ldlt, llt"),
    OPTION_COUNT("size", "ROWS", 0, 0, SIZE_MOST,
                 "only blocks of this many rows, none of mixed size; 0: all"),
    OPTION_CHOICE("kernel-version", "all|default|registers|shared",
                  "which versions of a GPU kernel to measure in addition to the default"),
    OPTION_CHOICE("instructions", "default|portable|avx2|avx512",
                  "instruction set of the CPU kernels; the default is the best available"),
    OPTION_COUNT("threads", "N", 1, 1, 4096, "threads of Saddle"),
    OPTION_TEXT("peers", "DIR", NULL, "folder of the drivers; by default next to saddle"),
    BENCH_REPEAT,
    OPTION_REAL("limit", "SECONDS", 120.0, 0.1, 1e6, "time limit of a solve"),
    BENCH_PLOT("all curves in one picture, one panel each"),
    BENCH_JSON,
    OPTION_END,
};

const command command_blocks = {
    .name = "blocks",
    .operands = "[A.mtx[.gz]...]",
    .help = "kernels on batches of small blocks, compared with their peers and a copy",
    .about = "Kernels on batches of dense blocks of up to 32 rows, out of place, with 512 MB touched before "
             "a block is used again: every kernel at 4 to 32 rows and 10,000 and 100,000 blocks in double "
             "and single (kernels), blocks of mixed size against blocks of equal size (mixed), applications "
             "to 1,000,000 rows and the number of them from which an explicit inverse pays off (apply), and "
             "four kernels on batches of 100 to 100,000 (setup). The table compares them with LAPACK called "
             "in a loop (--device cuda: cuBLAS and cuSOLVER) and with a copy of the batch, and gives the "
             "residual of every result; --kernel and --size select some. Times are medians, on one thread "
             "unless --threads is given.\n\n"
             "With matrices, BiCGSTAB with block-Jacobi solves each to 1e-6 within 10,000 iterations, with "
             "every kernel (--block-kernel: one) and with blocks of 1, 8, 16 and 32 rows (--block-size: "
             "one); the right-hand side is ones. An operand such as lap3d_30:1.5, FAMILY_SIZE[:P], that is "
             "not a file names a generated problem (saddle gen).",
    .examples = "  saddle bench blocks --quick\n"
                "  saddle bench blocks --device cuda --json blocks.json --plot blocks.png\n"
                "  saddle bench blocks matrices/spd/*.mtx.gz --block-size 16 --plot bicgstab.svg\n",
    .options = blocks_options,
    .library = "scaling|pairs|device|blocking|block_size|block_kernel|block_precision",
    .most = INT_MAX,
    .run = run_blocks,
};
