"""`cyclenet report`: one page of everything that the records of a folder say."""

from collections.abc import Sequence
from pathlib import Path

from cyclenet.commands.outcome import Outcome
from cyclenet.commands.table import size_text
from cyclenet.commands.tables import read_results
from cyclenet.datasets.errors import DataFileError
from cyclenet.experiments.reading import files_of
from cyclenet.experiments.record import RECORD_FILE, Record, find_records
from cyclenet.experiments.timings import FILE as TIMINGS_FILE
from cyclenet.report.findings import FILE, Findings
from cyclenet.report.numbers import duration
from cyclenet.report.page import Command, Mark, Page, write_page
from cyclenet.report.scores import Results, results_without_file
from cyclenet.report.sections import (
    commands_section,
    curves_section,
    environment_of,
    environment_section,
    failures_section,
    headline_section,
    run_seconds,
    tables_section,
    time_section,
)
from cyclenet.report.timings import Timings

PAGE = "report.html"


def write_report(
    folder: Path, *, out: Path | None = None, experiments: Path = Path("experiments")
) -> Outcome:
    """Write the page of a folder of records.

    Args:
        folder: Folder of the records, as `cyclenet run` fills it.
        out: The page, or None for `PAGE` in the folder.
        experiments: Folder of the experiment files, for titles and printed numbers. Records whose
            file is not there are shown without.

    Returns:
        Path, size and counts; a warning for each experiment with records left out.

    Raises:
        DataFileError: If the folder holds no records.
    """
    found = [one for name in _names(folder) for one in _read(name, folder, experiments)]
    if not found:
        raise DataFileError(
            f"expected a folder of records ({RECORD_FILE} or {FILE} within), but it has none",
            path=str(folder),
            hint="cyclenet run FILE.toml, which makes them",
        )
    results = [one for one in found if isinstance(one, Results)]
    records = _records_of(results)
    path = folder / PAGE if out is None else out
    size = write_page(path, _page(found, results, experiments))
    failed = sum(record.status == "failed" for record in records)
    warnings = [
        f"{one.name}: {one.left_out} of its records are left out, made with other settings than "
        "its file has now"
        for one in found
        if not isinstance(one, Findings) and one.left_out
    ]
    counts = f"{_count(len(found), 'experiment')}, {_count(len(records), 'run')}, {failed} failed"
    return Outcome(
        {"page": str(path), "bytes": size, "experiments": [one.name for one in found],
         "runs": len(records), "failed": failed},
        [counts, f"report: {path} ({size_text(size)})"],
        warnings,
    )  # fmt: skip


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _names(folder: Path) -> list[str]:
    """The experiments that a folder holds anything of."""
    below = sorted(path for path in folder.glob("*") if path.is_dir())
    return [
        path.name
        for path in below
        if any((path / file).is_file() for file in (FILE, TIMINGS_FILE))
        or any(path.rglob(RECORD_FILE))
    ]


def _read(name: str, folder: Path, experiments: Path) -> list[Results | Findings | Timings]:
    files = files_of(name, experiments)
    if files:
        return [read_results(file, folder) for file in files]
    return [results_without_file(name, find_records(folder, name))]


def _records_of(results: Sequence[Results]) -> list[Record]:
    """All records, each once: tables may share some."""
    found = {
        (record.experiment, record.task, record.row, record.seed): record
        for one in results
        for record in one.records
    }
    return list(found.values())


def _page(
    found: Sequence[Results | Findings | Timings], results: Sequence[Results], experiments: Path
) -> Page:
    records = _records_of(results)
    finished = [record for record in records if record.status == "finished"]
    methods = {(record.label, record.protocol) for record in records}
    marks = (
        Mark(str(len(found)), "experiments"),
        Mark(str(len(methods)), "methods"),
        Mark(str(len(finished)), "finished runs"),
        Mark(str(len(records) - len(finished)), "failed runs"),
        Mark(duration(sum(record.seconds for record in records)), "of running"),
    )
    last = max((record.finished for record in records), default="")
    return Page(
        "What the cycles of a graph tell a network",
        "Every number of the experiments beside the one the paper prints, and what it takes to "
        "get it again.",
        (
            headline_section(found),
            tables_section(results),
            curves_section(results),
            time_section(run_seconds(results), "Seconds of all runs, by method"),
            failures_section(records, {}),
            environment_section(environment_of(records)),
            commands_section(_commands(found, experiments)),
        ),
        marks,
        f"Written by cyclenet from records; the last run finished {last}." if last else "",
    )


def _commands(found: Sequence[Results | Findings | Timings], experiments: Path) -> list[Command]:
    """A line for each experiment, and one for each of its rows."""
    lines = []
    for one in found:
        file = f"{experiments}/{one.name}.toml"
        lines.append(Command(f"cyclenet run {file}", f"{one.title}: all of it"))
        if isinstance(one, Results):
            labels = dict.fromkeys((score.name, score.folder) for score in one.scores)
            lines += [
                Command(f"cyclenet run {file} --row {row}", f"{one.title}: {label}")
                for label, row in labels
                if row
            ]
    return lines
