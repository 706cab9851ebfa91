"""`inspect` counts what a hand would count."""

import numpy as np
import pytest
from named_graphs import two_triangles_and_a_bridge

from cyclenet.commands import inspect
from cyclenet.commands.inspect import inspect_source
from cyclenet.commands.outcome import CommandError
from cyclenet.datasets import Graph, molecule_graphs, write_graph6
from cyclenet.topology import shortest_cycle_basis


@pytest.fixture
def file_of(tmp_path):
    def write(*graphs):
        path = tmp_path / "graphs.g6"
        write_graph6(path, [Graph(*graph) for graph in graphs])
        return str(path)

    return write


EMPTY = (np.zeros((2, 0), dtype=np.int64), 0)
LONE = (np.zeros((2, 0), dtype=np.int64), 3)
PATH = (np.array([[0, 1], [1, 2]]), 4)


def test_two_triangles_and_a_bridge_by_hand(file_of):
    result = inspect_source(file_of(two_triangles_and_a_bridge())).result
    assert result["nodes"] == 6
    assert result["edges"] == 7
    assert result["components"] == 1
    assert result["betti_number"] == 2
    assert result["blocks"] == 2
    assert result["largest_block_edges"] == 3
    assert result["bridges"] == 1
    assert result["shortest_basis"] == {
        "cycles": 2,
        "lengths": {"3": 2},
        "total_length": 6,
        "unique": True,
        "relevant_cycles": 2,
    }
    assert result["bytes"] == {
        "basis": 6 * 17,
        "projector_pairs": 18 * 20,
        "projector_dense": 8 * 49,
    }


@pytest.mark.parametrize(
    ("graph", "components"), [(EMPTY, 0), (LONE, 3), (PATH, 2)], ids=["empty", "lone", "path"]
)
def test_graphs_without_cycles_are_ordinary(graph, components, file_of, tmp_path):
    outcome = inspect_source(file_of(graph), svg=tmp_path / "a.svg")
    assert outcome.result["components"] == components
    assert outcome.result["betti_number"] == 0
    assert outcome.result["shortest_basis"]["lengths"] == {}
    assert outcome.result["shortest_basis"]["unique"]
    assert (tmp_path / "a.svg").stat().st_size > 0
    assert any("empty" in line for line in outcome.lines)


def test_many_graphs_add_up(file_of):
    graphs = [EMPTY, *(molecule_graphs()[i] for i in range(20)), PATH, two_triangles_and_a_bridge()]
    bases = [shortest_cycle_basis(*graph) for graph in graphs]
    outcome = inspect_source(file_of(*graphs))
    result, basis = outcome.result, outcome.result["shortest_basis"]
    assert result["graphs"] == len(graphs)
    assert result["nodes"]["min"] == 0
    assert result["betti_number"]["mean"] == np.mean([found.num_cycles for found in bases])
    assert basis["total_length"] == sum(found.total_weight for found in bases)
    assert basis["unique_graphs"] == sum(found.is_unique for found in bases)
    assert sum(basis["lengths"].values()) == basis["cycles"]
    assert any(f"{len(graphs)} graphs" in line for line in outcome.lines)


def test_a_file_without_graphs_is_ordinary(file_of):
    outcome = inspect_source(file_of())
    assert outcome.result["graphs"] == 0
    assert outcome.result["nodes"] is None
    assert outcome.lines


def test_the_picture_is_written_and_named(tmp_path):
    path = tmp_path / "a.svg"
    outcome = inspect_source("molecules:3", svg=path)
    assert outcome.result["svg"] == str(path)
    assert "molecules:3" in path.read_text()


def test_a_basis_that_takes_long_waits_for_no_limit(monkeypatch, file_of):
    monkeypatch.setattr(inspect, "MOST_CYCLES", 0)
    for graphs in ([two_triangles_and_a_bridge()], [PATH, two_triangles_and_a_bridge()]):
        outcome = inspect_source(file_of(*graphs))
        assert outcome.result["shortest_basis"] is None
        assert "--no-limit" in outcome.warnings[0]
        assert inspect_source(file_of(*graphs), no_limit=True).result["shortest_basis"] is not None


def test_a_graph_too_large_to_be_seen_is_not_drawn(monkeypatch, tmp_path):
    monkeypatch.setattr(inspect, "MOST_NODES_TO_DRAW", 5)
    with pytest.raises(CommandError, match="up to 5 nodes"):
        inspect_source("rook", svg=tmp_path / "a.svg")


def test_what_was_mended_is_told(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("0,0\n0,1\n")
    assert inspect_source(str(path)).warnings == ["self loops dropped: 1"]
