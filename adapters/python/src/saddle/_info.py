"""What the library says about a factorization or a solve: every item of saddle_info, by name."""
from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple, Union

from ._library import MESSAGE_SIZE, lib, text

Value = Union[str, bool, int, float, None]


class Item(NamedTuple):
    name: str
    kind: str  # c choice, n count, r real, x text
    help: str
    truth: bool


@functools.lru_cache(maxsize=None)
def items() -> dict[str, Item]:
    """The table of the library."""
    table = {}
    k = 0
    while row := lib.saddle_info_at(k):
        at = row.contents
        truth = text(at.words) == "no|yes"
        table[text(at.name)] = Item(text(at.name), at.type.decode(), text(at.help), truth)
        k += 1
    return table


class Handle:
    """A saddle_info on the library's heap."""

    __slots__ = ("pointer", "_free")

    def __init__(self) -> None:
        self._free = lib.saddle_info_free
        self.pointer = lib.saddle_info_new(None)
        if not self.pointer:
            raise MemoryError("no memory for an info of Saddle")

    def __del__(self) -> None:
        if getattr(self, "pointer", None):
            self._free(self.pointer, None)

    def number(self, name: bytes) -> float:
        value = ctypes.c_double()
        lib.saddle_info_number(self.pointer, name, ctypes.byref(value))
        return value.value

    def text(self, name: bytes) -> str:
        room = ctypes.create_string_buffer(8 * MESSAGE_SIZE)
        lib.saddle_info_get(self.pointer, name, room, len(room))
        return text(room.value)

    def value(self, item: Item) -> Value:
        name = item.name.encode()
        if item.name == "status":
            return int(self.number(name))
        if item.kind in "cx" and not item.truth:
            return self.text(name)
        number = self.number(name)
        if item.truth:
            return bool(number)
        if item.kind == "n":
            return None if number < 0 or math.isnan(number) else int(number)
        return number


class Info(Mapping[str, Value]):
    """Items by name, as `info["factor_nnz"]` or `info.factor_nnz`; `help(name)` says what one is. An unknown
    count is None, an unknown number NaN.

    >>> import numpy as np, saddle
    >>> info = saddle.factor(np.array([[2.0, 1.0], [1.0, 0.0]])).info
    >>> info.n, info["factorization"], info.symmetric
    (2, 'ldlt', True)
    """

    def __init__(self, handle: Handle) -> None:
        self._values = {name: handle.value(item) for name, item in items().items()}

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def __getattr__(self, name: str) -> Value:
        try:
            value: Value = self.__dict__["_values"][name]
            return value
        except KeyError:
            raise AttributeError(f"info has no item {name!r}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        known = {k: v for k, v in self._values.items() if v not in (None, "") and v == v}
        return "Info(" + ", ".join(f"{k}={v!r}" for k, v in known.items()) + ")"

    @staticmethod
    def help(name: str) -> str:
        """What an item is."""
        return items()[name].help
