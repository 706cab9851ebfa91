"""Relevant cycles: how many there are, and all of them where there are not too many.

A cycle is relevant if it is not a sum of strictly shorter cycles, that is, if it lies in some
shortest cycle basis. Relevant cycles come in families that share everything but the choice among
equally short paths, so that they can be counted where they are too many to list (Vismara 1997).
"""

from functools import partial
from itertools import pairwise
from typing import Literal

import numpy as np
from jaxtyping import Float, Int, Integer, Shaped
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from cyclenet.topology.basis_kernels import collect_cycles, solve_blocks, split_into_chains
from cyclenet.topology.blocks import blocks_of
from cyclenet.topology.cycle_basis import SATURATED, CycleBasis, cycles_in_order, oriented_basis
from cyclenet.topology.edges import check_edges, check_weights
from cyclenet.topology.errors import TooManyCycles
from cyclenet.topology.families import list_relevant
from cyclenet.topology.forest import SpanningForest, forest_of
from cyclenet.topology.incidence import num_components
from cyclenet.topology.lengths import WholeLengths, whole_lengths

MAX_CYCLES = 100_000

# Cycles that are led through edges of length zero at once: a byte for each and every node.
CYCLES_AT_ONCE = 1024


def relevant_cycles(
    edges: Integer[np.ndarray, "2 m"],
    num_nodes: int,
    weights: Shaped[np.ndarray, " m"] | None = None,
    max_cycles: int = MAX_CYCLES,
    *,
    self_loops: Literal["raise", "cycle"] = "raise",
    multi_edges: Literal["raise", "distinct"] = "raise",
    weight_tol: float | None = None,
    max_bytes: int | None = None,
) -> CycleBasis:
    """All relevant cycles: the union of all shortest cycle bases.

    Unlike one shortest basis, which is a choice wherever it is not unique, this set belongs to the
    graph: relabelling the nodes relabels it. It equals the shortest basis if and only if that is
    unique; otherwise it has more cycles than the Betti number, and is no basis but spans.

    Args:
        edges: Undirected edges, each once, tail < head.
        num_nodes: Number of nodes.
        weights: Length of each edge, not negative; None counts edges.
        max_cycles: Refuse to list more than this; a graph can have exponentially many.
        self_loops: ``"cycle"`` takes a loop as a cycle of one edge.
        multi_edges: ``"distinct"`` takes parallel edges as cycles of two edges.
        weight_tol: As for `shortest_cycle_basis`.
        max_bytes: As for `shortest_cycle_basis`.

    Returns:
        The cycles, ordered by length, number of edges, and ascending edge ids.

    Raises:
        GraphError: If the edges or weights are not what `shortest_cycle_basis` expects.
        TooManyCycles: If there are more than `max_cycles`; known before any is listed.
        TooLargeError: If the work space would not fit.

    Example:
        >>> theta = np.array([[0, 0, 0, 1, 2, 3], [1, 2, 3, 4, 4, 4]])
        >>> relevant_cycles(theta, 5).lengths.tolist()
        [4, 4, 4]
    """
    edges = check_edges(edges, num_nodes, self_loops=self_loops, multi_edges=multi_edges)
    values = None if weights is None else check_weights(weights, edges.shape[1])
    whole = None if values is None else _block_lengths(edges, num_nodes, values, weight_tol)
    lengths = None if whole is None else whole.lengths
    if whole is not None and whole.has_zeros:
        count = count_of_graph(edges, num_nodes, lengths, max_bytes)
        _check_count(count, max_cycles)
        betti = edges.shape[1] - num_nodes + num_components(edges, num_nodes)
        cycles = _list_around_zeros(edges, num_nodes, whole.lengths, max_bytes)
        listed = [edge for cycle in cycles for edge in cycle]
        pointers = np.cumsum([0, *map(len, cycles)])
        sums = whole.sums(np.array(listed, dtype=np.int64), pointers)
        return oriented_basis(edges, cycles, sums, betti, partial(int, count))
    listed, betti = _list_cycles(edges, num_nodes, lengths, max_cycles, max_bytes)
    pointers, cycle_edges, cycle_signs, sums = listed
    if whole is not None:
        sums = whole.sums(cycle_edges, pointers)
        pointers, cycle_edges, cycle_signs, sums = cycles_in_order(
            pointers, cycle_edges, cycle_signs, sums, np.zeros(sums.size, dtype=np.int64)
        )
    return CycleBasis(
        edges.shape[1], pointers, cycle_edges, cycle_signs, sums, betti, partial(int, sums.size)
    )


def count_relevant_cycles(
    edges: Integer[np.ndarray, "2 m"],
    num_nodes: int,
    weights: Shaped[np.ndarray, " m"] | None = None,
    *,
    self_loops: Literal["raise", "cycle"] = "raise",
    multi_edges: Literal["raise", "distinct"] = "raise",
    weight_tol: float | None = None,
    max_bytes: int | None = None,
) -> int:
    """The number of relevant cycles, without listing them; `SATURATED` instead of overflowing.

    Args:
        edges: Undirected edges, each once, tail < head.
        num_nodes: Number of nodes.
        weights: Length of each edge, not negative; None counts edges.
        self_loops: ``"cycle"`` takes a loop as a cycle of one edge.
        multi_edges: ``"distinct"`` takes parallel edges as cycles of two edges.
        weight_tol: As for `shortest_cycle_basis`.
        max_bytes: As for `shortest_cycle_basis`.

    Returns:
        The number; at least the Betti number, and equal to it for a unique shortest basis.

    Raises:
        GraphError: If the edges or weights are not what `shortest_cycle_basis` expects.
        TooLargeError: If the work space would not fit.

    Example:
        >>> count_relevant_cycles(np.array([[0, 0, 0, 1, 2, 3], [1, 2, 3, 4, 4, 4]]), 5)
        3
    """
    edges = check_edges(edges, num_nodes, self_loops=self_loops, multi_edges=multi_edges)
    values = None if weights is None else check_weights(weights, edges.shape[1])
    whole = None if values is None else _block_lengths(edges, num_nodes, values, weight_tol)
    return count_of_graph(edges, num_nodes, None if whole is None else whole.lengths, max_bytes)


def count_of_graph(
    edges: Int[np.ndarray, "2 m"],
    num_nodes: int,
    lengths: Int[np.ndarray, " m"] | None,
    max_bytes: int | None = None,
) -> int:
    """Number of relevant cycles of a checked graph with whole lengths.

    Edges of length zero are contracted first, which leaves the relevant cycles as they are as long
    as no cycle has length zero. Where one does, and lies in a block with other cycles, the answer
    is SATURATED: all simple cycles of length zero are relevant, and counting those is as hard as
    counting the simple cycles of any graph.

    Args:
        edges: Checked undirected edges.
        num_nodes: Number of nodes.
        lengths: Whole lengths of the edges; None counts edges.
        max_bytes: As for `shortest_cycle_basis`.

    Returns:
        The number, or SATURATED.
    """
    rings = 0
    if lengths is not None and (lengths == 0).any():
        zero = np.flatnonzero(lengths == 0)
        free = blocks_of(edges[:, zero], num_nodes)
        whole = blocks_of(edges, num_nodes)
        if (whole.betti[whole.edge_block[zero[~free.bridges]]] > 1).any():
            return SATURATED
        rings = free.num_blocks
        edges, num_nodes = _contract(edges[:, lengths > 0], edges[:, zero], num_nodes)
        lengths = lengths[lengths > 0]
    block_ptr, chain_ptr, branches, chain, members = _split(edges, num_nodes, lengths)
    _, _, relevant = solve_blocks(chain, chain_ptr, branches, members, True, max_bytes)
    return min(rings + int(counts_of_graphs(block_ptr, relevant)[0]), SATURATED)


def counts_of_graphs(
    block_ptr: Int[np.ndarray, " b1"], relevant: Int[np.ndarray, " blocks"]
) -> Int[np.ndarray, " b"]:
    """Sums over the blocks of each graph, stopping at the largest int64."""
    if block_ptr.size == 2:
        return np.array([min(sum(relevant.tolist()), SATURATED)])
    starts, ends = block_ptr[:-1], block_ptr[1:]
    # Whole numbers wrap around in both sums alike, so their difference is right whenever it fits;
    # the second sum tells whether it does.
    exact = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(relevant)])
    rough = np.concatenate([np.zeros(1), np.cumsum(relevant / 2.0**62)])
    sums = exact[ends] - exact[starts]
    return np.where(rough[ends] - rough[starts] >= 2.0 - 2.0**-40, SATURATED, sums)


def _contract(
    edges: Int[np.ndarray, "2 k"], free: Int[np.ndarray, "2 z"], num_nodes: int
) -> tuple[Int[np.ndarray, "2 k"], int]:
    ones = np.ones(free.shape[1], dtype=np.int8)
    graph = coo_array((ones, (free[0], free[1])), shape=(num_nodes, num_nodes))
    count, part = connected_components(graph, directed=False)
    contracted = np.sort(part.astype(np.int64)[edges], axis=0)
    return np.ascontiguousarray(contracted), int(count)


def _split(
    edges: Int[np.ndarray, "2 m"], num_nodes: int, lengths: Int[np.ndarray, " m"] | None
) -> tuple[np.ndarray, ...]:
    keys = np.ones(edges.shape[1], dtype=np.int64) if lengths is None else lengths
    tail, head = np.ascontiguousarray(edges)
    return split_into_chains(tail, head, keys, np.array([0, edges.shape[1]]), np.array([num_nodes]))


def _block_lengths(
    edges: Int[np.ndarray, "2 m"],
    num_nodes: int,
    weights: Float[np.ndarray, " m"],
    weight_tol: float | None,
) -> WholeLengths:
    group = blocks_of(edges, num_nodes).edge_block
    return whole_lengths(weights, weight_tol, group=group)


def _list_cycles(
    edges: Int[np.ndarray, "2 m"],
    num_nodes: int,
    lengths: Int[np.ndarray, " m"] | None,
    max_cycles: int,
    max_bytes: int | None,
) -> tuple[tuple[np.ndarray, ...], int]:
    """Relevant cycles of a graph whose lengths are positive, and its Betti number.

    Returns:
        Pointers, edges, signs and lengths of the cycles; the dimension of their span.
    """
    block_ptr, chain_ptr, branches, chain, members = _split(edges, num_nodes, lengths)
    found, found_ptr, relevant = solve_blocks(chain, chain_ptr, branches, members, True, max_bytes)
    count = int(counts_of_graphs(block_ptr, relevant)[0])
    _check_count(count, max_cycles)
    # A block that is one chain is one cycle; it has no branch nodes to subtract.
    betti = int(np.sum(np.diff(chain_ptr) - branches + (branches > 0)))
    if count > betti:
        found, found_ptr = list_relevant(chain, chain_ptr, branches, members, found, found_ptr)
    listed = collect_cycles(
        edges[0], edges[1], np.array([0, edges.shape[1]]), np.array([num_nodes]), block_ptr,
        chain_ptr, chain, members, found, found_ptr,
    )  # fmt: skip
    return listed[1:], betti


def _check_count(count: int, max_cycles: int) -> None:
    # A count that has stopped at its limit is no number one could list up to.
    if count > max_cycles or count == SATURATED:
        raise TooManyCycles(count, max_cycles)


def _list_around_zeros(
    edges: Int[np.ndarray, "2 m"],
    num_nodes: int,
    lengths: Int[np.ndarray, " m"],
    max_bytes: int | None,
) -> list[list[int]]:
    """The same with edges of length zero: each cycle takes the only way through them.

    Cycles of length zero are blocks of their own here, for else there would be too many.

    Returns:
        Ascending edges of each cycle.
    """
    zero, positive = np.flatnonzero(lengths == 0), np.flatnonzero(lengths > 0)
    free = blocks_of(edges[:, zero], num_nodes)
    inside = np.argsort(free.edge_block, kind="stable")[np.count_nonzero(free.bridges) :]
    rings = [ring.tolist() for ring in np.split(zero[inside], np.cumsum(free.sizes))[:-1]]
    contracted, count = _contract(edges[:, positive], edges[:, zero], num_nodes)
    (pointers, listed, _, _), _ = _list_cycles(
        contracted, count, lengths[positive], SATURATED, max_bytes
    )
    cycles = [positive[listed[first:last]] for first, last in pairwise(pointers)]
    forest = forest_of(edges[:, zero], num_nodes)
    closed = []
    for first in range(0, len(cycles), CYCLES_AT_ONCE):
        closed += _led_through(edges, cycles[first : first + CYCLES_AT_ONCE], zero, forest)
    return rings + closed


def _led_through(
    edges: Int[np.ndarray, "2 m"],
    cycles: list[np.ndarray],
    zero: np.ndarray,
    forest: SpanningForest,
) -> list[list[int]]:
    """Cycles of the contracted graph, closed along a forest of the edges of length zero."""
    # A forest edge is on the cycle if an odd number of its loose ends lies below that edge.
    loose = np.zeros((forest.parent.size, len(cycles)), dtype=bool)
    for k, cycle in enumerate(cycles):
        np.logical_xor.at(loose[:, k], edges[:, cycle].ravel(), True)
    for v in forest.order[::-1]:
        if forest.parent[v] >= 0:
            loose[forest.parent[v]] ^= loose[v]
    below = np.flatnonzero(forest.parent >= 0)
    return [
        sorted([*cycle.tolist(), *zero[forest.parent_edge[below[loose[below, k]]]].tolist()])
        for k, cycle in enumerate(cycles)
    ]
