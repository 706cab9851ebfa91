"""The normalisation that all networks share, over the rows that exist."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn.functional import batch_norm

from cyclenet.nn.layers.row_sums import num_ranks, summed_over_ranks

# Deviations of so many roundings of the mean are no deviations.
_ROUNDINGS = 100.0

# One for the process: the compiler of torch reads a plain global, and no other kind.
_real_rows: Mapping[int, Tensor] | None = None


@contextmanager
def real_rows(counts: Mapping[int, Int64[Tensor, ""]]) -> Iterator[None]:
    """Within it `RowNorm` knows which rows of a batch of fixed size are real.

    A batch that is filled up (see `runner.batches`) has a number of rows of its own for each unit,
    so that number tells which unit the rows are. Networks need not know that there is a filler; and
    rows that nobody counted are refused, for they would let it into a mean.

    Args:
        counts: From the number of rows of each unit to how many of them are real, at least 2; the
            real ones come first.

    Yields:
        Nothing.
    """
    global _real_rows
    before, _real_rows = _real_rows, counts
    try:
        yield
    finally:
        _real_rows = before


class RowNorm(torch.nn.BatchNorm1d):
    r"""Batch normalisation over rows that exist, however few.

    $$y_r = \frac{x_r - \mu}{\sqrt{\sigma^2 + \epsilon}}\, w + b,$$

    with mean and variance of each channel over the real rows in training, of all processes that
    share it, and running statistics in evaluation. The rows are ragged, so no padding enters a mean
    or a variance. A batch may have no rows at all (graphs without edges) or a single one, which has
    no variance: these are normalised by the running statistics, in training too, and leave them as
    they are.

    A channel that is constant but for rounding has nothing to normalise: 0 and 1 stand for its mean
    and variance. Divided by a root of $\epsilon$ in one normalisation after the other, the rounding
    would become all that a network sees of graphs without features, and it differs between copies
    of a graph; and centred, a constant would be lost, with it the degrees that its sums tell.

    Args:
        channels: Width of a row.
    """

    def __init__(self, channels: int) -> None:
        super().__init__(channels)

    def forward(self, input: Float[Tensor, "r k"]) -> Float[Tensor, "r k"]:
        """The rows, centred and scaled in each channel."""
        if not self.training:
            return super().forward(input)
        counts = _real_rows
        if counts is not None:
            if input.size(0) not in counts:
                raise ValueError(
                    f"`input` must have as many rows as one of the units of the filled batch "
                    f"({sorted(counts)}), but it has {input.size(0)}"
                )
            return self._updated(input, counts[input.size(0)])
        count = input.size(0)
        if num_ranks() > 1:
            count = int(summed_over_ranks(torch.tensor(count, device=input.device)))
        if count < 2:
            return batch_norm(
                input, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps
            )
        return self._updated(input, input.new_full((), count))

    def _updated(self, rows: Float[Tensor, "r k"], count: Tensor) -> Float[Tensor, "r k"]:
        """The rows by statistics over the first of them, `count` on all ranks together."""
        assert self.running_mean is not None and self.running_var is not None
        assert self.num_batches_tracked is not None and self.momentum is not None
        real = (torch.arange(rows.size(0), device=rows.device) < count).unsqueeze(1)
        rows = torch.where(real, rows, 0.0)  # whatever the others hold, zero times it must be zero
        mean = summed_over_ranks(rows.sum(0)) / count
        centred = torch.where(real, rows - mean, 0.0)
        variance = summed_over_ranks(centred.square().sum(0)) / count
        rounding = _ROUNDINGS * torch.finfo(rows.dtype).eps * mean
        varies = variance > rounding.square()
        mean = torch.where(varies, mean, 0.0)
        variance = torch.where(varies, variance, 1.0)
        with torch.no_grad():
            self.num_batches_tracked += 1
            self.running_mean.lerp_(mean, self.momentum)
            unbiased = variance * count / (count - 1)
            self.running_var.lerp_(torch.where(varies, unbiased, 1.0), self.momentum)
        return torch.addcmul(self.bias, rows - mean, self.weight * (variance + self.eps).rsqrt())
