/* The preconditioner `saddle`: M^-1 of a sequential matrix, by any method of the library. */
#include "door.h"

#include <petsc/private/kspimpl.h>
#include <petsc/private/pcimpl.h>

static PCFailedReason failed_reason(const door *d)
{
    switch (door_factor_error(d)) {
    case MAT_FACTOR_NOERROR: return PC_NOERROR;
    case MAT_FACTOR_NUMERIC_ZEROPIVOT: return PC_FACTOR_NUMERIC_ZEROPIVOT;
    case MAT_FACTOR_OUTMEMORY: return PC_FACTOR_OUTMEMORY;
    case MAT_FACTOR_OTHER: return PC_FACTOR_OTHER;
    default: return PC_SETUP_ERROR;
    }
}

/* A failure becomes a reason, or an error where the user asked for that (-ksp_error_if_not_converged). */
static PetscErrorCode tell_failure(PC pc)
{
    const door *d = pc->data;
    PetscFunctionBegin;
    pc->failedreason = failed_reason(d);
    PetscCheck(!(d->status || d->applied) || !pc->erroriffailure, PetscObjectComm((PetscObject)pc),
               PETSC_ERR_CONV_FAILED, "saddle: %s", d->message);
    PetscFunctionReturn(0);
}

/* A failure of one rank's block is told by the first application, whose infinite numbers reach all ranks.
 * Told at once it would end GMRES on that rank alone, with the preconditioner on the right or in FGMRES, and
 * the others would wait for it for ever (PETSc 3.18, also with its own LU). */
static PetscErrorCode set_up(PC pc)
{
    door *d = pc->data;
    PetscBool known, symmetric;
    PetscMPIInt ranks;
    PetscFunctionBegin;
    PetscCall(MatIsSymmetricKnown(pc->pmat, &known, &symmetric));
    const PetscBool triangle = d->symmetric == PETSC_BOOL3_UNKNOWN ? (PetscBool)(known && symmetric)
                                                                   : PetscBool3ToBool(d->symmetric);
    PetscCall(door_factor(d, pc->pmat, triangle));
    PetscCall(tell_failure(pc));
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
    if (ranks > 1) pc->failedreason = PC_NOERROR;
    PetscFunctionReturn(0);
}

static PetscErrorCode apply_either(PC pc, PetscBool transposed, Vec b, Vec x)
{
    door *d = pc->data;
    PetscFunctionBegin;
    if (!d->status) PetscCall(door_apply_vector(d, transposed, b, x));
    PetscCall(tell_failure(pc));
    if (d->status || d->applied) PetscCall(VecSetInf(x)); /* as PETSc's own do */
    PetscFunctionReturn(0);
}

static PetscErrorCode apply(PC pc, Vec b, Vec x)
{
    PetscFunctionBegin;
    PetscCall(apply_either(pc, PETSC_FALSE, b, x));
    PetscFunctionReturn(0);
}

static PetscErrorCode apply_transposed(PC pc, Vec b, Vec x)
{
    PetscFunctionBegin;
    PetscCall(apply_either(pc, PETSC_TRUE, b, x));
    PetscFunctionReturn(0);
}

static PetscErrorCode apply_to_columns(PC pc, Mat B, Mat X)
{
    door *d = pc->data;
    Mat local_b, local_x;
    PetscFunctionBegin;
    PetscCall(MatDenseGetLocalMatrix(B, &local_b));
    PetscCall(MatDenseGetLocalMatrix(X, &local_x));
    if (!d->status) PetscCall(door_apply_matrix(d, PETSC_FALSE, local_b, local_x));
    PetscCall(tell_failure(pc));
    PetscInt columns;
    PetscCall(MatGetSize(local_x, NULL, &columns));
    for (PetscInt k = 0; k < columns && (d->status || d->applied); ++k) {
        Vec x;
        PetscCall(MatDenseGetColumnVecWrite(local_x, k, &x));
        PetscCall(VecSetInf(x));
        PetscCall(MatDenseRestoreColumnVecWrite(local_x, k, &x));
    }
    PetscFunctionReturn(0);
}

/* CG and MINRES need x'M^-1 x > 0. Nothing in them finds out that it is not: MINRES just never ends. */
static PetscErrorCode refuse_indefinite(PC pc, KSP ksp, Vec b, Vec x)
{
    const door *d = pc->data;
    PetscBool needs_positive;
    PetscFunctionBegin;
    (void)b;
    (void)x;
    PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &needs_positive, KSPMINRES, KSPSYMMLQ, KSPCG,
                                        KSPFCG, KSPPIPEFCG, KSPGROPPCG, KSPPIPECG, KSPPIPECGRR, KSPPIPELCG,
                                        KSPPIPEPRCG, KSPPIPECG2, KSPNASH, KSPSTCG, KSPGLTR, KSPQCG, ""));
    const PetscBool indefinite =
        (PetscBool)(d->info.inertia_negative > 0 || d->info.kind == SADDLE_KIND_INDEFINITE);
    const PetscBool wrong = (PetscBool)(needs_positive && indefinite && !d->options.absolute);
    PetscCheck(
        !wrong || d->status, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
        "saddle: -ksp_type %s needs a positive definite preconditioner, and this matrix is indefinite. "
        "-%spc_saddle_absolute takes |D| instead of D (with -ksp_type minres); -ksp_type gmres takes the "
        "preconditioner as it is",
        ((PetscObject)ksp)->type_name, ((PetscObject)pc)->prefix ? ((PetscObject)pc)->prefix : "");
    PetscFunctionReturn(0);
}

static PetscErrorCode reset(PC pc)
{
    PetscFunctionBegin;
    door_forget(pc->data);
    PetscFunctionReturn(0);
}

static PetscErrorCode destroy(PC pc)
{
    PetscFunctionBegin;
    door_forget(pc->data);
    PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSaddleSetOption_C", NULL));
    PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSaddleGetSolver_C", NULL));
    PetscCall(PetscFree(pc->data));
    PetscFunctionReturn(0);
}

static PetscErrorCode view(PC pc, PetscViewer viewer)
{
    PetscFunctionBegin;
    PetscCall(door_describe(pc->data, viewer));
    PetscFunctionReturn(0);
}

/* New options have freed the solver: there has to be a setup, even if the matrix is the same. */
static void ask_for_setup(PC pc)
{
    const door *d = pc->data;
    if (!d->solver) pc->setupcalled = 0;
}

static PetscErrorCode set_from_options(PC pc, PetscOptionItems *PetscOptionsObject)
{
    PetscFunctionBegin;
    PetscOptionsHeadBegin(PetscOptionsObject, "Saddle options");
    PetscCall(door_read_options(pc->data, "pc", PetscOptionsObject));
    PetscOptionsHeadEnd();
    ask_for_setup(pc);
    PetscFunctionReturn(0);
}

static PetscErrorCode set_option(PC pc, const char *name, const char *value)
{
    PetscFunctionBegin;
    PetscCall(door_set_option(pc->data, name, value));
    ask_for_setup(pc);
    PetscFunctionReturn(0);
}

static PetscErrorCode get_solver(PC pc, const saddle_solver **solver)
{
    const door *d = pc->data;
    PetscFunctionBegin;
    *solver = d->solver;
    PetscFunctionReturn(0);
}

static PetscErrorCode create(PC pc)
{
    door *d = NULL;
    PetscFunctionBegin;
    PetscCall(PetscNew(&d));
    door_init(d);
    pc->data = d;
    pc->ops->setup = set_up;
    pc->ops->apply = apply;
    pc->ops->applytranspose = apply_transposed;
    pc->ops->matapply = apply_to_columns;
    pc->ops->presolve = refuse_indefinite;
    pc->ops->reset = reset;
    pc->ops->destroy = destroy;
    pc->ops->view = view;
    pc->ops->setfromoptions = set_from_options;
    PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSaddleSetOption_C", set_option));
    PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSaddleGetSolver_C", get_solver));
    PetscFunctionReturn(0);
}

PetscErrorCode PCSaddleSetOption(PC pc, const char *name, const char *value)
{
    PetscFunctionBegin;
    PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
    PetscUseMethod(pc, "PCSaddleSetOption_C", (PC, const char *, const char *), (pc, name, value));
    PetscFunctionReturn(0);
}

PetscErrorCode PCSaddleGetSolver(PC pc, const saddle_solver **solver)
{
    PetscFunctionBegin;
    PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
    PetscUseMethod(pc, "PCSaddleGetSolver_C", (PC, const saddle_solver **), (pc, solver));
    PetscFunctionReturn(0);
}

PetscErrorCode door_register_pc(void)
{
    PetscFunctionBegin;
    PetscCall(PCRegister("saddle", create));
    PetscFunctionReturn(0);
}
