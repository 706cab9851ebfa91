"""What all backbones share: their arguments, the check of what they are given, the readout."""

from abc import abstractmethod
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from cyclenet.data import CycleData
from cyclenet.nn.layers import POOLS, reset_children
from cyclenet.nn.layers.arc_states import ArcStates
from cyclenet.nn.layers.pooling import Readout


class Backbone(torch.nn.Module):
    """A network from a batch of graphs to one row of predictions for each graph.

    The laws, in evaluation mode and up to rounding: the prediction for a graph does not change with
    the names of its nodes, the order of its arcs, or the other graphs of the batch. Graphs without
    edges and graphs without nodes are ordinary, in any position. In training, statistics are taken
    over the nodes, arcs and pairs that exist.

    Args:
        in_channels: Width of the node features `batch.x`.
        out_channels: Number of predictions for each graph.
        edge_channels: Width of the states of arcs, or 0 if none will be given.
        hidden_channels: Width of the states inside.
        num_layers: Number of layers.
        readout: ``"mean"`` or ``"sum"``: how the nodes of a graph become one row. The published
            baselines differ in it; here everyone has the choice.

    Raises:
        ValueError: If a number is too small, or there is no such readout.
    """

    # Whether the host has to know how large each graph is; a GPU cannot replay such a network.
    reads_sizes: ClassVar[bool] = False

    # Whether `edge_states` may be `ArcStates`, which spare work where arcs share their state.
    reads_shared_states: ClassVar[bool] = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        edge_channels: int,
        hidden_channels: int,
        num_layers: int,
        readout: Readout,
    ) -> None:
        super().__init__()
        if readout not in POOLS:
            raise ValueError(f"`readout` must be one of {tuple(POOLS)}, but it is {readout!r}")
        self.in_channels = _at_least(1, in_channels, "in_channels")
        self.out_channels = _at_least(1, out_channels, "out_channels")
        self.edge_channels = _at_least(0, edge_channels, "edge_channels")
        self.hidden_channels = _at_least(1, hidden_channels, "hidden_channels")
        self.num_layers = _at_least(1, num_layers, "num_layers")
        self.readout: Readout = readout

    @abstractmethod
    def forward(
        self, batch: CycleData, edge_states: Float[Tensor, "a e"] | None = None
    ) -> Float[Tensor, "b o"]:
        """Predictions for the graphs of a batch.

        Args:
            batch: One graph or several, with float features `x` on the nodes.
            edge_states: One row for each column of `edge_index`: attributes of the user, an
                encoding, or both side by side.
        """

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        reset_children(self)

    def checked(
        self, batch: CycleData, edge_states: Float[Tensor, "a e"] | ArcStates | None
    ) -> Float[Tensor, "n i"]:
        """The node features, once everything has the widths that were announced.

        Args:
            batch: What `forward` was given.
            edge_states: What `forward` was given.

        Returns:
            `batch.x`.

        Raises:
            ValueError: If a width is another one, or something is missing.
        """
        if batch.x is None or batch.x.dim() != 2 or batch.x.size(1) != self.in_channels:
            came = "missing" if batch.x is None else f"of shape {tuple(batch.x.shape)}"
            raise ValueError(
                f"`batch.x` must have {self.in_channels} channels (`in_channels`) for each node, "
                f"but it is {came}; try: a column of ones for graphs without features"
            )
        self.check_states(batch, edge_states)
        return batch.x

    def check_states(
        self, batch: CycleData, edge_states: Float[Tensor, "a e"] | ArcStates | None
    ) -> None:
        """Refuse states of arcs that are not those that were announced.

        Args:
            batch: What `forward` was given.
            edge_states: What `forward` was given.

        Raises:
            ValueError: If they have another shape, or are missing.
        """
        check_arc_states(batch, edge_states, self.edge_channels)


def check_arc_states(
    batch: CycleData, edge_states: Float[Tensor, "a e"] | ArcStates | None, channels: int
) -> None:
    """Refuse states of arcs that are not those that were announced.

    Args:
        batch: The graphs.
        edge_states: The states, or None.
        channels: How wide they were to be; 0 if there are none.

    Raises:
        ValueError: If they have another shape, or are missing.
    """
    expected = (batch.edge_index.size(1), channels)
    if edge_states is None and channels:
        raise ValueError(
            f"`edge_states` must have shape {expected}, but it is missing; try: "
            "edge_channels=0 for a backbone without states of arcs"
        )
    if edge_states is not None and tuple(edge_states.shape) != expected:
        raise ValueError(
            f"`edge_states` must have shape {expected}, one row for each arc and "
            f"`edge_channels` columns, but its shape is {tuple(edge_states.shape)}"
        )


def _at_least(least: int, value: int, name: str) -> int:
    if value < least:
        raise ValueError(f"`{name}` must be at least {least}, but it is {value}")
    return value
