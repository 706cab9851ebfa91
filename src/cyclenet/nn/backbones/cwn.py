"""CWN: a backbone whose messages run between nodes, edges and faces."""

from collections.abc import Sequence
from typing import Literal

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn.functional import linear

from cyclenet.data import CycleData
from cyclenet.nn.backbones.backbone import Backbone
from cyclenet.nn.layers import POOLS, RowNorm, reset_children, sum_pool
from cyclenet.nn.layers.arc_states import mean_of_arcs
from cyclenet.nn.layers.mlp import Stack
from cyclenet.nn.layers.pooling import Readout

Activation = Literal["relu", "elu"]

ACTIVATIONS: dict[str, type[torch.nn.Module]] = {"relu": torch.nn.ReLU, "elu": torch.nn.ELU}

# Nodes, edges, faces.
DIMENSIONS = 3


class CWN(Backbone):
    r"""Cell complex network (Bodnar et al. 2021, "SparseCIN"): cells are nodes, edges and faces.

    The faces come from `LiftToRingComplex`, or from `LiftToCliqueComplex`, with which nothing but
    triangles is seen. Nodes start as $W x$, edges as $W_e s$ with s the mean of the states of
    their arcs, or without any as the sum of their two nodes, and faces as the sum of their
    nodes. After the layers, each a `CWNLayer`, the cells of each dimension are pooled and joined by
    a `ComplexHead`. An encoding given as states of arcs so enters where the edges begin.

    Of a face nothing is read but which edges it has: neither its direction nor those of
    the edges matter.

    Linear maps of one-hot types are the embeddings of the published code, whose number of
    parameters for ZINC comes out with `printed_size`: it has biases in front of normalisations,
    and in every layer a map for messages to faces from above, where there is nothing.

    Args:
        in_channels: Width of the node features `batch.x`.
        out_channels: Number of predictions for each graph.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states inside.
        num_layers: Number of layers.
        readout: ``"mean"`` or ``"sum"`` over the cells of each dimension.
        norm: Whether layers normalise; the published experiment on strongly regular graphs does
            not, on 3 layers of width 16 with ELU.
        activation: ``"relu"`` or ``"elu"``, everywhere.
        printed_size: Allocate what the published code allocates, used or not.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        edge_channels: int = 0,
        hidden_channels: int = 128,
        num_layers: int = 5,
        readout: Readout = "sum",
        norm: bool = True,
        activation: Activation = "relu",
        printed_size: bool = False,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            edge_channels=edge_channels,
            hidden_channels=hidden_channels,
            num_layers=num_layers,
            readout=readout,
        )
        if activation not in ACTIVATIONS:
            raise ValueError(
                f"`activation` must be one of {tuple(ACTIVATIONS)}, but it is {activation!r}"
            )
        self.node_encoder = torch.nn.Linear(in_channels, hidden_channels, bias=False)
        self.edge_encoder = None
        if edge_channels:
            self.edge_encoder = torch.nn.Linear(edge_channels, hidden_channels, bias=False)
        self.layers = torch.nn.ModuleList(
            CWNLayer(hidden_channels, norm=norm, activation=activation, idle_biases=printed_size)
            for _ in range(num_layers)
        )
        self.head = ComplexHead(hidden_channels, out_channels, activation=activation)
        if printed_size:
            self.never_called = torch.nn.ModuleList(
                torch.nn.Linear(2 * hidden_channels, hidden_channels) for _ in range(num_layers)
            )

    def forward(
        self, batch: CycleData, edge_states: Float[Tensor, "a e"] | None = None
    ) -> Float[Tensor, "b o"]:
        """Predictions for the graphs of a batch.

        Args:
            batch: Graphs with the faces that `LiftToRingComplex` adds, and float features `x` on
                the nodes.
            edge_states: One row for each column of `edge_index`, or None if there are none.

        Returns:
            One row for each graph.
        """
        features = self.checked(batch, edge_states)
        sides = sides_of(batch)
        owners = [batch.graph_of(unit) for unit in ("nodes", "edges", "faces")]
        states = self.first_states(batch, features, edge_states, sides, owners[2].size(0))
        for layer in self.layers:
            states = layer(states, sides)
        pool = POOLS[self.readout]
        return self.head(
            [pool(x, owner, batch.num_joined) for x, owner in zip(states, owners, strict=True)]
        )

    def first_states(
        self,
        batch: CycleData,
        features: Float[Tensor, "n i"],
        edge_states: Float[Tensor, "a e"] | None,
        sides: Sequence[Int64[Tensor, "2 _"]],
        num_faces: int,
    ) -> list[Float[Tensor, "_ k"]]:
        """States of nodes, edges and faces before the first layer.

        Args:
            batch: The batch that `forward` was given.
            features: Its node features, checked.
            edge_states: The states of its arcs, checked.
            sides: The sides of its edges and faces.
            num_faces: How many faces it has.

        Returns:
            One row for each node, for each edge, and for each face.
        """
        nodes = self.node_encoder(features)
        edges = sums = _over_sides(nodes, sides[0], batch.edges.size(1))
        if self.edge_encoder is not None and edge_states is not None:
            edges = self.edge_encoder(mean_of_arcs(batch, edge_states))
        # Every node of a face is on two of its edges.
        return [nodes, edges, _over_sides(sums, sides[1], num_faces) / 2]


class CWNLayer(torch.nn.Module):
    r"""One round of messages between the cells of a 2-complex (Bodnar et al. 2021).

    A cell x hears its upper neighbours, cells y that share a cell z of one dimension more with it,
    once for each z, and the cells b on its boundary. With own weights for each dimension,

    $$u = \mathrm{MLP}_u\Big(h_x + \sum_{y, z} \mathrm{act}(W [h_y, h_z])\Big), \qquad
      v = \mathrm{MLP}_b\Big(h_x + \sum_b h_b\Big), \qquad
      h'_x = \mathrm{act}(\mathrm{norm}(W' [u, v])).$$

    Each MLP is twice a linear map, normalisation and activation. Faces hear nobody above, nodes
    have no boundary.

    Args:
        channels: Width of a cell's state, before and after.
        norm: Whether there are normalisations.
        activation: ``"relu"`` or ``"elu"``.
        idle_biases: Whether there are biases in front of normalisations, where they never learn.
    """

    def __init__(
        self,
        channels: int,
        *,
        norm: bool = True,
        activation: Activation = "relu",
        idle_biases: bool = False,
    ) -> None:
        super().__init__()
        self.messages = torch.nn.ModuleList(
            UpperMessages(channels, activation=activation) for _ in range(DIMENSIONS - 1)
        )
        bias = idle_biases or not norm
        self.cells = torch.nn.ModuleList(
            _CellUpdate(channels, norm, activation, bias) for _ in range(DIMENSIONS)
        )

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        reset_children(self)

    def forward(
        self, states: Sequence[Float[Tensor, "_ k"]], sides: Sequence[Int64[Tensor, "2 _"]]
    ) -> list[Float[Tensor, "_ k"]]:
        """New states of the cells.

        Args:
            states: States of nodes, edges and faces.
            sides: Pairs (node, edge) and pairs (edge, face), one for each side of a cell.

        Returns:
            One row for each node, for each edge, and for each face.
        """
        from_above, from_boundary = list(states), list(states)
        for k, (message, pairs) in enumerate(zip(self.messages, sides, strict=True)):
            low, high = states[k], states[k + 1]
            from_above[k] = low + message(low, high, pairs)
            from_boundary[k + 1] = high + _over_sides(low, pairs, high.size(0))
        heard = zip(self.cells, from_above, from_boundary, strict=True)
        return [update(above, boundary) for update, above, boundary in heard]


class UpperMessages(torch.nn.Module):
    r"""What cells hear from their upper neighbours: $\sum_{y, z} \mathrm{act}(W [h_y, h_z])$.

    The sum is over the cells z with x on their boundary and over the other cells $y \ne x$ there.
    A message is decided by y and z alone, so each z sums all of its messages, and x hears that sum
    without its own part. That takes one message for each side of a cell instead of one for each
    pair of sides.

    Args:
        channels: Width of a cell's state.
        activation: ``"relu"`` or ``"elu"``.
    """

    def __init__(self, channels: int, *, activation: Activation = "relu") -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2 * channels, channels)
        self.activation = ACTIVATIONS[activation]()

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        reset_children(self)

    def forward(
        self,
        low: Float[Tensor, "c k"],
        high: Float[Tensor, "d k"],
        sides: Int64[Tensor, "2 s"],
    ) -> Float[Tensor, "c k"]:
        """Sums of messages.

        Args:
            low: States of the cells that hear.
            high: States of the cells of one dimension more.
            sides: Pairs (cell, cell above), one for each side of a cell above.

        Returns:
            One row for each cell that hears.
        """
        below, above = sides
        weight, channels = self.linear.weight, low.size(1)
        # The map of [h_y, h_z] is the sum of two maps, of each cell once.
        from_low = linear(low, weight[:, :channels]).index_select(0, below)
        from_high = linear(high, weight[:, channels:], self.linear.bias).index_select(0, above)
        own = self.activation(from_low + from_high)
        total = sum_pool(own, above, high.size(0))
        return sum_pool(total.index_select(0, above) - own, below, low.size(0))


class _CellUpdate(torch.nn.Module):
    """The new state of a cell from what it has heard from above and from its boundary."""

    def __init__(self, channels: int, norm: bool, activation: Activation, bias: bool) -> None:
        super().__init__()

        def step(width: int) -> list[torch.nn.Module]:
            norms = [RowNorm(channels)] if norm else []
            mix = torch.nn.Linear(width, channels, bias=bias)
            return [mix, *norms, ACTIVATIONS[activation]()]

        self.above = Stack(*step(channels), *step(channels))
        self.boundary = Stack(*step(channels), *step(channels))
        self.join = Stack(*step(2 * channels))

    def forward(
        self, above: Float[Tensor, "c k"], boundary: Float[Tensor, "c k"]
    ) -> Float[Tensor, "c k"]:
        return self.join(torch.cat((self.above(above), self.boundary(boundary)), dim=1))


class ComplexHead(torch.nn.Module):
    r"""From pooled cells to the prediction: $V \sum_k \mathrm{act}(W_k p_k)$, each with a bias.

    $p_k$ is the pooled row of dimension k, zero where a graph has no such cells.

    Args:
        channels: Width of a pooled row; it is doubled inside.
        out_channels: Number of predictions for each graph.
        activation: ``"relu"`` or ``"elu"``.
    """

    def __init__(
        self, channels: int, out_channels: int, *, activation: Activation = "relu"
    ) -> None:
        super().__init__()
        self.widen = torch.nn.ModuleList(
            torch.nn.Linear(channels, 2 * channels) for _ in range(DIMENSIONS)
        )
        self.activation = ACTIVATIONS[activation]()
        self.out = torch.nn.Linear(2 * channels, out_channels)

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        reset_children(self)

    def forward(self, pooled: Sequence[Float[Tensor, "b k"]]) -> Float[Tensor, "b o"]:
        """Predictions.

        Args:
            pooled: One row for each graph, of nodes, of edges, and of faces.

        Returns:
            One row for each graph.
        """
        wide = [self.activation(w(p)) for w, p in zip(self.widen, pooled, strict=True)]
        return self.out(torch.stack(wide).sum(0))


def sides_of(batch: CycleData) -> list[Int64[Tensor, "2 _"]]:
    """The sides of edges, as pairs (node, edge), and those of faces, as pairs (edge, face).

    Args:
        batch: Graphs with faces.

    Returns:
        Both lists of pairs.

    Raises:
        ValueError: If there are no faces on the batch; a graph may well have none.
    """
    if "face_incidence" not in batch:
        raise ValueError(
            "`batch` must hold the faces of a complex, but it has no `face_incidence`; try: "
            "`LiftToRingComplex()` on every graph"
        )
    ids = torch.arange(batch.edges.size(1), device=batch.edges.device)
    return [torch.stack((batch.edges.flatten(), ids.repeat(2))), batch.face_incidence]


def _over_sides(
    low: Float[Tensor, "c k"], sides: Int64[Tensor, "2 s"], num_high: int
) -> Float[Tensor, "{num_high} k"]:
    """The sum of the sides of each cell above."""
    return sum_pool(low.index_select(0, sides[0]), sides[1], num_high)
