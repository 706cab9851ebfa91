"""Checkpoints: whole or not there, and every changed byte noticed."""

import logging
import random
import shutil

import pytest
import torch
from safetensors import SafetensorError

from cyclenet import files
from cyclenet.datasets.errors import DataFileError
from cyclenet.runner import checkpoint
from cyclenet.runner.checkpoint import KEPT, Keeper, Snapshot, cloned

FILES = ("state.json", "model.safetensors", "best.safetensors", "optim.safetensors")


def snapshot(step):
    """A training after some steps; the tensors tell which."""
    weights = {"weight": torch.full((3, 2), float(step)), "count": torch.tensor(step)}
    moments = {"0.step": torch.tensor(float(step)), "0.exp_avg": torch.rand(3, 2)}
    state = {"course": {"train_loss": [0.5, 0.25], "best_score": float("inf")}, "lr": 0.1}
    return Snapshot(step, state, weights, weights, moments)


def assert_same(one, other):
    assert one is not None
    assert (one.step, one.state) == (other.step, other.state)
    for part in ("model", "best", "optim"):
        expected = getattr(other, part)
        assert getattr(one, part).keys() == expected.keys()
        for name, value in getattr(one, part).items():
            assert torch.equal(value, expected[name])


@pytest.fixture
def written(tmp_path):
    """A folder with two checkpoints, of 10 and 20 steps."""
    keeper = Keeper(tmp_path / "checkpoint", "print", interval=0.0)
    for step in (10, 20):
        keeper.offer(snapshot(step))
    return tmp_path / "checkpoint"


def newest(folder, fingerprint="print", **options):
    return Keeper(folder, fingerprint, **options).newest()


def test_what_was_written_is_read(tmp_path):
    one = snapshot(7)
    keeper = Keeper(tmp_path, "print", interval=0.0)
    keeper.offer(one)
    assert_same(keeper.newest(), one)


def test_nothing_was_written_yet(tmp_path):
    assert newest(tmp_path / "nowhere") is None


def test_the_newest_is_read_and_latest_names_it(written):
    assert newest(written).step == 20
    assert (written / "LATEST").read_text() == "step-00000020\n"


def test_two_are_kept(tmp_path):
    keeper = Keeper(tmp_path, "print", interval=0.0)
    for step in (1, 5, 12, 100):
        keeper.offer(snapshot(step))
    folders = sorted(path.name for path in tmp_path.glob("step-*"))
    assert folders == ["step-00000012", "step-00000100"]
    assert len(folders) == KEPT


def test_between_two_checkpoints_time_passes(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(checkpoint.time, "monotonic", lambda: now[0])
    keeper = Keeper(tmp_path, "print", interval=60.0)
    for step, seconds in ((1, 30), (2, 59), (3, 61), (4, 100), (5, 122)):
        now[0] = seconds
        keeper.offer(snapshot(step))
    assert sorted(path.name[-1] for path in tmp_path.glob("step-*")) == ["3", "5"]


def test_what_was_offered_last_can_be_flushed_once(tmp_path):
    keeper = Keeper(tmp_path, "print")
    keeper.flush()
    keeper.offer(snapshot(1))
    keeper.offer(snapshot(2))
    assert newest(tmp_path) is None
    keeper.flush()
    assert newest(tmp_path).step == 2
    before = (tmp_path / "LATEST").stat().st_mtime_ns
    keeper.flush()
    assert (tmp_path / "LATEST").stat().st_mtime_ns == before


def test_only_the_first_rank_writes_and_removes(written):
    other = Keeper(written, "another", interval=0.0, rank=1, world=2)
    assert other.newest() is None
    other.offer(snapshot(30))
    other.flush()
    assert newest(written).step == 20


def damaged_copies(written, kind, number):
    """The newest checkpoint with one byte changed, or cut off, in each file in turn."""
    rng = random.Random(0)
    place = written / "step-00000020"
    for i in range(number):
        path = place / FILES[i % len(FILES)]
        content = path.read_bytes()
        if kind == "flip":
            at = rng.randrange(len(content))
            changed = bytearray(content)
            changed[at] ^= 1 << rng.randrange(8)
        else:
            changed = content[: rng.randrange(len(content))]
        path.write_bytes(changed)
        yield path
        path.write_bytes(content)


@pytest.mark.parametrize(("kind", "number"), [("flip", 200), ("cut", 50)])
def test_every_damage_is_noticed_and_the_older_one_used(written, kind, number, caplog):
    count = 0
    for path in damaged_copies(written, kind, number):
        caplog.clear()
        assert newest(written).step == 10, path
        (record,) = caplog.records
        assert record.levelno == logging.WARNING
        assert "step-00000020" in record.getMessage()
        count += 1
    assert count == number
    assert newest(written).step == 20


@pytest.mark.slow
def test_every_truncation_is_noticed(written):
    for name in FILES:
        path = written / "step-00000020" / name
        content = path.read_bytes()
        for size in range(len(content)):
            path.write_bytes(content[:size])
            assert newest(written).step == 10
        path.write_bytes(content)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_noticed(written, name):
    (written / "step-00000020" / name).unlink()
    assert newest(written).step == 10


def test_files_of_another_step_are_noticed(written):
    shutil.copy(
        written / "step-00000010" / "model.safetensors",
        written / "step-00000020" / "model.safetensors",
    )
    assert newest(written).step == 10


def test_if_all_are_damaged_it_is_an_error_that_says_what_to_do(written):
    for place in written.glob("step-*"):
        (place / "optim.safetensors").write_bytes(b"")
    with pytest.raises(DataFileError, match="damaged") as caught:
        newest(written)
    assert "--fresh" in caught.value.hint
    assert str(written) in str(caught.value)


def test_checkpoints_of_another_run_are_dropped(written, caplog):
    caplog.set_level(logging.INFO)
    assert newest(written, "another") is None
    assert "another run" in caplog.text
    assert not written.exists()


def test_whose_a_checkpoint_is_can_be_asked_without_dropping_it(written):
    assert Keeper(written, "print").has_begun()
    assert not Keeper(written, "another").has_begun()
    assert not Keeper(written / "nowhere", "print").has_begun()
    for path in written.glob("step-*/state.json"):
        path.write_bytes(b"{")
    assert not Keeper(written, "print").has_begun()
    assert len(list(written.glob("step-*"))) == 2


def test_checkpoints_of_another_format_are_dropped(written, monkeypatch):
    monkeypatch.setattr(checkpoint, "CHECKPOINT_FORMAT", 999)
    assert newest(written) is None
    assert not written.exists()


def test_another_number_of_ranks_goes_on_and_says_what_that_means(written, caplog):
    caplog.set_level(logging.INFO)
    assert newest(written, world=2).step == 20
    assert "begun on 1 ranks and continued on 2" in caplog.text


def test_a_damaged_checkpoint_is_replaced_when_its_step_comes_again(written):
    (written / "step-00000020" / "state.json").write_bytes(b"{")
    one = snapshot(20)
    Keeper(written, "print", interval=0.0).offer(one)
    assert_same(newest(written), one)


class Cut(BaseException):
    """The process ends here."""


def calls_of_a_write(monkeypatch, stop_at):
    """Everything a write does to the disk, in turn; the call numbered `stop_at` is half done."""
    calls = []

    def counted(module, name, half):
        real = getattr(module, name)

        def replacement(*arguments, **options):
            calls.append(name)
            if len(calls) == stop_at:
                half(*arguments)
                raise Cut
            return real(*arguments, **options)

        monkeypatch.setattr(module, name, replacement)

    for module in (checkpoint, files):  # its own writes, and those within `write_whole`
        counted(module, "write_synced", lambda path, content: path.write_bytes(content[:50]))
    counted(checkpoint.os, "rename", lambda *_: None)
    counted(checkpoint.os, "replace", lambda *_: None)
    counted(checkpoint.shutil, "rmtree", lambda *_: None)
    return calls


def test_a_write_that_is_cut_off_anywhere_leaves_a_whole_checkpoint(tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        calls = calls_of_a_write(patch, stop_at=0)
        keeper = Keeper(tmp_path / "whole", "print", interval=0.0)
        for step in (10, 20):
            keeper.offer(snapshot(step))
        calls.clear()
        keeper.offer(snapshot(30))
    assert len(calls) == 8
    for stop_at in range(1, len(calls) + 1):
        folder = tmp_path / str(stop_at)
        keeper = Keeper(folder, "print", interval=0.0)
        for step in (10, 20):
            keeper.offer(snapshot(step))
        with pytest.MonkeyPatch.context() as patch:
            calls_of_a_write(patch, stop_at)
            with pytest.raises(Cut):
                keeper.offer(snapshot(30))
        after_rename = stop_at > calls.index("rename") + 1
        assert newest(folder).step == (30 if after_rename else 20), calls[stop_at - 1]
        one = snapshot(30)
        Keeper(folder, "print", interval=0.0).offer(one)
        assert_same(newest(folder), one)
        assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_clones_do_not_change_with_what_they_were_cloned_from():
    module = torch.nn.Linear(2, 1)
    before = cloned(module.state_dict())
    with torch.no_grad():
        module.weight += 1
    assert not torch.equal(before["weight"], module.weight)


def test_weights_are_never_unpickled(written):
    """A pickle in the place of tensors is refused by its hash, and would be by its format."""
    path = written / "step-00000020" / "model.safetensors"
    torch.save({"weight": torch.ones(1)}, path)
    assert newest(written).step == 10
    with pytest.raises(SafetensorError):
        checkpoint.safetensors.torch.load(path.read_bytes())
