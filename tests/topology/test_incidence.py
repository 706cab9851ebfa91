import named_graphs
import numpy as np
import pytest
import scipy.sparse
from bad_input import refused
from hypothesis import given
from oracles import dense_incidence, homology_betti, simple_cycles
from strategies import graphs, multigraphs, relabelled, relabellings

from cyclenet.topology import (
    GraphError,
    betti_number,
    face_incidence,
    hodge_laplacian,
    incidence,
)
from cyclenet.topology.edges import check_edges
from cyclenet.topology.incidence import incidence_of, num_components

TRIANGLE = np.array([[0, 0, 1], [1, 2, 2]])


def triangles_of(edges):
    """Every triangle of a graph as a column of three nodes."""
    pairs = {tuple(pair) for pair in edges.T.tolist()}
    nodes = sorted({node for pair in pairs for node in pair})
    found = [
        (a, b, c)
        for a in nodes for b in nodes if b > a for c in nodes if c > b
        if {(a, b), (a, c), (b, c)} <= pairs
    ]  # fmt: skip
    return np.array(found, dtype=np.int64).reshape(-1, 3).T


def test_a_triangle_by_hand():
    assert incidence(TRIANGLE, 3).toarray().tolist() == [[-1, -1, 0], [1, 0, -1], [0, 1, 1]]
    assert face_incidence(TRIANGLE, np.array([[0], [1], [2]]), 3).toarray().tolist() == [
        [1],
        [-1],
        [1],
    ]
    assert hodge_laplacian(TRIANGLE, 3).toarray().tolist() == [[2, 1, -1], [1, 2, 1], [-1, 1, 2]]
    filled = hodge_laplacian(TRIANGLE, 3, np.array([[0], [1], [2]]))
    assert filled.toarray().tolist() == [[3, 0, 0], [0, 3, 0], [0, 0, 3]]


@given(graphs())
def test_incidence_is_minus_one_at_the_tail_and_one_at_the_head(graph):
    edges, num_nodes = graph
    matrix = incidence(edges, num_nodes)
    assert matrix.dtype == np.int64
    np.testing.assert_array_equal(matrix.toarray(), dense_incidence(edges, num_nodes))


@given(multigraphs())
def test_the_column_of_a_loop_is_zero(graph):
    edges, num_nodes = graph
    edges = check_edges(edges, num_nodes, self_loops="cycle", multi_edges="distinct")
    matrix = incidence_of(edges, num_nodes).toarray()
    loops = edges[0] == edges[1]
    assert not matrix[:, loops].any()
    assert (np.abs(matrix[:, ~loops]).sum(axis=0) == 2).all()


@given(graphs(max_nodes=7, max_edges=9))
def test_betti_number_is_the_dimension_of_the_cycle_space(graph):
    edges, num_nodes = graph
    rank = np.linalg.matrix_rank(dense_incidence(edges, num_nodes)) if edges.size else 0
    assert betti_number(edges, num_nodes) == edges.shape[1] - rank
    assert (betti_number(edges, num_nodes) == 0) == (not simple_cycles(edges, num_nodes))


@pytest.mark.parametrize(
    ("graph", "betti", "components"),
    [
        (named_graphs.path(5), 0, 1),
        (named_graphs.cycle(6), 1, 1),
        (named_graphs.theta(), 2, 1),
        (named_graphs.bowtie(), 2, 1),
        (named_graphs.complete(5), 6, 1),
        (named_graphs.rook(), 33, 1),
        (named_graphs.from_pairs([(0, 1), (2, 3)], 6), 0, 4),
        (named_graphs.from_pairs([], 3), 0, 3),
        (named_graphs.from_pairs([], 1), 0, 1),
        (named_graphs.from_pairs([], 0), 0, 0),
    ],
    ids=[
        "path", "cycle", "theta", "bowtie", "complete", "rook", "forest", "edgeless", "one node",
        "empty",
    ],
)  # fmt: skip
def test_betti_numbers_of_known_graphs(graph, betti, components):
    edges, num_nodes = graph
    assert betti_number(edges, num_nodes) == betti
    assert num_components(edges, num_nodes) == components


@given(graphs(max_nodes=8))
def test_boundaries_of_faces_are_closed(graph):
    edges, num_nodes = graph
    faces = face_incidence(edges, triangles_of(edges), num_nodes)
    assert abs(incidence(edges, num_nodes) @ faces).sum() == 0
    assert (abs(faces).sum(axis=0) == 3).all()


@given(graphs(max_nodes=7))
def test_the_kernel_of_the_hodge_laplacian_counts_cycles_and_holes(graph):
    edges, num_nodes = graph
    if not edges.size:
        return
    faces = triangles_of(edges)
    for laplacian, dimension in (
        (hodge_laplacian(edges, num_nodes), betti_number(edges, num_nodes)),
        (hodge_laplacian(edges, num_nodes, faces), homology_betti(edges, faces, num_nodes)),
    ):
        dense = laplacian.toarray()
        np.testing.assert_array_equal(dense, dense.T)
        assert edges.shape[1] - np.linalg.matrix_rank(dense.astype(float)) == dimension


@given(graphs(max_nodes=8).flatmap(lambda g: relabellings(g[1]).map(lambda names: (*g, names))))
def test_reversing_an_edge_flips_its_row_and_column(drawn):
    edges, num_nodes, names = drawn
    renamed, signs = relabelled(edges, names)
    one = hodge_laplacian(edges, num_nodes).toarray()
    other = hodge_laplacian(renamed, num_nodes).toarray()
    np.testing.assert_array_equal(other, signs[:, None] * one * signs)


def test_faces_of_any_shape_come_as_a_matrix_of_signs():
    edges, num_nodes = named_graphs.cycle(4)
    square = scipy.sparse.csc_array(np.array([[1], [-1], [1], [1]]))
    filled = hodge_laplacian(edges, num_nodes, square).toarray()
    assert np.linalg.matrix_rank(filled.astype(float)) == 4


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 0, 2)])
def test_the_order_of_the_corners_decides_the_sign_of_a_face(order):
    face = face_incidence(TRIANGLE, np.array(order)[:, None], 3).toarray().ravel()
    even = order != (1, 0, 2)
    assert face.tolist() == ([1, -1, 1] if even else [-1, 1, -1])


def test_a_graph_without_faces_has_an_empty_b2():
    assert face_incidence(TRIANGLE, np.zeros((3, 0), int), 3).shape == (3, 0)


@pytest.mark.parametrize(
    ("faces", "code", "says"),
    [
        (np.array([[0], [1], [3]]), "face_without_edge", r"side \(1, 3\)"),
        (np.array([[0], [1], [1]]), "face_without_edge", r"side \(1, 1\)"),
        (np.array([[0, 1]]), "faces_shape", r"\(1, 2\)"),
        (np.array([[0.0], [1.0], [2.0]]), "faces_shape", "float64"),
        (scipy.sparse.csc_array(np.ones((2, 1))), "faces_shape", r"\(2, 1\)"),
        (scipy.sparse.csc_array(np.ones((3, 1))), "open_face", "check the signs"),
    ],
    ids=["missing side", "repeated corner", "shape", "float", "rows", "open"],
)
def test_bad_faces_are_refused(faces, code, says):
    with refused(GraphError, says, code):
        face_incidence(TRIANGLE, faces, 4)


def test_edges_are_checked_by_every_function():
    for function in (incidence, betti_number, hodge_laplacian):
        with refused(GraphError, r"\(1, 0\)", "reversed_edge"):
            function(np.array([[1], [0]]), 2)
