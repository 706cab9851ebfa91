"""Backbones whose nodes send messages along arcs: GIN, GCN, GAT."""

from collections.abc import Callable
from functools import partial
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from cyclenet.data import CycleData
from cyclenet.nn.backbones.backbone import Backbone
from cyclenet.nn.layers import POOLS, GATLayer, GCNLayer, GINLayer, GraphHead, NormedLinear, RowNorm
from cyclenet.nn.layers.arc_states import ArcStates
from cyclenet.nn.layers.pooling import Readout


class MessagePassing(Backbone):
    r"""Convolutions with residuals between an encoder of nodes and a head.

    $$h \leftarrow h + \mathrm{ReLU}(\mathrm{norm}(\mathrm{conv}_t(h, s))), \qquad t = 1, 2, \dots$$

    starting from the encoded node features; then the readout over the nodes of each graph, and an
    MLP. The convolutions alone make the difference between GIN, GCN and GAT. Messages run along
    the arcs as they are stored: store both directions of an undirected edge.

    Args:
        in_channels: Width of the node features `batch.x`.
        out_channels: Number of predictions for each graph.
        convolution: Makes a layer that is called with states of nodes, arcs, and states of arcs,
            from the width of the nodes' states and that of the arcs'.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states inside.
        num_layers: Number of convolutions.
        readout: ``"mean"`` or ``"sum"`` over the nodes of a graph.
    """

    reads_shared_states: ClassVar[bool] = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        convolution: Callable[[int, int], torch.nn.Module],
        *,
        edge_channels: int,
        hidden_channels: int,
        num_layers: int,
        readout: Readout,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            edge_channels=edge_channels,
            hidden_channels=hidden_channels,
            num_layers=num_layers,
            readout=readout,
        )
        self.node_encoder = NormedLinear(in_channels, hidden_channels)
        self.layers = torch.nn.ModuleList(
            convolution(hidden_channels, edge_channels) for _ in range(num_layers)
        )
        self.norms = torch.nn.ModuleList(RowNorm(hidden_channels) for _ in range(num_layers))
        self.head = GraphHead(hidden_channels, hidden_channels, out_channels, readout)

    def forward(
        self, batch: CycleData, edge_states: Float[Tensor, "a e"] | ArcStates | None = None
    ) -> Float[Tensor, "b o"]:
        """Predictions for the graphs of a batch.

        Args:
            batch: One graph or several, with float features `x` on the nodes.
            edge_states: One row for each column of `edge_index`, or rows that these share, or None
                if there are none.

        Returns:
            One row for each graph.
        """
        states = self.first_states(batch, self.checked(batch, edge_states))
        for layer, norm in zip(self.layers, self.norms, strict=True):
            states = states + norm(layer(states, batch.edge_index, edge_states)).relu()
        return self.head(POOLS[self.readout](states, batch.graph_of("nodes"), batch.num_joined))

    def first_states(
        self, batch: CycleData, features: Float[Tensor, "n i"]
    ) -> Float[Tensor, "n k"]:
        """States of the nodes before the first message.

        Args:
            batch: The batch that `forward` was given.
            features: Its node features, checked.

        Returns:
            One row for each node.
        """
        return self.node_encoder(features)


class GIN(MessagePassing):
    """Graph isomorphism network whose messages carry states of arcs: see `GINLayer`.

    The network called GIN in Tables 1 and 2 of the paper, and the one its encoders are plugged
    into. The published code allocates modules that it never calls: a linear map that
    would join positional encodings to the nodes (2 k to k channels), a normalisation behind every
    MLP, and behind the head one more where the readout is a sum. They have no gradient. We leave
    them out unless the printed number of parameters has to come out.

    Args:
        in_channels: Width of the node features `batch.x`.
        out_channels: Number of predictions for each graph.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states inside.
        num_layers: Number of convolutions.
        readout: ``"mean"`` or ``"sum"`` over the nodes of a graph.
        printed_size: Allocate what the published code allocates, used or not.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        edge_channels: int = 0,
        hidden_channels: int = 128,
        num_layers: int = 5,
        readout: Readout = "mean",
        printed_size: bool = False,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            GINLayer,
            edge_channels=edge_channels,
            hidden_channels=hidden_channels,
            num_layers=num_layers,
            readout=readout,
        )
        if printed_size:
            self.never_called = torch.nn.ModuleList(
                (
                    torch.nn.Linear(2 * hidden_channels, hidden_channels),
                    *norms_never_called(self),
                )
            )


class GCN(MessagePassing):
    """Graph convolutional network whose messages carry states of arcs: see `GCNLayer`.

    Args:
        in_channels: Width of the node features `batch.x`.
        out_channels: Number of predictions for each graph.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states inside.
        num_layers: Number of convolutions.
        readout: ``"mean"`` or ``"sum"`` over the nodes of a graph.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        edge_channels: int = 0,
        hidden_channels: int = 128,
        num_layers: int = 5,
        readout: Readout = "mean",
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            GCNLayer,
            edge_channels=edge_channels,
            hidden_channels=hidden_channels,
            num_layers=num_layers,
            readout=readout,
        )


class GAT(MessagePassing):
    """Graph attention network whose logits and values carry states of arcs: see `GATLayer`.

    Args:
        in_channels: Width of the node features `batch.x`.
        out_channels: Number of predictions for each graph.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states inside; a multiple of `heads`.
        num_layers: Number of convolutions.
        readout: ``"mean"`` or ``"sum"`` over the nodes of a graph.
        heads: Number of attention heads.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        edge_channels: int = 0,
        hidden_channels: int = 128,
        num_layers: int = 5,
        readout: Readout = "mean",
        heads: int = 4,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            partial(GATLayer, heads=heads),
            edge_channels=edge_channels,
            hidden_channels=hidden_channels,
            num_layers=num_layers,
            readout=readout,
        )


def norms_never_called(network: MessagePassing) -> list[RowNorm]:
    """The normalisations that the published code allocates behind MLPs and never calls.

    Args:
        network: The network that they are counted for.

    Returns:
        One for each convolution, and one behind the head if that is an MLP with a normalisation.
    """
    norms = [RowNorm(network.hidden_channels) for _ in network.layers]
    return norms + [RowNorm(network.out_channels)] * (network.readout == "sum")
