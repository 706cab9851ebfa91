"""Strongly regular graphs: nine families on which message passing is blind.

The lists are those of Ted Spence's tables, shipped as graph6.
"""

from importlib.resources import files
from typing import NamedTuple

import numpy as np
from jaxtyping import Integer

from cyclenet.datasets.errors import UnknownName
from cyclenet.datasets.graph6 import Graph6Graphs, read_graph6


class Family(NamedTuple):
    """Parameters (n, k, lambda, mu) of a strongly regular family, and how many graphs are shipped.

    Args:
        num_graphs: Number of graphs, pairwise not isomorphic.
        num_nodes: n.
        degree: k, the number of neighbours of every node.
        common_if_adjacent: lambda, the common neighbours of two adjacent nodes.
        common_if_not: mu, the common neighbours of two other nodes.
    """

    num_graphs: int
    num_nodes: int
    degree: int
    common_if_adjacent: int
    common_if_not: int


FAMILIES = {
    "sr16622": Family(2, 16, 6, 2, 2),
    "sr251256": Family(15, 25, 12, 5, 6),
    "sr261034": Family(10, 26, 10, 3, 4),
    "sr281264": Family(4, 28, 12, 6, 4),
    "sr291467": Family(41, 29, 14, 6, 7),
    "sr351668": Family(3854, 35, 16, 6, 8),
    "sr351899": Family(227, 35, 18, 9, 9),
    "sr361446": Family(180, 36, 14, 4, 6),
    "sr401224": Family(28, 40, 12, 2, 4),
}


def strongly_regular_graphs(name: str) -> Graph6Graphs:
    """All graphs of one shipped family, in the order of the published list.

    Args:
        name: A key of `FAMILIES`, such as ``"sr16622"`` (the Rook and the Shrikhande graph).

    Returns:
        A sequence of graphs, each decoded when it is asked for.

    Raises:
        UnknownName: If no family is called so.

    Example:
        >>> len(strongly_regular_graphs("sr251256"))
        15
    """
    if name not in FAMILIES:
        raise UnknownName("strongly regular family", name, FAMILIES, hint="cyclenet list datasets")
    folder = files("cyclenet.datasets") / "graphs"
    packed = ".gz" if name == "sr351668" else ""
    return read_graph6(str(folder / f"{name}.g6{packed}"))


def strongly_regular_parameters(
    edges: Integer[np.ndarray, "2 m"], num_nodes: int
) -> tuple[int, int, int, int] | None:
    r"""Parameters (n, k, $\lambda$, $\mu$) of a strongly regular graph.

    The law: the adjacency matrix satisfies $A^2 = kI + \lambda A + \mu (J - I - A)$.

    Args:
        edges: Undirected edges, each once.
        num_nodes: Number of nodes.

    Returns:
        The parameters, or None if the graph is not strongly regular (complete and edgeless graphs,
        where one of the two counts would be empty, are not).

    Example:
        >>> strongly_regular_parameters(np.array([[0, 1, 2, 0, 3], [1, 2, 3, 4, 4]]), 5)
        (5, 2, 0, 1)
    """
    adjacency = np.zeros((num_nodes, num_nodes), dtype=np.int64)
    adjacency[edges[0], edges[1]] = adjacency[edges[1], edges[0]] = 1
    walks = adjacency @ adjacency
    apart = 1 - adjacency - np.eye(num_nodes, dtype=np.int64)
    counts = [np.unique(walks[mask == 1]) for mask in (np.eye(num_nodes), adjacency, apart)]
    if any(values.size != 1 for values in counts):
        return None
    degree, common_if_adjacent, common_if_not = (int(values[0]) for values in counts)
    return num_nodes, degree, common_if_adjacent, common_if_not
