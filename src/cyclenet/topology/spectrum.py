"""Eigenpairs of graph Laplacians, grouped into eigenspaces by proof rather than by rounding.

Numerically an eigenvalue of multiplicity three is three numbers that differ in the last digits.
Three facts decide which numbers belong together. The kernel of a graph's Laplacian is counted, not
computed. Computed eigenvalues further apart than twice their error bound are different. And the
number of different eigenvalues is the degree of the minimal polynomial, which is found exactly in
arithmetic modulo a prime: if there are as many groups, each group is one eigenvalue.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse
from jaxtyping import Float, Int, Integer
from scipy.sparse.csgraph import connected_components

from cyclenet.topology.blocks import blocks_of
from cyclenet.topology.edges import check_choice, check_edges
from cyclenet.topology.errors import GraphError
from cyclenet.topology.incidence import Faces, betti_number, hodge_laplacian, incidence_of
from cyclenet.topology.memory import require_memory
from cyclenet.topology.modular import PRIME, Residues, minimal_polynomial

# Two independent random choices: both are unlucky for fewer than one matrix in 10^11 (n = 1000).
SEEDS = (1, 2)

# Matrices of the size of the Laplacian that are held at once, by the solver and by the check of its
# answer: measured, 4.7.
MATRICES_AT_ONCE = 5

# Rounding in the check of the eigenpairs itself, in units of n * eps * norm.
ROUNDING = 4


@dataclass(frozen=True, eq=False)
class Eigenspaces:
    r"""The eigenspaces of a symmetric matrix in ascending order of their eigenvalues.

    The law: with $V_k$ the basis of space k, $A V_k = \lambda_k V_k$, all bases together are
    orthonormal, and $A = \sum_k \lambda_k V_k V_k^\top$. A basis inside a space is arbitrary;
    the projector $V_k V_k^\top$ is not.

    Args:
        values: One eigenvalue for each space, strictly ascending.
        multiplicities: Dimension of each space.
        vectors: Orthonormal eigenvectors as columns, space after space.
        ptr: The columns of space k are `ptr[k]:ptr[k + 1]`.
        error_bound: No eigenvalue is further than this from its exact value.
        is_exact: Whether every space is known to belong to one eigenvalue.
    """

    values: Float[np.ndarray, " k"]
    multiplicities: Int[np.ndarray, " k"]
    vectors: Float[np.ndarray, "n n"]
    ptr: Int[np.ndarray, " k1"]
    error_bound: float
    is_exact: bool

    def __len__(self) -> int:
        """Number of eigenspaces."""
        return self.values.size

    def basis(self, k: int) -> Float[np.ndarray, "n dim"]:
        """An orthonormal basis of space k, as columns."""
        return self.vectors[:, self.ptr[k] : self.ptr[k + 1]]

    def projector(self, k: int) -> Float[np.ndarray, "n n"]:
        """The orthogonal projector onto space k, which no choice of basis changes."""
        basis = self.basis(k)
        return basis @ basis.T


def eigenspaces(
    edges: Integer[np.ndarray, "2 m"],
    num_nodes: int,
    *,
    normalization: Literal["none", "symmetric"] = "none",
    on_ambiguous: Literal["raise", "merge"] = "raise",
    max_bytes: int | None = None,
) -> Eigenspaces:
    r"""Eigenspaces of the node Laplacian of a graph.

    The Laplacian is $D - A$, or $I - D^{-1/2} A D^{-1/2}$ with zero rows for isolated nodes. Its
    kernel has one dimension for each component, and the vectors given for it are supported on
    one component each.

    Args:
        edges: Undirected edges, each once, tail < head.
        num_nodes: Number of nodes.
        normalization: Which of the two Laplacians.
        on_ambiguous: What to do when different eigenvalues are closer than float64 can tell
            apart (two equal ends of a long path do that): ``"merge"`` gives them one common space
            and `is_exact` is False.
        max_bytes: Refuse to take more memory than this; None means a quarter of what is free, at
            most 4 GB.

    Returns:
        The eigenspaces; relabelling the nodes permutes the rows of their projectors.

    Raises:
        GraphError: If an edge is a loop, repeated, reversed, or mentions a missing node, or the
            spectrum is ambiguous.
        TooLargeError: If the dense matrices would not fit; nothing has been allocated then.
        ValueError: If `normalization` or `on_ambiguous` is none of its two choices.

    Example:
        >>> found = eigenspaces(np.array([[0, 0, 1], [1, 2, 2]]), 3)
        >>> found.values.round(9).tolist(), found.multiplicities.tolist()
        ([0.0, 3.0], [1, 2])
    """
    check_choice("normalization", normalization, ("none", "symmetric"))
    check_choice("on_ambiguous", on_ambiguous, ("raise", "merge"))
    edges = check_edges(edges, num_nodes)
    _require_room(num_nodes, edges, num_nodes, max_bytes)
    degree = np.bincount(edges.ravel(), minlength=num_nodes)
    down = incidence_of(edges, num_nodes)
    laplacian = scipy.sparse.csr_array(down @ down.T)
    dense = laplacian.astype(np.float64).toarray()
    if normalization == "symmetric":
        root = np.sqrt(np.maximum(degree, 1))
        dense /= root[:, None] * root[None, :]
        # D^-1 (D - A) has the same eigenvalues, and rational entries.
        inverse = np.array([pow(int(d), -1, PRIME) if d else 0 for d in degree], dtype=np.int64)
        kernel = _component_vectors(edges, num_nodes, np.where(degree > 0, np.sqrt(degree), 1.0))
    else:
        inverse = np.ones(num_nodes, dtype=np.int64)
        kernel = _component_vectors(edges, num_nodes, np.ones(num_nodes))

    def apply(vector: Residues) -> Residues:
        return inverse * (laplacian @ vector % PRIME)

    values, vectors, bound = _eigenpairs(dense)
    vectors[:, : kernel.shape[1]] = kernel
    return _grouped(values, vectors, bound, kernel.shape[1], apply, on_ambiguous)


def hodge_eigenspaces(
    edges: Integer[np.ndarray, "2 m"],
    num_nodes: int,
    faces: Faces | None = None,
    *,
    on_ambiguous: Literal["raise", "merge"] = "raise",
    max_bytes: int | None = None,
) -> Eigenspaces:
    """Eigenspaces of the Hodge 1-Laplacian, with or without faces.

    Without faces the first space is the cycle space whenever there is a cycle; with faces it is
    the harmonic space whenever a hole is left.

    Args:
        edges: Undirected edges, each once, tail < head.
        num_nodes: Number of nodes.
        faces: As for `face_incidence`, or None for a graph.
        on_ambiguous: As for `eigenspaces`.
        max_bytes: As for `eigenspaces`.

    Returns:
        The eigenspaces; reversing an edge flips its row in every basis.

    Raises:
        GraphError: If the edges or the faces are not what `face_incidence` expects, or the
            spectrum is ambiguous.
        TooLargeError: If the dense matrices would not fit; nothing has been allocated then.
        ValueError: If `on_ambiguous` is none of its two choices.

    Example:
        >>> hodge_eigenspaces(np.array([[0, 0, 1], [1, 2, 2]]), 3).values.round(9).tolist()
        [0.0, 3.0]
    """
    check_choice("on_ambiguous", on_ambiguous, ("raise", "merge"))
    edges = check_edges(edges, num_nodes)
    _require_room(edges.shape[1], edges, num_nodes, max_bytes)
    laplacian = hodge_laplacian(edges, num_nodes, faces)
    values, vectors, bound = _eigenpairs(laplacian.astype(np.float64).toarray())

    def apply(vector: Residues) -> Residues:
        return laplacian @ vector

    nullity = None if faces is not None else betti_number(edges, num_nodes)
    return _grouped(values, vectors, bound, nullity, apply, on_ambiguous)


def _require_room(
    size: int, edges: Int[np.ndarray, "2 m"], num_nodes: int, max_bytes: int | None
) -> None:
    """Refuse a matrix of this many rows and columns if its eigenvectors would not fit."""
    require_memory(
        "the eigenspaces",
        8 * MATRICES_AT_ONCE * size**2,
        num_edges=edges.shape[1],
        largest_block=blocks_of(edges, num_nodes).largest,
        hint="a larger `max_bytes`, or a sparse solver for a few of the eigenpairs",
        max_bytes=max_bytes,
    )


def _eigenpairs(
    matrix: Float[np.ndarray, "n n"],
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n n"], float]:
    """Eigenvalues, eigenvectors, and a bound on the error of the eigenvalues."""
    # With R = AV - V diag(values) and G = V'V - I, the theorems of Ostrowski and Weyl applied to
    # V'AV put every eigenvalue, in order, within 2 |A| |G| + (1 + |G|) |R| of the computed one.
    if matrix.shape[0] == 0:
        return np.zeros(0), np.zeros((0, 0)), 0.0
    values, vectors = np.linalg.eigh(matrix)
    norm = float(np.abs(matrix).sum(axis=1).max())
    residual = float(np.linalg.norm(matrix @ vectors - vectors * values))
    skew = float(np.linalg.norm(vectors.T @ vectors - np.eye(values.size)))
    rounding = ROUNDING * values.size * np.finfo(np.float64).eps * norm
    return values, vectors, 2 * norm * skew + (1 + skew) * residual + rounding


def _grouped(
    values: Float[np.ndarray, " n"],
    vectors: Float[np.ndarray, "n n"],
    bound: float,
    nullity: int | None,
    apply: Callable[[Residues], Residues],
    on_ambiguous: Literal["raise", "merge"],
) -> Eigenspaces:
    """Cut the ascending eigenvalues into spaces; a `nullity` of None is read off the values."""
    known_kernel = nullity is not None
    if nullity is None:
        nullity = int(np.sum(np.abs(values) <= bound))
    values = values.copy()
    values[:nullity] = 0.0
    starts = np.ones(values.size, dtype=bool)
    starts[1:] = np.diff(values) > 2 * bound
    starts[1:nullity] = False
    if 0 < nullity < values.size:
        starts[nullity] = True
    ptr = np.append(np.flatnonzero(starts), values.size)
    sizes = np.diff(ptr)
    merged = np.any(sizes > 1) if not known_kernel else np.any(sizes[nullity > 0 :] > 1)
    is_exact = True
    if merged or (not known_kernel and nullity > 0):
        is_exact = _is_proven(apply, values.size, sizes.size, nullity > 0)
        if not is_exact and on_ambiguous == "raise":
            raise GraphError(
                f"eigenvalues of this graph must be further apart than {2 * bound:.1e} to be told "
                "apart, but some different ones are closer; try: on_ambiguous='merge'",
                code="ambiguous_spectrum",
            )
    means = np.add.reduceat(values, ptr[:-1]) / sizes if sizes.size else np.zeros(0)
    return Eigenspaces(means, sizes, vectors, ptr, bound, is_exact)


def _is_proven(
    apply: Callable[[Residues], Residues], size: int, num_groups: int, singular: bool
) -> bool:
    """Whether the matrix has no more different eigenvalues than groups, and 0 if it should."""
    # Groups are further apart than the errors, so there are at least as many eigenvalues.
    for seed in SEEDS:
        polynomial = minimal_polynomial(apply, size, num_groups, seed)
        if polynomial.size - 1 > num_groups or (singular and polynomial[-1] != 0):
            return False
    return True


def _component_vectors(
    edges: Int[np.ndarray, "2 m"], num_nodes: int, shape: Float[np.ndarray, " n"]
) -> Float[np.ndarray, "n components"]:
    """Unit vectors, each `shape` restricted to a component; components by their lowest node."""
    if num_nodes == 0:
        return np.zeros((0, 0))
    ones = np.ones(edges.shape[1], dtype=np.int8)
    graph = scipy.sparse.coo_array((ones, (edges[0], edges[1])), shape=(num_nodes, num_nodes))
    count, component = connected_components(graph, directed=False)
    vectors = np.zeros((num_nodes, count))
    vectors[np.arange(num_nodes), component] = shape
    return vectors / np.linalg.norm(vectors, axis=0)
