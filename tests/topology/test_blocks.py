import named_graphs
import numpy as np
import pytest
from bad_input import refused
from hypothesis import given
from oracles import betti_by_rank, edge_blocks
from strategies import examples, graphs, multigraphs, relabelled, relabellings

from cyclenet.topology import GraphError, betti_number, blocks
from cyclenet.topology.blocks import blocks_of


def test_two_triangles_and_the_bridge_between_them_by_hand():
    found = blocks(*named_graphs.two_triangles_and_a_bridge())
    assert found.edge_block.tolist() == [0, 0, 0, -1, 1, 1, 1]
    assert found.bridges.tolist() == [False] * 3 + [True] + [False] * 3
    assert found.sizes.tolist() == [3, 3] and found.betti.tolist() == [1, 1]
    assert (found.num_blocks, found.num_pairs, found.largest) == (2, 18, 3)


def test_triangles_on_one_node_are_two_blocks_and_on_one_edge_one():
    assert blocks(*named_graphs.bowtie()).edge_block.tolist() == [0, 0, 1, 1, 0, 1]
    theta = blocks(*named_graphs.theta())
    assert theta.edge_block.tolist() == [0] * 5 and theta.betti.tolist() == [2]


@given(graphs(max_nodes=14))
@examples(300, 50_000)
def test_blocks_are_the_biconnected_components(graph):
    edges, num_nodes = graph
    assert blocks(edges, num_nodes).edge_block.tolist() == edge_blocks(edges, num_nodes)


@given(multigraphs(max_nodes=10, max_extra=6))
@examples(200, 20_000)
def test_loops_and_parallel_edges_are_cycles(graph):
    edges, num_nodes = graph
    assert blocks_of(edges, num_nodes).edge_block.tolist() == edge_blocks(edges, num_nodes)


@given(multigraphs())
def test_sizes_and_betti_numbers_are_those_of_the_parts(graph):
    edges, num_nodes = graph
    found = blocks_of(edges, num_nodes)
    for block in range(found.num_blocks):
        inside = edges[:, found.edge_block == block]
        assert found.sizes[block] == inside.shape[1]
        assert found.betti[block] == inside.shape[1] - np.unique(inside).size + 1 >= 1
    assert found.betti.sum() == betti_by_rank(edges, num_nodes)
    assert found.num_pairs == (found.sizes**2).sum()
    assert found.largest == max(found.sizes, default=0)
    assert found.bridges.sum() + found.sizes.sum() == edges.shape[1]


@given(graphs())
def test_a_bridge_is_an_edge_without_which_there_are_more_components(graph):
    edges, num_nodes = graph
    betti = betti_number(edges, num_nodes)
    without = [betti_number(np.delete(edges, e, axis=1), num_nodes) for e in range(edges.shape[1])]
    assert blocks(edges, num_nodes).bridges.tolist() == [b == betti for b in without]


@given(graphs().flatmap(lambda g: relabellings(g[1]).map(lambda names: (*g, names))))
@examples(200, 20_000)
def test_names_of_the_nodes_do_not_matter(drawn):
    edges, num_nodes, names = drawn
    renamed, _ = relabelled(edges, names)
    one, other = blocks(edges, num_nodes), blocks(renamed, num_nodes)
    assert one.edge_block.tolist() == other.edge_block.tolist()
    assert one.betti.tolist() == other.betti.tolist()


@pytest.mark.parametrize("num_nodes", [0, 1, 4])
def test_without_edges_there_are_no_blocks(num_nodes):
    found = blocks(np.zeros((2, 0), dtype=np.int64), num_nodes)
    assert (found.num_blocks, found.num_pairs, found.largest) == (0, 0, 0)
    assert found.edge_block.shape == found.betti.shape == (0,)


def test_in_a_forest_every_edge_is_a_bridge():
    found = blocks(*named_graphs.path(6))
    assert found.bridges.all() and found.num_blocks == 0 and found.num_pairs == 0


@pytest.mark.parametrize("shuffled", [False, True])
def test_long_cycles_and_chains_of_blocks_need_no_recursion(shuffled):
    count = 5000
    names = np.random.default_rng(0).permutation(2 * count + 1) if shuffled else None
    chain = [pair for i in range(count) for pair in ((2 * i, 2 * i + 1), (2 * i + 1, 2 * i + 2))]
    chain += [(2 * i, 2 * i + 2) for i in range(count)]
    edges = np.array(chain, dtype=np.int64).T
    ring = np.array([np.arange(2 * count), (np.arange(2 * count) + 1) % (2 * count)])
    if names is not None:
        edges, ring = names[edges], names[ring]
    found = blocks(np.sort(edges, axis=0), 2 * count + 1)
    assert found.num_blocks == count and set(found.sizes.tolist()) == {3}
    assert blocks(np.sort(ring, axis=0), 2 * count + 1).sizes.tolist() == [2 * count]


def test_edges_are_checked():
    with refused(GraphError, "loop", "self_loop"):
        blocks(np.array([[0, 1], [1, 1]]), 2)
