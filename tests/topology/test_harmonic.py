"""The harmonic space of a complex: its laws, and that its dimension is counted."""

from itertools import combinations

import numpy as np
import oracles
import pytest
from bad_input import refused
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples, graphs

from cyclenet.topology import GraphError, TooLargeError, cycle_projector
from cyclenet.topology.edge_sums import projector_sums
from cyclenet.topology.harmonic import harmonic_basis, harmonic_sums
from cyclenet.topology.incidence import face_incidence

CLOSE = 1e-9
# Six nodes, ten triangles: going around the hole twice is a boundary, once is not.
PROJECTIVE_PLANE = "012 023 034 045 051 124 235 341 452 513"


@st.composite
def complexes(draw, max_nodes=8):
    """A graph with some of its triangles filled."""
    edges, num_nodes = draw(graphs(max_nodes))
    present = set(map(tuple, edges.T.tolist()))
    triangles = [t for t in combinations(range(num_nodes), 3) if set(combinations(t, 2)) <= present]
    kept = draw(st.lists(st.sampled_from(triangles), unique=True)) if triangles else []
    return edges, np.array(kept, dtype=np.int64).reshape(-1, 3).T.copy(), num_nodes


def rational_betti(edges, faces, num_nodes):
    boundary = face_incidence(edges, faces, num_nodes).toarray()
    betti = edges.shape[1] - num_nodes + oracles.component_count(edges, num_nodes)
    return betti - (oracles.rank_rational(boundary) if boundary.size else 0)


@given(complexes())
@examples(80, 3_000)
def test_columns_are_orthonormal_harmonic_and_as_many_as_holes(complex):
    edges, faces, num_nodes = complex
    if rational_betti(*complex) != oracles.homology_betti(*complex):
        return  # torsion: refused, see below
    basis = harmonic_basis(edges, num_nodes, faces)
    assert basis.shape[1] == rational_betti(*complex)
    boundary = face_incidence(edges, faces, num_nodes).toarray()
    np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=CLOSE)
    np.testing.assert_allclose(oracles.dense_incidence(edges, num_nodes) @ basis, 0, atol=CLOSE)
    np.testing.assert_allclose(boundary.T @ basis, 0, atol=CLOSE)


@given(graphs(8))
@examples(80, 3_000)
def test_without_faces_it_is_the_cycle_space(graph):
    edges, num_nodes = graph
    basis = harmonic_basis(edges, num_nodes)
    np.testing.assert_allclose(basis @ basis.T, cycle_projector(edges, num_nodes), atol=CLOSE)
    expected = projector_sums(edges, num_nodes)
    np.testing.assert_allclose(harmonic_sums(edges, num_nodes), expected, atol=CLOSE)


@given(complexes())
@examples(40, 1_000)
def test_sums_are_those_of_the_projector(complex):
    edges, faces, num_nodes = complex
    if rational_betti(*complex) != oracles.homology_betti(*complex):
        return
    basis = harmonic_basis(edges, num_nodes, faces)
    projector = basis @ basis.T
    sums = harmonic_sums(edges, num_nodes, faces)
    np.testing.assert_allclose(sums[:, 0], np.diag(projector), atol=CLOSE)
    np.testing.assert_allclose(sums[:, 1], projector.sum(axis=1), atol=CLOSE)
    np.testing.assert_allclose(sums[:, 2], np.abs(projector).sum(axis=1), atol=CLOSE)


def test_columns_stay_in_one_component():
    two_squares = np.array([[0, 0, 1, 2, 4, 4, 5, 6], [1, 2, 3, 3, 5, 6, 7, 7]])
    basis = np.abs(harmonic_basis(two_squares, 8)).round(9)
    assert basis.T.tolist() == [[0.5] * 4 + [0.0] * 4, [0.0] * 4 + [0.5] * 4]


def test_a_filled_triangle_has_no_harmonic_vector():
    triangle = np.array([[0, 0, 1], [1, 2, 2]])
    assert harmonic_basis(triangle, 3, np.array([[0], [1], [2]])).shape == (3, 0)
    assert harmonic_sums(triangle, 3, np.array([[0], [1], [2]])).tolist() == [[0.0] * 3] * 3


@pytest.mark.parametrize("num_nodes", [0, 3])
def test_graphs_without_edges_are_ordinary(num_nodes):
    nothing = np.zeros((2, 0), dtype=np.int64)
    assert harmonic_basis(nothing, num_nodes).shape == (0, 0)
    assert harmonic_sums(nothing, num_nodes).shape == (0, 3)


def test_torsion_is_named():
    faces = np.array([list(map(int, t)) for t in PROJECTIVE_PLANE.split()]).T
    pairs = sorted({pair for t in faces.T.tolist() for pair in combinations(sorted(t), 2)})
    with refused(GraphError, "projective plane", code="torsion"):
        harmonic_basis(np.array(pairs).T, 6, faces)


def test_what_would_not_fit_is_refused_and_trees_cost_nothing():
    square = np.array([[0, 0, 1, 2], [1, 2, 3, 3]])
    with refused(TooLargeError, "harmonic space"):
        harmonic_basis(square, 4, max_bytes=100)
    path = np.stack((np.arange(5000), np.arange(1, 5001)))
    assert harmonic_basis(path, 5001, max_bytes=0).shape == (5000, 0)
