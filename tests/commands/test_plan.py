"""What a call of `run` asks for: a part of a file, or an error that names the nearest."""

import subprocess
import sys

import pytest
from made_records import CLAIMS_TOML, TOML

from cyclenet.commands.plan import planned
from cyclenet.datasets.errors import BadArgument, UnknownName

HEAVY = ("torch", "torch_geometric", "numba", "scipy", "matplotlib", "networkx", "jinja2")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "expressiveness.toml"
    path.write_text(TOML)
    return path


def folders(file, **options):
    return [run.folder.removeprefix("expressiveness/") for run in planned(file, **options).runs]


def test_without_a_choice_everything_is_run(file):
    assert len(folders(file)) == 3 * 5


def test_a_label_is_all_rows_that_have_it_and_a_name_is_one(file):
    assert folders(file, rows=["GIN"], tasks=["3-cfi"], seeds=[1]) == [
        "3-cfi/gin/1",
        "3-cfi/gin-paper/1",
    ]
    assert folders(file, rows=["gin-paper"], seeds=[0]) == ["3-cfi/gin-paper/0"]
    assert folders(file, rows=["gin-paper", "gin"], seeds=[0]) == [
        "3-cfi/gin/0",
        "sr16622/gin/0",
        "3-cfi/gin-paper/0",
    ]


def test_choices_come_in_the_order_of_the_file(file):
    assert folders(file, rows=["gin"], tasks=["3-cfi"], seeds=[2, 0]) == [
        "3-cfi/gin/0",
        "3-cfi/gin/2",
    ]


def test_a_choice_shortens_nothing_and_a_change_does(file):
    (chosen,) = planned(file, rows=["gin"], tasks=["3-cfi"], seeds=[0]).runs
    whole = next(run for run in planned(file).runs if run.folder == chosen.folder)
    assert chosen.fingerprint == whole.fingerprint
    assert chosen.shortened == ()
    (changed,) = planned(
        file, rows=["gin"], tasks=["3-cfi"], seeds=[0], changes=["epochs=2"], limit=8
    ).runs
    assert changed.settings.epochs == 2
    assert changed.shortened == ("--set epochs=2", "--limit 8")
    assert changed.fingerprint != whole.fingerprint


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rows": ["gin-papr"]}, "did you mean 'gin-paper'?"),
        ({"rows": ["GIN + CycleNt"]}, "did you mean 'GIN + CycleNet'?"),
        ({"tasks": ["3-cfy"]}, "did you mean '3-cfi'?"),
    ],
)
def test_an_unknown_name_offers_the_nearest(file, options, said):
    with pytest.raises(UnknownName, match="expressiveness") as caught:
        planned(file, **options)
    assert said in str(caught.value)
    assert caught.value.hint.endswith("--dry-run")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"seeds": [9]}, r"one of \[0, 1, 2\]"),
        ({"rows": ["gin-paper"], "tasks": ["sr16622"]}, "not run on the tasks"),
        ({"limit": -1}, "`--limit` must be"),
        ({"changes": ["epoch=2"]}, "did you mean 'epochs'"),
    ],
)
def test_what_leaves_nothing_to_run_is_refused(file, options, said):
    with pytest.raises(BadArgument, match=said):
        planned(file, **options)


def test_claims_are_checked_all_together(tmp_path):
    path = tmp_path / "theorems.toml"
    path.write_text(CLAIMS_TOML)
    assert len(planned(path).experiment.claims) == 2
    assert planned(path).runs == []
    with pytest.raises(BadArgument, match="claims"):
        planned(path, rows=["gin"])


def test_a_plan_needs_no_torch():
    code = (
        "import sys, cyclenet.commands.plan\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
