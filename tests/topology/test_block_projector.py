import named_graphs
import numpy as np
import oracles
import pytest
from hypothesis import given
from strategies import examples, graphs

from cyclenet.topology import block_projector
from cyclenet.topology.incidence import betti_number
from cyclenet.topology.projector import cycle_projector, cycle_projectors, projector_diagonal

EXACT = 1e-12


def block_of(graph):
    edges, num_nodes = graph
    return edges, int(betti_number(edges, num_nodes)), np.arange(edges.shape[1])


@pytest.mark.parametrize(
    "graph", [named_graphs.complete(9), named_graphs.grid(5, 6), named_graphs.diamond_ring(40)]
)
def test_the_three_routes_through_a_block_agree(graph, monkeypatch):
    expected = oracles.projector_by_svd(*graph)
    edges, betti, rows = block_of(graph)
    for nodes_per_cycle in (0, 10**9):
        monkeypatch.setattr(block_projector, "NODES_PER_CYCLE", nodes_per_cycle)
        found = np.zeros_like(expected)
        block_projector.project_block(edges, betti, rows, found)
        np.testing.assert_allclose(found, expected, atol=1e-11)
        np.testing.assert_array_equal(found, found.T)


def test_a_graph_with_small_large_and_no_blocks_is_put_together_right():
    # A clique with many cycles, a bridge, a clique with few, a long ring, and an isolated node.
    clique, _ = named_graphs.complete(9)
    small, _ = named_graphs.complete(4)
    ring, _ = named_graphs.cycle(30)
    pairs = [*clique.T, (8, 9), *(small.T + 9), (12, 13), *(ring.T + 13)]
    graph = named_graphs.from_pairs([(int(a), int(b)) for a, b in pairs], 44)
    expected = oracles.projector_by_svd(*graph)
    np.testing.assert_allclose(cycle_projector(*graph), expected, atol=1e-11)
    np.testing.assert_allclose(projector_diagonal(*graph), np.diag(expected), atol=1e-11)
    edges, num_nodes = graph
    found = cycle_projectors(edges, np.array([0, edges.shape[1]]), num_nodes)
    np.testing.assert_allclose(found[0], expected, atol=1e-11)


@examples(quick=150, deep=20_000)
@given(graphs(14))
def test_the_sparse_way_to_the_diagonal_gives_the_same_numbers(case):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_projector, "DENSE_NODES", 0)
        patch.setattr(block_projector, "DENSE_SHARE", 1.0)
        diagonal = projector_diagonal(*case)
    np.testing.assert_allclose(diagonal, np.diag(cycle_projector(*case)), atol=EXACT)
