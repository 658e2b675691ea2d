/* Titles, frames and ticks. */
#include "cli/axes.h"

#include "cli/font.h"

#include <math.h>

void axes_frame(picture *p, double x, double y, double width, double height)
{
    const double pen = FRAME_PEN;
    picture_box(p, x - pen, y - pen, width + 2 * pen, pen, INK);
    picture_box(p, x - pen, y + height, width + 2 * pen, pen, INK);
    picture_box(p, x - pen, y, pen, height, INK);
    picture_box(p, x + width, y, pen, height, INK);
}

void axes_title(picture *p, double left, double width, const char *title)
{
    const double least = 7, margin = 10, room = p->width - 2 * margin;
    const double wanted = 1.2 * font_width(title, TITLE_SIZE); /* a viewer's own letters may be wider */
    const double size = wanted > room ? fmax(least, TITLE_SIZE * room / wanted) : TITLE_SIZE;
    picture_text(p, wanted > width ? margin + room / 2 : left + width / 2, 24, size, ANCHOR_MIDDLE, INK,
                 title);
}

void axes_tick_left(picture *p, double x, double y, const char *label)
{
    picture_box(p, x - FRAME_PEN - TICK, y - FRAME_PEN / 2, TICK, FRAME_PEN, INK);
    if (label)
        picture_text(p, x - FRAME_PEN - TICK - 4, y + 0.36 * LABEL_SIZE, LABEL_SIZE, ANCHOR_END, INK, label);
}

void axes_key(picture *p, double x, double y, uint32_t colour, bool seen, const char *word)
{
    if (seen) picture_box(p, x, y - 8, 9, 9, colour);
    picture_text(p, seen ? x + 15 : x, y, LABEL_SIZE, ANCHOR_START, INK, word);
}

int64_t axes_step(int64_t range, int most)
{
    int64_t step = 1;
    for (int k = 0; range / step > most; k++) step = k % 3 == 1 ? step / 2 * 5 : step * 2;
    return step;
}
