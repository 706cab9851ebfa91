"""SMILES through rdkit, when rdkit is there."""

import sys

import numpy as np
import pytest

from cyclenet.datasets import (
    ATOM_TYPES,
    BOND_TYPES,
    DataFileError,
    MissingExtra,
    molecule_data,
    zinc_sample,
)
from cyclenet.datasets.errors import BadArgument
from cyclenet.datasets.smiles import SmilesGraphs, SmilesMolecules, read_molecule, typed_molecule

# Some molecules of the sample, by their place in it, as the benchmark was given them.
SAMPLE_SMILES = {
    1: "COCc1ccc(C(=O)Oc2ccc(F)cc2)cc1",
    2: "O=c1c([N+](=O)[O-])cccn1Cc1ccc(F)cc1Cl",
    7: "CC(C)c1ncc(C[NH+]2CCC(N3CCCNC3=O)CC2)s1",
    12: "CC(C)[C@H]([NH3+])C(=O)N(C[C@@H]1CCCC[NH+]1Cc1ccccc1)C1CC1",
    14: "CCc1nc(C(=O)NC2C[C@@H]3CCC[C@H](C2)[NH+]3C)n[nH]1",
    19: "CC1(C)C(=O)N(Cc2ccc(F)cc2C#CCO)S1(=O)=O",
    21: "CC(C)(C)OC(=O)[C@H]1[NH2+]C[C@@H]2CCC[C@@H]12",
    27: "Cc1nsc(Nc2ccccc2C(C)C)c1C(=O)[O-]",
    36: "CCN(/C=C/c1nnnn1-c1ccc(I)cc1)CC",
    43: "N#Cc1ccccc1C[C@H]1COCC[C@H]1[NH3+]",
    48: "C[C@H]1OCC[C@@H]1C(=O)Nc1ccc([S@](C)=O)c(F)c1",
    52: "Cc1cccc(NC2CCN(C(=O)[C@H]3COc4ccc(F)cc4C3)CC2)[nH+]1",
    58: "COc1cccc(N/C([S-])=C(/C(=O)c2ccc(Cl)c(Cl)c2)[n+]2ccc(C(C)(C)C)cc2)c1",
    62: "O=C(Nc1ccc(N2CCCC2)c(Cl)c1)c1ccccc1Br",
}


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


@pytest.mark.parametrize("place", SAMPLE_SMILES)
def test_types_and_order_are_those_of_the_benchmark(place):
    pytest.importorskip("rdkit")
    read, known = molecule_data(typed_molecule(SAMPLE_SMILES[place])), zinc_sample()[place]
    for name in ("x", "edge_index", "edge_attr"):
        np.testing.assert_array_equal(read[name], known[name])


def test_a_type_is_symbol_hydrogen_in_the_bracket_and_charge():
    pytest.importorskip("rdkit")
    molecule = typed_molecule("C[C@H]([NH3+])C([O-])=S")
    assert [ATOM_TYPES[atom] for atom in molecule.atoms] == ["C", "C H1", "N H3 +", "C", "O -", "S"]
    assert molecule.arcs.tolist() == [
        [0, 1, 1, 1, 2, 3, 3, 3, 4, 5],
        [1, 0, 2, 3, 1, 1, 4, 5, 3, 3],
    ]
    bonds = [BOND_TYPES[bond] for bond in molecule.bonds]
    assert bonds == [*["single"] * 7, "double", "single", "double"]


def test_rings_lose_their_aromatic_bonds_and_plain_nitrogen_its_hydrogen():
    pytest.importorskip("rdkit")
    pyrrole = typed_molecule("c1cc[nH]c1")
    assert sorted(ATOM_TYPES[atom] for atom in pyrrole.atoms) == ["C", "C", "C", "C", "N"]
    assert sorted(pyrrole.bonds.tolist()) == [1, 1, 1, 1, 1, 1, 2, 2, 2, 2]


def test_one_atom_and_none_are_molecules():
    pytest.importorskip("rdkit")
    for text, num_atoms in (("C", 1), ("", 0)):
        molecule = typed_molecule(text)
        assert molecule.atoms.shape == (num_atoms,)
        assert molecule.arcs.shape == (2, 0)
        assert molecule.bonds.shape == (0,)


@pytest.mark.parametrize(
    ("text", "named"),
    [("C[Si](C)C", "'Si"), ("[Ca+2]", r"'Ca \+2'"), ("C$C", "'quadruple'"), ("[2H]C", "'H'")],
)
def test_a_type_that_the_benchmark_lacks_is_named(text, named):
    pytest.importorskip("rdkit")
    with pytest.raises(BadArgument, match=f"types of (atoms|bonds) of ZINC, but {named}"):
        typed_molecule(text)


def test_typed_molecules_come_from_a_file(tmp_path, capfd):
    pytest.importorskip("rdkit")
    path = tmp_path / "a.smi"
    path.write_text("C=O formaldehyde\n\n[SiH4]\nc1cc(\n")
    molecules = SmilesMolecules(path)
    assert len(molecules) == 3
    assert molecules[0].bonds.tolist() == [2, 2]
    for index, line, said in ((1, 3, "Si"), (2, 4, "c1cc")):
        with pytest.raises(DataFileError, match=said) as caught:
            molecules[index]
        assert (caught.value.path, caught.value.line) == (str(path), line)
    assert capfd.readouterr().err == ""


def test_typed_molecules_need_rdkit(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(MissingExtra):
        typed_molecule("C")
