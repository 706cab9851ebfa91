"""Files that are there whole or not at all; standard library only, so every room may write them."""

import os
import uuid
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Write beside the file, to the disk, and rename: a crash leaves the old one or the new one.

    What a process that is killed leaves beside it starts with a dot, ends with ``.tmp``, and is
    read by nobody.

    Args:
        path: The file; its folder is there.
        content: What it is to hold; text is written as UTF-8.
    """
    draft = path.with_name(f".{uuid.uuid4().hex}.tmp")
    try:
        write_synced(draft, content.encode() if isinstance(content, str) else content)
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def write_synced(path: Path, content: bytes) -> None:
    """Write a file and wait until it is on the disk.

    Args:
        path: The file.
        content: What it is to hold.
    """
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
