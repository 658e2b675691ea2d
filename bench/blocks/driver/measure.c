/*
 * The measurements of driver.h, on any device.
 *
 * A case is a batch: its blocks are put into the pool that is read, as often as there are slots, and the
 * kernels that are meant for such blocks, the peers and a copy are timed one after the other. Blocks repeat
 * after BLOCKS_PERIOD, so that making them does not take longer than measuring.
 */
#include "bench/blocks/driver/measure.h"

#include "cli/numbers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS_MOST = 15, SAMPLE = 32 }; /* SAMPLE: the first and the last so many blocks */
#define GROUP_SECONDS 2e-3              /* of calls that are timed together */

static const char *const precisions[] = {"double", "single"};
static const char *const versions[] = {"default", "registers", "shared"};

void blocks_check(blocks_bench *b, const char *text)
{
    if (!text && (b->engine.status || b->context.status)) text = b->context.message;
    if (!text) return;
    printf("failed %s\n", text);
    exit(1);
}

/* ------------------------------------------------------------------------------------------------
 * Pools and what lies in them.
 */
static int64_t stride(const blocks_batch *x)
{
    return (x->bytes + 511) / 512 * 512;
}

void *blocks_from(const blocks_bench *b, const blocks_batch *x, int64_t slot)
{
    return b->from + slot % x->from_slots * stride(x);
}

void *blocks_to(const blocks_bench *b, const blocks_batch *x, int64_t slot)
{
    return b->to + slot % x->slots * stride(x);
}

void *blocks_memory(blocks_bench *b, int64_t bytes, const char *what)
{
    void *data = b->engine.backend->allocate(&b->engine, bytes, what);
    blocks_check(b, data ? NULL : b->context.message);
    return data;
}

blocks_batch blocks_begin(blocks_bench *b, const blocks_case *c, int64_t pool)
{
    blocks_batch x = {.part = c->part, .precision = c->precision, .size = c->size};
    int32_t *start = malloc(((size_t)c->batch + 1) * sizeof *start);
    if (!start) blocks_check(b, "out of memory for a batch");
    start[0] = 0;
    for (int32_t k = 0; k < c->batch; ++k) start[k + 1] = start[k] + blocks_rows(x.size, k);
    sd_batch_place(&b->engine, c->batch, start, NULL, NULL, NULL, &x.plan);
    free(start);
    blocks_check(b, NULL);
    x.bytes = x.plan.entries * (int64_t)sd_precision_size(c->precision);
    x.from_slots = x.slots = (pool + x.bytes - 1) / x.bytes;
    x.factors.precision = c->precision;
    x.factors.row = blocks_memory(b, x.plan.rows, "order of rows");
    x.factors.column = blocks_memory(b, x.plan.rows, "order of columns");
    x.factors.state = blocks_memory(b, c->batch * (int64_t)sizeof *x.factors.state, "states of blocks");
    return x;
}

void blocks_end(blocks_bench *b, blocks_batch *x)
{
    const sd_backend *backend = b->engine.backend;
    sd_batch_unplace(&b->engine, &x->plan);
    backend->release(&b->engine, x->factors.row);
    backend->release(&b->engine, x->factors.column);
    backend->release(&b->engine, x->factors.state);
}

void blocks_spread(blocks_bench *b, char *pool, int64_t done, int64_t bytes)
{
    while (done < bytes) {
        const int64_t more = done < bytes - done ? done : bytes - done;
        b->device->copy(b, pool, pool + done, more);
        done += more;
    }
}

void blocks_fill(blocks_bench *b, const blocks_batch *x, blocks_kind kind)
{
    const int32_t count = x->plan.blocks < BLOCKS_PERIOD ? x->plan.blocks : BLOCKS_PERIOD;
    int64_t entries = 0;
    for (int32_t k = 0; k < count; ++k) {
        const int32_t n = blocks_rows(x->size, k);
        blocks_make(kind, x->precision, k, n, b->host + entries);
        entries += (int64_t)n * n;
    }
    float *narrow = (float *)b->host; /* the k-th goes where the k-th is not needed any more */
    for (int64_t k = 0; x->precision == SD_SINGLE && k < entries; ++k) {
        const float value = (float)b->host[k];
        memcpy(narrow + k, &value, sizeof value);
    }
    const int64_t bytes = entries * (int64_t)sd_precision_size(x->precision);
    b->engine.backend->upload(&b->engine, b->host, b->from, bytes);
    blocks_spread(b, b->from, bytes, x->bytes);
    for (int64_t s = 1; s < x->from_slots; ++s) b->device->copy(b, b->from, blocks_from(b, x, s), x->bytes);
    blocks_check(b, NULL);
}

/* What peers work on in place, and memory that was never written. */
void blocks_restore(blocks_bench *b, const blocks_batch *x)
{
    for (int64_t s = 0; s < x->slots; ++s)
        b->device->copy(b, blocks_from(b, x, s), blocks_to(b, x, s), x->bytes);
}

/* ------------------------------------------------------------------------------------------------
 * Times.
 */
double blocks_time_calls(blocks_bench *b, const blocks_batch *x, blocks_work *work, void *what, int64_t first,
                         int64_t count)
{
    const double seconds = b->device->time(b, x, work, what, first, count);
    blocks_check(b, NULL);
    return seconds;
}

/* Seconds of a call: the median over groups of calls, which together see every slot, unless it takes long. */
double blocks_time_work(blocks_bench *b, const blocks_batch *x, blocks_work *work, void *what, bool in_place)
{
    double each[GROUPS_MOST], spent = 0.0;
    const int least = b->quick ? 2 : 3, most = b->quick ? 3 : GROUPS_MOST;
    const double limit = b->quick ? 0.01 : 0.3;
    if (in_place) blocks_restore(b, x);
    double one = blocks_time_calls(b, x, work, what, 0, 1);
    if (one < limit) { /* the first may have had something to load */
        if (in_place && x->slots == 1) blocks_restore(b, x);
        one = blocks_time_calls(b, x, work, what, x->slots > 1, 1);
    }
    int64_t group = (int64_t)(GROUP_SECONDS / (one + 1e-9)) + 1, next = x->slots;
    if (group < x->slots / most) group = x->slots / most;
    if (group > x->slots) group = x->slots;
    int count = 0;
    for (; count < most && (count < least || spent < limit); ++count) {
        if (next + group > x->slots) {
            if (in_place) blocks_restore(b, x);
            next = 0;
        }
        const double seconds = blocks_time_calls(b, x, work, what, next, group);
        each[count] = seconds / (double)group;
        spent += seconds;
        next += group;
    }
    return median_of(each, count);
}

void blocks_factor_slot(blocks_bench *b, const blocks_batch *x, void *what, int64_t slot)
{
    const blocks_rule *r = what;
    const sd_batch blocks = {&x->plan, blocks_from(b, x, slot), x->precision};
    sd_batch_factors f = x->factors;
    f.plan = &x->plan;
    f.data = blocks_to(b, x, slot);
    bench_factor(&b->engine, &r->rule, r->version, &blocks, &f);
}

static void copy_slot(blocks_bench *b, const blocks_batch *x, void *what, int64_t slot)
{
    (void)what;
    b->device->copy(b, blocks_from(b, x, slot), blocks_to(b, x, slot), x->bytes);
}

/* ------------------------------------------------------------------------------------------------
 * Residuals and lines.
 */
void blocks_tell(const blocks_batch *x, const blocks_line *line)
{
    printf("measured part=%s work=%s who=%s name=%s version=%s precision=%s size=%d batch=%d rows=%d "
           "seconds=%.6g bytes=%.6g flops=%.6g residual=%.3g replaced=%d two_by_two=%lld\n",
           x->part, line->work, line->who, line->name, line->version, precisions[x->precision], x->size,
           x->plan.blocks, x->plan.rows, line->seconds, line->bytes, line->flops, line->residual,
           line->replaced, (long long)line->two_by_two);
    fflush(stdout);
}

/* Numbers of the backend, widened to double. */
static void fetch(blocks_bench *b, const void *data, sd_precision precision, int64_t first, int64_t count,
                  double *to)
{
    const int64_t size = (int64_t)sd_precision_size(precision);
    b->engine.backend->download(&b->engine, (const char *)data + first * size, to, count * size);
    for (int64_t k = count - 1; precision == SD_SINGLE && k >= 0; --k) {
        float value;
        memcpy(&value, (const char *)to + k * size, sizeof value);
        to[k] = (double)value;
    }
}

/* Rows in the order that LAPACK's exchanges make. */
static void order_of(int32_t n, const int32_t *pivot, uint8_t *row)
{
    for (int32_t i = 0; i < n; ++i) row[i] = (uint8_t)i;
    for (int32_t i = 0; i < n; ++i) {
        const int32_t other = pivot[i] - 1;
        if (other < 0 || other >= n) continue; /* of a routine that failed */
        const uint8_t kept = row[i];
        row[i] = row[other];
        row[other] = kept;
    }
}

static double residual_of(blocks_bench *b, const blocks_batch *x, const blocks_sample *s, int32_t block)
{
    double a[SD_BLOCK_MOST * SD_BLOCK_MOST], f[SD_BLOCK_MOST * SD_BLOCK_MOST], rhs[SD_BLOCK_MOST];
    uint8_t row[SD_BLOCK_MOST], column[SD_BLOCK_MOST];
    int32_t pivot[SD_BLOCK_MOST];
    sd_batch_state state = {0};
    int64_t first, entry;
    const int32_t n = blocks_rows(x->size, block);
    const sd_backend *backend = b->engine.backend;
    blocks_place(x->size, block, &first, &entry);
    blocks_result r = {.form = s->form, .n = n, .f = f};
    blocks_make(s->kind, x->precision, block, n, a);
    blocks_make_rhs(x->precision, block, n, rhs);
    if (s->solution)
        fetch(b, s->solution, x->precision, first, n, f);
    else
        fetch(b, blocks_to(b, x, 0), x->precision, entry, (int64_t)n * n, f);
    if (!s->peer && !s->solution) {
        backend->download(&b->engine, x->factors.row + first, row, n);
        backend->download(&b->engine, x->factors.column + first, column, n);
        backend->download(&b->engine, x->factors.state + block, &state, sizeof state);
        r.row = row;
        r.column = column;
        r.pairs = s->form == BLOCKS_LDLT ? state.pairs : 0;
    } else if (s->peer && s->peer->pivots) {
        s->peer->pivots(b, x, block, pivot);
        order_of(n, pivot, row);
        r.row = row;
    } else if (s->peer && s->peer->solve) {
        memcpy(f, rhs, sizeof rhs);
        s->peer->solve(b, x, block, f);
    }
    blocks_check(b, NULL);
    return blocks_residual(&r, a, rhs);
}

double blocks_worst(blocks_bench *b, const blocks_batch *x, const blocks_sample *s)
{
    double worst = 0.0;
    const int32_t count = x->plan.blocks, sample = b->quick ? 4 : SAMPLE;
    for (int32_t k = 0; k < count; ++k) {
        if (k == sample && count - sample > k) k = count - sample;
        const double residual = residual_of(b, x, s, k);
        if (residual > worst) worst = residual;
    }
    return worst;
}

void blocks_count(blocks_bench *b, const blocks_batch *x, sd_batch_kernel kernel, blocks_line *line)
{
    const int64_t bytes = x->plan.blocks * (int64_t)sizeof(sd_batch_state);
    const bool pairs = blocks_form_of(kernel) == BLOCKS_LDLT;
    sd_batch_state *state = malloc((size_t)bytes);
    if (!state) blocks_check(b, "out of memory for the states");
    b->engine.backend->download(&b->engine, x->factors.state, state, bytes);
    line->replaced = 0;
    line->two_by_two = 0;
    for (int32_t k = 0; k < x->plan.blocks; ++k) {
        line->replaced += state[k].status != SD_BLOCK_OK;
        if (pairs) line->two_by_two += __builtin_popcount(state[k].pairs);
    }
    free(state);
}

static double all_flops(const blocks_batch *x, sd_batch_kernel kernel)
{
    double sum = 0.0;
    if (x->size) return x->plan.blocks * blocks_flops(kernel, x->size);
    for (int32_t k = 0; k < x->plan.blocks; ++k) sum += blocks_flops(kernel, blocks_rows(0, k));
    return sum;
}

/* ------------------------------------------------------------------------------------------------
 * Measurements of a batch.
 */
void blocks_measure_kernel(blocks_bench *b, const blocks_batch *x, sd_batch_kernel kernel, int version)
{
    blocks_rule rule = {{.kernel = kernel}, (bench_version)version};
    const blocks_sample sample = {.kind = blocks_kind_of(kernel), .form = blocks_form_of(kernel)};
    blocks_line line = {.work = "factor", .who = "saddle", .name = blocks_kernel_names[kernel]};
    line.version = versions[version];
    line.seconds = blocks_time_work(b, x, blocks_factor_slot, &rule, false);
    line.bytes = 2.0 * (double)x->bytes;
    line.flops = all_flops(x, kernel);
    line.residual = blocks_worst(b, x, &sample);
    blocks_count(b, x, kernel, &line);
    blocks_tell(x, &line);
}

void blocks_measure_peer(blocks_bench *b, const blocks_batch *x, const blocks_peer *peer)
{
    const blocks_sample sample = {.kind = peer->kind, .form = peer->form, .peer = peer};
    blocks_line line = {.work = "factor", .who = peer->who, .name = peer->name, .version = versions[0]};
    if (!peer->begin(b, x)) return;
    line.seconds = blocks_time_work(b, x, peer->run, NULL, peer->in_place);
    line.bytes = 2.0 * (double)x->bytes;
    line.flops = all_flops(x, peer->alike);
    line.residual = blocks_worst(b, x, &sample);
    peer->end(b);
    blocks_tell(x, &line);
}

void blocks_measure_copy(blocks_bench *b, const blocks_batch *x)
{
    blocks_line line = {.work = "copy", .who = "machine", .name = "copy", .version = versions[0]};
    line.seconds = blocks_time_work(b, x, copy_slot, NULL, false);
    line.bytes = 2.0 * (double)x->bytes;
    line.residual = NAN;
    blocks_tell(x, &line);
}

/* The peak of a core, for one precision; its line has no batch. */
void blocks_measure_gemm(blocks_bench *b, const blocks_batch *x)
{
    const blocks_batch none = {.part = x->part, .precision = x->precision};
    blocks_line line = {.work = "gemm", .who = "machine", .name = "gemm", .version = versions[0]};
    if (!b->device->gemm) return;
    line.seconds = b->device->gemm(x->precision, &line.flops);
    line.residual = NAN;
    blocks_tell(&none, &line);
}
