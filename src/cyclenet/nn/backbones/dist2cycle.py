"""Dist2Cycle: a network that predicts, for each edge, how far away the nearest hole is."""

from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import leaky_relu, tanh

from cyclenet.data import CycleData
from cyclenet.nn.backbones.backbone import check_arc_states
from cyclenet.nn.backbones.simplicial import AddedStates, features_of
from cyclenet.nn.layers import reset_children
from cyclenet.nn.layers.cell_attention import NEGATIVE_SLOPE


class Dist2Cycle(torch.nn.Module):
    r"""Convolutions on the edges of a complex, one row of predictions for each (Keros et al. 2022).

    $$h \mapsto \mathrm{LeakyReLU}(W A h + b), \qquad A_{ij} = K_{ij}, \quad K = (L_1 + I)^{-1},$$

    for edges i and j with a common node and for i = j, and zeros elsewhere; tanh behind the last
    layer. `AddHodgeInverse` gives complexes the weights, and features of edges behind those that
    they have: published are 3 Betti numbers of links and 10 singular vectors of K, or 23 columns
    with the singular values. With twelve layers of width 128 and 13 features it has the published
    167,041 parameters.

    This is no `Backbone`: it has a row for each undirected edge and not for each graph. States of
    arcs are averaged over the two arcs of an edge and added to its features, as they are where they
    are as wide, else after a linear map.

    In evaluation mode other graphs of the batch change nothing. The directions of edges do: the
    weights and the singular vectors are odd, the other features are not.

    Args:
        in_channels: Width of `batch.edge_features`.
        out_channels: Number of predictions for each edge.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states inside.
        num_layers: Number of layers.

    Raises:
        ValueError: If a number is too small.
    """

    # A sparse matrix is sorted on the device, which a GPU cannot replay.
    reads_sizes: ClassVar[bool] = True
    reads_shared_states: ClassVar[bool] = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int = 1,
        *,
        edge_channels: int = 0,
        hidden_channels: int = 128,
        num_layers: int = 12,
    ) -> None:
        super().__init__()
        sizes = {"in_channels": in_channels, "out_channels": out_channels}
        sizes |= {"hidden_channels": hidden_channels, "num_layers": num_layers}
        for name, value in sizes.items():
            if value < 1:
                raise ValueError(f"`{name}` must be at least 1, but it is {value}")
        self.in_channels, self.edge_channels = in_channels, edge_channels
        self.added = AddedStates(edge_channels, in_channels)
        widths = [in_channels, *[hidden_channels] * (num_layers - 1), out_channels]
        self.layers = torch.nn.ModuleList(
            EdgeConvolution(widths[t], widths[t + 1]) for t in range(num_layers)
        )

    def forward(
        self, batch: CycleData, edge_states: Float[Tensor, "a e"] | None = None
    ) -> Float[Tensor, "m o"]:
        """Predictions for the edges of a batch.

        Args:
            batch: Graphs with the numbers that `AddHodgeInverse` adds.
            edge_states: One row for each column of `edge_index`, or None if there are none.

        Returns:
            One row for each undirected edge, between -1 and 1.

        Raises:
            ValueError: If something is missing or has another width than was announced.
        """
        check_arc_states(batch, edge_states, self.edge_channels)
        shape = batch.edges.size(1), self.in_channels
        rows = features_of(batch, "edge_features", shape, "AddHodgeInverse() on every graph")
        if "neighbour_weight" not in batch:
            raise ValueError(
                "`batch` must hold `neighbour_weight`, but it does not; try: AddHodgeInverse() on "
                "every graph"
            )
        rows = self.added(batch, rows, edge_states)
        weights = batch.neighbour_weight.to(rows.dtype)
        size = rows.size(0), rows.size(0)
        # Six times as fast here as sums over the list of pairs, which has a row for each.
        matrix = torch.sparse_coo_tensor(
            batch.neighbour_edges, weights, size, check_invariants=False
        ).coalesce()
        for layer in self.layers:
            rows = layer(rows, matrix)
        return tanh(rows)

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        reset_children(self)


class EdgeConvolution(torch.nn.Module):
    r"""One layer of `Dist2Cycle`: $h \mapsto \mathrm{LeakyReLU}(W A h + b)$.

    Args:
        in_channels: Width of a row before.
        out_channels: Width of a row after.
    """

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(in_channels, out_channels)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        self.linear.reset_parameters()
        torch.nn.init.kaiming_uniform_(
            self.linear.weight, a=NEGATIVE_SLOPE, nonlinearity="leaky_relu"
        )

    def forward(
        self, rows: Float[Tensor, "m i"], matrix: Float[Tensor, "m m"]
    ) -> Float[Tensor, "m o"]:
        """New rows of the edges.

        Args:
            rows: One row for each edge.
            matrix: The sparse matrix A.

        Returns:
            One row for each edge.
        """
        linear = self.linear
        if linear.in_features > linear.out_features:  # W and A commute: the narrower way
            heard = torch.sparse.mm(matrix, rows @ linear.weight.t())
            return leaky_relu(heard + linear.bias, NEGATIVE_SLOPE)
        return leaky_relu(linear(torch.sparse.mm(matrix, rows)), NEGATIVE_SLOPE)
