import named_graphs
import numpy as np
import pytest
import torch
from bad_input import refused
from hypothesis import given
from hypothesis import strategies as st
from oracles import (
    arc_projector_by_svd,
    dense_incidence,
    lexicographic_shortest_basis,
    projector_by_svd,
    relevant_cycles_brute_force,
)
from strategies import arcs_of, examples, graphs, relabellings
from torch_geometric.data import Data

from cyclenet import AddCycleProjector, AddRelevantCycles, AddShortestCycleBasis
from cyclenet.topology import GraphError, TooLargeError, TooManyCycles, betti_number


def both_directions(graph):
    """A graph of `named_graphs` as PyG holds it."""
    edges, num_nodes = graph
    arcs = np.concatenate((edges, edges[::-1]), axis=1)
    return Data(edge_index=torch.from_numpy(arcs), num_nodes=num_nodes)


def drawn_graphs(max_nodes=7):
    """A graph, its arcs in any order, and new names for its nodes."""
    return graphs(max_nodes, edge_order="sorted").flatmap(
        lambda graph: st.tuples(st.just(graph), arcs_of(graph[0]), relabellings(graph[1]))
    )


def as_data(arcs, num_nodes):
    return Data(edge_index=torch.from_numpy(arcs), num_nodes=num_nodes)


def cycles_of(data):
    """The edges of each cycle as a sorted tuple of node pairs."""
    pairs = [tuple(pair) for pair in data.edges.t().tolist()]
    cycles = [[] for _ in range(int(data.num_cycles))]
    for edge, cycle in data.cycle_incidence.t().tolist():
        cycles[cycle].append(pairs[edge])
    return [tuple(sorted(cycle)) for cycle in cycles]


def dense_projector(data):
    """P from its pairs, zero elsewhere."""
    matrix = torch.zeros(data.edges.size(1), data.edges.size(1), dtype=data.pair_projector.dtype)
    matrix[data.pair_edges[0], data.pair_edges[1]] = data.pair_projector
    return matrix.numpy()


def assert_one_closed_walk(pairs):
    """The node pairs form one closed walk that visits no node twice."""
    neighbours = {}
    for a, b in pairs:
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    assert all(len(around) == 2 for around in neighbours.values())
    seen, node = set(), pairs[0][0]
    while node is not None:
        seen.add(node)
        node = next((other for other in neighbours[node] if other not in seen), None)
    assert seen == neighbours.keys()


# Cycles are where they claim to be


@given(drawn_graphs())
@examples(100, 5_000)
@pytest.mark.parametrize("transform", [AddShortestCycleBasis(), AddRelevantCycles()])
def test_every_cycle_is_a_closed_walk_on_the_arcs_it_names(transform, drawn):
    (_, num_nodes), arcs, names = drawn
    data = transform(as_data(names[arcs].reshape(2, -1), num_nodes))
    assert data.validate()
    for cycle in cycles_of(data):
        assert_one_closed_walk(cycle)
        assert all((a, b) in set(map(tuple, data.edge_index.t().tolist())) for a, b in cycle)
    columns = np.zeros((data.edges.size(1), int(data.num_cycles)), dtype=int)
    columns[tuple(data.cycle_incidence.numpy())] = data.cycle_sign.numpy()
    assert not (dense_incidence(data.edges.numpy(), num_nodes) @ columns).any()
    assert (columns[data.cycle_incidence[0], data.cycle_incidence[1]] != 0).all()


@given(drawn_graphs())
@examples(100, 5_000)
def test_the_basis_is_the_first_shortest_one(drawn):
    (edges, num_nodes), arcs, _ = drawn
    data = AddShortestCycleBasis()(as_data(arcs, num_nodes))
    pairs = [tuple(pair) for pair in edges.T.tolist()]
    expected = [
        tuple(pairs[edge] for edge in cycle)
        for cycle in lexicographic_shortest_basis(edges, num_nodes)
    ]
    assert cycles_of(data) == expected
    assert data.cycle_length.tolist() == [len(cycle) for cycle in expected]
    num_relevant = len(relevant_cycles_brute_force(edges, num_nodes))
    assert data.num_cycles.tolist() == [betti_number(edges, num_nodes)]
    assert data.num_relevant.tolist() == [num_relevant]
    assert data.unique.tolist() == [num_relevant == len(expected)]


@given(drawn_graphs())
@examples(100, 5_000)
def test_relabelling_permutes_the_relevant_cycles(drawn):
    (_, num_nodes), arcs, names = drawn
    one = AddRelevantCycles()(as_data(arcs, num_nodes))
    other = AddRelevantCycles()(as_data(names[arcs].reshape(2, -1), num_nodes))
    renamed = {
        tuple(sorted((min(names[a], names[b]), max(names[a], names[b])) for a, b in cycle))
        for cycle in cycles_of(one)
    }
    assert renamed == set(cycles_of(other))
    assert one.cycle_length.tolist() == other.cycle_length.tolist()
    assert torch.equal(one.num_relevant, other.num_relevant)
    assert torch.equal(one.unique, other.unique)


@given(drawn_graphs(), st.data())
@examples(60, 1_000)
@pytest.mark.parametrize(
    "transform", [AddShortestCycleBasis(), AddRelevantCycles(), AddCycleProjector()]
)
def test_the_order_of_arcs_changes_nothing_but_the_way_back(transform, drawn, data):
    (_, num_nodes), arcs, _ = drawn
    order = torch.tensor(data.draw(st.permutations(range(arcs.shape[1]))), dtype=torch.long)
    one = transform(as_data(arcs, num_nodes))
    other = transform(as_data(arcs[:, order].reshape(2, -1), num_nodes))
    for name in set(one.keys()) - {"edge_index", "num_nodes", "arc_to_edge", "arc_sign"}:
        assert torch.equal(one[name], other[name]), name
    assert torch.equal(one.arc_to_edge[order], other.arc_to_edge)
    assert torch.equal(one.arc_sign[order], other.arc_sign)


@pytest.mark.parametrize(
    ("graph", "num_cycles", "num_relevant"),
    [
        (named_graphs.cycle(6), 1, 1),
        (named_graphs.bicyclo_222_octane(), 2, 3),
        (named_graphs.theta(), 2, 2),
        (named_graphs.bowtie(), 2, 2),
        (named_graphs.grid(3, 3), 4, 4),
        (named_graphs.complete(4), 3, 4),
        (named_graphs.diamond_ring(3), 4, 11),
        (named_graphs.path(4), 0, 0),
    ],
    ids=[
        "benzene", "bicyclo[2.2.2]octane", "theta", "bowtie", "grid", "K4", "diamond ring", "path",
    ],
)  # fmt: skip
def test_known_graphs_have_a_unique_basis_or_not(graph, num_cycles, num_relevant):
    basis = AddShortestCycleBasis()(both_directions(graph))
    relevant = AddRelevantCycles()(both_directions(graph))
    assert basis.num_cycles.tolist() == [num_cycles]
    assert relevant.num_cycles.tolist() == [num_relevant]
    for data in (basis, relevant):
        assert data.num_relevant.tolist() == [num_relevant]
        assert data.unique.tolist() == [num_cycles == num_relevant]
        assert data.num_relevant.dtype == torch.long and data.unique.dtype == torch.bool
    if num_cycles == num_relevant:
        assert torch.equal(basis.cycle_incidence, relevant.cycle_incidence)
        assert torch.equal(basis.cycle_sign, relevant.cycle_sign)


def test_the_square_by_hand():
    data = AddShortestCycleBasis()(both_directions(named_graphs.cycle(4)))
    assert data.edges.tolist() == [[0, 0, 1, 2], [1, 3, 2, 3]]
    assert data.cycle_incidence.tolist() == [[0, 1, 2, 3], [0, 0, 0, 0]]
    assert data.cycle_sign.tolist() == [1, -1, 1, 1]
    assert data.cycle_length.tolist() == [4.0]


def test_an_ambiguous_basis_may_be_refused():
    strict = AddShortestCycleBasis(on_ambiguous="raise")
    assert strict(both_directions(named_graphs.theta())).unique.tolist() == [True]
    with refused(GraphError, "3 cycles lie in some .* has 2; try: AddRelevant", "ambiguous_basis"):
        strict(both_directions(named_graphs.bicyclo_222_octane()))


def test_close_lengths_may_count_as_equal():
    # Three paths between two nodes, all different by a hair: ties or not, as one likes.
    edges, num_nodes = named_graphs.bicyclo_222_octane()
    data = both_directions((edges, num_nodes))
    weights = torch.ones(edges.shape[1], dtype=torch.float64)
    weights[:2] += torch.tensor([1e-9, 2e-9], dtype=torch.float64)
    data.w = weights.repeat(2)
    assert AddShortestCycleBasis(weights="w")(data).unique.tolist() == [True]
    assert AddShortestCycleBasis(weights="w", weight_tol=1e-6)(data).unique.tolist() == [False]


def test_too_many_relevant_cycles_are_refused_before_they_are_listed():
    many = both_directions(named_graphs.diamond_ring(30))
    with refused(TooManyCycles, "`max_cycles` = 100000 .*1073741854", "too_many_cycles"):
        AddRelevantCycles()(many)
    assert AddShortestCycleBasis()(many).num_relevant.tolist() == [30 + 2**30]
    few = both_directions(named_graphs.diamond_ring(3))
    with refused(TooManyCycles, "= 10 .*11"):
        AddRelevantCycles(max_cycles=10)(few)
    assert AddRelevantCycles(max_cycles=11)(few).num_cycles.tolist() == [11]


def test_a_kept_loop_is_a_cycle_of_length_one():
    data = Data(edge_index=torch.tensor([[0, 1, 1], [1, 0, 1]]), num_nodes=2)
    for transform in (AddShortestCycleBasis, AddRelevantCycles):
        found = transform(self_loops="cycle")(data)
        assert cycles_of(found) == [((1, 1),)]
        assert found.cycle_length.tolist() == [1.0] and found.unique.tolist() == [True]


def test_distinct_parallel_edges_are_cycles_of_length_two():
    data = Data(edge_index=torch.tensor([[0, 0, 0], [1, 1, 1]]), num_nodes=2)
    basis = AddShortestCycleBasis(multi_edges="distinct")(data)
    assert basis.cycle_incidence.tolist() == [[0, 1, 0, 2], [0, 0, 1, 1]]
    assert basis.cycle_sign.tolist() == [1, -1, 1, -1]
    assert basis.unique.tolist() == [False]
    assert AddRelevantCycles(multi_edges="distinct")(data).num_cycles.tolist() == [3]


# The projector


@given(drawn_graphs())
@examples(100, 5_000)
@pytest.mark.parametrize("pairs", ["blocks", "graph"])
def test_the_pairs_carry_the_whole_projector(pairs, drawn):
    (edges, num_nodes), arcs, _ = drawn
    data = AddCycleProjector(pairs=pairs, dtype=torch.float64)(as_data(arcs, num_nodes))
    np.testing.assert_allclose(dense_projector(data), projector_by_svd(edges, num_nodes), atol=1e-9)


@given(drawn_graphs())
@examples(100, 5_000)
def test_the_pairs_are_those_of_one_block(drawn):
    (edges, num_nodes), arcs, _ = drawn
    data = AddCycleProjector()(as_data(arcs, num_nodes))
    cycles = [set(cycle) for cycle in lexicographic_shortest_basis(edges, num_nodes)]
    together = {(a, b) for cycle in cycles for a in cycle for b in cycle}
    while True:  # blocks are what is left when cycles that share an edge are merged
        wider = together | {(a, d) for a, b in together for c, d in together if b == c}
        if wider == together:
            break
        together = wider
    assert sorted(map(tuple, data.pair_edges.t().tolist())) == sorted(together)


@given(drawn_graphs())
@examples(100, 5_000)
def test_relabelling_permutes_the_absolute_projector(drawn):
    (edges, num_nodes), arcs, names = drawn
    add = AddCycleProjector(dtype=torch.float64)
    one, other = add(as_data(arcs, num_nodes)), add(as_data(names[arcs].reshape(2, -1), num_nodes))
    place = {tuple(pair): i for i, pair in enumerate(other.edges.t().tolist())}
    moved = [place[tuple(sorted(names[[a, b]].tolist()))] for a, b in edges.T.tolist()]
    flips = np.where(names[edges[0]] < names[edges[1]], 1, -1)
    signed = dense_projector(other)[np.ix_(moved, moved)]
    np.testing.assert_allclose(signed * flips[:, None] * flips, dense_projector(one), atol=1e-12)
    np.testing.assert_allclose(np.abs(signed), np.abs(dense_projector(one)), atol=1e-12)


@given(drawn_graphs(6))
@examples(60, 1_000)
def test_the_projector_on_arcs_comes_from_signs_and_needs_no_second_decomposition(drawn):
    (_, num_nodes), arcs, _ = drawn
    data = AddCycleProjector(dtype=torch.float64)(as_data(arcs, num_nodes))
    signs, edge_of = data.arc_sign.numpy().astype(float), data.arc_to_edge.numpy()
    rest = (np.eye(data.edges.size(1)) - dense_projector(data))[np.ix_(edge_of, edge_of)]
    on_arcs = np.eye(signs.size) - signs[:, None] * signs * rest / 2
    np.testing.assert_allclose(on_arcs, arc_projector_by_svd(arcs, num_nodes), atol=1e-9)


def test_all_pairs_of_a_graph_come_row_by_row():
    data = AddCycleProjector(pairs="graph")(both_directions(named_graphs.path(3)))
    assert data.pair_edges.tolist() == [[0, 0, 1, 1], [0, 1, 0, 1]]
    assert data.pair_projector.tolist() == [0.0, 0.0, 0.0, 0.0]


def test_bridges_have_no_pairs():
    data = AddCycleProjector()(both_directions(named_graphs.two_triangles_and_a_bridge()))
    bridge = data.edges.t().tolist().index([2, 3])
    assert bridge not in data.pair_edges
    assert data.pair_edges.size(1) == 18
    np.testing.assert_allclose(data.pair_projector.abs(), 1 / 3, rtol=1e-7)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_entries_are_rounded_once_to_the_type_asked_for(dtype):
    exact = AddCycleProjector(dtype=torch.float64)(both_directions(named_graphs.rook()))
    rounded = AddCycleProjector(dtype=dtype)(both_directions(named_graphs.rook()))
    assert rounded.pair_projector.dtype == dtype
    assert torch.equal(rounded.pair_projector, exact.pair_projector.to(dtype))


@pytest.mark.parametrize("pairs", ["blocks", "graph"])
def test_a_projector_beyond_the_memory_allowed_is_refused(pairs):
    rook = both_directions(named_graphs.rook())
    with refused(TooLargeError, "m = 48 edges, 48 .* limit is 1000 bytes; try: ", "too_large"):
        AddCycleProjector(pairs=pairs, max_memory=1000)(rook)
    assert AddCycleProjector(pairs=pairs, max_memory=10**6)(rook).pair_edges.size(1) == 48**2


def test_all_pairs_count_those_inside_blocks_twice():
    with refused(TooLargeError, f"needs {24 * 2 * 48**2} bytes"):
        AddCycleProjector(pairs="graph", max_memory=1000)(both_directions(named_graphs.rook()))


@pytest.mark.parametrize("transform", [AddShortestCycleBasis, AddRelevantCycles])
def test_a_basis_beyond_the_memory_allowed_is_refused(transform):
    complete = both_directions(named_graphs.complete(20))
    with refused(TooLargeError, "m = 190 edges, 190 .* limit is 1000 bytes; try: ", "too_large"):
        transform(max_memory=1000)(complete)
    assert transform(max_memory=10**6)(complete).num_cycles.item() >= 171


def test_loops_and_parallel_edges_have_their_place_in_the_projector():
    data = Data(edge_index=torch.tensor([[0, 0, 1], [1, 1, 1]]), num_nodes=2)
    add = AddCycleProjector(self_loops="cycle", multi_edges="distinct", dtype=torch.float64)
    expected = [[0.5, -0.5, 0.0], [-0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    np.testing.assert_allclose(dense_projector(add(data)), expected, atol=1e-12)
