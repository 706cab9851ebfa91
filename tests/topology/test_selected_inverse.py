import named_graphs
import numpy as np
import oracles
import pytest
from hypothesis import given
from strategies import examples, graphs

from cyclenet.topology.selected_inverse import eliminate_nodes, selected_inverse

PLENTY = 10**9


def pairs_joined(edges, num_nodes, order):
    """Neighbours each node has when its turn comes, by building every graph on the way."""
    around = [set() for _ in range(num_nodes)]
    for a, b in edges.T.tolist():
        around[a].add(b)
        around[b].add(a)
    for node in order.tolist():
        yield set(around[node])
        for other in around[node]:
            around[other] |= around[node]
            around[other] -= {node, other}


@examples(quick=200, deep=20_000)
@given(graphs(14, min_nodes=1, connected=True))
def test_the_pattern_is_that_of_the_elimination(case):
    edges, num_nodes = case
    found = eliminate_nodes(edges, num_nodes, PLENTY)
    assert sorted(found.order.tolist()) == list(range(num_nodes))
    for i, expected in enumerate(pairs_joined(edges, num_nodes, found.order)):
        rows = found.rows[found.ptr[i] : found.ptr[i + 1]]
        assert np.all(np.diff(rows) > 0)
        assert set(found.order[rows].tolist()) == expected


@examples(quick=200, deep=20_000)
@given(graphs(14, min_nodes=1, connected=True))
def test_entries_give_the_effective_resistances(case):
    edges, num_nodes = case
    at_node, at_edge = selected_inverse(edges, eliminate_nodes(edges, num_nodes, PLENTY))
    resistance = at_node[edges].reshape(2, -1).sum(axis=0) - 2 * at_edge
    expected = oracles.effective_resistances(edges, num_nodes)
    np.testing.assert_allclose(resistance, expected, atol=1e-10)


def test_a_tree_is_eliminated_from_its_leaves_and_joins_nothing():
    edges, num_nodes = named_graphs.path(50)
    assert eliminate_nodes(edges, num_nodes, PLENTY).rows.size == 49


@pytest.mark.parametrize(("most", "fits"), [(44, False), (45, True)])
def test_it_gives_up_exactly_when_there_are_more_pairs_than_allowed(most, fits):
    edges, num_nodes = named_graphs.complete(10)
    assert (eliminate_nodes(edges, num_nodes, most) is not None) == fits
