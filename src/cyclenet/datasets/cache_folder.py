"""Where files go that we made of others and that cannot lie beside them."""

import os
from pathlib import Path

CACHE_VARIABLE = "CYCLENET_HOME"


def cache_folder() -> Path:
    """The folder that the variable CYCLENET_HOME names, or ``~/.cache/cyclenet`` if it names none.

    Returns:
        The folder, which need not be there.
    """
    chosen = os.environ.get(CACHE_VARIABLE)
    shared = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(chosen) if chosen else Path(shared) / "cyclenet"
