"""What the judges of claims share: statistics of figures, verdicts from them, and figures in words."""
import math
import statistics

from model import FAILS, HOLDS, PARTLY, UNMEASURED, Results, Verdict

MOST, SOME = 0.9, 0.5  # shares of matrices: "almost all", and "about half"

# ---- statistics ----


def known(values):
    """Those that are there and finite."""
    return [v for v in values if v is not None and math.isfinite(v)]


def median(values):
    values = list(values)
    return statistics.median(values) if values else None


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values))) if values else None


def ratio(above, below):
    """None where one of them is not known, or there is nothing to divide by."""
    return above / below if above is not None and below else None


def percent(count, of):
    return 100 * count / of if of else None


def _ranks(values):
    """From 1; equal values share the mean of their ranks."""
    order = sorted(values)
    return [(order.index(v) + len(order) - order[::-1].index(v) + 1) / 2 for v in values]


def rank_correlation(pairs):
    """Spearman's: 1 where one grows whenever the other does; None for fewer than three pairs, or where one is constant."""
    if len(pairs) < 3:
        return None
    one, two = (_ranks([p[k] for p in pairs]) for k in (0, 1))
    return statistics.correlation(one, two) if len(set(one)) > 1 and len(set(two)) > 1 else None


# ---- verdicts ----

def graded(value, holds, partly):
    """Of a value that is the better the larger: from `holds` on it holds, from `partly` on partly."""
    return HOLDS if value >= holds else PARTLY if value >= partly else FAILS


def all_or_some(truths):
    truths = list(truths)
    return HOLDS if all(truths) else PARTLY if any(truths) else FAILS


def reasoned(verdict, figures, why=""):
    """The reason is that for which a claim does not hold."""
    return Verdict(verdict, figures, "" if verdict == HOLDS else why)


def by_share(share, figures, why="", most=MOST, some=SOME):
    """The claim is about most matrices (or sizes): what share of them shows it."""
    return reasoned(graded(share, most, some), figures, why)


def by_factor(measured, claimed, figures, why="", near=0.8, least=1.05):
    """The claim is that something is so many times as fast: it holds from 0.8 of that on, partly where faster."""
    return reasoned(graded(measured, near * claimed, least), figures, why)


def unmeasured(why):
    return Verdict(UNMEASURED, why)


def on_gpu(results: Results, kind):
    """Whether steps of a kind ran on a GPU."""
    return any("--device cuda" in results.result(f"{kind}/{name}").command for name, _ in results.each(kind))


def of_gpus(here=""):
    """The verdict on what a paper says of GPUs, where none was asked for; `here`: what the CPU has in its place."""
    return unmeasured("This is about GPUs: `--device cuda` measures it." + (f" On this CPU: {here}" if here else ""))


# ---- words ----

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
