"""SMILES through rdkit, when rdkit is there."""

import sys

import pytest

from cyclenet.datasets import DataFileError, MissingExtra
from cyclenet.datasets.smiles import SmilesGraphs


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
