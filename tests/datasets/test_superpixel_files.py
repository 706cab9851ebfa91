"""Superpixel complexes on the disk: made once, by any number of processes, and never half."""

import gzip
import logging
import os
import signal
import subprocess
import sys
import time
from importlib import metadata

import numpy as np
import pytest
from made_mnist import SIZES, drawn_images, idx, write_raw_files
from made_superpixels import needs_scikit_image, random_complexes

from cyclenet.datasets import DataFileError, superpixel_files
from cyclenet.datasets.cache_folder import CACHE_VARIABLE
from cyclenet.datasets.errors import BadArgument, MissingExtra
from cyclenet.datasets.superpixel_files import (
    make_superpixels,
    read_superpixels,
    superpixels_from_bytes,
    superpixels_to_bytes,
)
from cyclenet.datasets.superpixels import ARRAYS, pack_complexes, superpixel_complex

pytestmark = needs_scikit_image


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """The folder for who cannot write beside the raw files, and pieces of three images."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "home"))
    monkeypatch.setattr(superpixel_files, "SHARD", 3)
    return tmp_path / "home"


@pytest.fixture
def root(tmp_path):
    write_raw_files(tmp_path / "data")
    return tmp_path / "data"


def never(*images):
    pytest.fail("an image was cut again")


def content(paths):
    return {path.name: path.read_bytes() for path in paths}


def assert_same(one, other):
    assert set(one.arrays) == set(other.arrays)
    for name, array in one.arrays.items():
        np.testing.assert_array_equal(array, other.arrays[name])


def test_what_is_read_is_what_the_images_give(root, monkeypatch):
    images, labels = drawn_images(SIZES["train"], 0)
    expected = pack_complexes(map(superpixel_complex, images), labels)
    assert_same(read_superpixels("train", root), expected)
    monkeypatch.setattr(superpixel_files, "superpixel_complex", never)
    assert_same(read_superpixels("train", root / "MNIST"), expected)
    ids = np.array([0, 2, 3, 6])
    assert_same(read_superpixels("train", root, ids=ids), expected.chosen(ids))
    few = [name for name in ARRAYS if name != "hodge_sums"]
    found = read_superpixels("train", root, ids=ids[:0], names=few)
    assert len(found) == 0 and set(found.arrays) == set(few)


def test_pieces_lie_beside_the_raw_files(root):
    paths = make_superpixels("train", root)
    folder = root / "MNIST" / "cyclenet" / "superpixels"
    names = [f"train-{first:05d}.safetensors" for first in (0, 3, 6)]
    assert paths == [folder / name for name in names]
    assert sorted(path.name for path in folder.iterdir()) == names


def test_the_number_of_processes_changes_nothing(root, tmp_path):
    alone = make_superpixels("train", root)
    write_raw_files(tmp_path / "other")
    watched = []
    # Children start anew and do not know of the pieces of three: they are handed over.
    several = make_superpixels(
        "train", tmp_path / "other", processes=2, progress=lambda *now: watched.append(now)
    )
    assert content(alone) == content(several)
    assert watched[0] == (0, 7) and watched[-1] == (7, 7) and len(watched) == 4
    assert watched == sorted(watched)


def test_who_was_stopped_goes_on_where_he_was(root, monkeypatch):
    whole = content(make_superpixels("train", root))
    folder = root / "MNIST" / "cyclenet" / "superpixels"
    (folder / "train-00003.safetensors").unlink()
    (folder / ".leftover.tmp").write_bytes(b"half")
    cut = []

    def counted(image):
        cut.append(image)
        return superpixel_complex(image)

    monkeypatch.setattr(superpixel_files, "superpixel_complex", counted)
    watched = []
    paths = make_superpixels("train", root, progress=lambda *now: watched.append(now))
    assert content(paths) == whole
    assert len(cut) == 3 and watched == [(4, 7), (7, 7)]


@pytest.mark.slow
def test_a_kill_at_any_moment_loses_only_what_was_being_made(root):
    write = (
        "import sys; from cyclenet.datasets import superpixel_files as files;"
        "files.SHARD = 3; files.make_superpixels('train', sys.argv[1])"
    )
    folder = root / "MNIST" / "cyclenet" / "superpixels"
    rng = np.random.default_rng(0)
    for _ in range(5):
        process = subprocess.Popen([sys.executable, "-c", write, str(root)])
        time.sleep(rng.uniform(0.5, 4))
        process.send_signal(signal.SIGKILL)
        process.wait()
        for path in folder.glob("*.safetensors") if folder.is_dir() else ():
            assert path.stat().st_size > 0
    images, labels = drawn_images(SIZES["train"], 0)
    expected = pack_complexes(map(superpixel_complex, images), labels)
    assert_same(read_superpixels("train", root), expected)


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "header"])
def test_a_damaged_piece_is_made_again(root, caplog, damage):
    paths = make_superpixels("test", root)
    whole = content(paths)
    damaged = bytearray(paths[0].read_bytes())
    damaged[20 if damage == "header" else -3] ^= 16
    kept = {"flip": damaged, "header": damaged, "cut": damaged[:-9], "empty": b""}[damage]
    paths[0].write_bytes(kept)
    assert content(make_superpixels("test", root)) == whole
    assert str(paths[0]) in caplog.text and "it is made again" in caplog.text


def test_a_piece_that_is_damaged_inside_is_named_when_it_is_read(root):
    paths = make_superpixels("test", root)
    for change in (lambda whole: whole[:-1] + b"\xff", lambda whole: whole[:-40]):
        whole = paths[1].read_bytes()
        paths[1].write_bytes(change(whole))
        with pytest.raises(DataFileError, match="damaged") as caught:
            read_superpixels("test", root)
        assert caught.value.path == str(paths[1])
        assert "delete it" in caught.value.hint
        paths[1].write_bytes(whole)


def test_other_images_are_not_answered_with_old_complexes(root, caplog):
    make_superpixels("test", root)
    images, labels = drawn_images(SIZES["t10k"], seed=9)
    raw = root / "MNIST" / "raw"
    (raw / "t10k-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(images)))
    (raw / "t10k-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(labels)))
    expected = pack_complexes(map(superpixel_complex, images), labels)
    assert_same(read_superpixels("test", root), expected)
    assert "it is made again" in caplog.text


def test_another_scikit_image_cuts_again_but_none_at_all_takes_what_is_there(root, monkeypatch):
    make_superpixels("test", root)
    monkeypatch.setattr(superpixel_files, "superpixel_complex", never)

    def missing(name):
        raise metadata.PackageNotFoundError(name)

    with monkeypatch.context() as without:
        without.setattr(metadata, "version", missing)
        without.setitem(sys.modules, "skimage", None)
        assert len(read_superpixels("test", root)) == SIZES["t10k"]
        with pytest.raises(MissingExtra, match="scikit-image") as caught:
            make_superpixels("train", root)
        assert caught.value.hint == "pip install 'cyclenet[complexes]'"
    monkeypatch.setattr(metadata, "version", lambda name: "0.0")
    with pytest.raises(pytest.fail.Exception, match="cut again"):
        read_superpixels("test", root)


def test_where_the_root_cannot_be_written_a_cache_is_used(root, cache, monkeypatch):
    # A file where the folder should be stops root as well, which a mode does not.
    (root / "MNIST" / "cyclenet").write_text("")
    paths = make_superpixels("test", root)
    assert all(path.is_relative_to(cache / "superpixels") for path in paths)
    monkeypatch.setattr(superpixel_files, "superpixel_complex", never)
    assert len(read_superpixels("test", root)) == SIZES["t10k"]


def test_where_nothing_can_be_written_it_is_refused_at_once(root, cache, monkeypatch):
    (root / "MNIST" / "cyclenet").write_text("")
    cache.write_text("")
    monkeypatch.setattr(superpixel_files, "superpixel_complex", never)
    with pytest.raises(DataFileError, match="a folder for about 1 MB") as caught:
        make_superpixels("test", root)
    assert caught.value.hint == f"{CACHE_VARIABLE}=FOLDER"


@pytest.mark.parametrize("processes", [1, 2])
def test_a_full_disk_is_told_and_leaves_nothing_half(root, monkeypatch, processes):
    paths = make_superpixels("train", root)
    for path in paths:
        path.unlink()
        path.mkdir()  # which no file can take the place of, in any process
    with pytest.raises(DataFileError, match="cannot be written") as caught:
        make_superpixels("train", root, processes=processes)
    assert caught.value.path in map(str, paths)
    assert not [path for path in paths[0].parent.iterdir() if path.is_file()]


def test_bad_arguments_are_refused(root):
    with pytest.raises(BadArgument, match="train, test"):
        make_superpixels("dev", root)
    for ids in ([2, 1], [0, 7], [-1, 0], [1, 1]):
        with pytest.raises(ValueError, match="`ids` must ascend"):
            read_superpixels("train", root, ids=np.array(ids))


def test_progress_is_logged(root, caplog):
    caplog.set_level(logging.INFO)
    make_superpixels("train", root)
    assert "cutting 7 of 7 images" in caplog.text and "7 of 7 images are ready" in caplog.text


ABOUT = {"part": "test", "scikit-image": "1"}


def test_every_cut_and_flipped_byte_of_a_file_is_found():
    complexes = pack_complexes(random_complexes(3, np.random.default_rng(0)), np.zeros(3, np.uint8))
    whole = superpixels_to_bytes(complexes, ABOUT)
    assert whole == superpixels_to_bytes(complexes, ABOUT)
    assert_same(superpixels_from_bytes(whole, ABOUT), complexes)
    rng = np.random.default_rng(1)
    for place in rng.choice(len(whole), 150, replace=False):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << rng.integers(8)
        for bad in (bytes(damaged), whole[:place]):
            try:
                found = superpixels_from_bytes(bad, ABOUT)
            except DataFileError:
                continue
            assert_same(found, complexes)  # a blank of the header, which says nothing
    with pytest.raises(DataFileError, match="expected format"):
        superpixels_from_bytes(whole, ABOUT | {"part": "train"})


def test_nobody_else_is_needed_to_read(root):
    """What reads complexes loads neither torch nor scikit-image."""
    make_superpixels("test", root)
    read = (
        "import sys; from cyclenet.datasets import superpixel_files as files;"
        "files.SHARD = 3; files.read_superpixels('test', sys.argv[1]);"
        "print([name for name in ('torch', 'skimage') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", read, str(root)], capture_output=True, text=True,
                          env=os.environ, check=True)  # fmt: skip
    assert done.stdout.strip() == "[]"
