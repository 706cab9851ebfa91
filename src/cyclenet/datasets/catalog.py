"""The sources of graphs there are: names only, so that listing them costs nothing."""

from typing import NamedTuple


class SourceKind(NamedTuple):
    """A way to write a source of graphs.

    Args:
        pattern: How it is written, with capitals for what the user fills in.
        holds: What it gives.
        example: A source written this way.
    """

    pattern: str
    holds: str
    example: str


SOURCE_KINDS = (
    SourceKind("rook", "the 4 x 4 Rook graph", "rook"),
    SourceKind("shrikhande", "the Shrikhande graph", "shrikhande"),
    SourceKind("cfi:K[:TWIST]", "a Cai-Fuerer-Immerman graph over K + 1 corners", "cfi:4:1"),
    SourceKind("sr:NAME", "a shipped family of strongly regular graphs", "sr:sr251256"),
    SourceKind("molecules", "1000 molecules of ZINC, shipped", "molecules:0"),
    SourceKind(
        "zinc-sample", "64 molecules of ZINC with types and targets, shipped", "zinc-sample:0"
    ),
    SourceKind(
        "zinc[:SPLIT]", "ZINC-12k, whose raw files are here: all, or a split", "zinc:test:0"
    ),
    SourceKind("n-circles", "500 point sets on circles, the paper's Betti data", "n-circles:0"),
    SourceKind("circle-extents", "500 point sets on 5 circles, its EPD data", "circle-extents:0"),
    SourceKind("long-cycles", "500 with noise edges as well, to count cycles in", "long-cycles:0"),
    SourceKind("cycle-persistence", "500 in which circles may be open", "cycle-persistence:0"),
    SourceKind("trajectories", "a square with two holes, which trajectories cross", "trajectories"),
    SourceKind("tori", "13 snapshots of points on tori (extra: complexes)", "tori:0"),
    SourceKind("tu:NAME", "a TU dataset whose raw text files are here", "tu:MUTAG"),
    SourceKind("FILE.g6", "graphs in graph6, plain or .gz", "graphs.g6"),
    SourceKind("FILE.csv", "edges as `tail,head` or `graph,tail,head`", "edges.csv"),
    SourceKind("FILE.smi", "molecules in SMILES (extra: chem)", "molecules.smi"),
)

# First words of the sources that are not files, with how many `:` arguments each takes.
NUM_ARGUMENTS = {
    "rook": (0, 0),
    "shrikhande": (0, 0),
    "molecules": (0, 0),
    "zinc-sample": (0, 0),
    "zinc": (0, 1),
    "n-circles": (0, 0),
    "circle-extents": (0, 0),
    "long-cycles": (0, 0),
    "cycle-persistence": (0, 0),
    "trajectories": (0, 0),
    "tori": (0, 0),
    "cfi": (1, 2),
    "sr": (1, 1),
    "tu": (1, 1),
}

# Sources whose argument is a word that may be left out: a number after them picks a graph.
TAKES_WORDS = ("zinc",)

FILE_SUFFIXES = (".g6", ".g6.gz", ".csv", ".smi")
