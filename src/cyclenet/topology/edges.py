"""From arcs to undirected edges, and the strict checks every function here starts with."""

from operator import index
from typing import Literal, NamedTuple, NoReturn

import numpy as np
from jaxtyping import Int, Integer

from cyclenet.topology.errors import GraphError

_ALONG, _AGAINST = np.int8(1), np.int8(-1)

# Pairs of nodes are compared as one int64, with a bit to spare for the direction.
MOST_NODES = 2**31 - 1


class UndirectedEdges(NamedTuple):
    """The undirected edges behind a list of arcs.

    Args:
        edges: Each undirected edge once, tail < head, sorted by (tail, head). Loops, where they
            are kept, have tail = head.
        arc_to_edge: Edge of every arc; 0 where `arc_sign` is 0.
        arc_sign: +1 along the edge, -1 against it, 0 for an arc without an edge (a dropped loop).
        num_loops: Number of self loops among the arcs.
        num_repeated: Number of arcs that repeat an earlier arc of the same direction.
    """

    edges: Int[np.ndarray, "2 m"]
    arc_to_edge: Int[np.ndarray, " a"]
    arc_sign: Int[np.ndarray, " a"]
    num_loops: int
    num_repeated: int


def edges_from_arcs(
    arcs: Integer[np.ndarray, "2 a"],
    num_nodes: int,
    *,
    self_loops: Literal["drop", "raise", "cycle"] = "drop",
    multi_edges: Literal["merge", "raise", "distinct"] = "merge",
    directed: Literal["allow", "raise"] = "allow",
    name: str = "arcs",
) -> UndirectedEdges:
    r"""Undirected edges of a graph given by arcs, in canonical order.

    An arc and its reverse are one edge; an edge stored in one direction only is an edge all the
    same. Encodings computed on edges return to arcs as `rows[arc_to_edge]` where `arc_sign` is
    not 0.

    Args:
        arcs: Directed columns, in the way PyTorch Geometric stores them.
        num_nodes: Number of nodes.
        self_loops: ``"drop"`` gives loops no edge, ``"cycle"`` makes each an edge (a cycle of
            length 1), ``"raise"`` refuses them.
        multi_edges: ``"merge"`` makes parallel arcs one edge. ``"distinct"`` keeps them apart (two
            parallel edges are a cycle of length 2): the k-th copy of an arc is paired with
            the k-th copy of its reverse. ``"raise"`` refuses a repeated arc.
        directed: ``"raise"`` refuses an arc without its reverse.
        name: What the caller calls the arcs, for the errors.

    Returns:
        The edges and the way back from them to the arcs.

    Raises:
        GraphError: If an arc mentions a missing node, or breaks one of the chosen policies.

    Example:
        >>> found = edges_from_arcs(np.array([[1, 0, 2, 1], [0, 1, 1, 2]]), 3)
        >>> found.edges.tolist(), found.arc_to_edge.tolist(), found.arc_sign.tolist()
        ([[0, 1], [1, 2]], [0, 0, 1, 1], [-1, 1, -1, 1])
    """
    check_choice("self_loops", self_loops, ("drop", "raise", "cycle"))
    check_choice("multi_edges", multi_edges, ("merge", "raise", "distinct"))
    check_choice("directed", directed, ("allow", "raise"))
    arcs = _as_node_pairs(arcs, num_nodes, name=name)
    tail, head = arcs
    loops = tail == head
    num_loops = np.count_nonzero(loops)
    if num_loops and self_loops == "raise":
        column = int(loops.argmax())
        raise GraphError(
            f"`{name}` must have no self loops, but column {column} is ({tail[column]}, "
            f"{head[column]}); try: self_loops='drop'",
            code="self_loop",
            column=column,
        )
    forward = tail <= head
    # Arcs in the order of their edge and, on one edge, their direction: copies become neighbours.
    pair = np.minimum(tail, head) * num_nodes + np.maximum(tail, head)
    key = 2 * pair + forward
    order = key.argsort()
    ordered = key[order]
    num_repeated = np.count_nonzero(ordered[1:] == ordered[:-1])
    copy = None
    if num_repeated and multi_edges != "merge":
        copy = _copy_numbers(key)
        if multi_edges == "raise":
            column = int(np.argmax(copy > 0))
            raise GraphError(
                f"`{name}` must list each arc once, but column {column} repeats ({tail[column]}, "
                f"{head[column]}); try: multi_edges='merge'",
                code="repeated_edge",
                column=column,
            )
        order = np.lexsort((copy, pair))
    if num_loops and self_loops == "drop":
        order = order[~loops[order]]
    is_first = _first_of_each(pair[order], None if copy is None else copy[order])
    arc_to_edge = np.zeros(tail.size, dtype=np.int64)
    arc_to_edge[order] = is_first.cumsum() - 1
    arc_sign = np.where(forward, _ALONG, _AGAINST)
    if num_loops and self_loops == "drop":
        arc_sign[loops] = 0
    chosen = pair[order[is_first]]
    edges = np.empty((2, chosen.size), dtype=np.int64)
    np.divmod(chosen, num_nodes, out=(edges[0], edges[1]))
    if directed == "raise":
        _check_both_directions(arcs, arc_to_edge, arc_sign, edges.shape[1], name=name)
    return UndirectedEdges(edges, arc_to_edge, arc_sign, int(num_loops), int(num_repeated))


def check_edges(
    edges: Integer[np.ndarray, "2 m"],
    num_nodes: int,
    *,
    self_loops: Literal["raise", "cycle"] = "raise",
    multi_edges: Literal["raise", "distinct"] = "raise",
) -> Int[np.ndarray, "2 m"]:
    """The edges as a contiguous int64 array, or an error that names the first bad column.

    Args:
        edges: Undirected edges, tail < head.
        num_nodes: Number of nodes; nodes without edges are allowed.
        self_loops: ``"cycle"`` allows tail = head.
        multi_edges: ``"distinct"`` allows the same pair more than once.

    Returns:
        The same edges, widened to int64; a view where nothing had to change.

    Raises:
        GraphError: If an edge is reversed, repeated, a loop, or mentions a missing node.
    """
    check_choice("self_loops", self_loops, ("raise", "cycle"))
    check_choice("multi_edges", multi_edges, ("raise", "distinct"))
    edges = _as_node_pairs(edges, num_nodes, name="edges")
    tail, head = edges
    if not np.all(tail < head if self_loops == "raise" else tail <= head):
        _refuse_direction(tail, head, self_loops)
    if multi_edges == "raise":
        key = tail * num_nodes + head
        # Sorted input, which `edges_from_arcs` gives, needs no sort to be seen as free of repeats.
        if key.size > 1 and not np.all(key[1:] > key[:-1]):
            copy = _copy_numbers(key)
            if copy.any():
                column = int(np.argmax(copy > 0))
                raise GraphError(
                    f"`edges` must list each undirected edge once, but ({tail[column]}, "
                    f"{head[column]}) appears again in column {column}; pass arcs through "
                    "`topology.edges_from_arcs` first, or try: multi_edges='distinct'",
                    code="repeated_edge",
                    column=column,
                )
    return edges


def _refuse_direction(
    tail: np.ndarray, head: np.ndarray, self_loops: Literal["raise", "cycle"]
) -> NoReturn:
    """Name the first loop, where loops are refused, or the first reversed edge."""
    loops = tail == head
    if self_loops == "raise" and loops.any():
        column = int(np.argmax(loops))
        raise GraphError(
            f"`edges` must have tail < head, but column {column} is the loop ({tail[column]}, "
            f"{head[column]}); pass arcs through `topology.edges_from_arcs` first, or try: "
            "self_loops='cycle'",
            code="self_loop",
            column=column,
        )
    column = int(np.argmax(tail > head))
    raise GraphError(
        f"`edges` must have tail < head, but column {column} is ({tail[column]}, "
        f"{head[column]}); pass arcs through `topology.edges_from_arcs` first",
        code="reversed_edge",
        column=column,
    )


def check_weights(weights: object, num_edges: int, *, name: str = "weights") -> np.ndarray:
    """Edge weights as float64, or an error that names the first bad edge.

    Args:
        weights: One finite, non-negative number for every edge.
        num_edges: m.
        name: What the caller calls them.

    Returns:
        A contiguous float64 array of length m.

    Raises:
        TypeError: If they are not real numbers.
        GraphError: If the length is wrong or a weight is NaN, infinite or negative.
    """
    values = np.asarray(weights)
    if values.dtype.kind not in "fiub":
        raise TypeError(f"`{name}` must hold real numbers, but their dtype is {values.dtype}")
    values = np.ascontiguousarray(values, dtype=np.float64)
    if values.shape != (num_edges,):
        raise GraphError(
            f"`{name}` must hold one number for each of the {num_edges} edges, but its shape is "
            f"{values.shape}",
            code="weight_shape",
        )
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        column = int(np.argmax(bad))
        raise GraphError(
            f"`{name}` must be finite and not negative (shortest cycles are undefined otherwise), "
            f"but edge {column} has {values[column]}",
            code="weight_value",
            column=column,
        )
    return values


def _as_node_pairs(pairs: object, num_nodes: int, *, name: str) -> np.ndarray:
    array = np.asarray(pairs)
    if array.size == 0 and array.ndim <= 2:
        array = np.zeros((2, 0), dtype=np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"`{name}` must hold integers, but its dtype is {array.dtype}")
    if array.ndim != 2 or array.shape[0] != 2:
        hint = f"; try: {name}.T" if array.ndim == 2 and array.shape[1] == 2 else ""
        raise GraphError(
            f"`{name}` must have shape (2, number of {name}), but its shape is {array.shape}{hint}",
            code="edges_shape",
        )
    if isinstance(num_nodes, bool) or not _is_whole(num_nodes):
        raise TypeError(f"`num_nodes` must be a whole number, but it is {num_nodes!r}")
    if not 0 <= num_nodes <= MOST_NODES:
        raise GraphError(
            f"`num_nodes` must be 0 to {MOST_NODES}, but it is {num_nodes}", code="num_nodes"
        )
    # Kernels are compiled for each kind of array they meet, so read-only ones are copied.
    given, array = array, as_kernels_take_it(array)
    # Read without a sign, a negative number is larger than any number of nodes.
    if array.size and array.view(np.uint64).max() >= num_nodes:
        column = int(np.argmax(np.any((array < 0) | (array >= num_nodes), axis=0)))
        raise GraphError(
            f"`{name}` must name nodes 0 to {num_nodes - 1} (`num_nodes` is {num_nodes}), but "
            f"column {column} is ({given[0, column]}, {given[1, column]})",
            code="node_out_of_range",
            column=column,
        )
    return array


def as_kernels_take_it(array: np.ndarray) -> np.ndarray:
    """The array as contiguous int64 that can be written to; itself if it is that already."""
    if array.dtype == np.int64 and array.flags.carray:
        return array
    return np.require(array, np.int64, ["C", "W"])


def _is_whole(value: object) -> bool:
    """Whether Python takes it as an integer; arrays claim so by their type, whatever their size."""
    try:
        index(value)  # pyright: ignore[reportArgumentType]
    except TypeError:
        return False
    return True


def _copy_numbers(key: np.ndarray) -> np.ndarray:
    """How many earlier entries equal each entry."""
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    position = np.arange(key.size)
    start = np.ones(key.size, dtype=bool)
    start[1:] = ordered[1:] != ordered[:-1]
    copy = np.empty(key.size, dtype=np.int64)
    copy[order] = position - np.maximum.accumulate(np.where(start, position, 0))
    return copy


def _first_of_each(pairs: np.ndarray, copy: np.ndarray | None) -> np.ndarray:
    """Mask of the first arc of every edge; arcs come in the order of (pair, copy)."""
    first = np.ones(pairs.size, dtype=bool)
    first[1:] = pairs[1:] != pairs[:-1]
    if copy is not None:
        first[1:] |= copy[1:] != copy[:-1]
    return first


def _check_both_directions(
    arcs: np.ndarray, arc_to_edge: np.ndarray, arc_sign: np.ndarray, num_edges: int, *, name: str
) -> None:
    along = np.zeros(num_edges, dtype=bool)
    against = np.zeros(num_edges, dtype=bool)
    along[arc_to_edge[arc_sign > 0]] = True
    against[arc_to_edge[arc_sign < 0]] = True
    lone = (arc_sign != 0) & (arcs[0] != arcs[1])
    lone[lone] = (along ^ against)[arc_to_edge[lone]]
    if lone.any():
        column = int(np.argmax(lone))
        raise GraphError(
            f"`{name}` must hold every edge in both directions, but column {column} "
            f"({arcs[0, column]}, {arcs[1, column]}) has no reverse; try: directed='allow'",
            code="one_direction",
            column=column,
        )


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Refuse a policy that does not exist."""
    if value not in choices:
        raise ValueError(f"`{name}` must be one of {choices}, but it is {value!r}")
