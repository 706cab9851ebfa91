import numpy as np
import pytest
from bad_input import refused
from hypothesis import given
from hypothesis import strategies as st
from strategies import arcs_of, examples, graphs, multigraphs, relabellings

from cyclenet.topology import GraphError, edges_from_arcs
from cyclenet.topology.edges import check_edges, check_weights


def arcs_back(found):
    """The arcs that edges and signs describe; columns of -1 for arcs without an edge."""
    ends = np.full((2, found.arc_sign.size), -1, dtype=np.int64)
    has_edge = found.arc_sign != 0
    ends[:, has_edge] = found.edges[:, found.arc_to_edge[has_edge]]
    against = found.arc_sign < 0
    ends[:, against] = ends[::-1, against]
    return ends


@st.composite
def any_arcs(draw, max_nodes=6, max_arcs=14):
    """Arcs with loops, copies and missing reverses."""
    num_nodes = draw(st.integers(0, max_nodes))
    node = st.integers(0, max(num_nodes - 1, 0))
    columns = draw(st.lists(st.tuples(node, node), max_size=max_arcs if num_nodes else 0))
    return np.array(columns, dtype=np.int64).reshape(-1, 2).T, num_nodes


# Arcs to edges


def test_a_path_stored_in_both_directions_has_two_edges():
    found = edges_from_arcs(np.array([[1, 0, 2, 1], [0, 1, 1, 2]]), 3)
    assert found.edges.tolist() == [[0, 1], [1, 2]]
    assert found.arc_to_edge.tolist() == [0, 0, 1, 1]
    assert found.arc_sign.tolist() == [-1, 1, -1, 1]
    assert (found.num_loops, found.num_repeated) == (0, 0)


@given(any_arcs(), st.sampled_from(["merge", "distinct"]))
def test_edges_with_signs_give_the_arcs_back(drawn, multi_edges):
    arcs, num_nodes = drawn
    found = edges_from_arcs(arcs, num_nodes, self_loops="cycle", multi_edges=multi_edges)
    np.testing.assert_array_equal(arcs_back(found), arcs)


@given(any_arcs(), st.sampled_from(["merge", "distinct"]))
def test_dropped_loops_are_the_only_arcs_without_an_edge(drawn, multi_edges):
    arcs, num_nodes = drawn
    found = edges_from_arcs(arcs, num_nodes, multi_edges=multi_edges)
    loops = arcs[0] == arcs[1]
    np.testing.assert_array_equal(found.arc_sign == 0, loops)
    np.testing.assert_array_equal(arcs_back(found)[:, ~loops], arcs[:, ~loops])
    assert found.num_loops == loops.sum()
    assert not found.arc_to_edge[loops].any()


@given(any_arcs())
def test_merged_edges_are_canonical(drawn):
    arcs, num_nodes = drawn
    edges = edges_from_arcs(arcs, num_nodes).edges
    expected = sorted({(min(a, b), max(a, b)) for a, b in arcs.T.tolist() if a != b})
    assert edges.T.tolist() == [list(pair) for pair in expected]
    check_edges(edges, num_nodes)


@given(graphs(edge_order="sorted").flatmap(lambda g: st.tuples(st.just(g), arcs_of(g[0]))))
def test_a_graph_in_arcs_of_any_order_is_found_again(drawn):
    (edges, num_nodes), arcs = drawn
    found = edges_from_arcs(arcs, num_nodes, multi_edges="raise", directed="raise")
    np.testing.assert_array_equal(found.edges, edges)


@given(
    graphs(edge_order="sorted").flatmap(
        lambda g: st.tuples(st.just(g), arcs_of(g[0], both_directions=False))
    )
)
def test_one_direction_is_enough(drawn):
    (edges, num_nodes), arcs = drawn
    np.testing.assert_array_equal(edges_from_arcs(arcs, num_nodes).edges, edges)


@given(multigraphs(), st.data())
def test_distinct_copies_are_paired_one_to_one(drawn, data):
    edges, num_nodes = drawn
    proper = edges[0] != edges[1]
    arcs = np.concatenate((edges, edges[::-1, proper]), axis=1)
    arcs = arcs[:, data.draw(st.permutations(range(arcs.shape[1])))].reshape(2, -1)
    found = edges_from_arcs(
        arcs, num_nodes, self_loops="cycle", multi_edges="distinct", directed="raise"
    )
    assert sorted(found.edges.T.tolist()) == sorted(edges.T.tolist())
    loops = found.edges[0] == found.edges[1]
    for sign, expected in ((1, np.ones(loops.size)), (-1, ~loops)):
        uses = np.bincount(found.arc_to_edge[found.arc_sign == sign], minlength=loops.size)
        np.testing.assert_array_equal(uses, expected)


@given(any_arcs(), st.data())
def test_the_order_of_arcs_permutes_the_way_back_and_nothing_else(drawn, data):
    arcs, num_nodes = drawn
    order = data.draw(st.permutations(range(arcs.shape[1])))
    one = edges_from_arcs(arcs, num_nodes)
    other = edges_from_arcs(arcs[:, order].reshape(2, -1), num_nodes)
    np.testing.assert_array_equal(one.edges, other.edges)
    np.testing.assert_array_equal(one.arc_to_edge[order], other.arc_to_edge)
    np.testing.assert_array_equal(one.arc_sign[order], other.arc_sign)
    assert one[3:] == other[3:]


@given(any_arcs().flatmap(lambda drawn: st.tuples(st.just(drawn), relabellings(drawn[1]))))
def test_relabelling_the_nodes_relabels_the_edges(drawn):
    (arcs, num_nodes), names = drawn
    one = edges_from_arcs(arcs, num_nodes)
    other = edges_from_arcs(names[arcs].reshape(2, -1), num_nodes)
    has_edge = one.arc_sign != 0
    np.testing.assert_array_equal(other.arc_sign != 0, has_edge)
    renamed = np.sort(names[one.edges].reshape(2, -1), axis=0)
    np.testing.assert_array_equal(
        renamed[:, one.arc_to_edge[has_edge]], other.edges[:, other.arc_to_edge[has_edge]]
    )


@given(any_arcs())
def test_repeated_arcs_are_counted_with_their_direction(drawn):
    arcs, num_nodes = drawn
    expected = arcs.shape[1] - len({tuple(arc) for arc in arcs.T.tolist()})
    assert edges_from_arcs(arcs, num_nodes).num_repeated == expected


def test_parallel_arcs_are_one_edge_or_several_as_asked():
    arcs = np.array([[0, 1, 0, 1, 0], [1, 0, 1, 0, 1]])
    merged = edges_from_arcs(arcs, 2)
    assert merged.edges.tolist() == [[0], [1]]
    assert merged.num_repeated == 3
    distinct = edges_from_arcs(arcs, 2, multi_edges="distinct")
    assert distinct.edges.tolist() == [[0, 0, 0], [1, 1, 1]]
    assert distinct.arc_to_edge.tolist() == [0, 0, 1, 1, 2]


def test_a_kept_loop_is_an_edge_from_a_node_to_itself():
    found = edges_from_arcs(np.array([[1, 0], [1, 1]]), 2, self_loops="cycle")
    assert found.edges.tolist() == [[0, 1], [1, 1]]
    assert found.arc_sign.tolist() == [1, 1]


@pytest.mark.parametrize("num_nodes", [0, 1, 3])
def test_no_arcs_is_no_edges(num_nodes):
    found = edges_from_arcs(np.zeros((2, 0), dtype=np.int64), num_nodes)
    assert found.edges.shape == (2, 0)
    assert found.arc_to_edge.shape == found.arc_sign.shape == (0,)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.uint8, np.uint32, np.int64])
def test_ids_of_any_width_are_accepted_and_widened(dtype):
    found = edges_from_arcs(np.array([[0, 100], [100, 3]], dtype=dtype), 101)
    assert found.edges.tolist() == [[0, 3], [100, 100]]
    assert found.edges.dtype == found.arc_to_edge.dtype == np.int64


def test_arcs_are_not_changed():
    arcs = np.array([[2, 1, 0], [1, 2, 0]])
    arcs.setflags(write=False)
    edges_from_arcs(arcs, 3)
    assert arcs.tolist() == [[2, 1, 0], [1, 2, 0]]


PATH = np.array([[0, 1], [1, 2]])


@pytest.mark.parametrize(
    ("arcs", "num_nodes", "options", "kind", "code", "says"),
    [
        (np.array([[0, 3], [1, 1]]), 3, {}, GraphError, "node_out_of_range", r"1 is \(3, 1\)"),
        (np.array([[0, -1], [1, 1]]), 3, {}, GraphError, "node_out_of_range", r"\(-1, 1\)"),
        (
            np.array([[0], [2**63]], dtype=np.uint64), 3, {}, GraphError, "node_out_of_range",
            r"\(0, 9223372036854775808\)",
        ),
        (PATH, -1, {}, GraphError, "num_nodes", "-1"),
        (PATH.astype(float), 3, {}, TypeError, None, "float64"),
        (PATH.astype(bool), 3, {}, TypeError, None, "bool"),
        (np.array([["a"], ["b"]]), 3, {}, TypeError, None, "<U1"),
        (np.zeros((3, 2), int), 3, {}, GraphError, "edges_shape", r"\(3, 2\); try: arcs.T"),
        (np.zeros(4, int), 3, {}, GraphError, "edges_shape", r"\(4,\)"),
        (np.zeros((1, 2, 2), int), 3, {}, GraphError, "edges_shape", r"\(1, 2, 2\)"),
        (np.array([[1], [1]]), 3, {"self_loops": "raise"}, GraphError, "self_loop", r"\(1, 1\)"),
        (PATH[:, [0, 0]], 3, {"multi_edges": "raise"}, GraphError, "repeated_edge", "column 1"),
        (PATH, 3, {"directed": "raise"}, GraphError, "one_direction", r"column 0 \(0, 1\)"),
        (PATH, 3, {"self_loops": "keep"}, ValueError, None, "'drop', 'raise', 'cycle'.*'keep'"),
        (PATH, 3, {"multi_edges": "keep"}, ValueError, None, "'keep'"),
        (PATH, 3, {"directed": "keep"}, ValueError, None, "'keep'"),
    ],
    ids=[
        "node above n", "negative node", "node above int64", "negative n", "float", "bool", "text",
        "(m, 2)", "flat", "three dimensions", "loop", "copy", "one direction", "unknown self_loops",
        "unknown multi_edges", "unknown directed",
    ],
)  # fmt: skip
def test_bad_arcs_are_refused_by_name(arcs, num_nodes, options, kind, code, says):
    with refused(kind, says, code):
        edges_from_arcs(arcs, num_nodes, **options)


def test_errors_use_the_callers_word_for_arcs():
    with refused(GraphError, "`edge_index` must name nodes"):
        edges_from_arcs(np.array([[0], [9]]), 3, name="edge_index")


# Edges that are given


@given(graphs())
def test_sound_edges_pass_unchanged(graph):
    edges, num_nodes = graph
    np.testing.assert_array_equal(check_edges(edges, num_nodes), edges)


@given(multigraphs())
def test_loops_and_copies_pass_where_they_are_allowed(graph):
    edges, num_nodes = graph
    checked = check_edges(edges, num_nodes, self_loops="cycle", multi_edges="distinct")
    np.testing.assert_array_equal(checked, edges)


@pytest.mark.parametrize(
    ("edges", "column", "code", "says"),
    [
        (np.array([[1], [0]]), 0, "reversed_edge", r"column 0 is \(1, 0\)"),
        (np.array([[0, 1], [1, 1]]), 1, "self_loop", r"column 1 is the loop \(1, 1\)"),
        (np.array([[0, 1, 0], [1, 2, 1]]), 2, "repeated_edge", r"\(0, 1\) appears again"),
        (np.array([[0], [3]]), 0, "node_out_of_range", "0 to 2"),
    ],
    ids=["reversed", "loop", "copy", "node above n"],
)
def test_bad_edges_are_refused_with_their_column(edges, column, code, says):
    with refused(GraphError, says, code) as caught:
        check_edges(edges, 3)
    assert caught.value.column == column


def test_unknown_policies_for_edges_are_refused():
    with refused(ValueError, "'drop'"):
        check_edges(PATH, 3, self_loops="drop")
    with refused(ValueError, "'merge'"):
        check_edges(PATH, 3, multi_edges="merge")


# Weights


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32, np.uint8])
def test_weights_of_any_real_type_become_float64(dtype):
    weights = check_weights(np.array([0, 2], dtype=dtype), 2)
    assert weights.dtype == np.float64
    assert weights.tolist() == [0.0, 2.0]


@pytest.mark.parametrize(
    ("weights", "code", "says"),
    [
        ([1.0, float("nan")], "weight_value", "edge 1 has nan"),
        ([float("inf"), 1.0], "weight_value", "edge 0 has inf"),
        ([1.0, -0.5], "weight_value", "edge 1 has -0.5"),
        ([1.0], "weight_shape", r"\(1,\)"),
        ([[1.0, 2.0]], "weight_shape", r"\(1, 2\)"),
    ],
    ids=["nan", "inf", "negative", "too few", "two dimensions"],
)
def test_bad_weights_are_refused_with_their_edge(weights, code, says):
    with refused(GraphError, f"`lengths`.*{says}", code):
        check_weights(weights, 2, name="lengths")


@given(any_arcs())
@examples(20, 200)
def test_the_same_arcs_give_the_same_bytes(drawn):
    arcs, num_nodes = drawn
    one, other = edges_from_arcs(arcs, num_nodes), edges_from_arcs(arcs.copy(order="F"), num_nodes)
    for a, b in zip(one[:3], other[:3], strict=True):
        assert a.tobytes() == b.tobytes() and a.dtype == b.dtype
