from fractions import Fraction
from math import comb

import named_graphs
import numpy as np
import pytest
from bad_input import refused
from grid_weights import on_grid
from hypothesis import given
from hypothesis import strategies as st
from oracles import (
    atlas,
    component_count,
    dense_incidence,
    independent_mod_2,
    is_simple_cycle,
    mask_of,
    rank_mod_2,
    relevant_cycles_brute_force,
    simple_cycles,
)
from strategies import (
    edge_weights,
    examples,
    graphs,
    multigraphs,
    relabelled,
    relabellings,
    weighted_graphs,
)

from cyclenet.datasets import cfi_graph, strongly_regular_graphs
from cyclenet.topology import (
    SATURATED,
    GraphError,
    TooManyCycles,
    count_relevant_cycles,
    cycle_projector,
    relevant,
    relevant_cycles,
    shortest_cycle_basis,
)

# Sums of a few weights up to 10, which may come out in any order of adding.
ROUNDING = 1e-12


def cycles_of(basis):
    return [tuple(cycle.tolist()) for cycle in basis.cycles]


def assert_all_relevant_cycles(edges, num_nodes, found, weights=None):
    """Closed and signed like a basis; they span, and the first independent ones are the basis."""
    matrix = found.incidence.toarray()
    cycles = cycles_of(found)
    assert matrix.shape == (edges.shape[1], found.num_cycles)
    assert not (dense_incidence(edges, num_nodes) @ matrix).any()
    assert np.isin(matrix, (-1, 0, 1)).all() and matrix.dtype == np.int64
    assert all(matrix[cycle[0], k] == 1 for k, cycle in enumerate(cycles))
    assert all(is_simple_cycle(edges, cycle) for cycle in cycles)
    assert len(set(cycles)) == len(cycles)
    count = count_relevant_cycles(edges, num_nodes, weights)
    assert found.num_relevant == found.num_cycles == count
    assert (np.diff(found.lengths) >= (0 if weights is None else -ROUNDING)).all()
    basis = shortest_cycle_basis(edges, num_nodes, weights)
    chosen = independent_mod_2(map(mask_of, cycles))
    assert found.betti_number == basis.betti_number == len(chosen)
    assert found.is_unique == basis.is_unique == (found.num_cycles == len(chosen))
    assert basis.num_relevant == found.num_cycles
    assert set(cycles_of(basis)) <= set(cycles)
    return [cycles[k] for k in chosen] == cycles_of(basis)


def test_a_theta_of_three_equal_paths_by_hand():
    edges, num_nodes = named_graphs.complete_bipartite(2, 3)
    found = relevant_cycles(edges, num_nodes)
    assert cycles_of(found) == [(0, 1, 3, 4), (0, 2, 3, 5), (1, 2, 4, 5)]
    assert found.incidence.toarray().T.tolist() == [
        [1, -1, 0, -1, 1, 0], [1, 0, -1, -1, 0, 1], [0, 1, -1, 0, -1, 1],
    ]  # fmt: skip
    assert found.betti_number == 2 and found.num_relevant == 3 and not found.is_unique


def test_all_connected_graphs_with_up_to_seven_nodes():
    connected = [graph for graph in atlas() if graph[1] and component_count(*graph) == 1]
    assert len(connected) == 996
    unique = 0
    for edges, num_nodes in connected:
        expected = relevant_cycles_brute_force(edges, num_nodes)
        found = relevant_cycles(edges, num_nodes)
        assert cycles_of(found) == expected
        assert found.num_relevant == count_relevant_cycles(edges, num_nodes) == len(expected)
        rank = rank_mod_2(map(mask_of, expected))
        assert found.betti_number == rank == edges.shape[1] - num_nodes + 1
        assert found.is_unique == (len(expected) == rank)
        basis = shortest_cycle_basis(edges, num_nodes)
        assert (basis.num_relevant, basis.is_unique) == (len(expected), found.is_unique)
        unique += found.is_unique
    assert 0 < unique < 996


def test_all_of_them_with_tied_weights():
    rng = np.random.default_rng(1)
    for edges, num_nodes in atlas()[::3]:
        weights = rng.integers(1, 4, edges.shape[1]).astype(np.float64)
        found = relevant_cycles(edges, num_nodes, weights)
        assert cycles_of(found) == relevant_cycles_brute_force(edges, num_nodes, weights)
        assert found.num_relevant == found.num_cycles


@given(graphs(max_nodes=14, max_edges=30))
@examples(200, 20_000)
def test_relevant_cycles_span_and_hold_the_shortest_basis(graph):
    edges, num_nodes = graph
    first = assert_all_relevant_cycles(edges, num_nodes, relevant_cycles(edges, num_nodes))
    assert first, "the shortest basis must be the first independent relevant cycles"


@given(multigraphs(max_nodes=7), st.data())
@examples(150, 10_000)
def test_loops_and_parallel_edges_are_cycles_where_they_are_allowed(graph, data):
    edges, num_nodes = graph
    allowed = {"self_loops": "cycle", "multi_edges": "distinct"}
    weights = data.draw(st.one_of(st.none(), edge_weights(edges.shape[1], "integers")))
    count = count_relevant_cycles(edges, num_nodes, weights, **allowed)
    if count < SATURATED:
        found = relevant_cycles(edges, num_nodes, weights, **allowed)
        assert cycles_of(found) == relevant_cycles_brute_force(edges, num_nodes, weights)
        assert found.num_relevant == found.num_cycles == count
        assert not (dense_incidence(edges, num_nodes) @ found.incidence).any()
        assert found.betti_number == rank_mod_2(map(mask_of, cycles_of(found)))


@given(weighted_graphs(max_nodes=8, max_edges=14))
@examples(200, 10_000)
def test_weighted_relevant_cycles_are_those_of_brute_force(drawn):
    edges, num_nodes, weights = drawn
    whole = on_grid(edges, num_nodes, weights)
    expected = relevant_cycles_brute_force(edges, num_nodes, whole)
    count = count_relevant_cycles(edges, num_nodes, weights)
    basis = shortest_cycle_basis(edges, num_nodes, weights)
    assert basis.num_relevant == count
    betti = basis.betti_number
    if count == SATURATED:
        # Some cycle of length zero can be added to others: there is no unique basis, either way.
        assert any(sum(whole[e] for e in cycle) == 0 for cycle in expected)
        assert len(expected) > betti and not basis.is_unique
        with refused(TooManyCycles, "at most", "too_many_cycles"):
            relevant_cycles(edges, num_nodes, weights)
    else:
        found = relevant_cycles(edges, num_nodes, weights)
        assert sorted(cycles_of(found)) == sorted(expected)
        assert_all_relevant_cycles(edges, num_nodes, found, weights)
        assert found.is_unique == (len(expected) == betti)
        np.testing.assert_allclose(
            found.lengths, [weights[[*cycle]].sum() for cycle in cycles_of(found)]
        )


@given(weighted_graphs(max_nodes=8, kind="integers", max_edges=14))
@examples(100, 5000)
def test_relevant_cycles_come_in_the_order_of_length_edges_and_ids(drawn):
    edges, num_nodes, weights = drawn
    if count_relevant_cycles(edges, num_nodes, weights) < SATURATED:
        found = relevant_cycles(edges, num_nodes, weights)
        assert cycles_of(found) == relevant_cycles_brute_force(edges, num_nodes, weights)


@given(graphs(max_nodes=12, max_edges=30).flatmap(
    lambda g: relabellings(g[1]).map(lambda names: (*g, names))
))  # fmt: skip
@examples(200, 20_000)
def test_relabelling_permutes_the_relevant_cycles(drawn):
    edges, num_nodes, names = drawn
    renamed, _ = relabelled(edges, names)
    order = np.lexsort((renamed[1], renamed[0]))
    found = relevant_cycles(edges, num_nodes)
    other = relevant_cycles(renamed[:, order], num_nodes)
    back = {frozenset(order[[*cycle]].tolist()) for cycle in cycles_of(other)}
    assert back == {frozenset(cycle) for cycle in cycles_of(found)}
    assert other.lengths.tolist() == found.lengths.tolist()


@given(weighted_graphs(max_nodes=8, kind="decimals", max_edges=14))
@examples(100, 5000)
def test_a_tolerance_gives_the_relevant_cycles_of_the_exact_decimals(drawn):
    edges, num_nodes, weights = drawn
    exact = [Fraction(round(10 * w), 10) for w in weights]
    if count_relevant_cycles(edges, num_nodes, weights, weight_tol=1e-6) < SATURATED:
        found = relevant_cycles(edges, num_nodes, weights, weight_tol=1e-6)
        expected = relevant_cycles_brute_force(edges, num_nodes, exact)
        assert sorted(cycles_of(found)) == sorted(expected)


# Known graphs


@pytest.mark.parametrize(
    ("graph", "count", "unique"),
    [
        (named_graphs.cycle(6), 1, True),
        (named_graphs.path(4), 0, True),
        (named_graphs.theta(), 2, True),
        (named_graphs.bowtie(), 2, True),
        (named_graphs.bicyclo_222_octane(), 3, False),
        (named_graphs.complete(4), 4, False),
        (named_graphs.complete(5), 10, False),
        (named_graphs.complete(9), comb(9, 3), False),
        (named_graphs.complete_bipartite(3, 3), 9, False),
        (named_graphs.complete_bipartite(4, 5), comb(4, 2) * comb(5, 2), False),
        (named_graphs.petersen(), 12, False),
        (named_graphs.hypercube(3), 6, False),
        (named_graphs.hypercube(5), 80, False),
        (named_graphs.grid(4, 5), 12, True),
        (named_graphs.grid(2, 9), 8, True),
        (named_graphs.ring_with_chord(10, 5), 2, True),
        (named_graphs.from_pairs([], 0), 0, True),
        (cfi_graph(4, 0), 640, False),
        (strongly_regular_graphs("sr351899")[0], 315 * 9 // 3, False),
    ],
    ids=[
        "benzene", "path", "theta", "bowtie", "bicyclo[2.2.2]octane", "K4", "K5", "K9", "K3,3",
        "K4,5", "Petersen", "Q3", "Q5", "grid", "ladder", "ring with chord", "empty", "4-CFI",
        "sr351899",
    ],
)  # fmt: skip
def test_relevant_cycles_of_known_graphs(graph, count, unique):
    edges, num_nodes = graph
    found = relevant_cycles(edges, num_nodes)
    assert found.num_cycles == found.num_relevant == count
    assert found.is_unique == unique
    assert assert_all_relevant_cycles(edges, num_nodes, found)


@pytest.mark.parametrize("name", ["rook", "shrikhande"])
def test_graphs_of_the_second_example_have_32_triangles_and_the_squares_beyond_them(name):
    edges, num_nodes = getattr(named_graphs, name)()
    by_length = {3: [], 4: []}
    for cycle in simple_cycles(edges, num_nodes, at_most=4):
        by_length[len(cycle)].append(cycle)
    triangles = [mask_of(cycle) for cycle in by_length[3]]
    basis = [triangles[k] for k in independent_mod_2(triangles)]
    squares = [c for c in by_length[4] if rank_mod_2([*basis, mask_of(c)]) > len(basis)]
    found = relevant_cycles(edges, num_nodes)
    assert len(triangles) == 32
    assert cycles_of(found) == [*by_length[3], *squares]
    assert not found.is_unique


def test_copies_of_strongly_regular_graphs_have_the_same_relevant_cycles_and_projector():
    rng = np.random.default_rng(0)
    family = strongly_regular_graphs("sr351899")
    for i in (0, 100, 226):
        edges, num_nodes = family[i]
        order = rng.permutation(edges.shape[1])
        copy, _ = relabelled(edges[:, order], rng.permutation(num_nodes))
        one, other = relevant_cycles(edges, num_nodes), relevant_cycles(copy, num_nodes)
        assert one.num_relevant > one.betti_number == 281
        through = [abs(found.incidence).sum(axis=1) for found in (one, other)]
        assert through[0][order].tolist() == through[1].tolist()
        assert one.lengths.tolist() == other.lengths.tolist()
        size = abs(cycle_projector(edges, num_nodes))[np.ix_(order, order)]
        np.testing.assert_allclose(size, abs(cycle_projector(copy, num_nodes)), atol=1e-12)


def test_a_twisted_cfi_graph_needs_squares_beyond_its_triangles():
    found = relevant_cycles(*cfi_graph(4, 1))
    lengths, counts = np.unique(found.lengths, return_counts=True)
    assert lengths.tolist() == [3, 4] and counts[0] == 640
    assert shortest_cycle_basis(*cfi_graph(4, 1)).num_relevant == counts.sum()


@pytest.mark.parametrize("diamonds", [2, 3, 8, 20, 45, 60, 62])
def test_a_ring_of_diamonds_has_exponentially_many_relevant_cycles(diamonds):
    edges, num_nodes = named_graphs.diamond_ring(diamonds)
    assert count_relevant_cycles(edges, num_nodes) == diamonds + 2**diamonds
    assert shortest_cycle_basis(edges, num_nodes).num_relevant == diamonds + 2**diamonds


@pytest.mark.parametrize("diamonds", [63, 70, 200])
def test_counts_stop_at_the_largest_integer(diamonds):
    edges, num_nodes = named_graphs.diamond_ring(diamonds)
    basis = shortest_cycle_basis(edges, num_nodes)
    assert basis.num_relevant == count_relevant_cycles(edges, num_nodes) == SATURATED
    assert not basis.is_unique and basis.num_cycles == diamonds + 1


@pytest.mark.parametrize(
    ("rings", "expected"), [(1, 61 + 2**61), (3, 3 * (61 + 2**61)), (5, SATURATED)]
)
def test_sums_over_blocks_stop_there_too(rings, expected):
    edges, num_nodes = named_graphs.diamond_ring(61)
    copies = np.concatenate([edges + i * num_nodes for i in range(rings)], axis=1)
    assert count_relevant_cycles(copies, rings * num_nodes) == expected


def test_too_many_cycles_are_refused_before_any_is_listed(monkeypatch):
    def must_not_be_called(*_):
        raise AssertionError("cycles were listed")

    monkeypatch.setattr(relevant, "list_relevant", must_not_be_called)
    for diamonds, count in ((10, 10 + 2**10), (60, 60 + 2**60), (70, SATURATED)):
        with refused(TooManyCycles, f"at most `max_cycles` = 1000.*{count}") as caught:
            relevant_cycles(*named_graphs.diamond_ring(diamonds), max_cycles=1000)
        assert (caught.value.num_relevant, caught.value.max_cycles) == (count, 1000)


def test_the_cap_itself_is_allowed():
    ring = named_graphs.diamond_ring(10)
    assert relevant_cycles(*ring, max_cycles=10 + 2**10).num_cycles == 10 + 2**10
    with refused(TooManyCycles, "1034"):
        relevant_cycles(*ring, max_cycles=10 + 2**10 - 1)
    assert relevant_cycles(*named_graphs.path(3), max_cycles=0).num_cycles == 0


# Zeros


def test_edges_of_length_zero_are_taken_along():
    # A square whose diagonal is free: it turns the two triangles into cycles of two paid edges.
    edges, num_nodes = named_graphs.theta()
    found = relevant_cycles(edges, num_nodes, np.array([0.0, 1, 1, 1, 1]))
    assert cycles_of(found) == [(0, 1, 3), (0, 2, 4)]
    assert found.lengths.tolist() == [2.0, 2.0] and found.is_unique


def test_a_free_tree_joins_its_nodes_into_one():
    edges, num_nodes = named_graphs.grid(4, 4)
    rng = np.random.default_rng(0)
    for _ in range(20):
        weights = rng.integers(1, 5, edges.shape[1]).astype(np.float64)
        free = rng.choice(edges.shape[1], 5, replace=False)
        weights[free] = 0.0
        found = relevant_cycles(edges, num_nodes, weights)
        assert_all_relevant_cycles(edges, num_nodes, found, weights)
        tree_free = component_count(edges[:, free], num_nodes) == num_nodes - free.size
        assert tree_free == bool((found.lengths > 0).all())


def test_cycles_led_through_free_edges_do_not_depend_on_how_many_are_at_once(monkeypatch):
    edges, num_nodes = named_graphs.grid(5, 6)
    weights = np.ones(edges.shape[1])
    weights[[0, 7, 20, 30]] = 0.0
    together = relevant_cycles(edges, num_nodes, weights)
    assert_all_relevant_cycles(edges, num_nodes, together, weights)
    monkeypatch.setattr(relevant, "CYCLES_AT_ONCE", 3)
    assert cycles_of(relevant_cycles(edges, num_nodes, weights)) == cycles_of(together)


def test_the_memory_allowed_holds_around_free_edges_too(monkeypatch):
    solve, allowed = relevant.solve_blocks, []

    def noting(*arguments):
        allowed.append(arguments[-1])
        return solve(*arguments)

    monkeypatch.setattr(relevant, "solve_blocks", noting)
    edges, num_nodes = named_graphs.theta()
    relevant_cycles(edges, num_nodes, np.array([0.0, 1, 1, 1, 1]), max_bytes=12345)
    assert allowed and set(allowed) == {12345}


def test_a_free_cycle_alone_in_its_block_is_one_relevant_cycle():
    edges, num_nodes = named_graphs.bowtie()
    weights = np.array([0.0, 0, 1, 1, 0, 1])
    found = relevant_cycles(edges, num_nodes, weights)
    assert cycles_of(found) == [(0, 1, 4), (2, 3, 5)]
    assert found.lengths.tolist() == [0.0, 3.0] and found.is_unique


def test_a_free_cycle_that_shares_a_block_makes_the_basis_ambiguous():
    edges, num_nodes = named_graphs.theta()
    weights = np.array([0.0, 0, 1, 0, 1])
    assert len(relevant_cycles_brute_force(edges, num_nodes, weights)) == 3
    basis = shortest_cycle_basis(edges, num_nodes, weights)
    assert cycles_of(basis) == [(0, 1, 3), (0, 2, 4)]
    assert basis.num_relevant == SATURATED and not basis.is_unique
    for cap in (1000, SATURATED):
        with refused(TooManyCycles, str(SATURATED)):
            relevant_cycles(edges, num_nodes, weights, max_cycles=cap)


# What comes in


def test_any_array_of_integers_is_taken():
    edges, num_nodes = named_graphs.petersen()
    frozen = edges.copy()
    frozen.flags.writeable = False
    expected = cycles_of(relevant_cycles(edges, num_nodes))
    for given_edges in (frozen, edges.astype(np.int32), np.asfortranarray(edges)):
        assert cycles_of(relevant_cycles(given_edges, num_nodes)) == expected
        assert count_relevant_cycles(given_edges, num_nodes) == 12


@pytest.mark.parametrize("function", [relevant_cycles, count_relevant_cycles])
def test_bad_input_is_refused(function):
    edges, num_nodes = named_graphs.theta()
    with refused(GraphError, r"0 to 2", "node_out_of_range"):
        function(edges, 3)
    with refused(GraphError, "edge 2 has -1.0", "weight_value"):
        function(edges, num_nodes, np.array([1, 1, -1, 1, 1]))
    with refused(GraphError, "weight_tol", "weight_tol"):
        function(edges, num_nodes, np.ones(5), weight_tol=0.0)
    with refused(TypeError, "float64"):
        function(edges.astype(float), num_nodes)
