from collections import Counter

import named_graphs
import numpy as np
from hypothesis import given
from interpreted import interpreted
from strategies import examples, graphs, multigraphs

from cyclenet.topology.basis_kernels import split_into_chains
from cyclenet.topology.blocks import blocks_of
from cyclenet.topology.chains import END, HOPS, KEY, MEMBERS, START


def chains_of(edges, num_nodes, keys=None):
    """(edges of the chain, table entries) of each chain of each block, and the branch nodes."""
    keys = np.ones(edges.shape[1], dtype=np.int64) if keys is None else keys
    ends = np.array([0, edges.shape[1]])
    block_ptr, chain_ptr, branches, chain, members = interpreted(split_into_chains)(
        edges[0].copy(), edges[1].copy(), keys, ends, np.array([num_nodes])
    )
    assert block_ptr.tolist() == [0, branches.size]
    found = []
    for b in range(branches.size):
        rows = []
        for i in range(chain_ptr[b], chain_ptr[b + 1]):
            inside = members[chain[MEMBERS, i] : chain[MEMBERS, i + 1]]
            rows.append((inside.tolist(), chain[:, i]))
        found.append((rows, int(branches[b])))
    return found


def ends_of(edges, chain):
    met = Counter(edges[:, chain].ravel().tolist())
    return frozenset(node for node, count in met.items() if count == 1)


def test_a_square_with_a_diagonal_is_three_chains_between_two_branch_nodes():
    edges = np.array([[0, 0, 0, 1, 2], [1, 2, 3, 2, 3]])
    [(chains, branches)] = chains_of(edges, 4, np.array([1, 10, 100, 1000, 10_000]))
    assert branches == 2
    assert [sorted(inside) for inside, _ in chains] == [[0, 3], [1], [2, 4]]
    assert [int(row[KEY]) for _, row in chains] == [1001, 10, 10_100]
    assert [int(row[HOPS]) for _, row in chains] == [2, 1, 2]


def test_a_ring_is_one_chain_without_branch_nodes():
    [(chains, branches)] = chains_of(*named_graphs.cycle(5))
    assert branches == 0
    assert [inside for inside, _ in chains] == [[0, 1, 2, 3, 4]]


@given(multigraphs(max_nodes=10))
@examples(200, 20_000)
def test_the_chains_of_a_block_share_out_its_edges_in_the_order_of_their_lowest(graph):
    edges, num_nodes = graph
    edge_block = blocks_of(edges, num_nodes).edge_block
    found = chains_of(edges, num_nodes)
    assert len(found) == edge_block.max(initial=-1) + 1
    for block, (chains, _) in enumerate(found):
        inside = [e for chain, _ in chains for e in chain]
        assert sorted(inside) == np.flatnonzero(edge_block == block).tolist()
        lowest = [min(chain) for chain, _ in chains]
        assert lowest == sorted(lowest) and lowest == [chain[0] for chain, _ in chains]


@given(graphs(max_nodes=14))
@examples(200, 20_000)
def test_a_chain_is_a_path_through_nodes_of_degree_two(graph):
    edges, num_nodes = graph
    keys = 1 + np.arange(edges.shape[1]) ** 2
    for chains, branches in chains_of(edges, num_nodes, keys):
        degree = Counter(edges[:, [e for chain, _ in chains for e in chain]].ravel().tolist())
        for chain, row in chains:
            assert row[HOPS] == len(chain) and row[KEY] == keys[chain].sum()
            met = Counter(edges[:, chain].ravel().tolist())
            assert all(degree[node] == 2 for node, count in met.items() if count == 2)
            assert all(degree[node] > 2 for node in ends_of(edges, chain))
            assert len(ends_of(edges, chain)) == (2 if branches else 0)
        assert branches == sum(count > 2 for count in degree.values())


@given(graphs(max_nodes=12))
def test_contraction_keeps_the_betti_number_and_bounds_the_size(graph):
    edges, num_nodes = graph
    betti = blocks_of(edges, num_nodes).betti
    for g, (chains, branches) in zip(betti.tolist(), chains_of(edges, num_nodes), strict=True):
        assert len(chains) - branches + (branches > 0) == g
        if g > 1:
            assert branches <= 2 * (g - 1) and len(chains) <= 3 * (g - 1)


@given(graphs(max_nodes=9))
def test_chains_meet_in_the_table_where_they_meet_in_the_graph(graph):
    edges, num_nodes = graph
    for chains, branches in chains_of(edges, num_nodes):
        meeting = {}
        for chain, row in chains:
            for branch in {int(row[START]), int(row[END])} if branches else ():
                meeting.setdefault(branch, []).append(ends_of(edges, chain))
        assert sorted(meeting) == list(range(branches))
        nodes = [frozenset.intersection(*ends) for ends in meeting.values()]
        # Two branch nodes share all chains and cannot be told apart; more can.
        assert len(frozenset.union(frozenset(), *nodes)) == branches
        assert branches == 2 or all(len(node) == 1 for node in nodes)


def test_subdividing_changes_the_edges_of_the_chains_and_nothing_else():
    plain = named_graphs.complete(5)
    [(chains, branches)] = chains_of(*plain)
    [(longer, same)] = chains_of(*named_graphs.subdivided(plain, 4))
    assert branches == same == 5 and len(chains) == len(longer) == 10
    assert {int(row[HOPS]) for _, row in longer} == {4}
