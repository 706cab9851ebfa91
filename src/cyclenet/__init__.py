"""Exact cycle numbers of graphs, and how to hand them to a graph neural network.

    import cyclenet as cn

`cn.topology` computes on arrays, `cn.AddShortestCycleBasis` and its siblings attach the results
to PyTorch Geometric graphs, `cn.ProjectorEncoder` and its siblings turn these into rows for arcs,
and `cn.CycleNet` is an encoder in front of a backbone. Importing `cyclenet` loads neither torch
nor numba: a name brings what it needs when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclenet import datasets, experiments, nn, testing, topology, transforms
    from cyclenet.data import CycleData
    from cyclenet.nn import CycleNet
    from cyclenet.nn.encoders import PEOIEncoder, ProfileEncoder, ProjectorEncoder
    from cyclenet.transforms import (
        AddCycleProfiles,
        AddCycleProjector,
        AddEigenspaces,
        AddRelevantCycles,
        AddShortestCycleBasis,
    )

__version__ = "0.1.0"

__all__ = [
    "AddCycleProfiles",
    "AddCycleProjector",
    "AddEigenspaces",
    "AddRelevantCycles",
    "AddShortestCycleBasis",
    "CycleData",
    "CycleNet",
    "PEOIEncoder",
    "ProfileEncoder",
    "ProjectorEncoder",
    "__version__",
    "datasets",
    "experiments",
    "nn",
    "testing",
    "topology",
    "transforms",
]

_HOMES = {
    "AddCycleProfiles": "cyclenet.transforms",
    "AddCycleProjector": "cyclenet.transforms",
    "AddEigenspaces": "cyclenet.transforms",
    "AddRelevantCycles": "cyclenet.transforms",
    "AddShortestCycleBasis": "cyclenet.transforms",
    "CycleData": "cyclenet.data",
    "CycleNet": "cyclenet.nn",
    "PEOIEncoder": "cyclenet.nn.encoders",
    "ProfileEncoder": "cyclenet.nn.encoders",
    "ProjectorEncoder": "cyclenet.nn.encoders",
}
_ROOMS = ("datasets", "experiments", "nn", "testing", "topology", "transforms")


def __getattr__(name: str) -> object:
    """A public name, imported when it is first asked for (PEP 562)."""
    if name in _ROOMS:
        return import_module(f"cyclenet.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'cyclenet' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value  # the next look-up does not come here
    return value


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted({*globals(), *__all__})
