"""Processor time of two rivals, taken in turns."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, NamedTuple

# A sample shorter than this is mostly the clock.
_SHORTEST_SAMPLE = 0.02


class Patience(NamedTuple):
    """How long to measure.

    Args:
        seconds: Processor time each rival may take, about.
        repeats: Most samples of each rival.
    """

    seconds: float = 4.0
    repeats: int = 15


class Race(NamedTuple):
    """What two rivals took and what they answered.

    Args:
        ours: Least processor time of one call, in seconds.
        peer: The same for the other one.
        our_answer: What our call returned.
        peer_answer: What the other call returned.
    """

    ours: float
    peer: float
    our_answer: Any
    peer_answer: Any


@dataclass
class Rival:
    """A computation to be timed.

    Args:
        run: The computation.
        prepare: Makes its argument anew for each call, off the clock; for a library that
            remembers its answer. None for a computation without an argument.
    """

    run: Callable[..., Any]
    prepare: Callable[[], Any] | None = None
    answer: Any = field(default=None, init=False)
    samples: list[float] = field(default_factory=list, init=False)
    spent: float = field(default=0.0, init=False)
    loops: int = field(default=1, init=False)

    @property
    def best(self) -> float:
        """Least processor time of one call, in seconds."""
        return min(self.samples)

    @property
    def typical(self) -> float:
        """Median processor time of one call, in seconds."""
        return median(self.samples)

    def forget(self) -> None:
        """Take the samples so far for a warm-up."""
        self.samples, self.spent = [], 0.0

    def sample(self) -> None:
        """Time the calls of one sample; the first sample sets how many calls the next will hold."""
        taken = 0.0
        for _ in range(self.loops):
            arguments = () if self.prepare is None else (self.prepare(),)
            start = time.process_time()
            self.answer = self.run(*arguments)
            taken += time.process_time() - start
        self.samples.append(taken / self.loops)
        self.spent += taken
        if self.prepare is None:
            self.loops = max(1, round(_SHORTEST_SAMPLE / max(self.best, 1e-7)))


def take_turns(rivals: Sequence[Rival], patience: Patience) -> None:
    """Sample computations one after the other, again and again.

    Args:
        rivals: The computations; each is sampled at least once.
        patience: How long to measure.
    """
    for _ in range(patience.repeats):
        for rival in rivals:
            if rival.spent < patience.seconds:
                rival.sample()


def race(ours: Rival, peer: Rival, patience: Patience) -> Race:
    """Time two computations in turns, so that a busy moment of the machine hits both.

    Args:
        ours: Our computation; its first call, which may compile, is not counted.
        peer: The other one. If one call takes all the time there is, it is timed once.
        patience: How long to measure.

    Returns:
        Least times and last answers.
    """
    ours.sample()
    ours.forget()
    take_turns((ours, peer), patience)
    return Race(ours.best, peer.best, ours.answer, peer.answer)
