"""The training loop: an epoch, a look at the validation graphs, and again; at last the test."""

import copy
import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.optim.lr_scheduler import ReduceLROnPlateau

from cyclenet.data import CycleData
from cyclenet.experiments.record import Curve
from cyclenet.experiments.spec import Training
from cyclenet.experiments.tasks import TaskKind, loss_of, metric_of
from cyclenet.nn.layers import real_rows
from cyclenet.runner.batches import Filled, GraphStore
from cyclenet.runner.capture import WORTH_FUSING, FixedSteps, Recorded, fused
from cyclenet.runner.checkpoint import Keeper, Snapshot, Tensors, cloned
from cyclenet.runner.ranks import Ranks

# Graphs that are only looked at need no gradients, so more of them fit at a time.
_LOOKED_AT = 4


class Progress(NamedTuple):
    """How far a training is, after each epoch.

    Args:
        epoch: Epochs done.
        epochs: Epochs at most.
        train_loss: Loss of the epoch.
        metric: Metric on the graphs that epochs are chosen by.
        seconds: Seconds that the epoch took.
    """

    epoch: int
    epochs: int
    train_loss: float
    metric: float
    seconds: float


Watch = Callable[[Progress], None]
Steps = Literal["plain", "filled", "fused"]


class Sets(NamedTuple):
    """Graphs with the numbers that a row reads.

    Args:
        train: What weights are fitted to.
        validation: What choices are made on; may be empty under the published procedure.
        test: What is reported.
    """

    train: Sequence[CycleData]
    validation: Sequence[CycleData]
    test: Sequence[CycleData]


class TrainingFailed(ArithmeticError):
    """A loss that is no number any more.

    Args:
        message: The loss, the epoch, the step and the graphs of its batch.
        curve: The course up to there.
    """

    def __init__(self, message: str, curve: Curve) -> None:
        super().__init__(message)
        self.curve = curve


class Fitted(NamedTuple):
    """What came of a training; the network holds the weights of the chosen epoch.

    Args:
        value: The metric on the test graphs.
        chosen_epoch: The epoch whose weights these are, counted from 1.
        curve: The course.
        seconds_per_epoch: Of training, without looking at other graphs: the median.
        seconds_before: That processes before this one spent on it.
        details: Other numbers, by name.
    """

    value: float
    chosen_epoch: int
    curve: Curve
    seconds_per_epoch: float
    seconds_before: float
    details: dict[str, float | int | str | None]


def fit(
    model: torch.nn.Module,
    kind: TaskKind,
    sets: Sets,
    settings: Training,
    *,
    seed: int,
    device: torch.device,
    keeper: Keeper | None = None,
    ranks: Ranks | None = None,
    watch: Watch | None = None,
    steps: Steps | None = None,
) -> Fitted:
    """Train a network, choose an epoch, and evaluate its weights once on the test graphs.

    The laws. Everything random is a function of the seed and the epoch: the order of the graphs,
    and what a network draws. So a training that is stopped anywhere and continued from a
    checkpoint ends with the same weights, bit for bit on a CPU. And under the honest protocol
    neither the weights nor the chosen epoch depend on the test graphs, which are looked at after
    every epoch for the record only.

    Args:
        model: The network, with its first weights; on `device` afterwards.
        kind: The task.
        sets: Its graphs.
        settings: How to train.
        seed: The seed.
        device: Where to train.
        keeper: Keeps checkpoints, and the one to continue from; None keeps none.
        ranks: The processes that share each batch; None for this one alone.
        watch: Told of every epoch.
        steps: How steps are taken, all to the same end up to rounding: one by one, ``"plain"``; on
            batches ``"filled"`` up to one size, which a GPU replays; or ``"fused"``, with the
            network compiled as well. None takes what suits the device, the network and the number
            of steps.

    Returns:
        What came of it.

    Raises:
        TrainingFailed: If a loss is no number any more.
    """
    ranks = ranks or Ranks()
    if steps is None:
        steps = _suited_steps(model, len(sets.train), settings, device, ranks)
    training = _Training(model, kind, sets, settings, seed, device, ranks, steps)
    training.resume(None if keeper is None else keeper.newest())
    try:
        while not training.is_over():
            training.run_epoch()
            if keeper is not None:
                keeper.offer(training.snapshot())
            if watch is not None:
                watch(training.progress())
    except BaseException:  # an interruption too: what is done stays done
        if keeper is not None:
            keeper.flush()
        raise
    return training.result()


@dataclass
class _Course:
    """What has happened so far: everything that is not a tensor."""

    best_epoch: int = 0
    best_score: float = math.inf
    train_loss: list[float] = field(default_factory=list)
    validation_loss: list[float] = field(default_factory=list)
    validation_metric: list[float] = field(default_factory=list)
    test_loss: list[float] = field(default_factory=list)
    test_metric: list[float] = field(default_factory=list)
    lr: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    spent: float = 0.0

    @property
    def epochs(self) -> int:
        return len(self.train_loss)

    def curve(self) -> Curve:
        lists = {one.name: tuple(getattr(self, one.name)) for one in fields(Curve)}
        return Curve(**lists)


class _Scale(NamedTuple):
    r"""From what the network says to a prediction: $y = \sigma z + \mu$.

    All outputs share one deviation, so the loss on z is that on y in another unit, and the
    network learns the same under both.
    """

    mean: Float[Tensor, " t"]
    deviation: float
    unit: float

    @classmethod
    def of(cls, kind: TaskKind, settings: Training, target: Float[Tensor, "b t"]) -> "_Scale":
        if not settings.standardise:
            return cls(torch.zeros_like(target[0]), 1.0, 1.0)
        if kind.loss in ("bce", "ce"):
            raise ValueError("`standardise` needs targets that are numbers, but these are labels")
        mean = target.mean(dim=0)
        deviation = float((target - mean).square().mean().sqrt()) or 1.0
        return cls(mean, deviation, deviation**2 if kind.loss == "mse" else deviation)

    def predicted(self, model: Callable[..., Tensor], batch: CycleData) -> Float[Tensor, "b t"]:
        return model(batch) * self.deviation + self.mean


class _LookedAt:
    """Graphs that are evaluated and never trained on, joined to batches once."""

    def __init__(
        self,
        kind: TaskKind,
        items: Sequence[CycleData],
        batch_size: int,
        device: torch.device,
        ranks: Ranks,
        replays: bool,
    ) -> None:
        self.size = len(items)
        self.target = _targets(items).to(device) if items else torch.zeros(0, 1)
        ends = np.cumsum([0, *_num_rows(items)])
        owner = torch.arange(len(items)).repeat_interleave(torch.from_numpy(np.diff(ends)))
        self.graph = owner.to(device) if kind.of_edges else None
        self._out_channels, self._ranks = kind.out_channels, ranks
        self._batches: list[tuple[int, Any]] = []
        if items:
            store = GraphStore(items, device)
            for start in range(0, len(items), batch_size)[ranks.rank :: ranks.world]:
                ids = range(start, min(start + batch_size, len(items)))
                self._batches.append((int(ends[start]), store.take(ids)))
        self._replays = replays
        self._recorded: Recorded | None = None

    def predictions(self, model: torch.nn.Module, scale: _Scale) -> Float[Tensor, "b t"]:
        """What the network says of every graph; each rank asks it about its share."""
        model.eval()
        if not self._replays:
            return self._predicted(model, scale)
        if self._recorded is None:
            self._recorded = Recorded(lambda: self._predicted(model, scale), self.target.device)
        return self._recorded()

    @torch.inference_mode()
    def _predicted(self, model: torch.nn.Module, scale: _Scale) -> Float[Tensor, "b t"]:
        found = self.target.new_zeros(self.target.size(0), self._out_channels)
        for start, batch in self._batches:
            found[start : start + batch.y.size(0)] = scale.predicted(model, batch)
        return self._ranks.total(found)


class _Training:
    """A training at some point of its course."""

    def __init__(
        self,
        model: torch.nn.Module,
        kind: TaskKind,
        sets: Sets,
        settings: Training,
        seed: int,
        device: torch.device,
        ranks: Ranks,
        steps: Steps,
    ) -> None:
        _check(sets, settings)
        self.model = model.to(device)
        self.kind, self.settings, self.seed, self.ranks = kind, settings, seed, ranks
        self.train = GraphStore(sets.train, device)
        self.num_rows = np.array(_num_rows(sets.train))
        looked_at = settings.batch_size * _LOOKED_AT
        # What a GPU replays reads the learning rate there.
        self.replays = steps != "plain" and device.type == "cuda"
        self.validation = _LookedAt(kind, sets.validation, looked_at, device, ranks, self.replays)
        self.test = _LookedAt(kind, sets.test, looked_at, device, ranks, self.replays)
        self.scale = _Scale.of(kind, settings, _targets(sets.train).to(device))
        self.weights = [weight for weight in model.parameters() if weight.requires_grad]
        adam = torch.optim.AdamW if settings.decoupled else torch.optim.Adam
        self.optimiser = adam(
            self.weights,
            lr=self._as_lr(settings.lr),
            weight_decay=settings.weight_decay,
            fused=True,
            capturable=self.replays,
        )
        self.plateau = ReduceLROnPlateau(
            self.optimiser,
            factor=settings.lr_factor,
            patience=settings.lr_patience,
            min_lr=0.0 if self._ends_at_min_lr else settings.min_lr,
        )
        self.mean = _RunningMean(model, settings.average) if settings.average else None
        self.course = _Course()
        self.started, self.spent_before = time.perf_counter(), 0.0
        self.last: Tensors = {}
        self.best: Tensors = {}
        self.network = fused(self.model) if steps == "fused" else self.model
        self.fixed = None if steps == "plain" else self._fixed_steps()

    def _fixed_steps(self) -> FixedSteps | None:
        """The steps as a GPU replays them, or None where some batch has too few rows for it."""
        epochs = [self._batches(epoch) for epoch in range(self.settings.epochs)]
        try:
            return FixedSteps(self.train, self._filled_step, epochs, self._changed)
        except ValueError:
            return None

    def _as_lr(self, lr: float) -> float | Tensor:
        device = self.train.device
        return torch.tensor(lr, device=device) if self.replays else lr

    @property
    def _ends_at_min_lr(self) -> bool:
        """The published synthetic trainings stay at the lowest learning rate, the others end."""
        return self.settings.schedule == "plateau" and self.settings.lr_watches == "validation"

    @property
    def _lr(self) -> float:
        return float(self.optimiser.param_groups[0]["lr"])

    @property
    def _judged(self) -> torch.nn.Module:
        """The network with the weights that are evaluated."""
        return self.model if self.mean is None else self.mean.model

    def is_over(self) -> bool:
        """After the last epoch, or when the learning rate has come down to its end."""
        too_low = self._ends_at_min_lr and self._lr < self.settings.min_lr
        return self.course.epochs >= self.settings.epochs or too_low

    def run_epoch(self) -> None:
        """Train on every graph once, then look at the others."""
        if self.settings.schedule == "cosine":
            self._set_lr(_on_wave(self.settings, self.course.epochs))
        course, epoch, lr = self.course, self.course.epochs, self._lr
        started = time.perf_counter()
        batches = self._batches(epoch)
        torch.manual_seed(_random(self.seed, epoch, self.ranks.rank).integers(2**62).item())
        self.model.train()
        if self.fixed is None:
            losses = torch.stack([self._step(ids) for ids in batches])
        else:
            losses = self.fixed.run(batches, self._plateau_step if self._watches_batches else None)
        listed = self.ranks.total(losses).tolist()
        seconds = time.perf_counter() - started
        validation, test = self._look(self.validation), self._look(self.test)
        self._check_finite(listed, validation[0] if self.validation.size else test[0], batches)
        course.lr.append(lr)
        course.seconds.append(seconds)
        sizes = np.array([self.num_rows[ids].sum() for ids in batches])
        course.train_loss.append(float((np.array(listed) * sizes).sum() / sizes.sum()))
        if self.validation.size:
            course.validation_loss.append(validation[0])
            course.validation_metric.append(validation[1])
        course.test_loss.append(test[0])
        course.test_metric.append(test[1])
        self._keep()
        self._lower_lr()
        course.spent = self.spent_before + time.perf_counter() - self.started

    def progress(self) -> Progress:
        course = self.course
        metrics = course.validation_metric or course.test_metric
        return Progress(
            course.epochs,
            self.settings.epochs,
            course.train_loss[-1],
            metrics[-1],
            course.seconds[-1],
        )

    def snapshot(self) -> Snapshot:
        """Everything that the rest of the training depends on."""
        moments = {
            f"{index}.{name}": value
            for index, values in self.optimiser.state_dict()["state"].items()
            for name, value in values.items()
        }
        state = {
            "course": asdict(self.course),
            "plateau": {k: v for k, v in self.plateau.state_dict().items() if k != "_last_lr"},
            "lr": self._lr,
        }
        if self.mean is not None:
            moments |= {f"mean.{name}": value for name, value in self.mean.state().items()}
        step = self.course.epochs * len(self._batches(0))
        return Snapshot(step, state, self.last, self.best, cloned(moments))

    def resume(self, snapshot: Snapshot | None) -> None:
        """Go on where a snapshot was taken."""
        if snapshot is None:
            return
        device = self.train.device
        self.last, self.best = (
            {name: value.to(device) for name, value in part.items()}
            for part in (snapshot.model, snapshot.best)
        )
        self.model.load_state_dict(self.last)
        self.course = _Course(**snapshot.state["course"])
        self.spent_before = self.course.spent
        self.plateau.load_state_dict(snapshot.state["plateau"])
        values: dict[int, dict[str, Tensor]] = {}
        for key, value in snapshot.optim.items():
            index, _, name = key.partition(".")
            if index == "mean" and self.mean is not None:
                self.mean.state()[name].copy_(value)
            else:
                values.setdefault(int(index), {})[name] = value
        groups = self.optimiser.state_dict()["param_groups"]
        groups[0]["lr"] = self._as_lr(snapshot.state["lr"])
        self.optimiser.load_state_dict({"state": values, "param_groups": groups})

    def result(self) -> Fitted:
        """Evaluate the weights of the chosen epoch."""
        course = self.course
        for model in (self.model, self._judged):
            model.load_state_dict(self.best)
        value = self._look(self.test)[1]
        best = max if self.kind.higher_is_better else min
        details: dict[str, float | int | str | None] = {
            "epochs": course.epochs,
            "train_loss_last_epoch": course.train_loss[-1],
            "test_last_epoch": course.test_metric[-1],
            "test_best_epoch": best(course.test_metric),
        }
        if course.validation_metric:
            details["validation"] = course.validation_metric[course.best_epoch - 1]
        seconds = statistics.median(course.seconds)
        return Fitted(value, course.best_epoch, course.curve(), seconds, self.spent_before, details)

    def _batches(self, epoch: int) -> list[np.ndarray]:
        """The graphs of each step: a function of the seed and the epoch."""
        order = _random(self.seed, epoch).permutation(len(self.train))
        size = self.settings.batch_size
        return [order[start : start + size] for start in range(0, len(order), size)]

    def _step(self, ids: np.ndarray) -> Float[Tensor, ""]:
        """One step of the optimiser; returns this rank's part of the loss."""
        mine = ids[self.ranks.rank :: self.ranks.world]
        batch = self.train.take(mine)
        prediction = self.scale.predicted(self.model, batch)
        # A rank without a target still takes part in what ranks do together.
        here, total = self.num_rows[mine].sum(), self.num_rows[ids].sum()
        loss = loss_of(self.kind, prediction, batch.y) if here else prediction.sum()
        loss = self._update(loss * (here / max(total, 1)))
        if self._watches_batches:
            self._plateau_step(self.ranks.total(loss.clone()))
        return loss

    def _filled_step(self, filled: Filled) -> Float[Tensor, ""]:
        """The same step on a batch of fixed size."""
        with real_rows(filled.real):
            prediction = self.scale.predicted(self.network, filled.batch)
        weight, target = filled.held.to(prediction.dtype), filled.batch.y
        if self.kind.of_edges:
            weight = torch.cat((weight, weight.new_zeros(1)))  # that of the filler
            weight = weight.index_select(0, filled.batch.graph_of("edges"))
        else:
            prediction, target = prediction[:-1], target[:-1]
        return self._update(loss_of(self.kind, prediction, target, weight))

    def _update(self, loss: Float[Tensor, ""]) -> Float[Tensor, ""]:
        """Change the weights by the gradient of a loss; returns the loss without its graph."""
        self.optimiser.zero_grad(set_to_none=True)
        (loss / self.scale.unit).backward()
        self.ranks.sum_gradients(self.weights)
        if self.settings.clip_norm:
            torch.nn.utils.clip_grad_norm_(self.weights, self.settings.clip_norm)
        self.optimiser.step()
        if self.mean is not None:
            self.mean.take_in()
        return loss.detach()

    @property
    def _watches_batches(self) -> bool:
        return self.settings.schedule == "plateau" and self.settings.lr_watches == "train_batch"

    def _set_lr(self, lr: float) -> None:
        group = self.optimiser.param_groups[0]
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(lr)
        else:
            group["lr"] = lr

    def _plateau_step(self, loss: Tensor) -> None:
        self.plateau.step(float(loss))

    def _changed(self) -> Iterator[Tensor]:
        """All tensors that a step changes."""
        yield from self.model.parameters()
        yield from self.model.buffers()
        for moments in self.optimiser.state.values():
            yield from moments.values()
        if self.mean is not None:
            yield from self.mean.changed()

    def _look(self, graphs: _LookedAt) -> tuple[float, float]:
        """Loss and metric on graphs that are not trained on."""
        if not graphs.size:
            return math.nan, math.nan
        prediction = graphs.predictions(self._judged, self.scale)
        loss = loss_of(self.kind, prediction, graphs.target)
        return float(loss), metric_of(self.kind, prediction, graphs.target, graphs.graph)

    def _check_finite(
        self, losses: Sequence[float], looked_at: float, batches: Sequence[np.ndarray]
    ) -> None:
        """Refuse a loss that is no number; weights are, if what they are asked for is not.

        Raises:
            TrainingFailed: With the first step that went wrong and its graphs.
        """
        values = [*losses, looked_at]
        bad = next((i for i, loss in enumerate(values) if not math.isfinite(loss)), None)
        if bad is None:
            return
        step = min(bad, len(batches) - 1)
        when = "in" if bad < len(batches) else "after"
        raise TrainingFailed(
            f"the loss is {values[bad]} {when} step {step + 1} of epoch {self.course.epochs + 1}, "
            f"whose batch are the training graphs {batches[step].tolist()}",
            self.course.curve(),
        )

    def _keep(self) -> None:
        """Keep the weights of this epoch, as the best ones if no epoch before was as good."""
        course = self.course
        losses, metrics = course.test_loss, course.test_metric
        if self.settings.select_on == "validation":
            losses, metrics = course.validation_loss, course.validation_metric
        score = losses[-1]
        if self.settings.select_by == "metric":
            score = -metrics[-1] if self.kind.higher_is_better else metrics[-1]
        self.last = judged = cloned(self.model.state_dict())
        if self.mean is not None:
            judged = cloned(self.mean.model.state_dict())
        if self.settings.select_on == "last" or score < course.best_score:
            course.best_score, course.best_epoch, self.best = score, course.epochs, judged

    def _lower_lr(self) -> None:
        """Let the schedule see the loss that it watches, unless it has seen every batch."""
        if self.settings.schedule != "plateau":
            return
        if self.settings.lr_watches == "validation":
            self.plateau.step(self.course.validation_loss[-1])
        elif self.settings.lr_watches == "test":
            self.plateau.step(self.course.test_loss[-1])


def _check(sets: Sets, settings: Training) -> None:
    """Refuse sets that cannot be trained on as asked.

    Raises:
        ValueError: If a set that is needed is empty.
    """
    asked = {settings.select_on}
    if settings.schedule == "plateau":
        asked.add(settings.lr_watches)
    for name, items in zip(sets._fields, sets, strict=True):
        if not items and (name != "validation" or "validation" in asked):
            raise ValueError(f"`sets` must have {name} graphs, but there are none")


class _RunningMean:
    r"""A copy of a network whose weights are a running mean of its weights.

    After step t of the network, $\bar w \leftarrow d \bar w + (1 - d) w$ with
    $d = \min(\delta, (1 + t)/(10 + t))$: the first weights, which mean nothing, are soon forgotten.
    The running statistics of normalisations are averaged the same way.
    """

    def __init__(self, model: torch.nn.Module, memory: float) -> None:
        self.model = copy.deepcopy(model).requires_grad_(False).eval()
        self._memory = memory
        pairs = zip(self.model.state_dict().values(), model.state_dict().values(), strict=True)
        pairs = [pair for pair in pairs if pair[0].is_floating_point()]
        self._means, self._weights = [mean for mean, _ in pairs], [weight for _, weight in pairs]
        # In the type of the weights, or the GPU would take their tensors one by one.
        self._steps = torch.zeros_like(self._means[0].flatten()[0])

    def state(self) -> dict[str, Tensor]:
        """What a checkpoint keeps, by name."""
        return {**self.model.state_dict(), "steps": self._steps}

    def changed(self) -> Iterator[Tensor]:
        """All tensors that a step changes."""
        yield from self.model.parameters()
        yield from self.model.buffers()
        yield self._steps

    @torch.no_grad()
    def take_in(self) -> None:
        """One step more; the device is asked for nothing."""
        self._steps += 1
        kept = ((1 + self._steps) / (10 + self._steps)).clamp(max=self._memory)
        foreach: Any = torch  # a few operations for all tensors; not in the types of torch
        foreach._foreach_mul_(self._means, kept)
        foreach._foreach_add_(self._means, foreach._foreach_mul(self._weights, 1 - kept))


def _on_wave(settings: Training, epoch: int) -> float:
    """The learning rate of an epoch, counted from 0: up along a line, then down half a wave."""
    if epoch < settings.warmup:
        return settings.lr * (epoch + 1) / (settings.warmup + 1)
    share = (epoch - settings.warmup) / max(settings.epochs - settings.warmup, 1)
    return settings.min_lr + (settings.lr - settings.min_lr) * (1 + math.cos(math.pi * share)) / 2


def _suited_steps(
    model: torch.nn.Module, num_graphs: int, settings: Training, device: torch.device, ranks: Ranks
) -> Steps:
    """How to take steps where nobody says: see `fit`."""
    asks_for_sizes = any(getattr(part, "reads_sizes", False) for part in model.modules())
    if device.type != "cuda" or ranks.world > 1 or asks_for_sizes:
        return "plain"
    num_steps = settings.epochs * math.ceil(num_graphs / settings.batch_size)
    return "fused" if num_steps >= WORTH_FUSING else "filled"


def _targets(items: Sequence[CycleData]) -> Float[Tensor, "b t"]:
    return torch.cat([item.y for item in items])  # pyright: ignore[reportArgumentType]


def _num_rows(items: Sequence[CycleData]) -> list[int]:
    """How many rows of targets each graph has."""
    return [item.y.size(0) for item in items]  # pyright: ignore[reportAttributeAccessIssue]


def _random(*key: int) -> np.random.Generator:
    return np.random.default_rng(key)
