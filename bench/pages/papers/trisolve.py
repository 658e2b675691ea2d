"""E. Chow, H. Anzt, J. Scott and J. Dongarra, Using Jacobi iterations and blocking for solving sparse triangular systems in
incomplete factorization preconditioning: Figures 1 to 9 and Tables 1 to 7, from what `saddle bench trisolve` measures.
"""
import draw
import matrices
from judging import median, percent
from model import Choice, Part, Picture, Step, Subject, Table
from papers import trisolve_claims as claims
from papers import trisolve_matrices
from papers import trisolve_results as read

APPLICATION = "level=0 trisolve=exact; level=0 trisolve=jacobi trisolve_sweeps=2; level=0 trisolve=jacobi trisolve_sweeps=6"
SMALL = "bcsstk34"  # a stiffness matrix on which all of Figure 3 is seen: sweeps over entries grow, and then converge
BLOCKINGS = "bcsstk20"  # not solved by sweeps over blocks of adjacent rows
ORDERS = {"cfd1": "0", "crankseg_1": "0,1", "Emilia_923": "0,1", "nd3k": "1"}


def step(choice, kind, operand, words, seconds, cost, device=True):
    """A step on one matrix that measures for at most so many seconds, of one core where that is all there is."""
    more = ("--device", "cuda") if device and choice.device == "cuda" else ()
    threads = ("--threads", str(choice.threads)) if choice.threads != 1 else ()
    limit = 95 if more else 120 + 8 * seconds
    return Step(f"{kind}/{matrices.label(operand)}", ("bench", "trisolve", operand, *words, "--scaled", *more, *threads,
                                                      "--limit",
                                                      f"{seconds:g}", "--json", "{json}"), cost, limit)


def steps(choice: Choice) -> list[Step]:
    quick, cuda = choice.quick, choice.device == "cuda"
    found = []

    def add(kind, name, words, seconds, cost, device=True):
        operand = trisolve_matrices.operand(choice, name)
        if operand:
            found.append(step(choice, kind, operand, words, seconds, cost, device))
    add("figure1", "Hook_1498", ("--part", "figure1"), 2 if quick else 40, 0.3 if quick else 20)
    add("figure2", "Geo_1438", ("--part", "figure2"), 2 if quick else 40, 0.3 if quick else 20)
    add("figure3", "bcsstk24", ("--part", "figure3", "--most", "31"), 2 if quick else 30, 0.5 if quick else 30, device=False)
    add("figure4", "bcsstk24", ("--part", "figure4", "--most", "21"), 2 if quick else 25, 0.5 if quick else 30)
    small = matrices.find(choice.matrices, SMALL)
    if small and not quick:
        found.append(step(choice, "figure3", small, ("--part", "figure3"), 10, 1, device=False))
        found.append(step(choice, "figure4", small, ("--part", "figure4", "--most", "21"), 10, 1))
    add("figure5", "thermal1", ("--part", "figure5"), 2 if quick else 45, 0.5 if quick else 40)
    tried = ("--ways", "entries,blocks_12", "--most", str(read.MOST_SWEEPS + 1))
    for operand in trisolve_matrices.tested(choice):
        found.append(step(choice, "table1", operand, ("--part", "table1", *tried), 2 if quick else 18, 0.5 if quick else 5))
    for operand in trisolve_matrices.tested(choice):
        found.append(step(choice, "best", operand, ("--part", "figure6,figure7", *tried), *((1, 0.7) if quick else (5, 6))))
    for operand in trisolve_matrices.tested(choice):
        found.append(step(choice, "figure8", operand, ("--part", "figure8"), 5 if quick else 20, 0.5, device=False))
    for name, levels in ORDERS.items():
        add("orders", name, ("--part", "tables2to5,figure9", "--levels", levels, "--most", "6" if quick else "11"),
            1 if quick else 10 * len(levels.split(",")), 1 if quick else 14)
    if hard := matrices.find(choice.matrices, BLOCKINGS):
        words = ("--part", "table1", "--ways", "best_12", "--levels", "1", "--most", str(read.MOST_SWEEPS + 1))
        found.append(step(choice, "blockings", hard, words, 4 if quick else 20, 3))
    for name in ("Hook_1498", "G2_circuit" if cuda else "shallow_water1")[:1 if quick else 2]:
        if cuda:
            add("cusparse", name, ("--part", "cusparse", "--levels", "0"), 60, 20)
        else:
            add("application", name, ("--part", "settings", "--settings", APPLICATION), 2 if quick else 20, 0.3 if quick else 6)
    return found


# ---- figures 1 to 5 ----

def panels(found, exact):
    """Residual, iterations and time by sweeps of curves; `exact`: beside exact solves, where there is one curve."""
    def of(key):
        return [(c.ways(), [(p.sweeps, getattr(p, key)) for p in c.points]) for c in found]
    alone = found[0].exact if exact and len(found) == 1 and found[0].exact["solved"] else {}
    return [draw.curves("A triangular solve", "sweeps", "relative residual", of("residual"), "y"),
            draw.curves("Iterations of CG", "sweeps", "iterations", of("iterations"), "", alone.get("iterations")),
            draw.curves("Time of the iteration", "sweeps", "time [s]", of("solve"), "", alone.get("solve")),
            draw.curves("Time of the iteration, beside exact solves", "sweeps", "exact / swept", [
                (c.ways(), [(p.sweeps, c.exact["solve"] / p.solve if p.solve else None) for p in c.points])
                for c in found if c.exact["solved"]], "y", 1) if exact else None]


def numbers(found):
    """A table of curves: exact solves, and each number of sweeps."""
    rows = []
    for c in found:
        rows.append((c.ways(), "exact", None, c.exact["iterations"], c.exact["solve"]))
        rows += [(c.ways(), str(p.sweeps), p.residual, p.iterations, p.solve) for p in c.points]
    return Table(("factor, sweeps over", "sweeps", "residual", "iterations", "seconds"), rows,
                 f"{found[0].name}, {found[0].n:,} rows",
                 (None, None, ".1e", ",.0f"), {"residual": "of one triangular solve, relative to the right-hand side",
                                                      "sweeps": "as in the paper, whose first guess D⁻¹c is Saddle's first "
                                                                "sweep",
                                                      "seconds": "of the iteration, without the setup"})


def sweeps_part(figure, with_table=True):
    def show(results):
        found = read.curves(results, figure)
        blocks = []
        for name in dict.fromkeys(c.name for c in found):
            mine = [c for c in found if c.name == name and c.points]
            drawn = draw.on_figure(*panels(mine, True), across=2) if mine else None
            if drawn:
                count = sum(p is not None for p in panels(mine, True))
                blocks.append(Picture(drawn, f"{name}: residual of a triangular solve, iterations and time by the number of "
                                             "sweeps; dashed: exact "
                                      "solves.", f"curves of {name} over the number of sweeps", 12, 7.4 if count > 2
                                      else 3.8))
            if with_table and mine:
                blocks.append(numbers(mine))
        return blocks
    return show


def show_figure3(results):
    """Over entries alone, and over blocks, as the paper has it."""
    found = read.curves(results, "figure3")
    blocks = []
    for name in dict.fromkeys(c.name for c in found):
        mine = [c for c in found if c.name == name and c.points]
        groups = (("Over entries", [c for c in mine if not c.block]),
                  ("Over blocks of adjacent rows", [c for c in mine if c.block]))
        drawn = draw.on_figure(*(draw.curves(title, "sweeps", "relative residual", [
            (c.ways(), [(p.sweeps, p.residual) for p in c.points]) for c in some], "y", 1) for title, some in groups), across=2)
        if drawn:
            blocks.append(Picture(drawn, f"{name}: residual of a triangular solve by the number of sweeps; dashed: 1, that of "
                                         "zero. A curve ends where Saddle reports that sweeps "
                                  "diverge.", "residuals that grow before they fall", 12,
                                  3.8))
    return blocks


# ---- tables 1, figures 6 to 8 ----

PAPER_SOLVED = {0: (69, 58, 65), 1: (78, 58, 73)}  # by exact solves, by sweeps over entries and over blocks


def shares(every, some):
    return [f"{count} ({percent(count, every):.0f} %)" for count in some]


def show_table1(results):
    rows = []
    for level, paper in PAPER_SOLVED.items():
        for shifted in (False, True):
            found = read.searched(results, level, shifted)
            counts = [len(read.solved(found, way)) for way in read.WAYS]
            if found:
                late = [len(read.undecided(found, way)) for way in read.WAYS]
                theirs = (None,) * 3 if shifted else (paper[0], *shares(paper[0], paper[1:]))
                rows.append((f"IC({level})" + (", also shifted" if shifted else ""), len(found), *shares(len(found), counts),
                             sum(late), *theirs))
    if not rows:
        return []
    table = Table(("factor", "exact", "entries", "blocks of 12", "not decided", "paper: exact", "paper: entries",
                   "paper: blocks"), rows,
                  "Matrices solved with exact triangular solves, and of these with sweeps over entries and over blocks of at "
                  "most 12 adjacent rows", (),
                  {"also shifted": "with those whose factorization breaks down and is made with a shift; the paper leaves them "
                   "out", "not decided": "the time limit was over before all of 0 to 20 sweeps were tried; they count as not "
                   "solved"})
    failed = [(r["name"], f"IC({r['level']})", read.WAYS[way], "time limit" if r[way]["late"] else "no",
               next(iter(r[way]["failed"].values()), None))
              for level in PAPER_SOLVED for r in read.searched(results, level, True) for way in read.WAYS
              if way in r and not r[way]["solved"]]
    if not failed:
        return [table]
    return [table, Table(("matrix", "factor", "sweeps over", "solved", "the nearest try"), failed,
                         "What sweeps did not solve. The nearest try counts sweeps as Saddle does, one more than the paper.")]


def histogram(title, series):
    """Matrices by numbers of sweeps."""
    names = ["" if k % 2 else str(k) for k in range(read.MOST_SWEEPS + 1)]
    bars = draw.steps(title, "matrices", names, [(name, [best.count(k) for k in range(len(names))]) for name, best in series])

    def panel(ax):
        bars(ax)
        ax.set_xlabel("sweeps")
        ax.tick_params(axis="x", length=0)
        for text in ax.get_xticklabels():
            text.set(rotation=0, ha="center")
        ax.yaxis.get_major_locator().set_params(integer=True)
    return panel if bars else None


def show_figure6(results):
    counts = {(level, way): read.best_sweeps(read.fastest(results, level), way) for level in (0, 1)
              for way in read.WAYS}
    drawn = draw.on_figure(*(histogram(f"IC({level})", [(name, counts[level, way]) for way, name in read.WAYS.items()])
                             for level in (0, 1)), across=2)
    rows = [(f"IC({level})", name, len(best), median(best), percent(sum(s < 10 for s in best), len(best)), max(best))
            for (level, way), best in counts.items() if best for name in (read.WAYS[way],)]
    if not rows:
        return []
    return [Picture(drawn, "Matrices by the number of sweeps with which the iteration is the shortest.",
                    "histograms of the fastest number of sweeps", 12, 3.8),
            Table(("factor", "sweeps over", "matrices", "median", "% below 10", "most"), rows, "The fastest numbers of sweeps",
                  (None, None, None, ".1f", ".0f"))]


def show_figure7(results):
    found = {(level, way): read.speedups(read.fastest(results, level), way) for level in (0, 1)
             for way in read.WAYS}
    drawn = draw.on_figure(*(draw.ranked(f"IC({level})", "exact / swept",
                                         [(name, found[level, way]) for way, name in read.WAYS.items()],
                                         "y", 1) for level in (0, 1)), across=2)
    rows = [(f"IC({level})", read.WAYS[way], len(s), max(s), median(s), min(s), sum(v < 1 for v in s))
            for (level, way), s in found.items() if s]
    if not rows:
        return []
    return [Picture(drawn, "The time of the iteration with exact solves over that with the fastest number of sweeps, matrices "
                           "sorted by it; dashed: as fast.", "falling curves of speed-ups", 12, 3.8),
            Table(("factor", "sweeps over", "matrices", "largest", "median", "smallest", "slower"), rows, "Exact over swept",
                  (None, None, None, ".2f", ".2f", ".2f"))]


def show_figure8(results):
    found = read.dominances(results)
    if not found:
        return []

    def panel(title, up, key):
        rows = sorted(getattr(d, key) for d in found)
        return draw.ranked(title, up, [(f"IC({k})", [r[k] for r in rows]) for k in (0, 1)])
    drawn = draw.on_figure(panel("By rows", r"mean of $\sum_j |l_{ij}| \,/\, |l_{ii}|$", "rows"),
                           panel("By blocks of 12", r"mean of $\sum_j \Vert L_{ij}\Vert \, \Vert L_{ii}^{-1}\Vert$", "blocks"),
                           across=2)
    return [Picture(drawn, "Off-diagonal dominance of the factors, matrices sorted by that of IC(0): the smaller, the more "
                           "dominant is the diagonal.", "the curve of IC(1) lies above that of IC(0)", 12, 3.8),
            Table(("matrix", "IC(0), rows", "IC(1), rows", "IC(0), blocks", "IC(1), blocks"),
                  [(d.name, *d.rows, *d.blocks) for d in found],
                  "Off-diagonal dominance", (None, ".3g", ".3g", ".3g", ".3g"))]


# ---- tables 2 to 5, figure 9 ----

TITLES = ("RCM", "PB", "PBD", "METIS")
PAPER_ORDERS = {  # iterations, seconds and levels with exact solves in the orders RCM, PB and PBD, by the paper
    0: {"cfd1": ((445, 24.8, 2831), (496, 15.7, 1249), (537, 32.4, 2903)),
        "crankseg_1": ((88, 23.3, 6841), (190, 99.8, 13594), (163, 96.7, 16086)),
        "Emilia_923": ((305, 226.1, 33495), (604, 99.7, 3749), (1346, 269.8, 4938))},
    1: {"nd3k": ((51, 38.1, 7716), (63, 50.4, 7564), (58, 44.7, 7052)),
        "crankseg_1": ((40, 39.2, 15856), (59, 177.9, 33357), (49, 142.6, 32864)),
        "Emilia_923": ((102, 149.3, 60264), (496, 359.8, 17913), (1121, 1220.8, 31071))},
}
PAPER_BEST = {  # sweeps, iterations, seconds, of PB and PBD
    0: {"cfd1": ((1, 1298, 4.0), (4, 651, 3.3)), "crankseg_1": ((6, 209, 4.4), (7, 171, 3.9)),
        "Emilia_923": ((7, 625, 72.8), (5, 1392, 139.2))},
    1: {"nd3k": ((22, 69, 1.8), (23, 60, 1.4)), "crankseg_1": ((9, 61, 3.0), (9, 54, 2.6)),
        "Emilia_923": ((8, 496, 99.0), (5, 1181, 167.3))},
}


def label(name):
    """With the matrix of Tables 2 to 5 that it stands in for."""
    stands_for = next((p for p in ORDERS if name in trisolve_matrices.STANDINS[p]), None)
    return f"{name} for {stands_for}" if stands_for else name


def exact_part(level):
    def show(results):
        found = read.by_matrix(read.orders(results), level)
        rows = [(label(name), "Saddle", *(o[t].exact[key] if t in o and o[t].exact["solved"] else None
                                   for key in ("iterations", "solve", "levels") for t in TITLES[:3])) for name,
                o in found.items()]
        if rows:
            rows += [(name, "paper", *(v[k] for k in range(3) for v in values)) for name, values in PAPER_ORDERS[level].items()]
        heads = [f"{what}, {t}" for what in ("iterations", "seconds", "levels") for t in TITLES[:3]]
        return [Table(("matrix", "whose", *heads), rows, f"IC({level})-CG with exact triangular solves in three orders",
                      (None, None, *(",.0f",) * 3, *(None,) * 3, *(",.0f",) * 3), {
                          "seconds": "of the iteration; the paper's are those of cuSPARSE on a Tesla K40"})] if rows else []
    return show


def best_part(level):
    def show(results):
        rows = []
        for name, o in read.by_matrix(read.orders(results), level).items():
            best = [o[t].curve.best() if t in o else None for t in ("PB", "PBD")]
            speed = [o[t].curve.speedup() if t in o else None for t in ("PB", "PBD")]
            rows.append((label(name), "Saddle", *(v for b, s in zip(best, speed) for v in (
                (b.sweeps, b.iterations, b.solve, s) if b else (None,) * 4))))
        if rows:
            for name, values in PAPER_BEST[level].items():
                exact = PAPER_ORDERS[level][name]
                rows.append((name, "paper", *(v for k, one in enumerate(values) for v in (*one, exact[k + 1][1] / one[2]))))
        heads = [f"{t}: {what}" for t in ("PB", "PBD") for what in ("sweeps", "iterations", "seconds", "exact / swept")]
        return [Table(("matrix", "whose", *heads), rows, f"IC({level})-CG with the fastest number of sweeps over blocks of at "
                                                         "most 12 rows",
                      (None, None, *(None, ",.0f", None, ".2f") * 2), {
                          "exact / swept": "the time of the iteration with exact solves in the same order over this one; of "
                                           "the paper, from its tables"})] if rows else []
    return show


def show_figure9(results):
    blocks = []
    for level in (0, 1):
        for name, o in read.by_matrix(read.orders(results), level).items():
            drawn = draw.on_figure(*(draw.curves(f"{name}, IC({level}): {title}", "sweeps", up, [
                (t, [(p.sweeps, getattr(p, key)) for p in o[t].curve.points]) for t in TITLES if t in o])
                for key, title, up in (("iterations", "iterations", "iterations"),
                                       ("solve", "time", "time of the iteration [s]"))), across=2)
            if drawn:
                blocks.append(Picture(drawn, f"{name}, IC({level}): iterations and time by sweeps over the blocks of each "
                                             "order. RCM: blocks of adjacent "
                                      "rows.", f"curves of the orders on {name}", 12, 3.8))
    return blocks


# ---- the whole ----

OTHERS = "What stands in for the matrices that are missing is listed under [matrices](#matrices)."


def summary(results):
    found = claims.fast(results)
    sentences = []
    counts = [text for level in (0, 1) if (text := claims.shares(results, level)[1])]
    if counts:
        sentences.append("What sweeps solve of what exact triangular solves solve: " + "; ".join(counts) + ".")
    if found:
        every = [v for _, s in found for v in s]
        where = "the GPU" if claims.on_gpu(results, "best") else "the CPU"
        sentences.append(f"On {where} the iteration with exact solves takes {median(every):.2f} times that with the fastest "
                         f"number of sweeps in the median, at most {max(every):.2f} times.")
    return sentences


K40 = "on a Tesla K40 with CUDA 8"
SUBJECT = Subject(
    "trisolve", "Iterative triangular solves for incomplete factorizations",
    "E. Chow, H. Anzt, J. Scott and J. Dongarra, Using Jacobi iterations and blocking for solving sparse triangular systems in "
    "incomplete factorization preconditioning, Journal of Parallel and Distributed Computing 119 (2018). The paper measures "
    f"{K40}, exact triangular solves being those of cuSPARSE. Systems are scaled by the 2-norms of the columns and ordered by "
    "RCM, the right-hand side is 1, and CG ends at a relative residual of 1e-6 or after 3,000 iterations, as in the paper.",
    steps,
    (Part("Figure 1", "Hook_1498: sweeps over entries with IC(0)", ("figure1", "cusparse", "application"),
          sweeps_part("figure1"),
          f"Exact: 1338 iterations and 660 s; 3 sweeps are the fastest, 165 s, 4.0 times as fast ({K40}). A sweep takes 6.5 "
          "ms, an exact triangular solve 216.7 "
          "ms.", "The matrix itself, 1,498,023 rows, unless its file is in the folder. " + OTHERS),
     Part("Figure 2", "Geo_1438: the same", ("figure2",), sweeps_part("figure2"),
          f"Exact: 533 iterations and 320 s; 3 sweeps are the fastest, 3.3 times as fast ({K40}).",
          "The matrix itself, 1,437,960 rows, unless its file is in the folder."),
     Part("Figure 3", "bcsstk24: residual of a triangular solve with IC(1)", ("figure3",), show_figure3,
          "Over entries the residual grows by many orders of magnitude and falls only after more than 100 sweeps; over blocks "
          "of 6, 12 and 24 rows it grows much less.",
          "The matrix itself unless its file is in the folder; s2rmt3m1, a shell with six unknowns a node as well, stands in "
          "for it, and bcsstk34 is beside it, on which sweeps over entries end by converging. Sweeps beyond those drawn: "
          "Saddle gives up where they diverge."),
     Part("Figure 4", "bcsstk24: IC(1)-CG by sweeps over blocks", ("figure4",), sweeps_part("figure4", False),
          "56 iterations with exact solves; with 15 sweeps over blocks CG converges rapidly."),
     Part("Figure 5", "thermal1: levels of fill", ("figure5",), sweeps_part("figure5", False),
          "Sweeps that match exact solves, and the fastest number of sweeps, grow with the level; sweeps are faster at all "
          f"levels ({K40})."),
     Part("Table 1", "What sweeps solve of what exact solves solve", ("table1",), show_table1,
          "IC(0): 69 by exact solves, 58 (84 %) by sweeps over entries, 65 over blocks, which is 94 % (the paper has 92 %). "
          "IC(1): 78, 58 (74 %), 73 (94 %). At most 20 sweeps, blocks of at most 12 rows."),
     Part("Figure 6", "The fastest numbers of sweeps", ("best",), show_figure6,
          f"They cluster around 3; most are below 10 ({K40})."),
     Part("Figure 7", "Speed-ups over exact solves", ("best", "application", "cusparse"), show_figure7,
          f"Beyond 10 for some matrices, few are slower, fewer over blocks ({K40}, exact solves by cuSPARSE)."),
     Part("Figure 8", "Dominance of the factors", ("figure8",), show_figure8,
          "For nearly all of 65 matrices IC(1) is as dominant as IC(0) or less."),
     Part("Table 2", "IC(0) with exact solves in other orders", ("orders",), exact_part(0),
          f"Its numbers are in the table ({K40}).",
          "The matrices themselves unless their files are in the folder. " + OTHERS),
     Part("Table 3", "IC(0) with the fastest number of sweeps", ("orders", "blockings"), best_part(0),
          f"Its numbers are in the table ({K40})."),
     Part("Table 4", "IC(1) with exact solves in other orders", ("orders",), exact_part(1),
          f"Its numbers are in the table ({K40}).",
          "The matrices themselves unless their files are in the folder."),
     Part("Table 5", "IC(1) with the fastest number of sweeps", ("orders",), best_part(1),
          f"Its numbers are in the table ({K40})."),
     Part("Figure 9", "Sweeps over the blocks of other orders", ("orders",), show_figure9,
          "With fewer than 10 sweeps iterations are almost those of exact solves; METIS takes longer than PB and PBD.")),
    claims.CLAIMS, trisolve_matrices.table, summary)
