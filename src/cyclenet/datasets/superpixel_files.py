"""Superpixel complexes on the disk: made of MNIST once, in pieces, by as many processes as wanted.

Making 70,000 of them takes minutes, so they are kept in files of a thousand each. A file is there
whole or not at all; who is killed has lost the pieces that were being made, and goes on with the
others. What is in a file depends on the images alone, not on who makes it, or how many do, to the
last bit if linear algebra has one thread: with more, float32 may differ in its last digit.
"""

import hashlib
import logging
import multiprocessing
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors
import safetensors.numpy
from jaxtyping import Integer, UInt8
from safetensors import SafetensorError

from cyclenet.datasets.cache_folder import CACHE_VARIABLE, cache_folder
from cyclenet.datasets.data_folder import DEFAULT_ROOT
from cyclenet.datasets.errors import DataFileError, MissingExtra
from cyclenet.datasets.mnist_files import (
    MnistPart,
    mnist_images,
    mnist_labels,
    part_named,
    raw_images,
)
from cyclenet.datasets.sealed_arrays import MOST_HEADER_BYTES, check_seal, note_of, sealed
from cyclenet.datasets.superpixels import (
    ARRAYS,
    SuperpixelComplexes,
    pack_complexes,
    superpixel_complex,
)
from cyclenet.files import write_whole

_log = logging.getLogger(__name__)

# Raised with every change of what a complex is or of what a file holds.
SUPERPIXELS_FORMAT = 1

# Images of one file: some 8 MB, and seconds to make.
SHARD = 1000

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

# What reading a file that holds something else may end in.
_WRONG = (SafetensorError, KeyError, TypeError, ValueError, RecursionError, OSError)

# What a user may watch: how many images of a part are ready, of how many.
Progress = Callable[[int, int], None]


class _Shard(NamedTuple):
    """Some images of a part, and the file that their complexes go to."""

    first: int
    last: int
    path: Path
    about: dict[str, str]


def make_superpixels(
    part: str,
    root: str | Path = DEFAULT_ROOT,
    *,
    processes: int = 1,
    progress: Progress | None = None,
) -> list[Path]:
    """See that the complexes of all images of a part are on the disk; make those that are not.

    They go to `cyclenet/superpixels` beside the folder `raw`, or if that cannot be written to, to
    the folder that the variable CYCLENET_HOME names (``~/.cache/cyclenet`` if it names none).
    Files of other images, or made with another version of scikit-image, are made again.

    Args:
        part: ``"train"`` or ``"test"``.
        root: As for `mnist_images`.
        processes: How many processes make them. They are started anew, so a script that asks for
            more than one needs the usual ``if __name__ == "__main__"``.
        progress: Called with the number of images that are ready and that of all, at the start
            and after each file.

    Returns:
        The files, in the order of the images.

    Raises:
        BadArgument: If there is no such part.
        DataFileError: If files of MNIST are missing or damaged, or no folder can be written to.
        MissingExtra: If something has to be made and scikit-image is not installed.
    """
    return [shard.path for shard in _ready(part, root, processes, progress, looks_inside=True)]


def read_superpixels(
    part: str,
    root: str | Path = DEFAULT_ROOT,
    *,
    ids: Integer[np.ndarray, " c"] | None = None,
    names: Sequence[str] = ARRAYS,
    processes: int = 1,
    progress: Progress | None = None,
) -> SuperpixelComplexes:
    """The superpixel complexes of MNIST, made first where they have not been.

    Args:
        part: ``"train"`` or ``"test"``.
        root: As for `mnist_images`.
        ids: Numbers of the images that are wanted, ascending; None for all.
        names: The arrays that are wanted: encodings that nobody reads need not be held.
        processes: As for `make_superpixels`.
        progress: As for `make_superpixels`.

    Returns:
        The complexes in the order of the images.

    Raises:
        BadArgument: If there is no such part.
        DataFileError: As `make_superpixels`, or if a file is damaged meanwhile.
        MissingExtra: As `make_superpixels`.
        ValueError: If `ids` do not ascend, or are no images.
    """
    shards = _ready(part, root, processes, progress, looks_inside=False)
    total = shards[-1].last if shards else 0
    wanted = np.arange(total) if ids is None else np.asarray(ids, dtype=np.int64)
    if wanted.size and (wanted[0] < 0 or wanted[-1] >= total or (np.diff(wanted) <= 0).any()):
        raise ValueError(f"`ids` must ascend from 0 to {total - 1} at most, but they do not")
    parts = [(wanted[(wanted >= each.first) & (wanted < each.last)], each) for each in shards]
    return _joined([(ids, shard) for ids, shard in parts if ids.size], names)


def superpixels_to_bytes(complexes: SuperpixelComplexes, about: Mapping[str, str]) -> bytes:
    """A safetensors file of complexes: the same bytes for the same complexes and words.

    Args:
        complexes: The complexes, with all arrays.
        about: Words to keep with them.

    Returns:
        The file, with a hash by which `superpixels_from_bytes` finds any change of it.
    """
    arrays = {name: np.ascontiguousarray(complexes.arrays[name]) for name in ARRAYS}
    words = {"format": SUPERPIXELS_FORMAT, "about": dict(about)}
    return sealed(words, arrays, ARRAYS)


def superpixels_from_bytes(
    content: bytes, about: Mapping[str, str], *, path: str | None = None
) -> SuperpixelComplexes:
    """What `superpixels_to_bytes` made a file of.

    Args:
        content: The file.
        about: The words that must have been kept with it.
        path: Its name, for error messages.

    Returns:
        The complexes.

    Raises:
        DataFileError: If the file is none of ours, was changed, or holds something else.
    """
    try:
        return _opened(content, about)
    except _WRONG as caught:
        error = _damaged(caught, path)
    raise error


def _ready(
    part: str, root: str | Path, processes: int, progress: Progress | None, *, looks_inside: bool
) -> list[_Shard]:
    """All pieces of a part, on the disk; damage that only a look inside shows can be left."""
    chosen = part_named(part)
    shards = _shards(chosen, root)
    missing = [shard for shard in shards if not _is_kept(shard, looks_inside)]
    total = shards[-1].last if shards else 0
    ready = total - sum(shard.last - shard.first for shard in missing)
    if progress is not None:
        progress(ready, total)
    if missing:
        _check_scikit_image()
        _log.info(f"cutting {total - ready} of {total} images of MNIST into superpixels")
        for shard in _made(mnist_images(chosen, root), missing, processes):
            ready += shard.last - shard.first
            _log.info(f"{shard.path}: written; {ready} of {total} images are ready")
            if progress is not None:
                progress(ready, total)
    return shards


def _shards(part: MnistPart, root: str | Path) -> list[_Shard]:
    """All pieces of a part, each with the file that it is in, or is to be written to."""
    folder, raw = raw_images(part, root)
    total = len(mnist_labels(part, root))
    about = {
        "part": part,
        "images": _hash_of(raw.images),
        "labels": _hash_of(raw.labels),
        "scikit-image": _version(),
    }
    ranges = [(first, min(first + SHARD, total)) for first in range(0, total, SHARD)]
    names = [f"{part}-{first:05d}.safetensors" for first, _ in ranges]
    key = hashlib.sha256(f"{about['images']} {about['labels']}".encode()).hexdigest()[:16]
    places = [folder / "cyclenet" / "superpixels", cache_folder() / "superpixels" / key]
    home = next((place for place in places if _is_complete(place, names)), None)
    home = home or next((place for place in places if _can_be_written(place)), None)
    if home is None:
        raise DataFileError(
            f"expected a folder for about {total * 8 // 1000 + 1} MB of superpixels, but neither "
            f"{places[0]} nor {places[1]} can be written to",
            hint=f"{CACHE_VARIABLE}=FOLDER",
        )
    return [
        _Shard(first, last, home / name, about | {"first": str(first), "last": str(last)})
        for (first, last), name in zip(ranges, names, strict=True)
    ]


def _joined(
    parts: Sequence[tuple[np.ndarray, _Shard]], names: Sequence[str]
) -> SuperpixelComplexes:
    """Some images of each of some pieces.

    Room is taken for all that the pieces have, but a machine gives memory only to what is written:
    so there is never more than what is wanted and one piece.

    Returns:
        The images, with the arrays of these names.
    """
    nothing = pack_complexes([], np.zeros(0, np.uint8)).arrays
    rows = {name: sum(_num_rows(shard, name) for _, shard in parts) for name in names}
    arrays = {name: np.empty((rows[name], *nothing[name].shape[1:]), nothing[name].dtype)
              for name in names}  # fmt: skip
    filled = dict.fromkeys(names, 0)
    for ids, shard in parts:
        complexes = _read(shard).chosen(ids - shard.first, names)
        for name, array in complexes.arrays.items():
            arrays[name][filled[name] : filled[name] + len(array)] = array
            filled[name] += len(array)
    return SuperpixelComplexes({name: arrays[name][: filled[name]] for name in names})


def _num_rows(shard: _Shard, name: str) -> int:
    """What the header of a file says, which is compared with the rest of it when that is read."""
    try:
        with safetensors.safe_open(shard.path, framework="numpy") as file:
            return file.get_slice(name).get_shape()[0]
    except _WRONG as error:
        raise _damaged(error, str(shard.path)) from None


def _is_complete(place: Path, names: Sequence[str]) -> bool:
    return all((place / name).is_file() for name in names)


def _can_be_written(place: Path) -> bool:
    try:
        place.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=place).close()  # several processes may ask at a time
    except OSError as error:
        _log.info(f"{place}: cannot be written: {error.strerror or error}")
        return False
    return True


def _is_kept(shard: _Shard, looks_inside: bool) -> bool:
    """Whether the file of a piece is there and need not be made again."""
    if not shard.path.is_file():
        return False
    try:
        if looks_inside:
            _read(shard)
        else:
            with shard.path.open("rb") as file:
                _note(file.read(MOST_HEADER_BYTES), shard.about)
    except DataFileError as error:
        _log.warning(f"{error}; it is made again")
        return False
    except _WRONG as error:
        _log.warning(f"{_damaged(error, str(shard.path))}; it is made again")
        return False
    return True


def _read(shard: _Shard) -> SuperpixelComplexes:
    try:
        content = shard.path.read_bytes()
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise DataFileError(message, path=str(shard.path)) from None
    return superpixels_from_bytes(content, shard.about, path=str(shard.path))


def _made(
    images_and_labels: tuple[UInt8[np.ndarray, "b h w"], UInt8[np.ndarray, " b"]],
    missing: Sequence[_Shard],
    processes: int,
) -> Iterator[_Shard]:
    """Make pieces and write them, each by one process; they come as they are done."""
    images, labels = images_and_labels
    work = [
        (shard, images[shard.first : shard.last], labels[shard.first : shard.last])
        for shard in missing
    ]
    if processes <= 1 or len(missing) <= 1:
        for shard, *given in work:
            _make(shard, *given)
            yield shard
        return
    # Processes that are started anew inherit no threads, which a fork of torch would not survive.
    fresh = multiprocessing.get_context("spawn")
    with ExitStack() as stack:
        pool = ProcessPoolExecutor(min(processes, len(missing)), mp_context=fresh)
        stack.callback(pool.shutdown, wait=True, cancel_futures=True)
        with _one_thread_each():
            running = {pool.submit(_make, *each): each[0] for each in work}
        while running:
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                done.result()
                yield running.pop(done)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes that are started inside compute with one thread, unless the user says otherwise.

    Threads of linear algebra are slow on matrices as small as ours, and slower beside others.
    """
    mine = [name for name in _THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(mine, "1"))
    try:
        yield
    finally:
        for name in mine:
            del os.environ[name]


def _make(
    shard: _Shard, images: UInt8[np.ndarray, "b h w"], labels: UInt8[np.ndarray, " b"]
) -> None:
    complexes = pack_complexes((superpixel_complex(image) for image in images), labels)
    content = superpixels_to_bytes(complexes, shard.about)
    try:
        write_whole(shard.path, content)
    except OSError as error:
        message = f"cannot be written, {len(content)} bytes: {error.strerror or error}"
        raise DataFileError(message, path=str(shard.path)) from None


def _opened(content: bytes, about: Mapping[str, str]) -> SuperpixelComplexes:
    note = _note(content, about)
    arrays = safetensors.numpy.load(content)
    if set(arrays) != set(ARRAYS):
        raise ValueError(f"expected the arrays {', '.join(ARRAYS)}, but {sorted(arrays)} came")
    check_seal(note, arrays, ARRAYS)
    return SuperpixelComplexes(arrays)


def _note(content: bytes, about: Mapping[str, str]) -> dict[str, Any]:
    """Our words in the header of a file, if they are the right ones."""
    note = note_of(content)
    stated = dict(note["about"])
    expected = dict(about)
    if not expected["scikit-image"]:  # nobody here could make it again with another version
        expected["scikit-image"] = stated.get("scikit-image", "")
    if (note["format"], stated) != (SUPERPIXELS_FORMAT, expected):
        wrong = {key: stated.get(key) for key in expected if stated.get(key) != expected[key]}
        right = {key: expected[key] for key in wrong}
        raise ValueError(
            f"expected format {SUPERPIXELS_FORMAT} and {right}, but format {note['format']} and "
            f"{wrong} came"
        )
    return note


def _damaged(error: Exception, path: str | None) -> DataFileError:
    said = str(error) if type(error) is ValueError else f"{type(error).__name__}: {error}"
    message = f"damaged, or no file of these complexes: {said}"
    return DataFileError(message, path=path, hint="delete it, and it is made again")


def _hash_of(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise DataFileError(message, path=str(path)) from None


def _version() -> str:
    """The version of scikit-image, found without loading it; empty if it is not installed."""
    try:
        return metadata.version("scikit-image")
    except metadata.PackageNotFoundError:
        return ""


def _check_scikit_image() -> None:
    """Refuse now and not in some process."""
    try:
        import skimage  # noqa: F401
    except ImportError:
        raise MissingExtra(
            "scikit-image", extra="complexes", needed_for="cutting images into superpixels"
        ) from None
