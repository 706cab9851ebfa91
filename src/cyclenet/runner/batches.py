"""Graphs that stay on a device, and batches of any of them in a few operations there."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Int64
from torch import Tensor
from torch_geometric.data import Batch, Data

from cyclenet.data import CYCLE_ATTRIBUTES, CycleAttribute, CycleData, Rows, SummedUnit
from cyclenet.nn.layers.pooling import repeated

Ids = Sequence[int] | np.ndarray

# A compiler starts again for batches of another size. So the size comes from mean and deviation of
# the graphs, not from the largest batch of one order; and in few steps, for sets that are alike.
_DEVIATIONS = 5
_STEPS = 32

# What a graph of PyTorch Geometric has besides ours that holds ids, and names that say so to it.
_OTHER = {"edge_index": CycleAttribute(("nodes",), -1)}
_RULED_BY_PYG = ("index", "batch")


class Room(NamedTuple):
    """The size that batches are filled up to.

    Args:
        slots: Graphs of a batch; the filler comes after them.
        rows: Rows of each unit, by its place in the table of the store: all different, and none
            the number of graphs.
    """

    slots: int
    rows: Mapping[int, int]


class Filled(NamedTuple):
    """A batch of fixed size.

    Args:
        batch: A graph in each slot, and the filler behind them.
        held: Whether the graph in each slot counts.
        real: What `nn.layers.real_rows` takes.
    """

    batch: Any
    held: Bool[Tensor, " s"]
    real: dict[int, Tensor]


class FilledBatches(NamedTuple):
    """Several batches of one size, joined in one go: attribute by attribute, batch after batch.

    Args:
        room: Their size.
        kind: The class of their graphs.
        known_rows: What `CycleData.known_rows` tells of each.
        rows: The attributes, with one dimension more in front of that of their rows.
        along: Where that is.
        held: Whether the graph in each slot counts.
        num_real: How many rows of each unit are real, by its place in the table of the store.
    """

    room: Room
    kind: type[Data]
    known_rows: dict[SummedUnit, int]
    rows: dict[str, Tensor]
    along: dict[str, int]
    held: Bool[Tensor, "e s"]
    num_real: dict[int, Int64[Tensor, " e"]]

    def batch(self, number: Int64[Tensor, " one"]) -> Filled:
        """One of them; the device is asked for nothing.

        Args:
            number: Which, on the device.

        Returns:
            The batch.
        """
        batch: Any = Batch(_base_cls=self.kind)
        for name, value in self.rows.items():
            along = self.along[name]
            batch[name] = value.index_select(along, number).squeeze(along)
        batch._num_graphs = self.room.slots + 1
        batch._known_rows = self.known_rows
        batch._has_filler = True
        held = self.held.index_select(0, number).squeeze(0)
        real = {
            self.room.rows[key]: counts.index_select(0, number).squeeze(0)
            for key, counts in self.num_real.items()
        }
        return Filled(batch, held, real | {self.room.slots + 1: held.sum()})

    def take_over(self, other: "FilledBatches") -> None:
        """Become other batches of the same size, in the memory of these.

        Args:
            other: As many batches.
        """
        for name, value in self.rows.items():
            value.copy_(other.rows[name])
        self.held.copy_(other.held)
        for key, counts in self.num_real.items():
            counts.copy_(other.num_real[key])


def padded(ids: Ids, slots: int) -> Int64[np.ndarray, " s"]:
    """The numbers of the graphs of a batch, and some of them again until every slot has one.

    Args:
        ids: The numbers, at least one.
        slots: How many graphs a batch of fixed size holds.

    Returns:
        As many numbers as slots.
    """
    return np.resize(np.asarray(ids, dtype=np.int64), slots)


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

    A step that a GPU replays needs more: the same shapes every time. `take_filled` gives them with
    one more graph behind the others, the filler, which has the rows that are left. A network says
    of the other graphs what it says of them without it, as long as `RowNorm` knows which rows are
    real.

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
        self._begin(type(items[0]), joined.ptr.diff(), device)
        self._has_num_nodes = "num_nodes" in joined
        for name in joined._slice_dict:
            self._add(name, *_split_up(joined, items, name, joined[name]))
        self._finish()

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[str, Rows]], device: torch.device) -> "GraphStore":
        """The store of graphs that never were objects: of their attributes, each end to end.

        The law: it is the store of the graphs themselves, as `CycleData`, tensor for tensor. The
        rows stay in the small types in which they came, and turn into what a graph has when a
        batch gathers them. Each attribute is taken in before the next is asked for, so a generator
        never has to hold two.

        Args:
            rows: The attributes by their names. The first is `x`, whose rows are the nodes; ids
                come after what they count: `edges` or `num_faces` before ids of edges or faces.
                Of names that are not in `CYCLE_ATTRIBUTES` only `edge_index` holds ids.
            device: Where they are kept.

        Returns:
            The store.

        Raises:
            ValueError: If there are no graphs, or the attributes do not fit together.
        """
        store = cls.__new__(cls)
        counts: dict[str, Tensor] = {}
        for name, each in rows:
            if not counts:
                if name != "x" or not each.lengths.numel():
                    raise ValueError(
                        f"`rows` must start with `x` of at least one graph, but they start with "
                        f"{name!r} of {each.lengths.numel()}"
                    )
                store._begin(CycleData, each.lengths, device)
                counts["nodes"] = each.lengths
            store._add(name, *_as_told(name, each, counts))
            if name == "edges":
                counts["edges"] = each.lengths
            elif name in ("num_cycles", "num_faces"):
                counts[name.removeprefix("num_")] = each.values.long()
            del each  # or it would be there while the next one is made
        if not counts:
            raise ValueError("`rows` must start with `x` of at least one graph, but there are none")
        store._finish()
        return store

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
        there = torch.from_numpy(numbers).to(self.device, non_blocking=True)
        counts = self._table[:, there]
        before = counts.cumsum(1) - counts
        totals = self._host[:, numbers].sum(1).tolist()
        picked = {
            key: _pick(counts[key], counts[spans.starts], before[key], totals[key])
            for key, spans in self._owners.items()
        }
        batch: Any = Batch(_base_cls=self._kind)
        for name, value in self._gathered(picked, before)[0].items():
            batch[name] = value
        if self._has_num_nodes:
            batch.num_nodes = totals[self._nodes]
        ends = counts[self._nodes].cumsum(0)
        batch.ptr = torch.cat((ends.new_zeros(1), ends))
        batch._num_graphs = len(numbers)
        batch._known_rows = {unit: totals[key] for unit, key in self._sums.items()}
        return batch

    def room(self, batches: Sequence[Ids]) -> Room:
        """The size that some batches can all be filled up to.

        Args:
            batches: The numbers of the graphs of each.

        Returns:
            The size; every unit has room for at least one row of the filler.

        Raises:
            ValueError: If a batch has less than two rows of a unit: they would have no variance.
        """
        slots = max(len(ids) for ids in batches)
        asked = np.stack([padded(ids, slots) for ids in batches])
        held = np.arange(slots) < np.array([len(ids) for ids in batches])[:, None]
        taken, rows = {slots + 1}, {}
        for key in sorted({*self._owners, *self._sums.values()}):
            counts = self._host[key][asked]
            if (counts * held).sum(1).min() < 2:
                raise ValueError("`batches` must each have two rows or more of every unit")
            if (self._host[key] == 1).all():  # numbers of whole graphs
                rows[key] = slots + 1
                continue
            each = self._host[key]
            usual = slots * each.mean() + _DEVIATIONS * slots**0.5 * each.std()
            most, step = max(int(counts.sum(1).max()) + 1, math.ceil(usual)), 1
            while most > _STEPS * step:
                step *= 2
            sizes = itertools.count(-(-most // step) * step, step)
            rows[key] = next(size for size in sizes if size not in taken)
            taken.add(rows[key])
        return Room(slots, rows)

    def take_filled(
        self, ids: Int64[Tensor, "e s"], counts: Int64[Tensor, " e"], room: Room
    ) -> FilledBatches:
        """Batches of some graphs each, all filled up to a size.

        Args:
            ids: As many numbers of graphs for each batch as there are slots, on the device.
            counts: How many of them count; the others are there for their size.
            room: The size, which must be large enough.

        Returns:
            The batches. Rows of the filler are 0, and its ids are those of its first rows.
        """
        steps, slots = ids.shape
        held = torch.arange(slots, device=self.device) < counts.unsqueeze(1)
        sizes = self._table[:, ids]
        sizes = torch.cat((sizes, sizes.new_zeros(*sizes.shape[:2], 1)), dim=2)
        before = sizes.cumsum(2) - sizes
        totals = sizes.sum(2)
        picked = {}
        for key, spans in self._owners.items():
            left = room.rows[key] - totals[key]
            lengths = torch.cat((sizes[key, :, :-1], left.unsqueeze(1)), dim=1)
            owner, index = _pick(
                lengths.flatten(),
                (sizes[spans.starts] - before[key]).flatten(),
                before.new_zeros(steps * (slots + 1)),
                steps * room.rows[key],
            )
            index = index - owner.div(slots + 1, rounding_mode="floor") * room.rows[key]
            of_filler = owner % (slots + 1) == slots
            picked[key] = owner, torch.where(of_filler, self._num_rows[key], index)
        rows, along = self._gathered(picked, before.flatten(1))
        rows = {name: value.unflatten(along[name], (steps, -1)) for name, value in rows.items()}
        rows["batch"] = rows["batch"] % (slots + 1)
        for name, key in self._counts.items():  # the filler has the rows that are left
            others = rows[name][:, :-1]
            left = room.rows[key] - others.sum(1, keepdim=True)
            rows[name] = torch.cat((others, left), dim=1)
        known: dict[SummedUnit, int] = {unit: room.rows[key] for unit, key in self._sums.items()}
        real = (sizes[:, :, :-1] * held).sum(2)
        num_real = {key: real[key] for key in room.rows}
        return FilledBatches(room, self._kind, known, rows, along, held, num_real)

    def _gathered(
        self, picked: Mapping[int, "_Picked"], before: Int64[Tensor, "t b"]
    ) -> tuple[dict[str, Tensor], dict[str, int]]:
        """The attributes of a batch, and the dimension of the rows of each."""
        rows = {one.name: one.taken(*picked[one.owner], before) for one in self._columns}
        along = {one.name: one.along for one in self._columns}
        return rows | {"batch": picked[self._nodes][0]}, along | {"batch": 0}

    def _begin(
        self, kind: type[Data], num_nodes: Int64[Tensor, " b"], device: torch.device
    ) -> None:
        """A store of graphs without attributes."""
        self._kind, self._size, self.device = kind, num_nodes.numel(), device
        self._has_num_nodes = False
        self._filling = _Table()
        self._owners: dict[int, _Spans] = {}
        self._columns: list[_Column] = []
        self._summed: dict[SummedUnit, Tensor] = {}
        self._nodes = self._owner(num_nodes)
        self._num_rows = {self._nodes: int(num_nodes.sum())}

    def _owner(self, lengths: Int64[Tensor, " b"]) -> int:
        """The place in the table of how many rows each graph has, which names their spans."""
        rows = self._filling.add(lengths)
        if rows not in self._owners:
            self._owners[rows] = _Spans(rows, self._filling.add(lengths.cumsum(0) - lengths))
        return rows

    def _add(self, name: str, rows: Rows, along: int, counts: Sequence[Tensor]) -> None:
        """Take in an attribute whose ids count what each graph has so many of."""
        value, owner = rows.values, self._owner(rows.lengths)
        if issubclass(self._kind, CycleData):
            self._summed |= _summed(name, rows)
        self._num_rows[owner] = value.size(along) if value.dim() else 1
        if value.dim():  # one row more, which the filler of a batch reads
            last = value.new_zeros([1 if i == along else n for i, n in enumerate(value.shape)])
            value = torch.cat((value, last), dim=along)
        units = tuple(self._filling.add(count) for count in counts)
        self._columns.append(_Column(name, value.to(self.device), along, owner, units, rows.dtype))

    def _finish(self) -> None:
        """What is known of each graph once all attributes are."""
        table = self._filling
        self._sums: dict[SummedUnit, int] = {
            unit: table.add(counts) for unit, counts in self._summed.items()
        }
        self._counts = {"num_faces": self._sums["faces"]} if "faces" in self._sums else {}
        for one in self._columns:
            if one.name == "cycle_length":
                self._counts["num_cycles"] = one.owner
        self._host = table.stacked().numpy()
        self._table = table.stacked().to(self.device)
        del self._filling, self._summed


def _split_up(
    joined: Any, items: Sequence[Data], name: str, value: object
) -> tuple[Rows, int, list[Tensor]]:
    """One attribute of joined graphs, its ids counted inside each graph again, as for `_add`."""
    if not isinstance(value, Tensor) or value.layout != torch.strided:
        raise TypeError(
            f"every attribute of `items` must be a tensor, but {name!r} is a "
            f"{type(value).__name__}; try: del data[{name!r}]"
        )
    first, last = items[0], items[-1]
    along = first.__cat_dim__(name, first[name], first._store)
    along = 0 if along is None or value.dim() == 0 else along % value.dim()
    lengths = joined._slice_dict[name].diff()
    increments = joined._inc_dict[name].reshape(len(items), -1)
    size = torch.as_tensor(last.__inc__(name, last[name], last._store)).reshape(1, -1)
    counts = torch.cat((increments, increments[-1:] + size)).diff(dim=0).T
    if not counts.any():
        return Rows(value, lengths, value.dtype), along, []
    owner = torch.arange(len(items)).repeat_interleave(lengths)
    value = value - _spread(increments.T[:, owner], value.dim(), along).to(value.dtype)
    return Rows(value, lengths, value.dtype), along, list(counts)


def _as_told(name: str, rows: Rows, counts: Mapping[str, Tensor]) -> tuple[Rows, int, list[Tensor]]:
    """One attribute of graphs that never were objects, as for `_add`."""
    attribute = CYCLE_ATTRIBUTES.get(name, _OTHER.get(name))
    if attribute is None:
        if any(word in name for word in _RULED_BY_PYG) or name == "face":
            raise ValueError(
                f"`rows` may hold ids under known names only, but PyTorch Geometric takes "
                f"{name!r} for some; try: another name"
            )
        attribute = CycleAttribute((), 0)
    missing = [unit for unit in attribute.counted_in if unit not in counts]
    if missing:
        raise ValueError(
            f"`rows` must hold `x`, `edges`, `num_faces` and `num_cycles` before what counts them, "
            f"but {name!r} comes before the numbers of {missing[0]}"
        )
    along = attribute.joined_along % rows.values.dim()
    graphs, held, told = counts["nodes"].numel(), rows.values.size(along), int(rows.lengths.sum())
    if rows.lengths.numel() != graphs or held != told:
        raise ValueError(
            f"{name!r} must have rows of {graphs} graphs and as many as it says, but it says "
            f"{told} of {rows.lengths.numel()} graphs and has {held}"
        )
    return rows, along, [counts[unit] for unit in attribute.counted_in]


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
    """One attribute of all graphs: where its rows are, what its ids count, and its type."""

    name: str
    value: Tensor
    along: int
    owner: int
    units: tuple[int, ...]
    dtype: torch.dtype

    def taken(
        self,
        owner: Int64[Tensor, " r"],
        index: Int64[Tensor, " r"],
        before: Int64[Tensor, "t b"],
    ) -> Tensor:
        """The rows at `index`, counted on behind the graphs before."""
        rows = self.value.index_select(self.along, index).to(self.dtype)
        if not self.units:
            return rows
        increments = torch.stack([before[unit] for unit in self.units])[:, owner]
        return rows + _spread(increments, self.value.dim(), self.along).to(self.dtype)


_Picked = tuple[Tensor, Tensor]


def _pick(
    lengths: Int64[Tensor, " b"],
    starts: Int64[Tensor, " b"],
    before: Int64[Tensor, " b"],
    total: int,
) -> _Picked:
    """The graph of each row of a batch, and the place of the row in the store."""
    owner = repeated(lengths, total)
    index = torch.arange(total, device=lengths.device) + (starts - before)[owner]
    return owner, index


def _spread(increments: Int64[Tensor, "u r"], dimensions: int, along: int) -> Tensor:
    """Numbers for each row, in the shape in which an attribute takes them."""
    shape = [1] * dimensions
    shape[along] = increments.size(1)
    if len(increments) > 1:  # one unit for each row of ids
        shape[0] = len(increments)
    return increments.reshape(shape)


def _summed(name: str, rows: Rows) -> dict[SummedUnit, Int64[Tensor, " b"]]:
    """How many rows of a unit that no attribute lists each graph has, where this one tells it."""
    if name == "edges":
        return {"edge_pairs": rows.lengths.square()}
    if name == "num_faces":
        return {"faces": rows.values.long()}
    if name == "cycle_incidence":
        graphs = rows.lengths.numel()
        owner = torch.arange(graphs).repeat_interleave(rows.lengths)
        cycle = rows.values[1].long() * graphs + owner
        found, edges = cycle.unique(return_counts=True)
        pairs = torch.zeros(graphs, dtype=torch.long)
        return {"cycle_pairs": pairs.index_add(0, found % graphs, edges.square())}
    return {}
