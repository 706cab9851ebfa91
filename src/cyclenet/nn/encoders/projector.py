"""The first encoder of the paper: an equivariant network on the projector on the cycle space."""

from itertools import pairwise
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import relu

from cyclenet.data import CycleData
from cyclenet.nn.encoders.encoder import Encoder, numbers_of
from cyclenet.nn.encoders.matrices import (
    Matrix,
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
from cyclenet.nn.layers.row_norm import RowNorm

_CHOICES = {
    "on": ("arcs", "abs", "single"),
    "source": ("projector", "hodge"),
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
            bounds its eigenvalues.
        depth: ``"pairs"`` or ``"contracted"``.
        num_pair_layers: Layers from pairs to pairs, for ``depth="pairs"``.
        pair_channels: Width of an entry between these.
        train_coefficients: Whether the equivariant coefficients learn. The published ones did
            not: moved to a GPU they were no parameters any more. False repeats that, at the
            published scale, and with `printed_size` the printed numbers of parameters.
        printed_size: Also create the one normalisation that the published module has and never
            uses.

    `AddCycleProjector` gives graphs what it reads; with ``pairs="none"`` enough for "contracted".
    """

    def __init__(
        self,
        out_channels: int,
        *,
        hidden_channels: int | None = None,
        num_layers: int = 5,
        on: Literal["arcs", "abs", "single"] = "arcs",
        source: Literal["projector", "hodge"] = "projector",
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
        numbers_of(batch, "edges", "AddCycleProjector()")
        graph = batch.graph_of("edges")
        rows = self.contraction(self._contractions(batch), graph)
        ones = rows.new_ones(graph.size(0), 1)
        sizes = rows.new_zeros(batch.num_joined, 1).index_add(0, graph, ones).clamp(min=1)
        rows = self.norms[0](relu(rows))
        for layer, norm in zip(self.set_layers, self.norms[1:], strict=True):
            rows = norm(relu(layer(rows, graph, sizes)))
        return self.head(rows)

    def _contractions(self, batch: CycleData) -> Contractions:
        dtype = self.contraction.coefficients.dtype
        if self.depth == "contracted":
            return contractions_of(self.matrix, batch, dtype)
        index = pair_index(batch, self.matrix.sheets)
        entries = even_scale(entries_of(self.matrix, batch, index, dtype), index)
        for layer in self.pair_layers:
            entries = relu(layer(entries, index))
        return contract(entries, index)
