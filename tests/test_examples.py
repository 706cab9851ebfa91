"""The examples run as they are, in seconds, and print what they promise."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"

# A line that each of them prints, as a pattern.
SHOWN = {
    "add_to_your_model": r"^without cycles: 50% .*\nwith cycles: 100% ",
    "encode_your_graphs": r"^tree +0\.00 0\.00 0\.00 0\.00$",
    "tell_two_graphs_apart": r"^a copy of it .* [0-9]e-1[0-9]$",
}
SCREEN = 80


def test_every_example_is_tested():
    assert sorted(SHOWN) == sorted(path.stem for path in EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("name", SHOWN)
def test_it_runs_and_prints_what_it_promises(name, tmp_path):
    run = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", EXAMPLES / f"{name}.py"],
        capture_output=True, text=True, timeout=120, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    assert re.search(SHOWN[name], run.stdout, re.MULTILINE), run.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", SHOWN)
def test_it_is_a_screen_of_lines(name):
    lines = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= SCREEN
    assert max(map(len, lines)) <= 100
