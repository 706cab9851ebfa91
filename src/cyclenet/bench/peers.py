"""The same numbers from other people's libraries, imported when they are asked for."""

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from cyclenet.datasets.errors import MissingExtra
from cyclenet.datasets.graph import Graph

# The cut of the published code; on the families measured here no true mode comes near it.
_KERNEL = 1e-5

# A graph as igraph and networkx like to take it: number of nodes, and pairs.
Pairs = tuple[int, list[list[int]]]


def peer(package: str) -> ModuleType:
    """A library to compare with.

    Args:
        package: Its name.

    Returns:
        The module.

    Raises:
        MissingExtra: If it is not installed.
    """
    try:
        return import_module(package)
    except ImportError:
        raise MissingExtra(package, extra="bench", needed_for="this row") from None


def as_pairs(graphs: Sequence[Graph]) -> list[Pairs]:
    """Graphs as python lists.

    Args:
        graphs: The graphs.

    Returns:
        For each graph its number of nodes and its edges.
    """
    return [(num_nodes, edges.T.tolist()) for edges, num_nodes in graphs]


def igraph_bases(graphs: Sequence[Pairs]) -> list[list[int]]:
    """Lengths of a minimum cycle basis of each graph, by igraph; building its graphs included.

    Args:
        graphs: The graphs, as pairs.

    Returns:
        The lengths, ascending.
    """
    igraph = peer("igraph")
    bases = (igraph.Graph(n, pairs).minimum_cycle_basis() for n, pairs in graphs)
    return [sorted(map(len, basis)) for basis in bases]


def networkx_bases(graphs: Sequence[Pairs]) -> list[list[int]]:
    """Lengths of a minimum cycle basis of each graph, by networkx.

    Args:
        graphs: The graphs, as pairs.

    Returns:
        The lengths, ascending.
    """
    networkx = peer("networkx")
    bases = (networkx.minimum_cycle_basis(networkx.Graph(pairs)) for _, pairs in graphs)
    return [sorted(map(len, basis)) for basis in bases]


def rdkit_molecules(graphs: Sequence[Pairs]) -> list[Any]:
    """Carbon skeletons for rdkit.

    Args:
        graphs: The graphs, as pairs.

    Returns:
        Molecules without any rings found yet.
    """
    chem = peer("rdkit.Chem")
    molecules = []
    for num_nodes, pairs in graphs:
        molecule = chem.RWMol()
        for _ in range(num_nodes):
            molecule.AddAtom(chem.Atom(6))
        for tail, head in pairs:
            molecule.AddBond(tail, head, chem.BondType.SINGLE)
        molecules.append(molecule.GetMol())
    return molecules


def rdkit_copies(molecules: Sequence[Any]) -> list[Any]:
    """Fresh copies: rdkit keeps the rings it has found with the molecule.

    Args:
        molecules: Molecules without rings found.

    Returns:
        Their copies.
    """
    chem = peer("rdkit.Chem")
    return [chem.Mol(molecule) for molecule in molecules]


def rdkit_ring_families(molecules: Sequence[Any]) -> Sequence[Any]:
    """Find the ring families of molecules, from which rdkit counts relevant cycles.

    Args:
        molecules: Fresh molecules.

    Returns:
        The same molecules.
    """
    find = peer("rdkit.Chem").FindRingFamilies
    for molecule in molecules:
        find(molecule)
    return molecules


def rdkit_num_relevant(molecules: Sequence[Any]) -> list[int]:
    """Number of relevant cycles of molecules whose ring families were found.

    Args:
        molecules: The molecules.

    Returns:
        The counts.
    """
    return [molecule.GetRingInfo().NumRelevantCycles() for molecule in molecules]


def networkx_hodge(graph: Pairs) -> Float[np.ndarray, "m m"]:
    """The Hodge 1-Laplacian as the published code makes it: networkx's incidence, dense product.

    Args:
        graph: The graph, as pairs, from which networkx's own is built; sorted edges keep their
            order and direction.

    Returns:
        The Laplacian.
    """
    networkx = peer("networkx")
    num_nodes, pairs = graph
    made = networkx.Graph()
    made.add_nodes_from(range(num_nodes))
    made.add_edges_from(pairs)
    incidence = networkx.incidence_matrix(made, oriented=True).toarray()
    return incidence.T @ incidence


def networkx_projector(graph: Pairs) -> Float[np.ndarray, "m m"]:
    """The projector on the cycle space as the published code makes it.

    Args:
        graph: The graph, as pairs.

    Returns:
        The projector on the eigenvectors whose eigenvalue is zero up to a cut.
    """
    return _kernel_projector(networkx_hodge(graph))


def dense_hodge(edges: Int[np.ndarray, "2 m"], num_nodes: int) -> Float[np.ndarray, "m m"]:
    """The Hodge 1-Laplacian by numpy alone: a dense incidence matrix and its dense product.

    Args:
        edges: Undirected edges; nothing about them is checked.
        num_nodes: Number of nodes.

    Returns:
        The Laplacian.
    """
    columns = np.arange(edges.shape[1])
    incidence = np.zeros((num_nodes, edges.shape[1]))
    incidence[edges[0], columns] = -1
    incidence[edges[1], columns] = 1
    return incidence.T @ incidence


def eigh_projector(edges: Int[np.ndarray, "2 m"], num_nodes: int) -> Float[np.ndarray, "m m"]:
    """The projector on the cycle space from all eigenvectors of the dense Hodge Laplacian.

    Args:
        edges: Undirected edges.
        num_nodes: Number of nodes.

    Returns:
        The projector on the eigenvectors whose eigenvalue is zero up to a cut.
    """
    return _kernel_projector(dense_hodge(edges, num_nodes))


def _kernel_projector(laplacian: Float[np.ndarray, "m m"]) -> Float[np.ndarray, "m m"]:
    values, vectors = np.linalg.eigh(laplacian)
    kernel = vectors[:, values < _KERNEL]
    return kernel @ kernel.T
