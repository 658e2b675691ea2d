"""What was measured for the pages of the paper on Gauss-Huard: batches of blocks, and solves of matrices."""
import panels
from papers.batches import LU_PEERS, Batches

KERNELS = ("jordan", "huard", "huard-t")   # BGJE, BGH and BGHT of the paper
SIZES, BOUNDS = (16, 32), (8, 16, 32)      # of Figures 2 and 4; of the histogram


def setups(results):
    return Batches.of(results, "setup")


def speedups(results, name, size):
    """[(blocks, times as fast as LU)]"""
    return [(r["batch"], r["times_as_fast"]) for r in setups(results).all(part="setup", work="factor", name=name, size=size)
            if r["times_as_fast"]]


def largest(results, name, size):
    """Times as fast as LU in the largest batch."""
    found = speedups(results, name, size)
    return found[-1][1] if found else None


def reach(results, size):
    """How many times as fast as the LU a kernel is that does nothing but copy the largest batch."""
    b = setups(results)
    most = max(b.values("batch", part="setup", size=size), default=None)
    return b.ratio(LU_PEERS, "copy", part="setup", size=size, batch=most)


def solves(results):
    """{(matrix, kernel, block size): solve}"""
    return {(name, s["kernel"], s["block_size"]): s for name, j in results.each("solve") for s in j["solves"]}


def both(results, size, one="jordan", two="huard"):
    """Solves of the matrices that both kernels solve, in the order of the first one's time."""
    found = solves(results)
    pairs = [(m, s, found[m, two, size]) for (m, kernel, of), s in found.items()
             if (kernel, of) == (one, size) and s["solved"] and found.get((m, two, size), {}).get("solved")]
    return sorted(pairs, key=lambda p: panels.total(p[1]))


def differences(results, size):
    """How often Gauss-Huard took fewer iterations than Gauss-Jordan, as many, more."""
    apart = [h["iterations"] - j["iterations"] for _, j, h in both(results, size)]
    return sum(d < 0 for d in apart), sum(d == 0 for d in apart), sum(d > 0 for d in apart)
