"""What the steps of ssids wrote, as its parts and its claims read it."""
from dataclasses import dataclass

from judging import known, percent, ratio
from model import Results

TILES = 8  # eighths of a tile's columns


def rows(results: Results, kind: str) -> dict[str, dict]:
    """{name of the step's matrix: its row} of a benchmark of the direct solver that succeeded."""
    return {name: row for name, j in results.each(kind) for row in j["rows"][:1] if not (row.get("saddle") or {}).get("error")}


@dataclass(frozen=True)
class Time:
    """Seconds of a factorization and of a solve with one right-hand side, and the operations."""
    name: str
    flops: float
    ours: float
    theirs: float | None
    solve: float | None
    their_solve: float | None

    @property
    def faster(self):
        return ratio(self.theirs, self.ours)

    @property
    def faster_solve(self):
        return ratio(self.their_solve, self.solve)

    @property
    def rate(self):
        return 1e-9 * self.flops / self.ours

    @property
    def their_rate(self):
        """With our number of operations: the rate that would do the same work in their time."""
        return 1e-9 * self.flops / self.theirs if self.theirs else None


def on_cuda(results: Results) -> bool:
    return bool(results.each("factor"))


def sides(results: Results) -> tuple[str, str]:
    """Whom Figures 6, 7, 9 and 10 compare."""
    return ("Saddle on the GPU", "Saddle on the CPU") if on_cuda(results) else ("Saddle", "MUMPS")


def times(results: Results) -> list[Time]:
    """On a GPU beside Saddle on the CPU of the same machine, as SSIDS beside HSL_MA97; on the CPU beside MUMPS, which is
    multifrontal as well. By operations."""
    cpu = rows(results, "direct")
    found = []
    if on_cuda(results):
        for name, row in rows(results, "factor").items():
            s, other = row["saddle"], (cpu.get(name) or {}).get("saddle") or {}
            if s["factor"]:
                found.append(Time(name, s["flops"], s["factor"], other.get("factor"), s["solve"], other.get("solve")))
    else:
        for name, row in cpu.items():
            s, m = row["saddle"], row["mumps"]
            if s["factor"]:
                found.append(Time(name, s["flops"], s["factor"], m["factor"], s["solve"], m["solve"]))
    return sorted(found, key=lambda t: t.flops)


@dataclass(frozen=True)
class Pivoting:
    name: str
    ldl: float
    ll: float

    @property
    def cost(self):
        return 100 * (self.ldl / self.ll - 1)


def pivoting(results: Results, kind: str) -> list[Pivoting]:
    """Of positive definite matrices: kind "direct" on the CPU, "pivoting" on a GPU."""
    found = [(name, row["saddle"]["factor_ldlt"], row["saddle"]["factor_cholesky"]) for name,
             row in rows(results, kind).items()]
    return [Pivoting(*f) for f in found if f[1] and f[2]]


@dataclass(frozen=True)
class Profile:
    """Seconds in own columns, in assembly, in contribution blocks, and in what else there is; tiles by eighths accepted."""
    name: str
    flops: float
    factor: float
    assembly: float
    contribution: float
    other: float
    tiles: list[float]

    @property
    def shares(self):
        parts = (self.factor, self.assembly, self.contribution, self.other)
        return [percent(p, sum(parts)) for p in parts]

    @property
    def whole_tiles(self):
        """% of the tiles all of whose columns were accepted."""
        return percent(self.tiles[TILES], sum(self.tiles))


def profiles(results: Results) -> list[Profile]:
    found = []
    for name, row in rows(results, "profile").items():
        s = row["saddle"]
        parts = [s[f"profile_{key}"] for key in ("factor", "assembly", "contribution", "other")]
        if len(known(parts)) == 4 and sum(parts) > 0:
            found.append(Profile(name, s["flops"], *parts, [t or 0 for t in s["tiles"]]))
    return found


@dataclass(frozen=True)
class Presolve:
    """Seconds of a factorization and of a solve: {off, band, whole}."""
    name: str
    factor: dict[str, float]
    solve: dict[str, float]

    def gain(self, which="whole"):
        return self.solve["off"] / self.solve[which]

    def price(self, which="whole"):
        """% of the factorization."""
        return 100 * (self.factor[which] / self.factor["off"] - 1)

    def pays_at(self, which="whole"):
        """Solves after which it has paid; None where it never does."""
        saved = self.solve["off"] - self.solve[which]
        return max(self.factor[which] - self.factor["off"], 0) / saved if saved > 0 else None


def presolves(results: Results) -> list[Presolve]:
    found = []
    for name, row in rows(results, "presolve").items():
        p = row["saddle"]["presolve"]
        if all(p.get(w) and p[w]["factor"] and p[w]["solve"] for w in ("off", "band", "whole")):
            found.append(Presolve(name, *({w: p[w][key] for w in ("off", "band", "whole")} for key in ("factor", "solve"))))
    return found


@dataclass(frozen=True)
class Tree:
    """Fronts, by `--part fronts`."""
    name: str
    n: int
    row: dict

    @property
    def gigaflops(self):
        return 1e-9 * sum(self.row["flops"].values())

    @property
    def flops(self):
        """% in own columns, assembly, contribution blocks."""
        return [percent(self.row["flops"][key], sum(self.row["flops"].values()))
                for key in ("factor", "assembly", "contribution")]

    def entries(self, which):
        """% of the entries of fronts with children."""
        return percent(self.row["entries"][which], self.row["entries"]["all"])

    def small_fronts(self):
        """% of the fronts that have at most an eighth of the rows of the largest, to a power of two."""
        sizes = self.row["sizes"]
        return percent(sum(s["fronts"] for s in sizes if 8 * s["from"] <= sizes[-1]["from"]), self.row["fronts"])

    def large_work(self):
        """% of the operations in fronts that have at least half of its rows."""
        sizes = self.row["sizes"]
        return percent(sum(s["flops"] for s in sizes if 2 * s["from"] >= sizes[-1]["from"]), sum(s["flops"] for s in sizes))

    def work_from(self, rows):
        """% of the operations in fronts of so many rows or more, a power of two."""
        sizes = self.row["sizes"]
        return percent(sum(s["flops"] for s in sizes if s["from"] >= rows), sum(s["flops"] for s in sizes))


def trees(results: Results) -> list[Tree]:
    return [Tree(name, row["n"], row) for name, row in rows(results, "fronts").items()]


BITS = ("factor_nnz", "flops", "delayed", "two_by_two", "negative", "backward_error", "componentwise_error",
        "backward_error_random",
        "componentwise_error_random")


def repeated(results: Results) -> list[tuple[str, list[str]]]:
    """What differs between two runs of the same factorization, by matrix: names of counts and of errors of solutions."""
    one, two = rows(results, "first"), rows(results, "second")
    return [(name, [key for key in BITS if one[name]["saddle"].get(key) != two[name]["saddle"].get(key)])
            for name in one if name in two]
