"""Graphs of molecules written in SMILES; rdkit is imported when one is read."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from cyclenet.datasets.edge_list import read_text
from cyclenet.datasets.errors import BadArgument, DataFileError, MissingExtra
from cyclenet.datasets.graph import Graph, GraphSequence
from cyclenet.topology import edges_from_arcs

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class SmilesGraphs(GraphSequence):
    """The heavy-atom graphs of a SMILES file, each parsed when it is asked for.

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

    def __getitem__(self, index: int) -> Graph:
        """Molecule `index`; DataFileError if its SMILES cannot be read."""
        number, text = self._lines[range(len(self._lines))[index]]
        # rdkit writes its own complaint to stderr; ours names the file and the line.
        with self._quiet():
            molecule = self._parse(text)
        if molecule is None:
            raise DataFileError(
                f"expected a SMILES, but {text[:80]!r} came", path=str(self._path), line=number
            )
        return _graph(molecule)


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
    chem, base = _rdkit()
    with base.BlockLogs():
        molecule = chem.MolFromSmiles(text)
    if molecule is None:
        raise BadArgument(f"expected a SMILES, but {text[:80]!r} came")
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
