"""`cyclenet table`: from files and records to one document, without torch and without guesses."""

import csv
import json
import subprocess
import sys
from dataclasses import replace

import pytest
from made_records import CLAIMS_TOML, TOML, claims, experiment, record_of

from cyclenet.commands.tables import tables_of
from cyclenet.datasets.errors import DataFileError, UnknownName
from cyclenet.experiments.reading import read_experiment
from cyclenet.experiments.record import write_record

HEAVY = ("torch", "torch_geometric", "numba", "scipy", "matplotlib", "networkx", "jinja2")


@pytest.fixture
def folder(tmp_path):
    """Two experiment files, and a record of every run of the first."""
    (tmp_path / "expressiveness.toml").write_text(TOML)
    (tmp_path / "theorems.toml").write_text(CLAIMS_TOML)
    for run in experiment().runs():
        write_record(tmp_path / "results", record_of(run, 0.5 + 0.1 * run.seed), run.folder)
    found = [{"check": "contracted_is_blind", "paper": "", "holds": "yes", "finding": "It does.",
              "witness": "1 < 2"}]  # fmt: skip
    (tmp_path / "results" / "theorems").mkdir()
    (tmp_path / "results" / "theorems" / "claims.json").write_text(json.dumps(found))
    return tmp_path


def document(folder, *names, **options):
    files = [folder / f"{name}.toml" for name in names or ("expressiveness",)]
    return tables_of(files, results=folder / "results", **options)


def test_the_made_experiments_are_what_their_files_say(folder):
    assert read_experiment(folder / "expressiveness.toml") == experiment()
    assert read_experiment(folder / "theorems.toml") == claims()


def test_a_file_becomes_a_headline_and_a_table_for_each_task(folder):
    outcome = document(folder)
    headings = [line for line in outcome.lines if line.startswith("#")]
    assert headings == [
        "## Table 1: Telling graphs apart",
        "### 3-CFI (accuracy, higher is better)",
        "### SR (separated, higher is better)",
    ]
    assert outcome.warnings == []
    assert outcome.exit_code == 0


def test_several_files_become_one_document(folder):
    lines = document(folder, "expressiveness", "theorems").lines
    assert lines[0] == "# Results"
    assert "## Claims" in lines
    assert any("Theorem 2: so does this." in line and "It does." in line for line in lines)


def test_the_headline_is_one_table(folder):
    lines = document(folder, headline=True).lines
    assert not any(line.startswith("###") for line in lines)
    assert sum("0.600 / 0.50" in line for line in lines) == 2


def test_no_records_are_dashes_and_no_error(tmp_path):
    (tmp_path / "expressiveness.toml").write_text(TOML)
    outcome = document(tmp_path)
    assert "0 of 3" in "\n".join(outcome.lines)
    assert all(row["mean"] is None for row in outcome.result["tables"][0]["rows"])


def test_records_of_other_settings_are_counted_in_a_warning(folder):
    run = next(experiment().runs())
    other = replace(record_of(run), fingerprint="0" * 16)
    write_record(folder / "results", other, run.folder)
    (warning,) = document(folder).warnings
    assert "1 record left out" in warning
    assert str(folder / "expressiveness.toml") in warning


def test_csv_has_a_line_for_each_row_and_task(folder):
    rows = list(csv.DictReader(document(folder, form="csv").lines))
    assert [(row["task"], row["method"], row["protocol"]) for row in rows] == [
        ("3-cfi", "GIN", "honest"),
        ("sr16622", "GIN", "honest"),
        ("3-cfi", "GIN + CycleNet", "honest"),
        ("sr16622", "GIN + CycleNet", "honest"),
        ("3-cfi", "GIN", "paper"),
    ]
    assert float(rows[0]["mean"]) == pytest.approx(0.6)


def test_json_is_what_programs_get_from_the_envelope_too(folder):
    outcome = document(folder, "expressiveness", "theorems", form="json")
    assert json.loads("\n".join(outcome.lines)) == outcome.result["tables"]


def test_latex_has_a_table_for_each_sheet(folder):
    lines = document(folder, "expressiveness", "theorems", form="tex").lines
    assert lines.count(r"\begin{table}") == lines.count(r"\end{table}") == 4


def test_an_unknown_format_offers_the_nearest(folder):
    with pytest.raises(UnknownName, match="did you mean 'json'"):
        document(folder, form="jsn")


def test_a_damaged_record_is_named(folder):
    path = next((folder / "results").rglob("record.json"))
    path.write_text("{")
    with pytest.raises(DataFileError, match=r"record\.json"):
        document(folder)


def test_a_table_needs_no_torch():
    code = (
        "import sys, cyclenet.commands.tables\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
