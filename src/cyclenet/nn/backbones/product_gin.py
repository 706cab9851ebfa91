"""ProductGIN: the GIN of molecules, whose messages are products with the states of arcs."""

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from cyclenet.data import CycleData
from cyclenet.nn.backbones.molecular import MolecularBackbone
from cyclenet.nn.layers import RowNorm
from cyclenet.nn.layers.mlp import Stack, reset_children
from cyclenet.nn.layers.pooling import Readout


class ProductGIN(MolecularBackbone):
    r"""Graph isomorphism network with products as messages: "GIN" in Tables 4 and 6 of the paper.

    $$h_u \leftarrow \mathrm{MLP}_t\Big(h_u + \sum_{v \to u} e_{vu} \odot h_v\Big),
        \qquad t = 1, 2, \dots$$

    with an MLP of its own in each layer. There is neither a residual nor an activation between
    layers, and $\epsilon$ is 0. States of arcs have the width of those of nodes.

    The paper describes this baseline as blind to bonds; the published code multiplies with them
    in the baseline too, and so do we. The other `GIN`, of Tables 1 and 2, adds states of arcs.

    Args:
        in_channels: Number of types of nodes, or width of float features `batch.x`.
        out_channels: Number of predictions for each graph.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states inside.
        num_layers: Number of layers.
        readout: ``"mean"`` or ``"sum"`` over the nodes of a graph.
        edge_types: Number of types of bonds in `batch.edge_attr`; 1 reads none.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        edge_channels: int = 0,
        hidden_channels: int = 122,
        num_layers: int = 16,
        readout: Readout = "mean",
        edge_types: int = 1,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            edge_channels=edge_channels,
            hidden_channels=hidden_channels,
            num_layers=num_layers,
            readout=readout,
            edge_types=edge_types,
            arc_channels=hidden_channels,
        )
        self.layers = torch.nn.ModuleList(
            ProductGINLayer(hidden_channels) for _ in range(num_layers)
        )

    def after_rounds(
        self, batch: CycleData, states: Float[Tensor, "n k"], arc_states: Float[Tensor, "a k"]
    ) -> Float[Tensor, "n k"]:
        """States of the nodes after all layers.

        Args:
            batch: The batch that `forward` was given.
            states: States of the nodes before.
            arc_states: States of the arcs, the same for all layers.

        Returns:
            One row for each node.
        """
        if batch.has_filler:
            # All arcs of the filler come into one node. Without a norm between layers its sums
            # would soon be infinite.
            owner = batch.graph_of("nodes").index_select(0, batch.edge_index[1])
            of_filler = (owner == batch.num_joined - 1).unsqueeze(1)
            arc_states = arc_states.masked_fill(of_filler, 0.0)
        for layer in self.layers:
            states = layer(states, batch.edge_index, arc_states)
        return states


class ProductGINLayer(torch.nn.Module):
    r"""One layer: $h'_u = \mathrm{MLP}(h_u + \sum_{v \to u} e_{vu} \odot h_v)$.

    The MLP is Linear, ReLU, normalisation, Linear, in this order.

    Args:
        channels: Width of the states, before and after.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.mlp = Stack(
            torch.nn.Linear(channels, channels),
            torch.nn.ReLU(),
            RowNorm(channels),
            torch.nn.Linear(channels, channels),
        )

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        reset_children(self)

    def forward(
        self,
        states: Float[Tensor, "n k"],
        arcs: Int64[Tensor, "2 a"],
        arc_states: Float[Tensor, "a k"],
    ) -> Float[Tensor, "n k"]:
        """New states of the nodes.

        Args:
            states: States of the nodes.
            arcs: Source and target of each arc.
            arc_states: States of the arcs.

        Returns:
            One row for each node.
        """
        messages = arc_states * states.index_select(0, arcs[0])
        return self.mlp(states.index_add(0, arcs[1], messages))
