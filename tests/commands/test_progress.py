"""Progress: a plain line now and then, a bar on a terminal, silence where it is asked for."""

import io
import logging
import sys

import pytest

from cyclenet.commands.progress import progress


class Clock:
    """Tells the time that a test sets."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def log(caplog):
    caplog.set_level(logging.INFO, logger="cyclenet")
    return caplog


def test_a_plain_line_every_ten_seconds(log):
    clock = Clock()
    with progress("count", 200, clock=clock) as meter:
        for done in range(1, 201):
            clock.now += 0.25
            meter.at(done, f"number {done}")
    assert log.messages == [
        f"count: {done // 2}%, {done // 4} s, number {done}" for done in (40, 80, 120, 160, 200)
    ]


def test_nothing_to_do_is_done(log):
    with progress("count", 0, every=0) as meter:
        meter.at(0)
    assert log.messages == ["count: 100%, 0 s"]


def test_quiet_is_silent(caplog, monkeypatch):
    caplog.set_level(logging.WARNING, logger="cyclenet")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress("count", 2, every=0) as meter:
        meter.at(1)
    assert caplog.messages == []
    assert terminal.getvalue() == ""


def test_a_terminal_gets_a_bar_that_goes_away(log, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with progress("count [red]", 2) as meter:
        meter.at(1, "half [bold]")
        print("a line between", file=sys.stderr)
    shown = terminal.getvalue()
    assert "count [red]" in shown
    assert "a line between" in shown
    assert "half [bold]" in shown
    assert "50%" in shown
    assert shown.endswith(("\x1b[2K", "\x1b[?25h"))
    assert log.messages == []


def test_a_dumb_terminal_gets_lines(log, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "dumb")
    with progress("count", 2, every=0) as meter:
        meter.at(1)
    assert log.messages == ["count: 50%, 0 s"]


def test_no_colour_where_none_is_wanted(log, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    with progress("count", 2) as meter:
        meter.at(1)
    assert "\x1b[3" not in terminal.getvalue()


def test_an_error_inside_comes_out_and_the_bar_goes(log, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with pytest.raises(KeyboardInterrupt), progress("count", 2) as meter:
        meter.at(1)
        raise KeyboardInterrupt
    assert "\x1b[?25h" in terminal.getvalue()
