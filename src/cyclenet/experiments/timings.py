"""What encodings cost on a set of graphs: the records of an experiment of `[[timing]]` tables.

All sets of an experiment are in one file, `FILE` in its folder of results. Torch-free.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from cyclenet.datasets.errors import DataFileError
from cyclenet.experiments.plain import NotPlain, from_plain
from cyclenet.files import write_whole

FILE = "timings.json"

# A reader of records refuses other formats. In format 1 the published algorithm multiplied sparse
# matrices, and numpy was not timed.
TIMINGS_FORMAT = 2

# The ways to get an encoding: ours on a PyG graph, on one graph in arrays, on all graphs in one
# call; and by others the published algorithm, and the same by numpy alone on one graph in arrays.
OUR_WAYS = ("transform", "function", "packed")
PUBLISHED, ARRAYS = "published", "arrays"
PEERS = (PUBLISHED, ARRAYS)


@dataclass(frozen=True, slots=True)
class TimedEncoding:
    """Processor seconds per graph of one encoding, for each way to get it.

    Args:
        name: One of `names.TIMED_ENCODINGS`.
        seconds: Median over the samples of each way, of `OUR_WAYS` and `PEERS`.
        least: Least over the samples.
        samples: How many samples there were.
        difference: Largest difference between an entry of ours and the published algorithm's.
    """

    name: str
    seconds: Mapping[str, float]
    least: Mapping[str, float]
    samples: Mapping[str, int]
    difference: float

    def times_faster(self, way: str, peer: str = PUBLISHED) -> float | None:
        """How many times the time of one of our ways a peer takes; below 1 ours is slower.

        Args:
            way: One of `OUR_WAYS`.
            peer: One of `PEERS`.

        Returns:
            The ratio of the medians, or None if one of the two was not timed.
        """
        ours, theirs = self.seconds.get(way), self.seconds.get(peer)
        return None if ours is None or theirs is None else theirs / ours


@dataclass(frozen=True, slots=True)
class TimedSet:
    """One set of graphs, timed or not.

    Args:
        graphs: Name of the set.
        fingerprint: `Timing.fingerprint`.
        inputs: `Timing.inputs`.
        status: ``"measured"``; ``"missing"`` if its graphs or a package are not here; ``"failed"``
            if the algorithms disagree or something broke.
        reason: What is missing or went wrong, or nothing.
        num_graphs: Number of graphs, all of which are timed with our ways and numpy.
        num_published: Number of graphs the published algorithm is timed on.
        nodes: Average number of nodes.
        edges: Average number of undirected edges.
        degree: Stored edges per node, counted as the paper does for this set.
        digest: A hash of the graphs.
        encodings: What was timed.
        seconds: Wall seconds of all of it.
        load: Load average of the machine over the last minute of it, where the system tells.
        machine: The machine, and versions.
        revision: The commit of the code, or nothing.
        finished: When, in ISO 8601 (UTC).
    """

    graphs: str
    fingerprint: str
    inputs: Mapping[str, Any]
    status: Literal["measured", "missing", "failed"]
    reason: str = ""
    num_graphs: int = 0
    num_published: int = 0
    nodes: float | None = None
    edges: float | None = None
    degree: float | None = None
    digest: str = ""
    encodings: tuple[TimedEncoding, ...] = ()
    seconds: float = 0.0
    load: float | None = None
    machine: Mapping[str, str] = field(default_factory=dict)
    revision: str = ""
    finished: str = ""

    def encoding(self, name: str) -> TimedEncoding | None:
        """One of the encodings, or None if it was not timed.

        Args:
            name: Its name.

        Returns:
            What it took.
        """
        return next((one for one in self.encodings if one.name == name), None)


def read_timings(path: Path) -> list[TimedSet]:
    """The sets in a file.

    Args:
        path: A `FILE`; one that is not there holds none.

    Returns:
        The sets.

    Raises:
        DataFileError: If the file is damaged, of another format, or something else.
    """
    hint = "move the file away: `cyclenet run` measures anew"
    try:
        text = path.read_text(encoding="utf-8")
        return _sets(json.loads(text))
    except FileNotFoundError:
        return []
    except NotPlain as error:
        place = ".".join(error.keys)
        message = f"{place}: {error}" if place else str(error)
    except ValueError as error:
        message = f"must be JSON, but {error}"
    raise DataFileError(message, path=str(path), hint=hint)


def write_timings(path: Path, sets: Iterable[TimedSet]) -> None:
    """Write sets whole; what `read_timings` reads.

    Args:
        path: A `FILE`; its folder is made if it is not there.
        sets: The sets.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(f"  {json.dumps(asdict(one), allow_nan=False)}" for one in sets)
    write_whole(path, f'{{\n "format": {TIMINGS_FORMAT},\n "sets": [\n{lines}\n ]\n}}\n')


def _sets(values: object) -> list[TimedSet]:
    if not isinstance(values, dict) or not isinstance(values.get("sets"), list):
        raise NotPlain("must hold a list under the key 'sets'")
    if values.get("format") != TIMINGS_FORMAT:
        raise NotPlain(f"must have format {TIMINGS_FORMAT}, not {values.get('format')!r}")
    sets = []
    for number, item in enumerate(values["sets"]):
        try:
            sets.append(from_plain(TimedSet, item))
        except NotPlain as error:
            raise error.below(f"sets.{number}") from None
    return sets
