/* The cost of a block LDL': see ldlt_cost.h. */
#include "factor/ldlt_cost.h"

/* ---- machines ---- */

/* Seconds, of an H200: of a launch; from one level to the next; of a byte; of a column of the longest row; of
 * a product of two blocks; of a block. */
static const struct {
    double launch, hop, byte, column, product, block;
} gpu = {5.0e-6, 1.1e-6, 4.1e-13, 2.3e-7, 2.2e-10, 2.1e-9};

/* Seconds, of one thread of a server: of a byte of a solve; of a product of two blocks; of a block; of a
 * barrier between levels of a solve, and of a step of a factorization, with what threads wait for each other
 * there. `crowd` threads beside another are worth one: they share the bandwidth of the memory. */
static const struct {
    double byte, product, block, barrier, step, crowd;
} cpu = {8e-11, 2.0e-7, 7.0e-7, 4.5e-6, 2e-5, 17};

static double speed_up(int threads)
{
    return threads / (1 + (threads - 1) / cpu.crowd);
}

/* Threads that a solve has. */
static int team_of(sd_ldlt_machine m, const sd_ldlt_work *w)
{
    return w->rows < SD_LDLT_TEAM ? 1 : m.threads;
}

/* ---- plans ---- */

/* A level as a solve and a factorization see it. */
typedef struct level_work {
    int64_t list;       /* blocks of all its rows */
    int64_t longest[2]; /* columns of the longest row of each triangle */
    int sizes;          /* of diagonal blocks: up to 4, 8, 16, 32 rows, a bit each */
} level_work;

static level_work level_of(const sd_ldlt_plan *plan, int32_t l)
{
    const int32_t begin = plan->level[l], end = plan->level[l + 1];
    level_work w = {.list = plan->row[end] - plan->row[begin]};
    for (int32_t i = begin; i < end; ++i) {
        const int32_t size = plan->start[i + 1] - plan->start[i];
        int64_t columns[2] = {0, 0};
        for (int64_t k = plan->row[i]; k < plan->row[i + 1]; ++k)
            columns[k >= plan->diagonal[i]] += plan->list[k].width;
        for (int k = 0; k < 2; ++k) w.longest[k] = columns[k] > w.longest[k] ? columns[k] : w.longest[k];
        w.sizes |= size <= 4 ? 1 : size <= 8 ? 2 : size <= 16 ? 4 : 8;
    }
    return w;
}

static int bits_of(int mask)
{
    int count = 0;
    for (; mask; mask &= mask - 1) ++count;
    return count;
}

sd_ldlt_work sd_ldlt_work_of(const sd_ldlt_plan *plan, int64_t products, sd_precision precision)
{
    const double number = (double)sd_precision_size(precision);
    sd_ldlt_work w = {.levels = plan->levels, .products = (double)products};
    int64_t thin = 0, longest[2] = {0, 0};
    int sizes = 0;
    for (int32_t l = 0; l < plan->levels; ++l) {
        const level_work level = level_of(plan, l);
        const bool wide = level.list >= SD_LDLT_THIN;
        thin += wide ? 0 : level.list;
        for (int k = 0; k < 2; ++k)
            longest[k] = level.longest[k] > longest[k] ? level.longest[k] : longest[k];
        w.wide += wide;
        w.batches += bits_of(level.sizes);
        sizes |= level.sizes;
    }
    const int64_t list = plan->row[plan->blocks];
    w.sizes = bits_of(sizes);
    w.bytes = number * (2.0 * (double)(plan->entries + plan->square[plan->blocks]) + 4.0 * plan->n) +
              (double)list * (double)sizeof *plan->list;
    w.rows = plan->blocks;
    w.thin = list > 0 ? (double)thin / (double)list : 1;
    w.longest = (double)(longest[0] + longest[1]);
    const int64_t each_once = list / 2;
    w.blocks = (double)(each_once + plan->blocks);
    return w;
}

/* ---- seconds ---- */

static bool is_gpu(sd_ldlt_machine m)
{
    return m.device == SADDLE_DEVICE_CUDA;
}

double sd_ldlt_cost_exact(sd_ldlt_machine m, const sd_ldlt_work *w)
{
    if (is_gpu(m)) return 2 * gpu.launch + w->levels * gpu.hop + w->bytes * gpu.byte;
    const int team = team_of(m, w);
    return w->bytes * cpu.byte * (w->thin + (1 - w->thin) / speed_up(team)) +
           (team > 1 ? 2 * w->wide * cpu.barrier : 0);
}

double sd_ldlt_cost_swept(sd_ldlt_machine m, const sd_ldlt_work *w, int sweeps)
{
    if (is_gpu(m))
        return 2 * gpu.launch + sweeps * (2 * gpu.launch + w->bytes * gpu.byte + w->longest * gpu.column);
    const int team = team_of(m, w);
    return sweeps * (w->bytes * cpu.byte / speed_up(team) + (team > 1 ? 2 * cpu.barrier : 0));
}

/* So many steps, in which all products and blocks are made once. */
static double elimination(sd_ldlt_machine m, const sd_ldlt_work *w, double steps)
{
    if (is_gpu(m)) return w->products * gpu.product + w->blocks * gpu.block + steps * gpu.launch;
    return (w->products * cpu.product + w->blocks * cpu.block) / speed_up(m.threads) +
           (m.threads > 1 ? steps * cpu.step : 0);
}

double sd_ldlt_cost_levels(sd_ldlt_machine m, const sd_ldlt_work *w)
{
    return elimination(m, w, 2 * w->levels + 2 * w->batches);
}

double sd_ldlt_cost_sweeps(sd_ldlt_machine m, const sd_ldlt_work *w, int sweeps)
{
    return sweeps * elimination(m, w, 4 + 2 * w->sizes);
}

int sd_ldlt_sweeps_worth(sd_ldlt_machine m, const sd_ldlt_work *w)
{
    const double exact = sd_ldlt_cost_exact(m, w), none = sd_ldlt_cost_swept(m, w, 0);
    const double each = sd_ldlt_cost_swept(m, w, 1) - none;
    const double most = each > 0 ? (exact - none) / each : 0;
    if (!(most >= 1)) return 0;
    return most < w->levels ? (int)most : w->levels;
}
