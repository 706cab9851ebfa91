"""The published networks for superpixels: sizes, directions from brightness, filled batches."""

import copy

import numpy as np
import pytest
import torch
from bad_input import refused
from feature_graphs import (
    EMPTY,
    FOREST,
    MIXED,
    SPACES,
    batch_of,
    num_parameters,
    with_features,
    with_triangles,
)
from named_graphs import bowtie, complete, cycle, grid, theta

from cyclenet import CycleData
from cyclenet.nn.backbones import BACKBONES, SAN, SAT, SCN, SuperpixelGAT, SuperpixelGCN
from cyclenet.nn.backbones.simplicial import AddedStates
from cyclenet.nn.layers import real_rows
from cyclenet.nn.layers.hodge import ordered_complex
from cyclenet.runner.batches import GraphStore, padded

CLOSE = {"atol": 1e-10, "rtol": 1e-10}
ON_COMPLEXES = ("scn", "scconv", "sat", "san")
ALL = ("superpixel_gcn", "superpixel_gat", *ON_COMPLEXES)
SPECTRUM = 20

every_network = pytest.mark.parametrize("name", ALL)
on_complexes = pytest.mark.parametrize("name", ON_COMPLEXES)


def network(name, in_channels=3, **options):
    torch.manual_seed(0)
    small = {"hidden_channels": 8, "num_layers": 2}
    return BACKBONES[name](in_channels, 4, **(small | options)).double().eval()


def complexes(several=(*MIXED, *SPACES[:4])):
    return with_triangles(batch_of(several))


# Sizes


@pytest.mark.parametrize(
    ("name", "size", "options"),
    [
        ("superpixel_gcn", 10_634, {}),
        ("superpixel_gat", 9_862, {}),
        ("scn", 10_612, {}),
        ("scconv", 10_315, {}),
        ("sat", 10_186, {"printed_size": True}),
        ("san", 10_582, {"printed_size": True}),
    ],
)
def test_the_published_sizes_come_out_without_saying_more(name, size, options):
    assert num_parameters(BACKBONES[name](5, 10, **options)) == size


def test_what_the_published_attention_has_in_excess():
    """Receivers' halves of 18 attentions of 2 heads, and attentions of cells that hear nobody."""
    assert num_parameters(SAT(5, 10)) == 10_186 - 3 * 3 * 2 * (15 + 2)
    idle = sum(18 * width + 18 + 38 for width in (5, 15, 18, 18, 18, 18))
    assert num_parameters(SAN(5, 10)) == 10_582 - idle


def test_the_published_network_with_an_encoding_reads_spectra_on_cells_of_every_dimension():
    """Behind the features of all cells stand ten eigenvalues and ten eigenvectors."""
    model = SAN(25, 10, edge_channels=30, cell_channels=SPECTRUM, printed_size=True)
    assert num_parameters(model) == 13_822
    assert model.added.linear is None  # an encoding of width 30 is added as it is


@pytest.mark.parametrize("name", ["sat", "san"])
def test_what_only_the_published_size_has_changes_no_prediction(name):
    batch, model = complexes(), network(name)
    sized = network(name, printed_size=True)
    model.load_state_dict(
        {key: value for key, value in sized.state_dict().items() if key in model.state_dict()}
    )
    found = sized(batch)
    torch.testing.assert_close(found, model(batch), **CLOSE)
    found.square().sum().backward()
    for key, parameter in sized.named_parameters():
        assert (parameter.grad is None) == ("never" in key), key


# The formulas


def test_a_network_is_its_layers_a_readout_of_each_dimension_and_a_head():
    batch, model = complexes([theta(), FOREST]), network("scn")
    found = model(batch)
    for i, graph in enumerate([theta(), FOREST]):
        alone = with_triangles(with_features(graph, i))
        bright = alone.x.square().sum(1)
        order = bright.argsort(descending=True)
        rank = order.argsort()
        ends = [sorted(edge, key=lambda v: rank[v]) for edge in alone.edges.t().tolist()]
        faces = [
            sorted({v for e in alone.face_incidence[0, 3 * f : 3 * f + 3] for v in ends[e]},
                   key=lambda v: rank[v])
            for f in range(int(alone.num_faces))
        ]  # fmt: skip
        down = torch.zeros(alone.num_nodes, len(ends)).double()
        up = torch.zeros(len(ends), len(faces)).double()
        for e, (first, last) in enumerate(ends):
            down[first, e], down[last, e] = -1, 1
        for f, (a, b, c) in enumerate(faces):
            for side, sign in (([a, b], 1), ([b, c], 1), ([a, c], -1)):
                up[ends.index(side), f] = sign
        assert not (down @ up).any()
        pooled = []
        laplacians = down @ down.t(), down.t() @ down + up @ up.t(), up.t() @ up
        for k, cells in enumerate(([[v] for v in range(alone.num_nodes)], ends, faces)):
            if not cells:
                pooled.append(torch.zeros(4).double())
                continue
            largest = torch.linalg.eigvalsh(laplacians[k])[-1]
            operator = 2 * laplacians[k] / largest
            operator = operator + torch.diag(1 - 2 * operator.diagonal())
            rows, every = alone.x[torch.tensor(cells)].flatten(1), []
            for layer in model.layers:
                linear = layer.layers[k].linear
                rows = torch.nn.functional.leaky_relu(linear(operator @ rows), 0.01)
                every.append(rows)
            pooled.append(model.of_cells[k](torch.cat(every, 1)).mean(0))
        torch.testing.assert_close(found[i], model.head[0](torch.cat(pooled)), **CLOSE)


def test_a_graph_convolution_is_the_symmetric_one_with_one_loop_at_each_node():
    batch, model = batch_of([theta(), bowtie(), EMPTY]), network("superpixel_gcn")
    adjacency = torch.eye(batch.num_nodes, dtype=torch.float64)
    adjacency[batch.edge_index[0], batch.edge_index[1]] = 1
    scale = torch.diag(adjacency.sum(0).rsqrt())
    rows, every = batch.x, []
    for layer in model.layers:
        rows = layer.linear(scale @ adjacency @ scale @ rows).relu()
        every.append(rows)
    rows = torch.cat(every, dim=1)
    pooled = torch.stack((rows[:4].mean(0), rows[4:].mean(0), torch.zeros(16).double()))
    torch.testing.assert_close(model(batch), model.head(pooled), **CLOSE)


@pytest.mark.parametrize("kind", [SuperpixelGCN, SuperpixelGAT])
def test_nodes_have_the_states_of_their_arcs_beside_their_features(kind):
    batch = batch_of([theta()])
    torch.manual_seed(0)
    wide = kind(5, 2, hidden_channels=8).double()
    torch.manual_seed(0)
    split = kind(3, 2, edge_channels=2, hidden_channels=8).double()
    found = split(batch, batch.s)
    heard = torch.stack([batch.s[batch.edge_index[1] == v].mean(0) for v in range(4)])
    batch.x = torch.cat((batch.x, heard), dim=1)
    torch.testing.assert_close(found, wide(batch), **CLOSE)


# What enters


@on_complexes
def test_predictions_do_not_depend_on_the_directions_that_are_stored(name):
    """Brightness decides, and where it is equal the first feature that differs."""
    batch, model = complexes(), network(name)
    expected = model(batch)
    batch.face_sign = -batch.face_sign
    torch.testing.assert_close(model(batch), expected, **CLOSE)


@on_complexes
def test_equal_brightness_is_decided_by_the_features(name):
    model, several = network(name, in_channels=4), []
    for names in ([0, 1, 2, 3], [3, 1, 0, 2]):
        data = with_features(theta(), eigenvectors=False)
        x = torch.tensor([[1.0, 1, 1, 5], [1, 1, 1, 2], [1, 1, 1, 9], [1, 1, 1, 7]]).double()
        back = torch.tensor(names).argsort()
        data.edge_index = torch.tensor(names)[data.edge_index]
        plain = data.without_cycles()
        plain.x = x[back]
        several.append(with_triangles(plain))
    torch.testing.assert_close(model(several[0]), model(several[1]), **CLOSE)


@on_complexes
@pytest.mark.parametrize("width", [6, 2])
def test_states_of_arcs_are_added_to_the_edges(name, width):
    """As they are where they are as wide as an edge, else after a linear map."""
    batch, model = complexes(), network(name, edge_channels=width)
    states = torch.randn(batch.edge_index.size(1), width, dtype=torch.float64)
    assert (model.added.linear is None) == (width == 6)
    expected = model(batch, states)
    swapped = torch.empty_like(states)  # only the mean of both arcs of an edge is read
    forth, back = batch.arc_sign > 0, batch.arc_sign < 0
    swapped[forth], swapped[back] = states[back], states[forth]
    torch.testing.assert_close(model(batch, swapped), expected, **CLOSE)
    assert (model(batch, 2 * states) - expected).abs().max() > 1e-6
    rows = torch.zeros(batch.edges.size(1), 6, dtype=torch.float64)
    mean = (states[forth] + states[back]) / 2
    added = model.added(batch, rows, states)
    edge = batch.arc_to_edge[forth]
    expected = mean if width == 6 else mean @ model.added.linear.weight.t()
    torch.testing.assert_close(added[edge], expected, **CLOSE)


@on_complexes
def test_cells_may_have_features_of_their_own(name):
    batch, model = complexes(), network(name, in_channels=5, cell_channels=2)
    counts = batch.num_nodes, batch.edges.size(1), int(batch.num_faces.sum())
    own = [torch.randn(count, 2, dtype=torch.float64) for count in counts]
    batch.x = torch.cat((batch.x, own[0]), dim=1)
    batch.edge_features, batch.face_features = own[1:]
    expected = model(batch)
    for key in ("edge_features", "face_features"):
        other = batch.clone()
        other[key] = 2 * other[key]
        assert (model(other) - expected).abs().max() > 1e-6
        del other[key]
        with refused(ValueError, f"`batch.{key}` .* missing; try: cell_channels=0"):
            model(other)
    states = model.first_states(batch, ordered_complex(batch, batch.x), batch.x, None)
    assert [rows.size(1) for rows in states] == [5, 8, 11]


@every_network
def test_probabilities_are_the_softmax_of_the_logits(name):
    batch = complexes()
    logits, chances = network(name)(batch), network(name, softmax_output=True)(batch)
    torch.testing.assert_close(chances, logits.softmax(1), **CLOSE)


@pytest.mark.parametrize("name", ["scn", "san"])
def test_the_laplacian_may_be_rescaled_as_it_should_be(name):
    batch = complexes()
    published, centred = network(name), network(name, rescaling="centred")
    centred.load_state_dict(published.state_dict())
    assert (published(batch) - centred(batch)).abs().max() > 1e-6


# Batches


def test_complexes_without_triangles_stand_in_any_position():
    several = [FOREST, theta(), EMPTY, cycle(5), complete(5), FOREST]
    for name in ALL:
        model = network(name)
        together = model(complexes(several))
        for i, graph in enumerate(several):
            alone = with_triangles(with_features(graph, i))
            torch.testing.assert_close(model(alone)[0], together[i], **CLOSE)


def filled(store, ids, more):
    """Eight slots, with graphs in them that do not count, and more rows than they need."""
    room = store.room([ids, padded(ids, 8)])
    rows = {key: n if n == 9 else n + more for key, n in room.rows.items()}
    asked = torch.from_numpy(np.stack([padded(ids, 8)]))
    several = store.take_filled(asked, torch.tensor([len(ids)]), room._replace(rows=rows))
    return several.batch(torch.tensor([0]))


@pytest.mark.parametrize("more", [0, 40])
@pytest.mark.parametrize("edge_channels", [0, 2])
@every_network
def test_a_batch_that_is_filled_up_is_the_batch(name, edge_channels, more):
    several = [*MIXED, *SPACES[1:4], grid(3, 3)]
    items = [with_triangles(with_features(graph, i)) for i, graph in enumerate(several)]
    store, ids = GraphStore(items, torch.device("cpu")), [6, 0, 9, 3, 4, 6]
    plain = network(name, edge_channels=edge_channels)
    other = copy.deepcopy(plain)
    batch = store.take(ids)
    expected = plain(batch, batch.s if edge_channels else None)
    expected.square().sum().backward()
    large, held, real = filled(store, ids, more)
    with real_rows(real):
        found = other(large, large.s if edge_channels else None)
    found[:-1][held].square().sum().backward()
    torch.testing.assert_close(found[: len(ids)], expected, rtol=1e-9, atol=1e-11)
    for one, two in zip(plain.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(one.grad, two.grad, rtol=1e-9, atol=1e-11)


def test_only_the_network_of_neighbours_through_nodes_asks_for_sizes():
    assert [name for name in ALL if BACKBONES[name].reads_sizes] == ["san"]


# Bad input


@on_complexes
def test_faces_must_be_triangles(name):
    with refused(ValueError, "must be triangles, .*; try: `LiftToCliqueComplex"):
        network(name)(batch_of([grid(2, 2)]))


@pytest.mark.parametrize("name", ["scn", "san"])
def test_bounds_must_be_there(name):
    batch = complexes()
    del batch.laplacian_bounds
    with refused(ValueError, "try: AddLaplacianBounds"):
        network(name)(batch)
    with refused(ValueError, r"`rescaling` must be one of \('published', 'centred'\)"):
        network(name, rescaling="none")


@pytest.mark.parametrize("count", [-1, 3])
def test_cells_cannot_own_all_features(count):
    with refused(ValueError, "`cell_channels` must be at least 0 and leave one of 3"):
        SCN(3, 1, cell_channels=count)


@pytest.mark.parametrize("name", ["sat", "superpixel_gat"])
def test_heads_must_fit(name):
    with refused(ValueError, "`heads` must divide"):
        network(name, hidden_channels=7)


def test_added_states_are_optional():
    rows = torch.ones(2, 3)
    assert AddedStates(0, 3)(CycleData(), rows, None) is rows
