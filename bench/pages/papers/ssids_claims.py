"""What the paper on SSIDS says in words, judged by what was measured."""
from judging import by_share, geometric_mean, graded, known, median, of_gpus, percent, rank_correlation, reasoned, unmeasured
from model import FAILS, HOLDS, PARTLY, Claim, Verdict
from papers import ssids_results as read

LARGE = 1e10  # operations of a problem that the paper would call large
FEW = 5.5  # % of entries with several children: what the paper calls typically below 5; its largest is 5.3


def gpu_lacks(results, here=""):
    """Where the steps of a GPU have nothing."""
    return unmeasured("The steps that measure it found nothing, or failed.") if read.on_cuda(results) else of_gpus(here)


def valued(pairs, form=".2g"):
    """Values with their names."""
    return ", ".join(f"{name}: {value:{form}}" for name, value in pairs)


# ---- speed ----

def faster_than_cpu(results):
    found = [(t.name, t.faster, t.flops) for t in read.times(results) if t.faster]
    if not found:
        return unmeasured("No factorization was timed on both sides.")
    ours, theirs = read.sides(results)
    text = f"{ours} over {theirs}: {valued([f[:2] for f in found])}."
    if not read.on_cuda(results):
        return of_gpus(f"MUMPS' time over Saddle's is {valued([f[:2] for f in found])}.")
    large = [f for _, f, flops in found if flops >= LARGE] or [max(f for _, f, _ in found)]
    verdict = HOLDS if max(large) >= 5 else PARTLY if max(large) > 1 else FAILS
    return reasoned(verdict, text, rates_text(results))


def rates_text(results):
    rates = [(t.name, t.rate, t.their_rate) for t in read.times(results)[-3:] if t.their_rate]
    ours, theirs = read.sides(results)
    return "Gflop/s of the largest: " + "; ".join(f"{n}: {ours} {a:.3g}, {theirs} {b:.3g}" for n, a, b in rates) + "."


def most_twice(results):
    found = [(t.name, t.faster) for t in read.times(results) if t.faster]
    if not read.on_cuda(results):
        return of_gpus(f"MUMPS' time is at least twice Saddle's on {sum(f >= 2 for _, f in found)} of {len(found)} problems.")
    if not found:
        return unmeasured("No factorization was timed on both sides.")
    twice = sum(f >= 2 for _, f in found)
    return by_share(twice / len(found), f"At least twice as fast on {twice} of {len(found)} problems.", rates_text(results),
                    most=0.5, some=0.25)


def gain_grows(results):
    found = [(t.flops, t.faster) for t in read.times(results) if t.faster]
    correlation = rank_correlation(found)
    if correlation is None:
        return unmeasured("Fewer than three problems were timed on both sides.")
    text = f"The rank correlation of the speed-up with the operations is {correlation:.2f} over {len(found)} problems."
    if not read.on_cuda(results):
        return of_gpus(f"with MUMPS in the place of the CPU's solver. {text}")
    return reasoned(graded(correlation, 0.5, 0.1), text, rates_text(results))


def rate_grows(results):
    found = read.times(results)
    correlation = rank_correlation([(t.flops, t.rate) for t in found])
    if correlation is None:
        return unmeasured("Fewer than three problems were timed.")
    return Verdict(graded(correlation, 0.6, 0.2), f"Rank correlation {correlation:.2f} over {len(found)} problems, from "
                   f"{found[0].rate:.3g} Gflop/s on {found[0].name} ({1e-9 * found[0].flops:.2g} Gflop) to "
                   f"{found[-1].rate:.3g} on {found[-1].name} ({1e-9 * found[-1].flops:.2g} Gflop).",
                   "" if correlation >= 0.6 else "Problems with as many operations differ in the sizes of their fronts: "
                   + valued(
                       [(t.name, t.work_from(256)) for t in read.trees(results)], ".0f")
                   + " % of the operations in fronts of 256 rows or more.")


# ---- pivoting ----

def cost_verdict(found, whose, most):
    """Typical costs of pivoting, in per cent."""
    typical = median([p.cost for p in found])
    text = f"Median {typical:.0f} % {whose}: {valued([(p.name, p.cost) for p in found], '.0f')}."
    return Verdict(HOLDS if typical <= most else PARTLY if typical <= 2 * most else FAILS, text, "" if typical <= most else
                   "Seconds with and without pivots: " + "; ".join(f"{p.name}: {p.ldl:.3g}, {p.ll:.3g}" for p in found) + ".")


def cost_on_gpu(results):
    found = read.pivoting(results, "pivoting")
    return cost_verdict(found, "on the GPU", 15) if found else gpu_lacks(results)


def cost_on_cpu(results):
    """The paper's largest is 13.7 %."""
    found = read.pivoting(results, "direct")
    if not found:
        return unmeasured("No positive definite problem was factored both ways.")
    return cost_verdict(found, "on the CPU", 14)


def delays_are_few(results):
    found = delayed(results)
    if not found:
        return unmeasured("No indefinite problem was factored.")
    few = [d for _, d in found if d <= 5]
    kind = "factor" if read.on_cuda(results) else "direct"
    pairs = [(name, percent(2 * row["saddle"]["two_by_two"], row["n"])) for name, row in read.rows(results, kind).items()
             if dict(found).get(name, 0) > 5]
    return Verdict(graded(len(few) / len(found), 0.8, 0.5), "Delayed columns in % of the order, indefinite problems: "
                   + valued(found) + ".", "" if not pairs else "Columns in pivots of two there, in % of the order: "
                   + valued(pairs, ".0f") + ".")


def delayed(results):
    """% of the order, of problems with negative eigenvalues."""
    kind = "factor" if read.on_cuda(results) else "direct"
    return [(name, percent(row["saddle"]["delayed"], row["n"])) for name, row in read.rows(results, kind).items()
            if row["saddle"]["delayed"] is not None and row["saddle"]["negative"]]


def tiles_accepted(results):
    found = [(p.name, p.whole_tiles) for p in read.profiles(results) if p.whole_tiles is not None]
    if not found:
        return gpu_lacks(results)
    between = sum(60 <= w <= 80 for _, w in found)
    above = sum(w > 80 for _, w in found)
    verdict = HOLDS if between > len(found) / 2 else PARTLY if between + above > len(found) / 2 else FAILS
    return Verdict(verdict, "% of the tiles of pivots that are accepted as a whole: " + valued(found, ".0f") + ".", ""
                   if verdict == HOLDS else
                   f"More are accepted than in the paper on {above} of {len(found)}: a tile's pivots are chosen by complete "
                   "pivoting in 32 columns, not in 8, and the delayed columns are few (" + (valued(delayed(results)) or "none")
                   + " % of the order).")


def hard_tiles(results):
    profiles = {p.name: p.whole_tiles for p in read.profiles(results) if p.whole_tiles is not None}
    many = [(name, profiles[name]) for name, share in delayed(results) if share > 1 and name in profiles]
    few = [w for name, w in profiles.items() if name not in dict(many)]
    if not profiles:
        return gpu_lacks(results)
    if not many or not few:
        return unmeasured("No problem has delayed more than 1 % of its columns.")
    verdict = HOLDS if max(w for _, w in many) <= 30 else PARTLY if median([w for _, w in many]) < median(few) else FAILS
    return Verdict(verdict, "% of tiles accepted as a whole where more than 1 % of the columns are delayed: "
                            f"{valued(many, '.0f')}; the median of the others is "
                   f"{median(few):.0f}.", "" if verdict == HOLDS else
                   "Delayed columns in % of the order: " + valued(delayed(results)) + ".")


def stable(results):
    kind = "factor" if read.on_cuda(results) else "direct"
    found = [(name, row["saddle"]["backward_error"]) for name, row in read.rows(results, kind).items()
             if row["saddle"]["backward_error"] is not None]
    if not found:
        return unmeasured("No solution was measured.")
    worst = max(found, key=lambda f: f[1])
    verdict = HOLDS if worst[1] <= 1e-10 else PARTLY if median([e for _, e in found]) <= 1e-10 else FAILS
    return Verdict(verdict, f"Normwise backward errors without refinement: median {median([e for _, e in found]):.0e}, at most "
                            f"{worst[1]:.0e} ({worst[0]}) on {len(found)} problems.", "" if verdict == HOLDS else
                   "After refinement, or with random right-hand sides: " + valued(
                       [(name, row["saddle"].get("backward_error_refined") or row["saddle"]["backward_error_random"])
                        for name, row in read.rows(results, kind).items() if row["saddle"]["backward_error"] > 1e-10], ".0e")
                   + ".")


def same_bits(results):
    found = read.repeated(results)
    if not found:
        return unmeasured("No factorization was repeated.")
    apart = [(name, keys) for name, keys in found if keys]
    how = "two runs on the GPU" if read.on_cuda(results) else "a run with one thread and one with two"
    text = (f"{len(found) - len(apart)} of {len(found)} problems ({', '.join(name for name, _ in found)}) have the same pivots "
            f"and errors to the last digit in {how}")
    return Verdict(HOLDS if not apart else FAILS, text + "." if not apart else text + "; not " + "; ".join(
        f"{name}: {', '.join(keys)}" for name, keys in apart) + ".", "" if not apart else
        "The values above are what differs: " + ", ".join(sorted({k for _, keys in apart for k in keys})) + ".")


# ---- the tree ----

def many_small_few_large(results):
    found = read.trees(results)
    if not found:
        return unmeasured("No tree was made.")
    good = [(t.name, t.small_fronts(), t.large_work()) for t in found]
    typical = [a >= 50 and b >= 50 for _, a, b in good]
    return Verdict(graded(sum(typical) / len(found), 0.6, 0.3),
                   "% of the fronts that have at most an eighth of the rows of the largest, and % of the operations in those "
                   "with at least half: " + ", ".join(f"{n}: {a:.0f} and {b:.0f}" for n, a, b in good) + ".",
                   "" if all(typical) else "Rows of the largest front: "
                   + ", ".join(f"{t.name} {t.row['largest']:,}" for t in found) + ".")


def several_children_rare(results):
    found = [(t.name, t.entries("several")) for t in read.trees(results)]
    if not found:
        return unmeasured("No tree was made.")
    few = sum(v <= FEW for _, v in found)
    falls = rank_correlation([(t.row["largest"], t.entries("several")) for t in read.trees(results)])
    return Verdict(graded(few / len(found), 0.8, 0.5), f"At most {FEW} % on {few} of {len(found)} problems: {valued(found)} %.",
                   "" if few / len(found) >= 0.8 or falls is None else
                   f"The share falls as fronts grow: its rank correlation with the rows of the largest is {falls:.2f}.")


def waiting_common(results):
    found = [(t.name, t.entries("waiting")) for t in read.trees(results)]
    if not found:
        return unmeasured("No tree was made.")
    half = sum(v > 50 for _, v in found)
    return Verdict(graded(half / len(found), 0.4, 0.15), f"More than half of the entries on {half} of {len(found)} problems: "
                   f"{valued(found, '.0f')} %.", "" if half / len(found) >= 0.4 else
                   "Where fronts have few children few entries wait: " + valued(
                       [(t.name, (t.row["fronts"] - 1) / max(1, t.row["fronts"] - t.row["leaves"]))
                        for t in read.trees(results)])
                   + " children for each front that has some.")


def contributions_dominate(results):
    found = [(t.name, t.flops[2]) for t in read.trees(results)]
    if not found:
        return unmeasured("No tree was made.")
    most = sum(v > 50 for _, v in found)
    whole = [(t.name, percent(t.row["largest"], t.n)) for t in read.trees(results) if t.flops[2] <= 50]
    return Verdict(graded(most / len(found), 0.8, 0.5), f"More than half of the operations on {most} of {len(found)} problems: "
                   f"{valued(found, '.0f')} %.", "" if not whole else "The largest front has of all rows there: "
                   + valued(whole, ".0f") + " %.")


# ---- the split of the time ----

def columns_take_longest(results):
    found = read.profiles(results)
    if not found:
        return gpu_lacks(results, "only a factorization on a GPU is split by its parts; of the operations own columns take "
                       + valued([(t.name, t.flops[0]) for t in read.trees(results)], ".0f") + " %.")
    longest = [p for p in found if p.shares[0] == max(p.shares)]
    return by_share(len(longest) / len(found), "% of the time in own columns: "
                    + valued([(p.name, p.shares[0]) for p in found], ".0f") + ".",
                    "% in assembly, contribution blocks and the rest: " + "; ".join(
                        f"{p.name}: " + ", ".join(f"{s:.0f}" for s in p.shares[1:]) for p in found) + ".", most=0.7, some=0.4)


def contributions_run_faster(results):
    """Rates in Gflop/s need the operations, which the tree has."""
    trees = {t.name: t for t in read.trees(results)}
    rates = [(p.name, 1e-9 * trees[p.name].row["flops"]["contribution"] / p.contribution,
              1e-9 * trees[p.name].row["flops"]["factor"] / p.factor)
             for p in read.profiles(results) if p.name in trees and p.contribution > 0 and p.factor > 0]
    if not rates:
        return gpu_lacks(results)
    faster = [a / b for _, a, b in rates]
    verdict = HOLDS if min(faster) > 1 and geometric_mean(faster) >= 2 else PARTLY if geometric_mean(faster) > 1 else FAILS
    return Verdict(verdict, "Gflop/s in contribution blocks and in own columns: " + "; ".join(
        f"{n}: {a:.3g} and {b:.3g}" for n, a, b in rates) + ".", "" if verdict == HOLDS else
        "Small fronts are assembled, factored and passed on by one block of threads; all of that counts as own columns.")


# ---- solves ----

def solve_faster(results):
    found = [(t.name, t.faster_solve) for t in read.times(results) if t.faster_solve]
    if not found:
        return unmeasured("No solve was timed on both sides.")
    mean = geometric_mean([f for _, f in found])
    if not read.on_cuda(results):
        return of_gpus(f"a solve by MUMPS takes {mean:.2g} times that by Saddle in the mean.")
    return Verdict(graded(mean, 2.5, 1.2), f"The CPU's solve over the GPU's: {mean:.3g} in the mean; {valued(found)}.",
                   "" if mean >= 2.5 else "Small solves wait for latencies: milliseconds on the GPU " + valued(
                       [(t.name, 1e3 * t.solve) for t in read.times(results) if t.solve]) + ".")


def presolve_for_small_fronts(results):
    found = read.presolves(results)
    if not found:
        return gpu_lacks(results, "presolve is refused there, the CPU substitutes.")
    trees = {t.name: t for t in read.trees(results)}
    pairs = [(trees[p.name].small_fronts(), p.gain()) for p in found if p.name in trees]
    correlation = rank_correlation(pairs)
    text = "Solve without over solve with presolve: " + valued([(p.name, p.gain()) for p in found])
    if correlation is None:
        return unmeasured(text + "; too few problems to tell what it depends on.")
    verdict = graded(correlation, 0.4, 0.1)
    return Verdict(verdict, f"{text}. Rank correlation with the share of small fronts: {correlation:.2f}.", ""
                   if verdict == HOLDS else
                   "Presolve off already substitutes square by square with all fronts of a level in one launch; what band "
                   "saves: " + valued(
                       [(p.name, p.gain("band")) for p in found]) + " times.")


def presolve_price(results):
    found = read.presolves(results)
    if not found:
        return gpu_lacks(results)
    prices = [(p.name, p.price()) for p in found]
    inside = sum(v <= 40 for _, v in prices)
    return by_share(inside / len(found), f"Time added to a factorization: {valued(prices, '.0f')} %.",
                    "Milliseconds without and with: " + "; ".join(
                        f"{p.name}: {1e3 * p.factor['off']:.3g}, {1e3 * p.factor['whole']:.3g}" for p in found) + ".", some=0.6)


def presolve_pays(results):
    found = [(p.name, p.pays_at()) for p in read.presolves(results)]
    if not found:
        return gpu_lacks(results)
    pays = known(v for _, v in found)
    never = [name for name, v in found if v is None]
    if not pays:
        return Verdict(FAILS, "It pays on no problem.", "Solves without over with presolve: " + valued(
            [(p.name, p.gain()) for p in read.presolves(results)]) + ".")
    typical = median(pays)
    verdict = HOLDS if min(pays) <= 5 and 5 <= typical <= 40 else PARTLY if typical <= 100 else FAILS
    return Verdict(verdict, f"Pays after {min(pays):.0f} solves at best, {typical:.0f} in the median" + (
        f"; never on {', '.join(never)}" if never else "") + ".", "" if verdict == HOLDS else "Milliseconds saved by a solve: "
                   + valued(
            [(p.name, 1e3 * (p.solve["off"] - p.solve["whole"])) for p in read.presolves(results)]) + ".")


CLAIMS = (
    Claim("Typical problems have many small fronts at the leaves and a small number of large ones near the root",
          "Section 2.5", "Figure 1",
          many_small_few_large),
    Claim("Only a small number of entries, typically below 5 %, have contributions from more than one child", "Section 3.1",
          "Table 1",
          several_children_rare),
    Claim("Entries to which some, but not all children contribute, and which would wait in vain, are often more than half",
          "Section 3.1",
          "Table 1", waiting_common),
    Claim("Assuming that the problem is well scaled and ordered, few columns are delayed", "Section 3.1", "Figure 8",
          delays_are_few),
    Claim("The majority of the operations typically derive from the contribution blocks", "Section 3.3", "Table 5",
          contributions_dominate),
    Claim("On large problems the GPU is up to 7 times as fast as a multifrontal solver on a multicore CPU",
          "Abstract, Section 4.1",
          "Figure 6", faster_than_cpu),
    Claim("Most problems are factored at least twice as fast (2010/11 hardware; 13 of 35 on that of 2012/13)", "Section 4.1",
          "Figure 6",
          most_twice),
    Claim("The benefit of the GPU increases with the size of the problem", "Section 4.1", "Figure 6", gain_grows),
    Claim("The rate in Gflop/s grows with the operations of the problem", "Figure 7", "Figure 7", rate_grows),
    Claim("Pivoting typically costs around 12 % on the GPU", "Section 4.2", "Table 4", cost_on_gpu),
    Claim("That is comparable to the cost on the CPU, -1.7 to 13.7 %", "Section 4.2", "Table 4", cost_on_cpu),
    Claim("The factorization of the fully summed columns takes most of the time, about a half", "Section 4.3", "Table 5",
          columns_take_longest),
    Claim("Contribution blocks are made at several times the rate of the columns, 100 to 180 against 5 to 75 Gflop/s",
          "Table 5", "Table 5",
          contributions_run_faster),
    Claim("For the majority of matrices 60 to 80 % of the tiles of pivots are accepted as a whole", "Section 4.3", "Figure 8",
          tiles_accepted),
    Claim("Where many columns are delayed, only about 20 % of the tiles are", "Section 4.3", "Figure 8", hard_tiles),
    Claim("The last resort at the roots, for pivots that no tile accepts, is rarely needed", "Section 4.3", "Figure 8",
          lambda results: unmeasured(
        "Saddle counts columns that are delayed, not those among them that complete pivoting takes at a root.")),
    Claim("The kernel of the contribution blocks is faster than CUBLAS' dsyrk, mostly by half", "Section 4.3", "Table 5",
          lambda results:
          unmeasured("No benchmark of the program runs that kernel beside dsyrk.")),
    Claim("Checking |l| < 1/u afterwards, with pivots chosen in tiles, gives backward stable factorizations",
          "Sections 2.3 and 3.2",
          "Figure 8", stable),
    Claim("Two runs on the same machine give identical results, bit by bit", "Section 2.6", "Table 3", same_bits),
    Claim("The GPU solves about 3 times as fast as the CPU on average", "Section 4.4", "Figure 9", solve_faster),
    Claim("Problems on which presolve pays most have a large number of small fronts", "Section 4.4", "Figure 10",
          presolve_for_small_fronts),
    Claim("Presolve adds 7 to 40 % to the time of the factorization", "Section 4.4", "Figure 10", presolve_price),
    Claim("The extra cost is amortized over 3 solves at best, and over 20 to 30 on average", "Section 4.4", "Figure 10",
          presolve_pays),
)
