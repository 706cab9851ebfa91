"""A batch that is filled up to a fixed size is the batch, as far as any network can tell."""

import copy
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from bad_input import refused
from feature_graphs import MIXED, with_features

from cyclenet.experiments.spec import Training
from cyclenet.experiments.tasks import TASKS
from cyclenet.nn import CycleNet
from cyclenet.nn.encoders import PEOIEncoder
from cyclenet.nn.layers import real_rows
from cyclenet.runner.batches import GraphStore, padded
from cyclenet.runner.fit import Sets, fit
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
    "product gin": ({"encoder": "peoi", "backbone": "product_gin"}, AddShortestCycleBasis()),
    "gated gcn": ({"encoder": "peoi", "backbone": "gated_gcn"}, AddShortestCycleBasis()),
    "pna": ({"encoder": "peoi", "backbone": "pna"}, AddShortestCycleBasis()),
    "signnet of molecules": (
        {"encoder": "peoi", "backbone": "molecular_signnet"},
        AddShortestCycleBasis(),
    ),
    "basisnet": ({"encoder": "peoi", "backbone": "basisnet_gated_gcn"}, AddShortestCycleBasis()),
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
    # Two batches at a time, of which the second is looked at.
    asked = torch.from_numpy(np.stack([padded(ids[::-1], slots), padded(ids, slots)]))
    counts = torch.tensor([2, len(ids)])
    return store.take_filled(asked, counts, room._replace(rows=rows)).batch(torch.tensor([1]))


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
        asked = torch.from_numpy(padded(ids, 3)).unsqueeze(0)
        several = store.take_filled(asked, torch.tensor([len(ids)]), room)
        batch = several.batch(torch.tensor([0])).batch
        shapes.append({name: tuple(value.shape) for name, value in batch.to_dict().items()
                       if isinstance(value, torch.Tensor)})  # fmt: skip
        assert batch.graph_of("cycles").size(0) == batch.cycle_length.size(0)
    assert shapes[0] == shapes[1] == shapes[2]
    assert len(set(room.rows.values())) == len(room.rows)


def test_trainings_in_another_order_find_the_same_room():
    """Else a compiler would start again for every seed."""
    graphs = [AddShortestCycleBasis()(with_features(graph)) for graph in MIXED] * 20
    store = GraphStore(graphs, CPU)
    rooms = set()
    for seed in range(30):
        order = np.random.default_rng(seed).permutation(len(graphs))
        rooms.add(tuple(store.room([*order[:120].reshape(-1, 30)]).rows.values()))
    assert len(rooms) == 1


def test_large_rooms_have_round_sizes_and_little_to_spare():
    items = [AddShortestCycleBasis()(with_features(MIXED[0], seed)) for seed in range(3)]
    store = GraphStore(items, CPU)
    for copies in (1, 5, 50, 500):
        ids = list(range(3)) * copies
        rows = store.room([ids]).rows
        batch = store.take(ids)
        needed = batch.num_nodes
        got = min(size for size in rows.values() if size > needed)
        assert needed < got <= needed * (1 + 1 / 8) + 2 * len(rows)


def test_a_batch_with_a_single_row_of_a_unit_has_no_room():
    store = store_of(AddShortestCycleBasis())
    with refused(ValueError, "two rows or more"):
        store.room([[0], [1]])


@pytest.mark.parametrize("more", [{}, {"schedule": "cosine", "average": 0.9, "decoupled": True}])
def test_a_training_of_fixed_shape_is_the_plain_training(more):
    # Random features: where all of a gradient is rounding, Adam makes a whole step of it.
    items = [AddShortestCycleBasis()(with_features(graph, seed)) for seed in range(4)
             for graph in MIXED]  # fmt: skip
    for seed, item in enumerate(items):
        item.x, item.y = item.x[:, :2], item.x[:, :1].sum(0, keepdim=True) + 0.1 * seed
    sets = Sets(items[:18], items[18:21], items[21:])
    settings = Training(epochs=4, batch_size=4, clip_norm=1.0, standardise=True, **more)
    kind = TASKS["n_circles"]
    fitted = []
    for steps in ("plain", "filled"):
        torch.manual_seed(0)
        model = CycleNet(2, 1, hidden_channels=8, encoder="peoi").double()
        fitted.append(fit(model, kind, sets, settings, seed=3, device=CPU, steps=steps))
    plain, fixed = (one.curve for one in fitted)
    assert len(plain.train_loss) == 4
    torch.testing.assert_close(fixed.train_loss, plain.train_loss, rtol=1e-5, atol=0)
    torch.testing.assert_close(fixed.test_metric, plain.test_metric, rtol=1e-5, atol=0)


class EdgeProbe(torch.nn.Module):
    """Says something of every undirected edge."""

    def __init__(self):
        super().__init__()
        self.encoder = PEOIEncoder(8)
        self.head = torch.nn.Linear(8, 1)

    def forward(self, batch):
        return self.head(self.encoder.encode_edges(batch).tanh())


def test_a_training_on_edges_is_the_same_on_filled_batches():
    items = [AddShortestCycleBasis()(with_features(graph, seed)) for seed in range(4)
             for graph in MIXED]  # fmt: skip
    for seed, item in enumerate(items):
        degree = torch.bincount(item.edges.flatten(), minlength=item.num_nodes)
        item.y = degree[item.edges].sum(0).double().unsqueeze(1) + 0.1 * seed
    kind = replace(TASKS["circle_extents"], out_channels=1, of_edges=True)
    sets = Sets(items[:18], items[18:21], items[21:])
    fitted = []
    for steps in ("plain", "filled"):
        torch.manual_seed(0)
        model = EdgeProbe().double()
        settings = Training(epochs=4, batch_size=4, lr=0.01)
        fitted.append(fit(model, kind, sets, settings, seed=3, device=CPU, steps=steps))
    plain, filled = (one.curve for one in fitted)
    torch.testing.assert_close(filled.train_loss, plain.train_loss, rtol=1e-6, atol=0)
    torch.testing.assert_close(filled.test_metric, plain.test_metric, rtol=1e-6, atol=0)


@pytest.mark.parametrize("steps", ["plain", "filled"])
def test_a_batch_without_edges_has_nothing_to_learn_from(steps):
    edgeless = np.empty((2, 0), dtype=np.int64), 3
    items = [AddShortestCycleBasis()(with_features(graph)) for graph in (edgeless, *MIXED)]
    for item in items:
        item.y = torch.ones(item.edges.size(1), 1, dtype=torch.float64)
    assert min(item.y.size(0) for item in items) == 0
    kind = replace(TASKS["circle_extents"], out_channels=1, of_edges=True)
    torch.manual_seed(0)
    settings = Training(epochs=2, batch_size=1)
    sets = Sets(items, items[:3], items[3:])
    done = fit(EdgeProbe().double(), kind, sets, settings, seed=0, device=CPU, steps=steps)
    assert all(math.isfinite(loss) for loss in done.curve.train_loss)
    assert math.isfinite(done.value)


def test_batches_without_room_are_trained_on_as_they_are():
    items = [AddShortestCycleBasis()(with_features(graph)) for graph in MIXED[:4]]
    for item in items:
        item.x, item.y = item.x[:, :2], torch.ones(1, 1, dtype=torch.float64)
    settings = Training(epochs=1, batch_size=1)  # a graph alone is one row of numbers of graphs
    model = CycleNet(2, 1, hidden_channels=8, encoder="peoi").double()
    sets = Sets(items[:2], items[2:3], items[3:])
    done = fit(model, TASKS["n_circles"], sets, settings, seed=0, device=CPU, steps="filled")
    assert len(done.curve.train_loss) == 1


@pytest.mark.gpu
@pytest.mark.parametrize("more", [{}, {"schedule": "cosine", "average": 0.9, "decoupled": True}])
def test_replayed_steps_are_the_plain_steps(more):
    items = [AddShortestCycleBasis(dtype=torch.float64)(with_features(graph, seed))
             for seed in range(4) for graph in MIXED]  # fmt: skip
    for seed, item in enumerate(items):
        item.x, item.y = item.x[:, :2], item.x[:, :1].sum(0, keepdim=True) + 0.1 * seed
    sets = Sets(items[:18], items[18:21], items[21:])
    settings = Training(epochs=4, batch_size=4, clip_norm=1.0, **more)
    losses = []
    for steps in ("plain", "filled", "fused"):
        torch.manual_seed(0)
        model = CycleNet(2, 1, hidden_channels=8, encoder="peoi").double()
        done = fit(model, TASKS["n_circles"], sets, settings, seed=3, device=torch.device("cuda"),
                   steps=steps)  # fmt: skip
        losses.append([*done.curve.train_loss, *done.curve.test_metric])
    plain, filled, fused = losses
    torch.testing.assert_close(filled, plain, rtol=1e-5, atol=0)
    torch.testing.assert_close(fused, plain, rtol=1e-5, atol=0)
