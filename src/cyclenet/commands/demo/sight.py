"""See it: two graphs that are one to message passing, and what their cycles say."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from cyclenet.datasets.cfi import rook_graph, shrikhande_graph
from cyclenet.datasets.graph import Graph
from cyclenet.report.drawing import CyclePicture, draw_cycles, save_svg
from cyclenet.topology import betti_number, cycle_projector, shortest_cycle_basis

# The projectors of both graphs are multiples of 1/32; rounding errors are far below this.
_ZERO = 1e-9

_ROOK, _SHRIKHANDE = "Rook 4x4", "Shrikhande"
_TITLE = "The same to message passing, different in their cycles"
_DESCRIPTION = (
    "The Rook graph and the Shrikhande graph side by side. Every cycle of a shortest cycle basis "
    "has its own colour: as a strand of its edges above, and alone in a small picture below, "
    "triangles first, then squares."
)


class Line(NamedTuple):
    """One number of both graphs, as text, and whether it tells them apart."""

    what: str
    rook: str
    shrikhande: str
    differ: bool


class Sight(NamedTuple):
    """Both graphs, and what can be said of them.

    Args:
        graphs: The graphs by name.
        lines: Their numbers, all computed.
        pictures: Both with a shortest cycle basis.
        projectors: Their projectors on the cycle space.
    """

    graphs: dict[str, Graph]
    lines: tuple[Line, ...]
    pictures: tuple[CyclePicture, ...]
    projectors: dict[str, Float[np.ndarray, "m m"]]


def see() -> Sight:
    """Compare the 4 x 4 Rook graph with the Shrikhande graph.

    Returns:
        What is the same and what is not.
    """
    graphs = {_ROOK: rook_graph(), _SHRIKHANDE: shrikhande_graph()}
    rook, shrikhande = (_numbers(graph) for graph in graphs.values())
    lines = tuple(
        Line(what, rook[what], shrikhande[what], rook[what] != shrikhande[what]) for what in rook
    )
    pictures = tuple(_picture(name, graph) for name, graph in graphs.items())
    projectors = {name: cycle_projector(*graph) for name, graph in graphs.items()}
    return Sight(graphs, lines, pictures, projectors)


def save_picture(sight: Sight, path: Path) -> None:
    """Draw both graphs side by side.

    Args:
        sight: What `see` saw.
        path: An SVG file in a folder that is there.
    """
    figure = draw_cycles(sight.pictures, title=_TITLE)
    save_svg(path, figure, title=_TITLE, description=_DESCRIPTION)


def colour_refinement(edges: Int[np.ndarray, "2 m"], num_nodes: int) -> Int[np.ndarray, " n"]:
    """The stable colouring of the nodes: all that message passing can ever know about them.

    Nodes start equal. In each round two nodes keep one colour if they had one and the colours of
    their neighbours are the same with the same multiplicities; it ends when no colour splits.

    Args:
        edges: Undirected edges.
        num_nodes: Number of nodes.

    Returns:
        A colour for each node, numbered from 0 in an order that does not depend on node names.
    """
    tail, head = np.concatenate((edges, edges[::-1]), axis=1)
    colours = np.zeros(num_nodes, dtype=np.int64)
    while True:
        seen = np.zeros((num_nodes, colours.max(initial=0) + 1), dtype=np.int64)
        np.add.at(seen, (tail, colours[head]), 1)
        signatures = np.column_stack((colours, seen))
        finer = np.unique(signatures, axis=0, return_inverse=True)[1].reshape(-1)
        if finer.max(initial=0) == colours.max(initial=0):
            return colours
        colours = finer


def _numbers(graph: Graph) -> dict[str, str]:
    edges, num_nodes = graph
    basis = shortest_cycle_basis(edges, num_nodes)
    projector = cycle_projector(edges, num_nodes)
    values, counts = np.unique(basis.lengths, return_counts=True)
    zeros = np.unique((np.abs(projector) < _ZERO).sum(axis=0))
    return {
        "nodes, edges": f"{num_nodes}, {edges.shape[1]}",
        "message passing: nodes alike": _sizes(colour_refinement(edges, num_nodes)),
        "Betti number": str(betti_number(edges, num_nodes)),
        "projector: diagonal": _distinct(np.diag(projector)),
        "projector: zeros per column": " or ".join(map(str, zeros)),
        "projector: column sum of |P|": _distinct(np.abs(projector).sum(axis=0)),
        "shortest basis: lengths": " + ".join(
            f"{count} x {length}" for length, count in zip(values, counts, strict=True)
        ),
        "relevant cycles": str(basis.num_relevant),
    }


def _sizes(colours: Int[np.ndarray, " n"]) -> str:
    return " + ".join(str(size) for size in np.bincount(colours))


def _distinct(values: Float[np.ndarray, " k"]) -> str:
    return " or ".join(f"{value:g}" for value in np.unique(np.round(values, 9)))


def _picture(name: str, graph: Graph) -> CyclePicture:
    basis = shortest_cycle_basis(*graph)
    # The layout finds the two octagons of the Shrikhande graph by itself.
    places = _four_squares() if name == _ROOK else None
    return CyclePicture(name, *graph, basis.cycles, places)


def _four_squares() -> Float[np.ndarray, "16 2"]:
    """Places of the Rook graph: each row of the board a square, the four rows in a square."""
    angle = np.pi / 4 + np.pi / 2 * np.arange(4)
    rows, columns = np.exp(1j * angle), 0.42 * np.exp(1j * (angle + 0.35))
    places = (rows[:, None] + columns).reshape(-1)
    return np.stack((places.real, places.imag), axis=1) / np.abs(places.real).max()
