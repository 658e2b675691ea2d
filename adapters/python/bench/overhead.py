#!/usr/bin/env python3
"""What the Python door adds to a call of the library, and what it costs to import it.

    overhead.py

The same call is made through the package, and by ctypes with arguments that were made ready before; what ctypes itself
takes is that of a call with as many arguments that the library refuses at once. One thread; times are the best of many.
"""
import ctypes
import subprocess
import sys
import time

import numpy as np
import scipy.sparse as sp

import saddle
from saddle import _info, _matrix
from saddle._library import lib


# Memory stays with the process: otherwise it depends on what happens to lie at the end of the heap whether a call's
# workspace is returned to the system and fetched again, which takes longer than the door does.
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
for what in (TRIM_THRESHOLD, MMAP_THRESHOLD):
    ctypes.CDLL(None).mallopt(what, 1 << 30)


def best(call, rounds):
    """Microseconds of a call."""
    begin = time.perf_counter()
    for _ in range(rounds):
        call()
    return 1e6 * (time.perf_counter() - begin) / rounds


def banded(n):
    """A saddle-point matrix like those of optimal control: [H B'; B 0], H diagonal, B with a band."""
    m = n // 3
    H = sp.diags(1.0 + np.arange(n - m) % 7)
    B = sp.diags([1.0, -1.0, 0.5], [0, 1, 1 + m // 2], shape=(m, n - m))
    return sp.bmat([[H, B.T], [B, None]], format="csc")


def cube(n):
    """A shifted Laplacian on a cube: indefinite, and with more than a few entries in L."""
    k = round(n ** (1 / 3))
    line, one = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(k, k)), sp.identity(k)
    parts = sp.kron(sp.kron(line, one), one) + sp.kron(sp.kron(one, line), one) + sp.kron(sp.kron(one, one), line)
    return (parts - 1.5 * sp.identity(k**3)).tocsc()


def compare(A, rounds, turns):
    n = A.shape[0]
    b, x = np.ones(n), np.empty(n)
    f = saddle.factor(A, threads=1)
    seen, info = _matrix.view(A), _info.Handle()
    solver, matrix = f._pointer, ctypes.byref(seen.matrix)
    sides = (1, b.ctypes.data, n, x.ctypes.data, n, info.pointer)
    calls = {
        "refactor": (lambda: f.refactor(A), lambda: lib.saddle_factor(solver, matrix),
                     lambda: lib.saddle_factor(None, None)),
        "refactor(values)": (lambda: f.refactor(A.data),
                             lambda: lib.saddle_factor_values(solver, 0, A.data.__array_interface__["data"][0]),
                             lambda: lib.saddle_factor_values(None, 0, A.data.__array_interface__["data"][0])),
        "solve": (lambda: f.solve(b), lambda: lib.saddle_solve(solver, *sides), lambda: lib.saddle_solve(None, *sides)),
    }
    for name, (door, plain, refused) in calls.items():
        ours = theirs = float("inf")
        for _ in range(turns):  # in turns, so that both have the machine as it is
            ours, theirs = min(ours, best(door, rounds)), min(theirs, best(plain, rounds))
        empty = min(best(refused, 1000) for _ in range(25))
        work = theirs - empty
        print(f"n = {n:>6} {name:<17} {ours:>9.1f} µs, of it the library {work:>9.1f} µs: the door {ours - work:>7.1f} µs"
              f" ({100 * (ours - work) / work:.1f} %)")
    factor = min(best(lambda: saddle.factor(A, threads=1), max(rounds // 20, 1)) for _ in range(5))
    print(f"n = {n:>6} {'factor':<17} {factor:>9.1f} µs")


def import_milliseconds(what):
    code = f"import sys, time; import numpy; t = time.perf_counter(); import {what}; print(time.perf_counter() - t)"
    return 1e3 * min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
                     for _ in range(15))


def main():
    print(f"saddle {saddle.__version__} (commit {saddle._library.commit}), Python {sys.version.split()[0]}, NumPy "
          f"{np.__version__}, load {open('/proc/loadavg').read().split()[0]}, {time.strftime('%Y-%m-%d')}")
    compare(banded(10), 500, 25)
    compare(banded(1000), 5, 250)
    compare(banded(10_000), 1, 1000)
    compare(cube(10_000), 1, 50)
    print(f"import saddle, after numpy: {import_milliseconds('saddle'):.1f} ms")


if __name__ == "__main__":
    main()
