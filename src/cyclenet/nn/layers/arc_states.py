"""States of arcs that are the same on many arcs, so that they are kept and mapped once."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn.functional import linear

from cyclenet.data import CycleData
from cyclenet.nn.layers.pooling import mean_pool


class ArcStates(NamedTuple):
    r"""States of arcs in two parts, of which many arcs share the second.

    The state of arc $a$ is $[x_a, s_{p(a)}]$. A linear map of it is $A x_a + (S s)_{p(a)}$, so the
    product with the shared rows is made once for each of them: both arcs of an edge, and all edges
    that an encoder cannot tell apart, read the same row.

    Args:
        own: What belongs to the arc alone, or None.
        shared: The rows that are shared.
        place: The shared row of each arc.
    """

    own: Float[Tensor, "a i"] | None
    shared: Float[Tensor, "r k"]
    place: Int64[Tensor, " a"]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of arcs, and width of a state."""
        return self.place.size(0), self._own_channels + self.shared.size(1)

    @property
    def _own_channels(self) -> int:
        return 0 if self.own is None else self.own.size(1)

    def mapped(self, layer: torch.nn.Linear) -> Float[Tensor, "a o"]:
        """What a linear layer makes of every state.

        Args:
            layer: A layer as wide as a state.

        Returns:
            One row for each arc.
        """
        weight, width = layer.weight, self._own_channels
        rows = linear(self.shared, weight[:, width:], layer.bias).index_select(0, self.place)
        return rows if self.own is None else torch.addmm(rows, self.own, weight[:, :width].t())


def map_arcs(
    layer: torch.nn.Linear, states: Float[Tensor, "a e"] | ArcStates
) -> Float[Tensor, "a o"]:
    """What a linear layer makes of states of arcs, however they come.

    Args:
        layer: The layer.
        states: One row for each arc, or rows that arcs share.

    Returns:
        One row for each arc.
    """
    return states.mapped(layer) if isinstance(states, ArcStates) else layer(states)


def mean_of_arcs(batch: CycleData, rows: Float[Tensor, "a e"]) -> Float[Tensor, "m e"]:
    """The mean of the rows of the arcs of each edge.

    Args:
        batch: The graphs.
        rows: One row for each arc.

    Returns:
        One row for each undirected edge.
    """
    num_edges = batch.edges.size(1)
    # The extra row is for arcs without an edge, loops that were dropped.
    return mean_pool(rows, batch.edge_of_arcs(), num_edges + 1)[:num_edges]
