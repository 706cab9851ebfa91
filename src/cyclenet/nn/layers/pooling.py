"""Sums, means and softmax over rows that belong together, however many there are."""

from collections.abc import Callable
from typing import Literal

import torch
from jaxtyping import Float, Int64
from torch import Tensor

Readout = Literal["mean", "sum"]


def sum_pool(
    rows: Float[Tensor, "r k"], owner: Int64[Tensor, " r"], num_owners: int
) -> Float[Tensor, "{num_owners} k"]:
    """The sum of the rows of each owner; zeros where there are none.

    Args:
        rows: Any rows.
        owner: Whom each row belongs to, in any order.
        num_owners: How many owners there are, those without rows included.

    Returns:
        One row for each owner.
    """
    return rows.new_zeros(num_owners, rows.size(1)).index_add(0, owner, rows)


def mean_pool(
    rows: Float[Tensor, "r k"], owner: Int64[Tensor, " r"], num_owners: int
) -> Float[Tensor, "{num_owners} k"]:
    """The mean of the rows of each owner; zeros where there are none.

    Args:
        rows: Any rows.
        owner: Whom each row belongs to, in any order.
        num_owners: How many owners there are, those without rows included.

    Returns:
        One row for each owner.
    """
    sizes = sum_pool(rows.new_ones(rows.size(0), 1), owner, num_owners)
    return sum_pool(rows, owner, num_owners) / sizes.clamp(min=1)


# How the rows of a graph become one, by the name that a backbone takes as `readout`.
POOLS: dict[str, Callable[[Tensor, Tensor, int], Tensor]] = {"mean": mean_pool, "sum": sum_pool}


def segment_softmax(
    logits: Float[Tensor, "r k"], owner: Int64[Tensor, " r"], num_owners: int
) -> Float[Tensor, "r k"]:
    r"""Softmax among the rows of each owner, in each channel.

    $$w_i = e^{z_i} / \sum_{j : o_j = o_i} e^{z_j},$$

    so the weights of each owner's rows are positive and sum to 1. The largest logit of an owner is
    taken off before the exponential, which changes nothing but keeps it finite.

    Args:
        logits: Any numbers.
        owner: Whom each row belongs to, in any order.
        num_owners: How many owners there are, those without rows included.

    Returns:
        One weight for each logit.
    """
    lowest = logits.new_full((num_owners, logits.size(1)), -torch.inf)
    shared = owner.unsqueeze(1).expand_as(logits)
    peak = lowest.scatter_reduce(0, shared, logits.detach(), "amax")
    weights = (logits - peak.index_select(0, owner)).exp()
    return weights / sum_pool(weights, owner, num_owners).index_select(0, owner)


def repeated(
    counts: Int64[Tensor, " r"], num_rows: int | None, *, fill: bool = False
) -> Int64[Tensor, " s"]:
    """Row i, `counts[i]` times.

    Args:
        counts: How often each row is wanted.
        num_rows: Their sum, if it is known: a GPU that has to tell it has to be waited for.
        fill: The last row takes what is left of `num_rows`, whatever its own count says.

    Returns:
        Row numbers, ascending.
    """
    if fill and num_rows is not None:
        counts = torch.cat((counts[:-1], num_rows - counts[:-1].sum(0, keepdim=True)))
    rows = torch.arange(counts.size(0), device=counts.device)
    return rows.repeat_interleave(counts, output_size=num_rows)
