"""A saddle_solver: created with options and hooks, given a matrix again and again, asked what it knows.

Factor (_factor.py) and the preconditioners (_operators.py) stand on it.
"""
from __future__ import annotations

import ctypes
import threading
from typing import Any, Optional, Union

import numpy as np

from . import _info, _options
from ._arrays import Array, Columns, columns, like, there
from ._errors import NotSupportedError, error_of
from ._hooks import Calls, Log, tell
from ._info import Info
from ._library import MESSAGE_SIZE, Given, lib, text
from ._matrix import Symmetric, View, again, indices, values, view
from ._progress import Report, reporter

FLOAT64 = np.dtype(np.float64)

# A call for fewer entries has returned before anybody could press Ctrl-C, and hooks would cost more than it does.
HOOKED_ENTRIES = 50_000

_warnings: dict[tuple[tuple[str, str], ...], list[str]] = {}  # of options, by what they are
WARNINGS_KEPT = 1000


class Use:
    """Solves may run at the same time, everything else is alone on its solver: who breaks that is refused, since
    the library's memory would be at stake."""

    __slots__ = ("lock", "users")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0  # -1: one that is alone

    # Ctrl-C may raise after any call of Python's, also at the end of a `with`: what is counted is known by then.

    def shared(self, function: Any, *arguments: Any) -> Any:
        """A call beside which others of this kind may run."""
        counted = False
        try:
            with self.lock:
                if self.users < 0:
                    raise RuntimeError("these factors are being changed by another thread, or by this call's own progress")
                self.users += 1
                counted = True
            return function(*arguments)
        finally:
            if counted:
                with self.lock:
                    self.users -= 1

    def alone(self, function: Any, *arguments: Any) -> Any:
        """A call beside which no other may run."""
        alone = False
        try:
            with self.lock:
                if self.users:
                    raise RuntimeError("these factors are in use by another thread, or by this call's own progress")
                self.users = -1
                alone = True
            return function(*arguments)
        finally:
            if alone:
                self.users = 0


def pointer(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def is_own_memory(x: Array, out: Any) -> bool:
    """Whether what is written to x is in out, and may be."""
    return isinstance(out, np.ndarray) and pointer(x) == pointer(out) and out.flags.writeable


def overlap(x: Columns, b: Columns) -> bool:
    """Whether they share memory without being the same."""
    if (x.address, x.leading) == (b.address, b.leading):
        return False
    ends = [of.address + 8 * of.leading * of.number for of in (x, b)]
    return x.address < ends[1] and b.address < ends[0]


def is_array(value: Any) -> bool:
    """A scaling or an order of the caller's, not the name of one."""
    return value is not None and not isinstance(value, str)


def create(options: _options.Handle, calls: Optional[Calls]) -> ctypes.c_void_p:
    """A saddle_solver, to be destroyed by the caller."""
    solver = ctypes.c_void_p()
    message = ctypes.create_string_buffer(MESSAGE_SIZE)
    hooks = None if calls is None else ctypes.byref(calls.hooks())
    status = lib.saddle_create(ctypes.byref(solver), options.pointer, hooks, message)
    if status:
        raise error_of(status, text(message.value))
    return solver


class Solver:
    """A matrix, factored by the library. `usual` are the door's defaults where they are not the library's."""

    def __init__(
        self,
        A: Any,
        usual: dict[str, Any],
        *,
        symmetric: Symmetric = None,
        progress: Union[bool, Report, None] = None,
        log: Optional[Log] = None,
        signs: Any = None,
        stream: Optional[int] = None,
        **options: Any,
    ) -> None:
        self._pointer: Any = None
        self._destroy = lib.saddle_destroy
        given = {name: options[name] for name in ("scaling", "order") if is_array(options.get(name))}
        seen = view(A, symmetric)
        self._chosen = {**usual, **options, **dict.fromkeys(given, "user")}
        if seen.on_device and self._chosen.get("device") is None:
            self._chosen["device"] = "cuda"
        self._on_device = self._chosen.get("device") == "cuda"
        self._symmetric = symmetric
        self._stream = stream
        self._stream_given = stream is not None
        self._use = Use()
        self._infos: list[_info.Handle] = []
        self._query: Optional[_info.Handle] = None
        self.shape: tuple[int, int] = (seen.matrix.rows, seen.matrix.columns)
        self._create(seen.entries, reporter(progress), log, bool(options))
        if given:
            self._give(given)
        if signs is not None:
            self._set_signs(signs)
        if stream is not None:
            self._check(lib.saddle_set_stream(self._pointer, stream))
        self._factor(seen)

    def _create(self, entries: int, report: Optional[Report], log: Optional[Log], chosen: bool) -> None:
        """Small systems of the direct solver have no hooks: it warns of nothing but options, and that is asked for
        once."""
        handle = _options.Handle(self._chosen)
        self._calls: Optional[Calls] = None
        if report is not None or log is not None or entries >= HOOKED_ENTRIES or self._chosen["method"] != "direct":
            self._calls = Calls(report, log)
            self._pointer = create(handle, self._calls)
            self._calls.warn()
            return
        if chosen:
            self._warn_of_options(handle)
        self._pointer = create(handle, None)

    def _warn_of_options(self, handle: _options.Handle) -> None:
        key = tuple(sorted((name, str(value)) for name, value in self._chosen.items()))
        lines = _warnings.get(key)
        if lines is None:
            calls = Calls(None, None)
            solver = create(handle, calls)
            self._destroy(ctypes.byref(solver))
            if len(_warnings) >= WARNINGS_KEPT:
                _warnings.clear()
            lines = _warnings[key] = calls.warnings
        tell(lines)

    def __del__(self) -> None:
        if getattr(self, "_pointer", None):
            self._destroy(ctypes.byref(self._pointer))

    def __reduce__(self) -> Any:
        raise TypeError("factors can be neither copied nor pickled: factor the matrix again where they are needed")

    def _check(self, status: int) -> None:
        if status:
            raise error_of(status, text(lib.saddle_message(self._pointer)))

    def _run(self, function: Any, *arguments: Any) -> int:
        """A call of the library: signals and progress are seen to, warnings become Python's."""
        if self._calls is None:
            status: int = function(*arguments)
            return status
        status = self._calls.run(function, *arguments)
        if self._calls.warnings:
            self._calls.warn()
        return status

    def _give(self, given: dict[str, Any]) -> None:
        scale = np.ascontiguousarray(given["scaling"], np.float64) if "scaling" in given else None
        order = indices(given["order"]) if "order" in given else None
        lengths = {array.size for array in (scale, order) if array is not None}
        if len(lengths) != 1:
            raise ValueError(f"scaling and order have different lengths: {sorted(lengths)}")
        record = Given(
            row_scale=None if scale is None else pointer(scale), permutation=None if order is None else pointer(order)
        )
        self._check(lib.saddle_set_given(self._pointer, lengths.pop(), ctypes.byref(record)))

    def _set_signs(self, signs: Any) -> None:
        signs = np.ascontiguousarray(signs, np.int8)
        self._check(lib.saddle_set_signs(self._pointer, signs.size, pointer(signs)))

    def _follow(self, stream: Optional[int], what: str) -> None:
        """An array on a GPU: it must be where the factors are, and what is being written to it comes first."""
        if not self._on_device:
            raise ValueError(f"{what} is on a GPU and the factors are not: factor with device='cuda'")
        if stream is not None and stream != self._stream and not self._stream_given:
            self._check(self._use.alone(lib.saddle_set_stream, self._pointer, stream))
            self._stream = stream

    def _factor(self, A: View) -> None:
        if A.on_device:
            self._follow(A.stream, "the matrix")
        self._refresh(lib.saddle_factor, self._pointer, A.matrix)
        self._seen = A.kept() if A.data is not None else A

    def _refresh(self, *call: Any) -> None:
        self._check(self._use.alone(self._forget_and_run, *call))

    def _forget_and_run(self, *call: Any) -> int:
        self._query = None
        return self._run(*call)

    def refactor(self, A: Any) -> None:
        """Factors new values on the same pattern: a matrix like the first, or a vector of the values alone, in the
        order in which the first had them.

        >>> import numpy as np, saddle
        >>> A = np.array([[2.0, 1.0], [1.0, -1.0]])
        >>> f = saddle.factor(A)
        >>> f.refactor(10 * A)
        >>> f.solve(np.array([30.0, 0.0]))
        array([1., 1.])
        """
        if isinstance(A, list):
            A = np.asarray(A)
        device = there(A)
        if (len(device.shape) if device else getattr(A, "ndim", 2)) != 1:
            seen = again(self._seen, A) or view(A, self._symmetric)
            shape = (seen.matrix.rows, seen.matrix.columns)
            if shape != self.shape:
                raise ValueError(f"the matrix has shape {shape}, the first had {self.shape}")
            self._factor(seen)
            return
        numbers = values(A)
        if numbers.length != self._seen.entries:
            raise ValueError(f"there are {numbers.length} values: the pattern has {self._seen.entries}")
        if numbers.on_device:
            self._follow(numbers.stream, "the vector of values")
        self._refresh(lib.saddle_factor_values, self._pointer, numbers.type, numbers.address)

    def set_options(self, **options: Any) -> None:
        """Changes options, for example the threshold; the others stay. What a plan does not depend on takes effect
        with the next solve or refactor, other changes have the next refactor plan anew."""
        chosen = {**self._chosen, **options}
        handle = _options.Handle(chosen)
        self._refresh(lib.saddle_set_options, self._pointer, handle.pointer)
        self._chosen = chosen

    def _sides(self, b: Any, out: Any) -> tuple[Any, Any, tuple[int, int, int, int, int]]:
        """x, what must be kept during the call, and the arguments of the library: columns, b and its leading
        dimension, x and its own."""
        n = self.shape[0]
        plain = type(b) is np.ndarray and out is None and b.shape == (n,) and b.dtype is FLOAT64
        if plain and b.flags.c_contiguous and b.flags.aligned:
            fast = np.empty(n)
            return fast, b, (1, pointer(b), n or 1, pointer(fast), n or 1)
        sides = columns(b, n)
        if sides.on_device:
            self._follow(sides.stream, "b")
        x = like(sides, n) if out is None else columns(out, n, "out")
        if out is not None and not (x.on_device or is_own_memory(x.array, out)):
            raise ValueError("out must be an array of NumPy's or on a GPU: float64, writable, stored column by column")
        if x.number != sides.number:
            raise ValueError(f"out has {x.number} columns, b has {sides.number}")
        if out is not None and overlap(x, sides):
            raise ValueError("out overlaps b: it must be b itself or lie apart")
        if x.on_device:
            self._follow(x.stream, "out")
        arguments = (sides.number, sides.address, sides.leading, x.address, x.leading)
        return x.array if out is None else out, (sides, x), arguments

    def _queried(self) -> _info.Handle:
        """What is known after the factorization; computed once."""
        return self._query or self._use.shared(self._ask)

    def _ask(self) -> _info.Handle:
        handle = _info.Handle()
        status = self._run(lib.saddle_query, self._pointer, handle.pointer)
        if status:
            raise error_of(status, handle.text(b"message"), Info(handle))
        self._query = handle
        return handle

    @property
    def info(self) -> Info:
        """Everything that the library knows about the factorization, by name."""
        return Info(self._queried())

    def _count(self, name: bytes, what: str) -> int:
        number = int(self._queried().number(name))
        if number < 0:
            raise NotSupportedError(f"{what} is known where a symmetric matrix was factored by the direct solver")
        return number
