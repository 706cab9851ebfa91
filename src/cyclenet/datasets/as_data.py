"""From our graphs to PyTorch Geometric's: the one file of this room that needs torch."""

from typing import Literal, get_args

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch_geometric.data import Data

from cyclenet.datasets.graph import Graph
from cyclenet.datasets.point_graph import PointGraph
from cyclenet.datasets.typed_molecules import TypedMolecule

Directions = Literal["both", "single"]

# Constant node features of the paper, where nodes are to look the same.
_CONSTANT_CHANNELS = 2


def graph_data(
    graph: Graph,
    *,
    x: Float[Tensor, "n k"] | None = None,
    y: Float[Tensor, "1 t"] | None = None,
    directions: Directions = "both",
) -> Data:
    """A graph as `Data`, with one constant number on every arc.

    Args:
        graph: The graph.
        x: Node features; None gives two constant ones.
        y: What is to be predicted, if anything.
        directions: ``"both"`` stores every edge as two arcs, first all edges from tail to head and
            then all from head to tail. ``"single"`` stores it as one, as the published synthetic
            sets do: message passing then depends on how nodes are numbered.

    Returns:
        `x`, `edge_index`, `edge_attr` of ones with shape (a, 1), and `y` where given.

    Raises:
        ValueError: If `directions` is neither of the two.

    Example:
        >>> graph_data(Graph(np.array([[0, 0], [1, 2]]), 3)).edge_index.tolist()
        [[0, 0, 1, 2], [1, 2, 0, 0]]
    """
    if directions not in get_args(Directions):
        raise ValueError(f"`directions` must be 'both' or 'single', but it is {directions!r}")
    edges = graph.edges
    arcs = edges if directions == "single" else np.concatenate((edges, edges[::-1]), axis=1)
    edge_index = torch.tensor(arcs, dtype=torch.long)
    if x is None:
        x = torch.ones(graph.num_nodes, _CONSTANT_CHANNELS)
    return Data(x=x, edge_index=edge_index, edge_attr=torch.ones(arcs.shape[1], 1), y=y)


def point_data(
    sample: PointGraph, *, directions: Directions = "both", coordinates: bool = False
) -> Data:
    """A graph on points as `Data`.

    Args:
        sample: What a task of `cyclic_points` made.
        directions: As for `graph_data`.
        coordinates: Whether the node features are the two coordinates, or constant.

    Returns:
        `x` with shape (n, 2), `edge_index`, `edge_attr` and `y` with shape (1, t).
    """
    x = torch.tensor(sample.points, dtype=torch.float32) if coordinates else None
    y = torch.tensor(sample.target, dtype=torch.float32).unsqueeze(0)
    return graph_data(sample.graph, x=x, y=y, directions=directions)


def molecule_data(molecule: TypedMolecule, *, y: Float[Tensor, "1 t"] | None = None) -> Data:
    """A molecule as `Data`, as `torch_geometric.datasets.ZINC` has it.

    Args:
        molecule: The molecule.
        y: What is to be predicted, if anything.

    Returns:
        `x` of shape (n, 1) and `edge_attr` of shape (a), types as int64; `edge_index`, both
        directions of each bond, sorted by tail and head; and `y` where given.

    Example:
        >>> oxygen = TypedMolecule(np.array([1, 1]), np.array([[0, 1], [1, 0]]), np.array([2, 2]))
        >>> molecule_data(oxygen).edge_attr.tolist()
        [2, 2]
    """
    return Data(
        x=torch.tensor(molecule.atoms, dtype=torch.long).unsqueeze(1),
        edge_index=torch.tensor(molecule.arcs, dtype=torch.long),
        edge_attr=torch.tensor(molecule.bonds, dtype=torch.long),
        y=y,
    )
