"""Where files of data lie, and what may be done to have them."""

from pathlib import Path
from typing import NamedTuple

# Where data is looked for if nobody says where.
DEFAULT_ROOT = Path("data")


class DataFolder(NamedTuple):
    """What a user says of the data on the disk: with none of it said, nothing is fetched or run.

    Args:
        root: The folder in which each set looks for its files.
        download: Whether files that are missing may be fetched, into `root`.
        trust_pickle: Whether to open a pickle whose SHA-256 nobody knows. It may run any program.
    """

    root: Path = DEFAULT_ROOT
    download: bool = False
    trust_pickle: bool = False


# What is meant where nobody says anything.
DATA_HERE = DataFolder()
