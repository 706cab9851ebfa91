"""What a table shows: dashes for what is missing, marks for what is not the experiment."""

from dataclasses import replace

from made_records import claims, experiment, failed, record_of, records

from cyclenet.experiments.record import Copies
from cyclenet.experiments.spec import Reported
from cyclenet.report.findings import Finding, findings_of
from cyclenet.report.scores import results_of
from cyclenet.report.tables import (
    failed_sheet,
    findings_sheet,
    headline_sheet,
    plain,
    task_sheet,
)

RUNS = list(experiment().runs())


def shown(made, task="3-cfi"):
    """The cells of the first row, by the heading of their column."""
    sheet = task_sheet(results_of(experiment(), made), task)
    return dict(zip((c.title for c in sheet.columns), (c.text for c in sheet.rows[0]), strict=True))


def test_a_full_row_says_everything_the_reporting_rule_asks_for():
    assert shown(records()) == {
        "method": "GIN",
        "protocol": "honest",
        "ours": "0.600 ± 0.100",
        "seeds": "3",
        "printed": "0.50",
        "difference": "+0.100",
        "encoder input": "-",
        "copies separated": "0 of 120",
        "parameters": "1,234",
        "per epoch": "0.5 s",
        "printed per epoch": "0.29 s",
        "device": "cpu",
    }


def test_printed_parameters_stand_beside_ours():
    score = results_of(experiment(), records())
    first = replace(score.scores[0], reported=Reported(0.5, parameters=1200))
    sheet = task_sheet(replace(score, scores=(first, *score.scores[1:])), "3-cfi")
    titles = [column.title for column in sheet.columns]
    place = titles.index("printed parameters")
    assert titles[place - 1] == "parameters" and sheet.rows[0][place].text == "1,200"
    assert {row[place].text for row in sheet.rows[1:]} <= {"-"}


def test_a_missing_run_is_a_dash():
    cells = shown([])
    assert cells["seeds"] == "0 of 3"
    assert {cells[name] for name in ("ours", "difference", "parameters", "per epoch")} == {"-"}
    assert cells["printed"] == "0.50"


def test_fewer_seeds_are_counted():
    assert shown(records()[:2])["seeds"] == "2 of 3"


def test_failed_runs_are_counted_and_named():
    made = [failed(RUNS[0]), *records()[1:]]
    assert shown(made)["seeds"] == "2 of 3, 1 failed"
    results = results_of(experiment(), made)
    notes = task_sheet(results, "3-cfi").notes
    assert "Failed: GIN, seed 0: the loss became NaN at step 7, batch 3" in notes
    sheet = failed_sheet(results.records)
    assert sheet is not None
    assert [cell.text for cell in sheet.rows[0]][:4] == ["expressiveness", "GIN", "3-cfi", "0"]


def test_no_failed_run_is_no_table():
    assert failed_sheet(records()) is None


def test_shortened_runs_are_marked_and_explained():
    short = experiment(shortened=("--set epochs=2", "--limit 9"), limit=9)
    made = [record_of(run) for run in short.runs()]
    assert shown(made)["ours"] == "0.500 ± 0.000 \N{DAGGER}"
    sheet = headline_sheet(results_of(experiment(), made))
    assert sheet.rows[0][1].text == "0.500\N{DAGGER} / 0.50"
    assert any("--set epochs=2, --limit 9" in note for note in sheet.notes)


def test_a_void_separation_is_not_a_number():
    made = [record_of(run, None, copies=Copies(40, 40)) for run in RUNS]
    cells = shown(made, "sr16622")
    assert cells["ours"] == "n/a"
    assert cells["difference"] == "-"
    assert cells["copies separated"] == "120 of 120"
    assert "per run" in cells
    assert "per epoch" not in cells


def test_copies_that_were_not_tested_are_not_zero():
    made = [record_of(run, copies=None) for run in RUNS]
    assert shown(made)["copies separated"] == "n/a"


def test_frozen_parameters_are_told_apart():
    made = [record_of(run, parameters=10, parameters_total=12) for run in RUNS]
    assert shown(made)["parameters"] == "10 of 12"


def test_the_heading_says_which_way_is_better():
    made = [record_of(run, metric="MAE", higher_is_better=False) for run in RUNS]
    assert (
        task_sheet(results_of(experiment(), made), "3-cfi").title == "3-CFI (MAE, lower is better)"
    )
    assert task_sheet(results_of(experiment(), []), "3-cfi").title == "3-CFI"


def test_the_headline_has_a_line_for_each_row_and_tells_protocols_apart():
    sheet = headline_sheet(results_of(experiment(), records()))
    assert [[cell.text for cell in row] for row in sheet.rows] == [
        ["GIN", "0.600 / 0.50", "0.600 / -"],
        ["GIN + CycleNet", "0.600 / 1.00", "0.600 / 1.00"],
        ["GIN (paper protocol)", "0.600 / 0.50", "-"],
    ]


def test_programs_get_the_same_keys_in_every_row():
    made = [replace(records()[0], value=None, status="failed", failure="x"), *records()[4:]]
    rows = plain(results_of(experiment(), made))
    assert len({tuple(row) for row in rows}) == 1
    assert (rows[0]["mean"], rows[0]["failures"]) == (None, "seed 0: x")


def test_a_claim_that_was_not_checked_is_a_dash():
    findings = findings_of(
        claims(), [Finding("contracted_is_blind", "", "no", "It fails.", "3 < 4")]
    )
    texts = [[cell.text for cell in row] for row in findings_sheet(findings).rows]
    assert texts == [
        ["Theorem 1: it holds.", "-", "-", "-"],
        ["Theorem 2: so does this.", "no", "It fails.", "3 < 4"],
    ]
