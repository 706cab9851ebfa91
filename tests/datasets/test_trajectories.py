"""Walks through a square with two holes: the complex, the divergence law, and orientations."""

import networkx as nx
import numpy as np
import pytest
import torch
from bad_input import refused
from torch_geometric.data import Batch
from torch_geometric.transforms import Compose

from cyclenet import AddCycleProjector, AddShortestCycleBasis
from cyclenet.datasets import (
    TRAJECTORY_SIZES,
    TrajectorySet,
    complex_data,
    holed_square,
    trajectory_data,
    trajectory_splits,
)
from cyclenet.datasets import trajectories as module
from cyclenet.topology import incidence
from cyclenet.topology.homology import edge_annotations
from cyclenet.topology.incidence import incidence_of
from cyclenet.transforms import AddHarmonicSums

SEEDS = (0, 1, 2)
# What the published sets have, over two draws: see `spec/complexes.md`, B.1 and B.2.
NODES, EDGES, TRIANGLES, WALKED = (915, 965), (2660, 2840), (1740, 1880), (36, 55)
SMALL = {"sizes": (6, 2, 4), "num_points": 300}


@pytest.fixture(scope="module")
def full():
    """The published size, once."""
    return trajectory_splits(np.random.default_rng(0), sizes=TRAJECTORY_SIZES["paper"])


@pytest.fixture(scope="module")
def small():
    return trajectory_splits(np.random.default_rng(1), **SMALL)


def divergence(samples):
    """B1 x of all samples, as columns, under the directions tail < head."""
    return incidence(*samples.complex.graph) @ samples.flows.T.astype(np.int64)


def inside(points, box):
    return np.all((points >= box[:2]) & (points <= box[2:]), axis=1)


# The complex


@pytest.mark.parametrize("seed", SEEDS)
def test_the_complex_has_two_holes_and_the_published_size(seed):
    square = holed_square(np.random.default_rng(seed))
    boundary = square.boundary()
    assert abs(incidence(*square.graph) @ boundary).sum() == 0
    assert edge_annotations(square.edges, boundary, square.num_nodes)[1] == 2
    sizes = (square.num_nodes, square.edges.shape[1], square.triangles.shape[1])
    for size, (least, most) in zip(sizes, (NODES, EDGES, TRIANGLES), strict=True):
        assert least <= size <= most


def test_no_node_is_in_a_hole_and_every_node_is_on_a_triangle():
    square = holed_square(np.random.default_rng(0))
    for hole in module._HOLES:
        assert not inside(square.points, hole).any()
    assert np.array_equal(np.unique(square.triangles), np.arange(square.num_nodes))


def test_edges_are_the_sides_of_the_triangles_and_sorted():
    square = holed_square(np.random.default_rng(0), num_points=300)
    a, b, c = square.triangles
    sides = np.unique(np.concatenate(((a, b), (b, c), (a, c)), axis=1), axis=1)
    assert np.array_equal(square.edges, sides) and (square.edges[0] < square.edges[1]).all()


# The walks


def test_published_sizes_and_labels(full):
    assert [len(part) for part in full] == [1000, 0, 200]
    assert full.train.labels.tolist() == [0] * 500 + [1] * 500
    assert full.test.labels.tolist() == [0] * 100 + [1] * 100


def test_a_walk_takes_about_as_many_edges_as_published(full):
    walked = np.abs(full.train.flows).sum(axis=1)
    least, most = WALKED
    low, middle, high = np.percentile(walked, [5, 50, 95])
    assert least - 6 <= low <= middle <= high <= most + 6
    assert least < walked.mean() < most


def test_the_divergence_is_minus_one_at_the_start_plus_one_at_the_end(full):
    for part in (full.train, full.test):
        flow = divergence(part)
        points = part.complex.points
        assert np.abs(flow).sum() == 2 * len(part)
        starts, ends = flow.argmin(axis=0), flow.argmax(axis=0)
        assert (flow.min(axis=0) == -1).all() and (flow.max(axis=0) == 1).all()
        assert inside(points[starts], module._START).all()
        assert inside(points[ends], module._END).all()


def test_the_published_order_of_edges_breaks_the_divergence(full):
    scrambled = trajectory_splits(
        np.random.default_rng(0), sizes=TRAJECTORY_SIZES["paper"], edge_alignment="reference"
    )
    sources = np.count_nonzero(divergence(scrambled.train), axis=0)
    assert 55 <= np.percentile(sources, 5) <= np.percentile(sources, 95) <= 110
    # The same walks: as many edges of each, on the same complex.
    assert np.array_equal(scrambled.train.complex.edges, full.train.complex.edges)
    both = (scrambled.train.flows, full.train.flows)
    assert np.array_equal(*(np.abs(flows).sum(axis=1) for flows in both))


def test_every_walk_passes_its_checkpoint(full):
    tail, head = full.train.complex.edges
    points = full.train.complex.points
    for label, checkpoint in enumerate(module._CHECKPOINTS):
        for flow in full.train.flows[full.train.labels == label]:
            walked = np.unique(np.concatenate((tail[flow != 0], head[flow != 0])))
            assert inside(points[walked], checkpoint).any()


def test_a_walk_visits_no_node_twice(full):
    tail, head = full.train.complex.edges
    for flow in full.train.flows[::50]:
        walked = flow != 0
        visits = np.bincount(np.concatenate((tail[walked], head[walked])))
        assert sorted(visits[visits > 0].tolist())[:2] == [1, 1] and visits.max() == 2


def test_the_published_places_are_those_of_networkx():
    triangles, square = module._drawn(200, np.random.default_rng(3))
    graph = nx.Graph()
    flow_places, number = {}, {tuple(e): i for i, e in enumerate(square.edges.T.tolist())}
    for triangle in triangles.tolist():
        for i in range(3):
            graph.add_node(triangle[i])
            for one, other in ((0, 1), (0, 2), (1, 2)):
                ends = (triangle[one], triangle[other])
                graph.add_edge(*ends)
                flow_places.setdefault(number[min(ends), max(ends)], len(flow_places))
    edge_at = {place: edge for edge, place in flow_places.items()}
    source, turn = module._published_places(triangles, square)
    for place, (one, other) in enumerate(graph.edges()):
        edge = number[min(one, other), max(one, other)]
        assert source[edge] == edge_at[place]
        assert turn[edge] == (1 if one < other else -1)


# Splits


def test_the_honest_split_holds_out_part_of_the_published_training_samples():
    few = {"num_points": 300}
    published = trajectory_splits(np.random.default_rng(5), sizes=(5, 0, 2), **few)
    honest = trajectory_splits(np.random.default_rng(5), sizes=(3, 2, 2), **few)
    both = np.concatenate((honest.train.flows[:3], honest.validation.flows[:2]))
    assert np.array_equal(both, published.train.flows[:5])
    assert np.array_equal(honest.test.flows, published.test.flows)
    assert honest.train.complex is honest.test.complex
    assert honest.validation.labels.tolist() == [0, 0, 1, 1]


def test_the_honest_sizes_leave_800_to_train_on():
    train, validation, test = TRAJECTORY_SIZES["honest"]
    assert (2 * train, 2 * validation, 2 * test) == (800, 200, 200)


def test_the_same_seed_gives_the_same_walks_and_another_one_another_complex(small):
    again = trajectory_splits(np.random.default_rng(1), **SMALL)
    for part, other in zip(small, again, strict=True):
        assert part.flows.tobytes() == other.flows.tobytes()
        assert part.orientations.tobytes() == other.orientations.tobytes()
    another = trajectory_splits(np.random.default_rng(2), **SMALL)
    assert another.train.complex.points.tobytes() != small.train.complex.points.tobytes()


def test_only_test_samples_have_an_orientation_of_their_own(small):
    assert (small.train.orientations == 1).all() and (small.validation.orientations == 1).all()
    assert set(np.unique(small.test.orientations).tolist()) == {-1, 1}
    assert np.unique(small.test.orientations, axis=0).shape[0] == len(small.test)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"edge_alignment": "false"}, "'true' or 'reference'"),
        ({"num_points": 10}, "at least 100"),
        ({"sizes": (1, -1, 1)}, "none negative"),
    ],
)
def test_what_makes_no_sense_is_refused(options, says):
    with refused(ValueError, says):
        trajectory_splits(np.random.default_rng(0), **options)


# As graphs with faces


def matrices(data):
    """B1, B2 and the flow of a sample, under the directions that it is stored with."""
    edges = data.edges.numpy()
    signs, places = data.face_sign.numpy().astype(int), tuple(data.face_incidence.numpy())
    boundary = np.zeros((edges.shape[1], int(data.num_faces)), dtype=int)
    boundary[places] = signs
    return incidence_of(edges, data.num_nodes).toarray(), boundary, data.edge_features.numpy()


@pytest.mark.parametrize("part", ["train", "test"])
def test_a_graph_is_a_complex_under_its_own_directions(small, part):
    samples = getattr(small, part)
    for i, data in enumerate(trajectory_data(samples)):
        below, above, flow = matrices(data)
        assert not (below @ above).any() and data.validate()
        signs = samples.orientations[i].astype(int)
        assert np.array_equal(flow[:, 0], signs * samples.flows[i])
        assert np.array_equal(below, incidence(*samples.complex.graph).toarray() * signs)
        assert np.array_equal(above, signs[:, None] * samples.complex.boundary().toarray())
        assert np.array_equal(below @ flow[:, 0], divergence(samples)[:, i])
        assert data.y.tolist() == [samples.labels[i]]


def test_samples_share_what_is_the_same(small):
    train = trajectory_data(small.train)
    for name in ("x", "edge_index", "edges", "arc_sign", "face_incidence", "face_sign"):
        assert train[0][name] is train[1][name]
    test = trajectory_data(small.test)
    assert test[0].face_incidence is test[1].face_incidence
    assert not torch.equal(test[0].edges, test[1].edges)


def dense(pairs, values, size):
    matrix = np.zeros((size, size))
    matrix[tuple(pairs.numpy())] = values.numpy()
    return matrix


def test_what_transforms_add_is_turned_with_the_complex(small):
    transform = Compose(
        [
            AddCycleProjector(dtype=torch.float64),
            AddShortestCycleBasis(),
            AddHarmonicSums(dtype=torch.float64),
        ]
    )
    plain = transform(complex_data(small.test.complex))
    num_edges = plain.edges.size(1)
    projector = dense(plain.pair_edges, plain.pair_projector, num_edges)
    for i, data in enumerate(trajectory_data(small.test, transform)):
        signs = small.test.orientations[i].astype(float)
        mine = dense(data.pair_edges, data.pair_projector, num_edges)
        np.testing.assert_array_equal(mine, signs[:, None] * projector * signs)
        below, _, _ = matrices(data)
        cycles = np.zeros((num_edges, int(data.num_cycles)))
        cycles[tuple(data.cycle_incidence.numpy())] = data.cycle_sign.numpy()
        assert not (below @ cycles).any()
        # Of the sums of rows only those that no direction changes are known.
        assert torch.equal(data.harmonic_sums[:, ::2], plain.harmonic_sums[:, ::2])
        assert data.harmonic_sums[:, 1].isnan().all()
        assert torch.equal(data.num_cycles, plain.num_cycles)


def test_without_turning_transforms_change_nothing(small):
    data = trajectory_data(small.train, AddHarmonicSums())[0]
    expected = AddHarmonicSums()(complex_data(small.train.complex)).harmonic_sums
    assert torch.equal(data.harmonic_sums, expected)
    assert data.harmonic_sums[:, 0].sum().round(decimals=4) == 2


def test_features_that_say_nothing_are_zero(small):
    data = trajectory_data(small.train)[0]
    assert data.x.shape == (data.num_nodes, 1) and not data.x.any()
    assert data.face_features.shape == (int(data.num_faces), 1) and not data.face_features.any()
    assert data.edge_features.shape == (data.edges.size(1), 1)


def test_a_batch_is_split_into_the_same_graphs(small):
    several = trajectory_data(small.test)
    batch = Batch.from_data_list(several)
    assert batch.validate()
    for one, other in zip(several, batch.to_data_list(), strict=True):
        for name in one.keys():
            assert torch.equal(one[name], other[name]), name


def test_an_empty_part_has_no_graphs(full):
    assert isinstance(full.validation, TrajectorySet) and trajectory_data(full.validation) == []
