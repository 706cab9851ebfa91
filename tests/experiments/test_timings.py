"""Records of timings: read back whole, or refused by name."""

import json
from dataclasses import replace

import pytest
from made_timings import experiment, missing, timed

from cyclenet.datasets.errors import DataFileError
from cyclenet.experiments.spec import Timing
from cyclenet.experiments.timings import read_timings, write_timings

ZINC, MOLECULES, POINTS = experiment().timings


@pytest.mark.parametrize("count", [0, 1, 2])
def test_what_is_written_is_read(tmp_path, count):
    path = tmp_path / "new folder" / "timings.json"
    sets = [timed(MOLECULES), missing(ZINC)][:count]
    write_timings(path, sets)
    assert read_timings(path) == sets
    assert [one.name for one in path.parent.iterdir()] == ["timings.json"]


def test_a_file_that_is_not_there_holds_none(tmp_path):
    assert read_timings(tmp_path / "timings.json") == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "JSON"),
        ("{", "JSON"),
        ("[]", "'sets'"),
        ('{"sets": []}', "format"),
        ('{"format": 1, "sets": []}', "format 2, not 1"),
        ('{"format": 2, "sets": [{}]}', r"sets\.0"),
        ("\xff", "JSON"),
    ],
)
def test_a_damaged_file_is_named(tmp_path, text, said):
    path = tmp_path / "timings.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(DataFileError, match=said) as caught:
        read_timings(path)
    assert caught.value.path == str(path)


def test_an_entry_of_the_wrong_kind_is_named(tmp_path):
    path = tmp_path / "timings.json"
    write_timings(path, [timed(MOLECULES)])
    values = json.loads(path.read_text())
    values["sets"][0]["encodings"][1]["seconds"]["packed"] = "fast"
    path.write_text(json.dumps(values))
    with pytest.raises(DataFileError, match=r"sets\.0\.encodings\.1\.seconds\.packed"):
        read_timings(path)


def test_a_ratio_is_the_time_of_a_peer_over_ours():
    projector = timed(MOLECULES).encoding("projector")
    assert projector.times_faster("function") == pytest.approx(40)
    assert projector.times_faster("function", "arrays") == pytest.approx(0.5)
    assert timed(MOLECULES).encoding("basis").times_faster("function", "arrays") is None
    assert timed(MOLECULES).encoding("hodge").times_faster("transform") is None
    assert missing(ZINC).encoding("hodge") is None


def test_labels_and_printed_numbers_are_no_inputs():
    assert replace(ZINC, label="other", printed={}).fingerprint == ZINC.fingerprint
    for changed in (
        replace(ZINC, graphs="zinc-train"),
        replace(ZINC, repeats=4),
        replace(ZINC, seconds=1.0),
        replace(ZINC, published_graphs=1),
    ):
        assert changed.fingerprint != ZINC.fingerprint
    assert Timing("molecules", "") == replace(MOLECULES, label="")
