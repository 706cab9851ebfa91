"""PEOI against its formula on dense matrices (G.1, G.7), and the numbers of the paper."""

import named_graphs
import numpy as np
import pytest
import torch
from hypothesis import given
from strategies import examples, graphs
from torch_geometric.data import Batch, Data

import cyclenet as cn
from cyclenet.bench.dense import dense_peoi
from cyclenet.datasets import cfi_graph
from cyclenet.nn.encoders import PEOIEncoder

# Worked example 1 of the paper: two graphs with equal cycle lengths and equal persistence.
GRAPH_A = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (3, 4), (4, 5), (3, 6), (4, 6)]
GRAPH_B = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (3, 4), (4, 5), (4, 6), (5, 6)]


def data_of(graph, x=None):
    return Data(edge_index=torch.from_numpy(graph[0]), num_nodes=graph[1], x=x)


def dense_incidence(item):
    matrix = torch.zeros(item.edges.size(1), int(item.num_cycles), dtype=torch.float64)
    matrix[tuple(item.cycle_incidence)] = 1
    return matrix


def dense(encoder, item):
    """The formula, word by word, on a matrix whose entries are vectors."""
    on = dense_incidence(item).unsqueeze(2)
    entries = on
    if encoder.filters is not None:
        ends = item[encoder.filters].double()[item.edges]
        functions = torch.cat((ends.amin(0), ends.amax(0)), 1).unsqueeze(1)
        entries = torch.cat((on, on * functions), 2)
    every = (torch.ones(1, size, dtype=torch.bool) for size in on.shape[:2])
    return dense_peoi(encoder, entries.unsqueeze(0), *every)[0]


ENCODERS = {
    "others": PEOIEncoder(5),
    "all": PEOIEncoder(5, sum_over="all"),
    "light": PEOIEncoder(5, form="light"),
    "filters": PEOIEncoder(5, filters="x", num_filters=2),
    "filters all": PEOIEncoder(5, filters="x", num_filters=2, sum_over="all"),
    "light filters": PEOIEncoder(5, form="light", filters="x", num_filters=2),
}


def assert_as_the_formula(encoder, item):
    encoder = encoder.double()
    gradients, values = [], []
    for rows in (encoder.encode_edges(item), dense(encoder, item)):
        encoder.zero_grad()
        rows.square().sum().backward()
        values.append(rows.detach())
        gradients.append([parameter.grad.clone() for parameter in encoder.parameters()])
    scale = max(float(values[1].abs().sum()), 1)
    torch.testing.assert_close(values[0], values[1], rtol=0, atol=1e-12 * scale)
    for one, other in zip(*gradients, strict=True):
        assert float((one - other).norm()) <= 1e-10 * max(float(other.norm()), 1)


@pytest.mark.parametrize("name", ENCODERS)
@given(graph=graphs(max_nodes=8))
@examples(20, 1000)
def test_the_closed_form_is_the_formula(name, graph):
    if graph[0].shape[1] == 0:
        return
    x = torch.linspace(-1, 1, 2 * graph[1], dtype=torch.float64).view(-1, 2).sin()
    item = cn.AddRelevantCycles(dtype=torch.float64)(data_of(graph, x))
    assert_as_the_formula(ENCODERS[name], item)


@pytest.mark.parametrize("graph", [cfi_graph(3), named_graphs.grid(4, 5), named_graphs.cycle(7)])
def test_the_closed_form_is_the_formula_on_larger_graphs(graph):
    for name in ("others", "light"):
        assert_as_the_formula(ENCODERS[name], cn.AddShortestCycleBasis()(data_of(graph)))


def explicit(rho1, rho2, **options):
    """PEOI with given functions, and the identity last."""
    encoder = PEOIEncoder(1, **options)
    for name, function in (("rho1", rho1), ("rho2", rho2), ("rho3", lambda rows: rows)):
        delattr(encoder, name)
        setattr(encoder, name, function)
    encoder.register_parameter("kind", torch.nn.Parameter(torch.zeros(1, dtype=torch.float64)))
    return encoder


def rows_of(encoder, pairs):
    graph = named_graphs.from_pairs(pairs, 7)
    distance = torch.tensor([1, 2, 2, 3, 3, 3, 4], dtype=torch.float64).unsqueeze(1)
    item = cn.AddShortestCycleBasis()(data_of(graph, distance))
    order = {tuple(sorted(pair)): i for i, pair in enumerate(item.edges.t().tolist())}
    rows = encoder.encode_edges(item).flatten().tolist()
    return [rows[order[pair]] for pair in pairs]


def test_worked_example_1_without_and_with_j_equal_to_i():
    def rho1(x):
        return 2 * x[:, :1] + x[:, 1:]

    def rho2(x):
        return torch.relu(x[:, :1] - 16)

    others, every = (explicit(rho1, rho2, sum_over=which) for which in ("others", "all"))
    assert rows_of(others, GRAPH_A) == [4, 4, 2, 6, 4, 4, 4, 2, 2]
    assert rows_of(others, GRAPH_B) == [4, 4, 2, 6, 4, 2, 6, 2, 2]
    assert rows_of(every, GRAPH_A) == [7, 7, 5, 12, 7, 10, 7, 5, 5]
    assert rows_of(every, GRAPH_B) == [7, 7, 5, 12, 7, 5, 12, 5, 5]
    # The printed values come back if the term j = i is taken off again.
    shifted = explicit(rho1, lambda x: torch.relu(x[:, :1] - 3 * x[:, 1:] - 16), sum_over="all")
    assert rows_of(shifted, GRAPH_A) == [4, 4, 2, 6, 4, 4, 4, 2, 2]


def test_worked_example_1_with_a_filter():
    # The channels of an entry are membership, smaller value, larger value; the paper reads the
    # smaller one, 0 off the cycle.
    def rho1(x):
        return torch.minimum(x[:, 1], x[:, 4]).unsqueeze(1)

    encoder = explicit(rho1, lambda x: x[:, :1], filters="x", num_filters=1)
    assert rows_of(encoder, GRAPH_A) == [4, 4, 4, 10, 6, 10, 6, 6, 6]
    assert rows_of(encoder, GRAPH_B) == [4, 4, 4, 10, 6, 4, 12, 6, 6]


def test_peoi_contains_the_number_of_cycles():
    encoder = explicit(lambda x: torch.ones_like(x[:, :1]), lambda x: x[:, :1])
    assert rows_of(encoder, GRAPH_A) == [(9 - 1) * 3] * 9


def test_printed_numbers_of_parameters():
    def count(module):
        return sum(parameter.numel() for parameter in module.parameters())

    for width in (122, 77, 40):
        assert count(PEOIEncoder(width, sum_over="all")) == 7488 + 65 * width
    assert count(PEOIEncoder(128, form="light")) == 62_272


def test_a_forest_reads_rho3_of_zero():
    encoder = PEOIEncoder(4)
    item = cn.AddShortestCycleBasis()(data_of(named_graphs.path(4)))
    expected = encoder.rho3(torch.zeros(1, 64)).expand(3, 4)
    torch.testing.assert_close(encoder(item), expected)


def test_filters_are_checked_against_the_batch():
    encoder = PEOIEncoder(4, filters="x", num_filters=3)
    item = cn.AddShortestCycleBasis()(data_of(named_graphs.cycle(3), torch.rand(3, 2)))
    with pytest.raises(ValueError, match="num_filters"):
        encoder(Batch.from_data_list([item]))


def test_float32_is_close_to_the_formula():
    encoder = PEOIEncoder(8)
    item = cn.AddShortestCycleBasis()(data_of(named_graphs.grid(5, 5)))
    expected = dense(encoder.double(), item)
    found = encoder.float().encode_edges(item).double()
    np.testing.assert_allclose(
        found.detach(), expected.detach(), atol=2e-6 * float(expected.detach().abs().max())
    )


def several(transform):
    """A tree, rings and equal graphs in one batch."""
    ring, grid = named_graphs.cycle(5), named_graphs.grid(3, 4)
    kinds = (ring, grid, named_graphs.path(4), grid, named_graphs.cycle(7), ring)
    x = torch.linspace(-1, 1, 24, dtype=torch.float64).view(-1, 2).sin()
    return Batch.from_data_list([transform(data_of(one, x[: one[1]])) for one in kinds])


@pytest.mark.parametrize("name", ENCODERS)
def test_rows_that_arcs_share_are_the_encoding(name):
    encoder = ENCODERS[name].double()
    batch = several(cn.AddRelevantCycles(dtype=torch.float64))
    rows, place = encoder.shared_rows(batch)
    torch.testing.assert_close(rows.index_select(0, place), encoder(batch), rtol=0, atol=0)


@pytest.mark.parametrize("name", ["others", "light"])
def test_edges_with_equal_cycles_are_read_once(name):
    batch = several(cn.AddShortestCycleBasis())
    rows, _ = ENCODERS[name].double().shared_rows(batch)
    # Rings of 5 (one kind), a grid (edges of one square or of two), a path, a ring of 7, and zeros.
    # A light encoder knows of the number of edges no more than the cycles tell.
    assert rows.size(0) == 1 + 2 + 1 + 1 + 1


def test_a_subclass_that_tells_more_apart_is_asked():
    class Numbered(PEOIEncoder):
        def encode_edges(self, batch):
            rows = super().encode_edges(batch)
            return rows + torch.arange(rows.size(0)).unsqueeze(1)

    batch = several(cn.AddShortestCycleBasis())
    encoder = Numbered(3)
    rows, place = encoder.shared_rows(batch)
    assert rows.size(0) == batch.edges.size(1) + 1
    torch.testing.assert_close(rows.index_select(0, place), encoder(batch))
