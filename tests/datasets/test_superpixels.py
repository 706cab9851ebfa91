"""From images to superpixel complexes, and many of them packed."""

import sys
from pathlib import Path

import numpy as np
import oracles
import pytest
from bad_input import refused
from made_mnist import drawn_images
from made_superpixels import needs_scikit_image, random_complexes

from cyclenet.datasets.errors import MissingExtra
from cyclenet.datasets.mnist_files import mnist_images
from cyclenet.datasets.superpixels import (
    ARRAYS,
    ENCODINGS,
    SuperpixelComplexes,
    pack_complexes,
    superpixel_complex,
    validation_ids,
)
from cyclenet.topology import (
    clique_complex,
    cycle_projector,
    hodge_laplacian,
    incidence,
)

MNIST = Path(__file__).parents[2] / "data"
needs_mnist = pytest.mark.skipif(
    not (MNIST / "MNIST" / "raw").is_dir(), reason="data/MNIST/raw is not here"
)

OUR_IMAGES, OUR_LABELS = drawn_images(6)


def intensity(points):
    colour = points[:, 0]
    return 3 * colour * colour


def published_complex(image):
    """Section A.1 of the specification, word for word: by names of regions, edges and triangles."""
    segmentation = pytest.importorskip("skimage.segmentation")
    graph = pytest.importorskip("skimage.graph")
    networkx = pytest.importorskip("networkx")
    grey = image / 255
    labels = segmentation.slic(
        grey, n_segments=75, compactness=1, start_label=1, channel_axis=None
    )  # fmt: skip
    regions = graph.rag_mean_color(np.repeat(grey[:, :, None], 3, axis=2), labels)
    colour = {name: regions.nodes[name]["mean color"] for name in regions}
    bright = {name: float((colour[name] ** 2).sum()) for name in regions}
    edges = {(u, v) if bright[u] >= bright[v] else (v, u) for u, v in regions.edges}
    cliques = [clique for clique in networkx.enumerate_all_cliques(regions) if len(clique) == 3]
    centre = {name: np.argwhere(labels == name).mean(axis=0) for name in regions}
    return colour, centre, edges, {frozenset(clique) for clique in cliques}


@needs_scikit_image
@pytest.mark.parametrize("number", range(len(OUR_IMAGES)))
def test_the_complex_is_the_published_one(number):
    image = OUR_IMAGES[number]
    found = superpixel_complex(image)
    colour, centre, edges, triangles = published_complex(image)
    names = {tuple(np.float32(centre[name])): name for name in centre}
    names = [names[tuple(point[1:])] for point in found.points]
    assert len(set(names)) == len(centre) == len(found.points)
    for name, point in zip(names, found.points, strict=True):
        np.testing.assert_array_equal(colour[name].astype(np.float32), point[[0, 0, 0]])
    assert {(names[tail], names[head]) for tail, head in found.edges.T} == edges
    corners = np.concatenate((found.edges[:, found.faces[0]], found.edges[1:, found.faces[1]]))
    assert {frozenset(names[node] for node in corner) for corner in corners.T} == triangles
    ties = np.diff(intensity(found.points)) == 0
    assert ties.any()  # or the rule for regions that are equally bright was not asked for


@needs_scikit_image
def test_nodes_go_from_bright_to_dark_and_so_do_edges_and_triangles():
    for image in OUR_IMAGES:
        found = superpixel_complex(image)
        assert (np.diff(intensity(found.points)) <= 0).all()
        assert (found.edges[0] < found.edges[1]).all()
        # The sides (i, j), (i, k) and (j, k) of i < j < k.
        i_j, i_k, j_k = (found.edges[:, side] for side in found.faces)
        np.testing.assert_array_equal(i_j[0], i_k[0])
        np.testing.assert_array_equal(i_j[1], j_k[0])
        np.testing.assert_array_equal(i_k[1], j_k[1])
        # Which is how the library lists and directs them anyway.
        expected = clique_complex(found.edges, len(found.points))
        np.testing.assert_array_equal(found.boundary().toarray(), expected.toarray())
        assert abs(incidence(found.edges, len(found.points)) @ found.boundary()).sum() == 0


@needs_scikit_image
def test_an_image_without_anything_on_it_is_a_grid():
    found = superpixel_complex(np.zeros((28, 28), dtype=np.uint8))
    assert found.points.shape == (81, 3) and (found.points[:, 0] == 0).all()
    # All equally dark: the order is from the upper left on.
    np.testing.assert_array_equal(found.points[0, 1:], found.points[:, 1:].min(axis=0))


@needs_scikit_image
def test_an_image_of_one_region_has_no_edges():
    found = superpixel_complex(np.full((1, 1), 255, dtype=np.uint8))
    assert found.points.tolist() == [[1.0, 0.0, 0.0]]
    assert found.edges.shape == (2, 0) and found.faces.shape == (3, 0)
    packed = pack_complexes([found], OUR_LABELS[:1])
    assert packed.arrays["laplacian_bounds"].tolist() == [[0.0, 0.0, 0.0]]


@needs_scikit_image
def test_the_same_image_gives_the_same_bytes():
    one, other = (superpixel_complex(OUR_IMAGES[0]) for _ in range(2))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))


def test_without_scikit_image_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "skimage", None)
    with pytest.raises(MissingExtra, match="scikit-image") as caught:
        superpixel_complex(OUR_IMAGES[0])
    assert caught.value.hint == "pip install 'cyclenet[complexes]'"


def test_impossible_images_are_refused():
    with refused(ValueError, "with pixels"):
        superpixel_complex(np.zeros((0, 28), dtype=np.uint8))


@needs_scikit_image
@needs_mnist
def test_mnist_has_the_statistics_that_were_measured():
    images, labels = mnist_images("test", MNIST)
    assert np.bincount(labels).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    complexes = [superpixel_complex(image) for image in images[:300]]
    nodes = np.array([len(each.points) for each in complexes])
    edges = np.array([each.edges.shape[1] for each in complexes])
    faces = np.array([each.faces.shape[1] for each in complexes])
    assert (nodes == 81).all()
    assert (round(edges.mean(), 1), edges.min(), edges.max()) == (260.9, 249, 272)
    assert (round(faces.mean(), 1), faces.min(), faces.max()) == (233.8, 210, 256)
    betti = edges - nodes + 1  # every image is in one piece
    assert (round(betti.mean(), 1), betti.min(), betti.max()) == (180.9, 169, 192)
    for each, cycles in zip(complexes[:20], betti, strict=False):
        # All cycles are filled: the complex has no holes, and its harmonic projector is zero.
        assert np.linalg.matrix_rank(each.boundary().toarray()) == cycles


# Packed


def complexes(count=5, seed=0):
    return random_complexes(count, np.random.default_rng(seed))


def packed(count=5, seed=0):
    return pack_complexes(complexes(count, seed), np.arange(count, dtype=np.uint8))


def assert_same_complexes(one, other):
    assert set(one.arrays) == set(other.arrays)
    for name, array in one.arrays.items():
        np.testing.assert_array_equal(array, other.arrays[name])
        assert array.dtype == other.arrays[name].dtype


def test_what_is_packed_comes_out_again():
    given = complexes()
    found = packed()
    assert len(found) == len(given)
    for one, other in zip(given, found, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(found[-1].edges, given[-1].edges)
    with pytest.raises(IndexError):
        found[5]


def test_encodings_are_those_of_the_matrices():
    found = packed()
    for index, one in enumerate(complexes()):
        num_nodes, boundary = len(one.points), one.boundary()
        laplacian = hodge_laplacian(one.edges, num_nodes, boundary).toarray()
        projector = cycle_projector(one.edges, num_nodes)
        sums = oracles.row_sums(projector)
        np.testing.assert_allclose(found.of(index, "projector_sums"), sums, atol=1e-6)
        np.testing.assert_array_equal(found.of(index, "hodge_sums"), oracles.row_sums(laplacian))
        down = incidence(one.edges, num_nodes)
        parts = (down @ down.T).toarray(), laplacian, (boundary.T @ boundary).toarray()
        bounds = [np.linalg.eigvalsh(part).max(initial=0.0) for part in parts]
        np.testing.assert_allclose(found.of(index, "laplacian_bounds")[0], bounds, atol=1e-5)


def test_some_images_can_be_chosen_in_any_order():
    found = packed()
    ids = np.array([4, 1, 2, 2])
    expected = pack_complexes([complexes()[i] for i in ids], ids.astype(np.uint8))
    assert_same_complexes(found.chosen(ids), expected)
    assert len(found.chosen(ids[:0])) == 0
    without = found.chosen(ids, [name for name in ARRAYS if name not in ENCODINGS])
    assert set(without.arrays) == set(ARRAYS) - set(ENCODINGS)


def replaced(name, change):
    arrays = dict(packed().arrays)
    arrays[name] = change(arrays[name].copy())
    return arrays


def with_value(place, value):
    def change(array):
        array[place] = value
        return array

    return change


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        (lambda: {"y": np.zeros(1, np.uint8)}, "expected the arrays points"),
        (lambda: replaced("points", lambda a: a.astype(np.float64)), "points of type float32"),
        (lambda: replaced("points", lambda a: a[:-1]), "rows of points"),
        (lambda: replaced("edges", lambda a: a[:, :1]), r"shape \(any, 2\)"),
        (lambda: replaced("num_edges", lambda a: a[:-1]), "num_edges of 5 images"),
        (lambda: replaced("num_faces", lambda a: -a), "none of them negative"),
        (lambda: replaced("edges", with_value((0, 1), 200)), "edges of ascending ids below"),
        (lambda: replaced("edges", with_value((0, 0), 9)), "edges of ascending ids"),
        (lambda: replaced("faces", with_value((0, 2), 999)), "faces of ascending ids below"),
        (lambda: replaced("faces", with_value((0, 0), -1)), "faces of ascending ids"),
        (lambda: replaced("points", with_value((0, 0), np.nan)), "finite points"),
    ],
)
def test_arrays_that_are_no_complexes_are_refused(arrays, said):
    with refused(ValueError, said):
        SuperpixelComplexes(arrays())


# Validation


def test_the_published_validation_set_is_the_first_images_of_each_class():
    labels = np.random.default_rng(0).integers(0, 10, 400).astype(np.uint8)
    found = validation_ids(labels, 5)
    assert np.bincount(labels[found]).tolist() == [5] * 10
    for label in range(10):
        assert set(np.flatnonzero(labels == label)[:5]) <= set(found)
    drawn = validation_ids(labels, 5, np.random.default_rng(1))
    assert np.bincount(labels[drawn]).tolist() == [5] * 10
    assert (np.diff(drawn) > 0).all() and (np.diff(found) > 0).all()
    assert drawn.tolist() != found.tolist()
    assert drawn.tolist() == validation_ids(labels, 5, np.random.default_rng(1)).tolist()
