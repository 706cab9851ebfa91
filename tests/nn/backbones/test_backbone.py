"""The laws that every backbone obeys."""

import pytest
import torch
from bad_input import refused
from feature_graphs import (
    EDGE_CHANNELS,
    EMPTY,
    IN_CHANNELS,
    KINDS,
    MIXED,
    SPACES,
    batch_of,
    drawn,
    relabelled_data,
    with_features,
    with_triangles,
)
from hypothesis import given
from hypothesis import strategies as st
from named_graphs import path, theta
from strategies import examples
from torch_geometric.data import Batch

from cyclenet.nn.backbones import BACKBONES, CWN, FlowBackbone, SimplicialBackbone
from cyclenet.nn.backbones.molecular import MolecularBackbone
from cyclenet.nn.layers import RowNorm

OUT_CHANNELS = 2
# Batch companions and labels may change the order of sums, nothing else.
CLOSE = {"atol": 1e-10, "rtol": 1e-10}
# Heads that taper off to a quarter need some width, or a ReLU may be blind in all channels.
TAPERED = [name for name, kind in BACKBONES.items() if issubclass(kind, MolecularBackbone)]
# Networks that need eigenspaces of every dimension, or triangles that hear different others.
HARD_TO_TEACH = [
    name
    for name, kind in BACKBONES.items()
    if name.startswith("basisnet") or issubclass(kind, SimplicialBackbone)
]
# Networks that read features of edges and none of nodes, and those whose faces are triangles.
FLOWS = [name for name, kind in BACKBONES.items() if issubclass(kind, FlowBackbone)]
ON_TRIANGLES = (FlowBackbone, SimplicialBackbone)
# Those published for complexes have no normalisation.
NORMED = [
    name
    for name, kind in BACKBONES.items()
    if not (issubclass(kind, ON_TRIANGLES) or name.startswith("superpixel"))
]
WIDTHS = dict.fromkeys(BACKBONES, 8) | dict.fromkeys(TAPERED, 24)


def backbone(name, *, edge_channels=EDGE_CHANNELS, readout="mean", calibrated=True, **options):
    """A small network in float64 whose norms have seen data, in evaluation mode."""
    torch.manual_seed(0)
    network = BACKBONES[name](
        IN_CHANNELS, OUT_CHANNELS, edge_channels=edge_channels, hidden_channels=WIDTHS[name],
        num_layers=2, readout=readout, **options,
    ).double()  # fmt: skip
    if calibrated:
        predictions(network, batch_of(MIXED))
    return network.eval()


def predictions(network, batch):
    if isinstance(network, ON_TRIANGLES):
        batch = with_triangles(batch)
    return network(batch, batch.s if network.edge_channels else None)


every_backbone = pytest.mark.parametrize("name", BACKBONES)
with_and_without_edges = pytest.mark.parametrize("edge_channels", [0, EDGE_CHANNELS])
both_readouts = pytest.mark.parametrize("readout", ["mean", "sum"])


@every_backbone
@with_and_without_edges
@both_readouts
def test_a_graph_alone_is_what_it_is_in_any_batch(name, edge_channels, readout):
    network = backbone(name, edge_channels=edge_channels, readout=readout)

    @given(st.lists(drawn(), min_size=1, max_size=5))
    @examples(15, 500)
    def holds(several):
        together = predictions(network, batch_of(several))
        assert together.shape == (len(several), OUT_CHANNELS)
        for i, graph in enumerate(several):
            alone = with_features(graph, i)
            torch.testing.assert_close(predictions(network, alone)[0], together[i], **CLOSE)
            batched = Batch.from_data_list([alone])
            torch.testing.assert_close(predictions(network, batched)[0], together[i], **CLOSE)

    holds()


@every_backbone
@with_and_without_edges
@both_readouts
def test_names_of_nodes_and_the_order_of_arcs_never_show(name, edge_channels, readout):
    network = backbone(name, edge_channels=edge_channels, readout=readout)

    @given(drawn(), st.data())
    @examples(15, 500)
    def holds(graph, data):
        one = with_features(graph)
        names = torch.tensor(data.draw(st.permutations(range(graph[1]))), dtype=torch.long)
        order = torch.tensor(data.draw(st.permutations(range(one.num_edges))), dtype=torch.long)
        other = relabelled_data(one, names, order)
        torch.testing.assert_close(predictions(network, other), predictions(network, one), **CLOSE)

    holds()


@every_backbone
@with_and_without_edges
@both_readouts
def test_every_parameter_learns(name, edge_channels, readout):
    network = backbone(name, edge_channels=edge_channels, readout=readout, calibrated=False)
    batch = batch_of(MIXED + SPACES if name in HARD_TO_TEACH else MIXED)
    network.train()
    out = predictions(network, batch)
    (out * torch.randn_like(out)).sum().backward()
    for key, parameter in network.named_parameters():
        assert parameter.grad is not None, key
        if key.endswith("offsets"):  # they cancel unless logits differ in sign: `PairAttention`
            continue
        # Far above rounding: the smallest are weights in front of a norm, which scale away.
        assert parameter.grad.abs().max() > 1e-8, key


@every_backbone
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("last", KINDS)
def test_graphs_without_edges_or_nodes_are_ordinary_in_any_position(name, training, first, last):
    network = backbone(name, calibrated=False).train(training)
    batch = batch_of([KINDS[first], KINDS[last], KINDS[first]])
    out = predictions(network, batch)
    assert out.shape == (3, OUT_CHANNELS)
    assert out.isfinite().all()
    out.sum().backward()
    for key, parameter in network.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), key


@every_backbone
@both_readouts
def test_an_empty_graph_pools_to_zeros(name, readout):
    network = backbone(name, readout=readout)
    if isinstance(network, CWN):
        nothing = [torch.zeros(1, 8, dtype=torch.double)] * 3  # a row for each dimension
    else:
        nothing = torch.zeros(1, network.head[0].in_features, dtype=torch.double)
    expected = network.head(nothing)
    torch.testing.assert_close(predictions(network, with_features(EMPTY)), expected, **CLOSE)


@pytest.mark.parametrize("name", NORMED)
@with_and_without_edges
def test_no_padding_enters_a_statistic(name, edge_channels):
    """Every norm counts nodes, arcs, pairs, eigenvectors, cells or graphs that exist."""
    network = backbone(name, edge_channels=edge_channels, readout="sum").train()
    seen = {}
    for key, module in network.named_modules():
        if isinstance(module, RowNorm):
            module.register_forward_hook(
                lambda module, given, out, key=key: seen.update({key: given})
            )
    several = [theta(), KINDS["empty"], path(3)]
    alone, crowded = batch_of(several), batch_of([*several, path(40)])
    sizes, first_rows = [], []
    for batch in (alone, crowded):
        predictions(network, batch)
        # Rows, or tables of rows and which of them there are.
        sizes.append({k: int(one[-1].sum()) if one[1:] else len(one[0]) for k, one in seen.items()})
        first_rows.append(next(iter(seen.values()))[0].detach()[: alone.num_nodes])
    for batch, count in zip((alone, crowded), sizes, strict=True):
        nodes = torch.bincount(batch.graph_of("nodes"), minlength=batch.num_joined)
        for key, rows in count.items():
            if "edge_encoder" in key or "arc_norm" in key:
                expected = batch.num_edges
            elif "phi" in key:
                columns = int((batch.eigen_multiplicity > 0).sum())
                expected = 2 * (int(nodes.square().sum()) if name == "signnet" else columns)
            elif "cells" in key:
                cells = (batch.num_nodes, batch.edges.size(1), int(batch.num_faces.sum()))
                expected = cells[int(key.split("cells.")[1][0])]
            elif key.startswith("head"):
                expected = batch.num_joined
            else:
                expected = batch.num_nodes  # as many as eigenvectors
            assert rows == expected, key
    # A larger companion has not touched the rows of the others on the way to the first norm.
    if name != "ppgn":
        torch.testing.assert_close(first_rows[0], first_rows[1], **CLOSE)


@every_backbone
def test_the_same_seed_gives_the_same_network(name):
    network, again = (backbone(name, calibrated=False) for _ in range(2))
    before = {key: value.clone() for key, value in network.state_dict().items()}
    assert all(torch.equal(before[key], value) for key, value in again.state_dict().items())
    network.reset_parameters()
    weights = {key for key, value in network.state_dict().items() if value.dim() > 1}
    changed = {key for key in weights if not key.endswith("bias")}  # some are always drawn as 0
    assert changed
    for key in changed:
        assert not torch.equal(before[key], network.state_dict()[key]), key


@every_backbone
def test_a_network_can_be_counted_without_memory(name):
    here = backbone(name, calibrated=False)
    with torch.device("meta"):
        there = BACKBONES[name](
            IN_CHANNELS, OUT_CHANNELS, edge_channels=EDGE_CHANNELS, hidden_channels=WIDTHS[name],
            num_layers=2,
        )  # fmt: skip
    assert {key: value.shape for key, value in there.named_parameters()} == {
        key: value.shape for key, value in here.named_parameters()
    }


@every_backbone
def test_float32_follows_float64(name):
    network = backbone(name)
    batch = batch_of(MIXED)
    expected = predictions(network, batch)
    single = batch.clone()
    for key in ("x", "s", "edge_features"):
        single[key] = batch[key].float()
    found = predictions(network.float(), single)
    torch.testing.assert_close(found, expected.float(), atol=1e-4, rtol=1e-3)


@pytest.mark.gpu
@every_backbone
@with_and_without_edges
def test_another_device_gives_the_same(name, edge_channels):
    network = backbone(name, edge_channels=edge_channels)
    batch = batch_of([*MIXED, KINDS["empty"], KINDS["edgeless"]])
    expected = predictions(network, batch)
    found = predictions(network.cuda(), batch.cuda())
    torch.testing.assert_close(found.cpu(), expected, atol=1e-8, rtol=1e-8)


# Bad input


@every_backbone
def test_states_of_arcs_must_be_those_announced(name):
    batch = batch_of([theta()])
    network = backbone(name)
    with refused(ValueError, r"`edge_states` must have shape \(10, 2\), but it is missing; try: "):
        network(batch)
    with refused(ValueError, r"shape \(10, 2\), .*its shape is \(10, 1\)"):
        network(batch, batch.s[:, :1])
    with refused(ValueError, r"shape \(10, 2\), .*its shape is \(5, 2\)"):
        network(batch, batch.s[:5])
    with refused(ValueError, r"shape \(10, 0\), .*its shape is \(10, 2\)"):
        backbone(name, edge_channels=0)(batch, batch.s)


@pytest.mark.parametrize("name", [name for name in BACKBONES if name not in FLOWS])
def test_node_features_must_be_those_announced(name):
    batch = batch_of([theta()])
    batch.x = batch.x[:, :2]
    with refused(ValueError, r"`batch.x` must have 3 channels .* of shape \(4, 2\); try: a column"):
        backbone(name)(batch, batch.s)
    batch.x = None
    with refused(ValueError, "missing; try: a column of ones"):
        backbone(name)(batch, batch.s)


@every_backbone
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"readout": "max"}, r"`readout` must be one of \('mean', 'sum'\), but it is 'max'"),
        ({"hidden_channels": 0}, "`hidden_channels` must be at least 1, but it is 0"),
        ({"num_layers": 0}, "`num_layers` must be at least 1"),
        ({"edge_channels": -1}, "`edge_channels` must be at least 0"),
    ],
)
def test_impossible_sizes_are_refused(name, options, says):
    with refused(ValueError, says):
        BACKBONES[name](1, 1, **options)
