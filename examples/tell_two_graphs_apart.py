"""Tell two graphs apart: what message passing says, and what the cycles say.

The two graphs are strongly regular with the same parameters; put yours in their place.
"""

import numpy as np
import torch

import cyclenet as cn
from cyclenet.datasets import graph_data, strongly_regular_graphs
from cyclenet.datasets.graph import relabelled

family = strongly_regular_graphs("sr251256")
first, second = family[0], family[1]
names = np.random.default_rng(0).permutation(first.num_nodes)
copy = relabelled(first, names)  # the first graph under other names: must stay the same
graphs = {"first": first, "a copy of it": copy, "second": second}


def degrees(graph):
    """All that message passing sees of a regular graph."""
    return sorted(set(np.bincount(graph.edges.ravel()).tolist()))


def basis(graph):
    """Lengths of a shortest cycle basis: the same for every such basis."""
    lengths, counts = np.unique(
        cn.topology.shortest_cycle_basis(*graph).lengths, return_counts=True
    )
    return " + ".join(f"{count} x {length}" for length, count in zip(lengths, counts, strict=True))


# An untrained encoder is a hash of the graph that does not depend on names: sum its rows.
torch.manual_seed(0)
encoder = cn.ProfileEncoder(8).double().eval()
transform = cn.AddCycleProfiles(dtype=torch.float64)


def code(graph):
    """The sum over all arcs of what the encoder says."""
    with torch.no_grad():
        return encoder(transform(cn.CycleData.from_data(graph_data(graph)))).sum(dim=0)


print(f"{'':14}{'degrees':10}{'shortest basis':20}distance of codes to the first")
for name, graph in graphs.items():
    distance = (code(graph) - code(first)).norm() / code(first).norm()
    print(f"{name:14}{degrees(graph)!s:10}{basis(graph):20}{distance:.0e}")
