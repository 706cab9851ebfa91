"""Bad input on purpose: the shape checks of the tests step aside, the function answers itself."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from jaxtyping import config


@contextmanager
def unchecked() -> Iterator[None]:
    """No run-time check of annotations inside: what a user without our test suite gets."""
    before = config.jaxtyping_disable
    config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        config.update("jaxtyping_disable", before)


@contextmanager
def refused(kind: type[Exception], says: str, code: str | None = None) -> Iterator[object]:
    """The block raises `kind` itself, in words that match `says`, with the code `code`."""
    with unchecked(), pytest.raises(kind, match=says) as caught:
        yield caught
    assert caught.type is kind
    if code is not None:
        assert caught.value.code == code
