"""Tables as text for other programs: Markdown, LaTeX, CSV and JSON."""

import csv
import json
import re
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any

from cyclenet.report.tables import Sheet

FORMATS = ("md", "tex", "csv", "json")

# Cells longer than this do not widen the column of a Markdown source.
_WIDEST = 40

_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "|": r"\textbar{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "±": r"$\pm$", "\N{MINUS SIGN}": "$-$", "\N{DAGGER}": r"\dag{}",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
}  # fmt: skip


def markdown_table(
    rows: Sequence[Sequence[str]], header: Sequence[str], numeric: Sequence[bool] = ()
) -> list[str]:
    """A Markdown table, its columns aligned in the source as well.

    Args:
        rows: The cells.
        header: Names of the columns.
        numeric: Which columns stand to the right; none if empty.

    Returns:
        The lines of the table.

    Example:
        >>> markdown_table([("rook", "16")], ("graph", "n"), (False, True))
        ['| graph |  n |', '| ----- | -: |', '| rook  | 16 |']
    """
    numeric = numeric or [False] * len(header)
    cells = [[_in_markdown(text) for text in row] for row in (header, *rows)]
    columns = zip(*cells, strict=True)
    widths = [max(2, *(min(len(text), _WIDEST) for text in column)) for column in columns]
    rule = ["-" * (width - 1) + (":" if right else "-")
            for width, right in zip(widths, numeric, strict=True)]  # fmt: skip
    lines = [
        [text.rjust(width) if right else text.ljust(width)
         for text, width, right in zip(row, widths, numeric, strict=True)]
        for row in cells
    ]  # fmt: skip
    return [f"| {' | '.join(line)} |" for line in (lines[0], rule, *lines[1:])]


def markdown_sheet(sheet: Sheet) -> list[str]:
    """A sheet in Markdown, without its title, its notes as a list.

    Args:
        sheet: The sheet.

    Returns:
        The lines.
    """
    lines = markdown_table(
        [[cell.text for cell in row] for row in sheet.rows],
        [column.title for column in sheet.columns],
        [column.numeric for column in sheet.columns],
    )
    notes = [f"- {_in_markdown(note)}" for note in sheet.notes]
    return [*lines, *(["", *notes] if notes else [])]


def latex_sheet(sheet: Sheet) -> list[str]:
    r"""A sheet as a LaTeX table; needs the package booktabs.

    Args:
        sheet: The sheet.

    Returns:
        The lines, from ``\begin{table}`` to ``\end{table}``.
    """
    places = "".join("r" if column.numeric else "l" for column in sheet.columns)
    body = [[cell.text for cell in row] for row in sheet.rows]
    header, *lines = [
        " & ".join(map(_in_latex, row)) + r" \\"
        for row in ([column.title for column in sheet.columns], *body)
    ]
    notes = [rf"\par\footnotesize {_in_latex(note)}" for note in sheet.notes]
    return [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_in_latex(sheet.title)}}}",
        rf"\begin{{tabular}}{{{places}}}",
        r"\toprule",
        header,
        r"\midrule",
        *lines,
        r"\bottomrule",
        r"\end{tabular}",
        *notes,
        r"\end{table}",
    ]


def csv_text(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Mappings as CSV.

    Args:
        rows: Mappings with equal keys.

    Returns:
        The lines, the keys first; nothing for None. No lines for no rows.
    """
    if not rows:
        return []
    stream = StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue().rstrip("\n").split("\n")


def json_text(value: object) -> list[str]:
    """A value as JSON.

    Args:
        value: Mappings, lists, texts and finite numbers.

    Returns:
        The lines.
    """
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False).split("\n")


def _in_markdown(text: str) -> str:
    """A text that stays text in a cell: no markup, no tag, no link, no new column or line."""
    text = re.sub(r"&(?=[#\w])", "&amp;", " ".join(text.split()))
    text = re.sub(r"<(?=[\w/!?])", "&lt;", text)
    return re.sub(r"([\\`*_|])", r"\\\1", text).replace("](", "]&#40;")


def _in_latex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in " ".join(text.split()))
