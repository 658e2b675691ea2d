/*
 * The option table by name: defaults, ranges, words, texts, and structs of another length. The walk
 * over the table is written against saddle_option_at, so new rows are tested without being named.
 */
#include "helpers.h"

#include "core/options.h"

#include <inttypes.h>
#include <locale.h>

static saddle_status set(saddle_options *options, const char *name, const char *text)
{
    char message[SADDLE_MESSAGE_SIZE] = "";
    const saddle_status status = saddle_options_set(options, name, text, message);
    if (status) {
        assert_true(strlen(message) > 0);
        assert_contains(message, name);
    } else {
        assert_string_equal(message, "");
    }
    return status;
}

/* The text of every option at once, to see that a failed call changed none. */
static void write_all(const saddle_options *options, char all[2048])
{
    all[0] = 0;
    for (int k = 0; saddle_option_at(k); ++k) {
        char text[128];
        assert_int_equal(saddle_options_get(options, saddle_option_at(k)->name, text, sizeof text), 0);
        snprintf(all + strlen(all), 2048 - strlen(all), "%s=%s;", saddle_option_at(k)->name, text);
    }
}

static void refuse(saddle_options *options, const char *name, const char *text)
{
    char before[2048], after[2048];
    write_all(options, before);
    if (set(options, name, text) != SADDLE_BAD_OPTION) fail_msg("%s took \"%s\"", name, text);
    write_all(options, after);
    assert_string_equal(before, after);
}

static void every_default_lies_in_its_range_and_is_what_the_table_says(void **state)
{
    (void)state;
    const saddle_options options = saddle_options_default();
    assert_int_equal(options.size, sizeof options);
    int count = 0;
    for (; saddle_option_at(count); ++count) {
        const saddle_option *o = saddle_option_at(count);
        char text[128];
        assert_true(strlen(o->help) > 0);
        assert_int_equal(saddle_options_get(&options, o->name, text, sizeof text), SADDLE_OK);
        if (o->type == 'c') {
            char word[64];
            assert_string_equal(text, saddle_option_word(o->name, (int)o->value, word, sizeof word));
        } else {
            assert_null(o->words);
            assert_true(o->value >= o->least && o->value <= o->most);
            assert_true(strtod(text, NULL) == o->value);
        }
    }
    assert_true(count >= 10);
    assert_null(saddle_option_at(-1));
    sd_context c;
    sd_context_init(&c, NULL, 0);
    saddle_options taken;
    assert_int_equal(sd_options_take(&c, &options, &taken), SADDLE_OK);
    char given[2048], kept[2048];
    write_all(&options, given);
    write_all(&taken, kept);
    assert_string_equal(kept, given);
    assert_int_equal(taken.size, sizeof taken);
}

static void every_option_comes_back_as_it_was_set(void **state)
{
    (void)state;
    for (int k = 0; saddle_option_at(k); ++k) {
        const saddle_option *o = saddle_option_at(k);
        saddle_options options = saddle_options_default();
        char text[128], back[128];
        const char *counts[] = {"0", "1", "7", "4096"}, *reals[] = {"0", "0.5", "1e-300", "0.1", "1"};
        const int tries = o->type == 'c' ? 100 : o->type == 'r' ? 5 : 4;
        for (int t = 0; t < tries; ++t) {
            if (o->type == 'c') {
                saddle_option_word(o->name, t, text, sizeof text);
                if (!text[0]) break;
            } else {
                snprintf(text, sizeof text, "%s", o->type == 'r' ? reals[t] : counts[t]);
                if (strtod(text, NULL) < o->least || strtod(text, NULL) > o->most) continue;
            }
            assert_int_equal(set(&options, o->name, text), SADDLE_OK);
            assert_int_equal(saddle_options_get(&options, o->name, back, sizeof back), SADDLE_OK);
            if (o->type == 'r')
                assert_true(strtod(text, NULL) == strtod(back, NULL));
            else
                assert_string_equal(text, back);
            assert_int_equal(set(&options, o->name, back), SADDLE_OK);
        }
    }
}

static void a_count_at_the_end_of_its_range_comes_back(void **state)
{
    (void)state;
    saddle_options options = saddle_options_default();
    char text[64];
    assert_int_equal(set(&options, "maxiter", "9223372036854775807"), SADDLE_OK);
    assert_true(options.maxiter == INT64_MAX);
    assert_int_equal(saddle_options_get(&options, "maxiter", text, sizeof text), SADDLE_OK);
    assert_string_equal(text, "9223372036854775807");
    refuse(&options, "maxiter", "9223372036854775808");
    refuse(&options, "maxiter", "18446744073709551617");
    refuse(&options, "maxiter", "99999999999999999999999999");
}

static void what_is_out_of_range_or_no_number_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    saddle_options options = saddle_options_default();
    assert_int_equal(set(&options, "tol", "0.25"), SADDLE_OK);
    for (int k = 0; saddle_option_at(k); ++k) {
        const saddle_option *o = saddle_option_at(k);
        refuse(&options, o->name, "");
        refuse(&options, o->name, " ");
        refuse(&options, o->name, "nosuchword");
        refuse(&options, o->name, "-1");
        refuse(&options, o->name, "1x");
        refuse(&options, o->name, "1 ");
        refuse(&options, o->name, "nan");
        refuse(&options, o->name, "1e400");
        if (o->type != 'r') refuse(&options, o->name, "1.5");
        if (o->type != 'c' && o->most < 1e18) {
            char text[64];
            snprintf(text, sizeof text, o->type == 'r' ? "%.3f" : "%.0f", o->most + 1);
            refuse(&options, o->name, text);
        }
        if (o->type != 'c' && o->least > 0) refuse(&options, o->name, "0");
        if (o->type == 'c') {
            char text[128], word[64];
            refuse(&options, o->name, o->words);
            saddle_option_word(o->name, 1, word, sizeof word);
            snprintf(text, sizeof text, "%sx", word);
            refuse(&options, o->name, text);
            word[strlen(word) - 1] = 0;
            refuse(&options, o->name, word);
            assert_string_equal(saddle_option_word(o->name, -1, text, sizeof text), "");
            assert_string_equal(saddle_option_word(o->name, 1000, text, sizeof text), "");
        }
    }
}

static void unknown_names_and_missing_arguments_are_refused(void **state)
{
    (void)state;
    saddle_options options = saddle_options_default();
    char message[SADDLE_MESSAGE_SIZE], text[32];
    refuse(&options, "nosuch", "1");
    refuse(&options, "to", "1");
    refuse(&options, "tolerance", "1");
    refuse(&options, "", "1");
    assert_int_equal(saddle_options_set(&options, "nosuch", "1", NULL), SADDLE_BAD_OPTION);
    assert_int_equal(saddle_options_set(NULL, "tol", "1", message), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_options_set(&options, NULL, "1", message), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_options_set(&options, "tol", NULL, message), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_options_get(&options, "nosuch", text, sizeof text), SADDLE_BAD_OPTION);
    assert_int_equal(saddle_options_get(NULL, "tol", text, sizeof text), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_options_get(&options, "tol", NULL, 10), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_options_get(&options, "tol", text, 0), SADDLE_BAD_ARGUMENT);
    assert_string_equal(saddle_option_word("nosuch", 0, text, sizeof text), "");
    assert_string_equal(saddle_option_word("tol", 0, text, sizeof text), "");
}

static void a_text_that_does_not_fit_is_refused_not_cut(void **state)
{
    (void)state;
    const saddle_options options = saddle_options_default();
    char text[32];
    assert_int_equal(saddle_options_get(&options, "method", text, 5), SADDLE_OK);
    assert_string_equal(text, "auto");
    assert_int_equal(saddle_options_get(&options, "method", text, 4), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_options_get(&options, "maxiter", text, 4), SADDLE_BAD_ARGUMENT);
    assert_int_equal(saddle_options_get(&options, "tol", text, 4), SADDLE_BAD_ARGUMENT);
}

static void the_enums_number_the_words(void **state)
{
    (void)state;
    static const struct {
        const char *name, *word;
        int number;
    } all[] = {
        {"method", "auto", SADDLE_METHOD_AUTO},
        {"method", "diagonal", SADDLE_METHOD_DIAGONAL},
        {"method", "none", SADDLE_METHOD_NONE},
        {"method", "direct", SADDLE_METHOD_DIRECT},
        {"method", "bjacobi", SADDLE_METHOD_BJACOBI},
        {"method", "ldlt", SADDLE_METHOD_LDLT},
        {"method", "jacobi", SADDLE_METHOD_JACOBI},
        {"method", "ic", SADDLE_METHOD_IC},
        {"method", "ilu", SADDLE_METHOD_ILU},
        {"krylov", "auto", SADDLE_KRYLOV_AUTO},
        {"krylov", "cg", SADDLE_KRYLOV_CG},
        {"krylov", "minres", SADDLE_KRYLOV_MINRES},
        {"krylov", "sqmr", SADDLE_KRYLOV_SQMR},
        {"krylov", "gmres", SADDLE_KRYLOV_GMRES},
        {"krylov", "fgmres", SADDLE_KRYLOV_FGMRES},
        {"krylov", "bicgstab", SADDLE_KRYLOV_BICGSTAB},
        {"krylov", "refine", SADDLE_KRYLOV_REFINE},
        {"krylov", "none", SADDLE_KRYLOV_NONE},
        {"krylov", "fcg", SADDLE_KRYLOV_FCG},
        {"stop", "any", SADDLE_STOP_ANY},
        {"stop", "residual", SADDLE_STOP_RESIDUAL},
        {"stop", "normwise", SADDLE_STOP_NORMWISE},
        {"stop", "componentwise", SADDLE_STOP_COMPONENTWISE},
        {"device", "auto", SADDLE_DEVICE_AUTO},
        {"device", "cpu", SADDLE_DEVICE_CPU},
        {"device", "cuda", SADDLE_DEVICE_CUDA},
        {"device", "reference", SADDLE_DEVICE_REFERENCE},
        {"precision", "double", SADDLE_PRECISION_DOUBLE},
        {"precision", "single", SADDLE_PRECISION_SINGLE},
        {"precision", "mixed", SADDLE_PRECISION_MIXED},
        {"scaling", "auto", SADDLE_SCALING_AUTO},
        {"scaling", "mc64", SADDLE_SCALING_MC64},
        {"scaling", "ruiz", SADDLE_SCALING_RUIZ},
        {"scaling", "auction", SADDLE_SCALING_AUCTION},
        {"scaling", "col2", SADDLE_SCALING_COL2},
        {"scaling", "none", SADDLE_SCALING_NONE},
        {"scaling", "user", SADDLE_SCALING_USER},
        {"order", "auto", SADDLE_ORDER_AUTO},
        {"order", "metis", SADDLE_ORDER_METIS},
        {"order", "amd", SADDLE_ORDER_AMD},
        {"order", "rcm", SADDLE_ORDER_RCM},
        {"order", "natural", SADDLE_ORDER_NATURAL},
        {"order", "user", SADDLE_ORDER_USER},
        {"order", "nd", SADDLE_ORDER_ND},
        {"pairs", "off", SADDLE_OFF},
        {"pairs", "on", SADDLE_ON},
        {"pairs", "auto", SADDLE_AUTO},
        {"blocking", "auto", SADDLE_BLOCKING_AUTO},
        {"blocking", "none", SADDLE_BLOCKING_NONE},
        {"blocking", "grid", SADDLE_BLOCKING_GRID},
        {"blocking", "pairs", SADDLE_BLOCKING_PAIRS},
        {"blocking", "clusters", SADDLE_BLOCKING_CLUSTERS},
        {"blocking", "supervariables", SADDLE_BLOCKING_SUPERVARIABLES},
        {"blocking", "cosine", SADDLE_BLOCKING_COSINE},
        {"blocking", "priority", SADDLE_BLOCKING_PRIORITY},
        {"blocking", "priority-dynamic", SADDLE_BLOCKING_PRIORITY_DYNAMIC},
        {"blocking", "metis", SADDLE_BLOCKING_METIS},
        {"blocking", "pablo", SADDLE_BLOCKING_PABLO},
        {"blocking", "adjacent", SADDLE_BLOCKING_ADJACENT},
        {"factorization", "auto", SADDLE_FACTORIZATION_AUTO},
        {"factorization", "ldlt", SADDLE_FACTORIZATION_LDLT},
        {"factorization", "cholesky", SADDLE_FACTORIZATION_CHOLESKY},
        {"factorization", "static", SADDLE_FACTORIZATION_STATIC},
        {"check", "off", SADDLE_OFF},
        {"check", "on", SADDLE_ON},
        {"block_kernel", "auto", SADDLE_BLOCK_KERNEL_AUTO},
        {"block_kernel", "huard", SADDLE_BLOCK_KERNEL_HUARD},
        {"block_kernel", "huard-t", SADDLE_BLOCK_KERNEL_HUARD_T},
        {"block_kernel", "jordan", SADDLE_BLOCK_KERNEL_JORDAN},
        {"block_kernel", "lu", SADDLE_BLOCK_KERNEL_LU},
        {"block_kernel", "ldlt", SADDLE_BLOCK_KERNEL_LDLT},
        {"block_kernel", "llt", SADDLE_BLOCK_KERNEL_LLT},
        {"block_precision", "double", SADDLE_BLOCK_PRECISION_DOUBLE},
        {"block_precision", "single", SADDLE_BLOCK_PRECISION_SINGLE},
        {"block_precision", "adaptive", SADDLE_BLOCK_PRECISION_ADAPTIVE},
        {"fill", "auto", SADDLE_FILL_AUTO},
        {"fill", "none", SADDLE_FILL_NONE},
        {"fill", "level", SADDLE_FILL_LEVEL},
        {"fill", "tau", SADDLE_FILL_TAU},
        {"pivot", "bunch-kaufman", SADDLE_PIVOT_BUNCH_KAUFMAN},
        {"pivot", "static", SADDLE_PIVOT_STATIC},
        {"pivot", "complete", SADDLE_PIVOT_COMPLETE},
        {"push_back", "off", SADDLE_OFF},
        {"push_back", "on", SADDLE_ON},
        {"sweep_order", "row", SADDLE_SWEEP_ORDER_ROW},
        {"sweep_order", "block", SADDLE_SWEEP_ORDER_BLOCK},
        {"fallback", "exact", SADDLE_FALLBACK_EXACT},
        {"fallback", "none", SADDLE_FALLBACK_NONE},
        {"trisolve", "auto", SADDLE_TRISOLVE_AUTO},
        {"trisolve", "exact", SADDLE_TRISOLVE_EXACT},
        {"trisolve", "block-jacobi", SADDLE_TRISOLVE_BLOCK_JACOBI},
        {"trisolve", "jacobi", SADDLE_TRISOLVE_JACOBI},
        {"factor_precision", "auto", SADDLE_FACTOR_PRECISION_AUTO},
        {"factor_precision", "double", SADDLE_FACTOR_PRECISION_DOUBLE},
        {"factor_precision", "single", SADDLE_FACTOR_PRECISION_SINGLE},
        {"replan", "off", SADDLE_OFF},
        {"replan", "on", SADDLE_ON},
        {"replan", "auto", SADDLE_AUTO},
        {"certify", "off", SADDLE_OFF},
        {"certify", "on", SADDLE_ON},
        {"simplicial", "off", SADDLE_OFF},
        {"simplicial", "on", SADDLE_ON},
        {"simplicial", "auto", SADDLE_AUTO},
        {"presolve", "auto", SADDLE_PRESOLVE_AUTO},
        {"presolve", "off", SADDLE_PRESOLVE_OFF},
        {"presolve", "band", SADDLE_PRESOLVE_BAND},
        {"presolve", "whole", SADDLE_PRESOLVE_WHOLE},
        {"profile", "off", SADDLE_OFF},
        {"profile", "on", SADDLE_ON},
        {"verify", "off", SADDLE_OFF},
        {"verify", "on", SADDLE_ON},
        {"setup", "exact", SADDLE_SETUP_EXACT},
        {"setup", "sweeps", SADDLE_SETUP_SWEEPS},
        {"tune", "off", SADDLE_OFF},
        {"tune", "on", SADDLE_ON},
        {"absolute", "off", SADDLE_OFF},
        {"absolute", "on", SADDLE_ON},
    };
    int listed = (int)(sizeof all / sizeof all[0]), words = 0;
    for (int k = 0; k < listed; ++k) {
        char text[64];
        saddle_option_word(all[k].name, all[k].number, text, sizeof text);
        assert_string_equal(text, all[k].word);
    }
    for (int k = 0; saddle_option_at(k); ++k) {
        char text[64];
        if (saddle_option_at(k)->type != 'c') continue;
        for (int w = 0; saddle_option_word(saddle_option_at(k)->name, w, text, sizeof text)[0]; ++w) ++words;
    }
    assert_int_equal(words, listed); /* a new word belongs into the list above */
}

static void off_and_on_are_the_same_numbers_everywhere(void **state)
{
    (void)state;
    int switches = 0;
    for (int k = 0; saddle_option_at(k); ++k) {
        const saddle_option *o = saddle_option_at(k);
        char text[64];
        for (int w = 0; o->type == 'c' && saddle_option_word(o->name, w, text, sizeof text)[0]; ++w) {
            if (strcmp(text, "off") == 0) assert_int_equal(w, SADDLE_OFF);
            if (strcmp(text, "on") != 0) continue;
            assert_int_equal(w, SADDLE_ON);
            ++switches;
        }
    }
    assert_true(switches >= 3);
}

/* A word may bring its number along. */
static void a_word_and_its_number_are_set_together(void **state)
{
    (void)state;
    saddle_options options = saddle_options_default();
    assert_int_equal(set(&options, "fill", "tau:0.5"), SADDLE_OK);
    assert_int_equal(options.fill, SADDLE_FILL_TAU);
    assert_true(options.fill_tau == 0.5);
    assert_int_equal(set(&options, "fill", "level:3"), SADDLE_OK);
    assert_int_equal(options.fill, SADDLE_FILL_LEVEL);
    assert_int_equal(options.fill_level, 3);
    const char *const wrong[] = {"tau:", "tau:2", "tau:x", "level:-1", "none:1", "some:1", ":1", "tau:0.1:2"};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; ++k) {
        assert_int_equal(saddle_options_set(&options, "fill", wrong[k], NULL), SADDLE_BAD_OPTION);
        assert_int_equal(options.fill, SADDLE_FILL_LEVEL);
        assert_true(options.fill_level == 3 && options.fill_tau == 0.5);
    }
}

static void dashes_and_underscores_are_alike(void **state)
{
    (void)state;
    saddle_options options = saddle_options_default();
    assert_int_equal(set(&options, "max_memory", "5"), SADDLE_OK);
    assert_int_equal(options.max_memory, 5);
    assert_int_equal(saddle_options_set(&options, "max-memory", "6", NULL), SADDLE_OK);
    assert_int_equal(options.max_memory, 6);
    refuse(&options, "max memory", "7");
    refuse(&options, "maxmemory", "7");
}

static void bytes_take_k_m_and_g_and_counts_do_not(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t bytes;
    } all[] = {{"3", 3},
               {"3K", INT64_C(3) << 10},
               {"3k", INT64_C(3) << 10},
               {"500M", INT64_C(500) << 20},
               {"500m", INT64_C(500) << 20},
               {"2G", INT64_C(2) << 30},
               {"2g", INT64_C(2) << 30},
               {"8589934591G", INT64_C(8589934591) << 30}};
    saddle_options options = saddle_options_default();
    for (int k = 0; k < (int)(sizeof all / sizeof all[0]); ++k) {
        assert_int_equal(set(&options, "max_memory", all[k].text), SADDLE_OK);
        assert_true(options.max_memory == all[k].bytes);
    }
    refuse(&options, "max_memory", "8589934592G");
    refuse(&options, "max_memory", "9223372036854775807K");
    refuse(&options, "max_memory", "3T");
    refuse(&options, "max_memory", "3KB");
    refuse(&options, "max_memory", "3 K");
    refuse(&options, "max_memory", "K");
    refuse(&options, "maxiter", "3K");
}

/* Texts have a point whatever the user's language; the locale is looked for among the common ones. */
static void texts_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE", "nl_NL.UTF-8"};
    const char *found = NULL;
    for (int k = 0; k < 5 && !found; ++k) found = setlocale(LC_ALL, names[k]);
    if (!found) {
        print_message("           no locale with a decimal comma is installed\n");
        skip();
    }
    assert_int_equal(localeconv()->decimal_point[0], ',');
    saddle_options options = saddle_options_default();
    char text[64], message[SADDLE_MESSAGE_SIZE];
    assert_int_equal(set(&options, "tol", "0.25"), SADDLE_OK);
    assert_true(options.tol == 0.25);
    refuse(&options, "tol", "0,25");
    assert_int_equal(saddle_options_get(&options, "tol", text, sizeof text), SADDLE_OK);
    assert_string_equal(text, "0.25");
    options.tol = 1.5;
    sd_context c;
    sd_context_init(&c, NULL, 0);
    saddle_options taken;
    assert_int_equal(sd_options_take(&c, &options, &taken), SADDLE_BAD_OPTION);
    assert_contains(c.message, "1.5");
    assert_int_equal(saddle_options_set(&options, "tol", "1.5", message), SADDLE_BAD_OPTION);
    setlocale(LC_ALL, "C");
}

static void options_of_an_older_caller_are_completed_with_defaults(void **state)
{
    (void)state;
    struct {
        saddle_options options;
        unsigned char beyond[64];
    } older;
    memset(&older, 0xff, sizeof older);
    older.options = saddle_options_default();
    older.options.size = offsetof(saddle_options, tol);
    older.options.maxiter = 17;
    memset((char *)&older.options + older.options.size, 0xff, sizeof older - older.options.size);
    sd_context c;
    sd_context_init(&c, NULL, 0);
    saddle_options taken;
    assert_int_equal(sd_options_take(&c, &older.options, &taken), SADDLE_OK);
    assert_int_equal(taken.maxiter, 17);
    assert_true(taken.tol == 1e-10);
    assert_int_equal(taken.size, sizeof taken);
    char text[64];
    assert_int_equal(set(&older.options, "tol", "0.5"), SADDLE_BAD_OPTION);
    assert_int_equal(saddle_options_get(&older.options, "tol", text, sizeof text), SADDLE_BAD_OPTION);
    assert_int_equal(set(&older.options, "maxiter", "18"), SADDLE_OK);
}

/* A size that ends inside a field does not hold the field: nothing may be written behind it. */
static void a_field_that_is_cut_in_half_is_not_there(void **state)
{
    (void)state;
    saddle_options options = saddle_options_default(), before;
    options.size = offsetof(saddle_options, maxiter) + 4;
    options.maxiter = -1;
    before = options;
    assert_int_equal(saddle_options_set(&options, "maxiter", "5", NULL), SADDLE_BAD_OPTION);
    assert_memory_equal(&options, &before, sizeof options);
    sd_context c;
    sd_context_init(&c, NULL, 0);
    saddle_options taken;
    assert_int_equal(sd_options_take(&c, &options, &taken), SADDLE_OK);
    assert_int_equal(taken.maxiter, 1000);
}

static void options_of_a_newer_caller_are_read_as_far_as_known(void **state)
{
    (void)state;
    struct {
        saddle_options options;
        unsigned char beyond[64];
    } newer;
    memset(&newer, 0xff, sizeof newer);
    newer.options = saddle_options_default();
    newer.options.size = sizeof newer;
    newer.options.restart = 42;
    sd_context c;
    sd_context_init(&c, NULL, 0);
    saddle_options taken;
    assert_int_equal(sd_options_take(&c, &newer.options, &taken), SADDLE_OK);
    assert_int_equal(taken.restart, 42);
    assert_int_equal(taken.size, sizeof taken);
}

static void a_struct_that_was_never_initialised_is_refused(void **state)
{
    (void)state;
    const size_t sizes[] = {0, 1, sizeof(size_t) - 1, (size_t)-1, (size_t)1 << 40};
    for (int k = 0; k < 5; ++k) {
        saddle_options options = saddle_options_default(), taken;
        options.size = sizes[k];
        sd_context c;
        sd_context_init(&c, NULL, 0);
        assert_int_equal(sd_options_take(&c, &options, &taken), SADDLE_BAD_OPTION);
        assert_contains(c.message, "saddle_options_default");
    }
    sd_context c;
    sd_context_init(&c, NULL, 0);
    saddle_options taken;
    assert_int_equal(sd_options_take(&c, NULL, &taken), SADDLE_OK);
    const saddle_options defaults = saddle_options_default();
    assert_memory_equal(&taken, &defaults, sizeof taken);
}

/* Fields set behind the table's back are checked when the options are taken. */
static void fields_out_of_range_are_refused_by_name(void **state)
{
    (void)state;
    sd_context c;
    saddle_options taken, options;
#define REFUSED(field, value)                                                                                \
    do {                                                                                                     \
        options = saddle_options_default();                                                                  \
        options.field = (value);                                                                             \
        sd_context_init(&c, NULL, 0);                                                                        \
        assert_int_equal(sd_options_take(&c, &options, &taken), SADDLE_BAD_OPTION);                          \
        assert_contains(c.message, #field);                                                                  \
    } while (0)
    REFUSED(method, -1);
    REFUSED(method, 9);
    REFUSED(fill, 4);
    REFUSED(fill_tau, 2.0);
    REFUSED(trisolve, 4);
    REFUSED(factor_precision, 3);
    REFUSED(block_kernel, 7);
    REFUSED(block_precision, 3);
    REFUSED(krylov, 10);
    REFUSED(stop, 4);
    REFUSED(device, 4);
    REFUSED(precision, 3);
    REFUSED(restart, 0);
    REFUSED(restart, 10001);
    REFUSED(maxiter, -1);
    REFUSED(tol, -1e-300);
    REFUSED(tol, 1.0000001);
    REFUSED(tol, NAN);
    REFUSED(threads, -1);
    REFUSED(threads, 4097);
    REFUSED(max_memory, -1);
    REFUSED(factorization, 4);
    REFUSED(threshold, 0.0);
    REFUSED(threshold, 0.6);
    REFUSED(regularise, -1e-8);
    REFUSED(regularise, NAN);
    REFUSED(check, 2);
#undef REFUSED
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_default_lies_in_its_range_and_is_what_the_table_says),
        cmocka_unit_test(every_option_comes_back_as_it_was_set),
        cmocka_unit_test(a_count_at_the_end_of_its_range_comes_back),
        cmocka_unit_test(what_is_out_of_range_or_no_number_is_refused_and_changes_nothing),
        cmocka_unit_test(unknown_names_and_missing_arguments_are_refused),
        cmocka_unit_test(a_text_that_does_not_fit_is_refused_not_cut),
        cmocka_unit_test(the_enums_number_the_words),
        cmocka_unit_test(off_and_on_are_the_same_numbers_everywhere),
        cmocka_unit_test(a_word_and_its_number_are_set_together),
        cmocka_unit_test(dashes_and_underscores_are_alike),
        cmocka_unit_test(bytes_take_k_m_and_g_and_counts_do_not),
        cmocka_unit_test(texts_do_not_depend_on_the_locale),
        cmocka_unit_test(options_of_an_older_caller_are_completed_with_defaults),
        cmocka_unit_test(a_field_that_is_cut_in_half_is_not_there),
        cmocka_unit_test(options_of_a_newer_caller_are_read_as_far_as_known),
        cmocka_unit_test(a_struct_that_was_never_initialised_is_refused),
        cmocka_unit_test(fields_out_of_range_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
