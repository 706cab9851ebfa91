"""Hypothesis strategies for graphs. All of them shrink towards few nodes and few edges."""

import itertools
import os
from collections.abc import Callable
from typing import Literal

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

WeightKind = Literal["any", "integers", "decimals", "reals"]
Pairs = list[tuple[int, int]]


def examples(quick: int, deep: int) -> settings:
    """How many cases a test draws: `quick` on every commit, `deep` when CYCLENET_TESTS is deep."""
    is_deep = os.environ.get("CYCLENET_TESTS") == "deep"
    return settings(max_examples=deep if is_deep else quick)


@st.composite
def graphs(
    draw: st.DrawFn,
    max_nodes: int = 12,
    *,
    min_nodes: int = 0,
    max_edges: int | None = None,
    edge_order: Literal["any", "sorted"] = "any",
    connected: bool = False,
) -> tuple[np.ndarray, int]:
    """A simple graph as `(edges, num_nodes)`: edges (2, m) int64, tail < head.

    Trees, forests, cacti, cliques, grids, subdivisions, several blocks, several components, no
    edges, no nodes; node names and edge order are arbitrary (edge order sorted on request).

    Args:
        draw: Given by hypothesis.
        max_nodes: Largest number of nodes.
        min_nodes: Smallest number of nodes.
        max_edges: Largest number of edges; the first ones drawn are kept.
        edge_order: ``"sorted"`` gives the edges in the order of (tail, head).
        connected: Join the components by edges.
    """
    shapes = [_loose_graphs, _glued_blocks, _grids, _subdivisions]
    pairs, num_nodes = draw(st.sampled_from(shapes).flatmap(lambda shape: shape(max_nodes)))
    num_nodes = max(num_nodes, min_nodes)
    if connected:
        pairs = _join(pairs, num_nodes)
    pairs = pairs if max_edges is None else pairs[:max_edges]
    names = draw(st.permutations(range(num_nodes)))
    pairs = sorted(_ordered(names[a], names[b]) for a, b in pairs)
    if edge_order == "any":
        pairs = draw(st.permutations(pairs))
    return _as_array(pairs), num_nodes


@st.composite
def weighted_graphs(
    draw: st.DrawFn, max_nodes: int = 10, kind: WeightKind = "any", **options: object
) -> tuple[np.ndarray, int, np.ndarray]:
    """A graph of `graphs` with weights: `(edges, num_nodes, weights)`, float64, not negative.

    Ties are the rule. ``"integers"`` are 0 to 4; ``"decimals"`` are multiples of 0.1, whose float
    sums depend on their order; ``"reals"`` are any floats in [0, 10].
    """
    edges, num_nodes = draw(graphs(max_nodes, **options))
    weights = draw(edge_weights(edges.shape[1], kind))
    return edges, num_nodes, weights


@st.composite
def edge_weights(draw: st.DrawFn, num_edges: int, kind: WeightKind = "any") -> np.ndarray:
    """Weights as in `weighted_graphs` for a given number of edges."""
    if kind == "any":
        kind = draw(st.sampled_from(["integers", "decimals", "reals"]))
    one = {
        "integers": st.integers(0, 4).map(float),
        "decimals": st.integers(0, 12).map(lambda tenths: tenths / 10),
        "reals": st.floats(0, 10, allow_subnormal=False),
    }[kind]
    return np.array(draw(st.lists(one, min_size=num_edges, max_size=num_edges)), dtype=np.float64)


@st.composite
def multigraphs(
    draw: st.DrawFn, max_nodes: int = 8, max_extra: int = 4, *, loops: bool = True
) -> tuple[np.ndarray, int]:
    """A graph of `graphs` with up to `max_extra` parallel edges and loops, tail <= head."""
    edges, num_nodes = draw(graphs(max_nodes))
    pairs = [(int(a), int(b)) for a, b in edges.T]
    extras = []
    if pairs:
        extras.append(st.sampled_from(pairs))
    if loops and num_nodes:
        extras.append(st.integers(0, num_nodes - 1).map(lambda node: (node, node)))
    if extras:
        pairs = draw(st.permutations(pairs + draw(st.lists(st.one_of(extras), max_size=max_extra))))
    return _as_array(pairs), num_nodes


@st.composite
def arcs_of(draw: st.DrawFn, edges: np.ndarray, *, both_directions: bool = True) -> np.ndarray:
    """The arcs (2, a) of a graph in arbitrary order, in both directions or in one of the two."""
    forward = [(int(a), int(b)) for a, b in edges.T]
    if both_directions:
        arcs = forward + [(b, a) for a, b in forward]
    else:
        flips = draw(st.lists(st.booleans(), min_size=len(forward), max_size=len(forward)))
        arcs = [(b, a) if flip else (a, b) for (a, b), flip in zip(forward, flips, strict=True)]
    return _as_array(draw(st.permutations(arcs)))


def relabellings(num_nodes: int) -> st.SearchStrategy[np.ndarray]:
    """A permutation of the nodes: node v gets the name `permutation[v]`."""
    return st.permutations(range(num_nodes)).map(lambda names: np.array(names, dtype=np.int64))


def batches(
    max_graphs: int = 5, max_nodes: int = 8
) -> st.SearchStrategy[list[tuple[np.ndarray, int]]]:
    """Several graphs, empty and edgeless ones among them, in any position."""
    return st.lists(graphs(max_nodes), max_size=max_graphs)


def relabelled(edges: np.ndarray, permutation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges under new node names, in the same order, and -1 where tail and head changed places."""
    renamed = permutation[edges].reshape(2, -1)
    signs = np.where(renamed[0] <= renamed[1], 1, -1)
    return np.sort(renamed, axis=0), signs


def packed(batch: list[tuple[np.ndarray, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A batch as `(edges, edge_ptr, num_nodes)`, node ids local to each graph."""
    sizes = [edges.shape[1] for edges, _ in batch]
    edges = [edges for edges, _ in batch] or [np.zeros((2, 0), dtype=np.int64)]
    edge_ptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    num_nodes = np.array([count for _, count in batch], dtype=np.int64)
    return np.concatenate(edges, axis=1), edge_ptr, num_nodes


@st.composite
def _loose_graphs(draw: st.DrawFn, max_nodes: int) -> tuple[Pairs, int]:
    """A forest and some more edges: everything is possible here, structure is not likely."""
    num_nodes = draw(st.integers(0, max_nodes))
    pairs: dict[tuple[int, int], None] = {}
    for node in range(1, num_nodes):
        parent = draw(st.integers(-1, node - 1))
        if parent >= 0:
            pairs[parent, node] = None
    if num_nodes > 1:
        ends = st.tuples(st.integers(0, num_nodes - 1), st.integers(0, num_nodes - 1))
        for a, b in draw(st.lists(ends, max_size=2 * max_nodes)):
            if a != b:
                pairs[_ordered(a, b)] = None
    return list(pairs), num_nodes


@st.composite
def _glued_blocks(draw: st.DrawFn, max_nodes: int) -> tuple[Pairs, int]:
    """Edges, cycles, cliques and thetas that share a node or stand apart: cacti and worse."""
    pairs: Pairs = []
    num_nodes = 0
    for piece, size in draw(st.lists(_pieces(max_nodes), min_size=1, max_size=4)):
        glued = num_nodes > 0 and draw(st.booleans())
        anchor = draw(st.integers(0, num_nodes - 1)) if glued else num_nodes
        if num_nodes + size - glued > max_nodes:
            continue
        names = [anchor, *range(num_nodes + (not glued), num_nodes + size - glued)]
        pairs += [_ordered(names[a], names[b]) for a, b in piece]
        num_nodes += size - glued
    return pairs, num_nodes


@st.composite
def _grids(draw: st.DrawFn, max_nodes: int) -> tuple[Pairs, int]:
    rows = draw(st.integers(1, max(1, int(max_nodes**0.5))))
    columns = draw(st.integers(1, max(1, max_nodes // rows)))
    if max_nodes == 0:
        return [], 0
    across = [
        (r * columns + c, r * columns + c + 1) for r in range(rows) for c in range(columns - 1)
    ]
    down = [
        (r * columns + c, (r + 1) * columns + c) for r in range(rows - 1) for c in range(columns)
    ]
    return across + down, rows * columns


@st.composite
def _subdivisions(draw: st.DrawFn, max_nodes: int) -> tuple[Pairs, int]:
    """A graph whose edges are turned into paths: what the contraction of chains must undo."""
    inside = st.sampled_from([_loose_graphs, _glued_blocks])
    pairs, num_nodes = draw(inside.flatmap(lambda shape: shape(max(1, max_nodes // 2))))
    cuts = draw(st.lists(st.integers(0, 2), min_size=len(pairs), max_size=len(pairs)))
    longer: Pairs = []
    for (a, b), count in zip(pairs, cuts, strict=True):
        count = min(count, max_nodes - num_nodes)
        path = [a, *range(num_nodes, num_nodes + count), b]
        longer += [_ordered(*pair) for pair in itertools.pairwise(path)]
        num_nodes += count
    return longer, num_nodes


def _pieces(max_nodes: int) -> st.SearchStrategy[tuple[Pairs, int]]:
    largest = max(2, min(6, max_nodes))
    kinds: list[Callable[[int], tuple[Pairs, int]]] = [_path, _cycle, _clique, _theta]
    return st.builds(lambda kind, size: kind(size), st.sampled_from(kinds), st.integers(2, largest))


def _path(size: int) -> tuple[Pairs, int]:
    return [(i, i + 1) for i in range(size - 1)], size


def _cycle(size: int) -> tuple[Pairs, int]:
    size = max(size, 3)
    return [*_path(size)[0], (0, size - 1)], size


def _clique(size: int) -> tuple[Pairs, int]:
    return [(i, j) for i in range(size) for j in range(i + 1, size)], size


def _theta(size: int) -> tuple[Pairs, int]:
    """Two nodes joined by an edge and by `size - 2` paths of two edges."""
    return [(0, 1), *((end, middle) for middle in range(2, size) for end in (0, 1))], size


def _join(pairs: Pairs, num_nodes: int) -> Pairs:
    root = list(range(num_nodes))

    def find(node: int) -> int:
        while root[node] != node:
            node = root[node]
        return node

    for a, b in pairs:
        root[find(a)] = find(b)
    joined = list(pairs)
    for node in range(1, num_nodes):
        if find(node) != find(0):
            joined.append((0, node))
            root[find(node)] = find(0)
    return joined


def _ordered(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def _as_array(pairs: Pairs) -> np.ndarray:
    return np.array(pairs, dtype=np.int64).reshape(-1, 2).T.copy()
