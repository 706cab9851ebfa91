"""Graphs small enough to know by name, as `(edges, num_nodes)` with sorted edges."""

from collections.abc import Iterable
from itertools import pairwise, product

import numpy as np

Graph = tuple[np.ndarray, int]


def from_pairs(pairs: Iterable[tuple[int, int]], num_nodes: int) -> Graph:
    """Sorted edges (2, m) from pairs in any order."""
    ordered = sorted({(min(a, b), max(a, b)) for a, b in pairs})
    return np.array(ordered, dtype=np.int64).reshape(-1, 2).T.copy(), num_nodes


def path(num_nodes: int) -> Graph:
    """A path: no cycles."""
    return from_pairs(((i, i + 1) for i in range(num_nodes - 1)), num_nodes)


def cycle(length: int) -> Graph:
    """One cycle."""
    return from_pairs(((i, (i + 1) % length) for i in range(length)), length)


def complete(num_nodes: int) -> Graph:
    """Every pair of nodes is an edge."""
    return from_pairs(((i, j) for i in range(num_nodes) for j in range(i)), num_nodes)


def grid(rows: int, columns: int) -> Graph:
    """A rectangular grid; its squares are its only shortest basis."""
    across = [
        (r * columns + c, r * columns + c + 1) for r in range(rows) for c in range(columns - 1)
    ]
    down = [
        (r * columns + c, (r + 1) * columns + c) for r in range(rows - 1) for c in range(columns)
    ]
    return from_pairs(across + down, rows * columns)


def theta() -> Graph:
    """Nodes 0 and 1 joined by an edge and by two paths of two edges: two triangles on one edge."""
    return from_pairs([(0, 1), (0, 2), (1, 2), (0, 3), (1, 3)], 4)


def bowtie() -> Graph:
    """Two triangles that share node 0: two blocks."""
    return from_pairs([(0, 1), (0, 2), (1, 2), (0, 3), (0, 4), (3, 4)], 5)


def two_triangles_and_a_bridge() -> Graph:
    """Two triangles joined by the bridge (2, 3)."""
    return from_pairs([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)], 6)


def diamond_ring(diamonds: int) -> Graph:
    """A ring of squares: 2 ** diamonds relevant cycles go around, and each square is one."""
    pairs = []
    for i in range(diamonds):
        here, there = 3 * i, 3 * ((i + 1) % diamonds)
        pairs += [(here, here + 1), (here, here + 2), (here + 1, there), (here + 2, there)]
    return from_pairs(pairs, 3 * diamonds)


def bicyclo_222_octane() -> Graph:
    """Two nodes joined by three paths of three edges: 3 relevant cycles, g = 2."""
    paths = [(0, 2, 3, 1), (0, 4, 5, 1), (0, 6, 7, 1)]
    return from_pairs((pair for p in paths for pair in pairwise(p)), 8)


def complete_bipartite(left: int, right: int) -> Graph:
    """Every node of one side is joined to every node of the other: squares are shortest."""
    return from_pairs(((i, left + j) for i in range(left) for j in range(right)), left + right)


def hypercube(dimension: int) -> Graph:
    """Bit strings, adjacent if they differ in one bit: d (d - 1) 2 ** (d - 3) squares."""
    strings = range(2**dimension)
    return from_pairs(
        ((i, i ^ 1 << bit) for i in strings for bit in range(dimension)), 2**dimension
    )


def petersen() -> Graph:
    """The Petersen graph: 12 cycles of five edges are the shortest, g = 6."""
    rim = [(i, (i + 1) % 5) for i in range(5)]
    star = [(5 + i, 5 + (i + 2) % 5) for i in range(5)]
    return from_pairs([*rim, *star, *((i, i + 5) for i in range(5))], 10)


def ring_with_chord(length: int, chord: int) -> Graph:
    """A cycle with an edge from node 0 to node `chord`: two long chains and a short one."""
    ring = [(i, (i + 1) % length) for i in range(length)]
    return from_pairs([*ring, (0, chord)], length)


def subdivided(graph: Graph, pieces: int) -> Graph:
    """Each edge is cut into a path of so many edges: every cycle gets that much longer."""
    edges, num_nodes = graph
    pairs = []
    for tail, head in edges.T.tolist():
        inside = range(num_nodes, num_nodes + pieces - 1)
        path = [tail, *inside, head]
        pairs += pairwise(path)
        num_nodes += pieces - 1
    return from_pairs(pairs, num_nodes)


def rook() -> Graph:
    """The 4 x 4 Rook graph: cells of a chess board that agree in exactly one coordinate."""
    return _on_z4(lambda dx, dy: (dx == 0) != (dy == 0))


def shrikhande() -> Graph:
    """The Shrikhande graph: steps (1, 0), (0, 1), (1, 1) and back on Z4 x Z4."""
    steps = {(1, 0), (3, 0), (0, 1), (0, 3), (1, 1), (3, 3)}
    return _on_z4(lambda dx, dy: (dx, dy) in steps)


def cfi(k: int, twist: int) -> Graph:
    """The k-CFI graph with `twist` odd levels.

    Nodes (level, bits): k + 1 levels, k bits with an even sum below the last `twist` levels and
    an odd sum on them. A node is joined to the one t levels further (cyclically) if bit t of the
    first equals bit k - t + 1 of the second.
    """
    levels = range(1, k + 2)
    nodes = [
        (a, bits)
        for a in levels
        for bits in product((0, 1), repeat=k)
        if sum(bits) % 2 == (a > k - twist + 1)
    ]
    pairs = [
        (i, j)
        for i, (a, bits) in enumerate(nodes)
        for j, (b, others) in enumerate(nodes)
        for t in range(1, k + 1)
        if (a - 1 + t) % (k + 1) == b - 1 and bits[t - 1] == others[k - t]
    ]
    return from_pairs(pairs, len(nodes))


def paper_example(which: str) -> Graph:
    """Graphs (a) and (b) of the paper's first example in the printed edge order, nodes from 0."""
    shared = [(1, 2), (1, 3), (2, 4), (2, 5), (3, 6), (4, 5), (5, 6)]
    last = {"a": [(4, 7), (5, 7)], "b": [(5, 7), (6, 7)]}[which]
    return np.array(shared + last, dtype=np.int64).T - 1, 7


def _on_z4(adjacent) -> Graph:
    cells = list(product(range(4), repeat=2))
    return from_pairs(
        (
            (i, j)
            for i, (x, y) in enumerate(cells)
            for j, (u, v) in enumerate(cells)
            if i != j and adjacent((x - u) % 4, (y - v) % 4)
        ),
        16,
    )
