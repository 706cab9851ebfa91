"""Trainings on several processes, launched as `cyclenet run --ddp` launches them."""

import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path

import pytest
from forked import SECONDS
from tiny_runs import run

from cyclenet.runner import Busy, RankLost, execute, execute_on_ranks, known_record
from cyclenet.runner.execute import CHECKPOINTS, WEIGHTS, claimed


def children() -> set[int]:
    """The processes that this one has started and that import the runner: its ranks."""
    found = set()
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(place.read_text().rpartition(")")[2].split()[1])
            words = (place.parent / "cmdline").read_text()
        except OSError:
            continue
        if parent == os.getpid() and "spawn_main" in words:
            found.add(int(place.parent.name))
    return found


def test_two_processes_make_one_record_and_tell_of_every_epoch(tmp_path):
    one = run(epochs=3)
    seen = []
    record = execute_on_ranks(one, tmp_path, world=2, device="cpu", watch=seen.append)
    assert [told.epoch for told in seen] == [1, 2, 3]
    assert record == known_record(one, tmp_path)
    assert record.details["ranks"] == 2
    assert (tmp_path / one.folder / WEIGHTS).exists()
    assert not (tmp_path / one.folder / CHECKPOINTS).exists()
    alone = execute(one, tmp_path / "alone", device="cpu")
    assert record.curve.train_loss == pytest.approx(alone.curve.train_loss, rel=1e-3)
    assert record.fingerprint == alone.fingerprint
    # Done is done, on however many processes.
    assert execute_on_ranks(one, tmp_path, world=3, device="cpu") == record
    assert execute(one, tmp_path, device="cpu") == record


def test_a_run_that_another_process_is_at_is_busy(tmp_path):
    with claimed(run(), tmp_path), pytest.raises(Busy):
        execute_on_ranks(run(), tmp_path, world=2, device="cpu")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc to find the ranks")
def test_a_lost_rank_ends_the_run_which_goes_on_when_it_is_asked_for_again(tmp_path):
    one = run(epochs=3000)
    lost = []

    def kill_one_rank():
        folder = tmp_path / one.folder / CHECKPOINTS
        end = time.monotonic() + SECONDS
        while not list(folder.glob("step-*")) and time.monotonic() < end:
            time.sleep(0.01)
        lost.append(max(children()))
        os.kill(lost[0], signal.SIGKILL)

    killer = threading.Thread(target=kill_one_rank)
    killer.start()
    with pytest.raises(RankLost, match="was lost"):
        execute_on_ranks(one, tmp_path, world=2, device="cpu", interval=0.2)
    killer.join()
    assert not children()
    assert list((tmp_path / one.folder / CHECKPOINTS).glob("step-*"))

    class Enough(BaseException):
        """It has gone on."""

    seen = []

    def watch(told):
        seen.append(told.epoch)
        raise Enough

    with pytest.raises(Enough):
        execute(one, tmp_path, device="cpu", watch=watch)
    assert seen[0] > 1


def launched(results: Path) -> None:
    """A training on two ranks, every epoch of it kept."""
    execute_on_ranks(run(epochs=60), results, world=2, device="cpu", interval=0.0)


@pytest.mark.slow
def test_ranks_whose_launcher_is_killed_end_and_are_continued_to_the_same_weights(tmp_path):
    one = run(epochs=60)
    launched(tmp_path / "whole")
    for _ in range(3):
        before = set((tmp_path / one.folder / CHECKPOINTS).glob("step-*"))
        # Daemons may have no children, so this is no `forked` process.
        launcher = multiprocessing.get_context("spawn").Process(target=launched, args=(tmp_path,))
        launcher.start()
        end = time.monotonic() + SECONDS
        while set((tmp_path / one.folder / CHECKPOINTS).glob("step-*")) <= before:
            assert time.monotonic() < end
            time.sleep(0.005)
        launcher.kill()
        launcher.join(SECONDS)
        assert launcher.exitcode == -signal.SIGKILL
    launched(tmp_path)
    weights = [
        (root / one.folder / WEIGHTS).read_bytes() for root in (tmp_path, tmp_path / "whole")
    ]
    assert weights[0] == weights[1]
    assert known_record(one, tmp_path).curve == known_record(one, tmp_path / "whole").curve
