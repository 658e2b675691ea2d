"""Which matrices are at hand, and what stands in for those that are not.

The folder of matrices has a MANIFEST.tsv: a line for each file with its order, its kind and the paper that names it. A matrix
that a paper names and that is not in the folder is missing until a file of its name is put anywhere below the folder; it needs
no line in the manifest. Meanwhile a generated problem of the same kind (`saddle gen`) may stand in for it. It is written as
the benchmarks take it, FAMILY_SIZE[:PARAMETER], such as lap3d_30:1.5.
"""
import csv
import os
import re
from dataclasses import dataclass
from functools import lru_cache

from model import Choice

ENDINGS = (".mtx", ".mtx.gz", ".rb", ".rb.gz")

# Unknowns of a generated problem of size N (see `saddle gen --help`).
UNKNOWNS = {
    "lap2d": lambda n: n**2, "helm2d": lambda n: n**2, "lap3d": lambda n: n**3, "helm3d": lambda n: n**3,
    "elas3d": lambda n: 3 * n**3, "stokes2d": lambda n: 3 * n**2 - 2 * n - 1, "darcy2d": lambda n: 3 * n**2 - 2 * n - 1,
    "stokes3d": lambda n: 4 * n**3 - 3 * n**2 - 1, "darcy3d": lambda n: 4 * n**3 - 3 * n**2 - 1,
    "pdeco2d": lambda n: 3 * n**2, "pdeco3d": lambda n: 3 * n**3, "kktz": lambda n: 2 * n**2, "ipm": lambda n: n + n // 2,
    "ocp": lambda n: 10 * n, "mpc": lambda n: 18 * n,
}


@dataclass(frozen=True)
class Matrix:
    """A line of the manifest."""
    name: str      # without folder and ending
    path: str
    n: int
    stored: int    # entries; of one triangle if the matrix is symmetric
    kind: str      # spd, indefinite, kkt, unsymmetric
    named_in: str  # the paper that names it, or ""


def without_ending(file: str) -> str | None:
    """The name of a matrix from that of its file; None if it is a file of another kind."""
    ending = next((e for e in sorted(ENDINGS, key=len, reverse=True) if file.endswith(e)), None)
    return os.path.basename(file)[:-len(ending)] if ending else None


@lru_cache
def _paths(folder: str) -> dict[str, str]:
    """Files below a folder by the names of their matrices; the first in the order of names counts."""
    found: dict[str, str] = {}
    for place, folders, files in os.walk(folder):
        folders.sort()
        for file in sorted(files):
            name = without_ending(file)
            if name:
                found.setdefault(name, os.path.join(place, file))
    return found


@lru_cache
def _manifest(folder: str) -> tuple[Matrix, ...]:
    try:
        with open(os.path.join(folder, "MANIFEST.tsv"), encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file, delimiter="\t"))
    except OSError:
        return ()
    return tuple(Matrix(without_ending(r["file"]) or r["file"], os.path.join(folder, r["file"]), int(r["n"]),
                        int(r["nnz_stored"]), r["kind"], "" if r["named_in"] == "-" else r["named_in"]) for r in lines)


def every(folder: str | None, kind: str = "") -> list[Matrix]:
    """The matrices of the manifest whose files are there, of a kind if one is named; in the order of their size."""
    found = [m for m in (_manifest(folder) if folder else ()) if kind in ("", m.kind) and os.path.exists(m.path)]
    return sorted(found, key=lambda m: (m.n, m.stored, m.name))


def find(folder: str | None, name: str) -> str | None:
    """The file of a matrix, or None if it is missing."""
    return _paths(folder).get(name) if folder else None


def about(folder: str | None, name: str) -> Matrix | None:
    """What the manifest says of a matrix."""
    return next((m for m in (_manifest(folder) if folder else ()) if m.name == name), None)


@lru_cache
def inertia(folder: str | None) -> dict[tuple[str, str], int]:
    """The negative eigenvalues by (folder, name), of INERTIA.tsv: what several solvers agree on. Others are disputed."""
    try:
        with open(os.path.join(folder or "", "INERTIA.tsv"), encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file, delimiter="\t"))
    except OSError:
        return {}
    return {(os.path.dirname(r["file"]), without_ending(r["file"]) or r["file"]): int(r["negative"]) for r in lines}


def operand(choice: Choice, name: str, standin: str | None) -> str | None:
    """What a benchmark is given for a matrix of a paper: its file, else what stands in for it, else nothing."""
    return find(choice.matrices, name) or standin


def unknowns(standin: str) -> int | None:
    """The order of a generated problem."""
    match = re.fullmatch(r"([a-z]+(?:2d|3d)?)_(\d+)(?::.*)?", standin)
    return UNKNOWNS[match[1]](int(match[2])) if match and match[1] in UNKNOWNS else None


def label(operand_or_path: str) -> str:
    """The name that a benchmark shows for an operand: of a file, its name."""
    return without_ending(operand_or_path) or operand_or_path
