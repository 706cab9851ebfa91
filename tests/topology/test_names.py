"""The names and the leading arguments that others build against."""

import inspect

import numpy as np
import pytest
import scipy.sparse

from cyclenet import topology
from cyclenet.topology import shortest_cycle_basis

SIGNATURES = {
    "shortest_cycle_basis": ["edges", "num_nodes", "weights"],
    "relevant_cycles": ["edges", "num_nodes", "weights", "max_cycles"],
    "shortest_cycle_bases": ["edges", "edge_ptr", "num_nodes"],
    "cycle_projector": ["edges", "num_nodes"],
    "hodge_laplacian": ["edges", "num_nodes", "faces"],
    "betti_number": ["edges", "num_nodes"],
    "shortest_homology_basis": ["edges", "faces", "num_nodes", "weights"],
    "extended_persistence": ["edges", "num_nodes", "node_values"],
}
OPTIONAL = {"weights", "max_cycles"}


@pytest.mark.parametrize("name", SIGNATURES)
def test_leading_arguments_stay_where_they_are(name):
    parameters = list(inspect.signature(getattr(topology, name)).parameters.values())
    expected = SIGNATURES[name]
    assert [p.name for p in parameters[: len(expected)]] == expected
    for parameter in parameters:
        needed = parameter.default is inspect.Parameter.empty
        if parameter.name not in expected:
            assert not needed, f"{name} may not ask for more than it did"
        elif parameter.name in OPTIONAL:
            assert not needed


def test_a_basis_has_the_attributes_others_read():
    square_with_diagonal = np.array([[0, 0, 0, 1, 2], [1, 2, 3, 2, 3]])
    basis = shortest_cycle_basis(square_with_diagonal, 4)
    assert scipy.sparse.issparse(basis.incidence) and basis.incidence.shape == (5, 2)
    assert basis.lengths.tolist() == [3, 3] and basis.total_weight == 6
    assert basis.num_relevant == 2 and basis.is_unique is True
    assert topology.cycle_projector(square_with_diagonal, 4).dtype == np.float64
