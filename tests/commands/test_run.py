"""`cyclenet run` as a user meets it: lines, skipping, signals, other processes, exit codes."""

import contextlib
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from filelock import FileLock
from forked import result_of, started

from cyclenet.cli import main
from cyclenet.commands import claims as claims_command
from cyclenet.commands import run as command
from cyclenet.commands.plan import planned
from cyclenet.experiments.claims import Verdict
from cyclenet.experiments.record import RECORD_FILE, read_record
from cyclenet.report.findings import read_findings
from cyclenet.runner import Busy, RankLost, execute
from cyclenet.runner.execute import LOCK, OLD_RECORD
from cyclenet.runner.fit import Progress

TINY = """
title = "Tiny"
seeds = [0, 1]

[[task]]
name = "3-cfi"
label = "3-CFI"
honest = { epochs = 3, batch_size = 40 }
paper = { epochs = 2, batch_size = 40, lr_watches = "train_batch", select_on = "test" }

[[task]]
name = "sr16622"
label = "SR"
honest = { copies = 1 }

[[row]]
label = "most frequent"
baseline = { name = "constant" }
tasks = ["3-cfi"]

[[row]]
label = "GIN"
backbone = { name = "gin", hidden_channels = 8, num_layers = 2 }

[[row]]
label = "GIN"
protocol = "paper"
backbone = { name = "gin", hidden_channels = 8, num_layers = 2 }
tasks = ["3-cfi"]
"""

CLAIMS = """
title = "Claims"
[[claim]]
check = "multisets_separate"
paper = "Theorem 1: it holds."
[[claim]]
check = "contracted_is_blind"
paper = "Theorem 2: so does this."
"""

ROOT = Path(__file__).parents[2]
GIN = "tiny/3-cfi/gin/0"


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a tiny experiment and one of claims, where the program is called."""
    (tmp_path / "tiny.toml").write_text(TINY)
    (tmp_path / "theorems.toml").write_text(CLAIMS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def call(here, capsys):
    """Runs the program; gives the exit code, stdout and stderr."""

    def calling(*words):
        exit_code = main(["run", *words])
        printed = capsys.readouterr()
        return exit_code, printed.out, printed.err

    return calling


def gin(*words):
    return ("tiny.toml", "--row", "gin", "--task", "3-cfi", "--seed", "0", *words)


def record_of(here, folder=GIN, results="results"):
    return read_record(here / results / folder / RECORD_FILE)


def test_every_run_has_a_line_on_stdout_and_is_done_once(call, here):
    exit_code, out, err = call("tiny.toml")
    assert exit_code == 0
    folders = [line.partition(": ")[0] for line in out.splitlines()]
    assert folders == [run.folder for run in planned(Path("tiny.toml")).runs]
    assert f"{GIN}: accuracy 0.5, epoch" in out
    assert "gin-paper/0: accuracy 0.5, epoch" in out
    assert "tells 40 of 40 copies apart" in out
    assert "8 finished" in err
    exit_code, out, err = call("tiny.toml", "--device", "cpu")
    assert (exit_code, out) == (0, "")
    assert "8 of 8 runs are done already; --fresh does them anew" in err


def test_json_is_one_object_with_the_state_of_every_run(call, here):
    assert call(*gin())[0] == 0
    exit_code, out, _ = call("tiny.toml", "--seed", "0", "--task", "3-cfi", "--json")
    assert exit_code == 0
    (line,) = out.splitlines()
    result = json.loads(line)["result"]
    assert result["experiment"] == "tiny"
    assert result["counts"] == {"finished": 3}
    assert [run["done_now"] for run in result["runs"]] == [True, False, True]
    one = next(run for run in result["runs"] if run["run"] == GIN)
    assert one["value"] == record_of(here).value
    assert one["record"] == f"results/{GIN}/record.json"
    assert (one["row"], one["task"], one["seed"], one["protocol"]) == ("gin", "3-cfi", 0, "honest")


def test_quiet_is_results_and_nothing_else(call):
    exit_code, out, err = call(*gin("-q"))
    assert (exit_code, err) == (0, "")
    assert len(out.splitlines()) == 1


def test_a_dry_run_says_what_there_is_to_do_and_does_nothing(call, here):
    call(*gin())
    exit_code, out, _ = call("tiny.toml", "--dry-run", "--seed", "0")
    assert exit_code == 0
    rows = [line.split() for line in out.splitlines()[2:]]
    assert [(row[0], row[-1]) for row in rows][:2] == [
        ("tiny/3-cfi/most-frequent/0", "do"),
        (GIN, "finished"),
    ]
    assert not (here / "results/tiny/sr16622").exists()


def test_changes_shorten_runs_which_must_not_replace_whole_ones(call, here):
    exit_code, out, _ = call(*gin("--set", "epochs=1", "--limit", "9", "--results", "short"))
    assert exit_code == 0
    assert "shortened by --set epochs=1 --limit 9" in out
    assert record_of(here, results="short").shortened == ("--set epochs=1", "--limit 9")
    call(*gin())
    before = record_of(here)
    exit_code, out, err = call(*gin("--set", "epochs=1"))
    assert exit_code == 2
    assert "must not replace" in err and "try: --results DIR" in err
    assert record_of(here) == before
    # What changes nothing is no other run.
    assert call(*gin("--set", "3-cfi.honest.epochs=3"))[0] == 0
    # The other way round the whole run replaces the shortened one.
    assert call(*gin("--results", "short"))[0] == 0
    assert record_of(here, results="short").shortened == ()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tiny.toml", "--row", "gin-papr"], "did you mean 'gin-paper'?"),
        (["tiny.toml", "--task", "3cfi"], "did you mean '3-cfi'?"),
        (["tiny.toml", "--seed", "7"], "one of [0, 1]"),
        (["tiny.tml"], "did you mean 'tiny.toml'?"),
        (["tiny.toml", "--set", "epoch=1"], "did you mean 'epochs'?"),
        (["tiny.toml", "--set", "epochs=x"], "must be a whole number"),
        (["tiny.toml", "--set", "epochs"], "key=value"),
        (["tiny.toml", "--set", "lr=inf"], "must be finite"),
        (["tiny.toml", "--seed", "-1"], "one of [0, 1]"),
        (["tiny.toml", "--limit", "-1"], "`--limit`"),
        (["tiny.toml", "--ddp", "0"], "`--ddp`"),
        (["theorems.toml", "--row", "gin"], "holds claims"),
    ],
)
def test_wrong_usage_is_status_2(call, here, words, said):
    exit_code, out, err = call(*words)
    assert (exit_code, out) == (2, "")
    assert said in err
    assert err.splitlines()[-1].startswith("try: ")
    assert not (here / "results").exists()


def test_a_row_that_cannot_be_built_is_told_before_anything_is_run(call, here):
    text = TINY.replace("num_layers = 2", "num_layer = 2", 1)
    (here / "tiny.toml").write_text(text)
    exit_code, _, err = call("tiny.toml")
    assert exit_code == 2
    assert "did you mean 'num_layers'?" in err
    assert not (here / "results").exists()


@pytest.mark.parametrize("words", [[], ["--ddp", "2"]])
def test_a_device_that_is_not_there_is_status_5_with_those_that_are(call, here, words):
    exit_code, _, err = call("tiny.toml", "--device", "cuda:99", *words)
    assert exit_code == 5
    assert "cuda:99" in err and "which has: cpu" in err
    assert "try: --device auto" in err


def test_a_run_that_fails_is_listed_and_the_others_go_on(call, here):
    words = ("tiny.toml", "--set", "3-cfi.lr=1e30", "--seed", "0")
    exit_code, out, err = call(*words)
    assert exit_code == 3
    assert f"{GIN}: failed: the loss is" in out
    assert "tiny/sr16622/gin/0: separated 0" in out
    assert f"warning: {GIN} failed: the loss is" in err
    assert record_of(here).status == "failed"
    # It would fail again: it is not tried, but told again.
    exit_code, out, _ = call(*words, "--json")
    assert exit_code == 3
    answer = json.loads(out)
    assert not answer["ok"] and answer["error"] is None
    assert answer["result"]["counts"] == {"finished": 2, "failed": 2}
    assert any(GIN in text for text in answer["warnings"])


def stopping(monkeypatch, name, epoch):
    """The program gets a signal after an epoch of the first training."""

    def execute_and_stop(run, results, *, watch, **options):
        def watch_and_stop(told):
            watch(told)
            if told.epoch == epoch:
                signal.raise_signal(getattr(signal, name))

        return execute(run, results, watch=watch_and_stop, **options)

    monkeypatch.setattr(command, "execute", execute_and_stop)


@pytest.mark.parametrize(
    ("name", "status", "word"), [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated")]
)
def test_a_signal_keeps_what_is_done_and_says_how_to_go_on(call, here, name, status, word):
    call(*gin("--results", "whole"))
    with pytest.MonkeyPatch.context() as patch:
        stopping(patch, name, epoch=2)
        exit_code, out, err = call(*gin("--fresh", "--results", "my results"))
    assert (exit_code, out) == (status, "")
    line = "cyclenet run tiny.toml --row gin --task 3-cfi --seed 0 --results 'my results'"
    assert err.splitlines()[-1] == f"{word}; continue with: {line}"
    exit_code, out, _ = call(*gin("--results", "my results"))
    assert exit_code == 0
    assert record_of(here, results="my results").curve == record_of(here, results="whole").curve


def test_the_state_of_a_begun_run_is_shown(call, here, monkeypatch):
    stopping(monkeypatch, "SIGINT", epoch=1)
    call(*gin())
    _, out, _ = call(*gin("--dry-run"))
    assert out.splitlines()[-1].endswith("begun")
    exit_code, _, err = call(*gin("--set", "epochs=1"))
    assert exit_code == 2
    assert "must not replace" in err


def test_fresh_does_everything_anew_and_can_be_continued(call, here, monkeypatch):
    words = ("tiny.toml", "--task", "3-cfi", "--row", "gin")
    call(*words)
    first = [record_of(here, f"tiny/3-cfi/gin/{seed}") for seed in (0, 1)]
    with monkeypatch.context() as patch:
        stopping(patch, "SIGINT", epoch=2)
        assert call(*words, "--fresh")[0] == 130
    for seed in (0, 1):
        assert (here / f"results/tiny/3-cfi/gin/{seed}" / OLD_RECORD).exists()
    exit_code, out, _ = call(*words)
    assert exit_code == 0
    assert len(out.splitlines()) == 2
    for seed in (0, 1):
        again = record_of(here, f"tiny/3-cfi/gin/{seed}")
        assert again.curve == first[seed].curve
        assert again.finished >= first[seed].finished


def test_what_another_process_is_at_is_passed_over_and_told(call, here):
    folder = here / "results" / GIN
    folder.mkdir(parents=True)
    with FileLock(folder / LOCK):
        exit_code, out, err = call("tiny.toml", "--seed", "0", "--task", "3-cfi")
    assert exit_code == 3
    assert len(out.splitlines()) == 2
    assert "looked at again at the end" in err
    assert f"warning: {GIN} is still being run by another process" in err


def test_what_another_process_has_done_meanwhile_is_counted(call, here, monkeypatch):
    tried = []

    def busy_at_first(run, results, **options):
        tried.append(run.folder)
        if tried == [GIN]:
            execute(run, results, **options)  # the other process
            raise Busy(run)
        return execute(run, results, **options)

    monkeypatch.setattr(command, "execute", busy_at_first)
    exit_code, out, _ = call(
        "tiny.toml", "--row", "GIN", "--seed", "0", "--task", "3-cfi", "--json"
    )
    assert exit_code == 0
    runs = json.loads(out)["result"]["runs"]
    assert [(run["state"], run["done_now"]) for run in runs] == [
        ("finished", False),
        ("finished", True),
    ]


def lines_of_a_process(folder):
    """What one of several processes does of the same file."""
    lines = []
    how = command.How(folder / "results", "cpu")
    command.run_plan(planned(folder / "tiny.toml"), how, lines.append)
    return [line.partition(": ")[0] for line in lines]


def test_processes_on_one_folder_share_the_runs(here):
    processes = [started(lines_of_a_process, here) for _ in range(2)]
    # A run that another process ends in this very moment may be told by both.
    done = {folder for process in processes for folder in result_of(process)}
    assert done == {run.folder for run in planned(here / "tiny.toml").runs}


def test_only_trainings_are_shared_among_ranks(call, monkeypatch):
    shared = []

    def on_ranks(run, results, *, world, device, **options):
        shared.append((run.folder, world, device))
        return execute(run, results, device=device, **options)

    monkeypatch.setattr(command, "execute_on_ranks", on_ranks)
    words = ("tiny.toml", "--seed", "0", "--ddp", "2", "--device", "cpu")
    exit_code, out, _ = call(*words)
    assert exit_code == 0
    assert shared == [(GIN, 2, "cpu"), ("tiny/3-cfi/gin-paper/0", 2, "cpu")]
    assert len(out.splitlines()) == 4


def test_a_lost_rank_is_status_6_and_says_that_the_run_can_go_on(call, monkeypatch):
    def lost(*_, **__):
        raise RankLost(1, "it ended by signal 9 (SIGKILL)")

    monkeypatch.setattr(command, "execute_on_ranks", lost)
    exit_code, _, err = call(*gin("--ddp", "2", "--device", "cpu"))
    assert exit_code == 6
    assert "rank 1" in err and "what was done is kept" in err
    assert "try: the same command again" in err


def test_a_run_that_says_nothing_is_shown_all_the_same(monkeypatch, here):
    shown = []

    class Meter:
        def at(self, done, about=""):
            shown.append((done, about))

    @contextlib.contextmanager
    def progress(what, total):
        shown.append((what, total))
        yield Meter()

    monkeypatch.setattr(command, "progress", progress)
    monkeypatch.setattr(command, "_SECONDS_BETWEEN_LOOKS", 0.005)
    run = next(run for run in planned(Path("tiny.toml")).runs if run.folder == GIN)
    with command._metered("1/1 tiny", run) as watch:
        time.sleep(0.05)
        watch(Progress(2, 3, 0.25, 0.5, 1.0))
        time.sleep(0.05)
    assert shown[0] == ("1/1 tiny", 3)
    assert shown[1] == (0.0, "")
    assert shown[-1] == (2.0, "epoch 2/3, loss 0.25")


def test_a_spec_error_needs_no_torch(here):
    code = (
        "import sys; from cyclenet.cli import main; main(sys.argv[1:]); "
        "print('torch' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "run", "tiny.toml", "--row", "nope"],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stderr.splitlines()[-1] == "False"


# Claims.


@pytest.fixture
def verdicts(monkeypatch):
    """The claims of the file, checked at once."""
    found = {
        "multisets_separate": Verdict("in part", "True of sound encodings.", "3.1e-02 against 0"),
        "contracted_is_blind": Verdict("no", "It reads one number.", "33/48 in both"),
    }
    checks = {name: lambda verdict=verdict: verdict for name, verdict in found.items()}
    monkeypatch.setattr(claims_command, "CLAIMS", checks)
    return checks


def test_claims_are_told_and_written(call, here, verdicts):
    exit_code, out, _ = call("theorems.toml")
    assert exit_code == 0
    assert out.splitlines()[:4] == [
        "multisets_separate: in part",
        "  paper: Theorem 1: it holds.",
        "  found: True of sound encodings.",
        "  shown by: 3.1e-02 against 0",
    ]
    found = read_findings(here / "results/theorems/claims.json")
    assert [(one.check, one.holds) for one in found] == [
        ("multisets_separate", "in part"),
        ("contracted_is_blind", "no"),
    ]
    assert main(["table", "theorems.toml"]) == 0


def test_claims_as_json(call, verdicts):
    _, out, _ = call("theorems.toml", "--json")
    claims = json.loads(out)["result"]["claims"]
    assert [claim["holds"] for claim in claims] == ["in part", "no"]
    assert claims[1]["witness"] == "33/48 in both"


def test_an_interruption_keeps_the_claims_that_were_checked(call, here, verdicts):
    verdicts["contracted_is_blind"] = lambda: signal.raise_signal(signal.SIGINT)
    exit_code, out, err = call("theorems.toml")
    assert exit_code == 130
    assert out.startswith("multisets_separate: in part")
    assert "continue with: cyclenet run theorems.toml" in err
    (one,) = read_findings(here / "results/theorems/claims.json")
    assert one.check == "multisets_separate"
    _, out, _ = call("theorems.toml", "--dry-run")
    assert out.splitlines() == ["multisets_separate: in part", "contracted_is_blind: to do"]


# The real thing, from files to a page.


def test_the_smoke_test_runs_and_becomes_a_table_and_a_page(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    results = str(tmp_path / "results")
    assert main(["run", "experiments/smoke.toml", "--results", results, "--device", "cpu"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 12
    assert main(["table", "experiments/smoke.toml", "--results", results]) == 0
    table = capsys.readouterr().out
    assert "## Smoke test" in table
    assert "GIN + profiles" in table
    for form in ("csv", "tex", "json"):
        assert (
            main(["table", "experiments/smoke.toml", "--results", results, "--format", form]) == 0
        )
    capsys.readouterr()
    page = tmp_path / "page.html"
    assert main(["report", results, "-o", str(page), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)["result"]
    assert result["page"] == str(page)
    assert (result["runs"], result["failed"]) == (12, 0)
    assert "GIN + profiles" in page.read_text()


def test_tables_and_reports_of_nothing_are_told(here, capsys):
    assert main(["table", "tiny.toml", "--format", "cvs"]) == 2
    assert "did you mean 'csv'?" in capsys.readouterr().err
    assert main(["table", "tiny.toml"]) == 0
    assert "0 of 2" in capsys.readouterr().out
    assert main(["report", "results"]) == 4
    assert "expected a folder of records" in capsys.readouterr().err


@pytest.mark.slow
def test_a_process_killed_through_the_program_ends_with_the_same_weights(here):
    words = [sys.executable, "-m", "cyclenet", "run", *gin("--checkpoint-every", "0")]
    words += ["--device", "cpu", "--set", "epochs=300"]
    subprocess.run([*words, "--results", "whole"], check=True, timeout=120)
    for kill in range(3):
        with subprocess.Popen([*words, "--results", "killed"]) as child:
            known = set((here / "killed" / GIN).glob("checkpoint/step-*"))
            end = time.monotonic() + 60
            while set((here / "killed" / GIN).glob("checkpoint/step-*")) <= known:
                assert time.monotonic() < end
                time.sleep(0.01)
            time.sleep(0.1 * kill)
            child.kill()
        assert child.returncode == -signal.SIGKILL
    subprocess.run([*words, "--results", "killed"], check=True, timeout=120)
    weights = [
        (here / name / GIN / "model.safetensors").read_bytes() for name in ("whole", "killed")
    ]
    assert weights[0] == weights[1]
