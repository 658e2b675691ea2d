"""What the paper on triangular solves by Jacobi sweeps says in words, judged by what was measured."""
from content import counted
from judging import (all_or_some, by_share, geometric_mean, graded, known, median, of_gpus, on_gpu, percent, reasoned, times,
                     unmeasured)
from model import FAILS, HOLDS, PARTLY, Claim, Verdict
from papers import trisolve_results as read

EXAMPLES = ("figure1", "figure2")


def examples(results):
    """The curves of Figures 1 and 2 that exact solves solve."""
    return [c for figure in EXAMPLES for c in read.curves(results, figure) if c.exact["solved"] and c.points]


def cost_text(costs):
    return "; ".join(f"{c.name}: an exact triangular solve takes {1e3 * c.exact:.3g} ms, a sweep {1e3 * c.sweep:.3g} ms "
                     f"({c.exact / c.sweep:.2g} times)" for c in costs)


def why_exact(results):
    """What explains that sweeps do not pay: the price of an exact solve."""
    costs = [c for c in read.costs(results) if c.whose == "Saddle"]
    return (f"Exact triangular solves cost little here, so little is to be saved: {cost_text(costs)}." if costs else "")


def cheap_sweep(results):
    costs = read.costs(results)
    if not on_gpu(results, "cusparse"):
        return of_gpus(cost_text(costs) + "." if costs else "")
    theirs = [c for c in costs if c.whose == "cuSPARSE"] or costs
    if not theirs:
        return unmeasured("No application of exact solves could be timed.")
    mean = geometric_mean([c.exact / c.sweep for c in theirs])
    return reasoned(graded(mean, 10, 3), f"{theirs[0].whose}'s exact solve over a sweep: {mean:.3g} in the mean. "
                    f"{cost_text(theirs)}.", why_exact(results))


def approaches_exact(results):
    found = examples(results)
    last = [(c, [p for p in c.points if p.iterations]) for c in found]
    if not found:
        return unmeasured("No example was solved.")
    good = [bool(points) and points[-1].iterations <= 1.1 * c.exact["iterations"] + 1 for c, points in last]
    text = "; ".join(f"{c.name}: {points[0].iterations:.0f} with {points[0].sweeps} sweeps, {points[-1].iterations:.0f} with "
                     f"{points[-1].sweeps}, exact {c.exact['iterations']:.0f}" if points
                     else f"{c.name}: never solved by sweeps"
                     for c, points in last)
    residuals = "; ".join(f"{c.name}: {points[-1].residual:.2g}" for c, points in last if points
                          and points[-1].residual is not None)
    return Verdict(all_or_some(good), text + ".", "" if all(good) else f"Residuals of the last triangular solves: {residuals}.")


def few_are_fastest(results):
    best = [(c, b) for c in examples(results) if (b := c.best())]
    if not best:
        return unmeasured("No example was solved by sweeps.")
    return Verdict(all_or_some(1 <= b.sweeps <= 5 for _, b in best),
                   "; ".join(f"{c.name}: {b.sweeps} sweeps" for c, b in best) + ".",
                   "" if all(1 <= b.sweeps <= 5 for _, b in best) else why_exact(results))


def inaccurate_solves_do(results):
    """Beside the residual of the first guess, 0 sweeps."""
    best = [(c.name, c.points[0].residual, b) for c in examples(results) if (b := c.best()) and b.residual
            and c.points[0].residual]
    if not best:
        return unmeasured("No example was solved by sweeps with a residual that is known.")
    each = ", ".join(f"{(first / b.residual) ** (1 / b.sweeps):.2g} ({name})" for name, first, b in best if b.sweeps)
    return reasoned(all_or_some(first < 10 * b.residual for _, first, b in best),
                    "; ".join(f"{name}: divided by {times(first / b.residual)} after {counted(b.sweeps, 'sweep')} ({first:.2g} "
                              f"to {b.residual:.2g})" for name, first, b in best) + ".",
                    f"On these matrices a sweep divides the residual by {each}; on Hook_1498 three of them divide it by less "
                    "than 10, so by less than 2.2 each.")


def examples_speed(results):
    found = [(c, s) for c in examples(results) if (s := c.speedup())]
    text = "; ".join(f"{c.name}: {s:.2f}" for c, s in found) + "."
    if not found:
        return unmeasured("No example was solved by sweeps.")
    if not on_gpu(results, "figure1"):
        return of_gpus(f"the time with exact solves over the best with sweeps is, {text}")
    verdict = graded(min(s for _, s in found), 2, 1.05)
    if verdict == FAILS and max(s for _, s in found) >= 1.05:
        verdict = PARTLY
    return reasoned(verdict, "Exact over swept: " + text, why_exact(results))


def how_hard(results, names):
    """How dominant the factors of these matrices are, in words."""
    found = [f"{d.name} {d.rows[1]:.3g}" for d in read.dominances(results) if d.name in names]
    return ("bcsstk24 is missing, and what stands in for it is less hard" + (
        f": the mean off-diagonal dominance of its IC(1) factor is {', '.join(found)}" if found else "") + ".")


def scalar_diverges_first(results):
    found = [c for c in read.curves(results, "figure3") if not c.block and c.points]
    if not found:
        return unmeasured("No matrix of this kind is at hand.")
    parts, good = [], []
    for c in found:
        values = [(p.residual, p.sweeps) for p in c.points if p.residual is not None]
        first, (most, at) = values[0][0], max(values)
        given_up = next((p.sweeps for p in c.points if p.residual is None), None)
        good.append(most >= 100 * first)
        parts.append(f"{c.name}: {first:.2g} at first, {most:.2g} after {at} sweeps"
                     + (f"; from {given_up} on Saddle reports divergence" if given_up is not None else ""))
    return Verdict(all_or_some(good), "; ".join(parts) + ".",
                   "" if all(good) else how_hard(results, [c.name for c in found]))


def blocks_grow_less(results):
    found = read.curves(results, "figure3")
    parts, good = [], []
    for name in dict.fromkeys(c.name for c in found):
        most = {c.block: max(known(p.residual for p in c.points), default=None) for c in found if c.name == name}
        scalar, blocks = most.pop(0, None), known(most.values())
        first = next(c.points[0].residual for c in found if c.name == name and not c.block) if scalar is not None else None
        if scalar is None or not blocks or not first or scalar < 10 * first:
            continue  # nothing grows
        good.append(max(blocks) <= 0.1 * scalar)
        parts.append(f"{name}: at most {scalar:.2g} over entries, " + ", ".join(
            f"{v:.2g} over blocks of {b}" for b, v in sorted(most.items()) if v is not None))
    if not good:
        return unmeasured("No matrix on which sweeps over entries grow is at hand.")
    return Verdict(all_or_some(good), "; ".join(parts) + ".", "" if all(good) else how_hard(results, [c.name for c in found]))


def fifteen_block_sweeps(results):
    found = [c for c in read.curves(results, "figure4") if c.exact["solved"]]
    near = [(c, p) for c in found if (p := next((p for p in c.points if p.sweeps >= 15), None))]
    if not near:
        return unmeasured("No matrix of this kind is at hand.")
    text = "; ".join(f"{c.name}, blocks of {c.block}: " + (f"{p.iterations:.0f}" if p.iterations else "not solved")
                     + f" with {p.sweeps} sweeps (exact {c.exact['iterations']:.0f})" for c, p in near)
    good = [p.iterations is not None and p.iterations <= 2 * c.exact["iterations"] for c, p in near]
    residuals = "; ".join(f"{c.name}, blocks of {c.block}: {p.residual:.2g}" for c, p in near if p.residual is not None)
    return Verdict(all_or_some(good), text + ".", "" if all(good)
                   else f"Residuals of a triangular solve after them: {residuals}.")


def levels(results):
    """{level: curve} of the first matrix of Figure 5 whose levels are all solved exactly."""
    found = read.curves(results, "figure5")
    for name in dict.fromkeys(c.name for c in found):
        mine = {c.level: c for c in found if c.name == name and c.exact["solved"] and c.points}
        if len(mine) > 1:
            return dict(sorted(mine.items()))
    return {}


def growing(values):
    """Whether no value is below the one before, and the last above the first."""
    pairs = list(zip(values, values[1:]))
    up = sum(b >= a for a, b in pairs)
    return HOLDS if up == len(pairs) and values[-1] > values[0] else PARTLY if values[-1] > values[0] else FAILS


def more_fill_more_sweeps(results):
    found = levels(results)
    if not found:
        return unmeasured("No matrix was solved at several levels.")
    most = max(c.points[-1].sweeps for c in found.values()) + 1
    needed = [c.matching() if c.matching() is not None else most for c in found.values()]
    text = ", ".join(f"IC({k}): {n if n < most else f'more than {most - 1}'}" for k, n in zip(found, needed))
    return Verdict(growing(needed), f"Sweeps on {next(iter(found.values())).name} with at most 1.05 times the exact "
                                    f"iterations: {text}.")


def more_fill_best_sweeps(results):
    found = {k: b for k, c in levels(results).items() if (b := c.best())}
    if len(found) < 2:
        return unmeasured("No matrix was solved at several levels.")
    verdict = growing([b.sweeps for b in found.values()])
    times = "; ".join(f"IC({k}): {b.sweeps} sweeps, {b.solve:.3g} s" for k, b in found.items())
    worst = max(p.solve / b.solve for k, b in found.items() for p in levels(results)[k].points
                if p.solve and abs(p.sweeps - b.sweeps) <= 1)
    return Verdict(verdict, times + ".", "" if verdict == HOLDS else
                   f"The time hardly depends on the number of sweeps near the best: one more or less takes at most {worst:.2f} "
                   "times it.")


def swept_faster_at_all_levels(results):
    found = {k: s for k, c in levels(results).items() if (s := c.speedup())}
    text = ", ".join(f"IC({k}): {s:.2f}" for k, s in found.items())
    if not found:
        return unmeasured("No matrix was solved at several levels.")
    if not on_gpu(results, "figure5"):
        return of_gpus(f"exact over swept, {text}.")
    return reasoned(all_or_some(s > 1 for s in found.values()), f"Exact over swept: {text}.", why_exact(results))


def shares(results, level):
    """What is solved, in per cent of what exact solves solve, by way; and in words."""
    rows = read.searched(results, level)
    share = {way: percent(len(read.solved(rows, way)), len(rows)) for way in read.WAYS}
    late = sum(len(read.undecided(rows, way)) for way in read.WAYS)
    text = f"IC({level}): of {len(rows)} matrices " + ", ".join(
        f"{len(read.solved(rows, way))} ({share[way]:.0f} %) over {name}" for way, name in read.WAYS.items()) if rows else ""
    return share, text + (f", {late} not decided within the time limit" if late else "")


def table1(level, least):
    """`least`: the paper's shares. Five per cent of the paper's matrices are three or four of ours."""
    def judge(results):
        share, text = shares(results, level)
        if not text:
            return unmeasured("Exact solves solved nothing.")
        rows = read.searched(results, level)
        enough = [share[way] >= least[way] - 5 for way in read.WAYS]
        perhaps = [share[way] + percent(len(read.undecided(rows, way)), len(rows)) >= least[way] - 5 for way in read.WAYS]
        verdict = HOLDS if all(enough) else PARTLY if any(enough) or any(perhaps) else FAILS
        tries = [f"{r['name']} over {name}: {next(iter(r[way]['failed'].values()), 'nothing tried')}" for way,
                 name in read.WAYS.items()
                 for r in rows if way in r and not r[way]["solved"]]
        return Verdict(verdict, text + ".", "" if verdict == HOLDS else "The nearest tries, with sweeps as Saddle counts them: "
                       + "; ".join(tries) + ".")
    return judge


def blocks_are_more_robust(results):
    rows = [r for level in (0, 1) for r in read.searched(results, level) if all(way in r for way in read.WAYS)]
    blocks = [r for r in rows if r["blocks_12"]["solved"] and not r["entries"]["solved"]]
    entries = [r for r in rows if r["entries"]["solved"] and not r["blocks_12"]["solved"]]

    def names(some, way):
        return ", ".join(f"{r['name']} IC({r['level']})" + (" (not decided over the others)" if r[way]["late"] else "")
                         for r in some)
    text = "; ".join(shares(results, level)[1] for level in (0, 1)) + "."
    if not blocks and not entries:
        return unmeasured("Both solve the same. " + text)
    text += (f" Over blocks alone: {names(blocks, 'entries')}." if blocks else "") + (
        f" Over entries alone: {names(entries, 'blocks_12')}." if entries else "")
    verdict = HOLDS if blocks and not entries else PARTLY if len(blocks) > len(entries) else FAILS
    tries = [(r["name"], t) for r in entries for t in r["blocks_12"]["failed"].values()]
    return Verdict(verdict, text, "" if verdict == HOLDS else "The nearest tries over blocks (sweeps as Saddle counts them): " +
                   "; ".join(f"{name}: {t}" for name, t in tries) + ".")


def sweeps_cluster(results):
    parts, good, close = [], [], []
    for level in (0, 1):
        for way, name in read.WAYS.items():
            best = read.best_sweeps(read.fastest(results, level), way)
            if not best:
                continue
            good.append(percent(sum(s < 10 for s in best), len(best)))
            close.append(median(best))
            parts.append(f"IC({level}), {name}: median {median(best):.3g}, {good[-1]:.0f} % below 10")
    if not parts:
        return unmeasured("Nothing was solved by sweeps.")
    small = min(good) >= 75
    verdict = HOLDS if small and all(1.5 <= m <= 5 for m in close) else PARTLY if small else FAILS
    return reasoned(verdict, "; ".join(parts) + ".", why_exact(results))


def fast(results):
    """[(words, speed-ups)] of all levels and ways."""
    return [(f"IC({level}), {name}", s) for level in (0, 1) for way, name in read.WAYS.items()
            if (s := read.speedups(read.fastest(results, level), way))]


def large_speedups(results):
    found = fast(results)
    if not found:
        return unmeasured("Nothing was solved by sweeps.")
    text = "; ".join(f"{words}: at most {s[0]:.2g}, median {median(s):.2g}, {sum(v < 1 for v in s)} of {len(s)} slower"
                     for words, s in found) + "."
    if not on_gpu(results, "best"):
        return of_gpus(f"exact over swept, {text}")
    every = [v for _, s in found for v in s]
    few = percent(sum(v < 1 for v in every), len(every)) <= 20
    verdict = HOLDS if few and max(every) > 10 else PARTLY if few or max(every) > 3 else FAILS
    return reasoned(verdict, text, why_exact(results))


def blocks_slow_fewer(results):
    slow = [[sum(v < 1 for v in s) / len(s) for way in read.WAYS if (s := read.speedups(read.fastest(results, level), way))]
            for level in (0, 1)]
    pairs = [s for s in slow if len(s) == 2]
    if not pairs:
        return unmeasured("Nothing was solved by sweeps.")
    text = "; ".join(f"IC({k}): slower on {100 * a:.0f} % over entries, on {100 * b:.0f} % over blocks" for k,
                     (a, b) in enumerate(pairs)) + "."
    if not on_gpu(results, "best"):
        return of_gpus(text)
    verdict = all_or_some(b < a for a, b in pairs)
    price = geometric_mean([r["blocks_12"]["solve"] / r["blocks_12"]["iterations"] / r["blocks_12"]["sweeps"]
                            / (r["entries"]["solve"] / r["entries"]["iterations"] / r["entries"]["sweeps"])
                            for level in (0, 1) for r in read.fastest(results, level)
                            if all(r[way]["solved"] and r[way]["iterations"] and r[way]["solve"] for way in read.WAYS)])
    return Verdict(verdict, text, "" if verdict == HOLDS or not price else
                   f"An iteration over blocks takes {price:.2f} times as long for each sweep as one over entries.")


def dominance_grows(results):
    found = read.dominances(results)
    if not found:
        return unmeasured("No matrix has both factors without a shift.")
    rows, blocks = (sum(one >= zero * (1 - 1e-9) for zero, one in (getattr(d, key) for d in found))
                    for key in ("rows", "blocks"))
    return Verdict(graded(min(rows, blocks) / len(found), 0.9, 0.7),
                   f"IC(1)'s is at least IC(0)'s on {rows} of {len(found)} matrices by rows, on {blocks} by blocks.")


def other_orders(results, titles=("PB", "PBD")):
    """[(RCM, other)] with exact solves, of matrices that both solve."""
    found = read.orders(results)
    return [(o["RCM"], o[t]) for level in (0, 1) for o in read.by_matrix(found, level).values() for t in titles
            if t in o and "RCM" in o and o[t].exact["solved"] and o["RCM"].exact["solved"]]


def rcm_needs_fewest(results):
    pairs = other_orders(results)
    if not pairs:
        return unmeasured("No matrix was solved in two orders.")
    more = sum(o.exact["iterations"] > r.exact["iterations"] for r, o in pairs)
    text = ", ".join(f"{o.name} IC({o.curve.level}) {o.title}: {o.exact['iterations']:.0f} for {r.exact['iterations']:.0f}"
                     for r, o in pairs)
    verdict = graded(more / len(pairs), 0.7, 0.4)
    shifts = ", ".join(f"{o.name} IC({o.curve.level}): RCM {r.exact.get('shift') or 0:.2g}, {o.title} "
                       f"{o.exact.get('shift') or 0:.2g}"
                       for r, o in pairs if r.exact.get("shift") or o.exact.get("shift"))
    return Verdict(verdict, f"More iterations than with RCM in {more} of {len(pairs)} cases. {text}.", "" if verdict == HOLDS
                   else
                   f"Shifts of the factorizations: {shifts or 'none'}.")


def orders_change_levels(results):
    pairs = [(r.exact["levels"], o.exact["levels"]) for r, o in other_orders(results)
             if r.exact["levels"] and o.exact["levels"] and r.exact["levels"] > 0]
    if not pairs:
        return unmeasured("The numbers of levels are not known.")
    fewer = sum(o < r for r, o in pairs)
    return Verdict(HOLDS if 0 < fewer < len(pairs) else PARTLY if fewer else FAILS,
                   f"Fewer levels than with RCM in {fewer} of {len(pairs)} cases; the least {min(o / r for r, o in pairs):.2g} "
                   f"times as many, the most {max(o / r for r, o in pairs):.2g} times.")


def under_ten_sweeps(results):
    found = [o for o in read.orders(results) if o.title in ("PB", "PBD") and o.exact["solved"] and o.curve.points]
    if not found:
        return unmeasured("No matrix was solved in these orders.")
    near = [(o, o.curve.matching(1.1)) for o in found]
    good = [(o, k) for o, k in near if k is not None and k < 10]
    rest = ", ".join(f"{o.name} IC({o.curve.level}) {o.title}" for o, k in near if k is None or k >= 10)
    return Verdict(graded(len(good) / len(near), 0.8, 0.4),
                   f"Within 1.1 times the exact iterations with fewer than 10 sweeps: {len(good)} of {len(near)} cases"
                   + (f"; not {rest}" if rest else "") + ".", "" if not rest else "The sweeps that it takes: " + ", ".join(
                       f"{o.name} IC({o.curve.level}) {o.title} "
                       f"{k if k is not None else f'more than {o.curve.points[-1].sweeps}'}"
                       for o, k in near if k is None or k >= 10) + ".")


def orders_speed(results):
    found = [o for o in read.orders(results) if o.title in ("PB", "PBD") and o.exact["solved"]]
    fast_ = [s for o in found if (s := o.curve.speedup())]
    if not fast_:
        return unmeasured("No matrix was solved in these orders by sweeps.")
    text = (f"exact over swept is {min(fast_):.2g} to {max(fast_):.2g}, faster in {sum(s > 1 for s in fast_)} of {len(fast_)} "
            "cases.")
    if not on_gpu(results, "orders"):
        return of_gpus(text)
    return by_share(sum(s > 1 for s in fast_) / len(found), text[0].upper() + text[1:], why_exact(results), most=1.0)


def metis_slower(results):
    found = read.orders(results)
    times, counts = [], []
    for level in (0, 1):
        for name, o in read.by_matrix(found, level).items():
            best = {t: o[t].curve.best() for t in o}
            if best.get("METIS") and (best.get("PB") or best.get("PBD")):
                other = min((best[t] for t in ("PB", "PBD") if best.get(t)), key=lambda b: b.solve)
                times.append((f"{name} IC({level})", best["METIS"].solve / other.solve))
                counts.append(f"{name} IC({level}): {best['METIS'].iterations:.0f} and {other.iterations:.0f} iterations with "
                              f"{best['METIS'].sweeps} and {other.sweeps} sweeps")
    if not times:
        return unmeasured("No matrix was solved with METIS and with priority blocking.")
    slower = sum(s > 1 for _, s in times)
    return Verdict(graded(slower / len(times), 1, 0.5),
                   "METIS over the better of PB and PBD: " + ", ".join(f"{name}: {s:.2g}" for name, s in times) + ".",
                   "" if slower == len(times) else "METIS and the better of both: " + "; ".join(counts) + ".")


def other_blockings_help(results):
    rows = [r for _, j in results.each("blockings") for r in j["table1"]["rows"] if r["exact"]["solved"]
            and not r["blocks_12"]["solved"]]
    if not rows:
        return unmeasured("Blocks of adjacent rows solve all matrices that were tried.")
    good = [r for r in rows if r["best_12"]["solved"]]
    return Verdict(all_or_some(r in good for r in rows), "; ".join(
        f"{r['name']}, IC({r['level']}): " + (f"{r['best_12']['blocking']} with {r['best_12']['sweeps'] - 1} sweeps, "
                                              f"{r['best_12']['iterations']:.0f} iterations" if r in good else "none")
                                              for r in rows) + ".")


def low_parallelism(results):
    if on_gpu(results, "best"):
        return unmeasured("This is about processors of few cores: `--device cpu` measures it.")
    values = [v for _, s in fast(results) for v in s]
    if not values:
        return unmeasured("Nothing was solved by sweeps.")
    slower = percent(sum(v < 1 for v in values), len(values))
    return Verdict(graded(slower, 60, 30), f"On one core sweeps are slower than exact solves in {slower:.0f} % of "
                                           f"{len(values)} cases, the median of exact over swept is "
                   f"{median(values):.2f}. " + cost_text(read.costs(results)) + ".")


CLAIMS = (
    Claim("A sweep over the IC(0) factor is much cheaper than an exact triangular solve by cuSPARSE: 6.5 against 216.7 ms, "
          "more than 33 times", "Section 3.1", "Figure 1", cheap_sweep),
    Claim("With more sweeps the iterations of CG approach those with exact solves", "Section 3.1", "Figure 1",
          approaches_exact),
    Claim("A few sweeps are the fastest: 3 in both examples", "Section 3.1", "Figure 1", few_are_fastest),
    Claim("A triangular solve need not be accurate: at the fastest number of sweeps its residual is reduced by less than an "
          "order of magnitude", "Section 3.1", "Figure 1", inaccurate_solves_do),
    Claim("CG with sweeps is 4.0 and 3.3 times as fast as with exact solves", "Section 3.1", "Figure 2", examples_speed),
    Claim("Where the factor is far from normal (bcsstk24), sweeps over entries diverge far before they converge, and fewer "
          "than 150 are of no use", "Section 3.1", "Figure 3", scalar_diverges_first),
    Claim("Over blocks the residual grows much less, and for fewer sweeps", "Section 3.1", "Figure 3", blocks_grow_less),
    Claim("Yet CG converges rapidly with 15 sweeps over blocks", "Section 3.1", "Figure 4", fifteen_block_sweeps),
    Claim("The number of sweeps that is needed to match exact solves grows with the level of fill", "Section 3.2", "Figure 5",
          more_fill_more_sweeps),
    Claim("CG with sweeps is faster than with exact solves at every level of fill", "Section 3.2", "Figure 5",
          swept_faster_at_all_levels),
    Claim("The fastest number of sweeps grows with the level of fill", "Section 3.2", "Figure 5", more_fill_best_sweeps),
    Claim("With IC(0), of what exact solves solve 84 % are solved by sweeps over entries and 94 % over blocks (65 of 69; the "
          "text says 92 %)", "Table 1", "Table 1", table1(0, {"entries": 84, "blocks_12": 94})),
    Claim("With IC(1) they are 74 % and 94 %", "Table 1", "Table 1", table1(1, {"entries": 74, "blocks_12": 94})),
    Claim("Blocks make sweeps more robust at both levels", "Section 4", "Table 1", blocks_are_more_robust),
    Claim("The fastest numbers of sweeps cluster around 3 and are below 10 for most matrices", "Section 3.3", "Figure 6",
          sweeps_cluster),
    Claim("The speed-up over exact solves can exceed 10, and only a small number of matrices are slower", "Section 3.3",
          "Figure 7",
          large_speedups),
    Claim("Over blocks fewer matrices are slower than over entries", "Section 3.3", "Figure 7", blocks_slow_fewer),
    Claim("For nearly every matrix IC(1) is no more dominant than IC(0), by rows and by blocks", "Section 3.3", "Figure 8",
          dominance_grows),
    Claim("Matrices that blocks of adjacent rows cannot solve are solved with other blockings", "Section 3.4", "Table 3",
          other_blockings_help),
    Claim("With exact solves PB and PBD generally take more iterations than RCM", "Section 3.4", "Table 2", rcm_needs_fewest),
    Claim("PB and PBD can, but do not always, reduce the number of levels", "Section 3.4", "Table 2", orders_change_levels),
    Claim("With fewer than 10 sweeps over their blocks iterations are almost those of exact solves", "Section 3.4", "Figure 9",
          under_ten_sweeps),
    Claim("With the best number of sweeps PB and PBD are always faster than exact solves", "Section 3.4", "Table 3",
          orders_speed),
    Claim("Blockings by METIS are slower than PB and PBD", "Section 3.4", "Figure 9", metis_slower),
    Claim("With less parallelism the advantage of sweeps over exact solves is smaller, or there is none", "Section 4",
          "Figure 7",
          low_parallelism),
)
