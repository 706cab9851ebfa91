"""Superpixel complexes without images, and what to skip where images cannot be cut."""

import importlib.util

import numpy as np
import pytest

from cyclenet.datasets.superpixels import SuperpixelComplex
from cyclenet.topology import clique_complex

needs_scikit_image = pytest.mark.skipif(
    importlib.util.find_spec("skimage") is None, reason="scikit-image is not installed"
)


def random_complex(rng):
    """Any graph with its triangles; the first ones of a list have no triangles or no edges."""
    size, density = int(rng.integers(1, 10)), rng.choice([0.0, 0.2, 0.7, 1.0])
    edges = np.stack(np.nonzero(np.triu(rng.random((size, size)) < density, 1))).astype(np.int64)
    boundary = clique_complex(edges, size)
    faces = boundary.indices.reshape(-1, 3).T.astype(np.int64)
    points = rng.random((size, 3), dtype=np.float32)
    return SuperpixelComplex(points[np.argsort(-points[:, 0])], edges, faces)


def random_complexes(count, rng):
    """Dense ones first and last, so that there are triangles."""
    made = [random_complex(rng) for _ in range(count)]
    size = 5
    edges = np.stack(np.triu_indices(size, 1)).astype(np.int64)
    faces = clique_complex(edges, size).indices.reshape(-1, 3).T.astype(np.int64)
    made[0] = SuperpixelComplex(np.ones((size, 3), dtype=np.float32), edges, faces)
    return made


def grid_complex():
    """As large as the complex of an image of MNIST: 9 x 9 regions that touch at their corners too.

    It has 272 edges and 256 triangles, the most that an image of the first 300 has.
    """
    side = 9
    row, column = np.indices((side, side)).reshape(2, -1)
    near = (abs(row[:, None] - row) <= 1) & (abs(column[:, None] - column) <= 1)
    edges = np.stack(np.nonzero(np.triu(near, 1))).astype(np.int64)
    faces = clique_complex(edges, side * side).indices.reshape(-1, 3).T.astype(np.int64)
    points = np.stack((np.linspace(1, 0, side * side), row, column), axis=1).astype(np.float32)
    return SuperpixelComplex(points, edges, faces)
