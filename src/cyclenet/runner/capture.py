"""Steps of fixed shape, recorded once on a GPU and replayed without the host."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import torch
from torch import Tensor

from cyclenet.runner.batches import Filled, GraphStore, padded

# Calls before a recording, in which libraries choose their kernels and take their memory.
_WARM_UPS = 3


class Recorded:
    """A function of tensors that stay where they are, which a GPU replays as a whole.

    A small network gives a GPU hundreds of operations, each shorter than it takes the host to ask
    for it. A recording (a CUDA graph) is asked for once. On a CPU the function is simply called.

    Args:
        function: Reads and changes tensors in place, and returns tensors. It must not depend on
            anything else, nor ask for the value of a tensor.
        device: Where its tensors are.
        changed: Lists the tensors that it changes, which the calls that warm up must leave as they
            were. Those that only these calls make, such as moments of an optimiser, start at 0.
    """

    def __init__(
        self,
        function: Callable[[], Tensor],
        device: torch.device,
        changed: Callable[[], Iterable[Tensor]] = tuple,
    ) -> None:
        self._function, self._device, self._changed = function, device, changed
        self._graph: torch.cuda.CUDAGraph | None = None
        self._returned: Tensor | None = None

    def __call__(self) -> Tensor:
        """What the function returns; on a GPU the next call writes to the same tensor."""
        if self._device.type != "cuda":
            return self._function()
        if self._graph is None or self._returned is None:
            self._graph, self._returned = self._record()
        self._graph.replay()
        return self._returned

    def _record(self) -> tuple[torch.cuda.CUDAGraph, Tensor]:
        before = {id(tensor): tensor.detach().clone() for tensor in self._changed()}
        stream = torch.cuda.Stream(self._device)
        stream.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(stream):
            for _ in range(_WARM_UPS):
                self._function()
        torch.cuda.current_stream(self._device).wait_stream(stream)
        with torch.no_grad():
            for tensor in self._changed():
                known = before.get(id(tensor))
                tensor.zero_() if known is None else tensor.copy_(known)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            returned = self._function()
        return graph, returned


class FixedSteps:
    """The steps of every epoch, all of one shape.

    The law: `run` takes the steps that taking its batches one by one would, up to rounding. Which
    graphs a step reads stands in a table on the device, and a counter there says which row is next,
    so that nothing changes from one step to the next but numbers on the device.

    Args:
        store: The graphs.
        step: Takes a filled batch, changes the weights, and returns the loss.
        epochs: All batches of all epochs, which decide how large they are.
        changed: Lists the tensors that a step changes: weights, statistics, moments.

    Raises:
        ValueError: If the batches cannot be filled up to one size.
    """

    def __init__(
        self,
        store: GraphStore,
        step: Callable[[Filled], Tensor],
        epochs: Sequence[Sequence[np.ndarray]],
        changed: Callable[[], Iterable[Tensor]],
    ) -> None:
        self._store, self._step = store, step
        self._room = store.room([ids for batches in epochs for ids in batches])
        most, device = max(len(batches) for batches in epochs), store.device
        self._ids = torch.zeros(most, self._room.slots, dtype=torch.long, device=device)
        self._counts = torch.zeros(most, dtype=torch.long, device=device)
        self._next = torch.zeros(1, dtype=torch.long, device=device)
        self._losses = torch.zeros(most, device=device)
        self._recorded = Recorded(self._one, device, lambda: (*changed(), self._next))

    def run(
        self, batches: Sequence[np.ndarray], watch: Callable[[Tensor], None] | None = None
    ) -> Tensor:
        """Take one step for each batch.

        Args:
            batches: The numbers of the graphs of each.
            watch: Told the loss of every step, which makes the host wait for it.

        Returns:
            The losses.
        """
        ids = np.zeros(self._ids.shape, dtype=np.int64)
        for row, batch in zip(ids, batches, strict=False):
            row[:] = padded(batch, len(row))
        self._ids.copy_(torch.from_numpy(ids))
        counts = torch.tensor([len(batch) for batch in batches])
        self._counts[: len(batches)].copy_(counts)
        self._next.zero_()
        for _ in batches:
            loss = self._recorded()
            if watch is not None:
                watch(loss)
        return self._losses[: len(batches)].clone()

    def _one(self) -> Tensor:
        ids = self._ids.index_select(0, self._next).squeeze(0)
        count = self._counts.index_select(0, self._next).squeeze(0)
        loss = self._step(self._store.take_filled(ids, count, self._room)).detach()
        self._losses.index_copy_(0, self._next, loss.to(self._losses.dtype).unsqueeze(0))
        self._next += 1
        return loss
