r"""Linear layers that commute with relabelling the edges of a graph, on pairs and on edges.

They are the layers of an invariant graph network (Maron et al. 2019) on matrices whose rows and
columns are the edges of a graph, ragged: a matrix is a list of entries, one graph after the other,
and every sum is divided by the size of the graph's own matrix.

Matrices on arcs are kept on pairs of edges, as two sheets. A pair of edges has four pairs of arcs;
those that run the same way along their edges share one entry, those that run opposite ways share
the other, for the projector on arcs and for whatever these layers make of it. Sheet 0 is "same
way", and turning an edge around swaps its sheets.
"""

from dataclasses import dataclass
from math import sqrt

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from cyclenet.nn.layers.pooling import sum_pool

# Of the fifteen maps from pairs to pairs, those that spread numbers of edges and of graphs. At a
# scale of 0.25 every ReLU of a new layer was blind on strongly regular graphs, one seed in three.
_SPREAD = [5, 6, 7, 8, 11, 12, 13, 14]
_SPREAD_SCALE = 0.05


@dataclass(frozen=True, eq=False)
class PairIndex:
    """Where the entries of all matrices of a batch stand.

    Args:
        rows: Row edge of each entry; the entries of a graph are all its pairs, row by row.
        columns: Column edge of each entry.
        diagonal: The entry at (e, e) of each edge.
        transposed: The entry at (f, e) of each entry at (e, f).
        graph: Graph of each edge.
        num_graphs: Number of graphs.
        sheets: 1 for matrices on edges, 2 for matrices on arcs.
    """

    rows: Int64[Tensor, " p"]
    columns: Int64[Tensor, " p"]
    diagonal: Int64[Tensor, " m"]
    transposed: Int64[Tensor, " p"]
    graph: Int64[Tensor, " m"]
    num_graphs: int
    sheets: int

    @property
    def sizes(self) -> Float[Tensor, "b 1"]:
        """Side of the matrix of each graph: its edges, or its arcs; at least 1."""
        ones = torch.ones(self.graph.size(0), 1, device=self.graph.device)
        return sum_pool(ones, self.graph, self.num_graphs).mul(self.sheets).clamp(min=1)


@dataclass(frozen=True, eq=False)
class Contractions:
    """What a matrix tells about each edge and each graph, divided by the size of the matrix.

    Args:
        diagonal: The entry at (e, e), undivided.
        rows: Sum of the row of e.
        columns: Sum of its column.
        trace: Sum of the diagonal of each graph.
        total: Sum of all entries of each graph, divided by the size twice.
    """

    diagonal: Float[Tensor, "m k"]
    rows: Float[Tensor, "m k"]
    columns: Float[Tensor, "m k"]
    trace: Float[Tensor, "b k"]
    total: Float[Tensor, "b k"]


def contract(entries: Float[Tensor, "p s k"], index: PairIndex) -> Contractions:
    """The five contractions of every matrix of a batch.

    Args:
        entries: The matrices, sheet by sheet.
        index: Where the entries stand.

    Returns:
        The contractions. With two sheets the sums run over arcs; both arcs of an edge have equal
        ones.
    """
    num_edges, sizes = index.graph.size(0), index.sizes.to(entries.dtype)
    scale = sizes[index.graph]
    summed = entries.sum(dim=1)
    diagonal = entries.flatten(0, 1).index_select(0, index.diagonal * index.sheets)
    rows = sum_pool(summed, index.rows, num_edges) / scale
    columns = sum_pool(summed, index.columns, num_edges) / scale
    trace = sum_pool(diagonal, index.graph, index.num_graphs) * index.sheets / sizes
    total = sum_pool(rows, index.graph, index.num_graphs) * index.sheets / sizes
    return Contractions(diagonal, rows, columns, trace, total)


class SetLayer(torch.nn.Module):
    r"""Edges to edges: $y_e = x_e C_1 + \bar x C_2 + b$ with the mean $\bar x$ over the graph.

    These are all linear maps from functions on a set to functions on it that commute with
    permutations.

    Args:
        in_channels: Width of a row before.
        out_channels: Width of a row after.
        published_scale: Draw the coefficients as small as the published code does, which makes a
            stack of layers that was never trained almost constant.
    """

    def __init__(
        self, in_channels: int, out_channels: int, *, published_scale: bool = False
    ) -> None:
        super().__init__()
        self.published_scale = published_scale
        self.coefficients = _coefficients(in_channels, out_channels, 2)
        self.bias = torch.nn.Parameter(torch.empty(out_channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the coefficients anew; no bias."""
        _draw(self.coefficients, self.published_scale)
        torch.nn.init.zeros_(self.bias)

    def forward(
        self,
        rows: Float[Tensor, "m i"],
        graph: Int64[Tensor, " m"],
        sizes: Float[Tensor, "b 1"],
        counts: Float[Tensor, "m 1"] | None = None,
    ) -> Float[Tensor, "m o"]:
        """One row for each edge, or for several that have equal rows.

        Args:
            rows: The edges.
            graph: Graph of each edge.
            sizes: Number of edges of each graph, at least 1.
            counts: How many edges each row stands for; one each if left out.

        Returns:
            The new rows.
        """
        means = sum_pool(rows if counts is None else counts * rows, graph, sizes.size(0)) / sizes
        own, shared = self.coefficients.unbind(dim=2)
        return torch.addmm(torch.addmm(self.bias, means, shared).index_select(0, graph), rows, own)


class ContractingLayer(torch.nn.Module):
    """Pairs to edges: all five linear maps that commute with permutations, and a bias.

    Args:
        in_channels: Width of an entry.
        out_channels: Width of a row.
        published_scale: Draw the coefficients as small as the published code does, which makes a
            stack of layers that was never trained almost constant.
    """

    def __init__(
        self, in_channels: int, out_channels: int, *, published_scale: bool = False
    ) -> None:
        super().__init__()
        self.published_scale = published_scale
        self.coefficients = _coefficients(in_channels, out_channels, 5)
        self.bias = torch.nn.Parameter(torch.empty(out_channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the coefficients anew; no bias."""
        _draw(self.coefficients, self.published_scale)
        torch.nn.init.zeros_(self.bias)

    def forward(self, found: Contractions, graph: Int64[Tensor, " m"]) -> Float[Tensor, "m o"]:
        """One row for each edge.

        Args:
            found: Contractions of the matrices.
            graph: Graph of each edge.

        Returns:
            The rows.
        """
        diagonal, trace, rows, columns, total = self.coefficients.unbind(dim=2)
        shared = found.trace @ trace + found.total @ total + self.bias
        own = torch.cat((found.diagonal, found.rows, found.columns), dim=1)
        weight = torch.cat((diagonal, rows, columns))
        return torch.addmm(shared.index_select(0, graph), own, weight)


class PairLayer(torch.nn.Module):
    r"""Pairs to pairs: all fifteen linear maps that commute with permutations, and two biases.

    Only the entry itself and its transpose need a product for each pair. The other thirteen read
    the diagonal, the sums of rows and columns, the trace and the total: products for each edge or
    graph, then spread over the pairs.

    Args:
        in_channels: Width of an entry before.
        out_channels: Width of an entry after.
        published_scale: Draw the coefficients as small as the published code does, which makes a
            stack of layers that was never trained almost constant.
    """

    def __init__(
        self, in_channels: int, out_channels: int, *, published_scale: bool = False
    ) -> None:
        super().__init__()
        self.published_scale = published_scale
        self.coefficients = _coefficients(in_channels, out_channels, 15)
        self.bias = torch.nn.Parameter(torch.empty(2, out_channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the coefficients anew; no bias."""
        _draw(self.coefficients, self.published_scale)
        torch.nn.init.zeros_(self.bias)
        if not self.published_scale:
            # What is spread along rows and columns is much the same for all entries. Drawn as large
            # as the rest it would leave a ReLU open, or shut, for nearly all of them.
            with torch.no_grad():
                self.coefficients[:, :, _SPREAD] *= _SPREAD_SCALE

    def forward(self, entries: Float[Tensor, "p s i"], index: PairIndex) -> Float[Tensor, "p s o"]:
        """The new matrices.

        Args:
            entries: The matrices, sheet by sheet.
            index: Where the entries stand.

        Returns:
            As many entries.
        """
        c, found, graph = self.coefficients.unbind(dim=2), contract(entries, index), index.graph
        on_edges = torch.cat((found.diagonal, found.rows, found.columns), dim=1)
        shared = found.trace @ c[13] + found.total @ c[14] + self.bias[1]
        along_rows = torch.addmm(
            shared.index_select(0, graph), on_edges, torch.cat((c[11], c[6], c[5]))
        )
        along_columns = on_edges @ torch.cat((c[12], c[8], c[7]))
        spread = along_rows.index_select(0, index.rows)
        spread = spread + along_columns.index_select(0, index.columns)
        if entries.size(2) < spread.size(1):  # entries are narrower before the product than after
            turned = entries.index_select(0, index.transposed)
            new = torch.cat((entries, turned), dim=2) @ torch.cat((c[9], c[10]))
        else:
            new = entries @ c[9] + (entries @ c[10]).index_select(0, index.transposed)
        new += spread.unsqueeze(1)
        at_diagonal = found.trace @ c[1] + found.total @ c[4] + self.bias[0]
        on_diagonal = torch.addmm(
            at_diagonal.index_select(0, graph), on_edges, torch.cat((c[0], c[2], c[3]))
        )
        new.flatten(0, 1).index_add_(0, index.diagonal * index.sheets, on_diagonal)
        return new


def _coefficients(in_channels: int, out_channels: int, count: int) -> torch.nn.Parameter:
    return torch.nn.Parameter(torch.empty(in_channels, out_channels, count))


def _draw(coefficients: torch.nn.Parameter, published_scale: bool) -> None:
    in_channels, out_channels, _ = coefficients.shape
    # Two terms of variance 1 / in_channels each keep the scale through a ReLU (He et al. 2015).
    scale = sqrt(2) / (in_channels + out_channels) if published_scale else sqrt(1 / in_channels)
    torch.nn.init.normal_(coefficients, std=scale)
