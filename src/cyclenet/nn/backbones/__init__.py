"""Networks that predict for graphs, and take an encoding as states of their arcs."""

from cyclenet.nn.backbones.backbone import Backbone
from cyclenet.nn.backbones.basisnet import BasisNetGatedGCN, BasisNetGIN, BasisNetPNA
from cyclenet.nn.backbones.cwn import CWN
from cyclenet.nn.backbones.gated_gcn import GatedGCN
from cyclenet.nn.backbones.message_passing import GAT, GCN, GIN
from cyclenet.nn.backbones.molecular import MolecularBackbone
from cyclenet.nn.backbones.molecular_signnet import MolecularSignNet
from cyclenet.nn.backbones.pna import PNA, mean_log_degree
from cyclenet.nn.backbones.ppgn import PPGN
from cyclenet.nn.backbones.product_gin import ProductGIN
from cyclenet.nn.backbones.signnet import SignNet

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
}

__all__ = [
    "BACKBONES",
    "CWN",
    "GAT",
    "GCN",
    "GIN",
    "PNA",
    "PPGN",
    "Backbone",
    "BasisNetGIN",
    "BasisNetGatedGCN",
    "BasisNetPNA",
    "GatedGCN",
    "MolecularBackbone",
    "MolecularSignNet",
    "ProductGIN",
    "SignNet",
    "mean_log_degree",
]
