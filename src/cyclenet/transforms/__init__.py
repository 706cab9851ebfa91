"""From a PyTorch Geometric graph to the same graph with its cycle numbers."""

from cyclenet.transforms.arcs import CycleTransform
from cyclenet.transforms.cycles import (
    AddCycleProfiles,
    AddCycleProjector,
    AddRelevantCycles,
    AddShortestCycleBasis,
)
from cyclenet.transforms.lifting import LiftToCliqueComplex, LiftToRingComplex
from cyclenet.transforms.spectral import AddEigenspaces, AddLeadingEigenvectors

__all__ = [
    "AddCycleProfiles",
    "AddCycleProjector",
    "AddEigenspaces",
    "AddLeadingEigenvectors",
    "AddRelevantCycles",
    "AddShortestCycleBasis",
    "CycleTransform",
    "LiftToCliqueComplex",
    "LiftToRingComplex",
]
