"""Packing many graphs into three arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs

from cyclenet.datasets import Graph, pack_graphs


@given(st.lists(graphs(max_nodes=8), max_size=6))
def test_packing_then_unpacking_is_the_identity(many):
    packed = pack_graphs([Graph(*graph) for graph in many])
    assert len(packed) == len(many)
    for (edges, num_nodes), got in zip(many, packed, strict=True):
        np.testing.assert_array_equal(got.edges, edges)
        assert got.num_nodes == num_nodes


def test_packed_graphs_are_not_packed_again():
    packed = pack_graphs([Graph(np.array([[0], [1]]), 2)])
    assert pack_graphs(packed) is packed


def test_positions_count_from_both_ends_and_stop_there():
    packed = pack_graphs([Graph(np.zeros((2, 0), dtype=np.int64), n) for n in (1, 2)])
    assert packed[-1].num_nodes == 2
    with pytest.raises(IndexError):
        packed[2]
