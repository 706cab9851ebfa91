"""One run from its description to its record, done once however often it is asked for."""

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.torch
import torch
from filelock import FileLock, Timeout
from torch import Tensor
from torch_geometric.data import Data

from cyclenet.datasets.data_folder import DATA_HERE, DataFolder
from cyclenet.datasets.trajectories import TrajectorySet
from cyclenet.experiments.baselines import BASELINES
from cyclenet.experiments.build import build_model, encoder_input, prepared
from cyclenet.experiments.record import RECORD_FILE, Copies, Record, read_record, write_record
from cyclenet.experiments.spec import Run, Separation, Training
from cyclenet.experiments.tasks import TASKS, Items, Splits, TaskKind, metric_of
from cyclenet.files import write_whole
from cyclenet.runner.batches import GraphStore
from cyclenet.runner.checkpoint import INTERVAL, Keeper
from cyclenet.runner.copies import differ, renamed
from cyclenet.runner.devices import device_named, device_title, revision, versions
from cyclenet.runner.fit import Sets, TrainingFailed, Watch, fit
from cyclenet.runner.ranks import Ranks
from cyclenet.runner.separate import separate

# Beside each other in the folder of a run. Only the record is worth keeping in a repository.
OLD_RECORD, WEIGHTS = "record.old.json", "model.safetensors"
CHECKPOINTS, LOCK = "checkpoint", ".lock"

# The copy test: graphs, copies of each, and how far apart two predictions in float64 may be.
_COPIED_GRAPHS = 20
_COPIES = 2
_SAME = 1e-6


class Busy(RuntimeError):
    """A run that another living process is working on.

    Args:
        run: The run.
    """

    def __init__(self, run: Run) -> None:
        super().__init__(f"{run.folder} is being run by another process")


def execute(
    run: Run,
    results: Path,
    *,
    device: str = "auto",
    fresh: bool = False,
    watch: Watch | None = None,
    interval: float = INTERVAL,
    data: DataFolder = DATA_HERE,
) -> Record:
    """Do a run, unless it has been done; go on with it, if it has been begun.

    Every process may call this with the same run and folder: one of them works on it, the others
    get `Busy`, and a process that dies lets go of it.

    Args:
        run: The run.
        results: The folder of results.
        device: As for `device_named`.
        fresh: Do it anew. The old record is kept as `record.old.json` until the new one is
            there; while it is, a fresh start has been made already and is continued.
        watch: Told of every epoch.
        interval: Seconds between two checkpoints.
        data: Where graphs are read from, if the task has them in files; nothing is fetched.

    Returns:
        The record, which is in `results` by then: of a finished run, or of a failed one.

    Raises:
        Busy: If another living process is working on it.
        NoSuchDevice: If the device is not there.
        DataFileError: If files of the task are missing, damaged or not to be trusted.
    """
    place = device_named(device)
    with claimed(run, results):
        if fresh:
            start_over(run, results)
        done = known_record(run, results)
        if done is not None:
            return done
        return written(run, measure(run, results, place, watch, interval, data), results)


def known_record(run: Run, results: Path) -> Record | None:
    """The record that answers a run.

    Args:
        run: The run.
        results: The folder of results.

    Returns:
        The record, or None if there is none or one of other settings.
    """
    path = results / run.folder / RECORD_FILE
    if not path.exists():
        return None
    record = read_record(path)
    return record if record.fingerprint == run.fingerprint else None


def is_begun(run: Run, results: Path) -> bool:
    """Whether there is a checkpoint to go on from.

    Args:
        run: The run.
        results: The folder of results.

    Returns:
        Whether there is one, be it whole or not. Those of other settings do not count.
    """
    return Keeper(results / run.folder / CHECKPOINTS, run.fingerprint).has_begun()


@contextlib.contextmanager
def claimed(run: Run, results: Path) -> Iterator[None]:
    """Within it no other process works on the run; the system lets go when a process dies.

    Args:
        run: The run.
        results: The folder of results.

    Raises:
        Busy: If another living process is working on it.
    """
    folder = results / run.folder
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise Busy(run) from None
    try:
        _drop_drafts(folder)
        yield
    finally:
        lock.release()


def _drop_drafts(folder: Path) -> None:
    """Delete files that a process had not finished when it was killed; none is ever read."""
    for path in folder.glob(".*"):
        if path.name != LOCK:
            path.unlink()


def set_aside(run: Run, results: Path) -> None:
    """Let a run be done anew from now on, whichever process does it.

    Args:
        run: The run.
        results: The folder of results.

    Raises:
        Busy: If another living process is working on it.
    """
    with claimed(run, results):
        start_over(run, results)


def start_over(run: Run, results: Path) -> None:
    """Set the record of a run aside, and drop what was begun, unless both was done before.

    Args:
        run: The run, claimed.
        results: The folder of results.
    """
    folder = results / run.folder
    if (folder / RECORD_FILE).exists():
        os.replace(folder / RECORD_FILE, folder / OLD_RECORD)
    elif (folder / OLD_RECORD).exists():
        return
    Keeper(folder / CHECKPOINTS, run.fingerprint).remove()


def written(run: Run, record: Record, results: Path) -> Record:
    """Write a record, and drop what it makes needless.

    Args:
        run: The run, claimed.
        record: Its record.
        results: The folder of results.

    Returns:
        The record as it is read from now on.
    """
    path = write_record(results, record, run.folder)
    Keeper(path.parent / CHECKPOINTS, record.fingerprint).remove()
    (path.parent / OLD_RECORD).unlink(missing_ok=True)
    return read_record(path)


def measure(
    run: Run,
    results: Path,
    device: torch.device,
    watch: Watch | None = None,
    interval: float = INTERVAL,
    data: DataFolder = DATA_HERE,
) -> Record:
    """Do a run: fit, look at copies, and tell everything; nothing is skipped and no record written.

    Args:
        run: The run, claimed by this process or the one that launched it.
        results: The folder of results, for checkpoints and weights.
        device: Where to compute.
        watch: Told of every epoch.
        interval: Seconds between two checkpoints.
        data: As for `execute`.

    Returns:
        The record.
    """
    started = time.perf_counter()
    kind = TASKS[run.task.name]
    gpus = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=gpus):
        torch.manual_seed(run.seed)
        if run.row.baseline is not None:
            found = _baseline(run, splits_of(run, kind, data), kind)
        elif isinstance(run.settings, Separation):
            found = _separated(run, kind, device)
        else:
            splits = splits_of(run, kind, data)
            found = _trained(run, splits, kind, run.settings, results, device, watch, interval)
    before = found.pop("seconds", 0.0)
    return Record(
        experiment=run.experiment,
        task=run.task.name,
        row=run.row.name,
        label=run.row.label,
        seed=run.seed,
        protocol=run.row.protocol,
        fingerprint=run.fingerprint,
        inputs=run.inputs,
        metric=kind.metric,
        higher_is_better=kind.higher_is_better,
        encoder_input=encoder_input(run.row),
        device=device_title(device),
        threads=torch.get_num_threads(),
        versions=versions(),
        revision=revision(),
        shortened=run.shortened,
        **{"status": "finished", **found},
        seconds=before + time.perf_counter() - started,
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
    )


Found = dict[str, Any]


def _trained(
    run: Run,
    splits: Splits,
    kind: TaskKind,
    settings: Training,
    results: Path,
    device: torch.device,
    watch: Watch | None,
    interval: float,
) -> Found:
    """What a trained network makes of the test graphs."""
    model = build_model(run.row, kind, splits.train)
    folder, ranks = results / run.folder, Ranks()
    keeper = Keeper(
        folder / CHECKPOINTS, run.fingerprint,
        interval=interval, rank=ranks.rank, world=ranks.world,
    )  # fmt: skip
    found: Found = _sizes(model)
    sets = _prepared_sets(run, splits)
    try:
        fitted = fit(
            model, kind, sets, settings,
            seed=run.seed, device=device, keeper=keeper, ranks=ranks, watch=watch,
        )  # fmt: skip
    except TrainingFailed as error:
        return found | {
            "status": "failed", "failure": str(error), "value": None, "curve": error.curve
        }  # fmt: skip
    if ranks.rank == 0:
        weights = {name: value.cpu() for name, value in model.state_dict().items()}
        write_whole(folder / WEIGHTS, safetensors.torch.save(weights))
    exact = model.double().eval()

    def predict(items: Sequence[Data]) -> Tensor:
        store = GraphStore(prepared(run.row, items, dtype=torch.float64), device)
        with torch.inference_mode():
            return exact(store.take(range(len(items))))

    return found | {
        "value": fitted.value,
        "chosen_epoch": fitted.chosen_epoch,
        "curve": fitted.curve,
        "seconds_per_epoch": fitted.seconds_per_epoch,
        "details": fitted.details | ({"ranks": ranks.world} if ranks.world > 1 else {}),
        "seconds": fitted.seconds_before,
        "copies": _copies_told_apart(predict, splits.test, run.seed),
    }


class _Kept:
    """The last graphs that came from files, and what a row made of them.

    They are the same for all seeds, and on complexes of thousands of edges the numbers of a row
    can take longer than its training.
    """

    source: tuple[Any, ...] | None = None
    splits: Splits | None = None
    row: tuple[Any, ...] | None = None
    sets: Sets | None = None


def _prepared_sets(run: Run, splits: Splits) -> Sets:
    """The graphs with the numbers that the row reads."""
    row = run.row.backbone, run.row.encoder
    if _Kept.sets is not None and splits is _Kept.splits and row == _Kept.row:
        return _Kept.sets
    sets = Sets(*(prepared(run.row, items) for items in splits))
    if splits is _Kept.splits:
        _Kept.row, _Kept.sets = row, sets
    return sets


def _separated(run: Run, kind: TaskKind, device: torch.device) -> Found:
    """What a network without training tells apart."""
    assert kind.family is not None and isinstance(run.settings, Separation)
    model = build_model(run.row, kind)
    family = kind.family()
    graphs = [family[i] for i in range(min(len(family), run.limit or len(family)))]
    found = _sizes(model)
    separated = separate(model, run.row, graphs, run.settings, seed=run.seed, device=device)
    return found | separated._asdict()


def _baseline(run: Run, splits: Splits, kind: TaskKind) -> Found:
    """What a rule without a network makes of the test graphs."""
    assert run.row.baseline is not None
    train, test = (prepared(run.row, items) for items in (splits.train, splits.test))
    rule = BASELINES[run.row.baseline.name](kind, train, **run.row.baseline.options)
    target = torch.cat([item.y for item in test])  # pyright: ignore[reportArgumentType]
    graph = None
    if kind.of_edges:
        sizes = torch.tensor([item.y.size(0) for item in test])  # pyright: ignore
        graph = torch.arange(len(sizes)).repeat_interleave(sizes)
    return {
        "value": metric_of(kind, rule(test), target, graph),
        "copies": _copies_told_apart(rule, splits.test, run.seed),
    }


def splits_of(run: Run, kind: TaskKind, data: DataFolder) -> Splits:
    """The graphs of a run that trains.

    Args:
        run: The run.
        kind: Its task.
        data: Where graphs lie that are read from files.

    Returns:
        What to train on, to choose by and to report.
    """
    if kind.stored is None:
        assert kind.splits is not None
        splits = kind.splits(run.row.protocol, run.seed)
        return splits._replace(train=_some_of(splits.train, run.limit))
    source = run.task.name, run.row.protocol, run.limit, data
    if _Kept.splits is None or source != _Kept.source:
        splits = kind.stored.splits(run.row.protocol, data)
        splits = splits._replace(train=_some_of(splits.train, run.limit))
        _Kept.source, _Kept.splits, _Kept.row, _Kept.sets = source, splits, None, None
    return _Kept.splits


def _some_of(items: Items, limit: int) -> Items:
    """As many graphs as a limit allows, drawn from all: some sets are sorted by their labels."""
    if not limit or limit >= len(items):
        return items
    chosen = np.sort(np.random.default_rng(0).permutation(len(items))[:limit])
    return items[chosen] if isinstance(items, TrajectorySet) else [items[i] for i in chosen]


def _sizes(model: torch.nn.Module) -> Found:
    weights = list(model.parameters())
    return {
        "parameters": sum(weight.numel() for weight in weights if weight.requires_grad),
        "parameters_total": sum(weight.numel() for weight in weights),
    }


def _copies_told_apart(
    predict: Callable[[Sequence[Data]], Tensor], items: Items, seed: int
) -> Copies | None:
    """How many copies of a few graphs, under other names, get another prediction."""
    if isinstance(items, TrajectorySet) or any("edges" in item for item in items):
        return None  # complexes, whose faces we do not rename
    graphs = items[:_COPIED_GRAPHS]
    rng = np.random.default_rng((seed, _COPIES))
    base, separated = predict(graphs), 0
    for _ in range(_COPIES):
        copies = predict([renamed(graph, rng) for graph in graphs])
        separated += int(differ(base, copies, _SAME).sum())
    return Copies(pairs=_COPIES * len(graphs), separated=separated)
