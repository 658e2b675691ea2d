"""DIR/summary.md: what a page says first, its claims and its tables, with the pictures as files beside it.

For documents that a repository keeps: long tables are cut, which the text says, and pictures are small.
"""
import os
import re

import draw
import pictures
import tables
from model import Picture, Table, Text

MOST_ROWS = 16


def escaped(text):
    return text.replace("|", "\\|").replace("\n", " ")


def plain(text):
    """Links within the page lead nowhere here, but for those to claims and parts, which keep their words."""
    return re.sub(r"\[([^]]+)\]\(#[^)\s]*\)", r"\1", text)


def rows(block, most):
    forms, right = tables.forms(block), tables.numeric(block)
    lines = ["| " + " | ".join(escaped(c) for c in block.columns) + " |",
             "|" + "|".join("--:" if r else "---" for r in right) + "|"]
    return lines + ["| " + " | ".join(escaped(plain(tables.text(v, f))) for v, f in zip(row, forms)) + " |"
                    for row in block.rows[:most]]


def table(block):
    more = len(block.rows) - MOST_ROWS
    return [f"**{plain(block.caption)}**", "", *rows(block, MOST_ROWS), ""] + (
        [f"({more} more rows on the page.)", ""] if more > 0 else [])


def picture(block, name, folder):
    if draw.lacking():
        return []
    os.makedirs(os.path.join(folder, "pictures"), exist_ok=True)
    pictures.png(pictures.drawn(block), os.path.join(folder, "pictures", name + ".png"))
    return [f"![{escaped(block.alt)}](pictures/{name}.png)", "", plain(block.caption), ""]


def part(shown, folder):
    lines = [f"## {shown.part.number}: {plain(shown.part.title)}", ""]
    count = 0
    for block in shown.blocks:
        if isinstance(block, Text):
            lines += [plain(block.text), ""]
        elif isinstance(block, Table):
            lines += table(block)
        elif isinstance(block, Picture):
            count += 1
            lines += picture(block, f"{shown.anchor}-{count}", folder)
    if not shown.blocks:
        lines += [shown.lack, ""]
    if shown.part.paper:
        lines += [f"In the paper: {plain(shown.part.paper)}", ""]
    if shown.part.missing:
        lines += [f"Missing: {plain(shown.part.missing)}", ""]
    return lines


def write(c, folder):
    """Writes the file and its pictures."""
    head = c.head
    lines = [f"# {c.subject.title}", "", plain(" ".join(c.sentences)), "", plain(c.subject.about), "",
             f"- Command: `{head.command}`", f"- Saddle {', '.join(head.programs) or 'not run yet'}",
             f"- Machine: {' / '.join(head.machines) or '–'}", f"- Date: {' to '.join(head.dates[:1] + head.dates[1:][-1:])}", ""]
    if c.judged:
        claims = [(j.number, j.claim.text, j.claim.where, j.verdict.verdict, f"{j.verdict.figures} {j.verdict.why}".strip())
                  for j in c.judged]
        lines += ["## Claims", "", *rows(Table(("", "claim", "where", "verdict", "figures"), claims, ""), len(claims)), ""]
    for shown in c.shown:
        lines += part(shown, folder)
    if c.matrices:
        lines += ["## Matrices", "", f"**{plain(c.matrices.caption)}**", "", *rows(c.matrices, len(c.matrices.rows)), ""]
    with open(os.path.join(folder, "summary.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines).rstrip("\n") + "\n")
