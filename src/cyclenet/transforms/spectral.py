"""Eigenvectors of the graph Laplacian, attached to the graph."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Int

from cyclenet.data import CycleData
from cyclenet.topology import UndirectedEdges, eigenspaces
from cyclenet.topology.blocks import blocks_of
from cyclenet.topology.memory import require_memory
from cyclenet.transforms.arcs import CycleTransform

# The Laplacian, its eigenvectors, the check of both, and a pair of ids with an entry.
PAIR_BYTES = 64


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


def _simple(found: UndirectedEdges) -> Int[np.ndarray, "2 m"]:
    """The edges without loops and copies, which the Laplacian does not see."""
    return np.unique(found.edges[:, found.edges[0] < found.edges[1]], axis=1)
