"""Candidate cycles of a contracted block: few enough to test, and all that can be in the basis.

Every cycle of the shortest basis consists, seen from any of its vertices r, of two shortest paths
and one closing edge (Horton 1987). Ties between paths are broken by the number of edges and then
by the lowest edge in which they differ; that is a weight function under which shortest paths and
the shortest basis are unique (Hartvigsen and Mardon 1994 use such an order), and it makes the
basis the lexicographically first one, however it is computed.

Each cycle needs to be found from one of its vertices only. So the vertices are deleted one by one
(largest remaining degree first, dead ends peeled off, until a forest is left), and the search from
r sees only what is left when r's turn comes: a cycle is met once, at its first vertex to go. Paths
may be longer in the rest than in the graph; the cycles they give depend on shorter ones and fail
the test of independence like any other.
"""

import numpy as np

from cyclenet.topology.chains import HOPS, KEY
from cyclenet.topology.compiled import ZERO, inlined, inner
from cyclenet.topology.cycle_basis import SATURATED
from cyclenet.topology.forest import EDGE, TIP

# Rows of the vertex table. RANK is the step at which a vertex is deleted; UP, VIA, DIST, DEPTH and
# TOP (the child of the root above) describe the tree of the current root; SEEN and SETTLED hold the
# number of the last search that did so; PATHS counts shortest paths.
RANK, DEGREE, DIST, UP, VIA, DEPTH, TOP, SEEN, SETTLED, PLACE, PATHS, ORDER, ROOTS = range(13)
VERTEX_ROWS = 13

# Rows of the heap table, and of the same memory as linked lists while the order is made.
HEAP_KEY, HEAP_ITEM = 0, 1
ITEM, NEXT, BUCKET = 0, 1, 2
HEAP_ROWS = 3

STILL_THERE = np.iinfo(np.int64).max

# A candidate is a run of int64 in one pool: these fields, then its chains, ascending. Candidates
# that share their middle vertex stand together as a group: MEMBERS is the size of the
# group at its first candidate, -1 at the others, 0 for candidates closed by an edge instead.
LENGTH, EDGES, PACKED, SHARE, MEMBERS, BASE, MIDDLE, CLOSING, SIZE, CHAINS = range(10)


@inner
def removal_order(num_vertices, starts, arcs, vertex, heap):
    """Delete vertices by largest remaining degree until a forest is left; returns how many.

    The deleted ones are a feedback vertex set, listed in `ROOTS`. Degrees only fall, so buckets
    of vertices by degree are scanned once from the top; outdated entries are skipped.
    """
    degree = ZERO
    filled = ZERO
    for v in range(num_vertices):
        degree = max(degree, starts[v + 1] - starts[v])
    for d in range(degree + 1):
        heap[BUCKET, d] = -1
    # The last to enter a bucket leaves it first: among equals, the lowest vertex.
    for v in range(num_vertices - 1, -1, -1):
        vertex[RANK, v] = STILL_THERE
        vertex[DEGREE, v] = starts[v + 1] - starts[v]
        filled = _put_in_bucket(v, vertex, heap, filled)
    num_roots = ZERO
    while degree >= 2:
        entry = heap[BUCKET, degree]
        if entry < 0:
            degree -= 1
            continue
        heap[BUCKET, degree] = heap[NEXT, entry]
        v = heap[ITEM, entry]
        if vertex[RANK, v] == STILL_THERE and vertex[DEGREE, v] == degree:
            vertex[ROOTS, num_roots] = v
            filled = _delete(v, num_roots, starts, arcs, vertex, heap, filled)
            num_roots += 1
    return num_roots


@inner
def _put_in_bucket(v, vertex, heap, filled):
    heap[ITEM, filled] = v
    heap[NEXT, filled] = heap[BUCKET, vertex[DEGREE, v]]
    heap[BUCKET, vertex[DEGREE, v]] = filled
    return filled + 1


@inner
def _delete(root, step, starts, arcs, vertex, heap, filled):
    """Delete the root and then whatever is left with fewer than two edges."""
    vertex[RANK, root] = step
    vertex[ORDER, 0] = root
    waiting = 1
    while waiting > 0:
        waiting -= 1
        v = vertex[ORDER, waiting]
        # From the back: here too the lowest of equals enters its bucket last and leaves it first.
        for i in range(starts[v + 1] - 1, starts[v] - 1, -1):
            u = arcs[TIP, i]
            if vertex[RANK, u] != STILL_THERE:
                continue
            vertex[DEGREE, u] -= 1
            if vertex[DEGREE, u] < 2:
                vertex[RANK, u] = step
                vertex[ORDER, waiting] = u
                waiting += 1
            else:
                filled = _put_in_bucket(u, vertex, heap, filled)
    return filled


@inner
def grow_tree(root, step, search, radius, shortest, even, chain, starts, arcs, vertex, heap):
    """Tree of first shortest paths from the root, up to a radius, among vertices still there.

    Where the chains are `even`, all of one length, they fill the heap in order: it is a queue.

    Returns the number of vertices reached, in the order in which they were settled, and a lower
    bound of the length of any cycle through a vertex that the radius kept out.
    """
    vertex[DIST, root] = 0
    vertex[UP, root] = -1
    vertex[VIA, root] = -1
    vertex[SEEN, root] = search
    vertex[PATHS, root] = 1
    size = _push(heap, ZERO, ZERO, root)
    taken = ZERO
    reached = ZERO
    beyond = SATURATED
    while size > taken:
        distance = heap[HEAP_KEY, taken]
        v = heap[HEAP_ITEM, taken]
        if even:
            taken += 1
        else:
            size = _pop(heap, size)
        if vertex[SETTLED, v] == search:
            continue
        _settle(v, root, search, reached, vertex)
        reached += 1
        if distance + shortest > radius:
            beyond = min(beyond, 2 * (distance + shortest))
            continue
        for i in range(starts[v], starts[v + 1]):
            e = arcs[EDGE, i]
            u = arcs[TIP, i]
            if vertex[RANK, u] < step or vertex[SETTLED, u] == search:
                continue
            to_u = distance + chain[KEY, e]
            if to_u > radius:
                beyond = min(beyond, 2 * to_u)
            elif vertex[SEEN, u] != search or to_u < vertex[DIST, u]:
                vertex[SEEN, u] = search
                vertex[DIST, u] = to_u
                vertex[UP, u] = v
                vertex[VIA, u] = e
                vertex[PATHS, u] = vertex[PATHS, v]
                size = _push(heap, size, to_u, u)
            elif to_u == vertex[DIST, u]:
                vertex[PATHS, u] = saturating_sum(vertex[PATHS, u], vertex[PATHS, v])
                if _precedes(v, e, u, chain, vertex):
                    vertex[UP, u] = v
                    vertex[VIA, u] = e
    return reached, beyond


@inner
def _settle(v, root, search, place, vertex):
    vertex[SETTLED, v] = search
    vertex[PLACE, v] = place
    vertex[ORDER, place] = v
    up = vertex[UP, v]
    if v == root:
        vertex[DEPTH, v] = 0
        vertex[TOP, v] = -1
    else:
        vertex[DEPTH, v] = vertex[DEPTH, up] + 1
        vertex[TOP, v] = v if up == root else vertex[TOP, up]


@inner
def _precedes(v, e, u, chain, vertex):
    """Whether the path to u over v and e comes before u's present path of the same length.

    Fewer edges come first, then the path with the lowest edge of those on one path only:
    both are climbed, the longer one first, up to the vertex where they part.
    """
    one, other = v, vertex[UP, u]
    lowest_one, lowest_other = e, vertex[VIA, u]
    hops = chain[HOPS, lowest_one] - chain[HOPS, lowest_other]
    while one != other:
        if vertex[DIST, one] >= vertex[DIST, other]:
            lowest_one = min(lowest_one, vertex[VIA, one])
            hops += chain[HOPS, vertex[VIA, one]]
            one = vertex[UP, one]
        else:
            lowest_other = min(lowest_other, vertex[VIA, other])
            hops -= chain[HOPS, vertex[VIA, other]]
            other = vertex[UP, other]
    return hops < 0 or (hops == 0 and lowest_one < lowest_other)


@inner
def _push(heap, size, key, item):
    i = size
    while i > 0 and heap[HEAP_KEY, (i - 1) >> 1] > key:
        heap[HEAP_KEY, i] = heap[HEAP_KEY, (i - 1) >> 1]
        heap[HEAP_ITEM, i] = heap[HEAP_ITEM, (i - 1) >> 1]
        i = (i - 1) >> 1
    heap[HEAP_KEY, i] = key
    heap[HEAP_ITEM, i] = item
    return size + 1


@inner
def _pop(heap, size):
    size -= 1
    key = heap[HEAP_KEY, size]
    i = 0
    child = 1
    while child < size:
        if child + 1 < size and heap[HEAP_KEY, child + 1] < heap[HEAP_KEY, child]:
            child += 1
        if heap[HEAP_KEY, child] >= key:
            break
        heap[HEAP_KEY, i] = heap[HEAP_KEY, child]
        heap[HEAP_ITEM, i] = heap[HEAP_ITEM, child]
        i = child
        child = 2 * i + 1
    heap[HEAP_KEY, i] = key
    heap[HEAP_ITEM, i] = heap[HEAP_ITEM, size]
    return size


@inner
def close_cycles(
    root, search, reached, done, limit, width, chain, starts, arcs, vertex, label, paths, words,
    pool, used,
):  # fmt: skip
    """Append the candidates closed by an edge of the root's tree, of lengths in (done, limit].

    An edge that ends a shortest path is closed at its later end, where it meets other such edges;
    any other at its earlier end, which lists the candidates nearly in order. A candidate whose
    label is zero depends on shorter cycles already accepted, and is left out.

    Returns the new end of the pool, or -1 where the pool is too small, and the least length
    of a cycle beyond the limit.
    """
    beyond = SATURATED
    for place in range(reached):
        _label_path(vertex[ORDER, place], vertex, label, paths, words)
    for place in range(reached):
        v = vertex[ORDER, place]
        group = -1
        base = vertex[PATHS, vertex[UP, v]] if place > 0 else ZERO
        for i in range(starts[v], starts[v + 1]):
            e = arcs[EDGE, i]
            u = arcs[TIP, i]
            if vertex[SETTLED, u] != search or e == vertex[VIA, v]:
                continue
            tight = abs(vertex[DIST, v] - vertex[DIST, u]) == chain[KEY, e]
            if tight == (vertex[PLACE, u] > place):
                continue
            length = vertex[DIST, v] + vertex[DIST, u] + chain[KEY, e]
            if length > limit:
                beyond = min(beyond, length)
                continue
            if length <= done:
                continue
            apart = vertex[TOP, u] != vertex[TOP, v]
            if not apart or _is_dependent(v, u, e, label, paths, words):
                if tight:
                    base = saturating_sum(base, vertex[PATHS, u])
                continue
            start = used
            used = _append(start, v, u, e, length, width, chain, vertex, pool)
            if used < 0:
                return -1, beyond
            pool[start + MIDDLE] = v
            pool[start + CLOSING] = e
            if not tight:
                pool[start + SHARE] = saturating_product(vertex[PATHS, v], vertex[PATHS, u])
                pool[start + MEMBERS] = 0
            else:
                pool[start + SHARE] = vertex[PATHS, u]
                pool[start + MEMBERS] = -1
                if group < 0:
                    group = start
                    pool[group + MEMBERS] = 0
                pool[group + MEMBERS] += 1
        if group >= 0:
            pool[group + BASE] = base
    return used, beyond


@inner
def _label_path(v, vertex, label, paths, words):
    """Label of the tree path from the root to v."""
    up = vertex[UP, v]
    for w in range(words):
        if up < 0:
            paths[v * words + w] = 0
        else:
            paths[v * words + w] = paths[up * words + w] ^ label[vertex[VIA, v] * words + w]


@inner
def _is_dependent(v, u, e, label, paths, words):
    """Whether the label of the cycle root .. u, e, v .. root is zero."""
    for w in range(words):
        if paths[v * words + w] ^ paths[u * words + w] != label[e * words + w]:
            return False
    return True


@inlined
def _append(start, v, u, e, length, width, chain, vertex, pool):
    """Write the candidate closed by e between v and u; returns its end, or -1 if it has no room."""
    size = vertex[DEPTH, v] + vertex[DEPTH, u] + 1
    if start + CHAINS + size > pool.size:
        return -1
    pool[start + LENGTH] = length
    pool[start + SIZE] = size
    end = start + CHAINS
    pool[end] = e
    end += 1
    for side in (v, u):
        while vertex[UP, side] >= 0:
            pool[end] = vertex[VIA, side]
            end += 1
            side = vertex[UP, side]
    sort_run(start + CHAINS, end, pool)
    edges = 0
    for i in range(start + CHAINS, end):
        edges += chain[HOPS, pool[i]]
    pool[start + EDGES] = edges
    pool[start + PACKED] = _pack(start + CHAINS, size, width, pool)
    return end


@inner
def sort_run(first, end, pool):
    """Sort pool[first:end] in place: Shell's sort, which is insertion sort on short runs."""
    gap = end - first
    while gap > 1:
        gap = 1 if gap < 20 else gap * 4 // 9
        for i in range(first + gap, end):
            item = pool[i]
            j = i
            while j >= first + gap and pool[j - gap] > item:
                pool[j] = pool[j - gap]
                j -= gap
            pool[j] = item


@inlined
def _pack(first, size, width, pool):
    """The lowest chains as the digits of one number: it orders most candidates at once."""
    packed = ZERO
    for i in range(63 // width):
        packed <<= width
        if i < size:
            packed |= pool[first + i]
    return packed


@inner
def saturating_sum(a, b):
    """Sum of two counts, stopping at the largest int64."""
    return SATURATED if a > SATURATED - b else a + b


@inner
def saturating_product(a, b):
    """Product of two counts, stopping at the largest int64."""
    return SATURATED if b > 0 and a > SATURATED // b else a * b


@inner
def comes_before(p, q, pool):
    """The order of candidates: length, number of edges, then the lowest edge not in both."""
    if pool[p + LENGTH] != pool[q + LENGTH]:
        return pool[p + LENGTH] < pool[q + LENGTH]
    if pool[p + EDGES] != pool[q + EDGES]:
        return pool[p + EDGES] < pool[q + EDGES]
    if pool[p + PACKED] != pool[q + PACKED]:
        return pool[p + PACKED] < pool[q + PACKED]
    for i in range(min(pool[p + SIZE], pool[q + SIZE])):
        if pool[p + CHAINS + i] != pool[q + CHAINS + i]:
            return pool[p + CHAINS + i] < pool[q + CHAINS + i]
    return p < q


@inner
def sort_candidates(order, spare, count, pool):
    """Merge sort of the candidates listed in order[:count]; runs that are in order stay put."""
    width = 1
    while width < count:
        for middle in range(width, count, 2 * width):
            if comes_before(order[middle], order[middle - 1], pool):
                last = min(middle + width, count)
                _merge(order, spare, middle - width, middle, last, pool)
        width *= 2


@inlined
def _merge(order, spare, first, middle, last, pool):
    for k in range(first, middle):
        spare[k] = order[k]
    i, j = first, middle
    for k in range(first, last):
        if i == middle:
            break
        if j < last and comes_before(order[j], spare[i], pool):
            order[k] = order[j]
            j += 1
        else:
            order[k] = spare[i]
            i += 1
