"""What all cycle transforms share: read the arcs of a graph, attach its undirected edges."""

import warnings
from abc import abstractmethod
from collections import Counter
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Literal, get_args, get_origin

import numpy as np
import torch
from jaxtyping import Integer
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from cyclenet.data import CycleData
from cyclenet.topology import GraphError, UndirectedEdges, edges_from_arcs

# Kinds of numbers among the arguments of transforms, by their annotations.
_NUMBERS: dict[Any, tuple[type, str]] = {
    int: (Integral, "a whole number"),
    int | None: (Integral, "a whole number or None"),
    float | None: (Real, "a number or None"),
}


@dataclass(kw_only=True, eq=False)
class CycleTransform(BaseTransform):
    """A transform from `Data` to `CycleData`: pure, repeatable, on the device of its input.

    The same graph and the same options give the same bytes. Everything is computed on the CPU in
    float64 and rounded once, at the end. The input is never changed, and tensors that we did not
    compute are shared with it. Two of these transforms can follow each other: they share `edges`,
    `arc_to_edge` and `arc_sign`, and refuse options that would make them differ.

    The `repr` shows every argument, which is what PyG compares to decide whether a cached dataset
    is still the one that was asked for.

    Args:
        self_loops: ``"drop"`` keeps self loops in `edge_index` and gives them no edge, so
            that encodings read zeros there; the first ones met cause a warning. ``"cycle"`` makes
            each a cycle of length 1, ``"raise"`` refuses them.
        multi_edges: ``"merge"`` makes arcs between the same two nodes one edge, whose encoding
            every copy reads; the first copies met cause a warning. ``"distinct"`` keeps
            parallel edges apart (two of them are a cycle of length 2), ``"raise"`` refuses copies.
        directed: ``"allow"`` takes an arc without its reverse as an undirected edge, ``"raise"``
            refuses it.
        dtype: Floating type of the numbers that are not integers.

    Attributes:
        met: How many self loops and repeated arcs this object has met so far. The warning about
            them comes once, with the first graph that has some; here is the total.
    """

    self_loops: Literal["drop", "raise", "cycle"] = "drop"
    multi_edges: Literal["merge", "raise", "distinct"] = "merge"
    directed: Literal["allow", "raise"] = "allow"
    dtype: torch.dtype = torch.float32
    met: Counter[str] = field(default_factory=Counter, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse an unknown choice now and not at the first graph.

        Raises:
            ValueError: If an argument is not one of the choices its annotation lists.
            TypeError: If `dtype` is no floating type, or a number is none.
        """
        for name, option in type(self).__dataclass_fields__.items():
            value = getattr(self, name)
            if get_origin(option.type) is Literal and value not in get_args(option.type):
                raise ValueError(
                    f"`{name}` must be one of {get_args(option.type)}, but it is {value!r}"
                )
            if option.type in _NUMBERS:
                _check_number(name, value, *_NUMBERS[option.type])
        if not (isinstance(self.dtype, torch.dtype) and self.dtype.is_floating_point):
            raise TypeError(
                f"`dtype` must be a floating type such as torch.float32, but it is {self.dtype!r}"
            )

    def __call__(self, data: Data) -> CycleData:
        """`forward`, which copies by itself and leaves its input as it is."""
        return self.forward(data)

    def forward(self, data: Data) -> CycleData:
        """The graph with its edges and its numbers.

        Args:
            data: One graph; `num_nodes` follows PyG's rule if it is not given.

        Returns:
            A shallow copy with more attributes.

        Raises:
            GraphError: If the graph breaks one of the chosen policies.
            TypeError: If it is no graph, or its `edge_index` holds no integers.
        """
        graph = CycleData.from_data(data)
        arcs = _arcs(graph.edge_index)
        num_nodes = int(graph.num_nodes or 0)
        found = edges_from_arcs(
            arcs,
            num_nodes,
            self_loops=self.self_loops,
            multi_edges=self.multi_edges,
            directed=self.directed,
            name="edge_index",
        )
        self._tell_once(found)
        device = graph.edge_index.device
        _attach_edges(graph, found, device)
        for name, numbers in self.numbers(graph, found, num_nodes).items():
            tensor = _on(device, numbers)
            graph[name] = tensor.to(self.dtype) if numbers.dtype.kind == "f" else tensor
        return graph

    @abstractmethod
    def numbers(
        self, graph: CycleData, found: UndirectedEdges, num_nodes: int
    ) -> dict[str, np.ndarray]:
        """What this transform adds, by names of `CYCLE_ATTRIBUTES`.

        Args:
            graph: The graph with its edges, to read the user's attributes from.
            found: Its undirected edges. Loops and parallel edges are there only if they count.
            num_nodes: Number of nodes.
        """

    def kept(self) -> dict[str, Any]:
        """What the functions of `topology` must let pass: what the policies have kept."""
        kept = {}
        if self.self_loops == "cycle":
            kept["self_loops"] = "cycle"
        if self.multi_edges == "distinct":
            kept["multi_edges"] = "distinct"
        return kept

    def _tell_once(self, found: UndirectedEdges) -> None:
        """Count what was left out, and warn about the first of each kind."""
        if found.num_loops and self.self_loops == "drop":
            self._tell(
                "self loops",
                found.num_loops,
                "stay in `edge_index` without an edge; encodings are zero there "
                "(self_loops='drop')",
            )
        if found.num_repeated and self.multi_edges == "merge":
            self._tell(
                "repeated arcs",
                found.num_repeated,
                "read the encoding of the edge they repeat (multi_edges='merge')",
            )

    def _tell(self, what: str, count: int, happens: str) -> None:
        is_first = what not in self.met
        self.met[what] += count
        if is_first:
            warnings.warn(
                f"{what} in this graph: {count}; they {happens}. This warning comes once for each "
                "transform, whose `met` counts them in all graphs",
                stacklevel=5,  # tell, tell once, forward, call, the user
            )


def _check_number(name: str, value: object, kind: type, words: str) -> None:
    if value is None and words.endswith("None"):
        return
    if isinstance(value, bool) or not isinstance(value, kind):
        raise TypeError(f"`{name}` must be {words}, but it is {value!r}")


def _arcs(edge_index: Any) -> Integer[np.ndarray, "2 a"]:
    """The arcs of a graph as an array, or an error in the words of PyG."""
    if edge_index is None:
        raise GraphError(
            "`data` must have an `edge_index`, but it has none; try: "
            "`torch.empty((2, 0), dtype=torch.long)` for no edges, and ToSparseTensor after us",
            code="edge_index_missing",
        )
    if not isinstance(edge_index, Tensor):
        raise TypeError(f"`edge_index` must be a tensor, but it is a {type(edge_index).__name__}")
    if edge_index.is_floating_point() or edge_index.is_complex() or edge_index.dtype == torch.bool:
        raise TypeError(
            f"`edge_index` must hold integers, but its dtype is {edge_index.dtype}; try: "
            "`edge_index.long()` if they are node ids"
        )
    if edge_index.dim() != 2 or edge_index.size(0) != 2:
        transposed = edge_index.dim() == 2 and edge_index.size(1) == 2
        raise GraphError(
            f"`edge_index` must have shape (2, number of arcs), but its shape is "
            f"{tuple(edge_index.shape)}" + ("; try: edge_index.t()" if transposed else ""),
            code="edges_shape",
        )
    return edge_index.detach().cpu().as_subclass(Tensor).numpy()


def _on(device: torch.device, numbers: np.ndarray) -> Tensor:
    """An array as a tensor; asking where it already is would cost as much as making it."""
    tensor = torch.from_numpy(numbers)
    return tensor if device.type == "cpu" else tensor.to(device)


def _attach_edges(graph: CycleData, found: UndirectedEdges, device: torch.device) -> None:
    """Give the graph its edges, or make sure that it has these already."""
    mine = {
        "edges": _on(device, found.edges),
        "arc_to_edge": _on(device, found.arc_to_edge),
        "arc_sign": _on(device, found.arc_sign),
    }
    if "edges" not in graph:
        graph.update(mine)
        return
    for name, tensor in mine.items():
        if name not in graph or not torch.equal(graph[name], tensor):
            raise GraphError(
                f"`data` must hold the edges of its `edge_index` under the same options, but its "
                f"`{name}` differs; try: the same `self_loops` and `multi_edges` for all "
                "transforms, or `data.without_cycles()` if `edge_index` has changed",
                code="edges_differ",
            )
