import named_graphs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interpreted import interpreted
from oracles import lexicographic_shortest_basis, relevant_cycles_brute_force
from strategies import batches, examples, graphs, packed

from cyclenet.topology.basis_kernels import (
    SMALL,
    collect_cycles,
    room_for,
    solve_blocks,
    split_into_chains,
)
from cyclenet.topology.candidates import CHAINS, EDGES, LENGTH, PACKED, SIZE
from cyclenet.topology.chains import MEMBERS

PASSES = {
    "compiled": (split_into_chains, solve_blocks, collect_cycles),
    "interpreted": tuple(map(interpreted, (split_into_chains, solve_blocks, collect_cycles))),
}


def records_of(found, found_ptr):
    """(length, edges, lowest edge, chains) of each record of each block."""
    blocks = []
    for p, end in zip(found_ptr[:-1].tolist(), found_ptr[1:].tolist(), strict=True):
        rows = []
        while p < end:
            last = p + CHAINS + int(found[p + SIZE])
            rows.append((*found[[p + LENGTH, p + EDGES, p + PACKED]].tolist(),
                         found[p + CHAINS : last].tolist()))  # fmt: skip
            p = last
        assert p == end
        blocks.append(rows)
    return blocks


def all_passes(passes, batch, keys=None):
    split, solve, collect = passes
    edges, edge_ptr, num_nodes = packed(batch)
    keys = np.ones(edges.shape[1], dtype=np.int64) if keys is None else keys
    tail, head = edges
    block_ptr, chain_ptr, branches, chain, members = split(tail, head, keys, edge_ptr, num_nodes)
    found, found_ptr, relevant = solve(chain, chain_ptr, branches, members, True)
    cycles = collect(
        tail, head, edge_ptr, num_nodes, block_ptr, chain_ptr, chain, members, found, found_ptr
    )
    filled = [part.tolist() for part in (block_ptr, chain_ptr, branches, relevant)]
    entries = [part.tolist() for part in cycles]
    members_used = members[: chain[MEMBERS, chain_ptr[-1]]].tolist()
    return *filled, members_used, records_of(found, found_ptr), *entries


@given(batches(max_nodes=10), st.integers(0, 3), st.randoms(use_true_random=False))
@examples(100, 10_000)
def test_compiled_and_interpreted_passes_agree_and_stay_inside_their_arrays(batch, spread, random):
    size = sum(edges.shape[1] for edges, _ in batch)
    keys = np.array([1 + random.randint(0, spread) for _ in range(size)], dtype=np.int64)
    one, other = (all_passes(passes, batch, keys) for passes in PASSES.values())
    assert one == other


@pytest.mark.parametrize("size", [8, 13])
def test_they_agree_on_blocks_beyond_the_small_work_space_too(size):
    graph = named_graphs.complete(size)
    assert graph[0].shape[1] > SMALL or size == 8
    one, other = (all_passes(passes, [graph]) for passes in PASSES.values())
    assert one == other


def test_what_is_left_of_a_large_block_does_not_reach_the_next():
    batch = [named_graphs.complete(12), named_graphs.cycle(4), named_graphs.theta()]
    together = all_passes(PASSES["compiled"], batch)
    alone = [all_passes(PASSES["compiled"], [graph]) for graph in batch]
    assert together[3] == [count for found in alone for count in found[3]]
    assert together[-1] == [length for found in alone for length in found[-1]]
    assert together[-3] == [edge for found in alone for edge in found[-3]]


@given(graphs(max_nodes=7))
def test_records_are_in_order_and_name_their_lowest_edge(graph):
    edges, num_nodes = graph
    *_, blocks, _, _, cycle_edges, _, _ = all_passes(PASSES["compiled"], [graph])
    lowest = {cycle[0] for cycle in lexicographic_shortest_basis(edges, num_nodes)}
    for rows in blocks:
        assert rows == sorted(rows, key=lambda row: row[:3])
        assert {row[2] for row in rows} <= lowest
    assert sum(row[1] for rows in blocks for row in rows) == len(cycle_edges)


@given(graphs(max_nodes=7))
def test_the_counts_of_the_blocks_add_up_to_the_relevant_cycles(graph):
    relevant = all_passes(PASSES["compiled"], [graph])[3]
    assert sum(relevant) == len(relevant_cycles_brute_force(*graph))


def test_a_square_with_a_diagonal_by_hand():
    square_with_diagonal = np.array([[0, 0, 0, 1, 2], [1, 2, 3, 2, 3]]), 4
    found = all_passes(PASSES["compiled"], [square_with_diagonal])
    block_ptr, chain_ptr, branches, relevant, members, blocks, *cycles = found
    assert (block_ptr, chain_ptr, branches, relevant) == ([0, 1], [0, 3], [2], [2])
    assert sorted(members) == [0, 1, 2, 3, 4]
    assert blocks == [[(3, 3, 0, [0, 1]), (3, 3, 1, [1, 2])]]
    assert cycles == [
        [0, 2], [0, 3, 6], [0, 1, 3, 1, 2, 4], [1, -1, 1, 1, -1, 1], [3, 3],
    ]  # fmt: skip


@given(st.integers(0, 20), st.integers(0, 50), st.integers(0, 20))
def test_a_buffer_grows_when_it_is_full_and_keeps_what_it_holds(size, more, filled):
    buffer = np.arange(size)
    filled = min(filled, size)
    grown = interpreted(room_for)(buffer, filled, more)
    assert grown.size >= filled + more
    assert grown[:filled].tolist() == list(range(filled))
    if filled + more <= size:
        assert grown is buffer
    else:
        assert grown.size >= 2 * size
