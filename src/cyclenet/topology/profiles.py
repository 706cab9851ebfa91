"""What the cycle projector says about one edge: its profile, a multiset of unsigned numbers."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int, Integer

from cyclenet.topology.blocks import blocks_of
from cyclenet.topology.edges import check_edges
from cyclenet.topology.memory import require_memory
from cyclenet.topology.projector import cycle_projectors

# Entries of P are small fractions that may lie close together. The sine spreads them: products of
# its values differ by 1e-3 where products of the entries themselves differ by 1e-9, measured on the
# strongly regular families.
FREQUENCY = 50.0

NUM_INVARIANTS = 8

# Rows that agree to this many decimals are one row with a count. Rounding errors are below 1e-11,
# so copies of a graph get equal numbers but for the rare one on the edge between two decimals.
DECIMALS = 10

# Invariants, their rounded copies and sorting take so many numbers for each pair of edges.
_WORK_NUMBERS = 3 * NUM_INVARIANTS

# Odd multipliers that mix a row of rounded invariants into one number to sort by. Rows that meet by
# chance are compared in full, so nothing depends on them but the time it takes.
_MIXERS = np.random.default_rng(0).integers(0, 2**63, NUM_INVARIANTS, dtype=np.uint64) | 1


@dataclass(frozen=True, eq=False)
class EdgeProfiles:
    """Profiles of the edges of a graph, as rows with counts.

    Args:
        edge: The edge of each row, ascending; bridges have no rows.
        values: Invariants of that edge with other edges of its block; see `edge_profiles`.
        count: How many edges of the block share the row; the counts of an edge sum to the
            number of edges of its block.
    """

    edge: Int[np.ndarray, " r"]
    values: Float[np.ndarray, "r 8"]
    count: Int[np.ndarray, " r"]


def edge_profiles(
    edges: Integer[np.ndarray, "2 m"],
    num_nodes: int,
    *,
    self_loops: Literal["raise", "cycle"] = "raise",
    multi_edges: Literal["raise", "distinct"] = "raise",
    max_bytes: int | None = None,
) -> EdgeProfiles:
    r"""For each edge the multiset of what P and its products say about it and the others.

    With $A = |P|$, $S = \sin(\omega P)$ and $B = \sin(\omega |P|)$, all entrywise, a pair of edges
    e, f has the invariants

    $$A,\; AA,\; BB,\; AB,\; BA,\; P \circ SP,\; P \circ PS,\; P \circ SS$$

    at (e, f). Reversing an edge flips a row and a column of P and of S, and every one of these is
    even in e, in f and in the edges summed over; so profiles do not depend on orientation, and
    relabelling the graph permutes them. They are zero unless e and f lie in one block, and an
    edge's profile is all it has with the edges of its block. Since $P^2 = P$, the squares of the
    first invariant sum to $P_{ee}$.

    One round of matrix products sees what no power of 2-dimensional refinement of $|P|$ does: the
    profiles separate the two 4-CFI graphs and all graphs of the strongly regular families with up
    to 40 nodes. They are numbers of the cycle matroid: graphs with the same cycles (Whitney twists,
    blocks glued at other nodes) share them.

    Args:
        edges: Undirected edges, each once, tail < head.
        num_nodes: Number of nodes.
        self_loops: ``"cycle"`` takes a loop as a cycle of one edge.
        multi_edges: ``"distinct"`` takes parallel edges as cycles of two edges.
        max_bytes: Refuse to take more memory than this; None means a quarter of what is free, at
            most 4 GB.

    Returns:
        The profiles, rounded to ten decimals; equal rows of an edge are counted.

    Raises:
        GraphError: If an edge is a loop, repeated, reversed, or mentions a missing node.
        TooLargeError: If the work space would not fit; nothing has been allocated then.

    Example:
        >>> triangle = edge_profiles(np.array([[0, 0, 1], [1, 2, 2]]), 3)
        >>> triangle.count.tolist(), triangle.values[:, 0].round(3).tolist()
        ([3, 3, 3], [0.333, 0.333, 0.333])
    """
    edges = check_edges(edges, num_nodes, self_loops=self_loops, multi_edges=multi_edges)
    found = blocks_of(edges, num_nodes)
    require_memory(
        "the list of edge profiles",
        8 * _WORK_NUMBERS * int((found.sizes[found.betti > 1] ** 2).max(initial=0)),
        num_edges=edges.shape[1],
        largest_block=found.largest,
        hint="a larger `max_bytes`, or the shortest cycle basis",
        max_bytes=max_bytes,
    )
    packed = cycle_projectors(
        edges,
        np.array([0, edges.shape[1]]),
        num_nodes,
        self_loops=self_loops,
        multi_edges=multi_edges,
        max_bytes=max_bytes,
    )
    parts = [_nothing()]
    first = 0
    for size, betti in zip(found.sizes.tolist(), found.betti.tolist(), strict=True):
        rows = packed.pair_edges[1, first : first + size]
        if betti == 1:
            parts.append(_ring_profiles(rows))
        else:
            entries = packed.values[first : first + size * size].reshape(size, size)
            parts.append(_block_profiles(entries, rows))
        first += size * size
    edge, values, count = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(edge, kind="stable")
    return EdgeProfiles(edge[order], values[order], count[order])


def pair_invariants(projector: Float[np.ndarray, "m m"]) -> Float[np.ndarray, "m m 8"]:
    """The invariants of every pair of edges, from the projector of a graph or of one block.

    Args:
        projector: P.

    Returns:
        The invariants in the order of `edge_profiles`.
    """
    size = np.abs(projector)
    sine, wave = np.sin(FREQUENCY * projector), np.sin(FREQUENCY * size)
    mixed, turned = size @ wave, projector * (sine @ projector)
    return np.stack(
        [
            size,
            size @ size,
            wave @ wave,
            mixed,
            mixed.T,
            turned,
            turned.T,
            projector * (sine @ sine),
        ],
        axis=-1,
    )


def _nothing() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    ids = np.zeros(0, dtype=np.int64)
    return ids, np.zeros((0, NUM_INVARIANTS)), ids


def _ring_profiles(rows: Int[np.ndarray, " s"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A lone cycle of s edges has P = ±1/s everywhere: one row for each edge, in closed form."""
    length = rows.size
    one = np.round(ring_invariants(length), DECIMALS)
    return rows, np.tile(one, (length, 1)), np.full(length, length)


def ring_invariants(length: int) -> Float[np.ndarray, " 8"]:
    """The invariants of any two edges of a lone cycle.

    Args:
        length: Number of its edges.

    Returns:
        The invariants in the order of `edge_profiles`.
    """
    entry = 1.0 / length
    wave = np.sin(FREQUENCY * entry)
    mixed = length * entry * wave
    return np.array(
        [entry, entry, length * wave * wave, mixed, mixed, entry * mixed, entry * mixed,
         entry * length * wave * wave]
    )  # fmt: skip


def _block_profiles(
    projector: Float[np.ndarray, "s s"], rows: Int[np.ndarray, " s"]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Profiles of the edges of one block: equal rows stand side by side once sorted."""
    size = rows.size
    values = np.round(pair_invariants(projector), DECIMALS) + 0.0  # no negative zeros
    whole = np.rint(values * 10.0**DECIMALS).astype(np.int64).view(np.uint64)
    key = (whole * _MIXERS).sum(axis=2, dtype=np.uint64)
    order = np.argsort(key, axis=1, kind="stable")
    values = np.take_along_axis(values, order[:, :, None], axis=1)
    starts = np.ones((size, size), dtype=bool)
    starts[:, 1:] = (values[:, 1:] != values[:, :-1]).any(axis=2)
    first = np.flatnonzero(starts)
    count = np.diff(np.append(first, size * size))
    return rows[first // size], values.reshape(-1, NUM_INVARIANTS)[first], count
