"""`cyclenet run` on a file of claims: each one checked, told, and written down."""

import textwrap
from collections.abc import Callable
from pathlib import Path

from cyclenet.commands.outcome import Outcome
from cyclenet.commands.plan import Plan
from cyclenet.commands.progress import progress
from cyclenet.experiments.claims import CLAIMS
from cyclenet.report.findings import FILE, Finding, findings_of, read_findings, write_findings

_WIDTH = 100


def check_claims(
    plan: Plan, results: Path, tell: Callable[[str], None], *, dry_run: bool = False
) -> Outcome:
    """Check the claims of a file, all of them anew.

    What is found is written down after each claim, so an interruption loses one check.

    Args:
        plan: A file of claims.
        results: Folder of the records.
        tell: Takes the text of each claim as soon as it is checked.
        dry_run: Only list the claims, and what is known of them.

    Returns:
        The findings. That a claim does not hold is a finding, no failure.
    """
    experiment = plan.experiment
    path = results / experiment.name / FILE
    known = {finding.check: finding for finding in read_findings(path)}
    if dry_run:
        listed = findings_of(experiment, list(known.values())).claims
        lines = [f"{one.check}: {one.holds or 'to do'}" for one in listed]
    else:
        lines = []
        claims = experiment.claims
        with progress(experiment.name, len(claims)) as meter:
            for number, claim in enumerate(claims):
                meter.at(number, claim.check)
                verdict = CLAIMS[claim.check]()
                known[claim.check] = Finding(claim.check, claim.paper, *verdict)
                write_findings(path, [known[c.check] for c in claims if c.check in known])
                tell(_told(known[claim.check]))
    found = findings_of(experiment, list(known.values()))
    result = {"experiment": experiment.name, "results": str(path), "claims": found.plain()}
    return Outcome(result, lines)


def _told(finding: Finding) -> str:
    """A claim as a paragraph: what the paper says, what is true, and the numbers."""
    rows = (("paper", finding.paper), ("found", finding.finding), ("shown by", finding.witness))
    lines = [f"{finding.check}: {finding.holds}"]
    for word, text in rows:
        lines += textwrap.wrap(text, _WIDTH, initial_indent=f"  {word}: ", subsequent_indent="    ")
    return "\n".join(lines)
