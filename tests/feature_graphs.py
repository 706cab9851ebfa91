"""Graphs with random features, eigenvectors and faces, as the networks take them."""

from collections.abc import Sequence

import numpy as np
import torch
from hypothesis import strategies as st
from named_graphs import Graph, bowtie, complete, cycle, grid, path, theta
from strategies import graphs
from torch import Tensor
from torch_geometric.data import Batch

from cyclenet import AddEigenspaces, CycleData
from cyclenet.transforms import (
    AddLaplacianBounds,
    AddLeadingEigenvectors,
    LiftToCliqueComplex,
    LiftToRingComplex,
)

IN_CHANNELS = 3
EDGE_CHANNELS = 2
NUM_VECTORS = 8
EMPTY: Graph = (np.zeros((2, 0), dtype=np.int64), 0)
EDGELESS: Graph = (np.zeros((2, 0), dtype=np.int64), 3)
SINGLE: Graph = (np.zeros((2, 0), dtype=np.int64), 1)
FOREST: Graph = (np.array([[0, 3], [1, 4]]), 5)
KINDS = {"empty": EMPTY, "edgeless": EDGELESS, "single": SINGLE, "forest": FOREST, "theta": theta()}
# Graphs of several sizes, none of them special.
MIXED = [grid(2, 3), bowtie(), path(3), cycle(5), theta(), grid(2, 4)]
# Eigenspaces of every dimension up to 8: that of a complete graph has one less than it has nodes.
SPACES = [complete(num_nodes) for num_nodes in range(2, NUM_VECTORS + 2)]


def drawn(max_nodes: int = 7) -> st.SearchStrategy[Graph]:
    """Any graph, empty and edgeless ones included."""
    return graphs(max_nodes, edge_order="sorted")


def with_features(graph: Graph, seed: int = 0, *, eigenvectors: bool = True) -> CycleData:
    """A graph in both directions with features `x`, states of its arcs in `s`, in float64.

    Its rings up to 6 are faces, and it has flows in `edge_features`.
    """
    edges, num_nodes = graph
    generator = torch.Generator().manual_seed(seed)
    arcs = torch.from_numpy(np.concatenate((edges, edges[::-1]), axis=1))
    data = CycleData(
        x=torch.randn(num_nodes, IN_CHANNELS, generator=generator, dtype=torch.float64),
        edge_index=arcs,
        s=torch.randn(arcs.size(1), EDGE_CHANNELS, generator=generator, dtype=torch.float64),
        num_nodes=num_nodes,
    )
    data = LiftToRingComplex()(data)
    flows = data.edges.size(1), IN_CHANNELS
    data.edge_features = torch.randn(flows, generator=generator, dtype=torch.float64)
    if not eigenvectors:
        return data
    leading = AddLeadingEigenvectors(count=NUM_VECTORS, dtype=torch.float64)
    return leading(AddEigenspaces(dtype=torch.float64)(data))


def bare(graph: Graph) -> CycleData:
    """A graph in both directions whose nodes are all alike, in float32."""
    edges, num_nodes = graph
    arcs = torch.from_numpy(np.concatenate((edges, edges[::-1]), axis=1))
    return CycleData(x=torch.ones(num_nodes, 1), edge_index=arcs, num_nodes=num_nodes)


def num_parameters(module: torch.nn.Module) -> int:
    """How many numbers an optimiser would be given."""
    return sum(parameter.numel() for parameter in module.parameters())


def batch_of(several: Sequence[Graph], seed: int = 0) -> CycleData:
    """The graphs with features, each drawn by itself, in one batch."""
    return Batch.from_data_list([with_features(g, seed + i) for i, g in enumerate(several)])


def with_triangles(data: CycleData) -> CycleData:
    """The same graphs with their triangles as faces, and the bounds of their Laplacians."""
    if isinstance(data, Batch):
        return Batch.from_data_list([with_triangles(one) for one in data.to_data_list()])
    return AddLaplacianBounds(dtype=torch.float64)(LiftToCliqueComplex()(data))


def relabelled_data(data: CycleData, names: Tensor, order: Tensor) -> CycleData:
    """Node v becomes `names[v]`, arc `order[i]` comes i-th, and eigenvectors come along.

    Faces are found anew: they belong to the graph. Flows keep their directions.
    """
    back = names.argsort()
    moved = CycleData(
        x=data.x[back],
        edge_index=names[data.edge_index[:, order]].reshape(2, -1),
        s=data.s[order],
        num_nodes=data.num_nodes,
    )
    moved.eigen_pairs = data.eigen_pairs
    moved.eigenvalue = data.eigenvalue
    moved.eigen_entry = data.eigen_entry.view(len(names), len(names))[back].flatten()
    moved.eigen_rows = data.eigen_rows[back]
    moved.eigen_multiplicity = data.eigen_multiplicity[back]
    moved = LiftToRingComplex()(moved)
    on_arcs = (data.arc_sign.unsqueeze(1) * data.edge_features[data.arc_to_edge])[order]
    moved.edge_features = torch.empty_like(data.edge_features)
    moved.edge_features[moved.arc_to_edge] = moved.arc_sign.unsqueeze(1) * on_arcs
    return moved
