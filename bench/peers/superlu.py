#!/usr/bin/env python3
"""SciPy's splu (SuperLU) as a peer of `saddle bench direct`: a driver as bench/peers/peer.h describes them.

    peer-superlu A.mtx[.gz] [--repeat R] [--threads N] [--setting default|symmetric] [--turns]

SuperLU is for general matrices: it takes both triangles, and knows nothing of eigenvalues. By default its columns are ordered
by COLAMD and rows are exchanged for size; `symmetric` is what its documentation advises for a symmetric pattern with a
diagonal to lean on: the minimum degree order of A + A', and the diagonal pivot as long as it is a thousandth of the largest.
Without a positive diagonal that fills up, and is refused, as by other drivers of what is for such matrices. SuperLU has no
analysis of its own: splu orders and factors, which counts as `factor`. Its memory is by how much the process grew.
"""
import argparse
import json
import math
import os
import sys
import time

try:
    import numpy as np
    import scipy
    from scipy.io import mmread
    from scipy.sparse.linalg import splu
except ImportError as missing:
    DEBIAN = "/usr/bin/python3"  # may have Debian's SciPy, even where another python3 comes first on the PATH
    if os.path.exists(DEBIAN) and os.path.realpath(DEBIAN) != os.path.realpath(sys.executable):
        os.execv(DEBIAN, [DEBIAN, *sys.argv])
    why = f"{missing}: install SciPy (Debian: apt-get install python3-scipy; elsewhere: pip install scipy)"
    print(json.dumps({"peer": "superlu", "error": why}))
    sys.exit(1)

SETTINGS = {"default": {},
            "symmetric": {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 1e-3, "options": {"SymmetricMode": True}}}
SPAN = 0.02  # seconds of calls in a turn, as in timing.h
COLUMNS = 64


def timed(call, best):
    """The best time of calls that fill the span, at least one; and what the last one returned."""
    first = time.perf_counter()
    while True:
        began = time.perf_counter()
        result = call()
        ended = time.perf_counter()
        best = min(best, ended - began)
        if ended - first >= SPAN:
            return result, best


def memory(key):
    """VmRSS: what is resident now, VmHWM: the most that was; bytes."""
    with open("/proc/self/status", encoding="ascii") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith(key + ":"))


def random_vector(n):
    return np.random.default_rng(1).uniform(-1.0, 1.0, n)


class Peer:
    def __init__(self, path, setting):
        self.A = mmread(path).tocsc()  # both triangles
        self.A.sort_indices()
        if SETTINGS[setting] and not (self.A.diagonal() > 0).all():
            raise ValueError("not positive definite")
        self.norm = float(abs(self.A).sum(axis=1).max())
        self.b = self.A @ np.ones(self.A.shape[0])
        self.setting = SETTINGS[setting]
        self.lu, self.before, self.peak = None, memory("VmRSS"), None
        self.factor = self.solve = self.refined = math.inf

    def solve_refined(self):
        x = self.lu.solve(self.b)
        return x + self.lu.solve(self.b - self.A @ x)

    def turn(self):
        self.lu, self.factor = timed(lambda: splu(self.A, **self.setting), self.factor)
        if self.peak is None:
            self.peak = memory("VmHWM") - self.before
        _, self.solve = timed(lambda: self.lu.solve(self.b), self.solve)
        _, self.refined = timed(self.solve_refined, self.refined)

    def errors(self, b, x):
        """Normwise and componentwise backward error, with the residual in extended precision."""
        A = self.A.tocoo()
        r, size = b.astype(np.longdouble), np.abs(b).astype(np.longdouble)
        np.subtract.at(r, A.row, A.data.astype(np.longdouble) * x[A.col])
        np.add.at(size, A.row, np.abs(A.data.astype(np.longdouble) * x[A.col]))
        with np.errstate(all="ignore"):
            whole = np.max(np.abs(r)) / (self.norm * np.max(np.abs(x)) + np.max(np.abs(b)))
            return float(whole), float(np.max(np.where(size > 0, np.abs(r) / size, 0)))

    def tell(self):
        many = np.tile(self.b, (COLUMNS, 1)).T.copy(order="F")
        _, many_seconds = timed(lambda: self.lu.solve(many), math.inf)
        backward, componentwise = self.errors(self.b, self.lu.solve(self.b))
        refined, _ = self.errors(self.b, self.solve_refined())
        random = random_vector(self.A.shape[0])
        backward_random, componentwise_random = self.errors(random, self.lu.solve(random))
        return {"peer": "superlu", "version": f"SuperLU (SciPy {scipy.__version__})",
                "ordering": "mmd" if self.setting else "colamd", "n": self.A.shape[0], "analysis": 0.0,
                "factor": self.factor, "solve": self.solve, "solve_refined": self.refined, "solve_64": many_seconds,
                "factor_nnz": self.lu.nnz, "peak_bytes": self.peak, "resident_bytes": memory("VmHWM"),
                "backward_error": backward, "componentwise_error": componentwise, "backward_error_refined": refined,
                "backward_error_random": backward_random, "componentwise_error_random": componentwise_random}


def take_turns(peer, options):
    if not options.turns:
        for _ in range(options.repeat):
            peer.turn()
        return
    print("ready", flush=True)
    while sys.stdin.readline() == "turn\n":
        peer.turn()
        print("turn", flush=True)


def finite(value):
    return None if isinstance(value, float) and not math.isfinite(value) else value


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("matrix")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)  # it has one
    parser.add_argument("--setting", choices=SETTINGS, default="default")
    parser.add_argument("--turns", action="store_true")
    options = parser.parse_args()
    np.seterr(all="ignore")
    try:
        peer = Peer(options.matrix, options.setting)
        take_turns(peer, options)
        told = peer.tell()
    except (RuntimeError, MemoryError, ValueError, OSError) as why:
        print(json.dumps({"peer": "superlu", "error": str(why) or type(why).__name__}))
        return 1
    print(json.dumps({key: finite(value) for key, value in told.items()}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
