"""`CycleData`: the names under which cycle numbers travel on a graph, and how each one batches."""

import copy
from typing import Any, Literal, NamedTuple

import torch
from jaxtyping import Int64, Shaped
from torch import Tensor
from torch_geometric.data import Batch, Data

from cyclenet.topology import GraphError

__all__ = ["CYCLE_ATTRIBUTES", "CycleAttribute", "CycleData", "Rows"]

Unit = Literal["nodes", "edges", "cycles", "faces"]

# Rows that are summed over graphs: pairs of edges of a graph, of edges of a cycle, and faces.
SummedUnit = Literal["edge_pairs", "cycle_pairs", "faces"]


class CycleAttribute(NamedTuple):
    """How one attribute behaves when graphs are joined to a batch.

    Args:
        counted_in: What its ids count: one unit for all rows, one unit for each row, or nothing
            for values that are no ids.
        joined_along: The dimension along which graphs are joined.
    """

    counted_in: tuple[Unit, ...]
    joined_along: int


# The one place that knows these names: every attribute of `CycleData` that is not the user's own
# has a row here, and batching reads nothing else.
CYCLE_ATTRIBUTES: dict[str, CycleAttribute] = {
    "edges": CycleAttribute(("nodes",), -1),
    "arc_to_edge": CycleAttribute(("edges",), 0),
    "arc_sign": CycleAttribute((), 0),
    "pair_edges": CycleAttribute(("edges",), -1),
    "pair_projector": CycleAttribute((), 0),
    "projector_sums": CycleAttribute((), 0),
    "hodge_sums": CycleAttribute((), 0),
    "profile_edge": CycleAttribute(("edges",), 0),
    "profile_values": CycleAttribute((), 0),
    "profile_count": CycleAttribute((), 0),
    "cycle_incidence": CycleAttribute(("edges", "cycles"), -1),
    "cycle_sign": CycleAttribute((), 0),
    "cycle_length": CycleAttribute((), 0),
    "num_cycles": CycleAttribute((), 0),
    "num_relevant": CycleAttribute((), 0),
    "unique": CycleAttribute((), 0),
    "face_incidence": CycleAttribute(("edges", "faces"), -1),
    "face_sign": CycleAttribute((), 0),
    "num_faces": CycleAttribute((), 0),
    "edge_features": CycleAttribute((), 0),
    "face_features": CycleAttribute((), 0),
    "laplacian_bounds": CycleAttribute((), 0),
    "neighbour_edges": CycleAttribute(("edges",), -1),
    "neighbour_weight": CycleAttribute((), 0),
    "harmonic_sums": CycleAttribute((), 0),
    # A graph has as many eigenvectors as nodes, so their ids are counted as those of nodes are.
    "eigen_pairs": CycleAttribute(("nodes",), -1),
    "eigen_entry": CycleAttribute((), 0),
    "eigenvalue": CycleAttribute((), 0),
    "eigenspace": CycleAttribute(("nodes",), 0),
    "eigen_rows": CycleAttribute((), 0),
    "eigen_multiplicity": CycleAttribute((), 0),
}


class Rows(NamedTuple):
    """One attribute of many graphs, its rows end to end, in as few bytes as they need.

    Ids are counted inside their graph, as they are on a graph that stands alone, so small integers
    hold them whatever the number of graphs.

    Args:
        values: The rows of all graphs, joined along the dimension that the attribute is joined in.
        lengths: How many of them each graph has.
        dtype: The type that the attribute has on a graph.
    """

    values: Shaped[Tensor, "..."]
    lengths: Int64[Tensor, " b"]
    dtype: torch.dtype


class CycleData(Data):
    r"""A graph with its cycle numbers, which batches them correctly.

    `Data` guesses from the name of an attribute how to batch it; here a table says it,
    `CYCLE_ATTRIBUTES`. With n nodes, a arcs (columns of `edge_index`), m undirected edges, p pairs
    of edges, r rows of profiles, g cycles of q edges in total, f faces of t edges in total, n
    eigenvectors of s entries in total, and b graphs:

    | attribute | shape | holds |
    | --- | --- | --- |
    | `edges` | 2 m | each undirected edge once, tail < head, in ascending order |
    | `arc_to_edge` | a | the edge of each arc |
    | `arc_sign` | a | +1 for an arc along its edge, -1 against it, 0 for an arc without an edge |
    | `pair_edges` | 2 p | ordered pairs of edges, equal ones included |
    | `pair_projector` | p | the entry of the cycle projector P at each pair |
    | `projector_sums` | m 3 | diagonal of P, and sums of its rows: of entries, of sizes |
    | `hodge_sums` | m 3 | the same of the Hodge Laplacian of edges, faces included |
    | `profile_edge` | r | the edge of each row of its profile |
    | `profile_values` | r 8 | invariants of that edge with others; see `topology.edge_profiles` |
    | `profile_count` | r | how many edges of the block share the row |
    | `cycle_incidence` | 2 q | pairs (edge, cycle), cycle after cycle, edges ascending |
    | `cycle_sign` | q | +1 where the cycle runs along the edge, -1 against it |
    | `cycle_length` | g | number of edges of each cycle, or their weight; ascending in a graph |
    | `num_cycles` | b | cycles listed here |
    | `num_relevant` | b | relevant cycles of the graph |
    | `unique` | b | whether the graph has only one shortest cycle basis |
    | `face_incidence`, `face_sign`, `num_faces` | 2 t, t, b | as for cycles |
    | `edge_features` | m k | features of edges; odd ones change sign with the edge's direction |
    | `face_features` | f k | features of faces, likewise |
    | `laplacian_bounds` | b 3 | largest eigenvalues of the Laplacians of nodes, edges and faces |
    | `neighbour_edges` | 2 w | ordered pairs of edges with a common node, equal ones included |
    | `neighbour_weight` | w | how much the first edge of a pair hears of the second |
    | `harmonic_sums` | m 3 | as `projector_sums`, of the projector on the harmonic space |
    | `eigen_pairs` | 2 s | pairs (node, eigenvector) of a graph, all of them, node after node |
    | `eigen_entry` | s | the entry of the eigenvector at the node |
    | `eigenvalue` | n | one for each eigenvector, ascending in a graph, equal inside a space |
    | `eigenspace` | n | the space of each eigenvector, named after its first eigenvector |
    | `eigen_rows` | n c | the entries at each node of the first c eigenvectors, then zeros |
    | `eigen_multiplicity` | n c | the dimension of the space of each of them; 0: there is none |

    The laws. The edges give the arcs back: column i of `edge_index` is
    `edges[:, arc_to_edge[i]]`, turned around where `arc_sign[i]` is -1. Batching shifts ids and
    changes nothing else, so a batch that is split gives the same graphs back: forests, edgeless
    and empty graphs included, in any position.

    The numbers describe the whole graph. `subgraph` and `edge_subgraph` therefore leave them out,
    and a transform that changes `edge_index` has to come before ours; `validate` tells. All graphs
    of a batch need the same attributes, which is a rule of `Batch`.
    """

    @classmethod
    def from_data(cls, data: Data) -> "CycleData":
        """The same graph as `CycleData`: every attribute is kept, tensors are shared.

        Args:
            data: A plain `Data` or a `CycleData`. Your own subclass of `Data` has batching rules
                that only a class derived from both can keep: with `class MyCycleData(CycleData,
                MyData)`, use `MyCycleData.from_data`.

        Returns:
            A shallow copy.

        Raises:
            TypeError: If `data` is no graph, a batch of graphs, or of a class of its own.
            GraphError: If it has an attribute whose name would mean something else here.
        """
        kind = type(data)
        if kind is not Data and kind is not cls:
            _require_kind(data, cls)
        if not issubclass(kind, CycleData):
            taken = sorted(CYCLE_ATTRIBUTES.keys() & data.to_dict().keys())
            if taken:
                raise GraphError(
                    f"`data` must leave the names of CYCLE_ATTRIBUTES to CycleData, but it has "
                    f"{taken}; try: another name for these attributes",
                    code="attribute_name",
                )
        graph = copy.copy(data)
        # The same attributes under another class. Handing them over one by one would take as long
        # as finding the cycles of a molecule.
        if not issubclass(kind, cls):
            object.__setattr__(graph, "__class__", cls)  # `Data` stores what is set on it
        return graph  # pyright: ignore[reportReturnType]

    def without_cycles(self) -> "CycleData":
        """A shallow copy without any attribute of `CYCLE_ATTRIBUTES`: the user's own graph."""
        plain = copy.copy(self)
        for name in CYCLE_ATTRIBUTES.keys() & set(self.keys()):
            del plain[name]
        return plain

    def on_arcs(self, rows: Shaped[Tensor, "m *k"]) -> Shaped[Tensor, "a *k"]:
        """Rows of undirected edges, handed to the columns of `edge_index`.

        Both directions of an edge and all its copies read the same row; an arc without an edge
        (a self loop that was dropped) reads zeros.

        Args:
            rows: One row for every column of `edges`.

        Returns:
            One row for every column of `edge_index`.

        Raises:
            GraphError: If `edge_index` has changed since the edges were computed.
        """
        # The extra row is read by arcs without an edge. It also makes m = 0 an ordinary case, and
        # unlike a mask it keeps shapes independent of values.
        padded = torch.cat((rows, rows.new_zeros((1, *rows.shape[1:]))))
        return padded.index_select(0, self.edge_of_arcs())

    def edge_of_arcs(self) -> Int64[Tensor, " a"]:
        """The edge of each column of `edge_index`, or m for an arc that has none.

        Returns:
            Row numbers for a table of edges with one more row behind them.

        Raises:
            GraphError: If `edge_index` has changed since the edges were computed.
        """
        self._check_number_of_arcs()
        return torch.where(self.arc_sign == 0, self.edges.size(1), self.arc_to_edge)

    @property
    def num_joined(self) -> int:
        """How many graphs this is: those of a batch, or 1."""
        return int(self.num_graphs) if isinstance(self, Batch) else 1

    @property
    def has_filler(self) -> bool:
        """Whether the last graph is a filler, which brings the batch to a fixed size.

        Its rows are the last of every unit. Nothing about it is looked at, but shapes must not
        depend on how large it is: see `runner.batches`.
        """
        return getattr(self, "_has_filler", False)

    def known_rows(self, unit: SummedUnit) -> int | None:
        """How many rows of a unit there are, where no attribute has as many.

        The numbers of each graph are on its device, and a GPU that is asked for their sum has to be
        waited for. Who joins the graphs may know it.

        Args:
            unit: What is counted.

        Returns:
            The number, or None if nobody said.
        """
        return getattr(self, "_known_rows", {}).get(unit)

    def graph_of(self, unit: Unit) -> Int64[Tensor, " u"]:
        """The graph of each node, edge, cycle or face: 0 outside a batch.

        Args:
            unit: What to number.

        Returns:
            Numbers of graphs, ascending.
        """
        device = self.edge_index.device
        if unit in ("cycles", "faces"):
            counts = self["num_cycles" if unit == "cycles" else "num_faces"]
            # Knowing the size, a GPU need not be waited for.
            size = self.cycle_length.size(0) if unit == "cycles" else self.known_rows("faces")
            graphs = torch.arange(counts.size(0), device=device)
            return graphs.repeat_interleave(counts, output_size=size)
        node_graph = self.batch
        if node_graph is None:
            node_graph = torch.zeros(self.num_nodes or 0, dtype=torch.long, device=device)
        return node_graph if unit == "nodes" else node_graph[self.edges[0]]

    def validate(self, raise_on_error: bool = True) -> bool:
        """Whether the edges still are those of `edge_index`, besides what `Data` validates.

        Args:
            raise_on_error: Raise instead of returning False.

        Returns:
            True if everything fits together.

        Raises:
            GraphError: If it does not, and `raise_on_error` is set.
        """
        if not super().validate(raise_on_error):
            return False
        if "edges" not in self:
            return True
        try:
            self._check_number_of_arcs()
            self._check_arcs()
        except GraphError:
            if raise_on_error:
                raise
            return False
        return True

    def subgraph(self, subset: Tensor) -> "CycleData":
        """The induced subgraph, without cycle numbers: it has other cycles.

        Args:
            subset: Nodes to keep, as ids or as a mask.

        Returns:
            The subgraph; apply the transform to it to get its numbers.
        """
        plain: Any = super(CycleData, self.without_cycles())
        return plain.subgraph(subset)

    def edge_subgraph(self, subset: Tensor) -> "CycleData":
        """The graph of some arcs on all nodes, without cycle numbers: it has other cycles.

        Args:
            subset: Columns of `edge_index` to keep, as ids or as a mask.

        Returns:
            The subgraph; apply the transform to it to get its numbers.
        """
        plain: Any = super(CycleData, self.without_cycles())
        return plain.edge_subgraph(subset)

    @property
    def num_faces(self) -> Any:
        """Faces of each graph. Without ours, the deprecated property of `Data` answers."""
        return self["num_faces"] if "num_faces" in self else super().num_faces

    def __cat_dim__(self, key: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        if key in CYCLE_ATTRIBUTES:
            return CYCLE_ATTRIBUTES[key].joined_along
        return super().__cat_dim__(key, value, *args, **kwargs)

    def __inc__(self, key: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        if key not in CYCLE_ATTRIBUTES:
            return super().__inc__(key, value, *args, **kwargs)
        counts = [self._count(unit) for unit in CYCLE_ATTRIBUTES[key].counted_in]
        if len(counts) > 1:
            return torch.tensor(counts).unsqueeze(1)
        return counts[0] if counts else 0

    def _count(self, unit: Unit) -> int:
        """How many of `unit` this graph has; a batch counts as one large graph."""
        if unit == "nodes":
            return self.num_nodes or 0
        if unit == "edges":
            return self.edges.size(1)
        return int(self["num_cycles" if unit == "cycles" else "num_faces"].sum())

    def _check_number_of_arcs(self) -> None:
        num_arcs = self.edge_index.size(1)
        if self.arc_to_edge.size(0) != num_arcs:
            raise GraphError(
                f"`edge_index` must be the one the edges were computed from, with "
                f"{self.arc_to_edge.size(0)} arcs, but it has {num_arcs}; try: the transforms "
                "that change arcs first, ours last",
                code="stale_edges",
            )

    def _check_arcs(self) -> None:
        has_edge = self.arc_sign != 0
        ends = self.edges[:, self.arc_to_edge[has_edge]]
        wanted = torch.where(self.arc_sign[has_edge] > 0, ends, ends.flip(0))
        lone = self.edge_index[:, ~has_edge]
        if (self.edge_index[:, has_edge] != wanted).any() or (lone[0] != lone[1]).any():
            raise GraphError(
                "`edge_index` must be the one the edges were computed from, but some arcs are on "
                "another edge; try: the transforms that change arcs first, ours last",
                code="stale_edges",
            )


def _require_kind(data: object, cls: type[CycleData]) -> None:
    """Refuse what cannot become a `cls` without losing something."""
    kind = type(data)
    if isinstance(data, Batch):
        raise TypeError(
            f"`data` must be one graph, but it is the batch {kind.__name__}; try: "
            "`Batch.from_data_list([transform(graph) for graph in data.to_data_list()])`"
        )
    if not isinstance(data, Data):
        raise TypeError(f"`data` must be a torch_geometric.data.Data, but it is a {kind.__name__}")
    if not issubclass(kind, cls) and not issubclass(cls, kind):
        raise TypeError(
            f"`data` must be a plain Data, but it is a {kind.__name__}, whose own rules for "
            f"batching would be lost; try: `class My{cls.__name__}({cls.__name__}, "
            f"{kind.__name__})` and `My{cls.__name__}.from_data(data)` before the transform"
        )


# PyG reads the files of `InMemoryDataset.save` with `weights_only=True`, which refuses every class
# that nobody vouches for and then falls back to the unsafe loader with a warning.
torch.serialization.add_safe_globals([CycleData])
