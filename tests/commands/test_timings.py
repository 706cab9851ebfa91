"""`cyclenet run` and `table` on a file of timings. What is measured is tested in tests/bench."""

import json
import signal
from pathlib import Path

import pytest
from made_timings import TOML, experiment, missing, timed

from cyclenet.cli import main
from cyclenet.commands import timings as command
from cyclenet.commands.plan import planned
from cyclenet.commands.report import write_report
from cyclenet.datasets.data_folder import DATA_HERE, DataFolder
from cyclenet.datasets.errors import BadArgument, UnknownName
from cyclenet.experiments.reading import SpecError, read_experiment
from cyclenet.experiments.timings import read_timings

FILE = "results/timing/timings.json"
SETS = [timing.graphs for timing in experiment().timings]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with an experiment of three sets, where the program is called."""
    (tmp_path / "timing.toml").write_text(TOML)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def asked(here, monkeypatch):
    """The sets that were measured, each at once; ZINC is not here."""
    done = []

    def measured(timing, data):
        done.append(timing.graphs)
        return missing(timing) if timing.graphs.startswith("zinc") else timed(timing)

    monkeypatch.setattr(command, "_measured", measured)
    return done


@pytest.fixture
def call(asked, capsys):
    """Runs the program; gives the exit code, stdout and stderr."""

    def calling(*words):
        exit_code = main([*words])
        printed = capsys.readouterr()
        return exit_code, printed.out, printed.err

    return calling


def test_the_made_experiment_is_what_its_file_says(here):
    assert read_experiment(here / "timing.toml") == experiment()


def test_every_set_is_told_and_written(call, here):
    exit_code, out, err = call("run", "timing.toml")
    assert exit_code == 0
    assert out.splitlines()[:3] == [
        "ZINC, test: missing: data/ZINC: is not there",
        "molecules: 1000 graphs, published algorithm on 50",
        "  hodge: function 10 us (published 40x, arrays 0.5x), packed 2 us (published 200x, "
        "arrays 2.5x); published 400 us, arrays 5 us",
    ]
    assert "zinc-test missing: data/ZINC: is not there" in err
    assert [one.graphs for one in read_timings(here / FILE)] == SETS
    exit_code, out, _ = call("table", "timing.toml")
    assert exit_code == 0
    assert "## Table 7: What it costs" in out
    assert "- ZINC, test: missing, data/ZINC: is not there" in out


def test_only_what_is_not_there_is_measured_again(call, asked, here):
    call("run", "timing.toml")
    before = (here / FILE).read_bytes()
    asked.clear()
    _, _, err = call("run", "timing.toml")
    assert asked == ["zinc-test"]
    assert "2 of 3 sets are measured already; --fresh measures them anew" in err
    assert (here / FILE).read_bytes() == before
    asked.clear()
    call("run", "timing.toml", "--fresh")
    assert asked == SETS


def test_other_settings_are_another_measurement_and_other_words_are_not(call, asked, here):
    call("run", "timing.toml")
    asked.clear()
    changed = TOML.replace("published_graphs = 10", "published_graphs = 9")
    (here / "timing.toml").write_text(changed.replace('label = "molecules"', 'label = "others"'))
    _, _, err = call("table", "timing.toml")
    assert "1 record left out" in err
    call("run", "timing.toml")
    assert asked == ["zinc-test", "circle_extents-test"]


def test_a_row_can_be_asked_for_by_name_and_the_others_are_kept(call, asked, here):
    call("run", "timing.toml")
    asked.clear()
    for row in ("molecules", "points, test"):
        assert call("run", "timing.toml", "--fresh", "--row", row)[0] == 0
    assert asked == SETS[1:]
    assert len(read_timings(here / FILE)) == 3


def test_graphs_that_are_gone_cost_no_measurement(call, here, monkeypatch):
    call("run", "timing.toml")
    monkeypatch.setattr(command, "_measured", lambda timing, data: missing(timing))
    assert call("run", "timing.toml", "--fresh")[0] == 0
    assert [one.status for one in read_timings(here / FILE)] == ["missing", "measured", "measured"]


def test_algorithms_that_disagree_are_status_3(call, here, monkeypatch):
    def failing(timing, data):
        return timed(timing, status="failed", reason="hodge of graph 3 differs", encodings=())

    monkeypatch.setattr(command, "_measured", failing)
    exit_code, out, err = call("run", "timing.toml", "--row", "molecules")
    assert exit_code == 3
    assert "molecules: failed: hodge of graph 3 differs" in out
    assert "warning: molecules failed: hodge of graph 3 differs" in err


def test_a_dry_run_lists_and_measures_nothing(call, asked, here):
    exit_code, out, _ = call("run", "timing.toml", "--dry-run")
    assert (exit_code, asked) == (0, [])
    assert out.splitlines() == [f"{name}: to do" for name in SETS]
    assert not (here / "results").exists()


def test_timings_as_json(call):
    _, out, _ = call("run", "timing.toml", "--json")
    rows = json.loads(out)["result"]["timings"]
    assert len(rows) == 9
    assert rows[3]["graphs"] == "molecules"
    assert rows[3]["seconds_function"] == 1e-5


def test_an_interruption_keeps_the_sets_that_were_measured(call, here, monkeypatch):
    def measured(timing, data):
        if timing.graphs == "circle_extents-test":
            signal.raise_signal(signal.SIGINT)
        return timed(timing)

    monkeypatch.setattr(command, "_measured", measured)
    exit_code, _, err = call("run", "timing.toml")
    assert exit_code == 130
    assert "continue with: cyclenet run timing.toml" in err
    assert [one.graphs for one in read_timings(here / FILE)] == SETS[:2]


def test_every_format_and_the_headline_show_timings(call):
    call("run", "timing.toml")
    _, out, _ = call("table", "timing.toml", "--headline")
    assert "10 / 400 / 5 / -" in out
    _, out, _ = call("table", "timing.toml", "--format", "csv")
    assert len(out.splitlines()) == 10
    _, out, _ = call("table", "timing.toml", "--format", "tex")
    assert out.count(r"\begin{table}") == 4
    _, out, _ = call("table", "timing.toml", "--format", "json")
    assert json.loads(out)[0]["rows"][4]["published_over_packed"] == pytest.approx(200)


def test_timings_stand_on_the_page_of_a_folder(call, here):
    call("run", "timing.toml")
    (here / "experiments").mkdir()
    (here / "timing.toml").rename(here / "experiments" / "timing.toml")
    outcome = write_report(here / "results")
    assert outcome.result["experiments"] == ["timing"]
    assert "What it costs" in (here / "results" / "report.html").read_text(encoding="utf-8")


def test_the_folder_of_data_reaches_the_process_that_measures(here, capsys):
    """Measured indeed, up to the files that are not there."""
    words = ["run", "timing.toml", "--row", "zinc-test"]
    elsewhere = ["--data", "else where", "--trust-pickle"]
    for more, place in (([], "data"), (elsewhere, "else where")):
        assert main([*words, *more]) == 0
        out = capsys.readouterr().out
        assert out.startswith("ZINC, test: missing: expected test.pickle")
        assert f" in {place}/ZINC/raw or {place}/raw" in out
        assert "name the folder with --data" in out


def test_what_may_be_done_for_data_is_handed_on(call, here, monkeypatch):
    given = []

    def measured(timing, data):
        given.append(data)
        return timed(timing)

    monkeypatch.setattr(command, "_measured", measured)
    row = ("run", "timing.toml", "--fresh", "--row", "zinc-test")
    assert call(*row)[0] == 0
    assert call(*row, "--data", "there", "--download", "--trust-pickle")[0] == 0
    assert given == [DATA_HERE, DataFolder(Path("there"), True, True)]


@pytest.mark.parametrize(
    "options", [{"tasks": ["x"]}, {"seeds": [0]}, {"changes": ["seeds=[1]"]}, {"limit": 3}]
)
def test_what_timings_do_not_have_is_refused(here, options):
    with pytest.raises(BadArgument):
        planned(here / "timing.toml", **options)


def test_an_unknown_row_offers_the_nearest(here):
    with pytest.raises(UnknownName, match="did you mean 'molecules'"):
        planned(here / "timing.toml", rows=["molecule"])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"molecules"\nlabel', '"molecule"\nlabel', "did you mean 'molecules'"),
        ("repeats = 3", "repeats = 0", "must be at least 1"),
        ("repeats = 3", "repeat = 3", "did you mean 'repeats'"),
        ("repeats = 3", "seconds = 0", "must be above 0"),
        ("nodes = 23.12", "node = 23.12", "did you mean 'nodes'"),
        ("nodes = 23.12", "nodes = nan", "must be a number above 0"),
        ('"molecules"\nlabel', '"zinc-test"\nlabel', "the same graphs: 'zinc-test'"),
        ("published_graphs = 10", "published_graphs = 0", "must be at least 1"),
        ('about =', '[[claim]]\ncheck = "log_softmax_is_half"\npaper = "x"\n#', "one kind"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_with_its_place(here, old, new, said):
    assert old in TOML
    (here / "timing.toml").write_text(TOML.replace(old, new))
    with pytest.raises(SpecError, match=said):
        read_experiment(here / "timing.toml")
