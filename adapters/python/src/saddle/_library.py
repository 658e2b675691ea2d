"""libsaddle by ctypes: where it is found, the few structs that are mirrored, and what its functions take.

Options and info are reached by name (saddle_options_set, saddle_info_number), so that their layouts, which grow,
are not repeated here. Mirrored are the matrix and the hooks, which begin with their size, and the rows of the
tables of options and items.
"""
from __future__ import annotations

import ctypes
import os
import pathlib
from ctypes import POINTER, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p
from typing import Any

# NumPy's BLAS comes before a library of the same name in the wheel: NumPy gets what it was built with, and Saddle, which
# calls two functions of any BLAS, gets the same.
import numpy  # noqa: F401

NAME = "libsaddle.so.0"
MESSAGE_SIZE = 512
HERE = pathlib.Path(__file__).resolve().parent

COLUMNS, ROWS, COORDINATES = range(3)
GENERAL, LOWER, UPPER, FULL = range(4)
DOUBLE, FLOAT = range(2)


class Matrix(ctypes.Structure):
    """saddle_matrix"""

    _fields_ = [
        ("size", c_size_t),
        ("rows", c_int64),
        ("columns", c_int64),
        ("entries", c_int64),
        ("layout", c_int),
        ("shape", c_int),
        ("type", c_int),
        ("base", c_int),
        ("pointer_bits", c_int),
        ("pointers", c_void_p),
        ("indices", c_void_p),
        ("col_indices", c_void_p),
        ("values", c_void_p),
    ]


class Progress(ctypes.Structure):
    """saddle_progress"""

    _fields_ = [("stage", c_char_p), ("done", c_int64), ("total", c_int64), ("residual", c_double)]


LogHook = ctypes.CFUNCTYPE(None, c_int, c_char_p, c_void_p)
ProgressHook = ctypes.CFUNCTYPE(c_int, POINTER(Progress), c_void_p)


class Hooks(ctypes.Structure):
    """saddle_hooks"""

    _fields_ = [
        ("size", c_size_t),
        ("allocate", c_void_p),
        ("release", c_void_p),
        ("log", LogHook),
        ("progress", ProgressHook),
        ("user", c_void_p),
    ]


class Given(ctypes.Structure):
    """saddle_given"""

    _fields_ = [("row_scale", c_void_p), ("col_scale", c_void_p), ("permutation", c_void_p)]


class Option(ctypes.Structure):
    """saddle_option"""

    _fields_ = [
        ("name", c_char_p),
        ("words", c_char_p),
        ("help", c_char_p),
        ("type", ctypes.c_char),
        ("value", c_double),
        ("least", c_double),
        ("most", c_double),
    ]


class InfoItem(ctypes.Structure):
    """saddle_info_item"""

    _fields_ = [("name", c_char_p), ("words", c_char_p), ("help", c_char_p), ("type", ctypes.c_char)]


# What each function takes, and what it gives where that is not a status.
P, N, I = c_void_p, c_int64, c_int
TAKES: dict[str, list[Any]] = {
    "version": [],
    "commit": [],
    "status_text": [I],
    "option_at": [I],
    "options_new": [P],
    "options_free": [P, P],
    "options_set": [P, c_char_p, c_char_p, P],
    "info_at": [I],
    "info_new": [P],
    "info_free": [P, P],
    "info_number": [P, c_char_p, P],
    "info_get": [P, c_char_p, P, c_size_t],
    "create": [P, P, P, P],
    "factor": [P, POINTER(Matrix)],
    "factor_values": [P, I, P],
    "set_options": [P, P],
    "set_stream": [P, P],
    "set_given": [P, N, P],
    "set_signs": [P, N, P],
    "solve": [P, N, P, N, P, N, P],
    "apply": [P, I, N, P, N, P, N, P],
    "query": [P, P],
    "message": [P],
    "destroy": [P],
    "get_pivots": [P, P, P],
    "get_scaling": [P, P],
    "get_l": [P, P, P, P],
    "condition": [P, P, P],
    "describe_device": [c_char_p, I, P],
}
GIVES: dict[str, Any] = {
    "version": c_char_p,
    "commit": c_char_p,
    "status_text": c_char_p,
    "message": c_char_p,
    "option_at": POINTER(Option),
    "info_at": POINTER(InfoItem),
    "options_new": P,
    "options_free": None,
    "info_new": P,
    "info_free": None,
    "destroy": None,
}


def candidates() -> list[str]:
    """Where the library may be: named by SADDLE_LIBRARY; in the wheel; beside an installed package (a prefix's
    lib/python3.x/dist-packages); else where the system finds it."""
    named = os.environ.get("SADDLE_LIBRARY")
    if named:
        return [named]
    beside = [HERE / "lib" / NAME, *(folder / NAME for folder in HERE.parents[2:3])]
    return [*(str(path) for path in beside if path.exists()), NAME]


def load() -> tuple[ctypes.CDLL, str]:
    """The library and the path it was loaded from."""
    said = []
    for path in candidates():
        try:
            library = ctypes.CDLL(path)
        except OSError as error:
            said.append(str(error))
            continue
        for name, takes in TAKES.items():
            try:
                function = getattr(library, "saddle_" + name)
            except AttributeError:
                raise ImportError(f"{path} has no saddle_{name}: it is older than this package") from None
            function.argtypes = takes
            function.restype = GIVES.get(name, c_int)
        return library, path
    raise ImportError(
        "the library of Saddle cannot be loaded (" + "; ".join(said) + "): install the package by pip, or set "
        f"SADDLE_LIBRARY to the path of {NAME}"
    )


lib, path = load()


def text(value: bytes | None) -> str:
    return value.decode("utf-8", "replace") if value else ""


version = text(lib.saddle_version())
commit = text(lib.saddle_commit())
