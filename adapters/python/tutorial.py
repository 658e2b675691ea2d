#!/usr/bin/env python3
"""A tour of the Python door in three problems, to be read like a notebook: an interior-point method, eigenvalues by
shift and invert, a preconditioned Stokes solve.

    tutorial.py [--images FOLDER]     the pictures of docs/images, where matplotlib is installed

It needs NumPy and SciPy, takes a few seconds, and checks what it computes.
"""
import argparse
import inspect
import pathlib

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh, gmres, minres

import saddle

# ---- 1. An interior-point loop -------------------------------------------------------------------------------------
#
# A rope with heavy links hangs over a floor: minimise its energy over the heights h of its n points,
#
#     min  1/2 h'Kh + g'h     subject to     h >= floor,
#
# where K is the stiffness of the rope. The primal-dual method follows the path z_i (h_i - floor_i) = mu; every step
# solves a saddle-point system in the step dh and in minus the step of the multipliers z,
#
#     [ K   I   ] [  dh ]   [ -(K h + g - z)           ]
#     [ I  -S/Z ] [ -dz ] = [ (mu - z (h - floor)) / z ],   S = diag(h - floor), Z = diag(z),
#
# whose values change from step to step and whose pattern does not: factor once, then refactor. The inertia is part of
# the method: n positive and n negative eigenvalues say that the step goes downhill. Here the energy is convex and they
# always are; for one that is not, K is made convex until they are.


def hanging_rope(n):
    K = n * sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n), format="csc")
    x = np.linspace(0, 1, n + 2)[1:-1]
    return K, np.full(n, 12.0 / n), -0.8 + 1.5 * (x - 0.6) ** 2, x


def interior_point(K, g, floor, tolerance=1e-9):
    """h, z and the history of mu."""
    n = len(g)
    h, z, history = floor + 1.0, np.ones(n), []
    system = None
    while True:
        slack = h - floor
        mu = slack @ z / n
        history.append(mu)
        if mu < tolerance:
            return h, z, history, system.info
        A = sp.bmat([[K, sp.identity(n)], [sp.identity(n), -sp.diags(slack / z)]], format="csc")
        if system is None:
            system = saddle.factor(A, symmetric=True)
        else:
            system.refactor(A)
        count = system.inertia
        assert count.certain and (count.positive, count.negative) == (n, n), count
        step = system.solve(np.r_[-(K @ h + g - z), (0.1 * mu - z * slack) / z])
        dh, dz = step[:n], -step[n:]
        # the longest step that keeps slack and z positive
        length = 1.0
        for value, change in ((slack, dh), (z, dz)):
            down = change < 0
            length = min(length, 0.995 * np.min(-value[down] / change[down], initial=np.inf))
        h, z = h + length * dh, z + length * dz


def first_part():
    K, g, floor, x = hanging_rope(2000)
    h, z, history, info = interior_point(K, g, floor)
    assert np.all(h >= floor)
    assert np.abs(K @ h + g - z).max() < 1e-8
    touching = z > 1e-6
    print(f"1. interior point: {len(history) - 1} steps, the rope touches the floor at {touching.sum()} of {len(h)} points; "
          f"{info.n} rows, {info.factor_nnz} entries of L, {info.replans} new plans")
    return x, h, floor, history


# ---- 2. Eigenvalues by shift and invert ----------------------------------------------------------------------------
#
# Eigenvalues in the middle of a spectrum are found by iterating with (A - sigma I)^-1. A - sigma I is indefinite, which
# is what LDL' with pivoting is for; SciPy's eigsh takes the factors as an operator. The inertia checks the result:
# A - sigma I has as many negative eigenvalues as A has below sigma, so two factorizations count those in an interval.


def membrane(k):
    """The Laplacian on an L-shaped domain, k points to a unit."""
    inside = np.ones((2 * k, 2 * k), bool)
    inside[k:, k:] = False
    number = np.cumsum(inside.ravel()).reshape(inside.shape) - 1
    rows, columns = [], []
    for a, b, both in ((number[1:], number[:-1], inside[1:] & inside[:-1]),
                       (number[:, 1:], number[:, :-1], inside[:, 1:] & inside[:, :-1])):
        rows += [a[both], b[both]]
        columns += [b[both], a[both]]
    rows, columns = np.concatenate(rows), np.concatenate(columns)
    n = inside.sum()
    neighbours = sp.csc_matrix((np.full(len(rows), -1.0), (rows, columns)), shape=(n, n))
    return (neighbours + 4.0 * sp.identity(n)).tocsc() * (k + 1) ** 2, inside


def below(A, sigma):
    """How many eigenvalues of A are below sigma."""
    count = saddle.factor(A - sigma * sp.identity(A.shape[0], format="csc")).inertia
    assert count.certain
    return count.negative


def second_part():
    A, inside = membrane(40)
    sigma = 300.0
    inverse = saddle.factor(A - sigma * sp.identity(A.shape[0], format="csc")).as_linear_operator()
    values, vectors = eigsh(A, k=8, sigma=sigma, OPinv=inverse)
    order = np.argsort(values)
    values, vectors = values[order], vectors[:, order]
    assert np.linalg.norm(A @ vectors - vectors * values) < 1e-7 * values.max()
    low, high = values[0] - 1e-3, values[-1] + 1e-3
    counted = below(A, high) - below(A, low)
    assert counted == len(values), counted
    print(f"2. shift and invert: n = {A.shape[0]}, {len(values)} eigenvalues around {sigma:g}, from {values[0]:.2f} to "
          f"{values[-1]:.2f}; the inertia counts {counted} there")
    return inside, values, vectors


# ---- 3. A preconditioned Stokes solve ------------------------------------------------------------------------------
#
# Slow flow in a cavity with a moving lid, on a staggered grid (velocities on edges, pressures in cells):
#
#     [ K  B' ] [u]   [f]
#     [ B  0  ] [p] = [0],   singular: pressures are known up to a constant, so one of them is held.
#
# An incomplete LDL' of the whole matrix preconditions GMRES. MINRES, which needs less memory, wants a positive definite
# preconditioner: with absolute=True the factors are L |D| L'.


def stokes(k):
    """K, B and f on k x k cells; velocities with their walls, pressures without the first."""
    h = 1.0 / k
    across = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(k - 1, k - 1))  # in the direction of the velocity
    walls = np.full(k, 2.0)
    walls[[0, -1]] = 3.0  # a wall at half a cell's distance
    along = sp.diags([-np.ones(k - 1), walls, -np.ones(k - 1)], [-1, 0, 1])
    one, inner = sp.identity(k), sp.identity(k - 1)
    Ku = sp.kron(one, across) + sp.kron(along, inner)
    Kv = sp.kron(across, one) + sp.kron(inner, along)
    difference = sp.diags([1.0, -1.0], [0, -1], shape=(k, k - 1))
    B = h * sp.hstack([sp.kron(one, difference), sp.kron(difference, one)])
    f = np.zeros(2 * k * (k - 1))
    f[(k - 1) ** 2 + np.arange(k - 1)] = 2.0  # the lid moves with speed 1 over the last row of horizontal velocities
    B = B.tocsr()[1:]
    A = sp.bmat([[sp.block_diag([Ku, Kv]), B.T], [B, None]], format="csc")
    return A, np.r_[f, np.zeros(k * k - 1)]


def iterate(method, A, b, M):
    """x and the relative residuals; of GMRES those of the preconditioned system, which is what it has at hand."""
    tolerance = "rtol" if "rtol" in inspect.signature(method).parameters else "tol"  # SciPy before 1.12
    history = [1.0]
    if method is gmres:
        more = {"restart": 300, "maxiter": 1, "callback_type": "pr_norm", "callback": history.append}
    else:
        more = {"maxiter": 500, "callback": lambda x: history.append(np.linalg.norm(b - A @ x) / np.linalg.norm(b))}
    x, status = method(A, b, M=M, **{tolerance: 1e-9}, **more)
    return x, np.array(history)


def third_part():
    A, b = stokes(32)
    exact = saddle.solve(A, b, method="direct")
    incomplete = dict(method="ldlt", fill="tau", fill_tau=0.05)
    results = {"MINRES": iterate(minres, A, b, None)}
    absolute = saddle.preconditioner(A, **incomplete, absolute=True)
    results["MINRES, incomplete L|D|L'"] = iterate(minres, A, b, absolute)
    M = saddle.preconditioner(A, **incomplete)
    results["GMRES, incomplete LDL'"] = iterate(gmres, A, b, M)
    for name in list(results)[1:]:
        assert np.linalg.norm(results[name][0] - exact) < 1e-4 * np.linalg.norm(exact), name
        assert len(results[name][1]) < len(results["MINRES"][1]) / 2, name
    told = "; ".join(f"{name} {len(history) - 1}" for name, (x, history) in results.items())
    print(f"3. Stokes: n = {A.shape[0]}, {M.nnz} entries of the preconditioner, iterations: {told}")
    return {name: history for name, (x, history) in results.items()}, exact


def draw(folder, rope, modes, flow):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    x, h, floor, history = rope
    inside, values, vectors = modes
    residuals, exact = flow

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.2))
    left.fill_between(x, floor, floor.min() - 0.1, color="0.85")
    left.plot(x, h)
    left.set(title="a rope over a floor", xlabel="x", ylabel="height")
    right.semilogy(history, "o-", markersize=3)
    right.set(title="the interior-point method", xlabel="step", ylabel="mu")
    figure.tight_layout()
    figure.savefig(folder / "python-rope.png", dpi=110)

    figure, axes = pyplot.subplots(2, 4, figsize=(9, 4.6))
    for axis, value, vector in zip(axes.ravel(), values, vectors.T):
        picture = np.full(inside.shape, np.nan)
        picture[inside] = vector
        axis.imshow(picture, cmap="RdBu", vmin=-np.abs(vector).max(), vmax=np.abs(vector).max())
        axis.set_title(f"{value:.2f}", fontsize=9)
        axis.axis("off")
    figure.tight_layout()
    figure.savefig(folder / "python-modes.png", dpi=70)

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.6))
    k = next(m for m in range(len(exact)) if 2 * m * (m - 1) + m * m - 1 == len(exact))
    u = exact[: k * (k - 1)].reshape(k, k - 1)
    v = exact[k * (k - 1) : 2 * k * (k - 1)].reshape(k - 1, k)
    u = np.pad(u, ((0, 0), (1, 1)))
    v = np.pad(v, ((1, 1), (0, 0)))
    middle = (np.arange(k) + 0.5) / k
    left.streamplot(middle, middle, (u[:, 1:] + u[:, :-1]) / 2, (v[1:] + v[:-1]) / 2, density=1.1, linewidth=0.7)
    left.set(title="flow in a cavity with a moving lid", aspect="equal", xlim=(0, 1), ylim=(0, 1))
    for name, history in residuals.items():
        right.semilogy(history, label=name)
    right.set(title="relative residual", xlabel="iteration")
    right.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(folder / "python-stokes.png", dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--images", type=pathlib.Path)
    options = parser.parse_args()
    results = first_part(), second_part(), third_part()
    if options.images is None:
        return
    try:
        draw(options.images, *results)
    except ImportError:
        print("matplotlib is not installed: no pictures")


if __name__ == "__main__":
    main()
