"""Several processes that train one network together, each on its share of every batch."""

from collections.abc import Sequence

import torch
from torch import Tensor


class Ranks:
    """The processes that share each batch; by itself, this one alone.

    With a process group of torch every rank takes every `world`-th graph of a batch. Losses are
    divided by the size of the whole batch and gradients summed, so any number of ranks takes the
    step of a single one, to rounding; ranks without a graph take part with zeros. Normalisations
    see the rows of all ranks: see `nn.layers.RowNorm`.
    """

    def __init__(self) -> None:
        is_group = torch.distributed.is_available() and torch.distributed.is_initialized()
        self.rank = torch.distributed.get_rank() if is_group else 0
        self.world = torch.distributed.get_world_size() if is_group else 1

    def total(self, values: Tensor) -> Tensor:
        """The sum over all ranks.

        Args:
            values: The numbers of this rank; replaced by the sum.

        Returns:
            The same on every rank.
        """
        if self.world > 1:
            torch.distributed.all_reduce(values)
        return values

    def sum_gradients(self, weights: Sequence[Tensor]) -> None:
        """Replace every gradient by its sum over all ranks, in one message.

        Args:
            weights: Parameters; those without a gradient have none on any rank.
        """
        if self.world == 1:
            return
        gradients = [weight.grad for weight in weights if weight.grad is not None]
        joined = self.total(torch.cat([gradient.flatten() for gradient in gradients]))
        parts = joined.split([gradient.numel() for gradient in gradients])
        for gradient, part in zip(gradients, parts, strict=True):
            gradient.copy_(part.view_as(gradient))
