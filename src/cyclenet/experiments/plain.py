"""Frozen dataclasses from plain values, as TOML and JSON have them, strictly."""

import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from cyclenet.datasets.errors import UnknownName

T = TypeVar("T")

_WORDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}


class NotPlain(ValueError):
    """A value that does not fit.

    Args:
        message: What was expected and what came.
        keys: The way to it, outermost first.
    """

    def __init__(self, message: str, keys: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.keys = keys

    def below(self, key: str) -> "NotPlain":
        """The same error, seen from one level further out.

        Args:
            key: The key of that level.

        Returns:
            The error to raise there.
        """
        return NotPlain(str(self), (key, *self.keys))


def from_plain(cls: type[T], values: object) -> T:
    """A dataclass from a table of its fields.

    Lists become tuples, tables become dataclasses or mappings, and whole numbers are taken where
    any number is. Nothing else is converted. A value that is a dataclass of the right kind already
    is taken as it is.

    Args:
        cls: The dataclass.
        values: A table with a key for each field, or for each that has no default.

    Returns:
        The dataclass.

    Raises:
        NotPlain: If a key is unknown or missing, or a value has another type.
    """
    if not isinstance(values, Mapping):
        raise NotPlain(f"must be a table, but it is {values!r}")
    hints = get_type_hints(cls)
    known = {field.name: field for field in fields(cls)}  # pyright: ignore[reportArgumentType]
    require_known(values, known)
    for name, field in known.items():
        required = field.default is MISSING and field.default_factory is MISSING
        if required and name not in values:
            raise NotPlain(f"the key {name!r} is missing")
    return cls(**{name: _typed_at(name, hints[name], value) for name, value in values.items()})


def require_known(values: Mapping[str, Any], known: Mapping[str, Any] | tuple[str, ...]) -> None:
    """Refuse a table with a key that nobody would read.

    Args:
        values: The table.
        known: Its possible keys.

    Raises:
        NotPlain: If there is another key; the message offers the nearest.
    """
    for key in values:
        if key not in known:
            offer = UnknownName("key", key, known, hint="")
            raise NotPlain(f"{offer} (keys are {', '.join(known)})")


def _typed_at(key: str, kind: Any, value: Any) -> Any:
    try:
        return typed(kind, value)
    except NotPlain as error:
        raise error.below(key) from None


def typed(kind: Any, value: Any) -> Any:
    """A value as an annotation has it.

    Args:
        kind: A type, a union, a `Literal`, or a tuple or mapping of these.
        value: The plain value.

    Returns:
        The value, converted as `from_plain` does.

    Raises:
        NotPlain: If it has another type.

    Example:
        >>> typed(float, 2), typed(tuple[int, ...], [1, 2])
        (2.0, (1, 2))
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin is Literal:
        if value not in arguments or type(value) not in {type(one) for one in arguments}:
            raise NotPlain(f"must be one of {arguments}, but it is {value!r}")
        return value
    if origin in (Union, types.UnionType):
        return _typed_as_any(arguments, value)
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise NotPlain(f"must be a list, but it is {value!r}")
        return tuple(_typed_at(str(i), arguments[0], one) for i, one in enumerate(value))
    if origin in (dict, Mapping):
        if not isinstance(value, Mapping):
            raise NotPlain(f"must be a table, but it is {value!r}")
        return {key: _typed_at(key, arguments[1], one) for key, one in value.items()}
    if is_dataclass(kind):
        return value if isinstance(value, kind) else from_plain(kind, value)  # pyright: ignore
    return _scalar(kind, value)


def _typed_as_any(kinds: tuple[Any, ...], value: Any) -> Any:
    """The value as the first of several kinds that fits."""
    if value is None and type(None) in kinds:
        return None
    kinds = tuple(kind for kind in kinds if kind is not type(None))
    if type(value) in kinds:  # 1 stays a whole number where any number would do
        return value
    errors = []
    for kind in kinds:
        try:
            return typed(kind, value)
        except NotPlain as error:
            errors.append(error)
    if len(errors) == 1:
        raise errors[0]
    expected = " or ".join(_WORDS.get(kind, str(kind)) for kind in kinds)
    raise NotPlain(f"must be {expected}, but it is {value!r}")


def _scalar(kind: Any, value: Any) -> Any:
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise NotPlain(f"must be {_WORDS[kind]}, but it is {value!r}")
    return value
