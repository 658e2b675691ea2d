"""The page as readers see it, in a real browser without a window: nothing is wider than the screen, links lead somewhere, the
console is silent, tables sort, colours follow the system or the reader. Skipped, with a word, where there is no chromium."""
import contextlib
import io
import os
import re
import tempfile
import unittest

import browser
import fixture
import content
import model
import page

WIDTHS = (400, 1400)
# Elements that reach beyond the right edge, but for those that are moved within a box of their own.
TOO_WIDE = """Array.from(document.querySelectorAll('body *')).filter(e => {
    const box = e.getBoundingClientRect();
    return box.width > 0 && box.right > document.documentElement.clientWidth + 1 && !e.closest('.scroll, .code, .skip');
}).map(e => e.tagName + '.' + e.className).slice(0, 5)"""
NOWHERE = """Array.from(document.querySelectorAll('a[href]')).map(a => a.getAttribute('href')).filter(
    h => !h.startsWith('#') || !document.getElementById(decodeURIComponent(h.slice(1))))"""
TWICE = """Array.from(document.querySelectorAll('[id]')).map(e => e.id).filter((id, k, all) => all.indexOf(id) !== k)"""
COLOURS = "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
# Of every text the contrast with what is behind it, as WCAG counts it, where it is below 4.5.
PALE = """(() => {
    const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const rgba = c => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1);
        return canvas.getImageData(0, 0, 1, 1).data; };
    const light = c => { const f = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
        const [r, g, b] = rgba(c); return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
    const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
        if (rgba(c)[3] === 255) return c; } return 'white'; };
    const found = new Set();
    for (const e of document.querySelectorAll('main p, main td, main th button, main li, main dt, main dd, main h1, main h2, nav a, '
            + 'header button, figcaption, summary, .verdict')) {
        if (!e.textContent.trim() || !e.getClientRects().length) continue;
        const [a, b] = [light(getComputedStyle(e).color), light(behind(e))].sort((x, y) => y - x);
        if ((a + 0.05) / (b + 0.05) < 4.5) found.add(e.tagName + '.' + e.className + ' in ' + e.parentElement.className);
    }
    return Array.from(found);
})()"""


@unittest.skipUnless(browser.find(), "no chromium: scripts/packages test installs it")
class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="saddle-pages.")
        cls.addClassCleanup(folder.cleanup)
        choice = model.Choice()
        with contextlib.redirect_stderr(io.StringIO()):
            made = content.evaluate(fixture.SUBJECT, choice, fixture.steps(choice), fixture.records(), "")
        page.write(made, folder.name)
        cls.path = os.path.join(folder.name, "index.html")
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.__exit__)

    def open(self, width=1400, scheme="light"):
        self.browser.open(self.path, width, scheme)
        return self.browser

    def test_nothing_is_wider_than_the_screen(self):
        for width in WIDTHS:
            for scheme in ("light", "dark"):
                with self.subTest(width=width, scheme=scheme):
                    b = self.open(width, scheme)
                    self.assertEqual(b.evaluate(TOO_WIDE), [])
                    self.assertLessEqual(b.evaluate("document.documentElement.scrollWidth"), width)

    def test_on_paper_nothing_is_cut_off(self):
        b = self.open(794)  # A4
        b.ask("Emulation.setEmulatedMedia", media="print")
        self.addCleanup(b.ask, "Emulation.setEmulatedMedia", media="")
        self.assertLessEqual(b.evaluate("document.documentElement.scrollWidth"), 794)

    def test_the_console_is_silent_and_nothing_is_fetched(self):
        for width in WIDTHS:
            with self.subTest(width=width):
                self.assertEqual(self.open(width).errors(), [])

    def test_a_script_that_fails_would_be_noticed(self):
        b = self.open()
        b.evaluate("setTimeout(() => { throw new Error('wanted') }); console.error('this too'); new Promise(r => setTimeout(r, 50))")
        self.assertEqual(len(b.errors()), 2)

    def test_links_lead_to_a_place_that_there_is_once(self):
        b = self.open()
        self.assertGreater(b.evaluate("document.querySelectorAll('a[href]').length"), 20)
        self.assertEqual(b.evaluate(NOWHERE), [])
        self.assertEqual(b.evaluate(TWICE), [])

    def column(self, name):
        return self.browser.evaluate(f"""(() => {{
            const table = document.querySelector('#table-2').parentElement.querySelector('table');
            const k = Array.from(table.tHead.rows[0].cells).findIndex(c => c.textContent === {name!r});
            return Array.from(table.tBodies[0].rows, r => r.cells[k].textContent); }})()""")

    def head(self, name):
        return (f"Array.from(document.querySelector('#table-2').parentElement.querySelectorAll('th'))"
                f".find(h => h.textContent === {name!r})")

    def test_a_click_sorts_a_table_by_numbers_and_a_second_one_turns_it(self):
        b = self.open()
        for name in ("seconds", "error"):  # text would put 1.0e-02 after 1.0e-01
            before = self.column(name)
            b.evaluate(self.head(name) + ".firstElementChild.click()")
            up = self.column(name)
            self.assertEqual(b.evaluate(self.head(name) + ".getAttribute('aria-sort')"), "ascending")
            b.evaluate(self.head(name) + ".firstElementChild.click()")
            down = self.column(name)
            known = sorted(float(v) for v in before if v != "–")
            self.assertEqual(([float(v) for v in up[:-1]], up[-1]), (known, "–"))
            self.assertEqual(([float(v) for v in down[:-1]], down[-1]), (known[::-1], "–"))

    def test_tables_sort_by_the_keyboard_too(self):
        b = self.open()
        for name, key in (("n", " "), ("matrix", "Enter")):
            b.evaluate(self.head(name) + ".firstElementChild.focus()")
            b.key(key, "\r" if key == "Enter" else " ")
            self.assertEqual(b.evaluate(self.head(name) + ".getAttribute('aria-sort')"), "ascending")

    def test_colours_follow_the_system_and_the_readers_choice(self):
        self.browser.open(self.path, 1400, "light")
        light = self.browser.evaluate(COLOURS)
        b = self.open(1400, "dark")
        dark = b.evaluate(COLOURS)
        self.assertNotEqual(light, dark)
        bright = [sum(map(int, re.findall(r"\d+", c)[:3])) for c in light + dark]
        self.assertTrue(bright[0] > 600 > 200 > bright[1] and bright[2] < 200 < 600 < bright[3], bright)
        b.evaluate("document.getElementById('theme').click()")  # from system to light
        self.assertEqual(b.evaluate(COLOURS), light)
        b.evaluate("document.getElementById('theme').click()")
        self.assertEqual(b.evaluate(COLOURS), dark)
        b.evaluate("document.getElementById('theme').click()")
        self.assertEqual(b.evaluate("document.getElementById('theme').textContent"), "Colours: system")

    def test_texts_stand_out_from_what_is_behind_them(self):
        for scheme in ("light", "dark"):
            with self.subTest(scheme=scheme):
                self.assertEqual(self.open(1400, scheme).evaluate(PALE), [])

    def test_contents_are_folded_on_a_narrow_screen_only(self):
        for width, is_open in ((400, False), (1400, True)):
            self.assertEqual(self.open(width).evaluate("document.querySelector('nav details').open"), is_open)


if __name__ == "__main__":
    unittest.main()
