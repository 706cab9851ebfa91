"""The published networks for flows: odd layers, so that directions of edges do not matter."""

import copy

import numpy as np
import pytest
import torch
from bad_input import refused
from feature_graphs import (
    EMPTY,
    FOREST,
    IN_CHANNELS,
    MIXED,
    SPACES,
    batch_of,
    drawn,
    num_parameters,
    with_features,
    with_triangles,
)
from hypothesis import given
from hypothesis import strategies as st
from named_graphs import complete, cycle, grid, theta
from strategies import examples

from cyclenet.nn.backbones import BACKBONES
from cyclenet.nn.layers import real_rows
from cyclenet.runner.batches import GraphStore, padded

CLOSE = {"atol": 1e-10, "rtol": 1e-10}
FLOWS = ("flow_scn", "flow_scconv", "flow_sat")
SIZED = FLOWS[1:]

every_network = pytest.mark.parametrize("name", FLOWS)


def network(name, in_channels=IN_CHANNELS, **options):
    torch.manual_seed(0)
    small = {"hidden_channels": 8, "num_layers": 3}
    return BACKBONES[name](in_channels, 4, **(small | options)).double().eval()


def complexes(several=(*MIXED, *SPACES[:4])):
    return with_triangles(batch_of(several))


def turned(batch, signs):
    """The same complexes with some edges reversed: T x, B1 T and T B2."""
    other = batch.clone()
    other.edges = torch.where(signs > 0, batch.edges, batch.edges.flip(0))
    other.arc_sign = (batch.arc_sign * signs[batch.arc_to_edge]).to(batch.arc_sign.dtype)
    other.face_sign = batch.face_sign * signs[batch.face_incidence[0]].to(batch.face_sign.dtype)
    other.edge_features = signs.unsqueeze(1) * batch.edge_features
    return other


# The law


@every_network
@pytest.mark.parametrize("edge_channels", [0, 2])
@given(several=st.lists(drawn(7), min_size=1, max_size=3), seed=st.integers(0, 99))
@examples(15, 300)
def test_directions_of_edges_do_not_matter(name, edge_channels, several, seed):
    batch, model = complexes(several), network(name, edge_channels=edge_channels)
    generator = torch.Generator().manual_seed(seed)
    signs = 1 - 2 * torch.randint(2, (batch.edges.size(1),), generator=generator)
    states = batch.s if edge_channels else None
    found = model(turned(batch, signs), states)
    torch.testing.assert_close(found, model(batch, states), **CLOSE)


@every_network
def test_directions_of_triangles_do_not_matter(name):
    batch, model = complexes(), network(name)
    other = batch.clone()
    face = batch.face_incidence[1]
    other.face_sign = batch.face_sign * (1 - 2 * (face % 2)).to(batch.face_sign.dtype)
    torch.testing.assert_close(model(other), model(batch), **CLOSE)


@every_network
def test_layers_are_odd(name):
    batch, model = complexes(), network(name)
    other = batch.clone()
    other.edge_features = -batch.edge_features
    torch.testing.assert_close(model(other), model(batch), **CLOSE)
    other.edge_features = 0 * batch.edge_features
    nothing = torch.zeros(batch.num_joined, 8, dtype=torch.float64)
    torch.testing.assert_close(model(other), model.head(nothing), **CLOSE)


@every_network
def test_states_that_are_added_cost_the_law(name):
    """As in the published code."""
    batch, model = complexes(), network(name, edge_channels=2, enters="sum")
    signs = -torch.ones(batch.edges.size(1), dtype=torch.long)
    gap = (model(turned(batch, signs), batch.s) - model(batch, batch.s)).abs().max()
    assert gap > 1e-6


@every_network
def test_features_of_nodes_are_not_read(name):
    batch, model = complexes(), network(name)
    expected = model(batch)
    batch.x = None
    assert torch.equal(model(batch), expected)


# Sizes


@pytest.mark.parametrize(
    ("name", "size", "options"),
    [
        ("flow_scn", 4_226, {}),
        ("flow_scconv", 22_850, {"printed_size": True}),
        ("flow_sat", 5_570, {"printed_size": True}),
    ],
)
def test_the_published_sizes_come_out_without_saying_more(name, size, options):
    assert num_parameters(BACKBONES[name](1, 2, **options)) == size


def test_the_published_attention_with_an_encoding_reads_forty_one_flows():
    model = BACKBONES["flow_sat"](41, 2, edge_channels=41, enters="sum", printed_size=True)
    assert num_parameters(model) == 6_850


@pytest.mark.parametrize("name", SIZED)
def test_what_only_the_published_size_has_changes_no_prediction(name):
    batch, model = complexes(), network(name)
    sized = network(name, printed_size=True)
    model.load_state_dict(
        {key: value for key, value in sized.state_dict().items() if key in model.state_dict()}
    )
    found = sized(batch)
    torch.testing.assert_close(found, model(batch), **CLOSE)
    found.square().sum().backward()
    for key, parameter in sized.named_parameters():
        assert (parameter.grad is None) == ("never" in key), key


def test_maps_that_are_left_out_read_zeros_or_are_read_by_nobody():
    model = network("flow_scconv")
    assert [sorted(layer.maps) for layer in model.layers] == [
        ["10", "11", "12"],
        ["00", "01", "10", "11", "12", "21", "22"],
        ["01", "11", "21"],
    ]


# What enters


@every_network
def test_a_gate_multiplies_every_flow_by_every_channel(name):
    batch, model = complexes([theta()]), network(name, edge_channels=2)
    m = batch.edges.size(1)
    gates = (batch.s[:m] + batch.s[m:]) / 2
    found = model.entry(batch, batch.edge_features, batch.s)
    for i in range(IN_CHANNELS):
        for j in range(2):
            expected = batch.edge_features[:, i] * (model.entry.weight[i, j] + gates[:, j])
            torch.testing.assert_close(found[:, 2 * i + j], expected, **CLOSE)


@every_network
def test_probabilities_are_the_softmax_of_the_logits(name):
    batch = complexes()
    logits, chances = network(name)(batch), network(name, softmax_output=True)(batch)
    torch.testing.assert_close(chances, logits.softmax(1), **CLOSE)


@pytest.mark.parametrize("enters", ["gate", "sum"])
@every_network
def test_every_parameter_learns(name, enters):
    batch, model = complexes(), network(name, edge_channels=2, enters=enters)
    out = model(batch, batch.s)
    (out * torch.randn_like(out)).sum().backward()
    for key, parameter in model.named_parameters():
        assert parameter.grad.abs().max() > 1e-8, key


# Batches


@every_network
def test_complexes_without_triangles_stand_in_any_position(name):
    several = [FOREST, theta(), EMPTY, cycle(5), complete(5), FOREST]
    model = network(name)
    together = model(complexes(several))
    for i, graph in enumerate(several):
        alone = with_triangles(with_features(graph, i))
        torch.testing.assert_close(model(alone)[0], together[i], **CLOSE)


@pytest.mark.parametrize("more", [0, 40])
@every_network
def test_a_batch_that_is_filled_up_is_the_batch(name, more):
    several = [*MIXED, *SPACES[1:4], grid(3, 3)]
    items = [with_triangles(with_features(graph, i)) for i, graph in enumerate(several)]
    store, ids = GraphStore(items, torch.device("cpu")), [6, 0, 9, 3, 4, 6]
    plain = network(name, edge_channels=2)
    other = copy.deepcopy(plain)
    batch = store.take(ids)
    expected = plain(batch, batch.s)
    expected.square().sum().backward()
    room = store.room([ids, padded(ids, 8)])
    rows = {key: n if n == 9 else n + more for key, n in room.rows.items()}
    asked = torch.from_numpy(np.stack([padded(ids, 8)]))
    large, held, real = store.take_filled(
        asked, torch.tensor([len(ids)]), room._replace(rows=rows)
    ).batch(torch.tensor([0]))
    with real_rows(real):
        found = other(large, large.s)
    found[:-1][held].square().sum().backward()
    torch.testing.assert_close(found[: len(ids)], expected, rtol=1e-9, atol=1e-11)
    for one, two in zip(plain.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(one.grad, two.grad, rtol=1e-9, atol=1e-11)


# Bad input


@every_network
def test_flows_must_be_those_announced(name):
    batch, model = complexes([theta()]), network(name, in_channels=2)
    with refused(ValueError, r"`batch.edge_features` must have shape \(5, 2\), .* \(5, 3\)"):
        model(batch)
    del batch.edge_features
    with refused(ValueError, "but it is missing; try: a column for each of `in_channels`"):
        model(batch)


@every_network
def test_an_unknown_way_to_enter_is_refused(name):
    with refused(ValueError, r"`enters` must be one of \('gate', 'sum'\), but it is 'product'"):
        network(name, enters="product")
