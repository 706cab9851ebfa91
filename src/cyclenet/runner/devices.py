"""Devices by the names a command line gives them, and what a record says about the machine."""

import logging
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

_log = logging.getLogger(__name__)

_PACKAGES = ("cyclenet", "torch", "torch_geometric", "numpy", "scipy", "numba")


class NoSuchDevice(LookupError):
    """A device that this machine does not have.

    Args:
        name: What was asked for.
    """

    def __init__(self, name: str) -> None:
        there = ", ".join(known_devices())
        super().__init__(f"there is no device {name!r} on this machine, which has: {there}")
        self.hint = "--device auto"


def known_devices() -> list[str]:
    """The devices of this machine, by the names that `device_named` takes.

    Returns:
        ``"cpu"``, then the GPUs.
    """
    gpus = range(torch.cuda.device_count() if torch.cuda.is_available() else 0)
    return ["cpu", *(f"cuda:{index}" for index in gpus)]


def device_named(name: str) -> torch.device:
    """A device of this machine.

    Args:
        name: ``"cpu"``, ``"cuda"`` (the first GPU), ``"cuda:1"``, or ``"auto"``: a GPU if there is
            one, or else the CPU with one line that says so.

    Returns:
        The device.

    Raises:
        NoSuchDevice: If it is not there.
    """
    known = known_devices()
    if name == "auto":
        if len(known) == 1:
            _log.info("no GPU here: training on the CPU")
        return torch.device(known[min(1, len(known) - 1)])
    full = "cuda:0" if name == "cuda" else name
    if full not in known:
        raise NoSuchDevice(name)
    return torch.device(full)


def device_title(device: torch.device) -> str:
    """A device as a record names it.

    Args:
        device: The device.

    Returns:
        ``"cpu"``, or the name of the GPU.
    """
    return "cpu" if device.type == "cpu" else torch.cuda.get_device_name(device)


def versions() -> dict[str, str]:
    """What a number depends on besides our code.

    Returns:
        Versions by name.
    """
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # run from the source tree
            continue
    return found


@cache
def revision() -> str:
    """The commit of our code, or nothing outside a repository that tracks it.

    Returns:
        The last commit that changed this package, with a ``+`` behind it if files of it have
        changed since.
    """
    package = Path(__file__).parent.parent
    commit = _git(package, "log", "-1", "--format=%H", "--", ".")
    return f"{commit}+" if commit and _git(package, "status", "--porcelain", "--", ".") else commit


def _git(folder: Path, *words: str) -> str:
    """What git prints, or nothing where it cannot say."""
    try:
        done = subprocess.run(
            ["git", *words], cwd=folder, capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
