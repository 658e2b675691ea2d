"""`saddle bench standing` and `reproduce` as a user starts them: options, refusals, and a page from a quick part, end to end."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import fixture
import draw

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
        done = self.run_bench(*words)
        self.assertEqual(done.returncode, 3 if draw.lacking() else 0, done.stderr)
        self.assertIn("2 steps, 0 of them done before", done.stderr)
        lines = [json.loads(line) for line in pathlib.Path(self.out, "results.jsonl").read_text().splitlines()]
        self.assertEqual([line["step"] for line in lines], ["calls", "blocks"])
        text = pathlib.Path(self.out, "index.html").read_text(encoding="utf-8")
        self.assertTrue(re.search(r"<td>ocp_12x2x1</td><td[^>]*>60</td>", text))
        self.assertTrue(f"commit {lines[0]['commit']}" in text)
        self.assertIn("--quick", pathlib.Path(self.out, "summary.md").read_text(encoding="utf-8"))
        os.remove(os.path.join(self.out, "index.html"))
        drawn = self.run_bench("standing", "--out", self.out, "--quick", "--draw", "--quiet")
        self.assertEqual((drawn.returncode, drawn.stderr), (3, drawn.stderr) if draw.lacking() else (0, ""))
        self.assertTrue(os.path.exists(os.path.join(self.out, "index.html")))
        self.assertEqual(len(pathlib.Path(self.out, "results.jsonl").read_text().splitlines()), 2)


if __name__ == "__main__":
    unittest.main()
