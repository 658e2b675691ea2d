/* The solver behind a preconditioner or a factorization: setup on old plans where the pattern is the same,
 * application, regularisation, description.
 *
 * A singular matrix has zero pivots in D of S A S = P' L D L' P. Regularised, each of them becomes 1: as
 * large as the largest entries of the scaled matrix, so that M = A + a matrix of that rank is regular and
 * neither M nor its inverse is large; M is A on all the rest. (A pivot of 1e-8 instead would make M^-1 huge
 * there.) Of a matrix of zeros M is the identity. */
#include "door.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void door_forget(door *d)
{
    saddle_destroy(&d->solver);
    door_copy_free(&d->copy);
    d->analyses = d->factorizations = d->regularised = 0;
    d->identity = PETSC_FALSE;
    d->status = d->applied = SADDLE_OK;
    d->message[0] = '\0';
    d->info = saddle_info_default();
}

static void keep_message(door *d)
{
    if (d->status && d->solver && !d->message[0])
        snprintf(d->message, sizeof d->message, "%s", saddle_message(d->solver));
}

/* A solver, if there is none, and a clean slate. */
static void begin(door *d)
{
    d->message[0] = '\0';
    d->regularised = 0;
    d->identity = PETSC_FALSE;
    d->applied = SADDLE_OK;
    d->info = saddle_info_default();
    d->status = d->solver ? SADDLE_OK : saddle_create(&d->solver, &d->options, NULL, d->message);
}

PetscErrorCode door_analyse(door *d, Mat A, PetscBool triangle)
{
    door_view view;
    PetscFunctionBegin;
    begin(d);
    if (d->status) PetscFunctionReturn(0);
    PetscCall(door_view_open(d, A, triangle, &view));
    d->status = saddle_analyse(d->solver, &view.A);
    d->analyses++;
    d->copy.seen = PETSC_FALSE;
    PetscCall(door_view_close(&view));
    if (!d->status) d->status = saddle_query(d->solver, &d->info);
    keep_message(d);
    PetscFunctionReturn(0);
}

/* Replaces the zero pivots of D by 1. */
static PetscErrorCode regularise(door *d, PetscInt n)
{
    double *pivot = NULL;
    PetscFunctionBegin;
    PetscCall(PetscMalloc1(2 * (size_t)n, &pivot));
    d->status = saddle_get_pivots(d->solver, NULL, pivot);
    for (PetscInt k = 0; k < n && !d->status; ++k) {
        const double before = k > 0 ? pivot[2 * k - 1] : 0;
        if (pivot[2 * k] != 0 || pivot[2 * k + 1] != 0 || before != 0) continue;
        pivot[2 * k] = 1;
    }
    if (!d->status) d->status = saddle_set_d(d->solver, pivot);
    PetscCall(PetscFree(pivot));
    PetscFunctionReturn(0);
}

/* What becomes of a matrix with `zeros` zero pivots. */
static PetscErrorCode judge(door *d, Mat A, PetscInt zeros)
{
    MatNullSpace null_space = NULL;
    PetscInt n;
    PetscFunctionBegin;
    PetscCall(MatGetSize(A, &n, NULL));
    PetscCall(MatGetNullSpace(A, &null_space));
    if (d->on_singular == DOOR_SINGULAR_REGULARISE || (d->on_singular == DOOR_SINGULAR_AUTO && null_space)) {
        d->identity = (PetscBool)(d->options.method != SADDLE_METHOD_DIRECT);
        d->regularised = zeros;
        if (!d->identity) PetscCall(regularise(d, n));
        PetscCall(PetscInfo(A, "saddle: %" PetscInt_FMT " zero pivots were replaced\n", zeros));
        PetscFunctionReturn(0);
    }
    d->status = SADDLE_SINGULAR;
    snprintf(d->message, sizeof d->message,
             "the matrix is singular: %lld of its %lld pivots are zero; the option on_singular regularise "
             "replaces them",
             (long long)zeros, (long long)n);
    PetscFunctionReturn(0);
}

/* The direct solver finds every zero pivot, and other methods perturb what they meet; a matrix of zeros they
 * would make huge. */
static bool is_zero(const door *d, const saddle_matrix *A)
{
    const double *value = A->values;
    bool zero = d->options.method != SADDLE_METHOD_DIRECT && A->rows > 0;
    for (int64_t k = 0; k < A->entries && zero; ++k) zero = value[k] == 0;
    return zero;
}

/* Factors a view. A copy whose pattern the solver has seen needs no look at it; any other is compared. */
static saddle_status factor_view(door *d, const door_view *view)
{
    saddle_status status;
    if (view->seen) {
        status = saddle_factor_values(d->solver, SADDLE_DOUBLE, view->A.values);
    } else {
        if (!d->analyses) d->analyses = 1;
        status = saddle_factor(d->solver, &view->A);
        if (status == SADDLE_PATTERN_CHANGED) {
            d->analyses++;
            status = saddle_analyse(d->solver, &view->A);
            if (!status) status = saddle_factor(d->solver, &view->A);
        }
    }
    d->factorizations++;
    d->copy.seen = (PetscBool)(!status && view->A.values == d->copy.values);
    return status;
}

PetscErrorCode door_factor(door *d, Mat A, PetscBool triangle)
{
    door_view view;
    PetscFunctionBegin;
    begin(d);
    if (d->status) PetscFunctionReturn(0);
    PetscCall(door_view_open(d, A, triangle, &view));
    PetscInt zeros = is_zero(d, &view.A) ? view.rows : 0;
    if (!zeros) d->status = factor_view(d, &view);
    if (!zeros && !d->status) d->status = saddle_query(d->solver, &d->info);
    if (!d->status && d->info.inertia_zero > 0) zeros = (PetscInt)d->info.inertia_zero;
    PetscCall(door_view_close(&view));
    if (zeros > 0) PetscCall(judge(d, A, zeros));
    keep_message(d);
    if (d->status) PetscCall(PetscInfo(A, "saddle: %s\n", d->message));
    PetscFunctionReturn(0);
}

/* x = M^-1 b for columns of n. With an iteration inside, what it reached is x: the outer iteration measures
 * it. */
static saddle_status apply_once(door *d, PetscBool transposed, PetscInt n, PetscInt columns,
                                const PetscScalar *b, PetscInt ldb, PetscScalar *x, PetscInt ldx)
{
    if (d->identity) {
        for (PetscInt k = 0; k < columns; ++k)
            for (PetscInt i = 0; i < n; ++i)
                x[(size_t)k * (size_t)ldx + (size_t)i] = b[(size_t)k * (size_t)ldb + (size_t)i];
        return SADDLE_OK;
    }
    if (d->options.krylov == SADDLE_KRYLOV_NONE)
        return saddle_apply(d->solver, transposed, columns, b, ldb, x, ldx, d->message);
    if (transposed && !d->info.symmetric) {
        snprintf(d->message, sizeof d->message, "a transposed system is solved with krylov none only");
        return SADDLE_NOT_SUPPORTED;
    }
    saddle_info info = saddle_info_default();
    const saddle_status status = saddle_solve(d->solver, columns, b, ldb, x, ldx, &info);
    if (status == SADDLE_NOT_CONVERGED || status == SADDLE_SINGULAR) return SADDLE_OK;
    if (status) snprintf(d->message, sizeof d->message, "%s", info.message);
    return status;
}

/* The same, where what is no number in b, or too large in x, is none in x. PETSc's iterations look for that
 * and stop; the next b may be a better one. */
static saddle_status apply(door *d, PetscBool transposed, PetscInt n, PetscInt columns, const PetscScalar *b,
                           PetscInt ldb, PetscScalar *x, PetscInt ldx)
{
    saddle_status status = apply_once(d, transposed, n, columns, b, ldb, x, ldx);
    if (status != SADDLE_BAD_VALUE && status != SADDLE_NOT_CONVERGED) return status;
    if (columns > 1) {
        status = SADDLE_OK;
        for (PetscInt k = 0; k < columns && !status; ++k)
            status = apply(d, transposed, n, 1, b + (size_t)k * (size_t)ldb, ldb, x + (size_t)k * (size_t)ldx,
                           ldx);
        return status;
    }
    for (PetscInt i = 0; i < n; ++i) x[i] = status == SADDLE_BAD_VALUE ? NAN : INFINITY;
    return SADDLE_OK;
}

PetscErrorCode door_apply_vector(door *d, PetscBool transposed, Vec b, Vec x)
{
    const PetscScalar *from = NULL;
    PetscScalar *to = NULL;
    PetscInt n;
    PetscFunctionBegin;
    PetscCall(VecGetLocalSize(x, &n));
    PetscCall(VecGetArrayRead(b, &from));
    PetscCall(VecGetArrayWrite(x, &to));
    d->applied = apply(d, transposed, n, 1, from, n, to, n);
    PetscCall(VecRestoreArrayWrite(x, &to));
    PetscCall(VecRestoreArrayRead(b, &from));
    PetscFunctionReturn(0);
}

PetscErrorCode door_apply_matrix(door *d, PetscBool transposed, Mat B, Mat X)
{
    const PetscScalar *from = NULL;
    PetscScalar *to = NULL;
    PetscInt n, columns, ldb, ldx;
    PetscFunctionBegin;
    PetscCall(MatGetSize(B, &n, &columns));
    PetscCall(MatDenseGetLDA(B, &ldb));
    PetscCall(MatDenseGetLDA(X, &ldx));
    PetscCall(MatDenseGetArrayRead(B, &from));
    PetscCall(MatDenseGetArrayWrite(X, &to));
    d->applied = apply(d, transposed, n, columns, from, ldb, to, ldx);
    PetscCall(MatDenseRestoreArrayWrite(X, &to));
    PetscCall(MatDenseRestoreArrayRead(B, &from));
    PetscFunctionReturn(0);
}

PetscErrorCode door_certify(door *d, saddle_info *info)
{
    saddle_options asked = d->options;
    PetscFunctionBegin;
    *info = saddle_info_default();
    asked.certify = SADDLE_ON;
    saddle_status status = saddle_set_options(d->solver, &asked);
    if (!status) status = saddle_query(d->solver, info);
    if (status == SADDLE_OK) status = saddle_set_options(d->solver, &d->options);
    PetscCheck(!status, PETSC_COMM_SELF, PETSC_ERR_LIB, "saddle: %s", saddle_message(d->solver));
    PetscFunctionReturn(0);
}

MatFactorError door_factor_error(const door *d)
{
    switch (d->status ? d->status : d->applied) {
    case SADDLE_OK: return MAT_FACTOR_NOERROR;
    case SADDLE_SINGULAR:
    case SADDLE_NOT_DEFINITE: return MAT_FACTOR_NUMERIC_ZEROPIVOT;
    case SADDLE_OUT_OF_MEMORY:
    case SADDLE_MEMORY_LIMIT: return MAT_FACTOR_OUTMEMORY;
    default: return MAT_FACTOR_OTHER;
    }
}

/* An item of info as text. */
static const char *item(const saddle_info *info, const char *name, char *text, size_t size)
{
    if (saddle_info_get(info, name, text, size)) snprintf(text, size, "unknown");
    return text;
}

static PetscErrorCode describe_factors(const door *d, PetscViewer viewer)
{
    const saddle_info *i = &d->info;
    char word[64];
    PetscFunctionBegin;
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %s matrix, rows %lld, entries %lld\n",
                                     i->symmetric ? "symmetric" : "general", (long long)i->n,
                                     (long long)i->nnz));
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  factor entries %lld, fill ratio %.3g, bytes %lld\n", (long long)i->factor_nnz,
        (double)i->factor_nnz / fmax(1, (double)i->nnz), (long long)i->factor_bytes));
    if (i->inertia_negative >= 0)
        PetscCall(PetscViewerASCIIPrintf(viewer, "  pivots: %lld positive, %lld negative, %lld zero\n",
                                         (long long)i->inertia_positive, (long long)i->inertia_negative,
                                         (long long)i->inertia_zero));
    if (i->perturbed > 0)
        PetscCall(PetscViewerASCIIPrintf(viewer, "  perturbed pivots: %lld\n", (long long)i->perturbed));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  seconds: prepare %.3g, plan %.3g, factor %.3g; threads %s\n",
                                     i->time_prepare, i->time_plan, i->time_factor,
                                     item(i, "threads", word, sizeof word)));
    PetscFunctionReturn(0);
}

PetscErrorCode door_describe(door *d, PetscViewer viewer)
{
    char method[64], krylov[64];
    PetscBool ascii;
    PetscFunctionBegin;
    PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
    if (!ascii) PetscFunctionReturn(0);
    saddle_options_get(&d->options, "method", method, sizeof method);
    saddle_options_get(&d->options, "krylov", krylov, sizeof krylov);
    PetscCall(PetscViewerASCIIPrintf(viewer, "  Saddle %s (%s): method %s%s, iteration %s\n",
                                     saddle_version(), saddle_commit(), method,
                                     d->options.absolute ? ", absolute values" : "", krylov));
    if (d->status || d->applied) PetscCall(PetscViewerASCIIPrintf(viewer, "  failed: %s\n", d->message));
    if (d->info.factor_nnz >= 0) PetscCall(describe_factors(d, viewer));
    if (d->regularised)
        PetscCall(PetscViewerASCIIPrintf(
            viewer, "  regularised: %" PetscInt_FMT " zero pivots were replaced\n", d->regularised));
    PetscCall(PetscViewerASCIIPrintf(
        viewer, "  analyses %" PetscInt_FMT ", factorizations %" PetscInt_FMT ", new plans %lld\n",
        d->analyses, d->factorizations, (long long)d->info.replans));
    PetscFunctionReturn(0);
}
