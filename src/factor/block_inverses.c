/* Small blocks that the host makes and a backend multiplies with: see block_inverses.h. */
#include "factor/block_inverses.h"

#include "factor/spectral.h"

static double get(const void *from, sd_precision precision, int64_t k)
{
    return precision == SD_DOUBLE ? ((const double *)from)[k] : (double)((const float *)from)[k];
}

static void put(void *to, sd_precision precision, int64_t k, double value)
{
    if (precision == SD_DOUBLE)
        ((double *)to)[k] = value;
    else
        ((float *)to)[k] = (float)value;
}

void sd_sign_blocks(int32_t blocks, const int32_t *start, const int64_t *square, sd_precision precision,
                    int threads, bool absolute, void *numbers)
{
#pragma omp parallel for schedule(dynamic, 64) num_threads(threads) if (threads > 1)
    for (int32_t k = 0; k < blocks; ++k) {
        const int n = start[k + 1] - start[k];
        double m[SD_BLOCK_MOST * SD_BLOCK_MOST], to[SD_BLOCK_MOST * SD_BLOCK_MOST];
        for (int i = 0; i < n * n; ++i) m[i] = get(numbers, precision, square[k] + i);
        sd_spectral(n, m, absolute ? to : NULL, absolute ? NULL : to);
        for (int i = 0; i < n * n; ++i) put(numbers, precision, square[k] + i, to[i]);
    }
}

saddle_status sd_batch_set_inverses(sd_engine *e, const void *numbers, sd_batch_factors *f)
{
    sd_context *c = e->context;
    const sd_batch_plan *plan = f->plan;
    const int64_t states = plan->blocks * (int64_t)sizeof *f->state;
    uint8_t *place = sd_alloc(c, plan->rows, sizeof *place, "order of rows in blocks");
    sd_batch_state *state = sd_alloc_zero(c, plan->blocks, sizeof *state, "states of blocks");
    sd_batch_job *job = sd_alloc(c, plan->count, sizeof *job, "jobs of blocks");
    if ((!place || !state || !job) && !e->status) e->status = c->status;
    if (!e->status) e->backend->download(e, plan->job, job, plan->count * (int64_t)sizeof *job);
    for (int s = 1; s <= SD_BLOCK_MOST && !e->status; ++s)
        for (int32_t k = plan->first[s]; k < plan->first[s + 1]; ++k)
            for (int i = 0; i < s; ++i) place[job[k].row + i] = (uint8_t)i;
    f->kernel = SD_JORDAN;
    if (!e->status) {
        e->backend->upload(e, numbers, f->data, plan->entries * (int64_t)sd_precision_size(f->precision));
        e->backend->upload(e, place, f->row, plan->rows);
        e->backend->upload(e, place, f->column, plan->rows);
        e->backend->upload(e, state, f->state, states);
    }
    sd_free_all(c, place, state, job);
    return e->status;
}
