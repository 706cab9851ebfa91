"""Where to put the nodes of a graph on paper: the same place every time."""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from cyclenet.datasets.errors import MissingExtra

# Minimising all pairwise tensions is the prettiest layout and cubic in the number of nodes.
_MOST_FOR_TENSIONS = 150
_MOST_FOR_MANY_ATTEMPTS = 60
_MOST_FOR_CROSSINGS = 1000
_SPRING_SEED = 0
# Rounding hides the last bits, which differ from one machine to the next.
_DECIMALS = 4


def node_positions(edges: Int[np.ndarray, "2 m"], num_nodes: int) -> Float[np.ndarray, "n 2"]:
    """A place for each node in the square from (-1, -1) to (1, 1).

    Each component is laid out on its own and turned so that it is wider than high; components
    stand beside each other on shelves, largest first.

    Args:
        edges: Undirected edges.
        num_nodes: Number of nodes.

    Returns:
        The places; equal input gives equal output.

    Raises:
        MissingExtra: If networkx is not installed.
    """
    nx = _networkx()
    graph = nx.Graph()
    graph.add_nodes_from(range(num_nodes))
    graph.add_edges_from(edges.T.tolist())
    components = [sorted(nodes) for nodes in nx.connected_components(graph)]
    components.sort(key=lambda nodes: (-len(nodes), nodes[0]))
    positions = np.zeros((num_nodes, 2))
    boxes = []
    for nodes in components:
        places = _component_positions(graph.subgraph(nodes), nodes)
        positions[nodes] = places
        boxes.append(places.max(axis=0) + 0.7)
    for nodes, corner in zip(components, _on_shelves(boxes), strict=True):
        positions[nodes] += corner
    return np.round(_into_square(positions), _DECIMALS) + 0.0


def _networkx() -> ModuleType:
    """networkx, imported when something is drawn."""
    try:
        import networkx
    except ImportError:
        raise MissingExtra("networkx", extra="bench", needed_for="drawing a graph") from None
    return networkx


def _component_positions(graph: Any, nodes: list[int]) -> Float[np.ndarray, "n 2"]:
    """Places of one connected graph, its lower left corner at (0, 0), edges about 1 long."""
    if len(nodes) == 1:
        return np.zeros((1, 2))
    index = {node: row for row, node in enumerate(nodes)}
    ends = np.array([(index[a], index[b]) for a, b in graph.edges])
    best, fewest = None, None
    for places in _attempts(graph):
        array = np.array([places[node] for node in nodes], dtype=np.float64)
        crossings = _num_crossings(array[ends])
        if fewest is None or crossings < fewest:
            best, fewest = array, crossings
        if fewest == 0:
            break
    array = _turned_wide(best - best.mean(axis=0))
    length = np.median(np.linalg.norm(array[ends[:, 0]] - array[ends[:, 1]], axis=1))
    return (array - array.min(axis=0)) / max(length, 1e-9)


def _attempts(graph: Any) -> Iterator[dict[int, np.ndarray]]:
    """Layouts to choose from, made one by one: minima of the tensions from different starts."""
    nx = _networkx()
    if len(graph) > _MOST_FOR_TENSIONS:
        yield nx.spring_layout(graph, seed=_SPRING_SEED, iterations=100)
        return
    yield nx.kamada_kawai_layout(graph)
    if len(graph) > _MOST_FOR_MANY_ATTEMPTS or not nx.check_planarity(graph)[0]:
        return
    # A start without crossings seldom makes new ones, but may stay in a poor minimum.
    yield nx.kamada_kawai_layout(graph, pos=nx.planar_layout(graph))
    yield nx.kamada_kawai_layout(graph, pos=_apart(nx.spectral_layout(graph)))
    for seed in range(4):
        yield nx.kamada_kawai_layout(graph, pos=nx.spring_layout(graph, seed=seed))


def _apart(places: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
    """Every place moved a little its own way: tensions of nodes on one spot are not defined."""
    turns = np.linspace(0, 2 * np.pi, len(places), endpoint=False)
    moves = 1e-2 * np.stack((np.cos(turns), np.sin(turns)), axis=1)
    return {node: place + move for (node, place), move in zip(places.items(), moves, strict=True)}


def _num_crossings(segments: Float[np.ndarray, "m 2 2"]) -> int:
    """Number of pairs of edges that cross between their ends."""
    if segments.shape[0] > _MOST_FOR_CROSSINGS:
        return 0
    start, end = segments[:, 0], segments[:, 1]

    def side(points: Float[np.ndarray, "m 2"]) -> Float[np.ndarray, "m m"]:
        along, away = end - start, points[None] - start[:, None]
        turn = along[:, None, 0] * away[..., 1] - along[:, None, 1] * away[..., 0]
        return np.where(np.abs(turn) < 1e-9, 0, np.sign(turn))

    parted = side(start) * side(end) < 0
    return int((parted & parted.T).sum()) // 2


def _turned_wide(places: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 2"]:
    """The cloud with its long axis horizontal, and the first node in the upper left."""
    axes = np.linalg.svd(places, full_matrices=False)[2]
    turned = places @ axes.T
    return turned * np.where(turned[0] * np.array([-1, 1]) < -1e-6, -1, 1)


def _on_shelves(boxes: list[Float[np.ndarray, " 2"]]) -> list[Float[np.ndarray, " 2"]]:
    """Corners of boxes set on shelves about as wide as all of them are high."""
    area = sum(float(width * height) for width, height in boxes)
    limit = max([np.sqrt(area) * 1.2, *(width for width, _ in boxes)])
    corners, x, y, shelf = [], 0.0, 0.0, 0.0
    for width, height in boxes:
        if x and x + width > limit:
            x, y, shelf = 0.0, y - shelf, 0.0
        corners.append(np.array((x, y - height)))
        x, shelf = x + width, max(shelf, height)
    return corners


def _into_square(positions: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 2"]:
    if positions.shape[0] == 0:
        return positions
    low, high = positions.min(axis=0), positions.max(axis=0)
    return 2 * (positions - (low + high) / 2) / max(float((high - low).max()), 1e-9)
