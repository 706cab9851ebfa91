"""The record of a run: what was asked, what came out, and on what machine."""

import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from cyclenet.datasets.errors import DataFileError
from cyclenet.experiments.plain import NotPlain, from_plain
from cyclenet.files import write_whole

# A reader of records refuses other formats.
RECORD_FORMAT = 1

RECORD_FILE = "record.json"

# Digits of the numbers of a curve: more than a plot shows, and a record stays small.
CURVE_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Copies:
    """Whether a method tells relabelled copies of the same graph apart, which it must not.

    Args:
        pairs: How many pairs (graph, copy) were looked at.
        separated: How many of them got different predictions.
    """

    pairs: int
    separated: int


@dataclass(frozen=True, slots=True)
class Curve:
    """The course of a training: one number for each epoch in each list.

    Args:
        train_loss: Mean loss over the training graphs, as seen while training.
        validation_loss: Loss on the validation graphs after the epoch.
        validation_metric: Metric on them.
        test_metric: Metric on the test graphs after the epoch; recorded, never looked at by the
            honest protocol.
        lr: Learning rate during the epoch.
    """

    train_loss: tuple[float, ...] = ()
    validation_loss: tuple[float, ...] = ()
    validation_metric: tuple[float, ...] = ()
    test_metric: tuple[float, ...] = ()
    lr: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """One finished or failed run.

    Args:
        experiment: Name of the experiment file.
        task: Name of the task.
        row: Name of the row (`Row.name`).
        label: Its label.
        seed: The seed.
        protocol: ``"honest"`` or ``"paper"``.
        fingerprint: `Run.fingerprint`.
        inputs: `Run.inputs`.
        status: ``"finished"`` or ``"failed"``.
        failure: What went wrong, with step and batch, or nothing.
        metric: Name of the metric, such as ``"accuracy"``, ``"MAE"``, ``"MSE"``.
        higher_is_better: Its direction.
        value: The metric on the test set at the chosen epoch, or None if there is none.
        details: Other numbers, by name (last epoch, validation, mean distances, and so on).
        chosen_epoch: The epoch whose weights were evaluated, counted from 1, or None.
        curve: The course of the training.
        copies: The copy test, or None if it was not made.
        encoder_input: What the encoder reads, such as ``"P on arcs"``, ``"|P|"``, ``"X"``.
        parameters: Number of trainable parameters.
        parameters_total: Frozen ones included.
        seconds: Wall seconds of the whole run.
        seconds_per_epoch: Wall seconds of an epoch of training, or None.
        device: Such as ``"cpu"`` or the name of a GPU.
        threads: Threads torch used.
        versions: Of python, torch and what else matters.
        revision: The commit of the code, or nothing.
        finished: When, in ISO 8601 (UTC).
        shortened: What a command line cut off, as typed.
    """

    experiment: str
    task: str
    row: str
    label: str
    seed: int
    protocol: str
    fingerprint: str
    inputs: dict[str, Any]
    status: Literal["finished", "failed"]
    metric: str
    higher_is_better: bool
    value: float | None
    failure: str = ""
    details: dict[str, float | int | str | None] = field(default_factory=dict)
    chosen_epoch: int | None = None
    curve: Curve = field(default_factory=Curve)
    copies: Copies | None = None
    encoder_input: str = ""
    parameters: int = 0
    parameters_total: int = 0
    seconds: float = 0.0
    seconds_per_epoch: float | None = None
    device: str = "cpu"
    threads: int = 1
    versions: dict[str, str] = field(default_factory=dict)
    revision: str = ""
    finished: str = ""
    shortened: tuple[str, ...] = ()


def write_record(root: Path, record: Record, folder: str) -> Path:
    """Write a record whole: a file of this name is there complete, or not at all.

    Numbers that are not finite are written as null, which JSON has and NaN it has not. The numbers
    of the curve are rounded to `CURVE_DIGITS` significant digits.

    Args:
        root: The folder of results.
        record: The record.
        folder: Where it belongs below `root` (`Run.folder`).

    Returns:
        The file.
    """
    values = {"format": RECORD_FORMAT, **asdict(record)}
    values["curve"] = {
        name: [_rounded(number) for number in numbers] for name, numbers in values["curve"].items()
    }
    lines = [f" {json.dumps(key)}: {json.dumps(_finite(one))}" for key, one in values.items()]
    path = root / folder / RECORD_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, "{\n" + ",\n".join(lines) + "\n}\n")
    return path


def read_record(path: Path) -> Record:
    """Read one record.

    Args:
        path: What `write_record` has written.

    Returns:
        The record; a number of its curve that was not finite is NaN.

    Raises:
        DataFileError: If the file is damaged, of another format, or no record at all.
    """
    hint = "move the file away: `cyclenet run` makes that run again"
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise DataFileError(f"must be JSON, but {error}", path=str(path), hint=hint) from error
    if not isinstance(values, dict) or "format" not in values:
        raise DataFileError(
            "must be the record of a run, with the key 'format', but it is not",
            path=str(path),
            hint=hint,
        )
    found = values.pop("format")
    if found != RECORD_FORMAT:
        raise DataFileError(
            f"must have format {RECORD_FORMAT}, but it has format {found!r}",
            path=str(path),
            hint="the version of cyclenet that wrote it",
        )
    try:
        return from_plain(Record, _with_nan(values))
    except NotPlain as error:
        place = ".".join(error.keys)
        message = f"{place}: {error}" if place else str(error)
        raise DataFileError(message, path=str(path), hint=hint) from error


def find_records(root: Path, experiment: str) -> list[Record]:
    """All records of an experiment, in the order of their paths.

    Args:
        root: The folder of results.
        experiment: Name of the experiment file, without its ending.

    Returns:
        The records; none if nothing has been run.
    """
    return [read_record(path) for path in sorted((root / experiment).rglob(RECORD_FILE))]


def _rounded(number: float) -> float:
    return float(f"{number:.{CURVE_DIGITS}g}")


def _finite(value: Any) -> Any:
    """The same plain value with None for every number that is not finite."""
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _with_nan(values: dict[str, Any]) -> dict[str, Any]:
    """Null in a curve is a number that was not finite."""
    curve = values.get("curve")
    if not isinstance(curve, dict):
        return values
    lists = {
        name: [math.nan if one is None else one for one in numbers]
        if isinstance(numbers, list)
        else numbers
        for name, numbers in curve.items()
    }
    return values | {"curve": lists}
