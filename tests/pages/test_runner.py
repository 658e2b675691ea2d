"""What is measured is kept: resuming, parts alone, limits, and what was said of failures."""
import contextlib
import io
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import fixture
import model
import runner

HERE = pathlib.Path(__file__).resolve().parent
FAKE = str(HERE / "fake.py")


def step(name, *words, limit=300):
    return model.Step(name, (*words, "--json", "{json}"), 1, limit)


def is_there(pid):
    """Whether a process runs; one that has ended and that nobody has waited for does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="saddle-pages.")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.log = os.path.join(self.folder, "log")
        for name, value in (("FAKE_LOG", self.log), ("FAKE_COMMIT", "f00")):
            os.environ[name] = value
            self.addCleanup(os.environ.pop, name, None)

    def ran(self):
        """The steps that the program was started for, in order."""
        return pathlib.Path(self.log).read_text().splitlines() if os.path.exists(self.log) else []

    def run_steps(self, steps, **more):
        """One run; (whether all was done, the records, what was said)."""
        said = io.StringIO()
        store = runner.Store(os.path.join(self.folder, "out"), "fixture")
        try:
            one = runner.Runner(runner.Machine.ask(FAKE), store, "asked", said)
            done = one.run(steps, **more)
            return done, one.records(steps), said.getvalue()
        finally:
            store.close()


class Running(Folder):
    def test_steps_are_run_once_and_found_again(self):
        steps = [step("a", "good", "1"), step("b", "good", "2")]
        _, records, _ = self.run_steps(steps)
        self.assertEqual([r["data"]["number"] for r in records], [1, 2])
        _, records, _ = self.run_steps([*steps, step("c", "good", "3")])
        self.assertEqual(self.ran(), ["good 1", "good 2", "good 3"])
        self.assertEqual([r["step"] for r in records], ["a", "b", "c"])
        self.assertEqual((records[0]["commit"], records[0]["machine"]), ("f00", "cpu: an abacus; memory: 8 GB"))

    def test_another_commit_or_other_words_measure_anew(self):
        self.run_steps([step("a", "good", "1")])
        self.run_steps([step("a", "good", "2")])
        os.environ["FAKE_COMMIT"] = "f01"
        _, records, _ = self.run_steps([step("a", "good", "2")])
        self.assertEqual(self.ran(), ["good 1", "good 2", "good 2"])
        self.assertEqual([r["commit"] for r in records], ["f01"])

    def test_a_line_that_a_crash_left_incomplete_is_passed_over(self):
        steps = [step("a", "good", "1"), step("b", "good", "2")]
        self.run_steps(steps)
        path = pathlib.Path(self.folder, "out", "results.jsonl")
        path.write_text(path.read_text()[:-20])
        _, records, _ = self.run_steps(steps)
        self.assertEqual(self.ran(), ["good 1", "good 2", "good 2"])
        self.assertEqual(len(records), 2)

    def test_only_a_part_is_run_and_run_again(self):
        steps = [step("solve/a", "good", "1"), step("solve/b", "good", "2"), step("solver", "good", "3")]
        part = model.Part("Figure 1", "", ("solve",), lambda results: [])
        mine = [s for s in steps if runner.reads(part, s)]
        self.assertEqual([s.name for s in mine], ["solve/a", "solve/b"])
        self.run_steps(steps)
        self.run_steps(steps, anew=mine, only=mine)
        self.assertEqual(self.ran(), ["good 1", "good 2", "good 3", "good 1", "good 2"])

    def test_what_is_measured_again_in_portions_goes_on_with_the_oldest(self):
        steps = [step("a", "good", "1"), step("b", "good", "2"), step("c", "good", "3")]
        self.run_steps(steps)
        self.run_steps(steps, anew=steps, only=steps[:1])  # a portion that ended after the first
        self.run_steps([*steps, step("d", "good", "4")], anew=steps)
        self.assertEqual(self.ran()[3:], ["good 1", "good 4", "good 2", "good 3", "good 1"])

    def test_a_part_is_named_by_its_number_or_its_beginning(self):
        subject = model.Subject("s", "", "", lambda c: [], tuple(
            model.Part(n, "", (), lambda r: []) for n in ("Figure 3a", "Figure 3b", "Figure 30", "Table 1")), ())
        self.assertEqual([p.number for p in runner.chosen_parts(subject, "figure 3")], ["Figure 3a", "Figure 3b"])
        self.assertEqual([p.number for p in runner.chosen_parts(subject, "Figure 30")], ["Figure 30"])
        with self.assertRaises(runner.Refused):
            runner.chosen_parts(subject, "Figure 4")

    def test_what_exceeds_its_limit_has_failed_of_kind_time_and_leaves_nothing_behind(self):
        limit, child = 1, pathlib.Path(self.log + ".child")
        while not child.exists() or not child.read_text():  # a busy machine may not have come so far
            late = step(f"late{limit}", "late", limit=limit)
            _, (late, good), said = self.run_steps([late, step("a", "good", "1")])
            self.assertEqual((late["failure"], late["data"]), ("time", None))
            self.assertEqual(good["data"], {"number": 1})
            self.assertIn(f"over its limit of {limit} s", said)
            limit *= 2
        pid = child.read_text()
        until = time.monotonic() + 60
        while is_there(pid) and time.monotonic() < until:
            time.sleep(0.02)
        self.assertFalse(is_there(pid))
        self.assertEqual(sorted(os.listdir(os.path.join(self.folder, "out"))), ["results.jsonl"])

    def test_a_failure_keeps_what_the_command_said(self):
        _, (wrong, empty), _ = self.run_steps([step("wrong", "wrong", "A.mtx: no such file"), step("empty", "empty")])
        self.assertEqual(wrong["failure"], "saddle: A.mtx: no such file")
        self.assertIn("no JSON", empty["failure"])

    def test_time_that_is_over_leaves_the_rest_for_the_next_run(self):
        steps = [step("a", "good", "1"), step("b", "good", "2")]
        done, records, said = self.run_steps(steps, minutes=1e-9)
        self.assertFalse(done)
        self.assertIn("left for the next run", said)
        done, records, _ = self.run_steps(steps, minutes=1000)
        self.assertTrue(done)
        self.assertEqual(len(records), 2)

    def test_a_folder_is_of_one_subject_and_one_run(self):
        self.run_steps([step("a", "good", "1")])
        out = os.path.join(self.folder, "out")
        with self.assertRaisesRegex(runner.Refused, "holds the results of fixture"):
            runner.Store(out, "huard")
        store = runner.Store(out, "fixture")
        with self.assertRaisesRegex(runner.Refused, "another run"):
            runner.Store(out, "fixture")
        store.close()

    def test_results_are_drawn_by_their_words_whatever_the_folder_of_the_matrices(self):
        self.run_steps([step("a", "/there/A.mtx", "1"), step("b", "good", "2")])
        self.run_steps([step("b", "good", "3")])  # with --quick, say
        store = runner.Store(os.path.join(self.folder, "out"), "fixture", new=False)
        self.addCleanup(store.close)
        found = store.newest([step("a", "/here/A.mtx", "1"), step("b", "good", "2"), step("c", "good", "4")])
        self.assertEqual([r["words"][:2] for r in found], [["/there/A.mtx", "1"], ["good", "2"]])


class Interrupted(Folder):
    """The whole of it in a process of its own, with a subject of three steps."""
    PROGRAM = """
import runpy, sys, types
sys.dont_write_bytecode = True
sys.path.insert(0, {pages!r})
import model
module = types.ModuleType("standing")
words = [("good", "1"), ("wait", {gate!r}), ("good", "3")]
module.SUBJECT = model.Subject("standing", "Title", "About", lambda choice: [
    model.Step(f"s/{{k}}", (*w, "--json", "{{json}}")) for k, w in enumerate(words)],
    (model.Part("Table 1", "Numbers", ("s",), lambda results: [
        model.Table(("n",), [(j["number"],) for _, j in results.each("s")], "All")]),), ())
sys.modules["standing"] = module
sys.argv = ["pages", "standing", "--out", {out!r}, "--program", {fake!r}]
runpy.run_path({pages!r} + "/__main__.py", run_name="__main__")
"""

    def start(self):
        self.gate, self.out = os.path.join(self.folder, "gate"), os.path.join(self.folder, "out")
        text = self.PROGRAM.format(pages=str(fixture.PAGES), gate=self.gate, out=self.out, fake=FAKE)
        return subprocess.Popen([sys.executable, "-c", text], stderr=subprocess.PIPE, text=True)

    def test_a_run_that_is_interrupted_goes_on_where_it_stopped(self):
        child = self.start()
        said = ""
        while "s/1" not in said:
            more = child.stderr.read(1)
            self.assertTrue(more, said)
            said += more
        child.send_signal(signal.SIGTERM)
        with contextlib.closing(child.stderr):
            said += child.stderr.read()
        self.assertEqual(child.wait(), 130)
        self.assertIn("goes on from there", said)
        self.assertEqual(self.ran(), ["good 1"])
        pathlib.Path(self.gate).touch()
        child = self.start()
        with contextlib.closing(child.stderr):
            said = child.stderr.read()
        self.assertIn(child.wait(), (0, 3), said)  # 3: without matplotlib
        self.assertIn("3 steps, 1 of them done before", said)
        self.assertEqual(self.ran(), ["good 1", f"wait {self.gate}", "good 3"])
        page = pathlib.Path(self.out, "index.html").read_text(encoding="utf-8")
        self.assertEqual([f">{n}</td>" in page for n in (1, 0, 3)], [True] * 3)


if __name__ == "__main__":
    unittest.main()
