"""The parts and claims of the page on Saddle's standing that are about direct solvers: profiles, failures, growth."""
import functools
import math

import draw
import matrices
import profiles
import solvers
from content import sentence
from model import FAILS, HOLDS, PARTLY, UNMEASURED, Picture, Table, Text, Verdict
from solvers import INERTIA, NO_ANSWER, SETS, SHORT, TIME, WORDS, WRONG

KINDS = SETS + ("verified",)
FACTORS = (1, 2, 10)
MEMORY_LEAST = 4e6  # bytes of the most frugal solver: below, MUMPS' whole megabytes say nothing
REAL = SETS[:3]

MEASURES = {
    "total": ("time of analysis, factorization and a refined solve", "time / the least time", 100),
    "factor": ("time of a factorization with new values on an analysed pattern", "time / the least time", 100),
    "memory": ("memory, as each solver tells it", "bytes / the fewest bytes", 10),
    "error": ("backward error after refinement", "error / the least error", 100),
}


class Standing:
    """What was measured of direct solvers: the problems, and the solvers that are installed."""

    def __init__(self, results):
        self.gpu = results.choice.device == "cuda"
        rows = [row for kind in SETS for _, data in results.each(kind) for row in data["rows"]]
        verified = {(r["group"], r["name"]): r["saddle"] for _, data in results.each("verified") for r in data["rows"]}
        for row in rows:
            more = verified.get((row["group"], row["name"]), {})
            row["saddle"] = {**row["saddle"],
                             **{k: v for k, v in more.items() if row["saddle"].get(k) is None and k != "error"}}
        self.solvers = solvers.installed(solvers.GPU if self.gpu else solvers.CPU, rows)
        inertia = matrices.inertia(results.choice.matrices)
        self.problems = [solvers.problem(row, self.solvers, inertia, self.gpu) for row in rows]
        self.versions = {s.key: next((row[s.key]["version"] for row in rows if row.get(s.key) and row[s.key].get("version")),
                                     "")
                         for s in self.solvers if s.key != "saddle"}
        self.cut = [] if self.gpu else [solvers.cut_short(r) for kind in SETS for r in results.failed(kind)]

    def of(self, kind):
        """The problems of a set; "large": those KKT systems; None: all."""
        if kind == "large":
            return [p for p in self.problems if p.group == "kkt" and p.n >= solvers.LARGE]
        return [p for p in self.problems if kind in (None, p.group)]

    def measured(self, kind, what):
        """For each problem the measure by solver, where there is an answer."""
        found = []
        for p in self.of(kind):
            values = {key: getattr(o, what) for key, o in p.outcomes.items() if o.answered and not math.isnan(getattr(o, what))}
            if what == "error":
                values = {key: max(v, solvers.ROUNDING) for key, v in values.items()}
            if what == "memory" and min(values.values(), default=0) < MEMORY_LEAST:
                continue
            if values:
                found.append(values)
        return found

    def here(self, values):
        """The solvers that have a value, in their order."""
        seen = {key for v in values for key in v}
        return [s for s in self.solvers if s.key in seen]


@functools.lru_cache(maxsize=4)
def standing(results):
    return Standing(results)


# ---- profiles ----

COLOUR_OF = {"saddle": 0, "mumps": 1, "pardiso": 2, "cholmod": 3, "qdldl": 4, "superlu": 5, "ssids": 8, "cudss": 1}
DASHES = {"mumps_compressed": "--", "mumps_posdef": ":", "pardiso_matching": "--", "cholmod_ldlt": "--",
          "superlu_symmetric": "--", "ssids_matching": "--", "cudss_matching": "--"}


def profile_panel(s, kind, what):
    values = s.measured(kind, what)
    ratios, count = profiles.ratios(values)
    most = MEASURES[what][2]

    def panel(ax):
        for one in reversed(s.here(values)):  # Saddle on top, and first in the legend
            ax.plot(*zip(*profiles.staircase(ratios[one.key], count, most)), DASHES.get(one.key, "-"), label=one.name,
                    color=draw.COLOURS[COLOUR_OF[one.whose]], linewidth=2.6 if one.key == "saddle" else 1.6)
        ax.set_xscale("log")
        ax.set(xlim=(1, most), ylim=(0, 1.02))
        draw.round_ticks(ax.xaxis, ax.get_xlim())
        ax.set(title=f"{SHORT[kind][0].upper()}{SHORT[kind][1:]} ({count})", xlabel=MEASURES[what][1],
               ylabel="share of the problems")
    return panel if count > 1 else None


def with_one_legend(panels, order, across):
    """A function that draws panels on a figure, with a legend of all that is in any of them beside the first row."""
    def drawn(figure):
        draw.on_figure(*panels, across=across)(figure)
        found = {}
        for ax in figure.axes:
            found.update(zip(*ax.get_legend_handles_labels()[::-1]))
        names = [name for name in order if name in found]
        figure.axes[across - 1].legend([found[n] for n in names], names, loc="upper left", bbox_to_anchor=(1.02, 1.02),
                                       borderaxespad=0)
    return drawn


def profile_rows(s, kind, what):
    """Of each solver: the profile at some factors, and the geometric mean beside Saddle."""
    values = s.measured(kind, what)
    ratios, count = profiles.ratios(values)
    rows = []
    for one in s.here(values):
        beside = [v[one.key] / v["saddle"] for v in values if one.key in v and "saddle" in v]
        rows.append((SHORT[kind], one.name, *(100 * profiles.share(ratios[one.key], count, f) for f in FACTORS),
                     100 * len(ratios[one.key]) / count, profiles.geometric_mean(beside) if one.key != "saddle" else None))
    return sorted(rows, key=lambda r: -r[2])


def profile_table(s, kinds, what):
    rows = [row for kind in kinds for row in profile_rows(s, kind, what)]
    known = "known" if what in ("memory",) else "has an answer"
    return Table(("set", "solver", "best", *(f"within {f}" for f in FACTORS[1:]), known, "to Saddle's"), rows,
                 f"Share of the problems in per cent, {MEASURES[what][0]}", (None, None, ".0f", ".0f", ".0f", ".0f", ".2f"),
                 {"best": "the profile at factor 1: how often no other solver needs less",
                  "within 2": "how often the solver needs at most twice the least",
                  "to Saddle's": "geometric mean of the solver's figure over Saddle's, where both have an answer: above 1, "
                                 "Saddle needs less"})


NOTES = {
    "total": "Analysis and factorization once, and a solve with one step of refinement; Saddle's own solve refines and "
             "measures its errors. What takes less than 20 ms is repeated, and the best counts: all are measured warm.",
    "factor": "What a method repeats that solves many systems of one pattern: an interior-point method, Newton's method.",
    "memory": "The peak of analysis and factorization that each solver tells of itself; of QDLDL its arrays, of SuperLU by "
              "how much the process grew. Problems for which every solver that tells needs 4 MB or more.",
    "error": "Normwise, after one step of refinement (Saddle: as many as it takes). Errors below 1.1e-16 count as equal.",
}
GPU_NOTES = {
    "total": "Analysis, a factorization with values that are on the GPU already, and a solve, not refined.",
    "factor": "With values that are on the GPU already.",
    "memory": "Of the GPU's memory.",
    "error": "Normwise: of Saddle as its refined solve reaches it, of cuDSS after one step of refinement.",
}


def shown_profiles(results, kinds, what):
    s = standing(results)
    panels = [(kind, profile_panel(s, kind, what)) for kind in kinds]
    panels = [(kind, p) for kind, p in panels if p]
    if not panels:
        return []
    across = 2 if len(panels) > 1 else 1
    down = (len(panels) + across - 1) // across
    picture = Picture(with_one_legend([p for _, p in panels], [one.name for one in s.solvers], across),
                      f"Performance profiles: {MEASURES[what][0]}. At the left end a curve says how often the solver is the "
                      "best, at the right end how often it has an answer within that factor. Dashed: the same solver by "
                      "another setting.",
                      f"one curve for each solver, of {' and of '.join(WORDS[kind] for kind, _ in panels)}",
                      8.2 if across == 1 else 11.5, 4.6 if across == 1 else 4.0 * down)
    return [Text((GPU_NOTES if s.gpu else NOTES)[what]), picture, profile_table(s, [kind for kind, _ in panels], what)]


def profile(kinds, what):
    return lambda results: shown_profiles(results, kinds, what)


def profile_all(what):
    return lambda results: shown_profiles(results, SETS, what)


def profiles_elsewhere(results):
    return shown_profiles(results, SETS[1:], "total")


# ---- solvers, failures ----

def solvers_table(results):
    s = standing(results)
    if not s.problems:
        return []
    program = results.choice.device
    rows = [(one.name, one.about, s.versions.get(one.key) or ("this program, on " + program if one.key == "saddle" else None),
             sum(one.key in p.outcomes for p in s.problems)) for one in s.solvers]
    rows = [row for row in rows if row[-1]]
    every = solvers.GPU if s.gpu else solvers.CPU
    missing = [o.name for o in every if o not in s.solvers and o.key == o.whose]
    note = [Text(f"Without a driver beside this program, and therefore not on this page: {', '.join(missing)}. `scripts/build` "
                 "builds the drivers of the peers that it finds; they are not installed.")] if missing else []
    return [Table(("solver", "setting", "version", "matrices"), rows, "What is compared",
                  about={"matrices": "that it was asked for; one that refuses a matrix because it is of another kind is not "
                                     "counted"}),
            *note]


def failure_counts(s):
    """(solver, matrices, inertias judged, count by kind, in doubt) of every solver, the fewest failures first."""
    found = []
    for one in s.solvers:
        mine = [(p, p.outcomes[one.key]) for p in s.problems + s.cut if one.key in p.outcomes]
        if mine:
            kinds = {kind: sum(o.failure == kind for _, o in mine) for kind in solvers.FAILURES}
            judged = sum(p.judged for p, o in mine if one.key != "superlu" and one.key != "superlu_symmetric")
            found.append((one, len(mine), judged, kinds, sum(o.doubt for _, o in mine)))
    return sorted(found, key=lambda f: (sum(f[3].values()) / f[1], f[0].key != "saddle"))


def failures_table(results):
    s = standing(results)
    rows = [(one.name, count, sum(kinds.values()), 100 * sum(kinds.values()) / count, *(kinds[k] for k in solvers.FAILURES),
             judged,
             doubt if one.key == "saddle" else None) for one, count, judged, kinds, doubt in failure_counts(s)]
    if not s.problems:
        return []
    return [Table(("solver", "matrices", "failures", "per cent", *solvers.FAILURES, "inertias judged", "inertia in doubt"),
                  rows,
                  "Failures by their kind, the fewest first", (None, None, None, ".1f"),
                  {NO_ANSWER: "the solver ended with an error, or says itself that its answer is not accurate",
                   WRONG: "it returned success, and the backward error after refinement is above 1e-9",
                   INERTIA: "it told another number of negative eigenvalues than the one that is known, without a word of "
                            "doubt",
                   TIME: "it took longer than its limit",
                   "inertias judged": "matrices that INERTIA.tsv lists; disputed ones are not counted",
                   "inertia in doubt": "of Saddle, which says so: matrices that are singular to working precision, as a rule; "
                                       "no failure"})]


def failures_list(results):
    s = standing(results)
    names = {one.key: one.name for one in s.solvers}
    rows = [(names[key], p.name, p.group, p.n or None, o.failure, o.said or None) for p in s.problems + s.cut
            for key, o in p.outcomes.items() if o.failure]
    rows.sort(key=lambda r: ([*names.values()].index(r[0]), solvers.FAILURES.index(r[4]), r[1]))
    if not s.problems:
        return []
    return [Table(("solver", "matrix", "set", "n", "kind", "what is wrong"), rows, "Which matrices, and what each solver said")
            if rows else Text("No solver has failed on any matrix.")]


def everything(results):
    """Every matrix, with the best of the peers beside Saddle."""
    s = standing(results)
    names = {one.key: one.name for one in s.solvers}
    rows = []
    for p in s.problems:
        ours = p.outcomes.get("saddle", solvers.Outcome())
        theirs = {key: o.total for key, o in p.outcomes.items() if key != "saddle" and o.answered and not math.isnan(o.total)}
        best = min(theirs, key=theirs.get, default=None)
        known = {k: None if math.isnan(v) else v for k, v in (("total", ours.total), ("factor", ours.factor),
                                                              ("memory", ours.memory / 1e6),
                                                              ("error", ours.error))}
        rows.append((p.name, p.group, p.n, p.nnz, known["total"], known["factor"], known["memory"], known["error"],
                     names.get(best), theirs.get(best), ours.total / theirs[best] if best and known["total"] else None))
    return [Table(("matrix", "set", "n", "entries", "Saddle [s]", "factor [s]", "MB", "error", "best peer", "its time [s]",
                   "ratio"), rows,
                  "Saddle beside the fastest of the peers' settings for each matrix",
                  (None, None, ",d", ",d", ".3g", ".3g", ".1f", ".0e", None, ".3g", ".2f"),
                  {"Saddle [s]": "analysis, factorization and refined solve, once", "factor [s]": "again, with new values",
                   "MB": "peak memory of Saddle",
                   "ratio": "Saddle's time over the best peer's: below 1, Saddle is faster"})] if rows else []


# ---- growth ----

def families(s, what="total"):
    """By family and solver, the points (n, measure)."""
    found = {}
    for p in s.of("generated"):
        for key, o in p.outcomes.items():
            if o.answered and not math.isnan(getattr(o, what)):
                found.setdefault(p.family, {}).setdefault(key, []).append((p.n, getattr(o, what)))
    return found


def exponents(s, what="total"):
    return {family: {key: profiles.exponent(points) for key, points in by.items()} for family, by in families(s, what).items()}


def growth_panel(s, family, by):
    def panel(ax):
        for one in s.solvers:
            if one.key in by:
                ax.plot(*zip(*sorted(by[one.key])), DASHES.get(one.key, "-"), marker=draw.MARKERS[COLOUR_OF[one.whose]],
                        label=one.name,
                        color=draw.COLOURS[COLOUR_OF[one.whose]], linewidth=2.6 if one.key == "saddle" else 1.6)
        ax.set_xscale("log")
        ax.set_yscale("log")
        draw.round_ticks(ax.xaxis, ax.get_xlim())
        draw.round_ticks(ax.yaxis, ax.get_ylim())
        ax.set(title=family, xlabel="unknowns", ylabel="time [s]")
    return panel


def growth(results):
    s = standing(results)
    found = families(s)
    if not found:
        return []
    times, factors, memory = exponents(s), exponents(s, "factor"), exponents(s, "memory")
    names = {one.key: one.name for one in s.solvers}
    rows = [(family, names[key], len(found[family][key]), times[family][key], factors.get(family, {}).get(key),
             memory.get(family, {}).get(key))  # which nobody may have told, as on a GPU without a driver that weighs it
            for family in found for key in names if key in found[family]]
    panels = [growth_panel(s, family, by) for family, by in found.items()]
    across = min(3, len(panels))
    return [Picture(with_one_legend(panels, [one.name for one in s.solvers], across),
                    "Time to a refined solution by the number of unknowns, families of `saddle gen`.",
                    f"curves of {len(panels)} families", 1.6 + 4.1 * across, 3.5 * math.ceil(len(panels) / across)),
            Table(("family", "solver", "sizes", "time", "factor", "memory"), rows, "Exponents p of growth, figure ~ unknowns^p",
                  (None, None, None, ".2f", ".2f", ".2f"),
                  {"sizes": "that the solver answered; the exponent is fitted to three or more by least squares on logarithms",
                   "factor": "of the time of a factorization with new values"})]


# ---- claims ----

def percent(value):
    return f"{100 * value:.0f}\u00a0%"


def led(shares, names):
    """Whose share is the largest, the shares of the three best as words, and the verdict on Saddle."""
    order = sorted(shares, key=lambda key: (-shares[key], key != "saddle"))
    words = ", ".join(f"{names[key]} {percent(shares[key])}" for key in order[:4])
    if "saddle" not in order[:4]:
        words += f", Saddle {percent(shares.get('saddle', 0.0))}"
    return order[0], words


def split(s, kind):
    """What Saddle's time consists of where another solver is faster."""
    slower = [(p.outcomes["saddle"], min(o.total for key, o in p.outcomes.items() if key != "saddle" and o.answered))
              for p in s.of(kind) if "saddle" in p.outcomes and p.outcomes["saddle"].answered
              and any(key != "saddle" and o.answered and o.total < p.outcomes["saddle"].total for key, o in p.outcomes.items())]
    if not slower:
        return ""
    ratio = profiles.geometric_mean([o.total / best for o, best in slower])
    before = [(o.total - o.solve - o.factor) / o.total for o, _ in slower]
    part = profiles.geometric_mean([share for share in before if share > 0])
    return (f"On the {len(slower)} where another solver is faster, Saddle takes {ratio:.2f} times as long as the fastest "
            f"(geometric mean); {percent(part)} of its time there is not spent in the factorization or the solve, but before "
            "them.")


def not_compared(what, alone):
    """Why there is no verdict on a measure; `alone`: Saddle was measured."""
    return Verdict(UNMEASURED, "No problem was measured for which every solver tells 4 MB or more." if what == "memory" and not alone
                   else "No peer was measured on these matrices." if alone else "No matrix of this set was measured.")


def fastest(kind, what):
    def judge(results):
        s = standing(results)
        values = s.measured(kind, what)
        ratios, count = profiles.ratios(values)
        if len(ratios) < 2:
            return not_compared(what, bool(ratios))
        shares = {key: profiles.share(r, count, 1.0) for key, r in ratios.items()}
        first, words = led(shares, {one.key: one.name for one in s.solvers})
        figures = f"Best on: {words} of {count}."
        if first == "saddle":
            return Verdict(HOLDS, figures)
        why = split(s, kind) if what == "total" else ""
        return Verdict(FAILS, figures, why)
    return judge


def fastest_of_pivoting(kind, what):
    """Beside the solvers that choose pivots by their size."""
    def judge(results):
        s = standing(results)
        pivoting = {one.key for one in s.solvers if one.pivots}
        values = [{key: value for key, value in v.items() if key in pivoting} for v in s.measured(kind, what)]
        ratios, count = profiles.ratios(values)
        if len(ratios) < 2:
            return Verdict(UNMEASURED, "No such peer was measured on these matrices.")
        shares = {key: profiles.share(r, count, 1.0) for key, r in ratios.items()}
        first, words = led(shares, {one.key: one.name for one in s.solvers})
        return Verdict(HOLDS if first == "saddle" else FAILS, f"Best on: {words} of {count}.")
    return judge


def fastest_beside_best(kind, what):
    """Every peer as if it knew which of its settings is the best for each matrix."""
    def judge(results):
        s = standing(results)
        peers = {one.key: one.whose for one in s.solvers}
        names = {one.whose: one.name for one in reversed(s.solvers)}
        values = []
        for v in s.measured(kind, what):
            best = {}
            for key, value in v.items():
                best[peers[key]] = min(value, best.get(peers[key], math.inf))
            values.append(best)
        ratios, count = profiles.ratios(values)
        if len(ratios) < 2:
            return Verdict(UNMEASURED, "No peer was measured on these matrices.")
        shares = {key: profiles.share(r, count, 1.0) for key, r in ratios.items()}
        first, words = led(shares, names)
        return Verdict(HOLDS if first == "saddle" else FAILS, f"Best on: {words} of {count}.",
                       "" if first == "saddle" else split(s, kind))
    return judge


def answers_all(kind):
    def judge(results):
        s = standing(results)
        mine = [p.outcomes["saddle"] for p in s.of(kind) + [p for p in s.cut if p.group == kind] if "saddle" in p.outcomes]
        if not mine:
            return Verdict(UNMEASURED, "No matrix of this set was measured.")
        good = sum(o.answered for o in mine)
        worst = max((o.error for o in mine if o.answered), default=math.nan)
        return Verdict(HOLDS if good == len(mine) else FAILS,
                       f"{good} of {len(mine)}; the largest backward error of these is {worst:.0e}.",
                       "" if good == len(mine) else "The others are in [Table 3](#table-3).")
    return judge


def within(kind, what, factor, least):
    def judge(results):
        values = standing(results).measured(kind, what)
        ratios, count = profiles.ratios(values)
        if len(ratios) < 2:
            return not_compared(what, bool(ratios))
        mine = profiles.share(ratios.get("saddle", []), count, factor)
        worst = ratios["saddle"][-1] if "saddle" in ratios else math.inf
        figures = f"On {percent(mine)} of {count} within a factor of {factor}; the largest factor is {worst:.1f}."
        return Verdict(HOLDS if mine >= least else PARTLY if mine >= least - 0.1 else FAILS, figures)
    return judge


def failures_beside(s, key):
    """(failures of this solver, Saddle's) on the matrices that both were asked for, or would have been but for Saddle."""
    both = [p.outcomes for p in s.problems if key in p.outcomes and "saddle" in p.outcomes] + [p.outcomes for p in s.cut]
    return tuple(sum(o[k].failure in solvers.FAILURES for o in both if k in o) for k in (key, "saddle"))


def fewest_failures(results):
    s = standing(results)
    counts = failure_counts(s)
    if len(counts) < 2:
        return Verdict(UNMEASURED, "No peer was measured.")
    rates = {one.key: sum(kinds.values()) / count for one, count, _, kinds, _ in counts}
    words = ", ".join(f"{one.name} {sum(kinds.values())} of {count}" for one, count, _, kinds, _ in counts[:5])
    ours = next(f"Saddle {sum(kinds.values())} of {count}" for one, count, _, kinds, _ in counts if one.key == "saddle")
    beside = {one: failures_beside(s, one.key) for one, *_ in counts if one.key != "saddle"}
    ahead = [one for one, (theirs, mine) in beside.items() if theirs < mine]
    figures = f"{words}{'' if ours in words else ', ' + ours}."
    if ahead:
        failed = [p.name for p in s.problems + s.cut if "saddle" in p.outcomes and p.outcomes["saddle"].failure]
        return Verdict(FAILS, figures, f"Fewer on the same matrices have {', '.join(o.name for o in ahead)}. Saddle fails on "
                       f"{', '.join(failed[:4])}{' and others' if len(failed) > 4 else ''}: [Table 3](#table-3).")
    fewer = [f"{one.name} (Saddle: {mine})" for one, (_, mine) in beside.items() if rates[one.key] < rates["saddle"]]
    return Verdict(HOLDS, figures, f"A smaller share of their own matrices, but no fewer than Saddle on the same: "
                   f"{', '.join(fewer)}." if fewer else "")


def no_wrong(results):
    s = standing(results)
    mine = [(p, p.outcomes["saddle"]) for p in s.problems if "saddle" in p.outcomes]
    if not mine:
        return Verdict(UNMEASURED, "Nothing was measured.")
    wrong, inertia = (sum(o.failure == kind for _, o in mine) for kind in (WRONG, INERTIA))
    judged, doubt = sum(p.judged for p, _ in mine), sum(o.doubt for _, o in mine)
    return Verdict(HOLDS if wrong + inertia == 0 else FAILS,
                   f"{wrong} wrong answers on {len(mine)} matrices, {inertia} wrong inertias of {judged} that are known; "
                   f"{doubt} are said to be in doubt.")


def grows_least(results):
    s = standing(results)
    names, beaten, compared, points, largest = {one.key: one.name for one in s.solvers}, [], 0, families(s), []
    for family, by in exponents(s).items():
        theirs = {key: p for key, p in by.items() if key != "saddle" and p is not None}
        if by.get("saddle") is None or not theirs:
            continue
        compared += 1
        least = min(theirs, key=theirs.get)
        if by["saddle"] > theirs[least] + 0.1:
            beaten.append(f"{family} ({by['saddle']:.2f}, {names[least]} {theirs[least]:.2f})")
            mine, its = (dict(points[family][key]) for key in ("saddle", least))
            n = max(mine.keys() & its.keys(), default=None)
            if n:
                largest.append(f"{mine[n] / its[n]:.2f} ({family}, {n:,} unknowns)")
    if not compared:
        return Verdict(UNMEASURED, "There are not three sizes of any family.")
    if not beaten:
        return Verdict(HOLDS, f"In all {compared} families.")
    return Verdict(PARTLY if 2 * len(beaten) <= compared else FAILS,
                   f"In {compared - len(beaten)} of {compared} families; not in "
                   + ", ".join(beaten) + ".",
                   f"A peer that is slow on small sizes has a small exponent: at the largest that both answer Saddle takes "
                   f"{', '.join(largest)} times as long as that peer." if largest else "")


# ---- summary ----

def speed_clause(s, kind):
    values = s.measured(kind, "total")
    ratios, count = profiles.ratios(values)
    if len(ratios) < 2 or "saddle" not in ratios:
        return None
    shares = {key: profiles.share(r, count, 1.0) for key, r in ratios.items()}
    names = {one.key: one.name for one in s.solvers}
    others = sorted((key for key in shares if key != "saddle"), key=lambda key: -shares[key])
    rival = others[0]
    mean = profiles.geometric_mean([v[rival] / v["saddle"] for v in values if rival in v and "saddle" in v])
    mine, its = percent(shares["saddle"]), percent(shares[rival])
    led_by = (f"Saddle is the fastest most often, on {mine}; next is {names[rival]}, on {its}"
              if shares["saddle"] >= shares[rival] else
              f"not Saddle ({mine}) but {names[rival]} ({its}) is the fastest most often")
    return (f"on {count} {WORDS[kind]} {led_by} (where both have an answer it takes {mean:.2f} times as long as Saddle in the "
            "geometric mean)")


def failures_clause(s):
    counts = failure_counts(s)
    if len(counts) < 2:
        return None
    ours = next(f for f in counts if f[0].key == "saddle")
    theirs = [f for f in counts if f[0].key != "saddle"]

    def told(f):
        return f"{f[0].name} on {sum(f[3].values())} of {f[1]}"

    def share(f):
        return sum(f[3].values()) / f[1]
    more = ("" if len(theirs) <= 4 else ", the others on a larger share of theirs" if share(theirs[4]) > share(theirs[3]) else
            ", the others on no smaller share of theirs")
    return f"Saddle fails on {sum(ours[3].values())} of {ours[1]} matrices; {', '.join(told(f) for f in theirs[:4])}{more}"


def wrong_clause(s):
    told = [(one.name, kinds[WRONG], kinds[INERTIA]) for one, _, _, kinds, _ in failure_counts(s)]
    wrong = ", ".join(f"{name} {count}" for name, count, _ in told if count)
    inertia = ", ".join(f"{name} {count}" for name, _, count in told if count)
    return f"wrong answers that were called right: {wrong or 'none'}; wrong inertias: {inertia or 'none'}" if told else None


def summary(results):
    s = standing(results)
    kinds = (("kkt", "large"), ("indefinite", "spd")) if s.of("kkt") else (("generated",),)
    return [*(t for some in kinds for t in sentence(*(speed_clause(s, kind) for kind in some))),
            *sentence(failures_clause(s), wrong_clause(s))]
