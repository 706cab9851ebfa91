"""The bars, as data: what is measured, on which graphs, against whom, and what is fast enough."""

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any, Literal, NamedTuple

from cyclenet.bench.bars import check_ids
from cyclenet.bench.clock import Patience
from cyclenet.bench.measures import (
    Measured,
    basis_against_igraph,
    basis_against_networkx,
    first_cached_call,
    first_call,
    grid_against_igraph,
    pipeline_against_networkx,
    projector_against_eigh,
    projectors_against_eigh,
    relevant_against_basis,
    relevant_against_rdkit,
    shuffled_against_native,
    transform_against_kernel,
    two_threads_against_one,
)
from cyclenet.datasets.errors import MissingExtra
from cyclenet.datasets.strongly_regular import FAMILIES


class Row(NamedTuple):
    """One measurement with its bar.

    Args:
        id: Number of the bar; several families may share one.
        family: The graphs.
        peer: What ours is compared with.
        bar: The ratio to reach, or not to pass.
        sense: Which of the two.
        measure: Measures the family.
        slow: Whether `--quick` leaves it out.
    """

    id: int
    family: str
    peer: str
    bar: float | int
    sense: Literal["at least", "at most"]
    measure: Callable[[str, Patience], Measured]
    slow: bool = False


def _basis(number: int, bars: dict[str, int]) -> list[Row]:
    return [
        Row(number, family, "igraph", bar, "at least", basis_against_igraph)
        for family, bar in bars.items()
    ]


_SLOW_STEPS = {(22, "4-cfi")}


def _of_networks(name: str, *arguments: str) -> Callable[[str, Patience], Measured]:
    """A function of `bench.networks`, which brings torch: the other rows start without it."""

    def measure(family: str, patience: Patience) -> Measured:
        networks = import_module("cyclenet.bench.networks")
        return getattr(networks, name)(*arguments, family, patience)

    return measure


def _step(number: int, encoder: str, bar: float | int, families: Sequence[str]) -> list[Row]:
    measure = _of_networks("step_against_bare", encoder)
    return [
        Row(
            number,
            family,
            "GIN alone",
            bar,
            "at most",
            measure,
            slow=(number, family) in _SLOW_STEPS,
        )
        for family in families
    ]


# The two graphs of sr16622 are the 3-CFI pair, which has a bar of its own.
_LARGER_FAMILIES = tuple(name for name in FAMILIES if name != "sr16622")

ROWS: tuple[Row, ...] = (
    *_basis(1, {"molecules": 10}),
    Row(2, "molecules", "networkx", 300, "at least", basis_against_networkx),
    Row(3, "molecules", "rdkit ring families", 3, "at least", relevant_against_rdkit),
    Row(4, "molecules", "native order", 2.5, "at most", shuffled_against_native),
    *_basis(5, dict.fromkeys((*_LARGER_FAMILIES, "cfi:4", "cfi:5"), 5)),
    *_basis(6, {"nearest neighbours 80": 2, "cfi:3": 2, "complete 20": 3}),
    *_basis(7, {"delaunay 75": 15, "delaunay 1000": 100, "grid 30x30": 150}),
    *_basis(8, {"cubic 1000": 12, "preferential 1000": 30, "random 1000": 12}),
    Row(9, "grid 100x100", "igraph", 20, "at least", grid_against_igraph, slow=True),
    *(
        Row(10, family, "basis alone", 3.5, "at most", relevant_against_basis)
        for family in (
            "molecules", "sr251256", "sr401224", "cfi:4", "cfi:5", "nearest neighbours 80",
            "complete 20", "delaunay 1000", "cubic 1000", "preferential 1000", "random 1000",
        )
    ),
    Row(11, "molecules", "numpy eigh", 20, "at least", projectors_against_eigh),
    *(
        Row(12, family, "numpy eigh", bar, "at least", projector_against_eigh, slow)
        for family, bar, slow in (
            ("cubic 500", 3, False), ("cubic 1000", 3, False), ("random 1000", 7, True),
            ("random 2500", 8, True),
        )
    ),
    Row(13, "molecules", "dense form", 100, "at least", _of_networks("peoi_against_dense")),
    Row(
        13, "molecules", "memory of the dense form", 0.1, "at most",
        _of_networks("peoi_memory_against_dense"),
    ),
    Row(14, "molecules", "fifteen maps", 6, "at least", _of_networks("pair_layers_against_dense")),
    Row(15, "molecules", "networkx and numpy", 500, "at least", pipeline_against_networkx),
    *(
        Row(16, kind, peer, bar, "at most", measure, slow)
        for peer, bar, measure, slow in (
            ("nothing compiled", 10, first_call, True), ("compiled", 0.5, first_cached_call, True)
        )
        for kind in (
            "basis", "large graph", "relevant cycles", "large graph, relevant cycles", "projector",
        )
    ),
    Row(17, "molecules", "one thread", 1.6, "at least", two_threads_against_one, slow=True),
    *(
        Row(19, name, "kernel alone", 150, "at most", transform_against_kernel)
        for name in ("AddShortestCycleBasis", "AddRelevantCycles", "AddCycleProjector")
    ),
    *_step(20, "light PEOI", 1.2, ("n_circles", "3-cfi", "4-cfi")),
    *_step(21, "projector, contracted", 1.25, ("n_circles", "3-cfi", "4-cfi")),
    *_step(22, "projector, pairs", 2, ("n_circles", "3-cfi", "4-cfi")),
)  # fmt: skip


def measured_rows(*, quick: bool, ids: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """Measure the rows one by one.

    Args:
        quick: Fewer repeats; rows that take long are skipped.
        ids: Numbers of the bars to measure, or nothing for all.

    Yields:
        A row for people and programs: ``id``, ``family``, ``ours_us``, ``peer``, ``peer_us``,
        ``ratio``, ``bar``, ``sense``, ``ok``, ``agree``, ``reason``. `ok` is None, with a reason,
        for a row that was skipped, and False if the sides disagree however fast we are.

    Raises:
        UnknownName: If there is no bar of that number.
    """
    check_ids(ids)
    patience = Patience(seconds=0.4, repeats=7) if quick else Patience()
    for row in ROWS:
        if not ids or str(row.id) in ids:
            skipped = "left out by --quick" if row.slow and quick else None
            yield _result(row, patience, skipped)


def _result(row: Row, patience: Patience, skipped: str | None) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "id": row.id, "family": row.family, "ours_us": None, "peer": row.peer, "peer_us": None,
        "ratio": None, "bar": row.bar, "sense": row.sense, "ok": None, "agree": None,
        "reason": None,
    }  # fmt: skip
    if skipped:
        return shown | {"reason": skipped}
    try:
        found = row.measure(row.family, patience)
    except MissingExtra as error:
        return shown | {"reason": f"{error}; try: {error.hint}"}
    except Exception as error:
        # An hour of other rows must not be lost to one.
        return shown | {
            "ok": False,
            "agree": False,
            "reason": f"failed: {type(error).__name__}: {error}",
        }
    reached = found.ratio >= row.bar if row.sense == "at least" else found.ratio <= row.bar
    return shown | {
        "ours_us": found.ours_us,
        "peer_us": found.peer_us,
        "ratio": found.ratio,
        "ok": reached and found.agree,
        "agree": found.agree,
        "reason": (None if found.agree else "the answers differ") or found.note or None,
    }
