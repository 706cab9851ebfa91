"""Encode: the cycle numbers of some thousand generated graphs, two threads at work."""

import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

import cyclenet
from cyclenet.commands.progress import Meter
from cyclenet.datasets.cyclic_points import n_circles
from cyclenet.datasets.graph import GraphSequence, PackedGraphs, pack_graphs
from cyclenet.datasets.molecules import molecule_graphs
from cyclenet.experiments.plain import NotPlain, from_plain
from cyclenet.files import write_whole
from cyclenet.topology import (
    PackedBases,
    PackedProjectors,
    cycle_projectors,
    shortest_cycle_bases,
)

FILE = "encoded.json"

GENERATE, BASES, PROJECTORS = "generate the graphs", "shortest bases", "projectors"

_SEED = 1234
# The projectors of so many graphs are in memory at a time, some 50 MB.
_CHUNK = 200
_THREADS = min(2, os.cpu_count() or 1)


@dataclass(frozen=True)
class Encoded:
    """What was computed, and how long it took.

    Args:
        graphs: How many graphs.
        version: The version of cyclenet that computed.
        threads: Threads that shared the work.
        edges: Edges of all graphs.
        cycles: Basis cycles of all graphs.
        unique: Graphs with only one shortest basis.
        entries: Entries of all projectors inside blocks.
        lengths: How many basis cycles have each length, written as text.
        molecules: The same of the thousand molecules that are shipped.
        seconds: Of each part.
    """

    graphs: int
    version: str = cyclenet.__version__
    threads: int = _THREADS
    edges: int = 0
    cycles: int = 0
    unique: int = 0
    entries: int = 0
    lengths: dict[str, int] = field(default_factory=dict)
    molecules: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def bases_per_second(self) -> float:
        """Graphs that get a shortest basis, and are told whether it is unique, in a second."""
        return self.graphs / max(self.seconds[BASES], 1e-9)

    @property
    def projectors_per_second(self) -> float:
        """Graphs that get the projector on their cycle space in a second."""
        return self.graphs / max(self.seconds[PROJECTORS], 1e-9)


def encode(num_graphs: int, out: Path, meter: Meter) -> Encoded:
    """Shortest bases, their uniqueness and projectors of point clouds on circles.

    What was computed before, by the same version, is read instead.

    Args:
        num_graphs: How many graphs.
        out: Folder of `FILE`, which is there.
        meter: Told of the graphs done.

    Returns:
        Counts and seconds.
    """
    path = out / FILE
    known = _read(path)
    if known is not None and (known.graphs, known.version) == (num_graphs, cyclenet.__version__):
        return known
    encoded = _encode(num_graphs, meter)
    content = json.dumps(asdict(encoded), indent=1) + "\n"
    write_whole(path, content)
    return encoded


def _encode(num_graphs: int, meter: Meter) -> Encoded:
    seconds: dict[str, float] = {GENERATE: 0.0, BASES: 0.0, PROJECTORS: 0.0}
    lengths: Counter[int] = Counter()
    edges = unique = entries = 0
    rng = np.random.default_rng(_SEED)
    meter.at(0, "compiling kernels, once")
    _warm_up()
    for first in range(0, num_graphs, _CHUNK):
        count = min(_CHUNK, num_graphs - first)
        with _timed(seconds, GENERATE):
            packed = pack_graphs(sample.graph for sample in n_circles(count, rng))
        with _timed(seconds, BASES):
            bases = _bases(packed)
        with _timed(seconds, PROJECTORS):
            projectors = _projectors(packed)
        lengths.update(bases.lengths.tolist())
        # A basis is unique if there are no relevant cycles but its own.
        unique += int((np.diff(bases.cycle_ptr) == bases.num_relevant).sum())
        edges, entries = edges + packed.edges.shape[1], entries + projectors.values.size
        meter.at(first + count, "cycle numbers of graphs")
    return Encoded(
        num_graphs,
        edges=edges,
        cycles=lengths.total(),
        unique=unique,
        entries=entries,
        lengths=_as_text(lengths),
        molecules=_as_text(Counter(_bases(molecule_graphs()).lengths.tolist())),
        seconds={name: round(value, 3) for name, value in seconds.items()},
    )


def _warm_up() -> None:
    """Have the kernels compiled, or read from their cache, before the clock runs."""
    packed = pack_graphs(sample.graph for sample in n_circles(2, np.random.default_rng(0)))
    _bases(packed)
    _projectors(packed)


def _bases(graphs: GraphSequence) -> PackedBases:
    packed = pack_graphs(graphs)
    return shortest_cycle_bases(
        packed.edges, packed.edge_ptr, packed.num_nodes,
        count_relevant=True, num_threads=_THREADS,
    )  # fmt: skip


def _projectors(packed: PackedGraphs) -> PackedProjectors:
    return cycle_projectors(packed.edges, packed.edge_ptr, packed.num_nodes, num_threads=_THREADS)


def _as_text(lengths: Counter[int]) -> dict[str, int]:
    """Keys as JSON has them, shortest first."""
    return {str(length): count for length, count in sorted(lengths.items())}


def _read(path: Path) -> Encoded | None:
    """What an earlier demo computed, unless the file is missing or something else."""
    try:
        return from_plain(Encoded, json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, NotPlain):
        return None


@contextmanager
def _timed(seconds: dict[str, float], name: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    seconds[name] += time.perf_counter() - started
