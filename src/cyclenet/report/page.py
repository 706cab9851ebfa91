"""One page of HTML that holds everything: text, tables, pictures, no script, nothing to fetch.

A page is composed of sections and a section of blocks; whoever makes a page chooses them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from cyclenet.files import write_whole
from cyclenet.report.tables import Sheet

_TEMPLATE = "page.html.jinja"


class Mark(NamedTuple):
    """A number at the top of the page, and what it counts."""

    value: str
    label: str


class Picture(NamedTuple):
    """A picture.

    Args:
        svg: Markup that is safe as it is: what `charts` or `drawing.svg_in_page` gave.
        caption: A line under it, or nothing.
        title: What stands before the caption, or nothing.
    """

    svg: str
    caption: str = ""
    title: str = ""


class Command(NamedTuple):
    """A line to type, and what it does."""

    line: str
    about: str = ""


@dataclass(frozen=True)
class Prose:
    """Paragraphs of plain text."""

    kind: ClassVar[str] = "prose"
    paragraphs: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A sheet, with its title unless it stands alone in its section.

    Args:
        sheet: The table.
        titled: Whether its title is shown.
        folded: Whether only the title shows until the reader opens it.
    """

    kind: ClassVar[str] = "table"
    sheet: Sheet
    titled: bool = True
    folded: bool = False


@dataclass(frozen=True)
class Pictures:
    """Pictures side by side, as many as the screen has room for.

    Args:
        items: The pictures.
        heading: What stands above them, or nothing.
        small: Whether they are legible at half the usual width.
    """

    kind: ClassVar[str] = "pictures"
    items: tuple[Picture, ...]
    heading: str = ""
    small: bool = False


@dataclass(frozen=True)
class Facts:
    """Names and values, such as versions."""

    kind: ClassVar[str] = "facts"
    values: Mapping[str, str]


@dataclass(frozen=True)
class Commands:
    """Lines to type."""

    kind: ClassVar[str] = "commands"
    items: tuple[Command, ...]


Block = Prose | Table | Pictures | Facts | Commands


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Args:
        name: Its anchor: lower case letters and dashes.
        title: Its heading.
        blocks: What it holds.
        lead: A sentence under the heading, or nothing.
    """

    name: str
    title: str
    blocks: tuple[Block, ...]
    lead: str = ""


@dataclass(frozen=True)
class Page:
    """A whole page.

    Args:
        title: Its title.
        lead: What it is about, in a sentence or two.
        sections: Its parts; those without blocks are left out.
        marks: A few numbers for the top.
        foot: The last line.
    """

    title: str
    lead: str
    sections: tuple[Section, ...]
    marks: tuple[Mark, ...] = field(default=())
    foot: str = ""


def html_of(page: Page) -> str:
    """A page as HTML.

    Args:
        page: The page.

    Returns:
        The document; the same bytes for the same page. Every text in it is escaped.
    """
    folder = Path(__file__).parent
    environment = Environment(
        loader=FileSystemLoader(folder, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    sections = [section for section in page.sections if section.blocks]
    return environment.get_template(_TEMPLATE).render(page=page, sections=sections)


def write_page(path: Path, page: Page) -> int:
    """Write a page: the file is there whole, or as it was.

    Args:
        path: The file; its folder is made if it is not there.
        page: The page.

    Returns:
        Its size in bytes.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, html_of(page))
    return path.stat().st_size
