"""Laws that encoders keep, as checks for anybody's encoder.

Each check raises `AssertionError` with the law and by how much it fails.
"""

import copy
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch_geometric.data import Batch, Data

from cyclenet.data import CycleData
from cyclenet.datasets import molecule_graphs
from cyclenet.topology import shortest_cycle_basis

__all__ = [
    "assert_all_parameters_learn",
    "assert_batch_invariant",
    "assert_cycle_order_invariant",
    "assert_permutation_equivariant",
    "check_encoder",
    "sample_graphs",
]

# Running statistics follow by a tenth at each pass.
_SETTLING_PASSES = 30

# A gradient in float64 that is smaller than the largest by this is zero but for rounding: that of a
# bias in front of a normalisation, for one.
_ROUNDING = 1e-12

Encode = Callable[[CycleData], Tensor]
Transform = Callable[[Data], CycleData]

# Sums of a few hundred float64 numbers in another order.
TOLERANCE = 1e-10

# What orders on the CPU cannot show: a parameter that a constructor moved to a device is a plain
# tensor there. The meta device is always at hand.
SECOND_DEVICE = "meta"


def sample_graphs() -> list[Data]:
    """Graphs to try an encoder on: molecules with unique bases, forests, no edges, no nodes.

    Returns:
        Graphs with both arcs of each edge and three float features on each node.
    """
    molecules = (graph for graph in molecule_graphs() if shortest_cycle_basis(*graph).is_unique)
    generator = torch.Generator().manual_seed(0)
    graphs = [_as_data(torch.from_numpy(e), n, generator) for e, n in islice(molecules, 6)]
    path = torch.tensor([[0, 1, 2], [1, 2, 3]])
    triangles = torch.tensor([[0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5]])
    none = torch.zeros((2, 0), dtype=torch.long)
    for edges, num_nodes in ((path, 5), (triangles, 7), (none, 3), (none, 0)):
        graphs.append(_as_data(edges, num_nodes, generator))
    return graphs


def check_encoder(
    encoder: torch.nn.Module,
    transform: Transform,
    graphs: Sequence[Data] | None = None,
    *,
    tolerance: float = TOLERANCE,
) -> None:
    """The whole battery: an encoder is a function of the graph, and all of it learns.

    Checked in float64 on a copy of the encoder: its shape on every kind of graph; that relabelling
    nodes, reordering arcs and turning edges around permute its rows and change nothing else; that
    the order and direction of listed cycles do not matter; that a graph's rows do not depend on
    the batch; that every parameter gets a gradient, and stays a parameter on a second device.

    Args:
        encoder: Takes a batch to one row for each column of `edge_index`.
        transform: Gives a graph the numbers that the encoder reads.
        graphs: Graphs whose shortest bases are unique, or None for `sample_graphs`.
        tolerance: How far two results may be apart, relative to the largest.

    Raises:
        AssertionError: If a law does not hold.
    """
    plain = sample_graphs() if graphs is None else list(graphs)
    encoder = copy.deepcopy(encoder).double()
    assert_all_parameters_learn(encoder, transform, plain)
    _settle(encoder, transform, plain)
    assert_permutation_equivariant(encoder, transform, plain, tolerance=tolerance)
    assert_batch_invariant(encoder, transform, plain, tolerance=tolerance)
    assert_cycle_order_invariant(encoder, transform, plain, tolerance=tolerance)


def assert_permutation_equivariant(
    encode: Encode,
    transform: Transform,
    graphs: Sequence[Data],
    *,
    seed: int = 0,
    tolerance: float = TOLERANCE,
) -> None:
    """Rows belong to arcs: new names of nodes and a new order of arcs permute the rows.

    New names turn around about half of the edges, since `edges` run from the lower to the higher
    name; so this is invariance to orientation too.

    Args:
        encode: An encoder in evaluation mode.
        transform: Gives a graph the numbers that the encoder reads.
        graphs: The graphs.
        seed: Of the new names and orders.
        tolerance: How far two rows may be apart, relative to the largest.

    Raises:
        AssertionError: If a row changes.
    """
    rng = np.random.default_rng(seed)
    for i, data in enumerate(graphs):
        nodes = torch.from_numpy(rng.permutation(data.num_nodes or 0))
        arcs = torch.from_numpy(rng.permutation(data.edge_index.size(1)))
        one = _rows(encode, transform(data))
        other = _rows(encode, transform(_renamed(data, nodes, arcs)))
        _assert_close(one[arcs], other, tolerance, f"graph {i} under new names of its nodes")


def assert_batch_invariant(
    encode: Encode,
    transform: Transform,
    graphs: Sequence[Data],
    *,
    tolerance: float = TOLERANCE,
) -> None:
    """A graph gets the same rows alone and among others, in any position.

    Args:
        encode: An encoder in evaluation mode.
        transform: Gives a graph the numbers that the encoder reads.
        graphs: The graphs.
        tolerance: How far two rows may be apart, relative to the largest.

    Raises:
        AssertionError: If a row changes.
    """
    items = [_in_float64(transform(data)) for data in graphs]
    alone = [_rows(encode, item) for item in items]
    for order in (range(len(items)), range(len(items) - 1, -1, -1)):
        batch = _joined([items[i] for i in order])
        expected = torch.cat([alone[i] for i in order])
        _assert_close(expected, _rows(encode, batch), tolerance, "graphs in a batch")


def assert_cycle_order_invariant(
    encode: Encode,
    transform: Transform,
    graphs: Sequence[Data],
    *,
    seed: int = 0,
    tolerance: float = TOLERANCE,
) -> None:
    """The order in which cycles are listed, and their directions, do not matter.

    Args:
        encode: An encoder in evaluation mode.
        transform: Gives a graph the numbers that the encoder reads; without cycles among them
            there is nothing to check.
        graphs: The graphs.
        seed: Of the new order.
        tolerance: How far two rows may be apart, relative to the largest.

    Raises:
        AssertionError: If a row changes.
    """
    rng = np.random.default_rng(seed)
    for i, data in enumerate(graphs):
        item = transform(data)
        if "cycle_incidence" not in item:
            return
        order = torch.from_numpy(rng.permutation(int(item.num_cycles)))
        one, other = _rows(encode, item), _rows(encode, _cycles_reordered(item, order))
        _assert_close(one, other, tolerance, f"graph {i} with its cycles in another order")


def assert_all_parameters_learn(
    module: torch.nn.Module, transform: Transform, graphs: Sequence[Data]
) -> None:
    """Every parameter gets a gradient that is more than rounding, and stays one on another device.

    Args:
        module: Takes a batch to rows.
        transform: Gives a graph the numbers that the module reads.
        graphs: The graphs.

    Raises:
        AssertionError: If a parameter does not learn, or is lost on the way to a device.
    """
    items = [_in_float64(transform(data)) for data in graphs]
    module = copy.deepcopy(module).double().train()
    rows = module(_joined(items))
    generator = torch.Generator().manual_seed(0)
    (rows * torch.rand(rows.shape, generator=generator, dtype=rows.dtype)).sum().backward()
    names = [name for name, parameter in module.named_parameters() if parameter.requires_grad]
    assert names, "the module must have parameters that learn, but it has none"
    sizes = {
        name: 0.0 if parameter.grad is None else float(parameter.grad.abs().max())
        for name, parameter in module.named_parameters()
        if parameter.requires_grad
    }
    for name, size in sizes.items():
        learns = size > _ROUNDING * max(sizes.values())
        assert learns, f"every parameter must get a gradient, but {name} gets none"
    moved = module.to(SECOND_DEVICE)
    there = {name: parameter.device.type for name, parameter in moved.named_parameters()}
    lost = [name for name in names if there.get(name) != SECOND_DEVICE]
    assert not lost, f"parameters must follow the module to another device, but {lost} do not"


def _settle(module: torch.nn.Module, transform: Transform, graphs: Sequence[Data]) -> None:
    """Let normalisations see data and set evaluation mode: at first a deep stack is a constant."""
    batch = _joined([_in_float64(transform(data)) for data in graphs])
    module.train()
    with torch.no_grad():
        for _ in range(_SETTLING_PASSES):
            module(batch)
    module.eval()


def _as_data(edges: Tensor, num_nodes: int, generator: torch.Generator) -> Data:
    x = torch.rand(num_nodes, 3, generator=generator, dtype=torch.float64)
    return Data(x=x, edge_index=torch.cat((edges, edges.flip(0)), dim=1), num_nodes=num_nodes)


def _renamed(data: Data, nodes: Tensor, arcs: Tensor) -> Data:
    """The graph whose node i is called nodes[i], with its arcs in another order."""
    other = copy.copy(data)
    other.edge_index = nodes[data.edge_index][:, arcs] if nodes.numel() else data.edge_index
    for name, value in data.to_dict().items():
        if name == "edge_index" or not isinstance(value, Tensor) or value.dim() == 0:
            continue
        if data.is_node_attr(name):
            other[name] = torch.empty_like(value).index_copy(0, nodes, value)
        elif data.is_edge_attr(name):
            other[name] = value[arcs]
    return other


def _cycles_reordered(item: CycleData, order: Tensor) -> CycleData:
    """The same cycles, listed in another order, every other one the other way around."""
    other = copy.copy(item)
    edge, cycle = item.cycle_incidence
    place = torch.empty_like(order)
    place[order] = torch.arange(order.size(0))
    entries = torch.argsort(place[cycle], stable=True)
    other.cycle_incidence = torch.stack((edge, place[cycle]))[:, entries]
    turned = 1 - 2 * (other.cycle_incidence[1] % 2)
    other.cycle_sign = item.cycle_sign[entries] * turned.to(item.cycle_sign.dtype)
    other.cycle_length = item.cycle_length[order]
    return other


def _joined(items: list[Any]) -> Any:
    return Batch.from_data_list(items)


def _in_float64(item: CycleData) -> CycleData:
    """The graph with every float as float64."""
    item = copy.copy(item)
    for name, value in item.to_dict().items():
        if isinstance(value, Tensor) and value.is_floating_point():
            item[name] = value.double()
    return item


def _rows(encode: Encode, item: CycleData) -> Float[Tensor, "a k"]:
    with torch.no_grad():
        rows = encode(_in_float64(item))
    assert rows.dim() == 2 and rows.size(0) == item.edge_index.size(1), (
        f"an encoder must return one row for each of the {item.edge_index.size(1)} columns of "
        f"`edge_index`, but its answer has shape {tuple(rows.shape)}"
    )
    return rows


def _assert_close(
    one: Float[Tensor, "a k"], other: Float[Tensor, "a k"], tolerance: float, where: str
) -> None:
    assert torch.isfinite(one).all() and torch.isfinite(other).all(), f"numbers of {where}"
    scale = max(float(one.abs().max()) if one.numel() else 0.0, 1.0)
    gap = float((one - other).abs().max()) if one.numel() else 0.0
    assert gap <= tolerance * scale, f"rows must not change for {where}, but they do, by {gap:.1e}"
