"""Signals while the library works.

Python's own handler of a signal only notes it; the function that the user gave to `signal.signal`, or the one that
raises KeyboardInterrupt, runs when the main thread next runs Python. That is where the library reports progress: the
function runs at the entry of the progress hook, where an exception that it raises would be lost. So for the time of a
call it is replaced by one that runs it, keeps its exception and has the call cancelled; the exception is raised when
the library has returned.

Progress may also be reported by a thread of the library's, in which Python runs no handlers. The wakeup descriptor
tells of a signal there too; one that would raise KeyboardInterrupt cancels at once.
"""
from __future__ import annotations

import collections
import itertools
import os
import signal
import threading

import _signal  # the functions of `signal` without the conversion to enums, which takes longer than a small system
from types import FrameType
from typing import Any, Callable, Iterable, Optional

WATCHED = tuple(
    int(getattr(signal, name))
    for name in ("SIGINT", "SIGTERM", "SIGALRM", "SIGHUP", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
)
_pipe: list[int] = []
_main = threading.main_thread().ident


def _in_child() -> None:
    """A child has the parent's descriptors, and must not read what the parent is told. Its main thread is the one
    that forked."""
    global _main
    _main = threading.get_ident()
    while _pipe:
        os.close(_pipe.pop())


os.register_at_fork(after_in_child=_in_child)


def set_handlers(numbers: Iterable[int], handlers: Iterable[Any]) -> None:
    """Without a line of Python in between, where another handler might run and raise."""
    collections.deque(map(_signal.signal, numbers, handlers), maxlen=0)


class Watch:
    """`with Watch() as watch:` around a call; only in the main thread, where handlers run."""

    def __init__(self) -> None:
        self.error: Optional[BaseException] = None
        self.handlers: dict[int, Callable[[int, Optional[FrameType]], Any]] = {}
        self.told = b""
        self.wakeup = -1

    def __enter__(self) -> Watch:
        if not _pipe:
            _pipe.extend(os.pipe())
            for end in _pipe:
                os.set_blocking(end, False)
        for number in WATCHED:
            handler = _signal.getsignal(number)
            if callable(handler):
                self.handlers[number] = handler
        try:
            set_handlers(self.handlers, itertools.repeat(self._run))
        except BaseException:
            set_handlers(self.handlers, self.handlers.values())
            raise
        self.wakeup = _signal.set_wakeup_fd(_pipe[1], warn_on_full_buffer=False)
        return self

    def __exit__(self, *unused: object) -> None:
        _signal.set_wakeup_fd(self.wakeup)
        try:
            set_handlers(self.handlers, self.handlers.values())
        except BaseException:  # of one that is back and ran at once
            set_handlers(self.handlers, self.handlers.values())
            raise
        self._listen()
        if self.wakeup >= 0 and self.told:
            try:
                os.write(self.wakeup, self.told)
            except OSError:  # full: it has enough to wake up
                pass

    def _run(self, number: int, frame: Optional[FrameType]) -> None:
        try:
            self.handlers[number](number, frame)
        except BaseException as error:
            self.error = error

    def _listen(self) -> None:
        try:
            self.told += os.read(_pipe[0], 256)
        except (BlockingIOError, IndexError):
            pass

    def stops(self) -> bool:
        """Whether the call is to be cancelled; from any thread. In the main one handlers have run."""
        if self.error is not None or threading.get_ident() == _main:
            return self.error is not None
        self._listen()
        return signal.SIGINT in self.told and self.handlers.get(signal.SIGINT) is signal.default_int_handler


def may_watch() -> bool:
    return threading.get_ident() == _main
