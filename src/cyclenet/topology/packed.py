"""Many graphs in one pair of arrays, and threads over them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from jaxtyping import Int, Integer

from cyclenet.topology.edges import check_edges
from cyclenet.topology.errors import GraphError

Result = TypeVar("Result")

# Ranges per thread: enough to even out graphs of different cost, few enough to cost nothing.
RANGES_PER_THREAD = 4


def check_packed_edges(
    edges: Integer[np.ndarray, "2 m"],
    edge_ptr: Integer[np.ndarray, " b1"],
    num_nodes: Integer[np.ndarray, " b"] | int,
) -> tuple[Int[np.ndarray, "2 m"], Int[np.ndarray, " b1"], Int[np.ndarray, " b"]]:
    """Packed graphs as int64, or an error that names the first bad graph and its column.

    Args:
        edges: Edges of all graphs; nodes are counted within a graph.
        edge_ptr: Edges of graph i are `edge_ptr[i]:edge_ptr[i + 1]`.
        num_nodes: Number of nodes of each graph, or of every graph.

    Returns:
        The edges, the pointers, and one number of nodes for each graph.

    Raises:
        GraphError: If the pointers do not fit the edges, or a graph is not what `check_edges`
            expects.
    """
    edge_ptr = np.ascontiguousarray(edge_ptr, dtype=np.int64)
    counts = np.diff(edge_ptr)
    fits = edge_ptr.size > 0 and edge_ptr[0] == 0 and edge_ptr[-1] == edges.shape[1]
    if not fits or (counts < 0).any():
        raise GraphError(
            f"`edge_ptr` must ascend from 0 to the number of edges, {edges.shape[1]}, but it is "
            f"{edge_ptr}",
            code="edge_ptr",
        )
    num_nodes = np.ascontiguousarray(
        np.broadcast_to(np.asarray(num_nodes, dtype=np.int64), counts.shape)
    )
    edges = np.ascontiguousarray(edges, dtype=np.int64)
    tail, head = edges
    graph = np.repeat(np.arange(counts.size), counts)
    bad = (tail < 0) | (tail >= head) | (head >= num_nodes[graph])
    if not bad.any():
        first_node = np.cumsum(num_nodes) - num_nodes
        width = int(num_nodes.max(initial=1))
        key = (first_node[graph] + tail) * width + head
        if not np.all(key[1:] > key[:-1]):
            order = np.argsort(key, kind="stable")
            bad[order[1:][key[order[1:]] == key[order[:-1]]]] = True
    if bad.any():
        i = int(graph[np.argmax(bad)])
        try:
            check_edges(edges[:, edge_ptr[i] : edge_ptr[i + 1]], int(num_nodes[i]))
        except GraphError as error:
            error.graph_index = i
            raise
    return edges, edge_ptr, num_nodes


def in_threads(
    work: Callable[[int, int], Result], edge_ptr: Int[np.ndarray, " b1"], num_threads: int
) -> list[Result]:
    """Call `work(first, last)` on ranges of graphs with about the same number of edges.

    Args:
        work: Takes the graphs first..last; must not care about the order of the calls.
        edge_ptr: Edges of graph i are `edge_ptr[i]:edge_ptr[i + 1]`.
        num_threads: Number of threads; with 1 there is one call.

    Returns:
        What `work` returned, in the order of the graphs.
    """
    num_graphs = edge_ptr.size - 1
    if num_threads == 1:
        return [work(0, num_graphs)]
    shares = np.linspace(0, edge_ptr[-1], RANGES_PER_THREAD * num_threads + 1)
    cuts = np.searchsorted(edge_ptr, shares)
    cuts[0], cuts[-1] = 0, num_graphs
    with ThreadPoolExecutor(num_threads) as pool:
        return list(pool.map(work, cuts[:-1].tolist(), cuts[1:].tolist()))
