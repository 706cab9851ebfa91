"""The parts of a report, each made from what it shows: results, records, graphs, timings.

`cyclenet report` composes a page of those that records can fill, `cyclenet demo` of all.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from cyclenet.experiments.record import Record
from cyclenet.report.charts import Line, bar_chart, heat_map, line_chart, share_chart
from cyclenet.report.drawing import CyclePicture, draw_cycles, svg_in_page
from cyclenet.report.findings import Findings
from cyclenet.report.numbers import duration
from cyclenet.report.page import Block, Command, Commands, Facts, Picture, Pictures, Section, Table
from cyclenet.report.scores import Results, Score
from cyclenet.report.tables import (
    Sheet,
    failed_sheet,
    findings_sheet,
    headline_sheet,
    task_sheet,
)
from cyclenet.report.timings import Timings, timings_sheet

# Bars of a chart; the rest is summed into one.
_MOST_SHARES = 12
# Lengths of cycles in a caption; its description lists all.
_MOST_LENGTHS = 4


def headline_section(found: Sequence[Results | Findings | Timings]) -> Section:
    """The short table of each experiment.

    Args:
        found: What there is.

    Returns:
        The section.
    """
    blocks = [Table(_short_sheet(one)) for one in found]
    lead = (
        "Our number / the number the paper prints. A dash is a run that was not made or a number "
        "that is not printed."
    )
    return Section("results", "Results", tuple(blocks), lead)


def _short_sheet(one: Results | Findings | Timings) -> Sheet:
    if isinstance(one, Findings):
        return findings_sheet(one)
    return timings_sheet(one) if isinstance(one, Timings) else headline_sheet(one)


def tables_section(results: Sequence[Results]) -> Section:
    """Every number with its seeds, its protocol and what backs it, one table a task.

    Args:
        results: The results.

    Returns:
        The section; the tables are folded if there are more than two.
    """
    sheets = [task_sheet(one, task) for one in results for task in one.tasks]
    blocks = [Table(sheet, folded=len(sheets) > 2) for sheet in sheets]
    return Section("tables", "Full tables", tuple(blocks))


def curves_section(results: Sequence[Results]) -> Section:
    """How the trainings went: loss and metric over epochs, a line for each row.

    Args:
        results: The results.

    Returns:
        The section.
    """
    blocks = [
        Pictures(pictures, f"{one.title}: {label}")
        for one in results
        for task, label in one.tasks.items()
        if (pictures := _curves(one.on(task)))
    ]
    if len(blocks) == 1:  # which task it is goes without saying
        blocks = [replace(blocks[0], heading="")]
    several = any(len(score.finished) > 1 for one in results for score in one.scores)
    lead = "Each line is the mean over seeds, its band reaches from the lowest to the highest seed."
    return Section("curves", "Training", tuple(blocks), lead if several else "")


def sight_section(title: str, lead: str, pictures: Sequence[CyclePicture], sheet: Sheet) -> Section:
    """A few graphs drawn large, each cycle once more on its own, and their numbers.

    Args:
        title: What the reader should see.
        lead: A paragraph on it.
        pictures: The graphs; the title of each is its caption.
        sheet: Their numbers.

    Returns:
        The section.
    """
    drawn = tuple(_drawn(picture, each=True) for picture in pictures)
    return Section("see", title, (Pictures(drawn), Table(sheet, titled=False)), lead)


def gallery_section(pictures: Sequence[CyclePicture]) -> Section:
    """Graphs, every cycle of their basis in its colour.

    Args:
        pictures: The graphs; the title of each is its caption.

    Returns:
        The section.
    """
    drawn = tuple(_drawn(picture) for picture in pictures)
    lead = (
        "Each colour is one cycle of a shortest cycle basis; an edge on several cycles carries "
        "several strands. Grey edges lie on no cycle."
    )
    return Section("cycles", "Cycles", (Pictures(drawn, small=True),) if drawn else (), lead)


def projectors_section(projectors: Mapping[str, Float[np.ndarray, "_ _"]]) -> Section:
    """Projectors on cycle spaces, entry by entry.

    Args:
        projectors: The projectors, each under its name.

    Returns:
        The section.
    """
    pictures = []
    for name, values in projectors.items():
        size = f"{len(values)} edges"
        zero = f"{np.isclose(values, 0, atol=1e-9).mean():.0%} of the entries are zero"
        about = f"Projector on the cycle space of {name}, {size}; {zero}."
        rank = round(float(np.trace(values)))
        svg = heat_map(name, values, about=about)
        pictures.append(Picture(svg, f"{size}, rank {rank}; {zero}"))
    lead = (
        "Row and column are edges. Blue entries are positive, orange ones negative: two edges that "
        "cycles run through in the same, or in opposite directions."
    )
    blocks = (Pictures(tuple(pictures)),) if pictures else ()
    return Section("projectors", "Projectors", blocks, lead)


def lengths_section(lengths: Mapping[str, Mapping[str, int]], lead: str = "") -> Section:
    """How long the cycles of shortest bases are.

    Args:
        lengths: How many basis cycles of a set of graphs have each length, written as text, each
            set under its name.
        lead: A paragraph for the reader, or nothing.

    Returns:
        The section; lengths that do not occur keep their place.
    """
    pictures = []
    for name, counts in lengths.items():
        known = [int(length) for length in counts]
        span = range(min(known, default=0), max(known, default=-1) + 1)
        bars = {str(length): float(counts.get(str(length), 0)) for length in span}
        pictures.append(Picture(bar_chart(name, bars, down="cycles", across="length")))
    blocks = (Pictures(tuple(pictures)),) if pictures else ()
    return Section("lengths", "Lengths of basis cycles", blocks, lead)


def time_section(seconds: Mapping[str, float], title: str = "Wall time") -> Section:
    """Where the time went.

    Args:
        seconds: Seconds of each part, under its name.
        title: What the parts are parts of.

    Returns:
        The section; longest first.
    """
    ordered = sorted(seconds.items(), key=lambda item: -item[1])
    shares = dict(ordered[:_MOST_SHARES])
    if len(ordered) > _MOST_SHARES:
        shares["all others"] = sum(value for _, value in ordered[_MOST_SHARES:])
    picture = Picture(share_chart(title, shares, unit=duration))
    blocks = (Pictures((picture,)),) if shares else ()
    return Section("time", "Where the time went", blocks)


def failures_section(records: Iterable[Record], quarantine: Mapping[str, str]) -> Section:
    """Runs that failed and graphs that were set aside, by name.

    Args:
        records: All records.
        quarantine: Why each graph was set aside, under its name.

    Returns:
        The section; empty if nothing failed.
    """
    sheet = failed_sheet(records)
    blocks: list[Block] = [] if sheet is None else [Table(sheet)]
    if quarantine:
        blocks.append(Facts(quarantine))
    return Section("failures", "What failed", tuple(blocks))


def environment_section(facts: Mapping[str, str]) -> Section:
    """Machine and versions.

    Args:
        facts: Names and values.

    Returns:
        The section.
    """
    return Section("environment", "Environment", (Facts(facts),) if facts else ())


def commands_section(commands: Sequence[Command]) -> Section:
    """What to type to get each number again.

    Args:
        commands: The lines.

    Returns:
        The section.
    """
    blocks = (Commands(tuple(commands)),) if commands else ()
    return Section("repeat", "Repeat it", blocks)


def run_seconds(results: Sequence[Results]) -> dict[str, float]:
    """Seconds that all runs of a row took, under the name of the row and its experiment.

    Args:
        results: The results.

    Returns:
        The seconds.
    """
    total: dict[str, float] = {}
    for one in results:
        for score in one.scores:
            if score.records:
                name = f"{score.name}, {one.name}" if len(results) > 1 else score.name
                spent = sum(record.seconds for record in score.records)
                total[name] = total.get(name, 0.0) + spent
    return total


def environment_of(records: Sequence[Record]) -> dict[str, str]:
    """Machines and versions that records name; several values stand side by side.

    Args:
        records: The records.

    Returns:
        Names and values.
    """
    facts: dict[str, dict[str, None]] = {}
    for record in records:
        here = {
            "device": record.device,
            "threads": str(record.threads),
            **record.versions,
            "revision": record.revision,
        }
        for name, value in here.items():
            if value:
                facts.setdefault(name, {})[value] = None
    return {name: ", ".join(values) for name, values in facts.items()}


def _curves(scores: Sequence[Score]) -> tuple[Picture, ...]:
    """The loss while training, and the metric that the protocol may look at."""
    trained = [score for score in scores if any(r.curve.train_loss for r in score.finished)]
    if not trained:
        return ()
    metric = trained[0].finished[0].metric
    losses = [_line(score, "train_loss") for score in trained]
    watched = [line for score in trained if (line := _line(score, "validation_metric")).values]
    tested = [_line(score, "test_metric") for score in trained]
    named = f"{metric} on validation graphs" if watched else f"{metric} on test graphs"
    return (
        Picture(line_chart("Training loss", losses, down="loss")),
        Picture(line_chart(named, watched or tested, down=metric)),
    )


def _line(score: Score, name: str) -> Line:
    """Mean, lowest and highest of the seeds, as far as all of them went."""
    curves = [getattr(record.curve, name) for record in score.finished]
    by_epoch = list(zip(*(curve for curve in curves if curve), strict=False))
    several = len(by_epoch[0]) > 1 if by_epoch else False
    return Line(
        score.name,
        [math.fsum(values) / len(values) for values in by_epoch],
        [min(values) for values in by_epoch] if several else (),
        [max(values) for values in by_epoch] if several else (),
    )


def _drawn(picture: CyclePicture, *, each: bool = False) -> Picture:
    """A graph with its title below instead of above."""
    counts = sorted(Counter(len(cycle) for cycle in picture.cycles).items())
    size = f"{picture.num_nodes} nodes, {picture.edges.shape[1]} edges"
    listed = ", ".join(f"{count} of length {length}" for length, count in counts)
    about = f"{size}; {f'basis cycles: {listed}' if counts else 'no cycle'}"
    # A number and its length stay on one line.
    kinds = [f"{count}\N{NO-BREAK SPACE}\N{MULTIPLICATION SIGN}\N{NO-BREAK SPACE}{length}"
             for length, count in counts]  # fmt: skip
    short = " + ".join(kinds[:_MOST_LENGTHS]) + (
        " + \N{HORIZONTAL ELLIPSIS}" if len(kinds) > _MOST_LENGTHS else ""
    )
    caption = f"{size}, {f'cycles {short}' if counts else 'no cycle'}"
    figure = draw_cycles([picture], titled=False, each=each)
    svg = svg_in_page(figure, title=picture.title, description=about)
    return Picture(svg, caption, picture.title)
