import itertools
import math

import named_graphs
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interpreted import interpreted
from oracles import first_shortest_paths, networkx_graph, relevant_cycles_brute_force
from strategies import examples, graphs, multigraphs

from cyclenet.topology.basis_kernels import solve_blocks, split_into_chains
from cyclenet.topology.candidates import (
    CHAINS,
    EDGES,
    HEAP_ROWS,
    LENGTH,
    PACKED,
    RANK,
    SIZE,
    VERTEX_ROWS,
    grow_tree,
)
from cyclenet.topology.chains import CHAIN_ROWS, END, HOPS, KEY, MEMBERS, START
from cyclenet.topology.families import PATH_ROWS, _next_path, list_relevant
from cyclenet.topology.forest import EDGE, list_arcs


def families_of(graph, keys=None, kernel=list_relevant):
    """Every listed cycle as (length, edges), block by block, and the counts of the blocks."""
    edges, num_nodes = graph
    keys = np.ones(edges.shape[1], dtype=np.int64) if keys is None else keys
    tail, head = edges
    ends = np.array([0, edges.shape[1]])
    _, chain_ptr, branches, chain, members = split_into_chains(
        tail, head, keys, ends, np.array([num_nodes])
    )
    found, found_ptr, relevant = solve_blocks(chain, chain_ptr, branches, members, True)
    before = found.copy()
    listing, listing_ptr = kernel(chain, chain_ptr, branches, members, found, found_ptr)
    np.testing.assert_array_equal(found[: found_ptr[-1]], before[: found_ptr[-1]])
    cycles = []
    p = 0
    while p < listing_ptr[-1]:
        last = p + CHAINS + int(listing[p + SIZE])
        chains = listing[p + CHAINS : last].tolist()
        inside = [members[chain[MEMBERS, i] : chain[MEMBERS, i + 1]].tolist() for i in chains]
        cycle = tuple(sorted(e for part in inside for e in part))
        assert chains == sorted(set(chains))
        assert listing[p + LENGTH] == keys[[*cycle]].sum() and listing[p + EDGES] == len(cycle)
        assert listing[p + PACKED] == cycle[0]
        cycles.append((int(listing[p + LENGTH]), cycle))
        p = last
    assert p == listing_ptr[-1]
    return cycles, relevant.tolist()


def test_a_theta_of_equal_paths_is_spread_into_three_cycles():
    cycles, counts = families_of(named_graphs.bicyclo_222_octane())
    assert counts == [3] and len(cycles) == 3 and {length for length, _ in cycles} == {6}


@given(multigraphs(max_nodes=7), st.data())
@examples(200, 10_000)
def test_spreading_the_families_lists_every_relevant_cycle_once(graph, data):
    edges, num_nodes = graph
    size = edges.shape[1]
    keys = np.array(data.draw(st.lists(st.integers(1, 3), min_size=size, max_size=size)), dtype=int)
    cycles, counts = families_of(graph, keys)
    assert len(set(cycles)) == len(cycles) == sum(counts)
    expected = relevant_cycles_brute_force(edges, num_nodes, keys)
    assert sorted(cycle for _, cycle in cycles) == sorted(expected)


@given(graphs(max_nodes=9, max_edges=20))
@examples(50, 5000)
def test_the_kernel_stays_inside_its_arrays(graph):
    assert families_of(graph) == families_of(graph, kernel=interpreted(list_relevant))


@pytest.mark.parametrize("pieces", [1, 3])
def test_families_of_many_middles_and_of_chains(pieces):
    for graph, count in (
        (named_graphs.diamond_ring(6), 6 + 2**6),
        (named_graphs.complete_bipartite(3, 4), 3 * 6),
        (named_graphs.hypercube(4), 24),
        (named_graphs.complete(9), 84),
        (named_graphs.petersen(), 12),
    ):
        cycles, counts = families_of(named_graphs.subdivided(graph, pieces))
        assert len(set(cycles)) == len(cycles) == sum(counts) == count


@given(graphs(max_nodes=8, connected=True), st.data())
@examples(100, 5000)
def test_every_shortest_path_up_to_the_root_comes_once(graph, data):
    edges, num_nodes = graph
    if not num_nodes:
        return
    size = edges.shape[1]
    root = data.draw(st.integers(0, num_nodes - 1))
    end = data.draw(st.integers(0, num_nodes - 1))
    keys = np.array(data.draw(st.lists(st.integers(1, 2), min_size=size, max_size=size)), dtype=int)
    chain = np.zeros((CHAIN_ROWS, size), dtype=np.int64)
    chain[[START, END]], chain[KEY], chain[HOPS] = edges, keys, 1
    starts, arcs = np.empty(num_nodes + 1, dtype=np.int64), np.empty((2, 2 * size), dtype=np.int64)
    interpreted(list_arcs)(*edges, size, num_nodes, starts, arcs)
    vertex = np.zeros((VERTEX_ROWS, num_nodes), dtype=np.int64)
    vertex[RANK] = 9
    heap = np.empty((HEAP_ROWS, 2 * size + num_nodes), dtype=np.int64)
    interpreted(grow_tree)(
        root, 0, 1, 100, 1, len(set(keys)) <= 1, chain, starts, arcs, vertex, heap
    )
    for side in (0, 2):
        walk = np.full((PATH_ROWS, num_nodes + 1), -7)
        walk[side, 0], walk[side + 1, 0] = end, starts[end] - 1
        found = []
        depth = interpreted(_next_path)(side, 0, root, 1, chain, starts, arcs, vertex, walk)
        while depth >= 0:
            found.append(tuple(sorted(arcs[EDGE, walk[side + 1, :depth]].tolist())))
            depth = interpreted(_next_path)(
                side, depth - 1, root, 1, chain, starts, arcs, vertex, walk
            )
        plain = networkx_graph(edges, num_nodes, keys.tolist())
        expected = nx.all_shortest_paths(plain, root, end, weight="weight")
        named = [
            tuple(sorted(plain.edges[pair]["edge"] for pair in itertools.pairwise(way)))
            for way in expected
        ]
        assert sorted(found) == sorted(named)
        assert len(found) == first_shortest_paths(edges, num_nodes, root, keys)[end][2]


def test_a_grid_corner_to_corner_has_binomially_many_paths_and_squares_only():
    rows = 5
    cycles, counts = families_of(named_graphs.grid(rows, rows))
    assert sum(counts) == len(cycles) == (rows - 1) ** 2
    paths = first_shortest_paths(*named_graphs.grid(3, 3), 0)
    assert paths[8][2] == math.comb(4, 2)
