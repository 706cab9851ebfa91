"""What is replayed on a GPU is plainly called on a CPU, and compiled where something can compile.

That a replayed training is the plain one is in `test_filled`.
"""

import importlib.util
import shutil

import pytest
import torch

from cyclenet.runner.capture import Recorded, fused

CPU = torch.device("cpu")


def test_a_function_is_called_every_time_on_a_cpu():
    total = torch.zeros(1)

    def step():
        total.add_(1)
        return total.clone()

    recorded = Recorded(step, CPU, lambda: (total,))
    assert [float(recorded()) for _ in range(3)] == [1.0, 2.0, 3.0]


@pytest.mark.gpu
def test_what_is_replayed_changes_as_if_it_had_been_called():
    total = torch.zeros(1, device="cuda")

    def step():
        total.add_(1)
        return total.clone()

    recorded = Recorded(step, total.device, lambda: (total,))
    assert [float(recorded()) for _ in range(3)] == [1.0, 2.0, 3.0]


@pytest.fixture
def limits():
    """The limits of the compiler, put back afterwards."""
    config = torch._dynamo.config
    names = "recompile_limit", "accumulated_recompile_limit"
    before = {name: getattr(config, name) for name in names}
    yield config
    for name, value in before.items():
        setattr(config, name, value)


@pytest.mark.parametrize("missing", ["triton", "a compiler"])
def test_without_anything_to_compile_with_a_network_stays_what_it_is(monkeypatch, missing):
    found = None if missing == "triton" else object()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: found)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    model = torch.nn.Linear(2, 2)
    assert fused(model) is model


def test_many_rows_may_be_compiled_in_one_process(monkeypatch, limits):
    """torch stops at 8 compilations of one function, and goes on without a word, but slowly."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/cc")
    asked = []
    monkeypatch.setattr(torch, "compile", lambda model, **options: asked.append(options) or model)
    limits.recompile_limit = 8
    fused(torch.nn.Linear(2, 2))
    assert asked == [{"dynamic": False}]
    assert limits.recompile_limit >= 1000
