"""Incidence matrices of a graph and its faces, and the Hodge 1-Laplacian built from them."""

import numpy as np
import scipy.sparse
from jaxtyping import Int, Integer
from scipy.sparse.csgraph import connected_components

from cyclenet.topology.edges import check_edges
from cyclenet.topology.errors import GraphError

Faces = Integer[np.ndarray, "3 f"] | scipy.sparse.sparray | scipy.sparse.spmatrix


def incidence(edges: Integer[np.ndarray, "2 m"], num_nodes: int) -> scipy.sparse.csc_array:
    """Oriented incidence matrix B1 of a graph.

    The column of edge (tail, head) is -1 at the tail and +1 at the head, so B1 applied to a signed
    set of edges gives what flows into each node: a cycle is a vector with `B1 @ c == 0`.

    Args:
        edges: Undirected edges, each once, tail < head.
        num_nodes: Number of nodes.

    Returns:
        B1, sparse (n x m), int64.

    Raises:
        GraphError: If an edge is a loop, repeated, reversed, or mentions a missing node.

    Example:
        >>> incidence(np.array([[0, 1], [1, 2]]), 3).toarray().tolist()
        [[-1, 0], [1, -1], [0, 1]]
    """
    return incidence_of(check_edges(edges, num_nodes), num_nodes)


def incidence_of(edges: Int[np.ndarray, "2 m"], num_nodes: int) -> scipy.sparse.csc_array:
    """`incidence` of edges that have been checked; a loop's column is zero."""
    num_edges = edges.shape[1]
    signs = np.tile(np.array([-1, 1], dtype=np.int64), num_edges)
    matrix = scipy.sparse.csc_array(
        (signs, edges.T.reshape(-1), 2 * np.arange(num_edges + 1)), shape=(num_nodes, num_edges)
    )
    matrix.sum_duplicates()
    return matrix


def betti_number(edges: Integer[np.ndarray, "2 m"], num_nodes: int) -> int:
    """Dimension of the cycle space, m - n + components.

    Args:
        edges: Undirected edges, each once, tail < head.
        num_nodes: Number of nodes; isolated ones are components of their own.

    Returns:
        The number of cycles in every cycle basis; 0 for a forest.

    Raises:
        GraphError: If an edge is a loop, repeated, reversed, or mentions a missing node.

    Example:
        >>> betti_number(np.array([[0, 0, 1], [1, 2, 2]]), 4)
        1
    """
    edges = check_edges(edges, num_nodes)
    return edges.shape[1] - num_nodes + num_components(edges, num_nodes)


def num_components(edges: Int[np.ndarray, "2 m"], num_nodes: int) -> int:
    """Number of connected components; an empty graph has none."""
    if num_nodes == 0:
        return 0
    ones = np.ones(edges.shape[1], dtype=np.int8)
    graph = scipy.sparse.coo_array((ones, (edges[0], edges[1])), shape=(num_nodes, num_nodes))
    return int(connected_components(graph, directed=False, return_labels=False))


def face_incidence(
    edges: Integer[np.ndarray, "2 m"], faces: Faces, num_nodes: int
) -> scipy.sparse.csc_array:
    """Oriented incidence matrix B2 of the faces of a 2-complex, with `B1 @ B2 == 0`.

    Args:
        edges: Undirected edges, each once, tail < head.
        faces: Triangles as columns of three nodes, or B2 itself as a sparse (m x f) matrix of
            signs for faces of any shape.
        num_nodes: Number of nodes.

    Returns:
        B2, sparse (m x f), int64. The triangle (i, j, k) has +1 on (i, j) and (j, k) and -1 on
        (i, k), each flipped where the stored edge has the opposite direction.

    Raises:
        GraphError: If a triangle has a side that is not an edge, or `B1 @ B2` is not zero.

    Example:
        >>> triangle = np.array([[0, 0, 1], [1, 2, 2]])
        >>> face_incidence(triangle, np.array([[0], [1], [2]]), 3).toarray().ravel().tolist()
        [1, -1, 1]
    """
    edges = check_edges(edges, num_nodes)
    if scipy.sparse.issparse(faces):
        boundary = scipy.sparse.csc_array(faces, dtype=np.int64)
        if abs(boundary - faces).sum() != 0:
            raise GraphError(
                "`faces` must hold signs, but it has entries that are no whole numbers",
                code="faces_value",
            )
        if boundary.shape[0] != edges.shape[1]:
            raise GraphError(
                f"`faces` must have one row for each of the {edges.shape[1]} edges, but its shape "
                f"is {boundary.shape}",
                code="faces_shape",
            )
    else:
        boundary = _triangle_boundary(edges, np.asarray(faces), num_nodes)
    if abs(incidence_of(edges, num_nodes) @ boundary).sum() != 0:
        raise GraphError(
            "every column of `faces` must be a closed walk along its edges, but B1 @ B2 is not "
            "zero; check the signs",
            code="open_face",
        )
    return boundary


def hodge_laplacian(
    edges: Integer[np.ndarray, "2 m"], num_nodes: int, faces: Faces | None = None
) -> scipy.sparse.csr_array:
    r"""Hodge 1-Laplacian $B_1^\top B_1 + B_2 B_2^\top$.

    Without faces its kernel is the cycle space of the graph, of dimension m - n + components; with
    faces it is the harmonic space, whose dimension is the number of holes left unfilled.

    Args:
        edges: Undirected edges, each once, tail < head.
        num_nodes: Number of nodes.
        faces: As for `face_incidence`, or None for a graph.

    Returns:
        The Laplacian, sparse (m x m), int64. Reversing an edge flips its row and its column.

    Raises:
        GraphError: If the edges or the faces are not what `face_incidence` expects.

    Example:
        >>> path = np.array([[0, 1], [1, 2]])
        >>> hodge_laplacian(path, 3).toarray().tolist()
        [[2, -1], [-1, 2]]
    """
    down = incidence(edges, num_nodes)
    laplacian = down.T @ down
    if faces is not None:
        up = face_incidence(edges, faces, num_nodes)
        laplacian = laplacian + up @ up.T
    return scipy.sparse.csr_array(laplacian)


def _triangle_boundary(
    edges: Int[np.ndarray, "2 m"], faces: np.ndarray, num_nodes: int
) -> scipy.sparse.csc_array:
    num_edges = edges.shape[1]
    if faces.size == 0:
        return scipy.sparse.csc_array((num_edges, 0), dtype=np.int64)
    if faces.ndim != 2 or faces.shape[0] != 3 or faces.dtype.kind not in "iu":
        raise GraphError(
            f"`faces` must be integers of shape (3, f), one triangle a column, but they are "
            f"{faces.dtype} of shape {faces.shape}",
            code="faces_shape",
        )
    faces = faces.astype(np.int64)
    starts, ends = faces[[0, 1, 0]], faces[[1, 2, 2]]
    wanted = np.minimum(starts, ends) * num_nodes + np.maximum(starts, ends)
    keys = edges[0] * num_nodes + edges[1]
    order = np.argsort(keys)
    found = np.searchsorted(keys, wanted, sorter=order)
    rows = order[np.minimum(found, num_edges - 1)] if num_edges else np.zeros_like(found)
    known = (starts != ends) & (keys[rows] == wanted) if num_edges else np.zeros(found.shape, bool)
    if not known.all():
        side, column = np.argwhere(~known)[0]
        raise GraphError(
            f"every side of a triangle must be an edge, but column {column} of `faces` has the "
            f"side ({starts[side, column]}, {ends[side, column]}), which is not in `edges`",
            code="face_without_edge",
            column=int(column),
        )
    signs = np.where(starts < ends, 1, -1) * np.array([[1], [1], [-1]])
    columns = np.broadcast_to(np.arange(faces.shape[1]), rows.shape)
    return scipy.sparse.csc_array(
        (signs.ravel(), (rows.ravel(), columns.ravel())), shape=(num_edges, faces.shape[1])
    )
