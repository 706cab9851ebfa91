"""Runs: training or measuring one row of a table with one seed, and writing down what came out."""

from cyclenet.runner.devices import NoSuchDevice
from cyclenet.runner.execute import Busy, execute
from cyclenet.runner.fit import Progress

__all__ = ["Busy", "NoSuchDevice", "Progress", "execute"]
