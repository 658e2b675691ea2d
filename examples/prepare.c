/*
 * Preparation on its own: scale, match and order a matrix before something else factors it.
 *
 * The KKT matrix [H A'; A 0] of a small quadratic program with badly scaled weights has zeros on its
 * diagonal: no order of its rows alone gives good pivots there. The matching finds large entries off
 * the diagonal, scales them to 1, and the order keeps each such pair together as one 2x2 pivot.
 */
#include <saddle/saddle.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { VARIABLES = 60, CONSTRAINTS = 20, N = VARIABLES + CONSTRAINTS };

/* The lower triangle by columns: weights on the diagonal, each variable in one or two constraints. */
static saddle_matrix make_kkt(int32_t *colptr, int32_t *rowind, double *values)
{
    int32_t k = 0;
    for (int32_t j = 0; j < N; ++j) {
        colptr[j] = k;
        if (j >= VARIABLES) continue;
        rowind[k] = j;
        values[k++] = pow(10.0, j % 9 - 6);
        const int32_t first = VARIABLES + j % CONSTRAINTS, second = VARIABLES + (j + 7) % CONSTRAINTS;
        rowind[k] = first < second ? first : second;
        values[k++] = 3.0 + j % 4;
        if (j % 2) continue;
        rowind[k] = first < second ? second : first;
        values[k++] = -1.0;
    }
    colptr[N] = k;
    return saddle_symmetric(N, colptr, rowind, values);
}

static void print_choice(const char *name, int k)
{
    char word[32];
    printf("  %-9s%s\n", name, saddle_option_word(name, k, word, sizeof word));
}

/* |(s_i a_ij) s_j| is at most 1, and 1 where i and j are matched. */
static bool scaling_is_true(const saddle_matrix *A, const saddle_preparation *p)
{
    const int32_t *colptr = A->pointers;
    const double *values = A->values;
    for (int32_t j = 0; j < N; ++j) {
        for (int32_t k = colptr[j]; k < colptr[j + 1]; ++k) {
            const int32_t i = A->indices[k];
            const double size = fabs(p->row_scale[i] * values[k] * p->col_scale[j]);
            const bool matched = p->matching[j] == i || p->matching[i] == j;
            if (size > 1 + 1e-10 || (matched && size < 1 - 1e-10)) return false;
        }
    }
    return true;
}

/* Every row is at one position, and pairs at two that are neighbours. */
static bool order_is_true(const saddle_preparation *p)
{
    int32_t at[N];
    memset(at, -1, sizeof at);
    for (int32_t k = 0; k < N; ++k) {
        if (p->permutation[k] < 0 || p->permutation[k] >= N || at[p->permutation[k]] >= 0) return false;
        at[p->permutation[k]] = k;
    }
    for (int32_t i = 0; p->partner && i < N; ++i) {
        const int32_t other = p->partner[i];
        if (other >= 0 && at[i] - at[other] != 1 && at[other] - at[i] != 1) return false;
    }
    return true;
}

int main(void)
{
    int32_t colptr[N + 1], rowind[3 * VARIABLES];
    double values[3 * VARIABLES];
    char message[SADDLE_MESSAGE_SIZE] = "";
    const saddle_matrix A = make_kkt(colptr, rowind, values);

    saddle_options options = saddle_options_default();
    options.blocking = SADDLE_BLOCKING_CLUSTERS;
    options.block_size = 8;
    saddle_preparation p;
    if (saddle_prepare(&A, &options, NULL, NULL, &p, message) != SADDLE_OK) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }
    printf("n = %lld, %lld entries; chosen:\n", (long long)p.n, (long long)p.nnz);
    print_choice("scaling", p.scaling);
    print_choice("pairs", p.pairs);
    print_choice("order", p.order);
    print_choice("blocking", p.blocking);
    printf("structural rank %lld, %lld pairs, %lld blocks in %lld level sets\n", (long long)p.structural_rank,
           (long long)p.two_by_two, (long long)p.blocks, (long long)p.levels);
    printf("a complete factor would have %lld entries, and take %.0f operations\n", (long long)p.factor_nnz,
           p.factor_flops);

    const bool scaled = scaling_is_true(&A, &p), ordered = order_is_true(&p);
    printf("matched entries are 1 and none is larger: %s\n", scaled ? "yes" : "NO");
    printf("the order is a permutation and keeps pairs together: %s\n", ordered ? "yes" : "NO");
    saddle_preparation_free(&p, NULL);
    return scaled && ordered ? 0 : 1;
}
