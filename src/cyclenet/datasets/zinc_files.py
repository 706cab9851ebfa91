"""ZINC-12k on the disk: the published pickles, and the files they are turned into once.

A pickle runs whatever program it holds, so one is read only if its SHA-256 is known, or on request.
After that no pickle is opened again: what was in it is kept as plain arrays.
"""

import hashlib
import logging
import pickle
import re
import shutil
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from cyclenet.datasets.cache_folder import CACHE_VARIABLE, cache_folder
from cyclenet.datasets.data_folder import DEFAULT_ROOT
from cyclenet.datasets.edge_list import integer_rows, read_text
from cyclenet.datasets.errors import BadArgument, DataFileError
from cyclenet.datasets.typed_molecules import (
    OtherFormat,
    TypedMolecule,
    TypedMolecules,
    joined,
    molecules_to_bytes,
    pack_molecules,
    read_molecules,
)
from cyclenet.files import write_whole

_log = logging.getLogger(__name__)

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)

# What each split is called in the names of the raw files, and by PyTorch Geometric.
RAW_NAMES: dict[Split, str] = {"train": "train", "validation": "val", "test": "test"}

# How many molecules of each split make up the benchmark.
NUM_MOLECULES: dict[Split, int] = {"train": 10_000, "validation": 1000, "test": 1000}

# SHA-256 of pickles that hold molecules and nothing else, and the split that each of them is. These
# three were written again from published data and hold the 12,000 molecules of the benchmark only.
# The originals, which hold all 250,000, could not be had when this was written: whoever downloads
# them has to trust them.
KNOWN_PICKLES: dict[str, Split] = {
    "a4cd2581f3175ed45fafef64f3073e16ae1ab5bee311ebf30a95305b3669f954": "train",
    "b32604b4a249b271459f63920e998191c695921e6411274eef971862fdbd8f09": "validation",
    "05f8f15f6ae2624158d627361db032125b15e389284540c4e8344d73cd2bd87b": "test",
}

# What a download that is under way is called, a folder beside `raw`.
DOWNLOAD_PREFIX = ".download-"

# What is ours and half done: a folder as `tempfile` completes its name, a file of `write_whole`.
_DOWNLOAD_NAME = re.compile(re.escape(DOWNLOAD_PREFIX) + "[a-z0-9_]{8}")
_DRAFT_NAME = re.compile(r"\.[0-9a-f]{32}\.tmp")

# A process that is alive writes on before this: a draft takes a moment, and a download that stands
# still has long been given up.
_STALE_SECONDS = 3600

_FETCHED = "have it fetched: --download (in Python download=True)"
_IF_MISSING = f"put what is missing there, name the folder with --data, or {_FETCHED}"
_IF_CONVERTED_IS_BAD = f"delete it, and put the raw files back or {_FETCHED}"


class RawFiles(NamedTuple):
    """The two raw files of a split.

    Args:
        pickle: A list of molecules.
        index: Which of them make up the benchmark, and in which order.
    """

    pickle: Path
    index: Path


def zinc_molecules(
    split: str | None = None, root: str | Path = DEFAULT_ROOT, *, trust_pickle: bool = False
) -> TypedMolecules:
    """Molecules of ZINC-12k with their targets, from files that are here.

    The first call turns the raw files of a split into `cyclenet/zinc-SPLIT.safetensors` beside the
    folder `raw`, or in the folder that the variable CYCLENET_HOME names (``~/.cache/cyclenet`` if
    it names none) if that cannot be written to. Later calls read this file, as long as the raw
    files are the ones it was made from or are gone. If it is damaged it is made again.

    A known pickle has to be that of the split, and then there are as many molecules as in the
    benchmark. Of one that is only trusted any number is taken, with a warning.

    Args:
        split: ``"train"``, ``"validation"`` (or ``"val"``) or ``"test"``; None for all three, in
            this order.
        root: A folder in which ``ZINC/raw`` or ``raw`` holds `train.pickle`, `train.index` and so
            on, as `torch_geometric.datasets.ZINC` has them.
        trust_pickle: Whether to open a pickle that nobody knows.

    Returns:
        The molecules in the order of the benchmark.

    Raises:
        BadArgument: If there is no such split.
        DataFileError: If files are missing, damaged, of another split, or not to be trusted.
    """
    if split is None:
        return joined([zinc_molecules(each, root, trust_pickle=trust_pickle) for each in SPLITS])
    split = split_named(split)
    folder, raw = raw_files(split, root)
    if not raw.pickle.is_file():
        return _read_without_raw(split, folder, raw)
    content = _bytes_of(raw.pickle)
    about = {
        "split": split,
        "pickle": hashlib.sha256(content).hexdigest(),
        "index": hashlib.sha256(_bytes_of(raw.index, hint=_IF_MISSING)).hexdigest(),
    }
    _check_split(split, about["pickle"], raw.pickle)
    places = [converted_file(split, folder), _place_in_cache(split, about)]
    for place in places:
        molecules = _kept(split, place, about)
        if molecules is not None:
            return molecules
    if not trust_pickle:
        _check_known(raw.pickle, about["pickle"])
    molecules = _unpickled(content, raw, _chosen(raw.index, split, about["pickle"]))
    remove_stale(folder)
    remove_stale(places[1].parent)
    _keep(molecules_to_bytes(molecules, about), places)
    return molecules


def sample_molecules() -> TypedMolecules:
    """The first 64 validation molecules of ZINC-12k with their targets, shipped.

    Returns:
        The molecules; without their types they are the first 64 of `molecule_graphs`.
    """
    name = "zinc-sample.safetensors"
    return read_molecules(Path(str(files("cyclenet.datasets") / "graphs" / name)))[0]


def split_named(name: str) -> Split:
    """A split by our name or by that of PyTorch Geometric.

    Args:
        name: What it is called.

    Returns:
        Our name for it.

    Raises:
        BadArgument: If there is no such split.
    """
    names: dict[str, Split] = {
        name: split for split in SPLITS for name in (split, RAW_NAMES[split])
    }
    if name in names:
        return names[name]
    near = names[[*get_close_matches(name, names, 1, cutoff=0.5), SPLITS[0]][0]]
    raise BadArgument(
        f"expected one of {', '.join(SPLITS)}, but the split {name!r} came", hint=f"zinc:{near}"
    )


def raw_files(split: Split, root: str | Path) -> tuple[Path, RawFiles]:
    """Where the raw files of a split are, or should be.

    Args:
        split: The split.
        root: As for `zinc_molecules`.

    Returns:
        The folder that holds the folder `raw`, and the two files. Where they are in neither place
        the first one is named.
    """
    name = RAW_NAMES[split]
    folders = [Path(root) / "ZINC", Path(root)]
    with_raw = (folder for folder in folders if (folder / "raw" / f"{name}.pickle").is_file())
    converted = (folder for folder in folders if converted_file(split, folder).is_file())
    folder = [*with_raw, *converted, folders[0]][0]
    return folder, RawFiles(folder / "raw" / f"{name}.pickle", folder / "raw" / f"{name}.index")


def converted_file(split: Split, folder: Path) -> Path:
    """Where the raw files of a folder go once they are converted.

    Args:
        split: The split.
        folder: The folder that holds the folder `raw`.

    Returns:
        The file, which need not be there.
    """
    return folder / "cyclenet" / f"zinc-{split}.safetensors"


def remove_stale(folder: Path) -> None:
    """Remove what processes of ours that were killed have left; nobody reads it.

    Args:
        folder: The folder that holds the folder `raw`, or one of converted files. What was written
            to within the last hour stays, since who writes it may be alive.
    """
    drafts = [path for path in _inside(folder) if _DOWNLOAD_NAME.fullmatch(path.name)]
    for place in (folder, folder / "cyclenet"):
        drafts += [path for path in _inside(place) if _DRAFT_NAME.fullmatch(path.name)]
    for path in drafts:
        try:
            last = max(each.lstat().st_mtime for each in (path, *path.rglob("*")))
            if time.time() - last > _STALE_SECONDS:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
                _log.info(f"{path}: left by a process that was killed, removed")
        except OSError as error:
            _log.info(f"{path}: cannot be removed: {error.strerror or error}")


def _inside(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _read_without_raw(split: Split, folder: Path, raw: RawFiles) -> TypedMolecules:
    place = converted_file(split, folder)
    if not place.is_file():
        other = folder.parent / "raw"
        raise DataFileError(
            f"expected {raw.pickle.name} and {raw.index.name} of ZINC in {raw.pickle.parent} or "
            f"{other}, but they are in neither",
            hint=_IF_MISSING,
        )
    molecules, stated = read_molecules(place, hint=_IF_CONVERTED_IS_BAD)
    _check_converted(split, molecules, stated, place)
    return molecules


def _kept(split: Split, place: Path, about: Mapping[str, str]) -> TypedMolecules | None:
    """What a converted file holds, or nothing if there is none, or one that is of no use."""
    if not place.is_file():
        return None
    try:
        molecules, stated = read_molecules(place)
        if stated != about:
            _log.info(f"{place}: made from other raw files, so it is made again")
            return None
        _check_converted(split, molecules, stated, place)
    except OtherFormat as error:
        _log.info(f"{error}, so it is made again")
        return None
    except DataFileError as error:
        _log.warning(f"{error}, so it is made again")
        return None
    return molecules


def _check_converted(
    split: Split, molecules: TypedMolecules, stated: Mapping[str, str], place: Path
) -> None:
    """DataFileError if a converted file is whole, but not what it should be by what it states."""
    pickle_hash = str(stated.get("pickle"))
    made_from = KNOWN_PICKLES.get(pickle_hash, split)
    message = None
    if stated.get("split") != split:
        message = f"expected the split {split}, but it holds {stated.get('split')}"
    elif made_from != split:
        message = f"expected the split {split}, but it was made from {made_from}"
    elif not _right_count(split, len(molecules), pickle_hash, place):
        message = (
            f"expected {NUM_MOLECULES[split]} molecules, as many as the benchmark has, but "
            f"{len(molecules)} came"
        )
    if message:
        raise DataFileError(message, path=str(place), hint=_IF_CONVERTED_IS_BAD)


def _right_count(split: Split, count: int, pickle_hash: str, path: Path) -> bool:
    """Whether a split may have so many molecules; who trusts a pickle decides on their number."""
    if count == NUM_MOLECULES[split]:
        return True
    if count == 0 or pickle_hash in KNOWN_PICKLES:
        return False
    _log.warning(
        f"{path}: {count} molecules instead of the {NUM_MOLECULES[split]} of the benchmark"
    )
    return True


def _check_split(split: Split, found: str, path: Path) -> None:
    known = KNOWN_PICKLES.get(found, split)
    if known != split:
        raise DataFileError(
            f"expected the molecules of the split {split}, but those of {known} came, by their "
            "SHA-256",
            path=str(path),
            hint=_if_raw_is_bad(path),
        )


def _check_known(path: Path, found: str) -> None:
    if found not in KNOWN_PICKLES:
        raise DataFileError(
            "expected a pickle of ZINC whose SHA-256 is known, since a pickle may run any program, "
            f"but one with {found} came; the original of 250,000 molecules is not known yet either",
            path=str(path),
            hint="--trust-pickle (in Python trust_pickle=True), if you know where it comes from",
        )


def _if_raw_is_bad(path: Path) -> str:
    return f"put the {path.name} of the benchmark in its place, or delete it and {_FETCHED}"


def _unpickled(content: bytes, raw: RawFiles, chosen: Sequence[int]) -> TypedMolecules:
    """The molecules that the index file chooses. The bytes are those that were hashed."""
    path, hint = str(raw.pickle), _if_raw_is_bad(raw.pickle)
    try:
        listed: Any = pickle.loads(content)
    except Exception as error:  # a pickle may raise anything
        message = f"cannot be unpickled: {type(error).__name__}: {error}"
        raise DataFileError(message, path=path, hint=hint) from None
    if not isinstance(listed, Sequence):
        came = f"an object of type {type(listed).__name__}"
        raise DataFileError(f"expected a list of molecules, but {came} came", path=path, hint=hint)
    if max(chosen) >= len(listed):
        raise DataFileError(
            f"expected numbers below {len(listed)}, the molecules of {raw.pickle.name}, but "
            f"{max(chosen)} came",
            path=str(raw.index),
            hint=_if_raw_is_bad(raw.index),
        )
    molecules, targets = [], []
    for place in chosen:
        try:
            molecule, target = _molecule(listed[place])
        except (ValueError, TypeError, LookupError, AttributeError, RuntimeError) as error:
            said = error if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
            raise DataFileError(f"molecule {place}: {said}", path=path, hint=hint) from None
        molecules.append(molecule)
        targets.append(target)
    try:
        return pack_molecules(molecules, np.array(targets, dtype=np.float32))
    except ValueError as error:
        raise DataFileError(str(error), path=path, hint=hint) from None


def _molecule(entry: Any) -> tuple[TypedMolecule, float]:
    """A molecule and its target from an entry of a raw list; ValueError if it is none."""
    atoms, matrix = np.asarray(entry["atom_type"]), np.asarray(entry["bond_type"])
    target = np.asarray(entry["logP_SA_cycle_normalized"])
    size = atoms.size
    if atoms.ndim != 1 or matrix.shape != (size, size) or target.size != 1:
        shapes = f"{atoms.shape}, {matrix.shape} and {target.shape}"
        raise ValueError(f"expected n atoms, n x n bonds and one target, but {shapes} came")
    if not all(np.issubdtype(array.dtype, np.integer) for array in (atoms, matrix)):
        raise ValueError(f"expected whole numbers, but {atoms.dtype} and {matrix.dtype} came")
    arcs = np.stack(np.nonzero(matrix))
    return TypedMolecule(atoms, arcs, matrix[arcs[0], arcs[1]]), float(target.reshape(()))


def _chosen(path: Path, split: Split, pickle_hash: str) -> list[int]:
    """The numbers in an index file: each once, and as many as there have to be."""
    try:
        text = read_text(path)
        width = text.strip().count(",") + 1
        rows = integer_rows(text, path, widths=(width,)).values.tolist()
    except DataFileError as error:
        error.hint = _if_raw_is_bad(path)
        raise
    chosen = [number for row in rows for number in row]
    [(most, times)] = Counter(chosen).most_common(1) or [(0, 0)]
    message = None
    if not chosen:
        message = "expected at least one number, but none came"
    elif times > 1:
        often = "twice" if times == 2 else f"{times} times"
        message = f"expected each number once, but {most} came {often}"
    elif not _right_count(split, len(chosen), pickle_hash, path):
        message = (
            f"expected {NUM_MOLECULES[split]} numbers, one for each molecule of the benchmark, but "
            f"{len(chosen)} came"
        )
    if message:
        raise DataFileError(message, path=str(path), hint=_if_raw_is_bad(path))
    return chosen


def _bytes_of(path: Path, hint: str | None = None) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise DataFileError(message, path=str(path), hint=hint) from None


def _place_in_cache(split: Split, about: Mapping[str, str]) -> Path:
    """A file of its own for each pair of raw files: several folders may share the cache."""
    key = hashlib.sha256(f"{about['pickle']} {about['index']}".encode()).hexdigest()[:16]
    return cache_folder() / "zinc" / key / f"zinc-{split}.safetensors"


def _keep(content: bytes, places: Sequence[Path]) -> None:
    """Write to the first place that can be written to; without one, do without."""
    for place in places:
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            write_whole(place, content)
            return
        except OSError as error:
            _log.info(f"{place}: cannot be written: {error.strerror or error}")
    _log.warning(
        f"the molecules of {places[0].name} cannot be kept, so the next start reads the pickle "
        f"again; try: {CACHE_VARIABLE}=FOLDER"
    )
