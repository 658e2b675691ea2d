/*
 * Numbers as text. See number.h.
 *
 * A decimal number is w * 10^q with an integer w. It is read in one of three ways, each correctly
 * rounded, and the fastest that can decide is taken:
 *
 *   1  w <= 2^53 and |q| <= 22: w and 10^|q| are doubles, so one product or quotient rounds once
 *      (Clinger, How to read floating point numbers accurately, 1990).
 *   2  w < 2^64: with W = w * 2^lz normalised to 64 bits and 10^q = (P + d) * 2^(e-63), 0 <= d < 1,
 *      from the table, the number is T * 2^(e-63-lz) with W*P <= T < W*P + 2^64. Let hi and lo be the
 *      halves of W*P. In units of 2^64, T lies in [hi + lo/2^64, hi + lo/2^64 + 1), and the 53 bits
 *      to keep leave r = the last s = 10 or 11 bits of hi. Half a unit in the last place is
 *      h = 2^(s-1). The number is rounded up when r > h, or r = h and lo > 0; it is rounded down when
 *      r + 2 <= h; and where d = 0 the interval is one point and even a tie is decided. What is left,
 *      one case in a thousand, is undecided. (After a carry out of the 53 bits the same rules hold:
 *      T is then just above a power of two, and that power is the answer.)
 *   3  the rest, subnormal numbers and overflow: strtod, on digits and an exponent without a point,
 *      which no locale can misread. 800 digits and a sticky one are enough: a halfway point between
 *      two doubles has at most 767.
 *
 * More than 19 digits: w is cut off, and where w and w + 1 give the same double it is the answer.
 */
#include "core/number.h"

#include "core/powers_of_ten.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORD_DIGITS = 19,         /* always fit in 64 bits */
    LONG_DIGITS = 800,        /* kept for strtod */
    EXPONENT_CLIP = 20000,    /* with 800 digits: 0 or infinity for certain */
    DOUBLE_LEAST = -1022 - 52 /* exponent of the last bit of the least normal double */
};
static const int64_t EXPONENT_MOST = INT64_C(1000000000000000);

typedef struct decimal {
    const char *first, *last; /* the digits and perhaps a point between them */
    uint64_t w;
    int64_t q;          /* the number is w * 10^q, or lies between that and (w + 1) * 10^q */
    int64_t last_place; /* power of ten of the digit before last */
    bool cut;           /* w is cut off */
} decimal;

static inline bool is_digit(char ch)
{
    return (unsigned char)(ch - '0') < 10;
}

/* Takes eight digits at once, on machines that store the first one in the lowest byte: digits are
 * joined to pairs, pairs to fours, fours to the eight. */
static inline bool eight_digits(const char *p, uint64_t *w)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t x;
    memcpy(&x, p, sizeof x);
    /* '0'..'9' are 0x30..0x39: the high half of a byte is 3, and still is after adding 6. */
    const uint64_t high = UINT64_C(0xf0f0f0f0f0f0f0f0), zeros = UINT64_C(0x3030303030303030);
    if (((x & high) ^ zeros) | (((x + UINT64_C(0x0606060606060606)) & high) ^ zeros)) return false;
    x -= zeros;
    x = x * 10 + (x >> 8);
    x = (x & UINT64_C(0x00ff00ff00ff00ff)) * ((UINT64_C(100) << 16) + 1) >> 16;
    x = (x & UINT64_C(0x0000ffff0000ffff)) * ((UINT64_C(10000) << 32) + 1) >> 32;
    *w = *w * 100000000 + x;
    return true;
#else
    (void)p;
    (void)w;
    return false;
#endif
}

/* Appends the digits at p to *w, modulo 2^64, and returns the end of them. */
static inline const char *digits(const char *p, const char *end, uint64_t *w)
{
    while (end - p >= 8 && eight_digits(p, w)) p += 8;
    while (p < end && is_digit(*p)) *w = *w * 10 + (uint64_t)(*p++ - '0');
    return p;
}

/* Of more than 19 digits that may begin with zeros, w takes the first 19 that count. */
static void cut_off(decimal *d)
{
    const char *p = d->first;
    while (p < d->last && (*p == '0' || *p == '.')) p++;
    int taken = 0;
    d->w = 0;
    for (; p < d->last && taken < WORD_DIGITS; p++) {
        if (*p == '.') continue;
        d->w = d->w * 10 + (uint64_t)(*p - '0');
        taken++;
    }
    d->q = d->last_place;
    for (; p < d->last; p++) {
        if (*p == '.') continue;
        d->q++;
        if (*p != '0') d->cut = true;
    }
}

/* An exponent such as e-3, E+03 or D3; p itself where there is none. */
static const char *exponent(const char *p, const char *end, int64_t *q)
{
    if (p == end || !((*p | 32) == 'e' || (*p | 32) == 'd')) return p;
    const char *at = p + 1;
    bool negative = false;
    if (at < end && (*at == '+' || *at == '-')) negative = *at++ == '-';
    if (at == end || !is_digit(*at)) return p;
    int64_t e = 0;
    for (; at < end && is_digit(*at); at++) {
        if (e < EXPONENT_MOST) e = e * 10 + (*at - '0');
    }
    *q += negative ? -e : e;
    return at;
}

/* Digits with or without a point, and an exponent; NULL where there is no digit. */
static const char *scan(const char *p, const char *end, decimal *d)
{
    d->first = p;
    d->w = 0;
    d->cut = false;
    p = digits(p, end, &d->w);
    int64_t count = p - d->first, q = 0;
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        p = digits(p, end, &d->w);
        q = fraction - p;
        count -= q;
    }
    if (count == 0) return NULL;
    d->last = p;
    p = exponent(p, end, &q);
    d->q = d->last_place = q;
    if (count > WORD_DIGITS) cut_off(d);
    return p;
}

/* Ways 1 and 2 for w * 10^q, w > 0; false where they cannot decide. */
static inline bool convert(uint64_t w, int64_t q, double *value)
{
    static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (w <= UINT64_C(1) << 53 && q >= -22 && q <= 22) {
        *value = q < 0 ? (double)w / exact[-q] : (double)w * exact[q];
        return true;
    }
    if (q < SD_POWER_FIRST || q > SD_POWER_LAST) return false;
    const int lz = __builtin_clzll(w);
    __extension__ typedef unsigned __int128 wide;
    const wide product = (wide)(w << lz) * sd_power_of_ten[q - SD_POWER_FIRST];
    const uint64_t hi = (uint64_t)(product >> 64), lo = (uint64_t)product;
    const int s = hi >> 63 ? 11 : 10;
    const uint64_t half = UINT64_C(1) << (s - 1), r = hi & (2 * half - 1);
    uint64_t m = hi >> s;
    if (r > half || (r == half && lo > 0)) {
        m++;
    } else if (q >= 0 && q <= SD_POWER_EXACT) {
        if (r == half) m += m & 1;
    } else if (r + 2 > half) {
        return false;
    }
    int place = s + 1 - lz + (int)((217706 * q) >> 16); /* the exponent of m's last bit */
    if (m >> 53) {
        m >>= 1;
        place++;
    }
    if (place < DOUBLE_LEAST || place > 1023 - 52) return false;
    const uint64_t bits = (uint64_t)(place + 1075) << 52 | (m & ((UINT64_C(1) << 52) - 1));
    memcpy(value, &bits, sizeof bits);
    return true;
}

/* Way 3. */
static double convert_long(const decimal *d)
{
    char text[LONG_DIGITS + 32];
    const char *p = d->first;
    while (p < d->last && (*p == '0' || *p == '.')) p++;
    int length = 0;
    for (; p < d->last && length < LONG_DIGITS; p++) {
        if (*p != '.') text[length++] = *p;
    }
    int64_t q = d->last_place;
    bool sticky = false;
    for (; p < d->last; p++) {
        if (*p == '.') continue;
        q++;
        if (*p != '0') sticky = true;
    }
    if (sticky) {
        text[length++] = '1';
        q--;
    }
    if (q > EXPONENT_CLIP) q = EXPONENT_CLIP;
    if (q < -EXPONENT_CLIP) q = -EXPONENT_CLIP;
    snprintf(text + length, sizeof text - (size_t)length, "e%d", (int)q);
    const int saved = errno; /* strtod sets it, the library does not */
    const double value = strtod(text, NULL);
    errno = saved;
    return value;
}

/* Whether the word, in lower case, is at p in any case. */
static bool has_word(const char *p, const char *end, const char *word)
{
    for (; *word; word++, p++) {
        if (p == end || (*p | 32) != *word) return false;
    }
    return true;
}

static const char *special(const char *p, const char *end, double *value)
{
    if (has_word(p, end, "nan")) {
        *value = NAN;
        return p + 3;
    }
    if (!has_word(p, end, "inf")) return NULL;
    *value = HUGE_VAL;
    return p + (has_word(p, end, "infinity") ? 8 : 3);
}

const char *sd_parse_double(const char *p, const char *end, double *value)
{
    bool negative = false;
    if (p < end && (*p == '-' || *p == '+')) negative = *p++ == '-';
    decimal d;
    double v = 0;
    const char *after = scan(p, end, &d);
    if (!after) {
        after = special(p, end, &v);
        if (!after) return NULL;
    } else if (d.w != 0) {
        double next;
        const bool decided = convert(d.w, d.q, &v) && (!d.cut || (convert(d.w + 1, d.q, &next) && next == v));
        if (!decided) v = convert_long(&d);
    }
    *value = negative ? -v : v;
    return after;
}

bool sd_parse_double_text(const char *text, double *value)
{
    const char *end = text + strlen(text);
    return sd_parse_double(text, end, value) == end;
}

const char *sd_parse_int64(const char *p, const char *end, int64_t *value)
{
    bool negative = false;
    if (p < end && (*p == '-' || *p == '+')) negative = *p++ == '-';
    const char *first = p;
    const uint64_t most = negative ? UINT64_C(1) << 63 : (uint64_t)INT64_MAX;
    const char *safe = end - p > 18 ? p + 18 : end; /* 18 digits cannot overflow */
    uint64_t w = 0;
    for (; p < safe && is_digit(*p); p++) w = w * 10 + (uint64_t)(*p - '0');
    for (; p < end && is_digit(*p); p++) {
        const uint64_t digit = (uint64_t)(*p - '0');
        if (w > (most - digit) / 10) return NULL;
        w = w * 10 + digit;
    }
    if (p == first) return NULL;
    *value = negative ? (int64_t)(0 - w) : (int64_t)w;
    return p;
}

/* ---- printing ---- */

enum { EXACT_DIGITS = 15, MOST_DIGITS = 17 }; /* which any double has, and which bring any double back */

static const uint64_t whole_power[] = {UINT64_C(1),
                                       UINT64_C(10),
                                       UINT64_C(100),
                                       UINT64_C(1000),
                                       UINT64_C(10000),
                                       UINT64_C(100000),
                                       UINT64_C(1000000),
                                       UINT64_C(10000000),
                                       UINT64_C(100000000),
                                       UINT64_C(1000000000),
                                       UINT64_C(10000000000),
                                       UINT64_C(100000000000),
                                       UINT64_C(1000000000000),
                                       UINT64_C(10000000000000),
                                       UINT64_C(100000000000000),
                                       UINT64_C(1000000000000000),
                                       UINT64_C(10000000000000000),
                                       UINT64_C(100000000000000000)};

/*
 * *w = value * 10^p, rounded to the nearest, of a value > 0; false where that cannot be decided.
 *
 * With value = M 2^(a-63), 2^63 <= M, and 10^p = (P + d) 2^(e-63), 0 <= d < 1, from the table, it is
 * T 2^(a+e-126) with M P <= T < M P + M. Between the bits of w and these last 64 there are 7 or more for the
 * table's first 17 digits: one number in a hundred is left undecided, and a tie.
 */
static bool scaled(double value, int p, uint64_t *w)
{
    __extension__ typedef unsigned __int128 wide;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const int biased = (int)(bits >> 52);
    if (biased == 0 || p < SD_POWER_FIRST || p > SD_POWER_LAST) return false;
    const uint64_t m = (bits << 11) | UINT64_C(1) << 63;
    const int shift = 126 - (biased - 1023) - ((217706 * p) >> 16);
    if (shift <= 64 || shift >= 128) return false;
    const wide product = (wide)m * sd_power_of_ten[p - SD_POWER_FIRST];
    const wide half = (wide)1 << (shift - 1), rest = product & (2 * half - 1);
    const bool exact = p >= 0 && p <= SD_POWER_EXACT;
    *w = (uint64_t)(product >> shift);
    if (rest > half)
        ++*w;
    else if (rest == half || (!exact && rest + m >= half))
        return false;
    return true;
}

/* The first digits of a value > 0: about w * 10^(k - digits + 1), with 10^(digits-1) <= w < 10^digits. */
static bool first_digits(double value, int digits_wanted, uint64_t *w, int *k)
{
    int exponent;
    frexp(value, &exponent);
    *k = (int)(((int64_t)(exponent - 1) * 78913) >> 18); /* floor of log10 of a power of two, or one less */
    if (!scaled(value, digits_wanted - 1 - *k, w)) return false;
    if (*w >= whole_power[digits_wanted] && !scaled(value, digits_wanted - 1 - ++*k, w)) return false;
    if (*w == whole_power[digits_wanted]) { /* 9.99... was rounded up */
        *w /= 10;
        ++*k;
    }
    return *w >= whole_power[digits_wanted - 1] && *w < whole_power[digits_wanted];
}

int sd_print_int64(int64_t value, char *text)
{
    char reversed[20];
    int length = 0, at = 0;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    if (value < 0) text[at++] = '-';
    do {
        reversed[length++] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    while (length > 0) text[at++] = reversed[--length];
    return at;
}

/* As printf's %.*g has it: so many digits w, the first of them at 10^k; zeros at the end are left out. */
static int print_digits(bool negative, uint64_t w, int digits_wanted, int k, char *text)
{
    char all[MOST_DIGITS + 3];
    char *to = text;
    int count = digits_wanted;
    for (; count > 1 && w % 10 == 0; w /= 10) --count;
    sd_print_int64((int64_t)w, all);
    if (negative) *to++ = '-';
    const bool small = k < -4 || k >= digits_wanted;
    const int whole = small ? 1 : k + 1; /* digits before the point */
    if (whole <= 0) {
        *to++ = '0';
        *to++ = '.';
        for (int z = whole; z < 0; ++z) *to++ = '0';
    }
    for (int j = 0; j < count; ++j) {
        if (j == whole && whole > 0) *to++ = '.';
        *to++ = all[j];
    }
    for (int z = count; z < whole; ++z) *to++ = '0';
    if (small) {
        *to++ = 'e';
        *to++ = k < 0 ? '-' : '+';
        const int size = k < 0 ? -k : k;
        if (size < 10) *to++ = '0';
        to += sd_print_int64(size, to);
    }
    *to = '\0';
    return (int)(to - text);
}

/* With printf, whatever the locale. */
static int print_slowly(double value, int digits_wanted, char *text, size_t size)
{
    const int length = snprintf(text, size, "%.*g", digits_wanted, value);
    if (length < 0 || (size_t)length >= size || !isfinite(value)) return length;
    /* Whatever the locale puts between the digits, of whatever length, becomes a point. */
    char *to = text;
    for (const char *p = text; *p; p++) {
        if (is_digit(*p) || *p == '-' || *p == '+' || *p == 'e') {
            *to++ = *p;
        } else if (to == text || to[-1] != '.') {
            *to++ = '.';
        }
    }
    *to = '\0';
    return (int)(to - text);
}

int sd_print_double(double value, int digits_wanted, char *text, size_t size)
{
    uint64_t w;
    int k;
    const bool quick = digits_wanted >= 1 && digits_wanted <= MOST_DIGITS && isfinite(value) && value != 0 &&
                       size >= SD_NUMBER_ROOM && first_digits(fabs(value), digits_wanted, &w, &k);
    return quick ? print_digits(value < 0, w, digits_wanted, k, text)
                 : print_slowly(value, digits_wanted, text, size);
}

int sd_print_shortest(double value, char *text)
{
    const double size = fabs(value);
    if (value == 0 || (size < 1e15 && size == (double)(int64_t)size)) { /* its digits are all that it has */
        text[0] = '-';
        const int length = signbit(value) + sd_print_int64((int64_t)size, text + signbit(value));
        text[length] = '\0';
        return length;
    }
    for (int count = EXACT_DIGITS; count < MOST_DIGITS; ++count) {
        uint64_t w;
        int k;
        double back;
        const bool quick =
            isfinite(value) && first_digits(size, count, &w, &k) && convert(w, k - count + 1, &back);
        if (quick && back == size) return print_digits(value < 0, w, count, k, text);
        if (quick) continue;
        const int length = print_slowly(value, count, text, SD_NUMBER_ROOM);
        if (sd_parse_double_text(text, &back) && back == value) return length;
    }
    return sd_print_double(value, MOST_DIGITS, text, SD_NUMBER_ROOM);
}
