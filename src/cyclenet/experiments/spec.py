"""What an experiment file says, as frozen dataclasses.

One file is one table of the paper: its tasks are the columns, its rows the methods. A run is one
row on one task with one seed, and everything that it depends on is in `Run`.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal

# Settings of a training that came later than the first records.
ADDED_SETTINGS = ("schedule", "warmup", "decoupled", "average")

Protocol = Literal["honest", "paper"]
Option = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Part:
    """A backbone, an encoder or a baseline: its name, and the arguments it is made with.

    In a file: ``{ name = "gin", num_layers = 5 }``.

    Args:
        name: A name from the mappings in `experiments.build`.
        options: Every other key of the table.
    """

    name: str
    options: Mapping[str, Option] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Training:
    """How a network is trained on a task, and by what its epoch is chosen.

    Args:
        epochs: Passes over the training graphs.
        batch_size: Graphs in a batch.
        lr: First learning rate of Adam.
        weight_decay: Its weight decay.
        lr_factor: What the learning rate is multiplied with when `lr_watches` stands still.
        lr_patience: For how many looks it may stand still.
        min_lr: Where the learning rate stops.
        lr_watches: The loss on ``"validation"`` or on ``"test"``, after each epoch, or the loss on
            each ``"train_batch"``. Only the first is honest.
        select_on: The set whose loss chooses the epoch, ``"validation"`` or ``"test"``; or the
            ``"last"`` epoch counts. Only the first is honest.
        select_by: Whether the ``"loss"`` on it chooses, or, as the published code has it, the
            ``"metric"``.
        clip_norm: Norm that gradients are clipped to; 0 leaves them alone.
        standardise: Train on targets minus their mean over their deviation, both of the training
            set. Losses and metrics are always those of the targets as they are.
        schedule: ``"plateau"`` lowers the learning rate when `lr_watches` stands still;
            ``"cosine"`` lowers it to `min_lr` along half a wave, whatever happens; ``"constant"``
            leaves it alone.
        warmup: Epochs in which the learning rate first rises, for ``"cosine"``.
        decoupled: Let weights decay by themselves and not through the moments (AdamW).
        average: Judge a running mean of the weights in place of the weights: how much of it a
            step leaves, such as 0.999; 0 judges the weights.
    """

    epochs: int
    batch_size: int
    lr: float = 1e-3
    weight_decay: float = 0.0
    lr_factor: float = 0.5
    lr_patience: int = 10
    min_lr: float = 1e-6
    lr_watches: Literal["validation", "test", "train_batch"] = "validation"
    select_on: Literal["validation", "test", "last"] = "validation"
    select_by: Literal["loss", "metric"] = "loss"
    clip_norm: float = 0.0
    standardise: bool = False
    schedule: Literal["plateau", "cosine", "constant"] = "plateau"
    warmup: int = 0
    decoupled: bool = False
    average: float = 0.0


@dataclass(frozen=True, slots=True)
class Separation:
    """How an untrained network is asked to tell graphs apart (no training).

    Args:
        threshold: Rows further apart than this are different.
        relative: Whether the threshold is a share of the mean norm of all rows.
        copies: Relabelled copies of each graph, which must not be told apart.
        precision: ``"float64"`` or ``"float32"``.
        calibrate: Let normalisations see graphs of the family first. Without it an untrained
            network in evaluation mode may be constant.
    """

    threshold: float = 1e-6
    relative: bool = True
    copies: int = 5
    precision: Literal["float64", "float32"] = "float64"
    calibrate: bool = True


@dataclass(frozen=True, slots=True)
class Task:
    """One column: a task, and how each protocol goes about it.

    Args:
        name: A name from `experiments.tasks`.
        label: Its heading in the table.
        honest: Settings of the honest protocol.
        paper: Settings of the published procedure, or None if it cannot be run.
    """

    name: str
    label: str
    honest: Training | Separation
    paper: Training | Separation | None = None

    def settings(self, protocol: Protocol) -> Training | Separation | None:
        """How a protocol goes about the task.

        Args:
            protocol: One of the two.

        Returns:
            Its settings, or None if this task cannot be run under it.
        """
        return self.honest if protocol == "honest" else self.paper


@dataclass(frozen=True, slots=True)
class Reported:
    """What the paper prints for a row and task.

    Args:
        mean: The number.
        std: Its spread, or None if none is printed.
        seconds: Printed seconds per epoch, or None.
        parameters: Printed number of parameters, or None.
    """

    mean: float
    std: float | None = None
    seconds: float | None = None
    parameters: int | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One method: a backbone with or without an encoder, or a baseline without any network.

    Args:
        label: Its name in the table.
        protocol: ``"honest"`` unless the published procedure is asked for by name.
        backbone: The network, or None for a baseline.
        encoder: What encodes its arcs, or None.
        baseline: A rule that reads trivial numbers off the graph, or None for a network.
        tasks: Names of the tasks it is run on; empty for all of the file.
        training: Settings that it has for itself, in place of those of the task.
        reported: The paper's number for each task that has one.
        note: One sentence for the reader of the table.
    """

    label: str
    protocol: Protocol = "honest"
    backbone: Part | None = None
    encoder: Part | None = None
    baseline: Part | None = None
    tasks: tuple[str, ...] = ()
    training: Mapping[str, Option] = field(default_factory=dict)
    reported: Mapping[str, Reported] = field(default_factory=dict)
    note: str = ""

    @property
    def name(self) -> str:
        """The label as a folder name; rows of the other protocol end in its name."""
        slug = re.sub(r"[^a-z0-9]+", "-", self.label.lower()).strip("-")
        return slug if self.protocol == "honest" else f"{slug}-{self.protocol}"


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of the paper that a program can check.

    Args:
        check: A name from `experiments.claims`.
        paper: Where the paper says it, and what.
    """

    check: str
    paper: str


@dataclass(frozen=True, slots=True)
class Timing:
    """Graphs whose encodings are timed, ours beside the published algorithm.

    Args:
        graphs: A name from `names.TIMED_SETS`.
        label: Its name in the table.
        repeats: Samples of each computation, of which the median counts.
        seconds: Processor time each computation may take, about; a slow one gets fewer samples.
        published_graphs: At most so many graphs, spread over the set, for the published algorithm.
        printed: What the paper prints: ``"nodes"`` and ``"degree"`` (stored edges per node) on
            average, and seconds per graph for encodings of `names.TIMED_ENCODINGS`.
    """

    graphs: str
    label: str
    repeats: int = 7
    seconds: float = 20.0
    published_graphs: int = 500
    printed: Mapping[str, float] = field(default_factory=dict)

    @property
    def inputs(self) -> dict[str, Any]:
        """What the outcome depends on, as plain values."""
        return {
            "graphs": self.graphs,
            "repeats": self.repeats,
            "seconds": self.seconds,
            "published_graphs": self.published_graphs,
        }

    @property
    def fingerprint(self) -> str:
        """A hash of `inputs`, as that of a `Run`."""
        return _hash(self.inputs)


@dataclass(frozen=True, slots=True)
class Run:
    """One row on one task with one seed.

    Args:
        experiment: Name of the folder of its records: that of the file, unless it says another.
        task: The task.
        row: The row.
        seed: The seed.
        shortened: What a command line changed or cut off (``--set``, ``--limit``), as typed.
        limit: At most so many training graphs, or 0 for all.
    """

    experiment: str
    task: Task
    row: Row
    seed: int
    shortened: tuple[str, ...] = ()
    limit: int = 0

    @property
    def settings(self) -> Training | Separation:
        """How this run is trained or measured."""
        settings = self.task.settings(self.row.protocol)
        assert settings is not None, "Experiment.runs leaves such runs out"
        own: dict[str, Any] = dict(self.row.training)
        return replace(settings, **own)

    @property
    def folder(self) -> str:
        """Where its record belongs, below the folder of results."""
        return f"{self.experiment}/{self.task.name}/{self.row.name}/{self.seed}"

    @property
    def inputs(self) -> dict[str, Any]:
        """Everything the outcome depends on, as plain values: labels and printed numbers do not.

        Settings that there were not from the start are left out where they change nothing, so
        that records from before still answer.
        """
        row, settings = self.row, self.settings
        usual = {one.name: one.default for one in fields(settings) if one.name in ADDED_SETTINGS}
        given = {key: value for key, value in asdict(settings).items()
                 if key not in usual or value != usual[key]}  # fmt: skip
        parts = {"backbone": row.backbone, "encoder": row.encoder, "baseline": row.baseline}
        return {
            "task": self.task.name,
            "protocol": row.protocol,
            "settings": given,
            "seed": self.seed,
            "limit": self.limit,
            **{key: None if part is None else asdict(part) for key, part in parts.items()},
        }

    @property
    def fingerprint(self) -> str:
        """A hash of `inputs`: records with another one answer another question."""
        return _hash(self.inputs)


@dataclass(frozen=True, slots=True)
class Experiment:
    """One file: a table of tasks and rows, a list of claims, or sets of graphs to time.

    Args:
        name: Name of the file, without its ending.
        title: Heading of the table.
        paper: The paper's name for the table, such as ``"Table 1"``.
        about: A paragraph for the reader, or nothing.
        records: Name of another file, in whose folder the records are: rows of the same label and
            inputs are run once for both.
        seeds: Seeds of every row.
        tasks: The columns.
        rows: The methods.
        claims: Statements to check; a file has these, or rows, or timings.
        timings: Sets of graphs whose encodings are timed.
        shortened: What a command line changed, as typed.
        limit: At most so many training graphs, or 0 for all.
    """

    name: str
    title: str
    paper: str = ""
    about: str = ""
    records: str = ""
    seeds: tuple[int, ...] = (0,)
    tasks: tuple[Task, ...] = ()
    rows: tuple[Row, ...] = ()
    claims: tuple[Claim, ...] = ()
    timings: tuple[Timing, ...] = ()
    shortened: tuple[str, ...] = ()
    limit: int = 0

    @property
    def folder(self) -> str:
        """Where the records are, below the folder of results."""
        return self.records or self.name

    def runs(self) -> Iterator[Run]:
        """All runs, row after row, in the order of the file."""
        for row in self.rows:
            for task in self.tasks:
                wanted = not row.tasks or task.name in row.tasks
                if wanted and task.settings(row.protocol) is not None:
                    for seed in self.seeds:
                        yield Run(self.folder, task, row, seed, self.shortened, self.limit)


def _hash(inputs: dict[str, Any]) -> str:
    text = json.dumps(inputs, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
