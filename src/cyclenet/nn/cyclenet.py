"""CycleNet: an encoder of arcs in front of a backbone. The model of the paper on one screen."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from cyclenet.data import CycleData
from cyclenet.nn.backbones import BACKBONES, EDGE_BACKBONES, Backbone, Dist2Cycle
from cyclenet.nn.encoders import ENCODERS, Encoder
from cyclenet.nn.layers import ArcStates, reset_children


class CycleNet(torch.nn.Module):
    r"""A backbone whose arcs carry their place in the cycle space.

    With $a_{uv}$ the attributes of an arc and $s_{uv}$ its encoding, the backbone reads
    $[a_{uv}, s_{uv}]$ as the state of the arc. The laws are those of the parts: in evaluation mode
    the prediction for a graph depends neither on the names of its nodes, nor on the order of its
    arcs, nor on the other graphs of the batch.

    Args:
        in_channels: Width of the node features `batch.x`.
        out_channels: Number of predictions for each graph, or for each edge.
        hidden_channels: Width of the states inside.
        encoding_channels: Width of the encoding; None means that of the states inside.
        edge_channels: Width of `batch.edge_attr` that the backbone reads beside the encoding; 0
            leaves attributes alone.
        backbone: A name from `nn.backbones.BACKBONES`, or from `EDGE_BACKBONES` for predictions of
            every undirected edge.
        encoder: A name from `nn.encoders.ENCODERS`, or None for the backbone alone.
        backbone_options: More arguments of the backbone, such as ``{"num_layers": 3}``.
        encoder_options: More arguments of the encoder, such as ``{"depth": "contracted"}``.

    Raises:
        ValueError: If there is no such backbone or encoder.

    Example:
        >>> model = CycleNet(7, 2, hidden_channels=16, backbone="gcn", encoder="peoi")
        >>> type(model.backbone).__name__, type(model.encoder).__name__
        ('GCN', 'PEOIEncoder')
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        hidden_channels: int = 128,
        encoding_channels: int | None = None,
        edge_channels: int = 0,
        backbone: str = "gin",
        encoder: str | None = "projector",
        backbone_options: Mapping[str, Any] | None = None,
        encoder_options: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        self.edge_channels = edge_channels
        self.encoder: Encoder | None = None
        if encoder is not None:
            make_encoder = _named(ENCODERS, encoder, "encoder")
            width = hidden_channels if encoding_channels is None else encoding_channels
            self.encoder = make_encoder(width, **(encoder_options or {}))
            edge_channels += self.encoder.out_channels
        make_backbone: Any = _named(BACKBONES | EDGE_BACKBONES, backbone, "backbone")
        self.backbone: Backbone | Dist2Cycle = make_backbone(
            in_channels,
            out_channels,
            edge_channels=edge_channels,
            hidden_channels=hidden_channels,
            **(backbone_options or {}),
        )

    def forward(self, batch: CycleData) -> Float[Tensor, "r o"]:
        """Predictions for the graphs of a batch, or for their edges.

        Args:
            batch: One graph or several, with node features `x` and the numbers that the encoder
                reads.

        Returns:
            One row for each graph, or for each undirected edge.
        """
        own = _attributes(batch, self.edge_channels) if self.edge_channels else None
        if self.encoder is None:
            return self.backbone(batch, own)
        if self.backbone.reads_shared_states:
            return self.backbone(batch, ArcStates(own, *self.encoder.shared_rows(batch)))
        rows = self.encoder(batch)
        return self.backbone(batch, rows if own is None else torch.cat((own, rows), dim=1))

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        reset_children(self)


def _named(classes: Mapping[str, type], name: str, kind: str) -> Any:
    if name not in classes:
        near = get_close_matches(name, classes, 1, cutoff=0.5)
        offer = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"`{kind}` must be one of {tuple(classes)}, but it is {name!r}{offer}")
    return classes[name]


def _attributes(batch: CycleData, channels: int) -> Float[Tensor, "a e"]:
    """The attributes of the arcs, once they have the width that was announced."""
    attributes, expected = batch.edge_attr, (batch.edge_index.size(1), channels)
    if attributes is None or tuple(attributes.shape) != expected:
        came = "missing" if attributes is None else f"of shape {tuple(attributes.shape)}"
        raise ValueError(
            f"`batch.edge_attr` must have shape {expected} (`edge_channels` columns), but it is "
            f"{came}; try: edge_channels=0 to leave the attributes of arcs alone"
        )
    return attributes
