"""Anzt, Dongarra, Flegar, Quintana-Ortí, Tomás: Variable-size batched Gauss-Huard for block-Jacobi preconditioning, 2017."""
import panels
from content import counted
from draw import curves, on_figure
from judging import times
from matrices import every, label
from model import Choice, Part, Picture, Step, Subject, Table, Text
from papers.batches import Batches, gflops
from papers.huard_claims import CLAIMS
from papers.huard_data import BOUNDS, KERNELS, SIZES, both, differences, largest, setups, solves, speedups

P100 = "NVIDIA Tesla P100 (2016, 4.7 TFlop/s in double), CUDA 8.0, MAGMA 2.0"
APPLIED = (4, 8, 12, 16, 20, 24, 32)
LARGEST, LIMIT = 10000, 1.5                # rows of a matrix, seconds of a solve
MADE = ("lap2d_40", "lap2d_80", "lap3d_12", "lap3d_20", "elas3d_5", "elas3d_10", "lap2d_60:0.5", "pdeco2d_30", "kktz_40",
        "ipm_1000")
FEW = ("nos4", "bcsstk22", "pyamg_unit_cube", "nos1", "494_bus", "bcsstk34", "gr_30_30", "west0479", "orsirr_2",
       "pyamg_recirc_flow")


def operands(choice: Choice) -> list[str]:
    """The paper does not say which matrices it took: those at hand that BiCGSTAB is for, else generated ones."""
    found = [m for m in every(choice.matrices) if m.kind in ("spd", "unsymmetric") and m.n <= LARGEST]
    if choice.quick:
        found = [m for m in found if m.name in FEW]
    return [m.path for m in found] or list(MADE[::3] if choice.quick else MADE)


def steps(choice):
    device, quick = ("--device", choice.device), ("--quick",) if choice.quick else ()
    most = 60 if choice.quick else 300

    def blocks(name, cost, *words):
        return Step(name, ("bench", "blocks", *words, *device, "--threads", str(choice.threads), "--json", "{json}"), cost,
                    most)
    names = ",".join((*KERNELS, "ldu-partial"))
    found = [blocks("setup", 25, "--part", "setup", "--kernel", names, *quick)]
    found += [blocks(f"apply/{n}", 5, "--part", "apply", "--kernel", names, "--size", str(n), *quick)
              for n in (APPLIED[1::2] if choice.quick else APPLIED)]
    found += [blocks(f"kernels/{n}", 10, "--part", "kernels", "--kernel", names, "--size", str(n), *quick) for n in SIZES]
    return found + [
        blocks(f"solve/{label(one)}", 2, one, "--kernel", ",".join(KERNELS), "--blocking", "supervariables", "--limit",
               str(LIMIT))
        for one in operands(choice)]


# ---- parts ----

PAPERS_SETUP = {("jordan", 16): "6", ("huard", 16): "12 to 20", ("huard-t", 16): "12 to 20", ("jordan", 32): "more than 7.5",
                ("huard", 32): "more than 10", ("huard-t", 32): "8.5"}


def figure2(results):
    b = setups(results)
    if not b.rows:
        return []
    rows = []
    for size in SIZES:
        most = max(b.values("batch", part="setup", size=size))
        for name in (*KERNELS, "ldu-partial"):
            row, found = b.row(name, part="setup", size=size, batch=most), speedups(results, name, size)
            if row:
                rows.append((size, name, f"{most:,}", found[-1][1] if found else None, max((v for _, v in found), default=None),
                             PAPERS_SETUP.get((name, size)), gflops(row), row["copies"]))
    return [
        Picture(on_figure(*(panels.block_setups(b.rows, size) for size in SIZES), across=2),
                f"Speed-up over {b.peer()}, by the number of blocks; the dashed line is 1.", "speed-ups of batched "
                "factorizations", 13, 4),
        Table(("rows", "kernel", "blocks", "times as fast", "at most", "paper", "Gflop/s", "copies"), rows,
              f"Setup in double, as multiples of the speed of {b.peer()}", (None, None, None, ".2f", ".2f", None, ".1f", ".2f"),
              {"kernel": "jordan is BGJE of the paper, huard BGH, huard-t BGHT; ldu-partial is Saddle's own LU with row "
               "interchanges",
               "at most": "in the batch where it is largest", "Gflop/s": "of the operations of the elimination: 2 n³ for "
               "jordan, 2/3 n³ "
               "for the others", "copies": "its time over that of copying the batch"})]


def figure3_left(results):
    b = Batches.of(results, "apply")
    if not b.rows:
        return []
    rows = []
    for size in b.values("size", part="apply", work="apply"):
        wanted = {"part": "apply", "work": "apply", "size": size, "precision": "double"}
        mine = [b.row(name, **wanted) for name in (*KERNELS, "ldu-partial")]
        rows.append((size, *(1e3 * r["seconds"] if r else None for r in mine), b.ratio("huard", "jordan", **wanted),
                     b.ratio("huard", "huard-t", **wanted), mine[0]["percent_of_floor"] if mine[0] else None))
    return [
        Picture(on_figure(*(panels.block_applications(b.rows, p) for p in ("double", "single")), across=2),
                "One application to all rows, by the rows of a block.", "times of applications by block size", 13, 4),
        Table(("rows", "jordan [ms]", "huard [ms]", "huard-t [ms]", "ldu [ms]", "huard / jordan", "huard / huard-t",
               "% of floor"), rows,
              f"Application in double to {max(b.values('rows', part='apply')):,} rows", (None, ".3f", ".3f", ".3f", ".3f",
              ".2f", ".2f",
              ".0f"), {"% of floor": "what moving the bytes of jordan takes at the rate of a copy, in percent of its time"})]


def figure3_right(results):
    found = solves(results)
    if not found:
        return []
    sets = {size: [m for m, _, _ in both(results, size)] for size in BOUNDS}
    panel = panels.block_differences(found, sets)
    rows = []
    for size in BOUNDS:
        fewer, equal, more = differences(results, size)
        count = fewer + equal + more
        rows.append((size, count, fewer, equal, more, 100 * equal / count if count else None))
    blocks = [Picture(on_figure(panel), "Iterations that Gauss-Huard took more or fewer than Gauss-Jordan, where both solved.",
                      "histogram of differences of iterations", 8, 3.8)] if panel else []
    return [*blocks, Table(("block size", "both solved", "huard fewer", "equal", "huard more", "% equal"), rows,
                           "Iterations of BiCGSTAB with Gauss-Huard, compared with Gauss-Jordan", (None,) * 5 + (".0f",))]


def totals_panel(results, size):
    found = solves(results)
    order = [m for m, _, _ in both(results, size)]
    return curves(f"Setup and solve, blocks of at most {size}", "matrices, by the time of jordan", "time [s]", [
        (kernel, [(k, panels.total(found[m, kernel, size])) for k, m in enumerate(order, 1)
                  if found.get((m, kernel, size), {}).get("solved")]) for kernel in KERNELS], "y") if order else None


def figure4_left(results):
    drawn = on_figure(*(totals_panel(results, size) for size in SIZES), across=2)
    if not drawn:
        return []
    found, rows = solves(results), []
    for m in dict.fromkeys(m for m, _, _ in found):
        for size in SIZES:
            mine = [found.get((m, kernel, size)) for kernel in KERNELS]
            if any(s and s["solved"] for s in mine):
                rows.append((m, mine[0]["n"], size, *(s["iterations"] if s and s["solved"] else None for s in mine[:2]),
                             *(panels.total(s) if s and s["solved"] else None for s in mine)))
    return [Picture(drawn, "Time of setup and iteration together.", "total times of BiCGSTAB by matrix", 13, 4),
            Table(("matrix", "n", "block size", "iterations, jordan", "huard", "jordan [s]", "huard [s]", "huard-t [s]"), rows,
                  "BiCGSTAB to a relative residual of 1e-6, b all ones", (None,) * 5 + (".2e",) * 3)]


def figure4_right(results):
    found = solves(results)
    drawn = on_figure(*(panels.block_split(found, size, [m for m, _, _ in both(results, size)]) for size in SIZES), across=2)
    return [Picture(drawn, "The ten quickest matrices: setup at the bottom, iteration above it, as parts of the time with "
                    "Gauss-Jordan.",
                    "setup and solve of the ten quickest matrices", 13.5, 4.6)] if drawn else []


def robustness(results):
    found = solves(results)
    if not found:
        return []
    names = list(dict.fromkeys(m for m, _, _ in found))
    rows = []
    for kernel in KERNELS:
        for size in sorted({size for _, k, size in found if k == kernel}):
            mine = [s for (m, k, of), s in found.items() if (k, of) == (kernel, size)]
            late = sum(s["reason"] == "took too long" for s in mine)
            rows.append((kernel, size, len(mine), sum(s["solved"] for s in mine), late, sum(s["replaced"] > 0 for s in mine)))
    return [Text(f"{counted(len(names), 'matrix', 'matrices')}, blocks by supervariables, at most {LIMIT:g} s for a solve. "
                 "With blocks of "
                 "one row all kernels are the same: the diagonal."),
            Table(("kernel", "block size", "matrices", "solved", "out of time", "with singular blocks"), rows,
                  "Matrices that BiCGSTAB solves within 10,000 iterations", (),
                  {"with singular blocks": "matrices of which a block had to be replaced, since it was singular"})]


PARTS = (
    Part("Figure 2", "Setup: speed-up over LU", ("setup", "kernels"), figure2,
         "For large batches of 16 rows BGJE is about 6 times as fast as MAGMA's batched LU, BGH and BGHT 12 to 20 times; of "
         "32 rows BGJE more than "
         f"7.5 times, BGH more than 10 times, BGHT about 8.5 times ({P100})."),
    Part("Figure 3 (left)", "Application to 1,000,000 rows by block size", ("apply",), figure3_left,
         "The product with the inverse is always fastest; BGH and BGHT are equal below 16 rows, and BGH is slower from there "
         f"on ({P100}). The paper "
         "has curves without numbers."),
    Part("Figure 3 (right)", "Iterations: Gauss-Huard compared with Gauss-Jordan", ("solve",), figure3_right,
         "Most problems are in the centre (equal), and the rest is symmetric, for every block size."),
    Part("Figure 4 (left)", "BiCGSTAB: setup and solve", ("solve",), figure4_left,
         "Close in most cases; Gauss-Huard is faster if the solution time is small, BGJE slightly better at 32 rows if it is "
         f"large ({P100})."),
    Part("Figure 4 (right)", "The ten quickest: setup and iteration", ("solve",), figure4_right,
         f"The setup is a significant part of the time, and larger with BGJE ({P100})."),
    Part("Section 4", "How many matrices are solved", ("solve",), robustness,
         "Matrices of the SuiteSparse collection, without their names or number; b all ones, to a relative residual of 1e-6, "
         "at most 10,000 "
         "iterations."),
)


def matrices(choice):
    found = {m.path: m for m in every(choice.matrices)}
    rows = [(label(one), found[one].kind, found[one].n, found[one].stored) if one in found else (label(one), "generated", None,
        None)
            for one in operands(choice)]
    return Table(("matrix", "kind", "n", "entries"), rows, "The paper names none of its matrices. These are the positive "
                 "definite and unsymmetric ones at "
                 f"hand of at most {LARGEST:,} rows, or generated ones where there is no folder of matrices.",
                 about={"entries": "as stored: of one triangle of a symmetric matrix"})


def summary(results):
    b, sentences = setups(results), []
    values = {name: largest(results, name, 32) for name in KERNELS}
    if all(values.values()):
        sentences.append(f"Blocks of 32 rows in the largest batch: the inverse is set up {times(values['jordan'])} times as "
                         f"fast as by {b.peer()}, "
                         f"Gauss-Huard {times(values['huard'])} times (paper: 7.5 and 10 times as fast as MAGMA's LU).")
    fewer, equal, more = differences(results, 16)
    if fewer + equal + more:
        sentences.append(f"With blocks of 16 rows Gauss-Huard takes fewer iterations than the inverse on {fewer} matrices, as "
                         f"many on {equal}, more on {more}.")
    return sentences


SUBJECT = Subject(
    "huard", "Batched Gauss-Huard for block-Jacobi preconditioning",
    "H. Anzt, J. Dongarra, G. Flegar, E. S. Quintana-Ortí, A. E. Tomás: Variable-size batched Gauss-Huard for block-Jacobi "
    "preconditioning. Procedia "
    f"Computer Science 108 (2017). Measured there on an {P100}. Here the kernels of Saddle on the same kind of blocks, and "
    "BiCGSTAB with "
    "block-Jacobi; what stands in for MAGMA's LU is cuBLAS on a GPU, and LAPACK called for one block after the other on a CPU.",
    steps, PARTS, CLAIMS, matrices, summary)
