"""The shipped molecules."""

import numpy as np

from cyclenet.datasets import molecule_graphs, pack_graphs
from cyclenet.topology import check_edges, shortest_cycle_bases


def test_they_are_the_thousand_of_the_benchmark():
    packed = pack_graphs(molecule_graphs())
    assert len(packed) == 1000
    assert packed.num_nodes.sum() == 23083
    assert packed.edges.shape[1] == 49692 // 2
    for edges, num_nodes in packed:
        check_edges(edges, num_nodes)


def test_their_cycles_are_rings_of_five_and_six_atoms():
    packed = pack_graphs(molecule_graphs())
    bases = shortest_cycle_bases(packed.edges, packed.edge_ptr, packed.num_nodes)
    counts = np.bincount(bases.lengths)
    assert counts[5] + counts[6] > 0.9 * counts.sum()
    assert np.diff(bases.cycle_ptr).max() == 6
