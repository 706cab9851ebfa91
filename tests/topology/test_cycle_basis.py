import numpy as np
import pytest

from cyclenet.topology import CycleBasis


def basis_of_two_triangles(num_relevant):
    """Two triangles on the edge 0: the cycles 0 1 2 and 0 3 4, signed, and a count to ask for."""
    pointers, edges = np.array([0, 3, 6]), np.array([0, 1, 2, 0, 3, 4])
    signs = np.array([1, -1, 1, 1, -1, 1], dtype=np.int8)
    asked = []

    def count():
        asked.append(True)
        return num_relevant

    return CycleBasis(5, pointers, edges, signs, np.array([3, 3]), 2, count), asked


def test_the_incidence_has_a_signed_column_for_each_cycle():
    basis, _ = basis_of_two_triangles(2)
    assert basis.incidence.toarray().tolist() == [[1, 1], [-1, 0], [1, 0], [0, -1], [0, 1]]
    assert basis.incidence.dtype == np.int64


def test_a_basis_knows_its_cycles_and_lengths():
    basis, _ = basis_of_two_triangles(2)
    assert [cycle.tolist() for cycle in basis.cycles] == [[0, 1, 2], [0, 3, 4]]
    assert basis.num_cycles == 2
    assert basis.total_weight == 6 and isinstance(basis.total_weight, int)


@pytest.mark.parametrize(("num_relevant", "is_unique"), [(2, True), (3, False)])
def test_a_basis_is_unique_if_all_relevant_cycles_are_in_it(num_relevant, is_unique):
    basis, _ = basis_of_two_triangles(num_relevant)
    assert basis.num_relevant == num_relevant
    assert basis.is_unique is is_unique


def test_relevant_cycles_are_counted_when_asked_for_and_once():
    basis, asked = basis_of_two_triangles(2)
    assert not asked
    assert basis.is_unique and basis.num_relevant == 2
    assert asked == [True]


def test_weighted_lengths_have_a_float_total():
    none = np.zeros(0, dtype=np.int64)
    basis = CycleBasis(3, np.zeros(1, dtype=np.int64), none, none, np.zeros(0), 0, lambda: 0)
    assert basis.incidence.shape == (3, 0)
    assert basis.total_weight == 0.0 and isinstance(basis.total_weight, float)
    assert basis.cycles == [] and basis.num_cycles == 0 and basis.is_unique


def test_the_repr_is_short_and_does_not_count():
    basis, asked = basis_of_two_triangles(2)
    assert "count_relevant" not in repr(basis)
    assert not asked
