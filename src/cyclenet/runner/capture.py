"""Steps of fixed shape, recorded once on a GPU and replayed without the host."""

import importlib.util
import logging
import os
import shutil
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import torch
from torch import Tensor

from cyclenet.runner.batches import Filled, FilledBatches, GraphStore, padded

_log = logging.getLogger(__name__)

# Calls before a recording, in which libraries choose their kernels and take their memory.
_WARM_UPS = 3

# Steps of a training that is worth it: five seeds of a row share a compilation of half a minute,
# and a step of a small network is some three milliseconds faster for it.
WORTH_FUSING = 2000

# More than any process will come to.
_COMPILATIONS = 1000


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


def fused(model: torch.nn.Module) -> Callable[..., Tensor]:
    """A network whose operations are fused for a GPU.

    Recorded as it is, a step still takes as long as a GPU needs to start hundreds of operations.
    A compilation takes half a minute. The next network that is built the same way, for batches of
    the same size, uses it too: of the seeds of a row only the first waits. For that, limits on how
    often torch compiles one function are raised, for the whole process.

    Args:
        model: A network whose batches have fixed sizes.

    Returns:
        The compiled network, which shares the weights; the network itself where torch has nothing
        to compile with.
    """
    compilers = (os.environ.get("CC", ""), "cc", "gcc", "clang")
    if not (importlib.util.find_spec("triton") and any(shutil.which(name) for name in compilers)):
        _log.info("no Triton or no C compiler here: training without fused operations")
        return model
    # All rows of an experiment are compilations of one `forward`, which torch stops at 8 of.
    limits = torch._dynamo.config
    limits.recompile_limit = max(limits.recompile_limit, _COMPILATIONS)
    limits.accumulated_recompile_limit = max(limits.accumulated_recompile_limit, _COMPILATIONS)
    return torch.compile(model, dynamic=False)


class FixedSteps:
    """The steps of every epoch, all of one shape.

    The law: `run` takes the steps that taking its batches one by one would, up to rounding. All
    batches of an epoch are gathered in one go, and a counter on the device says which is next, so
    that nothing changes from one step to the next but numbers there.

    Args:
        store: The graphs.
        step: Takes a filled batch, changes the weights, and returns the loss.
        epochs: All batches of all epochs, as many in each; they decide how large batches are.
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
        self._batches: FilledBatches | None = None
        self._next = torch.zeros(1, dtype=torch.long, device=store.device)
        self._losses = torch.zeros(len(epochs[0]), device=store.device)
        self._recorded = Recorded(self._one, store.device, lambda: (*changed(), self._next))

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
        slots, device = self._room.slots, self._store.device
        ids = torch.from_numpy(np.stack([padded(one, slots) for one in batches])).to(device)
        counts = torch.tensor([len(one) for one in batches]).to(device)
        filled = self._store.take_filled(ids, counts, self._room)
        if self._batches is None:
            self._batches = filled
        else:
            self._batches.take_over(filled)
        self._next.zero_()
        for _ in batches:
            loss = self._recorded()
            if watch is not None:
                watch(loss)
        return self._losses.clone()

    def _one(self) -> Tensor:
        assert self._batches is not None
        loss = self._step(self._batches.batch(self._next)).detach()
        self._losses.index_copy_(0, self._next, loss.to(self._losses.dtype).unsqueeze(0))
        self._next += 1
        return loss
