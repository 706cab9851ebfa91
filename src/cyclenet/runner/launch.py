"""One training on several processes of this machine, under the elastic launcher of torch."""

import contextlib
import importlib
import logging
import multiprocessing
import os
import signal
import sys
import threading
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from cyclenet.datasets.data_folder import DATA_HERE, DataFolder
from cyclenet.experiments.record import Record
from cyclenet.experiments.spec import Run
from cyclenet.runner.checkpoint import INTERVAL, Keeper
from cyclenet.runner.devices import NoSuchDevice, known_devices
from cyclenet.runner.execute import (
    CHECKPOINTS,
    claimed,
    known_record,
    measure,
    start_over,
    written,
)
from cyclenet.runner.fit import Watch

# Ranks find each other here and nowhere else: they share one machine.
_HERE = "127.0.0.1"
_LOOPBACK = {"linux": "lo", "darwin": "lo0"}

_LAUNCHER_LOGS = ("torch.distributed", "torch.multiprocessing")

# A rank that waits so long for the others has lost them.
_PATIENCE = timedelta(minutes=10)


class RankLost(RuntimeError):
    """A process of a training that ended before its time; the checkpoints are kept.

    Args:
        rank: The process that ended first.
        how: How it ended.
    """

    def __init__(self, rank: int, how: str) -> None:
        super().__init__(f"rank {rank} of the training was lost: {how}")
        self.rank = rank


def rank_devices(device: str, world: int) -> list[str]:
    """The device of each rank.

    Args:
        device: ``"cpu"`` for all of them; ``"cuda"`` for a GPU each; ``"auto"`` for GPUs if there
            are enough.
        world: How many ranks.

    Returns:
        A name for each rank, as `device_named` takes them.

    Raises:
        NoSuchDevice: If there are not that many GPUs, or one GPU is named for several ranks.
    """
    gpus = known_devices()[1:]
    if device == "auto":
        device = "cuda" if len(gpus) >= world else "cpu"
    if device == "cpu":
        return ["cpu"] * world
    if device != "cuda" or len(gpus) < world:
        raise NoSuchDevice(device if device != "cuda" else f"cuda:{world - 1}")
    return gpus[:world]


def execute_on_ranks(
    run: Run,
    results: Path,
    *,
    world: int,
    device: str = "auto",
    fresh: bool = False,
    watch: Watch | None = None,
    interval: float = INTERVAL,
    data: DataFolder = DATA_HERE,
) -> Record:
    """Do a training on several processes; the laws are those of `execute`.

    The processes share every batch (see `Ranks`), so they take the steps that one process takes,
    to rounding. A training that was begun on another number of them is continued in the same order
    of graphs.

    Args:
        run: The run, of a row that is trained.
        results: The folder of results.
        world: How many processes.
        device: As for `rank_devices`.
        fresh: Do it anew.
        watch: Told of every epoch.
        interval: Seconds between two checkpoints.
        data: As for `execute`.

    Returns:
        The record.

    Raises:
        Busy: If another living process is working on it.
        NoSuchDevice: If there are not enough devices.
        RankLost: If one of the processes dies.
        DataFileError: If there are checkpoints and all of them are damaged, or the task's files
            are not as for `execute`.
    """
    devices = rank_devices(device, world)
    with claimed(run, results):
        if fresh:
            start_over(run, results)
        done = known_record(run, results)
        if done is not None:
            return done
        # Before there are ranks: one process drops what is foreign, and says what is damaged.
        folder = results / run.folder / CHECKPOINTS
        Keeper(folder, run.fingerprint, world=world).newest()
        return written(run, _launched(run, results, devices, watch, interval, data), results)


def _launched(
    run: Run,
    results: Path,
    devices: list[str],
    watch: Watch | None,
    interval: float,
    data: DataFolder,
) -> Record:
    """The record that the first rank made."""
    # Modules of torch that take a while to load and that nothing else needs.
    api: Any = importlib.import_module("torch.distributed.launcher.api")
    errors: Any = importlib.import_module("torch.distributed.elastic.multiprocessing.errors")
    processes: Any = importlib.import_module("torch.distributed.elastic.multiprocessing.api")
    config = api.LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=len(devices),
        run_id=uuid.uuid4().hex,
        rdzv_backend="c10d",
        rdzv_endpoint=f"{_HERE}:0",
        local_addr=_HERE,
        max_restarts=0,
        monitor_interval=0.1,
    )
    try:
        with _told(watch) as queue, _our_signals(), _quiet_launcher():
            found = api.elastic_launch(config, _rank)(
                run, results, devices, torch.get_num_threads(), interval, data, queue
            )
    except processes.SignalException as stop:
        signal.raise_signal(stop.sigval)  # the handlers are ours again, and one of them raises
        raise
    except errors.ChildFailedError as error:
        rank, failure = error.get_first_failure()
        raise RankLost(rank, _ending(failure)) from None
    return found[0]


@contextlib.contextmanager
def _told(watch: Watch | None) -> Iterator[Any]:
    """A queue for what the first rank tells, and a thread that hands it on."""
    if watch is None:
        yield None
        return
    queue: Any = multiprocessing.get_context("spawn").SimpleQueue()
    thread = threading.Thread(
        target=lambda: [watch(told) for told in iter(queue.get, None)], daemon=True
    )
    thread.start()
    try:
        yield queue
    finally:
        queue.put(None)
        thread.join()


@contextlib.contextmanager
def _our_signals() -> Iterator[None]:
    """Take back the handlers of signals: the launcher replaces them and leaves its own there."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _quiet_launcher() -> Iterator[None]:
    """The launcher tells of a lost rank in a page; `RankLost` does in a sentence."""
    # Each of its modules has a logger with a level of its own.
    known = [name for name in logging.root.manager.loggerDict if name.startswith(_LAUNCHER_LOGS)]
    logs = [logging.getLogger(name) for name in known]
    levels = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for log, level in zip(logs, levels, strict=True):
            log.setLevel(level)


def _ending(failure: Any) -> str:
    if failure.exitcode < 0:
        return f"it ended by signal {-failure.exitcode} ({failure.signal_name()})"
    return str(failure.message).strip().splitlines()[-1]


def _rank(
    run: Run,
    results: Path,
    devices: list[str],
    threads: int,
    interval: float,
    data: DataFolder,
    queue: Any,
) -> Record:
    """What each process does; the record of the first one counts."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    # All threads of the machine for each rank would be in each other's way.
    torch.set_num_threads(max(1, threads // len(devices)))
    rank = int(os.environ["RANK"])
    place = torch.device(devices[rank])
    if place.type == "cuda":
        torch.cuda.set_device(place)
    elif sys.platform in _LOOPBACK:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", _LOOPBACK[sys.platform])
    backend = "nccl" if place.type == "cuda" else "gloo"
    torch.distributed.init_process_group(backend, timeout=_PATIENCE)
    watch = queue.put if queue is not None and rank == 0 else None
    record = measure(run, results, place, watch, interval, data)
    torch.distributed.destroy_process_group()
    return record


def _stop(number: int, frame: FrameType | None) -> None:
    """Stop once: the launcher may send more than one signal, and the checkpoint has to be whole."""
    del frame
    for other in (signal.SIGINT, signal.SIGTERM):
        signal.signal(other, signal.SIG_IGN)
    raise SystemExit(128 + number)
