"""Progress as a bar: tqdm's where it is installed, else a line on standard error if that is a terminal."""
from __future__ import annotations

import math
import sys
from typing import Any, Callable, Optional, Union

Report = Callable[[str, int, int, float], Any]


class Bar:
    """tqdm, one bar for each stage."""

    def __init__(self, tqdm: Any) -> None:
        self.tqdm = tqdm
        self.bar: Any = None
        self.stage = ""

    def __call__(self, stage: str, done: int, total: int, residual: float) -> None:
        if stage != self.stage or self.bar is None:
            self.close()
            self.stage = stage
            self.bar = self.tqdm(total=total or None, desc=stage, leave=False)
        bar = self.bar
        bar.total = total or None
        if not math.isnan(residual):
            bar.set_postfix_str(f"residual {residual:.1e}", refresh=False)
        if done < bar.n:  # begun again
            bar.reset()
        bar.update(done - bar.n)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None


class Line:
    """The same in plain text."""

    def __init__(self) -> None:
        self.shown = ""

    def __call__(self, stage: str, done: int, total: int, residual: float) -> None:
        part = f" {100 * done // total:3d} %" if total else f" {done}"
        line = stage + part + ("" if math.isnan(residual) else f", residual {residual:.1e}")
        if line != self.shown and sys.stderr.isatty():
            sys.stderr.write("\r" + line.ljust(len(self.shown)))
            sys.stderr.flush()
            self.shown = line

    def close(self) -> None:
        if self.shown:
            sys.stderr.write("\r" + " " * len(self.shown) + "\r")
            self.shown = ""


def reporter(progress: Union[bool, Report, None]) -> Optional[Report]:
    """What progress=... stands for: a function, True for a bar, or nothing."""
    if progress is None or progress is False:
        return None
    if progress is not True:
        return progress
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return Line()
    return Bar(tqdm)
