#!/usr/bin/env python3
"""SYM-ILDL (Greif, He and Liu, ACM Transactions on Mathematical Software 44, 2017), an incomplete LDL' factorization with rook
pivoting, and its SQMR, for `saddle bench ldlt --part symildl`:

    peer-symildl A.mtx --rhs B.mtx[,B.mtx...] --most N [--maxiter M] [--tol T] [--limit SECONDS] [--folder DIR] [--turns]

runs its program, ldl_driver, by its defaults and with at most N entries in L, once for each right-hand side, and prints a line of
JSON for either setting ("default", "equal"): fill and drop_tol, entries of L (its diagonal of ones stands for D), seconds of the
least setup, and for the k-th right-hand side iterations_k, solve_k and residual_k as it tells them. Its residual is the one that
SQMR carries along, of the matrix as it has scaled it: whoever asks measures the solution, which lies in DIR as SETTING-k.mtx,
written with 13 digits, and with --turns may ask for the same setting again with another T, by a line "tol T" on standard input;
any other line goes on to the next one. Where several pairs of fill and drop_tol keep within N entries, that is taken which has
most. A run may take so many seconds, and so may the search for that pair.

The program is the one that CMake was told or has found (SADDLE_SYMILDL), or the environment names (the same name);
`peer-symildl --there` says whether there is one.
"""
import argparse
import ctypes
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

CONFIGURED = "@SADDLE_SYMILDL@"  # by CMake
DEFAULTS = (3.0, 1e-3)           # fill and tol
DROPS = (0.1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8)  # from few entries to many
COLUMNS = (8.0, 2.0)             # entries that a column may have, over those of an average one
HALVINGS = 3
NUMBER = r"([-+.\w]+)"           # also nan and inf


class Failed(Exception):
    pass


def end_with_parent():
    """In the child: where this script is killed, the program has nobody to tell anything."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def found(pattern, output, what):
    match = re.search(pattern, output)
    try:
        return float(match[1])
    except (TypeError, ValueError):
        raise Failed(f"printed no {what}") from None


def counted(pattern, output, what):
    number = found(pattern, output, what)
    if not (number >= 0 and number.is_integer()):  # 32-bit counts run over
        raise Failed(f"printed no {what}")
    return int(number)


class Program:
    def __init__(self, path, matrix, folder, limit):
        self.path, self.matrix, self.folder, self.limit = path, os.path.abspath(matrix), folder, limit
        self.solution = os.path.join(folder, "output_matrices", "outsol.mtx")  # it makes no folder
        os.makedirs(os.path.dirname(self.solution), exist_ok=True)

    def run(self, fill, drop, limit, *more):
        """What it prints of a factorization, and of a solve where that is asked for."""
        words = (self.path, f"-filename={self.matrix}", f"-fill={fill:.17g}", f"-tol={drop:.17g}", "-save=false", *more)
        try:
            done = subprocess.run(words, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  errors="replace", timeout=limit, check=False, preexec_fn=end_with_parent)
        except subprocess.TimeoutExpired:
            raise Failed("took too long") from None
        except OSError as why:
            raise Failed(f"cannot be run: {why.strerror}") from None
        if done.returncode < 0:
            raise Failed(f"was ended by {signal.Signals(-done.returncode).name}")
        if done.returncode:
            last = (done.stderr + done.stdout).strip().rsplit("\n", 1)[-1]
            raise Failed(f"ended with status {done.returncode}" + (f": {last}" if last else ""))
        return done.stdout

    def entries(self, output):
        return counted(rf"L is \d+ by \d+ with {NUMBER} non-zeros", output, "entries of L")

    def factor(self, fill, drop, limit):
        return self.entries(self.run(fill, drop, limit))

    def solve(self, fill, drop, rhs, options, keep):
        """(entries, setup, iterations, seconds of the solve, its residual); the solution is kept."""
        if os.path.exists(self.solution):
            os.remove(self.solution)  # of the run before
        output = self.run(fill, drop, self.limit, f"-rhs_file={os.path.abspath(rhs)}", "-solver=sqmr",
                          f"-max_iters={options.maxiter}", f"-solver_tol={options.tol:.17g}")
        told = (self.entries(output), found(rf"Total time:\s+{NUMBER} seconds", output, "time of its factorization"),
                counted(rf"took {NUMBER} iterations?\b", output, "iterations"),
                found(rf"Solve time:\s+{NUMBER} seconds", output, "time of its solve"),
                found(rf"down to relative residual {NUMBER}\.(?:\s|$)", output, "residual"))
        try:
            os.replace(self.solution, keep)
        except OSError:
            raise Failed("wrote no solution") from None
        return told


def order_and_entries(matrix):
    with open(matrix, encoding="ascii") as file:
        n, _, entries = next(line for line in file if line.strip() and not line.startswith("%")).split()
    return int(n), int(entries)


def attempt(program, fill, drop, until):
    """Entries of L; infinitely many where there is no L in time."""
    try:
        return program.factor(fill, drop, max(0.001, until - time.monotonic()))
    except Failed:
        return math.inf


def pair_of(program, most):
    """The fill and drop_tol with the most entries up to this many: those by default, or from DROPS, and between the last one
    that keeps within and the next one, with as many entries in a column as most leaves to each, and with some more."""
    n, entries = order_and_entries(program.matrix)
    until = time.monotonic() + program.limit
    tried = [(attempt(program, *DEFAULTS, until), *DEFAULTS)]
    for columns in COLUMNS:
        if 0.9 * most <= max((one[0] for one in tried if one[0] <= most), default=0) or time.monotonic() > until:
            break
        # Its columns have at most 2 fill entries / n in L, rounded down.
        fill, within, beyond = (max(1, round(columns * most / n)) + 0.5) * n / (2 * entries), None, None
        for drop in DROPS:
            tried.append((attempt(program, fill, drop, until), fill, drop))
            if tried[-1][0] > most:
                beyond = drop
                break
            within = drop
        for _ in range(HALVINGS if within and beyond else 0):
            middle = math.sqrt(within * beyond)
            tried.append((attempt(program, fill, middle, until), fill, middle))
            within, beyond = (middle, beyond) if tried[-1][0] <= most else (within, middle)
    best = max((one for one in tried if one[0] <= most), default=None)
    if not best:
        raise Failed("no factors within the fill")
    return best[1:]


def finite(value):
    return None if isinstance(value, float) and not math.isfinite(value) else value


def tell(program, setting, pair, options):
    told = {"setting": setting, "fill": pair[0], "drop_tol": pair[1]}
    try:
        solves = [program.solve(*pair, b, options, os.path.join(program.folder, f"{setting}-{k}.mtx"))
                  for k, b in enumerate(options.rhs.split(","))]
    except Failed as why:
        return {**told, "error": str(why)}
    told.update(nnz=solves[0][0], setup=min(one[1] for one in solves))
    for k, (_, _, iterations, seconds, residual) in enumerate(solves):
        told.update({f"iterations_{k}": iterations, f"solve_{k}": seconds, f"residual_{k}": residual})
    return told


def say(told):
    clean = {key: None if isinstance(value, float) and not math.isfinite(value) else
             value.replace('"', "'") if isinstance(value, str) else value for key, value in told.items()}
    print(json.dumps(clean), flush=True)


def serve(program, setting, options):
    try:
        pair = DEFAULTS if setting == "default" else pair_of(program, options.most)
    except Failed as why:
        say({"setting": setting, "error": str(why)})
        pair = None
    word = ["tol", options.tol]
    while word[:1] == ["tol"]:
        if pair:
            options.tol = float(word[1])
            say(tell(program, setting, pair, options))
        word = sys.stdin.readline().split() if options.turns else []


def program_path():
    path = os.environ.get("SADDLE_SYMILDL") or CONFIGURED
    return os.path.abspath(path) if os.path.isfile(path) and os.access(path, os.X_OK) else None


def main():
    path = program_path()
    if not path or sys.argv[1:] == ["--there"]:
        say({"program": path} if path else {"absent": "its program was not found: SADDLE_SYMILDL names ldl_driver"})
        return 0 if path else 1
    parser = argparse.ArgumentParser()
    parser.add_argument("matrix")
    parser.add_argument("--rhs", required=True)
    parser.add_argument("--most", type=int, required=True)
    parser.add_argument("--maxiter", type=int, default=1000)
    parser.add_argument("--tol", type=float, default=1e-8)
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--folder")
    parser.add_argument("--turns", action="store_true")
    options = parser.parse_args()
    folder = options.folder or tempfile.mkdtemp(prefix="peer-symildl.")
    try:
        program = Program(path, options.matrix, folder, options.limit)
        for setting in ("default", "equal"):
            serve(program, setting, argparse.Namespace(**vars(options)))
    finally:
        if not options.folder:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
