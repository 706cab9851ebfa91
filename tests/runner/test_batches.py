import pytest
import torch
from bad_input import refused
from feature_graphs import MIXED, with_features
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples
from test_data import EDGELESS, EMPTY, LOOP, TRIANGLE, numbered
from torch_geometric.data import Batch, Data

from cyclenet.data import CYCLE_ATTRIBUTES, Rows
from cyclenet.runner.batches import GraphStore
from cyclenet.transforms import (
    AddCycleProfiles,
    AddCycleProjector,
    AddEigenspaces,
    AddRelevantCycles,
    AddShortestCycleBasis,
)

CPU = torch.device("cpu")


def assert_same_batch(one, other):
    assert type(one) is type(other)
    assert one.num_graphs == other.num_graphs
    assert one.num_nodes == other.num_nodes
    assert set(one.keys()) == set(other.keys())
    for key in one.keys():
        a, b = one[key], other[key]
        if isinstance(a, torch.Tensor):
            assert a.dtype == b.dtype, key
            assert torch.equal(a, b), key
        else:
            assert a == b, key


@st.composite
def picked(draw):
    """Graphs, and numbers of some of them, in any order and perhaps twice."""
    items = draw(st.lists(numbered(), min_size=1, max_size=5))
    ids = draw(st.lists(st.integers(0, len(items) - 1), min_size=1, max_size=6))
    return items, ids


@examples(60, 5000)
@given(picked())
def test_a_batch_is_what_joining_its_graphs_gives(case):
    items, ids = case
    assert set(CYCLE_ATTRIBUTES) <= set(items[0].keys())
    expected = Batch.from_data_list([items[i] for i in ids])
    assert_same_batch(GraphStore(items, CPU).take(ids), expected)


def test_special_graphs_stand_in_any_position():
    items = [EMPTY, TRIANGLE, EDGELESS, LOOP, TRIANGLE, EMPTY]
    store = GraphStore(items, CPU)
    for ids in ([0], [5, 0], [1, 2, 3], [3, 0, 1, 5, 4], [2, 2, 1, 1]):
        assert_same_batch(store.take(ids), Batch.from_data_list([items[i] for i in ids]))


def test_the_numbers_of_our_transforms_come_along():
    transforms = (
        AddShortestCycleBasis(), AddCycleProjector(), AddCycleProfiles(), AddRelevantCycles(),
        AddEigenspaces(),
    )  # fmt: skip
    items = [with_features(graph) for graph in MIXED]
    for transform in transforms:
        ours = [transform(item) for item in items]
        expected = Batch.from_data_list([ours[i] for i in (4, 0, 3)])
        assert_same_batch(GraphStore(ours, CPU).take([4, 0, 3]), expected)


def test_plain_graphs_keep_numbers_of_the_whole_graph():
    items = [
        Data(
            x=torch.rand(n, 1),
            edge_index=torch.zeros((2, n), dtype=torch.int32),
            weight=0.5 * n,
            kind=torch.tensor(n),
            y=torch.rand(1, 3),
        )
        for n in (2, 0, 3)
    ]
    expected = Batch.from_data_list([items[i] for i in (2, 1)])
    assert_same_batch(GraphStore(items, CPU).take([2, 1]), expected)


def test_no_graphs_make_an_empty_batch():
    batch = GraphStore([TRIANGLE, LOOP], CPU).take([])
    assert batch.num_graphs == 0 and batch.ptr.tolist() == [0]
    assert all(batch[name].numel() == 0 for name in CYCLE_ATTRIBUTES)


def test_a_store_needs_graphs():
    with refused(ValueError, "at least one graph"):
        GraphStore([], CPU)


def test_attributes_that_are_no_tensors_are_named():
    with refused(TypeError, "'name'.*try: del"):
        GraphStore([Data(x=torch.ones(1, 1), name="benzene")], CPU)


FIRST = ("x", "edges", "num_cycles", "num_faces")


def rows_of(items):
    """The attributes of graphs end to end, ids counted in each graph and as small as they can be.

    The counts come first. What PyG would take for ids under a name of its own is left out.
    """
    names = [name for name in items[0].keys() if name not in ("my_index", "num_nodes")]
    for name in sorted(names, key=lambda name: FIRST.index(name) if name in FIRST else 9):
        along = items[0].__cat_dim__(name, items[0][name])
        values = torch.cat([item[name] for item in items], dim=along)
        lengths = torch.tensor([item[name].size(along) for item in items])
        small = values.to(torch.int16) if values.dtype == torch.long else values
        yield name, Rows(small, lengths, values.dtype)


def without_own_ids(item):
    item = item.clone()
    del item["my_index"]
    return item


@examples(60, 3000)
@given(picked())
def test_a_store_of_rows_is_the_store_of_the_graphs(case):
    items, ids = case
    items = [without_own_ids(item) for item in items]
    expected = Batch.from_data_list([items[i] for i in ids])
    store = GraphStore.from_rows(rows_of(items), CPU)
    batch = store.take(ids)
    if "num_nodes" in expected:  # of rows, those of x say how many
        del expected["num_nodes"]
    assert_same_batch(batch, expected)
    assert batch._known_rows == GraphStore(items, CPU).take(ids)._known_rows


def test_a_store_of_rows_fills_batches_as_the_store_of_the_graphs_does():
    items = [AddCycleProjector()(AddShortestCycleBasis()(with_features(graph))) for graph in MIXED]
    stores = GraphStore(items, CPU), GraphStore.from_rows(rows_of(items), CPU)
    ids, counts = torch.tensor([[0, 4, 2], [1, 1, 3]]), torch.tensor([3, 2])
    filled = []
    for store in stores:
        room = store.room([[0, 4, 2], [1, 1, 3]])
        room = room._replace(
            rows={key: 5000 + 7 * int(store._host[key].sum()) for key in room.rows}
        )
        filled.append(store.take_filled(ids, counts, room).batch(torch.tensor([1])))
    one, other = filled
    assert_same_batch(one.batch, other.batch)
    assert torch.equal(one.held, other.held)


def test_rows_stay_small_until_they_are_gathered():
    items = [AddShortestCycleBasis()(with_features(graph)) for graph in MIXED]
    store = GraphStore.from_rows(rows_of(items), CPU)
    kept = {column.name: column.value.dtype for column in store._columns}
    assert kept["edge_index"] == kept["arc_to_edge"] == kept["cycle_incidence"] == torch.int16
    assert store.take([0]).edge_index.dtype == torch.long


NODES = Rows(torch.ones(3, 1), torch.tensor([2, 1]), torch.float32)
EDGES = Rows(torch.tensor([[0], [1]]), torch.tensor([1, 0]), torch.long)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([], "start with `x` of at least one graph, but there are none"),
        ([("edges", EDGES)], "start with 'edges' of 2|start with `x`"),
        ([("x", Rows(torch.ones(0, 1), torch.tensor([], dtype=torch.long), torch.float32))],
         "at least one graph"),
        ([("x", NODES), ("arc_to_edge", EDGES)], "'arc_to_edge' comes before the numbers of edges"),
        ([("x", NODES), ("edges", EDGES._replace(lengths=torch.tensor([1])))], "rows of 2 graphs"),
        ([("x", NODES), ("edges", EDGES._replace(lengths=torch.tensor([1, 1])))], "says 2 of 2"),
        ([("x", NODES), ("my_index", NODES)], "another name"),
    ],
)  # fmt: skip
def test_rows_that_do_not_fit_together_are_refused(rows, says):
    with refused(ValueError, says):
        GraphStore.from_rows(rows, CPU)


@pytest.mark.gpu
def test_a_batch_is_the_same_on_a_gpu():
    items = [AddCycleProjector()(with_features(graph)) for graph in MIXED]
    there = GraphStore(items, torch.device("cuda")).take([3, 1, 4])
    assert there.edge_index.is_cuda
    assert_same_batch(there.cpu(), Batch.from_data_list([items[i] for i in (3, 1, 4)]))
