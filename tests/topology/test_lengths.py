from fractions import Fraction

import numpy as np
import pytest
from bad_input import refused
from hypothesis import given
from hypothesis import strategies as st
from strategies import edge_weights

from cyclenet.topology import GraphError
from cyclenet.topology.lengths import LENGTH_BITS, whole_lengths

SOME_WEIGHTS = st.integers(0, 12).flatmap(edge_weights)
ANY_FLOATS = st.lists(st.floats(0, 1e300, allow_nan=False, allow_infinity=False), max_size=8).map(
    np.array
)


def unit_of(weights, found):
    """The unit, from any weight that is exact on the grid."""
    total = float(weights.sum())
    bits = LENGTH_BITS - (weights.size.bit_length() if found.has_zeros else 0)
    return Fraction(2) ** (int(np.frexp(total)[1]) - bits)


def test_small_integers_by_hand():
    found = whole_lengths(np.array([1.0, 2.0, 5.0]))
    unit = found.lengths[0]
    assert found.lengths.tolist() == [unit, 2 * unit, 5 * unit]
    assert found.keys is found.lengths and not found.has_zeros


def test_where_a_weight_is_zero_keys_count_edges_too():
    found = whole_lengths(np.array([0.0, 1.0, 1.0]))
    assert found.has_zeros and found.lengths[0] == 0
    assert (found.keys > 0).all()
    assert found.keys[0] + found.keys[1] > found.keys[2] > found.keys[0]


@given(SOME_WEIGHTS)
def test_weights_that_are_not_small_beside_the_sum_are_exact(weights):
    found = whole_lengths(weights)
    unit = unit_of(weights, found)
    for weight, length in zip(weights.tolist(), found.lengths.tolist(), strict=True):
        error = abs(Fraction(weight) - length * unit)
        assert error <= unit / 2
        if not found.has_zeros and weight >= weights.sum() / 128:
            assert error == 0


@given(st.lists(st.integers(0, 2**40), max_size=10))
def test_integers_are_exact(integers):
    weights = np.array(integers, dtype=np.float64)
    found = whole_lengths(weights)
    unit = unit_of(weights, found)
    assert [length * unit for length in found.lengths.tolist()] == integers


@given(ANY_FLOATS)
def test_the_order_of_the_weights_is_kept(weights):
    found = whole_lengths(weights)
    order = np.argsort(weights)
    assert (np.diff(found.lengths[order]) >= 0).all()
    assert (np.diff(found.keys[order]) >= 0).all()
    assert (found.lengths >= 0).all() and (found.keys > 0).all()
    assert found.has_zeros == bool((found.lengths == 0).any())
    assert found.lengths.dtype == found.keys.dtype == np.int64


@given(ANY_FLOATS)
def test_no_sum_along_two_paths_and_an_edge_overflows(weights):
    found = whole_lengths(weights)
    everything = sum(found.keys.tolist())
    assert 3 * everything < 2**63
    # Each sum of keys holds the length above and the number of edges below.
    if found.has_zeros:
        shift = weights.size.bit_length()
        assert everything >> shift == sum(found.lengths.tolist())
        assert everything % 2**shift == weights.size


@given(st.integers(1, 10).flatmap(edge_weights), st.integers(-200, 200))
def test_powers_of_two_change_the_unit_only(weights, power):
    one, other = whole_lengths(weights), whole_lengths(np.ldexp(weights, power))
    np.testing.assert_array_equal(one.lengths, other.lengths)


@given(st.integers(0, 10).flatmap(lambda size: edge_weights(size, "decimals")))
def test_a_tolerance_is_the_unit(weights):
    found = whole_lengths(weights, weight_tol=0.1)
    assert found.lengths.tolist() == [round(10 * w) for w in weights]


def test_a_tolerance_makes_sums_equal_that_floats_tell_apart():
    weights = np.array([0.1, 0.2, 0.3])
    exact, meant = whole_lengths(weights), whole_lengths(weights, weight_tol=1e-9)
    assert exact.lengths[0] + exact.lengths[1] != exact.lengths[2]
    assert meant.lengths[0] + meant.lengths[1] == meant.lengths[2]


@pytest.mark.parametrize("weights", [[], [0.0], [0.0, 0.0], [5e-324, 5e-324], [1e307, 1.0]])
def test_extreme_weights_are_taken(weights):
    found = whole_lengths(np.array(weights, dtype=np.float64))
    assert found.lengths.shape == (len(weights),)
    assert (found.keys > 0).all()


@pytest.mark.parametrize("tolerance", [None, 1e300])
def test_weights_whose_sum_is_no_float_are_refused(tolerance):
    with refused(GraphError, "sum of the `weights` must be a finite", "weight_value"):
        whole_lengths(np.full(4, 1.5e308), tolerance)


@pytest.mark.parametrize("tolerance", [0.0, -1.0, 1e-300, float("nan")])
def test_tolerances_that_cannot_be_a_unit_are_refused(tolerance):
    with refused(GraphError, "try: 3e-09", "weight_tol"):
        whole_lengths(np.array([1.0, 2.0]), tolerance)
