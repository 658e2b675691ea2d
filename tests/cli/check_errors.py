#!/usr/bin/env python3
"""Computes the errors of a solve anew, exactly, from the files alone, and compares.

    check_errors.py A.mtx[.gz] x.mtx report.json

b is A times ones, each row summed in the order of its columns. Residuals are sums of fractions, so
nothing is rounded but the square roots. Errors above 1e-13 must agree to 1 %.
"""
import json
import math
import sys
from collections import defaultdict
from fractions import Fraction

from market import lines


def read_matrix(path):
    banner, body = lines(path)
    rows = defaultdict(dict)
    for entry in body[1:]:
        i, j = int(entry[0]) - 1, int(entry[1]) - 1
        value = 1.0 if banner[3] == "pattern" else float(entry[2])
        rows[i][j] = rows[i].get(j, 0.0) + value
        if banner[4] == "symmetric" and i != j:
            rows[j][i] = rows[j].get(i, 0.0) + value
    return int(body[0][0]), rows


def ordered_sum(row):
    total = 0.0
    for j in sorted(row):
        total += row[j]
    return total


def errors(n, rows, x):
    b = [ordered_sum(rows[i]) for i in range(n)]
    r = [abs(Fraction(b[i]) - sum(Fraction(a) * Fraction(x[j]) for j, a in rows[i].items())) for i in range(n)]
    weight = [abs(Fraction(b[i])) + sum(abs(Fraction(a) * Fraction(x[j])) for j, a in rows[i].items()) for i in range(n)]
    norm_a = max(sum(abs(Fraction(a)) for a in rows[i].values()) for i in range(n))
    norm_x, norm_b = max(abs(Fraction(v)) for v in x), max(abs(Fraction(v)) for v in b)
    square = lambda values: math.sqrt(sum(Fraction(v) ** 2 for v in values))
    return {
        "backward_error": float(max(r) / (norm_a * norm_x + norm_b)),
        "componentwise_error": float(max(r[i] / weight[i] if weight[i] else 0 for i in range(n))),
        "relative_residual": square(r) / square(b),
    }


def main(matrix, solution, report):
    n, rows = read_matrix(matrix)
    x = [float(entry[0]) for entry in lines(solution)[1][1:]]
    printed = json.load(open(report))
    bad = 0
    for name, value in errors(n, rows, x).items():
        larger = max(value, printed[name])
        if larger > 1e-13 and abs(value - printed[name]) > 0.01 * larger:
            print(f"{matrix}: {name} is {value:.6e}, the report says {printed[name]:.6e}")
            bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
