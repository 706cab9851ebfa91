from fractions import Fraction

import numpy as np
import pytest
from bad_input import refused
from grid_weights import exact
from hypothesis import given
from hypothesis import strategies as st
from strategies import edge_weights

from cyclenet.topology import GraphError
from cyclenet.topology.lengths import whole_lengths

SOME_WEIGHTS = st.integers(0, 12).flatmap(edge_weights)
ANY_FLOATS = st.lists(st.floats(0, 1e300, allow_nan=False, allow_infinity=False), max_size=8).map(
    np.array
)


def test_small_integers_by_hand():
    found = whole_lengths(np.array([1.0, 2.0, 5.0]))
    unit = found.lengths[0]
    assert found.lengths.tolist() == [unit, 2 * unit, 5 * unit]
    assert found.keys.tolist() == found.lengths.tolist() and not found.has_zeros
    assert found.weights.tolist() == [1.0, 2.0, 5.0]


def test_where_a_weight_is_zero_keys_count_edges_too():
    found = whole_lengths(np.array([0.0, 1.0, 1.0]))
    assert found.has_zeros and found.lengths[0] == 0
    assert (found.keys > 0).all()
    assert found.keys[0] + found.keys[1] > found.keys[2] > found.keys[0]


@given(SOME_WEIGHTS)
def test_weights_that_are_not_small_beside_the_sum_are_exact(weights):
    found = whole_lengths(weights)
    for weight, rounded, power in zip(
        weights.tolist(), exact(found), found.exponents.tolist(), strict=True
    ):
        error = abs(Fraction(weight) - rounded)
        assert error <= Fraction(2) ** (power - 1)
        if not found.has_zeros and weight >= weights.sum() / 128:
            assert error == 0


@given(st.lists(st.integers(0, 2**40), max_size=10))
def test_integers_are_exact(integers):
    found = whole_lengths(np.array(integers, dtype=np.float64))
    assert exact(found) == integers
    assert found.weights.tolist() == integers


@given(st.lists(st.tuples(st.integers(-1, 3), st.floats(0, 1e300)), max_size=12))
def test_groups_do_not_see_each_other(drawn):
    group = np.array([g for g, _ in drawn], dtype=np.int64)
    weights = np.array([w for _, w in drawn], dtype=np.float64)
    found = whole_lengths(weights, group=group)
    for g in set(group.tolist()) - {-1}:
        alone = whole_lengths(weights[group == g])
        for name in ("lengths", "keys", "exponents"):
            assert getattr(alone, name).tolist() == getattr(found, name)[group == g].tolist()
    assert (found.lengths[group < 0] == 1).all() and (found.keys[group < 0] == 1).all()


@given(SOME_WEIGHTS, st.randoms(use_true_random=False))
def test_sums_are_those_of_the_grid_whatever_the_order(weights, random):
    found = whole_lengths(weights)
    sets = [random.sample(range(weights.size), random.randint(1, weights.size))
            for _ in range(4 if weights.size else 0)]  # fmt: skip
    sets += [random.sample(chosen, len(chosen)) for chosen in sets]
    pointers = np.cumsum([0, *map(len, sets)])
    sums = found.sums(np.array([e for chosen in sets for e in chosen], dtype=np.int64), pointers)
    true = exact(found)
    assert sums.tolist() == [float(sum(true[e] for e in chosen)) for chosen in sets]


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
    np.testing.assert_allclose(found.weights, weights, rtol=1e-15)


def test_a_tolerance_makes_sums_equal_that_floats_tell_apart():
    weights = np.array([0.1, 0.2, 0.3])
    plain, meant = whole_lengths(weights), whole_lengths(weights, weight_tol=1e-9)
    assert plain.lengths[0] + plain.lengths[1] != plain.lengths[2]
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
