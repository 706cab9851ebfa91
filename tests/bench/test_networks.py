"""The dense forms are peers: the same numbers as ours, at their own price."""

import pytest
import torch

from cyclenet.bench import families, networks
from cyclenet.bench.clock import Patience
from cyclenet.bench.dense import padded
from cyclenet.experiments.reading import read_experiment

SHORT = Patience(seconds=0.0001, repeats=1)


@pytest.fixture
def few(monkeypatch):
    """A few molecules instead of a batch of them."""
    monkeypatch.setattr(networks, "_BATCH", 6)
    networks._batch.cache_clear()
    yield "molecules"
    networks._batch.cache_clear()


@pytest.mark.parametrize(
    "measure", [networks.peoi_against_dense, networks.pair_layers_against_dense]
)
def test_both_forms_have_equal_outputs_and_gradients(measure, few):
    found = measure(few, SHORT)
    assert found.agree
    assert found.ratio > 0


def test_memory_is_counted_in_bytes_and_the_same_every_time(few):
    found, again = (networks.peoi_memory_against_dense(few, SHORT) for _ in range(2))
    assert found == again
    assert found.agree
    assert 0 < found.ours_us < found.peer_us


def test_a_known_tensor_has_its_known_peak():
    weight = torch.nn.Linear(1, 1, bias=False)
    one, other = (
        networks._peak_bytes(weight, lambda size=size: weight(torch.ones(size, 1)))
        for size in (1_000_000, 2_000_000)
    )
    # The input, the output, and the gradient of the sum where it is written out.
    assert 8_000_000 <= one <= 12_100_000
    assert other == pytest.approx(2 * one, rel=0.01)


def test_a_wrong_coefficient_is_noticed(few, monkeypatch):
    make = networks._pair_layers

    def wrong(family, dtype):
        contest = make(family, dtype)
        return contest._replace(peer=lambda: contest.peer() + 1e-9)

    monkeypatch.setattr(networks, "_pair_layers", wrong)
    assert not networks.pair_layers_against_dense(few, SHORT).agree


def test_padding_keeps_every_matrix_in_its_corner():
    small, large = torch.ones(1, 2, 1), torch.ones(3, 1, 1)
    found = padded([small, large])
    assert found.shape == (2, 3, 2, 1)
    assert found.sum(dim=(1, 2, 3)).tolist() == [2, 3]
    assert found[0, 0].flatten().tolist() == [1, 1]


@pytest.mark.parametrize("file", ["cycle_properties", "expressiveness"])
def test_the_networks_of_the_steps_are_rows_of_the_experiments(file, pytestconfig):
    rows = read_experiment(pytestconfig.rootpath / "experiments" / f"{file}.toml").rows
    honest = [row for row in rows if row.protocol == "honest" and row.backbone == networks.GIN]
    encoders = [row.encoder for row in honest]
    assert None in encoders
    for part in networks.ENCODERS.values():
        assert part in encoders


def test_molecules_are_those_shipped():
    assert len(families.graphs_of("molecules")) >= networks._BATCH
