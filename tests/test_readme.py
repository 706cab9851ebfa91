"""What the README and the documentation show is run as it stands.

- A `python` block runs from top to bottom; a comment behind `print(...)` is the line it prints. The
  blocks of one page share their names, in order.
- In a `console` block every `$ cyclenet` line runs, in a folder that has our experiments, and must
  succeed; a `$ make` target must exist.
"""

import contextlib
import importlib.util
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^( *)```(\w+)[^\n]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^ *print\(.*\)  # (.*)$", re.MULTILINE)


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of a page in one language."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [text.replace(f"\n{indent}", "\n") for indent, kind, text in found if kind == language]


def commands(page: Path) -> list[list[str]]:
    """The commands of a page's console blocks, without their comments."""
    lines = [line for text in blocks(page, "console") for line in text.splitlines()]
    return [shlex.split(line[2:], comments=True) for line in lines if line.startswith("$ ")]


def links(page: Path) -> list[str]:
    """What a page links to inside the project, without the place on the page."""
    return re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text(encoding="utf-8"))


def make_targets() -> list[str]:
    """The targets of the Makefile."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return re.findall(r"^([a-z-]+):", text, re.MULTILINE)


def named(pages: list[Path]) -> list:
    """Pages as test parameters, shown by their path."""
    return [pytest.param(page, id=page.relative_to(ROOT).as_posix()) for page in pages]


@pytest.mark.parametrize("page", named([page for page in PAGES if blocks(page, "python")]))
def test_python_blocks_run_and_print_what_they_say(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for text in blocks(page, "python"):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(text, str(page), "exec"), names)
        if expected := PRINTED.findall(text):
            assert printed.getvalue().splitlines() == expected


@pytest.mark.parametrize("page", named([page for page in PAGES if commands(page)]))
def test_commands_succeed(page, tmp_path):
    (tmp_path / "experiments").symlink_to(ROOT / "experiments")
    for command in commands(page):
        if command[0] == "make":
            assert command[1] in make_targets(), command
        elif command[0] == "cyclenet" and not is_long(command):
            in_little = ["--seconds", "1"] if command[1] == "demo" else []
            run = subprocess.run(
                [sys.executable, "-m", "cyclenet", *command[1:], *in_little],
                cwd=tmp_path, env={**os.environ, "NO_COLOR": "1"},
                capture_output=True, text=True, timeout=300, check=False,
            )  # fmt: skip
            assert run.returncode == 0, f"{shlex.join(command)}: {run.stderr}"


def is_long(command: list[str]) -> bool:
    """Whether a command takes minutes or needs what may be missing; it has tests of its own."""
    return command[1] == "bench" or importlib.util.find_spec("cyclenet.cli") is None


@pytest.mark.parametrize("page", named(PAGES))
def test_links_inside_the_project_lead_somewhere(page):
    for target in links(page):
        assert (page.parent / target).exists(), target


def printed_tables(*words: str) -> str:
    """What `cyclenet table` prints of the records in this repository."""
    run = subprocess.run(
        [sys.executable, "-m", "cyclenet", "table", *words],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return run.stdout


def test_results_are_what_the_records_say():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    files = re.findall(r"^TABLES := (.*)$", text, re.MULTILINE)[0].split()
    assert (ROOT / "docs" / "results.md").read_text(encoding="utf-8") == printed_tables(*files)


def test_the_headline_is_what_the_records_say():
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = page.split("<!-- headline -->")[1].split("<!-- /headline -->")[0]
    printed = printed_tables("experiments/expressiveness.toml", "--headline").splitlines()
    assert shown.split("\n")[1:-1] == [line for line in printed if line.startswith("|")]
