"""The names an experiment file may use, without the classes: reading a file needs no torch.

A test holds them equal to the keys of the mappings that `experiments.build` looks them up in.
"""

from cyclenet.datasets.strongly_regular import FAMILIES

BACKBONE_NAMES = (
    "gin",
    "gcn",
    "gat",
    "signnet",
    "ppgn",
    "cwn",
    "product_gin",
    "gated_gcn",
    "pna",
    "molecular_signnet",
    "basisnet_gin",
    "basisnet_gated_gcn",
    "basisnet_pna",
    "superpixel_gcn",
    "superpixel_gat",
    "scn",
    "scconv",
    "sat",
    "san",
    "flow_scn",
    "flow_scconv",
    "flow_sat",
)
# Those that say something of every edge.
EDGE_BACKBONE_NAMES = ("dist2cycle",)
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
    "zinc",
    "trajectories",
    "tori",
)
# Tasks whose published sets have validation graphs too.
VALIDATED_NAMES = ("zinc",)
TASK_NAMES = (*TRAINING_NAMES, *SEPARATION_NAMES)

# Sets of graphs whose encodings are timed, and the encodings.
TIMED_SETS = (
    "zinc-train",
    "zinc-validation",
    "zinc-test",
    "molecules",
    "circle_extents-train",
    "circle_extents-test",
)
TIMED_ENCODINGS = ("hodge", "projector", "basis")

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
