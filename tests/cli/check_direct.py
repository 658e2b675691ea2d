#!/usr/bin/env python3
"""Judges what the direct solver says of a matrix, from the files alone; and makes matrices for it.

    check_direct.py judge A.mtx x.mtx report.json      errors, inertia, rank, counts
    check_direct.py table INERTIA.tsv FILE report.json the inertia listed for this file
    check_direct.py scale A.mtx B.mtx FACTOR           B = FACTOR A
    check_direct.py alike one.json two.json            the same inertia, pivots and delays
    check_direct.py make KIND B.mtx                    rank3, path, arrow, dense, one

The inertia comes from elimination in fractions with 1x1 and 2x2 pivots, for matrices of up to 60 rows:
nothing is rounded, so its zeros are zeros.
"""
import json
import math
import os
import random
import subprocess
import sys
from fractions import Fraction

from check_errors import errors, read_matrix
from market import lines


def eliminate(a, rows, pivots):
    """The Schur complement of these pivots, one or two rows with an invertible block."""
    if len(pivots) == 1:
        inverse = [[1 / a[pivots[0]][pivots[0]]]]
    else:
        (p, q), det = pivots, a[pivots[0]][pivots[0]] * a[pivots[1]][pivots[1]] - a[pivots[0]][pivots[1]] ** 2
        inverse = [[a[q][q] / det, -a[p][q] / det], [-a[p][q] / det, a[p][p] / det]]
    rest = [i for i in rows if i not in pivots]
    for i in rest:
        factor = [sum(a[i][pivots[s]] * inverse[s][t] for s in range(len(pivots))) for t in range(len(pivots))]
        for j in rest:
            a[i][j] -= sum(factor[t] * a[pivots[t]][j] for t in range(len(pivots)))
    return rest


def inertia(n, rows):
    a = [[Fraction(rows[i].get(j, 0.0)) for j in range(n)] for i in range(n)]
    left, count = list(range(n)), {"positive": 0, "negative": 0, "zero": 0}
    while left:
        pivot = next((i for i in left if a[i][i] != 0), None)
        if pivot is not None:
            count["positive" if a[pivot][pivot] > 0 else "negative"] += 1
            left = eliminate(a, left, [pivot])
            continue
        pair = next(((i, j) for i in left for j in left if a[i][j] != 0), None)
        if pair is None:
            count["zero"] += len(left)
            break
        count["positive"] += 1
        count["negative"] += 1
        left = eliminate(a, left, list(pair))
    return count


def judge(matrix, solution, report):
    n, rows = read_matrix(matrix)
    x = [float(entry[0]) for entry in lines(solution)[1][1:]]
    said, wrong = json.load(open(report)), []
    found = errors(n, rows, x)
    for name, value in found.items():
        larger = max(value, said[name])
        if larger > 1e-13 and abs(value - said[name]) > 0.01 * larger:
            wrong.append(f"{name} is {value:.6e}, the report says {said[name]:.6e}")
    if said["converged"] != (found["relative_residual"] <= 1e-10 or found["componentwise_error"] <= 1e-10):
        wrong.append(f"converged is {said['converged']} with {found}")
    if said["converged"] and not (found["backward_error"] <= 1e-15 and found["componentwise_error"] <= 1e-12):
        wrong.append(f"refinement left {found}")
    if n <= 60:
        true = inertia(n, rows)
        told = said["inertia"]
        # zeros of a dense matrix of whole numbers have null vectors too long to be proved
        if {name: told[name] for name in true} != true or not (told["certain"] or true["zero"]):
            wrong.append(f"inertia is {true}, the report says {told}")
        if not told["negative_least"] <= true["negative"] <= told["negative_most"]:
            wrong.append(f"{true['negative']} are negative, the report says {told}")
        if said["rank"] != n - true["zero"]:
            wrong.append(f"rank is {n - true['zero']}, the report says {said['rank']}")
    if len(said["history"]) != said["iterations"] or said["history"][-1] != said["relative_residual"]:
        wrong.append(f"{said['iterations']} iterations, history {said['history']}")
    factor = said["factor"]
    # a plan for columns is one for 1x1 pivots; fronts may have to do what it cannot
    as_planned = factor["delayed"] == 0 and (factor["two_by_two"] == 0 or not factor["simplicial"])
    if as_planned and said["rank"] == n and factor["planned_nnz"] != factor["nnz"]:
        wrong.append("nothing was delayed, and the factor is not as it was planned")
    return wrong


def is_singular_to_rounding(matrix):
    """Whether some v has |Av| within the rounding of A's entries. It comes from solves with A less a
    shift, in which what belongs to eigenvalues near the shift outgrows the rest; that it is one is seen here."""
    n, rows = read_matrix(matrix)
    norm = max(sum(map(abs, row.values())) for row in rows.values())
    shifted = {(i, j): v for i in rows for j, v in rows[i].items() if i >= j}
    for i in range(n):
        shifted[i, i] = shifted.get((i, i), 0.0) - 1e-9 * norm
    write("shifted.mtx", n, shifted)
    for side in ("random", "vector.mtx", "vector.mtx"):
        subprocess.run([os.environ["SADDLE"], "solve", "shifted.mtx", "-q", "--method", "direct", "--rhs", side,
                        "--out", "vector.mtx"], check=True)
    v = [float(entry[0]) for entry in lines("vector.mtx")[1][1:]]
    product = [math.fsum(a * v[j] for j, a in rows[i].items()) for i in range(n)]
    return math.hypot(*product) <= n * 2.2e-16 * norm * math.hypot(*v)


def table(listing, matrix, report):
    key = "/".join(os.path.abspath(matrix).split("/")[-2:])
    for line in open(listing):
        name, n, *signs = line.split("\t")
        if name != key:
            continue
        said = json.load(open(report))["inertia"]
        found, listed = [said["positive"], said["negative"], said["zero"]], [int(s) for s in signs]
        if found == listed:
            continue
        # The sign of an eigenvalue that is zero but for rounding is that of the rounding.
        apart = [f - l for f, l in zip(found, listed)]
        if sorted(apart) != [-1, 0, 1] or apart[2] != 1 or not is_singular_to_rounding(matrix):
            return [f"{key}: inertia {said}, listed is {signs}"]
    return []


def write(path, n, entries):
    with open(path, "w") as out:
        out.write(f"%%MatrixMarket matrix coordinate real symmetric\n{n} {n} {len(entries)}\n")
        for (i, j), value in sorted(entries.items()):
            out.write(f"{i + 1} {j + 1} {value!r}\n")


def scale(matrix, target, factor):
    n, rows = read_matrix(matrix)
    write(target, n, {(i, j): v * float(factor) for i in rows for j, v in rows[i].items() if i >= j})
    return []


def alike(one, two):
    facts = []
    for path in (one, two):
        j = json.load(open(path))
        facts.append([{k: v for k, v in j["inertia"].items() if k != "risk"}, j["rank"], j["status"]] + [j["factor"][k] for k in ("two_by_two", "delayed", "nnz")])
    return [] if facts[0] == facts[1] else [f"{facts[0]} and {facts[1]}"]


def make(kind, target):
    draw = random.Random(7)
    entries = {}
    if kind == "rank3":  # G D G' of whole numbers: rank 37 of 40, signs of D
        n, r = 40, 37
        g = [[draw.choice((0, 0, 0, 1, -1, 2)) for _ in range(r)] for _ in range(n)]
        for k in range(r):
            g[k][k] = 5
        d = [draw.choice((1, -1, 3)) for _ in range(r)]
        for i in range(n):
            for j in range(i + 1):
                value = sum(g[i][k] * d[k] * g[j][k] for k in range(r))
                if value:
                    entries[i, j] = float(value)
    elif kind == "path":  # the Laplacian of a path, scaled: its null vector is 1, 2, 4, 1, 2, 4, ...
        n = 50
        for i in range(n):
            entries[i, i] = (1.0 if i in (0, n - 1) else 2.0) / 4 ** (i % 3)
            if i:
                entries[i, i - 1] = -1.0 / 2 ** (i % 3) / 2 ** ((i - 1) % 3)
    elif kind == "arrow":  # one dense row, indefinite
        n = 400
        for i in range(n):
            entries[i, i] = float(1 + i % 7) * (-1 if i % 3 == 0 else 1)
            entries[n - 1, i] = 1.0
        entries[n - 1, n - 1] = 0.0
    elif kind == "dense":
        n = 60
        entries = {(i, j): float(draw.randint(-9, 9)) for i in range(n) for j in range(i + 1)}
    elif kind == "one":
        n, entries = 1, {(0, 0): -3.0}
    write(target, n, entries)
    return []


if __name__ == "__main__":
    modes = {"judge": judge, "table": table, "scale": scale, "alike": alike, "make": make}
    faults = modes[sys.argv[1]](*sys.argv[2:])
    for fault in faults:
        print(fault)
    sys.exit(bool(faults))
