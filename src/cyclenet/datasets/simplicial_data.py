"""From complexes to graphs with faces, for networks on edges and triangles."""

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Int8
from torch import Tensor

from cyclenet.data import CycleData
from cyclenet.datasets.point_complex import PointComplex
from cyclenet.datasets.torus import TorusSnapshot
from cyclenet.datasets.trajectories import TrajectorySet
from cyclenet.topology import edges_from_arcs

# What changes when edges are reversed: numbers of an edge, by the first row of the incidence that
# says which, and numbers of a pair of edges.
_ODD_ROWS = {"face_sign": "face_incidence", "cycle_sign": "cycle_incidence"}
_ODD_PAIRS = {"pair_projector": "pair_edges", "neighbour_weight": "neighbour_edges"}
# Sums of rows of a matrix whose entries change: the second of three columns.
_SUMS = ("projector_sums", "hodge_sums", "harmonic_sums")


def complex_data(complex: PointComplex) -> CycleData:
    """A complex as a graph with its triangles as faces, and features that say nothing.

    Args:
        complex: The complex. Tetrahedra are left out.

    Returns:
        `edge_index` with both directions of every edge, first all from tail to head, and `edges`,
        `arc_to_edge`, `arc_sign`, `face_incidence`, `face_sign`, `num_faces` of `CycleData`; `x` of
        shape (n, 1) and `face_features` of shape (f, 1), both zero.
    """
    arcs = np.concatenate((complex.edges, complex.edges[::-1]), axis=1)
    found = edges_from_arcs(arcs, complex.num_nodes)
    boundary = complex.boundary()
    num_faces = boundary.indptr.size - 1
    faces = np.arange(num_faces).repeat(np.diff(boundary.indptr))
    return CycleData(
        x=torch.zeros(complex.num_nodes, 1),
        edge_index=torch.from_numpy(arcs),
        edges=torch.from_numpy(found.edges),
        arc_to_edge=torch.from_numpy(found.arc_to_edge),
        arc_sign=torch.from_numpy(found.arc_sign),
        face_incidence=torch.from_numpy(np.stack((boundary.indices, faces)).astype(np.int64)),
        face_sign=torch.from_numpy(boundary.data.astype(np.int8)),
        num_faces=torch.tensor([num_faces]),
        face_features=torch.zeros(num_faces, 1),
    )


def trajectory_data(
    samples: TrajectorySet, transform: Callable[[CycleData], CycleData] | None = None
) -> list[CycleData]:
    """Walks as graphs with faces, which share whatever is the same for all of them.

    The graphs are what `complex_data` gives, and it is made once: of all tensors only those are a
    sample's own that differ. These are its flow and its label, and, where it has an orientation
    of its own, the direction of `edges` and whatever changes its sign with it.

    There a column of `edges` may have tail > head, and our transforms will not take such a graph.
    So they come first: `transform` sees the complex, once, and what it adds is turned around
    with the rest. One thing cannot be: sums of the signed entries of a row are not known under
    other directions. They are NaN there, and the other two columns of `projector_sums`,
    `hodge_sums` and `harmonic_sums` are as they were.

    Args:
        samples: The walks.
        transform: What to add to the complex: a transform, or several as `Compose` has them. The
            flow takes the place of any `edge_features`.

    Returns:
        One graph for each, with the flow in `edge_features` of shape (m, 1), which changes its
        sign with the direction of the edge, and the class in `y` of shape (1, 1).
    """
    shared = complex_data(samples.complex)
    if transform is not None:
        shared = transform(shared)
    made = []
    for flow, label, signs in zip(
        samples.flows, samples.labels.tolist(), samples.orientations, strict=True
    ):
        data = shared if (signs > 0).all() else _turned(shared, signs)
        data = data.__copy__()
        data.edge_features = torch.from_numpy((signs * flow).astype(np.float32)).unsqueeze(1)
        data.y = torch.tensor([[float(label)]])
        made.append(data)
    return made


def torus_data(sample: TorusSnapshot) -> CycleData:
    """A snapshot of a point cloud as a graph with faces and a target for every edge.

    Args:
        sample: The snapshot.

    Returns:
        What `complex_data` gives, with the Betti numbers of the link of each edge in
        `edge_features` of shape (m, 3), and its distance from the nearest hole in `y`, (m, 1).
    """
    data = complex_data(sample.complex)
    data.edge_features = _rounded(sample.link_betti)
    data.y = _rounded(sample.labels[:, None])
    return data


def _rounded(values: np.ndarray) -> Tensor:
    return torch.from_numpy(values.astype(np.float32))


def _turned(data: CycleData, signs: Int8[np.ndarray, " m"]) -> CycleData:
    """The same complex with the edges of negative sign reversed."""
    turned = data.__copy__()
    sign = torch.from_numpy(np.ascontiguousarray(signs))
    turned.edges = torch.where(sign > 0, data.edges, data.edges.flip(0))
    turned.arc_sign = data.arc_sign * sign[data.arc_to_edge]
    for name in data.keys():
        if name in _ODD_ROWS:
            turned[name] = data[name] * sign[data[_ODD_ROWS[name]][0]]
        elif name in _ODD_PAIRS:
            one, other = sign[data[_ODD_PAIRS[name]]]
            turned[name] = data[name] * one * other
        elif name in _SUMS:
            turned[name] = data[name].clone()
            turned[name][:, 1] = torch.nan
    return turned
