/* What both plots have: ink, a title, a frame, ticks at round numbers. */
#pragma once

#include "cli/picture.h"

enum { INK = 0x222222, FAINT = 0xdddddd, BLUE = 0x0072b2, VERMILLION = 0xd55e00, GREY = 0x999999 };

static const double FRAME_PEN = 1.0, TICK = 4.0, LABEL_SIZE = 11.0, TITLE_SIZE = 13.0;

/* A frame around (not over) a rectangle. */
void axes_frame(picture *p, double x, double y, double width, double height);

/* A title over the axes from `left` on, at the top of the picture: in the middle of the picture where it is
 * wider than they are, and in smaller letters where it would not fit. */
void axes_title(picture *p, double left, double width, const char *title);

/* A tick at this height left of axes that begin at x, and its label where that is not NULL. */
void axes_tick_left(picture *p, double x, double y, const char *label);

/* What a colour stands for: a square of it where `seen`, and the word beside it; y is the base line. */
void axes_key(picture *p, double x, double y, uint32_t colour, bool seen, const char *word);

/* The least of 1, 2, 5, 10, 20, ... that puts at most `most` steps into 0..range. */
int64_t axes_step(int64_t range, int most);
