"""Which parts of BasisNet know a basis, and which only its space."""

import pytest
import torch
from bad_input import refused
from feature_graphs import MIXED, SPACES, batch_of, relabelled_data, with_features
from named_graphs import complete, cycle, hypercube, theta

from cyclenet import CycleData
from cyclenet.nn.backbones import BasisNetGatedGCN, BasisNetGIN, BasisNetPNA
from cyclenet.nn.backbones.basisnet import BasisPositions
from cyclenet.transforms import AddLeadingEigenvectors

CLOSE = {"atol": 1e-10, "rtol": 1e-10}
WIDTH = 24
ROTATED = [cycle(5), cycle(6), complete(5), hypercube(3), *MIXED]


def positions(**options):
    torch.manual_seed(0)
    made = BasisPositions(WIDTH, num_layers=3, **options).double()
    made(batch_of([*MIXED, *SPACES]))
    return made.eval()


def turned(batch, seed=0, *, signs_only=False):
    """The batch with another basis of every eigenspace."""
    generator = torch.Generator().manual_seed(seed)
    other = batch.clone()
    other.eigen_rows = batch.eigen_rows.clone()
    graph = batch.graph_of("nodes")
    for i in range(batch.num_joined):
        nodes = (graph == i).nonzero().squeeze(1)
        column, dimensions = 0, batch.eigen_multiplicity[nodes[0]].tolist()
        while column < 8 and dimensions[column]:
            q = dimensions[column]
            turn = torch.linalg.qr(torch.randn(q, q, generator=generator, dtype=torch.double))[0]
            if signs_only:
                turn = torch.diag(torch.randint(2, (q,), generator=generator) * 2.0 - 1).double()
            space = slice(column, column + q)
            other.eigen_rows[nodes, space] = batch.eigen_rows[nodes, space] @ turn
            column += q
    return other


# Bases, signs, labels


@pytest.mark.parametrize("seed", range(3))
def test_no_basis_shows_in_what_is_said_of_spaces(seed):
    encoder, batch = positions(), batch_of(ROTATED)
    assert batch.eigen_multiplicity.max() > 3
    found, expected = encoder.of_spaces(turned(batch, seed)), encoder.of_spaces(batch)
    torch.testing.assert_close(found, expected, **CLOSE)


def test_no_name_of_a_node_shows_in_what_is_said_of_spaces():
    """With eigenvectors computed anew, which are others; and no two columns are mixed up."""
    encoder, generator = positions(), torch.Generator().manual_seed(0)
    for graph in ROTATED:
        one = with_features(graph)
        names = torch.randperm(graph[1], generator=generator)
        other = CycleData(x=one.x[names.argsort()], edge_index=names[one.edge_index])
        other = AddLeadingEigenvectors(count=8, dtype=torch.float64)(other)
        found = encoder.of_spaces(other)[names]
        torch.testing.assert_close(found, encoder.of_spaces(one), atol=1e-8, rtol=1e-8)


@pytest.mark.parametrize("training", [False, True])
def test_signs_of_eigenvectors_never_show(training):
    batch = batch_of([*ROTATED, *SPACES])
    outs = [positions().train(training)(one) for one in (batch, turned(batch, signs_only=True))]
    torch.testing.assert_close(outs[1], outs[0], atol=1e-9, rtol=1e-9)


def test_a_basis_does_show_in_the_sum_over_eigenvectors():
    """What the docstring warns of."""
    encoder, batch = positions(), batch_of(ROTATED)
    assert (encoder(turned(batch)) - encoder(batch)).abs().max() > 1e-6
    for parameter in encoder.phi.out.parameters():
        torch.nn.init.zeros_(parameter)
    torch.testing.assert_close(encoder(turned(batch)), encoder(batch), atol=1e-9, rtol=1e-9)


def test_as_published_signs_do_show():
    encoder, batch = positions(both_signs=False), batch_of(MIXED)
    assert (encoder(turned(batch, signs_only=True)) - encoder(batch)).abs().max() > 1e-6


def test_the_order_of_nodes_is_that_of_positions():
    encoder, one = positions(), with_features(MIXED[0])
    names = torch.randperm(one.num_nodes, generator=torch.Generator().manual_seed(0))
    other = relabelled_data(one, names, torch.arange(one.num_edges))
    torch.testing.assert_close(encoder(other)[names], encoder(one), **CLOSE)


# The parts


@pytest.mark.parametrize("graph", ROTATED, ids=str)
def test_every_space_has_its_columns_the_smallest_spaces_first(graph):
    """One space at a time, on the projector itself."""
    encoder, one = positions(), with_features(graph)
    found, column, parts = encoder.of_spaces(one), 0, []
    dimensions = one.eigen_multiplicity[0].tolist()
    while column < 8 and dimensions[column]:
        q = dimensions[column]
        basis = one.eigen_rows[:, column : column + q]
        parts.append((q, by_hand(encoder.spaces, q, basis @ basis.T)))
        column += q
    parts.sort(key=lambda part: part[0])
    expected = torch.cat([part for _, part in parts], dim=1)
    torch.testing.assert_close(found[:, :column], expected, **CLOSE)
    assert not found[:, column:].any()


def by_hand(spaces, q, matrix):
    """The published layers on one dense matrix."""
    n, which = len(matrix), q - 1
    five = torch.stack((
        matrix.diagonal(), matrix.trace().expand(n) / n, matrix.sum(1) / n, matrix.sum(0) / n,
        matrix.sum().expand(n) / n**2,
    ), dim=1)  # fmt: skip
    states = (five @ spaces.contraction[which] + spaces.contraction_bias[which]).relu()
    for own, shared, bias in zip(spaces.own, spaces.shared, spaces.set_bias, strict=True):
        states = (states @ own[which] + states.mean(0) @ shared[which] + bias[which]).relu()
    for weight, bias in zip(spaces.head, spaces.head_bias, strict=True):
        states = (states @ weight[which] + bias[which]).relu()
    return spaces.out[which](states)


def test_what_is_said_of_spaces_is_seen():
    encoder, batch = positions(), batch_of(MIXED)
    one = encoder(batch)
    with torch.no_grad():
        encoder.spaces.out[0].weight *= 2
    assert (encoder(batch) - one).abs().max() > 1e-6


def test_published_coefficients_leave_a_constant():
    """Eight layers at the published scale: nothing of the matrix is left, and nothing learns."""
    torch.manual_seed(0)
    made = BasisPositions(122, train_coefficients=False)
    batch = batch_of(MIXED)
    has_simple = (batch.eigen_multiplicity == 1).any(1)  # its first column is said of a single one
    said = made.of_spaces(batch)[has_simple, 0]
    assert len(said) > 5 and (said - said[0]).abs().max() < 1e-6 * said[0].abs()
    learning = {k.split(".")[0] for k, p in made.spaces.named_parameters() if p.requires_grad}
    assert learning == {"head", "head_bias", "out"}
    assert all(p.requires_grad for p in BasisPositions(4).parameters())


@pytest.mark.parametrize("kind", [BasisNetGIN, BasisNetGatedGCN, BasisNetPNA])
def test_positions_are_added_to_the_types(kind):
    torch.manual_seed(0)
    batch = batch_of(MIXED)
    model = kind(3, 1, hidden_channels=8, num_layers=1, position_layers=2).double().eval()
    expected = batch.x @ model.node_types.weight + model.positions(batch)
    torch.testing.assert_close(model.first_states(batch, batch.x), expected)
    assert not kind.reads_sizes


# Bad input


def test_eigenvectors_must_be_there_and_as_many_as_announced():
    data = with_features(theta(), eigenvectors=False)
    with refused(ValueError, r"no `eigen_rows`; try: `AddLeadingEigenvectors\(count=8\)`"):
        positions()(data)
    with refused(ValueError, r"must have 8 columns, .* it has 37; try: `AddLeading.*count=8\)`"):
        positions()(AddLeadingEigenvectors(dtype=torch.float64)(data))
