"""Graphs of molecules written in SMILES; rdkit is imported when a file is opened."""

from pathlib import Path

import numpy as np

from cyclenet.datasets.edge_list import read_text
from cyclenet.datasets.errors import DataFileError, MissingExtra
from cyclenet.datasets.graph import Graph, GraphSequence
from cyclenet.topology import edges_from_arcs


class SmilesGraphs(GraphSequence):
    """The heavy-atom graphs of a SMILES file, each parsed when it is asked for.

    Args:
        path: A file with one SMILES a line, anything after white space being its name.
    """

    def __init__(self, path: str | Path) -> None:
        try:
            from rdkit import Chem, rdBase
        except ImportError:
            raise MissingExtra("rdkit", extra="chem", needed_for="reading SMILES") from None
        self._parse, self._quiet = Chem.MolFromSmiles, rdBase.BlockLogs
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
        ends = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in molecule.GetBonds()]
        arcs = np.array(ends, dtype=np.int64).reshape(-1, 2).T
        return Graph(edges_from_arcs(arcs, molecule.GetNumAtoms()).edges, molecule.GetNumAtoms())
