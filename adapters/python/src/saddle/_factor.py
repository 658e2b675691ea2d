"""Factors of a matrix: S A S = P' L D L' P, what is solved with them and what they tell about A."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

import numpy as np

from . import _info
from ._errors import WRONG_ORDER, error_of
from ._hooks import Log
from ._info import Info
from ._library import MESSAGE_SIZE, lib, text
from ._matrix import Symmetric
from ._progress import Report
from ._arrays import Array
from ._solver import Solver, pointer

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix
    from scipy.sparse.linalg import LinearOperator


class Inertia(NamedTuple):
    """Numbers of positive, negative and zero eigenvalues, and whether they are certified to be those of A."""

    positive: int
    negative: int
    zero: int
    certain: bool


class LogDet(NamedTuple):
    """det A = sign * exp(logabsdet), as of numpy.linalg.slogdet."""

    sign: float
    logabsdet: float


class Factor(Solver):
    """What saddle.factor gives. Solves may run in several threads at the same time."""

    def solve(self, b: Any, *, out: Any = None, return_info: bool = False) -> Any:
        """x with A x = b, measured and refined; b is (n,) or (n, k). With return_info=True: x and what is known
        about the solve. `out` is an array for x, which may be b itself. Raises NotConvergedError or SingularError,
        whose `x` is the best solution found, where b cannot be solved for.

        >>> import numpy as np, saddle
        >>> f = saddle.factor(np.array([[2.0, 1.0], [1.0, 0.0]]))
        >>> f.solve(np.array([3.0, 1.0]))
        array([1., 1.])
        >>> x, info = f.solve(np.array([3.0, 1.0]), return_info=True)
        >>> info.converged, info.backward_error <= 1e-15
        (True, True)
        """
        x, kept, sides = self._sides(b, out)
        try:
            info = self._infos.pop()
        except IndexError:
            info = _info.Handle()
        status = self._use.shared(self._run, lib.saddle_solve, self._pointer, *sides, info.pointer)
        if not (status or return_info):
            self._infos.append(info)
            return x
        told = Info(info)
        if status:
            raise error_of(status, str(told["message"]), told, x)
        return x, told

    @property
    def inertia(self) -> Inertia:
        """The signs of the eigenvalues of A.

        >>> import numpy as np, saddle
        >>> saddle.factor(np.diag([3.0, -1.0, 2.0])).inertia
        Inertia(positive=2, negative=1, zero=0, certain=True)
        """
        names = (b"inertia_positive", b"inertia_negative", b"inertia_zero")
        positive, negative, zero = (self._count(name, "the inertia") for name in names)
        return Inertia(positive, negative, zero, bool(self._queried().number(b"inertia_certain")))

    @property
    def rank(self) -> int:
        """The rank of A, if its inertia is known."""
        return self._count(b"rank", "the rank")

    @property
    def nnz(self) -> int:
        """Entries stored for L and D, as SuperLU.nnz are those of L and U."""
        return self._count(b"factor_nnz", "the number of entries")

    def _pivots(self, order: bool, d: bool) -> tuple[Optional[Array], Optional[Array]]:
        n = self.shape[0]
        p = np.empty(n, np.int32) if order else None
        numbers = np.empty((n, 2)) if d else None
        self._got(lib.saddle_get_pivots, None if p is None else pointer(p), None if numbers is None else pointer(numbers))
        return p, numbers

    def _got(self, function: Any, *arguments: Any) -> None:
        """A call that reads the factors."""
        status = self._use.shared(function, self._pointer, *arguments)
        if status == WRONG_ORDER:
            raise error_of(status, "there are no factors L D L': they are of a symmetric matrix and the method direct")
        self._check(status)

    @property
    def perm(self) -> Array:
        """The order of elimination after pivoting: perm[k] is the row of A at position k."""
        order = self._pivots(True, False)[0]
        assert order is not None
        return order

    @property
    def scale(self) -> Array:
        """The diagonal of S."""
        scale = np.empty(self.shape[0])
        self._got(lib.saddle_get_scaling, pointer(scale))
        return scale

    @property
    def D(self) -> csc_matrix:
        """The block diagonal D with 1x1 and 2x2 blocks, in the order of perm, as a sparse matrix.

        >>> import numpy as np, saddle
        >>> A = np.array([[0.0, 2.0], [2.0, 0.0]])
        >>> f = saddle.factor(A, scaling="none")
        >>> f.D.toarray()
        array([[0., 2.],
               [2., 0.]])
        """
        from scipy.sparse import diags

        d = self._pivots(False, True)[1]
        assert d is not None
        off = d[:-1, 1]
        if not off.size:  # no place for an off-diagonal
            return diags(d[:, 0], 0, shape=self.shape, format="csc")
        return diags([off, d[:, 0], off], [-1, 0, 1], shape=self.shape, format="csc")

    @property
    def L(self) -> csc_matrix:
        """The unit lower triangular L, in the order of perm, as a sparse matrix: with B = S A S and p = perm,
        B[p][:, p] = L D L'.

        >>> import numpy as np, saddle
        >>> A = np.array([[4.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 5.0]])
        >>> f = saddle.factor(A)
        >>> S, p = np.diag(f.scale), f.perm
        >>> np.allclose((S @ A @ S)[np.ix_(p, p)], (f.L @ f.D @ f.L.T).toarray())
        True
        """
        from scipy.sparse import csc_matrix, identity

        n = self.shape[0]
        pointers = np.empty(n + 1, np.int64)
        self._got(lib.saddle_get_l, pointer(pointers), None, None)
        indices = np.empty(pointers[-1], np.int32)
        values = np.empty(pointers[-1])
        self._got(lib.saddle_get_l, pointer(pointers), pointer(indices), pointer(values))
        below = csc_matrix((values, indices, pointers), shape=self.shape)
        return (below + identity(n, format="csc")).tocsc()

    @property
    def condition(self) -> float:
        """An estimate of the condition number |A| |A^-1| in the 1-norm. It costs a few solves.

        >>> import numpy as np, saddle
        >>> round(saddle.factor(np.diag([1.0, 1e-3])).condition)
        1000
        """
        value = ctypes.c_double()
        message = ctypes.create_string_buffer(MESSAGE_SIZE)
        status = self._use.shared(self._run, lib.saddle_condition, self._pointer, ctypes.byref(value), message)
        if status:
            raise error_of(status, text(message.value))
        return value.value

    @property
    def logdet(self) -> LogDet:
        """The sign of det A and the logarithm of its absolute value.

        >>> import numpy as np, saddle
        >>> sign, logabs = saddle.factor(np.array([[0.0, 3.0], [3.0, 0.0]])).logdet
        >>> float(sign), round(float(np.exp(logabs)), 12)
        (-1.0, 9.0)
        """
        d = self._pivots(False, True)[1]
        assert d is not None
        first = d[:, 1] != 0
        second = np.zeros_like(first)
        second[1:] = first[:-1]
        single = d[~first & ~second, 0]
        a, c, b = d[first, 0], d[second, 0], d[first, 1]
        # the determinant of a block relative to the square of its largest entry, which may overflow
        largest = np.maximum(np.maximum(np.abs(a), np.abs(c)), np.abs(b))
        double = (a / largest) * (c / largest) - (b / largest) ** 2
        sign = float(np.prod(np.sign(single)) * np.prod(np.sign(double)))
        with np.errstate(divide="ignore"):
            logs = np.log(np.abs(single)).sum() + (np.log(np.abs(double)) + 2 * np.log(largest)).sum()
        return LogDet(sign, float(logs - 2 * np.log(self.scale).sum()))

    def as_linear_operator(self) -> LinearOperator:
        """The inverse of A as a LinearOperator of SciPy's, for example OPinv of eigsh, or M of a Krylov method.

        >>> import numpy as np, saddle
        >>> f = saddle.factor(np.diag([2.0, -4.0]))
        >>> f.as_linear_operator() @ np.array([2.0, 4.0])
        array([ 1., -1.])
        """
        from ._operators import Inverse

        return Inverse(self)

    def __repr__(self) -> str:
        return f"<saddle.Factor of a {self.shape[0]} x {self.shape[1]} matrix, method {self._chosen['method']}>"


def factor(
    A: Any,
    *,
    symmetric: Symmetric = None,
    method: str = "direct",
    progress: Union[bool, Report, None] = None,
    log: Optional[Log] = None,
    signs: Any = None,
    stream: Optional[int] = None,
    **options: Any,
) -> Factor:
    """Factors a sparse matrix.

    A is any sparse matrix or array of SciPy's, a dense array, or arrays as SciPy's constructors take them, of a square
    matrix: (data, indices, indptr) by columns, (data, (row, col)). float64 and float32 are used as they are, integers
    and truth values become float64.

    symmetric    None: found out from the values. True: both triangles are stored, and must agree. "lower", "upper":
                 only that triangle is stored (of a dense array: is used).
    progress     True: a bar (tqdm where it is installed). A function (stage, done, total, residual), which cancels
                 if it returns something true.
    log          a function (level, line) for all that the library logs; without it warnings become SaddleWarning.
    signs        the expected sign (1, -1, 0 unknown) of the pivot of each row, for factorization="static".
    stream       a CUDA stream (its address), in which all work on a GPU goes.
    options      those of the library, as saddle.options() lists them: threshold=1e-8, device="cuda", threads=4. scaling
                 and order may be arrays of your own.

    >>> import numpy as np, saddle
    >>> K = np.array([[4.0, 0.0, 1.0], [0.0, 3.0, 1.0], [1.0, 1.0, 0.0]])     # a saddle-point matrix
    >>> f = saddle.factor(K)
    >>> f.inertia
    Inertia(positive=2, negative=1, zero=0, certain=True)
    >>> np.allclose(K @ f.solve(np.ones(3)), 1.0)
    True
    """
    settings = dict(symmetric=symmetric, progress=progress, log=log, signs=signs, stream=stream)
    return Factor(A, {"method": method}, **settings, **options)


def solve(A: Any, b: Any, *, method: str = "auto", out: Any = None, return_info: bool = False, **options: Any) -> Any:
    """x with A x = b. The method is chosen by the library and the result verified; other arguments are those of
    saddle.factor and of Factor.solve.

    >>> import numpy as np, saddle
    >>> saddle.solve(np.array([[0.0, 1.0], [1.0, 0.0]]), [1.0, 2.0])
    array([2., 1.])
    """
    if method in ("auto", "direct"):
        options.setdefault("factorizations", 1)
    return Factor(A, {"method": method}, **options).solve(b, out=out, return_info=return_info)
