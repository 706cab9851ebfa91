"""From a PyTorch Geometric graph to the same graph with its cycle numbers."""

from cyclenet.transforms.arcs import CycleTransform
from cyclenet.transforms.cycles import (
    AddCycleProfiles,
    AddCycleProjector,
    AddRelevantCycles,
    AddShortestCycleBasis,
)
from cyclenet.transforms.lifting import AddHodgeSums, LiftToCliqueComplex, LiftToRingComplex
from cyclenet.transforms.localization import AddHarmonicSums
from cyclenet.transforms.spectral import (
    AddEigenspaces,
    AddHodgeInverse,
    AddLaplacianBounds,
    AddLeadingEigenvectors,
)

__all__ = [
    "AddCycleProfiles",
    "AddCycleProjector",
    "AddEigenspaces",
    "AddHarmonicSums",
    "AddHodgeInverse",
    "AddHodgeSums",
    "AddLaplacianBounds",
    "AddLeadingEigenvectors",
    "AddRelevantCycles",
    "AddShortestCycleBasis",
    "CycleTransform",
    "LiftToCliqueComplex",
    "LiftToRingComplex",
]
