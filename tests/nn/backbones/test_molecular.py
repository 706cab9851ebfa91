"""Types of atoms and bonds, encodings of bonds, and the published sizes of Table 6."""

import numpy as np
import pytest
import torch
from bad_input import refused, unchecked
from feature_graphs import KINDS, MIXED, NUM_VECTORS, SPACES, bare
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples
from torch_geometric.data import Batch

from cyclenet.nn import CycleNet
from cyclenet.nn.backbones import BACKBONES, PNA, MolecularBackbone
from cyclenet.nn.encoders import PEOIEncoder, ProjectorEncoder
from cyclenet.nn.layers import real_rows
from cyclenet.runner.batches import GraphStore, padded
from cyclenet.transforms import AddLeadingEigenvectors

ATOMS, BONDS, WIDTH = 28, 4, 16
CLOSE = {"atol": 1e-10, "rtol": 1e-10}
MOLECULAR = [name for name, kind in BACKBONES.items() if issubclass(kind, MolecularBackbone)]

every_backbone = pytest.mark.parametrize("name", MOLECULAR)
with_and_without_states = pytest.mark.parametrize("edge_channels", [0, WIDTH, 3])


def molecule(graph, seed=0):
    """A graph whose nodes and edges have types; both arcs of an edge have the same."""
    data = bare(graph)
    generator = torch.Generator().manual_seed(seed)
    data.x = torch.randint(ATOMS, (data.num_nodes,), generator=generator)
    bonds = torch.randint(BONDS, (data.edge_index.size(1) // 2,), generator=generator)
    data.edge_attr = bonds.repeat(2)
    data.s = torch.randn(data.edge_index.size(1), WIDTH, generator=generator, dtype=torch.double)
    return AddLeadingEigenvectors(count=NUM_VECTORS, dtype=torch.float64)(data)


def molecules(several=tuple(MIXED)):
    return Batch.from_data_list([molecule(graph, seed) for seed, graph in enumerate(several)])


def network(name, *, edge_channels=WIDTH, calibrated=True, **options):
    """A small network in float64 whose norms have seen molecules, in evaluation mode."""
    torch.manual_seed(0)
    if issubclass(BACKBONES[name], PNA):
        options.setdefault("arc_channels", WIDTH)
    options = {"hidden_channels": WIDTH, "num_layers": 2, "edge_types": BONDS} | options
    model = BACKBONES[name](ATOMS, 2, edge_channels=edge_channels, **options).double()
    if calibrated:
        predictions(model, molecules())
    return model.eval()


def predictions(model, batch):
    return model(batch, batch.s[:, : model.edge_channels] if model.edge_channels else None)


def filled(store, ids, more):
    """Eight slots, with graphs in them that do not count, and more rows than they need."""
    room = store.room([ids, padded(ids, 8)])
    rows = {key: n if n == 9 else n + more for key, n in room.rows.items()}
    asked = torch.from_numpy(np.stack([padded(ids, 8)]))
    several = store.take_filled(asked, torch.tensor([len(ids)]), room._replace(rows=rows))
    return several.batch(torch.tensor([0]))


# Types


@every_backbone
@pytest.mark.parametrize("form", ["column", "int32", "one-hot"])
def test_types_may_come_in_any_form(name, form):
    model, batch = network(name), molecules()
    expected = predictions(model, batch)
    if form == "column":
        batch.x, batch.edge_attr = batch.x.unsqueeze(1), batch.edge_attr.unsqueeze(1)
    elif form == "int32":
        batch.x, batch.edge_attr = batch.x.int(), batch.edge_attr.int()
    else:
        batch.x = torch.nn.functional.one_hot(batch.x, ATOMS).double()
        batch.edge_attr = torch.nn.functional.one_hot(batch.edge_attr, BONDS).double()
    assert torch.equal(predictions(model, batch), expected)


@every_backbone
@pytest.mark.parametrize("what", ["x", "edge_attr"])
def test_types_are_seen(name, what):
    model, batch = network(name), molecules()
    one = predictions(model, batch)
    batch[what] = batch[what].roll(1)
    assert (predictions(model, batch) - one).abs().max() > 1e-6


@every_backbone
def test_an_encoding_is_added_to_the_row_of_the_bond(name):
    """What is given and what is learned of a bond are one state, so they can trade places."""
    model, batch = network(name), molecules()
    expected = predictions(model, batch)
    shift = torch.randn(WIDTH, dtype=torch.double)
    with torch.no_grad():
        model.edge_types.weight -= shift
    torch.testing.assert_close(model(batch, batch.s + shift), expected, **CLOSE)


@every_backbone
def test_an_encoding_of_zeros_is_none(name):
    model, batch = network(name), molecules()
    alone = network(name, edge_channels=0, calibrated=False)
    alone.load_state_dict(model.state_dict())
    torch.testing.assert_close(model(batch, torch.zeros_like(batch.s)), alone(batch), **CLOSE)


@every_backbone
def test_only_an_encoding_of_another_width_is_mapped(name):
    assert network(name).edge_map is None
    assert network(name, edge_channels=0).edge_map is None
    assert network(name, edge_channels=3).edge_map.weight.shape == (WIDTH, 3)


# The laws, with types


@every_backbone
@with_and_without_states
def test_a_molecule_alone_is_what_it_is_in_any_batch(name, edge_channels):
    model = network(name, edge_channels=edge_channels)
    several = [*KINDS.values(), *MIXED, KINDS["empty"]]
    together = predictions(model, molecules(several))
    for seed, graph in enumerate(several):
        found = predictions(model, molecule(graph, seed))
        torch.testing.assert_close(found[0], together[seed], **CLOSE)


@every_backbone
@given(st.data())
@examples(10, 200)
def test_names_of_atoms_and_the_order_of_bonds_never_show(name, data):
    item = molecule(data.draw(st.sampled_from(MIXED)))
    names = torch.tensor(data.draw(st.permutations(range(item.num_nodes))))
    order = torch.tensor(data.draw(st.permutations(range(item.num_edges))))
    model = network(name)
    other = item.clone()
    other.x = item.x[names.argsort()]
    other.edge_index = names[item.edge_index[:, order]]
    other.edge_attr, other.s = item.edge_attr[order], item.s[order]
    other.eigen_rows = item.eigen_rows[names.argsort()]
    other.eigen_multiplicity = item.eigen_multiplicity[names.argsort()]
    torch.testing.assert_close(predictions(model, other), predictions(model, item), **CLOSE)


@every_backbone
@with_and_without_states
def test_every_parameter_learns_from_molecules(name, edge_channels):
    model = network(name, edge_channels=edge_channels, calibrated=False).train()
    batch = molecules([*MIXED, *MIXED, *MIXED, *SPACES])
    predictions(model, batch).square().sum().backward()
    for key, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().max() > 1e-8, key


@every_backbone
@pytest.mark.parametrize("training", [False, True])
def test_a_filled_batch_of_molecules_is_the_batch(name, training):
    items = [molecule(graph, seed) for seed, graph in enumerate(MIXED)]
    store, ids = GraphStore(items, torch.device("cpu")), [4, 1, 0, 3, 2]
    # Calibrated, so that the sums over the many arcs of the filler are not all there is.
    plain, other = network(name).train(training), network(name).train(training)
    expected = predictions(plain, store.take(ids))
    expected.square().sum().backward()
    batch, held, real = filled(store, ids, more=40)
    with real_rows(real):
        found = predictions(other, batch)
    found[:-1][held].square().sum().backward()
    torch.testing.assert_close(found[: len(ids)], expected, rtol=1e-9, atol=1e-11)
    for (key, a), b in zip(plain.state_dict().items(), other.state_dict().values(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9, msg=key)
    for (key, a), b in zip(plain.named_parameters(), other.parameters(), strict=True):
        assert a.grad is not None and b.grad is not None, key
        torch.testing.assert_close(a.grad, b.grad, rtol=1e-9, atol=1e-9, msg=key)


@every_backbone
@pytest.mark.parametrize("training", [False, True])
def test_a_large_filler_never_overflows(name, training):
    """All its arcs come into one node, and zero times infinity would be no gradient."""
    items = [molecule(graph, seed) for seed, graph in enumerate(MIXED)]
    for item in items:
        item.s = item.s.float()
    model = network(name, num_layers=16).float().train(training)
    batch, held, real = filled(GraphStore(items, torch.device("cpu")), [0, 1, 2, 3, 4], more=1000)
    with real_rows(real):
        found = predictions(model, batch)
    assert found.isfinite().all()
    found[:-1][held].square().sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters()
               if parameter.grad is not None)  # fmt: skip


@every_backbone
def test_the_compiler_sees_the_whole_network_and_no_number_of_the_device(name):
    """Asking the device for a number, as `tolist` does, would split what a GPU replays."""
    model, batch = network(name), molecules()
    whole = torch.compile(model, backend="eager", fullgraph=True)
    with unchecked():  # the shape checks of the tests are not for compilers
        torch.testing.assert_close(whole(batch, batch.s), predictions(model, batch), **CLOSE)


@every_backbone
def test_cyclenet_adds_its_encoding(name):
    torch.manual_seed(0)
    width = {"arc_channels": WIDTH} if issubclass(BACKBONES[name], PNA) else {}
    options = {"edge_types": BONDS, "num_layers": 2, **width}
    model = CycleNet(ATOMS, 1, hidden_channels=WIDTH, backbone=name, encoder="peoi",
                     backbone_options=options)  # fmt: skip
    assert model.backbone.edge_channels == WIDTH and model.backbone.edge_map is None


# Published sizes

TABLE_6 = {
    "product_gin": (122, 122),
    "gated_gcn": (77, 77),
    "pna": (80, 40),
    "molecular_signnet": (70, 40),
    "basisnet_gin": (122, 122),
    "basisnet_gated_gcn": (77, 77),
    "basisnet_pna": (70, 40),
}


def published(name, edge_channels=0):
    """A backbone of Table 6."""
    width, arc_width = TABLE_6[name]
    more = {}
    if issubclass(BACKBONES[name], PNA):
        more = {"towers": 5, "arc_channels": arc_width, "published_scale": True}
    if name not in ("product_gin", "pna"):
        more["printed_size"] = True
    if name.startswith("basisnet"):
        more |= {"train_coefficients": False, "both_signs": False}
    return BACKBONES[name](
        ATOMS, 1, edge_channels=edge_channels, hidden_channels=width, edge_types=BONDS, **more
    )


def encoder_of(row, width):
    if row == "PEOI":
        return PEOIEncoder(width, sum_over="all", final_relu=True)
    source = "hodge" if row == "Hodge" else "projector"
    return ProjectorEncoder(width, source=source, depth="contracted", printed_size=True,
                            train_coefficients=row == "trained")  # fmt: skip


@pytest.mark.parametrize(
    ("name", "row", "printed"),
    [
        ("product_gin", None, 497_394),
        ("product_gin", "Hodge", 543_876),
        ("product_gin", "CycleNet", 543_876),
        ("product_gin", "PEOI", 512_812),
        ("product_gin", "trained", 664_168),
        ("gated_gcn", None, 491_597),
        ("gated_gcn", "Hodge", 510_539),
        ("gated_gcn", "CycleNet", 510_539),
        ("gated_gcn", "PEOI", 504_090),
        ("gated_gcn", "trained", 558_741),
        ("pna", None, 473_681),
        ("pna", "Hodge", 479_081),
        ("pna", "CycleNet", 479_081),
        ("pna", "PEOI", 483_769),
        ("pna", "trained", 492_281),
        ("molecular_signnet", None, 487_082),
        ("molecular_signnet", "Hodge", 492_482),
        ("molecular_signnet", "CycleNet", 492_482),
        ("molecular_signnet", "PEOI", 497_170),
        ("molecular_signnet", "trained", 505_682),
        ("basisnet_gin", None, 1_051_810),  # printed with 300,000 less
        ("basisnet_gated_gcn", None, 716_793),
        ("basisnet_pna", None, 556_323),
    ],
)
def test_the_published_numbers_of_parameters_come_out(name, row, printed):
    arc_width = TABLE_6[name][1]
    parts = [published(name)]
    if row is not None:
        parts = [published(name, arc_width), encoder_of(row, arc_width)]
    learning = [p.numel() for part in parts for p in part.parameters() if p.requires_grad]
    assert sum(learning) == printed


# Bad input


@every_backbone
def test_a_type_that_does_not_exist_is_named(name):
    model, batch = network(name), molecules()
    batch.edge_attr[3] = BONDS
    with refused(ValueError, r"`batch.edge_attr` must hold types from 0 to 3, .* from 0 to 4"):
        predictions(model, batch)
    batch.x[2] = -1
    with refused(ValueError, r"`batch.x` must hold types from 0 to 27, .* from -1 to 2"):
        predictions(model, batch)


@every_backbone
@pytest.mark.parametrize("what", ["x", "edge_attr"])
def test_several_types_in_a_row_are_refused(name, what):
    model, batch = network(name), molecules()
    batch[what] = batch[what].unsqueeze(1).repeat(1, 2)
    with refused(ValueError, rf"`batch.{what}` must hold one type in each row, .*, 2\); try: "):
        predictions(model, batch)


@every_backbone
def test_types_must_be_there(name):
    model, batch = network(name), molecules()
    for wrong, came in ((None, "missing"), (batch.edge_attr[:3], r"of shape \(3,\)")):
        batch.edge_attr = wrong
        with refused(ValueError, rf"`batch.edge_attr` must hold .* it is {came}; try: edge_types"):
            predictions(model, batch)
    batch.x = None
    with refused(ValueError, r"`batch.x` must have 28 channels .* missing"):
        predictions(model, batch)


@every_backbone
def test_a_state_for_each_arc_is_asked_for_with_types_too(name):
    model, batch = network(name), molecules()
    with refused(ValueError, r"`edge_states` must have shape .* missing"):
        model(batch)
    with refused(ValueError, r"`edge_states` must have shape .* but its shape is"):
        model(batch, batch.s[:, :2])


@every_backbone
def test_a_network_without_types_is_refused(name):
    with refused(ValueError, "`edge_types` must be at least 1, but it is 0"):
        BACKBONES[name](ATOMS, 1, edge_types=0)
