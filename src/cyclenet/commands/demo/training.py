"""Train: a task of the paper with and without cycle numbers, for a part of its epochs."""

from dataclasses import replace
from pathlib import Path

from cyclenet.commands.outcome import EXIT_ENVIRONMENT, CommandError, Failure
from cyclenet.commands.progress import Meter
from cyclenet.experiments.record import find_records
from cyclenet.experiments.spec import Experiment, Part, Reported, Row, Run, Task, Training
from cyclenet.report.scores import Results, results_of
from cyclenet.runner.execute import Busy, execute
from cyclenet.runner.fit import Progress, Watch

EPOCHS = 200

_GIN = Part("gin")
# Smaller and in larger steps than the paper's, to come somewhere within a minute.
_SMALL = Part("gin", {"hidden_channels": 64, "num_layers": 3})
# Once the steps come down, the running statistics of the normalisations catch up with the weights.
_LR, _LR_PATIENCE = 3e-3, 2
_TASK = "n_circles"

# A part of experiments/cycle_properties.toml; a test holds the two equal.
EXPERIMENT = Experiment(
    name="demo",
    title="How many circles were drawn?",
    paper="Table 2",
    about=(
        "Points on a few small circles, which sit on a big one; every point is joined to its two "
        "nearest. The network sees the graph alone, no coordinates. The paper calls this the "
        "Betti number. The number of edges gives the answer away, so a table from it to the "
        "answer stands beside the networks: they show that cycles are seen, not that they are "
        "needed."
    ),
    tasks=(
        Task(
            _TASK,
            "circles drawn (Betti number), MAE",
            Training(EPOCHS, 16, weight_decay=1e-5, clip_norm=5.0, standardise=True),
        ),
    ),
    rows=(
        Row("constant", baseline=Part("constant")),
        Row("lookup by edges", baseline=Part("edges")),
        Row("GIN", backbone=_GIN, reported={_TASK: Reported(0.273, 0.059, 1.22)}),
        Row(
            "GIN + CycleNet",
            backbone=_GIN,
            encoder=Part("projector", {"depth": "contracted"}),
            reported={_TASK: Reported(0.036, 0.005, 1.91)},
        ),
        Row(
            "GIN + CycleNet-PEOI",
            backbone=_GIN,
            encoder=Part("peoi", {"cycles": "basis", "form": "light"}),
            reported={_TASK: Reported(0.062, 0.015, 1.47)},
        ),
    ),
)

# Rows without a network take no time.
NUM_NETWORKS = sum(row.backbone is not None for row in EXPERIMENT.rows)


def shortened(epochs: int) -> Experiment:
    """The experiment in little, the same for every row, and marked so.

    Args:
        epochs: Passes over the training graphs.

    Returns:
        What is run.
    """
    (task,) = EXPERIMENT.tasks
    assert isinstance(task.honest, Training)
    short = replace(
        task, honest=replace(task.honest, epochs=epochs, lr=_LR, lr_patience=_LR_PATIENCE)
    )
    rows = (replace(row, backbone=row.backbone and _SMALL) for row in EXPERIMENT.rows)
    mark = f"{epochs} of {EPOCHS} epochs, 3 layers of 64 channels for 5 of 128, one seed"
    return replace(EXPERIMENT, tasks=(short,), rows=tuple(rows), shortened=(mark,))


def train(epochs: int, out: Path, meter: Meter) -> Results:
    """Do all runs that are not done yet, and go on with one that was begun.

    Args:
        epochs: Passes over the training graphs.
        out: Folder of the records.
        meter: Told of the trainings done, and of parts of them, up to `NUM_NETWORKS`.

    Returns:
        The records, joined with the paper's numbers.

    Raises:
        CommandError: If another process is working in the folder.
    """
    done = 0
    for run in shortened(epochs).runs():
        meter.at(done, run.row.label)
        try:
            execute(run, out, device="cpu", watch=_watch(meter, done, run))
        except Busy as busy:
            raise CommandError(
                Failure(EXIT_ENVIRONMENT, "busy", str(busy), "another folder: --out DIR")
            ) from None
        done += run.row.backbone is not None
    return results_of(EXPERIMENT, find_records(out, EXPERIMENT.name))


def _watch(meter: Meter, done: int, run: Run) -> Watch:
    def told(progress: Progress) -> None:
        about = f"{run.row.label}, epoch {progress.epoch} of {progress.epochs}"
        meter.at(done + progress.epoch / progress.epochs, about)

    return told
