"""Writes DIR/index.html: one file with its style, its script and its pictures, which needs no network."""
import html
import math
import os
import re

import draw
import pictures
import tables
from content import VERDICTS
from model import FAILS, HOLDS, PARTLY, UNMEASURED, Picture, Table, Text
from runner import duration

HERE = os.path.dirname(os.path.realpath(__file__))
CLASSES = {HOLDS: "holds", PARTLY: "partly", FAILS: "fails", UNMEASURED: "unmeasured"}
SIGNS = {HOLDS: "✓", PARTLY: "◐", FAILS: "✗", UNMEASURED: "·"}  # verdicts are told apart without colours too
MANY = 12  # rows of a table that has to be scrolled
SHORT = 32  # characters of a cell that are not broken into lines
FEW = 6  # failures that a part names; the list of all is at the end


def plain(text):
    return html.escape(text, quote=True)


def marked(text):
    """HTML of a text with `code`, **bold** and [links](#anchor)."""
    text = plain(text)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", text)
    return re.sub(r"\[([^]]+)\]\(([^)\s]+)\)", r'<a href="\2">\1</a>', text)


def heading(level, name, text):
    """With a link to itself, for citing."""
    return f'<h{level} id="{name}">{text} <a class="here" href="#{name}" aria-label="link to this place">#</a></h{level}>'


def column_head(name, about, right):
    title = f' title="{plain(about)}"' if about else ""
    return f'<th scope="col"{" class=number" if right else ""} aria-sort="none"{title}><button>{marked(name)}</button></th>'


def sort_key(value):
    """As the script reads it; "" where there is no number."""
    if not tables.is_number(value) or math.isnan(value):
        return ""
    return f' data-sort="{repr(value).replace("inf", "Infinity")}"'


def cell(value, form, right):
    sort = sort_key(value)
    text = tables.text(value, form)
    kind = " class=number" if right else " class=name" if len(text) <= SHORT else ""
    return f"<td{kind}{sort}>{marked(text)}</td>"


def table(block):
    forms, right = tables.forms(block), tables.numeric(block)
    head = "".join(column_head(c, block.about.get(c), r) for c, r in zip(block.columns, right))
    rows = "\n".join("<tr>" + "".join(map(cell, row, forms, right)) + "</tr>" for row in block.rows)
    about = "".join(f"<dt>{marked(name)}</dt><dd>{marked(text)}</dd>" for name, text in block.about.items())
    count = f"<small>{len(block.rows)} rows</small>" if len(block.rows) > MANY else ""
    return (f'<figure class="table"><figcaption>{marked(block.caption)}{count}</figcaption>'
            f'<div class="scroll" tabindex="0" role="region" aria-label="{plain(block.caption)}">'
            f"<table><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table></div>"
            + (f'<dl class="about">{about}</dl>' if about else "") + "</figure>\n")


def picture(block, prefix):
    caption = f"<figcaption>{marked(block.caption)}</figcaption>"
    if draw.lacking():
        return f'<figure><p class="note">Not drawn: {plain(draw.lacking())}</p>{caption}</figure>\n'
    svg = pictures.svg(pictures.drawn(block), prefix, plain(block.alt))
    return f'<figure class="picture"><div class="scroll" tabindex="0">{svg}</div>{caption}</figure>\n'


def block_html(block, prefix):
    if isinstance(block, Text):
        return f"<p>{marked(block.text)}</p>\n"
    return table(block) if isinstance(block, Table) else picture(block, prefix) if isinstance(block, Picture) else ""


def badge(verdict):
    return f'<span class="verdict {CLASSES[verdict]}"><span aria-hidden="true">{SIGNS[verdict]}</span> {verdict}</span>'


def claim_row(j):
    where = f'<a href="#{j.anchor}">{plain(j.claim.part)}</a>' if j.anchor else plain(j.claim.part)
    why = f'<p class="why">{marked(j.verdict.why)}</p>' if j.verdict.why else ""
    return (f'<tr id="claim-{j.number}"><td class="number" data-sort="{j.number}"><a href="#claim-{j.number}">{j.number}</a></td>'
            f'<td>{marked(j.claim.text)} <span class="where">{plain(j.claim.where)}</span></td>'
            f'<td data-sort="{VERDICTS.index(j.verdict.verdict)}">{badge(j.verdict.verdict)}</td>'
            f"<td>{marked(j.verdict.figures)}{why}</td><td>{where}</td></tr>")


def claims(c):
    if not c.judged:
        return ""
    heads = "".join(column_head(name, None, name == "No.") for name in ("No.", "Claim", "Verdict", "Figures", "Part"))
    return (f'<section>{heading(2, "claims", "Claims")}<div class="scroll claims" tabindex="0" role="region" '
            f'aria-label="claims"><table><thead><tr>{heads}</tr></thead><tbody>\n'
            + "\n".join(map(claim_row, c.judged)) + "\n</tbody></table></div></section>\n")


def tally(c):
    """The verdicts as a bar."""
    counts = [(v, sum(j.verdict.verdict == v for j in c.judged)) for v in VERDICTS]
    bar = "".join(f'<span class="{CLASSES[v]}" style="flex-grow:{n}"></span>' for v, n in counts if n)
    keys = "".join(f'<li class="{CLASSES[v]}"><b>{n}</b> {v}</li>' for v, n in counts)
    return f'<div class="tally"><div class="bar" aria-hidden="true">{bar}</div><ul>{keys}</ul></div>\n' if c.judged else ""


def facts(c):
    head = c.head
    rows = [("Command", f"<code>{plain(head.command)}</code>"), ("Saddle", plain(", ".join(head.programs) or "not run yet")),
            ("Machine", "<br>".join(map(plain, head.machines)) or "–"),
            ("Date", plain(" to ".join(head.dates[:1] + head.dates[1:][-1:])) or "–"),
            ("Threads", str(c.choice.threads)), ("Device", plain(c.choice.device)),
            ("Measured in", duration(head.seconds))]
    return '<dl class="facts">' + "".join(f"<div><dt>{name}</dt><dd>{text}</dd></div>" for name, text in rows) + "</dl>\n"


def commands(shown):
    lines = [r.command for r in shown.results]
    if not lines:
        return ""
    seconds = duration(sum(r.seconds for r in shown.results))
    title = "1 command" if len(lines) == 1 else f"{len(lines)} commands"
    return (f'<details class="commands"><summary>{title}, {seconds}</summary><div class="code">'
            f'<button class="copy">Copy</button><pre tabindex="0">{plain(chr(10).join(lines))}</pre></div></details>\n')


def failure(result):
    return "over its time limit" if result.failure == "time" else plain(result.failure)


def gaps(shown):
    """What is not there, and why."""
    notes = [marked(shown.part.missing)] if shown.part.missing else []
    if shown.trouble:
        notes.append(f"It could not be shown: {plain(shown.trouble)}")
    elif not shown.blocks and not shown.part.missing:
        notes.append(shown.lack)
    if shown.failed:
        some = "; ".join(f"<code>{plain(r.step)}</code>: {failure(r)}" for r in shown.failed[:FEW])
        more = f' and {len(shown.failed) - FEW} more (<a href="#failures">list</a>)' if len(shown.failed) > FEW else ""
        notes.append(f"{len(shown.failed)} of {len(shown.steps)} steps failed: {some}{more}.")
    left = len(shown.steps) - len(shown.results)
    if left:
        notes.append(f"{left} of {len(shown.steps)} steps have not been run yet.")
    return "".join(f'<p class="note">{note}</p>\n' for note in notes)


def part(shown, k):
    p = shown.part
    body = "".join(block_html(block, f"p{k}-{m}") for m, block in enumerate(shown.blocks))
    paper = f'<aside class="paper"><h3>In the paper</h3><p>{marked(p.paper)}</p></aside>\n' if p.paper else ""
    title = f'<span class="kicker">{plain(p.number)}</span> {marked(p.title)}'
    return f'<section class="part">{heading(2, shown.anchor, title)}\n{paper}{body}{gaps(shown)}{commands(shown)}</section>\n'


def failures(c):
    if not c.failed:
        return ""
    rows = [(r.step, "time" if r.failure == "time" else "message", "" if r.failure == "time" else r.failure, r.seconds,
             f"`{r.command}`") for r in c.failed]
    block = Table(("step", "kind", "what it said", "seconds", "command"), rows, "Kind and message of each", (None, None, None, ".1f"))
    return f'<section>{heading(2, "failures", "Steps that failed")}{table(block)}</section>\n'


def matrices(c):
    return f'<section>{heading(2, "matrices", "Matrices")}{table(c.matrices)}</section>\n' if c.matrices else ""


def contents(c):
    state = {True: "", False: ' class="empty"'}
    items = ['<li><a href="#summary">Summary</a></li>'] + (['<li><a href="#claims">Claims</a></li>'] if c.judged else [])
    items += [f'<li{state[bool(s.blocks)]}><a href="#{s.anchor}"><b>{plain(s.part.number)}</b> {marked(s.part.title)}</a></li>'
              for s in c.shown]
    items += ['<li><a href="#matrices">Matrices</a></li>'] if c.matrices else []
    items += ['<li><a href="#failures">Steps that failed</a></li>'] if c.failed else []
    return ('<nav aria-label="contents"><details open><summary>Contents</summary><ol>' + "\n".join(items)
            + "</ol></details></nav>\n")


def beside(file):
    with open(os.path.join(HERE, file), encoding="utf-8") as text:
        return text.read()


def page(c):
    quick = '<p class="note">Made with <code>--quick</code>: small problems, for a first look only.</p>' if c.choice.quick else ""
    sentences = "".join(f"<li>{marked(s)}</li>" for s in c.sentences)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{plain(c.subject.title)} – Saddle</title>
<link rel="icon" href="data:,">
<style>
{beside("page.css")}</style>
</head>
<body>
<a class="skip" href="#main">To the text</a>
<header><span class="brand">Saddle <span>evidence</span></span><button id="theme" hidden>Colours: system</button></header>
<div class="frame">
{contents(c)}<main id="main">
<h1>{plain(c.subject.title)}</h1>
<p class="lead">{marked(c.subject.about)}</p>
{quick}<section class="summary">{heading(2, "summary", "Summary")}
{tally(c)}<ul class="sentences">{sentences}</ul>
{facts(c)}</section>
{claims(c)}{"".join(part(s, k) for k, s in enumerate(c.shown))}{matrices(c)}{failures(c)}</main>
</div>
<script>
{beside("page.js")}</script>
</body>
</html>
"""


def write(c, folder):
    """There whole or not at all."""
    path, text = os.path.join(folder, "index.html"), page(c)  # drawn before a file is there that an interrupt would leave
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".part", path)
