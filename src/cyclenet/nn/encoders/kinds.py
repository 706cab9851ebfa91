"""Rows of which many are alike: each kind is found once, so that networks can read it once."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from cyclenet.data import CycleData

_LARGEST_KEY = 2**62


class EdgeKinds(NamedTuple):
    """Which edges of a batch an encoder cannot tell apart.

    Args:
        edges: One edge of each kind.
        of_edge: The kind of each edge.
    """

    edges: Int64[Tensor, " r"]
    of_edge: Int64[Tensor, " m"]


def can_be_sorted(batch: CycleData) -> bool:
    """Whether rows of a batch may be sorted into kinds.

    How many kinds there are depends on the graphs. A GPU would have to be waited for, and a batch
    that is filled up promises shapes that do not depend on them.

    Args:
        batch: The graphs.

    Returns:
        Whether they lie on a CPU, as they are.
    """
    return batch.edge_index.device.type == "cpu" and not batch.has_filler


def numbered(
    counts: Int64[Tensor, "c u"],
) -> tuple[Int64[Tensor, " r"], Int64[Tensor, " u"]]:
    """The distinct columns of a table.

    Args:
        counts: Numbers from 0 up, small ones: counts, or numbers of something.

    Returns:
        A position of each distinct column, and for every column which of them it is.
    """
    key, top = counts.new_zeros(counts.size(1)), 1
    for row in counts if counts.size(1) else ():
        size = int(row.max()) + 1
        if top * size >= _LARGEST_KEY:  # as digits of one number, if these are not too many
            distinct, key = key.unique(return_inverse=True)
            top = distinct.size(0)
        key, top = key * size + row, top * size
    distinct, number = key.unique(return_inverse=True)
    positions = torch.arange(number.size(0), device=number.device)
    return number.new_zeros(distinct.size(0)).scatter_(0, number, positions), number


def shared_by_arcs(
    batch: CycleData, rows: Float[Tensor, "r k"], of_edge: Int64[Tensor, " m"] | None
) -> tuple[Float[Tensor, "r1 k"], Int64[Tensor, " a"]]:
    """Rows of kinds of edges, as arcs read them.

    Args:
        batch: The graphs.
        rows: One row for each kind.
        of_edge: The kind of each edge; None if every edge has a row of its own.

    Returns:
        The rows and one of zeros, which arcs without an edge read; and the place of each arc.
    """
    place = batch.edge_of_arcs()
    if of_edge is not None:
        place = torch.cat((of_edge, of_edge.new_full((1,), rows.size(0)))).index_select(0, place)
    return torch.cat((rows, rows.new_zeros(1, rows.size(1)))), place
