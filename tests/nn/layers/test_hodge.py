"""Products with incidence matrices are products with Laplacians and their sign patterns."""

import numpy as np
import pytest
import scipy.sparse
import torch
from bad_input import refused
from feature_graphs import EMPTY, FOREST, batch_of, drawn, with_features, with_triangles
from hypothesis import given
from hypothesis import strategies as st
from named_graphs import complete, cycle, from_pairs, theta
from strategies import examples
from torch_geometric.data import Batch

from cyclenet.nn.layers.hodge import comes_first, ordered_complex, stored_complex
from cyclenet.topology import incidence

CLOSE = {"atol": 1e-12, "rtol": 1e-12}
TRIANGLE = from_pairs([(0, 1), (0, 2), (1, 2)], 3)
several_graphs = st.lists(drawn(8), min_size=1, max_size=3)


def triangulated(several):
    return with_triangles(batch_of(several))


def boundaries(batch):
    """B1 and B2 of a batch as it stores them."""
    down = incidence(batch.edges.numpy(), batch.num_nodes).toarray()
    shape = batch.edges.size(1), int(batch.num_faces.sum())
    up = scipy.sparse.coo_array(
        (batch.face_sign.numpy().astype(int), tuple(batch.face_incidence.numpy())), shape=shape
    )
    return down.astype(float), up.toarray().astype(float)


def dense(sides):
    """The matrix of an `Incidence`, column by column."""
    eye = torch.eye(sides.sides.size(1), dtype=torch.float64)
    return sides.to_below(eye).numpy()


def laplacians(down, up):
    return [down @ down.T, down.T @ down + up @ up.T, up.T @ up]


def pattern(matrix, *, signed):
    """The signs of a matrix off its diagonal, and ones on it."""
    signs = np.sign(matrix) if signed else np.abs(np.sign(matrix))
    np.fill_diagonal(signs, 1)
    return torch.from_numpy(signs)


def rows_of(count, width=3):
    return torch.randn(count, width, dtype=torch.float64)


def listed(pairs, count):
    """The matrix that has a one for each pair, two where a pair comes twice."""
    found = torch.zeros(count, count, dtype=torch.float64)
    return found.index_put((pairs[0], pairs[1]), torch.ones(1, dtype=torch.float64), True)


@given(several_graphs)
@examples(40, 1_000)
def test_incidences_are_the_matrices_and_their_transposes(several):
    batch = triangulated(several)
    cells = stored_complex(batch, batch.x)
    for sides, expected in zip((cells.below, cells.above), boundaries(batch), strict=True):
        np.testing.assert_array_equal(dense(sides), expected)
        low, high = (rows_of(count) for count in expected.shape)
        matrix = torch.from_numpy(expected)
        torch.testing.assert_close(sides.to_below(high), matrix @ high, **CLOSE)
        torch.testing.assert_close(sides.to_above(low), matrix.t() @ low, **CLOSE)
        unsigned = matrix.abs()
        torch.testing.assert_close(sides.to_below(high, signed=False), unsigned @ high, **CLOSE)
        torch.testing.assert_close(sides.to_above(low, signed=False), unsigned.t() @ low, **CLOSE)
        torch.testing.assert_close(sides.degree, unsigned.sum(1, keepdim=True), **CLOSE)


@pytest.mark.parametrize("signed", [True, False])
@given(several=several_graphs)
@examples(40, 1_000)
def test_sign_patterns_are_incidence_products(signed, several):
    r"""S(B1'B1) = B1'B1 - I, S(B2 B2') = B2 B2' - diag + I, S(B2'B2) = B2'B2 - 2 I."""
    batch = triangulated(several)
    cells = stored_complex(batch, batch.x)
    for sides, matrix in zip((cells.below, cells.above), boundaries(batch), strict=True):
        low, high = (rows_of(count) for count in matrix.shape)
        expected = pattern(matrix @ matrix.T, signed=signed) @ low
        torch.testing.assert_close(sides.upper(low, signed=signed), expected, **CLOSE)
        expected = pattern(matrix.T @ matrix, signed=signed) @ high
        torch.testing.assert_close(sides.lower(high, signed=signed), expected, **CLOSE)


@given(several_graphs)
@examples(40, 1_000)
def test_lists_of_pairs_are_the_patterns_and_every_pair_is_there_once(several):
    batch = triangulated(several)
    cells = stored_complex(batch, batch.x)
    for sides, matrix in zip((cells.below, cells.above), boundaries(batch), strict=True):
        upper, lower = matrix @ matrix.T, matrix.T @ matrix
        found = listed(sides.upper_pairs(), len(upper))
        assert torch.equal(found, pattern(upper, signed=False))
        found = listed(sides.lower_pairs(), len(lower))
        assert torch.equal(found, pattern(lower, signed=False))


@given(several_graphs)
@examples(40, 1_000)
def test_rescaled_laplacians_are_those_of_each_graph(several):
    batch = triangulated(several)
    cells = stored_complex(batch, batch.x)
    blocks = {"published": ([], [], []), "centred": ([], [], [])}
    for i, graph in enumerate(several):
        alone = with_triangles(with_features(graph, i))
        for k, matrix in enumerate(laplacians(*boundaries(alone))):
            eye = np.eye(len(matrix))
            largest = np.linalg.eigvalsh(matrix)[-1] if len(matrix) else 0.0
            centred = 2 * matrix / largest - eye if largest > 1e-9 else eye
            turned = centred - 2 * np.diag(np.diag(centred)) if largest > 1e-9 else eye
            blocks["centred"][k].append(torch.from_numpy(centred))
            blocks["published"][k].append(torch.from_numpy(turned))
    for how, parts in blocks.items():
        for k, several_blocks in enumerate(parts):
            matrix = torch.block_diag(*several_blocks)
            rows = rows_of(cells.owners[k].size(0))
            expected = matrix[: len(rows), : len(rows)] @ rows
            torch.testing.assert_close(
                cells.rescaled(k, rows, how), expected, atol=1e-10, rtol=1e-10
            )


def test_a_centred_laplacian_has_eigenvalues_from_minus_one_to_one():
    batch = triangulated([complete(5)])
    cells = stored_complex(batch, batch.x)
    for k in range(3):
        eye = torch.eye(cells.owners[k].size(0), dtype=torch.float64)
        values = torch.linalg.eigvalsh(cells.rescaled(k, eye, "centred"))
        assert values[-1].item() == pytest.approx(1)
        assert values[0].item() >= -1 - 1e-12


def test_one_triangle_by_hand():
    batch = triangulated([TRIANGLE])
    cells = stored_complex(batch, batch.x)
    assert cells.above.sides.flatten().tolist() == [0, 1, 2]
    assert cells.above.signs.flatten().tolist() == [1, -1, 1]
    flow = torch.tensor([[1.0], [-1.0], [1.0]], dtype=torch.float64)
    assert not cells.below.to_below(flow).any()
    assert cells.above.to_above(flow).tolist() == [[3]]
    # L2 = 3 with the largest eigenvalue 3: 2 - 1, and with the diagonal turned around.
    one = torch.ones(1, 1, dtype=torch.float64)
    assert cells.rescaled(2, one, "centred").item() == pytest.approx(1)
    assert cells.rescaled(2, one, "published").item() == pytest.approx(-1)


# Directions from an order of the nodes


def keys_of(batch, values):
    """Two columns that take few values, so that there are ties."""
    generator = torch.Generator().manual_seed(values)
    return torch.randint(values, (batch.num_nodes, 2), generator=generator).double()


@given(several_graphs, st.integers(1, 9))
@examples(60, 1_000)
def test_ordered_complexes_are_the_stored_ones_in_other_directions(several, values):
    batch = triangulated(several)
    keys = keys_of(batch, values)
    cells, (down, up) = ordered_complex(batch, keys), boundaries(batch)
    turned, turned_up = dense(cells.below), dense(cells.above)
    assert not (turned @ turned_up).any()
    signs = np.where((cells.ends == batch.edges).all(0).numpy(), 1, -1)
    np.testing.assert_array_equal(turned, down * signs)
    np.testing.assert_array_equal(np.abs(turned_up), np.abs(up))
    faces = (turned_up * signs[:, None] * up).sum(0) / 3
    np.testing.assert_array_equal(np.abs(faces), np.ones(up.shape[1]))
    np.testing.assert_array_equal(turned_up, signs[:, None] * up * faces)


@given(several_graphs, st.integers(1, 9))
@examples(60, 1_000)
def test_cells_list_their_nodes_in_descending_order(several, values):
    batch = triangulated(several)
    keys = keys_of(batch, values)
    cells = ordered_complex(batch, keys)
    for nodes in (cells.ends, cells.corners):
        for column in nodes.t().tolist():
            ranks = [(-keys[node, 0].item(), -keys[node, 1].item(), node) for node in column]
            assert ranks == sorted(ranks) and len(set(column)) == len(column)
    for face, corners in enumerate(cells.corners.t().tolist()):
        for place, side in enumerate(cells.above.sides[:, face].tolist()):
            others = [node for node in corners if node != corners[place]]
            assert cells.ends[:, side].tolist() == others


def test_later_columns_decide_only_what_earlier_ones_leave_open():
    keys = torch.zeros(2, 30)
    keys[0, 0], keys[1, 1:] = 1e-3, 1e3
    pairs = torch.tensor([[0, 1, 0], [1, 0, 0]])
    assert comes_first(keys, pairs).tolist() == [True, False, True]


# Batches of any kind


def test_complexes_without_triangles_or_edges_are_ordinary():
    batch = triangulated([FOREST, EMPTY, cycle(5), EMPTY])
    assert batch.num_faces.tolist() == [0, 0, 0, 0]
    cells = stored_complex(batch, batch.x)
    for sides in (cells.below, cells.above):
        low, high = sides.degree.size(0), sides.sides.size(1)
        assert sides.upper(rows_of(low)).shape == (low, 3)
        assert sides.lower(rows_of(high)).shape == (high, 3)
    edges = rows_of(cells.owners[1].size(0))
    assert torch.equal(cells.above.upper(edges), edges)


def test_nothing_at_all_is_ordinary():
    batch = Batch.from_data_list([with_triangles(with_features(EMPTY))])
    cells = ordered_complex(batch, batch.x)
    for k in range(3):
        assert cells.rescaled(k, rows_of(0), "published").shape == (0, 3)
    for sides in (cells.below, cells.above):
        assert sides.upper_pairs().shape == sides.lower_pairs().shape == (2, 0)


@pytest.mark.parametrize("graph", [theta(), complete(4)])
def test_gradients_are_right(graph):
    batch = triangulated([graph, TRIANGLE])
    cells = stored_complex(batch, batch.x)
    for k in range(3):
        rows = rows_of(cells.owners[k].size(0), 2).requires_grad_()
        assert torch.autograd.gradcheck(lambda x, k=k: cells.rescaled(k, x, "published"), rows)


# Bad input


def test_faces_must_be_there_and_be_triangles():
    batch = batch_of([cycle(4)])
    with refused(ValueError, "must be triangles, but 1 faces have 4 sides; try: `LiftToClique"):
        stored_complex(batch, batch.x)
    with refused(ValueError, "must be triangles"):
        ordered_complex(batch, batch.x)
    del batch.face_incidence
    with refused(ValueError, "no `face_incidence`; try: `LiftToCliqueComplex"):
        stored_complex(batch, batch.x)


def test_bounds_must_be_there():
    batch = triangulated([TRIANGLE])
    del batch.laplacian_bounds
    with refused(ValueError, r"`laplacian_bounds`, .*try: AddLaplacianBounds"):
        stored_complex(batch, batch.x).rescaled(0, batch.x, "published")
