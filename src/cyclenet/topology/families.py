"""Listing relevant cycles family by family: every choice among equally short paths is one cycle."""

import numpy as np

from cyclenet.topology.basis_kernels import prepare_block, room_for
from cyclenet.topology.candidates import (
    CHAINS,
    CLOSING,
    DIST,
    EDGES,
    HEAP_ROWS,
    LENGTH,
    MIDDLE,
    PACKED,
    PLACE,
    ROOTS,
    SETTLED,
    SIZE,
    UP,
    VERTEX_ROWS,
    close_cycles,
    grow_tree,
    sort_run,
)  # fmt: skip
from cyclenet.topology.candidates import MEMBERS as IN_GROUP
from cyclenet.topology.chains import CHAIN_ROWS, HOPS, KEY, MEMBERS
from cyclenet.topology.compiled import ZERO, entry, inner
from cyclenet.topology.elimination import WORD, accept, first_labels, label_candidate
from cyclenet.topology.forest import EDGE, TIP

# Rows of the path table: the vertices of a path from its end up to the root, and the arc taken from
# each. Two paths take two sets of rows.
VERTEX, ARC = 0, 1
PATH_ROWS = 4


@entry
def list_relevant(chain, chain_ptr, branches, members, found, found_ptr):
    """All relevant cycles of every block, as records of chains like those of `solve_blocks`.

    `found` holds the shortest basis. Length by length, the candidates that do not depend on
    shorter cycles are spread out into their families, then the basis cycles of that length are
    accepted.
    """
    most_chains, most_vertices = ZERO + 1, ZERO + 1
    for b in range(branches.size):
        most_chains = max(most_chains, chain_ptr[b + 1] - chain_ptr[b])
        most_vertices = max(most_vertices, branches[b])
    vertex = np.empty((VERTEX_ROWS, most_vertices), dtype=np.int64)
    heap = np.empty((HEAP_ROWS, 2 * most_chains + most_vertices), dtype=np.int64)
    starts = np.empty(most_vertices + 1, dtype=np.int64)
    arcs = np.empty((2, 2 * most_chains), dtype=np.int64)
    own = np.empty((CHAIN_ROWS, most_chains), dtype=np.int64)
    walk = np.empty((PATH_ROWS, most_vertices + 1), dtype=np.int64)
    listing = np.empty(1024, dtype=np.int64)
    listing_ptr = np.empty(branches.size + 1, dtype=np.int64)
    listing_ptr[0] = 0
    filled = ZERO
    for b in range(branches.size):
        first, last = chain_ptr[b], chain_ptr[b + 1]
        start = filled
        if last - first == 1:
            listing = room_for(listing, filled, CHAINS + 1)
            for i in range(CHAINS + 1):
                listing[filled + i] = found[found_ptr[b] + i]
            filled += CHAINS + 1
        else:
            for i in range(first, last):
                for row in range(MEMBERS):
                    own[row, i - first] = chain[row, i]
            listing, filled = _list_block(
                branches[b], last - first, first, own, starts, arcs, vertex, heap, walk, found,
                found_ptr[b], found_ptr[b + 1], listing, filled,
            )  # fmt: skip
            _name_chains(listing, start, filled, first, chain, members)
        listing_ptr[b + 1] = filled
    return listing, listing_ptr


@inner
def _name_chains(listing, start, end, first, chain, members):
    """Number chains across blocks, and put the lowest edge of each cycle in place of PACKED."""
    p = start
    while p < end:
        sort_run(p + CHAINS, p + CHAINS + listing[p + SIZE], listing)
        listing[p + EDGES] = 0
        for i in range(p + CHAINS, p + CHAINS + listing[p + SIZE]):
            listing[i] += first
            listing[p + EDGES] += chain[HOPS, listing[i]]
        listing[p + PACKED] = members[chain[MEMBERS, listing[p + CHAINS]]]
        p += CHAINS + listing[p + SIZE]


@inner
def _list_block(
    num_vertices, num_chains, first, chain, starts, arcs, vertex, heap, walk, found, start, end,
    listing, filled,
):  # fmt: skip
    words = (num_chains - num_vertices + WORD) // WORD
    num_roots, degree, shortest, even, width = prepare_block(
        num_vertices, num_chains, chain, starts, arcs, vertex, heap
    )
    label = np.empty(num_chains * words, dtype=np.uint64)
    paths = np.empty(num_vertices * words, dtype=np.uint64)
    sums = np.empty(degree * words, dtype=np.uint64)
    first_labels(num_vertices, chain, num_chains, vertex[UP], label, words)
    pool = np.empty(1024, dtype=np.int64)
    search = ZERO
    p = start
    while p < end:
        length = found[p + LENGTH]
        for step in range(num_roots):
            root = vertex[ROOTS, step]
            search += 1
            reached, _ = grow_tree(
                root, step, search, length // 2, shortest, even, chain, starts, arcs, vertex, heap
            )
            used = ZERO - 1
            while used < 0:
                used, _ = close_cycles(
                    root, search, reached, length - 1, length, width, chain, starts, arcs, vertex,
                    label, paths, words, pool, ZERO,
                )  # fmt: skip
                if used < 0:
                    pool = room_for(pool, pool.size, pool.size)
            listing, filled = _spread_out(
                root, search, length, used, chain, starts, arcs, vertex, walk, pool, label, words,
                sums, listing, filled,
            )  # fmt: skip
        while p < end and found[p + LENGTH] == length:
            _localise(p, found, first)
            if label_candidate(p, found, label, words, sums, ZERO):
                accept(num_chains, label, words, sums)
            _localise(p, found, -first)
            p += CHAINS + found[p + SIZE]
    return listing, filled


@inner
def _localise(p, found, first):
    for i in range(p + CHAINS, p + CHAINS + found[p + SIZE]):
        found[i] -= first


@inner
def _spread_out(
    root, search, length, used, chain, starts, arcs, vertex, walk, pool, label, words, sums,
    listing, filled,
):  # fmt: skip
    """List the families of one root: closed by one edge, or by two that meet in the middle."""
    p = ZERO
    while p < used:
        v, e = pool[p + MIDDLE], pool[p + CLOSING]
        if pool[p + IN_GROUP] == 0:
            u = _tip(v, e, starts, arcs)
            listing, filled = _list_pairs(
                root, search, length, v, ZERO - 1, u, e, chain, starts, arcs, vertex, walk, listing,
                filled,
            )  # fmt: skip
        elif pool[p + IN_GROUP] > 0:
            listing, filled = _list_group(
                root, search, length, p, chain, starts, arcs, vertex, walk, pool, label, words,
                sums, listing, filled,
            )  # fmt: skip
        p += CHAINS + pool[p + SIZE]
    return listing, filled


@inner
def _list_group(
    root, search, length, p, chain, starts, arcs, vertex, walk, pool, label, words, sums,
    listing, filled,
):  # fmt: skip
    """Pairs of last edges into one middle vertex whose labels differ.

    Labelled edges are those of the group; all other last edges of shortest paths have label zero.
    """
    v = pool[p + MIDDLE]
    first, last = starts[v], starts[v + 1]
    for i in range(first, last):
        slot_i = _slot_of(arcs[EDGE, i], p, pool, label, words, sums)
        if not _is_tight(v, i, search, chain, arcs, vertex):
            continue
        for j in range(first, i):
            if not _is_tight(v, j, search, chain, arcs, vertex):
                continue
            slot_j = _slot_of(arcs[EDGE, j], p, pool, label, words, sums)
            if _labels_differ(slot_i, slot_j, words, sums):
                listing, filled = _list_pairs(
                    root, search, length, arcs[TIP, i], arcs[EDGE, i], arcs[TIP, j], arcs[EDGE, j],
                    chain, starts, arcs, vertex, walk, listing, filled,
                )  # fmt: skip
    return listing, filled


@inner
def _slot_of(e, p, pool, label, words, sums):
    """Slot of the edge in the group, with its label written there; -1 if its label is zero."""
    slot = ZERO
    remaining = pool[p + IN_GROUP]
    q = p
    while remaining > 0:
        if pool[q + IN_GROUP] != 0:
            if pool[q + CLOSING] == e:
                label_candidate(q, pool, label, words, sums, slot)
                return slot
            slot += 1
            remaining -= 1
        q += CHAINS + pool[q + SIZE]
    return ZERO - 1


@inner
def _labels_differ(one, other, words, sums):
    if one < 0 or other < 0:
        return one != other
    for w in range(words):
        if sums[one * words + w] != sums[other * words + w]:
            return True
    return False


@inner
def _is_tight(v, i, search, chain, arcs, vertex):
    """Whether arc i out of v leads back along a shortest path from the root."""
    u = arcs[TIP, i]
    if vertex[SETTLED, u] != search or vertex[PLACE, u] > vertex[PLACE, v]:
        return False
    return vertex[DIST, u] + chain[KEY, arcs[EDGE, i]] == vertex[DIST, v]


@inner
def _tip(v, e, starts, arcs):
    i = starts[v]
    while arcs[EDGE, i] != e:
        i += 1
    return arcs[TIP, i]


@inner
def _list_pairs(
    root, search, length, one, edge_one, other, edge_other, chain, starts, arcs, vertex, walk,
    listing, filled,
):  # fmt: skip
    """One cycle for each two shortest paths to the two ends, with the edges that close them."""
    walk[VERTEX, 0] = one
    walk[ARC, 0] = starts[one] - 1
    size_one = _next_path(0, ZERO, root, search, chain, starts, arcs, vertex, walk)
    while size_one >= 0:
        walk[2 + VERTEX, 0] = other
        walk[2 + ARC, 0] = starts[other] - 1
        size_other = _next_path(2, ZERO, root, search, chain, starts, arcs, vertex, walk)
        while size_other >= 0:
            size = size_one + size_other + 1 + (edge_one >= 0)
            listing = room_for(listing, filled, CHAINS + size)
            listing[filled + LENGTH] = length
            listing[filled + SIZE] = size
            q = filled + CHAINS
            for k in range(size_one):
                listing[q + k] = arcs[EDGE, walk[ARC, k]]
            q += size_one
            for k in range(size_other):
                listing[q + k] = arcs[EDGE, walk[2 + ARC, k]]
            q += size_other
            listing[q] = edge_other
            if edge_one >= 0:
                listing[q + 1] = edge_one
            filled += CHAINS + size
            size_other = _next_path(
                2, size_other - 1, root, search, chain, starts, arcs, vertex, walk
            )
        size_one = _next_path(0, size_one - 1, root, search, chain, starts, arcs, vertex, walk)
    return listing, filled


@inner
def _next_path(side, depth, root, search, chain, starts, arcs, vertex, walk):
    """The next shortest path up to the root, changing the arc taken at `depth` or before.

    Returns the number of its arcs, or -1 after the last one. The path of a root to itself has none
    and comes once.
    """
    if walk[side + VERTEX, 0] == root:
        # The first call comes with the arc before the first; any later one with depth -1.
        return ZERO if depth == 0 else ZERO - 1
    while depth >= 0:
        v = walk[side + VERTEX, depth]
        i = walk[side + ARC, depth] + 1
        while i < starts[v + 1] and not _is_tight(v, i, search, chain, arcs, vertex):
            i += 1
        if i == starts[v + 1]:
            depth -= 1
            continue
        walk[side + ARC, depth] = i
        depth += 1
        walk[side + VERTEX, depth] = arcs[TIP, i]
        if arcs[TIP, i] == root:
            return depth
        walk[side + ARC, depth] = starts[arcs[TIP, i]] - 1
    return ZERO - 1
