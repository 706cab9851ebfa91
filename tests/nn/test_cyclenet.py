"""The model of the paper: an encoder, a backbone, and the laws of both."""

from functools import partial
from itertools import islice

import numpy as np
import pytest
import torch
from feature_graphs import KINDS, MIXED, bare, with_triangles
from torch_geometric.data import Batch

from cyclenet import (
    AddCycleProfiles,
    AddCycleProjector,
    AddEigenspaces,
    AddShortestCycleBasis,
    CycleNet,
)
from cyclenet.datasets import molecule_graphs
from cyclenet.datasets.graph import relabelled
from cyclenet.nn.backbones import BACKBONES, FlowBackbone, SimplicialBackbone
from cyclenet.nn.encoders import ENCODERS
from cyclenet.topology import shortest_cycle_basis
from cyclenet.transforms import AddLeadingEigenvectors, LiftToRingComplex

TRANSFORMS = (
    AddCycleProjector,
    AddShortestCycleBasis,
    AddCycleProfiles,
    AddEigenspaces,
    partial(AddLeadingEigenvectors, count=8),
    LiftToRingComplex,
)


def prepared(graph, backbone="gin"):
    """A graph with all numbers in float64, two attributes on every arc, and a flow."""
    data = bare(graph)
    for make in TRANSFORMS:
        data = make(dtype=torch.float64)(data)
    data.x = data.x.double()
    data.edge_attr = torch.arange(2.0 * data.edge_index.size(1), dtype=torch.float64).view(-1, 2)
    data.edge_features = torch.ones(data.edges.size(1), 1, dtype=torch.float64)
    if issubclass(BACKBONES[backbone], (FlowBackbone, SimplicialBackbone)):
        data = with_triangles(data)
    return data


def model(backbone="gin", encoder="projector", **options):
    """A small model in float64 and evaluation mode."""
    torch.manual_seed(0)
    return (
        CycleNet(1, 3, hidden_channels=8, backbone=backbone, encoder=encoder, **options)
        .double()
        .eval()
    )


@pytest.mark.parametrize("encoder", [None, *ENCODERS])
@pytest.mark.parametrize("backbone", BACKBONES)
def test_a_graph_alone_is_predicted_as_in_a_batch(backbone, encoder):
    network = model(backbone, encoder)
    items = [prepared(graph, backbone) for graph in (*KINDS.values(), *MIXED)]
    together = network(Batch.from_data_list(items))
    alone = torch.cat([network(Batch.from_data_list([item])) for item in items])
    torch.testing.assert_close(together, alone, rtol=1e-10, atol=1e-10)
    assert together.shape == (len(items), 3)


def test_attributes_stand_beside_the_encoding():
    network = model(edge_channels=2)
    assert network.backbone.edge_channels == 2 + 8
    item = prepared(MIXED[0])
    one = network(Batch.from_data_list([item]))
    item.edge_attr = item.edge_attr + 1
    assert (network(Batch.from_data_list([item])) - one).abs().max() > 1e-6


def test_without_an_encoder_it_is_the_backbone_alone():
    network = model(encoder=None)
    batch = Batch.from_data_list([prepared(graph) for graph in MIXED])
    torch.testing.assert_close(network(batch), network.backbone(batch))


def test_options_reach_the_parts():
    network = model(backbone_options={"num_layers": 2}, encoder_options={"depth": "contracted"})
    assert network.backbone.num_layers == 2
    assert network.encoder.depth == "contracted"


def test_an_encoding_may_have_a_width_of_its_own():
    model = CycleNet(2, 1, hidden_channels=16, encoding_channels=5, edge_channels=3)
    assert model.encoder.out_channels == 5 and model.backbone.edge_channels == 8
    assert CycleNet(2, 1, hidden_channels=16).encoder.out_channels == 16


def test_resetting_draws_all_weights_anew():
    network = model()
    before = {name: weight.clone() for name, weight in network.named_parameters()}
    network.reset_parameters()
    for name, weight in network.named_parameters():
        if weight.dim() > 1 and not name.endswith("bias"):
            assert (weight != before[name]).any(), name


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"encoder": "projektor"}, "did you mean 'projector'"),
        ({"backbone": "gim"}, "did you mean 'gin'"),
        ({"backbone": "transformer"}, "must be one of"),
    ],
)
def test_an_unknown_part_is_named_with_the_nearest(wrong, message):
    with pytest.raises(ValueError, match=message):
        CycleNet(1, 1, **wrong)


def test_missing_attributes_are_named():
    network = model(edge_channels=2)
    item = prepared(MIXED[0])
    del item.edge_attr
    with pytest.raises(ValueError, match=r"edge_attr.*missing.*edge_channels=0"):
        network(Batch.from_data_list([item]))


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("backbone", BACKBONES)
def test_states_that_arcs_share_change_no_prediction(backbone, encoder, monkeypatch):
    network = model(backbone, encoder, edge_channels=2)
    items = [prepared(graph, backbone) for graph in (*KINDS.values(), *MIXED)]
    batch = Batch.from_data_list(items)
    found = network(batch)
    monkeypatch.setattr(type(network.backbone), "reads_shared_states", False)
    torch.testing.assert_close(found, network(batch), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("backbone", ["gin", "ppgn", "cwn"])
def test_names_of_nodes_and_directions_of_edges_never_show(backbone, encoder):
    """On graphs with unique shortest bases, for then the basis is a function of the graph too."""
    first = islice(molecule_graphs(), 12)
    graphs = [graph for graph in first if shortest_cycle_basis(*graph).is_unique]
    network = model(backbone, encoder)
    network.train()(Batch.from_data_list([prepared(graph) for graph in graphs]))
    network.eval()
    rng = np.random.default_rng(0)
    copies = [relabelled(graph, rng.permutation(graph.num_nodes)) for graph in graphs]
    expected, found = (
        network(Batch.from_data_list([prepared(graph) for graph in some]))
        for some in (graphs, copies)
    )
    assert expected.std(0).min() > 1e-6
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)
