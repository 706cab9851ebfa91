"""Checkpoints of a training: whole or not there, and checked before they are believed."""

import contextlib
import hashlib
import json
import logging
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors.torch
from safetensors import SafetensorError
from torch import Tensor

from cyclenet.datasets.errors import DataFileError
from cyclenet.files import write_synced, write_whole

_log = logging.getLogger(__name__)

# Raised with every change of what the files hold.
CHECKPOINT_FORMAT = 1

# The newest, and one to fall back on.
KEPT = 2

# Seconds between two checkpoints.
INTERVAL = 60.0

_TENSORS = ("model", "best", "optim")

# What reading a damaged checkpoint may raise.
_DAMAGE = (OSError, ValueError, KeyError, SafetensorError)

Tensors = dict[str, Tensor]


@dataclass(frozen=True)
class Snapshot:
    """A training between two epochs: all that the rest of it depends on.

    Batches and random numbers are functions of seed and epoch, so no state of a generator is here.

    Args:
        step: Steps of the optimiser so far.
        state: Plain values: the epoch, the course so far, the schedule.
        model: Weights and statistics.
        best: Those of the best epoch so far.
        optim: Moments of the optimiser.
    """

    step: int
    state: dict[str, Any]
    model: Tensors
    best: Tensors
    optim: Tensors


class Keeper:
    """Writes snapshots of one training to a folder, now and then, and finds the newest again.

    A checkpoint is a folder ``step-00001234`` with the tensors (safetensors) and `state.json`,
    which holds the hash of each of them and of itself. It is written beside and renamed, so that a
    process may end anywhere and leave nothing half-written that is ever read. Two are kept;
    `LATEST` names the newest for whoever looks into the folder; it is not read here.

    Args:
        folder: Where checkpoints are.
        fingerprint: Of the run. Checkpoints of another are dropped.
        interval: Seconds between two checkpoints; 0 writes all.
        rank: The number of this process among those that share the training; the first one writes.
        world: How many these are.
    """

    def __init__(
        self,
        folder: Path,
        fingerprint: str,
        *,
        interval: float = INTERVAL,
        rank: int = 0,
        world: int = 1,
    ) -> None:
        self.folder = folder
        self.writes = rank == 0
        self.fingerprint = fingerprint
        self.interval = interval
        self.world = world
        self._written = time.monotonic()
        self._pending: Snapshot | None = None

    def offer(self, snapshot: Snapshot) -> None:
        """Write a snapshot if it is time to; else remember it for `flush`.

        Args:
            snapshot: The newest state of the training; not to be changed afterwards.
        """
        self._pending = snapshot if self.writes else None
        if time.monotonic() - self._written >= self.interval:
            self.flush()

    def flush(self) -> None:
        """Write the snapshot that was offered last, unless it has been written."""
        if self._pending is not None:
            self._write(self._pending)
            self._pending = None
            self._written = time.monotonic()

    def newest(self) -> Snapshot | None:
        """The newest checkpoint that is whole.

        Returns:
            What was saved, on the CPU, or None if there is nothing to continue.

        Raises:
            DataFileError: If there are checkpoints and all of them are damaged.
        """
        found = self._folders()
        for place in reversed(found):
            try:
                snapshot = self._read(place)
            except _DAMAGE as error:
                _log.warning(f"{place}: damaged checkpoint passed over ({error})")
                continue
            if snapshot is None and self.writes:
                _log.info(f"{place}: checkpoint of another run or version; starting over")
                self.remove()
            return snapshot
        if found:
            raise DataFileError(
                "a checkpoint must be whole, but all that there are have been damaged",
                path=str(self.folder),
                hint="--fresh to train from the start",
            )
        return None

    def has_begun(self) -> bool:
        """Whether there is a checkpoint of this run; nothing is read but whose it is.

        Returns:
            True also if its tensors are damaged.
        """
        for place in self._folders():
            with contextlib.suppress(*_DAMAGE):
                if self._is_ours(self._values(place)):
                    return True
        return False

    def remove(self) -> None:
        """Delete all checkpoints."""
        self._pending = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def _folders(self) -> list[Path]:
        return sorted(self.folder.glob("step-*"))

    def _write(self, snapshot: Snapshot) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        for left in self.folder.glob(".*"):  # by a process that was killed; we hold the run's lock
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        name = f"step-{snapshot.step:08d}"
        draft = self.folder / f".{name}"
        draft.mkdir()
        hashes = {}
        for part in _TENSORS:
            content = safetensors.torch.save(getattr(snapshot, part))
            hashes[part] = hashlib.sha256(content).hexdigest()
            write_synced(draft / f"{part}.safetensors", content)
        values = {
            "format": CHECKPOINT_FORMAT,
            "fingerprint": self.fingerprint,
            "world": self.world,
            "step": snapshot.step,
            "state": snapshot.state,
            "hashes": hashes,
        }
        write_synced(draft / "state.json", _sealed(values))
        if (self.folder / name).exists():  # written before by a process that then went back
            shutil.rmtree(self.folder / name)
        os.rename(draft, self.folder / name)
        write_whole(self.folder / "LATEST", f"{name}\n")
        for old in self._folders()[:-KEPT]:
            shutil.rmtree(old, ignore_errors=True)

    def _read(self, place: Path) -> Snapshot | None:
        """A checkpoint, or None if it is whole but not ours."""
        values = self._values(place)
        if not self._is_ours(values):
            return None
        tensors = {}
        for part in _TENSORS:
            content = (place / f"{part}.safetensors").read_bytes()
            if hashlib.sha256(content).hexdigest() != values["hashes"][part]:
                raise ValueError(f"{part}.safetensors does not have the hash in state.json")
            tensors[part] = safetensors.torch.load(content)
        if values["world"] != self.world and self.writes:
            _log.info(
                f"{place}: begun on {values['world']} ranks and continued on {self.world}: the "
                "order of the graphs is the same, but rounding and random numbers are not"
            )
        return Snapshot(values["step"], values["state"], **tensors)

    def _values(self, place: Path) -> dict[str, Any]:
        return _unsealed((place / "state.json").read_bytes())

    def _is_ours(self, values: Mapping[str, Any]) -> bool:
        return (values["format"], values["fingerprint"]) == (CHECKPOINT_FORMAT, self.fingerprint)


def _sealed(values: Mapping[str, Any]) -> bytes:
    """JSON with its own hash in front, in exactly one possible spelling."""
    body = json.dumps(values, sort_keys=True)
    seal = hashlib.sha256(body.encode()).hexdigest()
    return f'{{"sha256": "{seal}", "values": {body}}}\n'.encode()


def _unsealed(content: bytes) -> dict[str, Any]:
    """What was sealed.

    Args:
        content: The bytes of a file.

    Returns:
        The values.

    Raises:
        ValueError: If a byte is not the one that was written.
    """
    values = json.loads(content)["values"]
    if _sealed(values) != content:
        raise ValueError("state.json does not have the hash it says")
    return values


def cloned(tensors: Mapping[str, Tensor]) -> Tensors:
    """Copies that no later step changes.

    Args:
        tensors: Such as the state of a module.

    Returns:
        The copies, on the same devices.
    """
    return {name: value.detach().clone() for name, value in tensors.items()}
