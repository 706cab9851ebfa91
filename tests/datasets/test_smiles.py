"""SMILES through rdkit, when rdkit is there."""

import sys

import numpy as np
import pytest

from cyclenet.datasets import DataFileError, MissingExtra
from cyclenet.datasets.errors import BadArgument
from cyclenet.datasets.smiles import SmilesGraphs, read_molecule


def test_without_rdkit_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(MissingExtra) as caught:
        SmilesGraphs(tmp_path / "a.smi")
    assert caught.value.hint == "pip install 'cyclenet[chem]'"


def test_a_molecule_is_its_heavy_atoms_and_bonds(tmp_path):
    pytest.importorskip("rdkit")
    path = tmp_path / "a.smi"
    path.write_text("c1ccccc1 benzene\n\nCC.O\n")
    benzene, two_parts = SmilesGraphs(path)
    assert benzene.edges.tolist() == [[0, 0, 1, 2, 3, 4], [1, 5, 2, 3, 4, 5]]
    assert (two_parts.edges.tolist(), two_parts.num_nodes) == ([[0], [1]], 3)


def test_a_bad_smiles_is_named_with_its_line(tmp_path, capfd):
    pytest.importorskip("rdkit")
    path = tmp_path / "a.smi"
    path.write_text("CC\nc1cc(\n")
    graphs = SmilesGraphs(path)
    assert graphs[0].num_nodes == 2
    with pytest.raises(DataFileError, match="c1cc") as caught:
        graphs[1]
    assert caught.value.line == 2
    assert capfd.readouterr().err == ""


def test_a_molecule_is_drawn_with_letters_orders_and_places():
    pytest.importorskip("rdkit")
    molecule = read_molecule("CC(=O)N")
    assert molecule.graph.edges.tolist() == [[0, 1, 1], [1, 2, 3]]
    assert molecule.symbols == ("", "", "O", "NH\N{SUBSCRIPT TWO}")
    assert molecule.orders.tolist() == [1, 2, 1]
    assert np.abs(molecule.positions).max() == 1.0
    again = read_molecule("CC(=O)N").positions
    np.testing.assert_array_equal(molecule.positions, again)


def test_aromatic_rings_get_their_double_bonds():
    pytest.importorskip("rdkit")
    assert sorted(read_molecule("c1ccccc1").orders.tolist()) == [1, 1, 1, 2, 2, 2]


def test_a_molecule_that_cannot_be_read_is_shown(monkeypatch, capfd):
    pytest.importorskip("rdkit")
    with pytest.raises(BadArgument, match=r"c1cc\("):
        read_molecule("c1cc(")
    assert capfd.readouterr().err == ""
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(MissingExtra):
        read_molecule("C")
