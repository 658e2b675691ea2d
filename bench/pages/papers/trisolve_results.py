"""What the steps of trisolve wrote, as its parts and its claims read it.

The paper counts a sweep less than Saddle does: its first guess D^-1 c is Saddle's first sweep. Here and on the page sweeps are
counted as in the paper.
"""
from dataclasses import dataclass

from judging import known
from model import Results

WAYS = {"entries": "entries", "blocks_12": "blocks of 12"}
MOST_SWEEPS = 20  # that the paper allows


@dataclass(frozen=True)
class Point:
    sweeps: int
    residual: float | None    # of a triangular solve, relative
    iterations: float | None  # of CG, where it converged
    solve: float | None       # seconds of the iteration
    why: str | None = None


@dataclass(frozen=True)
class Curve:
    """Sweeps over the factors of one matrix at one level of fill, beside exact solves."""
    name: str
    n: int
    level: int
    block: int                # rows; 0: over entries
    exact: dict
    points: list[Point]

    def best(self) -> Point | None:
        """With the shortest iteration."""
        return min((p for p in self.points if p.solve is not None), key=lambda p: p.solve, default=None)

    def matching(self, within=1.05) -> int | None:
        """The fewest sweeps with about the iterations of exact solves."""
        return next((p.sweeps for p in self.points if p.iterations and p.iterations <= within * self.exact["iterations"]
                     + 0.5), None)

    def speedup(self) -> float | None:
        best = self.best()
        return self.exact["solve"] / best.solve if best and self.exact["solved"] and best.solve else None

    def ways(self) -> str:
        return f"IC({self.level}), " + (f"blocks of {self.block}" if self.block else "entries")


def _points(sweeps) -> list[Point]:
    return [Point(p["sweeps"] - 1, p.get("trisolve_residual"), p["iterations"], p["solve"], p.get("why")) for p in sweeps]


def curves(results: Results, figure: str) -> list[Curve]:
    """Of Figure 1 to 5."""
    return [Curve(row["name"], row["n"], s["level"], s["block_size"], s["exact"], _points(s["sweeps"]))
            for _, j in results.each(figure) for row in j[figure] for s in row["series"]]


@dataclass(frozen=True)
class Order:
    """An order that comes with a blocking, on one matrix at one level of fill."""
    name: str
    title: str                # RCM, PB, PBD, METIS
    curve: Curve

    @property
    def exact(self):
        return self.curve.exact


def orders(results: Results) -> list[Order]:
    return [Order(row["name"], o["order"], Curve(row["name"], row["n"], o["level"], 12, o["exact"], _points(o["sweeps"])))
            for _, j in results.each("orders") for row in j["tables2to5"] for o in row["orders"]]


def by_matrix(found: list[Order], level: int) -> dict[str, dict[str, Order]]:
    """{matrix: {order: ...}} of a level."""
    names = dict.fromkeys(o.name for o in found if o.curve.level == level)
    return {n: {o.title: o for o in found if o.name == n and o.curve.level == level} for n in names}


def searched(results: Results, level: int, shifted=False, kind="table1") -> list[dict]:
    """Rows of a search that exact solves solve: for any number of sweeps that solves ("table1"), or for the fastest ("best").
    Like the paper without those whose factorization needed a shift, unless they are asked for."""
    return [r for _, j in results.each(kind) for r in j["table1"]["rows"]
            if r["level"] == level and r["exact"]["solved"] and (shifted or not r["shifted"])]


def fastest(results: Results, level: int) -> list[dict]:
    """Rows of the search for the fastest numbers of sweeps."""
    return searched(results, level, kind="best")


def solved(rows: list[dict], way: str) -> list[dict]:
    return [r for r in rows if way in r and r[way]["solved"]]


def undecided(rows: list[dict], way: str) -> list[dict]:
    """The time limit was over before all was tried."""
    return [r for r in rows if way in r and not r[way]["solved"] and r[way]["late"]]


def best_sweeps(rows: list[dict], way: str) -> list[int]:
    return [r[way]["sweeps"] - 1 for r in solved(rows, way)]


def speedups(rows: list[dict], way: str) -> list[float]:
    """The time of the iteration with exact solves over that with sweeps, the largest first."""
    return sorted((r["exact"]["solve"] / r[way]["solve"] for r in solved(rows, way) if r[way]["solve"]), reverse=True)


@dataclass(frozen=True)
class Dominance:
    name: str
    rows: tuple[float, float]      # of IC(0) and IC(1), mean over the rows
    blocks: tuple[float, float]


def dominances(results: Results) -> list[Dominance]:
    found = []
    for _, j in results.each("figure8"):
        for row in j["figure8"]["rows"]:
            pair = [tuple(v[key] for v in row["levels"][:2]) for key in ("rows", "blocks")]
            if all(len(known(p)) == 2 for p in pair) and not any(v["shifted"] for v in row["levels"]):
                found.append(Dominance(row["name"], *pair))
    return found


@dataclass(frozen=True)
class Cost:
    """Seconds of one triangular solve, exact, and of one sweep over a triangle."""
    name: str
    level: int
    exact: float
    sweep: float
    whose: str  # exact solves


def costs(results: Results) -> list[Cost]:
    """On a GPU the exact solve is cuSPARSE's, as in the paper, and our own; on the CPU it is ours."""
    found = []
    for name, j in results.each("cusparse"):
        for r in j["cusparse"]:
            for whose, seconds in (("cuSPARSE", r["cusparse"]["application"]), ("Saddle", r["exact"]["application"])):
                if seconds and r["sweep"] and r["sweep"] > 0:
                    found.append(Cost(name, r["level"], seconds / 2, r["sweep"], whose))
    for name, j in results.each("application"):
        exact, few, many = (r["application"] for r in list(j["settings"][0]["settings"].values())[:3])
        if exact and few and many and many > few:
            found.append(Cost(name, 0, exact / 2, (many - few) / (2 * (6 - 2)), "Saddle"))
    return found
