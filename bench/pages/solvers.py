"""What each solver did with each matrix, from the JSON of `saddle bench direct`: times, memory, errors, and how it failed.

A failure has one of four kinds. "no answer": the solver ended with an error, or says itself that its answer is not accurate.
"wrong answer": it returned success, and the backward error after refinement is above 1e-9. "wrong inertia": the number of
negative eigenvalues that it told is not the one in INERTIA.tsv, and it did not say that the number is in doubt; matrices that the
file leaves out are disputed or singular, and not counted. "time": it took longer than the limit. Where a solver refuses a kind of
matrix that it is not meant for, that is no failure, and the matrix is not counted for it.
"""
import math
from dataclasses import dataclass

ANSWER = 1e-9  # the largest backward error of one
NO_ANSWER, WRONG, INERTIA, TIME = "no answer", "wrong answer", "wrong inertia", "time"
FAILURES = (NO_ANSWER, WRONG, INERTIA, TIME)
ROUNDING = 2.0**-53  # errors below it are alike
SETS = ("kkt", "indefinite", "spd", "generated")
LARGE = 5000
WORDS = {"kkt": "real KKT systems", "large": f"real KKT systems of order {LARGE:,} and more",
         "indefinite": "other real indefinite matrices", "spd": "real positive definite matrices",
         "generated": "generated problems"}
SHORT = {"kkt": "KKT", "large": f"KKT, n ≥ {LARGE:,}", "indefinite": "indefinite", "spd": "positive definite",
         "generated": "generated"}

# What a solver says of a matrix that is not of the kind that it is for.
REFUSALS = ("not positive definite", "a zero pivot", "an empty column")
DEFINITE = ("lap2d", "lap3d", "elas3d")  # generated without a parameter


@dataclass(frozen=True)
class Solver:
    key: str                          # in the JSON
    name: str
    about: str                        # the setting, and what it is for
    sets: tuple[str, ...] = SETS      # that it is asked for
    definite: bool | None = None      # generated problems: only those that are (or are not) positive definite
    peer: str = ""                    # solvers with several settings share one
    pivots: bool = True               # whether it chooses them by their size

    @property
    def whose(self):
        return self.peer or self.key


CPU = (
    Solver("saddle", "Saddle", "defaults"),
    Solver("mumps", "MUMPS", "SYM = 2, METIS where it has it, its own choice of scaling and matching", peer="mumps"),
    Solver("mumps_compressed", "MUMPS (compressed)",
           "for augmented systems: matching (ICNTL(6) = 5), ordering of the compressed "
           "graph (ICNTL(12) = 2)", ("kkt", "indefinite", "generated"), False, "mumps"),
    Solver("mumps_posdef", "MUMPS (posdef)", "SYM = 1: positive definite, no pivoting", ("spd", "generated"), True, "mumps",
           False),
    Solver("pardiso", "PARDISO", "mtype −2 with the defaults of its manual", peer="pardiso"),
    Solver("pardiso_matching", "PARDISO (matching)",
           "with scaling and matching (iparm(11) = iparm(13) = 1), as its manual advises for "
           "saddle-point systems", ("kkt", "indefinite", "generated"), False, "pardiso"),
    Solver("cholmod", "CHOLMOD", "supernodal LLᵀ, METIS", ("spd", "generated"), True, "cholmod", False),
    Solver("cholmod_ldlt", "CHOLMOD (LDLᵀ)", "simplicial LDLᵀ, METIS", ("spd", "generated"), True, "cholmod", False),
    Solver("qdldl", "QDLDL", "LDLᵀ without pivoting, AMD; for quasidefinite matrices", peer="qdldl", pivots=False),
    Solver("superlu", "SuperLU", "SciPy's splu: COLAMD, row exchanges", peer="superlu"),
    Solver("superlu_symmetric", "SuperLU (symmetric)", "SciPy's splu: MMD of A + Aᵀ, SymmetricMode, diagonal pivots preferred",
           ("spd", "generated"), True, "superlu"),
    Solver("ssids", "SSIDS", "its defaults", peer="ssids"),
    Solver("ssids_matching", "SSIDS (matching)", "order and scaling by a matching", ("kkt", "indefinite", "generated"), False,
           "ssids"),
)
GPU = (
    Solver("saddle", "Saddle", "--device cuda, defaults"),
    Solver("cudss", "cuDSS", "symmetric, its defaults", peer="cudss"),
    Solver("cudss_matching", "cuDSS (matching)", "Bunch-Kaufman pivots and matching", peer="cudss"),
)


@dataclass(frozen=True)
class Outcome:
    """Seconds, bytes and backward errors; NaN where they are not known or there is no answer."""
    failure: str = ""
    said: str = ""                    # what the solver said of its failure, or what is wrong
    analysis: float = math.nan
    factor: float = math.nan          # again, with new values
    solve: float = math.nan           # refined
    total: float = math.nan           # analysis, factorization and refined solve, once
    memory: float = math.nan
    error: float = math.nan           # refined
    error_plain: float = math.nan
    doubt: bool = False               # it says itself that its inertia may be wrong

    @property
    def answered(self):
        return self.failure in ("", INERTIA)


@dataclass(frozen=True)
class Problem:
    name: str
    group: str
    n: int
    nnz: int
    outcomes: dict[str, Outcome]      # of the solvers that were asked, by their keys
    judged: bool                      # whether the inertia is known
    flops: float = math.nan           # of Saddle's factorization

    @property
    def family(self):
        return self.name.rsplit("_", 1)[0] + (":" + self.name.split(":")[1] if ":" in self.name else "")


def number(value):
    return math.nan if value is None else float(value)


def installed(solvers, rows):
    """Those that have run on any matrix, or have tried to: where a driver is not there, nothing is said."""
    return tuple(s for s in solvers if s.key == "saddle" or any(
        r.get(s.key) and (r[s.key]["ran"] or r[s.key]["error"]) for r in rows))


def is_definite(row):
    family, _, parameter = row["name"].partition(":")
    return family.rsplit("_", 1)[0] in DEFINITE and not parameter


def is_asked(solver, row):
    group = row["group"] if row["group"] in SETS else "generated"
    return group in solver.sets and (group != "generated" or solver.definite in (None, is_definite(row)))


def judge(o, told, expected):
    """The outcome with what is wrong about it."""
    if not o.error <= ANSWER:  # also where it is not a number
        why = "its answer is not finite" if math.isnan(o.error) else f"backward error {o.error:.0e}"
        return Outcome(WRONG, why, memory=o.memory, error=o.error, error_plain=o.error_plain, doubt=o.doubt)
    if expected is not None and told is not None and int(told) != expected and not o.doubt:
        return Outcome(**{**o.__dict__, "failure": INERTIA, "said": f"{int(told):,} negative eigenvalues, not {expected:,}"})
    return o


def of_saddle(s, expected, gpu):
    """Of Saddle's own figures."""
    if s["error"]:
        return Outcome(NO_ANSWER, s["error"])
    error = s["backward_error_verified"] if gpu and s["backward_error_verified"] is not None else s[
        "backward_error" if gpu else "backward_error_refined"]
    once = number(s["analysis"]) + number(s["factor"]) if gpu else number(s["once"])
    solve = number(s["solve"] if gpu else s["solve_refined"])
    told = s["certain_negative"] if gpu and s["certain_negative"] is not None else s["negative"]
    o = Outcome("", "", number(s["analysis"]), number(s["factor"]), solve, once + solve,
                number(s["device_bytes" if gpu else "peak_bytes"]), number(error), number(s["backward_error"]),
                s["certain"] == 0)
    if not gpu and not s["reached"] and not o.error <= ANSWER:
        why = "its refined solve ended with an error" if s["reached"] is None else (
            f"it says that the accuracy was not reached (backward error {o.error:.0e})")
        return Outcome(NO_ANSWER, why, doubt=o.doubt)
    return judge(o, told, expected)


def of_peer(p, expected, gpu):
    """Of a peer's; None where it refused a matrix that it is not meant for."""
    if not p["ran"]:
        if p["error"] == "took too long":
            return Outcome(TIME, "")
        refused = any(p["error"].startswith(r) for r in REFUSALS)
        definite = p["error"].startswith(REFUSALS[0]) and expected == 0
        return None if refused and not definite else Outcome(NO_ANSWER, p["error"])
    analysis, factor = number(p["analysis"]), number(p["refactor"] if gpu else p["factor"])
    solve = number(p["solve"] if gpu else p["solve_refined"])
    o = Outcome("", "", analysis, factor, solve, analysis + factor + solve, number(p["device_bytes" if gpu else "peak_bytes"]),
                number(p["backward_error_refined"]), number(p["backward_error"]))
    return judge(o, p["negative"], expected)


def problem(row, solvers, inertia, gpu):
    expected = inertia.get((row["group"], row["name"]))
    outcomes = {}
    for s in solvers:
        if is_asked(s, row):
            figures = row[s.key]
            o = of_saddle(figures, expected, gpu) if s.key == "saddle" else of_peer(figures, expected, gpu) if (
                figures["ran"] or figures["error"]) else None
            if o:
                outcomes[s.key] = o
    return Problem(row["name"], row["group"] if row["group"] in SETS else "generated", row["n"], row["nnz"], outcomes,
                   expected is not None, number(row["saddle"].get("flops")))


def cut_short(result):
    """A step that ended without figures. The peers have limits of their own, so it is Saddle's failure."""
    group, name = result.step.split("/", 1)
    o = Outcome(TIME, "") if result.failure == "time" else Outcome(NO_ANSWER, result.failure)
    return Problem(name, group if group in SETS else "generated", 0, 0, {"saddle": o}, False)
