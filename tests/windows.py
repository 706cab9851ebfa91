"""What every page of ours must be like in a browser, in each kind of window."""

from pathlib import Path
from typing import NamedTuple

from browser import Browser

# Scripts that only look.
_PICTURES = """
[...document.querySelectorAll('svg')].map(picture => {
    const box = picture.getBoundingClientRect(), inside = picture.getBBox();
    return [box.width, box.height, box.left, box.right, inside.width, inside.height];
})
"""
_OPEN = "document.querySelectorAll('details').forEach(one => one.open = true)"
_WIDTH = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
_COLOURS = """
(() => {
    const style = getComputedStyle(document.body);
    return [style.color, style.backgroundColor].map(
        text => text.match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0)
    );
})()
"""
_IMAGES = "[...document.querySelectorAll('image')].every(one => one.getBoundingClientRect().width)"


class Window(NamedTuple):
    """A width and a scheme of colours."""

    width: int
    dark: bool

    def __str__(self) -> str:
        return f"{self.width}-{'dark' if self.dark else 'light'}"


WINDOWS = [Window(width, dark) for width in (390, 1280) for dark in (False, True)]


def look(browser: Browser, path: Path, window: Window) -> None:
    """The page opens in silence, asks for nothing, fits, and shows its pictures."""
    seen = browser.open(path, width=window.width, dark=window.dark)
    assert seen.complaints == []
    assert seen.requests == [path.resolve().as_uri()]
    browser.evaluate(_OPEN)
    content, room = browser.evaluate(_WIDTH)
    assert room == window.width
    assert content <= room
    pictures = browser.evaluate(_PICTURES)
    for width, height, left, right, inside_width, inside_height in pictures:
        assert min(width, height, inside_width, inside_height) > 20
        assert 0 <= left < right <= window.width
    assert browser.evaluate(_IMAGES)
    ink, paper = browser.evaluate(_COLOURS)
    assert (ink > paper) == window.dark
    assert abs(ink - paper) > 400  # dark on light or light on dark, not grey on grey
    assert len(browser.screenshot()) > 10_000
