"""Building blocks of the networks. Rows are ragged: no padding enters a number."""

from cyclenet.nn.layers.arc_states import ArcStates, map_arcs
from cyclenet.nn.layers.cell_attention import PairAttention, SenderAttention
from cyclenet.nn.layers.convolution import GATLayer, GCNLayer, GINLayer
from cyclenet.nn.layers.hodge import Complex, Incidence
from cyclenet.nn.layers.mlp import (
    GraphHead,
    NormedLinear,
    NormedMLP,
    reset_children,
)
from cyclenet.nn.layers.pairs import NodePairs
from cyclenet.nn.layers.pooling import POOLS, mean_pool, segment_softmax, sum_pool
from cyclenet.nn.layers.row_norm import RowNorm, real_rows
from cyclenet.nn.layers.simplicial import SCConvLayer, SCNLayer

__all__ = [
    "POOLS",
    "ArcStates",
    "Complex",
    "GATLayer",
    "GCNLayer",
    "GINLayer",
    "GraphHead",
    "Incidence",
    "NodePairs",
    "NormedLinear",
    "NormedMLP",
    "PairAttention",
    "RowNorm",
    "SCConvLayer",
    "SCNLayer",
    "SenderAttention",
    "map_arcs",
    "mean_pool",
    "real_rows",
    "reset_children",
    "segment_softmax",
    "sum_pool",
]
