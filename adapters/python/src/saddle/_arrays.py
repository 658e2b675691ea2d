"""Arrays on the host and on a GPU, as the library takes them: an address, a number of columns, a leading dimension.

An array on a GPU says where it is by `__cuda_array_interface__` (CuPy, Numba, PyTorch) or by `__dlpack__`; its memory
is used as it is, in and out.
"""
from __future__ import annotations

import ctypes
import sys
from typing import Any, NamedTuple, Optional, Sequence

import numpy as np

Array = np.ndarray[Any, Any]
CUDA, CUDA_MANAGED = 2, 13  # kinds of devices of DLPack
LEGACY_STREAM = 1  # the default stream, by its number in both protocols


class There(NamedTuple):
    """An array in the memory of a GPU."""

    address: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in bytes
    stream: Optional[int]  # in which it is written; None: it is there
    owner: Any
    kept: Any = None  # besides the owner, while the address is in use


def contiguous_strides(shape: Sequence[int], size: int) -> tuple[int, ...]:
    strides = [size]
    for length in reversed(shape[1:]):
        strides.insert(0, strides[0] * length)
    return tuple(strides[: len(shape)])


class _Tensor(ctypes.Structure):
    """DLTensor, the first member of a DLManagedTensor"""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}  # of numbers, as NumPy names them


def _from_dlpack(array: Any) -> There:
    """The capsule is not consumed: the array itself, which is kept, owns the memory."""
    capsule = array.__dlpack__(stream=LEGACY_STREAM)
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = _Tensor.from_address(pointer_of(capsule, b"dltensor"))
    kind = _KINDS.get(tensor.code)
    if kind is None or tensor.lanes != 1:
        raise TypeError(f"{type(array).__name__} has numbers of a kind that is not supported")
    dtype = np.dtype(f"{kind}{tensor.bits // 8}")
    shape = tuple(tensor.shape[k] for k in range(tensor.ndim))
    strides = (
        tuple(tensor.strides[k] * dtype.itemsize for k in range(tensor.ndim))
        if tensor.strides
        else contiguous_strides(shape, dtype.itemsize)
    )
    address = (tensor.data or 0) + tensor.byte_offset
    return There(address, dtype, shape, strides, LEGACY_STREAM, array, capsule)


def there(array: Any) -> Optional[There]:
    """An array on a GPU; None: it is on the host, or no array yet."""
    if isinstance(array, (np.ndarray, list, tuple, float, int)):
        return None
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is not None:
        dtype = np.dtype(interface["typestr"])
        shape = tuple(interface["shape"])
        strides = interface.get("strides") or contiguous_strides(shape, dtype.itemsize)
        return There(interface["data"][0], dtype, shape, tuple(strides), interface.get("stream"), array)
    if hasattr(array, "__dlpack_device__") and array.__dlpack_device__()[0] in (CUDA, CUDA_MANAGED):
        return _from_dlpack(array)
    return None


def to_host(array: Any) -> Any:
    """A copy on the host of an array on a GPU, for patterns: CuPy's or PyTorch's way."""
    for name in ("get", "cpu"):
        if hasattr(array, name):
            return np.asarray(getattr(array, name)())
    raise TypeError(f"{type(array).__name__} is on a GPU and offers no copy on the host (get or cpu)")


class Columns(NamedTuple):
    """Right-hand sides, or solutions, by columns."""

    address: int
    number: int
    leading: int
    array: Any  # owns the memory: what a solution is returned as
    stream: Optional[int] = None
    on_device: bool = False
    kept: Any = None


def on_host(array: Any, what: str) -> Array:
    """As an array of NumPy's; a mask would be lost."""
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        raise TypeError(f"{what} has masked entries, which have no values: fill them in (filled)")
    return np.asarray(array)


def refuse_complex(dtype: np.dtype[Any], what: str) -> None:
    if dtype.kind == "c":
        advice = " (solve for b.real and b.imag)" if what == "b" else ""
        raise TypeError(f"{what} is {dtype}: Saddle solves real systems{advice}")
    if dtype.kind not in "fiub":
        raise TypeError(f"{what} has numbers of type {dtype}: they must be real")


def _check_shape(shape: tuple[int, ...], n: int, what: str) -> None:
    if len(shape) not in (1, 2) or shape[0] != n:
        raise ValueError(f"{what} has shape {shape}: it must be ({n},) or ({n}, k)")


def columns(b: Any, n: int, what: str = "b") -> Columns:
    """b by columns: its own memory where that is double and column by column, else a copy."""
    if type(b) is not np.ndarray:
        device = there(b)
        if device is not None:
            return _columns_there(device, n, what)
        if hasattr(b, "toarray"):
            b = b.toarray()
        b = on_host(b, what)
    if b.dtype != np.float64:
        refuse_complex(b.dtype, what)
    if b.ndim != 1 or b.shape[0] != n:
        _check_shape(b.shape, n, what)
    if b.dtype != np.float64 or not b.flags.f_contiguous or not b.flags.aligned:
        b = np.require(b, np.float64, ["F", "A"])
    return Columns(b.__array_interface__["data"][0], 1 if b.ndim == 1 else b.shape[1], max(n, 1), b)


def _columns_there(b: There, n: int, what: str) -> Columns:
    if b.dtype != np.float64:
        raise TypeError(f"{what} on the GPU is {b.dtype}: it must be float64")
    _check_shape(b.shape, n, what)
    count = 1 if len(b.shape) == 1 else b.shape[1]
    if n > 1 and b.strides[0] != 8 or (count > 1 and b.strides[1] < 8 * n):
        raise ValueError(f"{what} on the GPU must be stored column by column (asfortranarray)")
    leading = b.strides[1] // 8 if count > 1 else max(n, 1)
    return Columns(b.address, count, leading, b.owner, b.stream, True, b.kept)


def like(b: Columns, n: int) -> Columns:
    """Memory for the solution, of the shape and in the place of b."""
    owner = b.array
    if not b.on_device:
        x = np.empty(owner.shape, order="F")
        return Columns(x.__array_interface__["data"][0], b.number, b.leading, x)
    namespace = sys.modules.get(type(owner).__module__.partition(".")[0])
    make = getattr(namespace, "empty_like", None)
    if make is None:
        raise TypeError(f"no array on the GPU can be made like {type(owner).__name__}: give one as out=...")
    return columns(make(owner), n, "x")
