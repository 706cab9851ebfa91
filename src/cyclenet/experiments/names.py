"""The names an experiment file may use, without the classes: reading a file needs no torch.

A test holds them equal to the keys of the mappings that `experiments.build` looks them up in.
"""

from cyclenet.datasets.strongly_regular import FAMILIES

BACKBONE_NAMES = ("gin", "gcn", "gat", "signnet", "ppgn", "cwn", "product_gin", "gated_gcn", "pna")
ENCODER_NAMES = ("projector", "peoi", "profile")
BASELINE_NAMES = ("constant", "edges", "nodes", "long_cycles", "degrees", "centroid")

SEPARATION_NAMES = tuple(FAMILIES)
TRAINING_NAMES = (
    "3-cfi",
    "4-cfi",
    "n_circles",
    "circle_extents",
    "long_cycles",
    "cycle_persistence",
)
TASK_NAMES = (*TRAINING_NAMES, *SEPARATION_NAMES)

CLAIM_NAMES = (
    "multisets_separate",
    "projector_beats_2wl",
    "contracted_is_blind",
    "pairs_cannot_separate_cfi4",
    "peoi_beats_cycle_counts",
    "filtered_peoi_beats_epd",
    "basis_lengths_separate_cfi",
    "sr_basis_is_all_triangles",
    "shortest_basis_uniqueness_is_decidable",
    "profile_separates_all",
    "log_softmax_is_half",
    "betti_label_is_edge_count",
)
