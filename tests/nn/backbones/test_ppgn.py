import numpy as np
import pytest
import torch
from feature_graphs import MIXED, bare, batch_of, drawn, num_parameters, with_features
from hypothesis import given
from named_graphs import cycle, from_pairs
from strategies import examples
from torch_geometric.data import Batch

from cyclenet import CycleData
from cyclenet.datasets import rook_graph, shrikhande_graph
from cyclenet.nn.backbones import PPGN
from cyclenet.nn.backbones.ppgn import PPGNBlock, first_states
from cyclenet.nn.layers import NodePairs


def network(readout="mean", edge_channels=2, **options):
    torch.manual_seed(0)
    sizes = {"edge_channels": edge_channels, "hidden_channels": 8, "num_layers": 2}
    return PPGN(3, 2, readout=readout, **sizes, **options).double().eval()


def dense_prediction(model, data, *, mean_product):
    """One graph by matrices, as the formula reads."""
    n = data.num_nodes
    states = torch.zeros(n, n, 6, dtype=torch.double)
    for i, (u, v) in enumerate(data.edge_index.t().tolist()):
        states[u, v, 0] = 1.0
        states[u, v, 4:] = data.s[i]
    for v in range(n):
        states[v, v, 1:4] = data.x[v]

    def everywhere(module, matrix):
        return module(matrix.flatten(0, 1)).unflatten(0, (n, n))

    for block in model.blocks:
        left, right = everywhere(block.left, states), everywhere(block.right, states)
        product = torch.einsum("uvk,vwk->uwk", left, right) / (n if mean_product else 1)
        states = everywhere(block.mix, torch.cat((states, product), dim=2))
    diagonal = states[range(n), range(n)]
    rest = states[~torch.eye(n, dtype=torch.bool)]
    if model.readout == "mean":
        pooled = (diagonal.sum(0) / max(n, 1), rest.sum(0) / max(n * (n - 1), 1))
    else:
        pooled = (diagonal.sum(0), rest.sum(0))
    return model.head(torch.cat(pooled).unsqueeze(0))


@given(drawn(5))
@examples(15, 300)
@pytest.mark.parametrize("mean_product", [False, True])
@pytest.mark.parametrize("readout", ["mean", "sum"])
def test_it_is_the_formula_on_matrices(readout, mean_product, graph):
    model, data = network(readout, mean_product=mean_product), with_features(graph)
    expected = dense_prediction(model, data, mean_product=mean_product)
    torch.testing.assert_close(model(data, data.s), expected)


def test_the_published_number_of_parameters_comes_out():
    assert num_parameters(PPGN(1, 1)) == 479_361


def test_one_direction_is_as_good_as_both():
    edges = np.array([[0, 0, 1, 2], [1, 2, 2, 3]])
    both = with_features((edges, 4))
    both.s[4:] = both.s[:4]
    one = CycleData(x=both.x, edge_index=both.edge_index[:, :4], s=both.s[:4])
    torch.testing.assert_close(network()(one, one.s), network()(both, both.s))


def test_what_a_pair_knows_by_hand():
    """An arc with a reverse of its own, a repeated arc without one, a loop."""
    arcs = torch.tensor([[0, 1, 1, 1, 0], [1, 0, 2, 2, 0]])
    states = torch.tensor([[1.0], [2.0], [3.0], [5.0], [7.0]])
    pairs = NodePairs(torch.zeros(3, dtype=torch.long), 1)
    found = first_states(torch.tensor([[10.0], [20.0], [30.0]]), arcs, states, pairs)
    adjacency, features, on_arcs = found.t().view(3, 3, 3)
    assert adjacency.tolist() == [[1, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert features.tolist() == [[10, 0, 0], [0, 20, 0], [0, 0, 30]]
    assert on_arcs.tolist() == [[7, 1, 0], [2, 0, 4], [0, 4, 0]]


def test_products_tell_apart_what_messages_cannot_but_not_strongly_regular_graphs():
    torch.manual_seed(0)
    model = PPGN(1, 3).double().eval()

    def apart(*several):
        batch = Batch.from_data_list([bare(graph) for graph in several])
        batch.x = batch.x.double()
        one, other = model(batch).detach()
        return float((one - other).abs().max() / one.abs().max())

    triangles = from_pairs([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)], 6)
    assert apart(cycle(6), triangles) > 1e-6
    assert apart(rook_graph(), shrikhande_graph()) < 1e-12


def test_mean_products_stay_in_range_where_sums_run_away():
    edges, num_nodes = rook_graph()
    torch.manual_seed(0)
    states = torch.randn(2 * edges.shape[1], 64)
    largest = {}
    for mean_product in (False, True):
        torch.manual_seed(1)
        model = PPGN(1, 1, edge_channels=64, num_layers=9, mean_product=mean_product).eval()
        largest[mean_product] = model(bare((edges, num_nodes)), states).detach().abs().max()
    assert largest[True] < 10 and largest[False] > 1e12


def test_gradients_are_right():
    torch.manual_seed(0)
    batch = batch_of(MIXED[1:4])
    pairs = NodePairs(batch.graph_of("nodes"), batch.num_joined)
    block = PPGNBlock(2, 3).double()
    rows = torch.randn(pairs.num_pairs, 2, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda states: block(states, pairs), rows)
