"""A real browser, driven over a pipe by the DevTools protocol: enough to open a page and look."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")

# What a headless browser leaves alone: updates, first-run pages, sandboxes that root cannot have.
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-extensions", "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
SECONDS = 60.0


def program() -> str | None:
    """The browser of this machine, or None."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class Seen(NamedTuple):
    """An open page.

    Args:
        requests: Addresses it asked for, its own first; what it carries itself is no request.
        complaints: What stands on its console, and errors.
    """

    requests: list[str]
    complaints: list[str]


class Browser:
    """A browser with one tab; a context manager, at whose end it is gone.

    Args:
        path: The program.
    """

    def __init__(self, path: str) -> None:
        self._folder = tempfile.mkdtemp(prefix="browser-")
        # The browser reads from its descriptor 3 and writes to 4; ours stay clear of both.
        theirs_in, self._to = _high_pipe()
        self._from, theirs_out = _high_pipe()

        def place() -> None:
            os.dup2(theirs_in, 3)
            os.dup2(theirs_out, 4)

        self._process = subprocess.Popen(
            [path, *OPTIONS, f"--user-data-dir={self._folder}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=(3, 4), preexec_fn=place,
        )  # fmt: skip
        os.close(theirs_in)
        os.close(theirs_out)
        self._buffer, self._number, self._events = b"", 0, []
        self._session: str | None = None

    def __enter__(self) -> "Browser":
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait(SECONDS)
        os.close(self._to)
        os.close(self._from)
        shutil.rmtree(self._folder, ignore_errors=True)

    def open(self, path: Path, *, width: int, dark: bool = False) -> Seen:
        """Load a file at a width, in the light or in the dark."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=844, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self._events.clear()
        self.call("Page.navigate", url=path.resolve().as_uri())
        self._wait_for("Page.loadEventFired")
        self.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
        complaints = [
            json.dumps(event["params"])
            for event in self._events
            if event["method"]
            in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        ]
        requests = [
            url
            for event in self._events
            if event["method"] == "Network.requestWillBeSent"
            and not (url := event["params"]["request"]["url"]).startswith("data:")
        ]
        return Seen(requests, complaints)

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def screenshot(self, *, whole: bool = True) -> bytes:
        """The page as PNG."""
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        return base64.b64decode(answer["data"])

    def call(self, method: str, **params: object) -> dict[str, Any]:
        """Send a command and wait for its answer; events that come before it are kept."""
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            if "method" in answer:
                self._events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def _wait_for(self, name: str) -> None:
        while all(event["method"] != name for event in self._events):
            if "method" in (event := self._next()):
                self._events.append(event)

    def _next(self) -> dict[str, Any]:
        """The next message."""
        end = time.monotonic() + SECONDS
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._from], [], [], max(end - time.monotonic(), 0.0))
            assert ready, "the browser does not answer"
            part = os.read(self._from, 1 << 20)
            assert part, "the browser has ended"
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)


def _high_pipe() -> tuple[int, int]:
    """A pipe whose ends have numbers of 10 and above."""
    ends = os.pipe()
    high = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return high[0], high[1]
