"""Tables of results: one for each task, a short one over all tasks, and one of claims.

A table is a `Sheet` of short texts, the same for every format; `formats` writes it as Markdown or
LaTeX and the page shows it as HTML.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from cyclenet.experiments.record import Record
from cyclenet.report.findings import Findings
from cyclenet.report.numbers import (
    NOTHING,
    VOID,
    decimal,
    duration,
    printed,
    signed,
    spread,
    whole,
)
from cyclenet.report.scores import Results, Score

SHORTENED = "\N{DAGGER}"

Tone = Literal["", "better", "worse", "quiet"]


class Column(NamedTuple):
    """A column: its heading, and whether it stands to the right, as numbers do."""

    title: str
    numeric: bool = False


class Cell(NamedTuple):
    """A cell: its text, and how a format that has colours may tint it."""

    text: str
    tone: Tone = ""


@dataclass(frozen=True)
class Sheet:
    """A table.

    Args:
        title: What stands above it.
        columns: The columns.
        rows: The cells, row after row.
        notes: Lines under it.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()


def task_sheet(results: Results, task: str) -> Sheet:
    """All rows on one task: ours, printed, difference, and what backs the numbers.

    Args:
        results: The results.
        task: Name of the task.

    Returns:
        One line for each row.
    """
    scores = results.on(task)
    untrained = task in results.untrained
    columns = [
        Column("method"), Column("protocol"), Column("ours", True), Column("seeds", True),
        Column("printed", True), Column("difference", True), Column("encoder input"),
        Column("copies separated", True), Column("parameters", True),
        Column("per run" if untrained else "per epoch", True), Column("device"),
    ]  # fmt: skip
    rows = [_task_row(score, untrained) for score in scores]
    titles = [column.title for column in columns]
    for title, next_title, cells in _printed_columns(scores, titles[-2]):
        place = titles.index(next_title)
        titles.insert(place, title)
        columns.insert(place, Column(title, True))
        rows = [(*row[:place], c, *row[place:]) for row, c in zip(rows, cells, strict=True)]
    heading = f"{results.tasks.get(task, task)}{_metric_note(scores)}"
    return Sheet(heading, tuple(columns), tuple(rows), tuple(_notes(scores)))


def headline_sheet(results: Results) -> Sheet:
    """Rows by tasks, in each cell "ours / printed".

    Args:
        results: The results.

    Returns:
        One line for each row of the experiment.
    """
    lines: dict[str, dict[str, Score]] = {}
    for score in results.scores:
        lines.setdefault(score.name, {})[score.task] = score
    columns = [Column("method")]
    for task, label in results.tasks.items():
        columns.append(Column(f"{label}{_metric_note(results.on(task))}", True))
    rows = [
        (Cell(name), *(_headline_cell(by_task.get(task)) for task in results.tasks))
        for name, by_task in lines.items()
    ]
    notes = ["Ours / printed. Every number with its seeds and its protocol is in the full tables."]
    notes += _marks(results.scores)
    return Sheet(results.title, tuple(columns), tuple(rows), tuple(notes))


def findings_sheet(findings: Findings) -> Sheet:
    """Claims of the paper, whether they hold, and the numbers that show it.

    Args:
        findings: What the checks found.

    Returns:
        One line for each claim; dashes for those that were not checked.
    """
    columns = (Column("the paper"), Column("holds"), Column("what we find"), Column("witness"))
    tones: dict[str, Tone] = {"yes": "better", "no": "worse"}
    rows = [
        (
            Cell(finding.paper),
            Cell(finding.holds or NOTHING, tones.get(finding.holds, "")),
            Cell(finding.finding or NOTHING),
            Cell(finding.witness or NOTHING, "quiet"),
        )
        for finding in findings.claims
    ]
    return Sheet(findings.title, columns, tuple(rows))


def failed_sheet(records: Iterable[Record]) -> Sheet | None:
    """Every run that failed, and why.

    Args:
        records: Any records.

    Returns:
        One line for each failed run, or None if none failed.
    """
    rows = [
        (Cell(record.experiment), Cell(record.label), Cell(record.task), Cell(str(record.seed)),
         Cell(record.failure or "no reason recorded"))
        for record in records if record.status == "failed"
    ]  # fmt: skip
    columns = (
        Column("experiment"), Column("method"), Column("task"), Column("seed", True), Column("why"),
    )  # fmt: skip
    return Sheet("Failed runs", columns, tuple(rows)) if rows else None


def plain(results: Results) -> list[dict[str, Any]]:
    """The full table for programs: raw numbers, None for what is missing.

    Args:
        results: The results.

    Returns:
        One flat mapping for each row and task, all with the same keys.
    """
    return [_plain(results, score) for score in results.scores]


def _plain(results: Results, score: Score) -> dict[str, Any]:
    reported, copies = score.reported, score.copies
    metric = next((record.metric for record in score.records), None)
    values = {
        "experiment": results.name,
        "task": score.task,
        "method": score.label,
        "protocol": score.protocol,
        "metric": metric,
        "mean": score.mean,
        "std": score.std,
        "is_void": score.is_void,
        "seeds_wanted": score.wanted,
        "seeds_finished": len(score.finished),
        "seeds_failed": len(score.failed),
        "printed_mean": reported.mean if reported else None,
        "printed_std": reported.std if reported else None,
        "difference": score.difference,
        "encoder_input": ", ".join(score.encoder_inputs) or None,
        "copies_pairs": copies.pairs if copies else None,
        "copies_separated": copies.separated if copies else None,
        "parameters": score.parameters,
        "parameters_total": score.parameters_total,
        "seconds_per_epoch": score.seconds_per_epoch,
        "printed_seconds_per_epoch": reported.seconds if reported else None,
        "printed_parameters": reported.parameters if reported else None,
        "seconds_per_run": score.seconds_per_run,
        "device": ", ".join(score.devices) or None,
        "shortened": "; ".join(score.shortened) or None,
        "failures": "; ".join(f"seed {r.seed}: {r.failure}" for r in score.failed) or None,
    }
    # Sums of floats carry digits that mean nothing.
    return {key: float(f"{v:.9g}") if isinstance(v, float) else v for key, v in values.items()}


def _task_row(score: Score, untrained: bool) -> tuple[Cell, ...]:
    copies, reported = score.copies, score.reported
    honest = score.protocol == "honest"
    separated = VOID if copies is None else f"{copies.separated:,} of {copies.pairs:,}"
    tone: Tone = "worse" if copies and copies.separated else ""
    seconds = score.seconds_per_run if untrained else score.seconds_per_epoch
    return (
        Cell(score.label),
        Cell(score.protocol, "" if honest else "quiet"),
        Cell(_ours(score)),
        Cell(_seeds(score), "worse" if score.failed else ""),
        Cell(printed(reported.mean, reported.std) if reported else NOTHING),
        Cell(signed(score.difference), _tone(score)),
        Cell(", ".join(score.encoder_inputs) or NOTHING),
        Cell(separated if score.finished else NOTHING, tone),
        Cell(_parameters(score)),
        Cell(duration(seconds)),
        Cell(", ".join(score.devices) or NOTHING, "quiet"),
    )


def _printed_columns(
    scores: Sequence[Score], time_title: str
) -> Iterator[tuple[str, str, list[Cell]]]:
    """What the paper prints beside its results, each with the column that it stands in front of."""
    reported = [score.reported for score in scores]
    counts = [one.parameters if one else None for one in reported]
    seconds = [one.seconds if one else None for one in reported]
    if any(count is not None for count in counts):
        yield "printed parameters", time_title, [Cell(whole(count), "quiet") for count in counts]
    if any(one is not None for one in seconds):
        yield "printed per epoch", "device", [Cell(duration(one), "quiet") for one in seconds]


def _headline_cell(score: Score | None) -> Cell:
    if score is None:
        return Cell(NOTHING, "quiet")
    theirs = printed(score.reported.mean) if score.reported else NOTHING
    ours = VOID if score.is_void else decimal(score.mean)
    mark = SHORTENED if score.shortened else ""
    return Cell(f"{ours}{mark} / {theirs}", _tone(score))


def _ours(score: Score) -> str:
    text = VOID if score.is_void else spread(score.mean, score.std)
    return f"{text} {SHORTENED}" if score.shortened else text


def _tone(score: Score) -> Tone:
    if score.is_better is None:
        return ""
    return "better" if score.is_better else "worse"


def _seeds(score: Score) -> str:
    """How many seeds finished, and how many of those asked for if not all."""
    finished = len(score.finished)
    if score.wanted == 0:
        return NOTHING
    text = str(finished) if finished == score.wanted else f"{finished} of {score.wanted}"
    return f"{text}, {len(score.failed)} failed" if score.failed else text


def _parameters(score: Score) -> str:
    trained, total = score.parameters, score.parameters_total
    if trained == total or not total:
        return whole(trained)
    return f"{whole(trained)} of {whole(total)}"


def _metric_note(scores: Sequence[Score]) -> str:
    """The metric and its direction, in brackets; nothing before the first record."""
    for record in (record for score in scores for record in score.records):
        sense = "higher" if record.higher_is_better else "lower"
        return f" ({record.metric}, {sense} is better)"
    return ""


def _notes(scores: Sequence[Score]) -> list[str]:
    """What a reader must know of these numbers: marks, failures, and what the file says."""
    notes = []
    if any(score.std is not None for score in scores):
        notes.append("± is the standard deviation over seeds, with n - 1 below.")
    notes += _marks(scores)
    for score in scores:
        for record in score.failed:
            notes.append(f"Failed: {score.name}, seed {record.seed}: {record.failure}")
    notes += [f"{score.name}: {score.note}" for score in scores if score.note]
    return notes


def _marks(scores: Iterable[Score]) -> list[str]:
    """What the dagger and "n/a" stand for, where they occur."""
    scores = list(scores)
    texts = dict.fromkeys(text for score in scores for text in score.shortened)
    notes = []
    if texts:
        notes.append(f"{SHORTENED} Shortened runs, not the experiment: {', '.join(texts)}.")
    if any(score.is_void for score in scores):
        notes.append(
            f"{VOID}: the method tells relabelled copies of one graph apart, so what it separates "
            "says nothing."
        )
    return notes
