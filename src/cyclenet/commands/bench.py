"""`cyclenet bench`: the rows of the benchmark as a table."""

import json
import logging
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from cyclenet.bench.bars import BARS, check_ids
from cyclenet.commands.outcome import EXIT_FAILURES, Outcome
from cyclenet.commands.table import aligned, cell_text, markdown

_log = logging.getLogger(__name__)

_HEADER = ("id", "family", "ours us", "peer", "peer us", "ratio", "bar", "ok", "")
# A peer must not get more threads than we do; read when numpy starts.
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_MEASURED_WITH = ("numpy", "scipy", "numba", "torch", "igraph", "networkx", "rdkit")


def run_bench(*, quick: bool, ids: Sequence[str], as_markdown: bool) -> Outcome:
    """Measure the bars; each row is logged as it is finished.

    Args:
        quick: Fewer repeats; rows that take long are skipped.
        ids: Numbers of the bars to measure, or nothing for all.
        as_markdown: Whether the table is for a document.

    Returns:
        The rows, and what they were measured with.
    """
    check_ids(ids)
    rows = []
    for row in _measured(quick, ids):
        rows.append(row)
        _log.info("  ".join(map(cell_text, _cells(row))).rstrip())
    machine = machine_and_versions()
    tabulate = markdown if as_markdown else aligned
    missed = sum(row["ok"] is False for row in rows)
    skipped = sum(row["ok"] is None for row in rows)
    told = (
        f"{len(rows) - missed - skipped} rows reach their bar, {missed} do not, {skipped} skipped"
    )
    lines = [
        *tabulate([_cells(row) for row in rows], _HEADER),
        "",
        ", ".join(f"{name} {found}" for name, found in machine.items()),
        told,
    ]
    shown = {str(number): what for number, what in BARS.items()}
    # Slow is a finding, wrong is a failure.
    exit_code = EXIT_FAILURES if any(row["agree"] is False for row in rows) else 0
    return Outcome({"rows": rows, "bars": shown, "machine": machine}, lines, exit_code=exit_code)


def _measured(quick: bool, ids: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows, measured in a process whose linear algebra has one thread from its start."""
    command = [sys.executable, "-m", "cyclenet.bench", *(["--quick"] if quick else []), *ids]
    environment = os.environ | dict.fromkeys(ONE_THREAD, "1")
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            yield from map(json.loads, child.stdout)
        finally:
            # Ends it if we were stopped; it has ended already if all rows came.
            child.terminate()
    if child.returncode > 0:
        raise RuntimeError(f"the measuring process ended with status {child.returncode}")


def _cells(row: dict[str, Any]) -> list[object]:
    sign = {"at least": ">=", "at most": "<="}[row["sense"]]
    ok = "skipped" if row["ok"] is None else "yes" if row["ok"] else "NO"
    bar = f"{sign} {row['bar']:g}"
    return [
        row["id"], row["family"], row["ours_us"], row["peer"], row["peer_us"], row["ratio"], bar,
        ok, row["reason"] or "",
    ]  # fmt: skip


def machine_and_versions() -> dict[str, str]:
    """What a time depends on besides our code.

    Returns:
        The processor under ``"machine"``, and the version of each package that computes.
    """
    machine = {"machine": _processor(), "python": platform.python_version()}
    for package in _MEASURED_WITH:
        try:
            machine[package] = version(package)
        except PackageNotFoundError:
            continue
    return machine


def _processor() -> str:
    """The name of the processor where the system tells it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            names = [line.partition(":")[2].strip() for line in lines if "model name" in line]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()
