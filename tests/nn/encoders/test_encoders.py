"""What every encoder promises, and what tells them apart: the table of claims in one place."""

import pytest
import torch
from bad_input import refused
from torch_geometric.data import Batch, Data

import cyclenet as cn
from cyclenet.datasets import cfi_graph, strongly_regular_graphs
from cyclenet.nn.encoders import ENCODERS, PEOIEncoder, ProfileEncoder, ProjectorEncoder
from cyclenet.testing import (
    assert_all_parameters_learn,
    assert_permutation_equivariant,
    check_encoder,
    sample_graphs,
)
from cyclenet.topology import GraphError

EXACT = {"dtype": torch.float64}
BASIS, RELEVANT = cn.AddShortestCycleBasis(**EXACT), cn.AddRelevantCycles(**EXACT)
PROJECTOR, PROFILES = cn.AddCycleProjector(**EXACT), cn.AddCycleProfiles(**EXACT)
PAIRS, SUMS = (cn.AddCycleProjector(pairs=pairs, **EXACT) for pairs in ("graph", "none"))

# A narrow projector encoder may have no ReLU that bends on the samples; its first bias is then
# taken off by the normalisation behind it and learns nothing but rounding.
torch.manual_seed(1)
SOUND = {
    "profile": (ProfileEncoder(8), PROFILES),
    "peoi": (PEOIEncoder(8), BASIS),
    "peoi all": (PEOIEncoder(8, sum_over="all"), RELEVANT),
    "peoi light": (PEOIEncoder(8, form="light"), RELEVANT),
    "peoi filters": (PEOIEncoder(8, filters="x", num_filters=3), BASIS),
    "peoi light filters": (PEOIEncoder(8, form="light", filters="x", num_filters=3), RELEVANT),
    "pairs": (ProjectorEncoder(8, hidden_channels=32), PROJECTOR),
    "two pair layers": (ProjectorEncoder(8, hidden_channels=32, num_pair_layers=2), PAIRS),
    "pairs abs": (ProjectorEncoder(8, hidden_channels=32, on="abs"), PROJECTOR),
    "contracted": (ProjectorEncoder(8, hidden_channels=32, depth="contracted"), SUMS),
    "contracted abs": (ProjectorEncoder(8, hidden_channels=32, depth="contracted", on="abs"), SUMS),
    "hodge": (ProjectorEncoder(8, hidden_channels=32, source="hodge"), PROJECTOR),
    "hodge abs": (
        ProjectorEncoder(8, hidden_channels=32, source="hodge", on="abs", depth="contracted"),
        SUMS,
    ),
}


def both_directions(graph):
    edges = torch.from_numpy(graph[0])
    return Data(edge_index=torch.cat((edges, edges.flip(0)), 1), num_nodes=graph[1])


def renamed(data, seed):
    names = torch.randperm(data.num_nodes, generator=torch.Generator().manual_seed(seed))
    return Data(edge_index=names[data.edge_index], num_nodes=data.num_nodes)


def prints(encoder, transform, several):
    """A sum over the arcs of each graph, in float64 with settled normalisations."""
    encoder = encoder.double()
    items = [transform(data) for data in several]
    batch = Batch.from_data_list(items)
    with torch.no_grad():
        for _ in range(20 if hasattr(encoder, "norms") else 0):
            encoder.train()(batch)
        encoder.eval()
        rows = [encoder(item) for item in items]
    # Something curved before the sum, so that equal sums of unequal rows do not look alike.
    scale = torch.cat(rows).abs().amax(0).clamp(min=1e-300)
    found = torch.stack([torch.tanh(3 * own / scale).mean(0) for own in rows])
    return found / found.norm(dim=1).mean()


@pytest.mark.parametrize("name", SOUND)
def test_encoders_keep_the_laws(name):
    torch.manual_seed(0)
    encoder, transform = SOUND[name]
    encoder.reset_parameters()
    check_encoder(encoder, transform)


def test_the_battery_finds_an_encoder_that_depends_on_orientation():
    torch.manual_seed(0)
    encoder = ProjectorEncoder(8, hidden_channels=32, on="single")
    with pytest.raises(AssertionError, match="new names"):
        check_encoder(encoder, PROJECTOR)


def test_the_battery_finds_weights_that_do_not_learn_or_move():
    class Lost(PEOIEncoder):
        def __init__(self):
            super().__init__(4)
            self.scale = torch.ones(4, requires_grad=True)  # no parameter, as after `.to(device)`

        def encode_edges(self, batch):
            return super().encode_edges(batch).detach() * self.scale

    with pytest.raises(AssertionError, match="every parameter must get a gradient"):
        assert_all_parameters_learn(Lost(), BASIS, sample_graphs())


@pytest.mark.parametrize("name", SOUND)
def test_a_batch_without_any_cycle_is_ordinary(name):
    encoder, transform = SOUND[name]
    none = torch.zeros((2, 0), dtype=torch.long)
    forest = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    for arcs in (none, forest):
        data = Data(x=torch.rand(4, 3), edge_index=arcs, num_nodes=4)
        rows = encoder.double().train()(Batch.from_data_list([transform(data)] * 2))
        assert rows.shape == (2 * arcs.size(1), 8) and torch.isfinite(rows).all()


def test_loops_that_were_dropped_read_zeros():
    arcs = torch.tensor([[0, 1, 2, 1], [1, 2, 0, 1]])
    with pytest.warns(UserWarning, match="self loops"):
        data = cn.AddCycleProfiles(**EXACT)(Data(edge_index=arcs, num_nodes=3))
    rows = ProfileEncoder(4).double()(data)
    assert rows[3].tolist() == [0.0] * 4 and (rows[:3] != 0).any()


@pytest.mark.parametrize("name", ENCODERS)
def test_missing_numbers_are_named_with_the_transform_that_adds_them(name):
    with refused(GraphError, r"try: Add.*transform", "numbers_missing"):
        ENCODERS[name](4)(both_directions(cfi_graph(2)))


@pytest.mark.parametrize(
    "options",
    [{"on": "edges"}, {"depth": "deep"}, {"source": "laplacian"}],
)
def test_unknown_choices_are_refused(options):
    with refused(ValueError, next(iter(options))):
        ProjectorEncoder(4, **options)
    with refused(ValueError, "form"):
        PEOIEncoder(4, form="heavy")
    with refused(ValueError, "num_filters"):
        PEOIEncoder(4, filters="x")


# What they tell apart (G.10, G.13)


def gap_of_pair(encoder, transform, graphs):
    found = prints(encoder, transform, graphs)
    return float((found[0] - found[1]).norm())


@pytest.mark.parametrize(
    ("name", "apart"),
    [
        ("contracted", False),  # P_ee is 11/16 on every edge of both
        ("contracted abs", True),
        ("pairs", True),
        ("pairs abs", True),
        ("profile", True),
        ("peoi all", True),
        ("peoi light", True),
    ],
)
def test_rook_and_shrikhande(name, apart):
    torch.manual_seed(0)
    encoder, transform = SOUND[name]
    encoder.reset_parameters()
    gap = gap_of_pair(encoder, transform, [both_directions(cfi_graph(3, t)) for t in (0, 1)])
    assert (gap > 1e-6) if apart else (gap < 1e-12)


@pytest.mark.parametrize(
    ("name", "apart"),
    [("pairs", False), ("contracted abs", False), ("profile", True), ("peoi all", True)],
)
def test_the_4_cfi_pair(name, apart):
    torch.manual_seed(0)
    encoder, transform = SOUND[name]
    encoder.reset_parameters()
    gap = gap_of_pair(encoder, transform, [both_directions(cfi_graph(4, t)) for t in (0, 1)])
    assert (gap > 1e-6) if apart else (gap < 1e-9)


# All that the package ships, but for the 3854 graphs of sr351668, which experiments look at.
QUICK = ("sr16622", "sr251256", "sr261034", "sr281264", "sr401224")
LONG = ("sr291467", "sr351899", "sr361446")


@pytest.mark.parametrize(
    "family", [*QUICK, *(pytest.param(family, marks=pytest.mark.slow) for family in LONG)]
)
@pytest.mark.parametrize("seed", [0, 1])
def test_profiles_separate_strongly_regular_graphs_and_no_copies(family, seed):
    torch.manual_seed(seed)
    graphs = [both_directions(graph) for graph in strongly_regular_graphs(family)]
    copies = [renamed(data, seed) for data in graphs]
    found = prints(ProfileEncoder(32), PROFILES, graphs + copies)
    gaps = torch.cdist(found, found, compute_mode="donot_use_mm_for_euclid_dist")
    same = torch.eye(len(graphs), dtype=torch.bool).repeat(2, 2)
    assert float(gaps[same].max()) < 1e-8
    assert float(gaps[~same].min()) > 1e-6


def test_one_shortest_basis_separates_copies_of_the_rook_graph_and_relevant_cycles_do_not():
    torch.manual_seed(0)
    rook = both_directions(cfi_graph(3))
    with pytest.raises(AssertionError, match="new names"):
        assert_permutation_equivariant(PEOIEncoder(8).double().eval(), BASIS, [rook])
    assert_permutation_equivariant(PEOIEncoder(8).double().eval(), RELEVANT, [rook])
