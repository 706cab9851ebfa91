"""Graphs of a TU dataset (Morris et al. 2020) from its raw text files."""

from pathlib import Path

import numpy as np

from cyclenet.datasets.edge_list import integer_rows, pack_arcs, read_text
from cyclenet.datasets.errors import DataFileError
from cyclenet.datasets.graph import PackedGraphs


def read_tu(folder: str | Path, name: str) -> tuple[PackedGraphs, tuple[str, ...]]:
    """The graphs of a TU dataset, without labels and attributes.

    Args:
        folder: Folder with ``NAME_A.txt`` and ``NAME_graph_indicator.txt``.
        name: Name of the dataset, such as ``MUTAG``.

    Returns:
        The graphs in the order of the files, and a note for each thing that was mended.

    Raises:
        DataFileError: If the files are not whole numbers or disagree with each other.
    """
    arcs_file = Path(folder) / f"{name}_A.txt"
    graphs_file = Path(folder) / f"{name}_graph_indicator.txt"
    graph_of_node = integer_rows(read_text(graphs_file), graphs_file, widths=(1,)).values[:, 0] - 1
    if np.any(np.diff(graph_of_node, prepend=0) < 0) or graph_of_node.min(initial=0) < 0:
        row = int(np.argmax(np.diff(graph_of_node, prepend=0) < 0))
        raise DataFileError(
            "expected graph numbers that start at 1 and never fall",
            path=str(graphs_file),
            line=row + 1,
        )
    num_graphs = _num_graphs(Path(folder) / f"{name}_graph_labels.txt", graphs_file, graph_of_node)
    rows = integer_rows(read_text(arcs_file), arcs_file, widths=(2,))
    arcs = rows.values.T - 1
    outside = np.flatnonzero(np.any((arcs < 0) | (arcs >= graph_of_node.size), axis=0))
    if outside.size:
        raise DataFileError(
            f"expected nodes 1 to {graph_of_node.size}, the lines of {graphs_file.name}, but "
            f"{tuple(rows.values[outside[0]].tolist())} came",
            path=str(arcs_file),
            line=int(rows.lines[outside[0]]),
        )
    graph_of_arc = graph_of_node[arcs[0]]
    between = np.flatnonzero(graph_of_arc != graph_of_node[arcs[1]])
    if between.size:
        tail, head = rows.values[between[0]].tolist()
        raise DataFileError(
            f"expected both ends in one graph, but {graphs_file.name} puts node {tail} in graph "
            f"{graph_of_arc[between[0]] + 1} and node {head} in graph "
            f"{graph_of_node[head - 1] + 1}",
            path=str(arcs_file),
            line=int(rows.lines[between[0]]),
        )
    num_nodes = np.bincount(graph_of_node, minlength=num_graphs)
    first_node = np.cumsum(num_nodes) - num_nodes
    return pack_arcs(arcs - first_node[graph_of_arc], graph_of_arc, num_nodes)


def _num_graphs(labels_file: Path, graphs_file: Path, graph_of_node: np.ndarray) -> int:
    found = int(graph_of_node.max(initial=-1)) + 1
    if not labels_file.is_file():
        return found
    labelled = sum(1 for line in read_text(labels_file).splitlines() if line.strip())
    if labelled != found:
        raise DataFileError(
            f"expected one label for each of the {found} graphs of {graphs_file.name}, but "
            f"{labelled} came",
            path=str(labels_file),
            line=labelled,
        )
    return found
