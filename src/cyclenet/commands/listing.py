"""`cyclenet list`: the names there are, one line each."""

from cyclenet.commands.outcome import Outcome
from cyclenet.commands.table import aligned
from cyclenet.datasets.catalog import SOURCE_KINDS
from cyclenet.datasets.errors import UnknownName
from cyclenet.datasets.strongly_regular import FAMILIES

# One line for each command, and for its help.
COMMANDS = {
    "demo": "Compare two graphs that message passing cannot tell apart.",
    "inspect": "Show one graph, or a dataset, in numbers.",
    "list": "List the names there are.",
    "doctor": "Show versions, what is missing, and what that switches off.",
    "bench": "Measure the kernels against the bars they have to reach.",
}

TRANSFORMS = {
    "AddShortestCycleBasis": "one shortest cycle basis of each graph, as signed incidences",
    "AddRelevantCycles": "all relevant cycles, the same for every naming of the nodes",
    "AddCycleProfiles": "what the projector says of each edge, the same for every naming",
    "AddCycleProjector": "the projector on the cycle space, within blocks",
    "AddEigenspaces": "all eigenvectors of the graph Laplacian, and which share an eigenvalue",
    "LiftToRingComplex": "all cycles without a chord, up to a length, as faces",
    "LiftToCliqueComplex": "all triangles, as faces",
}

# Kinds that nothing fills yet, and what will.
_TO_COME = {
    "encoders": "none yet; modules that read cycle numbers come with `cyclenet.nn`",
    "backbones": "none yet; networks to put an encoder in front of come with `cyclenet.nn`",
    "experiments": "none yet; tables of the paper come as TOML files with `cyclenet run`",
}

KINDS = ("datasets", "transforms", "encoders", "backbones", "experiments", "commands")


def list_names(kind: str | None = None) -> Outcome:
    """The names of one kind, or of all kinds.

    Args:
        kind: One of `KINDS`, or None for all.

    Returns:
        The names.

    Raises:
        UnknownName: If there is no such kind.
    """
    if kind is not None and kind not in KINDS:
        raise UnknownName("kind", kind, KINDS, hint="cyclenet list")
    kinds = KINDS if kind is None else (kind,)
    result, lines = {}, []
    for name in kinds:
        names = _names(name)
        result[name] = [{"name": key, "about": about} for key, about in names.items()]
        body = aligned(list(names.items())) or [_TO_COME[name]]
        lines += [*([""] if lines else []), name, *(f"  {line}" for line in body)]
    return Outcome(result, lines)


def _names(kind: str) -> dict[str, str]:
    if kind == "datasets":
        kinds = {source.pattern: source.holds for source in SOURCE_KINDS}
        families = {
            f"sr:{name}": f"{family.num_graphs} graphs srg{tuple(family[1:])}"
            for name, family in FAMILIES.items()
        }
        return kinds | families
    return {"transforms": TRANSFORMS, "commands": COMMANDS}.get(kind, {})
