"""Every way to an encoding gives the same numbers, or nothing is measured. Asserts no time."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest
from named_graphs import bicyclo_222_octane, rook

from cyclenet.bench import preprocessing
from cyclenet.bench.preprocessing import ENCODINGS, timed_set
from cyclenet.bench.timed_sets import TimedGraphs
from cyclenet.datasets import DataFileError, Graph
from cyclenet.experiments.names import TIMED_ENCODINGS
from cyclenet.experiments.plain import from_plain
from cyclenet.experiments.spec import Timing
from cyclenet.experiments.timings import TimedSet

pytest.importorskip("networkx")

# A forest and a graph without edges among them; nodes without edges at the end of some.
GRAPHS = [
    Graph(*bicyclo_222_octane()),
    Graph(np.array([[0, 0], [1, 2]]), 4),
    Graph(*rook()),
    Graph(np.zeros((2, 0), dtype=np.int64), 2),
    Graph(np.array([[0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5]]), 7),
]
TIMING = Timing("molecules", "molecules", repeats=2, seconds=1e-4, published_graphs=3)


@pytest.fixture
def sets(monkeypatch):
    """The sets, of which the molecules are replaced by a few graphs."""
    made = {"molecules": lambda data: TimedGraphs(GRAPHS, 2)}
    monkeypatch.setattr(preprocessing, "SETS", made)
    return made


def test_names_are_the_keys():
    assert tuple(ENCODINGS) == TIMED_ENCODINGS


def test_every_way_is_timed_and_the_answers_are_compared(sets):
    found = timed_set(TIMING)
    assert (found.status, found.reason) == ("measured", "")
    assert (found.num_graphs, found.num_published) == (5, 3)
    for one in found.encodings:
        ways = ["arrays"] if one.name != "basis" else []
        ways += ["function", "packed", "published"]
        ways += ["transform"] if one.name != "hodge" else []
        for numbers in (one.seconds, one.least, one.samples):
            assert sorted(numbers) == ways
            assert all(math.isfinite(number) and number > 0 for number in numbers.values())
        assert all(one.least[way] <= one.seconds[way] for way in ways)
        assert one.difference <= preprocessing.TOLERANCE
    assert found.encoding("basis").difference == 0


def test_all_graphs_can_be_compared(sets):
    found = timed_set(Timing("molecules", "", repeats=1, seconds=1e-4, published_graphs=99))
    assert (found.status, found.num_published) == ("measured", 5)


@pytest.mark.parametrize("name", ["hodge", "projector"])
def test_numpy_has_to_agree_too(name, sets, monkeypatch):
    honest = ENCODINGS[name].arrays

    def off(graphs):
        return [matrix + 1e-6 for matrix in honest(graphs)]

    monkeypatch.setitem(ENCODINGS, name, ENCODINGS[name]._replace(arrays=off))
    assert f"{name} of graph 0, arrays: differs by 1.0e-06" in timed_set(TIMING).reason


@pytest.mark.parametrize("name", ["hodge", "projector"])
def test_algorithms_that_disagree_are_an_error_and_no_time(name, sets, monkeypatch):
    honest = ENCODINGS[name]

    def off(graphs):
        return [
            matrix + 1e-6 * (place == 1) for place, matrix in enumerate(honest.published(graphs))
        ]

    monkeypatch.setitem(ENCODINGS, name, honest._replace(published=off))
    found = timed_set(TIMING)
    assert (found.status, found.encodings) == ("failed", ())
    assert f"{name} of graph 1, function: differs by 1.0e-06" in found.reason


def test_another_number_of_cycles_is_a_disagreement(sets, monkeypatch):
    short = ENCODINGS["basis"]._replace(published=lambda graphs: [[3]] * len(graphs))
    monkeypatch.setitem(ENCODINGS, "basis", short)
    assert "differs by inf" in timed_set(TIMING).reason


def test_graphs_that_are_not_here_are_missing_with_their_place(sets):
    def absent(data):
        raise DataFileError("is not there", path="data/ZINC", hint="fetch it")

    sets["molecules"] = absent
    found = timed_set(TIMING)
    assert (found.status, found.encodings) == ("missing", ())
    assert found.reason == "data/ZINC: is not there; try: fetch it"


def test_a_missing_peer_is_missing_and_no_failure(sets, monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    found = timed_set(TIMING)
    assert found.status == "missing"
    assert "pip install 'cyclenet[bench]'" in found.reason


def test_the_process_prints_one_set_as_json():
    command = [
        sys.executable, "-m", "cyclenet.bench.preprocessing", "circle_extents-test",
        "--repeats", "1", "--seconds", "0.001", "--published-graphs", "2",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    (line,) = done.stdout.splitlines()
    found = from_plain(TimedSet, json.loads(line))
    assert found.reason == ""
    assert (found.num_graphs, found.num_published) == (100, 2)
    expected = Timing("circle_extents-test", "x", 1, 0.001, published_graphs=2)
    assert found.fingerprint == expected.fingerprint
