"""The listed names exist."""

import pytest
from made_records import TOML

from cyclenet import transforms
from cyclenet.commands.listing import (
    BACKBONES,
    COMMANDS,
    ENCODERS,
    KINDS,
    TRANSFORMS,
    list_names,
)
from cyclenet.datasets import UnknownName
from cyclenet.experiments.names import BACKBONE_NAMES, ENCODER_NAMES


@pytest.mark.parametrize("name", TRANSFORMS)
def test_every_listed_transform_can_be_made(name):
    assert repr(getattr(transforms, name)()).startswith(name)


def test_all_kinds_come_without_a_kind():
    outcome = list_names()
    assert list(outcome.result) == list(KINDS)
    assert {entry["name"] for entry in outcome.result["commands"]} == set(COMMANDS)


def test_encoders_and_backbones_are_those_of_experiments():
    assert tuple(ENCODERS) == ENCODER_NAMES
    assert tuple(BACKBONES) == BACKBONE_NAMES


def test_experiments_are_the_files_that_are_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "none: there is no TOML file" in list_names("experiments").lines[1]
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "tables.toml").write_text(TOML)
    (tmp_path / "experiments" / "broken.toml").write_text("title = 1")
    broken, whole = list_names("experiments").result["experiments"]
    assert whole == {"name": "experiments/tables.toml", "about": "Table 1: Telling graphs apart"}
    assert broken["about"].startswith("cannot be run: ")


def test_an_unknown_kind_is_refused():
    with pytest.raises(UnknownName):
        list_names("things")
