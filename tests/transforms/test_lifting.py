import named_graphs
import numpy as np
import oracles
import pytest
import scipy.linalg
import scipy.sparse
import torch
from bad_input import refused
from hypothesis import given
from hypothesis import strategies as st
from strategies import arcs_of, examples, graphs, relabellings
from torch_geometric.data import Batch, Data

from cyclenet.topology import (
    GraphError,
    TooLargeError,
    TooManyFaces,
    hodge_laplacian,
    incidence,
    ring_complex,
)
from cyclenet.transforms import (
    AddHodgeSums,
    AddShortestCycleBasis,
    LiftToCliqueComplex,
    LiftToRingComplex,
)

LIFTS = [LiftToRingComplex, LiftToCliqueComplex]


def drawn_graphs(max_nodes=8):
    """A graph, its arcs in any order, and new names for its nodes."""
    return graphs(max_nodes, edge_order="sorted").flatmap(
        lambda graph: st.tuples(st.just(graph), arcs_of(graph[0]), relabellings(graph[1]))
    )


def lifted(arcs, num_nodes, lift=LiftToRingComplex, **options):
    return lift(**options)(Data(edge_index=torch.as_tensor(arcs), num_nodes=num_nodes))


def dense(data):
    """B2, read through the pairs."""
    boundary = np.zeros((data.edges.size(1), int(data.num_faces.sum())), dtype=np.int64)
    boundary[tuple(data.face_incidence.numpy())] = data.face_sign.numpy()
    return boundary


def faces_by_nodes(data, names=None):
    """The nodes of every face, under other names if there are any."""
    ends = data.edges[:, data.face_incidence[0]].numpy()
    ends = ends if names is None else names[ends].reshape(2, -1)
    owner = data.face_incidence[1].numpy()
    return sorted(
        tuple(np.unique(ends[:, owner == face]).tolist()) for face in range(int(data.num_faces))
    )


@given(drawn_graphs(), st.integers(3, 8))
@examples(80, 2_000)
def test_faces_are_stored_as_the_topology_lists_them(drawn, max_length):
    (edges, num_nodes), arcs, _ = drawn
    data = lifted(arcs, num_nodes, max_length=max_length)
    expected = ring_complex(edges, num_nodes, max_length)
    np.testing.assert_array_equal(dense(data), expected.toarray())
    assert data.face_incidence.dtype == data.num_faces.dtype == torch.long
    assert data.face_sign.dtype == torch.int8
    assert data.num_faces.tolist() == [expected.shape[1]]


@pytest.mark.parametrize("lift", LIFTS)
@given(drawn_graphs())
@examples(60, 2_000)
def test_faces_are_closed(lift, drawn):
    (_, num_nodes), arcs, _ = drawn
    data = lifted(arcs, num_nodes, lift)
    assert not (incidence(data.edges.numpy(), num_nodes) @ dense(data)).any()


@pytest.mark.parametrize("lift", LIFTS)
@given(drawn_graphs())
@examples(60, 2_000)
def test_relabelling_permutes_the_faces(lift, drawn):
    (_, num_nodes), arcs, names = drawn
    one = lifted(arcs, num_nodes, lift)
    other = lifted(names[arcs].reshape(2, -1), num_nodes, lift)
    assert faces_by_nodes(one, names) == faces_by_nodes(other)


@pytest.mark.parametrize("lift", LIFTS)
@given(st.lists(drawn_graphs(7), min_size=1, max_size=4))
@examples(60, 1_000)
def test_in_a_batch_every_graph_keeps_its_faces(lift, several):
    single = [lifted(arcs, num_nodes, lift) for (_, num_nodes), arcs, _ in several]
    batch = Batch.from_data_list(single)
    expected = scipy.linalg.block_diag(*(dense(data) for data in single))
    np.testing.assert_array_equal(dense(batch), expected)
    graph = batch.graph_of("faces")
    assert graph.tolist() == [i for i, data in enumerate(single) for _ in range(data.num_faces)]
    for face, edge in batch.face_incidence.flip(0).t().tolist():
        assert batch.graph_of("edges")[edge] == graph[face]


@given(drawn_graphs())
@examples(40, 1_000)
def test_triangles_are_the_rings_of_three(drawn):
    (_, num_nodes), arcs, _ = drawn
    one = lifted(arcs, num_nodes, LiftToCliqueComplex)
    other = lifted(arcs, num_nodes, max_length=3)
    for name in ("face_incidence", "face_sign", "num_faces"):
        assert torch.equal(one[name], other[name])


def test_the_triangle_and_the_square_by_hand():
    house = [[0, 0, 1, 2, 2, 3], [1, 2, 3, 3, 4, 4]]
    rings, triangles = lifted(house, 5), lifted(house, 5, LiftToCliqueComplex)
    assert rings.face_incidence.tolist() == [[3, 4, 5, 0, 1, 2, 3], [0, 0, 0, 1, 1, 1, 1]]
    assert rings.face_sign.tolist() == [1, -1, 1, 1, -1, 1, -1]
    assert triangles.face_incidence.tolist() == [[3, 4, 5], [0, 0, 0]]
    assert (rings.num_faces.tolist(), triangles.num_faces.tolist()) == ([2], [1])


def test_a_lift_takes_the_place_of_faces_and_leaves_cycles():
    edges, num_nodes = named_graphs.grid(2, 3)
    data = AddShortestCycleBasis()(Data(edge_index=torch.from_numpy(edges), num_nodes=num_nodes))
    squares = LiftToRingComplex()(data)
    assert squares.num_faces.tolist() == [2] and squares.num_cycles.tolist() == [2]
    none = LiftToCliqueComplex()(squares)
    assert none.num_faces.tolist() == [0] and none.face_incidence.shape == (2, 0)
    assert squares.num_faces.tolist() == [2] and "face_sign" not in data


@pytest.mark.filterwarnings("ignore:(self loops|repeated arcs)")
def test_loops_and_copies_are_left_out_or_rings_of_their_own():
    arcs = [[0, 0, 0, 1, 2, 3], [1, 1, 2, 2, 2, 3]]
    plain = lifted(arcs, 4)
    assert plain.num_faces.tolist() == [1] and plain.face_incidence.size(1) == 3
    kept = lifted(arcs, 4, self_loops="cycle", multi_edges="distinct")
    edges = kept.edges.numpy()
    expected = oracles.rings(edges, 4, 6)
    assert [len(face) for face in expected] == [1, 1, 2]
    assert kept.num_faces.tolist() == [3]
    assert kept.face_incidence[0].tolist() == [edge for face in expected for edge in face]


@pytest.mark.parametrize("max_length", [2, 0, 4.5, True])
def test_an_impossible_length_is_refused_before_any_graph(max_length):
    with refused(ValueError, "`max_length` must be a whole number from 3 on"):
        LiftToRingComplex(max_length=max_length)


@pytest.mark.parametrize("lift", LIFTS)
def test_too_many_faces_are_refused(lift):
    edges, num_nodes = named_graphs.complete(6)
    assert lifted(edges, num_nodes, lift, max_faces=20).num_faces.tolist() == [20]
    with refused(TooManyFaces, "`max_faces` = 19", "too_many_faces"):
        lifted(edges, num_nodes, lift, max_faces=19)
    with refused(TooLargeError, "the limit is 100 bytes", "too_large"):
        lifted(edges, num_nodes, lift, max_memory=100)


# Hodge sums


@pytest.mark.parametrize("lift", LIFTS)
@given(drawn_graphs())
@examples(60, 1_000)
def test_hodge_sums_are_those_of_the_lifted_complex(lift, drawn):
    (edges, num_nodes), arcs, names = drawn
    data = AddHodgeSums(dtype=torch.float64)(lifted(arcs, num_nodes, lift))
    laplacian = hodge_laplacian(edges, num_nodes, scipy.sparse.csc_array(dense(data))).toarray()
    np.testing.assert_array_equal(data.hodge_sums.numpy(), oracles.row_sums(laplacian))
    # Other names give edges other directions; all but the signed sum goes along with them.
    other = AddHodgeSums(dtype=torch.float64)(lifted(names[np.asarray(arcs)], num_nodes, lift))
    ends = np.sort(names[data.edges.numpy()], axis=0)
    order = np.lexsort(ends[::-1])
    expected = data.hodge_sums.numpy()[order][:, [0, 2]]
    np.testing.assert_array_equal(other.hodge_sums.numpy()[:, [0, 2]], expected)


def test_hodge_sums_need_a_lifted_graph():
    with refused(GraphError, "LiftToCliqueComplex", code="numbers_missing"):
        AddHodgeSums()(Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2))
