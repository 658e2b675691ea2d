"""Every form in which a matrix may be given leads to the same solution."""
import unittest

import numpy as np
import scipy.sparse as sp
from problems import error, saddle_point, unsymmetric

import saddle

FORMATS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")


class Forms(unittest.TestCase):
    def setUp(self):
        self.A = saddle_point()
        self.b = np.arange(1.0, 1.0 + self.A.shape[0])
        self.x = saddle.factor(self.A).solve(self.b)
        self.assertLess(error(self.A, self.x, self.b), 1e-14)

    def same(self, A, **options):
        x = saddle.factor(A, **options).solve(self.b)
        self.assertLess(error(self.A, x, self.b), 1e-14)
        np.testing.assert_allclose(x, self.x, rtol=1e-9)

    def test_sparse_formats(self):
        for form in FORMATS:
            for kind in ("matrix", "array"):
                make = getattr(sp, f"{form}_{kind}")
                with self.subTest(form=form, kind=kind):
                    self.same(make(self.A))

    def test_dense(self):
        self.same(self.A.toarray())
        self.same(np.asfortranarray(self.A.toarray()))
        self.same(self.A.toarray().tolist())

    def test_dense_triangles_are_taken_from_the_array(self):
        self.same(self.A.toarray(), symmetric="lower")
        self.same(self.A.toarray() + np.triu(np.ones(self.A.shape), 1), symmetric="lower")
        self.same(self.A.toarray() + np.tril(np.ones(self.A.shape), -1), symmetric="upper")

    def test_triangles(self):
        for form in ("csr", "csc", "coo"):
            with self.subTest(form=form):
                self.same(sp.tril(self.A, format=form), symmetric="lower")
                self.same(sp.triu(self.A, format=form), symmetric="upper")
                self.same(self.A.asformat(form), symmetric=True)

    def test_tuples_of_arrays(self):
        coordinates = self.A.tocoo()
        self.same((self.A.data, self.A.indices, self.A.indptr))
        self.same((coordinates.data, (coordinates.row, coordinates.col)))

    def test_wide_indices(self):
        A = self.A.copy()
        A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
        self.same(A)

    def test_indices_that_do_not_fit_are_refused(self):
        indices = self.A.indices.astype(np.int64)
        indices[3] = 2**31
        with self.assertRaisesRegex(ValueError, "2147483647"):
            saddle.factor((self.A.data, indices, self.A.indptr))

    def test_unsorted_indices_and_duplicates(self):
        A = self.A.tocoo()
        half = sp.coo_matrix((np.tile(A.data / 2, 2), (np.tile(A.row, 2)[::-1], np.tile(A.col, 2)[::-1])), A.shape)
        half.data = half.data[::-1].copy()
        self.same(half)
        raw = sp.csc_matrix((np.repeat(self.A.data / 2, 2), np.repeat(self.A.indices, 2), 2 * self.A.indptr), A.shape)
        self.same(raw)

    def test_number_types(self):
        K = np.array([[2, 1, 0], [1, 0, 3], [0, 3, 1]])
        x = saddle.factor(K.astype(float)).solve(np.ones(3))
        for kind in (np.float32, np.float16, np.longdouble, np.int8, np.int64, np.uint8, ">f8"):
            with self.subTest(kind=kind):
                np.testing.assert_allclose(saddle.factor(K.astype(kind)).solve(np.ones(3)), x, rtol=1e-14)
                np.testing.assert_allclose(saddle.factor(K.astype(kind)[::-1][::-1]).solve(np.ones(3)), x, rtol=1e-14)
        truth = np.array([[True, True], [True, False]])
        np.testing.assert_allclose(saddle.solve(truth, [2, 1]), [1, 1])

    def test_single_precision_values_are_not_copied(self):
        A = self.A.astype(np.float32)
        x = saddle.factor(A).solve(self.b)
        self.assertLess(error(A.astype(float), x, self.b), 1e-14)

    def test_strided_values(self):
        A = self.A.copy()
        A.data = np.repeat(A.data, 2)[::2]
        self.assertFalse(A.data.flags.c_contiguous)
        self.same(A)

    def test_unsymmetric(self):
        A = unsymmetric()
        for form in ("csr", "csc", "coo"):
            for method in ("direct", "auto"):
                x = saddle.solve(A.asformat(form), np.ones(40), method=method)
                self.assertLess(error(A, x, np.ones(40)), 1e-9)

    def test_empty(self):
        f = saddle.factor(sp.csc_matrix((0, 0)))
        self.assertEqual(f.solve(np.empty(0)).shape, (0,))
        self.assertEqual(saddle.solve(np.empty((0, 0)), np.empty((0, 3))).shape, (0, 3))


class Refusals(unittest.TestCase):
    def refuse(self, kind, words, A, **options):
        with self.assertRaisesRegex(kind, words):
            saddle.factor(A, **options)

    def test_complex_is_refused_by_name(self):
        self.refuse(TypeError, "complex128", np.eye(2) * 1j)
        self.refuse(TypeError, "complex64", sp.identity(3, dtype=np.complex64, format="csr"))

    def test_no_numbers(self):
        self.refuse(TypeError, "object", np.array([[None, 1], [1, None]], dtype=object))
        self.refuse(TypeError, "<U1", np.array([["a", "b"], ["b", "a"]]))

    def test_not_square(self):
        self.refuse(ValueError, "2", np.ones((2, 3)))

    def test_wrong_dimensions(self):
        self.refuse(ValueError, "3 dimensions", np.ones((2, 2, 2)))
        self.refuse(ValueError, "1 dimension", np.ones(4))

    def test_wrong_word_for_symmetric(self):
        self.refuse(ValueError, "'middle'", np.eye(2), symmetric="middle")
        self.refuse(ValueError, "symmetric is", np.eye(2), symmetric=[])

    def test_both_triangles_where_one_was_promised(self):
        self.refuse(saddle.BadMatrixError, "triangle|diagonal", saddle_point(), symmetric="lower")

    def test_triangles_that_disagree(self):
        self.refuse(saddle.BadMatrixError, "differs", unsymmetric(), symmetric=True)
        zero = sp.csc_matrix(([2.0, 0.0, 2.0], [0, 0, 1], [0, 1, 3]), (2, 2))
        self.refuse(saddle.BadMatrixError, "only one is stored", zero, symmetric=True)

    def test_not_finite(self):
        self.refuse(saddle.BadValueError, "nan|NaN", np.array([[1.0, np.nan], [np.nan, 1.0]]))

    def test_lengths_that_do_not_belong_together(self):
        A = saddle_point()
        self.refuse(ValueError, "lengths", (A.data[:-1], A.indices, A.indptr))
        self.refuse(ValueError, "lengths", (A.data, A.indices[:-1], A.indptr))
        self.refuse(TypeError, "tuple", (A.data, A.indices))
        coordinates = A.tocoo()
        self.refuse(ValueError, "lengths", (coordinates.data, (coordinates.row, coordinates.col[1:])))

    def test_indices_out_of_range(self):
        A = saddle_point()
        indices = A.indices.copy()
        indices[5] = 1000
        self.refuse(saddle.BadMatrixError, "1000", (A.data, indices, A.indptr))
        indices[5] = -1
        self.refuse(saddle.BadMatrixError, "-1", (A.data, indices, A.indptr))

    def test_pointers_out_of_range(self):
        A = saddle_point()
        for wrong in (10**6, -1):
            for kind in (np.int32, np.int64):
                pointers = A.indptr.astype(kind)
                pointers[4] = wrong
                self.refuse(saddle.BadMatrixError, "", (A.data, A.indices, pointers))


if __name__ == "__main__":
    unittest.main()
