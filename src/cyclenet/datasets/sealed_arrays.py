"""Arrays in a safetensors file, words about them, and a hash that shows a change of either."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import safetensors.numpy

# A header that says it is longer is none of ours.
MOST_HEADER_BYTES = 1 << 20


def sealed(
    words: Mapping[str, Any], arrays: Mapping[str, np.ndarray], names: Iterable[str]
) -> bytes:
    """A file of arrays: the same bytes for the same arrays and words.

    Args:
        words: Plain values to keep with them.
        arrays: The arrays.
        names: Their names, in the order in which they are hashed.

    Returns:
        The file.
    """
    # One entry, since safetensors writes several in no fixed order.
    note = json.dumps({**words, "sha256": _seal(words, arrays, names)}, sort_keys=True)
    return safetensors.numpy.save(dict(arrays), metadata={"cyclenet": note})


def note_of(content: bytes) -> dict[str, Any]:
    """The words in the header of a file, and its hash under ``"sha256"``.

    Args:
        content: The file, or at least its first `MOST_HEADER_BYTES`.

    Returns:
        The words.

    Raises:
        ValueError: If there is no header of such a file.
        KeyError: If it is another program's.
    """
    size = int.from_bytes(content[:8], "little")
    if not 0 < size <= min(MOST_HEADER_BYTES, len(content) - 8):
        raise ValueError(f"expected a safetensors header, but {len(content)} bytes of others came")
    return json.loads(json.loads(content[8 : 8 + size])["__metadata__"]["cyclenet"])


def check_seal(
    note: Mapping[str, Any], arrays: Mapping[str, np.ndarray], names: Iterable[str]
) -> None:
    """Refuse arrays or words that are not those that were sealed.

    Args:
        note: What `note_of` returns.
        arrays: The arrays.
        names: As for `sealed`.

    Raises:
        ValueError: If anything was changed.
    """
    words = {key: value for key, value in note.items() if key != "sha256"}
    if _seal(words, arrays, names) != note["sha256"]:
        raise ValueError("expected the content of which it states the SHA-256, but other came")


def _seal(words: Mapping[str, Any], arrays: Mapping[str, np.ndarray], names: Iterable[str]) -> str:
    seal = hashlib.sha256(json.dumps(words, sort_keys=True).encode())
    for name in names:
        seal.update(f"{name} {arrays[name].dtype} {arrays[name].shape}".encode())
        seal.update(arrays[name].tobytes())
    return seal.hexdigest()
