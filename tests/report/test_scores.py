"""A record counts only if it answers the question of the file; nothing is guessed."""

import random
from dataclasses import replace
from statistics import fmean, stdev

import pytest
from made_records import experiment, failed, record_of, records

from cyclenet.experiments.record import Copies
from cyclenet.experiments.spec import Reported
from cyclenet.report.scores import Score, results_of, results_without_file

RUNS = list(experiment().runs())


def first(results):
    return results.scores[0]


def test_mean_and_deviation_are_those_of_the_values():
    score = first(results_of(experiment(), records()))
    assert score.mean == pytest.approx(fmean([0.5, 0.6, 0.7]))
    assert score.std == pytest.approx(stdev([0.5, 0.6, 0.7]))
    assert score.difference == pytest.approx(score.mean - 0.5)


def test_the_order_of_records_does_not_matter():
    shuffled = records()
    random.Random(0).shuffle(shuffled)
    assert results_of(experiment(), shuffled) == results_of(experiment(), records())


def test_without_records_every_number_is_missing():
    for score in results_of(experiment(), []).scores:
        assert score.mean is score.std is score.difference is score.parameters is None
        assert score.seconds_per_epoch is score.seconds_per_run is score.copies is None


def test_rows_of_the_two_protocols_stay_apart():
    made = [record_of(run, 1.0 if run.row.protocol == "paper" else 0.5) for run in RUNS]
    means = {s.protocol: s.mean for s in results_of(experiment(), made).scores if s.label == "GIN"}
    assert means == {"honest": 0.5, "paper": 1.0}


def test_a_record_of_other_settings_is_left_out_and_counted():
    made = records()
    made[0] = replace(made[0], fingerprint="0123456789abcdef")
    results = results_of(experiment(), made)
    assert results.left_out == 1
    assert len(first(results).records) == 2
    assert first(results).wanted == 3


def test_a_record_of_a_row_that_is_gone_is_left_out_and_counted():
    shorter = experiment(rows=experiment().rows[1:])
    assert results_of(shorter, records()).left_out == 6


def test_a_shortened_run_stands_in_only_where_there_is_no_full_one():
    short = experiment(shortened=("--limit 9",), limit=9)
    made = [record_of(run, 0.1) for run in short.runs()]
    alone = first(results_of(experiment(), made))
    assert alone.shortened == ("--limit 9",)
    assert alone.mean == pytest.approx(0.1)
    full = first(results_of(experiment(), [*made, record_of(RUNS[1], 0.9)]))
    assert full.shortened == ()
    assert full.mean == 0.9


def test_fewer_seeds_shorten_no_run():
    fewer = experiment(seeds=(0,), shortened=("--set seeds=[0]",))
    made = [record_of(run) for run in fewer.runs()]
    assert first(results_of(experiment(), made)).shortened == ()


def test_one_void_seed_makes_the_score_void():
    made = [record_of(run, None if run.seed == 1 else 1.0) for run in RUNS]
    score = first(results_of(experiment(), made))
    assert score.is_void
    assert score.mean is score.std is score.difference is None


def test_a_failed_run_is_no_void_run():
    made = [failed(run) if run.seed == 1 else record_of(run, 1.0) for run in RUNS]
    score = first(results_of(experiment(), made))
    assert (score.is_void, score.mean, len(score.failed)) == (False, 1.0, 1)


def test_copy_tests_of_seeds_are_added():
    made = [record_of(run, copies=Copies(40, run.seed)) for run in RUNS]
    assert first(results_of(experiment(), made)).copies == Copies(120, 3)


@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize(("value", "better"), [(0.7, True), (0.3, False), (0.5 + 1e-9, None)])
def test_better_follows_the_direction_of_the_metric(higher, value, better):
    record = record_of(RUNS[0], value, higher_is_better=higher)
    score = Score("GIN", "honest", "3-cfi", 1, (record,), Reported(0.5))
    assert score.is_better == (better if higher or better is None else not better)


def test_a_printed_number_without_runs_keeps_its_line():
    row = replace(experiment().rows[0], tasks=("sr16622",))
    score = first(results_of(experiment(rows=(row,)), []))
    assert (score.task, score.wanted, score.reported) == ("3-cfi", 0, Reported(0.5, None, 0.29))


def test_records_without_their_file_all_count():
    made = [*records(), replace(records()[0], seed=9, fingerprint="other")]
    results = results_without_file("expressiveness", made)
    assert len(results.records) == len(made)
    assert results.untrained == {"sr16622"}
    assert list(results.tasks) == ["3-cfi", "sr16622"]
