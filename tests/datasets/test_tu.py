"""TU text files that agree, and every way in which they can disagree."""

import pytest

from cyclenet.datasets import DataFileError
from cyclenet.datasets.tu import read_tu

ARCS = "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n"
GRAPHS = "1\n1\n1\n2\n2\n"


@pytest.fixture
def read(tmp_path):
    def read_texts(arcs=ARCS, graphs=GRAPHS, labels=None):
        (tmp_path / "X_A.txt").write_text(arcs)
        (tmp_path / "X_graph_indicator.txt").write_text(graphs)
        if labels is not None:
            (tmp_path / "X_graph_labels.txt").write_text(labels)
        return read_tu(tmp_path, "X")

    return read_texts


def test_graphs_come_in_order_with_nodes_from_zero(read):
    graphs, notes = read(labels="1\n-1\n")
    assert [(graph.edges.tolist(), graph.num_nodes) for graph in graphs] == [
        ([[0, 1], [1, 2]], 3),
        ([[0], [1]], 2),
    ]
    assert notes == ()


def test_a_graph_without_edges_keeps_its_place(read):
    graphs, _ = read(arcs="3, 4\n", graphs="1\n2\n3\n3\n")
    assert [graph.edges.shape[1] for graph in graphs] == [0, 0, 1]


@pytest.mark.parametrize(
    ("texts", "file", "line", "said"),
    [
        ({"arcs": ARCS + "5, 6\n"}, "X_A.txt", 7, "nodes 1 to 5"),
        ({"arcs": "0, 1\n"}, "X_A.txt", 1, "nodes 1 to 5"),
        ({"arcs": "3, 4\n"}, "X_A.txt", 1, "node 3 in graph 1 and node 4 in graph 2"),
        ({"arcs": "1 2\n"}, "X_A.txt", 1, "whole numbers"),
        ({"graphs": "1\n2\n1\n"}, "X_graph_indicator.txt", 3, "never fall"),
        ({"graphs": "0\n1\n"}, "X_graph_indicator.txt", 1, "start at 1"),
        ({"graphs": "1\nx\n"}, "X_graph_indicator.txt", 2, "whole numbers"),
        ({"labels": "1\n"}, "X_graph_labels.txt", 1, "2 graphs .* but 1 came"),
        ({"labels": "1\n1\n1\n"}, "X_graph_labels.txt", 3, "2 graphs .* but 3 came"),
    ],
)
def test_files_that_disagree_are_named_with_line_and_counts(read, texts, file, line, said):
    with pytest.raises(DataFileError, match=said) as caught:
        read(**texts)
    assert caught.value.path.endswith(file)
    assert caught.value.line == line
