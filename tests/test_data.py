import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch
import torch_geometric.transforms as T
from bad_input import refused, unchecked
from hypothesis import given
from hypothesis import strategies as st
from strategies import arcs_of, examples, graphs
from torch_geometric.data import Batch, Data, HeteroData, InMemoryDataset
from torch_geometric.loader import DataLoader

import cyclenet
from cyclenet.data import CYCLE_ATTRIBUTES, CycleData
from cyclenet.topology import GraphError, edges_from_arcs


def attributes(data):
    """All attributes of a graph but the number of nodes, which PyG keeps in its own way."""
    return {key: value for key, value in data.to_dict().items() if key != "num_nodes"}


def assert_same_graph(one, other):
    assert type(one) is type(other)
    assert one.num_nodes == other.num_nodes
    a, b = attributes(one), attributes(other)
    assert a.keys() == b.keys()
    for key in a:
        assert a[key].dtype == b[key].dtype, key
        assert torch.equal(a[key], b[key]), key


def with_numbers(edges, num_nodes, arcs, num_cycles, seed):
    """A graph whose every attribute of the table is filled, with ids anywhere in their range."""
    generator = torch.Generator().manual_seed(seed)
    with unchecked():  # the checks draw random numbers, which a strategy must not
        found = edges_from_arcs(arcs, num_nodes)
    num_edges = edges.shape[1]

    def ids(*bounds, length):
        length = 0 if 0 in bounds else length
        rows = [torch.randint(max(bound, 1), (length,), generator=generator) for bound in bounds]
        return torch.stack(rows)

    incidences = ids(num_edges, num_cycles, length=3 * num_cycles)
    faces = ids(num_edges, 1, length=2)
    return CycleData(
        x=torch.rand(num_nodes, 2, generator=generator),
        edge_index=torch.from_numpy(arcs),
        y=torch.tensor([float(seed)]),
        my_index=torch.arange(num_nodes),
        edges=torch.from_numpy(found.edges),
        arc_to_edge=torch.from_numpy(found.arc_to_edge),
        arc_sign=torch.from_numpy(found.arc_sign),
        pair_edges=ids(num_edges, num_edges, length=4),
        pair_projector=torch.rand(4 if num_edges else 0, generator=generator),
        projector_sums=torch.rand(num_edges, 3, generator=generator),
        hodge_sums=torch.rand(num_edges, 3, generator=generator),
        profile_edge=ids(num_edges, length=3)[0],
        profile_values=torch.rand(3 if num_edges else 0, 8, generator=generator),
        profile_count=torch.ones(3 if num_edges else 0, dtype=torch.long),
        cycle_incidence=incidences,
        cycle_sign=torch.ones(incidences.size(1), dtype=torch.int8),
        cycle_length=torch.rand(num_cycles, generator=generator),
        num_cycles=torch.tensor([num_cycles]),
        num_relevant=torch.tensor([num_cycles + 1]),
        unique=torch.tensor([bool(seed % 2)]),
        face_incidence=faces,
        face_sign=-torch.ones(faces.size(1), dtype=torch.int8),
        num_faces=torch.tensor([1]),
        edge_features=torch.rand(num_edges, 2, generator=generator),
        face_features=torch.rand(1, 2, generator=generator),
        laplacian_bounds=torch.rand(1, 3, generator=generator),
        neighbour_edges=ids(num_edges, num_edges, length=4),
        neighbour_weight=torch.rand(4 if num_edges else 0, generator=generator),
        eigen_pairs=ids(num_nodes, num_nodes, length=5),
        eigen_entry=torch.rand(5 if num_nodes else 0, generator=generator),
        eigenvalue=torch.rand(num_nodes, generator=generator),
        eigenspace=torch.randint(max(num_nodes, 1), (num_nodes,), generator=generator),
        eigen_rows=torch.rand(num_nodes, 4, generator=generator),
        eigen_multiplicity=torch.ones(num_nodes, 4, dtype=torch.int16),
        harmonic_sums=torch.rand(num_edges, 3, generator=generator),
    )


@st.composite
def numbered(draw, max_nodes=6):
    """A graph with numbers: forests, loops without an edge, edgeless and empty graphs."""
    edges, num_nodes = draw(graphs(max_nodes, edge_order="sorted"))
    arcs = draw(arcs_of(edges))
    if num_nodes and draw(st.booleans()):
        arcs = np.concatenate((arcs, [[num_nodes - 1], [num_nodes - 1]]), axis=1)
    return with_numbers(edges, num_nodes, arcs, draw(st.integers(0, 3)), draw(st.integers(0, 99)))


def few(graphs_in_all=5):
    return st.lists(numbered(), min_size=1, max_size=graphs_in_all)


EMPTY = with_numbers(np.zeros((2, 0), int), 0, np.zeros((2, 0), dtype=np.int64), 0, 1)
EDGELESS = with_numbers(np.zeros((2, 0), int), 3, np.zeros((2, 0), dtype=np.int64), 0, 2)
LOOP = with_numbers(np.zeros((2, 0), int), 1, np.zeros((2, 1), dtype=np.int64), 0, 3)
PATH = with_numbers(np.array([[0, 1], [1, 2]]), 3, np.array([[0, 1, 1, 2], [1, 0, 2, 1]]), 0, 4)
TRIANGLE = with_numbers(
    np.array([[0, 0, 1], [1, 2, 2]]), 3, np.array([[0, 1, 0, 2, 1, 2], [1, 0, 2, 0, 2, 1]]), 1, 5
)
KINDS = {
    "empty": EMPTY, "edgeless": EDGELESS, "loop": LOOP, "path": PATH, "triangle": TRIANGLE,
}  # fmt: skip


# Batching


@given(few())
@examples(200, 20_000)
def test_a_batch_that_is_split_gives_the_same_graphs(several):
    batch = Batch.from_data_list(several)
    for one, other in zip(several, batch.to_data_list(), strict=True):
        assert_same_graph(one, other)


@given(few())
@examples(100, 2_000)
def test_ids_in_a_batch_point_at_the_same_things(several):
    batch = Batch.from_data_list(several)
    nodes = edges = cycles = faces = 0
    parts = {name: [] for name in CYCLE_ATTRIBUTES}
    for graph in several:
        shift = {
            "edges": nodes,
            "arc_to_edge": edges,
            "pair_edges": edges,
            "profile_edge": edges,
            "neighbour_edges": edges,
            "cycle_incidence": torch.tensor([[edges], [cycles]]),
            "face_incidence": torch.tensor([[edges], [faces]]),
            "eigen_pairs": nodes,
            "eigenspace": nodes,
        }
        for name in parts:
            parts[name].append(graph[name] + shift[name] if name in shift else graph[name])
        nodes += graph.num_nodes
        edges += graph.edges.size(1)
        cycles += int(graph.num_cycles)
        faces += int(graph.num_faces)
    for name, values in parts.items():
        dim = CYCLE_ATTRIBUTES[name].joined_along
        assert torch.equal(batch[name], torch.cat(values, dim=dim)), name


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("last", KINDS)
def test_any_kind_of_graph_batches_in_any_position(first, last):
    several = [KINDS[first], TRIANGLE, KINDS[last], KINDS[first]]
    batch = Batch.from_data_list(several)
    assert batch.validate()
    for i, graph in enumerate(several):
        assert_same_graph(batch.get_example(i), graph)


@given(few(3), few(3))
@examples(30, 300)
def test_a_batch_of_batches_shifts_by_whole_batches(some, others):
    # A batch without a single node cannot be batched again; PyG takes the maximum of its `batch`.
    some, others = [*some, TRIANGLE], [TRIANGLE, *others]
    nested = Batch.from_data_list([Batch.from_data_list(some), Batch.from_data_list(others)])
    flat = Batch.from_data_list(some + others)
    for name in CYCLE_ATTRIBUTES:
        assert torch.equal(nested[name], flat[name]), name


def test_the_users_attributes_batch_as_in_pyg():
    plain = [
        Data(x=g.x, edge_index=g.edge_index, y=g.y, my_index=g.my_index) for g in KINDS.values()
    ]
    expected = Batch.from_data_list(plain)
    batch = Batch.from_data_list([CycleData.from_data(graph) for graph in plain])
    for key in ("x", "edge_index", "y", "my_index", "batch", "ptr"):
        assert torch.equal(batch[key], expected[key]), key


@pytest.mark.parametrize("name", CYCLE_ATTRIBUTES)
def test_every_attribute_is_described(name):
    assert f"`{name}`" in CycleData.__doc__


@pytest.mark.parametrize("name", CYCLE_ATTRIBUTES)
def test_no_name_is_guessed_about_by_pyg(name):
    assert not any(word in name for word in ("index", "batch", "adj", "ptr", "node"))


def test_follow_batch_and_exclude_keys_work():
    batch = Batch.from_data_list(
        [PATH, TRIANGLE], follow_batch=["edges"], exclude_keys=["pair_edges", "pair_projector"]
    )
    assert batch.edges_batch.tolist() == [0, 0, 1, 1, 1]
    assert "pair_edges" not in batch


# The way to disk, to workers and to devices


class InMemory(InMemoryDataset):
    def __init__(self, path):
        super().__init__()
        self.load(str(path))


@pytest.mark.parametrize("several", [[TRIANGLE], list(KINDS.values()), [TRIANGLE, EMPTY, PATH]])
def test_graphs_survive_an_in_memory_dataset(several, tmp_path):
    InMemoryDataset.save(several, tmp_path / "data.pt")
    dataset = InMemory(tmp_path / "data.pt")
    assert len(dataset) == len(several)
    for one, other in zip(several, dataset, strict=True):
        assert_same_graph(one, other)
    batch = next(iter(DataLoader(dataset, batch_size=len(several))))
    assert torch.equal(batch.edges, Batch.from_data_list(several).edges)


@pytest.mark.parametrize("num_workers", [0, 2])
def test_graphs_survive_the_workers_of_a_loader(num_workers):
    several = [TRIANGLE, EMPTY, PATH, EDGELESS, LOOP, TRIANGLE]
    loader = DataLoader(several, batch_size=2, num_workers=num_workers)
    back = [graph for batch in loader for graph in batch.to_data_list()]
    for one, other in zip(several, back, strict=True):
        assert_same_graph(one, other)


@pytest.mark.parametrize(
    "trip",
    [
        lambda data: pickle.loads(pickle.dumps(data)),
        copy.copy,
        copy.deepcopy,
        lambda data: data.clone(),
        lambda data: data.to("cpu"),
        lambda data: data.contiguous(),
    ],
    ids=["pickle", "copy", "deepcopy", "clone", "to", "contiguous"],
)
@pytest.mark.parametrize("kind", KINDS)
def test_graphs_survive_a_trip(trip, kind):
    assert_same_graph(trip(KINDS[kind]), KINDS[kind])


def test_a_batch_survives_pickling():
    batch = pickle.loads(pickle.dumps(Batch.from_data_list([PATH, TRIANGLE])))
    assert isinstance(batch, CycleData)
    assert_same_graph(batch.get_example(1), TRIANGLE)


def test_every_tensor_follows_to_a_device():
    there = copy.deepcopy(TRIANGLE).to("meta")
    assert {there[name].device.type for name in CYCLE_ATTRIBUTES} == {"meta"}


def test_num_faces_is_ours_and_not_the_deprecated_property_of_pyg():
    assert TRIANGLE.num_faces.tolist() == [1]
    with pytest.warns(UserWarning, match="deprecated"):
        assert CycleData(face=torch.tensor([[0], [1], [2]]), num_nodes=3).num_faces == 1


# Making one


def test_from_data_keeps_everything_and_shares_tensors():
    data = Data(x=torch.rand(2, 1), edge_index=torch.tensor([[0], [1]]), note="mine", z=[1, 2])
    graph = CycleData.from_data(data)
    assert graph.keys() == data.keys()
    assert graph.x is data.x and graph.note == "mine"
    graph.x = None
    assert data.x is not None


def test_from_data_of_a_cycle_data_is_a_copy():
    graph = CycleData.from_data(TRIANGLE)
    assert graph is not TRIANGLE
    assert_same_graph(graph, TRIANGLE)


class PairData(Data):
    def __inc__(self, key, value, *args, **kwargs):
        return 100 if key == "mine" else super().__inc__(key, value, *args, **kwargs)


class PairCycleData(CycleData, PairData):
    pass


def test_a_subclass_keeps_its_own_batching_by_deriving_from_both():
    data = PairData(
        x=torch.zeros(2, 1), mine=torch.tensor([1]), edge_index=torch.zeros((2, 0)).long()
    )
    with refused(TypeError, r"class MyCycleData\(CycleData, PairData\)"):
        CycleData.from_data(data)
    graph = PairCycleData.from_data(data)
    assert isinstance(graph, PairCycleData)
    assert Batch.from_data_list([graph, graph]).mine.tolist() == [1, 101]
    assert type(CycleData.from_data(graph)) is PairCycleData


@pytest.mark.parametrize(
    ("data", "kind", "says"),
    [
        (
            Batch.from_data_list([PATH, TRIANGLE]),
            TypeError,
            "batch CycleDataBatch; try: .*to_data_list",
        ),
        (Batch.from_data_list([Data(num_nodes=1)]), TypeError, "batch DataBatch"),
        (HeteroData(), TypeError, "HeteroData"),
        (None, TypeError, "NoneType"),
        (Data(num_cycles=torch.tensor([3])), GraphError, r"\['num_cycles'\]; try: another name"),
    ],
    ids=["cycle batch", "batch", "hetero", "none", "taken name"],
)
def test_what_is_no_plain_graph_is_refused(data, kind, says):
    with refused(kind, says):
        CycleData.from_data(data)


def test_ids_in_pyg_would_have_been_wrong_without_the_table():
    plain = Data(num_nodes=3, arc_to_edge=torch.tensor([0, 1]))
    assert Batch.from_data_list([plain, plain]).arc_to_edge.tolist() == [0, 1, 0, 1]
    assert Batch.from_data_list([PATH, PATH]).arc_to_edge.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


# From edges to arcs


@given(few())
@examples(100, 2_000)
def test_both_arcs_of_an_edge_read_its_row_and_dropped_loops_read_zeros(several):
    batch = Batch.from_data_list(several)
    rows = torch.arange(1.0, batch.edges.size(1) + 1)
    on_arcs = batch.on_arcs(rows)
    number = {tuple(pair): i + 1 for i, pair in enumerate(batch.edges.t().tolist())}
    expected = [float(number.get((min(a), max(a)), 0)) for a in batch.edge_index.t().tolist()]
    assert on_arcs.tolist() == expected


@given(few())
def test_everything_in_a_batch_knows_its_graph(several):
    batch = Batch.from_data_list(several)
    assert batch.num_joined == len(several)
    for unit, count in (
        ("nodes", lambda graph: graph.num_nodes),
        ("edges", lambda graph: graph.edges.size(1)),
        ("cycles", lambda graph: int(graph.num_cycles)),
        ("faces", lambda graph: int(graph.num_faces)),
    ):
        expected = [i for i, graph in enumerate(several) for _ in range(count(graph))]
        assert batch.graph_of(unit).tolist() == expected
        assert several[0].graph_of(unit).tolist() == [0] * count(several[0])
    assert several[0].num_joined == 1


@pytest.mark.parametrize(
    "order", [["loop"], ["triangle", "loop"], ["loop", "triangle"], ["edgeless"]]
)
def test_rows_of_any_shape_come_onto_arcs(order):
    batch = Batch.from_data_list([KINDS[name] for name in order])
    rows = torch.ones(batch.edges.size(1), 2, 3, requires_grad=True)
    on_arcs = batch.on_arcs(rows)
    assert on_arcs.shape == (batch.num_edges, 2, 3)
    on_arcs.sum().backward()
    assert torch.equal(rows.grad, torch.full_like(rows, 2.0))


def test_rows_of_arcs_that_have_changed_are_refused():
    changed = T.AddSelfLoops()(TRIANGLE)
    with refused(GraphError, "with 6 arcs, but it has 9; try: ", "stale_edges"):
        changed.on_arcs(torch.zeros(3))


# Validation and subgraphs


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_the_same_arcs_are_valid(kind):
    assert KINDS[kind].validate()


@pytest.mark.parametrize(
    "change",
    [
        lambda data: T.AddSelfLoops()(data),
        lambda data: data.update({"edge_index": data.edge_index.flip(0)}),
        lambda data: data.update({"arc_to_edge": data.arc_to_edge.flip(0)}),
        lambda data: data.update({"arc_sign": torch.zeros_like(data.arc_sign)}),
    ],
    ids=["loops added", "arcs reversed", "arcs permuted", "signs lost"],
)
def test_validate_finds_edges_of_other_arcs(change):
    changed = change(copy.copy(TRIANGLE))
    with refused(GraphError, "`edge_index` must be the one", "stale_edges"):
        changed.validate()
    assert not changed.validate(raise_on_error=False)


def test_validate_finds_what_pyg_finds():
    broken = CycleData(edge_index=torch.tensor([[0], [7]]), num_nodes=2)
    with refused(ValueError, "larger indices"):
        broken.validate()
    assert CycleData(edge_index=torch.tensor([[0], [1]]), num_nodes=2).validate()


def test_a_subgraph_leaves_the_numbers_out():
    part = TRIANGLE.subgraph(torch.tensor([0, 1]))
    assert part.num_nodes == 2 and part.num_edges == 2
    assert part.edge_index.tolist() == [[0, 1], [1, 0]]
    assert not CYCLE_ATTRIBUTES.keys() & set(part.keys())
    arcs = TRIANGLE.edge_subgraph(torch.tensor([0, 1]))
    assert arcs.num_edges == 2 and "edges" not in arcs
    assert "edges" in TRIANGLE


def test_without_cycles_is_the_users_graph():
    plain = TRIANGLE.without_cycles()
    assert set(plain.keys()) == {"x", "edge_index", "y", "my_index"}
    assert plain.x is TRIANGLE.x
    assert "edges" in TRIANGLE


# The package


def test_importing_the_package_loads_neither_torch_nor_numba():
    code = (
        "import sys, cyclenet, cyclenet as cn\n"
        "assert cn.__version__ and 'CycleData' in dir(cn)\n"
        "loaded = {'torch', 'torch_geometric', 'numba', 'numpy', 'scipy'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize("name", cyclenet.__all__)
def test_every_public_name_is_there(name):
    assert getattr(cyclenet, name) is getattr(cyclenet, name)
    assert name in dir(cyclenet)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'AddCycles'"):
        _ = cyclenet.AddCycles
