"""Dist2Cycle: one row of predictions for each edge."""

import pytest
import torch
from bad_input import refused
from feature_graphs import (
    EMPTY,
    FOREST,
    MIXED,
    SPACES,
    batch_of,
    num_parameters,
    with_features,
    with_triangles,
)
from named_graphs import complete, theta
from torch_geometric.data import Batch

from cyclenet.nn.backbones import Dist2Cycle
from cyclenet.transforms import AddHodgeInverse

CLOSE = {"atol": 1e-10, "rtol": 1e-10}
SEVERAL = [FOREST, theta(), EMPTY, *MIXED, *SPACES[:4]]
COUNT = 4


def prepared(graph, seed=0):
    data = with_triangles(with_features(graph, seed))
    return AddHodgeInverse(count=COUNT, dtype=torch.float64)(data)


def complexes(several=SEVERAL):
    return Batch.from_data_list([prepared(graph, i) for i, graph in enumerate(several)])


def network(**options):
    torch.manual_seed(0)
    small = {"hidden_channels": 8, "num_layers": 3}
    return Dist2Cycle(3 + COUNT, **(small | options)).double().eval()


def test_the_published_size_comes_out():
    assert num_parameters(Dist2Cycle(13)) == 167_041
    assert num_parameters(Dist2Cycle(23, edge_channels=23)) == 168_321


@pytest.mark.parametrize("edge_channels", [0, 2, 3 + COUNT])
def test_it_is_the_formula_with_the_dense_inverse(edge_channels):
    data, model = prepared(complete(5)), network(edge_channels=edge_channels)
    m = data.edges.size(1)
    down = torch.zeros(5, m, dtype=torch.float64)
    down[data.edges[0], torch.arange(m)] = -1
    down[data.edges[1], torch.arange(m)] = 1
    up = torch.zeros(m, int(data.num_faces), dtype=torch.float64)
    up[data.face_incidence[0], data.face_incidence[1]] = data.face_sign.double()
    eye = torch.eye(m, dtype=torch.float64)
    inverse = torch.linalg.inv(down.t() @ down + up @ up.t() + eye)
    weights = inverse * (down.abs().t() @ down.abs() > 0)
    rows, states = data.edge_features, None
    if edge_channels:
        states = torch.randn(2 * m, edge_channels, dtype=torch.float64)
        rows = model.added(data, rows, states)
    for layer in model.layers:
        out = weights @ rows @ layer.linear.weight.t() + layer.linear.bias
        rows = torch.nn.functional.leaky_relu(out, 0.01)
    torch.testing.assert_close(model(data, states), rows.tanh(), **CLOSE)


def test_a_complex_alone_is_what_it_is_in_any_batch():
    batch, model = complexes(), network()
    together, owner = model(batch), batch.graph_of("edges")
    assert together.shape == (batch.edges.size(1), 1)
    for i, graph in enumerate(SEVERAL):
        torch.testing.assert_close(model(prepared(graph, i)), together[owner == i], **CLOSE)


def test_every_parameter_learns_and_is_drawn_anew():
    batch, model = complexes(), network(edge_channels=2)
    before = {key: weight.clone() for key, weight in model.named_parameters()}
    out = model(batch, batch.s)
    (out * torch.randn_like(out)).sum().backward()
    for key, parameter in model.named_parameters():
        assert parameter.grad.abs().max() > 1e-8, key
    model.reset_parameters()
    for key, parameter in model.named_parameters():
        assert not torch.equal(parameter, before[key]), key


def test_what_is_missing_is_named():
    batch, model = batch_of([theta()]), network()
    with refused(ValueError, r"shape \(5, 7\), but it is of shape \(5, 3\); try: AddHodgeInverse"):
        model(batch)
    batch.edge_features = torch.zeros(5, 7, dtype=torch.float64)
    with refused(ValueError, "`neighbour_weight`, but it does not; try: AddHodgeInverse"):
        model(batch)
    with refused(ValueError, r"`edge_states` must have shape \(10, 0\), .* \(10, 2\)"):
        model(batch, batch.s)
    with refused(ValueError, r"`edge_states` must have shape \(10, 2\), .* missing"):
        network(edge_channels=2)(batch)
    with refused(ValueError, "`num_layers` must be at least 1, but it is 0"):
        network(num_layers=0)
