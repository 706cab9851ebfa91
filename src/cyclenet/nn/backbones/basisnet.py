"""BasisNet: the backbones of molecules, whose atoms know the eigenspaces of the molecule."""

import torch
from jaxtyping import Float
from torch import Tensor

from cyclenet.data import CycleData
from cyclenet.nn.backbones.gated_gcn import GatedGCN
from cyclenet.nn.backbones.pna import PNA, RING_LOG_DEGREE
from cyclenet.nn.backbones.product_gin import ProductGIN
from cyclenet.nn.layers.eigenvectors import (
    EigenvectorGIN,
    NormedStack,
    SpaceEncoder,
    eigenvectors_of,
)
from cyclenet.nn.layers.mlp import reset_children
from cyclenet.nn.layers.pooling import Readout

# Eigenvectors that the published network reads, and so the largest multiplicity of a space.
NUM_VECTORS = 8

# Width of what the published network adds up over single eigenvectors.
_SUM_CHANNELS = 4


class BasisPositions(torch.nn.Module):
    r"""Positions of nodes from the projectors on eigenspaces, and from eigenvectors.

    $$p_u = W \rho\Big(\big[\, f_{q_1}(V_1 V_1^\top)_u,\; f_{q_2}(V_2 V_2^\top)_u,\; \dots,\;
                            {\textstyle\sum_k} \phi(v_k)_u + \phi(-v_k)_u \,\big]\Big)$$

    with $V_1, V_2, \dots$ bases of the eigenspaces, those of the smallest dimension first, then by
    eigenvalue; $q_i$ their dimensions; $f_q$ the network of a `SpaceEncoder` for dimension q, with
    q outputs (Lim et al. 2022); $\phi$ an `EigenvectorGIN`, and $\rho$ a `NormedStack`.
    Eigenvectors that a graph does not have leave zeros.

    The laws. The part f depends on the spaces alone, so it is the same for every basis and for
    every naming of the nodes. The part $\phi$, which the published network has too, is the same for
    $v_k$ and $-v_k$, and only that: in a space of two or more dimensions another basis changes it.
    So only where the eigenvalues above 0 all differ is p independent of the names of the nodes.

    The published network leaves $\phi(-v_k)$ out, so that signs show as well. Its equivariant
    coefficients did not learn, and with eight layers at their scale, and no normalisation, what
    comes out of f is a constant up to rounding. It also takes the columns that a graph does not
    have for a space of their own.

    Args:
        channels: Width of a position, and of everything inside.
        num_layers: Number of layers of f, $\phi$ and $\rho$.
        both_signs: Whether $-v_k$ comes in too.
        train_coefficients: Whether the equivariant coefficients learn. False repeats the published
            code, at its scale.
        idle_biases: Allocate the published biases in front of normalisations.
    """

    def __init__(
        self,
        channels: int,
        *,
        num_layers: int = 8,
        both_signs: bool = True,
        train_coefficients: bool = True,
        idle_biases: bool = False,
    ) -> None:
        super().__init__()
        self.phi = EigenvectorGIN(
            _SUM_CHANNELS,
            hidden_channels=channels,
            num_layers=num_layers,
            both_signs=both_signs,
            idle_biases=idle_biases,
        )
        self.spaces = SpaceEncoder(
            NUM_VECTORS,
            hidden_channels=channels,
            num_layers=num_layers,
            train_coefficients=train_coefficients,
        )
        self.rho = NormedStack(_SUM_CHANNELS + NUM_VECTORS, channels, NUM_VECTORS, num_layers)
        self.project = torch.nn.Linear(NUM_VECTORS, channels)

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        reset_children(self)

    def forward(self, batch: CycleData) -> Float[Tensor, "n k"]:
        """Positions of the nodes.

        Args:
            batch: Graphs that went through `AddLeadingEigenvectors(count=8)`.

        Returns:
            One row for each node.
        """
        dtype = self.project.weight.dtype
        rows, multiplicity = eigenvectors_of(batch, dtype, count=NUM_VECTORS)
        summed = self.phi(rows, multiplicity > 0, batch.edge_index)
        return self.project(self.rho(torch.cat((self.of_spaces(batch), summed), dim=1)))

    def of_spaces(self, batch: CycleData) -> Float[Tensor, "n c"]:
        """What f says of each node: as many columns as there are eigenvectors, then zeros.

        Args:
            batch: Graphs that went through `AddLeadingEigenvectors(count=8)`.

        Returns:
            One row for each node.
        """
        dtype = self.project.weight.dtype
        rows, multiplicity = eigenvectors_of(batch, dtype, count=NUM_VECTORS)
        return self.spaces(rows, multiplicity, batch.graph_of("nodes"), batch.num_joined)


class BasisNetGIN(ProductGIN):
    r"""`ProductGIN` with positions from eigenspaces: "GIN + BasisNet" in Tables 4 and 6.

    $h_u = T_{x_u} + p_u$ with p of `BasisPositions`, whose laws are those of the network.

    The paper prints 751,810 parameters; the published code has 1,051,810.

    Args:
        in_channels: Number of types of nodes, or width of float features `batch.x`.
        out_channels: Number of predictions for each graph.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states inside.
        num_layers: Number of layers.
        readout: ``"mean"`` or ``"sum"`` over the nodes of a graph.
        edge_types: Number of types of bonds in `batch.edge_attr`; 1 reads none.
        position_layers: Number of layers of each part of the positions.
        both_signs: Whether positions are the same for an eigenvector and its opposite; the
            published ones are not.
        train_coefficients: Whether the equivariant coefficients learn; the published ones do not.
        printed_size: Allocate what the published code allocates, used or not.
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
        position_layers: int = 8,
        both_signs: bool = True,
        train_coefficients: bool = True,
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
        )
        self.positions = BasisPositions(
            hidden_channels,
            num_layers=position_layers,
            both_signs=both_signs,
            train_coefficients=train_coefficients,
            idle_biases=printed_size,
        )


class BasisNetGatedGCN(GatedGCN):
    r"""`GatedGCN` with positions from eigenspaces: "GatedGCN + BasisNet" in Tables 4 and 6.

    $h_u = T_{x_u} + p_u$ with p of `BasisPositions`, whose laws are those of the network.

    Args:
        in_channels: Number of types of nodes, or width of float features `batch.x`.
        out_channels: Number of predictions for each graph.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states inside.
        num_layers: Number of layers.
        readout: ``"mean"`` or ``"sum"`` over the nodes of a graph.
        edge_types: Number of types of bonds in `batch.edge_attr`; 1 reads none.
        position_layers: Number of layers of each part of the positions.
        both_signs: Whether positions are the same for an eigenvector and its opposite; the
            published ones are not.
        train_coefficients: Whether the equivariant coefficients learn; the published ones do not.
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
        position_layers: int = 8,
        both_signs: bool = True,
        train_coefficients: bool = True,
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
            printed_size=printed_size,
        )
        self.positions = BasisPositions(
            hidden_channels,
            num_layers=position_layers,
            both_signs=both_signs,
            train_coefficients=train_coefficients,
            idle_biases=printed_size,
        )


class BasisNetPNA(PNA):
    r"""`PNA` with positions from eigenspaces: "PNA + BasisNet" in Tables 4 and 6.

    $h_u = T_{x_u} + p_u$ with p of `BasisPositions`, whose laws are those of the network. The paper
    has 5 towers at width 70 here, and 40 channels on arcs.

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
        position_layers: Number of layers of each part of the positions.
        both_signs: Whether positions are the same for an eigenvector and its opposite; the
            published ones are not.
        train_coefficients: Whether the equivariant coefficients learn; the published ones do not.
        printed_size: Allocate what the published code allocates, used or not.
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
        both_signs: bool = True,
        train_coefficients: bool = True,
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
        self.positions = BasisPositions(
            hidden_channels,
            num_layers=position_layers,
            both_signs=both_signs,
            train_coefficients=train_coefficients,
            idle_biases=printed_size,
        )
