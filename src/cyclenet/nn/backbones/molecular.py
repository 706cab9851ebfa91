"""What the backbones of molecules share: types of atoms and bonds, and where an encoding enters."""

from abc import abstractmethod

import torch
from jaxtyping import Float
from torch import Tensor

from cyclenet.data import CycleData
from cyclenet.nn.backbones.backbone import Backbone
from cyclenet.nn.layers import POOLS
from cyclenet.nn.layers.molecules import TaperedHead, TypeEmbedding
from cyclenet.nn.layers.pooling import Readout


class MolecularBackbone(Backbone):
    r"""Rounds of messages between learned rows of atoms and bonds and a head (Dwivedi et al. 2020).

    $$h_u = T_{x_u}, \qquad e_{uv} = B_{b_{uv}} + s_{uv}$$

    with x the type of an atom, b that of a bond, and T and B learned. The state $s_{uv}$ that
    an arc is given, such as an encoding, is added to that of its bond. So s needs the width
    of e; one of another width is mapped to it first. After the rounds come the readout and a head
    that halves the width twice.

    Types are integers, `batch.x` and `batch.edge_attr`. Floats are weights of the rows
    instead, and one-hot types say the same as integers.

    Args:
        in_channels: Number of types of nodes, or width of float features `batch.x`.
        out_channels: Number of predictions for each graph.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states of nodes.
        num_layers: Number of rounds.
        readout: ``"mean"`` or ``"sum"`` over the nodes of a graph.
        edge_types: Number of types of bonds in `batch.edge_attr`, or width of float attributes
            there. With 1 all bonds are alike, and nothing is read.
        arc_channels: Width of the states of arcs inside.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        edge_channels: int,
        hidden_channels: int,
        num_layers: int,
        readout: Readout,
        edge_types: int,
        arc_channels: int,
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            edge_channels=edge_channels,
            hidden_channels=hidden_channels,
            num_layers=num_layers,
            readout=readout,
        )
        for name, value in (("edge_types", edge_types), ("arc_channels", arc_channels)):
            if value < 1:
                raise ValueError(f"`{name}` must be at least 1, but it is {value}")
        self.node_types = TypeEmbedding(in_channels, hidden_channels)
        self.edge_types = TypeEmbedding(edge_types, arc_channels)
        self.edge_map = None
        if edge_channels not in (0, arc_channels):
            self.edge_map = torch.nn.Linear(edge_channels, arc_channels, bias=False)
        self.head = TaperedHead(hidden_channels, out_channels)
        # What some subclasses know of the places of nodes: from a batch to a row for each node.
        self.positions: torch.nn.Module | None = None

    def forward(
        self, batch: CycleData, edge_states: Float[Tensor, "a e"] | None = None
    ) -> Float[Tensor, "b o"]:
        """Predictions for the graphs of a batch.

        Args:
            batch: One graph or several, with types `x` of the nodes, and types `edge_attr` of the
                arcs where there are several.
            edge_states: One row for each column of `edge_index`, or None if there are none.

        Returns:
            One row for each graph.
        """
        states = self.first_states(batch, self.checked(batch, edge_states))
        states = self.after_rounds(batch, states, self.first_arc_states(batch, edge_states))
        return self.head(POOLS[self.readout](states, batch.graph_of("nodes"), batch.num_joined))

    @abstractmethod
    def after_rounds(
        self, batch: CycleData, states: Float[Tensor, "n k"], arc_states: Float[Tensor, "a c"]
    ) -> Float[Tensor, "n k"]:
        """States of the nodes after all rounds of messages.

        Args:
            batch: The batch that `forward` was given.
            states: States of the nodes before.
            arc_states: States of the arcs before.
        """

    def checked(
        self, batch: CycleData, edge_states: Float[Tensor, "a e"] | None
    ) -> Float[Tensor, "n i"]:
        """The types of the nodes as rows, once everything has the widths that were announced.

        Args:
            batch: What `forward` was given.
            edge_states: What `forward` was given.

        Returns:
            One row for each node.
        """
        if batch.x is None or batch.x.is_floating_point():
            return super().checked(batch, edge_states)
        rows = self.node_types.as_weights(batch.x, "batch.x")
        num_arcs = batch.edge_index.size(1)
        given = (num_arcs, 0) if edge_states is None else tuple(edge_states.shape)
        if given != (num_arcs, self.edge_channels):
            # A graph of floats, for the one place that says what is wrong. The compiler of torch
            # cannot make graphs, so this is not the usual way.
            return super().checked(CycleData(x=rows, edge_index=batch.edge_index), edge_states)
        return rows

    def first_states(
        self, batch: CycleData, features: Float[Tensor, "n i"]
    ) -> Float[Tensor, "n k"]:
        """States of the nodes before the first message: those of their types, and positions.

        Args:
            batch: The batch that `forward` was given.
            features: The types of its nodes as rows, checked.

        Returns:
            One row for each node.
        """
        states = self.node_types(features)
        return states if self.positions is None else states + self.positions(batch)

    def first_arc_states(
        self, batch: CycleData, edge_states: Float[Tensor, "a e"] | None
    ) -> Float[Tensor, "a c"]:
        """States of the arcs before the first message: that of the bond, and what was given.

        Args:
            batch: The batch that `forward` was given.
            edge_states: The states of its arcs, checked.

        Returns:
            One row for each arc.

        Raises:
            ValueError: If bonds have types, and `batch.edge_attr` does not hold them.
        """
        states = self._bonds(batch)
        if edge_states is None:
            return states
        return states + (edge_states if self.edge_map is None else self.edge_map(edge_states))

    def _bonds(self, batch: CycleData) -> Float[Tensor, "a c"]:
        num_arcs, num_types = batch.edge_index.size(1), self.edge_types.weight.size(0)
        if num_types == 1:
            return self.edge_types.weight.expand(num_arcs, -1)
        types = batch.edge_attr
        if types is not None:
            types = self.edge_types.as_weights(types, "batch.edge_attr")
        if types is None or tuple(types.shape) != (num_arcs, num_types):
            came = "missing" if types is None else f"of shape {tuple(batch.edge_attr.shape)}"
            raise ValueError(
                f"`batch.edge_attr` must hold one of {num_types} types (`edge_types`) for each of "
                f"{num_arcs} arcs, but it is {came}; try: edge_types=1 where all bonds are alike"
            )
        return self.edge_types(types)
