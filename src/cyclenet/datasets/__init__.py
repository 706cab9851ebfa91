"""Where graphs come from: shipped families, generators, and files in the usual formats."""

from importlib import import_module
from typing import TYPE_CHECKING

from cyclenet.datasets.cfi import cfi_graph, rook_graph, shrikhande_graph
from cyclenet.datasets.errors import DataFileError, MissingExtra, UnknownName
from cyclenet.datasets.graph import Graph, PackedGraphs, pack_graphs
from cyclenet.datasets.graph6 import (
    Graph6Error,
    decode_graph6,
    encode_graph6,
    read_graph6,
    write_graph6,
)
from cyclenet.datasets.molecules import molecule_graphs
from cyclenet.datasets.strongly_regular import (
    strongly_regular_graphs,
    strongly_regular_parameters,
)

if TYPE_CHECKING:
    from cyclenet.datasets.as_data import graph_data, molecule_data, point_data
    from cyclenet.datasets.cyclic_points import (
        POINT_TASKS,
        PointTask,
        circle_extents,
        cycle_persistence,
        long_cycles,
        n_circles,
        point_task,
    )
    from cyclenet.datasets.point_complex import PointComplex
    from cyclenet.datasets.point_graph import PointGraph, nearest_neighbour_graph
    from cyclenet.datasets.simplicial_data import complex_data, torus_data, trajectory_data
    from cyclenet.datasets.smiles import SmilesMolecules, typed_molecule
    from cyclenet.datasets.superpixel_graphs import (
        Superpixels,
        mnist_superpixels,
        superpixel_data,
    )
    from cyclenet.datasets.superpixels import SuperpixelComplex, superpixel_complex
    from cyclenet.datasets.torus import TORUS_SETS, TorusPreset, TorusSplits, torus_set
    from cyclenet.datasets.torus_snapshots import CloudOptions, TorusSnapshot
    from cyclenet.datasets.trajectories import (
        TRAJECTORY_SIZES,
        TrajectorySet,
        TrajectorySplits,
        holed_square,
        trajectory_splits,
    )
    from cyclenet.datasets.typed_molecules import (
        ATOM_TYPES,
        BOND_TYPES,
        TypedMolecule,
        TypedMolecules,
    )
    from cyclenet.datasets.zinc import zinc_sample

__all__ = [
    "ATOM_TYPES",
    "BOND_TYPES",
    "POINT_TASKS",
    "TORUS_SETS",
    "TRAJECTORY_SIZES",
    "CloudOptions",
    "DataFileError",
    "Graph",
    "Graph6Error",
    "MissingExtra",
    "PackedGraphs",
    "PointComplex",
    "PointGraph",
    "PointTask",
    "SmilesMolecules",
    "SuperpixelComplex",
    "Superpixels",
    "TorusPreset",
    "TorusSnapshot",
    "TorusSplits",
    "TrajectorySet",
    "TrajectorySplits",
    "TypedMolecule",
    "TypedMolecules",
    "UnknownName",
    "cfi_graph",
    "circle_extents",
    "complex_data",
    "cycle_persistence",
    "decode_graph6",
    "encode_graph6",
    "graph_data",
    "holed_square",
    "long_cycles",
    "mnist_superpixels",
    "molecule_data",
    "molecule_graphs",
    "n_circles",
    "nearest_neighbour_graph",
    "pack_graphs",
    "point_data",
    "point_task",
    "read_graph6",
    "rook_graph",
    "shrikhande_graph",
    "strongly_regular_graphs",
    "strongly_regular_parameters",
    "superpixel_complex",
    "superpixel_data",
    "torus_data",
    "torus_set",
    "trajectory_data",
    "trajectory_splits",
    "typed_molecule",
    "write_graph6",
    "zinc_sample",
]

# Kernels and torch are imported with the names that need them: a list of names needs neither.
# The function `zinc` is not among them: `datasets.zinc` is the module, which has it.
_HOMES = {
    "ATOM_TYPES": "typed_molecules",
    "BOND_TYPES": "typed_molecules",
    "POINT_TASKS": "cyclic_points",
    "TORUS_SETS": "torus",
    "TRAJECTORY_SIZES": "trajectories",
    "CloudOptions": "torus_snapshots",
    "PointComplex": "point_complex",
    "PointGraph": "point_graph",
    "PointTask": "cyclic_points",
    "SmilesMolecules": "smiles",
    "SuperpixelComplex": "superpixels",
    "Superpixels": "superpixel_graphs",
    "TorusPreset": "torus",
    "TorusSnapshot": "torus_snapshots",
    "TorusSplits": "torus",
    "TrajectorySet": "trajectories",
    "TrajectorySplits": "trajectories",
    "TypedMolecule": "typed_molecules",
    "TypedMolecules": "typed_molecules",
    "circle_extents": "cyclic_points",
    "complex_data": "simplicial_data",
    "cycle_persistence": "cyclic_points",
    "graph_data": "as_data",
    "holed_square": "trajectories",
    "long_cycles": "cyclic_points",
    "mnist_superpixels": "superpixel_graphs",
    "molecule_data": "as_data",
    "n_circles": "cyclic_points",
    "nearest_neighbour_graph": "point_graph",
    "point_data": "as_data",
    "point_task": "cyclic_points",
    "superpixel_complex": "superpixels",
    "superpixel_data": "superpixel_graphs",
    "torus_data": "simplicial_data",
    "torus_set": "torus",
    "trajectory_data": "simplicial_data",
    "trajectory_splits": "trajectories",
    "typed_molecule": "smiles",
    "zinc_sample": "zinc",
}


def __getattr__(name: str) -> object:
    """A public name, imported when it is first asked for (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value  # the next look-up does not come here
    return value


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted({*globals(), *__all__})
