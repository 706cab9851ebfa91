"""Files are there whole or not at all."""

import os
import stat

import pytest

from cyclenet import files
from cyclenet.files import write_synced, write_whole


@pytest.mark.parametrize("content", [b"new and longer\r\n", "new, länger\n", ""])
def test_a_file_is_made_and_replaced_as_a_whole(tmp_path, content):
    path = tmp_path / "file"
    for each in ("old", content):
        write_whole(path, each)
        assert path.read_bytes() == (each if isinstance(each, bytes) else each.encode())
    assert os.listdir(tmp_path) == ["file"]


def half_written(path, content):
    write_synced(path, content[: len(content) // 2])
    raise OSError(28, "No space left on device")


def ends(*paths):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("module", "name", "cut"), [(files, "write_synced", half_written), (os, "replace", ends)]
)
def test_what_is_cut_off_leaves_the_old_file_and_nothing_beside(
    tmp_path, monkeypatch, module, name, cut
):
    path = tmp_path / "file"
    write_whole(path, "old")
    monkeypatch.setattr(module, name, cut)
    with pytest.raises((OSError, KeyboardInterrupt)):
        write_whole(path, "new and longer")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_it_is_on_the_disk_before_it_gets_its_name(tmp_path, monkeypatch):
    calls = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(
            os, name, lambda *some, name=name, real=real: (calls.append(name), real(*some))
        )
    write_whole(tmp_path / "file", "content")
    assert calls == ["fsync", "replace"]


def test_others_may_read_it_if_they_may_read_what_a_user_writes(tmp_path):
    write_whole(tmp_path / "ours", "")
    (tmp_path / "any").write_text("")
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("ours", "any")}
    assert len(modes) == 1
