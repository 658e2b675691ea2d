"""What a page says, before it has a form: parts shown, claims judged, what failed, and the sentences that come first.

page.py writes it as HTML, markdown.py as Markdown. A part or a claim whose own code fails is told as such and leaves the others
alone: what was measured in an hour is not lost by a wrong key.
"""
import re
import sys
import traceback
from collections import Counter
from dataclasses import dataclass, field

from model import FAILS, HOLDS, PARTLY, UNMEASURED, Block, Choice, Claim, Part, Result, Step, Subject, Table, Verdict
from runner import duration, reads, results_of

VERDICTS = (HOLDS, PARTLY, FAILS, UNMEASURED)


@dataclass(frozen=True)
class Shown:
    """A part, and what it shows; `trouble` where its code failed."""
    part: Part
    anchor: str
    blocks: list[Block]
    steps: list[Step]
    results: list[Result]   # of its steps that were run
    trouble: str = ""

    @property
    def failed(self):
        return [r for r in self.results if r.failure]

    @property
    def lack(self):
        """Why nothing is shown."""
        return ("What was measured is not enough to show: too few problems, or too small ones."
                if any(r.data is not None for r in self.results) else "Nothing was measured.")


@dataclass(frozen=True)
class Judged:
    number: int
    claim: Claim
    verdict: Verdict
    anchor: str             # of the part with the figures; "" if there is none


@dataclass(frozen=True)
class Head:
    """Where the figures come from. Several machines, commits or days if the results were collected so."""
    command: str
    machines: list[str]
    dates: list[str]
    programs: list[str]     # "0.2.0 (commit abc)"
    seconds: float


@dataclass
class Content:
    subject: Subject
    choice: Choice
    head: Head
    shown: list[Shown]
    judged: list[Judged]
    failed: list[Result]
    left: int               # steps that have not been run
    steps: int
    matrices: Table | None = None
    sentences: list[str] = field(default_factory=list)

    @property
    def troubles(self):
        return [f"{s.part.number}: {s.trouble}" for s in self.shown if s.trouble] + [
            f"claim {j.number}: {j.verdict.figures}" for j in self.judged if j.verdict.figures.startswith(UNJUDGED)]


UNJUDGED = "could not be judged: "


def anchor(number):
    return re.sub(r"[^a-z0-9]+", "-", number.lower()).strip("-")


def told(error):
    traceback.print_exception(error, file=sys.stderr)
    return f"{type(error).__name__}: {error}"


def show(part, steps, results):
    mine = [s for s in steps if reads(part, s)]
    done = [r for r in map(results.result, (s.name for s in mine)) if r]
    try:
        return Shown(part, anchor(part.number), part.show(results), mine, done)
    except Exception as error:
        return Shown(part, anchor(part.number), [], mine, done, told(error))


def judge(number, claim, results, parts):
    """A claim about "Figure 3" leads to 3a."""
    numbers = [p.number for p in parts]
    at = next((n for n in numbers if n == claim.part), next((n for n in numbers if n.startswith(claim.part)), ""))
    try:
        verdict = claim.judge(results)
    except Exception as error:
        verdict = Verdict(UNMEASURED, UNJUDGED + told(error))
    return Judged(number, claim, verdict, anchor(at))


def unique(values):
    return list(dict.fromkeys(v for v in values if v))


def head_of(records, command):
    newest = records[-1] if records else {}
    return Head(command or newest.get("asked", ""), unique(r["machine"] for r in records),
                sorted(unique(r["date"] for r in records)),
                unique(f"{r['version']} (commit {r['commit']})" for r in records), sum(r["seconds"] for r in records))


def counted(count, one, many=None):
    """A number and its noun or verb."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def listed(words):
    words = list(words)
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def links(judged):
    return listed(f"[{j.number}](#claim-{j.number})" for j in judged)


def sentence(*clauses):
    """One of clauses, of which some may be None; [] of none."""
    whole = "; ".join(c for c in clauses if c)
    return [whole[0].upper() + whole[1:] + "."] if whole else []


def claims_sentence(judged):
    """What holds and what does not: the first thing that a reader wants to know."""
    if not judged:
        return []
    by = {v: [j for j in judged if j.verdict.verdict == v] for v in VERDICTS}
    words = {HOLDS: ("holds", "hold"), PARTLY: ("holds partly", "hold partly"), FAILS: ("does not hold", "do not hold"),
             UNMEASURED: ("was not measured", "were not measured")}
    named = {v: f" ({links(by[v])})" if v in (PARTLY, FAILS) and by[v] else "" for v in VERDICTS}
    return sentence(f"of {counted(len(judged), 'claim')}, "
                    f"{listed(counted(len(by[v]), *words[v]) + named[v] for v in VERDICTS if by[v])}")


def parts_clause(shown):
    without = [s for s in shown if not s.blocks]
    names = f": {listed(f'[{s.part.number}](#{s.anchor})' for s in without)}" if 0 < len(without) <= 8 else ""
    return (f"{len(shown) - len(without)} of {counted(len(shown), 'table or figure', 'tables and figures')} "
            + (f"could be made, {len(without)} not{names}" if without else "could be made"))


def steps_clause(c):
    kinds = Counter("ran out of time" if r.failure == "time" else "failed with a message" for r in c.failed)
    how = f" ({listed(f'{n} {kind}' for kind, n in kinds.items())}, [list](#failures))" if c.failed else ""
    rest = f", and {counted(c.left, 'is', 'are')} still to be run" if c.left else ""
    return f"of {counted(c.steps, 'step')} {len(c.failed) or 'none'} failed{how}{rest}"


def run_clause(c):
    where = "a GPU" if c.choice.device == "cuda" else "the CPU"
    when = "" if not c.head.dates else f" on {c.head.dates[0]}" if len(c.head.dates) == 1 else (
        f" from {c.head.dates[0]} to {c.head.dates[-1]}")
    small = ", with the small problems of `--quick`, which decide nothing about speed" if c.choice.quick else ""
    return (f"all was measured on {where} with {counted(c.choice.threads, 'thread')}{when}, in "
            f"{duration(c.head.seconds)}{small}")


def evaluate(subject, choice, steps, records, command):
    """All that a page says, from the records of the steps."""
    results = results_of(records, choice)
    done = [r for r in map(results.result, (s.name for s in steps)) if r]
    shown = [show(p, steps, results) for p in subject.parts]
    judged = [judge(k, claim, results, subject.parts) for k, claim in enumerate(subject.claims, 1)]
    c = Content(subject, choice, head_of(records, command), shown, judged, [r for r in done if r.failure],
                len(steps) - len(done), len(steps), subject.matrices(choice) if subject.matrices else None)
    try:
        own = subject.summary(results) if subject.summary else []
    except Exception as error:
        own = [f"The summary of the figures could not be made: {told(error)}."]
    c.sentences = [*claims_sentence(judged), *own, *sentence(parts_clause(shown), steps_clause(c), run_clause(c))]
    return c
