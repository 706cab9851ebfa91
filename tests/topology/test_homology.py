from itertools import combinations, product

import named_graphs
import numpy as np
import oracles
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from strategies import edge_weights, examples, graphs, weighted_graphs

from cyclenet.topology import homology
from cyclenet.topology.errors import GraphError, TooLargeError
from cyclenet.topology.homology import (
    SimplicialDistances,
    distance_labels,
    distance_to_cycles,
    edge_annotations,
    shortest_homology_basis,
)
from cyclenet.topology.incidence import face_incidence
from cyclenet.topology.shortest_basis import shortest_cycle_basis


def complex_of(triangles, num_nodes):
    """Edges, triangles and number of nodes of a pure 2-complex."""
    faces = sorted(tuple(sorted(t)) for t in triangles)
    pairs = {pair for t in faces for pair in combinations(t, 2)}
    edges, _ = named_graphs.from_pairs(pairs, num_nodes)
    return edges, np.array(faces, dtype=np.int64).reshape(-1, 3).T.copy(), num_nodes


def grid_triangles(rows, columns, *, wrap=False, without=()):
    """Two triangles for each square of a grid, closed to a torus on request, with squares cut out.

    Nodes are r * columns + c; a grid of rows x columns nodes.
    """
    last_row, last_column = (rows, columns) if wrap else (rows - 1, columns - 1)
    for r, c in product(range(last_row), range(last_column)):
        if (r, c) in without:
            continue
        a, b = r * columns + c, r * columns + (c + 1) % columns
        d, e = (r + 1) % rows * columns + c, (r + 1) % rows * columns + (c + 1) % columns
        yield (a, b, e)
        yield (a, d, e)


def annulus(rows=4, columns=4):
    return complex_of(grid_triangles(rows, columns, without={(1, 1)}), rows * columns)


def disc_with_two_holes():
    return complex_of(grid_triangles(5, 8, without={(1, 1), (1, 5), (2, 5)}), 40)


def torus(rows=4, columns=6):
    return complex_of(grid_triangles(rows, columns, wrap=True), rows * columns)


def sphere():
    """The octahedron: 0 and 1, 2 and 3, 4 and 5 are opposite."""
    return complex_of(product((0, 1), (2, 3), (4, 5)), 6)


def projective_plane():
    """Six nodes, ten triangles; going around it twice is a boundary, once is not."""
    triangles = "012 023 034 045 051 124 235 341 452 513"
    return complex_of([tuple(map(int, t)) for t in triangles.split()], 6)


@st.composite
def complexes(draw, max_nodes=8):
    """A graph with some of its triangles filled."""
    edges, num_nodes = draw(graphs(max_nodes))
    present = set(map(tuple, edges.T.tolist()))
    triangles = [t for t in combinations(range(num_nodes), 3) if set(combinations(t, 2)) <= present]
    kept = draw(st.lists(st.sampled_from(triangles), unique=True)) if triangles else []
    return edges, np.array(kept, dtype=np.int64).reshape(-1, 3).T.copy(), num_nodes


def assert_is_homology_basis(basis, edges, faces, num_nodes):
    incidence = oracles.dense_incidence(edges, num_nodes)
    assert np.all(incidence @ basis.incidence.toarray() == 0)
    betti = oracles.homology_betti(edges, faces, num_nodes)
    assert basis.betti_number == basis.num_cycles == betti
    masks = [oracles.mask_of(cycle) for cycle in basis.cycles]
    assert all(oracles.independent_in_homology(masks, edges, faces))
    assert np.all(np.diff(basis.lengths) >= 0)
    # The lowest edge of each cycle runs along.
    assert all(basis.incidence[cycle[0], k] == 1 for k, cycle in enumerate(basis.cycles))


def least_homology_lengths(edges, faces, num_nodes, weights=None):
    """Lengths of a shortest homology basis: greedy over all simple cycles."""
    found = oracles.simple_cycles(edges, num_nodes)
    ordered = oracles.cycles_in_order(found, edges.shape[1], weights)
    masks = [oracles.mask_of(cycle) for _, _, cycle in ordered]
    taken = oracles.independent_in_homology(masks, edges, faces)
    return [float(item[0]) for item, is_new in zip(ordered, taken, strict=True) if is_new]


@pytest.mark.parametrize(
    ("space", "lengths"),
    [
        (annulus(), [4]),
        (disc_with_two_holes(), [4, 6]),
        (torus(), [4, 6]),
        (torus(3, 3), [3, 3]),
        (sphere(), []),
        (projective_plane(), [3]),
    ],
    ids=["annulus", "disc with two holes", "torus", "small torus", "sphere", "projective plane"],
)
def test_known_surfaces_have_the_shortest_loops_one_expects(space, lengths):
    edges, faces, num_nodes = space
    basis = shortest_homology_basis(edges, faces, num_nodes)
    assert_is_homology_basis(basis, edges, faces, num_nodes)
    assert basis.lengths.tolist() == lengths
    assert basis.lengths.dtype == np.int64


@examples(quick=200, deep=20_000)
@given(complexes())
def test_lengths_are_the_least_possible(case):
    basis = shortest_homology_basis(*case)
    assert_is_homology_basis(basis, *case)
    assert basis.lengths.tolist() == least_homology_lengths(*case)


@examples(quick=100, deep=10_000)
@given(complexes(7), st.data())
def test_weighted_lengths_are_the_least_possible(case, data):
    edges, faces, num_nodes = case
    weights = data.draw(edge_weights(edges.shape[1]))
    basis = shortest_homology_basis(edges, faces, num_nodes, weights)
    assert_is_homology_basis(basis, edges, faces, num_nodes)
    expected = least_homology_lengths(edges, faces, num_nodes, weights)
    np.testing.assert_allclose(basis.lengths, expected, rtol=1e-12, atol=1e-12)


@examples(quick=100, deep=10_000)
@given(weighted_graphs(8))
def test_without_faces_it_is_the_shortest_cycle_basis(case):
    edges, num_nodes, weights = case
    for given_weights in (None, weights):
        basis = shortest_homology_basis(edges, None, num_nodes, given_weights)
        same = shortest_cycle_basis(edges, num_nodes, given_weights)
        assert (basis.incidence != same.incidence).nnz == 0
        assert basis.num_relevant == same.num_relevant
        expected = oracles.shortest_weight_by_networkx(edges, num_nodes, given_weights)
        assert basis.total_weight == pytest.approx(expected)


@examples(quick=100, deep=10_000)
@given(graphs(9))
def test_a_face_that_changes_nothing_leaves_the_weight_of_the_shortest_cycle_basis(case):
    # A triangle of its own beside the graph, filled: the general way, and known by networkx.
    edges, num_nodes = case
    beside = np.array([[0, 0, 1], [1, 2, 2]]) + num_nodes
    both = np.concatenate((edges, beside), axis=1)
    face = np.array([[0], [1], [2]]) + num_nodes
    basis = shortest_homology_basis(both, face, num_nodes + 3)
    assert basis.total_weight == oracles.shortest_weight_by_networkx(edges, num_nodes)


@examples(quick=100, deep=10_000)
@given(complexes())
def test_annotations_of_boundaries_are_zero_and_of_basis_cycles_independent(case):
    edges, faces, num_nodes = case
    boundary = face_incidence(edges, faces, num_nodes)
    annotations, betti = edge_annotations(edges, boundary, num_nodes)
    assert betti == oracles.homology_betti(edges, faces, num_nodes)

    def homology_class(cycle):
        total = np.bitwise_xor.reduce(annotations[list(cycle)], axis=0)
        return int.from_bytes(total.astype("<u8").tobytes(), "little")

    for face in range(boundary.shape[1]):
        assert homology_class(boundary.indices[3 * face : 3 * face + 3]) == 0
    cycles = oracles.simple_cycles(edges, num_nodes)
    masks = [oracles.mask_of(cycle) for cycle in cycles]
    independent = list(oracles.independent_in_homology(masks, edges, faces))
    chosen = [homology_class(c) for c, new in zip(cycles, independent, strict=True) if new]
    assert oracles.rank_mod_2(chosen) == len(chosen) == betti


def test_a_square_face_given_as_incidence_fills_its_cycle():
    edges, num_nodes = named_graphs.grid(2, 3)
    squares = shortest_cycle_basis(edges, num_nodes)
    one_face = scipy.sparse.csc_array(squares.incidence[:, [0]])
    basis = shortest_homology_basis(edges, one_face, num_nodes)
    assert basis.lengths.tolist() == [4]
    np.testing.assert_array_equal(
        basis.incidence.toarray()[:, 0], squares.incidence.toarray()[:, 1]
    )


def test_relevant_cycles_of_a_filled_complex_are_not_counted():
    basis = shortest_homology_basis(*annulus())
    with pytest.raises(NotImplementedError, match="shortest_cycle_basis"):
        _ = basis.num_relevant


def test_a_complex_that_would_not_fit_is_refused_before_it_is_worked_on(monkeypatch):
    def must_not_be_called(*_):
        raise AssertionError("the work has begun")

    monkeypatch.setattr(homology, "edge_annotations", must_not_be_called)
    edges, num_nodes = named_graphs.grid(100, 100)
    strip = np.concatenate((edges, [[0], [101]]), axis=1)
    face = np.array([[0], [1], [101]])
    with pytest.raises(TooLargeError, match="homology basis") as caught:
        shortest_homology_basis(strip, face, num_nodes)
    error = caught.value
    assert error.num_edges == error.largest_block == strip.shape[1]
    assert error.bytes_needed > error.max_bytes
    with pytest.raises(TooLargeError):
        shortest_homology_basis(*annulus(), max_bytes=1000)
    with pytest.raises(TooLargeError):
        shortest_homology_basis(*named_graphs.complete(20)[:1], None, 20, max_bytes=1000)


def test_negative_lengths_are_refused():
    edges, faces, num_nodes = annulus()
    with pytest.raises(GraphError) as caught:
        shortest_homology_basis(edges, faces, num_nodes, np.full(edges.shape[1], -1.0))
    assert caught.value.code == "weight_value"


def test_more_classes_than_bits_in_a_word_are_told_apart():
    # 70 squares in a row, and one filled triangle at the end.
    edges, num_nodes = named_graphs.grid(2, 71)
    pairs = [*map(tuple, edges.T.tolist()), (0, num_nodes), (1, num_nodes)]
    edges, num_nodes = named_graphs.from_pairs(pairs, num_nodes + 1)
    basis = shortest_homology_basis(edges, np.array([[0], [1], [num_nodes - 1]]), num_nodes)
    assert basis.lengths.tolist() == [4] * 70


# Distances


@examples(quick=150, deep=10_000)
@given(complexes(), st.data())
def test_distances_follow_the_rounds_of_stars_and_links(case, data):
    edges, faces, num_nodes = case
    everything = shortest_cycle_basis(edges, num_nodes)
    basis = data.draw(st.sampled_from([everything, shortest_homology_basis(*case)]))
    found = distance_to_cycles(edges, faces, num_nodes, basis)
    cycles = [cycle.tolist() for cycle in basis.cycles]
    expected = oracles.rounds_of_stars_and_links(edges, faces, num_nodes, cycles)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@examples(quick=100, deep=10_000)
@given(complexes())
def test_labels_are_fractions_with_the_cycles_at_zero(case):
    edges, faces, num_nodes = case
    basis = shortest_homology_basis(*case)
    labels = distance_labels(distance_to_cycles(edges, faces, num_nodes, basis))
    everything = np.concatenate(labels)
    assert np.all((everything >= 0) & (everything <= 1))
    on_cycle = np.zeros(edges.shape[1], dtype=bool)
    on_cycle[basis.incidence.indices] = True
    np.testing.assert_array_equal(labels.edges == 0, on_cycle)
    if basis.num_cycles == 0:
        assert np.all(everything == 1)


def test_cycles_of_another_graph_are_refused():
    edges, num_nodes = named_graphs.path(2)
    cycles = shortest_cycle_basis(*named_graphs.theta())
    with pytest.raises(GraphError, match="of one with 5 edges, and `edges` has 1") as caught:
        distance_to_cycles(edges, np.zeros((3, 0), dtype=np.int64), num_nodes, cycles)
    assert caught.value.code == "other_graph"


def test_labels_are_zero_and_one_where_a_cycle_is_all_there_is_to_reach():
    reached = SimplicialDistances(np.zeros(3), np.array([0.0, 0.0, 0.0, np.inf]), np.zeros(0))
    labels = distance_labels(reached)
    assert labels.nodes.tolist() == [0, 0, 0]
    assert labels.edges.tolist() == [0, 0, 0, 1]


def test_an_annulus_has_its_outer_rim_at_distance():
    edges, faces, num_nodes = annulus()
    basis = shortest_homology_basis(edges, faces, num_nodes)
    found = distance_to_cycles(edges, faces, num_nodes, basis)
    # The hole is the square 5, 6, 10, 9. Two corners of the sheet have no diagonal towards it.
    assert np.flatnonzero(found.nodes == 0).tolist() == [5, 6, 9, 10]
    assert np.flatnonzero(found.nodes == 4).tolist() == [3, 12]
    assert np.sum(found.nodes == 2) == 10
