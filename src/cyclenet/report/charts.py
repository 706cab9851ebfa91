"""Small charts as SVG that stands in a page: lines, bars, shares and matrices.

Colours come from the page's style sheet, so a chart follows it from light to dark, and every chart
says in words what it shows. A chart is as wide as a phone; a page puts several side by side.
"""

import base64
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.image import imsave

from cyclenet.report.drawing import PALETTE

WIDTH = 380

# Counts are drawn as they are.
Number = float | int

_HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 230, 48, 12, 28, 36
_LINE_HEIGHT = 17
# Between the axes and what stands below them.
_LEGEND_GAP = 8
# More points than this cannot be told apart at this width.
_MOST_POINTS = 120
# A range of more than this is read on a logarithmic axis.
_WIDE_RANGE = 30
_DASHES = ("", "7 3", "2 2.5", "9 3 2 3")
# Blue and vermilion, told apart by every kind of colour vision; their depth is the size.
_POSITIVE, _NEGATIVE = (0, 114, 178), (213, 94, 0)


@dataclass(frozen=True)
class Line:
    """A curve with the range it stands for.

    Args:
        label: Its name in the legend.
        values: One number for each epoch, counted from 1.
        low: Lower end of the range, or empty.
        high: Upper end of the range, or empty.
    """

    label: str
    values: Sequence[Number]
    low: Sequence[Number] = ()
    high: Sequence[Number] = ()


def line_chart(title: str, lines: Sequence[Line], *, down: str, across: str = "epoch") -> str:
    """Curves over epochs, each with its range as a pale band.

    The vertical axis is logarithmic where all numbers are positive and spread widely.

    Args:
        title: What the chart shows.
        lines: The curves; numbers that are not finite leave a gap.
        down: Name of the vertical axis.
        across: Name of the horizontal axis.

    Returns:
        The SVG.
    """
    numbers = [v for line in lines for v in (*line.values, *line.low, *line.high)]
    finite = [value for value in numbers if math.isfinite(value)] or [0.0, 1.0]
    frame = _Frame(
        title,
        (1, max([1, *(len(line.values) for line in lines)])),
        (min(finite), max(finite)),
        legend=len(lines),
    )
    frame.draw_axes(across, f"{down}, log scale" if frame.is_log else down)
    for number, line in enumerate(lines):
        frame.draw_band(number, line)
    for number, line in enumerate(lines):
        frame.draw_line(number, line)
        frame.draw_legend(number, line.label)
    last = [f"{line.label} ends at {_short(line.values[-1])}" for line in lines if line.values]
    return frame.svg(f"{down} over {across}: {'; '.join(last)}.")


def bar_chart(title: str, bars: Mapping[str, Number], *, down: str, across: str) -> str:
    """Counts as upright bars, in the order given.

    Args:
        title: What the chart shows.
        bars: Height of each bar by its name.
        down: Name of the vertical axis.
        across: Name of the horizontal axis.

    Returns:
        The SVG.
    """
    frame = _Frame(
        title, (0, max(len(bars), 1)), (0, max(bars.values(), default=1)), from_zero=True
    )
    frame.draw_axes(across, down, bare=True)
    every = math.ceil(len(bars) / 14)
    for place, (name, value) in enumerate(bars.items()):
        left, right = frame.x(place + 0.12), frame.x(place + 0.88)
        top, foot = frame.y(value), frame.y(0)
        frame.add(
            f'<rect class="fill s0" x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" '
            f'height="{max(foot - top, 0):.1f}" rx="1.5"/>'
        )
        middle = (left + right) / 2
        if place % every == 0:
            frame.text(middle, foot + 14, name, "middle")
        if len(bars) <= 12:
            frame.text(middle, top - 4, _short(value), "middle", "quiet")
    listed = ", ".join(f"{name}: {_short(value)}" for name, value in bars.items())
    return frame.svg(f"{down} by {across}: {listed}.")


def share_chart(title: str, shares: Mapping[str, float], *, unit: Callable[[float], str]) -> str:
    """Parts of a whole as lying bars, the name above each.

    Args:
        title: What the chart shows.
        shares: Size of each part by its name.
        unit: Writes a size with its unit.

    Returns:
        The SVG.
    """
    step, top = 34, 30
    total, longest = sum(shares.values()) or 1.0, max(shares.values(), default=0) or 1.0
    parts = [f'<text class="heading" x="0" y="14">{escape(title)}</text>']
    for place, (name, value) in enumerate(shares.items()):
        y = top + place * step
        width = max((WIDTH - 4) * value / longest, 1.5)
        parts.append(
            f'<text x="0" y="{y + 10}">{escape(_cut(name, 40))}</text>'
            f'<text class="quiet" x="{WIDTH}" y="{y + 10}" text-anchor="end">'
            f"{escape(unit(value))}, {_percent(value / total)}</text>"
            f'<rect class="fill s0" x="0" y="{y + 15}" width="{width:.1f}" height="8" rx="2"/>'
        )
    listed = "; ".join(f"{name} {unit(value)}" for name, value in shares.items())
    about = f"{title}: {listed or 'nothing'}."
    return _svg(WIDTH, top + len(shares) * step, title, about, "".join(parts))


def heat_map(title: str, values: Float[np.ndarray, "k l"], *, about: str) -> str:
    """A matrix of signed numbers: blue above zero, vermilion below, deeper where larger.

    Args:
        title: What the matrix is.
        values: Its entries.
        about: What the reader should see in it, for those who cannot.

    Returns:
        The SVG; zero is the colour of the page.
    """
    largest = float(np.abs(values).max(initial=0.0)) or 1.0
    # The square root lets small entries be seen beside large ones.
    depth = np.sqrt(np.abs(values) / largest)
    rgba = np.empty((*values.shape, 4), dtype=np.uint8)
    rgba[..., :3] = np.where(values[..., None] < 0, _NEGATIVE, _POSITIVE)
    rgba[..., 3] = np.round(255 * depth)
    top, side = 24, WIDTH
    height = side * values.shape[0] / max(values.shape[1], 1)
    foot = top + height + 8
    parts = [
        f'<text class="heading" x="0" y="14">{escape(title)}</text>',
        f'<image x="0" y="{top}" width="{side}" height="{height:.1f}" class="pixels tint" '
        f'preserveAspectRatio="none" href="data:image/png;base64,{_png(rgba)}"/>',
        f'<rect class="frame" x="0.5" y="{top}" width="{side - 1}" height="{height:.1f}"/>',
        *_scale(foot, largest, has_negative=bool((values < 0).any())),
    ]
    return _svg(WIDTH, round(foot + 18), title, about, "".join(parts))


class _Frame:
    """Axes, and how numbers become places between them."""

    def __init__(
        self,
        title: str,
        across: tuple[Number, Number],
        down: tuple[Number, Number],
        *,
        legend: int = 0,
        from_zero: bool = False,
    ) -> None:
        low, high = down
        self.title = title
        self.is_log = not from_zero and low > 0 and high / low > _WIDE_RANGE
        if not self.is_log:
            room = 0.06 * (high - low) or 0.5 * abs(high) or 1.0
            low, high = (0.0 if from_zero else low - room), high + room
        self.across, self.down = across, (low, high)
        self.height = _HEIGHT + (_LEGEND_GAP + legend * _LINE_HEIGHT if legend else 0)
        self.parts = [f'<text class="heading" x="0" y="14">{escape(title)}</text>']

    def x(self, value: Number) -> float:
        """Place of a number on the horizontal axis."""
        low, high = self.across
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * (value - low) / ((high - low) or 1)

    def y(self, value: Number) -> float:
        """Place of a number on the vertical axis."""
        low, high = self.down
        if self.is_log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        share = (value - low) / ((high - low) or 1)
        return _HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - _TOP) * share

    def add(self, element: str) -> None:
        """Append an element."""
        self.parts.append(element)

    def text(self, x: Number, y: Number, text: str, anchor: str, kind: str = "") -> None:
        """A word at a point."""
        kind = f' class="{kind}"' if kind else ""
        self.add(
            f'<text{kind} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
        )

    def draw_axes(self, across: str, down: str, *, bare: bool = False) -> None:
        """Rules, numbers and names; the horizontal axis without numbers if bare."""
        left, right, foot = _LEFT, WIDTH - _RIGHT, _HEIGHT - _BOTTOM
        for value in _log_ticks(*self.down) if self.is_log else _ticks(*self.down):
            y = self.y(value)
            self.add(f'<path class="rule" d="M{left} {y:.1f}H{right}"/>')
            self.text(left - 6, y + 4, _short(value), "end", "quiet")
        self.add(f'<path class="axis" d="M{left} {foot}H{right}"/>')
        for value in [] if bare else _ticks(*self.across, whole=True):
            self.text(self.x(value), foot + 15, _short(value), "middle", "quiet")
        self.text(right, _HEIGHT - 3, across, "end", "quiet")
        self.text(0, _HEIGHT - 3, f"\N{UPWARDS ARROW} {down}", "start", "quiet")

    def draw_band(self, number: int, line: Line) -> None:
        """The range of a curve."""
        ends = [
            (epoch, low, high)
            for epoch, low, high in zip(_epochs(len(line.low)), _thin(line.low), _thin(line.high),
                                        strict=True)
            if math.isfinite(low) and math.isfinite(high)
        ]  # fmt: skip
        if len(ends) > 1:
            there = [f"{self.x(epoch):.1f} {self.y(high):.1f}" for epoch, _, high in ends]
            back = [f"{self.x(epoch):.1f} {self.y(low):.1f}" for epoch, low, _ in reversed(ends)]
            self.add(
                f'<path class="band s{number % len(PALETTE)}" d="M{"L".join(there + back)}Z"/>'
            )

    def draw_line(self, number: int, line: Line) -> None:
        """A curve, interrupted where a number is not finite."""
        path, pen = [], "M"
        for epoch, value in zip(_epochs(len(line.values)), _thin(line.values), strict=True):
            if not math.isfinite(value):
                pen = "M"
                continue
            path.append(f"{pen}{self.x(epoch):.1f} {self.y(value):.1f}")
            pen = "L"
        self.add(
            f'<path class="curve s{number % len(PALETTE)}"{_dash(number)} d="{"".join(path)}"/>'
        )

    def draw_legend(self, number: int, label: str) -> None:
        """A sample of a curve and its name, below the axes."""
        y = _HEIGHT + _LEGEND_GAP + (number + 0.6) * _LINE_HEIGHT
        self.add(
            f'<path class="curve s{number % len(PALETTE)}"{_dash(number)} d="M0 {y - 4:.1f}h26"/>'
        )
        self.text(34, y, _cut(label, 50), "start")

    def svg(self, about: str) -> str:
        """The whole chart."""
        return _svg(WIDTH, self.height + 4, self.title, about, "".join(self.parts))


def _svg(width: int, height: int, title: str, about: str, body: str) -> str:
    return (
        f'<svg class="chart" role="img" viewBox="0 0 {width} {height}" '
        f'xmlns="http://www.w3.org/2000/svg"><title>{escape(title)}</title>'
        f"<desc>{escape(about)}</desc>{body}</svg>"
    )


def _scale(y: Number, largest: float, *, has_negative: bool) -> list[str]:
    """What the depths of a matrix stand for: five samples and their numbers."""
    steps = (-1.0, -0.25, 0.0, 0.25, 1.0) if has_negative else (0.0, 0.0625, 0.25, 0.5625, 1.0)
    parts = []
    for place, share in enumerate(steps):
        x = place * WIDTH / len(steps)
        red, green, blue = _NEGATIVE if share < 0 else _POSITIVE
        parts.append(
            f'<rect class="frame tint" x="{x + 0.5:.1f}" y="{y + 2:.1f}" width="12" height="12" '
            f'style="fill:rgba({red},{green},{blue},{abs(share) ** 0.5:.2f})"/>'
            f'<text class="quiet" x="{x + 18:.1f}" y="{y + 12:.1f}">'
            f"{_short(share * largest)}</text>"
        )
    return parts


def _percent(share: Number) -> str:
    """A share in whole percents; a little is not nothing."""
    return "&lt;1%" if 0 < share < 0.005 else f"{share:.0%}"


def _png(rgba: np.ndarray) -> str:
    stream = BytesIO()
    nameless: dict[str, Any] = {"Software": None}  # the bytes depend on nothing but the pixels
    imsave(stream, rgba, format="png", metadata=nameless)
    return base64.b64encode(stream.getvalue()).decode()


def _thin(values: Sequence[Number]) -> list[Number]:
    """At most `_MOST_POINTS` of the values, the first and the last among them."""
    return [values[place - 1] for place in _epochs(len(values))]


def _epochs(count: int) -> list[int]:
    """The epochs whose values are drawn."""
    if count <= _MOST_POINTS:
        return list(range(1, count + 1))
    return [1 + round(place * (count - 1) / (_MOST_POINTS - 1)) for place in range(_MOST_POINTS)]


def _dash(number: int) -> str:
    """Lines beyond the palette repeat its colours with gaps."""
    dash = _DASHES[number // len(PALETTE) % len(_DASHES)]
    return f' stroke-dasharray="{dash}"' if dash else ""


def _ticks(low: Number, high: Number, *, whole: bool = False) -> list[Number]:
    """Round numbers within a range, about five."""
    raw = (high - low) / 5 or 1.0
    unit = 10 ** math.floor(math.log10(raw))
    step = next(factor * unit for factor in (1, 2, 5, 10) if factor * unit >= raw)
    step = max(1, round(step)) if whole else step
    first = math.ceil(low / step - 1e-9)
    return [place * step for place in range(first, math.floor(high / step + 1e-9) + 1)]


def _log_ticks(low: Number, high: Number) -> list[float]:
    """Powers of ten within a range, at most about five; where they are few, thirds between them."""
    first, last = math.floor(math.log10(low)), math.floor(math.log10(high))
    every = max(1, math.ceil((last - first + 1) / 5))
    between = (1, 3) if last - first < 3 else (1,)
    ticks = [part * 10.0**power for power in range(first, last + 1, every) for part in between]
    return [tick for tick in ticks if low <= tick <= high]


def _short(value: Number) -> str:
    text = f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return text.replace("-", "\N{MINUS SIGN}")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"
