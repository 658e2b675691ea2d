/* See numbers.h. */
#include "cli/numbers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void number_text(double number, char *text, size_t text_size)
{
    snprintf(text, text_size, "null");
    if (!isfinite(number)) return;
    for (int digits = 15; digits <= 17; ++digits) {
        snprintf(text, text_size, "%.*g", digits, number);
        if (strtod(text, NULL) == number) return;
    }
}

const char *count_text(int64_t number, char *text, size_t size)
{
    char digits[24];
    const int length = snprintf(digits, sizeof(digits), "%lld", (long long)number);
    size_t used = 0;
    for (int k = 0; k < length && used + 2 < size; k++) {
        if (k > 0 && (length - k) % 3 == 0 && digits[k - 1] != '-') text[used++] = ',';
        text[used++] = digits[k];
    }
    text[used] = 0;
    return text;
}

static int ascending(const void *one, const void *two)
{
    const double a = *(const double *)one, b = *(const double *)two;
    return (a > b) - (a < b);
}

double median_of(double *numbers, int count)
{
    if (count == 0) return NAN;
    qsort(numbers, (size_t)count, sizeof *numbers, ascending);
    return 0.5 * (numbers[(count - 1) / 2] + numbers[count / 2]);
}

size_t utf8_length(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    if (p[0] < 0x80) return 1;
    const size_t length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4) return 0;
    for (size_t k = 1; k < length; ++k) {
        if ((p[k] & 0xc0) != 0x80) return 0;
    }
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f)) return 0;
    if ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f)) return 0;
    return length;
}
