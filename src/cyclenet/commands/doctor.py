"""`cyclenet doctor`: what is installed, what is missing, and what that switches off."""

import os
import platform
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import cyclenet
from cyclenet.commands.outcome import Outcome
from cyclenet.commands.table import aligned, size_text

CORE = (
    "torch", "torch_geometric", "numpy", "scipy", "numba", "jaxtyping", "safetensors", "typer",
    "rich", "matplotlib", "jinja2",
)  # fmt: skip

# Package, the extra that brings it, and what is off without it.
EXTRAS = {
    "gudhi": ("complexes", "alpha complexes"),
    "scikit-image": ("complexes", "superpixels"),
    "rdkit": ("chem", "SMILES files; rdkit rows of bench"),
    "dask": ("distributed", "encoding on several machines"),
    "distributed": ("distributed", "encoding on several machines"),
    "pyarrow": ("parquet", "Parquet files"),
    "tensorboard": ("tensorboard", "the TensorBoard logger"),
    "igraph": ("bench", "igraph rows of bench"),
    "networkx": ("bench", "pictures; networkx rows of bench"),
}


def examine() -> Outcome:
    """The state of this installation.

    Returns:
        Versions, extras, devices, free memory and disk, and the cache of compiled kernels.
    """
    core = {name: _version(name) for name in CORE}
    extras = {
        name: {"version": _version(name), "extra": extra, "switches_off": off}
        for name, (extra, off) in EXTRAS.items()
    }
    result: dict[str, Any] = {
        "cyclenet": cyclenet.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "core": core,
        "extras": extras,
        "gpus": _gpus() if core["torch"] else [],
        "memory_free_bytes": _free_memory(),
        "disk_free_bytes": shutil.disk_usage(Path.cwd()).free,
        "numba_cache": _numba_cache(),
    }
    missing = [name for name, found in core.items() if found is None]
    warnings = [f"the package {name} is missing; try: pip install {name}" for name in missing]
    return Outcome(result, _lines(result), warnings, exit_code=5 if missing else 0)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _gpus() -> list[str]:
    import torch

    if not torch.cuda.is_available():
        return []
    return [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]


def _free_memory() -> int | None:
    """Memory that can be taken without swapping; None where nobody can say."""
    try:
        from cyclenet.topology.memory import free_bytes
    except ImportError:  # something of the core is missing, which is told elsewhere
        return None
    return free_bytes()


def _numba_cache() -> dict[str, Any]:
    """Where compiled kernels are kept, whether that works, and how many there are."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    folder = Path(chosen) if chosen else Path(cyclenet.__file__).parent / "topology"
    kernels = sum(1 for _ in folder.rglob("*.nbi")) if folder.is_dir() else 0
    place = folder if folder.is_dir() else folder.parent
    return {"folder": str(folder), "writable": os.access(place, os.W_OK), "kernels": kernels}


def _lines(result: dict[str, Any]) -> list[str]:
    rows = [
        ("cyclenet", result["cyclenet"], ""),
        ("python", result["python"], sys.executable),
        *((name, found or "missing", "") for name, found in result["core"].items()),
    ]
    for name, extra in result["extras"].items():
        hint = f"off: {extra['switches_off']}; try: pip install 'cyclenet[{extra['extra']}]'"
        rows.append((name, extra["version"] or "missing", "" if extra["version"] else hint))
    memory, cache = result["memory_free_bytes"], result["numba_cache"]
    state = "writable" if cache["writable"] else "not writable, so every start compiles again"
    rows += [
        ("GPU", ", ".join(result["gpus"]) or "none", "" if result["gpus"] else "CPU is used"),
        ("CPUs", str(result["cpus"]), result["platform"]),
        ("free memory", size_text(memory) if memory else "unknown", ""),
        ("free disk", size_text(result["disk_free_bytes"]), "where you are"),
        ("compiled kernels", str(cache["kernels"]), f"{cache['folder']}, {state}"),
    ]
    return aligned(rows)
