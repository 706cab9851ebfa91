"""SAT and SAN: backbones whose nodes, edges and triangles attend to their neighbours."""

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn.functional import relu

from cyclenet.nn.backbones.simplicial import SimplicialBackbone, check_rescaling
from cyclenet.nn.layers.cell_attention import PairAttention, SenderAttention
from cyclenet.nn.layers.heads import require_heads
from cyclenet.nn.layers.hodge import DIMENSIONS, Complex, Rescaling
from cyclenet.nn.layers.pooling import Readout
from cyclenet.nn.layers.simplicial import States

SAT_HEADS = 2


class SAT(SimplicialBackbone):
    r"""Simplicial attention network (Goh et al. 2022), whose heads are `SenderAttention` with ReLU.

    There are two heads. On nodes both hear neighbours, on triangles both hear triangles with a
    common edge. On edges the first hears edges of a common triangle, the second edges with a common
    node. Every cell hears itself.

    `LiftToCliqueComplex` gives graphs what it reads. With three layers of width 30, 5 features and
    10 classes it has, with `printed_size`, the published 10,186 parameters.

    Args:
        in_channels: Width of the node features `batch.x`.
        out_channels: Number of predictions for each graph.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states inside, both heads together.
        num_layers: Number of layers.
        readout: ``"mean"`` or ``"sum"`` over the cells of each dimension.
        cell_channels: How many features each cell has of its own; see `SimplicialBackbone`.
        softmax_output: Predict probabilities; see `SimplicialBackbone`.
        printed_size: Allocate what the published code allocates: the receiver's half of every
            attention vector too, which cancels.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        edge_channels: int = 0,
        hidden_channels: int = 30,
        num_layers: int = 3,
        readout: Readout = "mean",
        cell_channels: int = 0,
        softmax_output: bool = False,
        printed_size: bool = False,
    ) -> None:
        require_heads(hidden_channels, SAT_HEADS)
        super().__init__(
            in_channels,
            out_channels,
            lambda widths, width: _SATLayers(widths, width, printed_size),
            edge_channels=edge_channels,
            hidden_channels=hidden_channels,
            num_layers=num_layers,
            readout=readout,
            cell_channels=cell_channels,
            softmax_output=softmax_output,
        )


class SAN(SimplicialBackbone):
    r"""Simplicial attention network of the published superpixel experiment (Giusti et al. 2022).

    $$x_k' = \mathrm{ReLU}\big(\mathrm{att}_u(x_k) + \mathrm{att}_d(x_k) + R(L_k) (W x_k + b)\big)$$

    with `PairAttention` over the neighbours of a cell through a cell above it, and through one
    below it. Nodes have one attention, over nodes with a common edge, and triangles one, over
    triangles with a common edge. This is the network as released, which differs from its paper.

    `LiftToCliqueComplex` and then `AddLaplacianBounds` give graphs what it reads. With three layers
    of width 18, 5 features and 10 classes it has, with `printed_size`, the published 10,582
    parameters.

    Args:
        in_channels: Width of the node features `batch.x`.
        out_channels: Number of predictions for each graph.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states inside.
        num_layers: Number of layers.
        readout: ``"mean"`` or ``"sum"`` over the cells of each dimension.
        cell_channels: How many features each cell has of its own; see `SimplicialBackbone`.
        softmax_output: Predict probabilities; see `SimplicialBackbone`.
        rescaling: ``"published"`` or ``"centred"``; see `SCN`.
        printed_size: Allocate what the published code allocates: an attention of nodes and one of
            triangles that hear nobody.
    """

    # How many pairs of edges have a common node is for the device to tell.
    reads_sizes: ClassVar[bool] = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        edge_channels: int = 0,
        hidden_channels: int = 18,
        num_layers: int = 3,
        readout: Readout = "mean",
        cell_channels: int = 0,
        softmax_output: bool = False,
        rescaling: Rescaling = "published",
        printed_size: bool = False,
    ) -> None:
        check_rescaling(rescaling)
        super().__init__(
            in_channels,
            out_channels,
            lambda widths, width: _SANLayers(widths, width, rescaling, printed_size),
            edge_channels=edge_channels,
            hidden_channels=hidden_channels,
            num_layers=num_layers,
            readout=readout,
            cell_channels=cell_channels,
            softmax_output=softmax_output,
        )

    def around(self, cells: Complex) -> "Around":
        """The complexes, and the pairs of cells that hear each other.

        Args:
            cells: The complexes.

        Returns:
            Both.
        """
        of_edges = cells.above.upper_pairs(), cells.below.lower_pairs()
        pairs = [(cells.below.upper_pairs(),), of_edges, (cells.above.lower_pairs(),)]
        return Around(cells, pairs)


class Around(NamedTuple):
    """What the layers of `SAN` read of complexes.

    Args:
        cells: The complexes.
        pairs: For each dimension the lists of pairs that its attentions run over.
    """

    cells: Complex
    pairs: list[tuple[Int64[Tensor, "2 p"], ...]]


class _SATLayers(torch.nn.Module):
    """A layer for each dimension."""

    def __init__(self, widths: Sequence[int], out_channels: int, printed_size: bool) -> None:
        super().__init__()
        self.attentions = torch.nn.ModuleList(
            SenderAttention(width, out_channels, heads=SAT_HEADS, printed_size=printed_size)
            for width in widths
        )

    def forward(self, states: States, cells: Complex) -> list[Float[Tensor, "_ _"]]:
        below, above = cells.below, cells.above
        patterns = [below.upper], [above.upper, below.lower], [above.lower]
        all_parts = zip(self.attentions, states, patterns, cells.owners, strict=True)
        return [
            relu(attention(rows, pattern, owner, cells.num_graphs))
            for attention, rows, pattern, owner in all_parts
        ]


class _SANLayers(torch.nn.Module):
    """A layer for each dimension."""

    def __init__(
        self, widths: Sequence[int], out_channels: int, rescaling: Rescaling, printed_size: bool
    ) -> None:
        super().__init__()
        self.rescaling: Rescaling = rescaling
        self.attentions = torch.nn.ModuleList(
            torch.nn.ModuleList(PairAttention(width, out_channels) for _ in range(count))
            for width, count in zip(widths, (1, 2, 1), strict=True)
        )
        self.linears = torch.nn.ModuleList(torch.nn.Linear(i, out_channels) for i in widths)
        if printed_size:
            self.never_called = torch.nn.ModuleList(
                PairAttention(widths[k], out_channels) for k in (0, 2)
            )

    def forward(self, states: States, around: Around) -> list[Float[Tensor, "_ _"]]:
        new = []
        for k in range(DIMENSIONS):
            total = around.cells.rescaled(k, self.linears[k](states[k]), self.rescaling)
            attentions: Any = self.attentions[k]
            for attention, pairs in zip(attentions, around.pairs[k], strict=True):
                total = total + attention(states[k], pairs)
            new.append(relu(total))
        return new
