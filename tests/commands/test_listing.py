"""The listed names exist."""

import pytest

from cyclenet import transforms
from cyclenet.commands.listing import COMMANDS, KINDS, TRANSFORMS, list_names
from cyclenet.datasets import UnknownName


@pytest.mark.parametrize("name", TRANSFORMS)
def test_every_listed_transform_can_be_made(name):
    assert repr(getattr(transforms, name)()).startswith(name)


def test_all_kinds_come_without_a_kind():
    outcome = list_names()
    assert list(outcome.result) == list(KINDS)
    assert {entry["name"] for entry in outcome.result["commands"]} == set(COMMANDS)


def test_an_empty_kind_says_what_comes():
    assert "none yet" in list_names("encoders").lines[1]


def test_an_unknown_kind_is_refused():
    with pytest.raises(UnknownName):
        list_names("things")
