import pytest
import torch
from feature_graphs import MIXED, bare, batch_of, num_parameters
from named_graphs import cycle, from_pairs
from torch_geometric.data import Batch

from cyclenet.datasets import rook_graph, shrikhande_graph
from cyclenet.nn.backbones import GAT, GCN, GIN

# What the published encoders add to the network they are plugged into.
PEOI, PEOI_EPD, FROZEN_IGN, IGN, IGN_EPD = 62_272, 62_848, 51_072, 183_424, 188_544


@pytest.mark.parametrize(
    ("sizes", "readout", "added", "printed"),
    [
        ((1, 1, 1), "mean", 0, 219_526),
        ((1, 128, 1), "mean", 0, 235_909),
        ((2, 1, 1), "sum", 0, 219_784),
        ((2, 20, 1), "sum", 0, 222_273),
        ((1, 1, 129), "mean", PEOI, 363_718),
        ((2, 1, 129), "mean", PEOI, 363_846),
        ((2, 20, 129), "mean", PEOI_EPD, 366_873),
        ((1, 1, 129), "mean", FROZEN_IGN, 352_518),
        ((2, 1, 129), "mean", FROZEN_IGN, 352_646),
        ((2, 20, 129), "mean", FROZEN_IGN, 355_097),
        ((1, 1, 129), "mean", IGN, 484_870),
        ((2, 20, 129), "mean", IGN_EPD, 492_569),
    ],
    ids=[
        "GIN CFI", "GIN SR", "GIN Betti", "GIN EPD", "PEOI CFI", "PEOI Betti", "PEOI EPD",
        "CycleNet CFI", "CycleNet Betti", "CycleNet EPD", "trained CFI", "trained EPD",
    ],
)  # fmt: skip
def test_the_published_numbers_of_parameters_come_out(sizes, readout, added, printed):
    node, out, edge = sizes
    network = GIN(node, out, edge_channels=edge, readout=readout, printed_size=True)
    assert num_parameters(network) + added == printed
    # What is never called: a map from 256 to 128, five norms, and one behind the head of sums.
    unused = 256 * 128 + 128 + 5 * 256 + (2 * out if readout == "sum" else 0)
    assert num_parameters(network.never_called) == unused
    assert (
        num_parameters(GIN(node, out, edge_channels=edge, readout=readout)) + added + unused
        == printed
    )


@pytest.mark.parametrize("readout", ["mean", "sum"])
def test_what_is_allocated_for_the_count_changes_no_prediction(readout):
    batch = batch_of(MIXED)
    torch.manual_seed(0)
    network = GIN(3, 2, edge_channels=2, hidden_channels=8, readout=readout).double()
    sized = GIN(3, 2, edge_channels=2, hidden_channels=8, readout=readout, printed_size=True)
    found = sized.double().load_state_dict(network.state_dict(), strict=False)
    assert not found.unexpected_keys
    assert all(key.startswith("never_called") for key in found.missing_keys)
    assert torch.equal(sized(batch, batch.s), network(batch, batch.s))
    sized(batch, batch.s).square().sum().backward()
    for key, parameter in sized.named_parameters():
        assert (parameter.grad is None) == key.startswith("never_called"), key


@pytest.mark.parametrize("network", [GIN, GCN, GAT])
def test_regular_graphs_look_alike_without_an_encoding(network):
    pairs = [(cycle(6), from_pairs([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)], 6))]
    pairs.append((rook_graph(), shrikhande_graph()))
    torch.manual_seed(0)
    for several in pairs:
        one, other = network(1, 3).eval()(Batch.from_data_list([bare(g) for g in several]))
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("network", [GIN, GCN, GAT])
def test_states_of_arcs_tell_regular_graphs_apart(network):
    """Here the state of an arc is whether it lies in a triangle."""
    several = [cycle(6), from_pairs([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)], 6)]
    batch = Batch.from_data_list([bare(graph) for graph in several])
    torch.manual_seed(0)
    states = torch.cat((torch.zeros(12, 1), torch.ones(12, 1)))
    one, other = network(1, 3, edge_channels=1).eval()(batch, states)
    assert (one - other).abs().max() > 1e-6


def test_hidden_channels_and_layers_are_free():
    network = GAT(2, 3, edge_channels=1, hidden_channels=12, num_layers=3, heads=6)
    assert len(network.layers) == network.num_layers == 3
    assert network.layers[0].from_edge.shape == (6, 2)
    assert network.head[-1].out_features == 3
