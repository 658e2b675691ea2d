/*
 * A small stroke font, for pictures made of pixels: letters are lines and curves drawn with a round
 * pen, so that they can have any size.
 */
#pragma once

/* Called for every straight piece, in units of which capitals are 10 high, y up from the base line. */
typedef void (*font_segment)(void *user, double x0, double y0, double x1, double y1);

/* Draws text (in ASCII; anything else is shown as a question mark) and returns how wide it is.
 * segment may be NULL, to measure only. */
double font_draw(const char *text, font_segment segment, void *user);

/* How long one of those units is in letters of this size, and how wide a text. */
double font_unit(double size);
double font_width(const char *text, double size);
