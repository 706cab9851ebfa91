"""Attention among the neighbours of cells: decided by the sender alone, or by both."""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn.functional import leaky_relu

from cyclenet.nn.layers.heads import heads_of
from cyclenet.nn.layers.mlp import reset_children
from cyclenet.nn.layers.pooling import segment_softmax, sum_pool

# Sums over neighbours and the cell itself, with signs or without: `Incidence.upper`, `.lower`.
Pattern = Callable[..., Float[Tensor, "r c"]]

# Below zero, in all published networks on complexes.
NEGATIVE_SLOPE = 0.01

# A weight that is smaller than this beside the largest of its graph counts as this small: a row of
# weights that all vanish would have no mean. Float32 holds it and its inverse with room to spare.
_LEAST_LOGIT = -60.0


class SenderAttention(torch.nn.Module):
    r"""Attention of the published simplicial attention network SAT (Goh et al. 2022).

    In each head, with $h = W x + b$ and the softmax over the neighbours j of i and i itself,

    $$x_i' = \sum_j \alpha_{ij} S_{ij} h_j, \qquad
      \alpha_{ij} = \mathrm{softmax}_j (a_1^\top h_i + c_1 + a_2^\top h_j + c_2).$$

    No nonlinearity stands between the sum and the softmax, so all that belongs to the receiver i
    cancels, and $c_2$ with it: $\alpha_{ij}$ is $w_j = \exp(a_2^\top h_j)$ divided by its sum over
    the neighbours. So a head is two products with the pattern of neighbours, $S (w h)$ and
    $|S| w$, and nothing is kept for pairs.

    Regular heads leave out the signs S. Oriented heads have no bias and score
    $a_2^\top |h_j|$, which does not change with the direction of a cell; reversing cells before
    or after the layer is then the same.

    Args:
        in_channels: Width of a row before.
        out_channels: Width of all heads together.
        heads: Number of heads.
        oriented: Whether heads are oriented.
        printed_size: Allocate $a_1$, $c_1$ and $c_2$ too, which never learn; oriented heads have
            no $c$.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        heads: int = 2,
        oriented: bool = False,
        printed_size: bool = False,
    ) -> None:
        super().__init__()
        self.heads, self.oriented = heads, oriented
        width = out_channels // heads
        self.linear = torch.nn.Linear(in_channels, out_channels, bias=not oriented)
        self.sender = torch.nn.Parameter(torch.empty(heads, width))
        if printed_size:
            size = width if oriented else width + 2
            self.never_used = torch.nn.Parameter(torch.empty(heads, size))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        reset_children(self)
        for vectors in self.parameters(recurse=False):
            bound = self.sender.size(1) ** -0.5
            torch.nn.init.uniform_(vectors, -bound, bound)

    def forward(
        self,
        rows: Float[Tensor, "r i"],
        patterns: Sequence[Pattern],
        owner: Int64[Tensor, " r"],
        num_owners: int,
    ) -> Float[Tensor, "r o"]:
        """What each cell hears, heads side by side.

        Args:
            rows: One row for each cell.
            patterns: Which cells hear each other: of as many heads each, the first heads first.
            owner: The graph of each cell; the largest weight of a graph is 1.
            num_owners: Number of graphs.

        Returns:
            One row for each cell.
        """
        values = heads_of(self.linear(rows), self.heads)
        logits = ((values.abs() if self.oriented else values) * self.sender).sum(2)
        weights = _below_one(logits, owner, num_owners).unsqueeze(2)
        heard = []
        parts = (values * weights).chunk(len(patterns), 1), weights.chunk(len(patterns), 1)
        for pattern, value, weight in zip(patterns, *parts, strict=True):
            if self.oriented:
                above, below = pattern(value.flatten(1)), pattern(weight.squeeze(2), signed=False)
            else:  # both at once
                columns = value.flatten(1), weight.squeeze(2)
                sums = pattern(torch.cat(columns, dim=1), signed=False)
                above, below = sums.split([one.size(1) for one in columns], dim=1)
            heard.append((above.view_as(value) / below.unsqueeze(2)).flatten(1))
        return torch.cat(heard, dim=1)


class PairAttention(torch.nn.Module):
    r"""Attention over a list of pairs, as the published GAT and SAN on complexes have it.

    In each head, with $h = W x + b$ and the softmax over the pairs $(i, j)$ of i,

    $$x_i' = \sum_j \alpha_{ij} h_j, \qquad
      \alpha_{ij} = \mathrm{softmax}_j
        \mathrm{LeakyReLU}(a_1^\top h_i + c_1 + a_2^\top h_j + c_2).$$

    Signs of neighbours do not enter.

    Args:
        in_channels: Width of a row before.
        out_channels: Width of all heads together.
        heads: Number of heads.
    """

    def __init__(self, in_channels: int, out_channels: int, *, heads: int = 1) -> None:
        super().__init__()
        self.heads = heads
        self.linear = torch.nn.Linear(in_channels, out_channels)
        self.vectors = torch.nn.Parameter(torch.empty(2, heads, out_channels // heads))
        self.offsets = torch.nn.Parameter(torch.empty(2, heads))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        reset_children(self)
        bound = self.vectors.size(2) ** -0.5
        for numbers in (self.vectors, self.offsets):
            torch.nn.init.uniform_(numbers, -bound, bound)

    def forward(
        self, rows: Float[Tensor, "r i"], pairs: Int64[Tensor, "2 p"]
    ) -> Float[Tensor, "r o"]:
        """What each cell hears, heads side by side.

        Args:
            rows: One row for each cell.
            pairs: A cell and one that it hears; each hears itself.

        Returns:
            One row for each cell.
        """
        hears, heard = pairs
        values = heads_of(self.linear(rows), self.heads)
        at_receiver, at_sender = (values.unsqueeze(1) * self.vectors).sum(3).unbind(1)
        logits = at_receiver.index_select(0, hears) + at_sender.index_select(0, heard)
        logits = leaky_relu(logits + self.offsets.sum(0), NEGATIVE_SLOPE)
        weights = segment_softmax(logits, hears, rows.size(0))
        messages = weights.unsqueeze(2) * values.index_select(0, heard)
        return sum_pool(messages.flatten(1), hears, rows.size(0))


def _below_one(
    logits: Float[Tensor, "r h"], owner: Int64[Tensor, " r"], num_owners: int
) -> Float[Tensor, "r h"]:
    """Exponentials of logits, of which the largest of each owner is 1."""
    lowest = logits.new_full((num_owners, logits.size(1)), -torch.inf)
    shared = owner.unsqueeze(1).expand_as(logits)
    peak = lowest.scatter_reduce(0, shared, logits.detach(), "amax")
    return (logits - peak.index_select(0, owner)).clamp(min=_LEAST_LOGIT).exp()
