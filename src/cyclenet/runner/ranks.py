"""Several processes that train one network together, each on its share of every batch."""

from collections.abc import Sequence

import torch
from torch import Tensor

from cyclenet.nn.layers.row_sums import num_ranks


class Ranks:
    """The processes that share each batch; by itself, this one alone.

    With a process group of torch every rank takes every `world`-th graph of a batch. Losses are
    divided by the size of the whole batch and gradients summed, so any number of ranks takes the
    step of a single one, to rounding; ranks without a graph take part with zeros. Normalisations
    see the rows of all ranks: see `nn.layers.row_sums`.
    """

    def __init__(self) -> None:
        self.world = num_ranks()
        self.rank = torch.distributed.get_rank() if self.world > 1 else 0

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

        A weight without a gradient here, but with one on another rank, adds zeros: a rank without
        a graph that has cycles may never have called the layer behind it. One without a gradient on
        any rank keeps none.

        Args:
            weights: Parameters, the same ones in the same order on every rank.
        """
        if self.world == 1 or not weights:
            return
        gradients = [
            torch.zeros_like(weight) if weight.grad is None else weight.grad for weight in weights
        ]
        known = gradients[0].new_tensor([float(weight.grad is not None) for weight in weights])
        joined = self.total(torch.cat([known, *(one.flatten() for one in gradients)]))
        sizes = [len(weights), *(one.numel() for one in gradients)]
        known, *parts = joined.split(sizes)
        for weight, part, ranks in zip(weights, parts, known.tolist(), strict=True):
            if ranks:
                weight.grad = part.view_as(weight)
