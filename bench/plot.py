#!/usr/bin/env python3
"""Draws what a benchmark measured, from the JSON that it wrote:

    plot.py FILE.json PICTURE.png|.svg

The panels are those of pages/panels.py; one without measurements is omitted.
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))  # the folder bench, or that of the programs
sys.dont_write_bytecode = True  # nothing is left where the programs are installed
sys.path[:0] = [os.path.join(HERE, "pages"), os.path.join(HERE, "..", "share", "saddle", "pages")]

import draw  # noqa: E402
import panels  # noqa: E402


def main():
    if draw.lacking():
        sys.exit(draw.lacking())
    if len(sys.argv) != 3:
        sys.exit("usage: plot.py FILE.json PICTURE.png|.svg")
    with open(sys.argv[1], encoding="utf-8") as file:
        j = json.load(file)
    kind = panels.KINDS.get((j.get("bench"), j.get("part")))
    if not kind:
        sys.exit(f"{sys.argv[1]}: there is no picture of this benchmark")
    title, drawn = kind(j)
    drawn = [p for p in drawn if p]
    if not drawn:
        sys.exit(f"{sys.argv[1]}: there is nothing to draw")
    across = min(2, len(drawn))
    down = (len(drawn) + across - 1) // across
    figure = draw.figure(6.8 * across, 3.9 * down + 0.5)
    figure.suptitle(f"{title} (Saddle {j['saddle']}, commit {j['commit'][:10]})", fontsize=14)
    draw.on_figure(*drawn, across=across)(figure)
    root, ending = os.path.splitext(sys.argv[2])
    figure.savefig(f"{root}.part{ending}", dpi=130)
    os.replace(f"{root}.part{ending}", sys.argv[2])  # there whole or not at all


if __name__ == "__main__":
    main()
