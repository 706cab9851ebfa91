"""Seconds of an epoch of a row, in four ways in one process.

Asked for as `python -m cyclenet.bench.training FILE.toml --row LABEL`. The plainest way is what
most people write: PyG's `DataLoader` joins the graphs of each batch, and the host asks for one
operation after the other. The others are those of `runner.fit`.
"""

import argparse
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, get_args

import torch
from torch.profiler import ProfilerActivity, profile
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

from cyclenet.datasets.data_folder import DataFolder
from cyclenet.experiments.build import build_model, prepared
from cyclenet.experiments.reading import read_experiment
from cyclenet.experiments.spec import Run, Training
from cyclenet.experiments.tasks import TASKS, TaskKind, loss_of
from cyclenet.runner.execute import splits_of
from cyclenet.runner.fit import Sets, Steps, fit

WAYS = ("loader", *get_args(Steps))

# Graphs to look at after each epoch: how long that takes is not asked here.
_LOOKED_AT = 100


class Way(NamedTuple):
    """What one way of training costs.

    Args:
        seconds: Seconds of an epoch without looking at other graphs: the median, the first epoch
            left out.
        first: Seconds of the first, with all that is compiled, recorded and allocated.
        busy: Share of an epoch in which the GPU computes, or None on a CPU.
    """

    seconds: float
    first: float
    busy: float | None


def time_row(
    run: Run, data: DataFolder, device: torch.device, *, epochs: int, ways: Sequence[str]
) -> Iterator[tuple[str, Way]]:
    """Train the network of a row for a few epochs, in each of some ways.

    Args:
        run: The row, its task and a seed.
        data: Where graphs are that come from files.
        device: Where to train.
        epochs: Epochs of each way, at least 4.
        ways: ``"loader"`` for PyG's, or one of the `Steps` of `fit`.

    Yields:
        The name of each way and what it costs.
    """
    kind, settings = TASKS[run.task.name], run.settings
    assert isinstance(settings, Training)
    splits = splits_of(run, kind, data)
    few = (splits.train, splits.validation[:_LOOKED_AT], splits.test[:_LOOKED_AT])
    sets = Sets(*(prepared(run.row, items) for items in few))
    # Never so low a rate that the training ends.
    settings = replace(settings, epochs=epochs, lr_patience=epochs)
    for way in ways:
        torch.manual_seed(run.seed)
        model = build_model(run.row, kind, splits.train)
        if way == "loader":
            yield way, _by_loader(model, kind, sets.train, settings, device)
        else:
            yield way, _by_fit(model, kind, sets, settings, device, way)


def _by_fit(
    model: torch.nn.Module,
    kind: TaskKind,
    sets: Sets,
    settings: Training,
    device: torch.device,
    steps: Any,
) -> Way:
    meter = _Meter(settings.epochs, device)
    fit(
        model, kind, sets, settings,
        seed=0, device=device, steps=steps, watch=lambda progress: meter.epoch(progress.seconds),
    )  # fmt: skip
    return meter.read()


def _by_loader(
    model: torch.nn.Module,
    kind: TaskKind,
    items: Sequence[Data],
    settings: Training,
    device: torch.device,
) -> Way:
    loader: Any = DataLoader(list(items), batch_size=settings.batch_size, shuffle=True)
    model = model.to(device).train()
    optimiser = torch.optim.Adam(model.parameters(), lr=settings.lr)
    meter = _Meter(settings.epochs, device)
    for _ in range(settings.epochs):
        started = time.perf_counter()
        for batch in loader:
            here = batch.to(device)
            optimiser.zero_grad()
            loss_of(kind, model(here), here.y).backward()
            optimiser.step()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        meter.epoch(time.perf_counter() - started)
    return meter.read()


class _Meter:
    """Seconds of all epochs; in the last, which is slower for it, what the GPU computes."""

    def __init__(self, epochs: int, device: torch.device) -> None:
        self._epochs, self._listens = epochs, device.type == "cuda"
        self._seconds: list[float] = []
        self._profile = profile(activities=[ProfilerActivity.CUDA]) if self._listens else None
        self._started = 0.0
        self._busy: float | None = None

    def epoch(self, seconds: float) -> None:
        """An epoch is over."""
        self._seconds.append(seconds)
        if self._profile is None:
            return
        if len(self._seconds) == self._epochs - 1:
            self._profile.__enter__()
            self._started = time.perf_counter()
        elif len(self._seconds) == self._epochs:
            wall = time.perf_counter() - self._started
            self._profile.__exit__(None, None, None)
            found = self._profile.key_averages()
            self._busy = 1e-6 * sum(event.self_device_time_total for event in found) / wall

    def read(self) -> Way:
        """What was measured; the epoch that was listened to does not count."""
        timed = self._seconds[1:-1] if self._profile is not None else self._seconds[1:]
        return Way(statistics.median(timed), self._seconds[0], self._busy)


def main(words: Sequence[str] | None = None) -> None:
    """Print the ways as a table.

    Args:
        words: The command line.
    """
    parser = argparse.ArgumentParser("python -m cyclenet.bench.training", description=__doc__)
    parser.add_argument("file", type=Path, metavar="FILE.toml")
    parser.add_argument("--row", action="append", required=True, help="label of a row; repeatable")
    parser.add_argument("--task", help="name of a task; the first of the file if left out")
    parser.add_argument("--protocol", default="honest")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--epochs", type=int, default=5, help="of each way; from 4 on")
    parser.add_argument("--limit", type=int, default=0, help="training graphs at most")
    parser.add_argument("--data", default="data", help="folder of stored graphs")
    parser.add_argument("--way", action="append", choices=WAYS, help="repeatable; all if left out")
    asked = parser.parse_args(words)
    if asked.epochs < 4:
        parser.error(f"--epochs must be at least 4, but it is {asked.epochs}")
    experiment = read_experiment(asked.file, limit=asked.limit)
    for label in asked.row:
        runs = [
            run for run in experiment.runs()
            if run.row.label == label and run.row.protocol == asked.protocol
            and run.task.name == (asked.task or experiment.tasks[0].name)
        ]  # fmt: skip
        if not runs:
            parser.error(f"no row {label!r} under {asked.protocol!r} in {asked.file}")
        slowest = None
        for name, way in time_row(
            runs[0], DataFolder(Path(asked.data)), torch.device(asked.device),
            epochs=asked.epochs, ways=asked.way or WAYS,
        ):  # fmt: skip
            slowest = slowest or way.seconds
            busy = "" if way.busy is None else f", GPU busy {way.busy:.0%}"
            print(
                f"{label} | {name} | {way.seconds:.4f} s per epoch, {slowest / way.seconds:.1f}x, "
                f"first {way.first:.1f} s{busy}",
                flush=True,
            )


if __name__ == "__main__":
    main()
