"""Where graphs come from: shipped families, generators, and files in the usual formats."""

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

__all__ = [
    "DataFileError",
    "Graph",
    "Graph6Error",
    "MissingExtra",
    "PackedGraphs",
    "UnknownName",
    "cfi_graph",
    "decode_graph6",
    "encode_graph6",
    "molecule_graphs",
    "pack_graphs",
    "read_graph6",
    "rook_graph",
    "shrikhande_graph",
    "strongly_regular_graphs",
    "strongly_regular_parameters",
    "write_graph6",
]
