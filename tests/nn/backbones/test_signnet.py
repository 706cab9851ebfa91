import numpy as np
import pytest
import torch
from bad_input import refused
from feature_graphs import MIXED, batch_of, drawn, num_parameters, with_features
from hypothesis import given
from hypothesis import strategies as st
from named_graphs import cycle, theta
from strategies import examples
from torch_geometric.data import Batch

from cyclenet import AddEigenspaces, CycleData
from cyclenet.nn.backbones import GIN, SignNet
from cyclenet.nn.backbones.signnet import AttentionLayer, SignInvariantEncoder, SignLayer
from cyclenet.nn.layers import NodePairs

CLOSE = {"atol": 1e-10, "rtol": 1e-10}
# Rounding leaves 1e-14 where a gradient is zero. The single weight in front of the first norm of
# the eigenvalues has a small one that is real: the norm takes off its scale, but for the epsilon.
IDLE = 1e-12
SMALL = {"edge_channels": 2, "hidden_channels": 8, "num_layers": 2}


def network(**options):
    torch.manual_seed(0)
    model = SignNet(3, 2, **SMALL, **options).double()
    batch = batch_of(MIXED)
    model(batch, batch.s)
    return model.eval()


def random_signs(batch, seed):
    """+1 or -1 for each eigenvector."""
    generator = torch.Generator().manual_seed(seed)
    return 2.0 * torch.randint(2, (batch.num_nodes,), generator=generator) - 1


def flipped(batch, signs):
    """The batch with some eigenvectors turned around."""
    other = batch.clone()
    other.eigen_entry = batch.eigen_entry * signs[batch.eigen_pairs[1]]
    return other


# Parameters


def test_the_published_number_of_parameters_comes_out():
    printed = SignNet(1, 1, edge_channels=1, printed_size=True)
    assert num_parameters(printed) == 784_910
    # Five norms behind phi, five behind the convolutions, five biases in front of norms.
    assert num_parameters(printed.never_called) == 10 * 256
    assert num_parameters(SignNet(1, 1, edge_channels=1)) + 10 * 256 + 5 * 128 == 784_910
    assert num_parameters(SignNet(1, 1)) == num_parameters(SignNet(1, 1, edge_channels=1)) - 5 * (
        128 + 256
    )


def test_what_only_the_published_size_has_never_learns():
    torch.manual_seed(0)
    model = SignNet(3, 2, **SMALL, readout="sum", printed_size=True).double()
    batch = batch_of(MIXED)
    out = model(batch, batch.s)
    (out * torch.randn_like(out)).sum().backward()
    idle = {f"positions.phi.{t}.mlp.3.bias" for t in range(5)}
    assert idle <= dict(model.named_parameters()).keys()
    for key, parameter in model.named_parameters():
        if key.startswith("never_called"):
            assert parameter.grad is None
        elif key in idle:
            assert parameter.grad.abs().max() < IDLE
        else:
            assert parameter.grad.abs().max() > IDLE, key


# Signs, bases, labels


@given(st.lists(drawn(), min_size=1, max_size=3), st.integers(0, 99))
@examples(20, 500)
def test_signs_of_eigenvectors_never_show(several, seed):
    model, batch = network(), batch_of(several)
    other = flipped(batch, random_signs(batch, seed))
    torch.testing.assert_close(model(other, other.s), model(batch, batch.s), **CLOSE)


@pytest.mark.parametrize("seed", range(5))
def test_signs_of_eigenvectors_never_show_in_training_either(seed):
    batch = batch_of(MIXED)
    other = flipped(batch, random_signs(batch, seed))
    outs = [network(dropout=0.0).train()(one, one.s) for one in (batch, other)]
    torch.testing.assert_close(outs[1], outs[0], atol=1e-8, rtol=1e-8)


def without_repeated_eigenvalues(count, num_nodes=7):
    """Random graphs whose eigenvalues, apart from 0, all differ."""
    generator, found = np.random.default_rng(0), []
    while len(found) < count:
        upper = np.triu(generator.random((num_nodes, num_nodes)) < 0.4, 1)
        graph = (np.array(np.nonzero(upper)), num_nodes)
        spaces = with_features(graph).eigenspace
        if len(spaces.unique()) == int((spaces != 0).sum()) + 1:
            found.append(graph)
    return found


@pytest.mark.parametrize("graph", without_repeated_eigenvalues(12))
def test_labels_never_show_where_all_eigenvalues_differ(graph):
    model, one = network(), with_features(graph)
    generator = torch.Generator().manual_seed(1)
    for _ in range(3):
        names = torch.randperm(graph[1], generator=generator)
        back = names.argsort()
        other = AddEigenspaces(dtype=torch.float64)(
            CycleData(x=one.x[back], edge_index=names[one.edge_index], s=one.s)
        )
        torch.testing.assert_close(model(other, other.s), model(one, one.s), atol=1e-7, rtol=1e-7)


def test_a_basis_of_an_eigenspace_does_show():
    """What the docstring warns of, and why BasisNet exists."""
    model, one = network(), with_features(cycle(4))
    assert one.eigenspace.tolist() == [0, 1, 1, 3]
    turn = torch.eye(4, dtype=torch.double)
    turn[1:3, 1:3] = torch.tensor([[0.6, -0.8], [0.8, 0.6]])
    other = one.clone()
    other.eigen_entry = (one.eigen_entry.view(4, 4) @ turn).flatten()
    assert (model(other, other.s) - model(one, one.s)).abs().max() > 1e-6


# The parts


@given(drawn(5))
@examples(15, 200)
def test_positions_are_their_formula(graph):
    """Each eigenvector and sign by itself, each node by itself."""
    torch.manual_seed(0)
    encoder = SignInvariantEncoder(8, sign_layers=3).double()
    encoder(batch_of(MIXED))
    encoder.eval()
    data, n = with_features(graph), graph[1]
    adjacency = torch.zeros(n, n, dtype=torch.double)
    adjacency[data.edge_index[1], data.edge_index[0]] = 1.0
    vectors = data.eigen_entry.view(n, n)
    tokens = torch.zeros(n, n, 8, dtype=torch.double)
    for k in range(n):
        tokens[:, k] += encoder.value_encoder(data.eigenvalue[k].view(1, 1))
        for sign in (1, -1):
            x = sign * vectors[:, k : k + 1]
            for i, layer in enumerate(encoder.phi):
                new = layer.norm(layer.mlp((1 + layer.epsilon) * x + adjacency @ x)).relu()
                x = new if i == 0 else x + new
            tokens[:, k] += x
    found = encoder(data)
    for u in range(n):
        own = tokens[u : u + 1]
        for layer in encoder.attention:
            own = layer(own)
        torch.testing.assert_close(found[u], encoder.project(own.sum(1))[0], **CLOSE)


def test_attention_is_that_of_torch():
    torch.manual_seed(0)
    ours = AttentionLayer(8, heads=2, dropout=0.0).double()
    theirs = torch.nn.TransformerEncoderLayer(
        8, 2, 8, dropout=0.0, layer_norm_eps=1e-6, batch_first=True, dtype=torch.double
    )
    attention = theirs.self_attn
    parts = [ours.query.weight, ours.key.weight, ours.value.weight]
    attention.in_proj_weight.data = torch.cat(parts).data
    attention.in_proj_bias.data.zero_()
    attention.out_proj.load_state_dict({
        "weight": ours.out.weight, "bias": torch.zeros(8, dtype=torch.double),
    })  # fmt: skip
    theirs.linear1.load_state_dict(ours.widen.state_dict())
    theirs.linear2.load_state_dict(ours.narrow.state_dict())
    tokens = torch.randn(3, 5, 8, dtype=torch.double)
    torch.testing.assert_close(ours(tokens), theirs(tokens))


def test_attention_drops_in_training_only():
    torch.manual_seed(0)
    layer, tokens = AttentionLayer(8, dropout=0.5), torch.randn(2, 6, 8)
    assert not torch.equal(layer(tokens), layer(tokens))
    layer.eval()
    assert torch.equal(layer(tokens), layer(tokens))


def test_gradients_are_right():
    torch.manual_seed(0)
    batch = batch_of(MIXED[1:3])
    pairs = NodePairs(batch.graph_of("nodes"), batch.num_joined)
    layer = SignLayer(2, 2).double()
    adjacency = torch.rand(pairs.num_pairs, 1, dtype=torch.double)
    rows = torch.randn(pairs.num_pairs, 2, 2, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda states: layer(states, adjacency, pairs), rows)
    tokens = torch.randn(2, 3, 4, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(AttentionLayer(4, heads=2, dropout=0.0).double(), tokens)


def test_behind_the_positions_it_is_gin():
    """With a join that passes the node encoding on, the eigenvectors are out of the game."""
    batch = batch_of(MIXED)
    model = network()
    gin = GIN(3, 2, **SMALL).double().eval()
    found = gin.load_state_dict(
        {k: v for k, v in model.state_dict().items() if not k.startswith(("positions", "join"))}
    )
    assert not found.missing_keys and not found.unexpected_keys
    model.join.weight.data = torch.eye(8, 16, dtype=torch.double)
    model.join.bias.data.zero_()
    torch.testing.assert_close(model(batch, batch.s), gin(batch, batch.s), **CLOSE)


# Bad input


def test_eigenvectors_must_be_there_and_complete():
    data = with_features(theta(), eigenvectors=False)
    with refused(ValueError, "no `eigen_entry`; try: `AddEigenspaces"):
        network()(data, data.s)
    short = with_features(theta())
    short.eigen_entry = short.eigen_entry[:12]
    with refused(ValueError, "all 16 entries .* it holds 12; try: "):
        network()(Batch.from_data_list([short]), short.s)


@pytest.mark.parametrize("options", [{"heads": 3}, {"heads": 0}])
def test_heads_must_fit_side_by_side(options):
    with refused(ValueError, "`heads` must divide"):
        SignNet(1, 1, **options)


def test_phi_needs_a_layer():
    with refused(ValueError, "`sign_layers` must be at least 1, but it is 0"):
        SignNet(1, 1, sign_layers=0)
