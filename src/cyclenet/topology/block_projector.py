"""The cycle projector inside one block: the numbers behind `projector`.

Two routes lead to the same matrix. A block with few independent cycles goes through an orthogonal
basis of them; a block with many goes through its Laplacian. Neither asks how small an eigenvalue
must be to count as zero: the number of cycles is known from counting edges and nodes.
"""

import numpy as np
import scipy.linalg
from jaxtyping import Float, Int

from cyclenet.topology.blocks import BETTI, BLOCK_ROWS, FIRST, find_blocks, list_blocks
from cyclenet.topology.compiled import entry, inner
from cyclenet.topology.forest import FOREST_ROWS, PARENT, PLACE, VIA, fundamental_cycles
from cyclenet.topology.memory import default_max_bytes, require_memory
from cyclenet.topology.selected_inverse import FACTOR_BYTES, eliminate_nodes, selected_inverse

# Blocks with up to this many independent cycles are finished inside the kernel, without the cost
# of calling a library: measured, the two meet near 16 cycles on 45 edges, at 35 us.
SMALL_BETTI = 16

# A basis of g cycles costs g * m^2, a Laplacian of n nodes n^3: measured, they meet between
# n = 5 g and n = 15 g.
NODES_PER_CYCLE = 8

# Further rows of the table of blocks: the edges block by block, and where each stands in its block.
MEMBER, SLOT = 2, 3
GROUP_ROWS = 4

# Columns of what `project_small_blocks` reports about a graph.
PAIRS, LARGEST, NUM_LARGE = 0, 1, 2
REPORT_COLUMNS = 3

# Up to this many nodes a dense inverse is quicker than finding out how sparse it could be.
DENSE_NODES = 500
# Beyond, a factor with more than this share of all pairs is better dense: libraries are good at it.
DENSE_SHARE = 1 / 8

TILE = 64

_cholesky, _inverse_of_cholesky, _solve_triangular = scipy.linalg.get_lapack_funcs(
    ("potrf", "potri", "trtrs"), dtype=np.float64
)


@entry
def project_small_blocks(
    tail, head, edge_ptr, num_nodes, first_graph, last_graph, room, reports, as_matrix, starts_at,
    pair_edges, values,
):  # fmt: skip
    """Projectors of the blocks with few cycles of graphs first_graph..last_graph.

    With no `values` it only counts: row i of `reports` gets the number of in-block pairs of
    graph i, the edges of its largest block, and how many blocks are left to the Laplacian.
    Otherwise the pairs of graph i go to `pair_edges` and `values` from `starts_at[i]` on, block
    by block and row by row; blocks left out keep their place. With `as_matrix` there is one graph
    and `values` is its dense m x m matrix, flattened.

    `room` holds the largest number of nodes, of edges, and of edges in a block.
    """
    nodes = np.empty((FOREST_ROWS, room[0]), dtype=np.int64)
    table = np.empty((BLOCK_ROWS, room[1]), dtype=np.int64)
    starts = np.empty(room[0] + 1, dtype=np.int64)
    arcs = np.empty((2, 2 * room[1]), dtype=np.int64)
    group = np.empty((GROUP_ROWS, room[1] + 1), dtype=np.int64)
    cycles = np.empty((room[2], SMALL_BETTI), dtype=np.float64)
    for i in range(first_graph, last_graph):
        first, last = edge_ptr[i], edge_ptr[i + 1]
        one, other = tail[first:last], head[first:last]
        num_blocks = find_blocks(one, other, num_nodes[i], nodes, table, group, starts, arcs)
        list_blocks(one.size, num_blocks, table, group[MEMBER], group)
        for b in range(num_blocks):
            for k in range(group[FIRST, b], group[FIRST, b + 1]):
                group[SLOT, group[MEMBER, k]] = k - group[FIRST, b]
        if values.size == 0:
            _report(num_blocks, group, reports[i])
            continue
        at = starts_at[i]
        for b in range(num_blocks):
            low, high = group[FIRST, b], group[FIRST, b + 1]
            if not as_matrix:
                _write_pairs(low, high, group, at, pair_edges)
            if group[BETTI, b] <= SMALL_BETTI:
                _write_cycles(one, other, low, high, nodes, group, cycles)
                _make_orthogonal(high - low, group[BETTI, b], cycles)
                if as_matrix:
                    _write_matrix(low, high, one.size, group, cycles, group[BETTI, b], values)
                else:
                    _write_values(high - low, cycles, group[BETTI, b], at, values)
            at += (high - low) ** 2


@inner
def _is_chord(e, tail, head, nodes):
    return nodes[VIA, head[e]] != e and nodes[VIA, tail[e]] != e


@inner
def _report(num_blocks, group, report):
    report[PAIRS] = 0
    report[LARGEST] = 0
    report[NUM_LARGE] = 0
    for b in range(num_blocks):
        size = group[FIRST, b + 1] - group[FIRST, b]
        report[PAIRS] += size * size
        report[LARGEST] = max(report[LARGEST], size)
        if group[BETTI, b] > SMALL_BETTI:
            report[NUM_LARGE] += 1


@inner
def _write_pairs(low, high, group, at, pair_edges):
    for i in range(low, high):
        for j in range(low, high):
            pair_edges[0, at] = group[MEMBER, i]
            pair_edges[1, at] = group[MEMBER, j]
            at += 1


@inner
def _write_cycles(tail, head, low, high, nodes, group, cycles):
    """Each chord of a block with the tree path between its ends, one signed column a chord."""
    column = 0
    for i in range(low, high):
        chord = group[MEMBER, i]
        if not _is_chord(chord, tail, head, nodes):
            continue
        for j in range(high - low):
            cycles[j, column] = 0.0
        cycles[i - low, column] = 1.0
        # The cycle runs along the chord; from its head it climbs, to its tail it descends.
        ahead, behind = head[chord], tail[chord]
        while ahead != behind:
            climbs = nodes[PLACE, ahead] > nodes[PLACE, behind]
            v = ahead if climbs else behind
            e = nodes[VIA, v]
            cycles[group[SLOT, e], column] = 1.0 if (tail[e] == v) == climbs else -1.0
            if climbs:
                ahead = nodes[PARENT, v]
            else:
                behind = nodes[PARENT, v]
        column += 1


@inner
def _make_orthogonal(size, rank, cycles):
    """Gram-Schmidt without square roots: every column minus its parts along the earlier ones.

    Columns keep their own lengths, so that a lone cycle stays a vector of signs and its projector
    is exactly one over its length.
    """
    for k in range(1, rank):
        for j in range(k):
            along = 0.0
            norm = 0.0
            for e in range(size):
                along += cycles[e, k] * cycles[e, j]
                norm += cycles[e, j] * cycles[e, j]
            along /= norm
            for e in range(size):
                cycles[e, k] -= along * cycles[e, j]


@inner
def _scale_for(size, k, cycles):
    norm = 0.0
    for e in range(size):
        norm += cycles[e, k] * cycles[e, k]
    return 1.0 / norm


@inner
def _write_values(size, cycles, rank, at, values):
    for i in range(size * size):
        values[at + i] = 0.0
    for k in range(rank):
        scale = _scale_for(size, k, cycles)
        for e in range(size):
            for f in range(size):
                values[at + e * size + f] += cycles[e, k] * cycles[f, k] * scale


@inner
def _write_matrix(low, high, num_edges, group, cycles, rank, values):
    size = high - low
    for k in range(rank):
        scale = _scale_for(size, k, cycles)
        for e in range(size):
            row = num_edges * group[MEMBER, low + e]
            for f in range(size):
                values[row + group[MEMBER, low + f]] += cycles[e, k] * cycles[f, k] * scale


def project_block(
    edges: Int[np.ndarray, "2 m"],
    betti: int,
    rows: Int[np.ndarray, " m"],
    out: Float[np.ndarray, "p p"],
) -> None:
    """Projector of one block of any size, written to the rows and columns `rows` of `out`.

    Args:
        edges: The edges of the block, with the node names of the graph.
        betti: Number of independent cycles of the block.
        rows: Where each edge goes in `out`.
        out: Receives the entries; the others are left alone.
    """
    nodes, local = np.unique(edges, return_inverse=True)
    local = local.reshape(2, -1)
    if NODES_PER_CYCLE * betti < nodes.size:
        half = orthonormal_cycles(local, nodes.size)
        # A matrix times its own transpose is computed once per pair: exactly symmetric.
        out[np.ix_(rows, rows)] = half.T @ half
    else:
        fill_from_inverse(_laplacian_inverse(local, nodes.size), local, rows, out)


def effective_resistances(
    edges: Int[np.ndarray, "2 m"], num_edges: int, max_bytes: int | None
) -> Float[np.ndarray, " m"]:
    r"""Effective resistance between the ends of every edge of one block.

    $R_e = S_{uu} + S_{vv} - 2 S_{uv}$ for any inverse S of the Laplacian.

    Args:
        edges: The edges of the block, with the node names of the graph.
        num_edges: Number of edges of the graph, for the error.
        max_bytes: The memory limit, as for `require_memory`.

    Returns:
        Numbers in (0, 1], the same for any order of the edges up to rounding.

    Raises:
        TooLargeError: If neither a sparse factor nor a dense inverse would fit.
    """
    nodes, local = np.unique(edges, return_inverse=True)
    tail, head = local = local.reshape(2, -1)
    sparse = None
    if nodes.size > DENSE_NODES:
        limit = default_max_bytes() if max_bytes is None else max_bytes
        most = min(limit // FACTOR_BYTES, int(DENSE_SHARE * nodes.size**2))
        sparse = eliminate_nodes(local, nodes.size, most)
    if sparse is not None:
        at_node, at_edge = selected_inverse(local, sparse)
        return at_node[tail] + at_node[head] - 2.0 * at_edge
    require_memory(
        "the diagonal of the projector",
        8 * nodes.size**2,
        num_edges=num_edges,
        largest_block=edges.shape[1],
        hint="a larger max_bytes; many cycles cross each other in this block",
        max_bytes=max_bytes,
    )
    inverse = _laplacian_inverse(local, nodes.size)
    at_node = inverse.diagonal()
    return at_node[tail] + at_node[head] - 2.0 * inverse[head, tail]


def orthonormal_cycles(edges: Int[np.ndarray, "2 m"], num_nodes: int) -> Float[np.ndarray, "g m"]:
    r"""Orthonormal rows that span the cycle space: $L^{-1} F^\top$ with $F^\top F = L L^\top$.

    F holds fundamental cycles; each has a chord of its own, so no eigenvalue of $F^\top F$ is
    below 1 and its Cholesky factor is safe.

    Args:
        edges: Edges of a block.
        num_nodes: Number of its nodes.

    Returns:
        One row per independent cycle.
    """
    cycles = fundamental_cycles(edges, num_nodes)
    gram = (cycles.T @ cycles).toarray().astype(np.float64)
    factor, status = _cholesky(gram, lower=1)
    assert status == 0, "cycles with chords of their own are independent"
    half, status = _solve_triangular(factor, cycles.T.toarray(order="F"), lower=1)
    assert status == 0, "the factor has a positive diagonal"
    return half


def _laplacian_inverse(edges: Int[np.ndarray, "2 m"], num_nodes: int) -> Float[np.ndarray, "n n"]:
    """Lower triangle of the inverse of a connected graph's Laplacian, made regular."""
    # Adding 1/n to every entry replaces the eigenvalue 0 of the constant vector by 1 and touches
    # no other; differences of entries, which are all that is used, do not see it.
    tail, head = edges
    laplacian = np.full((num_nodes, num_nodes), 1.0 / num_nodes, order="F")
    laplacian[head, tail] -= 1.0
    degree = np.bincount(edges.ravel(), minlength=num_nodes)
    laplacian[np.arange(num_nodes), np.arange(num_nodes)] += degree
    factor, status = _cholesky(laplacian, lower=1, overwrite_a=1, clean=0)
    assert status == 0, "the Laplacian of a connected graph is positive once it is regular"
    inverse, status = _inverse_of_cholesky(factor, lower=1, overwrite_c=1)
    assert status == 0, "the factor has a positive diagonal"
    return inverse


def fill_from_inverse(
    inverse: Float[np.ndarray, "n n"],
    edges: Int[np.ndarray, "2 m"],
    rows: Int[np.ndarray, " m"],
    out: Float[np.ndarray, "p p"],
) -> None:
    r"""Projector entries $[e=f] - b_e^\top S b_f$ from an inverse S of the Laplacian.

    Args:
        inverse: S; its lower triangle is enough.
        edges: Edges of the block, b_e being -1 at the tail of e and +1 at its head.
        rows: Where each edge goes in `out`.
        out: Receives the entries of all pairs of these edges.
    """
    symmetric = np.ascontiguousarray(inverse)
    _mirror(symmetric)
    _gather(symmetric, edges[0], edges[1], rows, out)


@entry
def _mirror(matrix):
    """Copy the lower triangle to the upper one, tile by tile, so that both sides stay in cache."""
    size = matrix.shape[0]
    for top in range(0, size, TILE):
        for left in range(0, top + 1, TILE):
            for i in range(top, min(size, top + TILE)):
                for j in range(left, min(i, left + TILE)):
                    matrix[j, i] = matrix[i, j]


@entry
def _gather(inverse, tail, head, rows, out):
    """Four entries of the inverse for every pair of edges; the sum is the same both ways round."""
    size = tail.size
    for top in range(0, size, TILE):
        for left in range(0, top + 1, TILE):
            for e in range(top, min(size, top + TILE)):
                at_tail, at_head = inverse[tail[e]], inverse[head[e]]
                for f in range(left, min(e + 1, left + TILE)):
                    value = (at_tail[head[f]] + at_head[tail[f]]) - (
                        at_tail[tail[f]] + at_head[head[f]]
                    )
                    if e == f:
                        value += 1.0
                    out[rows[e], rows[f]] = value
                    out[rows[f], rows[e]] = value
