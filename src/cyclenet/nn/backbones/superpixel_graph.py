"""The published GCN and GAT for superpixels, which read nodes alone."""

from collections.abc import Callable
from functools import partial

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn.functional import relu

from cyclenet.data import CycleData
from cyclenet.nn.backbones.backbone import Backbone
from cyclenet.nn.backbones.simplicial import softmax_if
from cyclenet.nn.layers import POOLS, mean_pool
from cyclenet.nn.layers.cell_attention import PairAttention
from cyclenet.nn.layers.heads import require_heads
from cyclenet.nn.layers.mlp import Stack
from cyclenet.nn.layers.pooling import Readout, sum_pool


class SuperpixelGraph(Backbone):
    r"""Convolutions one after the other, all of whose outputs are read: no norm, no residual.

    $$x^{(t)} = \mathrm{ReLU}(\mathrm{conv}_t(x^{(t - 1)})), \qquad
      y = V\, \mathrm{pool} [x^{(1)}, x^{(2)}, \dots] + c.$$

    A node has the features `batch.x` and, where there are states of arcs, beside them the mean of
    the states of the arcs into it.

    Args:
        in_channels: Width of the node features `batch.x`.
        out_channels: Number of predictions for each graph.
        convolution: Makes a layer that is called with rows of nodes and the pairs of a node and one
            that it hears, itself included, from its widths before and after.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states inside.
        num_layers: Number of convolutions.
        readout: ``"mean"`` or ``"sum"`` over the nodes of a graph.
        softmax_output: Predict probabilities; see `SimplicialBackbone`.
    """

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
        widths = [in_channels + edge_channels] + [hidden_channels] * (num_layers - 1)
        self.layers = torch.nn.ModuleList(convolution(one, hidden_channels) for one in widths)
        last = torch.nn.Linear(num_layers * hidden_channels, out_channels)
        self.head = Stack(last, *softmax_if(softmax_output))

    def forward(
        self, batch: CycleData, edge_states: Float[Tensor, "a e"] | None = None
    ) -> Float[Tensor, "b o"]:
        """Predictions for the graphs of a batch.

        Args:
            batch: One graph or several, with float features `x` on the nodes and both directions
                of every edge.
            edge_states: One row for each column of `edge_index`, or None if there are none.

        Returns:
            One row for each graph.
        """
        states = self.checked(batch, edge_states)
        itself = torch.arange(states.size(0), device=states.device).expand(2, -1)
        pairs = torch.cat((batch.edge_index.flip(0), itself), dim=1)
        if edge_states is not None:
            heard = mean_pool(edge_states, batch.edge_index[1], states.size(0))
            states = torch.cat((states, heard), dim=1)
        every: list[Tensor] = []
        for layer in self.layers:
            states = relu(layer(states, pairs))
            every.append(states)
        rows, owner = torch.cat(every, dim=1), batch.graph_of("nodes")
        return self.head(POOLS[self.readout](rows, owner, batch.num_joined))


class SuperpixelGCN(SuperpixelGraph):
    r"""Graph convolutional network (Kipf and Welling 2017) of the published superpixel experiment.

    $$x \mapsto D^{-1/2} (A + I) D^{-1/2} x W + b$$

    with D one more than the degree. With three layers of width 64, 5 features and 10 classes it has
    the published 10,634 parameters.
    `GCN` is the network of the other experiments.

    Args:
        in_channels: Width of the node features `batch.x`.
        out_channels: Number of predictions for each graph.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states inside.
        num_layers: Number of convolutions.
        readout: ``"mean"`` or ``"sum"`` over the nodes of a graph.
        softmax_output: Predict probabilities; see `SimplicialBackbone`.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        edge_channels: int = 0,
        hidden_channels: int = 64,
        num_layers: int = 3,
        readout: Readout = "mean",
        softmax_output: bool = False,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            _GCNLayer,
            edge_channels=edge_channels,
            hidden_channels=hidden_channels,
            num_layers=num_layers,
            readout=readout,
            softmax_output=softmax_output,
        )


class SuperpixelGAT(SuperpixelGraph):
    """Graph attention network of the published superpixel experiment: see `PairAttention`.

    A node hears its neighbours and itself. With three layers of width 60 in two heads, 5 features
    and 10 classes it has the published 9,862 parameters. `GAT` is the network of the other
    experiments.

    Args:
        in_channels: Width of the node features `batch.x`.
        out_channels: Number of predictions for each graph.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states inside, all heads together.
        num_layers: Number of convolutions.
        readout: ``"mean"`` or ``"sum"`` over the nodes of a graph.
        softmax_output: Predict probabilities; see `SimplicialBackbone`.
        heads: Number of attention heads.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        edge_channels: int = 0,
        hidden_channels: int = 60,
        num_layers: int = 3,
        readout: Readout = "mean",
        softmax_output: bool = False,
        heads: int = 2,
    ) -> None:
        require_heads(hidden_channels, heads)
        super().__init__(
            in_channels,
            out_channels,
            partial(PairAttention, heads=heads),
            edge_channels=edge_channels,
            hidden_channels=hidden_channels,
            num_layers=num_layers,
            readout=readout,
            softmax_output=softmax_output,
        )


class _GCNLayer(torch.nn.Module):
    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(in_channels, out_channels)

    def forward(
        self, rows: Float[Tensor, "n i"], pairs: Int64[Tensor, "2 p"]
    ) -> Float[Tensor, "n o"]:
        hears, heard = pairs
        count = sum_pool(rows.new_ones(hears.size(0), 1), hears, rows.size(0))
        scale = count.rsqrt()
        scaled = (scale * rows).index_select(0, heard)
        return self.linear(scale * sum_pool(scaled, hears, rows.size(0)))
