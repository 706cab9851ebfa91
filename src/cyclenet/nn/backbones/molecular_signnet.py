"""MolecularSignNet: PNA whose atoms know the eigenvectors of the molecule, up to their signs."""

import torch
from jaxtyping import Float
from torch import Tensor

from cyclenet.data import CycleData
from cyclenet.nn.backbones.pna import PNA, RING_LOG_DEGREE
from cyclenet.nn.layers.eigenvectors import EigenvectorGIN, NormedStack, eigenvectors_of
from cyclenet.nn.layers.mlp import reset_children
from cyclenet.nn.layers.pooling import Readout


class MolecularSignNet(PNA):
    r"""Sign-invariant positions (Lim et al. 2022) in front of `PNA`: the molecular SignNet.

    $$h_u = T_{x_u} + p_u, \qquad
      p_u = W \rho\Big(\sum_k \phi(v_k)_u + \phi(-v_k)_u\Big)$$

    with the positions p of `SignPositions`, from the eigenvectors that `AddLeadingEigenvectors`
    gives to nodes. "SignNet" in Tables 4 and 6 of the paper; the other `SignNet`, of Tables 1 and
    2, reads all eigenvectors and has attention among them.

    Changing the sign of eigenvectors changes nothing, in training neither. Changing the basis of an
    eigenspace of two or more dimensions does, and which basis an eigensolver finds changes with the
    names of the nodes. So only where the eigenvalues above 0 all differ are predictions independent
    of these names.

    In the published code the sum runs over one column of zeros more, for a graph of n nodes has
    n - 1 eigenvectors behind the trivial one and n columns are kept; columns that a graph does not
    have enter the statistics of the normalisations; and each sign has a pass, and statistics, of
    its own.

    Args:
        in_channels: Number of types of nodes, or width of float features `batch.x`.
        out_channels: Number of predictions for each graph.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states of nodes; a multiple of `towers`.
        num_layers: Number of layers of PNA.
        readout: ``"mean"`` or ``"sum"`` over the nodes of a graph.
        edge_types: Number of types of bonds in `batch.edge_attr`; 1 reads none.
        arc_channels: Width of the states of arcs inside; None means half of `hidden_channels`.
        towers: Number of networks side by side, each on its part of the channels.
        log_degree: The $\delta$ of the training set: see `mean_log_degree`.
        published_scale: Draw the weights of the layers as small as the published code does.
        position_layers: Number of layers of $\phi$ and of $\rho$.
        position_channels: Width of what $\rho$ says of a node.
        printed_size: Allocate what the published code allocates, used or not: biases in front of
            normalisations, which never learn.
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
        position_layers: int = 8,
        position_channels: int = 37,
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
            arc_channels=arc_channels,
            towers=towers,
            log_degree=log_degree,
            published_scale=published_scale,
        )
        self.positions = SignPositions(
            hidden_channels,
            num_layers=position_layers,
            inner_channels=position_channels,
            idle_biases=printed_size,
        )


class SignPositions(torch.nn.Module):
    r"""Positions of nodes from some eigenvectors, the same for $v_k$ and $-v_k$.

    $p = W \rho(\sum_k \phi(v_k) + \phi(-v_k))$ with $\phi$ an `EigenvectorGIN` and $\rho$ a
    `NormedStack`.

    Args:
        channels: Width of a position, and of everything inside.
        num_layers: Number of layers of $\phi$ and of $\rho$.
        inner_channels: Width of what $\rho$ returns.
        idle_biases: Allocate the published biases in front of normalisations.

    Raises:
        ValueError: If a number is too small.
    """

    def __init__(
        self,
        channels: int,
        *,
        num_layers: int = 8,
        inner_channels: int = 37,
        idle_biases: bool = False,
    ) -> None:
        super().__init__()
        if inner_channels < 1:
            raise ValueError(f"`inner_channels` must be at least 1, but it is {inner_channels}")
        self.phi = EigenvectorGIN(
            channels, hidden_channels=channels, num_layers=num_layers, idle_biases=idle_biases
        )
        self.rho = NormedStack(channels, channels, inner_channels, num_layers)
        self.project = torch.nn.Linear(inner_channels, channels)

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        reset_children(self)

    def forward(self, batch: CycleData) -> Float[Tensor, "n k"]:
        """Positions of the nodes.

        Args:
            batch: Graphs that went through `AddLeadingEigenvectors`.

        Returns:
            One row for each node.
        """
        rows, multiplicity = eigenvectors_of(batch, self.project.weight.dtype)
        return self.project(self.rho(self.phi(rows, multiplicity > 0, batch.edge_index)))
