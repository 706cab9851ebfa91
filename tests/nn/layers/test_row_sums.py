"""Sums over the rows of all ranks: the numbers of one rank that has all rows, and its gradients."""

import torch
from forked import on_ranks

from cyclenet.nn.layers.row_sums import summed_over_ranks

CHANNELS = 3


def rows_of(rank, sizes):
    """The rows of one rank; those of all ranks, one after the other, are those of rank None."""
    generator = torch.Generator().manual_seed(0)
    parts = torch.randn(sum(sizes), CHANNELS, generator=generator, dtype=torch.float64).split(sizes)
    rows = torch.cat(parts) if rank is None else parts[rank]
    return rows.clone().requires_grad_()


def normalised(rows):
    """Each channel centred and scaled by what all ranks hold: the sums that `RowNorm` needs."""
    count = rows.new_full((CHANNELS,), float(len(rows)))
    sums = torch.stack((count, rows.sum(0), rows.square().sum(0)))
    count, total, squares = summed_over_ranks(sums)
    mean = total / count
    return (rows - mean) * (squares / count - mean.square() + 1e-5).rsqrt()


def forward_and_back(sizes, rank=None):
    """Normalised rows, the loss of this rank, and the gradient of the loss of all."""
    if rank is None and torch.distributed.is_initialized():
        rank = torch.distributed.get_rank()
    rows = rows_of(rank, sizes)
    out = normalised(rows)
    weight = torch.linspace(-1, 1, out.numel(), dtype=torch.float64).view_as(out)
    if rank is not None:  # weights follow the rows
        every = torch.linspace(-1, 1, sum(sizes) * CHANNELS, dtype=torch.float64)
        weight = every.view(-1, CHANNELS).split(sizes)[rank]
    (out.pow(3) * weight).sum().backward()
    return out.detach(), rows.grad


def test_ranks_normalise_and_learn_as_one_that_has_all_rows():
    for sizes in ([4, 5], [9, 0]):
        out, gradient = forward_and_back(sizes)
        found = on_ranks(2, forward_and_back, sizes)
        torch.testing.assert_close(torch.cat([one for one, _ in found]), out)
        torch.testing.assert_close(torch.cat([one for _, one in found]), gradient)


def twice(value):
    """Both passes through a scalar."""
    number = torch.tensor(value, dtype=torch.float64, requires_grad=True)
    total = summed_over_ranks(number)
    (total.square() * (torch.distributed.get_rank() + 1)).backward()
    return float(total), float(number.grad)


def test_the_gradient_is_the_sum_of_those_of_all_ranks():
    # y = 3 + 3 and L = y^2 + 2 y^2, so dL/dx = 2 y + 4 y on every rank.
    assert on_ranks(2, twice, 3.0) == [(6.0, 36.0), (6.0, 36.0)]


def test_without_a_group_nothing_happens():
    sums = torch.ones(2, 3, requires_grad=True)
    assert summed_over_ranks(sums) is sums
