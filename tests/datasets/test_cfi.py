"""The CFI family: its size, its degrees, and what its shortest bases say."""

import named_graphs
import networkx as nx
import numpy as np
import pytest

from cyclenet.datasets import cfi_graph, rook_graph, shrikhande_graph, strongly_regular_parameters
from cyclenet.topology import betti_number, cycle_projector, shortest_cycle_basis


def as_networkx(graph):
    built = nx.empty_graph(graph[1])
    built.add_edges_from(graph[0].T.tolist())
    return built


def lengths(graph):
    return dict(
        zip(*np.unique(shortest_cycle_basis(*graph).lengths, return_counts=True), strict=True)
    )


@pytest.mark.parametrize("k", [2, 3, 4, 5])
@pytest.mark.parametrize("twist", [0, 1, 2])
def test_sizes_and_degrees_follow_the_formula(k, twist):
    edges, num_nodes = cfi_graph(k, twist)
    degrees = np.bincount(edges.ravel(), minlength=num_nodes)
    assert num_nodes == (k + 1) * 2 ** (k - 1)
    assert set(degrees) == {k * 2 ** (k - 2)}
    assert (edges[0] < edges[1]).all()


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("twist", [0, 1, 3])
def test_edges_are_those_of_the_definition(k, twist):
    edges, num_nodes = cfi_graph(k, min(twist, k + 1))
    theirs, n = named_graphs.cfi(k, min(twist, k + 1))
    assert num_nodes == n
    assert nx.is_isomorphic(as_networkx((edges, n)), as_networkx((theirs, n)))


@pytest.mark.parametrize(
    ("k", "twist", "betti", "expected"),
    [
        (2, 0, 2, {3: 2}),
        (2, 1, 1, {6: 1}),
        (3, 0, 33, {3: 24, 4: 9}),
        (3, 1, 33, {3: 31, 4: 2}),
        (4, 0, 281, {3: 281}),
        (4, 1, 281, {3: 280, 4: 1}),
    ],
)
def test_shortest_bases_tell_the_pairs_apart(k, twist, betti, expected):
    graph = cfi_graph(k, twist)
    assert betti_number(*graph) == betti
    assert lengths(graph) == expected


@pytest.mark.parametrize("k", [2, 3])
def test_only_the_parity_of_the_twist_matters(k):
    untwisted, once, twice = (as_networkx(cfi_graph(k, twist)) for twist in range(3))
    assert nx.is_isomorphic(untwisted, twice)
    assert not nx.is_isomorphic(untwisted, once)


def test_three_bits_give_the_rook_and_the_shrikhande_graph():
    assert nx.is_isomorphic(as_networkx(cfi_graph(3, 0)), as_networkx(rook_graph()))
    assert nx.is_isomorphic(as_networkx(cfi_graph(3, 1)), as_networkx(shrikhande_graph()))


@pytest.mark.parametrize(
    ("graph", "zeros", "row_sum"), [(rook_graph(), 22, 2.625), (shrikhande_graph(), 16, 2.75)]
)
def test_projectors_tell_rook_and_shrikhande_apart(graph, zeros, row_sum):
    projector = np.abs(cycle_projector(*graph))
    assert strongly_regular_parameters(*graph) == (16, 6, 2, 2)
    assert ((projector < 1e-9).sum(axis=0) == zeros).all()
    np.testing.assert_allclose(projector.sum(axis=0), row_sum, atol=1e-12)
    np.testing.assert_allclose(projector.diagonal(), 11 / 16, atol=1e-12)


def test_every_column_of_the_4_cfi_projectors_has_the_same_entries():
    expected = {
        0: 36, 1: 60, 2: 15, 3: 12, 5: 12, 6: 1, 7: 60, 8: 48, 9: 12, 14: 9, 15: 12, 16: 12,
        109: 12, 110: 6, 117: 12, 1686: 1,
    }  # fmt: skip
    for twist in (0, 1):
        scaled = 1920 * np.abs(cycle_projector(*cfi_graph(4, twist)))
        whole = np.round(scaled).astype(np.int64)
        assert np.abs(scaled - whole).max() < 1e-8
        for column in whole.T:
            assert dict(zip(*np.unique(column, return_counts=True), strict=True)) == expected


@pytest.mark.parametrize(("k", "twist"), [(1, 0), (11, 0), (3, -1), (3, 5)])
def test_arguments_out_of_range_are_refused(k, twist):
    with pytest.raises(ValueError, match="must be"):
        cfi_graph(k, twist)
