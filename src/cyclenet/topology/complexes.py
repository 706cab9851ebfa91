"""2-complexes over a graph: its triangles, or all its rings, as faces.

A ring is a set of nodes whose induced subgraph is one cycle: a cycle without a chord. Rings belong
to the graph, no choice enters, but there can be exponentially many.
"""

from operator import index
from typing import Literal

import numpy as np
import scipy.sparse
from jaxtyping import Int, Integer

from cyclenet.topology.blocks import blocks_of
from cyclenet.topology.candidates import sort_run
from cyclenet.topology.compiled import ZERO, entry, inner
from cyclenet.topology.edges import check_edges
from cyclenet.topology.errors import TooManyFaces
from cyclenet.topology.forest import EDGE, TIP, list_arcs
from cyclenet.topology.memory import require_memory

MAX_FACES = 100_000

# Simple graphs have no shorter cycles.
LEAST_LENGTH = 3

# An entry of the table of rings, the keys of its sort, and the sorted entry as a row and a sign.
ENTRY_BYTES = 64

# Rows of the node table. NEAR counts edges to nodes of the walk behind the root, and a node of the
# walk itself; ENDS counts edges to the root, and LAST is one of them; SEEN is the number of the
# last search that came by, QUEUE what it has met.
NEAR, ENDS, LAST, SEEN, QUEUE = range(5)
NODE_ROWS = 5

# Rows of the walk and of the stack of steps that are still to be tried. The code of a step is
# twice its edge, plus one if it goes against the edge.
NODE, CODE, DEPTH = 0, 1, 2

# What the walk does at a node; plain literals would be types of their own, see `ZERO`.
ENTER, LEAVE = np.int64(1), np.int64(-1)

# What has been found: how many rings, the longest of them, and how many searches it took.
COUNT, LONGEST, SEARCH = 0, 1, 2


def ring_complex(
    edges: Integer[np.ndarray, "2 m"],
    num_nodes: int,
    max_length: int,
    max_faces: int = MAX_FACES,
    *,
    self_loops: Literal["raise", "cycle"] = "raise",
    multi_edges: Literal["raise", "distinct"] = "raise",
    max_bytes: int | None = None,
) -> scipy.sparse.csc_array:
    r"""Incidence matrix B2 of a graph and its rings, all of them up to a length.

    A ring is a chordless cycle: no edge besides its own joins two of its nodes. The law:
    $B_1 B_2 = 0$ exactly. Relabelling the nodes relabels the rings. A column is +1 where its
    ring runs along an edge, -1 where it runs against it; the lowest edge of each ring is +1.

    Rings are found by walks from their lowest node that never come near themselves. A step is taken
    only if some way leads back from it in time, so every walk ends in a ring and the time for each
    ring is at most its length times that of a search in the graph, however few rings there are
    among many paths (Uno and Satoh 2014).

    Args:
        edges: Undirected edges, each once, tail < head.
        num_nodes: Number of nodes.
        max_length: Most edges of a ring, 3 or more.
        max_faces: Refuse to list more rings than this.
        self_loops: ``"cycle"`` takes a loop as a ring of one edge. It is a chord of whatever
            else passes by.
        multi_edges: ``"distinct"`` takes two parallel edges as a ring of two. Each of them is a
            chord of what passes along the other.
        max_bytes: Refuse to take more memory than this; None means a quarter of what is free, at
            most 4 GB.

    Returns:
        B2, sparse (m x f), int64; its columns are ordered by number of edges, then by ascending
        edge ids. It is what `hodge_laplacian` and `shortest_homology_basis` take as `faces`.

    Raises:
        ValueError: If `max_length` is below 3.
        GraphError: If an edge mentions a missing node or is not allowed.
        TooManyFaces: If there are more rings than `max_faces`; known before any is listed.
        TooLargeError: If the list would not fit; known as well.

    Example:
        >>> house = np.array([[0, 0, 1, 2, 2, 3], [1, 2, 3, 3, 4, 4]])
        >>> ring_complex(house, 5, 6).toarray().T.tolist()
        [[0, 0, 0, 1, -1, 1], [1, -1, 1, -1, 0, 0]]
    """
    edges = check_edges(edges, num_nodes, self_loops=self_loops, multi_edges=multi_edges)
    max_length = check_length(max_length)
    count, longest = _listed(edges, num_nodes, max_length, max_faces, _no_table())
    if count > max_faces:
        raise TooManyFaces(max_faces, max_length)
    require_memory(
        "the list of all rings",
        ENTRY_BYTES * count * longest,
        num_edges=edges.shape[1],
        largest_block=blocks_of(edges, num_nodes).largest if count else 0,
        hint="shorter rings, or a larger `max_bytes`",
        max_bytes=max_bytes,
    )
    codes = np.full((count, longest), -1, dtype=np.int64)
    if count:
        _listed(edges, num_nodes, max_length, max_faces, codes)
    return _signed(codes, edges.shape[1])


def clique_complex(
    edges: Integer[np.ndarray, "2 m"],
    num_nodes: int,
    max_faces: int = MAX_FACES,
    *,
    self_loops: Literal["raise", "cycle"] = "raise",
    multi_edges: Literal["raise", "distinct"] = "raise",
    max_bytes: int | None = None,
) -> scipy.sparse.csc_array:
    """Incidence matrix B2 of a graph and its triangles: the clique complex up to dimension 2.

    A triangle is a ring, so this is the ring complex with `max_length` = 3 and obeys its laws. On
    edges in ascending order the triangle (i, j, k), i < j < k, has +1 on (i, j) and (j, k) and -1
    on (i, k), as in `face_incidence`.

    Args:
        edges: Undirected edges, each once, tail < head.
        num_nodes: Number of nodes.
        max_faces: Refuse to list more triangles than this.
        self_loops: As for `ring_complex`.
        multi_edges: As for `ring_complex`.
        max_bytes: As for `ring_complex`.

    Returns:
        B2, sparse (m x f), int64; its columns are ordered by ascending edge ids.

    Raises:
        GraphError: If an edge mentions a missing node or is not allowed.
        TooManyFaces: If there are more triangles than `max_faces`.
        TooLargeError: If the list would not fit.

    Example:
        >>> clique_complex(np.array([[0, 0, 1], [1, 2, 2]]), 3).toarray().ravel().tolist()
        [1, -1, 1]
    """
    return ring_complex(
        edges,
        num_nodes,
        LEAST_LENGTH,
        max_faces,
        self_loops=self_loops,
        multi_edges=multi_edges,
        max_bytes=max_bytes,
    )


def check_length(max_length: int) -> int:
    """The bound on the length of rings as an int, or an error.

    Args:
        max_length: A whole number.

    Returns:
        The same.

    Raises:
        ValueError: If it is none, or below 3.
    """
    whole = hasattr(max_length, "__index__") and not isinstance(max_length, bool)
    if not whole or index(max_length) < LEAST_LENGTH:
        raise ValueError(
            f"`max_length` must be a whole number from {LEAST_LENGTH} on, but it is {max_length}; "
            "try: 6, for the rings of most molecules"
        )
    return index(max_length)


def _no_table() -> Int[np.ndarray, "0 0"]:
    return np.empty((0, 0), dtype=np.int64)


def _listed(
    edges: Int[np.ndarray, "2 m"],
    num_nodes: int,
    max_length: int,
    max_faces: int,
    codes: Int[np.ndarray, "f longest"],
) -> tuple[int, int]:
    """Fill the rows that `codes` has; the number of rings and the longest, whatever it has."""
    tail, head = np.ascontiguousarray(edges)
    node = np.zeros((NODE_ROWS, num_nodes), dtype=np.int64)
    starts = np.empty(num_nodes + 1, dtype=np.int64)
    arcs = np.empty((2, 2 * tail.size), dtype=np.int64)
    walk = np.empty((2, num_nodes + 2), dtype=np.int64)
    # What is stacked at a node of the walk are arcs out of it.
    stack = np.empty((3, 2 * tail.size + 1), dtype=np.int64)
    found = np.zeros(3, dtype=np.int64)
    bound = min(max_length, num_nodes)
    _find_rings(
        tail, head, num_nodes, bound, max_faces, node, starts, arcs, walk, stack, found, codes
    )
    return int(found[COUNT]), int(found[LONGEST])


def _signed(codes: Int[np.ndarray, "f longest"], num_edges: int) -> scipy.sparse.csc_array:
    """The rings as columns, in order of length and edges."""
    if codes.size == 0:
        return scipy.sparse.csc_array((num_edges, codes.shape[0]), dtype=np.int64)
    lengths = (codes >= 0).sum(axis=1)
    order = np.lexsort((*(codes >> 1).T[::-1], lengths))
    codes, lengths = codes[order], lengths[order]
    entries = codes[codes >= 0]
    pointers = np.concatenate(([0], np.cumsum(lengths)))
    return scipy.sparse.csc_array(
        (1 - 2 * (entries & 1), entries >> 1, pointers), shape=(num_edges, lengths.size)
    )


@entry
def _find_rings(
    tail, head, num_nodes, max_length, max_faces, node, starts, arcs, walk, stack, found, codes
):
    """Find all rings, but stop after max_faces + 1; write as many as `codes` has rows."""
    list_arcs(tail, head, tail.size, num_nodes, starts, arcs)
    _find_loops(tail, head, node, walk, found, codes)
    for root in range(num_nodes):
        if node[NEAR, root] > 0:
            continue
        for i in range(starts[root], starts[root + 1]):
            node[ENDS, arcs[TIP, i]] += 1
            node[LAST, arcs[TIP, i]] = arcs[EDGE, i]
        for i in range(starts[root], starts[root + 1]):
            e = arcs[EDGE, i]
            first = arcs[TIP, i]
            if first < root or node[NEAR, first] > 0:
                continue
            if node[ENDS, first] == 1 and max_length > 2:
                _walk(
                    root, first, e, max_length, max_faces, starts, arcs, node, walk, stack, found,
                    codes,
                )  # fmt: skip
            elif node[ENDS, first] == 2 and node[LAST, first] != e:
                walk[CODE, 0] = 2 * e
                walk[CODE, 1] = 2 * node[LAST, first] + 1
                _add_ring(ZERO + 2, walk, found, codes)
        for i in range(starts[root], starts[root + 1]):
            node[ENDS, arcs[TIP, i]] = 0
        if found[COUNT] > max_faces:
            break


@inner
def _find_loops(tail, head, node, walk, found, codes):
    """Bar nodes with loops from all other rings; a lone loop is a ring."""
    for e in range(tail.size):
        if tail[e] == head[e]:
            node[NEAR, tail[e]] += 2
    for e in range(tail.size):
        if tail[e] == head[e] and node[NEAR, tail[e]] == 2:
            walk[CODE, 0] = 2 * e
            _add_ring(ZERO + 1, walk, found, codes)


@inner
def _walk(
    root, first, e, max_length, max_faces, starts, arcs, node, walk, stack, found, codes
):  # fmt: skip
    """Rings whose lowest node is the root, and `first` the lower of its two neighbours there."""
    stack[NODE, 0] = first
    stack[CODE, 0] = 2 * e
    stack[DEPTH, 0] = 1
    size = ZERO + 1
    depth = ZERO
    while size > 0 and found[COUNT] <= max_faces:
        size -= 1
        while depth >= stack[DEPTH, size]:
            _mark(walk[NODE, depth], LEAVE, starts, arcs, node)
            depth -= 1
        depth += 1
        walk[NODE, depth] = stack[NODE, size]
        walk[CODE, depth - 1] = stack[CODE, size]
        _mark(walk[NODE, depth], ENTER, starts, arcs, node)
        size = _go_on(
            root, first, depth, size, max_length, starts, arcs, node, walk, stack, found, codes
        )
    while depth > 0:
        _mark(walk[NODE, depth], LEAVE, starts, arcs, node)
        depth -= 1


@inner
def _mark(v, change, starts, arcs, node):
    """Count v as a node of the walk, or no longer."""
    node[NEAR, v] += change
    for i in range(starts[v], starts[v + 1]):
        node[NEAR, arcs[TIP, i]] += change


@inner
def _go_on(root, first, depth, size, max_length, starts, arcs, node, walk, stack, found, codes):
    """Close the walk where that makes a ring, and stack the steps that can still lead to one."""
    tip = walk[NODE, depth]
    left = max_length - depth - 2
    if left > 0:
        _search_back(root, first, left, starts, arcs, node, found)
    for i in range(starts[tip], starts[tip + 1]):
        v = arcs[TIP, i]
        if v <= root or node[NEAR, v] != 1:
            continue
        code = 2 * arcs[EDGE, i] + (tip > v)
        if node[ENDS, v] == 0:
            if left > 0 and _leads_back(v, starts, arcs, node, found):
                stack[NODE, size] = v
                stack[CODE, size] = code
                stack[DEPTH, size] = depth + 1
                size += 1
        elif node[ENDS, v] == 1 and v > first:
            walk[CODE, depth] = code
            walk[CODE, depth + 1] = 2 * node[LAST, v] + 1
            _add_ring(depth + 2, walk, found, codes)
    return size


@inner
def _search_back(root, first, left, starts, arcs, node, found):
    """See the nodes, not near the walk, from which at most `left` steps lead back to the root."""
    found[SEARCH] += 1
    filled = 0
    for i in range(starts[root], starts[root + 1]):
        v = arcs[TIP, i]
        if v > first and node[NEAR, v] == 0 and node[ENDS, v] == 1:
            node[SEEN, v] = found[SEARCH]
            node[QUEUE, filled] = v
            filled += 1
    begin = 0
    for _ in range(left - 1):
        end = filled
        for j in range(begin, end):
            u = node[QUEUE, j]
            for i in range(starts[u], starts[u + 1]):
                v = arcs[TIP, i]
                if (
                    v > root
                    and node[NEAR, v] == 0
                    and node[ENDS, v] == 0
                    and node[SEEN, v] != found[SEARCH]
                ):
                    node[SEEN, v] = found[SEARCH]
                    node[QUEUE, filled] = v
                    filled += 1
        begin = end


@inner
def _leads_back(v, starts, arcs, node, found):
    """Whether the search back to the root has seen a neighbour."""
    for i in range(starts[v], starts[v + 1]):
        if node[SEEN, arcs[TIP, i]] == found[SEARCH]:
            return True
    return False


@inner
def _add_ring(size, walk, found, codes):
    """Count the ring of the first codes of the walk, and list it ascending if there is room."""
    row = found[COUNT]
    found[COUNT] += 1
    found[LONGEST] = max(found[LONGEST], size)
    if row >= codes.shape[0]:
        return
    for i in range(size):
        codes[row, i] = walk[CODE, i]
    sort_run(ZERO, size, codes[row])
    against = codes[row, 0] & 1
    for i in range(size):
        codes[row, i] ^= against
