import pytest
import torch
from feature_graphs import FOREST, MIXED, batch_of, num_parameters, with_features

from cyclenet.nn.backbones import ProductGIN
from cyclenet.nn.backbones.product_gin import ProductGINLayer

CLOSE = {"atol": 1e-10, "rtol": 1e-10}
WIDTH = 4


@pytest.mark.parametrize("graph", [*MIXED, FOREST], ids=str)
def test_a_layer_is_the_formula_arc_by_arc(graph):
    torch.manual_seed(0)
    layer = ProductGINLayer(WIDTH).double().eval()
    data = with_features(graph, eigenvectors=False)
    h = torch.randn(data.num_nodes, WIDTH, dtype=torch.double)
    e = torch.randn(data.num_edges, WIDTH, dtype=torch.double)
    heard = h.clone()
    for i, (v, u) in enumerate(data.edge_index.t().tolist()):
        heard[u] += e[i] * h[v]
    first, relu, norm, last = layer.mlp
    expected = last(norm(relu(first(heard))))
    torch.testing.assert_close(layer(h, data.edge_index, e), expected, **CLOSE)


def test_layers_follow_each_other_without_anything_between():
    torch.manual_seed(0)
    model = ProductGIN(3, 2, hidden_channels=8, num_layers=3).double().eval()
    batch = batch_of(MIXED)
    states = batch.x @ model.node_types.weight
    arc_states = model.edge_types.weight.expand(batch.num_edges, -1)
    for layer in model.layers:
        states = layer(states, batch.edge_index, arc_states)
    pooled = torch.stack([states[batch.batch == i].mean(0) for i in range(batch.num_graphs)])
    torch.testing.assert_close(model(batch), model.head(pooled), **CLOSE)


def test_every_allocated_parameter_is_used():
    """Biases stand in front of a ReLU here, so that nothing is idle in the published count."""
    d = 12
    model = ProductGIN(28, 1, hidden_channels=d, edge_types=4, num_layers=2)
    layer = 2 * (d * d + d) + 2 * d
    head = (d * 6 + 6) + (6 * 3 + 3) + (3 + 1)
    assert num_parameters(model) == 32 * d + 2 * layer + head
