"""From what a user types, such as ``sr:sr16622:1`` or ``molecules.smi``, to graphs."""

from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cyclenet.datasets.catalog import FILE_SUFFIXES, NUM_ARGUMENTS, SOURCE_KINDS, TAKES_WORDS
from cyclenet.datasets.cfi import cfi_graph, rook_graph, shrikhande_graph
from cyclenet.datasets.cyclic_points import POINT_TASKS
from cyclenet.datasets.data_folder import DATA_HERE, DataFolder
from cyclenet.datasets.edge_list import read_edge_list
from cyclenet.datasets.errors import BadArgument, DataFileError, UnknownName
from cyclenet.datasets.graph import Graph, GraphSequence
from cyclenet.datasets.graph6 import read_graph6
from cyclenet.datasets.molecules import molecule_graphs
from cyclenet.datasets.smiles import SmilesGraphs
from cyclenet.datasets.strongly_regular import strongly_regular_graphs
from cyclenet.datasets.torus import torus_set
from cyclenet.datasets.trajectories import holed_square
from cyclenet.datasets.tu import read_tu
from cyclenet.datasets.zinc_files import sample_molecules, zinc_molecules

_HINT = "cyclenet list datasets"

# Points on circles: the size and the seed of the published sets.
_NUM_POINT_GRAPHS, _POINT_SEED = 500, 1234


class Source(NamedTuple):
    """Graphs and what to say about them.

    Args:
        name: What the user typed.
        graphs: The graphs, read or made one by one as they are asked for.
        notes: What was mended while reading, with counts.
    """

    name: str
    graphs: GraphSequence
    notes: tuple[str, ...] = ()


def open_source(text: str, *, data: DataFolder = DATA_HERE) -> Source:
    """The graphs a user names.

    Args:
        text: ``rook``, ``shrikhande``, ``cfi:K``, ``cfi:K:TWIST``, ``sr:NAME``, ``sr:FILE.g6``,
            ``molecules``, ``zinc-sample``, ``zinc``, ``zinc:SPLIT``, ``n-circles`` and the other
            tasks on points, ``trajectories``, ``tori``, ``tu:NAME``, or a file that ends in .g6,
            .g6.gz, .csv or .smi; a last ``:i`` picks graph i, negative from the end.
        data: The folder in which ``tu:NAME`` and ``zinc`` look for their files; only the latter
            can be fetched.

    Returns:
        The graphs.

    Raises:
        UnknownName: If there is no such source; the message offers the nearest.
        BadArgument: If an argument or the index of a source is out of range.
        DataFileError: If a file cannot be read.
        MissingExtra: If the format needs a package that is not installed.

    Example:
        >>> open_source("sr:sr16622:1").graphs[0].num_nodes
        16
    """
    source, index = _split_index(text)
    graphs, notes = _open(source, data)
    if index is None:
        return Source(text, graphs, notes)
    if not -len(graphs) <= index < len(graphs):
        raise BadArgument(
            f"expected a graph below {len(graphs)}, the number of graphs in {source}, but "
            f"{index} came",
            hint=f"{source}:{len(graphs) - 1}" if graphs else None,
        )
    return Source(text, [graphs[index]], notes)


def _split_index(text: str) -> tuple[str, int | None]:
    """A source and the index after it; what the source itself takes after a colon stays with it."""
    parts = text.split(":")
    head, last = ":".join(parts[:-1]), parts[-1]
    if not head or not last.removeprefix("-").isdecimal():
        return text, None
    most = 0 if parts[0] in TAKES_WORDS else NUM_ARGUMENTS.get(parts[0], (0, 0))[1]
    return (text, None) if len(parts) - 1 <= most else (head, int(last))


def _open(source: str, data: DataFolder) -> tuple[GraphSequence, tuple[str, ...]]:
    word, _, argument = source.partition(":")
    if word == "sr" and argument.endswith(FILE_SUFFIXES):
        word, source = "", argument
    if word in NUM_ARGUMENTS:
        arguments = argument.split(":") if argument else []
        least, most = NUM_ARGUMENTS[word]
        if not least <= len(arguments) <= most:
            example = next(kind.example for kind in SOURCE_KINDS if kind.pattern.startswith(word))
            raise UnknownName("source", source, _names(), hint=example)
        return _open_named(word, arguments, data)
    if not source.endswith(FILE_SUFFIXES):
        if Path(source).suffix or Path(source).exists():
            endings = ", ".join(FILE_SUFFIXES)
            raise BadArgument(
                f"expected a file ending in {endings}, but {source!r} came", hint=_HINT
            )
        raise UnknownName("source", source, _names(), hint=_HINT)
    try:
        return _open_file(source)
    except OSError as error:
        raise DataFileError(f"cannot be read: {error.strerror or error}", path=source) from None


def _open_named(
    word: str, arguments: list[str], data: DataFolder
) -> tuple[GraphSequence, tuple[str, ...]]:
    match word:
        case "rook":
            return [rook_graph()], ()
        case "shrikhande":
            return [shrikhande_graph()], ()
        case "molecules":
            return molecule_graphs(), ()
        case "zinc-sample":
            return sample_molecules().graphs(), ()
        case "zinc":
            return _open_zinc(*arguments or (None,), data=data), ()
        case "cfi":
            return [_cfi(arguments)], ()
        case "sr":
            return strongly_regular_graphs(arguments[0]), ()
        case "tu":
            return _open_tu(arguments[0], data.root)
        case "trajectories":
            return [holed_square(np.random.default_rng(_POINT_SEED)).graph], ()
        case "tori":
            return _tori(), ()
        case _:
            return _points_on_circles(word.replace("-", "_")), ()


def _open_file(path: str) -> tuple[GraphSequence, tuple[str, ...]]:
    if path.endswith(".csv"):
        return read_edge_list(path)
    if path.endswith(".smi"):
        return SmilesGraphs(path), ()
    return read_graph6(path), ()


def _points_on_circles(task: str) -> list[Graph]:
    rng = np.random.default_rng(_POINT_SEED)
    return [sample.graph for sample in POINT_TASKS[task].make(_NUM_POINT_GRAPHS, rng)]


def _tori() -> list[Graph]:
    return [each.complex.graph for part in torus_set("toy", None) for each in part]


def _cfi(arguments: list[str]) -> Graph:
    try:
        return cfi_graph(*map(int, arguments))
    except ValueError as error:
        raise BadArgument(f"cfi:K:TWIST takes two numbers: {error}", hint="cfi:4:1") from None


def _open_zinc(split: str | None, data: DataFolder) -> GraphSequence:
    if data.download:
        # It loads torch and PyTorch Geometric, which nothing else here needs.
        loader: Any = import_module("cyclenet.datasets.zinc")
        loader.fetch_zinc(data.root, split)
    return zinc_molecules(split, data.root, trust_pickle=data.trust_pickle).graphs()


def _open_tu(name: str, data_root: Path) -> tuple[GraphSequence, tuple[str, ...]]:
    folders = [data_root / name / "raw", data_root / "TU" / name / "raw"]
    for folder in folders:
        if (folder / f"{name}_A.txt").is_file():
            return read_tu(folder, name)
    raise DataFileError(
        f"expected {name}_A.txt in {folders[0]} or {folders[1]}, but there is none",
        hint=f"unpack {name} there, or name the folder with --data",
    )


def _names() -> list[str]:
    return [word if least == 0 else f"{word}:" for word, (least, _) in NUM_ARGUMENTS.items()]
