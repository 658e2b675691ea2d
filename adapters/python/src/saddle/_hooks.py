"""The hooks of a solver: progress, Ctrl-C, warnings.

One pair of C functions serves all solvers; `user` is the number of the solver's `Calls`.
"""
from __future__ import annotations

import ctypes
import itertools
import os
import sys
import warnings
import weakref
from typing import Any, Callable, Optional

from ._errors import SaddleWarning
from ._interrupt import Watch, may_watch
from ._library import Hooks, LogHook, ProgressHook, text
from ._progress import Report

PACKAGE = os.path.dirname(__file__) + os.sep
WARNING = 1
LEVELS = {WARNING: "warning", 2: "info", 3: "debug"}
Log = Callable[[str, str], Any]

_numbers = itertools.count(1)
_calls: weakref.WeakValueDictionary[int, Calls] = weakref.WeakValueDictionary()


class Calls:
    """What the calls of one solver report to, and what they leave to be told when they have returned."""

    def __init__(self, report: Optional[Report], log: Optional[Log]) -> None:
        self.report, self.log = report, log
        self.number = next(_numbers)
        self.warnings: list[str] = []
        self.error: Optional[BaseException] = None
        self.watch: Optional[Watch] = None
        _calls[self.number] = self

    def hooks(self) -> Hooks:
        return Hooks(size=ctypes.sizeof(Hooks), log=_log_hook, progress=_progress_hook, user=self.number)

    def run(self, function: Callable[..., int], *arguments: Any) -> int:
        """The status of a call during which signals are watched for. Raises what a handler or the report raised."""
        if may_watch() and self.watch is None:
            with Watch() as watch:
                self.watch = watch
                try:
                    status = function(*arguments)
                finally:
                    self.watch = None
            if watch.error is not None:
                raise watch.error
        else:
            status = function(*arguments)
        self.close()
        error, self.error = self.error, None
        if error is not None:
            raise error
        return status

    def close(self) -> None:
        close = getattr(self.report, "close", None)
        if close is not None:
            close()

    def progress(self, report: Report, stage: str, done: int, total: int, residual: float) -> int:
        try:
            return 1 if report(stage, done, total, residual) else 0
        except BaseException as error:
            self.error = error
            return 1

    def line(self, level: int, line: str) -> None:
        if self.log is not None:
            try:
                self.log(LEVELS.get(level, str(level)), line)
            except BaseException as error:
                self.error = error
        else:
            self.warnings.append(line)

    def warn(self) -> None:
        """Warnings of the call that has returned."""
        lines, self.warnings = self.warnings, []
        tell(lines)


def tell(lines: list[str]) -> None:
    """Warns, at the line that called the package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    for line in lines:
        warnings.warn(line, SaddleWarning, stacklevel=level)


def _on_progress(progress: Any, user: int) -> int:
    calls = _calls.get(user)
    if calls is None:
        return 0
    if calls.watch is not None and calls.watch.stops():
        return 1
    if calls.report is None:
        return 0
    at = progress.contents
    return calls.progress(calls.report, text(at.stage), at.done, at.total, at.residual)


def _on_line(level: int, line: bytes, user: int) -> None:
    calls = _calls.get(user)
    if calls is not None and (level == WARNING or calls.log is not None):
        calls.line(level, text(line))


_progress_hook = ProgressHook(_on_progress)
_log_hook = LogHook(_on_line)
