/*
 * The parts of the benchmark and their cases: see driver.h.
 *
 * - kernels: every kernel in every version beside the peers: 4, 8, 16, 24, 32 rows, 10,000 and 100,000 blocks
 * - mixed: blocks of 1 to 32 rows beside equal ones of as many bytes
 * - apply: applications to 1,000,000 rows, and what they were factored in
 * - setup: four kernels and getrf beside batches of 100 to 100,000
 */
#include "bench/blocks/driver/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES_MOST = 100 };

/* The place of a text in a list, or -1. */
static int place_of(const char *text, const char *const *list, int count)
{
    for (int k = 0; k < count; ++k)
        if (strcmp(text, list[k]) == 0) return k;
    return -1;
}

/* An option with a value; false where it is none, or has another. */
static bool take_value(blocks_bench *b, const char *option, const char *value)
{
    static const char *const names[] = {"all", "kernels", "mixed", "apply", "setup"};
    static const char *const versions[] = {"all", "default", "registers", "shared"};
    static const char *const sets[] = {"default", "portable", "avx2", "avx512"};
    const int number = (int)strtol(value, NULL, 10), part = place_of(value, names, 5),
              kernel = place_of(value, blocks_kernel_names, BENCH_KERNELS),
              version = place_of(value, versions, 4), set = place_of(value, sets, 4);
    if (strcmp(option, "--threads") == 0) return (b->threads = number) > 0;
    if (strcmp(option, "--size") == 0) return (b->size = number) > 0 && number <= SD_BLOCK_MOST;
    if (strcmp(option, "--part") == 0) return part >= 0 && (b->part = names[part]);
    if (strcmp(option, "--kernel") == 0) return kernel >= 0 && (b->kernels |= 1u << kernel);
    if (strcmp(option, "--version") == 0) return (b->version = version - 1) >= -1;
    if (strcmp(option, "--instructions") == 0) return set >= 0 && (b->instructions = sets[set]);
    return false;
}

bool blocks_options(blocks_bench *b, int argc, char **argv, const char *name)
{
    bool good = true;
    b->part = "all";
    b->instructions = "default";
    b->threads = 1;
    b->version = -1;
    for (int k = 1; k < argc; ++k) {
        if (strcmp(argv[k], "--quick") == 0) {
            b->quick = true;
        } else if (strcmp(argv[k], "--reference") == 0) {
            b->reference = true;
        } else {
            good = good && k + 1 < argc && take_value(b, argv[k], argv[k + 1]);
            ++k;
        }
    }
    if (b->kernels == 0) b->kernels = (1u << BENCH_KERNELS) - 1;
    if (good) return true;
    fprintf(stderr,
            "usage: %s [--part kernels|mixed|apply|setup|all] [--quick] [--threads N] [--reference]\n"
            "    [--kernel NAME] [--size ROWS] [--version default|registers|shared|all]\n"
            "    [--instructions default|portable|avx2|avx512]\n",
            name);
    return false;
}

/* Fills the batch, and measures a copy of it where that was not done yet. */
static void fill_and_copy(blocks_bench *b, const blocks_batch *x, int kind, bool *copied)
{
    blocks_fill(b, x, (blocks_kind)kind);
    if (*copied) return;
    blocks_restore(b, x);
    blocks_measure_copy(b, x);
    *copied = true;
}

/* Whether a kernel is one of those in `wanted` (bits) that were asked for, and for blocks of this kind. */
static bool is_wanted(const blocks_bench *b, unsigned wanted, int kernel, int kind)
{
    return (wanted & b->kernels) >> kernel & 1 && (int)blocks_kind_of((sd_batch_kernel)kernel) == kind;
}

typedef enum peer_choice { NO_PEER, LU_PEER, ALL_PEERS } peer_choice;

/* What is measured of a batch: the kernels in `wanted` (bits), each by this function, and peers. */
typedef struct batch_work {
    unsigned wanted;
    void (*measure)(blocks_bench *b, const blocks_batch *x, sd_batch_kernel kernel);
    peer_choice peers;
} batch_work;

/* By the kind of the blocks. */
static void measure_batch(blocks_bench *b, const blocks_batch *x, batch_work work)
{
    bool copied = false;
    for (int kind = 0; kind < BLOCKS_KINDS; ++kind) {
        bool filled = false;
        for (int k = 0; k < BENCH_KERNELS; ++k) {
            if (!is_wanted(b, work.wanted, k, kind)) continue;
            if (!filled) fill_and_copy(b, x, kind, &copied);
            filled = true;
            work.measure(b, x, (sd_batch_kernel)k);
        }
        for (int p = 0; filled && p < b->device->peer_count; ++p) {
            const blocks_peer *one = &b->device->peers[p];
            const bool chosen = work.peers == ALL_PEERS || (work.peers == LU_PEER && one->form == BLOCKS_LU);
            if ((int)one->kind == kind && chosen) blocks_measure_peer(b, x, one);
        }
    }
}

static void measure_default(blocks_bench *b, const blocks_batch *x, sd_batch_kernel kernel)
{
    blocks_measure_kernel(b, x, kernel, 0);
}

static void measure_versions(blocks_bench *b, const blocks_batch *x, sd_batch_kernel kernel)
{
    for (int v = 0; v < b->device->versions; ++v)
        if (v == 0 || b->version < 0 || b->version == v) blocks_measure_kernel(b, x, kernel, v);
}

enum {
    EVERY = (1u << BENCH_KERNELS) - 1,
    CURVES = 1u << SD_JORDAN | 1u << SD_HUARD | 1u << SD_HUARD_TRANSPOSED | 1u << SD_LDU_PARTIAL,
    APPLIED = CURVES | 1u << SD_LLT | 1u << SD_LDLT_BUNCH_KAUFMAN
};

/* ------------------------------------------------------------------------------------------------
 * Applications.
 */
static sd_vector vector_of(const blocks_bench *b, const blocks_batch *x, int64_t slot, bool result)
{
    const int64_t bytes = x->plan.rows * (int64_t)sd_precision_size(x->precision);
    char *data = b->vectors + (2 * (slot % x->slots) + (result ? 1 : 0)) * bytes;
    return (sd_vector){data, x->plan.rows, x->precision};
}

static void apply_slot(blocks_bench *b, const blocks_batch *x, void *what, int64_t slot)
{
    sd_batch_factors f = x->factors;
    const sd_vector rhs = vector_of(b, x, slot, false);
    sd_vector y = vector_of(b, x, slot, true);
    f.kernel = *(const sd_batch_kernel *)what;
    f.plan = &x->plan;
    f.data = blocks_to(b, x, slot);
    sd_batch_apply(&b->engine, &f, 1, &rhs, &y);
}

/* The right-hand sides of all blocks, in every slot. */
static void fill_vectors(blocks_bench *b, const blocks_batch *x)
{
    const int32_t count = x->plan.blocks < BLOCKS_PERIOD ? x->plan.blocks : BLOCKS_PERIOD;
    const int64_t size = (int64_t)sd_precision_size(x->precision);
    for (int32_t k = 0; k < count; ++k) {
        double rhs[SD_BLOCK_MOST];
        blocks_make_rhs(x->precision, k, x->size, rhs);
        for (int32_t i = 0; i < x->size; ++i) {
            const float narrow = (float)rhs[i];
            char *to = (char *)b->host + ((int64_t)k * x->size + i) * size;
            memcpy(to, x->precision == SD_SINGLE ? (const void *)&narrow : (const void *)&rhs[i],
                   (size_t)size);
        }
    }
    const int64_t bytes = count * (int64_t)x->size * size, all = x->plan.rows * size;
    b->engine.backend->upload(&b->engine, b->host, b->vectors, bytes);
    blocks_spread(b, b->vectors, bytes, all);
    blocks_spread(b, b->vectors, all, 2 * x->slots * all);
}

/* Entries that an application reads and writes: the factor, its orders, b and x. */
static double apply_bytes(const blocks_batch *x, sd_batch_kernel kernel)
{
    const double size = (double)sd_precision_size(x->precision), rows = x->plan.rows, n = x->size;
    const bool half = sd_batch_symmetric(kernel);
    const int orders = kernel == SD_JORDAN || kernel == SD_LLT ? 0 : 1;
    return size * rows * (half ? (n + 1) / 2 : n) + 2 * size * rows + orders * rows;
}

/* Factors every slot, then applies them; the time to factor is told too. */
static void measure_apply(blocks_bench *b, const blocks_batch *x, sd_batch_kernel kernel)
{
    blocks_rule rule = {.rule = {.kernel = kernel}};
    const sd_vector y = vector_of(b, x, 0, true);
    const blocks_sample sample = {
        .kind = blocks_kind_of(kernel), .form = BLOCKS_SOLUTION, .solution = y.data};
    blocks_measure_kernel(b, x, kernel, 0);
    blocks_time_calls(b, x, blocks_factor_slot, &rule, 0, x->slots);
    blocks_line line = {.work = "apply", .who = "saddle", .name = blocks_kernel_names[kernel]};
    line.version = "default";
    line.seconds = blocks_time_work(b, x, apply_slot, &rule.rule.kernel, false);
    line.bytes = apply_bytes(x, kernel);
    line.flops = 2.0 * x->size * (double)x->plan.rows;
    line.residual = blocks_worst(b, x, &sample);
    blocks_count(b, x, kernel, &line);
    blocks_tell(x, &line);
}

/* ------------------------------------------------------------------------------------------------
 * Parts.
 */
static const struct {
    const char *name;
    batch_work work;
} parts[] = {{"kernels", {EVERY, measure_versions, ALL_PEERS}},
             {"setup", {CURVES, measure_default, LU_PEER}},
             {"mixed", {EVERY, measure_versions, NO_PEER}},
             {"apply", {APPLIED, measure_apply, NO_PEER}}};
enum { PART_KERNELS, PART_SETUP, PART_MIXED, PART_APPLY }; /* as they stand there */

/* One batch; how many entries its blocks have. */
static int64_t run_batch(blocks_bench *b, const blocks_case *c, int part)
{
    blocks_batch x = blocks_begin(b, c, part == PART_APPLY ? b->footprint : b->footprint / 2);
    const int64_t entries = x.plan.entries;
    if (part == PART_KERNELS) blocks_measure_gemm(b, &x);
    if (part == PART_APPLY) {
        x.from_slots = 1;
        fill_vectors(b, &x);
    }
    measure_batch(b, &x, parts[part].work);
    blocks_end(b, &x);
    return entries;
}

/* Beside a mixed batch one of equal blocks, of as many bytes as can be. */
static void run_case(blocks_bench *b, const blocks_case *c)
{
    int part = 0;
    while (strcmp(parts[part].name, c->part) != 0) ++part;
    const int64_t entries = run_batch(b, c, part);
    if (part != PART_MIXED) return;
    blocks_case equal = *c;
    equal.size = (int32_t)lround(sqrt((double)entries / c->batch));
    equal.batch = (int32_t)(entries / (equal.size * equal.size));
    run_batch(b, &equal, part);
}

/* ------------------------------------------------------------------------------------------------
 * Cases.
 */
typedef struct case_list {
    int count;
    blocks_case cases[CASES_MOST];
} case_list;

static void add_case(case_list *list, const blocks_bench *b, blocks_case one)
{
    if (strcmp(b->part, "all") != 0 && strcmp(b->part, one.part) != 0) return;
    if (b->size > 0 && one.size == 0) return;
    if (list->count < CASES_MOST) list->cases[list->count++] = one;
}

static void list_cases(const blocks_bench *b, case_list *list)
{
    static const int32_t sizes[] = {4, 8, 16, 24, 32}, quick_sizes[] = {4, 16};
    static const int32_t applied[] = {1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32};
    static const int32_t curve[] = {100, 300, 1000, 3000, 10000, 30000, 100000};
    const int32_t batches[2] = {b->quick ? 1000 : 10000, 100000};
    const int32_t rows = b->quick ? 16000 : 1000000;
    const int32_t *size = b->quick ? quick_sizes : sizes, *apply = b->quick ? quick_sizes : applied;
    int size_count = b->quick ? 2 : 5, apply_count = b->quick ? 2 : 12;
    if (b->size > 0) size = apply = &b->size, size_count = apply_count = 1;
    for (int p = 0; p < SD_PRECISIONS; ++p) {
        for (int t = 0; t < (b->quick ? 1 : 2); ++t)
            for (int s = 0; s < size_count; ++s)
                add_case(list, b, (blocks_case){"kernels", (sd_precision)p, size[s], batches[t]});
        add_case(list, b, (blocks_case){"mixed", (sd_precision)p, 0, batches[b->quick ? 0 : 1]});
        for (int s = 0; s < apply_count; ++s)
            add_case(list, b, (blocks_case){"apply", (sd_precision)p, apply[s], rows / apply[s]});
    }
    for (int32_t n = 16; n <= 32; n += 16)
        for (int t = 0; t < (b->quick ? 2 : 7) && (b->size == 0 || n == 16); ++t)
            add_case(list, b, (blocks_case){"setup", SD_DOUBLE, b->size > 0 ? b->size : n, curve[t]});
}

static int64_t blocks_bytes(int32_t size, int32_t batch, sd_precision precision)
{
    int64_t row, entry;
    blocks_place(size, batch, &row, &entry);
    return entry * (int64_t)sd_precision_size(precision);
}

/* Bytes of a pool for a case. */
static int64_t pool_of(const blocks_bench *b, const blocks_case *c, bool written)
{
    const int64_t wanted = written && strcmp(c->part, "apply") == 0 ? b->footprint : b->footprint / 2;
    const int64_t bytes = blocks_bytes(c->size, c->batch, c->precision);
    return (wanted / bytes + 2) * (bytes + 512);
}

static int64_t vectors_of(const blocks_bench *b, const blocks_case *c)
{
    if (strcmp(c->part, "apply") != 0) return 0;
    const int64_t bytes = blocks_bytes(c->size, c->batch, c->precision);
    return (b->footprint / bytes + 1) * 2 * c->batch * c->size * (int64_t)sd_precision_size(c->precision);
}

/* Room for the largest case; the footprint is halved until that may be had. */
static void make_pools(blocks_bench *b, const case_list *list)
{
    int64_t from, to, vectors;
    for (bool fits = false; !fits; b->footprint /= fits ? 1 : 2) {
        from = to = vectors = 1;
        for (int k = 0; k < list->count; ++k) {
            const blocks_case *c = &list->cases[k];
            if (pool_of(b, c, false) > from) from = pool_of(b, c, false);
            if (pool_of(b, c, true) > to) to = pool_of(b, c, true);
            if (vectors_of(b, c) > vectors) vectors = vectors_of(b, c);
        }
        fits = from + to + vectors <= b->memory || b->footprint < 1 << 20;
        if (!fits)
            printf("note memory is short: a slot is reused after %lld MB\n", (long long)b->footprint >> 21);
    }
    b->from = blocks_memory(b, from, "blocks");
    b->to = blocks_memory(b, to, "what becomes of blocks");
    b->vectors = blocks_memory(b, vectors, "vectors");
    b->host = malloc((size_t)BLOCKS_PERIOD * SD_BLOCK_MOST * SD_BLOCK_MOST * sizeof *b->host);
    if (!b->host) blocks_check(b, "out of memory for the blocks");
}

void blocks_run(blocks_bench *b)
{
    static case_list list;
    b->footprint = b->quick ? 4 << 20 : 512 << 20;
    list_cases(b, &list);
    make_pools(b, &list);
    for (int k = 0; k < list.count; ++k) {
        const blocks_case *c = &list.cases[k];
        printf("step %d %d\n", k + 1, list.count);
        fflush(stdout);
        run_case(b, c);
    }
    b->engine.backend->release(&b->engine, b->from);
    b->engine.backend->release(&b->engine, b->to);
    b->engine.backend->release(&b->engine, b->vectors);
    free(b->host);
    puts("done");
}
