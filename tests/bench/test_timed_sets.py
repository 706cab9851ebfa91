"""The sets of the table of preprocessing times: their sizes, and names that files may use."""

import numpy as np
import pytest

from cyclenet.bench.timed_sets import SETS, TimedGraphs, digest, sizes, spread_over
from cyclenet.datasets import Graph
from cyclenet.datasets.data_folder import DATA_HERE, DataFolder
from cyclenet.datasets.typed_molecules import molecules_to_bytes
from cyclenet.datasets.zinc_files import sample_molecules
from cyclenet.experiments.names import TIMED_SETS

TRIANGLE = Graph(np.array([[0, 0, 1], [1, 2, 2]]), 3)
LONELY = Graph(np.zeros((2, 0), dtype=np.int64), 1)


def test_names_are_the_keys():
    assert tuple(SETS) == TIMED_SETS


def test_averages_count_stored_edges_as_the_paper_does():
    both = sizes(TimedGraphs([TRIANGLE, LONELY], 2))
    assert both == (2.0, 1.5, 1.5)
    assert sizes(TimedGraphs([TRIANGLE, LONELY], 1)).degree == 0.75


def test_the_points_are_as_large_as_the_published_ones():
    made = SETS["circle_extents-test"](DATA_HERE)
    found = sizes(made)
    assert len(made.graphs) == 100
    assert found.nodes == 80
    assert found.degree == pytest.approx(1.17, abs=0.02)


def test_training_and_test_points_are_different_graphs():
    train, test = (SETS[f"circle_extents-{split}"](DATA_HERE).graphs for split in ("train", "test"))
    assert len(train) == 400
    assert not {digest([graph]) for graph in train} & {digest([graph]) for graph in test}


def test_the_shipped_molecules_are_as_large_as_those_of_the_paper():
    found = sizes(SETS["molecules"](DATA_HERE))
    assert found.nodes == pytest.approx(23.08, abs=0.01)
    assert found.degree == pytest.approx(2.15, abs=0.01)


def test_zinc_is_looked_for_where_data_lie(tmp_path):
    sample = sample_molecules()
    place = tmp_path / "ZINC" / "cyclenet" / "zinc-test.safetensors"
    place.parent.mkdir(parents=True)
    place.write_bytes(molecules_to_bytes(sample, {"split": "test"}))
    made = SETS["zinc-test"](DataFolder(tmp_path))
    assert made.stored == 2
    assert digest(made.graphs) == digest(list(sample.graphs()))
    # Both directions are stored.
    arcs = sample.edge_index.shape[1]
    assert sizes(made).degree == pytest.approx(arcs / sum(n for _, n in made.graphs))


def test_a_digest_knows_graphs_and_their_order():
    graphs = [TRIANGLE, LONELY]
    assert digest(graphs) == digest([Graph(edges.copy(), n) for edges, n in graphs])
    others = [graphs[::-1], graphs[:1], [Graph(TRIANGLE.edges, 4), LONELY], []]
    assert len({digest(graphs), *map(digest, others)}) == 5


@pytest.mark.parametrize(("size", "count"), [(10, 3), (10, 10), (3, 500), (1, 1)])
def test_a_few_graphs_are_spread_over_the_set(size, count):
    places = spread_over(size, count)
    assert len(places) == len(set(places)) == min(size, count)
    assert places == sorted(places)
    assert places[0] == 0 and places[-1] < size
