import pytest
import torch
from bad_input import refused
from feature_graphs import KINDS, MIXED, SPACES, batch_of
from named_graphs import hypercube
from torch_geometric.data import Batch

from cyclenet.nn.layers import RowNorm
from cyclenet.nn.layers.eigenvectors import (
    EigenvectorGIN,
    NormedStack,
    SpaceEncoder,
    eigenvectors_of,
)
from cyclenet.nn.layers.equivariant import ContractingLayer, PairIndex, SetLayer, contract

CLOSE = {"atol": 1e-10, "rtol": 1e-10}
EVERY = [*MIXED, *SPACES, *KINDS.values()]


def network(**options):
    """A small one in float64 whose norms have seen eigenvectors, in evaluation mode."""
    torch.manual_seed(0)
    gin = EigenvectorGIN(3, hidden_channels=4, num_layers=3, **options).double()
    gin(*read(batch_of(EVERY)))
    return gin.eval()


def read(batch):
    rows, multiplicity = eigenvectors_of(batch, torch.double)
    return rows, multiplicity > 0, batch.edge_index


@pytest.mark.parametrize("idle_biases", [False, True])
@pytest.mark.parametrize("both_signs", [False, True])
def test_the_sum_is_its_formula_eigenvector_by_eigenvector(both_signs, idle_biases):
    gin = network(both_signs=both_signs, idle_biases=idle_biases)
    batch = batch_of(EVERY)
    rows, exists, arcs = read(batch)
    heard = torch.eye(len(rows), dtype=torch.double)
    heard[arcs[1], arcs[0]] += 1.0
    expected = torch.zeros(len(rows), 3, dtype=torch.double)
    for k in range(rows.size(1)):
        for sign in (1, -1)[: 1 + both_signs]:
            x = sign * rows[:, k : k + 1]
            for i in range(3):
                x = gin.inner_norms[i](gin.widen[i](heard @ x).relu())
                if i < 2:
                    x = gin.norms[i](gin.narrow[i](x))
            expected += gin.out(x) * exists[:, k : k + 1]
    torch.testing.assert_close(gin(rows, exists, arcs), expected, **CLOSE)


@pytest.mark.parametrize("training", [False, True])
def test_eigenvectors_that_are_not_there_add_nothing(training):
    """Whatever stands in their columns, and however many there are."""
    batch = batch_of(EVERY)
    rows, exists, arcs = read(batch)
    crowded = torch.where(exists, rows, 3.0)
    wider = torch.cat((crowded, torch.ones(len(rows), 2)), dim=1)
    there = torch.cat((exists, exists.new_zeros(len(rows), 2)), dim=1)
    nets = [network().train(training) for _ in range(3)]
    outs = [
        nets[0](rows, exists, arcs),
        nets[1](crowded, exists, arcs),
        nets[2](wider, there, arcs),
    ]
    for net, out in zip(nets[1:], outs[1:], strict=True):
        torch.testing.assert_close(out, outs[0], **CLOSE)
        for one, other in zip(net.buffers(), nets[0].buffers(), strict=True):
            torch.testing.assert_close(one, other)


@pytest.mark.parametrize("training", [False, True])
def test_the_order_of_eigenvectors_never_shows(training):
    rows, exists, arcs = read(batch_of(EVERY))
    order = torch.randperm(rows.size(1), generator=torch.Generator().manual_seed(0))
    one, other = (network().train(training) for _ in range(2))
    found = other(rows[:, order], exists[:, order], arcs)
    torch.testing.assert_close(found, one(rows, exists, arcs), **CLOSE)


def test_many_arcs_into_what_does_not_exist_stay_finite():
    """The filler of a batch: all its arcs come into one node without eigenvectors."""
    gin = EigenvectorGIN(3, hidden_channels=4, num_layers=8)
    arcs = torch.zeros(2, 100_000, dtype=torch.long)
    for training in (True, False):
        out = gin.train(training)(torch.zeros(2, 3), torch.zeros(2, 3, dtype=torch.bool), arcs)
        assert not out.any()


def test_gradients_are_right():
    torch.manual_seed(0)
    batch = batch_of(MIXED[1:3])
    rows, exists, arcs = read(batch)
    gin = EigenvectorGIN(2, hidden_channels=3, num_layers=2).double()
    assert torch.autograd.gradcheck(lambda x: gin(x, exists, arcs), rows.clone().requires_grad_())


def test_a_network_without_layers_is_refused():
    with refused(ValueError, "`num_layers` must be at least 1, but it is 0"):
        EigenvectorGIN(1, hidden_channels=2, num_layers=0)


def test_a_stack_ends_with_a_plain_map():
    stack = NormedStack(2, 3, 4, 3)
    kinds = (torch.nn.Linear, torch.nn.ReLU, RowNorm)
    assert [type(module) for module in stack] == [*kinds, *kinds, torch.nn.Linear]
    assert stack(torch.rand(5, 2)).shape == (5, 4)
    assert [type(module) for module in NormedStack(2, 3, 4, 1)] == [torch.nn.Linear]


# Spaces


def space_encoder(**options):
    torch.manual_seed(0)
    return SpaceEncoder(8, hidden_channels=4, num_layers=3, **options).double()


def said_of(encoder, batch):
    rows, multiplicity = eigenvectors_of(batch, torch.double)
    return encoder(rows, multiplicity, batch.batch, batch.num_joined)


@pytest.mark.parametrize("frozen", [False, True])
def test_the_networks_are_those_of_equivariant_layers(frozen):
    """Layer by layer, on the projectors themselves, one graph and multiplicity at a time."""
    encoder = space_encoder(train_coefficients=not frozen)
    for graph in (*SPACES, hypercube(3)):
        batch = batch_of([graph])
        q, n = int(batch.eigen_multiplicity[0, 0]), graph[1]
        basis = batch.eigen_rows[:, :q]
        ids, owner = torch.arange(n), torch.zeros(n, dtype=torch.long)
        index = PairIndex(
            ids.repeat_interleave(n), ids.repeat(n), ids * (n + 1),
            (ids.unsqueeze(1) + n * ids).flatten(), owner, 1, 1,
        )  # fmt: skip
        first = ContractingLayer(1, 4).double()
        first.coefficients.data = encoder.contraction[q - 1].T[None]
        states = first(contract((basis @ basis.T).view(-1, 1, 1), index), owner).relu()
        for own, shared, bias in zip(encoder.own, encoder.shared, encoder.set_bias, strict=True):
            layer = SetLayer(4, 4).double()
            layer.coefficients.data = torch.stack((own[q - 1], shared[q - 1]), dim=2)
            layer.bias.data = bias[q - 1]
            states = layer(states, owner, torch.full((1, 1), float(n), dtype=torch.double)).relu()
        for weight, bias in zip(encoder.head, encoder.head_bias, strict=True):
            states = (states @ weight[q - 1] + bias[q - 1]).relu()
        dimensions = batch.eigen_multiplicity[0].tolist()
        column = sum(0 < other < q for other in dimensions)
        found = said_of(encoder, batch)[:, column : column + q]
        torch.testing.assert_close(found, encoder.out[q - 1](states), **CLOSE)


def test_coefficients_are_drawn_as_those_of_equivariant_layers():
    for learns in (True, False):
        torch.manual_seed(0)
        encoder = SpaceEncoder(8, hidden_channels=64, num_layers=3, train_coefficients=learns)
        for inputs, parts in ((1, [encoder.contraction]), (64, [encoder.own, encoder.shared])):
            layer = SetLayer(inputs, 64, published_scale=not learns)
            expected = layer.coefficients.detach().std()
            for part in parts:
                torch.testing.assert_close(part.detach().std(), expected, rtol=0.2, atol=0)


def test_spaces_of_a_graph_know_nothing_of_each_other():
    """A graph with one of its spaces alone says the same of it."""
    encoder, batch = space_encoder(), batch_of([SPACES[1], MIXED[3]])
    both = said_of(encoder, batch)
    assert batch.eigen_multiplicity[-1].tolist() == [2, 2, 2, 2, 0, 0, 0, 0]
    for name in ("eigen_rows", "eigen_multiplicity"):
        batch[name] = batch[name].roll(-2, dims=1)
        batch[name][:, 2:] = 0
    torch.testing.assert_close(said_of(encoder, batch)[3:, :2], both[3:, 2:4], **CLOSE)


def test_every_multiplicity_has_a_network_that_learns():
    encoder = space_encoder()
    said_of(encoder, batch_of(EVERY)).square().sum().backward()
    for key, parameter in encoder.named_parameters():
        gradient = parameter.grad.abs()
        if "out" not in key:  # the multiplicity is the last dimension but those of a map
            per = 1 if key in ("head", "head_bias", "own", "shared", "set_bias") else 0
            gradient = gradient.transpose(0, per).flatten(1).amax(1)
        assert (gradient > 0).any() and (("out" in key) or (gradient > 0).sum() >= 6), key


def test_without_eigenvectors_nothing_is_said():
    assert not said_of(space_encoder(), batch_of([KINDS["edgeless"], KINDS["single"]])).any()


def test_frozen_coefficients_are_no_matter_for_an_optimiser():
    frozen = SpaceEncoder(8, hidden_channels=5, num_layers=8, train_coefficients=False)
    learning = sum(p.numel() for p in frozen.parameters() if p.requires_grad)
    assert learning == sum(2 * (5 * 5 + 5) + (5 * q + q) for q in range(1, 9))
    assert all(p.requires_grad for p in space_encoder().parameters())


def test_the_transform_is_named_where_its_numbers_are_missing():
    batch = batch_of(MIXED)
    with refused(ValueError, "must have 5 columns, .* has 8; try: "):
        eigenvectors_of(batch, torch.double, count=5)
    del batch.eigen_rows
    with refused(ValueError, r"no `eigen_rows`; try: `AddLeadingEigenvectors\(count=37\)`"):
        eigenvectors_of(Batch.from_data_list(batch.to_data_list()), torch.double)
