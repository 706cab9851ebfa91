"""Cycles and the cycle projector of a graph, attached to it."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from cyclenet.data import CycleData
from cyclenet.topology import (
    CycleBasis,
    GraphError,
    UndirectedEdges,
    cycle_projectors,
    edge_profiles,
    relevant_cycles,
    shortest_cycle_basis,
)
from cyclenet.topology.blocks import blocks_of
from cyclenet.topology.edge_sums import pair_sums
from cyclenet.topology.memory import require_memory
from cyclenet.topology.projector import PAIR_BYTES
from cyclenet.transforms.arcs import CycleTransform
from cyclenet.transforms.weights import edge_weights


@dataclass(kw_only=True, eq=False)
class AddShortestCycleBasis(CycleTransform):
    r"""Adds a shortest cycle basis: g = m - n + components cycles of least total length.

    The cycles are oriented, $B_1 C = 0$, and listed by ascending length. Many graphs have several
    shortest bases. The one chosen is always the same for the same edges (ties go to the lowest
    edge ids), but relabelling the nodes changes which one it is, and with it everything computed
    from it. `unique` says for each graph whether there was a choice at all; where there was, the
    relevant cycles (`AddRelevantCycles`) are the answer that does not depend on labels.

    Adds `edges`, `arc_to_edge`, `arc_sign`, `cycle_incidence`, `cycle_sign`, `cycle_length`,
    `num_cycles`, `num_relevant` and `unique`; see `CycleData`.

    Args:
        weights: Attribute with one non-negative number for each column of `edge_index`, the length
            of that arc; without it every edge has length 1.
        reduce: ``"mean"`` takes the mean where the arcs of an edge disagree about its weight,
            ``"raise"`` refuses.
        weight_tol: Weights are taken as multiples of this, so that nearly equal lengths tie; None
            is described at `topology.lengths.whole_lengths`.
        on_ambiguous: ``"raise"`` refuses graphs with more than one shortest basis.
        max_memory: Bytes that the work space of one graph may take. A larger graph is refused with
            `TooLargeError`. None allows a quarter of the free memory, at most 4 GB.

    The other arguments are those of `CycleTransform`.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> triangle = torch.tensor([[0, 1, 0, 2, 1, 2], [1, 0, 2, 0, 2, 1]])
        >>> data = AddShortestCycleBasis()(Data(edge_index=triangle, num_nodes=3))
        >>> data.cycle_incidence.tolist(), data.cycle_sign.tolist()
        ([[0, 1, 2], [0, 0, 0]], [1, -1, 1])
    """

    weights: str | None = None
    reduce: Literal["raise", "mean"] = "raise"
    weight_tol: float | None = None
    on_ambiguous: Literal["allow", "raise"] = "allow"
    max_memory: int | None = None

    def numbers(
        self, graph: CycleData, found: UndirectedEdges, num_nodes: int
    ) -> dict[str, np.ndarray]:
        """The basis of one graph.

        Args:
            graph: The graph, to read the weights from.
            found: Its undirected edges.
            num_nodes: Number of nodes.

        Returns:
            The attributes that are added besides the edges.

        Raises:
            GraphError: If the weights are not sound, or the basis is not unique and has to be.
            TooLargeError: If the work space would take more memory than allowed.
        """
        lengths = None
        if self.weights is not None:
            lengths = edge_weights(graph, self.weights, found, self.reduce)
        basis = shortest_cycle_basis(
            found.edges,
            num_nodes,
            lengths,
            weight_tol=self.weight_tol,
            max_bytes=self.max_memory,
            **self.kept(),
        )
        if self.on_ambiguous == "raise" and not basis.is_unique:
            raise GraphError(
                "the graph must have only one shortest cycle basis (on_ambiguous='raise'), but "
                f"{basis.num_relevant} cycles lie in some shortest basis, each of which has "
                f"{basis.num_cycles}; try: AddRelevantCycles, which takes all of them",
                code="ambiguous_basis",
            )
        return _stored(basis)


@dataclass(kw_only=True, eq=False)
class AddRelevantCycles(CycleTransform):
    r"""Adds all relevant cycles: those that lie in some shortest cycle basis.

    A cycle is relevant if it is no sum of strictly shorter ones. Unlike a shortest basis, the set
    of relevant cycles belongs to the graph and not to its labels: relabelling permutes it. It is
    the shortest basis exactly where that is unique. There can be exponentially many of them, which
    is known before any is listed.

    Adds the same attributes as `AddShortestCycleBasis`, and takes the place of its cycles on a
    graph that has some.

    Args:
        weights: Attribute with one non-negative number for each column of `edge_index`, the length
            of that arc; without it every edge has length 1.
        reduce: ``"mean"`` takes the mean where the arcs of an edge disagree about its weight,
            ``"raise"`` refuses.
        weight_tol: Weights are taken as multiples of this, so that nearly equal lengths tie; None
            is described at `topology.lengths.whole_lengths`.
        max_cycles: A graph with more relevant cycles than this is refused with `TooManyCycles`.
        max_memory: Bytes that the work space of one graph may take, as for `AddShortestCycleBasis`.

    The other arguments are those of `CycleTransform`.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> square = torch.tensor([[0, 1, 2, 0], [1, 2, 3, 3]])
        >>> data = AddRelevantCycles()(Data(edge_index=square, num_nodes=4))
        >>> data.num_relevant.item(), data.unique.item(), data.cycle_length.tolist()
        (1, True, [4.0])
    """

    weights: str | None = None
    reduce: Literal["raise", "mean"] = "raise"
    weight_tol: float | None = None
    max_cycles: int = 100_000
    max_memory: int | None = None

    def numbers(
        self, graph: CycleData, found: UndirectedEdges, num_nodes: int
    ) -> dict[str, np.ndarray]:
        """The relevant cycles of one graph.

        Args:
            graph: The graph, to read the weights from.
            found: Its undirected edges.
            num_nodes: Number of nodes.

        Returns:
            The attributes that are added besides the edges.

        Raises:
            GraphError: If the weights are not sound.
            TooManyCycles: If there are more than `max_cycles`.
            TooLargeError: If the work space would take more memory than allowed.
        """
        lengths = None
        if self.weights is not None:
            lengths = edge_weights(graph, self.weights, found, self.reduce)
        cycles = relevant_cycles(
            found.edges,
            num_nodes,
            lengths,
            self.max_cycles,
            weight_tol=self.weight_tol,
            max_bytes=self.max_memory,
            **self.kept(),
        )
        return _stored(cycles)


@dataclass(kw_only=True, eq=False)
class AddCycleProjector(CycleTransform):
    r"""Adds the orthogonal projector on the cycle space, $P = I - B_1^\top (B_1 B_1^\top)^+ B_1$.

    P needs no choice of basis. It is stored as pairs of edges and their entries. It is zero on
    bridges and between different blocks, so the pairs inside blocks carry all of it and are far
    fewer than m x m.

    Signs: reversing edge e flips row and column e, and `edges` direct every edge from its lower to
    its higher node. So read |P|, P * P or the diagonal on edges; with the `arc_sign` of both arcs,
    P is sound on arcs.

    Adds `edges`, `arc_to_edge`, `arc_sign`, `pair_edges`, `pair_projector` and `projector_sums`;
    see `CycleData`.

    Args:
        pairs: ``"blocks"`` stores the pairs inside blocks; ``"graph"`` all m x m of them, in the
            order of the rows of P; ``"none"`` only the diagonal and the sums of the rows, which
            are all that the published architecture reads.
        max_memory: Bytes that the numbers of one graph may take. A larger graph is refused with
            `TooLargeError` before anything is allocated. None allows a quarter of the free
            memory, at most 4 GB.

    The other arguments are those of `CycleTransform`.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> triangle = torch.tensor([[0, 0, 1], [1, 2, 2]])
        >>> data = AddCycleProjector()(Data(edge_index=triangle, num_nodes=3))
        >>> data.pair_projector.abs().mul(3).round().tolist()
        [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """

    pairs: Literal["blocks", "graph", "none"] = "blocks"
    max_memory: int | None = None

    def numbers(
        self, graph: CycleData, found: UndirectedEdges, num_nodes: int
    ) -> dict[str, np.ndarray]:
        """The entries of the projector of one graph.

        Args:
            graph: Not needed here.
            found: The undirected edges.
            num_nodes: Number of nodes.

        Returns:
            The attributes that are added besides the edges.

        Raises:
            TooLargeError: If the numbers would take more memory than allowed.
        """
        num_edges = found.edges.shape[1]
        if self.pairs == "graph":
            parts = blocks_of(found.edges, num_nodes)
            require_memory(
                "the list of all pairs of edges",
                # The pairs inside blocks are computed first and spread out then.
                PAIR_BYTES * (num_edges**2 + parts.num_pairs),
                num_edges=num_edges,
                largest_block=parts.largest,
                hint="pairs='blocks', or the shortest cycle basis",
                max_bytes=self.max_memory,
            )
        packed = cycle_projectors(
            found.edges,
            np.array([0, num_edges]),
            num_nodes,
            max_bytes=self.max_memory,
            **self.kept(),
        )
        sums = {"projector_sums": pair_sums(packed.pair_edges, packed.values, num_edges)}
        if self.pairs == "none":
            return sums
        if self.pairs == "blocks":
            return sums | {"pair_edges": packed.pair_edges, "pair_projector": packed.values}
        every_pair = np.indices((num_edges, num_edges)).reshape(2, -1)
        return sums | {"pair_edges": every_pair, "pair_projector": packed[0].reshape(-1)}


@dataclass(kw_only=True, eq=False)
class AddCycleProfiles(CycleTransform):
    r"""Adds the profile of every edge: what P says about it and each other edge, without signs.

    Profiles do not depend on a choice of basis, on labels, order or orientation. A profile is a
    multiset, stored as rows with counts: one row for each edge of a lone ring, 28 instead of 320
    for an edge of a 4-CFI graph. `topology.edge_profiles` defines the numbers.

    Adds `edges`, `arc_to_edge`, `arc_sign`, `profile_edge`, `profile_values` and `profile_count`;
    see `CycleData`.

    Args:
        max_memory: Bytes that the work space of one graph may take. A larger graph is refused with
            `TooLargeError`. None allows a quarter of the free memory, at most 4 GB.

    The other arguments are those of `CycleTransform`.

    Example:
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> triangle = torch.tensor([[0, 0, 1], [1, 2, 2]])
        >>> data = AddCycleProfiles()(Data(edge_index=triangle, num_nodes=3))
        >>> data.profile_edge.tolist(), data.profile_count.tolist()
        ([0, 1, 2], [3, 3, 3])
    """

    max_memory: int | None = None

    def numbers(
        self, graph: CycleData, found: UndirectedEdges, num_nodes: int
    ) -> dict[str, np.ndarray]:
        """The profiles of one graph.

        Args:
            graph: Not needed here.
            found: The undirected edges.
            num_nodes: Number of nodes.

        Returns:
            The attributes that are added besides the edges.

        Raises:
            TooLargeError: If the work space would not fit.
        """
        profiles = edge_profiles(found.edges, num_nodes, max_bytes=self.max_memory, **self.kept())
        return {
            "profile_edge": profiles.edge,
            "profile_values": profiles.values,
            "profile_count": profiles.count,
        }


def _stored(basis: CycleBasis) -> dict[str, np.ndarray]:
    """The cycles as `CycleData` stores them."""
    pairs = np.empty((2, basis.cycle_edges.size), dtype=np.int64)
    pairs[0] = basis.cycle_edges
    pairs[1] = np.arange(basis.num_cycles).repeat(np.diff(basis.incidence_ptr))
    return {
        "cycle_incidence": pairs,
        "cycle_sign": basis.cycle_signs,
        "cycle_length": basis.lengths.astype(np.float64, copy=False),
        "num_cycles": np.array([basis.num_cycles]),
        "num_relevant": np.array([basis.num_relevant]),
        "unique": np.array([basis.is_unique]),
    }
