"""FlowSCN, FlowSCConv and FlowSAT: backbones that read flows along the edges of a complex."""

from abc import abstractmethod
from itertools import pairwise
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import tanh

from cyclenet.data import CycleData
from cyclenet.nn.backbones.backbone import Backbone
from cyclenet.nn.backbones.simplicial import (
    AddedStates,
    check_rescaling,
    features_of,
    softmax_if,
)
from cyclenet.nn.layers import POOLS, GraphHead
from cyclenet.nn.layers.arc_states import mean_of_arcs
from cyclenet.nn.layers.cell_attention import SenderAttention
from cyclenet.nn.layers.heads import require_heads
from cyclenet.nn.layers.hodge import DIMENSIONS, Complex, Rescaling, stored_complex
from cyclenet.nn.layers.mlp import Stack
from cyclenet.nn.layers.pooling import Readout
from cyclenet.nn.layers.simplicial import SCConvLayer, SCNLayer

Enters = Literal["gate", "sum"]

FLOW_HEADS = 2


class FlowBackbone(Backbone):
    r"""Odd layers on the edges of a complex, as published for trajectories.

    The features are flows, `batch.edge_features`: numbers that change sign with the direction of
    their edge. Layers have tanh and no bias, so they are odd, and

    $$y = \mathrm{MLP}\big(\mathrm{pool}_e\, |x_e|\big)$$

    does not change with the directions of edges: for T diagonal with entries 1 and -1, the
    predictions from $(x, B_1, B_2)$ and from $(T x, B_1 T, T B_2)$ are the same. Nor does it with
    those of triangles. Features of nodes are not read.

    States of arcs are averaged over the two arcs of an edge, to a row s that no direction changes.
    With weights W for each pair of a flow and a channel of s they are gates, and what the first
    layer reads is odd: $x_i (W_{ij} + s_j)$ for each flow i and channel j. The published code adds
    them, which costs the law; ``enters = "sum"`` does so too.

    Args:
        in_channels: Number of flows, the columns of `batch.edge_features`.
        out_channels: Number of predictions for each graph.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states inside.
        num_layers: Number of layers.
        readout: ``"mean"`` or ``"sum"`` over the edges of a graph.
        enters: ``"gate"``, or ``"sum"``, for states of arcs that are added to the flows: as they
            are where there are as many channels, else after a linear map.
        softmax_output: Predict probabilities. The published networks do, and are trained with a
            loss that takes the softmax again.

    Raises:
        ValueError: If a number or a choice is impossible.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        edge_channels: int,
        hidden_channels: int,
        num_layers: int,
        readout: Readout,
        enters: Enters,
        softmax_output: bool,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            edge_channels=edge_channels,
            hidden_channels=hidden_channels,
            num_layers=num_layers,
            readout=readout,
        )
        if enters not in ("gate", "sum"):
            raise ValueError(f"`enters` must be one of ('gate', 'sum'), but it is {enters!r}")
        first = in_channels
        self.entry: FlowGate | AddedStates | None = None
        if edge_channels and enters == "gate":
            self.entry, first = FlowGate(in_channels, edge_channels), in_channels * edge_channels
        elif edge_channels:
            self.entry = AddedStates(edge_channels, in_channels)
        self.widths = [first] + [hidden_channels] * num_layers
        # Without normalisation, whatever the readout.
        head = GraphHead(hidden_channels, hidden_channels, out_channels, "mean")
        self.head = Stack(*head, *softmax_if(softmax_output))

    def forward(
        self, batch: CycleData, edge_states: Float[Tensor, "a e"] | None = None
    ) -> Float[Tensor, "b o"]:
        """Predictions for the graphs of a batch.

        Args:
            batch: Graphs whose faces are triangles, with flows `edge_features` on the edges and
                whatever else the layers read.
            edge_states: One row for each column of `edge_index`, or None if there are none.

        Returns:
            One row for each graph.
        """
        self.check_states(batch, edge_states)
        expected = batch.edges.size(1), self.in_channels
        flows = features_of(batch, "edge_features", expected, "a column for each of `in_channels`")
        if self.entry is not None:
            flows = self.entry(batch, flows, edge_states)
        cells = stored_complex(batch, flows)
        sizes = self.after_layers(flows, cells).abs()
        return self.head(POOLS[self.readout](sizes, cells.owners[1], cells.num_graphs))

    @abstractmethod
    def after_layers(self, flows: Float[Tensor, "m i"], cells: Complex) -> Float[Tensor, "m k"]:
        """What the layers make of flows: an odd function.

        Args:
            flows: One row for each edge.
            cells: The complexes.

        Returns:
            One row for each edge.
        """


class FlowGate(torch.nn.Module):
    r"""Flows that are multiplied by numbers of their edges: $x_i (W_{ij} + s_j)$.

    Args:
        num_flows: Number of flows.
        channels: Width of the states s.
    """

    def __init__(self, num_flows: int, channels: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(num_flows, channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        torch.nn.init.uniform_(self.weight, -1, 1)

    def forward(
        self,
        batch: CycleData,
        flows: Float[Tensor, "m i"],
        edge_states: Float[Tensor, "a e"] | None,
    ) -> Float[Tensor, "m o"]:
        """All products, those of the first flow first.

        Args:
            batch: The graphs.
            flows: One row for each edge.
            edge_states: One row for each arc.

        Returns:
            One row for each edge.
        """
        assert edge_states is not None
        gates = self.weight + mean_of_arcs(batch, edge_states).unsqueeze(1)
        return (flows.unsqueeze(2) * gates).flatten(1)


class FlowSCN(FlowBackbone):
    r"""Simplicial network (Ebli et al. 2020) on flows: $x \mapsto \tanh(W R(L_1) x)$.

    `LiftToCliqueComplex` and then `AddLaplacianBounds` give graphs what it reads. With four layers
    of width 32, one flow and 2 classes it has the published 4,226 parameters.

    Args:
        in_channels: Number of flows, the columns of `batch.edge_features`.
        out_channels: Number of predictions for each graph.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states inside.
        num_layers: Number of layers.
        readout: ``"mean"`` or ``"sum"`` over the edges of a graph.
        enters: ``"gate"`` or ``"sum"``; see `FlowBackbone`.
        softmax_output: Predict probabilities; see `FlowBackbone`.
        rescaling: ``"published"`` or ``"centred"``; see `SCN`.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        edge_channels: int = 0,
        hidden_channels: int = 32,
        num_layers: int = 4,
        readout: Readout = "mean",
        enters: Enters = "gate",
        softmax_output: bool = False,
        rescaling: Rescaling = "published",
    ) -> None:
        check_rescaling(rescaling)
        super().__init__(
            in_channels,
            out_channels,
            edge_channels=edge_channels,
            hidden_channels=hidden_channels,
            num_layers=num_layers,
            readout=readout,
            enters=enters,
            softmax_output=softmax_output,
        )
        self.layers = torch.nn.ModuleList(
            SCNLayer(before, after, 1, bias=False, rescaling=rescaling)
            for before, after in pairwise(self.widths)
        )

    def after_layers(self, flows: Float[Tensor, "m i"], cells: Complex) -> Float[Tensor, "m k"]:
        """What the layers make of flows: an odd function.

        Args:
            flows: One row for each edge.
            cells: The complexes.

        Returns:
            One row for each edge.
        """
        for layer in self.layers:
            flows = tanh(layer(flows, cells))
        return flows


class FlowSCConv(FlowBackbone):
    """Two-complex network (Bunch et al. 2020) on flows: layers are `SCConvLayer` with tanh.

    Nodes and triangles begin with nothing, take part between the layers, and are not read in the
    end. The published code begins with columns of zeros there, and so has maps in its first layer
    that read zeros and in its last that nobody reads; with them, four layers of width 32, one flow
    and 2 classes, it has the published 22,850 parameters.

    `LiftToCliqueComplex` gives graphs what it reads.

    Args:
        in_channels: Number of flows, the columns of `batch.edge_features`.
        out_channels: Number of predictions for each graph.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states inside.
        num_layers: Number of layers.
        readout: ``"mean"`` or ``"sum"`` over the edges of a graph.
        enters: ``"gate"`` or ``"sum"``; see `FlowBackbone`.
        softmax_output: Predict probabilities; see `FlowBackbone`.
        printed_size: Allocate the maps that read zeros and those that nobody reads.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        edge_channels: int = 0,
        hidden_channels: int = 32,
        num_layers: int = 4,
        readout: Readout = "mean",
        enters: Enters = "gate",
        softmax_output: bool = False,
        printed_size: bool = False,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            edge_channels=edge_channels,
            hidden_channels=hidden_channels,
            num_layers=num_layers,
            readout=readout,
            enters=enters,
            softmax_output=softmax_output,
        )
        first = self.widths[0]
        inside = [(hidden_channels,) * DIMENSIONS] * (num_layers - 1)
        layers = [
            SCConvLayer(widths, hidden_channels, tanh, bias=False, only_edges=t == num_layers - 1)
            for t, widths in enumerate([(0, first, 0), *inside])
        ]
        self.layers = torch.nn.ModuleList(layers)
        if printed_size:
            whole = [
                SCConvLayer(widths, hidden_channels, tanh, bias=False)
                for widths in [(first,) * DIMENSIONS, *inside]
            ]
            self.never_called = torch.nn.ModuleList(
                linear
                for layer, full in zip(layers, whole, strict=True)
                for route, linear in full.maps.items()
                if route not in layer.maps
            )

    def after_layers(self, flows: Float[Tensor, "m i"], cells: Complex) -> Float[Tensor, "m k"]:
        """What the layers make of flows: an odd function.

        Args:
            flows: One row for each edge.
            cells: The complexes.

        Returns:
            One row for each edge.
        """
        nothing = [flows.new_zeros(owner.size(0), 0) for owner in cells.owners]
        states = [nothing[0], flows, nothing[2]]
        for layer in self.layers:
            states = layer(states, cells)
        return states[1]


class FlowSAT(FlowBackbone):
    r"""Simplicial attention network (Goh et al. 2022) on flows, of oriented `SenderAttention`.

    $$x \mapsto \tanh [\mathrm{att}_u(x), \mathrm{att}_d(x)]$$

    with one head over edges of a common triangle and one over edges with a common node. In the last
    layer both heads are as wide as the states, and are added.

    `LiftToCliqueComplex` gives graphs what it reads. With four layers of width 32, one flow and 2
    classes it has, with `printed_size`, the published 5,570 parameters.

    Args:
        in_channels: Number of flows, the columns of `batch.edge_features`.
        out_channels: Number of predictions for each graph.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states inside, both heads together.
        num_layers: Number of layers.
        readout: ``"mean"`` or ``"sum"`` over the edges of a graph.
        enters: ``"gate"`` or ``"sum"``; see `FlowBackbone`.
        softmax_output: Predict probabilities; see `FlowBackbone`.
        printed_size: Allocate the receiver's half of every attention vector too, which cancels.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        edge_channels: int = 0,
        hidden_channels: int = 32,
        num_layers: int = 4,
        readout: Readout = "mean",
        enters: Enters = "gate",
        softmax_output: bool = False,
        printed_size: bool = False,
    ) -> None:
        require_heads(hidden_channels, FLOW_HEADS)
        super().__init__(
            in_channels,
            out_channels,
            edge_channels=edge_channels,
            hidden_channels=hidden_channels,
            num_layers=num_layers,
            readout=readout,
            enters=enters,
            softmax_output=softmax_output,
        )
        *before, last = self.widths[:-1]
        after = [hidden_channels] * len(before) + [FLOW_HEADS * hidden_channels]
        self.layers = torch.nn.ModuleList(
            SenderAttention(one, other, heads=FLOW_HEADS, oriented=True, printed_size=printed_size)
            for one, other in zip([*before, last], after, strict=True)
        )

    def after_layers(self, flows: Float[Tensor, "m i"], cells: Complex) -> Float[Tensor, "m k"]:
        """What the layers make of flows: an odd function.

        Args:
            flows: One row for each edge.
            cells: The complexes.

        Returns:
            One row for each edge.
        """
        patterns, owner = [cells.above.upper, cells.below.lower], cells.owners[1]
        for layer in self.layers:
            heard = layer(flows, patterns, owner, cells.num_graphs)
            if heard.size(1) > self.hidden_channels:
                heard = sum(heard.chunk(FLOW_HEADS, dim=1))
            flows = tanh(heard)
        return flows
