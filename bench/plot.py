#!/usr/bin/env python3
"""Draws what a benchmark measured, from the JSON that it wrote:

    plot.py FILE.json PICTURE.png|.svg

The figures of `saddle bench blocks` and of `saddle bench ldlt --ablate`, `--part growth` and
`--part backends`, a panel each; a panel of which nothing was measured is left out.
"""
import json
import math
import os
import re
import sys

try:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
except ImportError as missing:
    DEBIAN = "/usr/bin/python3"  # has Debian's matplotlib, even where another python3 comes first on the PATH
    if os.path.exists(DEBIAN) and os.path.realpath(DEBIAN) != os.path.realpath(sys.executable):
        os.execv(DEBIAN, [DEBIAN, *sys.argv])
    sys.exit(f"saddle-bench-plot: {missing}: install matplotlib "
             "(Debian: apt-get install python3-matplotlib; elsewhere: pip install matplotlib)")

# Told apart by those who do not see all colours (Okabe and Ito), and two more.
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#222222", "#999999", "#7a4419",
           "#6a3d9a"]
MARKERS = "osD^vP*X<>"
ERROR = r"$\Vert LDL^T - A\Vert_\infty \, / \, \Vert A\Vert_\infty$"
PATTERN = r"$\max |LDL^T - A|$ on the pattern"
plt.rcParams.update({
    "axes.axisbelow": True, "axes.grid": True, "axes.titlesize": 13, "axes.labelsize": 11.5, "font.size": 11,
    "grid.color": "#dddddd", "grid.linewidth": 0.6, "legend.fontsize": 10, "legend.frameon": False,
    "lines.linewidth": 1.6, "lines.markersize": 4.5, "svg.fonttype": "none", "axes.unicode_minus": True})


def logarithmic(ax, *names):
    """Axes with round numbers at their ticks: at powers of ten, where they are few also at 2 and 5 times those."""
    def text(v, _):
        power = math.floor(math.log10(v) + 1e-9)
        head = round(v / 10.0**power)
        return f"{v:,g}" if 1e-3 <= v < 1e5 else (f"${head} \\cdot " if head > 1 else "$") + f"10^{{{power}}}$"
    for name in names:
        low, high = getattr(ax, f"get_{name}lim")()
        axis = getattr(ax, f"{name}axis")
        if high / low < 500:
            axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(text))
        axis.set_minor_formatter(NullFormatter())


def label(ax, title, across, up, key=True):
    ax.set_title(title)
    ax.set_xlabel(across)
    ax.set_ylabel(up)
    if key:  # beside the axes: it covers no curve
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02), borderaxespad=0)


def curves(title, across, up, series, log="", extra=None):
    """A panel of lines, series: [(name, [(x, y)])]; None where there is nothing to draw."""
    series = [(name, [p for p in points if p[1] is not None]) for name, points in series]
    series = [(name, points) for name, points in series if points]

    def draw(ax):
        for k, (name, points) in enumerate(series):
            few = max(len(p) for _, p in series) <= 40
            ax.plot(*zip(*sorted(points)), color=COLOURS[k % 10], label=name, marker=MARKERS[k % 10] if few else None)
        for name in log:  # the limits of a linear axis are none for a logarithmic one
            getattr(ax, f"set_{name}scale")("log")
        logarithmic(ax, *log)
        if "x" not in log:
            ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        if "y" not in log:
            ax.set_ylim(bottom=0)
        if extra:
            extra(ax)
        label(ax, title, across, up)
    return draw if series else None


def bars(title, up, names, series):
    """A panel of bars over the matrices on a logarithmic scale, series: [(name, colour, [value])]. A value of 0 is
    written at the foot, one that is not known is left out."""
    known = [v for _, _, values in series for v in values if v]

    def draw(ax):
        width = 0.84 / len(series)
        for k, (name, colour, values) in enumerate(series):
            at = [i + (k + 0.5) * width - 0.42 for i in range(len(values))]
            ax.bar(at, [v or 0 for v in values], 0.94 * width, color=colour, label=name)
            for x, v in zip(at, values):
                if v == 0:
                    ax.annotate("0", (x, 0), (0, 3), xycoords=("data", "axes fraction"), textcoords="offset points",
                                ha="center", color=colour, fontsize=9)
        ax.set_yscale("log")
        ax.set_ylim(min(known) / 4, max(known) * 3)
        logarithmic(ax, "y")
        ax.grid(False, axis="x")
        ax.set_xticks(range(len(names)), names, rotation=30, ha="right", rotation_mode="anchor")
        label(ax, title, "", up)
    return draw if known else None


def shades(colour, count):
    """A colour and lighter ones."""
    rgb = matplotlib.colors.to_rgb(colour)
    return [tuple(1 - (1 - c) * (1 - 0.75 * k / count) for c in rgb) for k in range(count)]


# ---------------------------------------------------------------------------------------- blocks

def of(rows, part, work, name, **rest):
    wanted = {"part": part, "work": work, "name": name, "version": "default", **rest}
    return [r for r in rows if all(r[key] == value for key, value in wanted.items())]


def block_kernels(rows, precision):
    batch = max((r["batch"] for r in rows if r["part"] == "kernels"), default=0)
    names = [("factor", n) for n in ("ldu-partial", "ldu-full", "ldlt-bunch-kaufman", "llt", "jordan", "huard")]
    names += [("copy", "copy")] + [("factor", n) for n in ("getrf", "getrfBatched", "matinvBatched", "getrf+getri")]
    return curves(f"Kernels in {precision}, {batch:,} blocks", "rows of a block", "time a block [ns]",
                  [(name, [(r["size"], r["nanoseconds_a_block"])
                           for r in of(rows, "kernels", work, name, precision=precision, batch=batch)])
                   for work, name in names], "y")


def block_applications(rows, precision):
    total = max((r["rows"] for r in rows if r["part"] == "apply"), default=0)
    return curves(f"Application in {precision} to {total:,} rows", "rows of a block", "time [ms]",
                  [(name, [(r["size"], 1e3 * r["seconds"]) for r in of(rows, "apply", "apply", name, precision=precision)])
                   for name in ("jordan", "huard", "huard-t", "ldu-partial", "ldlt-bunch-kaufman", "llt")])


def block_setups(rows, size):
    peer = next((r["peer"] for r in rows if r["part"] == "setup" and r["peer"]), "the peer")
    return curves(f"Setup in double, {size} rows a block", "blocks", f"times as fast as {peer}",
                  [(name, [(r["batch"], r["times_as_fast"])
                           for r in of(rows, "setup", "factor", name, precision="double", size=size)])
                   for name in ("jordan", "huard", "huard-t", "ldu-partial")], "x",
                  lambda ax: ax.axhline(1, color="#222222", linestyle="--", linewidth=1))


def block_differences(solved, sizes):
    """How often Gauss-Huard took so many iterations more than Gauss-Jordan, where both solved."""
    most, apart = 10, {}
    for size in sizes:
        both = [m for m, kernel, s in solved if kernel == "jordan" and s == size and (m, "huard", size) in solved]
        if both:
            apart[size] = [max(-most, min(most, solved[m, "huard", size]["iterations"] -
                                          solved[m, "jordan", size]["iterations"])) for m in both]

    def draw(ax):
        for k, (size, values) in enumerate(apart.items()):
            at = [v - 0.4 + (k + 0.5) * 0.8 / len(apart) for v in range(-most, most + 1)]
            ax.bar(at, [values.count(v) for v in range(-most, most + 1)], 0.75 / len(apart), color=COLOURS[k],
                   label=f"blocks of {size}")
        ax.set_xticks(range(-most, most + 1, 5), ["10 or more\nfewer", "5 fewer", "as many", "5 more", "10 or more\nmore"])
        label(ax, "BiCGSTAB: iterations of huard beside jordan", "", "matrices")
    return draw if apart else None


def block_totals(solved, size, order):
    return curves(f"BiCGSTAB: setup and solve, blocks of {size}", "matrices, by the time of jordan", "time [s]",
                  [(kernel, [(k + 1, total(solved[m, kernel, size])) for k, m in enumerate(order)
                             if (m, kernel, size) in solved]) for kernel in ("jordan", "huard", "huard-t")], "y")


def total(solve):
    return solve["factor"] + solve["solve"]


def block_split(solved, size, order):
    """The ten quickest, in parts of the time of jordan, each with its setup at the foot."""
    def draw(ax):
        for k, kernel in enumerate(("jordan", "huard", "huard-t")):
            runs = [(i, solved[m, kernel, size], total(solved[m, "jordan", size])) for i, m in enumerate(order[:10])
                    if (m, kernel, size) in solved]
            at, foot = [i - 0.28 + 0.28 * k for i, _, _ in runs], [s["factor"] / t for _, s, t in runs]
            ax.bar(at, foot, 0.26, color=COLOURS[k], label=f"{kernel}: setup")
            ax.bar(at, [s["solve"] / t for _, s, t in runs], 0.26, foot, color=shades(COLOURS[k], 2)[1],
                   label=f"{kernel}: solve")
        ax.set_xticks(range(len(order[:10])), order[:10], rotation=30, ha="right", rotation_mode="anchor")
        ax.grid(False, axis="x")
        label(ax, f"BiCGSTAB: the quickest matrices, blocks of {size}", "", "time / jordan's time")
    return draw if order else None


def blocks(j):
    panels = [draw(j["rows"], precision) for draw in (block_kernels, block_applications)
              for precision in ("double", "single")]
    panels += [block_setups(j["rows"], size) for size in (16, 32)]
    solved = {(s["matrix"], s["kernel"], s["block_size"]): s for s in j["solves"] if s["solved"]}
    sizes = sorted({size for _, _, size in solved})
    for size in [s for s in sizes if s >= 16] or sizes[:1]:
        both = [m for m, kernel, s in solved if kernel == "jordan" and s == size and (m, "huard", size) in solved]
        order = sorted(both, key=lambda m: total(solved[m, "jordan", size]))
        panels += [block_totals(solved, size, order), block_split(solved, size, order)]
    panels.append(block_differences(solved, sizes))
    machine = re.split("[,;]", j["machine"] or j["device"])[0]
    return f"Batches of small blocks, {machine}", panels


# ---------------------------------------------------------------------------------------- ldlt

def dominance(rows, names):
    """The least, the mean and the largest of each matrix."""
    def draw(ax):
        for k, (key, name) in enumerate((("dominance_grid", "grid of 32"), ("dominance_clusters", "clusters of 8"))):
            found = [(i - 0.1 + 0.2 * k, r[key]) for i, r in enumerate(rows) if None not in r[key]]
            for x, (least, _, largest) in found:
                ax.plot((x, x), (least, largest), color=COLOURS[k], linewidth=4, alpha=0.45, solid_capstyle="butt")
            ax.plot([x for x, _ in found], [d[1] for _, d in found], "o", color=COLOURS[k], label=f"{name}:\nrange and mean")
        ax.set_yscale("symlog", linthresh=1)
        ax.axhline(0, color="#222222", linewidth=0.8)
        ax.set_xticks(range(len(names)), names, rotation=30, ha="right", rotation_mode="anchor")
        label(ax, "3a: dominance of block rows", "", r"$\Vert A_{ii}\Vert_1 - \sum_j \Vert A_{ij}\Vert_1$")
    return draw


def settings(rows, key, values):
    """Of jacobi in one colour and of ldlt in another, shaded by the value of the setting."""
    return [(f"{method}, {value}", colour, [r[method][key][k] for r in rows])
            for method, hue in (("jacobi", COLOURS[0]), ("ldlt", COLOURS[1]))
            for k, (value, colour) in enumerate(zip(values, shades(hue, len(values))))]


def pivoting(rows):
    return [(f"{method}, {pivot}" + (",\nno push-back" if off else ""), colour, [r[method][pivot][off] for r in rows])
            for method, hue in (("jacobi", COLOURS[0]), ("ldlt", COLOURS[1]))
            for (pivot, off), colour in zip([(p, o) for p in ("static", "complete") for o in (0, 1)], shades(hue, 4))]


def ablate(j):
    rows, names = j["rows"], [r["name"] for r in j["rows"]]
    sizes = ("1", "2", "4", "8", "16", "32")
    table = [(f"{name}: {word}", colour, [of_row(r)[key] for r in rows])
             for name, hue, of_row in (("jacobi", COLOURS[0], lambda r: r["jacobi"]["table"]),
                                       ("ldlt", COLOURS[1], lambda r: r["ldlt"]["table"]),
                                       ("ldlt, defaults", COLOURS[2], lambda r: r["defaults"]))
             for (key, word), colour in zip((("backward_error", "backward"), ("relative_residual", "residual")), shades(hue, 2))]

    def swept(title, up, order, key):
        return curves(title, "sweeps", up, [(r["name"], list(enumerate(r["sweeps"][order][key], 1))) for r in rows], "y")
    times = list(rows[0]["factor_seconds"])
    return "Figure 3 and Table I of Stretching Jacobi", [
        dominance(rows, names),
        bars("3b: error by the least pivot", ERROR, names, settings(rows, "epsilon", ("0.1", "0.01", "0.001", "0.0001"))),
        bars("3c: error by rows of a block", ERROR, names, settings(rows, "block_size", sizes)),
        bars("3d: error by inner pivoting and push-back", ERROR, names, pivoting(rows)),
        swept("3e: error by block sweeps", ERROR, "block", "error"),
        swept("3e: residual by block sweeps", PATTERN, "block", "pattern_residual"),
        swept("3e: residual by row sweeps", PATTERN, "row", "pattern_residual"),
        bars("3f: time to factor", "time [s]", names,
             [(t, COLOURS[k], [r["factor_seconds"][t] for r in rows]) for k, t in enumerate(times)]),
        bars("Table I: errors after 100 iterations", "error", names, table)]


def growth(j):
    exponents = {e["family"]: e for e in j["exponents"]}
    families = list(dict.fromkeys(r["family"] for r in j["rows"]))

    def panel(title, solid, which, seconds):
        series = []
        for family in (f for f in families if ("3d" in f) == solid):
            p = exponents[family][which]
            series.append((family if p is None else f"{family}: p = {p:.2f}",
                           [(r["nnz"], seconds(r["ldlt"])) for r in j["rows"] if r["family"] == family and r["ldlt"]["solved"]]))
        return curves(title, "entries of A", "time [s]", series, "xy")
    setup = lambda r: r["analysis"] + r["factor"]
    return r"Block $LDL^T$, time ~ entries$^p$", [
        panel(f"{what}: {'3-D' if solid else '2-D and others'}", solid, which, seconds) for solid in (False, True)
        for what, which, seconds in (("Setup", "setup", setup),
                                     ("Time to solution", "total", lambda r: setup(r) + r["right_hand_sides"][0]["solve"]))]


def backends(j):
    def iterations(row, backend, moment):
        return {s["rhs"]: s["iterations"] for s in row["backends"][backend][moment]["right_hand_sides"]}

    def panel(c):
        pairs = []
        for row in j["rows"]:
            one, two = iterations(row, c["backend"], c["moment"]), iterations(row, c["beside_backend"], c["beside_moment"])
            pairs += [(two[rhs], one[rhs]) for rhs in one if rhs in two]

        def draw(ax):
            ends = [0, 1.05 * max(max(p) for p in pairs) + 3]
            middle = sorted({0, min(50, ends[1]), ends[1]})
            apart = [max(2 if x < 50 else 0.1 * x, 2) for x in middle]
            ax.fill_between(middle, [x - a for x, a in zip(middle, apart)], [x + a for x, a in zip(middle, apart)],
                            color="#dddddd", label="as many, but\nfor 2 or 10 %")
            ax.plot(*zip(*pairs), "o", color=COLOURS[0], alpha=0.6, label="right-hand side")
            ax.set(xlim=ends, ylim=ends, aspect="equal")
            label(ax, f"Iterations: {c['within']} of {c['compared']} within", f"{c['beside_backend']}, {c['beside_moment']}",
                  f"{c['backend']}, {c['moment']}")
        return draw if pairs else None
    return r"Block $LDL^T$ on the backends", [panel(c) for c in j["comparisons"]]


# ----------------------------------------------------------------------------------------

def main():
    kinds = {("blocks", None): blocks, ("ldlt", "ablate"): ablate, ("ldlt", "growth"): growth,
             ("ldlt", "backends"): backends}
    if len(sys.argv) != 3:
        sys.exit("usage: plot.py FILE.json PICTURE.png|.svg")
    with open(sys.argv[1], encoding="utf-8") as file:
        j = json.load(file)
    kind = kinds.get((j.get("bench"), j.get("part")))
    if not kind:
        sys.exit(f"{sys.argv[1]}: of this benchmark there is no picture")
    title, panels = kind(j)
    panels = [p for p in panels if p]
    across = min(2, len(panels))
    if not panels:
        sys.exit(f"{sys.argv[1]}: nothing was measured that could be drawn")
    down = (len(panels) + across - 1) // across
    figure, axes = plt.subplots(down, across, figsize=(6.8 * across, 3.9 * down + 0.5), squeeze=False, layout="constrained")
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.12)
    figure.suptitle(f"{title} (Saddle {j['saddle']}, commit {j['commit'][:10]})", fontsize=14)
    for k, ax in enumerate(axes.flat):
        panels[k](ax) if k < len(panels) else ax.set_axis_off()
    root, ending = os.path.splitext(sys.argv[2])
    figure.savefig(f"{root}.part{ending}", dpi=130)
    os.replace(f"{root}.part{ending}", sys.argv[2])  # there whole or not at all


if __name__ == "__main__":
    main()
