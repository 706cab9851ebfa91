"""A sealed file gives back what was put in, and any change of it is found."""

import numpy as np
import pytest
import safetensors.numpy

from cyclenet.datasets.sealed_arrays import MOST_HEADER_BYTES, check_seal, note_of, sealed

WORDS = {"format": 1, "about": {"split": "test"}}
ARRAYS = {"b": np.arange(6, dtype=np.int16).reshape(2, 3), "a": np.zeros(0, dtype=np.float32)}
NAMES = ("b", "a")


def opened(content):
    note = note_of(content)
    arrays = safetensors.numpy.load(content)
    check_seal(note, arrays, NAMES)
    return {key: note[key] for key in WORDS}, arrays


def test_words_and_arrays_come_back_and_the_bytes_are_the_same_every_time():
    content = sealed(WORDS, ARRAYS, NAMES)
    words, arrays = opened(content)
    assert words == WORDS and content == sealed(WORDS, dict(reversed(ARRAYS.items())), NAMES)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)
    assert note_of(content[:MOST_HEADER_BYTES]) == note_of(content)


@pytest.mark.parametrize("place", [-1, -12])
def test_one_other_bit_in_the_arrays_is_found(place):
    content = bytearray(sealed(WORDS, ARRAYS, NAMES))
    content[place] ^= 1
    with pytest.raises(ValueError, match="SHA-256"):
        opened(bytes(content))


def test_other_words_or_types_are_found():
    content = sealed(WORDS, ARRAYS, NAMES)
    with pytest.raises(ValueError, match="SHA-256"):
        opened(content.replace(b"test", b"tset"))
    other = ARRAYS | {"b": ARRAYS["b"].view(np.uint16)}
    with pytest.raises(ValueError, match="SHA-256"):
        check_seal(note_of(content), other, NAMES)


@pytest.mark.parametrize("content", [b"", b"\xff" * 64, bytes(64)])
def test_what_has_no_header_is_refused(content):
    with pytest.raises(ValueError, match="expected a safetensors header"):
        note_of(content)
