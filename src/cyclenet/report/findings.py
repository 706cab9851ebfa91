"""What became of the claims of an experiment: the verdicts that `cyclenet run` wrote down."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from cyclenet.datasets.errors import DataFileError
from cyclenet.experiments.spec import Experiment
from cyclenet.files import write_whole

FILE = "claims.json"

_KEYS = ("check", "paper", "holds", "finding", "witness")


@dataclass(frozen=True, slots=True)
class Finding:
    """One claim of the paper and what a program says of it.

    Args:
        check: Name of the check.
        paper: What the paper says, and where.
        holds: ``"yes"``, ``"no"``, ``"in part"``, or nothing if it was not checked.
        finding: One sentence: what is true.
        witness: The numbers that show it.
    """

    check: str
    paper: str
    holds: str = ""
    finding: str = ""
    witness: str = ""


@dataclass(frozen=True, slots=True)
class Findings:
    """All claims of an experiment.

    Args:
        name: Name of the experiment.
        title: Heading of the table.
        paper: The paper's name for it, or nothing.
        about: A paragraph for the reader, or nothing.
        claims: The claims, in the order of the file.
    """

    name: str
    title: str
    paper: str = ""
    about: str = ""
    claims: tuple[Finding, ...] = ()

    def plain(self) -> list[dict[str, str]]:
        """The claims for programs: one flat mapping each."""
        return [{"experiment": self.name, **asdict(claim)} for claim in self.claims]


def findings_of(experiment: Experiment, found: list[Finding]) -> Findings:
    """Join the claims of a file with what was found.

    Args:
        experiment: The file.
        found: What was found, in any order.

    Returns:
        A finding for each claim of the file; an empty one for those that were not checked.
    """
    by_check = {finding.check: finding for finding in found}
    claims = []
    for claim in experiment.claims:
        known = by_check.get(claim.check, Finding(claim.check, ""))
        claims.append(Finding(claim.check, claim.paper, known.holds, known.finding, known.witness))
    return Findings(
        experiment.name, experiment.title, experiment.paper, experiment.about, tuple(claims)
    )


def read_findings(path: Path) -> list[Finding]:
    """The findings in a file.

    Args:
        path: A `FILE`; one that is not there holds none.

    Returns:
        The findings.

    Raises:
        DataFileError: If the file is damaged or something else.
    """
    try:
        return [_finding(item) for item in _items(path)]
    except ValueError as error:
        raise DataFileError(
            f"expected a list of findings, each with the texts {', '.join(_KEYS)}, but {error}",
            path=str(path),
            hint="cyclenet run FILE.toml, which writes it anew",
        ) from None


def write_findings(path: Path, found: Iterable[Finding]) -> None:
    """Write findings whole; what `read_findings` reads.

    Args:
        path: A `FILE`; its folder is made if it is not there.
        found: The findings.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f" {json.dumps(asdict(finding))}" for finding in found]
    write_whole(path, "[\n" + ",\n".join(lines) + "\n]\n")


def _items(path: Path) -> list[object]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    items = json.loads(text)
    if not isinstance(items, list):
        raise ValueError(f"it holds a {type(items).__name__}")
    return items


def _finding(item: object) -> Finding:
    if not isinstance(item, dict) or not all(isinstance(item.get(key), str) for key in _KEYS):
        raise ValueError(f"one entry is {json.dumps(item)[:80]}")
    return Finding(*(item[key] for key in _KEYS))
