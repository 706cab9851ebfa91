"""What one call of `cyclenet run` asks for, read and refused without loading torch."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cyclenet.datasets.errors import BadArgument, UnknownName
from cyclenet.experiments.reading import read_experiment
from cyclenet.experiments.spec import Experiment, Run


@dataclass(frozen=True)
class Plan:
    """An experiment, or a part of one.

    Args:
        file: Its file.
        experiment: The rows, tasks and seeds that are wanted.
    """

    file: Path
    experiment: Experiment

    @property
    def runs(self) -> list[Run]:
        """What is to be run; nothing for a file of claims or timings."""
        return list(self.experiment.runs())


def planned(
    file: Path,
    *,
    rows: Sequence[str] = (),
    tasks: Sequence[str] = (),
    seeds: Sequence[int] = (),
    changes: Sequence[str] = (),
    limit: int = 0,
) -> Plan:
    """Read an experiment file, and keep what is asked for.

    Args:
        file: The file.
        rows: Rows to keep, by name or by label, which may be two protocols; nothing keeps all.
        tasks: Tasks to keep; nothing keeps all.
        seeds: Seeds to keep; nothing keeps all.
        changes: Changes to settings, as for `read_experiment`.
        limit: At most so many training graphs, or 0 for all.

    Returns:
        The plan.

    Raises:
        UnknownName: If there is no such row, task or seed; the nearest is offered.
        BadArgument: If nothing is left to run, a file of claims is asked for rows, or one of
            timings for anything but rows.
    """
    experiment = read_experiment(file, changes=changes, limit=limit)
    if experiment.claims:
        if rows or tasks or seeds or changes or limit:
            raise BadArgument(
                f"{file} holds claims, which are checked all together, but rows, tasks, seeds or "
                "settings were asked for",
                hint=f"cyclenet run {file}",
            )
        return Plan(file, experiment)
    hint = f"cyclenet run {file} --dry-run"
    if experiment.timings:
        if tasks or seeds or changes or limit:
            raise BadArgument(
                f"{file} holds timings, which have rows, but tasks, seeds or settings were asked "
                "for",
                hint=f"cyclenet run {file} --row {experiment.timings[0].graphs}",
            )
        names = [one for timing in experiment.timings for one in (timing.graphs, timing.label)]
        _require(rows, names, "row", file, hint)
        timings = experiment.timings
        kept = tuple(one for one in timings if not rows or {one.graphs, one.label} & {*rows})
        return Plan(file, replace(experiment, timings=kept))
    names = [one for row in experiment.rows for one in (row.name, row.label)]
    _require(rows, names, "row", file, hint)
    _require(tasks, [task.name for task in experiment.tasks], "task", file, hint)
    for seed in seeds:
        if seed not in experiment.seeds:
            raise BadArgument(
                f"`--seed` must be one of {list(experiment.seeds)}, those of {file}, but it is "
                f"{seed}",
                hint=f"--set seeds=[{seed}]" if seed >= 0 else f"--seed {experiment.seeds[0]}",
            )
    kept = replace(
        experiment,
        rows=tuple(row for row in experiment.rows if not rows or {row.name, row.label} & {*rows}),
        tasks=tuple(task for task in experiment.tasks if not tasks or task.name in tasks),
        seeds=tuple(seed for seed in experiment.seeds if not seeds or seed in seeds),
    )
    if not any(True for _ in kept.runs()):
        raise BadArgument(
            f"the rows that were asked for are not run on the tasks that were asked for in {file}",
            hint=hint,
        )
    return Plan(file, kept)


def _require(wanted: Iterable[str], known: Sequence[str], kind: str, file: Path, hint: str) -> None:
    for name in wanted:
        if name not in known:
            raise UnknownName(f"{kind} in {file}", name, known, hint=hint)
