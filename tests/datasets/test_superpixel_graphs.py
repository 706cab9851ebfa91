"""Superpixel graphs for networks: one by one, or all of them end to end."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from bad_input import refused
from made_mnist import SIZES, write_raw_files
from made_superpixels import needs_scikit_image, random_complexes
from test_data import assert_same_graph
from torch_geometric.data import Batch

from cyclenet.datasets.cache_folder import CACHE_VARIABLE
from cyclenet.datasets.data_folder import DataFolder
from cyclenet.datasets.superpixel_graphs import (
    SUPERPIXEL_CHANNELS,
    Superpixels,
    mnist_superpixels,
    ready_superpixels,
    superpixel_data,
)
from cyclenet.datasets.superpixels import ENCODINGS, pack_complexes, superpixel_complex
from cyclenet.nn.backbones.simplicial import by_brightness
from cyclenet.nn.layers.hodge import ordered_complex
from cyclenet.runner.batches import GraphStore
from cyclenet.transforms import (
    AddCycleProjector,
    AddHodgeSums,
    AddLaplacianBounds,
    LiftToCliqueComplex,
)

CPU = torch.device("cpu")


def drawn(count=7, seed=0):
    rng = np.random.default_rng(seed)
    return Superpixels(
        pack_complexes(random_complexes(count, rng), np.arange(count, dtype=np.uint8))
    )


def test_a_graph_is_what_our_transforms_make_of_its_arcs():
    transforms = (
        AddCycleProjector(pairs="none"), LiftToCliqueComplex(), AddHodgeSums(),
        AddLaplacianBounds(),
    )  # fmt: skip
    for data in drawn():
        expected = data.without_cycles()
        for transform in transforms:
            expected = transform(expected)
        assert set(expected.keys()) == set(data.keys())
        for name in data.keys():
            assert data[name].dtype == expected[name].dtype, name
            torch.testing.assert_close(data[name], expected[name], rtol=1e-5, atol=1e-6)
        assert data.validate()


@needs_scikit_image
def test_networks_direct_edges_as_the_region_graph_does():
    """Nearly all ties are between black regions, of which it lists the one further up first."""
    image = np.zeros((28, 28), dtype=np.uint8)
    image[8:20, 12:16] = 250
    image[8:11, 8:20] = 180
    data = superpixel_data(superpixel_complex(image))
    batch = Batch.from_data_list([data])
    found = ordered_complex(batch, by_brightness(data.x)).ends
    differ = (found != data.edges).any(dim=0)
    bright = data.x[:, 0]
    tied = bright[data.edges[0]] == bright[data.edges[1]]
    assert tied.double().mean() > 0.3
    assert not differ[~tied].any()
    assert differ.double().mean() < 0.02


def test_features_are_the_colour_three_times_and_the_centre():
    complexes = random_complexes(3, np.random.default_rng(0))
    data = superpixel_data(complexes[0])
    points = torch.from_numpy(complexes[0].points)
    assert data.x.shape == (len(points), SUPERPIXEL_CHANNELS)
    assert torch.equal(data.x, points[:, [0, 0, 0, 1, 2]])


def test_numbers_of_images_count_from_either_end():
    set_of_seven = drawn()
    assert_same_graph(set_of_seven[-1], set_of_seven[6])
    assert set_of_seven[3].y.tolist() == [3]
    with pytest.raises(IndexError):
        set_of_seven[7]


def assert_same_batch(one, other):
    assert set(one.keys()) == set(other.keys())
    for name in one.keys():
        assert one[name].dtype == other[name].dtype, name
        assert torch.equal(one[name], other[name]), name


@pytest.mark.parametrize("encodings", [ENCODINGS, ENCODINGS[1:2], ()])
@pytest.mark.parametrize("gives_away", [False, True])
def test_a_store_of_the_rows_is_the_store_of_the_graphs(encodings, gives_away):
    complexes = drawn().complexes
    names = [name for name in complexes.arrays if name not in ENCODINGS or name in encodings]
    chosen = Superpixels(complexes.chosen(np.arange(7), names))
    items = list(chosen)
    store = GraphStore.from_rows(chosen.rows(gives_away=gives_away), CPU)
    for ids in ([0, 6, 3], [2, 2], [1]):
        assert_same_batch(store.take(ids), Batch.from_data_list([items[i] for i in ids]))
    assert bool(chosen.complexes.arrays) != gives_away


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "home"))
    write_raw_files(tmp_path / "data")
    return tmp_path / "data"


@needs_scikit_image
def test_both_parts_are_made_ready_and_read(root):
    ready_superpixels(DataFolder(root))
    for part, size in zip(("train", "test"), SIZES.values(), strict=True):
        found = mnist_superpixels(part, root)
        assert len(found) == size
        assert set(ENCODINGS) <= set(found[0].keys())
    some = mnist_superpixels("train", root, ids=np.array([1, 4]), encodings=["hodge_sums"])
    assert len(some) == 2 and "hodge_sums" in some[0] and "projector_sums" not in some[0]
    assert some[1].y.tolist() == mnist_superpixels("train", root)[4].y.tolist()
    with refused(ValueError, "must be some of"):
        mnist_superpixels("train", root, encodings=["laplacian"])


# What a store of all training images with one encoding, the larger one, may take on top of what the
# process takes anyway.
MOST_BYTES = 1_000_000_000

PEAK = """
import resource, sys
import numpy as np, torch
from made_superpixels import grid_complex
from cyclenet.datasets.superpixel_graphs import Superpixels
from cyclenet.datasets.superpixels import pack_complexes
from cyclenet.runner.batches import GraphStore

def peak():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

one = pack_complexes([grid_complex()], np.zeros(1, np.uint8))
few = GraphStore.from_rows(Superpixels(one.chosen(np.zeros(50, int))).rows(), torch.device("cpu"))
before, count = peak(), int(sys.argv[1])
names = [name for name in one.arrays if name != "hodge_sums"]
many = Superpixels(one.chosen(np.zeros(count, dtype=np.int64), names))
store = GraphStore.from_rows(many.rows(gives_away=True), torch.device("cpu"))
batch = store.take(range(32))
print(peak() - before)
"""


@pytest.mark.slow
def test_a_training_set_takes_less_than_a_gigabyte_at_its_peak(request):
    tests = request.config.rootpath / "tests"
    done = subprocess.run([sys.executable, "-c", PEAK, "55000"], capture_output=True, text=True,
                          cwd=tests, check=True)  # fmt: skip
    assert int(done.stdout) < MOST_BYTES
