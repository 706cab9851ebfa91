"""Encode your own graphs: from lists of edges to a batch with cycle numbers."""

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

import cyclenet as cn

# Your graphs: any pairs of nodes, in any order and direction. Each edge may come once or twice.
graphs = {
    "house": [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (4, 1)],
    "cube": [(a, a ^ bit) for a in range(8) for bit in (1, 2, 4)],
    "wheel": [(0, k) for k in range(1, 7)] + [(k, k % 6 + 1) for k in range(1, 7)],
    "tree": [(0, 1), (0, 2), (2, 3), (2, 4)],
}

# Numbers alone, without torch.
print("graph   nodes  edges  basis                relevant  unique")
for name, pairs in graphs.items():
    num_nodes = max(map(max, pairs)) + 1
    edges = cn.topology.edges_from_arcs(np.array(pairs).T, num_nodes).edges
    basis = cn.topology.shortest_cycle_basis(edges, num_nodes)
    lengths = " ".join(map(str, basis.lengths.tolist())) or "no cycle"
    print(
        f"{name:7} {num_nodes:5}  {edges.shape[1]:5}  {lengths:20} "
        f"{basis.num_relevant:8}  {'yes' if basis.is_unique else 'no'}"
    )

# The same for PyTorch Geometric: one transform, and batches follow.
transform = cn.AddCycleProjector()
encoded = [
    transform(Data(edge_index=torch.tensor(pairs).T, num_nodes=max(map(max, pairs)) + 1))
    for pairs in graphs.values()
]
batch = next(iter(DataLoader(encoded, batch_size=len(encoded))))
print(f"\na batch of {batch.num_graphs} graphs with {batch.edges.size(1)} edges;")

# The diagonal of the projector says how much an edge is on cycles: not at all is 0.
print("its share in the space of all cycles, edge by edge:")
shares = batch.projector_sums[:, 0].split([graph.edges.size(1) for graph in encoded])
for name, share in zip(graphs, shares, strict=True):
    print(f"{name:7} {' '.join(f'{value:.2f}' for value in share.tolist())}")
