"""Files of findings: read back whole, or refused by name."""

import json

import pytest
from made_records import claims

from cyclenet.datasets.errors import DataFileError
from cyclenet.report.findings import Finding, findings_of, read_findings

ENTRY = {"check": "one", "paper": "p", "holds": "yes", "finding": "f", "witness": "w"}


def test_findings_are_read(tmp_path):
    path = tmp_path / "claims.json"
    path.write_text(json.dumps([ENTRY]))
    assert read_findings(path) == [Finding("one", "p", "yes", "f", "w")]


def test_a_file_that_is_not_there_holds_none(tmp_path):
    assert read_findings(tmp_path / "claims.json") == []


@pytest.mark.parametrize(
    "text", ["", "{", "{}", "[1]", json.dumps([ENTRY | {"holds": None}]), json.dumps([{}]), "\xff"]
)
def test_a_damaged_file_is_named(tmp_path, text):
    path = tmp_path / "claims.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(DataFileError) as caught:
        read_findings(path)
    assert caught.value.path == str(path)


def test_the_order_and_the_words_are_those_of_the_experiment():
    found = [
        Finding("contracted_is_blind", "old words", "no"),
        Finding("gone", "x", "yes"),
        Finding("multisets_separate", ""),
    ]
    joined = findings_of(claims(), found).claims
    assert [(one.check, one.holds) for one in joined] == [
        ("multisets_separate", ""),
        ("contracted_is_blind", "no"),
    ]
    assert joined[1].paper == "Theorem 2: so does this."
