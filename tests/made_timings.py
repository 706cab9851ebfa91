"""Timings that nobody measured: an experiment of three sets and what might have come of it."""

from dataclasses import replace

from cyclenet.experiments.spec import Experiment, Timing
from cyclenet.experiments.timings import TimedEncoding, TimedSet

# The file that says what `experiment` says.
TOML = """
title = "What it costs"
paper = "Table 7"
about = "Before training."

[[timing]]
graphs = "zinc-test"
label = "ZINC, test"
repeats = 3
printed = { nodes = 23.12, degree = 2.15, hodge = 7.01e-4, projector = 1.4e-3 }

[[timing]]
graphs = "molecules"
label = "molecules"

[[timing]]
graphs = "circle_extents-test"
label = "points, test"
published_graphs = 10
"""


def experiment() -> Experiment:
    """Three sets; the paper prints numbers for the first."""
    printed = {"nodes": 23.12, "degree": 2.15, "hodge": 7.01e-4, "projector": 1.4e-3}
    return Experiment(
        name="timing",
        title="What it costs",
        paper="Table 7",
        about="Before training.",
        timings=(
            Timing("zinc-test", "ZINC, test", repeats=3, printed=printed),
            Timing("molecules", "molecules"),
            Timing("circle_extents-test", "points, test", published_graphs=10),
        ),
    )


def encoding(name: str) -> TimedEncoding:
    """One encoding: 10 microseconds one by one, 2 in one call; 400 as published, 5 by numpy."""
    seconds = {"function": 1e-5, "packed": 2e-6, "published": 4e-4}
    if name != "hodge":
        seconds["transform"] = 1e-4
    if name != "basis":
        seconds["arrays"] = 5e-6
    return TimedEncoding(name, seconds, dict(seconds), dict.fromkeys(seconds, 7), 3e-15)


def timed(timing: Timing, **changes) -> TimedSet:
    """A set that was measured."""
    made = TimedSet(
        timing.graphs,
        timing.fingerprint,
        timing.inputs,
        "measured",
        num_graphs=1000,
        num_published=50,
        nodes=23.1,
        edges=24.8,
        degree=2.147,
        digest="0123456789abcdef",
        encodings=tuple(encoding(name) for name in ("hodge", "projector", "basis")),
        seconds=12.5,
        load=1.5,
        machine={"machine": "Abacus 9", "python": "3.11.7"},
        revision="abc1234",
        finished="2026-01-02T03:04:05+00:00",
    )
    return replace(made, **changes)


def missing(timing: Timing) -> TimedSet:
    """A set whose graphs are not here."""
    return TimedSet(
        timing.graphs, timing.fingerprint, timing.inputs, "missing", "data/ZINC: is not there"
    )
