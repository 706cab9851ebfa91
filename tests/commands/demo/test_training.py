"""The training of the demo: a part of the experiment of the paper, and marked as one."""

import shlex
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from cyclenet.cli import main
from cyclenet.commands.demo import training as module
from cyclenet.commands.demo.training import EPOCHS, EXPERIMENT, shortened, train
from cyclenet.commands.outcome import CommandError
from cyclenet.experiments.reading import read_experiment
from cyclenet.runner.execute import Busy, execute

ROOT = Path(__file__).parents[3]


class Silent:
    def at(self, done, about=""):
        """Nobody watches."""


def test_rows_and_printed_numbers_are_those_of_the_experiment_file():
    file = read_experiment(ROOT / "experiments" / "cycle_properties.toml")
    assert EXPERIMENT.paper == file.paper
    (task,) = EXPERIMENT.tasks
    (theirs,) = (one for one in file.tasks if one.name == task.name)
    assert replace(task, label="", paper=None) == replace(theirs, label="", paper=None)
    known = {row.name: row for row in file.rows}
    for row in EXPERIMENT.rows:
        other = known[row.name]
        assert (row.backbone, row.encoder, row.baseline) == (
            other.backbone, other.encoder, other.baseline
        )  # fmt: skip
        assert row.reported.get(task.name) == other.reported.get(task.name)


def test_every_row_gets_the_same_budget():
    runs = list(shortened(3).runs())
    assert len({(run.settings.epochs, run.settings.lr) for run in runs}) == 1
    networks = [run.row.backbone for run in runs if run.row.backbone]
    assert len(networks) == 3
    assert len(set(map(str, networks))) == 1


def test_the_runs_say_that_they_are_shortened():
    (mark,) = shortened(3).shortened
    assert mark.startswith(f"3 of {EPOCHS} epochs")
    assert all(run.shortened == (mark,) for run in shortened(3).runs())


def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(tmp_path, monkeypatch, capsys):
    asked = []

    def stopped_at_a_network(run, results, **options):
        asked.append(run.row.name)
        if run.row.name == "gin":
            signal.raise_signal(signal.SIGINT)
        return execute(run, results, **options)

    monkeypatch.setattr(module, "execute", stopped_at_a_network)
    words = ["demo", "--out", str(tmp_path), "--seconds", "1"]
    assert main(words) == 130
    assert asked == ["constant", "lookup-by-edges", "gin"]
    shown = capsys.readouterr()
    assert shown.out == ""
    assert f"interrupted; continue with: cyclenet {shlex.join(words)}" in shown.err
    kept = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.json")]
    done = [f"demo/n_circles/{row}/0/record.json" for row in ("constant", "lookup-by-edges")]
    assert sorted(kept) == [*done, "encoded.json"]
    assert not (tmp_path / "report.html").exists()


def test_a_folder_that_another_process_works_in_is_named(tmp_path, monkeypatch):
    def busy(run, *_, **__):
        raise Busy(run)

    monkeypatch.setattr(module, "execute", busy)
    with pytest.raises(CommandError, match="another process"):
        train(1, tmp_path, Silent())
    assert main(["demo", "--out", str(tmp_path), "--seconds", "1"]) == 5
