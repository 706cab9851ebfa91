"""Sums over rows that several processes hold, for normalisations that have to see all of them."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


def num_ranks() -> int:
    """How many processes share a training; 1 outside of a group."""
    group = torch.distributed
    is_group = group.is_available() and group.is_initialized()
    return group.get_world_size() if is_group else 1


def summed_over_ranks(sums: Float[Tensor, "*s"]) -> Float[Tensor, "*s"]:
    r"""The sum of a tensor over all ranks, on every rank, with its gradient.

    With $x_r$ on rank r, every rank gets $y = \sum_r x_r$. The loss of a training is the sum of
    those of the ranks, $L = \sum_q L_q$, so the gradient is a sum again, the same on every rank:

    $$\frac{\partial L}{\partial x_r} = \sum_q \frac{\partial L_q}{\partial y} .$$

    Ranks that add up the count, the sum and the sum of squares of their rows, stacked in one
    tensor, normalise as a single rank would that has all rows.

    Every rank has to call it, as often and in the same order, also one without any row; and what
    it returns has to enter the loss of every rank, be it times zero, for the way back is a sum
    over all ranks too.

    Args:
        sums: What this rank adds; of the same shape and type on all of them.

    Returns:
        The sum; `sums` itself outside of a group of processes, or in one of a single rank.
    """
    if num_ranks() == 1:
        return sums
    total: Any = _Total.apply(sums)
    return total


class _Total(torch.autograd.Function):
    """The sum over all ranks; its gradient is the sum of their gradients."""

    @staticmethod
    def forward(ctx: Any, sums: Tensor) -> Tensor:
        """The sum."""
        del ctx  # nothing to remember: the sum is linear
        return _total(sums)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        """The sum of the gradients of all ranks."""
        del ctx
        return _total(gradient)


def _total(values: Tensor) -> Tensor:
    total = values.clone(memory_format=torch.contiguous_format)
    torch.distributed.all_reduce(total)
    return total
