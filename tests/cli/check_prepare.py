#!/usr/bin/env python3
"""Checks what `saddle prepare` wrote against the matrix, from the files alone.

    check_prepare.py A.mtx[.gz] DIR report.json

Every vector must have its form and its meaning: permutations, pairs, blocks, a matching of nonzeros,
scaled entries of at most 1. Sums that the report has are computed anew; fill, levels, storage and
dominance too where the matrix is small.
"""
import json
import math
import os
import sys

from market import lines

SMALL = 400
LIMIT = 1e300  # scalings beyond this are cut off, and with them what the matching promises


def read_matrix(path):
    """n and a dictionary (i, j) -> value of the whole matrix, from 0."""
    banner, body = lines(path)
    entries = {}
    for entry in body[1:]:
        i, j = int(entry[0]) - 1, int(entry[1]) - 1
        value = 1.0 if banner[3] == "pattern" else float(entry[2])
        places = {(i, j): value}
        if banner[4] == "symmetric":
            places[j, i] = value
        elif banner[4] == "skew-symmetric":
            places[j, i] = -value
        for place, v in places.items():
            entries[place] = entries.get(place, 0.0) + v
    return int(body[0][0]), entries


def require(truth, *words):
    if not truth:
        print(*words)
        sys.exit(1)


class Folder:
    def __init__(self, path):
        self.path = path
        self.names = set(os.listdir(path))

    def vector(self, name, length=None):
        path = os.path.join(self.path, name)
        with open(path) as text:
            first, second = text.readline(), text.readline()
        require(first.split() == "%%MatrixMarket matrix array real general".split(), name, first)
        require(second.startswith("% "), name, "has no comment")
        body = lines(path)[1]
        require(body[0] == [str(len(body) - 1), "1"], name, body[0])
        require(length is None or len(body) - 1 == length, name, "has", len(body) - 1, "entries")
        return [float(row[0]) for row in body[1:]]

    def indices(self, name, length=None):
        values = self.vector(name, length)
        require(all(v == int(v) for v in values), name, "holds what is no whole number")
        return [int(v) - 1 for v in values]


def check_names(folder, report, symmetric):
    names = {"permutation.mtx", "pairs.mtx", "blocks.mtx"}
    names |= {"scaling.mtx"} if symmetric else {"scaling-row.mtx", "scaling-col.mtx", "row-permutation.mtx"}
    if report["matching"]["log_product"] is not None:
        names.add("matching.mtx")
    require(folder.names == names, "the files are", sorted(folder.names), "and not", sorted(names))


def check_permutation(perm, name):
    require(sorted(perm) == list(range(len(perm))), name, "is no permutation")


def check_pairs(partner, perm, report):
    paired = [i for i, k in enumerate(partner) if k >= 0]
    at = {row: k for k, row in enumerate(perm)}
    for i in paired:
        require(partner[i] != i and partner[partner[i]] == i, "row", i + 1, "has no partner that has it")
        require(abs(at[i] - at[partner[i]]) == 1, "the pair of row", i + 1, "is not together in the order")
    require(len(paired) == 2 * report["two_by_two"], len(paired), "rows in pairs")
    require(report["pairs"] == "on" or not paired, "pairs are off and there are some")


def check_blocks(start, n, perm, partner, report):
    require(start[0] == 0 and start[-1] == n, "blocks from", start[0] + 1, "to", start[-1] + 1)
    sizes = [b - a for a, b in zip(start, start[1:])]
    require(all(size > 0 for size in sizes), "an empty block")
    most = report["block_size"] or 1
    require(not sizes or max(sizes) <= most, "a block of", max(sizes, default=0), "rows")
    require(report["blocks"]["count"] == len(sizes), "blocks counted")
    require(report["blocks"]["largest"] == max(sizes, default=0), "largest block")
    if report["blocking"] not in ("none", "grid"):
        for k in start[1:-1]:
            require(partner[perm[k]] < 0 or partner[perm[k]] != perm[k - 1], "a pair is split at", k + 1)


def close(one, two, what, tolerance=1e-9):
    if one is None or not math.isfinite(two):
        require(one is None and not math.isfinite(two), what, one, two)
        return
    require(abs(one - two) <= tolerance * max(1.0, abs(one), abs(two)), what, "is", two, "and reported", one)


def check_matching(matching, entries, scaled, report, cut):
    pairs = [(i, j) for j, i in enumerate(matching) if i >= 0]
    require(len({i for i, _ in pairs}) == len(pairs), "a row is matched twice")
    require(all(entries.get(place) for place in pairs), "a matched entry is zero or not there")
    unproved = report["scaling"] == "auction" and len(pairs) < len(matching)
    require(report["matching"]["structural_rank"] == (None if unproved else len(pairs)), "structural rank")
    scale = 1.0 + sum(abs(math.log(abs(entries[place]))) for place in pairs)
    close(report["matching"]["log_product"], sum(math.log(abs(entries[place])) for place in pairs), "log_product",
          1e-12 * scale)
    if all(scaled[place] > 1e-290 for place in pairs) and not cut:
        close(report["matching"]["log_scaled"], sum(math.log(scaled[place]) for place in pairs), "log_scaled",
              1e-9 * scale)
    if report["scaling"] not in ("mc64", "auction") or cut:
        return
    rows, columns = {i for i, _ in pairs}, {j for _, j in pairs}
    for (i, j), value in scaled.items():
        if i in rows and j in columns:
            require(value <= 1 + 1e-10, "scaled entry", i + 1, j + 1, "is", value)
    for place in pairs if report["scaling"] == "mc64" else []:
        require(scaled[place] >= 1 - 1e-10, "matched entry", place, "is", scaled[place])


def factor(n, places):
    """Entries, sum of squares and tree height of L for the pattern of B + B', by elimination."""
    below = [set() for _ in range(n)]
    for i, j in places:
        if i != j:
            below[min(i, j)].add(max(i, j))
    height = [1] * n
    for k in range(n):
        if below[k]:
            parent = min(below[k])
            below[parent] |= below[k] - {parent}
            height[parent] = max(height[parent], height[k] + 1)
    counts = [1 + len(column) for column in below]
    return sum(counts), sum(c * c for c in counts), max(height, default=0)


def levels(count, places):
    before = [[] for _ in range(count)]
    for i, j in places:
        if i != j:
            before[max(i, j)].append(min(i, j))
    level = []
    for i in range(count):
        level.append(1 + max((level[j] for j in before[i]), default=0))
    return max(level, default=0)


def norm_one(block):
    """Largest column sum of a dictionary (i, j) -> value."""
    sums = {}
    for (_, j), value in block.items():
        sums[j] = sums.get(j, 0.0) + abs(value)
    return max(sums.values(), default=0.0)


def check_measures(n, b, start, report):
    """Of the prepared matrix b, a dictionary by new positions."""
    nnz, flops, height = factor(n, b)
    require(report["factor"] == {"nnz": nnz, "flops": flops, "tree_height": height}, report["factor"], nnz, flops, height)
    of = [k for k in range(len(start) - 1) for _ in range(start[k], start[k + 1])]
    blocks = {}
    for (i, j), value in b.items():
        blocks.setdefault((of[i], of[j]), {})[i, j] = value
    size = lambda k: start[k + 1] - start[k]
    stored = sum(size(i) * size(j) for i, j in set(blocks) | {(k, k) for k in range(len(start) - 1)})
    require(report["blocks"]["stored_entries"] == stored, "stored entries:", stored)
    deep = levels(len(start) - 1, blocks)
    require(report["blocks"]["levels"] == deep, "levels:", deep)
    dominance = [0.0] * (len(start) - 1)
    for (i, j), block in blocks.items():
        dominance[i] += norm_one(block) * (1 if i == j else -1)
    if dominance and math.isfinite(sum(map(abs, dominance))):
        close(report["dominance"]["least"], min(dominance), "least dominance")
        close(report["dominance"]["mean"], sum(dominance) / len(dominance), "mean dominance")
        close(report["dominance"]["largest"], max(dominance), "largest dominance")
    off = [0.0] * n
    for (i, j), value in b.items():
        off[i] += abs(value) if i != j else 0.0
    ratios = [off[i] / abs(b[i, i]) if b.get((i, i)) else math.inf for i in range(n)]
    if ratios:
        close(report["off_diagonal_dominance"], sum(ratios) / n, "off-diagonal dominance")


def main(matrix, path, report):
    n, entries = read_matrix(matrix)
    report, folder = json.load(open(report)), Folder(path)
    symmetric = report["matrix"]["symmetry"] == "symmetric"
    require(report["matrix"]["n"] == n and report["matrix"]["nnz"] == len(entries), "n and nnz of the matrix")
    check_names(folder, report, symmetric)
    perm = folder.indices("permutation.mtx", n)
    rows = perm if symmetric else folder.indices("row-permutation.mtx", n)
    check_permutation(perm, "permutation.mtx")
    check_permutation(rows, "row-permutation.mtx")
    r = folder.vector("scaling.mtx" if symmetric else "scaling-row.mtx", n)
    c = r if symmetric else folder.vector("scaling-col.mtx", n)
    require(all(0 < s < math.inf for s in r + c), "a scaling that is not positive")
    scaled = {(i, j): abs((r[i] * v) * c[j]) for (i, j), v in entries.items()}
    partner = folder.indices("pairs.mtx", n)
    check_pairs(partner, perm, report)
    start = folder.indices("blocks.mtx")
    check_blocks(start, n, perm, partner, report)
    if "matching.mtx" in folder.names:
        matching = folder.indices("matching.mtx", n)
        cut = any(not 1 / LIMIT < s < LIMIT for s in r + c)
        check_matching(matching, entries, scaled, report, cut)
        if not symmetric and report["pairs"] == "on":
            require(all(matching[j] in (-1, i) for i, j in zip(rows, perm)), "a matched entry is not on the diagonal")
    if n <= SMALL:
        row_at, at = {row: k for k, row in enumerate(rows)}, {col: k for k, col in enumerate(perm)}
        b = {(row_at[i], at[j]): value for (i, j), value in scaled.items()}
        check_measures(n, b, start, report)


if __name__ == "__main__":
    main(*sys.argv[1:])
