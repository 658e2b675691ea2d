/* The table of methods: that its rows say what is so, and that options which do not apply are reported. */
#include "inside.h"
#include "solving.h"

/* Whether "|a|b|" has the word. */
static bool has(const char *list, const char *word)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "|%s|", word);
    return strstr(list, wanted) != NULL;
}

/* Methods are numbered from 1 as the words of the option are; 0 is auto. */
static int count_methods(void)
{
    char word[24];
    int count = 0;
    while (saddle_option_word("method", count + 1, word, sizeof word)[0]) ++count;
    return count;
}

static void every_word_of_the_option_has_its_row(void **state)
{
    (void)state;
    assert_null(sd_method_of(SADDLE_METHOD_AUTO));
    assert_null(sd_method_of(count_methods() + 1));
    assert_true(count_methods() >= 6);
    for (int k = 1; k <= count_methods(); ++k) {
        const sd_method *m = sd_method_of(k);
        assert_non_null(m);
        assert_int_equal(m->number, k);
        assert_true(m->factor && m->report && m->krylov && m->precondition);
        assert_true(!m->plan == !m->free_plan);
        assert_true(!m->solve == !m->standing); /* who solves says how sure it is */
    }
}

/* Names in the rows are options, and each option is read by some method or by all. */
static void every_option_is_read_by_somebody(void **state)
{
    (void)state;
    int own = 0;
    for (int k = 0; saddle_option_at(k); ++k) {
        const char *name = saddle_option_at(k)->name;
        for (int m = 1; m <= count_methods(); ++m) own += has(sd_method_of(m)->options, name);
    }
    int listed = 0;
    for (int m = 1; m <= count_methods(); ++m)
        for (const char *at = sd_method_of(m)->options; *at; ++at) listed += *at == '|';
    assert_int_equal(own, listed - count_methods()); /* a list of k names has k + 1 bars */
}

/* ---- options that do nothing ---- */

typedef struct record {
    int warnings;
    char last[512];
} record;

static void keep_line(int level, const char *line, void *user)
{
    record *r = user;
    if (level != SADDLE_LOG_WARNING) return;
    ++r->warnings;
    snprintf(r->last, sizeof r->last, "%s", line);
}

static record warnings_of(const char *list)
{
    record r = {0};
    saddle_hooks hooks = saddle_hooks_default();
    hooks.log = keep_line;
    hooks.user = &r;
    const saddle_options options = options_of(list);
    saddle_solver *s = NULL;
    assert_int_equal(saddle_create(&s, &options, &hooks, NULL), SADDLE_OK);
    saddle_destroy(&s);
    return r;
}

static void options_that_do_nothing_are_reported(void **state)
{
    (void)state;
    static const struct {
        const char *list, *name;
    } cases[] = {{"method=ldlt,threshold=0.1", "threshold"},
                 {"method=direct,fill=none", "fill"},
                 {"method=diagonal,order=amd", "order"},
                 {"method=none,block_size=4", "block_size"},
                 {"method=bjacobi,check=on", "check"},
                 {"method=ldlt,sweeps=3", "sweeps"},
                 {"method=direct,regularise=1e-6", "regularise"},
                 {"method=ldlt,fill=none,fill_tau=0.1", "fill_tau"},
                 {"method=ldlt,fill_level=3", "fill_level"},
                 {"method=ldlt,trisolve=exact,trisolve_sweeps=3", "trisolve_sweeps"},
                 {"method=ic,sweeps=3", "sweeps"},
                 {"method=ilu,fallback=none", "fallback"},
                 {"method=ic,trisolve=exact,fallback=none", "fallback"},
                 {"method=ic,trisolve_sweeps=3", "trisolve_sweeps"},
                 {"method=ilu,trisolve=jacobi,tune=on", "tune"},
                 {"method=ilu,fill_tau=0.1", "fill_tau"},
                 {"method=ic,fill=none,fill_tau=0.1", "fill_tau"},
                 {"method=ic,fill=tau:0.1,level=2", "level"},
                 {"method=direct,device=cpu,profile=on", "profile"},
                 {"krylov=cg,restart=20", "restart"}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
        const record r = warnings_of(cases[k].list);
        if (r.warnings != 1) print_message("%s: %d warnings, %s\n", cases[k].list, r.warnings, r.last);
        assert_int_equal(r.warnings, 1);
        assert_contains(r.last, cases[k].name);
        assert_contains(r.last, "has no effect with");
    }
    static const char *const fine[] = {"",
                                       "threshold=0.1,fill=none,sweeps=3,block_size=4",
                                       "method=direct,threshold=0.1,order=amd,check=on",
                                       "method=direct,factorization=static,regularise=1e-6",
                                       "method=jacobi,sweeps=3,relax=0.9,fallback=none",
                                       "method=ldlt,fill=level:2,trisolve_sweeps=3",
                                       "method=ic,trisolve=jacobi,trisolve_sweeps=3,fallback=none",
                                       "method=ilu,setup=sweeps,sweeps=3,tune=on,level=2",
                                       "method=ilu,fill=tau:0.1,fill_most=3",
                                       "method=ldlt,threshold=0.01", /* the default, in words */
                                       "method=none,krylov=gmres,restart=20,tol=1e-3,maxiter=5"};
    for (size_t k = 0; k < sizeof fine / sizeof fine[0]; ++k) {
        const record r = warnings_of(fine[k]);
        if (r.warnings) print_message("%s: %s\n", fine[k], r.last);
        assert_int_equal(r.warnings, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_word_of_the_option_has_its_row),
        cmocka_unit_test(every_option_is_read_by_somebody),
        cmocka_unit_test(options_that_do_nothing_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
