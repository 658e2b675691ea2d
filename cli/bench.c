/*
 * `saddle bench`: times beside a floor that is measured in the same run, as ratios.
 *
 *   read FILE   reading plain text and gzipped, beside `cat` and `gzip -dc` of the same files
 *   spmv FILE   y = Ax at one thread and at all, beside a copy of the bytes that the product reads
 *   prepare A.. the parts of a preparation beside METIS alone (bench_prepare.c)
 *   direct A..  the direct solver beside its peers (bench_direct.c)
 *   blocks [A..]  kernels on batches of small blocks beside their peers and a copy (bench_blocks.c)
 *   ldlt [A..]    block LDL' preconditioners beside the direct solver (bench_ldlt.c)
 *
 * Every time is the best of --repeat runs.
 */
#define _GNU_SOURCE
#include "cli/bench.h"

#include "cli/json.h"
#include "cli/progress.h"
#include "cli/random.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct bench_row {
    const char *what;
    double seconds;
    int64_t bytes;     /* moved in that time */
    const char *floor; /* the row that this one is compared with; NULL for a floor */
    double ratio;      /* seconds over the floor's */
    double error;      /* of the product; NaN where there is none */
} bench_row;

enum {
    ROWS_MOST = 8,
    COLUMNS = 9 /* of a call: enough for the set-up to be told from the products */
};

typedef struct bench {
    const arguments *a;
    saddle_hooks hooks;
    int64_t repeat;
    int64_t n, entries; /* of the matrix */
    int count;
    bench_row rows[ROWS_MOST];
} bench;

static void add_row(bench *t, const char *what, double time, int64_t bytes, const char *floor, double error)
{
    bench_row *row = &t->rows[t->count++];
    *row = (bench_row){what, time, bytes, floor, NAN, error};
    for (int k = 0; floor && k < t->count; ++k) {
        if (strcmp(t->rows[k].what, floor) == 0) row->ratio = time / t->rows[k].seconds;
    }
}

/* The better of two times; with -v every one is told. */
static double better(const bench *t, const char *what, double best, double began)
{
    const double time = seconds() - began;
    if (argument_flag(t->a, "verbose")) fprintf(stderr, "saddle: %s: %.6f s\n", what, time);
    return fmin(best, time);
}

/* Runs a program, from no input, its output into a file; false where that failed. */
static bool run_program(const char *const *argv, const char *output)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        const int in = open("/dev/null", O_RDONLY), out = open(output, O_WRONLY | O_TRUNC);
        if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0) _exit(127);
        progress_child();
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static double time_program(const bench *t, const char *const *argv)
{
    double best = INFINITY;
    for (int64_t k = 0; k < t->repeat; ++k) {
        const double began = seconds();
        if (!run_program(argv, "/dev/null")) return NAN;
        best = better(t, argv[0], best, began);
    }
    return best;
}

static int time_read(bench *t, const char *path, double *best)
{
    char message[SADDLE_MESSAGE_SIZE] = "";
    *best = INFINITY;
    for (int64_t k = 0; k < t->repeat; ++k) {
        saddle_matrix A = {0};
        const double began = seconds();
        const saddle_status status = saddle_read_matrix(path, &t->hooks, &A, message);
        if (status != SADDLE_OK) return fail(exit_status(status), "%s", message);
        *best = better(t, "read", *best, began);
        t->n = A.rows;
        t->entries = A.entries;
        saddle_matrix_free(&A, &t->hooks);
    }
    return EXIT_DONE;
}

static bool is_gzipped(const char *path)
{
    unsigned char head[2] = {0, 0};
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    const size_t got = fread(head, 1, 2, file);
    fclose(file);
    return got == 2 && head[0] == 0x1f && head[1] == 0x8b;
}

static int64_t file_size(const char *path)
{
    struct stat is;
    return stat(path, &is) == 0 ? (int64_t)is.st_size : -1;
}

static int bench_read_both(bench *t, const char *plain, const char *gzipped)
{
    const char *const cat[] = {"cat", "--", plain, NULL};
    const char *const gunzip[] = {"gzip", "-dc", "--", gzipped, NULL};
    const int64_t bytes = file_size(plain);
    double time;
    add_row(t, "cat", time_program(t, cat), bytes, NULL, NAN);
    int status = time_read(t, plain, &time);
    if (status != EXIT_DONE) return status;
    add_row(t, "read plain", time, bytes, "cat", NAN);
    add_row(t, "gzip -dc", time_program(t, gunzip), bytes, NULL, NAN);
    status = time_read(t, gzipped, &time);
    if (status == EXIT_DONE) add_row(t, "read gzipped", time, bytes, "gzip -dc", NAN);
    return status;
}

/* The other form of the file, plain or gzipped, is made beside the system's temporary files. */
static int bench_read(bench *t, const char *path)
{
    const char *folder = getenv("TMPDIR");
    char other[4096];
    const bool gzipped = is_gzipped(path);
    if (access(path, R_OK) != 0) return fail(EXIT_FILE, "%s: cannot be opened: %s", path, strerror(errno));
    snprintf(other, sizeof other, "%s/saddle-bench.XXXXXX", folder && *folder ? folder : "/tmp");
    const int file = mkstemp(other);
    if (file < 0) return fail(EXIT_FILE, "%s: cannot be written: %s", other, strerror(errno));
    close(file);
    const char *const make[] = {"gzip", gzipped ? "-dc" : "-c", "--", path, NULL};
    int status = EXIT_DONE;
    if (!run_program(make, other))
        status = fail(EXIT_FILE, "gzip could not turn %s into %s", path, other);
    else
        status = bench_read_both(t, gzipped ? other : path, gzipped ? path : other);
    unlink(other);
    return status;
}

/* max_i |y - Ax|_i / (|A| |x|)_i, with Ax summed in long double, for A by rows. */
static double product_error(const saddle_matrix *A, const double *x, const double *y)
{
    const int64_t *start = A->pointers;
    const double *values = A->values;
    double worst = 0.0;
    for (int64_t i = 0; i < A->rows; ++i) {
        long double sum = 0, size = 0;
        for (int64_t k = start[i]; k < start[i + 1]; ++k) {
            const long double term = (long double)values[k] * x[A->indices[k]];
            sum += term;
            size += fabsl(term);
        }
        if (size > 0) worst = fmax(worst, (double)(fabsl(y[i] - sum) / size));
    }
    return worst;
}

static double time_copy(const bench *t, int64_t bytes)
{
    double best = NAN;
    char *from = malloc((size_t)bytes), *to = malloc((size_t)bytes);
    if (from && to) {
        best = INFINITY;
        memset(from, 1, (size_t)bytes);
        memset(to, 2, (size_t)bytes);
        for (int64_t k = 0; k < t->repeat; ++k) {
            const double began = seconds();
            memcpy(to, from, (size_t)bytes);
            /* The copy is used, so that it is made. */
            if (((volatile char *)to)[bytes - 1] != 1) break;
            best = better(t, "copy", best, began);
        }
    }
    free(from);
    free(to);
    return best;
}

typedef struct product {
    saddle_matrix A, rows; /* as it was read, and whole, by rows */
    double *x, *y;
    int64_t bytes; /* that a product reads and writes */
} product;

/* The best time of a call with this many columns. */
static saddle_status time_columns(bench *t, product *p, const char *what, int64_t columns, int threads,
                                  double *best, char *message)
{
    *best = INFINITY;
    for (int64_t k = 0; k < t->repeat; ++k) {
        const double began = seconds();
        const saddle_status status =
            saddle_multiply(&p->A, columns, p->x, p->A.rows, p->y, p->A.rows, threads, &t->hooks, message);
        if (status != SADDLE_OK) return status;
        *best = better(t, what, *best, began);
    }
    return SADDLE_OK;
}

/* A product is what each further column of a call takes: checks and set-up are made once a call. */
static saddle_status time_product(bench *t, product *p, const char *what, int threads, char *message)
{
    double one, many;
    saddle_status status = time_columns(t, p, what, 1, threads, &one, message);
    if (status == SADDLE_OK) status = time_columns(t, p, what, COLUMNS, threads, &many, message);
    if (status != SADDLE_OK) return status;
    const double each = many > one ? (many - one) / (COLUMNS - 1) : many / COLUMNS;
    add_row(t, what, each, p->bytes, "copy", product_error(&p->rows, p->x, p->y));
    return SADDLE_OK;
}

static saddle_status begin_product(bench *t, product *p, const char *path, char *message)
{
    random_stream stream = random_begin(1);
    saddle_status status = saddle_read_matrix(path, &t->hooks, &p->A, message);
    if (status != SADDLE_OK) return status;
    status = saddle_convert(&p->A, SADDLE_ROWS, SADDLE_GENERAL, &t->hooks, &p->rows, message);
    if (status != SADDLE_OK) return status;
    t->n = p->A.rows;
    t->entries = p->A.entries;
    p->x = malloc((size_t)(p->A.columns + 1) * COLUMNS * sizeof *p->x);
    p->y = calloc((size_t)(p->A.rows + 1) * COLUMNS, sizeof *p->y);
    if (!p->x || !p->y) return SADDLE_OUT_OF_MEMORY;
    for (int64_t i = 0; i < p->A.columns * COLUMNS; ++i) p->x[i] = random_between(&stream, -1.0, 1.0);
    p->bytes = p->rows.entries * 12 + (p->A.rows + 1) * 8 + (p->A.rows + p->A.columns) * 8;
    return SADDLE_OK;
}

static int bench_spmv(bench *t, const char *path)
{
    product p = {.x = NULL};
    char message[SADDLE_MESSAGE_SIZE] = "";
    saddle_status status = begin_product(t, &p, path, message);
    if (status == SADDLE_OK) {
        add_row(t, "copy", time_copy(t, p.bytes), p.bytes, NULL, NAN);
        status = time_product(t, &p, "y = Ax, 1 thread", 1, message);
    }
    if (status == SADDLE_OK) status = time_product(t, &p, "y = Ax, all threads", 0, message);
    saddle_matrix_free(&p.A, &t->hooks);
    saddle_matrix_free(&p.rows, &t->hooks);
    free(p.x);
    free(p.y);
    if (status == SADDLE_OK) return EXIT_DONE;
    return fail(exit_status(status), "%s", message[0] ? message : saddle_status_text(status));
}

static void print_rows(const bench *t)
{
    printf("%s: n %" PRId64 ", %" PRId64 " entries stored; best of %" PRId64 "\n", t->a->operands[1], t->n,
           t->entries, t->repeat);
    printf("%-22s%12s%12s%16s%10s\n", "", "seconds", "MB/s", "ratio", "error");
    for (int k = 0; k < t->count; ++k) {
        const bench_row *row = &t->rows[k];
        char ratio[40] = "", error[16] = "";
        if (row->floor) snprintf(ratio, sizeof ratio, "%.2f %s", row->ratio, row->floor);
        if (isfinite(row->error)) snprintf(error, sizeof error, "%.1e", row->error);
        printf("%-22s%12.6f%12.1f%16s%10s\n", row->what, row->seconds,
               1e-6 * (double)row->bytes / row->seconds, ratio, error);
    }
}

static int write_json(const bench *t, const char *path)
{
    json j;
    const int status = json_begin(&j, path);
    if (status != EXIT_DONE) return status;
    json_text(&j, "commit", saddle_commit());
    json_text(&j, "bench", t->a->operands[0]);
    json_text(&j, "file", t->a->operands[1]);
    json_count(&j, "n", t->n);
    json_count(&j, "entries", t->entries);
    json_array(&j, "rows");
    for (int k = 0; k < t->count; ++k) {
        const bench_row *row = &t->rows[k];
        json_object(&j, NULL);
        json_text(&j, "what", row->what);
        json_number(&j, "seconds", row->seconds);
        json_number(&j, "megabytes_per_second", 1e-6 * (double)row->bytes / row->seconds);
        json_text(&j, "floor", row->floor);
        json_number(&j, "ratio", row->ratio);
        json_number(&j, "error", row->error);
        json_close(&j);
    }
    json_close(&j);
    return json_end(&j);
}

/* What belongs to another benchmark, and what is missing: the exit status, or -1 where all is well. */
static int check_usage(const arguments *a)
{
    static const struct {
        const char *option, *of;
    } owners[] = {{"blockings", "bench prepare"},
                  {"anchors", "bench direct"},
                  {"order", "bench direct and bench ldlt"},
                  {"factorization", "bench direct"},
                  {"threshold", "bench direct"},
                  {"peers", "bench direct and bench blocks"},
                  {"limit", "bench direct, bench blocks and bench ldlt"},
                  {"threads", "bench direct, bench blocks and bench ldlt"},
                  {"scaling", "bench direct, bench blocks and bench ldlt"},
                  {"pairs", "bench direct, bench blocks and bench ldlt"},
                  {"repeat", "bench read, bench spmv, bench prepare, bench direct and bench blocks"},
                  {"device", "bench blocks and bench ldlt"},
                  {"part", "bench blocks and bench ldlt"},
                  {"methods", "bench ldlt"},
                  {"ablate", "bench ldlt"},
                  {"quick", "bench blocks"},
                  {"kernel", "bench blocks"},
                  {"size", "bench blocks and bench ldlt"},
                  {"kernel-version", "bench blocks"},
                  {"instructions", "bench blocks"},
                  {"plot", "bench blocks and bench ldlt"},
                  {"blocking", "bench blocks and bench ldlt"},
                  {"block-size", "bench blocks and bench ldlt"},
                  {"block-kernel", "bench blocks"},
                  {"block-precision", "bench blocks"}};
    for (int k = 1; k < a->operand_count; ++k) {
        if (strcmp(a->operands[k], "-") == 0)
            return usage_error(a, "a file is read several times: - will not do");
    }
    for (size_t k = 0; k < sizeof owners / sizeof owners[0]; ++k) {
        if (argument_given(a, owners[k].option) && !strstr(owners[k].of, a->operands[0]))
            return usage_error(a, "--%s is for %s", owners[k].option, owners[k].of);
    }
    const bool optional = strcmp(a->operands[0], "blocks") == 0 || strcmp(a->operands[0], "ldlt") == 0;
    if (a->operand_count < 2 && !argument_flag(a, "anchors") && !optional)
        return usage_error(a, "there is no matrix to measure with");
    return -1;
}

static int run_bench(const arguments *a)
{
    static const struct {
        const char *name;
        int (*run)(bench *t, const char *path);
    } benches[] = {{"read", bench_read}, {"spmv", bench_spmv}};
    const char *json_path = argument_text(a, "json");
    bench t = {.a = a, .repeat = argument_count(a, "repeat")};
    int status = check_usage(a);
    if (status >= 0) return status;
    if (strcmp(a->operands[0], "prepare") == 0) return bench_prepare(a);
    if (strcmp(a->operands[0], "direct") == 0) return bench_direct(a);
    if (strcmp(a->operands[0], "blocks") == 0) return bench_blocks(a);
    if (strcmp(a->operands[0], "ldlt") == 0) return bench_ldlt(a);
    if (a->operand_count > 2) return usage_error(a, "\"%s\" is one operand too many", a->operands[2]);
    for (int k = 0; k < 2; ++k) {
        if (strcmp(a->operands[0], benches[k].name) != 0) continue;
        t.hooks = progress_begin(a);
        status = benches[k].run(&t, a->operands[1]);
        progress_end();
    }
    if (status < 0)
        return usage_error(a, "\"%s\" is not one of read, spmv, prepare, direct, blocks, ldlt",
                           a->operands[0]);
    if (status != EXIT_DONE) return status;
    if (!argument_flag(a, "quiet") && !(json_path && strcmp(json_path, "-") == 0)) print_rows(&t);
    return json_path ? write_json(&t, json_path) : EXIT_DONE;
}

static const option bench_options[] = {
    OPTION_COUNT("repeat", "N", 5, 1, 1000, "runs of each, of which the best counts"),
    OPTION_FLAG("blockings", 0, "prepare: also time the priority blockings"),
    OPTION_COUNT("threads", "N", 1, 1, 4096,
                 "direct, blocks, ldlt: of Saddle; direct: of the peers' BLAS too"),
    OPTION_FLAG("anchors", 0,
                "direct: also the 15 generated problems that are followed from version to version"),
    OPTION_TEXT("peers", "DIR|none", NULL, "direct, blocks: where the drivers are; otherwise beside saddle"),
    OPTION_REAL("limit", "SECONDS", 120.0, 0.1, 1e6,
                "direct: what a peer may take for a matrix; blocks: what a solve may take; ldlt: what a run "
                "may take, there 60"),
    OPTION_CHOICE(
        "part", "all|kernels|mixed|apply|setup|anchors|growth|backends",
        "blocks (first five): what is measured; with matrices also that, which otherwise is left out. "
        "ldlt: all (matrices), setup, anchors, growth, backends"),
    OPTION_TEXT("methods", "NAME[,NAME...]", NULL,
                "ldlt: only these of ldlt, ldlt-none, jacobi, paper, auto, direct; of --part backends: "
                "reference, cpu, "
                "cuda"),
    OPTION_FLAG("ablate", 0, "ldlt: Table I and Figure 3 of \"Stretching Jacobi\" for the matrices"),
    OPTION_FLAG("quick", 0, "blocks: few and small batches, for a first look"),
    OPTION_TEXT("kernel", "NAME[,NAME...]", NULL,
                "blocks: only these of ldu, ldu-partial, ldu-full, llt, llt-diagonal, ldlt-static, "
                "ldlt-bunch-kaufman, ldlt-complete, jordan, huard, huard-t"),
    OPTION_COUNT(
        "size", "ROWS", 0, 0, 100000000,
        "blocks: only blocks of so many rows, at most 32, and no mixed ones; 0: all. ldlt: rows of the "
        "problems of --part setup (0: 200,000), of the last ones of --part growth (0: 1,000,000)"),
    OPTION_CHOICE("kernel-version", "all|default|registers|shared",
                  "blocks: which of a kernel's versions on a GPU is measured beside the default"),
    OPTION_CHOICE("instructions", "default|portable|avx2|avx512",
                  "blocks: whose kernels are measured on the CPU; the default is the best it has"),
    OPTION_TEXT(
        "plot", "FILE", NULL,
        "blocks, ldlt --ablate, ldlt --part growth: draw all curves as one picture, a panel each (.png or "
        ".svg)"),
    OPTION_TEXT("json", "FILE|-", NULL, "write the rows as JSON"),
    OPTION_END,
};

const command command_bench = {
    .name = "bench",
    .operands = "read|spmv|prepare|direct|blocks|ldlt [A.mtx[.gz]...]",
    .help = "times beside a floor measured in the same run",
    .about =
        "read: the time to read a matrix, as plain text and gzipped, beside what cat and gzip -dc take "
        "for the "
        "same files; MB/s are of the plain text.\n\n"
        "spmv: the time of y = Ax, at one thread and at all, beside a "
        "copy in memory of as many bytes as "
        "the product touches; the error is the largest |y - Ax| / (|A| |x|) of a row.\n\n"
        "prepare: for each of many matrices the time of matching, of the whole way to an order that keeps "
        "matched pairs, and of AMD, beside METIS alone on the same matrix, with the accuracy of the "
        "scaling, the level sets of clusters beside those of a grid, and the predicted work with and "
        "without pairs. A problem is made where an operand such as stokes2d_100 or lap3d_30:1.5, "
        "FAMILY_SIZE[:P], is no file (saddle gen).\n\n"
        "direct: for each of many matrices the analysis and the factorization of the direct solver, its "
        "share of a dgemm of one core, pivots, inertia, backward error before and after refinement, and "
        "memory, beside MUMPS and CHOLMOD where their drivers were built (a dash stands for what is not "
        "there); then the geometric means of the ratios in each folder, over the matrices that take MUMPS "
        "more than 2 ms. Drivers are built where the peers are found, and not installed.\n\n"
        "blocks: kernels on batches of dense blocks of up to 32 rows, out of place, with 512 MB going by "
        "before a block comes again: every kernel at 4 to 32 rows and 10,000 and 100,000 blocks in double "
        "and single (kernels), blocks of mixed size beside equal ones (mixed), applications to 1,000,000 "
        "rows and the number of them from which on an explicit inverse pays (apply), and four kernels beside "
        "batches of 100 to 100,000 (setup). Beside them stand LAPACK called in a loop (--device cuda: cuBLAS "
        "and cuSOLVER), a copy of the batch, and the residual of every result; --kernel and --size choose "
        "among them. Times are medians, of one "
        "thread unless --threads says otherwise. With matrices BiCGSTAB with block-Jacobi solves each to "
        "1e-6 within 10,000 iterations, by every kernel (--block-kernel: one) and blocks of 1, 8, 16 and 32 "
        "rows (--block-size: one); the right-hand side is ones.\n\n"
        "ldlt: for each of many matrices, or all of a folder (those of SADDLE_MATRICES, indefinite and kkt, "
        "where "
        "none is named), whether --method ldlt with its defaults solves it (backward error 1e-12, and "
        "residual or "
        "componentwise error 1e-8, in 100 iterations, for A times ones and a random right-hand side), with "
        "iterations, errors, stored entries, levels, pivots and seconds beside the direct solver's; and as "
        "many "
        "of ldlt --fill none, jacobi --fill none --fallback none, --paper, auto and direct (--methods "
        "chooses). "
        "--part anchors: those that have published figures; setup: generated 3-D problems, the setup of ldlt "
        "beside the direct factorization in time and memory; growth: doubling series of generated problems, "
        "and "
        "the exponents of their times (operands of these two are families, FAMILY[:P]); backends: the "
        "iterations "
        "of "
        "ldlt on each backend, with the factors as they were found (first) and with the same values factored "
        "on "
        "the pattern that is known then (again). --ablate: dominance, "
        "small pivots, block size, pivoting, sweeps and times, and the errors after four times GMRES(25).",
    .examples = "  saddle bench read A.mtx.gz\n"
                "  saddle bench spmv A.mtx.gz --json -\n"
                "  saddle bench prepare matrices/*.mtx.gz kktz_50 kktz_100 kktz_150\n"
                "  saddle bench direct matrices/kkt/*.mtx.gz lap3d_30:1.5 --json direct.json\n"
                "  saddle bench blocks --device cuda --json blocks.json --plot blocks.png\n"
                "  saddle bench blocks matrices/spd/*.mtx.gz --block-size 16 --plot bicgstab.svg\n"
                "  saddle bench ldlt matrices/kkt --methods ldlt,direct --json ldlt.json\n"
                "  saddle bench ldlt --part growth darcy3d --size 250000\n"
                "  saddle bench ldlt matrices/kkt --part backends --methods cpu,cuda\n"
                "  saddle bench ldlt A.mtx B.mtx --ablate --plot figure3.png\n",
    .options = bench_options,
    .library = "scaling|order|pairs|factorization|threshold|device|blocking|block_size|block_kernel|"
               "block_precision",
    .words = "read|spmv|prepare|direct|blocks|ldlt",
    .least = 1,
    .most = INT_MAX,
    .run = run_bench,
};
