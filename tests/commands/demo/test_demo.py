"""The demo from end to end, in little: it ends with a page, and goes on where it was."""

import json
import math
import os
import re
import time

import pytest
from filelock import FileLock
from pages import read_page
from windows import WINDOWS, look

from cyclenet.cli import main
from cyclenet.commands.demo import DEFAULT_SECONDS, run_demo, size_of
from cyclenet.commands.listing import COMMANDS
from cyclenet.experiments.record import find_records, write_record

MOST_BYTES = 2_000_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One folder for all processes of a test run."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "demo" / "new"


@pytest.fixture(scope="module")
def outcome(folder):
    """The first process does it; the others, after it, have nothing left to do."""
    with FileLock(f"{folder.parent}.lock"):
        return run_demo(folder, seconds=1)


@pytest.fixture(scope="module")
def page(outcome, folder):
    return read_page((folder / "report.html").read_text(encoding="utf-8"))


def test_it_ends_with_the_table_the_page_and_what_to_do_next(outcome, folder):
    *_, report, following = outcome.lines
    assert report.startswith(f"report: {folder / 'report.html'} (")
    assert following.split()[2] in COMMANDS
    assert any(line.startswith("method") and "shortened run" in line for line in outcome.lines)
    assert outcome.exit_code == 0


def test_the_command_it_suggests_works(outcome, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(outcome.result["next"].split()[1:]) == 0


def test_every_number_is_in_the_result_too(outcome):
    result = json.loads(json.dumps(outcome.result, allow_nan=False))
    assert result["encoded"]["graphs"] == size_of(1).graphs
    assert [row["method"] for row in result["trained"]] == [
        "constant", "lookup by edges", "GIN", "GIN + CycleNet", "GIN + CycleNet-PEOI"
    ]  # fmt: skip
    assert all(math.isfinite(row["mean"]) for row in result["trained"])
    assert all("epochs" in row["shortened"] for row in result["trained"])
    assert [row["copies_separated"] for row in result["trained"][:4]] == [0, 0, 0, 0]


def test_the_page_is_whole_and_small(outcome, page, folder):
    assert outcome.result["bytes"] == (folder / "report.html").stat().st_size < MOST_BYTES
    sections = [section["id"] for section in page.of("section")]
    assert sections == [
        "see", "results", "cycles", "projectors", "curves", "lengths", "time", "environment",
        "repeat",
    ]  # fmt: skip
    assert len(page.of("svg")) == 2 + 12 + 2 + 2 + 2 + 1


def test_the_page_says_that_the_runs_are_shortened(page):
    assert any("1 of 200 epochs" in text for text in page.texts("li"))
    assert {"0.273", "0.036", "0.062"} <= set(page.texts("td"))


def test_the_commands_on_the_page_are_commands(page, folder):
    lines = [line.split() for line in page.texts("code")]
    assert lines[0] == ["cyclenet", "demo", "--out", str(folder), "--seconds", "1"]
    assert all(line[0] == "cyclenet" and line[1] in COMMANDS for line in lines)


def test_the_same_command_again_trains_nothing_anew(outcome, folder):
    records = {path: path.stat().st_mtime_ns for path in folder.rglob("record.json")}
    assert len(records) == 5
    started = time.monotonic()
    again = run_demo(folder, seconds=1)
    assert time.monotonic() - started < 60
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("record.json")} == records
    assert again.result["trained"] == outcome.result["trained"]
    assert again.result["encoded"] == outcome.result["encoded"]


def test_failed_runs_are_shown_and_status_3(outcome, folder, tmp_path):
    for record in find_records(folder, "demo"):
        changes = {"status": "failed", "value": None, "failure": "the loss is <nan>"}
        if record.row == "gin":
            record = type(record)(**{name: getattr(record, name) for name in record.__slots__}
                                  | changes)  # fmt: skip
        write_record(tmp_path, record, f"demo/n_circles/{record.row}/0")
    (tmp_path / "encoded.json").write_text((folder / "encoded.json").read_text())
    again = run_demo(tmp_path, seconds=1)
    assert again.exit_code == 3
    assert "failed: GIN, seed 0: the loss is <nan>" in again.lines
    page = read_page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "the loss is <nan>" in page.texts("td")
    assert "failures" in [section["id"] for section in page.of("section")]


def test_more_seconds_do_more_up_to_the_whole_experiment():
    sizes = [size_of(seconds) for seconds in (1, 10, DEFAULT_SECONDS, 6000)]
    assert sizes == sorted(sizes)
    assert (sizes[0].epochs, sizes[-1].epochs) == (1, 200)


@pytest.mark.browser
@pytest.mark.parametrize("window", WINDOWS)
def test_a_browser_shows_the_page(window, outcome, folder, browser):
    look(browser, folder / "report.html", window)


def test_a_folder_that_cannot_be_made_is_status_5(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["demo", "--out", str(tmp_path / "file"), "--seconds", "1"]) == 5
    assert re.search(r"error: .*file", capsys.readouterr().err)
