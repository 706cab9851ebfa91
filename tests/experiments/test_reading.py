"""An experiment file becomes an experiment, or an error that names the place."""

from pathlib import Path

import pytest

from cyclenet.experiments.reading import SpecError, read_experiment
from cyclenet.experiments.spec import Separation, Training

FILE = """
title = "Two tasks"
seeds = [0, 1]
[[task]]
name = "3-cfi"
label = "3-CFI"
honest = { epochs = 3, batch_size = 4 }
paper = { epochs = 5, batch_size = 4, lr_watches = "train_batch", select_on = "test" }
[[task]]
name = "sr16622"
label = "SR"
honest = { copies = 1 }
[[row]]
label = "GIN"
backbone = { name = "gin", num_layers = 2 }
reported = { 3-cfi = { mean = 0.5 } }
[[row]]
label = "GIN"
protocol = "paper"
backbone = { name = "gin" }
tasks = ["3-cfi"]
"""


def read(folder, text=FILE, **options):
    path = folder / "two.toml"
    path.write_text(text)
    return read_experiment(path, **options)


def settings(experiment):
    first = experiment.tasks[0]
    return first.honest, first.paper


def test_a_file_is_what_it_says(tmp_path):
    experiment = read(tmp_path)
    assert (experiment.name, experiment.title, experiment.seeds) == ("two", "Two tasks", (0, 1))
    assert settings(experiment)[0] == Training(3, 4)
    assert experiment.tasks[1].honest == Separation(copies=1)
    assert experiment.rows[0].reported["3-cfi"].mean == 0.5
    # Two honest columns and a published one, with two seeds each.
    assert len(list(experiment.runs())) == 6


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("seeds =", "sedes =", "did you mean 'seeds'"),
        ("seeds = [0, 1]", "seeds = [0, 0]", "seeds: must be different"),
        ("seeds = [0, 1]", "seeds = [-1]", "seeds: must be different"),
        ("epochs = 3", 'epochs = "3"', r"1 \('3-cfi'\)\.honest\.epochs: must be a whole"),
        ("epochs = 3", "epochs = 0", "must be at least 1"),
        ("epochs = 3", "epochs = 3, lr = nan", "lr: must be finite"),
        ("epochs = 3", "epochs = 3, weight_decay = inf", "weight_decay: must be finite"),
        ("epochs = 3", "epochs = 3, lr_factor = 1", "lr_factor: must be below 1"),
        ("epochs = 3", "epochs = 3, warmup = 2", "warmup: must be 0 but under the schedule"),
        ("epochs = 3", 'epochs = 3, schedule = "cosine", warmup = 3', "warmup: must be 0 but"),
        ("epochs = 3", "epochs = 3, average = 1", "average: must be at most 0.99999"),
        ("epochs = 3, ", "", "'epochs' is missing"),
        ('"3-cfi"\nlabel', '"5-cfi"\nlabel', "no task called '5-cfi'"),
        ('name = "gin", ', 'name = "gni", ', "did you mean 'gin'"),
        ('backbone = { name = "gin" }', "", "must have a backbone or a baseline"),
        ('protocol = "paper"\n', "", "same label and protocol: 'gin'"),
        ('tasks = ["3-cfi"]', 'tasks = ["sr16622"]', "must be 'honest'"),
        ("reported = { 3-cfi", "reported = { 4-cfi", "reported: there is no"),
        ('title = "Two tasks"', "", "'title' is missing"),
        ("[[task]]", "[task", "must be TOML"),
    ],
)
def test_what_cannot_be_taken_is_refused_with_its_place(tmp_path, old, new, said):
    assert old in FILE
    with pytest.raises(SpecError, match=said) as caught:
        read(tmp_path, FILE.replace(old, new, 1))
    assert str(tmp_path / "two.toml") in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize("key", ["lr_watches", "select_on"])
def test_no_honest_setting_looks_at_the_test_graphs(tmp_path, key):
    text = FILE.replace("epochs = 3", f'epochs = 3, {key} = "test"')
    with pytest.raises(SpecError, match=f"{key}: must be 'validation' under the protocol 'honest'"):
        read(tmp_path, text)
    with pytest.raises(SpecError, match="must be 'validation'"):
        read(tmp_path, changes=[f"honest.{key}=test"])


def test_what_is_not_watched_need_not_be_there(tmp_path):
    text = FILE.replace('lr_watches = "train_batch"', 'schedule = "constant"')
    assert settings(read(tmp_path, text))[1].lr_watches == "validation"


@pytest.mark.parametrize(
    ("change", "honest", "paper"),
    [
        ("epochs=2", 2, 2),
        ("3-cfi.epochs=2", 2, 2),
        ("paper.epochs=2", 3, 2),
        ("3-cfi.honest.epochs=2", 2, 5),
    ],
)
def test_a_change_reaches_what_it_names(tmp_path, change, honest, paper):
    experiment = read(tmp_path, changes=[change])
    assert [one.epochs for one in settings(experiment)] == [honest, paper]
    assert experiment.shortened == (f"--set {change}",)


OWN = FILE.replace('tasks = ["3-cfi"]', 'tasks = ["3-cfi"]\ntraining = { epochs = 9 }')


def test_a_row_may_have_settings_of_its_own(tmp_path):
    runs = list(read(tmp_path, OWN).runs())
    assert {run.settings.epochs for run in runs if run.row.protocol == "paper"} == {9}
    assert {run.settings.epochs for run in runs if run.folder.startswith("two/3-cfi/gin/")} == {3}
    assert {run.settings.batch_size for run in runs if run.row.training} == {4}


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ("epochs = 0", r"training\.epochs: must be at least 1"),
        ("epoch = 9", r"training: .*did you mean 'epochs'"),
        ("epochs = true", r"training\.epochs: must be a whole number"),
        ('select_on = "validation"', r"training\.select_on: must be 'test' or 'last'"),
    ],
)
def test_settings_of_a_row_are_checked_like_the_others(tmp_path, new, said):
    with pytest.raises(SpecError, match=said):
        read(tmp_path, OWN.replace("epochs = 9", new))


@pytest.mark.parametrize(
    ("change", "epochs"),
    [("epochs=2", 2), ("paper.epochs=2", 2), ("honest.epochs=2", 9), ("sr16622.copies=2", 9)],
)
def test_a_change_is_the_last_word_on_settings_of_a_row(tmp_path, change, epochs):
    runs = read(tmp_path, OWN, changes=[change]).runs()
    assert {run.settings.epochs for run in runs if run.row.protocol == "paper"} == {epochs}


def test_a_setting_of_a_row_for_several_tasks_is_not_changed_for_one(tmp_path):
    second = '[[task]]\nname = "4-cfi"\nlabel = "4"\nhonest = { epochs = 5, batch_size = 4 }\n'
    text = FILE.replace('[[task]]\nname = "sr16622"', second + '[[task]]\nname = "sr16622"')
    text = text.replace(
        "num_layers = 2 }",
        'num_layers = 2 }\ntasks = ["3-cfi", "4-cfi"]\ntraining = { epochs = 50 }',
    )
    with pytest.raises(SpecError, match="has a 'epochs' of its own for several tasks"):
        read(tmp_path, text, changes=["3-cfi.epochs=2"])
    runs = [run for run in read(tmp_path, text, changes=["epochs=2"]).runs()]
    assert {run.settings.epochs for run in runs} == {2}


def test_a_number_in_a_row_is_the_number_it_is_in_a_task(tmp_path):
    one = read(tmp_path, OWN.replace("epochs = 9", "lr = 1"))
    other = read(tmp_path, OWN.replace("epochs = 9", "lr = 1.0"))
    assert [run.fingerprint for run in one.runs()] == [run.fingerprint for run in other.runs()]


def test_files_may_share_their_records(tmp_path):
    here = read(tmp_path, FILE.replace("seeds =", 'records = "elsewhere"\nseeds ='))
    there = read(tmp_path)
    assert {run.folder.split("/")[0] for run in here.runs()} == {"elsewhere"}
    same = zip(here.runs(), there.runs(), strict=True)
    assert all(one.fingerprint == other.fingerprint for one, other in same)


def test_only_published_sets_with_validation_graphs_let_the_published_procedure_use_them(tmp_path):
    text = FILE.replace('"3-cfi"', '"zinc"').replace("3-cfi =", "zinc =")
    text = text.replace('lr_watches = "train_batch", select_on = "test"', 'select_on = "last"')
    assert settings(read(tmp_path, text))[1].lr_watches == "validation"
    with pytest.raises(SpecError, match="lr_watches: must be 'test' or 'train_batch'"):
        read(tmp_path, text.replace('"zinc"', '"3-cfi"').replace("zinc =", "3-cfi ="))


def test_seeds_can_be_changed_and_graphs_limited(tmp_path):
    experiment = read(tmp_path, changes=["seeds=[7]"], limit=3)
    assert experiment.seeds == (7,)
    assert experiment.shortened == ("--set seeds=[7]", "--limit 3")
    assert {run.limit for run in experiment.runs()} == {3}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("epochs", "must be key=value"),
        ("epoch=2", "did you mean 'epochs'"),
        ("epochs=x", "must be a whole number"),
        ("epochs=", "must have a value"),
        ("lr=inf", "must be finite"),
        ("4-cfi.epochs=2", "no task or protocol called '4-cfi'"),
        ("sr16622.epochs=2", "no settings there have 'epochs'"),
        ("seeds=[1, 1]", "must be different"),
    ],
)
def test_a_change_that_cannot_be_made_is_refused(tmp_path, change, said):
    with pytest.raises(SpecError, match=said) as caught:
        read(tmp_path, changes=[change])
    assert f"--set {change}" in str(caught.value)
    assert "--set epochs=2" in caught.value.hint


def test_a_file_that_is_not_there_offers_the_one_that_was_meant(tmp_path, monkeypatch):
    read(tmp_path)
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "smoke.toml").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    for asked, meant in {
        "tow.toml": "two.toml", "two": "two.toml", "smoke.toml": "experiments/smoke.toml",
        "experiments/smok.toml": "experiments/smoke.toml",
    }.items():  # fmt: skip
        with pytest.raises(SpecError, match=f"did you mean '{meant}'"):
            read_experiment(Path(asked))
    with pytest.raises(SpecError) as caught:
        read_experiment(Path("project.toml"))
    assert "pyproject" not in str(caught.value)
