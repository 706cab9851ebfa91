"""What all encoders share: from numbers of edges to one row for each arc."""

from abc import abstractmethod

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from cyclenet.data import CycleData
from cyclenet.nn.encoders.kinds import shared_by_arcs
from cyclenet.nn.layers.mlp import reset_children
from cyclenet.topology import GraphError


class Encoder(torch.nn.Module):
    """A network from the cycle numbers of a batch to one row for each column of `edge_index`.

    The laws, in evaluation mode and up to rounding: relabelling a graph, reordering its arcs, and
    reordering or reversing its cycles permute the rows and change nothing else; neither do other
    graphs in the batch. Both arcs of an edge get the same row. Arcs without an edge (self loops
    that were dropped) get zeros. Forests, edgeless and empty graphs are ordinary.
    `cyclenet.testing.check_encoder` tests these on any encoder.

    Args:
        out_channels: Width of a row.
    """

    def __init__(self, out_channels: int) -> None:
        super().__init__()
        if out_channels < 1:
            raise ValueError(f"`out_channels` must be at least 1, but it is {out_channels}")
        self.out_channels = out_channels

    @abstractmethod
    def encode_edges(self, batch: CycleData) -> Float[Tensor, "m {self.out_channels}"]:
        """One row for each undirected edge.

        Args:
            batch: Graphs with the numbers this encoder reads.
        """

    def forward(self, batch: CycleData) -> Float[Tensor, "a {self.out_channels}"]:
        """One row for each column of `edge_index`.

        Args:
            batch: One graph or several, with the numbers this encoder reads.

        Returns:
            The encoding.
        """
        rows = self.encode_edges(batch)
        return batch.on_arcs(rows)

    def shared_rows(
        self, batch: CycleData
    ) -> tuple[Float[Tensor, "r {self.out_channels}"], Int64[Tensor, " a"]]:
        """The same encoding as rows that arcs share: row `place[i]` is that of column i.

        What comes next can treat every row once (see `ArcStates`), and here are half as many rows
        as arcs at most. An encoder that cannot tell some edges apart may return fewer.

        Args:
            batch: One graph or several, with the numbers that this encoder reads.

        Returns:
            The rows, the last of them zero, and the place of each arc among them.
        """
        return shared_by_arcs(batch, self.encode_edges(batch), None)

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        reset_children(self)


def numbers_of(batch: CycleData, name: str, transform: str) -> Tensor:
    """An attribute of a batch, or an error that names the transform that adds it.

    Args:
        batch: The graphs.
        name: A name from `CYCLE_ATTRIBUTES`.
        transform: What adds it.

    Returns:
        The attribute.

    Raises:
        GraphError: If the batch has no such numbers.
    """
    if not isinstance(batch, CycleData) or name not in batch:
        raise GraphError(
            f"`batch` must hold `{name}`, but it does not; try: {transform} as a transform or "
            "pre_transform of the dataset",
            code="numbers_missing",
        )
    return batch[name]
