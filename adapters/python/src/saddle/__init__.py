"""Sparse linear systems A x = b, especially the symmetric indefinite ones of optimisation, mixed finite elements and
control.

    x = saddle.solve(A, b)                 # chooses a method, verifies the result
    f = saddle.factor(A)                   # S A S = P' L D L' P; f.solve, f.refactor, f.inertia, ...
    M = saddle.preconditioner(A)           # for SciPy's Krylov methods

A is any sparse matrix or array of SciPy's, or a dense array. docs/python.md in the repository is the guide.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _library
from ._errors import (
    BadArgumentError,
    BadMatrixError,
    BadOptionError,
    BadValueError,
    CancelledError,
    DeviceError,
    MemoryLimitError,
    NotConvergedError,
    NotDefiniteError,
    NotSupportedError,
    OutOfMemoryError,
    PatternChangedError,
    SaddleError,
    SaddleWarning,
    SingularError,
    WrongOrderError,
)
from ._factor import Factor, Inertia, LogDet, factor, solve
from ._info import Info
from ._options import Option, options

if TYPE_CHECKING:
    from ._operators import Preconditioner

__version__ = _library.version

ldl = factor


def preconditioner(A: Any, method: str = "ldlt", **options: Any) -> Preconditioner:
    """An approximate inverse of A as a LinearOperator, for M=... of SciPy's Krylov methods. method is one of the
    library's (ldlt, jacobi, bjacobi, ic, ilu, diagonal, direct); for minres and cg, which need a positive definite M,
    absolute=True takes L |D| L' in place of L D L'. Other arguments are those of saddle.factor.

    >>> import numpy as np, saddle
    >>> from scipy.sparse import diags
    >>> from scipy.sparse.linalg import gmres
    >>> A = diags([-1.0, 2.1, -1.0], [-1, 0, 1], shape=(50, 50), format="csr")
    >>> M = saddle.preconditioner(A, method="ilu")
    >>> x, status = gmres(A, np.ones(50), M=M, atol=1e-12)
    >>> status, bool(np.allclose(A @ x, 1.0, atol=1e-4))
    (0, True)
    """
    from ._operators import Preconditioner

    return Preconditioner(A, method=method, **options)


spildl = preconditioner


def devices() -> dict[str, str]:
    """The kinds of devices: what the first of each is, or why there is none."""
    import ctypes

    told = {}
    for kind in ("cpu", "cuda"):
        message = ctypes.create_string_buffer(_library.MESSAGE_SIZE)
        _library.lib.saddle_describe_device(kind.encode(), 0, message)
        told[kind] = _library.text(message.value)
    return told


__all__ = [
    "BadArgumentError",
    "BadMatrixError",
    "BadOptionError",
    "BadValueError",
    "CancelledError",
    "DeviceError",
    "Factor",
    "Inertia",
    "Info",
    "LogDet",
    "MemoryLimitError",
    "NotConvergedError",
    "NotDefiniteError",
    "NotSupportedError",
    "Option",
    "OutOfMemoryError",
    "PatternChangedError",
    "SaddleError",
    "SaddleWarning",
    "SingularError",
    "WrongOrderError",
    "devices",
    "factor",
    "ldl",
    "options",
    "preconditioner",
    "solve",
    "spildl",
]
