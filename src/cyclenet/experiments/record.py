"""The record of a run: what was asked, what came out, and on what machine."""

from dataclasses import dataclass, field
from typing import Any, Literal

# A reader of records refuses other formats.
RECORD_FORMAT = 1


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
