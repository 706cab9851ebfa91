"""Records are written whole, read strictly, and hold what was put in."""

import json
import math
from dataclasses import replace

import pytest
from made_records import experiment, record_of

from cyclenet.datasets.errors import DataFileError
from cyclenet.experiments.record import RECORD_FILE, Curve, find_records, read_record, write_record

RUN = next(experiment().runs())


@pytest.fixture
def path(tmp_path):
    """A record, written."""
    return write_record(tmp_path, record_of(RUN), RUN.folder)


def test_what_was_written_is_read(tmp_path, path):
    assert path == tmp_path / RUN.folder / RECORD_FILE
    record, expected = read_record(path), record_of(RUN)
    rounded = replace(record, curve=expected.curve)
    assert rounded == expected
    for name in ("train_loss", "lr"):
        assert getattr(record.curve, name) == pytest.approx(getattr(expected.curve, name), 1e-5)
    assert [one.name for one in path.parent.iterdir()] == [RECORD_FILE]


def test_numbers_that_are_not_finite_are_null(tmp_path):
    record = record_of(RUN, math.nan, curve=Curve(train_loss=(1.0, math.inf)))
    path = write_record(tmp_path, record, RUN.folder)
    assert "NaN" not in path.read_text() and "Infinity" not in path.read_text()
    back = read_record(path)
    assert back.value is None
    assert back.curve.train_loss[0] == 1.0 and math.isnan(back.curve.train_loss[1])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"value": "x"}, "value: must be a number"),
        ({"curve": {"lr": [0, "x"]}}, r"curve\.lr\.1: must be a number"),
        ({"speed": 1}, "no key called 'speed'"),
        ({"format": 99}, "must have format 1"),
        ({"status": "done"}, "status: must be one of"),
        ({"copies": {"pairs": 1}}, "copies: the key 'separated' is missing"),
    ],
)
def test_another_content_is_refused_by_its_key(path, change, said):
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(DataFileError, match=said) as caught:
        read_record(path)
    assert caught.value.path == str(path)
    assert caught.value.hint


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"null", b'"record"', b"\xff\xfe"])
def test_what_is_no_record_is_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(DataFileError, match=r"record\.json"):
        read_record(path)


def test_no_truncation_is_read(path):
    whole = path.read_bytes().rstrip()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(DataFileError):
            read_record(path)


def test_records_are_found_in_the_order_of_their_paths(tmp_path):
    runs = list(experiment().runs())
    for run in reversed(runs):
        write_record(tmp_path, record_of(run), run.folder)
    found = find_records(tmp_path, "expressiveness")
    assert [(r.task, r.row, r.seed) for r in found] == sorted(
        (run.task.name, run.row.name, run.seed) for run in runs
    )
    assert find_records(tmp_path, "nothing") == []
