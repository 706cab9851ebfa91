"""The shipped families hold what their names say."""

import numpy as np
import pytest

from cyclenet.datasets import (
    UnknownName,
    pack_graphs,
    strongly_regular_graphs,
    strongly_regular_parameters,
)
from cyclenet.datasets.strongly_regular import FAMILIES
from cyclenet.topology import betti_number, shortest_cycle_bases


@pytest.mark.parametrize("name", FAMILIES)
def test_every_graph_has_the_parameters_of_its_family(name):
    family = FAMILIES[name]
    graphs = strongly_regular_graphs(name)
    assert len(graphs) == family.num_graphs
    assert len({graph.edges.tobytes() for graph in graphs}) == family.num_graphs
    for graph in graphs:
        assert strongly_regular_parameters(*graph) == family[1:]


@pytest.mark.parametrize("name", FAMILIES)
def test_parameters_satisfy_the_counting_identity(name):
    # Pairs (neighbour, its neighbour elsewhere), counted from both sides.
    _, n, k, common, other = FAMILIES[name]
    assert k * (k - common - 1) == (n - k - 1) * other


def test_the_family_of_16_nodes_is_the_rook_and_the_shrikhande_graph():
    packed = pack_graphs(strongly_regular_graphs("sr16622"))
    bases = shortest_cycle_bases(packed.edges, packed.edge_ptr, packed.num_nodes)
    found = {tuple(np.bincount(bases[i].lengths)[3:].tolist()) for i in range(2)}
    assert found == {(24, 9), (31, 2)}


def test_every_basis_of_sr351899_is_281_triangles():
    packed = pack_graphs(strongly_regular_graphs("sr351899"))
    bases = shortest_cycle_bases(packed.edges, packed.edge_ptr, packed.num_nodes)
    assert {betti_number(*graph) for graph in packed} == {281}
    assert set(np.diff(bases.cycle_ptr)) == {281}
    assert set(bases.lengths) == {3}


@pytest.mark.parametrize(
    "edges", [[[0, 1], [1, 2]], [[0, 0, 1], [1, 2, 2]], [[], []]], ids=["path", "complete", "empty"]
)
def test_other_graphs_have_no_parameters(edges):
    assert strongly_regular_parameters(np.array(edges, dtype=np.int64).reshape(2, -1), 3) is None


def test_an_unknown_family_offers_the_nearest():
    with pytest.raises(UnknownName, match="did you mean 'sr16622'"):
        strongly_regular_graphs("sr1662")
