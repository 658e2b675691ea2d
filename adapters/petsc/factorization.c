/* The factorizations `saddle`: Cholesky of seqaij and seqsbaij (LDL' of the upper triangle, indefinite
 * matrices included, as PETSc means it) and LU of seqaij (the library's path for general matrices). */
#include "door.h"

static PetscErrorCode conclude(Mat F, Mat A)
{
    const door *d = F->data;
    PetscFunctionBegin;
    F->factorerrortype = door_factor_error(d);
    PetscCheck(!d->status || !A->erroriffailure, PETSC_COMM_SELF, PETSC_ERR_MAT_CH_ZRPVT, "saddle: %s",
               d->message);
    PetscFunctionReturn(0);
}

/* The upper triangle is all of it for Cholesky. */
static PetscBool takes_triangle(Mat F)
{
    return (PetscBool)(F->factortype == MAT_FACTOR_CHOLESKY);
}

static PetscErrorCode factor_numeric(Mat F, Mat A, const MatFactorInfo *unused)
{
    door *d = F->data;
    PetscFunctionBegin;
    (void)unused;
    PetscCall(door_factor(d, A, takes_triangle(F)));
    F->assembled = PETSC_TRUE;
    F->preallocated = PETSC_TRUE;
    PetscCall(conclude(F, A));
    PetscFunctionReturn(0);
}

static PetscErrorCode factor_symbolic(Mat F, Mat A)
{
    door *d = F->data;
    PetscFunctionBegin;
    PetscOptionsBegin(PetscObjectComm((PetscObject)F), ((PetscObject)F)->prefix, "Saddle options", "Mat");
    PetscCall(door_read_options(d, "mat", PetscOptionsObject));
    PetscOptionsEnd();
    PetscCall(door_analyse(d, A, takes_triangle(F)));
    PetscCall(conclude(F, A));
    PetscFunctionReturn(0);
}

static PetscErrorCode cholesky_symbolic(Mat F, Mat A, IS order, const MatFactorInfo *info)
{
    PetscFunctionBegin;
    (void)order;
    (void)info;
    F->ops->choleskyfactornumeric = factor_numeric;
    PetscCall(factor_symbolic(F, A));
    PetscFunctionReturn(0);
}

static PetscErrorCode lu_symbolic(Mat F, Mat A, IS rows, IS columns, const MatFactorInfo *info)
{
    PetscFunctionBegin;
    (void)rows;
    (void)columns;
    (void)info;
    F->ops->lufactornumeric = factor_numeric;
    PetscCall(factor_symbolic(F, A));
    PetscFunctionReturn(0);
}

/* A failed factorization is not applied: MatSolve sees to it. */
static PetscErrorCode solve_either(Mat F, PetscBool transposed, Vec b, Vec x)
{
    door *d = F->data;
    PetscFunctionBegin;
    PetscCall(door_apply_vector(d, transposed, b, x));
    PetscCheck(!d->applied, PETSC_COMM_SELF, PETSC_ERR_LIB, "saddle: %s", d->message);
    PetscFunctionReturn(0);
}

static PetscErrorCode solve(Mat F, Vec b, Vec x)
{
    PetscFunctionBegin;
    PetscCall(solve_either(F, PETSC_FALSE, b, x));
    PetscFunctionReturn(0);
}

static PetscErrorCode solve_transposed(Mat F, Vec b, Vec x)
{
    PetscFunctionBegin;
    PetscCall(solve_either(F, PETSC_TRUE, b, x));
    PetscFunctionReturn(0);
}

static PetscErrorCode solve_columns(Mat F, Mat B, Mat X)
{
    door *d = F->data;
    PetscBool dense;
    PetscFunctionBegin;
    PetscCall(PetscObjectTypeCompareAny((PetscObject)B, &dense, MATSEQDENSE, MATMPIDENSE, ""));
    PetscCheck(dense, PETSC_COMM_SELF, PETSC_ERR_SUP, "saddle: right-hand sides are a dense matrix, not %s",
               ((PetscObject)B)->type_name);
    PetscCall(door_apply_matrix(d, PETSC_FALSE, B, X));
    PetscCheck(!d->applied, PETSC_COMM_SELF, PETSC_ERR_LIB, "saddle: %s", d->message);
    PetscFunctionReturn(0);
}

/* Only a count that is certified to be that of A: a number in doubt would be taken for true. */
static PetscErrorCode get_inertia(Mat F, PetscInt *negative, PetscInt *zero, PetscInt *positive)
{
    door *d = F->data;
    saddle_info info;
    char doubt[64] = "";
    PetscFunctionBegin;
    PetscCheck(d->solver && d->factorizations, PETSC_COMM_SELF, PETSC_ERR_ORDER,
               "saddle: there are no factors");
    PetscCheck(!d->regularised, PETSC_COMM_SELF, PETSC_ERR_CONV_FAILED,
               "saddle: the inertia is not certain: the matrix is singular to rounding, and was regularised");
    PetscCall(door_certify(d, &info));
    saddle_info_get(&info, "inertia_doubt", doubt, sizeof doubt);
    PetscCheck(info.inertia_certain, PETSC_COMM_SELF, PETSC_ERR_CONV_FAILED,
               "saddle: the inertia is not certain: %s (between %lld and %lld negative eigenvalues)",
               info.inertia_negative < 0 ? "this factorization does not count it" : doubt,
               (long long)info.negative_least, (long long)info.negative_most);
    if (negative) *negative = (PetscInt)info.inertia_negative;
    if (zero) *zero = (PetscInt)info.inertia_zero;
    if (positive) *positive = (PetscInt)info.inertia_positive;
    PetscFunctionReturn(0);
}

/* Before there are factors, what is planned. */
static PetscErrorCode get_info(Mat F, MatInfoType type, MatInfo *to)
{
    const door *d = F->data;
    const saddle_info *i = &d->info;
    PetscFunctionBegin;
    (void)type;
    PetscCall(PetscMemzero(to, sizeof *to));
    to->block_size = 1;
    const double entries = i->factor_nnz >= 0 ? (double)i->factor_nnz : PetscMax(0, (double)i->planned_nnz);
    to->nz_used = to->nz_allocated = entries;
    to->memory = i->factor_bytes >= 0 ? (double)i->factor_bytes : PetscMax(0, (double)i->planned_bytes);
    to->fill_ratio_needed = i->nnz > 0 ? entries / (double)i->nnz : 0;
    PetscFunctionReturn(0);
}

static PetscErrorCode view(Mat F, PetscViewer viewer)
{
    PetscFunctionBegin;
    PetscCall(door_describe(F->data, viewer));
    PetscFunctionReturn(0);
}

static PetscErrorCode destroy(Mat F)
{
    PetscFunctionBegin;
    door_forget(F->data);
    PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", NULL));
    PetscCall(PetscFree(F->data));
    PetscFunctionReturn(0);
}

static PetscErrorCode get_solver_type(Mat F, MatSolverType *type)
{
    PetscFunctionBegin;
    (void)F;
    *type = "saddle";
    PetscFunctionReturn(0);
}

static PetscErrorCode get_factor(Mat A, MatFactorType type, Mat *factor)
{
    Mat F;
    door *d = NULL;
    PetscInt n;
    PetscFunctionBegin;
    PetscCall(MatGetSize(A, &n, NULL));
    PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &F));
    PetscCall(MatSetSizes(F, n, n, n, n));
    PetscCall(PetscStrallocpy("saddle", &((PetscObject)F)->type_name));
    PetscCall(MatSetUp(F));
    PetscCall(PetscNew(&d));
    door_init(d);
    F->data = d;
    F->factortype = type;
    F->canuseordering = PETSC_FALSE;
    F->ops->choleskyfactorsymbolic = type == MAT_FACTOR_CHOLESKY ? cholesky_symbolic : NULL;
    F->ops->lufactorsymbolic = type == MAT_FACTOR_LU ? lu_symbolic : NULL;
    F->ops->solve = solve;
    F->ops->solvetranspose = solve_transposed;
    F->ops->matsolve = solve_columns;
    F->ops->getinertia = get_inertia;
    F->ops->getinfo = get_info;
    F->ops->view = view;
    F->ops->destroy = destroy;
    PetscCall(PetscFree(F->solvertype));
    PetscCall(PetscStrallocpy("saddle", &F->solvertype));
    PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", get_solver_type));
    *factor = F;
    PetscFunctionReturn(0);
}

PetscErrorCode door_register_factorizations(void)
{
    PetscFunctionBegin;
    /* First PETSc's own: the first call of MatSolverTypeRegister (3.18) looks at the list before it makes
     * that list, and would lose all of them. */
    PetscCall(MatInitializePackage());
    PetscCall(MatSolverTypeRegister("saddle", MATSEQAIJ, MAT_FACTOR_CHOLESKY, get_factor));
    PetscCall(MatSolverTypeRegister("saddle", MATSEQSBAIJ, MAT_FACTOR_CHOLESKY, get_factor));
    PetscCall(MatSolverTypeRegister("saddle", MATSEQAIJ, MAT_FACTOR_LU, get_factor));
    PetscFunctionReturn(0);
}
