"""What a run depends on, and what it does not."""

from dataclasses import replace

import pytest
from made_records import experiment

from cyclenet.experiments.spec import Part, Reported, Row, Training

RUN = next(experiment().runs())


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 7},
        {"limit": 3},
        {"row": replace(RUN.row, backbone=Part("gin", {"num_layers": 2}))},
        {"row": replace(RUN.row, encoder=Part("peoi"))},
        {"row": replace(RUN.row, protocol="paper")},
        {"task": replace(RUN.task, honest=Training(13, 16))},
        {"row": replace(RUN.row, training={"lr": 0.5})},
        {"row": replace(RUN.row, training={"schedule": "cosine"})},
        {"row": replace(RUN.row, training={"average": 0.9})},
    ],
    ids=["seed", "limit", "backbone", "encoder", "protocol", "settings", "own", "wave", "mean"],
)
def test_what_matters_changes_the_fingerprint(change):
    assert replace(RUN, **change).fingerprint != RUN.fingerprint


@pytest.mark.parametrize(
    "change",
    [
        {"experiment": "another"},
        {"shortened": ("--set epochs=12",)},
        {"row": replace(RUN.row, label="G I N", note="a note", reported={"3-cfi": Reported(1.0)})},
        {"task": replace(RUN.task, label="another heading")},
    ],
    ids=["experiment", "shortened", "words of the row", "heading"],
)
def test_words_do_not_change_the_fingerprint(change):
    assert replace(RUN, **change).fingerprint == RUN.fingerprint


def test_a_fingerprint_is_the_same_in_every_process():
    """A change here makes all records of the past answer another question: mean it."""
    run = replace(RUN, row=Row("GIN", backbone=Part("gin", {"num_layers": 2})), seed=3)
    assert run.fingerprint == "3b12ad83daa318ea"


def test_rows_of_the_published_procedure_have_folders_of_their_own():
    assert Row("GIN + CycleNet, |P|").name == "gin-cyclenet-p"
    assert Row("GIN", "paper").name == "gin-paper"
    assert RUN.folder == "expressiveness/3-cfi/gin/0"


def test_rows_are_run_on_their_tasks_and_under_protocols_that_are_there():
    runs = [(run.row.name, run.task.name, run.seed) for run in experiment().runs()]
    assert len(runs) == 15
    assert ("gin-paper", "sr16622", 0) not in runs
    one = experiment(rows=(Row("GIN", backbone=Part("gin"), tasks=("sr16622",)),), seeds=(4,))
    assert [(run.task.name, run.seed) for run in one.runs()] == [("sr16622", 4)]
