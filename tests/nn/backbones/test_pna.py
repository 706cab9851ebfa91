import math

import pytest
import torch
from bad_input import refused
from feature_graphs import EMPTY, FOREST, KINDS, MIXED, bare, batch_of
from named_graphs import cycle, path
from torch_geometric.data import Batch

from cyclenet.nn.backbones import PNA
from cyclenet.nn.backbones.pna import Hearers, PNALayer, mean_log_degree
from cyclenet.nn.layers import RowNorm

CLOSE = {"atol": 1e-10, "rtol": 1e-10}
WIDTH, ARC_WIDTH, TOWERS = 6, 2, 3
LOG_DEGREE = 0.9


def layer_with_statistics(**options):
    """A layer whose norm is no identity, in evaluation mode."""
    torch.manual_seed(0)
    layer = PNALayer(WIDTH, ARC_WIDTH, towers=TOWERS, **options).double()
    for module in layer.modules():
        if isinstance(module, RowNorm):
            torch.nn.init.uniform_(module.running_mean)
            torch.nn.init.uniform_(module.running_var, 0.5, 2)
    return layer.eval()


def by_hand(layer, h, arcs, e, num_nodes_of):
    """The formula, node by node and tower by tower, on the published matrices."""
    width = WIDTH // TOWERS
    new = torch.zeros_like(h)
    for t in range(TOWERS):
        own = h[:, t * width : (t + 1) * width]
        of_arcs = layer.of_arcs.weight[t * width : (t + 1) * width]
        message = torch.cat((*layer.of_nodes[t].split(width, dim=1), of_arcs.t()))  # v, u, e
        bias = layer.of_arcs.bias[t * width : (t + 1) * width]
        update = torch.cat((layer.of_self[t], *layer.of_heard[t].split(width, dim=1)))
        for u in range(len(h)):
            into = [(v, i) for i, (v, w) in enumerate(arcs.t().tolist()) if w == u]
            m = [torch.cat((own[v], own[u], e[i])) @ message + bias for v, i in into]
            rows = torch.stack(m) if m else torch.zeros(1, width, dtype=torch.double)
            spread = ((rows**2).mean(0) - rows.mean(0) ** 2).relu().add(1e-5).sqrt()
            heard = torch.cat((rows.mean(0), rows.amax(0), rows.amin(0), spread))
            ratio = math.log(max(len(m), 1) + 1) / LOG_DEGREE
            joined = torch.cat((own[u], heard, ratio * heard, heard / ratio))
            value = joined @ update + layer.bias[t]
            new[u, t * width : (t + 1) * width] = value / math.sqrt(num_nodes_of[u])
    mixed = layer.mix(layer.norm(new))
    return h + torch.where(mixed > 0, mixed, 0.01 * mixed)


@pytest.mark.parametrize("published_scale", [False, True])
def test_a_layer_is_the_formula_node_by_node(published_scale):
    layer = layer_with_statistics(published_scale=published_scale)
    batch = batch_of([*MIXED[:2], KINDS["edgeless"], EMPTY, FOREST, path(3)])
    h = torch.randn(batch.num_nodes, WIDTH, dtype=torch.double)
    e = torch.randn(batch.num_edges, ARC_WIDTH, dtype=torch.double)
    degree = torch.bincount(batch.edge_index[1], minlength=len(h)).double().unsqueeze(1)
    ratio = (degree.clamp(min=1) + 1).log() / LOG_DEGREE
    sizes = torch.bincount(batch.batch, minlength=batch.num_graphs)[batch.batch].double()
    scales = torch.cat((torch.ones_like(ratio), ratio, 1 / ratio), dim=1)
    found = layer(h, batch.edge_index, e, Hearers(degree, scales, sizes.rsqrt().unsqueeze(1)))
    expected = by_hand(layer, h, batch.edge_index, e, sizes.tolist())
    torch.testing.assert_close(found, expected, **CLOSE)


def test_the_network_tells_its_layers_degrees_and_sizes():
    torch.manual_seed(0)
    model = PNA(3, 1, hidden_channels=WIDTH, arc_channels=ARC_WIDTH, towers=TOWERS, num_layers=1,
                log_degree=LOG_DEGREE).double().eval()  # fmt: skip
    batch = batch_of([path(3), KINDS["single"], cycle(5)])
    states = batch.x @ model.node_types.weight
    arc_states = model.edge_types.weight.expand(batch.num_edges, -1)
    sizes = [3] * 3 + [1] + [5] * 5
    states = by_hand(model.layers[0], states, batch.edge_index, arc_states, sizes)
    pooled = torch.stack([states[batch.batch == i].sum(0) for i in range(3)])
    torch.testing.assert_close(model(batch), model.head(pooled), **CLOSE)


def test_scalers_tell_degrees_apart():
    """Alike on every node, messages have the same statistics; only their number differs."""
    torch.manual_seed(0)
    model = PNA(1, 1, hidden_channels=16, num_layers=2, readout="mean").eval()
    one, other = model(Batch.from_data_list([bare(cycle(5)), bare(MIXED[1])]))
    assert (one - other).abs().max() > 1e-6


def test_the_published_scale_makes_layers_almost_idle():
    torch.manual_seed(0)
    small, usual = (PNALayer(80, 40, towers=5, published_scale=p) for p in (True, False))
    width, num_inputs = 16, 2 * 16 + 40
    bound = math.sqrt(6 / (num_inputs + width)) / num_inputs
    assert 0.9 * bound < small.of_nodes.abs().max() <= bound
    assert 0.9 * bound < small.of_arcs.weight.abs().max() <= bound
    bound = math.sqrt(6 / (13 * width + width)) / (13 * width)
    assert 0.9 * bound < small.of_heard.abs().max() <= bound
    assert small.mix.weight.abs().max() <= math.sqrt(6 / 160) / 80
    for bias in (small.of_arcs.bias, small.bias, small.mix.bias):
        assert not bias.any()
    assert usual.mix.weight.abs().max() > 40 * small.mix.weight.abs().max()


def test_the_mean_log_degree_is_that_of_all_nodes():
    items = [bare(path(3)), bare(cycle(5)), bare(EMPTY)]
    expected = (2 * math.log(2) + 6 * math.log(3)) / 8
    assert math.isclose(mean_log_degree(items), expected)
    with refused(ValueError, "`items` must be graphs with arcs"):
        mean_log_degree([bare(EMPTY), bare(KINDS["edgeless"])])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"towers": 3}, "`towers` must divide `hidden_channels` = 80, but it is 3"),
        ({"towers": 0}, "`towers` must divide"),
        ({"arc_channels": 0}, "`arc_channels` must be at least 1"),
        ({"log_degree": 0.0}, "`log_degree` must be a positive number, but it is 0.0; try: mean"),
        ({"log_degree": math.inf}, "`log_degree` must be a positive number"),
    ],
)
def test_impossible_options_are_refused(options, says):
    with refused(ValueError, says):
        PNA(28, 1, **options)
