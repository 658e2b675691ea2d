"""The panels of each benchmark, from the JSON that it wrote: of `saddle bench blocks`, of `saddle bench ldlt --ablate`,
`--part growth` and `--part backends`, and of all parts of `saddle bench trisolve`. A panel without measurements is None.
"""
import re

from draw import COLOURS, bars, curves, label, name_matrices, ranked, shaded, shades, steps

ERROR = r"$\Vert LDL^T - A\Vert_\infty \, / \, \Vert A\Vert_\infty$"
PATTERN = r"$\max |LDL^T - A|$ on the pattern"


def rows_of(rows, part, work, name, **more):
    wanted = {"part": part, "work": work, "name": name, "version": "default", **more}
    return [r for r in rows if all(r[key] == value for key, value in wanted.items())]


def block_kernels(rows, precision):
    batch = max((r["batch"] for r in rows if r["part"] == "kernels"), default=0)
    names = ("ldu-partial", "ldu-full", "ldlt-bunch-kaufman", "llt", "jordan", "huard", "copy", "getrf", "getrfBatched",
             "matinvBatched", "getrf+getri")
    return curves(f"Kernels in {precision}, {batch:,} blocks", "rows per block", "time per block [ns]", [
        (name, [(r["size"], r["nanoseconds_a_block"]) for r in rows_of(
            rows, "kernels", "copy" if name == "copy" else "factor", name, precision=precision, batch=batch)])
        for name in names], "y")


def block_applications(rows, precision):
    total = max((r["rows"] for r in rows if r["part"] == "apply"), default=0)
    return curves(f"Application in {precision} to {total:,} rows", "rows per block", "time [ms]", [
        (name, [(r["size"], 1e3 * r["seconds"]) for r in rows_of(rows, "apply", "apply", name, precision=precision)])
        for name in ("jordan", "huard", "huard-t", "ldu-partial", "ldlt-bunch-kaufman", "llt")])


def block_setups(rows, size):
    peer = next((r["peer"] for r in rows if r["part"] == "setup" and r["peer"]), "the peer")
    return curves(f"Setup in double, {size} rows per block", "blocks", f"times as fast as {peer}", [
        (name, [(r["batch"], r["times_as_fast"])
                for r in rows_of(rows, "setup", "factor", name, precision="double", size=size)])
        for name in ("jordan", "huard", "huard-t", "ldu-partial")], "x", 1)


def total(solve):
    return solve["factor"] + solve["solve"]


def block_totals(solved, size, order):
    return curves(f"BiCGSTAB: setup and solve, blocks of {size}", "matrices, by the time of jordan", "time [s]", [
        (kernel, [(k, total(solved[m, kernel, size])) for k, m in enumerate(order, 1) if (m, kernel, size) in solved])
        for kernel in ("jordan", "huard", "huard-t")], "y")


def block_split(solved, size, order):
    """The ten quickest, relative to the time of jordan, each with its setup at the bottom."""
    def draw(ax):
        for k, kernel in enumerate(("jordan", "huard", "huard-t")):
            runs = [(i, solved[m, kernel, size], total(solved[m, "jordan", size])) for i, m in enumerate(order[:10])
                    if (m, kernel, size) in solved]
            at, foot = [i - 0.28 + 0.28 * k for i, _, _ in runs], [s["factor"] / t for _, s, t in runs]
            ax.bar(at, foot, 0.26, color=COLOURS[k], label=f"{kernel}: setup")
            ax.bar(at, [s["solve"] / t for _, s, t in runs], 0.26, foot, color=shades(COLOURS[k], 2)[1],
                   label=f"{kernel}: solve")
        name_matrices(ax, order[:10])
        label(ax, f"BiCGSTAB: the quickest matrices, blocks of {size}", "", "time / jordan's time")
    return draw if order else None


def block_differences(solved, both):
    """Histogram of how many more iterations Gauss-Huard took than Gauss-Jordan, where both solved."""
    most = 10
    apart = {size: [max(-most, min(most, solved[m, "huard", size]["iterations"] - solved[m, "jordan", size]["iterations"]))
                    for m in matrices] for size, matrices in both.items() if matrices}

    def draw(ax):
        for k, (size, values) in enumerate(apart.items()):
            at = [v - 0.4 + (k + 0.5) * 0.8 / len(apart) for v in range(-most, most + 1)]
            ax.bar(at, [values.count(v) for v in range(-most, most + 1)], 0.75 / len(apart), color=COLOURS[k],
                   label=f"blocks of {size}")
        ax.set_xticks(range(-most, most + 1, 5), ["10 or more\nfewer", "5 fewer", "equal", "5 more", "10 or more\nmore"])
        label(ax, "BiCGSTAB: iterations of huard compared with jordan", "", "matrices")
    return draw if apart else None


def blocks(j):
    panels = [draw(j["rows"], precision) for draw in (block_kernels, block_applications)
              for precision in ("double", "single")] + [block_setups(j["rows"], size) for size in (16, 32)]
    solved = {(s["matrix"], s["kernel"], s["block_size"]): s for s in j["solves"] if s["solved"]}
    both = {size: sorted((m for m, kernel, s in solved if kernel == "jordan" and s == size and (m, "huard", s) in solved),
                         key=lambda m, size=size: total(solved[m, "jordan", size]))
            for size in sorted({size for _, _, size in solved})}
    for size in [s for s in both if s >= 16] or both:
        panels += [block_totals(solved, size, both[size]), block_split(solved, size, both[size])]
    panels.append(block_differences(solved, both))
    return f"Batches of small blocks, {re.split('[,;]', j['machine'] or j['device'])[0]}", panels


def dominance(rows, names):
    """The smallest, the mean and the largest value of each matrix."""
    def draw(ax):
        for k, (key, name) in enumerate((("dominance_grid", "grid of 32"), ("dominance_clusters", "clusters of 8"))):
            found = [(i - 0.1 + 0.2 * k, r[key]) for i, r in enumerate(rows) if None not in r[key]]
            ax.vlines([x for x, _ in found], [d[0] for _, d in found], [d[2] for _, d in found], COLOURS[k], linewidth=4,
                      alpha=0.45)
            ax.plot([x for x, _ in found], [d[1] for _, d in found], "o", color=COLOURS[k], label=f"{name}:\nrange and mean")
        ax.set_yscale("symlog", linthresh=1)
        ax.axhline(0, color="#222222", linewidth=0.8)
        name_matrices(ax, names)
        label(ax, "3a: dominance of block rows", "", r"$\Vert A_{ii}\Vert_1 - \sum_j \Vert A_{ij}\Vert_1$")
    return draw


def ablate(j):
    rows, names = j["rows"], [r["name"] for r in j["rows"]]

    def setting(key, words):
        return shaded(words, lambda method, k: [r[method][key][k] for r in rows])

    def swept(title, up, order, key):
        return curves(title, "sweeps", up, [(r["name"], list(enumerate(r["sweeps"][order][key], 1))) for r in rows], "y")

    def table(method, k):
        entries = [r["defaults"] if method == "defaults" else r[method]["table"] for r in rows]
        return [e[("backward_error", "relative_residual")[k]] for e in entries]
    pivots = ("static", "static,\nno push-back", "complete", "complete,\nno push-back")
    return "Figure 3 and Table I of Stretching Jacobi", [
        dominance(rows, names),
        bars("3b: error by smallest pivot", ERROR, names, setting("epsilon", ("0.1", "0.01", "0.001", "0.0001"))),
        bars("3c: error by rows per block", ERROR, names, setting("block_size", ("1", "2", "4", "8", "16", "32"))),
        bars("3d: error by inner pivoting and push-back", ERROR, names,
             shaded(pivots, lambda method, k: [r[method][pivots[k].split(",")[0]][k % 2] for r in rows])),
        swept("3e: error by block sweeps", ERROR, "block", "error"),
        swept("3e: residual by block sweeps", PATTERN, "block", "pattern_residual"),
        swept("3e: residual by row sweeps", PATTERN, "row", "pattern_residual"),
        bars("3f: time to factor", "time [s]", names,
             [(t, COLOURS[k], [r["factor_seconds"][t] for r in rows]) for k, t in enumerate(rows[0]["factor_seconds"])]),
        bars("Table I: errors after 100 iterations", "error", names,
             shaded(("backward", "residual"), table, ("jacobi", "ldlt", "defaults")))]


def growth(j):
    exponents = {e["family"]: e for e in j["exponents"]}

    def panel(title, which, solid):
        series = []
        for family in (f for f in exponents if ("3d" in f) == solid):
            solved = [(r["nnz"], r["ldlt"]) for r in j["rows"] if r["family"] == family and r["ldlt"]["solved"]]
            p = exponents[family][which]
            series.append((family if p is None else f"{family}: p = {p:.2f}", [
                (nnz, r["analysis"] + r["factor"] + (r["right_hand_sides"][0]["solve"] if which == "total" else 0))
                for nnz, r in solved]))
        return curves(f"{title}: {'3-D' if solid else '2-D and others'}", "entries of A", "time [s]", series, "xy")
    return r"Block $LDL^T$, time ~ entries$^p$", [
        panel(title, which, solid) for solid in (False, True)
        for title, which in (("Setup", "setup"), ("Time to solution", "total"))]


def backends(j):
    def iterations(row, backend, moment):
        return {s["rhs"]: s["iterations"] for s in row["backends"][backend][moment]["right_hand_sides"]}

    def panel(c):
        both = [(iterations(row, c["beside_backend"], c["beside_moment"]), iterations(row, c["backend"], c["moment"]))
                for row in j["rows"]]
        pairs = [(one[rhs], two[rhs]) for one, two in both for rhs in one if rhs in two]

        def draw(ax):
            ends = [0, 1.05 * max(max(p) for p in pairs) + 3]
            ax.fill_between((0, 50, 50, 1000), (-2, 48, 45, 900), (2, 52, 55, 1100), color="#dddddd",
                            label="equal to within\n2 or 10 %")
            ax.plot(*zip(*pairs), "o", color=COLOURS[0], alpha=0.6, label="right-hand side")
            ax.set(xlim=ends, ylim=ends, aspect="equal")
            label(ax, f"Iterations: {c['within']} of {c['compared']} within", f"{c['beside_backend']}, {c['beside_moment']}",
                  f"{c['backend']}, {c['moment']}")
        return draw if pairs else None
    return r"Block $LDL^T$ on the backends", [panel(c) for c in j["comparisons"]]


def sweep_panels(figure, row):
    def of(key):
        return [(f"IC({s['level']}), " + (f"blocks of {s['block_size']}" if s["block_size"] else "entries"),
                 [(p["sweeps"], p[key]) for p in s["sweeps"]]) for s in row["series"]]

    def beside(key):
        return next((s["exact"][key] for s in row["series"] if s["exact"]["solved"]), None) if len(row["series"]) == 1 else None
    title = f"{figure.capitalize()[:6]} {figure[6:]}, {row['name']}"
    return [curves(f"{title}: a triangular solve", "sweeps", "relative residual", of("trisolve_residual"), "y"),
            curves(f"{title}: iterations", "sweeps", "iterations", of("iterations"), "", beside("iterations")),
            curves(f"{title}: time", "sweeps", "time of the iteration [s]", of("solve"), "", beside("solve"))]


WAYS = {"entries": "entries", "blocks_12": "adjacent rows, 12", "best_12": "best blocking, 12",
        "blocks_24": "adjacent rows, 24", "best_24": "best blocking, 24"}


def search_panels(parts, table):
    panels = []
    if "table1" in parts:
        counts = [c for c in table["counts"] if not c["with_shifted"]]
        panels.append(steps("Table 1: solved with sweeps", "% of those solved with exact solves",
                            [f"IC({c['level']}), {c['exact']} matrices" for c in counts],
                            [(name, [100 * c[way] / max(1, c["exact"]) for c in counts]) for way, name in WAYS.items()
                             if all(c[way] is not None for c in counts)], 100))
    for level in dict.fromkeys(f["level"] for f in table.get("figures6and7", [])):
        those = [f for f in table["figures6and7"] if f["level"] == level]
        if "figure6" in parts:
            panels.append(steps(f"Figure 6: the fastest number of sweeps, IC({level})", "matrices",
                                [str(k) for k in range(1, len(those[0]["matrices_by_sweeps"]) + 1)],
                                [(WAYS[f["way"]], f["matrices_by_sweeps"]) for f in those]))
        if "figure7" in parts:
            panels.append(ranked(f"Figure 7: speed-up over exact solves, IC({level})", "time / time",
                                 [(WAYS[f["way"]], f["speedups"]) for f in those], "y", 1))
    return panels


def dominance_panels(figure):
    def of(key):
        rows = sorted((r["levels"] for r in figure["rows"] if None not in [v[key] for v in r["levels"]]),
                      key=lambda levels: levels[0][key])
        return [(f"IC({v['level']})", [levels[k][key] for levels in rows])
                for k, v in enumerate(rows[0])] if rows else [("", [])]
    return [ranked("Figure 8: off-diagonal dominance", r"mean of $\sum_j |l_{ij}| \,/\, |l_{ii}|$", of("rows")),
            ranked("Figure 8: block off-diagonal dominance", r"mean of $\sum_j \Vert L_{ij}\Vert \, \Vert L_{ii}^{-1}\Vert$",
                   of("blocks"))]


def order_panels(row):
    return [curves(f"Figure 9, {row['name']}, IC({level}): {title}", "sweeps", up,
                   [(o["order"], [(p["sweeps"], p[key]) for p in o["sweeps"]]) for o in row["orders"] if o["level"] == level])
            for level in dict.fromkeys(o["level"] for o in row["orders"])
            for key, title, up in (("iterations", "iterations", "iterations"), ("solve", "time", "time of the iteration [s]"))]


def setting_panels(rows):
    texts = list(dict.fromkeys(text for r in rows for text in r["settings"]))[:len(COLOURS)]

    def of(key):
        return [(text.replace(" blocking", "\nblocking"), COLOURS[k], [
            r["settings"][text][key] if r["settings"].get(text, {}).get("solved") else None for r in rows])
            for k, text in enumerate(texts)]
    names = [r["name"] for r in rows]
    return [bars("Iterations", "iterations", names, of("iterations")),
            bars("Time to solution, setup included", "time [s]", names, of("total"))]


def trisolve(j):
    panels = setting_panels(j["settings"]) if "settings" in j else []
    for figure in (f"figure{k}" for k in range(1, 6)):
        panels += [panel for row in j.get(figure, []) for panel in sweep_panels(figure, row)]
    panels += search_panels(j["parts"], j["table1"]) if "table1" in j else []
    panels += dominance_panels(j["figure8"]) if "figure8" in j else []
    panels += [panel for row in j.get("tables2to5", []) for panel in order_panels(row)]
    if "auto" in j:
        levels = dict.fromkeys(r["level"] for r in j["auto"]["rows"])
        panels.append(ranked("Time to solution of auto over that of the best", "time / time", [
            (f"IC({level})", sorted(r["ratio"] for r in j["auto"]["rows"] if r["level"] == level and r["ratio"] is not None))
            for level in levels], "y", j["auto"]["near"]))
    if "unsymmetric" in j:
        solved = j["unsymmetric"]["solved"]
        panels.append(steps("General matrices solved by GMRES", "matrices", [name.upper() for name in solved],
                            [("Saddle", [s["saddle"] for s in solved.values()]),
                             ("SciPy's spilu", [s["spilu"] for s in solved.values()])]))
    return "Incomplete factorizations and triangular solves", panels


KINDS = {("blocks", None): blocks, ("ldlt", "ablate"): ablate, ("ldlt", "growth"): growth, ("ldlt", "backends"): backends,
         ("trisolve", None): trisolve}
