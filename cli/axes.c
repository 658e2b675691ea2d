/* Frames and ticks. */
#include "cli/axes.h"

#include <stdio.h>
#include <string.h>

void axes_frame(picture *p, double x, double y, double width, double height)
{
    const double pen = FRAME_PEN;
    picture_box(p, x - pen, y - pen, width + 2 * pen, pen, INK);
    picture_box(p, x - pen, y + height, width + 2 * pen, pen, INK);
    picture_box(p, x - pen, y, pen, height, INK);
    picture_box(p, x + width, y, pen, height, INK);
}

int64_t axes_step(int64_t range, int most)
{
    int64_t step = 1;
    for (int k = 0; range / step > most; k++) step = k % 3 == 1 ? step / 2 * 5 : step * 2;
    return step;
}
