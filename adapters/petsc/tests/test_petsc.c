/* The door into PETSc, called from a program on one rank: what it does with each kind of matrix, with new
 * values and patterns, with failures, with wrong options; PETSc is the real one. */
#include "saddle_petsc.h"

#include <petsc/private/petscimpl.h> /* the state of an object */
#include <petscksp.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- PETSc's errors as texts ---- */

static char error_text[2048];

static PetscErrorCode keep_error(MPI_Comm comm, int line, const char *function, const char *file,
                                 PetscErrorCode code, PetscErrorType type, const char *text, void *user)
{
    (void)comm, (void)line, (void)function, (void)file, (void)user;
    if (type == PETSC_ERROR_INITIAL) snprintf(error_text, sizeof error_text, "%s", text ? text : "");
    return code;
}

/* A call that has to succeed. */
#define OK(call)                                                                                             \
    do {                                                                                                     \
        error_text[0] = '\0';                                                                                \
        if (call) fail_msg("%s: %s", #call, error_text);                                                     \
    } while (0)

/* A call that has to fail with a text. */
#define FAILS(call, text)                                                                                    \
    do {                                                                                                     \
        error_text[0] = '\0';                                                                                \
        assert_int_not_equal(call, 0);                                                                       \
        if (!strstr(error_text, text)) fail_msg("\"%s\" is not in \"%s\"", text, error_text);                \
    } while (0)

/* ---- matrices ---- */

enum { M = 8, N = 2 * M }; /* M variables and constraints */

/* [H I; I 0] with H tridiagonal: M positive and M negative eigenvalues. `lower` is added to entries below the
 * diagonal, scale multiplies H. */
static PetscScalar kkt_entry(PetscInt i, PetscInt j, double scale, double lower)
{
    const double off = i > j ? lower : 0;
    if (i < M && j < M) return i == j ? 3 * scale : abs(i - j) == 1 ? -scale + off : 0;
    if (i >= M && j >= M) return 0;
    return abs(i - j) == M ? 1 + off : 0;
}

static Mat kkt(MatType type, PetscInt bs, double scale, double lower)
{
    Mat A;
    OK(MatCreate(PETSC_COMM_SELF, &A));
    OK(MatSetSizes(A, N, N, N, N));
    OK(MatSetBlockSize(A, bs));
    OK(MatSetType(A, type));
    OK(MatSetUp(A));
    for (PetscInt i = 0; i < N; ++i)
        for (PetscInt j = strcmp(type, MATSEQSBAIJ) ? 0 : i; j < N; ++j) {
            const PetscScalar value = kkt_entry(i, j, scale, lower);
            if (value != 0) OK(MatSetValue(A, i, j, value, INSERT_VALUES));
        }
    OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    return A;
}

/* A diagonal matrix, zeros stored. */
static Mat diagonal(const double *d, PetscInt n)
{
    Mat A;
    OK(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 1, NULL, &A));
    for (PetscInt i = 0; i < n; ++i) OK(MatSetValue(A, i, i, d[i], INSERT_VALUES));
    OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    return A;
}

/* A preconditioner with no solver around it. */
static PC pc_of(Mat A)
{
    PC pc;
    OK(PCCreate(PETSC_COMM_SELF, &pc));
    OK(PCSetType(pc, "saddle"));
    OK(PCSetOperators(pc, A, A));
    return pc;
}

static PCFailedReason reason_of(PC pc)
{
    PCFailedReason reason;
    OK(PCGetFailedReason(pc, &reason));
    return reason;
}

/* |b - A x| / |b| of x = M^-1 b; `transposed`: of A'. */
static double residual(PC pc, Mat A, PetscBool transposed)
{
    Vec b, x, r;
    PetscReal norm, of_b;
    OK(MatCreateVecs(A, &x, &b));
    OK(VecDuplicate(b, &r));
    for (PetscInt i = 0; i < N; ++i) OK(VecSetValue(b, i, 1 + (double)(i % 5), INSERT_VALUES));
    OK(transposed ? PCApplyTranspose(pc, b, x) : PCApply(pc, b, x));
    OK(transposed ? MatMultTranspose(A, x, r) : MatMult(A, x, r));
    OK(VecAYPX(r, -1, b));
    OK(VecNorm(r, NORM_2, &norm));
    OK(VecNorm(b, NORM_2, &of_b));
    OK(VecDestroy(&b));
    OK(VecDestroy(&x));
    OK(VecDestroy(&r));
    return norm / of_b;
}

/* What a view prints. */
static const char *view_of(PetscObject object)
{
    static char text[4096];
    char path[PETSC_MAX_PATH_LEN];
    PetscViewer viewer;
    OK(PetscGetTmp(PETSC_COMM_SELF, path, sizeof path));
    const size_t length = strlen(path);
    snprintf(path + length, sizeof path - length, "/saddle-petsc-XXXXXX");
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "r");
    assert_non_null(file);
    OK(PetscViewerASCIIOpen(PETSC_COMM_SELF, path, &viewer));
    OK(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO)); /* of a factored matrix there is no other */
    OK(PetscObjectView(object, viewer));
    OK(PetscViewerDestroy(&viewer));
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    remove(path);
    return text;
}

#define assert_shows(object, text)                                                                           \
    do {                                                                                                     \
        const char *shown = view_of((PetscObject)(object));                                                  \
        if (!strstr(shown, text)) fail_msg("\"%s\" is not in:\n%s", text, shown);                            \
    } while (0)

static saddle_info info_of(PC pc)
{
    const saddle_solver *solver = NULL;
    saddle_info info = saddle_info_default();
    OK(PCSaddleGetSolver(pc, &solver));
    assert_non_null(solver);
    assert_int_equal(saddle_query(solver, &info), SADDLE_OK);
    return info;
}

/* ---- kinds of matrices ---- */

static void each_kind_of_matrix_is_solved(void **state)
{
    static const struct {
        MatType type;
        PetscInt bs;
    } kinds[] = {{MATSEQAIJ, 1},   {MATSEQSBAIJ, 1}, {MATSEQSBAIJ, 2},
                 {MATSEQSBAIJ, 4}, {MATSEQBAIJ, 2},  {MATSEQDENSE, 1}};
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
        Mat A = kkt(kinds[k].type, kinds[k].bs, 1, 0);
        PetscObjectState before, after;
        PC pc = pc_of(A);
        OK(PetscObjectStateGet((PetscObject)A, &before));
        OK(PCSetUp(pc));
        OK(PetscObjectStateGet((PetscObject)A, &after));
        assert_int_equal(before, after); /* or every setup would be followed by another */
        assert_true(residual(pc, A, PETSC_FALSE) < 1e-13);
        assert_true(residual(pc, A, PETSC_TRUE) < 1e-13);
        const saddle_info info = info_of(pc);
        assert_true(info.symmetric);
        assert_int_equal(info.inertia_negative, M);
        OK(PCDestroy(&pc));
        OK(MatDestroy(&A));
    }
}

static void a_matrix_called_symmetric_need_not_be_so_to_the_last_bit(void **state)
{
    (void)state;
    Mat A = kkt(MATSEQAIJ, 1, 1, 1e-15);
    PC pc = pc_of(A);
    OK(PCSetUp(pc));
    assert_false(info_of(pc).symmetric);
    OK(PCDestroy(&pc));

    pc = pc_of(A);
    OK(PCSaddleSetOption(pc, "symmetric", "yes"));
    OK(PCSetUp(pc));
    assert_true(info_of(pc).symmetric);
    OK(PCDestroy(&pc));

    OK(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
    pc = pc_of(A);
    OK(PCSetUp(pc));
    assert_true(info_of(pc).symmetric);
    assert_true(residual(pc, A, PETSC_FALSE) < 1e-13);
    OK(PCDestroy(&pc));
    OK(MatDestroy(&A));
}

static void a_general_matrix_is_solved_and_transposed(void **state)
{
    (void)state;
    Mat A = kkt(MATSEQAIJ, 1, 1, 0.5), F;
    PC pc = pc_of(A);
    OK(PCSetUp(pc));
    assert_false(info_of(pc).symmetric);
    assert_true(residual(pc, A, PETSC_FALSE) < 1e-12);
    assert_true(residual(pc, A, PETSC_TRUE) < 1e-12);
    OK(PCDestroy(&pc));

    OK(PCCreate(PETSC_COMM_SELF, &pc));
    OK(PCSetType(pc, PCLU));
    OK(PCFactorSetMatSolverType(pc, "saddle"));
    OK(PCSetOperators(pc, A, A));
    OK(PCSetUp(pc));
    assert_true(residual(pc, A, PETSC_FALSE) < 1e-12);
    assert_true(residual(pc, A, PETSC_TRUE) < 1e-12);
    OK(PCFactorGetMatrix(pc, &F));
    FAILS(MatGetInertia(F, NULL, NULL, NULL), "not certain");
    OK(PCDestroy(&pc));
    OK(MatDestroy(&A));
}

static void columns_are_solved_together(void **state)
{
    (void)state;
    enum { COLUMNS = 3, LDA = N + 2 };
    Mat A = kkt(MATSEQAIJ, 1, 1, 0), B, X, Y;
    PC pc = pc_of(A);
    PetscReal norm;
    double *room = calloc(LDA * COLUMNS, sizeof *room);
    assert_non_null(room);
    OK(MatCreateDense(PETSC_COMM_SELF, N, COLUMNS, N, COLUMNS, room, &B)); /* whose columns are apart */
    OK(MatDenseSetLDA(B, LDA));
    OK(MatCreateSeqDense(PETSC_COMM_SELF, N, COLUMNS, NULL, &X));
    for (PetscInt i = 0; i < N; ++i)
        for (PetscInt k = 0; k < COLUMNS; ++k) OK(MatSetValue(B, i, k, (double)(i % (2 + k)), INSERT_VALUES));
    OK(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
    OK(PCSetUp(pc));
    OK(PCMatApply(pc, B, X));
    OK(MatMatMult(A, X, MAT_INITIAL_MATRIX, 1, &Y));
    OK(MatAXPY(Y, -1, B, SAME_NONZERO_PATTERN));
    OK(MatNorm(Y, NORM_FROBENIUS, &norm));
    assert_true(norm < 1e-12);
    OK(MatDestroy(&Y));
    OK(MatDestroy(&X));
    OK(MatDestroy(&B));
    free(room);
    OK(PCDestroy(&pc));
    OK(MatDestroy(&A));
}

static void no_rows_are_no_failure(void **state)
{
    (void)state;
    Mat A = diagonal(NULL, 0);
    Vec b, x;
    PC pc = pc_of(A);
    OK(PCSetUp(pc));
    assert_int_equal(reason_of(pc), PC_NOERROR);
    OK(MatCreateVecs(A, &x, &b));
    OK(PCApply(pc, b, x));
    OK(VecDestroy(&b));
    OK(VecDestroy(&x));
    OK(PCDestroy(&pc));
    OK(MatDestroy(&A));
}

/* ---- plans ---- */

/* `symmetric`: "no", a view of the matrix, or "yes", a copy of its upper triangle. */
static void factor_again(const char *symmetric)
{
    Mat A = kkt(MATSEQAIJ, 1, 1, 0);
    PC pc = pc_of(A);
    OK(PCSaddleSetOption(pc, "symmetric", symmetric));
    OK(PCSetUp(pc));
    for (int k = 0; k < 2; ++k) {
        OK(MatSetValue(A, 0, 0, 5 + k, INSERT_VALUES));
        OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
        OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
        OK(PCSetUp(pc));
        assert_true(residual(pc, A, PETSC_FALSE) < 1e-13);
    }
    assert_shows(pc, "analyses 1, factorizations 3, new plans 0");

    Mat same = kkt(MATSEQAIJ, 1, 2, 0); /* another matrix of this pattern */
    OK(PCSetOperators(pc, same, same));
    OK(PCSetUp(pc));
    assert_true(residual(pc, same, PETSC_FALSE) < 1e-13);
    assert_shows(pc, "analyses 1, factorizations 4");

    double d[N];
    for (int k = 0; k < N; ++k) d[k] = k + 1;
    Mat other = diagonal(d, N);
    OK(PCSetOperators(pc, other, other));
    OK(PCSetUp(pc));
    assert_true(residual(pc, other, PETSC_FALSE) < 1e-13);
    assert_shows(pc, "analyses 2, factorizations 5");
    OK(PCReset(pc));
    OK(PCSetOperators(pc, A, A));
    OK(PCSetUp(pc));
    assert_true(residual(pc, A, PETSC_FALSE) < 1e-13);
    assert_shows(pc, "analyses 1, factorizations 1");
    OK(PCDestroy(&pc));
    OK(MatDestroy(&A));
    OK(MatDestroy(&same));
    OK(MatDestroy(&other));
}

static void new_values_are_factored_on_the_old_plan(void **state)
{
    (void)state;
    factor_again("no");
    factor_again("yes");
}

static void new_options_lead_to_a_new_setup(void **state)
{
    (void)state;
    Mat A = kkt(MATSEQAIJ, 1, 1, 0);
    PC pc = pc_of(A);
    OK(PCSetUp(pc));
    OK(PCSaddleSetOption(pc, "method", "ldlt"));
    OK(PCSetUp(pc)); /* of the same matrix */
    assert_shows(pc, "method ldlt");
    assert_true(info_of(pc).blocks > 0);
    assert_int_equal(info_of(pc).threads, 1);
    OK(PCSaddleSetOption(pc, "method", "direct"));
    OK(PCSaddleSetOption(pc, "krylov", "refine")); /* a solve with refinement as the preconditioner */
    OK(PCSetUp(pc));
    assert_true(residual(pc, A, PETSC_FALSE) < 1e-14);
    FAILS(PCSaddleSetOption(pc, "method", "magic"), "magic");
    FAILS(PCSaddleSetOption(pc, "on_singular", "pray"), "regularise");
    FAILS(PCSaddleSetOption(pc, "nothing", "1"), "nothing");
    OK(PetscOptionsSetValue(NULL, "-mine_pc_saddle_tol", "many"));
    OK(PCSetOptionsPrefix(pc, "mine_"));
    FAILS(PCSetFromOptions(pc), "many");
    OK(PetscOptionsClearValue(NULL, "-mine_pc_saddle_tol"));
    OK(PCDestroy(&pc));
    OK(MatDestroy(&A));
}

/* ---- failures ---- */

static void a_failure_has_a_reason_and_passes(void **state)
{
    static const struct {
        double first;
        const char *option, *value;
        PCFailedReason reason;
        const char *said;
    } cases[] = {{0, NULL, NULL, PC_FACTOR_NUMERIC_ZEROPIVOT, "singular"},
                 {NAN, NULL, NULL, PC_FACTOR_OTHER, "row 0, column 0 is nan"},
                 {-1, "factorization", "cholesky", PC_FACTOR_NUMERIC_ZEROPIVOT, "positive definite"},
                 {1, "max_memory", "100", PC_FACTOR_OUTMEMORY, "memory"}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        double d[N];
        for (int i = 0; i < N; ++i) d[i] = i + 1;
        d[0] = cases[k].first;
        Mat A = diagonal(d, N);
        PC pc = pc_of(A);
        if (cases[k].option) OK(PCSaddleSetOption(pc, cases[k].option, cases[k].value));
        OK(PCSetUp(pc));
        assert_int_equal(reason_of(pc), cases[k].reason);
        assert_shows(pc, cases[k].said);
        assert_true(isinf(residual(pc, A, PETSC_FALSE)) || isnan(residual(pc, A, PETSC_FALSE)));
        if (cases[k].option) OK(PCSaddleSetOption(pc, cases[k].option, k == 2 ? "auto" : "0"));
        OK(MatSetValue(A, 0, 0, 7, INSERT_VALUES));
        OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
        OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
        OK(PCSetUp(pc));
        assert_int_equal(reason_of(pc), PC_NOERROR);
        assert_true(residual(pc, A, PETSC_FALSE) < 1e-14);
        OK(PCDestroy(&pc));
        OK(MatDestroy(&A));
    }
}

/* PETSc stops an iteration in which there is no number; what was factored is as good as before. */
static void no_number_in_b_spoils_that_b_alone(void **state)
{
    (void)state;
    static const char *const types[] = {"saddle", PCCHOLESKY};
    for (int k = 0; k < 2; ++k) {
        Mat A = kkt(MATSEQAIJ, 1, 1, 0), B, X;
        Vec b, x;
        KSP ksp;
        PC pc;
        KSPConvergedReason reason;
        const PetscScalar *got;
        OK(KSPCreate(PETSC_COMM_SELF, &ksp));
        OK(KSPSetOperators(ksp, A, A));
        OK(KSPSetType(ksp, KSPGMRES));
        OK(KSPGetPC(ksp, &pc));
        OK(PCSetType(pc, types[k]));
        if (k == 1) OK(PCFactorSetMatSolverType(pc, "saddle"));
        OK(MatCreateVecs(A, &x, &b));
        for (int round = 0; round < 4; ++round) {
            OK(VecSet(b, 1));
            if (round % 2) OK(VecSetValue(b, 3, round == 1 ? NAN : INFINITY, INSERT_VALUES));
            OK(VecAssemblyBegin(b));
            OK(VecAssemblyEnd(b));
            OK(KSPSolve(ksp, b, x));
            OK(KSPGetConvergedReason(ksp, &reason));
            if (round % 2)
                assert_int_equal(reason, KSP_DIVERGED_NANORINF);
            else
                assert_true(reason > 0);
        }
        OK(MatCreateSeqDense(PETSC_COMM_SELF, N, 2, NULL, &B)); /* of two columns the other one is right */
        OK(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &X));
        for (PetscInt i = 0; i < N; ++i) OK(MatSetValue(B, i, 1, 1, INSERT_VALUES));
        OK(MatSetValue(B, 2, 0, NAN, INSERT_VALUES));
        OK(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
        OK(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
        OK(PCMatApply(pc, B, X));
        OK(MatDenseGetArrayRead(X, &got));
        for (PetscInt i = 0; i < N; ++i) assert_true(isnan(got[i]) && isfinite(got[N + i]));
        OK(MatDenseRestoreArrayRead(X, &got));
        OK(MatDestroy(&X));
        OK(MatDestroy(&B));
        OK(VecDestroy(&b));
        OK(VecDestroy(&x));
        OK(KSPDestroy(&ksp));
        OK(MatDestroy(&A));
    }
}

static void a_failure_is_an_error_where_that_is_asked_for(void **state)
{
    (void)state;
    const double d[] = {1, 0, 2};
    Mat A = diagonal(d, 3);
    PC pc = pc_of(A);
    OK(PCSetErrorIfFailure(pc, PETSC_TRUE));
    FAILS(PCSetUp(pc), "1 of its 3 pivots are zero");
    OK(PCDestroy(&pc));
    OK(MatDestroy(&A));
}

static void zero_pivots_are_replaced(void **state)
{
    (void)state;
    const double zeros[] = {0, 0, 0}, some[] = {4, 0, -2};
    for (int k = 0; k < 3; ++k) { /* all, some, all with another method */
        const double *d = k == 1 ? some : zeros;
        Mat A = diagonal(d, 3);
        PC pc = pc_of(A);
        Vec b, x;
        const PetscScalar *got;
        OK(PCSaddleSetOption(pc, "method", k == 2 ? "ldlt" : "direct"));
        OK(PCSetUp(pc));
        assert_int_equal(reason_of(pc), PC_FACTOR_NUMERIC_ZEROPIVOT);
        OK(PCSaddleSetOption(pc, "on_singular", "regularise"));
        OK(PCSetUp(pc)); /* of the same matrix */
        assert_int_equal(reason_of(pc), PC_NOERROR);
        assert_shows(pc, k == 1 ? "regularised: 1 zero pivots" : "regularised: 3 zero pivots");
        OK(MatCreateVecs(A, &x, &b));
        OK(VecSet(b, 1));
        OK(PCApply(pc, b, x));
        OK(VecGetArrayRead(x, &got));
        for (int i = 0; i < 3; ++i) {
            assert_true(isfinite(got[i]) && fabs(got[i]) > 1e-3 && fabs(got[i]) < 1e3);
            if (d[i] != 0) assert_true(fabs(got[i] - 1 / d[i]) < 1e-15);
        }
        OK(VecRestoreArrayRead(x, &got));
        OK(VecDestroy(&b));
        OK(VecDestroy(&x));
        OK(PCDestroy(&pc));
        OK(MatDestroy(&A));
    }
}

static void a_null_space_announces_a_singular_matrix(void **state)
{
    (void)state;
    const double d[] = {1, 2, 0};
    Mat A = diagonal(d, 3);
    Vec unit;
    MatNullSpace null_space;
    OK(MatCreateVecs(A, &unit, NULL));
    OK(VecSetValue(unit, 2, 1, INSERT_VALUES));
    OK(MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_FALSE, 1, &unit, &null_space));
    OK(MatSetNullSpace(A, null_space));
    PC pc = pc_of(A);
    OK(PCSetUp(pc));
    assert_int_equal(reason_of(pc), PC_NOERROR);
    OK(PCSaddleSetOption(pc, "on_singular", "fail"));
    OK(PetscObjectStateIncrease((PetscObject)A));
    OK(PCSetUp(pc));
    assert_int_equal(reason_of(pc), PC_FACTOR_NUMERIC_ZEROPIVOT);
    OK(PCDestroy(&pc));
    OK(MatNullSpaceDestroy(&null_space));
    OK(VecDestroy(&unit));
    OK(MatDestroy(&A));
}

static void a_type_without_rows_is_refused(void **state)
{
    (void)state;
    Mat A;
    OK(MatCreateShell(PETSC_COMM_SELF, 3, 3, 3, 3, NULL, &A));
    OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PC pc = pc_of(A);
    FAILS(PCSetUp(pc), "bjacobi");
    OK(PCDestroy(&pc));
    OK(MatDestroy(&A));
}

/* ---- MINRES ---- */

static KSP ksp_of(Mat A, KSPType type)
{
    KSP ksp;
    PC pc;
    OK(KSPCreate(PETSC_COMM_SELF, &ksp));
    OK(KSPSetOperators(ksp, A, A));
    OK(KSPSetType(ksp, type));
    OK(KSPGetPC(ksp, &pc));
    OK(PCSetType(pc, "saddle"));
    return ksp;
}

static void minres_is_refused_without_absolute_values(void **state)
{
    static const char *const methods[] = {"direct", "ldlt"};
    (void)state;
    for (int k = 0; k < 2; ++k) {
        Mat A = kkt(MATSEQAIJ, 1, 1, 0);
        KSP ksp = ksp_of(A, KSPMINRES);
        PC pc;
        Vec b, x;
        PetscInt iterations;
        KSPConvergedReason reason;
        OK(KSPGetPC(ksp, &pc));
        OK(PCSaddleSetOption(pc, "method", methods[k]));
        OK(MatCreateVecs(A, &x, &b));
        OK(VecSet(b, 1));
        FAILS(KSPSolve(ksp, b, x), "pc_saddle_absolute");
        OK(KSPDestroy(&ksp));

        ksp = ksp_of(A, KSPMINRES);
        OK(KSPGetPC(ksp, &pc));
        OK(PCSaddleSetOption(pc, "method", methods[k]));
        OK(PCSaddleSetOption(pc, "absolute", "on"));
        OK(KSPSolve(ksp, b, x));
        OK(KSPGetConvergedReason(ksp, &reason));
        OK(KSPGetIterationNumber(ksp, &iterations));
        assert_true(reason > 0);
        assert_in_range(iterations, 1, 4); /* eigenvalues 1 and -1 */
        assert_shows(pc, "absolute values");
        OK(KSPDestroy(&ksp));
        OK(VecDestroy(&b));
        OK(VecDestroy(&x));
        OK(MatDestroy(&A));
    }
}

static void cg_takes_a_definite_matrix(void **state)
{
    (void)state;
    double d[N];
    for (int k = 0; k < N; ++k) d[k] = k + 1;
    Mat A = diagonal(d, N);
    KSP ksp = ksp_of(A, KSPCG);
    Vec b, x;
    KSPConvergedReason reason;
    OK(MatCreateVecs(A, &x, &b));
    OK(VecSet(b, 1));
    OK(KSPSolve(ksp, b, x));
    OK(KSPGetConvergedReason(ksp, &reason));
    assert_true(reason > 0);
    OK(KSPDestroy(&ksp));
    OK(VecDestroy(&b));
    OK(VecDestroy(&x));
    OK(MatDestroy(&A));
}

/* ---- the factorization ---- */

static Mat factor_of(Mat A)
{
    Mat F;
    MatFactorInfo info;
    OK(MatFactorInfoInitialize(&info));
    OK(MatGetFactor(A, "saddle", MAT_FACTOR_CHOLESKY, &F));
    OK(MatCholeskyFactorSymbolic(F, A, NULL, &info));
    OK(MatCholeskyFactorNumeric(F, A, &info));
    return F;
}

static void cholesky_counts_the_inertia(void **state)
{
    static const MatType types[] = {MATSEQAIJ, MATSEQSBAIJ};
    (void)state;
    for (int k = 0; k < 2; ++k) {
        Mat A = kkt(types[k], 1, 1, k ? 0 : 1e-15), F = factor_of(A); /* aij: its upper triangle alone */
        PetscInt negative, zero, positive;
        MatSolverType solver;
        MatInfo info;
        MatFactorError error;
        OK(MatGetInertia(F, &negative, &zero, &positive));
        assert_int_equal(negative, M);
        assert_int_equal(zero, 0);
        assert_int_equal(positive, M);
        OK(MatFactorGetSolverType(F, &solver));
        assert_string_equal(solver, "saddle");
        OK(MatFactorGetError(F, &error));
        assert_int_equal(error, MAT_FACTOR_NOERROR);
        OK(MatGetInfo(F, MAT_LOCAL, &info));
        assert_true(info.nz_used >= N && info.fill_ratio_needed > 0 && info.memory > 0);
        assert_shows(F, "pivots: 8 positive, 8 negative, 0 zero");
        OK(MatDestroy(&F));
        OK(MatDestroy(&A));
    }
}

static void a_count_in_doubt_is_an_error(void **state)
{
    (void)state;
    enum { HILBERT = 14 }; /* rounding its entries decides on the signs of its smallest eigenvalues */
    Mat A, F;
    OK(MatCreateSeqAIJ(PETSC_COMM_SELF, HILBERT, HILBERT, HILBERT, NULL, &A));
    for (PetscInt i = 0; i < HILBERT; ++i)
        for (PetscInt j = 0; j < HILBERT; ++j) OK(MatSetValue(A, i, j, 1.0 / (i + j + 1), INSERT_VALUES));
    OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    F = factor_of(A);
    FAILS(MatGetInertia(F, NULL, NULL, NULL), "not certain");
    OK(MatDestroy(&F));
    OK(MatDestroy(&A));
}

static void cholesky_reads_its_own_options(void **state)
{
    (void)state;
    Mat A = kkt(MATSEQAIJ, 1, 1, 0), F;
    OK(PetscOptionsSetValue(NULL, "-mat_saddle_order", "natural"));
    OK(PetscOptionsSetValue(NULL, "-mat_saddle_factorization", "cholesky"));
    MatFactorError error;
    F = factor_of(A);
    OK(MatFactorGetError(F, &error));
    assert_int_equal(error, MAT_FACTOR_NUMERIC_ZEROPIVOT);
    OK(MatDestroy(&F));
    OK(PetscOptionsClearValue(NULL, "-mat_saddle_order"));
    OK(PetscOptionsClearValue(NULL, "-mat_saddle_factorization"));
    OK(MatDestroy(&A));
}

static void the_factorizations_of_petsc_are_still_there(void **state)
{
    (void)state;
    Mat A = kkt(MATSEQAIJ, 1, 1, 0);
    PetscBool there;
    OK(MatGetFactorAvailable(A, MATSOLVERPETSC, MAT_FACTOR_LU, &there));
    assert_true(there);
    OK(MatGetFactorAvailable(A, "saddle", MAT_FACTOR_CHOLESKY, &there));
    assert_true(there);
    OK(MatDestroy(&A));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_matrix_is_solved),
        cmocka_unit_test(a_matrix_called_symmetric_need_not_be_so_to_the_last_bit),
        cmocka_unit_test(a_general_matrix_is_solved_and_transposed),
        cmocka_unit_test(columns_are_solved_together),
        cmocka_unit_test(no_rows_are_no_failure),
        cmocka_unit_test(new_values_are_factored_on_the_old_plan),
        cmocka_unit_test(new_options_lead_to_a_new_setup),
        cmocka_unit_test(a_failure_has_a_reason_and_passes),
        cmocka_unit_test(no_number_in_b_spoils_that_b_alone),
        cmocka_unit_test(a_failure_is_an_error_where_that_is_asked_for),
        cmocka_unit_test(zero_pivots_are_replaced),
        cmocka_unit_test(a_null_space_announces_a_singular_matrix),
        cmocka_unit_test(a_type_without_rows_is_refused),
        cmocka_unit_test(minres_is_refused_without_absolute_values),
        cmocka_unit_test(cg_takes_a_definite_matrix),
        cmocka_unit_test(cholesky_counts_the_inertia),
        cmocka_unit_test(a_count_in_doubt_is_an_error),
        cmocka_unit_test(cholesky_reads_its_own_options),
        cmocka_unit_test(the_factorizations_of_petsc_are_still_there),
    };
    if (PetscInitialize(&argc, &argv, NULL, NULL)) return 1;
    if (PetscDLLibraryRegister_saddle_petsc() || PetscDLLibraryRegister_saddle_petsc()) return 1;
    PetscPushErrorHandler(keep_error, NULL);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    PetscPopErrorHandler();
    return PetscFinalize() || failed;
}
