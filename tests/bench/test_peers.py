"""The peers give the numbers we compare with."""

import sys

import numpy as np
import pytest
import scipy.sparse
from named_graphs import bicyclo_222_octane, rook

from cyclenet.bench.peers import (
    as_pairs,
    dense_hodge,
    eigh_projector,
    igraph_bases,
    networkx_bases,
    networkx_hodge,
    networkx_projector,
    peer,
    rdkit_copies,
    rdkit_molecules,
    rdkit_num_relevant,
    rdkit_ring_families,
)
from cyclenet.datasets import Graph, MissingExtra
from cyclenet.topology import cycle_projector, hodge_laplacian

GRAPHS = [Graph(*rook()), Graph(*bicyclo_222_octane())]
LENGTHS = [[3] * 24 + [4] * 9, [6, 6]]


def test_networkx_and_igraph_agree_on_lengths():
    pytest.importorskip("igraph")
    assert igraph_bases(as_pairs(GRAPHS)) == LENGTHS
    assert networkx_bases(as_pairs(GRAPHS)) == LENGTHS


def test_rdkit_counts_relevant_cycles_of_fresh_copies():
    pytest.importorskip("rdkit")
    molecules = rdkit_molecules(as_pairs(GRAPHS))
    for _ in range(2):
        assert rdkit_num_relevant(rdkit_ring_families(rdkit_copies(molecules))) == [68, 3]


def test_eigenvectors_give_the_projector():
    for graph in GRAPHS:
        np.testing.assert_allclose(eigh_projector(*graph), cycle_projector(*graph), atol=1e-12)


def test_laplacians_are_ours_from_dense_products(monkeypatch):
    pytest.importorskip("networkx")
    ours = [hodge_laplacian(*graph).toarray() for graph in GRAPHS]
    monkeypatch.setattr(scipy.sparse.csc_array, "__matmul__", None)
    for graph, pairs, expected in zip(GRAPHS, as_pairs(GRAPHS), ours, strict=True):
        assert np.array_equal(networkx_hodge(pairs), expected)
        assert np.array_equal(dense_hodge(*graph), expected)
        assert np.array_equal(networkx_projector(pairs), eigh_projector(*graph))


def test_a_missing_peer_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(MissingExtra) as caught:
        peer("igraph")
    assert caught.value.hint == "pip install 'cyclenet[bench]'"
