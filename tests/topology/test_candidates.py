import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interpreted import interpreted
from oracles import (
    edge_blocks,
    first_shortest_paths,
    independent_mod_2,
    is_simple_cycle,
    mask_of,
    networkx_graph,
    simple_cycles,
)
from strategies import examples, graphs

from cyclenet.topology import SATURATED
from cyclenet.topology import candidates as c
from cyclenet.topology.chains import CHAIN_ROWS, END, HOPS, KEY, START
from cyclenet.topology.elimination import WORD, first_labels
from cyclenet.topology.forest import list_arcs


class Block:
    """The tables of the kernels for a graph whose edges are chains of given lengths."""

    def __init__(self, edges, num_nodes, keys, hops=None):
        size = edges.shape[1]
        self.edges, self.num_nodes, self.keys = edges, num_nodes, keys
        self.chain = np.zeros((CHAIN_ROWS, size), dtype=np.int64)
        self.chain[[START, END]] = edges
        self.chain[KEY], self.chain[HOPS] = keys, 1 if hops is None else hops
        self.starts = np.empty(num_nodes + 1, dtype=np.int64)
        self.arcs = np.empty((2, 2 * size), dtype=np.int64)
        self.vertex = np.zeros((c.VERTEX_ROWS, max(num_nodes, 1)), dtype=np.int64)
        self.heap = np.empty((c.HEAP_ROWS, 2 * size + num_nodes + 1), dtype=np.int64)
        self.shortest = min(keys, default=1)
        self.even = len(set(keys)) <= 1
        interpreted(list_arcs)(*edges, size, num_nodes, self.starts, self.arcs)
        self.num_roots = interpreted(c.removal_order)(
            num_nodes, self.starts, self.arcs, self.vertex, self.heap
        )

    def grow(self, root, step, search, radius):
        return interpreted(c.grow_tree)(
            root, step, search, radius, self.shortest, self.even, self.chain, self.starts,
            self.arcs, self.vertex, self.heap,
        )  # fmt: skip

    def left_at(self, step):
        """The graph without the vertices deleted before the step: mask of edges, nodes."""
        left = self.vertex[c.RANK, : self.num_nodes] >= step
        return left[self.edges].all(axis=0), np.flatnonzero(left).tolist()

    def path(self, node):
        """The chains up to the root."""
        found = []
        while self.vertex[c.UP, node] >= 0:
            found.append(int(self.vertex[c.VIA, node]))
            node = self.vertex[c.UP, node]
        return tuple(sorted(found))


def largest_block(graph):
    """The block with most edges, its nodes named from 0; a forest has none."""
    edges, num_nodes = graph
    number = np.array(edge_blocks(edges, num_nodes), dtype=np.int64)
    if number.max(initial=-1) < 0:
        return np.zeros((2, 0), dtype=np.int64), 0
    inside = edges[:, number == np.bincount(number[number >= 0]).argmax()]
    nodes, names = np.unique(inside, return_inverse=True)
    return names.reshape(2, -1), nodes.size


@st.composite
def blocks_with_ties(draw, max_nodes=7, max_edges=12):
    edges, num_nodes = draw(graphs(max_nodes, max_edges=max_edges).map(largest_block))
    size = edges.shape[1]
    numbers = st.lists(st.integers(1, 3), min_size=size, max_size=size)
    numbers |= st.integers(1, 3).map(lambda number: [number] * size)
    return Block(edges, num_nodes, *(np.array(draw(numbers), dtype=np.int64) for _ in range(2)))


@given(blocks_with_ties(max_nodes=14, max_edges=None))
@examples(200, 20_000)
def test_deleting_the_roots_leaves_a_forest_and_no_root_is_spare(block):
    plain = networkx_graph(block.edges, block.num_nodes)
    roots = block.vertex[c.ROOTS, : block.num_roots].tolist()
    assert len(set(roots)) == len(roots)
    for step, root in enumerate(roots):
        core = nx.k_core(plain, 2)
        assert block.vertex[c.RANK, root] == step
        assert core.degree(root) == max(degree for _, degree in core.degree()) >= 2
        plain.remove_node(root)
    assert plain.number_of_nodes() == 0 or nx.is_forest(plain)


@given(blocks_with_ties(max_nodes=12, max_edges=None))
def test_with_a_root_goes_what_is_left_with_fewer_than_two_edges(block):
    plain = networkx_graph(block.edges, block.num_nodes)
    for step in range(block.num_roots):
        assert block.left_at(step)[1] == sorted(plain)
        plain.remove_node(int(block.vertex[c.ROOTS, step]))
        plain = nx.k_core(plain, 2)
    assert not plain and block.left_at(block.num_roots)[1] == []


@given(blocks_with_ties(), st.data())
@examples(150, 10_000)
def test_the_tree_is_that_of_the_first_shortest_paths(block, data):
    if not block.num_roots:
        return
    step = data.draw(st.integers(0, block.num_roots - 1))
    root = int(block.vertex[c.ROOTS, step])
    inside, left = block.left_at(step)
    names = np.flatnonzero(inside)
    expected = first_shortest_paths(
        block.edges[:, inside], block.num_nodes, root, block.keys[inside], block.chain[HOPS, inside]
    )
    radius = data.draw(st.integers(0, 12))
    reached, beyond = block.grow(root, step, 1, radius)
    near = {v: way for v, way in expected.items() if way[0] <= radius}
    settled = block.vertex[c.ORDER, :reached].tolist()
    assert sorted(settled) == sorted(near)
    assert settled[0] == root and set(settled) <= set(left)
    distances = [expected[v][0] for v in settled]
    assert distances == sorted(distances)
    for place, v in enumerate(settled):
        distance, path, count = expected[v]
        assert block.vertex[[c.DIST, c.PATHS, c.PLACE], v].tolist() == [distance, count, place]
        assert block.path(v) == tuple(names[list(path)])
        assert block.vertex[c.DEPTH, v] == len(path)
        if v != root:
            top = int(block.vertex[c.TOP, v])
            assert block.vertex[c.UP, top] == root and set(block.path(top)) <= set(block.path(v))
    # A cycle through a vertex that was kept out is at least twice as long as the way there.
    assert all(beyond <= 2 * way[0] for v, way in expected.items() if v not in near)


@given(blocks_with_ties(), st.integers(0, 8), st.integers(0, 12))
@examples(150, 10_000)
def test_candidates_are_simple_cycles_through_the_root_of_a_length_in_the_window(block, done, span):
    limit = done + span
    for step, search, pool, used, beyond in candidates_of(block, done, limit):
        inside, _ = block.left_at(step)
        root = int(block.vertex[c.ROOTS, step])
        found = list(listed(pool, used))
        for p, cycle in found:
            assert is_simple_cycle(block.edges, cycle)
            assert root in block.edges[:, list(cycle)] and inside[list(cycle)].all()
            assert list(cycle) == sorted(cycle)
            assert done < pool[p + c.LENGTH] <= limit
            assert pool[p + c.LENGTH] == block.keys[list(cycle)].sum()
            assert pool[p + c.EDGES] == block.chain[HOPS, list(cycle)].sum()
            assert pool[p + c.CLOSING] in cycle
            assert pool[p + c.MIDDLE] in block.edges[:, pool[p + c.CLOSING]]
        assert len({cycle for _, cycle in found}) == len(found)
        # The first shortest paths leave one candidate to each edge outside their tree.
        assert len(found) <= inside.sum() - (block.vertex[c.SETTLED] == search).sum() + 1
        assert beyond > done


@given(blocks_with_ties())
@examples(150, 10_000)
def test_the_first_shortest_basis_is_among_the_candidates(block):
    found = {
        cycle
        for _, _, pool, used, _ in candidates_of(block, 0, int(block.keys.sum()))
        for _, cycle in listed(pool, used)
    }
    ordered = sorted(
        simple_cycles(block.edges, block.num_nodes),
        key=lambda cycle: (block.keys[[*cycle]].sum(), block.chain[HOPS, [*cycle]].sum(), cycle),
    )
    assert {ordered[k] for k in independent_mod_2(map(mask_of, ordered))} <= found


def candidates_of(block, done, limit):
    """Grow every tree and close its cycles: step, search, pool, its end, least length beyond."""
    size = block.edges.shape[1]
    words = size // WORD + 1
    label = np.zeros(size * words, dtype=np.uint64)
    paths = np.zeros(max(block.num_nodes, 1) * words, dtype=np.uint64)
    leader = np.empty(block.num_nodes, dtype=np.int64)
    interpreted(first_labels)(block.num_nodes, block.chain, size, leader, label, words)
    for step in range(block.num_roots):
        search = step + 1
        root = int(block.vertex[c.ROOTS, step])
        reached, nearest = block.grow(root, step, search, limit // 2)
        pool = np.full(10_000, -7)
        used, beyond = interpreted(c.close_cycles)(
            root, search, reached, done, limit, size.bit_length(), block.chain, block.starts,
            block.arcs, block.vertex, label, paths, words, pool, 0,
        )  # fmt: skip
        yield step, search, pool, used, min(beyond, nearest)


def listed(pool, used):
    p = 0
    while p < used:
        end = p + c.CHAINS + pool[p + c.SIZE]
        yield p, tuple(pool[p + c.CHAINS : end].tolist())
        p = end
    assert p == used


def test_a_pool_that_is_too_small_is_reported():
    edges = np.array([[0, 0, 1, 0, 1], [1, 2, 2, 3, 3]])
    block = Block(edges, 4, np.ones(5, dtype=np.int64))
    label = np.array([0, 0, 1, 0, 2], dtype=np.uint64)
    reached, _ = block.grow(0, 0, 1, 3)
    for size in range(2 * (c.CHAINS + 3)):
        used, _ = interpreted(c.close_cycles)(
            0, 1, reached, 0, 3, 3, block.chain, block.starts, block.arcs, block.vertex, label,
            np.zeros(4, dtype=np.uint64), 1, np.zeros(size, dtype=np.int64), 0,
        )  # fmt: skip
        assert used == -1


def test_two_triangles_on_one_edge_are_both_found_from_its_end():
    edges = np.array([[0, 0, 1, 0, 1], [1, 2, 2, 3, 3]])
    block = Block(edges, 4, np.ones(5, dtype=np.int64))
    assert block.vertex[c.ROOTS, : block.num_roots].tolist() == [0]
    [(_, _, pool, used, _)] = candidates_of(block, 0, 3)
    assert {cycle for _, cycle in listed(pool, used)} == {(0, 1, 2), (0, 3, 4)}


@given(st.lists(st.integers(-5, 100), max_size=60), st.integers(0, 10), st.integers(0, 10))
def test_runs_are_sorted_in_place_and_the_rest_is_left(numbers, first, spare):
    pool = np.array(numbers, dtype=np.int64)
    first = min(first, pool.size)
    end = max(first, pool.size - spare)
    interpreted(c.sort_run)(first, end, pool)
    assert pool.tolist() == [*numbers[:first], *sorted(numbers[first:end]), *numbers[end:]]


@st.composite
def candidate_pools(draw):
    """Records with many ties, and sizes around what one number can pack."""
    width = draw(st.integers(1, 5))
    chain = st.integers(0, 2**width - 1)
    cycles = draw(st.lists(st.sets(chain, min_size=1, max_size=40).map(sorted), max_size=25))
    pool, order = [], []
    for cycle in cycles:
        fields = [0] * c.CHAINS
        fields[c.LENGTH], fields[c.EDGES] = draw(st.integers(1, 2)), draw(st.integers(1, 2))
        fields[c.SIZE] = len(cycle)
        order.append(len(pool))
        pool += [*fields, *cycle]
    pool = np.array(pool, dtype=np.int64)
    for p in order:
        pool[p + c.PACKED] = interpreted(c._pack)(p + c.CHAINS, pool[p + c.SIZE], width, pool)
    return pool, np.array(order, dtype=np.int64)


@given(candidate_pools())
def test_candidates_are_sorted_by_length_edges_and_lowest_edges(drawn):
    pool, order = drawn

    def key(p):
        # Cycles of one length and number of edges are never parts of each other; the records
        # drawn here may be, and then packing puts the shorter first where it pads with zeros.
        return pool[p + c.LENGTH], pool[p + c.EDGES], pool[p + c.PACKED]

    found, spare = order.copy(), np.empty_like(order)
    interpreted(c.sort_candidates)(found, spare, order.size, pool)
    assert sorted(found) == sorted(order)
    for p, q in itertools.pairwise(found):
        assert key(p) <= key(q)
        assert not interpreted(c.comes_before)(q, p, pool)


@given(st.sets(st.integers(0, 31), min_size=1), st.sets(st.integers(0, 31), min_size=1))
def test_the_order_of_packed_chains_is_the_order_of_the_lowest_chain_not_in_both(one, other):
    if one <= other or other <= one:
        return
    pool = np.array([*sorted(one), *sorted(other)], dtype=np.int64)
    a = interpreted(c._pack)(0, len(one), 6, pool)
    b = interpreted(c._pack)(len(one), len(other), 6, pool)
    if a != b:
        assert (a < b) == (min(one ^ other) in one)


COUNTS = st.one_of(st.integers(0, 10), st.integers(0, SATURATED), st.just(SATURATED))


@pytest.mark.parametrize(
    ("kernel", "exact"),
    [(c.saturating_sum, int.__add__), (c.saturating_product, int.__mul__)],
    ids=["sum", "product"],
)
@given(a=COUNTS, b=COUNTS)
def test_counts_stop_at_the_largest_integer(kernel, exact, a, b):
    assert interpreted(kernel)(np.int64(a), np.int64(b)) == min(exact(a, b), SATURATED)
