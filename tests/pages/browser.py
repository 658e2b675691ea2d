"""A headless chromium, spoken to in its own protocol through a pipe: pages as readers see them.

Each answer is waited for as long as a busy machine may take.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE = 240.0  # seconds
NAMES = ("chromium", "chromium-browser", "google-chrome")


def find():
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """With one page; what its console and its network said is in `said`."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="saddle-browser.")
        theirs_in, self.write_to = os.pipe()
        self.read_from, theirs_out = os.pipe()

        def place():
            """The protocol is read from 3 and written to 4. The copies first: a pipe may have these numbers."""
            copies = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(copies[0], 3)
            os.dup2(copies[1], 4)
        self.process = subprocess.Popen(
            [find(), "--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-extensions", "--disable-background-networking", "--hide-scrollbars",
             f"--user-data-dir={self.folder}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=place,
            env={**os.environ, "HOME": self.folder})
        os.close(theirs_in)
        os.close(theirs_out)
        self.number, self.rest, self.said, self.session = 0, b"", [], None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.write_to)
        os.close(self.read_from)
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def message(self, until):
        """The next message; messages end with a zero byte."""
        while b"\0" not in self.rest:
            if not select.select([self.read_from], [], [], max(0.0, until - time.monotonic()))[0]:
                raise TimeoutError("chromium does not answer")
            got = os.read(self.read_from, 1 << 20)
            if not got:
                raise EOFError("chromium has ended")
            self.rest += got
        text, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(text)
        if message.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled",
                                     "Network.requestWillBeSent"):
            self.said.append((message["method"], message["params"]))
        return message

    def ask(self, method, **params):
        self.number += 1
        number, until = self.number, time.monotonic() + PATIENCE
        ask = {"id": number, "method": method, "params": params, **({"sessionId": self.session} if self.session else {})}
        os.write(self.write_to, json.dumps(ask).encode() + b"\0")
        while (message := self.message(until)).get("id") != number:
            pass
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        return message["result"]

    def open(self, path, width, scheme="light"):
        """A page in a window of this width."""
        self.said = []
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme},
                                                         {"name": "prefers-reduced-motion", "value": "reduce"}])
        self.ask("Page.navigate", url="file://" + os.path.abspath(path))
        until = time.monotonic() + PATIENCE
        while self.evaluate("document.readyState") != "complete" or self.evaluate("location.href") == "about:blank":
            if time.monotonic() > until:
                raise TimeoutError("the page does not load")
            time.sleep(0.02)

    def evaluate(self, script):
        """The value of an expression, as JSON."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def errors(self):
        """What the console complained about, and every request but that of the page itself and of what it holds."""
        bad = [json.dumps(p)[:500] for m, p in self.said if m in ("Runtime.exceptionThrown", "Log.entryAdded")
               or (m == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"))]
        return bad + [p["request"]["url"] for m, p in self.said if m == "Network.requestWillBeSent"
                      and p["type"] != "Document" and not p["request"]["url"].startswith("data:")]

    def key(self, name, text=""):
        """A key is pressed and let go."""
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=name, code="Space" if name == " " else name,
                     windowsVirtualKeyCode=32 if name == " " else 13, text=text if kind == "keyDown" else "")

    def picture(self, path, whole=True):
        shot = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))
