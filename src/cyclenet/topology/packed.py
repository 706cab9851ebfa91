"""Many graphs in one pair of arrays, and threads over them."""

import operator
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, SupportsIndex, TypeVar

import numpy as np
from jaxtyping import Float, Int, Integer

from cyclenet.topology.edges import as_kernels_take_it, check_choice, check_edges, check_weights
from cyclenet.topology.errors import GraphError

Result = TypeVar("Result")

# Ranges per thread: enough to even out graphs of different cost, few enough to cost nothing.
RANGES_PER_THREAD = 4


def check_packed_edges(
    edges: Integer[np.ndarray, "2 m"],
    edge_ptr: Integer[np.ndarray, " b1"],
    num_nodes: Integer[np.ndarray, " b"] | int,
    *,
    self_loops: Literal["raise", "cycle"] = "raise",
    multi_edges: Literal["raise", "distinct"] = "raise",
) -> tuple[Int[np.ndarray, "2 m"], Int[np.ndarray, " b1"], Int[np.ndarray, " b"]]:
    """Packed graphs as int64, or an error that names the first bad graph and its column.

    Args:
        edges: Edges of all graphs; nodes are counted within a graph.
        edge_ptr: Edges of graph i are `edge_ptr[i]:edge_ptr[i + 1]`.
        num_nodes: Number of nodes of each graph, or of every graph.
        self_loops: ``"cycle"`` allows loops.
        multi_edges: ``"distinct"`` allows parallel edges.

    Returns:
        The edges, the pointers, and one number of nodes for each graph.

    Raises:
        GraphError: If the pointers do not fit the edges, or a graph is not what `check_edges`
            expects.
    """
    edges = np.asarray(edges)
    if edges.dtype.kind not in "iu" or edges.ndim != 2 or edges.shape[0] != 2:
        edges = check_edges(edges, 0)
    # Kernels are compiled for each kind of array they meet, so read-only ones are copied.
    edges = as_kernels_take_it(edges)
    check_choice("self_loops", self_loops, ("raise", "cycle"))
    check_choice("multi_edges", multi_edges, ("raise", "distinct"))
    edge_ptr = _as_integers(edge_ptr, name="edge_ptr")
    if edge_ptr.ndim != 1:
        raise GraphError(
            f"`edge_ptr` must be one row of numbers, but its shape is {edge_ptr.shape}",
            code="edge_ptr",
        )
    counts = np.diff(edge_ptr)
    fits = edge_ptr.size > 0 and edge_ptr[0] == 0 and edge_ptr[-1] == edges.shape[1]
    if not fits or (counts < 0).any():
        raise GraphError(
            f"`edge_ptr` must ascend from 0 to the number of edges, {edges.shape[1]}, but it is "
            f"{edge_ptr}",
            code="edge_ptr",
        )
    num_nodes = _for_each_graph(num_nodes, counts.size)
    if counts.size == 1:
        return _check_one_graph(edges, edge_ptr, num_nodes, self_loops, multi_edges, 0)
    tail, head = edges
    bad = (tail < 0) | (tail > head if self_loops == "cycle" else tail >= head)
    bad |= head >= np.repeat(num_nodes, counts)
    if multi_edges == "raise" and not bad.any():
        width = int(num_nodes.max(initial=1))
        key = tail * width + head
        ascends = key[1:] > key[:-1]
        firsts = edge_ptr[1:-1]
        ascends[firsts[(firsts > 0) & (firsts < key.size)] - 1] = True
        # Sorted edges, which `edges_from_arcs` gives, need no sort to be seen as free of repeats.
        if not ascends.all():
            key += np.repeat((np.cumsum(num_nodes) - num_nodes) * width, counts)
            order = np.argsort(key, kind="stable")
            bad[order[1:][key[order[1:]] == key[order[:-1]]]] = True
    if bad.any():
        i = int(np.searchsorted(edge_ptr, np.argmax(bad), side="right")) - 1
        _check_one_graph(edges, edge_ptr, num_nodes, self_loops, multi_edges, i)
    return edges, edge_ptr, num_nodes


def _check_one_graph(
    edges: Int[np.ndarray, "2 m"],
    edge_ptr: Int[np.ndarray, " b1"],
    num_nodes: Int[np.ndarray, " b"],
    self_loops: Literal["raise", "cycle"],
    multi_edges: Literal["raise", "distinct"],
    i: int,
) -> tuple[Int[np.ndarray, "2 m"], Int[np.ndarray, " b1"], Int[np.ndarray, " b"]]:
    """What came in, once graph i is sound; an error names the graph."""
    try:
        check_edges(
            edges[:, edge_ptr[i] : edge_ptr[i + 1]],
            int(num_nodes[i]),
            self_loops=self_loops,
            multi_edges=multi_edges,
        )
    except GraphError as error:
        error.graph_index = i
        raise
    return edges, edge_ptr, num_nodes


def check_packed_weights(
    weights: object, edge_ptr: Int[np.ndarray, " b1"]
) -> Float[np.ndarray, " m"]:
    """Weights of the edges of all graphs as float64, or an error that names the first bad graph.

    Args:
        weights: One finite, non-negative number for every edge.
        edge_ptr: Edges of graph i are `edge_ptr[i]:edge_ptr[i + 1]`.

    Returns:
        A contiguous float64 array.

    Raises:
        GraphError: If the length is wrong or a weight is not what `check_weights` expects.
    """
    try:
        return check_weights(weights, int(edge_ptr[-1]))
    except GraphError as error:
        if error.column is None:
            raise
        i = int(np.searchsorted(edge_ptr, error.column, side="right")) - 1
    first, last = edge_ptr[i], edge_ptr[i + 1]
    try:
        return check_weights(np.asarray(weights)[first:last], int(last - first))
    except GraphError as error:
        error.graph_index = i
        raise


def _for_each_graph(
    num_nodes: Integer[np.ndarray, " b"] | int, num_graphs: int
) -> Int[np.ndarray, " b"]:
    given = _as_integers(num_nodes, name="num_nodes")
    if given.ndim and given.shape != (num_graphs,):
        raise GraphError(
            f"`num_nodes` must be one number, or one for each of the {num_graphs} graphs, but its "
            f"shape is {given.shape}",
            code="num_nodes",
        )
    counts = np.full(num_graphs, given)
    if (counts < 0).any():
        i = int(np.argmax(counts < 0))
        raise GraphError(
            f"`num_nodes` must not be negative, but it is {counts[i]} for graph {i}",
            code="num_nodes",
            graph_index=i,
        )
    return counts


def _as_integers(numbers: object, *, name: str) -> np.ndarray:
    """Any whole numbers as contiguous int64; nothing is rounded. No numbers may be of any kind."""
    array = np.asarray(numbers)
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"`{name}` must hold whole numbers, but its dtype is {array.dtype}")
    return np.asarray(array, dtype=np.int64, order="C")


def position(i: SupportsIndex, count: int) -> int:
    """Number of a graph in a packed result, counted from the start.

    Args:
        i: Its number; negative numbers count from the end, as in a list.
        count: How many graphs there are.

    Returns:
        A number from 0 to `count` - 1.

    Raises:
        IndexError: If there is no such graph.
    """
    if not -count <= operator.index(i) < count:
        raise IndexError(f"`i` must be 0 to {count - 1}, but it is {i}")
    return operator.index(i) % count


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

    Raises:
        ValueError: If there is no such number of threads.
    """
    if isinstance(num_threads, bool) or not hasattr(num_threads, "__index__") or num_threads < 1:
        raise ValueError(f"`num_threads` must be a whole number from 1 on, but it is {num_threads}")
    num_graphs = edge_ptr.size - 1
    if num_threads == 1:
        return [work(0, num_graphs)]
    shares = np.linspace(0, edge_ptr[-1], RANGES_PER_THREAD * num_threads + 1)
    cuts = np.searchsorted(edge_ptr, shares)
    cuts[0], cuts[-1] = 0, num_graphs
    with ThreadPoolExecutor(num_threads) as pool:
        return list(pool.map(work, cuts[:-1].tolist(), cuts[1:].tolist()))
