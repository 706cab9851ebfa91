"""The ways to train are measured on the same row, and say what they cost."""

import re
from pathlib import Path

import pytest

from cyclenet.bench.training import main

SMOKE = str(Path(__file__).parents[2] / "experiments" / "smoke.toml")


def test_every_way_is_timed_against_the_first(capsys):
    ways = ("loader", "plain", "filled")
    main([SMOKE, "--row", "GIN", "--limit", "8", "--epochs", "4", "--device", "cpu",
          *(word for way in ways for word in ("--way", way))])  # fmt: skip
    lines = capsys.readouterr().out.splitlines()
    found = [
        re.match(r"GIN \| (\w+) \| ([\d.]+) s per epoch, ([\d.]+)x, first", line) for line in lines
    ]
    assert [match[1] for match in found] == list(ways)
    assert all(float(match[2]) > 0 for match in found) and float(found[0][3]) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--row", "GNI"], "no row 'GNI'"), (["--row", "GIN", "--epochs", "2"], "at least 4")],
)
def test_what_cannot_be_measured_is_said(words, said, capsys):
    with pytest.raises(SystemExit):
        main([SMOKE, *words])
    assert said in capsys.readouterr().err
