import tracemalloc
from math import comb

import named_graphs
import numpy as np
import oracles
import pytest
from bad_input import refused
from hypothesis import given
from hypothesis import strategies as st
from interpreted import interpreted
from strategies import examples, graphs, multigraphs, relabelled, relabellings

from cyclenet.datasets import molecule_graphs
from cyclenet.topology import (
    GraphError,
    TooLargeError,
    TooManyFaces,
    clique_complex,
    complexes,
    face_incidence,
    hodge_laplacian,
    incidence,
    relevant_cycles,
    ring_complex,
    shortest_homology_basis,
)
from cyclenet.topology.complexes import ENTRY_BYTES
from cyclenet.topology.incidence import incidence_of

LENGTHS = st.integers(3, 8)
MULTI = {"self_loops": "cycle", "multi_edges": "distinct"}


def columns(boundary):
    """The edges of each face, ascending."""
    ends = zip(boundary.indptr[:-1], boundary.indptr[1:], strict=True)
    return [tuple(boundary.indices[i:j].tolist()) for i, j in ends]


def triangulated_annulus(around=4):
    """A ring of squares inside a ring, each cut in two: one hole."""
    pairs = []
    for i in range(around):
        j = (i + 1) % around
        pairs += [(i, j), (around + i, around + j), (i, around + i), (i, around + j)]
    return named_graphs.from_pairs(pairs, 2 * around)


# Laws


@given(graphs(10), LENGTHS)
@examples(150, 5_000)
def test_faces_are_closed_and_begin_along_their_lowest_edge(graph, max_length):
    edges, num_nodes = graph
    boundary = ring_complex(edges, num_nodes, max_length)
    assert boundary.dtype == np.int64
    assert abs(incidence(edges, num_nodes) @ boundary).sum() == 0
    assert set(boundary.data.tolist()) <= {1, -1}
    assert (boundary.data[boundary.indptr[:-1]] == 1).all()


@given(graphs(9), LENGTHS)
@examples(150, 5_000)
def test_faces_are_the_chordless_cycles_in_order(graph, max_length):
    edges, num_nodes = graph
    found = columns(ring_complex(edges, num_nodes, max_length))
    assert found == oracles.rings(edges, num_nodes, max_length)
    assert found == oracles.rings_by_networkx(edges, num_nodes, max_length)


@pytest.mark.parametrize("max_length", [3, 5, 7])
def test_faces_of_all_small_graphs_are_those_of_networkx(max_length):
    for edges, num_nodes in oracles.atlas():
        found = columns(ring_complex(edges, num_nodes, max_length))
        assert found == oracles.rings_by_networkx(edges, num_nodes, max_length)


@pytest.mark.parametrize("max_length", [6, 18])
def test_rings_of_molecules_are_those_of_networkx(max_length):
    for edges, num_nodes in list(molecule_graphs())[::10]:
        found = columns(ring_complex(edges, num_nodes, max_length))
        assert found == oracles.rings_by_networkx(edges, num_nodes, max_length)


@given(multigraphs(), LENGTHS)
@examples(150, 5_000)
def test_loops_and_parallel_edges_are_rings_and_chords(graph, max_length):
    edges, num_nodes = graph
    boundary = ring_complex(edges, num_nodes, max_length, **MULTI)
    assert columns(boundary) == oracles.rings(edges, num_nodes, max_length)
    assert abs(incidence_of(edges, num_nodes) @ boundary).sum() == 0


@given(graphs(9).flatmap(lambda g: relabellings(g[1]).map(lambda names: (*g, names))), LENGTHS)
@examples(100, 3_000)
def test_relabelling_permutes_the_faces(drawn, max_length):
    edges, num_nodes, names = drawn
    renamed, flips = relabelled(edges, names)
    one, other = (ring_complex(e, num_nodes, max_length) for e in (edges, renamed))
    # Edge ids stay, so the order of the faces does; each runs along its lowest edge, as it now is.
    assert columns(one) == columns(other)
    turned = flips[one.indices] * one.data
    lowest = turned[one.indptr[:-1]].repeat(np.diff(one.indptr))
    np.testing.assert_array_equal(other.data, turned * lowest)


@given(graphs(9))
@examples(100, 3_000)
def test_shortest_cycles_are_rings(graph):
    """A chord would make a cycle a sum of two shorter ones."""
    edges, num_nodes = graph
    relevant = {tuple(c.tolist()) for c in relevant_cycles(edges, num_nodes).cycles}
    assert relevant <= set(columns(ring_complex(edges, num_nodes, max(num_nodes, 3))))


@given(graphs(9))
@examples(100, 3_000)
def test_rings_of_any_length_fill_every_hole(graph):
    edges, num_nodes = graph
    boundary = ring_complex(edges, num_nodes, 9)
    assert shortest_homology_basis(edges, boundary, num_nodes).num_cycles == 0
    if edges.size:
        laplacian = hodge_laplacian(edges, num_nodes, boundary).toarray().astype(float)
        assert np.linalg.matrix_rank(laplacian) == edges.shape[1]


@given(graphs(9, edge_order="sorted"))
@examples(100, 3_000)
def test_triangles_are_signed_as_given_by_their_corners(graph):
    edges, num_nodes = graph
    boundary = clique_complex(edges, num_nodes)
    corners = [sorted(set(edges[:, list(face)].ravel().tolist())) for face in columns(boundary)]
    faces = np.array(corners, dtype=np.int64).reshape(-1, 3).T
    expected = face_incidence(edges, faces, num_nodes)
    np.testing.assert_array_equal(boundary.toarray(), expected.toarray())
    assert columns(boundary) == columns(ring_complex(edges, num_nodes, 3))


@given(graphs(7), LENGTHS)
@examples(30, 500)
def test_the_kernel_stays_inside_its_arrays(graph, max_length):
    edges, num_nodes = graph
    compiled = complexes._find_rings
    try:
        complexes._find_rings = interpreted(compiled)
        slow = ring_complex(edges, num_nodes, max_length)
    finally:
        complexes._find_rings = compiled
    assert columns(slow) == columns(ring_complex(edges, num_nodes, max_length))


# By hand


@pytest.mark.parametrize(
    ("graph", "lengths"),
    [
        (named_graphs.complete(3), {3: 1}),
        (named_graphs.cycle(4), {4: 1}),
        (named_graphs.cycle(6), {6: 1}),
        (named_graphs.cycle(7), {}),
        (named_graphs.theta(), {3: 2}),
        (named_graphs.complete(4), {3: 4}),
        (named_graphs.complete(7), {3: 35}),
        (named_graphs.bowtie(), {3: 2}),
        (named_graphs.two_triangles_and_a_bridge(), {3: 2}),
        (named_graphs.bicyclo_222_octane(), {6: 3}),
        (named_graphs.complete_bipartite(3, 3), {4: 9}),
        (named_graphs.petersen(), {5: 12, 6: 10}),
        (named_graphs.hypercube(3), {4: 6, 6: 4}),
        (named_graphs.grid(3, 3), {4: 4}),
        (named_graphs.rook(), {3: 32, 4: 36, 6: 96}),
        (named_graphs.shrikhande(), {3: 32, 4: 12, 5: 96, 6: 64}),
        (named_graphs.path(5), {}),
        (named_graphs.from_pairs([(0, 1), (2, 3)], 6), {}),
        (named_graphs.from_pairs([], 3), {}),
        (named_graphs.from_pairs([], 0), {}),
    ],
    ids=[
        "triangle", "square", "hexagon", "heptagon", "theta", "K4", "K7", "bowtie", "bridge",
        "bicyclooctane", "K33", "petersen", "cube", "grid", "rook", "shrikhande", "path", "forest",
        "edgeless", "empty",
    ],
)  # fmt: skip
def test_rings_up_to_six_of_known_graphs(graph, lengths):
    boundary = ring_complex(*graph, 6)
    sizes, counts = np.unique(np.diff(boundary.indptr), return_counts=True)
    assert dict(zip(sizes.tolist(), counts.tolist(), strict=True)) == lengths
    assert boundary.shape == (graph[0].shape[1], sum(lengths.values()))


def test_a_square_with_a_triangle_on_it_by_hand():
    """0 - 1, 0 - 2, 1 - 3, 2 - 3 is the square, and 4 the top of the roof on 2 - 3."""
    edges = np.array([[0, 0, 1, 2, 2, 3], [1, 2, 3, 3, 4, 4]])
    assert ring_complex(edges, 5, 4).toarray().T.tolist() == [
        [0, 0, 0, 1, -1, 1],
        [1, -1, 1, -1, 0, 0],
    ]
    assert clique_complex(edges, 5).toarray().T.tolist() == [[0, 0, 0, 1, -1, 1]]


def test_a_filled_annulus_has_one_hole():
    edges, num_nodes = triangulated_annulus()
    faces = clique_complex(edges, num_nodes)
    assert faces.shape[1] == 8
    assert shortest_homology_basis(edges, faces, num_nodes).lengths.tolist() == [4]
    # The hole is itself a ring of four edges.
    assert shortest_homology_basis(edges, ring_complex(edges, num_nodes, 4), num_nodes).cycles == []


def test_a_loop_and_a_pair_of_edges_by_hand():
    edges = np.array([[0, 0, 0, 2, 2], [0, 1, 2, 3, 3]])
    boundary = ring_complex(edges, 4, 3, **MULTI)
    assert boundary.toarray().T.tolist() == [[1, 0, 0, 0, 0], [0, 0, 0, 1, -1]]


def test_dead_ends_cost_nothing():
    """A ladder of diamonds has 2 ** 40 chordless paths and not one long ring."""
    pairs = []
    for i in range(40):
        a, b = 3 * i, 3 * (i + 1)
        pairs += [(a, a + 1), (a, a + 2), (a + 1, b), (a + 2, b)]
    assert ring_complex(*named_graphs.from_pairs(pairs, 121), 200).shape[1] == 40


# Limits


def test_the_cap_itself_is_allowed_and_one_more_is_not():
    edges, num_nodes = named_graphs.complete(6)
    assert ring_complex(edges, num_nodes, 6, comb(6, 3)).shape[1] == 20
    with refused(
        TooManyFaces, "`max_faces` = 19 rings of up to 6 edges, .*try: ", "too_many_faces"
    ):
        ring_complex(edges, num_nodes, 6, 19)
    with refused(TooManyFaces, "up to 3 edges", "too_many_faces"):
        clique_complex(edges, num_nodes, 19)


def test_exponentially_many_rings_are_refused_at_once():
    edges, num_nodes = named_graphs.diamond_ring(60)  # 2 ** 60 rings go around
    assert ring_complex(edges, num_nodes, 100).shape[1] == 60
    with refused(TooManyFaces, "`max_faces` = 100000 rings of up to 120 edges", "too_many_faces"):
        ring_complex(edges, num_nodes, 120)


def test_memory_is_known_before_it_is_taken():
    edges, num_nodes = named_graphs.complete(40)
    needed = ENTRY_BYTES * 3 * comb(40, 3)
    with refused(TooLargeError, f"list of all rings .* {needed} bytes", "too_large"):
        ring_complex(edges, num_nodes, 6, max_bytes=needed - 1)
    tracemalloc.start()
    ring_complex(edges, num_nodes, 6, max_bytes=needed)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert needed / 2 < peak < needed


@pytest.mark.parametrize("max_length", [2, 0, -1, 3.5, True, None])
def test_a_length_below_three_is_refused(max_length):
    with refused(ValueError, f"`max_length` must be .* from 3 on, but it is {max_length}; try: 6"):
        ring_complex(*named_graphs.theta(), max_length)


@pytest.mark.parametrize("function", [lambda e, n: ring_complex(e, n, 6), clique_complex])
def test_edges_are_checked(function):
    with refused(GraphError, r"\(1, 0\)", "reversed_edge"):
        function(np.array([[1], [0]]), 2)
    with refused(GraphError, "loop", "self_loop"):
        function(np.array([[1], [1]]), 2)
    with refused(GraphError, "once|repeat", "repeated_edge"):
        function(np.array([[0, 0], [1, 1]]), 2)
