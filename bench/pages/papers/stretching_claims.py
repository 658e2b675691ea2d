"""The claims of Stretching Jacobi, and how each is judged by what was measured."""
import math

from judging import by_factor, by_share, listed, median, of_gpus, rank_correlation, span, times, unmeasured
from model import FAILS, HOLDS, PARTLY, Claim, Verdict
from papers.batches import LU_PEERS, gflops
from papers.stretching_data import batch_of, device_of, kernels_of, rows_of, two_by_two

NO_KERNELS, NO_ROWS = "Kernels were not measured.", "No matrix was measured."
EXACT = 1e-12      # an error below it is rounding
DECADE, MAGNITUDES = 10, 100


def logarithm(value):
    """Decimal, of an error; one that is 0 counts as 1e-17."""
    return None if value is None else math.log10(max(value, 1e-17))


def spread(values):
    """The largest of some errors over the smallest; None where one is missing: that run broke down."""
    if None in values:
        return None
    return max(*values, EXACT) / max(min(values), EXACT)


# ---- Figure 1 ----

def kernel(results, size=32, precision="single"):
    b = kernels_of(results)
    return b, {"part": "kernels", "work": "factor", "size": size, "precision": precision, "batch": batch_of(b)}


def full_over_partial(results):
    b, wanted = kernel(results)
    ratio = b.ratio("ldu-full", "ldu-partial", **wanted)
    if not ratio:
        return unmeasured(NO_KERNELS)
    verdict = HOLDS if ratio <= 1.65 else PARTLY if ratio <= 2 else FAILS
    others = [b.ratio("ldu-full", "ldu-partial", **{**wanted, "size": s}) for s in b.values("size", part="kernels",
        work="factor")]
    rows = [b.row(n, **wanted) for n in ("ldu-partial", "ldu-full")]
    return Verdict(verdict, f"{ratio:.2f} times as long at 32 rows in single (paper: 0.60 / 0.39 ms = 1.54); "
                   f"{span(filter(None, others))} over all sizes.",
                   "" if verdict == HOLDS else "Partial pivoting is closer to the least that memory allows: "
                   f"{times(rows[0]['copies'])} copies of the batch, "
                   f"against {times(rows[1]['copies'])} with full pivoting, whose search through the whole block in every "
                   "step stays.")


def partial_over_static(results):
    b, wanted = kernel(results)
    ratio = b.ratio("ldu-partial", "ldu", **wanted)
    if not ratio:
        return unmeasured(NO_KERNELS)
    verdict = HOLDS if 1.05 <= ratio <= 1.6 else PARTLY if ratio > 1 else FAILS
    rows = [b.row(n, **wanted) for n in ("ldu", "ldu-partial")]
    return Verdict(verdict, f"{ratio:.2f} times as long at 32 rows in single (paper: 0.39 / 0.28 ms = 1.39).", ""
                   if verdict == HOLDS else
                   f"Without pivoting {gflops(rows[0]):.1f}, with partial pivoting {gflops(rows[1]):.1f} Gflop/s: implicit "
                   "interchanges cost nothing that shows.")


def faster_than_peer(name, claimed, milliseconds):
    def judge(results):
        b, wanted = kernel(results)
        ratio = b.ratio(LU_PEERS, name, **wanted)
        if not ratio:
            return unmeasured(NO_KERNELS)
        copies = b.row(name, **wanted)["copies"]
        floor = ratio * copies
        return by_factor(ratio, claimed, f"{times(ratio)} times as fast as {b.peer()} at 32 rows in single (paper: 1.41 / "
                         f"{milliseconds} ms = {claimed:g} "
                         "times as fast as MAGMA).", "The peer is another one: a kernel that only copied the blocks would be "
                         f"{times(floor)} times as fast "
                         f"as it, this one takes {times(copies)} copies.")
    return judge


def on_par(results):
    """Full pivoting beside the peer's partial pivoting, at all sizes and precisions."""
    b = kernels_of(results)
    ratios = {(p, s): b.ratio(LU_PEERS, "ldu-full", part="kernels", work="factor", size=s, precision=p, batch=batch_of(b))
              for p in ("single", "double") for s in b.values("size", part="kernels", work="factor")}
    ratios = {k: v for k, v in ratios.items() if v}
    if not ratios:
        return unmeasured(NO_KERNELS)
    good = sum(v >= 0.9 for v in ratios.values())
    slow = [f"{s} rows in {p}" for (p, s), v in ratios.items() if v < 0.9]
    return by_share(good / len(ratios), f"Full pivoting is {span(ratios.values())} times as fast as the partial pivoting of "
                    f"{b.peer()}, over all sizes and both "
                    "precisions.", f"Slower: {listed(slow)}.")


def versions(results, judge):
    """What is claimed of registers and shared memory, where both were measured."""
    b = kernels_of(results)
    if not b.rows:
        return unmeasured(NO_KERNELS)
    if b.device != "cuda":
        return of_gpus("kernels have one version each.")
    if not b.all(version="registers"):
        return unmeasured(NO_KERNELS)
    batch = batch_of(b)
    return judge(b, lambda one, two, precision, sizes: [
        r for s in sizes for r in [b.ratio(one[0], two[0], (one[1], two[1]), part="kernels", work="factor", size=s,
                                           precision=precision,
                                           batch=batch)] if r])


SIZES = (4, 8, 16, 32)
LDU_LLT = ("ldu", "ldu-partial", "ldu-full", "llt", "llt-diagonal")
LDLT = ("ldlt-static", "ldlt-bunch-kaufman", "ldlt-complete")
KEPT = "Registers hold a whole row of a block here, in either precision, and interchanges are recorded and made at the end."


def registers_win(results):
    def judge(_, ratios):
        found = [r for n in LDU_LLT for r in ratios((n, "shared"), (n, "registers"), "single", SIZES)]
        good = sum(r > 1 for r in found)
        return by_share(good / len(found), f"Registers are faster in {good} of {len(found)} cases of LDU and LLᵀ in single: "
                        f"shared memory takes {span(found)} times "
                        "as long.", "In the others a block is so small that either version waits for memory.")
    return versions(results, judge)


def full_in_registers(results):
    def judge(_, ratios):
        found = ratios(("ldu-full", "registers"), ("ldu", "shared"), "single", SIZES)
        good = sum(r <= 1.1 for r in found)
        return by_share(good / len(found), f"Full pivoting in registers takes {span(found)} times as long as no pivoting in "
                        "shared memory; at most 1.1 times at "
                        f"{good} of {len(found)} sizes.", "The search in every step is not hidden at the other sizes.",
                        most=0.5, some=0.25)
    return versions(results, judge)


def shared_for(names, precision, what):
    def judge_all(results):
        def judge(_, ratios):
            found = [r for n in names for r in ratios((n, "registers"), (n, "shared"), precision, SIZES)]
            good = sum(r > 1 for r in found)
            return by_share(good / len(found), f"Shared memory is faster in {good} of {len(found)} cases of {what}; registers "
                            f"take {span(found)} times as long as it.",
                            KEPT, most=0.6, some=0.3)
        return versions(results, judge)
    return judge_all


def complete_over_static(results):
    b = kernels_of(results)
    ratios = {s: b.ratio("ldlt-complete", "ldlt-static", part="kernels", work="factor", size=s, precision="single",
                         batch=batch_of(b))
              for s in b.values("size", part="kernels", work="factor")}
    ratios = {s: r for s, r in ratios.items() if r}
    if not ratios:
        return unmeasured(NO_KERNELS)
    good = sum(r < 1 for r in ratios.values())
    return by_share(good / len(ratios), "Full pivoting takes " + ", ".join(f"{r:.2f} ({s} rows)" for s, r in ratios.items())
                    + " times as long as static.", why_not_faster(b, max(ratios)))


def static_and_full(b, size, precision):
    """Rows of LDLᵀ with static and with full pivoting; None where one was not measured."""
    rows = [b.row(n, part="kernels", work="factor", size=size, precision=precision, batch=batch_of(b))
            for n in ("ldlt-static", "ldlt-complete")]
    return rows if all(rows) else None


def why_not_faster(b, size):
    """What full pivoting takes although it has fewer 2x2 pivots, which are counted in double."""
    copies = [times(r["copies"]) for r in static_and_full(b, size, "single")]
    counted = static_and_full(b, size, "double")
    shares = [100 * two_by_two(r) for r in counted] if counted else None
    return (f"At {size} rows static pivoting takes {copies[0]} copies of the batch, full pivoting {copies[1]}"
            + (f"; {shares[0]:.0f} % of the one's steps have a 2x2 pivot, {shares[1]:.0f} % of the other's" if shares else "")
            + ". What the search of full pivoting takes of that was not measured apart.")


def two_by_two_counts(results):
    b = kernels_of(results)
    found = {}
    for s in b.values("size", part="kernels", work="factor"):
        rows = static_and_full(b, s, "double")
        if rows:
            found[s] = [two_by_two(r) for r in rows]
    if not found:
        return unmeasured(NO_KERNELS)
    static, full = (median(f[k] for f in found.values()) for k in (0, 1))
    verdict = PARTLY if full <= 0.2 and static > full else FAILS  # never more: half of it is how the blocks are made
    told = "; ".join(f"{s} rows: {100 * a:.0f} % and {100 * c:.0f} %" for s, (a, c) in found.items())
    return Verdict(verdict, f"Steps with a 2x2 pivot, static and full: {told}.",
                   "Static pivoting is measured on blocks as a matching leaves them, every other one of strong pairs, which "
                   "makes a third of its steps 2x2 by "
                   "construction. What full pivoting takes, on random symmetric blocks, is a finding.")


def double_peak(results):
    b, wanted = kernel(results, 32, "double")
    rows = [r for r in (b.row(n, **wanted) for n in ("ldu", "ldu-partial", "ldu-full")) if r]
    if not rows:
        return unmeasured(NO_KERNELS)
    shares = [r["percent_of_peak"] for r in rows if r["percent_of_peak"]]
    told = ", ".join(f"{gflops(r):.0f}" for r in rows)
    if not shares:
        return unmeasured(f"{told} Gflop/s of useful operations for static, partial and full pivoting; the peak of this GPU "
                          "was not measured.")
    return by_factor(max(shares) / 60, 1, f"{span(shares)} % of a product of large matrices on the same core, in useful "
                     "operations.",
                     "The paper counts what a profiler counts, more than twice the useful operations (1,745 GFLOPS for 780); "
                     "these take "
                     f"{span(r['copies'] for r in rows)} copies of the batch.", least=0.5)


# ---- Figure 3 and Table I ----

def separation(results):
    rows = [r for r in rows_of(results) if r.own and r.data["dominance_grid"][1] is not None]
    near, far = [r for r in rows if r.near], [r for r in rows if not r.near]
    if not near or not far:
        return unmeasured("The claim is about the paper's own matrices; of one of the two groups none is at hand.")
    pairs = [(a, c) for a in near for c in far]
    good = sum(a.data["dominance_grid"][1] > c.data["dominance_grid"][1] for a, c in pairs)
    ours = sum(a.data["dominance_clusters"][1] > c.data["dominance_clusters"][1] for a, c in pairs)
    told = "; ".join(f"{r.label} ({'close' if r.near else 'far'}): mean {r.data['dominance_grid'][1]:.3g}, "
                     f"{r.data['dominance_grid'][0]:.3g} to "
                     f"{r.data['dominance_grid'][2]:.3g}" for r in rows)
    least = listed(f"{r.data['dominance_grid'][0]:.0f} ({r.label})" for r in near)
    return by_share(good / len(pairs), told + ".", f"The least block row, {least}, "
                    "pulls the mean down. In clusters that keep pairs "
                    f"together {ours} of {len(pairs)} pairs of matrices are in the paper's order.")


def small_thresholds(results):
    rows = [r for r in rows_of(results) if r.far_here]
    if not rows:
        return unmeasured(NO_ROWS)

    def over(r, k):
        one, two = r.data["jacobi"]["epsilon"][k], r.data["ldlt"]["epsilon"][k]
        return math.inf if one is None else max(one, EXACT) / max(two, EXACT) if two is not None else 1.0
    bad = [r for r in rows if max(over(r, 2), over(r, 3)) >= DECADE]
    worst = max(rows, key=lambda r: over(r, 3))
    return by_share(len(bad) / len(rows), "With 0.001 or 0.0001 the error of the sweeps is at least ten times that of the "
                    f"exact schedule on {len(bad)} of {len(rows)} "
                    f"matrices far from dominance; at worst {times(over(worst, 3))} times ({worst.label}).",
                    "On the others the exact schedule with the same threshold is as bad: both errors grow as the threshold "
                    "shrinks ("
                    + listed(f"{r.label}: {r.data['ldlt']['epsilon'][0]:.0e} to {r.data['ldlt']['epsilon'][3]:.0e}"
                             for r in rows
                             if r not in bad and None not in r.data["ldlt"]["epsilon"]) + ").", most=0.5, some=0.2)


def large_threshold(results):
    rows = [r for r in rows_of(results) if r.far_here]
    if not rows:
        return unmeasured(NO_ROWS)
    pairs = [(r, r.data["jacobi"]["epsilon"]) for r in rows]
    known = [(r, e) for r, e in pairs if e[0] is not None]
    good = [r for r, e in known if e[3] is None or max(e[0], EXACT) <= max(e[3], EXACT) * 1.01]
    gain = [max(e[3], EXACT) / max(e[0], EXACT) for _, e in known if e[3] is not None]
    other = [r for r, _ in pairs if r not in good]
    return by_share(len(good) / len(rows), f"On {len(good)} of {len(rows)} matrices far from dominance the error with 0.1 is "
                    "at most that with 0.0001"
                    + (f", which is {times(median(gain))} times as large (median)." if gain else "."),
                    "Where the factors exist without it, the large threshold is what makes the error: "
                    f"{listed(r.label for r in other)}.")


def best(row, method):
    found = [e for e in row.data[method]["epsilon"] if e is not None]
    return max(min(found), EXACT) if found else math.inf


def matches(row):
    """Whether the sweeps with their best threshold are as accurate as the exact schedule with its own."""
    return best(row, "jacobi") <= 1.5 * best(row, "ldlt")


def some_setting(results):
    rows = rows_of(results)
    if not rows:
        return unmeasured(NO_ROWS)
    good, other = [r for r in rows if matches(r)], [r for r in rows if not matches(r)]
    return by_share(len(good) / len(rows), "With the best threshold of either, the sweeps match or outperform the exact "
                    f"schedule on {len(good)} of {len(rows)} matrices.",
                    "Not on " + listed(f"{r.label} ({best(r, 'jacobi'):.0e} against {best(r, 'ldlt'):.0e}; 16 sweeps: "
                                       f"{worded(r.data['sweeps']['block']['error'][15])})"
                                       for r in other) + ": eight sweeps are too few there, or do not converge.")


def worded(error):
    return "no result" if error is None else f"{error:.0e}"


def sizes_over_4(results):
    rows = rows_of(results)
    if not rows:
        return unmeasured(NO_ROWS)
    found = {r: spread(r.data["jacobi"]["block_size"][3:]) for r in rows}
    good = [r for r, s in found.items() if s is not None and s <= DECADE]
    other = [f"{r.label}: " + " ".join(worded(e) for e in r.data["jacobi"]["block_size"][3:]) for r in rows if r not in good]
    return by_share(len(good) / len(rows), "Errors of the sweeps with 8, 16 and 32 rows are within a factor of ten on "
                    f"{len(good)} of {len(rows)} matrices.",
                    f"With 8, 16 and 32 rows: {listed(other, 4)}.", most=0.8)


def scalar_worse(results):
    rows = rows_of(results)
    if not rows:
        return unmeasured(NO_ROWS)

    def over(r):
        one, many = r.data["jacobi"]["block_size"][0], r.data["jacobi"]["block_size"][5]
        return math.inf if one is None else max(one, EXACT) / max(many, EXACT) if many is not None else 0.0
    good = [r for r in rows if over(r) >= MAGNITUDES]
    other = [r for r in rows if r not in good]
    same = sum(spread([r.data["ldlt"]["block_size"][0], r.data["ldlt"]["block_size"][5]]) is not None
               and max(r.data["ldlt"]["block_size"][0], EXACT) < MAGNITUDES * max(r.data["ldlt"]["block_size"][5], EXACT)
               for r in other)
    return by_share(len(good) / len(rows), "The scalar method's error is at least 100 times that of blocks of 32 on "
                    f"{len(good)} of {len(rows)} matrices.",
                    f"Of the other {len(other)} the exact schedule gains less than that, too, on {same}: it is the "
                    "blocks of a grid, not the sweeps, that gain little by their size. "
                    + listed((f"{r.label}: {worded(r.data['jacobi']['block_size'][0])} and "
                              f"{worded(r.data['jacobi']['block_size'][5])}" for r in other), 4) + ".",
                    most=0.5, some=0.25)


INNER = ("static", "bunch-kaufman", "complete")


def pivoting_minor(results):
    rows = rows_of(results)
    if not rows:
        return unmeasured(NO_ROWS)
    found = {r: spread([e for p in INNER for e in r.data["jacobi"][p]]) for r in rows}
    good = [r for r, s in found.items() if s is not None and s <= DECADE]
    outer = sum(all(spread(r.data["jacobi"][p]) is not None and spread(r.data["jacobi"][p]) <= 2 for p in INNER) for r in rows)
    other = [f"{r.label}: " + ", ".join(f"{p} {worded(r.data['jacobi'][p][0])}" for p in INNER) for r in rows if r not in good]
    return by_share(len(good) / len(rows), "Over all inner pivotings, with push-back and without, the error of the sweeps "
                    f"stays within a factor of ten on {len(good)} of "
                    f"{len(rows)} matrices; push-back alone changes it by less than a factor of two on {outer}.",
                    f"Inner pivoting decides on {listed(other, 4)}.", most=0.8)


def make_or_break(results):
    rows = rows_of(results)
    if not rows:
        return unmeasured(NO_ROWS)
    found = [(r, spread([r.data["ldlt"][p][0] for p in INNER])) for r in rows]
    broken = [r for r, s in found if s is None or s >= MAGNITUDES]
    worst = max((s for _, s in found if s is not None), default=1.0)
    verdict = HOLDS if broken else PARTLY if worst >= DECADE else FAILS
    return Verdict(verdict, "With the exact schedule inner pivoting changes the error by a factor of 100 or more on "
                   f"{len(broken)} of {len(rows)} matrices"
                   + (f" ({listed(r.label for r in broken)})" if broken else "") + f"; by {times(worst)} at most where all "
                   "have one.",
                   "" if verdict == HOLDS else "The smallest pivot of 0.1 already bounds what a bad pivot does: with it most "
                   "pivotings come to much the same.")


def saturation(results):
    rows = [r for r in rows_of(results) if r.data["sweeps"]["block"]["error"][0] is not None]
    if not rows:
        return unmeasured(NO_ROWS)

    def settled(r):
        e = r.data["sweeps"]["block"]["error"]
        return None not in (e[4], *e[7:]) and all(max(e[4], EXACT) / max(v, EXACT) <= 2 and max(v, EXACT) / max(e[4],
            EXACT) <= 2 for v in e[7:])
    good = [r for r in rows if settled(r)]
    other = [f"{r.label} ({worded(r.data['sweeps']['block']['error'][4])}, after 16 "
             f"{worded(r.data['sweeps']['block']['error'][15])})" for r in rows if r not in good]
    return by_share(len(good) / len(rows), "After five block sweeps the error stays within a factor of two of what 8 to 16 "
                    f"sweeps give on {len(good)} of {len(rows)} matrices.",
                    f"It still moves on {listed(other, 5)}.", most=0.5, some=0.25)


def sweeps_over_exact(row):
    """Seconds of 8 block sweeps over those of the exact schedule, both on a known pattern."""
    again = row.data["factor_again_seconds"]
    return again["block sweeps"] / again["exact"] if again["exact"] and again["block sweeps"] else None


def accelerated(results):
    rows = [(r, sweeps_over_exact(r)) for r in rows_of(results)]
    rows = [(r, s) for r, s in rows if s]
    if not rows:
        return unmeasured(NO_ROWS)
    good, middle = sum(s < 1 for _, s in rows), median(s for _, s in rows)
    if device_of(results) != "cuda":
        return unmeasured(f"On a CPU 8 block sweeps take {span(s for _, s in rows)} times as long as the exact schedule "
                          f"(median {middle:.1f}): each repeats all of its "
                          "work. The claim is about a GPU (`--device cuda`).")
    levels = median(r.data["ldlt"]["pivoting"][0]["levels"] for r, _ in rows)
    return by_share(good / len(rows), f"8 block sweeps are faster than the exact schedule on {good} of {len(rows)} matrices; "
                    f"the median ratio of times is {middle:.2f}.",
                    f"The exact schedule is on the GPU as well, with {levels:.0f} levels (median), and a level costs no more "
                    "than a launch.", most=0.8, some=0.3)


def same_in_gmres(results):
    rows = rows_of(results)
    pairs = [(r, r.data["jacobi"]["table"]["backward_error"], r.data["ldlt"]["table"]["backward_error"]) for r in rows]
    pairs = [(r, a, c) for r, a, c in pairs if a is not None or c is not None]
    if not pairs:
        return unmeasured(NO_ROWS)

    def close(a, c):
        return None not in (a, c) and max(a, EXACT) <= DECADE * max(c, EXACT)
    good, other = [r for r, a, c in pairs if close(a, c)], [(r, a, c) for r, a, c in pairs if not close(a, c)]
    return by_share(len(good) / len(pairs), "The backward error with sweeps is at most ten times that with the exact schedule "
                    f"on {len(good)} of {len(pairs)} matrices.",
                    "Not on " + listed(f"{r.label} ({worded(a)} against {worded(c)}; errors of the factors "
                                       f"{worded(r.data['jacobi']['epsilon'][0])} and "
                                       f"{worded(r.data['ldlt']['epsilon'][0])})" for r, a, c in other) + ".")


def published(results):
    rows = [r for r in rows_of(results) if r.own]
    found = [(r, m, r.published[2 * k], logarithm(r.data[m]["table"]["backward_error"])) for r in rows for k,
             m in enumerate(("jacobi", "ldlt"))]
    found = [f for f in found if f[3] is not None]
    if not found:
        return unmeasured("None of the paper's matrices is at hand.")
    good = sum(ours <= theirs + 1 for _, _, theirs, ours in found)
    told = "; ".join(f"{r.label}, {m}: {ours:.1f} (paper {theirs})" for r, m, theirs, ours in found)
    return by_share(good / len(found), f"log B: {told}. As good as published to within a decade, or better, in {good} of "
                    f"{len(found)} cases.",
                    "The settings leave the order within levels of equal degree open, and with a smallest pivot of 0.1 hardly "
                    "any two orders give the same factors.")


def like_backward_error(results):
    pairs = [(logarithm(r.data[m]["epsilon"][0]), logarithm(r.data[m]["table"]["backward_error"])) for r in rows_of(results)
             for m in ("jacobi", "ldlt")]
    pairs = [p for p in pairs if None not in p]
    found = rank_correlation(pairs)
    if found is None:
        return unmeasured("Fewer than three matrices have both errors.")
    verdict = HOLDS if found >= 0.7 else PARTLY if found >= 0.4 else FAILS
    apart = sum(one > 0 and two < -6 for one, two in pairs)
    return Verdict(verdict, f"Rank correlation of the two errors over {len(pairs)} factorizations: {found:.2f}.", ""
                   if verdict == HOLDS else
                   f"{apart} factorizations with an error above 1 precondition well all the same: most of their error is in "
                   "fill that GMRES does not need.")


def indefinite_converges(results):
    rows = [r for r in rows_of(results) if r.far_here]
    if not rows:
        return unmeasured(NO_ROWS)
    found = [(r, r.data["jacobi"]["epsilon"][0], r.data["ldlt"]["epsilon"][0]) for r in rows]
    good = [r for r, a, c in found if None not in (a, c) and max(a, EXACT) <= DECADE * max(c, EXACT)]
    other = [(r, a, c) for r, a, c in found if r not in good]
    return by_share(len(good) / len(found), "In the paper's settings the sweeps end within a factor of ten of the exact "
                    f"schedule's error on {len(good)} of {len(found)} "
                    "matrices far from dominance.", "Not on " + listed(f"{r.label} ({worded(a)} against {worded(c)})" for r, a,
                                                                       c in other) + ".", most=0.8)


FIGURE1, SECTION = "Figure 1", "section IV"
CLAIMS = (
    Claim("Full pivoting is only 50 % slower than partial pivoting (LDU, 32 rows, single).", SECTION, FIGURE1,
          full_over_partial),
    Claim("Partial pivoting costs 40 % over none (0.39 and 0.28 ms).", SECTION, FIGURE1, partial_over_static),
    Claim("The partial-pivoting kernel is 3.6 times as fast as MAGMA's.", SECTION, FIGURE1, faster_than_peer("ldu-partial", 3.6,
        "0.39")),
    Claim("Even with full pivoting the kernel is 2.35 times as fast as MAGMA's with partial pivoting.", SECTION, FIGURE1,
          faster_than_peer("ldu-full", 2.35, "0.60")),
    Claim("The kernels with full pivoting are on par with partially pivoted approaches.", "abstract", FIGURE1, on_par),
    Claim("In general, kernels in registers beat those in shared memory.", SECTION, FIGURE1, registers_win),
    Claim("Full pivoting in registers is often as fast as static pivoting in shared memory.", SECTION, FIGURE1,
          full_in_registers),
    Claim("For LDLᵀ, shared memory is generally faster than registers.", SECTION, FIGURE1, shared_for(LDLT, "single",
        "LDLᵀ in single")),
    Claim("In double, kernels in shared memory are preferable.", SECTION, FIGURE1, shared_for((*LDU_LLT, *LDLT), "double",
        "all kernels in double")),
    Claim("LDLᵀ is the exception: full pivoting is faster than static pivoting.", SECTION, FIGURE1, complete_over_static),
    Claim("Static pivoting takes 2x2 pivots in about 40 % of the steps, full pivoting in 10 %.", SECTION, FIGURE1,
          two_by_two_counts),
    Claim("In double, the register kernels reach about 60 % of the peak.", SECTION, FIGURE1, double_peak),
    Claim("Matrices 1, 5, 6, 7, 13, 14 and 15 are close to diagonal dominance, the others far from it.", "section VII",
          "Figure 3a", separation),
    Claim("Embedded pivoting makes sweeps converge for indefinite matrices that are not dominant.", "sections I and VI",
          "Figure 3b",
          indefinite_converges),
    Claim("For matrices far from dominance, small thresholds (0.001, 0.0001) often give errors magnitudes over the exact "
          "schedule's.", "section VII",
          "Figure 3b", small_thresholds),
    Claim("A large threshold contains the error and helps with convergence.", "section VII", "Figure 3b", large_threshold),
    Claim("For almost all matrices some threshold makes the sweeps match or outperform the exact schedule.", "section VII",
          "Figure 3b",
          some_setting),
    Claim("Block sizes over 4 show only minor differences.", "section VII", "Figure 3c", sizes_over_4),
    Claim("The scalar method's error is mostly more than two orders of magnitude higher.", "section VII", "Figure 3c",
          scalar_worse),
    Claim("Neither inner nor outer pivoting plays a striking role in the final error of the sweeps.", "section VII",
          "Figure 3d", pivoting_minor),
    Claim("With the traditional schedule, inner pivoting can make or break a factorization.", "section VII", "Figure 3d",
          make_or_break),
    Claim("The error saturates after the fifth sweep, often.", "section VII", "Figure 3e", saturation),
    Claim("The factorization is accelerated by sweeps.", "section VII", "Figure 3f", accelerated),
    Claim("As preconditioners, the sweeps are as good as the exact schedule (Jacobi and Multilevel in Table I).", "sections "
          "VII and VIII", "Table I",
          same_in_gmres),
    Claim("Table I: the backward errors after four cycles of GMRES(25).", "section VII", "Table I", published),
    Claim("The error of the factors behaves like the backward error of a preconditioned solve.", "section VII", "Table I",
          like_backward_error),
)
