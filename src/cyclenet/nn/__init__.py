"""Networks: layers, encoders, backbones, and the model of the paper."""

from cyclenet.nn import backbones, encoders, layers

__all__ = ["backbones", "encoders", "layers"]
