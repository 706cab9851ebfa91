r"""Superpixel complexes: a grey image as nodes, edges and triangles, for the paper's MNIST table.

The image is cut into small regions of about one colour (SLIC, Achanta et al. 2012), as Goh, Bodnar
and Lio (2022) do. Regions are nodes, regions that touch are joined by an edge, and three that touch
each other fill a triangle. scikit-image is imported when the first image is cut.

Edges run from the brighter region to the darker one, and triangles list theirs by decreasing
brightness. So nodes are numbered by decreasing brightness here: then every edge and every triangle
has its nodes in ascending order, which is how everything in this library directs them, and no
direction has to be stored. What the regions were called before does not matter to any network: it
sees the nodes as a set.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse
from jaxtyping import Float32, Int64, Integer, UInt8

from cyclenet.datasets.errors import MissingExtra
from cyclenet.datasets.typed_molecules import pointers
from cyclenet.topology import projector_sums
from cyclenet.topology.edge_sums import hodge_sums_of, laplacian_bounds_of

# What SLIC is asked for.
SEGMENTS = 75
COMPACTNESS = 1.0

# The colours of a region are three equal numbers, as if the image were not grey.
COLOURS = 3

# Ids of nodes are bytes in memory and on the disk. SLIC cuts an image of MNIST into 81 regions.
MOST_NODES = 256

# The pixels around one and the pixel itself, row by row: the order in which scikit-image looks.
_AROUND = tuple((row, column) for row in range(3) for column in range(3))

# Type and number of columns (1: a vector) of every array, and what its rows are.
_KINDS: dict[str, tuple[type[np.generic], int, str]] = {
    "points": (np.float32, 3, "nodes"),
    "edges": (np.uint8, 2, "edges"),
    "faces": (np.int16, 3, "faces"),
    "projector_sums": (np.float32, 3, "edges"),
    "hodge_sums": (np.int16, 3, "edges"),
    "laplacian_bounds": (np.float32, 3, "graphs"),
    "y": (np.uint8, 1, "graphs"),
    "num_nodes": (np.int16, 1, "graphs"),
    "num_edges": (np.int16, 1, "graphs"),
    "num_faces": (np.int16, 1, "graphs"),
}

ARRAYS = tuple(_KINDS)

# The arrays that encodings read and nothing else does.
ENCODINGS = ("projector_sums", "hodge_sums", "laplacian_bounds")


class SuperpixelComplex(NamedTuple):
    """The complex of one image.

    Args:
        points: The mean colour of each region, from 0 for black to 1, and the row and the column
            of its centre in pixels. The brightest region comes first.
        edges: Regions that touch, the brighter one above the darker one; columns ascend.
        faces: Triples of regions that touch each other, as triples of columns of `edges`: of the
            regions i < j < k the sides (i, j), (i, k) and (j, k). Columns ascend.
    """

    points: Float32[np.ndarray, "n 3"]
    edges: Int64[np.ndarray, "2 m"]
    faces: Int64[np.ndarray, "3 f"]

    def boundary(self) -> scipy.sparse.csc_array:
        """B2: each triangle (i, j, k) is +1 on (i, j) and (j, k), -1 on (i, k)."""
        num_faces = self.faces.shape[1]
        signs = np.tile(np.array([1, -1, 1], dtype=np.int64), num_faces)
        return scipy.sparse.csc_array(
            (signs, self.faces.T.reshape(-1), 3 * np.arange(num_faces + 1)),
            shape=(self.edges.shape[1], num_faces),
        )


if TYPE_CHECKING:
    ComplexSequence = Sequence[SuperpixelComplex]
else:
    # For the same reason as `graph.GraphSequence`.
    ComplexSequence = Sequence


class SuperpixelComplexes(ComplexSequence):
    """Complexes of many images, packed end to end, with what encodings read of each.

    | array | holds |
    | --- | --- |
    | `points`, `edges`, `faces` | those of `SuperpixelComplex`, one row for each |
    | `num_nodes`, `num_edges`, `num_faces` | how many of them each image has; ids count in it |
    | `y` | what each image shows |
    | `projector_sums` | what `topology.projector_sums` says of each edge |
    | `hodge_sums` | what `topology.hodge_sums` says of each edge, with the triangles |
    | `laplacian_bounds` | what `topology.laplacian_bounds` says of each image |

    Args:
        arrays: The arrays by these names; any of the last three may be left out.

    Raises:
        ValueError: If an array has the wrong type or shape, or ids are out of range.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        check_shapes(arrays)
        self.arrays = dict(arrays)
        self.sizes = _sizes(arrays)
        _check_values(self)
        self._starts = {unit: pointers(sizes) for unit, sizes in self.sizes.items()}

    def __len__(self) -> int:
        """Number of images."""
        return self.sizes["graphs"].size

    def __getitem__(self, index: int) -> SuperpixelComplex:
        """The complex of image `index`."""
        index = range(len(self))[index]
        points, edges, faces = (self.of(index, name) for name in ("points", "edges", "faces"))
        return SuperpixelComplex(points, edges.T.astype(np.int64), faces.T.astype(np.int64))

    def of(self, index: int, name: str) -> np.ndarray:
        """The rows of one image.

        Args:
            index: The image.
            name: An array.

        Returns:
            A view of the array.
        """
        starts = self._starts[_KINDS[name][2]]
        return self.arrays[name][starts[index] : starts[index + 1]]

    def chosen(
        self, ids: Integer[np.ndarray, " c"], names: Sequence[str] = ARRAYS
    ) -> "SuperpixelComplexes":
        """Some of the images, copied.

        Args:
            ids: Their numbers, in the order that is wanted.
            names: Which arrays to copy.

        Returns:
            As many images.
        """
        # Neighbours that stay neighbours are copied together.
        breaks = np.flatnonzero(np.diff(ids) != 1) + 1
        runs = [(int(run[0]), int(run[-1])) for run in np.split(ids, breaks) if run.size]
        arrays = {}
        for name, array in self.arrays.items():
            if name in names:
                starts = self._starts[_KINDS[name][2]]
                parts = [array[starts[first] : starts[last + 1]] for first, last in runs]
                arrays[name] = np.concatenate([array[:0], *parts])
        return SuperpixelComplexes(arrays)


def superpixel_complex(image: UInt8[np.ndarray, "h w"]) -> SuperpixelComplex:
    """The superpixel complex of a grey image.

    Args:
        image: Brightness of the pixels, 0 for black.

    Returns:
        Its regions, pairs of regions that touch, at a corner at least, and triples that do. Of
        regions that are equally bright the one comes first that the adjacency graph of
        scikit-image lists first, from the upper left.

    Raises:
        MissingExtra: If scikit-image is not installed.
        ValueError: If there are no pixels, or more than 256 regions.
    """
    if not image.size:
        raise ValueError(f"expected an image with pixels, but one of shape {image.shape} came")
    grey = image / 255.0
    labels = _labels(grey)
    count = int(labels.max()) + 1
    if count > MOST_NODES:
        raise ValueError(f"expected at most {MOST_NODES} regions of an image, but {count} came")
    flat = labels.reshape(-1)
    pixels = np.bincount(flat, minlength=count)
    rows, columns = np.indices(labels.shape).reshape(2, -1)
    means = [np.bincount(flat, each, count) / pixels for each in (grey.reshape(-1), rows, columns)]
    touch, listed = _touching(labels, count)
    colour = means[0]
    intensity = colour * colour + colour * colour + colour * colour
    order = np.lexsort((listed, -intensity))
    points = np.stack(means, axis=1)[order].astype(np.float32)
    return SuperpixelComplex(points, *_cliques(touch[np.ix_(order, order)]))


def pack_complexes(
    complexes: Iterable[SuperpixelComplex], labels: UInt8[np.ndarray, " b"]
) -> SuperpixelComplexes:
    """Complexes one after the other, with what encodings read of each.

    Args:
        complexes: The complexes; those without edges keep their place.
        labels: What each image shows.

    Returns:
        The same complexes in the same order.

    Raises:
        ValueError: As `SuperpixelComplexes`.
    """
    parts: dict[str, list[np.ndarray]] = {
        name: [np.zeros(_shape(name, 0), kind)] for name, (kind, _, _) in _KINDS.items()
    }
    for one in complexes:
        num_nodes, boundary = len(one.points), one.boundary()
        added = {
            "points": one.points,
            "edges": one.edges.T,
            "faces": one.faces.T,
            "projector_sums": projector_sums(one.edges, num_nodes),
            "hodge_sums": hodge_sums_of(one.edges, num_nodes, boundary),
            "laplacian_bounds": laplacian_bounds_of(one.edges, num_nodes, boundary)[None],
            "num_nodes": np.array([num_nodes]),
            "num_edges": np.array([one.edges.shape[1]]),
            "num_faces": np.array([one.faces.shape[1]]),
        }
        for name, array in added.items():
            parts[name].append(_narrowed(name, array))
    parts["y"].append(labels)
    return SuperpixelComplexes({name: np.concatenate(part) for name, part in parts.items()})


def validation_ids(
    labels: UInt8[np.ndarray, " b"], per_class: int, rng: np.random.Generator | None = None
) -> Int64[np.ndarray, " v"]:
    """Images that are kept back from training, as many of each class.

    Args:
        labels: What each image shows.
        per_class: How many of each class; fewer where there are fewer.
        rng: Draws them. None takes the first of each class, as the published code does, with 500.

    Returns:
        Their numbers, ascending; the others are for training.

    Example:
        >>> validation_ids(np.array([1, 0, 1, 0], dtype=np.uint8), 1).tolist()
        [0, 1]
    """
    chosen = []
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        chosen.append((members if rng is None else rng.permutation(members))[:per_class])
    return np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *chosen]))


def check_shapes(arrays: Mapping[str, np.ndarray]) -> None:
    """See that arrays have the types and shapes of those of `SuperpixelComplexes`.

    Args:
        arrays: The arrays by their names.

    Raises:
        ValueError: If they have not.
    """
    if not set(_KINDS) - set(ENCODINGS) <= set(arrays) <= set(_KINDS):
        raise ValueError(f"expected the arrays {', '.join(_KINDS)}, but {sorted(arrays)} came")
    for name, array in arrays.items():
        kind = _KINDS[name][0]
        if array.dtype != kind or array.shape != _shape(name, len(array) if array.ndim else 0):
            shape = ", ".join(map(str, ("any", *_shape(name, 0)[1:])))
            raise ValueError(
                f"expected {name} of type {np.dtype(kind)} and shape ({shape}), but type "
                f"{array.dtype} and shape {array.shape} came"
            )
    num_graphs = arrays["y"].size
    for name in ("num_nodes", "num_edges", "num_faces"):
        if arrays[name].size != num_graphs or (arrays[name] < 0).any():
            raise ValueError(f"expected {name} of {num_graphs} images, none of them negative")
    totals = {unit: int(sizes.sum()) for unit, sizes in _sizes(arrays).items()}
    for name, array in arrays.items():
        total = totals[_KINDS[name][2]]
        if len(array) != total:
            raise ValueError(f"expected {total} rows of {name}, but {len(array)} came")


def _labels(grey: np.ndarray) -> Int64[np.ndarray, "h w"]:
    """The region of each pixel, numbered from 0 without gaps."""
    slic = _scikit_image().slic
    cut = slic(grey, n_segments=SEGMENTS, compactness=COMPACTNESS, start_label=1, channel_axis=None)
    return np.unique(cut, return_inverse=True)[1].reshape(grey.shape).astype(np.int64)


def _touching(
    labels: Int64[np.ndarray, "h w"], count: int
) -> tuple[np.ndarray, Int64[np.ndarray, " n"]]:
    """Which regions touch, and when the adjacency graph of scikit-image would first list each.

    It goes from pixel to pixel and looks at those around, row by row; the first time that it meets
    another region there, it lists first the region of the pixel and then the other one.

    Returns:
        A symmetric table of regions, and a number for each region: the lower, the earlier.
    """
    height, width = labels.shape
    wide = np.pad(labels, 1, mode="edge")
    around = np.stack([wide[r : r + height, c : c + width].ravel() for r, c in _AROUND], axis=1)
    own = np.broadcast_to(labels.reshape(-1, 1), around.shape)
    pixel, place = np.nonzero(around != own)
    one, other = own[pixel, place], around[pixel, place]
    touch = np.zeros((count, count), dtype=bool)
    touch[one, other] = touch[other, one] = True
    step = pixel * (len(_AROUND) + 1)
    listed = np.full(count, labels.size * (len(_AROUND) + 1), dtype=np.int64)
    np.minimum.at(listed, one, step)
    np.minimum.at(listed, other, step + place + 1)
    return touch, listed


def _cliques(touch: np.ndarray) -> tuple[Int64[np.ndarray, "2 m"], Int64[np.ndarray, "3 f"]]:
    """Edges and triangles of a graph whose nodes have got their final numbers."""
    above = np.triu(touch, 1)
    edges = np.stack(np.nonzero(above))
    number = np.zeros(above.shape, dtype=np.int64)
    number[tuple(edges)] = np.arange(edges.shape[1])
    first, third = np.nonzero(above[edges[0]] & above[edges[1]])
    i, j = edges[:, first]
    return edges, np.stack((first, number[i, third], number[j, third]))


def _shape(name: str, rows: int) -> tuple[int, ...]:
    columns = _KINDS[name][1]
    return (rows,) if columns == 1 else (rows, columns)


def _sizes(arrays: Mapping[str, np.ndarray]) -> dict[str, Int64[np.ndarray, " b"]]:
    """How many rows of each unit every image has."""
    sizes = {unit: arrays[f"num_{unit}"].astype(np.int64) for unit in ("nodes", "edges", "faces")}
    return sizes | {"graphs": np.ones(arrays["y"].size, dtype=np.int64)}


def _narrowed(name: str, array: np.ndarray) -> np.ndarray:
    """An array in its final type; no whole number may wrap around and become another one."""
    kind = _KINDS[name][0]
    if issubclass(kind, np.integer) and array.size:
        least, most = np.iinfo(kind).min, np.iinfo(kind).max
        if array.min() < least or array.max() > most:
            worst = array.max() if array.max() > most else array.min()
            raise ValueError(f"expected {name} from {least} to {most}, but {worst} came")
    return array.astype(kind)


def _check_values(complexes: SuperpixelComplexes) -> None:
    """Ids that are counted in nodes or edges have to be some; what is summed has to be finite."""
    sizes, arrays = complexes.sizes, complexes.arrays
    for name, unit, counted_in in (("edges", "edges", "nodes"), ("faces", "faces", "edges")):
        ids = arrays[name]
        bound = np.repeat(sizes[counted_in].astype(np.int16), sizes[unit])
        # Ascending, the first is the lowest and the last the highest.
        bad = (ids[:, 0] < 0) | (ids[:, -1] >= bound)
        for column in range(1, ids.shape[1]):
            bad |= ids[:, column - 1] >= ids[:, column]
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(
                f"expected {name} of ascending ids below {bound[row]}, the number of {counted_in} "
                f"of their image, but {ids[row].tolist()} came"
            )
    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(f"expected finite {name}, but some are not")


def _scikit_image() -> Any:
    try:
        from skimage import segmentation
    except ImportError:
        raise MissingExtra(
            "scikit-image", extra="complexes", needed_for="cutting images into superpixels"
        ) from None
    return segmentation
