"""From weights on arcs, which PyG stores, to weights on undirected edges."""

from typing import Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from cyclenet.data import CycleData
from cyclenet.topology import GraphError, UndirectedEdges


def edge_weights(
    graph: CycleData,
    name: str,
    found: UndirectedEdges,
    reduce: Literal["raise", "mean"] = "raise",
) -> Float[np.ndarray, " m"]:
    """One weight for each undirected edge, in float64.

    Args:
        graph: The graph that holds the weights.
        name: The attribute with one number for each column of `edge_index`, of any real type.
        found: The undirected edges of the graph.
        reduce: What to do with arcs of one edge that disagree: refuse, or take their mean, which
            does not depend on the order of the arcs.

    Returns:
        The weights in the order of the edges. Arcs without an edge have no say.

    Raises:
        GraphError: If there is no such attribute, its length is not the number of arcs, a weight
            is NaN, infinite or negative, or two arcs of one edge disagree.
    """
    arcs = np.flatnonzero(found.arc_sign)
    values = _weights_of_arcs(graph, name)[arcs]
    edge_of = found.arc_to_edge[arcs]
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        at = int(np.argmax(bad))
        raise GraphError(
            f"`{name}` must be finite and not negative (shortest cycles are undefined otherwise), "
            f"but edge {_ends(found, int(edge_of[at]))} has {values[at]}",
            code="weight_value",
            column=int(arcs[at]),
        )
    weights = np.empty(found.edges.shape[1])
    weights[edge_of] = values
    differs = weights[edge_of] != values
    if not differs.any():
        return weights
    if reduce == "raise":
        at = int(np.argmax(differs))
        raise GraphError(
            f"`{name}` must be the same on all arcs of an edge, but edge "
            f"{_ends(found, int(edge_of[at]))} has {values[at]} and {weights[edge_of[at]]}; try: "
            "reduce='mean'",
            code="weights_disagree",
            column=int(arcs[at]),
        )
    # Edges whose arcs agree keep their weight to the last bit; a sum and a division could miss it.
    mixed = np.unique(edge_of[differs])
    order = np.lexsort((values, edge_of))
    totals = np.bincount(edge_of[order], weights=values[order], minlength=weights.size)
    weights[mixed] = totals[mixed] / np.bincount(edge_of, minlength=weights.size)[mixed]
    return weights


def _weights_of_arcs(graph: CycleData, name: str) -> Float[np.ndarray, " a"]:
    weights = graph[name] if name in graph else None
    if not isinstance(weights, Tensor) or weights.is_complex():
        kind = weights.dtype if isinstance(weights, Tensor) else type(weights).__name__
        raise GraphError(
            f"`weights` must name an attribute that holds one real number for each arc, but "
            f"`{name}` is {weights if weights is None else kind}; the graph has "
            f"{sorted(graph.without_cycles().keys())}",
            code="weight_missing",
        )
    num_arcs = graph.edge_index.size(1)
    if tuple(weights.shape) != (num_arcs,):
        hint = "; try: .squeeze(-1)" if tuple(weights.shape) == (num_arcs, 1) else ""
        raise GraphError(
            f"`{name}` must hold one number for each of the {num_arcs} columns of `edge_index`, "
            f"but its shape is {tuple(weights.shape)}{hint}",
            code="weight_shape",
        )
    return weights.detach().cpu().to(torch.float64).numpy()


def _ends(found: UndirectedEdges, edge: int) -> str:
    tail, head = found.edges[:, edge].tolist()
    return f"({tail}, {head})"
