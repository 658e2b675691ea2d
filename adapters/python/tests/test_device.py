"""Arrays on a GPU. The library's own module for an emulated GPU stands in for one, and a class of this file for CuPy
and for arrays of DLPack; no real GPU has run this yet."""
import ctypes
import os
import pathlib
import subprocess
import sys
import unittest

import numpy as np
import scipy.sparse as sp
from problems import error, saddle_point

import saddle

EMULATED = os.environ.get("SADDLE_TEST_EMULATED", "")
INSIDE = os.environ.get("SADDLE_CUDA_MODULE", "") == EMULATED != ""


class Memory:
    """Device memory of the emulated GPU."""

    def __init__(self, shape, dtype=np.float64, order="F"):
        module = ctypes.CDLL(EMULATED)
        take, self.give = module.emulated_memory_take, module.emulated_memory_give
        take.restype, take.argtypes, self.give.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]
        self.shape, self.dtype, self.order = tuple(shape), np.dtype(dtype), order
        self.bytes = int(np.prod(self.shape)) * self.dtype.itemsize
        self.address = take(max(self.bytes, 1))

    def host(self):
        raw = (ctypes.c_char * self.bytes).from_address(self.address)
        return np.frombuffer(raw, self.dtype).reshape(self.shape, order=self.order)

    def __del__(self):
        self.give(self.address)


class Interface(Memory):
    """As CuPy's arrays are."""

    stream = None

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self.address, False), "version": 3,
                "strides": self.host().strides, "stream": self.stream}

    def get(self):
        return self.host().copy()


def empty_like(array):  # as cupy.empty_like, found by the name of the class's module
    return type(array)(array.shape, array.dtype)


class Packed(Memory):
    """As arrays of DLPack are."""

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, stream=None):
        from saddle._arrays import _Tensor

        self.asked = stream
        self.lengths = (ctypes.c_int64 * len(self.shape))(*self.shape)
        strides = [stride // self.dtype.itemsize for stride in self.host().strides]
        self.strides = (ctypes.c_int64 * len(strides))(*strides)
        self.tensor = _Tensor(data=self.address - 16, device_type=2, ndim=len(self.shape), code=2,
                              bits=8 * self.dtype.itemsize, lanes=1, shape=self.lengths, strides=self.strides,
                              byte_offset=16)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(self.tensor), b"dltensor", None)


def there(array, kind=Interface):
    made = kind(array.shape, array.dtype)
    made.host()[...] = array
    return made


class Sparse:
    """As cupyx.scipy.sparse.csr_matrix is: the pattern is on the GPU too."""

    format = "csr"

    def __init__(self, A):
        A = A.tocsr()
        self.shape = A.shape
        self.data, self.indices, self.indptr = there(A.data), there(A.indices), there(A.indptr)

    def tocsr(self):
        return self


class OnGpu(unittest.TestCase):
    def setUp(self):
        self.A = saddle_point()
        self.b = np.arange(85.0) + 1
        self.f = saddle.factor(Sparse(self.A))

    def test_the_matrix_decides_the_device(self):
        self.assertEqual(self.f.info.device, "cuda")
        self.assertEqual(self.f.inertia, (60, 25, 0, True))
        self.assertIn("mulated", saddle.devices()["cuda"])

    def test_in_and_out_without_a_copy(self):
        for kind in (Interface, Packed):
            with self.subTest(kind.__name__):
                b = there(self.b, kind)
                x = self.f.solve(b)
                self.assertIs(type(x), kind)
                self.assertNotEqual(x.address, b.address)
                self.assertLess(error(self.A, x.host(), self.b), 1e-14)
                np.testing.assert_array_equal(b.host(), self.b)
                out = kind((85,))
                self.assertIs(self.f.solve(b, out=out), out)
                np.testing.assert_array_equal(out.host(), x.host())

    def test_many_columns_and_mixed_places(self):
        B = np.asfortranarray(np.random.default_rng(0).standard_normal((85, 3)))
        X = self.f.solve(there(B))
        self.assertEqual(X.shape, (85, 3))
        for k in range(3):
            self.assertLess(error(self.A, X.host()[:, k], B[:, k]), 1e-14)
        self.assertLess(error(self.A, self.f.solve(self.b), self.b), 1e-14)
        out = Interface((85,))
        self.f.solve(self.b, out=out)
        self.assertLess(error(self.A, out.host(), self.b), 1e-14)

    def test_new_values(self):
        values = there(2 * self.A.tocsr().data)
        self.f.refactor(values)
        self.assertLess(error(2 * self.A, self.f.solve(self.b), self.b), 1e-14)
        self.f.refactor(Sparse(3 * self.A))
        self.assertLess(error(3 * self.A, self.f.solve(self.b), self.b), 1e-14)

    def test_refusals(self):
        for b, kind, words in [
            (there(self.b.astype(np.float32)), TypeError, "float32.*float64"),
            (there(self.b[:-1]), ValueError, "shape"),
            (Interface((85, 2), order="C"), ValueError, "column by column"),
        ]:
            with self.subTest(words), self.assertRaisesRegex(kind, words):
                self.f.solve(b)
        with self.assertRaisesRegex(TypeError, "sparse"):
            saddle.factor(there(np.eye(2)))
        with self.assertRaisesRegex(ValueError, "device='cuda'"):
            saddle.factor(self.A, device="cpu").solve(there(self.b))
        with self.assertRaisesRegex(ValueError, "device='cuda'"):
            saddle.factor(Sparse(self.A), device="cpu")

    def test_a_packed_array_waits_in_the_default_stream(self):
        b = there(self.b, Packed)
        self.f.solve(b)
        self.assertEqual(b.asked, 1)

    def test_an_array_in_a_stream_of_its_own(self):
        for stream in (1, 2, None):
            b = there(self.b)
            b.stream = stream
            x = self.f.solve(b)
            self.assertLess(error(self.A, x.host(), self.b), 1e-14)


if not INSIDE:  # they run in a process of their own, below
    del OnGpu


class Wrapping(unittest.TestCase):
    def test_host_arrays_of_dlpack_are_numpys(self):
        class Host:
            def __init__(self, array):
                self.array = array

            def __dlpack_device__(self):
                return (1, 0)

            def __array__(self, dtype=None, copy=None):
                return self.array

        np.testing.assert_array_equal(saddle.factor(2 * np.eye(3)).solve(Host(np.ones(3))), 0.5)

    def test_a_gpu_array_for_a_factor_on_the_host_is_refused(self):
        class There:
            __cuda_array_interface__ = {"shape": (3,), "typestr": "<f8", "data": (4096, False), "version": 3}

        for out in (None, np.empty(3)):
            with self.assertRaisesRegex(ValueError, "device='cuda'"):
                saddle.factor(np.eye(3)).solve(There(), out=out)

    def test_on_the_emulated_gpu(self):
        if INSIDE:
            self.skipTest("this is it")
        if not EMULATED or not pathlib.Path(EMULATED).exists():
            self.skipTest("the emulated GPU is not built")
        run = subprocess.run([sys.executable, __file__, "OnGpu"], capture_output=True, text=True,
                             env={**os.environ, "SADDLE_CUDA_MODULE": EMULATED, "OMP_WAIT_POLICY": "passive"})
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("Ran 7 tests", run.stderr)
        self.assertNotIn("skipped", run.stderr)


if __name__ == "__main__":
    unittest.main()
