"""The graph of nearest neighbours."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from cyclenet.datasets import nearest_neighbour_graph
from cyclenet.topology import check_edges


def obvious(points, num_neighbours):
    """Sort the other points by distance, then by name, and join the first ones."""
    graph = nx.empty_graph(len(points))
    for i, here in enumerate(points):
        others = [j for j in range(len(points)) if j != i]
        others.sort(key=lambda j: (sum((points[j] - here) ** 2), j))
        graph.add_edges_from((i, j) for j in others[:num_neighbours])
    return {(min(edge), max(edge)) for edge in graph.edges}


# Whole coordinates make ties, and points in the same place, the rule.
grids = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=9)


@given(grids, st.integers(0, 4))
@examples(quick=50, deep=2000)
def test_edges_are_those_of_the_definition(places, num_neighbours):
    points = np.array(places, dtype=np.float64).reshape(-1, 2)
    edges, num_nodes = nearest_neighbour_graph(points, num_neighbours)
    assert num_nodes == len(places)
    check_edges(edges, num_nodes)
    assert set(map(tuple, edges.T.tolist())) == obvious(points, num_neighbours)


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_where_the_points_are_does_not_matter(shift):
    points = np.random.default_rng(0).uniform(size=(40, 2))
    here = nearest_neighbour_graph(points, 2).edges
    np.testing.assert_array_equal(nearest_neighbour_graph(points + shift, 2).edges, here)
