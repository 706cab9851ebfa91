"""The gallery: a dozen graphs, with and without rdkit."""

import sys

import numpy as np
import pytest

from cyclenet.commands.demo.gallery import MOLECULES, gallery
from cyclenet.topology import betti_number


def check(pictures):
    assert len(pictures) == len({picture.title for picture in pictures}) == 12
    for picture in pictures:
        assert len(picture.cycles) == betti_number(picture.edges, picture.num_nodes) > 0
        if picture.positions is not None:
            assert picture.positions.shape == (picture.num_nodes, 2)
            assert np.abs(picture.positions).max() <= 1.0 + 1e-9


def test_molecules_are_drawn_as_formulas_where_rdkit_is_there():
    pytest.importorskip("rdkit")
    pictures = gallery()
    check(pictures)
    assert [picture.title for picture in pictures[:6]] == list(MOLECULES)
    for picture in pictures[:6]:
        assert len(picture.symbols) == picture.num_nodes
        assert len(picture.orders) == picture.edges.shape[1]
    lengths = {p.title: sorted(map(len, p.cycles)) for p in pictures}
    assert lengths["Caffeine"] == [5, 6]
    assert lengths["Porphin"] == [5, 5, 5, 5, 16]
    assert lengths["Petersen graph"] == [5] * 6


def test_without_rdkit_they_are_graphs(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdkit", None)
    pictures = gallery()
    check(pictures)
    assert not any(picture.symbols for picture in pictures)
