import pytest

from cyclenet.topology import memory
from cyclenet.topology.errors import TooLargeError


def require(bytes_needed, max_bytes=None):
    memory.require_memory(
        "the thing", bytes_needed, num_edges=5, largest_block=3, hint="less", max_bytes=max_bytes
    )


def test_the_default_limit_is_a_quarter_of_free_memory_and_at_most_four_gigabytes(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda: 8 * 10**9)
    assert memory.default_max_bytes() == 2 * 10**9
    monkeypatch.setattr(memory, "free_bytes", lambda: 10**12)
    assert memory.default_max_bytes() == 4 * 10**9
    monkeypatch.setattr(memory, "free_bytes", lambda: None)
    assert memory.default_max_bytes() == 4 * 10**9


def test_what_is_free_is_found_on_this_machine():
    free = memory.free_bytes()
    assert free is None or free > 0


def test_a_refusal_says_what_was_needed_and_what_to_try():
    with pytest.raises(TooLargeError, match="try: less") as caught:
        require(11, max_bytes=10)
    assert caught.value.code == "too_large"
    assert (caught.value.bytes_needed, caught.value.max_bytes) == (11, 10)
    assert (caught.value.num_edges, caught.value.largest_block) == (5, 3)


def test_the_limit_itself_is_allowed():
    require(10, max_bytes=10)


def test_small_answers_are_granted_without_a_look_at_the_machine(monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", lambda: 0)
    require(memory.ALWAYS_GRANTED)
    with pytest.raises(TooLargeError):
        require(memory.ALWAYS_GRANTED + 1)


def test_a_container_may_leave_less_than_the_machine(monkeypatch, tmp_path):
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 100 kB\nMemAvailable:    50 kB\n")
    limit, used = tmp_path / "memory.max", tmp_path / "memory.current"
    monkeypatch.setattr(memory, "_MEMINFO", meminfo)
    monkeypatch.setattr(memory, "_CONTAINER_LIMITS", ((limit, used),))
    assert memory.free_bytes() == 50 * 1024
    limit.write_text("3000\n")
    used.write_text("1000\n")
    assert memory.free_bytes() == 2000
    limit.write_text("max\n")
    assert memory.free_bytes() == 50 * 1024


def test_without_a_list_of_free_memory_half_of_all_counts_or_nothing_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "absent")
    monkeypatch.setattr(memory, "_CONTAINER_LIMITS", ())
    monkeypatch.setattr(memory.os, "sysconf_names", {"SC_PHYS_PAGES": 1, "SC_PAGE_SIZE": 2})
    sizes = {"SC_PHYS_PAGES": 10, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(memory.os, "sysconf", sizes.__getitem__)
    assert memory.free_bytes() == 5 * 4096
    monkeypatch.setattr(memory.os, "sysconf_names", {})
    assert memory.free_bytes() is None
