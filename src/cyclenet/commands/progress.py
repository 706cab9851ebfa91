"""How far a command is: a bar on a terminal, otherwise a plain line every ten seconds.

Both stand on stderr. They are for whoever watches, so they are silent where the logger `cyclenet`
is silent below a warning, as `-q` has it.
"""

import contextlib
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Protocol, runtime_checkable

SECONDS_BETWEEN_LINES = 10.0

_log = logging.getLogger("cyclenet.progress")


@runtime_checkable
class Meter(Protocol):
    """Is told how far the work is; cheap enough to be told of every step."""

    def at(self, done: float | int, about: str = "") -> None:
        """Show a state of the work.

        Args:
            done: How much is done, from 0 to the total.
            about: What is being done, in a few words.
        """
        ...


@contextlib.contextmanager
def progress(
    what: str,
    total: float | int,
    *,
    every: float | int = SECONDS_BETWEEN_LINES,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Meter]:
    """Show how far a piece of work is, for as long as it lasts.

    The bar goes away at the end; what is printed to stderr meanwhile stands above it.

    Args:
        what: Name of the work.
        total: How much there is to do; what `Meter.at` counts up to.
        every: Least seconds between two plain lines.
        clock: Tells the time in seconds.

    Yields:
        What to tell of each step.
    """
    if not _log.isEnabledFor(logging.INFO):
        yield _Silent()
    elif sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        with _bar(what, total) as meter:
            yield meter
    else:
        yield _Lines(what, total, every, clock)


class _Silent:
    """Nobody watches."""

    def at(self, done: float | int, about: str = "") -> None:
        """Show nothing."""


class _Lines:
    """A line now and then, for a file or a pipe."""

    def __init__(
        self, what: str, total: float | int, every: float | int, clock: Callable[[], float]
    ) -> None:
        self.what, self.total, self.every, self.clock = what, total, every, clock
        self.started = self.last = clock()

    def at(self, done: float | int, about: str = "") -> None:
        """Write a line if the last one is old enough."""
        now = self.clock()
        if now - self.last < self.every:
            return
        self.last = now
        share = done / self.total if self.total else 1.0
        tail = f", {about}" if about else ""
        _log.info("%s: %.0f%%, %.0f s%s", self.what, 100 * share, now - self.started, tail)


class _Bar:
    """A bar that moves."""

    def __init__(self, move: Callable[[float | int, str], None]) -> None:
        self.move = move

    def at(self, done: float | int, about: str = "") -> None:
        """Move the bar."""
        self.move(done, about)


@contextlib.contextmanager
def _bar(what: str, total: float | int) -> Iterator[_Bar]:
    # Without a terminal rich is never needed, and it takes its time to load.
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"), BarColumn(bar_width=30),
        TextColumn("{task.percentage:>3.0f}%"), TimeElapsedColumn(),
        TextColumn("{task.fields[about]}"),
    )  # fmt: skip
    console = Console(file=sys.stderr)  # which knows NO_COLOR
    with Progress(*columns, console=console, transient=True, redirect_stdout=False) as shown:
        task = shown.add_task(escape(what), total=total, about="")
        yield _Bar(lambda done, about: shown.update(task, completed=done, about=escape(about)))
