import pytest
import torch
from bad_input import refused
from feature_graphs import EDGE_CHANNELS, drawn, with_features
from hypothesis import given
from strategies import examples

from cyclenet.nn.layers import GATLayer, GCNLayer, GINLayer

CHANNELS = 4
LAYERS = {"gin": GINLayer, "gcn": GCNLayer, "gat": lambda *args: GATLayer(*args, heads=2)}


def layer_and_states(name, graph, *, edge_channels):
    torch.manual_seed(0)
    layer = LAYERS[name](CHANNELS, edge_channels).double()
    for parameter in layer.parameters():
        if parameter.dim() == 0:
            torch.nn.init.constant_(parameter, 0.3)  # an epsilon of 0 would hide
    data = with_features(graph, eigenvectors=False)
    states = torch.randn(data.num_nodes, CHANNELS, dtype=torch.double)
    return layer.eval(), states, data.edge_index, data.s if edge_channels else None


def arcs_into(node, arcs):
    return [i for i in range(arcs.size(1)) if int(arcs[1, i]) == node]


@given(drawn(6))
@examples(20, 300)
@pytest.mark.parametrize("edge_channels", [0, EDGE_CHANNELS])
def test_gin_is_its_formula(edge_channels, graph):
    layer, states, arcs, on_arcs = layer_and_states("gin", graph, edge_channels=edge_channels)
    found = layer(states, arcs, on_arcs)
    encoded = layer.edge_encoder(on_arcs) if edge_channels else torch.zeros(arcs.size(1), 1)
    for u in range(len(states)):
        heard = [(states[arcs[0, i]] + encoded[i]).relu() for i in arcs_into(u, arcs)]
        z = 1.3 * states[u] + sum(heard)
        torch.testing.assert_close(found[u], layer.mlp(z.unsqueeze(0))[0])


@given(drawn(6))
@examples(20, 300)
@pytest.mark.parametrize("edge_channels", [0, EDGE_CHANNELS])
def test_gcn_is_its_formula(edge_channels, graph):
    layer, states, arcs, on_arcs = layer_and_states("gcn", graph, edge_channels=edge_channels)
    found = layer(states, arcs, on_arcs)
    encoded = layer.edge_linear(on_arcs) if edge_channels else torch.zeros(arcs.size(1), 1)
    degree = [1 + len(arcs_into(u, arcs)) for u in range(len(states))]
    for u in range(len(states)):
        z = states[u] / degree[u]
        for i in arcs_into(u, arcs):
            v = int(arcs[0, i])
            z = z + (states[v] + encoded[i]) / (degree[u] * degree[v]) ** 0.5
        torch.testing.assert_close(found[u], layer.linear(z))


@given(drawn(6))
@examples(20, 300)
@pytest.mark.parametrize("edge_channels", [0, EDGE_CHANNELS])
def test_gat_is_its_formula(edge_channels, graph):
    layer, states, arcs, on_arcs = layer_and_states("gat", graph, edge_channels=edge_channels)
    found = layer(states, arcs, on_arcs)
    own = layer.linear(states).view(-1, 2, 2)
    for u in range(len(states)):
        for head in range(2):
            to_target = layer.from_target[head] @ own[u, head]
            logits = [layer.from_source[head] @ own[u, head] + to_target]
            values = [own[u, head]]
            for i in arcs_into(u, arcs):
                value, logit = own[arcs[0, i], head], to_target
                logit = logit + layer.from_source[head] @ value
                if edge_channels:
                    encoded = layer.edge_linear(on_arcs[i]).view(2, 2)[head]
                    value, logit = value + encoded, logit + layer.from_edge[head] @ encoded
                logits.append(logit)
                values.append(value)
            logits = torch.stack(logits)
            weights = torch.where(logits > 0, logits, 0.2 * logits).softmax(0)
            expected = weights @ torch.stack(values)
            torch.testing.assert_close(found[u].view(2, 2)[head], expected)


@pytest.mark.parametrize("edge_channels", [0, EDGE_CHANNELS])
@pytest.mark.parametrize("name", LAYERS)
def test_gradients_are_right(name, edge_channels):
    graph = (torch.tensor([[0, 0, 1, 2], [1, 2, 2, 3]]).numpy(), 5)
    layer, states, arcs, on_arcs = layer_and_states(name, graph, edge_channels=edge_channels)
    layer.train()
    parameters = dict(layer.named_parameters())

    def run(states, on_arcs, *values):
        given = dict(zip(parameters, values, strict=True))
        on_arcs = on_arcs if edge_channels else None
        return torch.func.functional_call(layer, given, (states, arcs, on_arcs))

    on_arcs = torch.zeros(0) if on_arcs is None else on_arcs.requires_grad_()
    inputs = (states.requires_grad_(), on_arcs, *parameters.values())
    assert torch.autograd.gradcheck(run, inputs, atol=1e-4)


@pytest.mark.parametrize("name", LAYERS)
def test_copies_of_an_arc_count_as_often_as_they_come(name):
    graph = (torch.tensor([[0], [1]]).numpy(), 2)
    layer, states, arcs, _ = layer_and_states(name, graph, edge_channels=0)
    assert not torch.allclose(layer(states, torch.cat((arcs, arcs), dim=1)), layer(states, arcs))


@pytest.mark.parametrize("name", LAYERS)
def test_reset_draws_every_weight_anew(name):
    layer = LAYERS[name](CHANNELS, EDGE_CHANNELS)
    before = {key: value.clone() for key, value in layer.named_parameters() if value.dim() > 1}
    layer.reset_parameters()
    for key, value in layer.named_parameters():
        assert key not in before or not torch.equal(before[key], value), key


@pytest.mark.parametrize("heads", [0, 3])
def test_heads_must_fit_side_by_side(heads):
    with refused(ValueError, f"`heads` must divide .* it is {heads} and there are 4 channels; try"):
        GATLayer(4, heads=heads)
