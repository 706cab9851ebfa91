"""A batch that is filled up to a fixed size is the batch, as far as any network can tell."""

import copy

import pytest
import torch
from bad_input import refused
from feature_graphs import MIXED, with_features

from cyclenet.nn import CycleNet
from cyclenet.nn.layers import RowNorm, real_rows
from cyclenet.runner.batches import GraphStore, padded
from cyclenet.transforms import (
    AddCycleProfiles,
    AddCycleProjector,
    AddRelevantCycles,
    AddShortestCycleBasis,
    LiftToRingComplex,
)

CPU = torch.device("cpu")
WHOLE = AddCycleProjector(dtype=torch.float64)
SUMS = AddCycleProjector(pairs="none", dtype=torch.float64)

# A network, and what it reads.
CASES = {
    "gin": ({"encoder": None}, SUMS),
    "gin, sum": ({"encoder": None, "backbone_options": {"readout": "sum"}}, SUMS),
    "gcn": ({"encoder": None, "backbone": "gcn"}, SUMS),
    "gat": ({"encoder": None, "backbone": "gat"}, SUMS),
    "contracted": ({"encoder_options": {"depth": "contracted"}}, SUMS),
    "hodge": ({"encoder_options": {"depth": "contracted", "source": "hodge"}}, SUMS),
    "pairs on arcs": ({}, WHOLE),
    "pairs on abs P": ({"encoder_options": {"on": "abs"}}, WHOLE),
    "pairs of Hodge": ({"encoder_options": {"source": "hodge"}}, WHOLE),
    "peoi": ({"encoder": "peoi"}, AddShortestCycleBasis()),
    "light": ({"encoder": "peoi", "encoder_options": {"form": "light"}}, AddShortestCycleBasis()),
    "relevant": ({"encoder": "peoi"}, AddRelevantCycles()),
    "filters": (
        {"encoder": "peoi", "encoder_options": {"filters": "x", "num_filters": 2}},
        AddShortestCycleBasis(),
    ),
    "profiles": ({"encoder": "profile"}, AddCycleProfiles(dtype=torch.float64)),
    "cwn": ({"encoder": None, "backbone": "cwn"}, LiftToRingComplex(max_length=6)),
}


def store_of(transform):
    items = [transform(with_features(graph)) for graph in MIXED]
    for item in items:
        item.x = item.x.double()[:, :1].repeat(1, 2) * torch.tensor([1.0, 0.5])
        item.edge_attr = None
    return GraphStore(items, CPU)


def network(options):
    torch.manual_seed(1)
    return CycleNet(2, 3, hidden_channels=8, **options).double()


def filled(store, ids, slots):
    """The graphs, others that do not count, and more room than they need."""
    room = store.room([ids, padded(ids, slots)])
    rows = {key: n if n == slots + 1 else n + 40 for key, n in room.rows.items()}
    asked = torch.from_numpy(padded(ids, slots))
    return store.take_filled(asked, torch.tensor(len(ids)), room._replace(rows=rows))


def assert_alike(one, other):
    for (name, a), b in zip(one.items(), other, strict=True):
        torch.testing.assert_close(
            a, b, rtol=1e-9, atol=1e-9, msg=lambda text, name=name: f"{name}: {text}"
        )


@pytest.mark.parametrize("mode", ["train", "eval"])
@pytest.mark.parametrize("case", CASES)
def test_predictions_gradients_and_statistics_are_those_of_the_batch(case, mode):
    options, transform = CASES[case]
    store, ids = store_of(transform), [4, 1, 0, 3, 2, 4]
    plain = network(options)
    other = copy.deepcopy(plain)
    for model in (plain, other):
        model.train(mode == "train")
    expected = plain(store.take(ids))
    expected.square().sum().backward()
    batch, held, real = filled(store, ids, slots=8)
    with real_rows(real):
        found = other(batch)
    found[:-1][held].square().sum().backward()
    torch.testing.assert_close(found[: len(ids)], expected, rtol=1e-9, atol=1e-11)
    assert_alike(plain.state_dict(), other.state_dict().values())
    gradients = [weight.grad for weight in other.parameters() if weight.grad is not None]
    assert_alike({n: w.grad for n, w in plain.named_parameters() if w.grad is not None}, gradients)


def test_every_shape_of_a_filled_batch_is_fixed():
    store = store_of(AddShortestCycleBasis())
    batches = [[0, 1, 2], [4, 4, 3], [2, 4]]
    room = store.room(batches)
    shapes = []
    for ids in batches:
        asked = torch.from_numpy(padded(ids, 3))
        batch = store.take_filled(asked, torch.tensor(len(ids)), room).batch
        shapes.append({name: tuple(value.shape) for name, value in batch.to_dict().items()
                       if isinstance(value, torch.Tensor)})  # fmt: skip
        assert batch.graph_of("cycles").size(0) == batch.cycle_length.size(0)
    assert shapes[0] == shapes[1] == shapes[2]
    assert len(set(room.rows.values())) == len(room.rows)


def test_a_batch_with_a_single_row_of_a_unit_has_no_room():
    store = store_of(AddShortestCycleBasis())
    with refused(ValueError, "two rows or more"):
        store.room([[0], [1]])


def test_rows_that_nobody_counted_are_refused():
    with real_rows({7: torch.tensor(5)}), refused(ValueError, r"\[7\].*has 6"):
        RowNorm(2)(torch.zeros(6, 2))


def test_rows_that_are_not_real_enter_no_statistic():
    norm, plain = RowNorm(2).double(), RowNorm(2).double()
    rows = torch.rand(7, 2, dtype=torch.float64)
    rows[5:] = 1e6
    with real_rows({7: torch.tensor(5)}):
        found = norm(rows)
    torch.testing.assert_close(found[:5], plain(rows[:5]))
    torch.testing.assert_close(norm.running_mean, plain.running_mean)
    torch.testing.assert_close(norm.running_var, plain.running_var)
    assert norm.num_batches_tracked == plain.num_batches_tracked == 1
