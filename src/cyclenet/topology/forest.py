"""Spanning forests: every edge outside one closes exactly one cycle with it."""

from typing import NamedTuple

import numpy as np
import scipy.sparse
from jaxtyping import Int, Integer

from cyclenet.topology.compiled import entry, inner
from cyclenet.topology.edges import check_edges

# Rows of the node table of a forest.
PARENT, VIA, PLACE, ORDER = 0, 1, 2, 3
FOREST_ROWS = 4

# Rows of the arc table: the edge of an arc and the node it leads to.
EDGE, TIP = 0, 1


class SpanningForest(NamedTuple):
    """A rooted spanning forest.

    Args:
        parent: Parent of every node, -1 for roots.
        parent_edge: Edge to the parent, -1 for roots.
        order: The nodes with parents before their children, one component after the other.
        chords: The edges outside the forest, ascending; there are as many as the Betti number.
    """

    parent: Int[np.ndarray, " n"]
    parent_edge: Int[np.ndarray, " n"]
    order: Int[np.ndarray, " n"]
    chords: Int[np.ndarray, " g"]


def spanning_forest(edges: Integer[np.ndarray, "2 m"], num_nodes: int) -> SpanningForest:
    """Breadth-first spanning forest, rooted at the lowest node of each component.

    Args:
        edges: Undirected edges, each once, tail < head.
        num_nodes: Number of nodes.

    Returns:
        The forest; it has n - components edges.

    Raises:
        GraphError: If an edge is a loop, repeated, reversed, or mentions a missing node.

    Example:
        >>> spanning_forest(np.array([[0, 0, 1], [1, 2, 2]]), 3).chords.tolist()
        [2]
    """
    return forest_of(check_edges(edges, num_nodes), num_nodes)


def forest_of(edges: Int[np.ndarray, "2 m"], num_nodes: int) -> SpanningForest:
    """`spanning_forest` of edges that have been checked; loops and parallel edges are chords."""
    tail, head = np.ascontiguousarray(edges)
    nodes = np.empty((FOREST_ROWS, num_nodes), dtype=np.int64)
    starts = np.zeros(num_nodes + 1, dtype=np.int64)
    arcs = np.empty((2, 2 * tail.size), dtype=np.int64)
    _forest_by_search(tail, head, tail.size, num_nodes, nodes, starts, arcs)
    in_forest = np.zeros(tail.size, dtype=bool)
    in_forest[nodes[VIA][nodes[VIA] >= 0]] = True
    return SpanningForest(nodes[PARENT], nodes[VIA], nodes[ORDER], np.flatnonzero(~in_forest))


def fundamental_cycles(edges: Integer[np.ndarray, "2 m"], num_nodes: int) -> scipy.sparse.csc_array:
    """The cycle each chord closes with the spanning forest: a basis of the cycle space.

    Args:
        edges: Undirected edges, each once, tail < head.
        num_nodes: Number of nodes.

    Returns:
        Signed incidence (m x g), int64, one column a chord, +1 on its chord; `B1 @ C == 0`.

    Raises:
        GraphError: If an edge is a loop, repeated, reversed, or mentions a missing node.

    Example:
        >>> fundamental_cycles(np.array([[0, 0, 1], [1, 2, 2]]), 3).toarray().ravel().tolist()
        [1, -1, 1]
    """
    forest = spanning_forest(edges, num_nodes)
    tail, head = np.asarray(edges, dtype=np.int64)
    place = np.empty(num_nodes, dtype=np.int64)
    place[forest.order] = np.arange(num_nodes)
    rows, signs, ends = [], [], [0]
    for chord in forest.chords:
        rows.append(chord)
        signs.append(1)
        # The walk runs along the chord, then from its head up and from its tail up backwards.
        ahead, behind = head[chord], tail[chord]
        while ahead != behind:
            up_ahead = place[ahead] > place[behind]
            node = ahead if up_ahead else behind
            edge = forest.parent_edge[node]
            rows.append(edge)
            signs.append(1 if (tail[edge] == node) == up_ahead else -1)
            if up_ahead:
                ahead = forest.parent[node]
            else:
                behind = forest.parent[node]
        ends.append(len(rows))
    matrix = scipy.sparse.csc_array(
        (np.array(signs, dtype=np.int64), np.array(rows, dtype=np.int64), np.array(ends)),
        shape=(tail.size, forest.chords.size),
    )
    matrix.sort_indices()
    return matrix


@inner
def forest_by_ids(tail, head, num_edges, num_nodes, nodes):
    """Hang every node below its first smaller neighbour: a forest without any search.

    Its trees may be fewer than a spanning forest needs; merging cycles notices.
    """
    for v in range(num_nodes):
        nodes[PARENT, v] = -1
        nodes[VIA, v] = -1
        nodes[PLACE, v] = v
    for e in range(num_edges):
        v = head[e]
        if nodes[PARENT, v] < 0 and tail[e] < v:
            nodes[PARENT, v] = tail[e]
            nodes[VIA, v] = e


@inner
def list_arcs(tail, head, num_edges, num_nodes, starts, arcs):
    """Arcs out of every node: those of v begin at column starts[v]; loops have none."""
    for v in range(num_nodes + 1):
        starts[v] = 0
    for e in range(num_edges):
        if tail[e] != head[e]:
            starts[tail[e]] += 1
            starts[head[e]] += 1
    total = 0
    for v in range(num_nodes):
        total += starts[v]
        starts[v] = total
    starts[num_nodes] = total
    # Filled from the back, each node's edges end up ascending.
    for e in range(num_edges - 1, -1, -1):
        if tail[e] != head[e]:
            starts[tail[e]] -= 1
            arcs[EDGE, starts[tail[e]]] = e
            arcs[TIP, starts[tail[e]]] = head[e]
            starts[head[e]] -= 1
            arcs[EDGE, starts[head[e]]] = e
            arcs[TIP, starts[head[e]]] = tail[e]


@inner
def forest_by_search(tail, head, num_edges, num_nodes, nodes, starts, arcs):
    """Breadth-first spanning forest; `PLACE` of a parent is below that of its children."""
    list_arcs(tail, head, num_edges, num_nodes, starts, arcs)
    for v in range(num_nodes):
        nodes[PARENT, v] = -1
        nodes[VIA, v] = -1
        nodes[PLACE, v] = -1
    placed = 0
    expanded = 0
    for root in range(num_nodes):
        if nodes[PLACE, root] >= 0:
            continue
        nodes[PLACE, root] = placed
        nodes[ORDER, placed] = root
        placed += 1
        while expanded < placed:
            v = nodes[ORDER, expanded]
            expanded += 1
            for i in range(starts[v], starts[v + 1]):
                u = arcs[TIP, i]
                if nodes[PLACE, u] < 0:
                    nodes[PARENT, u] = v
                    nodes[VIA, u] = arcs[EDGE, i]
                    nodes[PLACE, u] = placed
                    nodes[ORDER, placed] = u
                    placed += 1


@entry
def _forest_by_search(tail, head, num_edges, num_nodes, nodes, starts, arcs):
    forest_by_search(tail, head, num_edges, num_nodes, nodes, starts, arcs)
