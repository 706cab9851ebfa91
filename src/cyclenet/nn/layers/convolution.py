"""Graph convolutions that read states of nodes and, where there are any, states of arcs."""

import math
from typing import Any

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn.functional import leaky_relu, relu

from cyclenet.nn.layers.arc_states import ArcStates, map_arcs
from cyclenet.nn.layers.heads import heads_of, require_heads
from cyclenet.nn.layers.mlp import NormedLinear, NormedMLP, reset_children
from cyclenet.nn.layers.pooling import segment_softmax, sum_pool

# Slope of the LeakyReLU below zero in Velickovic et al. 2018.
NEGATIVE_SLOPE = 0.2


class GINLayer(torch.nn.Module):
    r"""Graph isomorphism convolution with states of arcs (Hu et al. 2020).

    $$h'_u = \mathrm{MLP}\Big((1 + \epsilon) h_u
        + \sum_{v \to u} \mathrm{ReLU}(h_v + \mathrm{enc}(s_{vu}))\Big)$$

    with the MLP and the encoder of arcs normalised inside, and $\epsilon$ learned from 0. Without
    states of arcs the message is $\mathrm{ReLU}(h_v)$.

    Args:
        channels: Width of a node's state, before and after.
        edge_channels: Width of an arc's state, or 0 for none.
    """

    def __init__(self, channels: int, edge_channels: int = 0) -> None:
        super().__init__()
        self.epsilon = torch.nn.Parameter(torch.empty(()))
        self.edge_encoder = NormedLinear(edge_channels, channels) if edge_channels else None
        self.mlp = NormedMLP(channels, channels, channels)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        torch.nn.init.zeros_(self.epsilon)
        reset_children(self)

    def forward(
        self,
        states: Float[Tensor, "n k"],
        arcs: Int64[Tensor, "2 a"],
        edge_states: Float[Tensor, "a e"] | ArcStates | None = None,
    ) -> Float[Tensor, "n k"]:
        """New states of the nodes.

        Args:
            states: States of the nodes.
            arcs: Source and target of each arc.
            edge_states: States of the arcs.

        Returns:
            One row for each node.
        """
        messages = states.index_select(0, arcs[0])
        if self.edge_encoder is not None and edge_states is not None:
            parts: list[Any] = list(self.edge_encoder)
            encoded = map_arcs(parts[0], edge_states)
            for part in parts[1:]:
                encoded = part(encoded)
            messages = messages + encoded
        own = (1 + self.epsilon) * states
        return self.mlp(own.index_add(0, arcs[1], relu(messages)))


class GCNLayer(torch.nn.Module):
    r"""Graph convolution (Kipf and Welling 2017) whose messages carry states of arcs.

    $$h'_u = W \Big( \frac{h_u}{d_u}
        + \sum_{v \to u} \frac{h_v + W_e s_{vu}}{\sqrt{d_u d_v}} \Big)$$

    with $d_u$ one more than the number of arcs into u: every node also hears itself, and no state
    of an arc comes with that.

    Args:
        channels: Width of a node's state, before and after.
        edge_channels: Width of an arc's state, or 0 for none.
    """

    def __init__(self, channels: int, edge_channels: int = 0) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(channels, channels, bias=False)
        self.edge_linear = _edge_linear(edge_channels, channels)

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        reset_children(self)

    def forward(
        self,
        states: Float[Tensor, "n k"],
        arcs: Int64[Tensor, "2 a"],
        edge_states: Float[Tensor, "a e"] | ArcStates | None = None,
    ) -> Float[Tensor, "n k"]:
        """New states of the nodes.

        Args:
            states: States of the nodes.
            arcs: Source and target of each arc.
            edge_states: States of the arcs.

        Returns:
            One row for each node.
        """
        source, target = arcs
        degree = 1 + sum_pool(states.new_ones(arcs.size(1), 1), target, states.size(0))
        scale = degree.rsqrt()
        messages = states.index_select(0, source)
        if self.edge_linear is not None and edge_states is not None:
            messages = messages + map_arcs(self.edge_linear, edge_states)
        messages = messages * scale.index_select(0, source)
        return self.linear(scale * (scale * states).index_add(0, target, messages))


class GATLayer(torch.nn.Module):
    r"""Graph attention (Velickovic et al. 2018) whose logits and values carry states of arcs.

    In each head, with $\alpha$ the softmax over the arcs into u and u itself,

    $$h'_u = \sum_{v \to u} \alpha_{vu} (W h_v + W_e s_{vu}), \qquad
      z_{vu} = \mathrm{LeakyReLU}(a^\top W h_v + b^\top W h_u + c^\top W_e s_{vu}).$$

    The heads stand side by side. A node hears itself without any state of an arc.

    Args:
        channels: Width of a node's state, before and after; a multiple of `heads`.
        edge_channels: Width of an arc's state, or 0 for none.
        heads: Number of heads.

    Raises:
        ValueError: If the heads do not fit side by side.
    """

    def __init__(self, channels: int, edge_channels: int = 0, *, heads: int = 4) -> None:
        super().__init__()
        require_heads(channels, heads)
        self.heads = heads
        width = channels // heads
        self.linear = torch.nn.Linear(channels, channels, bias=False)
        self.edge_linear = _edge_linear(edge_channels, channels)
        self.from_source = torch.nn.Parameter(torch.empty(heads, width))
        self.from_target = torch.nn.Parameter(torch.empty(heads, width))
        if edge_channels:
            self.from_edge = torch.nn.Parameter(torch.empty(heads, width))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        reset_children(self)
        for vectors in self.parameters(recurse=False):
            bound = math.sqrt(3 / vectors.size(1))  # a logit of unit states has unit variance
            torch.nn.init.uniform_(vectors, -bound, bound)

    def forward(
        self,
        states: Float[Tensor, "n k"],
        arcs: Int64[Tensor, "2 a"],
        edge_states: Float[Tensor, "a e"] | ArcStates | None = None,
    ) -> Float[Tensor, "n k"]:
        """New states of the nodes.

        Args:
            states: States of the nodes.
            arcs: Source and target of each arc.
            edge_states: States of the arcs.

        Returns:
            One row for each node.
        """
        source, target = arcs
        own = heads_of(self.linear(states), self.heads)
        at_source = (own * self.from_source).sum(2)
        at_target = (own * self.from_target).sum(2)
        logits = at_source.index_select(0, source) + at_target.index_select(0, target)
        values = own.index_select(0, source)
        if self.edge_linear is not None and edge_states is not None:
            on_arcs = heads_of(map_arcs(self.edge_linear, edge_states), self.heads)
            logits = logits + (on_arcs * self.from_edge).sum(2)
            values = values + on_arcs
        # Every node hears itself: one more row for each, with the node as its own target.
        logits = leaky_relu(torch.cat((logits, at_source + at_target)), NEGATIVE_SLOPE)
        hearer = torch.cat((target, torch.arange(states.size(0), device=target.device)))
        weights = segment_softmax(logits, hearer, states.size(0))
        messages = weights.unsqueeze(2) * torch.cat((values, own))
        return sum_pool(messages.flatten(1), hearer, states.size(0))


def _edge_linear(edge_channels: int, channels: int) -> torch.nn.Linear | None:
    return torch.nn.Linear(edge_channels, channels, bias=False) if edge_channels else None
