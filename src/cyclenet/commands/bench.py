"""`cyclenet bench`: the rows of the benchmark as a table."""

import platform
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from cyclenet.bench.rows import BARS, measured_rows
from cyclenet.commands.outcome import EXIT_FAILURES, Outcome
from cyclenet.commands.table import aligned, cell_text, markdown

_HEADER = ("id", "family", "ours us", "peer", "peer us", "ratio", "bar", "ok", "")
_MEASURED_WITH = ("numpy", "scipy", "numba", "torch", "igraph", "networkx", "rdkit")


def run_bench(
    *, quick: bool, ids: Sequence[str], as_markdown: bool, say: Callable[[str], None]
) -> Outcome:
    """Measure the bars.

    Args:
        quick: Fewer graphs and repeats.
        ids: Numbers of the bars to measure, or nothing for all.
        as_markdown: Whether the table is for a document.
        say: Told about each row as it is finished.

    Returns:
        The rows, and what they were measured with.
    """
    rows = []
    for row in measured_rows(quick=quick, ids=ids):
        rows.append(row)
        say("  ".join(map(cell_text, _cells(row))))
    machine = _machine()
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


def _cells(row: dict[str, Any]) -> list[object]:
    sign = {"at least": ">=", "at most": "<="}[row["sense"]]
    ok = "skipped" if row["ok"] is None else "yes" if row["ok"] else "NO"
    bar = f"{sign} {row['bar']:g}"
    return [
        row["id"], row["family"], row["ours_us"], row["peer"], row["peer_us"], row["ratio"], bar,
        ok, row["reason"] or "",
    ]  # fmt: skip


def _machine() -> dict[str, str]:
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
