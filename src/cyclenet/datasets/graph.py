"""A graph as the datasets hand it out, and many of them packed end to end."""

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Int


class Graph(NamedTuple):
    """An undirected graph; unpacks as ``edges, num_nodes``.

    Args:
        edges: Each undirected edge once, tail < head, sorted by (tail, head).
        num_nodes: Number of nodes; nodes without edges are counted.
    """

    edges: Int[np.ndarray, "2 m"]
    num_nodes: int


def relabelled(graph: Graph, names: Int[np.ndarray, " n"]) -> Graph:
    """The same graph under other names.

    Args:
        graph: The graph.
        names: The new name of every node, a permutation.

    Returns:
        An isomorphic graph, its edges sorted again.

    Example:
        >>> relabelled(Graph(np.array([[0], [1]]), 3), np.array([2, 1, 0])).edges.tolist()
        [[1], [2]]
    """
    ends = np.sort(names[graph.edges], axis=0)
    return Graph(ends[:, np.lexsort(ends[::-1])], graph.num_nodes)


if TYPE_CHECKING:
    GraphSequence = Sequence[Graph]
else:
    # Without its parameter at run time: a checker of types that looks into sequences would read a
    # graph at random from a file that is meant to be read when asked.
    GraphSequence = Sequence


class PackedGraphs(GraphSequence):
    """Many graphs in three arrays, the form in which the kernels on many graphs take them.

    Args:
        edges: Edges of all graphs one after the other; node ids start at 0 in each graph.
        edge_ptr: Edges of graph i are the columns `edge_ptr[i]:edge_ptr[i + 1]`.
        num_nodes: Number of nodes of each graph.
    """

    def __init__(
        self,
        edges: Int[np.ndarray, "2 m"],
        edge_ptr: Int[np.ndarray, " b1"],
        num_nodes: Int[np.ndarray, " b"],
    ) -> None:
        self.edges = edges
        self.edge_ptr = edge_ptr
        self.num_nodes = num_nodes

    def __len__(self) -> int:
        """Number of graphs."""
        return self.num_nodes.size

    def __getitem__(self, index: int) -> Graph:
        """Graph `index`, a view."""
        index = range(len(self))[index]
        first, last = self.edge_ptr[index], self.edge_ptr[index + 1]
        return Graph(self.edges[:, first:last], int(self.num_nodes[index]))


def pack_graphs(graphs: Iterable[Graph]) -> PackedGraphs:
    """Graphs one after the other in three arrays.

    Args:
        graphs: Any graphs; those without edges keep their place.

    Returns:
        The same graphs in the same order; packed graphs come back as they are.
    """
    if isinstance(graphs, PackedGraphs):
        return graphs
    blocks, num_nodes = zip(Graph(np.zeros((2, 0), dtype=np.int64), 0), *graphs, strict=True)
    sizes = np.fromiter(map(attrgetter("size"), blocks), dtype=np.int64, count=len(blocks))
    edges = np.concatenate(blocks, axis=1)
    return PackedGraphs(edges, np.cumsum(sizes // 2), np.array(num_nodes[1:], dtype=np.int64))
