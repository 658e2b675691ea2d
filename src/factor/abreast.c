/* LDL' of systems abreast. See abreast.h. */
#include "factor/abreast.h"

static int64_t entries_of(const sd_sequence *s)
{
    return s->nodes > 0 ? s->node[s->nodes - 1].end : 0;
}

saddle_status sd_abreast_make(sd_context *c, const sd_abreast_kernels *on, const sd_sequence *s,
                              int64_t entries, bool factored, sd_abreast_factors *f)
{
    const size_t row = (size_t)on->width * sizeof(double);
    sd_abreast_numbers *const m = &f->numbers;
    *f = (sd_abreast_factors){.on = on, .s = s};
    m->l = sd_alloc(c, entries_of(s), row, "columns of the factors");
    m->inverse = sd_alloc(c, 2 * (int64_t)s->n, row, "pivots");
    bool made = m->l && m->inverse;
    if (made && factored) {
        f->values = sd_alloc(c, entries, row, "values of the scaled matrix");
        m->d = sd_alloc(c, 2 * (int64_t)s->n, row, "pivots");
        m->y = sd_alloc_zero(c, s->n, row, "factors");
        m->next = sd_alloc(c, s->nodes, sizeof *m->next, "factors");
        made = f->values && m->d && m->y && m->next;
    }
    if (!made) sd_abreast_free(c, f);
    return made ? SADDLE_OK : c->status;
}

void sd_abreast_free(sd_context *c, sd_abreast_factors *f)
{
    sd_free_all(c, f->values, f->numbers.l, f->numbers.d, f->numbers.inverse, f->numbers.y, f->numbers.next);
    *f = (sd_abreast_factors){0};
}

int64_t sd_abreast_bytes(const sd_sequence *s, int64_t entries, int width)
{
    return (entries + entries_of(s) + 5 * (int64_t)s->n) * width * (int64_t)sizeof(double) +
           s->nodes * (int64_t)sizeof(int64_t);
}

void sd_abreast_join(sd_abreast_factors *f, const sd_simplicial *const *from)
{
    const double *l[SD_ABREAST_MOST], *inverse[SD_ABREAST_MOST];
    for (int c = 0; c < f->on->width; ++c) {
        l[c] = from[c]->l;
        inverse[c] = from[c]->inverse;
    }
    f->on->join(entries_of(f->s), l, f->numbers.l);
    f->on->join(2 * (int64_t)f->s->n, inverse, f->numbers.inverse);
}

void sd_abreast_part(const sd_abreast_factors *f, sd_simplicial *const *to)
{
    double *l[SD_ABREAST_MOST] = {0}, *d[SD_ABREAST_MOST] = {0}, *inverse[SD_ABREAST_MOST] = {0};
    bool any = false;
    for (int c = 0; c < f->on->width; ++c) {
        if (!to[c]) continue;
        l[c] = to[c]->l;
        d[c] = to[c]->d;
        inverse[c] = to[c]->inverse;
        any = true;
    }
    if (!any) return;
    f->on->part(entries_of(f->s), f->numbers.l, l);
    f->on->part(2 * (int64_t)f->s->n, f->numbers.d, d);
    f->on->part(2 * (int64_t)f->s->n, f->numbers.inverse, inverse);
}

static void take_place(int64_t n, const double *from, int width, double *to)
{
    for (int64_t k = 0; k < n; ++k) to[k] = from[k * width];
}

void sd_abreast_take(const sd_abreast_place *place, sd_simplicial *to, sd_pivots *pivots)
{
    const sd_abreast_factors *f = place->from;
    const int width = f->on->width;
    *pivots = f->outcome[place->at].pivots;
    to->least = f->outcome[place->at].least;
    if (place->counts_only) return;
    take_place(entries_of(f->s), f->numbers.l + place->at, width, to->l);
    take_place(2 * (int64_t)f->s->n, f->numbers.d + place->at, width, to->d);
    take_place(2 * (int64_t)f->s->n, f->numbers.inverse + place->at, width, to->inverse);
}
