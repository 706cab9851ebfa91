"""Points on circles: what the published sets are, and that the honest tasks are honest.

The page `docs/guides/cyclic-points.md` prints numbers; they are measured here.
"""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from cyclenet.datasets import POINT_TASKS, Graph, UnknownName, point_task
from cyclenet.datasets.cyclic_points import (
    HEIGHTS,
    PAPER_NAMES,
    landscape,
    persistence_target,
)
from cyclenet.topology import betti_number, extended_persistence, shortest_cycle_basis

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "cyclic-points.md"
SEED, NUM_GRAPHS, NUM_TRAIN = 1234, 500, 400
HEIGHTS_ARRAY = np.array(HEIGHTS)


@pytest.fixture(scope="module")
def sets():
    """Every task once, in the size and with the seed of the paper."""
    return {
        name: task.make(NUM_GRAPHS, np.random.default_rng(SEED))
        for name, task in POINT_TASKS.items()
    }


def targets(samples):
    return np.stack([sample.target for sample in samples])


def num_nodes(samples):
    return np.array([[sample.graph.num_nodes] for sample in samples])


def num_edges(samples):
    return np.array([[sample.graph.edges.shape[1]] for sample in samples])


def betti(samples):
    return np.array([[betti_number(*sample.graph)] for sample in samples])


def num_circles(samples):
    return np.array([[sample.circle.max() + 1] for sample in samples])


def num_long(samples):
    return np.array([[np.sum(lengths(sample) > 6)] for sample in samples])


def lengths(sample):
    return shortest_cycle_basis(*sample.graph).lengths


def degrees(sample):
    return np.bincount(sample.graph.edges.ravel(), minlength=sample.graph.num_nodes).clip(max=9)


def degree_histogram(samples):
    return np.array([np.bincount(degrees(sample), minlength=10) for sample in samples])


def degree_pairs(samples):
    """How many edges have which degrees at their ends."""
    rows = []
    for sample in samples:
        low, high = np.sort(degrees(sample)[sample.graph.edges], axis=0)
        rows.append(np.bincount(10 * low + high, minlength=100))
    return np.array(rows)


def centroids(samples):
    return np.stack([sample.points.mean(axis=0) for sample in samples])


def cloud_boxes(samples):
    return np.stack([box(sample.points) for sample in samples])


def box(points):
    return np.concatenate((points.max(axis=0), points.min(axis=0)))


def box_persistence(samples):
    """`persistence_target` if every circle drawn were a cycle: greatest and least values."""
    return np.stack(
        [_landscapes([drawn(sample, i) for i in circles(sample)]) for sample in samples]
    )


def basis_persistence(samples):
    """The same for the cycles of a shortest basis: those that there are, with their extent."""
    rows = []
    for sample in samples:
        edges = sample.graph.edges
        cycles = shortest_cycle_basis(*sample.graph).cycles
        rows.append(_landscapes([sample.points[edges[:, cycle].ravel()] for cycle in cycles]))
    return np.stack(rows)


def _landscapes(parts):
    boxes = np.array([(points.max(axis=0), points.min(axis=0)) for points in parts])
    both = (landscape(boxes.reshape(-1, 2, 2)[:, :, axis], HEIGHTS_ARRAY, 2) for axis in (0, 1))
    return np.concatenate([levels.ravel() for levels in both])


def circles(sample):
    return range(int(sample.circle.max()) + 1)


def drawn(sample, i):
    """The points drawn on circle i."""
    return sample.points[sample.circle == i]


def lookup_error(keys, values):
    """Held-out MAE of the median of the nearest keys seen, over that of the best constant."""
    train, test = values[:NUM_TRAIN], values[NUM_TRAIN:]
    far = np.abs(keys[NUM_TRAIN:, None] - keys[None, :NUM_TRAIN]).sum(axis=2)
    guesses = [np.median(train[row == row.min()]) for row in far]
    return np.abs(guesses - test).mean() / constant_error(values)


def constant_error(values):
    """Held-out MAE of the training median."""
    return np.abs(np.median(values[:NUM_TRAIN]) - values[NUM_TRAIN:]).mean()


def fitted(features, values):
    """Least squares on the training graphs, with a constant, as a guess for the others."""
    features = np.column_stack((features, np.ones(len(features))))
    weights = np.linalg.lstsq(features[:NUM_TRAIN], values[:NUM_TRAIN], rcond=None)[0]
    return features[NUM_TRAIN:] @ weights


def fit_error(features, values):
    """Held-out MAE of least squares, over that of the best constant."""
    wrong = np.abs(fitted(features, values) - values[NUM_TRAIN:])
    return wrong.mean() / constant_error(values)


def squared_error(guesses, values):
    return np.square(guesses - values[NUM_TRAIN:]).mean()


def constant_squared_error(values):
    return squared_error(values[:NUM_TRAIN].mean(axis=0), values)


def centroid_error(samples):
    """Held-out MSE of the centroid plus one constant for each output."""
    values = targets(samples)
    shift = np.tile(centroids(samples), (1, values.shape[1] // 2))
    offsets = (values - shift)[:NUM_TRAIN].mean(axis=0)
    return squared_error(shift[NUM_TRAIN:] + offsets, values)


# Everything that can be counted without looking for a cycle, as far as we could think of it.
COUNTS = {
    "nodes": num_nodes,
    "edges": num_edges,
    "nodes and edges": lambda samples: np.hstack((num_nodes(samples), num_edges(samples))),
    "Betti number": betti,
    "circles drawn": num_circles,
}


# --- The published sets


@pytest.mark.parametrize("name", ["n_circles", "circle_extents"])
def test_published_graphs_have_80_nodes_and_are_connected(sets, name):
    samples = sets[name]
    assert (num_nodes(samples) == 80).all()
    np.testing.assert_array_equal(betti(samples), num_edges(samples) - 79)
    assert 93.5 < num_edges(samples).mean() < 94


def test_n_circles_has_the_statistics_of_the_released_data(sets):
    samples = sets["n_circles"]
    found = betti(samples)
    assert (found.min(), found.max()) == (9, 21)
    assert 14.5 < found.mean() < 15
    assert 0.98 < np.corrcoef(found[:, 0], targets(samples)[:, 0])[0, 1] < 0.99
    assert set(np.unique(targets(samples))) == {3, 4, 5, 6}
    assert np.bincount(targets(samples)[:, 0].astype(int))[3:].min() > 100


def test_n_circles_is_the_number_of_long_cycles_in_every_graph(sets):
    np.testing.assert_array_equal(num_long(sets["n_circles"]), targets(sets["n_circles"]))


def test_n_circles_is_decided_by_the_number_of_edges(sets):
    samples = sets["n_circles"]
    pairs = np.hstack((num_edges(samples), targets(samples)))
    assert len(np.unique(pairs, axis=0)) == len(np.unique(pairs[:, 0]))


def test_circles_are_as_large_as_described(sets):
    for sample in sets["n_circles"][:20]:
        num_small = int(sample.target[0]) - 1
        assert np.bincount(sample.circle).tolist() == [20, *[60 // num_small] * num_small]
        for i in range(num_small + 1):
            points = drawn(sample, i)
            radius = np.linalg.norm(points - points.mean(axis=0), axis=1)
            np.testing.assert_allclose(radius, 0.5 if i else 5.0, atol=0.02)


def test_circle_extents_has_the_statistics_of_the_released_data(sets):
    samples = sets["circle_extents"]
    found = betti(samples)
    assert (found.min(), found.max()) == (11, 18)
    assert 14.5 < found.mean() < 15
    assert 32 < targets(samples).var(axis=0).mean() < 36
    assert abs(targets(samples).mean()) < 0.5


def test_circle_extents_has_four_cycles_of_15_and_one_long_one(sets):
    for sample in sets["circle_extents"]:
        long = lengths(sample)[lengths(sample) > 6]
        assert long.size == 5
        # A circle whose points are left of a big-circle point in its rim takes that point in.
        assert set(long[:4]) <= {15, 16}
        assert 41 <= long[4] <= 48


def test_circle_extents_are_the_bounding_boxes_of_the_circles(sets):
    for sample in sets["circle_extents"][:20]:
        boxes = [box(drawn(sample, i)) for i in circles(sample)]
        np.testing.assert_array_equal(sample.target, np.concatenate(boxes))
        size = sample.target.reshape(5, 4)[:, :2] - sample.target.reshape(5, 4)[:, 2:]
        np.testing.assert_allclose(size[0], 10, atol=0.2)
        np.testing.assert_allclose(size[1:], 1, atol=0.1)


def test_circle_extents_need_nothing_but_the_centroid(sets):
    """The printed errors of Table 2 are 0.141 to 0.214."""
    samples = sets["circle_extents"]
    assert centroid_error(samples) < 0.12
    assert centroid_error(samples) < 0.004 * constant_squared_error(targets(samples))


# --- Counting long cycles


def test_long_cycles_is_the_number_of_long_cycles(sets):
    np.testing.assert_array_equal(num_long(sets["long_cycles"]), targets(sets["long_cycles"]))


def test_long_cycles_are_balanced_and_connected(sets):
    samples = sets["long_cycles"]
    assert np.bincount(targets(samples)[:, 0].astype(int)).tolist() == [0] * 5 + [100] * 5
    np.testing.assert_array_equal(betti(samples), num_edges(samples) - num_nodes(samples) + 1)
    assert (num_nodes(samples) >= 80).all()
    assert (num_nodes(samples) <= 100).all()


@pytest.mark.parametrize("name", COUNTS)
def test_no_lookup_counts_long_cycles(sets, name):
    samples = sets["long_cycles"]
    assert lookup_error(COUNTS[name](samples), targets(samples)[:, 0]) > 0.9


@pytest.mark.parametrize("features", [degree_histogram, degree_pairs])
def test_no_fit_to_degrees_counts_long_cycles(sets, features):
    samples = sets["long_cycles"]
    assert fit_error(features(samples), targets(samples)[:, 0]) > 0.9


@pytest.mark.parametrize("name", COUNTS)
def test_every_label_has_the_same_counts(sets, name):
    """What was drawn apart from the target has the same mean for every target, up to chance."""
    samples = sets["long_cycles"]
    labels = targets(samples)[:, 0]
    counts = COUNTS[name](samples)
    spread = counts.std(axis=0) / np.sqrt(100)
    for label in np.unique(labels):
        assert (
            np.abs(counts[labels == label].mean(axis=0) - counts.mean(axis=0)) < 4 * spread
        ).all()


# --- Extended persistence


def test_persistence_targets_are_those_of_the_graph(sets):
    for sample in sets["cycle_persistence"][:50]:
        np.testing.assert_array_equal(
            sample.target, persistence_target(sample.points, sample.graph)
        )


def test_persistence_targets_are_the_same_under_every_naming(sets):
    rng = np.random.default_rng(0)
    for sample in sets["cycle_persistence"][:50]:
        names = rng.permutation(sample.graph.num_nodes)
        points = np.empty_like(sample.points)
        points[names] = sample.points
        edges = np.sort(names[sample.graph.edges], axis=0)
        edges = edges[:, rng.permutation(edges.shape[1])]
        renamed = persistence_target(points, Graph(edges, sample.graph.num_nodes))
        np.testing.assert_array_equal(renamed, sample.target)


@pytest.mark.parametrize("move", [1e-6, 0.01, 0.3])
def test_persistence_targets_move_no_more_than_the_points(sets, move):
    rng = np.random.default_rng(0)
    for sample in sets["cycle_persistence"][:50]:
        points = sample.points + rng.uniform(-move, move, sample.points.shape)
        moved = persistence_target(points, sample.graph)
        assert np.abs(moved - sample.target).max() <= move + 1e-12


def test_exchanging_the_coordinates_exchanges_the_halves(sets):
    for sample in sets["cycle_persistence"][:20]:
        exchanged = persistence_target(sample.points[:, ::-1].copy(), sample.graph)
        np.testing.assert_array_equal(exchanged, np.roll(sample.target, 10))


def test_a_square_has_the_landscape_of_its_one_cycle():
    square = np.array([[-3.0, -1.0], [3.0, -1.0], [3.0, 1.0], [-3.0, 1.0]])
    graph = Graph(np.array([[0, 0, 1, 2], [1, 3, 2, 3]]), 4)
    expected = [0, 1, 3, 1, 0, *[0] * 5, 0, 0, 1, 0, 0, *[0] * 5]
    assert persistence_target(square, graph).tolist() == expected


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), max_size=6),
    st.integers(0, 4),
    st.randoms(use_true_random=False),
)
@examples(quick=50, deep=2000)
def test_landscapes_follow_their_formula_in_any_order(pairs, num_levels, random):
    pairs = [(max(pair), min(pair)) for pair in pairs]
    shuffled = random.sample(pairs, len(pairs))
    found = landscape(np.array(shuffled).reshape(-1, 2), HEIGHTS_ARRAY, num_levels)
    assert found.shape == (num_levels, len(HEIGHTS))
    for column, height in enumerate(HEIGHTS):
        reach = sorted((max(0.0, min(height - d, b - height)) for b, d in pairs), reverse=True)
        expected = (reach + [0.0] * num_levels)[:num_levels]
        np.testing.assert_array_equal(found[:, column], expected)


def test_bounding_boxes_do_not_give_the_persistence(sets):
    """Not even those of the circles, which no network is told, and fitted to the targets."""
    samples = sets["cycle_persistence"]
    values = targets(samples)
    constant = constant_squared_error(values)
    boxes = box_persistence(samples)
    assert squared_error(boxes[NUM_TRAIN:], values) > constant
    for features in (boxes, cloud_boxes(samples), centroids(samples), degree_histogram(samples)):
        assert squared_error(fitted(features, values), values) > 0.6 * constant


def test_the_extents_of_basis_cycles_nearly_give_the_persistence(sets):
    """So the task is about cycles, and an encoder that sees them can solve it."""
    samples = sets["cycle_persistence"]
    values = targets(samples)
    guesses = basis_persistence(samples)[NUM_TRAIN:]
    assert squared_error(guesses, values) < 0.01 * constant_squared_error(values)


def test_bounding_boxes_give_the_persistence_where_all_circles_are_apart():
    """The law behind the published name: alone, a circle is born at its top, and dies below."""
    angles = 2 * np.pi * np.arange(12) / 12
    circle = np.stack((np.sin(angles), np.cos(angles)), axis=1)
    edges = np.sort(np.stack((np.arange(12), (np.arange(12) + 1) % 12)), axis=0)
    pairs = extended_persistence(edges, 12, circle[:, 0])
    np.testing.assert_allclose(pairs, [[circle[:, 0].max(), circle[:, 0].min()]])


# --- All four


@pytest.mark.parametrize("name", POINT_TASKS)
def test_the_generator_decides_everything(sets, name):
    np.random.seed(7)  # noqa: NPY002 (nobody may read the global state)
    again = POINT_TASKS[name].make(20, np.random.default_rng(5))
    once_more = POINT_TASKS[name].make(20, np.random.default_rng(5))
    other = POINT_TASKS[name].make(20, np.random.default_rng(6))
    for one, same, different in zip(again, once_more, other, strict=True):
        np.testing.assert_array_equal(one.points, same.points)
        np.testing.assert_array_equal(one.graph.edges, same.graph.edges)
        np.testing.assert_array_equal(one.target, same.target)
        assert not np.array_equal(one.points[:5], different.points[:5])


@pytest.mark.parametrize("name", POINT_TASKS)
def test_samples_are_of_one_piece(sets, name):
    for sample in sets[name][:50]:
        n = sample.graph.num_nodes
        assert sample.points.shape == (n, 2)
        assert sample.circle.shape == (n,)
        assert sample.target.shape == (POINT_TASKS[name].num_targets,)
        assert degrees(sample).min() >= 2


@pytest.mark.parametrize("name", POINT_TASKS)
def test_no_graphs_are_a_set_too(name):
    assert POINT_TASKS[name].make(0, np.random.default_rng(0)) == []


def test_the_names_of_the_paper_lead_to_the_honest_ones():
    for theirs, ours in PAPER_NAMES.items():
        assert point_task(theirs) is point_task(ours) is POINT_TASKS[ours]


def test_an_unknown_task_is_refused_with_the_nearest():
    with pytest.raises(UnknownName) as caught:
        point_task("long_cycle")
    assert caught.value.nearest == "long_cycles"


# --- The page


def count_rows(sets):
    """The table of errors on the two counting tasks, line by line."""
    errors = {f"lookup by {name}": (lookup_error, feature) for name, feature in COUNTS.items()}
    errors["least squares on the degree histogram"] = (fit_error, degree_histogram)
    errors["least squares on the degrees at both ends of edges"] = (fit_error, degree_pairs)
    errors["lookup by basis cycles longer than 6"] = (lookup_error, num_long)
    for words, (error, feature) in errors.items():
        cells = [
            f"{error(feature(sets[name]), targets(sets[name])[:, 0]):.2f}"
            for name in ("n_circles", "long_cycles")
        ]
        yield f"| {words} | {' | '.join(cells)} |"


def extent_rows(sets):
    """The table of errors on the published task with coordinates, line by line."""
    samples = sets["circle_extents"]
    values = targets(samples)
    yield f"| the best constants | {constant_squared_error(values):.3f} |"
    yield f"| the centroid and a constant for each output | {centroid_error(samples):.3f} |"


def persistence_rows(sets):
    """The table of errors on ours, over that of the best constants, line by line."""
    samples = sets["cycle_persistence"]
    values = targets(samples)
    guesses = {
        "the bounding boxes of the circles drawn": box_persistence(samples)[NUM_TRAIN:],
        "least squares on these": fitted(box_persistence(samples), values),
        "least squares on the bounding box of the cloud": fitted(cloud_boxes(samples), values),
        "least squares on the centroid": fitted(centroids(samples), values),
        "least squares on the degree histogram": fitted(degree_histogram(samples), values),
        "the bounding boxes of the basis cycles": basis_persistence(samples)[NUM_TRAIN:],
    }
    for words, guess in guesses.items():
        share = squared_error(guess, values) / constant_squared_error(values)
        yield f"| {words} | {share:.2f} |"


@pytest.mark.parametrize("rows", [count_rows, extent_rows, persistence_rows])
def test_the_page_prints_what_is_measured(sets, rows):
    text = PAGE.read_text(encoding="utf-8")
    missing = [line for line in rows(sets) if line not in text]
    assert not missing, "\n".join(missing)
