"""What a complex looks like around an edge, against gudhi and by hand."""

from itertools import combinations

import numpy as np
import pytest
from bad_input import refused
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from cyclenet.topology.links import edge_link_betti_numbers

TETRAHEDRON = [(0, 1, 2, 3)]


def faces_of(maximal):
    """All simplices of a complex by their number of nodes, as columns."""
    found = {size: set() for size in (2, 3, 4)}
    for simplex in maximal:
        for size in found:
            found[size] |= set(combinations(sorted(simplex), size))
    return [np.array(sorted(found[size]), dtype=np.int64).reshape(-1, size).T for size in (2, 3, 4)]


def link_numbers(maximal, num_nodes):
    edges, triangles, tetrahedra = faces_of(maximal)
    return edges, edge_link_betti_numbers(edges, triangles, num_nodes, tetrahedra)


def link_by_gudhi(gudhi, maximal, edge):
    tree = gudhi.SimplexTree()
    for simplex in maximal:
        tree.insert(simplex)
    link = gudhi.SimplexTree()
    for coface, _ in tree.get_cofaces(edge, 0):
        opposite = sorted(set(coface) - set(edge))
        if opposite:
            link.insert(opposite)
    if link.num_vertices() == 0:
        return [0, 0, 0]
    link.compute_persistence(homology_coeff_field=2, persistence_dim_max=True)
    return [*link.betti_numbers(), 0, 0][:3]


@st.composite
def small_complexes(draw):
    """Simplices on up to seven nodes, of any dimension up to three."""
    sets = st.sets(st.integers(0, 6), min_size=2, max_size=4)
    return sorted(draw(st.sets(sets.map(lambda nodes: tuple(sorted(nodes))), max_size=14)))


@given(small_complexes())
@examples(100, 3_000)
def test_links_have_the_betti_numbers_that_gudhi_finds(maximal):
    gudhi = pytest.importorskip("gudhi")
    edges, numbers = link_numbers(maximal, 7)
    expected = [link_by_gudhi(gudhi, maximal, edge) for edge in edges.T.tolist()]
    assert numbers.tolist() == expected


def test_the_link_of_an_edge_of_a_tetrahedron_is_the_edge_opposite():
    edges, numbers = link_numbers(TETRAHEDRON, 4)
    assert edges.shape[1] == 6 and numbers.tolist() == [[1, 0, 0]] * 6


def test_without_its_inside_a_tetrahedron_has_two_points_around_each_edge():
    hollow = list(combinations(range(4), 3))
    assert link_numbers(hollow, 4)[1].tolist() == [[2, 0, 0]] * 6


def test_an_edge_inside_a_ball_has_a_circle_around_it():
    around = [(0, 1, 2 + i, 2 + (i + 1) % 4) for i in range(4)]
    edges, numbers = link_numbers(around, 6)
    assert numbers[edges.T.tolist().index([0, 1])].tolist() == [1, 1, 0]


def test_edges_without_a_triangle_have_nothing_around_them():
    assert link_numbers([(0, 1), (2, 3)], 5)[1].tolist() == [[0, 0, 0]] * 2
    assert link_numbers([], 3)[1].shape == (0, 3)


def test_the_order_of_triangles_does_not_matter():
    edges, triangles, tetrahedra = faces_of([(0, 1, 2, 3), (1, 2, 3, 4)])
    expected = edge_link_betti_numbers(edges, triangles, 5, tetrahedra)
    turned = edge_link_betti_numbers(edges, triangles[::-1, ::-1], 5, tetrahedra[::-1])
    assert turned.tolist() == expected.tolist()


def test_a_tetrahedron_without_a_side_is_refused():
    edges, triangles, tetrahedra = faces_of(TETRAHEDRON)
    with refused(ValueError, "side of a tetrahedron"):
        edge_link_betti_numbers(edges, triangles[:, 1:], 4, tetrahedra)
