"""What a page is made of: steps that measure, parts that show what was measured, claims that are judged by it.

A subject (a paper, or the comparison with other solvers) names its steps. runner.py runs those whose results are not there yet
and keeps each as a line of JSON; page.py hands all results to parts and claims and writes what they return. Nothing here
measures: a step is a command of the program, and a part reads nothing but what the steps wrote.
"""
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

HOLDS, PARTLY, FAILS, UNMEASURED = "holds", "holds partly", "does not hold", "not measured"


@dataclass(frozen=True)
class Choice:
    """What the caller asked for."""
    device: str = "cpu"           # or "cuda"
    matrices: str | None = None   # the folder with MANIFEST.tsv, spd/, kkt/ ...; None: generated problems only
    quick: bool = False           # small problems, all steps in under two minutes
    threads: int = 1


@dataclass(frozen=True)
class Step:
    """A command whose JSON is kept under a name.

    `words` follow "saddle"; the word "{json}" stands for the file that the command writes. Steps of one kind on several
    matrices are named KIND/MATRIX, so that an interrupted run repeats little. A step that takes longer than `limit` seconds is
    ended and has failed of kind "time". `cost` is about what it takes, for the estimate of the time left.
    """
    name: str
    words: tuple[str, ...]
    cost: float = 10
    limit: float = 300


@dataclass(frozen=True)
class Result:
    """How a step ended: `failure` is "" (there is `data`), "time", "interrupted" or what the command said."""
    step: str
    data: dict[str, Any] | None
    failure: str = ""
    seconds: float = 0.0
    command: str = ""


class Results:
    """What the steps wrote, by their names."""

    def __init__(self, results: Iterable[Result], choice: Choice = Choice()):
        self._by_name = {r.step: r for r in results}
        self.choice = choice

    def get(self, name: str) -> dict[str, Any] | None:
        """The JSON of a step; None if it has not run or failed."""
        result = self._by_name.get(name)
        return result.data if result else None

    def each(self, kind: str) -> list[tuple[str, dict[str, Any]]]:
        """(MATRIX, JSON) of the steps KIND/MATRIX that succeeded, in the order of the steps."""
        return [(r.step.split("/", 1)[1], r.data) for r in self._by_name.values()
                if r.step.startswith(kind + "/") and r.data is not None]

    def result(self, name: str) -> Result | None:
        return self._by_name.get(name)

    def failed(self, kind: str) -> list[Result]:
        """The steps KIND and KIND/MATRIX that have failed."""
        return [r for r in self._by_name.values()
                if (r.step == kind or r.step.startswith(kind + "/")) and r.failure]


@dataclass(frozen=True)
class Text:
    """A paragraph; `code` in backquotes, **bold**, [links](#anchor)."""
    text: str


@dataclass(frozen=True)
class Table:
    """Cells are text, numbers (aligned at the right, sorted as numbers) or None (a dash). A column may have a format."""
    columns: tuple[str, ...]
    rows: list[tuple]
    caption: str
    formats: tuple[str | None, ...] = ()   # as in format(): ".2f"
    about: dict[str, str] = field(default_factory=dict)  # of columns, shown on hover and below


@dataclass(frozen=True)
class Picture:
    """`draw` fills the axes of a matplotlib figure: draw(figure). `alt` says in words what is to be seen."""
    draw: Callable[[Any], None]
    caption: str
    alt: str
    width: float = 7.0   # inches
    height: float = 3.8


Block = Text | Table | Picture


@dataclass(frozen=True)
class Part:
    """A table or figure, by the number that the paper gives it. `show` returns no blocks if nothing was measured."""
    number: str                      # "Figure 3a"
    title: str
    steps: tuple[str, ...]           # names or kinds of the steps that it reads: their commands are shown
    show: Callable[[Results], list[Block]]
    paper: str = ""                  # what the paper has there, in numbers, with its hardware
    missing: str = ""                # what cannot be had, and why


@dataclass(frozen=True)
class Verdict:
    verdict: str                     # HOLDS ... UNMEASURED
    figures: str                     # the numbers that decide it
    why: str = ""                    # where it does not hold: the measurement that explains it


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, in our words. `part` is the number of the part that has the figures."""
    text: str
    where: str                       # section or page
    part: str
    judge: Callable[[Results], Verdict]


@dataclass(frozen=True)
class Subject:
    name: str                        # "huard"
    title: str
    about: str                       # citation, hardware of the paper; a paragraph
    steps: Callable[[Choice], list[Step]]
    parts: tuple[Part, ...]
    claims: tuple[Claim, ...]
    matrices: Callable[[Choice], Table] | None = None    # those that are at hand, those missing, stand-ins
    summary: Callable[[Results], list[str]] | None = None  # sentences that come first, made from the figures
