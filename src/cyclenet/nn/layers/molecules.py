"""What networks on molecules begin and end with: rows of types, and a head that tapers off."""

import torch
from jaxtyping import Float, Shaped
from torch import Tensor
from torch.nn.functional import one_hot

from cyclenet.nn.layers.mlp import Stack


class TypeEmbedding(torch.nn.Module):
    r"""A learned row for each type: $t \mapsto w_t$.

    Types may come as integers or as rows of weights, which mix the learned rows: $x \mapsto x W$.
    Integers are made one-hot and take the same way, which on a GPU is far cheaper to go back than
    collecting the gradients of thousands of atoms in the few rows of a table.

    The learned rows start with unit variance, as those of an embedding.

    Args:
        num_types: Number of types, or the width of a row of weights.
        channels: Width of a learned row.
    """

    def __init__(self, num_types: int, channels: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(num_types, channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        torch.nn.init.normal_(self.weight)

    def forward(self, rows: Float[Tensor, "r i"]) -> Float[Tensor, "r o"]:
        """What is learned of each row.

        Args:
            rows: Weights of the types, or what `as_weights` makes of integers.

        Returns:
            One row for each.
        """
        return rows @ self.weight

    def as_weights(self, types: Shaped[Tensor, "r *one"], name: str) -> Float[Tensor, "r *i"]:
        """Types as rows of weights: integers become one-hot, floats stay as they are.

        Args:
            types: Integers, as one column or without columns; or rows of floats.
            name: What to call them in an error.

        Returns:
            The rows.

        Raises:
            ValueError: If there are several integers in a row, or some that are no types. The
                latter is for the device to say if they are on a GPU.
        """
        if types.is_floating_point():
            return types
        if types.dim() != 1 and types.shape[1:] != (1,):
            raise ValueError(
                f"`{name}` must hold one type in each row, but its shape is {tuple(types.shape)}; "
                "try: floats, if its columns are features"
            )
        num_types = self.weight.size(0)
        looked_at = types.device.type == "cpu" and not torch.compiler.is_compiling()
        if looked_at and ((types < 0) | (types >= num_types)).any():
            raise ValueError(
                f"`{name}` must hold types from 0 to {num_types - 1}, but it holds values from "
                f"{int(types.min())} to {int(types.max())}"
            )
        return one_hot(types.flatten().long(), num_types).to(self.weight.dtype)


class TaperedHead(Stack):
    r"""From a row for each graph to the prediction, through half the width and a quarter of it.

    Linear maps $k \to \lfloor k/2 \rfloor \to \lfloor k/4 \rfloor \to o$ with ReLUs between
    (Dwivedi et al. 2020).

    Args:
        in_channels: Width k of a pooled row.
        out_channels: Number o of predictions for each graph.
    """

    def __init__(self, in_channels: int, out_channels: int) -> None:
        half, quarter = max(in_channels // 2, 1), max(in_channels // 4, 1)
        super().__init__(
            torch.nn.Linear(in_channels, half),
            torch.nn.ReLU(),
            torch.nn.Linear(half, quarter),
            torch.nn.ReLU(),
            torch.nn.Linear(quarter, out_channels),
        )
