/* Every status and reason has a text of its own, and codes outside the tables have one too. */
#include "helpers.h"

static void every_status_has_a_text_of_its_own(void **state)
{
    (void)state;
#define ROW(name, code, text) name,
    static const saddle_status all[] = {SADDLE_STATUS_TABLE(ROW)};
#undef ROW
    const int count = (int)(sizeof all / sizeof all[0]);
    for (int k = 0; k < count; ++k) {
        assert_true(strlen(saddle_status_text(all[k])) > 0);
        assert_string_not_equal(saddle_status_text(all[k]), saddle_status_text((saddle_status)-1000));
        for (int other = 0; other < k; ++other) {
            assert_int_not_equal(all[k], all[other]);
            assert_string_not_equal(saddle_status_text(all[k]), saddle_status_text(all[other]));
        }
    }
}

static void success_is_zero_and_failures_are_negative(void **state)
{
    (void)state;
#define ROW(name, code, text)                                                                                \
    if (name == SADDLE_OK)                                                                                   \
        assert_int_equal(name, 0);                                                                           \
    else                                                                                                     \
        assert_true((int)name < 0);
    SADDLE_STATUS_TABLE(ROW)
#undef ROW
}

static void every_reason_has_a_text_of_its_own(void **state)
{
    (void)state;
#define ROW(name, text) name,
    static const saddle_reason all[] = {SADDLE_REASON_TABLE(ROW)};
#undef ROW
    const int count = (int)(sizeof all / sizeof all[0]);
    for (int k = 0; k < count; ++k) {
        assert_int_equal(all[k], k);
        assert_true(strlen(saddle_reason_text(all[k])) > 0);
        assert_string_not_equal(saddle_reason_text(all[k]), saddle_reason_text((saddle_reason)1000));
        for (int other = 0; other < k; ++other)
            assert_string_not_equal(saddle_reason_text(all[k]), saddle_reason_text(all[other]));
    }
}

static void the_version_is_that_of_the_header(void **state)
{
    (void)state;
    char text[64];
    snprintf(text, sizeof text, "%d.%d.%d", SADDLE_VERSION_MAJOR, SADDLE_VERSION_MINOR, SADDLE_VERSION_PATCH);
    assert_string_equal(saddle_version(), text);
    assert_true(strlen(saddle_commit()) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_text_of_its_own),
        cmocka_unit_test(success_is_zero_and_failures_are_negative),
        cmocka_unit_test(every_reason_has_a_text_of_its_own),
        cmocka_unit_test(the_version_is_that_of_the_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
