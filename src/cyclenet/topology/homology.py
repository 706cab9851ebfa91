"""Shortest homology bases of 2-complexes, and how far every simplex is from them."""

from collections.abc import Iterator
from typing import NamedTuple, NoReturn

import numpy as np
import scipy.sparse
from jaxtyping import Float, Int, Integer, Shaped, UInt
from scipy.sparse.csgraph import dijkstra

from cyclenet.topology.blocks import blocks_of
from cyclenet.topology.cycle_basis import CycleBasis, oriented_basis
from cyclenet.topology.edges import check_edges, check_weights
from cyclenet.topology.errors import GraphError
from cyclenet.topology.forest import forest_of
from cyclenet.topology.incidence import Faces, face_incidence
from cyclenet.topology.memory import require_memory
from cyclenet.topology.shortest_basis import shortest_cycle_basis

# Trees grown at once; a few megabytes of work space for a complex of a thousand nodes.
ROOTS_AT_ONCE = 64
# Arrays of classes for each root and edge, and of steps for each root and node, that are held at
# once: with these the estimate is between one and one and a half times what was measured.
CLASSES_AT_ONCE, STEPS_AT_ONCE = 8, 8
# What Python adds to the bits of a number.
INTEGER_BYTES = 40

WORD = 64


class SimplicialDistances(NamedTuple):
    """Distance of every simplex of a complex from a set of cycles.

    Args:
        nodes: Twice the number of edges on a shortest way to a cycle; inf where there is none.
        edges: 0 on a cycle; one more than a node it shares with the nearer side.
        faces: One more than its nearest node.
    """

    nodes: Float[np.ndarray, " n"]
    edges: Float[np.ndarray, " m"]
    faces: Float[np.ndarray, " f"]


class _Candidates(NamedTuple):
    """Loops, each closed by an edge outside the shortest-path tree of a root."""

    length: Float[np.ndarray, " c"]
    hops: Int[np.ndarray, " c"]
    edge: Int[np.ndarray, " c"]
    root: Int[np.ndarray, " c"]
    homology: UInt[np.ndarray, "c words"]

    def at(self, chosen: np.ndarray) -> "_Candidates":
        return _Candidates(*(part[chosen] for part in self))


def shortest_homology_basis(
    edges: Integer[np.ndarray, "2 m"],
    faces: Faces | None,
    num_nodes: int,
    weights: Shaped[np.ndarray, " m"] | None = None,
    *,
    max_bytes: int | None = None,
) -> CycleBasis:
    r"""Shortest set of cycles that generates the first homology of a 2-complex over $Z_2$.

    Two cycles are in one class if they differ by a sum of boundaries of faces. The classes form a
    vector space of dimension $\beta_1$, and the basis holds $\beta_1$ cycles of independent
    classes with the least total length. Without faces it is the shortest cycle basis.

    Every edge gets an annotation, a vector of $\beta_1$ bits whose sum over a cycle is the class
    of the cycle. Some shortest basis is among the loops that an edge closes with a shortest-path
    tree (Erickson and Whittlesey 2005); they are taken greedily, by length, then number
    of edges, then closing edge, then root of the tree. The result depends only on the input, but
    where several bases are shortest it may change with the order of nodes and edges.

    Args:
        edges: Undirected edges, each once, tail < head.
        faces: Triangles as columns of three nodes, or B2 as a sparse (m x f) matrix, or None.
        num_nodes: Number of nodes.
        weights: Length of every edge, not negative; 1 each if None.
        max_bytes: Refuse to take more memory than this; None means a quarter of what is free, at
            most 4 GB.

    Returns:
        The cycles, signed, shortest first; `betti_number` is $\beta_1$ of the complex. Counting
        relevant cycles is defined for complexes without faces only.

    Raises:
        GraphError: If the edges, faces or weights are not what `face_incidence` and
            `check_weights` expect.
        TooLargeError: If the work space would not fit; it has not been allocated then.

    Example:
        >>> two_triangles = np.array([[0, 0, 1, 1, 2], [1, 2, 2, 3, 3]])
        >>> basis = shortest_homology_basis(two_triangles, np.array([[0], [1], [2]]), 4)
        >>> [cycle.tolist() for cycle in basis.cycles]
        [[2, 3, 4]]
    """
    edges = check_edges(edges, num_nodes)
    num_edges = edges.shape[1]
    cost = None if weights is None else check_weights(weights, num_edges)
    boundary = None if faces is None else face_incidence(edges, faces, num_nodes)
    if boundary is None or boundary.shape[1] == 0:
        return shortest_cycle_basis(edges, num_nodes, weights, max_bytes=max_bytes)
    _require_room(edges, boundary, num_nodes, max_bytes)
    annotations, betti = edge_annotations(edges, boundary, num_nodes)
    lengths = np.ones(num_edges) if cost is None else cost
    best = _shortest_of_each_class(edges, num_nodes, lengths, annotations, betti)
    chosen = best.at(_greedy(best, betti))
    cycles = []
    for root, edge in zip(chosen.root.tolist(), chosen.edge.tolist(), strict=True):
        cycles.append(_close(edges, num_nodes, lengths, root, edge))
    totals = [float(lengths[cycle].sum()) for cycle in cycles]
    dtype = np.int64 if cost is None else np.float64
    return oriented_basis(edges, cycles, np.array(totals, dtype=dtype), betti, _refuse_to_count)


def _require_room(
    edges: Int[np.ndarray, "2 m"],
    boundary: scipy.sparse.csc_array,
    num_nodes: int,
    max_bytes: int | None,
) -> None:
    """Refuse a complex whose relations, annotations or trees would not fit."""
    num_edges, num_faces = edges.shape[1], boundary.indptr.size - 1
    found = blocks_of(edges, num_nodes)
    chords = int(found.betti.sum())
    # Each face takes away one class at the most, and is a number of at most one bit for each chord.
    words = max(1, -(-(chords - min(chords, num_faces)) // WORD))
    relations = (num_faces + num_edges) * INTEGER_BYTES + min(chords, num_faces) * (chords // 8)
    roots = min(ROOTS_AT_ONCE, num_nodes)
    trees = 8 * roots * (CLASSES_AT_ONCE * words * num_edges + STEPS_AT_ONCE * num_nodes)
    require_memory(
        "the shortest homology basis",
        relations + trees,
        num_edges=num_edges,
        largest_block=found.largest,
        hint="a larger `max_bytes`, or the complex in parts",
        max_bytes=max_bytes,
    )


def edge_annotations(
    edges: Int[np.ndarray, "2 m"], boundary: scipy.sparse.csc_array, num_nodes: int
) -> tuple[UInt[np.ndarray, "m words"], int]:
    r"""Bits for every edge whose sum over a cycle mod 2 is the homology class of the cycle.

    Edges of a spanning forest get zero and chords start as independent. Each face is a relation
    between chords; eliminating its highest chord leaves $\beta_1$ free ones, and every other
    chord is a sum of them. The sum over the boundary of any face is zero.

    Args:
        edges: Undirected edges that have been checked; loops and parallel edges may be in.
        boundary: B2, sparse (m x f); its entries count mod 2.
        num_nodes: Number of nodes.

    Returns:
        The annotations, 64 bits a word, and their dimension, the Betti number over Z2.
    """
    chords = forest_of(edges, num_nodes).chords
    bit_of = dict(zip(chords.tolist(), range(chords.size), strict=True))
    relation: dict[int, int] = {}
    for face in range(boundary.shape[1]):
        inside = slice(boundary.indptr[face], boundary.indptr[face + 1])
        odd = boundary.data[inside] % 2 == 1
        bits = 0
        for edge in boundary.indices[inside][odd].tolist():
            if edge in bit_of:
                bits ^= 1 << bit_of[edge]
        while bits and bits.bit_length() - 1 in relation:
            bits ^= relation[bits.bit_length() - 1]
        if bits:
            relation[bits.bit_length() - 1] = bits
    betti = chords.size - len(relation)
    annotation: list[int] = []
    free = 0
    for chord in range(chords.size):
        if chord in relation:
            bits = 0
            for lower in _set_bits(relation[chord] ^ (1 << chord)):
                bits ^= annotation[lower]
        else:
            bits = 1 << free
            free += 1
        annotation.append(bits)
    words = max(1, -(-betti // WORD))
    packed = np.zeros((edges.shape[1], words), dtype=np.uint64)
    for edge, bits in zip(chords.tolist(), annotation, strict=True):
        packed[edge] = np.frombuffer(bits.to_bytes(8 * words, "little"), dtype="<u8")
    return packed, betti


def distance_to_cycles(
    edges: Integer[np.ndarray, "2 m"],
    faces: Integer[np.ndarray, "3 f"],
    num_nodes: int,
    cycles: CycleBasis,
) -> SimplicialDistances:
    """Distance of every node, edge and triangle of a 2-complex from a set of cycles.

    Start with the cycles, their edges and nodes, at distance 0. The simplices that touch what has
    been reached are one further away, and those opposite to it in these, its link, one more;
    the link is where the next round starts. In closed form, with h the number of edges from a
    node to the cycles: a node is at 2h; an edge or a triangle with nearest node at h is at
    2h + 1, except that an edge on a cycle is at 0, and an edge whose ends are both at h is at 2h
    if some triangle joins it to a node at h - 1.

    Args:
        edges: Undirected edges, each once, tail < head.
        faces: Triangles as columns of three nodes.
        num_nodes: Number of nodes.
        cycles: The cycles, as from `shortest_homology_basis`.

    Returns:
        The distances, inf where no way leads to a cycle.

    Raises:
        GraphError: If the edges or faces are not what `face_incidence` expects, or the cycles are
            those of another graph.

    Example:
        >>> square = np.array([[0, 0, 1, 2, 3], [1, 2, 3, 3, 4]])
        >>> basis = shortest_homology_basis(square, None, 5)
        >>> distance_to_cycles(square, np.zeros((3, 0), dtype=int), 5, basis).edges.tolist()
        [0.0, 0.0, 0.0, 0.0, 1.0]
    """
    edges = check_edges(edges, num_nodes)
    boundary = face_incidence(edges, faces, num_nodes)
    if cycles.num_edges != edges.shape[1]:
        raise GraphError(
            f"`cycles` must be cycles of this graph, but they are of one with {cycles.num_edges} "
            f"edges, and `edges` has {edges.shape[1]}",
            code="other_graph",
        )
    on_cycle = np.zeros(edges.shape[1], dtype=bool)
    on_cycle[cycles.incidence.indices] = True
    hops = _hops_from(edges, num_nodes, np.unique(edges[:, on_cycle]))
    node = 2 * hops
    edge = 2 * hops[edges].min(axis=0, initial=np.inf) + 1
    triangle = np.full(boundary.shape[1], np.inf)
    if boundary.shape[1]:
        corners = hops[np.asarray(faces)]
        triangle = 2 * corners.min(axis=0) + 1
        # The side opposite the one nearest corner is in the link of what was reached before.
        sides = boundary.indices.reshape(-1, 3)
        far = hops[edges].min(axis=0)[sides] > corners.min(axis=0)[:, None]
        edge[sides[far]] = 2 * hops[edges].min(axis=0)[sides[far]]
    edge[on_cycle] = 0.0
    return SimplicialDistances(node, edge, triangle)


def distance_labels(distances: SimplicialDistances) -> SimplicialDistances:
    """Distances as fractions of the largest finite one: 0 on a cycle, 1 at the farthest simplex.

    Simplices that no cycle reaches get 1; where there are no cycles at all, everything does.

    Args:
        distances: From `distance_to_cycles`.

    Returns:
        Numbers from 0 to 1.

    Example:
        >>> near = SimplicialDistances(np.array([0.0, 4.0, np.inf]), np.zeros(0), np.zeros(0))
        >>> distance_labels(near).nodes.tolist()
        [0.0, 1.0, 1.0]
    """
    everything = np.concatenate(distances)
    largest = everything[np.isfinite(everything)].max(initial=0.0)
    parts = []
    for part in distances:
        finite = np.isfinite(part)
        label = np.ones_like(part)
        label[finite] = part[finite] / largest if largest else 0.0
        parts.append(label)
    return SimplicialDistances(*parts)


def _shortest_of_each_class(
    edges: Int[np.ndarray, "2 m"],
    num_nodes: int,
    lengths: Float[np.ndarray, " m"],
    annotations: UInt[np.ndarray, "m words"],
    betti: int,
) -> _Candidates:
    """The first candidate of every class, or of a shortest basis where there are many classes."""
    # A shortest basis of a union needs nothing but shortest bases of its parts, so the trees are
    # grown a few at a time and what cannot be needed is dropped at once.
    best = _no_candidates(annotations.shape[1])
    for some in _candidates(edges, num_nodes, lengths, annotations):
        both = _Candidates(*map(np.concatenate, zip(best, some, strict=True)))
        best = both.at(_first_of_each_class(both))
        if best.length.size > 8 * betti:
            best = best.at(_greedy(best, betti))
    return best


def _candidates(
    edges: Int[np.ndarray, "2 m"],
    num_nodes: int,
    lengths: Float[np.ndarray, " m"],
    annotations: UInt[np.ndarray, "m words"],
) -> Iterator[_Candidates]:
    """Loops of non-zero class closed by one edge and the shortest-path trees of some roots."""
    graph = _weighted_graph(edges, num_nodes, lengths)
    tail, head = edges
    for first in range(0, num_nodes, ROOTS_AT_ONCE):
        roots = np.arange(first, min(num_nodes, first + ROOTS_AT_ONCE))
        distance, parent = dijkstra(graph, indices=roots, return_predecessors=True)
        hops, label = _sum_along_paths(edges, num_nodes, parent, annotations)
        homology = label[:, tail] ^ label[:, head] ^ annotations
        row, edge = np.nonzero(homology.any(axis=2) & np.isfinite(distance[:, tail]))
        yield _Candidates(
            distance[row, tail[edge]] + lengths[edge] + distance[row, head[edge]],
            hops[row, tail[edge]] + 1 + hops[row, head[edge]],
            edge,
            roots[row],
            homology[row, edge],
        )


def _sum_along_paths(
    edges: Int[np.ndarray, "2 m"],
    num_nodes: int,
    parent: Integer[np.ndarray, "r n"],
    annotations: UInt[np.ndarray, "m words"],
) -> tuple[Int[np.ndarray, "r n"], UInt[np.ndarray, "r n words"]]:
    """Number of edges, and sum of annotations, between every root and every node of its tree."""
    # Doubling: from the sums over 2^k steps up, the sums over twice as many take one addition.
    row = np.arange(parent.shape[0])[:, None]
    has_parent = parent >= 0
    above = np.where(has_parent, parent, np.arange(num_nodes))
    via = _edge_between(edges, num_nodes, above)
    hops = has_parent.astype(np.int64)
    label = np.where(has_parent[:, :, None], annotations[via], np.uint64(0))
    while True:
        higher = above[row, above]
        if np.array_equal(higher, above):
            return hops, label
        hops += hops[row, above]
        label ^= label[row, above]
        above = higher


def _no_candidates(words: int) -> _Candidates:
    nothing = np.zeros(0, dtype=np.int64)
    return _Candidates(np.zeros(0), nothing, nothing, nothing, np.zeros((0, words), np.uint64))


def _first_of_each_class(some: _Candidates) -> Int[np.ndarray, " classes"]:
    keys = (some.root, some.edge, some.hops, some.length, *some.homology.T)
    order = np.lexsort(keys)
    sorted_classes = some.homology[order]
    first = np.ones(order.size, dtype=bool)
    first[1:] = np.any(sorted_classes[1:] != sorted_classes[:-1], axis=1)
    return order[first]


def _greedy(some: _Candidates, betti: int) -> Int[np.ndarray, " chosen"]:
    """Positions of the shortest candidates with independent classes, in order."""
    order = np.lexsort((some.root, some.edge, some.hops, some.length))
    reduced: dict[int, int] = {}
    chosen = []
    for position in order.tolist():
        bits = int.from_bytes(some.homology[position].astype("<u8").tobytes(), "little")
        while bits and bits.bit_length() in reduced:
            bits ^= reduced[bits.bit_length()]
        if bits:
            reduced[bits.bit_length()] = bits
            chosen.append(position)
            if len(chosen) == betti:
                break
    return np.array(chosen, dtype=np.int64)


def _close(
    edges: Int[np.ndarray, "2 m"],
    num_nodes: int,
    lengths: Float[np.ndarray, " m"],
    root: int,
    edge: int,
) -> list[int]:
    """The cycle that an edge closes with the shortest-path tree of a root, ascending."""
    graph = _weighted_graph(edges, num_nodes, lengths)
    _, parent = dijkstra(graph, indices=[root], return_predecessors=True)
    above = np.where(parent >= 0, parent, np.arange(num_nodes))
    via = _edge_between(edges, num_nodes, above)[0]
    cycle = {edge}
    for end in edges[:, edge].tolist():
        node = end
        while node != root:
            # Where both ends go up the same way, that part is no part of the cycle.
            cycle ^= {int(via[node])}
            node = int(parent[0, node])
    return sorted(cycle)


def _refuse_to_count() -> NoReturn:
    raise NotImplementedError(
        "relevant cycles are counted for graphs, but this basis is one of a complex with faces, "
        "where a class can hold many shortest cycles; try: shortest_cycle_basis of its edges"
    )


def _weighted_graph(
    edges: Int[np.ndarray, "2 m"], num_nodes: int, lengths: Float[np.ndarray, " m"]
) -> scipy.sparse.csr_array:
    """Both directions of every edge. Lengths of zero stay: an entry that is stored is an edge."""
    ends = np.concatenate((edges, edges[::-1]), axis=1)
    return scipy.sparse.csr_array(
        (np.concatenate((lengths, lengths)), (ends[0], ends[1])), shape=(num_nodes, num_nodes)
    )


def _edge_between(
    edges: Int[np.ndarray, "2 m"], num_nodes: int, above: Integer[np.ndarray, "r n"]
) -> Int[np.ndarray, "r n"]:
    """The edge from every node to the one above it; any edge where that is the node itself."""
    keys = edges[0] * num_nodes + edges[1]
    order = np.argsort(keys)
    node = np.arange(num_nodes)
    wanted = np.minimum(above, node) * num_nodes + np.maximum(above, node)
    found = np.searchsorted(keys, wanted, sorter=order)
    return order[np.minimum(found, keys.size - 1)]


def _hops_from(
    edges: Int[np.ndarray, "2 m"], num_nodes: int, sources: Int[np.ndarray, " s"]
) -> Float[np.ndarray, " n"]:
    if sources.size == 0:
        return np.full(num_nodes, np.inf)
    graph = _weighted_graph(edges, num_nodes, np.ones(edges.shape[1]))
    return dijkstra(graph, unweighted=True, indices=sources, min_only=True)


def _set_bits(bits: int) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
