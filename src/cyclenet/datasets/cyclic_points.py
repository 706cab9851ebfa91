"""Points on circles: the two synthetic sets of the paper, and two honest tasks beside them.

| task | the paper calls it | nodes show | target |
| --- | --- | --- | --- |
| `n_circles` | Betti number | nothing | how many circles there are |
| `circle_extents` | EPD | coordinates | bounding boxes of the circles |
| `long_cycles` | | nothing | how many basis cycles are long |
| `cycle_persistence` | | coordinates | extended persistence of the cycles |

In all four, small circles sit on a big one of radius 5, and every point is joined to its two
nearest others. The number of edges alone solves the first, and the centroid nearly solves the
second; the other two are there because of that. Randomness comes from a `numpy.random.Generator`
only.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from cyclenet.datasets.errors import UnknownName
from cyclenet.datasets.graph import Graph
from cyclenet.datasets.point_graph import PointGraph, nearest_neighbour_graph
from cyclenet.topology import extended_persistence, shortest_cycle_basis

Points = Float[np.ndarray, "n 2"]

# A basis cycle is long if it has more edges than this. In the paper's sets the triangles where two
# circles meet are far shorter and the circles themselves far longer.
LONGEST_SHORT_CYCLE = 6

# The values of a coordinate, and how many levels, at which `cycle_persistence` is asked for.
HEIGHTS = (-4.0, -2.0, 0.0, 2.0, 4.0)
NUM_LEVELS = 2

_NUM_NEIGHBOURS = 2
_BIG_RADIUS = 5.0
_FULL = 2 * np.pi

# Every coordinate of a point is moved by up to this much, so that no two distances are equal.
_POINT_JITTER = 0.05 * 10 / 80
_CENTRE_JITTER = 0.25

# What `long_cycles` draws from, first and last included. The smallest Betti number leaves room for
# short noise edges whatever else is drawn: without any it is at most 17 + 4.
_LONG_LABELS = (5, 9)
_LONG_CIRCLES = (2, 4)
_LONG_NODES = (80, 100)
_LONG_BETTI = (28, 34)
# A walk of s steps that an edge closes is a cycle of at most s + 1 edges.
_WALK_STEPS = (2, LONGEST_SHORT_CYCLE - 1)


class PointTask(NamedTuple):
    """One task on points on circles.

    Args:
        make: From a number of graphs and a generator to the graphs.
        num_targets: How many numbers are to be predicted for each graph.
        coordinates: Whether the nodes show where they are; if not, all nodes look the same.
    """

    make: Callable[[int, np.random.Generator], list[PointGraph]]
    num_targets: int
    coordinates: bool


def n_circles(num_graphs: int, rng: np.random.Generator) -> list[PointGraph]:
    """The paper's "Betti number" task: how many circles were drawn, 3 to 6.

    20 points on the big circle and 60 shared equally by q small ones, q from 2 to 5; the target is
    q + 1. This is not the Betti number of the graph, which is 9 to 21, since triangles arise where
    circles meet. It equals the number of basis cycles longer than `LONGEST_SHORT_CYCLE`. But the
    number of edges gives it away: a table from one to the other is right on 499 graphs of 500.

    Args:
        num_graphs: How many graphs.
        rng: Where randomness comes from.

    Returns:
        Graphs of 80 nodes, the nodes of the big circle first.

    Example:
        >>> n_circles(1, np.random.default_rng(0))[0].graph.num_nodes
        80
    """
    made = []
    for _ in range(num_graphs):
        num_small = int(rng.integers(2, 6))
        points, circle = _as_published(num_small, rng, shaken=False)
        target = np.array([num_small + 1.0])
        made.append(_point_graph(points, circle, target))
    return made


def circle_extents(num_graphs: int, rng: np.random.Generator) -> list[PointGraph]:
    """The paper's "EPD" task: the bounding boxes of the big circle and of four small ones.

    As `n_circles` with q = 4 and angles that are jittered too. For the big circle and then for each
    small one, by angle, the target holds the greatest and the least coordinates of its points:
    max x, max y, min x, min y. No cycle is needed for them, and since the centre of the cloud is
    uniform in a square of side 20, nearly all their variance is that of the centroid.

    Args:
        num_graphs: How many graphs.
        rng: Where randomness comes from.

    Returns:
        Graphs of 80 nodes, the nodes of the big circle first, with 20 targets each.
    """
    made = []
    for _ in range(num_graphs):
        points, circle = _as_published(4, rng, shaken=True)
        boxes = [_box(points[circle == i]) for i in range(5)]
        made.append(_point_graph(points, circle, np.concatenate(boxes)))
    return made


def long_cycles(num_graphs: int, rng: np.random.Generator) -> list[PointGraph]:
    r"""How many basis cycles have more than 6 edges, where no count of the graph tells.

    Circles with unequal numbers of points, and noise edges: some between any two nodes, which
    mostly close a long cycle, the others between the ends of a walk of 2 to 5 steps, which close a
    short one. Seen from nearby the two kinds are alike.

    The number of nodes n, the Betti number g and the number of circles are drawn first and apart
    from the target, and a graph that misses any of them is drawn again. Graphs are connected, so
    m = n - 1 + g. Hence (n, m, g) and the number of circles are independent of the target by
    construction: no function of them predicts better than a constant.

    The lengths of a shortest cycle basis are the same for all such bases, and so is the target,
    although most of these graphs have several bases.

    Args:
        num_graphs: How many graphs.
        rng: Where randomness comes from.

    Returns:
        Connected graphs of 80 to 100 nodes in random order; the targets 5 to 9 are equally
        frequent (up to one graph).

    Example:
        >>> sorted(int(one.target[0]) for one in long_cycles(5, np.random.default_rng(0)))
        [5, 6, 7, 8, 9]
    """
    first, last = _LONG_LABELS
    targets = first + rng.permutation(np.arange(num_graphs) % (last + 1 - first))
    made = []
    for target in targets.tolist():
        num_small, num_nodes, betti = (
            int(rng.integers(low, high + 1))
            for low, high in (_LONG_CIRCLES, _LONG_NODES, _LONG_BETTI)
        )
        found = None
        while found is None:
            found = _try_long_cycles(target, num_small, num_nodes, betti, rng)
        made.append(found)
    return made


def cycle_persistence(num_graphs: int, rng: np.random.Generator) -> list[PointGraph]:
    """Extended persistence of the cycles of a graph under its two coordinates.

    3 to 5 small circles of radius 1 to 2.5 on the big one. Each circle, the big one too, is closed
    or, as often, has a gap of 60 to 120 degrees: a gap hardly changes its bounding box, and
    leaves no cycle unless the gap is bridged by another circle. All have as many points as if they
    were closed. The cloud is centred: where it is says nothing about its cycles. Graphs may have
    several components. The target is `persistence_target`.

    Args:
        num_graphs: How many graphs.
        rng: Where randomness comes from.

    Returns:
        Graphs of 90 to 130 nodes in random order, with 20 targets each.
    """
    made = []
    for _ in range(num_graphs):
        points, circle = _circles_with_gaps(rng)
        graph = nearest_neighbour_graph(points, _NUM_NEIGHBOURS)
        made.append(PointGraph(points, circle, graph, persistence_target(points, graph)))
    return made


def persistence_target(points: Points, graph: Graph) -> Float[np.ndarray, " t"]:
    """The extended persistence diagrams of a graph under its coordinates, in 20 numbers.

    A diagram is a set: its pairs have no order, and how many there are depends on the graph. A list
    of the longest-lived pairs would have a fixed width, but it jumps where two of them change
    places. The landscape of a diagram depends on no order and does not jump: while the edges stay,
    it moves by at most as much as the coordinates move.

    Args:
        points: Coordinates of every node.
        graph: The graph.

    Returns:
        For x and then for y, level after level, the landscape of the cycles at `HEIGHTS`.
    """
    heights = np.array(HEIGHTS)
    diagrams = (extended_persistence(*graph, values) for values in points.T)
    return np.concatenate([landscape(pairs, heights, NUM_LEVELS).ravel() for pairs in diagrams])


def landscape(
    pairs: Float[np.ndarray, "g 2"], heights: Float[np.ndarray, " h"], num_levels: int
) -> Float[np.ndarray, "k h"]:
    r"""The persistence landscape of extended pairs (birth, death), death below birth.

    $$\lambda_k(t) = k\text{-th largest of}\ \max(0, \min(t - \text{death}, \text{birth} - t)) ,$$

    the largest h such that k pairs live at least from t - h to t + h (Bubenik 2015, for pairs that
    are born below their death). Moving all births and deaths by at most e moves it by at most e.

    Args:
        pairs: One row (birth, death) for each cycle, in any order.
        heights: The values of t.
        num_levels: How many levels k.

    Returns:
        One row for each level, the highest first; zero where there are fewer pairs.

    Example:
        >>> landscape(np.array([[5.0, 1.0], [4.0, 2.0]]), np.array([1.0, 3.0, 4.5]), 2).tolist()
        [[0.0, 2.0, 0.5], [0.0, 1.0, 0.0]]
    """
    births, deaths = pairs[:, :1], pairs[:, 1:]
    inside = np.minimum(heights - deaths, births - heights).clip(min=0.0)
    padded = np.concatenate((inside, np.zeros((num_levels, heights.size))))
    return np.sort(padded, axis=0)[::-1][:num_levels]


POINT_TASKS = {
    "n_circles": PointTask(n_circles, 1, coordinates=False),
    "circle_extents": PointTask(circle_extents, 20, coordinates=True),
    "long_cycles": PointTask(long_cycles, 1, coordinates=False),
    "cycle_persistence": PointTask(cycle_persistence, 20, coordinates=True),
}

# What the paper calls the first two.
PAPER_NAMES = {"betti": "n_circles", "epd": "circle_extents"}


def point_task(name: str) -> PointTask:
    """The task of a name: one of `POINT_TASKS`, or of the paper's, ``"betti"`` and ``"epd"``.

    Args:
        name: What to look up.

    Returns:
        The task.

    Raises:
        UnknownName: If there is no such task; the message offers the nearest.

    Example:
        >>> point_task("epd") is POINT_TASKS["circle_extents"]
        True
    """
    name = PAPER_NAMES.get(name, name)
    if name not in POINT_TASKS:
        known = [*POINT_TASKS, *PAPER_NAMES]
        raise UnknownName("task on points", name, known, hint=" or ".join(known))
    return POINT_TASKS[name]


def _point_graph(points: Points, circle: Int[np.ndarray, " n"], target: np.ndarray) -> PointGraph:
    graph = nearest_neighbour_graph(points, _NUM_NEIGHBOURS)
    return PointGraph(points, circle, graph, target)


def _as_published(
    num_small: int, rng: np.random.Generator, *, shaken: bool
) -> tuple[Points, Int[np.ndarray, " n"]]:
    """80 points as the published code draws them; `shaken` jitters angles too ("EPD")."""
    centre = rng.uniform(-10, 10, size=2)
    around, along = _even(num_small), _even(60 // num_small)
    if shaken:
        around = around + rng.uniform(-np.pi / 16, np.pi / 16, size=around.size)
    small = _on_circle(centre, _BIG_RADIUS, around)
    small += rng.uniform(-_CENTRE_JITTER, _CENTRE_JITTER, size=small.shape)
    circles = [_on_circle(centre, _BIG_RADIUS, _even(20))]
    for middle in small:
        shift = np.pi / (4 * along.size)
        angles = along + rng.uniform(-shift, shift, size=along.size) if shaken else along
        circles.append(_on_circle(middle, 0.5, angles))
    return _jittered(circles, rng)


def _try_long_cycles(
    target: int, num_small: int, num_nodes: int, betti: int, rng: np.random.Generator
) -> PointGraph | None:
    """A graph for `long_cycles`, or None if what was drawn does not have what was asked for."""
    points, circle = _in_random_order(*_unequal_circles(num_small, num_nodes, rng), rng)
    edges = nearest_neighbour_graph(points, _NUM_NEIGHBOURS).edges
    num_edges = num_nodes - 1 + betti
    for_target = target - num_small - 1
    far = rng.integers(num_nodes, size=(2, 2 * for_target))
    edges = _with_new_edges(edges, num_nodes, far, for_target)
    missing = num_edges - edges.shape[1]
    near = _ends_of_walks(edges, num_nodes, 4 * max(missing, 0), rng)
    edges = _with_new_edges(edges, num_nodes, near, missing)
    lengths = shortest_cycle_basis(edges, num_nodes).lengths
    # With the right number of edges, the right Betti number means that the graph is connected.
    asked_for = (num_edges, betti, target)
    if (edges.shape[1], lengths.size, np.sum(lengths > LONGEST_SHORT_CYCLE)) != asked_for:
        return None
    return PointGraph(points, circle, Graph(edges, num_nodes), np.array([float(target)]))


def _unequal_circles(
    num_small: int, num_nodes: int, rng: np.random.Generator
) -> tuple[Points, Int[np.ndarray, " n"]]:
    """So many points, shared at random by the big circle and the small ones on it."""
    num_big = int(rng.integers(18, 28))
    least = 10
    left = num_nodes - num_big - least * num_small
    sizes = least + rng.multinomial(left, np.full(num_small, 1 / num_small))
    around = _even(num_small) + rng.uniform(0, _FULL)
    small = _on_circle(np.zeros(2), _BIG_RADIUS, around)
    small += rng.uniform(-_CENTRE_JITTER, _CENTRE_JITTER, size=small.shape)
    circles = [_on_circle(np.zeros(2), _BIG_RADIUS, _even(num_big))]
    for middle, size in zip(small, sizes.tolist(), strict=True):
        circles.append(_on_circle(middle, 0.5, _even(size)))
    return _jittered(circles, rng)


def _circles_with_gaps(rng: np.random.Generator) -> tuple[Points, Int[np.ndarray, " n"]]:
    """30 points on the big circle, 20 on each small one, each circle open or closed."""
    num_small = int(rng.integers(3, 6))
    around = _even(num_small) + rng.uniform(0, _FULL)
    around = around + rng.uniform(-np.pi / 16, np.pi / 16, size=num_small)
    circles = [_on_circle(np.zeros(2), _BIG_RADIUS, _maybe_open(30, rng))]
    for middle in _on_circle(np.zeros(2), _BIG_RADIUS, around):
        circles.append(_on_circle(middle, rng.uniform(1.0, 2.5), _maybe_open(20, rng)))
    return _in_random_order(*_jittered(circles, rng), rng)


def _maybe_open(count: int, rng: np.random.Generator) -> Float[np.ndarray, " p"]:
    """Angles all the way round, or, as often, with a gap of a sixth to a third of the circle."""
    start = rng.uniform(0, _FULL)
    if rng.random() < 0.5:
        return start + _even(count)
    return start + np.linspace(0, _FULL - rng.uniform(_FULL / 6, _FULL / 3), count)


def _even(count: int) -> Float[np.ndarray, " p"]:
    return _FULL * np.arange(count) / count


def _on_circle(
    centre: Float[np.ndarray, " 2"], radius: float, angles: Float[np.ndarray, " p"]
) -> Float[np.ndarray, "p 2"]:
    return centre + radius * np.stack((np.sin(angles), np.cos(angles)), axis=1)


def _jittered(circles: list[np.ndarray], rng: np.random.Generator) -> tuple[Points, np.ndarray]:
    """The points of all circles, each moved a little, and the circle of each."""
    circle = np.repeat(np.arange(len(circles)), [points.shape[0] for points in circles])
    points = np.concatenate(circles)
    return points + rng.uniform(-_POINT_JITTER, _POINT_JITTER, size=points.shape), circle


def _in_random_order(
    points: Points, circle: Int[np.ndarray, " n"], rng: np.random.Generator
) -> tuple[Points, Int[np.ndarray, " n"]]:
    """The same points under other names, so that names say nothing about circles."""
    order = rng.permutation(circle.size)
    return points[order], circle[order]


def _box(points: Points) -> Float[np.ndarray, " 4"]:
    return np.concatenate((points.max(axis=0), points.min(axis=0)))


def _with_new_edges(
    edges: Int[np.ndarray, "2 m"],
    num_nodes: int,
    candidates: Int[np.ndarray, "2 c"],
    count: int,
) -> Int[np.ndarray, "2 m_more"]:
    """The edges and the first `count` candidates that are new and no loops, or all there are."""
    low, high = np.sort(candidates, axis=0)
    key = low * num_nodes + high
    old = edges[0] * num_nodes + edges[1]
    first = np.sort(np.unique(key, return_index=True)[1])
    new = first[(low != high)[first] & ~np.isin(key[first], old)]
    joined = np.sort(np.concatenate((old, key[new[: max(count, 0)]])))
    return np.stack(np.divmod(joined, num_nodes))


def _ends_of_walks(
    edges: Int[np.ndarray, "2 m"], num_nodes: int, count: int, rng: np.random.Generator
) -> Int[np.ndarray, "2 c"]:
    """First and last nodes of random walks; every node has a neighbour to go to."""
    tails, heads = np.concatenate((edges, edges[::-1]), axis=1)
    heads = heads[np.argsort(tails, kind="stable")]
    degree = np.bincount(tails, minlength=num_nodes)
    start_of = np.cumsum(degree) - degree
    first = rng.integers(num_nodes, size=count)
    shortest, longest = _WALK_STEPS
    num_steps = rng.integers(shortest, longest + 1, size=count)
    last = first
    for step in range(longest):
        onward = heads[start_of[last] + rng.integers(degree[last])]
        last = np.where(step < num_steps, onward, last)
    return np.stack((first, last))
