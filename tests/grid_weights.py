"""Weights as the library rounds them, so that an oracle can compare sums of them exactly."""

from fractions import Fraction

import numpy as np

from cyclenet.topology import blocks
from cyclenet.topology.lengths import WholeLengths, whole_lengths


def exact(found: WholeLengths) -> list[Fraction]:
    """The weights the whole lengths stand for."""
    return [
        length * Fraction(found.unit) * Fraction(2) ** power
        for length, power in zip(found.lengths.tolist(), found.exponents.tolist(), strict=True)
    ]


def on_grid(edges: np.ndarray, num_nodes: int, weights: np.ndarray) -> list[Fraction]:
    """The weights of a graph, each rounded to the grid of its block."""
    return exact(whole_lengths(weights, group=blocks(edges, num_nodes).edge_block))
