"""Encoding in the demo: counts that can be checked, and nothing done twice."""

import json

import numpy as np
import pytest

from cyclenet.commands.demo import encoding as module
from cyclenet.commands.demo.encoding import BASES, FILE, GENERATE, PROJECTORS, encode
from cyclenet.datasets.cyclic_points import n_circles
from cyclenet.topology import betti_number, shortest_cycle_basis


class Told:
    """Remembers what a meter was told."""

    def __init__(self):
        self.done = []

    def at(self, done, about=""):
        self.done.append(done)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("encoded")


@pytest.fixture(scope="module")
def encoded(folder):
    return encode(30, folder, Told())


def test_the_counts_are_those_of_the_graphs_one_by_one(encoded):
    graphs = [sample.graph for sample in n_circles(30, np.random.default_rng(1234))]
    bases = [shortest_cycle_basis(*graph) for graph in graphs]
    assert encoded.edges == sum(graph.edges.shape[1] for graph in graphs)
    assert encoded.cycles == sum(betti_number(*graph) for graph in graphs)
    assert encoded.cycles == sum(encoded.lengths.values())
    assert encoded.unique == sum(basis.is_unique for basis in bases)
    assert sum(int(length) * count for length, count in encoded.lengths.items()) == sum(
        int(basis.lengths.sum()) for basis in bases
    )


def test_all_parts_are_timed(encoded):
    assert list(encoded.seconds) == [GENERATE, BASES, PROJECTORS]
    assert all(seconds >= 0 for seconds in encoded.seconds.values())
    assert encoded.bases_per_second > 0
    assert encoded.projectors_per_second > 0


def test_what_was_done_is_read(encoded, folder, monkeypatch):
    monkeypatch.setattr(module, "_encode", lambda *_: pytest.fail("was done again"))
    assert encode(30, folder, Told()) == encoded


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"graphs": "30"}', "\\u0000", '{"graphs": 30, "nonsense": 1}']
)
def test_a_file_that_is_something_else_is_written_anew(content, encoded, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_encode", lambda *_: encoded)
    (tmp_path / FILE).write_text(content)
    assert encode(30, tmp_path, Told()) == encoded
    assert json.loads((tmp_path / FILE).read_text())["graphs"] == 30


def test_other_graphs_and_other_versions_are_encoded_anew(encoded, tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(module, "_encode", lambda number, _: calls.append(number) or encoded)
    encode(30, tmp_path, Told())
    encode(31, tmp_path, Told())
    path = tmp_path / FILE
    path.write_text(path.read_text().replace(encoded.version, "0.0.1"))
    encode(30, tmp_path, Told())
    assert calls == [30, 31, 30]


def test_the_meter_counts_graphs(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_CHUNK", 4)
    told = Told()
    encode(10, tmp_path, told)
    assert told.done == [0, 4, 8, 10]
