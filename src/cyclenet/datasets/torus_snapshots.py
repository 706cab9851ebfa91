"""Complexes that grow on a cloud of points, and how far each edge is from a hole."""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from cyclenet.datasets.errors import MissingExtra
from cyclenet.datasets.point_complex import PointComplex, sorted_simplices
from cyclenet.datasets.torus_points import FAMILIES, Family, torus_cloud
from cyclenet.topology import (
    SimplicialDistances,
    distance_labels,
    distance_to_cycles,
    shortest_homology_basis,
)
from cyclenet.topology.links import edge_link_betti_numbers

# A moment is of interest if some hole is there during the whole of a short time before it. Times
# are squared radii.
_ALIVE_FROM, _ALIVE_TO = 0.002, 0.001

# Homology is taken over Z2, as the shortest bases are.
_FIELD = 2


@dataclass(frozen=True)
class CloudOptions:
    """Everything a cloud and its snapshots depend on, besides their number.

    Args:
        num_points: Points on each torus; a cloud takes one of these numbers.
        dim: 2 leaves out the third coordinate.
        per_cloud: A cloud is done with when it has so many snapshots. They come in pairs, at the
            birth and at the death of a hole, so there can be one more.
        betti: The least and the greatest number of holes of a snapshot, or None for any.
        trivial: How often a moment is taken though no hole of interest is there; with `betti`, only
            if there is no hole at all.
        as_published: As for `torus_cloud`.
        seed: The seed of all clouds.

    Raises:
        ValueError: If a number makes no sense.
    """

    num_points: tuple[int, ...] = (100, 110, 120)
    dim: Literal[2, 3] = 2
    per_cloud: int = 2
    betti: tuple[int, int] | None = (1, 5)
    trivial: float = 0.0
    as_published: bool = False
    seed: int = 1234

    def __post_init__(self) -> None:
        """Refuse what no cloud can be drawn from."""
        least, most = self.betti or (0, 0)
        sound = {
            "num_points": bool(self.num_points) and min(self.num_points, default=0) > self.dim,
            "dim": self.dim in {2, 3},
            "per_cloud": self.per_cloud > 0,
            "betti": 0 <= least <= most,
            "trivial": 0 <= self.trivial <= 1,
            "seed": self.seed >= 0,
        }
        for name, is_sound in sound.items():
            if not is_sound:
                raise ValueError(
                    f"`{name}` must be something a cloud can be drawn from, but it is "
                    f"{getattr(self, name)!r}; see `CloudOptions`"
                )


class TorusSnapshot(NamedTuple):
    """A complex with a target for every edge.

    Args:
        complex: Its simplices; points without an edge are nodes all the same.
        family: The family of the cloud.
        cloud: The number of the cloud in its family. Snapshots of one cloud are much alike.
        time: The complex holds the simplices that were there before this squared radius.
        betti: Number of holes.
        labels: 0 on the shortest cycles around the holes, 1 on the farthest simplices and where no
            hole can be reached.
        link_betti: Betti numbers of the link of each edge.
    """

    complex: PointComplex
    family: Family
    cloud: int
    time: float
    betti: int
    labels: Float[np.ndarray, " m"]
    link_betti: Int[np.ndarray, "m 3"]


def snapshots_of_cloud(options: CloudOptions, family: Family, cloud: int) -> list[TorusSnapshot]:
    """One cloud of a family and its snapshots, which no other cloud has any part in.

    Args:
        options: What to draw.
        family: Which family.
        cloud: Which of its clouds.

    Returns:
        Its snapshots by time; there may be none.

    Raises:
        MissingExtra: If gudhi is not installed.
    """
    rng = np.random.default_rng([options.seed, FAMILIES.index(family), cloud])
    num_points = int(rng.choice(options.num_points))
    points = torus_cloud(family, num_points, rng, as_published=options.as_published)
    points = np.ascontiguousarray(points[:, : options.dim])
    tree = alpha_complex(points)
    times = chosen_times(tree, options, rng)
    simplices = list(tree.get_filtration()) if times else []
    return [_snapshot(points, simplices, family, cloud, time) for time in times]


def alpha_complex(points: Float[np.ndarray, "n d"]) -> Any:
    """The alpha complex of a cloud, as gudhi has it, with its persistence over Z2.

    Args:
        points: Points in the plane or in space.

    Returns:
        A `gudhi.SimplexTree`; node i is point i, and simplices come at their squared radius.

    Raises:
        MissingExtra: If gudhi is not installed.
    """
    try:
        # Not by name: those who check types need not have it either.
        gudhi: Any = import_module("gudhi")
    except ImportError:
        raise MissingExtra("gudhi", extra="complexes", needed_for="drawing tori") from None
    tree = gudhi.AlphaComplex(points=points).create_simplex_tree()
    tree.compute_persistence(homology_coeff_field=_FIELD, persistence_dim_max=True)
    return tree


def chosen_times(tree: Any, options: CloudOptions, rng: np.random.Generator) -> list[float]:
    """When to take snapshots: at births and deaths of the holes that live longest.

    Args:
        tree: From `alpha_complex`.
        options: How many, and with how many holes.
        rng: Decides about moments without a hole.

    Returns:
        Squared radii, ascending.
    """
    lives = [
        (birth, death)
        for dimension in range(1, options.dim)
        for birth, death in tree.persistence_intervals_in_dimension(dimension).tolist()
        if np.isfinite(death)
    ]
    chosen: set[float] = set()
    for birth, death in sorted(lives, key=lambda life: (life[0] - life[1], life)):
        if len(chosen) >= options.per_cloud:
            break
        for time in (birth, death):
            if time > 0 and _is_chosen(tree, time, options, rng):
                chosen.add(time)
    return sorted(chosen)


def _is_chosen(tree: Any, time: float, options: CloudOptions, rng: np.random.Generator) -> bool:
    alive = tree.persistent_betti_numbers(time - _ALIVE_FROM, time - _ALIVE_TO)[1] > 0
    if not alive and rng.random() >= options.trivial:
        return False
    if options.betti is None:
        return True
    least, most = options.betti if alive else (0, 0)
    before = np.nextafter(time, 0)
    return least <= tree.persistent_betti_numbers(before, before)[1] <= most


def _snapshot(
    points: Float[np.ndarray, "n d"],
    simplices: Iterable[tuple[list[int], float]],
    family: Family,
    cloud: int,
    time: float,
) -> TorusSnapshot:
    of_size: dict[int, list[list[int]]] = {2: [], 3: [], 4: []}
    for simplex, since in simplices:
        if len(simplex) > 1 and since < time:
            of_size[len(simplex)].append(simplex)
    parts = [
        sorted_simplices(np.array(of_size[size], dtype=np.int64).reshape(-1, size).T)
        for size in (2, 3, 4)
    ]
    complex = PointComplex(points, *parts)
    labels, betti = edge_labels(complex)
    return TorusSnapshot(complex, family, cloud, time, betti, labels, link_numbers(complex))


def link_numbers(complex: PointComplex) -> Int[np.ndarray, "m 3"]:
    """`edge_link_betti_numbers` of a complex.

    Args:
        complex: The complex.

    Returns:
        One row for each edge.
    """
    return edge_link_betti_numbers(
        complex.edges, complex.triangles, complex.num_nodes, complex.tetrahedra
    )


def edge_labels(complex: PointComplex) -> tuple[Float[np.ndarray, " m"], int]:
    """How far every edge is from the shortest cycles around the holes, and how many there are.

    The cycles are a shortest homology basis, where an edge is as long as it is in space. Distances
    are those of `distance_to_cycles`, as fractions of the largest of any simplex.

    Args:
        complex: The complex.

    Returns:
        Numbers from 0 to 1, and the Betti number. Without holes all numbers are 1.
    """
    edges, triangles, num_nodes = complex.edges, complex.triangles, complex.num_nodes
    basis = shortest_homology_basis(edges, triangles, num_nodes, complex.edge_lengths())
    near = distance_to_cycles(edges, triangles, num_nodes, basis)
    return distance_labels(_with_tetrahedra(near, complex)).edges, basis.betti_number


def _with_tetrahedra(near: SimplicialDistances, complex: PointComplex) -> SimplicialDistances:
    """The distances with those of tetrahedra among the faces."""
    # As with triangles and edges one dimension lower: a tetrahedron is one further than its nearest
    # node, and its side opposite to that node, if all else is further away, is in the link of what
    # was reached before. Nothing changes for edges, which have a triangle where they have a
    # tetrahedron, but the largest distance of all may.
    corners = near.nodes[complex.tetrahedra]
    nearest = corners.min(axis=0, initial=np.inf)
    faces = near.faces.copy()
    number = {tuple(triangle): i for i, triangle in enumerate(complex.triangles.T.tolist())}
    lone = np.flatnonzero((corners > nearest).sum(axis=0) == 3)
    for tetrahedron in lone.tolist():
        apex = int(np.argmin(corners[:, tetrahedron]))
        opposite = np.delete(complex.tetrahedra[:, tetrahedron], apex)
        face = number[tuple(opposite.tolist())]
        faces[face] = near.nodes[opposite].min()
    return near._replace(faces=np.concatenate((faces, nearest + 1)))
