"""A subject with results that nobody measured: it has every kind of block, verdict and failure that a page can show."""
import math
import pathlib
import sys

PAGES = pathlib.Path(__file__).resolve().parents[2] / "bench" / "pages"
sys.path.insert(0, str(PAGES))
sys.dont_write_bytecode = True

import draw  # noqa: E402
import model  # noqa: E402

MATRICES = [f"matrix_{k:02d}" for k in range(24)]
LONG = "a_name_that_is_longer_than_a_narrow_screen_is_wide_and_has_no_place_to_break_it_at_all_0123456789"


def steps(choice):
    return [model.Step("kernels", ("bench", "blocks", "--quick", "--json", "{json}"), 2),
            *(model.Step(f"solve/{m}", ("solve", f"{m}.mtx", "--json", "{json}"), 1, 30) for m in MATRICES),
            model.Step("late", ("bench", "direct", "lap3d_40", "--json", "{json}"), 100, 5),
            model.Step("broken", ("info", LONG + ".mtx", "--json", "{json}"), 1),
            model.Step("never", ("info", "never.mtx", "--json", "{json}"), 1)]


def record(step, data, failure="", seconds=1.5):
    return {"subject": "fixture", "step": step.name, "words": list(step.words), "commit": "abc1234", "version": "0.0.0",
            "machine": "cpu: a processor, 2 cores; memory: 8 GB", "date": "2026-01-02", "asked": "saddle bench standing --out d",
            "command": " ".join(("saddle", *step.words)).replace("{json}", step.name.replace("/", "_") + ".json"),
            "seconds": seconds, "failure": failure, "data": data}


def records(choice=model.Choice()):
    failures = {"late": "time", "broken": f"saddle: {LONG}.mtx: cannot be opened: <no such file> & nothing else"}
    found = []
    for k, step in enumerate(steps(choice)):
        if step.name in failures:
            found.append(record(step, None, failures[step.name], 5.0))
        elif step.name == "solve/matrix_07":
            found.append(record(step, None, "time", 30.0))
        elif step.name != "never":
            found.append(record(step, {"n": 1000 + 37 * k, "seconds": 0.01 * (1 + (k * 7) % 11), "error": 10.0**-(k % 14)}))
    return found


def picture(results):
    rows = results.each("solve")
    curves = draw.curves("Time by size", "rows", "time [s]", [
        (f"method {m}", [(j["n"], (1 + m) * j["seconds"]) for _, j in rows]) for m in range(10)], "y", 0.1)
    bars = draw.bars("Error", r"$\Vert b - Ax\Vert_2 \,/\, \Vert b\Vert_2$", [name for name, _ in rows[:8]], [
        ("direct", draw.COLOURS[0], [j["error"] for _, j in rows[:8]]),
        ("refined", draw.COLOURS[6], [j["error"] / 8 for _, j in rows[:8]])])
    return [model.Picture(draw.on_figure(curves), "Time of ten methods; the dashed line is a copy.",
                          'ten curves that rise and fall, "above" a <line>', 8.4, 3.8),
            model.Picture(draw.on_figure(curves, bars, across=2), "The same beside the errors.", "two panels", 14, 4.2)]


def table(results):
    return [model.Text("Times of `saddle solve`, **medians** of five; what failed is [listed](#failures)."),
            model.Table(("matrix", "n", "seconds", "error", "definite", "remark"),
                        [(name, j["n"], j["seconds"], j["error"], j["n"] % 2 == 0, None if k % 3 else "scaled | <well>")
                         for k, (name, j) in enumerate(results.each("solve"))] + [("none", None, None, math.nan, None, LONG)],
                        "Solved systems", (None, None, ".3f", ".1e"), {"error": "backward error, normwise", "n": "unknowns"})]


def fails(results):
    raise KeyError("no such figure")


def claim(verdict, k):
    text = f"Statement {k}: the second variant is faster than the first by a factor of 1.5 or more for blocks of 16 rows"
    why = "The same kernel reaches 92 % of the memory floor." if verdict == model.FAILS else ""
    return model.Claim(text, f"Section {k}", "Figure 1" if k % 2 else "Table 2",
                       lambda results: model.Verdict(verdict, f"{k + 0.25:.2f} times as fast on {k} of 24 matrices", why))


SUBJECT = model.Subject(
    "fixture", "A paper that was never written, reproduced in every particular",
    "Nobody and others, Journal of Nothing 1 (2026). Measured there on an abacus with `12` beads.", steps,
    (model.Part("Figure 1", "Time by size", ("solve",), picture, "1.7 times as fast at 16 rows (Figure 1, one abacus)."),
     model.Part("Table 2", "All systems", ("solve", "kernels"), table, "", "Two matrices of the paper cannot be had: they were lost."),
     model.Part("Figure 3", "What never ends", ("late",), lambda results: [], "4 hours."),
     model.Part("Figure 10", "A part whose own code fails", ("broken", "never"), fails)),
    tuple(claim(v, k) for k, v in enumerate((model.HOLDS, model.HOLDS, model.PARTLY, model.FAILS, model.UNMEASURED, model.HOLDS), 1))
    + (model.Claim("A claim whose judge fails", "Section 9", "Nowhere", fails),),
    lambda choice: model.Table(("matrix", "at hand"), [("one", True), ("two", False)], "Matrices of the paper"),
    lambda results: [f"The median error is {sorted(j['error'] for _, j in results.each('solve'))[11]:.0e}."])
