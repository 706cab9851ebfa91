"""MNIST on the disk: what is whole is read, and of what is not it is said how."""

import gzip
import hashlib
import io
import urllib.error
import urllib.request

import numpy as np
import pytest
from made_mnist import SIZES, drawn_images, idx, write_raw_files

from cyclenet.datasets import DataFileError
from cyclenet.datasets.errors import BadArgument
from cyclenet.datasets.mnist_files import (
    KNOWN_FILES,
    fetch_mnist,
    mnist_images,
    mnist_labels,
    raw_images,
    read_idx,
)


@pytest.fixture
def root(tmp_path):
    write_raw_files(tmp_path)
    return tmp_path


@pytest.mark.parametrize("packed", [True, False])
def test_images_and_labels_are_those_of_the_files(tmp_path, packed):
    write_raw_files(tmp_path, packed=packed)
    for seed, (part, size) in enumerate(zip(("train", "test"), SIZES.values(), strict=True)):
        for root in (tmp_path, tmp_path / "MNIST"):
            images, labels = mnist_images(part, root)
            expected = drawn_images(size, seed)
            np.testing.assert_array_equal(images, expected[0])
            np.testing.assert_array_equal(labels, expected[1])
            np.testing.assert_array_equal(mnist_labels(part, root), expected[1])


def test_missing_files_are_named_with_both_places(tmp_path):
    with pytest.raises(DataFileError, match="t10k-images-idx3-ubyte and t10k-labels") as caught:
        mnist_images("test", tmp_path)
    assert str(tmp_path / "MNIST" / "raw") in str(caught.value)
    assert str(tmp_path / "raw") in str(caught.value)
    assert "--download" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_part_is_refused(root):
    with pytest.raises(BadArgument, match="train, test, but the part 'validation'"):
        mnist_images("validation", root)


WHOLE = idx(np.arange(24).reshape(2, 3, 4))
WRONG = {
    "nothing": (b"", "a header of 16 bytes, but 0 bytes"),
    "half a header": (WHOLE[:9], "a header of 16 bytes, but 9 bytes"),
    "another kind of number": (b"\0\0\x0d\x03" + WHOLE[4:], "starts with 00000803, but 00000d03"),
    "other axes": (idx(np.zeros(24)), "with 3 axes, which starts with 00000803, but 00000801"),
    "cut off": (WHOLE[:-1], r"expected 40 bytes for \(2, 3, 4\), but found 39"),
    "something behind": (WHOLE + b"\0", "expected 40 bytes .* but more came"),
    "too much": (WHOLE[:4] + b"\xff" * 12, "at most 1073741824 bytes"),
    "a page": (b"<html><body>please log in</body>", "starts with 00000803, but 3c68746d"),
}


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize(("content", "said"), WRONG.values(), ids=WRONG)
def test_what_is_no_whole_idx_file_is_named(tmp_path, content, said, packed):
    path = tmp_path / "images"
    path.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(DataFileError, match=said) as caught:
        read_idx(path, axes=3)
    assert caught.value.path == str(path)


def test_every_cut_and_every_flipped_bit_of_a_packed_file_is_told_or_harmless(tmp_path):
    path = tmp_path / "images"
    packed = gzip.compress(WHOLE, mtime=0)
    for length in range(len(packed)):
        path.write_bytes(packed[:length])
        with pytest.raises(DataFileError):
            read_idx(path, axes=3)
    for place in range(2, len(packed)):
        damaged = bytearray(packed)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        try:
            found = read_idx(path, axes=3)
        except DataFileError:
            continue
        assert idx(found) == WHOLE  # the bit was in the header of gzip, which says nothing of it


def test_a_bomb_is_not_unpacked(tmp_path):
    path = tmp_path / "images"
    path.write_bytes(gzip.compress(WHOLE + bytes(50_000_000)))
    with pytest.raises(DataFileError, match="more came"):
        read_idx(path, axes=3)


def test_labels_have_to_fit_the_images(root):
    raw = raw_images("test", root)[1]
    raw.labels.write_bytes(gzip.compress(idx(np.zeros(3))))
    with pytest.raises(DataFileError, match=r"expected 4 labels, .* but 3 came") as caught:
        mnist_images("test", root)
    assert caught.value.path == str(raw.labels)
    raw.labels.write_bytes(gzip.compress(idx(np.array([0, 9, 10, 3]))))
    with pytest.raises(DataFileError, match="from 0 to 9, but 10 came for image 2"):
        mnist_labels("test", root)


@pytest.fixture
def network(tmp_path, monkeypatch):
    """A server that has the files that we made, and whose hashes are known; grows by addresses."""
    raw = write_raw_files(tmp_path / "server")
    known = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in raw.iterdir()}
    for name in KNOWN_FILES:
        monkeypatch.setitem(KNOWN_FILES, name, known[name])
    asked = []

    def urlopen(url, timeout):
        asked.append(url.rsplit("/", 1)[1])
        return io.BytesIO((raw / asked[-1]).read_bytes())

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    return asked


def test_files_are_fetched_once(network, root, tmp_path):
    fetch_mnist(root)
    assert network == []
    fetch_mnist(tmp_path / "new")
    assert sorted(network) == sorted(KNOWN_FILES)
    np.testing.assert_array_equal(
        mnist_images("test", tmp_path / "new")[0], mnist_images("test", root)[0]
    )
    fetch_mnist(tmp_path / "new")
    assert len(network) == 4


def test_a_fetched_file_that_is_not_the_published_one_is_not_kept(network, tmp_path, monkeypatch):
    monkeypatch.setitem(KNOWN_FILES, "t10k-labels-idx1-ubyte.gz", "0" * 64)
    with pytest.raises(DataFileError, match="expected the published file"):
        fetch_mnist(tmp_path / "new")
    raw = tmp_path / "new" / "MNIST" / "raw"
    assert "t10k-labels-idx1-ubyte.gz" not in [path.name for path in raw.iterdir()]


def test_no_network_is_told(tmp_path, monkeypatch):
    def unreachable(url, timeout):
        raise urllib.error.URLError("no route to host")

    monkeypatch.setattr(urllib.request, "urlopen", unreachable)
    with pytest.raises(DataFileError, match=r"ubyte\.gz: cannot be fetched: no route to host"):
        fetch_mnist(tmp_path)
