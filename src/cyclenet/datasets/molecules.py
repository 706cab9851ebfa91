"""A thousand real molecules, shipped: graphs to try things on and to measure with."""

from importlib.resources import files

from cyclenet.datasets.graph6 import Graph6Graphs, read_graph6


def molecule_graphs() -> Graph6Graphs:
    """The heavy-atom graphs of the 1000 validation molecules of ZINC-12k.

    Atoms keep the order of the benchmark, in which most molecules can be read as a walk along a
    SMILES string; there are no atom or bond types.

    Returns:
        A sequence of graphs, each decoded when it is asked for.

    Example:
        >>> len(molecule_graphs())
        1000
    """
    return read_graph6(str(files("cyclenet.datasets") / "graphs" / "molecules.g6"))
