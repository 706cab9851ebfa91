"""Read and write graph6, the one-line-per-graph text format of nauty (McKay, formats.txt).

A line is N(n) R(x): the number of nodes, then the upper triangle of the adjacency matrix column by
column, six bits a byte, each byte 63 to 126. The reader is strict, so that it has an inverse: every
line it accepts, header apart, is the line the writer gives for that graph.
"""

import gzip
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Int, Integer

from cyclenet.datasets.errors import DataFileError
from cyclenet.datasets.graph import Graph, GraphSequence

HEADER = b">>graph6<<"
MAX_NODES = 2**36 - 1

# Node counts up to these fit the forms of 1, 4 and 8 bytes.
_SHORT, _MEDIUM = 62, 258_047
# Inflating stops here: a small compressed file must not be able to fill the memory.
_MAX_BYTES = 2**30

_OTHER_FORMATS = {
    b":": "sparse6",
    b">>sparse6<<": "sparse6",
    b";": "incremental sparse6",
    b"&": "digraph6",
    b">>digraph6<<": "digraph6",
}


class Graph6Error(DataFileError):
    """Bytes that are not graph6.

    Args:
        reason: What was expected and what came.
        byte_offset: First offending byte, counted from 0 at the start of the data.
        line: Line, counted from 1.
        path: The file, if there is one.
        hint: What to try, or None.
    """

    def __init__(
        self,
        reason: str,
        *,
        byte_offset: int,
        line: int = 1,
        path: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(f"byte offset {byte_offset}: {reason}", path=path, line=line, hint=hint)
        self.reason = reason
        self.byte_offset = byte_offset


class Graph6Graphs(GraphSequence):
    """The graphs of a graph6 text, each decoded when it is asked for.

    Args:
        data: The text; a header, CRLF line ends and blank lines are accepted.
        path: Where it came from, for error messages.
    """

    def __init__(self, data: bytes, *, path: str | None = None) -> None:
        self._lines = _split_lines(data)
        self._path = path

    def __len__(self) -> int:
        """Number of graphs."""
        return len(self._lines)

    def __getitem__(self, index: int) -> Graph:
        """Graph `index`; Graph6Error if its line is not graph6."""
        line = self._lines[range(len(self._lines))[index]]
        try:
            return decode_graph6(line.text)
        except Graph6Error as error:
            raise Graph6Error(
                error.reason,
                byte_offset=line.offset + error.byte_offset,
                line=line.number,
                path=self._path,
                hint=error.hint,
            ) from None


def read_graph6(path: str | Path) -> Graph6Graphs:
    """The graphs of a graph6 file, plain or compressed with gzip.

    Args:
        path: The file; a name ending in ``.gz`` is inflated.

    Returns:
        A sequence that decodes each graph when it is asked for.

    Raises:
        DataFileError: If the file is not whole gzip data.
    """
    path = Path(path)
    if path.suffix != ".gz":
        return Graph6Graphs(path.read_bytes(), path=str(path))
    try:
        with gzip.open(path) as stream:
            data = stream.read(_MAX_BYTES + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataFileError(f"expected gzip data, but {error}", path=str(path)) from None
    if len(data) > _MAX_BYTES:
        raise DataFileError(f"expected at most {_MAX_BYTES} bytes inflated", path=str(path))
    return Graph6Graphs(data, path=str(path))


def decode_graph6(line: bytes) -> Graph:
    """The graph of one graph6 line.

    Args:
        line: The line without its end; a ``>>graph6<<`` header is accepted.

    Returns:
        The graph, edges sorted by (tail, head).

    Raises:
        Graph6Error: If the line is not graph6. The length is compared with the number of nodes it
            claims before anything of that size is allocated.

    Example:
        >>> edges, num_nodes = decode_graph6(b"Bw")
        >>> edges.tolist(), num_nodes
        ([[0, 0, 1], [1, 2, 2]], 3)
    """
    start = len(HEADER) if line.startswith(HEADER) else 0
    body = np.frombuffer(line, dtype=np.uint8)[start:]
    _check_format(line[start:], start)
    outside = np.flatnonzero((body < 63) | (body > 126))
    if outside.size:
        raise Graph6Error(
            f"expected bytes 63 to 126, but byte {body[outside[0]]} came",
            byte_offset=start + int(outside[0]),
        )
    num_nodes, used = _node_count(body, start)
    num_bits = num_nodes * (num_nodes - 1) // 2
    expected = -(-num_bits // 6)
    if body.size - used != expected:
        raise Graph6Error(
            f"a graph with {num_nodes} nodes takes {expected} bytes after the node count, but "
            f"{body.size - used} came",
            byte_offset=start + min(body.size, used + expected),
        )
    bits = np.unpackbits((body[used:] - 63)[:, None], axis=1)[:, 2:].reshape(-1)
    if bits[num_bits:].any():
        raise Graph6Error(
            "expected zeros in the padding of the last byte", byte_offset=start + body.size - 1
        )
    return Graph(_edges_of_bits(np.flatnonzero(bits)), num_nodes)


def encode_graph6(edges: Integer[np.ndarray, "2 m"], num_nodes: int) -> bytes:
    """The graph6 line of a graph; the inverse of `decode_graph6`.

    Args:
        edges: Undirected edges, tail < head.
        num_nodes: Number of nodes.

    Returns:
        The line, without header and line end.

    Raises:
        ValueError: If the graph has a loop or an edge outside its nodes: graph6 cannot say them.

    Example:
        >>> encode_graph6(np.array([[0, 0, 1], [1, 2, 2]]), 3)
        b'Bw'
    """
    tail, head = np.asarray(edges, dtype=np.int64).reshape(2, -1)
    if not 0 <= num_nodes <= MAX_NODES:
        raise ValueError(f"`num_nodes` must be 0 to {MAX_NODES}, but it is {num_nodes}")
    if np.any((tail < 0) | (tail >= head) | (head >= num_nodes)):
        raise ValueError(f"`edges` must be 0 <= tail < head < {num_nodes} to be written as graph6")
    bits = np.zeros(-(-(num_nodes * (num_nodes - 1) // 2) // 6) * 6, dtype=np.uint8)
    bits[head * (head - 1) // 2 + tail] = 1
    values = np.packbits(bits.reshape(-1, 6), axis=1)[:, 0] >> 2
    return _encode_node_count(num_nodes) + (values + 63).tobytes()


def write_graph6(path: str | Path, graphs: Iterable[Graph]) -> None:
    """Write graphs to a file, one graph6 line each.

    Args:
        path: The file.
        graphs: The graphs.
    """
    Path(path).write_bytes(b"".join(encode_graph6(*graph) + b"\n" for graph in graphs))


class _Line(NamedTuple):
    number: int
    offset: int
    text: bytes


def _split_lines(data: bytes) -> list[_Line]:
    lines, offset = [], 0
    for number, raw in enumerate(data.split(b"\n"), start=1):
        text = raw.removesuffix(b"\r")
        if text.strip() not in (b"", HEADER):
            lines.append(_Line(number, offset, text))
        offset += len(raw) + 1
    return lines


def _check_format(text: bytes, start: int) -> None:
    for mark, name in _OTHER_FORMATS.items():
        if text.startswith(mark):
            raise Graph6Error(
                f"expected graph6, but this line is {name}",
                byte_offset=start,
                hint="convert it with nauty's `copyg -g`",
            )


def _node_count(body: Integer[np.ndarray, " k"], start: int) -> tuple[int, int]:
    """The number of nodes a line claims, and how many bytes said so."""
    escapes = 0
    while escapes < min(2, body.size) and body[escapes] == 126:
        escapes += 1
    used = (1, 4, 8)[escapes]
    if body.size < used:
        raise Graph6Error(
            f"expected {used} bytes of node count, but the line ends after {body.size}",
            byte_offset=start + body.size,
        )
    num_nodes = 0
    for digit in body[escapes:used]:
        num_nodes = num_nodes * 64 + int(digit) - 63
    if num_nodes <= (-1, _SHORT, _MEDIUM)[escapes]:
        raise Graph6Error(
            f"expected the shortest form of the node count {num_nodes}, but {used} bytes came",
            byte_offset=start,
        )
    return num_nodes, used


def _encode_node_count(num_nodes: int) -> bytes:
    escapes = (num_nodes > _SHORT) + (num_nodes > _MEDIUM)
    digits = (1, 3, 6)[escapes]
    values = [num_nodes >> (6 * place) & 63 for place in reversed(range(digits))]
    return b"~" * escapes + bytes(value + 63 for value in values)


def _edges_of_bits(position: Int[np.ndarray, " m"]) -> Int[np.ndarray, "2 m"]:
    """Edges behind set bits: bit h(h-1)/2 + t is the edge (t, h)."""
    head = ((1 + np.sqrt(1 + 8 * position.astype(np.float64))) / 2).astype(np.int64)
    # The square root may round across a whole number; one step back mends it.
    head -= head * (head - 1) // 2 > position
    head += (head + 1) * head // 2 <= position
    tail = position - head * (head - 1) // 2
    order = np.lexsort((head, tail))
    return np.stack((tail[order], head[order]))
