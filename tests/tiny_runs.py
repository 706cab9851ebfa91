"""Runs that take a fraction of a second, and a task of our own for the training loop."""

from dataclasses import replace

import torch
from torch import Tensor

from cyclenet import CycleData
from cyclenet.experiments.spec import Part, Row, Run, Separation, Task, Training
from cyclenet.experiments.tasks import TaskKind
from cyclenet.nn.layers import mean_pool
from cyclenet.runner.fit import Sets

CPU = torch.device("cpu")

SETTINGS = Training(epochs=5, batch_size=4, lr=0.03)

# Numbers to be predicted, two for each graph.
KIND = TaskKind(
    "means of features", loss="mse", metric="MAE", higher_is_better=False, in_channels=3,
    edge_channels=0, out_channels=2,
)  # fmt: skip


def run(task: str = "3-cfi", *, epochs: int = 4, limit: int = 16, seed: int = 0, **settings) -> Run:
    """A small GIN on a few graphs."""
    row = Row("GIN", backbone=Part("gin", {"hidden_channels": 8, "num_layers": 2}))
    how = Training(epochs, batch_size=6, **settings)
    return Run("tiny", Task(task, task, how), row, seed, limit=limit)


def baseline_run() -> Run:
    """A rule without a network."""
    return replace(run(), row=Row("constant", baseline=Part("constant")))


def separation_run(**changes) -> Run:
    """A small GIN that is asked to tell two graphs apart, untrained."""
    return replace(run(), task=Task("sr16622", "SR", Separation(copies=2, **changes)), limit=0)


def graphs(count: int, *, seed: int = 0, dtype: torch.dtype = torch.float32) -> list[CycleData]:
    """Rings of random sizes with chords and random features; the target is a function of these."""
    generator = torch.Generator().manual_seed(seed)
    items = []
    for _ in range(count):
        n = int(torch.randint(5, 10, (1,), generator=generator))
        x = torch.randn(n, KIND.in_channels, generator=generator, dtype=torch.float64)
        ring = torch.arange(n)
        arcs = torch.stack((ring, (ring + 1) % n))
        arcs = torch.cat((arcs, torch.tensor([[0, 0], [2, n - 2]])), dim=1)  # no two edges alike
        target = x.mean(0)[: KIND.out_channels].square() + x.mean()
        items.append(
            CycleData(
                x=x.to(dtype),
                edge_index=torch.cat((arcs, arcs.flip(0)), dim=1),
                y=target.unsqueeze(0).to(dtype),
                num_nodes=n,
            )
        )
    return items


def sets(*, test_seed: int = 3, sizes: tuple[int, int, int] = (18, 7, 5), **options) -> Sets:
    """Graphs for training, validation and test."""
    seeds = (1, 2, test_seed)
    return Sets(*(graphs(n, seed=seed, **options) for n, seed in zip(sizes, seeds, strict=True)))


class Probe(torch.nn.Module):
    """The smallest network with everything that a training has to keep: weights and chance."""

    def __init__(self, *, dropout: float = 0.2, seed: int = 0) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.inner = torch.nn.Linear(KIND.in_channels, 8)
        self.drop = torch.nn.Dropout(dropout)
        self.outer = torch.nn.Linear(8, KIND.out_channels)

    def forward(self, batch: CycleData) -> Tensor:
        """One row for each graph."""
        pooled = mean_pool(self.inner(batch.x).tanh(), batch.batch, batch.num_joined)
        return self.outer(self.drop(pooled))
