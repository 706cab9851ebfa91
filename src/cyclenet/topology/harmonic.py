"""Harmonic vectors of a 2-complex: one dimension for each hole, counted and not read off."""

import numpy as np
import scipy.linalg
import scipy.sparse
from jaxtyping import Float, Int, Integer
from scipy.sparse.csgraph import connected_components

from cyclenet.topology.blocks import blocks_of
from cyclenet.topology.edges import check_edges
from cyclenet.topology.errors import GraphError
from cyclenet.topology.homology import edge_annotations
from cyclenet.topology.incidence import Faces, face_incidence, incidence_of
from cyclenet.topology.memory import require_memory

# Matrices of the size of the largest component with a hole that are held at once: itself, what the
# solver makes of it, and its work space; measured, less than 3.
MATRICES_AT_ONCE = 3

# The solver's error in units of eps * size * norm. Of 100 complexes with up to 3400 edges the worst
# had 0.01, and the least eigenvalue above 0 was ten million times this bound.
ROUNDING = 10

# Rows of the projector that are summed at once.
CHUNK = 512


def harmonic_basis(
    edges: Integer[np.ndarray, "2 m"],
    num_nodes: int,
    faces: Faces | None = None,
    *,
    max_bytes: int | None = None,
) -> Float[np.ndarray, "m h"]:
    r"""An orthonormal basis of the harmonic space, the kernel of $B_1^\top B_1 + B_2 B_2^\top$.

    The law: $B_1 H = 0$, $B_2^\top H = 0$, $H^\top H = I$, and there are $\beta_1$ columns. How
    many these are is found without rounding, by elimination over $Z_2$, and a component without a
    hole costs no eigenvector. Each column is supported on one component. Without faces the space is
    the cycle space.

    The basis is arbitrary, the projector $H H^\top$ is not; reversing an edge flips its row.

    Args:
        edges: Undirected edges, each once, tail < head.
        num_nodes: Number of nodes.
        faces: As for `face_incidence`, or None for a graph.
        max_bytes: Refuse to take more memory than this; None means a quarter of what is free, at
            most 4 GB.

    Returns:
        The basis, component after component.

    Raises:
        GraphError: If the edges or faces are not what `face_incidence` expects, or a hole over
            $Z_2$ has no harmonic vector, as that of a projective plane.
        TooLargeError: If the dense matrices would not fit; nothing has been allocated then.

    Example:
        >>> square = np.array([[0, 0, 1, 2], [1, 2, 3, 3]])
        >>> np.abs(harmonic_basis(square, 4)).round(9).ravel().tolist()
        [0.5, 0.5, 0.5, 0.5]
    """
    edges = check_edges(edges, num_nodes)
    return harmonic_basis_of(edges, num_nodes, _boundary(edges, num_nodes, faces), max_bytes)


def harmonic_sums(
    edges: Integer[np.ndarray, "2 m"],
    num_nodes: int,
    faces: Faces | None = None,
    *,
    max_bytes: int | None = None,
) -> Float[np.ndarray, "m 3"]:
    """Diagonal and row sums of the projector on the harmonic space.

    Args:
        edges: Undirected edges, each once, tail < head.
        num_nodes: Number of nodes.
        faces: As for `face_incidence`, or None for a graph.
        max_bytes: As for `harmonic_basis`.

    Returns:
        Of each row the entry on the diagonal, the sum of all, and the sum of their sizes. The first
        add up to the number of holes; reversing edges changes the second and nothing else.

    Raises:
        GraphError: As `harmonic_basis`.
        TooLargeError: As `harmonic_basis`.

    Example:
        >>> harmonic_sums(np.array([[0, 0, 1], [1, 2, 2]]), 3).round(3)[0].tolist()
        [0.333, 0.333, 1.0]
    """
    return projector_sums_of(harmonic_basis(edges, num_nodes, faces, max_bytes=max_bytes))


def harmonic_basis_of(
    edges: Int[np.ndarray, "2 m"],
    num_nodes: int,
    boundary: scipy.sparse.csc_array,
    max_bytes: int | None,
) -> Float[np.ndarray, "m h"]:
    """`harmonic_basis` of edges and faces that have been checked; loops and copies may be in.

    Args:
        edges: Undirected edges.
        num_nodes: Number of nodes.
        boundary: B2.
        max_bytes: As for `harmonic_basis`.

    Returns:
        The basis.
    """
    component = _component_of_edges(edges, num_nodes)
    holes = _holes(edges, boundary, num_nodes, component)
    sizes = np.bincount(component, minlength=holes.size)
    largest = int(sizes[holes > 0].max(initial=0))
    require_memory(
        "the harmonic space",
        8 * (MATRICES_AT_ONCE * largest**2 + 2 * int(holes.sum()) * edges.shape[1]),
        num_edges=edges.shape[1],
        largest_block=blocks_of(edges, num_nodes).largest,
        hint="a larger `max_bytes`, or the complex in parts",
        max_bytes=max_bytes,
    )
    down = incidence_of(edges, num_nodes)
    laplacian = scipy.sparse.csr_array(down.T @ down + boundary @ boundary.T)
    basis = np.zeros((edges.shape[1], int(holes.sum())))
    first = 0
    for number in np.flatnonzero(holes).tolist():
        mine = np.flatnonzero(component == number)
        count = int(holes[number])
        basis[mine, first : first + count] = _kernel(laplacian[mine][:, mine], count)
        first += count
    return basis


def projector_sums_of(basis: Float[np.ndarray, "m h"]) -> Float[np.ndarray, "m 3"]:
    """Diagonal and row sums of the projector on the span of orthonormal columns.

    Args:
        basis: The columns.

    Returns:
        As `harmonic_sums`.
    """
    sums = np.zeros((basis.shape[0], 3))
    sums[:, 0] = np.square(basis).sum(axis=1)
    sums[:, 1] = basis @ basis.sum(axis=0)
    for first in range(0, basis.shape[0], CHUNK):
        rows = basis[first : first + CHUNK] @ basis.T
        sums[first : first + CHUNK, 2] = np.abs(rows).sum(axis=1)
    return sums


def _boundary(
    edges: Int[np.ndarray, "2 m"], num_nodes: int, faces: Faces | None
) -> scipy.sparse.csc_array:
    if faces is None:
        return scipy.sparse.csc_array((edges.shape[1], 0), dtype=np.int64)
    return face_incidence(edges, faces, num_nodes)


def _component_of_edges(edges: Int[np.ndarray, "2 m"], num_nodes: int) -> Int[np.ndarray, " m"]:
    """The component of every edge; those without an edge have no number."""
    if edges.shape[1] == 0:
        return np.zeros(0, dtype=np.int64)
    ones = np.ones(edges.shape[1], dtype=np.int8)
    graph = scipy.sparse.coo_array((ones, (edges[0], edges[1])), shape=(num_nodes, num_nodes))
    _, of_node = connected_components(graph, directed=False)
    return np.unique(of_node[edges[0]], return_inverse=True)[1].astype(np.int64)


def _holes(
    edges: Int[np.ndarray, "2 m"],
    boundary: scipy.sparse.csc_array,
    num_nodes: int,
    component: Int[np.ndarray, " m"],
) -> Int[np.ndarray, " components"]:
    """The Betti number over Z2 of every component."""
    annotations, betti = edge_annotations(edges, boundary, num_nodes)
    count = int(component.max(initial=-1)) + 1
    # Each bit stands for one class of a basis, and the edges that have it are in one component.
    bits = np.unpackbits(annotations.astype("<u8").view(np.uint8), axis=1, bitorder="little")
    first = bits[:, :betti].argmax(axis=0) if betti else np.zeros(0, dtype=np.int64)
    return np.bincount(component[first], minlength=count).astype(np.int64)


def _kernel(laplacian: scipy.sparse.csr_array, holes: int) -> Float[np.ndarray, "k h"]:
    dense = laplacian.toarray().astype(np.float64)
    norm = float(np.abs(dense).sum(axis=1).max())
    bound = ROUNDING * np.finfo(np.float64).eps * dense.shape[0] * norm
    last = min(holes, dense.shape[0] - 1)
    values, vectors = scipy.linalg.eigh(dense, subset_by_index=(0, last), overwrite_a=True)
    counted = int(np.sum(values <= bound))
    if counted != holes:
        raise GraphError(
            f"a complex must have as many harmonic vectors as holes over Z2, but one of its "
            f"components has {holes} holes, and {counted} eigenvalues below {bound:.1e}; a hole "
            "that is filled when gone around twice has none (a projective plane)",
            code="torsion",
        )
    return vectors[:, :holes]
