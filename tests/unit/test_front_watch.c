/*
 * Progress and cancellation while a device factors. On the emulated GPU a factorization can be made to look
 * as if it had not ended (emulated/knobs.h), and device code as if the host had asked it to stop at any of
 * the places where it looks; a real one is stopped at whatever it is doing.
 */
#include "backend_or_skip.h"
#include "emulated/knobs.h"
#include "factoring.h"

#include "solver/home.h"

#include <dlfcn.h>

/* The knobs of the module in use; NULL: it has none. */
static emulated_knobs *find_knobs(void)
{
    cuda_or_skip();
    const char *module = getenv("SADDLE_CUDA_MODULE");
    void *handle = module ? dlopen(module, RTLD_NOW) : NULL; /* which the library has opened */
    emulated_knobs *(*knobs)(void) = NULL;
    if (handle) *(void **)(void *)&knobs = dlsym(handle, EMULATED_KNOBS);
    return knobs ? knobs() : NULL;
}

static emulated_knobs *knobs_or_skip(void)
{
    emulated_knobs *knobs = find_knobs();
    if (!knobs) {
        print_message("           only on the emulated GPU\n");
        skip();
    }
    *knobs = (emulated_knobs){0};
    return knobs;
}

/* Reports from inside a factorization. */
typedef struct listener {
    emulated_knobs *knobs;
    int calls, enough; /* the device is done after so many; 0: never */
    bool cancel, falls;
    int patience; /* calls before it cancels */
    int64_t before, last;
} listener;

static int hear(const saddle_progress *p, void *user)
{
    listener *l = user;
    if (strcmp(p->stage, "factor") != 0 || p->total != 1000) return 0;
    if (p->done < l->before || p->done > 1000) l->falls = true;
    l->before = l->last = p->done;
    if (++l->calls == l->enough) l->knobs->late = 0;
    return l->cancel && l->calls > l->patience;
}

static saddle_solver *open_solver(const char *list, listener *l)
{
    char message[SADDLE_MESSAGE_SIZE];
    const saddle_options options = options_of(list);
    const saddle_hooks hooks = {.size = sizeof hooks, .progress = hear, .user = l};
    saddle_solver *s = NULL;
    if (saddle_create(&s, &options, &hooks, message)) fail_msg("%s", message);
    return s;
}

/* Full blocks in a chain, which are large fronts, with small ones that hang on them. */
static dense mixed_problem(rng *r, int blocks)
{
    enum { SIZE = 150, JOINT = 30, SMALL = 60 };
    const int large = blocks * (SIZE - JOINT) + JOINT;
    dense d = dense_new(large + SMALL);
    for (int b = 0; b < blocks; ++b)
        for (int i = 0; i < SIZE; ++i)
            for (int j = 0; j <= i; ++j)
                set_both(&d, b * (SIZE - JOINT) + i, b * (SIZE - JOINT) + j, rng_unit(r));
    for (int k = 0; k < SMALL; ++k) {
        set_both(&d, large + k, large + k, 3 + rng_unit(r));
        set_both(&d, large + k, k * 5 % large, rng_unit(r));
        if (k % 4) set_both(&d, large + k, large + k - 1, rng_unit(r));
    }
    return d;
}

static void solve_ones(saddle_solver *s, int n, double *x)
{
    double *b = test_alloc((size_t)n, sizeof *b);
    for (int i = 0; i < n; ++i) b[i] = 1;
    if (saddle_solve(s, 1, b, n, x, n, NULL)) fail_msg("%s", saddle_message(s));
    free(b);
}

/* Factored to the end, the solver has the bits of one that was never disturbed. */
static void assert_as_if_new(saddle_solver *s, const saddle_matrix *A, const double *wanted)
{
    const int n = (int)A->rows;
    double *x = test_alloc((size_t)n, sizeof *x);
    if (saddle_factor(s, A)) fail_msg("%s", saddle_message(s));
    assert_int_equal(info_of(s).waits, 1);
    solve_ones(s, n, x);
    assert_memory_equal(x, wanted, (size_t)n * sizeof *x);
    free(x);
}

static const char *const OPTIONS = "device=cuda,method=direct,scaling=none,order=amd";

/* A factored matrix whose solver tells a listener. */
typedef struct watched {
    dense d;
    saddle_matrix A;
    listener l;
    saddle_solver *s;
    double *x; /* room for a solution */
} watched;

static void watched_start(watched *w, rng *r, emulated_knobs *knobs)
{
    w->d = mixed_problem(r, 2);
    w->A = view_plain(&w->d, SADDLE_LOWER);
    w->l = (listener){.knobs = knobs};
    w->s = open_solver(OPTIONS, &w->l);
    w->x = test_alloc((size_t)w->d.n, sizeof *w->x);
    assert_int_equal(saddle_factor(w->s, &w->A), SADDLE_OK);
}

static void watched_end(watched *w)
{
    saddle_destroy(&w->s);
    free(w->x);
    view_free(&w->A);
    dense_free(&w->d);
}

/* The next factorization is cancelled, though the device would not end by itself; it takes notice at the
 * look of this number, or never. */
static void cancel_at_look(watched *w, int look)
{
    w->l = (listener){.knobs = w->l.knobs, .cancel = true};
    *w->l.knobs = (emulated_knobs){.late = 1, .looks = look};
}

static void cancel_no_more(watched *w)
{
    w->l.cancel = false;
    *w->l.knobs = (emulated_knobs){0};
}

static void reports_come_while_the_host_waits(void **state)
{
    (void)state;
    emulated_knobs *knobs = knobs_or_skip();
    rng r = rng_start("reports_come_while_the_host_waits");
    watched w;
    watched_start(&w, &r, knobs);
    const int n = w.d.n;
    double *y = test_alloc((size_t)n, sizeof *y);
    assert_int_equal(w.l.calls, 0); /* it was done before anybody could be told */
    solve_ones(w.s, n, w.x);
    saddle_destroy(&w.s);
    w.l = (listener){.knobs = knobs, .enough = 4};
    w.s = open_solver(OPTIONS, &w.l);
    knobs->late = 1;
    assert_int_equal(saddle_factor(w.s, &w.A), SADDLE_OK);
    assert_int_equal(w.l.calls, 4);
    assert_false(w.l.falls);
    assert_true(w.l.last > 0);
    assert_int_equal(info_of(w.s).waits, 1);
    solve_ones(w.s, n, y);
    assert_memory_equal(w.x, y, (size_t)n * sizeof *y);
    free(y);
    watched_end(&w);
}

static void without_a_hook_nobody_looks(void **state)
{
    (void)state;
    emulated_knobs *knobs = knobs_or_skip();
    rng r = rng_start("without_a_hook_nobody_looks");
    dense d = mixed_problem(&r, 2);
    knobs->late = 1;
    saddle_solver *s = factor_dense(&d, SADDLE_LOWER, OPTIONS);
    assert_int_equal(knobs->looked, 0);
    saddle_destroy(&s);
    dense_free(&d);
}

/* Wherever the device takes notice, and whichever front is then half done. */
static void cancelled_at_every_look_of_the_device(void **state)
{
    (void)state;
    emulated_knobs *knobs = knobs_or_skip();
    rng r = rng_start("cancelled_at_every_look_of_the_device");
    watched w;
    watched_start(&w, &r, knobs);
    const int all = knobs->looked, n = w.d.n;
    double *y = test_alloc((size_t)n, sizeof *y);
    solve_ones(w.s, n, w.x);
    assert_true(all > 10);
    int64_t bytes = 0;
    for (int look = 0; look <= all + 1; look += is_slow() && look > 3 ? 5 : 1) { /* 0: it is never noticed */
        cancel_at_look(&w, look);
        assert_int_equal(saddle_factor(w.s, &w.A), SADDLE_CANCELLED);
        assert_int_equal(w.l.calls, 1);
        assert_contains(saddle_message(w.s), "cancelled in stage factor at");
        assert_int_equal(saddle_solve(w.s, 1, w.x, n, y, n, NULL), SADDLE_WRONG_ORDER);
        cancel_no_more(&w);
        assert_as_if_new(w.s, &w.A, w.x);
        if (look > 1) assert_int_equal(w.s->c.bytes, bytes);
        bytes = w.s->c.bytes;
    }
    free(y);
    watched_end(&w);
}

/* The same of values that the host looks at meanwhile. */
static void cancelled_while_values_arrive(void **state)
{
    (void)state;
    emulated_knobs *knobs = knobs_or_skip();
    rng r = rng_start("cancelled_while_values_arrive");
    watched w;
    watched_start(&w, &r, knobs);
    sd_engine *e = &w.s->e;
    const int64_t bytes = w.A.entries * (int64_t)sizeof(double);
    solve_ones(w.s, w.d.n, w.x);
    double *there = e->backend->allocate(e, bytes, "test");
    e->backend->upload(e, w.A.values, there, bytes);
    for (int way = 0; way < 6; ++way) {
        assert_true(sd_home_accepts(w.s, &w.A));
        cancel_at_look(&w, way / 2);
        assert_int_equal(saddle_factor_values(w.s, SADDLE_DOUBLE, way % 2 ? there : w.A.values),
                         SADDLE_CANCELLED);
        cancel_no_more(&w);
        if (way == 2) assert_int_equal(saddle_factor_values(w.s, SADDLE_DOUBLE, there), SADDLE_OK);
        assert_as_if_new(w.s, &w.A, w.x);
    }
    e->backend->release(e, there);
    watched_end(&w);
}

/* Differences on a grid of m^3 points, less 1.5 times the identity. */
static saddle_matrix grid_matrix(int32_t m)
{
    const int32_t n = m * m * m, step[] = {1, m, m * m};
    int32_t *colptr = test_alloc((size_t)n + 1, sizeof *colptr), *rowind = test_alloc(4 * (size_t)n, 4);
    double *values = test_alloc(4 * (size_t)n, sizeof *values);
    int32_t k = 0;
    for (int32_t j = 0; j < n; ++j) {
        colptr[j] = k;
        rowind[k] = j;
        values[k++] = 4.5;
        for (int way = 0; way < 3; ++way) {
            if (j / step[way] % m == m - 1) continue;
            rowind[k] = j + step[way];
            values[k++] = -1;
        }
    }
    colptr[n] = k;
    return saddle_symmetric(n, colptr, rowind, values);
}

/* Whether it is stopped in time depends on the device, and is only told; that it ends, and goes on
 * afterwards, does not. */
static void a_device_is_stopped_at_whatever_it_does(void **state)
{
    (void)state;
    emulated_knobs *knobs = find_knobs();
    const int32_t m = knobs ? 6 : 64; /* emulated launches have ended when they return */
    saddle_matrix A = grid_matrix(m);
    listener l = {.knobs = knobs};
    if (knobs) *knobs = (emulated_knobs){0};
    saddle_solver *s = open_solver("device=cuda,method=direct", &l);
    double *x = test_alloc((size_t)A.rows, sizeof *x);
    assert_int_equal(saddle_factor(s, &A), SADDLE_OK);
    print_message("           %d reports from inside\n", l.calls);
    solve_ones(s, (int)A.rows, x);
    for (int patience = 0; patience < 8; ++patience) {
        l = (listener){.knobs = knobs, .cancel = true, .patience = patience};
        const saddle_status status = saddle_factor(s, &A);
        assert_int_equal(status, l.calls > patience ? SADDLE_CANCELLED : SADDLE_OK);
        if (status) assert_contains(saddle_message(s), "cancelled in stage factor at");
        l.cancel = false;
        assert_as_if_new(s, &A, x);
    }
    saddle_destroy(&s);
    free(x);
    view_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_come_while_the_host_waits),
        cmocka_unit_test(without_a_hook_nobody_looks),
        cmocka_unit_test(cancelled_at_every_look_of_the_device),
        cmocka_unit_test(cancelled_while_values_arrive),
        cmocka_unit_test(a_device_is_stopped_at_whatever_it_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
