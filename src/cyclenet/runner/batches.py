"""Graphs that stay on a device, and batches of any of them in a few operations there."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor
from torch_geometric.data import Batch, Data

Ids = Sequence[int] | np.ndarray


class GraphStore:
    r"""Graphs joined once, out of which any batch is picked on their device.

    The law, tensor for tensor:

    ```
    GraphStore(items, device).take(ids) == Batch.from_data_list([items[i] for i in ids])
    ```

    Joining graphs one by one costs a small network more time than its step does. Here the rows of
    all graphs lie end to end, with ids counted inside their graph. A batch gathers the rows of its
    graphs and counts ids on, as the batching rules of the graphs say (PyG's, and
    `CYCLE_ATTRIBUTES` for ours). How many rows that will be is known without asking the device, so
    a GPU is never waited for.

    Args:
        items: Graphs of one class with the same attributes, all of them tensors.
        device: Where they are kept.

    Raises:
        ValueError: If there are no graphs.
        TypeError: If an attribute is no tensor.
    """

    def __init__(self, items: Sequence[Data], device: torch.device) -> None:
        if not items:
            raise ValueError("`items` must be at least one graph, but there are none")
        joined: Any = Batch.from_data_list(list(items))
        self._kind = type(items[0])
        self._size = len(items)
        self._has_num_nodes = "num_nodes" in joined
        table = _Table()
        node_rows = table.add(joined.ptr.diff())
        self._owners = {node_rows: _Spans(node_rows, table.add(joined.ptr[:-1]))}
        self._nodes = node_rows
        self._columns = []
        for name in joined._slice_dict:
            self._columns.append(self._column(joined, items, table, name, joined[name], device))
        self._host = table.stacked().numpy()
        self._table = table.stacked().to(device)
        self.device = device

    def __len__(self) -> int:
        """Number of graphs."""
        return self._size

    def take(self, ids: Ids) -> Any:
        """The batch of some graphs.

        Args:
            ids: Their numbers, in the order of the batch; any may come twice, or none at all.

        Returns:
            What `Batch.from_data_list` makes of them, on the device.
        """
        numbers = np.asarray(ids, dtype=np.int64)
        counts = self._table[:, torch.from_numpy(numbers).to(self.device, non_blocking=True)]
        before = counts.cumsum(1) - counts
        picked = {
            key: _pick(spans, counts, before, int(self._host[key, numbers].sum()))
            for key, spans in self._owners.items()
        }
        batch: Any = Batch(_base_cls=self._kind)
        for column in self._columns:
            batch[column.name] = column.taken(*picked[column.owner], before)
        owner, index = picked[self._nodes]
        if self._has_num_nodes:
            batch.num_nodes = index.size(0)
        batch.batch = owner
        ends = counts[self._nodes].cumsum(0)
        batch.ptr = torch.cat((ends.new_zeros(1), ends))
        batch._num_graphs = len(numbers)
        return batch

    def _column(
        self,
        joined: Any,
        items: Sequence[Data],
        table: "_Table",
        name: str,
        value: object,
        device: torch.device,
    ) -> "_Column":
        """One attribute of all graphs, its ids counted inside each graph."""
        if not isinstance(value, Tensor) or value.layout != torch.strided:
            raise TypeError(
                f"every attribute of `items` must be a tensor, but {name!r} is a "
                f"{type(value).__name__}; try: del data[{name!r}]"
            )
        first, last = items[0], items[-1]
        along = first.__cat_dim__(name, first[name], first._store)
        along = 0 if along is None or value.dim() == 0 else along % value.dim()
        lengths = joined._slice_dict[name].diff()
        rows = table.add(lengths)
        self._owners.setdefault(rows, _Spans(rows, table.add(joined._slice_dict[name][:-1])))
        increments = joined._inc_dict[name].reshape(len(items), -1)
        size = torch.as_tensor(last.__inc__(name, last[name], last._store)).reshape(1, -1)
        counts = torch.cat((increments, increments[-1:] + size)).diff(dim=0).T
        units = tuple(table.add(count) for count in counts) if counts.any() else ()
        column = _Column(name, value, along, rows, units)
        if units:
            owner = torch.arange(len(items)).repeat_interleave(lengths)
            column = column._replace(value=value - column.shift(increments.T[:, owner]))
        return column._replace(value=column.value.to(device))


class _Table:
    """Numbers of each graph, row upon row; equal rows are kept once."""

    def __init__(self) -> None:
        self._rows: dict[bytes, int] = {}

    def add(self, numbers: Int64[Tensor, " b"]) -> int:
        """The place of a row."""
        key = numbers.numpy().astype(np.int64).tobytes()
        return self._rows.setdefault(key, len(self._rows))

    def stacked(self) -> Int64[Tensor, "t b"]:
        """All rows."""
        rows = [np.frombuffer(key, dtype=np.int64) for key in self._rows]
        return torch.from_numpy(np.stack(rows))


class _Spans(NamedTuple):
    """Where the rows of each graph are: rows of the table that hold lengths and starts."""

    lengths: int
    starts: int


class _Column(NamedTuple):
    """One attribute of all graphs: where its rows are, and what its ids count."""

    name: str
    value: Tensor
    along: int
    owner: int
    units: tuple[int, ...]

    def taken(
        self,
        owner: Int64[Tensor, " r"],
        index: Int64[Tensor, " r"],
        before: Int64[Tensor, "t b"],
    ) -> Tensor:
        """The rows at `index`, counted on behind the graphs before."""
        rows = self.value.index_select(self.along, index)
        if not self.units:
            return rows
        return rows + self.shift(torch.stack([before[unit] for unit in self.units])[:, owner])

    def shift(self, increments: Int64[Tensor, "u r"]) -> Tensor:
        """What to add to the ids of each row, in the shape and type of the attribute."""
        shape = [1] * self.value.dim()
        shape[self.along] = increments.size(1)
        if len(increments) > 1:  # one unit for each row of ids
            shape[0] = len(increments)
        return increments.reshape(shape).to(self.value.dtype)


def _pick(
    spans: _Spans, counts: Int64[Tensor, "t b"], before: Int64[Tensor, "t b"], total: int
) -> tuple[Int64[Tensor, " r"], Int64[Tensor, " r"]]:
    """The graph of each row of a batch, and the place of the row in the store."""
    lengths, device = counts[spans.lengths], counts.device
    graphs = torch.arange(lengths.size(0), device=device)
    owner = graphs.repeat_interleave(lengths, output_size=total)
    offset = counts[spans.starts] - before[spans.lengths]
    return owner, torch.arange(total, device=device) + offset[owner]
