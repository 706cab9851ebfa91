"""Molecules with types of atoms and bonds, and many of them in one safetensors file.

Atoms and bonds are numbered as in ZINC-12k (Dwivedi et al. 2020), so that a network trained there
can read a molecule from anywhere. Nothing here needs torch.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import safetensors.numpy
from jaxtyping import Float32, Int8, Int16, Int64, Integer
from safetensors import SafetensorError

from cyclenet.datasets.errors import DataFileError
from cyclenet.datasets.graph import PackedGraphs
from cyclenet.datasets.sealed_arrays import check_seal, note_of, sealed

# The symbol, the hydrogen that a SMILES writes in the bracket of the atom, and the charge.
ATOM_TYPES = (
    "C", "O", "N", "F", "C H1", "S", "Cl", "O -", "N H1 +", "Br", "N H3 +", "N H2 +", "N +", "N -",
    "S -", "I", "P", "O H1 +", "N H1 -", "O +", "S +", "P H1", "P H2", "C H2 -", "P +", "S H1 +",
    "C H1 -", "P H1 +",
)  # fmt: skip

# Aromatic rings are written with single and double bonds. No arc has the first type.
BOND_TYPES = ("none", "single", "double", "triple")

# Raised with every change of what a file holds.
MOLECULES_FORMAT = 1

# Ids of atoms are int16 in a file; no molecule of a benchmark comes near.
MOST_ATOMS = 32_767

_KINDS = {
    "x": np.int8,
    "edge_index": np.int16,
    "edge_attr": np.int8,
    "y": np.float32,
    "node_ptr": np.int64,
    "edge_ptr": np.int64,
}


class OtherFormat(DataFileError):
    """A whole file of molecules, but written by another version of this file."""


class TypedMolecule(NamedTuple):
    """A molecule without its hydrogen.

    Args:
        atoms: The type of each atom, a place in `ATOM_TYPES`.
        arcs: Both directions of every bond, sorted by (tail, head).
        bonds: The type of each arc, a place in `BOND_TYPES`; the same in both directions.
    """

    atoms: Integer[np.ndarray, " n"]
    arcs: Integer[np.ndarray, "2 a"]
    bonds: Integer[np.ndarray, " a"]


if TYPE_CHECKING:
    MoleculeSequence = Sequence[TypedMolecule]
else:
    # For the same reason as `graph.GraphSequence`.
    MoleculeSequence = Sequence


class TypedMolecules(MoleculeSequence):
    """Many molecules with a target each, packed end to end.

    Args:
        x: Types of all atoms.
        edge_index: Arcs of all molecules; atoms are numbered from 0 in each.
        edge_attr: Types of all arcs.
        y: One number for each molecule.
        node_ptr: Atoms of molecule i are `node_ptr[i]:node_ptr[i + 1]`.
        edge_ptr: Arcs of molecule i are the columns `edge_ptr[i]:edge_ptr[i + 1]`.

    Raises:
        ValueError: If an array has the wrong type or shape, or if the arrays are no molecules:
            types or atoms out of range, loops, arcs out of order or without their other direction.

    Example:
        >>> both_ways = np.array([[0, 1], [1, 0]], dtype=np.int16)
        >>> carbon_monoxide = TypedMolecules(
        ...     np.array([0, 1], dtype=np.int8),
        ...     both_ways,
        ...     np.array([3, 3], dtype=np.int8),
        ...     np.array([0.5], dtype=np.float32),
        ...     np.array([0, 2]),
        ...     np.array([0, 2]),
        ... )
        >>> [ATOM_TYPES[atom] for atom in carbon_monoxide[0].atoms]
        ['C', 'O']
    """

    def __init__(
        self,
        x: Int8[np.ndarray, " n"],
        edge_index: Int16[np.ndarray, "2 a"],
        edge_attr: Int8[np.ndarray, " a"],
        y: Float32[np.ndarray, " b"],
        node_ptr: Int64[np.ndarray, " b1"],
        edge_ptr: Int64[np.ndarray, " b1"],
    ) -> None:
        self.x = x
        self.edge_index = edge_index
        self.edge_attr = edge_attr
        self.y = y
        self.node_ptr = node_ptr
        self.edge_ptr = edge_ptr
        _check_shapes(self.arrays())
        _check_values(self)

    def __len__(self) -> int:
        """Number of molecules."""
        return self.y.size

    def __getitem__(self, index: int) -> TypedMolecule:
        """Molecule `index`, a view."""
        index = range(len(self))[index]
        atoms = slice(self.node_ptr[index], self.node_ptr[index + 1])
        arcs = slice(self.edge_ptr[index], self.edge_ptr[index + 1])
        return TypedMolecule(self.x[atoms], self.edge_index[:, arcs], self.edge_attr[arcs])

    def arrays(self) -> dict[str, np.ndarray]:
        """The six arrays under the names of the arguments."""
        return {name: getattr(self, name) for name in _KINDS}

    def graphs(self) -> PackedGraphs:
        """The molecules without their types.

        Returns:
            As many graphs, in the same order.
        """
        forward = self.edge_index[0] < self.edge_index[1]
        before = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(forward)))
        edges = self.edge_index[:, forward].astype(np.int64)
        return PackedGraphs(edges, before[self.edge_ptr], np.diff(self.node_ptr))


def pack_molecules(
    molecules: Iterable[TypedMolecule], targets: Float32[np.ndarray, " b"]
) -> TypedMolecules:
    """Molecules one after the other.

    Args:
        molecules: The molecules; those without bonds or atoms keep their place.
        targets: One number for each.

    Returns:
        The same molecules in the same order.

    Raises:
        ValueError: As `TypedMolecules`.
    """
    nothing = TypedMolecule(np.zeros(0, np.int8), np.zeros((2, 0), np.int16), np.zeros(0, np.int8))
    atoms, arcs, bonds = zip(nothing, *molecules, strict=True)
    return TypedMolecules(
        _narrowed(atoms, np.int8, "types of atoms"),
        _narrowed(arcs, np.int16, "atoms in arcs"),
        _narrowed(bonds, np.int8, "types of bonds"),
        targets,
        pointers(np.array([part.size for part in atoms[1:]], dtype=np.int64)),
        pointers(np.array([part.size for part in bonds[1:]], dtype=np.int64)),
    )


def joined(parts: Sequence[TypedMolecules]) -> TypedMolecules:
    """Several sets of molecules as one.

    Args:
        parts: At least one set.

    Returns:
        All their molecules, one set after the other.
    """
    sizes = {
        "node_ptr": np.concatenate([np.diff(part.node_ptr) for part in parts]),
        "edge_ptr": np.concatenate([np.diff(part.edge_ptr) for part in parts]),
    }
    arrays = {
        name: pointers(sizes[name])
        if name in sizes
        else np.concatenate([part.arrays()[name] for part in parts], axis=-1)
        for name in _KINDS
    }
    return TypedMolecules(**arrays)


def pointers(sizes: Integer[np.ndarray, " b"]) -> Int64[np.ndarray, " b1"]:
    """Where each of several runs of these sizes begins, and where the last one ends.

    Args:
        sizes: Sizes of the runs.

    Returns:
        One number more than there are runs, the first of them 0.
    """
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes, dtype=np.int64)))


def molecules_to_bytes(molecules: TypedMolecules, about: Mapping[str, str]) -> bytes:
    """A safetensors file of molecules: the same bytes for the same molecules and words.

    Args:
        molecules: The molecules.
        about: Words to keep with them, such as where they come from.

    Returns:
        The file, with a hash by which `molecules_from_bytes` finds any change of it.
    """
    arrays = {
        name: np.ascontiguousarray(array, dtype=_KINDS[name])
        for name, array in molecules.arrays().items()
    }
    words = {"format": MOLECULES_FORMAT, "about": dict(about)}
    return sealed(words, arrays, _KINDS)


def molecules_from_bytes(
    content: bytes, *, path: str | None = None, hint: str | None = None
) -> tuple[TypedMolecules, dict[str, str]]:
    """What `molecules_to_bytes` made a file of.

    Args:
        content: The file.
        path: Its name, for error messages.
        hint: What to try if it is damaged.

    Returns:
        The molecules, and the words kept with them.

    Raises:
        OtherFormat: If another version wrote the file.
        DataFileError: If the file is none of ours, was changed, or does not hold molecules.
    """
    try:
        return _opened(content)
    except _WrongFormat as error:
        raise OtherFormat(str(error), path=path, hint=hint) from None
    except (SafetensorError, KeyError, TypeError, ValueError, RecursionError) as error:
        said = str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
        message = f"damaged, or no file of molecules: {said}"
        raise DataFileError(message, path=path, hint=hint) from None


def read_molecules(path: Path, *, hint: str | None = None) -> tuple[TypedMolecules, dict[str, str]]:
    """`molecules_from_bytes` of a file.

    Args:
        path: The file.
        hint: What to try if it is damaged.

    Returns:
        The molecules, and the words kept with them.

    Raises:
        DataFileError: If the file cannot be read, or as `molecules_from_bytes`.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise DataFileError(message, path=str(path), hint=hint) from None
    return molecules_from_bytes(content, path=str(path), hint=hint)


def _narrowed(parts: Sequence[np.ndarray], kind: type[np.integer], what: str) -> np.ndarray:
    """Arrays end to end, as small integers; none may wrap around and become another number."""
    whole = np.concatenate(parts, axis=-1, dtype=np.int64, casting="unsafe")
    most = np.iinfo(kind).max
    if whole.size and not 0 <= whole.min() <= whole.max() <= most:
        worst = whole.max() if whole.max() > most else whole.min()
        raise ValueError(f"expected {what} from 0 to {most} at most, but {worst} came")
    return whole.astype(kind)


class _WrongFormat(Exception):
    """The number of another format."""


def _opened(content: bytes) -> tuple[TypedMolecules, dict[str, str]]:
    note = note_of(content)
    words = {"format": int(note["format"]), "about": dict(note["about"])}
    if words["format"] != MOLECULES_FORMAT:
        raise _WrongFormat(f"expected format {MOLECULES_FORMAT}, but {words['format']} came")
    arrays = safetensors.numpy.load(content)
    _check_shapes(arrays)
    check_seal(note, arrays, _KINDS)
    return TypedMolecules(**arrays), words["about"]


def _check_shapes(arrays: Mapping[str, np.ndarray]) -> None:
    if set(arrays) != set(_KINDS):
        raise ValueError(f"expected the arrays {', '.join(_KINDS)}, but {sorted(arrays)} came")
    for name, kind in _KINDS.items():
        array = arrays[name]
        if array.dtype != kind or array.ndim != (2 if name == "edge_index" else 1):
            raise ValueError(
                f"expected {name} of type {np.dtype(kind)} with {1 + (name == 'edge_index')} axes, "
                f"but type {array.dtype} of shape {array.shape} came"
            )
    num_arcs, num_graphs = arrays["edge_attr"].size, arrays["y"].size
    if arrays["edge_index"].shape != (2, num_arcs):
        came = arrays["edge_index"].shape
        raise ValueError(f"expected edge_index of shape {(2, num_arcs)}, but {came} came")
    for name, total in (("node_ptr", arrays["x"].size), ("edge_ptr", num_arcs)):
        ptr = arrays[name]
        rises = ptr.size == num_graphs + 1 and (ptr[1:] >= ptr[:-1]).all()
        if not rises or ptr[0] != 0 or ptr[-1] != total:
            raise ValueError(
                f"expected {name} to hold {num_graphs + 1} numbers that never fall, from 0 to "
                f"{total}, but {_shown(ptr)} came"
            )


def _check_values(molecules: TypedMolecules) -> None:
    """Everything that makes arrays of fitting shapes molecules; the first fault is named."""
    num_atoms = np.diff(molecules.node_ptr)
    tail, head = molecules.edge_index.astype(np.int64)
    graph_of_arc = np.repeat(np.arange(len(molecules)), np.diff(molecules.edge_ptr))
    graph_of_atom = np.repeat(np.arange(len(molecules)), num_atoms)
    size = num_atoms[graph_of_arc]
    bonds, atoms = molecules.edge_attr, molecules.x
    _refuse(num_atoms > MOST_ATOMS, None, f"at most {MOST_ATOMS} atoms", num_atoms)
    _refuse(
        (atoms < 0) | (atoms >= len(ATOM_TYPES)),
        graph_of_atom,
        f"types of atoms from 0 to {len(ATOM_TYPES) - 1}",
        atoms,
    )
    _refuse(
        (bonds < 1) | (bonds >= len(BOND_TYPES)),
        graph_of_arc,
        f"types of bonds from 1 to {len(BOND_TYPES) - 1}",
        bonds,
    )
    for ends in (tail, head):
        _refuse((ends < 0) | (ends >= size), graph_of_arc, "atoms of the molecule in arcs", ends)
    _refuse(tail == head, graph_of_arc, "no loops", tail)
    _refuse(~np.isfinite(molecules.y), None, "finite targets", molecules.y)
    first = molecules.node_ptr[graph_of_arc]
    place = (first + tail) * (MOST_ATOMS + 1) + head
    behind = np.diff(place, prepend=-1) <= 0
    _refuse(behind, graph_of_arc, "each arc once, sorted by tail and head", tail)
    # Turned around and sorted again, the arcs of an undirected graph are the same arcs.
    turned = (first + head) * (MOST_ATOMS + 1) + tail
    order = np.argsort(turned)
    lone = (turned[order] != place) | (bonds[order] != bonds)
    _refuse(lone, graph_of_arc, "both directions of each bond, of one type", tail)


def _refuse(
    bad: np.ndarray, graph_of: np.ndarray | None, expected: str, values: np.ndarray
) -> None:
    if bad.any():
        at = int(np.argmax(bad))
        graph = at if graph_of is None else int(graph_of[at])
        raise ValueError(f"expected {expected}, but {values[at]} came in molecule {graph}")


def _shown(values: np.ndarray) -> str:
    text = ", ".join(map(str, values[:4].tolist()))
    return f"{text}, ... ({values.size} of them)" if values.size > 4 else text or "none"
