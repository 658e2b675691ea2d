/* Checks of the sparse kernels against reference, one check_NAME a row of kernels.def. */
#pragma once

#include "conformance.h"

/* |A| |x| and the number of terms of each row, from the matrix itself. */
static void row_sizes(const sd_csr *A, const double *x, double *size, double *terms)
{
    for (int32_t i = 0; i < A->n; ++i) {
        for (int64_t k = A->ptr[i]; k < A->ptr[i + 1]; ++k) {
            const int32_t j = A->ind[k];
            size[i] += fabs(A->val[k] * x[j]);
            terms[i] += 1;
            if (!A->half || j == i) continue;
            size[j] += fabs(A->val[k] * x[i]);
            terms[j] += 1;
        }
    }
}

typedef void product(sd_engine *e, const sd_sparse *A, const sd_vector *x, const sd_vector *b, sd_vector *y);

static void run_product(setting *s, const problem *p, product *run, bool extended, const char *what)
{
    if (p->half && !s->e.backend->host_memory) return; /* operators expand them there */
    const int32_t n = p->n;
    placed mine = place(&s->e, &p->csr, s->precision), theirs = place(&s->reference, &p->csr, s->precision);
    pair x = put_pair(s, n, data[0]), b = put_pair(s, n, data[1]), y = put_pair(s, n, data[2]);
    double *bound = alloc_bound(n), *terms = alloc_bound(n), *r = alloc_bound(n);
    char name[128];
    snprintf(name, sizeof name, "%s (%s)", what, p->name);
    if (s->compare) row_sizes(&p->csr, data[0], bound, terms);
    run(&s->e, &mine.sparse, &x.mine, &b.mine, &y.mine);
    run(&s->reference, &theirs.sparse, &x.theirs, &b.theirs, &y.theirs);
    sd_vector_get(&s->reference, &y.theirs, r);
    for (int32_t i = 0; i < n && s->compare; ++i) {
        const double size = bound[i] + fabs(data[1][i]);
        if (extended) /* rounded once, after sums in twice the precision of double */
            bound[i] = 2 * fabs(r[i]) + 4 * (terms[i] + 2) * (terms[i] + 2) * 0x1p-106 / unit(s) * size;
        else
            bound[i] = 2 * (terms[i] + 2) * size;
    }
    compare_vectors(s, &y, bound, name);
    free(bound);
    free(terms);
    free(r);
    free_pair(s, &x);
    free_pair(s, &b);
    free_pair(s, &y);
    unplace(&s->e, &mine);
    unplace(&s->reference, &theirs);
}

static void run_spmv(sd_engine *e, const sd_sparse *A, const sd_vector *x, const sd_vector *b, sd_vector *y)
{
    (void)b;
    sd_spmv(e, A, x, y);
}

static void run_spmv_abs(sd_engine *e, const sd_sparse *A, const sd_vector *x, const sd_vector *b,
                         sd_vector *y)
{
    (void)b;
    sd_spmv_abs(e, A, x, y);
}

static void check_spmv(setting *s)
{
    for (int k = 0; k < PROBLEMS; ++k) run_product(s, &problems[k], run_spmv, false, "spmv");
}

static void check_spmv_abs(setting *s)
{
    for (int k = 0; k < PROBLEMS; ++k) run_product(s, &problems[k], run_spmv_abs, false, "spmv_abs");
}

static void check_residual_dd(setting *s)
{
    for (int k = 0; k < PROBLEMS; ++k) run_product(s, &problems[k], sd_residual_dd, true, "residual_dd");
}
