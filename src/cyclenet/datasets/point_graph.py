"""Points in the plane and the graph of their nearest neighbours."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from cyclenet.datasets.graph import Graph
from cyclenet.topology import edges_from_arcs


class PointGraph(NamedTuple):
    """Points on circles, a graph on them, and what is to be learned.

    Args:
        points: Coordinates of every node.
        circle: The circle each node was drawn on; the big one is 0.
        graph: The graph; node i is point i.
        target: The numbers to predict.
    """

    points: Float[np.ndarray, "n 2"]
    circle: Int[np.ndarray, " n"]
    graph: Graph
    target: Float[np.ndarray, " t"]


def nearest_neighbour_graph(points: Float[np.ndarray, "n 2"], num_neighbours: int) -> Graph:
    """The graph that joins every point to its nearest other points.

    Two points are adjacent iff one is among the nearest of the other, so degrees are at least
    `num_neighbours` and may be larger. Of points at equal distance the first ones count as nearer.

    Args:
        points: One row for every node.
        num_neighbours: How many others each point chooses; all others if there are fewer.

    Returns:
        The graph, without loops.

    Example:
        >>> row = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [6.0, 0.0]])
        >>> nearest_neighbour_graph(row, 1).edges.tolist()
        [[0, 1, 2], [1, 2, 3]]
    """
    num_nodes = points.shape[0]
    # Not by the product of the coordinates, which would lose the digits that decide near ties.
    squared = np.square(points[:, None] - points[None]).sum(axis=2)
    np.fill_diagonal(squared, -1.0)
    chosen = np.argsort(squared, axis=1, kind="stable")[:, 1 : num_neighbours + 1]
    tails = np.repeat(np.arange(num_nodes), chosen.shape[1])
    arcs = np.stack((tails, chosen.ravel()))
    return Graph(edges_from_arcs(arcs, num_nodes).edges, num_nodes)
