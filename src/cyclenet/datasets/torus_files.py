"""Snapshots of clouds on the disk: one file for each cloud, so that a killed run loses one."""

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from safetensors import SafetensorError

from cyclenet.datasets.errors import DataFileError
from cyclenet.datasets.point_complex import PointComplex
from cyclenet.datasets.sealed_arrays import check_seal, note_of, sealed
from cyclenet.datasets.torus_points import Family
from cyclenet.datasets.torus_snapshots import CloudOptions, TorusSnapshot, snapshots_of_cloud
from cyclenet.files import write_whole

_log = logging.getLogger(__name__)

# Raised with every change of what a cloud is or of what a file holds.
CLOUD_FORMAT = 1

# What a file holds besides the points: for all snapshots end to end, and how many each has.
_ENDS = {"edges": 2, "triangles": 3, "tetrahedra": 4}


def cloud_file(root: Path, options: CloudOptions, family: Family, cloud: int) -> Path:
    """Where a cloud is kept: in a folder that no other options share.

    Args:
        root: The folder of all data.
        options: What is drawn.
        family: Which family.
        cloud: Which of its clouds.

    Returns:
        The file, which need not be there.
    """
    words = json.dumps({"format": CLOUD_FORMAT, **asdict(options)}, sort_keys=True)
    key = hashlib.sha256(words.encode()).hexdigest()[:16]
    return root / "tori" / key / f"{family}-{cloud:05d}.safetensors"


def kept_snapshots(
    options: CloudOptions, family: Family, cloud: int, root: Path | None
) -> list[TorusSnapshot]:
    """The snapshots of a cloud: read if they have been kept, else made and kept.

    A file is there whole or not at all, and one that was damaged since is made again.

    Args:
        options: What is drawn.
        family: Which family.
        cloud: Which of its clouds.
        root: The folder of all data; None keeps nothing.

    Returns:
        The same as `snapshots_of_cloud`.
    """
    if root is None:
        return snapshots_of_cloud(options, family, cloud)
    path = cloud_file(root, options, family, cloud)
    about = {"family": family, "cloud": cloud, "options": json.loads(json.dumps(asdict(options)))}
    if path.is_file():
        try:
            return snapshots_from_bytes(path.read_bytes(), about, path=str(path))
        except (DataFileError, OSError) as error:
            _log.warning(f"{error}; it is made again")
    snapshots = snapshots_of_cloud(options, family, cloud)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, snapshots_to_bytes(snapshots, about))
    except OSError as error:
        _log.warning(f"{path}: cannot be written, so it is not kept: {error.strerror or error}")
    return snapshots


def snapshots_to_bytes(snapshots: Sequence[TorusSnapshot], about: Mapping[str, Any]) -> bytes:
    """A safetensors file of the snapshots of one cloud.

    Args:
        snapshots: The snapshots.
        about: Words to keep with them: what JSON can hold, `family` and `cloud` among it.

    Returns:
        The file, with a hash by which `snapshots_from_bytes` finds any change of it; the same bytes
        for the same snapshots and words.
    """
    arrays = {
        "points": snapshots[0].complex.points if snapshots else np.zeros((0, 2)),
        "time": np.array([each.time for each in snapshots], dtype=np.float64),
        "betti": np.array([each.betti for each in snapshots], dtype=np.int64),
        "labels": np.concatenate([np.zeros(0), *(each.labels for each in snapshots)]),
        "link_betti": np.concatenate(
            [np.zeros((0, 3)), *(each.link_betti for each in snapshots)]
        ).astype(np.int16),
    }
    for name, ends in _ENDS.items():
        parts = [getattr(each.complex, name) for each in snapshots]
        arrays[name] = np.concatenate([np.zeros((ends, 0)), *parts], axis=1).astype(np.int32)
        arrays[f"num_{name}"] = np.array([part.shape[1] for part in parts], dtype=np.int64)
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    words = {"format": CLOUD_FORMAT, "about": dict(about)}
    return sealed(words, arrays, sorted(arrays))


def snapshots_from_bytes(
    content: bytes, about: Mapping[str, Any], *, path: str | None = None
) -> list[TorusSnapshot]:
    """What `snapshots_to_bytes` made a file of.

    Args:
        content: The file.
        about: The words that must have been kept with it.
        path: Its name, for error messages.

    Returns:
        The snapshots.

    Raises:
        DataFileError: If the file is none of ours, was changed, or holds something else.
    """
    try:
        return _opened(content, about)
    except (SafetensorError, KeyError, TypeError, ValueError, RecursionError) as error:
        said = str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
        raise DataFileError(f"damaged, or no file of snapshots: {said}", path=path) from None


def _opened(content: bytes, about: Mapping[str, Any]) -> list[TorusSnapshot]:
    note = note_of(content)
    words = {"format": CLOUD_FORMAT, "about": dict(about)}
    stated = {name: note[name] for name in words}
    if stated != words:
        raise ValueError(f"expected {words}, but {stated} came")
    arrays = safetensors.numpy.load(content)
    check_seal(note, arrays, sorted(arrays))
    # From here on the content is what was written.
    parts = {
        name: np.split(arrays[name].astype(np.int64), np.cumsum(arrays[f"num_{name}"])[:-1], axis=1)
        for name in _ENDS
    }
    first = np.cumsum(arrays["num_edges"])[:-1]
    labels = np.split(arrays["labels"], first)
    links = np.split(arrays["link_betti"].astype(np.int64), first)
    return [
        TorusSnapshot(
            PointComplex(arrays["points"], *(parts[name][i] for name in _ENDS)),
            about["family"],
            about["cloud"],
            time,
            int(arrays["betti"][i]),
            labels[i],
            links[i],
        )
        for i, time in enumerate(arrays["time"].tolist())
    ]
