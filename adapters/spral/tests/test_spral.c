/* Every function of the interface on systems that can be followed by hand. Compiled as C and as C++. */
#include "check.h"

#include <stddef.h>

typedef struct spral_ssids_options options_of;
typedef struct spral_ssids_inform inform_of;

/* Analyses and factors by columns; the handles are the caller's to free. */
static inform_of factor_system(const system_of *s, bool posdef, const options_of *options, void **akeep,
                               void **fkeep)
{
    inform_of inform;
    spral_ssids_analyse(true, s->n, NULL, s->ptr, s->row, s->val, akeep, options, &inform);
    if (inform.flag < 0) return inform;
    spral_ssids_factor(posdef, NULL, NULL, s->val, NULL, *akeep, fkeep, options, &inform);
    return inform;
}

/* Solves for 1, 2, 3, ...: how far the answer is. */
static double solve_system(const system_of *s, void *akeep, void *fkeep, const options_of *options)
{
    double x[MOST];
    inform_of inform;
    make_rhs(s, x);
    spral_ssids_solve1(0, x, akeep, fkeep, options, &inform);
    return inform.flag < 0 ? INFINITY : off(s->n, x);
}

static void options_have_their_defaults_and_places(void)
{
    options_of o;
    memset(&o, 77, sizeof o);
    spral_ssids_default_options(&o);
    CHECK(o.array_base == 0 && o.print_level == 0 && o.ordering == 1 && o.nemin == 32 && o.scaling == 0);
    CHECK(o.unit_diagnostics == 6 && o.unit_error == 6 && o.unit_warning == 6);
    CHECK(o.ignore_numa && o.use_gpu && o.action && o.pivot_method == 2 && o.small == 1e-20 && o.u == 0.01);
    CHECK(offsetof(options_of, ordering) == 20 && offsetof(options_of, ignore_numa) == 28);
    CHECK(offsetof(options_of, min_gpu_work) == 32 && offsetof(options_of, scaling) == 48);
    CHECK(offsetof(options_of, small_subtree_threshold) == 56 && offsetof(options_of, action) == 68);
    CHECK(offsetof(options_of, small) == 80 && offsetof(options_of, u) == 88 && sizeof o == 176);
    CHECK(offsetof(inform_of, matrix_rank) == 16 && offsetof(inform_of, num_factor) == 32);
    CHECK(offsetof(inform_of, num_neg) == 48 && offsetof(inform_of, maxsupernode) == 72);
    CHECK(sizeof(inform_of) == 152 && sizeof(struct spral_numa_region) == 16);
}

static void system_of_five_is_solved_from_either_base(void)
{
    for (int base = 0; base <= 1; ++base) {
        system_of *s = five(base);
        options_of options = quiet_options(base);
        inform_of inform;
        void *akeep = NULL, *fkeep = NULL;
        int order[5], seen = 0;
        double x[5];
        spral_ssids_analyse(true, 5, order, s->ptr, s->row, NULL, &akeep, &options, &inform);
        CHECK(inform.flag == 0 && akeep && inform.matrix_rank == 5 && inform.matrix_dup == 0);
        CHECK(inform.num_factor >= 9 && inform.num_flops > 0 && inform.num_sup >= 1 && inform.maxdepth >= 1);
        CHECK(inform.maxfront >= 2 && inform.maxsupernode >= 1);
        for (int i = 0; i < 5; ++i) seen |= 1 << (order[i] - base);
        CHECK(seen == 31);
        spral_ssids_factor(false, NULL, NULL, s->val, NULL, akeep, &fkeep, &options, &inform);
        CHECK(inform.flag == 0 && inform.num_neg == 1 && inform.matrix_rank == 5 && inform.num_sup >= 1);
        make_rhs(s, x);
        CHECK(x[0] == 4 && x[1] == 17 && x[2] == 19 && x[3] == 2 && x[4] == 12);
        spral_ssids_solve1(0, x, akeep, fkeep, &options, &inform);
        CHECK(inform.flag == 0 && off(5, x) < 1e-14 && inform.num_neg == 1);
        CHECK(spral_ssids_free(&akeep, &fkeep) == 0 && !akeep && !fkeep);
        free(s);
    }
}

static void pointers_of_32_bits_and_regions_are_taken(void)
{
    for (int check = 0; check <= 1; ++check) {
        system_of *s = five(1);
        options_of options = quiet_options(1);
        inform_of inform;
        void *akeep = NULL, *fkeep = NULL;
        spral_ssids_analyse_ptr32(check, 5, NULL, s->ptr32, s->row, NULL, &akeep, &options, &inform);
        CHECK(inform.flag == 0);
        spral_ssids_factor_ptr32(false, check ? NULL : s->ptr32, check ? NULL : s->row, s->val, NULL, akeep,
                                 &fkeep, &options, &inform);
        CHECK(inform.flag == 0 && solve_system(s, akeep, fkeep, &options) < 1e-14);
        spral_ssids_free(&akeep, &fkeep);
        int gpu = 0;
        const struct spral_numa_region regions[2] = {{1, 0, NULL}, {1, 1, &gpu}};
        for (int count = 0; count <= 2; ++count) {
            spral_ssids_analyse_topology(check, 5, NULL, s->ptr, s->row, NULL, &akeep, &options, &inform,
                                         count, count ? regions : NULL);
            CHECK(inform.flag == 0);
            spral_ssids_factor(false, s->ptr, s->row, s->val, NULL, akeep, &fkeep, &options, &inform);
            CHECK(inform.flag == 0 && solve_system(s, akeep, fkeep, &options) < 1e-14);
            spral_ssids_free(&akeep, &fkeep);
        }
        free(s);
    }
}

static void coordinates_are_taken_in_either_triangle(void)
{
    system_of *s = five(1);
    options_of options = quiet_options(1);
    inform_of inform;
    void *akeep = NULL, *fkeep = NULL;
    int row[12], col[12];
    double val[12];
    /* backwards, every other one in the upper triangle; one entry in two halves; one outside */
    for (int k = 0; k < 9; ++k) {
        const bool up = k % 2;
        row[8 - k] = up ? s->col[k] : s->row[k];
        col[8 - k] = up ? s->row[k] : s->col[k];
        val[8 - k] = s->val[k];
    }
    spral_ssids_analyse_coord(5, NULL, 9, row, col, NULL, &akeep, &options, &inform);
    CHECK(inform.flag == 0);
    spral_ssids_factor(false, NULL, NULL, val, NULL, akeep, &fkeep, &options, &inform);
    CHECK(inform.flag == 0 && solve_system(s, akeep, fkeep, &options) < 1e-14);
    row[9] = 2, col[9] = 1, val[9] = 0.25; /* (2, 1) is 1 */
    row[10] = 1, col[10] = 2, val[10] = -0.25;
    row[11] = 6, col[11] = 1, val[11] = 99;
    spral_ssids_analyse_coord(5, NULL, 12, row, col, NULL, &akeep, &options, &inform);
    CHECK(inform.flag == 3 && inform.matrix_dup == 2 && inform.matrix_outrange == 1);
    spral_ssids_factor(false, NULL, NULL, val, NULL, akeep, &fkeep, &options, &inform);
    CHECK(inform.flag == 3 && inform.matrix_dup == 2 && solve_system(s, akeep, fkeep, &options) < 1e-14);
    for (int k = 0; k < 12; ++k) row[k] = 7;
    spral_ssids_analyse_coord(5, NULL, 12, row, col, NULL, &akeep, &options, &inform);
    CHECK(inform.flag == -4 && !akeep);
    spral_ssids_analyse_coord(5, NULL, 0, row, col, NULL, &akeep, &options, &inform);
    CHECK(inform.flag == -2);
    spral_ssids_free(&akeep, &fkeep);
    free(s);
}

/* Analyses columns that have something wrong, factors and solves; returns the flag of the analysis. */
static int flag_of_columns(const system_of *like, int n, const int64_t *ptr, const int *row,
                           const double *val, inform_of *inform)
{
    options_of options = quiet_options(0);
    inform_of later;
    void *akeep = NULL, *fkeep = NULL;
    spral_ssids_analyse(true, n, NULL, ptr, row, NULL, &akeep, &options, inform);
    CHECK((inform->flag >= 0) == (akeep != NULL));
    if (akeep && like) {
        spral_ssids_factor(false, NULL, NULL, val, NULL, akeep, &fkeep, &options, &later);
        CHECK(later.flag == inform->flag && later.matrix_outrange == inform->matrix_outrange);
        CHECK(solve_system(like, akeep, fkeep, &options) < 1e-13);
    }
    spral_ssids_free(&akeep, &fkeep);
    return inform->flag;
}

static void faults_in_the_matrix_are_counted(void)
{
    inform_of inform;
    system_of *s = new_system(3, 0);
    put(s, 0, 0, 2), put(s, 1, 0, 1), put(s, 1, 1, 3), put(s, 2, 2, 4);
    const int64_t outside_ptr[4] = {0, 3, 5, 6}, twice_ptr[4] = {0, 3, 4, 5}, both_ptr[4] = {0, 4, 6, 7};
    const int outside[6] = {0, 1, 3, 1, 0, 2}; /* row 3, and (0, 1) above the diagonal */
    const double outside_val[6] = {2, 1, 9, 3, 9, 4};
    CHECK(flag_of_columns(s, 3, outside_ptr, outside, outside_val, &inform) == 1);
    CHECK(inform.matrix_outrange == 2 && inform.matrix_dup == 0 && inform.matrix_missing_diag == 0);
    const int twice[5] = {0, 1, 1, 1, 2};
    const double twice_val[5] = {2, 0.5, 0.5, 3, 4};
    CHECK(flag_of_columns(s, 3, twice_ptr, twice, twice_val, &inform) == 2 && inform.matrix_dup == 1);
    const int both[7] = {0, 1, 1, -1, 1, 0, 2};
    const double both_val[7] = {2, 0.5, 0.5, 9, 3, 9, 4};
    CHECK(flag_of_columns(s, 3, both_ptr, both, both_val, &inform) == 3);
    CHECK(inform.matrix_outrange == 2 && inform.matrix_dup == 1);
    put(s, 1, 1, 0);
    const int64_t missing_ptr[4] = {0, 2, 2, 3}, more_ptr[4] = {0, 3, 3, 4};
    const int missing[3] = {0, 1, 2}, more[4] = {0, 1, 5, 2};
    const double missing_val[3] = {2, 1, 4}, more_val[4] = {2, 1, 9, 4};
    CHECK(flag_of_columns(s, 3, missing_ptr, missing, missing_val, &inform) == 4);
    CHECK(inform.matrix_missing_diag == 1);
    CHECK(flag_of_columns(s, 3, more_ptr, more, more_val, &inform) == 5 && inform.matrix_outrange == 1);
    /* all of column 1 is outside; pointers that begin elsewhere or go back; n < 0 */
    const int64_t all_ptr[4] = {0, 2, 3, 4}, first_ptr[4] = {1, 2, 3, 4}, back_ptr[4] = {0, 2, 1, 3};
    const int all[4] = {0, 1, 0, 2};
    CHECK(flag_of_columns(NULL, 3, all_ptr, all, NULL, &inform) == -4);
    CHECK(flag_of_columns(NULL, 3, first_ptr, all, NULL, &inform) == -3);
    CHECK(flag_of_columns(NULL, 3, back_ptr, all, NULL, &inform) == -3);
    CHECK(flag_of_columns(NULL, 3, NULL, all, NULL, &inform) == -3);
    CHECK(flag_of_columns(NULL, 3, all_ptr, NULL, NULL, &inform) == -3);
    CHECK(flag_of_columns(NULL, -1, all_ptr, all, NULL, &inform) == -2);
    free(s);
}

static void unchecked_matrices_are_not_trusted(void)
{
    options_of options = quiet_options(0);
    inform_of inform;
    void *akeep = NULL;
    const int64_t ptr[4] = {0, 2, 3, 4};
    const int outside[4] = {0, 3, 1, 2}, above[4] = {0, 1, 0, 2};
    spral_ssids_analyse(false, 3, NULL, ptr, outside, NULL, &akeep, &options, &inform);
    CHECK(inform.flag == -3 && !akeep);
    spral_ssids_analyse(false, 3, NULL, ptr, above, NULL, &akeep, &options, &inform);
    CHECK(inform.flag == -3 && !akeep);
}

static void empty_systems_are_solved(void)
{
    options_of options = quiet_options(0);
    inform_of inform;
    void *akeep = NULL, *fkeep = NULL;
    const int64_t ptr[1] = {0};
    double nothing = 0;
    spral_ssids_analyse(true, 0, NULL, ptr, NULL, NULL, &akeep, &options, &inform);
    CHECK(inform.flag == 0 && akeep);
    spral_ssids_factor(false, NULL, NULL, NULL, NULL, akeep, &fkeep, &options, &inform);
    CHECK(inform.flag == 0 && inform.matrix_rank == 0 && inform.num_neg == 0);
    spral_ssids_solve1(0, &nothing, akeep, fkeep, &options, &inform);
    CHECK(inform.flag == 0);
    spral_ssids_enquire_indef(akeep, fkeep, &options, &inform, NULL, NULL);
    CHECK(inform.flag == 0);
    spral_ssids_free(&akeep, &fkeep);
}

static void orders_of_the_caller_are_taken_and_given_back(void)
{
    for (int base = 0; base <= 1; ++base) {
        system_of *s = saddle_point(30, 10, base, 5);
        options_of options = quiet_options(base);
        inform_of inform;
        void *akeep = NULL, *fkeep = NULL;
        int order[MOST], seen[MOST] = {0};
        options.ordering = 0;
        for (int i = 0; i < 30; ++i) order[i] = (7 * i + 3) % 30 + base;
        spral_ssids_analyse(true, 30, order, s->ptr, s->row, NULL, &akeep, &options, &inform);
        CHECK(inform.flag == 4 && inform.matrix_missing_diag == 10);
        for (int i = 0; i < 30; ++i)
            if (order[i] >= base && order[i] < 30 + base) seen[order[i] - base] = 1;
        for (int i = 0; i < 30; ++i) CHECK(seen[i]);
        spral_ssids_factor(false, NULL, NULL, s->val, NULL, akeep, &fkeep, &options, &inform);
        CHECK(inform.flag == 4 && inform.num_neg == 10 && solve_system(s, akeep, fkeep, &options) < 1e-11);
        spral_ssids_free(&akeep, &fkeep);
        order[3] = order[4]; /* no permutation */
        spral_ssids_analyse(true, 30, order, s->ptr, s->row, NULL, &akeep, &options, &inform);
        CHECK(inform.flag == -8 && !akeep);
        order[3] = 30 + base;
        spral_ssids_analyse(true, 30, order, s->ptr, s->row, NULL, &akeep, &options, &inform);
        CHECK(inform.flag == -8);
        spral_ssids_analyse(true, 30, NULL, s->ptr, s->row, NULL, &akeep, &options, &inform);
        CHECK(inform.flag == -8);
        options.ordering = 3;
        spral_ssids_analyse(true, 30, order, s->ptr, s->row, NULL, &akeep, &options, &inform);
        CHECK(inform.flag == -8);
        free(s);
    }
}

/* An order that needs no pivoting stays: a tridiagonal matrix from the top to the bottom. */
static void order_of_a_chain_stays(void)
{
    system_of *s = new_system(20, 0);
    for (int i = 0; i < 20; ++i) put(s, i, i, 4);
    for (int i = 0; i + 1 < 20; ++i) put(s, i + 1, i, 1);
    compress(s);
    options_of options = quiet_options(0);
    inform_of inform;
    void *akeep = NULL, *fkeep = NULL;
    int order[20], pivots[20];
    options.ordering = 0;
    for (int i = 0; i < 20; ++i) order[i] = i;
    spral_ssids_analyse(true, 20, order, s->ptr, s->row, NULL, &akeep, &options, &inform);
    CHECK(inform.flag == 0);
    for (int i = 0; i < 20; ++i) CHECK(order[i] == i);
    spral_ssids_factor(false, NULL, NULL, s->val, NULL, akeep, &fkeep, &options, &inform);
    spral_ssids_enquire_indef(akeep, fkeep, &options, &inform, pivots, NULL);
    CHECK(inform.flag == 0 && inform.num_neg == 0 && inform.num_two == 0);
    for (int i = 0; i < 20; ++i) CHECK(pivots[i] == i);
    spral_ssids_free(&akeep, &fkeep);
    for (int i = 0; i < 20; ++i) order[i] = 19 - i;
    setenv("SADDLE_OPTIONS", "order=natural", 1); /* wins over the program's */
    spral_ssids_analyse(true, 20, order, s->ptr, s->row, NULL, &akeep, &options, &inform);
    unsetenv("SADDLE_OPTIONS");
    CHECK(inform.flag == 0);
    for (int i = 0; i < 20; ++i) CHECK(order[i] == i);
    spral_ssids_free(&akeep, &fkeep);
    free(s);
}

static void matchings_order_and_scale(void)
{
    system_of *s = saddle_point(40, 15, 1, 11);
    for (int i = 0; i < 40; ++i) /* badly scaled */
        for (int j = 0; j < 40; ++j) s->a[i][j] *= pow(10, i % 7 - 3) * pow(10, j % 7 - 3);
    compress(s);
    options_of options = quiet_options(1);
    inform_of inform;
    void *akeep = NULL, *fkeep = NULL;
    double scale[MOST];
    options.ordering = 2;
    spral_ssids_analyse(true, 40, NULL, s->ptr, s->row, NULL, &akeep, &options, &inform);
    CHECK(inform.flag == -9 && !akeep);
    spral_ssids_analyse(true, 40, NULL, s->ptr, s->row, s->val, &akeep, &options, &inform);
    CHECK(inform.flag == 4 && akeep && inform.matrix_rank == 40);
    spral_ssids_factor(false, NULL, NULL, s->val, NULL, akeep, &fkeep, &options, &inform);
    CHECK(inform.flag == 8 && inform.num_neg == 15 && solve_system(s, akeep, fkeep, &options) < 1e-6);
    options.scaling = 3;
    spral_ssids_factor(false, NULL, NULL, s->val, scale, akeep, &fkeep, &options, &inform);
    CHECK(inform.flag == 4 && inform.num_neg == 15 && solve_system(s, akeep, fkeep, &options) < 1e-6);
    double most = 0;
    for (int i = 0; i < 40; ++i) {
        CHECK(scale[i] > 0);
        for (int j = 0; j < 40; ++j) most = fmax(most, fabs(scale[i] * s->a[i][j] * scale[j]));
    }
    CHECK(most < 2 && most > 0.5);
    spral_ssids_free(&akeep, &fkeep);
    options.ordering = 1;
    spral_ssids_analyse(true, 40, NULL, s->ptr, s->row, NULL, &akeep, &options, &inform);
    spral_ssids_factor(false, NULL, NULL, s->val, NULL, akeep, &fkeep, &options, &inform);
    CHECK(inform.flag == -15);
    spral_ssids_free(&akeep, &fkeep);
    free(s);
}

/* Rows without entries, in any order, checked or not: the pattern is singular, which is no error yet. */
static void empty_rows_are_told(void)
{
    system_of *s = new_system(5, 1);
    for (int i = 0; i < 3; ++i) put(s, i, i, i + 1);
    put(s, 3, 0, 1);
    compress(s);
    options_of options = quiet_options(1);
    inform_of inform;
    for (int check = 0; check <= 1; ++check)
        for (int action = 0; action <= 1; ++action) {
            void *akeep = NULL, *fkeep = NULL;
            options.action = action;
            spral_ssids_analyse(check, 5, NULL, s->ptr, s->row, NULL, &akeep, &options, &inform);
            CHECK(inform.flag == 6 && inform.matrix_rank == 4);
            CHECK(inform.matrix_missing_diag == 2 * check);
            spral_ssids_factor(false, s->ptr, s->row, s->val, NULL, akeep, &fkeep, &options, &inform);
            CHECK(inform.flag == (action ? 7 : -5) && inform.matrix_rank == 4);
            spral_ssids_free(&akeep, &fkeep);
        }
    free(s);
}

static void singular_patterns_are_found_by_a_matching(void)
{
    system_of *s = new_system(10, 0); /* 6 constraints on 4 variables */
    for (int i = 0; i < 4; ++i) put(s, i, i, 2 + i);
    for (int i = 0; i < 6; ++i) put(s, 4 + i, i % 4, 1), put(s, 4 + i, (i + 1) % 4, 0.5 * i);
    compress(s);
    options_of options = quiet_options(0);
    inform_of inform;
    void *akeep = NULL, *fkeep = NULL;
    options.ordering = 2;
    spral_ssids_analyse(true, 10, NULL, s->ptr, s->row, s->val, &akeep, &options, &inform);
    CHECK(inform.flag == 6 && akeep && inform.matrix_rank == 8);
    spral_ssids_factor(false, NULL, NULL, s->val, NULL, akeep, &fkeep, &options, &inform);
    CHECK(inform.flag == 7 && inform.matrix_rank == 8 && inform.num_neg == 4);
    options.action = false;
    spral_ssids_analyse(true, 10, NULL, s->ptr, s->row, s->val, &akeep, &options, &inform);
    CHECK(inform.flag == 6 && akeep && inform.matrix_rank == 8); /* other values may do: see factor */
    spral_ssids_factor(false, NULL, NULL, s->val, NULL, akeep, &fkeep, &options, &inform);
    CHECK(inform.flag == -5);
    spral_ssids_free(&akeep, &fkeep);
    free(s);
}

static void scalings_are_honoured_and_returned(void)
{
    system_of *s = saddle_point(40, 15, 0, 17);
    for (int i = 0; i < 40; ++i)
        for (int j = 0; j < 40; ++j) s->a[i][j] *= pow(2, i % 5) * pow(2, j % 5);
    compress(s);
    options_of options = quiet_options(0);
    inform_of inform;
    void *akeep = NULL, *fkeep = NULL;
    double scale[MOST], d[2 * MOST], plain[2 * MOST];
    spral_ssids_analyse(true, 40, NULL, s->ptr, s->row, NULL, &akeep, &options, &inform);
    for (int scaling = -1; scaling <= 5; ++scaling) {
        if (scaling == 3) continue;
        options.scaling = scaling;
        for (int i = 0; i < 40; ++i) scale[i] = -7;
        spral_ssids_factor(false, NULL, NULL, s->val, scaling > 0 ? scale : NULL, akeep, &fkeep, &options,
                           &inform);
        CHECK(inform.flag == 4 && inform.num_neg == 15 && solve_system(s, akeep, fkeep, &options) < 1e-9);
        for (int i = 0; i < 40 && scaling > 0; ++i) CHECK(scale[i] > 0);
        double largest = 0; /* of S A S, which SSIDS' scalings bring to about 1 */
        for (int i = 0; i < 40; ++i)
            for (int j = 0; j < 40; ++j) largest = fmax(largest, fabs(scale[i] * s->a[i][j] * scale[j]));
        CHECK(scaling <= 0 || (largest < 1.01 && largest > 0.25));
    }
    /* a scaling of the caller's: D^-1 shrinks by its square */
    options.scaling = 0;
    spral_ssids_factor(false, NULL, NULL, s->val, NULL, akeep, &fkeep, &options, &inform);
    spral_ssids_enquire_indef(akeep, fkeep, &options, &inform, NULL, plain);
    for (int i = 0; i < 40; ++i) scale[i] = 4;
    spral_ssids_factor(false, NULL, NULL, s->val, scale, akeep, &fkeep, &options, &inform);
    CHECK(inform.flag == 4 && solve_system(s, akeep, fkeep, &options) < 1e-9);
    spral_ssids_enquire_indef(akeep, fkeep, &options, &inform, NULL, d);
    for (int i = 0; i < 80; ++i) CHECK(fabs(16 * d[i] - plain[i]) <= 1e-12 * fabs(plain[i]));
    for (int i = 0; i < 40; ++i) CHECK(scale[i] == 4);
    for (int i = 0; i < 40; ++i) scale[i] = pow(2, -(i % 5));
    spral_ssids_factor(false, NULL, NULL, s->val, scale, akeep, &fkeep, &options, &inform);
    CHECK(inform.flag == 4 && solve_system(s, akeep, fkeep, &options) < 1e-9);
    spral_ssids_free(&akeep, &fkeep);
    free(s);
}

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
        {"options have their defaults and places", options_have_their_defaults_and_places},
        {"a system of five rows is solved, from either base", system_of_five_is_solved_from_either_base},
        {"pointers of 32 bits and regions are taken", pointers_of_32_bits_and_regions_are_taken},
        {"coordinates are taken in either triangle", coordinates_are_taken_in_either_triangle},
        {"faults in the matrix are counted", faults_in_the_matrix_are_counted},
        {"unchecked matrices are not trusted", unchecked_matrices_are_not_trusted},
        {"empty systems are solved", empty_systems_are_solved},
        {"orders of the caller are taken and given back", orders_of_the_caller_are_taken_and_given_back},
        {"the order of a chain stays", order_of_a_chain_stays},
        {"matchings order and scale", matchings_order_and_scale},
        {"empty rows are told", empty_rows_are_told},
        {"singular patterns are found by a matching", singular_patterns_are_found_by_a_matching},
        {"scalings are honoured and returned", scalings_are_honoured_and_returned},
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
