"""Numbers keep the claim they make."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclenet.report.numbers import decimal, duration, printed, signed, spread, whole


@given(st.floats(0, 1))
def test_only_all_is_shown_as_one_and_only_nothing_as_zero(value):
    shown = float(decimal(value).replace("\N{MINUS SIGN}", "-"))
    if 1e-9 < value < 1 - 1e-6:
        assert 0 < shown < 1
    assert shown == pytest.approx(value, abs=0.0006)


@given(st.floats(-100, 100))
def test_a_difference_shows_its_sign(value):
    text = signed(value)
    assert text.startswith("+") == (value >= 1e-6)
    assert text.startswith("\N{MINUS SIGN}") == (value <= -1e-6)


def test_mean_and_deviation_have_equally_many_decimals():
    assert spread(0.99977, 0.0001) == "0.9998 ± 0.0001"
    assert spread(0.5, None) == "0.500"


def test_the_paper_is_quoted_with_its_digits():
    assert printed(1.0) == "1.00"
    assert printed(0.176, 0.01) == "0.176 ± 0.010"


@pytest.mark.parametrize("write", [decimal, printed, signed, whole, duration])
def test_a_missing_number_is_a_dash(write):
    assert write(None) == "-"


def test_long_times_are_said_in_hours():
    assert [duration(seconds) for seconds in (3599, 3600, 7190)] == [
        "3599 s",
        "1 h 0 min",
        "2 h 0 min",
    ]
