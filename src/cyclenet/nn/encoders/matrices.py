r"""The matrices that the projector encoder reads, as lists of entries or as contractions alone.

With P on edges, the projector on arcs is $[a = b] - s_a s_b (I - P)[e_a, e_b] / 2$: on pairs of
edges its sheets are $([e = f] \pm P_{ef}) / 2$, upper sign for arcs that run the same way. All its
rows sum to 1. The Hodge Laplacian of the arcs has the sheets $\pm L_{ef}$, and rows that sum to 0.
"""

from typing import Literal, NamedTuple

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from cyclenet.data import CycleData
from cyclenet.nn.encoders.encoder import numbers_of
from cyclenet.nn.layers.equivariant import Contractions, PairIndex
from cyclenet.nn.layers.pooling import repeated, sum_pool

Source = Literal["projector", "hodge", "harmonic", "filled_hodge"]


class Matrix(NamedTuple):
    """Which matrix: a projector or a Hodge Laplacian, and how its signs are read.

    Args:
        source: ``"projector"`` or ``"hodge"``, of the graph; ``"harmonic"`` or ``"filled_hodge"``,
            of the complex with its faces.
        on: ``"arcs"``, ``"abs"`` or ``"single"``; see `ProjectorEncoder`.
    """

    source: Source
    on: Literal["arcs", "abs", "single"]

    @property
    def is_projector(self) -> bool:
        """Whether its entries are those of a projector."""
        return self.source in ("projector", "harmonic")

    @property
    def sheets(self) -> int:
        """Entries for each pair of edges."""
        return 2 if self.on == "arcs" else 1


def pair_index(batch: CycleData, sheets: int) -> PairIndex:
    """All pairs of edges of each graph, graph by graph and row by row.

    Args:
        batch: The graphs.
        sheets: Entries for each pair.

    Returns:
        Where the entry of each pair stands.
    """
    graph, count, filled = batch.graph_of("edges"), batch.num_joined, batch.has_filler
    sizes = graph.new_zeros(count).index_add(0, graph, torch.ones_like(graph))
    first = sizes.cumsum(0) - sizes
    if filled:  # of the filler only the last edge has pairs, and all of them are one
        sizes = torch.cat((sizes[:-1], sizes.new_zeros(1)))
    before = sizes.square().cumsum(0) - sizes.square()
    edge = torch.arange(graph.size(0), device=graph.device)
    inside = edge - first[graph]
    start = before[graph] + inside * sizes[graph]  # where the row of an edge begins
    rows = repeated(sizes[graph], batch.known_rows("edge_pairs"), fill=filled)
    entry = torch.arange(rows.size(0), device=rows.device)
    columns = first[graph[rows]] + entry - start[rows]
    diagonal = start + inside
    if filled:
        of_filler = graph == count - 1
        columns = torch.where(of_filler[rows], rows, columns)
        diagonal = torch.where(of_filler, start, diagonal)
    transposed = start[columns] + inside[rows]
    if filled:
        transposed = torch.where(of_filler[rows], entry, transposed)
    return PairIndex(rows, columns, diagonal, transposed, graph, count, sheets)


def entries_of(
    matrix: Matrix, batch: CycleData, index: PairIndex, dtype: torch.dtype
) -> Float[Tensor, "p s 1"]:
    """The entries of the matrix of each graph.

    Args:
        matrix: Which one.
        batch: The graphs.
        index: All pairs of edges.
        dtype: Type of the entries.

    Returns:
        One row for each pair, one column for each sheet.
    """
    build = _projector_entries if matrix.source == "projector" else _hodge_entries
    signed = build(batch, index).to(dtype)
    if matrix.on == "single":
        sheets = [signed + 1]  # the published network adds 1 to tell entries from its padding
    elif matrix.on == "abs":
        sheets = [signed.abs()]
    elif not matrix.is_projector:
        sheets = [signed, -signed]
    else:
        equal = torch.zeros_like(signed).index_fill(0, index.diagonal, 1)
        sheets = [(equal + signed) / 2, (equal - signed) / 2]
    return torch.stack(sheets, dim=1).unsqueeze(2)


def even_scale(entries: Float[Tensor, "p s 1"], index: PairIndex) -> Float[Tensor, "p s 1"]:
    """The same matrices with entries of one size: off the diagonal times the root of the side.

    A row of a projector has norm 1 at most, so its entries shrink as the graph grows, and those on
    the diagonal do not. Layers that bend at zero need entries on both sides of it.

    Args:
        entries: The matrices.
        index: Where the entries stand.

    Returns:
        The scaled matrices.
    """
    roots = index.sizes.to(entries.dtype).sqrt()[index.graph]
    scale = roots.index_select(0, index.rows).index_fill(0, index.diagonal, 1)
    return entries * scale.unsqueeze(2)


def contractions_of(matrix: Matrix, batch: CycleData, dtype: torch.dtype) -> Contractions:
    """The five contractions of the matrix of each graph, without the matrix.

    Args:
        matrix: Which one.
        batch: The graphs.
        dtype: Type of the numbers.

    Returns:
        What `contract` would return for the entries.
    """
    diagonal, signed, absolute = _sums_of(matrix.source, batch).to(dtype).split(1, dim=1)
    graph, count = batch.graph_of("edges"), batch.num_joined
    edges = sum_pool(torch.ones_like(diagonal), graph, count).clamp(min=1)
    sizes = edges * matrix.sheets
    if matrix.on == "abs":
        rows = absolute
    elif matrix.on == "single":
        # One is added to every entry.
        diagonal, rows = diagonal + 1, signed + edges[graph]
    elif not matrix.is_projector:
        rows = torch.zeros_like(diagonal)
    else:
        diagonal, rows = (1 + diagonal) / 2, torch.ones_like(diagonal)
    trace = sum_pool(diagonal, graph, count) * matrix.sheets / sizes
    total = sum_pool(rows, graph, count) * matrix.sheets / sizes.square()
    rows = rows / sizes[graph]
    return Contractions(diagonal, rows, rows, trace, total)


def _projector_entries(batch: CycleData, index: PairIndex) -> Float[Tensor, " p"]:
    values = numbers_of(batch, "pair_projector", "AddCycleProjector()")
    if values.size(0) == index.rows.size(0):
        return values  # stored with pairs="graph"
    one, other = batch.pair_edges
    row = index.diagonal[one]  # the entry (e, e); (e, f) stands f - e further on
    return values.new_zeros(index.rows.size(0)).index_copy(0, row + other - one, values)


def _hodge_entries(batch: CycleData, index: PairIndex) -> Float[Tensor, " p"]:
    """Entries of B1^T B1: whether two edges share a node, and whether they meet head to tail."""
    tail, head = batch.edges
    one, other = index.rows, index.columns
    same = (tail[one] == tail[other]).int() + (head[one] == head[other]).int()
    opposite = (tail[one] == head[other]).int() + (head[one] == tail[other]).int()
    scale = _hodge_bound(batch)[index.graph]
    return (same - opposite) / scale[one]


def _sums_of(source: str, batch: CycleData) -> Float[Tensor, "m 3"]:
    """Of each edge: the diagonal entry, the sum of its row, and that of absolute values."""
    if source == "projector":
        return numbers_of(batch, "projector_sums", "AddCycleProjector()")
    if source == "harmonic":
        return numbers_of(batch, "harmonic_sums", "AddHarmonicSums()")
    if source == "filled_hodge":
        bounds = numbers_of(batch, "laplacian_bounds", "AddLaplacianBounds()")[:, 1]
        # Without edges there is no eigenvalue, and nothing to divide.
        bounds = torch.where(bounds > 0, bounds, 1)[batch.graph_of("edges")]
        return numbers_of(batch, "hodge_sums", "AddHodgeSums()") / bounds.unsqueeze(1)
    tail, head = batch.edges
    degree = _degrees(batch)
    ones = degree.new_ones(tail.size(0))
    flow = ones.new_zeros(batch.num_nodes or 0).index_add(0, head, ones).index_add(0, tail, -ones)
    sums = torch.stack((2 * ones, flow[head] - flow[tail], degree[head] + degree[tail]), dim=1)
    return sums / _hodge_bound(batch)[batch.graph_of("edges")].unsqueeze(1)


def _degrees(batch: CycleData) -> Float[Tensor, " n"]:
    ends = batch.edges.flatten()
    ones = torch.ones(ends.size(0), dtype=torch.float64, device=ends.device)
    return ones.new_zeros(batch.num_nodes or 0).index_add(0, ends, ones)


def _hodge_bound(batch: CycleData) -> Float[Tensor, " b"]:
    """The largest sum of degrees along an edge of each graph (Anderson and Morley 1985)."""
    graph: Int64[Tensor, " m"] = batch.graph_of("edges")
    sums = _degrees(batch)[batch.edges].sum(0)
    return sums.new_ones(batch.num_joined).scatter_reduce(0, graph, sums, "amax")
