#!/usr/bin/env python3
"""Stands in for SYM-ILDL's program: takes its flags, prints what it prints, and solves matrices that are diagonal. With the word
FAKE in the environment it does something else at a solve:

    wrong     writes another solution and tells the same
    loose     solves to a thousand times the residual that it tells, of what it was asked for
    nan       tells and writes numbers that are none
    silent    prints nothing of a solve
    unsaved   prints everything and writes no solution
    fail      says so, and ends with status 1
    crash     is ended by a signal
    late      writes its number to the file FAKE_PID, and goes on until it is ended
    limit     does not come to the residual

Its L has as many entries as rows, and one more for each power of ten of the drop tolerance below 0.1, as far as fill allows. What
it was asked is noted in the file FAKE_LOG.
"""
import math
import os
import signal
import sys


def lines(path):
    with open(path, encoding="ascii") as file:
        return [line.split() for line in file if not line.startswith("%")]


def main():
    flags = dict(word.lstrip("-").split("=", 1) for word in sys.argv[1:])
    with open(os.environ["FAKE_LOG"], "a", encoding="utf-8") as log:
        log.write(" ".join(word for word in sys.argv[1:] if "file" not in word) + "\n")
    (n, _, stored), *entries = lines(flags["filename"])
    n, diagonal = int(n), {int(i): float(value) for i, j, value in entries if i == j}
    print(f"Load succeeded. File {flags['filename']} was loaded.\nA is {n} by {n} with {stored} non-zeros.")
    lfil = int(2 * float(flags["fill"]) * int(stored) / n)
    more = min(lfil, round(-math.log10(float(flags["tol"]))) - 1)
    mode = os.environ.get("FAKE", "")
    if "rhs_file" in flags:
        print(f"Load succeeded. Vector file {flags['rhs_file']} was loaded.\nRight hand side has {n} entries.")
    print("  Equilibration:\t\t0.001 seconds.\n  AMD:\t\t\t\t0.002 seconds.\n  Permutation:\t\t\t0.003 seconds.")
    print("  Factorization (Rook pivoting):\t0.014 seconds.\nTotal time:\t\t\t0.020 seconds.")
    print(f"L is {n} by {n} with {n + more} non-zeros.\n", flush=True)
    if "rhs_file" in flags and mode != "silent":
        solve(flags, mode, diagonal)
    print("Factorization Complete. ")


def solve(flags, mode, diagonal):
    if mode == "fail":
        print("The right hand side dimensions do not match the dimensions of A.")
        sys.exit(1)
    if mode == "crash":
        os.kill(os.getpid(), signal.SIGABRT)
    if mode == "late":
        with open(os.environ["FAKE_PID"], "w", encoding="ascii") as file:
            file.write(str(os.getpid()))
        signal.pause()
    b = [float(words[0]) for words in lines(flags["rhs_file"])[1:]]
    asked, error = float(flags["solver_tol"]), {"wrong": 1.0, "limit": 1e-3}.get(mode, 0.0)
    if mode == "loose":
        error = 1e3 * asked
    x = [value / diagonal[i + 1] * (1 + error) for i, value in enumerate(b)]
    told = {"nan": "-nan", "limit": "1.000000e-03"}.get(mode, f"{asked / 2:e}")
    count = int(flags["max_iters"]) if mode == "limit" else 1
    print("Solving matrix with SQMR...")
    print(f"SQMR took {count} iteration{'s' if count > 1 else ''} and got down to relative residual {told}.")
    print("Solve time:\t0.005 seconds.\n\nSolution saved to output_matrices/outsol.mtx.")
    if mode == "unsaved":
        return
    with open("output_matrices/outsol.mtx", "w", encoding="ascii") as file:
        file.write(f"%%MatrixMarket matrix coordinate real general\n{len(x)} 1 {len(x)}\n")
        file.writelines(f"{i + 1} 1 {'-nan' if mode == 'nan' else format(value, '.12e')}\n" for i, value in enumerate(x))


if __name__ == "__main__":
    main()
