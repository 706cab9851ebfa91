"""SignNet: a backbone whose nodes know the eigenvectors of the graph, up to their signs."""

from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from cyclenet.data import CycleData
from cyclenet.nn.backbones.message_passing import MessagePassing, norms_never_called
from cyclenet.nn.layers import (
    GINLayer,
    NodePairs,
    NormedLinear,
    NormedMLP,
    RowNorm,
    reset_children,
)
from cyclenet.nn.layers.heads import heads_of, require_heads
from cyclenet.nn.layers.mlp import Stack
from cyclenet.nn.layers.pooling import Readout

# As in the published code; the default of torch is ten times larger.
LAYER_NORM_EPS = 1e-6


class SignNet(MessagePassing):
    r"""Sign-invariant network (Lim et al. 2022) in front of the convolutions of `GIN`.

    The eigenvectors come from `AddEigenspaces`, all n of them. The positions p of
    `SignInvariantEncoder` are joined to the encoded node features, $h = W [\mathrm{enc}(x), p]$,
    before the first convolution. The network called SignNet in Tables 1 and 2 of the paper.

    Changing the sign of eigenvectors changes nothing, in training neither. Changing the basis of
    an eigenspace of two or more dimensions does, and which basis an eigensolver finds changes
    with the names of the nodes. So only where all eigenvalues differ (apart from 0, whose
    eigenvectors belong to the components) are predictions independent of these names.

    Args:
        in_channels: Width of the node features `batch.x`.
        out_channels: Number of predictions for each graph.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states inside; a multiple of `heads`.
        num_layers: Number of convolutions.
        readout: ``"mean"`` or ``"sum"`` over the nodes of a graph.
        sign_layers: Convolutions on each eigenvector.
        attention_layers: Layers of attention among the eigenvectors.
        heads: Number of attention heads.
        dropout: Share of attention weights dropped in training.
        printed_size: Allocate what the published code allocates, used or not: a normalisation
            behind every MLP, and biases in front of normalisations, which never learn.
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
        sign_layers: int = 5,
        attention_layers: int = 4,
        heads: int = 4,
        dropout: float = 0.1,
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
        self.positions = SignInvariantEncoder(
            hidden_channels,
            sign_layers=sign_layers,
            attention_layers=attention_layers,
            heads=heads,
            dropout=dropout,
            idle_biases=printed_size,
        )
        self.join = torch.nn.Linear(2 * hidden_channels, hidden_channels)
        if printed_size:
            behind_signs = [RowNorm(hidden_channels) for _ in range(sign_layers)]
            self.never_called = torch.nn.ModuleList(behind_signs + norms_never_called(self))

    def first_states(
        self, batch: CycleData, features: Float[Tensor, "n i"]
    ) -> Float[Tensor, "n k"]:
        """States of the nodes before the first message: features and positions.

        Args:
            batch: The batch that `forward` was given.
            features: Its node features, checked.

        Returns:
            One row for each node.
        """
        return self.join(torch.cat((self.node_encoder(features), self.positions(batch)), dim=1))


class SignInvariantEncoder(torch.nn.Module):
    r"""Positions of nodes from all eigenvectors, the same for $v_k$ and $-v_k$.

    With $\phi$ a stack of `SignLayer` on each eigenvector alone,

    $$x_k = \phi(v_k) + \phi(-v_k) + \mathrm{enc}(\lambda_k), \qquad
      p_u = \mathrm{norm}\Big(W \sum_k \mathrm{attention}(x_{u1}, \dots, x_{un})_k\Big).$$

    Both signs go through one pass, so the statistics of the normalisations do not know which
    is which (the published code makes two passes, whose statistics differ). A graph of n nodes has
    n eigenvectors; attention is among these and no others.

    Args:
        channels: Width of everything inside, and of a position.
        sign_layers: Number of layers in phi.
        attention_layers: Number of layers of attention.
        heads: Number of attention heads.
        dropout: Share of attention weights dropped in training.
        idle_biases: Allocate the published biases in front of normalisations.

    Raises:
        ValueError: If there is no layer in phi.
    """

    def __init__(
        self,
        channels: int,
        *,
        sign_layers: int = 5,
        attention_layers: int = 4,
        heads: int = 4,
        dropout: float = 0.1,
        idle_biases: bool = False,
    ) -> None:
        super().__init__()
        if sign_layers < 1:
            raise ValueError(f"`sign_layers` must be at least 1, but it is {sign_layers}")
        widths = [1, *[channels] * (sign_layers - 1)]
        self.phi = torch.nn.ModuleList(SignLayer(width, channels, idle_biases) for width in widths)
        self.value_encoder = Stack(NormedLinear(1, 1), NormedLinear(1, channels))
        self.attention = torch.nn.ModuleList(
            AttentionLayer(channels, heads=heads, dropout=dropout) for _ in range(attention_layers)
        )
        self.project = Stack(torch.nn.Linear(channels, channels, bias=False), RowNorm(channels))

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        reset_children(self)

    def forward(self, batch: CycleData) -> Float[Tensor, "n k"]:
        """Positions of the nodes.

        Args:
            batch: Graphs that went through `AddEigenspaces`.

        Returns:
            One row for each node.
        """
        pairs = NodePairs(batch.graph_of("nodes"), batch.num_joined)
        # Encodings are stored in the type of the transform, which need not be the network's.
        entry = _entries(batch, pairs).to(next(self.parameters()).dtype)
        arcs = entry.new_zeros(pairs.num_pairs)
        into = pairs.row(batch.edge_index[1], batch.edge_index[0])
        adjacency = arcs.index_add(0, into, torch.ones_like(arcs[into])).unsqueeze(1)
        states = torch.stack((entry, -entry), dim=1).unsqueeze(2)
        for layer in self.phi:
            states = layer(states, adjacency, pairs)
        values = self.value_encoder(batch.eigenvalue.to(entry.dtype).unsqueeze(1))
        tokens = states.sum(1) + values.index_select(0, batch.eigen_pairs[1])
        return self.project(pairs.apply(self._attend, tokens, to="nodes"))

    def _attend(self, tokens: Float[Tensor, "c s s k"]) -> Float[Tensor, "c s k"]:
        """The eigenvectors of each node among each other, then their sum."""
        count, size = tokens.shape[:2]
        tokens = tokens.flatten(0, 1)
        for layer in self.attention:
            tokens = layer(tokens)
        return tokens.sum(1).unflatten(0, (count, size))


class SignLayer(torch.nn.Module):
    r"""A graph convolution on every eigenvector by itself, with both of its signs.

    $$z = (1 + \epsilon) x + A x, \qquad
      x \leftarrow x + \mathrm{ReLU}(\mathrm{norm}(\mathrm{MLP}(z)))$$

    where A counts the arcs from column to row. The first layer, which widens the rows, has
    nothing to add x to.

    Args:
        in_channels: Width before.
        out_channels: Width after.
        idle_bias: Allocate the published bias in front of the normalisation.
    """

    def __init__(self, in_channels: int, out_channels: int, idle_bias: bool = False) -> None:
        super().__init__()
        self.epsilon = torch.nn.Parameter(torch.empty(()))
        self.mlp = NormedMLP(in_channels, out_channels, out_channels, bias=idle_bias)
        self.norm = RowNorm(out_channels)
        self.is_residual = in_channels == out_channels
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        torch.nn.init.zeros_(self.epsilon)
        reset_children(self)

    def forward(
        self,
        states: Float[Tensor, "p 2 i"],
        adjacency: Float[Tensor, "p 1"],
        pairs: NodePairs,
    ) -> Float[Tensor, "p 2 o"]:
        """New states of pairs (node, eigenvector).

        Args:
            states: States of the pairs, for both signs.
            adjacency: The adjacency matrices, row after row.
            pairs: Which pairs these are.

        Returns:
            One row for each pair and sign.
        """
        heard = pairs.apply(_from_neighbours, adjacency, states.flatten(1)).view_as(states)
        rows = ((1 + self.epsilon) * states + heard).flatten(0, 1)
        rows = self.norm(self.mlp(rows)).relu()
        new = rows.unflatten(0, (states.size(0), 2))
        return states + new if self.is_residual else new


class AttentionLayer(torch.nn.Module):
    r"""A transformer encoder layer (Vaswani et al. 2017), normalised after each of its halves.

    $$x \leftarrow \mathrm{norm}(x + \mathrm{attention}(x)), \qquad
      x \leftarrow \mathrm{norm}(x + \mathrm{MLP}(x))$$

    The four maps of the attention have no biases, and the MLP is as narrow as its ends.

    Args:
        channels: Width of a token; a multiple of `heads`.
        heads: Number of heads.
        dropout: Share of attention weights dropped in training.

    Raises:
        ValueError: If the heads do not fit side by side.
    """

    def __init__(self, channels: int, *, heads: int = 4, dropout: float = 0.1) -> None:
        super().__init__()
        require_heads(channels, heads)
        self.heads = heads
        self.dropout = dropout
        self.query = torch.nn.Linear(channels, channels, bias=False)
        self.key = torch.nn.Linear(channels, channels, bias=False)
        self.value = torch.nn.Linear(channels, channels, bias=False)
        self.out = torch.nn.Linear(channels, channels, bias=False)
        self.attention_norm = torch.nn.LayerNorm(channels, eps=LAYER_NORM_EPS)
        self.widen = torch.nn.Linear(channels, channels)
        self.narrow = torch.nn.Linear(channels, channels)
        self.mlp_norm = torch.nn.LayerNorm(channels, eps=LAYER_NORM_EPS)

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        reset_children(self)

    def forward(self, tokens: Float[Tensor, "r t k"]) -> Float[Tensor, "r t k"]:
        """New tokens of r sets of t tokens each; those of a set may be in any order.

        Args:
            tokens: The tokens.

        Returns:
            As many.
        """
        maps = (self.query, self.key, self.value)
        parts = (heads_of(part(tokens), self.heads).transpose(1, 2) for part in maps)
        dropout = self.dropout if self.training else 0.0
        heard = scaled_dot_product_attention(*parts, dropout_p=dropout)
        heard = heard.transpose(1, 2).flatten(2)
        tokens = self.attention_norm(tokens + self.out(heard))
        return self.mlp_norm(tokens + self.narrow(self.widen(tokens).relu()))


def _from_neighbours(
    adjacency: Float[Tensor, "c s s 1"], states: Float[Tensor, "c s s k"]
) -> Float[Tensor, "c s s k"]:
    """The sum over the neighbours of each node, for every eigenvector and channel alike."""
    return (adjacency.squeeze(3) @ states.flatten(2)).view_as(states)


def _entries(batch: CycleData, pairs: NodePairs) -> Float[Tensor, " p"]:
    """The entries of all eigenvectors of every graph."""
    if "eigen_entry" not in batch:
        raise ValueError(
            "`batch` must hold the eigenvectors of its graphs, but it has no `eigen_entry`; try: "
            "`AddEigenspaces()` on every graph"
        )
    if batch.eigen_entry.size(0) != pairs.num_pairs:
        raise ValueError(
            f"`batch.eigen_entry` must hold all {pairs.num_pairs} entries of the eigenvectors, but "
            f"it holds {batch.eigen_entry.size(0)}; try: `AddEigenspaces()` after everything that "
            "changes the nodes"
        )
    return batch.eigen_entry
