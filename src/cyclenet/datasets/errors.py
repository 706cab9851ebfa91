"""What goes wrong on the way from a name or a file to a graph."""

from collections.abc import Iterable
from difflib import get_close_matches


class BadArgument(ValueError):
    """A word of the user that cannot be taken as given.

    Args:
        message: What was expected and what came.
        hint: What to try, or None.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class UnknownName(BadArgument):
    """A name that is not in a known list; the message offers the nearest one that is.

    Args:
        kind: What was named, such as ``"dataset"``.
        name: The name that came.
        known: The names there are.
        hint: What to try.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], *, hint: str) -> None:
        near = get_close_matches(name, [other for other in known if other != name], 1, cutoff=0.5)
        offer = f"; did you mean {near[0]!r}?" if near else ""
        message = f"there is no {kind} called {name!r}{offer}"
        super().__init__(message, hint=hint)
        self.nearest = near[0] if near else None


class DataFileError(ValueError):
    """A data file that does not hold what its format promises.

    Args:
        message: What was expected and what came.
        path: The file, or None for bytes that came from elsewhere.
        line: Line of the file, counted from 1, or None.
        hint: What to try, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | None = None,
        line: int | None = None,
        hint: str | None = None,
    ) -> None:
        places = [path or "", f"line {line}" if line is not None else ""]
        self.where = ", ".join(place for place in places if place) or None
        super().__init__(f"{self.where}: {message}" if self.where else message)
        self.path = path
        self.line = line
        self.hint = hint


class MissingExtra(ImportError):
    """An optional package that is not installed.

    Args:
        package: The package that was needed.
        extra: The extra of cyclenet that brings it.
        needed_for: What cannot be done without it.
    """

    def __init__(self, package: str, *, extra: str, needed_for: str) -> None:
        super().__init__(f"{needed_for} needs the package {package!r}, which is not installed")
        self.hint = f"pip install 'cyclenet[{extra}]'"
