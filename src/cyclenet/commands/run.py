"""`cyclenet run`: the runs of an experiment, each done once however often it is asked for."""

import contextlib
import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cyclenet.commands.outcome import (
    EXIT_ENVIRONMENT,
    EXIT_FAILURES,
    EXIT_PEER,
    CommandError,
    Failure,
    Outcome,
)
from cyclenet.commands.plan import Plan, planned
from cyclenet.commands.progress import Meter, progress
from cyclenet.commands.table import aligned
from cyclenet.datasets.data_folder import DATA_HERE, DataFolder
from cyclenet.datasets.errors import BadArgument
from cyclenet.experiments.build import check_rows
from cyclenet.experiments.record import RECORD_FILE, Record, read_record
from cyclenet.experiments.spec import Run, Training
from cyclenet.experiments.tasks import TASKS
from cyclenet.report.numbers import duration
from cyclenet.runner import (
    Busy,
    NoSuchDevice,
    Progress,
    RankLost,
    device_named,
    execute,
    execute_on_ranks,
    is_begun,
    known_record,
    rank_devices,
    set_aside,
)

_log = logging.getLogger(__name__)

Tell = Callable[[str], None]

# How often the progress of a run that says nothing is looked at.
_SECONDS_BETWEEN_LOOKS = 1.0


@dataclass(frozen=True)
class How:
    """How runs are done; what comes out does not depend on it, to rounding.

    Args:
        results: Folder of the records.
        device: As for `runner.device_named`.
        ranks: Processes that share a training.
        interval: Seconds between two checkpoints.
        data: Where tasks with files find them. What may be fetched is fetched before the first
            run.
    """

    results: Path
    device: str = "auto"
    ranks: int = 1
    interval: float = 60.0
    data: DataFolder = DATA_HERE


def run_plan(
    plan: Plan, how: How, tell: Tell, *, fresh: bool = False, dry_run: bool = False
) -> Outcome:
    """Do all runs of a plan that have not been done.

    Several processes may be given the same plan and folder. Each run is done by one of them; what
    another one is working on is passed over, and looked at again at the end.

    Args:
        plan: What to run; no claims.
        how: How to.
        tell: Takes a line for each run as soon as it is finished.
        fresh: Do everything anew; old records are kept beside until new ones are there.
        dry_run: Only say what there is to do.

    Returns:
        The state of every run. The exit code is 3 if one failed or is still being run elsewhere.

    Raises:
        BadArgument: If a row cannot be built, or shortened runs would replace whole ones.
        CommandError: If there is no such device, or a process of a training is lost.
        DataFileError: If files of a task that is still to be run are missing or damaged.
    """
    try:
        if how.ranks < 1:
            raise BadArgument(
                f"`--ddp` must be 1 or more processes, but it is {how.ranks}", hint="--ddp 2"
            )
        check_rows(plan.experiment)
        _require_room(plan, how.results)
        if dry_run:
            return _plan_outcome(plan, how.results)
        device = how.device if how.ranks > 1 else str(device_named(how.device))
        if how.ranks > 1:
            rank_devices(device, how.ranks)
        return _Work(plan, how, device, tell).outcome(fresh)
    except NoSuchDevice as error:
        failure = Failure(EXIT_ENVIRONMENT, "no_device", str(error), error.hint)
        raise CommandError(failure) from error
    except RankLost as error:
        message = f"{error}; what was done is kept"
        hint = "the same command again, which goes on from the last checkpoint"
        raise CommandError(Failure(EXIT_PEER, "rank_lost", message, hint)) from error


class _Work:
    """The runs of a plan, while they are done."""

    def __init__(self, plan: Plan, how: How, device: str, tell: Tell) -> None:
        self.plan, self.how, self.device, self.tell = plan, how, device, tell
        self.runs = plan.runs
        self.records: dict[str, Record] = {}
        self.done_now: set[str] = set()

    def outcome(self, fresh: bool) -> Outcome:
        self._require_data([run for run in self.runs if fresh or not self._is_known(run)])
        if fresh:
            self._set_aside()
        left = [run for run in self.runs if not self._is_known(run)]
        known = len(self.runs) - len(left)
        if known:
            _log.info(f"{known} of {len(self.runs)} runs are done already; --fresh does them anew")
        busy = self._pass(left)
        if busy:
            busy = self._pass(busy)
        entries = [_entry(run, self.how.results, self._state(run)) for run in self.runs]
        counts = Counter(entry["state"] for entry in entries)
        _log.info(", ".join(f"{number} {state}" for state, number in counts.items()))
        warnings = [
            f"{entry['run']} failed: {entry['failure']}"
            for entry in entries
            if entry["state"] == "failed"
        ]
        warnings += [f"{run.folder} is still being run by another process" for run in busy]
        return Outcome(
            _result(self.plan, self.how.results, entries),
            [],
            warnings,
            EXIT_FAILURES if warnings else 0,
        )

    def _require_data(self, runs: list[Run]) -> None:
        """Once for all of them and before the first: an error after days would come too late."""
        for name in dict.fromkeys(run.task.name for run in runs):
            stored = TASKS[name].stored
            if stored is not None:
                stored.ready(self.how.data)

    def _set_aside(self) -> None:
        for run in self.runs:
            with contextlib.suppress(Busy):
                set_aside(run, self.how.results)

    def _pass(self, runs: list[Run]) -> list[Run]:
        """Do runs one after the other; those that another process is at are left over."""
        busy = []
        for number, run in enumerate(runs, 1):
            if self._is_known(run):  # by another process, since we looked last
                continue
            try:
                with _metered(f"{number}/{len(runs)} {run.folder}", run) as watch:
                    record = self._executed(run, watch)
            except Busy as error:
                _log.info(f"{error}; it is looked at again at the end")
                busy.append(run)
                continue
            self.records[run.folder] = record
            self.done_now.add(run.folder)
            self.tell(run_line(record, run))
        return busy

    def _executed(self, run: Run, watch: Callable[[Progress], None]) -> Record:
        how = self.how
        if how.ranks > 1 and _is_trained(run):
            return execute_on_ranks(
                run, how.results, world=how.ranks, device=self.device, watch=watch,
                interval=how.interval, data=how.data,
            )  # fmt: skip
        device = self.device if how.ranks == 1 else rank_devices(self.device, 1)[0]
        return execute(
            run, how.results, device=device, watch=watch, interval=how.interval, data=how.data
        )

    def _is_known(self, run: Run) -> bool:
        record = known_record(run, self.how.results)
        if record is not None:
            self.records[run.folder] = record
        return record is not None

    def _state(self, run: Run) -> dict[str, Any]:
        record = self.records.get(run.folder)
        if record is None:
            return {"state": "busy"}
        return _of_record(record) | {"done_now": run.folder in self.done_now}


def run_line(record: Record, run: Run) -> str:
    """A run in a line.

    Args:
        record: Its record.
        run: The run.

    Returns:
        Metric, epoch, copies and time, or what went wrong.
    """
    if record.status == "failed":
        return f"{run.folder}: failed: {record.failure}"
    words = ["no number" if record.value is None else f"{record.metric} {record.value:.4g}"]
    if record.chosen_epoch is not None:
        words.append(f"epoch {record.chosen_epoch}")
    if record.copies is not None and record.copies.separated:
        words.append(f"tells {record.copies.separated} of {record.copies.pairs} copies apart")
    words.append(duration(record.seconds))
    if record.shortened:
        words.append(f"shortened by {' '.join(record.shortened)}")
    return f"{run.folder}: {', '.join(words)}"


def _is_trained(run: Run) -> bool:
    return run.row.baseline is None and isinstance(run.settings, Training)


@contextlib.contextmanager
def _metered(title: str, run: Run) -> Iterator[Callable[[Progress], None]]:
    """Shows how far a run is, also while it says nothing of itself."""
    total = run.settings.epochs if isinstance(run.settings, Training) and _is_trained(run) else 1
    shown: tuple[float, str] = (0.0, "")
    over = threading.Event()

    def watch(told: Progress) -> None:
        nonlocal shown
        shown = float(told.epoch), f"epoch {told.epoch}/{told.epochs}, loss {told.train_loss:.4g}"

    def look(meter: Meter) -> None:
        while not over.wait(_SECONDS_BETWEEN_LOOKS):
            meter.at(*shown)

    with progress(title, total) as meter:
        thread = threading.Thread(target=look, args=(meter,), daemon=True)
        thread.start()
        try:
            yield watch
        finally:
            over.set()
            thread.join()


def _require_room(plan: Plan, results: Path) -> None:
    """Refuse to put a shortened run in the place of a whole one, or of a half of one."""
    if not plan.experiment.shortened:
        return
    whole = {run.folder: run for run in planned(plan.file).runs}
    for run in plan.runs:
        path = results / run.folder
        record = path / RECORD_FILE
        if run.folder not in whole or run.fingerprint == whole[run.folder].fingerprint:
            continue
        is_whole = record.exists() and not read_record(record).shortened
        if is_whole or is_begun(whole[run.folder], results):
            raise BadArgument(
                f"{path} holds a whole run, which one with {' '.join(run.shortened)} must not "
                "replace",
                hint="--results DIR, a folder for shortened runs",
            )


def _plan_outcome(plan: Plan, results: Path) -> Outcome:
    """What there is to do."""
    entries = []
    for run in plan.runs:
        record = known_record(run, results)
        waiting = {"state": "begun" if is_begun(run, results) else "to do"}
        entries.append(_entry(run, results, waiting if record is None else _of_record(record)))
    rows = [(entry["run"], entry["label"], entry["protocol"], entry["state"]) for entry in entries]
    lines = aligned(rows, ("run", "row", "protocol", "state"))
    return Outcome(_result(plan, results, entries), lines)


def _of_record(record: Record) -> dict[str, Any]:
    copies = record.copies
    return {
        "state": record.status,
        "value": record.value,
        "metric": record.metric,
        "chosen_epoch": record.chosen_epoch,
        "copies_separated": None if copies is None else copies.separated,
        "seconds": round(record.seconds, 3),
        "failure": record.failure or None,
    }


def _entry(run: Run, results: Path, state: dict[str, Any]) -> dict[str, Any]:
    nothing = dict.fromkeys(
        ("value", "metric", "chosen_epoch", "copies_separated", "seconds", "failure")
    )
    return {
        "run": run.folder, "label": run.row.label, "row": run.row.name, "task": run.task.name,
        "protocol": run.row.protocol, "seed": run.seed, "state": "", "done_now": False, **nothing,
        "record": str(results / run.folder / RECORD_FILE), **state,
    }  # fmt: skip


def _result(plan: Plan, results: Path, entries: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "experiment": plan.experiment.name,
        "results": str(results),
        "shortened": list(plan.experiment.shortened),
        "counts": dict(Counter(entry["state"] for entry in entries)),
        "runs": entries,
    }
