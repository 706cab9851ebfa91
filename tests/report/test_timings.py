"""Timings joined with their file, and the tables they become."""

from dataclasses import replace

from made_timings import encoding, experiment, missing, timed

from cyclenet.report.timings import sizes_sheet, timing_sheet, timings_of, timings_sheet

ZINC, MOLECULES, POINTS = experiment().timings


def joined(*found):
    return timings_of(experiment(), found)


def cells(sheet, row=0):
    """The cells of a row, by the heading of their column."""
    return [(c.title, cell.text) for c, cell in zip(sheet.columns, sheet.rows[row], strict=True)]


def test_the_order_is_that_of_the_file_and_what_is_not_there_is_to_do():
    found = joined(timed(POINTS), missing(ZINC))
    assert [row.status for row in found.rows] == ["missing", "to do", "measured"]
    assert [row.found is None for row in found.rows] == [True, True, False]
    assert found.machines == ["Abacus 9, python 3.11.7"]


def test_records_of_other_settings_are_left_out_and_counted():
    found = joined(timed(replace(MOLECULES, repeats=99)), timed(ZINC))
    assert found.left_out == 1
    assert [row.found is None for row in found.rows] == [False, True, True]


def test_a_table_of_times_has_ours_theirs_ratios_and_the_printed_number():
    assert cells(timing_sheet(joined(timed(ZINC)), "projector")) == [
        ("graphs", "ZINC, test"),
        ("ours, transform", "100"),
        ("ours, one by one", "10"),
        ("ours, in one call", "2"),
        ("published algorithm", "400"),
        ("numpy on arrays", "5"),
        ("published / transform", "4x"),
        ("published / one by one", "40x"),
        ("published / in one call", "200x"),
        ("numpy / transform", "0.05x"),
        ("numpy / one by one", "0.5x"),
        ("numpy / in one call", "2.5x"),
        ("printed", "1,400"),
    ]


def test_a_way_that_does_not_exist_has_no_column():
    titles = [column.title for column in timing_sheet(joined(timed(ZINC)), "hodge").columns]
    assert titles[1:4] == ["ours, one by one", "ours, in one call", "published algorithm"]


def test_networkx_is_not_called_the_published_algorithm():
    sheet = timing_sheet(joined(timed(ZINC)), "basis")
    titles = [column.title for column in sheet.columns]
    assert "networkx" in titles and "networkx / in one call" in titles
    assert not any("numpy" in title or "published" in title for title in titles)
    assert "cycles of equal lengths" in sheet.notes[0]


def test_a_slower_one_of_ours_is_tinted():
    slow = replace(encoding("projector"), seconds=encoding("projector").seconds | {"packed": 1.0})
    found = timed(ZINC, encodings=(slow,))
    tones = [cell.tone for cell in timing_sheet(joined(found), "projector").rows[0]]
    assert tones[-7:-1] == ["better", "better", "worse", "worse", "worse", "worse"]


def test_notes_say_how_busy_the_machine_was_and_what_each_way_gives():
    found = joined(timed(ZINC, load=0.5), timed(MOLECULES), timed(POINTS, load=None))
    assert sizes_sheet(found).notes[1] == (
        "Measured on: Abacus 9, python 3.11.7; load average 0.5 to 1.5."
    )
    assert "block-diagonal" in timing_sheet(found, "hodge").notes[-1]
    assert not any("load" in note for note in sizes_sheet(joined()).notes)


def test_what_is_missing_is_dashes_and_a_reason():
    found = joined(missing(ZINC))
    sheets = [timing_sheet(found, "hodge"), sizes_sheet(found), timings_sheet(found)]
    for sheet in sheets:
        assert sheet.notes[-1] == "ZINC, test: missing, data/ZINC: is not there"
    assert {text for title, text in cells(sheets[0]) if title.startswith("ours")} == {"-"}
    assert cells(sheets[0])[-1] == ("printed", "701")
    assert cells(sheets[1])[1:4] == [("number", "-"), ("nodes", "-"), ("printed", "23.12")]
    assert cells(sheets[2])[1:] == [
        ("D1", "- / - / - / 701"), ("P", "- / - / - / 1,400"), ("shortest basis", "- / - / - / -")
    ]  # fmt: skip


def test_sizes_stand_beside_the_printed_ones():
    assert cells(sizes_sheet(joined(timed(ZINC)))) == [
        ("graphs", "ZINC, test"), ("number", "1,000"), ("nodes", "23.10"), ("printed", "23.12"),
        ("stored edges per node", "2.15"), ("printed", "2.15"), ("edges", "24.80"),
    ]  # fmt: skip


def test_programs_get_a_row_for_each_set_and_encoding_with_equal_keys():
    rows = joined(timed(ZINC), missing(MOLECULES)).plain()
    assert [(row["graphs"], row["encoding"]) for row in rows][:4] == [
        ("zinc-test", "hodge"), ("zinc-test", "projector"), ("zinc-test", "basis"),
        ("molecules", "hodge"),
    ]  # fmt: skip
    assert len({tuple(row) for row in rows}) == 1
    assert rows[1]["seconds_function"] == 1e-5
    assert rows[1]["published_over_transform"] == 4
    assert rows[1]["arrays_over_function"] == 0.5
    assert rows[1]["printed_seconds"] == 1.4e-3
    assert rows[3]["seconds_function"] is None
    assert rows[3]["reason"] == "data/ZINC: is not there"
