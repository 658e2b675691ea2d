"""How claims of papers are judged: by how many matrices show what is claimed, or by how large a factor is."""
import math
import statistics

from model import FAILS, HOLDS, PARTLY, UNMEASURED, Verdict

MOST, SOME = 0.9, 0.5  # shares of matrices: "almost all", and "about half"


def unmeasured(why):
    return Verdict(UNMEASURED, why)


def on_cpu(what):
    """For claims about a GPU, where a CPU was measured."""
    return unmeasured(f"Measured on a CPU; the claim is about {what} of a GPU (`--device cuda`).")


def by_share(share, figures, why="", most=MOST, some=SOME):
    """The claim is about most matrices (or sizes): what share of them shows it."""
    verdict = HOLDS if share >= most else PARTLY if share >= some else FAILS
    return Verdict(verdict, figures, "" if verdict == HOLDS else why)


def by_factor(measured, claimed, figures, why="", near=0.8, least=1.05):
    """The claim is that something is so many times as fast: it holds from 0.8 of that on, partly where faster."""
    verdict = HOLDS if measured >= near * claimed else PARTLY if measured >= least else FAILS
    return Verdict(verdict, figures, "" if verdict == HOLDS else why)


def times(value):
    """A factor as it is read best: 0.45, 1.6, 12, 3e+06."""
    if value is None or math.isnan(value):
        return "–"
    if not 1e-3 <= value < 1e4:
        return "∞" if math.isinf(value) else f"{value:.0e}"
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}" if value >= 0.995 else f"{value:.2f}"


def span(values):
    """The smallest and the largest factor."""
    values = list(values)
    low, high = times(min(values)), times(max(values))
    return low if low == high else f"{low} to {high}"


def listed(names, most=6):
    names = list(names)
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


def median(values):
    return statistics.median(values)


def ranks(values):
    """From 1; of equal values the mean of theirs."""
    order = sorted(values)
    return [(order.index(v) + 1 + len(order) - order[::-1].index(v)) / 2 for v in values]


def rank_correlation(pairs):
    """Spearman's, of pairs of numbers; None where it is not defined."""
    if len(pairs) < 3:
        return None
    one, two = (ranks(side) for side in zip(*pairs))
    mean = (len(pairs) + 1) / 2
    spread = math.sqrt(sum((a - mean)**2 for a in one) * sum((b - mean)**2 for b in two))
    return sum((a - mean) * (b - mean) for a, b in zip(one, two)) / spread if spread else None
