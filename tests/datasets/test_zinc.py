"""ZINC-12k: equal to PyTorch Geometric's, from files that are trusted, whole and in their place."""

import hashlib
import logging
import os
import pickle
import re
import shutil
from http.client import IncompleteRead
from pathlib import Path

import numpy as np
import pytest
import torch
import torch_geometric.datasets.zinc
from made_zinc import SIZES, entry, network_with, write_raw_files
from torch_geometric.data import Batch
from torch_geometric.datasets import ZINC

from cyclenet.data import CycleData
from cyclenet.datasets import DataFileError, molecule_graphs, zinc_files, zinc_sample
from cyclenet.datasets.errors import BadArgument
from cyclenet.datasets.typed_molecules import (
    ATOM_TYPES,
    BOND_TYPES,
    molecules_to_bytes,
    pack_molecules,
    read_molecules,
)
from cyclenet.datasets.zinc import ZINC_SPLITS, zinc
from cyclenet.nn.backbones import GatedGCN


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """The folder of converted files for who cannot write beside the raw ones."""
    monkeypatch.setenv(zinc_files.CACHE_VARIABLE, str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def root(tmp_path):
    """Raw files of a few molecules, of which the index files choose some, in another order."""
    write_raw_files(tmp_path / "data")
    return tmp_path / "data"


def raw_file(root, name):
    return root / "ZINC" / "raw" / name


def converted(root, split="test"):
    return root / "ZINC" / "cyclenet" / f"zinc-{split}.safetensors"


def assert_equal(first, second):
    assert len(first) == len(second)
    for one, other in zip(first, second, strict=True):
        for name in ("x", "edge_index", "edge_attr"):
            assert one[name].dtype == other[name].dtype == torch.long
            assert torch.equal(one[name], other[name])
        assert one.y.dtype == other.y.dtype == torch.float32
        assert torch.equal(one.y, other.y.reshape(1, 1))


def test_it_is_what_pytorch_geometric_makes_of_the_files(root):
    for split, name in zip(ZINC_SPLITS, SIZES, strict=True):
        ours = zinc(split, root, trust_pickle=True)
        assert_equal(ours, ZINC(str(root / "ZINC"), subset=True, split=name))
        assert converted(root, split).is_file()
        assert_equal(zinc(split, root), ours)
        assert_equal(zinc(name, root / "ZINC"), ours)
    assert Batch.from_data_list(ours).y.shape == (SIZES["test"], 1)


def test_no_pickle_is_opened_twice(root, monkeypatch):
    first = zinc("test", root, trust_pickle=True)
    monkeypatch.setattr(pickle, "loads", lambda content: pytest.fail("a pickle was opened"))
    assert_equal(zinc("test", root, trust_pickle=True), first)
    shutil.rmtree(root / "ZINC" / "raw")
    assert_equal(zinc("test", root), first)
    shutil.move(root / "ZINC", root / "elsewhere")
    assert_equal(zinc("test", root / "elsewhere"), first)


def test_a_converted_file_under_the_name_of_another_split_is_refused(root):
    zinc("train", root, trust_pickle=True)
    shutil.rmtree(root / "ZINC" / "raw")
    converted(root, "train").rename(converted(root))
    with pytest.raises(DataFileError, match="the split test, but it holds train"):
        zinc("test", root)


def test_the_index_file_chooses_and_orders(root):
    first = zinc("test", root, trust_pickle=True)
    index = raw_file(root, "test.index")
    numbers = index.read_text().strip().split(",")
    index.write_text(",".join(numbers[::-1]))  # and no end of line
    assert_equal(zinc("test", root, trust_pickle=True), first[::-1])


def test_other_raw_files_are_not_answered_with_old_molecules(root, caplog):
    caplog.set_level(logging.INFO)
    zinc("test", root, trust_pickle=True)
    shutil.copy(raw_file(root, "val.pickle"), raw_file(root, "test.pickle"))
    with pytest.raises(DataFileError, match="SHA-256"):
        zinc("test", root)
    assert "made from other raw files" in caplog.text
    again = zinc("test", root, trust_pickle=True)
    assert_equal(again, zinc("test", root))
    shutil.copy(raw_file(root, "val.index"), raw_file(root, "test.index"))
    assert_equal(zinc("test", root, trust_pickle=True), zinc("validation", root, trust_pickle=True))


def test_a_file_of_another_format_is_made_again(root, monkeypatch, caplog):
    caplog.set_level(logging.INFO)
    monkeypatch.setattr("cyclenet.datasets.typed_molecules.MOLECULES_FORMAT", 0)
    first = zinc("test", root, trust_pickle=True)
    monkeypatch.undo()
    assert_equal(zinc("test", root, trust_pickle=True), first)
    assert "expected format 1, but 0 came, so it is made again" in caplog.text


def test_molecules_without_bonds_or_atoms_are_molecules(root):
    listed = [entry([], [], 0.0), entry([27], [], 1.0), entry([0, 1], [(0, 1, 2)], 2.0)]
    raw_file(root, "test.pickle").write_bytes(pickle.dumps(listed))
    raw_file(root, "test.index").write_text("0,1,2\n")
    for _ in range(2):
        nothing, atom, pair = zinc("test", root, trust_pickle=True)
        assert (nothing.x.shape, nothing.edge_index.shape) == ((0, 1), (2, 0))
        assert (atom.x.tolist(), atom.edge_attr.shape) == ([[27]], (0,))
        assert pair.edge_index.tolist() == [[0, 1], [1, 0]]
        assert [data.y.item() for data in (nothing, atom, pair)] == [0.0, 1.0, 2.0]


class Malicious:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.write_text, (self.path, "gotcha")


def test_an_unknown_pickle_is_never_opened(root):
    trace = root / "trace"
    content = pickle.dumps([Malicious(trace)])
    raw_file(root, "test.pickle").write_bytes(content)
    found = hashlib.sha256(content).hexdigest()
    for download in (False, True):
        with pytest.raises(DataFileError, match=found) as caught:
            zinc("test", root, download=download)
    assert caught.value.path == str(raw_file(root, "test.pickle"))
    assert "--trust-pickle" in caught.value.hint
    assert not trace.exists()
    # That it would have been is what trust is about.
    with pytest.raises(DataFileError):
        zinc("test", root, trust_pickle=True)
    assert trace.read_text() == "gotcha"


def test_a_known_pickle_needs_no_trust(root, monkeypatch):
    found = hashlib.sha256(raw_file(root, "test.pickle").read_bytes()).hexdigest()
    monkeypatch.setitem(zinc_files.KNOWN_PICKLES, found, "test")
    monkeypatch.setitem(zinc_files.NUM_MOLECULES, "test", SIZES["test"])
    assert len(zinc("test", root)) == SIZES["test"]


def test_the_list_of_known_pickles_names_each_split():
    assert all(re.fullmatch("[0-9a-f]{64}", known) for known in zinc_files.KNOWN_PICKLES)
    assert set(zinc_files.KNOWN_PICKLES.values()) == set(ZINC_SPLITS)
    assert zinc_files.NUM_MOLECULES == {"train": 10_000, "validation": 1000, "test": 1000}


@pytest.fixture
def known(root, monkeypatch):
    """The made files as if they were the benchmark: their hashes and sizes are known."""
    for split, name in zip(ZINC_SPLITS, SIZES, strict=True):
        found = hashlib.sha256(raw_file(root, f"{name}.pickle").read_bytes()).hexdigest()
        monkeypatch.setitem(zinc_files.KNOWN_PICKLES, found, split)
        monkeypatch.setitem(zinc_files.NUM_MOLECULES, split, SIZES[name])
    return root


@pytest.mark.parametrize("trust_pickle", [False, True])
def test_the_known_pickle_of_another_split_is_refused(known, trust_pickle):
    shutil.copy(raw_file(known, "val.pickle"), raw_file(known, "test.pickle"))
    with pytest.raises(DataFileError, match="of the split test, but those of validation") as caught:
        zinc("test", known, trust_pickle=trust_pickle)
    assert caught.value.path == str(raw_file(known, "test.pickle"))
    assert "test.pickle" in caught.value.hint
    assert not converted(known).exists()


@pytest.mark.parametrize("trust_pickle", [False, True])
def test_a_known_pickle_gives_as_many_molecules_as_the_benchmark_has(known, trust_pickle):
    raw_file(known, "test.index").write_text("0,1,2\n")
    with pytest.raises(DataFileError, match=r"expected 4 numbers, .* but 3 came") as caught:
        zinc("test", known, trust_pickle=trust_pickle)
    assert caught.value.path == str(raw_file(known, "test.index"))
    assert "test.index" in caught.value.hint


def test_another_number_of_molecules_is_told_where_trust_allows_it(root, caplog):
    zinc("test", root, trust_pickle=True)
    assert "test.index: 4 molecules instead of the 1000 of the benchmark" in caplog.text
    shutil.rmtree(root / "ZINC" / "raw")
    caplog.clear()
    zinc("test", root)
    assert "zinc-test.safetensors: 4 molecules instead of the 1000" in caplog.text


def rewritten(root, molecules, **changed):
    """Write a whole converted file that says something else of itself."""
    _, stated = read_molecules(converted(root))
    converted(root).write_bytes(molecules_to_bytes(molecules, stated | changed))


def test_a_converted_file_that_is_not_the_benchmark_is_refused(known):
    first = zinc("test", known)
    molecules = read_molecules(converted(known))[0]
    of_validation = hashlib.sha256(raw_file(known, "val.pickle").read_bytes()).hexdigest()
    kept = raw_file(known, "").rename(known / "kept")
    nothing = pack_molecules([], np.zeros(0, dtype=np.float32))
    few = pack_molecules(list(molecules)[:3], molecules.y[:3])
    for wrong, changed, said in (
        (few, {}, "4 molecules, as many as the benchmark has, but 3 came"),
        (nothing, {}, "but 0 came"),
        (nothing, {"pickle": "0" * 64}, "but 0 came"),
        (molecules, {"pickle": of_validation}, "the split test, but it was made from validation"),
        (molecules, {"split": "train"}, "the split test, but it holds train"),
    ):
        converted(known).unlink()
        kept.rename(known / "ZINC" / "raw")
        assert_equal(zinc("test", known), first)
        rewritten(known, wrong, **changed)
        (known / "ZINC" / "raw").rename(kept)
        with pytest.raises(DataFileError, match=said) as caught:
            zinc("test", known)
        assert caught.value.path == str(converted(known))
        assert "delete it" in caught.value.hint
        # With the raw files it is made again.
        kept.rename(known / "ZINC" / "raw")
        assert_equal(zinc("test", known), first)
        (known / "ZINC" / "raw").rename(kept)
        assert_equal(zinc("test", known), first)


def _without(key):
    return {name: value for name, value in entry([0], [], 0.0).items() if name != key}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "cannot be unpickled: EOFError"),
        (pickle.dumps([1, 2, 3])[:-2], "cannot be unpickled"),
        (pickle.dumps({0: 1}), "a list of molecules, but an object of type dict came"),
        (pickle.dumps(3), "a list of molecules, but an object of type int came"),
        (pickle.dumps([3]), "molecule 0: "),
        (pickle.dumps([_without("atom_type")]), "molecule 0: KeyError: 'atom_type'"),
        (pickle.dumps([_without("bond_type")]), "molecule 0: KeyError"),
        (pickle.dumps([entry([0], [], 0) | {"bond_type": torch.zeros(2, 2)}]), "n x n bonds"),
        (pickle.dumps([entry([0], [], 0) | {"atom_type": torch.zeros(1)}]), "whole numbers"),
        (pickle.dumps([entry([28], [], 0.0)]), "atoms from 0 to 27, but 28 came in molecule 0"),
        (pickle.dumps([entry([0, 0], [(0, 1, 4)], 0.0)]), "bonds from 1 to 3, but 4 came"),
        (pickle.dumps([entry([0], [(0, 0, 1)], 0.0)]), "no loops"),
        (pickle.dumps([entry([0], [], float("nan"))]), "finite targets"),
        (
            pickle.dumps([entry([0, 0], [], 0) | {"bond_type": torch.tensor([[0, 1], [0, 0]])}]),
            "both directions",
        ),
    ],
)  # fmt: skip
def test_a_pickle_of_something_else_is_named(root, content, said):
    raw_file(root, "test.pickle").write_bytes(content)
    raw_file(root, "test.index").write_text("0\n")
    with pytest.raises(DataFileError, match=said) as caught:
        zinc("test", root, trust_pickle=True)
    assert caught.value.path == str(raw_file(root, "test.pickle"))
    assert "--download" in caught.value.hint
    assert not converted(root).exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0,8", "numbers below 8, .* but 8 came"),
        ("0,-1", "whole numbers"),
        ("x", "whole numbers"),
        ("0,1\n2", "whole numbers"),
        ("\xff", "whole numbers"),
        ("0,1,1", "each number once, but 1 came twice"),
        ("", "at least one number, but none came"),
        (" \n", "at least one number, but none came"),
    ],
)
def test_an_index_file_of_something_else_is_named(root, text, said):
    raw_file(root, "test.index").write_text(text)
    with pytest.raises(DataFileError, match=said) as caught:
        zinc("test", root, trust_pickle=True)
    assert caught.value.path == str(raw_file(root, "test.index"))
    assert "test.index" in caught.value.hint and "--download" in caught.value.hint
    assert not converted(root).exists()


def test_missing_files_are_named_with_both_places(root, tmp_path):
    raw_file(root, "test.index").unlink()
    with pytest.raises(DataFileError, match="No such file") as caught:
        zinc("test", root, trust_pickle=True)
    assert caught.value.path == str(raw_file(root, "test.index"))
    assert "--download" in caught.value.hint
    with pytest.raises(DataFileError, match=r"test\.pickle and test\.index") as caught:
        zinc("test", tmp_path / "nowhere")
    said = str(caught.value)
    assert str(tmp_path / "nowhere" / "ZINC" / "raw") in said
    assert str(tmp_path / "nowhere" / "raw") in said
    assert "--download" in caught.value.hint
    assert not (tmp_path / "nowhere").exists()


def test_an_unknown_split_is_refused(root):
    with pytest.raises(BadArgument, match="train, validation, test, but the split 'dev'") as caught:
        zinc("dev", root)
    assert caught.value.hint == "zinc:train"
    for typed, hint in (("tset", "zinc:test"), ("valid", "zinc:validation")):
        with pytest.raises(BadArgument) as caught:
            zinc(typed, root)
        assert caught.value.hint == hint


def test_without_a_root_the_folder_data_is_looked_into(root, monkeypatch):
    monkeypatch.chdir(root.parent)
    assert len(zinc("test", trust_pickle=True)) == SIZES["test"]


def damaged(content, damage):
    flipped = bytearray(content)
    flipped[-3] ^= 16
    giant = (1 << 62).to_bytes(8, "little") + content[8:]
    return {"flip": bytes(flipped), "cut": content[:-1], "empty": b"", "giant": giant}[damage]


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "giant"])
@pytest.mark.parametrize("in_cache", [False, True])
def test_a_damaged_converted_file_is_made_again(root, cache, caplog, damage, in_cache):
    if in_cache:
        (root / "ZINC" / "cyclenet").write_text("")
    first = zinc("test", root, trust_pickle=True)
    place = next(cache.rglob("*.safetensors")) if in_cache else converted(root)
    whole = place.read_bytes()
    place.write_bytes(damaged(whole, damage))
    # What was trusted once is not trusted for ever: the pickle has to be opened again.
    with pytest.raises(DataFileError, match="SHA-256"):
        zinc("test", root)
    caplog.clear()
    assert_equal(zinc("test", root, trust_pickle=True), first)
    [told] = [each for each in caplog.records if "made again" in each.message]
    assert told.levelno == logging.WARNING and str(place) in told.message
    assert place.read_bytes() == whole
    assert_equal(zinc("test", root), first)


def test_a_known_pickle_mends_a_damaged_converted_file_without_trust(known):
    first = zinc("test", known)
    converted(known).write_bytes(b"")
    assert_equal(zinc("test", known), first)


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "giant"])
def test_a_damaged_converted_file_is_never_believed_without_raw_files(root, damage):
    zinc("test", root, trust_pickle=True)
    shutil.rmtree(root / "ZINC" / "raw")
    converted(root).write_bytes(damaged(converted(root).read_bytes(), damage))
    with pytest.raises(DataFileError, match="damaged") as caught:
        zinc("test", root, trust_pickle=True)
    assert caught.value.path == str(converted(root))
    assert "delete it" in caught.value.hint


def test_a_conversion_removes_what_killed_processes_left_and_nothing_else(root):
    folder = root / "ZINC"
    (folder / "cyclenet").mkdir()
    left = [folder / "cyclenet" / f".{'0a' * 16}.tmp", folder / ".download-ab_1cd2e"]
    others = [
        folder / "cyclenet" / ".mine.tmp",
        folder / "cyclenet" / "mine",
        folder / ".download-",
    ]
    running = [folder / "cyclenet" / f".{'0b' * 16}.tmp", folder / ".download-ab_1cd2f"]
    for path in (*left, *others, *running):
        if path.name.startswith(".download"):
            path.mkdir()
            (path / "molecules.zip").write_bytes(b"PK")
        else:
            path.write_bytes(b"half")
    for path in (*left, *others):
        for each in (*path.rglob("*"), path):
            os.utime(each, (0, 0))
    # A download that goes on writes into its folder, whose own time stands still.
    os.utime(running[1], (0, 0))
    zinc("test", root, trust_pickle=True)
    assert [path for path in (*left, *others, *running) if not path.exists()] == left


@pytest.mark.parametrize("problem", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_conversion_that_ends_midway_leaves_nothing(root, cache, monkeypatch, problem):
    def ends(*paths):
        raise problem

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", ends)
        if isinstance(problem, OSError):
            # The molecules are there all the same; only keeping them has failed.
            assert len(zinc("test", root, trust_pickle=True)) == SIZES["test"]
        else:
            with pytest.raises(KeyboardInterrupt):
                zinc("test", root, trust_pickle=True)
    written = [path for place in (root, cache) for path in place.rglob("*") if path.is_file()]
    assert [path for path in written if path.parent.name != "raw"] == []


def test_where_the_root_cannot_be_written_a_cache_is_used(root, cache, monkeypatch):
    # A file where the folder should be stops root as well, which a mode does not.
    (root / "ZINC" / "cyclenet").write_text("")
    first = zinc("test", root, trust_pickle=True)
    [kept] = cache.rglob("*.safetensors")
    assert kept.name == "zinc-test.safetensors"
    monkeypatch.setattr(pickle, "loads", lambda content: pytest.fail("a pickle was opened"))
    assert_equal(zinc("test", root), first)


@pytest.mark.parametrize(("variable", "below"), [("XDG_CACHE_HOME", ""), ("HOME", ".cache")])
def test_without_a_name_the_cache_is_the_users(root, monkeypatch, tmp_path, variable, below):
    for name in (zinc_files.CACHE_VARIABLE, "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, str(tmp_path / "user"))
    (root / "ZINC" / "cyclenet").write_text("")
    zinc("test", root, trust_pickle=True)
    assert len(list((tmp_path / "user" / below / "cyclenet" / "zinc").rglob("*.safetensors"))) == 1


def test_two_roots_do_not_fight_over_the_cache(root, cache, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(root, other)
    shutil.copy(raw_file(root, "val.pickle"), raw_file(other, "test.pickle"))
    for place in (root, other):
        (place / "ZINC" / "cyclenet").write_text("")
        zinc("test", place, trust_pickle=True)
    assert len(list(cache.rglob("*.safetensors"))) == 2
    zinc("test", root), zinc("test", other)  # neither needs trust any more


def test_where_nothing_can_be_written_it_works_and_says_so(root, cache, caplog):
    (root / "ZINC" / "cyclenet").write_text("")
    cache.write_text("")
    assert len(zinc("test", root, trust_pickle=True)) == SIZES["test"]
    assert "CYCLENET_HOME=FOLDER" in caplog.text


@pytest.fixture
def network(root, tmp_path, monkeypatch):
    return network_with(root, tmp_path, monkeypatch)


def test_nothing_is_fetched_unless_asked_for(network, tmp_path):
    with pytest.raises(DataFileError):
        zinc("test", tmp_path / "new")
    assert network == []


def test_a_download_is_fetched_once_and_still_has_to_be_trusted(network, root, tmp_path):
    new = tmp_path / "new"
    with pytest.raises(DataFileError, match="SHA-256"):
        zinc("test", new, download=True)
    assert len(network) == 4
    assert_equal(
        zinc("test", new, download=True, trust_pickle=True), zinc("test", root, trust_pickle=True)
    )
    assert len(network) == 4
    assert sorted(path.name for path in (new / "ZINC").iterdir()) == ["cyclenet", "raw"]
    shutil.rmtree(new / "ZINC" / "raw")
    zinc("test", new, download=True)
    assert len(network) == 4


def test_a_lost_index_file_is_fetched_again_though_there_is_a_conversion(network, root):
    first = zinc("test", root, trust_pickle=True)
    index = raw_file(root, "test.index")
    index.rename(root / "test.index")
    shutil.copytree(root, root.parent / "copy")
    (root / "test.index").rename(index)
    assert_equal(zinc("test", root.parent / "copy", download=True), first)


def test_a_download_leaves_files_that_are_there_alone(network, tmp_path):
    raw = tmp_path / "new" / "ZINC" / "raw"
    raw.mkdir(parents=True)
    (raw / "val.index").write_text("mine")
    (raw / "notes.txt").write_text("mine")
    zinc("test", tmp_path / "new", download=True, trust_pickle=True)
    assert (raw / "val.index").read_text() == (raw / "notes.txt").read_text() == "mine"


def page_of_a_hotel(url, folder):
    """What networks with a login hand out for every address."""
    path = Path(folder) / "page"
    path.write_text("<html>")
    return str(path)


def unreachable(url, folder):
    raise OSError("no route to host")


def cut_off(url, folder):
    raise IncompleteRead(b"", 7)


@pytest.mark.parametrize(
    ("download_url", "said"),
    [(unreachable, "no route to host"), (cut_off, "7 more expected"), (page_of_a_hotel, "zip")],
)
def test_a_download_that_fails_is_told_and_leaves_nothing(
    tmp_path, monkeypatch, download_url, said
):
    monkeypatch.setattr(torch_geometric.datasets.zinc, "download_url", download_url)
    with pytest.raises(DataFileError, match=said):
        zinc("test", tmp_path / "new", download=True)
    assert list((tmp_path / "new" / "ZINC").iterdir()) == []


def test_the_sample_is_the_first_validation_molecules():
    sample = zinc_sample()
    assert len(sample) == 64
    for data, graph in zip(sample, molecule_graphs(), strict=False):
        assert data.validate()
        assert data.is_undirected()
        assert data.num_nodes == graph.num_nodes
        forward = data.edge_index[:, data.edge_index[0] < data.edge_index[1]]
        np.testing.assert_array_equal(forward, graph.edges)
    x = torch.cat([data.x for data in sample])
    assert 0 <= x.min() and x.max() < len(ATOM_TYPES)
    bonds = torch.cat([data.edge_attr for data in sample])
    assert 1 <= bonds.min() and bonds.max() < len(BOND_TYPES)


def test_the_sample_takes_the_networks_of_molecules_as_it_is():
    torch.manual_seed(0)
    network = GatedGCN(28, 1, edge_channels=0, hidden_channels=8, num_layers=2, edge_types=4)
    batch = Batch.from_data_list([CycleData.from_data(data) for data in zinc_sample()])
    assert network(batch).shape == batch.y.shape == (64, 1)
