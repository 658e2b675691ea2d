/* Numbers and characters as text. The program never calls setlocale: a point is a point. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The shortest text that reads back as the same number; "null" where it is not finite. */
void number_text(double number, char *text, size_t text_size);

/* A number with a comma every three digits; returns text. */
const char *count_text(int64_t number, char *text, size_t size);

/* The median of numbers, which are put in order; NaN where there are none. */
double median_of(double *numbers, int count);

/* Length of the UTF-8 character at p (RFC 3629: no overlong forms, no surrogates), 0 for none. */
size_t utf8_length(const char *text);
