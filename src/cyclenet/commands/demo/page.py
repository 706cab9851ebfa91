"""The page at the end of the demo: what was seen, encoded and trained, and how to repeat it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from cyclenet.commands.demo.encoding import Encoded
from cyclenet.commands.demo.gallery import gallery
from cyclenet.commands.demo.sight import Line, Sight
from cyclenet.report.numbers import NOTHING, decimal, duration, printed, rate, whole
from cyclenet.report.page import Command, Mark, Page, Section, Table, write_page
from cyclenet.report.scores import Results
from cyclenet.report.sections import (
    commands_section,
    curves_section,
    environment_of,
    environment_section,
    failures_section,
    gallery_section,
    lengths_section,
    projectors_section,
    sight_section,
    time_section,
)
from cyclenet.report.tables import SHORTENED, Cell, Column, Sheet, task_sheet

_SEE = (
    "Both graphs have 16 nodes with 6 neighbours each, 48 edges and 32 triangles, and message "
    "passing gives all their nodes one and the same state: to it they are one graph. Their cycles "
    "differ, and so does the projector on the space of all cycles, which knows no choice of basis."
)


def write_demo_page(
    path: Path,
    sight: Sight,
    encoded: Encoded,
    results: Results,
    seconds: Mapping[str, float],
    command: str,
) -> int:
    """Compose and write the page.

    Args:
        path: The file.
        sight: The two graphs.
        encoded: What encoding took.
        results: The trainings beside the paper's numbers.
        seconds: Of every part of the demo.
        command: What was typed.

    Returns:
        Its size in bytes.
    """
    sections = (
        sight_section("Two graphs, told apart", _SEE, sight.pictures, _comparison(sight.lines)),
        _training_section(results),
        gallery_section(gallery()),
        projectors_section(sight.projectors),
        curves_section([results]),
        lengths_section(
            {
                f"{whole(encoded.graphs)} graphs of points on circles": encoded.lengths,
                "1,000 molecules": encoded.molecules,
            },
            "Points on circles: the circles are the long cycles, the short ones arise where two of "
            "them meet. Molecules: the rings that chemists know.",
        ),
        time_section(seconds, "Seconds of this demo"),
        failures_section(results.records, {}),
        environment_section(environment_of(results.records)),
        commands_section(_commands(command, results)),
    )
    page = Page(
        "What message passing cannot see",
        "Cycles of graphs, computed exactly, drawn, counted, and given to a network.",
        sections,
        _marks(encoded, results),
        f"Written by `{command}`. Everything on this page was computed on this machine.",
    )
    return write_page(path, page)


def headline(results: Results) -> tuple[Sequence[Sequence[object]], Sequence[str]]:
    """The short table for a terminal.

    Args:
        results: The trainings beside the paper's numbers.

    Returns:
        Rows and header.
    """
    rows = [
        (
            score.name,
            None if score.mean is None else round(score.mean, 3),
            score.reported and score.reported.mean,
            score.parameters or None,
            score.seconds_per_epoch,
        )
        for score in results.scores
    ]
    header = ("method", "error (MAE), shortened run", "paper", "parameters", "s per epoch")
    return rows, header


def _training_section(results: Results) -> Section:
    """The headline, what is to be known of it, and all other columns folded behind it."""
    columns = (
        Column("method"),
        Column(f"error (MAE), shortened run {SHORTENED}", True),
        Column("the paper", True),
        Column("parameters", True),
        Column("per epoch", True),
        Column("encoder reads"),
    )
    rows = tuple(
        (Cell(score.name), Cell(decimal(score.mean)),
         Cell(printed(score.reported and score.reported.mean), "quiet"),
         Cell(whole(score.parameters or None)), Cell(duration(score.seconds_per_epoch)),
         Cell(", ".join(score.encoder_inputs) or NOTHING, "quiet"))
        for score in results.scores
    )  # fmt: skip
    (task,) = results.tasks
    full = task_sheet(results, task)
    marks = tuple(note for note in full.notes if note.startswith(SHORTENED))
    sheet = Sheet(results.title, columns, rows, marks)
    folded = Table(replace(full, title="All columns, as in the tables of results"), folded=True)
    return Section("results", results.title, (Table(sheet, titled=False), folded), results.about)


def _comparison(lines: tuple[Line, ...]) -> Sheet:
    columns = Column(""), Column("Rook 4x4", True), Column("Shrikhande", True), Column("told apart")
    rows = tuple(
        (Cell(line.what), Cell(line.rook), Cell(line.shrikhande),
         Cell("yes", "better") if line.differ else Cell("no", "quiet"))
        for line in lines
    )  # fmt: skip
    return Sheet("The two graphs in numbers", columns, rows)


def _marks(encoded: Encoded, results: Results) -> tuple[Mark, ...]:
    marks = (
        Mark(rate(encoded.bases_per_second), "shortest bases a second"),
        Mark(whole(encoded.cycles), f"cycles of {whole(encoded.graphs)} graphs"),
        Mark(f"{encoded.unique / max(encoded.graphs, 1):.0%}", "of them have only one basis"),
    )
    networks = [score for score in results.scores if score.parameters]
    without = [s.mean for s in networks if s.mean is not None and not s.encoder_inputs]
    with_cycles = [s.mean for s in networks if s.mean is not None and s.encoder_inputs]
    if not without or not with_cycles:
        return marks
    error = f"{decimal(min(without), 2)} \N{RIGHTWARDS ARROW} {decimal(min(with_cycles), 2)}"
    return (*marks, Mark(error, "error without and with cycles"))


def _commands(command: str, results: Results) -> list[Command]:
    full = "cyclenet run experiments/cycle_properties.toml --task n_circles --row"
    return [
        Command(command, "This page: every number and picture on it"),
        Command("cyclenet inspect rook", "The numbers of the first graph"),
        Command("cyclenet inspect shrikhande", "The numbers of the second graph"),
        Command("cyclenet inspect n-circles:0 --svg circles.svg", "A cloud of points on circles"),
        *(
            Command(f"{full} {score.folder}", f"{score.name}, in full: 200 epochs, five seeds")
            for score in results.scores
            if score.parameters
        ),
    ]
