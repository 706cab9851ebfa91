"""Eigenvectors of the graph Laplacian, and spectra of Hodge Laplacians, attached to the graph."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse
from jaxtyping import Int

from cyclenet.data import CycleData
from cyclenet.topology import UndirectedEdges, eigenspaces
from cyclenet.topology.blocks import blocks_of
from cyclenet.topology.edge_sums import laplacian_bounds_of
from cyclenet.topology.incidence import incidence_of
from cyclenet.topology.memory import require_memory
from cyclenet.transforms.arcs import CycleTransform
from cyclenet.transforms.lifting import boundary_of

# The Laplacian, its eigenvectors, the check of both, and a pair of ids with an entry.
PAIR_BYTES = 64

# A Hodge Laplacian, its eigenvectors, and the inverse.
INVERSE_BYTES = 4 * 8


@dataclass(kw_only=True, eq=False)
class AddEigenspaces(CycleTransform):
    r"""Adds all n eigenvectors of the graph Laplacian, kernel included, and their eigenvalues.

    The Laplacian is $I - D^{-1/2} A D^{-1/2}$ with zero rows for isolated nodes, or $D - A$. It is
    that of the simple graph, whatever the policies: loops do not change it, and copies of an edge
    count once.

    What belongs to the graph: the eigenvalues, which eigenvectors share one (by proof, see
    `topology.eigenspaces`, and not by rounding), and the projector on each space. What does not:
    the sign of an eigenvector, and the choice of a basis in a space of two or more dimensions.

    Adds `edges`, `arc_to_edge`, `arc_sign`, `eigen_pairs`, `eigen_entry`, `eigenvalue` and
    `eigenspace`; see `CycleData`.

    Args:
        normalization: ``"symmetric"`` or ``"none"``: which of the two Laplacians.
        on_ambiguous: What to do where different eigenvalues are closer than float64 can tell
            apart. ``"merge"`` gives them one common space, which still belongs to the graph;
            ``"raise"`` refuses the graph.
        max_memory: Bytes that the numbers of one graph may take. A larger graph is refused with
            `TooLargeError` before anything is allocated. None allows a quarter of the free
            memory, at most 4 GB.

    The other arguments are those of `CycleTransform`.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> triangle = torch.tensor([[0, 0, 1], [1, 2, 2]])
        >>> data = AddEigenspaces()(Data(edge_index=triangle, num_nodes=3))
        >>> data.eigenvalue.tolist(), data.eigenspace.tolist()
        ([0.0, 1.5, 1.5], [0, 1, 1])
    """

    normalization: Literal["symmetric", "none"] = "symmetric"
    on_ambiguous: Literal["merge", "raise"] = "merge"
    max_memory: int | None = None

    def numbers(
        self, graph: CycleData, found: UndirectedEdges, num_nodes: int
    ) -> dict[str, np.ndarray]:
        """The eigenvectors of one graph.

        Args:
            graph: Not needed here.
            found: The undirected edges.
            num_nodes: Number of nodes.

        Returns:
            The attributes that are added besides the edges.

        Raises:
            GraphError: If the spectrum is ambiguous and must not be.
            TooLargeError: If the numbers would take more memory than allowed.
        """
        edges = _simple(found)
        require_memory(
            "the list of all eigenvectors",
            PAIR_BYTES * num_nodes**2,
            num_edges=edges.shape[1],
            largest_block=blocks_of(edges, num_nodes).largest,
            hint="smaller graphs; there is one entry for every pair of nodes",
            max_bytes=self.max_memory,
        )
        spaces = eigenspaces(
            edges, num_nodes, normalization=self.normalization, on_ambiguous=self.on_ambiguous
        )
        return {
            "eigen_pairs": np.indices((num_nodes, num_nodes)).reshape(2, -1),
            "eigen_entry": spaces.vectors.reshape(-1),
            "eigenvalue": spaces.values.repeat(spaces.multiplicities),
            "eigenspace": spaces.ptr[:-1].repeat(spaces.multiplicities),
        }


@dataclass(kw_only=True, eq=False)
class AddLeadingEigenvectors(CycleTransform):
    r"""Adds the eigenvectors of the smallest eigenvalues above 0, as many columns for every graph.

    The Laplacian is that of `AddEigenspaces`. The kernel is left out, all of it: it only tells
    the components apart, and has one dimension for each, which for a connected graph is the one
    trivial eigenvector. What follows comes in whole eigenspaces, as long as they fit; the first one
    that does not, and all behind it, are left out. Columns that are left are zero, and an
    `eigen_multiplicity` of 0 tells them from eigenvectors.

    So what belongs to the graph is the number of eigenvectors, the multiplicity of each, and the
    projector on each space. What does not: the sign of an eigenvector, and the choice of a basis in
    a space of two or more dimensions.

    The published code differs in three points: it takes the real part of what a solver for matrices
    without symmetry returns, which is not orthonormal where eigenvalues are repeated; it takes
    eigenvalues for equal that are so after five decimals, and not by proof (see
    `topology.eigenspaces`); and it cuts through the last space.

    Every graph has the same number of columns and every node a row, so a batch of fixed size has
    fixed shapes, and a GPU can replay a network on it.

    Adds `edges`, `arc_to_edge`, `arc_sign`, `eigen_rows` and `eigen_multiplicity`; see `CycleData`.

    Args:
        count: Number of columns. The published SignNet for molecules has 37, BasisNet 8.
        normalization: ``"symmetric"`` or ``"none"``: which of the two Laplacians.
        on_ambiguous: ``"merge"`` or ``"raise"``, as for `AddEigenspaces`.
        max_memory: Bytes that the numbers of one graph may take, as for `AddEigenspaces`.

    Raises:
        ValueError: If there is no column.

    The other arguments are those of `CycleTransform`.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> triangle = torch.tensor([[0, 0, 1], [1, 2, 2]])
        >>> data = AddLeadingEigenvectors(count=4)(Data(edge_index=triangle, num_nodes=3))
        >>> data.eigen_rows.shape, data.eigen_multiplicity[0].tolist()
        (torch.Size([3, 4]), [2, 2, 0, 0])
    """

    count: int = 37
    normalization: Literal["symmetric", "none"] = "symmetric"
    on_ambiguous: Literal["merge", "raise"] = "merge"
    max_memory: int | None = None

    def __post_init__(self) -> None:
        """Refuse an impossible argument now and not at the first graph."""
        super().__post_init__()
        if self.count < 1:
            raise ValueError(f"`count` must be at least 1, but it is {self.count}")

    def numbers(
        self, graph: CycleData, found: UndirectedEdges, num_nodes: int
    ) -> dict[str, np.ndarray]:
        """The rows of one graph.

        Args:
            graph: Not needed here.
            found: The undirected edges.
            num_nodes: Number of nodes.

        Returns:
            The attributes that are added besides the edges.

        Raises:
            GraphError: If the spectrum is ambiguous and must not be.
            TooLargeError: If the numbers would take more memory than allowed.
        """
        spaces = eigenspaces(
            _simple(found),
            num_nodes,
            normalization=self.normalization,
            on_ambiguous=self.on_ambiguous,
            max_bytes=self.max_memory,
        )
        rows = np.zeros((num_nodes, self.count))
        multiplicity = np.zeros((num_nodes, self.count), dtype=np.int16)
        if len(spaces):
            first = spaces.ptr[1]  # behind the kernel
            ends = spaces.ptr[1:] - first
            taken = ends[ends <= self.count][-1]
            rows[:, :taken] = spaces.vectors[:, first : first + taken]
            dimensions = spaces.multiplicities[1:]
            multiplicity[:, :taken] = dimensions.repeat(dimensions)[:taken]
        return {"eigen_rows": rows, "eigen_multiplicity": multiplicity}


@dataclass(kw_only=True, eq=False)
class AddLaplacianBounds(CycleTransform):
    r"""Adds the largest eigenvalue of each Hodge Laplacian of a 2-complex.

    With incidence matrices B1 and B2 these are $B_1 B_1^\top$ on nodes, $B_1^\top B_1 + B_2
    B_2^\top$ on edges, and $B_2^\top B_2$ on faces. The two parts of the second annihilate each
    other, so its largest eigenvalue is the larger of the other two. No direction of an edge or of
    a face changes any of them. Where there are no cells the number is 0.

    The numbers are those of the faces that the graph has: lift it first. Adds `edges`,
    `arc_to_edge`, `arc_sign` and `laplacian_bounds`; see `CycleData`.

    The arguments are those of `CycleTransform`.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from cyclenet.transforms import LiftToCliqueComplex
        >>> triangle = Data(edge_index=torch.tensor([[0, 0, 1], [1, 2, 2]]), num_nodes=3)
        >>> AddLaplacianBounds()(LiftToCliqueComplex()(triangle)).laplacian_bounds
        tensor([[3., 3., 3.]])
    """

    def numbers(
        self, graph: CycleData, found: UndirectedEdges, num_nodes: int
    ) -> dict[str, np.ndarray]:
        """The three eigenvalues of one graph.

        Args:
            graph: The graph with its faces.
            found: Its undirected edges.
            num_nodes: Number of nodes.

        Returns:
            The attributes that are added besides the edges.

        Raises:
            GraphError: If the graph has not been lifted to a complex.
        """
        bounds = laplacian_bounds_of(found.edges, num_nodes, boundary_of(graph, found))
        return {"laplacian_bounds": bounds[None]}


@dataclass(kw_only=True, eq=False)
class AddHodgeInverse(CycleTransform):
    r"""Adds what the published Dist2Cycle reads: entries of a matrix on edges, and its vectors.

    The matrix is $K = (L_1 + I)^{-1}$ with $L_1$ the Hodge 1-Laplacian of the complex (Keros et al.
    2022). Its entries are kept for pairs of edges with a common node and for each edge with itself,
    as `neighbour_weight`. Behind the `edge_features` that the graph has already, if any (published
    are the three Betti numbers of the link of an edge), come the entries of the `count` leading
    singular vectors of K, harmonic ones first, and on request the singular values, the same on each
    row.

    Reversing edge e flips the weights of its pairs with others and its entries of vectors, and
    leaves the values as they are. A network that reads both is therefore a function of the complex
    with the directions of its edges, which here are those of the names of nodes. Nor does the
    choice of vectors belong to the complex where singular values are repeated.

    Lift the graph first. Adds `edges`, `arc_to_edge`, `arc_sign`, `neighbour_edges`,
    `neighbour_weight` and `edge_features`; see `CycleData`.

    Args:
        count: Number of singular vectors; columns for which there is none are zero.
        values: Whether the singular values come along.
        max_memory: Bytes that the matrices of one graph may take. A larger graph is refused with
            `TooLargeError` before anything is allocated. None allows a quarter of the free
            memory, at most 4 GB.

    Raises:
        ValueError: If `count` is negative.

    The other arguments are those of `CycleTransform`.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from cyclenet.transforms import LiftToCliqueComplex
        >>> path = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
        >>> data = AddHodgeInverse(count=2)(LiftToCliqueComplex()(path))
        >>> data.neighbour_edges.tolist(), data.neighbour_weight.tolist()
        ([[0, 0, 1, 1], [0, 1, 0, 1]], [0.375, 0.125, 0.125, 0.375])
    """

    count: int = 10
    values: bool = False
    max_memory: int | None = None

    def __post_init__(self) -> None:
        """Refuse an impossible argument now and not at the first graph."""
        super().__post_init__()
        if self.count < 0:
            raise ValueError(f"`count` must be at least 0, but it is {self.count}")

    def numbers(
        self, graph: CycleData, found: UndirectedEdges, num_nodes: int
    ) -> dict[str, np.ndarray]:
        """The weights and the features of one graph.

        Args:
            graph: The graph with its faces, and perhaps features of edges.
            found: Its undirected edges.
            num_nodes: Number of nodes.

        Returns:
            The attributes that are added besides the edges.

        Raises:
            GraphError: If the graph has not been lifted to a complex.
            TooLargeError: If the matrices would take more memory than allowed.
        """
        down, up = incidence_of(found.edges, num_nodes), boundary_of(graph, found)
        num_edges = down.shape[1]
        require_memory(
            "the inverse of a Hodge Laplacian",
            INVERSE_BYTES * num_edges**2,
            num_edges=num_edges,
            largest_block=num_edges,
            hint="smaller graphs; there is one entry for every pair of edges",
            max_bytes=self.max_memory,
        )
        eigenvalues, vectors = np.linalg.eigh((down.T @ down + up @ up.T).toarray().astype(float))
        singular = 1 / (1 + eigenvalues)  # descending, because eigenvalues ascend
        neighbours = abs(down).T @ abs(down) + scipy.sparse.eye_array(num_edges)
        pairs = np.stack(neighbours.tocsr().sorted_indices().nonzero()).astype(np.int64)
        taken = min(self.count, num_edges)
        added = np.zeros((2 if self.values else 1, num_edges, self.count))
        added[0, :, :taken] = vectors[:, :taken]
        added[1:, :, :taken] = singular[:taken]
        features = [*added]
        if "edge_features" in graph:
            features.insert(0, graph.edge_features.cpu().numpy())
        return {
            "neighbour_edges": pairs,
            "neighbour_weight": ((vectors * singular) @ vectors.T)[pairs[0], pairs[1]],
            "edge_features": np.concatenate(features, axis=1, dtype=np.float64),
        }


def _simple(found: UndirectedEdges) -> Int[np.ndarray, "2 m"]:
    """The edges without loops and copies, which the Laplacian does not see."""
    return np.unique(found.edges[:, found.edges[0] < found.edges[1]], axis=1)
