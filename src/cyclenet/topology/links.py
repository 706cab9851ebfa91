"""What a complex looks like around an edge."""

import numpy as np
import scipy.sparse
from jaxtyping import Int, Integer
from scipy.sparse.csgraph import connected_components

from cyclenet.topology.edges import check_edges
from cyclenet.topology.incidence import face_incidence

# The sides of a tetrahedron, and behind each the two nodes that are opposite to it.
_SIDES = ((0, 1, 2, 3), (0, 2, 1, 3), (0, 3, 1, 2), (1, 2, 0, 3), (1, 3, 0, 2), (2, 3, 0, 1))


def edge_link_betti_numbers(
    edges: Integer[np.ndarray, "2 m"],
    triangles: Integer[np.ndarray, "3 f"],
    num_nodes: int,
    tetrahedra: Integer[np.ndarray, "4 t"] | None = None,
) -> Int[np.ndarray, "m 3"]:
    """Betti numbers of the link of every edge of a complex of dimension 3 at most.

    The link of an edge holds the simplices that are opposite to it: the third node of every
    triangle on it, and the opposite side of every tetrahedron on it. It is a graph, so it has a
    number of components and a Betti number, and nothing in dimension 2; it is the same over every
    field. In a surface, the first number is 2 on inner edges, 1 on the border, and 0 on edges
    without a triangle.

    Args:
        edges: Undirected edges, each once, tail < head.
        triangles: Triangles as columns of three nodes, each once.
        num_nodes: Number of nodes.
        tetrahedra: Tetrahedra as columns of four nodes, each once, with all sides; None for none.

    Returns:
        For each edge the Betti numbers in dimensions 0, 1 and 2.

    Raises:
        GraphError: If the edges or triangles are not what `face_incidence` expects.
        ValueError: If a tetrahedron has a side that is not among the triangles.

    Example:
        >>> two_triangles = np.array([[0, 0, 1, 1, 2], [1, 2, 2, 3, 3]])
        >>> edge_link_betti_numbers(two_triangles, np.array([[0, 1], [1, 2], [2, 3]]), 4).tolist()
        [[1, 0, 0], [1, 0, 0], [2, 0, 0], [1, 0, 0], [1, 0, 0]]
    """
    edges = check_edges(edges, num_nodes)
    boundary = face_incidence(edges, triangles, num_nodes)
    numbers = np.zeros((edges.shape[1], 3), dtype=np.int64)
    # A node of a link is an edge and a triangle on it.
    edge_of = boundary.indices.astype(np.int64)
    pairs = np.zeros((2, 0), dtype=np.int64)
    if tetrahedra is not None and tetrahedra.size:
        pairs = _link_edges(edges, boundary, np.sort(triangles, axis=0), num_nodes, tetrahedra)
    count, part = _components(pairs, edge_of.size)
    numbers[:, 0] = _per_edge(edge_of[_first_of_each(part, count)], edges.shape[1])
    link_nodes = _per_edge(edge_of, edges.shape[1])
    link_edges = _per_edge(edge_of[pairs[0]], edges.shape[1])
    numbers[:, 1] = link_edges - link_nodes + numbers[:, 0]
    return numbers


def _link_edges(
    edges: Int[np.ndarray, "2 m"],
    boundary: scipy.sparse.csc_array,
    triangles: Integer[np.ndarray, "3 f"],
    num_nodes: int,
    tetrahedra: Integer[np.ndarray, "4 t"],
) -> Int[np.ndarray, "2 p"]:
    """For every tetrahedron and each of its sides, the two incidences of that edge it joins."""
    corners = np.sort(tetrahedra, axis=0).astype(np.int64)
    keys = (triangles[0] * num_nodes + triangles[1]) * num_nodes + triangles[2]
    order = np.argsort(keys)
    edge_keys = edges[0] * num_nodes + edges[1]
    edge_order = np.argsort(edge_keys)
    # Three incidences to a triangle, in any order; sorted by both they can be looked up.
    places = np.repeat(np.arange(triangles.shape[1]), 3) * edges.shape[1] + boundary.indices
    place_order = np.argsort(places)
    pairs = []
    for one, other, *opposite in _SIDES:
        edge = edge_order[
            np.searchsorted(edge_keys, corners[one] * num_nodes + corners[other], sorter=edge_order)
        ]
        joined = []
        for third in opposite:
            a, b, c = np.sort(corners[[one, other, third]], axis=0)
            wanted = (a * num_nodes + b) * num_nodes + c
            found = np.searchsorted(keys, wanted, sorter=order)
            triangle = order[np.minimum(found, keys.size - 1)]
            if (keys[triangle] != wanted).any():
                raise ValueError("every side of a tetrahedron must be among `triangles`")
            sought = triangle * edges.shape[1] + edge
            joined.append(place_order[np.searchsorted(places, sought, sorter=place_order)])
        pairs.append(np.stack(joined))
    return np.concatenate(pairs, axis=1)


def _components(pairs: Int[np.ndarray, "2 p"], size: int) -> tuple[int, Int[np.ndarray, " q"]]:
    if size == 0:
        return 0, np.zeros(0, dtype=np.int64)
    ones = np.ones(pairs.shape[1], dtype=np.int8)
    graph = scipy.sparse.coo_array((ones, (pairs[0], pairs[1])), shape=(size, size))
    count, part = connected_components(graph, directed=False)
    return int(count), part.astype(np.int64)


def _first_of_each(part: Int[np.ndarray, " q"], count: int) -> Int[np.ndarray, " c"]:
    first = np.zeros(count, dtype=np.int64)
    first[part[::-1]] = np.arange(part.size)[::-1]
    return first


def _per_edge(edge_of: Int[np.ndarray, " q"], num_edges: int) -> Int[np.ndarray, " m"]:
    return np.bincount(edge_of, minlength=num_edges).astype(np.int64)
