import itertools

import named_graphs
import numpy as np
import pytest
import torch
from bad_input import refused
from hypothesis import given
from hypothesis import strategies as st
from strategies import arcs_of, examples, graphs, relabellings
from torch_geometric.data import Batch, Data

from cyclenet import AddEigenspaces
from cyclenet.topology import GraphError, TooLargeError, hodge_laplacian
from cyclenet.transforms import (
    AddHodgeInverse,
    AddLaplacianBounds,
    AddLeadingEigenvectors,
    LiftToCliqueComplex,
)

CLOSE = 1e-10
NORMALIZATIONS = ["symmetric", "none"]


def drawn_graphs(max_nodes=8):
    """A graph, its arcs in any order, and new names for its nodes."""
    return graphs(max_nodes, edge_order="sorted").flatmap(
        lambda graph: st.tuples(st.just(graph), arcs_of(graph[0]), relabellings(graph[1]))
    )


def attached(arcs, num_nodes, **options):
    data = Data(edge_index=torch.as_tensor(arcs), num_nodes=num_nodes)
    return AddEigenspaces(dtype=torch.float64, **options)(data)


def matrix_of(data):
    """The eigenvectors as columns, read through the pairs."""
    matrix = np.zeros((data.num_nodes, data.num_nodes))
    matrix[tuple(data.eigen_pairs.numpy())] = data.eigen_entry.numpy()
    return matrix


def laplacian_of(edges, num_nodes, normalization):
    adjacency = np.zeros((num_nodes, num_nodes))
    adjacency[edges[0], edges[1]] = adjacency[edges[1], edges[0]] = 1.0
    degree = adjacency.sum(0)
    laplacian = np.diag(degree) - adjacency
    if normalization == "symmetric":
        root = np.sqrt(np.maximum(degree, 1))
        laplacian /= np.outer(root, root)
    return laplacian


def projectors(data):
    """The projector on each space, by its first eigenvector."""
    vectors, spaces = matrix_of(data), data.eigenspace.numpy()
    return {k: vectors[:, spaces == k] @ vectors[:, spaces == k].T for k in np.unique(spaces)}


@given(drawn_graphs())
@examples(60, 2_000)
@pytest.mark.parametrize("normalization", NORMALIZATIONS)
def test_eigenvectors_rebuild_the_laplacian_and_are_orthonormal(normalization, drawn):
    (edges, num_nodes), arcs, _ = drawn
    data = attached(arcs, num_nodes, normalization=normalization)
    vectors, values = matrix_of(data), data.eigenvalue.numpy()
    expected = laplacian_of(edges, num_nodes, normalization)
    np.testing.assert_allclose((vectors * values) @ vectors.T, expected, atol=CLOSE)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(num_nodes), atol=CLOSE)


@given(drawn_graphs())
@examples(60, 2_000)
def test_pairs_come_node_after_node(drawn):
    (_, num_nodes), arcs, _ = drawn
    data = attached(arcs, num_nodes)
    ids = torch.arange(num_nodes)
    assert torch.equal(data.eigen_pairs, torch.cartesian_prod(ids, ids).reshape(-1, 2).t())


@given(drawn_graphs())
@examples(60, 2_000)
def test_a_space_is_named_after_its_first_eigenvector(drawn):
    (_, num_nodes), arcs, _ = drawn
    data = attached(arcs, num_nodes)
    assert torch.equal(data.eigenspace, data.eigenspace.sort().values)
    assert torch.equal(data.eigenspace[data.eigenspace], data.eigenspace)
    same_value = data.eigenvalue[:-1] == data.eigenvalue[1:]
    assert torch.equal(data.eigenspace[:-1] == data.eigenspace[1:], same_value)
    assert (data.eigenvalue.diff() >= 0).all()


@given(drawn_graphs())
@examples(60, 2_000)
def test_relabelling_permutes_the_projectors(drawn):
    (_, num_nodes), arcs, names = drawn
    one, other = attached(arcs, num_nodes), attached(names[arcs].reshape(2, -1), num_nodes)
    torch.testing.assert_close(one.eigenvalue, other.eigenvalue, atol=CLOSE, rtol=0)
    assert torch.equal(one.eigenspace, other.eigenspace)
    renamed = projectors(other)
    for space, projector in projectors(one).items():
        moved = renamed[space][np.ix_(names, names)]
        np.testing.assert_allclose(moved, projector, atol=1e-8)


@given(st.lists(drawn_graphs(6), min_size=1, max_size=4))
@examples(40, 500)
def test_in_a_batch_every_graph_keeps_its_eigenvectors(several):
    single = [attached(arcs, num_nodes) for (_, num_nodes), arcs, _ in several]
    batch = Batch.from_data_list(single)
    vectors = torch.zeros(batch.num_nodes, batch.num_nodes, dtype=torch.double)
    vectors[batch.eigen_pairs[0], batch.eigen_pairs[1]] = batch.eigen_entry
    blocks = [torch.from_numpy(matrix_of(data)) for data in single]
    assert torch.equal(vectors, torch.block_diag(*blocks)[: batch.num_nodes])


def test_the_triangle_by_hand():
    data = attached([[0, 0, 1], [1, 2, 2]], 3)
    assert data.eigenspace.tolist() == [0, 1, 1]
    assert data.eigenvalue.tolist() == pytest.approx([0.0, 1.5, 1.5])
    assert data.eigenvalue[1] == data.eigenvalue[2]
    assert matrix_of(data)[:, 0] == pytest.approx(3**-0.5)


def test_spaces_are_found_where_rounding_would_split_them():
    data = attached(named_graphs.hypercube(4)[0], 16)
    assert data.eigenspace.unique().tolist() == [0, 1, 5, 11, 15]
    assert data.eigenvalue.unique().tolist() == pytest.approx([0, 0.5, 1, 1.5, 2])


def test_the_kernel_lives_on_components():
    data = attached([[0, 1, 3], [1, 2, 4]], 6)
    assert data.eigenspace.tolist()[:4] == [0, 0, 0, 3]
    expected = torch.block_diag(torch.ones(3, 1), torch.ones(2, 1), torch.ones(1, 1)) != 0
    assert torch.equal(torch.from_numpy(matrix_of(data)[:, :3] != 0), expected)


@pytest.mark.parametrize("policies", [{}, {"self_loops": "cycle", "multi_edges": "distinct"}])
@pytest.mark.filterwarnings("ignore:(self loops|repeated arcs)")
def test_loops_and_copies_change_nothing(policies):
    plain = attached([[0, 0, 1], [1, 2, 2]], 3)
    crowded = attached([[0, 0, 0, 1, 2], [1, 1, 2, 2, 2]], 3, **policies)
    for name in ("eigen_pairs", "eigen_entry", "eigenvalue", "eigenspace"):
        assert torch.equal(plain[name], crowded[name]), name


def test_numbers_are_rounded_once_at_the_end():
    edges, num_nodes = named_graphs.grid(3, 4)
    data = Data(edge_index=torch.from_numpy(edges), num_nodes=num_nodes)
    single, double = AddEigenspaces()(data), AddEigenspaces(dtype=torch.float64)(data)
    for name in ("eigen_entry", "eigenvalue"):
        assert torch.equal(single[name], double[name].float())
    assert single.eigenspace.dtype == single.eigen_pairs.dtype == torch.long


def test_eigenvalues_too_close_to_tell_apart_share_a_space_or_are_refused():
    """Two equal cliques at the ends of a long path: pairs that differ by less than rounding."""
    clique, size = named_graphs.complete(6)
    walk = [0, *range(2 * size, 2 * size + 60), size]
    pairs = [*clique.T.tolist(), *(clique.T + size).tolist(), *itertools.pairwise(walk)]
    edges, num_nodes = named_graphs.from_pairs(pairs, 2 * size + 60)
    options = {"normalization": "none"}
    with refused(GraphError, "further apart .* try: on_ambiguous='merge'", "ambiguous_spectrum"):
        attached(edges, num_nodes, on_ambiguous="raise", **options)
    data = attached(edges, num_nodes, **options)
    assert len(data.eigenspace.unique()) < num_nodes
    vectors = matrix_of(data)
    rebuilt = (vectors * data.eigenvalue.numpy()) @ vectors.T
    np.testing.assert_allclose(rebuilt, laplacian_of(edges, num_nodes, "none"), atol=1e-9)


def test_a_graph_that_would_not_fit_is_refused_before_anything_is_allocated():
    with refused(TooLargeError, "list of all eigenvectors .* 576 bytes, .* 100 bytes", "too_large"):
        attached([[0, 0, 1], [1, 2, 2]], 3, max_memory=100)
    huge = Data(edge_index=torch.tensor([[0], [1]]), num_nodes=10**6)
    with refused(TooLargeError, "64000000000000 bytes", "too_large"):
        AddEigenspaces()(huge)


def test_the_spectrum_above_0_is_that_of_the_hodge_laplacian():
    edges, num_nodes = named_graphs.bowtie()
    data = attached(edges, num_nodes, normalization="none")
    on_edges = np.linalg.eigvalsh(hodge_laplacian(edges, num_nodes).toarray().astype(float))
    above = data.eigenvalue[data.eigenvalue > CLOSE].numpy()
    np.testing.assert_allclose(on_edges[on_edges > CLOSE], above, atol=CLOSE)


# Rows of fixed length


def rows_of(arcs, num_nodes, **options):
    data = Data(edge_index=torch.as_tensor(arcs), num_nodes=num_nodes)
    return AddLeadingEigenvectors(dtype=torch.float64, **options)(data)


def number_of(data):
    """How many eigenvectors there are, which all nodes agree on, and zeros behind them."""
    here = data.eigen_multiplicity > 0
    assert (here == here[:1]).all() and (here.int().diff(dim=1) <= 0).all()
    assert not data.eigen_rows[~here].any()
    return int(here[:1].sum())


def spaces_of(data):
    """The projectors on the spaces in the rows, one after the other."""
    found, column, count = [], 0, number_of(data)
    while column < count:
        q = int(data.eigen_multiplicity[0, column])
        assert (data.eigen_multiplicity[:, column : column + q] == q).all()
        basis = data.eigen_rows[:, column : column + q]
        found.append((basis @ basis.T).numpy())
        column += q
    assert column == count
    return found


@given(drawn_graphs(), st.integers(1, 9))
@examples(60, 2_000)
@pytest.mark.parametrize("normalization", NORMALIZATIONS)
def test_rows_hold_the_first_whole_spaces_above_zero(normalization, drawn, count):
    (_, num_nodes), arcs, _ = drawn
    every = attached(arcs, num_nodes, normalization=normalization)
    data = rows_of(arcs, num_nodes, count=count, normalization=normalization)
    assert data.eigen_rows.shape == data.eigen_multiplicity.shape == (num_nodes, count)
    expected, room = [], count
    for space, projector in projectors(every).items():
        if every.eigenvalue[space] == 0:
            continue
        room -= int((every.eigenspace == space).sum())
        if room < 0:
            break
        expected.append(projector)
    found = spaces_of(data)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=CLOSE)


@given(drawn_graphs(), st.integers(1, 9))
@examples(40, 1_000)
def test_relabelling_permutes_the_projectors_of_rows(drawn, count):
    (_, num_nodes), arcs, names = drawn
    one = rows_of(arcs, num_nodes, count=count)
    other = rows_of(names[arcs].reshape(2, -1), num_nodes, count=count)
    assert torch.equal(one.eigen_multiplicity, other.eigen_multiplicity[names])
    for mine, theirs in zip(spaces_of(one), spaces_of(other), strict=True):
        np.testing.assert_allclose(theirs[np.ix_(names, names)], mine, atol=1e-8)


def test_rows_of_a_batch_are_those_of_its_graphs():
    several = [rows_of(named_graphs.path(n)[0], n, count=4) for n in (1, 2, 7)]
    batch = Batch.from_data_list(several)
    assert torch.equal(batch.eigen_rows, torch.cat([one.eigen_rows for one in several]))
    for one, other in zip(several, batch.to_data_list(), strict=True):
        assert torch.equal(one.eigen_multiplicity, other.eigen_multiplicity)


def test_rows_of_the_path_by_hand():
    data = rows_of([[0, 1], [1, 2]], 3, count=5)
    assert data.eigen_multiplicity[0].tolist() == [1, 1, 0, 0, 0]
    first, second = data.eigen_rows[:, 0], data.eigen_rows[:, 1]
    assert (first * first[0].sign()).tolist() == pytest.approx([0.5**0.5, 0, -(0.5**0.5)])
    assert (second * second[0].sign()).tolist() == pytest.approx([0.5, -(0.5**0.5), 0.5])


@pytest.mark.parametrize(
    ("graph", "count", "number"),
    [
        (named_graphs.path(1), 8, 0),
        (named_graphs.path(60), 37, 37),
        (named_graphs.path(38), 37, 37),
        (named_graphs.complete(9), 8, 8),
        (named_graphs.complete(10), 8, 0),  # one space of dimension 9
        (named_graphs.hypercube(4), 8, 4),  # dimensions 4, 6, 4 and 1
        ((np.zeros((2, 0), dtype=np.int64), 5), 8, 0),  # nothing but kernel
        ((np.zeros((2, 0), dtype=np.int64), 0), 8, 0),
        ((np.array([[0, 1, 3], [1, 2, 4]]), 6), 8, 3),  # a path of 3, an edge, a node
    ],
)
def test_a_space_is_never_cut_and_the_kernel_never_there(graph, count, number):
    assert number_of(rows_of(*graph, count=count)) == number


def test_equal_components_share_their_spaces():
    data = rows_of([[0, 1, 3, 4], [1, 2, 4, 5]], 6, count=5)
    assert data.eigen_multiplicity[0].tolist() == [2, 2, 2, 2, 0]


def test_rows_need_a_column():
    with refused(ValueError, "`count` must be at least 1, but it is 0"):
        AddLeadingEigenvectors(count=0)
    with refused(TypeError, "`count` must be a whole number, but it is 2.5"):
        AddLeadingEigenvectors(count=2.5)


def test_rows_of_a_graph_that_would_not_fit_are_refused():
    huge = Data(edge_index=torch.tensor([[0], [1]]), num_nodes=10**6)
    with refused(TooLargeError, "the eigenspaces", "too_large"):
        AddLeadingEigenvectors()(huge)


# Hodge Laplacians


def lifted(arcs, num_nodes, **attributes):
    data = Data(edge_index=torch.as_tensor(arcs), num_nodes=num_nodes)
    data = LiftToCliqueComplex()(data)
    data.update(attributes)
    return data


def hodge_laplacians(data):
    """The dense Laplacians of nodes, edges and faces."""
    m = data.edges.size(1)
    down, up = np.zeros((data.num_nodes, m)), np.zeros((m, int(data.num_faces)))
    down[data.edges[0], np.arange(m)], down[data.edges[1], np.arange(m)] = -1, 1
    up[tuple(data.face_incidence.numpy())] = data.face_sign.numpy()
    return down @ down.T, down.T @ down + up @ up.T, up.T @ up


@given(drawn_graphs())
@examples(40, 1_000)
def test_bounds_are_the_largest_eigenvalues(drawn):
    (_, num_nodes), arcs, names = drawn
    transform = AddLaplacianBounds(dtype=torch.float64)
    data = transform(lifted(arcs, num_nodes))
    other = transform(lifted(names[arcs].reshape(2, -1), num_nodes))
    expected = [np.linalg.eigvalsh(one)[-1] if len(one) else 0 for one in hodge_laplacians(data)]
    assert data.laplacian_bounds.shape == (1, 3)
    np.testing.assert_allclose(data.laplacian_bounds[0], expected, atol=CLOSE)
    torch.testing.assert_close(other.laplacian_bounds, data.laplacian_bounds, atol=CLOSE, rtol=0)


def test_bounds_of_a_large_complex():
    edges, num_nodes = named_graphs.complete(24)
    data = AddLaplacianBounds(dtype=torch.float64)(lifted(edges, num_nodes))
    # On a simplex with all its triangles, every Laplacian is n times a projector.
    np.testing.assert_allclose(data.laplacian_bounds, [[24, 24, 24]], atol=CLOSE)


def test_bounds_travel_as_one_row_for_each_graph():
    batch = Batch.from_data_list(
        [AddLaplacianBounds()(lifted(arcs, 4)) for arcs in ([[0], [1]], [[0, 0, 1], [1, 2, 2]])]
    )
    torch.testing.assert_close(batch.laplacian_bounds, torch.tensor([[2.0, 2, 0], [3, 3, 3]]))


@pytest.mark.parametrize("values", [False, True])
@given(drawn_graphs())
@examples(30, 500)
def test_the_inverse_is_that_of_the_shifted_laplacian(values, drawn):
    (_, num_nodes), arcs, _ = drawn
    own = torch.arange(2.0).repeat(arcs.shape[1], 1)
    plain = lifted(arcs, num_nodes)
    plain.edge_features = own[: plain.edges.size(1)]
    data = AddHodgeInverse(count=3, values=values, dtype=torch.float64)(plain)
    laplacian, m = hodge_laplacians(data)[1], data.edges.size(1)
    inverse = np.linalg.inv(laplacian + np.eye(m))
    found = np.zeros((m, m))
    found[tuple(data.neighbour_edges.numpy())] = data.neighbour_weight.numpy()
    ends = data.edges.t().tolist()
    shared = [[bool(set(one) & set(other)) for other in ends] for one in ends]
    np.testing.assert_allclose(found, inverse * np.array(shared).reshape(m, m), atol=CLOSE)
    assert data.neighbour_edges.size(1) == sum(map(sum, shared))
    assert data.edge_features.shape == (m, 2 + 3 * (1 + values))
    np.testing.assert_array_equal(data.edge_features[:, :2], plain.edge_features)
    taken = min(3, m)
    vectors = data.edge_features[:, 2 : 2 + taken].numpy()
    singular = np.linalg.svd(inverse)[1][:taken]
    np.testing.assert_allclose(inverse @ vectors, vectors * singular, atol=CLOSE)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(taken), atol=CLOSE)
    if values:
        rows = np.broadcast_to(singular, (m, taken))
        np.testing.assert_allclose(data.edge_features[:, 5 : 5 + taken], rows, atol=CLOSE)


@pytest.mark.parametrize("transform", [AddLaplacianBounds, AddHodgeInverse])
def test_a_graph_must_be_lifted_first(transform):
    with refused(GraphError, "no `face_incidence`; try: LiftToCliqueComplex", "numbers_missing"):
        transform()(Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2))


def test_impossible_inverses_are_refused():
    with refused(ValueError, "`count` must be at least 0, but it is -1"):
        AddHodgeInverse(count=-1)
    with refused(TooLargeError, "inverse of a Hodge Laplacian"):
        AddHodgeInverse(max_memory=100)(lifted([[0, 0, 1], [1, 2, 2]], 3))
