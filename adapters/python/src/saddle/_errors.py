"""Statuses of the library as exceptions.

Each status has a class of its own, which is also the Python exception that fits: `except ValueError` catches a
malformed matrix, `except numpy.linalg.LinAlgError` a singular one, `except saddle.SaddleError` all of them.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from ._library import lib, text


class SaddleError(Exception):
    """A call failed. `status` is the library's code, `info` what is known (a mapping, or None), `x` the best
    solution that a solve found (or None)."""

    status: int = 0
    info: Any = None
    x: Any = None


class SaddleWarning(UserWarning):
    """What the library logs as a warning, for example an option that has no effect."""


class NotConvergedError(SaddleError, ArithmeticError):
    """The requested accuracy was not reached; `x` is the best solution found."""


class CancelledError(SaddleError):
    """The caller's progress function asked for it."""


class OutOfMemoryError(SaddleError, MemoryError):
    """The system has no more memory."""


class MemoryLimitError(OutOfMemoryError):
    """The option max_memory is too small."""


class BadArgumentError(SaddleError, ValueError):
    """An argument is missing or out of range."""


class BadOptionError(SaddleError, ValueError):
    """An option is unknown or out of range."""


class BadMatrixError(SaddleError, ValueError):
    """The matrix is malformed."""


class BadValueError(SaddleError, ValueError):
    """A value is NaN or infinite."""


class NotSupportedError(SaddleError, ValueError):
    """What was asked for does not exist for this kind of matrix or method."""


class SingularError(SaddleError, np.linalg.LinAlgError):
    """The matrix is singular and the system is inconsistent; `x` is the best solution found."""


class WrongOrderError(SaddleError, RuntimeError):
    """A required earlier call is missing, or there are no such factors."""


class PatternChangedError(SaddleError, ValueError):
    """The pattern is not the one that was factored before."""


class DeviceError(SaddleError, RuntimeError):
    """There is no such device, or it failed."""


class NotDefiniteError(SaddleError, np.linalg.LinAlgError):
    """The matrix is not positive definite."""


WRONG_ORDER, PATTERN_CHANGED = -11, -12
CLASSES: dict[int, type[SaddleError]] = {
    -1: NotConvergedError,
    -2: CancelledError,
    -3: OutOfMemoryError,
    -4: MemoryLimitError,
    -5: BadArgumentError,
    -6: BadOptionError,
    -7: BadMatrixError,
    -8: BadValueError,
    -9: NotSupportedError,
    -10: SingularError,
    WRONG_ORDER: WrongOrderError,
    PATTERN_CHANGED: PatternChangedError,
    -16: DeviceError,
    -17: DeviceError,
    -18: NotDefiniteError,
}


def error_of(status: int, message: str = "", info: Any = None, x: Any = None) -> SaddleError:
    """The exception of a status, with the library's message or else the text of the status."""
    if status == PATTERN_CHANGED:  # the library's words name a function of C
        message = "the pattern is not the one that was factored: factor the matrix anew"
    error = CLASSES.get(status, SaddleError)(message or text(lib.saddle_status_text(status)))
    error.status, error.info, error.x = status, info, x
    return error
