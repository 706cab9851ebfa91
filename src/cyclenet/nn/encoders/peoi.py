"""The second encoder of the paper: permutation-equivariant and cycle-order-invariant (PEOI)."""

from typing import Literal, NamedTuple

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from cyclenet.data import CycleData
from cyclenet.nn.encoders.encoder import Encoder, numbers_of
from cyclenet.nn.encoders.kinds import can_be_sorted, numbered, shared_by_arcs
from cyclenet.nn.layers.mlp import Stack
from cyclenet.nn.layers.pooling import repeated, sum_pool

TRANSFORMS = "AddShortestCycleBasis() or AddRelevantCycles()"

# Where cycles have more lengths than this, hardly two edges are alike.
_MOST_LENGTHS = 32


class PEOIEncoder(Encoder):
    r"""A network on the cycle incidence matrix X, blind to the order of the cycles (CycleNet-PEOI).

    With $X_{ik} = 1$ where edge i lies on cycle k, and 0 elsewhere,

    $$F_i = \rho_3\Big(\sum_k \rho_2\Big(\sum_{j \ne i} \rho_1(X_{ik}, X_{jk}),\; X_{ik}
        \Big)\Big).$$

    Nothing of size m x m x g is ever made. An edge sees two kinds of cycles, those it lies on and
    the others, and a cycle of $c$ among $m$ edges two kinds of edges. The inner sum is
    $c\,\rho_1(0, 1) + (m - 1 - c)\,\rho_1(0, 0)$ off the cycle and
    $(c - 1)\,\rho_1(1, 1) + (m - c)\,\rho_1(1, 0)$ on it: exact, in time linear in the number of
    incidences. So F knows m, the lengths of all cycles, and those of the cycles through each edge.

    The cycles are those of the batch: with `AddShortestCycleBasis` a shortest basis, whose choice
    depends on labels where it is not unique (`batch.unique` tells); with `AddRelevantCycles` all
    relevant cycles, which do not. A graph without cycles gets $\rho_3(0)$ on every edge.

    Args:
        out_channels: Width d of the encoding.
        form: ``"full"`` is the formula. ``"light"``, as the published code of the synthetic tasks
            has it, reads $\rho_2(\phi(\sum_j X_{jk}), X_{ik})$ instead of $\rho_1$.
        sum_over: ``"others"`` leaves j = i out of the inner sum, as the paper's equation does;
            ``"all"`` takes it in, as the published code for molecules does. For ``"full"``.
        filters: A float attribute of the nodes with one or several functions on them, for the
            filter-enhanced X: an edge carries the smaller and the larger value at its ends, of
            each function, beside the 1 that says that it lies on the cycle. Pairs inside each
            cycle are then summed one by one.
        num_filters: Number of these functions.
        final_relu: End "full" with a ReLU, as the published code does; it may leave channels that
            are zero everywhere.

    The networks have the published widths: 32 and 64 for "full", 64 and 128 for "light".
    """

    def __init__(
        self,
        out_channels: int,
        *,
        form: Literal["full", "light"] = "full",
        sum_over: Literal["others", "all"] = "others",
        filters: str | None = None,
        num_filters: int = 0,
        final_relu: bool = False,
    ) -> None:
        super().__init__(out_channels)
        if form not in ("full", "light"):
            raise ValueError(f"`form` must be 'full' or 'light', but it is {form!r}")
        if sum_over not in ("others", "all"):
            raise ValueError(f"`sum_over` must be 'others' or 'all', but it is {sum_over!r}")
        if (filters is None) != (num_filters == 0):
            raise ValueError(
                "`filters` and `num_filters` must be given together, but they are "
                f"{filters!r} and {num_filters}"
            )
        self.form, self.sum_over = form, sum_over
        self.filters, self.num_filters = filters, num_filters
        width = 1 + 2 * num_filters
        if form == "full":
            self.rho1 = _two_linear(2 * width, 32)
            self.rho2 = _two_linear(32 + width, 64)
            last = (torch.nn.ReLU(),) if final_relu else ()
            self.rho3 = Stack(torch.nn.Linear(64, out_channels), *last)
        else:
            self.rho1 = _two_linear(width, 64)
            self.rho2 = _two_linear(64 + width, 128)
            self.rho3 = Stack(
                torch.nn.Linear(128, 128), torch.nn.ReLU(), torch.nn.Linear(128, out_channels)
            )

    def encode_edges(self, batch: CycleData) -> Float[Tensor, "m k"]:
        """One row for each undirected edge.

        Args:
            batch: Graphs with the cycles that `AddShortestCycleBasis` or `AddRelevantCycles` adds.

        Returns:
            The encoding on edges.
        """
        rows, kind = self._rows_of_kinds(batch)
        return rows if kind is None else rows.index_select(0, kind)

    def shared_rows(
        self, batch: CycleData
    ) -> tuple[Float[Tensor, "r {self.out_channels}"], Int64[Tensor, " a"]]:
        """The encoding as rows that arcs share, one for all edges of a kind.

        Args:
            batch: Graphs with the cycles that `encode_edges` reads.

        Returns:
            The rows, the last of them zero, and the place of each arc among them.
        """
        if type(self).encode_edges is not PEOIEncoder.encode_edges:
            return super().shared_rows(batch)  # a subclass may tell apart what is alike to us
        return shared_by_arcs(batch, *self._rows_of_kinds(batch))

    def _rows_of_kinds(
        self, batch: CycleData
    ) -> tuple[Float[Tensor, "r k"], Int64[Tensor, " m"] | None]:
        """A row for each kind of edges, and the kind of each edge unless all are different."""
        edge, cycle = numbers_of(batch, "cycle_incidence", TRANSFORMS)
        sizes = self._sizes(batch, cycle)
        if self.filters is not None:
            kinds, entry = _all_different(batch), torch.arange(edge.size(0), device=edge.device)
            on = self._functions(batch, self.filters, edge)
            sums = self._light_sums if self.form == "light" else self._full_sums
            outside, inside = sums(batch, on, cycle, sizes)
        else:
            kinds = _kinds(batch, sizes, by_edges=self.form == "full") or _all_different(batch)
            entry = kinds.of_cycle.index_select(0, cycle)
            outside, inside = self._binary_sums(sizes.index_select(0, kinds.cycles))
            on = outside.new_ones(outside.size(0), 1)
        off = self.rho2(torch.cat((outside, on.new_zeros(outside.size(0), on.size(1))), dim=1))
        on_cycle = self.rho2(torch.cat((inside, on), dim=1))
        row, of_cycle = edge, kinds.of_cycle.index_select(0, cycle)
        if kinds.of_edge is not None:  # the incidences of one edge of each kind will do
            chosen = torch.zeros_like(kinds.of_edge, dtype=torch.bool).index_fill(0, kinds.edges, 1)
            kept = chosen[edge]
            row, entry, of_cycle = kinds.of_edge[edge[kept]], entry[kept], of_cycle[kept]
        change = on_cycle.index_select(0, entry) - off.index_select(0, of_cycle)
        everywhere = sum_pool(
            off.index_select(0, kinds.of_cycle), batch.graph_of("cycles"), batch.num_joined
        )
        graph = batch.graph_of("edges").index_select(0, kinds.edges)
        own = sum_pool(change, row, kinds.edges.size(0))
        return self.rho3(everywhere.index_select(0, graph) + own), kinds.of_edge

    def _sizes(self, batch: CycleData, cycle: Int64[Tensor, " q"]) -> Float[Tensor, "g 2"]:
        """Of each cycle: its edges, and the edges of its graph that are beside it."""
        ones = torch.ones(max(batch.edges.size(1), cycle.size(0)), 1, device=cycle.device)
        ones = ones.to(next(self.parameters()).dtype)
        length = sum_pool(ones[: cycle.size(0)], cycle, batch.cycle_length.size(0))
        graph = batch.graph_of("edges")
        edges = sum_pool(ones[: graph.size(0)], graph, batch.num_joined)
        beside = edges.index_select(0, batch.graph_of("cycles")) - length
        return torch.cat((length, beside), dim=1)

    def _binary_sums(
        self, sizes: Float[Tensor, "d 2"]
    ) -> tuple[Float[Tensor, "d s"], Float[Tensor, "d s"]]:
        """The inner sums for each kind of cycle: of an edge off it, and of an edge on it."""
        length, beside = sizes.split(1, dim=1)
        if self.form == "light":
            phi = self.rho1(length)
            return phi, phi
        left_out = 1.0 if self.sum_over == "others" else 0.0
        zero, one = sizes.new_zeros(1, 1), sizes.new_ones(1, 1)
        corners = torch.cat((zero, zero, zero, one, one, zero, one, one)).view(4, 2)
        nothing, one_sided, alone, itself = self.rho1(corners).split(1)
        outside = length * one_sided + (beside - left_out) * nothing
        return outside, (length - left_out) * itself + beside * alone

    def _functions(
        self, batch: CycleData, filters: str, edge: Int64[Tensor, " q"]
    ) -> Float[Tensor, "q w"]:
        """The entry of each incidence: 1, and the functions on the edge."""
        values = batch[filters].to(next(self.parameters()).dtype)
        if values.dim() != 2 or values.size(1) != self.num_filters:
            raise ValueError(
                f"`batch.{filters}` must have {self.num_filters} columns (`num_filters`), but "
                f"its shape is {tuple(values.shape)}"
            )
        ends = values[batch.edges]
        functions = torch.cat((ends.amin(0), ends.amax(0)), dim=1).index_select(0, edge)
        return torch.cat((functions.new_ones(edge.size(0), 1), functions), dim=1)

    def _light_sums(
        self,
        batch: CycleData,
        on: Float[Tensor, "q w"],
        cycle: Int64[Tensor, " q"],
        sizes: Float[Tensor, "g 2"],
    ) -> tuple[Float[Tensor, "g s"], Float[Tensor, "q s"]]:
        """Phi of the sum over each cycle, for edges off it and for each incidence."""
        phi = self.rho1(sum_pool(on, cycle, sizes.size(0)))
        return phi, phi.index_select(0, cycle)

    def _full_sums(
        self,
        batch: CycleData,
        on: Float[Tensor, "q w"],
        cycle: Int64[Tensor, " q"],
        sizes: Float[Tensor, "g 2"],
    ) -> tuple[Float[Tensor, "g s"], Float[Tensor, "q s"]]:
        """The inner sums of an edge off each cycle, and of each incidence."""
        length, beside = sizes.split(1, dim=1)
        left_out = 1.0 if self.sum_over == "others" else 0.0
        zero = torch.zeros_like(on)
        one_sided = self.rho1(torch.cat((zero, on), dim=1))  # rho1(0, x)
        nothing = self.rho1(on.new_zeros(1, 2 * on.size(1)))
        outside = sum_pool(one_sided, cycle, sizes.size(0)) + (beside - left_out) * nothing
        alone = self.rho1(torch.cat((on, zero), dim=1))  # rho1(x, 0)
        itself = self.rho1(torch.cat((on, on), dim=1))  # rho1(x, x)
        first, second = _pairs_inside(batch, cycle, length.squeeze(1).long())
        pairs = torch.cat((on.index_select(0, first), on.index_select(0, second)), dim=1)
        inside = sum_pool(self.rho1(pairs), first, on.size(0))
        return outside, inside - left_out * itself + beside.index_select(0, cycle) * alone


class _Kinds(NamedTuple):
    """Which cycles and which edges of a batch the binary formula cannot tell apart.

    Args:
        cycles: One cycle of each kind.
        of_cycle: The kind of each cycle.
        edges: One edge of each kind.
        of_edge: The kind of each edge, or None if each is its own.
    """

    cycles: Int64[Tensor, " d"]
    of_cycle: Int64[Tensor, " g"]
    edges: Int64[Tensor, " r"]
    of_edge: Int64[Tensor, " m"] | None


def _all_different(batch: CycleData) -> _Kinds:
    cycles = torch.arange(batch.cycle_length.size(0), device=batch.edge_index.device)
    return _Kinds(cycles, cycles, torch.arange(batch.edges.size(1), device=cycles.device), None)


def _kinds(batch: CycleData, sizes: Float[Tensor, "g 2"], *, by_edges: bool) -> _Kinds | None:
    # An edge is known by the lengths of the cycles through it, those of all cycles of its graph
    # and, for the full form, by the number of edges. Where these agree nothing is lost.
    edge, cycle = batch.cycle_incidence
    if not can_be_sorted(batch):
        return None
    length, beside = sizes.long().unbind(dim=1)
    found, of_length = length.unique(return_inverse=True)
    if found.size(0) > _MOST_LENGTHS:
        return None
    graph, count = batch.graph_of("edges"), batch.num_joined
    in_graph = _counted(of_length, batch.graph_of("cycles"), found.size(0), count)
    if by_edges:
        in_graph = torch.cat((in_graph, graph.bincount(minlength=count).unsqueeze(0)))
    _, of_graph = numbered(in_graph)
    through = _counted(of_length.index_select(0, cycle), edge, found.size(0), graph.size(0))
    edges, of_edge = numbered(torch.cat((of_graph[graph].unsqueeze(0), through)))
    cycles, of_cycle = numbered(torch.stack((of_length, beside if by_edges else of_length)))
    return _Kinds(cycles, of_cycle, edges, of_edge)


def _counted(
    kind: Int64[Tensor, " q"], owner: Int64[Tensor, " q"], num_kinds: int, num_owners: int
) -> Int64[Tensor, "{num_kinds} {num_owners}"]:
    """How many of each kind each owner has."""
    counts = torch.bincount(kind * num_owners + owner, minlength=num_kinds * num_owners)
    return counts.view(num_kinds, num_owners)


def _pairs_inside(
    batch: CycleData, cycle: Int64[Tensor, " q"], length: Int64[Tensor, " g"]
) -> tuple[Int64[Tensor, " p"], Int64[Tensor, " p"]]:
    """Ordered pairs of incidences of the same cycle; incidences come cycle by cycle."""
    partners = length[cycle]
    if batch.has_filler:  # all of its incidences are of one cycle; only the last has pairs
        partners = partners.masked_fill(cycle == cycle[-1], 0)
    first = repeated(partners, batch.known_rows("cycle_pairs"), fill=batch.has_filler)
    begin = length.cumsum(0) - length
    before = length.square().cumsum(0) - length.square()
    own = cycle[first]
    place = torch.arange(first.size(0), device=cycle.device) - before[own]
    return first, begin[own] + place % length[own]


def _two_linear(in_channels: int, out_channels: int) -> Stack:
    return Stack(
        torch.nn.Linear(in_channels, out_channels),
        torch.nn.ReLU(),
        torch.nn.Linear(out_channels, out_channels),
    )
