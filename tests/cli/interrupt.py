#!/usr/bin/env python3
"""Runs a command and sends it signals when it has come to a certain point, however long that takes.

    interrupt.py WHEN SIGNAL[,SIGNAL...] COMMAND...

WHEN is `ready` (the program listens for signals), `input` (it has read what stood on its standard input,
which stays open) or `said:TEXT` (TEXT stood on its standard error), `bar:TEXT` (the same, where standard
error is a terminal). Signals with a comma between them are sent at once. Standard error is passed on.
Exits as the command did, with 128 + N where signal N killed it.
"""
import array
import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
import threading
import time


class Child:
    """A command at work; what it says on standard error is gathered, and passed on."""

    def __init__(self, command, terminal=False, **streams):
        read, write = pty.openpty() if terminal else os.pipe()
        self.said = b""
        plain = {name: value for name, value in os.environ.items() if name not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
        self.process = subprocess.Popen(command, stderr=write, env=plain, **streams)
        os.close(write)
        self.listener = threading.Thread(target=self.listen, args=(read,))
        self.listener.start()

    def listen(self, source):
        while True:
            try:
                text = os.read(source, 65536)
            except OSError:  # what a terminal says at its end
                text = b""
            if not text:
                break
            self.said += text
            sys.stderr.buffer.write(text)
            sys.stderr.flush()

    def wait_until(self, true):
        while not true():
            if self.process.poll() is not None:
                sys.exit(f"ended with {self.end()} before it was interrupted")
            time.sleep(0.005)

    def listens(self, number=signal.SIGTERM):
        """Whether a thread waits for the signal, which all others block. The program starts itself a second
        time, with OMP_WAIT_POLICY set; the threads of its libraries block the signal only then."""
        try:
            with open(f"/proc/{self.process.pid}/environ") as environment:
                started = "OMP_WAIT_POLICY=" in environment.read()
            tasks = os.listdir(f"/proc/{self.process.pid}/task")
            blocked = {task: self.blocked(task) >> (number - 1) & 1 for task in tasks}
        except (OSError, StopIteration):  # one of them has just ended
            return False
        return started and blocked[str(self.process.pid)] and not all(blocked.values())

    def blocked(self, task):
        with open(f"/proc/{self.process.pid}/task/{task}/status") as status:
            return int(next(line.split()[1] for line in status if line.startswith("SigBlk:")), 16)

    def send(self, names):
        for name in names.split(","):
            self.process.send_signal(getattr(signal, "SIG" + name))

    def end(self):
        status = self.process.wait()
        self.listener.join()
        return 128 - status if status < 0 else status


def unread(pipe):
    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


def main(when, signals, *command):
    kind, _, text = when.partition(":")
    if kind == "input":
        read, write = os.pipe()
        os.write(write, b"%%MatrixMarket matrix coordinate real symmetric\n% to be continued\n")
        child = Child(command, stdin=read)
        child.wait_until(lambda: unread(read) == 0)
    else:
        child = Child(command, terminal=kind == "bar")
        child.wait_until(child.listens if kind == "ready" else lambda: text.encode() in child.said)
    child.send(signals)
    return child.end()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
