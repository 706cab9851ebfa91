"""The three passes behind every shortest cycle basis, over many graphs at once.

`split_into_chains` cuts graphs into blocks and contracts each block to chains, `solve_blocks` finds
the shortest basis of each block, `collect_cycles` writes the cycles of each graph in order, with
signs. Each pass is compiled on its own, which is quicker than one kernel that calls the others.
"""

import numpy as np
from jaxtyping import Int

from cyclenet.topology.blocks import BETTI, BLOCK_ROWS, FIRST, LEADER, find_blocks, list_blocks
from cyclenet.topology.candidates import (
    CHAINS,
    EDGES,
    HEAP_ROWS,
    LENGTH,
    PACKED,
    ROOTS,
    SEEN,
    SETTLED,
    SIZE,
    UP,
    VERTEX_ROWS,
    close_cycles,
    grow_tree,
    removal_order,
    saturating_sum,
    sort_candidates,
    sort_run,
)  # fmt: skip
from cyclenet.topology.chains import CHAIN_ROWS, END, HOPS, KEY, MEMBERS, START, contract
from cyclenet.topology.compiled import ZERO, entry, inlined, inner
from cyclenet.topology.cycle_basis import SATURATED
from cyclenet.topology.elimination import WORD, first_labels, select_independent
from cyclenet.topology.forest import FOREST_ROWS, list_arcs
from cyclenet.topology.memory import require_memory

# Work space for blocks up to this size is allocated once; larger ones can afford their own.
SMALL = 64

# Candidates start with room for this many numbers; memory that is not touched costs nothing.
FIRST_POOL = 1 << 14

# The labels of so few chains take 6 MB at most, which needs no look at what is free.
ALWAYS_GRANTED_CHAINS = 5_000

# A ring is one chain, a theta graph three; every other block has at least four.
THETA_CHAINS = 3

# A block with so few chains has fewer candidates than windows would cost: it takes a single one.
FEW_CHAINS = 16


@inner
def _largest(edge_ptr, num_nodes):
    most_nodes, most_edges = ZERO + 1, ZERO + 1
    for i in range(num_nodes.size):
        most_nodes = max(most_nodes, num_nodes[i])
        most_edges = max(most_edges, edge_ptr[i + 1] - edge_ptr[i])
    return most_nodes, most_edges


@entry
def split_into_chains(tail, head, key, edge_ptr, num_nodes):
    """Blocks of all graphs as chains; a block with one cycle is one chain without branch nodes.

    Returns the first block of each graph, the first chain of each block, its number of branch
    nodes, the table of chains, and their edges (counted within each graph).
    """
    most_nodes, most_edges = _largest(edge_ptr, num_nodes)
    nodes = np.empty((FOREST_ROWS, most_nodes), dtype=np.int64)
    table = np.empty((BLOCK_ROWS, most_edges), dtype=np.int64)
    starts = np.empty(most_nodes + 1, dtype=np.int64)
    arcs = np.empty((2, 2 * most_edges), dtype=np.int64)
    listed = np.empty(most_edges, dtype=np.int64)
    block = np.empty((2, most_edges + 1), dtype=np.int64)
    block_ptr = np.empty(num_nodes.size + 1, dtype=np.int64)
    chain_ptr = np.empty(tail.size + 1, dtype=np.int64)
    branches = np.empty(tail.size, dtype=np.int64)
    chain = np.empty((CHAIN_ROWS, tail.size + 1), dtype=np.int64)
    members = np.empty(tail.size, dtype=np.int64)
    chain[MEMBERS, 0] = 0
    block_ptr[0] = 0
    chain_ptr[0] = 0
    num_chains = ZERO
    total = ZERO
    for i in range(num_nodes.size):
        first, last = edge_ptr[i], edge_ptr[i + 1]
        ends, heads, keys = tail[first:last], head[first:last], key[first:last]
        num_blocks = find_blocks(ends, heads, num_nodes[i], nodes, table, block, starts, arcs)
        list_blocks(ends.size, num_blocks, table, listed, block)
        for b in range(num_blocks):
            if block[BETTI, b] == 1:
                branches[total] = 0
                num_chains = _one_ring(
                    keys, listed, block[FIRST, b], block[FIRST, b + 1], chain, members, num_chains
                )
            else:
                branches[total], num_chains = contract(
                    ends, heads, keys, listed, block[FIRST, b], block[FIRST, b + 1], nodes,
                    table[LEADER], chain, members, num_chains,
                )  # fmt: skip
            total += 1
            chain_ptr[total] = num_chains
        block_ptr[i + 1] = total
    return block_ptr, chain_ptr[: total + 1], branches[:total], chain, members


@inner
def _one_ring(key, listed, first, last, chain, members, num_chains):
    filled = chain[MEMBERS, num_chains]
    length = 0
    for i in range(first, last):
        length += key[listed[i]]
        members[filled + i - first] = listed[i]
    chain[KEY, num_chains] = length
    chain[HOPS, num_chains] = last - first
    chain[MEMBERS, num_chains + 1] = filled + last - first
    return num_chains + 1


def solve_blocks(
    chain: Int[np.ndarray, "rows chains"],
    chain_ptr: Int[np.ndarray, " blocks1"],
    branches: Int[np.ndarray, " blocks"],
    members: Int[np.ndarray, " m"],
    counting: bool,
    max_bytes: int | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Shortest basis of every block, as records of chains, one after the other.

    Where no block needs a search, the searching kernel is not even compiled: that takes most of the
    time of a first call, and most molecules are made of single rings and pairs of fused rings.

    Args:
        chain: The table of chains.
        chain_ptr: Chains of block b are `chain_ptr[b]:chain_ptr[b + 1]`.
        branches: Number of branch nodes of each block.
        members: Edges of the chains.
        counting: Whether to count relevant cycles.
        max_bytes: Refuse to take more memory for labels; None means `default_max_bytes`.

    Raises:
        TooLargeError: If the labels of a block would not fit.

    Returns:
        The records, with the lowest edge of each cycle in place of its packed chains; where the
        records of each block begin; the number of relevant cycles of each block.
    """
    if np.diff(chain_ptr).max(initial=0) <= THETA_CHAINS:
        return _solve_simple_blocks(chain, chain_ptr, branches, members)
    _require_labels(chain_ptr, branches, chain, members.size, max_bytes)
    return _solve_any_blocks(chain, chain_ptr, branches, members, counting)


def _require_labels(
    chain_ptr: Int[np.ndarray, " blocks1"],
    branches: Int[np.ndarray, " blocks"],
    chain: Int[np.ndarray, "rows chains"],
    num_edges: int,
    max_bytes: int | None,
) -> None:
    """Refuse a block whose labels would not fit: one bit per chain or branch node and cycle."""
    if max_bytes is None and chain_ptr[-1] <= ALWAYS_GRANTED_CHAINS:
        return
    chains = np.diff(chain_ptr)
    words = (chains - branches + 1 + 63) // 64
    needed = 8 * words * (chains + branches)
    if needed.size:
        worst = int(np.argmax(needed))
        edges_of_worst = int(chain[HOPS, chain_ptr[worst] : chain_ptr[worst + 1]].sum())
        require_memory(
            "the shortest cycle basis",
            int(needed[worst]),
            num_edges=num_edges,
            largest_block=edges_of_worst,
            hint="a larger `max_bytes`, or fundamental cycles, which need no more than their size",
            max_bytes=max_bytes,
        )


@entry
def _solve_simple_blocks(chain, chain_ptr, branches, members):
    """`solve_blocks` where each block is one ring or three chains between two nodes."""
    found = np.empty(2 * (CHAINS + 2) * branches.size, dtype=np.int64)
    found_ptr = np.empty(branches.size + 1, dtype=np.int64)
    relevant = np.empty(branches.size, dtype=np.int64)
    found_ptr[0] = 0
    filled = ZERO
    for b in range(branches.size):
        first = chain_ptr[b]
        filled, relevant[b] = _solve_simple_block(chain, first, branches[b], found, filled)
        _name_chains(found, found_ptr[b], filled, first, chain, members)
        found_ptr[b + 1] = filled
    return found, found_ptr, relevant


@entry
def _solve_any_blocks(chain, chain_ptr, branches, members, counting):
    """`solve_blocks` where some block needs a search."""
    num_blocks = branches.size
    most_chains, most_vertices = ZERO + 1, ZERO + 1
    for b in range(num_blocks):
        most_chains = max(most_chains, chain_ptr[b + 1] - chain_ptr[b])
        most_vertices = max(most_vertices, branches[b])
    vertex = np.empty((VERTEX_ROWS, most_vertices), dtype=np.int64)
    heap = np.empty((HEAP_ROWS, 2 * most_chains + most_vertices), dtype=np.int64)
    starts = np.empty(most_vertices + 1, dtype=np.int64)
    arcs = np.empty((2, 2 * most_chains), dtype=np.int64)
    own = np.empty((CHAIN_ROWS, most_chains), dtype=np.int64)
    small = np.empty((3, SMALL), dtype=np.uint64)
    listed = np.empty((2, SMALL), dtype=np.int64)
    pool = np.empty(FIRST_POOL, dtype=np.int64)
    found = np.empty(2 * (CHAINS + 2) * num_blocks, dtype=np.int64)
    found_ptr = np.empty(num_blocks + 1, dtype=np.int64)
    relevant = np.empty(num_blocks, dtype=np.int64)
    found_ptr[0] = 0
    filled = ZERO
    for b in range(num_blocks):
        first, last = chain_ptr[b], chain_ptr[b + 1]
        if last - first <= THETA_CHAINS:
            found = room_for(found, filled, 2 * (CHAINS + 2))
            filled, relevant[b] = _solve_simple_block(chain, first, branches[b], found, filled)
        else:
            for i in range(first, last):
                for row in range(MEMBERS):
                    own[row, i - first] = chain[row, i]
            pool, found, filled, relevant[b] = _solve_block(
                branches[b], last - first, own, starts, arcs, vertex, heap, small, listed, pool,
                found, filled, counting,
            )  # fmt: skip
        _name_chains(found, found_ptr[b], filled, first, chain, members)
        found_ptr[b + 1] = filled
    return found, found_ptr, relevant


@inner
def _solve_simple_block(chain, first, branches, found, filled):
    if branches == 0:
        return _write_ring(chain[KEY, first], chain[HOPS, first], found, filled), ZERO + 1
    return _write_theta(chain, first, found, filled)


@inner
def _name_chains(found, start, end, first, chain, members):
    """Number chains across blocks, and put the lowest edge of each cycle in place of PACKED."""
    p = start
    while p < end:
        for i in range(p + CHAINS, p + CHAINS + found[p + SIZE]):
            found[i] += first
        found[p + PACKED] = members[chain[MEMBERS, found[p + CHAINS]]]
        p += CHAINS + found[p + SIZE]


@inner
def room_for(array, filled, size):
    """The buffer with room for `size` more; it at least doubles, so growing is cheap on average."""
    if filled + size <= array.size:
        return array
    longer = np.empty(max(filled + size, 2 * array.size), dtype=np.int64)
    for i in range(filled):
        longer[i] = array[i]
    return longer


@inner
def _write_ring(length, edges, found, filled):
    """The record of a block that is one chain."""
    found[filled + LENGTH] = length
    found[filled + EDGES] = edges
    found[filled + SIZE] = 1
    found[filled + CHAINS] = 0
    return filled + CHAINS + 1


@inner
def _write_theta(chain, first, found, filled):
    """The records of three chains between two nodes: the shortest with each of the others.

    Two fused rings, the commonest block of molecules, need no search. The third cycle is relevant
    if it is no longer than the second, which is so if the two shorter chains tie.
    """
    one, two, three = ZERO, ZERO + 1, ZERO + 2
    if _comes_after(chain, first, one, two):
        one, two = two, one
    if _comes_after(chain, first, two, three):
        two, three = three, two
    if _comes_after(chain, first, one, two):
        one, two = two, one
    for other in (two, three):
        found[filled + LENGTH] = chain[KEY, first + one] + chain[KEY, first + other]
        found[filled + EDGES] = chain[HOPS, first + one] + chain[HOPS, first + other]
        found[filled + SIZE] = 2
        found[filled + CHAINS] = min(one, other)
        found[filled + CHAINS + 1] = max(one, other)
        filled += CHAINS + 2
    return filled, ZERO + 3 if chain[KEY, first + one] == chain[KEY, first + two] else ZERO + 2


@inner
def _comes_after(chain, first, one, other):
    """Whether a chain is longer than another, or as long with more edges or a higher number."""
    one += first
    other += first
    if chain[KEY, one] != chain[KEY, other]:
        return chain[KEY, one] > chain[KEY, other]
    if chain[HOPS, one] != chain[HOPS, other]:
        return chain[HOPS, one] > chain[HOPS, other]
    return one > other


@inner
def _solve_block(
    num_vertices, num_chains, chain, starts, arcs, vertex, heap, small, listed, pool, found, filled,
    counting,
):  # fmt: skip
    """Append the shortest basis of a contracted block to `found`, in order.

    Candidates come in windows of growing length, each half again as long as the last, until the
    basis is complete: long cycles are never looked at where short ones suffice.
    """
    missing = num_chains - num_vertices + 1
    words = (missing + WORD - 1) // WORD
    num_roots, slots, shortest, even, width = prepare_block(
        num_vertices, num_chains, chain, starts, arcs, vertex, heap
    )
    label = _bits(small[0], num_chains * words)
    paths = _bits(small[1], num_vertices * words)
    sums = _bits(small[2], slots * words)
    first_labels(num_vertices, chain, num_chains, vertex[UP], label, words)
    done, limit = ZERO, 3 * shortest
    if num_chains <= FEW_CHAINS:
        for e in range(num_chains):
            limit += chain[KEY, e]
    search = ZERO
    relevant = ZERO
    while missing > 0:
        pool, used, beyond = _window(
            num_roots, search, done, limit, shortest, even, width, chain, starts, arcs, vertex,
            heap, label, paths, words, pool,
        )  # fmt: skip
        search += num_roots
        order, count = _list_records(pool, used, listed[0])
        sort_candidates(order, room_for(listed[1], ZERO, count), count, pool)
        accepted, counted = select_independent(
            order, count, missing, num_chains, pool, label, words, sums, counting
        )
        missing -= accepted
        relevant = saturating_sum(relevant, counted)
        for k in range(accepted):
            size = CHAINS + pool[order[k] + SIZE]
            found = room_for(found, filled, size)
            for i in range(size):
                found[filled + i] = pool[order[k] + i]
            filled += size
        done, limit = limit, max(beyond, limit + limit // 2)
    return pool, found, filled, relevant


@inner
def prepare_block(num_vertices, num_chains, chain, starts, arcs, vertex, heap):
    """Arcs and order of removal of a contracted block, with no search done yet.

    Returns the number of roots, the largest degree, the shortest chain, whether all are as short,
    and the number of bits that hold the number of a chain.
    """
    list_arcs(chain[START], chain[END], num_chains, num_vertices, starts, arcs)
    num_roots = removal_order(num_vertices, starts, arcs, vertex, heap)
    degree = ZERO
    for v in range(num_vertices):
        degree = max(degree, starts[v + 1] - starts[v])
        vertex[SEEN, v] = 0
        vertex[SETTLED, v] = 0
    shortest, longest = SATURATED, ZERO
    for e in range(num_chains):
        shortest = min(shortest, chain[KEY, e])
        longest = max(longest, chain[KEY, e])
    width = ZERO + 1
    while num_chains >> width > 0:
        width += 1
    return num_roots, degree, shortest, shortest == longest, width


@inner
def _window(
    num_roots, search, done, limit, shortest, even, width, chain, starts, arcs, vertex, heap,
    label, paths, words, pool,
):  # fmt: skip
    """Collect the candidates of lengths in (done, limit] from all roots.

    Returns the pool, its end, and a lower bound of the least length beyond the limit.
    """
    used = ZERO
    beyond = SATURATED
    for step in range(num_roots):
        root = vertex[ROOTS, step]
        search += 1
        reached, nearest = grow_tree(
            root, step, search, limit // 2, shortest, even, chain, starts, arcs, vertex, heap
        )
        beyond = min(beyond, nearest)
        end = -1
        while end < 0:
            end, nearest = close_cycles(
                root, search, reached, done, limit, width, chain, starts, arcs, vertex, label,
                paths, words, pool, used,
            )  # fmt: skip
            if end < 0:
                pool = room_for(pool, pool.size, pool.size)
        beyond = min(beyond, nearest)
        used = end
    return pool, used, beyond


@inner
def _bits(small, size):
    return small if size <= small.size else np.empty(size, dtype=np.uint64)


@inner
def _list_records(pool, used, order):
    count = ZERO
    p = ZERO
    while p < used:
        count += 1
        p += CHAINS + pool[p + SIZE]
    order = room_for(order, ZERO, count)
    p = ZERO
    for k in range(count):
        order[k] = p
        p += CHAINS + pool[p + SIZE]
    return order, count


@entry
def collect_cycles(
    tail, head, edge_ptr, num_nodes, block_ptr, chain_ptr, chain, members, found, found_ptr
):
    """The cycles of each graph, shortest first, as edges with signs.

    Returns the first cycle of each graph, the first entry of each cycle, the entries (edges within
    the graph, ascending, and signs), and the length of each cycle.
    """
    num_cycles, entries = _count_cycles(found, found_ptr[block_ptr[num_nodes.size]])
    cycle_ptr = np.empty(num_nodes.size + 1, dtype=np.int64)
    incidence_ptr = np.empty(num_cycles + 1, dtype=np.int64)
    cycle_ptr[0] = 0
    incidence_ptr[0] = 0
    cycle_edges = np.empty(entries, dtype=np.int64)
    cycle_signs = np.empty(entries, dtype=np.int8)
    lengths = np.empty(num_cycles, dtype=np.int64)
    most_nodes, most_edges = _largest(edge_ptr, num_nodes)
    join = np.empty(most_nodes, dtype=np.int64)
    place = np.empty(most_edges, dtype=np.int64)
    order = np.empty((2, num_cycles), dtype=np.int64)
    cycle = ZERO
    for i in range(num_nodes.size):
        ends, heads = tail[edge_ptr[i] : edge_ptr[i + 1]], head[edge_ptr[i] : edge_ptr[i + 1]]
        count = ZERO
        p = found_ptr[block_ptr[i]]
        while p < found_ptr[block_ptr[i + 1]]:
            order[0, count] = p
            count += 1
            p += CHAINS + found[p + SIZE]
        sort_candidates(order[0], order[1], count, found)
        for k in range(count):
            first = incidence_ptr[cycle]
            last = _write_edges(order[0, k], found, chain, members, first, cycle_edges)
            _write_signs(first, last, ends, heads, cycle_edges, cycle_signs, join, place)
            lengths[cycle] = found[order[0, k] + LENGTH]
            cycle += 1
            incidence_ptr[cycle] = last
        cycle_ptr[i + 1] = cycle
    return cycle_ptr, incidence_ptr, cycle_edges, cycle_signs, lengths


@inner
def _count_cycles(found, end):
    cycles = ZERO
    entries = ZERO
    p = ZERO
    while p < end:
        cycles += 1
        entries += found[p + EDGES]
        p += CHAINS + found[p + SIZE]
    return cycles, entries


@inlined
def _write_edges(p, found, chain, members, first, cycle_edges):
    last = first
    for i in range(p + CHAINS, p + CHAINS + found[p + SIZE]):
        for j in range(chain[MEMBERS, found[i]], chain[MEMBERS, found[i] + 1]):
            cycle_edges[last] = members[j]
            last += 1
    sort_run(first, last, cycle_edges)
    return last


@inlined
def _write_signs(first, last, tail, head, cycle_edges, cycle_signs, join, place):
    """Walk the cycle once around, along its lowest edge; `join` leads from one edge to the next."""
    for q in range(first, last):
        e = cycle_edges[q]
        place[e] = q
        join[tail[e]] = 0
        join[head[e]] = 0
    for q in range(first, last):
        e = cycle_edges[q]
        join[tail[e]] ^= e
        join[head[e]] ^= e
    e = cycle_edges[first]
    v = tail[e]
    for _ in range(first, last):
        # Arithmetic, since which way an edge runs is a coin toss to the processor.
        cycle_signs[place[e]] = 1 - 2 * (tail[e] != v)
        v = tail[e] + head[e] - v
        e ^= join[v]
