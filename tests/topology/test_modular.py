import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from cyclenet.topology.modular import PRIME, minimal_polynomial


def diagonal(roots):
    return np.diag(np.array(roots, dtype=np.int64))


def evaluate(coefficients, x):
    value = 0
    for coefficient in coefficients.tolist():
        value = (value * x + coefficient) % PRIME
    return value


@examples(quick=150, deep=20_000)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=9), st.integers(0, 2**31))
def test_a_diagonal_matrix_has_each_of_its_values_as_a_root_once(roots, seed):
    matrix = diagonal(roots)
    found = minimal_polynomial(lambda v: matrix @ v, len(roots), len(roots), seed)
    assert found[0] == 1
    assert found.size - 1 == len(set(roots))
    assert all(evaluate(found, root) == 0 for root in roots)


def test_a_jordan_block_counts_its_root_with_its_size():
    matrix = np.array([[2, 1, 0], [0, 2, 1], [0, 0, 2]])
    found = minimal_polynomial(lambda v: matrix @ v, 3, 3, 1)
    # (x - 2)^3
    assert found.tolist() == [1, PRIME - 6, 12, PRIME - 8]


@pytest.mark.parametrize("asked", [1, 2, 3])
def test_a_degree_beyond_the_one_asked_for_is_noticed(asked):
    matrix = diagonal([1, 2, 3, 4])
    assert minimal_polynomial(lambda v: matrix @ v, 4, asked, 1).size - 1 > asked
