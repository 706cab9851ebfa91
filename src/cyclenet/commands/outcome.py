"""What a command hands back, and what an error means to the person who typed the command."""

import errno
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from cyclenet.datasets.errors import BadArgument, DataFileError, MissingExtra

EXIT_BUG, EXIT_USAGE, EXIT_FAILURES, EXIT_DATA, EXIT_ENVIRONMENT, EXIT_PEER = 1, 2, 3, 4, 5, 6


@dataclass(frozen=True)
class Outcome:
    """The answer of a command, once for programs and once for people.

    Args:
        result: What `--json` shows under "result".
        lines: What stands on the terminal.
        warnings: What the user should know besides.
        exit_code: 0 if all was done as asked.
    """

    result: dict[str, Any]
    lines: Sequence[str]
    warnings: Sequence[str] = field(default=())
    exit_code: int = 0


@dataclass(frozen=True)
class Failure:
    """An error as the user sees it.

    Args:
        exit_code: Exit status of the program.
        code: A stable word for programs.
        message: What was expected and what came.
        hint: What to try, or None.
        where: File and line, or option, or None.
    """

    exit_code: int
    code: str
    message: str
    hint: str | None = None
    where: str | None = None


class CommandError(Exception):
    """A command that cannot be done as asked.

    Args:
        failure: What the user is told.
    """

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def failure_of(error: BaseException) -> Failure | None:
    """What an error means to the user.

    Args:
        error: What a command raised.

    Returns:
        The failure, or None for an error nobody foresaw: a bug of ours.
    """
    if isinstance(error, CommandError):
        return error.failure
    message, _, tried = str(error).partition("; try: ")
    hint = getattr(error, "hint", None) or tried or None
    if isinstance(error, BadArgument):
        code = "unknown_name" if hasattr(error, "nearest") else "bad_argument"
        return Failure(EXIT_USAGE, code, message, hint)
    if isinstance(error, DataFileError):
        return Failure(EXIT_DATA, "bad_data", message, hint, error.where)
    if isinstance(error, MissingExtra):
        return Failure(EXIT_ENVIRONMENT, "missing_extra", message, hint)
    if isinstance(error, MemoryError):
        return Failure(EXIT_ENVIRONMENT, "out_of_memory", "there is not enough memory for this")
    if isinstance(error, OSError):
        return _failure_of_os_error(error)
    # A GraphError, known by its code: importing its class would load the kernels.
    code = getattr(error, "code", None)
    if isinstance(error, ValueError) and isinstance(code, str):
        exit_code = EXIT_ENVIRONMENT if code == "too_large" else EXIT_DATA
        return Failure(exit_code, code, message, hint, _graph_place(error))
    return None


def _failure_of_os_error(error: OSError) -> Failure:
    is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    # Of two files the second is the one that was asked for: the first is a draft of it.
    file = error.filename if error.filename2 is None else error.filename2
    where = None if file is None else str(file)
    place = f"{where}: " if where else ""
    hint = "another disk, or room on this one" if is_full else "a path that can be read or written"
    code = "disk_full" if is_full else "file"
    return Failure(EXIT_ENVIRONMENT, code, f"{place}{error.strerror or error}", hint, where)


def _graph_place(error: ValueError) -> str | None:
    graph, column = getattr(error, "graph_index", None), getattr(error, "column", None)
    places = [f"graph {graph}" if graph is not None else "", f"edge {column}"]
    return ", ".join(places[: 2 if column is not None else 1]) or None
