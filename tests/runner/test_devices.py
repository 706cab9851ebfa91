"""Devices by name, and what a record says of the machine."""

import logging
import platform
import subprocess

import pytest
import torch

from cyclenet.runner import devices
from cyclenet.runner.devices import (
    NoSuchDevice,
    device_named,
    device_title,
    known_devices,
    revision,
    versions,
)
from cyclenet.runner.launch import rank_devices


@pytest.fixture
def with_gpus(monkeypatch):
    def gpus(count):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: count)

    return gpus


def test_the_processor_is_always_there():
    assert known_devices()[0] == "cpu"
    assert device_named("cpu") == torch.device("cpu")
    assert device_title(torch.device("cpu")) == "cpu"


def test_auto_takes_a_gpu_if_there_is_one(with_gpus, caplog):
    caplog.set_level(logging.INFO)
    with_gpus(2)
    assert known_devices() == ["cpu", "cuda:0", "cuda:1"]
    assert str(device_named("auto")) == str(device_named("cuda")) == "cuda:0"
    assert str(device_named("cuda:1")) == "cuda:1"
    assert caplog.records == []
    with_gpus(0)
    assert str(device_named("auto")) == "cpu"
    (record,) = caplog.records
    assert "no GPU" in record.getMessage()


@pytest.mark.parametrize("name", ["cuda", "cuda:7", "gpu", "", "cuda:-1", "mps"])
def test_a_device_that_is_not_there_is_refused_with_those_that_are(name, with_gpus):
    with_gpus(0)
    with pytest.raises(NoSuchDevice, match="which has: cpu") as caught:
        device_named(name)
    assert caught.value.hint == "--device auto"


def test_ranks_get_a_gpu_each_or_none(with_gpus):
    with_gpus(2)
    assert rank_devices("auto", 2) == rank_devices("cuda", 2) == ["cuda:0", "cuda:1"]
    assert rank_devices("auto", 3) == ["cpu"] * 3
    assert rank_devices("cpu", 2) == ["cpu", "cpu"]
    for name, world in (("cuda", 3), ("cuda:0", 2), ("nonsense", 2)):
        with pytest.raises(NoSuchDevice, match="cuda:1"):
            rank_devices(name, world)


def test_versions_are_those_that_run():
    found = versions()
    assert found["python"] == platform.python_version()
    assert found["torch"] == torch.__version__
    assert found["cyclenet"]


def test_the_revision_is_a_commit_or_nothing(monkeypatch):
    try:
        assert revision.__wrapped__().rstrip("+").isalnum() or revision.__wrapped__() == ""
        monkeypatch.setattr(
            devices.subprocess, "run", lambda *_, **__: (_ for _ in ()).throw(OSError)
        )
        assert revision.__wrapped__() == ""
        slow = subprocess.TimeoutExpired("git", 10)
        monkeypatch.setattr(devices.subprocess, "run", lambda *_, **__: (_ for _ in ()).throw(slow))
        assert revision.__wrapped__() == ""
    finally:
        revision.cache_clear()
