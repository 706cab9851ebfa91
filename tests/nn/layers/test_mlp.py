import pytest
import torch
from feature_graphs import num_parameters

from cyclenet.nn.layers import GraphHead, NormedLinear, NormedMLP, RowNorm, reset_children


@pytest.mark.parametrize(
    ("module", "count"),
    [
        (NormedLinear(3, 5), 3 * 5 + 10),
        (NormedMLP(3, 5, 7), 3 * 5 + 10 + 5 * 7),
        (NormedMLP(3, 5, 7, bias=True), 3 * 5 + 10 + 5 * 7 + 7),
        (GraphHead(3, 5, 7, "mean"), 3 * 5 + 5 + 5 * 7 + 7),
        (GraphHead(3, 5, 7, "sum"), 3 * 5 + 10 + 5 * 7 + 7),
    ],
)
def test_parameters_are_counted_by_hand(module, count):
    assert num_parameters(module) == count


def test_rows_are_centred_and_scaled():
    norm = RowNorm(2)
    rows = norm(torch.tensor([[1.0, 10.0], [3.0, 30.0], [5.0, 80.0]]))
    torch.testing.assert_close(rows.mean(0), torch.zeros(2), atol=1e-6, rtol=0)
    torch.testing.assert_close(rows.var(0, unbiased=False), torch.ones(2), atol=1e-4, rtol=0)


@pytest.mark.parametrize("count", [0, 1])
def test_too_few_rows_for_a_variance_use_the_running_statistics(count):
    norm = RowNorm(2)
    norm(torch.tensor([[1.0, 10.0], [3.0, 30.0]]))
    before = norm.running_mean.clone(), norm.running_var.clone()
    rows = torch.ones(count, 2, requires_grad=True)
    expected = (rows - before[0]) / (before[1] + norm.eps).sqrt()
    torch.testing.assert_close(norm(rows), expected)
    norm(rows).sum().backward()
    assert torch.equal(norm.running_mean, before[0]) and torch.equal(norm.running_var, before[1])
    assert rows.grad.isfinite().all()


def test_constant_rows_become_the_shift():
    # A mean is off by a rounding, which the norm divides by the root of its epsilon.
    rows = NormedLinear(1, 4).double()(torch.ones(5, 1, dtype=torch.double))
    torch.testing.assert_close(rows, torch.zeros(5, 4, dtype=torch.double), atol=1e-12, rtol=0)


def test_reset_reaches_every_module_inside():
    inside = torch.nn.ModuleList([torch.nn.Linear(3, 3), torch.nn.ModuleDict({"m": RowNorm(3)})])
    inside[1]["m"].weight.data.fill_(7.0)
    before = inside[0].weight.clone()
    reset_children(inside)
    assert not torch.equal(inside[0].weight, before)
    assert torch.equal(inside[1]["m"].weight, torch.ones(3))


@pytest.mark.parametrize(
    "module", [RowNorm(3), NormedLinear(3, 4), NormedMLP(3, 4, 2), GraphHead(3, 4, 2, "sum")]
)
def test_gradients_are_right(module):
    module = module.double()
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(6, 3, generator=generator, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(module, rows)
