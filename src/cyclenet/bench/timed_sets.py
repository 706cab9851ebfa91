"""The sets of graphs of the paper's table of preprocessing times, and the molecules we ship."""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from cyclenet.datasets import circle_extents
from cyclenet.datasets.data_folder import DataFolder
from cyclenet.datasets.graph import Graph
from cyclenet.datasets.molecules import molecule_graphs
from cyclenet.datasets.zinc import fetch_zinc
from cyclenet.datasets.zinc_files import zinc_molecules
from cyclenet.experiments.tasks import PAPER_DATA_SEED, POINT_SIZES


class TimedGraphs(NamedTuple):
    """A set of graphs to be timed.

    Args:
        graphs: The graphs.
        stored: How often the paper's data store an edge; its "degree" counts stored edges.
    """

    graphs: Sequence[Graph]
    stored: int


class Sizes(NamedTuple):
    """Averages over a set.

    Args:
        nodes: Nodes per graph.
        edges: Undirected edges per graph.
        degree: Stored edges per node.
    """

    nodes: float
    edges: float
    degree: float


def sizes(timed: TimedGraphs) -> Sizes:
    """Averages over a set, as the paper prints them.

    Args:
        timed: The set.

    Returns:
        The averages.
    """
    count = len(timed.graphs)
    nodes = sum(graph.num_nodes for graph in timed.graphs)
    edges = sum(graph.edges.shape[1] for graph in timed.graphs)
    return Sizes(nodes / count, edges / count, timed.stored * edges / nodes)


def digest(graphs: Sequence[Graph]) -> str:
    """A hash of graphs, the same on every machine.

    Args:
        graphs: The graphs.

    Returns:
        Sixteen hexadecimal digits.
    """
    found = hashlib.sha256()
    for edges, num_nodes in graphs:
        found.update(np.array([num_nodes, edges.shape[1]], dtype="<i8").tobytes())
        found.update(np.ascontiguousarray(edges, dtype="<i8").tobytes())
    return found.hexdigest()[:16]


def spread_over(num_graphs: int, count: int) -> list[int]:
    """Positions of at most `count` graphs, evenly spread over a set.

    Args:
        num_graphs: Size of the set.
        count: How many, at least 1.

    Returns:
        The positions, ascending.

    Example:
        >>> spread_over(10, 4)
        [0, 2, 5, 7]
    """
    count = min(count, num_graphs)
    return [i * num_graphs // count for i in range(count)]


def _molecules(data: DataFolder) -> TimedGraphs:
    """The molecules we ship, wherever other data lie."""
    return TimedGraphs(list(molecule_graphs()), 2)


def _zinc(split: str, data: DataFolder) -> TimedGraphs:
    """The topology of a split of ZINC-12k; its graphs store both directions."""
    if data.download:
        fetch_zinc(data.root, split)
    molecules = zinc_molecules(split, data.root, trust_pickle=data.trust_pickle)
    return TimedGraphs(list(molecules.graphs()), 2)


def _circles(split: str, data: DataFolder) -> TimedGraphs:
    """Point sets as the published ones are drawn; their graphs store one direction."""
    sizes = POINT_SIZES["paper"]
    made = circle_extents(sum(sizes), np.random.default_rng(PAPER_DATA_SEED))
    kept = made[: sizes[0]] if split == "train" else made[sum(sizes[:2]) :]
    return TimedGraphs([sample.graph for sample in kept], 1)


# From the folder of data to the graphs.
SETS: dict[str, Callable[[DataFolder], TimedGraphs]] = {
    "zinc-train": partial(_zinc, "train"),
    "zinc-validation": partial(_zinc, "validation"),
    "zinc-test": partial(_zinc, "test"),
    "molecules": _molecules,
    "circle_extents-train": partial(_circles, "train"),
    "circle_extents-test": partial(_circles, "test"),
}
