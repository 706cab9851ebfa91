"""`CycleBasis`: a set of oriented cycles of one graph, and what can be said about it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy.sparse
from jaxtyping import Float, Int, Shaped

# Counts of relevant cycles grow exponentially (a ring of q diamonds has q + 2^q); they stop here.
SATURATED = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, eq=False)
class CycleBasis:
    r"""Cycles as the columns of a signed incidence matrix, shortest first.

    The law: with the oriented incidence matrix $B_1$, every column is a closed walk,
    $B_1 C = 0$ exactly. A column is +1 where its cycle runs along an edge, -1 where it runs
    against it; the lowest edge of each cycle is +1.

    Args:
        num_edges: m of the graph.
        incidence_ptr: Entries of cycle k are `incidence_ptr[k]:incidence_ptr[k + 1]`.
        cycle_edges: Edges of the cycles, ascending in each cycle.
        cycle_signs: +1 where a cycle runs along the edge, -1 where it runs against it.
        lengths: Length of each cycle, ascending: the number of its edges (int64), or the sum of
            their weights (float64) where weights were given.
        betti_number: Dimension of the space the cycles span, m - n + components for a graph.
        count_relevant: Computes `num_relevant` when it is first asked for.
    """

    num_edges: int
    incidence_ptr: Int[np.ndarray, " g1"] = field(repr=False)
    cycle_edges: Int[np.ndarray, " q"] = field(repr=False)
    cycle_signs: Int[np.ndarray, " q"] = field(repr=False)
    lengths: Shaped[np.ndarray, " g"]
    betti_number: int
    count_relevant: Callable[[], int] = field(repr=False)

    @cached_property
    def incidence(self) -> scipy.sparse.csc_array:
        """C, the signed incidence of edges and cycles: sparse (m x g), int64."""
        return scipy.sparse.csc_array(
            (self.cycle_signs.astype(np.int64), self.cycle_edges, self.incidence_ptr),
            shape=(self.num_edges, self.num_cycles),
        )

    @property
    def num_cycles(self) -> int:
        """Number of cycles held here."""
        return self.lengths.size

    @property
    def total_weight(self) -> int | float:
        """Sum of the lengths: an int for unweighted graphs, a float for weighted ones."""
        return self.lengths.sum().item()

    @cached_property
    def num_relevant(self) -> int:
        """Number of relevant cycles of the graph: those that lie in some shortest cycle basis.

        Exact; it stops at the largest int64 instead of overflowing.
        """
        return self.count_relevant()

    @property
    def is_unique(self) -> bool:
        """Whether the graph has only one shortest cycle basis.

        The shortest basis is unique if and only if there are no more relevant cycles than the
        Betti number (Vismara 1997).
        """
        return self.num_relevant == self.betti_number

    @property
    def cycles(self) -> list[Int[np.ndarray, " length"]]:
        """The edges of each cycle, ascending."""
        return [self.cycle_edges[first:last] for first, last in pairwise(self.incidence_ptr)]


def cycles_in_order(
    incidence_ptr: Int[np.ndarray, " g1"],
    cycle_edges: Int[np.ndarray, " q"],
    cycle_signs: Int[np.ndarray, " q"],
    lengths: Float[np.ndarray, " g"],
    graph: Int[np.ndarray, " g"],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Cycles sorted by graph, length, number of edges and lowest edge, else left as they are.

    Args:
        incidence_ptr: Entries of cycle k are `incidence_ptr[k]:incidence_ptr[k + 1]`.
        cycle_edges: Edges of the cycles, ascending in each cycle.
        cycle_signs: Their signs.
        lengths: Length of each cycle.
        graph: The graph of each cycle.

    Returns:
        The first four arguments in the new order.
    """
    sizes, first = np.diff(incidence_ptr), incidence_ptr[:-1]
    order = np.lexsort((cycle_edges[first], sizes, lengths, graph))
    pointers = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes[order])])
    entries = np.repeat(first[order] - pointers[:-1], sizes[order]) + np.arange(cycle_edges.size)
    return pointers, cycle_edges[entries], cycle_signs[entries], lengths[order]


def oriented_basis(
    edges: Int[np.ndarray, "2 m"],
    cycles: list[list[int]],
    lengths: Shaped[np.ndarray, " g"],
    betti_number: int,
    count_relevant: Callable[[], int],
) -> CycleBasis:
    """The cycles in the order of length, number of edges and edge ids, with their signs.

    Args:
        edges: Checked undirected edges.
        cycles: Ascending edges of simple cycles.
        lengths: Length of each cycle.
        betti_number: Dimension of the space the cycles span.
        count_relevant: As in `CycleBasis`.

    Returns:
        The cycles with their incidence, shortest first.
    """
    order = sorted(range(len(cycles)), key=lambda k: (lengths[k], len(cycles[k]), cycles[k]))
    cycles = [cycles[k] for k in order]
    signs = [sign for cycle in cycles for sign in _signs(edges, cycle)]
    rows = [edge for cycle in cycles for edge in cycle]
    return CycleBasis(
        edges.shape[1],
        np.cumsum([0, *(len(cycle) for cycle in cycles)]),
        np.array(rows, dtype=np.int64),
        np.array(signs, dtype=np.int8),
        lengths[order],
        betti_number,
        count_relevant,
    )


def _signs(edges: Int[np.ndarray, "2 m"], cycle: list[int]) -> list[int]:
    """Signs along a walk around the cycle that starts along its lowest edge."""
    at_node: dict[int, list[int]] = {}
    for edge in cycle:
        for node in edges[:, edge].tolist():
            at_node.setdefault(node, []).append(edge)
    sign: dict[int, int] = {}
    edge, node = cycle[0], int(edges[0, cycle[0]])
    while edge not in sign:
        tail, head = edges[:, edge].tolist()
        sign[edge] = 1 if node == tail else -1
        node = tail + head - node
        one, other = at_node[node]
        edge = one + other - edge
    return [sign[edge] for edge in cycle]
