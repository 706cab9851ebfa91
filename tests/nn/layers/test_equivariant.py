"""The ragged layers against their definition on dense matrices, one graph at a time."""

import pytest
import torch

from cyclenet.bench.dense import fifteen
from cyclenet.nn.layers.equivariant import (
    ContractingLayer,
    PairIndex,
    PairLayer,
    SetLayer,
    contract,
)

SIZES = [3, 0, 1, 4]


def index_of(sizes, sheets):
    rows, columns, diagonal, transposed, graph = [], [], [], [], []
    edges = pairs = 0
    for i, m in enumerate(sizes):
        for e in range(m):
            for f in range(m):
                rows.append(edges + e)
                columns.append(edges + f)
                transposed.append(pairs + f * m + e)
            diagonal.append(pairs + e * m + e)
            graph.append(i)
        edges += m
        pairs += m * m
    as_ids = (torch.tensor(ids, dtype=torch.long) for ids in (rows, columns, diagonal, transposed))
    return PairIndex(*as_ids, torch.tensor(graph, dtype=torch.long), len(sizes), sheets)


def on_arcs(entries, m, sheets):
    """The dense matrix (on edges, or on the arcs e, e reversed, ...) of the entries of a graph."""
    if sheets == 1:
        return entries[:, 0].view(m, m, entries.size(2))
    same, opposite = entries.view(m, m, 2, entries.size(2)).unbind(2)
    upper, lower = torch.cat((same, opposite), 1), torch.cat((opposite, same), 1)
    return torch.cat((upper, lower), 0)


def split(entries, sizes):
    return entries.split([m * m for m in sizes])


@pytest.mark.parametrize(("inside", "outside"), [(3, 5), (5, 3)])
@pytest.mark.parametrize("sheets", [1, 2])
def test_pairs_to_pairs_is_the_sum_of_the_fifteen_maps_and_two_biases(sheets, inside, outside):
    torch.manual_seed(0)
    layer = PairLayer(inside, outside).double()
    torch.nn.init.normal_(layer.bias)
    index = index_of(SIZES, sheets)
    entries = torch.randn(sum(m * m for m in SIZES), sheets, inside, dtype=torch.float64)
    found = layer(entries, index)
    for old, new, m in zip(split(entries, SIZES), split(found, SIZES), SIZES, strict=True):
        matrix = on_arcs(old, m, sheets)
        parts = fifteen(matrix.unsqueeze(0), torch.ones(1, sheets * m, dtype=torch.bool))
        expected = sum(part[0] @ layer.coefficients[:, :, i] for i, part in enumerate(parts))
        expected = expected + layer.bias[1]
        expected = expected + torch.eye(sheets * m).double().unsqueeze(2) * layer.bias[0]
        torch.testing.assert_close(on_arcs(new, m, sheets), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("sheets", [1, 2])
def test_pairs_to_edges_is_the_sum_of_the_five_maps_and_a_bias(sheets):
    torch.manual_seed(0)
    layer = ContractingLayer(3, 4).double()
    torch.nn.init.normal_(layer.bias)
    index = index_of(SIZES, sheets)
    entries = torch.randn(sum(m * m for m in SIZES), sheets, 3, dtype=torch.float64)
    found = layer(contract(entries, index), index.graph).split(SIZES)
    for old, new, m in zip(split(entries, SIZES), found, SIZES, strict=True):
        matrix = on_arcs(old, m, sheets)
        size = max(matrix.size(0), 1)
        parts = [
            matrix.diagonal().t(), matrix.diagonal().sum(1) / size, matrix.sum(1) / size,
            matrix.sum(0) / size, matrix.sum((0, 1)) / size**2,
        ]  # fmt: skip
        expected = sum(part @ layer.coefficients[:, :, i] for i, part in enumerate(parts))
        expected = (expected + layer.bias).expand(sheets * m, -1)
        torch.testing.assert_close(new.repeat(sheets, 1), expected, rtol=0, atol=1e-12)


def test_edges_to_edges_adds_the_mean_of_the_graph():
    torch.manual_seed(0)
    layer = SetLayer(3, 4).double()
    rows = torch.randn(sum(SIZES), 3, dtype=torch.float64)
    index = index_of(SIZES, 1)
    found = layer(rows, index.graph, index.sizes.double()).split(SIZES)
    own, shared = layer.coefficients.unbind(2)
    for old, new in zip(rows.split(SIZES), found, strict=True):
        expected = old @ own + (old.mean(0) if len(old) else 0 * old.sum(0)) @ shared
        torch.testing.assert_close(new, expected, rtol=0, atol=1e-12)


def test_a_row_that_stands_for_several_edges_counts_as_often():
    torch.manual_seed(0)
    layer = SetLayer(3, 4).double()
    kinds, graph = torch.randn(3, 3, dtype=torch.float64), torch.tensor([0, 0, 1])
    counts = torch.tensor([3, 1, 2])
    every, sizes = torch.arange(3).repeat_interleave(counts), torch.tensor([[4.0], [2.0]]).double()
    expected = layer(kinds[every], graph[every], sizes)
    found = layer(kinds, graph, sizes, counts.double().unsqueeze(1))
    torch.testing.assert_close(found[every], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("outside", [1, 2, 3])
@pytest.mark.parametrize("sheets", [1, 2])
def test_gradients_are_right(sheets, outside):
    index = index_of([2, 1], sheets)
    layer = PairLayer(2, outside).double()
    entries = torch.randn(5, sheets, 2, dtype=torch.float64, requires_grad=True)

    def through(entries, coefficients, bias):
        parameters = {"coefficients": coefficients, "bias": bias}
        return torch.func.functional_call(layer, parameters, (entries, index))

    assert torch.autograd.gradcheck(through, (entries, layer.coefficients, layer.bias))
