"""Attention on complexes, against the dense softmax over the pattern of neighbours."""

import pytest
import torch
from feature_graphs import EDGELESS, EMPTY, batch_of, drawn, num_parameters, with_triangles
from hypothesis import given
from hypothesis import strategies as st
from named_graphs import complete, theta
from strategies import examples
from torch.nn.functional import leaky_relu

from cyclenet.nn.layers.cell_attention import PairAttention, SenderAttention
from cyclenet.nn.layers.hodge import stored_complex

CLOSE = {"atol": 1e-10, "rtol": 1e-10}
several_graphs = st.lists(drawn(7), min_size=1, max_size=3)
HEADS, WIDTH = 2, 3


def complexes(several):
    batch = with_triangles(batch_of(several))
    return stored_complex(batch, batch.x)


def patterns_of(cells):
    """The neighbours of nodes, of edges in two ways, of triangles."""
    below, above = cells.below, cells.above
    return {
        0: [below.upper],
        1: [above.upper, below.lower],
        2: [above.lower],
    }


def dense(pattern, count, **options):
    return pattern(torch.eye(count, dtype=torch.float64), **options)


def attention(kind, **options):
    torch.manual_seed(0)
    return kind(4, HEADS * WIDTH, heads=HEADS, **options).double()


@pytest.mark.parametrize("oriented", [False, True])
@pytest.mark.parametrize("dimension", [0, 1, 2])
@given(several=several_graphs)
@examples(20, 300)
def test_a_head_is_the_dense_softmax_over_neighbours_with_its_receiver(
    dimension, oriented, several
):
    """The receiver's half is given at random: it cancels."""
    cells = complexes(several)
    owner, patterns = cells.owners[dimension], patterns_of(cells)[dimension]
    layer = attention(SenderAttention, oriented=oriented)
    rows = torch.randn(len(owner), 4, dtype=torch.float64)
    receiver = torch.randn(HEADS, WIDTH, dtype=torch.float64)
    expected = []
    for head in range(HEADS):
        pattern = patterns[head * len(patterns) // HEADS]
        signs = dense(pattern, len(owner), signed=oriented)
        h = layer.linear(rows)[:, head * WIDTH : (head + 1) * WIDTH]
        scored = h.abs() if oriented else h
        logits = (scored @ receiver[head]).unsqueeze(1) + scored @ layer.sender[head] + 0.7
        weights = logits.masked_fill(signs == 0, -torch.inf).softmax(1)
        expected.append((weights * signs) @ h)
    found = layer(rows, patterns, owner, cells.num_graphs)
    torch.testing.assert_close(found, torch.cat(expected, dim=1), **CLOSE)


@pytest.mark.parametrize("dimension", [0, 1, 2])
@given(several=several_graphs)
@examples(20, 300)
def test_attention_over_pairs_is_the_dense_softmax(dimension, several):
    cells = complexes(several)
    below, above = cells.below, cells.above
    pattern, pairs = {
        0: (below.upper, below.upper_pairs),
        1: (below.lower, below.lower_pairs),
        2: (above.lower, above.lower_pairs),
    }[dimension]
    layer = attention(PairAttention)
    count = len(cells.owners[dimension])
    rows = torch.randn(count, 4, dtype=torch.float64)
    hears = dense(pattern, count, signed=False)
    expected = []
    for head in range(HEADS):
        h = layer.linear(rows)[:, head * WIDTH : (head + 1) * WIDTH]
        (a1, a2), (c1, c2) = layer.vectors[:, head], layer.offsets[:, head]
        logits = leaky_relu((h @ a1 + c1).unsqueeze(1) + h @ a2 + c2, 0.01)
        expected.append(logits.masked_fill(hears == 0, -torch.inf).softmax(1) @ h)
    torch.testing.assert_close(layer(rows, pairs()), torch.cat(expected, dim=1), **CLOSE)


@pytest.mark.parametrize("oriented", [False, True])
def test_large_logits_leave_no_holes(oriented):
    """Far from the largest of its graph a row still has a mean, and gradients stay finite."""
    batch = with_triangles(batch_of([complete(4), theta(), EDGELESS, EMPTY]))
    cells = stored_complex(batch, batch.x.float())
    layer = SenderAttention(1, 2, heads=1, oriented=oriented)
    rows = torch.linspace(-1e4, 1e4, batch.num_nodes).unsqueeze(1).requires_grad_()
    found = layer(rows, [cells.below.upper], cells.owners[0], cells.num_graphs)
    found.square().mean().backward()
    assert found.isfinite().all() and rows.grad.isfinite().all()
    for parameter in layer.parameters():
        assert parameter.grad.isfinite().all()


def test_the_logits_of_another_graph_change_nothing():
    alone, together = complexes([theta()]), complexes([theta(), complete(4)])
    layer = attention(SenderAttention)
    rows = torch.randn(4, 4, dtype=torch.float64)
    loud = torch.cat((rows, 1e3 * torch.ones(4, 4, dtype=torch.float64)))
    expected = layer(rows, [alone.below.upper], alone.owners[0], 1)
    found = layer(loud, [together.below.upper], together.owners[0], 2)
    torch.testing.assert_close(found[:4], expected, **CLOSE)


def test_offsets_learn_where_logits_differ_in_sign():
    cells = complexes([complete(5)])
    layer = attention(PairAttention)
    rows = 10 * torch.randn(5, 4, dtype=torch.float64)
    out = layer(rows, cells.below.upper_pairs())
    (out * torch.randn_like(out)).sum().backward()
    for key, parameter in layer.named_parameters():
        assert parameter.grad.abs().max() > 1e-6, key


@pytest.mark.parametrize(("oriented", "idle"), [(False, 2 * (15 + 2)), (True, 2 * 15)])
def test_what_cancels_is_allocated_on_request_and_never_used(oriented, idle):
    cells = complexes([complete(5)])
    sized = SenderAttention(5, 30, oriented=oriented, printed_size=True).double()
    plain = SenderAttention(5, 30, oriented=oriented).double()
    assert num_parameters(sized) - num_parameters(plain) == idle
    rows = torch.randn(5, 5, dtype=torch.float64)
    sized(rows, [cells.below.upper], cells.owners[0], 1).square().sum().backward()
    unused = {key for key, weight in sized.named_parameters() if weight.grad is None}
    assert unused == {"never_used"}


@pytest.mark.parametrize("kind", [SenderAttention, PairAttention])
def test_gradients_are_right(kind):
    cells = complexes([theta(), complete(4)])
    layer = attention(kind)
    rows = torch.randn(8, 4, dtype=torch.float64, requires_grad=True)
    if kind is PairAttention:
        assert torch.autograd.gradcheck(lambda x: layer(x, cells.below.upper_pairs()), rows)
    else:
        given = [cells.below.upper], cells.owners[0], 2
        assert torch.autograd.gradcheck(lambda x: layer(x, *given), rows)
