#!/usr/bin/env python3
"""SciPy's spilu (SuperLU's incomplete factorization) with GMRES, for `saddle bench trisolve --part unsymmetric`:

    spilu.py A.mtx --most N[,N...] --restart M --maxiter N --tol T

solves Ax = 1 once for each N, with at most N entries in L and U, and prints one line of JSON each. Of fill_factor and
drop_tol those are taken that come nearest to N from below. The relative residual is measured on A.
"""
import argparse
import inspect
import json
import math
import os
import sys
import time

try:
    import numpy as np
    import scipy
    from scipy.io import mmread
    from scipy.sparse.linalg import LinearOperator, gmres, spilu
except ImportError as missing:
    DEBIAN = "/usr/bin/python3"  # may have Debian's SciPy, even where another python3 comes first on the PATH
    if os.path.exists(DEBIAN) and os.path.realpath(DEBIAN) != os.path.realpath(sys.executable):
        os.execv(DEBIAN, [DEBIAN, *sys.argv])
    sys.exit(f"peer-spilu: {missing}: install SciPy (Debian: apt-get install python3-scipy; elsewhere: pip install scipy)")

DROPS = (1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)  # from few entries to many
HALVINGS = 4


def entries(lu):
    return lu.L.nnz + lu.U.nnz - lu.shape[0]  # the diagonal of ones is not stored


def attempt(A, fill, drop):
    """(entries, lu, fill_factor, drop_tol, seconds); where spilu fails, infinitely many, and why."""
    began = time.process_time()
    try:
        lu = spilu(A, drop_tol=drop, fill_factor=fill)
    except (RuntimeError, MemoryError) as why:
        return math.inf, str(why)
    return entries(lu), lu, fill, drop, time.process_time() - began


def factor(A, most):
    """The attempt with the most entries up to this many. spilu may exceed its fill_factor or stay far below it: several are
    tried, each with the least drop_tol that keeps within, from DROPS and then halved towards the next one."""
    tried = []
    for share in (4.0, 2.0, 1.0, 0.7, 0.4):
        fill, low, high = max(1.0, share * most / A.nnz), None, None
        for drop in DROPS:
            tried.append(attempt(A, fill, drop))
            if tried[-1][0] <= most:
                high = drop
            elif tried[-1][0] < math.inf:
                low = drop
                break
        for _ in range(HALVINGS if low and high else 0):
            middle = math.sqrt(low * high)
            tried.append(attempt(A, fill, middle))
            low, high = (low, middle) if tried[-1][0] <= most else (middle, high)
        within = [one for one in tried if one[0] <= most]
        if max((one[0] for one in within), default=0) > 0.9 * most or fill == 1.0:
            break
    return max(within, key=lambda one: one[0]) if within else next(
        (one for one in tried if one[0] == math.inf), (math.inf, "no factors within the fill"))


def solve(A, lu, options):
    b, count = np.ones(A.shape[0]), [0]

    def one_more(_):
        count[0] += 1
    tolerance = "rtol" if "rtol" in inspect.signature(gmres).parameters else "tol"  # before SciPy 1.12
    began = time.process_time()
    x, _ = gmres(A, b, restart=options.restart, maxiter=math.ceil(options.maxiter / options.restart), atol=0.0,
                 M=LinearOperator(A.shape, lu.solve), callback=one_more, callback_type="pr_norm", **{tolerance: options.tol})
    seconds = time.process_time() - began
    return count[0], seconds, float(np.linalg.norm(b - A @ x) / np.linalg.norm(b))


def run(A, most, options):
    told = {"version": scipy.__version__, "most": most}
    best = factor(A, most)
    if best[0] > most:
        return {**told, "error": best[1]}
    kept, lu, fill, drop, setup = best
    count, seconds, residual = solve(A, lu, options)
    return {**told, "nnz": kept, "fill_factor": fill, "drop_tol": drop, "setup": setup, "iterations": count,
            "solve": seconds, "relative_residual": residual if math.isfinite(residual) else None}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("matrix")
    parser.add_argument("--most", required=True)
    parser.add_argument("--restart", type=int, default=100)
    parser.add_argument("--maxiter", type=int, default=1000)
    parser.add_argument("--tol", type=float, default=1e-6)
    options = parser.parse_args()
    np.seterr(all="ignore")
    A = mmread(options.matrix).tocsc()
    for most in options.most.split(","):
        print(json.dumps(run(A, int(most), options)), flush=True)


if __name__ == "__main__":
    main()
