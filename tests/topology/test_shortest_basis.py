from collections import Counter
from fractions import Fraction
from functools import cache

import named_graphs
import networkx as nx
import numpy as np
import pytest
from bad_input import refused
from grid_weights import on_grid
from hypothesis import given
from hypothesis import strategies as st
from oracles import (
    atlas,
    betti_by_rank,
    dense_incidence,
    is_simple_cycle,
    lexicographic_shortest_basis,
    mask_of,
    rank_mod_2,
    rank_mod_prime,
    relevant_cycles_brute_force,
    shortest_lengths,
    shortest_weight_by_networkx,
)
from strategies import (
    batches,
    edge_weights,
    examples,
    graphs,
    multigraphs,
    packed,
    relabelled,
    relabellings,
    weighted_graphs,
)

from cyclenet.datasets import cfi_graph, strongly_regular_graphs
from cyclenet.topology import (
    GraphError,
    TooLargeError,
    basis_kernels,
    betti_number,
    shortest_cycle_bases,
    shortest_cycle_basis,
)

# Sums of at most a few thousand weights of the size of 10.
ROUNDING = 1e-9

all_graphs = cache(atlas)


def assert_is_a_basis(edges, num_nodes, basis, weights=None):
    """Closed, simple, signed along their lowest edge, sorted by length, independent, complete."""
    matrix = basis.incidence.toarray()
    betti = edges.shape[1] - num_nodes + nx.number_connected_components(_plain(edges, num_nodes))
    assert matrix.shape == (edges.shape[1], betti)
    assert basis.num_cycles == basis.betti_number == betti
    assert matrix.dtype == np.int64 and np.isin(matrix, (-1, 0, 1)).all()
    assert not (dense_incidence(edges, num_nodes) @ matrix).any()
    cycles = [cycle.tolist() for cycle in basis.cycles]
    assert all(cycle == sorted(cycle) and is_simple_cycle(edges, cycle) for cycle in cycles)
    assert all(matrix[cycle[0], k] == 1 for k, cycle in enumerate(cycles))
    assert rank_mod_2(map(mask_of, cycles)) == betti
    # Full rank modulo a prime is full rank over the rationals.
    assert rank_mod_prime(matrix) == betti
    if weights is None:
        assert basis.lengths.dtype == np.int64
        assert basis.lengths.tolist() == sorted(len(cycle) for cycle in cycles)
    else:
        assert basis.lengths.dtype == np.float64
        sums = [np.asarray(weights, dtype=np.float64)[cycle].sum() for cycle in cycles]
        # A weight far below the others, 1e-45 beside 1, is zero on the grid of its block.
        grid = 1e-15 * float(np.sum(weights))
        np.testing.assert_allclose(basis.lengths, sums, rtol=1e-12, atol=grid)
        assert (np.diff(basis.lengths) >= -ROUNDING).all()
    assert basis.total_weight == pytest.approx(basis.lengths.sum(), abs=ROUNDING)


def _plain(edges, num_nodes):
    graph = nx.MultiGraph()
    graph.add_nodes_from(range(num_nodes))
    graph.add_edges_from(edges.T.tolist())
    return graph


def cycles_of(basis):
    return [tuple(cycle.tolist()) for cycle in basis.cycles]


def bytes_of(basis):
    matrix = basis.incidence
    parts = (matrix.data, matrix.indices, matrix.indptr, basis.lengths)
    return [(part.dtype.name, part.tobytes()) for part in parts]


# By hand


def test_a_weight_far_below_the_others_counts_as_zero():
    edges, num_nodes = named_graphs.theta()
    weights = np.array([1.0, 1, 1, 1, 1.4e-45])
    assert_is_a_basis(edges, num_nodes, shortest_cycle_basis(edges, num_nodes, weights), weights)


def test_two_triangles_on_one_edge_by_hand():
    basis = shortest_cycle_basis(*named_graphs.theta())
    assert basis.incidence.toarray().T.tolist() == [[1, -1, 0, 1, 0], [1, 0, -1, 0, 1]]
    assert basis.lengths.tolist() == [3, 3]
    assert basis.total_weight == 6 and basis.is_unique and basis.num_relevant == 2


def test_weights_decide_which_cycles_are_short():
    edges, num_nodes = named_graphs.theta()
    basis = shortest_cycle_basis(edges, num_nodes, np.array([10.0, 1, 2, 3, 4]))
    assert cycles_of(basis) == [(1, 2, 3, 4), (0, 1, 3)]
    assert basis.lengths.tolist() == [10.0, 14.0] and basis.total_weight == 24.0


def test_where_bases_tie_the_lowest_edges_win():
    edges, num_nodes = named_graphs.bicyclo_222_octane()
    basis = shortest_cycle_basis(edges, num_nodes)
    assert cycles_of(basis) == lexicographic_shortest_basis(edges, num_nodes)
    assert basis.lengths.tolist() == [6, 6] and not basis.is_unique
    turned = shortest_cycle_basis(edges[:, ::-1], num_nodes)
    assert turned.lengths.tolist() == [6, 6]
    assert {frozenset(8 - e for e in cycle) for cycle in cycles_of(turned)} != {
        frozenset(cycle) for cycle in cycles_of(basis)
    }


# Laws


def test_all_graphs_with_up_to_seven_nodes():
    graphs_ = all_graphs()
    assert len(graphs_) == 1253
    found = shortest_cycle_bases(*packed(graphs_), count_relevant=True)
    for i, (edges, num_nodes) in enumerate(graphs_):
        basis = found[i]
        assert_is_a_basis(edges, num_nodes, basis)
        assert basis.lengths.tolist() == shortest_lengths(edges, num_nodes)
        assert cycles_of(basis) == lexicographic_shortest_basis(edges, num_nodes)


def test_all_graphs_with_up_to_seven_nodes_and_tied_weights():
    rng = np.random.default_rng(0)
    graphs_ = all_graphs()
    edges, edge_ptr, num_nodes = packed(graphs_)
    for low in (0, 1):
        weights = rng.integers(low, 4, edges.shape[1]).astype(np.float64)
        found = shortest_cycle_bases(edges, edge_ptr, num_nodes, weights)
        for i, (own_edges, count) in enumerate(graphs_):
            own = weights[edge_ptr[i] : edge_ptr[i + 1]]
            expected = lexicographic_shortest_basis(own_edges, count, own)
            assert cycles_of(found[i]) == expected
            assert found[i].lengths.tolist() == [own[[*cycle]].sum() for cycle in expected]


def test_all_of_them_have_the_weight_networkx_finds():
    for edges, num_nodes in all_graphs():
        weight = shortest_weight_by_networkx(edges, num_nodes)
        assert shortest_cycle_basis(edges, num_nodes).total_weight == weight


@given(graphs(max_nodes=16))
@examples(500, 200_000)
def test_generated_graphs_have_a_shortest_basis(graph):
    edges, num_nodes = graph
    basis = shortest_cycle_basis(edges, num_nodes)
    assert_is_a_basis(edges, num_nodes, basis)
    assert basis.betti_number == betti_number(edges, num_nodes)
    assert basis.lengths.tolist() == shortest_lengths(edges, num_nodes)


@given(graphs(max_nodes=10, max_edges=16))
@examples(200, 20_000)
def test_generated_bases_are_the_first_in_the_order_of_the_edges(graph):
    edges, num_nodes = graph
    basis = shortest_cycle_basis(edges, num_nodes)
    assert cycles_of(basis) == lexicographic_shortest_basis(edges, num_nodes)
    assert basis.num_relevant == len(relevant_cycles_brute_force(edges, num_nodes))


@given(weighted_graphs(max_nodes=9))
@examples(200, 10_000)
def test_weighted_bases_weigh_what_networkx_finds(drawn):
    edges, num_nodes, weights = drawn
    basis = shortest_cycle_basis(edges, num_nodes, weights)
    assert_is_a_basis(edges, num_nodes, basis, weights)
    expected = shortest_weight_by_networkx(edges, num_nodes, weights)
    assert basis.total_weight == pytest.approx(expected, abs=ROUNDING)


@given(weighted_graphs(max_nodes=8, max_edges=14))
@examples(200, 10_000)
def test_weighted_bases_are_the_first_in_the_order_of_the_edges(drawn):
    edges, num_nodes, weights = drawn
    whole = on_grid(edges, num_nodes, weights)
    basis = shortest_cycle_basis(edges, num_nodes, weights)
    expected = lexicographic_shortest_basis(edges, num_nodes, whole)
    # Blocks are told apart by their lengths as floats.
    expected.sort(key=lambda cycle: (float(sum(whole[e] for e in cycle)), len(cycle), cycle[0]))
    assert cycles_of(basis) == expected


@given(weighted_graphs(max_nodes=8, kind="decimals", max_edges=14))
@examples(100, 5000)
def test_a_tolerance_gives_the_basis_of_the_exact_decimals(drawn):
    edges, num_nodes, weights = drawn
    exact = [Fraction(round(10 * w), 10) for w in weights]
    basis = shortest_cycle_basis(edges, num_nodes, weights, weight_tol=1e-6)
    assert cycles_of(basis) == lexicographic_shortest_basis(edges, num_nodes, exact)


@given(weighted_graphs(max_nodes=8, kind="integers"))
def test_weights_of_one_are_no_weights(drawn):
    edges, num_nodes, _ = drawn
    plain = shortest_cycle_basis(edges, num_nodes)
    ones = shortest_cycle_basis(edges, num_nodes, np.ones(edges.shape[1]))
    assert cycles_of(plain) == cycles_of(ones)
    assert ones.lengths.tolist() == plain.lengths.tolist()
    assert ones.num_relevant == plain.num_relevant


@given(multigraphs())
@examples(200, 20_000)
def test_loops_and_parallel_edges_are_cycles_where_they_are_allowed(graph):
    edges, num_nodes = graph
    basis = shortest_cycle_basis(edges, num_nodes, self_loops="cycle", multi_edges="distinct")
    assert_is_a_basis(edges, num_nodes, basis)
    assert basis.betti_number == betti_by_rank(edges, num_nodes)
    assert basis.lengths.tolist() == shortest_lengths(edges, num_nodes)
    assert cycles_of(basis) == lexicographic_shortest_basis(edges, num_nodes)
    assert basis.num_relevant == len(relevant_cycles_brute_force(edges, num_nodes))


@given(multigraphs(max_nodes=6), st.data())
@examples(100, 5000)
def test_the_same_with_weights(graph, data):
    edges, num_nodes = graph
    weights = data.draw(edge_weights(edges.shape[1], "integers"))
    basis = shortest_cycle_basis(
        edges, num_nodes, weights, self_loops="cycle", multi_edges="distinct"
    )
    assert_is_a_basis(edges, num_nodes, basis, weights)
    assert cycles_of(basis) == lexicographic_shortest_basis(edges, num_nodes, weights)


@given(graphs(max_nodes=14).flatmap(lambda g: relabellings(g[1]).map(lambda names: (*g, names))))
@examples(200, 20_000)
def test_names_of_the_nodes_do_not_change_the_lengths(drawn):
    edges, num_nodes, names = drawn
    renamed, signs = relabelled(edges, names)
    one = shortest_cycle_basis(edges, num_nodes)
    other = shortest_cycle_basis(renamed, num_nodes)
    # Ties are broken by the edges, whose order is the same here: not even the cycles change.
    assert cycles_of(one) == cycles_of(other)
    order = np.argsort(renamed[0] * num_nodes + renamed[1])
    sorted_again = shortest_cycle_basis(renamed[:, order], num_nodes)
    assert sorted_again.lengths.tolist() == one.lengths.tolist()
    assert sorted_again.num_relevant == one.num_relevant
    if one.is_unique:
        back = {frozenset(order[[*cycle]].tolist()) for cycle in cycles_of(sorted_again)}
        assert back == {frozenset(cycle) for cycle in cycles_of(one)}
    turned = other.incidence.toarray() * signs[:, None]
    for k, cycle in enumerate(cycles_of(one)):
        assert turned[:, k].tolist() in (
            one.incidence.toarray()[:, k].tolist(),
            (-one.incidence.toarray()[:, k]).tolist(),
        )
        assert np.flatnonzero(turned[:, k]).tolist() == list(cycle)


@given(batches(max_nodes=10), st.data())
@examples(100, 5000)
def test_a_graph_alone_is_the_graph_among_neighbours_on_any_number_of_threads(batch, data):
    edges, edge_ptr, num_nodes = packed(batch)
    weights = data.draw(st.one_of(st.none(), edge_weights(edges.shape[1])))
    options = {"weights": weights, "count_relevant": True}
    found = [
        shortest_cycle_bases(edges, edge_ptr, num_nodes, num_threads=k, **options)
        for k in (1, 1, 2, 3)
    ]
    for other in found[1:]:
        for name in ("cycle_ptr", "incidence_ptr", "cycle_edges", "cycle_signs", "lengths"):
            one, two = getattr(found[0], name), getattr(other, name)
            assert one.dtype == two.dtype and one.tobytes() == two.tobytes()
        assert found[0].num_relevant.tolist() == other.num_relevant.tolist()
    assert len(found[0]) == len(batch)
    for i, (own_edges, count) in enumerate(batch):
        own = None if weights is None else weights[edge_ptr[i] : edge_ptr[i + 1]]
        alone = shortest_cycle_basis(own_edges, count, own)
        assert bytes_of(found[0][i]) == bytes_of(alone)
        assert found[0][i].num_relevant == alone.num_relevant
        assert found[0][i].is_unique == alone.is_unique


@given(st.lists(multigraphs(max_nodes=6), max_size=4))
@examples(100, 5000)
def test_loops_and_parallel_edges_may_be_packed_too(batch):
    allowed = {"self_loops": "cycle", "multi_edges": "distinct"}
    found = shortest_cycle_bases(*packed(batch), count_relevant=True, **allowed)
    for i, (edges, num_nodes) in enumerate(batch):
        alone = shortest_cycle_basis(edges, num_nodes, **allowed)
        assert bytes_of(found[i]) == bytes_of(alone)
        assert found[i].num_relevant == alone.num_relevant


@given(batches(max_nodes=8))
@examples(50, 2000)
def test_relevant_cycles_can_be_counted_later(batch):
    now = shortest_cycle_bases(*packed(batch), count_relevant=True)
    later = shortest_cycle_bases(*packed(batch))
    assert later.num_relevant is None
    assert [basis.num_relevant for basis in later] == now.num_relevant.tolist()


@pytest.mark.parametrize("num_threads", [1, 2])
@pytest.mark.parametrize("least", [None, 0, 1])
def test_what_is_counted_later_does_not_see_what_became_of_the_arrays(num_threads, least):
    edges, edge_ptr, num_nodes = packed([named_graphs.complete(4), named_graphs.petersen()] * 9)
    weights = None if least is None else np.arange(edges.shape[1]) % 3.0 + least
    now = shortest_cycle_bases(edges, edge_ptr, num_nodes, weights, count_relevant=True)
    later = shortest_cycle_bases(edges, edge_ptr, num_nodes, weights, num_threads=num_threads)
    edges[:] = edge_ptr[:] = num_nodes[:] = 0
    assert [int(later.count_relevant(i)) for i in range(18)] == now.num_relevant.tolist()


def test_packed_cycles_are_where_the_pointers_say():
    batch = [named_graphs.theta(), named_graphs.path(3), named_graphs.bowtie()]
    found = shortest_cycle_bases(*packed(batch))
    assert found.cycle_ptr.tolist() == [0, 2, 2, 4]
    assert found.incidence_ptr.tolist() == [0, 3, 6, 9, 12]
    assert found.cycle_edges.tolist() == [0, 1, 3, 0, 2, 4, 0, 1, 4, 2, 3, 5]
    assert found.cycle_signs.dtype == np.int8
    assert found[1].incidence.shape == (2, 0)
    assert bytes_of(found[-1]) == bytes_of(found[2]) == bytes_of(found[np.int64(2)])
    for i in (-4, 3):
        with refused(IndexError, "0 to 2"):
            found[i]


# Sizes beyond what brute force reaches


@pytest.mark.parametrize(
    "graph",
    [
        named_graphs.complete(12),
        named_graphs.complete(13),
        named_graphs.complete(20),
        named_graphs.complete_bipartite(9, 9),
        named_graphs.hypercube(5),
        cfi_graph(4, 0),
        cfi_graph(4, 1),
        named_graphs.subdivided(named_graphs.complete(13), 5),
        *(strongly_regular_graphs(name)[-1] for name in ("sr16622", "sr251256", "sr401224")),
        strongly_regular_graphs("sr361446")[7],
    ],
    ids=[
        "K12", "K13", "K20", "K9,9", "Q5", "CFI 4 0", "CFI 4 1", "K13 cut in 5", "sr16622",
        "sr251256", "sr401224", "sr361446",
    ],
)  # fmt: skip
def test_labels_of_several_words_give_the_lengths_igraph_finds(graph):
    pytest.importorskip("igraph", reason="networkx takes minutes here")
    edges, num_nodes = graph
    basis = shortest_cycle_basis(edges, num_nodes)
    assert_is_a_basis(edges, num_nodes, basis)
    assert basis.lengths.tolist() == shortest_lengths(edges, num_nodes)


@pytest.mark.parametrize("seed", range(4))
def test_sparse_graphs_of_hundreds_of_edges_have_the_lengths_igraph_finds(seed):
    pytest.importorskip("igraph", reason="networkx takes minutes here")
    plain = nx.gnm_random_graph(90, 230, seed=seed)
    edges = np.array(sorted(map(sorted, plain.edges)), dtype=np.int64).T
    basis = shortest_cycle_basis(edges, 90)
    assert basis.betti_number > 128
    assert_is_a_basis(edges, 90, basis)
    assert basis.lengths.tolist() == shortest_lengths(edges, 90)
    weights = np.random.default_rng(seed).integers(0, 4, edges.shape[1])
    weighted = shortest_cycle_basis(edges[:, :130], 90, weights[:130])
    expected = shortest_weight_by_networkx(edges[:, :130], 90, weights[:130].tolist())
    assert weighted.total_weight == pytest.approx(expected)


def test_long_cycles():
    edges, num_nodes = named_graphs.ring_with_chord(1000, 400)
    basis = shortest_cycle_basis(edges, num_nodes)
    assert basis.lengths.tolist() == [401, 601]
    assert_is_a_basis(edges, num_nodes, basis)
    tied = shortest_cycle_basis(*named_graphs.ring_with_chord(1000, 500))
    assert tied.lengths.tolist() == [501, 501] and tied.is_unique
    assert shortest_cycle_basis(*named_graphs.cycle(5000)).lengths.tolist() == [5000]


def test_the_squares_of_a_grid_are_its_only_shortest_basis():
    basis = shortest_cycle_basis(*named_graphs.grid(30, 30))
    assert basis.lengths.tolist() == [4] * 841 and basis.total_weight == 4 * 841
    assert basis.is_unique
    edges, num_nodes = named_graphs.grid(30, 30)
    assert not (dense_incidence(edges, num_nodes) @ basis.incidence).any()


@pytest.mark.parametrize("pieces", [2, 7])
@pytest.mark.parametrize("name", ["petersen", "rook", "theta", "bowtie"])
def test_subdividing_multiplies_the_lengths(name, pieces):
    graph = getattr(named_graphs, name)()
    plain = shortest_cycle_basis(*graph)
    longer = named_graphs.subdivided(graph, pieces)
    found = shortest_cycle_basis(*longer)
    assert_is_a_basis(*longer, found)
    assert found.lengths.tolist() == [pieces * length for length in plain.lengths]
    assert found.num_relevant == plain.num_relevant


def test_long_chains_of_blocks():
    ring = [(0, 1), (1, 2), (2, 3), (0, 3)]
    pairs = [(3 * i + a, 3 * i + b) for i in range(2000) for a, b in ring]
    edges, num_nodes = named_graphs.from_pairs(pairs, 6001)
    basis = shortest_cycle_basis(edges, num_nodes)
    assert basis.lengths.tolist() == [4] * 2000 and basis.is_unique


# Worked examples of the papers


def test_the_two_graphs_of_the_first_example():
    expected = {
        "a": [(2, 3, 5), (5, 7, 8), (0, 1, 3, 4, 6)],
        "b": [(2, 3, 5), (6, 7, 8), (0, 1, 3, 4, 6)],
    }
    for which, cycles in expected.items():
        edges, num_nodes = named_graphs.paper_example(which)
        basis = shortest_cycle_basis(edges, num_nodes)
        assert cycles_of(basis) == cycles
        assert basis.total_weight == 11 and basis.is_unique
        assert_is_a_basis(edges, num_nodes, basis)


@pytest.mark.parametrize(
    ("graph", "lengths"),
    [
        (named_graphs.rook(), {3: 24, 4: 9}),
        (named_graphs.shrikhande(), {3: 31, 4: 2}),
        (cfi_graph(2, 0), {3: 2}),
        (cfi_graph(2, 1), {6: 1}),
        (cfi_graph(2, 2), {3: 2}),
        (cfi_graph(3, 0), {3: 24, 4: 9}),
        (cfi_graph(3, 1), {3: 31, 4: 2}),
        (cfi_graph(3, 2), {3: 24, 4: 9}),
        (cfi_graph(4, 0), {3: 281}),
        (cfi_graph(4, 1), {3: 280, 4: 1}),
        (named_graphs.cfi(4, 1), {3: 280, 4: 1}),
        (strongly_regular_graphs("sr351899")[0], {3: 281}),
    ],
    ids=[
        "Rook", "Shrikhande", "2-CFI G", "2-CFI H", "2-CFI twice", "3-CFI G", "3-CFI H",
        "3-CFI twice", "4-CFI G", "4-CFI H", "4-CFI H, oracle", "sr351899",
    ],
)  # fmt: skip
def test_lengths_in_the_tables_of_the_paper(graph, lengths):
    basis = shortest_cycle_basis(*graph)
    assert Counter(basis.lengths.tolist()) == lengths
    assert_is_a_basis(*graph, basis)
    unique = max(lengths.values()) <= 2
    assert basis.is_unique == unique


def test_all_shipped_graphs_on_35_nodes_have_281_triangles():
    found = shortest_cycle_bases(*packed(list(strongly_regular_graphs("sr351899"))))
    assert found.lengths.tolist() == [3] * (227 * 281)


def test_cycles_of_relabelled_graphs_are_closed_walks_on_the_edges_they_name():
    rng = np.random.default_rng(0)
    for graph in (named_graphs.rook(), named_graphs.petersen(), cfi_graph(4, 1)):
        edges, num_nodes = graph
        for _ in range(3):
            renamed, _ = relabelled(edges, rng.permutation(num_nodes))
            renamed = renamed[:, rng.permutation(edges.shape[1])]
            basis = shortest_cycle_basis(renamed, num_nodes)
            assert not (dense_incidence(renamed, num_nodes) @ basis.incidence).any()
            assert all(is_simple_cycle(renamed, cycle) for cycle in cycles_of(basis))


# What comes in


@pytest.mark.parametrize("num_nodes", [0, 1, 5])
def test_graphs_without_edges_have_an_empty_basis(num_nodes):
    edges = np.zeros((2, 0), dtype=np.int64)
    for weights in (None, np.zeros(0)):
        basis = shortest_cycle_basis(edges, num_nodes, weights)
        assert basis.incidence.shape == (0, 0) and basis.lengths.shape == (0,)
        assert basis.total_weight == 0 and basis.is_unique and basis.num_relevant == 0


def test_forests_isolated_nodes_and_parts():
    forest = named_graphs.from_pairs([(0, 1), (1, 2), (3, 4)], 7)
    assert shortest_cycle_basis(*forest).incidence.shape == (3, 0)
    parts = named_graphs.from_pairs([(0, 1), (0, 2), (1, 2), (5, 6), (5, 8), (6, 8)], 10)
    basis = shortest_cycle_basis(*parts)
    assert cycles_of(basis) == [(0, 1, 2), (3, 4, 5)]
    assert_is_a_basis(*parts, basis)


def test_no_graphs_at_all():
    for num_threads in (1, 2):
        found = shortest_cycle_bases(
            np.zeros((2, 0), dtype=np.int64), np.zeros(1, dtype=np.int64),
            np.zeros(0, dtype=np.int64), num_threads=num_threads, count_relevant=True,
        )  # fmt: skip
        assert len(found) == 0 and found.cycle_ptr.tolist() == [0]
        assert found.num_relevant.shape == (0,)


def test_any_array_of_integers_is_taken_and_left_as_it_was():
    edges, num_nodes = named_graphs.petersen()
    expected = bytes_of(shortest_cycle_basis(edges, num_nodes))
    frozen = edges.copy()
    frozen.flags.writeable = False
    strided = np.repeat(edges, 2, axis=1)[:, ::2]
    kinds = [edges.astype(kind) for kind in (np.int32, np.int16, np.uint8, np.uint64, ">i8")]
    for given_edges in (frozen, strided, np.asfortranarray(edges), *kinds):
        before = given_edges.copy()
        assert bytes_of(shortest_cycle_basis(given_edges, num_nodes)) == expected
        ends = np.array([0, edges.shape[1]], dtype=np.int32)
        found = shortest_cycle_bases(given_edges, ends, num_nodes)
        assert bytes_of(found[0]) == expected
        np.testing.assert_array_equal(given_edges, before)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.int8, np.int64, np.uint8])
def test_weights_of_any_kind_are_computed_with_in_double_precision(kind):
    edges, num_nodes = named_graphs.theta()
    weights = np.array([10, 1, 2, 3, 4], dtype=kind)
    weights.flags.writeable = False
    basis = shortest_cycle_basis(edges, num_nodes, weights)
    assert basis.lengths.tolist() == [10.0, 14.0] and basis.lengths.dtype == np.float64


def test_a_tolerance_makes_decimal_sums_tie():
    # Three ways from 0 to 1, of length 0.3 each on paper and of three lengths in floats.
    edges = np.array([[0, 0, 1, 0, 1], [1, 2, 2, 3, 3]])
    weights = np.array([0.3, 0.1, 0.2, 0.05, 0.25])
    assert shortest_cycle_basis(edges, 4, weights).is_unique
    meant = shortest_cycle_basis(edges, 4, weights, weight_tol=1e-9)
    assert meant.num_relevant == 3 and not meant.is_unique
    assert cycles_of(meant) == [(0, 1, 2), (0, 3, 4)]
    found = shortest_cycle_bases(
        edges, np.array([0, 5]), 4, weights, weight_tol=1e-9, count_relevant=True
    )
    assert found.num_relevant.tolist() == [3]


@pytest.mark.parametrize(
    ("edges", "num_nodes", "kind", "code", "column", "says"),
    [
        ([[0, 1], [1, 3]], 3, GraphError, "node_out_of_range", 1, r"0 to 2.*\(1, 3\)"),
        ([[0, -1], [1, 1]], 3, GraphError, "node_out_of_range", 1, r"\(-1, 1\)"),
        ([[0, 1], [1, 1]], 3, GraphError, "self_loop", 1, "self_loops='cycle'"),
        ([[0, 2], [1, 1]], 3, GraphError, "reversed_edge", 1, r"\(2, 1\)"),
        ([[0, 1, 0], [1, 2, 1]], 3, GraphError, "repeated_edge", 2, "multi_edges='distinct'"),
        ([[0, 1], [1, 2], [0, 2]], 3, GraphError, "edges_shape", None, r"try: edges\.T"),
        ([0, 1], 3, GraphError, "edges_shape", None, r"\(2,\)"),
        ([[0, 1]], -1, GraphError, "edges_shape", None, r"\(1, 2\)"),
        ([[0], [1]], -1, GraphError, "num_nodes", None, "-1"),
        ([[0.0], [1.0]], 2, TypeError, None, None, "float64"),
        ([[False], [True]], 2, TypeError, None, None, "bool"),
        ([[0], [1]], 2.0, TypeError, None, None, "`num_nodes` must be a whole number"),
        ([[0], [1]], True, TypeError, None, None, "`num_nodes` must be a whole number"),
        ([[0], [1]], np.array([2]), TypeError, None, None, "`num_nodes` must be a whole number"),
    ],
)  # fmt: skip
def test_bad_edges_are_refused(edges, num_nodes, kind, code, column, says):
    with refused(kind, says, code) as caught:
        shortest_cycle_basis(np.array(edges), num_nodes)
    if code is not None:
        assert (caught.value.column, caught.value.graph_index) == (column, None)


@pytest.mark.parametrize(
    ("weights", "code", "column", "says"),
    [
        ([1, 1, 1, 1], "weight_shape", None, r"5 edges.*\(4,\)"),
        ([[1, 1, 1, 1, 1]], "weight_shape", None, r"\(1, 5\)"),
        ([1, 1, np.nan, 1, 1], "weight_value", 2, "edge 2 has nan"),
        ([1, np.inf, 1, 1, 1], "weight_value", 1, "edge 1 has inf"),
        ([1, 1, 1, -0.5, -1], "weight_value", 3, "edge 3 has -0.5"),
        ([1.5e308] * 5, "weight_value", None, "sum"),
    ],
)
def test_bad_weights_are_refused(weights, code, column, says):
    edges, num_nodes = named_graphs.theta()
    with refused(GraphError, says, code) as caught:
        shortest_cycle_basis(edges, num_nodes, np.array(weights, dtype=np.float64))
    assert caught.value.column == column


def test_bad_graphs_and_weights_of_packed_graphs_are_named():
    batch = [named_graphs.theta(), named_graphs.path(1), named_graphs.theta()]
    edges, edge_ptr, num_nodes = packed(batch)
    weights = np.ones(10)
    weights[7] = np.nan
    with refused(GraphError, "edge 2 has nan", "weight_value") as caught:
        shortest_cycle_bases(edges, edge_ptr, num_nodes, weights)
    assert (caught.value.graph_index, caught.value.column) == (2, 2)
    with refused(GraphError, r"10 edges.*\(9,\)", "weight_shape"):
        shortest_cycle_bases(edges, edge_ptr, num_nodes, weights[:9])
    edges[:, 6] = edges[:, 5]
    with refused(GraphError, "appears again in column 1", "repeated_edge") as caught:
        shortest_cycle_bases(edges, edge_ptr, num_nodes)
    assert (caught.value.graph_index, caught.value.column) == (2, 1)


@pytest.mark.parametrize(
    "options", [{"self_loops": "drop"}, {"multi_edges": "merge"}, {"self_loops": None}]
)
def test_unknown_policies_are_refused(options):
    with refused(ValueError, next(iter(options))):
        shortest_cycle_basis(*named_graphs.theta(), **options)


@pytest.mark.parametrize("tolerance", [0.0, -1e-9, 1e-30, np.nan, np.inf])
def test_bad_tolerances_are_refused(tolerance):
    edges, num_nodes = named_graphs.theta()
    with refused(GraphError, "weight_tol", "weight_tol"):
        shortest_cycle_basis(edges, num_nodes, np.ones(5), weight_tol=tolerance)


def test_a_block_that_would_not_fit_is_refused_before_it_is_solved(monkeypatch):
    def must_not_be_called(*_):
        raise AssertionError("the work space was allocated")

    monkeypatch.setattr(basis_kernels, "_solve_any_blocks", must_not_be_called)
    edges, num_nodes = named_graphs.complete(20)
    with refused(TooLargeError, "the shortest cycle basis", "too_large") as caught:
        shortest_cycle_basis(edges, num_nodes, max_bytes=1000)
    # 171 independent cycles take three words for each of 190 edges and 20 nodes.
    assert caught.value.bytes_needed == 8 * 3 * (190 + 20)
    assert caught.value.max_bytes == 1000
    assert caught.value.num_edges == caught.value.largest_block == 190
    two, edge_ptr, counts = packed([named_graphs.cycle(3), (edges, num_nodes)])
    with refused(TooLargeError, "try: ", "too_large"):
        shortest_cycle_bases(two, edge_ptr, counts, max_bytes=1000)


def test_long_chains_take_no_room():
    edges, num_nodes = named_graphs.ring_with_chord(1000, 400)
    assert shortest_cycle_basis(edges, num_nodes, max_bytes=100).num_cycles == 2
