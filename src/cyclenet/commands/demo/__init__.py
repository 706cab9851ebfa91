"""`cyclenet demo`: see, encode, train and report, within two minutes, ending with a page.

Two graphs that are one to message passing; the cycle numbers of some thousand graphs; a task of
the paper with and without them, for a part of its epochs; and one page with all of it. What is
done stays done: the same command in the same folder goes on where it was.
"""

import shlex
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import torch

from cyclenet.commands.demo.encoding import Encoded, encode
from cyclenet.commands.demo.page import headline, write_demo_page
from cyclenet.commands.demo.sight import save_picture, see
from cyclenet.commands.demo.training import EPOCHS, NUM_NETWORKS, train
from cyclenet.commands.outcome import EXIT_FAILURES, Outcome
from cyclenet.commands.progress import Meter, progress
from cyclenet.commands.table import aligned, size_text
from cyclenet.report.numbers import rate, whole
from cyclenet.report.scores import Results
from cyclenet.report.tables import plain

PAGE, PICTURE = "report.html", "rook-shrikhande.svg"

DEFAULT_SECONDS = 60

_EPOCHS, _GRAPHS = 30, 3000
# Parts of the whole way, in the order they are gone, as long as they take.
_SHARES = Counter({"encode": 15, "train": 80, "page": 5})
_NEXT = "cyclenet inspect molecules:0 --svg molecule.svg"
# With more, threads of other programs on the same cores may slow training down tenfold.
_TORCH_THREADS = 1


class Size(NamedTuple):
    """How much the demo does.

    Args:
        graphs: Graphs that are encoded.
        epochs: Epochs of each training.
    """

    graphs: int
    epochs: int


def size_of(seconds: int) -> Size:
    """What can be done in a time on two cores: more seconds, more graphs and epochs.

    The clock is not asked, so that the numbers are the same on a slow machine.

    Args:
        seconds: About how long it may take.

    Returns:
        At least one epoch, and at most those of the experiment.

    Example:
        >>> size_of(60)
        Size(graphs=3000, epochs=30)
    """
    share = seconds / DEFAULT_SECONDS
    epochs = min(max(round(_EPOCHS * share), 1), EPOCHS)
    return Size(max(round(_GRAPHS * share), 20), epochs)


def run_demo(out: Path, *, seconds: int = DEFAULT_SECONDS) -> Outcome:
    """See, encode, train, report.

    Args:
        out: Folder of the page, the records and the picture; made if it is not there.
        seconds: About how long it may take, on two cores, once everything is installed.

    Returns:
        All numbers, and the path of the page. With a failed run among them, status 3.
    """
    size, spent = size_of(seconds), {}
    out.mkdir(parents=True, exist_ok=True)
    with progress("demo", _SHARES.total()) as meter, _torch_threads(_TORCH_THREADS):
        with _timed(spent, "see two graphs"):
            sight = see()
            save_picture(sight, out / PICTURE)
        encoded = encode(size.graphs, out, _Stretch(meter, "encode", size.graphs))
        spent |= encoded.seconds
        results = train(size.epochs, out, _Stretch(meter, "train", NUM_NETWORKS))
        spent |= _training_seconds(results)
        meter.at(_SHARES.total() - _SHARES["page"], "the page")
        command = shlex.join(["cyclenet", "demo", "--out", str(out), "--seconds", str(seconds)])
        num_bytes = write_demo_page(out / PAGE, sight, encoded, results, spent, command)
    failed = any(score.failed for score in results.scores)
    result = {
        "comparison": [line._asdict() for line in sight.lines],
        "encoded": {
            **asdict(encoded),
            "bases_per_second": encoded.bases_per_second,
            "projectors_per_second": encoded.projectors_per_second,
        },
        "trained": plain(results),
        "picture": str(out / PICTURE),
        "page": str(out / PAGE),
        "bytes": num_bytes,
        "next": _NEXT,
    }
    lines = [
        *aligned(sight.lines, ("", *sight.graphs, "told apart")),
        "",
        *_words(encoded).splitlines(),
        "",
        *aligned(*headline(results)),
        *_failures(results),
        "",
        f"report: {out / PAGE} ({size_text(num_bytes)})",
        f"next: {_NEXT}",
    ]
    return Outcome(result, lines, exit_code=EXIT_FAILURES if failed else 0)


class _Stretch:
    """A part of the whole way, counted in its own steps."""

    def __init__(self, meter: Meter, name: str, total: float | int) -> None:
        names = list(_SHARES)
        self.meter, self.total, self.length = meter, total, _SHARES[name]
        self.start = sum(_SHARES[one] for one in names[: names.index(name)])

    def at(self, done: float | int, about: str = "") -> None:
        """Show a state of this part."""
        self.meter.at(self.start + self.length * done / self.total, about)


def _words(encoded: Encoded) -> str:
    """What was encoded, in a sentence."""
    return (
        f"{whole(encoded.graphs)} graphs of points on circles, {encoded.threads} threads: "
        f"{rate(encoded.bases_per_second)} shortest bases and "
        f"{rate(encoded.projectors_per_second)} projectors a second;\n"
        f"{encoded.unique / encoded.graphs:.0%} of the graphs have only one shortest basis."
    )


def _failures(results: Results) -> list[str]:
    return [
        f"failed: {score.name}, seed {record.seed}: {record.failure}"
        for score in results.scores
        for record in score.failed
    ]


def _training_seconds(results: Results) -> dict[str, float]:
    return {
        f"train {score.name}": sum(record.seconds for record in score.records)
        for score in results.scores
    }


@contextmanager
def _timed(spent: dict[str, float], name: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    spent[name] = time.perf_counter() - started


@contextmanager
def _torch_threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
