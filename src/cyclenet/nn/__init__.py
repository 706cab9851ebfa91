"""Networks: layers, encoders, backbones, and the model of the paper."""

from cyclenet.nn import backbones, encoders, layers
from cyclenet.nn.cyclenet import CycleNet

__all__ = ["CycleNet", "backbones", "encoders", "layers"]
