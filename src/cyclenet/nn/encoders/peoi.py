"""The second encoder of the paper: permutation-equivariant and cycle-order-invariant (PEOI)."""

from typing import Literal

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from cyclenet.data import CycleData
from cyclenet.nn.encoders.encoder import Encoder, numbers_of
from cyclenet.nn.layers.mlp import Stack
from cyclenet.nn.layers.pooling import repeated, sum_pool

TRANSFORMS = "AddShortestCycleBasis() or AddRelevantCycles()"


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
        edge, cycle = numbers_of(batch, "cycle_incidence", TRANSFORMS)
        on, kind = self._entries(batch, edge, cycle)
        sums = self._light_sums if self.form == "light" else self._full_sums
        outside, inside = sums(batch, on, cycle, kind)
        off = self.rho2(torch.cat((outside, on.new_zeros(outside.size(0), on.size(1))), dim=1))
        on_cycle = self.rho2(torch.cat((inside, on), dim=1))
        change = on_cycle[kind] - off[cycle]
        everywhere = sum_pool(off, batch.graph_of("cycles"), batch.num_joined)
        own = sum_pool(change, edge, batch.edges.size(1))
        return self.rho3(everywhere[batch.graph_of("edges")] + own)

    def _entries(
        self, batch: CycleData, edge: Int64[Tensor, " q"], cycle: Int64[Tensor, " q"]
    ) -> tuple[Float[Tensor, "r w"], Int64[Tensor, " q"]]:
        """Rows of entries to evaluate, and the row of each incidence."""
        dtype = next(self.parameters()).dtype
        if self.filters is None:
            # All incidences of a cycle are alike: one row for each cycle will do.
            num_cycles = batch.cycle_length.size(0)
            return torch.ones(num_cycles, 1, dtype=dtype, device=edge.device), cycle
        values = batch[self.filters].to(dtype)
        if values.dim() != 2 or values.size(1) != self.num_filters:
            raise ValueError(
                f"`batch.{self.filters}` must have {self.num_filters} columns (`num_filters`), but "
                f"its shape is {tuple(values.shape)}"
            )
        ends = values[batch.edges]
        functions = torch.cat((ends.amin(0), ends.amax(0)), dim=1)[edge]
        on = torch.cat((functions.new_ones(edge.size(0), 1), functions), dim=1)
        return on, torch.arange(edge.size(0), device=edge.device)

    def _light_sums(
        self,
        batch: CycleData,
        on: Float[Tensor, "r w"],
        cycle: Int64[Tensor, " q"],
        kind: Int64[Tensor, " q"],
    ) -> tuple[Float[Tensor, "g s"], Float[Tensor, "r s"]]:
        """Phi of the sum over each cycle, for edges off and on it."""
        phi = self.rho1(sum_pool(on[kind], cycle, batch.cycle_length.size(0)))
        return phi, phi if self.filters is None else phi[cycle]

    def _full_sums(
        self,
        batch: CycleData,
        on: Float[Tensor, "r w"],
        cycle: Int64[Tensor, " q"],
        kind: Int64[Tensor, " q"],
    ) -> tuple[Float[Tensor, "g s"], Float[Tensor, "r s"]]:
        """The inner sums for each cycle: of an edge off it, and of each kind of edge on it."""
        num_cycles = batch.cycle_length.size(0)
        ones = on.new_ones(cycle.size(0), 1)
        length = sum_pool(ones, cycle, num_cycles)
        graph = batch.graph_of("edges")
        edges = sum_pool(on.new_ones(graph.size(0), 1), graph, batch.num_joined)
        beside = edges[batch.graph_of("cycles")] - length  # edges of the graph off the cycle
        left_out = 1.0 if self.sum_over == "others" else 0.0
        zero = torch.zeros_like(on)
        one_sided = self.rho1(torch.cat((zero, on), dim=1))  # rho1(0, x)
        nothing = self.rho1(on.new_zeros(1, 2 * on.size(1)))
        outside = sum_pool(one_sided[kind], cycle, num_cycles) + (beside - left_out) * nothing
        alone = self.rho1(torch.cat((on, zero), dim=1))  # rho1(x, 0)
        itself = self.rho1(torch.cat((on, on), dim=1))  # rho1(x, x)
        if self.filters is None:
            return outside, (length - left_out) * itself + beside * alone
        first, second = _pairs_inside(batch, cycle, length.squeeze(1).long())
        inside = sum_pool(self.rho1(torch.cat((on[first], on[second]), 1)), first, on.size(0))
        return outside, inside - left_out * itself + beside[cycle] * alone


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
