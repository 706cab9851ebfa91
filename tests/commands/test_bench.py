"""The table of the benchmark; what it measures is tested in tests/bench."""

import pytest

from cyclenet.commands import bench
from cyclenet.commands.bench import run_bench
from cyclenet.datasets import UnknownName


def row(**changes):
    """A finished row."""
    return {
        "id": 1, "family": "molecules", "ours_us": 2.0, "peer": "igraph", "peer_us": 30.0,
        "ratio": 15.0, "bar": 10, "sense": "at least", "ok": True, "agree": True, "reason": None,
    } | changes  # fmt: skip


@pytest.fixture
def table_of(monkeypatch, caplog):
    def run(*rows, as_markdown=False):
        monkeypatch.setattr(bench, "_measured", lambda quick, ids: iter(rows))
        with caplog.at_level("INFO", logger="cyclenet"):
            outcome = run_bench(quick=True, ids=[], as_markdown=as_markdown)
        assert len(caplog.records) == len(rows)
        return outcome

    return run


def test_reached_missed_and_skipped_rows_are_counted(table_of):
    outcome = table_of(row(), row(ok=False), row(ok=None, agree=None, ratio=None))
    assert outcome.lines[-1] == "1 rows reach their bar, 1 do not, 1 skipped"
    assert outcome.exit_code == 0
    assert len(outcome.result["rows"]) == 3


def test_a_wrong_answer_is_status_3_however_fast(table_of):
    assert table_of(row(), row(ok=False, agree=False, reason="the answers differ")).exit_code == 3


def test_the_table_can_go_into_a_document(table_of):
    lines = table_of(row(), as_markdown=True).lines
    assert lines[2].startswith("| 1 | molecules | 2 | igraph | 30 | 15 | >= 10 | yes |")


def test_an_unknown_bar_is_refused_before_anything_is_measured():
    with pytest.raises(UnknownName, match="no bar called '18'"):
        run_bench(quick=True, ids=["18"], as_markdown=False)


@pytest.mark.slow
def test_rows_come_from_a_process_of_their_own():
    outcome = run_bench(quick=True, ids=["4"], as_markdown=False)
    (found,) = outcome.result["rows"]
    assert (found["id"], found["family"], found["agree"]) == (4, "molecules", True)
