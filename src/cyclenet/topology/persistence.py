"""Extended persistence of a graph under a function on its nodes.

The graph is built twice: upwards, nodes and edges appearing by increasing value, and downwards by
decreasing value. An edge has the larger value of its ends on the way up and the smaller on the way
down. Whatever appears on the way up (a component, a cycle) is undone at one moment of the way down
or before, and the pairs of moments are what stays the same under every relabelling.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, Integer, Shaped

from cyclenet.topology.compiled import entry
from cyclenet.topology.edges import check_edges
from cyclenet.topology.errors import GraphError

Pairs = Float[np.ndarray, "pairs 2"]


class ExtendedPersistence(NamedTuple):
    """All extended persistence pairs of a graph, each part as rows (birth, death), sorted.

    Pairs that are born and die at the same value are left out, except from `cycles`.

    Args:
        branches: Components of the way up that join an older one (ordinary, dimension 0), born at
            a local minimum and ended where they join.
        forks: The same on the way down (relative, dimension 1), so that birth is above death.
        components: Least and greatest value of every component (extended, dimension 0).
        cycles: One pair for each independent cycle (extended, dimension 1).
    """

    branches: Pairs
    forks: Pairs
    components: Pairs
    cycles: Pairs


def extended_persistence(
    edges: Integer[np.ndarray, "2 m"],
    num_nodes: int,
    node_values: Shaped[np.ndarray, " n"],
) -> Pairs:
    r"""Extended persistence of the cycles of a graph: (birth, death) of each.

    A cycle is born when its last edge appears on the way up, and dies when the way down has
    completed a cycle of the same class. There are as many pairs as the Betti number, and birth is
    never below death. The law that fixes them: for all $s$ and $t$, the number of pairs with birth
    $\le s$ and death $\ge t$ is the Betti number of the subgraph on the nodes with values in
    $[t, s]$.

    Args:
        edges: Undirected edges, each once, tail < head.
        num_nodes: Number of nodes.
        node_values: A finite value for every node.

    Returns:
        One row (birth, death) for each independent cycle, in ascending order.

    Raises:
        GraphError: If an edge is a loop, repeated, reversed, or mentions a missing node, or a
            value is missing or not finite.
        TypeError: If the values are not real numbers.

    Example:
        >>> square = np.array([[0, 0, 1, 2], [1, 2, 3, 3]])
        >>> extended_persistence(square, 4, np.array([0.0, 1.0, 2.0, 3.0])).tolist()
        [[3.0, 0.0]]
    """
    edges = check_edges(edges, num_nodes)
    values = _check_values(node_values, num_nodes)
    return _cycle_pairs(edges, num_nodes, values)


def extended_persistence_diagrams(
    edges: Integer[np.ndarray, "2 m"],
    num_nodes: int,
    node_values: Shaped[np.ndarray, " n"],
) -> ExtendedPersistence:
    """Extended persistence of a graph in all dimensions.

    Turning the function upside down negates the pairs of `branches` and `forks` and exchanges the
    two; a pair (birth, death) of the other parts becomes (-death, -birth).

    Args:
        edges: Undirected edges, each once, tail < head.
        num_nodes: Number of nodes.
        node_values: A finite value for every node.

    Returns:
        The four parts of the diagram.

    Raises:
        GraphError: As `extended_persistence`.

    Example:
        >>> path = np.array([[0, 1], [1, 2]])
        >>> found = extended_persistence_diagrams(path, 3, np.array([0.0, 2.0, 1.0]))
        >>> found.branches.tolist(), found.components.tolist()
        ([[1.0, 2.0]], [[0.0, 2.0]])
    """
    edges = check_edges(edges, num_nodes)
    values = _check_values(node_values, num_nodes)
    branches, lowest = _join_upwards(edges, values)
    forks, highest = _join_upwards(edges, -values)
    least = np.flatnonzero(lowest == np.arange(num_nodes))
    spans = np.stack((values[least], values[highest[least]]), axis=1)
    return ExtendedPersistence(
        _sorted(branches), _sorted(-forks), _sorted(spans), _cycle_pairs(edges, num_nodes, values)
    )


def _cycle_pairs(edges: Int[np.ndarray, "2 m"], num_nodes: int, values: np.ndarray) -> Pairs:
    """The pairs of `extended_persistence`, by one pass over the edges on the way down."""
    # Among the edges met so far, keep a forest of those that came earliest on the way up. An edge
    # that closes a cycle with it drives the latest edge of that cycle out. The edges driven out by
    # the time t are those that close a cycle on the way up within the edges met by t, which is what
    # the law counts; so each is paired with the edge that drove it out.
    rise = values[edges].max(axis=0, initial=-np.inf)
    fall = values[edges].min(axis=0, initial=np.inf)
    upwards = np.argsort(rise, kind="stable")
    downwards = np.argsort(-fall, kind="stable")
    rank = np.empty_like(upwards)
    rank[upwards] = np.arange(rank.size)
    driven_out = np.empty(rank.size, dtype=np.int64)
    # The answer does not depend on the priorities; that they are random keeps the paths short.
    priority = np.random.default_rng(0).permutation(num_nodes)
    _drive_out(edges[0], edges[1], downwards, rank, priority, driven_out)
    closing = driven_out < rank.size
    births = rise[upwards[driven_out[closing]]]
    return _sorted(np.stack((births, fall[downwards[closing]]), axis=1))


def _join_upwards(
    edges: Int[np.ndarray, "2 m"], values: np.ndarray
) -> tuple[Pairs, Int[np.ndarray, " n"]]:
    """Pairs (birth, death) of the components that join an older one, and each node's oldest."""
    rise = values[edges].max(axis=0, initial=-np.inf)
    order = np.argsort(rise, kind="stable")
    leader = np.arange(values.size)
    ended = np.empty(order.size, dtype=np.int64)
    _join_older(edges[0], edges[1], order, values, leader, ended)
    joins = ended >= 0
    pairs = np.stack((values[ended[joins]], rise[order[joins]]), axis=1)
    return pairs[pairs[:, 0] != pairs[:, 1]], leader


def _check_values(node_values: Shaped[np.ndarray, " n"], num_nodes: int) -> np.ndarray:
    values = np.asarray(node_values)
    if values.dtype.kind not in "fiub":
        raise TypeError(f"`node_values` must hold real numbers, but their dtype is {values.dtype}")
    values = np.ascontiguousarray(values, dtype=np.float64)
    if values.shape != (num_nodes,):
        raise GraphError(
            f"`node_values` must hold one number for each of the {num_nodes} nodes, but its shape "
            f"is {values.shape}",
            code="node_values_shape",
        )
    if not np.isfinite(values).all():
        node = int(np.argmin(np.isfinite(values)))
        raise GraphError(
            f"`node_values` must be finite, but node {node} has {values[node]}",
            code="node_value",
        )
    return values


def _sorted(pairs: Pairs) -> Pairs:
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


@entry
def _join_older(tail, head, order, values, leader, ended):
    """Kruskal's walk over the edges; a component is led by its lowest node.

    `ended[i]` is the leader that gives way at the i-th edge, -1 if the edge closes a cycle. In the
    end `leader` holds the lowest node of every node's component.
    """
    for i in range(order.size):
        young, old = tail[order[i]], head[order[i]]
        while leader[young] != young:
            leader[young] = leader[leader[young]]
            young = leader[young]
        while leader[old] != old:
            leader[old] = leader[leader[old]]
            old = leader[old]
        if values[young] < values[old]:
            young, old = old, young
        leader[young] = old
        ended[i] = young if young != old else -1
    for v in range(leader.size):
        oldest = v
        while leader[oldest] != oldest:
            oldest = leader[oldest]
        leader[v] = oldest


@entry
def _drive_out(tail, head, order, rank, priority, driven_out):
    """Insert edges into a minimum spanning forest; `driven_out[i]` is the rank that leaves at i.

    The forest kept has not the edges of the minimum spanning forest but its ranks: for every k, the
    edges of rank below k connect the same nodes in both. To insert (u, v, k), climb from both
    ends over ranks below k. If the two meet, k closes a cycle. Otherwise one top is hung below the
    other with rank k, and its old edge upwards, now between the other top and the old parent, is
    inserted in the same way. Parents have greater priorities. When nothing leaves, `driven_out`
    is the number of edges.
    """
    none = rank.size
    parent = np.arange(priority.size)
    key = np.full(priority.size, none)
    for i in range(order.size):
        u, v, k = tail[order[i]], head[order[i]], rank[order[i]]
        while k < none:
            while key[u] < k:
                u = parent[u]
            while key[v] < k:
                v = parent[v]
            if u == v:
                break
            if priority[u] > priority[v]:
                u, v = v, u
            above, later = parent[u], key[u]
            parent[u], key[u] = v, k
            u, k = above, later
        driven_out[i] = k
