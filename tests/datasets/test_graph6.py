"""graph6: the reader and the writer are inverse, and nothing else gets through."""

import gzip

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples, graphs

from cyclenet.datasets import (
    DataFileError,
    Graph6Error,
    decode_graph6,
    encode_graph6,
    molecule_graphs,
    read_graph6,
    write_graph6,
)
from cyclenet.datasets.graph6 import HEADER, Graph6Graphs


@given(graphs(max_nodes=14, edge_order="sorted"))
def test_reading_undoes_writing(graph):
    edges, num_nodes = graph
    read = decode_graph6(encode_graph6(edges, num_nodes))
    assert read.num_nodes == num_nodes
    np.testing.assert_array_equal(read.edges, edges)


@given(st.binary(max_size=12).map(lambda raw: bytes(63 + byte % 64 for byte in raw)))
@examples(500, 50_000)
def test_writing_undoes_reading_of_whatever_is_accepted(line):
    try:
        graph = decode_graph6(line)
    except Graph6Error:
        return
    assert encode_graph6(*graph) == line


@given(graphs(max_nodes=14, edge_order="sorted"))
def test_networkx_reads_and_writes_the_same(graph):
    edges, num_nodes = graph
    line = encode_graph6(edges, num_nodes)
    if num_nodes:
        theirs = nx.from_graph6_bytes(line)
        assert {tuple(sorted(edge)) for edge in theirs.edges} == set(
            zip(*edges.tolist(), strict=True)
        )
        assert nx.to_graph6_bytes(theirs, header=False).rstrip() == line


def test_the_triangle_by_hand():
    # n = 3 is byte 66 "B"; bits 111 and padding 000 are 56 + 63 = 119 "w".
    assert encode_graph6(np.array([[0, 0, 1], [1, 2, 2]]), 3) == b"Bw"


@pytest.mark.parametrize("num_nodes", [0, 1, 2, 62, 63, 64, 1000])
def test_the_node_count_takes_one_or_four_bytes(num_nodes):
    nothing = np.zeros((2, 0), dtype=np.int64)
    line = encode_graph6(nothing, num_nodes)
    head = 1 if num_nodes <= 62 else 4
    assert len(line) == head + -(-(num_nodes * (num_nodes - 1) // 2) // 6)
    assert decode_graph6(line).num_nodes == num_nodes


def test_header_crlf_and_blank_lines_are_accepted():
    graphs = Graph6Graphs(HEADER + b"Bw\r\n\r\n\n" + HEADER + b"\n" + HEADER + b"A_\n")
    assert [graph.num_nodes for graph in graphs] == [3, 2]


@pytest.mark.parametrize(
    ("line", "reason", "offset"),
    [
        (b"", "node count", 0),
        (b"B", "takes 1 bytes", 1),
        (b"Bww", "takes 1 bytes", 2),
        (b"B ", "byte 32", 1),
        (b"B\xff", "byte 255", 1),
        (b"Bx", "padding", 1),
        (b"~??B?", "shortest form", 0),
        (b"~??", "4 bytes of node count", 3),
        (b"~~?????B?", "shortest form", 0),
        (b"~~~~~~~~", "takes", 8),
        (HEADER + b"Bww", "takes 1 bytes", 12),
    ],
)
def test_garbage_is_refused_with_reason_and_place(line, reason, offset):
    with pytest.raises(Graph6Error, match=reason) as caught:
        decode_graph6(line)
    assert caught.value.byte_offset == offset


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (b":An", "sparse6"),
        (b">>sparse6<<:An", "sparse6"),
        (b";An", "incremental sparse6"),
        (b"&AG", "digraph6"),
        (b">>digraph6<<&AG", "digraph6"),
    ],
)
def test_other_formats_are_named(line, name):
    with pytest.raises(Graph6Error, match=f"this line is {name}"):
        decode_graph6(line)


def test_the_error_names_line_and_byte_of_the_file(tmp_path):
    path = tmp_path / "bad.g6"
    path.write_bytes(b"Bw\r\n\nB w\n")
    graphs = read_graph6(path)
    assert graphs[0].num_nodes == 3
    with pytest.raises(Graph6Error) as caught:
        graphs[1]
    assert (caught.value.line, caught.value.byte_offset) == (3, 6)
    assert caught.value.where == f"{path}, line 3"
    assert "byte offset 6" in str(caught.value)


def test_a_claimed_size_is_not_believed():
    # 2^36 - 1 nodes would take 2^71 bits: refused from the length alone.
    with pytest.raises(Graph6Error, match="68719476735 nodes"):
        decode_graph6(b"~~~~~~~~??")


@pytest.mark.parametrize("edges", [[[0], [0]], [[1], [0]], [[0], [3]], [[-1], [1]]])
def test_what_graph6_cannot_say_is_not_written(edges):
    with pytest.raises(ValueError, match="tail < head"):
        encode_graph6(np.array(edges), 3)


def test_mutated_bytes_give_only_our_errors():
    rng = np.random.default_rng(0)
    seeds = [encode_graph6(*molecule_graphs()[i]) for i in range(20)] + [b"~?@B", b"~~?????B"]
    for _ in range(2000):
        line = bytearray(seeds[rng.integers(len(seeds))])
        for _ in range(rng.integers(1, 6)):
            place = int(rng.integers(len(line) + 1))
            line[place : place + int(rng.integers(2))] = bytes(rng.integers(0, 256, 1).tolist())
        try:
            for graph in Graph6Graphs(bytes(line)):
                assert graph.edges.shape[1] <= 8 * len(line)
        except Graph6Error as error:
            assert 0 <= error.byte_offset <= len(line)


def test_files_round_trip_plain_and_compressed(tmp_path):
    some = [molecule_graphs()[i] for i in range(3)]
    plain, packed = tmp_path / "a.g6", tmp_path / "a.g6.gz"
    write_graph6(plain, some)
    packed.write_bytes(gzip.compress(plain.read_bytes(), mtime=0))
    for path in (plain, packed):
        for read, wrote in zip(read_graph6(path), some, strict=True):
            np.testing.assert_array_equal(read.edges, wrote.edges)
            assert read.num_nodes == wrote.num_nodes


@pytest.mark.parametrize("damage", ["not gzip", "cut", "flipped"])
def test_damaged_gzip_is_told(tmp_path, damage):
    whole = bytearray(gzip.compress(b"Bw\n" * 50, mtime=0))
    if damage == "cut":
        whole = whole[:-9]
    elif damage == "flipped":
        whole[len(whole) // 2] ^= 255
    path = tmp_path / "bad.g6.gz"
    path.write_bytes(b"Bw\n" if damage == "not gzip" else whole)
    with pytest.raises(DataFileError, match="expected gzip data"):
        read_graph6(path)
