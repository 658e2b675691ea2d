"""The package as a whole: its examples, what it imports, the program, leaks."""
import doctest
import gc
import importlib
import importlib.util
import os
import pathlib
import pkgutil
import subprocess
import sys
import unittest

import numpy as np
from problems import saddle_point

import saddle

ROOT = pathlib.Path(__file__).resolve().parents[3]


def python(*arguments, **environment):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env={**os.environ, **environment})


class Package(unittest.TestCase):
    def test_examples_in_docstrings(self):
        names = ["saddle", *(f"saddle.{module.name}" for module in pkgutil.iter_modules(saddle.__path__))]
        ran = 0
        for name in names:
            if not name.endswith("__main__"):
                result = doctest.testmod(importlib.import_module(name))
                self.assertEqual(result.failed, 0, name)
                ran += result.attempted
        self.assertGreater(ran, 30)

    def test_import_needs_no_scipy(self):
        code = """
import sys
sys.modules["scipy"] = None
import numpy as np, saddle
before = set(sys.modules)
f = saddle.factor(np.array([[0.0, 2.0], [2.0, 1.0]]))
assert np.allclose(f.solve(np.array([2.0, 3.0])), [1.0, 1.0]), f
assert f.inertia == (1, 1, 0, True) and f.logdet.sign == -1 and f.perm.shape == (2,)
f = saddle.factor((np.array([2.0, 2.0, 1.0]), (np.array([0, 1, 1]), np.array([1, 0, 1]))))
assert f.rank == 2
print("fine", sorted(name for name in sys.modules if name.startswith("scipy.")))
"""
        run = python("-c", code)
        self.assertEqual(run.stdout, "fine []\n", run.stderr)

    def test_the_program(self):
        run = python("-m", "saddle", "--version")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn(saddle.__version__, run.stdout)
        self.assertEqual(python("-m", "saddle", "nonsense").returncode, 2)
        missing = python("-m", "saddle", SADDLE_PROGRAM="/nothing")
        self.assertIn("/nothing", missing.stderr)

    def test_a_library_that_is_not_there(self):
        run = python("-c", "import saddle", SADDLE_LIBRARY="/nothing.so")
        self.assertIn("ImportError", run.stderr)
        self.assertIn("SADDLE_LIBRARY", run.stderr)

    def test_every_name_is_there(self):
        for name in saddle.__all__:
            self.assertTrue(hasattr(saddle, name), name)

    def test_types(self):
        if importlib.util.find_spec("mypy") is None:
            self.skipTest("mypy is not installed")
        run = python("-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", os.devnull,
                     str(pathlib.Path(saddle.__file__).parent))
        self.assertEqual(run.returncode, 0, run.stdout)


def resident():
    """Bytes of memory of this process."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Leaks(unittest.TestCase):
    def grows(self, work, bytes_a_round):
        """Whether 200 rounds, after others that fill caches, take more memory than a part of what each uses."""
        for _ in range(50):
            work()
        gc.collect()
        before = resident()
        for _ in range(200):
            work()
        gc.collect()
        return resident() - before > 20 * bytes_a_round

    def test_factors_solves_and_failures(self):
        A = saddle_point(600, 200)
        b = np.ones((800, 3))
        singular = np.ones((2, 2))

        def work():
            f = saddle.factor(A, threshold=0.1, log=lambda level, line: None)
            f.refactor(A)
            f.solve(b, return_info=True)
            f.inertia, f.condition, f.logdet, f.info
            try:
                saddle.factor(singular).solve(np.array([1.0, 2.0]))
            except saddle.SingularError:
                pass
            try:
                saddle.factor(A, nothing=1)
            except saddle.BadOptionError:
                pass

        self.assertFalse(self.grows(work, saddle.factor(A).info.peak_bytes))


if __name__ == "__main__":
    unittest.main()
