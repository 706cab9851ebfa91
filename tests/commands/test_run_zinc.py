"""`cyclenet run` and `inspect` on molecules: where they are looked for, fetched, and trusted."""

import json
import pickle
import shutil

import pytest
import torch
from made_zinc import SIZES, network_with, write_raw_files

from cyclenet.cli import main
from cyclenet.datasets import zinc_files
from cyclenet.experiments.record import RECORD_FILE, read_record

MOLECULES = """
title = "Molecules"
seeds = [0]

[[task]]
name = "zinc"
label = "ZINC"
honest = { epochs = 2, batch_size = 4 }

[[row]]
label = "median"
baseline = { name = "constant" }

[[row]]
label = "GIN"
backbone = { name = "gin", hidden_channels = 8, num_layers = 2 }
"""

CLAIMS = """
title = "Claims"
[[claim]]
check = "multisets_separate"
paper = "Theorem 1: it holds."
"""

FILE = "molecules.toml"


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def root(tmp_path):
    """Raw files, elsewhere than where the program is called."""
    write_raw_files(tmp_path / "elsewhere")
    return tmp_path / "elsewhere"


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv(zinc_files.CACHE_VARIABLE, str(tmp_path / "home"))
    (tmp_path / "here" / FILE).write_text(MOLECULES)
    (tmp_path / "here" / "claims.toml").write_text(CLAIMS)
    return tmp_path / "here"


@pytest.fixture
def call(here, capsys):
    """Runs the program; gives the exit code, stdout and stderr."""

    def calling(*words):
        exit_code = main([str(word) for word in words])
        printed = capsys.readouterr()
        return exit_code, printed.out, printed.err

    return calling


@pytest.fixture
def network(root, tmp_path, monkeypatch):
    return network_with(root, tmp_path, monkeypatch)


def statuses(here):
    return [read_record(path).status for path in (here / "results").rglob(RECORD_FILE)]


def test_missing_files_end_it_before_anything_is_trained(call, here, network):
    exit_code, out, err = call("run", FILE)
    assert (exit_code, out) == (4, "")
    assert (
        "error: expected train.pickle and train.index of ZINC in data/ZINC/raw or data/raw" in err
    )
    assert "--download" in err.partition("try: ")[2]
    assert sorted(path.name for path in here.iterdir()) == ["claims.toml", FILE]
    answer = json.loads(call("run", FILE, "--json")[1])
    assert (answer["exit_code"], answer["error"]["code"]) == (4, "bad_data")
    assert network == []


def test_a_dry_run_needs_no_data(call):
    exit_code, out, _ = call("run", FILE, "--dry-run")
    assert exit_code == 0
    assert [line.split()[-1] for line in out.splitlines()[2:]] == ["do", "do"]


def test_the_folder_and_the_trust_reach_every_run(call, here, root):
    exit_code, out, err = call("run", FILE, "--data", root)
    assert (exit_code, out) == (4, "")
    assert "SHA-256" in err and "try: --trust-pickle" in err
    exit_code, out, _ = call("run", FILE, "--data", root, "--trust-pickle")
    assert exit_code == 0
    assert [line.partition(":")[0] for line in out.splitlines()] == [
        "molecules/zinc/median/0",
        "molecules/zinc/gin/0",
    ]
    assert statuses(here) == ["finished"] * 2


def test_what_was_trusted_once_is_read_from_its_conversion(call, root, monkeypatch):
    call("run", FILE, "--data", root, "--trust-pickle")
    monkeypatch.setattr(pickle, "loads", lambda content: pytest.fail("a pickle was opened"))
    exit_code, out, _ = call("run", FILE, "--data", root, "--fresh")
    assert exit_code == 0
    assert len(out.splitlines()) == 2


def test_a_damaged_conversion_is_made_again_with_a_warning(call, here, root):
    words = ("inspect", "zinc:test:0", "--data", root, "--trust-pickle")
    first = call(*words)
    assert first[0] == 0
    path = root / "ZINC" / "cyclenet" / "zinc-test.safetensors"
    path.write_bytes(path.read_bytes()[:100])
    exit_code, out, err = call(*words)
    assert (exit_code, out) == first[:2]
    assert str(path) in err and "made again" in err
    assert "made again" not in call(*words)[2]


def test_a_split_that_is_not_there_comes_with_the_nearest(call, root):
    exit_code, _, err = call("inspect", "zinc:tset", "--data", root)
    assert exit_code == 2
    assert "try: zinc:test" in err


def test_where_no_conversion_can_be_kept_the_runs_trust_as_well(call, here, root, tmp_path):
    (root / "ZINC" / "cyclenet").write_text("")
    (tmp_path / "home").write_text("")
    assert call("run", FILE, "--data", root, "--trust-pickle")[0] == 0
    assert statuses(here) == ["finished"] * 2


@pytest.mark.parametrize(
    "words",
    [(), pytest.param(("--ddp", "2", "--device", "cpu", "--row", "gin"), marks=pytest.mark.slow)],
)
def test_a_download_is_made_once_before_the_first_run(call, here, network, words):
    exit_code, _, err = call("run", FILE, "--data", "new", "--download", "--trust-pickle", *words)
    assert exit_code == 0
    assert "fetching" in err
    assert len(network) == 1 + len(SIZES)
    assert set(statuses(here)) == {"finished"}
    assert call("run", FILE, "--data", "new", "--fresh", "--download", "--row", "median")[0] == 0
    assert len(network) == 1 + len(SIZES)


def test_what_is_done_needs_no_data_any_more(call, here, root):
    call("run", FILE, "--data", root, "--trust-pickle")
    shutil.rmtree(root)
    assert call("run", FILE, "--data", root)[:2] == (0, "")
    # And what cannot be done anew is not set aside.
    assert call("run", FILE, "--data", root, "--fresh")[0] == 4
    assert statuses(here) == ["finished"] * 2


def test_files_without_rows_to_train_refuse_what_is_said_of_data(call, root):
    exit_code, _, err = call("run", "claims.toml", "--data", root)
    assert exit_code == 2
    assert "`--data`" in err and "try: cyclenet run claims.toml" in err


def test_inspect_fetches_and_trusts_only_if_it_is_told_to(call, network):
    exit_code, _, err = call("inspect", "zinc:0", "--data", "new")
    assert exit_code == 4 and "--download" in err.partition("try: ")[2]
    exit_code, _, err = call("inspect", "zinc:test:0", "--data", "new", "--trust-pickle")
    assert exit_code == 4 and network == []
    exit_code, _, err = call("inspect", "zinc:0", "--data", "new", "--download")
    assert exit_code == 4 and "try: --trust-pickle" in err
    assert len(network) == 1 + len(SIZES)
    exit_code, out, _ = call(
        "inspect", "zinc", "--data", "new", "--download", "--trust-pickle", "--json"
    )
    assert exit_code == 0
    assert json.loads(out)["result"]["graphs"] == sum(SIZES.values())
    assert call("inspect", "zinc:test:0", "--data", "new")[0] == 0
    assert len(network) == 1 + len(SIZES)
