"""Tables of plain text."""

from cyclenet.commands.table import aligned, markdown


def test_numbers_stand_to_the_right_and_words_to_the_left():
    assert aligned([("a", 1), ("long", 23.456)], ("name", "n")) == [
        "name     n",
        "----  ----",
        "a        1",
        "long  23.5",
    ]


def test_no_rows_are_no_lines_or_the_header_alone():
    assert aligned([]) == []
    assert aligned([], ("a", "bc")) == ["a  bc", "-  --"]


def test_markdown_has_a_rule_under_its_header():
    assert markdown([(1, None)], ("a", "b")) == ["| a | b |", "| --- | --- |", "| 1 | - |"]
