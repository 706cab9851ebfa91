"""Graphs from a text file with one edge a line."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from cyclenet.datasets.errors import DataFileError
from cyclenet.datasets.graph import PackedGraphs
from cyclenet.topology import edges_from_arcs

# A file of few edges that names a huge node would make every later array huge.
_MOST_UNUSED_NODES = 1_000_000

_COLUMNS = {
    "graph": ("graph", "graph_id"),
    "tail": ("tail", "source", "u", "from"),
    "head": ("head", "target", "v", "to"),
}


class IntegerRows(NamedTuple):
    """The numbers of a text table, and the line each row stood on.

    Args:
        values: One row for each line that is not blank.
        lines: Line numbers, counted from 1.
    """

    values: Int[np.ndarray, "rows columns"]
    lines: Int[np.ndarray, " rows"]


def read_edge_list(path: str | Path) -> tuple[PackedGraphs, tuple[str, ...]]:
    """The graphs of a comma separated edge list.

    A line is ``tail,head``, or ``graph,tail,head`` for many graphs; a first line may name the
    columns (``graph``, ``tail`` or ``source``, ``head`` or ``target``), in any order. Nodes are
    numbered from 0 in each graph and a graph has as many nodes as its largest id says.

    Args:
        path: The file.

    Returns:
        The graphs, in the order of their ids, and a note for each thing that was mended.

    Raises:
        DataFileError: If a line is not two or three whole numbers.
    """
    path = Path(path)
    text = read_text(path)
    named = _named_columns(text, path)
    widths = (2, 3) if named is None else (len(named),)
    rows = integer_rows(text, path, widths=widths, skip_lines=0 if named is None else 1)
    columns = named or ("graph", "tail", "head")[-rows.values.shape[1] :]
    arcs = rows.values[:, [columns.index("tail"), columns.index("head")]].T
    graph_of_arc = np.zeros(arcs.shape[1], dtype=np.int64)
    if "graph" in columns:
        ids = rows.values[:, columns.index("graph")]
        graph_of_arc = np.unique(ids, return_inverse=True)[1].reshape(-1)
    num_nodes = np.zeros(int(graph_of_arc.max(initial=0)) + 1, dtype=np.int64)
    np.maximum.at(num_nodes, graph_of_arc, arcs.max(axis=0, initial=-1) + 1)
    # Counted as floats: ids that are out of all reason must not overflow unseen.
    if num_nodes.astype(np.float64).sum() > 2 * arcs.shape[1] + _MOST_UNUSED_NODES:
        row = int(np.argmax(arcs.max(axis=0)))
        raise DataFileError(
            f"expected node ids from 0 without large gaps, but {arcs[:, row].max()} came",
            path=str(path),
            line=int(rows.lines[row]),
        )
    return pack_arcs(arcs, graph_of_arc, num_nodes)


def pack_arcs(
    arcs: Int[np.ndarray, "2 a"],
    graph_of_arc: Int[np.ndarray, " a"],
    num_nodes: Int[np.ndarray, " b"],
) -> tuple[PackedGraphs, tuple[str, ...]]:
    """Arcs of many graphs as packed undirected graphs.

    Args:
        arcs: Directed columns; node ids start at 0 in each graph.
        graph_of_arc: Graph of every arc.
        num_nodes: Number of nodes of each graph.

    Returns:
        The graphs, and a note with the count of self loops that were dropped and one with the
        count of edges that were listed again.
    """
    node_ptr = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(num_nodes)))
    # One call for all: the sort by tail keeps the graphs apart and in order.
    found = edges_from_arcs(arcs + node_ptr[graph_of_arc], int(node_ptr[-1]))
    edge_ptr = np.searchsorted(found.edges[0], node_ptr)
    shift = np.repeat(node_ptr[:-1], np.diff(edge_ptr))
    notes = []
    if found.num_loops:
        notes.append(f"self loops dropped: {found.num_loops}")
    if found.num_repeated:
        notes.append(f"repeated edges merged: {found.num_repeated}")
    return PackedGraphs(found.edges - shift, edge_ptr, num_nodes), tuple(notes)


def read_text(path: Path) -> str:
    """The text of a file; DataFileError, never UnicodeDecodeError, if it is none."""
    data = path.read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataFileError(
            f"expected text, but byte {data[error.start]} came", path=str(path), line=line
        ) from None


def integer_rows(
    text: str, path: Path, *, widths: tuple[int, ...], skip_lines: int = 0
) -> IntegerRows:
    """Comma separated whole numbers, every line as long as the first.

    Args:
        text: The text.
        path: The file it came from, for error messages.
        widths: How many numbers a line may hold.
        skip_lines: Number of leading lines, blank ones apart, to pass over.

    Returns:
        The numbers, and the line of each row.

    Raises:
        DataFileError: If a line holds something else; it names the line.
    """
    rows, lines = [], []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        if skip_lines:
            skip_lines -= 1
            continue
        fields = [field.strip() for field in line.split(",")]
        allowed = (len(rows[0]),) if rows else widths
        if len(fields) not in allowed or not all(map(_is_whole_number, fields)):
            wanted = " or ".join(map(str, allowed))
            raise DataFileError(
                f"expected {wanted} whole numbers separated by commas, but {line[:60]!r} came",
                path=str(path),
                line=number,
            )
        rows.append([int(field) for field in fields])
        lines.append(number)
    width = len(rows[0]) if rows else widths[0]
    values = np.array(rows, dtype=np.int64).reshape(-1, width)
    return IntegerRows(values, np.array(lines, dtype=np.int64))


def _is_whole_number(field: str) -> bool:
    # Eighteen digits always fit an int64.
    return field.isascii() and field.isdigit() and len(field) <= 18


def _named_columns(text: str, path: Path) -> tuple[str, ...] | None:
    """The columns that the first line names, in its order, or None if it names none."""
    lines = enumerate(text.splitlines(), start=1)
    number, line = next(((n, line) for n, line in lines if line.strip()), (1, ""))
    fields = [field.strip().strip('"').lower() for field in line.split(",")]
    if not any(field[:1].isalpha() for field in fields):
        return None
    names = {name: column for column, names in _COLUMNS.items() for name in names}
    columns = tuple(names.get(field, "") for field in fields)
    if sorted(columns) not in (["head", "tail"], ["graph", "head", "tail"]):
        raise DataFileError(
            f"expected the columns tail,head or graph,tail,head, but {line[:60]!r} came",
            path=str(path),
            line=number,
        )
    return columns
