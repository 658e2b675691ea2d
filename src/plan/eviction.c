/* Steps of a factorization within a given memory. See eviction.h. */
#include "plan/eviction.h"

/* Steps that a level is cut into, about, as long as there is a choice: more would leave a device idle. */
enum { PIECES = 4 };
enum { UNIT = 256, SPARE = 1 << 16 };

int64_t sd_panel_planned(const sd_panels *p, int32_t f)
{
    const int64_t columns = sd_front_columns(p->tree, f), rows = columns + sd_front_below(p->tree, f);
    return sd_panel_size(rows, columns, p->number_bytes);
}

int64_t sd_with_slack(int64_t bytes, double slack)
{
    const int64_t all = bytes + (int64_t)((double)bytes * slack) + SPARE;
    return (all + UNIT - 1) / UNIT * UNIT;
}

static int64_t cluster_bytes(const sd_panels *p, int32_t cluster)
{
    const sd_schedule *s = p->schedule;
    int64_t bytes = 0;
    for (int64_t k = s->cluster_from[cluster]; k < s->cluster_from[cluster + 1]; ++k)
        bytes += sd_panel_planned(p, s->cluster_front[k]);
    return bytes;
}

int64_t sd_level_planned(const sd_panels *p, int32_t level, int64_t *largest)
{
    const sd_schedule *s = p->schedule;
    int64_t bytes = 0;
    *largest = 0;
    for (int32_t c = s->cluster_ptr[level]; c < s->cluster_ptr[level + 1]; ++c) {
        const int64_t own = cluster_bytes(p, c);
        bytes += own;
        if (own > *largest) *largest = own;
    }
    for (int32_t k = s->large_ptr[level]; k < s->large_ptr[level + 1]; ++k) {
        const int64_t own = sd_panel_planned(p, s->large_front[k]);
        bytes += own;
        if (own > *largest) *largest = own;
    }
    return bytes;
}

static int64_t at_least(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t extent_of(const sd_panels *p, int32_t level)
{
    return p->extent ? p->extent[level] : 0;
}

/* Bytes for the panels of levels `first` and on, and all extents. */
static int64_t kept_bytes(const sd_panels *p, int32_t first)
{
    int64_t panels = 0, bytes = 0, largest;
    for (int32_t l = 0; l < p->schedule->levels; ++l) {
        if (l >= first) panels += sd_level_planned(p, l, &largest);
        bytes = at_least(bytes, (panels > 0 ? sd_with_slack(panels, p->slack) : 0) + extent_of(p, l));
    }
    return (bytes + UNIT - 1) / UNIT * UNIT;
}

/* What is left of these bytes to panels in a level, so that they are not in the way later. */
static int64_t ceiling_of(const sd_panels *p, int32_t level, int64_t kept)
{
    int64_t most = 0;
    for (int32_t l = level; l < p->schedule->levels; ++l) most = at_least(most, extent_of(p, l));
    return kept - most;
}

/* The steps that are being made. */
typedef struct making {
    const sd_panels *p;
    const sd_eviction *e;
    sd_panel_step *step; /* NULL: they are counted */
    sd_panel_step now;
    int32_t count, evicted;
    int64_t host, largest, rows, most_rows; /* rows of the step at hand, and of that with most */
    int64_t ceiling;                        /* of the level at hand */
} making;

static void begin_step(making *m, int32_t level, int32_t cluster, int32_t large)
{
    m->now = (sd_panel_step){.level = level,
                             .cluster_from = cluster,
                             .cluster_to = cluster,
                             .large_from = large,
                             .large_to = large,
                             .host = m->host};
    m->rows = 0;
}

static void end_step(making *m)
{
    const int32_t tiny = m->p->schedule->cluster_tiny[m->now.level];
    sd_panel_step *s = &m->now;
    s->cluster_tiny = tiny < s->cluster_from ? s->cluster_from : tiny > s->cluster_to ? s->cluster_to : tiny;
    if (s->level < m->e->levels)
        s->capacity = sd_with_slack(s->planned, m->p->slack);
    else
        s->ceiling = m->ceiling;
    m->host += s->capacity;
    m->evicted += s->capacity > 0;
    m->largest = at_least(m->largest, s->capacity);
    if (m->step) m->step[m->count] = *s;
    ++m->count;
}

/* Something more of so many bytes, and rows of a large front: the step at hand ends before it where they are
 * too many. */
static void add_to_step(making *m, int64_t bytes, int64_t rows)
{
    const sd_panel_step *s = &m->now;
    const bool empty = s->cluster_from == s->cluster_to && s->large_from == s->large_to;
    const bool full =
        s->level < m->e->levels && sd_with_slack(s->planned + bytes, m->p->slack) > m->e->region;
    const bool tall = m->p->most_rows > 0 && m->rows > 0 && m->rows + rows > m->p->most_rows;
    if (!empty && (full || tall)) {
        end_step(m);
        begin_step(m, s->level, s->cluster_to, s->large_to);
    }
    m->now.planned += bytes;
    m->rows += rows;
    m->most_rows = at_least(m->most_rows, m->rows);
}

static making make_steps(const sd_panels *p, const sd_eviction *e, sd_panel_step *step)
{
    const sd_schedule *s = p->schedule;
    making m = {.p = p, .e = e, .step = step};
    for (int32_t l = 0; l < s->levels; ++l) {
        begin_step(&m, l, s->cluster_ptr[l], s->large_ptr[l]);
        m.ceiling = ceiling_of(p, l, e->kept);
        for (int32_t c = s->cluster_ptr[l]; c < s->cluster_ptr[l + 1]; ++c) {
            add_to_step(&m, cluster_bytes(p, c), 0);
            m.now.cluster_to = c + 1;
        }
        for (int32_t k = s->large_ptr[l]; k < s->large_ptr[l + 1]; ++k) {
            const int32_t f = s->large_front[k];
            add_to_step(&m, sd_panel_planned(p, f), sd_step_rows(p->tree, f));
            m.now.large_to = k + 1;
        }
        end_step(&m);
    }
    return m;
}

void sd_eviction_steps(const sd_panels *p, const sd_eviction *e, sd_panel_step *step)
{
    make_steps(p, e, step);
}

/* What the steps come to; the region is then no larger than the largest of them. */
static void add_up(const sd_panels *p, sd_eviction *e)
{
    const making m = make_steps(p, e, NULL);
    e->steps = m.count;
    e->evicted = m.evicted;
    e->region = m.largest;
    e->host = m.host;
    e->rows = m.most_rows;
}

/*
 * As few levels as possible, since what has left the device is read through the bus; but none is cut into
 * more than a few steps if it can be helped, and if not, the largest into as few as possible.
 */
static void choose_levels(const sd_panels *p, int64_t room, sd_eviction *e)
{
    int64_t largest, unit = 0, piece = 0, whole = 0;
    double fewest = 0;
    bool cut = false; /* nothing was found but what cuts levels into many steps */
    for (int32_t l = 0; l < p->schedule->levels; ++l) {
        const int64_t level = sd_level_planned(p, l, &largest);
        unit = at_least(unit, sd_with_slack(largest, p->slack));
        piece = at_least(piece, at_least(unit, sd_with_slack(level / PIECES, p->slack)));
        whole = at_least(whole, sd_with_slack(level, p->slack));
        const int64_t kept = kept_bytes(p, l + 1);
        const int64_t region = room > kept ? (room - kept) / 2 / UNIT * UNIT : 0;
        const double steps = (double)whole / (double)at_least(region, 1);
        if (kept + 2 * unit < e->least) e->least = kept + 2 * unit;
        if (region < unit || (e->fits && !cut)) continue;
        if (region < piece && e->fits && steps >= fewest) continue;
        cut = region < piece;
        fewest = steps;
        e->fits = true;
        e->levels = l + 1;
        e->region = region < whole ? region : whole;
        e->kept = kept;
    }
}

/* Room for delays beyond the slack, where all panels stay: small problems delay a larger part of their
 * columns than large ones, and can have it at no cost. */
static int64_t ample_room(const sd_panels *p, int64_t planned)
{
    enum { TIMES = 2, MOST = 16 << 20 };
    if (p->slack == 0.0) return 0;
    return planned < MOST / TIMES ? TIMES * planned / UNIT * UNIT : MOST;
}

sd_eviction sd_eviction_choose(const sd_panels *p, int64_t room)
{
    int64_t largest;
    sd_eviction e = {0};
    for (int32_t l = 0; l < p->schedule->levels; ++l) e.planned += sd_level_planned(p, l, &largest);
    e.least = e.whole = e.kept = kept_bytes(p, 0);
    e.fits = e.kept <= room;
    if (e.fits && ample_room(p, e.planned) <= room - e.kept) e.kept += ample_room(p, e.planned);
    if (!e.fits) choose_levels(p, room, &e);
    if (e.fits) add_up(p, &e);
    return e;
}
