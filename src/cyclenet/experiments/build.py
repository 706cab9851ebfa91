"""From the words of a row to its transforms and its network, by explicit tables."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, get_type_hints

import torch
from torch_geometric.transforms import BaseTransform, Compose

from cyclenet.data import CycleData
from cyclenet.datasets.errors import UnknownName
from cyclenet.datasets.simplicial_data import trajectory_data
from cyclenet.datasets.trajectories import TrajectorySet
from cyclenet.experiments.plain import NotPlain, typed
from cyclenet.experiments.reading import SpecError
from cyclenet.experiments.spec import Experiment, Part, Row
from cyclenet.experiments.tasks import TASKS, Items, TaskKind
from cyclenet.nn import CycleNet
from cyclenet.nn.backbones import (
    BACKBONES,
    EDGE_BACKBONES,
    PNA,
    MolecularBackbone,
    mean_log_degree,
)
from cyclenet.nn.encoders import ENCODERS
from cyclenet.transforms import (
    AddCycleProfiles,
    AddCycleProjector,
    AddEigenspaces,
    AddHarmonicSums,
    AddHodgeInverse,
    AddHodgeSums,
    AddLaplacianBounds,
    AddLeadingEigenvectors,
    AddRelevantCycles,
    AddShortestCycleBasis,
    LiftToRingComplex,
)

# The published networks fill rings of up to 6 edges on strongly regular graphs, 18 on molecules.
DEFAULT_MAX_RING = 6

CYCLES: dict[str, type[BaseTransform]] = {
    "basis": AddShortestCycleBasis,
    "relevant": AddRelevantCycles,
}

# As many eigenvectors as the published networks for molecules read.
SIGNNET_VECTORS, BASISNET_VECTORS = 37, 8

# Singular vectors that Dist2Cycle reads.
HODGE_VECTORS = 10

# What a row may say that is an argument of no class: how its graphs are prepared.
PREPARATION = {"cwn": ("max_ring",), "dist2cycle": ("values",), "peoi": ("cycles",)}

# The node features of every task, by their name on a graph.
NODE_FEATURES = "x"

# Widths that follow from the task, so that a row need not repeat them.
COMPUTED = {
    "backbone": ("in_channels", "out_channels", "edge_types", "log_degree"),
    "encoder": ("num_filters",),
}

_FOR_BACKBONE: dict[str, Callable[[Part], tuple[BaseTransform, ...]]] = {
    "cwn": lambda part: (_rings(part),),
    "signnet": lambda part: (AddEigenspaces(),),
    "molecular_signnet": lambda part: (AddLeadingEigenvectors(count=SIGNNET_VECTORS),),
    **dict.fromkeys(
        ("basisnet_gin", "basisnet_gated_gcn", "basisnet_pna"),
        lambda part: (AddLeadingEigenvectors(count=BASISNET_VECTORS),),
    ),
    "flow_scn": lambda part: (AddLaplacianBounds(),),
    "dist2cycle": lambda part: (AddHodgeInverse(count=HODGE_VECTORS, values=_values(part)),),
}

_FOR_ENCODER: dict[str, Callable[[Part], tuple[BaseTransform, ...]]] = {
    "projector": lambda part: _of_matrix(part),
    "peoi": lambda part: (_choice(CYCLES, part, "cycles", "basis")(),),
    "profile": lambda part: (AddCycleProfiles(),),
}

_INPUTS = {"arcs": "P on arcs", "abs": "|P|", "single": "P, one arc"}
_SYMBOLS = {"projector": "P", "hodge": "L", "harmonic": "H", "filled_hodge": "L with faces"}
_CYCLE_INPUTS = {"basis": "X of a shortest basis", "relevant": "X of relevant cycles"}


def transforms_of(row: Row) -> tuple[BaseTransform, ...]:
    """What gives graphs the numbers that a row reads.

    Args:
        row: The row.

    Returns:
        Transforms to apply one after the other; none for message passing alone.

    Raises:
        SpecError: If an option has a value that no transform knows.
    """
    found: tuple[BaseTransform, ...] = ()
    for part, makers in ((row.backbone, _FOR_BACKBONE), (row.encoder, _FOR_ENCODER)):
        if part is not None and part.name in makers:
            try:
                found += makers[part.name](part)
            except (TypeError, ValueError) as error:
                raise SpecError(f"row {row.label!r}: {part.name}: {error}") from error
    return found


def prepared(row: Row, items: Items, *, dtype: torch.dtype = torch.float32) -> list[CycleData]:
    """Graphs with the numbers that a row reads.

    Args:
        row: The row.
        items: The graphs of a task. The complex that walks share gets its numbers once.
        dtype: Floating type of all their numbers.

    Returns:
        As many, in the same order.

    Raises:
        SpecError: If the row reads what walks do not have.
    """
    given: Any = transforms_of(row)
    transforms = [replace(transform, dtype=dtype) for transform in given]
    if isinstance(items, TrajectorySet):
        if row.encoder is not None and row.encoder.options.get("on") == "single":
            raise SpecError(
                f"row {row.label!r}: `on` must be 'abs' or 'arcs' for walks, whose test samples "
                "have directions of their own, under which sums of signed entries are not known, "
                "but it is 'single'"
            )
        return [_as_type(item, dtype) for item in trajectory_data(items, Compose(transforms))]
    ready = []
    for item in items:
        data = CycleData.from_data(item)
        for transform in transforms:
            data = transform(data)
        ready.append(_as_type(data, dtype))
    return ready


def _as_type(data: CycleData, dtype: torch.dtype) -> CycleData:
    """The graph with all its numbers in one floating type."""
    for name, value in data.to_dict().items():
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            data[name] = value.to(dtype)
    return data


def build_model(row: Row, kind: TaskKind, train: Items | None = None) -> torch.nn.Module:
    """The network of a row for a task; `forward(batch)` gives one row for each graph.

    Widths that have to match are those of the task. Beside the arguments of its class a backbone
    takes ``edge_channels = 0``, which hides the attributes of arcs from it, and an encoder
    ``out_channels``, where its width is not that of the states of nodes.

    Args:
        row: A row with a backbone.
        kind: The task.
        train: The training graphs, for the backbones that ask for a number of theirs.

    Returns:
        The network, its parameters drawn from the global generator of torch.

    Raises:
        SpecError: If an option is unknown, or has a value that the class refuses.
    """
    if row.backbone is None:
        raise SpecError(f"row {row.label!r}: must have a backbone to build a network")
    made = (BACKBONES | EDGE_BACKBONES)[row.backbone.name]
    if kind.of_edges != (row.backbone.name in EDGE_BACKBONES):
        asked = "every edge" if kind.of_edges else "graphs"
        raise SpecError(
            f"row {row.label!r}: the backbone must say something of {asked}, as the task asks, but "
            f"{row.backbone.name!r} does not"
        )
    options = _arguments("backbone", row.backbone, BACKBONES | EDGE_BACKBONES, row)
    encoder_options: dict[str, Any] = {}
    if row.encoder is not None:
        encoder_options = _arguments("encoder", row.encoder, ENCODERS, row)
        if "filters" in encoder_options:
            if encoder_options["filters"] != NODE_FEATURES:
                raise SpecError(
                    f"row {row.label!r}: `filters` must be {NODE_FEATURES!r}, the only functions "
                    f"on nodes that graphs of tasks have, but it is {encoder_options['filters']!r}"
                )
            encoder_options["num_filters"] = kind.in_channels
    hidden = {key: options.pop(key) for key in ("hidden_channels",) if key in options}
    edge_channels = options.pop("edge_channels", kind.edge_channels)
    if issubclass(made, MolecularBackbone):
        # It has a state for each type of bond, and adds the encoding to that.
        options["edge_types"], edge_channels = edge_channels or 1, 0
    if issubclass(made, PNA) and train is not None and not isinstance(train, TrajectorySet):
        options["log_degree"] = mean_log_degree(train)
    in_channels = kind.in_channels
    if row.backbone.name == "dist2cycle":
        in_channels += HODGE_VECTORS * (1 + _values(row.backbone))
    try:
        return CycleNet(
            in_channels,
            kind.out_channels,
            edge_channels=edge_channels,
            encoding_channels=encoder_options.pop("out_channels", None),
            backbone=row.backbone.name,
            encoder=None if row.encoder is None else row.encoder.name,
            backbone_options=options,
            encoder_options=encoder_options,
            **hidden,
        )
    except (TypeError, ValueError) as error:
        raise SpecError(f"row {row.label!r}: {error}") from error


def check_rows(experiment: Experiment) -> None:
    """Build the transforms and the network of every row once, before any graph is read.

    Args:
        experiment: The experiment.

    Raises:
        SpecError: If an option of a row cannot be taken as given.
    """
    seen: set[tuple[str, str]] = set()
    with torch.random.fork_rng(devices=[]), torch.device("meta"):
        for run in experiment.runs():
            place = run.row.name, run.task.name
            if run.row.backbone is not None and place not in seen:
                transforms_of(run.row)
                build_model(run.row, TASKS[run.task.name])
            seen.add(place)


def encoder_input(row: Row) -> str:
    """What the encoder of a row reads, in a few characters.

    Args:
        row: The row.

    Returns:
        Such as ``"P on arcs"``; nothing for a row without encoder.
    """
    part = row.encoder
    if part is None:
        return ""
    if part.name == "projector":
        words = _INPUTS[str(part.options.get("on", "arcs"))]
        return words.replace("P", _SYMBOLS[str(part.options.get("source", "projector"))])
    if part.name == "peoi":
        words = _CYCLE_INPUTS[str(part.options.get("cycles", "basis"))]
        return f"{words}, with coordinates" if "filters" in part.options else words
    return "profiles of P"


def _rings(part: Part) -> BaseTransform:
    max_ring: Any = part.options.get("max_ring", DEFAULT_MAX_RING)
    return LiftToRingComplex(max_length=max_ring)


def _of_matrix(part: Part) -> tuple[BaseTransform, ...]:
    """The published layers read the diagonal and the sums of the rows, and no pair of edges."""
    source = part.options.get("source")
    if source == "harmonic":
        return (AddHarmonicSums(),)
    if source == "filled_hodge":
        return (AddHodgeSums(), AddLaplacianBounds())
    contracted = part.options.get("depth") == "contracted"
    return (AddCycleProjector(pairs="none" if contracted else "blocks"),)


def _values(part: Part) -> bool:
    value = part.options.get("values", False)
    if not isinstance(value, bool):
        raise ValueError(f"`values` must be true or false, but it is {value!r}")
    return value


def _choice(table: Mapping[str, Any], part: Part, key: str, default: str) -> Any:
    value: Any = part.options.get(key, default)
    if value not in table:
        raise ValueError(f"`{key}` must be one of {tuple(table)}, but it is {value!r}")
    return table[value]


def _arguments(kind: str, part: Part, classes: Mapping[str, type], row: Row) -> dict[str, Any]:
    """The options of a part that are arguments of its class, once there are no others."""
    extra = PREPARATION.get(part.name, ())
    made = classes[part.name]
    kinds = get_type_hints(made.__init__)
    known = [*inspect.signature(made).parameters, *extra]
    known = [key for key in known if key not in COMPUTED[kind]]
    place = f"row {row.label!r}, {kind} {part.name!r}"
    options = {}
    for key, value in part.options.items():
        if key not in known:
            offer = UnknownName("option", key, known, hint="")
            raise SpecError(f"{place}: {offer} (options are {', '.join(known)})")
        if key not in extra:
            try:
                options[key] = typed(kinds[key], value)
            except NotPlain as error:
                raise SpecError(f"{place}: `{key}` {error}") from error
    return options
