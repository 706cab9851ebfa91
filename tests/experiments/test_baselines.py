"""Rules without a network: what they say, and that they read training graphs only."""

import pytest
import torch
from named_graphs import cycle, path

from cyclenet.datasets.as_data import graph_data
from cyclenet.datasets.graph import Graph
from cyclenet.experiments.baselines import (
    BASELINES,
    MAX_DEGREE,
    centroid,
    degree_histogram,
    num_edges,
    num_long_cycles,
    num_nodes,
)
from cyclenet.experiments.tasks import TASKS, metric_of

MAE, MSE, YES_NO = TASKS["n_circles"], TASKS["circle_extents"], TASKS["3-cfi"]


def item(graph, target, directions="both"):
    return graph_data(Graph(*graph), y=torch.tensor([[float(target)]]), directions=directions)


RINGS = [item(cycle(n), target) for n, target in ((3, 1), (3, 2), (3, 9), (8, 5))]


def rule(name, kind=MAE, train=RINGS):
    return BASELINES[name](kind, train)


@pytest.mark.parametrize("directions", ["both", "single"])
def test_numbers_of_a_graph(directions):
    ring = item(cycle(8), 0, directions)
    assert (num_edges(ring), num_nodes(ring), num_long_cycles(ring)) == (8, 8, 1)
    assert degree_histogram(ring).tolist() == [0, 0, 8, *[0] * (MAX_DEGREE - 2)]
    line = item(path(4), 0, directions)
    assert (num_edges(line), num_nodes(line), num_long_cycles(line)) == (3, 4, 0)
    assert degree_histogram(line)[:3].tolist() == [0, 2, 2]
    assert centroid(line).tolist() == [1.0, 1.0]


def test_constants_are_those_that_the_metric_likes_best():
    assert rule("constant")(RINGS).tolist() == [[3.5]] * 4
    assert rule("constant", MSE)(RINGS).tolist() == [[4.25]] * 4
    answers = [item(cycle(3), label) for label in (0, 1, 1)]
    assert metric_of(YES_NO, rule("constant", YES_NO, answers)(answers), _y(answers)) == 2 / 3


@pytest.mark.parametrize("name", ["edges", "nodes"])
def test_a_lookup_is_a_median_and_asks_the_nearest_where_it_knows_none(name):
    asked = [item(cycle(n), 0) for n in (3, 8, 4, 7, 100)]
    assert rule(name)(asked).tolist() == [[2.0], [5.0], [2.0], [5.0], [5.0]]


def test_least_squares_finds_an_affine_map():
    graphs = [item(path(n), 3 * n + 1) for n in (2, 4, 5, 9)]
    found = rule("degrees", MSE, graphs)([item(path(7), 0)])
    torch.testing.assert_close(found, torch.tensor([[22.0]]))


@pytest.mark.parametrize("name", BASELINES)
def test_predictions_do_not_depend_on_what_is_asked_beside(name):
    fitted = rule(name)
    together = fitted(RINGS)
    assert together.shape == (4, 1)
    for one, expected in zip(RINGS, together, strict=True):
        torch.testing.assert_close(fitted([one])[0], expected)


def _y(items):
    return torch.cat([one.y for one in items])
