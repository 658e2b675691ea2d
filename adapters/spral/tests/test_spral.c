/* The interface on systems that can be followed by hand: matrices as hosts give them, orders, scalings; what
 * comes after an analysis is in test_factors.c. Compiled as C and as C++. */
#include "calls.h"

#include <stddef.h>

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
        {"scalings are honoured and returned", scalings_are_honoured_and_returned}};
    return run_tests(tests, (int)(sizeof tests / sizeof tests[0]));
}
