"""Where Saddle stands: beside every peer that is installed, on real and generated systems, from what `saddle bench direct`, `bench
trisolve`, `bench ldlt`, `bench calls` and `bench blocks` measure. comparison.py and inexact.py draw and judge; here is what is run,
and what is shown.
"""
import os

import comparison
import inexact
import matrices
from model import Choice, Claim, Part, Step, Subject, Table

REAL = ("kkt", "indefinite", "spd")

# Families by sizes, each about twice to three times the unknowns of the one before: for exponents of growth.
FAMILIES = {"lap2d": (90, 150, 250, 400), "lap3d": (14, 19, 26, 35), "stokes2d": (60, 100, 160, 260),
            "kktz": (70, 120, 200, 330),
            "pdeco3d": (8, 11, 15, 20), "ipm": (4000, 10000, 25000, 60000), "ocp": (1000, 3000, 9000, 27000)}
QUICK_FAMILIES = {"lap2d": (20, 30, 45), "stokes2d": (15, 25, 40), "ocp": (60, 150, 400)}
GPU_FAMILIES = {"lap3d": (30, 42, 60, 84), "stokes3d": (14, 20, 29), "pdeco3d": (12, 17, 24), "kktz": (120, 210, 360),
                "ipm": (25000, 60000, 150000)}
GPU_PARAMETERS = {"lap3d": ":1.5"}
GPU_STEPS = 8  # matrices in one: a GPU is opened, and asked what it can do, only once for them
QUICK = {"kkt": 10, "indefinite": 3, "spd": 4}  # matrices of each folder, small ones
QUICK_ENTRIES = 40000


def direct(choice, name, operands, cost, limit, more):
    return Step(name, ("bench", "direct", *operands, *more, "--json", "{json}"), cost, limit)


def some(found, count):
    """So many of the small ones, from all their sizes."""
    small = [m for m in found if m.stored <= QUICK_ENTRIES]
    return [small[k * len(small) // count] for k in range(count)] if len(small) > count else small


def generated(families, parameters=()):
    return [f"{family}_{size}{dict(parameters).get(family, '')}" for family, sizes in families.items() for size in sizes]


def cpu_steps(choice):
    """A step for each matrix, so that an interrupted run repeats little, and one that takes too long costs no other."""
    more = ("--all-peers", "--threads", str(choice.threads), "--repeat", "1" if choice.quick else "2",
            "--limit", "5" if choice.quick else "10")
    limit = 120 if choice.quick else 600  # all peers may take theirs, and on a busy machine Saddle a while
    found = []
    for kind in REAL:
        here = matrices.every(choice.matrices, kind)
        for m in some(here, QUICK[kind]) if choice.quick else here:
            found.append(direct(choice, f"{kind}/{m.name}", (m.path,), 2 + 3e-5 * m.stored, limit, more))
    for operand in generated(QUICK_FAMILIES if choice.quick else FAMILIES):
        n = matrices.unknowns(operand) or 0
        found.append(direct(choice, f"generated/{operand}", (operand,), 2 + 2e-4 * n, limit, more))
    general = matrices.every(choice.matrices, "unsymmetric")
    for m in some(general, 4) if choice.quick else general:
        found.append(Step(f"unsymmetric/{m.name}", ("bench", "trisolve", m.path, "--part", "unsymmetric", "--limit", "15",
                                                    "--threads", str(choice.threads), "--json", "{json}"), 2, 60))
    for kind in ("kkt", "indefinite"):
        here = matrices.every(choice.matrices, kind)
        for m in some(here, 4) if choice.quick else here:
            found.append(Step(f"symmetric/{m.name}", ("bench", "ldlt", m.path, "--part", "symildl", "--limit", "10",
                                                      "--threads", str(choice.threads), "--json", "{json}"), 3, 240))
    return found + [Step("calls", ("bench", "calls", "--repeat", "2" if choice.quick else "5", "--json", "{json}"), 5, 240),
                    Step("blocks", ("bench", "blocks", "--quick", "--part", "kernels", "--json", "{json}"), 10, 120)]


def in_steps(found):
    return [found[k:k + GPU_STEPS] for k in range(0, len(found), GPU_STEPS)]


def gpu_steps(choice):
    """Each in less than 100 seconds. Files below 0.1 Gflop are left out by the benchmark: on a GPU they are no question."""
    more = ("--device", "cuda", "--repeat", "1" if choice.quick else "2", "--limit", "20")
    work = []
    for kind in REAL:
        here = [m for m in matrices.every(choice.matrices, kind) if m.n >= 2000]
        for k, few in enumerate(in_steps(some(here, QUICK[kind]) if choice.quick else here), 1):
            work.append((kind, f"{k}", tuple(m.path for m in few), 15))
    families = {f: sizes[:2] for f, sizes in GPU_FAMILIES.items()} if choice.quick else GPU_FAMILIES
    for operand in generated(families, GPU_PARAMETERS.items()):
        work.append(("generated", operand, (operand,), 10))
    found = [direct(choice, f"{kind}/{name}", operands, cost, 100,
                    ("--part", "factor", *more)) for kind, name, operands, cost in work]
    found += [direct(choice, f"verified/{kind}-{name}", operands, cost / 2, 100, ("--part", "verified", *more))
              for kind, name, operands, cost in work]
    size = "48" if choice.quick else "96"
    return found + [Step("cusparse", ("bench", "trisolve", f"lap3d_{size}", "--part", "cusparse", "--levels", "0,1", "--device",
                                      "cuda", "--json", "{json}"), 20, 100),
                    Step("blocks", ("bench", "blocks", "--quick", "--part", "kernels", "--device", "cuda", "--json", "{json}"),
                         10, 100)]


def steps(choice: Choice):
    return gpu_steps(choice) if choice.device == "cuda" else cpu_steps(choice)


def at_hand(choice: Choice):
    """The folders of real matrices."""
    known = matrices.inertia(choice.matrices)
    rows = []
    for kind in (*REAL, "unsymmetric"):
        here = matrices.every(choice.matrices, kind)
        told = sum((os.path.basename(os.path.dirname(m.path)), m.name) in known for m in here)
        rows.append((kind, len(here), min((m.n for m in here), default=None), max((m.n for m in here), default=None),
                     told if kind != "unsymmetric" else None))
    return Table(("folder", "matrices", "smallest order", "largest order", "with known inertia"), rows,
                 "Real matrices at hand" if any(r[1] for r in rows) else
                 f"MANIFEST.tsv in {choice.matrices} names no matrix that is there: only generated problems were run"
                 if choice.matrices else
                 "No folder of matrices was given (--matrices DIR): only generated problems were run",
                 about={"with known inertia": "by INERTIA.tsv; the others are singular to working precision, or disputed: no "
                                              "count is judged there"})


SUBJECT = Subject(
    "standing", "Where Saddle stands",
    "Saddle beside the solvers that are in use today, each with its defaults and with the best setting that its documentation "
    "names for the kind of matrix. All are given the same matrix and the same right-hand side, take turns in one run, and are "
    "judged by the backward error after refinement.",
    steps,
    (Part("Table 1", "Solvers and settings", comparison.KINDS, comparison.solvers_table),
     Part("Figure 1", "Time to a solution, real KKT systems", ("kkt",),
          comparison.profile(("kkt", "large"), "total")),
     Part("Figure 2", "Time to a solution, other sets", ("indefinite", "spd", "generated"), comparison.profiles_elsewhere),
     Part("Figure 3", "Time of a factorization with new values", comparison.KINDS, comparison.profile_all("factor")),
     Part("Figure 4", "Memory", comparison.KINDS, comparison.profile_all("memory")),
     Part("Figure 5", "Accuracy", comparison.KINDS, comparison.profile_all("error")),
     Part("Table 2", "Failures", comparison.KINDS, comparison.failures_table),
     Part("Table 3", "Every failure", comparison.KINDS, comparison.failures_list),
     Part("Figure 6", "Growth with the size of the problem", ("generated",), comparison.growth),
     Part("Table 4", "Every matrix", comparison.KINDS, comparison.everything),
     Part("Table 5", "Incomplete factorizations", ("unsymmetric", "symmetric", "cusparse"), inexact.incomplete),
     Part("Table 6", "Small systems and small blocks", ("calls", "blocks"), inexact.small)),
    (Claim("Saddle is the fastest on more real KKT systems than any other solver: first in the profile at factor 1", "goal",
           "Figure 1", comparison.fastest("kkt", "total")),
     Claim("It is also the fastest most often where every peer counts with the better of its settings for each matrix", "goal",
           "Figure 1", comparison.fastest_beside_best("kkt", "total")),
     Claim("Saddle is the fastest most often beside the solvers that choose pivots by their size, and so take matrices that "
           "are not quasidefinite", "goal", "Figure 1", comparison.fastest_of_pivoting("kkt", "total")),
     Claim("Saddle is the fastest most often on real KKT systems of order 5,000 and more", "goal", "Figure 1",
           comparison.fastest("large", "total")),
     Claim("Saddle has an answer to every real KKT system", "goal", "Figure 1", comparison.answers_all("kkt")),
     Claim("It is within a factor of 2 of the fastest on nine of ten real KKT systems", "goal", "Figure 1",
           comparison.within("kkt", "total", 2, 0.9)),
     Claim("It is the fastest most often on other real indefinite matrices", "goal", "Figure 2",
           comparison.fastest("indefinite", "total")),
     Claim("It is the fastest most often on real positive definite matrices", "goal", "Figure 2",
           comparison.fastest("spd", "total")),
     Claim("A factorization with new values is the fastest most often on real KKT systems", "goal", "Figure 3",
           comparison.fastest("kkt", "factor")),
     Claim("Saddle takes at most twice the memory of the most frugal solver on nine of ten real KKT systems", "goal",
           "Figure 4", comparison.within("kkt", "memory", 2, 0.9)),
     Claim("After refinement Saddle is the most accurate most often, on all sets together", "goal", "Figure 5",
           comparison.fastest(None, "error")),
     Claim("Saddle has the fewest failures: no peer fails on fewer of the matrices that both are asked for", "goal", "Table 2",
           comparison.fewest_failures),
     Claim("Saddle calls no wrong answer right and no wrong inertia certain", "goal", "Table 2", comparison.no_wrong),
     Claim("In no family does its time grow with an exponent that is more than 0.1 above that of a peer", "goal",
           "Figure 6", comparison.grows_least),
     Claim("Beside its peers in incomplete factorizations (SciPy's spilu and SYM-ILDL at equal fill; cuSPARSE on a GPU) Saddle "
           "solves as many systems in no more time", "goal", "Table 5", inexact.judge_incomplete),
     Claim("A call on a small system costs no more than with QDLDL and a dense dsysv", "goal", "Table 6",
           inexact.judge_calls),
     Claim("Kernels on batches of blocks of up to 32 rows are faster than LU with partial pivoting of LAPACK or cuBLAS",
           "goal", "Table 6", inexact.judge_blocks)),
    at_hand, comparison.summary)
