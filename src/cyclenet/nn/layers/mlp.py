"""Small networks that treat every row alike."""

import torch
from jaxtyping import Float
from torch import Tensor

from cyclenet.nn.layers.pooling import Readout
from cyclenet.nn.layers.row_norm import RowNorm


class Stack(torch.nn.Sequential):
    """Modules one after the other, each of which treats every row alike."""

    def forward(self, input: Float[Tensor, "r i"]) -> Float[Tensor, "r o"]:
        """The rows after the last module."""
        return super().forward(input)

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        reset_children(self)


class NormedLinear(Stack):
    r"""A linear map, normalised: $x \mapsto \mathrm{ReLU}(\mathrm{norm}(W x))$.

    Args:
        in_channels: Width of a row before.
        out_channels: Width of a row after.
    """

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__(
            torch.nn.Linear(in_channels, out_channels, bias=False),
            RowNorm(out_channels),
            torch.nn.ReLU(),
        )


class NormedMLP(Stack):
    r"""Two linear maps, normalised between: $x \mapsto V \mathrm{ReLU}(\mathrm{norm}(W x)) + c$.

    A normalisation takes the mean off whatever it is given, so a bias in front of one never
    learns. That is why W has none, and why V has one on request only.

    Args:
        in_channels: Width of a row before.
        hidden_channels: Width between the two maps.
        out_channels: Width of a row after.
        bias: Whether V comes with a bias c.
    """

    def __init__(
        self, in_channels: int, hidden_channels: int, out_channels: int, *, bias: bool = False
    ) -> None:
        super().__init__(
            *NormedLinear(in_channels, hidden_channels),
            torch.nn.Linear(hidden_channels, out_channels, bias=bias),
        )


class GraphHead(Stack):
    r"""From one row for each graph to the prediction: two linear maps with a ReLU between.

    Sums of nodes grow with the graph, so after a sum the first map is normalised (and its bias
    would be taken off again).

    Args:
        in_channels: Width of a pooled row.
        hidden_channels: Width between the two maps.
        out_channels: Number of predictions for each graph.
        readout: How the rows were pooled.
    """

    def __init__(
        self, in_channels: int, hidden_channels: int, out_channels: int, readout: Readout
    ) -> None:
        if readout == "sum":
            first = NormedLinear(in_channels, hidden_channels)
        else:
            first = (torch.nn.Linear(in_channels, hidden_channels), torch.nn.ReLU())
        super().__init__(*first, torch.nn.Linear(hidden_channels, out_channels))


def reset_children(module: torch.nn.Module) -> None:
    """Draw anew the parameters of all modules inside a module.

    Args:
        module: The module; parameters of its own are left to it.
    """
    for child in module.children():
        reset = getattr(child, "reset_parameters", None)
        if callable(reset):
            reset()
        else:
            reset_children(child)
