"""`cyclenet inspect`: one graph, or a dataset, in numbers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cyclenet.commands.outcome import EXIT_USAGE, CommandError, Failure, Outcome
from cyclenet.commands.table import aligned, cell_text, size_text
from cyclenet.datasets.data_folder import DATA_HERE, DataFolder
from cyclenet.datasets.graph import Graph, GraphSequence, pack_graphs
from cyclenet.datasets.sources import open_source
from cyclenet.report.drawing import CyclePicture, draw_cycles, save_svg
from cyclenet.topology import CycleBasis, blocks, shortest_cycle_bases, shortest_cycle_basis

# Above this Betti number of one block a shortest basis may take minutes.
MOST_CYCLES = 20_000
MOST_NODES_TO_DRAW = 1_500

# Two int64 ids and an int8 sign for each (edge, cycle); two ids and a float32 for each pair.
_BYTES_PER_INCIDENCE, _BYTES_PER_PAIR = 17, 20


def inspect_source(
    text: str,
    *,
    svg: Path | None = None,
    data: DataFolder = DATA_HERE,
    no_limit: bool = False,
) -> Outcome:
    """The numbers of one graph, or of many.

    Args:
        text: A source, as `open_source` takes it.
        svg: Where to draw the graph with its basis, or None.
        data: The folder of the sets that are not shipped.
        no_limit: Compute the basis even where it takes long.

    Returns:
        The numbers.

    Raises:
        CommandError: If a picture is asked for of many graphs, or of a graph too large to be seen.
    """
    source = open_source(text, data=data)
    if len(source.graphs) == 1:
        return _inspect_graph(source.name, source.graphs[0], source.notes, svg, no_limit)
    if svg is not None:
        raise CommandError(
            Failure(
                EXIT_USAGE,
                "one_graph_expected",
                f"`--svg` draws one graph, but {text} holds {len(source.graphs)}",
                f"cyclenet inspect {text}:0 --svg {svg}",
                "--svg",
            )
        )
    return _inspect_graphs(source.name, source.graphs, source.notes, no_limit)


def _inspect_graph(
    name: str, graph: Graph, notes: Sequence[str], svg: Path | None, no_limit: bool
) -> Outcome:
    edges, num_nodes = graph
    parts = blocks(edges, num_nodes)
    betti = int(parts.betti.sum())
    result: dict[str, Any] = {
        "source": name,
        "graphs": 1,
        "nodes": num_nodes,
        "edges": edges.shape[1],
        "components": num_nodes - edges.shape[1] + betti,
        "betti_number": betti,
        "blocks": parts.num_blocks,
        "largest_block_edges": int(parts.sizes.max(initial=0)),
        "bridges": int(parts.bridges.sum()),
        "shortest_basis": None,
        "bytes": {
            "basis": None,
            "projector_pairs": _BYTES_PER_PAIR * int(parts.num_pairs),
            "projector_dense": 8 * edges.shape[1] ** 2,
        },
        "svg": None,
    }
    warnings = list(notes)
    largest = int(parts.betti.max(initial=0))
    basis = None
    if largest > MOST_CYCLES and not no_limit:
        warnings.append(_left_out(largest))
    else:
        basis = shortest_cycle_basis(edges, num_nodes)
        result["shortest_basis"] = _basis_numbers(basis)
        result["bytes"]["basis"] = _BYTES_PER_INCIDENCE * basis.incidence.nnz
    if svg is not None:
        _draw(name, graph, basis, svg)
        result["svg"] = str(svg)
    return Outcome(result, _graph_lines(result), warnings)


def _basis_numbers(basis: CycleBasis) -> dict[str, Any]:
    return {
        "cycles": basis.num_cycles,
        "lengths": _histogram(basis.lengths),
        "total_length": basis.total_weight,
        "unique": basis.is_unique,
        "relevant_cycles": basis.num_relevant,
    }


def _inspect_graphs(
    name: str, graphs: GraphSequence, notes: Sequence[str], no_limit: bool
) -> Outcome:
    packed = pack_graphs(graphs)
    num_edges = np.diff(packed.edge_ptr)
    parts = [blocks(*graph) for graph in packed]
    betti = np.array([int(part.betti.sum()) for part in parts], dtype=np.int64)
    result: dict[str, Any] = {
        "source": name,
        "graphs": len(packed),
        "nodes": _spread(packed.num_nodes),
        "edges": _spread(num_edges),
        "components": _spread(packed.num_nodes - num_edges + betti),
        "betti_number": _spread(betti),
        "blocks": _spread([part.num_blocks for part in parts]),
        "bridges": _spread([int(part.bridges.sum()) for part in parts]),
        "shortest_basis": None,
        "bytes": {
            "basis": None,
            "projector_pairs": _BYTES_PER_PAIR * sum(int(part.num_pairs) for part in parts),
            "projector_dense": 8 * int((num_edges**2).sum()),
        },
    }
    warnings = list(notes)
    largest = max((int(part.betti.max(initial=0)) for part in parts), default=0)
    if largest > MOST_CYCLES and not no_limit:
        warnings.append(_left_out(largest))
    else:
        bases = shortest_cycle_bases(
            packed.edges, packed.edge_ptr, packed.num_nodes, count_relevant=True
        )
        relevant = bases.num_relevant
        assert relevant is not None  # counts were asked for
        result["shortest_basis"] = {
            "cycles": int(bases.lengths.size),
            "lengths": _histogram(bases.lengths),
            "total_length": int(bases.lengths.sum()),
            "unique_graphs": int((relevant == np.diff(bases.cycle_ptr)).sum()),
            "relevant_cycles": _spread(relevant),
        }
        result["bytes"]["basis"] = _BYTES_PER_INCIDENCE * int(bases.cycle_edges.size)
    return Outcome(result, _dataset_lines(result), warnings)


def _draw(name: str, graph: Graph, basis: CycleBasis | None, svg: Path) -> None:
    if graph.num_nodes > MOST_NODES_TO_DRAW:
        raise CommandError(
            Failure(
                EXIT_USAGE,
                "too_large_to_draw",
                f"`--svg` draws up to {MOST_NODES_TO_DRAW} nodes, but {name} has {graph.num_nodes}",
                where="--svg",
            )
        )
    cycles = [] if basis is None else basis.cycles
    title = f"{name}: {graph.num_nodes} nodes, {graph.edges.shape[1]} edges, {len(cycles)} cycles"
    figure = draw_cycles([CyclePicture(title, graph.edges, graph.num_nodes, cycles)])
    description = "The graph, with each cycle of a shortest cycle basis in its own colour."
    save_svg(svg, figure, title=title, description=description)


def _left_out(largest: int) -> str:
    return (
        f"the shortest basis was left out: a block has {largest} independent cycles, more than "
        f"{MOST_CYCLES}; --no-limit computes it all the same"
    )


def _histogram(lengths: np.ndarray) -> dict[str, int]:
    values, counts = np.unique(lengths, return_counts=True)
    return {str(value): int(count) for value, count in zip(values, counts, strict=True)}


def _spread(values: Sequence[int] | np.ndarray) -> dict[str, float | int] | None:
    array = np.asarray(values)
    if array.size == 0:
        return None
    return {"min": int(array.min()), "mean": float(array.mean()), "max": int(array.max())}


def _graph_lines(result: dict[str, Any]) -> list[str]:
    names = {
        "nodes": "nodes",
        "edges": "edges",
        "components": "components",
        "betti_number": "Betti number",
        "blocks": "blocks",
        "largest_block_edges": "edges of the largest block",
        "bridges": "bridges",
    }
    rows = [(words, cell_text(result[key])) for key, words in names.items()]
    basis = result["shortest_basis"]
    if basis is not None:
        rows += [
            ("shortest basis", _length_words(basis["lengths"])),
            ("total length", cell_text(basis["total_length"])),
            ("unique", cell_text(basis["unique"])),
            ("relevant cycles", cell_text(basis["relevant_cycles"])),
        ]
    rows += _byte_rows(result["bytes"])
    if result["svg"]:
        rows.append(("picture", result["svg"]))
    return [result["source"], *aligned(rows)]


def _dataset_lines(result: dict[str, Any]) -> list[str]:
    names = {
        "nodes": "nodes",
        "edges": "edges",
        "components": "components",
        "betti_number": "Betti number",
        "blocks": "blocks",
        "bridges": "bridges",
    }
    rows = [(words, *_spread_cells(result[key])) for key, words in names.items()]
    basis = result["shortest_basis"]
    more = []
    if basis is not None:
        rows.append(("relevant cycles", *_spread_cells(basis["relevant_cycles"])))
        more = [
            ("shortest bases", _length_words(basis["lengths"])),
            ("unique", f"{basis['unique_graphs']} of {result['graphs']} graphs"),
        ]
    more += _byte_rows(result["bytes"])
    header = ("per graph", "min", "mean", "max")
    title = f"{result['source']}: {result['graphs']} graphs"
    return [title, "", *aligned(rows, header), "", *aligned(more)]


def _spread_cells(spread: dict[str, float | int] | None) -> list[float | int | None]:
    return [None if spread is None else spread[key] for key in ("min", "mean", "max")]


def _byte_rows(sizes: dict[str, int | None]) -> list[tuple[str, str]]:
    names = {
        "basis": "basis in memory",
        "projector_pairs": "projector within blocks",
        "projector_dense": "projector as matrices",
    }
    return [
        (words, size_text(size)) for key, words in names.items() if (size := sizes[key]) is not None
    ]


def _length_words(lengths: dict[str, int]) -> str:
    return " + ".join(f"{count} of length {length}" for length, count in lengths.items()) or "empty"
