"""Telling graphs apart without training, and copies of the same graph, which must not happen."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch_geometric.data import Batch, Data

from cyclenet.data import CycleData
from cyclenet.datasets.graph import Graph, relabelled
from cyclenet.experiments.build import prepared
from cyclenet.experiments.record import Copies
from cyclenet.experiments.spec import Row, Separation
from cyclenet.experiments.tasks import separation_data

# What a network holds at a time grows with its batch. Some networks hold a matrix on the nodes of
# each graph, which its numbers do not show: hence the second bound.
_BATCH_BYTES = 16 * 2**20
_BATCH_GRAPHS = 64

# How many roundings of a number of size 1 a channel may differ by and still count as constant.
_ROUNDINGS = 1e4

# Rows of the matrix of distances that are held at a time.
_BLOCK = 256


class Separated(NamedTuple):
    """What a network told apart.

    Args:
        value: The share of pairs of different graphs that it told apart, or None if it told a copy
            from its graph: then it tells names apart, and the share says nothing.
        copies: What it told apart of the same graph.
        details: The numbers behind, by name; distances are in the unit of the threshold.
    """

    value: float | None
    copies: Copies
    details: dict[str, float | int | str | None]


def separate(
    model: torch.nn.Module,
    row: Row,
    graphs: Sequence[Graph],
    settings: Separation,
    *,
    seed: int,
    device: torch.device,
) -> Separated:
    """Count the pairs of graphs that a network without training tells apart.

    A network that depends on nothing but the graph gives a relabelled copy the same row, up to
    rounding. So copies are looked at too, and one that is told apart makes the count void.

    Args:
        model: The network, with its first weights; on `device` afterwards.
        row: The row it was built from.
        graphs: Graphs that are pairwise different.
        settings: What counts as apart.
        seed: Of the new names.
        device: Where to compute.

    Returns:
        The share, the copies and the numbers behind.
    """
    dtype = getattr(torch, settings.precision)
    model = model.to(device, dtype)
    rows = _Rows(model, row, dtype, device)
    if settings.calibrate and graphs:
        _calibrate(model, next(rows.batches(graphs)))
    model.eval()
    base = rows.embedded(graphs)
    unit = float(base.norm(dim=1).mean()) if settings.relative else 1.0
    limit = settings.threshold * unit
    apart, nearest = _count_apart(base, limit)
    copies_apart, furthest = 0, 0.0
    for copy in range(settings.copies):
        names = np.random.default_rng((seed, copy))
        renamed = (relabelled(graph, names.permutation(graph.num_nodes)) for graph in graphs)
        distances = (base - rows.embedded(renamed)).norm(dim=1)
        copies_apart += int((distances > limit).sum())
        furthest = max(furthest, float(distances.max()))
    pairs = len(graphs) * (len(graphs) - 1) // 2
    details: dict[str, float | int | str | None] = {
        "pairs": pairs,
        "pairs_separated": apart,
        "smallest_distance": nearest / (unit or 1.0),
        "largest_copy_distance": furthest / (unit or 1.0),
        "mean_norm": float(base.norm(dim=1).mean()),
    }
    copies = Copies(pairs=settings.copies * len(graphs), separated=copies_apart)
    return Separated(None if copies_apart else apart / pairs, copies, details)


class _Rows(NamedTuple):
    """From graphs to the rows a network gives them, a few graphs at a time."""

    model: torch.nn.Module
    row: Row
    dtype: torch.dtype
    device: torch.device

    def batches(self, graphs: Iterable[Graph]) -> Iterator[CycleData]:
        items: list[Data] = []
        held = 0
        for graph in graphs:
            data = separation_data(graph, self.row.protocol)
            item = prepared(self.row, [data], dtype=self.dtype)[0]
            size = sum(v.nbytes for v in item.to_dict().values() if isinstance(v, Tensor))
            if items and (held + size > _BATCH_BYTES or len(items) == _BATCH_GRAPHS):
                yield self._joined(items)
                items, held = [], 0
            items.append(item)
            held += size
        if items:
            yield self._joined(items)

    def _joined(self, items: list[Data]) -> Any:
        joined: Any = Batch.from_data_list([*items])
        return joined.to(self.device)

    @torch.inference_mode()
    def embedded(self, graphs: Iterable[Graph]) -> Float[Tensor, "b o"]:
        """One row for each graph, in float64 whatever the network computes in."""
        return torch.cat([self.model(batch).double() for batch in self.batches(graphs)])


@torch.inference_mode()
def _calibrate(model: torch.nn.Module, batch: CycleData) -> None:
    """Set the statistics of every normalisation to those of its rows in a batch.

    At its first statistics a deep network in evaluation mode may be constant. All channels share
    one variance, their mean: each by its own, those in which graphs hardly differ would be blown up
    together with their rounding, in one normalisation after the other, until copies of a graph
    look different. Where no channel varies at all but for rounding, nothing is normalised.
    """

    def measure(norm: Any, inputs: tuple[Tensor, ...]) -> None:
        rows = inputs[0].flatten(0, -2)
        variances, mean = torch.var_mean(rows, dim=0, unbiased=False)
        size = (variances + mean.square()).mean()
        rounding = _ROUNDINGS * torch.finfo(rows.dtype).eps
        varies = variances.mean() > rounding**2 * size.clamp(min=1.0)
        norm.running_mean.copy_(torch.where(varies, mean, 0.0))
        norm.running_var.copy_(torch.where(varies, variances.mean(), 1.0))

    model.eval()
    norms = [m for m in model.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
    hooks = [norm.register_forward_pre_hook(measure) for norm in norms]
    try:
        model(batch)
    finally:
        for hook in hooks:
            hook.remove()


def _count_apart(rows: Float[Tensor, "b o"], limit: float) -> tuple[int, float]:
    """How many pairs of rows are further apart than a limit, and the smallest distance."""
    count, nearest = 0, float("inf")
    for start in range(0, len(rows) - 1, _BLOCK):
        block = rows[start : start + _BLOCK]
        # By differences: products would lose the small distances.
        distances = torch.cdist(block, rows[start:], compute_mode="donot_use_mm_for_euclid_dist")
        later = torch.ones_like(distances, dtype=torch.bool).triu(diagonal=1)
        count += int((distances[later] > limit).sum())
        nearest = min(nearest, float(distances[later].min()))
    return count, nearest
