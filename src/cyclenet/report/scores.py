"""What the runs of each row say on each task, beside what the paper prints.

Joining is strict: a record counts only if it answers the question that the experiment file asks
today, told by its fingerprint. A run that a command line shortened stands in, marked, where there
is no full one.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean, stdev

from cyclenet.experiments.record import Copies, Record
from cyclenet.experiments.spec import Experiment, Reported, Run, Separation
from cyclenet.report.numbers import EQUAL


@dataclass(frozen=True)
class Score:
    """One row on one task: what its runs say.

    Args:
        label: Name of the row in tables.
        protocol: ``"honest"`` or ``"paper"``.
        task: Name of the task.
        wanted: Runs asked for, one a seed; 0 if the row is not run on this task.
        records: The records that count, finished and failed.
        reported: What the paper prints, or None.
        note: One sentence of the file about the row.
    """

    label: str
    protocol: str
    task: str
    wanted: int = 0
    records: tuple[Record, ...] = ()
    reported: Reported | None = None
    note: str = ""

    @property
    def name(self) -> str:
        """The label; a row of the published procedure says so."""
        return self.label if self.protocol == "honest" else f"{self.label} (paper protocol)"

    @property
    def folder(self) -> str:
        """The row's name as ``cyclenet run --row`` takes it, or nothing without a record."""
        return next((record.row for record in self.records), "")

    @cached_property
    def finished(self) -> tuple[Record, ...]:
        """The records of runs that came to their end."""
        return tuple(record for record in self.records if record.status == "finished")

    @cached_property
    def failed(self) -> tuple[Record, ...]:
        """The records of runs that did not."""
        return tuple(record for record in self.records if record.status == "failed")

    @property
    def is_void(self) -> bool:
        """Whether a finished run has no number: it told copies of one graph apart."""
        return any(record.value is None for record in self.finished)

    @property
    def mean(self) -> float | None:
        """The mean over seeds, or None without a finished run or if one is void."""
        values = [record.value for record in self.finished if record.value is not None]
        return fmean(values) if values and not self.is_void else None

    @property
    def std(self) -> float | None:
        """The standard deviation over seeds (n - 1 below), or None with fewer than two."""
        values = [record.value for record in self.finished if record.value is not None]
        return stdev(values) if len(values) > 1 and not self.is_void else None

    @property
    def difference(self) -> float | None:
        """Ours minus printed, or None if either is missing."""
        if self.mean is None or self.reported is None:
            return None
        return self.mean - self.reported.mean

    @property
    def is_better(self) -> bool | None:
        """Whether ours is better than the printed number; None if they are equal or missing."""
        if self.difference is None or abs(self.difference) < EQUAL:
            return None
        return (self.difference > 0) == self.records[0].higher_is_better

    @property
    def copies(self) -> Copies | None:
        """The copy tests of all seeds together, or None if there was none."""
        tests = [record.copies for record in self.finished if record.copies is not None]
        if not tests:
            return None
        return Copies(sum(test.pairs for test in tests), sum(test.separated for test in tests))

    @property
    def parameters(self) -> int | None:
        """Trainable parameters, or None without a record."""
        return max((record.parameters for record in self.records), default=None)

    @property
    def parameters_total(self) -> int | None:
        """All parameters, or None without a record."""
        return max((record.parameters_total for record in self.records), default=None)

    @property
    def seconds_per_epoch(self) -> float | None:
        """Mean seconds of an epoch of training, or None where nothing was trained."""
        seconds = [record.seconds_per_epoch for record in self.finished]
        known = [number for number in seconds if number is not None]
        return fmean(known) if known else None

    @property
    def seconds_per_run(self) -> float | None:
        """Mean seconds of a run, or None without a finished one."""
        return fmean([record.seconds for record in self.finished]) if self.finished else None

    @property
    def devices(self) -> tuple[str, ...]:
        """Where the runs were made, each device once."""
        return tuple(dict.fromkeys(record.device for record in self.records))

    @property
    def encoder_inputs(self) -> tuple[str, ...]:
        """What the encoder read; more than one only if records disagree."""
        inputs = dict.fromkeys(record.encoder_input for record in self.records)
        return tuple(text for text in inputs if text)

    @property
    def shortened(self) -> tuple[str, ...]:
        """What command lines changed or cut off in these runs."""
        return tuple(dict.fromkeys(text for record in self.records for text in record.shortened))


@dataclass(frozen=True)
class Results:
    """Everything a table of one experiment shows.

    Args:
        name: Name of the experiment.
        title: Heading of the table.
        paper: The paper's name for the table, or nothing.
        about: A paragraph for the reader, or nothing.
        tasks: Heading of each task, by name, in the order of the columns.
        untrained: Names of the tasks that train nothing.
        scores: Row after row, in each row task after task.
        left_out: Records that answer another question than the file asks.
    """

    name: str
    title: str
    paper: str = ""
    about: str = ""
    tasks: Mapping[str, str] = field(default_factory=dict)
    untrained: frozenset[str] = frozenset()
    scores: tuple[Score, ...] = ()
    left_out: int = 0

    @property
    def records(self) -> list[Record]:
        """All records that count."""
        return [record for score in self.scores for record in score.records]

    def on(self, task: str) -> list[Score]:
        """The scores of all rows on a task.

        Args:
            task: Name of the task.

        Returns:
            One score for each row that has the task.
        """
        return [score for score in self.scores if score.task == task]


def results_of(
    experiment: Experiment,
    records: Iterable[Record],
    elsewhere: Collection[tuple[str, str]] = (),
) -> Results:
    """Join an experiment with the records of its runs.

    Args:
        experiment: What the file asks for.
        records: All records there are, in any order.
        elsewhere: Names of rows, each with a task, that other files have in the same folder. What
            this file does not ask of them is left out in silence.

    Returns:
        A score for each row and task that is run or printed.
    """
    runs: dict[tuple[str, str], list[Run]] = {}
    for run in experiment.runs():
        runs.setdefault((run.row.name, run.task.name), []).append(run)
    found: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        key = record.row, record.task
        if key in runs or key not in elsewhere:
            found.setdefault(key, []).append(record)
    scores = []
    for row in experiment.rows:
        for task in experiment.tasks:
            asked = runs.get((row.name, task.name), [])
            reported = row.reported.get(task.name)
            if asked or reported is not None:
                counted = _counted(asked, found.get((row.name, task.name), ()))
                scores.append(
                    Score(
                        row.label, row.protocol, task.name, len(asked), counted, reported, row.note
                    )
                )
    kept = sum(len(score.records) for score in scores)
    return Results(
        experiment.name,
        experiment.title,
        experiment.paper,
        experiment.about,
        {task.name: task.label for task in experiment.tasks},
        frozenset(task.name for task in experiment.tasks if isinstance(task.honest, Separation)),
        tuple(scores),
        sum(map(len, found.values())) - kept,
    )


def results_without_file(name: str, records: Sequence[Record]) -> Results:
    """Group records whose experiment file is not at hand: all count, nothing is printed beside.

    Args:
        name: Name of the experiment.
        records: Its records.

    Returns:
        A score for each row and task there is a record of.
    """
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record.row, record.task), []).append(record)
    scores = [
        Score(group[0].label, group[0].protocol, task, len(group), tuple(group))
        for (_, task), group in groups.items()
    ]
    tasks = dict.fromkeys(record.task for record in records)
    trained = {record.task for record in records if record.seconds_per_epoch is not None}
    return Results(
        name,
        name,
        tasks={task: task for task in tasks},
        untrained=frozenset(tasks) - trained,
        scores=tuple(scores),
    )


def _counted(asked: Sequence[Run], records: Iterable[Record]) -> tuple[Record, ...]:
    """One record a seed, in the order of the seeds: the full ones, or else the shortened ones."""
    # A command line that asked for fewer seeds has shortened no run: the fingerprints are equal.
    wanted = {run.seed: run.fingerprint for run in asked}
    counted = {
        record.seed: replace(record, shortened=())
        for record in records
        if wanted.get(record.seed) == record.fingerprint
    }
    if not counted:
        counted = {r.seed: r for r in records if r.shortened and r.seed in wanted}
    return tuple(counted[seed] for seed in wanted if seed in counted)
