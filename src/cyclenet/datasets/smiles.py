"""Graphs of molecules written in SMILES; rdkit is imported when one is read."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from cyclenet.datasets.edge_list import read_text
from cyclenet.datasets.errors import BadArgument, DataFileError, MissingExtra
from cyclenet.datasets.graph import Graph, GraphSequence
from cyclenet.datasets.typed_molecules import (
    ATOM_TYPES,
    BOND_TYPES,
    MoleculeSequence,
    TypedMolecule,
)
from cyclenet.topology import edges_from_arcs

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class _SmilesLines:
    """The SMILES of a file, each parsed when it is asked for.

    Args:
        path: A file with one SMILES a line, anything after white space being its name.
    """

    def __init__(self, path: str | Path) -> None:
        chem, base = _rdkit()
        self._parse, self._quiet = chem.MolFromSmiles, base.BlockLogs
        self._path = Path(path)
        lines = read_text(self._path).splitlines()
        self._lines = [
            (number, line.split()[0]) for number, line in enumerate(lines, start=1) if line.strip()
        ]

    def __len__(self) -> int:
        """Number of molecules."""
        return len(self._lines)

    def _parsed(self, index: int) -> tuple[Any, int]:
        """Molecule `index` as rdkit has it, and its line; DataFileError if it cannot be read."""
        number, text = self._lines[range(len(self._lines))[index]]
        # rdkit writes its own complaint to stderr; ours names the file and the line.
        with self._quiet():
            molecule = self._parse(text)
        if molecule is None:
            raise DataFileError(
                f"expected a SMILES, but {text[:80]!r} came", path=str(self._path), line=number
            )
        return molecule, number


class SmilesGraphs(_SmilesLines, GraphSequence):
    """The heavy-atom graphs of a SMILES file, each parsed when it is asked for.

    Args:
        path: A file with one SMILES a line, anything after white space being its name.
    """

    def __getitem__(self, index: int) -> Graph:
        """Molecule `index`; DataFileError if its SMILES cannot be read."""
        return _graph(self._parsed(index)[0])


class SmilesMolecules(_SmilesLines, MoleculeSequence):
    """The molecules of a SMILES file as `typed_molecule` has them, each parsed when asked for.

    Args:
        path: A file with one SMILES a line, anything after white space being its name.
    """

    def __getitem__(self, index: int) -> TypedMolecule:
        """Molecule `index`; DataFileError if its SMILES cannot be read or has other types."""
        molecule, number = self._parsed(index)
        try:
            return _typed(molecule)
        except BadArgument as error:
            raise DataFileError(str(error), path=str(self._path), line=number) from None


class Molecule(NamedTuple):
    """A molecule as chemists draw it, without its hydrogen.

    Args:
        graph: Heavy atoms and bonds.
        symbols: The letters of each atom; nothing for carbon, which is a bare corner.
        orders: 1, 2 or 3 for each edge.
        positions: Where the atoms are, the largest extent from -1 to 1.
    """

    graph: Graph
    symbols: tuple[str, ...]
    orders: Int[np.ndarray, " m"]
    positions: Float[np.ndarray, "n 2"]


def read_molecule(text: str) -> Molecule:
    """A molecule and how to draw it.

    Args:
        text: Its SMILES.

    Returns:
        The molecule; the same places every time.

    Raises:
        BadArgument: If the SMILES cannot be read.
        MissingExtra: If rdkit is not installed.
    """
    chem, _ = _rdkit()
    molecule = _read(text)
    chem.Kekulize(molecule, clearAromaticFlags=True)
    graph = _graph(molecule)
    orders = [
        int(molecule.GetBondBetweenAtoms(tail, head).GetBondTypeAsDouble())
        for tail, head in graph.edges.T.tolist()
    ]
    chem.rdDepictor.Compute2DCoords(molecule)
    places = molecule.GetConformer().GetPositions()[:, :2]
    low, high = places.min(axis=0), places.max(axis=0)
    places = 2 * (places - (low + high) / 2) / max(float((high - low).max()), 1e-9)
    return Molecule(
        graph,
        tuple("" if atom.GetSymbol() == "C" else _letters(atom) for atom in molecule.GetAtoms()),
        np.array(orders, dtype=np.int64),
        # The last bits differ from one machine to the next.
        np.round(places, 4) + 0.0,
    )


def typed_molecule(text: str) -> TypedMolecule:
    """A molecule with the types of ZINC-12k, for networks that were trained there.

    Made as the benchmark was: aromatic rings get single and double bonds (Kekule), the canonical
    SMILES of that is written, and it is read again. Atoms come in its order, bonds are those it
    shows, and hydrogen counts where it stands in the bracket of its atom, as in ``[C@H]`` and
    ``[NH3+]``; an aromatic ``[nH]`` becomes a plain ``N``.

    Which of two neighbouring bonds of an aromatic ring is the double one is a choice, and so is the
    canonical order. Both depend on the version of rdkit, and the first on how the SMILES is
    written as well. With rdkit 2026.9.1 and the SMILES it was made from, 93 of 100 molecules of
    ZINC-12k come out as they are there, number for number.

    Args:
        text: Its SMILES.

    Returns:
        Atoms, arcs in both directions, and bonds.

    Raises:
        BadArgument: If the SMILES cannot be read, or has an atom or a bond of no such type.
        MissingExtra: If rdkit is not installed.
    """
    return _typed(_read(text))


def _read(text: str, *, sanitize: bool = True) -> Any:
    chem, base = _rdkit()
    with base.BlockLogs():
        molecule = chem.MolFromSmiles(text, sanitize=sanitize)
    if molecule is None:
        raise BadArgument(f"expected a SMILES, but {text[:80]!r} came")
    return molecule


def _typed(molecule: Any) -> TypedMolecule:
    chem, _ = _rdkit()
    molecule = chem.Mol(molecule)
    try:
        # The canonical choice of double bonds is newer than the benchmark, and another one.
        chem.Kekulize(molecule, clearAromaticFlags=True, canonical=False)
    except TypeError:  # before there was this choice
        chem.Kekulize(molecule, clearAromaticFlags=True)
    # As written: looked at closely, rings would be found to be aromatic once more.
    molecule = _read(chem.MolToSmiles(molecule, kekuleSmiles=True), sanitize=False)
    atoms = [_place("atom", _atom_name(atom), ATOM_TYPES) for atom in molecule.GetAtoms()]
    ends, types = [], []
    for bond in molecule.GetBonds():
        kind = _place("bond", bond.GetBondType().name.lower(), BOND_TYPES)
        tail, head = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
        ends += [(tail, head), (head, tail)]
        types += [kind, kind]
    arcs = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    order = np.lexsort(arcs[::-1])
    bonds = np.array(types, dtype=np.int64)
    return TypedMolecule(np.array(atoms, dtype=np.int64), arcs[:, order], bonds[order])


def _atom_name(atom: Any) -> str:
    hydrogens, charge = atom.GetNumExplicitHs(), atom.GetFormalCharge()
    name = atom.GetSymbol() + (f" H{hydrogens}" if hydrogens else "")
    sign = "+" if charge > 0 else "-"
    return name + (f" {sign}{abs(charge) if abs(charge) > 1 else ''}" if charge else "")


def _place(what: str, name: str, types: tuple[str, ...]) -> int:
    if name not in types:
        raise BadArgument(
            f"expected one of the {len(types)} types of {what}s of ZINC, but {name!r} came"
        )
    return types.index(name)


def _letters(atom: Any) -> str:
    hydrogens = atom.GetTotalNumHs()
    count = str(hydrogens).translate(_SUBSCRIPTS) if hydrogens > 1 else ""
    return atom.GetSymbol() + ("H" + count if hydrogens else "")


def _graph(molecule: Any) -> Graph:
    ends = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in molecule.GetBonds()]
    arcs = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    return Graph(edges_from_arcs(arcs, molecule.GetNumAtoms()).edges, molecule.GetNumAtoms())


def _rdkit() -> tuple[Any, Any]:
    try:
        from rdkit import Chem, rdBase
        from rdkit.Chem import rdDepictor  # noqa: F401  (makes Chem.rdDepictor)
    except ImportError:
        raise MissingExtra("rdkit", extra="chem", needed_for="reading SMILES") from None
    return Chem, rdBase
