"""The normalisation that all networks share, over the rows that exist."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from jaxtyping import Bool, Float, Int64
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

    Rows may stand in a table of fixed size, such as one for each node and eigenvector, some places
    of which are empty. Told which rows exist, it does with them what it does with ragged rows, and
    leaves zeros in the other places. How many there are is then for the device to know.

    Args:
        channels: Width of a row.
        shift: Whether there is a b. Where a linear map and another normalisation follow, it would
            never learn.
    """

    def __init__(self, channels: int, *, shift: bool = True) -> None:
        super().__init__(channels)
        if not shift:
            self.register_parameter("bias", None)

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        self.reset_running_stats()
        torch.nn.init.ones_(self.weight)
        if self.bias is not None:
            torch.nn.init.zeros_(self.bias)

    def forward(
        self, input: Float[Tensor, "r *w k"], exists: Bool[Tensor, "r *w"] | None = None
    ) -> Float[Tensor, "r *w k"]:
        """The rows, centred and scaled in each channel.

        Args:
            input: The rows, or tables of them.
            exists: Which rows there are; all of them if left out.

        Returns:
            As many rows, those that do not exist zero.
        """
        if exists is not None:
            rows = self._in_tables(input, exists) if self.training else self._by_running(input)
            return torch.where(exists.unsqueeze(-1), rows, 0.0)
        if not self.training:
            return self._by_running(input)
        if _real_rows is not None:
            count = _counted(input.size(0))
            return self._updated(input, _first(input.size(0), count).unsqueeze(1), count)
        count = input.size(0)
        if num_ranks() > 1:
            count = int(summed_over_ranks(torch.tensor(count, device=input.device)))
        if count < 2:
            return self._by_running(input)
        return self._updated(input, None, input.new_full((), count))

    def _by_running(self, rows: Float[Tensor, "r *w k"]) -> Float[Tensor, "r *w k"]:
        flat = rows.flatten(0, -2)
        flat = batch_norm(
            flat, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps
        )
        return flat.view_as(rows)

    def _in_tables(
        self, rows: Float[Tensor, "r *w k"], exists: Bool[Tensor, "r *w"]
    ) -> Float[Tensor, "r *w k"]:
        """The rows by statistics over those that exist, as long as there are two."""
        real = exists
        if _real_rows is not None:
            first = _first(rows.size(0), _counted(rows.size(0)))
            real = exists & first.view(-1, *[1] * (exists.dim() - 1))
        count = summed_over_ranks(real.sum().to(rows.dtype))
        return self._updated(rows, real.unsqueeze(-1), count.clamp(min=2), count > 1)

    def _updated(
        self,
        rows: Float[Tensor, "r *w k"],
        real: Bool[Tensor, "r *v"] | None,
        count: Tensor,
        enough: Tensor | None = None,
    ) -> Float[Tensor, "r *w k"]:
        """The rows by statistics over the real ones, `count` on all ranks together."""
        assert self.running_mean is not None and self.running_var is not None
        assert self.num_batches_tracked is not None and self.momentum is not None
        over = tuple(range(rows.dim() - 1))
        if real is not None:  # whatever the others hold, zero times it must be zero
            rows = torch.where(real, rows, 0.0)
        mean = summed_over_ranks(rows.sum(over)) / count
        centred = rows - mean
        if real is not None:
            centred = torch.where(real, centred, 0.0)
        variance = summed_over_ranks(centred.square().sum(over)) / count
        rounding = _ROUNDINGS * torch.finfo(rows.dtype).eps * mean
        varies = variance > rounding.square()
        mean = torch.where(varies, mean, 0.0)
        variance = torch.where(varies, variance, 1.0)
        unbiased = torch.where(varies, variance * count / (count - 1), 1.0)
        if enough is not None:
            mean = torch.where(enough, mean, self.running_mean)
            variance = torch.where(enough, variance, self.running_var)
            unbiased = torch.where(enough, unbiased, self.running_var)
        with torch.no_grad():
            self.num_batches_tracked += 1 if enough is None else enough
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(unbiased, self.momentum)
        scale = self.weight * (variance + self.eps).rsqrt()
        if self.bias is None:
            return (rows - mean) * scale
        return torch.addcmul(self.bias, rows - mean, scale)


def _counted(num_rows: int) -> Int64[Tensor, ""]:
    """How many rows of a unit of the filled batch are real."""
    assert _real_rows is not None
    if num_rows not in _real_rows:
        raise ValueError(
            f"`input` must have as many rows as one of the units of the filled batch "
            f"({sorted(_real_rows)}), but it has {num_rows}"
        )
    return _real_rows[num_rows]


def _first(num_rows: int, count: Int64[Tensor, ""]) -> Bool[Tensor, " r"]:
    """Which rows are among the first so many."""
    return torch.arange(num_rows, device=count.device) < count
