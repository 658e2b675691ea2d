"""Writes DIR/index.html from the results: one file that needs nothing else."""
import html
import io
import os
import re

import draw
from model import Picture, Table, Text


def marked(text):
    """HTML of a text with `code`, **bold** and [links](#anchor)."""
    text = html.escape(text, quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", text)
    return re.sub(r"\[([^]]+)\]\(([^)\s]+)\)", r'<a href="\2">\1</a>', text)


def anchor(number):
    return re.sub(r"[^a-z0-9]+", "-", number.lower()).strip("-")


def cell(value, form):
    if value is None:
        return "–"
    if isinstance(value, float | int) and not isinstance(value, bool):
        return format(value, form or ("d" if isinstance(value, int) else ".3g"))
    return marked(str(value))


def table(block):
    forms = block.formats or (None,) * len(block.columns)
    head = "".join(f"<th>{marked(c)}</th>" for c in block.columns)
    rows = "".join("<tr>" + "".join(f"<td>{cell(v, f)}</td>" for v, f in zip(row, forms)) + "</tr>" for row in block.rows)
    return f"<table><caption>{marked(block.caption)}</caption><tr>{head}</tr>{rows}</table>"


def picture(block):
    if draw.lacking():
        return f"<p>{marked(block.caption)}: not drawn</p>"
    figure, out = draw.figure(block.width, block.height), io.StringIO()
    block.draw(figure)
    figure.savefig(out, format="svg")
    figure.clear()
    svg = out.getvalue()
    return f"<figure>{svg[svg.index('<svg'):]}<figcaption>{marked(block.caption)}</figcaption></figure>"


def block_html(block):
    if isinstance(block, Text):
        return f"<p>{marked(block.text)}</p>"
    return table(block) if isinstance(block, Table) else picture(block) if isinstance(block, Picture) else ""


def part_html(part, results):
    blocks = part.show(results)
    inside = "".join(map(block_html, blocks)) or "<p>Nothing was measured.</p>"
    return (f'<h2 id="{anchor(part.number)}">{part.number}: {marked(part.title)}</h2>{inside}'
            f"<p>{marked(part.paper)}</p><p>{marked(part.missing)}</p>")


def write(subject, choice, steps, results, store, machine, command, folder):
    """Writes the page; what is lacking for its pictures, or ""."""
    claims = Table(("claim", "where", "part", "verdict", "figures", "why"),
                   [(c.text, c.where, f"[{c.part}](#{anchor(c.part)})", v.verdict, v.figures, v.why)
                    for c in subject.claims for v in [c.judge(results)]], "Claims")
    summary = "".join(f"<p>{marked(s)}</p>" for s in (subject.summary(results) if subject.summary else []))
    body = "".join(part_html(p, results) for p in subject.parts)
    listed = table(subject.matrices(choice)) if subject.matrices else ""
    with open(os.path.join(folder, "index.html"), "w", encoding="utf-8") as file:
        file.write(f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(subject.title)}</title>'
                   f"<h1>{html.escape(subject.title)}</h1>{summary}<p>{marked(subject.about)}</p>"
                   f"<p><code>{html.escape(command)}</code>, {html.escape(machine.text())}</p>{table(claims)}{body}{listed}")
    return draw.lacking()
