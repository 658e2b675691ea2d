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
    (void)PetscFree(copy->values);
    copy->rows = copy->entries = 0;
}

/* Room for so many rows and entries; what was there is lost if it has to grow. */
static PetscErrorCode reserve(door_copy *copy, PetscInt rows, PetscInt entries)
{
    PetscFunctionBegin;
    if (copy->pointers && rows <= copy->rows && entries <= copy->entries) PetscFunctionReturn(0);
    door_copy_free(copy);
    PetscCall(PetscMalloc1(rows + 1, &copy->pointers));
    PetscCall(PetscMalloc1(entries, &copy->indices));
    PetscCall(PetscMalloc1(entries, &copy->values));
    copy->rows = rows;
    copy->entries = entries;
    PetscFunctionReturn(0);
}

/* The entries on and above the diagonal of a matrix by rows, in one pass: there is room for all. */
static PetscErrorCode copy_triangle(door_copy *copy, const door_view *v)
{
    const PetscInt *pointers = v->pointers, *indices = v->indices;
    PetscInt entries = 0;
    PetscFunctionBegin;
    PetscCall(reserve(copy, v->rows, v->rows > 0 ? pointers[v->rows] : 0));
    copy->pointers[0] = 0;
    for (PetscInt i = 0; i < v->rows; ++i) {
        for (PetscInt k = pointers[i]; k < pointers[i + 1]; ++k) {
            copy->indices[entries] = indices[k];
            copy->values[entries] = v->values[k];
            entries += indices[k] >= i;
        }
        copy->pointers[i + 1] = entries;
    }
    PetscFunctionReturn(0);
}

/* The upper triangle by rows of a matrix of bs x bs blocks, each stored by columns. A block on the diagonal
 * is stored whole; its lower triangle is left out. */
static PetscErrorCode copy_blocks(door_copy *copy, const door_view *v, PetscInt bs)
{
    const PetscInt block_rows = v->rows / bs;
    PetscInt entries = 0;
    PetscFunctionBegin;
    for (PetscInt i = 0; i < block_rows; ++i)
        for (PetscInt k = v->pointers[i]; k < v->pointers[i + 1]; ++k)
            entries += v->indices[k] == i ? bs * (bs + 1) / 2 : bs * bs;
    PetscCall(reserve(copy, v->rows, entries));
    entries = copy->pointers[0] = 0;
    for (PetscInt row = 0; row < v->rows; ++row) {
        const PetscInt i = row / bs, r = row % bs;
        for (PetscInt k = v->pointers[i]; k < v->pointers[i + 1]; ++k)
            for (PetscInt c = v->indices[k] == i ? r : 0; c < bs; ++c) {
                copy->indices[entries] = v->indices[k] * bs + c;
                copy->values[entries++] = v->values[(size_t)k * (size_t)(bs * bs) + (size_t)(c * bs + r)];
            }
        copy->pointers[row + 1] = entries;
    }
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
        if (blocks)
            PetscCall(copy_blocks(&d->copy, v, bs));
        else
            PetscCall(copy_triangle(&d->copy, v));
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
