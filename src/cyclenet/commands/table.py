"""Tables as lines of plain text, the same on a terminal and in a pipe."""

from collections.abc import Sequence

_NOTHING = "-"


def aligned(rows: Sequence[Sequence[object]], header: Sequence[str] = ()) -> list[str]:
    """Rows in columns; numbers to the right, words to the left.

    Args:
        rows: The cells; None is shown as a dash.
        header: Names of the columns, or nothing.

    Returns:
        One line for each row, after the header and a rule.

    Example:
        >>> aligned([("rook", 16), ("cfi:4", 40)], ("graph", "nodes"))
        ['graph  nodes', '-----  -----', 'rook      16', 'cfi:4     40']
    """
    cells = [[cell_text(value) for value in row] for row in rows]
    named = [list(header)] if header else []
    if not cells and not named:
        return []
    widths = [max(map(len, column)) for column in zip(*named, *cells, strict=True)]
    numeric = [
        all(isinstance(row[place], int | float | None) for row in rows)
        for place in range(len(widths))
    ]
    lines = [_line(row, widths, numeric) for row in [*named, *cells]]
    return [lines[0], _rule(widths), *lines[1:]] if header else lines


def markdown(rows: Sequence[Sequence[object]], header: Sequence[str]) -> list[str]:
    """Rows as a Markdown table.

    Args:
        rows: The cells; None is shown as a dash.
        header: Names of the columns.

    Returns:
        The lines of the table.
    """
    cells = [[cell_text(value) for value in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in [list(header), ["---"] * len(header), *cells]]


def cell_text(value: object) -> str:
    """A value as people write it: three significant digits, yes and no, a dash for nothing.

    Args:
        value: Any value.

    Returns:
        The text.

    Example:
        >>> [cell_text(value) for value in (None, True, 1234567, 0.012345, 2109.7)]
        ['-', 'yes', '1234567', '0.0123', '2110']
    """
    if value is None:
        return _NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return str(value)


def size_text(num_bytes: float | int) -> str:
    """A size in bytes with a unit.

    Args:
        num_bytes: The size.

    Returns:
        The text, in powers of 1000.

    Example:
        >>> size_text(999), size_text(1_500_000)
        ('999 B', '1.5 MB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if num_bytes < 1000:
            return f"{num_bytes:.3g} {unit}"
        num_bytes /= 1000
    return f"{num_bytes:.3g} TB"


def _line(row: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    padded = [
        text.rjust(width) if is_number else text.ljust(width)
        for text, width, is_number in zip(row, widths, numeric, strict=True)
    ]
    return "  ".join(padded).rstrip()


def _rule(widths: Sequence[int]) -> str:
    return "  ".join("-" * width for width in widths)
