"""Networks that predict for graphs, and take an encoding as states of their arcs."""

import torch

from cyclenet.nn.backbones.backbone import Backbone
from cyclenet.nn.backbones.basisnet import BasisNetGatedGCN, BasisNetGIN, BasisNetPNA
from cyclenet.nn.backbones.cwn import CWN
from cyclenet.nn.backbones.dist2cycle import Dist2Cycle
from cyclenet.nn.backbones.flow import FlowBackbone, FlowSAT, FlowSCConv, FlowSCN
from cyclenet.nn.backbones.gated_gcn import GatedGCN
from cyclenet.nn.backbones.message_passing import GAT, GCN, GIN
from cyclenet.nn.backbones.molecular import MolecularBackbone
from cyclenet.nn.backbones.molecular_signnet import MolecularSignNet
from cyclenet.nn.backbones.pna import PNA, mean_log_degree
from cyclenet.nn.backbones.ppgn import PPGN
from cyclenet.nn.backbones.product_gin import ProductGIN
from cyclenet.nn.backbones.signnet import SignNet
from cyclenet.nn.backbones.simplicial import SCN, SCConv, SimplicialBackbone
from cyclenet.nn.backbones.simplicial_attention import SAN, SAT
from cyclenet.nn.backbones.superpixel_graph import SuperpixelGAT, SuperpixelGCN

# Every backbone by the name that an experiment asks for it with.
BACKBONES: dict[str, type[Backbone]] = {
    "gin": GIN,
    "gcn": GCN,
    "gat": GAT,
    "signnet": SignNet,
    "ppgn": PPGN,
    "cwn": CWN,
    "product_gin": ProductGIN,
    "gated_gcn": GatedGCN,
    "pna": PNA,
    "molecular_signnet": MolecularSignNet,
    "basisnet_gin": BasisNetGIN,
    "basisnet_gated_gcn": BasisNetGatedGCN,
    "basisnet_pna": BasisNetPNA,
    "superpixel_gcn": SuperpixelGCN,
    "superpixel_gat": SuperpixelGAT,
    "scn": SCN,
    "scconv": SCConv,
    "sat": SAT,
    "san": SAN,
    "flow_scn": FlowSCN,
    "flow_scconv": FlowSCConv,
    "flow_sat": FlowSAT,
}

# Those that say something of every edge, and not of the graph.
EDGE_BACKBONES: dict[str, type[torch.nn.Module]] = {"dist2cycle": Dist2Cycle}

__all__ = [
    "BACKBONES",
    "CWN",
    "EDGE_BACKBONES",
    "GAT",
    "GCN",
    "GIN",
    "PNA",
    "PPGN",
    "SAN",
    "SAT",
    "SCN",
    "Backbone",
    "BasisNetGIN",
    "BasisNetGatedGCN",
    "BasisNetPNA",
    "Dist2Cycle",
    "FlowBackbone",
    "FlowSAT",
    "FlowSCConv",
    "FlowSCN",
    "GatedGCN",
    "MolecularBackbone",
    "MolecularSignNet",
    "ProductGIN",
    "SCConv",
    "SignNet",
    "SimplicialBackbone",
    "SuperpixelGAT",
    "SuperpixelGCN",
    "mean_log_degree",
]
