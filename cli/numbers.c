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
