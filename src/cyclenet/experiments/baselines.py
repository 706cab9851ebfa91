"""Rules without a network, fitted on the training graphs: what trivial numbers of a graph know."""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.utils import degree

from cyclenet.datasets.cyclic_points import LONGEST_SHORT_CYCLE
from cyclenet.experiments.tasks import TaskKind
from cyclenet.topology import edges_from_arcs, shortest_cycle_basis

Rule = Callable[[Sequence[Data]], Float[Tensor, "b t"]]
Features = Callable[[Data], Tensor]

# Degrees above this are counted as this one.
MAX_DEGREE = 12


def fit_constant(kind: TaskKind, train: Sequence[Data]) -> Rule:
    """The best constants: medians for MAE, means for MSE, the commonest answer for accuracy.

    Args:
        kind: The task.
        train: The training graphs.

    Returns:
        From graphs to predictions.
    """
    target = _targets(train)
    if kind.loss == "ce":
        counts = torch.bincount(target[:, 0].long(), minlength=kind.out_channels)
        best = counts.to(torch.float32)
    elif kind.of_edges:  # every graph counts as much as another, however many edges it has
        assert kind.metric == "MSE", "the best constant for MAE would be a weighted median"
        each = [_targets([item]) for item in train]
        best = torch.stack([rows.mean(dim=0) for rows in each if len(rows)]).mean(dim=0)
    else:
        middle = _median(target) if kind.metric == "MAE" else target.mean(dim=0)
        best = _as_prediction(kind, middle)
    return lambda items: best.repeat(_targets(items).size(0), 1)


def fit_lookup(kind: TaskKind, train: Sequence[Data], key: Callable[[Data], int]) -> Rule:
    """A table from one number of a graph to the median target of the training graphs that have it.

    A number that no training graph has is looked up at the nearest one that some have, the smaller
    of two.

    Args:
        kind: The task.
        train: The training graphs.
        key: The number.

    Returns:
        From graphs to predictions.
    """
    target = _targets(train)
    keys = torch.tensor([key(item) for item in train])
    known = keys.unique()
    rows = torch.stack([_as_prediction(kind, _median(target[keys == one])) for one in known])

    def rule(items: Sequence[Data]) -> Float[Tensor, "b t"]:
        asked = torch.tensor([key(item) for item in items])
        return rows[(asked.unsqueeze(1) - known).abs().argmin(dim=1)]

    return rule


def fit_least_squares(kind: TaskKind, train: Sequence[Data], features: Features) -> Rule:
    """The best affine map of a few numbers of a graph, by least squares.

    Args:
        kind: The task.
        train: The training graphs.
        features: The numbers.

    Returns:
        From graphs to predictions.
    """

    def design(items: Sequence[Data]) -> Float[Tensor, "b f"]:
        rows = torch.stack([features(item).to(torch.float64) for item in items])
        return torch.cat((rows.new_ones(rows.size(0), 1), rows), dim=1)

    target = _targets(train).to(torch.float64)
    # By the pseudo-inverse, for a degree that no graph has is a column of zeros.
    weights = torch.linalg.pinv(design(train)) @ target

    def rule(items: Sequence[Data]) -> Float[Tensor, "b t"]:
        return _as_prediction(kind, design(items) @ weights).to(torch.float32)

    return rule


def num_edges(data: Data) -> int:
    """How many undirected edges a graph has.

    Args:
        data: The graph.

    Returns:
        Their number, however many arcs each is stored as.
    """
    return _edges(data).shape[1]


def num_nodes(data: Data) -> int:
    """How many nodes a graph has.

    Args:
        data: The graph.

    Returns:
        Their number.
    """
    return data.num_nodes or 0


def num_long_cycles(data: Data) -> int:
    """How many cycles of a shortest basis are long.

    Args:
        data: The graph.

    Returns:
        Their number, the same for all shortest bases.
    """
    lengths = shortest_cycle_basis(_edges(data), data.num_nodes or 0).lengths
    return int((lengths > LONGEST_SHORT_CYCLE).sum())


def degree_histogram(data: Data) -> Int64[Tensor, " d"]:
    """How many nodes have each degree.

    Args:
        data: The graph.

    Returns:
        One number for each degree up to `MAX_DEGREE`.
    """
    ends = torch.as_tensor(_edges(data)).flatten()
    degrees = degree(ends, data.num_nodes).long().clamp(max=MAX_DEGREE)
    return torch.bincount(degrees, minlength=MAX_DEGREE + 1)


def centroid(data: Data) -> Float[Tensor, " k"]:
    """The mean of the node features, which are coordinates where a task has some.

    Args:
        data: The graph.

    Returns:
        One number for each feature.
    """
    assert data.x is not None
    return data.x.mean(dim=0)


# The table of Table 2 that needs no network. `long_cycles` is no trivial number: it shows what
# there is to gain.
BASELINES: dict[str, Callable[[TaskKind, Sequence[Data]], Rule]] = {
    "constant": fit_constant,
    "edges": lambda kind, train: fit_lookup(kind, train, num_edges),
    "nodes": lambda kind, train: fit_lookup(kind, train, num_nodes),
    "long_cycles": lambda kind, train: fit_lookup(kind, train, num_long_cycles),
    "degrees": lambda kind, train: fit_least_squares(kind, train, degree_histogram),
    "centroid": lambda kind, train: fit_least_squares(kind, train, centroid),
}


def _targets(items: Sequence[Data]) -> Float[Tensor, "b t"]:
    return torch.cat([item.y for item in items])  # pyright: ignore[reportArgumentType]


def _median(target: Float[Tensor, "b t"]) -> Float[Tensor, " t"]:
    """The middle value, the mean of two where there are two."""
    return target.quantile(0.5, dim=0)


def _as_prediction(kind: TaskKind, value: Float[Tensor, "*b t"]) -> Float[Tensor, "*b t"]:
    """A value of the target as a prediction: a label between 0 and 1 becomes a logit."""
    return 2 * value - 1 if kind.loss == "bce" else value


def _edges(data: Data):
    assert data.edge_index is not None
    return edges_from_arcs(data.edge_index.numpy(), data.num_nodes or 0).edges
