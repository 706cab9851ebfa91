"""Processes that are killed: the next one ends with the weights of one that was left alone."""

import os
import random
import signal
import time
from pathlib import Path

import pytest
from forked import SECONDS, result_of, started
from tiny_runs import run

from cyclenet import files
from cyclenet.experiments.record import RECORD_FILE
from cyclenet.runner import checkpoint, execute, known_record
from cyclenet.runner.execute import CHECKPOINTS, WEIGHTS

RUN = run(epochs=12)

# Calls to the disk in a write of a checkpoint, in turn: four files, the folder, LATEST, an old one.
DISK = (
    (checkpoint, "write_synced"), (files, "write_synced"), (checkpoint.os, "rename"),
    (checkpoint.os, "replace"), (checkpoint.shutil, "rmtree"),
)  # fmt: skip


def whole(results: Path) -> None:
    """The run, every epoch of it kept; slowly enough to be hit in the middle."""
    execute(RUN, results, device="cpu", interval=0.0, watch=lambda told: time.sleep(0.02))


def killed_in_a_write(results: Path, at: int) -> None:
    """The same, killed by itself inside one of its calls to the disk, half of it done."""
    left = [at]

    def deadly(real):
        def call(*arguments, **options):
            left[0] -= 1
            if left[0] == 0:
                if real is WRITE:
                    arguments[0].write_bytes(arguments[1][: len(arguments[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments, **options)

        return call

    for module, name in DISK:
        setattr(module, name, deadly(getattr(module, name)))
    whole(results)


WRITE = checkpoint.write_synced


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Weights and course of the run when nobody kills it."""
    results = tmp_path_factory.mktemp("undisturbed")
    result_of(started(whole, results))
    return (results / RUN.folder / WEIGHTS).read_bytes(), known_record(RUN, results).curve


def assert_finishes_like(undisturbed, results):
    result_of(started(whole, results))
    weights, curve = undisturbed
    assert (results / RUN.folder / WEIGHTS).read_bytes() == weights
    assert known_record(RUN, results).curve == curve


def steps(results):
    return {path.name for path in (results / RUN.folder / CHECKPOINTS).glob("step-*")}


def kill_after_a_step(results, delay):
    """Start, wait for a checkpoint that was not there, and a moment more; then kill."""
    before = steps(results)
    process = started(whole, results)
    end = time.monotonic() + SECONDS
    while steps(results) <= before and process.is_alive():
        assert time.monotonic() < end
        time.sleep(0.002)
    time.sleep(delay)
    process.kill()
    process.join(SECONDS)
    return process.exitcode == -signal.SIGKILL


def killed_at_random(undisturbed, results, kills, seed):
    rng = random.Random(seed)
    hit = sum(kill_after_a_step(results, rng.uniform(0, 0.06)) for _ in range(kills))
    assert hit == kills, "some process was done before it could be killed"
    assert not (results / RUN.folder / RECORD_FILE).exists()
    assert_finishes_like(undisturbed, results)


def test_a_training_killed_at_random_moments_ends_with_the_same_weights(undisturbed, tmp_path):
    killed_at_random(undisturbed, tmp_path, kills=4, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 26))
def test_so_does_one_killed_a_hundred_times(undisturbed, tmp_path, seed):
    killed_at_random(undisturbed, tmp_path, kills=4, seed=seed)


def assert_survives(undisturbed, results, at):
    process = started(killed_in_a_write, results, at)
    process.join(SECONDS)
    assert process.exitcode == -signal.SIGKILL
    assert_finishes_like(undisturbed, results)


@pytest.mark.parametrize("at", [2, 12, 20])
def test_so_does_one_killed_inside_the_write_of_a_checkpoint(undisturbed, tmp_path, at):
    assert_survives(undisturbed, tmp_path, at)


@pytest.mark.slow
@pytest.mark.parametrize("at", range(1, 32))
def test_so_does_one_killed_inside_any_call_to_the_disk(undisturbed, tmp_path, at):
    assert_survives(undisturbed, tmp_path, at)
