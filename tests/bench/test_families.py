"""The measured graphs are what their names say, and the same every time."""

import numpy as np
import pytest

from cyclenet.bench.families import (
    GENERATORS,
    complete,
    cubic,
    delaunay,
    graphs_of,
    grid,
    nearest_neighbours,
    preferential,
    random_graph,
    relabelled,
)
from cyclenet.datasets import molecule_graphs
from cyclenet.topology import betti_number, check_edges, shortest_cycle_basis


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@pytest.mark.parametrize("family", GENERATORS)
def test_every_family_is_simple_graphs_and_repeatable(family):
    graphs, again = graphs_of(family), GENERATORS[family]()
    for graph, other in zip(graphs, again, strict=True):
        edges = check_edges(*graph)
        np.testing.assert_array_equal(edges, other.edges)
        assert graph.num_nodes == other.num_nodes


def test_sizes_are_those_the_bars_were_set_on():
    assert len(graphs_of("molecules")) == 1000
    assert graphs_of("grid 100x100")[0].edges.shape[1] == 19800
    assert [graphs_of(f"cubic {n}")[0].edges.shape[1] for n in (500, 1000)] == [750, 1500]
    assert [graphs_of(f"random {n}")[0].edges.shape[1] for n in (1000, 2500)] == [2000, 5000]
    clouds = graphs_of("nearest neighbours 80")
    assert 140 < np.mean([graph.edges.shape[1] for graph in clouds]) < 165


def test_a_grid_has_its_squares():
    basis = shortest_cycle_basis(*grid(4, 6))
    assert basis.lengths.tolist() == [4] * 15
    assert basis.is_unique


def test_a_complete_graph_has_all_edges():
    assert complete(6).edges.shape[1] == 15


def test_a_cubic_graph_has_degree_three(rng):
    edges, num_nodes = cubic(30, rng)
    assert set(np.bincount(edges.ravel(), minlength=num_nodes)) == {3}


def test_a_triangulation_has_only_triangles_in_its_basis(rng):
    assert set(shortest_cycle_basis(*delaunay(40, rng)).lengths) == {3}


def test_every_point_has_its_nearest_neighbours(rng):
    edges, num_nodes = nearest_neighbours(50, 3, rng)
    assert np.bincount(edges.ravel(), minlength=num_nodes).min() >= 3


def test_preferential_attachment_brings_k_edges_a_node(rng):
    graph = preferential(40, 2, rng)
    assert graph.edges.shape[1] == 2 * 38
    assert betti_number(*graph) == 2 * 38 - 40 + 1


def test_a_random_graph_has_the_edges_asked_for(rng):
    assert random_graph(30, 60, rng).edges.shape[1] == 60


def test_relabelling_keeps_the_shortest_lengths(rng):
    for index in range(5):
        graph = molecule_graphs()[index]
        other = relabelled(graph, rng)
        assert (
            shortest_cycle_basis(*graph).lengths.tolist()
            == shortest_cycle_basis(*other).lengths.tolist()
        )
