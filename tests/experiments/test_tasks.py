"""The graphs of the tasks: how many, how drawn, how stored; and losses and metrics."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from torch_geometric.utils import is_undirected, to_networkx

from cyclenet.datasets import rook_graph, shrikhande_graph
from cyclenet.datasets.data_folder import DATA_HERE
from cyclenet.datasets.torus import CloudOptions, TorusPreset, torus_set
from cyclenet.datasets.zinc import zinc_sample
from cyclenet.experiments import tasks
from cyclenet.experiments.build import prepared
from cyclenet.experiments.names import SEPARATION_NAMES, TRAINING_NAMES
from cyclenet.experiments.reading import SpecError
from cyclenet.experiments.spec import Part, Row
from cyclenet.experiments.tasks import TASKS, TaskKind, loss_of, metric_of

CFI = TASKS["3-cfi"]
SIZES = {"3-cfi": {"honest": (120, 40, 40), "paper": (160, 0, 40)}}
POINTS = {"honest": (320, 80, 100), "paper": (400, 0, 100)}
PAPER_TASKS = ("3-cfi", "4-cfi", "n_circles", "circle_extents")


def shipped(split, *_, **__):
    """A few molecules of each set, from those that are shipped."""
    start = 16 * ("train", "validation", "test").index(split)
    return zinc_sample()[start : start + 16]


def few_tori(*_, **__):
    """Snapshots of small clouds, drawn anew."""
    pytest.importorskip("gudhi")
    return torus_set(TorusPreset((4, 4, 4), CloudOptions((10, 40), seed=7)), None)


@pytest.fixture(scope="module")
def splits():
    """The graphs of each task, protocol and seed, made once."""
    made = {}

    def get(name, protocol="honest", seed=0):
        key = name, protocol, seed
        if key not in made:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(tasks, "zinc", shipped)
                patch.setattr(tasks, "torus_set", few_tori)
                kind = TASKS[name]
                made[key] = (
                    kind.splits(protocol, seed)
                    if kind.stored is None
                    else kind.stored.splits(protocol, DATA_HERE)
                )
        return made[key]

    return get


def same(some, others):
    """Whether two lists hold the same graphs with the same targets, in the same order."""
    return all(
        torch.equal(one.edge_index, other.edge_index) and torch.equal(one.y, other.y)
        for one, other in zip(some, others, strict=True)
    )


@pytest.mark.parametrize("name", PAPER_TASKS)
@pytest.mark.parametrize("protocol", ["honest", "paper"])
def test_sets_have_the_sizes_of_their_protocol(splits, name, protocol):
    expected = SIZES["3-cfi"] if name.endswith("cfi") else POINTS
    assert tuple(map(len, splits(name, protocol))) == expected[protocol]


OF_GRAPHS = [name for name in TRAINING_NAMES if name not in ("trajectories", "tori")]


@pytest.mark.parametrize("name", OF_GRAPHS)
def test_graphs_have_the_widths_that_networks_are_built_for(splits, name):
    kind = TASKS[name]
    for items in splits(name):
        for item in items[:5]:
            assert item.x.size(1) == kind.in_channels
            assert item.edge_attr.shape == (item.num_edges, kind.edge_channels)
            assert item.y.shape == (1, kind.out_channels)
            assert is_undirected(item.edge_index)


@pytest.mark.parametrize("name", PAPER_TASKS)
def test_the_published_sets_store_one_arc_for_each_edge(splits, name):
    for item in splits(name, "paper").train[:5]:
        assert (item.edge_index[0] < item.edge_index[1]).all()


@pytest.mark.parametrize("name", ["3-cfi", "n_circles"])
def test_honest_graphs_follow_the_seed_and_published_ones_do_not(splits, name):
    again, other = TASKS[name].splits("honest", 0), splits(name, seed=1)
    assert same(splits(name).train, again.train)
    assert not same(splits(name).train, other.train)
    published = [TASKS[name].splits("paper", seed).test for seed in (0, 1)]
    assert same(*published)


@pytest.mark.parametrize("name", [name for name in OF_GRAPHS if name != "zinc"])
def test_no_test_graph_is_a_graph_to_fit_or_to_choose_by(splits, name):
    """The same arcs in the same order: copies under other names are what CFI is about."""
    train, validation, test = splits(name)
    seen = {item.edge_index.numpy().tobytes() for item in (*train, *validation)}
    assert not any(item.edge_index.numpy().tobytes() in seen for item in test)


def test_molecules_are_those_of_the_benchmark_with_types_one_hot(splits):
    for item, molecule in zip(splits("zinc").train, zinc_sample(), strict=False):
        assert torch.equal(item.x.argmax(1), molecule.x.flatten())
        assert torch.equal(item.edge_attr.argmax(1), molecule.edge_attr.flatten())
        assert (item.x.sum(1) == 1).all() and (item.edge_attr.sum(1) == 1).all()
        assert torch.equal(item.y, molecule.y)
    assert same(splits("zinc").test, splits("zinc", "paper", 3).test)


@pytest.mark.parametrize("protocol", ["honest", "paper"])
def test_walks_of_a_seed_share_a_complex_of_its_own(splits, protocol):
    sizes = {"honest": (800, 200, 200), "paper": (1000, 0, 200)}
    parts = splits("trajectories", protocol)
    assert tuple(map(len, parts)) == sizes[protocol]
    assert len({id(part.complex) for part in parts}) == 1
    other = splits("trajectories", protocol, 1).train.complex
    assert not np.array_equal(other.edges, parts.train.complex.edges)
    made = prepared(Row("SAT", backbone=Part("flow_sat")), parts.test[:3])
    kind = TASKS["trajectories"]
    assert all(item.edge_features.size(1) == kind.in_channels for item in made)
    assert [item.y.tolist() for item in made] == [[[float(y)]] for y in parts.test.labels[:3]]


def test_walks_have_no_sums_of_signed_entries(splits):
    encoder = Part("projector", {"on": "single", "depth": "contracted"})
    row = Row("SAT", "paper", backbone=Part("flow_sat"), encoder=encoder)
    with pytest.raises(SpecError, match="`on` must be 'abs' or 'arcs' for walks"):
        prepared(row, splits("trajectories").test[:1])


def test_tori_ask_something_of_every_edge(splits):
    kind, parts = TASKS["tori"], splits("tori")
    assert tuple(map(len, parts)) == (4, 4, 4)
    for item in parts.train:
        assert item.y.shape == (item.edges.size(1), kind.out_channels)
        assert item.edge_features.shape == (item.edges.size(1), kind.in_channels)


def test_cfi_graphs_are_copies_of_two_that_share_their_new_names(splits):
    items = splits("3-cfi").test
    assert [float(item.y) for item in items] == [0.0, 1.0] * 20
    both = [nx.empty_graph(16), nx.empty_graph(16)]
    for drawn, graph in zip(both, (rook_graph(), shrikhande_graph()), strict=True):
        drawn.add_edges_from(graph.edges.T.tolist())
    for item in items[:6]:
        drawn = to_networkx(item, to_undirected=True)
        assert nx.is_isomorphic(drawn, both[int(item.y)])
        assert not nx.is_isomorphic(drawn, both[1 - int(item.y)])


def test_families_hold_what_they_say():
    for name in SEPARATION_NAMES:
        kind = TASKS[name]
        assert kind.family is not None and kind.metric == "separated"
        assert str(len(kind.family())) in kind.about


def test_losses_are_means_over_graphs_and_weights_leave_some_out():
    kind = TASKS["circle_extents"]
    generator = torch.Generator().manual_seed(0)
    prediction, target = (torch.rand(5, 20, generator=generator) for _ in range(2))
    expected = torch.nn.functional.mse_loss(prediction, target)
    torch.testing.assert_close(loss_of(kind, prediction, target), expected)
    weight = torch.tensor([1.0, 1.0, 0.0, 1.0, 0.0])
    kept = weight > 0
    part = loss_of(kind, prediction[kept], target[kept])
    torch.testing.assert_close(loss_of(kind, prediction, target, weight), part)


def test_a_logit_above_zero_is_a_yes():
    target = torch.tensor([[1.0], [1.0], [0.0], [0.0]])
    assert metric_of(CFI, torch.tensor([[0.1], [-0.1], [-2.0], [0.3]]), target) == 0.5
    assert metric_of(TASKS["n_circles"], target + 2, target) == 2.0
    assert metric_of(TASKS["circle_extents"], target + 2, target) == 4.0


CLASSES = TaskKind(
    "one of three", loss="ce", metric="accuracy", higher_is_better=True,
    in_channels=1, edge_channels=0, out_channels=3,
)  # fmt: skip
EDGES = replace(TASKS["circle_extents"], out_channels=1, of_edges=True)


def test_a_class_is_the_largest_of_its_logits():
    logits = torch.tensor([[2.0, 1.0, 0.0], [0.0, 0.1, 0.2], [0.0, 9.0, 0.0]])
    target = torch.tensor([[0.0], [2.0], [0.0]])
    assert metric_of(CLASSES, logits, target) == pytest.approx(2 / 3)
    expected = torch.nn.functional.cross_entropy(logits, target[:, 0].long())
    torch.testing.assert_close(loss_of(CLASSES, logits, target), expected)
    weight = torch.tensor([1.0, 1.0, 0.0])
    part = loss_of(CLASSES, logits[:2], target[:2])
    torch.testing.assert_close(loss_of(CLASSES, logits, target, weight), part)


def test_the_metric_of_edges_counts_every_graph_alike():
    target = torch.zeros(5, 1)
    prediction = torch.tensor([[1.0], [1.0], [1.0], [1.0], [3.0]])
    graph = torch.tensor([0, 0, 0, 0, 2])  # the second graph has no edges
    assert metric_of(EDGES, prediction, target, graph) == pytest.approx((1 + 9) / 2)
    assert float(loss_of(EDGES, prediction, target)) == pytest.approx((4 + 9) / 5)
