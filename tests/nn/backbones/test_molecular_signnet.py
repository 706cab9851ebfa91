"""What an eigenvector may do without being noticed, and what it may not."""

import numpy as np
import pytest
import torch
from bad_input import refused
from feature_graphs import KINDS, MIXED, batch_of, drawn, with_features
from hypothesis import given
from hypothesis import strategies as st
from named_graphs import complete, cycle, path, theta
from strategies import examples
from torch_geometric.data import Batch

from cyclenet import CycleData
from cyclenet.nn.backbones import PNA, MolecularSignNet
from cyclenet.transforms import AddLeadingEigenvectors

CLOSE = {"atol": 1e-10, "rtol": 1e-10}
SMALL = {"edge_channels": 2, "hidden_channels": 24, "num_layers": 2, "position_layers": 3}


def network(**options):
    torch.manual_seed(0)
    model = MolecularSignNet(3, 2, **SMALL, **options).double()
    batch = batch_of(MIXED)
    model(batch, batch.s)
    return model.eval()


def flipped(batch, seed):
    """The batch with some eigenvectors of each graph turned around."""
    generator = torch.Generator().manual_seed(seed)
    signs = 2.0 * torch.randint(2, (batch.num_joined, 8), generator=generator) - 1
    other = batch.clone()
    other.eigen_rows = batch.eigen_rows * signs[batch.graph_of("nodes")]
    return other


# Signs, bases, labels


@given(st.lists(drawn(), min_size=1, max_size=3), st.integers(0, 99))
@examples(20, 500)
def test_signs_of_eigenvectors_never_show(several, seed):
    model, batch = network(), batch_of(several)
    other = flipped(batch, seed)
    torch.testing.assert_close(model(other, other.s), model(batch, batch.s), **CLOSE)


@pytest.mark.parametrize("seed", range(3))
def test_signs_of_eigenvectors_never_show_in_training_either(seed):
    batch = batch_of([*MIXED, *KINDS.values()])
    models = [network().train() for _ in range(2)]
    outs = [
        model(one, one.s) for model, one in zip(models, (batch, flipped(batch, seed)), strict=True)
    ]
    torch.testing.assert_close(outs[1], outs[0], atol=1e-8, rtol=1e-8)
    for a, b in zip(*(model.state_dict().values() for model in models), strict=True):
        torch.testing.assert_close(a, b, atol=1e-8, rtol=1e-8)


def without_repeated_eigenvalues(count, num_nodes=7):
    """Random graphs whose eigenvalues, apart from 0, all differ."""
    generator, found = np.random.default_rng(0), []
    while len(found) < count:
        upper = np.triu(generator.random((num_nodes, num_nodes)) < 0.4, 1)
        graph = (np.array(np.nonzero(upper)), num_nodes)
        if with_features(graph).eigen_multiplicity.max() <= 1:
            found.append(graph)
    return found


@pytest.mark.parametrize("graph", without_repeated_eigenvalues(8))
def test_labels_never_show_where_all_eigenvalues_differ(graph):
    model, one = network(), with_features(graph)
    generator = torch.Generator().manual_seed(1)
    for _ in range(3):
        names = torch.randperm(graph[1], generator=generator)
        other = CycleData(x=one.x[names.argsort()], edge_index=names[one.edge_index], s=one.s)
        other = AddLeadingEigenvectors(count=8, dtype=torch.float64)(other)
        torch.testing.assert_close(model(other, other.s), model(one, one.s), atol=1e-7, rtol=1e-7)


def test_a_basis_of_an_eigenspace_does_show():
    """What the docstring warns of, and why BasisNet exists."""
    model, one = network(), with_features(cycle(4))
    assert one.eigen_multiplicity[0].tolist() == [2, 2, 1, 0, 0, 0, 0, 0]
    turn = torch.eye(8, dtype=torch.double)
    turn[:2, :2] = torch.tensor([[0.6, -0.8], [0.8, 0.6]])
    other = one.clone()
    other.eigen_rows = one.eigen_rows @ turn
    assert (model(other, other.s) - model(one, one.s)).abs().max() > 1e-6


def test_eigenvectors_are_seen():
    model, batch = network(), batch_of(MIXED)
    other = batch.clone()
    other.eigen_rows = batch.eigen_rows.flip(0)
    assert (model(other, other.s) - model(batch, batch.s)).abs().max() > 1e-6


# Columns


@pytest.mark.parametrize("training", [False, True])
def test_columns_that_nobody_has_change_nothing(training):
    """As many as the transform is told, and fewer or more than there are eigenvectors."""
    several = [*MIXED, complete(1), path(2)]
    items = [with_features(graph, seed) for seed, graph in enumerate(several)]
    outs = []
    for count in (7, 8, 37):
        transform = AddLeadingEigenvectors(count=count, dtype=torch.float64)
        batch = Batch.from_data_list([transform(item) for item in items])
        outs.append(network().train(training)(batch, batch.s))
    torch.testing.assert_close(outs[1], outs[0], **CLOSE)
    torch.testing.assert_close(outs[2], outs[0], **CLOSE)


def test_behind_the_positions_it_is_pna():
    batch, model = batch_of(MIXED), network()
    positions = model.positions(batch)
    torch.testing.assert_close(
        model.first_states(batch, batch.x), batch.x @ model.node_types.weight + positions
    )
    pna = PNA(3, 2, edge_channels=2, hidden_channels=24, num_layers=2).double().eval()
    own = {k: v for k, v in model.state_dict().items() if not k.startswith("positions")}
    found = pna.load_state_dict(own)
    assert not found.missing_keys and not found.unexpected_keys
    torch.nn.init.zeros_(model.positions.project.weight)
    torch.nn.init.zeros_(model.positions.project.bias)
    torch.testing.assert_close(model(batch, batch.s), pna(batch, batch.s), **CLOSE)


def test_the_host_need_not_know_how_large_graphs_are():
    assert not MolecularSignNet.reads_sizes


def test_only_what_the_published_size_adds_never_learns():
    torch.manual_seed(0)
    model = MolecularSignNet(3, 2, **SMALL, printed_size=True).double()
    batch = batch_of(MIXED)
    out = model(batch, batch.s)
    (out * torch.randn_like(out)).sum().backward()
    usual = dict(MolecularSignNet(3, 2, **SMALL).named_parameters())
    idle = {key for key, _ in model.named_parameters() if key not in usual}
    assert len(idle) == 2 * (3 - 1)
    for key, parameter in model.named_parameters():
        assert (parameter.grad.abs().max() < 1e-12) == (key in idle), key


# Bad input


def test_eigenvectors_must_be_there():
    data = with_features(theta(), eigenvectors=False)
    with refused(ValueError, r"no `eigen_rows`; try: `AddLeadingEigenvectors\(count=37\)`"):
        network()(data, data.s)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"position_layers": 0}, "`num_layers` must be at least 1, but it is 0"),
        ({"position_channels": 0}, "`inner_channels` must be at least 1, but it is 0"),
    ],
)
def test_impossible_positions_are_refused(options, says):
    with refused(ValueError, says):
        MolecularSignNet(1, 1, **options)
