"""SCN and SCConv: backbones that convolve nodes, edges and triangles of superpixel complexes."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import leaky_relu, relu

from cyclenet.data import CycleData
from cyclenet.nn.backbones.backbone import Backbone
from cyclenet.nn.layers import POOLS, reset_children
from cyclenet.nn.layers.arc_states import mean_of_arcs
from cyclenet.nn.layers.cell_attention import NEGATIVE_SLOPE
from cyclenet.nn.layers.hodge import DIMENSIONS, Complex, Rescaling, ordered_complex
from cyclenet.nn.layers.mlp import Stack
from cyclenet.nn.layers.pooling import Readout
from cyclenet.nn.layers.simplicial import SCConvLayer, SCNLayer, States

# The leading node features that are a colour.
COLOURS = 3


class SimplicialBackbone(Backbone):
    r"""Layers on the nodes, edges and triangles of a complex, as published for superpixels.

    The triangles come from `LiftToCliqueComplex`. Nodes have the features `batch.x`, the first
    three of which are a colour. The sum of their squares is how bright a node is; edges run from
    the brighter node to the darker one, and triangles list theirs by decreasing brightness. (Of
    two that are as bright, the one whose first other feature is smaller comes first: on images the
    one further up.) An edge has the features of its two
    nodes in that order, a triangle those of its three. They are made here, for each batch, and
    stored nowhere.

    States of arcs are averaged over the two arcs of an edge and added to the features of the edge:
    as they are where they are as wide, else after a linear map. With layers $x^{(1)}, x^{(2)},
    \dots$ and $U_k$ an affine map of each dimension k,

    $$y = V \big[ \mathrm{pool}\, U_k [x_k^{(1)}, x_k^{(2)}, \dots] \big]_{k = 0, 1, 2} + c.$$

    A graph without triangles has zeros in their place.

    Args:
        in_channels: Width of the node features `batch.x`.
        out_channels: Number of predictions for each graph.
        layer: Makes a layer that is called with rows of nodes, edges and triangles, and with what
            `around` returns, from the widths of these rows and the width after.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states inside.
        num_layers: Number of layers.
        readout: ``"mean"`` or ``"sum"`` over the cells of each dimension.
        cell_channels: How many features each cell has of its own: the last ones of `batch.x`, of
            which edges and triangles take none, and the columns of `batch.edge_features` and
            `batch.face_features`, which stand behind the features of the nodes.
        softmax_output: Predict probabilities. The published networks do, and are trained with a
            loss that takes the softmax again.

    Raises:
        ValueError: If a number is impossible.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        layer: Callable[[Sequence[int], int], torch.nn.Module],
        *,
        edge_channels: int,
        hidden_channels: int,
        num_layers: int,
        readout: Readout,
        cell_channels: int,
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
        if not 0 <= cell_channels < in_channels:
            raise ValueError(
                f"`cell_channels` must be at least 0 and leave one of {in_channels} `in_channels`, "
                f"but it is {cell_channels}"
            )
        self.cell_channels = cell_channels
        shared = in_channels - cell_channels
        widths = [(k + 1) * shared + cell_channels for k in range(DIMENSIONS)]
        self.added = AddedStates(edge_channels, widths[1])
        all_widths = [widths] + [[hidden_channels] * DIMENSIONS] * (num_layers - 1)
        self.layers = torch.nn.ModuleList(layer(one, hidden_channels) for one in all_widths)
        self.of_cells = torch.nn.ModuleList(
            torch.nn.Linear(num_layers * hidden_channels, out_channels) for _ in range(DIMENSIONS)
        )
        last = torch.nn.Linear(DIMENSIONS * out_channels, out_channels)
        self.head = Stack(last, *softmax_if(softmax_output))

    def forward(
        self, batch: CycleData, edge_states: Float[Tensor, "a e"] | None = None
    ) -> Float[Tensor, "b o"]:
        """Predictions for the graphs of a batch.

        Args:
            batch: Graphs whose faces are triangles, with float features `x` on the nodes and
                whatever else the layers read.
            edge_states: One row for each column of `edge_index`, or None if there are none.

        Returns:
            One row for each graph.
        """
        features = self.checked(batch, edge_states)
        shared = features[:, : self.in_channels - self.cell_channels]
        cells = ordered_complex(batch, by_brightness(shared))
        around = self.around(cells)
        states = self.first_states(batch, cells, features, edge_states)
        every: list[list[Tensor]] = [[], [], []]
        for layer in self.layers:
            states = layer(states, around)
            for rows, new in zip(every, states, strict=True):
                rows.append(new)
        pool = POOLS[self.readout]
        parts = zip(self.of_cells, every, cells.owners, strict=True)
        pooled = [
            pool(linear(torch.cat(rows, dim=1)), owner, cells.num_graphs)
            for linear, rows, owner in parts
        ]
        return self.head(torch.cat(pooled, dim=1))

    def around(self, cells: Complex) -> Any:
        """What the layers read of the complexes, found once for all of them.

        Args:
            cells: The complexes.

        Returns:
            The complexes themselves, unless a subclass knows better.
        """
        return cells

    def first_states(
        self,
        batch: CycleData,
        cells: Complex,
        features: Float[Tensor, "n i"],
        edge_states: Float[Tensor, "a e"] | None,
    ) -> list[Float[Tensor, "_ _"]]:
        """Rows of nodes, edges and triangles before the first layer.

        Args:
            batch: The batch that `forward` was given.
            cells: Its complexes.
            features: Its node features, checked.
            edge_states: The states of its arcs, checked.

        Returns:
            One row for each node, for each edge, and for each triangle.
        """
        shared = features[:, : self.in_channels - self.cell_channels]
        edges, faces = side_by_side(shared, cells.ends), side_by_side(shared, cells.corners)
        if self.cell_channels:
            edges = torch.cat((edges, self._own(batch, "edge_features", edges)), dim=1)
            faces = torch.cat((faces, self._own(batch, "face_features", faces)), dim=1)
        return [features, self.added(batch, edges, edge_states), faces]

    def _own(self, batch: CycleData, name: str, rows: Tensor) -> Tensor:
        expected = rows.size(0), self.cell_channels
        return features_of(batch, name, expected, "cell_channels=0 for cells without any")


class AddedStates(torch.nn.Module):
    """States of arcs that are added to rows of their edges.

    Args:
        edge_channels: Width of the states of arcs, or 0 if there are none.
        channels: Width of the rows; states of another width go through a linear map first.
    """

    def __init__(self, edge_channels: int, channels: int) -> None:
        super().__init__()
        self.linear = None
        if edge_channels not in (0, channels):
            self.linear = torch.nn.Linear(edge_channels, channels, bias=False)

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        reset_children(self)

    def forward(
        self,
        batch: CycleData,
        rows: Float[Tensor, "m c"],
        edge_states: Float[Tensor, "a e"] | None,
    ) -> Float[Tensor, "m c"]:
        """The rows with what is added to them.

        Args:
            batch: The graphs.
            rows: One row for each edge.
            edge_states: One row for each arc, or None.

        Returns:
            As many rows.
        """
        if edge_states is None:
            return rows
        mean = mean_of_arcs(batch, edge_states)
        return rows + (mean if self.linear is None else self.linear(mean))


class SCN(SimplicialBackbone):
    r"""Simplicial network (Ebli et al. 2020): $x_k \mapsto \mathrm{LeakyReLU}(W R(L_k) x_k + b)$.

    Nodes, edges and triangles meet in the readout only. `LiftToCliqueComplex` and then
    `AddLaplacianBounds` give graphs what it reads. With three layers of width 32, 5 features and 10
    classes it has the published 10,612 parameters.

    Args:
        in_channels: Width of the node features `batch.x`.
        out_channels: Number of predictions for each graph.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states inside.
        num_layers: Number of layers.
        readout: ``"mean"`` or ``"sum"`` over the cells of each dimension.
        cell_channels: How many features each cell has of its own; see `SimplicialBackbone`.
        softmax_output: Predict probabilities; see `SimplicialBackbone`.
        rescaling: ``"published"``, or ``"centred"`` for the Laplacian as it should be rescaled;
            see `nn.layers.Complex.rescaled`.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        edge_channels: int = 0,
        hidden_channels: int = 32,
        num_layers: int = 3,
        readout: Readout = "mean",
        cell_channels: int = 0,
        softmax_output: bool = False,
        rescaling: Rescaling = "published",
    ) -> None:
        check_rescaling(rescaling)
        super().__init__(
            in_channels,
            out_channels,
            lambda widths, width: _SCNLayers(widths, width, rescaling),
            edge_channels=edge_channels,
            hidden_channels=hidden_channels,
            num_layers=num_layers,
            readout=readout,
            cell_channels=cell_channels,
            softmax_output=softmax_output,
        )


class SCConv(SimplicialBackbone):
    """Two-complex network (Bunch et al. 2020), whose layers are `SCConvLayer` with ReLU.

    `LiftToCliqueComplex` gives graphs what it reads. With three layers of width 21, 5 features and
    10 classes it has the published 10,315 parameters.

    Args:
        in_channels: Width of the node features `batch.x`.
        out_channels: Number of predictions for each graph.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states inside.
        num_layers: Number of layers.
        readout: ``"mean"`` or ``"sum"`` over the cells of each dimension.
        cell_channels: How many features each cell has of its own; see `SimplicialBackbone`.
        softmax_output: Predict probabilities; see `SimplicialBackbone`.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        edge_channels: int = 0,
        hidden_channels: int = 21,
        num_layers: int = 3,
        readout: Readout = "mean",
        cell_channels: int = 0,
        softmax_output: bool = False,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            lambda widths, width: SCConvLayer(widths, width, relu),
            edge_channels=edge_channels,
            hidden_channels=hidden_channels,
            num_layers=num_layers,
            readout=readout,
            cell_channels=cell_channels,
            softmax_output=softmax_output,
        )


class _SCNLayers(torch.nn.Module):
    """A layer for each dimension."""

    def __init__(self, widths: Sequence[int], out_channels: int, rescaling: Rescaling) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(
            SCNLayer(width, out_channels, k, rescaling=rescaling) for k, width in enumerate(widths)
        )

    def forward(self, states: States, cells: Complex) -> list[Float[Tensor, "_ _"]]:
        both = zip(self.layers, states, strict=True)
        return [leaky_relu(layer(rows, cells), NEGATIVE_SLOPE) for layer, rows in both]


def by_brightness(features: Float[Tensor, "n i"]) -> Float[Tensor, "n k"]:
    """What puts nodes in order: the brighter first, and of two as bright the one further up.

    Args:
        features: Features of nodes that begin with a colour; on images the position follows.

    Returns:
        Keys for `ordered_complex`.
    """
    bright = features[:, :COLOURS].square().sum(1, keepdim=True)
    return torch.cat((bright, -features), dim=1)


def side_by_side(rows: Float[Tensor, "n c"], nodes: Tensor) -> Float[Tensor, "r w"]:
    """The rows of several nodes in one.

    Args:
        rows: One row for each node.
        nodes: A column of nodes for each row that is wanted.

    Returns:
        One row for each column.
    """
    return torch.cat([rows.index_select(0, one) for one in nodes], dim=1)


def features_of(
    batch: CycleData, name: str, expected: tuple[int, int], instead: str
) -> Float[Tensor, "r c"]:
    """Features of cells, once they have the shape that was announced.

    Args:
        batch: The graphs.
        name: ``"edge_features"`` or ``"face_features"``.
        expected: How many rows and columns there must be.
        instead: What to try where there are none.

    Returns:
        The features.

    Raises:
        ValueError: If they have another shape, or are missing.
    """
    found = batch[name] if name in batch else None
    if found is None or tuple(found.shape) != expected:
        came = "missing" if found is None else f"of shape {tuple(found.shape)}"
        raise ValueError(
            f"`batch.{name}` must have shape {expected}, but it is {came}; try: {instead}"
        )
    return found


def softmax_if(wanted: bool) -> list[torch.nn.Module]:
    """The last module of a network that predicts probabilities, or nothing.

    Args:
        wanted: Whether it does.

    Returns:
        One module or none.
    """
    return [torch.nn.Softmax(dim=1)] if wanted else []


def check_rescaling(rescaling: str) -> None:
    """Refuse a rescaling that there is not.

    Args:
        rescaling: What was asked for.

    Raises:
        ValueError: If it is unknown.
    """
    known = ("published", "centred")
    if rescaling not in known:
        raise ValueError(f"`rescaling` must be one of {known}, but it is {rescaling!r}")
