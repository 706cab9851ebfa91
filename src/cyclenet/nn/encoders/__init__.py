"""Encoders: from the cycle numbers of a graph to one row for each of its arcs."""

from cyclenet.nn.encoders.encoder import Encoder
from cyclenet.nn.encoders.peoi import PEOIEncoder
from cyclenet.nn.encoders.profile import ProfileEncoder
from cyclenet.nn.encoders.projector import ProjectorEncoder

ENCODERS: dict[str, type[Encoder]] = {
    "projector": ProjectorEncoder,
    "peoi": PEOIEncoder,
    "profile": ProfileEncoder,
}

__all__ = ["ENCODERS", "Encoder", "PEOIEncoder", "ProfileEncoder", "ProjectorEncoder"]
