"""Records of runs that nobody made: an experiment of two tasks and what might have come of it."""

import math
from dataclasses import replace

from cyclenet.experiments.record import Copies, Curve, Record
from cyclenet.experiments.spec import (
    Claim,
    Experiment,
    Part,
    Reported,
    Row,
    Run,
    Separation,
    Task,
    Training,
)

EPOCHS = 12

# The file that says what `experiment` says.
TOML = """
title = "Telling graphs apart"
paper = "Table 1"
about = "Two graphs, or a family of them."
seeds = [0, 1, 2]

[[task]]
name = "3-cfi"
label = "3-CFI"
honest = { epochs = 12, batch_size = 16 }
paper = { epochs = 12, batch_size = 16, lr_watches = "train_batch", select_on = "test" }

[[task]]
name = "sr16622"
label = "SR"
honest = {}

[[row]]
label = "GIN"
backbone = { name = "gin" }
reported = { 3-cfi = { mean = 0.5, seconds = 0.29 } }

[[row]]
label = "GIN + CycleNet"
backbone = { name = "gin" }
encoder = { name = "projector", depth = "pairs" }
reported = { 3-cfi = { mean = 1.0 }, sr16622 = { mean = 1.0 } }
note = "The default depth."

[[row]]
label = "GIN"
protocol = "paper"
backbone = { name = "gin" }
reported = { 3-cfi = { mean = 0.5 } }
"""

CLAIMS_TOML = """
title = "Claims"
[[claim]]
check = "multisets_separate"
paper = "Theorem 1: it holds."
[[claim]]
check = "contracted_is_blind"
paper = "Theorem 2: so does this."
"""

PUBLISHED = Training(EPOCHS, 16, lr_watches="train_batch", select_on="test")


def experiment(**changes) -> Experiment:
    """Three rows, one of them by the published procedure, on a trained and an untrained task."""
    gin, projector = Part("gin"), Part("projector", {"depth": "pairs"})
    made = Experiment(
        name="expressiveness",
        title="Telling graphs apart",
        paper="Table 1",
        about="Two graphs, or a family of them.",
        seeds=(0, 1, 2),
        tasks=(
            Task("3-cfi", "3-CFI", Training(EPOCHS, 16), PUBLISHED),
            Task("sr16622", "SR", Separation()),
        ),
        rows=(
            Row("GIN", backbone=gin, reported={"3-cfi": Reported(0.5, None, 0.29)}),
            Row(
                "GIN + CycleNet",
                backbone=gin,
                encoder=projector,
                reported={"3-cfi": Reported(1.0), "sr16622": Reported(1.0)},
                note="The default depth.",
            ),
            Row("GIN", "paper", backbone=gin, reported={"3-cfi": Reported(0.5)}),
        ),
    )
    return replace(made, **changes)


def claims() -> Experiment:
    """An experiment of two claims."""
    return Experiment(
        name="theorems",
        title="Claims",
        claims=(
            Claim("multisets_separate", "Theorem 1: it holds."),
            Claim("contracted_is_blind", "Theorem 2: so does this."),
        ),
    )


def record_of(run: Run, value: float | None = 0.5, **changes) -> Record:
    """A finished run."""
    trained = not isinstance(run.settings, Separation)
    losses = tuple(math.exp(-epoch / 5) * (1 + 0.1 * run.seed) for epoch in range(EPOCHS))
    made = Record(
        experiment=run.experiment,
        task=run.task.name,
        row=run.row.name,
        label=run.row.label,
        seed=run.seed,
        protocol=run.row.protocol,
        fingerprint=run.fingerprint,
        inputs=run.inputs,
        status="finished",
        metric="accuracy" if trained else "separated",
        higher_is_better=True,
        value=value,
        chosen_epoch=EPOCHS if trained else None,
        curve=Curve(losses, losses, losses, losses, losses) if trained else Curve(),
        copies=Copies(40, 0),
        encoder_input="P on arcs" if run.row.encoder else "",
        parameters=1234,
        parameters_total=1234,
        seconds=6.5,
        seconds_per_epoch=0.5 if trained else None,
        versions={"python": "3.12.1", "torch": "2.11.0"},
        revision="abc1234",
        finished="2026-01-02T03:04:05+00:00",
        shortened=run.shortened,
    )
    return replace(made, **changes)


def failed(run: Run, why: str = "the loss became NaN at step 7, batch 3") -> Record:
    """A run that failed."""
    return record_of(run, None, status="failed", failure=why, copies=None)


def records() -> list[Record]:
    """All runs of `experiment`, finished: values 0.5, 0.6, 0.7 by seed."""
    return [record_of(run, 0.5 + 0.1 * run.seed) for run in experiment().runs()]
