"""Errors, warnings, progress, Ctrl-C."""
import contextlib
import io
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
import types
import unittest
import warnings
from unittest import mock

import numpy as np
import scipy.sparse as sp
from problems import error, laplacian, saddle_point, unsymmetric

import saddle

SINGULAR = np.array([[1.0, 1.0], [1.0, 1.0]])


class Errors(unittest.TestCase):
    def test_each_status_of_the_header_has_an_exception(self):
        header = (pathlib.Path(__file__).parents[3] / "include/saddle/saddle.h").read_text()
        rows = [line.split("(", 1)[1].split(",") for line in header.splitlines() if line.strip().startswith("ROW(SADDLE_")]
        codes = {int(row[1]): row[0] for row in rows if len(row) > 2}
        self.assertEqual(codes[-10], "SADDLE_SINGULAR")
        from saddle._errors import CLASSES, error_of

        files = {code for code, name in codes.items() if name.startswith("SADDLE_FILE")}
        self.assertEqual(set(CLASSES), set(codes) - {0} - files)
        for code in codes:
            self.assertEqual(error_of(code).status, code)
            self.assertTrue(str(error_of(code)))

    def test_singular_and_inconsistent(self):
        f = saddle.factor(SINGULAR)
        with self.assertRaises(np.linalg.LinAlgError) as caught:
            f.solve(np.array([1.0, 2.0]))
        self.assertIsInstance(caught.exception, saddle.SingularError)
        self.assertEqual(caught.exception.status, -10)
        self.assertEqual(caught.exception.info.status, -10)
        self.assertEqual(caught.exception.x.shape, (2,))
        self.assertTrue(np.isfinite(caught.exception.x).all())
        np.testing.assert_allclose(SINGULAR @ f.solve(np.ones(2)), 1.0)

    def test_not_converged_has_the_best_x(self):
        A = laplacian(8)
        with self.assertRaises(saddle.NotConvergedError) as caught:
            saddle.solve(A, np.ones(512), method="diagonal", krylov="cg", maxiter=3)
        self.assertEqual(caught.exception.info.reason, "iteration limit")
        self.assertLess(error(A, caught.exception.x, np.ones(512)), 1.0)

    def test_not_definite(self):
        with self.assertRaises(saddle.NotDefiniteError):
            saddle.factor(saddle_point(), factorization="cholesky")

    def test_memory_limit(self):
        with self.assertRaises(MemoryError) as caught:
            saddle.factor(laplacian(10), max_memory="100K")
        self.assertIsInstance(caught.exception, saddle.MemoryLimitError)

    def test_no_device(self):
        with mock.patch.dict(os.environ, SADDLE_CUDA_MODULE="/nothing.so"), self.assertRaises(saddle.DeviceError):
            saddle.factor(np.eye(2), device="cuda")
        self.assertEqual(set(saddle.devices()), {"cpu", "cuda"})


class Warnings(unittest.TestCase):
    def test_an_option_without_effect(self):
        for A in (np.eye(3), laplacian(20)):  # without hooks, and with them
            for _ in range(2):
                with self.assertWarnsRegex(saddle.SaddleWarning, "option sweeps has no effect") as caught:
                    saddle.factor(A, sweeps=3)
                self.assertEqual(caught.filename, __file__)

    def test_at_the_line_of_the_caller(self):
        for call in (lambda: saddle.preconditioner(np.eye(3), "ilu", sweep_order="block"),
                     lambda: saddle.solve(np.eye(3), np.ones(3), method="direct", sweeps=3),
                     lambda: saddle.solve(laplacian(20), np.ones(8000), method="direct", sweeps=3)):
            with self.assertWarnsRegex(saddle.SaddleWarning, "has no effect") as caught:
                call()
            self.assertEqual(caught.filename, __file__)

    def test_what_is_kept_of_options_does_not_grow(self):
        from saddle import _solver

        with mock.patch.object(_solver, "WARNINGS_KEPT", 10):
            for k in range(30):
                with self.assertWarnsRegex(saddle.SaddleWarning, "sweeps has no effect"):
                    saddle.factor(np.eye(2), sweeps=k + 10)
                self.assertLessEqual(len(_solver._warnings), 10)

    def test_nothing_to_warn_of(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            saddle.factor(np.eye(3), threshold=0.1)
            saddle.factor(laplacian(20), threshold=0.1)

    def test_as_errors_they_leave_nothing_behind(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.assertRaises(saddle.SaddleWarning):
                saddle.factor(laplacian(20), sweeps=3)

    def test_log(self):
        lines = []
        f = saddle.factor(np.eye(3), sweeps=3, log=lambda level, line: lines.append((level, line)))
        f.solve(np.ones(3))
        self.assertIn("warning", {level for level, line in lines})
        self.assertIn("info", {level for level, line in lines})
        self.assertTrue(all(isinstance(line, str) for level, line in lines))

    def test_an_exception_of_log_is_raised(self):
        def log(level, line):
            raise LookupError(line)

        with self.assertRaises(LookupError):
            saddle.factor(saddle_point(), log=log)


class Progress(unittest.TestCase):
    def setUp(self):
        self.A = laplacian(20)

    def test_a_function_is_told(self):
        told = []
        f = saddle.factor(self.A, progress=lambda *report: told.append(report))
        stages = {stage for stage, *_ in told}
        self.assertLessEqual({"analyse", "factor"}, stages)
        for stage, done, total, residual in told:
            self.assertTrue(0 <= done <= total)
            self.assertIsInstance(residual, float)
        told.clear()
        f.solve(np.ones(8000))
        self.assertEqual({stage for stage, *_ in told}, {"solve"})

    def test_true_cancels(self):
        with self.assertRaises(saddle.CancelledError):
            saddle.factor(self.A, progress=lambda stage, *_: stage == "factor")

    def test_its_exception_is_raised(self):
        def report(stage, done, total, residual):
            raise LookupError(stage)

        with self.assertRaises(LookupError):
            saddle.factor(self.A, progress=report)

    def test_a_cancelled_refactor_can_be_repeated(self):
        stop = []
        f = saddle.factor(self.A, progress=lambda *_: bool(stop))
        stop.append(1)
        with self.assertRaises(saddle.CancelledError):
            f.refactor(self.A)
        stop.clear()
        f.refactor(self.A)
        self.assertLess(error(self.A, f.solve(np.ones(8000)), np.ones(8000)), 1e-14)

    def test_using_the_factors_inside_is_refused(self):
        made = []

        def report(*_):
            if made:
                made[0].refactor(self.A)

        made.append(saddle.factor(self.A, progress=report))
        with self.assertRaisesRegex(RuntimeError, "in use"):
            made[0].refactor(self.A)

    def test_tqdm(self):
        bars = []

        class Bar:
            def __init__(self, total, desc, leave):
                self.total, self.desc, self.n, self.closed = total, desc, 0, False
                bars.append(self)

            def update(self, more):
                self.n += more

            def reset(self):
                self.n = 0

            def set_postfix_str(self, text, refresh):
                self.text = text

            def close(self):
                self.closed = True

        package, auto = types.ModuleType("tqdm"), types.ModuleType("tqdm.auto")
        auto.tqdm = Bar
        with mock.patch.dict(sys.modules, {"tqdm": package, "tqdm.auto": auto}):
            f = saddle.factor(self.A, progress=True)
            f.solve(np.ones(8000))
        self.assertLessEqual({"analyse", "factor", "solve"}, {bar.desc for bar in bars})
        self.assertTrue(all(bar.closed for bar in bars))
        self.assertTrue(all(bar.n <= bar.total for bar in bars))
        self.assertIn("residual", bars[-1].text)

    def test_the_real_tqdm(self):
        try:
            import tqdm.auto  # noqa: F401
        except ImportError:
            self.skipTest("tqdm is not installed")
        with contextlib.redirect_stderr(io.StringIO()) as said:
            saddle.factor(self.A, progress=True)
        self.assertIn("factor", said.getvalue())

    def test_a_line_without_tqdm(self):
        class Terminal(io.StringIO):
            def isatty(self):
                return True

        for stream, empty in ((Terminal(), False), (io.StringIO(), True)):
            with mock.patch.dict(sys.modules, {"tqdm": None, "tqdm.auto": None}), contextlib.redirect_stderr(stream):
                saddle.factor(self.A, progress=True)
            self.assertEqual(stream.getvalue() == "", empty)


def child(code):
    """A program that says `ready`, and waits for a line before it goes on."""
    code = textwrap.dedent(code)
    tests = str(pathlib.Path(__file__).parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")])}
    return subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, env=environment)


class Signals(unittest.TestCase):
    def test_ctrl_c_cancels_a_factorization(self):
        # The child is stopped inside the library, at a report of "factor"; the signal is there when it goes on.
        process = child("""
            import numpy, saddle, sys
            from problems import laplacian
            reports = []
            def report(stage, done, total, residual):
                if stage == "factor" and done:
                    reports.append(done / total)
                    if len(reports) == 1:
                        print("ready", flush=True)
                        sys.stdin.readline()
            A = laplacian(24)
            try:
                saddle.factor(A, progress=report)
            except KeyboardInterrupt:
                print("interrupted", max(reports) < 1)
            """)
        said = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate("go on\n", timeout=600)
        self.assertEqual((said + rest).split("\n"), ["ready", "interrupted True", ""])

    def test_ctrl_c_in_an_endless_loop_of_calls(self):
        process = child("""
            import numpy, saddle
            from problems import laplacian
            A = laplacian(20)
            f = saddle.factor(A)
            try:
                print("ready", flush=True)
                while True:
                    f.refactor(A)
                    f.solve(numpy.ones(8000))
            except KeyboardInterrupt:
                f.refactor(A)
                print("interrupted", f.solve(numpy.ones(8000)).shape)
            """)
        said = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=600)
        self.assertEqual((said + rest).split("\n"), ["ready", "interrupted (8000,)", ""])

    def test_an_exception_of_another_handler(self):
        def late(number, frame):
            raise TimeoutError("late")

        A = laplacian(20)
        f = saddle.factor(A)
        before = signal.signal(signal.SIGALRM, late)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with self.assertRaisesRegex(TimeoutError, "late"):
                while True:
                    f.refactor(A)
            self.assertIs(signal.getsignal(signal.SIGALRM), late)
        finally:
            signal.signal(signal.SIGALRM, before)
        f.refactor(A)

    def test_a_handler_that_only_notes_does_not_cancel(self):
        seen = []
        before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
        try:
            sent = []

            def report(stage, done, total, residual):
                if stage == "factor" and not sent:
                    sent.append(os.kill(os.getpid(), signal.SIGINT))

            saddle.factor(laplacian(20), progress=report)
        finally:
            signal.signal(signal.SIGINT, before)
        self.assertEqual(seen, [signal.SIGINT])

    def test_the_wakeup_descriptor_of_others_is_told(self):
        read, write = os.pipe()
        os.set_blocking(write, False)
        os.set_blocking(read, False)
        old = signal.set_wakeup_fd(write)
        before = signal.signal(signal.SIGUSR1, lambda *_: None)
        try:
            saddle.factor(laplacian(20), progress=lambda *_: os.kill(os.getpid(), signal.SIGUSR1))
            self.assertEqual(set(os.read(read, 1000)), {signal.SIGUSR1})
        finally:
            self.assertEqual(signal.set_wakeup_fd(old), write)
            signal.signal(signal.SIGUSR1, before)
            os.close(read)
            os.close(write)

    def test_a_handler_that_raises_while_handlers_change_leaves_them_as_they_were(self):
        import _signal

        f = saddle.factor(np.eye(2), progress=lambda *_: None)
        kept = [signal.signal(number, lambda *_: None) for number in (signal.SIGUSR1, signal.SIGUSR2)]
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2)}
        try:
            for last in range(1, 7):  # three are replaced, and put back
                count = iter(range(1, 100))

                def set_one(number, handler):
                    if next(count) == last:
                        raise KeyboardInterrupt
                    return real(number, handler)

                real = _signal.signal
                with mock.patch("_signal.signal", set_one), self.assertRaises(KeyboardInterrupt):
                    f.solve(np.ones(2))
                self.assertEqual({number: signal.getsignal(number) for number in before}, before)
                np.testing.assert_array_equal(f.solve(np.ones(2)), 1.0)
        finally:
            for number, handler in zip((signal.SIGUSR1, signal.SIGUSR2), kept):
                signal.signal(number, handler)

    def test_ctrl_c_between_two_lines_leaves_the_factors_usable(self):
        class Lock:
            """A handler raises at the end of the k-th `with`."""

            def __init__(self, k):
                self.left = k

            def __enter__(self):
                pass

            def __exit__(self, *unused):
                self.left -= 1
                if not self.left:
                    raise KeyboardInterrupt

        f = saddle.factor(np.eye(2))
        for call in (lambda: f.solve(np.ones(2)), lambda: f.refactor(np.eye(2))):
            for k in (1, 2):
                f._use.lock = Lock(k)
                try:
                    call()
                except KeyboardInterrupt:
                    pass
                f._use.lock = threading.Lock()
                f.refactor(2 * np.eye(2))
                np.testing.assert_array_equal(f.solve(np.ones(2)), 0.5)

    def test_other_threads(self):
        failures = []

        def work():
            try:
                A = laplacian(20)
                saddle.factor(A).solve(np.ones(8000))
            except BaseException as problem:
                failures.append(problem)

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


class Fork(unittest.TestCase):
    def test_factors_can_be_used_in_a_child(self):
        A = laplacian(20)
        f = saddle.factor(A)
        want = f.solve(np.ones(8000))
        pid = os.fork()
        if pid == 0:
            same = False
            with contextlib.suppress(BaseException), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                f.refactor(A)
                same = np.array_equal(f.solve(np.ones(8000)), want)
            os._exit(0 if same else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)


if __name__ == "__main__":
    unittest.main()
