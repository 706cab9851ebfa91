"""Where the holes of a complex are, as every edge sees it."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from cyclenet.data import CycleData
from cyclenet.topology import UndirectedEdges
from cyclenet.topology.harmonic import harmonic_basis_of, projector_sums_of
from cyclenet.transforms.arcs import CycleTransform
from cyclenet.transforms.lifting import boundary_of


@dataclass(kw_only=True, eq=False)
class AddHarmonicSums(CycleTransform):
    r"""Adds what a network reads of the projector on the harmonic space: three numbers an edge.

    The harmonic space is the kernel of the Hodge 1-Laplacian with the faces of the graph, see
    `LiftToCliqueComplex` and `datasets.torus_data`. It has one dimension for each hole, and how
    many these are is counted by topology, not read off the eigenvalues; see
    `topology.harmonic_basis`. Without faces it is the cycle space.

    For each edge, the diagonal entry of the projector, the sum of its row, and the sum of the sizes
    of its row. The first adds up to the number of holes. Reversing edges changes the second and
    nothing else; relabelling permutes the rows. The published network for holes takes a threshold
    of 1e-4 instead of a count, and at most seven of the harmonic vectors.

    Adds `edges`, `arc_to_edge`, `arc_sign` and `harmonic_sums`; see `CycleData`.

    Args:
        max_memory: Bytes that the matrices of one graph may take. A larger graph is refused with
            `TooLargeError` before anything is allocated. None allows a quarter of the free
            memory, at most 4 GB.

    The other arguments are those of `CycleTransform`.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> square = Data(edge_index=torch.tensor([[0, 0, 1, 2], [1, 2, 3, 3]]), num_nodes=4)
        >>> AddHarmonicSums()(square).harmonic_sums[:, 0].tolist()
        [0.25, 0.25, 0.25, 0.25]
    """

    max_memory: int | None = None

    def numbers(
        self, graph: CycleData, found: UndirectedEdges, num_nodes: int
    ) -> dict[str, np.ndarray]:
        """The three numbers for the edges of one graph.

        Args:
            graph: The graph; its faces are read.
            found: Its undirected edges.
            num_nodes: Number of nodes.

        Returns:
            The attribute that is added besides the edges.

        Raises:
            GraphError: If a hole over Z2 has no harmonic vector.
            TooLargeError: If the matrices would take more memory than allowed.
        """
        boundary = scipy.sparse.csc_array((found.edges.shape[1], 0), dtype=np.int64)
        if "face_incidence" in graph:
            boundary = boundary_of(graph, found)
        basis = harmonic_basis_of(found.edges, num_nodes, boundary, self.max_memory)
        return {"harmonic_sums": projector_sums_of(basis)}
