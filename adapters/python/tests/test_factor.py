"""saddle.factor: solves, new values, and what the factors tell about the matrix."""
import copy
import gc
import pickle
import threading
import unittest
import weakref

import numpy as np
import scipy.sparse as sp
from problems import error, laplacian, saddle_point, unsymmetric

import saddle


class Solves(unittest.TestCase):
    def setUp(self):
        self.A = saddle_point()
        self.n = self.A.shape[0]
        self.f = saddle.factor(self.A)
        self.B = np.random.default_rng(1).standard_normal((self.n, 4))

    def test_vectors_and_matrices_of_any_order(self):
        want = np.column_stack([self.f.solve(column) for column in self.B.T])
        wide = np.zeros((2 * self.n, 8))
        wide[::2, ::2] = self.B
        for name, B in {"C": self.B, "F": np.asfortranarray(self.B), "strided": wide[::2, ::2],
                        "list": self.B.tolist(), "sparse": sp.csr_matrix(self.B)}.items():
            with self.subTest(name):
                X = self.f.solve(B)
                self.assertEqual(X.shape, (self.n, 4))
                self.assertLess(max(error(self.A, X[:, k], self.B[:, k]) for k in range(4)), 1e-14)
                np.testing.assert_allclose(X, want, rtol=1e-10)
        self.assertEqual(self.f.solve(self.B[:, :1]).shape, (self.n, 1))
        self.assertEqual(self.f.solve(self.B[:, :0]).shape, (self.n, 0))
        np.testing.assert_array_equal(self.f.solve(self.B[::1, 0]), want[:, 0])

    def test_b_is_left_as_it_was(self):
        b = self.B[:, 0].copy()
        self.f.solve(b)
        np.testing.assert_array_equal(b, self.B[:, 0])
        b.flags.writeable = False
        self.f.solve(b)

    def test_other_numbers_in_b(self):
        b = np.arange(self.n)
        for kind in (np.float32, np.int32, np.int64, bool):
            x = self.f.solve(b.astype(kind))
            self.assertEqual(x.dtype, np.float64)
            self.assertLess(error(self.A, x, b.astype(kind).astype(float)), 1e-14)

    def test_out(self):
        x = np.empty(self.n)
        self.assertIs(self.f.solve(self.B[:, 0], out=x), x)
        np.testing.assert_array_equal(x, self.f.solve(self.B[:, 0]))
        X = np.asfortranarray(self.B.copy())
        self.assertIs(self.f.solve(X, out=X), X)
        np.testing.assert_array_equal(X, self.f.solve(self.B))

    def test_wrong_b_and_out(self):
        for b, kind, words in [
            (np.ones(self.n + 1), ValueError, rf"\({self.n + 1},\)"),
            (np.ones((2, self.n)), ValueError, "shape"),
            (np.ones((self.n, 2, 2)), ValueError, "shape"),
            (np.float64(1.0), ValueError, "shape"),
            (np.ones(self.n, complex), TypeError, "b is complex128.*b.real"),
            (np.full(self.n, "a"), TypeError, "real"),
        ]:
            with self.subTest(words), self.assertRaisesRegex(kind, words):
                self.f.solve(b)
        for out in (np.empty(self.n, np.float32), np.empty((self.n, 2)), np.empty((self.n, 4)), np.empty(2 * self.n)[::2]):
            with self.assertRaises(ValueError):
                self.f.solve(self.B if out.ndim == 2 else self.B[:, 0], out=out)
        fixed = np.empty(self.n)
        fixed.flags.writeable = False
        with self.assertRaisesRegex(ValueError, "writable"):
            self.f.solve(self.B[:, 0], out=fixed)
        with self.assertRaisesRegex(ValueError, "array of NumPy's"):  # it would stay as it was
            self.f.solve(self.B[:, 0], out=[0.0] * self.n)

    def test_out_that_overlaps_b_is_refused(self):
        X = np.asfortranarray(np.hstack([self.B, self.B]))
        both = np.zeros(2 * self.n)
        for b, out in [(X[:, :4], X[:, 1:5]), (X[:, 1:5], X[:, :4]), (both[: self.n], both[1 : self.n + 1])]:
            with self.assertRaisesRegex(ValueError, "overlaps"):
                self.f.solve(b, out=out)
        np.testing.assert_array_equal(self.f.solve(X[:, :4], out=X[:, 4:]), self.f.solve(self.B))

    def test_masked_entries_are_refused(self):
        b = np.ma.masked_less(self.B[:, 0], 0.0)
        with self.assertRaisesRegex(TypeError, "b has masked entries"):
            self.f.solve(b)
        with self.assertRaisesRegex(TypeError, "the matrix has masked entries"):
            saddle.factor(np.ma.masked_equal(np.eye(3), 0.0))
        np.testing.assert_array_equal(self.f.solve(np.ma.array(self.B)), self.f.solve(self.B))

    def test_unaligned_arrays(self):
        def shifted(array):
            return np.frombuffer(b"\0" + array.tobytes(), np.uint8)[1:].view(array.dtype)

        b = shifted(self.B[:, 0].copy())
        self.assertFalse(b.flags.aligned)
        np.testing.assert_array_equal(self.f.solve(b), self.f.solve(self.B[:, 0]))
        f = saddle.factor((shifted(self.A.data), shifted(self.A.indices), shifted(self.A.indptr)))
        np.testing.assert_array_equal(f.solve(b), self.f.solve(b))

    def test_return_info(self):
        x, info = self.f.solve(self.B[:, 0], return_info=True)
        self.assertTrue(info.converged)
        self.assertEqual(info.method, "direct")
        self.assertLess(info.backward_error, 1e-15)
        np.testing.assert_array_equal(x, self.f.solve(self.B[:, 0]))

    def test_threads_solve_at_the_same_time(self):
        f = saddle.factor(laplacian(9))
        b = np.arange(729.0)
        want = f.solve(b)
        got = [None] * 4

        def solve(k):
            got[k] = [f.solve(b) for _ in range(20)]

        threads = [threading.Thread(target=solve, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for xs in got:
            for x in xs:
                np.testing.assert_array_equal(x, want)

    def test_the_same_bits_with_any_number_of_threads(self):
        A = laplacian(12)
        b = np.arange(float(A.shape[0]))
        xs = [saddle.factor(A, threads=threads).solve(b) for threads in (1, 2)]
        np.testing.assert_array_equal(xs[0], xs[1])

    def test_a_factor_is_freed(self):
        f = saddle.factor(self.A)
        gone = weakref.ref(f)
        del f
        gc.collect()
        self.assertIsNone(gone())

    def test_a_copy_would_share_what_is_freed(self):
        for copied in (copy.copy, copy.deepcopy, pickle.dumps):
            with self.assertRaisesRegex(TypeError, "neither copied nor pickled"):
                copied(self.f)
        np.testing.assert_array_equal(self.f.solve(self.B), saddle.factor(self.A).solve(self.B))


class Refactor(unittest.TestCase):
    def setUp(self):
        self.A = saddle_point()
        self.b = np.ones(self.A.shape[0])

    def check(self, f, A):
        self.assertLess(error(A, f.solve(self.b), self.b), 1e-14)

    def test_new_values(self):
        for form in ("csc", "csr", "coo", "lil"):
            with self.subTest(form):
                f = saddle.factor(self.A.asformat(form))
                new = self.A.copy()
                new.data *= 1 + 0.5 * np.abs(np.sin(new.data))
                f.refactor(new.asformat(form))
                self.check(f, new)
                f.refactor(self.A.asformat(form))
                self.check(f, self.A)

    def test_values_alone(self):
        f = saddle.factor(self.A)
        for scale in (2.0, 3.0):
            f.refactor(scale * self.A.data)
            self.check(f, scale * self.A)
        f.refactor((4 * self.A.data).tolist())
        self.check(f, 4 * self.A)
        f.refactor(self.A.data.astype(np.float32))
        self.check(f, self.A.astype(np.float32).astype(float))

    def test_the_same_arrays_with_other_values(self):
        A = self.A.copy()
        f = saddle.factor(A)
        A.data = A.data * 4
        f.refactor(A)
        self.check(f, A)
        A.data[:] = self.A.data
        f.refactor(A)
        self.check(f, self.A)
        single = sp.csc_matrix((A.data.astype(np.float32), A.indices, A.indptr), A.shape)
        f.refactor(single)
        self.check(f, single.astype(float))
        strided = A.copy()
        strided.indices, strided.indptr = A.indices, A.indptr
        strided.data = np.repeat(5 * A.data, 2)[::2]
        f.refactor(strided)
        self.check(f, 5 * self.A)

    def test_rows_for_columns_with_the_same_arrays(self):
        A = unsymmetric().tocsc()
        f = saddle.factor(A)
        rows = sp.csr_matrix((A.data, A.indices, A.indptr), A.shape)  # the transpose
        b = np.ones(A.shape[0])
        try:
            f.refactor(rows)
        except saddle.PatternChangedError:
            return
        self.assertLess(error(A.T, f.solve(b), b), 1e-9)

    def test_what_is_told_is_new(self):
        f = saddle.factor(np.diag([1.0, -2.0]))
        self.assertEqual(f.inertia.negative, 1)
        f.refactor(np.diag([1.0, 2.0]))
        self.assertEqual(f.inertia.negative, 0)
        self.assertAlmostEqual(f.logdet.logabsdet, np.log(2.0))

    def test_refusals(self):
        f = saddle.factor(self.A)
        with self.assertRaisesRegex(saddle.PatternChangedError, "factor the matrix anew"):
            f.refactor(self.A + sp.identity(self.A.shape[0], format="csc") * 0.5)
        with self.assertRaisesRegex(ValueError, "shape"):
            f.refactor(saddle_point(61, 25))
        with self.assertRaisesRegex(ValueError, "values"):
            f.refactor(self.A.data[:-1])
        with self.assertRaises(saddle.BadValueError):
            f.refactor(np.full(self.A.nnz, np.inf))
        f.refactor(self.A)
        self.check(f, self.A)

    def test_changing_what_another_thread_uses_is_refused(self):
        A = laplacian(14)
        within = threading.Event()
        go_on = threading.Event()

        def wait(stage, done, total, residual):
            within.set()
            go_on.wait()

        f = saddle.factor(A, progress=lambda *_: None)
        f._calls.report = wait
        thread = threading.Thread(target=f.refactor, args=(A,))
        thread.start()
        within.wait()
        with self.assertRaisesRegex(RuntimeError, "another thread"):
            f.solve(np.ones(A.shape[0]))
        with self.assertRaisesRegex(RuntimeError, "in use"):
            f.refactor(A)
        go_on.set()
        thread.join()
        self.assertLess(error(A, f.solve(np.ones(A.shape[0])), np.ones(A.shape[0])), 1e-14)


class Tells(unittest.TestCase):
    def test_inertia_rank_and_shape(self):
        A = saddle_point(60, 25)
        f = saddle.factor(A)
        self.assertEqual(f.inertia, (60, 25, 0, True))
        self.assertEqual(f.inertia.negative, 25)
        self.assertEqual(f.rank, 85)
        self.assertEqual(f.shape, (85, 85))
        self.assertEqual(f.nnz, f.info.factor_nnz)
        self.assertIn("85 x 85", repr(f))

    def test_the_smallest(self):
        for n in (0, 1):
            f = saddle.factor(-np.eye(n), scaling="none")
            np.testing.assert_array_equal(f.D.toarray(), -np.eye(n))
            np.testing.assert_array_equal(f.L.toarray(), np.eye(n))
            self.assertEqual(f.inertia, (0, n, 0, True))
            self.assertEqual(f.logdet, ((-1.0) ** n, 0.0))

    def test_singular(self):
        A = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, -1.0]])
        f = saddle.factor(A)
        self.assertEqual(f.rank, 2)
        self.assertEqual(f.inertia[:3], (1, 1, 1))
        self.assertEqual(f.condition, np.inf)
        self.assertEqual(f.logdet, (0.0, -np.inf))
        np.testing.assert_allclose(A @ f.solve(np.array([1.0, 2.0, 1.0])), [1.0, 2.0, 1.0])

    def test_factors_multiply_to_the_matrix(self):
        for seed in range(3):
            A = saddle_point(seed=seed)
            f = saddle.factor(A)
            S, p = sp.diags(f.scale), f.perm
            B = (S @ A @ S).tocsc()[p][:, p]
            LDL = f.L @ f.D @ f.L.T
            self.assertLess(abs(B - LDL).max(), 1e-13 * abs(B).max())
            self.assertEqual(abs(sp.triu(f.L, 1)).sum(), 0)
            np.testing.assert_array_equal(f.L.diagonal(), 1.0)
            self.assertEqual(sorted(p), list(range(A.shape[0])))

    def test_logdet_and_condition(self):
        for seed in range(5):
            A = saddle_point(12, 5, seed)
            f = saddle.factor(A)
            sign, logabs = np.linalg.slogdet(A.toarray())
            self.assertEqual(f.logdet.sign, sign)
            self.assertAlmostEqual(f.logdet.logabsdet, logabs, places=10)
            condition = np.linalg.cond(A.toarray(), 1)
            self.assertTrue(condition / 3 <= f.condition <= condition * (1 + 1e-10))

    def test_logdet_of_a_determinant_beyond_all_numbers(self):
        A = sp.identity(1000, format="csc") * 1e200
        self.assertAlmostEqual(saddle.factor(A).logdet.logabsdet / (1000 * np.log(1e200)), 1.0, places=12)
        K = sp.block_diag([np.array([[0.0, 1e200], [1e200, 0.0]])] * 3, format="csc")
        sign, logabs = saddle.factor(K).logdet
        self.assertEqual(sign, -1.0)
        self.assertAlmostEqual(logabs / (6 * np.log(1e200)), 1.0, places=12)

    def test_unsymmetric_matrices_have_no_inertia(self):
        f = saddle.factor(unsymmetric())
        for name in ("inertia", "rank"):
            with self.assertRaises(saddle.NotSupportedError):
                getattr(f, name)
        with self.assertRaisesRegex(saddle.WrongOrderError, "symmetric matrix and the method direct"):
            f.D
        self.assertTrue(1 <= f.condition < 100)

    def test_info(self):
        f = saddle.factor(saddle_point())
        info = f.info
        self.assertEqual(info["n"], 85)
        self.assertEqual(info.n, 85)
        self.assertIn("inertia_certain", info)
        self.assertEqual(len(info), len(list(info)))
        self.assertEqual(info.status, 0)
        self.assertIsNone(info.blocks)
        self.assertTrue(np.isnan(info.backward_error))
        self.assertIn("n", dir(info))
        self.assertEqual(info.help("n"), "rows of the matrix")
        self.assertIn("n=85", repr(info))
        with self.assertRaises(AttributeError):
            info.nothing
        with self.assertRaises(KeyError):
            info["nothing"]


class Options(unittest.TestCase):
    def test_by_name(self):
        A = saddle_point()
        f = saddle.factor(A, threshold=0.5, check=True, threads=1)
        f.solve(np.ones(85))
        self.assertLessEqual(f.info.largest_l, 2.0 + 1e-12)
        self.assertEqual(f.info.threads, 1)

    def test_unknown_or_wrong(self):
        with self.assertRaisesRegex(saddle.BadOptionError, "threshhold"):
            saddle.factor(np.eye(2), threshhold=0.1)
        with self.assertRaisesRegex(ValueError, "method"):
            saddle.factor(np.eye(2), method="magic")
        with self.assertRaises(saddle.BadOptionError):
            saddle.factor(np.eye(2), threshold=2.0)

    def test_order_and_scaling_of_the_caller(self):
        A = saddle_point()
        order = np.random.default_rng(0).permutation(85)
        scale = np.full(85, 0.5)
        f = saddle.factor(A, order=order, scaling=scale, simplicial="off")
        np.testing.assert_array_equal(f.scale, scale)
        self.assertLess(error(A, f.solve(np.ones(85)), np.ones(85)), 1e-14)
        with self.assertRaises(saddle.SaddleError):
            saddle.factor(A, order=np.zeros(85, int))
        with self.assertRaisesRegex(TypeError, "integers"):
            saddle.factor(A, order=order + 0.5)
        with self.assertRaisesRegex(ValueError, "lengths"):
            saddle.factor(A, order=order, scaling=scale[1:])

    def test_signs(self):
        A = saddle_point()
        signs = np.r_[np.ones(60), -np.ones(25)]
        f = saddle.factor(A, factorization="static", signs=signs)
        self.assertEqual(f.info.regularised_negative, 25)
        self.assertLess(error(A, f.solve(np.ones(85)), np.ones(85)), 1e-9)

    def test_set_options(self):
        A = saddle_point()
        f = saddle.factor(A, check=True)
        f.set_options(threshold=0.5)
        f.refactor(A)
        self.assertLessEqual(f.info.largest_l, 2.0 + 1e-12)
        with self.assertRaises(saddle.BadOptionError):
            f.set_options(nothing=1)
        f.refactor(A)

    def test_what_is_told_depends_on_options(self):
        f = saddle.factor(saddle_point(), certify=False)
        self.assertFalse(f.inertia.certain)
        f.set_options(certify=True)
        self.assertEqual(f.inertia, (60, 25, 0, True))

    def test_the_table(self):
        table = saddle.options()
        self.assertIn("direct", table["method"].words)
        self.assertEqual(table["restart"].default, 100)
        self.assertTrue(all(option.help for option in table.values()))


class Once(unittest.TestCase):
    def test_solve(self):
        A = saddle_point()
        x, info = saddle.solve(A, np.ones(85), return_info=True)
        self.assertLess(error(A, x, np.ones(85)), 1e-9)
        self.assertTrue(info.converged)
        X = saddle.solve(A, np.eye(85), method="direct")
        np.testing.assert_allclose(A @ X, np.eye(85), atol=1e-12)

    def test_aliases(self):
        self.assertIs(saddle.ldl, saddle.factor)
        self.assertIs(saddle.spildl, saddle.preconditioner)


if __name__ == "__main__":
    unittest.main()
