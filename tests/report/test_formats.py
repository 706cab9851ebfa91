"""Formats keep every cell in its place, whatever its text."""

import csv
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cyclenet.report.formats import (
    csv_text,
    json_text,
    latex_sheet,
    markdown_sheet,
    markdown_table,
)
from cyclenet.report.tables import Cell, Column, Sheet

NASTY = ["<script>alert(1)</script>", "|P|", "a_b*c*", "[x](javascript:1)", "a\n| b", "100 % & $5"]


def sheet(text):
    return Sheet(text, (Column(text), Column("n", True)), ((Cell(text), Cell("1")),), (text,))


@pytest.mark.parametrize("text", NASTY)
def test_a_markdown_cell_stays_one_cell_and_text(text):
    lines = markdown_sheet(sheet(text))
    for line in lines[:3]:
        assert len(re.findall(r"(?<!\\)\|", line)) == 3
    assert not re.search(r"<\w|</|\]\(", "\n".join(lines))


@given(st.lists(st.tuples(st.text(max_size=60), st.text(max_size=60)), max_size=4))
def test_a_markdown_table_has_one_line_a_row(rows):
    lines = markdown_table(rows, ("a", "b"))
    assert len(lines) == len(rows) + 2
    assert not any("\n" in line for line in lines)


def test_numbers_stand_to_the_right():
    assert markdown_table([("rook", "16")], ("graph", "n"), (False, True)) == [
        "| graph |  n |",
        "| ----- | -: |",
        "| rook  | 16 |",
    ]


@pytest.mark.parametrize("text", NASTY)
def test_a_latex_cell_stays_one_cell_and_text(text):
    lines = latex_sheet(sheet(text))
    row = lines[lines.index(r"\midrule") + 1]
    assert len(re.findall(r"(?<!\\)&", row)) == 1
    assert not re.search(r"(?<!\\)[#%_]", row)


def test_latex_writes_signs_that_fonts_lack_as_commands():
    lines = latex_sheet(sheet("0.1 ± 0.2 \N{MINUS SIGN}3 \N{DAGGER}"))
    assert r"0.1 $\pm$ 0.2 $-$3 \dag{} & 1 \\" in lines


@given(st.lists(st.fixed_dictionaries({"a": st.text(), "b": st.integers()}), min_size=1))
def test_csv_reads_back(rows):
    rows = [row for row in rows if not re.search(r"[\r\n\0]", row["a"])]
    read = list(csv.DictReader(csv_text(rows)))
    assert read == [{"a": row["a"], "b": str(row["b"])} for row in rows]


def test_missing_values_are_empty_in_csv_and_null_in_json():
    assert csv_text([{"a": None, "b": 1}]) == ["a,b", ",1"]
    assert json.loads("\n".join(json_text([{"a": None}]))) == [{"a": None}]


def test_no_rows_are_no_lines():
    assert csv_text([]) == []
