"""States that arcs share are those states, whoever reads them."""

import pytest
import torch

from cyclenet.nn.layers import ArcStates, GATLayer, GCNLayer, GINLayer, map_arcs

PLACE = torch.tensor([2, 0, 0, 1, 2, 2])
ARCS = torch.tensor([[0, 1, 2, 3, 1, 0], [1, 0, 3, 2, 2, 3]])


def states_of(own_channels):
    torch.manual_seed(0)
    own = torch.randn(6, own_channels, dtype=torch.float64) if own_channels else None
    shared = torch.randn(3, 4, dtype=torch.float64)
    rows = shared[PLACE]
    return ArcStates(own, shared, PLACE), rows if own is None else torch.cat((own, rows), dim=1)


@pytest.mark.parametrize("own_channels", [0, 1, 3])
def test_a_linear_map_of_shared_states_is_that_of_all_states(own_channels):
    states, rows = states_of(own_channels)
    assert states.shape == tuple(rows.shape)
    layer = torch.nn.Linear(rows.size(1), 5).double()
    for given in (states, rows):
        torch.testing.assert_close(map_arcs(layer, given), layer(rows), rtol=0, atol=1e-12)


@pytest.mark.parametrize("own_channels", [0, 2])
@pytest.mark.parametrize("kind", [GINLayer, GCNLayer, GATLayer])
def test_layers_say_the_same_of_states_however_they_come(kind, own_channels):
    states, rows = states_of(own_channels)
    layer = kind(8, rows.size(1)).double()
    nodes = torch.randn(4, 8, dtype=torch.float64)
    found, gradients = [], []
    for given in (states, rows):
        layer.zero_grad()
        found.append(layer(nodes, ARCS, given))
        found[-1].sin().sum().backward()
        gradients.append([weight.grad for weight in layer.parameters()])
    torch.testing.assert_close(*found, rtol=0, atol=1e-12)
    torch.testing.assert_close(*gradients, rtol=0, atol=1e-10)
