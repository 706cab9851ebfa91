"""The `cyclenet` program: reads arguments, prints answers, and turns errors into exit codes.

What a command does is in `cyclenet.commands`; this file imports it when the command is called, so
that help and wrong usage answer at once. Results go to stdout and everything else to stderr.
"""

import contextlib
import json
import logging
import math
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Annotated, Any

import typer

import cyclenet
from cyclenet.commands.listing import COMMANDS, KINDS, list_names
from cyclenet.commands.outcome import (
    EXIT_BUG,
    EXIT_USAGE,
    Failure,
    Outcome,
    failure_of,
)
from cyclenet.datasets.data_folder import DEFAULT_ROOT, DataFolder
from cyclenet.datasets.errors import BadArgument, UnknownName

EXIT_INTERRUPTED, EXIT_TERMINATED = 130, 143

# These may stand anywhere on the line, before or after the command.
_COMMON_FLAGS = {
    "--json": "json",
    "-q": "quiet",
    "--quiet": "quiet",
    "-v": "verbose",
    "--verbose": "verbose",
    "--debug": "debug",
}
_COMMON_HELP = "Common to all commands: --json, -q, -v, --debug; see cyclenet --help."

# typer does not export the class that all its complaints about the command line share.
_UsageError = typer.BadParameter.__base__ or typer.BadParameter

# Said of the sets that are not shipped, by every command that reads them.
_DataRoot = Annotated[
    Path, typer.Option("--data", metavar="DIR", help="Folder of ZINC and the TU datasets.")
]
_Download = Annotated[
    bool,
    typer.Option("--download", help="Fetch ZINC if it is not there: the only use of a network."),
]
_TrustPickle = Annotated[
    bool,
    typer.Option(
        "--trust-pickle", help="Open a raw file of unknown SHA-256, which may run any program."
    ),
]

# Takes the lines that a command has to show before its end.
_TELL: ContextVar[Callable[[str], None]] = ContextVar("tell")

_app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program.

    Args:
        arguments: The words after the program's name, or None for those of the process.

    Returns:
        The exit status: 0 done, 1 a bug of ours, 2 wrong usage, 3 finished with failures, 4 damaged
        data, 5 something missing or full, 130 interrupted, 143 terminated.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    _open_closed_streams()
    door = _Door(words)
    try:
        with _stoppable(), door.listening():
            answer = door.call()
    except _Stopped as stop:
        return door.stopped(stop.exit_code)
    except BrokenPipeError:
        return _pipe_closed()
    except Exception as error:
        return door.failed(error)
    try:
        return door.answered(answer)
    except BrokenPipeError:
        return _pipe_closed()
    except OSError as error:  # a full disk behind stdout
        _leave_stdout()
        return door.failed(error)


class _Stopped(BaseException):
    """Ctrl-C or SIGTERM; not an Exception, so that nothing on the way takes it for an error."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


@dataclass
class _Door:
    """One call of the program: its common flags, and how it speaks."""

    words: list[str]
    started: float = field(default_factory=time.perf_counter)
    warned: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        flags, self.rest = _split_common_flags(self.words)
        self.json = "json" in flags
        self.quiet = "quiet" in flags
        self.verbose = "verbose" in flags
        self.debug = "debug" in flags
        self.command = next((word for word in self.rest if not word.startswith("-")), None)
        self.stdout = sys.stdout

    def call(self) -> Outcome | str:
        """The outcome of the command, or the text of a help page."""
        if self.command is not None and self.command not in COMMANDS:
            raise UnknownName("command", self.command, COMMANDS, hint="cyclenet --help")
        printed = StringIO()
        # Whatever a library prints must not stand among the results.
        with contextlib.redirect_stdout(printed):
            before = _TELL.set(self.tell)
            try:
                answer = _app(self.rest or ["--help"], prog_name="cyclenet", standalone_mode=False)
            finally:
                _TELL.reset(before)
        if isinstance(answer, Outcome):
            self.say(printed.getvalue().rstrip())
            return answer
        return printed.getvalue().rstrip()

    def answered(self, answer: Outcome | str) -> int:
        """Print an answer; returns the exit status."""
        if isinstance(answer, str):
            answer = Outcome({"help": answer}, answer.splitlines())
        for text in answer.warnings:
            self.warn(text)
        if self.json:
            self._print_json(answer.exit_code, result=answer.result)
        else:
            for line in answer.lines:
                print(line)
            sys.stdout.flush()
        if self.verbose:
            self.say(f"{time.perf_counter() - self.started:.2f} seconds")
        return answer.exit_code

    def failed(self, error: Exception) -> int:
        """Tell the user what went wrong; returns the exit status."""
        failure = _usage_failure(error, self.command) or failure_of(error)
        if failure is None:
            failure = Failure(
                EXIT_BUG,
                "bug",
                f"unexpected {type(error).__name__}: {error}",
                "report this with the file",
                _write_log(error),
            )
        if self.debug:
            traceback.print_exception(error, file=sys.stderr)
        if self.json:
            self._print_json(failure.exit_code, failure=failure)
        self._print_failure(failure)
        return failure.exit_code

    def stopped(self, exit_code: int) -> int:
        """Say how to go on after a signal; returns the exit status."""
        word = "interrupted" if exit_code == EXIT_INTERRUPTED else "terminated"
        failure = Failure(exit_code, word, f"{word} before the end", self.command_line())
        if self.json:
            self._print_json(exit_code, failure=failure)
        print(f"{word}; continue with: {self.command_line()}", file=sys.stderr)
        return exit_code

    def command_line(self) -> str:
        """What to type to go on: what was typed, without starting over once more."""
        import shlex

        return shlex.join(["cyclenet", *(word for word in self.words if word != "--fresh")])

    def tell(self, line: str) -> None:
        """A part of the result that is there before the end; `--json` shows all of it at once."""
        if self.json:
            self.say(line)
        else:
            print(line, file=self.stdout, flush=True)

    def say(self, text: str) -> None:
        """A line for the user who watches; not part of the result."""
        if text and not self.quiet:
            print(text, file=sys.stderr, flush=True)

    def warn(self, text: str) -> None:
        """Something the user should know; kept for `--json` too."""
        if text not in self.warned:
            self.warned.append(text)
            self.say(f"{_coloured('warning:', 33)} {text}")

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Within it warnings go to our list, and what commands log goes to the user."""
        log = logging.getLogger("cyclenet")
        handler = _Listener(self.say, self.warn)
        level = log.level
        log.addHandler(handler)
        log.setLevel(logging.WARNING if self.quiet else logging.INFO)
        try:
            with warnings.catch_warnings():
                warnings.showwarning = lambda message, *_, **__: self.warn(str(message))
                yield
        finally:
            log.removeHandler(handler)
            log.setLevel(level)

    def _print_json(
        self, exit_code: int, *, result: object = None, failure: Failure | None = None
    ) -> None:
        finite = _finite(result, "result", self.warned)
        envelope = {
            "command": self.command,
            "version": cyclenet.__version__,
            "ok": exit_code == 0,
            "exit_code": exit_code,
            "seconds": round(time.perf_counter() - self.started, 3),
            "result": finite,
            "warnings": self.warned,
            "error": None if failure is None else {
                "code": failure.code,
                "message": failure.message,
                "hint": failure.hint,
                "where": failure.where,
            },
        }  # fmt: skip
        print(json.dumps(envelope, allow_nan=False), flush=True)

    def _print_failure(self, failure: Failure) -> None:
        print(f"{_coloured('error:', 31)} {failure.message}", file=sys.stderr)
        if failure.code == "bug":
            print(f"the traceback is in {failure.where}", file=sys.stderr)
        if failure.hint:
            print(f"try: {failure.hint}", file=sys.stderr)


class _Listener(logging.Handler):
    """Passes on what is logged."""

    def __init__(self, say: Callable[[str], None], warn: Callable[[str], None]) -> None:
        super().__init__()
        self.say, self.warn = say, warn

    def emit(self, record: logging.LogRecord) -> None:
        tell = self.warn if record.levelno >= logging.WARNING else self.say
        tell(record.getMessage())


# Commands.


def _show_version(wanted: bool) -> bool:
    if wanted:
        print(f"cyclenet {cyclenet.__version__}")
        raise typer.Exit
    return wanted


@_app.callback(
    help="Exact cycle numbers of graphs: shortest cycle bases, relevant cycles, the projector on "
    "the cycle space."
)
def _program(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print exactly one JSON object, also on failure.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print results and errors only.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say how long it took.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
) -> None:
    # The flags are read before, wherever they stand; here they are for the help page.
    del version, json, quiet, verbose, debug


def _command(name: str, example: str) -> Callable[[Callable[..., Outcome]], Callable[..., Outcome]]:
    """Register a command with its line of help, an example and the common flags."""
    epilog = f"Example: {example}\n\n{_COMMON_HELP}"
    return _app.command(name, help=COMMANDS[name], epilog=epilog)


@_command("demo", "cyclenet demo --out demo-output")
def _demo(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder of the page and the records.")
    ] = Path("demo-output"),
    seconds: Annotated[
        int, typer.Option("--seconds", metavar="N", min=1, help="About how long it may take.")
    ] = 60,
) -> Outcome:
    from cyclenet.commands.demo import run_demo

    return run_demo(out, seconds=seconds)


@_command("inspect", "cyclenet inspect sr:sr251256:0 --svg graph.svg")
def _inspect(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE[:i]", help="Graphs; see cyclenet list datasets.")
    ],
    svg: Annotated[
        Path | None,
        typer.Option("--svg", metavar="FILE", help="Draw the graph with its shortest basis."),
    ] = None,
    data: _DataRoot = DEFAULT_ROOT,
    download: _Download = False,
    trust_pickle: _TrustPickle = False,
    no_limit: Annotated[
        bool, typer.Option("--no-limit", help="Compute the basis even where it takes long.")
    ] = False,
) -> Outcome:
    from cyclenet.commands.inspect import inspect_source

    folder = DataFolder(data, download, trust_pickle)
    return inspect_source(source, svg=svg, data=folder, no_limit=no_limit)


@_command("run", "cyclenet run experiments/smoke.toml --row gin --set epochs=2")
def _run(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="What to run.")],
    row: Annotated[
        list[str] | None, typer.Option("--row", metavar="NAME", help="Only this row; repeatable.")
    ] = None,
    task: Annotated[
        list[str] | None, typer.Option("--task", metavar="NAME", help="Only this task; repeatable.")
    ] = None,
    seed: Annotated[
        list[int] | None, typer.Option("--seed", metavar="N", help="Only this seed; repeatable.")
    ] = None,
    change: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="a.b=v", help="Change a setting; the records say so."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", help="At most N training graphs.")
    ] = 0,
    device: Annotated[
        str, typer.Option("--device", metavar="NAME", help="auto, cpu, cuda or cuda:N.")
    ] = "auto",
    ddp: Annotated[
        int, typer.Option("--ddp", metavar="N", help="Share each training among N processes.")
    ] = 1,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what there is to do.")] = (
        False
    ),
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Do it anew; old records stay until new ones are there.")
    ] = False,
    checkpoint_every: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="Seconds between two checkpoints.")
    ] = 60.0,
    data: _DataRoot = DEFAULT_ROOT,
    download: _Download = False,
    trust_pickle: _TrustPickle = False,
    results: Annotated[
        Path, typer.Option("--results", metavar="DIR", help="Folder of the records.")
    ] = Path("results"),
) -> Outcome:
    from cyclenet.commands.plan import planned

    plan = planned(
        file,
        rows=row or (),
        tasks=task or (),
        seeds=seed or (),
        changes=change or (),
        limit=limit,
    )
    folder = DataFolder(data, download, trust_pickle)
    if folder != DataFolder() and plan.experiment.claims:
        raise BadArgument(
            "`--data`, `--download` and `--trust-pickle` are for files that are trained or timed, "
            f"but {file} holds claims",
            hint=f"cyclenet run {file}",
        )
    if plan.experiment.claims:
        from cyclenet.commands.claims import check_claims

        return check_claims(plan, results, _TELL.get(), dry_run=dry_run)
    if plan.experiment.timings:
        from cyclenet.commands.timings import measure_timings

        return measure_timings(
            plan, results, _TELL.get(), data=folder, fresh=fresh, dry_run=dry_run
        )
    from cyclenet.commands.run import How, run_plan

    how = How(results, device, ddp, checkpoint_every, folder)
    return run_plan(plan, how, _TELL.get(), fresh=fresh, dry_run=dry_run)


@_command("table", "cyclenet table experiments/smoke.toml --format csv")
def _table(
    files: Annotated[list[Path], typer.Argument(metavar="FILE.toml...", help="Experiments.")],
    form: Annotated[
        str, typer.Option("--format", metavar="NAME", help="md, tex, csv or json.")
    ] = "md",
    headline: Annotated[
        bool, typer.Option("--headline", help="Only the short table of each experiment.")
    ] = False,
    results: Annotated[
        Path, typer.Option("--results", metavar="DIR", help="Folder of the records.")
    ] = Path("results"),
) -> Outcome:
    from cyclenet.commands.tables import tables_of

    return tables_of(files, results=results, form=form, headline=headline)


@_command("report", "cyclenet report results -o report.html")
def _report(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder of records, as run fills it.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="The page.")
    ] = None,
    experiments: Annotated[
        Path, typer.Option("--experiments", metavar="DIR", help="Folder of the experiment files.")
    ] = Path("experiments"),
) -> Outcome:
    from cyclenet.commands.report import write_report

    return write_report(folder, out=out, experiments=experiments)


@_command("list", "cyclenet list datasets")
def _list(
    kind: Annotated[
        str | None, typer.Argument(metavar="[KIND]", help=f"One of {', '.join(KINDS)}.")
    ] = None,
) -> Outcome:
    return list_names(kind)


@_command("doctor", "cyclenet doctor --json")
def _doctor() -> Outcome:
    from cyclenet.commands.doctor import examine

    return examine()


@_command("bench", "cyclenet bench --quick --row 5 --row 6")
def _bench(
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer repeats; rows that take long are left out.")
    ] = False,
    row: Annotated[
        list[str] | None, typer.Option("--row", metavar="ID", help="Measure this bar only.")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="A table for a document.")] = False,
) -> Outcome:
    from cyclenet.commands.bench import run_bench

    return run_bench(quick=quick, ids=row or [], as_markdown=markdown)


# Below the commands.


def _split_common_flags(words: Sequence[str]) -> tuple[set[str], list[str]]:
    """The common flags among the words, and the other words; what follows `--` stays."""
    end = words.index("--") if "--" in words else len(words)
    flags = {_COMMON_FLAGS[word] for word in words[:end] if word in _COMMON_FLAGS}
    return flags, [word for word in words[:end] if word not in _COMMON_FLAGS] + list(words[end:])


def _usage_failure(error: Exception, command: str | None) -> Failure | None:
    """A complaint of the argument parser in our words."""
    if not isinstance(error, _UsageError):
        return None
    path = f"cyclenet {command}" if command else "cyclenet"
    option = getattr(error, "option_name", None)
    message = getattr(error, "format_message", error.__str__)().rstrip(".")
    context = getattr(error, "ctx", None)
    # Only the complaint about an unknown option carries a list of possible ones.
    if hasattr(error, "possibilities") and option and context is not None:
        known = [name for param in context.command.params for name in param.opts]
        message = str(UnknownName("option", option, [*known, *_COMMON_FLAGS, "--help"], hint=""))
    return Failure(EXIT_USAGE, "usage", f"{path}: {message}", f"{path} --help", option)


def _finite(value: Any, place: str, warned: list[str]) -> Any:
    """A value as JSON can hold it: arrays' numbers as numbers, NaN and infinity as null."""
    if isinstance(value, dict):
        return {str(key): _finite(item, f"{place}.{key}", warned) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item, f"{place}[{i}]", warned) for i, item in enumerate(value)]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        warned.append(f"{place} is {value}; it is null here")
        return None
    return value


@contextlib.contextmanager
def _stoppable() -> Iterator[None]:
    """Within it the first Ctrl-C and SIGTERM raise `_Stopped`; the second leaves at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    exit_codes = {signal.SIGINT: EXIT_INTERRUPTED, signal.SIGTERM: EXIT_TERMINATED}

    def stop(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        raise _Stopped(exit_codes[signal.Signals(number)])

    before = {number: signal.signal(number, stop) for number in exit_codes}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _open_closed_streams() -> None:
    """Give the process the output streams it was started without (`>&-` in a shell)."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))


def _pipe_closed() -> int:
    """The reader of our output left, as `head` does: not an error, and nothing more to say."""
    _leave_stdout()
    return 0


def _leave_stdout() -> None:
    """Drop what cannot be written; the interpreter flushes stdout once more on its way out."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write_log(error: Exception) -> str | None:
    """Keep the traceback of an unexpected error in a file; returns its path."""
    name = f"cyclenet-error-{time.strftime('%Y%m%d-%H%M%S')}.log"
    text = "".join(traceback.format_exception(error))
    for folder in (Path.cwd(), Path(tempfile.gettempdir())):
        with contextlib.suppress(OSError):
            (folder / name).write_text(text, encoding="utf-8")
            return str(folder / name)
    return None


def _coloured(text: str, colour: int) -> str:
    """Text for stderr, in colour on a terminal that wants it."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return text if plain or not sys.stderr.isatty() else f"\033[{colour}m{text}\033[0m"
