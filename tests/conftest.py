"""How many cases generated tests draw, whether they are the same every time, and a browser."""

import os
from collections.abc import Iterator

import pytest
from browser import Browser, program
from hypothesis import HealthCheck, settings

# The first example of a test may compile a kernel, so no example has a deadline.
_COMMON = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
    "print_blob": True,
}
settings.register_profile("quick", max_examples=100, **_COMMON)
settings.register_profile("deep", max_examples=20_000, **_COMMON)
# The same cases on every run: a change that fails is the change that broke it.
settings.register_profile("ci", max_examples=100, derandomize=True, database=None, **_COMMON)


def _profile() -> str:
    if os.environ.get("CYCLENET_TESTS") == "deep":
        return "deep"
    return "ci" if os.environ.get("CI") else "quick"


settings.load_profile(_profile())


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A real browser, the same one for all tests of a process."""
    path = program()
    if path is None:
        pytest.skip("needs a browser; try: apt-get install chromium")
    with Browser(path) as started:
        yield started
