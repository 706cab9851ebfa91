import named_graphs
import numpy as np
import oracles
import pytest
from bad_input import refused
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples, graphs, multigraphs, relabelled, relabellings

from cyclenet.datasets import cfi_graph, strongly_regular_graphs
from cyclenet.topology import GraphError, TooLargeError, blocks, cycle_projector, edge_profiles
from cyclenet.topology.profiles import pair_invariants, ring_invariants

# Rounded to ten decimals; products of numbers a little above 1 may round apart by one.
CLOSE = 2e-10


def profile_of(found, edge):
    """The multiset of an edge, as sorted rows."""
    mine = found.edge == edge
    rows = np.repeat(found.values[mine], found.count[mine], axis=0)
    return rows[np.lexsort(rows.round(7).T)]


def as_matrix(found, num_edges):
    """What any sum over pairs sees of the profiles, edge by edge."""
    moments = np.zeros((num_edges, 3 * 8))
    seen = [found.values, found.values**2, np.sin(7 * found.values)]
    np.add.at(moments, found.edge, found.count[:, None] * np.concatenate(seen, axis=1))
    return moments


@given(graphs(max_nodes=12))
@examples(200, 10_000)
def test_profiles_are_the_invariants_inside_the_block(graph):
    edges, num_nodes = graph
    found = edge_profiles(edges, num_nodes)
    every = pair_invariants(cycle_projector(edges, num_nodes))
    block = blocks(edges, num_nodes).edge_block
    outside = block[:, None] != block[None, :]
    np.testing.assert_allclose(every[outside], 0, atol=1e-12)
    for edge in range(edges.shape[1]):
        inside = (block == block[edge]) & (block[edge] >= 0)
        expected = every[edge, inside]
        expected = expected[np.lexsort(expected.round(7).T)]
        np.testing.assert_allclose(profile_of(found, edge), expected, atol=CLOSE)


@given(graphs(max_nodes=12).flatmap(lambda g: relabellings(g[1]).map(lambda names: (*g, names))))
@examples(200, 10_000)
def test_names_order_and_orientation_do_not_matter(drawn):
    edges, num_nodes, names = drawn
    renamed, _ = relabelled(edges, names)
    order = np.random.default_rng(edges.shape[1]).permutation(edges.shape[1])
    one = as_matrix(edge_profiles(edges, num_nodes), edges.shape[1])
    other = as_matrix(edge_profiles(renamed[:, order], num_nodes), edges.shape[1])
    np.testing.assert_allclose(other, one[order], atol=1e-7)


@given(multigraphs(max_nodes=7))
@examples(100, 5000)
def test_the_squares_of_the_first_sum_to_the_diagonal_with_loops_and_parallel_edges_too(graph):
    edges, num_nodes = graph
    found = edge_profiles(edges, num_nodes, self_loops="cycle", multi_edges="distinct")
    diagonal = np.zeros(edges.shape[1])
    np.add.at(diagonal, found.edge, found.count * found.values[:, 0] ** 2)
    sizes = np.bincount(found.edge, found.count, minlength=edges.shape[1])
    incidence = oracles.dense_incidence(edges, num_nodes)
    betti = edges.shape[1] - np.linalg.matrix_rank(incidence)
    assert diagonal.sum() == pytest.approx(betti, abs=1e-6)
    assert (diagonal <= 1 + 1e-8).all() and ((diagonal > 0) == (sizes > 0)).all()


@pytest.mark.parametrize("length", [1, 2, 3, 6, 17])
def test_a_ring_in_closed_form(length):
    projector = np.full((length, length), 1 / length)
    expected = pair_invariants(projector)
    np.testing.assert_allclose(
        np.broadcast_to(ring_invariants(length), expected.shape), expected, atol=1e-12
    )


def test_a_triangle_by_hand():
    found = edge_profiles(*named_graphs.cycle(3))
    wave = np.sin(50 / 3)
    by_hand = [1 / 3, 1 / 3, 3 * wave**2, wave, wave, wave / 3, wave / 3, wave**2]
    np.testing.assert_allclose(found.values, [by_hand] * 3, atol=CLOSE)
    assert found.edge.tolist() == [0, 1, 2] and found.count.tolist() == [3, 3, 3]


@pytest.mark.parametrize("graph", [named_graphs.path(5), (np.zeros((2, 0), dtype=int), 0)])
def test_forests_have_none(graph):
    found = edge_profiles(*graph)
    assert found.edge.size == found.count.size == 0 and found.values.shape == (0, 8)


def fingerprint(graph):
    """The multiset of profiles, each as a sum of waves; equal for copies, up to rounding."""
    found = edge_profiles(*graph)
    mixer = np.random.default_rng(1).normal(size=(8, 16))
    waves = found.count[:, None] * np.sin(found.values @ mixer)
    edges = np.zeros((graph[0].shape[1], 16))
    np.add.at(edges, found.edge, waves)
    return np.tanh(edges / np.sqrt(edges.shape[0])).sum(axis=0)


def separated(several, tolerance=1e-6):
    prints = np.array([fingerprint(graph) for graph in several])
    scale = np.linalg.norm(prints, axis=1).mean()
    gaps = np.linalg.norm(prints[:, None] - prints[None], axis=2)[np.triu_indices(len(prints), 1)]
    return (gaps > tolerance * scale).all()


@pytest.mark.parametrize("k", [3, 4])
def test_they_separate_the_cfi_graphs(k):
    assert separated([cfi_graph(k, 0), cfi_graph(k, 1)])
    assert not separated([cfi_graph(k, 0), cfi_graph(k, 2)])  # these two are isomorphic


@pytest.mark.parametrize("family", ["sr16622", "sr251256", "sr261034", "sr281264", "sr401224"])
def test_they_separate_strongly_regular_graphs(family):
    assert separated(list(strongly_regular_graphs(family)))


def test_few_rows_say_it_all_on_symmetric_graphs():
    edges, num_nodes = cfi_graph(4)
    found = edge_profiles(edges, num_nodes)
    # 28 different rows for each of the 320 edges; a few stand on the edge between two decimals.
    assert found.edge.size <= 30 * 320
    assert np.bincount(found.edge, found.count).tolist() == [320] * 320


def test_a_block_that_would_not_fit_is_refused():
    with refused(TooLargeError, "the list of edge profiles", "too_large"):
        edge_profiles(*named_graphs.complete(20), max_bytes=10_000)


@given(st.sampled_from(["self_loops", "multi_edges"]))
def test_loops_and_copies_are_refused_unless_allowed(option):
    edges = np.array([[0, 0], [0, 1]]) if option == "self_loops" else np.array([[0, 0], [1, 1]])
    with refused(GraphError, "must"):
        edge_profiles(edges, 2)
