"""Building blocks of the networks. Rows are ragged: nothing here ever sees padding."""

from cyclenet.nn.layers.convolution import GATLayer, GCNLayer, GINLayer
from cyclenet.nn.layers.mlp import (
    GraphHead,
    NormedLinear,
    NormedMLP,
    RowNorm,
    reset_children,
)
from cyclenet.nn.layers.pairs import NodePairs
from cyclenet.nn.layers.pooling import POOLS, mean_pool, segment_softmax, sum_pool

__all__ = [
    "POOLS",
    "GATLayer",
    "GCNLayer",
    "GINLayer",
    "GraphHead",
    "NodePairs",
    "NormedLinear",
    "NormedMLP",
    "RowNorm",
    "mean_pool",
    "reset_children",
    "segment_softmax",
    "sum_pool",
]
