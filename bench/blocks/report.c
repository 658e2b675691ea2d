/* The tables of `saddle bench blocks`. */
#include "bench/blocks/blocks.h"
#include "cli/numbers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const precisions[] = {"double", "single"};
static const char *const kernels[] = {
    "ldu",           "ldu-partial", "ldu-full", "llt",    "llt-diagonal", "ldlt-static", "ldlt-bunch-kaufman",
    "ldlt-complete", "jordan",      "huard",    "huard-t"};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };
static const char *const applied[] = {"jordan", "huard", "huard-t", "ldu-partial", "ldlt-bunch-kaufman",
                                      "llt"};
static const char *const headings[] = {"jordan", "huard", "huard-t", "ldu", "ldlt", "llt"};
enum { APPLIED = sizeof applied / sizeof applied[0] };

bool block_kernel_known(const char *name, size_t length)
{
    for (int k = 0; k < KERNELS; ++k)
        if (strlen(kernels[k]) == length && strncmp(name, kernels[k], length) == 0) return true;
    return false;
}

static bool is(const block_row *row, const char *part, const char *work)
{
    return strcmp(row->part, part) == 0 && strcmp(row->work, work) == 0;
}

/* Whether a row is the first of its precision and batch (and size) in its part. */
static bool opens(const blocks_report *t, const block_row *row, bool by_size)
{
    return block_row_find(t, (block_key){row->part, row->work, NULL, NULL, row->precision,
                                         by_size ? row->size : -1, row->batch}) == row;
}

static double version_copies(const blocks_report *t, const block_row *row, const char *version)
{
    const block_row *other = block_row_beside(t, row, row->work, row->name, version);
    return other ? block_row_copies(t, other) : NAN;
}

/* A kernel of the CPU has its share of the peak, one of a GPU its two versions. */
static void print_kernel(const blocks_report *t, const block_row *row, bool first)
{
    const bool gpu = strcmp(t->device, "cuda") == 0;
    const block_row *peer = block_row_peer(t, row);
    char size[8] = "", name[40];
    if (first) snprintf(size, sizeof size, "%" PRId64, row->size);
    snprintf(name, sizeof name, "%s%s%s", strcmp(row->who, "saddle") ? row->who : "",
             strcmp(row->who, "saddle") ? " " : "", row->name);
    printf("%4s  %-24s", size, name);
    PRINT_COLUMNS("12.2f 9.2f", 1e9 * row->seconds / (double)row->batch, block_row_copies(t, row));
    if (gpu) {
        PRINT_COLUMNS("11.2f 9.2f", version_copies(t, row, "registers"), version_copies(t, row, "shared"));
    } else {
        print_column("%.1f", 9, block_row_peak(t, row));
    }
    print_column("%.2f", 9, block_row_speed_up(t, row));
    printf(" %-14s", peer ? peer->name : "");
    print_column("%.1e", 9, row->residual);
    if (row->replaced > 0) printf("  %" PRId64 " replaced", row->replaced);
    putchar('\n');
}

static void print_kernel_header(const blocks_report *t, const block_row *row)
{
    const bool gpu = strcmp(t->device, "cuda") == 0;
    const block_row *gemm =
        block_row_find(t, (block_key){"kernels", "gemm", NULL, NULL, row->precision, -1, -1});
    char batch[32];
    printf("\n%s, %s blocks", row->precision, count_text(row->batch, batch, sizeof batch));
    if (gemm) printf("; gemm on one core %.1f Gflop/s", 1e-9 * gemm->flops / gemm->seconds);
    printf("\n%4s  %-24s%12s%9s", "size", "", "ns/block", "copies");
    if (gpu)
        printf("%11s%9s", "registers", "shared");
    else
        printf("%9s", "% peak");
    printf("%24s%9s\n", "times as fast as", "residual");
}

/* In the order of the header, whatever order they were measured in; then the peers. */
static void print_size(const blocks_report *t, const block_row *head, int64_t size)
{
    bool first = true;
    for (int i = 0; i < KERNELS; ++i) {
        const block_row *row = block_row_find(
            t, (block_key){head->part, "factor", kernels[i], "default", head->precision, size, head->batch});
        if (row) print_kernel(t, row, first);
        first = first && !row;
    }
    for (int64_t k = 0; k < t->row_count; ++k) {
        const block_row *row = &t->rows[k];
        if (is(row, head->part, "factor") && strcmp(row->who, "saddle") != 0 && row->size == size &&
            row->batch == head->batch && strcmp(row->precision, head->precision) == 0)
            print_kernel(t, row, false);
    }
}

static void print_kernels(const blocks_report *t)
{
    for (int64_t k = 0; k < t->row_count; ++k) {
        if (!is(&t->rows[k], "kernels", "factor") || !opens(t, &t->rows[k], false)) continue;
        const block_row *head = &t->rows[k];
        print_kernel_header(t, head);
        for (int64_t size = 1; size <= 32; ++size) print_size(t, head, size);
    }
}

/* What the seconds of one kernel are over those of another, in the largest batch. */
static double kernel_ratio(const blocks_report *t, const char *one, const char *two, const char *precision,
                           int64_t size)
{
    const block_row *a = NULL, *b = NULL;
    for (int64_t k = 0; k < t->row_count; ++k) {
        const block_row *row = &t->rows[k];
        if (!is(row, "kernels", "factor") || row->size != size || strcmp(row->version, "default") != 0 ||
            strcmp(row->precision, precision) != 0)
            continue;
        if (strcmp(row->name, one) == 0 && (!a || row->batch > a->batch)) a = row;
        if (strcmp(row->name, two) == 0 && (!b || row->batch > b->batch)) b = row;
    }
    return a && b ? a->seconds / b->seconds : NAN;
}

static void print_ratios(const blocks_report *t)
{
    static const char *const pairs[][2] = {
        {"ldu-full", "ldu-partial"},   {"ldlt-static", "ldu"}, {"ldlt-bunch-kaufman", "ldu-partial"},
        {"ldlt-complete", "ldu-full"}, {"huard", "jordan"},    {"huard-t", "jordan"}};
    static const int64_t sizes[] = {4, 8, 16, 24, 32};
    if (!block_row_find(t, (block_key){"kernels", "factor", NULL, NULL, NULL, -1, -1})) return;
    printf("\n%-40s", "time of one kernel over another, size");
    for (int p = 0; p < 2; ++p)
        for (int s = 0; s < 5; ++s) printf("%7" PRId64, sizes[s]);
    printf("\n%-40s%35s%35s\n", "in the largest batch", "double", "single");
    for (int k = 0; k < 6; ++k) {
        char what[64];
        snprintf(what, sizeof what, "%s over %s", pairs[k][0], pairs[k][1]);
        printf("%-40s", what);
        for (int p = 0; p < 2; ++p)
            for (int s = 0; s < 5; ++s)
                print_column("%.2f", 7, kernel_ratio(t, pairs[k][0], pairs[k][1], precisions[p], sizes[s]));
        putchar('\n');
    }
}

static void print_mixed(const blocks_report *t)
{
    const block_key any = {"mixed", "factor", NULL, NULL, NULL, 0, -1};
    if (!block_row_find(t, any)) return;
    printf("\n%-10s%-22s%12s%9s%20s%11s\n", "mixed", "1 to 32 rows", "ns/block", "copies", "over equal sizes",
           "residual");
    for (int p = 0; p < 2; ++p) {
        for (int i = 0; i < KERNELS; ++i) {
            const block_row *row = block_row_find(
                t, (block_key){"mixed", "factor", kernels[i], "default", precisions[p], 0, -1});
            if (!row) continue;
            printf("%-10s%-22s", row->precision, row->name);
            PRINT_COLUMNS("12.2f 9.2f 20.2f 11.1e", 1e9 * row->seconds / (double)row->batch,
                          block_row_copies(t, row), block_row_mixed(t, row), row->residual);
            if (row->replaced > 0) printf("  %" PRId64 " replaced", row->replaced);
            putchar('\n');
        }
    }
}

static void print_break_even(const blocks_report *t, const block_row *row)
{
    const double even = blocks_break_even(t, row->precision, row->size);
    if (isinf(even))
        printf("%10s", "never");
    else
        print_column("%.0f", 10, even);
}

/* Application against block size: milliseconds, and in percent what the bandwidth alone would take. */
static void print_applications(const blocks_report *t)
{
    for (int p = 0; p < 2; ++p) {
        bool first = true;
        for (int64_t k = 0; k < t->row_count; ++k) {
            const block_row *row = &t->rows[k];
            char rows[32];
            if (!is(row, "apply", "apply") || strcmp(row->precision, precisions[p]) != 0 ||
                !opens(t, row, true))
                continue;
            if (first) {
                printf("\n"
                       "application in %s to %s rows: ms, %% of the bandwidth floor; applications until the "
                       "inverse pays off\n"
                       "%4s",
                       precisions[p], count_text(row->rows, rows, sizeof rows), "size");
                for (int i = 0; i < APPLIED; ++i) printf("%15s", headings[i]);
                printf("%10s\n", "pays at");
            }
            first = false;
            printf("%4" PRId64, row->size);
            for (int i = 0; i < APPLIED; ++i) {
                const block_row *one = block_row_beside(t, row, "apply", applied[i], NULL);
                PRINT_COLUMNS("10.3f 5.0f%%", one ? 1e3 * one->seconds : NAN,
                              one ? block_row_floor(t, one) : NAN);
            }
            print_break_even(t, row);
            putchar('\n');
        }
    }
    if (block_row_find(t, (block_key){"apply", "apply", NULL, NULL, NULL, -1, -1}))
        printf("(an iteration of BiCGSTAB applies the preconditioner twice, one of CG, MINRES, SQMR or GMRES "
               "once)\n");
}

static void print_setups(const blocks_report *t)
{
    static const char *const curves[] = {"jordan", "huard", "huard-t", "ldu-partial"};
    bool first = true;
    for (int64_t k = 0; k < t->row_count; ++k) {
        const block_row *row = &t->rows[k];
        char batch[32];
        if (!is(row, "setup", "factor") || strcmp(row->who, "saddle") != 0 || !opens(t, row, true)) continue;
        const block_row *peer = block_row_peer(t, row);
        if (first) {
            printf("\nsetup in double: times as fast as %s\n%4s%10s", peer ? peer->name : "the peer", "size",
                   "blocks");
            for (int i = 0; i < 4; ++i) printf("%14s", curves[i]);
            putchar('\n');
        }
        first = false;
        printf("%4" PRId64 "%10s", row->size, count_text(row->batch, batch, sizeof batch));
        for (int i = 0; i < 4; ++i) {
            const block_row *one = block_row_beside(t, row, "factor", curves[i], NULL);
            print_column("%.2f", 14, one ? block_row_speed_up(t, one) : NAN);
        }
        putchar('\n');
    }
}

void print_blocks(const blocks_report *t)
{
    printf("Saddle %s (commit %s) on %s\n%s\n", saddle_version(), saddle_commit(), t->device, t->machine);
    print_kernels(t);
    print_ratios(t);
    print_mixed(t);
    print_applications(t);
    print_setups(t);
}

/* Matrices solved, of those that were tried; -1 where none was. */
static int64_t count_solved(const blocks_report *t, const char *kernel, int64_t size, int64_t *tried)
{
    int64_t solved = 0;
    *tried = 0;
    for (int64_t k = 0; k < t->solve_count; ++k) {
        const block_solve *s = &t->solves[k];
        if (strcmp(s->kernel, kernel) != 0 || s->block_size != size) continue;
        ++*tried;
        solved += s->solved;
    }
    return solved;
}

/* Where both kernels solved: how often Gauss-Huard took fewer iterations, as many, or more. */
static void print_differences(const blocks_report *t, int64_t size)
{
    int64_t fewer = 0, as_many = 0, more = 0;
    for (int64_t k = 0; k < t->solve_count; ++k) {
        const block_solve *jordan = &t->solves[k];
        if (strcmp(jordan->kernel, "jordan") != 0 || jordan->block_size != size || !jordan->solved) continue;
        const block_solve *huard = block_solve_find(t, jordan->matrix, "huard", size);
        if (!huard || !huard->solved) continue;
        fewer += huard->info.iterations < jordan->info.iterations;
        as_many += huard->info.iterations == jordan->info.iterations;
        more += huard->info.iterations > jordan->info.iterations;
    }
    if (fewer + as_many + more > 0)
        printf("blocks of %" PRId64 ": iterations of huard compared with jordan: fewer %" PRId64
               ", equal %" PRId64 ", more %" PRId64 "\n",
               size, fewer, as_many, more);
}

void print_block_solves(const blocks_report *t)
{
    const char *names[BLOCKS_KERNELS];
    int64_t sizes[BLOCKS_SIZES];
    const int kernel_count = blocks_kernels(t->a, true, names), size_count = blocks_sizes(t->a, sizes);
    printf("\n%-34s", "solved of all, by rows per block");
    for (int s = 0; s < size_count; ++s) printf("%12" PRId64, sizes[s]);
    putchar('\n');
    for (int k = 0; k < kernel_count; ++k) {
        printf("%-34s", names[k]);
        for (int s = 0; s < size_count; ++s) {
            char text[48] = "-";
            int64_t tried;
            const int64_t solved = count_solved(t, names[k], sizes[s], &tried);
            if (tried > 0) snprintf(text, sizeof text, "%" PRId64 " of %" PRId64, solved, tried);
            printf("%12s", text);
        }
        putchar('\n');
    }
    for (int s = 0; s < size_count; ++s) print_differences(t, sizes[s]);
}
