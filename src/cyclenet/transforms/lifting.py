"""From a graph to a 2-complex over it: some of its cycles become faces. And what that changes."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array

from cyclenet.data import CycleData
from cyclenet.topology import GraphError, UndirectedEdges, clique_complex, ring_complex
from cyclenet.topology.complexes import MAX_FACES, check_length
from cyclenet.topology.edge_sums import hodge_sums_of
from cyclenet.transforms.arcs import CycleTransform


@dataclass(kw_only=True, eq=False)
class LiftToRingComplex(CycleTransform):
    r"""Fills the rings of a graph: all cycles without a chord, up to a length.

    The faces are oriented, $B_1 B_2 = 0$, and listed by ascending length. They belong to the
    graph: relabelling permutes them. Adds `edges`, `arc_to_edge`, `arc_sign`, `face_incidence`,
    `face_sign` and `num_faces`, see `CycleData`, and takes the place of the faces of a graph that
    has some.

    Args:
        max_length: Most edges of a ring, 3 or more. The published networks use 6 for strongly
            regular graphs and 18 for ZINC.
        max_faces: A graph with more rings than this is refused with `TooManyFaces`.
        max_memory: Bytes that the list of the rings of one graph may take. A larger graph is
            refused with `TooLargeError`. None allows a quarter of the free memory, at most 4 GB.

    The other arguments are those of `CycleTransform`. A loop that is kept is a ring of one edge,
    two parallel edges are a ring of two, and either is a chord of what else passes by.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> square = torch.tensor([[0, 0, 1, 2], [1, 2, 3, 3]])
        >>> data = LiftToRingComplex()(Data(edge_index=square, num_nodes=4))
        >>> data.face_incidence.tolist(), data.face_sign.tolist()
        ([[0, 1, 2, 3], [0, 0, 0, 0]], [1, -1, 1, -1])
    """

    max_length: int = 6
    max_faces: int = MAX_FACES
    max_memory: int | None = None

    def __post_init__(self) -> None:
        """Refuse an impossible length now and not at the first graph.

        Raises:
            ValueError: If `max_length` is below 3, or an argument is not one of the choices that
                its annotation lists.
            TypeError: If `dtype` is no floating type, or a number is none.
        """
        check_length(self.max_length)
        super().__post_init__()

    def numbers(
        self, graph: CycleData, found: UndirectedEdges, num_nodes: int
    ) -> dict[str, np.ndarray]:
        """The rings of one graph.

        Args:
            graph: Not needed here.
            found: Its undirected edges.
            num_nodes: Number of nodes.

        Returns:
            The attributes that are added besides the edges.

        Raises:
            TooManyFaces: If there are more than `max_faces`.
            TooLargeError: If the list would take more memory than allowed.
        """
        return _stored(
            ring_complex(
                found.edges,
                num_nodes,
                self.max_length,
                self.max_faces,
                max_bytes=self.max_memory,
                **self.kept(),
            )
        )


@dataclass(kw_only=True, eq=False)
class LiftToCliqueComplex(CycleTransform):
    """Fills the triangles of a graph: its clique complex, up to dimension 2.

    The same as `LiftToRingComplex` with `max_length` = 3. Adds the same attributes.

    Args:
        max_faces: A graph with more triangles than this is refused with `TooManyFaces`.
        max_memory: Bytes that the list of the triangles of one graph may take. A larger graph is
            refused with `TooLargeError`. None allows a quarter of the free memory, at most 4 GB.

    The other arguments are those of `CycleTransform`.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> triangle = torch.tensor([[0, 0, 1], [1, 2, 2]])
        >>> data = LiftToCliqueComplex()(Data(edge_index=triangle, num_nodes=3))
        >>> data.num_faces.tolist(), data.face_sign.tolist()
        ([1], [1, -1, 1])
    """

    max_faces: int = MAX_FACES
    max_memory: int | None = None

    def numbers(
        self, graph: CycleData, found: UndirectedEdges, num_nodes: int
    ) -> dict[str, np.ndarray]:
        """The triangles of one graph.

        Args:
            graph: Not needed here.
            found: Its undirected edges.
            num_nodes: Number of nodes.

        Returns:
            The attributes that are added besides the edges.

        Raises:
            TooManyFaces: If there are more than `max_faces`.
            TooLargeError: If the list would take more memory than allowed.
        """
        return _stored(
            clique_complex(
                found.edges,
                num_nodes,
                self.max_faces,
                max_bytes=self.max_memory,
                **self.kept(),
            )
        )


@dataclass(kw_only=True, eq=False)
class AddHodgeSums(CycleTransform):
    r"""Adds what contractions read of the Hodge 1-Laplacian of a 2-complex, without the matrix.

    With $L = B_1^\top B_1 + B_2 B_2^\top$ these are, for each edge, the entry on the diagonal and
    the sums of its row, of entries and of their sizes: `topology.hodge_sums`. The first and the
    last belong to the complex; the second changes with the directions of the edges. They are
    whole numbers; to have those of $L / \lambda$ divide them by `laplacian_bounds`.

    The numbers are those of the faces that the graph has: lift it first. For the 1-skeleton alone
    nothing has to be stored: the encoders compute its numbers where they need them.

    Adds `edges`, `arc_to_edge`, `arc_sign` and `hodge_sums`; see `CycleData`.

    The arguments are those of `CycleTransform`.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> triangle = Data(edge_index=torch.tensor([[0, 0, 1], [1, 2, 2]]), num_nodes=3)
        >>> AddHodgeSums()(LiftToCliqueComplex()(triangle)).hodge_sums.tolist()
        [[3.0, 3.0, 3.0], [3.0, 3.0, 3.0], [3.0, 3.0, 3.0]]
    """

    def numbers(
        self, graph: CycleData, found: UndirectedEdges, num_nodes: int
    ) -> dict[str, np.ndarray]:
        """The sums of one graph.

        Args:
            graph: The graph with its faces.
            found: Its undirected edges.
            num_nodes: Number of nodes.

        Returns:
            The attributes that are added besides the edges.

        Raises:
            GraphError: If the graph has not been lifted to a complex.
        """
        sums = hodge_sums_of(found.edges, num_nodes, boundary_of(graph, found))
        return {"hodge_sums": sums.astype(np.float64)}


def boundary_of(graph: CycleData, found: UndirectedEdges) -> csc_array:
    """B2 of a graph that has been lifted.

    Args:
        graph: The graph with its faces.
        found: Its undirected edges.

    Returns:
        The incidence matrix of edges and faces, of whole numbers.

    Raises:
        GraphError: If it has not been lifted.
    """
    if "face_incidence" not in graph:
        raise GraphError(
            "`data` must have the faces of a complex, but it has no `face_incidence`; try: "
            "LiftToCliqueComplex() before this transform",
            code="numbers_missing",
        )
    signs = graph.face_sign.cpu().numpy().astype(np.int64)
    rows, columns = graph.face_incidence.cpu().numpy()
    return csc_array(
        (signs, (rows, columns)), shape=(found.edges.shape[1], int(graph.num_faces.sum()))
    )


def _stored(boundary: csc_array) -> dict[str, np.ndarray]:
    """The faces as `CycleData` stores them."""
    num_faces = boundary.indptr.size - 1
    pairs = np.empty((2, boundary.indices.size), dtype=np.int64)
    pairs[0] = boundary.indices
    pairs[1] = np.arange(num_faces).repeat(np.diff(boundary.indptr))
    return {
        "face_incidence": pairs,
        "face_sign": boundary.data.astype(np.int8),
        "num_faces": np.array([num_faces]),
    }
