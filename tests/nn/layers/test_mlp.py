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


def test_constant_rows_are_not_lost():
    layer = NormedLinear(1, 4).double()
    rows = layer(torch.ones(5, 1, dtype=torch.double))
    expected = layer[0].weight.T.relu().expand(5, 4)
    torch.testing.assert_close(rows, expected, rtol=1e-5, atol=0)


def test_reset_reaches_every_module_inside():
    inside = torch.nn.ModuleList([torch.nn.Linear(3, 3), torch.nn.ModuleDict({"m": RowNorm(3)})])
    inside[1]["m"].weight.data.fill_(7.0)
    before = inside[0].weight.clone()
    reset_children(inside)
    assert not torch.equal(inside[0].weight, before)
    assert torch.equal(inside[1]["m"].weight, torch.ones(3))


@pytest.mark.parametrize(
    "module", [NormedLinear(3, 4), NormedMLP(3, 4, 2), GraphHead(3, 4, 2, "sum")]
)
def test_gradients_are_right(module):
    module = module.double()
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(6, 3, generator=generator, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(module, rows)
