/* Numbers as text: read with correct rounding whatever the locale, printed so that they come back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/number.h"
#include "core/powers_of_ten.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = UINT64_C(20240607);

static uint64_t next_random(void)
{
    seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = seed;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double random_double(void)
{
    for (;;) {
        const uint64_t bits = next_random();
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value)) return value;
    }
}

/* The parser against strtod, bit by bit; the text must be used up. */
static void same_as_strtod(const char *text)
{
    double value = -7;
    const double right = strtod(text, NULL);
    if (!sd_parse_double_text(text, &value)) fail_msg("'%.80s' was not read", text);
    if (bits_of(value) != bits_of(right)) {
        fail_msg("'%.80s' was read as %.17g, strtod says %.17g", text, value, right);
    }
}

static void reads_random_numbers_as_strtod(void **state)
{
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    char text[64];
    for (int k = 0; k < 1000000; k++) {
        const double value = random_double();
        snprintf(text, sizeof text, "%.*g", 1 + (int)(next_random() % 25), value);
        same_as_strtod(text);
    }
    for (int k = 0; k < 1000000; k++) { /* magnitudes that matrices have */
        const double value = ldexp((double)(int64_t)next_random(), (int)(next_random() % 120) - 120);
        snprintf(text, sizeof text, "%.*e", (int)(next_random() % 20), value);
        same_as_strtod(text);
    }
    for (int k = 0; k < 1000000; k++) { /* integers of up to 20 digits and any exponent */
        const uint64_t w = next_random() >> next_random() % 64;
        snprintf(text, sizeof text, "%llue%d", (unsigned long long)w, (int)(next_random() % 700) - 370);
        same_as_strtod(text);
    }
    for (int k = 0; k < 300000; k++) { /* a point anywhere */
        int length = 0;
        const int digits = 1 + (int)(next_random() % 40), point = (int)(next_random() % (uint64_t)digits);
        for (int i = 0; i < digits; i++) {
            if (i == point) text[length++] = '.';
            text[length++] = (char)('0' + next_random() % 10);
        }
        text[length] = '\0';
        same_as_strtod(text);
    }
}

/* The exact middle of two neighbours, and one unit in the 800th digit below and above. */
static void rounds_halfway_cases(void **state)
{
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    char text[1600];
    for (int k = 0; k < 20000; k++) {
        double low = fabs(random_double());
        if (k % 4 == 0) low = ldexp((double)(next_random() >> 11), (int)(next_random() % 80) - 60);
        if (k % 16 == 1) low = ldexp(1.0, (int)(next_random() % 2000) - 1050);
        const double high = nextafter(low, HUGE_VAL);
        if (!isfinite(high)) continue;
        /* long double has 11 more bits than needed for the middle of normal numbers */
        const long double middle = ((long double)low + (long double)high) / 2;
        snprintf(text, sizeof text, "%.1100Lg", middle);
        same_as_strtod(text);
        char *exponent = strchr(text, 'e');
        char tail[16] = "";
        if (exponent) snprintf(tail, sizeof tail, "%s", exponent);
        if (exponent) *exponent = '\0';
        const char *point = strchr(text, '.');
        const size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s0000000000000000000000000000001%s", point ? "" : ".",
                 tail);
        same_as_strtod(text);
        size_t last = length - 1; /* one less in the last digit that is not 0 */
        while (last > 0 && (text[last] == '0' || text[last] == '.')) last--;
        text[last]--;
        same_as_strtod(text);
    }
}

static void rounds_at_the_ends_of_the_range(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1e-323",
        "1e-400",
        "2.2250738585072014e-308",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "1e-99999999999",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e309",
        "1e400",
        "179769313486231580793e289",
        "0.000001e315",
        "123456789012345678901234567890e280",
        "1e99999999999",
        "-1e400",
        "-1e-400",
        "0e999999999999999999999",
        "-0",
        "0.0",
        "9007199254740993",
        "9007199254740992",
        "9007199254740995",
        "1e22",
        "1e23",
        "9999999999999999999",
        "18446744073709551615",
        "18446744073709551616",
        "99999999999999999999",
        "8.5e-324",
        "0.1",
        ".5",
        "5.",
        "+1.5",
        "00000000001",
        "0.00000000000000000000000000000000000000000000000000000000000000000000000000000000000001",
        "100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"};
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) same_as_strtod(texts[k]);
    char text[64];
    for (int e = -345; e <= 310; e++) { /* every row of the table, both sides of it */
        snprintf(text, sizeof text, "1e%d", e);
        same_as_strtod(text);
        snprintf(text, sizeof text, "9999999999999999999e%d", e - 18);
        same_as_strtod(text);
        snprintf(text, sizeof text, "9007199254740993e%d", e - 15);
        same_as_strtod(text);
    }
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int k = 0; k < 200000; k++) {
        const uint64_t bits = next_random() >> 12; /* subnormal */
        double value;
        memcpy(&value, &bits, sizeof value);
        snprintf(text, sizeof text, "%.*e", 10 + k % 12, value);
        same_as_strtod(text);
    }
}

static void reads_numbers_longer_than_any_buffer(void **state)
{
    (void)state;
    enum { LENGTH = 100000 };
    char *text = malloc(LENGTH + 32);
    assert_non_null(text);
    memset(text, '7', LENGTH);
    snprintf(text + LENGTH, 32, "e-%d", LENGTH);
    same_as_strtod(text);
    text[1] = '.';
    snprintf(text + LENGTH, 32, "e5");
    same_as_strtod(text);
    memset(text, '0', LENGTH); /* a halfway case that only the last digit decides */
    memcpy(text, "9007199254740993.", 17);
    text[LENGTH] = '\0';
    same_as_strtod(text);
    text[LENGTH - 1] = '1';
    same_as_strtod(text);
    memset(text, '0', LENGTH); /* and one whose digits come after 90000 zeros */
    text[1] = '.';
    text[90000] = '3';
    snprintf(text + LENGTH, 32, "e90000");
    same_as_strtod(text);
    free(text);
}

static void takes_what_fortran_writes_and_stops_where_the_number_ends(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
        int length; /* -1: not a number */
    } cases[] = {{"1.5D+3", 1500, 6},
                 {"1.5d3", 1500, 5},
                 {"-2.5D-01 ", -0.25, 8},
                 {"1e", 1, 1},
                 {"1e+", 1, 1},
                 {"1d-x", 1, 1},
                 {"0x10", 0, 1},
                 {"1.2.3", 1.2, 3},
                 {"7,5", 7, 1},
                 {"", 0, -1},
                 {"-", 0, -1},
                 {".", 0, -1},
                 {"+.e3", 0, -1},
                 {"e5", 0, -1},
                 {" 1", 0, -1},
                 {"--1", 0, -1},
                 {"INF", HUGE_VAL, 3},
                 {"in", 0, -1},
                 {"-Infinity", -HUGE_VAL, 9},
                 {"infinite", HUGE_VAL, 3},
                 {"12345678", 12345678, 8},
                 {"123456789:", 123456789, 9},
                 {"1234567/", 1234567, 7}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const char *text = cases[k].text;
        double value = 0;
        const char *after = sd_parse_double(text, text + strlen(text), &value);
        if (cases[k].length < 0) {
            if (after) fail_msg("'%s' was read", text);
            continue;
        }
        if (after != text + cases[k].length || bits_of(value) != bits_of(cases[k].value)) {
            fail_msg("'%s' was read as %g", text, value);
        }
    }
    double value = 0;
    assert_true(sd_parse_double_text("NaN", &value));
    assert_true(isnan(value));
    assert_false(sd_parse_double_text("1 ", &value));
    const char *cut = "123456"; /* the end counts, not the NUL */
    assert_ptr_equal(sd_parse_double(cut, cut + 3, &value), cut + 3);
    assert_true(value == 123);
}

static void reads_integers_up_to_their_limits(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
        int length;
    } cases[] = {{"0", 0, 1},
                 {"-5x", -5, 2},
                 {"+17 ", 17, 3},
                 {"9223372036854775807", INT64_MAX, 19},
                 {"-9223372036854775808", INT64_MIN, 20},
                 {"9223372036854775808", 0, -1},
                 {"-9223372036854775809", 0, -1},
                 {"99999999999999999999999", 0, -1},
                 {"", 0, -1},
                 {"-", 0, -1},
                 {"x", 0, -1},
                 {"000000000000000000000000012", 12, 27}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const char *text = cases[k].text;
        int64_t value = 0;
        const char *after = sd_parse_int64(text, text + strlen(text), &value);
        if (cases[k].length < 0) {
            assert_null(after);
        } else {
            assert_ptr_equal(after, text + cases[k].length);
            assert_true(value == cases[k].value);
        }
    }
}

static void prints_numbers_that_come_back(void **state)
{
    (void)state;
    char text[64];
    for (int k = 0; k < 200000; k++) {
        const double value = random_double();
        double back = 0;
        const int length = sd_print_double(value, 17, text, sizeof text);
        assert_int_equal(length, strlen(text));
        assert_true(sd_parse_double_text(text, &back));
        assert_true(bits_of(back) == bits_of(value));
    }
    sd_print_double(0.1, 3, text, sizeof text);
    assert_string_equal(text, "0.1");
    sd_print_double(-1.5e300, 17, text, sizeof text);
    assert_string_equal(text, "-1.5000000000000001e+300");
    assert_true(sd_print_double(1234567, 17, text, 4) >= 4);
}

/* setlocale knows the locales of the machine; any whose point is a comma will do. */
static bool comma_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "fr_FR.utf8"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        if (setlocale(LC_ALL, names[k]) && localeconv()->decimal_point[0] == ',') return true;
    }
    setlocale(LC_ALL, "C");
    return false;
}

static void a_comma_locale_changes_nothing(void **state)
{
    (void)state;
    if (!comma_locale()) {
        print_message("no locale with a decimal comma on this machine\n");
        skip();
    }
    char text[64], printed[64];
    snprintf(printed, sizeof printed, "%.1f", 1.5);
    double fast = 0, slow = 0, long_one = 0;
    const bool read =
        sd_parse_double_text("1.5", &fast) && sd_parse_double_text("2.5e-320", &slow) &&
        sd_parse_double_text("0.30000000000000004440892098500626161694526672363281250", &long_one);
    sd_print_double(-0.25, 17, text, sizeof text);
    setlocale(LC_ALL, "C");
    assert_string_equal(printed, "1,5"); /* the locale was really on */
    assert_true(read);
    assert_true(fast == 1.5 && slow == 2.5e-320 && long_one == 0.1 + 0.2);
    assert_string_equal(text, "-0.25");
}

/* A small unsigned integer of many words, for the table's test: times and plus a word. */
enum { WORDS = 40 };
typedef struct big {
    uint32_t word[WORDS];
} big;

static void big_times(big *a, uint32_t factor)
{
    uint64_t carry = 0;
    for (int k = 0; k < WORDS; k++) {
        carry += (uint64_t)a->word[k] * factor;
        a->word[k] = (uint32_t)carry;
        carry >>= 32;
    }
    assert_true(carry == 0);
}

static int big_bits(const big *a)
{
    for (int k = WORDS - 1; k >= 0; k--) {
        if (a->word[k]) return 32 * k + 32 - __builtin_clz(a->word[k]);
    }
    return 0;
}

static int big_bit(const big *a, int k)
{
    return k < 0 ? 0 : (int)(a->word[k / 32] >> (k % 32) & 1);
}

/* a = 2a - b where that is not negative, else 2a; says which. */
static int big_divide_step(big *a, const big *b)
{
    big_times(a, 2);
    big left;
    int64_t borrow = 0;
    for (int k = 0; k < WORDS; k++) {
        borrow += (int64_t)a->word[k] - b->word[k];
        left.word[k] = (uint32_t)borrow;
        borrow >>= 32;
    }
    if (borrow < 0) return 0;
    *a = left;
    return 1;
}

static void the_table_of_powers_is_exact(void **state)
{
    (void)state;
    big power = {{1}};
    for (int q = 0; q <= -SD_POWER_FIRST; q++) {
        const int bits = big_bits(&power);
        if (q <= SD_POWER_LAST) {
            uint64_t top = 0;
            for (int k = 1; k <= 64; k++) top = top << 1 | (uint64_t)big_bit(&power, bits - k);
            assert_true(sd_power_of_ten[q - SD_POWER_FIRST] == top);
            assert_int_equal((217706 * q) >> 16, bits - 1);
            int rest = 0;
            for (int k = 0; k < bits - 64; k++) rest |= big_bit(&power, k);
            assert_int_equal(rest == 0, q <= SD_POWER_EXACT);
        }
        if (q > 0) { /* 1 / 10^q: long division of 2^(bits-1) by it, 64 bits from the first one on */
            big rest = {{0}};
            rest.word[(bits - 1) / 32] = UINT32_C(1) << ((bits - 1) % 32);
            uint64_t quotient = 0;
            for (int k = 0; k < 64; k++) quotient = quotient << 1 | (uint64_t)big_divide_step(&rest, &power);
            assert_true(quotient >> 63 == 1);
            assert_true(sd_power_of_ten[-q - SD_POWER_FIRST] == quotient);
            assert_int_equal((217706 * -q) >> 16, -bits);
        }
        big_times(&power, 10);
    }
}

/* Values of every kind of which matrices are made, and any bits. */
static double any_value(int kind)
{
    const uint64_t bits = next_random();
    switch (kind) {
    case 0: return random_double();
    case 1: return (double)(int64_t)(bits >> 40) / 1000;
    case 2: return (double)(int64_t)bits * ldexp(1, -(int)(bits % 90));
    case 3: return -(double)(bits % 100000) / 16;
    case 4: return (double)(bits >> 11) * 0x1p-53;
    default: return (double)(bits % 1000000) * pow(10, (int)(bits >> 40) % 40 - 20);
    }
}

/* Without printf, which is slow, and with the same digits. */
static void printing_agrees_with_printf(void **state)
{
    (void)state;
    char text[SD_NUMBER_ROOM], wanted[64];
    for (int k = 0; k < 60000; ++k) {
        const double value = any_value(k % 6);
        const int digits = 1 + (int)(next_random() % 17);
        snprintf(wanted, sizeof wanted, "%.*g", digits, value);
        assert_int_equal(sd_print_double(value, digits, text, sizeof text), strlen(wanted));
        assert_string_equal(text, wanted);
        for (int shortest = 15; shortest <= 17; ++shortest) {
            snprintf(wanted, sizeof wanted, "%.*g", shortest, value);
            if (strtod(wanted, NULL) == value) break;
        }
        assert_int_equal(sd_print_shortest(value, text), strlen(wanted));
        assert_string_equal(text, wanted);
        const int64_t whole = (int64_t)next_random() >> next_random() % 64;
        text[sd_print_int64(whole, text)] = '\0';
        assert_true(strtoll(text, NULL, 10) == whole);
    }
    const double ends[] = {0,     -0.0,   5e-324,  1e15,    999999999999999,       1e-5, 1e-4,
                           1e300, 1e-300, DBL_MAX, DBL_MIN, 9.9999999999999995e22, 0.1,  1e23};
    for (size_t k = 0; k < sizeof ends / sizeof ends[0]; ++k) {
        double back;
        sd_print_shortest(ends[k], text);
        assert_true(sd_parse_double_text(text, &back) && memcmp(&back, &ends[k], sizeof back) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printing_agrees_with_printf),
        cmocka_unit_test(the_table_of_powers_is_exact),
        cmocka_unit_test(reads_random_numbers_as_strtod),
        cmocka_unit_test(rounds_halfway_cases),
        cmocka_unit_test(rounds_at_the_ends_of_the_range),
        cmocka_unit_test(reads_numbers_longer_than_any_buffer),
        cmocka_unit_test(takes_what_fortran_writes_and_stops_where_the_number_ends),
        cmocka_unit_test(reads_integers_up_to_their_limits),
        cmocka_unit_test(prints_numbers_that_come_back),
        cmocka_unit_test(a_comma_locale_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
