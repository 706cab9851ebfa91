import threading

import named_graphs
import numpy as np
import pytest
from bad_input import refused
from hypothesis import given
from hypothesis import strategies as st
from strategies import batches, examples, packed

from cyclenet.topology import GraphError
from cyclenet.topology.packed import check_packed_edges, in_threads


@given(batches())
@examples(200, 20_000)
def test_good_graphs_come_back_as_they_are(batch):
    edges, edge_ptr, num_nodes = packed(batch)
    found, ptr, nodes = check_packed_edges(edges, edge_ptr, num_nodes)
    np.testing.assert_array_equal(found, edges)
    assert ptr.tolist() == edge_ptr.tolist()
    assert nodes.tolist() == [count for _, count in batch]
    assert found.dtype == ptr.dtype == nodes.dtype == np.int64


def test_one_number_of_nodes_may_serve_all_graphs():
    edges, edge_ptr, _ = packed([named_graphs.cycle(3), named_graphs.theta()])
    _, _, nodes = check_packed_edges(edges, edge_ptr, 4)
    assert nodes.tolist() == [4, 4]


def test_the_same_edge_in_two_graphs_is_no_repeat():
    edges, edge_ptr, num_nodes = packed([named_graphs.cycle(3)] * 3)
    check_packed_edges(edges, edge_ptr, num_nodes)


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.uint8])
def test_narrow_integers_are_widened(dtype):
    edges, edge_ptr, num_nodes = packed([named_graphs.cycle(3), named_graphs.theta()])
    found, ptr, nodes = check_packed_edges(
        edges.astype(dtype), edge_ptr.astype(dtype), num_nodes.astype(dtype)
    )
    assert found.dtype == ptr.dtype == nodes.dtype == np.int64


@pytest.mark.parametrize(
    ("bad", "num_nodes", "code", "column"),
    [
        ([[0, 1], [1, 1]], 3, "self_loop", 1),
        ([[0, 2], [1, 1]], 3, "reversed_edge", 1),
        ([[0, 1, 0], [1, 2, 1]], 3, "repeated_edge", 2),
        ([[0, 1], [1, 3]], 3, "node_out_of_range", 1),
        ([[0, -1], [1, 1]], 3, "node_out_of_range", 1),
    ],
    ids=["loop", "reversed", "repeated", "missing node", "negative node"],
)
@pytest.mark.parametrize("place", [0, 1, 3])
def test_errors_name_the_graph_and_the_column_in_it(bad, num_nodes, code, column, place):
    batch = [named_graphs.theta(), named_graphs.path(1), named_graphs.cycle(3)]
    batch.insert(place, (np.array(bad), num_nodes))
    batch.insert(place + 1, (np.array(bad), num_nodes))
    with refused(GraphError, "edges", code) as caught:
        check_packed_edges(*packed(batch))
    assert (caught.value.graph_index, caught.value.column) == (place, column)


@pytest.mark.parametrize("ptr", [[0, 2], [1, 3], [0, 2, 1, 3], [], [0]])
def test_pointers_that_do_not_fit_are_refused(ptr):
    edges, _ = named_graphs.cycle(3)
    with refused(GraphError, "from 0 to the number of edges, 3", "edge_ptr"):
        check_packed_edges(edges, np.array(ptr, dtype=np.int64), 3)


@pytest.mark.parametrize("place", [1, 2], ids=["edge_ptr", "num_nodes"])
def test_counts_that_are_no_whole_numbers_are_refused_and_not_rounded(place):
    arguments = list(packed([named_graphs.cycle(3)]))
    arguments[place] = arguments[place] + 0.5
    with refused(TypeError, "must hold whole numbers, but its dtype is float64"):
        check_packed_edges(*arguments)


def test_pointers_in_a_table_are_refused():
    edges, _ = named_graphs.cycle(3)
    with refused(GraphError, r"one row of numbers, but its shape is \(1, 2\)", "edge_ptr"):
        check_packed_edges(edges, np.array([[0, 3]]), 3)


def test_edges_that_are_no_integers_are_refused():
    edges, num_nodes = named_graphs.cycle(3)
    with refused(TypeError, "float64"):
        check_packed_edges(edges.astype(float), np.array([0, 3]), num_nodes)


def test_edges_of_the_wrong_shape_are_refused():
    edges, num_nodes = named_graphs.theta()
    with refused(GraphError, r"try: edges\.T", "edges_shape"):
        check_packed_edges(edges.T, np.array([0, 5]), num_nodes)


@pytest.mark.parametrize("counts", [[3, 3], [], [[3]]])
def test_a_number_of_nodes_for_each_graph_is_asked_for(counts):
    edges, _ = named_graphs.cycle(3)
    with refused(GraphError, "num_nodes", "num_nodes"):
        check_packed_edges(edges, np.array([0, 3]), np.array(counts, dtype=np.int64))


def test_a_negative_number_of_nodes_is_refused_with_its_graph():
    with refused(GraphError, "must not be negative", "num_nodes") as caught:
        check_packed_edges(np.zeros((2, 0), int), np.zeros(3, int), np.array([2, -1]))
    assert caught.value.graph_index == 1


@given(st.lists(st.integers(0, 30), max_size=40), st.integers(1, 5))
@examples(100, 5000)
def test_ranges_cover_the_graphs_in_order_whatever_the_number_of_threads(sizes, num_threads):
    edge_ptr = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    parts = in_threads(lambda first, last: list(range(first, last)), edge_ptr, num_threads)
    assert [i for part in parts for i in part] == list(range(len(sizes)))


def test_one_thread_is_the_thread_of_the_caller():
    assert in_threads(lambda *_: threading.get_ident(), np.array([0, 3]), 1) == [
        threading.get_ident()
    ]


def test_ranges_hold_about_the_same_number_of_edges():
    edge_ptr = np.arange(0, 30_001, 10)
    parts = in_threads(lambda first, last: int(edge_ptr[last] - edge_ptr[first]), edge_ptr, 2)
    assert sum(parts) == 30_000 and max(parts) - min(parts) <= 10


def test_what_a_thread_raises_reaches_the_caller():
    def work(first, last):
        raise GraphError("`edges` must be so", code="some_code")

    with pytest.raises(GraphError, match="must be so"):
        in_threads(work, np.array([0, 1]), 2)
