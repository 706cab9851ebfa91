"""Networks on the rows of eigenvectors that nodes carry, and on the eigenspaces these span."""

from itertools import pairwise
from math import sqrt

import torch
from jaxtyping import Bool, Float, Int64, Integer
from torch import Tensor
from torch.nn.functional import linear

from cyclenet.data import CycleData
from cyclenet.nn.layers.mlp import Stack, reset_children
from cyclenet.nn.layers.pooling import sum_pool
from cyclenet.nn.layers.row_norm import RowNorm


class NormedStack(Stack):
    r"""Linear maps with ReLUs and normalisations between, $x \mapsto \mathrm{norm}(\mathrm{ReLU})$.

    The order is Linear, ReLU, normalisation, as often as asked for; the last map is plain.

    Args:
        in_channels: Width of a row before.
        hidden_channels: Width between.
        out_channels: Width of a row after.
        num_layers: Number of linear maps.
    """

    def __init__(
        self, in_channels: int, hidden_channels: int, out_channels: int, num_layers: int
    ) -> None:
        widths = [in_channels, *[hidden_channels] * (num_layers - 1)]
        modules: list[torch.nn.Module] = []
        for one, other in pairwise(widths):
            modules += torch.nn.Linear(one, other), torch.nn.ReLU(), RowNorm(other)
        super().__init__(*modules, torch.nn.Linear(widths[-1], out_channels))


class EigenvectorGIN(torch.nn.Module):
    r"""A graph isomorphism network on every eigenvector by itself, then the sum over all of them.

    $$p_u = \sum_k \big(\phi(v_k)_u + \phi(-v_k)_u\big), \qquad
      \phi = \psi_T \circ \mathrm{norm} \circ \psi_{T-1} \circ \dots \circ \mathrm{norm} \circ
             \psi_1, \qquad
      \psi(x)_u = V \,\mathrm{norm}\big(\mathrm{ReLU}(W (x_u + {\textstyle\sum_{w \to u} x_w}) + b)
                  \big) + c .$$

    Both signs go through one pass, so p is the same for $v_k$ and $-v_k$, in training too. Nor does
    it depend on the order of the eigenvectors. Eigenvectors that a graph does not have add nothing,
    and enter no statistic. The state of a node is a table of fixed size (eigenvectors, signs,
    channels), so that messages are gathered and added along the first dimension, with no number
    that only the host would know.

    Args:
        out_channels: Width of p.
        hidden_channels: Width inside.
        num_layers: Number of convolutions T.
        both_signs: Whether $-v_k$ comes in too. Without it p changes with signs, which belong to
            the eigensolver and not to the graph.
        idle_biases: Allocate the published biases c and those of the normalisations inside, which
            the next normalisation takes off again.

    Raises:
        ValueError: If there is no convolution.
    """

    def __init__(
        self,
        out_channels: int,
        *,
        hidden_channels: int,
        num_layers: int,
        both_signs: bool = True,
        idle_biases: bool = False,
    ) -> None:
        super().__init__()
        if num_layers < 1:
            raise ValueError(f"`num_layers` must be at least 1, but it is {num_layers}")
        self.both_signs = both_signs
        widths = [1, *[hidden_channels] * (num_layers - 1)]
        last = num_layers - 1
        self.widen = torch.nn.ModuleList(torch.nn.Linear(one, hidden_channels) for one in widths)
        self.inner_norms = torch.nn.ModuleList(
            RowNorm(hidden_channels, shift=idle_biases or i == last) for i in range(num_layers)
        )
        self.narrow = torch.nn.ModuleList(
            torch.nn.Linear(hidden_channels, hidden_channels, bias=idle_biases) for _ in range(last)
        )
        self.norms = torch.nn.ModuleList(RowNorm(hidden_channels) for _ in range(last))
        self.out = torch.nn.Linear(hidden_channels, out_channels)

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        reset_children(self)

    def forward(
        self, rows: Float[Tensor, "n c"], exists: Bool[Tensor, "n c"], arcs: Int64[Tensor, "2 a"]
    ) -> Float[Tensor, "n o"]:
        """The sum over the eigenvectors of each node.

        Args:
            rows: The entries of all eigenvectors at each node.
            exists: Which of them there are.
            arcs: Source and target of each arc.

        Returns:
            One row for each node.
        """
        signed = torch.stack((rows, -rows) if self.both_signs else (rows,), dim=2)
        here = exists.unsqueeze(2).expand_as(signed)
        states = self._convolved(0, signed.unsqueeze(3), here, arcs)
        for i, (narrow, norm) in enumerate(zip(self.narrow, self.norms, strict=True)):
            states = self._convolved(i + 1, norm(narrow(states), here), here, arcs)
        # The last map is linear, so it can wait for the sum, which has fewer rows.
        counts = here.sum((1, 2)).to(rows.dtype).unsqueeze(1)
        return linear(states.sum((1, 2)), self.out.weight) + counts * self.out.bias

    def _convolved(
        self,
        i: int,
        states: Float[Tensor, "n c s i"],
        here: Bool[Tensor, "n c s"],
        arcs: Int64[Tensor, "2 a"],
    ) -> Float[Tensor, "n c s k"]:
        """What a layer makes of a node and its neighbours; zeros where there is no eigenvector."""
        heard = states.index_add(0, arcs[1], states.index_select(0, arcs[0]))
        return self.inner_norms[i](self.widen[i](heard).relu(), here)


class SpaceEncoder(torch.nn.Module):
    r"""Invariant graph networks on the projectors on eigenspaces (BasisNet, Lim et al. 2022).

    There is one network for each multiplicity q, with q outputs, all of the same form: from the
    matrix to the nodes, layers from nodes to nodes, and two more layers and a plain map on each
    node alone, without normalisations. On a graph of n nodes, with $P = V V^\top$,

    $$x_u = \mathrm{ReLU}\Big(\big[P_{uu},\; \tfrac1n \operatorname{tr} P,\;
        \tfrac1n {\textstyle\sum_w} P_{uw},\; \tfrac1n {\textstyle\sum_w} P_{wu},\;
        \tfrac1{n^2} {\textstyle\sum} P\big] C + b\Big), \qquad
      x_u \leftarrow \mathrm{ReLU}(x_u A + \bar x B + b')$$

    which are a `ContractingLayer` and `SetLayer`s. A projector does not depend on a basis of its
    space, so neither does what comes out. Renaming nodes permutes the rows.

    Among c eigenvectors there can be c spaces of dimension 1, half as many of dimension 2, and so
    on. All of these have a place, used or not, so that shapes are fixed, and all go through their
    networks at once.

    Args:
        num_vectors: How many eigenvectors c there is room for, and the largest multiplicity.
        hidden_channels: Width inside.
        num_layers: Equivariant layers, the contracting one included.
        train_coefficients: Whether the equivariant coefficients C, A, B and their biases learn; see
            `ProjectorEncoder`. False repeats the published code, at its scale.
    """

    kind: Tensor
    place: Tensor
    first_output: Tensor

    def __init__(
        self,
        num_vectors: int,
        *,
        hidden_channels: int,
        num_layers: int,
        train_coefficients: bool = True,
    ) -> None:
        super().__init__()
        self.train_coefficients = train_coefficients
        count, width, more = num_vectors, hidden_channels, num_layers - 1

        def coefficients(*shape: int) -> torch.nn.Parameter:
            return torch.nn.Parameter(torch.empty(shape), requires_grad=train_coefficients)

        self.contraction = coefficients(count, 5, width)
        self.contraction_bias = coefficients(count, width)
        self.own = coefficients(more, count, width, width)
        self.shared = coefficients(more, count, width, width)
        self.set_bias = coefficients(more, count, width)
        self.head = torch.nn.Parameter(torch.empty(2, count, width, width))
        self.head_bias = torch.nn.Parameter(torch.empty(2, count, width))
        dimensions = range(1, count + 1)
        self.out = torch.nn.ModuleList(torch.nn.Linear(width, q) for q in dimensions)
        # The places of spaces: which network it is, and which of its spaces.
        places = [(q, i) for q in dimensions for i in range(count // q)]
        kind, place = torch.tensor(places).unbind(1)
        self.register_buffer("kind", kind, persistent=False)
        self.register_buffer("place", place, persistent=False)
        # Where what the network of each multiplicity says begins; nothing is of multiplicity 0.
        outputs = torch.tensor([0, 0, *(count // q * q for q in dimensions)])
        self.register_buffer("first_output", outputs[:-1].cumsum(0), persistent=False)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters anew; no bias of equivariant layers."""
        reset_children(self)
        width = self.head.size(-1)
        for part, inputs in ((self.contraction, 1), (self.own, width), (self.shared, width)):
            # As the layers do; see `equivariant`.
            scale = sqrt(1 / inputs) if self.train_coefficients else sqrt(2) / (inputs + width)
            torch.nn.init.normal_(part, std=scale)
        for bias in (self.contraction_bias, self.set_bias):
            torch.nn.init.zeros_(bias)
        for part in (self.head, self.head_bias):
            torch.nn.init.uniform_(part, -1 / sqrt(width), 1 / sqrt(width))

    def forward(
        self,
        rows: Float[Tensor, "n c"],
        multiplicity: Integer[Tensor, "n c"],
        graph: Int64[Tensor, " n"],
        num_graphs: int,
    ) -> Float[Tensor, "n c"]:
        """As many columns as there are eigenvectors, then zeros.

        Args:
            rows: The entries of all eigenvectors at each node, space after space.
            multiplicity: The dimension of the space of each of them; 0 where there is none.
            graph: Graph of each node.
            num_graphs: Number of graphs.

        Returns:
            What is said of the spaces, those of the smallest dimension first, then in their order.
        """
        rank = _rank(multiplicity)
        place = rank.div(multiplicity.clamp(min=1), rounding_mode="floor")
        belongs = (multiplicity.unsqueeze(1) == self.kind.unsqueeze(1)) & (
            place.unsqueeze(1) == self.place.unsqueeze(1)
        )
        sizes = sum_pool(rows.new_ones(rows.size(0), 1), graph, num_graphs).clamp(min=1)
        numbers = _contractions(rows, belongs.to(rows.dtype), graph, sizes)
        said = self._said(numbers, graph, sizes)
        picked = said.gather(1, self.first_output[multiplicity.long()] + rank)
        exists = multiplicity > 0
        # Columns of smaller spaces come first.
        smaller = multiplicity.unsqueeze(1) < multiplicity.unsqueeze(2)
        before = (smaller & exists.unsqueeze(1)).sum(2)
        target = torch.where(exists, before + rank, 0)
        return torch.zeros_like(rows).scatter_add(1, target, torch.where(exists, picked, 0.0))

    def _said(
        self,
        numbers: Float[Tensor, "n s 5"],
        graph: Int64[Tensor, " n"],
        sizes: Float[Tensor, "b 1"],
    ) -> Float[Tensor, "n o"]:
        """What the networks say of all places, those without a space included."""
        first, first_bias = self._at_places(self.contraction, self.contraction_bias)
        states = (_by_place(numbers, first) + first_bias).relu()
        for one in zip(self.own, self.shared, self.set_bias, strict=True):
            own, shared, bias = self._at_places(*one)
            means = sum_pool(states.flatten(1), graph, sizes.size(0)) / sizes
            means = _by_place(means.unflatten(1, states.shape[1:]), shared) + bias
            states = (_by_place(states, own) + means.index_select(0, graph)).relu()
        for one in zip(self.head, self.head_bias, strict=True):
            weight, bias = self._at_places(*one)
            states = (_by_place(states, weight) + bias).relu()
        counts = [len(self.out) // q for q in range(1, len(self.out) + 1)]
        parts = zip(self.out, states.split(counts, dim=1), strict=True)
        return torch.cat([out(part).flatten(1) for out, part in parts], dim=1)

    def _at_places(self, *weights: Float[Tensor, "q ..."]) -> list[Float[Tensor, "s ..."]]:
        """The weights of the network of each place."""
        return [weight.index_select(0, self.kind - 1) for weight in weights]


def _rank(multiplicity: Integer[Tensor, "n c"]) -> Int64[Tensor, "n c"]:
    """How many columns before each have the same multiplicity."""
    count = multiplicity.size(1)
    earlier = torch.ones(count, count, dtype=torch.bool, device=multiplicity.device).tril(-1)
    return ((multiplicity.unsqueeze(2) == multiplicity.unsqueeze(1)) & earlier).sum(2)


def _contractions(
    rows: Float[Tensor, "n c"],
    belongs: Float[Tensor, "n s c"],
    graph: Int64[Tensor, " n"],
    sizes: Float[Tensor, "b 1"],
) -> Float[Tensor, "n s 5"]:
    r"""The five contractions of the projectors on some spaces, at each node.

    With $P = \sum_k v_k v_k^\top$ over the eigenvectors of a space, $P_{uu} = \sum_k v_{uk}^2$ and
    $\sum_w P_{uw} = \sum_k v_{uk} \sum_w v_{wk}$, and P is symmetric.

    Args:
        rows: The entries of all eigenvectors at each node.
        belongs: 1 where an eigenvector is of a space.
        graph: Graph of each node.
        sizes: Number of nodes of each graph, at least 1.

    Returns:
        The contractions, in the order of the coefficients.
    """
    sums = (sum_pool(rows, graph, sizes.size(0)) / sizes).index_select(0, graph)
    own = belongs @ torch.stack((rows.square(), rows * sums), dim=2)
    of_graph = (sum_pool(own.flatten(1), graph, sizes.size(0)) / sizes).index_select(0, graph)
    (diagonal, along), (trace, total) = own.unbind(2), of_graph.view_as(own).unbind(2)
    return torch.stack((diagonal, trace, along, along, total), dim=2)


def _by_place(
    states: Float[Tensor, "r s i"], weights: Float[Tensor, "s i o"]
) -> Float[Tensor, "r s o"]:
    """The linear map of each place."""
    return torch.einsum("rsi,sio->rso", states, weights)


def eigenvectors_of(
    batch: CycleData, dtype: torch.dtype, *, count: int | None = None
) -> tuple[Float[Tensor, "n c"], Integer[Tensor, "n c"]]:
    """The rows of eigenvectors of a batch.

    Args:
        batch: Graphs that went through `AddLeadingEigenvectors`.
        dtype: Type of the entries, which need not be that of the transform.
        count: How many there must be room for; any number if left out.

    Returns:
        The entries at each node, and the dimension of the space of each, 0 where there is none.

    Raises:
        ValueError: If the batch has none, or another number of them.
    """
    if "eigen_rows" not in batch:
        raise ValueError(
            "`batch` must hold rows of eigenvectors, but it has no `eigen_rows`; try: "
            f"`AddLeadingEigenvectors(count={count or 37})` on every graph"
        )
    rows, found = batch.eigen_rows, batch.eigen_rows.size(1)
    if count is not None and found != count:
        raise ValueError(
            f"`batch.eigen_rows` must have {count} columns, one for each eigenvector, but it has "
            f"{found}; try: `AddLeadingEigenvectors(count={count})`"
        )
    return rows.to(dtype), batch.eigen_multiplicity
