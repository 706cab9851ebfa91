"""A run is done once however often it is asked for, and by one process at a time."""

import json
import math
import sys
from dataclasses import replace

import pytest
import safetensors.torch
from filelock import FileLock
from tiny_runs import KIND, baseline_run, run, separation_run, sets

from cyclenet.datasets.data_folder import DATA_HERE, DataFolder
from cyclenet.datasets.errors import DataFileError
from cyclenet.experiments.build import prepared
from cyclenet.experiments.record import RECORD_FILE
from cyclenet.experiments.tasks import TASKS, Splits, Stored
from cyclenet.runner import Busy, NoSuchDevice, execute, is_begun, known_record, set_aside
from cyclenet.runner.execute import CHECKPOINTS, LOCK, OLD_RECORD, WEIGHTS, splits_of

# The module: the package has a function of its name.
execute_module = sys.modules["cyclenet.runner.execute"]


class Interrupted(BaseException):
    """Somebody pressed Ctrl-C."""


def interrupted(one, results, *, after=2, **options):
    """A run that is stopped after some epochs; what it has done is kept."""

    def watch(told):
        if told.epoch == after:
            raise Interrupted

    with pytest.raises(Interrupted):
        execute(one, results, device="cpu", watch=watch, **options)


def epochs_of(one, results, **options):
    """The epochs that are trained now, and the record."""
    seen = []
    record = execute(one, results, device="cpu", watch=seen.append, **options)
    return [told.epoch for told in seen], record


def weights_of(one, results):
    return (results / one.folder / WEIGHTS).read_bytes()


def test_a_run_leaves_its_record_and_weights_and_no_checkpoint(tmp_path):
    one = run()
    record = execute(one, tmp_path, device="cpu", interval=0.0)
    assert record.status == "finished"
    assert record.fingerprint == one.fingerprint
    assert record.parameters == record.parameters_total > 0
    assert (record.device, record.threads) == ("cpu", 1)
    assert 0 < record.seconds_per_epoch < record.seconds
    assert len(record.curve.train_loss) == 4
    assert record.copies.separated == 0
    assert safetensors.torch.load(weights_of(one, tmp_path))
    left = {path.name for path in (tmp_path / one.folder).iterdir()}
    assert left == {RECORD_FILE, WEIGHTS, LOCK}


def test_a_run_that_is_done_is_not_done_again(tmp_path):
    one = run()
    assert known_record(one, tmp_path) is None
    record = execute(one, tmp_path, device="cpu")
    assert known_record(one, tmp_path) == record
    assert epochs_of(one, tmp_path) == ([], record)


def test_the_record_of_other_settings_answers_another_question(tmp_path):
    execute(run(), tmp_path, device="cpu")
    other = run(epochs=2)
    assert known_record(other, tmp_path) is None
    epochs, record = epochs_of(other, tmp_path)
    assert epochs == [1, 2]
    assert record.fingerprint == other.fingerprint


def test_the_same_run_in_another_folder_is_the_same_to_the_bit(tmp_path):
    first, second = (execute(run(), tmp_path / name, device="cpu") for name in "ab")
    assert first.curve == second.curve
    assert weights_of(run(), tmp_path / "a") == weights_of(run(), tmp_path / "b")
    other = execute(run(seed=1), tmp_path, device="cpu")
    assert other.curve != first.curve


def test_the_global_generator_is_left_as_it_was(tmp_path):
    import torch

    torch.manual_seed(5)
    before = torch.get_rng_state()
    execute(run(), tmp_path, device="cpu")
    assert torch.equal(torch.get_rng_state(), before)


def test_an_interrupted_run_is_continued(tmp_path):
    one = run()
    expected = execute(one, tmp_path / "whole", device="cpu")
    interrupted(one, tmp_path)
    assert is_begun(one, tmp_path)
    epochs, record = epochs_of(one, tmp_path)
    assert epochs == [3, 4]
    assert record.curve == expected.curve
    assert weights_of(one, tmp_path) == weights_of(one, tmp_path / "whole")
    assert not is_begun(one, tmp_path)


def test_what_a_killed_process_left_half_written_goes_away(tmp_path):
    one = run()
    folder = tmp_path / one.folder
    folder.mkdir(parents=True)
    for name in (".model.safetensors.123", ".abc.tmp"):
        (folder / name).write_bytes(b"half")
    execute(one, tmp_path, device="cpu")
    assert {path.name for path in folder.iterdir()} == {RECORD_FILE, WEIGHTS, LOCK}


def test_a_checkpoint_of_other_settings_starts_over(tmp_path):
    interrupted(run(), tmp_path)
    assert epochs_of(run(epochs=3), tmp_path)[0] == [1, 2, 3]


def test_damaged_checkpoints_are_an_error_until_a_fresh_start(tmp_path):
    one = run()
    interrupted(one, tmp_path)
    for path in (tmp_path / one.folder / CHECKPOINTS).glob("step-*/optim.safetensors"):
        path.write_bytes(b"")
    with pytest.raises(DataFileError, match="damaged"):
        execute(one, tmp_path, device="cpu")
    assert epochs_of(one, tmp_path, fresh=True)[0] == [1, 2, 3, 4]


def test_a_fresh_start_keeps_the_old_record_until_the_new_one_is_there(tmp_path):
    one = run()
    record = execute(one, tmp_path, device="cpu")
    folder = tmp_path / one.folder
    interrupted(one, tmp_path, fresh=True)
    assert not (folder / RECORD_FILE).exists()
    old = json.loads((folder / OLD_RECORD).read_text())
    assert old["fingerprint"] == record.fingerprint
    # Asked for a fresh start once more, it goes on with the one that was made.
    epochs, again = epochs_of(one, tmp_path, fresh=True)
    assert epochs == [3, 4]
    assert again.curve == record.curve
    assert not (folder / OLD_RECORD).exists()
    assert epochs_of(one, tmp_path, fresh=True)[0] == [1, 2, 3, 4]


def test_a_run_that_is_set_aside_is_done_anew_by_whoever_comes(tmp_path):
    one = run()
    execute(one, tmp_path, device="cpu")
    set_aside(one, tmp_path)
    assert known_record(one, tmp_path) is None
    assert epochs_of(one, tmp_path)[0] == [1, 2, 3, 4]
    assert epochs_of(one, tmp_path)[0] == []


def test_a_run_that_another_process_is_at_is_busy(tmp_path):
    one = run()
    (tmp_path / one.folder).mkdir(parents=True)
    with FileLock(tmp_path / one.folder / LOCK):
        for action in (
            lambda: execute(one, tmp_path, device="cpu"),
            lambda: set_aside(one, tmp_path),
        ):
            with pytest.raises(Busy, match="by another process"):
                action()
        execute(run(seed=1), tmp_path, device="cpu")
    assert execute(one, tmp_path, device="cpu").status == "finished"


def test_a_loss_that_is_no_number_fails_the_run_and_nothing_else(tmp_path):
    one = run(lr=1e30)
    record = execute(one, tmp_path, device="cpu")
    assert record.status == "failed"
    assert record.value is None
    assert "step" in record.failure and "epoch" in record.failure
    assert known_record(one, tmp_path) == record
    assert execute(run(seed=1), tmp_path, device="cpu").status == "finished"


def test_a_baseline_has_no_weights_and_no_epochs(tmp_path):
    record = execute(baseline_run(), tmp_path, device="cpu")
    assert (record.value, record.parameters, record.chosen_epoch) == (0.5, 0, None)
    assert record.copies.separated == 0
    assert not (tmp_path / baseline_run().folder / WEIGHTS).exists()


def test_a_separation_counts_pairs_and_copies(tmp_path):
    record = execute(separation_run(), tmp_path, device="cpu")
    assert record.metric == "separated"
    assert record.value == 0.0  # two graphs that message passing takes for one
    assert record.copies.pairs == 2 * 2
    assert record.details["pairs"] == 1


def test_the_limit_takes_training_graphs_and_leaves_the_test(tmp_path):
    short = execute(run(limit=6), tmp_path / "short", device="cpu")
    whole = execute(run(limit=0), tmp_path / "whole", device="cpu")
    assert short.inputs["limit"] == 6
    assert short.fingerprint != whole.fingerprint
    assert short.copies.pairs == whole.copies.pairs


def test_the_limit_draws_from_all_graphs():
    """Some sets are sorted by their labels, and others take turns."""
    walks = splits_of(replace(run("trajectories"), limit=40), TASKS["trajectories"], DATA_HERE)
    assert len(walks.train) == 40 and 10 < walks.train.labels.sum() < 30
    copies = splits_of(replace(run(), limit=20), TASKS["3-cfi"], DATA_HERE)
    assert len(copies.train) == 20 and 4 < sum(float(item.y) for item in copies.train) < 16


def test_what_was_shortened_stands_in_the_record(tmp_path):
    one = replace(run(), shortened=("--set epochs=4",))
    assert execute(one, tmp_path, device="cpu").shortened == ("--set epochs=4",)


def test_a_device_that_is_not_there_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(NoSuchDevice):
        execute(run(), tmp_path, device="cuda:99")
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_record_is_named_and_a_fresh_start_replaces_it(tmp_path):
    one = run()
    execute(one, tmp_path, device="cpu")
    path = tmp_path / one.folder / RECORD_FILE
    path.write_text("{")
    with pytest.raises(DataFileError, match=r"record\.json"):
        execute(one, tmp_path, device="cpu")
    assert execute(one, tmp_path, device="cpu", fresh=True).status == "finished"


def test_the_value_is_that_of_the_kept_weights(tmp_path):
    record = execute(run(epochs=6), tmp_path, device="cpu")
    assert math.isfinite(record.value)
    assert record.value == record.curve.test_metric[record.chosen_epoch - 1]


def test_what_came_from_files_is_prepared_once_for_all_seeds(tmp_path, monkeypatch):
    items, made = sets(), []

    def splits(protocol, data):
        return Splits(*items)

    def counted(row, graphs, **options):
        made.append(len(graphs))
        return prepared(row, graphs, **options)

    kind = replace(KIND, stored=Stored(lambda data: None, splits))
    monkeypatch.setitem(TASKS, "3-cfi", kind)
    monkeypatch.setattr(execute_module, "prepared", counted)
    sizes = [len(part) for part in items]
    execute(run(limit=0), tmp_path / "a", device="cpu")
    before = made.copy()
    assert before[: len(sizes)] == sizes
    record = execute(run(limit=0, seed=1), tmp_path / "a", device="cpu")
    assert made[len(before) :] == before[len(sizes) :]  # copies alone
    # Another folder of data, or fewer graphs, are other graphs.
    execute(run(limit=0), tmp_path / "b", device="cpu", data=DataFolder(tmp_path))
    execute(run(limit=6), tmp_path / "b", device="cpu", data=DataFolder(tmp_path))
    assert made.count(sizes[1]) == 3 and made.count(6) == 1
    # And they are what a process of its own would see.
    monkeypatch.setattr(execute_module._Kept, "splits", None)
    again = execute(run(limit=0, seed=1), tmp_path / "c", device="cpu")
    assert again.curve.train_loss == record.curve.train_loss and again.value == record.value
