"""Copies under other names: the same graph, stored the way its dataset stores graphs."""

import networkx as nx
import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples, graphs
from torch_geometric.data import Data

from cyclenet.datasets.as_data import graph_data
from cyclenet.datasets.graph import Graph
from cyclenet.runner.copies import differ, renamed


def featured(graph, directions):
    """A graph whose nodes and arcs say who they are."""
    data = graph_data(Graph(*graph), directions=directions)
    nodes = torch.arange(data.num_nodes, dtype=torch.float32).unsqueeze(1)
    ends = data.edge_index.sort(dim=0).values
    return Data(
        x=nodes,
        edge_index=data.edge_index,
        edge_attr=(ends[0] * 100 + ends[1]).float().unsqueeze(1),
        y=torch.tensor([[7.0]]),
        num_nodes=data.num_nodes,
    )


def marked_edges(data):
    """Every edge by the marks of its ends, beside its own mark."""
    ends = data.x[data.edge_index].squeeze(-1).sort(dim=0).values.T.tolist()
    return sorted(zip(map(tuple, ends), data.edge_attr.flatten().tolist(), strict=True))


@examples(60, 3000)
@given(graphs(8, edge_order="sorted"), st.sampled_from(["both", "single"]), st.integers(0, 9))
def test_a_copy_is_the_same_graph(graph, directions, seed):
    data = featured(graph, directions)
    before = data.clone()
    copy = renamed(data, np.random.default_rng(seed))
    assert marked_edges(copy) == marked_edges(data)
    assert sorted(copy.x.flatten().tolist()) == sorted(data.x.flatten().tolist())
    assert torch.equal(copy.y, data.y)
    assert copy.num_nodes == data.num_nodes
    for name in ("x", "edge_index", "edge_attr"):
        assert torch.equal(data[name], before[name])


@examples(40, 1000)
@given(graphs(8, edge_order="sorted"), st.sampled_from(["both", "single"]))
def test_a_copy_is_stored_as_its_dataset_stores_graphs(graph, directions):
    copy = renamed(featured(graph, directions), np.random.default_rng(0))
    arcs = copy.edge_index
    order = np.lexsort(arcs.flip(0).numpy())
    assert order.tolist() == list(range(arcs.size(1)))
    if directions == "single":
        assert bool((arcs[0] < arcs[1]).all())


def test_names_do_change():
    data = featured((np.array(nx.path_graph(6).edges).T, 6), "both")
    copy = renamed(data, np.random.default_rng(1))
    assert not torch.equal(copy.edge_index, data.edge_index)


def test_rows_differ_by_a_share_of_their_size():
    one = torch.tensor([[3.0, 4.0], [0.0, 5.0]])
    other = one + torch.tensor([[0.0, 0.04], [0.06, 0.0]])
    assert differ(one, other, 0.01).tolist() == [False, True]
    assert differ(one, one, 0.0).tolist() == [False, False]
