"""The shortest cycle basis: exact, of one graph or of many in one call."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, SupportsIndex

import numpy as np
from jaxtyping import Float, Int, Integer, Shaped

from cyclenet.topology.basis_kernels import collect_cycles, solve_blocks, split_into_chains
from cyclenet.topology.blocks import blocks_of
from cyclenet.topology.cycle_basis import CycleBasis, cycles_in_order
from cyclenet.topology.edges import check_edges, check_weights
from cyclenet.topology.lengths import WholeLengths, whole_lengths
from cyclenet.topology.packed import (
    check_packed_edges,
    check_packed_weights,
    in_threads,
    position,
)
from cyclenet.topology.relevant import count_of_graph, counts_of_graphs


@dataclass(frozen=True, eq=False)
class PackedBases:
    """Shortest cycle bases of many graphs, graph after graph.

    Args:
        edge_ptr: Edges of graph i are `edge_ptr[i]:edge_ptr[i + 1]` of the input.
        cycle_ptr: Cycles of graph i are `cycle_ptr[i]:cycle_ptr[i + 1]`, shortest first.
        incidence_ptr: Entries of cycle k are `incidence_ptr[k]:incidence_ptr[k + 1]`.
        cycle_edges: Edges of the cycles, counted within their graph, ascending in each cycle.
        cycle_signs: +1 where a cycle runs along the edge, -1 where it runs against it.
        lengths: Length of each cycle: number of edges (int64) or sum of weights (float64).
        num_relevant: Number of relevant cycles of each graph, or None if not asked for.
        count_relevant: Counts the relevant cycles of graph i when they are asked for later.
    """

    edge_ptr: Int[np.ndarray, " b1"]
    cycle_ptr: Int[np.ndarray, " b1"]
    incidence_ptr: Int[np.ndarray, " g1"]
    cycle_edges: Int[np.ndarray, " q"]
    cycle_signs: Int[np.ndarray, " q"]
    lengths: Shaped[np.ndarray, " g"]
    num_relevant: Int[np.ndarray, " b"] | None
    count_relevant: Callable[[int], int] = field(repr=False)

    def __len__(self) -> int:
        """Number of graphs."""
        return self.edge_ptr.size - 1

    def __getitem__(self, i: SupportsIndex) -> CycleBasis:
        """The basis of graph i; negative numbers count from the end."""
        i = position(i, len(self))
        first, last = self.cycle_ptr[i], self.cycle_ptr[i + 1]
        pointers = self.incidence_ptr[first : last + 1]
        entries = slice(pointers[0], pointers[-1])
        if self.num_relevant is None:
            count = partial(self.count_relevant, i)
        else:
            count = partial(int, self.num_relevant[i])
        return CycleBasis(
            int(self.edge_ptr[i + 1] - self.edge_ptr[i]),
            pointers - pointers[0],
            self.cycle_edges[entries],
            self.cycle_signs[entries],
            self.lengths[first:last],
            int(last - first),
            count,
        )


def shortest_cycle_basis(
    edges: Integer[np.ndarray, "2 m"],
    num_nodes: int,
    weights: Shaped[np.ndarray, " m"] | None = None,
    *,
    self_loops: Literal["raise", "cycle"] = "raise",
    multi_edges: Literal["raise", "distinct"] = "raise",
    weight_tol: float | None = None,
    max_bytes: int | None = None,
) -> CycleBasis:
    r"""A cycle basis of least total length: exact, and the first one in the order of the edges.

    The cycles returned are those a greedy choice takes from all simple cycles, ordered by
    length, then number of edges, then their ascending edge ids, as long as they are independent
    over $\mathbb{Z}_2$. Their oriented incidence satisfies $B_1 C = 0$.

    The lengths are the same for every shortest basis, the cycles are not: where
    `is_unique` is False, which cycles come back depends on the order of the edges, and so on the
    labels of the nodes. No choice of one basis can be the same for all copies of such a
    graph; all `relevant_cycles` together are.

    Args:
        edges: Undirected edges, each once, tail < head. Their order decides ties.
        num_nodes: Number of nodes; nodes without edges are allowed.
        weights: Length of each edge, not negative; None counts edges.
        self_loops: ``"cycle"`` takes a loop as a cycle of one edge.
        multi_edges: ``"distinct"`` takes parallel edges as cycles of two edges.
        weight_tol: Weights are multiples of this; see `whole_lengths` for what None means.
        max_bytes: Refuse to take more memory than this; None means a quarter of what is free, at
            most 4 GB.

    Returns:
        The basis, with the number of relevant cycles.

    Raises:
        GraphError: If an edge is reversed, repeated or a loop (unless allowed), mentions a missing
            node, or a weight is negative or not finite.
        TooLargeError: If the work space would not fit; it has not been allocated then.

    Example:
        >>> square_with_diagonal = np.array([[0, 0, 0, 1, 2], [1, 2, 3, 2, 3]])
        >>> basis = shortest_cycle_basis(square_with_diagonal, 4)
        >>> basis.lengths.tolist(), basis.is_unique
        ([3, 3], True)
    """
    edges = check_edges(edges, num_nodes, self_loops=self_loops, multi_edges=multi_edges)
    edge_ptr = np.array([0, edges.shape[1]])
    values = None if weights is None else check_weights(weights, edges.shape[1])
    found = _packed_bases(
        edges, edge_ptr, np.array([num_nodes]), values, True, 1, weight_tol, max_bytes
    )
    return found[0]


def shortest_cycle_bases(
    edges: Integer[np.ndarray, "2 m"],
    edge_ptr: Integer[np.ndarray, " b1"],
    num_nodes: Integer[np.ndarray, " b"] | int,
    weights: Shaped[np.ndarray, " m"] | None = None,
    *,
    count_relevant: bool = False,
    num_threads: int = 1,
    self_loops: Literal["raise", "cycle"] = "raise",
    multi_edges: Literal["raise", "distinct"] = "raise",
    weight_tol: float | None = None,
    max_bytes: int | None = None,
) -> PackedBases:
    """`shortest_cycle_basis` of many graphs in one call.

    Each graph's basis is the one `shortest_cycle_basis` returns, whatever its neighbours in the
    call and the number of threads.

    Args:
        edges: Edges of all graphs, one graph after the other; nodes are counted within a graph.
        edge_ptr: Edges of graph i are `edge_ptr[i]:edge_ptr[i + 1]`.
        num_nodes: Number of nodes of each graph, or of every graph.
        weights: Length of each edge, not negative; None counts edges.
        count_relevant: Whether to count the relevant cycles of each graph.
        num_threads: Threads to spread the graphs over.
        self_loops: ``"cycle"`` takes a loop as a cycle of one edge.
        multi_edges: ``"distinct"`` takes parallel edges as cycles of two edges.
        weight_tol: As for `shortest_cycle_basis`.
        max_bytes: As for `shortest_cycle_basis`, for the largest graph.

    Returns:
        The bases, packed; `result[i]` is a `CycleBasis`.

    Raises:
        GraphError: If an edge is a loop, repeated, reversed, or mentions a missing node, or a
            weight is negative or not finite; its `graph_index` names the graph.
        TooLargeError: If the work space would not fit; it has not been allocated then.

    Example:
        >>> two = np.array([[0, 0, 1, 0], [1, 2, 2, 1]])
        >>> found = shortest_cycle_bases(two, np.array([0, 3, 4]), np.array([3, 2]))
        >>> found.cycle_ptr.tolist(), found.cycle_edges.tolist(), found.cycle_signs.tolist()
        ([0, 1, 1], [0, 1, 2], [1, -1, 1])
    """
    edges, edge_ptr, num_nodes = check_packed_edges(
        edges, edge_ptr, num_nodes, self_loops=self_loops, multi_edges=multi_edges
    )
    # The answer refers to the pointers, which are the caller's and may change meanwhile.
    edge_ptr = edge_ptr.copy()
    values = None if weights is None else check_packed_weights(weights, edge_ptr)
    return _packed_bases(
        edges, edge_ptr, num_nodes, values, count_relevant, num_threads, weight_tol, max_bytes
    )


def _packed_bases(
    edges: Int[np.ndarray, "2 m"],
    edge_ptr: Int[np.ndarray, " b1"],
    num_nodes: Int[np.ndarray, " b"],
    weights: Float[np.ndarray, " m"] | None,
    counting: bool,
    num_threads: int,
    weight_tol: float | None,
    max_bytes: int | None,
) -> PackedBases:
    """The passes of `basis_kernels` over ranges of graphs, put together again."""
    whole = (
        None if weights is None else _whole_lengths(edges, edge_ptr, num_nodes, weights, weight_tol)
    )
    keys = np.ones(edges.shape[1], dtype=np.int64) if whole is None else whole.keys
    # Keys with the number of edges in them do not see ties between different numbers of edges.
    counted_here = counting and not (whole is not None and whole.has_zeros)

    def work(first: int, last: int) -> tuple[np.ndarray, ...]:
        here = slice(edge_ptr[first], edge_ptr[last])
        tail, head = edges[:, here]
        own_ptr, own_nodes = edge_ptr[first : last + 1] - edge_ptr[first], num_nodes[first:last]
        block_ptr, chain_ptr, branches, chain, members = split_into_chains(
            tail, head, keys[here], own_ptr, own_nodes
        )
        found, found_ptr, relevant = solve_blocks(
            chain, chain_ptr, branches, members, counted_here, max_bytes
        )
        cycles = collect_cycles(
            tail, head, own_ptr, own_nodes, block_ptr, chain_ptr, chain, members, found, found_ptr
        )
        return *cycles, counts_of_graphs(block_ptr, relevant) if counted_here else relevant

    parts = in_threads(work, edge_ptr, num_threads)
    cycle_ptr, incidence_ptr, cycle_edges, cycle_signs, lengths, relevant = _joined(parts)
    # What is counted later must not depend on what the caller does to the array meanwhile.
    edges = edges if counting else edges.copy()
    count = partial(_count, edges, edge_ptr, num_nodes, None if whole is None else whole.lengths)
    if counting and not counted_here:
        relevant = np.array([count(i) for i in range(num_nodes.size)], dtype=np.int64)
    found = PackedBases(
        edge_ptr, cycle_ptr, incidence_ptr, cycle_edges, cycle_signs, lengths,
        relevant if counting else None, count,
    )  # fmt: skip
    return found if whole is None else _with_weights(found, whole)


def _count(
    edges: Int[np.ndarray, "2 m"],
    edge_ptr: Int[np.ndarray, " b1"],
    num_nodes: Int[np.ndarray, " b"],
    lengths: Int[np.ndarray, " m"] | None,
    i: int,
) -> int:
    own = slice(edge_ptr[i], edge_ptr[i + 1])
    return count_of_graph(
        edges[:, own], int(num_nodes[i]), None if lengths is None else lengths[own]
    )


def _whole_lengths(
    edges: Int[np.ndarray, "2 m"],
    edge_ptr: Int[np.ndarray, " b1"],
    num_nodes: Int[np.ndarray, " b"],
    weights: Float[np.ndarray, " m"],
    weight_tol: float | None,
) -> WholeLengths:
    """Lengths with a unit for each block: a block must not depend on the rest of its graph."""
    before = np.cumsum(num_nodes) - num_nodes
    all_as_one = edges + np.repeat(before, np.diff(edge_ptr))
    group = blocks_of(all_as_one, int(num_nodes.sum())).edge_block
    return whole_lengths(weights, weight_tol, group=group)


def _with_weights(found: PackedBases, whole: WholeLengths) -> PackedBases:
    """Lengths in the unit of the weights, and the cycles of each graph in the order of these."""
    # Inside a block the kernels have seen to the order; lengths of different blocks have different
    # units until now.
    graph = np.repeat(np.arange(len(found)), np.diff(found.cycle_ptr))
    first_edge = np.repeat(found.edge_ptr[graph], np.diff(found.incidence_ptr))
    lengths = whole.sums(first_edge + found.cycle_edges, found.incidence_ptr)
    incidence_ptr, cycle_edges, cycle_signs, lengths = cycles_in_order(
        found.incidence_ptr, found.cycle_edges, found.cycle_signs, lengths, graph
    )
    return replace(
        found,
        incidence_ptr=incidence_ptr,
        cycle_edges=cycle_edges,
        cycle_signs=cycle_signs,
        lengths=lengths,
    )


def _joined(parts: list[tuple[np.ndarray, ...]]) -> tuple[np.ndarray, ...]:
    """Results of several ranges as one: two arrays of pointers, then arrays of items."""
    if len(parts) == 1:
        return parts[0]
    columns = list(zip(*parts, strict=True))
    zero = np.zeros(1, dtype=np.int64)
    pointers = [np.cumsum(np.concatenate([zero, *map(np.diff, some)])) for some in columns[:2]]
    return *pointers, *map(np.concatenate, columns[2:])
