"""The graphs everything is measured on: shipped ones, and generated ones with fixed seeds."""

from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import cycle, islice

import numpy as np
from jaxtyping import Int
from scipy.spatial import Delaunay, KDTree

from cyclenet.datasets.cfi import cfi_graph
from cyclenet.datasets.graph import Graph
from cyclenet.datasets.molecules import molecule_graphs
from cyclenet.datasets.strongly_regular import FAMILIES, strongly_regular_graphs

_SEED = 1962

# Small graphs are measured many at a time, as in a dataset.
_SMALL_GRAPHS = 20


@cache
def graphs_of(family: str) -> list[Graph]:
    """The graphs of a family.

    Args:
        family: A key of `GENERATORS`.

    Returns:
        The same graphs every time, on every machine.
    """
    return GENERATORS[family]()


def relabelled(graph: Graph, rng: np.random.Generator) -> Graph:
    """The same graph under other node names.

    Args:
        graph: The graph.
        rng: Where the names come from.

    Returns:
        An isomorphic graph, edges sorted.
    """
    names = rng.permutation(graph.num_nodes)
    return _simple(names[graph.edges], graph.num_nodes)


def grid(rows: int, columns: int) -> Graph:
    """A grid, whose shortest basis is its squares: total length 4 (rows - 1)(columns - 1).

    Args:
        rows: Number of rows.
        columns: Number of columns.

    Returns:
        The graph, row by row.
    """
    node = np.arange(rows * columns).reshape(rows, columns)
    across = np.stack((node[:, :-1].ravel(), node[:, 1:].ravel()))
    down = np.stack((node[:-1].ravel(), node[1:].ravel()))
    return _simple(np.concatenate((across, down), axis=1), node.size)


def complete(num_nodes: int) -> Graph:
    """The complete graph.

    Args:
        num_nodes: Number of nodes.

    Returns:
        The graph.
    """
    return Graph(np.stack(np.triu_indices(num_nodes, 1)).astype(np.int64), num_nodes)


def delaunay(num_nodes: int, rng: np.random.Generator) -> Graph:
    """Delaunay triangulation of random points of the unit square.

    Args:
        num_nodes: Number of points.
        rng: Where the points come from.

    Returns:
        The sides of the triangles.
    """
    corners = Delaunay(rng.random((num_nodes, 2))).simplices
    sides = np.concatenate((corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]))
    return _simple(sides.T, num_nodes)


def nearest_neighbours(num_nodes: int, k: int, rng: np.random.Generator) -> Graph:
    """Random points of the unit square, each joined to its k nearest.

    Args:
        num_nodes: Number of points.
        k: Number of neighbours each point chooses.
        rng: Where the points come from.

    Returns:
        The graph; an edge chosen from both ends is one edge.
    """
    points = rng.random((num_nodes, 2))
    # The nearest point of all is the point itself.
    _, nearest = KDTree(points).query(points, k + 1)
    chosen = np.asarray(nearest)[:, 1:]
    return _simple(np.stack((np.repeat(np.arange(num_nodes), k), chosen.ravel())), num_nodes)


def cubic(num_nodes: int, rng: np.random.Generator) -> Graph:
    """A random 3-regular graph: three perfect matchings without a common edge.

    Args:
        num_nodes: Number of nodes, even.
        rng: Where the matchings come from.

    Returns:
        The graph.
    """
    while True:
        pairs = [rng.permutation(num_nodes).reshape(2, -1) for _ in range(3)]
        graph = _simple(np.concatenate(pairs, axis=1), num_nodes)
        if graph.edges.shape[1] == 3 * num_nodes // 2:
            return graph


def preferential(num_nodes: int, k: int, rng: np.random.Generator) -> Graph:
    """A graph grown by preferential attachment (Barabasi and Albert 1999).

    Args:
        num_nodes: Number of nodes.
        k: Number of edges each new node brings.
        rng: Where the choices come from.

    Returns:
        The graph, with k (num_nodes - k) edges.
    """
    ends = list(range(k))
    pairs = []
    for node in range(k, num_nodes):
        chosen: set[int] = set()
        while len(chosen) < k:
            chosen.add(ends[rng.integers(len(ends))])
        pairs += [(old, node) for old in sorted(chosen)]
        ends += [*sorted(chosen), *([node] * k)]
    return _simple(np.array(pairs).T, num_nodes)


def random_graph(num_nodes: int, num_edges: int, rng: np.random.Generator) -> Graph:
    """A graph with edges drawn at random (Erdos and Renyi 1959).

    Args:
        num_nodes: Number of nodes.
        num_edges: Number of edges.
        rng: Where the edges come from.

    Returns:
        The graph.
    """
    places = rng.choice(num_nodes * (num_nodes - 1) // 2, num_edges, replace=False)
    tail, head = np.triu_indices(num_nodes, 1)
    return _simple(np.stack((tail[places], head[places])), num_nodes)


def _molecules() -> list[Graph]:
    return list(molecule_graphs())


def _shuffled_molecules() -> list[Graph]:
    rng = np.random.default_rng(_SEED)
    return [relabelled(graph, rng) for graph in molecule_graphs()]


def _random(
    make: Callable[[np.random.Generator], Graph], count: int = 1
) -> Callable[[], list[Graph]]:
    """A family of random graphs."""

    def generate() -> list[Graph]:
        rng = np.random.default_rng(_SEED)
        return [make(rng) for _ in range(count)]

    return generate


def _copies(make: Callable[[], Iterable[Graph]], count: int) -> Callable[[], list[Graph]]:
    """A family of `count` graphs; where there are fewer, relabelled copies fill it."""

    def generate() -> list[Graph]:
        rng = np.random.default_rng(_SEED)
        graphs = list(islice(make(), count))
        more = (relabelled(graph, rng) for graph in cycle(tuple(graphs)))
        return graphs + list(islice(more, count - len(graphs)))

    return generate


def _simple(pairs: Int[np.ndarray, "2 a"], num_nodes: int) -> Graph:
    """The graph of pairs that may be repeated and turned around."""
    low, high = np.minimum(pairs[0], pairs[1]), np.maximum(pairs[0], pairs[1])
    keys = np.unique(low.astype(np.int64) * num_nodes + high)
    return Graph(np.stack((keys // num_nodes, keys % num_nodes)), num_nodes)


GENERATORS: dict[str, Callable[[], list[Graph]]] = {
    "molecules": _molecules,
    "molecules, shuffled ids": _shuffled_molecules,
    **{name: _copies(partial(strongly_regular_graphs, name), _SMALL_GRAPHS) for name in FAMILIES},
    "cfi:3": _copies(lambda: (cfi_graph(3, 0), cfi_graph(3, 1)), _SMALL_GRAPHS),
    "cfi:4": _copies(lambda: (cfi_graph(4, 0), cfi_graph(4, 1)), _SMALL_GRAPHS),
    "cfi:5": _copies(lambda: (cfi_graph(5, 0), cfi_graph(5, 1)), 2),
    "complete 20": _copies(lambda: [complete(20)], _SMALL_GRAPHS),
    "nearest neighbours 80": _random(lambda rng: nearest_neighbours(80, 3, rng), _SMALL_GRAPHS),
    "delaunay 75": _random(lambda rng: delaunay(75, rng), _SMALL_GRAPHS),
    "delaunay 1000": _random(lambda rng: delaunay(1000, rng)),
    "grid 30x30": lambda: [grid(30, 30)],
    "grid 100x100": lambda: [grid(100, 100)],
    "cubic 500": _random(lambda rng: cubic(500, rng)),
    "cubic 1000": _random(lambda rng: cubic(1000, rng)),
    "preferential 1000": _random(lambda rng: preferential(1000, 2, rng)),
    "random 1000": _random(lambda rng: random_graph(1000, 2000, rng)),
    "random 2500": _random(lambda rng: random_graph(2500, 5000, rng)),
}
