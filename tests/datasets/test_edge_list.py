"""Edge lists: what is taken, what is mended and said, what is refused with its line."""

import numpy as np
import pytest

from cyclenet.datasets import DataFileError
from cyclenet.datasets.edge_list import read_edge_list


@pytest.fixture
def read(tmp_path):
    def read_text(text, mode="utf-8"):
        path = tmp_path / "edges.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode(mode))
        return read_edge_list(path)

    return read_text


def test_two_columns_are_one_graph(read):
    graphs, notes = read("0,1\n2,1\n0,2\n")
    assert [graph.edges.tolist() for graph in graphs] == [[[0, 0, 1], [1, 2, 2]]]
    assert notes == ()


def test_a_first_column_of_graph_ids_keeps_graphs_apart(read):
    graphs, _ = read("7,0,1\n3,1,0\n7,1,2\n")
    assert [(graph.edges.tolist(), graph.num_nodes) for graph in graphs] == [
        ([[0], [1]], 2),
        ([[0, 1], [1, 2]], 3),
    ]


@pytest.mark.parametrize(
    "header",
    ["source,target,graph_id", 'Target,SOURCE,"graph"', "\nu,v,graph", "\ufefffrom,to,graph"],
)
def test_a_header_names_the_columns_in_any_order(read, header):
    graphs, _ = read(f"{header}\r\n1,2,5\r\n\r\n0,1,5\r\n")
    assert [graph.edges.tolist() for graph in graphs] == [[[0, 1], [1, 2]]]


def test_loops_and_copies_are_mended_and_counted(read):
    graphs, notes = read("0,0\n0,1\n0,1\n1,0\n")
    assert graphs[0].edges.tolist() == [[0], [1]]
    assert notes == ("self loops dropped: 1", "repeated edges merged: 1")


def test_an_empty_file_is_a_graph_without_nodes(read):
    for text in ("", "\n\n", "tail,head\n"):
        graphs, _ = read(text)
        assert [(graph.edges.shape, graph.num_nodes) for graph in graphs] == [((2, 0), 0)]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("0,1\n0\n", 2),
        ("0,1\n0,1,2\n", 2),
        ("0,1\n\n0,x\n", 3),
        ("0,-1\n", 1),
        ("0,1.5\n", 1),
        ("0,1_0\n", 1),
        ("0,\u0663\n", 1),
        ("0,99999999999999999999\n", 1),
        ("0,1\n0,999999999999999\n", 2),
        ("tail,weight\n0,1\n", 1),
        ("tail,head\n0,1,2\n", 2),
        (b"0,1\n\xff\xfe\n", 2),
    ],
)
def test_a_bad_line_is_named(read, text, line):
    with pytest.raises(DataFileError) as caught:
        read(text)
    assert caught.value.line == line


def test_mutated_bytes_give_only_our_errors(read):
    rng = np.random.default_rng(1)
    seed = b"graph,tail,head\n0,0,1\n0,1,2\n1,0,1\n"
    for _ in range(2000):
        text = bytearray(seed)
        for _ in range(rng.integers(1, 6)):
            place = int(rng.integers(len(text)))
            text[place : place + int(rng.integers(2))] = bytes(rng.integers(0, 256, 1).tolist())
        try:
            graphs, _ = read(bytes(text))
        except DataFileError:
            continue
        for edges, num_nodes in graphs:
            assert edges.size == 0 or edges.max() < num_nodes
