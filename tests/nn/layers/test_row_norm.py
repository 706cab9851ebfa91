import pytest
import torch
from bad_input import refused

from cyclenet.nn.layers import RowNorm, real_rows


def test_rows_are_centred_and_scaled():
    norm = RowNorm(2)
    rows = norm(torch.tensor([[1.0, 10.0], [3.0, 30.0], [5.0, 80.0]]))
    torch.testing.assert_close(rows.mean(0), torch.zeros(2), atol=1e-6, rtol=0)
    torch.testing.assert_close(rows.var(0, unbiased=False), torch.ones(2), atol=1e-4, rtol=0)


def test_rows_that_vary_are_normalised_as_torch_does():
    ours, theirs = RowNorm(3).double(), torch.nn.BatchNorm1d(3).double()
    generator = torch.Generator().manual_seed(0)
    for _ in range(3):
        rows = torch.randn(7, 3, generator=generator, dtype=torch.double) * 3 + 5
        torch.testing.assert_close(ours(rows), theirs(rows))
    ours.eval(), theirs.eval()
    torch.testing.assert_close(ours(rows), theirs(rows))
    for one, other in zip(ours.buffers(), theirs.buffers(), strict=True):
        torch.testing.assert_close(one, other)


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


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rounding_does_not_grow_in_one_norm_after_the_other(dtype):
    rows = torch.full((1000, 4), 0.1, dtype=dtype)
    rows[::3] += torch.finfo(dtype).eps * 0.1
    states = rows
    for _ in range(12):
        states = RowNorm(4).to(dtype)(states + 0.3)
    assert states.std(0).max() < 1e3 * torch.finfo(dtype).eps


def test_constant_rows_stay_in_training_and_in_evaluation():
    norm, rows = RowNorm(2).double(), torch.tensor([[3.0, -0.5]] * 5, dtype=torch.double)
    for _ in range(200):
        norm(rows)
    torch.testing.assert_close(norm(rows), rows, rtol=1e-5, atol=0)
    norm.eval()
    torch.testing.assert_close(norm(rows), rows, rtol=1e-5, atol=0)


def test_a_small_deviation_is_no_rounding():
    rows = 1 + 1e-6 * torch.tensor([[0.0], [1.0], [2.0]], dtype=torch.double)
    assert RowNorm(1).double()(rows).std() > 1e-4


def test_rows_that_nobody_counted_are_refused():
    with real_rows({7: torch.tensor(5)}), refused(ValueError, r"\[7\].*has 6"):
        RowNorm(2)(torch.zeros(6, 2))


def test_rows_that_are_not_real_enter_no_statistic():
    norm, plain = RowNorm(2).double(), RowNorm(2).double()
    rows = torch.rand(7, 2, dtype=torch.float64)
    rows[5], rows[6] = 1e6, torch.inf
    with real_rows({7: torch.tensor(5)}):
        found = norm(rows)
    torch.testing.assert_close(found[:5], plain(rows[:5]))
    assert found.isfinite().all()
    torch.testing.assert_close(norm.running_mean, plain.running_mean)
    torch.testing.assert_close(norm.running_var, plain.running_var)
    assert norm.num_batches_tracked == plain.num_batches_tracked == 1


def tables(seed=0):
    """Rows in tables of three columns, which rows there are, and what stands in the others."""
    generator = torch.Generator().manual_seed(seed)
    rows = torch.randn(6, 3, 2, generator=generator, dtype=torch.double) * 3 + 5
    exists = torch.rand(6, 3, generator=generator) < 0.6
    return torch.where(exists.unsqueeze(2), rows, torch.inf), exists


@pytest.mark.parametrize("training", [True, False])
def test_rows_in_tables_are_normalised_as_those_that_exist(training):
    norm, plain = RowNorm(2).double(), RowNorm(2).double()
    for seed in range(3):
        rows, exists = tables(seed)
        found, expected = norm(rows, exists), plain(rows[exists])
    norm.train(training), plain.train(training)
    rows, exists = tables(3)
    found, expected = norm(rows, exists), plain(rows[exists])
    torch.testing.assert_close(found[exists], expected)
    assert (found[~exists] == 0).all()
    for one, other in zip(norm.buffers(), plain.buffers(), strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("count", [0, 1])
def test_tables_with_too_few_rows_use_the_running_statistics(count):
    norm = RowNorm(2)
    norm(torch.tensor([[1.0, 10.0], [3.0, 30.0]]))
    before = {key: value.clone() for key, value in norm.state_dict().items()}
    rows = torch.full((3, 2, 2), 7.0, requires_grad=True)
    exists = torch.zeros(3, 2, dtype=torch.bool)
    exists[0, :count] = True
    found = norm(rows, exists)
    expected = (rows - before["running_mean"]) / (before["running_var"] + norm.eps).sqrt()
    torch.testing.assert_close(found, torch.where(exists.unsqueeze(2), expected, 0.0))
    found.sum().backward()
    assert rows.grad.isfinite().all()
    for key, value in norm.state_dict().items():
        assert torch.equal(value, before[key]), key


def test_tables_that_are_not_real_enter_no_statistic():
    norm, plain = RowNorm(2).double(), RowNorm(2).double()
    rows, exists = tables()
    with real_rows({6: torch.tensor(4)}):
        found = norm(rows, exists)
    expected = plain(rows[:4], exists[:4])
    torch.testing.assert_close(found[:4], expected)
    assert found.isfinite().all()
    torch.testing.assert_close(norm.running_mean, plain.running_mean)
    torch.testing.assert_close(norm.running_var, plain.running_var)


def test_without_a_shift_it_is_a_norm_whose_shift_is_zero():
    norm, plain = RowNorm(2, shift=False), RowNorm(2)
    assert [name for name, _ in norm.named_parameters()] == ["weight"]
    torch.nn.init.uniform_(norm.weight), plain.weight.data.copy_(norm.weight)
    rows = torch.rand(5, 2)
    torch.testing.assert_close(norm(rows), plain(rows))
    norm.eval(), plain.eval()
    torch.testing.assert_close(norm(rows), plain(rows))
    norm.reset_parameters()
    assert (norm.weight == 1).all() and (norm.running_mean == 0).all()


def test_gradients_are_right():
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(6, 3, generator=generator, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(RowNorm(3).double(), rows)
    rows, exists = tables()
    rows = torch.where(exists.unsqueeze(2), rows, 0.0).requires_grad_()
    assert torch.autograd.gradcheck(RowNorm(2).double(), (rows, exists))
