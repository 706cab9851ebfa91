"""What networks read of matrices on edges without their entries: diagonals, row sums, norms.

A layer that takes a matrix to one row for each edge sees nothing else of it, so a matrix of m x m
entries travels as m x 3 numbers.
"""

from typing import Any

import numpy as np
import scipy.sparse
import scipy.sparse.linalg
from jaxtyping import Float, Int, Integer

from cyclenet.topology.edges import check_edges
from cyclenet.topology.incidence import Faces, face_incidence, incidence_of
from cyclenet.topology.projector import cycle_projectors

# Up to this side all eigenvalues of a dense matrix take less time than one of a sparse matrix.
_DENSE_SIDE = 400

# Relative; the error of the eigenvalue is of the order of its square. Numbers travel as float32.
_TOLERANCE = 1e-7


def pair_sums(
    pair_edges: Integer[np.ndarray, "2 p"], values: Float[np.ndarray, " p"], num_edges: int
) -> Float[np.ndarray, "m 3"]:
    """Diagonal and row sums of a matrix that is given as pairs of edges and their entries.

    Args:
        pair_edges: Row and column of each entry, each pair once; other entries are zero.
        values: The entries.
        num_edges: Number of rows.

    Returns:
        Of each row the entry on the diagonal, the sum of all, and the sum of their sizes.
    """
    rows, columns = pair_edges
    own = rows == columns
    sums = np.zeros((num_edges, 3))
    sums[rows[own], 0] = values[own]
    for place, parts in ((1, values), (2, np.abs(values))):
        sums[:, place] = np.bincount(rows, parts, minlength=num_edges)
    return sums


def projector_sums(
    edges: Integer[np.ndarray, "2 m"], num_nodes: int, *, max_bytes: int | None = None
) -> Float[np.ndarray, "m 3"]:
    """Diagonal and row sums of the projector on the cycle space.

    Args:
        edges: Undirected edges, each once, tail < head.
        num_nodes: Number of nodes.
        max_bytes: As for `cycle_projectors`.

    Returns:
        Of each row the entry on the diagonal, the sum of all, and the sum of their sizes; only
        the second depends on the directions of the edges. The first sums to the Betti number.

    Raises:
        GraphError: If an edge is a loop, repeated, reversed, or mentions a missing node.
        TooLargeError: If the entries would not fit.

    Example:
        >>> projector_sums(np.array([[0, 0, 1], [1, 2, 2]]), 3).round(3).tolist()
        [[0.333, 0.333, 1.0], [0.333, -0.333, 1.0], [0.333, 0.333, 1.0]]
    """
    num_edges = np.shape(edges)[1]
    packed = cycle_projectors(edges, np.array([0, num_edges]), num_nodes, max_bytes=max_bytes)
    return pair_sums(packed.pair_edges, packed.values, num_edges)


def hodge_sums(
    edges: Integer[np.ndarray, "2 m"], num_nodes: int, faces: Faces | None = None
) -> Int[np.ndarray, "m 3"]:
    r"""Diagonal and row sums of the Hodge 1-Laplacian $L = B_1^\top B_1 + B_2 B_2^\top$.

    Without faces the sizes of the entries in the row of edge $uv$ sum to $\deg u + \deg v$. A face
    changes only the entries between its own edges, so these alone are looked at:

    $$\sum_f |L_{ef}| = \deg u + \deg v + \sum_{f :\, (B_2 B_2^\top)_{ef} \ne 0}
    \left(|L_{ef}| - |(B_1^\top B_1)_{ef}|\right) .$$

    In a clique complex, where two sides of a triangle cancel, that is $\deg u + \deg v - t$ for an
    edge in $t$ triangles, whose entry on the diagonal is $2 + t$. Sums over the graphs of a
    disjoint union are those of each graph.

    Args:
        edges: Undirected edges, each once, tail < head.
        num_nodes: Number of nodes.
        faces: As for `face_incidence`, or None for a graph.

    Returns:
        Of each row the entry on the diagonal, the sum of all, and the sum of their sizes. Reversing
        edges changes the second and nothing else.

    Raises:
        GraphError: If the edges or the faces are not what `face_incidence` expects.

    Example:
        >>> triangle = np.array([[0, 0, 1], [1, 2, 2]])
        >>> hodge_sums(triangle, 3).tolist()
        [[2, 2, 4], [2, 4, 4], [2, 2, 4]]
        >>> hodge_sums(triangle, 3, np.array([[0], [1], [2]])).tolist()
        [[3, 3, 3], [3, 3, 3], [3, 3, 3]]
    """
    edges = check_edges(edges, num_nodes)
    up = None if faces is None else face_incidence(edges, faces, num_nodes)
    return hodge_sums_of(edges, num_nodes, up)


def hodge_sums_of(
    edges: Int[np.ndarray, "2 m"], num_nodes: int, faces: scipy.sparse.csc_array | None
) -> Int[np.ndarray, "m 3"]:
    """`hodge_sums` of edges and faces that have been checked; loops and parallel edges may be in.

    Args:
        edges: Undirected edges, tail < head, or tail = head for a loop: its column of B1 is zero.
        num_nodes: Number of nodes.
        faces: B2, or None for a graph.

    Returns:
        As `hodge_sums`.
    """
    tail, head = edges
    inner = tail != head
    degree = np.bincount(edges[:, inner].reshape(-1), minlength=num_nodes)
    flow = np.bincount(head, minlength=num_nodes) - np.bincount(tail, minlength=num_nodes)
    sums = np.stack(
        (2 * inner, flow[head] - flow[tail], inner * (degree[tail] + degree[head])), axis=1
    ).astype(np.int64)
    if faces is not None and faces.nnz:
        faces = scipy.sparse.csc_array(faces, dtype=np.int64)
        above = scipy.sparse.coo_array(faces @ faces.T)
        one, other = above.coords
        below = (
            (tail[one] == tail[other]).astype(np.int64)
            + (head[one] == head[other])
            - (tail[one] == head[other])
            - (head[one] == tail[other])
        )
        sums[:, 0] += above.diagonal()
        sums[:, 1] += faces @ np.asarray(faces.sum(axis=0))
        np.add.at(sums[:, 2], one, np.abs(below + above.data) - np.abs(below))
    return sums


def laplacian_bounds(
    edges: Integer[np.ndarray, "2 m"], num_nodes: int, faces: Faces | None = None
) -> Float[np.ndarray, " 3"]:
    r"""The largest eigenvalues of the Hodge Laplacians of nodes, edges and faces.

    These are $B_1 B_1^\top$, $B_1^\top B_1 + B_2 B_2^\top$ and $B_2^\top B_2$. Because
    $B_1 B_2 = 0$, the two parts of the second act on spaces of their own, and its largest
    eigenvalue is the larger of the other two. No direction of an edge or a face changes any.

    Args:
        edges: Undirected edges, each once, tail < head.
        num_nodes: Number of nodes.
        faces: As for `face_incidence`, or None for a graph.

    Returns:
        Three numbers, 0 where there are no cells.

    Raises:
        GraphError: If the edges or the faces are not what `face_incidence` expects.

    Example:
        >>> laplacian_bounds(np.array([[0, 0, 1], [1, 2, 2]]), 3).round(9).tolist()
        [3.0, 3.0, 0.0]
    """
    edges = check_edges(edges, num_nodes)
    up = None if faces is None else face_incidence(edges, faces, num_nodes)
    return laplacian_bounds_of(edges, num_nodes, up)


def laplacian_bounds_of(
    edges: Int[np.ndarray, "2 m"], num_nodes: int, faces: scipy.sparse.csc_array | None
) -> Float[np.ndarray, " 3"]:
    """`laplacian_bounds` of edges and faces that have been checked.

    Args:
        edges: As for `hodge_sums_of`.
        num_nodes: Number of nodes.
        faces: B2, or None for a graph.

    Returns:
        As `laplacian_bounds`.
    """
    on_nodes = _square_norm(incidence_of(edges, num_nodes))
    on_faces = 0.0 if faces is None else _square_norm(faces)
    return np.array([on_nodes, max(on_nodes, on_faces), on_faces])


def _square_norm(matrix: scipy.sparse.csc_array) -> float:
    """The largest eigenvalue of A A^T, or of A^T A: of the smaller of the two."""
    if matrix.nnz == 0:
        return 0.0
    matrix = scipy.sparse.csc_array(matrix, dtype=np.float64)
    gram = matrix @ matrix.T if matrix.shape[0] < matrix.shape[1] else matrix.T @ matrix
    if gram.shape[0] <= _DENSE_SIDE:
        return float(np.linalg.eigvalsh(gram.toarray())[-1])
    # A start that is always the same, and at right angles to no eigenvector that a graph has.
    start = np.random.default_rng(0).standard_normal(gram.shape[0])
    found: Any = scipy.sparse.linalg.eigsh(
        gram,
        1,
        which="LA",
        v0=start,
        tol=_TOLERANCE,  # pyright: ignore[reportArgumentType]
        return_eigenvectors=False,
    )
    return float(found[0])
