/* What comes after an analysis: parts of a solve, pivots, flags, calls out of order, figures. Compiled as C
 * and as C++. */
#include "calls.h"

/* y = D^-1 x of the numbers that enquire_indef returns, for x in the order of the variables, as SPRAL has it.
 */
static void apply_pivots(int n, int base, const int *pivots, const double *d, const double *x, double *y)
{
    int variable[MOST];
    for (int i = 0; i < n; ++i) variable[abs(pivots[i]) - base] = i;
    for (int i = 0; i < n; ++i) y[i] = 0;
    for (int k = 0; k < n; ++k) {
        const int i = variable[k], j = k + 1 < n ? variable[k + 1] : i;
        y[i] += d[2 * k] * x[i];
        if (j == i) continue;
        y[i] += d[2 * k + 1] * x[j];
        y[j] += d[2 * k + 1] * x[i];
    }
}

/* Parts one after the other are A^-1, and so is X' D^-1 X with X of job 1, D^-1 as returned, which is job 2.
 */
static void parts_of_a_solve_fit_together(void)
{
    for (int scaling = 0; scaling <= 4; ++scaling) {
        if (scaling == 3) continue;
        system_of *s = saddle_point(20, 8, 0, 23);
        options_of options = quiet_options(0);
        inform_of inform;
        void *akeep = NULL, *fkeep = NULL;
        double whole[20 * 20] = {0}, parts[20 * 20] = {0}, four[20 * 20] = {0}, forward[20 * 20] = {0};
        double d[40], scale[20], diagonal[20 * 20];
        int pivots[20];
        for (int i = 0; i < 20; ++i) scale[i] = 1 + 0.1 * i;
        for (int j = 0; j < 20; ++j) whole[21 * j] = parts[21 * j] = four[21 * j] = forward[21 * j] = 1;
        options.scaling = scaling;
        spral_ssids_analyse(true, 20, NULL, s->ptr, s->row, NULL, &akeep, &options, &inform);
        spral_ssids_factor(false, NULL, NULL, s->val, scale, akeep, &fkeep, &options, &inform);
        CHECK(inform.flag == 4 && inform.num_two > 0);
        spral_ssids_solve(0, 20, whole, 20, akeep, fkeep, &options, &inform);
        for (int job = 1; job <= 3; ++job) {
            spral_ssids_solve(job, 20, parts, 20, akeep, fkeep, &options, &inform);
            CHECK(inform.flag == 4);
        }
        spral_ssids_solve(1, 20, four, 20, akeep, fkeep, &options, &inform);
        spral_ssids_solve(4, 20, four, 20, akeep, fkeep, &options, &inform);
        spral_ssids_solve(1, 20, forward, 20, akeep, fkeep, &options, &inform);
        spral_ssids_enquire_indef(akeep, fkeep, &options, &inform, pivots, d);
        CHECK(inform.flag == 0 && distance(400, whole, parts) < 1e-12 && distance(400, whole, four) < 1e-12);
        memcpy(diagonal, forward, sizeof diagonal);
        spral_ssids_solve(2, 20, diagonal, 20, akeep, fkeep, &options, &inform);
        for (int j = 0; j < 20; ++j) {
            double y[20];
            apply_pivots(20, 0, pivots, d, forward + 20 * j, y);
            CHECK(distance(20, y, diagonal + 20 * j) < 1e-12);
            for (int i = 0; i < 20; ++i) {
                double sum = 0;
                for (int k = 0; k < 20; ++k) sum += forward[20 * i + k] * y[k];
                CHECK(fabs(sum - whole[20 * j + i]) < 1e-11);
            }
        }
        spral_ssids_free(&akeep, &fkeep);
        free(s);
    }
}

static void definite_matrices_have_a_cholesky_factor(void)
{
    system_of *s = new_system(12, 0);
    for (int i = 0; i < 12; ++i) put(s, i, i, 3 + i);
    for (int i = 0; i + 3 < 12; ++i) put(s, i + 3, i, 1), put(s, i + 1, i, -1);
    compress(s);
    options_of options = quiet_options(0);
    inform_of inform;
    void *akeep = NULL, *fkeep = NULL;
    double d[12], e[24], x[144] = {0}, whole[144] = {0}, scale[12];
    inform = factor_system(s, true, &options, &akeep, &fkeep);
    CHECK(inform.flag == 0 && inform.num_neg == 0 && inform.matrix_rank == 12 && inform.num_two == 0);
    CHECK(solve_system(s, akeep, fkeep, &options) < 1e-13);
    for (int scaled = 0; scaled <= 1; ++scaled) {
        for (int i = 0; i < 12; ++i) scale[i] = 1 / sqrt(3 + i);
        if (scaled) spral_ssids_factor(true, NULL, NULL, s->val, scale, akeep, &fkeep, &options, &inform);
        memset(x, 0, sizeof x), memset(whole, 0, sizeof whole);
        for (int j = 0; j < 12; ++j) x[13 * j] = whole[13 * j] = 1;
        spral_ssids_solve(0, 12, whole, 12, akeep, fkeep, &options, &inform);
        spral_ssids_solve(1, 12, x, 12, akeep, fkeep, &options, &inform);
        for (int i = 0; i < 12; ++i) { /* A^-1 = X'X for X = L^-1 P' S */
            for (int j = 0; j < 12; ++j) {
                double sum = 0;
                for (int k = 0; k < 12; ++k) sum += x[12 * i + k] * x[12 * j + k];
                CHECK(fabs(sum - whole[12 * j + i]) < 1e-14);
            }
        }
        spral_ssids_solve(3, 12, x, 12, akeep, fkeep, &options, &inform);
        CHECK(inform.flag == 0 && distance(144, x, whole) < 1e-14);
    }
    spral_ssids_enquire_posdef(akeep, fkeep, &options, &inform, d);
    CHECK(inform.flag == 0);
    double product = 1; /* det SAS = the square of the product of L's diagonal */
    for (int k = 0; k < 12; ++k) product *= d[k] * d[k];
    spral_ssids_solve1(2, d, akeep, fkeep, &options, &inform);
    CHECK(inform.flag == -11);
    spral_ssids_solve1(4, d, akeep, fkeep, &options, &inform);
    CHECK(inform.flag == -11);
    spral_ssids_enquire_indef(akeep, fkeep, &options, &inform, NULL, e);
    CHECK(inform.flag == -14);
    spral_ssids_alter(e, akeep, fkeep, &options, &inform);
    CHECK(inform.flag == -14);
    spral_ssids_factor(false, NULL, NULL, s->val, scale, akeep, &fkeep, &options, &inform);
    CHECK(inform.flag == 0);
    spral_ssids_enquire_indef(akeep, fkeep, &options, &inform, NULL, e);
    for (int k = 0; k < 12; ++k) product *= e[2 * k];
    CHECK(fabs(product - 1) < 1e-12);
    spral_ssids_enquire_posdef(akeep, fkeep, &options, &inform, d);
    CHECK(inform.flag == -13);
    spral_ssids_free(&akeep, &fkeep);
    free(s);
    s = five(0);
    inform = factor_system(s, true, &options, &akeep, &fkeep);
    CHECK(inform.flag == -6);
    spral_ssids_solve1(0, d, akeep, fkeep, &options, &inform);
    CHECK(inform.flag == -1);
    spral_ssids_factor(false, NULL, NULL, s->val, NULL, akeep, &fkeep, &options, &inform);
    CHECK(inform.flag == 0 && solve_system(s, akeep, fkeep, &options) < 1e-14);
    spral_ssids_free(&akeep, &fkeep);
    free(s);
}

static void a_scaled_cholesky_factor_is_that_of_sas(void)
{
    system_of *s = new_system(3, 0);
    for (int i = 0; i < 3; ++i) put(s, i, i, 1e5 * (i + 1));
    put(s, 1, 0, 3e4);
    compress(s);
    const double determinant = 3e5 * (2e10 - 9e8);
    options_of options = quiet_options(0);
    options.scaling = 4;
    void *akeep = NULL, *fkeep = NULL;
    inform_of inform;
    double scale[3], d[3], x[3] = {1, 2, 3}, y[3] = {1, 2, 3}, product = 1;
    spral_ssids_analyse(true, 3, NULL, s->ptr, s->row, NULL, &akeep, &options, &inform);
    spral_ssids_factor(true, NULL, NULL, s->val, scale, akeep, &fkeep, &options, &inform);
    spral_ssids_enquire_posdef(akeep, fkeep, &options, &inform, d);
    for (int k = 0; k < 3; ++k) product *= d[k] * d[k] / (scale[k] * scale[k]);
    CHECK(inform.flag == 0 && fabs(product / determinant - 1) < 1e-14);
    spral_ssids_solve1(1, x, akeep, fkeep, &options, &inform);
    spral_ssids_solve1(0, y, akeep, fkeep, &options, &inform);
    double form = 0, norm = 0; /* b'A^-1 b in two ways */
    for (int k = 0; k < 3; ++k) form += (k + 1) * y[k], norm += x[k] * x[k];
    CHECK(fabs(form / norm - 1) < 1e-14);
    spral_ssids_solve1(3, x, akeep, fkeep, &options, &inform);
    CHECK(distance(3, x, y) < 1e-18);
    spral_ssids_free(&akeep, &fkeep);
    free(s);
}

static void pivots_are_told_and_can_be_altered(void)
{
    for (int base = 0; base <= 1; ++base) {
        system_of *s = saddle_point(20, 8, base, 29);
        options_of options = quiet_options(base);
        void *akeep = NULL, *fkeep = NULL;
        inform_of inform = factor_system(s, false, &options, &akeep, &fkeep);
        int order[20], seen[20] = {0}, at[20];
        double d[40], again[40], x[20], y[20];
        spral_ssids_enquire_indef(akeep, fkeep, &options, &inform, order, d);
        CHECK(inform.flag == 0);
        for (int i = 0; i < 20; ++i) {
            const int place = abs(order[i]) - base;
            CHECK(place >= 0 && place < 20 && !seen[place]);
            seen[place] = 1;
            at[place] = i;
        }
        int pairs = 0;
        for (int i = 0; i < 20 && base == 0; ++i) CHECK(order[i] >= 0); /* programs index with it */
        for (int k = 0; k + 1 < 20; ++k) { /* from 1 both of a pair are negative, and nobody else */
            if (d[2 * k + 1] == 0) {
                CHECK(order[at[k]] >= 0);
                continue;
            }
            CHECK(base == 0 || (order[at[k]] < 0 && order[at[k + 1]] < 0));
            CHECK(d[2 * k + 3] == 0);
            ++pairs, ++k;
        }
        CHECK(pairs == inform.num_two && pairs > 0);
        spral_ssids_alter(d, akeep, fkeep, &options, &inform);
        CHECK(inform.flag == 0 && solve_system(s, akeep, fkeep, &options) < 1e-12);
        spral_ssids_enquire_indef(akeep, fkeep, &options, &inform, NULL, again);
        CHECK(memcmp(d, again, sizeof d) == 0);
        for (int k = 0; k < 40; ++k) d[k] *= 2;
        spral_ssids_alter(d, akeep, fkeep, &options, &inform);
        make_rhs(s, x), make_rhs(s, y);
        spral_ssids_solve1(0, x, akeep, fkeep, &options, &inform);
        for (int i = 0; i < 20; ++i) x[i] /= 2;
        CHECK(off(20, x) < 1e-12);
        for (int k = 0; k < 40; ++k) d[k] = k % 2 ? 0 : 1; /* D = I: (PL)(PL)' x = b */
        spral_ssids_alter(d, akeep, fkeep, &options, &inform);
        make_rhs(s, x);
        spral_ssids_solve1(0, x, akeep, fkeep, &options, &inform);
        spral_ssids_solve1(1, y, akeep, fkeep, &options, &inform);
        spral_ssids_solve1(4, y, akeep, fkeep, &options, &inform);
        CHECK(inform.flag == 4 && distance(20, x, y) < 1e-12);
        spral_ssids_factor(false, NULL, NULL, s->val, NULL, akeep, &fkeep, &options, &inform);
        CHECK(solve_system(s, akeep, fkeep, &options) < 1e-12); /* what was altered is gone */
        spral_ssids_free(&akeep, &fkeep);
        free(s);
    }
}

static void singular_matrices_are_told(void)
{
    system_of *s = new_system(6, 1);
    for (int i = 0; i < 6; ++i) put(s, i, i, i < 3 ? 2 : -1);
    put(s, 1, 0, 2); /* rows 0 and 1 are the same */
    put(s, 1, 1, 2);
    compress(s);
    options_of options = quiet_options(1);
    void *akeep = NULL, *fkeep = NULL;
    inform_of inform = factor_system(s, false, &options, &akeep, &fkeep);
    CHECK(inform.flag == 7 && inform.matrix_rank == 5 && inform.num_neg == 3);
    double x[6], b[6], y[6];
    make_rhs(s, b), memcpy(x, b, sizeof x);
    spral_ssids_solve1(0, x, akeep, fkeep, &options, &inform);
    multiply(s, x, y);
    CHECK(inform.flag == 7 && distance(6, b, y) < 1e-13);
    spral_ssids_free(&akeep, &fkeep);
    options.action = false;
    inform = factor_system(s, false, &options, &akeep, &fkeep);
    CHECK(inform.flag == -5 && inform.matrix_rank == 5);
    spral_ssids_solve1(0, x, akeep, fkeep, &options, &inform);
    CHECK(inform.flag == -1);
    s->val[1] = 1; /* (1, 0): regular */
    put(s, 1, 0, 1);
    spral_ssids_factor(false, NULL, NULL, s->val, NULL, akeep, &fkeep, &options, &inform);
    CHECK(inform.flag == 0 && inform.matrix_rank == 6 && solve_system(s, akeep, fkeep, &options) < 1e-13);
    spral_ssids_free(&akeep, &fkeep);
    free(s);
}

/* Rank 1 but for the rounding of its entries: which signs the small eigenvalues have is chance. */
static void counts_in_doubt_are_no_numbers(void)
{
    system_of *s = new_system(3, 0);
    put(s, 0, 0, 0.1), put(s, 1, 0, 0.3), put(s, 2, 0, 0.7);
    put(s, 1, 1, 0.9), put(s, 2, 1, 2.1), put(s, 2, 2, 4.9);
    compress(s);
    options_of options = quiet_options(0);
    void *akeep = NULL, *fkeep = NULL;
    inform_of inform = factor_system(s, false, &options, &akeep, &fkeep);
    CHECK(inform.flag == 7 && inform.num_neg == -1);
    double x[3] = {1, 3, 7};
    spral_ssids_solve1(0, x, akeep, fkeep, &options, &inform);
    CHECK(inform.flag == 7 && inform.num_neg == -1);
    spral_ssids_free(&akeep, &fkeep);
    put(s, 0, 0, 2);
    compress(s);
    setenv("SADDLE_OPTIONS", "factorization=static certify=off", 1); /* nothing is counted */
    inform = factor_system(s, false, &options, &akeep, &fkeep);
    unsetenv("SADDLE_OPTIONS");
    CHECK(inform.flag == 7 && inform.num_neg == -1 && inform.matrix_rank == 3);
    spral_ssids_free(&akeep, &fkeep);
    free(s);
}

static void small_pivots_count_as_zero(void)
{
    system_of *s = new_system(4, 0);
    put(s, 0, 0, 2), put(s, 1, 1, -1e-9), put(s, 2, 2, 3), put(s, 3, 3, 1e-9);
    compress(s);
    options_of options = quiet_options(0);
    void *akeep = NULL, *fkeep = NULL;
    inform_of inform = factor_system(s, false, &options, &akeep, &fkeep);
    CHECK(inform.flag == 0 && inform.num_neg == 1 && inform.matrix_rank == 4);
    options.small = 1e-6;
    spral_ssids_factor(false, NULL, NULL, s->val, NULL, akeep, &fkeep, &options, &inform);
    CHECK(inform.flag == 7 && inform.num_neg == 0 && inform.matrix_rank == 2);
    double x[4] = {2, 1, 3, 1};
    spral_ssids_solve1(0, x, akeep, fkeep, &options, &inform);
    CHECK(inform.flag == 7 && x[0] == 1 && x[1] == 0 && x[2] == 1 && x[3] == 0);
    options.action = false;
    spral_ssids_factor(false, NULL, NULL, s->val, NULL, akeep, &fkeep, &options, &inform);
    CHECK(inform.flag == -5);
    for (options.scaling = 1; options.scaling <= 4; options.scaling += 1 + (options.scaling == 2)) {
        for (int k = 0; k < 4; ++k) s->val[k] = 1e-9 * (k % 2 ? -1 : 1); /* small only before it is scaled */
        spral_ssids_factor(false, NULL, NULL, s->val, NULL, akeep, &fkeep, &options, &inform);
        CHECK(inform.flag == 0 && inform.matrix_rank == 4 && inform.num_neg == 2);
    }
    spral_ssids_free(&akeep, &fkeep);
    free(s);
}

static void calls_out_of_order_are_refused(void)
{
    system_of *s = five(0);
    options_of options = quiet_options(0);
    inform_of inform;
    void *akeep = NULL, *fkeep = NULL, *none = NULL, *garbage = (void *)(uintptr_t)0xdeadbeef;
    double x[10] = {0};
    CHECK(spral_ssids_free(&akeep, &fkeep) == 0 && spral_ssids_free_akeep(&none) == 0);
    spral_ssids_factor(false, NULL, NULL, s->val, NULL, NULL, &fkeep, &options, &inform);
    CHECK(inform.flag == -1 && !fkeep);
    spral_ssids_factor(false, NULL, NULL, s->val, NULL, garbage, &fkeep, &options, &inform);
    CHECK(inform.flag == -1);
    akeep = garbage; /* never set: it is not followed */
    spral_ssids_analyse(false, 5, NULL, s->ptr, s->row, NULL, &akeep, &options, &inform);
    CHECK(inform.flag == 0 && akeep != garbage);
    spral_ssids_solve1(0, x, akeep, NULL, &options, &inform);
    CHECK(inform.flag == -1);
    spral_ssids_solve1(0, x, akeep, garbage, &options, &inform);
    CHECK(inform.flag == -1);
    spral_ssids_enquire_indef(akeep, garbage, &options, &inform, NULL, x);
    CHECK(inform.flag == -1);
    spral_ssids_enquire_posdef(akeep, NULL, &options, &inform, x);
    CHECK(inform.flag == -1);
    spral_ssids_alter(x, akeep, NULL, &options, &inform);
    CHECK(inform.flag == -1);
    fkeep = garbage;
    spral_ssids_factor(false, NULL, s->row, s->val, NULL, akeep, &fkeep, &options, &inform);
    CHECK(inform.flag == -7);
    spral_ssids_factor(false, s->ptr, NULL, s->val, NULL, akeep, &fkeep, &options, &inform);
    CHECK(inform.flag == -7);
    spral_ssids_factor(false, s->ptr, s->row, NULL, NULL, akeep, &fkeep, &options, &inform);
    CHECK(inform.flag == -9);
    spral_ssids_factor(false, s->ptr, s->row, s->val, NULL, akeep, &fkeep, &options, &inform);
    CHECK(inform.flag == 0);
    spral_ssids_solve(0, 0, x, 5, akeep, fkeep, &options, &inform);
    CHECK(inform.flag == -10);
    spral_ssids_solve(0, 1, x, 4, akeep, fkeep, &options, &inform);
    CHECK(inform.flag == -10);
    spral_ssids_solve1(-1, x, akeep, fkeep, &options, &inform);
    CHECK(inform.flag == -11);
    spral_ssids_solve1(5, x, akeep, fkeep, &options, &inform);
    CHECK(inform.flag == -11);
    x[2] = NAN;
    spral_ssids_solve1(0, x, akeep, fkeep, &options, &inform);
    CHECK(inform.flag == -99);
    s->val[0] = INFINITY;
    spral_ssids_factor(false, s->ptr, s->row, s->val, NULL, akeep, &fkeep, &options, &inform);
    CHECK(inform.flag == -99);
    void *old = akeep, *older = fkeep;
    spral_ssids_free(&akeep, &fkeep);
    spral_ssids_factor(false, s->ptr, s->row, s->val, NULL, old, &fkeep, &options, &inform);
    CHECK(inform.flag == -1);
    spral_ssids_free(&old, &older); /* twice */
    CHECK(!old && !older);
    free(s);
}

static void pointers_that_are_null_are_refused(void)
{
    system_of *s = five(0);
    options_of options = quiet_options(0);
    void *akeep = NULL, *fkeep = NULL;
    double scale[5] = {1, 2, 3, 4, 5};
    inform_of inform;
    spral_ssids_analyse(true, 5, NULL, s->ptr, s->row, NULL, NULL, &options, &inform);
    CHECK(inform.flag == -1);
    spral_ssids_analyse(true, 5, NULL, s->ptr, s->row, NULL, &akeep, &options, &inform);
    spral_ssids_factor(false, NULL, NULL, s->val, NULL, akeep, NULL, &options, &inform);
    CHECK(inform.flag == -1);
    for (int scaled = 0; scaled <= 1; ++scaled) {
        spral_ssids_factor(false, NULL, NULL, s->val, scaled ? scale : NULL, akeep, &fkeep, &options,
                           &inform);
        CHECK(inform.flag == 0);
        for (int job = 0; job <= 4; ++job) {
            spral_ssids_solve1(job, NULL, akeep, fkeep, &options, &inform);
            CHECK(inform.flag == -99);
        }
        spral_ssids_alter(NULL, akeep, fkeep, &options, &inform);
        CHECK(inform.flag == -99 && solve_system(s, akeep, fkeep, &options) < 1e-13);
    }
    spral_ssids_free(&akeep, &fkeep);
    free(s);
}

static void factors_share_an_analysis(void)
{
    system_of *s = saddle_point(40, 15, 0, 31), *t = saddle_point(40, 15, 0, 31);
    options_of options = quiet_options(0);
    inform_of inform;
    void *akeep = NULL, *first = NULL, *second = NULL, *third = NULL;
    for (int i = 0; i < 40; ++i) put(t, i, i, 3 * t->a[i][i]);
    compress(t);
    spral_ssids_analyse(true, 40, NULL, s->ptr, s->row, NULL, &akeep, &options, &inform);
    spral_ssids_factor(false, NULL, NULL, s->val, NULL, akeep, &first, &options, &inform);
    spral_ssids_factor(false, NULL, NULL, t->val, NULL, akeep, &second, &options, &inform);
    CHECK(inform.flag == 4 && first != second);
    CHECK(solve_system(s, akeep, first, &options) < 1e-11 &&
          solve_system(t, akeep, second, &options) < 1e-11);
    double x[80], y[80];
    make_rhs(s, x), make_rhs(s, x + 40), memcpy(y, x, sizeof y);
    spral_ssids_solve(0, 2, x, 40, akeep, first, &options, &inform);
    CHECK(off(40, x) < 1e-11 && memcmp(x, x + 40, 40 * sizeof *x) == 0);
    spral_ssids_free_fkeep(&first); /* its solver goes to the next */
    spral_ssids_factor(false, NULL, NULL, s->val, NULL, akeep, &third, &options, &inform);
    spral_ssids_solve(0, 2, y, 40, akeep, third, &options, &inform);
    CHECK(inform.flag == 4 && memcmp(x, y, sizeof x) == 0);
    spral_ssids_factor(false, NULL, NULL, t->val, NULL, akeep, &third, &options, &inform);
    CHECK(solve_system(t, akeep, third, &options) < 1e-11);
    void *other = NULL, *old = akeep; /* an fkeep goes over to another akeep */
    spral_ssids_analyse(true, 40, NULL, t->ptr, t->row, NULL, &other, &options, &inform);
    spral_ssids_solve1(0, x, other, third, &options, &inform);
    CHECK(inform.flag == -1);
    spral_ssids_factor(false, NULL, NULL, t->val, NULL, other, &third, &options, &inform);
    CHECK(inform.flag == 4 && solve_system(t, other, third, &options) < 1e-11);
    spral_ssids_free_akeep(&akeep);
    spral_ssids_solve1(0, x, old, second, &options, &inform);
    CHECK(inform.flag == -1);
    spral_ssids_free_fkeep(&second);
    spral_ssids_free(&other, &third);
    free(s);
    free(t);
}

static void figures_are_those_of_the_matrix(void)
{
    options_of options = quiet_options(0);
    for (int m = 0; m <= 20; m += 5) {
        system_of *s = saddle_point(50, m, 0, (uint64_t)m + 1);
        void *akeep = NULL, *fkeep = NULL;
        inform_of inform, planned;
        spral_ssids_analyse(true, 50, NULL, s->ptr, s->row, NULL, &akeep, &options, &planned);
        CHECK(planned.flag == (m ? 4 : 0) && planned.matrix_missing_diag == m);
        CHECK(planned.num_neg == 0 && planned.num_two == 0 && planned.num_delay == 0);
        spral_ssids_factor(false, NULL, NULL, s->val, NULL, akeep, &fkeep, &options, &inform);
        CHECK(inform.flag == planned.flag && inform.num_neg == m && inform.matrix_rank == 50);
        CHECK(inform.matrix_missing_diag == m && inform.num_sup == planned.num_sup);
        CHECK(inform.maxdepth == planned.maxdepth && inform.maxsupernode == planned.maxsupernode);
        CHECK(inform.num_delay > 0 || inform.num_factor == planned.num_factor || inform.num_two > 0);
        CHECK(inform.num_flops > 0 && inform.maxfront >= 1 && inform.stat == 0 && inform.cuda_error == 0);
        spral_ssids_free(&akeep, &fkeep);
        free(s);
    }
}

int main(void)
{
    static const named_test tests[] = {
        {"parts of a solve fit together", parts_of_a_solve_fit_together},
        {"definite matrices have a Cholesky factor", definite_matrices_have_a_cholesky_factor},
        {"a scaled Cholesky factor is that of SAS", a_scaled_cholesky_factor_is_that_of_sas},
        {"pivots are told and can be altered", pivots_are_told_and_can_be_altered},
        {"singular matrices are told", singular_matrices_are_told},
        {"counts in doubt are no numbers", counts_in_doubt_are_no_numbers},
        {"small pivots count as zero", small_pivots_count_as_zero},
        {"calls out of order are refused", calls_out_of_order_are_refused},
        {"pointers that are NULL are refused", pointers_that_are_null_are_refused},
        {"factors share an analysis", factors_share_an_analysis},
        {"figures are those of the matrix", figures_are_those_of_the_matrix}};
    return run_tests(tests, (int)(sizeof tests / sizeof tests[0]));
}
