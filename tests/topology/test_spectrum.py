import itertools
from fractions import Fraction

import named_graphs
import numpy as np
import oracles
import pytest
from bad_input import refused
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples, graphs, relabelled, relabellings

from cyclenet.topology.errors import GraphError, TooLargeError
from cyclenet.topology.spectrum import eigenspaces, hodge_eigenspaces

NORMALIZATIONS = ["none", "symmetric"]
CLOSE = 1e-10


def laplacian_of(edges, num_nodes, normalization):
    incidence = oracles.dense_incidence(edges, num_nodes)
    laplacian = (incidence @ incidence.T).astype(np.float64)
    if normalization == "symmetric":
        scale = np.sqrt(np.maximum(np.diag(laplacian), 1))
        laplacian /= np.outer(scale, scale)
    return laplacian


def squarefree_degree(edges, num_nodes, normalization):
    """Number of different eigenvalues, from the exact characteristic polynomial."""
    incidence = oracles.dense_incidence(edges, num_nodes)
    laplacian = incidence @ incidence.T
    degree = np.maximum(np.diag(laplacian), 1) if normalization == "symmetric" else None
    rows = [
        [Fraction(int(x), 1 if degree is None else int(degree[i])) for x in row]
        for i, row in enumerate(laplacian)
    ]
    return oracles.distinct_roots(oracles.characteristic_polynomial(rows))


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@examples(quick=150, deep=20_000)
@given(graphs(10))
def test_eigenspaces_rebuild_the_matrix_and_are_orthonormal(normalization, case):
    edges, num_nodes = case
    found = eigenspaces(edges, num_nodes, normalization=normalization)
    matrix = laplacian_of(edges, num_nodes, normalization)
    rebuilt = np.zeros_like(matrix)
    for k in range(len(found)):
        rebuilt += found.values[k] * found.projector(k)
    np.testing.assert_allclose(rebuilt, matrix, atol=CLOSE)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(num_nodes), atol=CLOSE)


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@examples(quick=150, deep=20_000)
@given(graphs(9))
def test_there_is_one_space_for_each_root_of_the_characteristic_polynomial(normalization, case):
    found = eigenspaces(*case, normalization=normalization)
    assert found.is_exact
    assert len(found) == squarefree_degree(*case, normalization)
    assert np.all(np.diff(found.values) > 2 * found.error_bound)


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@examples(quick=150, deep=20_000)
@given(graphs(12))
def test_the_kernel_has_one_dimension_for_each_component(normalization, case):
    edges, num_nodes = case
    found = eigenspaces(edges, num_nodes, normalization=normalization)
    if num_nodes == 0:
        assert len(found) == 0
        return
    assert found.values[0] == 0.0
    assert found.multiplicities[0] == oracles.component_count(edges, num_nodes)
    assert found.multiplicities.sum() == num_nodes
    # Each kernel vector lives on one component, and every node in one kernel vector.
    assert np.all((found.basis(0) != 0).sum(axis=1) == 1)


@examples(quick=100, deep=20_000)
@given(graphs(10), st.data())
def test_relabelling_permutes_the_projectors(case, data):
    edges, num_nodes = case
    permutation = data.draw(relabellings(num_nodes))
    renamed, _ = relabelled(edges, permutation)
    before, after = eigenspaces(edges, num_nodes), eigenspaces(renamed, num_nodes)
    np.testing.assert_array_equal(before.multiplicities, after.multiplicities)
    for k in range(len(before)):
        moved = after.projector(k)[np.ix_(permutation, permutation)]
        np.testing.assert_allclose(moved, before.projector(k), atol=1e-8)


def test_the_complete_graph_has_two_eigenspaces():
    found = eigenspaces(*named_graphs.complete(6))
    np.testing.assert_allclose(found.values, [0, 6], atol=1e-12)
    assert found.multiplicities.tolist() == [1, 5]


def test_the_rook_graph_has_the_spectrum_of_a_strongly_regular_graph():
    for graph in (named_graphs.rook(), named_graphs.shrikhande()):
        found = eigenspaces(*graph)
        np.testing.assert_allclose(found.values, [0, 4, 8], atol=1e-12)
        assert found.multiplicities.tolist() == [1, 6, 9]


def test_a_long_path_keeps_all_its_eigenvalues_apart():
    found = eigenspaces(*named_graphs.path(300))
    assert found.is_exact
    assert found.multiplicities.tolist() == [1] * 300


def test_an_isolated_node_counts_as_a_zero_of_both_laplacians():
    nothing = np.zeros((2, 0), dtype=np.int64)
    for normalization in NORMALIZATIONS:
        found = eigenspaces(nothing, 2, normalization=normalization)
        assert found.values.tolist() == [0.0]
        assert found.multiplicities.tolist() == [2]


def two_cliques_far_apart(distance):
    """Two equal cliques at the ends of a path: their eigenvalues split by next to nothing."""
    clique, size = named_graphs.complete(6)
    pairs = [*clique.T.tolist(), *(clique.T + size).tolist()]
    path = [0, *range(2 * size, 2 * size + distance), size]
    pairs += [list(pair) for pair in itertools.pairwise(path)]
    return named_graphs.from_pairs(map(tuple, pairs), 2 * size + distance)


def test_eigenvalues_too_close_to_tell_apart_are_refused_by_name():
    graph = two_cliques_far_apart(60)
    with pytest.raises(GraphError, match="on_ambiguous") as caught:
        eigenspaces(*graph)
    assert caught.value.code == "ambiguous_spectrum"
    merged = eigenspaces(*graph, on_ambiguous="merge")
    assert not merged.is_exact
    assert merged.multiplicities.sum() == graph[1]


def test_eigenvalues_that_are_close_but_different_stay_apart():
    found = eigenspaces(*two_cliques_far_apart(8))
    assert found.is_exact
    # The ten vectors inside the cliques share the eigenvalue 6; the rest are single.
    assert sorted(found.multiplicities.tolist())[-1] == 8
    assert len(found) == 20 - 7


@examples(quick=100, deep=10_000)
@given(graphs(8))
def test_the_hodge_kernel_is_the_cycle_space(case):
    edges, num_nodes = case
    betti = oracles.betti_by_rank(edges, num_nodes)
    found = hodge_eigenspaces(edges, num_nodes)
    if betti == 0:
        assert not np.any(found.values == 0)
        return
    assert found.multiplicities[0] == betti
    expected = oracles.projector_by_svd(edges, num_nodes)
    np.testing.assert_allclose(found.projector(0), expected, atol=1e-9)


def test_filling_a_triangle_leaves_no_harmonic_space():
    edges, num_nodes = named_graphs.cycle(3)
    face = np.array([[0], [1], [2]])
    found = hodge_eigenspaces(edges, num_nodes, face)
    np.testing.assert_allclose(found.values, [3], atol=1e-12)
    edges, num_nodes = named_graphs.bowtie()
    found = hodge_eigenspaces(edges, num_nodes, face)
    assert found.values[0] == 0.0
    assert found.multiplicities[0] == 1


@pytest.mark.parametrize("function", [eigenspaces, hodge_eigenspaces])
def test_a_graph_too_large_for_dense_matrices_is_refused_before_they_are_made(function):
    edges, num_nodes = named_graphs.grid(20, 20)
    with pytest.raises(TooLargeError, match="eigenspaces") as caught:
        function(edges, num_nodes, max_bytes=10**6)
    error = caught.value
    assert error.num_edges == error.largest_block == 760
    assert error.bytes_needed > 8 * 400**2 and error.max_bytes == 10**6
    edges, num_nodes = named_graphs.path(1_000_000)
    with pytest.raises(TooLargeError):
        function(edges, num_nodes)


def test_an_unknown_choice_is_named():
    for function in (eigenspaces, hodge_eigenspaces):
        with refused(ValueError, "on_ambiguous"):
            function(*named_graphs.cycle(3), on_ambiguous="mrege")
    with refused(ValueError, "normalization"):
        eigenspaces(*named_graphs.cycle(3), normalization="random")
