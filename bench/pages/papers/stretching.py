"""Thuerck: Stretching Jacobi, a two-stage pivoting approach for block-based factorization, IA3 2020."""
import matrices
import panels
from draw import COLOURS, MARKERS, bars, curves, label, name_matrices, on_figure, round_ticks, shades
from model import Choice, Part, Picture, Step, Subject, Table, Text
from papers import stretching_claims as claims
from papers.batches import LU_PEERS, gflops
from papers.stretching_data import NUMBERS, Row, batch_of, kernels_of, rows_of, two_by_two

TITAN = "NVIDIA Titan RTX (2018; 16.3 TFlop/s in single, 0.5 in double), CUDA 10.1"

# What stands in for a matrix that is missing: one of its family or kind at hand, else a generated one; the last is for --quick.
# They are smaller than the paper's, since every matrix is factored some eighty times.
STANDINS = {
    "qpband": ((), "ocp_500", "ocp_40"), "mario001": ((), "stokes2d_40", "stokes2d_12"), "bab5": (("mip_qiu_mu1e-8",),
    "ipm_1000", ""),
    "c-72": (("c-24",), "ipm_1500:6", "ipm_200:6"), "Si10H16": ((), "lap3d_14:1.5", ""), "boyd1": ((), "ipm_2000:2",
    "ipm_300:2"),
    "Lin": ((), "lap3d_16:0.5", "lap3d_8:0.5"), "map06": (("mip_danoint_mu1e-8",), "ipm_800:5", ""),
    "bley_xl1": (("mip_arki001_mu1e-8",), "ipm_1200:8", ""), "c-big": (("c-39",), "ipm_2500:6", ""),
    "co-100": ((), "ipm_1500:5", ""),
    "bab3": ((), "ipm_2000:7", ""), "G3_circuit": ((), "lap2d_50", "lap2d_20"), "BenElechi1": ((), "elas3d_7", "elas3d_4"),
    "af_shell7": ((), "elas3d_8", ""),
}


def chosen(choice: Choice, name: str) -> str | None:
    """What is run for a matrix of the paper; None: nothing, with --quick."""
    relatives, made, small = STANDINS[name]
    own = [name, "boyd1_saddle"] if name == "boyd1" else [name]
    if choice.quick:
        return small or None
    found = (matrices.find(choice.matrices, n) for n in (*own, *relatives))
    return next(filter(None, found), made)


def steps(choice):
    common = ("--device", choice.device, "--threads", str(choice.threads), "--json", "{json}")
    quick = ("--quick",) if choice.quick else ()
    names = "ldu,ldu-partial,ldu-full,llt,llt-diagonal,ldlt-static,ldlt-bunch-kaufman,ldlt-complete"
    found = [Step(f"kernels/{n}", ("bench", "blocks", "--part", "kernels", "--kernel", names, "--size", str(n), *quick,
                                   *common),
                  1 if choice.quick else 18, 60 if choice.quick else 300) for n in (4, 8, 16, 32)]
    for name in STANDINS:
        operand = chosen(choice, name)
        if operand:
            large = matrices.label(operand) in ("mario001", "boyd1", "boyd1_saddle")
            found.append(Step(f"ablate/{name}", ("bench", "ldlt", operand, "--ablate", "--limit", "10", *common),
                              1 if choice.quick else 45 if large else 6, 60 if choice.quick else 400 if large else 150))
    return found


# ---- Figure 1 ----

METHODS = {"LDU": ("ldu", "ldu-partial", "ldu-full"), "LLᵀ": ("llt", "llt-diagonal"),
           "LDLᵀ": ("ldlt-static", "ldlt-bunch-kaufman", "ldlt-complete")}
PEERS = {"LDU": LU_PEERS, "LLᵀ": ("potrf", "potrfBatched"), "LDLᵀ": ("sytrf",)}
PAPERS_MS = {"ldu": 0.28, "ldu-partial": 0.39, "ldu-full": 0.60}  # 32 rows, single, 10,000 blocks
PAPERS_LU = 1.41                                                # MAGMA


def kernel_panel(b, method, precision, batch):
    """Milliseconds of a batch by the rows of a block; on a GPU both versions of a kernel."""
    def points(name, version):
        return [(r["size"], 1e3 * r["seconds"]) for r in b.all(part="kernels", work="factor", name=name, version=version,
                                                               batch=batch,
                                                              precision=precision)]
    versions = ("registers", "shared") if b.all(version="registers") else ("default",)
    series = [(name if version == "default" else f"{name},\n{version}", points(name, version)) for version in versions
              for name in METHODS[method]]
    return curves(f"{method} in {precision}", "rows of a block", "time of the batch [ms]",
                  series + [(name, points(name, "default")) for name in PEERS[method]], "y")


def figure1(results):
    b = kernels_of(results)
    if not b.rows:
        return []
    batch, rows = batch_of(b), []
    for size in b.values("size", part="kernels", work="factor"):
        for method, names in METHODS.items():
            for name in (*names, *PEERS[method]):
                wanted = {"part": "kernels", "work": "factor", "size": size, "batch": batch}
                single, double = (b.row(name, precision=p, **wanted) for p in ("single", "double"))
                if not single or not double:
                    continue
                registers, shared = (b.row(name, version, precision="single", **wanted) for version in ("registers", "shared"))
                paper = PAPERS_MS.get(name, PAPERS_LU if name in LU_PEERS else None) if size == 32 else None
                rows.append((size, name, 1e3 * single["seconds"], paper, *(1e3 * r["seconds"] if r else None
                                                                           for r in (registers, shared)),
                             1e3 * double["seconds"], single["times_as_fast"], gflops(single), single["copies"],
                             100 * two_by_two(double) if name.startswith("ldlt-") else None, double["residual"]))
    gpu = b.device == "cuda"
    keep = [k for k in range(12) if gpu or k not in (4, 5)]
    names = ("rows", "kernel", "single [ms]", "paper [ms]", "registers", "shared", "double [ms]", "times as fast", "Gflop/s",
             "copies",
             "% 2x2", "residual")
    forms = (None, None, ".3f", ".2f", ".3f", ".3f", ".3f", ".2f", ".1f", ".2f", ".0f", ".0e")
    drawn = on_figure(*(kernel_panel(b, m, p, batch) for m in METHODS for p in ("single", "double")), across=2)
    return [
        Text(f"{b.machine}. " + ("" if gpu else "The kernels of a CPU have one version each: registers and shared memory are "
                                 "of a GPU.")),
        Picture(drawn, f"Time of {batch:,} blocks, by method, pivoting and size.", "times of batched factorizations", 13, 11),
        Table(tuple(names[k] for k in keep), [tuple(r[k] for k in keep) for r in rows], f"Factorization of {batch:,} "
              "random blocks",
              tuple(forms[k] for k in keep),
              {"times as fast": f"as the peer, in single: {b.peer()}, and potrf and sytrf alike",
               "Gflop/s": "useful operations, in single",
               "copies": "time over that of copying the batch, in single", "% 2x2": "steps of the elimination with a 2x2 "
               "pivot, in double",
               "residual": "in double"})]


# ---- Figures 2 and 3, Table I ----

def figure2(results):
    rows = []
    for r in rows_of(results):
        for method, schedule in (("ldlt", "levels"), ("jacobi", "sweeps")):
            on, off = ({p["pivot"]: p for p in r.data[method]["pivoting"] if p["push_back"] == push} for push in (True, False))
            for pivot in ("static", "complete"):
                one, two = on[pivot], off[pivot]
                rows.append((r.label, schedule, pivot, one["blocks"], one["pushed_back"], one["generations"], one["levels"],
                             two["levels"],
                             one["perturbed"], two["perturbed"], one["reconstruction_error"], two["reconstruction_error"]))
    return [Text("What an operation of the figure came to in these runs: blocks whose pivots stay small were pushed back once, "
                 "behind all others, where "
                 "they keep their order; the levels of the schedule were computed again, and blocks that changed sides were "
                 "read transposed. The five "
                 "blocks of the figure, with P = 1 4 5 2 3 and X = 0 1 1 0 0, are drawn in `docs/ldlt.md`."),
            Table(("matrix", "schedule", "inner pivots", "blocks", "pushed back", "generations", "levels", "levels, off",
                   "perturbed",
                   "perturbed, off", "error", "error, off"), rows, "Push-back in example runs, and the same with push-back off",
                  (None,) * 10 + (
                       ".1e", ".1e"), {"error": "|LDLᵀ − A| / |A| in the infinity norm", "perturbed": "pivots that were moved "
                                       "away from 0",
                                       "generations": "the largest X: how often a block was pushed back"})] if rows else []


def dots(title, words, rows, of):
    """Errors of both methods for each matrix, one shade for each setting: of(row, method) is a list of them."""
    known = [v for r in rows for m in ("jacobi", "ldlt") for v in of(r, m) if v]

    def draw(ax):
        for m, method in enumerate(("jacobi", "ldlt")):
            for k, colour in enumerate(shades(COLOURS[m], len(words))):
                points = [(i - 0.17 + 0.34 * m, of(r, method)[k]) for i, r in enumerate(rows) if of(r, method)[k]]
                if points:
                    ax.plot(*zip(*points), MARKERS[2 * m + k % 2], color=colour, markersize=6, label=f"{method}, {words[k]}")
        ax.set_yscale("log")
        ax.set_ylim(min(known) / 4, max(known) * 4)
        round_ticks(ax.yaxis, ax.get_ylim())
        name_matrices(ax, [r.label for r in rows])
        ax.grid(True, axis="x")
        label(ax, title, "", panels.ERROR)
    return draw if known else None


def table_of(rows, words, of, caption):
    columns = ("matrix", *(f"{m}, {w}" for m in ("jacobi", "ldlt") for w in words))
    return Table(columns, [(r.label, *of(r, "jacobi"), *of(r, "ldlt")) for r in rows], caption, (None,)
                 + (".1e",) * (2 * len(words)))


def figure3a(results):
    rows = rows_of(results)
    if not rows:
        return []
    drawn = on_figure(panels.dominance([r.data for r in rows], [r.label for r in rows]))
    return [Picture(drawn, "Range and mean over the block rows of the scaled matrix, in the paper's blocks and in those of "
                    "ldlt's defaults.",
                    "degree of diagonal dominance", 12, 4.4),
            Table(("matrix", "in the paper", "grid: least", "mean", "largest", "clusters: least", "mean ", "largest "),
                  [(r.label, "close to dominant" if r.near else "far from it", *r.data["dominance_grid"],
                    *r.data["dominance_clusters"])
                   for r in rows], "|A_ii| − Σ |A_ij| in the 1-norm", (None, None) + (".3g",) * 6)]


def setting(title, words, of, caption):
    def show(results):
        rows = rows_of(results)
        drawn = on_figure(dots(title, words, rows, of)) if rows else None
        return [Picture(drawn, f"{caption}; blue: sweeps, orange: the exact schedule.", caption, 12, 4.6),
                table_of(rows, words, of, caption)] if drawn else []
    return show


PIVOTS = ("static", "static, no push-back", "complete", "complete, no push-back")


def pivoting(row, method):
    return [row.data[method][p.split(",")[0]]["no push" in p] for p in PIVOTS]


def figure3e(results):
    rows = rows_of(results)
    if not rows:
        return []
    halves = [rows[:(len(rows) + 1) // 2], rows[(len(rows) + 1) // 2:]]

    def panel(some, title, key, up, order="block"):
        return curves(title, "sweeps", up, [(r.label, list(enumerate(r.data["sweeps"][order][key], 1))) for r in some],
                      "y") if some else None
    found = [panel(some, title, key, up, order) for title, key, up, order in (
        ("error by block sweeps", "error", panels.ERROR, "block"), ("residual by block sweeps", "pattern_residual",
                                                                    panels.PATTERN, "block"),
        ("error by row sweeps", "error", panels.ERROR, "row")) for some in halves]
    told = (1, 2, 3, 5, 8, 16)
    return [Picture(on_figure(*found, across=2), "Left the first half of the matrices, right the others. Row sweeps are "
                    "Saddle's own.",
                    "errors by the number of sweeps", 13.5, 12),
            Table(("matrix", *(f"{k} sweep{'s' if k > 1 else ''}" for k in told), "exact"), [
                (r.label, *(r.data["sweeps"]["block"]["error"][k - 1] for k in told), r.data["ldlt"]["epsilon"][0])
                    for r in rows],
                "|LDLᵀ − A| / |A| after block sweeps", (None,) + (".1e",) * 7)]


def figure3f(results):
    rows = rows_of(results)
    if not rows:
        return []
    kinds = list(rows[0].data["factor_seconds"])
    told = []
    for r in rows:
        first, again = r.data["factor_seconds"], r.data["factor_again_seconds"]
        told.append((r.label, *(1e3 * first[k] if first[k] else None for k in kinds), *(1e3 * again[k] if again[k] else None
            for k in kinds[:2]),
                     claims.sweeps_over_exact(r)))
    shown = [(name, COLOURS[k], [r.data["factor_again_seconds"][name] for r in rows]) for k, name in enumerate(kinds)]
    return [Picture(on_figure(bars("Time to factor on a known pattern (8 sweeps)", "time [s]", [r.label for r in rows], shown)),
                    "The exact schedule, 8 sweeps over blocks and over rows, in the paper's settings; ldlt with its defaults.",
                    "times to factor", 12, 4.4),
            Table(("matrix", *(f"{k} [ms]" for k in kinds), "exact, again", "block sweeps, again", "sweeps / exact"), told,
                  "Milliseconds to factor, and again with the pattern known", (None,) + (".2f",) * 7,
                  {"sweeps / exact": "8 block sweeps over the exact schedule, both on a known pattern"})]


def table1(results):
    rows = []
    for r in rows_of(results):
        entries = (r.data["jacobi"]["table"], r.data["ldlt"]["table"], r.data["defaults"])
        logs = [claims.logarithm(e[key]) for e in entries for key in ("backward_error", "relative_residual")]
        rows.append((r.label, *r.published, *logs, r.data["ldlt"]["table"]["setup"], r.data["defaults"]["setup"]))
    return [Table(("matrix", "paper: Jacobi B", "R", "Multilevel B", "R ", "jacobi B", "R  ", "ldlt B", "R   ", "defaults B",
                   "R    ", "ldlt setup [s]",
                   "defaults setup [s]"), rows, "Decimal logarithms of the backward error B and the relative residual R after "
                  "four cycles of GMRES(25)",
                  (None,) * 5 + (".1f",) * 6 + (".3f", ".3f"), {"defaults B": "ldlt with its own defaults, at most 100 "
                                                                "iterations",
                                                               "paper: Jacobi B": "of the paper's own matrix; a label with * "
                                                                "is a stand-in"})
            ] if rows else []


def matrix_table(choice):
    rows = []
    for name, number in NUMBERS.items():
        operand = chosen(choice, name)
        run = matrices.label(operand) if operand else None
        own = run in (name, f"{name}_saddle")
        entry = matrices.about(choice.matrices, run) if run else None
        size = entry.n if entry else matrices.unknowns(operand) if operand else None
        rows.append((number, name, "at hand" if own else "missing", run or "nothing", size))
    here = sum(r[2] == "at hand" for r in rows)
    return Table(("No.", "matrix of the paper", "file", "what was run", "order"), rows,
                 f"{here} of the paper's {len(rows)} matrices {'was run itself' if here == 1 else 'were run themselves'}. A "
                 "missing one is run as soon as a file of its name is put into the folder of matrices (not with "
                 "--quick); until then one of its kind at hand, or a generated one, smaller than it, stands in.",
                 about={"what was run": "c-24 and c-39 are of the family of c-72 and c-big, mip_* are "
                        "KKT matrices of MIPLIB "
                        "problems; FAMILY_SIZE[:PARAMETER] is a problem of `saddle gen`", "order": "of what was run"})


def summary(results):
    rows, b, sentences = rows_of(results), kernels_of(results), []
    full = b.ratio("ldu-full", "ldu-partial", part="kernels", work="factor", size=32, precision="single",
                   batch=batch_of(b)) if b.rows else None
    if full:
        sentences.append(f"Full pivoting in blocks of 32 takes {full:.2f} times as long as partial pivoting (paper: 1.54 "
                         "times).")
    if rows:
        met = sum(claims.matches(r) for r in rows)
        good = sum((r.data["defaults"]["backward_error"] or 1) <= 1e-12 for r in rows)
        sentences.append(f"With the best smallest pivot the sweeps are as accurate as the exact schedule on {met} of "
                         f"{len(rows)} matrices; "
                         f"ldlt with its defaults reaches a backward error of 1e-12 on {good}.")
    return sentences


EPSILON, SIZES = ("0.1", "0.01", "0.001", "0.0001"), ("1", "2", "4", "8", "16", "32")
PARTS = (
    Part("Figure 1", "Kernels with pivoting, by method and size", ("kernels",), figure1,
         "32 rows, 10,000 blocks in single: 0.28, 0.39 and 0.60 ms for LDU with static, partial and full pivoting in "
         "registers, 1.41 ms for MAGMA's LU; "
         f"1,745, 1,407, 1,402 and 898 GFLOPS as a profiler counts (useful: 780, 560, 364 and 155) ({TITAN})."),
    Part("Figure 2", "Push-back: example runs", ("ablate",), figure2, "Of five blocks, 2 and 3 are pushed back: P = 1 4 5 2 3, "
         "X = 0 1 1 0 0. A drawing, "
         "not a measurement.", "No command prints P and X of a run; unit tests hold them against the figure."),
    Part("Figure 3a", "Dominance of block rows", ("ablate",), figure3a,
         "Matrices 1, 5, 6, 7, 13, 14 and 15 are close to diagonal dominance, the others far from it."),
    Part("Figure 3b", "Error by the smallest pivot ε", ("ablate",), setting(
        "Error by smallest pivot", EPSILON, lambda r, m: r.data[m]["epsilon"], "Error of the factors by the smallest pivot"),
        "For matrices far from dominance, ε of 0.001 and less often gives errors magnitudes over those of the exact schedule; "
         "0.1 contains them."),
    Part("Figure 3c", "Error by block size", ("ablate",), setting(
        "Error by rows per block", SIZES, lambda r, m: r.data[m]["block_size"], "Error of the factors by the rows of a block"),
        "Minor differences above 4 rows; the scalar method is mostly more than two orders of magnitude worse."),
    Part("Figure 3d", "Error by inner pivoting and push-back", ("ablate",), setting(
        "Error by inner pivoting and push-back", PIVOTS, pivoting, "Error of the factors by inner pivoting, with push-back and "
        "without"),
        "Neither plays a striking role for the sweeps; for the exact schedule inner pivoting can make or break a "
         "factorization."),
    Part("Figure 3e", "Error by the number of sweeps", ("ablate",), figure3e, "Saturation often occurs after the fifth sweep."),
    Part("Figure 3f", "Time to factor", ("ablate",), figure3f,
         f"The factorization is accelerated by sweeps ({TITAN}); the paper has bars without numbers, Table I the times of the "
         "exact schedule: 0.3 to 8.3 s."),
    Part("Table I", "Errors after four cycles of GMRES(25)", ("ablate",), table1,
         "B from −1 (mario001) to −6 (qpband), R from −1 to −8; Jacobi and Multilevel are equal on 13 of 15 matrices "
         f"({TITAN}). Jacobi has the best ε of "
         "Figure 3b for each matrix there, and 0.1 here."),
)

SUBJECT = Subject(
    "stretching", "Stretching Jacobi: block LDLᵀ with two-stage pivoting",
    "D. Thuerck: Stretching Jacobi: A Two-Stage Pivoting Approach for Block-Based Factorization. IEEE/ACM 10th Workshop on "
    "Irregular Applications (IA3), "
    f"2020. Measured there on an {TITAN}. Here Saddle's kernels on random blocks, and `--method jacobi` and `ldlt` in the "
    "paper's settings (`--paper`: a grid of "
    "32 rows, small pivots up to 0.1, 8 sweeps). The paper's set is of 15 matrices; a label with * is a stand-in for one that "
    "is not at hand.",
    steps, PARTS, claims.CLAIMS, matrix_table, summary)
