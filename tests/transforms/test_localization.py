import numpy as np
import torch
from bad_input import refused
from torch_geometric.data import Batch, Data

from cyclenet.topology import TooLargeError
from cyclenet.topology.harmonic import harmonic_sums
from cyclenet.transforms import AddHarmonicSums, LiftToCliqueComplex

# A square of four triangles around a node, with one of them cut out and glued to another square.
HOUSE = torch.tensor([[0, 0, 1, 2, 0, 1, 3, 4], [1, 2, 3, 3, 3, 4, 5, 5]])


def test_the_numbers_are_those_of_the_topology():
    data = AddHarmonicSums(dtype=torch.float64)(
        LiftToCliqueComplex()(Data(edge_index=HOUSE, num_nodes=6))
    )
    faces = np.array([[0, 0], [1, 2], [3, 3]])
    expected = harmonic_sums(data.edges.numpy(), 6, faces)
    np.testing.assert_allclose(data.harmonic_sums.numpy(), expected, atol=1e-12)
    assert data.harmonic_sums[:, 0].sum().round(decimals=9) == 1


def test_faces_make_the_difference():
    plain = AddHarmonicSums()(Data(edge_index=HOUSE, num_nodes=6))
    assert plain.harmonic_sums[:, 0].sum().round(decimals=5) == 3


def test_loops_that_are_kept_are_holes():
    loop = Data(edge_index=torch.tensor([[0, 0], [0, 1]]), num_nodes=2)
    data = AddHarmonicSums(self_loops="cycle")(loop)
    assert data.harmonic_sums.tolist() == [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]


def test_graphs_of_all_kinds_batch():
    graphs = [
        Data(edge_index=torch.zeros((2, 0), dtype=torch.long), num_nodes=0),
        Data(edge_index=HOUSE, num_nodes=6),
        Data(edge_index=torch.tensor([[0], [1]]), num_nodes=3),
    ]
    several = [AddHarmonicSums()(graph) for graph in graphs]
    batch = Batch.from_data_list(several)
    assert batch.harmonic_sums.shape == (9, 3)
    for one, other in zip(several, batch.to_data_list(), strict=True):
        assert torch.equal(one.harmonic_sums, other.harmonic_sums)


def test_what_would_not_fit_is_refused():
    with refused(TooLargeError, "harmonic space"):
        AddHarmonicSums(max_memory=10)(Data(edge_index=HOUSE, num_nodes=6))
