"""Where are the holes? Complexes on clouds of points, and how far each edge is from a hole.

The task of Table 3 (Keros et al. 2022, "Dist2Cycle"). A cloud is drawn on one torus or several, an
alpha complex grows on it, and at some moments a snapshot is taken. The target of an edge is 0
on the shortest cycles around the holes and 1 where they are farthest; where there is no hole, it is
1 everywhere. Alpha complexes come from gudhi (extra: complexes), imported when one is made.

The paper speaks of 400 complexes; its table is made of 13, snapshots of 6 clouds, some of which
are in the training and the test part alike. Here a cloud is in one part only.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from cyclenet.datasets.data_folder import DEFAULT_ROOT
from cyclenet.datasets.errors import UnknownName
from cyclenet.datasets.torus_files import kept_snapshots
from cyclenet.datasets.torus_points import FAMILIES, Family
from cyclenet.datasets.torus_snapshots import CloudOptions, TorusSnapshot

# A family that gives nothing in so many clouds will not give anything.
_MOST_CLOUDS_WITHOUT = 300


class TorusPreset(NamedTuple):
    """A data set by its size and its clouds.

    Args:
        sizes: Snapshots for training, validation and test.
        clouds: What is drawn.
    """

    sizes: tuple[int, int, int]
    clouds: CloudOptions


class TorusSplits(NamedTuple):
    """Snapshots, no two parts of which have a cloud in common.

    Args:
        train: What weights are fitted to.
        validation: What choices are made on.
        test: What is reported.
    """

    train: list[TorusSnapshot]
    validation: list[TorusSnapshot]
    test: list[TorusSnapshot]


# ``"paper"`` draws as the published program was run: with the three numbers of its command line as
# they stand there, and its slips. ``"toy"`` has the two sizes of the 13 complexes of the table.
TORUS_SETS = {
    "paper_scale": TorusPreset((280, 40, 80), CloudOptions()),
    "toy": TorusPreset((7, 0, 6), CloudOptions((10, 121), per_cloud=1, trivial=1 / 8)),
    "paper": TorusPreset(
        (7, 0, 6),
        CloudOptions((100, 121, 10), betti=None, trivial=1 / 8, as_published=True),
    ),
}


def torus_set(
    preset: str | TorusPreset = "paper_scale",
    root: str | Path | None = DEFAULT_ROOT,
    *,
    workers: int = 1,
    told: Callable[[int, int], None] | None = None,
) -> TorusSplits:
    """Snapshots of clouds on tori, drawn once and then read from the disk.

    The snapshots of each part are shared as evenly as can be by the four families. Clouds of a
    family are drawn in order and go into one part until it is full, then into the next, so no
    cloud is in two parts. Which clouds these are depends on nothing but the preset: not on
    the number of processes, and not on how often the work was interrupted and begun again.

    Args:
        preset: One of `TORUS_SETS`, or your own. With more snapshots of the same clouds, those
            that are on the disk are not made again.
        root: The folder of all data; each cloud is kept in ``tori/KEY/FAMILY-NUMBER.safetensors``,
            the key being a hash of the options. None keeps nothing.
        workers: Processes that draw clouds; 1 draws them in this one. With more, a script needs
            its ``if __name__ == "__main__"``.
        told: Called with the number of snapshots that are there and that are wanted.

    Returns:
        The snapshots.

    Raises:
        UnknownName: If there is no such preset; the message offers the nearest.
        ValueError: If no cloud of a family has a snapshot as asked for.
        MissingExtra: If gudhi is not installed and a cloud has to be drawn.
    """
    sizes, options = _preset(preset)
    root = None if root is None else Path(root)
    parts: tuple[list[TorusSnapshot], ...] = ([], [], [])
    with _mapping(workers) as mapped:
        for family, wanted in zip(FAMILIES, _shares(sizes), strict=True):
            clouds = _clouds(options, family, root, workers, mapped)
            for part, count in zip(parts, wanted, strict=True):
                _fill(part, count, clouds, family)
                if told is not None:
                    told(sum(map(len, parts)), sum(sizes))
    return TorusSplits(*parts)


def _preset(preset: str | TorusPreset) -> TorusPreset:
    if isinstance(preset, TorusPreset):
        return preset
    if preset not in TORUS_SETS:
        raise UnknownName("set of tori", preset, TORUS_SETS, hint=" or ".join(TORUS_SETS))
    return TORUS_SETS[preset]


def _shares(sizes: tuple[int, int, int]) -> list[tuple[int, ...]]:
    """How many snapshots of each part every family has: all of them dealt out in turn."""
    shares = []
    for place in range(len(FAMILIES)):
        dealt, share = 0, []
        for size in sizes:
            share.append(len(range((place - dealt) % len(FAMILIES), size, len(FAMILIES))))
            dealt += size
        shares.append(tuple(share))
    return shares


def _fill(
    part: list[TorusSnapshot],
    count: int,
    clouds: Iterator[list[TorusSnapshot]],
    family: Family,
) -> None:
    """Add so many snapshots; those that are left of the last cloud are used nowhere."""
    without = 0
    while count > 0:
        some = next(clouds)[:count]
        part += some
        count -= len(some)
        without = 0 if some else without + 1
        if without == _MOST_CLOUDS_WITHOUT:
            raise ValueError(
                f"expected snapshots with the wanted number of holes, but {without} clouds of the "
                f"family {family!r} in a row have none; try: a wider range `betti`, or other "
                "`num_points`"
            )


def _clouds(
    options: CloudOptions,
    family: Family,
    root: Path | None,
    workers: int,
    mapped: Callable[..., Iterator[list[TorusSnapshot]]],
) -> Iterator[list[TorusSnapshot]]:
    """The clouds of a family in order, without end, a few at a time."""
    at_once = workers if workers == 1 else 4 * workers
    first = 0
    while True:
        numbers = range(first, first + at_once)
        yield from mapped(partial(_of_family, options, family, root), numbers)
        first += at_once


def _of_family(
    options: CloudOptions, family: Family, root: Path | None, cloud: int
) -> list[TorusSnapshot]:
    return kept_snapshots(options, family, cloud, root)


@contextmanager
def _mapping(workers: int) -> Iterator[Callable[..., Iterator[list[TorusSnapshot]]]]:
    """`map`, here or in so many processes."""
    if workers == 1:
        yield map
        return
    # Not forked: threads of torch or numba in this process would leave locks behind.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield pool.map
