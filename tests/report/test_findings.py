"""Files of findings: read back whole, or refused by name."""

import json

import pytest
from made_records import claims

from cyclenet.datasets.errors import DataFileError
from cyclenet.report.findings import Finding, findings_of, read_findings, write_findings

ENTRY = {"check": "one", "paper": "p", "holds": "yes", "finding": "f", "witness": "w"}


def test_findings_are_read(tmp_path):
    path = tmp_path / "claims.json"
    path.write_text(json.dumps([ENTRY]))
    assert read_findings(path) == [Finding("one", "p", "yes", "f", "w")]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_what_is_written_is_read(tmp_path, count):
    path = tmp_path / "new folder" / "claims.json"
    found = [Finding(f"check{i}", 'says "so"', "no", "it\n\tdoes not", "é") for i in range(count)]
    for wanted in (found[:1], found):
        write_findings(path, wanted)
        assert read_findings(path) == wanted
    assert [one.name for one in path.parent.iterdir()] == ["claims.json"]


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
