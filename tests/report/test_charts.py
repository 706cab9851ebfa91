"""Charts: well-formed, told in words too, and right where one can read a number off them."""

import math
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclenet.report.charts import (
    WIDTH,
    Line,
    _epochs,
    _ticks,
    bar_chart,
    heat_map,
    line_chart,
    share_chart,
)

SVG = "{http://www.w3.org/2000/svg}"
AWKWARD = "a < b & \"c\" 'd' </svg>"
numbers = st.floats(-1e6, 1e6) | st.sampled_from([math.nan, math.inf, -math.inf, 0.0])


def parsed(svg):
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root[0].tag == f"{SVG}title"
    assert root[1].tag == f"{SVG}desc"
    assert root[1].text
    return root


def texts(root):
    return [element.text for element in root.iter(f"{SVG}text")]


def charts(words):
    return [
        line_chart(words, [Line(words, [1.0, 2.0])], down=words, across=words),
        bar_chart(words, {words: 1.0}, down=words, across=words),
        share_chart(words, {words: 1.0}, unit=lambda _: words),
        heat_map(words, np.eye(2), about=words),
    ]


@pytest.mark.parametrize("number", range(4))
def test_every_word_is_escaped_and_nothing_depends_on_the_call(number):
    chart = charts(AWKWARD)[number]
    root = parsed(chart)
    assert root[0].text == AWKWARD
    assert chart == charts(AWKWARD)[number]


@given(st.lists(st.lists(numbers, max_size=6), max_size=4))
def test_any_numbers_make_a_line_chart(lists):
    lines = [Line(f"line {i}", values, values, values) for i, values in enumerate(lists)]
    svg = line_chart("t", lines, down="loss")
    parsed(svg)
    assert "nan" not in " ".join(re.findall(r' d="([^"]*)"', svg))


@given(st.dictionaries(st.text(max_size=5), st.floats(0, 1e6), max_size=30))
def test_any_counts_make_bars_and_shares(bars):
    for svg in (
        bar_chart("t", bars, down="d", across="a"),
        share_chart("t", bars, unit=lambda value: f"{value:.1f} s"),
    ):
        parsed(svg.translate({i: None for i in range(32)} | {127: None, 0xFFFE: None}))


def test_a_curve_stops_where_a_number_is_not_finite():
    svg = line_chart("t", [Line("a", [1.0, 2.0, math.nan, 2.0, 1.0])], down="loss")
    (path, _) = re.findall(r'class="curve s0" d="([^"]*)"', svg)
    assert path.count("M") == 2
    assert path.count("L") == 2


def test_higher_numbers_stand_higher_on_both_kinds_of_axis():
    for values in ([1.0, 2.0, 3.0], [0.001, 0.1, 10.0]):
        svg = line_chart("t", [Line("a", values)], down="loss")
        path = re.findall(r'class="curve s0" d="([^"]*)"', svg)[0]
        heights = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", path)]
        assert heights == sorted(heights, reverse=True)
        assert ("log scale" in svg) == (values[-1] == 10.0)


def test_bars_are_as_high_as_their_numbers():
    svg = bar_chart("t", {"3": 10.0, "4": 5.0, "5": 0.0}, down="cycles", across="length")
    heights = [float(h) for h in re.findall(r'<rect class="fill s0"[^>]* height="([\d.]+)"', svg)]
    assert heights[0] == pytest.approx(2 * heights[1], abs=0.11)
    assert heights[2] == 0.0
    assert "3: 10, 4: 5, 5: 0" in svg


def test_shares_say_how_much_of_the_whole_they_are():
    root = parsed(share_chart("t", {"a": 3.0, "b": 1.0}, unit=lambda v: f"{v:g} s"))
    assert texts(root) == ["t", "a", "3 s, 75%", "b", "1 s, 25%"]


def test_a_little_is_not_nothing():
    root = parsed(share_chart("t", {"a": 1000.0, "b": 1.0, "c": 0.0}, unit=lambda _: "x"))
    assert texts(root)[2::2] == ["x, 100%", "x, <1%", "x, 0%"]


def test_a_matrix_is_one_picture_with_a_scale():
    values = np.array([[1.0, -0.25], [0.0, 0.5]])
    root = parsed(heat_map("P", values, about="what it shows"))
    (image,) = root.iter(f"{SVG}image")
    assert image.get("href").startswith("data:image/png;base64,")
    minus = "\N{MINUS SIGN}"
    assert texts(root) == ["P", f"{minus}1", f"{minus}0.25", "0", "0.25", "1"]
    assert root[1].text == "what it shows"


def test_a_matrix_without_entries_or_without_size_can_be_drawn():
    parsed(heat_map("P", np.zeros((3, 3)), about="nothing"))


@given(st.integers(0, 5000))
def test_long_curves_are_thinned_and_keep_both_ends(count):
    epochs = _epochs(count)
    assert epochs == sorted(set(epochs))
    assert len(epochs) == min(count, 120)
    if count:
        assert (epochs[0], epochs[-1]) == (1, count)


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_ticks_are_few_and_inside(low, span):
    ticks = _ticks(low, low + span)
    assert len(ticks) <= 7
    assert all(low - 1e-6 * span <= tick <= low + span * (1 + 1e-6) for tick in ticks)


def test_every_chart_is_as_wide_as_a_phone():
    for svg in charts("words"):
        assert parsed(svg).get("viewBox").split()[2] == str(WIDTH)
