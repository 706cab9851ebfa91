"""What users may type for a graph, and what they are told when they mistype it."""

import numpy as np
import pytest

from cyclenet.datasets import DataFileError, UnknownName, encode_graph6, rook_graph
from cyclenet.datasets.catalog import SOURCE_KINDS
from cyclenet.datasets.data_folder import DataFolder
from cyclenet.datasets.errors import BadArgument
from cyclenet.datasets.sources import open_source
from cyclenet.datasets.typed_molecules import molecules_to_bytes
from cyclenet.datasets.zinc_files import SPLITS, sample_molecules


@pytest.mark.parametrize(
    ("text", "count", "num_nodes"),
    [
        ("rook", 1, 16),
        ("shrikhande", 1, 16),
        ("rook:0", 1, 16),
        ("cfi:3", 1, 16),
        ("cfi:4:1", 1, 40),
        ("cfi:4:1:0", 1, 40),
        ("sr:sr16622", 2, 16),
        ("sr:sr251256:14", 1, 25),
        ("sr:sr251256:-15", 1, 25),
        ("molecules", 1000, 35),
        ("molecules:999", 1, 27),
        ("zinc-sample", 64, 35),
        ("zinc-sample:-1", 1, 26),
        ("n-circles", 500, 80),
        ("circle-extents:-1", 1, 80),
        ("trajectories", 1, 923),
    ],
)
def test_sources_that_need_no_file(text, count, num_nodes):
    source = open_source(text)
    assert len(source.graphs) == count
    assert source.graphs[0].num_nodes == num_nodes


def test_files_are_known_by_their_ending(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.g6").write_bytes(encode_graph6(*rook_graph()) + b"\nBw\n")
    (tmp_path / "a.csv").write_text("0,1\n1,1\n")
    assert len(open_source("a.g6").graphs) == 2
    assert open_source("a.g6:1").graphs[0].num_nodes == 3
    assert open_source("sr:a.g6:-1").graphs[0].num_nodes == 3
    source = open_source("a.csv")
    assert source.graphs[0].edges.tolist() == [[0], [1]]
    assert source.notes == ("self loops dropped: 1",)


def test_a_tu_dataset_is_found_in_either_layout(tmp_path):
    for folder in (tmp_path / "X" / "raw", tmp_path / "TU" / "Y" / "raw"):
        folder.mkdir(parents=True)
        name = folder.parent.name
        (folder / f"{name}_A.txt").write_text("1, 2\n")
        (folder / f"{name}_graph_indicator.txt").write_text("1\n1\n")
        assert len(open_source(f"tu:{name}", data=DataFolder(tmp_path)).graphs) == 1


def test_a_tu_dataset_that_is_not_there_says_where_it_was_sought(tmp_path):
    with pytest.raises(DataFileError, match=r"NOPE_A\.txt") as caught:
        open_source("tu:NOPE", data=DataFolder(tmp_path))
    assert "--data" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("zinc", 192),
        ("zinc:100", 1),
        ("zinc:-1", 1),
        ("zinc:train", 64),
        ("zinc:validation", 64),
        ("zinc:val:3", 1),
        ("zinc:test:-64", 1),
    ],
)
def test_zinc_is_all_of_it_or_a_split_or_a_molecule(tmp_path, text, count):
    folder = tmp_path / "ZINC" / "cyclenet"
    folder.mkdir(parents=True)
    for split in SPLITS:
        content = molecules_to_bytes(sample_molecules(), {"split": split})
        (folder / f"zinc-{split}.safetensors").write_bytes(content)
    assert len(open_source(text, data=DataFolder(tmp_path)).graphs) == count


@pytest.mark.parametrize("text", ["zinc", "zinc:test", "zinc:test:0", "zinc:7"])
def test_zinc_that_is_not_there_says_where_it_was_sought(tmp_path, text):
    with pytest.raises(DataFileError, match=r"\.pickle .* of ZINC in") as caught:
        open_source(text, data=DataFolder(tmp_path))
    assert "--data" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("rok", "rook"),
        ("shrikande", "shrikhande"),
        ("molecule", "molecules"),
        ("zink", "zinc"),
        ("sr", "sr:"),
        ("n-circle", "n-circles"),
    ],
)
def test_a_mistyped_source_offers_the_nearest(text, nearest):
    with pytest.raises(UnknownName) as caught:
        open_source(text)
    assert caught.value.nearest == nearest


@pytest.mark.parametrize(("text", "example"), [("tu:", "tu:MUTAG"), ("cfi", "cfi:4:1")])
def test_a_source_without_its_argument_comes_with_an_example(text, example):
    with pytest.raises(UnknownName) as caught:
        open_source(text)
    assert caught.value.hint == example
    assert caught.value.nearest != text


@pytest.mark.parametrize(
    "text",
    [
        "rook:1",
        "sr:sr16622:2",
        "cfi:1",
        "cfi:x",
        "cfi:3:9",
        "cfi:3:1:1",
        "a.txt",
        "tu:X:1:2",
        "zinc:dev",
        "zinc-sample:64",
    ],
)
def test_arguments_out_of_range_are_the_users_to_mend(text):
    with pytest.raises((BadArgument, DataFileError)):
        open_source(text)


@pytest.mark.parametrize("text", ["no.g6", "no.csv", "no.g6.gz"])
def test_a_missing_file_is_named(text):
    with pytest.raises(DataFileError, match="No such file") as caught:
        open_source(text)
    assert caught.value.where == text


def test_any_words_give_graphs_or_our_errors():
    rng = np.random.default_rng(2)
    pieces = [*"rook sr cfi tu zinc molecules : :: 0 -1 3 . .g6 .csv / x sr16622".split(), ""]
    for _ in range(500):
        text = "".join(rng.choice(pieces, size=int(rng.integers(0, 6))))
        try:
            open_source(text)
        except (BadArgument, DataFileError):
            continue


# The others need a file of the user.
SHIPPED = [kind for kind in SOURCE_KINDS if not kind.pattern.startswith(("FILE", "tu:", "zinc["))]


@pytest.mark.parametrize("kind", SHIPPED, ids=lambda kind: kind.pattern)
def test_the_catalogue_tells_the_truth(kind):
    if "extra: complexes" in kind.holds:
        pytest.importorskip("gudhi")
    assert len(open_source(kind.example).graphs) >= 1
