"""How much memory an answer may take, decided before any of it is allocated."""

import os
from pathlib import Path

from cyclenet.topology.errors import TooLargeError

# Without a word from the caller, an answer may take a quarter of the free memory, at most 4 GB.
FREE_SHARE = 0.25
DEFAULT_LIMIT = 4 * 10**9
# Looking up what is free takes longer than many an answer, so small ones are granted unasked.
ALWAYS_GRANTED = 16 * 10**6

_MEMINFO = Path("/proc/meminfo")
# What a container may use and what it uses, in the two versions of Linux control groups.
_CONTAINER_LIMITS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (
        Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
        Path("/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ),
)


def free_bytes() -> int | None:
    """Memory that can be taken without swapping, or None where the system does not tell.

    Inside a container the smaller of the machine's and the container's free memory counts.

    Returns:
        A number of bytes, or None.
    """
    found = [_free_of_machine()]
    found += [_free_of_container(limit, used) for limit, used in _CONTAINER_LIMITS]
    known = [count for count in found if count is not None]
    return min(known) if known else None


def default_max_bytes() -> int:
    """The limit in force where the caller gives none: 25% of free memory, at most 4 GB."""
    free = free_bytes()
    return DEFAULT_LIMIT if free is None else min(int(FREE_SHARE * free), DEFAULT_LIMIT)


def require_memory(
    what: str,
    bytes_needed: int,
    *,
    num_edges: int,
    largest_block: int,
    hint: str,
    max_bytes: int | None = None,
) -> None:
    """Refuse an answer that would not fit, while nothing has been allocated yet.

    Args:
        what: The thing asked for, as the subject of the error's sentence.
        bytes_needed: Memory the answer and its work space will take.
        num_edges: m of the graph or graphs.
        largest_block: Number of edges of the largest block.
        hint: What to try instead.
        max_bytes: The limit; None means `default_max_bytes()`.

    Raises:
        TooLargeError: If more is needed than the limit allows.
    """
    if max_bytes is None and bytes_needed <= ALWAYS_GRANTED:
        return
    limit = default_max_bytes() if max_bytes is None else max_bytes
    if bytes_needed > limit:
        raise TooLargeError(
            what,
            num_edges=num_edges,
            largest_block=largest_block,
            bytes_needed=bytes_needed,
            max_bytes=limit,
            hint=hint,
        )


def _free_of_machine() -> int | None:
    if _MEMINFO.exists():
        for line in _MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    # Systems without /proc tell how much memory there is, not how much is free: take half of it.
    names = getattr(os, "sysconf_names", {})
    if "SC_PHYS_PAGES" in names and "SC_PAGE_SIZE" in names:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return None


def _free_of_container(limit: Path, used: Path) -> int | None:
    try:
        return max(0, int(limit.read_text()) - int(used.read_text()))
    except (OSError, ValueError):  # no such container, or no limit ("max")
        return None
