"""Our graphs as those of PyTorch Geometric."""

import inspect

import numpy as np
import pytest
import torch
from hypothesis import given
from strategies import examples, graphs
from torch_geometric.loader import DataLoader

import cyclenet
from cyclenet import datasets
from cyclenet.datasets import Graph, circle_extents, graph_data, n_circles, point_data


@given(graphs(max_nodes=8, edge_order="sorted"))
@examples(quick=50, deep=1000)
def test_both_directions_are_two_arcs_for_each_edge(graph):
    data = graph_data(Graph(*graph))
    assert data.validate()
    assert data.edge_index.size(1) == 2 * graph[0].shape[1]
    assert data.is_undirected()
    assert data.x.shape == (graph[1], 2)
    np.testing.assert_array_equal(cyclenet.AddShortestCycleBasis()(data).edges, graph[0])


def test_a_single_direction_is_the_edge_itself():
    [sample] = n_circles(1, np.random.default_rng(0))
    data = point_data(sample, directions="single")
    np.testing.assert_array_equal(data.edge_index, sample.graph.edges)
    assert data.edge_attr.shape == (sample.graph.edges.shape[1], 1)


def test_nodes_show_where_they_are_or_nothing():
    [sample] = circle_extents(1, np.random.default_rng(0))
    assert (point_data(sample).x == 1).all()
    shown = point_data(sample, coordinates=True)
    np.testing.assert_allclose(shown.x, sample.points, rtol=1e-6)
    assert (shown.edge_attr == 1).all()
    assert set(shown.keys()) == {"x", "edge_index", "edge_attr", "y"}


def test_targets_of_a_batch_are_rows():
    samples = circle_extents(3, np.random.default_rng(0))
    batch = next(iter(DataLoader([point_data(sample) for sample in samples], batch_size=3)))
    assert batch.y.shape == (3, 20)
    assert batch.y.dtype == torch.float32
    np.testing.assert_allclose(batch.y, [sample.target for sample in samples], rtol=1e-6)


def test_an_unknown_direction_is_refused():
    unchecked = inspect.unwrap(graph_data)
    with pytest.raises(ValueError, match="both"):
        unchecked(Graph(np.zeros((2, 0), dtype=np.int64), 1), directions="none")


def test_every_public_name_of_the_room_is_there():
    for name in datasets.__all__:
        assert getattr(datasets, name) is not None
        assert name in dir(datasets)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        datasets.nothing  # noqa: B018
