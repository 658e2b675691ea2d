"""Runs the steps of a subject whose results are not there yet, and keeps each result as a line of JSON as soon as it comes.

What was measured is never measured twice: a result is found again by the name of its step, its words and the commit of the
program. So a run that was interrupted goes on where it stopped, and a new program measures anew. A line that a crash left
incomplete is passed over.
"""
import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

from model import Result, Results

# The exits of the program after which its JSON is an answer: done, tolerance not reached, singular.
ANSWERS = (0, 1, 6)
GRACE = 5.0  # seconds between asking a step to end and ending it


class Refused(Exception):
    """What the caller has to change; the text says what."""


@dataclass
class Machine:
    """The program, and what `saddle doctor` says about where it runs."""
    program: str
    version: str = ""
    commit: str = ""
    findings: dict = field(default_factory=dict)
    gpu_missing: str = ""  # why there is none

    @staticmethod
    def ask(program):
        try:
            told = subprocess.run([program, "doctor", "--json", "-"], capture_output=True, text=True, check=False, timeout=120)
            about = json.loads(told.stdout)
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            raise Refused(f"{program} doctor does not answer: {error}") from error
        findings = {f["name"]: f["detail"] for f in about["findings"] if f["state"] == "ok"}
        missing = next((f["detail"] for f in about["findings"] if f["name"] == "gpu" and f["state"] != "ok"), "")
        return Machine(program, about["saddle"], about["commit"], findings, missing)

    def text(self):
        """What stays the same from run to run: not the memory that is free."""
        found = {**self.findings, "memory": self.findings.get("memory", "").split(",")[0]}
        return "; ".join(f"{name}: {found[name]}" for name in ("cpu", "threads", "memory", "blas", "gpu") if found.get(name))


def key(record):
    return record["step"], tuple(record["words"]), record["commit"]


class Store:
    """DIR/results.jsonl: one line for every step that was run, the last of several counts."""

    def __init__(self, folder, subject, new=True):
        self.path = os.path.join(folder, "results.jsonl")
        self.subject = subject
        if new:
            os.makedirs(folder, exist_ok=True)
        elif not os.path.exists(self.path):
            raise Refused(f"{folder} holds no results to write a page from")
        self.file = open(self.path, "a+", encoding="utf-8")
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Refused(f"{folder}: another run writes there; wait for its end or choose another --out") from error
        self.lines = self._read()
        other = next((line["subject"] for line in self.lines.values() if line["subject"] != subject), None)
        if other:
            raise Refused(f"{folder} holds the results of {other}; choose another --out")
        if not new and not self.lines:
            raise Refused(f"{folder} holds no results to write a page from")

    def _read(self):
        self.file.seek(0)
        text = self.file.read()
        if text and not text.endswith("\n"):
            self._write("\n")
        lines = {}
        for line in text.splitlines():
            with contextlib.suppress(ValueError, KeyError, TypeError):
                record = json.loads(line)
                lines.pop(key(record), None)
                lines[key(record)] = record
        return lines

    def _write(self, text):
        self.file.write(text)
        self.file.flush()
        os.fsync(self.file.fileno())

    def add(self, record):
        self._write(json.dumps(record) + "\n")
        self.lines.pop(key(record), None)  # the last line is the newest
        self.lines[key(record)] = record

    def find(self, step, commit):
        return self.lines.get((step.name, step.words, commit))

    def last(self):
        """The newest record."""
        return next(reversed(self.lines.values()))

    def newest(self, steps):
        """The last records of the steps, whatever program and machine they are from: folders may differ in their words."""
        last = {(record["step"], unplaced(record["words"])): record for record in self.lines.values()}
        return [last[s.name, unplaced(s.words)] for s in steps if (s.name, unplaced(s.words)) in last]

    def close(self):
        self.file.close()


def unplaced(words):
    """Files by their names, without their folders."""
    return tuple(map(os.path.basename, words))


def results_of(records, choice):
    return Results((Result(r["step"], r["data"], r["failure"], r["seconds"], r["command"]) for r in records), choice)


def reads(part, step):
    """Whether a part reads a step: by its name, or by its kind."""
    return any(step.name == name or step.name.startswith(name + "/") for name in part.steps)


def chosen_parts(subject, number):
    """The parts that a number means: "Figure 3" is also 3a and 3b, but not 30."""
    wanted = number.lower()
    found = [p for p in subject.parts if p.number.lower() == wanted] or [
        p for p in subject.parts if p.number.lower().startswith(wanted) and not p.number[len(wanted)].isdigit()]
    if not found:
        raise Refused(f"{subject.name} has no part \"{number}\"; it has {', '.join(p.number for p in subject.parts)}")
    return found


def duration(seconds):
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def last_words(text):
    """What a failed command said last, without the hints that follow."""
    lines = [line.strip() for line in text.replace("\r", "\n").splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("saddle")]
    return (errors or lines or [""])[-1][:500]


def shown(step):
    """Its command as a reader would give it."""
    words = [word if word != "{json}" else step.name.replace("/", "_") + ".json" for word in step.words]
    return " ".join(["saddle", *map(quoted, words)])


class Runner:
    """Runs steps of one subject in one folder."""

    def __init__(self, machine, store, asked="", log=sys.stderr, verbose=False):
        self.machine, self.store, self.asked, self.log, self.verbose = machine, store, asked, log, verbose

    def records(self, steps):
        """What is there, in the order of the steps."""
        return [r for r in (self.store.find(step, self.machine.commit) for step in steps) if r]

    def pace(self, steps):
        """Seconds that a second of cost takes here, by what has been measured."""
        known = [(step.cost, self.store.find(step, self.machine.commit)) for step in steps]
        cost = sum(c for c, r in known if r)
        return sum(r["seconds"] for _, r in known if r) / cost if cost else 1.0

    def expected(self, step, steps):
        return min(step.limit, step.cost * self.pace(steps))

    def age(self):
        """The place of a step's result among all, from the oldest on; without a result it comes first."""
        places = {it: k for k, it in enumerate(self.store.lines)}
        return lambda step: places.get((step.name, step.words, self.machine.commit), -1)

    def run(self, steps, anew=(), only=None, minutes=None):
        """Runs what is missing or is in `anew`; of `only`, where given. Whether all were run before the time was over."""
        wanted = [s for s in steps if (only is None or s in only)]
        # Of those that are measured again the oldest first: so portions of such a run add up, too.
        left = sorted((s for s in wanted if s in anew or not self.store.find(s, self.machine.commit)), key=self.age())
        began = time.monotonic()
        if left:
            self.say(f"{len(wanted)} step{'s' if len(wanted) != 1 else ''}, {len(wanted) - len(left)} of them done before; "
                     f"about {duration(sum(self.expected(s, steps) for s in left))}\n")
        for k, step in enumerate(left):
            spent = time.monotonic() - began
            late = minutes is not None and (spent >= 60 * minutes or (k and spent + self.expected(step, steps) > 60 * minutes))
            if late:
                self.say(f"{len(left) - k} steps are left for the next run of the same command\n")
                return False
            what = f"{step.name}: {shown(step)}" if self.verbose else step.name
            self.say(f"[{len(wanted) - len(left) + k + 1}/{len(wanted)}] {what} ... ")
            record = self.measure(step)
            self.store.add(record)
            rest = sum(self.expected(s, steps) for s in left[k + 1:])
            how = {"": "", "time": f", over its limit of {step.limit:g} s"}.get(record["failure"], ": " + record["failure"])
            self.say(f"{record['seconds']:.1f} s{how}" + (f"; about {duration(rest)} left" if rest else "") + "\n")
        return True

    def measure(self, step):
        """The record of one step."""
        with tempfile.TemporaryDirectory(prefix="step.", dir=os.path.dirname(self.store.path)) as folder:
            out = os.path.join(folder, "step.json")
            argv = [self.machine.program, *(out if word == "{json}" else word for word in step.words)]
            began = time.monotonic()
            status, said = self.command(argv, step.limit, folder)
            seconds = time.monotonic() - began
            data, failure = None, "time"
            if status is not None:
                data = read_json(out if "{json}" in step.words else os.path.join(folder, "out")) if status in ANSWERS else None
                failure = "" if data is not None else last_words(said) or f"ended with status {status} and no JSON"
        return {"subject": self.store.subject, "step": step.name, "words": list(step.words), "commit": self.machine.commit,
                "version": self.machine.version, "machine": self.machine.text(), "date": time.strftime("%Y-%m-%d"),
                "asked": self.asked, "command": shown(step), "seconds": round(seconds, 3), "failure": failure,
                "data": data}

    def command(self, argv, limit, folder):
        """Exit status (None: over the limit) and what was said on standard error. The step's children end with it."""
        with open(os.path.join(folder, "out"), "wb") as out, open(os.path.join(folder, "said"), "w+b") as said:
            child = None
            try:
                with uninterrupted():  # or a step would be running that nobody knows of
                    child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=said, start_new_session=True)
                status = child.wait(limit)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                if child:
                    end(child)
            said.seek(0)
            return status, said.read().decode(errors="replace")

    def say(self, text):
        if self.log:
            self.log.write(text)
            self.log.flush()


@contextlib.contextmanager
def uninterrupted():
    """A signal that asks to end is delivered afterwards."""
    came = []
    before = {number: signal.signal(number, lambda it, _: came.append(it)) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for number in came:
        os.kill(os.getpid(), number)


def end(child):
    """Ends a step that still runs, and whatever it had started."""
    for number, grace in ((signal.SIGTERM, GRACE), (signal.SIGKILL, None)):
        if child.poll() is not None:
            break
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(grace)


def read_json(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def quoted(word):
    """As a shell reads it."""
    plain = word and all(c.isalnum() or c in "-_=+.,:/@%" for c in word)
    return word if plain else "'" + word.replace("'", "'\\''") + "'"
