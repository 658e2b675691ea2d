/* See level_shares.h. */
#include "plan/level_shares.h"

/* One beyond the last level of the step that begins with this level. */
static int32_t step_end(const int32_t *level, int32_t levels, int32_t first, int32_t thin)
{
    int32_t beyond = first + 1;
    if (level[beyond] - level[first] < thin)
        while (beyond < levels && level[beyond + 1] - level[beyond] < thin) ++beyond;
    return beyond;
}

/* Whether a row needs, of the ranks from `before` on, only those of the share. */
static bool is_own(const sd_pattern *p, bool upper, int32_t rank, int32_t before, const sd_level_share *own)
{
    const int32_t i = upper ? p->n - 1 - rank : rank;
    for (int64_t k = p->ptr[i]; k < p->ptr[i + 1]; ++k) {
        const int32_t needed = upper ? p->n - 1 - p->ind[k] : p->ind[k];
        if (needed >= before && (needed < own->begin || needed >= own->end)) return false;
    }
    return true;
}

/* The longest run of rows that need nothing of other lanes; `before` is the first rank of the step before,
 * whose share the lane has. */
static void find_early(const sd_pattern *p, bool upper, int32_t before, const sd_level_share *own,
                       sd_level_share *s)
{
    for (int32_t rank = s->begin; rank < s->end;) {
        int32_t stop = rank;
        while (stop < s->end && is_own(p, upper, stop, before, own)) ++stop;
        if (stop - rank > s->late - s->early) {
            s->early = rank;
            s->late = stop;
        }
        rank = stop + 1;
    }
}

saddle_status sd_level_shares_make(sd_context *c, const sd_pattern *p, bool upper, int32_t levels,
                                   const int32_t *level, int32_t thin, int lanes, sd_level_shares *s)
{
    int32_t steps = 0;
    for (int32_t l = 0; l < levels; ++steps) l = step_end(level, levels, l, thin);
    *s = (sd_level_shares){.steps = steps, .lanes = lanes};
    s->share = sd_alloc(c, (int64_t)steps * lanes, sizeof *s->share, "rows of threads");
    if (!s->share) return c->status;
    const sd_level_share none = {0};
    int32_t before = 0;
    sd_level_share *share = s->share;
    for (int32_t l = 0; l < levels;) {
        const int32_t beyond = step_end(level, levels, l, thin), first = level[l];
        const int64_t count = level[beyond] - first;
        const bool wide = beyond == l + 1 && count >= thin;
        for (int t = 0; t < lanes; ++t, ++share) {
            share->begin = share->early = share->late =
                wide || t == 0 ? first + (int32_t)(count * t / lanes) : level[beyond];
            share->end = wide ? first + (int32_t)(count * (t + 1) / lanes) : level[beyond];
            if (wide) find_early(p, upper, before, l == 0 ? &none : share - lanes, share);
        }
        before = first;
        l = beyond;
    }
    return SADDLE_OK;
}

void sd_level_shares_free(sd_context *c, sd_level_shares *s)
{
    sd_free(c, s->share);
    *s = (sd_level_shares){0};
}
