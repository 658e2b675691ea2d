/* See panels.h. */
#include "cli/panels.h"

#include <stdlib.h>

panel *panels_add(panels *p, int64_t length, const char *across, const char *up)
{
    if (p->count == PANELS_MOST) return NULL;
    panel *one = &p->list[p->count];
    one->data = malloc(((size_t)length + 1) * 3 * CHART_SERIES * sizeof *one->data);
    if (!one->data) {
        p->failed = true;
        return NULL;
    }
    one->chart = (chart){.title = one->title, .across = across, .up = up, .places = 1};
    for (int s = 0; s < CHART_SERIES; ++s) {
        one->chart.series[s].x = one->data + 3 * s * (length + 1);
        one->chart.series[s].y = one->chart.series[s].x + length + 1;
    }
    ++p->count;
    return one;
}

void panels_keep(panels *p, const panel *one)
{
    if (one->chart.count > 0) return;
    free(one->data);
    --p->count;
}

void panel_point(panel *one, double x, double y)
{
    if (one->chart.count == CHART_SERIES) return;
    chart_series *s = &one->chart.series[one->chart.count];
    s->x[s->count] = x;
    s->y[s->count++] = y;
}

void panel_series(panel *one, const char *name)
{
    if (one->chart.count == CHART_SERIES) return;
    chart_series *s = &one->chart.series[one->chart.count];
    s->name = name;
    if (s->count > 0) ++one->chart.count;
}

int panels_save(panels *p, const char *path)
{
    const int across = p->count > 1 ? 2 : 1, down = (p->count + across - 1) / across;
    picture drawn = picture_begin(across * CHART_WIDTH, (down > 0 ? down : 1) * CHART_HEIGHT);
    drawn.failed = p->failed;
    for (int k = 0; k < p->count; ++k) {
        chart_draw(&drawn, &p->list[k].chart, k % across * CHART_WIDTH, k / across * CHART_HEIGHT);
        free(p->list[k].data);
    }
    p->count = 0;
    const int status = picture_save(&drawn, path);
    picture_end(&drawn);
    return status;
}
