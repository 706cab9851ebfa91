"""Walks through a square with two holes: on which side of the holes did they pass?

The task of Table 5, right (as in Bodnar et al. 2021). The holes lie on the diagonal from the bottom
left to the top right. A walk goes from the top left to the bottom right, and on its way by way of
the bottom left (class 0) or the top right (class 1). A network sees the edges it took and in
which direction, and nothing of where the nodes are.

All samples of a set live on one complex. Test samples come each with an orientation of its own:
which end of an edge is its tail is a choice, and a prediction must not depend on it.
"""

from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Float, Int, Int8
from scipy.spatial import Delaunay

from cyclenet.datasets.point_complex import PointComplex, sorted_simplices
from cyclenet.topology.incidence import num_components

EdgeAlignment = Literal["true", "reference"]

# Walks of each class for training, validation and test. The published set has 500 for training and
# chooses the best epoch on them; here the last 100 of the same 500 are held out for that.
TRAJECTORY_SIZES = {"honest": (400, 100, 100), "paper": (500, 0, 100)}

# What the published complex starts from, before the holes are cut.
NUM_POINTS = 1000

# With fewer points most squares miss a hole or have nobody in a corner.
LEAST_POINTS = 100

# Boxes as (least x, least y, greatest x, greatest y); their borders belong to them.
_SQUARE = (-0.05, 1.05)
_HOLES = ((0.2, 0.2, 0.4, 0.4), (0.6, 0.6, 0.8, 0.8))
_START = (0.0, 0.8, 0.2, 1.0)
_END = (0.8, 0.0, 1.0, 0.2)
_CHECKPOINTS = ((0.0, 0.0, 0.2, 0.2), (0.8, 0.8, 1.0, 1.0))

# How often a step goes to any neighbour and not to the best one.
_STRAYS = 0.1


@dataclass(frozen=True, eq=False)
class TrajectorySet:
    r"""Walks on one complex.

    The law, for `flows` as they are and not ``"reference"``: $B_1 x$ is -1 at the first node of
    the walk, +1 at the last, and 0 elsewhere. Under another orientation, with $T$ the diagonal
    matrix of its signs, the sample is $(T x, B_1 T, T B_2)$, and the same holds.

    Args:
        complex: What all of them walk on; it is stored once.
        flows: For each walk, +1 on the edges it took from tail to head, -1 on those it took from
            head to tail, 0 elsewhere; tail < head.
        labels: The class of each walk.
        orientations: For each walk, -1 on the edges whose direction the sample reverses. Not yet
            applied to `flows`.
    """

    complex: PointComplex
    flows: Int8[np.ndarray, "s m"]
    labels: Int[np.ndarray, " s"]
    orientations: Int8[np.ndarray, "s m"]

    def __len__(self) -> int:
        """Number of walks."""
        return self.labels.size

    def __getitem__(self, part: slice | Int[np.ndarray, " p"]) -> "TrajectorySet":
        """Some of the walks, on the same complex."""
        return TrajectorySet(
            self.complex, self.flows[part], self.labels[part], self.orientations[part]
        )


class TrajectorySplits(NamedTuple):
    """The samples of one complex.

    Args:
        train: What weights are fitted to; the first half is class 0.
        validation: What choices are made on; empty under the published procedure.
        test: What is reported; each sample under a random orientation.
    """

    train: TrajectorySet
    validation: TrajectorySet
    test: TrajectorySet


def trajectory_splits(
    rng: np.random.Generator,
    *,
    sizes: tuple[int, int, int] = TRAJECTORY_SIZES["honest"],
    num_points: int = NUM_POINTS,
    edge_alignment: EdgeAlignment = "true",
) -> TrajectorySplits:
    """A complex and walks on it.

    The same generator gives the same complex and walks under both published and honest sizes: the
    validation samples of the latter are the last training samples of the former.

    Args:
        rng: Where randomness comes from.
        sizes: Walks of each class for training, validation and test; see `TRAJECTORY_SIZES`.
        num_points: Points before the holes are cut.
        edge_alignment: ``"true"`` puts each number of a flow on the edge that was walked.
            ``"reference"`` puts it where the published code does, whose flows and boundary
            matrices number the edges in two different ways: a fixed permutation, with signs, that
            leaves nothing of the divergence law.

    Returns:
        The samples; the first half of each part is class 0, the second class 1.

    Raises:
        ValueError: If `edge_alignment` is neither of the two, there are fewer than `LEAST_POINTS`
            points, or a size is negative.

    Example:
        >>> made = trajectory_splits(np.random.default_rng(0), sizes=(2, 1, 1), num_points=300)
        >>> [len(part) for part in made], made.train.labels.tolist()
        ([4, 2, 2], [0, 0, 1, 1])
    """
    if edge_alignment not in get_args(EdgeAlignment):
        raise ValueError(
            f"`edge_alignment` must be 'true' or 'reference', but it is {edge_alignment!r}"
        )
    if min(sizes) < 0:
        raise ValueError(f"`sizes` must be numbers of walks, none negative, but they are {sizes}")
    drawn, complex = _drawn(num_points, rng)
    num_train, num_validation, num_test = sizes
    fitted = _walks(complex, num_train + num_validation, rng)
    tested = _walks(complex, num_test, rng)
    signs = rng.choice(np.array([-1, 1], dtype=np.int8), size=(2 * num_test, fitted.shape[2]))
    if edge_alignment == "reference":
        source, turn = _published_places(drawn, complex)
        fitted, tested = turn * fitted[:, :, source], turn * tested[:, :, source]
    parts = (fitted[:, :num_train], fitted[:, num_train:], tested)
    train, validation, test = (_as_set(complex, flows) for flows in parts)
    return TrajectorySplits(
        train, validation, TrajectorySet(complex, test.flows, test.labels, signs)
    )


def holed_square(rng: np.random.Generator, *, num_points: int = NUM_POINTS) -> PointComplex:
    """The Delaunay complex of random points in a square, with two holes cut into it.

    For each of two smaller squares in turn, every triangle with a node in it goes, and so does
    every node without a triangle. What is left is connected and has the Betti number 2, or the
    points are drawn again; so they are if one of the four corners that walks visit has no node.

    Args:
        rng: Where randomness comes from.
        num_points: Points before the holes are cut.

    Returns:
        The complex; of 1000 points some 940 are left, with some 2750 edges and 1800 triangles.

    Raises:
        ValueError: If there are fewer than `LEAST_POINTS` points.

    Example:
        >>> square = holed_square(np.random.default_rng(0))
        >>> square.num_nodes - square.edges.shape[1] + square.triangles.shape[1]  # 1 - 2
        -1
    """
    return _drawn(num_points, rng)[1]


def _drawn(
    num_points: int, rng: np.random.Generator
) -> tuple[Int[np.ndarray, "f 3"], PointComplex]:
    """Triangles as Delaunay's algorithm lists them, and the complex that they make up."""
    if num_points < LEAST_POINTS:
        raise ValueError(
            f"`num_points` must be at least {LEAST_POINTS}, or no walk finds its corners and the "
            f"holes, but it is {num_points}"
        )
    while True:
        points = rng.uniform(*_SQUARE, size=(num_points, 2))
        triangles = Delaunay(points).simplices.astype(np.int64)
        for hole in _HOLES:
            points, triangles = _cut(points, triangles, hole)
        sides = [triangles[:, list(pair)].T for pair in combinations(range(3), 2)]
        edges = sorted_simplices(np.concatenate(sides, axis=1))
        euler = points.shape[0] - edges.shape[1] + triangles.shape[0]
        corners = (_START, _END, *_CHECKPOINTS)
        # In the plane nothing else has this Euler number: no complex encloses a space.
        if (
            all(_inside(points, corner).any() for corner in corners)
            and num_components(edges, points.shape[0]) == 1
            and euler == 1 - len(_HOLES)
        ):
            none = np.zeros((4, 0), dtype=np.int64)
            faces = sorted_simplices(triangles.T)
            return triangles, PointComplex(points, edges, faces, none)


def _inside(points: Float[np.ndarray, "n 2"], box: tuple[float, float, float, float]) -> np.ndarray:
    return np.all((points >= box[:2]) & (points <= box[2:]), axis=1)


def _cut(
    points: Float[np.ndarray, "n 2"],
    triangles: Int[np.ndarray, "f 3"],
    hole: tuple[float, float, float, float],
) -> tuple[Float[np.ndarray, "k 2"], Int[np.ndarray, "g 3"]]:
    """What is left of a complex outside a box, its nodes numbered anew in the same order."""
    left = triangles[~_inside(points, hole)[triangles].any(axis=1)]
    kept = np.unique(left)
    return points[kept], np.searchsorted(kept, left)


def _walks(
    complex: PointComplex, per_class: int, rng: np.random.Generator
) -> Int8[np.ndarray, "2 s m"]:
    """The flows of so many walks of class 0, and of class 1."""
    points, (tail, head) = complex.points, complex.edges
    number = {ends: i for i, ends in enumerate(zip(tail.tolist(), head.tolist(), strict=True))}
    neighbours: list[list[int]] = [[] for _ in range(complex.num_nodes)]
    for one, other in number:
        neighbours[one].append(other)
        neighbours[other].append(one)
    flows = np.zeros((2, per_class, tail.size), dtype=np.int8)
    for label, checkpoint in enumerate(_CHECKPOINTS):
        for row in flows[label]:
            walk = None
            while walk is None:
                start, way, end = (
                    int(rng.choice(np.flatnonzero(_inside(points, box))))
                    for box in (_START, checkpoint, _END)
                )
                walk = _try_walk(points, neighbours, start, way, end, rng)
            for one, other in pairwise(walk):
                row[number[min(one, other), max(one, other)]] = 1 if one < other else -1
    return flows


def _try_walk(
    points: Float[np.ndarray, "n 2"],
    neighbours: list[list[int]],
    start: int,
    checkpoint: int,
    end: int,
    rng: np.random.Generator,
) -> list[int] | None:
    """A walk that visits no node twice, or None if it got stuck."""
    walk, visited = [start], {start}
    while walk[-1] != end:
        target = end if checkpoint in visited else checkpoint
        open_ways = [v for v in neighbours[walk[-1]] if v not in visited]
        if not open_ways:
            return None
        if rng.random() < _STRAYS:
            step = open_ways[int(rng.integers(len(open_ways)))]
        else:
            away = np.square(points[open_ways] - points[target]).sum(axis=1)
            step = open_ways[int(np.argmin(away))]
        walk.append(step)
        visited.add(step)
    return walk


def _as_set(complex: PointComplex, flows: Int8[np.ndarray, "2 s m"]) -> TrajectorySet:
    rows = np.concatenate(tuple(flows))
    labels = np.arange(2).repeat(flows.shape[1])
    return TrajectorySet(complex, rows, labels, np.ones_like(rows))


def _published_places(
    triangles: Int[np.ndarray, "f 3"], complex: PointComplex
) -> tuple[Int[np.ndarray, " m"], Int8[np.ndarray, " m"]]:
    """For every edge, the one whose flow the published code puts there, and with which sign."""
    # It numbers flows by the first triangle that has the edge, and boundary matrices as a graph
    # lists its edges: node by node, and for each the neighbours that were not listed before.
    tail, head = complex.edges
    number = {ends: i for i, ends in enumerate(zip(tail.tolist(), head.tolist(), strict=True))}
    of_flow: dict[int, None] = {}
    neighbours: dict[int, dict[int, None]] = {}
    for triangle in triangles.tolist():
        for one, other in combinations(triangle, 2):
            neighbours.setdefault(one, {})[other] = None
            neighbours.setdefault(other, {})[one] = None
            of_flow[number[min(one, other), max(one, other)]] = None
    of_boundary, turns = [], []
    done = set()
    for one, others in neighbours.items():
        for other in others:
            if other not in done:
                of_boundary.append(number[min(one, other), max(one, other)])
                turns.append(1 if one < other else -1)
        done.add(one)
    source = np.empty(tail.size, dtype=np.int64)
    turn = np.empty(tail.size, dtype=np.int8)
    source[of_boundary] = list(of_flow)
    turn[of_boundary] = turns
    return source, turn
