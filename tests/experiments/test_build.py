"""From the words of a row to transforms and a network; every row of every shipped file builds."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch_geometric.data import Batch

from cyclenet.datasets.as_data import graph_data
from cyclenet.datasets.cfi import rook_graph
from cyclenet.experiments.build import (
    build_model,
    check_rows,
    encoder_input,
    prepared,
    transforms_of,
)
from cyclenet.experiments.reading import SpecError, read_experiment
from cyclenet.experiments.spec import Part, Row
from cyclenet.experiments.tasks import TASKS

FILES = sorted((Path(__file__).parents[2] / "experiments").glob("*.toml"))
KIND = TASKS["sr16622"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_loads_and_every_row_builds(path):
    experiment = read_experiment(path)
    kinds = experiment.claims, experiment.timings, list(experiment.runs())
    assert sum(map(bool, kinds)) == 1
    check_rows(experiment)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_two_runs_share_a_folder_and_no_row_is_there_twice(path):
    runs = list(read_experiment(path).runs())
    assert len({run.folder for run in runs}) == len(runs)
    assert len({run.fingerprint for run in runs}) == len(runs)


def test_a_check_draws_no_random_numbers_and_holds_no_weights():
    experiment = read_experiment(next(path for path in FILES if path.stem == "smoke"))
    torch.manual_seed(3)
    before = torch.get_rng_state()
    check_rows(experiment)
    assert torch.equal(torch.get_rng_state(), before)


def row(backbone="gin", encoder=None, **options):
    small = {"hidden_channels": 8, "num_layers": 2}
    part = None if encoder is None else Part(encoder, options)
    return Row("a row", backbone=Part(backbone, small), encoder=part)


@pytest.mark.parametrize(
    ("one", "reads"),
    [
        (row(), ""),
        (row(encoder="projector"), "P on arcs"),
        (row(encoder="projector", on="abs"), "|P|"),
        (row(encoder="projector", on="abs", source="hodge"), "|L|"),
        (row(encoder="peoi"), "X of a shortest basis"),
        (row(encoder="peoi", cycles="relevant"), "X of relevant cycles"),
        (row(encoder="peoi", filters="x"), "X of a shortest basis, with coordinates"),
        (row(encoder="profile"), "profiles of P"),
    ],
)
def test_a_row_says_what_its_encoder_reads(one, reads):
    assert encoder_input(one) == reads


@pytest.mark.parametrize("backbone", ["gin", "gcn", "gat", "signnet", "ppgn", "cwn"])
@pytest.mark.parametrize("encoder", [None, "projector", "peoi", "profile"])
def test_a_network_reads_the_graphs_that_its_transforms_prepare(backbone, encoder):
    options = {"hidden_channels": 16} if backbone == "signnet" else {"hidden_channels": 8}
    one = replace(row(encoder=encoder), backbone=Part(backbone, options))
    data = graph_data(rook_graph(), x=torch.ones(16, 1), y=None)
    items = prepared(one, [data, data], dtype=torch.float64)
    assert all(item.x.dtype == torch.float64 for item in items)
    model = build_model(one, KIND).double().eval()
    assert model(Batch.from_data_list(items)).shape == (2, KIND.out_channels)


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (Row("a row", backbone=Part("gin", {"num_layer": 2})), "did you mean 'num_layers'"),
        (Row("a row", backbone=Part("gin", {"in_channels": 2})), "no option called 'in_channels'"),
        (Row("a row", backbone=Part("gin", {"readout": "median"})), "a row"),
        (Row("a row", backbone=Part("gin", {"hidden_channels": "a"})), "must be a whole number"),
        (Row("a row", backbone=Part("gin", {"num_layers": 2.5})), "must be a whole number"),
        (Row("a row", backbone=Part("gin", {"printed_size": 1})), "must be true or false"),
        (row(encoder="projector", on="nodes"), "`on` must be one of"),
        (row(encoder="peoi", filters="y"), "`filters` must be 'x'"),
        (row(encoder="peoi", cycle="basis"), "did you mean 'cycles'"),
        (Row("a row", baseline=Part("constant")), "must have a backbone"),
    ],
)
def test_an_option_that_no_class_takes_is_refused_by_name(one, said):
    with pytest.raises(SpecError, match="a row") as caught:
        build_model(one, KIND)
    assert said in str(caught.value)


def test_a_choice_of_cycles_that_there_is_not_is_refused():
    with pytest.raises(SpecError, match="`cycles` must be one of"):
        transforms_of(row(encoder="peoi", cycles="all"))


def test_the_published_rows_of_molecules_have_the_printed_numbers_of_parameters():
    """All 19 of Table 6; one of them is printed 300,000 too small."""
    experiment = read_experiment(FILES[0].parent / "ablation_zinc.toml")
    rows = [row for row in experiment.rows if row.protocol == "paper"]
    assert len(rows) == 19
    for row in rows:
        with torch.random.fork_rng(devices=[]), torch.device("meta"):
            model = build_model(row, TASKS["zinc"])
        learning = sum(w.numel() for w in model.parameters() if w.requires_grad)
        printed = row.reported["zinc"].parameters
        assert learning == printed + 300_000 * (row.label == "GIN + BasisNet"), row.label


def test_a_run_that_two_files_ask_for_is_one_run():
    """Else each would call the record of the other stale, and make it anew, for ever."""
    seen, shared = {}, 0
    for path in FILES:
        for run in read_experiment(path).runs():
            shared += run.folder in seen
            assert seen.setdefault(run.folder, run.fingerprint) == run.fingerprint, run.folder
    assert shared >= 4
