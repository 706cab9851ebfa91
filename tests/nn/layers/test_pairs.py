import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from cyclenet.nn.layers import NodePairs

SIZES = st.lists(st.integers(0, 4), max_size=5)


def pairs_of(sizes):
    """The pairs of graphs with so many nodes, and one random matrix on each with two channels."""
    graphs = torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes, dtype=torch.long))
    generator = torch.Generator().manual_seed(0)
    matrices = [torch.randn(s, s, 2, generator=generator, dtype=torch.double) for s in sizes]
    rows = [torch.zeros(0, 2, dtype=torch.double), *(m.flatten(0, 1) for m in matrices)]
    return NodePairs(graphs, len(sizes)), matrices, torch.cat(rows)


@given(SIZES)
@examples(100, 1000)
def test_rows_are_numbered_graph_after_graph_and_node_after_node(sizes):
    pairs, _, rows = pairs_of(sizes)
    assert pairs.num_pairs == len(rows)
    first, second, graph, start = [], [], [], 0
    for i, size in enumerate(sizes):
        inside = torch.arange(start, start + size)
        first.append(inside.repeat_interleave(size))
        second.append(inside.repeat(size))
        graph.append(torch.full((size**2,), i))
        start += size
    none = torch.zeros(0, dtype=torch.long)
    first, second = torch.cat([none, *first]), torch.cat([none, *second])
    assert torch.equal(pairs.row(first, second), torch.arange(pairs.num_pairs))
    assert torch.equal(pairs.diagonal(), (first == second).nonzero().squeeze(1))
    assert torch.equal(pairs.graph(), torch.cat([none, *graph]))


@given(SIZES)
@examples(100, 1000)
def test_a_function_of_matrices_sees_each_graph_by_itself(sizes):
    pairs, matrices, rows = pairs_of(sizes)
    product = pairs.apply(lambda one: torch.einsum("cuvk,cvwk->cuwk", one, one), rows)
    row_sums = pairs.apply(lambda one: one.sum(2), rows, to="nodes")
    expected = [torch.einsum("uvk,vwk->uwk", one, one).flatten(0, 1) for one in matrices]
    torch.testing.assert_close(product, torch.cat([rows[:0], *expected]))
    torch.testing.assert_close(row_sums, torch.cat([rows[:0], *(one.sum(1) for one in matrices)]))


def test_two_kinds_of_rows_come_together():
    pairs, _, rows = pairs_of([2, 3])
    weights = torch.arange(13.0, dtype=torch.double).unsqueeze(1)
    found = pairs.apply(lambda one, other: one * other, weights, rows)
    torch.testing.assert_close(found, weights * rows)


@given(SIZES)
@examples(10, 60)
def test_gradients_are_right(sizes):
    pairs, _, rows = pairs_of(sizes)
    rows = rows.requires_grad_()
    assert torch.autograd.gradcheck(
        lambda r: pairs.apply(lambda one: one.square().sum(2), r, to="nodes"), rows
    )
