"""Matrices as the library sees them: SciPy's formats, dense arrays, tuples of arrays, without SciPy being imported."""
from __future__ import annotations

import ctypes
from typing import Any, NamedTuple, Union

import numpy as np

from . import _library as c
from ._arrays import Array, There, on_host, refuse_complex, there, to_host

SHAPES = {None: c.GENERAL, False: c.GENERAL, True: c.FULL, "lower": c.LOWER, "upper": c.UPPER}
TYPES = {"f8": c.DOUBLE, "f4": c.FLOAT}
INDEX_MOST = 2**31 - 1
Symmetric = Union[bool, str, None]


class View(NamedTuple):
    """A saddle_matrix and what keeps its arrays alive."""

    matrix: c.Matrix
    entries: int
    on_device: bool
    stream: Any
    data: Any
    dtype: Any
    pattern: tuple[Any, Any]
    format: str = ""  # csc or csr, where the pattern is in the caller's own arrays

    def kept(self) -> View:
        """What is kept of it after the call: nothing but the caller's own arrays of the pattern."""
        return self._replace(data=None, pattern=self.pattern if self.format else (None, None))


class Values(NamedTuple):
    """Values as the library takes them: an address and a type."""

    address: int
    type: int
    length: int
    array: Any
    on_device: bool = False
    stream: Any = None


def values(data: Any) -> Values:
    """double and float as they are, other real numbers as double."""
    device = there(data)
    if device is not None:
        return _values_there(device)
    data = on_host(data, "the matrix")
    kind = TYPES.get(data.dtype.str[1:])
    if kind is None or not data.dtype.isnative:
        refuse_complex(data.dtype, "the matrix")
        data, kind = data.astype(np.float64), c.DOUBLE
    if not data.flags.c_contiguous or not data.flags.aligned:
        data = np.require(data, None, ["C", "A"])
    return Values(data.__array_interface__["data"][0], kind, data.size, data)


def _values_there(data: There) -> Values:
    kind = TYPES.get(data.dtype.str[1:])
    if kind is None:
        raise TypeError(f"the values of the matrix on the GPU are {data.dtype}: they must be float64 or float32")
    if len(data.shape) != 1 or (data.shape[0] > 1 and data.strides[0] != data.dtype.itemsize):
        raise ValueError("the values of the matrix on the GPU must be contiguous")
    return Values(data.address, kind, data.shape[0], data.owner, True, data.stream)


def indices(index: Any) -> Array:
    """32 bits wide; wider ones are narrowed if they fit."""
    if there(index) is not None:
        index = to_host(index)
    index = np.asarray(index)
    narrow: Array = index
    if index.dtype == np.int32 and index.flags.c_contiguous and index.flags.aligned:
        return narrow
    if index.dtype.kind not in "iu":
        raise TypeError(f"indices have type {index.dtype}: they must be integers")
    if index.size and (index.max() > INDEX_MOST or index.min() < 0):
        raise ValueError(f"an index does not fit: it must be from 0 to {INDEX_MOST}")
    narrow = np.require(index, np.int32, ["C", "A"])
    return narrow


def pointers(pointer: Any) -> Array:
    """32 or 64 bits wide."""
    if there(pointer) is not None:
        pointer = to_host(pointer)
    pointer = np.asarray(pointer)
    if pointer.dtype.kind not in "iu" or pointer.ndim != 1 or not pointer.size:
        raise TypeError("pointers must be a vector of integers, one more than there are rows")
    return np.require(pointer, np.int32 if pointer.dtype == np.int32 else np.int64, ["C", "A"])


def _view(shape: Any, layout: int, kind: int, data: Any, index: Any, second: Any) -> View:
    """`second`: the pointers, or for coordinates the column indices."""
    numbers, index = values(data), indices(index)
    matrix = c.Matrix(
        size=ctypes.sizeof(c.Matrix),
        rows=shape[0],
        columns=shape[1],
        layout=layout,
        shape=kind,
        type=numbers.type,
        pointer_bits=32,
        indices=index.__array_interface__["data"][0],
        values=numbers.address,
    )
    if layout == c.COORDINATES:
        second = indices(second)
        matrix.entries = index.size
        matrix.col_indices = second.__array_interface__["data"][0]
        complete = second.size == index.size
    else:
        second = pointers(second)
        matrix.entries = int(second[-1])
        matrix.pointer_bits = 8 * second.itemsize
        matrix.pointers = second.__array_interface__["data"][0]
        complete = second.size == 1 + shape[layout == c.COLUMNS] and index.size >= matrix.entries >= 0
    if not complete or numbers.length < matrix.entries:
        raise ValueError("the arrays of the matrix do not have the lengths that belong together")
    data = numbers.array
    kept = (numbers.on_device, numbers.stream, data, getattr(data, "dtype", None), (index, second))
    return View(matrix, matrix.entries, *kept)


def _dense(A: Array, kind: int) -> View:
    """Its nonzeros by rows; of a triangle, those in it."""
    if A.ndim != 2:
        raise ValueError(f"the matrix has {A.ndim} dimensions: it must have 2")
    refuse_complex(A.dtype, "the matrix")
    there_is = A != 0
    if kind in (c.LOWER, c.UPPER):
        there_is = np.tril(there_is) if kind == c.LOWER else np.triu(there_is)
    row, col = np.nonzero(there_is)
    pointer = np.zeros(A.shape[0] + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=A.shape[0]), out=pointer[1:])
    return _view(A.shape, c.ROWS, kind, A[row, col], col, pointer)


def _of_tuple(A: tuple[Any, ...], kind: int) -> View:
    """(data, indices, indptr) by columns or (data, (row, col)), square, as SciPy's constructors take them."""
    if len(A) == 3:
        n = len(A[2]) - 1
        return _view((n, n), c.COLUMNS, kind, A[0], A[1], A[2])
    if len(A) == 2 and len(A[1]) == 2:
        row, col = (indices(index) for index in A[1])
        n = 1 + max(row.max(initial=-1), col.max(initial=-1))
        return _view((n, n), c.COORDINATES, kind, A[0], row, col)
    raise TypeError("a matrix given by a tuple is (data, indices, indptr) or (data, (row, col))")


def view(A: Any, symmetric: Symmetric = None) -> View:
    """A as the library sees it, for the time that the View is kept."""
    try:
        kind = SHAPES[symmetric]
    except (KeyError, TypeError):
        raise ValueError(f"symmetric is {symmetric!r}: it must be True, False, 'lower', 'upper' or None") from None
    form = getattr(A, "format", None)
    if isinstance(form, str) and hasattr(A, "tocsr"):
        if form not in ("csr", "csc", "coo"):
            A, form = A.tocsr(), "csr"
        if len(A.shape) != 2:
            raise ValueError(f"the matrix has {len(A.shape)} dimensions: it must have 2")
        if form == "coo":
            return _view(A.shape, c.COORDINATES, kind, A.data, A.row, A.col)
        seen = _view(A.shape, c.COLUMNS if form == "csc" else c.ROWS, kind, A.data, A.indices, A.indptr)
        own = seen.pattern[0] is A.indices and seen.pattern[1] is A.indptr
        return seen._replace(format=form) if own else seen
    if isinstance(A, tuple):
        return _of_tuple(A, kind)
    if there(A) is not None:
        raise TypeError("a dense matrix on a GPU is not supported: give a sparse one (cupyx.scipy.sparse)")
    return _dense(on_host(A, "the matrix"), kind)


def again(seen: View, A: Any) -> Union[View, None]:
    """The View of a matrix in compressed columns or rows whose pattern is in the same arrays as that of `seen`, which
    is changed; None: it is another."""
    index, second = seen.pattern
    if not seen.format or getattr(A, "indices", None) is not index or getattr(A, "indptr", None) is not second:
        return None
    data = A.data
    if type(data) is not np.ndarray or data.dtype is not seen.dtype or A.format != seen.format:
        return None
    if data.size < seen.entries or not data.flags.c_contiguous or not data.flags.aligned or seen.on_device:
        return None
    seen.matrix.values = data.__array_interface__["data"][0]
    return seen
