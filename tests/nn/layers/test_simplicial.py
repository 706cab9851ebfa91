"""Convolutions on complexes, against the dense matrices of their formulas."""

import numpy as np
import pytest
import torch
from feature_graphs import EDGELESS, EMPTY, FOREST, batch_of, drawn, with_triangles
from hypothesis import given
from hypothesis import strategies as st
from named_graphs import complete, theta
from strategies import examples

from cyclenet.nn.layers.hodge import stored_complex
from cyclenet.nn.layers.simplicial import SCConvLayer, SCNLayer

CLOSE = {"atol": 1e-10, "rtol": 1e-10}
several_graphs = st.lists(drawn(7), min_size=1, max_size=3)
WIDTHS = (2, 3, 4)


def complexes(several):
    batch = with_triangles(batch_of(several))
    return stored_complex(batch, batch.x)


def matrices(cells):
    """B1 and B2."""
    return [
        sides.to_below(torch.eye(sides.sides.size(1), dtype=torch.float64))
        for sides in (cells.below, cells.above)
    ]


def diagonal(numbers):
    return torch.diag(numbers.flatten())


def operators(cells):
    """The seven operators of the two-complex convolution, as the specification lists them."""
    down, up = matrices(cells)
    nodes, edges, faces = (torch.eye(len(owner)).double() for owner in cells.owners)
    degree, on_edge = down.abs().sum(1), up.abs().sum(1)
    inverse_d1 = diagonal(torch.where(degree > 0, 1 / (2 * degree), 0.0))
    d2 = diagonal(on_edge.clamp(min=1))
    d5 = diagonal(1 / (on_edge + 1))
    half = 0.5**0.5
    within = (edges + d2 - up @ up.t() / 3) @ torch.linalg.inv(d2 + edges)
    around = (d2 + edges) @ (edges + torch.linalg.inv(d2) - down.t() @ inverse_d1 @ down)
    return {
        "00": nodes - down @ down.t() @ torch.linalg.inv(diagonal(degree) + nodes),
        "10": half * inverse_d1 @ down,
        "01": half * d2 @ down.t() @ inverse_d1,
        "11": within + around,
        "21": up / 3,
        "12": up.t() @ d5,
        "22": 2 * (2 * faces + up.t() @ d5 @ up),
    }


def states_of(cells, widths=WIDTHS):
    both = zip(cells.owners, widths, strict=True)
    return [torch.randn(len(owner), width, dtype=torch.float64) for owner, width in both]


@given(several_graphs)
@examples(30, 500)
def test_a_two_complex_convolution_is_the_sum_of_its_seven_ways(several):
    cells = complexes(several)
    torch.manual_seed(0)
    layer = SCConvLayer(WIDTHS, 5, torch.tanh).double()
    states, ways = states_of(cells), operators(cells)
    total = [torch.zeros(len(owner), 5).double() for owner in cells.owners]
    for route, matrix in ways.items():
        source, target = map(int, route)
        total[target] = total[target] + matrix @ layer.maps[route](states[source])
    for new, rows, share in zip(layer(states, cells), total, (2, 3, 2), strict=True):
        torch.testing.assert_close(new, rows.tanh() / share, **CLOSE)


@given(several_graphs)
@examples(30, 500)
def test_nodes_hear_nodes_by_the_normalised_adjacency(several):
    """A0 = I - B1 B1' (D0 + I)^-1 is (A + I) (D0 + I)^-1."""
    cells = complexes(several)
    num_nodes = len(cells.owners[0])
    adjacency = torch.zeros(num_nodes, num_nodes, dtype=torch.float64)
    adjacency[cells.ends[0], cells.ends[1]] = adjacency[cells.ends[1], cells.ends[0]] = 1.0
    eye = torch.eye(num_nodes, dtype=torch.float64)
    expected = (adjacency + eye) / (adjacency.sum(0) + 1)
    torch.testing.assert_close(operators(cells)["00"], expected, **CLOSE)


@pytest.mark.parametrize("present", [(2, 0, 0), (0, 3, 0), (0, 0, 4), (2, 0, 4), (0, 3, 4)])
@pytest.mark.parametrize("only_edges", [False, True])
def test_what_is_not_there_counts_as_zeros(present, only_edges):
    cells = complexes([theta(), complete(4), FOREST])
    torch.manual_seed(0)
    whole = SCConvLayer(WIDTHS, 5, torch.tanh, bias=False).double()
    layer = SCConvLayer(present, 5, torch.tanh, bias=False, only_edges=only_edges).double()
    layer.load_state_dict(
        {key: value for key, value in whole.state_dict().items() if key in layer.state_dict()}
    )
    states = states_of(cells, present)
    zeros = [rows.new_zeros(len(rows), width) for rows, width in zip(states, WIDTHS, strict=True)]
    full = [rows if rows.size(1) else zero for rows, zero in zip(states, zeros, strict=True)]
    for k, (new, expected) in enumerate(zip(layer(states, cells), whole(full, cells), strict=True)):
        if new.size(1):
            torch.testing.assert_close(new, expected, **CLOSE)
        else:
            assert (only_edges and k != 1) or not expected.any()


@pytest.mark.parametrize("rescaling", ["published", "centred"])
@pytest.mark.parametrize("dimension", [0, 1, 2])
def test_a_simplicial_convolution_is_a_linear_map_of_the_rescaled_laplacian(dimension, rescaling):
    cells = complexes([theta(), complete(5), EMPTY, EDGELESS])
    layer = SCNLayer(3, 4, dimension, rescaling=rescaling).double()
    count = len(cells.owners[dimension])
    rows = torch.randn(count, 3, dtype=torch.float64)
    operator = cells.rescaled(dimension, torch.eye(count, dtype=torch.float64), rescaling)
    torch.testing.assert_close(operator, operator.t(), **CLOSE)
    expected = operator @ rows @ layer.linear.weight.t() + layer.linear.bias
    torch.testing.assert_close(layer(rows, cells), expected, **CLOSE)


def test_isolated_nodes_hear_themselves_and_no_edge():
    cells = complexes([EDGELESS])
    layer = SCConvLayer((2, 2, 2), 3, torch.nn.Identity(), bias=False).double()
    nodes = torch.randn(3, 2, dtype=torch.float64)
    new, edges, faces = layer([nodes, nodes[:0], nodes[:0]], cells)
    torch.testing.assert_close(new, layer.maps["00"](nodes) / 2)
    assert edges.shape == faces.shape == (0, 3)
    assert np.isfinite(new.detach().numpy()).all()
