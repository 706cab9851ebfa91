"""The normalisation that all networks share, over the rows that exist."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from jaxtyping import Float, Int64, Shaped
from torch import Tensor
from torch.nn.functional import batch_norm

from cyclenet.nn.layers.row_sums import num_ranks, summed_over_ranks

_REAL_ROWS: ContextVar[Mapping[int, Tensor] | None] = ContextVar("real_rows", default=None)


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
    token = _REAL_ROWS.set(counts)
    try:
        yield
    finally:
        _REAL_ROWS.reset(token)


class RowNorm(torch.nn.BatchNorm1d):
    r"""Batch normalisation over rows that exist, however few.

    $$y_r = \frac{x_r - \mu}{\sqrt{\sigma^2 + \epsilon}}\, w + b,$$

    with mean and variance of each channel over the real rows in training, of all processes that
    share it, and running statistics in evaluation. The rows are ragged, so no padding enters a mean
    or a variance. A batch may have no rows at all (graphs without edges) or a single one, which has
    no variance: these are normalised by the running statistics, in training too, and leave them as
    they are.

    Args:
        channels: Width of a row.
    """

    def __init__(self, channels: int) -> None:
        super().__init__(channels)

    def forward(self, input: Float[Tensor, "r k"]) -> Float[Tensor, "r k"]:
        """The rows, centred and scaled in each channel."""
        if not self.training:
            return super().forward(input)
        counts = _REAL_ROWS.get()
        if counts is not None:
            if input.size(0) not in counts:
                raise ValueError(
                    f"`input` must have as many rows as one of the units of the filled batch "
                    f"({sorted(counts)}), but it has {input.size(0)}"
                )
            count = counts[input.size(0)]
            real = torch.arange(input.size(0), device=input.device) < count
            # Whatever the filler has grown to, zero times it must be zero.
            rows = torch.where(real.unsqueeze(1), input, 0.0)
            return self._over(rows, real.to(input.dtype), count)
        if num_ranks() > 1:
            real = input.new_ones(input.size(0))
            count = summed_over_ranks(real.sum())
            return self._over(input, real, count) if count >= 2 else self._by_running(input)
        return super().forward(input) if input.size(0) >= 2 else self._by_running(input)

    def _by_running(self, rows: Float[Tensor, "r k"]) -> Float[Tensor, "r k"]:
        """The rows by the running statistics, which stay as they are."""
        return batch_norm(
            rows, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps
        )

    def _over(
        self, rows: Float[Tensor, "r k"], real: Float[Tensor, " r"], count: Shaped[Tensor, ""]
    ) -> Float[Tensor, "r k"]:
        """Statistics over the rows that `real` says, `count` on all ranks together."""
        assert self.running_mean is not None and self.running_var is not None
        assert self.num_batches_tracked is not None and self.momentum is not None
        share = (real / count).unsqueeze(0)
        mean = summed_over_ranks(share @ rows).squeeze(0)
        centred = rows - mean
        variance = summed_over_ranks(share @ centred.square()).squeeze(0)
        with torch.no_grad():
            self.num_batches_tracked += 1
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(variance * count / (count - 1), self.momentum)
        return torch.addcmul(self.bias, centred, self.weight * (variance + self.eps).rsqrt())
