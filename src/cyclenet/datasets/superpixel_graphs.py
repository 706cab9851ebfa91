"""Superpixel complexes for networks: as graphs with faces, one by one or all of them end to end."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Integer
from torch import Tensor

from cyclenet.data import CycleData, Rows
from cyclenet.datasets.data_folder import DEFAULT_ROOT, DataFolder
from cyclenet.datasets.mnist_files import MNIST_PARTS, fetch_mnist
from cyclenet.datasets.superpixel_files import Progress, make_superpixels, read_superpixels
from cyclenet.datasets.superpixels import (
    ARRAYS,
    COLOURS,
    ENCODINGS,
    SuperpixelComplex,
    SuperpixelComplexes,
)

# Mean colour, three times, and the centre: what the nodes of a superpixel graph have.
SUPERPIXEL_CHANNELS = COLOURS + 2

# The signs of the sides (i, j), (i, k) and (j, k) of a triangle.
_SIGNS = (1, -1, 1)

if TYPE_CHECKING:
    DataSequence = Sequence[CycleData]
else:
    # For the same reason as `graph.GraphSequence`.
    DataSequence = Sequence


class Superpixels(DataSequence):
    """Superpixel graphs of many images, made one by one as they are asked for, or never.

    A training set of 55,000 would take gigabytes as graphs; `rows` hands over all attributes end to
    end in small integers, out of which a store of the runner gathers any batch.

    Args:
        complexes: The complexes; the encodings among their arrays become attributes.
    """

    def __init__(self, complexes: SuperpixelComplexes) -> None:
        self.complexes = complexes

    def __len__(self) -> int:
        """Number of images."""
        return len(self.complexes)

    def __getitem__(self, index: int) -> CycleData:
        """The graph of image `index`, with its digit in `y` and its encodings."""
        index = range(len(self))[index]
        data = superpixel_data(self.complexes[index])
        data.y = torch.tensor([int(self.complexes.arrays["y"][index])])
        for name in self._encodings():
            data[name] = torch.from_numpy(self.complexes.of(index, name).astype(np.float32))
        return data

    def rows(self, *, gives_away: bool = False) -> Iterator[tuple[str, Rows]]:
        """The attributes of all graphs end to end.

        Args:
            gives_away: Whether each array is let go once it is no longer needed. Then there is
                never much more than what is handed over, and nothing is left in the end.

        Yields:
            Each by its name, made when it is asked for, in the order that `from_rows` needs.
        """
        encodings, sizes = self._encodings(), self.complexes.sizes
        arrays = dict(self.complexes.arrays)
        if gives_away:
            self.complexes.arrays.clear()
        counts = {unit: torch.from_numpy(each) for unit, each in sizes.items()}
        nodes, edges, graphs = counts["nodes"], counts["edges"], counts["graphs"]
        sides = 3 * counts["faces"]
        yield "x", Rows(_features(arrays.pop("points")), nodes, torch.float32)
        yield "num_faces", _whole(arrays.pop("num_faces"), graphs)
        yield "edges", _whole(np.ascontiguousarray(arrays["edges"].T), edges)
        yield "face_incidence", _whole(_sides(arrays.pop("faces"), sizes["faces"]), sides)
        yield "face_sign", _signs(np.tile(np.array(_SIGNS, np.int8), int(sides.sum()) // 3), sides)
        yield "edge_index", _whole(_arcs(arrays.pop("edges"), sizes["edges"]), 2 * edges)
        doubled = 2 * sizes["edges"]
        numbers = _runs(doubled, lambda size: np.arange(size) % max(size // 2, 1), np.int16)
        yield "arc_to_edge", _whole(numbers, 2 * edges)
        del numbers
        signs = _runs(doubled, lambda size: np.repeat([1, -1], size // 2), np.int8)
        yield "arc_sign", _signs(signs, 2 * edges)
        del signs
        yield "y", _whole(arrays.pop("y"), graphs)
        for name in encodings:
            lengths = graphs if name == "laplacian_bounds" else edges
            yield name, Rows(torch.from_numpy(arrays.pop(name)), lengths, torch.float32)

    def _encodings(self) -> list[str]:
        return [name for name in ENCODINGS if name in self.complexes.arrays]


def mnist_superpixels(
    part: str,
    root: str | Path = DEFAULT_ROOT,
    *,
    ids: Integer[np.ndarray, " c"] | None = None,
    encodings: Sequence[str] = ENCODINGS,
    processes: int = 1,
    progress: Progress | None = None,
) -> Superpixels:
    """The superpixel graphs of MNIST, cut once and kept.

    Args:
        part: ``"train"`` or ``"test"``.
        root: A folder in which ``MNIST/raw`` or ``raw`` holds the four published files.
        ids: Numbers of the images that are wanted, ascending, such as all but those of
            `validation_ids`; None for all.
        encodings: Which of `projector_sums`, `hodge_sums` and `laplacian_bounds` to have.
        processes: How many processes cut them; see `make_superpixels`.
        progress: Called with the number of images that are ready and that of all.

    Returns:
        The graphs. Each has `x` of shape (n, 5), `edge_index` with both directions of every edge,
        `y` of shape (1), and of the attributes of `CycleData` `edges`, which run from the brighter
        region to the darker one, `arc_to_edge`, `arc_sign`, the triangles `face_incidence`,
        `face_sign` and `num_faces`, and the encodings.

    Raises:
        BadArgument: If there is no such part.
        DataFileError: If files of MNIST are missing or damaged.
        MissingExtra: If images have to be cut and scikit-image is not installed.
        ValueError: If an encoding is unknown, or `ids` do not ascend.
    """
    unknown = sorted(set(encodings) - set(ENCODINGS))
    if unknown:
        raise ValueError(f"`encodings` must be some of {ENCODINGS}, but {unknown} came")
    names = [name for name in ARRAYS if name not in ENCODINGS or name in encodings]
    return Superpixels(
        read_superpixels(part, root, ids=ids, names=names, processes=processes, progress=progress)
    )


def ready_superpixels(
    data: DataFolder, *, processes: int = 1, progress: Progress | None = None
) -> None:
    """See that the superpixels of all images are here and whole; fetch MNIST first where one may.

    Args:
        data: The folder of data.
        processes: How many processes cut images; see `make_superpixels`.
        progress: Called with the number of images of a part that are ready and that of all.

    Raises:
        DataFileError: If files of MNIST are missing or damaged, or cannot be fetched.
        MissingExtra: If images have to be cut and scikit-image is not installed.
    """
    if data.download:
        fetch_mnist(data.root)
    for part in MNIST_PARTS:
        make_superpixels(part, data.root, processes=processes, progress=progress)


def superpixel_data(complex: SuperpixelComplex) -> CycleData:
    """A superpixel complex as a graph with its triangles as faces.

    The features of an edge and of a triangle, those of its nodes one after the other, are not
    stored: networks take them from `x`, along `edges` and from the brightest node on.

    Args:
        complex: The complex.

    Returns:
        The graph, without an answer and without encodings.
    """
    boundary = complex.boundary()
    num_edges, num_faces = complex.edges.shape[1], complex.faces.shape[1]
    edges = torch.from_numpy(complex.edges)
    number = torch.arange(num_edges)
    sign = torch.ones(num_edges, dtype=torch.int8)
    sides = np.stack((boundary.indices.astype(np.int64), np.arange(num_faces).repeat(3)))
    return CycleData(
        x=_features(complex.points),
        edge_index=torch.cat((edges, edges.flip(0)), dim=1),
        edges=edges,
        arc_to_edge=torch.cat((number, number)),
        arc_sign=torch.cat((sign, -sign)),
        face_incidence=torch.from_numpy(sides),
        face_sign=torch.from_numpy(boundary.data.astype(np.int8)),
        num_faces=torch.tensor([num_faces]),
    )


def _features(points: np.ndarray) -> Tensor:
    """Three equal colours and the centre."""
    return torch.from_numpy(points[:, [0] * COLOURS + [1, 2]])


def _whole(values: np.ndarray, lengths: Tensor) -> Rows:
    """Whole numbers, which a graph has as int64."""
    return Rows(torch.from_numpy(values), lengths, torch.int64)


def _signs(values: np.ndarray, lengths: Tensor) -> Rows:
    return Rows(torch.from_numpy(values), lengths, torch.int8)


def _sides(faces: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Of each graph the three edges of every face, and the face beside each."""
    sides = np.empty((2, faces.size), dtype=faces.dtype)
    sides[0] = faces.reshape(-1)
    sides[1] = _runs(3 * sizes, lambda size: np.arange(size) // 3, faces.dtype)
    return sides


def _arcs(edges: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Of each graph all edges forward and then all of them backward."""
    arcs = np.empty((2, 2 * len(edges)), dtype=edges.dtype)
    start = 0
    for size in sizes.tolist():
        here = edges[start : start + size].T
        arcs[:, 2 * start : 2 * start + size] = here
        arcs[:, 2 * start + size : 2 * (start + size)] = here[::-1]
        start += size
    return arcs


def _runs(
    sizes: np.ndarray, numbers: Callable[[int], np.ndarray], kind: np.typing.DTypeLike
) -> np.ndarray:
    """The numbers of each graph one after the other, which depend on how many there are."""
    runs = np.empty(int(sizes.sum()), dtype=kind)
    known: dict[int, np.ndarray] = {}
    start = 0
    for size in sizes.tolist():
        if size not in known:
            known[size] = numbers(size)
        runs[start : start + size] = known[size]
        start += size
    return runs
