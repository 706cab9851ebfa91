"""How many cases generated tests draw, and whether they are the same on every run."""

import os

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
