"""From an experiment file (TOML) to an `Experiment`, or to an error that names the key.

Everything that can be refused without looking at data is refused here. Options of backbones and
encoders are the arguments of classes, which need torch: `build.check_rows` refuses those.
"""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from cyclenet.datasets.errors import BadArgument, UnknownName
from cyclenet.experiments.names import (
    BACKBONE_NAMES,
    BASELINE_NAMES,
    CLAIM_NAMES,
    EDGE_BACKBONE_NAMES,
    ENCODER_NAMES,
    SEPARATION_NAMES,
    TASK_NAMES,
    TIMED_ENCODINGS,
    TIMED_SETS,
    VALIDATED_NAMES,
)
from cyclenet.experiments.plain import NotPlain, from_plain, require_known
from cyclenet.experiments.spec import (
    Claim,
    Experiment,
    Part,
    Row,
    Separation,
    Task,
    Timing,
    Training,
)

T = TypeVar("T")

FILE_WORDS = ("title", "paper", "about", "records", "seeds")
FILE_KEYS = (*FILE_WORDS, "task", "row", "claim", "timing")

PARTS = {
    "backbone": (*BACKBONE_NAMES, *EDGE_BACKBONE_NAMES),
    "encoder": ENCODER_NAMES,
    "baseline": BASELINE_NAMES,
}

# A mean that forgets nothing would keep the first weights.
_LONGEST_AVERAGE = 0.99999

# What may be looked at. Most published sets have no validation graphs.
_HONEST = {"lr_watches": ("validation",), "select_on": ("validation",)}
_WITHOUT_VALIDATION = {"lr_watches": ("test", "train_batch"), "select_on": ("test", "last")}
_AS_PUBLISHED = {key: ("validation", *choices) for key, choices in _WITHOUT_VALIDATION.items()}

# What a change looks like, for whoever got it wrong.
_HINT_OF_CHANGE = "--set epochs=2, or --set 3-cfi.epochs=2 for one task"


class SpecError(BadArgument):
    """An experiment file, or a change to it, that cannot be taken as given.

    The message names the file, the table and the key.

    Args:
        message: What was expected and what came.
        hint: What to try.
    """

    def __init__(self, message: str, *, hint: str = "cyclenet list experiments") -> None:
        super().__init__(message, hint=hint)


def read_experiment(path: Path, *, changes: Sequence[str] = (), limit: int = 0) -> Experiment:
    """Read an experiment file.

    A change is ``key=value``, applied in the order given, with a key of `Training` or `Separation`
    and a value as TOML has it (a lone word is text):

    | change | where |
    | --- | --- |
    | ``epochs=2`` | in all settings that have this key |
    | ``3-cfi.epochs=2`` | in those of one task |
    | ``paper.epochs=2`` | in those of one protocol |
    | ``3-cfi.honest.epochs=2`` | in those of one task under one protocol |
    | ``seeds=[0, 1]`` | the seeds of the file |

    Args:
        path: The file.
        changes: Changes, as typed.
        limit: At most so many training graphs, or 0 for all.

    Returns:
        The experiment; what was changed is in `shortened`.

    Raises:
        SpecError: If the file or a change cannot be taken as given.
    """
    if limit < 0:
        raise SpecError(
            f"`--limit` must be 0 (all graphs) or more, but it is {limit}", hint="--limit 40"
        )
    tables = _tables(path)
    try:
        experiment = _experiment(path.stem, tables)
    except NotPlain as error:
        place = f"{'.'.join(error.keys)}: " if error.keys else ""
        raise SpecError(f"{path}: {place}{error}") from error
    for change in changes:
        try:
            experiment = _changed(experiment, change)
        except NotPlain as error:
            raise SpecError(f"--set {change}: {error}", hint=_HINT_OF_CHANGE) from error
    shortened = [f"--set {change}" for change in changes]
    shortened += [f"--limit {limit}"] * (limit > 0)
    return replace(experiment, limit=limit, shortened=tuple(shortened))


def files_of(folder: str, experiments: Path) -> list[Path]:
    """The experiment files whose records are in one folder, that of its name first.

    Args:
        folder: Name of the folder, below that of all results.
        experiments: Where the files are.

    Returns:
        The files that are there; one that cannot be read counts by its name alone.
    """
    found = [path for path in (experiments / f"{folder}.toml",) if path.is_file()]
    for path in sorted(experiments.glob("*.toml")):
        try:
            says = tomllib.loads(path.read_text(encoding="utf-8")).get("records")
        except (OSError, ValueError):
            continue
        if says == folder and path not in found:
            found.append(path)
    return found


def _tables(path: Path) -> dict[str, Any]:
    """The file as TOML has it."""
    if not path.is_file():
        near = [*path.parent.glob("*.toml"), *path.parent.glob("experiments/*.toml")]
        files = [one for one in sorted(near) if one.name != "pyproject.toml"]
        named = [one for one in files if one.stem == path.stem]  # elsewhere, or without its ending
        asked = str(named[0].with_suffix("")) if named else str(path)
        offer = UnknownName("experiment file", asked, map(str, named or files), hint="")
        raise SpecError(str(offer).replace(repr(asked), repr(str(path)), 1))
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SpecError(f"{path}: must be TOML, but: {error}") from error


def _experiment(name: str, tables: dict[str, Any]) -> Experiment:
    require_known(tables, FILE_KEYS)
    words = {
        key: tables[key] for key in ("title", "paper", "about", "records", "seeds") if key in tables
    }
    claims = tuple(_each(tables, "claim", "check", _claim))
    tasks = tuple(_each(tables, "task", "name", _task))
    rows = tuple(_each(tables, "row", "label", lambda table: _row(table, tasks)))
    timings = tuple(_each(tables, "timing", "graphs", _timing))
    if sum(map(bool, (rows, claims, timings))) != 1:
        raise NotPlain("must hold [[row]], [[claim]] or [[timing]] tables, one kind of the three")
    _require_once((timing.graphs for timing in timings), "[[timing]]", "graphs")
    _require_once((task.name for task in tasks), "[[task]]", "name")
    _require_once((row.name for row in rows), "[[row]]", "label and protocol")
    experiment = from_plain(
        Experiment,
        {"name": name, "tasks": tasks, "rows": rows, "claims": claims, "timings": timings, **words},
    )
    return _with_sound_seeds(experiment)


def _each(
    tables: dict[str, Any], kind: str, title: str, read: Callable[[dict[str, Any]], T]
) -> Iterable[T]:
    """Every table of a kind, read; an error says which one it was."""
    listed = tables.get(kind, [])
    if not isinstance(listed, list) or not all(isinstance(table, dict) for table in listed):
        raise NotPlain(f"must be tables, each under its own [[{kind}]]", (kind,))
    for number, table in enumerate(listed, 1):
        try:
            yield read(dict(table))
        except NotPlain as error:
            name = f" ({table[title]!r})" if title in table else ""
            raise error.below(f"[[{kind}]] {number}{name}") from None


def _claim(table: dict[str, Any]) -> Claim:
    claim = from_plain(Claim, table)
    _require_name("claim", claim.check, CLAIM_NAMES, "check")
    return claim


def _timing(table: dict[str, Any]) -> Timing:
    timing = from_plain(Timing, table)
    _require_name("set of graphs", timing.graphs, TIMED_SETS, "graphs")
    for key, number in timing.printed.items():
        _require_name("printed number", key, ("nodes", "degree", *TIMED_ENCODINGS), "printed")
        if not (math.isfinite(number) and number > 0):
            raise NotPlain(f"must be a number above 0, but it is {number}", ("printed", key))
    for key in ("repeats", "published_graphs"):
        _require_range(timing, key, least=1)
    _require_range(timing, "seconds", above=0.0)
    return timing


def _task(table: dict[str, Any]) -> Task:
    name = table.get("name")
    if isinstance(name, str):
        _require_name("task", name, TASK_NAMES, "name")
    kind = Separation if name in SEPARATION_NAMES else Training
    for protocol in ("honest", "paper"):
        if protocol in table:
            try:
                settings = from_plain(kind, table[protocol])
                _check_settings(settings, protocol, str(name))
            except NotPlain as error:
                raise error.below(protocol) from None
            table[protocol] = settings
    return from_plain(Task, table)


def _row(table: dict[str, Any], tasks: tuple[Task, ...]) -> Row:
    for key, names in PARTS.items():
        if key in table:
            table[key] = _part(key, table[key], names)
    row = from_plain(Row, table)
    if (row.backbone is None) == (row.baseline is None):
        raise NotPlain("must have a backbone or a baseline, one of the two")
    if row.baseline is not None and (row.encoder is not None or row.baseline.options):
        raise NotPlain("must be a name and nothing else, and no encoder beside it", ("baseline",))
    names = tuple(task.name for task in tasks)
    for key, mentioned in (("tasks", row.tasks), ("reported", tuple(row.reported))):
        for name in mentioned:
            _require_name("[[task]] of this file", name, names, key)
    _check_tasks(row, tasks)
    return _with_own_settings(row, tasks)


def _with_own_settings(row: Row, tasks: tuple[Task, ...]) -> Row:
    """The row with its own settings checked against every task, and as the settings have them."""
    own: dict[str, Any] = dict(row.training)
    for task in tasks:
        settings = task.settings(row.protocol)
        if own and settings is not None and (not row.tasks or task.name in row.tasks):
            try:
                made = _with_settings(task, settings, own, row.protocol)
            except NotPlain as error:
                raise error.below("training") from None
            own = {key: getattr(made, key) for key in own}
    return replace(row, training=own)


def _with_settings(
    task: Task, settings: Training | Separation, new: Mapping[str, Any], protocol: str
) -> Training | Separation:
    """Settings with some replaced, checked like those of a file."""
    values = {field.name: getattr(settings, field.name) for field in fields(settings)}
    made = from_plain(type(settings), values | dict(new))
    _check_settings(made, protocol, task.name)
    return made


def _part(key: str, table: object, names: tuple[str, ...]) -> Part:
    if not isinstance(table, Mapping) or not isinstance(table.get("name"), str):
        raise NotPlain("must be a table with the key 'name', such as { name = ... }", (key,))
    _require_name(key, table["name"], names, key)
    options = {option: value for option, value in table.items() if option != "name"}
    try:
        return from_plain(Part, {"name": table["name"], "options": options})
    except NotPlain as error:
        raise NotPlain(str(error), (key, *error.keys[1:])) from None


def _check_tasks(row: Row, tasks: tuple[Task, ...]) -> None:
    """Refuse rows that would be left out in silence, and rules for what has no training graphs."""
    mine = [task for task in tasks if not row.tasks or task.name in row.tasks]
    missing = [task.name for task in mine if task.settings(row.protocol) is None]
    if missing and (row.tasks or len(missing) == len(mine)):
        raise NotPlain(
            f"must be 'honest', for {' and '.join(missing)} cannot be run under 'paper': that task "
            "has no settings of that name",
            ("protocol",),
        )
    untrained = [task.name for task in mine if isinstance(task.honest, Separation)]
    if row.baseline is not None and untrained:
        raise NotPlain(
            f"must leave out {' and '.join(untrained)}: a baseline is fitted on training graphs, "
            "of which there are none",
            ("tasks",),
        )


def _check_settings(settings: Training | Separation, protocol: str, task: str) -> None:
    """Refuse numbers out of range, and honest settings that are not."""
    if isinstance(settings, Separation):
        _require_range(settings, "threshold", above=0.0)
        _require_range(settings, "copies", least=0)
        return
    for key in ("epochs", "batch_size"):
        _require_range(settings, key, least=1)
    for key in ("lr", "lr_factor"):
        _require_range(settings, key, above=0.0)
    if settings.lr_factor >= 1:
        raise NotPlain(f"must be below 1, but it is {settings.lr_factor}", ("lr_factor",))
    for key in ("weight_decay", "lr_patience", "min_lr", "clip_norm", "warmup", "average"):
        _require_range(settings, key, least=0)
    _require_range(settings, "average", most=_LONGEST_AVERAGE)
    if settings.warmup and (settings.schedule != "cosine" or settings.warmup >= settings.epochs):
        raise NotPlain(
            "must be 0 but under the schedule 'cosine', and less than the epochs, but it is "
            f"{settings.warmup}",
            ("warmup",),
        )
    allowed = _AS_PUBLISHED if task in VALIDATED_NAMES else _WITHOUT_VALIDATION
    for key, choices in (_HONEST if protocol == "honest" else allowed).items():
        if key == "lr_watches" and settings.schedule != "plateau":
            continue  # nothing is watched
        if getattr(settings, key) not in choices:
            raise NotPlain(
                f"must be {' or '.join(map(repr, choices))} under the protocol {protocol!r}, but "
                f"it is {getattr(settings, key)!r}",
                (key,),
            )


def _require_range(
    settings: Training | Separation | Timing,
    key: str,
    *,
    least: int | float | None = None,
    above: int | float | None = None,
    most: int | float | None = None,
) -> None:
    value = getattr(settings, key)
    if not math.isfinite(value):
        raise NotPlain(f"must be finite, but it is {value}", (key,))
    for bound, fits, words in (
        (least, least is None or value >= least, "at least"),
        (above, above is None or value > above, "above"),
        (most, most is None or value <= most, "at most"),
    ):
        if not fits:
            raise NotPlain(f"must be {words} {bound}, but it is {value}", (key,))


def _require_name(kind: str, name: str, known: tuple[str, ...], key: str) -> None:
    if name not in known:
        offer = UnknownName(kind, name, known, hint="")
        raise NotPlain(f"{offer} (known: {', '.join(known) or 'none'})", (key,))


def _require_once(names: Iterable[str], tables: str, what: str) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise NotPlain(f"two {tables} tables have the same {what}: {twice[0]!r}")


def _with_sound_seeds(experiment: Experiment) -> Experiment:
    seeds = experiment.seeds
    if not seeds or len(set(seeds)) < len(seeds) or min(seeds) < 0:
        raise NotPlain(f"must be different whole numbers from 0 on, but: {list(seeds)}", ("seeds",))
    return experiment


def _changed(experiment: Experiment, change: str) -> Experiment:
    """The experiment after one change."""
    place, equals, text = change.partition("=")
    if not equals:
        raise NotPlain("must be key=value, such as epochs=2")
    *where, key = place.strip().split(".")
    value = _value(text.strip())
    if not where and key == "seeds":
        values = {"name": experiment.name, "title": experiment.title, "seeds": value}
        seeds = from_plain(Experiment, values).seeds
        return _with_sound_seeds(replace(experiment, seeds=seeds))
    task_names = tuple(task.name for task in experiment.tasks)
    for word in where:
        _require_name("task or protocol", word, (*task_names, "honest", "paper"), place)
    wanted = set(where)
    tasks = tuple(_changed_task(task, wanted, key, value) for task in experiment.tasks)
    rows = tuple(_without_own(row, wanted, key, task_names) for row in experiment.rows)
    if tasks == experiment.tasks and not _has_key(tasks, wanted, key):
        known = {f.name for kind in (Training, Separation) for f in fields(kind)} | {"seeds"}
        offer = UnknownName("setting", key, sorted(known), hint="")
        raise NotPlain(f"{offer if key not in known else f'no settings there have {key!r}'}")
    return replace(experiment, tasks=tasks, rows=rows)


def _without_own(row: Row, wanted: set[str], key: str, task_names: tuple[str, ...]) -> Row:
    """A row without a setting of its own where a change speaks of it: the change came last."""
    mine = row.tasks or task_names
    if key not in row.training or wanted - {row.protocol, *mine}:
        return row
    if wanted & set(task_names) and len(mine) > 1:
        raise NotPlain(
            f"the row {row.label!r} has a {key!r} of its own for several tasks, of which one alone "
            "cannot be changed"
        )
    own = {name: value for name, value in row.training.items() if name != key}
    return replace(row, training=own)


def _changed_task(task: Task, wanted: set[str], key: str, value: object) -> Task:
    new = {}
    for protocol, settings in _settings(task, wanted):
        if key in {field.name for field in fields(settings)}:
            new[protocol] = _with_settings(task, settings, {key: value}, protocol)
    return replace(task, **new)


def _has_key(tasks: tuple[Task, ...], wanted: set[str], key: str) -> bool:
    return any(
        key in {field.name for field in fields(settings)}
        for task in tasks
        for _, settings in _settings(task, wanted)
    )


def _settings(task: Task, wanted: set[str]) -> Iterable[tuple[str, Training | Separation]]:
    """The settings of a task that a change speaks of."""
    for protocol in ("honest", "paper"):
        settings = task.settings(protocol)
        if settings is not None and wanted <= {task.name, protocol}:
            yield protocol, settings


def _value(text: str) -> object:
    if re.fullmatch(r"[A-Za-z_][\w-]*", text) and text not in ("true", "false", "nan", "inf"):
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError as error:
        raise NotPlain(f"must have a value as in TOML, but it has {text!r}") from error
