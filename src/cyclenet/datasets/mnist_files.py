"""MNIST on the disk (LeCun, Cortes and Burges): 70,000 images of digits in the idx format.

An idx file says what its numbers are, how many axes they have and how long these are, big-endian,
and then come the numbers. None of it is believed before it has been compared with what is there.
"""

import gzip
import hashlib
import logging
import math
import urllib.request
import zlib
from http.client import HTTPException
from io import BufferedIOBase
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import UInt8

from cyclenet.datasets.data_folder import DEFAULT_ROOT
from cyclenet.datasets.errors import BadArgument, DataFileError
from cyclenet.files import write_whole

_log = logging.getLogger(__name__)

MnistPart = Literal["train", "test"]
MNIST_PARTS: tuple[MnistPart, ...] = get_args(MnistPart)

# What each part is called in the names of the files.
RAW_NAMES: dict[MnistPart, str] = {"train": "train", "test": "t10k"}

NUM_DIGITS = 10

# SHA-256 of the published files, and an address that has them.
_HASHES = {
    "train-images-idx3": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    "train-labels-idx1": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    "t10k-images-idx3": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    "t10k-labels-idx1": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
}
KNOWN_FILES = {f"{stem}-ubyte.gz": found for stem, found in _HASHES.items()}
ADDRESS = "https://ossci-datasets.s3.amazonaws.com/mnist/"

# No published file is longer. Who sends more is cut off.
_MOST_BYTES = 16_000_000

# An idx file may claim as much; a set of images that is larger is none that we know.
_MOST_NUMBERS = 1 << 30

# The code of bytes in an idx file, the only kind of number that MNIST has.
_BYTES = 8

_PIECE = 1 << 20

_IF_MISSING = (
    "put the four files of MNIST there, train-images-idx3-ubyte.gz and so on, name the folder with "
    "--data, or have them fetched: --download (in Python download=True)"
)


class RawImages(NamedTuple):
    """The two files of a part.

    Args:
        images: The images.
        labels: The digit that each of them shows.
    """

    images: Path
    labels: Path


def mnist_images(
    part: str, root: str | Path = DEFAULT_ROOT
) -> tuple[UInt8[np.ndarray, "b h w"], UInt8[np.ndarray, " b"]]:
    """The images of MNIST and what they show, from files that are here.

    Args:
        part: ``"train"`` or ``"test"``.
        root: A folder in which ``MNIST/raw`` or ``raw`` holds the four published files, as they
            are or unpacked.

    Returns:
        The images, 0 for black and 255 for white, and the digit of each.

    Raises:
        BadArgument: If there is no such part.
        DataFileError: If a file is missing, damaged, or does not fit the other.
    """
    raw = raw_images(part_named(part), root)[1]
    images, labels = read_idx(raw.images, axes=3), mnist_labels(part, root)
    if images.shape[0] != labels.shape[0]:
        raise DataFileError(
            f"expected {images.shape[0]} labels, one for each image of {raw.images.name}, but "
            f"{labels.shape[0]} came",
            path=str(raw.labels),
        )
    return images, labels


def mnist_labels(part: str, root: str | Path = DEFAULT_ROOT) -> UInt8[np.ndarray, " b"]:
    """What the images of MNIST show, without the images.

    Args:
        part: ``"train"`` or ``"test"``.
        root: As for `mnist_images`.

    Returns:
        The digit of each.

    Raises:
        BadArgument: If there is no such part.
        DataFileError: If a file is missing or damaged.
    """
    raw = raw_images(part_named(part), root)[1]
    labels = read_idx(raw.labels, axes=1)
    if labels.size and labels.max() >= NUM_DIGITS:
        raise DataFileError(
            f"expected digits from 0 to {NUM_DIGITS - 1}, but {labels.max()} came for image "
            f"{labels.argmax()}",
            path=str(raw.labels),
        )
    return labels


def part_named(name: str) -> MnistPart:
    """A part by its name.

    Args:
        name: What it is called.

    Returns:
        The same.

    Raises:
        BadArgument: If there is no such part.
    """
    for part in MNIST_PARTS:
        if name == part:
            return part
    raise BadArgument(f"expected one of {', '.join(MNIST_PARTS)}, but the part {name!r} came")


def raw_images(part: MnistPart, root: str | Path) -> tuple[Path, RawImages]:
    """Where the files of a part are.

    Args:
        part: The part.
        root: As for `mnist_images`.

    Returns:
        The folder that holds the folder `raw`, and the two files.

    Raises:
        DataFileError: If one of them is missing; both places are named.
    """
    folders = [Path(root) / "MNIST", Path(root)]
    stems = [f"{RAW_NAMES[part]}-images-idx3-ubyte", f"{RAW_NAMES[part]}-labels-idx1-ubyte"]
    for folder in folders:
        found = [_file(folder / "raw", stem) for stem in stems]
        if found[0] is not None and found[1] is not None:
            return folder, RawImages(found[0], found[1])
    raise DataFileError(
        f"expected {stems[0]} and {stems[1]} of MNIST, plain or as .gz, in {folders[0] / 'raw'} or "
        f"{folders[1] / 'raw'}, but they are in neither",
        hint=_IF_MISSING,
    )


def read_idx(path: str | Path, *, axes: int) -> np.ndarray:
    """The bytes of an idx file, plain or packed with gzip.

    Args:
        path: The file.
        axes: How many axes it must have.

    Returns:
        An array of bytes.

    Raises:
        DataFileError: If the file cannot be read, is no idx file of bytes, or holds more or less
            than its header says.
    """
    path = Path(path)
    try:
        with path.open("rb") as plain:
            packed = plain.read(2) == b"\x1f\x8b"
            plain.seek(0)
            if not packed:
                return _read(plain, axes)
            with gzip.GzipFile(fileobj=plain) as unpacked:
                return _read(unpacked, axes)
    except EOFError:
        message = "expected a whole gzip file, but it ends too early"
    except (gzip.BadGzipFile, zlib.error) as error:
        message = f"expected a whole gzip file, but it is damaged: {error}"
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
    except ValueError as error:
        message = str(error)
    raise DataFileError(message, path=str(path), hint="get the file again")


def fetch_mnist(root: str | Path) -> None:
    """Fetch the four files of MNIST, those that are not here yet.

    Args:
        root: The folder in which ``MNIST/raw`` gets them, unless they are in ``raw``.

    Raises:
        DataFileError: If one cannot be fetched, or is not the published one.
    """
    for part in MNIST_PARTS:
        try:
            raw_images(part, root)
        except DataFileError:
            folder = Path(root) / "MNIST" / "raw"
            folder.mkdir(parents=True, exist_ok=True)
            for name in KNOWN_FILES:
                if name.startswith(RAW_NAMES[part]) and not (folder / name).exists():
                    write_whole(folder / name, _fetched(name))


def _file(folder: Path, stem: str) -> Path | None:
    """A file as it is or packed, whichever is there; None if neither is."""
    both = (folder / stem, folder / f"{stem}.gz")
    return next((path for path in both if path.is_file()), None)


def _read(file: BufferedIOBase, axes: int) -> np.ndarray:
    """The array of an idx file; ValueError if it is none."""
    size = 4 + 4 * axes
    header = file.read(size)
    if len(header) < size:
        raise ValueError(f"expected a header of {size} bytes, but {len(header)} bytes came in all")
    magic = bytes((0, 0, _BYTES, axes))
    if header[:4] != magic:
        raise ValueError(
            f"expected an idx file of bytes with {axes} axes, which starts with {magic.hex()}, but "
            f"{header[:4].hex()} came"
        )
    shape = tuple(int(length) for length in np.frombuffer(header[4:], dtype=">u4"))
    count = math.prod(shape)
    if count > _MOST_NUMBERS:
        raise ValueError(f"expected at most {_MOST_NUMBERS} bytes, but {shape} are {count}")
    # Piece by piece, since nothing is known yet of how much there really is.
    content = bytearray()
    while len(content) < count:
        piece = file.read(min(count - len(content), _PIECE))
        if not piece:
            found = size + len(content)
            raise ValueError(f"expected {size + count} bytes for {shape}, but found {found}")
        content += piece
    if file.read(1):
        raise ValueError(f"expected {size + count} bytes for {shape}, but more came")
    return np.frombuffer(content, dtype=np.uint8).reshape(shape)


def _fetched(name: str) -> bytes:
    _log.info(f"fetching {ADDRESS}{name}")
    try:
        with urllib.request.urlopen(ADDRESS + name, timeout=60) as answer:
            content = answer.read(_MOST_BYTES)
    except (OSError, HTTPException) as error:
        said = getattr(error, "reason", None) or error
        message = f"cannot be fetched: {said}"
        raise DataFileError(message, path=ADDRESS + name, hint=_IF_MISSING) from None
    found = hashlib.sha256(content).hexdigest()
    if found != KNOWN_FILES[name]:
        raise DataFileError(
            f"expected the published file, whose SHA-256 is {KNOWN_FILES[name]}, but one with "
            f"{found} came",
            path=ADDRESS + name,
            hint=_IF_MISSING,
        )
    return content
