#!/usr/bin/env python3
"""Runs tests of unittest and prints TAP, which tests/counted counts.

    unittests.py FOLDER [MODULE ...]     the folder's modules test_*.py, or those that are named
"""
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True


class Tap(unittest.TestResult):
    """A line for each test, with a test's own output and failures before it."""

    def startTestRun(self):
        self.number = 0
        self.bad = False

    def line(self, outcome, test, more=""):
        self.number += 1
        print(f"{outcome} {self.number} {test.id()}{more}", flush=True)

    def addSuccess(self, test):
        self.line("ok", test)

    def addSkip(self, test, reason):
        self.line("ok", test, f" # skip {reason}")

    def addFailure(self, test, error):
        self.bad = True
        print("".join(f"# {line}\n" for line in self._exc_info_to_string(error, test).splitlines()), end="")
        self.line("not ok", test)

    addError = addFailure

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.addFailure(subtest, error)


def main(folder, names):
    sys.path.insert(0, folder)
    names = names or sorted(path.stem for path in pathlib.Path(folder).glob("test_*.py"))
    suite = unittest.defaultTestLoader.loadTestsFromNames(names)
    result = Tap()
    result.startTestRun()
    suite.run(result)
    print(f"1..{result.number}")
    return 1 if result.bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
