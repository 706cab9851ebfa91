"""Sections: what is there is shown, what is missing is a dash or left out, what failed is named."""

import xml.etree.ElementTree as ElementTree

import numpy as np
from made_records import EPOCHS, claims, experiment, failed, record_of, records
from named_graphs import theta
from pages import read_page

from cyclenet.report.drawing import CyclePicture
from cyclenet.report.findings import findings_of
from cyclenet.report.page import Command, Page, html_of
from cyclenet.report.scores import results_of
from cyclenet.report.sections import (
    commands_section,
    curves_section,
    environment_of,
    environment_section,
    failures_section,
    gallery_section,
    headline_section,
    lengths_section,
    projectors_section,
    run_seconds,
    sight_section,
    tables_section,
    time_section,
)
from cyclenet.report.tables import Cell, Column, Sheet
from cyclenet.topology import cycle_projector, shortest_cycle_basis


def shown(*sections):
    """What a page of some sections holds."""
    return read_page(html_of(Page("a title", "a lead", sections)))


def theta_picture(name="Theta"):
    return CyclePicture(name, *theta(), shortest_cycle_basis(*theta()).cycles)


def test_finished_runs_make_a_headline_tables_and_curves():
    results = results_of(experiment(), records())
    page = shown(headline_section([results]), tables_section([results]), curves_section([results]))
    assert "0.600 / 0.50" in page.texts("td")
    assert "0.600 ± 0.100" in page.texts("td")
    assert {"Training loss", "accuracy on validation graphs"} <= set(page.texts("title"))
    # The untrained task has no curve.
    assert len(page.of("svg")) == 2


def test_missing_runs_are_dashes_and_make_no_curve():
    results = results_of(experiment(), [])
    page = shown(headline_section([results]), tables_section([results]), curves_section([results]))
    assert "- / 0.50" in page.texts("td")
    assert [one["id"] for one in page.of("section")] == ["results", "tables"]


def test_claims_that_were_not_checked_are_dashes():
    page = shown(headline_section([findings_of(claims(), [])]))
    assert page.texts("td") == ["-"] * 6


def test_failed_runs_are_named_with_their_reason():
    run = next(iter(experiment().runs()))
    page = shown(failures_section([failed(run, "the loss is <nan>")], {}))
    assert "the loss is <nan>" in page.texts("td")
    assert not failures_section([record_of(run)], {}).blocks


def test_graphs_set_aside_are_named_with_their_reason():
    page = shown(failures_section([], {"graph 7": "edge 3 is a loop"}))
    assert page.texts("dt") == ["graph 7"]
    assert page.texts("dd") == ["edge 3 is a loop"]


def test_a_failed_run_draws_no_line():
    run = next(iter(experiment().runs()))
    assert not curves_section([results_of(experiment(), [failed(run)])]).blocks


def test_one_seed_has_no_band():
    results = results_of(experiment(seeds=(0,)), records())
    section = curves_section([results])
    assert "band" not in section.blocks[0].items[0].svg
    assert section.lead == ""
    assert "band" in curves_section([results_of(experiment(), records())]).blocks[0].items[0].svg


def test_seeds_of_different_lengths_are_drawn_as_far_as_all_went():
    runs = [run for run in experiment().runs() if run.task.name == "3-cfi"][:2]
    whole, short = record_of(runs[0]), record_of(runs[1])
    cut = {name: getattr(short.curve, name)[:5] for name in short.curve.__slots__}
    short = record_of(runs[1], curve=type(short.curve)(**cut))
    svg = curves_section([results_of(experiment(), [whole, short])]).blocks[0].items[0].svg
    path = next(e for e in ElementTree.fromstring(svg).iter() if e.get("class") == "curve s0")
    assert path.get("d").count("L") == 4 < EPOCHS - 1


def test_pictures_say_what_they_show():
    page = shown(
        gallery_section([theta_picture(), CyclePicture("Path", np.array([[0], [1]]), 2, [])])
    )
    assert {"Theta", "Path"} <= set(page.texts("strong")) & set(page.texts("title"))
    assert "2 nodes, 1 edges; no cycle" in page.texts("desc")
    assert any("basis cycles: " in text for text in page.texts("desc"))
    assert not gallery_section([]).blocks


def test_captions_stay_short_where_lengths_are_many():
    edges = np.array([[0, 0, 1], [1, 2, 2]])
    cycles = [np.arange(3)] * 2 + [np.arange(2, 2 + k) % 3 for k in ()]
    (block,) = gallery_section([CyclePicture("Triangle", edges, 3, cycles)]).blocks
    times = "\N{NO-BREAK SPACE}\N{MULTIPLICATION SIGN}\N{NO-BREAK SPACE}"
    assert block.items[0].caption == f"3 nodes, 3 edges, cycles 2{times}3"


def test_two_graphs_stand_over_their_numbers():
    sheet = Sheet("numbers", (Column("what"), Column("one", True)), ((Cell("n"), Cell("4")),))
    page = shown(sight_section("Seen", "a lead", [theta_picture(), theta_picture("Again")], sheet))
    assert len(page.of("svg")) == 2
    assert page.texts("td") == ["4"]


def test_projectors_are_described_with_size_and_rank():
    page = shown(projectors_section({"theta": cycle_projector(*theta())}))
    assert any("rank 2" in text for text in page.texts("figcaption"))
    assert len(page.of("image")) == 1
    assert not projectors_section({}).blocks


def test_lengths_that_do_not_occur_keep_their_place():
    page = shown(lengths_section({"some": {"3": 5, "6": 1}}))
    assert page.texts("desc") == ["cycles by length: 3: 5, 4: 0, 5: 0, 6: 1."]
    assert len(shown(lengths_section({"none": {}})).of("svg")) == 1


def test_time_is_sorted_and_the_rest_is_summed():
    page = shown(time_section({f"part {number}": float(number) for number in range(1, 21)}))
    (said,) = page.texts("desc")
    assert said.startswith("Wall time: part 20 20 s; part 19 19 s")
    assert said.endswith("all others 36 s.")
    assert not time_section({}).blocks


def test_seconds_of_runs_are_summed_by_method():
    seconds = run_seconds([results_of(experiment(), records())])
    assert seconds == {"GIN": 39.0, "GIN + CycleNet": 39.0, "GIN (paper protocol)": 19.5}


def test_machines_that_differ_stand_side_by_side():
    run = next(iter(experiment().runs()))
    facts = environment_of([record_of(run), record_of(run, device="another GPU", revision="")])
    assert facts["device"] == "cpu, another GPU"
    assert facts["revision"] == "abc1234"
    assert "another GPU" in " ".join(shown(environment_section(facts)).texts("dd"))


def test_commands_stand_as_they_are_typed():
    page = shown(commands_section([Command("cyclenet inspect 'a b'", "one")]))
    assert page.texts("code") == ["cyclenet inspect 'a b'"]
    assert not commands_section([]).blocks
