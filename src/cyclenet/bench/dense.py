"""Peers of our networks: the same numbers from padded dense tensors, as published code has them."""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from cyclenet.nn.encoders import PEOIEncoder
from cyclenet.nn.layers.equivariant import PairLayer


def padded(matrices: Sequence[Float[Tensor, "_ _ w"]]) -> Float[Tensor, "b r c w"]:
    """Matrices of vectors, filled up with zeros to one size.

    Args:
        matrices: The matrices.

    Returns:
        All of them.
    """
    rows, columns = (max(one.size(dim) for one in matrices) for dim in (0, 1))
    batch = matrices[0].new_zeros(len(matrices), rows, columns, matrices[0].size(2))
    for place, one in zip(batch, matrices, strict=True):
        place[: one.size(0), : one.size(1)] = one
    return batch


def dense_peoi(
    encoder: PEOIEncoder,
    entries: Float[Tensor, "b m g w"],
    edges: Bool[Tensor, "b m"],
    cycles: Bool[Tensor, "b g"],
) -> Float[Tensor, "b m d"]:
    """PEOI by its formula, word by word, with a row for each pair of edges and cycle.

    Args:
        encoder: Our encoder, whose networks are used.
        entries: Padded incidence matrices, whose entries are vectors.
        edges: Which rows are edges.
        cycles: Which columns are cycles.

    Returns:
        The encoding; rows that are no edges hold anything.
    """
    b, m, g, width = entries.shape
    if encoder.form == "light":
        inner = _through(encoder.rho1, entries.sum(1)).unsqueeze(1).expand(b, m, g, -1)
    else:
        one = entries.unsqueeze(2).expand(b, m, m, g, width)
        other = entries.unsqueeze(1).expand(b, m, m, g, width)
        terms = _through(encoder.rho1, torch.cat((one, other), 4))
        counted = edges.unsqueeze(1).expand(b, m, m)
        if encoder.sum_over == "others":
            counted = counted & ~torch.eye(m, dtype=torch.bool, device=edges.device)
        inner = (terms * counted.view(b, m, m, 1, 1)).sum(2)
    outer = _through(encoder.rho2, torch.cat((inner, entries), 3)) * cycles.view(b, 1, g, 1)
    return _through(encoder.rho3, outer.sum(2))


def fifteen(
    matrices: Float[Tensor, "b m m k"], edges: Bool[Tensor, "b m"]
) -> list[Float[Tensor, "b m m k"]]:
    """The outputs of the fifteen maps from pairs to pairs, one matrix for each.

    Every map divides by the size of the graph; the published code divides by that of the padding.

    Args:
        matrices: Padded matrices, zero outside of the graphs.
        edges: Which rows and columns are edges.

    Returns:
        The outputs, in the order of the coefficients of `PairLayer`.
    """
    size = edges.sum(1).clamp(min=1).view(-1, 1, 1)
    diagonal = matrices.diagonal(dim1=1, dim2=2).transpose(1, 2)
    row, column = matrices.sum(2) / size, matrices.sum(1) / size
    trace = (diagonal.sum(1, keepdim=True) / size).expand_as(diagonal)
    total = (row.sum(1, keepdim=True) / size).expand_as(diagonal)

    def on_diagonal(values: Tensor) -> Tensor:
        return torch.diag_embed(values.transpose(1, 2)).permute(0, 2, 3, 1)

    def along(values: Tensor, dim: int) -> Tensor:
        return values.unsqueeze(dim).expand_as(matrices)

    return [
        on_diagonal(diagonal), on_diagonal(trace), on_diagonal(row), on_diagonal(column),
        on_diagonal(total), along(column, 2), along(row, 2), along(column, 1), along(row, 1),
        matrices, matrices.transpose(1, 2), along(diagonal, 2), along(diagonal, 1),
        along(trace, 2), along(total, 2),
    ]  # fmt: skip


def dense_pair_layer(
    layer: PairLayer, matrices: Float[Tensor, "b m m i"], edges: Bool[Tensor, "b m"]
) -> Float[Tensor, "b m m o"]:
    """A layer from pairs to pairs with all fifteen matrices side by side.

    Args:
        layer: Our layer, whose coefficients are used.
        matrices: Padded matrices, zero outside of the graphs.
        edges: Which rows and columns are edges.

    Returns:
        The new matrices, zero outside of the graphs.
    """
    parts = torch.stack(fifteen(matrices, edges), dim=4)
    new = torch.einsum("bijkt,kot->bijo", parts, layer.coefficients) + layer.bias[1]
    identity = torch.eye(edges.size(1), dtype=new.dtype, device=new.device)
    new = new + identity.unsqueeze(2) * layer.bias[0]
    return new * (edges.unsqueeze(2) & edges.unsqueeze(1)).unsqueeze(3)


def _through(
    network: Callable[[Tensor], Tensor], rows: Float[Tensor, "*shape i"]
) -> Float[Tensor, "*shape o"]:
    """What a network of rows makes of the last dimension of a larger tensor."""
    found = network(rows.reshape(-1, rows.size(-1)))
    return found.view(*rows.shape[:-1], found.size(-1))
