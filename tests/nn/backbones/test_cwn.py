import itertools

import numpy as np
import pytest
import torch
from bad_input import refused
from feature_graphs import (
    EMPTY,
    FOREST,
    MIXED,
    bare,
    batch_of,
    drawn,
    num_parameters,
    with_features,
)
from hypothesis import given
from hypothesis import strategies as st
from named_graphs import cycle, from_pairs, hypercube, petersen, theta
from strategies import examples, graphs
from torch_geometric.data import Batch

from cyclenet import CycleData
from cyclenet.datasets import rook_graph, shrikhande_graph
from cyclenet.nn.backbones import CWN
from cyclenet.nn.backbones.cwn import CWNLayer, UpperMessages, sides_of
from cyclenet.nn.layers import RowNorm
from cyclenet.transforms import LiftToCliqueComplex, LiftToRingComplex

CLOSE = {"atol": 1e-10, "rtol": 1e-10}
# Rounding leaves 1e-14 where a gradient is zero.
IDLE = 1e-12
SMALL = {"edge_channels": 2, "hidden_channels": 8, "num_layers": 2}
WIDTH = 4
# Triangles, squares and hexagons on each other: edges in several rings at once.
RINGED = [*MIXED, petersen(), hypercube(3), theta()]

plain_and_published = pytest.mark.parametrize(
    "options", [{}, {"norm": False, "activation": "elu"}], ids=["norm relu", "elu"]
)


def network(**options):
    torch.manual_seed(0)
    model = CWN(3, 2, **(SMALL | options)).double()
    batch = batch_of(MIXED)
    model(batch, batch.s if model.edge_channels else None)
    return model.eval()


def layer_with_statistics(**options):
    """A layer whose norms are no identity, in evaluation mode."""
    torch.manual_seed(0)
    layer = CWNLayer(WIDTH, **options).double()
    for module in layer.modules():
        if isinstance(module, RowNorm):
            torch.nn.init.uniform_(module.running_mean)
            torch.nn.init.uniform_(module.running_var, 0.5, 2)
            torch.nn.init.uniform_(module.weight, 0.5, 2)
            torch.nn.init.uniform_(module.bias)
    return layer.eval()


def random_states(batch, seed=0):
    sizes = (batch.num_nodes, batch.edges.size(1), int(batch.num_faces.sum()))
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(s, WIDTH, generator=generator, dtype=torch.double) for s in sizes]


# The formula, written as the specification has it


def cells_of(data):
    """The boundary of every cell: nothing, pairs of nodes, lists of edges."""
    faces = [[] for _ in range(int(data.num_faces.sum()))]
    for edge, face in data.face_incidence.t().tolist():
        faces[face].append(edge)
    return [[[] for _ in range(data.num_nodes)], data.edges.t().tolist(), faces]


def layer_by_pairs(layer, data, states):
    """One layer, cell by cell and pair by pair."""
    boundary = cells_of(data)
    new = []
    for k in range(3):
        rows = []
        up = [torch.zeros(WIDTH, dtype=torch.double) for _ in states[k]]
        if k < 2:
            message = layer.messages[k]
            for z, sides in enumerate(boundary[k + 1]):
                for x, y in itertools.permutations(sides, 2):
                    joined = torch.cat((states[k][y], states[k + 1][z]))
                    up[x] = up[x] + message.activation(message.linear(joined))
        for x, h in enumerate(states[k]):
            below = sum((states[k - 1][b] for b in boundary[k][x]), torch.zeros_like(h))
            u = layer.cells[k].above((h + up[x]).unsqueeze(0))
            b = layer.cells[k].boundary((h + below).unsqueeze(0))
            rows.append(layer.cells[k].join(torch.cat((u, b), dim=1))[0])
        new.append(torch.stack(rows) if rows else torch.zeros(0, WIDTH, dtype=torch.double))
    return new


@plain_and_published
def test_a_layer_is_the_formula_over_pairs_of_cells(options):
    layer = layer_with_statistics(**options)

    @given(drawn(8))
    @examples(25, 500)
    def holds(graph):
        data = with_features(graph, eigenvectors=False)
        states = random_states(data)
        found, expected = layer(states, sides_of(data)), layer_by_pairs(layer, data, states)
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other, **CLOSE)

    holds()


@pytest.mark.parametrize("graph", RINGED)
def test_messages_count_once_for_each_common_ring(graph):
    layer = layer_with_statistics()
    data = with_features(graph, eigenvectors=False)
    states = random_states(data)
    for one, other in zip(
        layer(states, sides_of(data)), layer_by_pairs(layer, data, states), strict=True
    ):
        torch.testing.assert_close(one, other, **CLOSE)


def test_upper_messages_of_two_triangles_by_hand():
    """Edges 0 = (0, 1) in both triangles, others in one; a message is the sum of its two ends."""
    data = with_features(theta(), eigenvectors=False)
    assert data.face_incidence.tolist() == [[0, 1, 3, 0, 2, 4], [0, 0, 0, 1, 1, 1]]
    messages = UpperMessages(1).double()
    torch.nn.init.ones_(messages.linear.weight)
    torch.nn.init.zeros_(messages.linear.bias)
    low = torch.tensor([[1.0], [2.0], [4.0], [8.0], [16.0]], dtype=torch.double)
    high = torch.tensor([[100.0], [1000.0]], dtype=torch.double)
    heard = messages(low, high, data.face_incidence)
    # The shared edge hears 2 and 8 in the first ring, 4 and 16 in the second.
    assert heard.flatten().tolist() == [210 + 2020, 209, 2017, 203, 2005]


@pytest.mark.parametrize("edge_channels", [0, 2])
def test_cells_start_as_the_published_embedding_has_them(edge_channels):
    model, data = network(edge_channels=edge_channels), with_features(petersen())
    states = data.s if edge_channels else None
    nodes, edges, faces = model.first_states(data, data.x, states, sides_of(data), 22)
    torch.testing.assert_close(nodes, data.x @ model.node_encoder.weight.t())
    if edge_channels:
        m = data.edges.size(1)
        mean = (data.s[:m] + data.s[m:]) / 2
        torch.testing.assert_close(edges, mean @ model.edge_encoder.weight.t())
    else:
        torch.testing.assert_close(edges, nodes[data.edges].sum(0))
    for face, row in enumerate(faces):
        inside = data.edges[:, data.face_incidence[0, data.face_incidence[1] == face]].unique()
        torch.testing.assert_close(row, nodes[inside].sum(0))


@pytest.mark.parametrize("readout", ["sum", "mean"])
def test_the_readout_pools_each_dimension_by_itself(readout):
    """Without layers in between: two graphs, one of which has no faces."""
    model = network(readout=readout)
    model.layers = torch.nn.ModuleList()
    several = [theta(), FOREST]
    batch = batch_of(several)
    for i, graph in enumerate(several):
        data = with_features(graph, i)
        count = int(data.num_faces)
        states = model.first_states(data, data.x, data.s, sides_of(data), count)
        total = torch.zeros(16, dtype=torch.double)
        for widen, rows in zip(model.head.widen, states, strict=True):
            pooled = rows.sum(0) / (max(len(rows), 1) if readout == "mean" else 1)
            total = total + widen(pooled).relu()
        torch.testing.assert_close(model(batch, batch.s)[i], model.head.out(total), **CLOSE)


@plain_and_published
def test_gradients_are_right(options):
    layer = layer_with_statistics(**options)
    batch = batch_of([theta(), EMPTY, cycle(5)])
    states = [rows.requires_grad_() for rows in random_states(batch)]
    sides = sides_of(batch)
    assert torch.autograd.gradcheck(lambda *rows: tuple(layer(rows, sides)), states)


# What it can see


@given(st.lists(drawn(), min_size=1, max_size=4), st.integers(0, 99))
@examples(20, 500)
def test_the_directions_of_faces_do_not_matter(several, seed):
    batch = batch_of(several)
    other = batch.clone()
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(batch.face_incidence.size(1), generator=generator)
    other.face_sign = -batch.face_sign[order]
    other.face_incidence = batch.face_incidence[:, order]
    model = network()
    torch.testing.assert_close(model(other, other.s), model(batch, batch.s), **CLOSE)


@plain_and_published
@given(st.lists(graphs(7, edge_order="sorted"), min_size=1, max_size=4))
@examples(15, 300)
def test_a_graph_alone_is_what_it_is_in_any_batch(options, several):
    model = network(**options)
    together = batch_of(several)
    found = model(together, together.s)
    for i, graph in enumerate(several):
        alone = with_features(graph, i)
        torch.testing.assert_close(model(alone, alone.s)[0], found[i], **CLOSE)


def relative_gap(lift, one, other, **options):
    """How far apart the predictions for two graphs of equal nodes are."""
    items = []
    for graph in (one, other):
        data = lift(bare(graph))
        data.x = data.x.double()
        items.append(data)
    torch.manual_seed(0)
    model = CWN(1, 16, hidden_channels=16, num_layers=3, **options).double().eval()
    first, second = model(Batch.from_data_list(items)).detach()
    return float((first - second).norm() / first.norm())


@plain_and_published
def test_rings_tell_rook_from_shrikhande_and_triangles_do_not(options):
    """Each edge of both lies in two triangles, but only 12 squares of the second have no chord."""
    pair = rook_graph(), shrikhande_graph()
    assert relative_gap(LiftToCliqueComplex(), *pair, **options) < 1e-12
    for max_length in (4, 5, 6):
        lift = LiftToRingComplex(max_length=max_length)
        assert relative_gap(lift, *pair, **options) > 1e-4


def test_triangles_tell_apart_what_messages_along_arcs_cannot():
    triangles = from_pairs([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)], 6)
    assert relative_gap(LiftToCliqueComplex(), cycle(6), triangles) > 1e-4
    # A longer ring than those that are filled is not seen.
    heptagons = from_pairs(
        [(7 * k + i, 7 * k + (i + 1) % 7) for k in range(2) for i in range(7)], 14
    )
    assert relative_gap(LiftToRingComplex(), cycle(14), heptagons) < 1e-12
    assert relative_gap(LiftToRingComplex(max_length=7), cycle(14), heptagons) > 1e-4


@pytest.mark.filterwarnings("ignore:(self loops|repeated arcs)")
def test_loops_say_nothing_and_copies_are_averaged():
    arcs = torch.tensor([[0, 0, 1, 2, 1, 0], [1, 2, 2, 2, 0, 1]])
    states = torch.tensor([[1.0], [2.0], [3.0], [50.0], [5.0], [9.0]], dtype=torch.double)
    crowded = LiftToRingComplex()(
        CycleData(x=torch.ones(3, 3).double(), edge_index=arcs, num_nodes=3)
    )
    plain = LiftToRingComplex()(
        CycleData(x=crowded.x, edge_index=torch.tensor([[0, 0, 1], [1, 2, 2]]), num_nodes=3)
    )
    model = network(edge_channels=0)
    torch.testing.assert_close(model(crowded), model(plain), **CLOSE)
    model = CWN(3, 2, edge_channels=1, hidden_channels=8).double().eval()
    mean = torch.tensor([[5.0], [2.0], [3.0]], dtype=torch.double)
    torch.testing.assert_close(model(crowded, states), model(plain, mean), **CLOSE)


def test_a_graph_of_loops_alone_may_stand_last():
    looped = CycleData(x=torch.ones(1, 3).double(), edge_index=torch.tensor([[0], [0]]))
    with pytest.warns(UserWarning, match="self loops"):
        looped = LiftToRingComplex()(looped)
    batch = Batch.from_data_list([looped, looped])
    model = CWN(3, 2, edge_channels=1, hidden_channels=8).double().eval()
    one, other = model(batch, torch.ones(2, 1).double())
    torch.testing.assert_close(one, other)


# Parameters


def test_the_layers_and_the_readout_have_the_published_numbers_of_parameters():
    h = 128
    model = CWN(28, 1, edge_channels=4, num_layers=4, printed_size=True)
    layers = num_parameters(model.layers) + num_parameters(model.never_called)
    assert layers == 12 * (8 * h**2 + 16 * h)
    assert num_parameters(model.head) == 6 * h**2 + 6 * h + 2 * h + 1
    # One-hot types make the encoders embeddings of 28 atoms and 4 bonds.
    assert num_parameters(model) == 1_700_865
    assert num_parameters(model.never_called) == 4 * 32_896
    smaller = CWN(28, 1, edge_channels=4, num_layers=4)
    # Five biases in front of norms for each layer and dimension.
    assert num_parameters(smaller) == 1_700_865 - 4 * 32_896 - 4 * 3 * 5 * h


def test_what_only_the_published_size_has_never_learns():
    torch.manual_seed(0)
    model = CWN(3, 2, **SMALL, printed_size=True).double()
    batch = batch_of(MIXED)
    out = model(batch, batch.s)
    (out * torch.randn_like(out)).sum().backward()
    used = dict(CWN(3, 2, **SMALL).named_parameters()).keys()
    for key, parameter in model.named_parameters():
        if key.startswith("never_called"):
            assert parameter.grad is None
        elif key in used:
            assert parameter.grad.abs().max() > IDLE, key
        else:
            assert key.endswith(".bias") and parameter.grad.abs().max() < IDLE, key


def test_without_norms_every_parameter_learns():
    torch.manual_seed(0)
    model = CWN(3, 2, **SMALL, norm=False, activation="elu").double()
    assert not [module for module in model.modules() if isinstance(module, RowNorm)]
    batch = batch_of(MIXED)
    out = model(batch, batch.s)
    (out * torch.randn_like(out)).sum().backward()
    for key, parameter in model.named_parameters():
        assert parameter.grad.abs().max() > 1e-8, key


# Bad input


def test_faces_must_be_there():
    data = bare(theta())
    data.x = torch.ones(4, 3)
    with refused(ValueError, "no `face_incidence`; try: `LiftToRingComplex"):
        CWN(3, 1)(data)


def test_an_unknown_activation_is_refused():
    with refused(ValueError, r"`activation` must be one of \('relu', 'elu'\), but it is 'tanh'"):
        CWN(1, 1, activation="tanh")


def test_a_batch_without_any_face_is_ordinary():
    model = network()
    batch = batch_of([FOREST, EMPTY, (np.array([[0], [1]]), 2)])
    assert batch.num_faces.tolist() == [0, 0, 0]
    assert model(batch, batch.s).isfinite().all()
