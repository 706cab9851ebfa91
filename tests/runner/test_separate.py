"""Telling graphs apart: different ones by sound encoders, a graph and its copy by none of them."""

from dataclasses import replace

import pytest
import torch
from tiny_runs import CPU

from cyclenet.datasets import cfi_graph, rook_graph, shrikhande_graph
from cyclenet.datasets.strongly_regular import strongly_regular_graphs
from cyclenet.experiments.build import build_model
from cyclenet.experiments.spec import Part, Row, Separation
from cyclenet.experiments.tasks import TASKS
from cyclenet.runner import separate as module
from cyclenet.runner.separate import separate

KIND = TASKS["sr16622"]
GIN = Part("gin", {"hidden_channels": 16, "num_layers": 2})
PAIR = [rook_graph(), shrikhande_graph()]
SMALL = [strongly_regular_graphs("sr251256")[i] for i in range(6)]
SETTINGS = Separation(copies=2)


def separated(row, graphs=PAIR, settings=SETTINGS, seed=0):
    torch.manual_seed(0)
    model = build_model(row, KIND)
    return separate(model, row, graphs, settings, seed=seed, device=CPU)


def row(encoder=None, *, protocol="honest", **options):
    part = None if encoder is None else Part(encoder, options)
    return Row("row", protocol, backbone=GIN, encoder=part)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_message_passing_separates_no_strongly_regular_graphs(precision):
    settings = replace(
        SETTINGS, precision=precision, threshold=1e-3 if precision != "float64" else 1e-6
    )
    found = separated(row(), SMALL, settings)
    assert found.value == 0.0
    assert found.copies.separated == 0
    assert found.details["pairs"] == 15
    assert found.details["mean_norm"] > 0


@pytest.mark.parametrize(
    "one",
    [row("profile"), row("projector"), row("projector", on="abs"), row("peoi", cycles="relevant")],
    ids=["profile", "arcs", "abs", "relevant"],
)
def test_sound_encoders_separate_the_pair_and_no_copies(one):
    # All edges of each of the two are alike, so calibration would blow up nothing but rounding.
    found = separated(one, settings=replace(SETTINGS, calibrate=False))
    assert found.value == 1.0
    assert found.copies.separated == 0
    assert found.copies.pairs == 4
    assert found.details["largest_copy_distance"] < 1e-12 < found.details["smallest_distance"]


@pytest.mark.parametrize("one", [row("profile"), row("projector")], ids=["profile", "arcs"])
def test_sound_encoders_separate_a_family_after_calibration(one):
    found = separated(one, SMALL[:3])
    assert (found.value, found.copies.separated) == (1.0, 0)
    assert found.details["largest_copy_distance"] < 1e-6 < found.details["smallest_distance"]


def test_single_precision_separates_the_pair_too():
    settings = Separation(copies=2, precision="float32", threshold=1e-4)
    found = separated(row("profile"), settings=settings)
    assert (found.value, found.copies.separated) == (1.0, 0)


@pytest.mark.parametrize(
    "one",
    [row("peoi"), row("projector", protocol="paper", on="single", depth="contracted")],
    ids=["basis", "single"],
)
def test_a_method_that_tells_copies_apart_has_no_number(one):
    found = separated(one)
    assert found.copies.separated > 0
    assert found.value is None
    assert found.details["pairs_separated"] == 1


def test_the_seed_draws_the_names_of_the_copies_only():
    one, same, other = (separated(row("peoi"), seed=seed) for seed in (0, 0, 1))
    assert one == same
    assert one.details["smallest_distance"] == other.details["smallest_distance"]
    assert one.details["largest_copy_distance"] != other.details["largest_copy_distance"]


def test_no_copies_are_looked_at_if_none_are_asked_for():
    found = separated(row("profile"), settings=replace(SETTINGS, copies=0))
    assert (found.value, found.copies.pairs) == (1.0, 0)


def test_an_absolute_threshold_is_one_for_all_networks():
    far = replace(SETTINGS, relative=False, threshold=1e6)
    near = replace(SETTINGS, relative=False, threshold=1e-9)
    assert separated(row("profile"), settings=far).value == 0.0
    assert separated(row("profile"), settings=near).value == 1.0


def test_graphs_are_counted_the_same_in_batches_of_any_size(monkeypatch):
    graphs = [*SMALL, cfi_graph(3, 0), cfi_graph(3, 1)]
    # Without calibration no number depends on what shares a batch.
    settings = replace(SETTINGS, calibrate=False)
    whole = separated(row("profile"), graphs, settings)
    monkeypatch.setattr(module, "_BATCH_GRAPHS", 3)
    monkeypatch.setattr(module, "_BLOCK", 2)
    parts = separated(row("profile"), graphs, settings)
    assert parts.details["pairs_separated"] == whole.details["pairs_separated"] == 28
    assert parts.copies == whole.copies
    for name in ("smallest_distance", "mean_norm"):
        assert parts.details[name] == pytest.approx(whole.details[name], rel=1e-9)


def test_weights_are_not_trained_by_calibration():
    torch.manual_seed(0)
    model = build_model(row("profile"), KIND)
    before = {name: value.clone().double() for name, value in model.named_parameters()}
    separate(model, row("profile"), PAIR, SETTINGS, seed=0, device=CPU)
    for name, value in model.named_parameters():
        assert torch.equal(value, before[name])
