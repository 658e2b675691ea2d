"""What the judges of claims share: statistics of figures, and verdicts from them."""
import math
import statistics

from model import FAILS, HOLDS, PARTLY, UNMEASURED, Results, Verdict


def known(values):
    """Those that are there and finite."""
    return [v for v in values if v is not None and math.isfinite(v)]


def median(values):
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


def graded(value, holds, partly):
    """Of a value that is the better the larger: from `holds` on it holds, from `partly` on partly."""
    return HOLDS if value >= holds else PARTLY if value >= partly else FAILS


def all_or_some(truths):
    truths = list(truths)
    return HOLDS if all(truths) else PARTLY if any(truths) else FAILS


def unmeasured(why):
    return Verdict(UNMEASURED, why)


def on_gpu(results: Results, kind):
    """Whether steps of a kind ran on a GPU."""
    return any("--device cuda" in results.result(f"{kind}/{name}").command for name, _ in results.each(kind))


def of_gpus(here=""):
    """The verdict on what a paper says of GPUs, where none was asked for; `here`: what the CPU has in its place."""
    return unmeasured("This is about GPUs: `--device cuda` measures it." + (f" On this CPU: {here}" if here else ""))
