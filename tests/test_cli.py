"""The program as a user meets it: answers, exit codes, one JSON object, and no waiting for help."""

import json
import logging
import math
import os
import signal
import subprocess
import sys
import warnings

import pytest

import cyclenet
from cyclenet.cli import main
from cyclenet.commands import demo
from cyclenet.commands.listing import COMMANDS, KINDS
from cyclenet.commands.outcome import Outcome

ENVELOPE = ["command", "version", "ok", "exit_code", "seconds", "result", "warnings", "error"]
HEAVY = ["torch", "torch_geometric", "numba", "scipy", "matplotlib", "networkx", "rdkit", "igraph"]


def run(*words, **options):
    """The program in a process of its own."""
    command = [sys.executable, "-m", "cyclenet", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


@pytest.fixture
def json_of(capsys):
    """Runs the program with --json; gives the exit code and the one object on stdout."""

    def call(*words):
        exit_code = main([*words, "--json"])
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == 1
        answer = json.loads(lines[0])
        assert list(answer) == ENVELOPE
        assert answer["exit_code"] == exit_code
        assert answer["ok"] == (exit_code == 0)
        assert (answer["error"] is None) == (exit_code in (0, 3))
        return exit_code, answer

    return call


@pytest.fixture
def demo_that(monkeypatch, tmp_path):
    """Replaces what `demo` does, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def replace(action):
        monkeypatch.setattr(demo, "run_demo", lambda *_, **__: action())

    return replace


def test_the_version_is_shown(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"cyclenet {cyclenet.__version__}\n"


def test_without_words_the_help_comes(capsys):
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert all(command in shown for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command, capsys):
    assert main([command, "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert COMMANDS[command] in shown
    assert f"Example: cyclenet {command}" in shown
    assert "--json" in shown


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["list"],
        ["list", "datasets", "--json"],
        ["nope"],
        ["inspect", "--nope"],
        ["demo", "-h"],
    ],
)
def test_help_lists_and_wrong_usage_import_nothing_heavy(words):
    code = (
        "import sys; from cyclenet.cli import main; main(sys.argv[1:]); "
        f"print(*(name for name in {HEAVY} if name in sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stderr.splitlines()[-1] == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["inspct"], "did you mean 'inspect'?"),
        (["inspect", "rook", "--svgg"], "did you mean '--svg'?"),
        (["--jsn", "list"], "did you mean '--json'?"),
        (["inspect", "rok"], "did you mean 'rook'?"),
        (["list", "dataset"], "did you mean 'datasets'?"),
        (["bench", "--row", "119"], "did you mean '19'?"),
        (["inspect"], "Missing argument"),
        (["inspect", "rook", "--svg"], "requires an argument"),
        (["list", "datasets", "more"], "extra argument"),
        (["inspect", "sr:sr16622:2"], "below 2"),
        (["inspect", "sr:sr16622", "--svg", "a.svg"], "draws one graph"),
    ],
)
def test_wrong_usage_is_status_2_with_something_to_try(words, said, capsys, json_of):
    assert main(words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    first, *rest = printed.err.splitlines()
    assert first.startswith("error: ")
    assert said in first
    assert rest[-1].startswith("try: ")
    exit_code, answer = json_of(*words)
    assert exit_code == 2
    assert said in answer["error"]["message"]
    assert answer["result"] is None


@pytest.mark.parametrize("name", ["bad.g6", "bad.csv", "absent.g6"])
def test_a_bad_file_is_status_4_and_named(name, tmp_path, monkeypatch, json_of):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.g6").write_bytes(b"Bx\n")
    (tmp_path / "bad.csv").write_text("0,1\n0,one\n")
    exit_code, answer = json_of("inspect", name)
    assert exit_code == 4
    assert answer["error"]["code"] == "bad_data"
    assert name in answer["error"]["where"]


def test_a_missing_extra_is_status_5_with_its_pip_line(tmp_path, monkeypatch, json_of):
    monkeypatch.setitem(sys.modules, "rdkit", None)
    path = tmp_path / "a.smi"
    path.write_text("CC\n")
    exit_code, answer = json_of("inspect", str(path))
    assert exit_code == 5
    assert answer["error"]["hint"] == "pip install 'cyclenet[chem]'"


def test_without_networkx_graphs_are_not_drawn_but_inspected(tmp_path, monkeypatch, json_of):
    monkeypatch.setitem(sys.modules, "networkx", None)
    assert json_of("inspect", "rook")[0] == 0
    exit_code, answer = json_of("inspect", "rook", "--svg", str(tmp_path / "rook.svg"))
    assert exit_code == 5
    assert answer["error"]["hint"] == "pip install 'cyclenet[bench]'"


def test_a_folder_that_cannot_be_written_is_status_5(tmp_path, json_of):
    blocked = tmp_path / "file"
    blocked.write_text("")
    exit_code, answer = json_of("demo", "--out", str(blocked / "inside"))
    assert exit_code == 5
    assert str(blocked) in answer["error"]["message"]


@pytest.mark.parametrize("kind", KINDS)
def test_list_answers_for_every_kind(kind, json_of, capsys):
    exit_code, answer = json_of("list", kind)
    assert exit_code == 0
    assert list(answer["result"]) == [kind]
    assert main(["list", kind]) == 0
    assert len(capsys.readouterr().out.splitlines()) >= 2


def test_common_flags_may_stand_anywhere(capsys):
    for words in (["--json", "list", "commands"], ["list", "--json", "commands", "-q"]):
        assert main(words) == 0
        assert json.loads(capsys.readouterr().out)["ok"]


def test_help_under_json_is_an_object_too(json_of):
    exit_code, answer = json_of("inspect", "--help")
    assert exit_code == 0
    assert "SOURCE" in answer["result"]["help"]


def test_numbers_that_are_not_finite_become_null_with_a_warning(demo_that, json_of):
    demo_that(lambda: Outcome({"rows": [{"a": math.nan}, {"a": 1.5}]}, []))
    _, answer = json_of("demo")
    assert answer["result"] == {"rows": [{"a": None}, {"a": 1.5}]}
    assert answer["warnings"] == ["result.rows[0].a is nan; it is null here"]


@pytest.mark.filterwarnings("default")
def test_warnings_are_kept_and_told_once(demo_that, json_of, capsys):
    def action():
        warnings.warn("take care", stacklevel=1)
        print("a library talks")
        logging.getLogger("cyclenet.commands").info("a row is done")
        return Outcome({}, ["the answer"], ["take care", "and more"])

    demo_that(action)
    assert json_of("demo")[1]["warnings"] == ["take care", "and more"]
    assert main(["demo"]) == 0
    printed = capsys.readouterr()
    assert printed.out == "the answer\n"
    assert printed.err.splitlines() == [
        "warning: take care",
        "a row is done",
        "a library talks",
        "warning: and more",
    ]
    assert main(["demo", "-q"]) == 0
    assert capsys.readouterr() == ("the answer\n", "")


def test_a_bug_is_status_1_and_leaves_its_traceback_in_a_file(demo_that, tmp_path, capsys, json_of):
    def action():
        raise ZeroDivisionError("by zero")

    demo_that(action)
    assert main(["demo"]) == 1
    said = capsys.readouterr().err
    (log,) = tmp_path.glob("cyclenet-error-*.log")
    assert str(log) in said
    assert "Traceback" not in said
    assert "ZeroDivisionError: by zero" in log.read_text()
    assert main(["demo", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err
    assert json_of("demo")[1]["error"]["code"] == "bug"


@pytest.mark.parametrize(
    ("name", "exit_code", "word"), [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated")]
)
def test_a_signal_ends_with_the_words_to_go_on(name, exit_code, word, demo_that, capsys, json_of):
    before = signal.getsignal(getattr(signal, name))
    demo_that(lambda: signal.raise_signal(getattr(signal, name)))
    assert main(["demo", "--out", "my folder"]) == exit_code
    said = capsys.readouterr().err
    assert said == f"{word}; continue with: cyclenet demo --out 'my folder'\n"
    assert json_of("demo")[1]["error"]["code"] == word
    assert signal.getsignal(getattr(signal, name)) == before


def test_colour_is_for_terminals_that_want_it(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    main(["nope"])
    assert "\033[31m" in capsys.readouterr().err
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            main(["nope"])
            assert "\033" not in capsys.readouterr().err


def test_the_module_and_its_exit_status_work_in_a_pipe():
    assert run("list", "commands").returncode == 0
    done = run("inspct", env=os.environ | {"TERM": "dumb"})
    assert (done.returncode, done.stdout) == (2, "")


def test_a_reader_that_leaves_early_is_no_error():
    command = [sys.executable, "-m", "cyclenet", "list"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        child.stdout.close()
        said = child.stderr.read()
        assert child.wait(timeout=60) == 0
    assert said == b""


@pytest.mark.parametrize("stream", ["", ">&-", "2>&-", ">&- 2>&-"])
@pytest.mark.parametrize(("words", "exit_code"), [("list --json", 0), ("list", 0), ("nope", 2)])
def test_a_stream_that_is_closed_changes_no_status(words, exit_code, stream):
    done = in_shell(f"{words} {stream}")
    assert done.returncode == exit_code
    assert "Traceback" not in done.stderr
    assert "error:" not in done.stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("words", ["list", "list --json"])
def test_a_disk_that_is_full_is_status_5_in_one_sentence(words):
    done = in_shell(f"{words} >/dev/full")
    assert done.returncode == 5
    first, *rest = done.stderr.splitlines()
    assert first.startswith("error: ") and [line[:5] for line in rest] == ["try: "]


def in_shell(line):
    """The program with the redirections of a shell."""
    command = ["sh", "-c", f'"$0" -m cyclenet {line}', sys.executable]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)
