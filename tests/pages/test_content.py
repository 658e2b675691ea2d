"""What a page says, and its two forms, of a subject that has every kind of block, verdict and failure (fixture.py)."""
import contextlib
import html.parser
import io
import math
import os
import pathlib
import re
import tempfile
import unittest

import fixture
import content
import draw
import markdown
import model
import page
import tables

CHOICE = model.Choice()


def evaluated(subject=fixture.SUBJECT, records=None, choice=CHOICE):
    with contextlib.redirect_stderr(io.StringIO()):  # a part and a claim whose own code fails print where
        return content.evaluate(subject, choice, fixture.steps(choice), fixture.records() if records is None else records, "")


class Content(unittest.TestCase):
    def test_parts_and_claims_whose_code_fails_leave_the_others_alone(self):
        c = evaluated()
        self.assertEqual([bool(s.blocks) for s in c.shown], [True, True, False, False])
        self.assertEqual([j.verdict.verdict for j in c.judged],
                         [model.HOLDS, model.HOLDS, model.PARTLY, model.FAILS, model.UNMEASURED, model.HOLDS, model.UNMEASURED])
        self.assertEqual(len(c.troubles), 2)
        self.assertTrue(c.troubles[0].startswith("Figure 10: KeyError"))

    def test_sentences_are_made_from_the_figures(self):
        said = " ".join(evaluated().sentences)
        for part in ("Of 7 claims, 3 hold, 1 holds partly ([3](#claim-3)), 1 does not hold ([4](#claim-4)) and 2 were not "
                     "measured.", "The median error is 1e-06.",
                     "2 of 4 tables and figures could be made, 2 not: [Figure 3](#figure-3) and [Figure 10](#figure-10); of 28 "
                     "steps 3 failed (2 ran out of time and 1 failed with a message, [list](#failures)), and 1 is still to be "
                     "run; all was measured on the CPU"):
            self.assertIn(part, said)

    def test_a_part_without_blocks_says_whether_anything_was_measured(self):
        part = model.Part("Figure 1", "", ("a",), lambda r: [])
        for data, words in (({"n": 1}, "is not enough to show"), (None, "Nothing was measured.")):
            shown = content.show(part, [model.Step("a", ())], model.Results([model.Result("a", data)]))
            self.assertIn(words, shown.lack)

    def test_without_results_nothing_is_claimed(self):
        c = evaluated(records=[])
        self.assertEqual(c.left, c.steps)
        self.assertIn("28 are still to be run", " ".join(c.sentences))
        self.assertNotIn("The median error", " ".join(c.sentences))

    def test_a_claim_about_a_figure_leads_to_its_first_panel(self):
        parts = tuple(model.Part(n, "", (), lambda r: []) for n in ("Figure 2", "Figure 3a", "Figure 3b"))
        judged = content.judge(1, model.Claim("", "", "Figure 3", lambda r: model.Verdict(model.HOLDS, "")), model.Results([]),
                               parts)
        self.assertEqual(judged.anchor, "figure-3a")

    def test_numbers_as_they_are_read_best(self):
        shown = [tables.text(v) for v in (None, True, 12345, 0.01234, 1.234e-9, float("nan"), float("inf"), 0.0, 123456.0,
                                          "word")]
        self.assertEqual(shown, ["–", "yes", "12,345", "0.0123", "1.23e-09", "–", "∞", "0", "1.23e+05", "word"])


class Outline(html.parser.HTMLParser):
    """Ids, what links point to, and tags that are open."""
    VOID = {"meta", "link", "br", "path", "use", "rect"}

    def __init__(self, text):
        super().__init__()
        self.ids, self.targets, self.open, self.outside, self.unclosed = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in ("href", "xlink:href", "src"):
                (self.targets if value.startswith("#") else self.outside).append(value)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID and (not self.open or self.open.pop() != tag):
            self.unclosed.append(tag)


class Forms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="saddle-pages.")
        cls.addClassCleanup(cls.folder.cleanup)
        made = evaluated()
        page.write(made, cls.folder.name)
        markdown.write(made, cls.folder.name)
        cls.html = pathlib.Path(cls.folder.name, "index.html").read_text(encoding="utf-8")
        cls.markdown = pathlib.Path(cls.folder.name, "summary.md").read_text(encoding="utf-8")

    def has(self, text, *parts):
        """Without the whole text in the message."""
        self.assertEqual([p for p in parts if p not in text], [])

    def test_the_page_is_one_file_whose_links_lead_somewhere(self):
        outline = Outline(self.html)
        self.assertEqual((outline.unclosed, outline.open), ([], []))
        self.assertEqual([i for i in set(outline.ids) if outline.ids.count(i) > 1], [])
        self.assertEqual({t[1:] for t in outline.targets} - set(outline.ids), set())
        self.assertEqual(set(outline.outside), {"data:,"})
        self.assertFalse("http://" in re.sub(r'xmlns(:xlink)?="[^"]*"', "", self.html))

    @unittest.skipIf(draw.lacking(), "no matplotlib: scripts/packages plots")
    def test_a_page_that_is_interrupted_leaves_nothing_behind(self):
        def interrupt(figure):
            raise KeyboardInterrupt
        made = evaluated()
        picture = model.Picture(interrupt, "", "")
        made.shown[:] = [content.Shown(made.shown[0].part, "a", [picture], [], [])]
        with tempfile.TemporaryDirectory(prefix="saddle-pages.") as folder:
            with self.assertRaises(KeyboardInterrupt):
                page.write(made, folder)
            self.assertEqual(os.listdir(folder), [])

    def test_texts_are_shown_as_they_are(self):
        self.has(self.html, "scaled | &lt;well&gt;", "cannot be opened: &lt;no such file&gt; &amp; nothing else",
                 "<code>saddle solve</code>, <b>medians</b> of five")
        self.assertFalse("<well>" in self.html)

    def test_every_part_tells_its_commands_and_what_is_missing(self):
        self.has(self.html, "saddle solve matrix_03.mtx --json solve_matrix_03.json", "1.7 times as fast at 16 rows",
                 "Two matrices of the paper cannot be had", "1 of 1 steps failed: <code>late</code>: over its time limit",
                 "1 of 2 steps have not been run yet", "KeyError", "cpu: a processor, 2 cores", "0.0.0 (commit abc1234)")

    def test_cells_are_sorted_by_their_numbers_and_those_without_one_stay_last(self):
        cells = [page.cell(v, None, True) for v in (1037, -0.5, math.inf, math.nan, None)]
        self.assertEqual([re.findall('data-sort="([^"]*)"', c) for c in cells], [["1037"], ["-0.5"], ["Infinity"], [], []])

    @unittest.skipIf(draw.lacking(), "no matplotlib: scripts/packages plots")
    def test_pictures_stand_in_the_page_with_its_colours(self):
        self.assertEqual(self.html.count("<svg "), 2)
        self.has(self.html, "var(--s0)", "ten curves that rise and fall, &quot;above&quot; a &lt;line&gt;</title>")
        self.assertFalse("#0072b2" in self.html.split("</style>", 1)[1])

    def test_markdown_has_claims_and_the_beginning_of_long_tables(self):
        self.assertEqual(self.markdown.count("\n| matrix_"), 16)
        self.has(self.markdown, "(8 more rows on the page.)", "| scaled \\| <well> |", "does not hold")
        self.assertFalse("](#" in self.markdown)
        self.has(self.markdown, "## Matrices", "| two | no |")
        rows = [line for line in self.markdown.splitlines() if line.startswith("|")]
        self.assertTrue(all(line.endswith("|") for line in rows))

    @unittest.skipIf(draw.lacking(), "no matplotlib: scripts/packages plots")
    def test_markdown_has_its_pictures_beside_it(self):
        shown = re.findall(r"\]\((pictures/[^)]+)\)", self.markdown)
        self.assertEqual(sorted(os.path.basename(s) for s in shown),
                         sorted(os.listdir(os.path.join(self.folder.name, "pictures"))))
        for one in shown:
            data = pathlib.Path(self.folder.name, one).read_bytes()
            self.assertTrue(data.startswith(b"\x89PNG"))
            self.assertLess(len(data), 200_000)


if __name__ == "__main__":
    unittest.main()
