"""Copies of graphs under other names, which no sound method tells apart."""

import copy

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data


def renamed(data: Data, rng: np.random.Generator) -> Data:
    """The same graph with its nodes named at random.

    A graph that stores each edge once stores it from the lower to the higher name, as the datasets
    do: that is what makes the published networks depend on names.

    Args:
        data: A graph with attributes on nodes, on arcs, and of the whole graph.
        rng: Random numbers.

    Returns:
        The copy.
    """
    names = torch.from_numpy(rng.permutation(data.num_nodes or 0))
    assert data.edge_index is not None
    arcs = names[data.edge_index]
    if _is_stored_once(data.edge_index):
        arcs = arcs.sort(dim=0).values
    order = torch.from_numpy(np.lexsort(arcs.flip(0).numpy()))
    other = copy.copy(data)
    other.edge_index = arcs[:, order]
    if data.x is not None:
        other.x = torch.empty_like(data.x).index_copy(0, names, data.x)
    if data.edge_attr is not None:
        other.edge_attr = data.edge_attr[order]
    return other


def _is_stored_once(arcs: Tensor) -> bool:
    """Whether every arc runs from the lower to the higher name."""
    return bool((arcs[0] < arcs[1]).all())


def differ(one: Tensor, other: Tensor, tolerance: float) -> Tensor:
    """Whether rows are further apart than a share of their size.

    Args:
        one: One row for each graph.
        other: The rows of their copies.
        tolerance: The share of the mean norm of `one`.

    Returns:
        One truth value for each row.
    """
    size = one.norm(dim=1).mean()
    return (one - other).norm(dim=1) > tolerance * size
