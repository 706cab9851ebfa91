"""A dozen graphs to look at: molecules, clouds of points, and some that are famous."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

from cyclenet.datasets.cyclic_points import cycle_persistence, long_cycles, n_circles
from cyclenet.datasets.errors import MissingExtra
from cyclenet.datasets.graph import Graph
from cyclenet.datasets.molecules import molecule_graphs
from cyclenet.datasets.point_graph import PointGraph
from cyclenet.datasets.smiles import read_molecule
from cyclenet.report.drawing import CyclePicture
from cyclenet.topology import edges_from_arcs, shortest_cycle_basis

# Rings of 4 to 16 atoms, fused, bridged and alone.
MOLECULES = {
    "Caffeine": "CN1C=NC2=C1C(=O)N(C(=O)N2C)C",
    "Cholesterol": "CC(C)CCCC(C)C1CCC2C1(CCC3C2CC=C4C3(CCC(C4)O)C)C",
    "Morphine": "CN1CCC23C4C1CC5=C2C(=C(C=C5)O)OC3C(C=C4)O",
    "Penicillin G": "CC1(C)SC2C(NC(=O)Cc3ccccc3)C(=O)N2C1C(=O)O",
    "Porphin": "C1=CC2=CC3=CC=C(N3)C=C4C=CC(=N4)C=C5C=CC(=CC1=N2)N5",
    "Coronene": "c1cc2ccc3ccc4ccc5ccc6ccc1c7c2c3c4c5c67",
}
# Drawn where rdkit is not there: some of the molecules that are shipped as bare graphs.
_SHIPPED = (17, 3, 41, 99, 250, 700)
_SEED = 5


def gallery() -> list[CyclePicture]:
    """Graphs with a shortest cycle basis, molecules as formulas where rdkit is installed.

    Returns:
        Twelve pictures; the same ones every time.
    """
    return [*_molecules(), *_clouds(), *_famous()]


def _molecules() -> Iterator[CyclePicture]:
    try:
        found = {name: read_molecule(smiles) for name, smiles in MOLECULES.items()}
    except MissingExtra:
        graphs = molecule_graphs()
        for number in _SHIPPED:
            yield _picture(f"Molecule {number}", graphs[number])
        return
    for name, (graph, symbols, orders, positions) in found.items():
        cycles = shortest_cycle_basis(*graph).cycles
        yield CyclePicture(name, *graph, cycles, positions, symbols, orders.tolist())


def _clouds() -> Iterator[CyclePicture]:
    makers = {
        "Points on circles": n_circles,
        "Circles with noise": long_cycles,
        "Circles, some open": cycle_persistence,
    }
    for name, make in makers.items():
        (sample,) = make(1, np.random.default_rng(_SEED))
        yield _picture(name, sample.graph, _places(sample))


def _famous() -> Iterator[CyclePicture]:
    yield _picture("Petersen graph", *_generalised_petersen(5, 2))
    yield _picture("Dodecahedron", *_generalised_petersen(10, 2))
    yield _picture(
        "M\N{LATIN SMALL LETTER O WITH DIAERESIS}bius-Kantor graph", *_generalised_petersen(8, 3)
    )


def _picture(
    name: str, graph: Graph, places: Float[np.ndarray, "n 2"] | None = None
) -> CyclePicture:
    return CyclePicture(name, *graph, shortest_cycle_basis(*graph).cycles, places)


def _places(sample: PointGraph) -> Float[np.ndarray, "n 2"]:
    """Points where they are, moved into the square."""
    low, high = sample.points.min(axis=0), sample.points.max(axis=0)
    return 2 * (sample.points - (low + high) / 2) / (high - low).max()


def _generalised_petersen(n: int, k: int) -> tuple[Graph, Float[np.ndarray, "n2 2"]]:
    """An outer ring of n nodes, spokes, and an inner ring that takes k steps at a time."""
    ring = np.arange(n)
    rings = (ring, (ring + 1) % n), (ring, ring + n), (ring + n, (ring + k) % n + n)
    arcs = np.concatenate([np.stack(pair) for pair in rings], axis=1)
    angle = 2 * np.pi * ring / n
    circle = np.stack((np.sin(angle), np.cos(angle)), axis=1)
    places = np.concatenate((circle, 0.5 * circle))
    return Graph(edges_from_arcs(arcs, 2 * n).edges, 2 * n), places
