"""What the encodings of a set of graphs cost, ours and by the published algorithm.

Run as a module in a process of its own: measure one set and print it as a line of JSON.
"""

import argparse
import json
import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
import torch
from torch_geometric.data import Data

from cyclenet.bench.clock import Patience, Rival, take_turns
from cyclenet.bench.peers import (
    Pairs,
    as_pairs,
    dense_hodge,
    eigh_projector,
    networkx_bases,
    networkx_hodge,
    networkx_projector,
)
from cyclenet.bench.timed_sets import SETS, TimedGraphs, digest, sizes, spread_over
from cyclenet.data import CycleData
from cyclenet.datasets.as_data import graph_data
from cyclenet.datasets.data_folder import DATA_HERE, DataFolder
from cyclenet.datasets.errors import DataFileError, MissingExtra
from cyclenet.datasets.graph import Graph, pack_graphs
from cyclenet.experiments.spec import Timing
from cyclenet.experiments.timings import (
    ARRAYS,
    OUR_WAYS,
    PUBLISHED,
    TimedEncoding,
    TimedSet,
)
from cyclenet.topology import (
    CycleBasis,
    PackedBases,
    PackedProjectors,
    cycle_projector,
    cycle_projectors,
    hodge_laplacian,
    shortest_cycle_bases,
    shortest_cycle_basis,
)
from cyclenet.transforms import AddCycleProjector, AddShortestCycleBasis

# The published algorithm and the others, all in float64; entries are at most 2.
TOLERANCE = 1e-8
# What a transform stores is rounded to float32.
ROUNDED_TOLERANCE = 1e-6


class Disagreement(ValueError):
    """Two algorithms that give different numbers: whatever they take means nothing."""


class Encoding(NamedTuple):
    """An encoding: the ways to get it, and what of it can be compared.

    Args:
        transform: From PyG graphs, or None if there is no transform for it.
        function: From graphs in arrays, one at a time.
        packed: From all graphs in one call, packing included.
        published: The published algorithm, from python lists, one at a time.
        arrays: The published algorithm by numpy alone, from graphs in arrays, one at a time; or
            None if numpy has none.
        numbers: From an answer to one of the five and the position of a graph to its numbers.
    """

    transform: Callable[[Sequence[Data]], Any] | None
    function: Callable[[Sequence[Graph]], Any]
    packed: Callable[[Sequence[Graph]], Any]
    published: Callable[[Sequence[Pairs]], Any]
    arrays: Callable[[Sequence[Graph]], Any] | None
    numbers: Callable[[Any, int], np.ndarray]


def timed_set(timing: Timing, data: DataFolder = DATA_HERE) -> TimedSet:
    """Time all encodings on a set, and hold the published algorithm's answers against ours.

    Args:
        timing: The set, and how long to measure.
        data: Where sets with files find them.

    Returns:
        What was found, or what is missing; without machine and date.
    """
    start = time.perf_counter()
    nothing = TimedSet(timing.graphs, timing.fingerprint, timing.inputs, "missing")
    try:
        timed = SETS[timing.graphs](data)
        few = spread_over(len(timed.graphs), timing.published_graphs)
        patience = Patience(timing.seconds, timing.repeats)
        encodings = tuple(
            _timed_encoding(name, encoding, timed, few, patience)
            for name, encoding in ENCODINGS.items()
        )
    except MissingExtra as error:
        return replace(nothing, reason=f"{error}; try: {error.hint}")
    except DataFileError as error:
        hint = f"; try: {error.hint}" if error.hint else ""
        return replace(nothing, reason=f"{error}{hint}")
    except FileNotFoundError as error:
        return replace(nothing, reason=str(error))
    except Exception as error:  # the other sets must not be lost to one
        return replace(nothing, status="failed", reason=f"{type(error).__name__}: {error}")
    return replace(
        nothing,
        status="measured",
        num_graphs=len(timed.graphs),
        num_published=len(few),
        digest=digest(timed.graphs),
        encodings=encodings,
        seconds=round(time.perf_counter() - start, 1),
        load=round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        **sizes(timed)._asdict(),
    )


def _timed_encoding(
    name: str, encoding: Encoding, timed: TimedGraphs, few: Sequence[int], patience: Patience
) -> TimedEncoding:
    """Time one encoding, every way in turns after a first call of each that is not counted."""
    graphs = list(timed.graphs)
    pairs = as_pairs([graphs[i] for i in few])
    rivals = {
        "function": Rival(lambda: encoding.function(graphs)),
        "packed": Rival(lambda: encoding.packed(graphs)),
        PUBLISHED: Rival(lambda: encoding.published(pairs)),
    }
    transform, arrays = encoding.transform, encoding.arrays
    if arrays is not None:
        rivals[ARRAYS] = Rival(lambda: arrays(graphs))
    if transform is not None:
        items = [graph_data(graph) for graph in graphs]
        rivals["transform"] = Rival(lambda: transform(items))
    for rival in rivals.values():
        rival.sample()
        rival.forget()
    take_turns(list(rivals.values()), patience)
    answers = {way: rival.answer for way, rival in rivals.items()}
    counts = {way: len(few if way == PUBLISHED else graphs) for way in rivals}
    return TimedEncoding(
        name,
        seconds={way: _rounded(rival.typical / counts[way]) for way, rival in rivals.items()},
        least={way: _rounded(rival.best / counts[way]) for way, rival in rivals.items()},
        samples={way: len(rival.samples) for way, rival in rivals.items()},
        difference=_largest_difference(name, encoding, answers, few),
    )


def _largest_difference(
    name: str, encoding: Encoding, answers: dict[str, Any], few: Sequence[int]
) -> float:
    """How far our numbers in float64 are from the published algorithm's; too far is an error."""
    largest = 0.0
    for place, i in enumerate(few):
        theirs = encoding.numbers(answers[PUBLISHED], place)
        for way in (*OUR_WAYS, ARRAYS):
            if way not in answers:
                continue
            found = encoding.numbers(answers[way], i)
            same = found.shape == theirs.shape
            difference = float(np.abs(found - theirs).max(initial=0.0)) if same else np.inf
            if not difference <= (ROUNDED_TOLERANCE if way == "transform" else TOLERANCE):
                raise Disagreement(
                    f"{name} of graph {i}, {way}: differs by {difference:.1e} from the published "
                    "algorithm"
                )
            if way in OUR_WAYS and way != "transform":
                largest = max(largest, difference)
    return largest


# Hodge 1-Laplacians.


class _PackedHodge(NamedTuple):
    """The Laplacian of all graphs side by side, block after block."""

    laplacian: scipy.sparse.csr_array
    edge_ptr: np.ndarray


def _hodge_packed(graphs: Sequence[Graph]) -> _PackedHodge:
    packed = pack_graphs(graphs)
    first_node = np.cumsum(packed.num_nodes) - packed.num_nodes
    edges = packed.edges + np.repeat(first_node, np.diff(packed.edge_ptr))
    return _PackedHodge(hodge_laplacian(edges, int(packed.num_nodes.sum())), packed.edge_ptr)


def _hodge_numbers(answer: Any, i: int) -> np.ndarray:
    if isinstance(answer, _PackedHodge):
        rows = slice(answer.edge_ptr[i], answer.edge_ptr[i + 1])
        return answer.laplacian[rows, rows].toarray()
    return answer[i].toarray() if scipy.sparse.issparse(answer[i]) else answer[i]


# Projectors.


def _projectors_packed(graphs: Sequence[Graph]) -> PackedProjectors:
    packed = pack_graphs(graphs)
    return cycle_projectors(packed.edges, packed.edge_ptr, packed.num_nodes)


def _projector_numbers(answer: Any, i: int) -> np.ndarray:
    if not isinstance(answer[i], CycleData):
        return answer[i]
    data = answer[i]
    matrix = np.zeros((data.edges.size(1),) * 2)
    matrix[tuple(data.pair_edges.numpy())] = data.pair_projector.numpy()
    return matrix


# Shortest cycle bases. Which one is a choice, their lengths are not.


def _bases_packed(graphs: Sequence[Graph]) -> PackedBases:
    packed = pack_graphs(graphs)
    return shortest_cycle_bases(packed.edges, packed.edge_ptr, packed.num_nodes)


def _basis_numbers(answer: Any, i: int) -> np.ndarray:
    one = answer[i]
    if isinstance(one, CycleBasis):
        return np.sort(one.lengths)
    if isinstance(one, CycleData):
        return np.sort(np.bincount(one.cycle_incidence[1].numpy(), minlength=int(one.num_cycles)))
    return np.array(one, dtype=np.int64)


ENCODINGS: dict[str, Encoding] = {
    "hodge": Encoding(
        transform=None,
        function=lambda graphs: [hodge_laplacian(*graph) for graph in graphs],
        packed=_hodge_packed,
        published=lambda graphs: [networkx_hodge(graph) for graph in graphs],
        arrays=lambda graphs: [dense_hodge(*graph) for graph in graphs],
        numbers=_hodge_numbers,
    ),
    "projector": Encoding(
        transform=lambda items: list(map(AddCycleProjector(), items)),
        function=lambda graphs: [cycle_projector(*graph) for graph in graphs],
        packed=_projectors_packed,
        published=lambda graphs: [networkx_projector(graph) for graph in graphs],
        arrays=lambda graphs: [eigh_projector(*graph) for graph in graphs],
        numbers=_projector_numbers,
    ),
    "basis": Encoding(
        transform=lambda items: list(map(AddShortestCycleBasis(), items)),
        function=lambda graphs: [shortest_cycle_basis(*graph) for graph in graphs],
        packed=_bases_packed,
        published=networkx_bases,
        arrays=None,
        numbers=_basis_numbers,
    ),
}


def _rounded(seconds: float) -> float:
    """Five digits, more than any clock is worth."""
    return float(f"{seconds:.5g}")


def main() -> None:
    """Measure the set that the arguments describe."""
    # Ctrl-C reaches this process too; the one that asked says what there is to say.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(prog="python -m cyclenet.bench.preprocessing")
    parser.add_argument("graphs", choices=SETS)
    parser.add_argument("--repeats", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--published-graphs", type=int, required=True)
    parser.add_argument("--data", type=Path, default=DATA_HERE.root)
    parser.add_argument("--download", action="store_true")
    parser.add_argument("--trust-pickle", action="store_true")
    asked = parser.parse_args()
    timing = Timing(
        asked.graphs, "", asked.repeats, asked.seconds, published_graphs=asked.published_graphs
    )
    data = DataFolder(asked.data, asked.download, asked.trust_pickle)
    print(json.dumps(asdict(timed_set(timing, data))), flush=True)


if __name__ == "__main__":
    main()
