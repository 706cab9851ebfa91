import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from cyclenet.nn.layers.pooling import sum_pool
from cyclenet.nn.layers.statistics import row_statistics

FLOOR = 1e-5**0.5


def counted(owner, num_owners):
    return sum_pool(torch.ones(owner.size(0), 1, dtype=torch.double), owner, num_owners)


@given(st.lists(st.integers(0, 4), max_size=12), st.integers(0, 2**31))
@examples(50, 1000)
def test_each_owner_gets_the_statistics_of_its_rows(owners, seed):
    owner = torch.tensor(owners, dtype=torch.long)
    generator = torch.Generator().manual_seed(seed)
    rows = torch.randn(len(owners), 3, generator=generator, dtype=torch.double)
    found = row_statistics(rows, owner, counted(owner, 5))
    for i in range(5):
        mine = rows[owner == i] if i in owners else torch.zeros(1, 3, dtype=torch.double)
        spread = (mine.var(0, correction=0) + 1e-5).sqrt()
        expected = torch.stack((mine.mean(0), mine.amax(0), mine.amin(0), spread))
        torch.testing.assert_close(found[i], expected, atol=1e-12, rtol=1e-9)


def test_two_rows_by_hand():
    rows = torch.tensor([[1.0], [3.0]], dtype=torch.double)
    found = row_statistics(rows, torch.tensor([1, 1]), counted(torch.tensor([1, 1]), 2))
    assert found[0].flatten().tolist() == [0, 0, 0, FLOOR]
    torch.testing.assert_close(
        found[1].flatten(), torch.tensor([2, 3, 1, 1.000005], dtype=torch.double),
        atol=1e-9, rtol=0,
    )  # fmt: skip


def test_gradients_are_right_and_finite_for_equal_rows():
    owner = torch.tensor([0, 0, 1, 1, 3])
    rows = torch.randn(5, 2, dtype=torch.double, requires_grad=True)
    counts = counted(owner, 4)
    assert torch.autograd.gradcheck(lambda x: row_statistics(x, owner, counts), rows)
    equal = torch.zeros(5, 2, dtype=torch.double, requires_grad=True)
    row_statistics(equal, owner, counts).sum().backward()
    # Ties share the gradient of their maximum and of their minimum, the mean gives the rest.
    expected = 3 / counts[owner]
    torch.testing.assert_close(equal.grad, expected.expand(-1, 2))
