/* Every allocation of the door's own fails once, in every call: it is told, nothing is lost, and the calls
 * after it work. */
#include "check.h"

#include "adapters/common/failing_at.h"

typedef struct session {
    system_of *s;
    struct spral_ssids_options options;
    struct spral_ssids_inform inform;
    void *akeep, *fkeep;
    int order[MOST];
    double x[MOST], d[2 * MOST], scale[MOST];
    bool posdef;
} session;

static void analyse(session *t)
{
    spral_ssids_analyse(true, t->s->n, NULL, t->s->ptr, t->s->row, t->s->val, &t->akeep, &t->options,
                        &t->inform);
}

static void analyse_coordinates(session *t)
{
    spral_ssids_analyse_coord(t->s->n, NULL, t->s->ptr[t->s->n], t->s->row, t->s->col, t->s->val, &t->akeep,
                              &t->options, &t->inform);
}

static void factor(session *t)
{
    for (int i = 0; i < t->s->n; ++i) t->scale[i] = 2;
    spral_ssids_factor(t->posdef, NULL, NULL, t->s->val, t->scale, t->akeep, &t->fkeep, &t->options,
                       &t->inform);
}

static void solve(session *t)
{
    make_rhs(t->s, t->x);
    spral_ssids_solve1(0, t->x, t->akeep, t->fkeep, &t->options, &t->inform);
}

static void solve_part(session *t)
{
    spral_ssids_solve1(1, t->x, t->akeep, t->fkeep, &t->options, &t->inform);
}

static void enquire(session *t)
{
    if (t->posdef)
        spral_ssids_enquire_posdef(t->akeep, t->fkeep, &t->options, &t->inform, t->d);
    else
        spral_ssids_enquire_indef(t->akeep, t->fkeep, &t->options, &t->inform, t->order, t->d);
}

static void alter(session *t)
{
    spral_ssids_alter(t->d, t->akeep, t->fkeep, &t->options, &t->inform);
}

/* Fails at its first allocation, its second, ..., until it has no more; then it works. */
static void fail_everywhere(session *t, void (*call)(session *))
{
    int k = 0;
    for (bool failed = true; failed && k < 1000; ++k) {
        left = k;
        call(t);
        failed = left < 0;
        left = -1;
        if (failed) CHECK(t->inform.flag == -50 && t->inform.stat != 0);
    }
    CHECK(t->inform.flag >= 0);
}

static void run_session(int ordering, int scaling, double small, bool posdef)
{
    session t;
    memset(&t, 0, sizeof t);
    t.s = posdef ? saddle_point(20, 0, 0, 3) : saddle_point(20, 6, 0, 3);
    t.options = quiet_options(0);
    t.options.ordering = ordering;
    t.options.scaling = scaling;
    t.options.small = small;
    t.posdef = posdef;
    fail_everywhere(&t, analyse_coordinates);
    fail_everywhere(&t, analyse);
    fail_everywhere(&t, factor);
    fail_everywhere(&t, solve);
    CHECK(off(20, t.x) < 1e-11);
    fail_everywhere(&t, solve_part);
    fail_everywhere(&t, enquire);
    if (!posdef) fail_everywhere(&t, alter);
    fail_everywhere(&t, solve);
    CHECK(off(20, t.x) < 1e-11);
    spral_ssids_free(&t.akeep, &t.fkeep);
    free(t.s);
}

static void indefinite(void)
{
    run_session(1, 0, 1e-20, false);
    run_session(2, 3, 1e-15, false);
    run_session(1, 1, 1e-20, false);
}

static void definite(void)
{
    run_session(1, 0, 1e-20, true);
}

int main(void)
{
    static const named_test tests[] = {{"every allocation may fail, indefinite", indefinite},
                                       {"every allocation may fail, positive definite", definite}};
    return run_tests(tests, 2);
}
