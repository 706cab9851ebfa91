"""PPGN: a backbone on pairs of nodes whose layers multiply matrices."""

from typing import ClassVar

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from cyclenet.data import CycleData
from cyclenet.nn.backbones.backbone import Backbone
from cyclenet.nn.layers import POOLS, GraphHead, NodePairs, reset_children
from cyclenet.nn.layers.mlp import Stack
from cyclenet.nn.layers.pooling import Readout


class PPGN(Backbone):
    r"""Provably powerful graph network (Maron et al. 2019), without padding.

    A graph is a matrix of states, one for each ordered pair of nodes: whether the two are joined,
    the state of the arc between them (where only one direction is stored, its state counts
    for both), and on the diagonal the features of the node. Each block multiplies two such
    matrices channel by channel, see `PPGNBlock`. The readout takes the mean (or the sum) over the
    diagonal and over the rest, side by side.

    As in Table 1 of the paper, with two differences: what its code feeds is a triangle of the
    adjacency matrix, and it ends in a log-softmax, which is 0 for a single prediction.

    Args:
        in_channels: Width of the node features `batch.x`.
        out_channels: Number of predictions for each graph.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states inside.
        num_layers: Number of blocks.
        readout: ``"mean"`` or ``"sum"`` over the diagonal and over the rest.
        mean_product: Divide every product by the number of nodes of its graph. Published products
            are sums over all nodes: fine on a bare adjacency matrix, but states of arcs of
            unit size grow from block to block until they overflow.
    """

    reads_sizes: ClassVar[bool] = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        edge_channels: int = 0,
        hidden_channels: int = 128,
        num_layers: int = 5,
        readout: Readout = "mean",
        mean_product: bool = False,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            edge_channels=edge_channels,
            hidden_channels=hidden_channels,
            num_layers=num_layers,
            readout=readout,
        )
        widths = [1 + in_channels + edge_channels, *[hidden_channels] * (num_layers - 1)]
        self.blocks = torch.nn.ModuleList(
            PPGNBlock(width, hidden_channels, mean_product=mean_product) for width in widths
        )
        self.head = GraphHead(2 * hidden_channels, hidden_channels, out_channels, readout)

    def forward(
        self, batch: CycleData, edge_states: Float[Tensor, "a e"] | None = None
    ) -> Float[Tensor, "b o"]:
        """Predictions for the graphs of a batch.

        Args:
            batch: One graph or several, with float features `x` on the nodes.
            edge_states: One row for each column of `edge_index`, or None if there are none.

        Returns:
            One row for each graph.
        """
        features = self.checked(batch, edge_states)
        pairs = NodePairs(batch.graph_of("nodes"), batch.num_joined)
        arcs: Tensor = batch.edge_index  # pyright: ignore[reportAssignmentType]
        states = first_states(features, arcs, edge_states, pairs)
        for block in self.blocks:
            states = block(states, pairs)
        return self.head(self._pooled(states, pairs, batch))

    def _pooled(
        self, states: Float[Tensor, "p k"], pairs: NodePairs, batch: CycleData
    ) -> Float[Tensor, "b k2"]:
        """The readout over the diagonal and over the rest, side by side."""
        pool, diagonal = POOLS[self.readout], pairs.diagonal()
        on_diagonal = states.new_zeros(states.size(0), dtype=torch.bool)
        rest = (~on_diagonal.index_fill(0, diagonal, True)).nonzero().squeeze(1)
        return torch.cat(
            (
                pool(states[diagonal], batch.graph_of("nodes"), batch.num_joined),
                pool(states[rest], pairs.graph()[rest], batch.num_joined),
            ),
            dim=1,
        )


class PPGNBlock(torch.nn.Module):
    r"""One block: $X \mapsto M [X, m_1(X) m_2(X)]$.

    The MLPs $m_1, m_2$ and the linear map M treat every pair alike; the product is that of n x n
    matrices, in each channel.

    Args:
        in_channels: Width of a pair's state before.
        out_channels: Width of a pair's state after.
        mean_product: Divide the product by n.
    """

    def __init__(self, in_channels: int, out_channels: int, *, mean_product: bool = False) -> None:
        super().__init__()
        self.multiply = mean_matrix_product if mean_product else matrix_product
        self.left = _pair_mlp(in_channels, out_channels)
        self.right = _pair_mlp(in_channels, out_channels)
        self.mix = GlorotLinear(in_channels + out_channels, out_channels)

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        reset_children(self)

    def forward(self, states: Float[Tensor, "p i"], pairs: NodePairs) -> Float[Tensor, "p o"]:
        """New states of the pairs.

        Args:
            states: States of the pairs.
            pairs: Which pairs these are.

        Returns:
            One row for each pair.
        """
        product = pairs.apply(self.multiply, self.left(states), self.right(states))
        return self.mix(torch.cat((states, product), dim=1))


class GlorotLinear(torch.nn.Linear):
    """A linear map that starts with weights uniform as in Glorot and Bengio 2010, and no bias."""

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        torch.nn.init.xavier_uniform_(self.weight)
        torch.nn.init.zeros_(self.bias)


def matrix_product(
    left: Float[Tensor, "c s s k"], right: Float[Tensor, "c s s k"]
) -> Float[Tensor, "c s s k"]:
    """The product of two matrices in each graph and channel.

    Args:
        left: One matrix for each of c graphs of s nodes and each of k channels.
        right: As many.

    Returns:
        As many.
    """
    return (left.permute(0, 3, 1, 2) @ right.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)


def mean_matrix_product(
    left: Float[Tensor, "c s s k"], right: Float[Tensor, "c s s k"]
) -> Float[Tensor, "c s s k"]:
    """`matrix_product` over the number of nodes: a mean over the node between.

    Args:
        left: One matrix for each of c graphs of s nodes and each of k channels.
        right: As many.

    Returns:
        As many.
    """
    return matrix_product(left, right) / left.size(1)


def first_states(
    features: Float[Tensor, "n i"],
    arcs: Int64[Tensor, "2 a"],
    edge_states: Float[Tensor, "a e"] | None,
    pairs: NodePairs,
) -> Float[Tensor, "p o"]:
    """What a pair knows before the first block: adjacency, node features, states of arcs.

    Copies of an arc are averaged. The adjacency is symmetric: an arc without its reverse stands for
    both directions, with the same state.

    Args:
        features: Features of the nodes.
        arcs: Source and target of each arc.
        edge_states: States of the arcs, or None.
        pairs: All pairs of nodes.

    Returns:
        One row for each pair.
    """
    there, back = pairs.row(arcs[0], arcs[1]), pairs.row(arcs[1], arcs[0])
    copies = features.new_zeros(pairs.num_pairs)
    copies = copies.index_add(0, there, torch.ones_like(copies[there]))
    lone = (copies[back] == 0).to(copies.dtype)
    copies = copies.index_add(0, back, lone)
    on_diagonal = features.new_zeros(pairs.num_pairs, features.size(1))
    on_diagonal = on_diagonal.index_copy(0, pairs.diagonal(), features)
    channels = [(copies > 0).to(copies.dtype).unsqueeze(1), on_diagonal]
    if edge_states is not None:
        sums = edge_states.new_zeros(pairs.num_pairs, edge_states.size(1))
        sums = sums.index_add(0, there, edge_states)
        sums = sums.index_add(0, back, edge_states * lone.unsqueeze(1))
        channels.append(sums / copies.clamp(min=1).unsqueeze(1))
    return torch.cat(channels, dim=1)


def _pair_mlp(in_channels: int, out_channels: int) -> Stack:
    return Stack(
        GlorotLinear(in_channels, out_channels),
        torch.nn.ReLU(),
        GlorotLinear(out_channels, out_channels),
        torch.nn.ReLU(),
    )
