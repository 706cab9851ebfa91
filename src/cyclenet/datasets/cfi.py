"""Pairs of graphs that message passing cannot tell apart (Cai, Fuerer, Immerman 1992)."""

import itertools
from collections.abc import Callable

import numpy as np
from jaxtyping import Int

from cyclenet.datasets.graph import Graph


def cfi_graph(k: int, twist: int = 0) -> Graph:
    r"""The graph $G_k^{(l)}$ of the family built over the complete graph on k + 1 nodes.

    Its nodes are pairs (a, v) of a corner $a \in \{1..k+1\}$ and a bit string
    $v \in \{0,1\}^k$ with an even number of ones where $a \le k-l+1$ and an odd number otherwise.
    Two nodes are adjacent iff for some $t \in \{1..k\}$

    $$a' = a + t \bmod (k+1), \qquad v_t = v'_{k-t+1} .$$

    There are $(k+1)\,2^{k-1}$ nodes, all of degree $k\,2^{k-2}$. Up to isomorphism only the parity
    of the twist l matters. For k = 3 the two classes are the Rook graph and the Shrikhande graph.

    Args:
        k: Number of bits, at least 2.
        twist: l, the number of corners with odd strings, 0 to k + 1.

    Returns:
        The graph, corner by corner.

    Raises:
        ValueError: If k or the twist is out of range.

    Example:
        >>> edges, num_nodes = cfi_graph(4)
        >>> edges.shape[1], num_nodes
        (320, 40)
    """
    if not 2 <= k <= 10:
        raise ValueError(f"`k` must be 2 to 10, but it is {k}")
    if not 0 <= twist <= k + 1:
        raise ValueError(f"`twist` must be 0 to k + 1 = {k + 1}, but it is {twist}")
    strings = np.array(list(itertools.product((0, 1), repeat=k)))
    parity = strings.sum(axis=1) % 2
    corners = [strings[parity == int(a > k - twist + 1)] for a in range(1, k + 2)]
    size = 2 ** (k - 1)
    found = []
    for a, b in itertools.combinations(range(k + 1), 2):
        t = b - a
        equal = corners[a][:, None, t - 1] == corners[b][None, :, k - t]
        tail, head = np.nonzero(equal)
        found.append(np.stack((a * size + tail, b * size + head)))
    return Graph(_sorted_edges(np.concatenate(found, axis=1)), (k + 1) * size)


def rook_graph() -> Graph:
    """The 4 x 4 Rook graph: squares of a board, adjacent iff in one row or one column.

    Strongly regular with parameters (16, 6, 2, 2), like the Shrikhande graph.

    Returns:
        The graph; node 4 r + c is the square in row r and column c.
    """
    return _graph_on_squares(lambda row, column: (row == 0) != (column == 0))


def shrikhande_graph() -> Graph:
    """The Shrikhande graph: Z4 x Z4, adjacent iff the difference is ±(1, 0), ±(0, 1) or ±(1, 1).

    Strongly regular with parameters (16, 6, 2, 2), like the Rook graph; colour refinement, in one
    and in two dimensions, sees no difference between them.

    Returns:
        The graph; node 4 r + c is (r, c).
    """
    steps = {(0, 1), (0, 3), (1, 0), (3, 0), (1, 1), (3, 3)}
    return _graph_on_squares(lambda row, column: (row, column) in steps)


def _graph_on_squares(adjacent: Callable[[int, int], bool]) -> Graph:
    """Graph on Z4 x Z4 whose edges depend on the difference of two squares only."""
    pairs = [
        (first, second)
        for first, second in itertools.combinations(range(16), 2)
        if adjacent((second // 4 - first // 4) % 4, (second - first) % 4)
    ]
    return Graph(np.array(pairs, dtype=np.int64).T.copy(), 16)


def _sorted_edges(edges: Int[np.ndarray, "2 m"]) -> Int[np.ndarray, "2 m"]:
    return edges[:, np.lexsort((edges[1], edges[0]))]
