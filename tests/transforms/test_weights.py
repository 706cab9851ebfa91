import numpy as np
import pytest
import torch
from bad_input import refused
from hypothesis import given
from hypothesis import strategies as st
from strategies import edge_weights, graphs
from torch_geometric.data import Data

from cyclenet import AddRelevantCycles, AddShortestCycleBasis, CycleData
from cyclenet.topology import GraphError, edges_from_arcs
from cyclenet.transforms.weights import edge_weights as weights_of

# A triangle in both directions; the arcs of its edges (0, 1), (0, 2), (1, 2) are neighbours.
TRIANGLE = torch.tensor([[0, 1, 0, 2, 1, 2], [1, 0, 2, 0, 2, 1]])


def weighted(weights, edge_index=TRIANGLE):
    """The triangle with weights on its arcs, and its edges."""
    graph = CycleData(edge_index=edge_index, num_nodes=3, length=weights)
    return graph, edges_from_arcs(edge_index.numpy(), 3)


@st.composite
def weighted_arcs(draw):
    """A graph, one weight for each edge, and both arcs of every edge in any order."""
    edges, num_nodes = draw(graphs(edge_order="sorted"))
    weights = draw(edge_weights(edges.shape[1]))
    order = np.array(draw(st.permutations(range(2 * edges.shape[1]))), dtype=np.int64)
    arcs = np.concatenate((edges, edges[::-1]), axis=1)[:, order].reshape(2, -1)
    return edges, num_nodes, weights, arcs, np.tile(weights, 2)[order]


@given(weighted_arcs(), st.sampled_from(["raise", "mean"]))
def test_weights_on_both_arcs_are_the_weights_of_the_edges(drawn, reduce):
    _, num_nodes, weights, arcs, on_arcs = drawn
    graph = CycleData(
        edge_index=torch.from_numpy(arcs), num_nodes=num_nodes, w=torch.from_numpy(on_arcs)
    )
    found = edges_from_arcs(arcs, num_nodes)
    assert weights_of(graph, "w", found, reduce).tolist() == weights.tolist()


@given(st.lists(st.floats(0, 10), min_size=2, max_size=6), st.data())
def test_the_mean_of_arcs_that_disagree_does_not_depend_on_their_order(values, data):
    arcs = torch.zeros((2, len(values)), dtype=torch.long)
    arcs[1] = 1
    shuffled = data.draw(st.permutations(values))
    one, other = (
        weights_of(*_named(weighted(torch.tensor(w, dtype=torch.float64), arcs)), "mean")
        for w in (values, shuffled)
    )
    assert one.tolist() == other.tolist()
    assert one[0] == pytest.approx(np.mean(values), abs=1e-12)


def _named(pair):
    graph, found = pair
    return graph, "length", found


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int8, torch.long]
)
def test_weights_of_any_real_type_are_computed_in_float64(dtype):
    graph, found = weighted(torch.tensor([1, 1, 2, 2, 4, 4]).to(dtype))
    weights = weights_of(graph, "length", found)
    assert weights.dtype == np.float64 and weights.tolist() == [1.0, 2.0, 4.0]


@pytest.mark.parametrize("transform", [AddShortestCycleBasis, AddRelevantCycles])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.int32, torch.float64])
@pytest.mark.parametrize("asked", [torch.float32, torch.float64, torch.bfloat16])
def test_lengths_come_back_in_the_type_asked_for(transform, dtype, asked):
    graph, _ = weighted(torch.tensor([1, 1, 2, 2, 4, 4]).to(dtype))
    found = transform(weights="length", dtype=asked)(graph)
    assert found.cycle_length.dtype == asked
    assert found.cycle_length.tolist() == [7.0]


def test_weights_are_not_rounded_before_they_are_added():
    third = torch.full((6,), 1 / 3, dtype=torch.float64)
    found = AddShortestCycleBasis(weights="length", dtype=torch.float64)(weighted(third)[0])
    assert found.cycle_length.tolist() == [pytest.approx(1.0, abs=1e-15)]


@pytest.mark.parametrize("transform", [AddShortestCycleBasis, AddRelevantCycles])
def test_zero_weights_are_allowed(transform):
    graph, _ = weighted(torch.zeros(6))
    found = transform(weights="length")(graph)
    assert found.cycle_length.tolist() == [0.0] and found.unique.tolist() == [True]


def test_weights_decide_which_cycles_are_short():
    # Two triangles on the edge (0, 1), which is so heavy that both bases avoid it where they can.
    arcs = torch.tensor([[0, 0, 0, 1, 1], [1, 2, 3, 2, 3]])
    plain = Data(edge_index=arcs, num_nodes=4, length=torch.tensor([5.0, 1.0, 1.0, 1.0, 1.0]))
    assert AddShortestCycleBasis()(plain).cycle_length.tolist() == [3.0, 3.0]
    assert AddShortestCycleBasis(weights="length")(plain).cycle_length.tolist() == [4.0, 7.0]
    assert AddRelevantCycles(weights="length")(plain).cycle_length.tolist() == [4.0, 7.0, 7.0]


def test_weights_on_the_way_are_accepted_with_gradients_and_strides():
    values = torch.ones(6, 2, requires_grad=True)[:, 0]
    assert AddShortestCycleBasis(weights="length")(weighted(values)[0]).cycle_length.tolist() == [
        3.0
    ]


def test_a_dropped_loop_has_no_say():
    arcs = torch.cat((TRIANGLE, torch.tensor([[1], [1]])), dim=1)
    graph, found = weighted(torch.tensor([1.0] * 6 + [float("nan")]), arcs)
    assert weights_of(graph, "length", found).tolist() == [1.0, 1.0, 1.0]


ONES = torch.ones(6)
BAD_WEIGHTS = {
    "nan": (torch.tensor([1, 1, 1, 1, 1, float("nan")]), r"edge \(1, 2\) has nan", "weight_value"),
    "inf": (torch.tensor([1, 1, float("inf"), 1, 1, 1]), r"edge \(0, 2\) has inf", "weight_value"),
    "negative": (torch.tensor([-0.5, 1, 1, 1, 1, 1]), r"edge \(0, 1\) has -0.5", "weight_value"),
    "disagree": (
        torch.tensor([1, 1, 1, 2, 1, 1]), r"\(0, 2\) has 1.0 and 2.0; try: reduce='mean'",
        "weights_disagree",
    ),
    "too few": (ONES[:3], r"6 columns of `edge_index`, but its shape is \(3,\)", "weight_shape"),
    "a column": (ONES[:, None], r"\(6, 1\); try: .squeeze\(-1\)", "weight_shape"),
    "two columns": (torch.ones(6, 2), r"\(6, 2\)$", "weight_shape"),
    "missing": (None, r"`length` is None; .* has \['edge_index', 'num_nodes'\]", "weight_missing"),
    "a list": ([1.0] * 6, "`length` is list", "weight_missing"),
    "complex": (torch.ones(6, dtype=torch.complex64), "is torch.complex64;", "weight_missing"),
}  # fmt: skip


@pytest.mark.parametrize("transform", [AddShortestCycleBasis, AddRelevantCycles])
@pytest.mark.parametrize(("weights", "says", "code"), BAD_WEIGHTS.values(), ids=BAD_WEIGHTS)
def test_bad_weights_are_refused_with_their_edge(transform, weights, says, code):
    data = Data(edge_index=TRIANGLE, num_nodes=3)
    if weights is not None:
        data.length = weights
    with refused(GraphError, says, code):
        transform(weights="length")(data)


def test_arcs_that_disagree_may_be_averaged():
    graph, _ = weighted(torch.tensor([1, 1, 1, 2, 1, 1]))
    found = AddShortestCycleBasis(weights="length", reduce="mean")(graph)
    assert found.cycle_length.tolist() == [3.5]
