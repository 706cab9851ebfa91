"""ZINC-12k (Irwin et al. 2012; Dwivedi et al. 2020): molecules and a number to predict for each.

10,000 molecules to train on, 1,000 for validation and 1,000 to test, with up to 37 atoms and bonds
of 3 types; 28 types of atoms are numbered, 21 of them occur. The target is a penalised logP:
solubility, less how hard the molecule is to make, less a penalty for rings of more than six atoms.
Each of the three is standardised and their sum is not: over these 12,000 it has mean 0.02 and
standard deviation 2.01.
"""

import gc
import logging
import os
import tempfile
from http.client import HTTPException
from pathlib import Path
from zipfile import BadZipFile

import torch
from torch_geometric.data import Data
from torch_geometric.datasets import ZINC

from cyclenet.datasets.as_data import molecule_data
from cyclenet.datasets.data_folder import DEFAULT_ROOT, DataFolder
from cyclenet.datasets.errors import DataFileError
from cyclenet.datasets.typed_molecules import ATOM_TYPES, BOND_TYPES, TypedMolecules
from cyclenet.datasets.zinc_files import (
    DOWNLOAD_PREFIX,
    SPLITS,
    Split,
    converted_file,
    raw_files,
    remove_stale,
    sample_molecules,
    split_named,
    zinc_molecules,
)

__all__ = [
    "ATOM_TYPES",
    "BOND_TYPES",
    "ZINC_SPLITS",
    "fetch_zinc",
    "ready_zinc",
    "zinc",
    "zinc_sample",
]

_log = logging.getLogger(__name__)

ZINC_SPLITS = SPLITS


def zinc(
    split: str,
    root: str | Path | None = None,
    *,
    download: bool = False,
    trust_pickle: bool = False,
) -> list[Data]:
    """One split of ZINC-12k, equal to `torch_geometric.datasets.ZINC(..., subset=True)`.

    The raw files are found, converted once and kept as `zinc_files.zinc_molecules` says. Graphs
    differ from PyTorch Geometric's in one thing: `y` has shape (1, 1), as all our targets do.

    Args:
        split: ``"train"``, ``"validation"`` (or ``"val"``) or ``"test"``.
        root: A folder in which ``ZINC/raw`` or ``raw`` holds `train.pickle`, `train.index` and so
            on; None for the folder ``data`` here.
        download: Whether missing raw files may be fetched, as PyTorch Geometric fetches them,
            into ``ZINC/raw``. The SHA-256 of what is fetched was not to be had when this was
            written, so it needs `trust_pickle` as well.
        trust_pickle: Whether to open a pickle whose SHA-256 nobody knows. It may run any program.

    Returns:
        For each molecule `x` with shape (n, 1), `edge_index`, `edge_attr` with shape (a) and `y`
        with shape (1, 1), in the order of the benchmark.

    Raises:
        BadArgument: If there is no such split.
        DataFileError: If files are missing, damaged, of another split, or not to be trusted.
    """
    place = DEFAULT_ROOT if root is None else root
    if download:
        fetch_zinc(place, split)
    return _as_data(zinc_molecules(split, place, trust_pickle=trust_pickle))


def fetch_zinc(root: str | Path, split: str | None = None) -> None:
    """Fetch the raw files of ZINC, unless they or what they are converted to is here.

    Args:
        root: As for `zinc`.
        split: The split that is needed; None for all three.

    Raises:
        BadArgument: If there is no such split.
        DataFileError: If they cannot be fetched.
    """
    for each in SPLITS if split is None else (split_named(split),):
        folder = _lacking(each, root)
        if folder is not None:
            _download(folder)


def ready_zinc(data: DataFolder) -> None:
    """See that all of ZINC is here, whole, trusted and converted; fetch it first where one may.

    Args:
        data: The folder of data.

    Raises:
        DataFileError: If files are missing, damaged, of another split, or not to be trusted.
    """
    if data.download:
        fetch_zinc(data.root)
    zinc_molecules(None, data.root, trust_pickle=data.trust_pickle)


def zinc_sample() -> list[Data]:
    """The first 64 validation molecules of ZINC-12k, shipped: to try things on without the data.

    Returns:
        Graphs as those of `zinc`.

    Example:
        >>> molecules = zinc_sample()
        >>> len(molecules), molecules[0].x.shape, molecules[0].y.shape
        (64, torch.Size([35, 1]), torch.Size([1, 1]))
    """
    return _as_data(sample_molecules())


def _as_data(molecules: TypedMolecules) -> list[Data]:
    # The collector of garbage would look through all molecules made so far again and again, and
    # find nothing: half of the time.
    collects = gc.isenabled()
    gc.disable()
    try:
        return [
            molecule_data(molecule, y=torch.tensor([[target]]))
            for molecule, target in zip(molecules, molecules.y.tolist(), strict=True)
        ]
    finally:
        if collects:
            gc.enable()


class _Fetched(ZINC):
    """The part of PyTorch Geometric's loader that fetches, without the one that unpickles."""

    def __init__(self, root: Path) -> None:
        # Nothing of the base class is set up: it would go on to open the pickles.
        self.root = str(root)


def _lacking(split: Split, root: str | Path) -> Path | None:
    """The folder into which a split has to be fetched, or None if it is here."""
    folder, raw = raw_files(split, root)
    if raw.pickle.is_file():
        return None if raw.index.is_file() else folder
    return None if converted_file(split, folder).is_file() else folder


def _download(folder: Path) -> None:
    """Fetch the raw files; those that are here already stay as they are.

    Raises:
        DataFileError: If they cannot be fetched.
    """
    folder.mkdir(parents=True, exist_ok=True)
    remove_stale(folder)
    _log.info(f"fetching {ZINC.url} and the index files into {folder / 'raw'}")
    # The loader deletes the folder it fetches to before it starts, so it gets one of ours.
    with tempfile.TemporaryDirectory(dir=folder, prefix=DOWNLOAD_PREFIX) as name:
        (Path(name) / "raw").mkdir()
        try:
            _Fetched(Path(name)).download()
        except (OSError, HTTPException, BadZipFile) as error:
            said = getattr(error, "strerror", None) or error
            raise DataFileError(f"cannot be fetched: {said}", path=ZINC.url) from None
        (folder / "raw").mkdir(exist_ok=True)
        for path in sorted((Path(name) / "raw").iterdir()):
            if not (folder / "raw" / path.name).exists():
                os.replace(path, folder / "raw" / path.name)
