"""What each row of the benchmark measures, and how it checks that both sides agree."""

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cyclenet.bench.clock import Patience, Race, Rival, race
from cyclenet.bench.families import graphs_of
from cyclenet.bench.peers import (
    as_pairs,
    eigh_projector,
    igraph_bases,
    networkx_bases,
    peer,
    rdkit_copies,
    rdkit_molecules,
    rdkit_num_relevant,
    rdkit_ring_families,
)
from cyclenet.datasets.graph import Graph, PackedGraphs, pack_graphs
from cyclenet.topology import (
    PackedBases,
    PackedProjectors,
    betti_number,
    cycle_projector,
    cycle_projectors,
    shortest_cycle_bases,
)

# Projectors of the same graph from two methods; the largest entries are near 1.
PROJECTOR_TOLERANCE = 1e-12
# Eigenvectors of an ill-separated large Laplacian are less exact than our projector.
EIGH_TOLERANCE = 1e-10

_SLOW_PEER_GRAPHS = 20
_COPIES_FOR_THREADS = 100

# How many times our processor time igraph may take on the large grid.
_PATIENCE_WITH_GRID = 21
_IGRAPH_WITH_LIMIT = """
import igraph, json, resource, sys, time
num_nodes, pairs = json.load(sys.stdin)
seconds = int(sys.argv[1])
start = time.process_time()
resource.setrlimit(resource.RLIMIT_CPU, (seconds + int(start), seconds + int(start) + 1))
igraph.Graph(num_nodes, pairs).minimum_cycle_basis()
print(time.process_time() - start)
"""

_KERNEL_OF = {
    "AddShortestCycleBasis": "shortest_cycle_basis",
    "AddRelevantCycles": "relevant_cycles",
    "AddCycleProjector": "cycle_projector",
}


class Measured(NamedTuple):
    """One measurement.

    Args:
        ours_us: Microseconds for each graph, ours.
        peer_us: The same for the other side, or None if the row has no other side.
        ratio: What is compared with the bar.
        agree: Whether both sides gave the right answer.
        note: What else to know.
    """

    ours_us: float
    peer_us: float | None
    ratio: float
    agree: bool
    note: str = ""


def basis_against_igraph(family: str, patience: Patience) -> Measured:
    """Shortest bases of many graphs, from python arrays, against igraph from python lists."""
    peer("igraph")
    graphs = graphs_of(family)
    pairs = as_pairs(graphs)
    found = race(Rival(lambda: _bases(graphs)), Rival(lambda: igraph_bases(pairs)), patience)
    agree = _lengths(found.our_answer) == found.peer_answer
    return _at_least(found, len(graphs), agree and _num_cycles_right(found.our_answer, graphs))


def basis_against_networkx(family: str, patience: Patience) -> Measured:
    """Shortest bases of a family against networkx on a few of its graphs."""
    graphs = graphs_of(family)
    few = _a_few(len(graphs))
    pairs = as_pairs([graphs[i] for i in few])
    found = race(Rival(lambda: _bases(graphs)), Rival(lambda: networkx_bases(pairs)), patience)
    lengths = _lengths(found.our_answer)
    agree = [lengths[i] for i in few] == found.peer_answer
    return _at_least(found, len(graphs), agree, len(few))


def shuffled_against_native(family: str, patience: Patience) -> Measured:
    """Shortest bases of graphs with shuffled node ids against the same graphs as they came."""
    native = graphs_of(family)
    shuffled = graphs_of(f"{family}, shuffled ids")
    found = race(Rival(lambda: _bases(shuffled)), Rival(lambda: _bases(native)), patience)
    agree = _lengths(found.our_answer) == _lengths(found.peer_answer)
    return _at_most(found, len(native), agree)


def relevant_against_basis(family: str, patience: Patience) -> Measured:
    """Shortest bases with relevant counts and uniqueness against shortest bases alone."""
    graphs = graphs_of(family)

    found = race(
        Rival(lambda: _bases_with_uniqueness(graphs)),
        Rival(lambda: _bases(graphs)),
        patience,
    )
    agree = _lengths(found.our_answer) == _lengths(found.peer_answer)
    return _at_most(found, len(graphs), agree and bool((_counts(found.our_answer) >= 0).all()))


def relevant_against_rdkit(family: str, patience: Patience) -> Measured:
    """Relevant counts against rdkit's ring families; graphs are ready on both sides."""
    graphs = graphs_of(family)
    packed = pack_graphs(graphs)
    molecules = rdkit_molecules(as_pairs(graphs))
    found = race(
        Rival(lambda: _bases(packed, count_relevant=True)),
        Rival(rdkit_ring_families, prepare=lambda: rdkit_copies(molecules)),
        patience,
    )
    agree = _counts(found.our_answer).tolist() == rdkit_num_relevant(found.peer_answer)
    return _at_least(found, len(graphs), agree)


def grid_against_igraph(family: str, patience: Patience) -> Measured:
    """A large grid against igraph in a process of its own, ended when the bar is passed."""
    peer("igraph")
    (graph,) = graphs_of(family)
    ours = Rival(lambda: _bases([graph]))
    ours.sample()
    ours.forget()
    for _ in range(3):
        ours.sample()
    rows = round(graph.num_nodes**0.5)
    agree = int(ours.answer.lengths.sum()) == 4 * (rows - 1) ** 2
    limit = math.ceil(_PATIENCE_WITH_GRID * ours.best)
    try:
        run = subprocess.run(
            [sys.executable, "-c", _IGRAPH_WITH_LIMIT, str(limit)],
            input=json.dumps(as_pairs([graph])[0]),
            capture_output=True,
            text=True,
            check=True,
        )
        theirs, note = float(run.stdout), ""
    except subprocess.CalledProcessError as error:
        if error.returncode >= 0:  # it failed by itself
            raise
        theirs, note = float(limit), "igraph was ended here: the ratio is a lower bound"
    return Measured(1e6 * ours.best, 1e6 * theirs, theirs / ours.best, agree, note)


def projectors_against_eigh(family: str, patience: Patience) -> Measured:
    """Projectors of many small graphs against numpy's eigenvectors, graph by graph."""
    graphs = graphs_of(family)
    found = race(
        Rival(lambda: _projectors(graphs)),
        Rival(lambda: [eigh_projector(*graph) for graph in graphs]),
        patience,
    )
    error = max(
        float(np.abs(found.our_answer[i] - matrix).max(initial=0.0))
        for i, matrix in enumerate(found.peer_answer)
    )
    note = f"largest difference {error:.1e}"
    return _at_least(found, len(graphs), error <= PROJECTOR_TOLERANCE)._replace(note=note)


def projector_against_eigh(family: str, patience: Patience) -> Measured:
    """The projector of one larger graph against numpy's eigenvectors."""
    (graph,) = graphs_of(family)
    found = race(
        Rival(lambda: cycle_projector(*graph)),
        Rival(lambda: eigh_projector(*graph)),
        patience,
    )
    error = float(np.abs(found.our_answer - found.peer_answer).max())
    trace = float(np.trace(found.our_answer))
    agree = error <= EIGH_TOLERANCE and abs(trace - betti_number(*graph)) <= 1e-6
    note = f"m = {graph.edges.shape[1]}, largest difference {error:.1e}"
    return _at_least(found, 1, agree)._replace(note=note)


def pipeline_against_networkx(family: str, patience: Patience) -> Measured:
    """Basis, relevant count, uniqueness and projector against networkx and numpy on a few."""
    graphs = graphs_of(family)
    few = _a_few(len(graphs))
    pairs = as_pairs([graphs[i] for i in few])

    def ours() -> tuple[PackedBases, PackedProjectors]:
        packed = pack_graphs(graphs)
        return _bases_with_uniqueness(packed), _projectors(packed)

    def theirs() -> tuple[list[list[int]], list[np.ndarray]]:
        return networkx_bases(pairs), [eigh_projector(*graphs[i]) for i in few]

    found = race(Rival(ours), Rival(theirs), patience)
    bases, projectors = found.our_answer
    lengths, matrices = found.peer_answer
    ours_of_few = _lengths(bases)
    error = max(float(np.abs(projectors[i] - p).max()) for i, p in zip(few, matrices, strict=True))
    agree = [ours_of_few[i] for i in few] == lengths and error <= PROJECTOR_TOLERANCE
    return _at_least(found, len(graphs), agree, len(few))


def two_threads_against_one(family: str, patience: Patience) -> Measured:
    """Shortest bases of 100,000 graphs on two threads against one, in wall-clock time."""
    packed = pack_graphs(graphs_of(family) * _COPIES_FOR_THREADS)
    best = {1: float("inf"), 2: float("inf")}
    answers = {}
    for repeat in range(6):
        for threads in best:
            start = time.perf_counter()
            answers[threads] = _bases(packed, num_threads=threads)
            if repeat:
                best[threads] = min(best[threads], time.perf_counter() - start)
    agree = bool(
        np.array_equal(answers[1].cycle_edges, answers[2].cycle_edges)
        and np.array_equal(answers[1].cycle_signs, answers[2].cycle_signs)
    )
    cores, load = os.cpu_count() or 1, os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    note = f"wall clock, {len(packed)} graphs, {cores} cores, load average {load:.1f}"
    one, two = (1e6 * best[threads] / len(packed) for threads in (1, 2))
    return Measured(two, one, one / two, agree, note)


def transform_against_kernel(name: str, patience: Patience) -> Measured:
    """What a transform of one PyG graph takes beyond the kernel it calls, in microseconds."""
    torch, data = peer("torch"), peer("torch_geometric.data")
    from cyclenet import topology, transforms  # torch comes with them; other rows do without

    torch.set_num_threads(1)
    graphs = graphs_of("molecules")
    items = [
        data.Data(edge_index=torch.from_numpy(np.hstack((e, e[::-1]))), num_nodes=n)
        for e, n in graphs
    ]
    transform = getattr(transforms, name)()
    kernel = getattr(topology, _KERNEL_OF[name])
    found = race(
        Rival(lambda: [transform(item) for item in items]),
        Rival(lambda: [kernel(*graph) for graph in graphs]),
        patience,
    )
    betti = sum(betti_number(*graph) for graph in graphs)
    ours, alone = (1e6 * taken / len(graphs) for taken in (found.ours, found.peer))
    agree = name != "AddShortestCycleBasis" or betti == sum(
        int(item.num_cycles.sum()) for item in found.our_answer
    )
    return Measured(ours, alone, ours - alone, agree, "the ratio column is microseconds")


def first_call(kind: str, patience: Patience) -> Measured:
    """Processor seconds of the first call on a new machine: nothing is compiled yet."""
    return _first_call(kind, cached=False)


def first_cached_call(kind: str, patience: Patience) -> Measured:
    """Processor seconds of the first call of a process when the kernels are compiled."""
    return _first_call(kind, cached=True)


def _first_call(kind: str, *, cached: bool) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}
        command = [sys.executable, "-m", "cyclenet.bench.first_call", kind]
        for _ in range(2 if cached else 1):
            run = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=True, timeout=600
            )
    answer = json.loads(run.stdout)
    seconds = answer["seconds"]
    note = "the ratio column is seconds of processor time, the import of numba included"
    return Measured(1e6 * seconds, None, seconds, answer["agree"], note)


def _a_few(count: int) -> range:
    """Positions of a few graphs spread over a family, for peers too slow for all of it."""
    return range(0, count, max(1, count // _SLOW_PEER_GRAPHS))


def _bases_with_uniqueness(graphs: list[Graph] | PackedGraphs) -> PackedBases:
    bases = _bases(graphs, count_relevant=True)
    np.equal(_counts(bases), np.diff(bases.cycle_ptr))
    return bases


def _bases(
    graphs: list[Graph] | PackedGraphs, *, count_relevant: bool = False, num_threads: int = 1
) -> PackedBases:
    packed = pack_graphs(graphs)
    return shortest_cycle_bases(
        packed.edges,
        packed.edge_ptr,
        packed.num_nodes,
        count_relevant=count_relevant,
        num_threads=num_threads,
    )


def _projectors(graphs: list[Graph] | PackedGraphs) -> PackedProjectors:
    packed = pack_graphs(graphs)
    return cycle_projectors(packed.edges, packed.edge_ptr, packed.num_nodes)


def _lengths(bases: PackedBases) -> list[list[int]]:
    lengths = bases.lengths.tolist()
    bounds = bases.cycle_ptr.tolist()
    return [lengths[a:b] for a, b in pairwise(bounds)]


def _counts(bases: PackedBases) -> np.ndarray:
    counts = bases.num_relevant
    assert counts is not None
    return counts


def _num_cycles_right(bases: PackedBases, graphs: list[Graph]) -> bool:
    return np.diff(bases.cycle_ptr).tolist() == [betti_number(*graph) for graph in graphs]


def _at_least(
    found: Race, num_graphs: int, agree: bool, num_peer_graphs: int | None = None
) -> Measured:
    """A row whose bar says how much faster we are."""
    ours = 1e6 * found.ours / num_graphs
    theirs = 1e6 * found.peer / (num_peer_graphs or num_graphs)
    return Measured(ours, theirs, theirs / ours, agree)


def _at_most(found: Race, num_graphs: int, agree: bool) -> Measured:
    """A row whose bar says how much dearer something may be."""
    ours, theirs = (1e6 * taken / num_graphs for taken in (found.ours, found.peer))
    return Measured(ours, theirs, ours / theirs, agree)
