import pytest
import torch
from feature_graphs import FOREST, MIXED, batch_of, num_parameters, with_features

from cyclenet.nn.backbones import GatedGCN
from cyclenet.nn.backbones.gated_gcn import GatedGCNLayer
from cyclenet.nn.layers import RowNorm

CLOSE = {"atol": 1e-10, "rtol": 1e-10}
WIDTH = 4


def layer_with_statistics(**options):
    """A layer whose norms are no identity, in evaluation mode."""
    torch.manual_seed(0)
    layer = GatedGCNLayer(WIDTH, **options).double()
    for module in layer.modules():
        if isinstance(module, RowNorm):
            torch.nn.init.uniform_(module.running_mean)
            torch.nn.init.uniform_(module.running_var, 0.5, 2)
            torch.nn.init.uniform_(module.bias)
    return layer.eval()


@pytest.mark.parametrize("idle_biases", [False, True])
@pytest.mark.parametrize("graph", [*MIXED, FOREST], ids=str)
def test_a_layer_is_the_formula_arc_by_arc(graph, idle_biases):
    layer = layer_with_statistics(idle_biases=idle_biases)
    data = with_features(graph, eigenvectors=False)
    h = torch.randn(data.num_nodes, WIDTH, dtype=torch.double)
    e = torch.randn(data.num_edges, WIDTH, dtype=torch.double)
    a, b, d, heard = layer.of_nodes(h).split(WIDTH, dim=1)
    logits = layer.of_arcs(e).clone()
    above, below = torch.zeros_like(h), torch.full_like(h, 1e-6)
    for i, (v, u) in enumerate(data.edge_index.t().tolist()):
        logits[i] += d[v] + heard[u]
        gate = logits[i].sigmoid()
        above[u] += gate * b[v]
        below[u] += gate
    nodes, arcs = layer(h, data.edge_index, e)
    torch.testing.assert_close(nodes, h + layer.node_norm(a + above / below).relu(), **CLOSE)
    torch.testing.assert_close(arcs, e + layer.arc_norm(logits).relu(), **CLOSE)


def test_two_nodes_by_hand():
    """With D, E and C zero every gate is a half, and the mean over one neighbour is it."""
    layer = GatedGCNLayer(1).double().eval()
    torch.nn.init.zeros_(layer.of_arcs.weight)
    torch.nn.init.zeros_(layer.of_arcs.bias)
    layer.of_nodes.weight.data = torch.tensor([[1.0], [10.0], [0.0], [0.0]], dtype=torch.double)
    arcs = torch.tensor([[0, 1], [1, 0]])
    states = torch.tensor([[2.0], [3.0]], dtype=torch.double)
    found, after = layer(states, arcs, torch.zeros(2, 1, dtype=torch.double))
    expected = torch.tensor([[2 + 2 + 30], [3 + 3 + 20]], dtype=torch.double)
    torch.testing.assert_close(found, expected, atol=1e-3, rtol=0)  # two epsilons
    assert not after.any()


def test_the_last_layer_has_no_states_of_arcs_to_renew():
    model = GatedGCN(3, 1, hidden_channels=8, num_layers=3)
    assert [layer.arc_norm is None for layer in model.layers] == [False, False, True]


def test_what_is_allocated_for_the_count_changes_no_prediction():
    """Behind what their norms take off, the biases of the published code are no different."""
    batch = batch_of(MIXED)
    torch.manual_seed(0)
    sized = GatedGCN(3, 2, hidden_channels=16, num_layers=2, printed_size=True).double()
    model = GatedGCN(3, 2, hidden_channels=16, num_layers=2).double()
    with torch.no_grad():
        for layer in sized.layers:
            layer.of_nodes.bias.zero_()
    kept = {key: value for key, value in sized.state_dict().items() if key in model.state_dict()}
    model.load_state_dict(kept)
    torch.testing.assert_close(model(batch), sized(batch), **CLOSE)
    idle = num_parameters(sized) - num_parameters(model)
    assert idle == 2 * 4 * 16 + 2 * 16  # four biases in each layer, and one norm
    sized(batch).square().sum().backward()
    for key, parameter in sized.named_parameters():
        assert (parameter.grad is None) == key.startswith("never_called"), key


def test_idle_biases_do_nothing():
    batch = batch_of(MIXED)
    torch.manual_seed(0)
    model = GatedGCN(3, 2, hidden_channels=16, num_layers=2, printed_size=True).double()
    before = model(batch)
    with torch.no_grad():
        for layer in model.layers:  # that of A; that of B is off by the 1e-6 of the mean
            layer.of_nodes.bias[:16] += 1
    torch.testing.assert_close(model(batch), before, **CLOSE)
