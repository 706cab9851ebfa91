"""What is to be learned: the graphs, the loss, the metric, and which way is better."""

import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, one_hot
from torch_geometric.data import Data

from cyclenet.datasets.as_data import Directions, graph_data, point_data
from cyclenet.datasets.cfi import cfi_graph
from cyclenet.datasets.cyclic_points import POINT_TASKS
from cyclenet.datasets.data_folder import DataFolder
from cyclenet.datasets.graph import Graph, relabelled
from cyclenet.datasets.simplicial_data import torus_data
from cyclenet.datasets.strongly_regular import FAMILIES, strongly_regular_graphs
from cyclenet.datasets.torus import torus_set
from cyclenet.datasets.trajectories import (
    TRAJECTORY_SIZES,
    EdgeAlignment,
    TrajectorySet,
    trajectory_splits,
)
from cyclenet.datasets.zinc import ATOM_TYPES, BOND_TYPES, ZINC_SPLITS, ready_zinc, zinc
from cyclenet.experiments.spec import Protocol

# The published data sets are drawn once, with this seed.
PAPER_DATA_SEED = 1234

# Graphs for training, validation and test. The published sets have none for validation.
CFI_SIZES = {"honest": (120, 40, 40), "paper": (160, 0, 40)}
POINT_SIZES = {"honest": (320, 80, 100), "paper": (400, 0, 100)}

DIRECTIONS: dict[Protocol, Directions] = {"honest": "both", "paper": "single"}

# The presets of the tori.
TORI: dict[Protocol, str] = {"honest": "paper_scale", "paper": "paper"}

# Betti numbers of the link of an edge, in `edge_features`.
LINK_CHANNELS = 3

# Width of the embedding of a graph that is only to be told apart from others.
EMBEDDING_CHANNELS = 128


Items = Sequence[Data] | TrajectorySet


class Splits(NamedTuple):
    """The graphs of a task, as `experiments.build.prepared` takes them.

    Args:
        train: What weights are fitted to.
        validation: What choices are made on; empty under the published procedure.
        test: What is reported.
    """

    train: Items
    validation: Items
    test: Items


class Stored(NamedTuple):
    """Graphs that are read from files.

    Args:
        ready: Sees that the files are here, whole and trusted; fetches them first where it may.
        splits: Reads them, and fetches nothing.
    """

    ready: Callable[[DataFolder], None]
    splits: Callable[[Protocol, DataFolder], Splits]


@dataclass(frozen=True)
class TaskKind:
    """A task: its graphs, and what is asked of a prediction.

    Args:
        about: One line for a list of names.
        loss: ``"bce"`` and ``"ce"`` on logits of one label or of several classes, ``"mse"`` or
            ``"l1"``.
        metric: ``"accuracy"``, ``"MAE"``, ``"MSE"``, or ``"separated"``, the share of pairs of
            graphs that are told apart without training.
        higher_is_better: Direction of the metric.
        in_channels: Width of the node features.
        edge_channels: Width of the attributes of arcs.
        out_channels: Numbers predicted for each graph, or for each edge.
        of_edges: Whether there is a row of predictions and targets for each undirected edge of a
            graph, and not one for the graph. Losses are then means over all edges of a batch, and
            metrics means over graphs of the mean over their edges.
        splits: From a protocol and a seed to the graphs, where they are drawn; else None.
        stored: The graphs, where they are read from files; else None.
        family: The graphs to tell apart, where nothing is trained; else None.
    """

    about: str
    loss: Literal["bce", "ce", "mse", "l1"]
    metric: Literal["accuracy", "MAE", "MSE", "separated"]
    higher_is_better: bool
    in_channels: int
    edge_channels: int
    out_channels: int
    of_edges: bool = False
    splits: Callable[[Protocol, int], Splits] | None = None
    stored: Stored | None = None
    family: Callable[[], Sequence[Graph]] | None = None


def loss_of(
    kind: TaskKind,
    prediction: Float[Tensor, "b t"],
    target: Float[Tensor, "b u"],
    weight: Float[Tensor, " b"] | None = None,
) -> Float[Tensor, ""]:
    r"""The loss of a batch: $\sum_i w_i \ell_i / \sum_i w_i$.

    $\ell_i$ is the mean over the outputs of row i, which is a graph or an edge. So rows of weight
    0 count for nothing, and the losses of parts of a batch, each times its total weight, sum to
    that of the whole.

    Args:
        kind: The task.
        prediction: What the network says.
        target: What is true; for ``"ce"`` the number of the class, in one column.
        weight: Weight of each row; all the same if left out.

    Returns:
        A scalar with a gradient.
    """
    if kind.loss == "bce":
        each = binary_cross_entropy_with_logits(prediction, target, reduction="none")
    elif kind.loss == "ce":
        each = cross_entropy(prediction, target[:, 0].long(), reduction="none").unsqueeze(1)
    else:
        difference = prediction - target
        each = difference.square() if kind.loss == "mse" else difference.abs()
    if weight is None:
        return each.mean()
    # No rows that count have no loss.
    return (each.mean(dim=1) * weight).sum() / weight.sum().clamp(
        min=torch.finfo(weight.dtype).tiny
    )


def metric_of(
    kind: TaskKind,
    prediction: Float[Tensor, "b t"],
    target: Float[Tensor, "b u"],
    graph: Int64[Tensor, " b"] | None = None,
) -> float:
    """The metric over all graphs of a set.

    A logit above 0 is a yes: in the published code one above 0.5 is.

    Args:
        kind: A task that is trained for.
        prediction: What the network says of every graph, or of every edge.
        target: What is true.
        graph: The graph of each row, for edges.

    Returns:
        The share of right answers, or a mean error.
    """
    if kind.loss == "ce":
        each = (prediction.argmax(dim=1, keepdim=True) == target).to(torch.float64)
    elif kind.metric == "accuracy":
        each = ((prediction > 0) == (target > 0.5)).to(torch.float64)
    else:
        difference = (prediction - target).to(torch.float64)
        each = difference.abs() if kind.metric == "MAE" else difference.square()
    if graph is None:
        return float(each.mean())
    rows = each.mean(dim=1)
    sizes = torch.bincount(graph)
    sums = rows.new_zeros(sizes.size(0)).index_add(0, graph, rows)
    return float((sums / sizes)[sizes > 0].mean())


def separation_data(graph: Graph, protocol: Protocol) -> Data:
    """A graph of a family, or a copy of one, as the networks of a separation task read it.

    Args:
        graph: The graph.
        protocol: Which decides whether edges are stored in both directions.

    Returns:
        The graph with one constant feature on nodes and arcs.
    """
    return _without_features(graph, DIRECTIONS[protocol])


def _without_features(graph: Graph, directions: Directions, label: int | None = None) -> Data:
    x = torch.ones(graph.num_nodes, 1)
    y = None if label is None else torch.full((1, 1), float(label))
    return graph_data(graph, x=x, y=y, directions=directions)


def _cfi_splits(k: int, protocol: Protocol, seed: int) -> Splits:
    """Copies of the two graphs, each pair of them under the same new names."""
    rng = _generator(f"{k}-cfi", protocol, seed)
    pair = cfi_graph(k, 0), cfi_graph(k, 1)
    items = []
    for _ in range(sum(CFI_SIZES[protocol]) // 2):
        names = rng.permutation(pair[0].num_nodes)
        items += [
            _without_features(relabelled(graph, names), DIRECTIONS[protocol], label)
            for label, graph in enumerate(pair)
        ]
    return _split(items, CFI_SIZES[protocol])


def _point_splits(name: str, protocol: Protocol, seed: int) -> Splits:
    task, sizes = POINT_TASKS[name], POINT_SIZES[protocol]
    samples = task.make(sum(sizes), _generator(name, protocol, seed))
    directions = DIRECTIONS[protocol]
    items = [
        point_data(sample, directions=directions, coordinates=task.coordinates)
        for sample in samples
    ]
    return _split(items, sizes)


def _zinc_splits(protocol: Protocol, data: DataFolder) -> Splits:
    """The published molecules and no others, with their types one-hot."""
    each = (zinc(split, data.root, trust_pickle=data.trust_pickle) for split in ZINC_SPLITS)
    return Splits(*([_one_hot(item) for item in items] for items in each))


def _trajectory_splits(protocol: Protocol, seed: int) -> Splits:
    """A complex of its own for each seed, under both protocols, and walks on it."""
    rng = _generator("trajectories", "honest", seed)
    alignment: EdgeAlignment = "true" if protocol == "honest" else "reference"
    return Splits(
        *trajectory_splits(rng, sizes=TRAJECTORY_SIZES[protocol], edge_alignment=alignment)
    )


def _ready_tori(data: DataFolder) -> None:
    torus_set(TORI["honest"], data.root, workers=os.cpu_count() or 1)


def _torus_splits(protocol: Protocol, data: DataFolder) -> Splits:
    """Snapshots of clouds, drawn once for all seeds."""
    parts = torus_set(TORI[protocol], data.root)
    return Splits(*([torus_data(sample) for sample in part] for part in parts))


def _one_hot(item: Data) -> Data:
    types: Any = item
    x = one_hot(types.x.flatten().long(), len(ATOM_TYPES)).float()
    bonds = one_hot(types.edge_attr.flatten().long(), len(BOND_TYPES)).float()
    return Data(x=x, edge_index=item.edge_index, edge_attr=bonds, y=types.y)


def _generator(name: str, protocol: Protocol, seed: int) -> np.random.Generator:
    """Fresh graphs for each task and seed; the published ones are always the same."""
    if protocol == "paper":
        return np.random.default_rng(PAPER_DATA_SEED)
    return np.random.default_rng([zlib.crc32(name.encode()), seed])


def _split(items: list[Data], sizes: tuple[int, int, int]) -> Splits:
    train, validation, _ = sizes
    return Splits(items[:train], items[train : train + validation], items[train + validation :])


def _cfi(k: int) -> TaskKind:
    return TaskKind(
        f"copies of the {k}-CFI pair of graphs: which of the two it is",
        loss="bce", metric="accuracy", higher_is_better=True,
        in_channels=1, edge_channels=1, out_channels=1,
        splits=partial(_cfi_splits, k),
    )  # fmt: skip


def _points(name: str, about: str, metric: Literal["MAE", "MSE"]) -> TaskKind:
    return TaskKind(
        about,
        loss="mse", metric=metric, higher_is_better=False,
        in_channels=2, edge_channels=1, out_channels=POINT_TASKS[name].num_targets,
        splits=partial(_point_splits, name),
    )  # fmt: skip


def _family(name: str) -> TaskKind:
    family = FAMILIES[name]
    return TaskKind(
        f"{family.num_graphs} graphs srg{tuple(family[1:])}, told apart without training",
        loss="mse", metric="separated", higher_is_better=True,
        in_channels=1, edge_channels=1, out_channels=EMBEDDING_CHANNELS,
        family=partial(strongly_regular_graphs, name),
    )  # fmt: skip


TASKS: dict[str, TaskKind] = {
    "3-cfi": _cfi(3),
    "4-cfi": _cfi(4),
    "n_circles": _points("n_circles", "points on circles: how many circles were drawn", "MAE"),
    "circle_extents": _points(
        "circle_extents", "points on circles: the bounding box of each circle", "MSE"
    ),
    "long_cycles": _points(
        "long_cycles", "circles and noise: how many basis cycles have more than 6 edges", "MAE"
    ),
    "cycle_persistence": _points(
        "cycle_persistence", "circles, some open: extended persistence of the cycles", "MSE"
    ),
    "zinc": TaskKind(
        "12,000 molecules of ZINC: their penalised logP",
        loss="l1",
        metric="MAE",
        higher_is_better=False,
        in_channels=len(ATOM_TYPES),
        edge_channels=len(BOND_TYPES),
        out_channels=1,
        stored=Stored(ready_zinc, _zinc_splits),
    ),
    "trajectories": TaskKind(
        "walks on a plane with two holes: past which of two corners each of them went",
        loss="ce",
        metric="accuracy",
        higher_is_better=True,
        in_channels=1,
        edge_channels=0,
        out_channels=2,
        splits=_trajectory_splits,
    ),
    "tori": TaskKind(
        "400 complexes on tori: how far each edge is from the nearest hole",
        loss="mse",
        metric="MSE",
        higher_is_better=False,
        in_channels=LINK_CHANNELS,
        edge_channels=0,
        out_channels=1,
        of_edges=True,
        stored=Stored(_ready_tori, _torus_splits),
    ),
    **{name: _family(name) for name in FAMILIES},
}
