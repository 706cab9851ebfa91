"""Diagonals, row sums and largest eigenvalues are those of the dense matrices."""

import numpy as np
import oracles
import pytest
from bad_input import refused
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples, graphs

from cyclenet.topology import (
    GraphError,
    clique_complex,
    cycle_projector,
    hodge_laplacian,
    hodge_sums,
    laplacian_bounds,
    projector_sums,
    ring_complex,
)
from cyclenet.topology.edge_sums import hodge_sums_of, laplacian_bounds_of
from cyclenet.topology.incidence import incidence_of


def complexes(max_nodes=9):
    """A graph, and how long its faces may be; 2 for none."""
    return st.tuples(graphs(max_nodes), st.integers(2, 6))


def faces_of(edges, num_nodes, longest):
    return None if longest < 3 else ring_complex(edges, num_nodes, longest)


@given(complexes())
@examples(150, 5_000)
def test_hodge_sums_are_those_of_the_laplacian(drawn):
    (edges, num_nodes), longest = drawn
    faces = faces_of(edges, num_nodes, longest)
    laplacian = hodge_laplacian(edges, num_nodes, faces).toarray()
    found = hodge_sums(edges, num_nodes, faces)
    np.testing.assert_array_equal(found, oracles.row_sums(laplacian))


@given(complexes(), st.integers(0, 2**31))
@examples(100, 2_000)
def test_reversing_edges_changes_the_signed_sum_and_nothing_else(drawn, seed):
    (edges, num_nodes), longest = drawn
    faces = faces_of(edges, num_nodes, longest)
    signs = np.random.default_rng(seed).choice([-1, 1], edges.shape[1])
    laplacian = hodge_laplacian(edges, num_nodes, faces).toarray()
    turned = oracles.row_sums(signs[:, None] * laplacian * signs)
    found = hodge_sums(edges, num_nodes, faces)
    np.testing.assert_array_equal(found[:, [0, 2]], turned[:, [0, 2]])
    bounds = laplacian_bounds(edges, num_nodes, faces)
    values = np.linalg.eigvalsh(signs[:, None] * laplacian * signs)
    assert bounds[1] == pytest.approx(values.max(initial=0.0), abs=1e-9)


@given(graphs(9))
@examples(100, 2_000)
def test_in_a_clique_complex_a_triangle_takes_one_from_the_sum_of_each_of_its_sides(graph):
    edges, num_nodes = graph
    degree = np.bincount(edges.reshape(-1), minlength=num_nodes)
    faces = clique_complex(edges, num_nodes)
    triangles = np.asarray(abs(faces).sum(axis=1)).reshape(-1)
    found = hodge_sums(edges, num_nodes, faces)
    np.testing.assert_array_equal(found[:, 0], 2 + triangles)
    np.testing.assert_array_equal(found[:, 2], degree[edges].sum(axis=0) - triangles)


@given(complexes())
@examples(100, 2_000)
def test_bounds_are_the_largest_eigenvalues(drawn):
    (edges, num_nodes), longest = drawn
    faces = faces_of(edges, num_nodes, longest)
    down = incidence_of(edges, num_nodes).toarray()
    up = np.zeros((edges.shape[1], 0)) if faces is None else faces.toarray()
    expected = [
        np.linalg.eigvalsh(part).max(initial=0.0)
        for part in (down @ down.T, down.T @ down + up @ up.T, up.T @ up)
    ]
    found = laplacian_bounds(edges, num_nodes, faces)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_large_matrices_give_the_same_eigenvalue_in_steps():
    # The prism over a ring of 600: the product of a ring and an edge, whose spectra add up.
    size = 600
    ring = np.stack((np.arange(size), np.roll(np.arange(size), -1)))
    rungs = np.stack((np.arange(size), np.arange(size) + size))
    edges = np.sort(np.concatenate((ring, ring + size, rungs), axis=1), axis=0)
    found = laplacian_bounds(edges, 2 * size)
    assert found[0] == pytest.approx(4 + 2, rel=1e-7)
    assert found.tobytes() == laplacian_bounds(edges, 2 * size).tobytes()


def test_loops_and_parallel_edges_that_are_kept_count_as_the_matrices_say():
    edges = np.array([[0, 0, 1, 2], [1, 1, 2, 2]])
    faces = ring_complex(edges, 3, 4, self_loops="cycle", multi_edges="distinct")
    down, up = incidence_of(edges, 3).toarray(), faces.toarray()
    laplacian = down.T @ down + up @ up.T
    found = hodge_sums_of(edges, 3, faces)
    np.testing.assert_array_equal(found, oracles.row_sums(laplacian))
    largest = np.linalg.eigvalsh(laplacian)[-1]
    assert laplacian_bounds_of(edges, 3, faces)[1] == pytest.approx(largest)


@given(graphs(9))
@examples(100, 2_000)
def test_projector_sums_are_those_of_the_projector(graph):
    edges, num_nodes = graph
    expected = oracles.row_sums(cycle_projector(edges, num_nodes))
    np.testing.assert_allclose(projector_sums(edges, num_nodes), expected, atol=1e-12)


def test_a_star_costs_its_edges_and_not_its_pairs_of_edges():
    leaves = 200_000
    edges = np.stack((np.zeros(leaves, dtype=np.int64), np.arange(1, leaves + 1)))
    found = hodge_sums(edges, leaves + 1)
    assert (found == [2, leaves + 1, leaves + 1]).all()


def test_edges_and_faces_are_checked():
    triangle = np.array([[0, 0, 1], [1, 2, 2]])
    for function in (hodge_sums, laplacian_bounds):
        with refused(GraphError, "side that is not an edge|has the side"):
            function(triangle, 4, np.array([[0], [1], [3]]))
        with refused(GraphError, "edges"):
            function(triangle[::-1], 3)
