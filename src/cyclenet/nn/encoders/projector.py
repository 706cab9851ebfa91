"""The first encoder of the paper: an equivariant network on the projector on the cycle space."""

from dataclasses import replace
from itertools import pairwise
from typing import Literal, get_args

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn.functional import relu

from cyclenet.data import CycleData
from cyclenet.nn.encoders.encoder import Encoder, numbers_of
from cyclenet.nn.encoders.kinds import EdgeKinds, can_be_sorted, numbered, shared_by_arcs
from cyclenet.nn.encoders.matrices import (
    Matrix,
    Source,
    contractions_of,
    entries_of,
    even_scale,
    pair_index,
)
from cyclenet.nn.layers.equivariant import (
    ContractingLayer,
    Contractions,
    PairLayer,
    SetLayer,
    contract,
)
from cyclenet.nn.layers.mlp import Stack
from cyclenet.nn.layers.pooling import sum_pool
from cyclenet.nn.layers.row_norm import RowNorm

_CHOICES = {
    "on": ("arcs", "abs", "single"),
    "source": get_args(Source),
    "depth": ("pairs", "contracted"),
}


class ProjectorEncoder(Encoder):
    r"""An invariant graph network on the projector P on the cycle space (CycleNet).

    A matrix on edges goes through layers that commute with permutations of the edges: optional
    layers from pairs to pairs, one from pairs to edges, layers from edges to edges, and a network
    on each edge alone.

    ``depth="contracted"`` is the published architecture. Its first layer contracts the matrix, so
    that five numbers for each edge are all it ever sees, and with ``on="arcs"`` four of them are
    the same on all edges of a graph: what is left is $P_{ee}$. It cannot tell the Rook graph from
    the Shrikhande graph. ``depth="pairs"``, the default, reads every entry before it contracts,
    which the theorem of the paper needs.

    Args:
        out_channels: Width of the encoding.
        hidden_channels: Width of the layers on edges; None means `out_channels`.
        num_layers: Layers on edges, the contracting one included.
        on: ``"arcs"`` reads the projector on arcs, whose signs belong to the arcs; ``"abs"`` reads
            |P| on edges. Both are the same whichever way edges run. ``"single"`` reads the signed P
            on edges, as published for graphs stored with one arc for each edge, and changes with
            the orientation of the edges and so with labels: `protocol = "paper"` only.
        source: ``"projector"``, or ``"hodge"`` for the Hodge 1-Laplacian in its place (the ablation
            CycleNet-Hodge), divided by the largest sum of degrees at the ends of an edge, which
            bounds its eigenvalues. On a complex with faces, for ``depth="contracted"``, also
            ``"harmonic"``, the projector on what is neither around faces nor a difference of
            numbers of nodes, and ``"filled_hodge"``, the Hodge Laplacian with its faces over its
            largest eigenvalue.
        depth: ``"pairs"`` or ``"contracted"``.
        num_pair_layers: Layers from pairs to pairs, for ``depth="pairs"``.
        pair_channels: Width of an entry between these.
        train_coefficients: Whether the equivariant coefficients learn. The published ones did
            not: moved to a GPU they were no parameters any more. False repeats that, at the
            published scale, and with `printed_size` the printed numbers of parameters.
        printed_size: Also create the one normalisation that the published module has and never
            uses.

    `AddCycleProjector` gives graphs what it reads; with ``pairs="none"`` enough for "contracted".
    Complexes get it from `AddHarmonicSums`, or from `AddHodgeSums` and `AddLaplacianBounds`.
    """

    def __init__(
        self,
        out_channels: int,
        *,
        hidden_channels: int | None = None,
        num_layers: int = 5,
        on: Literal["arcs", "abs", "single"] = "arcs",
        source: Source = "projector",
        depth: Literal["pairs", "contracted"] = "pairs",
        num_pair_layers: int = 1,
        pair_channels: int = 16,
        train_coefficients: bool = True,
        printed_size: bool = False,
    ) -> None:
        super().__init__(out_channels)
        for name, value in (("on", on), ("source", source), ("depth", depth)):
            if value not in _CHOICES[name]:
                raise ValueError(f"`{name}` must be one of {_CHOICES[name]}, but it is {value!r}")
        if depth == "pairs" and source in ("harmonic", "filled_hodge"):
            raise ValueError(
                f"`depth` must be 'contracted' for `source` = {source!r}, of which only sums are "
                "stored, but it is 'pairs'"
            )
        hidden = out_channels if hidden_channels is None else hidden_channels
        frozen = not train_coefficients
        self.matrix = Matrix(source, on)
        self.depth = depth
        widths = [1] + [pair_channels] * (num_pair_layers if depth == "pairs" else 0)
        self.pair_layers = torch.nn.ModuleList(
            PairLayer(one, other, published_scale=frozen) for one, other in pairwise(widths)
        )
        self.contraction = ContractingLayer(widths[-1], hidden, published_scale=frozen)
        self.set_layers = torch.nn.ModuleList(
            SetLayer(hidden, hidden, published_scale=frozen) for _ in range(num_layers - 1)
        )
        self.norms = torch.nn.ModuleList(RowNorm(hidden) for _ in range(num_layers))
        self.head = Stack(
            torch.nn.Linear(hidden, hidden),
            torch.nn.ReLU(),
            torch.nn.Linear(hidden, hidden),
            torch.nn.ReLU(),
            torch.nn.Linear(hidden, out_channels),
        )
        if frozen:
            for layer in (*self.pair_layers, self.contraction, *self.set_layers):
                layer.requires_grad_(False)
        if printed_size:
            self.unused_norm = RowNorm(hidden)

    def encode_edges(self, batch: CycleData) -> Float[Tensor, "m k"]:
        """One row for each undirected edge.

        Args:
            batch: Graphs with the numbers that `AddCycleProjector` adds.

        Returns:
            The encoding on edges.
        """
        rows, kinds = self._rows_of_kinds(batch)
        return rows if kinds is None else rows.index_select(0, kinds.of_edge)

    def shared_rows(
        self, batch: CycleData
    ) -> tuple[Float[Tensor, "r {self.out_channels}"], Int64[Tensor, " a"]]:
        """The encoding as rows that arcs share, one for all edges of a kind.

        Args:
            batch: Graphs with the numbers that `encode_edges` reads.

        Returns:
            The rows, the last of them zero, and the place of each arc among them.
        """
        if type(self).encode_edges is not ProjectorEncoder.encode_edges:
            return super().shared_rows(batch)  # a subclass may tell apart what is alike to us
        rows, kinds = self._rows_of_kinds(batch)
        return shared_by_arcs(batch, rows, None if kinds is None else kinds.of_edge)

    def _rows_of_kinds(self, batch: CycleData) -> tuple[Float[Tensor, "r k"], EdgeKinds | None]:
        """A row for each kind of edges, and the kinds unless every edge has a row of its own."""
        numbers_of(batch, "edges", "AddCycleProjector()")
        graph, found, kinds, counts = batch.graph_of("edges"), self._contractions(batch), None, None
        ones = found.diagonal.new_ones(graph.size(0), 1)
        sizes = sum_pool(ones, graph, batch.num_joined).clamp(min=1)
        if self.depth == "contracted" and can_be_sorted(batch):
            kinds = _kinds(found, graph)
        if kinds is not None:
            counts = sum_pool(ones, kinds.of_edge, kinds.edges.size(0))
            graph = graph.index_select(0, kinds.edges)
            found = replace(
                found,
                diagonal=found.diagonal.index_select(0, kinds.edges),
                rows=found.rows.index_select(0, kinds.edges),
                columns=found.columns.index_select(0, kinds.edges),
            )
        rows = _normed(self.norms[0], relu(self.contraction(found, graph)), kinds)
        for layer, norm in zip(self.set_layers, self.norms[1:], strict=True):
            rows = _normed(norm, relu(layer(rows, graph, sizes, counts)), kinds)
        return self.head(rows), kinds

    def _contractions(self, batch: CycleData) -> Contractions:
        dtype = self.contraction.coefficients.dtype
        if self.depth == "contracted":
            return contractions_of(self.matrix, batch, dtype)
        index = pair_index(batch, self.matrix.sheets)
        entries = even_scale(entries_of(self.matrix, batch, index, dtype), index)
        for layer in self.pair_layers:
            entries = relu(layer(entries, index))
        return contract(entries, index)


def _kinds(found: Contractions, graph: Int64[Tensor, " m"]) -> EdgeKinds | None:
    # Edges of a graph with equal contractions, which no layer tells apart. All edges of a path
    # inside a cycle have one diagonal entry of P, and bridges have 0.
    values = (found.diagonal, found.rows, found.columns)
    columns = [part.squeeze(1).unique(return_inverse=True)[1] for part in values]
    edges, of_edge = numbered(torch.stack((graph, *columns)))
    return EdgeKinds(edges, of_edge) if 2 * edges.size(0) <= graph.size(0) else None


def _normed(
    norm: torch.nn.Module, rows: Float[Tensor, "r k"], kinds: EdgeKinds | None
) -> Float[Tensor, "r k"]:
    """The rows after a normalisation, whose statistics are those of all edges."""
    if kinds is None or not norm.training:
        return norm(rows)
    return norm(rows.index_select(0, kinds.of_edge)).index_select(0, kinds.edges)
