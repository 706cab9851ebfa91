import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from cyclenet.nn.layers import POOLS, mean_pool, segment_softmax, sum_pool


@st.composite
def owned_rows(draw):
    """Rows, whom they belong to, and how many owners there are; some own nothing."""
    num_owners = draw(st.integers(0, 4))
    owners = st.lists(st.integers(0, num_owners - 1), max_size=8) if num_owners else st.just([])
    owner = torch.tensor(draw(owners), dtype=torch.long)
    generator = torch.Generator().manual_seed(draw(st.integers(0, 99)))
    return torch.randn(len(owner), 2, generator=generator, dtype=torch.double), owner, num_owners


@given(owned_rows())
@examples(60, 600)
def test_pools_are_sums_and_means_of_what_is_there(case):
    rows, owner, num_owners = case
    for i in range(num_owners):
        mine = rows[owner == i]
        mean = mine.mean(0) if len(mine) else torch.zeros(2, dtype=torch.double)
        torch.testing.assert_close(sum_pool(*case)[i], mine.sum(0))
        torch.testing.assert_close(mean_pool(*case)[i], mean)
    assert sum_pool(*case).shape == (num_owners, 2)


@given(owned_rows())
@examples(60, 600)
def test_softmax_weights_are_those_of_each_owner_alone(case):
    logits, owner, num_owners = case
    weights = segment_softmax(*case)
    for i in range(num_owners):
        torch.testing.assert_close(weights[owner == i], logits[owner == i].softmax(0))


def test_softmax_stays_finite_at_large_logits():
    logits = torch.tensor([[1e4], [1e4], [-1e4]])
    weights = segment_softmax(logits, torch.tensor([0, 0, 1]), 2)
    assert weights.flatten().tolist() == [0.5, 0.5, 1.0]


@given(owned_rows())
@examples(10, 60)
def test_gradients_are_right(case):
    rows, owner, num_owners = case
    rows = rows.requires_grad_()
    for function in (*POOLS.values(), segment_softmax):
        assert torch.autograd.gradcheck(lambda r, f=function: f(r, owner, num_owners), rows)
