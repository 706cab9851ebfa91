"""What became of the timings of an experiment: sets joined with what was measured, and tables."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cyclenet.experiments.names import TIMED_ENCODINGS
from cyclenet.experiments.spec import Experiment, Timing
from cyclenet.experiments.timings import ARRAYS, OUR_WAYS, PEERS, PUBLISHED, TimedSet
from cyclenet.report.numbers import NOTHING, decimal, microseconds, times, whole
from cyclenet.report.tables import Cell, Column, Sheet

# Encodings that are timed, and the ways to get them, as a reader meets them.
ENCODING_TITLES = {
    "hodge": 'Hodge 1-Laplacian, D1 (the paper\'s "original")',
    "projector": 'Projector, P (the paper\'s "basis")',
    "basis": "Shortest cycle basis",
}
_SHORT_TITLES = {"hodge": "D1", "projector": "P", "basis": "shortest basis"}
_WAY_TITLES = {"transform": "transform", "function": "one by one", "packed": "in one call"}
# What the ways give, which is not the same.
_GIVEN = {
    "hodge": "One by one gives a sparse matrix for each graph; in one call one sparse "
    "block-diagonal matrix for all graphs; the two others a dense matrix for each graph.",
    "projector": "A transform gives the pairs of edges inside blocks with their entries; in one "
    "call the same for all graphs, packed end to end; one by one and the two others a dense "
    "matrix for each graph.",
    "basis": "Ours gives the edges of each cycle with signs, in one call packed end to end for all "
    "graphs; networkx gives the nodes of each cycle.",
}


@dataclass(frozen=True, slots=True)
class TimedRow:
    """One set of graphs of an experiment.

    Args:
        timing: What the file says.
        found: What was measured, or None.
        status: ``"measured"``, ``"missing"``, ``"failed"``, or ``"to do"``.
        reason: Why it was not measured, where that is known.
    """

    timing: Timing
    found: TimedSet | None
    status: str
    reason: str = ""

    def seconds(self, encoding: str) -> Mapping[str, float]:
        """Seconds per graph of an encoding, by way.

        Args:
            encoding: Its name.

        Returns:
            The medians; nothing if it was not measured.
        """
        found = self.found and self.found.encoding(encoding)
        return found.seconds if found else {}


@dataclass(frozen=True, slots=True)
class Timings:
    """All timings of an experiment.

    Args:
        name: Name of the experiment.
        title: Heading of the table.
        paper: The paper's name for it, or nothing.
        about: A paragraph for the reader, or nothing.
        rows: The sets, in the order of the file.
        left_out: How many records were made with other settings than the file has now.
    """

    name: str
    title: str
    paper: str = ""
    about: str = ""
    rows: tuple[TimedRow, ...] = ()
    left_out: int = 0

    @property
    def machines(self) -> list[str]:
        """The machines that measured, in words."""
        found = [row.found.machine for row in self.rows if row.found is not None]
        texts = (", ".join(f"{name} {value}" for name, value in one.items()) for one in found)
        return list(dict.fromkeys(text.removeprefix("machine ") for text in texts if text))

    def plain(self) -> list[dict[str, Any]]:
        """The timings for programs: one flat mapping for each set and encoding."""
        return [_plain(self.name, row, name) for row in self.rows for name in TIMED_ENCODINGS]


def timings_of(experiment: Experiment, found: Iterable[TimedSet]) -> Timings:
    """Join the timings of a file with what was measured.

    Args:
        experiment: The file.
        found: What was measured, in any order.

    Returns:
        A row for each set of the file; an empty one for those that were not measured.
    """
    by_name = {one.graphs: one for one in found}
    rows, left_out = [], 0
    for timing in experiment.timings:
        known = by_name.get(timing.graphs)
        if known is not None and known.fingerprint != timing.fingerprint:
            left_out += 1
            known = None
        measured = known if known is not None and known.status == "measured" else None
        status, reason = (known.status, known.reason) if known is not None else ("to do", "")
        rows.append(TimedRow(timing, measured, status, reason))
    return Timings(
        experiment.name, experiment.title, experiment.paper, experiment.about, tuple(rows), left_out
    )


def sizes_sheet(timings: Timings) -> Sheet:
    """The sets of graphs that are timed: how many graphs, and how large.

    Args:
        timings: The timings.

    Returns:
        One line for each set.
    """
    columns = (
        Column("graphs"), Column("number", True), Column("nodes", True), Column("printed", True),
        Column("stored edges per node", True), Column("printed", True), Column("edges", True),
    )  # fmt: skip
    rows = [
        (
            Cell(row.timing.label),
            Cell(whole(row.found.num_graphs) if row.found else NOTHING),
            *(
                Cell(decimal(number, 2 if number is not None else None))
                for number in (
                    row.found and row.found.nodes, row.timing.printed.get("nodes"),
                    row.found and row.found.degree, row.timing.printed.get("degree"),
                    row.found and row.found.edges,
                )
            ),
        )
        for row in timings.rows
    ]  # fmt: skip
    notes = ['"Stored edges" are counted as the paper does: both directions in molecules, one on '
             "points. Edges are undirected."]  # fmt: skip
    notes += [f"Measured on: {text}{_load(timings)}." for text in timings.machines]
    return Sheet("Graphs, on average", columns, tuple(rows), (*notes, *_unmeasured(timings)))


def timing_sheet(timings: Timings, encoding: str) -> Sheet:
    """What one encoding takes on each set: ours, the published algorithm's here, and printed.

    Args:
        timings: The timings.
        encoding: One of `names.TIMED_ENCODINGS`.

    Returns:
        One line for each set, in microseconds per graph.
    """
    ways = [
        way for way in OUR_WAYS
        if way in {one for row in timings.rows for one in row.seconds(encoding)}
    ] or list(OUR_WAYS)  # fmt: skip
    columns = [Column("graphs")]
    columns += [Column(f"ours, {_WAY_TITLES[way]}", True) for way in ways]
    peers = [PUBLISHED] if encoding == "basis" else list(PEERS)
    columns += [Column(_peer_title(encoding, peer), True) for peer in peers]
    columns += [
        Column(f"{_peer_title(encoding, peer).split()[0]} / {_WAY_TITLES[way]}", True)
        for peer in peers
        for way in ways
    ]
    columns += [Column("printed", True)]
    rows = [
        (
            Cell(row.timing.label),
            *(Cell(microseconds(row.seconds(encoding).get(way))) for way in ways),
            *(Cell(microseconds(row.seconds(encoding).get(peer)), "quiet") for peer in peers),
            *(_ratio_cell(row, encoding, way, peer) for peer in peers for way in ways),
            Cell(microseconds(row.timing.printed.get(encoding)), "quiet"),
        )
        for row in timings.rows
    ]
    title = f"{ENCODING_TITLES[encoding]}, microseconds per graph"
    return Sheet(title, tuple(columns), tuple(rows), tuple(_timing_notes(timings, encoding)))


def timings_sheet(timings: Timings) -> Sheet:
    """Sets by encodings, in each cell "ours / the published algorithm here / numpy / printed".

    Args:
        timings: The timings.

    Returns:
        One line for each set, in microseconds per graph.
    """
    columns = [Column("graphs"), *(Column(_SHORT_TITLES[name], True) for name in TIMED_ENCODINGS)]
    rows = []
    for row in timings.rows:
        cells = [Cell(row.timing.label)]
        for name in TIMED_ENCODINGS:
            seconds = row.seconds(name)
            ways = ("function", PUBLISHED, ARRAYS)
            shown = (*map(seconds.get, ways), row.timing.printed.get(name))
            cells.append(Cell(" / ".join(map(microseconds, shown))))
        rows.append(tuple(cells))
    notes = [
        "Microseconds per graph: ours, one by one / the published algorithm (for bases networkx) "
        "on the same machine / the same by numpy alone, there too / printed.",
        *_unmeasured(timings),
    ]
    return Sheet(timings.title, tuple(columns), tuple(rows), tuple(notes))


def _plain(experiment: str, row: TimedRow, encoding: str) -> dict[str, Any]:
    set_, printed = row.found, row.timing.printed
    timed = set_ and set_.encoding(encoding)
    seconds = row.seconds(encoding)
    return {
        "experiment": experiment,
        "graphs": row.timing.graphs,
        "label": row.timing.label,
        "status": row.status,
        "reason": row.reason or None,
        "num_graphs": set_ and set_.num_graphs,
        "num_published": set_ and set_.num_published,
        "nodes": set_ and set_.nodes,
        "printed_nodes": printed.get("nodes"),
        "degree": set_ and set_.degree,
        "printed_degree": printed.get("degree"),
        "encoding": encoding,
        **{f"seconds_{way}": seconds.get(way) for way in OUR_WAYS},
        **{f"seconds_{peer}": seconds.get(peer) for peer in PEERS},
        **{
            f"{peer}_over_{way}": timed.times_faster(way, peer) if timed else None
            for peer in PEERS
            for way in OUR_WAYS
        },
        "printed_seconds": printed.get(encoding),
        "difference": timed and timed.difference,
    }


def _peer_title(encoding: str, peer: str) -> str:
    """What ours is timed against; the first word says which it is."""
    if peer == ARRAYS:
        return "numpy on arrays"
    return "networkx" if encoding == "basis" else "published algorithm"


def _load(timings: Timings) -> str:
    """How busy the machine was, where that is known."""
    loads = sorted(row.found.load for row in timings.rows if row.found and row.found.load)
    return f"; load average {loads[0]:.1f} to {loads[-1]:.1f}" if loads else ""


def _ratio_cell(row: TimedRow, encoding: str, way: str, peer: str) -> Cell:
    found = row.found and row.found.encoding(encoding)
    ratio = found.times_faster(way, peer) if found else None
    return Cell(times(ratio), "" if ratio is None else "better" if ratio > 1 else "worse")


def _timing_notes(timings: Timings, encoding: str) -> list[str]:
    """How it was measured, as far as the records say."""
    notes = []
    measured = [row.found for row in timings.rows if row.found is not None]
    found = [one for one in (each.encoding(encoding) for each in measured) if one is not None]
    if found:
        worst = max(one.difference for one in found)
        samples = sorted({count for one in found for count in one.samples.values()})
        counts = f"{samples[0]} to {samples[-1]}" if len(samples) > 1 else f"{samples[0]}"
        number = sorted({each.num_published for each in measured})
        graphs = " or ".join(whole(count) for count in number)
        notes.append(
            f"Processor time on one thread, median of {counts} samples after a warm-up. "
            f"{'Ours' if encoding == 'basis' else 'Ours and numpy'} on all graphs, "
            f"{_peer_title(encoding, PUBLISHED)} on {graphs} spread over each set; there all give "
            + (
                "cycles of equal lengths."
                if encoding == "basis"
                else f"the same matrix{f' to {worst:.0e}' if worst else ''}."
            )
        )
        notes.append("Ratios are the other's time over ours: below 1 ours is the slower.")
        notes.append(_GIVEN[encoding])
    return [*notes, *_unmeasured(timings)]


def _unmeasured(timings: Timings) -> list[str]:
    """Why there are dashes, where that is known."""
    return [f"{row.timing.label}: {row.status}, {row.reason}" for row in timings.rows if row.reason]
