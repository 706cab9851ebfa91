import copy
import inspect
import pickle
import warnings

import pytest
import torch
from bad_input import refused
from hypothesis import given
from hypothesis import strategies as st
from strategies import arcs_of, examples, graphs
from torch_geometric import EdgeIndex
from torch_geometric.data import Batch, Data, HeteroData, InMemoryDataset
from torch_geometric.loader import DataLoader
from torch_geometric.transforms import Compose, ToUndirected

from cyclenet import (
    AddCycleProfiles,
    AddCycleProjector,
    AddEigenspaces,
    AddRelevantCycles,
    AddShortestCycleBasis,
    CycleData,
)
from cyclenet.topology import GraphError, edges_from_arcs
from cyclenet.transforms import (
    AddHarmonicSums,
    AddHodgeInverse,
    AddLaplacianBounds,
    AddLeadingEigenvectors,
    LiftToCliqueComplex,
    LiftToRingComplex,
)

TRANSFORMS = [
    AddShortestCycleBasis,
    AddRelevantCycles,
    AddCycleProjector,
    AddCycleProfiles,
    AddEigenspaces,
    AddLeadingEigenvectors,
    AddHarmonicSums,
    LiftToRingComplex,
    LiftToCliqueComplex,
]
# Those that take graphs with faces only are walked too, as far as no graph is needed.
ALL_TRANSFORMS = [*TRANSFORMS, AddLaplacianBounds, AddHodgeInverse]
TRIANGLE = torch.tensor([[0, 1, 0, 2, 1, 2], [1, 0, 2, 0, 2, 1]])
# Something different from the default for every argument of every transform.
OTHER_CHOICES = {
    "self_loops": "cycle",
    "multi_edges": "distinct",
    "directed": "raise",
    "dtype": torch.float64,
    "weights": "length",
    "reduce": "mean",
    "weight_tol": 1e-6,
    "on_ambiguous": "raise",
    "max_cycles": 7,
    "max_length": 9,
    "max_faces": 11,
    "pairs": "graph",
    "max_memory": 12345,
    "normalization": "none",
    "count": 5,
    "values": True,
}


def graph_of(arcs, num_nodes, **attributes):
    return Data(edge_index=torch.as_tensor(arcs), num_nodes=num_nodes, **attributes)


def bytes_of(data):
    """Every tensor of a graph as its type, its shape and its bytes."""
    return {
        key: (value.dtype, tuple(value.shape), value.numpy().tobytes())
        for key, value in data.to_dict().items()
        if isinstance(value, torch.Tensor)
    }


@st.composite
def pyg_graphs(draw, max_nodes=6, *, loops=True):
    """Graphs as PyG holds them: arcs in any order, with loops and copies."""
    edges, num_nodes = draw(graphs(max_nodes))
    arcs = draw(arcs_of(edges)).T.tolist()
    if num_nodes and loops:
        arcs += [[v, v] for v in draw(st.lists(st.integers(0, num_nodes - 1), max_size=2))]
    if arcs:
        arcs += draw(st.lists(st.sampled_from(arcs), max_size=2))
    arcs = draw(st.permutations(arcs))
    return graph_of(torch.tensor(arcs, dtype=torch.long).reshape(-1, 2).t(), num_nodes)


# Every argument is seen


@pytest.mark.parametrize("transform", ALL_TRANSFORMS)
def test_the_repr_shows_every_argument(transform):
    for name, parameter in inspect.signature(transform).parameters.items():
        for value in (parameter.default, OTHER_CHOICES[name]):
            assert f"{name}={value!r}" in repr(transform(**{name: value}))


@pytest.mark.parametrize("transform", ALL_TRANSFORMS)
def test_the_repr_makes_the_same_transform_again(transform):
    names = inspect.signature(transform).parameters
    one = transform(**{name: OTHER_CHOICES[name] for name in names})
    again = eval(repr(one), {transform.__name__: transform, "torch": torch})
    assert repr(again) == repr(one)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_the_repr_does_not_change_with_use(transform):
    one = transform()
    before = repr(one)
    with pytest.warns(UserWarning):
        one(graph_of([[0], [0]], 1))
    assert repr(one) == before


@pytest.mark.parametrize("transform", ALL_TRANSFORMS)
def test_the_docstring_describes_every_argument(transform):
    words = transform.__doc__ + transform.__mro__[1].__doc__
    for name in inspect.signature(transform).parameters:
        assert f"{name}: " in words


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_cache_made_with_other_options_is_noticed(transform, tmp_path):
    class Cached(InMemoryDataset):
        processed_file_names = "data.pt"

        def __init__(self, pre_transform):
            super().__init__(str(tmp_path), pre_transform=pre_transform)
            self.load(self.processed_paths[0])

        def process(self):
            self.save([self.pre_transform(graph_of(TRIANGLE, 3))] * 2, self.processed_paths[0])

    assert isinstance(Cached(transform())[1], CycleData)
    Cached(transform())
    with pytest.warns(UserWarning, match="pre_transform"):
        Cached(transform(dtype=torch.float64))


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize(
    "name",
    ["self_loops", "multi_edges", "directed", "reduce", "on_ambiguous", "pairs", "normalization"],
)
def test_an_unknown_choice_is_refused_before_any_graph(transform, name):
    if name in inspect.signature(transform).parameters:
        with refused(ValueError, f"`{name}` must be .*'sum'"):
            transform(**{name: "sum"})


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", ["weight_tol", "max_cycles", "max_faces", "max_memory"])
def test_a_number_that_is_none_is_refused_before_any_graph(transform, name):
    if name in inspect.signature(transform).parameters:
        for value in ("4GB", True):
            with refused(TypeError, f"`{name}` must be a .*number.*, but it is {value!r}"):
                transform(**{name: value})


@pytest.mark.parametrize("dtype", [torch.long, "float32", None])
def test_a_type_that_cannot_hold_the_numbers_is_refused(dtype):
    with refused(TypeError, "`dtype` must be a floating type"):
        AddCycleProjector(dtype=dtype)


# Pure and repeatable


@given(pyg_graphs())
@examples(60, 600)
@pytest.mark.filterwarnings("ignore:(self loops|repeated arcs)")
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_the_same_graph_gives_the_same_bytes_and_stays_as_it_is(transform, data):
    before = copy.deepcopy(data)
    once, twice = transform()(data), transform()(data)
    assert bytes_of(once) == bytes_of(twice)
    assert bytes_of(data) == bytes_of(before)
    assert data.keys() == before.keys() and type(data) is Data


@given(pyg_graphs())
@examples(60, 600)
@pytest.mark.filterwarnings("ignore:(self loops|repeated arcs)")
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_applying_a_transform_again_changes_nothing(transform, data):
    once = transform()(data)
    assert bytes_of(transform()(once)) == bytes_of(once)


@given(pyg_graphs())
@examples(100, 1_000)
@pytest.mark.filterwarnings("ignore:(self loops|repeated arcs)")
def test_edges_and_signs_are_those_of_the_arcs(data):
    graph = AddCycleProjector()(data)
    found = edges_from_arcs(data.edge_index.numpy(), data.num_nodes)
    assert torch.equal(graph.edges, torch.from_numpy(found.edges))
    assert graph.validate()


@given(st.lists(pyg_graphs(), min_size=1, max_size=5))
@examples(200, 20_000)
@pytest.mark.filterwarnings("ignore:(self loops|repeated arcs)")
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_batch_that_is_split_gives_the_same_numbers(transform, several):
    several = [transform()(data) for data in several]
    batch = Batch.from_data_list(several)
    assert batch.validate()
    for one, other in zip(several, batch.to_data_list(), strict=True):
        assert bytes_of(one) == bytes_of(other)


def test_the_users_attributes_come_along_untouched():
    data = graph_of(TRIANGLE, 3, x=torch.rand(3, 2, requires_grad=True), name="triangle", y=3)
    graph = AddShortestCycleBasis()(data)
    assert graph.x is data.x and graph.name == "triangle" and graph.y == 3


# Two transforms on one graph


@given(pyg_graphs())
@examples(60, 600)
@pytest.mark.filterwarnings("ignore:(self loops|repeated arcs)")
def test_two_transforms_share_the_edges_in_any_order(data):
    basis, projector = AddShortestCycleBasis(), AddCycleProjector()
    one, other = projector(basis(data)), basis(projector(data))
    assert bytes_of(one) == bytes_of(other)
    assert bytes_of(basis(data)).items() <= bytes_of(one).items()
    assert bytes_of(projector(data)).items() <= bytes_of(one).items()


def test_relevant_cycles_take_the_place_of_a_basis_as_a_whole():
    square = torch.tensor([[0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3]])
    both = AddRelevantCycles()(AddShortestCycleBasis()(graph_of(square, 4)))
    assert bytes_of(both) == bytes_of(AddRelevantCycles()(graph_of(square, 4)))


def test_options_that_make_other_edges_are_refused():
    looped = graph_of([[0, 1, 1], [1, 0, 1]], 2)
    with pytest.warns(UserWarning, match="self loops"):
        graph = AddCycleProjector()(looped)
    with refused(GraphError, "`edges` differs; try: the same `self_loops`", "edges_differ"):
        AddShortestCycleBasis(self_loops="cycle")(graph)


def test_edges_of_arcs_that_have_changed_are_refused():
    graph = AddCycleProjector()(graph_of(TRIANGLE, 3))
    graph.edge_index = graph.edge_index.flip(1)
    with refused(GraphError, "without_cycles", "edges_differ"):
        AddShortestCycleBasis()(graph)
    again = AddShortestCycleBasis()(graph.without_cycles())
    assert again.validate()
    del graph["arc_sign"]
    with refused(GraphError, "edges_differ|differs", "edges_differ"):
        AddShortestCycleBasis()(graph)


# Loops, copies and lone directions


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_loops_cause_one_warning_with_their_count_in_a_whole_dataset(transform):
    one = transform()
    looped = graph_of([[0, 1, 1, 0], [1, 0, 1, 0]], 2)
    with pytest.warns(UserWarning, match="self loops in this graph: 2") as caught:
        several = [one(looped) for _ in range(5)]
    assert len(caught) == 1
    assert one.met == {"self loops": 10}
    for graph in several:
        assert graph.edges.tolist() == [[0], [1]]
        assert graph.edge_index is looped.edge_index
        assert graph.on_arcs(torch.ones(1)).tolist() == [1, 1, 0, 0]


def test_copies_of_arcs_read_one_row_and_cause_one_warning():
    one = AddCycleProjector()
    copies = graph_of(torch.cat((TRIANGLE, TRIANGLE[:, :2]), dim=1), 3)
    with pytest.warns(UserWarning, match="repeated arcs in this graph: 2") as caught:
        several = [one(copies) for _ in range(3)]
    assert len(caught) == 1
    for graph in several:
        assert graph.on_arcs(torch.arange(3)).tolist() == [0, 0, 1, 1, 2, 2, 0, 0]


def test_a_dataset_with_loops_and_copies_warns_once_of_each(tmp_path):
    class Looped(InMemoryDataset):
        processed_file_names = "data.pt"

        def __init__(self, pre_transform):
            super().__init__(str(tmp_path), pre_transform=pre_transform)
            self.load(self.processed_paths[0])

        def process(self):
            several = [graph_of([[0, 1, 1, 1], [1, 0, 1, 1]], 2 + i) for i in range(4)]
            self.save([self.pre_transform(data) for data in several], self.processed_paths[0])

    one = AddShortestCycleBasis()
    with pytest.warns(UserWarning) as caught:
        dataset = Looped(one)
    assert sorted(str(w.message).split(" in ")[0] for w in caught) == [
        "repeated arcs",
        "self loops",
    ]
    assert one.met == {"self loops": 8, "repeated arcs": 4}
    assert Batch.from_data_list(list(dataset)).validate()


@pytest.mark.parametrize("num_workers", [0, 2])
def test_transforms_work_in_the_workers_of_a_loader(num_workers):
    class Listed(torch.utils.data.Dataset):
        transform = AddCycleProjector()

        def __len__(self):
            return 4

        def __getitem__(self, i):
            return self.transform(graph_of(TRIANGLE if i % 2 else TRIANGLE[:, :0], 3))

    batches = list(DataLoader(Listed(), batch_size=2, num_workers=num_workers))
    assert [batch.edges.size(1) for batch in batches] == [3, 3]
    assert all(batch.validate() for batch in batches)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_transform_survives_pickling(transform):
    again = pickle.loads(pickle.dumps(transform(dtype=torch.float64)))
    assert repr(again) == repr(transform(dtype=torch.float64))


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_one_direction_is_as_good_as_both(transform):
    both = transform()(graph_of(TRIANGLE, 3))
    one = transform()(graph_of(TRIANGLE[:, ::2], 3))
    for name in set(both.keys()) - {"edge_index", "arc_to_edge", "arc_sign"}:
        assert (
            both[name] == one[name] if name == "num_nodes" else torch.equal(both[name], one[name])
        )
    assert one.arc_sign.tolist() == [1, 1, 1]


def test_transforms_compose_with_those_of_pyg():
    compose = Compose([ToUndirected(), AddShortestCycleBasis(), AddCycleProjector()])
    assert compose(graph_of(TRIANGLE[:, ::2], 3)).validate()


# What edge_index may be


@pytest.mark.parametrize(
    "edge_index",
    [
        TRIANGLE.int(),
        TRIANGLE.short(),
        TRIANGLE.to(torch.uint8),
        TRIANGLE.t().contiguous().t(),
        torch.cat((TRIANGLE, TRIANGLE), dim=1)[:, :6],
        EdgeIndex(TRIANGLE, sparse_size=(3, 3)),
    ],
    ids=["int32", "int16", "uint8", "strided", "a view", "EdgeIndex"],
)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_ids_of_any_width_and_layout_are_accepted(transform, edge_index):
    graph = transform()(Data(edge_index=edge_index, num_nodes=3))
    expected = bytes_of(transform()(graph_of(TRIANGLE, 3)))
    found = bytes_of(graph.without_cycles()).keys() ^ bytes_of(graph).keys()
    assert {key: bytes_of(graph)[key] for key in found} == {key: expected[key] for key in found}
    assert graph.edge_index is edge_index


@pytest.mark.gpu
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_results_come_back_on_the_device_of_the_graph(transform):
    here, there = graph_of(TRIANGLE, 3), graph_of(TRIANGLE, 3).to("cuda")
    graph = transform()(there)
    assert {value.device.type for value in graph.to_dict().values() if torch.is_tensor(value)} == {
        "cuda"
    }
    assert bytes_of(graph.to("cpu")) == bytes_of(transform()(here))


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize(
    ("arcs", "num_nodes"),
    [
        (torch.empty((2, 0), dtype=torch.long), 0),
        (torch.empty((2, 0), dtype=torch.long), 1),
        (torch.empty((2, 0), dtype=torch.long), 5),
        (torch.tensor([[0, 1, 3], [1, 2, 4]]), 6),
    ],
    ids=["empty", "one node", "edgeless", "forest"],
)
def test_graphs_without_cycles_are_ordinary(transform, arcs, num_nodes):
    graph = transform()(graph_of(arcs, num_nodes))
    assert graph.edges.size(1) == arcs.size(1)
    for name in ("cycle_incidence", "pair_edges", "face_incidence"):
        if name in graph:
            assert graph[name].shape == (2, 0)
    if "num_cycles" in graph:
        assert graph.num_cycles.tolist() == [0] and graph.unique.tolist() == [True]
    if "face_sign" in graph:
        assert graph.num_faces.tolist() == [0]


def test_without_num_nodes_the_rule_of_pyg_holds_with_its_warning():
    with pytest.warns(UserWarning, match="num_nodes"):
        graph = AddShortestCycleBasis()(Data(edge_index=TRIANGLE))
    assert graph.num_cycles.tolist() == [1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AddShortestCycleBasis()(Data(edge_index=TRIANGLE, x=torch.zeros(3, 1)))


# A graph, the options, the words of the answer, and the code of a `GraphError`; else `TypeError`.
BAD_GRAPHS = {
    "node above n": (
        graph_of([[0, 3], [1, 1]], 3), {}, r"column 1 is \(3, 1\)", "node_out_of_range",
    ),
    "negative node": (
        graph_of([[0, -1], [1, 1]], 3), {}, r"column 1 is \(-1, 1\)", "node_out_of_range",
    ),
    "node above x": (
        Data(edge_index=TRIANGLE, x=torch.zeros(2, 1)), {}, "nodes 0 to 1", "node_out_of_range",
    ),
    "float": (graph_of(TRIANGLE.float(), 3), {}, r"float32; try: `edge_index.long\(\)`", None),
    "empty float": (graph_of(torch.empty(2, 0), 3), {}, "float32", None),
    "bool": (graph_of(TRIANGLE.bool(), 3), {}, "torch.bool", None),
    "complex": (graph_of(TRIANGLE.to(torch.complex64), 3), {}, "complex64", None),
    "(m, 2)": (graph_of(TRIANGLE.t(), 3), {}, r"\(6, 2\); try: edge_index.t\(\)", "edges_shape"),
    "flat": (graph_of(TRIANGLE[0], 3), {}, r"\(6,\)$", "edges_shape"),
    "three rows": (graph_of(TRIANGLE[[0, 1, 1]], 3), {}, r"\(3, 6\)$", "edges_shape"),
    "no edge_index": (
        Data(num_nodes=3), {}, r"none; try: `torch.empty\(\(2, 0\)", "edge_index_missing",
    ),
    "numpy edge_index": (Data(edge_index=TRIANGLE.numpy(), num_nodes=3), {}, "ndarray", None),
    "hetero": (HeteroData(), {}, "HeteroData", None),
    "batch": (
        Batch.from_data_list([graph_of(TRIANGLE, 3)]), {}, "try: `Batch.from_data_list", None,
    ),
    "a list": ([graph_of(TRIANGLE, 3)], {}, "a list", None),
    "loop": (
        graph_of([[0, 1], [1, 1]], 3), {"self_loops": "raise"}, r"is \(1, 1\)", "self_loop",
    ),
    "copy": (
        graph_of([[0, 0], [1, 1]], 3), {"multi_edges": "raise"}, "1 repeats", "repeated_edge",
    ),
    "one direction": (
        graph_of([[0], [1]], 3), {"directed": "raise"}, "try: directed='allow'", "one_direction",
    ),
}  # fmt: skip


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize(("data", "options", "says", "code"), BAD_GRAPHS.values(), ids=BAD_GRAPHS)
def test_a_bad_graph_is_refused_by_name(transform, data, options, says, code):
    with refused(GraphError if code else TypeError, says, code) as caught:
        transform(**options)(data)
    assert "`edge_index`" in str(caught.value) or "`data`" in str(caught.value)
