"""`cyclenet table`: the tables of experiments, from the records of their runs."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from cyclenet.commands.outcome import Outcome
from cyclenet.datasets.errors import UnknownName
from cyclenet.experiments.names import TIMED_ENCODINGS
from cyclenet.experiments.reading import files_of, read_experiment
from cyclenet.experiments.record import find_records
from cyclenet.experiments.timings import FILE as TIMINGS_FILE
from cyclenet.experiments.timings import read_timings
from cyclenet.report.findings import FILE, Findings, findings_of, read_findings
from cyclenet.report.formats import FORMATS, csv_text, json_text, latex_sheet, markdown_sheet
from cyclenet.report.scores import Results, results_of
from cyclenet.report.tables import Sheet, findings_sheet, headline_sheet, plain, task_sheet
from cyclenet.report.timings import Timings, sizes_sheet, timing_sheet, timings_of, timings_sheet

_GENERATED = (
    "This page is written by `cyclenet table`, from the files in `experiments/` and the records of "
    "their runs; no number is typed. A dash is a run that was not made."
)


def tables_of(
    files: Sequence[Path], *, results: Path, form: str = "md", headline: bool = False
) -> Outcome:
    """The tables of one or more experiments, as one document.

    Args:
        files: Experiment files.
        results: Folder of the records.
        form: One of `FORMATS`.
        headline: Only the short table of each experiment; Markdown and LaTeX have one.

    Returns:
        The document; a warning for each file some of whose records answer another question.

    Raises:
        UnknownName: If there is no such format.
    """
    if form not in FORMATS:
        raise UnknownName("format", form, FORMATS, hint="cyclenet table --help")
    found = [read_results(path, results) for path in files]
    entries = [_entry(one) for one in found]
    write = {"md": _markdown, "tex": _latex, "csv": _csv, "json": _json}[form]
    warnings = [
        f"{path}: {_count(one.left_out)} left out, made with other settings than the file has now; "
        f"try: cyclenet run {path}"
        for path, one in zip(files, found, strict=True)
        if not isinstance(one, Findings) and one.left_out
    ]
    return Outcome({"tables": entries}, write(found, headline), warnings)


def read_results(path: Path, results: Path) -> Results | Findings | Timings:
    """What an experiment file asks for, joined with what there is.

    Args:
        path: The experiment file.
        results: Folder of the records.

    Returns:
        Findings for a file of claims, timings for one of timings, results for any other.
    """
    experiment = read_experiment(path)
    if experiment.claims:
        return findings_of(experiment, read_findings(results / experiment.name / FILE))
    if experiment.timings:
        return timings_of(experiment, read_timings(results / experiment.name / TIMINGS_FILE))
    others = [file for file in files_of(experiment.folder, path.parent) if file.stem != path.stem]
    elsewhere = {
        (run.row.name, run.task.name) for file in others for run in read_experiment(file).runs()
    }
    return results_of(experiment, find_records(results, experiment.folder), elsewhere)


def sheets_of(found: Results | Findings | Timings, headline: bool) -> list[Sheet]:
    """The tables of one experiment.

    Args:
        found: What there is.
        headline: Only the short one.

    Returns:
        The short table if there are several tasks or it alone is wanted, and one for each task;
        for timings one of the graphs and one for each encoding.
    """
    if isinstance(found, Findings):
        return [findings_sheet(found)]
    if isinstance(found, Timings):
        sheets = [sizes_sheet(found), *(timing_sheet(found, name) for name in TIMED_ENCODINGS)]
        return [timings_sheet(found)] if headline else sheets
    short = [headline_sheet(found)] if headline or len(found.tasks) > 1 else []
    return short if headline else [*short, *(task_sheet(found, task) for task in found.tasks)]


def _markdown(found: Sequence[Results | Findings | Timings], headline: bool) -> list[str]:
    lines = ["# Results", "", _GENERATED, ""] if len(found) > 1 else []
    for one in found:
        lines += [f"## {_heading(one)}", "", *([one.about, ""] if one.about else [])]
        for sheet in sheets_of(one, headline):
            # The heading above says what a claims table and a headline are.
            title = [] if sheet.title == one.title else [f"### {sheet.title}", ""]
            lines += [*title, *markdown_sheet(sheet), ""]
    return lines[:-1]


def _latex(found: Sequence[Results | Findings | Timings], headline: bool) -> list[str]:
    tables = [latex_sheet(sheet) for one in found for sheet in sheets_of(one, headline)]
    return ["% needs \\usepackage{booktabs}", *(line for table in tables for line in ["", *table])]


def _csv(found: Sequence[Results | Findings | Timings], headline: bool) -> list[str]:
    del headline  # the rows are flat either way
    blocks = [csv_text(rows) for rows in _flat(found) if rows]
    return [line for block in blocks for line in ["", *block]][1:]


def _json(found: Sequence[Results | Findings | Timings], headline: bool) -> list[str]:
    del headline
    return json_text([_entry(one) for one in found])


def _flat(found: Sequence[Results | Findings | Timings]) -> Iterator[list[dict[str, Any]]]:
    """Rows with equal keys: those of all results, then of all findings, then of all timings."""
    yield [row for one in found if isinstance(one, Results) for row in plain(one)]
    yield [row for one in found if isinstance(one, Findings) for row in one.plain()]
    yield [row for one in found if isinstance(one, Timings) for row in one.plain()]


def _entry(one: Results | Findings | Timings) -> dict[str, Any]:
    rows = plain(one) if isinstance(one, Results) else one.plain()
    left_out = 0 if isinstance(one, Findings) else one.left_out
    return {
        "experiment": one.name, "title": one.title, "paper": one.paper, "rows": rows,
        "left_out": left_out,
    }  # fmt: skip


def _count(records: int) -> str:
    return f"{records} record{'' if records == 1 else 's'}"


def _heading(one: Results | Findings | Timings) -> str:
    return f"{one.paper}: {one.title}" if one.paper else one.title
