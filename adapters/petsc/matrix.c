/* Views of PETSc's sequential matrices.
 *
 *     seqaij            its rows as they are: a general matrix, whose symmetry the library detects
 *     seqaij, triangle  a copy of the upper triangle. (A view of both triangles would have to be symmetric to
 *                       the last bit, which assembled matrices that are called symmetric often are not.)
 *     seqsbaij          the upper triangle by rows, as it is for blocks of one row, otherwise expanded
 *     seqbaij, seqdense converted to seqaij
 */
#include "door.h"

void door_copy_free(door_copy *copy)
{
    (void)PetscFree(copy->pointers);
    (void)PetscFree(copy->indices);
    (void)PetscFree(copy->from);
    (void)PetscFree(copy->values);
    *copy = (door_copy){.rows = 0};
}

/* Room for so many rows and entries; what was there is lost if it has to grow. */
static PetscErrorCode reserve(door_copy *copy, PetscInt rows, PetscInt entries)
{
    PetscFunctionBegin;
    if (copy->pointers && rows <= copy->rows && entries <= copy->entries) PetscFunctionReturn(0);
    door_copy_free(copy);
    PetscCall(PetscMalloc1(rows + 1, &copy->pointers));
    PetscCall(PetscMalloc1(entries, &copy->indices));
    PetscCall(PetscMalloc1(entries, &copy->from));
    PetscCall(PetscMalloc1(entries, &copy->values));
    copy->rows = rows;
    copy->entries = entries;
    PetscFunctionReturn(0);
}

/* The pattern of the upper triangle by rows of a matrix of bs x bs blocks, each stored by columns, and where
 * each entry comes from. What is below the diagonal is left out: blocks of seqaij, of one row, and parts of
 * the blocks on the diagonal of seqsbaij, which are stored whole. */
static PetscErrorCode copy_pattern(door_copy *copy, const door_view *v, PetscInt bs)
{
    const PetscInt blocks = v->rows > 0 ? v->pointers[v->rows / bs] : 0;
    PetscInt entries = 0;
    PetscFunctionBegin;
    PetscCheck((int64_t)blocks * bs * bs <= PETSC_MAX_INT, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "saddle: %" PetscInt_FMT " blocks of %" PetscInt_FMT " rows have too many entries for 32 bits",
               blocks, bs);
    PetscCall(reserve(copy, v->rows, blocks * bs * bs));
    copy->pointers[0] = 0;
    for (PetscInt row = 0; row < v->rows; ++row) {
        const PetscInt i = row / bs, r = row % bs;
        for (PetscInt k = v->pointers[i]; k < v->pointers[i + 1]; ++k)
            for (PetscInt c = 0; c < bs; ++c) {
                const PetscInt column = v->indices[k] * bs + c;
                if (column < row) continue;
                copy->indices[entries] = column;
                copy->from[entries++] = (k * bs + c) * bs + r;
            }
        copy->pointers[row + 1] = entries;
    }
    PetscFunctionReturn(0);
}

/* The upper triangle: its pattern if that is new, its values in any case. */
static PetscErrorCode copy_triangle(door_copy *copy, const door_view *v, PetscInt bs)
{
    PetscObjectId id;
    PetscObjectState pattern;
    PetscFunctionBegin;
    PetscCall(PetscObjectGetId((PetscObject)v->read, &id));
    PetscCall(MatGetNonzeroState(v->read, &pattern));
    if (!copy->pointers || id != copy->id || pattern != copy->pattern) {
        PetscCall(copy_pattern(copy, v, bs));
        copy->id = id;
        copy->pattern = pattern;
        copy->seen = PETSC_FALSE;
    }
    const PetscInt entries = copy->pointers[v->rows];
    for (PetscInt k = 0; k < entries; ++k) copy->values[k] = v->values[copy->from[k]];
    PetscFunctionReturn(0);
}

/* read: A itself, or a seqaij matrix with its entries. */
static PetscErrorCode make_readable(Mat A, Mat *read, PetscBool *blocks)
{
    PetscBool aij, convertible;
    PetscFunctionBegin;
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &aij));
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQSBAIJ, blocks));
    *read = A;
    if (aij || *blocks) PetscFunctionReturn(0);
    *read = NULL;
    PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &convertible, MATSEQBAIJ, MATSEQDENSE, ""));
    PetscCheck(
        convertible, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
        "saddle: a matrix of type %s cannot be factored: its type has to be seqaij, seqsbaij, seqbaij or "
        "seqdense. A matrix that is distributed over ranks goes to saddle block by block: -pc_type bjacobi "
        "-sub_pc_type saddle, or asm or fieldsplit (-fieldsplit_NAME_pc_type)",
        ((PetscObject)A)->type_name);
    PetscCall(MatConvert(A, MATSEQAIJ, MAT_INITIAL_MATRIX, read));
    PetscFunctionReturn(0);
}

PetscErrorCode door_view_open(door *d, Mat A, PetscBool triangle, door_view *v)
{
    PetscBool done, blocks;
    PetscInt bs, rows;
    PetscScalar *writable = NULL;
    PetscFunctionBegin;
    *v = (door_view){.given = A};
    PetscCall(make_readable(A, &v->read, &blocks));
    PetscCall(MatGetSize(v->read, &v->rows, NULL));
    PetscCall(MatGetBlockSize(v->read, &bs));
    PetscCall(MatGetRowIJ(v->read, 0, PETSC_FALSE, blocks, &rows, &v->pointers, &v->indices, &done));
    PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "saddle: this matrix does not show its rows");
    if (blocks) {
        PetscCall(MatSeqSBAIJGetArray(v->read, &writable));
        v->values = writable;
    } else {
        PetscCall(MatSeqAIJGetArrayRead(v->read, &v->values));
    }
    v->A = saddle_general(v->rows, v->pointers, v->indices, v->values);
    if (!blocks && !triangle) PetscFunctionReturn(0);
    if (!blocks || bs > 1) {
        PetscCall(copy_triangle(&d->copy, v, blocks ? bs : 1));
        v->seen = d->copy.seen;
        v->A = saddle_general(v->rows, d->copy.pointers, d->copy.indices, d->copy.values);
    }
    v->A.shape = SADDLE_UPPER;
    PetscFunctionReturn(0);
}

PetscErrorCode door_view_close(door_view *v)
{
    PetscBool done, blocks;
    PetscScalar *writable = NULL;
    PetscFunctionBegin;
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)v->read, MATSEQSBAIJ, &blocks));
    if (blocks)
        PetscCall(MatSeqSBAIJRestoreArray(v->read, &writable));
    else
        PetscCall(MatSeqAIJRestoreArrayRead(v->read, &v->values));
    PetscCall(MatRestoreRowIJ(v->read, 0, PETSC_FALSE, blocks, NULL, &v->pointers, &v->indices, &done));
    if (v->read != v->given) PetscCall(MatDestroy(&v->read));
    *v = (door_view){.given = NULL};
    PetscFunctionReturn(0);
}
