"""Blocks: the parts of a graph that cycles cannot leave.

Two edges are in the same block if some simple cycle runs through both; an edge on no cycle is a
bridge. Cycle space, projector and shortest basis all split over the blocks, so everything
expensive happens inside one block at a time.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int, Integer

from cyclenet.topology.compiled import ZERO, entry, inner
from cyclenet.topology.edges import check_edges
from cyclenet.topology.forest import (
    FOREST_ROWS,
    PLACE,
    VIA,
    forest_by_ids,
    forest_by_search,
)

BRIDGE = -1

# Rows of the edge table: union-find over edges, whose sets grow into blocks. SUMMIT is the node of
# a set nearest to the root of its tree, CHORDS the number of chords in the set.
LEADER, SUMMIT, CHORDS, BLOCK = 0, 1, 2, 3
BLOCK_ROWS = 4

# Rows of the table of blocks: where the edges of a block begin in the list, and its Betti number.
FIRST, BETTI = 0, 1


@dataclass(frozen=True, eq=False)
class Blocks:
    """The blocks of a graph, numbered in the order of their lowest edges.

    Args:
        edge_block: Block of every edge, -1 for bridges.
        sizes: Number of edges of each block.
        betti: Number of independent cycles of each block, at least 1.
    """

    edge_block: Int[np.ndarray, " m"]
    sizes: Int[np.ndarray, " blocks"]
    betti: Int[np.ndarray, " blocks"]

    @property
    def num_blocks(self) -> int:
        """Number of blocks; bridges are not counted as blocks here."""
        return self.sizes.size

    @property
    def bridges(self) -> Bool[np.ndarray, " m"]:
        """Which edges are bridges."""
        return self.edge_block == BRIDGE

    @property
    def num_pairs(self) -> int:
        """Number of ordered pairs of edges of one block: the entries of P that can be non-zero."""
        return int((self.sizes**2).sum())

    @property
    def largest(self) -> int:
        """Number of edges of the largest block, 0 for a forest."""
        return int(self.sizes.max(initial=0))


def blocks(edges: Integer[np.ndarray, "2 m"], num_nodes: int) -> Blocks:
    """Biconnected components with at least one cycle, and the bridges between them.

    Any spanning forest will do: the blocks are what is left when the fundamental cycles that share
    an edge are merged (the connected components of the cycle matroid). Merging climbs every tree
    edge once, so it takes near linear time, in any order of the nodes.

    Args:
        edges: Undirected edges, each once, tail < head.
        num_nodes: Number of nodes.

    Returns:
        The blocks; the Betti numbers of the blocks sum to the Betti number of the graph.

    Raises:
        GraphError: If an edge is a loop, repeated, reversed, or mentions a missing node.

    Example:
        >>> blocks(np.array([[0, 0, 1, 2], [1, 2, 2, 3]]), 4).edge_block.tolist()
        [0, 0, 0, -1]
    """
    return blocks_of(check_edges(edges, num_nodes), num_nodes)


def blocks_of(edges: Int[np.ndarray, "2 m"], num_nodes: int) -> Blocks:
    """`blocks` of edges that have been checked; loops and parallel edges are cycles."""
    tail, head = np.ascontiguousarray(edges)
    nodes = np.empty((FOREST_ROWS, num_nodes), dtype=np.int64)
    table = np.empty((BLOCK_ROWS, tail.size), dtype=np.int64)
    block = np.empty((2, tail.size + 1), dtype=np.int64)
    starts = np.empty(num_nodes + 1, dtype=np.int64)
    arcs = np.empty((2, 2 * tail.size), dtype=np.int64)
    num_blocks = _find_blocks(tail, head, num_nodes, nodes, table, block, starts, arcs)
    sizes, betti = block[FIRST, :num_blocks].copy(), block[BETTI, :num_blocks].copy()
    return Blocks(table[BLOCK].copy(), sizes, betti)


@inner
def find_blocks(tail, head, num_nodes, nodes, table, block, starts, arcs):
    """Fill the `BLOCK` row of the edge table; returns the number of blocks.

    The table of blocks gets the size of each block, in the place of `FIRST`, and its Betti number.

    Hanging nodes by their ids needs no adjacency and succeeds on most molecules and on every graph
    numbered outwards from one node; a breadth-first forest serves the rest.
    """
    forest_by_ids(tail, head, tail.size, num_nodes, nodes)
    if not _merge_cycles(tail, head, nodes, table):
        forest_by_search(tail, head, tail.size, num_nodes, nodes, starts, arcs)
        _merge_cycles(tail, head, nodes, table)
    return _number_blocks(tail.size, table, block)


@inner
def list_blocks(num_edges, num_blocks, table, listed, block):
    """List the edges of each block, ascending, and turn the sizes into where each block begins."""
    total = 0
    for b in range(num_blocks):
        total += block[FIRST, b]
        block[FIRST, b] = total
    block[FIRST, num_blocks] = total
    for e in range(num_edges - 1, -1, -1):
        if table[BLOCK, e] >= 0:
            block[FIRST, table[BLOCK, e]] -= 1
            listed[block[FIRST, table[BLOCK, e]]] = e


@inner
def _merge_cycles(tail, head, nodes, table):
    """Merge the fundamental cycles that share an edge; False if two trees should have been one."""
    num_chords = ZERO
    for e in range(tail.size):
        low, high = tail[e], head[e]
        if nodes[PLACE, low] > nodes[PLACE, high]:
            low, high = high, low
        table[LEADER, e] = e
        table[CHORDS, e] = 0
        if nodes[VIA, high] == e:
            table[SUMMIT, e] = low
        else:
            table[SUMMIT, e] = high
            # The row of blocks is free until all sets are merged: it lists the chords.
            table[BLOCK, num_chords] = e
            num_chords += 1
    for i in range(num_chords):
        e = table[BLOCK, i]
        if not _merge_cycle(e, tail[e], head[e], nodes, table):
            return False
    return True


@inner
def _merge_cycle(merged, one, other, nodes, table):
    """Put the chord `merged` and the tree path between its ends into one set.

    The deeper end climbs, and where it meets a set it leaves at the summit: a set is a connected
    piece of the tree, so the way there lies inside it. An end may overshoot the meeting point
    only inside a set that the other end will meet too.
    """
    table[CHORDS, merged] = 1
    while one != other:
        if nodes[PLACE, one] < nodes[PLACE, other]:
            one, other = other, one
        if nodes[VIA, one] < 0:
            return False
        met = _leader(nodes[VIA, one], table)
        one = table[SUMMIT, met]
        if met != merged:
            table[LEADER, met] = merged
            table[CHORDS, merged] += table[CHORDS, met]
            if nodes[PLACE, one] < nodes[PLACE, table[SUMMIT, merged]]:
                table[SUMMIT, merged] = one
    return True


@inner
def _leader(i, table):
    while table[LEADER, i] != i:
        table[LEADER, i] = table[LEADER, table[LEADER, i]]
        i = table[LEADER, i]
    return i


@inner
def _number_blocks(num_edges, table, block):
    for e in range(num_edges):
        table[BLOCK, e] = BRIDGE
    num_blocks = 0
    for e in range(num_edges):
        if table[LEADER, e] == e and table[CHORDS, e] == 0:
            continue
        leader = _leader(e, table)
        if table[CHORDS, leader] > 0:
            # The leader may come later than e: its own entry holds the number until its turn.
            b = table[BLOCK, leader]
            if b == BRIDGE:
                b = num_blocks
                num_blocks += 1
                table[BLOCK, leader] = b
                block[FIRST, b] = 0
                block[BETTI, b] = table[CHORDS, leader]
            table[BLOCK, e] = b
            block[FIRST, b] += 1
    return num_blocks


@entry
def _find_blocks(tail, head, num_nodes, nodes, table, block, starts, arcs):
    return find_blocks(tail, head, num_nodes, nodes, table, block, starts, arcs)
