#!/usr/bin/env python3
"""What `saddle bench reproduce` and `saddle bench standing` start: measures what is missing, and writes the page.

    python3 pages reproduce huard --out DIR [--device cuda] [--matrices DIR] [--quick] ...
    python3 pages standing --out DIR ...
"""
import sys

sys.dont_write_bytecode = True  # nothing is left where the programs are installed
if sys.version_info < (3, 10):
    sys.exit("saddle: the pages require python3 of version 3.10 or later, this is " + sys.version.split()[0])

import argparse  # noqa: E402
import importlib  # noqa: E402
import os  # noqa: E402
import shlex  # noqa: E402
import signal  # noqa: E402

import content  # noqa: E402
import draw  # noqa: E402
import markdown  # noqa: E402
import page  # noqa: E402
import runner  # noqa: E402
from model import Choice  # noqa: E402

# Which module of this folder has the SUBJECT.
PAPERS = {"stretching": "papers.stretching", "huard": "papers.huard", "trisolve": "papers.trisolve", "ssids": "papers.ssids"}
HERE = os.path.dirname(os.path.realpath(__file__))


class NoDevice(Exception):
    """Why there is no GPU."""


def program_beside():
    """The program of the tree that this folder belongs to: installed, built, or the sources with a build."""
    for place in ("../../../bin/saddle", "../../build/bin/saddle"):
        path = os.path.normpath(os.path.join(HERE, place))
        if os.access(path, os.X_OK):
            return path
    return "saddle"


def parse(argv):
    parser = argparse.ArgumentParser(prog="pages", allow_abbrev=False)
    what = parser.add_subparsers(dest="what", required=True)
    reproduce, standing = what.add_parser("reproduce", allow_abbrev=False), what.add_parser("standing", allow_abbrev=False)
    reproduce.add_argument("paper", choices=PAPERS)
    for one in (reproduce, standing):
        one.add_argument("--out", required=True)
        one.add_argument("--device")
        one.add_argument("--matrices")
        one.add_argument("--quick", action="store_true")
        one.add_argument("--threads", type=int)
        one.add_argument("--part")
        one.add_argument("--again", action="store_true")
        one.add_argument("--minutes", type=float, default=0)
        one.add_argument("--draw", action="store_true")
        one.add_argument("--quiet", action="store_true")
        one.add_argument("--verbose", action="store_true")
        one.add_argument("--program", default=program_beside())
    return parser.parse_args(argv)


def subject_of(a):
    return importlib.import_module(PAPERS[a.paper] if a.what == "reproduce" else "standing").SUBJECT


def recall(a, store):
    """What was not given is what the newest of the results was asked with: it is drawn as it was measured."""
    words = shlex.split(store.last()["asked"])
    before = parse(words[2:]) if words else a  # after "saddle bench"
    if before.matrices and not a.matrices and not os.path.isdir(before.matrices):
        raise runner.Refused(f"{a.out} was measured with the matrices in {before.matrices}, which is not there: "
                             "name their folder with --matrices")
    for name in ("device", "matrices", "quick", "threads"):
        setattr(a, name, getattr(a, name) or getattr(before, name))


def settle(a):
    """What was not given is as by default."""
    a.device, a.threads = a.device or "cpu", a.threads or 1
    a.matrices = a.matrices or (None if a.draw else os.environ.get("SADDLE_MATRICES"))
    if a.matrices and not os.path.isdir(a.matrices):
        raise runner.Refused(f"{a.matrices}: the folder of matrices is not there (--matrices, SADDLE_MATRICES)")


def opened(a, subject):
    """The store, once all that was asked for is known."""
    if a.draw:
        store = runner.Store(a.out, subject.name, new=False)
        recall(a, store)
        settle(a)
        return store
    settle(a)
    return runner.Store(a.out, subject.name)


def asked(a):
    """The command as a user would give it."""
    words = ["saddle", "bench", a.what] + ([a.paper] if a.what == "reproduce" else []) + ["--out", a.out]
    words += ["--device", a.device] if a.device != "cpu" else []
    words += ["--matrices", a.matrices] if a.matrices else []
    words += ["--threads", str(a.threads)] if a.threads != 1 else []
    words += ["--quick"] if a.quick else []
    return " ".join(map(runner.quoted, words))


def measure(a, subject, steps, store):
    """Runs what is to be run; the records from which the page is made."""
    if a.draw:
        return store.newest(steps)
    machine = runner.Machine.ask(a.program)
    if a.device == "cuda" and machine.gpu_missing:
        raise NoDevice(machine.gpu_missing)
    run = runner.Runner(machine, store, asked(a), None if a.quiet else sys.stderr, a.verbose)
    only = None
    if a.part:
        parts = runner.chosen_parts(subject, a.part)
        only = [s for s in steps if any(runner.reads(p, s) for p in parts)]
    run.run(steps, anew=steps if a.again else only or (), only=only, minutes=a.minutes or None)
    return run.records(steps)


def make(a):
    """Measures and writes; the exit status."""
    subject = subject_of(a)
    store = opened(a, subject)
    choice = Choice(a.device, a.matrices, a.quick, a.threads)
    steps = subject.steps(choice)
    records = measure(a, subject, steps, store)
    made = content.evaluate(subject, choice, steps, records, "" if a.draw else asked(a))
    page.write(made, a.out)
    markdown.write(made, a.out)
    for trouble in made.troubles:
        print(f"saddle: {trouble}", file=sys.stderr)
    if draw.lacking():
        print(f"saddle: the page has no pictures: {draw.lacking()}; then run the same command with --draw", file=sys.stderr)
    if not a.quiet:
        print(f"{os.path.join(a.out, 'index.html')} is written", file=sys.stderr)
    return 3 if made.troubles or draw.lacking() else 0


def interrupted(*_):
    raise KeyboardInterrupt


def main():
    signal.signal(signal.SIGTERM, interrupted)
    a = parse(sys.argv[1:])
    try:
        return make(a)
    except KeyboardInterrupt:
        print(f"\nsaddle: interrupted; what was measured is in {a.out}, the same command goes on from there", file=sys.stderr)
        return 130
    except (runner.Refused, NoDevice) as refused:
        print(f"saddle: {refused}", file=sys.stderr)
        return 2 if isinstance(refused, runner.Refused) else 5
    except OSError as error:
        print(f"saddle: {error.filename or a.out}: {error.strerror or error}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
