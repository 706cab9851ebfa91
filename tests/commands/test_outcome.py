"""What each kind of error means to the user."""

import errno

import pytest

from cyclenet.commands.outcome import failure_of
from cyclenet.datasets import DataFileError, MissingExtra, UnknownName
from cyclenet.datasets.errors import BadArgument
from cyclenet.topology import GraphError, TooLargeError

TOO_LARGE = TooLargeError(
    "it", num_edges=9, largest_block=9, bytes_needed=2, max_bytes=1, hint="a smaller one"
)


@pytest.mark.parametrize(
    ("error", "exit_code", "code"),
    [
        (UnknownName("thing", "a", ["b"], hint="c"), 2, "unknown_name"),
        (BadArgument("no"), 2, "bad_argument"),
        (DataFileError("no", path="f", line=3), 4, "bad_data"),
        (GraphError("no", code="self_loop", column=3), 4, "self_loop"),
        (MissingExtra("p", extra="e", needed_for="it"), 5, "missing_extra"),
        (TOO_LARGE, 5, "too_large"),
        (MemoryError(), 5, "out_of_memory"),
        (OSError(errno.ENOSPC, "No space left on device", "f"), 5, "disk_full"),
        (PermissionError(errno.EACCES, "Permission denied", "f"), 5, "file"),
    ],
)
def test_foreseen_errors_have_a_status_and_a_word(error, exit_code, code):
    failure = failure_of(error)
    assert (failure.exit_code, failure.code) == (exit_code, code)
    assert failure.message


def test_of_a_draft_and_its_file_the_file_is_named():
    error = IsADirectoryError(errno.EISDIR, "Is a directory", ".draft.tmp", None, "report")
    failure = failure_of(error)
    assert (failure.where, failure.message) == ("report", "report: Is a directory")
    assert failure.hint


@pytest.mark.parametrize("error", [ValueError("x"), KeyError("x"), AssertionError(), TypeError()])
def test_other_errors_are_bugs(error):
    assert failure_of(error) is None


def test_what_to_try_is_parted_from_the_sentence():
    failure = failure_of(TOO_LARGE)
    assert failure.hint == "a smaller one"
    assert "try:" not in failure.message


def test_a_place_is_told_where_there_is_one():
    assert failure_of(DataFileError("no", path="f", line=3)).where == "f, line 3"
    error = GraphError("no", code="self_loop", column=3, graph_index=7)
    assert failure_of(error).where == "graph 7, edge 3"
    assert failure_of(GraphError("no", code="num_nodes")).where is None
