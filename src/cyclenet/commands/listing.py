"""`cyclenet list`: the names there are, one line each."""

from pathlib import Path

from cyclenet.commands.outcome import Outcome
from cyclenet.commands.table import aligned
from cyclenet.datasets.catalog import SOURCE_KINDS
from cyclenet.datasets.errors import UnknownName
from cyclenet.datasets.strongly_regular import FAMILIES
from cyclenet.experiments.reading import SpecError, read_experiment

# One line for each command, and for its help.
COMMANDS = {
    "demo": "See, encode, train and report, in about a minute; ends with a page to look at.",
    "inspect": "Show one graph, or a dataset, in numbers.",
    "run": "Run an experiment: train and test its rows, check its claims, or time its sets.",
    "table": "Print the tables of experiments from the records of their runs.",
    "report": "Write one page of everything that the records of a folder say.",
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
    "AddLaplacianBounds": "the largest eigenvalues of the Laplacians of a complex",
    "AddHodgeInverse": "entries of an inverse Laplacian on edges, and its leading vectors",
    "LiftToRingComplex": "all cycles without a chord, up to a length, as faces",
    "LiftToCliqueComplex": "all triangles, as faces",
}

ENCODERS = {
    "projector": "layers on the cycle projector, contracted as published or over pairs of edges",
    "peoi": "order-invariant sums over the cycles of a shortest basis, or over relevant cycles",
    "profile": "the profile of each edge under the projector; sound, and separates the most",
}

BACKBONES = {
    "gin": "isomorphism network with states of arcs",
    "gcn": "graph convolutions, arcs weighted by their states",
    "gat": "attention over the arcs into a node",
    "signnet": "a transformer behind eigenvectors whose signs do not matter",
    "ppgn": "products of matrices over pairs of nodes",
    "cwn": "messages between nodes, edges and rings",
    "product_gin": "isomorphism network for molecules, messages times the states of arcs",
    "gated_gcn": "convolutions for molecules, messages through gates that arcs open and close",
    "pna": "mean, maximum, minimum and spread of messages, for molecules",
    "molecular_signnet": "pna whose atoms know 37 eigenvectors up to their signs",
    "basisnet_gin": "product_gin whose atoms know the first eigenspaces",
    "basisnet_gated_gcn": "gated_gcn whose atoms know the first eigenspaces",
    "basisnet_pna": "pna whose atoms know the first eigenspaces",
    "superpixel_gcn": "the published gcn for superpixels",
    "superpixel_gat": "the published gat for superpixels",
    "scn": "Laplacian convolutions on nodes, edges and triangles",
    "scconv": "convolutions between nodes, edges and triangles",
    "sat": "attention on nodes, edges and triangles, decided by who is heard",
    "san": "attention on nodes, edges and triangles, and a Laplacian convolution",
    "flow_scn": "scn for flows along edges, whatever the directions of edges",
    "flow_scconv": "scconv for flows along edges, whatever the directions of edges",
    "flow_sat": "sat for flows along edges, whatever the directions of edges",
}

# Where experiments are looked for, and what is said where there are none.
EXPERIMENTS = Path("experiments")
_NONE = f"none: there is no TOML file in the folder {EXPERIMENTS} here"

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
        body = aligned(list(names.items())) or [_NONE]
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
    if kind == "experiments":
        return {str(path): _about(path) for path in sorted(EXPERIMENTS.glob("*.toml"))}
    return {
        "transforms": TRANSFORMS, "encoders": ENCODERS, "backbones": BACKBONES, "commands": COMMANDS
    }[kind]  # fmt: skip


def _about(path: Path) -> str:
    """What an experiment file is about; a list of names does not end at a broken one."""
    try:
        experiment = read_experiment(path)
    except SpecError as error:
        return f"cannot be run: {error}"
    return ": ".join(text for text in (experiment.paper, experiment.title) if text)
