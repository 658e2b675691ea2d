"""Options from keywords. Names, words and ranges are those of the library's table; nothing is repeated here."""
from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np

from ._errors import error_of
from ._library import MESSAGE_SIZE, lib, text


class Option(NamedTuple):
    """A row of the table of options."""

    name: str
    words: tuple[str, ...]  # of a choice
    default: Any
    least: float
    most: float
    help: str


def options() -> dict[str, Option]:
    """The table of options: name, words of a choice or range, default, and what it is.

    >>> import saddle
    >>> saddle.options()["threshold"].default
    0.01
    >>> saddle.options()["krylov"].words[:3]
    ('auto', 'cg', 'minres')
    """
    table = {}
    k = 0
    while row := lib.saddle_option_at(k):
        at = row.contents
        words = tuple(text(at.words).split("|")) if at.words else ()
        default: Any = at.value if at.type == b"r" else int(at.value)
        table[text(at.name)] = Option(
            text(at.name), words, words[default] if words else default, at.least, at.most, text(at.help)
        )
        k += 1
    return table


def as_text(value: Any) -> str:
    """A value as saddle_options_set reads it."""
    if isinstance(value, (bool, np.bool_)):
        return "on" if value else "off"
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value)


class Handle:
    """saddle_options on the library's heap."""

    __slots__ = ("pointer", "_free")

    def __init__(self, chosen: dict[str, Any]) -> None:
        self._free = lib.saddle_options_free
        self.pointer = lib.saddle_options_new(None)
        if not self.pointer:
            raise MemoryError("no memory for the options of Saddle")
        for name, value in chosen.items():
            if value is not None:
                self.set(name, as_text(value))

    def set(self, name: str, value: str) -> None:
        message = ctypes.create_string_buffer(MESSAGE_SIZE)
        status = lib.saddle_options_set(self.pointer, name.encode(), value.encode(), message)
        if status:
            raise error_of(status, text(message.value))

    def __del__(self) -> None:
        if getattr(self, "pointer", None):
            self._free(self.pointer, None)
