"""Entries of the inverse of a sparse Laplacian, only where they are asked for.

The inverse of a sparse matrix is full, but its entries on the edges of the graph can be had without
the others: eliminate the nodes in an order that joins few new pairs of neighbours, and go
through the factor backwards (Takahashi, Fagan and Chin 1973). The pairs of neighbours are
found first, without any numbers, so that the memory is known before it is taken.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from cyclenet.topology.compiled import ZERO, entry, inner

# A pair of the factor takes its row (twice while sorting), its value, and that of the inverse.
FACTOR_BYTES = 40

# Rows of the node table of the elimination. An eliminated node is an element: the set of nodes it
# has joined, listed from BEGIN on. Lists of nodes of equal degree are doubly linked. A waiting node
# remembers the ELEMENTS it belongs to and, behind them, the NEIGHBOURS it is joined to directly.
PLACE, BEGIN, SIZE, DEGREE, NEXT, PREVIOUS, ELEMENTS, NEIGHBOURS, STAMP, SEEN, OUTSIDE = range(11)
NODE_ROWS = 11

WAITING = -1
ABSORBED = -1


class Elimination(NamedTuple):
    """An order in which to eliminate the nodes, and the neighbours each one has by then.

    Args:
        order: The nodes, first eliminated first.
        ptr: Neighbours of the i-th node are `rows[ptr[i]:ptr[i + 1]]`.
        rows: Places in the order, ascending for each node.
    """

    order: Int[np.ndarray, " n"]
    ptr: Int[np.ndarray, " n1"]
    rows: Int[np.ndarray, " z"]


def eliminate_nodes(
    edges: Int[np.ndarray, "2 m"], num_nodes: int, max_pairs: int
) -> Elimination | None:
    """Eliminate the nodes of a graph, the one with the fewest neighbours first.

    Eliminating a node joins all its neighbours with each other. Finding an order that joins the
    fewest pairs is hard; taking a node of least (approximate) degree each time is good in practice
    (Amestoy, Davis and Duff 1996), and for a tree it joins none.

    Args:
        edges: Undirected edges, each once.
        num_nodes: Number of nodes.
        max_pairs: Give up when there would be more neighbours than this in all.

    Returns:
        The elimination, or None if it was given up.
    """
    ends = np.concatenate((edges, edges[::-1]), axis=1)
    by_node = np.argsort(ends[0], kind="stable")
    around = ends[1][by_node]
    starts = np.concatenate(([0], np.cumsum(np.bincount(ends[0], minlength=num_nodes))))
    nodes = np.empty((NODE_ROWS, num_nodes), dtype=np.int64)
    order = np.empty(num_nodes, dtype=np.int64)
    rows, used = _minimum_degree(starts, around, nodes, order, max_pairs)
    if used < 0:
        return None
    place, size = nodes[PLACE], nodes[SIZE][order]
    ptr = np.concatenate(([0], np.cumsum(size)))
    # Elements were written in the order of elimination: only the names have to change.
    column = np.repeat(np.arange(num_nodes), size)
    renamed = place[rows[:used]]
    return Elimination(order, ptr, renamed[np.lexsort((renamed, column))])


def selected_inverse(
    edges: Int[np.ndarray, "2 m"], elimination: Elimination
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " m"]]:
    r"""Diagonal and edge entries of the inverse of a connected graph's grounded Laplacian.

    The Laplacian gets 1 added at the node eliminated last, which grounds it; with the factor
    $L D L^\top$ the inverse Z obeys $Z = L^{-\top} D^{-1} + Z (I - L)$, whose part on the
    pattern of L involves nothing outside the pattern.

    Args:
        edges: Undirected edges, each once, of a connected graph.
        elimination: From `eliminate_nodes` for the same edges.

    Returns:
        The entries at every node, and at the two ends of every edge.
    """
    order, ptr, rows = elimination
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    first, second = np.sort(place[edges], axis=0)
    diagonal = np.bincount(edges.ravel(), minlength=order.size).astype(np.float64)[order]
    diagonal[-1] += 1.0
    values = np.zeros(rows.size)
    spot = _spots(ptr, rows, first, second)
    values[spot] = -1.0
    _factorise(ptr, rows, values, diagonal)
    inverse = np.empty_like(values)
    inverse_diagonal = np.empty_like(diagonal)
    _go_back(ptr, rows, values, diagonal, inverse, inverse_diagonal)
    return inverse_diagonal[place], inverse[spot]


@entry
def _minimum_degree(starts, around, nodes, order, max_pairs):
    """Eliminate all nodes; returns the neighbours of each, and how many in all or -1 to give up."""
    # The graph of what is left is never built: what a waiting node remembers fits in the place its
    # first neighbours had, since every new element replaces at least one entry.
    num_nodes = order.size
    heads = np.full(num_nodes + 1, -1)
    rows = np.empty(max(16, 2 * around.size), dtype=np.int64)
    spare = np.empty(num_nodes + 1, dtype=np.int64)
    for v in range(num_nodes):
        nodes[PLACE, v] = WAITING
        nodes[STAMP, v] = -1
        nodes[SEEN, v] = -1
        nodes[ELEMENTS, v] = 0
        nodes[NEIGHBOURS, v] = starts[v + 1] - starts[v]
        _file(v, nodes[NEIGHBOURS, v], nodes, heads)
    used = ZERO
    least = 0
    for step in range(num_nodes):
        while heads[least] < 0:
            least += 1
        pivot = heads[least]
        _unfile(pivot, nodes, heads)
        if used + num_nodes - step > rows.size:
            longer = np.empty(2 * rows.size + num_nodes, dtype=np.int64)
            longer[:used] = rows[:used]
            rows = longer
        end = _join(pivot, starts, around, nodes, rows, used)
        # The neighbours are joined with each other now: that many pairs are certain to come.
        size = end - used
        if end + size * (size - 1) // 2 > max_pairs:
            return rows, -1
        order[step] = pivot
        nodes[PLACE, pivot] = step
        nodes[BEGIN, pivot] = used
        nodes[SIZE, pivot] = size
        _count_outside(pivot, used, end, starts, around, nodes, rows)
        for i in range(used, end):
            v = rows[i]
            _unfile(v, nodes, heads)
            degree = size - 1 + _update(v, pivot, starts, around, nodes, spare)
            degree = min(degree, num_nodes - step - 2)
            _file(v, degree, nodes, heads)
            least = min(least, degree)
        used = end
    return rows, used


@inner
def _file(v, degree, nodes, heads):
    nodes[DEGREE, v] = degree
    nodes[PREVIOUS, v] = -1
    nodes[NEXT, v] = heads[degree]
    if heads[degree] >= 0:
        nodes[PREVIOUS, heads[degree]] = v
    heads[degree] = v


@inner
def _unfile(v, nodes, heads):
    before, after = nodes[PREVIOUS, v], nodes[NEXT, v]
    if before >= 0:
        nodes[NEXT, before] = after
    else:
        heads[nodes[DEGREE, v]] = after
    if after >= 0:
        nodes[PREVIOUS, after] = before


@inner
def _join(pivot, starts, around, nodes, rows, used):
    """Write the neighbours of the pivot to `rows[used:]`; the elements it was in are absorbed."""
    nodes[STAMP, pivot] = pivot
    middle = starts[pivot] + nodes[ELEMENTS, pivot]
    for i in range(starts[pivot], middle):
        first = nodes[BEGIN, around[i]]
        nodes[BEGIN, around[i]] = ABSORBED
        for j in range(first, first + nodes[SIZE, around[i]]):
            if nodes[STAMP, rows[j]] != pivot:
                nodes[STAMP, rows[j]] = pivot
                rows[used] = rows[j]
                used += 1
    for i in range(middle, middle + nodes[NEIGHBOURS, pivot]):
        v = around[i]
        if nodes[STAMP, v] != pivot:
            nodes[STAMP, v] = pivot
            rows[used] = v
            used += 1
    return used


@inner
def _count_outside(pivot, first, last, starts, around, nodes, rows):
    """For every element that meets the new one, how many of its nodes lie outside the new one."""
    for i in range(first, last):
        v = rows[i]
        for j in range(starts[v], starts[v] + nodes[ELEMENTS, v]):
            element = around[j]
            if nodes[SEEN, element] != pivot:
                nodes[SEEN, element] = pivot
                nodes[OUTSIDE, element] = nodes[SIZE, element]
            nodes[OUTSIDE, element] -= 1


@inner
def _update(v, pivot, starts, around, nodes, spare):
    """What node v remembers after the pivot; returns a bound of its degree outside the pivot."""
    # Absorbed elements and neighbours inside the new element are forgotten, and an element that
    # lies wholly inside the new one is absorbed too.
    begin = starts[v]
    middle = begin + nodes[ELEMENTS, v]
    end = middle + nodes[NEIGHBOURS, v]
    kept = 0
    degree = 0
    for i in range(begin, middle):
        element = around[i]
        if nodes[BEGIN, element] == ABSORBED:
            continue
        if nodes[OUTSIDE, element] == 0:
            nodes[BEGIN, element] = ABSORBED
            continue
        spare[kept] = element
        kept += 1
        degree += nodes[OUTSIDE, element]
    spare[kept] = pivot
    kept += 1
    nodes[ELEMENTS, v] = kept
    for i in range(middle, end):
        if nodes[STAMP, around[i]] != pivot:
            spare[kept] = around[i]
            kept += 1
    nodes[NEIGHBOURS, v] = kept - nodes[ELEMENTS, v]
    for i in range(kept):
        around[begin + i] = spare[i]
    return degree + nodes[NEIGHBOURS, v]


def _spots(
    ptr: Int[np.ndarray, " n1"],
    rows: Int[np.ndarray, " z"],
    first: Int[np.ndarray, " m"],
    second: Int[np.ndarray, " m"],
) -> Int[np.ndarray, " m"]:
    """Where the pattern holds row `second` of column `first`, for every edge."""
    num_nodes = ptr.size - 1
    keys = np.repeat(np.arange(num_nodes), np.diff(ptr)) * num_nodes + rows
    return np.searchsorted(keys, first * num_nodes + second)


@entry
def _factorise(ptr, rows, values, diagonal):
    """Replace a matrix by its factors L D L^T in place, one column after the other.

    A column is changed by the earlier columns that have an entry in its row. Each column waits in
    the list of the next row it has an entry in, so that they are at hand when the row comes.
    """
    num_nodes = diagonal.size
    column = np.zeros(num_nodes)
    waiting = np.full(num_nodes, -1)
    follows = np.full(num_nodes, -1)
    reached = ptr[:-1].copy()
    for j in range(num_nodes):
        for p in range(ptr[j], ptr[j + 1]):
            column[rows[p]] = values[p]
        k = waiting[j]
        while k >= 0:
            after = follows[k]
            p = reached[k]
            factor = values[p]
            scaled = factor * diagonal[k]
            diagonal[j] -= factor * scaled
            for q in range(p + 1, ptr[k + 1]):
                column[rows[q]] -= values[q] * scaled
            _wait(k, p + 1, ptr, rows, reached, waiting, follows)
            k = after
        for p in range(ptr[j], ptr[j + 1]):
            values[p] = column[rows[p]] / diagonal[j]
        _wait(j, ptr[j], ptr, rows, reached, waiting, follows)


@inner
def _wait(k, p, ptr, rows, reached, waiting, follows):
    reached[k] = p
    if p < ptr[k + 1]:
        follows[k] = waiting[rows[p]]
        waiting[rows[p]] = k


@entry
def _go_back(ptr, rows, values, diagonal, inverse, inverse_diagonal):
    """Entries of the inverse on the pattern of L, from the last column to the first.

    The rows of a column are joined with each other, so the pattern holds every entry needed.
    """
    num_nodes = diagonal.size
    factor = np.zeros(num_nodes)
    total = np.zeros(num_nodes)
    for j in range(num_nodes - 1, -1, -1):
        first, last = ptr[j], ptr[j + 1]
        for p in range(first, last):
            factor[rows[p]] = values[p]
            total[rows[p]] = inverse_diagonal[rows[p]] * values[p]
        for p in range(first, last):
            k = rows[p]
            for q in range(ptr[k], ptr[k + 1]):
                i = rows[q]
                # Every entry of the factor is a sum of negative numbers, so 0 means no entry.
                if factor[i] != 0.0:
                    total[i] += inverse[q] * values[p]
                    total[k] += inverse[q] * factor[i]
        inverse_diagonal[j] = 1.0 / diagonal[j]
        for p in range(first, last):
            inverse[p] = -total[rows[p]]
            inverse_diagonal[j] -= inverse[p] * values[p]
            factor[rows[p]] = 0.0
