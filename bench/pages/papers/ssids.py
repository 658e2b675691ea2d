"""J. Hogg, E. Ovtchinnikov and J. Scott, A sparse symmetric indefinite direct solver for GPU architectures: Figures 1 and 6 to
10 and Tables 1, 3, 4 and 5, from what `saddle bench direct` measures.
"""
import draw
import matrices
from judging import geometric_mean, median
from model import Choice, Part, Picture, Step, Subject, Table, Text
from papers import ssids_claims as claims
from papers import ssids_problems as problems
from papers import ssids_results as read

REPEATED = ("ncvxqp1", "c-39", "c-24", "SiNa", "lap3d_12:1.5", "lap3d_30:1.5", "kktz_40")  # of these the first two that are run


def steps(choice: Choice) -> list[Step]:
    """On a GPU, each part of its benchmark; on the CPU and for comparison the benchmark of the CPU."""
    cuda, given = choice.device == "cuda", problems.operands(choice)
    cost = 0.4 if choice.quick else 9
    threads = ("--threads", str(choice.threads))
    found = [step("fronts", o, ("--part", "fronts"), 0.1 if choice.quick else 1.5) for o in given]
    peers = ("--peers", "none") if cuda else ("--limit", "20" if not choice.quick else "5")
    found += [step("direct", o, ("--repeat", "2", *threads, *peers), cost, 95 if cuda else 200) for o in given]
    if cuda:
        for kind in ("factor", "pivoting", "profile", "presolve"):
            found += [step(kind, o, ("--device", "cuda", "--part", kind, "--repeat", "2", "--least", "0"), 3) for o in given]
    again = [o for name in REPEATED for o in given if matrices.label(o) == name][:2]
    for k, kind in enumerate(("first", "second"), 1):
        words = ("--device", "cuda", "--part", "factor", "--least", "0") if cuda else ("--threads", str(k))
        found += [step(kind, o, (*words, "--repeat", "1", "--peers", "none"), 0.2 if choice.quick else 2) for o in again]
    return found


def step(kind, operand, words, cost, limit=95):
    return Step(f"{kind}/{matrices.label(operand)}", ("bench", "direct", operand, *words, "--json", "{json}"), cost, limit)


def label(name):
    """With the number of the problem that it is or stands in for."""
    problem = problems.problem_of(name)
    if not problem:
        return name
    return f"{problem.number}. {name}" if problem.name == name else f"{name} for {problem.number}"


def by_number(rows):
    """In the order of the paper's problems, what was run before what the paper has."""
    def key(row):
        name = row[0].split(" for ")[0] if " for " in row[0] else row[0].split(". ")[-1]
        problem = problems.problem_of(name)
        return (problem.number if problem else 99, row[1] == "paper")
    return sorted(rows, key=key)


ABOUT = {"problem": "`NAME for 7` is run in place of the paper's problem 7, see Table 3"}


def bars_of(title, up, names, series):
    """Bars side by side of series [(name, [value])]; values that are not known are left out."""
    return draw.bars(title, up, names, [(name, draw.COLOURS[k], values) for k, (name, values) in enumerate(series)])


# ---- fronts: Figure 1, Tables 1 and 3 ----

def show_figure1(results):
    trees = read.trees(results)
    if not trees:
        return []
    first = next((t for t in trees if problems.problem_of(t.name) and problems.problem_of(t.name).name == "ncvxqp3"), trees[0])
    sizes = first.row["sizes"]
    names = [f"{s['from']}–{s['to']}" for s in sizes]
    every = sum(s["flops"] for s in sizes)
    drawn = draw.on_figure(bars_of(f"Fronts of {first.name}", "fronts", names, [(first.name, [s["fronts"] for s in sizes])]),
                           draw.steps("Operations in them", "% of all", names,
                                      [(first.name, [100 * s["flops"] / every for s in sizes])]),
                           across=2)
    rows = [(label(t.name), t.n, t.row["fronts"], t.row["leaves"], t.row["largest"], t.small_fronts(), t.large_work())
            for t in trees]
    return [Picture(drawn, f"{first.name}, {first.n:,} rows: how many fronts there are by their rows, and where the operations "
                           "are.",
                    "many small fronts, and the operations in the few large ones", 12, 4),
            Table(("problem", "order", "fronts", "leaves", "largest", "% small", "% of work in large"), rows,
                  "Fronts in the order that Saddle plans, merged as SSIDS does by default: with the parent where both have "
                  "fewer than 8 columns", (None, None, None, None, None, ".0f", ".0f"),
                  {**ABOUT, "largest": "its rows", "% small": "fronts that have at most an eighth of the rows of the largest, "
                                                              "to a power of two",
                   "% of work in large": "operations in fronts that have at least half of them"})]


def show_table1(results):
    which = ("none", "one", "several", "waiting")
    rows = [(label(t.name), "Saddle's order", t.row["entries"]["all"], *map(t.entries, which))
            for t in read.trees(results) if t.row["entries"]["all"]]
    if not rows:
        return []
    paper = {p.number: p.name for p in problems.PAPER}
    rows += [(f"{k}. {paper[k]}", "paper", *values) for k, values in problems.TABLE1.items()]
    return [Table(("problem", "whose", "entries", "% of none", "% of one", "% of more", "% waiting"), by_number(rows),
                  "Entries of the fronts that have children, by the children that contribute to them",
                  (None, None, ".2e", ".1f", ".1f", ".1f", ".1f"),
                  {**ABOUT, "entries": "of the lower triangles",
                   "% waiting": "potential false dependencies: some, but not all children contribute"})]


def show_table3(results):
    rows = []
    solved = read.rows(results, "direct")
    for p in problems.PAPER:
        name = problems.run_for(p, results, "fronts")
        tree = next((t for t in read.trees(results) if t.name == name), None)
        s = (solved.get(name) or {}).get("saddle") or {}
        rows.append((p.number, p.name, 1000 * p.n, 1e6 * p.factor, p.gigaflops, name, tree and tree.n, tree
                     and tree.row["factor_nnz"],
                     tree and tree.gigaflops, s.get("negative"), s.get("delayed")))
    rows.sort(key=lambda row: row[5] is None)  # what was run comes first
    return [Table(("No.", "problem", "order", "nz(L)", "Gflop", "what was run", "its order", "its nz(L)", "its Gflop",
                   "negative", "delayed"), rows, "The problems of the paper, and what was run",
                  (None, None, ",.0f", ".2e", ".3g", None, None, ".2e", ".3g", ",.0f", ",.0f"),
                  {"nz(L)": "without pivoting, like Gflop; the paper orders by METIS 4, Saddle by what it finds best",
                   "negative": "eigenvalues, counted by Saddle on the CPU",
                   "delayed": "columns, on the CPU"})] if read.trees(results) else []


# ---- factorizations: Figures 6 and 7, Tables 4 and 5, Figure 8 ----

def show_figure6(results):
    found = [t for t in read.times(results) if t.ours]
    if not found:
        return []
    ours, theirs = read.sides(results)
    drawn = draw.on_figure(bars_of("Factorization", "time [s]", [label(t.name) for t in found], [
        (theirs, [t.theirs for t in found]), (ours, [t.ours for t in found])]))
    rows = [(label(t.name), 1e-9 * t.flops, t.theirs, t.ours, t.faster) for t in found]
    mean = geometric_mean([t.faster for t in found if t.faster])
    return [Picture(drawn, f"Seconds of a factorization with new values, by {theirs} and by {ours}; problems by their "
                           "operations."
                    + (f" In the mean {mean:.2f} times as fast." if mean else ""), "two bars for each problem", 9.5, 4.4),
            Table(("problem", "Gflop", theirs + " [s]", ours + " [s]", "times as fast"), rows, "Factorization",
                  (None, ".3g", None, None, ".2f"),
                  {**ABOUT, "Gflop": "of Saddle's factorization"})]


def show_figure7(results):
    found = [t for t in read.times(results) if t.ours]
    if not found:
        return []
    ours, theirs = read.sides(results)
    drawn = draw.on_figure(draw.curves("Rate of the factorization", "Gflop of the problem", "Gflop/s", [
        (ours, [(1e-9 * t.flops, t.rate) for t in found]), (theirs, [(1e-9 * t.flops, t.their_rate) for t in found])], "xy"))
    peak = max((v for _, v in dgemm(results)), default=None)
    rows = [(label(t.name), 1e-9 * t.flops, t.their_rate, t.rate, 100 * t.rate / peak if peak else None) for t in found]
    return [Picture(drawn, "Operations of Saddle's factorization over the seconds of each"
                    + (f"; a dgemm runs at {peak:.3g} Gflop/s." if peak else "."),
                    "rates that grow with the size of the problem", 9, 4.2),
            Table(("problem", "Gflop", theirs, ours, "% of dgemm"), rows,
                  "Gflop/s, with the operations of Saddle's factorization for both",
                  (None, ".3g", ".3g", ".3g", ".0f"), {**ABOUT, "% of dgemm": "the best rate of a dgemm measured in the same "
                                                                              "steps, on one core on the CPU"})]


def dgemm(results):
    """[(name, Gflop/s)] of a dgemm on the device."""
    if read.on_cuda(results):
        return [(name, j["dgemm_gigaflops"]) for name, j in results.each("factor") if j.get("dgemm_gigaflops")]
    return [(name, row["dgemm_gigaflops"]) for name, row in read.rows(results, "direct").items() if row.get("dgemm_gigaflops")]


def show_table4(results):
    cpu, gpu = ({p.name: p for p in read.pivoting(results, kind)} for kind in ("direct", "pivoting"))
    rows = []
    for name in dict.fromkeys((*cpu, *gpu)):
        both = [(p.ldl, p.ll, p.cost) if (p := side.get(name)) else (None,) * 3 for side in (cpu, gpu)]
        rows.append((label(name), "Saddle", *both[0], *both[1]))
    if not rows:
        return []
    rows += [(f"{p.number}. {p.name}", "paper", *(p.on_cpu or (None,) * 3), *(p.on_gpu or (None,) * 3)) for p in problems.PAPER
             if p.on_cpu]
    return [Table(("problem", "whose", "CPU: LDLᵀ [s]", "CPU: LLᵀ [s]", "CPU: % cost", "GPU: LDLᵀ [s]", "GPU: LLᵀ [s]",
                   "GPU: % cost"),
                  by_number(rows),
                  "Positive definite problems, factored with pivoting and without",
                  (None, None, None, None, ".1f", None, None, ".1f"),
                  {**ABOUT, "CPU: LDLᵀ [s]": "of the paper: HSL_MA97 on two E5620",
                   "GPU: LDLᵀ [s]": "of the paper: SSIDS on a C2050"})]


def show_table5(results):
    profiles = {p.name: p for p in read.profiles(results)}
    rows = []
    for t in read.trees(results):
        p = profiles.get(t.name)
        rates = (1e-9 * t.row["flops"]["factor"] / p.factor if p and p.factor else None,
                 1e-9 * t.row["flops"]["contribution"] / p.contribution if p and p.contribution else None)
        rows.append((label(t.name), "Saddle", *t.flops, *(p.shares if p else (None,) * 4), *rates))
    if not rows:
        return []
    shown = {problems.problem_of(t.name).number for t in read.trees(results) if problems.problem_of(t.name)}
    rows += [(f"{p.number}. {p.name}", "paper", *p.flops, *(p.times or (None,) * 4), None, None) for p in problems.PAPER
             if p.number in shown]
    heads = [f"% flops {k}" for k in "fac"] + [f"% time {k}" for k in "faco"] + ["Gflop/s f", "Gflop/s c"]
    blocks = [Table(("problem", "whose", *heads), by_number(rows),
                    "Split of the operations and of the time: f columns, a assembly, c contribution blocks, o the "
                    "rest", (None, None, *(".1f",) * 7, ".3g", ".3g"),
                    {**ABOUT, "% flops f": "of fronts as SSIDS makes them, in Saddle's order",
                     "% time f": "of Saddle on the GPU; small fronts count here as a whole. Of the paper: on a C2050"})]
    return blocks if profiles else [Text("The time is split where it is spent on a GPU (`--device cuda`), between kernels; on "
                                         "the CPU the parts of many fronts run side by side and are not timed. The operations "
                                         "are those of any device."), *blocks]


def show_figure8(results):
    profiles = [p for p in read.profiles(results) if sum(p.tiles)]
    kind = "factor" if read.on_cuda(results) else "direct"
    rows = [(label(name), row["n"], s["delayed"], 100 * s["delayed"] / row["n"], s["two_by_two"],
             200 * s["two_by_two"] / row["n"])
            for name, row in read.rows(results, kind).items() if (s := row["saddle"])["delayed"] is not None
            and s["two_by_two"] is not None]
    blocks = []
    if profiles:
        drawn = draw.on_figure(draw.curves("Tiles of pivots", "eighths of the columns accepted", "% of tiles", [
            (label(p.name), [(k, 100 * v / sum(p.tiles)) for k, v in enumerate(p.tiles)]) for p in profiles[:10]]))
        blocks = [Picture(drawn, "Tiles of up to 32 columns by how many eighths of their columns are accepted as pivots when "
                                 "they are tried, first ten problems.", "most tiles are accepted as a whole", 9.5, 4.4),
                  Table(("problem", *(str(k) for k in range(read.TILES + 1))),
                        [(label(p.name), *(100 * v / sum(p.tiles) for v in p.tiles)) for p in profiles],
                        "% of tiles by eighths accepted", (None, *(".1f",) * (read.TILES + 1)))]
    elif rows:
        blocks = [Text("Tiles are counted by a factorization on a GPU (`--device cuda`). The columns that find no stable pivot "
                       "in their front are counted on the CPU as well.")]
    return blocks + ([Table(("problem", "order", "delayed", "delayed, % of the order", "2x2 pivots", "columns in them, %"),
                            rows,
                            "Columns that are delayed, and pivots of two columns", (None, None, ",.0f", ".2f", ",.0f", ".1f"))]
                     if rows else [])


# ---- solves: Figures 9 and 10 ----

def show_figure9(results):
    found = [t for t in read.times(results) if t.solve]
    if not found:
        return []
    ours, theirs = read.sides(results)
    presolves = {p.name: p for p in read.presolves(results)}
    series = [(theirs, [t.their_solve for t in found]), (ours, [t.solve for t in found])]
    if presolves:
        series += [(f"the same, presolve {w}", [presolves[t.name].solve[w] if t.name in presolves else None for t in found])
                   for w in ("off", "whole")]
    drawn = draw.on_figure(bars_of("Solve with one right-hand side", "time [s]", [label(t.name) for t in found], series))
    rows = [(label(t.name), 1e3 * t.their_solve if t.their_solve else None, 1e3 * t.solve, t.faster_solve) for t in found]
    blocks = [Picture(drawn, f"Seconds of a solve with one right-hand side, without refinement, by {theirs} and by {ours}.",
                      "bars for each problem", 9.5, 4.4),
              Table(("problem", theirs + " [ms]", ours + " [ms]", "times as fast"), rows, "Solve", (None, None, None, ".2f"),
                    ABOUT)]
    return blocks if presolves else [Text("Inverted blocks (presolve) are for a GPU (`--device cuda`); on the CPU solves "
                                          "substitute."), *blocks]


def show_figure10(results):
    found = read.presolves(results)
    if not found:
        return []
    drawn = draw.on_figure(bars_of("What presolve saves", "solve / solve", [label(p.name) for p in found], [
        (f"off / {w}", [p.gain(w) for p in found]) for w in ("band", "whole")]))
    rows = [(label(p.name), *(1e3 * p.solve[w] for w in ("off", "band", "whole")), p.gain("band"), p.gain(), p.price("band"),
             p.price(),
             p.pays_at("band"), p.pays_at()) for p in found]
    return [Picture(drawn, "The time of a solve without presolve over that with squares on the diagonal inverted (band) and "
                           "with whole triangles.",
                    "bars for each problem", 9.5, 4.2),
            Table(("problem", "off [ms]", "band [ms]", "whole [ms]", "off / band", "off / whole", "band: % of factor",
                   "whole: % of factor",
                   "band pays at", "whole pays at"), rows, "Solves with and without presolve, and its price",
                  (None, None, None, None, ".2f", ".2f", ".0f", ".0f", ".0f", ".0f"),
                  {**ABOUT, "whole pays at": "solves after which the longer factorization has paid; a dash: never"})]


# ---- the whole ----

def summary(results):
    found = [t.faster for t in read.times(results) if t.faster]
    sentences = []
    ours, theirs = read.sides(results)
    if found:
        sentences.append(f"A factorization by {theirs} takes {geometric_mean(found):.2f} times as long as by {ours} in the "
                         f"mean of {len(found)} problems, at most {max(found):.2f} times.")
    costs = [p.cost for p in read.pivoting(results, "pivoting" if read.on_cuda(results) else "direct")]
    if costs:
        sentences.append(f"Pivoting costs {median(costs):.0f} % in the median of {len(costs)} positive definite problems.")
    return sentences


HARDWARE = "HSL_MA97 on two E5620 against SSIDS on a C2050, and on two E5-2687W against a K20"
OTHERS = ("The problems whose files are not in the folder of matrices; what stands in for them is listed under "
          "[matrices](#matrices).")
SUBJECT = Subject(
    "ssids", "A sparse symmetric indefinite direct solver for GPUs",
    "J. Hogg, E. Ovtchinnikov and J. Scott, A sparse symmetric indefinite direct solver for GPU architectures, ACM "
    "Transactions on Mathematical Software 42 (2016). The paper compares SSIDS on GPUs (Tesla C2050, 515 Gflop/s and 144 GB/s; "
    "K20, 1170 Gflop/s and 208 GB/s) with HSL_MA97 on two processors of the same years (E5620, 2 x 38.4 Gflop/s; E5-2687W, 2 x "
    "199). With `--device cuda` Saddle on the GPU stands beside Saddle on the CPU; on the CPU Saddle stands beside MUMPS, "
    "which is multifrontal and pivots by threshold as HSL_MA97 does.",
    steps,
    (Part("Figure 1", "Sizes of fronts", ("fronts",), show_figure1,
          "The front sizes of ncvxqp3, of order 75,000: very many small ones, few large."),
     Part("Table 1", "Contributions of children to the entries of their parents", ("fronts",), show_table1,
          "Its numbers are in the table: at most 5.3 % of the entries have contributions from more than one child."),
     Part("Table 3", "Problems", ("fronts", "direct"), show_table3,
          "Its numbers are in the table; its order is that of METIS 4.", OTHERS),
     Part("Figure 6", "Time of the factorization", ("direct", "factor"), show_figure6,
          "At most 6.7 and 7.0 times as fast as the CPU, both on Si5H12; at least twice on most problems, and on 13 "
          f"({HARDWARE})."),
     Part("Figure 7", "Rate of the factorization", ("direct", "factor"), show_figure7,
          f"The same in Gflop/s ({HARDWARE}). A dgemm reaches 298 Gflop/s on a C2050, 1046 on a K20, 34.1 on an E5620, 181 on "
          "an E5-2687W."),
     Part("Table 4", "Cost of pivoting", ("direct", "pivoting"), show_table4,
          "About 12 % on the GPU, at most 20.8 (G3_circuit); -1.7 to 13.7 % on the CPU. All numbers are in the table."),
     Part("Table 5", "Split of the operations and of the time", ("fronts", "profile"), show_table5,
          "About half of the time in the columns, 5 to 29 % in assembly, 6 to 50 % in contribution blocks (C2050)."),
     Part("Figure 8", "Pivots accepted", ("profile", "direct", "factor"), show_figure8,
          "60 to 80 % of the pivot columns of most matrices are accepted as a whole; about 20 % where many columns are delayed "
          "(problems 1, 7, 11 and 30). Its tiles have 8 columns."),
     Part("Figure 9", "Solve, without and with presolve", ("direct", "factor", "presolve"), show_figure9,
          "About 3 times as fast as the CPU on average, more with presolve (E5620, C2050)."),
     Part("Figure 10", "What presolve saves, and what it costs", ("presolve",), show_figure10,
          "The same on E5-2687W and K20. Presolve adds 7 to 40 % to the factorization and pays after 3 solves at best, 20 to "
          "30 on average.",
          "On the CPU: presolve is for GPUs and made with `--device cuda`; the CPU substitutes.")),
    claims.CLAIMS, problems.table, summary)
