"""Matrices for the tests."""
import numpy as np
import scipy.sparse as sp


def saddle_point(n=60, m=25, seed=0):
    """[H B'; B 0] with H positive definite and B of full rank: n positive and m negative eigenvalues."""
    random = np.random.default_rng(seed)
    H = sp.diags([-1.0, 4.0, -1.0], [-1, 0, 1], shape=(n, n)) + sp.diags(random.random(n))
    B = sp.hstack([sp.identity(m), sp.random(m, n - m, 0.1, random_state=seed)])
    return sp.bmat([[H, B.T], [B, None]], format="csc")


def unsymmetric(n=40):
    return sp.diags([-1.0, 3.0, -0.5], [-1, 0, 1], shape=(n, n), format="csr")


def laplacian(k):
    """On a cube of k points a side."""
    line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(k, k))
    one = sp.identity(k)
    return sum(sp.kron(sp.kron(*pair), third) for pair, third in
               [((line, one), one), ((one, line), one), ((one, one), line)]).tocsc()


def error(A, x, b):
    """|b - A x| / (|A| |x| + |b|) in the infinity norm"""
    A = sp.csr_matrix(A)
    r = np.abs(b - A @ x).max()
    return r / (abs(A).sum(axis=1).max() * np.abs(x).max() + np.abs(b).max())
