"""Operators inside SciPy's Krylov methods and eigensolvers."""
import unittest

import numpy as np
import scipy.sparse as sp
from problems import laplacian, saddle_point, unsymmetric
from scipy.sparse.linalg import LinearOperator, aslinearoperator, eigsh, gmres, minres

import saddle


class Count:
    def __init__(self):
        self.iterations = 0

    def __call__(self, *unused):
        self.iterations += 1


class Preconditioners(unittest.TestCase):
    def setUp(self):
        self.A = saddle_point(400, 150)
        self.b = np.ones(550)

    def iterations(self, method, A, M):
        count = Count()
        more = {"callback_type": "pr_norm"} if method is gmres else {}
        x, status = method(A, self.b, M=M, callback=count, maxiter=2000, **more)
        self.assertEqual(status, 0)
        self.assertLess(np.linalg.norm(self.b - A @ x) / np.linalg.norm(self.b), 1e-2)
        return count.iterations

    def test_every_method_is_an_operator(self):
        for method in ("ldlt", "jacobi", "bjacobi", "ilu", "diagonal", "direct"):
            with self.subTest(method):
                M = saddle.preconditioner(self.A, method=method)
                self.assertIsInstance(M, LinearOperator)
                self.assertEqual(M.shape, (550, 550))
                y = M @ self.b
                np.testing.assert_array_equal(M.solve(self.b), y)
                np.testing.assert_allclose(M @ np.column_stack([self.b, 2 * self.b]), np.column_stack([y, 2 * y]),
                                           rtol=1e-6, atol=1e-8)
                self.assertEqual((M @ self.b[:, None]).shape, (550, 1))
                self.assertEqual(M.info.n, 550)
                self.assertGreaterEqual(M.nnz, 0)

    def test_gmres_needs_fewer_iterations(self):
        plain = self.iterations(gmres, self.A, None)
        self.assertLess(self.iterations(gmres, self.A, saddle.spildl(self.A)), plain / 2)
        self.assertLessEqual(self.iterations(gmres, self.A, saddle.preconditioner(self.A, "direct")), 2)

    def test_minres_with_the_absolute_value(self):
        M = saddle.preconditioner(self.A, "direct", absolute=True)
        dense = M @ np.eye(550)
        self.assertLess(np.abs(dense - dense.T).max(), 1e-9 * np.abs(dense).max())
        self.assertGreater(np.linalg.eigvalsh((dense + dense.T) / 2).min(), 0)
        self.assertLess(self.iterations(minres, self.A, M), 10)  # the eigenvalues of M^-1 A are -1 and 1

    def test_the_transpose(self):
        A = unsymmetric(60)
        for method in ("ilu", "direct"):
            M = saddle.preconditioner(A, method)
            dense = M @ np.eye(60)
            np.testing.assert_allclose(M.T @ np.eye(60), dense.T, atol=1e-12)
            np.testing.assert_allclose(M.rmatvec(np.ones(60)), dense.T @ np.ones(60), atol=1e-12)

    def test_new_values(self):
        M = saddle.preconditioner(self.A, "direct")
        y = M @ self.b
        M.refactor(2 * self.A)
        np.testing.assert_allclose(M @ self.b, y / 2, rtol=1e-6, atol=1e-9)

    def test_a_sum_with_other_operators(self):
        M = saddle.preconditioner(self.A, "direct")
        identity = (M * aslinearoperator(self.A)) @ self.b
        np.testing.assert_allclose(identity, self.b, rtol=1e-8)


class Inverses(unittest.TestCase):
    def test_shift_and_invert(self):
        A = laplacian(8)
        sigma = 1.3
        inverse = saddle.factor(A - sigma * sp.identity(512)).as_linear_operator()
        found = eigsh(A, k=5, sigma=sigma, OPinv=inverse, return_eigenvectors=False)
        every = np.linalg.eigvalsh(A.toarray())
        near = sorted(every[np.argsort(abs(every - sigma))[:5]])
        np.testing.assert_allclose(sorted(found), near, rtol=1e-10)

    def test_columns_and_the_transpose(self):
        for A in (saddle_point(), unsymmetric()):
            inverse = saddle.factor(A).as_linear_operator()
            identity = np.eye(A.shape[0])
            np.testing.assert_allclose(A @ (inverse @ identity), identity, atol=1e-10)
            np.testing.assert_allclose(A.T @ (inverse.T @ identity), identity, atol=1e-8)


if __name__ == "__main__":
    unittest.main()
