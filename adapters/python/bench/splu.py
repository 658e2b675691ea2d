#!/usr/bin/env python3
"""Saddle beside SciPy's splu: the seconds of factor + solve on each symmetric matrix of a folder, and both errors.

    splu.py DIR [--limit 20] [--total 280] [--threads 1] [--log FILE]

DIR has a MANIFEST.tsv, or is searched for *.mtx and *.mtx.gz. Each matrix has a process of its own, in which both take
turns and each time is the best; one that takes longer than --limit seconds is ended, and told as left out. Matrices go
from small to large; those that --total seconds leave no time for are told as left out too. With --log a run goes on
where the one before it ended.

The ratio is Saddle's time over splu's. It counts where splu's backward error is at most 1e-6: where it is not, splu has
no solution to compare with. Saddle verifies and refines its solution by default; splu does neither. splu has one thread,
and so has Saddle unless --threads says otherwise (0: its default).
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import time

REPEAT_SECONDS, REPEAT_MOST = 0.5, 9
ERROR_MOST = 1e-6


def backward_error(A, x, b):
    import numpy as np

    if not np.isfinite(x).all():
        return math.inf
    scale = abs(A).sum(axis=1).max() * np.abs(x).max() + np.abs(b).max()
    return float(np.abs(b - A @ x).max() / scale)


def by_saddle(A, b, threads):
    import saddle

    return saddle.factor(A, threads=threads, factorizations=1).solve(b)


def by_splu(A, b, threads):
    from scipy.sparse.linalg import splu

    return splu(A).solve(b)


def measure(path, threads):
    """In a process of its own: a line of JSON for each solver when it has ended, Saddle's first."""
    import numpy as np
    import scipy.io
    import scipy.sparse as sp

    A = sp.csc_matrix(scipy.io.mmread(path)).astype(float)
    A.sum_duplicates()
    b = np.random.default_rng(0).standard_normal(A.shape[0])
    best = {}
    spent = 0.0
    for turn in range(REPEAT_MOST):
        for name, run in (("saddle", by_saddle), ("splu", by_splu)):
            begin = time.perf_counter()
            try:
                x, problem = run(A, b, threads), ""
            except (ArithmeticError, RuntimeError, ValueError, MemoryError, np.linalg.LinAlgError) as error:
                x, problem = getattr(error, "x", None), f"{type(error).__name__}: {error}"
            seconds = time.perf_counter() - begin
            spent += seconds
            error = math.inf if x is None else backward_error(A, x, b)
            if name not in best or seconds < best[name]["seconds"]:
                best[name] = {"solver": name, "seconds": seconds, "error": error, "problem": problem.split("\n")[0]}
            print(json.dumps({**best[name], "n": A.shape[0], "nnz": A.nnz}), flush=True)
        if spent > REPEAT_SECONDS:
            break


def run_one(path, limit, threads):
    """What a process said of both, the last line of each; splu's absence says that it was ended."""
    command = [sys.executable, __file__, "--one", str(path), "--threads", str(threads)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        said, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        said, _ = process.communicate()
    row = {"file": path.name}
    for line in said.splitlines():
        told = json.loads(line)
        row[told.pop("solver")] = told
    return row


def symmetric_matrices(folder):
    """Paths, from small to large."""
    manifest = folder / "MANIFEST.tsv"
    if manifest.exists():
        head, *rows = (line.split("\t") for line in manifest.read_text().splitlines())
        rows = [dict(zip(head, row)) for row in rows]
        rows = [row for row in rows if row["symmetry"] == "symmetric" and (folder / row["file"]).exists()]
        return [folder / row["file"] for row in sorted(rows, key=lambda row: int(row["nnz_stored"]))]
    return sorted([*folder.rglob("*.mtx"), *folder.rglob("*.mtx.gz")], key=lambda path: path.stat().st_size)


def verdict(row):
    """The ratio, or why there is none."""
    ours, theirs = row.get("saddle"), row.get("splu")
    if not ours or not theirs:
        return None, "left out: time limit"
    if not theirs["error"] <= ERROR_MOST:
        return None, f"splu has no solution {theirs['problem']}"
    if not ours["error"] <= ERROR_MOST:
        return None, f"Saddle has no solution {ours['problem']}"
    return ours["seconds"] / theirs["seconds"], ""


def geometric_mean(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers)) if numbers else math.nan


def report(rows, not_begun):
    form = "{:<34} {:>8} {:>9} {:>10} {:>10} {:>7} {:>8} {:>8}  {}"
    print(form.format("matrix", "n", "nnz", "saddle s", "splu s", "ratio", "error", "splu's", ""))
    ratios, why = [], {}
    for row in rows:
        ratio, reason = verdict(row)
        ours, theirs = row.get("saddle", {}), row.get("splu", {})
        cells = [row["file"], ours.get("n", ""), ours.get("nnz", "")]
        cells += [f"{s['seconds']:.5f}" if s else "-" for s in (ours, theirs)]
        cells += ["-" if ratio is None else f"{ratio:.3f}"]
        cells += [f"{s['error']:.0e}" if s else "-" for s in (ours, theirs)]
        print(form.format(*cells, reason))
        ratios += [(ratio, ours["n"])] if ratio is not None else []
        if reason:
            why[reason.split(" ")[0]] = why.get(reason.split(" ")[0], 0) + 1
    for name, least in (("all", 0), ("n >= 1,000", 1000), ("n >= 10,000", 10000)):
        chosen = [ratio for ratio, n in ratios if n >= least]
        print(f"geometric mean of the ratios, {name}: {geometric_mean(chosen):.3f} of {len(chosen)} matrices")
    beyond = [row for row in rows if row.get("saddle") and not row.get("splu")]
    print(f"left out: {len(beyond)} where only splu was beyond the limit, "
          f"{sum(not row.get('saddle') for row in rows)} where Saddle was too, {why.get('splu', 0)} where splu has no "
          f"solution, {why.get('Saddle', 0)} where Saddle has none, {not_begun} not begun")


def machine():
    """What the figures belong to."""
    import numpy
    import scipy

    import saddle

    model = next((line.split(": ")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    print(f"saddle {saddle.__version__} (commit {saddle._library.commit}), SciPy {scipy.__version__}, NumPy "
          f"{numpy.__version__}, {model}, load {pathlib.Path('/proc/loadavg').read_text().split()[0]}, "
          f"{time.strftime('%Y-%m-%d')}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path, nargs="?")
    parser.add_argument("--limit", type=float, default=20, help="seconds for a matrix, reading included")
    parser.add_argument("--total", type=float, default=280, help="seconds for all of them")
    parser.add_argument("--threads", type=int, default=1, help="of Saddle; 0: its default")
    parser.add_argument("--log", type=pathlib.Path, help="JSON lines, to which a run adds")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        measure(options.one, options.threads)
        return
    if options.folder is None:
        parser.error("name the folder of the matrices")
    begin = time.monotonic()
    done = {}
    if options.log and options.log.exists():
        done = {row["file"]: row for row in map(json.loads, options.log.read_text().splitlines())}
    rows, not_begun = [], 0
    for path in symmetric_matrices(options.folder):
        if path.name not in done:
            if time.monotonic() - begin > options.total:
                not_begun += 1
                continue
            done[path.name] = run_one(path, options.limit, options.threads)
            if options.log:
                with options.log.open("a") as log:
                    log.write(json.dumps(done[path.name]) + "\n")
        rows.append(done[path.name])
    machine()
    report(rows, not_begun)


if __name__ == "__main__":
    main()
