"""What the rows about networks measure. torch is loaded with this file, so load it late."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import accumulate
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import relu
from torch.profiler import ProfilerActivity, profile
from torch_geometric.data import Batch, Data

from cyclenet.bench.clock import Patience, Rival, race
from cyclenet.bench.dense import dense_pair_layer, dense_peoi, padded
from cyclenet.bench.families import graphs_of
from cyclenet.bench.measures import Measured
from cyclenet.experiments.build import build_model, prepared
from cyclenet.experiments.spec import Part, Row
from cyclenet.experiments.tasks import TASKS, loss_of
from cyclenet.nn.encoders import PEOIEncoder
from cyclenet.nn.encoders.matrices import Matrix, entries_of, pair_index
from cyclenet.nn.layers.equivariant import PairLayer
from cyclenet.transforms import AddCycleProjector, AddShortestCycleBasis

# Rounding of two orders of summation in float64, beside the largest entry.
TOLERANCE = 1e-11

_BATCH = 128
_CHANNELS = 64
_GRAPHS_OF_A_STEP = 16
_WARM_UP = 3

GIN = Part("gin")
ENCODERS = {
    "light PEOI": Part("peoi", {"cycles": "basis", "form": "light"}),
    "projector, contracted": Part("projector", {"depth": "contracted"}),
    "projector, pairs": Part("projector", {"on": "arcs", "depth": "pairs"}),
}


class Contest(NamedTuple):
    """The same network in two forms.

    Args:
        network: Its parameters.
        ours: The outputs of our form on all graphs, as rows; it takes the type of its numbers.
        peer: The same from the dense form.
    """

    network: torch.nn.Module
    ours: Callable[[], Tensor]
    peer: Callable[[], Tensor]


def peoi_against_dense(family: str, patience: Patience) -> Measured:
    """Forward and backward of PEOI on a batch, against the tensor over pairs of edges."""
    return _timed(_peoi, family, patience)


def peoi_memory_against_dense(family: str, patience: Patience) -> Measured:
    """Peak memory of one forward and backward of PEOI against that of the dense form.

    Counted exactly, byte by byte as torch allocates and frees them, by its profiler; graphs and
    weights are there before and do not count.

    Args:
        family: The graphs.
        patience: Not needed: the count is the same every time.

    Returns:
        Bytes for each graph in place of microseconds.
    """
    torch.set_num_threads(1)
    agree, _ = _agreement(_peoi(family, torch.float64))
    contest = _peoi(family, torch.float32)
    ours, theirs = (_peak_bytes(contest.network, form) for form in (contest.ours, contest.peer))
    note = (
        f"peak bytes of torch, {ours / 2**20:.1f} against {theirs / 2**20:.0f} MiB; the time "
        "columns are bytes for each graph"
    )
    return Measured(ours / _BATCH, theirs / _BATCH, ours / theirs, agree, note)


def pair_layers_against_dense(family: str, patience: Patience) -> Measured:
    """Forward and backward of two layers from pairs to pairs, against fifteen padded matrices."""
    return _timed(_pair_layers, family, patience)


def step_against_bare(encoder: str, task: str, patience: Patience) -> Measured:
    """A training step of GIN with an encoder against that of GIN alone, on the same graphs.

    The networks are those of the experiments. They are two networks and give two answers, so all
    there is to check is that both losses are numbers.

    Args:
        encoder: A key of `ENCODERS`.
        task: Where the graphs come from.
        patience: How long to measure.

    Returns:
        The time of our step over that of the bare network.
    """
    torch.set_num_threads(1)
    steps = [_training_step(task, part) for part in (ENCODERS[encoder], None)]
    for step in steps:
        for _ in range(_WARM_UP):
            step()
    found = race(Rival(steps[0]), Rival(steps[1]), patience)
    ours, alone = (1e6 * taken / _GRAPHS_OF_A_STEP for taken in (found.ours, found.peer))
    agree = all(torch.isfinite(loss) for loss in (found.our_answer, found.peer_answer))
    return Measured(ours, alone, found.ours / found.peer, bool(agree))


def _timed(
    make: Callable[[str, torch.dtype], Contest], family: str, patience: Patience
) -> Measured:
    """Time both forms in float32, once they have agreed in float64."""
    torch.set_num_threads(1)
    agree, error = _agreement(make(family, torch.float64))
    contest = make(family, torch.float32)
    ours, peer = (partial(_step, contest.network, form) for form in (contest.ours, contest.peer))
    found = race(Rival(ours), Rival(peer), patience)
    ours, theirs = (1e6 * taken / _BATCH for taken in (found.ours, found.peer))
    note = f"largest difference in float64 {error:.1e}"
    return Measured(ours, theirs, theirs / ours, agree, note)


def _agreement(contest: Contest) -> tuple[bool, float]:
    """Whether both forms have equal outputs and gradients, and their largest difference."""
    outputs, gradients = [], []
    for form in (contest.ours, contest.peer):
        contest.network.zero_grad()
        outputs.append(_step(contest.network, form))
        gradients.append([weight.grad.clone() for weight in contest.network.parameters()
                          if weight.grad is not None])  # fmt: skip
    errors = [
        float((one - other).abs().max() / other.abs().max().clamp(min=1))
        for one, other in zip([outputs[0], *gradients[0]], [outputs[1], *gradients[1]], strict=True)
    ]
    return max(errors) <= TOLERANCE, errors[0]


def _step(network: torch.nn.Module, form: Callable[[], Tensor]) -> Tensor:
    """Forward and backward; returns the outputs."""
    network.zero_grad()
    outputs = form()
    outputs.sum().backward()
    return outputs.detach()


@cache
def _batch(family: str, dtype: torch.dtype) -> tuple[Any, list[Any]]:
    """Graphs of a family with their numbers, as one batch and one by one."""
    bases, projectors = AddShortestCycleBasis(dtype=dtype), AddCycleProjector(dtype=dtype)
    items = []
    for edges, num_nodes in graphs_of(family)[:_BATCH]:
        arcs = torch.from_numpy(edges)
        item = Data(edge_index=torch.cat((arcs, arcs.flip(0)), dim=1), num_nodes=num_nodes)
        items.append(projectors(bases(item)))
    return Batch.from_data_list(items), items


def _is_real(sizes: list[int]) -> Tensor:
    return torch.arange(max(sizes)) < torch.tensor(sizes).unsqueeze(1)


def _peoi(family: str, dtype: torch.dtype) -> Contest:
    batch, items = _batch(family, dtype)
    torch.manual_seed(0)
    encoder = PEOIEncoder(_CHANNELS).to(dtype)
    matrices = []
    for item in items:
        one = torch.zeros(item.edges.size(1), int(item.num_cycles), 1, dtype=dtype)
        one[tuple(item.cycle_incidence)] = 1
        matrices.append(one)
    entries = padded(matrices)
    edges, cycles = (_is_real([one.size(dim) for one in matrices]) for dim in (0, 1))
    return Contest(
        encoder,
        lambda: encoder.encode_edges(batch),
        lambda: dense_peoi(encoder, entries, edges, cycles)[edges],
    )


def _pair_layers(family: str, dtype: torch.dtype) -> Contest:
    batch, items = _batch(family, dtype)
    torch.manual_seed(0)
    layers = torch.nn.ModuleList((PairLayer(1, _CHANNELS), PairLayer(_CHANNELS, _CHANNELS)))
    layers = layers.to(dtype)
    matrix = Matrix("projector", "abs")
    numbers = entries_of(matrix, batch, pair_index(batch, matrix.sheets), dtype)
    sizes = [item.edges.size(1) for item in items]
    parts = numbers.split([size**2 for size in sizes])
    matrices = padded([part.view(m, m, 1) for part, m in zip(parts, sizes, strict=True)])
    edges = _is_real(sizes)
    inside = edges.unsqueeze(2) & edges.unsqueeze(1)

    def ours() -> Tensor:
        entries, index = numbers, pair_index(batch, matrix.sheets)
        for layer in layers:
            entries = relu(layer(entries, index))
        return entries.squeeze(1)

    def theirs() -> Tensor:
        entries = matrices
        for layer in layers:
            entries = relu(dense_pair_layer(layer, entries, edges))  # pyright: ignore[reportArgumentType]
        return entries[inside]

    return Contest(layers, ours, theirs)


def _training_step(task: str, encoder: Part | None) -> Callable[[], Tensor]:
    """Forward, backward and Adam of the network of a row, on the first graphs of its task."""
    kind, row = TASKS[task], Row("GIN", backbone=GIN, encoder=encoder)
    batch: Any = Batch.from_data_list(list(prepared(row, _first_graphs(task))))
    torch.manual_seed(0)
    model = build_model(row, kind).train()
    optimiser = torch.optim.Adam(model.parameters(), fused=True)

    def step() -> Tensor:
        optimiser.zero_grad(set_to_none=True)
        loss = loss_of(kind, model(batch), batch.y)
        loss.backward()
        optimiser.step()
        return loss.detach()

    return step


@cache
def _first_graphs(task: str) -> Sequence[Data]:
    splits = TASKS[task].splits
    assert splits is not None
    train = splits("honest", 0).train
    assert isinstance(train, list)
    return train[:_GRAPHS_OF_A_STEP]


def _peak_bytes(network: torch.nn.Module, form: Callable[[], Tensor]) -> int:
    """The most that torch held at a time during one step, beyond what it held before."""
    _step(network, form)  # what is made once is there now
    network.zero_grad()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as recorded:
        _step(network, form)
    recorder: Any = recorded.profiler
    events = [event for event in recorder.kineto_results.events() if event.name() == "[memory]"]
    sizes = [event.nbytes() for event in sorted(events, key=lambda event: event.start_ns())]
    return max(accumulate(sizes), default=0)
