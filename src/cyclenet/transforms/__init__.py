"""From a PyTorch Geometric graph to the same graph with its cycle numbers."""

from cyclenet.transforms.arcs import CycleTransform
from cyclenet.transforms.cycles import (
    AddCycleProjector,
    AddRelevantCycles,
    AddShortestCycleBasis,
)

__all__ = ["AddCycleProjector", "AddRelevantCycles", "AddShortestCycleBasis", "CycleTransform"]
