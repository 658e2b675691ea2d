"""Performance profiles (Dolan and Moré, Mathematical Programming 91, 2002, 201-213), and exponents of growth.

For a solver s and problems P with a measure t (time, bytes, error), the ratio r(p, s) = t(p, s) / min over all solvers of t(p, .)
is infinite where s has no answer. The profile rho_s(f) is the share of P with r(p, s) <= f: at f = 1 how often s is the best, at
the right end how often it has an answer at all. Problems that nobody answers are left out.
"""
import math
from bisect import bisect_right


def ratios(values):
    """values: for each problem a dict solver -> measure, with an entry only where there is an answer. Ratios by solver, sorted."""
    solved = [v for v in values if v]
    found = {}
    for v in solved:
        best = min(v.values())
        for key, value in v.items():
            found.setdefault(key, []).append(value / best if best > 0 else 1.0)
    return {key: sorted(r) for key, r in found.items()}, len(solved)


def share(sorted_ratios, count, factor):
    """rho at a factor; ties within a rounding count as equal."""
    return bisect_right(sorted_ratios, factor * (1 + 1e-12)) / count if count else math.nan


def staircase(sorted_ratios, count, most):
    """The points of rho as a step function from 1 to `most`."""
    points, x = [], 1.0
    y = share(sorted_ratios, count, 1.0)
    points.append((x, y))
    for k, r in enumerate(sorted_ratios):
        if 1.0 < r <= most:
            points += [(r, y), (r, (k + 1) / count)]
            y = (k + 1) / count
    return points + [(most, y)]


def exponent(points):
    """p of y ~ x^p by least squares on logarithms; None from fewer than three points."""
    logs = [(math.log(x), math.log(y)) for x, y in points if x > 0 and y > 0]
    if len(logs) < 3:
        return None
    mx, my = (sum(c) / len(logs) for c in zip(*logs))
    spread = sum((x - mx)**2 for x, _ in logs)
    return sum((x - mx) * (y - my) for x, y in logs) / spread if spread > 0 else None


def geometric_mean(values):
    values = [v for v in values if v > 0 and math.isfinite(v)]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan
