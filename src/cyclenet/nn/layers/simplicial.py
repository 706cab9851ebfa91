"""Convolutions on the nodes, edges and triangles of simplicial complexes."""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from cyclenet.nn.layers.hodge import DIMENSIONS, Complex, Rescaling
from cyclenet.nn.layers.mlp import reset_children

Activation = Callable[[Tensor], Tensor]

# One table for each dimension: rows of nodes, of edges, of triangles.
States = Sequence[Float[Tensor, "_ _"]]

# The maps of a two-complex convolution, from one dimension to the same or to the next.
ROUTES = ((0, 0), (1, 0), (0, 1), (1, 1), (2, 1), (1, 2), (2, 2))


class SCNLayer(torch.nn.Module):
    r"""Simplicial convolution (Ebli et al. 2020) of order one: $x \mapsto W R(L_k) x + b$.

    R rescales the Hodge Laplacian of the dimension; see `Complex.rescaled`. Of the polynomials of
    the paper this is the linear one without its constant term, as in the published benchmark: a
    cell hears itself only by the diagonal of the Laplacian.

    Args:
        in_channels: Width of a row before.
        out_channels: Width of a row after.
        dimension: 0 on nodes, 1 on edges, 2 on triangles.
        bias: Whether there is a b.
        rescaling: Which R.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        dimension: int,
        *,
        bias: bool = True,
        rescaling: Rescaling = "published",
    ) -> None:
        super().__init__()
        self.dimension = dimension
        self.rescaling: Rescaling = rescaling
        self.linear = torch.nn.Linear(in_channels, out_channels, bias=bias)

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        reset_children(self)

    def forward(self, rows: Float[Tensor, "r i"], cells: Complex) -> Float[Tensor, "r o"]:
        """New rows of the cells of the layer's dimension.

        Args:
            rows: One row for each cell.
            cells: The complexes.

        Returns:
            As many rows, before any activation.
        """
        return self.linear(cells.rescaled(self.dimension, rows, self.rescaling))


class SCConvLayer(torch.nn.Module):
    r"""Two-complex convolution (Bunch et al. 2020): every dimension hears itself and the next ones.

    With an affine map of its own on each of the seven ways, written $y_{kl}$ from dimension k to
    dimension l, and $\delta_0$, $\delta_2$ the numbers of edges at a node and of triangles at an
    edge, in diagonal matrices: $D_0$ of $\delta_0$, $D_1$ of $2 \delta_0$, $D_2$ of
    $\max(\delta_2, 1)$, $D_5$ of $\delta_2 + 1$,

    $$x_0' = \tfrac12 f\big(y_{00} - B_1 B_1^\top (D_0 + I)^{-1} y_{00}
        + \tfrac1{\sqrt 2} D_1^{-1} B_1 y_{10}\big),$$
    $$x_1' = \tfrac13 f\big(y_{11} - \tfrac13 B_2 B_2^\top (D_2 + I)^{-1} y_{11}
        + (D_2 + I)(y_{11} + D_2^{-1} y_{11} - B_1^\top D_1^{-1} B_1 y_{11})
        + \tfrac1{\sqrt 2} D_2 B_1^\top D_1^{-1} y_{01} + \tfrac13 B_2 y_{21}\big),$$
    $$x_2' = \tfrac12 f\big(4 y_{22} + 2 B_2^\top D_5^{-1} B_2 y_{22}
        + B_2^\top D_5^{-1} y_{12}\big),$$

    where $D_1^{-1}$ is 0 at nodes without edges. The first operator is $(A + I)(D_0 + I)^{-1}$ with
    A the adjacency matrix.

    Args:
        in_channels: Widths of the rows of nodes, edges and triangles before; 0 where there are
            none, which is the same as zeros without a bias.
        out_channels: Width of all rows after.
        activation: The f.
        bias: Whether the maps have biases.
        only_edges: Whether nodes and triangles are left without rows.
    """

    def __init__(
        self,
        in_channels: Sequence[int],
        out_channels: int,
        activation: Activation,
        *,
        bias: bool = True,
        only_edges: bool = False,
    ) -> None:
        super().__init__()
        self.out_channels, self.activation = out_channels, activation
        self.maps = torch.nn.ModuleDict(
            {
                f"{source}{target}": torch.nn.Linear(in_channels[source], out_channels, bias=bias)
                for source, target in ROUTES
                if in_channels[source] and (target == 1 or not only_edges)
            }
        )

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        reset_children(self)

    def forward(self, states: States, cells: Complex) -> list[Float[Tensor, "_ _"]]:
        """New rows of nodes, edges and triangles.

        Args:
            states: Rows of nodes, edges and triangles.
            cells: The complexes.

        Returns:
            As many rows; of no width where nothing arrives.
        """
        y = {route: linear(states[int(route[0])]) for route, linear in self.maps.items()}
        arrived = self._at_nodes(y, cells), self._at_edges(y, cells), self._at_triangles(y, cells)
        new = []
        for k in range(DIMENSIONS):
            share = sum(target == k for _, target in ROUTES)
            total = sum(arrived[k][1:], arrived[k][0]) if arrived[k] else states[k][:, :0]
            new.append(self.activation(total) / share)
        return new

    def _at_nodes(self, y: dict[str, Tensor], cells: Complex) -> list[Tensor]:
        found, degree = [], cells.below.degree
        if "00" in y:
            found.append(y["00"] - cells.laplacian(0, y["00"] / (degree + 1)))
        if "10" in y:
            found.append(0.5**0.5 * _inverse(2 * degree) * cells.below.to_below(y["10"]))
        return found

    def _at_edges(self, y: dict[str, Tensor], cells: Complex) -> list[Tensor]:
        found, below, above = [], cells.below, cells.above
        degree, at_node = above.degree.clamp(min=1), _inverse(2 * below.degree)
        on_triangles = []
        if "11" in y:
            around = below.to_above(at_node * below.to_below(y["11"]))
            found.append(y["11"] + (degree + 1) * (y["11"] + y["11"] / degree - around))
            on_triangles.append(-above.to_above(y["11"] / (degree + 1)))
        if "01" in y:
            found.append(0.5**0.5 * degree * below.to_above(at_node * y["01"]))
        if "21" in y:
            on_triangles.append(y["21"])
        if on_triangles:  # both arrive by B2, once
            found.append(above.to_below(sum(on_triangles[1:], on_triangles[0])) / 3)
        return found

    def _at_triangles(self, y: dict[str, Tensor], cells: Complex) -> list[Tensor]:
        above, found, on_edges = cells.above, [], []
        if "22" in y:
            found.append(4 * y["22"])
            on_edges.append(2 * above.to_below(y["22"]))
        if "12" in y:
            on_edges.append(y["12"])
        if on_edges:
            found.append(above.to_above(sum(on_edges[1:], on_edges[0]) / (above.degree + 1)))
        return found


def _inverse(diagonal: Float[Tensor, "r 1"]) -> Float[Tensor, "r 1"]:
    """One over a diagonal, and 0 where it is 0."""
    return torch.where(diagonal > 0, 1 / diagonal.clamp(min=1), 0.0)
