"""Operators for SciPy's Krylov methods and eigensolvers; SciPy is imported here and only when one is asked for."""
from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ._errors import error_of
from ._factor import Factor
from ._info import Info
from ._library import MESSAGE_SIZE, lib, text
from ._solver import Solver


def apply(solver: Solver, b: Any, transposed: bool = False) -> Any:
    """M^-1 b, or M'^-1 b, once: without iteration, refinement or measuring."""
    x, kept, sides = solver._sides(b, None)
    message = ctypes.create_string_buffer(MESSAGE_SIZE)
    status = solver._use.shared(lib.saddle_apply, solver._pointer, int(transposed), *sides, message)
    if status:
        raise error_of(status, text(message.value))
    return x


class Inverse(LinearOperator):
    """The inverse of a factored matrix: solves that are measured and refined; those with the transpose of an
    unsymmetric matrix are applied once."""

    def __init__(self, factor: Factor) -> None:
        self.factor = factor
        self._symmetric = bool(factor._queried().number(b"symmetric"))
        super().__init__(np.dtype(np.float64), factor.shape)

    def _matvec(self, x: Any) -> Any:
        return self.factor.solve(x)

    def _matmat(self, X: Any) -> Any:
        return self.factor.solve(X)

    def _rmatvec(self, x: Any) -> Any:
        return self.factor.solve(x) if self._symmetric else apply(self.factor, x, True)

    def _rmatmat(self, X: Any) -> Any:
        return self._rmatvec(X)


class Preconditioner(LinearOperator):
    """M^-1 for a Krylov method of SciPy's, what saddle.preconditioner gives. Like the object of spilu it has `solve`."""

    def __init__(self, A: Any, **options: Any) -> None:
        self._solver = Solver(A, {}, **options)
        super().__init__(np.dtype(np.float64), self._solver.shape)

    def solve(self, b: Any) -> Any:
        """M^-1 b; b is (n,) or (n, k)."""
        return apply(self._solver, b)

    def _matvec(self, x: Any) -> Any:
        return apply(self._solver, x)

    def _matmat(self, X: Any) -> Any:
        return apply(self._solver, X)

    def _rmatvec(self, x: Any) -> Any:
        return apply(self._solver, x, True)

    def _rmatmat(self, X: Any) -> Any:
        return apply(self._solver, X, True)

    def refactor(self, A: Any) -> None:
        """New values on the same pattern."""
        self._solver.refactor(A)

    def set_options(self, **options: Any) -> None:
        """Changes options; see Factor.set_options."""
        self._solver.set_options(**options)

    @property
    def info(self) -> Info:
        """What the library knows about the preconditioner, by name."""
        return self._solver.info

    @property
    def nnz(self) -> int:
        """Entries stored for it."""
        return self._solver._count(b"factor_nnz", "the number of entries")
