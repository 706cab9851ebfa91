"""The page: well formed, whole in one file, every text escaped, the same bytes every time."""

from pathlib import Path

import pytest
from pages import read_page

from cyclenet.report.charts import bar_chart
from cyclenet.report.page import (
    Command,
    Commands,
    Facts,
    Mark,
    Page,
    Picture,
    Pictures,
    Prose,
    Section,
    Table,
    html_of,
    write_page,
)
from cyclenet.report.tables import Cell, Column, Sheet

AWKWARD = "<script>alert('&')</script> \"quoted\""


def page_of(words: str) -> Page:
    """A page with every kind of block, made of the same words."""
    picture = Picture(bar_chart(words, {words: 1.0}, down=words, across=words), words, words)
    sheet = Sheet(
        words,
        (Column(words), Column(words, True)),
        ((Cell(words), Cell(words, "better")), (Cell("1"), Cell("2", "worse"))),
        (words,),
    )
    blocks = (
        Prose((words, words)),
        Table(sheet),
        Table(sheet, titled=False),
        Table(sheet, folded=True),
        Pictures((picture, picture), words),
        Pictures((picture,), small=True),
        Facts({words: words}),
        Commands((Command(words, words), Command(words))),
    )
    sections = (Section("one", words, blocks, words), Section("two", words, (), words))
    return Page(words, words, sections, (Mark(words, words),), words)


def test_every_text_is_escaped():
    html = html_of(page_of(AWKWARD))
    page = read_page(html)
    assert "<script>" not in html
    assert AWKWARD in page.texts("h1")
    assert AWKWARD in page.texts("td")
    assert AWKWARD in page.texts("code")
    assert AWKWARD in page.texts("figcaption")


def test_the_same_page_is_the_same_bytes():
    assert html_of(page_of("a word")) == html_of(page_of("a word"))


def test_sections_without_blocks_are_left_out():
    page = read_page(html_of(page_of("words")))
    assert [section["id"] for section in page.of("section")] == ["one"]
    assert [link["href"] for link in page.of("a")] == ["#one"]


def test_colours_are_told_in_words_too():
    html = html_of(page_of("words"))
    assert '<span class="unseen"> (better)</span>' in html
    assert '<span class="unseen"> (worse)</span>' in html


def test_wide_tables_scroll_in_boxes_that_keys_can_reach():
    page = read_page(html_of(page_of("words")))
    boxes = [a for a in page.of("div") if a.get("class") == "scroll"]
    assert len(boxes) == len(page.of("table")) == 3
    assert all(box["tabindex"] == "0" and box["aria-label"] == "words" for box in boxes)


def test_nothing_may_be_fetched_or_run():
    policies = [
        meta["content"]
        for meta in read_page(html_of(page_of("words"))).of("meta")
        if meta.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]


def test_a_page_of_nothing_is_a_page():
    read_page(html_of(Page("t", "l", ())))


def test_a_page_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "new" / "page.html"
    size = write_page(path, page_of("first"))
    assert path.stat().st_size == size
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="no room"):
        write_page(path, page_of("second"))
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [Path(path).name]
