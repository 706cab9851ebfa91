"""`cyclenet report`: one page of whatever a folder of records holds."""

import json
from dataclasses import replace

import pytest
from made_records import CLAIMS_TOML, TOML, experiment, failed, record_of
from pages import read_page
from windows import WINDOWS, look

from cyclenet.commands.report import write_report
from cyclenet.datasets.errors import DataFileError
from cyclenet.experiments.reading import read_experiment
from cyclenet.experiments.record import write_record


@pytest.fixture
def folder(tmp_path):
    """Experiment files, a record of every run but one, which failed, and claims."""
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "expressiveness.toml").write_text(TOML)
    (tmp_path / "experiments" / "theorems.toml").write_text(CLAIMS_TOML)
    for number, run in enumerate(experiment().runs()):
        record = failed(run, "the <loss> is nan") if number == 0 else record_of(run, 0.5)
        write_record(tmp_path / "results", record, run.folder)
    found = [{"check": "contracted_is_blind", "paper": "", "holds": "yes", "finding": "It does.",
              "witness": "1 < 2"}]  # fmt: skip
    (tmp_path / "results" / "theorems").mkdir()
    (tmp_path / "results" / "theorems" / "claims.json").write_text(json.dumps(found))
    return tmp_path


def report(folder, **options):
    return write_report(folder / "results", experiments=folder / "experiments", **options)


def page_of(folder):
    return read_page((folder / "results" / "report.html").read_text(encoding="utf-8"))


def test_the_page_has_every_section_there_is_something_for(folder):
    outcome = report(folder)
    page = page_of(folder)
    assert [section["id"] for section in page.of("section")] == [
        "results", "tables", "curves", "time", "failures", "environment", "repeat"
    ]  # fmt: skip
    assert outcome.result["failed"] == 1
    assert outcome.result["bytes"] == (folder / "results" / "report.html").stat().st_size < 2e6
    assert outcome.result["experiments"] == ["expressiveness", "theorems"]
    assert "the <loss> is nan" in page.texts("td")
    assert "1 < 2" in page.texts("td")


def test_the_same_records_give_the_same_bytes(folder):
    report(folder)
    first = (folder / "results" / "report.html").read_bytes()
    report(folder, out=folder / "other.html")
    assert (folder / "other.html").read_bytes() == first


def test_each_row_has_the_command_that_repeats_it(folder):
    report(folder)
    file = folder / "experiments" / "expressiveness.toml"
    lines = page_of(folder).texts("code")
    assert f"cyclenet run {file}" in lines
    assert f"cyclenet run {file} --row gin-cyclenet" in lines
    assert f"cyclenet run {file} --row gin-paper" in lines


def test_records_without_their_file_are_shown_without_printed_numbers(folder):
    (folder / "experiments" / "expressiveness.toml").unlink()
    report(folder)
    cells = page_of(folder).texts("td")
    assert any(cell.endswith("/ -") for cell in cells)
    assert not any(cell.endswith("/ 0.50") for cell in cells)


def test_records_of_other_settings_are_left_out_with_a_warning(folder):
    run = next(iter(experiment().runs()))
    stale = replace(record_of(run, 0.9), fingerprint="0" * 16)
    write_record(folder / "results", stale, run.folder)
    (warning,) = report(folder).warnings
    assert "1 of its records are left out" in warning


def test_files_that_share_their_records_have_a_table_each(folder):
    """And what only one of them has is not missing from it, nor made with other settings."""
    alone = report(folder).result
    more = TOML.replace('title = "', 'records = "expressiveness"\ntitle = "More: ', 1)
    more += '[[row]]\nlabel = "GCN"\nbackbone = { name = "gcn" }\ntasks = ["3-cfi"]\n'
    path = folder / "experiments" / "ablation.toml"
    path.write_text(more)
    for run in read_experiment(path).runs():
        if run.row.label == "GCN":
            write_record(folder / "results", record_of(run, 0.75), run.folder)
    found = report(folder)
    assert not found.warnings
    assert found.result["experiments"] == ["expressiveness", "ablation", "theorems"]
    assert found.result["runs"] == alone["runs"] + 3
    page_of(folder)
    text = (folder / "results" / "report.html").read_text(encoding="utf-8")
    assert "More: " in text and "GCN" in text


def test_missing_runs_are_dashes(folder):
    (folder / "results" / "expressiveness").rename(folder / "elsewhere")
    run = next(iter(experiment().runs()))
    write_record(folder / "results", record_of(run, 0.5), run.folder)
    report(folder)
    assert "- / 1.00" in page_of(folder).texts("td")


@pytest.mark.parametrize("name", ["empty", "missing"])
def test_a_folder_without_records_is_refused_with_something_to_try(name, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataFileError) as caught:
        write_report(tmp_path / name)
    assert caught.value.hint.startswith("cyclenet run")


@pytest.mark.browser
@pytest.mark.parametrize("window", WINDOWS)
def test_a_browser_shows_the_page(window, folder, browser):
    report(folder)
    look(browser, folder / "results" / "report.html", window)
