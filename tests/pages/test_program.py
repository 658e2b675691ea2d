"""`saddle bench standing` and `reproduce` as a user starts them: options, refusals, and a page from a quick part, end to end."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import fixture
import draw
import model

SADDLE = os.environ.get("SADDLE_BIN", str(fixture.PAGES.parents[1] / "build" / "bin" / "saddle"))


@unittest.skipUnless(os.access(SADDLE, os.X_OK), "the program is not built")
class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="saddle-pages.")
        self.addCleanup(folder.cleanup)
        self.out = os.path.join(folder.name, "out")

    def run_bench(self, *words):
        kept = {k: v for k, v in os.environ.items() if k != "SADDLE_MATRICES"}
        return subprocess.run([SADDLE, "bench", *words], capture_output=True, text=True, check=False, env=kept)

    def test_wrong_words_are_refused(self):
        for words, said in ((("standing",), "--out DIR is missing"),
                            (("standing", "A.mtx", "--out", self.out), 'unexpected operand "A.mtx"'),
                            (("reproduce", "ssid", "--out", self.out), 'did you mean "ssids"?'),
                            (("standing", "--out", self.out, "--minutes", "many"), "--minutes")):
            with self.subTest(words=words):
                done = self.run_bench(*words)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(said, done.stderr)
        self.assertFalse(os.path.exists(self.out))

    def test_a_part_that_is_not_there_is_refused_with_those_that_are(self):
        done = self.run_bench("standing", "--out", self.out, "--quick", "--part", "Figure 99")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn('standing has no part "Figure 99"; it has Table 1, Figure 1', done.stderr)

    def test_a_quick_part_is_measured_once_and_shown(self):
        words = ("standing", "--out", self.out, "--quick", "--part", "Table 6")
        done = self.run_bench(*words, "--verbose")
        self.assertEqual(done.returncode, 3 if draw.lacking() else 0, done.stderr)
        self.assertIn("2 steps, 0 of them done before", done.stderr)
        self.assertIn("[1/2] calls: saddle bench calls --repeat 2 --json calls.json ... ", done.stderr)
        lines = [json.loads(line) for line in pathlib.Path(self.out, "results.jsonl").read_text().splitlines()]
        self.assertEqual([line["step"] for line in lines], ["calls", "blocks"])
        text = pathlib.Path(self.out, "index.html").read_text(encoding="utf-8")
        self.assertTrue(re.search(r"<td[^>]*>ocp_12x2x1</td><td[^>]*>60</td>", text))
        self.assertTrue(f"commit {lines[0]['commit']}" in text)
        self.assertIn("--quick", pathlib.Path(self.out, "summary.md").read_text(encoding="utf-8"))
        os.remove(os.path.join(self.out, "index.html"))
        drawn = self.run_bench("standing", "--out", self.out, "--draw", "--quiet")  # as it was measured: --quick
        self.assertEqual((drawn.returncode, drawn.stderr), (3, drawn.stderr) if draw.lacking() else (0, ""))
        self.assertEqual(pathlib.Path(self.out, "index.html").read_text(encoding="utf-8"), text)
        self.assertEqual(len(pathlib.Path(self.out, "results.jsonl").read_text().splitlines()), 2)

    def test_nothing_is_drawn_from_nothing(self):
        done = self.run_bench("standing", "--out", self.out, "--draw")
        self.assertEqual((done.returncode, done.stderr), (2, f"saddle: {self.out} holds no results to write a page from\n"))
        self.assertFalse(os.path.exists(self.out))

    def test_results_are_not_drawn_without_the_matrices_that_they_are_judged_by(self):
        os.mkdir(self.out)
        line = fixture.record(model.Step("calls", ("bench", "calls")), {"rows": []}) | {
            "subject": "standing", "asked": "saddle bench standing --out out --matrices /nowhere/of/old"}
        pathlib.Path(self.out, "results.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
        done = self.run_bench("standing", "--out", self.out, "--draw")
        self.assertEqual(done.returncode, 2)
        self.assertIn("measured with the matrices in /nowhere/of/old, which is not there", done.stderr)

    def test_without_a_gpu_nothing_is_measured_on_one(self):
        words = ["standing", "--out", self.out, "--device", "cuda", "--program", str(fixture.PAGES.parents[1] / "tests/pages/fake.py")]
        done = subprocess.run([sys.executable, str(fixture.PAGES / "__main__.py"), *words], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (5, "saddle: no GPU: this is an abacus\n"))

    def test_folders_that_are_not_there_or_cannot_be_made_are_named(self):
        done = self.run_bench("standing", "--out", self.out, "--quick", "--matrices", self.out + ".none")
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{self.out}.none: the folder of matrices is not there", done.stderr)
        self.assertFalse(os.path.exists(self.out))
        done = self.run_bench("standing", "--out", os.path.join(SADDLE, "out"), "--quick")
        self.assertEqual((done.returncode, done.stderr), (3, f"saddle: {os.path.join(SADDLE, 'out')}: Not a directory\n"))


if __name__ == "__main__":
    unittest.main()
