"""Points and the simplices on them, as the tasks on complexes hand them out."""

from typing import NamedTuple

import numpy as np
import scipy.sparse
from jaxtyping import Float, Int, Integer

from cyclenet.datasets.graph import Graph
from cyclenet.topology import face_incidence


class PointComplex(NamedTuple):
    """A simplicial complex on points; simplices name their nodes in ascending order.

    Args:
        points: Coordinates of every node; nodes without an edge are counted.
        edges: One column for each edge, sorted.
        triangles: One column for each triangle, sorted; their sides are edges.
        tetrahedra: One column for each, sorted; none in the plane.
    """

    points: Float[np.ndarray, "n d"]
    edges: Int[np.ndarray, "2 m"]
    triangles: Int[np.ndarray, "3 f"]
    tetrahedra: Int[np.ndarray, "4 t"]

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self.points.shape[0]

    @property
    def graph(self) -> Graph:
        """Nodes and edges alone."""
        return Graph(self.edges, self.num_nodes)

    def boundary(self) -> scipy.sparse.csc_array:
        """B2: each triangle (i, j, k) is +1 on (i, j) and (j, k), -1 on (i, k)."""
        return face_incidence(self.edges, self.triangles, self.num_nodes)

    def edge_lengths(self) -> Float[np.ndarray, " m"]:
        """The Euclidean length of every edge."""
        tail, head = self.edges
        return np.linalg.norm(self.points[tail] - self.points[head], axis=1)


def sorted_simplices(simplices: Integer[np.ndarray, "k c"]) -> Int[np.ndarray, "k unique"]:
    """Simplices with their nodes in ascending order, each once, and sorted themselves.

    Args:
        simplices: One column for each, in any order.

    Returns:
        The same simplices.

    Example:
        >>> sorted_simplices(np.array([[3, 1, 0], [2, 0, 1]])).tolist()
        [[0, 2], [1, 3]]
    """
    return np.unique(np.sort(simplices.astype(np.int64), axis=0), axis=1)
