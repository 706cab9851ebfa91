"""GatedGCN: a backbone whose arcs have states that open and close the gates of messages."""

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from cyclenet.data import CycleData
from cyclenet.nn.backbones.molecular import MolecularBackbone
from cyclenet.nn.layers import RowNorm
from cyclenet.nn.layers.mlp import reset_children
from cyclenet.nn.layers.pooling import Readout, sum_pool

# Keeps the mean over the gates of a node finite where all of them are closed.
_CLOSED = 1e-6


class GatedGCN(MolecularBackbone):
    """Gated graph convolutions (Bresson and Laurent 2018): see `GatedGCNLayer`.

    States of nodes and of arcs have one width, and both are carried from layer to layer.

    The published code has biases that never learn, because a normalisation takes them off or
    because they only repeat another one, and normalises the states of arcs once more behind the
    last layer, where nobody reads them. We leave these out unless the printed number of parameters
    has to come out.

    Args:
        in_channels: Number of types of nodes, or width of float features `batch.x`.
        out_channels: Number of predictions for each graph.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states inside.
        num_layers: Number of layers.
        readout: ``"mean"`` or ``"sum"`` over the nodes of a graph.
        edge_types: Number of types of bonds in `batch.edge_attr`; 1 reads none.
        printed_size: Allocate what the published code allocates, used or not.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        edge_channels: int = 0,
        hidden_channels: int = 77,
        num_layers: int = 16,
        readout: Readout = "mean",
        edge_types: int = 1,
        printed_size: bool = False,
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
            GatedGCNLayer(hidden_channels, last=i + 1 == num_layers, idle_biases=printed_size)
            for i in range(num_layers)
        )
        if printed_size:
            self.never_called = RowNorm(hidden_channels)

    def after_rounds(
        self, batch: CycleData, states: Float[Tensor, "n k"], arc_states: Float[Tensor, "a k"]
    ) -> Float[Tensor, "n k"]:
        """States of the nodes after all layers.

        Args:
            batch: The batch that `forward` was given.
            states: States of the nodes before.
            arc_states: States of the arcs before.

        Returns:
            One row for each node.
        """
        for layer in self.layers:
            states, arc_states = layer(states, batch.edge_index, arc_states)
        return states


class GatedGCNLayer(torch.nn.Module):
    r"""Gated graph convolution with residuals (Bresson and Laurent 2018).

    $$z_{vu} = D h_v + E h_u + C e_{vu}, \qquad
      y_u = A h_u + \frac{\sum_{v \to u} \sigma(z_{vu}) \odot B h_v}
                         {\sum_{v \to u} \sigma(z_{vu}) + 10^{-6}},$$

    $$h'_u = h_u + \mathrm{ReLU}(\mathrm{norm}(y_u)), \qquad
      e'_{vu} = e_{vu} + \mathrm{ReLU}(\mathrm{norm}(z_{vu})).$$

    Args:
        channels: Width of the states of nodes and arcs, before and after.
        last: Leave the states of arcs as they are: nobody comes to read new ones.
        idle_biases: Whether A, B, D and E have biases too. A normalisation takes those of A and B
            off, the latter as long as every node hears some arc; those of D and E repeat that of C.
    """

    def __init__(self, channels: int, *, last: bool = False, idle_biases: bool = False) -> None:
        super().__init__()
        # A, B, D and E, one below the other.
        self.of_nodes = torch.nn.Linear(channels, 4 * channels, bias=idle_biases)
        self.of_arcs = torch.nn.Linear(channels, channels)
        self.node_norm = RowNorm(channels)
        self.arc_norm = None if last else RowNorm(channels)

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        reset_children(self)

    def forward(
        self,
        states: Float[Tensor, "n k"],
        arcs: Int64[Tensor, "2 a"],
        arc_states: Float[Tensor, "a k"],
    ) -> tuple[Float[Tensor, "n k"], Float[Tensor, "a k"]]:
        """New states of the nodes and of the arcs.

        Args:
            states: States of the nodes.
            arcs: Source and target of each arc.
            arc_states: States of the arcs.

        Returns:
            One row for each node, and one for each arc.
        """
        source, target = arcs
        channels = states.size(1)
        own, sent, heard = self.of_nodes(states).split((channels, 2 * channels, channels), dim=1)
        value, of_source = sent.index_select(0, source).split(channels, dim=1)
        logits = of_source + heard.index_select(0, target) + self.of_arcs(arc_states)
        gates = logits.sigmoid()
        # Both sums over the arcs into a node in one go.
        sums = sum_pool(torch.cat((gates * value, gates), dim=1), target, states.size(0))
        values, weights = sums.split(channels, dim=1)
        new = own + values / (weights + _CLOSED)
        states = states + self.node_norm(new).relu()
        if self.arc_norm is not None:
            arc_states = arc_states + self.arc_norm(logits).relu()
        return states, arc_states
