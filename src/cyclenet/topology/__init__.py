"""Exact numbers from a graph: its cycles, its cycle space, its holes.

Plain functions on arrays, with numpy, scipy and numba only. Graphs are given as undirected edges,
each once, tail < head (`edges_from_arcs` makes them from arcs), and a number of nodes.
"""

from cyclenet.topology.blocks import Blocks, blocks
from cyclenet.topology.complexes import clique_complex, ring_complex
from cyclenet.topology.cycle_basis import SATURATED, CycleBasis
from cyclenet.topology.edge_sums import hodge_sums, laplacian_bounds, projector_sums
from cyclenet.topology.edges import (
    UndirectedEdges,
    check_edges,
    check_weights,
    edges_from_arcs,
)
from cyclenet.topology.errors import GraphError, TooLargeError, TooManyCycles, TooManyFaces
from cyclenet.topology.forest import SpanningForest, fundamental_cycles, spanning_forest
from cyclenet.topology.homology import (
    SimplicialDistances,
    distance_labels,
    distance_to_cycles,
    shortest_homology_basis,
)
from cyclenet.topology.incidence import (
    betti_number,
    face_incidence,
    hodge_laplacian,
    incidence,
)
from cyclenet.topology.persistence import (
    ExtendedPersistence,
    extended_persistence,
    extended_persistence_diagrams,
)
from cyclenet.topology.profiles import EdgeProfiles, edge_profiles
from cyclenet.topology.projector import (
    PackedProjectors,
    arc_projector,
    cycle_projector,
    cycle_projectors,
    projector_diagonal,
)
from cyclenet.topology.relevant import count_relevant_cycles, relevant_cycles
from cyclenet.topology.shortest_basis import (
    PackedBases,
    shortest_cycle_bases,
    shortest_cycle_basis,
)
from cyclenet.topology.spectrum import Eigenspaces, eigenspaces, hodge_eigenspaces

__all__ = [
    "SATURATED",
    "Blocks",
    "CycleBasis",
    "EdgeProfiles",
    "Eigenspaces",
    "ExtendedPersistence",
    "GraphError",
    "PackedBases",
    "PackedProjectors",
    "SimplicialDistances",
    "SpanningForest",
    "TooLargeError",
    "TooManyCycles",
    "TooManyFaces",
    "UndirectedEdges",
    "arc_projector",
    "betti_number",
    "blocks",
    "check_edges",
    "check_weights",
    "clique_complex",
    "count_relevant_cycles",
    "cycle_projector",
    "cycle_projectors",
    "distance_labels",
    "distance_to_cycles",
    "edge_profiles",
    "edges_from_arcs",
    "eigenspaces",
    "extended_persistence",
    "extended_persistence_diagrams",
    "face_incidence",
    "fundamental_cycles",
    "hodge_eigenspaces",
    "hodge_laplacian",
    "hodge_sums",
    "incidence",
    "laplacian_bounds",
    "projector_diagonal",
    "projector_sums",
    "relevant_cycles",
    "ring_complex",
    "shortest_cycle_bases",
    "shortest_cycle_basis",
    "shortest_homology_basis",
    "spanning_forest",
]
