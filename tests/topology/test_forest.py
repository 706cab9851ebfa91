import named_graphs
import networkx as nx
import numpy as np
import pytest
from bad_input import refused
from hypothesis import given
from interpreted import interpreted
from oracles import betti_by_rank, component_count, dense_incidence, networkx_graph, rank_mod_prime
from strategies import examples, graphs

from cyclenet.topology import GraphError, fundamental_cycles, spanning_forest
from cyclenet.topology.forest import FOREST_ROWS, PARENT, PLACE, TIP, VIA, forest_by_ids, list_arcs


def test_a_triangle_with_a_tail_and_a_lone_node_by_hand():
    edges = np.array([[0, 1, 0, 2], [1, 2, 2, 3]])
    forest = spanning_forest(edges, 5)
    assert forest.parent.tolist() == [-1, 0, 0, 2, -1]
    assert forest.parent_edge.tolist() == [-1, 0, 2, 3, -1]
    assert forest.order.tolist() == [0, 1, 2, 3, 4]
    assert forest.chords.tolist() == [1]
    assert fundamental_cycles(edges, 5).toarray().ravel().tolist() == [1, 1, -1, 0]


@given(graphs())
def test_a_forest_has_one_edge_less_than_nodes_in_each_component(graph):
    edges, num_nodes = graph
    forest = spanning_forest(edges, num_nodes)
    components = component_count(edges, num_nodes)
    below = np.flatnonzero(forest.parent >= 0)
    assert below.size == num_nodes - components
    assert (forest.parent_edge >= 0).sum() == below.size
    assert sorted([*forest.chords, *forest.parent_edge[below]]) == list(range(edges.shape[1]))
    assert forest.chords.tolist() == sorted(forest.chords)


@given(graphs())
def test_parents_come_before_children_and_at_the_other_end_of_the_edge(graph):
    edges, num_nodes = graph
    forest = spanning_forest(edges, num_nodes)
    assert sorted(forest.order) == list(range(num_nodes))
    place = np.argsort(forest.order)
    for node in np.flatnonzero(forest.parent >= 0):
        assert place[forest.parent[node]] < place[node]
        assert sorted(edges[:, forest.parent_edge[node]]) == sorted([node, forest.parent[node]])


@given(graphs())
def test_trees_are_breadth_first_from_the_lowest_node_one_component_after_the_other(graph):
    edges, num_nodes = graph
    forest = spanning_forest(edges, num_nodes)
    plain = networkx_graph(edges, num_nodes)
    expected = {}
    order = []
    for root in np.flatnonzero(forest.parent < 0):
        reached = nx.single_source_shortest_path_length(plain, int(root))
        assert min(reached) == root
        expected |= reached
        order += [frozenset(reached)] * len(reached)
    depth = {}
    for node, component in zip(forest.order.tolist(), order, strict=True):
        assert node in component
        up = int(forest.parent[node])
        depth[node] = 0 if up < 0 else depth[up] + 1
    assert depth == expected


@given(graphs())
def test_fundamental_cycles_are_closed_and_a_basis(graph):
    edges, num_nodes = graph
    chords = spanning_forest(edges, num_nodes).chords
    matrix = fundamental_cycles(edges, num_nodes)
    cycles = matrix.toarray()
    assert cycles.dtype == np.int64 and matrix.has_sorted_indices
    assert not (dense_incidence(edges, num_nodes) @ cycles).any()
    assert np.abs(cycles).max(initial=0) <= 1
    # Each has a chord of its own, so they are independent, and there are as many as can be.
    np.testing.assert_array_equal(cycles[chords], np.eye(chords.size))
    assert chords.size == betti_by_rank(edges, num_nodes) == rank_mod_prime(cycles)


@given(graphs())
def test_hanging_nodes_by_ids_gives_a_forest_with_smaller_parents(graph):
    edges, num_nodes = graph
    nodes = np.full((FOREST_ROWS, num_nodes), -7)
    interpreted(forest_by_ids)(edges[0], edges[1], edges.shape[1], num_nodes, nodes)
    has_smaller = np.isin(np.arange(num_nodes), edges[1])
    np.testing.assert_array_equal(nodes[PARENT] >= 0, has_smaller)
    below = np.flatnonzero(has_smaller)
    assert (nodes[PARENT, below] < below).all()
    np.testing.assert_array_equal(edges[:, nodes[VIA, below]], [nodes[PARENT, below], below])
    assert (nodes[PLACE, nodes[PARENT, below]] < nodes[PLACE, below]).all()


@given(graphs())
@examples(50, 2000)
def test_every_edge_is_an_arc_out_of_both_its_ends(graph):
    edges, num_nodes = graph
    starts = np.empty(num_nodes + 1, dtype=np.int64)
    arcs = np.empty((2, 2 * edges.shape[1]), dtype=np.int64)
    interpreted(list_arcs)(edges[0], edges[1], edges.shape[1], num_nodes, starts, arcs)
    plain = networkx_graph(edges, num_nodes)
    for node in range(num_nodes):
        here = arcs[:, starts[node] : starts[node + 1]]
        assert sorted(here[TIP]) == sorted(plain[node])
        assert sorted(here[0]) == here[0].tolist()
        assert all(node in edges[:, e] for e in here[0])


@pytest.mark.parametrize("num_nodes", [0, 1, 4])
def test_without_edges_every_node_is_a_root(num_nodes):
    edges = np.zeros((2, 0), dtype=np.int64)
    forest = spanning_forest(edges, num_nodes)
    assert forest.parent.tolist() == [-1] * num_nodes
    assert forest.order.tolist() == list(range(num_nodes))
    assert forest.chords.size == 0
    assert fundamental_cycles(edges, num_nodes).shape == (0, 0)


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.uint8])
def test_narrow_integers_are_widened(dtype):
    edges, num_nodes = named_graphs.theta()
    one, other = fundamental_cycles(edges, num_nodes), fundamental_cycles(edges.astype(dtype), 4)
    np.testing.assert_array_equal(one.toarray(), other.toarray())


def test_a_path_of_many_nodes_needs_no_recursion():
    edges, num_nodes = named_graphs.path(20_000)
    assert spanning_forest(edges, num_nodes).order.tolist() == list(range(num_nodes))


@pytest.mark.parametrize("function", [spanning_forest, fundamental_cycles])
def test_edges_are_checked(function):
    with refused(GraphError, r"\(1, 0\)", "reversed_edge"):
        function(np.array([[0, 1], [2, 0]]), 3)
