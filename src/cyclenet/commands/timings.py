"""`cyclenet run` on a file of timings: each set measured, told, and written down."""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from cyclenet.commands.bench import ONE_THREAD, machine_and_versions
from cyclenet.commands.outcome import EXIT_FAILURES, Outcome
from cyclenet.commands.plan import Plan
from cyclenet.commands.progress import progress
from cyclenet.datasets.data_folder import DATA_HERE, DataFolder
from cyclenet.experiments.names import TIMED_ENCODINGS
from cyclenet.experiments.plain import from_plain
from cyclenet.experiments.spec import Timing
from cyclenet.experiments.timings import (
    FILE,
    OUR_WAYS,
    PEERS,
    TimedEncoding,
    TimedSet,
    read_timings,
    write_timings,
)
from cyclenet.report.numbers import microseconds, times
from cyclenet.report.timings import timings_of
from cyclenet.runner.devices import revision

_log = logging.getLogger(__name__)


def measure_timings(
    plan: Plan,
    results: Path,
    tell: Callable[[str], None],
    *,
    data: DataFolder = DATA_HERE,
    fresh: bool = False,
    dry_run: bool = False,
) -> Outcome:
    """Time the sets of a file; those that are measured already are passed over.

    What is found is written down after each set, so an interruption loses one.

    Args:
        plan: A file of timings, or a part of one.
        results: Folder of the records.
        tell: Takes the text of each set as soon as it is measured.
        data: Where sets with files find them, and what may be done to have them.
        fresh: Measure all sets anew; the old numbers stay until new ones are there.
        dry_run: Only list the sets, and what is known of them.

    Returns:
        The timings. The exit code is 3 if algorithms disagree or a measurement broke; graphs that
        are not here are only told.
    """
    experiment = plan.experiment
    path = results / experiment.name / FILE
    if dry_run:
        rows = timings_of(experiment, read_timings(path)).rows
        lines = [f"{row.timing.graphs}: {row.status}" for row in rows]
    else:
        lines = []
        known = {one.graphs: one for one in read_timings(path)}
        left = [one for one in experiment.timings if fresh or not _is_known(one, known)]
        if len(left) < len(experiment.timings):
            done = len(experiment.timings) - len(left)
            _log.info(
                f"{done} of {len(experiment.timings)} sets are measured already; --fresh measures "
                "them anew"
            )
        with progress(experiment.name, len(left)) as meter:
            for number, timing in enumerate(left):
                meter.at(number, timing.label)
                found = _measured(timing, data)
                _keep(path, found)
                tell(_told(found, timing.label))
    found = timings_of(experiment, read_timings(path))
    result = {"experiment": experiment.name, "results": str(path), "timings": found.plain()}
    troubled = [row for row in found.rows if row.reason]
    warnings = [f"{row.timing.graphs} {row.status}: {row.reason}" for row in troubled]
    failed = any(row.status == "failed" for row in troubled)
    return Outcome(result, lines, warnings, EXIT_FAILURES if failed and not dry_run else 0)


def _is_known(timing: Timing, known: dict[str, TimedSet]) -> bool:
    found = known.get(timing.graphs)
    return (
        found is not None and found.status == "measured" and found.fingerprint == timing.fingerprint
    )


def _measured(timing: Timing, data: DataFolder) -> TimedSet:
    """Measure one set, in a process whose linear algebra has one thread from its start."""
    command = [
        sys.executable, "-m", "cyclenet.bench.preprocessing", timing.graphs,
        "--repeats", str(timing.repeats), "--seconds", str(timing.seconds),
        "--published-graphs", str(timing.published_graphs),
        "--data", str(data.root),
        *(["--download"] if data.download else []),
        *(["--trust-pickle"] if data.trust_pickle else []),
    ]  # fmt: skip
    environment = os.environ | dict.fromkeys(ONE_THREAD, "1")
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as child:
        try:
            printed, _ = child.communicate()
        finally:
            # Ends it if we were stopped; it has ended already if its line came.
            child.terminate()
    if child.returncode != 0:
        raise RuntimeError(f"the measuring process ended with status {child.returncode}")
    found = from_plain(TimedSet, json.loads(printed))
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return replace(found, machine=machine_and_versions(), revision=revision(), finished=now)


def _keep(path: Path, found: TimedSet) -> None:
    """Write a set beside the others in the file; what is missing here replaces no measurement."""
    known = {one.graphs: one for one in read_timings(path)}
    old = known.get(found.graphs)
    if found.status != "missing" or old is None or old.status != "measured":
        write_timings(path, (known | {found.graphs: found}).values())


def _told(found: TimedSet, label: str) -> str:
    """A set as a few lines."""
    if found.status != "measured":
        return f"{label}: {found.status}: {found.reason}"
    lines = [f"{label}: {found.num_graphs} graphs, published algorithm on {found.num_published}"]
    for name in TIMED_ENCODINGS:
        timed = found.encoding(name)
        if timed is not None:
            ours, peers = _ways(timed, OUR_WAYS), _ways(timed, PEERS)
            lines.append(f"  {name}: {ours}; {peers}")
    return "\n".join(lines)


def _ways(timed: TimedEncoding, ways: Sequence[str]) -> str:
    """What some ways take, and how often it fits into what each peer takes."""
    told = []
    for way in ways:
        if way not in timed.seconds:
            continue
        peers = [peer for peer in PEERS if peer in timed.seconds and way in OUR_WAYS]
        ratios = ", ".join(f"{peer} {times(timed.times_faster(way, peer))}" for peer in peers)
        told.append(f"{way} {microseconds(timed.seconds[way])} us" + (f" ({ratios})" * bool(peers)))
    return ", ".join(told)
