"""Rows of the benchmark: every bar has one, and none can lie. Nothing here asserts a time."""

import subprocess
import sys

import pytest

from cyclenet.bench import measures, rows
from cyclenet.bench.bars import BARS
from cyclenet.bench.clock import Patience
from cyclenet.bench.rows import ROWS, Row, measured_rows
from cyclenet.datasets import UnknownName

KEYS = [
    "id", "family", "ours_us", "peer", "peer_us", "ratio", "bar", "sense", "ok", "agree", "reason"
]  # fmt: skip


@pytest.fixture
def only(monkeypatch):
    """Measures one row, with as little patience as there is."""

    def measure(row):
        monkeypatch.setattr(rows, "ROWS", (row,))
        monkeypatch.setattr(rows, "Patience", lambda **_: Patience(seconds=0.0001, repeats=1))
        (found,) = measured_rows(quick=True)
        assert list(found) == KEYS
        return found

    return measure


def row_of(number, family):
    return next(row for row in ROWS if (row.id, row.family) == (number, family))


def test_every_bar_has_a_row_and_every_row_a_bar():
    assert {row.id for row in ROWS} == set(BARS)
    assert len({(row.id, row.family, row.peer) for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize(
    ("number", "family"),
    [
        (1, "molecules"),
        (4, "molecules"),
        (5, "cfi:4"),
        (6, "cfi:3"),
        (7, "delaunay 75"),
        (10, "complete 20"),
        (15, "molecules"),
    ],
)
def test_both_sides_of_a_row_agree(number, family, only):
    pytest.importorskip("igraph")
    found = only(row_of(number, family))
    assert found["agree"], found["reason"]
    assert found["ratio"] > 0


def test_relevant_counts_agree_with_rdkit(only):
    pytest.importorskip("rdkit")
    assert only(row_of(3, "molecules"))["agree"]


def test_projectors_agree_with_eigenvectors(only):
    assert only(row_of(11, "molecules"))["agree"]


@pytest.mark.parametrize(
    "name", ["AddShortestCycleBasis", "AddRelevantCycles", "AddCycleProjector"]
)
def test_every_transform_can_be_measured(name, only):
    found = only(row_of(19, name))
    assert found["agree"], found["reason"]


def test_a_missing_peer_skips_its_row_with_a_reason(only, monkeypatch):
    monkeypatch.setitem(sys.modules, "igraph", None)
    found = only(row_of(1, "molecules"))
    assert found["ok"] is None
    assert "pip install 'cyclenet[bench]'" in found["reason"]


def test_a_wrong_answer_is_not_ok_however_fast(only, monkeypatch):
    pytest.importorskip("igraph")
    monkeypatch.setattr(measures, "igraph_bases", lambda pairs: [[3]] * len(pairs))
    found = only(row_of(6, "cfi:3")._replace(bar=0))
    assert found["ok"] is False
    assert found["reason"] == "the answers differ"


def test_a_row_that_fails_does_not_end_the_others(only):
    def fail(family, patience):
        raise RuntimeError("broken")

    found = only(Row(1, "molecules", "igraph", 1, "at least", fail))
    assert found["ok"] is False
    assert found["reason"] == "failed: RuntimeError: broken"


@pytest.mark.parametrize(("sense", "ok"), [("at least", True), ("at most", False)])
def test_a_bar_is_reached_from_its_own_side(only, sense, ok):
    measured = measures.Measured(1.0, 2.0, 2.0, True)
    row = Row(1, "molecules", "igraph", 1.5, sense, lambda family, patience: measured)
    assert only(row)["ok"] is ok


def test_slow_rows_are_left_out_by_quick(only):
    found = only(row_of(9, "grid 100x100"))
    assert (found["ok"], found["reason"]) == (None, "left out by --quick")


def test_an_unknown_bar_is_refused():
    with pytest.raises(UnknownName):
        list(measured_rows(quick=True, ids=["18"]))


@pytest.mark.parametrize("family", ["n_circles", "3-cfi"])
@pytest.mark.parametrize("number", [20, 21, 22])
def test_training_steps_can_be_measured(number, family, only):
    found = only(row_of(number, family))
    assert found["agree"], found["reason"]
    assert found["ratio"] > 0


def test_rows_start_without_torch():
    code = (
        "import sys; from cyclenet.bench.rows import measured_rows;"
        "row, = measured_rows(quick=True, ids=['11']);"
        "assert row['agree']; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_the_first_call_is_measured_in_a_new_process():
    found = measures.first_cached_call("basis", Patience())
    assert found.agree
    assert found.ratio > 0
