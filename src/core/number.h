/*
 * Numbers as text, the same whatever the locale: strtod and printf would read and write a comma
 * where the user's language does.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Parses a decimal number at p, before end, correctly rounded. Fortran's D exponents ("1.5D+3") are
 * taken, and inf, infinity and nan in any case; hexadecimal is not. *value is +-HUGE_VAL on
 * overflow. Returns the first character after the number, or NULL where there is none.
 */
const char *sd_parse_double(const char *p, const char *end, double *value);

/* The same for a whole string: false where it is not a number or something follows it. */
bool sd_parse_double_text(const char *text, double *value);

/* An integer with an optional sign; NULL where there is none or it does not fit. */
const char *sd_parse_int64(const char *p, const char *end, int64_t *value);

enum { SD_NUMBER_ROOM = 32 }; /* characters that any number fits into, with the 0 at its end */

/* Prints with this many significant digits (17 always gives the number back), with a point, as %.*g does.
 * Returns the length, which is below size where it fits. */
int sd_print_double(double value, int digits, char *text, size_t size);

/* The same with the fewest digits, from 15 on, that give the number back; SD_NUMBER_ROOM characters. */
int sd_print_shortest(double value, char *text);

/* An integer, without a 0 at its end; SD_NUMBER_ROOM characters. */
int sd_print_int64(int64_t value, char *text);
