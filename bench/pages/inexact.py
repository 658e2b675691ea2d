"""The parts and claims of the page on Saddle's standing that are not about direct solvers of large systems: incomplete
factorizations, calls on small systems, kernels on batches of blocks."""
import math

import draw
import profiles
from model import FAILS, HOLDS, PARTLY, UNMEASURED, Picture, Table, Text, Verdict

FORMS = {"ilu0": "ILU(0)", "ilu1": "ILU(1)", "ilut": "ILUT"}
SETTINGS = {"default": "its defaults", "equal": "at most as many entries"}  # of SYM-ILDL
TOLD = 0.01  # seconds that SYM-ILDL, which tells whole milliseconds, tells well enough


# ---- incomplete factorizations ----

def general(results):
    """The rows of `bench trisolve --part unsymmetric` that were begun."""
    return [row for _, data in results.each("unsymmetric") for row in data["unsymmetric"]["rows"] if not row["why"]]


def total(peer):
    return peer["setup"] + peer["solve"]


def both(rows, form):
    """(Saddle's, the peer's) seconds where both solved the system."""
    pairs = [(row[form]["saddle"], row[form]["spilu"]) for row in rows]
    return [(total(a), total(b)) for a, b in pairs if a["solved"] and b["solved"]]


def general_table(rows):
    found = []
    for form, title in FORMS.items():
        asked = [row[form] for row in rows if row[form]["spilu"]["run"]]
        ratios = [b / a for a, b in both(rows, form) if a > 0]
        found.append((title, len(asked), sum(r["saddle"]["solved"] for r in asked), sum(r["spilu"]["solved"] for r in asked),
                      sum(r["saddle"]["solved"] and not r["spilu"]["solved"] for r in asked),
                      sum(r["spilu"]["solved"] and not r["saddle"]["solved"] for r in asked), profiles.geometric_mean(ratios)))
    return Table(("preconditioner", "matrices", "Saddle", "spilu", "Saddle alone", "spilu alone", "time of spilu / Saddle's"),
                 found,
                 "General matrices solved by GMRES to 1e-6, with SciPy's spilu of at most as many entries",
                 (None, None, None, None, None, None, ".2f"),
                 {"time of spilu / Saddle's": "setup and iteration in seconds of a core, geometric mean over those that both "
                                              "solve; the search for spilu's parameters is not counted"})


def general_panel(rows):
    if len(rows) < 3:
        return None

    def sorted_ratios(form):
        return sorted(b / a for a, b in both(rows, form) if a > 0)
    return draw.ranked("Time of spilu over Saddle's, equal fill", "time / time", [
        (title, sorted_ratios(form)) for form, title in FORMS.items()], "y", 1)


def symmetric(results):
    """The rows of `bench ldlt --part symildl` where SYM-ILDL was there."""
    return [row for _, data in results.each("symmetric") for row in data["rows"]
            if any(run["run"] for run in row["symildl"].values())]


def slower(run):
    """The seconds of setup and of the slower right-hand side."""
    setup = run["setup"] if "setup" in run else run["analysis"] + run["factor"]
    return setup + max(side["solve"] for side in run["right_hand_sides"])


def most_iterations(run):
    return max(side["iterations"] for side in run["right_hand_sides"])


def both_symmetric(rows, setting):
    """(Saddle's run, SYM-ILDL's) where both solved the system."""
    return [(row["saddle"], row["symildl"][setting]) for row in rows
            if row["saddle"]["solved"] and row["symildl"][setting]["solved"]]


def told_times(rows, setting):
    """The time of SYM-ILDL over Saddle's."""
    return [slower(b) / slower(a) for a, b in both_symmetric(rows, setting) if slower(b) >= TOLD and slower(a) > 0]


def symmetric_counts(rows, setting):
    """Of so many, solved by Saddle, by SYM-ILDL, by either alone."""
    asked = [(row["saddle"]["solved"], row["symildl"][setting]["solved"]) for row in rows if row["symildl"][setting]["run"]]
    return (len(asked), sum(a for a, _ in asked), sum(b for _, b in asked), sum(a and not b for a, b in asked),
            sum(b and not a for a, b in asked))


def unsaid(rows, setting):
    """How many solutions are not what the residual that SYM-ILDL tells of them says."""
    runs = [row["symildl"][setting] for row in rows]
    return sum(bool(run["right_hand_sides"]) and not run["solved"] and
               all(side["told_residual"] is not None and side["told_residual"] <= run["asked_residual"]
                   for side in run["right_hand_sides"]) for run in runs if run["run"])


def symmetric_table(rows):
    found = []
    for setting, title in SETTINGS.items():
        pairs = both_symmetric(rows, setting)
        found.append((title, *symmetric_counts(rows, setting), unsaid(rows, setting),
                      profiles.geometric_mean([most_iterations(b) / max(1, most_iterations(a)) for a, b in pairs]),
                      profiles.geometric_mean([b["stored"] / a["stored"] for a, b in pairs]),
                      profiles.geometric_mean(told_times(rows, setting))))
    return Table(("setting", "matrices", "Saddle", "SYM-ILDL", "Saddle alone", "SYM-ILDL alone", "not as told",
                  "iterations / Saddle's", "entries / Saddle's", "time / Saddle's"), found,
                 "Symmetric indefinite matrices solved to 1e-8 by block LDLᵀ, with SYM-ILDL (rook pivoting, SQMR)",
                 (None, None, None, None, None, None, None, ".2f", ".2f", ".2f"),
                 {"SYM-ILDL": "solved: of the matrix as given, relative residual or componentwise error at most 1e-8 for b = A·1 "
                              "and a random b, in 1,000 iterations",
                  "not as told": "SYM-ILDL stops by the residual of its scaled matrix, and is asked again where that of the "
                                 "matrix as given is larger; here it is still",
                  "time / Saddle's": "setup and the slower right-hand side in seconds of a core, geometric mean over those that "
                                     "both solve and SYM-ILDL, which tells whole milliseconds, takes 10 ms or more for"})


def symmetric_blocks(results):
    rows = symmetric(results)
    absent = [data["absent"] for _, data in results.each("symmetric") if data["absent"]]
    return [symmetric_table(rows)] if rows else [Text(f"SYM-ILDL is not on this page: {absent[0]}.")] if absent else []


def cusparse_rows(results):
    data = results.get("cusparse")
    return data["cusparse"] if data else []


def cusparse_table(rows):
    found = []
    for row in rows:
        for key, value in row.items():
            if isinstance(value, dict) and key != "cusparse":
                found.append((row["name"], row["level"], f"Saddle, {key}", value["iterations"] if value["solved"] else None,
                              value["setup"],
                              value["application"] and 1e3 * value["application"], value["solve"]))
        p = row["cusparse"]
        found.append((row["name"], row["level"], "cuSPARSE", p["iterations"], p["factor"],
                      p["application"] and 1e3 * p["application"],
                      p["solve"]))
    return Table(("matrix", "level", "who", "iterations", "setup [s]", "application [ms]", "iteration [s]"), found,
                 "IC(k) and its triangular solves on the GPU beside cuSPARSE's csric02 and SpSV")


def incomplete(results):
    rows, device = general(results), cusparse_rows(results)
    blocks = []
    if rows:
        panel = general_panel(rows)
        picture = [Picture(draw.on_figure(panel),
                           "Each curve over the matrices that both solve, in the order of the ratio; above the "
                           "dashed line Saddle is faster.", "three curves of ratios of times", 8.2, 4.0)] if panel else []
        blocks += [general_table(rows), *picture]
    blocks += symmetric_blocks(results)
    return blocks + ([cusparse_table(device)] if device else [])


def judge_general(rows):
    ours, theirs = (sum(row[form][who]["solved"] for row in rows for form in FORMS if row[form]["spilu"]["run"])
                    for who in ("saddle", "spilu"))
    mean = profiles.geometric_mean([b / a for form in FORMS for a, b in both(rows, form) if a > 0])
    figures = (f"Solved: Saddle {ours}, spilu {theirs} (three preconditioners on {len(rows)} matrices); "
               f"spilu takes {mean:.2f} times as long.")
    good = (ours >= theirs, mean >= 1)
    return Verdict(HOLDS if all(good) else PARTLY if any(good) else FAILS, figures)


def judge_cusparse(rows):
    ratios = []
    for row in rows:
        ours = [v["solve"] for k, v in row.items() if isinstance(v, dict) and k != "cusparse" and v["solved"]]
        if ours and row["cusparse"]["solve"]:
            ratios.append(row["cusparse"]["solve"] / min(ours))
    if not ratios:
        return Verdict(UNMEASURED, "Neither was measured.")
    mean = profiles.geometric_mean(ratios)
    return Verdict(HOLDS if min(ratios) >= 1 else PARTLY if mean >= 1 else FAILS,
                   f"The iteration with cuSPARSE takes {mean:.2f} times as long as the best of Saddle's ({len(ratios)} cases).")


def judge_symmetric(rows):
    count, ours, theirs, *_ = symmetric_counts(rows, "equal")
    mean = profiles.geometric_mean(told_times(rows, "equal"))
    _, by_default, theirs_by_default, *_ = symmetric_counts(rows, "default")
    mean_by_default = profiles.geometric_mean(told_times(rows, "default"))
    good = (ours >= theirs, not mean < 1)  # also where no time was long enough to be told
    figures = (f"Solved of {count} symmetric matrices: Saddle {ours}, SYM-ILDL {theirs} with at most as many entries, "
               f"which takes {mean:.2f} times as long" if not math.isnan(mean) else
               f"Solved of {count} symmetric matrices: Saddle {ours}, SYM-ILDL {theirs} with at most as many entries")
    if not math.isnan(mean_by_default):
        figures += f"; by its defaults {theirs_by_default} (Saddle {by_default}) in {mean_by_default:.2f} times the time"
    return Verdict(HOLDS if all(good) else PARTLY if any(good) else FAILS, figures + ".")


def judge_incomplete(results):
    rows = [row for row in general(results) if any(row[form]["spilu"]["run"] for form in FORMS)]
    said = ([judge_general(rows)] if rows else []) + ([judge_symmetric(symmetric(results))] if symmetric(results) else [])
    if not said:
        return judge_cusparse(cusparse_rows(results))
    kinds = {one.verdict for one in said}
    absent = ([] if rows else ["spilu was not measured."]) + ([] if symmetric(results) else ["SYM-ILDL was not measured."])
    return Verdict(kinds.pop() if len(kinds) == 1 else PARTLY, " ".join([one.figures for one in said] + absent))


# ---- small systems ----

def call_rows(results):
    data = results.get("calls")
    return data["rows"] if data else []


def seconds(peer, refined):
    return peer["factor"] + peer["solve_refined" if refined else "solve"] if peer["ran"] else None


def calls_table(rows):
    found = []
    for row in rows:
        q, dense = seconds(row["qdldl"], True), seconds(row["lapack"], True)
        ours = [1e6 * row[way]["seconds"] for way in ("all", "uncertified", "unrefined", "once")]
        found.append((row["name"], row["n"], *ours,
                      q and 1e6 * q, dense and 1e6 * dense))
    return Table(("system", "n", "Saddle, all [µs]", "no certificate", "not refined", "once", "QDLDL", "dsysv"), found,
                 "New values and one right-hand side, microseconds", (None, ",d", ".1f", ".1f", ".1f", ".1f", ".1f", ".1f"),
                 {"Saddle, all [µs]": "factorization, refined solve with measured errors, certified inertia: the defaults",
                  "once": "saddle_solve_once, with everything from the pattern on",
                  "QDLDL": "with one refinement", "dsysv": "LAPACK's dense solver, with one refinement"})


def judge_calls(results):
    rows = [r for r in call_rows(results) if r["qdldl"]["ran"] or r["lapack"]["ran"]]
    if not rows:
        return Verdict(UNMEASURED, "Neither QDLDL nor LAPACK was measured.")
    words, worst = [], 0.0
    for name, peer in (("QDLDL", "qdldl"), ("dsysv", "lapack")):
        ratios = [r["all"]["seconds"] / seconds(r[peer], True) for r in rows if r[peer]["ran"]]
        if ratios:
            words.append(f"{min(ratios):.2g} to {max(ratios):.2g} times {name}'s")
            worst = max(worst, *ratios)
    plain = [r["unrefined"]["seconds"] / seconds(r["qdldl"], False) for r in rows if r["qdldl"]["ran"]]
    why = "" if worst <= 1 else ("Saddle's defaults measure the errors of x and certify the inertia, which neither peer does"
                                 + (f"; without both and without refinement it takes {min(plain):.2g} to {max(plain):.2g} "
                                    "times as long as QDLDL's bare factorization and solve, since Saddle pivots."
                                    if plain else "."))
    return Verdict(HOLDS if worst <= 1 else FAILS,
                   f"By its defaults Saddle takes {' and '.join(words)} time ({len(rows)} sizes).", why)


# ---- blocks ----

def block_rows(results):
    data = results.get("blocks")
    return [r for r in data["rows"] if r["part"] == "kernels"] if data else []


def largest_batch(rows):
    return max((r["batch"] for r in rows), default=0)


def block_ratios(rows):
    """(precision, size, kernel, nanoseconds, peer, times as fast) of the largest batch."""
    return [(r["precision"], r["size"], r["name"], r["nanoseconds_a_block"], r["peer"], r["times_as_fast"]) for r in rows
            if r["times_as_fast"] is not None and r["version"] == "default" and r["batch"] == largest_batch(rows)]


def small(results):
    blocks = []
    if call_rows(results):
        blocks.append(calls_table(call_rows(results)))
    found = block_ratios(block_rows(results))
    if found:
        blocks.append(Table(("precision", "rows", "kernel", "ns a block", "peer", "times as fast"), found,
                            f"Batches of {largest_batch(block_rows(results)):,} blocks beside LAPACK or cuBLAS",
                            (None, None, None, ".1f", None, ".2f")))
    return blocks


def judge_blocks(results):
    found = [r for r in block_ratios(block_rows(results)) if r[2] == "ldu-partial" and r[1] <= 32]
    if not found:
        return Verdict(UNMEASURED, "No kernels were measured beside a peer.")
    words = ", ".join(f"{speed:.1f} ({precision}, {size})" for precision, size, _, _, _, speed in found)
    good = sum(r[5] >= 1 for r in found)
    return Verdict(HOLDS if good == len(found) else PARTLY if good else FAILS,
                   f"ldu-partial beside {found[0][4]}, times as fast: {words}.")
