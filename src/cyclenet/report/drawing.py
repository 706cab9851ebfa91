"""Pictures of graphs in which every cycle of a basis has its own colour.

An edge is drawn as a bundle of strands, one for each cycle through it, as lines share a street on a
city map. Above a handful of cycles a bundle shows how much an edge is used but hardly by whom, so a
small picture of each cycle follows, grouped by length.
"""

import hashlib
import pathlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from itertools import groupby
from typing import Any

import matplotlib
import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.path import Path

from cyclenet.report.layout import node_positions

# Okabe and Ito's palette, which the colour-blind can tell apart, in an order of large steps; its
# yellow is darkened to be seen on white.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#B8A500")

_INK, _QUIET, _FAINT = "#2b2f36", "#5f6673", "#c3c9d1"
_FEW_CYCLES = 8
_MOST_SMALL_PICTURES = 64
_SMALL_PER_ROW = 8
_PAGE_COLOURS = {
    **{colour: f"c{number}" for number, colour in enumerate(PALETTE)},
    _INK: "ink",
    _QUIET: "quiet",
    _FAINT: "faint",
    "#ffffff": "paper",
}
_NUMBER_WORDS = {3: "triangle", 4: "square", 5: "pentagon", 6: "hexagon"}

# Inches.
_LARGE = 4.8
_SMALL = _LARGE / (_SMALL_PER_ROW + 0.4)
_HEADING = 0.32
# Nodes lie between -1 and 1; the rest is margin.
_REACH = 1.15
# A strand thinner than this is not seen in a small picture.
_THIN = 0.011
_POINTS = 72 * _LARGE / (2 * _REACH)


@dataclass(frozen=True, eq=False)
class CyclePicture:
    """One graph with the cycles to show on it.

    Args:
        title: What stands above the picture.
        edges: Undirected edges.
        num_nodes: Number of nodes.
        cycles: Edges of each cycle, shortest cycle first.
        positions: Where the nodes are, in the square from (-1, -1) to (1, 1), or None to have them
            placed.
        symbols: Letters of each node, or none for a bare corner, as in the formula of a molecule;
            empty to draw all nodes as dots.
        orders: How many lines each edge has, where nodes have letters; empty for one each.
    """

    title: str
    edges: Int[np.ndarray, "2 m"]
    num_nodes: int
    cycles: Sequence[Int[np.ndarray, " _"]]
    positions: Float[np.ndarray, "n 2"] | None = None
    symbols: Sequence[str] = ()
    orders: Sequence[int] = ()


def draw_cycles(
    pictures: Sequence[CyclePicture],
    *,
    title: str = "",
    titled: bool = True,
    each: bool = True,
) -> Figure:
    """A figure of graphs side by side, their cycles in colour.

    Args:
        pictures: The graphs.
        title: What stands above all of them.
        titled: Whether the title of each graph stands above it.
        each: Whether a small picture of each cycle follows where they are many.

    Returns:
        The figure; equal input gives an equal figure.
    """
    drawings = [_Drawing(picture, each) for picture in pictures]
    top = 0.8 if title else 0.45 if titled else 0.0
    middle = max((drawing.large_height for drawing in drawings), default=1.0)
    below = max((drawing.gallery_height for drawing in drawings), default=0.0)
    width, height = _LARGE * len(pictures), top + middle + below + 0.1
    figure = Figure(figsize=(width, height), facecolor="white")
    if title:
        _write(figure, width / 2, 0.27, title, size=13, weight="bold")
    for column, drawing in enumerate(drawings):
        left = column * _LARGE
        if titled:
            _write(figure, left + _LARGE / 2, top - 0.17, pictures[column].title, size=10.5)
        drawing.draw_large(_axes(figure, (left, top, _LARGE, middle)), middle)
        if drawing.gallery_height:
            drawing.draw_gallery(_axes(figure, (left, top + middle, _LARGE, below)), below)
    return figure


def svg_of(figure: Figure, *, title: str, description: str) -> str:
    """A figure as SVG, with a title and a description for those who cannot see it.

    Args:
        figure: The figure.
        title: A few words.
        description: What the picture shows.

    Returns:
        The SVG; the same bytes for the same figure: no date, no random ids.
    """
    stream = StringIO()
    metadata = {"Date": None, "Creator": "cyclenet", "Title": title}
    with matplotlib.rc_context({"svg.hashsalt": "cyclenet", "svg.fonttype": "none"}):
        figure.savefig(stream, format="svg", metadata=metadata)
    head, tag, body = stream.getvalue().partition("<svg ")
    attributes, close, content = body.partition(">")
    names = f"<title>{escape(title)}</title>\n <desc>{escape(description)}</desc>"
    return f'{head}{tag}role="img" {attributes}{close}\n {names}{content}'


def svg_in_page(figure: Figure, *, title: str, description: str) -> str:
    """A figure as SVG that stands in a page and takes its colours from there, light or dark.

    Args:
        figure: The figure.
        title: A few words.
        description: What the picture shows.

    Returns:
        The SVG without file head, sizes and names of its own. The page's style sheet has the
        variables ``--ink``, ``--quiet``, ``--faint``, ``--paper``, and ``--c0`` and so on for the
        colours of `PALETTE`.
    """
    text = svg_of(figure, title=title, description=description)
    head, _, body = text[text.index("<svg ") :].partition("</desc>")
    view = head[head.index("viewBox") :].split('"')[1]
    body = body[body.index("<g ") :]
    # The first patch is the white sheet of paper; a page has its own.
    body = re.sub(r'<g id="patch_1">.*?</g>', "", body, count=1, flags=re.DOTALL)
    body = re.sub(r"<defs>\s*<clipPath.*?</defs>", "", body, flags=re.DOTALL)
    body = re.sub(r' clip-path="[^"]*"| id="[A-Za-z0-9]+_\d+"', "", body)
    body = re.sub(r"(\.\d\d)\d+", r"\1", re.sub(r"\s*\n\s*", " ", body))
    # A page holds many pictures, and a name in it may be given once.
    own = hashlib.sha256(f"{title}\n{description}\n{body}".encode()).hexdigest()[:8]
    names = {
        name: f"p{own}-{number}" for number, name in enumerate(re.findall(r' id="(\w+)"', body))
    }
    body = re.sub(r' id="(\w+)"', lambda found: f' id="{names[found[1]]}"', body)
    body = re.sub(r' xlink:href="#(\w+)"', lambda found: f' href="#{names[found[1]]}"', body)
    for colour, variable in _PAGE_COLOURS.items():
        body = body.replace(colour.lower(), f"var(--{variable})")
    words = f"<title>{escape(title)}</title><desc>{escape(description)}</desc>"
    return f'<svg class="drawing" role="img" viewBox="{view}">{words}{body}'


def save_svg(path: str | pathlib.Path, figure: Figure, *, title: str, description: str) -> None:
    """Write a figure to an SVG file.

    Args:
        path: The file.
        figure: The figure.
        title: A few words for those who cannot see it.
        description: What the picture shows.
    """
    text = svg_of(figure, title=title, description=description)
    pathlib.Path(path).write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class _Row:
    """One row of small pictures: which cycles, under which words, and where its middle is."""

    heading: str
    cycles: range
    middle: float


class _Drawing:
    """A graph on paper, drawn in two ways: all cycles at once, and each on its own."""

    def __init__(self, picture: CyclePicture, each: bool) -> None:
        self.picture = picture
        self.cycles = picture.cycles
        self.colours = _colours(picture.cycles, picture.edges.shape[1])
        self.places = picture.positions
        if self.places is None:
            self.places = node_positions(picture.edges, picture.num_nodes)
        self.segments = self.places[picture.edges.T]
        self.outlines = [self.places[_walk(picture.edges[:, cycle])] for cycle in picture.cycles]
        high = float(np.abs(self.places[:, 1]).max(initial=0.0))
        self.large_height = _LARGE * max((high + _REACH - 1) / _REACH, 0.25)
        self.are_many = len(picture.cycles) > _FEW_CYCLES
        self.rows = _gallery_rows(picture.cycles) if each and self.are_many else []
        self.gallery_height = self.rows[-1].middle + _SMALL / 2 if self.rows else 0.0

    def draw_large(self, axes: Axes, height: float) -> None:
        """Every cycle in its colour, strands side by side where cycles share an edge."""
        reach = _REACH * height / _LARGE
        axes.set(xlim=(-_REACH, _REACH), ylim=(-reach, reach))
        through = self._cycles_through()
        lengths = np.linalg.norm(self.segments[:, 1] - self.segments[:, 0], axis=1)
        typical = float(np.median(lengths)) if lengths.size else 1.0
        widest = max([len(cycles) for cycles in through], default=1)
        strand = min(0.03, max(0.5 * typical / max(widest, 3), _THIN), 0.12 / max(widest, 1))
        if not self.are_many:
            faces = [to_rgba(self.colours[number], 0.13) for number in range(len(self.cycles))]
            axes.add_collection(PolyCollection(self.outlines, facecolors=faces, linewidths=0))
        bare = self.segments[[not cycles for cycles in through]]
        axes.add_collection(LineCollection(list(bare), colors=_QUIET, linewidths=1.4))
        strands = list(self._strands(through, strand))
        axes.add_collection(
            LineCollection(
                [line for line, _ in strands],
                colors=[colour for _, colour in strands],
                linewidths=0.92 * strand * _POINTS,
                capstyle="round",
            )
        )
        if self.picture.symbols:
            self._draw_letters(axes, typical)
            return
        radius = max(min(0.55 * strand * widest, 0.3 * typical), 0.09 * typical, 0.008)
        radius = min(radius, 0.045)
        axes.plot(
            *self.places.T,
            linestyle="none",
            marker="o",
            markersize=2 * radius * _POINTS,
            markerfacecolor="white",
            markeredgecolor=_INK,
            markeredgewidth=min(1.1, 0.3 * radius * _POINTS),
        )

    def _draw_letters(self, axes: Axes, typical: float) -> None:
        """The further lines of double bonds, and the letters of atoms on small discs."""
        lines = list(self._further_lines(0.13 * typical))
        axes.add_collection(LineCollection(lines, colors=_INK, linewidths=1.2, capstyle="round"))
        named = [node for node, letters in enumerate(self.picture.symbols) if letters]
        size = min(max(0.45 * typical * _POINTS, 12.0), 18.0)
        axes.plot(
            *self.places[named].T,
            linestyle="none",
            marker="o",
            markersize=1.35 * size,
            markerfacecolor="white",
            markeredgewidth=0,
            zorder=3,
        )
        style: dict[str, Any] = {"ha": "center", "va": "center_baseline", "color": _INK}
        for node in named:
            letters = self.picture.symbols[node]
            x, y = self.places[node]
            axes.text(x, y, letters, fontsize=size, zorder=4, **style)

    def _further_lines(self, width: float) -> Iterator[Float[np.ndarray, "2 2"]]:
        """A line beside each double bond, on the side of a cycle through it if there is one."""
        through = self._cycles_through()
        for edge, order in enumerate(self.picture.orders):
            start, end = self.segments[edge]
            along = end - start
            across = np.array([-along[1], along[0]]) / max(float(np.hypot(*along)), 1e-9)
            inside = self.outlines[through[edge][0]].mean(axis=0) - start if through[edge] else None
            side = 1.0 if inside is None or across @ inside > 0 else -1.0
            for place in range(1, order):
                shift = side * width * across * (1 if place == 1 else -1)
                yield np.stack((start + 0.14 * along + shift, end - 0.14 * along + shift))

    def draw_gallery(self, axes: Axes, height: float) -> None:
        """Each cycle alone in its colour on the pale graph."""
        scale = _SMALL / (2 * _REACH)
        axes.set(xlim=(0, _LARGE), ylim=(-height, 0))
        centres, numbers = [], []
        for row in self.rows:
            if row.heading:
                above = -row.middle + _SMALL / 2 + 0.12
                axes.text(0.2 * _SMALL, above, row.heading, fontsize=9, color=_INK, va="center")
            for column, number in enumerate(row.cycles):
                centres.append(((column + 0.7) * _SMALL, -row.middle))
                numbers.append(number)
        # As a marker the pale graph is stored once, however many small pictures there are.
        codes = np.tile((Path.MOVETO, Path.LINETO), len(self.segments))
        axes.plot(
            *np.transpose(centres),
            linestyle="none",
            zorder=0,
            marker=Path(self.segments.reshape(-1, 2), codes),
            markersize=72 * 2 * scale * float(np.abs(self.segments).max()),
            markerfacecolor="none",
            markeredgecolor=_FAINT,
            markeredgewidth=min(0.4, 20 / len(self.segments)),
        )
        axes.add_collection(
            PolyCollection(
                [
                    centre + scale * self.outlines[number]
                    for centre, number in zip(centres, numbers, strict=True)
                ],
                facecolors=[to_rgba(self.colours[number], 0.25) for number in numbers],
                edgecolors=[self.colours[number] for number in numbers],
                linewidths=1.4,
                joinstyle="round",
            )
        )

    def _cycles_through(self) -> list[list[int]]:
        through: list[list[int]] = [[] for _ in self.segments]
        for number, cycle in enumerate(self.cycles):
            for edge in cycle:
                through[edge].append(number)
        return through

    def _strands(
        self, through: list[list[int]], width: float
    ) -> Iterator[tuple[Float[np.ndarray, "2 2"], str]]:
        """Each strand of each edge; a cycle keeps to the side of the edge it lies on."""
        centres = [outline.mean(axis=0) for outline in self.outlines]
        for segment, cycles in zip(self.segments, through, strict=True):
            along = segment[1] - segment[0]
            across = np.array([-along[1], along[0]]) / max(float(np.hypot(*along)), 1e-9)
            cycles = sorted(cycles, key=lambda k: (round(float(centres[k] @ across), 6), k))
            for place, number in enumerate(cycles):
                offset = (place - (len(cycles) - 1) / 2) * width
                yield segment + offset * across, self.colours[number]


def _axes(figure: Figure, box: tuple[float, float, float, float]) -> Axes:
    """Bare axes on a box given in inches: left, top below the upper edge, width, height."""
    left, top, width, height = box
    page_width, page_height = figure.get_size_inches()
    axes = figure.add_axes(
        (left / page_width, 1 - (top + height) / page_height, width / page_width,
         height / page_height)
    )  # fmt: skip
    axes.set_axis_off()
    return axes


def _write(
    figure: Figure, x: float, y: float, text: str, *, size: float | int, weight: str = "normal"
) -> None:
    """Text centred at a point given in inches from the upper left corner."""
    width, height = figure.get_size_inches()
    figure.text(
        x / width,
        1 - y / height,
        text,
        fontsize=size,
        ha="center",
        va="center",
        color=_INK,
        fontweight=weight,
    )


def _gallery_rows(cycles: Sequence[Int[np.ndarray, " _"]]) -> list[_Row]:
    """The rows of small pictures under a graph, cycles of one length together."""
    lengths = [len(cycle) for cycle in cycles]
    rows, first, bottom = [], 0, 0.0
    for length, group in groupby(lengths[:_MOST_SMALL_PICTURES]):
        count = len(list(group))
        for start in range(first, first + count, _SMALL_PER_ROW):
            heading = _heading(lengths.count(length), length, count) if start == first else ""
            bottom += _SMALL + (_HEADING if heading else 0)
            stop = min(start + _SMALL_PER_ROW, first + count)
            rows.append(_Row(heading, range(start, stop), bottom - _SMALL / 2))
        first += count
    return rows


def _heading(total: int, length: int, shown: int) -> str:
    plural = "" if total == 1 else "s"
    word = _NUMBER_WORDS.get(length)
    name = f"{word}{plural}" if word else f"cycle{plural} of length {length}"
    return f"{total} {name}" + (f", the first {shown} shown" if shown < total else "")


def _colours(cycles: Sequence[Int[np.ndarray, " _"]], num_edges: int) -> list[str]:
    """A colour for each cycle: of those its neighbours leave free, the one used least so far."""
    around: list[set[int]] = [set() for _ in range(num_edges)]
    uses = [0] * len(PALETTE)
    chosen = []
    for cycle in cycles:
        taken = set().union(*(around[edge] for edge in cycle))
        free = [number for number in range(len(PALETTE)) if number not in taken]
        number = min(free or range(len(PALETTE)), key=uses.__getitem__)
        uses[number] += 1
        for edge in cycle:
            around[edge].add(number)
        chosen.append(PALETTE[number])
    return chosen


def _walk(edges: Int[np.ndarray, "2 length"]) -> list[int]:
    """The nodes of a cycle in the order in which a walk meets them."""
    ends: dict[int, list[int]] = {}
    for tail, head in edges.T.tolist():
        ends.setdefault(tail, []).append(head)
        ends.setdefault(head, []).append(tail)
    start = min(ends)
    walk, before, here = [start], start, min(ends[start])
    while here != start:
        walk.append(here)
        left, right = ends[here]
        before, here = here, right if left == before else left
    return walk
