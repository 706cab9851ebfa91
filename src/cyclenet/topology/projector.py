"""The orthogonal projector onto the cycle space: of one graph, of many, on arcs, its diagonal."""

from dataclasses import dataclass
from typing import Literal, SupportsIndex

import numpy as np
from jaxtyping import Float, Int, Integer

from cyclenet.topology.block_projector import (
    LARGEST,
    NUM_LARGE,
    PAIRS,
    REPORT_COLUMNS,
    SMALL_BETTI,
    effective_resistances,
    project_block,
    project_small_blocks,
)
from cyclenet.topology.blocks import blocks_of
from cyclenet.topology.edges import check_edges
from cyclenet.topology.memory import require_memory
from cyclenet.topology.packed import check_packed_edges, in_threads, position

# A pair takes two edge ids and a value.
PAIR_BYTES = 24

_NO_PAIRS = np.zeros((2, 0), dtype=np.int64)
_NO_VALUES = np.zeros(0, dtype=np.float64)
_START = np.zeros(1, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class PackedProjectors:
    """Cycle projectors of many graphs: the entries inside blocks, graph after graph.

    All other entries are exactly zero. Within a graph the blocks follow each other, and each
    block lists its ordered pairs row by row.

    Args:
        edge_ptr: Edges of graph i are `edge_ptr[i]:edge_ptr[i + 1]` of the input.
        pair_ptr: Pairs of graph i are `pair_ptr[i]:pair_ptr[i + 1]`.
        pair_edges: The two edges of each pair, counted within their graph.
        values: The entry of the projector.
    """

    edge_ptr: Int[np.ndarray, " b1"]
    pair_ptr: Int[np.ndarray, " b1"]
    pair_edges: Int[np.ndarray, "2 p"]
    values: Float[np.ndarray, " p"]

    def __len__(self) -> int:
        """Number of graphs."""
        return self.edge_ptr.size - 1

    def __getitem__(self, i: SupportsIndex) -> Float[np.ndarray, "m m"]:
        """The projector of graph i as a dense matrix; negative numbers count from the end."""
        i = position(i, len(self))
        num_edges = self.edge_ptr[i + 1] - self.edge_ptr[i]
        pairs = slice(self.pair_ptr[i], self.pair_ptr[i + 1])
        matrix = np.zeros((num_edges, num_edges))
        matrix[tuple(self.pair_edges[:, pairs])] = self.values[pairs]
        return matrix


def cycle_projector(
    edges: Integer[np.ndarray, "2 m"], num_nodes: int, *, max_bytes: int | None = None
) -> Float[np.ndarray, "m m"]:
    r"""Orthogonal projector onto the cycle space of a graph.

    With the oriented incidence $B \in \{-1,0,1\}^{n\times m}$, the cycle space is $\ker B$ and

    $$P = I - B^\top (B B^\top)^{+} B .$$

    $P$ does not depend on any choice of cycle basis, $P = P^2 = P^\top$, $B P = 0$, and
    $\operatorname{tr} P$ is the Betti number. Reversing edge $e$ flips the sign of row and column
    $e$. A cycle of length $\ell$ that shares no edge with another one has the entries
    $\pm 1/\ell$, exactly.

    Args:
        edges: Undirected edges, each once, tail < head.
        num_nodes: Number of nodes; nodes without edges are allowed.
        max_bytes: Refuse to take more memory than this; None means a quarter of what is free, at
            most 4 GB.

    Returns:
        The projector, zero between different blocks and on bridges.

    Raises:
        GraphError: If an edge is a loop, repeated, reversed, or mentions a missing node.
        TooLargeError: If the answer would not fit; nothing has been allocated then.

    Example:
        >>> triangle = np.array([[0, 0, 1], [1, 2, 2]])
        >>> cycle_projector(triangle, 3).round(3).tolist()
        [[0.333, -0.333, 0.333], [-0.333, 0.333, -0.333], [0.333, -0.333, 0.333]]
    """
    edges = check_edges(edges, num_nodes)
    num_edges = edges.shape[1]
    report = _sweep_graph(edges, num_nodes, 0, _NO_VALUES)
    require_memory(
        "the dense projector",
        8 * num_edges**2 + _work_bytes(report[LARGEST]),
        num_edges=num_edges,
        largest_block=report[LARGEST],
        hint="cycle_projectors (entries inside blocks only), projector_diagonal, or the shortest "
        "cycle basis",
        max_bytes=max_bytes,
    )
    matrix = np.zeros((num_edges, num_edges))
    if report[LARGEST] == 0:
        return matrix
    _sweep_graph(edges, num_nodes, report[LARGEST], matrix.reshape(-1))
    if report[NUM_LARGE]:
        found = blocks_of(edges, num_nodes)
        for block in np.flatnonzero(found.betti > SMALL_BETTI):
            rows = np.flatnonzero(found.edge_block == block)
            project_block(edges[:, rows], int(found.betti[block]), rows, matrix)
    return matrix


def cycle_projectors(
    edges: Integer[np.ndarray, "2 m"],
    edge_ptr: Integer[np.ndarray, " b1"],
    num_nodes: Integer[np.ndarray, " b"] | int,
    *,
    self_loops: Literal["raise", "cycle"] = "raise",
    multi_edges: Literal["raise", "distinct"] = "raise",
    num_threads: int = 1,
    max_bytes: int | None = None,
) -> PackedProjectors:
    """`cycle_projector` of many graphs in one call, as lists of the entries inside blocks.

    Each graph's entries equal those of `cycle_projector`, whatever its neighbours in the batch
    and the number of threads.

    Args:
        edges: Edges of all graphs, one graph after the other; nodes are counted within a graph.
        edge_ptr: Edges of graph i are `edge_ptr[i]:edge_ptr[i + 1]`.
        num_nodes: Number of nodes of each graph, or of every graph.
        self_loops: ``"cycle"`` takes a loop as a cycle of one edge.
        multi_edges: ``"distinct"`` takes parallel edges as cycles of two edges.
        num_threads: Threads to spread the graphs over.
        max_bytes: Refuse to take more memory than this; None means a quarter of what is free, at
            most 4 GB.

    Returns:
        The projectors; a forest has no pairs.

    Raises:
        GraphError: If an edge is a loop, repeated, reversed, or mentions a missing node; its
            `graph_index` names the graph.
        TooLargeError: If the answer would not fit; nothing has been allocated then.

    Example:
        >>> two = np.array([[0, 0, 1, 0], [1, 2, 2, 1]])
        >>> found = cycle_projectors(two, np.array([0, 3, 4]), np.array([3, 2]))
        >>> found.pair_ptr.tolist()
        [0, 9, 9]
    """
    edges, edge_ptr, num_nodes = check_packed_edges(
        edges, edge_ptr, num_nodes, self_loops=self_loops, multi_edges=multi_edges
    )
    num_graphs = num_nodes.size
    room = np.array([num_nodes.max(initial=0), np.diff(edge_ptr).max(initial=0), 0])
    reports = np.zeros((num_graphs, REPORT_COLUMNS), dtype=np.int64)

    def sweep(pair_ptr: np.ndarray, pair_edges: np.ndarray, values: np.ndarray) -> None:
        def work(first: int, last: int) -> None:
            project_small_blocks(
                edges[0], edges[1], edge_ptr, num_nodes, first, last, room, reports, False,
                pair_ptr, pair_edges, values,
            )  # fmt: skip

        in_threads(work, edge_ptr, num_threads)

    sweep(edge_ptr, _NO_PAIRS, _NO_VALUES)
    pair_ptr = np.concatenate(([0], np.cumsum(reports[:, PAIRS])))
    room[2] = reports[:, LARGEST].max(initial=0)
    require_memory(
        "the list of projector entries",
        PAIR_BYTES * int(pair_ptr[-1]) + _work_bytes(int(room[2])),
        num_edges=edges.shape[1],
        largest_block=int(room[2]),
        hint="fewer graphs at a time, or the shortest cycle basis",
        max_bytes=max_bytes,
    )
    pair_edges = np.empty((2, pair_ptr[-1]), dtype=np.int64)
    values = np.empty(pair_ptr[-1])
    if values.size:
        sweep(pair_ptr, pair_edges, values)
    for i in np.flatnonzero(reports[:, NUM_LARGE]):
        _project_large_blocks(
            edges[:, edge_ptr[i] : edge_ptr[i + 1]],
            int(num_nodes[i]),
            values[pair_ptr[i] : pair_ptr[i + 1]],
        )
    return PackedProjectors(edge_ptr, pair_ptr, pair_edges, values)


def projector_diagonal(
    edges: Integer[np.ndarray, "2 m"], num_nodes: int, *, max_bytes: int | None = None
) -> Float[np.ndarray, " m"]:
    r"""Diagonal of the cycle projector, without the matrix.

    $P_{ee} = 1 - R_e$, where $R_e$ is the effective resistance between the ends of e when every
    edge is a resistor of one unit. It is 0 exactly on bridges, $1/\ell$ on a lone cycle of length
    $\ell$, and sums to the Betti number. Reversing edges does not change it.

    Blocks of a few hundred nodes invert their Laplacian. In larger ones only the entries on
    edges are computed, in an order that keeps the work sparse.

    Args:
        edges: Undirected edges, each once, tail < head.
        num_nodes: Number of nodes.
        max_bytes: Refuse to take more memory than this; None means a quarter of what is free, at
            most 4 GB.

    Returns:
        One number in [0, 1) for each edge.

    Raises:
        GraphError: If an edge is a loop, repeated, reversed, or mentions a missing node.
        TooLargeError: If a block is both too large and too densely connected.

    Example:
        >>> projector_diagonal(np.array([[0, 0, 1, 2], [1, 2, 2, 3]]), 4).round(9).tolist()
        [0.333333333, 0.333333333, 0.333333333, 0.0]
    """
    edges = check_edges(edges, num_nodes)
    found = blocks_of(edges, num_nodes)
    diagonal = np.zeros(edges.shape[1])
    inside = np.flatnonzero(~found.bridges)
    block = found.edge_block[inside]
    diagonal[inside] = 1.0 / found.sizes[block]
    inside = inside[np.argsort(block, kind="stable")]
    ends = np.cumsum(found.sizes)
    for b in np.flatnonzero(found.betti > 1):
        rows = inside[ends[b] - found.sizes[b] : ends[b]]
        diagonal[rows] = 1.0 - effective_resistances(edges[:, rows], edges.shape[1], max_bytes)
    return diagonal


def arc_projector(
    projector: Float[np.ndarray, "m m"],
    arc_to_edge: Integer[np.ndarray, " a"],
    arc_sign: Integer[np.ndarray, " a"],
) -> Float[np.ndarray, "a a"]:
    r"""The projector of the graph whose every edge is two arcs, from the projector P of its edges.

    $$P_{\mathrm{arcs}}[a, b] = [a = b] - s_a s_b (I - P)[e_a, e_b] / 2 .$$

    The direction belongs to the arc, so it does not depend on which end of an edge came first.
    Where each edge has its two arcs, this is the orthogonal projector onto the kernel of the
    incidence matrix of the arcs: it has trace $2m - n + c$ and rows that sum to 1.

    Args:
        projector: P, from `cycle_projector`.
        arc_to_edge: Edge of each arc.
        arc_sign: +1 along the edge, -1 against it, 0 for an arc without an edge.

    Returns:
        The projector on arcs; arcs without an edge have zero rows and columns.

    Example:
        >>> arc_projector(np.zeros((1, 1)), np.array([0, 0]), np.array([1, -1])).tolist()
        [[0.5, 0.5], [0.5, 0.5]]
    """
    signs = arc_sign.astype(np.float64)
    if projector.shape[0] == 0:  # arcs without edges all the same point to edge 0
        return np.zeros((signs.size, signs.size))
    matrix = projector[np.ix_(arc_to_edge, arc_to_edge)]
    matrix -= arc_to_edge[:, None] == arc_to_edge[None, :]
    matrix *= 0.5 * signs[:, None] * signs[None, :]
    matrix[np.arange(signs.size), np.arange(signs.size)] += np.abs(signs)
    return matrix


def _sweep_graph(
    edges: Int[np.ndarray, "2 m"], num_nodes: int, largest: int, values: Float[np.ndarray, " mm"]
) -> list[int]:
    """The kernel on one graph: a report if there are no `values`, else the small blocks."""
    num_edges = edges.shape[1]
    reports = np.zeros((1, REPORT_COLUMNS), dtype=np.int64)
    project_small_blocks(
        edges[0], edges[1], np.array([0, num_edges]), np.array([num_nodes]), 0, 1,
        np.array([num_nodes, num_edges, largest]), reports, True, _START, _NO_PAIRS, values,
    )  # fmt: skip
    return reports[0].tolist()


def _project_large_blocks(
    edges: Int[np.ndarray, "2 m"], num_nodes: int, values: Float[np.ndarray, " p"]
) -> None:
    """Fill the places that the kernel has left for the blocks with many cycles."""
    found = blocks_of(edges, num_nodes)
    ends = np.cumsum(found.sizes**2)
    for block in np.flatnonzero(found.betti > SMALL_BETTI):
        size = int(found.sizes[block])
        out = values[ends[block] - size**2 : ends[block]].reshape(size, size)
        rows = np.flatnonzero(found.edge_block == block)
        project_block(edges[:, rows], int(found.betti[block]), np.arange(size), out)


def _work_bytes(largest_block: int) -> int:
    """Work space of a block: at most an inverse, two copies, with as many nodes as edges."""
    return 2 * 8 * largest_block**2
