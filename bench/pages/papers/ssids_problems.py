"""The problems of J. Hogg, E. Ovtchinnikov and J. Scott, A sparse symmetric indefinite direct solver for GPU architectures
(ACM Transactions on Mathematical Software 42, 2016), what the paper says of each, and what is run in place of missing ones.
"""
from dataclasses import dataclass

import matrices
from model import Choice, Results, Table


@dataclass(frozen=True)
class Problem:
    """A line of the paper's Table 3, with those of Tables 4 and 5."""
    number: int
    name: str
    n: float                  # thousands
    entries: float            # of A, millions
    factor: float             # entries of L, millions, without pivoting, in the order of METIS
    gigaflops: float
    what: str
    flops: tuple              # Table 5: % of the operations in own columns, assembly, contribution blocks
    times: tuple | None       # % of the time in these and in what else there is, on a C2050
    on_cpu: tuple | None = None   # Table 4: seconds of HSL_MA97 on two E5620, indefinite and definite kernels, and % cost
    on_gpu: tuple | None = None   # the same of SSIDS on a C2050


PAPER = (
    Problem(1, "astro-ph", 16.7, 0.121, 3.73, 4.08, "Collaboration network", (35.3, 1.6, 63.1), (45.2, 22.6, 5.9, 26.3)),
    Problem(2, "mip1", 66.5, 5.21, 11, 5.24, "Optimization", (6.3, 5.5, 88.2), (22.9, 28.6, 14.9, 33.6)),
    Problem(3, "SiNa", 5.74, 0.102, 5.1, 6.7, "Density functional theory", (30.3, 2, 67.8), (30.8, 20.6, 20.8, 27.8)),
    Problem(4, "thermal2", 1230, 4.9, 63, 15.1, "Unstructured thermal FEM", (35.4, 0.6, 64), (49.2, 7.3, 9.5, 34)),
    Problem(5, "ecology1", 1000, 3, 46.9, 15.6, "Electrical network theory", (30.7, 0.5, 68.8), (49.3, 7.2, 12, 31.6)),
    Problem(6, "msdoor", 416, 10.3, 57.1, 18.2, "Structural problem: medium door", (27.1, 0.7, 72.3), (51.5, 10.4, 17.9, 20.1)),
    Problem(7, "ncvxqp3", 75, 0.275, 19, 20.7, "Nonconvex QP problem", (23.3, 1.3, 75.3), (44.5, 26.7, 10.3, 18.6)),
    Problem(8, "gas_sensor", 66.9, 0.885, 24.7, 21.3, "Thermal model single gas sensor device", (29.2, 0.4, 70.5),
            (49.8, 8.1, 26.6, 15.5)),
    Problem(9, "nd3k", 9, 1.64, 13, 22.3, "3D mesh problem", (24.2, 0.9, 74.9), (33.7, 18, 30.9, 17.5)),
    Problem(10, "pwtk", 218, 5.93, 50.8, 22.9, "Pressurised wind tunnel", (27.6, 0.5, 71.9), (53.6, 9.4, 22, 15)),
    Problem(11, "c-71", 76.6, 0.468, 17.2, 25.4, "Non-linear optimization", (9.7, 1.3, 89), (27.6, 20.6, 29.6, 22.2)),
    Problem(12, "BenElechi1", 246, 6.7, 55.9, 27.2, "Unknown", (34.2, 0.4, 65.3), (55.3, 8.5, 20.8, 15.5)),
    Problem(13, "crankseg_1", 52.8, 5.33, 34, 32.5, "Linear static analysis", (32.3, 0.3, 67.4), (51.5, 8, 26.7, 13.8),
            (1.31, 1.175, 11.4), (0.506, 0.45, 12.4)),
    Problem(14, "cfd2", 123, 1.61, 40, 33, "CFD pressure matrix", (30.6, 0.3, 69.1), (52.5, 7.8, 28.2, 11.4),
            (1.192, 1.078, 10.6), (0.504, 0.45, 11.9)),
    Problem(15, "thread", 29.7, 2.25, 24.4, 35, "Threaded connector", (49.7, 0.2, 50.1), (61.1, 5.4, 22.9, 10.6),
            (1.598, 1.406, 13.7), (0.463, 0.419, 10.4)),
    Problem(16, "shipsec1", 141, 3.98, 40.5, 38.3, "Ship section", (30.5, 0.3, 69.2), (50.5, 7.2, 28.6, 13.7),
            (1.426, 1.294, 10.3), (0.567, 0.502, 12.9)),
    Problem(17, "shipsec8", 115, 3.38, 37.2, 38.6, "Ship section", (32.9, 0.3, 66.8), (51.1, 7.5, 28.3, 13.1),
            (1.571, 1.425, 10.2), (0.557, 0.498, 11.8)),
    Problem(18, "boneS01", 127, 3.42, 42.1, 47, "Bone micro-FEM", (27.4, 0.2, 72.3), (48, 7, 33.8, 11.2),
            (1.569, 1.44, 9), (0.614, 0.557, 10.2)),
    Problem(19, "crankseg_2", 63.8, 7.11, 44.6, 47, "Linear static analysis", (35.2, 0.3, 64.5), (55.3, 7.7, 27.3, 9.7),
            (1.676, 1.492, 12.3), (0.681, 0.63, 8.1)),
    Problem(20, "af_shell7", 505, 9.05, 99, 52.9, "Sheet metal forming", (33.5, 0.4, 66.1), (55.1, 8.6, 23.8, 12.6),
            (2.025, 1.801, 12.4), (0.992, 0.886, 12)),
    Problem(21, "shipsec5", 180, 5.15, 55.3, 57.7, "Ship section", (36, 0.3, 63.7), (54.7, 7.4, 27.4, 10.5),
            (2.967, 2.701, 9.8), (0.83, 0.754, 10.1)),
    Problem(22, "G3_circuit", 1590, 4.62, 119, 58.7, "Circuit simulation", (22.3, 0.5, 77.2), (50.8, 9.2, 19, 21),
            (2.627, 2.524, 4.1), (1.662, 1.375, 20.8)),
    Problem(23, "bmwcra_1", 149, 5.4, 71.8, 61.5, "Automotive crankshaft", (29.7, 0.3, 70), (52.6, 8.5, 30.9, 8),
            (1.928, 1.781, 8.2), (0.865, 0.796, 8.7)),
    Problem(24, "af_0_k101", 504, 9.03, 104, 61.6, "Sheet metal forming", (33.7, 0.4, 65.9), (55, 8.3, 24.8, 11.9),
            (2.406, 2.133, 12.8), (1.087, 0.97, 12)),
    Problem(25, "ldoor", 952, 23.7, 155, 79.9, "Structural problem: large door", (27.8, 0.4, 71.8), (52, 9.5, 24.6, 13.8),
            (2.959, 2.683, 10.3), (1.571, 1.387, 13.3)),
    Problem(26, "ship_003", 122, 4.1, 62, 81.9, "Ship structure", (36.8, 0.3, 62.8), (52.5, 8.2, 30.5, 8.8),
            (3.004, 2.712, 10.7), (1.022, 0.94, 8.7)),
    Problem(27, "Si10H16", 17.1, 0.447, 31.3, 87.3, "Density functional theory", (21.4, 1.5, 77.1), (23.1, 24.8, 39.5, 12.6)),
    Problem(28, "offshore", 260, 2.25, 88.4, 106, "Electromagnetics", (27.3, 0.3, 72.3), (47.8, 9.1, 34.8, 8.4),
            (3.5, 3.313, 5.6), (1.351, 1.238, 9.1)),
    Problem(29, "nd6k", 18, 3.46, 40, 111, "3D mesh problem", (15.1, 0.9, 84), (24.7, 19.1, 46.1, 10.1),
            (6.332, 6.443, -1.7), (1.328, 1.251, 6.2)),
    Problem(30, "c-big", 345, 1.34, 52, 115, "Non-linear optimization", (14.3, 1.2, 84.5), (27.6, 21.1, 34.5, 16.8)),
    Problem(31, "inline_1", 504, 18.7, 180, 146, "Inline skate", (26.9, 0.3, 72.8), None,
            (4.426, 4.122, 7.4), None),
    Problem(32, "Si5H12", 19.9, 0.379, 45, 154, "Density functional theory", (21.6, 1.5, 76.9), (21.1, 25.8, 42.9, 10.1)),
    Problem(33, "apache2", 715, 2.77, 149, 176, "3D structural problem", (28.4, 0.3, 71.3), (49.2, 8, 32.8, 10),
            (5.433, 5.194, 4.6), (2.328, 2.097, 11)),
    Problem(34, "Lin", 256, 1.01, 114, 279, "Eigenvalue problem", (18.4, 0.4, 81.2), (33.2, 10.7, 49.7, 6.4)),
    Problem(35, "nd12k", 36, 7.13, 117, 506, "3D mesh problem", (12.2, 0.7, 87.1), None,
            (30.089, 29.652, 1.5), None),
)

# Table 1: entries of all parent fronts; % to which 0 children contribute, 1, more; some, but not all of them.
TABLE1 = {2: (6.27e+08, 3.1, 96.5, 0.4, 0.5),
            7: (8.83e+08, 5.2, 93.7, 1, 60.1),
            8: (1.97e+08, 25.6, 70.5, 3.9, 49.2),
            14: (2.64e+08, 30.3, 65.1, 4.6, 57.7),
            15: (1.7e+08, 28.9, 66, 5.1, 58),
            22: (8.32e+08, 29.5, 67.3, 3.2, 54.2),
            23: (5.2e+08, 27.8, 66.9, 5.3, 58.4),
            29: (2.01e+09, 4.4, 94.3, 1.2, 8.5),
            30: (3.02e+09, 4.3, 94.7, 1, 89.9),
            32: (4.78e+09, 2.7, 97.3, 0.9, 5.7)}

# What is run instead of a missing problem, by the time that there is: with --quick, on the CPU, on a GPU. A name without a size
# is another real matrix of the same kind; the others are problems of `saddle gen`.
QUICK, CPU, CUDA = range(3)
STANDINS = {
    "astro-ph": (None, "G64", "G64"),
    "mip1": ("ipm_3000", "ipm_60000", "ipm_200000"),
    "thermal2": (None, "lap2d_400", "lap2d_1108"),
    "ecology1": ("lap2d_80", "lap2d_600", "lap2d_1000"),
    "msdoor": (None, "elas3d_14", "elas3d_24"),
    "ncvxqp3": ("kktz_40", "ncvxqp1", "ncvxqp1"),
    "gas_sensor": (None, "lap3d_40", "lap3d_41"),
    "c-71": ("c-24", "c-39", "c-39"),
    "crankseg_1": ("elas3d_7", "elas3d_18", "elas3d_30"),
    "cfd2": ("lap3d_14", "lap3d_36", "lap3d_50"),
    "G3_circuit": (None, None, "lap2d_1259"),
    "bmwcra_1": (None, "elas3d_20", "elas3d_36"),
    "Si10H16": (None, "Na5", "Na5"),
    "c-big": (None, "kktz_200", "kktz_400"),
    "apache2": ("lap3d_10", "lap3d_32", "lap3d_60"),
    "Lin": ("lap3d_12:1.5", "lap3d_30:1.5", "lap3d_64:1.5"),
}


def standin(choice: Choice, name: str) -> str | None:
    """The operand that is run instead: a problem of `saddle gen`, or the file of another matrix."""
    time = QUICK if choice.quick else CUDA if choice.device == "cuda" else CPU
    other = STANDINS.get(name, (None, None, None))[time]
    return other if other is None or matrices.unknowns(other) else matrices.find(choice.matrices, other)


def operands(choice: Choice) -> list[str]:
    """What is run, none twice. With --quick no large file."""
    found = {}
    for p in PAPER:
        other = standin(choice, p.name)
        given = other if choice.quick and p.name in STANDINS else matrices.operand(choice, p.name, other)
        if given and not (choice.quick and p.gigaflops > 1 and not matrices.unknowns(given) and given != other):
            found[matrices.label(given)] = given
    return list(found.values())


def problem_of(name: str) -> Problem | None:
    """The paper's problem that a matrix is, or stands in for."""
    return next((p for p in PAPER if p.name == name), None) or next(
        (p for p in PAPER if name in STANDINS.get(p.name, ())), None)


def run_for(problem: Problem, results: Results, kind: str) -> str | None:
    """The matrix that was run for a problem, as steps of a kind have it."""
    return next((n for n in (problem.name, *STANDINS.get(problem.name, ())) if n and results.get(f"{kind}/{n}")), None)


def table(choice: Choice) -> Table:
    rows = []
    for p in PAPER:
        here, other = matrices.find(choice.matrices, p.name), standin(choice, p.name)
        rows.append((p.number, p.name, p.what, 1000 * p.n, "at hand" if here else "missing",
                     p.name if here and not choice.quick else matrices.label(other) if other else "nothing"))
    count = sum(r[4] == "at hand" for r in rows)
    return Table(("No.", "problem of the paper", "kind", "order", "file", "what was run"), rows,
                 f"{count} of the paper's {len(rows)} problems {'is' if count == 1 else 'are'} at hand. A missing one is run "
                 "as soon as a file of its name (.mtx or .rb, also .gz) is put anywhere into the folder of matrices.",
                 (None, None, None, ",.0f"),
                 {"what was run": "FAMILY_SIZE[:PARAMETER] is a problem of `saddle gen`; another name is a matrix of the "
                                  "folder"})
