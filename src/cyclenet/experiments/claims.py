"""What the paper claims and a program can check, each with the numbers that decide it.

Every check takes a few seconds at most and computes what it says: nothing is written down here but
the graphs. `cyclenet run experiments/theorems.toml` prints them all.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch_geometric.data import Batch, Data
from torch_geometric.transforms import BaseTransform

from cyclenet.datasets import (
    cfi_graph,
    n_circles,
    rook_graph,
    shrikhande_graph,
    strongly_regular_graphs,
)
from cyclenet.datasets.as_data import graph_data
from cyclenet.datasets.graph import Graph, relabelled
from cyclenet.datasets.strongly_regular import FAMILIES
from cyclenet.nn import CycleNet
from cyclenet.nn.encoders import Encoder, PEOIEncoder, ProfileEncoder, ProjectorEncoder
from cyclenet.topology import (
    CycleBasis,
    betti_number,
    cycle_projector,
    extended_persistence,
    shortest_cycle_basis,
)
from cyclenet.transforms import (
    AddCycleProfiles,
    AddCycleProjector,
    AddRelevantCycles,
    AddShortestCycleBasis,
)

# Encodings in float64 that differ by less than this share of their size differ by rounding.
SAME = 1e-9

_SEEDS = 3
_CHANNELS = 16


class Verdict(NamedTuple):
    """What became of a claim.

    Args:
        holds: ``"yes"``, ``"no"`` or ``"in part"``.
        finding: One sentence: what is true.
        witness: The numbers that show it.
    """

    holds: Literal["yes", "no", "in part"]
    finding: str
    witness: str


def multisets_separate() -> Verdict:
    """Different multisets of edge encodings make graphs separable; the encoding has to be sound."""
    pair = rook_graph(), shrikhande_graph()
    apart = _distance(lambda: _model("projector"), AddCycleProjector, *pair)
    square = Graph(np.array([[0, 0, 1, 2], [1, 3, 2, 3]]), 4)
    crossed = Graph(np.array([[0, 0, 1, 1], [2, 3, 2, 3]]), 4)
    single = _distance(
        lambda: _model("projector", on="single", depth="contracted"),
        AddCycleProjector, square, crossed, directions="single",
    )  # fmt: skip
    sound = _distance(lambda: _model("projector"), AddCycleProjector, square, crossed)
    return Verdict(
        _verdict(apart > SAME and sound < SAME, single < SAME),
        "True of an encoding that depends on nothing but the graph. The published input, the "
        "signed projector with one arc for each edge, also separates a graph from its own copy "
        "under other names.",
        f"Rook against Shrikhande: {apart:.1e}. The square against itself under other names: "
        f"{single:.1e} as published, {sound:.1e} on both arcs",
    )


def projector_beats_2wl() -> Verdict:
    """CycleNet tells apart a pair that the 2-dimensional Weisfeiler-Leman test cannot."""
    pair = rook_graph(), shrikhande_graph()
    apart = _distance(lambda: ProjectorEncoder(_CHANNELS), AddCycleProjector, *pair)
    zeros = [_zeros_in_a_column(graph) for graph in pair]
    return Verdict(
        _verdict(apart > SAME),
        "True with a layer that reads every entry of the projector before it contracts them "
        '(depth="pairs"). Both graphs are strongly regular with parameters (16, 6, 2, 2).',
        f"distance {apart:.1e}; zeros in a column of P: {zeros[0]} and {zeros[1]}",
    )


def contracted_is_blind() -> Verdict:
    """The published layers contract the projector first: do they separate that pair?"""
    pair = rook_graph(), shrikhande_graph()
    apart = _distance(
        lambda: ProjectorEncoder(_CHANNELS, depth="contracted"), AddCycleProjector, *pair
    )
    diagonal = [float(cycle_projector(*graph)[0, 0]) for graph in pair]
    return Verdict(
        _verdict(apart > SAME),
        "The published network has no layer from pairs to pairs: on a sound input all it reads of "
        "an edge is its entry on the diagonal, which is the same on all edges of both graphs.",
        f"distance {apart:.1e}; diagonal {diagonal[0]:.4f} and {diagonal[1]:.4f} (33/48)",
    )


def pairs_cannot_separate_cfi4() -> Verdict:
    """Table 1 prints 0.50 for CycleNet on 4-CFI: a matter of training, or a law?"""
    pair = cfi_graph(4, 0), cfi_graph(4, 1)
    apart = _distance(
        lambda: ProjectorEncoder(_CHANNELS, on="abs", pair_channels=8), AddCycleProjector, *pair
    )
    columns = [np.sort(np.abs(np.rint(1920 * cycle_projector(*graph))), axis=0) for graph in pair]
    same = bool(np.all(columns[0] == columns[0][:, :1]) and np.all(columns[1] == columns[0]))
    spectra = [np.linalg.eigvalsh(np.abs(cycle_projector(*graph))) for graph in pair]
    return Verdict(
        _verdict(apart < SAME and same),
        "A law: every column of |1920 P| holds the same integers in both graphs, so no network of "
        "this kind does better than chance. The spectrum of |P| differs.",
        f"distance {apart:.1e}; spectra of |P| differ by up to "
        f"{np.abs(spectra[0] - spectra[1]).max():.2f}",
    )


def peoi_beats_cycle_counts() -> Verdict:
    """PEOI knows the lengths of the basis cycles, and separates graphs that share them."""
    lengths = [shortest_cycle_basis(*graph).lengths.tolist() for graph in _two_graphs()]
    rows = [
        np.sort(np.maximum(_inner_sums(_incidence(graph)) - 16, 0).sum(axis=1)).astype(int)
        for graph in _two_graphs()
    ]
    return Verdict(
        _verdict(lengths[0] == lengths[1] and not np.array_equal(rows[0], rows[1])),
        "True: with rho1(a, b) = 2a + b, rho2(x, Y) = ReLU(Y - 16) the rows are those the paper "
        "prints. Counting all simple cycles, not those of a basis, separates the two as well.",
        f"lengths {_words(lengths[0])} in both; rows {_words(rows[0])} against {_words(rows[1])}",
    )


def filtered_peoi_beats_epd() -> Verdict:
    """With a node function, PEOI separates graphs with equal extended persistence."""
    values = np.array([1, 2, 2, 3, 3, 3, 4])
    diagrams = [extended_persistence(*graph, values) for graph in _two_graphs()]
    rows = [np.sort(_filtered_sums(graph, values)) for graph in _two_graphs()]
    return Verdict(
        _verdict(np.array_equal(diagrams[0], diagrams[1]) and not np.array_equal(rows[0], rows[1])),
        "True for general rho; here rho1 = min, rho2(x, Y) = Y. The diagrams are equal.",
        f"pairs (birth, death) {_words(map(tuple, diagrams[0].astype(int).tolist()))} in both; "
        f"rows {_words(rows[0])} against {_words(rows[1])}",
    )


def basis_lengths_separate_cfi() -> Verdict:
    """The lengths of a shortest basis separate pairs that 3-WL and 4-WL cannot."""
    found = {
        k: [_length_counts(shortest_cycle_basis(*cfi_graph(k, twist))) for twist in (0, 1)]
        for k in (3, 4)
    }
    return Verdict(
        _verdict(all(one != other for one, other in found.values())),
        "True: the lengths are the same for every shortest basis, so they are a sound number.",
        "; ".join(f"{k}-CFI: {one} against {other}" for k, (one, other) in found.items()),
    )


def sr_basis_is_all_triangles() -> Verdict:
    """Table 1 prints that PEOI separates all pairs of a strongly regular family."""
    graphs = [strongly_regular_graphs("sr351899")[i] for i in range(6)]
    lengths = {_length_counts(shortest_cycle_basis(*graph)) for graph in graphs}
    copy = _relabelled(graphs[0], np.random.default_rng(0))
    copies = _distance(lambda: PEOIEncoder(_CHANNELS), AddShortestCycleBasis, graphs[0], copy)
    relevant = _distance(lambda: PEOIEncoder(_CHANNELS), AddRelevantCycles, graphs[0], copy)
    others = _distance(lambda: PEOIEncoder(_CHANNELS), AddRelevantCycles, graphs[0], graphs[1])
    return Verdict(
        _verdict(copies < SAME and others > SAME),
        "Every shortest basis here is 281 triangles, and which ones is a matter of names: a copy "
        "of a graph gets other rows. Over all relevant cycles PEOI is sound.",
        f"lengths {_words(lengths)}; distance to a copy {copies:.1e}; over relevant cycles "
        f"{relevant:.1e} to the copy and {others:.1e} to another graph",
    )


def shortest_basis_uniqueness_is_decidable() -> Verdict:
    """The paper says that no algorithm tells whether the shortest basis is unique."""
    ring = Graph(np.array([[0, 0, 1, 2, 3, 4], [1, 5, 2, 3, 4, 5]]), 6)
    cage = Graph(np.array([[0, 0, 0, 1, 2, 3, 4, 5, 6], [1, 3, 5, 2, 7, 4, 7, 6, 7]]), 8)
    found = [shortest_cycle_basis(*graph) for graph in (ring, cage)]
    decided = found[0].is_unique and not found[1].is_unique
    return Verdict(
        _verdict(not decided),
        "A shortest basis is unique if and only if there are no more relevant cycles than it has "
        "members, and these are counted in polynomial time.",
        f"benzene: {found[0].num_relevant} relevant, basis of {found[0].lengths.size}; "
        f"bicyclo[2.2.2]octane: {found[1].num_relevant} relevant, basis of {found[1].lengths.size}",
    )


def profile_separates_all() -> Verdict:
    """One method of Table 1, PEOI, is printed with 1 in all three columns."""
    pairs = [(cfi_graph(k, 0), cfi_graph(k, 1)) for k in (3, 4)]
    for name in FAMILIES:
        pairs.append((strongly_regular_graphs(name)[0], strongly_regular_graphs(name)[1]))
    rng = np.random.default_rng(0)

    def encoder() -> Encoder:
        return ProfileEncoder(_CHANNELS)

    apart = min(_distance(encoder, AddCycleProfiles, *pair) for pair in pairs)
    copies = max(
        _distance(encoder, AddCycleProfiles, one, _relabelled(one, rng)) for one, _ in pairs
    )
    return Verdict(
        _verdict(copies < SAME < apart, wholly=False),
        "Not PEOI, which separates copies in the third. Our encoder on profiles does it soundly, "
        "untrained; here on the first two graphs of each family, in Table 1 on all pairs.",
        f"{len(pairs)} pairs at least {apart:.1e} apart, copies at most {copies:.1e}",
    )


def log_softmax_is_half() -> Verdict:
    """Table 1 prints 0.50 for PPGN on CFI graphs: what its network said, or what was made of it?"""
    logits = torch.linspace(-3, 3, 7).unsqueeze(1).requires_grad_()
    ended = torch.log_softmax(logits, dim=1)
    ended.sum().backward()
    largest, slope = float(ended.detach().abs().max()), float(logits.grad.abs().max())
    return Verdict(
        _verdict(largest > 0 or slope > 0),
        "The published network ends in a log-softmax over a single output, which is 0 whatever "
        "comes in, with gradient 0: chance by construction, whatever PPGN can do.",
        f"largest output {largest:g}, largest gradient {slope:g}",
    )


def betti_label_is_edge_count() -> Verdict:
    """The label of the set called "Betti number" takes a network that sees cycles."""
    made = n_circles(500, np.random.default_rng(0))
    seen = Counter((item.graph.edges.shape[1], float(item.target[0])) for item in made)
    most = {m: max(n for (edges, _), n in seen.items() if edges == m) for m, _ in seen}
    betti = np.mean([betti_number(*item.graph) for item in made])
    return Verdict(
        _verdict(sum(most.values()) < 0.99 * len(made)),
        "The number of edges alone gives the label, and the label is not the Betti number: it is "
        "the number of circles that were drawn.",
        f"a table from {len(most)} numbers of edges to labels is right on {sum(most.values())} of "
        f"{len(made)} graphs; the Betti number is {betti:.1f} on average, the label "
        f"{np.mean([item.target[0] for item in made]):.1f}",
    )


CLAIMS: dict[str, Callable[[], Verdict]] = {
    check.__name__: check
    for check in (
        multisets_separate,
        projector_beats_2wl,
        contracted_is_blind,
        pairs_cannot_separate_cfi4,
        peoi_beats_cycle_counts,
        filtered_peoi_beats_epd,
        basis_lengths_separate_cfi,
        sr_basis_is_all_triangles,
        shortest_basis_uniqueness_is_decidable,
        profile_separates_all,
        log_softmax_is_half,
        betti_label_is_edge_count,
    )
}


def _verdict(holds: bool, wholly: bool = True) -> Literal["yes", "no", "in part"]:
    if not holds:
        return "no"
    return "yes" if wholly else "in part"


def _two_graphs() -> tuple[Graph, Graph]:
    """The two graphs of the paper's example: equal basis lengths, equal persistence."""
    shared = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (3, 4), (4, 5)]
    one, other = [*shared, (3, 6), (4, 6)], [*shared, (4, 6), (5, 6)]
    return Graph(np.array(one).T, 7), Graph(np.array(other).T, 7)


def _model(encoder: str, **options: str) -> CycleNet:
    return CycleNet(
        2, _CHANNELS, hidden_channels=_CHANNELS, encoder=encoder, encoder_options=options
    )


def _distance(
    make: Callable[[], torch.nn.Module],
    transform: type[BaseTransform],
    one: Graph,
    other: Graph,
    *,
    directions: Literal["both", "single"] = "both",
) -> float:
    """Largest relative distance of the sorted rows (or predictions) of two graphs, over seeds."""
    items = [
        transform(dtype=torch.float64)(_in_float64(graph_data(graph, directions=directions)))  # pyright: ignore[reportCallIssue]
        for graph in (one, other)
    ]
    found = []
    for seed in range(_SEEDS):
        torch.manual_seed(seed)
        module = make().double()
        # Let normalisations see data: at their initial statistics deep stacks are constant.
        module.train()(Batch.from_data_list(items))
        module.eval()
        rows = [_sorted_rows(module(Batch.from_data_list([item]))) for item in items]
        size = float(torch.cat(rows).norm()) or 1.0
        same_shape = rows[0].shape == rows[1].shape
        found.append(float((rows[0] - rows[1]).norm()) / size if same_shape else 1.0)
    return max(found)


def _in_float64(data: Data) -> Data:
    data.x = data.x.double()
    return data


def _sorted_rows(rows: Float[Tensor, "r k"]) -> Float[Tensor, "r k"]:
    """Each channel in ascending order: a function of the multiset of rows."""
    return rows.detach().sort(dim=0).values


def _relabelled(graph: Graph, rng: np.random.Generator) -> Graph:
    return relabelled(graph, rng.permutation(graph.num_nodes))


def _zeros_in_a_column(graph: Graph) -> int:
    return int((np.abs(cycle_projector(*graph)[:, 0]) < SAME).sum())


def _incidence(graph: Graph) -> Float[np.ndarray, "m g"]:
    return np.abs(shortest_cycle_basis(*graph).incidence.toarray()).astype(float)


def _inner_sums(on: Float[np.ndarray, "m g"]) -> Float[np.ndarray, "m g"]:
    """Sums over j other than i of 2 X_ik + X_jk."""
    return 2 * on * (on.shape[0] - 1) + on.sum(axis=0) - on


def _filtered_sums(graph: Graph, values: np.ndarray) -> np.ndarray:
    """PEOI of the filtered matrix with rho1 = min and everything else the identity."""
    entries = _incidence(graph) * values[graph.edges].min(axis=0)[:, None]
    pairs = np.minimum(entries[:, None], entries[None])
    return (pairs.sum(axis=(1, 2)) - entries.sum(axis=1)).astype(int)


def _length_counts(basis: CycleBasis) -> str:
    lengths, counts = np.unique(basis.lengths, return_counts=True)
    return " + ".join(f"{n}x{length}" for length, n in zip(lengths, counts, strict=True))


def _words(values: Iterable[object]) -> str:
    return " ".join(str(value) for value in values)
