#!/usr/bin/env python3
"""Stands in for the program: `doctor`, and steps that do what their words say.

    good NUMBER       writes JSON with the number
    late              sleeps until it is ended; so does a process that it started
    wrong TEXT        says the text on standard error and ends with status 3
    empty             ends well without JSON
    wait FILE         waits until there is such a file, then as good
"""
import json
import os
import subprocess
import sys
import time


def doctor():
    print(json.dumps({"saddle": "9.9.9", "commit": os.environ.get("FAKE_COMMIT", "f00"), "findings": [
        {"name": "cpu", "state": "ok", "detail": "an abacus"}, {"name": "memory", "state": "ok", "detail": "8 GB, 3 GB free"},
        {"name": "gpu", "state": "missing", "detail": "no GPU: this is an abacus"}]}))


def told(count):
    with open(os.environ["FAKE_LOG"], "a", encoding="utf-8") as log:
        log.write(" ".join(sys.argv[1:-2]) + "\n")
    with open(sys.argv[-1], "w", encoding="utf-8") as file:
        json.dump({"number": count}, file)


def main():
    word = sys.argv[1]
    if word == "doctor":
        doctor()
    elif word == "good":
        told(int(sys.argv[2]))
    elif word == "late":
        child = subprocess.Popen(["sleep", "10000"])
        with open(os.environ["FAKE_LOG"] + ".child", "w", encoding="utf-8") as file:
            file.write(str(child.pid))
        child.wait()
    elif word == "wrong":
        print("saddle: " + sys.argv[2] + "\nhint: nothing", file=sys.stderr)
        sys.exit(3)
    elif word == "wait":
        while not os.path.exists(sys.argv[2]):
            time.sleep(0.01)
        told(0)


if __name__ == "__main__":
    main()
