import named_graphs
import numpy as np
import oracles
import pytest
from bad_input import refused
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples, graphs, relabelled, relabellings

from cyclenet.topology.errors import GraphError
from cyclenet.topology.incidence import betti_number
from cyclenet.topology.persistence import extended_persistence, extended_persistence_diagrams


@st.composite
def filtered_graphs(draw):
    edges, num_nodes = draw(graphs(10))
    # Few different values: ties are where pairings go wrong.
    one = st.one_of(st.integers(-3, 3).map(float), st.floats(-5, 5, allow_subnormal=False))
    values = draw(st.lists(one, min_size=num_nodes, max_size=num_nodes))
    return edges, num_nodes, np.array(values, dtype=np.float64)


def as_rows(pairs):
    return [tuple(row) for row in pairs.tolist()]


@examples(quick=300, deep=50_000)
@given(filtered_graphs())
def test_all_parts_equal_the_reduction_of_the_coned_graph(case):
    found = extended_persistence_diagrams(*case)
    expected = oracles.extended_pairs(*case)
    assert as_rows(found.cycles) == expected["ext_1"]
    assert as_rows(found.components) == expected["ext_0"]
    assert as_rows(found.branches) == [(a, b) for a, b in expected["ordinary"] if a != b]
    assert as_rows(found.forks) == [(a, b) for a, b in expected["relative"] if a != b]


@examples(quick=200, deep=20_000)
@given(filtered_graphs(), st.floats(-5, 5), st.floats(-5, 5))
def test_pairs_count_the_cycles_between_two_values(case, low, high):
    edges, num_nodes, values = case
    births, deaths = extended_persistence(edges, num_nodes, values).T
    inside = np.all((values[edges] >= low) & (values[edges] <= high), axis=0)
    expected = betti_number(edges[:, inside], num_nodes)
    assert np.sum((births <= high) & (deaths >= low)) == expected


@examples(quick=200, deep=20_000)
@given(filtered_graphs())
def test_there_are_as_many_pairs_as_the_betti_number(case):
    edges, num_nodes, values = case
    pairs = extended_persistence(edges, num_nodes, values)
    assert pairs.shape == (oracles.betti_by_rank(edges, num_nodes), 2)
    assert np.all(pairs[:, 0] >= pairs[:, 1])


@examples(quick=200, deep=20_000)
@given(filtered_graphs(), st.data())
def test_names_of_nodes_do_not_matter(case, data):
    edges, num_nodes, values = case
    permutation = data.draw(relabellings(num_nodes))
    renamed, _ = relabelled(edges, permutation)
    moved = np.empty_like(values)
    moved[permutation] = values
    before = extended_persistence_diagrams(edges, num_nodes, values)
    after = extended_persistence_diagrams(renamed, num_nodes, moved)
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)


@examples(quick=100, deep=10_000)
@given(filtered_graphs())
def test_upside_down_the_diagram_is_mirrored(case):
    edges, num_nodes, values = case
    up = extended_persistence_diagrams(edges, num_nodes, values)
    down = extended_persistence_diagrams(edges, num_nodes, -values)
    assert sorted(as_rows(-up.branches)) == as_rows(down.forks)
    assert sorted(as_rows(-up.forks)) == as_rows(down.branches)
    assert sorted(as_rows(-up.components[:, ::-1])) == as_rows(down.components)
    assert sorted(as_rows(-up.cycles[:, ::-1])) == as_rows(down.cycles)


@pytest.mark.parametrize("which", ["a", "b"])
def test_the_two_graphs_of_the_paper_have_the_same_diagram(which):
    edges, num_nodes = named_graphs.paper_example(which)
    distance = np.array([0, 1, 1, 2, 2, 2, 3])
    pairs = extended_persistence(edges, num_nodes, 1 + distance)
    assert as_rows(pairs) == [(3, 1), (3, 2), (4, 3)]


def test_a_long_path_and_a_large_grid_are_quick_and_right():
    edges, num_nodes = named_graphs.path(20_000)
    assert extended_persistence(edges, num_nodes, np.arange(num_nodes)).shape == (0, 2)
    edges, num_nodes = named_graphs.grid(40, 50)
    pairs = extended_persistence(edges, num_nodes, np.arange(num_nodes) // 50)
    # Each square lies between two neighbouring rows.
    assert as_rows(pairs) == [(r + 1, r) for r in range(39) for _ in range(49)]


def test_a_graph_without_nodes_has_an_empty_diagram():
    nothing = np.zeros((2, 0), dtype=np.int64)
    for part in extended_persistence_diagrams(nothing, 0, np.zeros(0)):
        assert part.shape == (0, 2)


def test_an_isolated_node_is_a_component_of_no_height():
    nothing = np.zeros((2, 0), dtype=np.int64)
    found = extended_persistence_diagrams(nothing, 1, np.array([2.5]))
    assert as_rows(found.components) == [(2.5, 2.5)]


@pytest.mark.parametrize("values", [[1.0, 2.0, 3j], ["1", "2", "3"], [None, 1.0, 2.0]])
def test_values_must_be_real_numbers(values):
    with refused(TypeError, "`node_values` must hold real numbers"):
        extended_persistence(*named_graphs.cycle(3), np.array(values))


@pytest.mark.parametrize(
    ("values", "code"), [([0.0, 1.0], "node_values_shape"), ([0.0, np.nan, 1.0], "node_value")]
)
def test_values_must_be_one_finite_number_a_node(values, code):
    edges, num_nodes = named_graphs.cycle(3)
    with pytest.raises(GraphError) as caught:
        extended_persistence(edges, num_nodes, np.array(values))
    assert caught.value.code == code
