import threading
from collections import Counter

import named_graphs
import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import arcs_of, batches, examples, graphs, packed, relabelled, relabellings

from cyclenet.topology.edges import edges_from_arcs
from cyclenet.topology.errors import GraphError, TooLargeError
from cyclenet.topology.forest import fundamental_cycles
from cyclenet.topology.incidence import betti_number
from cyclenet.topology.projector import (
    arc_projector,
    cycle_projector,
    cycle_projectors,
    projector_diagonal,
)
from cyclenet.topology.shortest_basis import shortest_cycle_basis

CLOSE = 1e-9
EXACT = 1e-12


def number_of_zeros(column):
    return int(np.sum(np.abs(column) < CLOSE))


# One graph


@examples(quick=500, deep=50_000)
@given(graphs(14))
def test_it_is_the_orthogonal_projector_on_the_kernel_of_the_incidence(case):
    edges, num_nodes = case
    projector = cycle_projector(edges, num_nodes)
    np.testing.assert_array_equal(projector, projector.T)
    np.testing.assert_allclose(projector @ projector, projector, atol=EXACT)
    assert projector.trace() == pytest.approx(betti_number(edges, num_nodes), abs=EXACT)
    incidence = oracles.dense_incidence(edges, num_nodes)
    np.testing.assert_allclose(incidence @ projector, 0, atol=EXACT)
    np.testing.assert_allclose(projector, oracles.projector_by_svd(*case), atol=CLOSE)


@examples(quick=200, deep=20_000)
@given(graphs(12))
def test_every_cycle_basis_gives_the_same_projector(case):
    projector = cycle_projector(*case)
    for cycles in (fundamental_cycles(*case), shortest_cycle_basis(*case).incidence):
        expected = oracles.projector_of_cycles(cycles.toarray())
        np.testing.assert_allclose(projector, expected, atol=EXACT)
        np.testing.assert_allclose(projector @ cycles.toarray(), cycles.toarray(), atol=EXACT)


@examples(quick=200, deep=20_000)
@given(graphs(12), st.data())
def test_relabelling_permutes_and_flips_no_more_than_signs(case, data):
    edges, num_nodes = case
    permutation = data.draw(relabellings(num_nodes))
    order = np.array(data.draw(st.permutations(range(edges.shape[1]))), dtype=np.int64)
    renamed, signs = relabelled(edges[:, order], permutation)
    before = cycle_projector(edges, num_nodes)[np.ix_(order, order)]
    after = cycle_projector(renamed, num_nodes)
    np.testing.assert_allclose(after, np.outer(signs, signs) * before, atol=EXACT)


@examples(quick=200, deep=20_000)
@given(graphs(12))
def test_entries_between_blocks_and_on_bridges_are_exactly_zero(case):
    block = np.array(oracles.edge_blocks(*case), dtype=np.int64)
    together = (block[:, None] == block[None, :]) & (block >= 0)
    assert np.all(cycle_projector(*case)[~together] == 0)


def test_bridges_have_zero_rows():
    projector = cycle_projector(*named_graphs.two_triangles_and_a_bridge())
    assert np.all(projector[3] == 0)
    assert np.all(projector[:, 3] == 0)


def test_a_lone_cycle_has_entries_of_one_over_its_length():
    edges, num_nodes = named_graphs.cycle(7)
    projector = cycle_projector(edges, num_nodes)
    np.testing.assert_array_equal(np.abs(projector), np.full((7, 7), 1 / 7))


def test_the_theta_graph_has_the_entries_one_finds_by_hand():
    # Two triangles on edge 0. Around it the resistance is 1 parallel to 2 parallel to 2.
    projector = cycle_projector(*named_graphs.theta())
    np.testing.assert_allclose(np.diag(projector), [1 / 2, 3 / 8, 3 / 8, 3 / 8, 3 / 8], atol=EXACT)


@pytest.mark.parametrize(
    ("graph", "zeros", "row_sum", "entries"),
    [
        (named_graphs.rook(), 22, 2.625, {0: 22, 2: 3, 1: 12, 4: 6, 5: 4, 22: 1}),
        (named_graphs.shrikhande(), 16, 2.75, {0: 16, 1: 20, 2: 1, 4: 6, 5: 4, 22: 1}),
    ],
    ids=["rook", "shrikhande"],
)
def test_the_rook_and_the_shrikhande_graph_differ_in_their_zeros(graph, zeros, row_sum, entries):
    size = np.abs(cycle_projector(*graph))
    assert size.shape == (48, 48)
    np.testing.assert_allclose(np.diag(size), 11 / 16, atol=EXACT)
    np.testing.assert_allclose(size.sum(axis=1), row_sum, atol=EXACT)
    for column in size.T:
        assert number_of_zeros(column) == zeros
        assert Counter(np.rint(32 * column).astype(int).tolist()) == entries
        np.testing.assert_allclose(32 * column, np.rint(32 * column), atol=CLOSE)


@pytest.mark.parametrize("twist", [0, 1])
def test_the_4_cfi_graphs_have_the_same_multiset_in_every_column(twist):
    size = 1920 * np.abs(cycle_projector(*named_graphs.cfi(4, twist)))
    whole = np.rint(size).astype(int)
    np.testing.assert_allclose(size, whole, atol=CLOSE)
    expected = {
        0: 36, 1: 60, 2: 15, 3: 12, 5: 12, 6: 1, 7: 60, 8: 48, 9: 12, 14: 9, 15: 12, 16: 12,
        109: 12, 110: 6, 117: 12, 1686: 1,
    }  # fmt: skip
    for column in whole.T:
        assert Counter(column.tolist()) == expected
    np.testing.assert_array_equal(np.diag(whole), 6 * 281)


# The diagonal


@examples(quick=200, deep=20_000)
@given(graphs(14))
def test_the_diagonal_is_one_minus_the_effective_resistance(case):
    diagonal = projector_diagonal(*case)
    np.testing.assert_allclose(diagonal, np.diag(cycle_projector(*case)), atol=EXACT)
    np.testing.assert_allclose(diagonal, 1 - oracles.effective_resistances(*case), atol=CLOSE)
    bridges = np.array(oracles.edge_blocks(*case), dtype=np.int64) < 0
    np.testing.assert_array_equal(diagonal == 0, bridges)


def test_the_diagonal_of_a_graph_too_large_for_its_matrix_sums_to_the_betti_number():
    edges, num_nodes = named_graphs.grid(110, 100)
    with pytest.raises(TooLargeError, match="projector_diagonal"):
        cycle_projector(edges, num_nodes, max_bytes=10**9)
    diagonal = projector_diagonal(edges, num_nodes)
    assert diagonal.sum() == pytest.approx(109 * 99, abs=1e-6)
    # Far from the border the grid looks like the plane, where an edge has resistance 1/2.
    middle = np.all(np.abs(edges // 100 - 55) < 10, axis=0)
    middle &= np.all(np.abs(edges % 100 - 50) < 10, axis=0)
    np.testing.assert_allclose(diagonal[middle], 0.5, atol=1e-3)


# Both directions


@examples(quick=200, deep=20_000)
@given(graphs(9), st.data())
def test_the_projector_on_arcs_is_the_one_of_the_doubled_graph(case, data):
    edges, num_nodes = case
    arcs = data.draw(arcs_of(edges))
    found = edges_from_arcs(arcs, num_nodes)
    projector = cycle_projector(found.edges, num_nodes)
    on_arcs = arc_projector(projector, found.arc_to_edge, found.arc_sign)
    np.testing.assert_allclose(on_arcs, oracles.arc_projector_by_svd(arcs, num_nodes), atol=CLOSE)
    np.testing.assert_allclose(on_arcs.sum(axis=1), 1, atol=EXACT)
    diagonal = (1 + projector_diagonal(found.edges, num_nodes))[found.arc_to_edge] / 2
    np.testing.assert_allclose(np.diag(on_arcs), diagonal, atol=EXACT)
    components = oracles.component_count(edges, num_nodes)
    dimension = arcs.shape[1] - num_nodes + components
    assert on_arcs.trace() == pytest.approx(dimension, abs=EXACT)


@examples(quick=150, deep=20_000)
@given(graphs(9), st.data())
def test_the_projector_on_arcs_does_not_know_which_end_came_first(case, data):
    edges, num_nodes = case
    arcs = data.draw(arcs_of(edges))
    permutation = data.draw(relabellings(num_nodes))

    def of(these):
        found = edges_from_arcs(these, num_nodes)
        projector = cycle_projector(found.edges, num_nodes)
        return arc_projector(projector, found.arc_to_edge, found.arc_sign)

    renamed = permutation[arcs].reshape(2, -1)
    np.testing.assert_allclose(of(arcs), of(renamed), atol=EXACT)


def test_a_loop_has_zero_rows_on_arcs():
    arcs = np.array([[0, 1, 1], [1, 0, 1]])
    found = edges_from_arcs(arcs, 2)
    projector = cycle_projector(found.edges, 2)
    on_arcs = arc_projector(projector, found.arc_to_edge, found.arc_sign)
    np.testing.assert_array_equal(on_arcs, [[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 0]])
    lone_loop = edges_from_arcs(np.array([[0], [0]]), 1)
    alone = arc_projector(np.zeros((0, 0)), lone_loop.arc_to_edge, lone_loop.arc_sign)
    np.testing.assert_array_equal(alone, [[0]])


# Many graphs


@examples(quick=200, deep=20_000)
@given(batches())
def test_a_batch_gives_what_its_graphs_give_alone(batch):
    edges, edge_ptr, num_nodes = packed(batch)
    found = cycle_projectors(edges, edge_ptr, num_nodes)
    assert len(found) == len(batch)
    for i, (its_edges, its_nodes) in enumerate(batch):
        np.testing.assert_array_equal(found[i], cycle_projector(its_edges, its_nodes))
    sizes = [Counter(b for b in oracles.edge_blocks(*graph) if b >= 0) for graph in batch]
    expected = [sum(size**2 for size in count.values()) for count in sizes]
    assert np.diff(found.pair_ptr).tolist() == expected


def test_the_number_of_threads_does_not_change_a_byte():
    rng = np.random.default_rng(5)
    batch = [named_graphs.complete(k) for k in range(9)]
    batch += [named_graphs.grid(2, int(k)) for k in rng.integers(1, 20, size=40)]
    before = set(threading.enumerate())  # other tests may have left one
    one = cycle_projectors(*packed(batch))
    two = cycle_projectors(*packed(batch), num_threads=2)
    for name in ("pair_ptr", "pair_edges", "values"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert set(threading.enumerate()) <= before


def test_a_batch_of_nothing_has_no_pairs():
    found = cycle_projectors(*packed([]))
    assert len(found) == 0
    assert found.values.size == 0
    found = cycle_projectors(*packed([named_graphs.path(3), (np.zeros((2, 0), int), 0)]))
    assert found.pair_ptr.tolist() == [0, 0, 0]
    with pytest.raises(IndexError, match="0 to 1"):
        found[2]


def test_a_bad_graph_in_a_batch_is_named():
    edges, edge_ptr, num_nodes = packed([named_graphs.cycle(3), named_graphs.cycle(4)])
    edges[:, 5] = (3, 1)
    with pytest.raises(GraphError) as caught:
        cycle_projectors(edges, edge_ptr, num_nodes)
    assert (caught.value.graph_index, caught.value.column) == (1, 2)
    assert caught.value.code == "reversed_edge"


# Size


def test_the_size_is_known_before_memory_is_taken():
    edges, num_nodes = named_graphs.grid(20, 20)
    with pytest.raises(TooLargeError) as caught:
        cycle_projector(edges, num_nodes, max_bytes=10**6)
    error = caught.value
    assert error.num_edges == error.largest_block == 760
    assert error.bytes_needed > 8 * 760**2 > error.max_bytes == 10**6
    with pytest.raises(TooLargeError, match="list of projector entries"):
        cycle_projectors(edges, np.array([0, 760]), num_nodes, max_bytes=10**6)
    edges, num_nodes = named_graphs.grid(30, 30)
    with_tail = np.concatenate((edges, [[num_nodes - 1], [num_nodes]]), axis=1)
    with pytest.raises(TooLargeError, match="diagonal") as caught:
        projector_diagonal(with_tail, num_nodes + 1, max_bytes=10**5)
    assert (caught.value.num_edges, caught.value.largest_block) == (1741, 1740)


def test_a_million_edges_are_refused_in_no_time():
    edges, num_nodes = named_graphs.grid(2, 3)
    copies = 150_000
    shifts = np.repeat(np.arange(copies) * num_nodes, edges.shape[1])
    many = np.tile(edges, copies) + shifts
    with pytest.raises(TooLargeError, match="m = 1050000 edges, 7 of them in the largest block"):
        cycle_projector(many, copies * num_nodes)
