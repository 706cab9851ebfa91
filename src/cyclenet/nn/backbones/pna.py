"""PNA: a backbone whose nodes hear mean, maximum, minimum and spread of their messages."""

import math
from collections.abc import Iterable
from typing import NamedTuple

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn.functional import leaky_relu
from torch_geometric.data import Data

from cyclenet.data import CycleData
from cyclenet.nn.backbones.molecular import MolecularBackbone
from cyclenet.nn.layers import RowNorm
from cyclenet.nn.layers.mlp import reset_children
from cyclenet.nn.layers.pooling import Readout, sum_pool
from cyclenet.nn.layers.statistics import row_statistics

# Where every node has two neighbours, as on a ring.
RING_LOG_DEGREE = math.log(3)

# How much is made of many messages: nothing, more, less.
_NUM_SCALES = 3


class PNA(MolecularBackbone):
    r"""Principal neighbourhood aggregation (Corso et al. 2020): see `PNALayer`.

    States of arcs enter every layer as they are. A node that hears D arcs scales what it hears by
    1, by $\log(D + 1)/\delta$, and by $\delta/\log(D + 1)$, with $\delta$ the mean of
    $\log(D + 1)$ over the training set. A node that hears nobody is scaled as if D were 1.

    The paper has 5 towers at width 80, and 40 channels on arcs.

    Args:
        in_channels: Number of types of nodes, or width of float features `batch.x`.
        out_channels: Number of predictions for each graph.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states of nodes; a multiple of `towers`.
        num_layers: Number of layers.
        readout: ``"mean"`` or ``"sum"`` over the nodes of a graph.
        edge_types: Number of types of bonds in `batch.edge_attr`; 1 reads none.
        arc_channels: Width of the states of arcs inside; None means half of `hidden_channels`.
        towers: Number of networks side by side, each on its part of the channels.
        log_degree: The $\delta$ of the training set: see `mean_log_degree`.
        published_scale: Draw the weights of the layers as small as the published code does.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        edge_channels: int = 0,
        hidden_channels: int = 80,
        num_layers: int = 16,
        readout: Readout = "sum",
        edge_types: int = 1,
        arc_channels: int | None = None,
        towers: int = 4,
        log_degree: float = RING_LOG_DEGREE,
        published_scale: bool = False,
    ) -> None:
        if arc_channels is None:
            arc_channels = max(hidden_channels // 2, 1)
        super().__init__(
            in_channels,
            out_channels,
            edge_channels=edge_channels,
            hidden_channels=hidden_channels,
            num_layers=num_layers,
            readout=readout,
            edge_types=edge_types,
            arc_channels=arc_channels,
        )
        if towers < 1 or hidden_channels % towers:
            raise ValueError(
                f"`towers` must divide `hidden_channels` = {hidden_channels}, but it is {towers}"
            )
        if not 0 < log_degree < math.inf:
            raise ValueError(
                f"`log_degree` must be a positive number, but it is {log_degree}; try: "
                "mean_log_degree(items) of the training set"
            )
        self.log_degree = log_degree
        self.layers = torch.nn.ModuleList(
            PNALayer(hidden_channels, arc_channels, towers=towers, published_scale=published_scale)
            for _ in range(num_layers)
        )

    def after_rounds(
        self, batch: CycleData, states: Float[Tensor, "n k"], arc_states: Float[Tensor, "a c"]
    ) -> Float[Tensor, "n k"]:
        """States of the nodes after all layers.

        Args:
            batch: The batch that `forward` was given.
            states: States of the nodes before.
            arc_states: States of the arcs, the same for all layers.

        Returns:
            One row for each node.
        """
        target, num_nodes = batch.edge_index[1], states.size(0)
        graph = batch.graph_of("nodes")
        degree = sum_pool(states.new_ones(target.size(0), 1), target, num_nodes)
        ratio = degree.clamp(min=1).log1p() / self.log_degree
        scales = torch.cat((torch.ones_like(ratio), ratio, 1 / ratio), dim=1)
        sizes = sum_pool(states.new_ones(num_nodes, 1), graph, batch.num_joined)
        hearers = Hearers(degree, scales, sizes.clamp(min=1).rsqrt().index_select(0, graph))
        for layer in self.layers:
            states = layer(states, batch.edge_index, arc_states, hearers)
        return states


class Hearers(NamedTuple):
    """What all layers have to know of the nodes.

    Args:
        degree: How many arcs each hears.
        scales: The three factors of what it hears.
        share: One over the root of the number of nodes of its graph.
    """

    degree: Float[Tensor, "n 1"]
    scales: Float[Tensor, "n 3"]
    share: Float[Tensor, "n 1"]


class PNALayer(torch.nn.Module):
    r"""Towers side by side, each of which reads its own part of the channels (Corso et al. 2020).

    With $h$ the part of a tower, four statistics $S$ (see `row_statistics`) and scales $c_i$, in a
    graph of n nodes,

    $$m_{vu} = M [h_v, h_u, e_{vu}] + b, \qquad
      t_u = \mathrm{norm}\Big(\tfrac{1}{\sqrt n}
            \big(U [h_u, c_1 S_u, c_2 S_u, c_3 S_u] + b'\big)\Big),$$

    with $S_u$ the statistics of all $m_{vu}$. Then the towers are mixed,
    $h' = h + \mathrm{LeakyReLU}(W t + b'')$.

    Args:
        channels: Width of the states of nodes, before and after.
        arc_channels: Width of the states of arcs.
        towers: Number of towers, which divides `channels`.
        published_scale: Draw weights with the published gain, one over the number of inputs, and
            biases 0. At the start a layer then hardly does anything.
    """

    def __init__(
        self, channels: int, arc_channels: int, *, towers: int, published_scale: bool = False
    ) -> None:
        super().__init__()
        width = channels // towers
        self.published_scale = published_scale
        # The map M of all towers: what it makes of v beside what it makes of u, and of the arc.
        self.of_nodes = torch.nn.Parameter(torch.empty(towers, width, 2 * width))
        self.of_arcs = torch.nn.Linear(arc_channels, channels)
        # The map U: of the node, and of four statistics for each scale.
        self.of_self = torch.nn.Parameter(torch.empty(towers, width, width))
        self.of_heard = torch.nn.Parameter(torch.empty(towers, 4 * width, _NUM_SCALES * width))
        self.bias = torch.nn.Parameter(torch.empty(towers, width))
        self.norm = RowNorm(channels)
        self.mix = torch.nn.Linear(channels, channels)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        reset_children(self)
        _, width, twice = self.of_nodes.shape
        message = self.of_nodes, self.of_arcs.weight, self.of_arcs.bias
        update = self.of_self, self.of_heard, self.bias
        inputs = twice + self.of_arcs.in_features
        self._draw(message, inputs, width)
        self._draw(update, width + _NUM_SCALES * self.of_heard.size(1), width)
        self._draw((self.mix.weight, self.mix.bias), *self.mix.weight.shape)

    def _draw(self, parts: tuple[Tensor, ...], num_inputs: int, num_outputs: int) -> None:
        """Weights and, last, the bias of one linear map, which is kept in several tensors."""
        bound = 1 / math.sqrt(num_inputs)
        if self.published_scale:
            bound = math.sqrt(6 / (num_inputs + num_outputs)) / num_inputs
        for part in parts:
            torch.nn.init.uniform_(part, -bound, bound)
        if self.published_scale:
            torch.nn.init.zeros_(parts[-1])

    def forward(
        self,
        states: Float[Tensor, "n k"],
        arcs: Int64[Tensor, "2 a"],
        arc_states: Float[Tensor, "a c"],
        hearers: Hearers,
    ) -> Float[Tensor, "n k"]:
        """New states of the nodes.

        Args:
            states: States of the nodes.
            arcs: Source and target of each arc.
            arc_states: States of the arcs.
            hearers: What there is to know of the nodes.

        Returns:
            One row for each node.
        """
        source, target = arcs
        towers, width, _ = self.of_nodes.shape
        parts = states.view(-1, towers, width)
        said, heard = (x.flatten(1) for x in _by_tower(parts, self.of_nodes).split(width, dim=2))
        messages = said.index_select(0, source) + heard.index_select(0, target)
        found = row_statistics(messages + self.of_arcs(arc_states), target, hearers.degree)
        # The statistics of a tower side by side, and for each scale a map of them.
        found = found.unflatten(2, (towers, width)).transpose(1, 2).flatten(2)
        scaled = _by_tower(found, self.of_heard).unflatten(2, (_NUM_SCALES, width))
        update = (scaled * hearers.scales.view(-1, 1, _NUM_SCALES, 1)).sum(dim=2)
        update = update + _by_tower(parts, self.of_self) + self.bias
        update = self.norm(update.flatten(1) * hearers.share)
        return states + leaky_relu(self.mix(update))


def mean_log_degree(items: Iterable[Data]) -> float:
    r"""The mean of $\log(D + 1)$ over all nodes of some graphs, D the arcs into a node.

    Args:
        items: The graphs of a training set.

    Returns:
        The `log_degree` of `PNA`.

    Raises:
        ValueError: If no arc comes into any node: a scale of 0 is none.
    """
    total, count = 0.0, 0
    for item in items:
        num_nodes = item.num_nodes or 0
        degree = torch.bincount(item.edge_index[1], minlength=num_nodes)
        total += float(degree.double().log1p().sum())
        count += num_nodes
    if not total:
        raise ValueError("`items` must be graphs with arcs, but there are none; try: log_degree=1")
    return total / count


def _by_tower(
    rows: Float[Tensor, "n t w"], weights: Float[Tensor, "t w o"]
) -> Float[Tensor, "n t o"]:
    """Each tower's linear map of its part of the rows."""
    return torch.einsum("ntw,two->nto", rows, weights)
