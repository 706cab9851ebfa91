"""Runs: training or measuring one row of a table with one seed, and writing down what came out."""

from cyclenet.runner.devices import NoSuchDevice, device_named
from cyclenet.runner.execute import Busy, execute, is_begun, known_record, set_aside
from cyclenet.runner.fit import Progress
from cyclenet.runner.launch import RankLost, execute_on_ranks, rank_devices

__all__ = [
    "Busy",
    "NoSuchDevice",
    "Progress",
    "RankLost",
    "device_named",
    "execute",
    "execute_on_ranks",
    "is_begun",
    "known_record",
    "rank_devices",
    "set_aside",
]
