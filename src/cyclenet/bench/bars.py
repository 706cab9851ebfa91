"""What each bar asks, in words; light enough to be read before anything is measured."""

from collections.abc import Sequence

from cyclenet.datasets.errors import UnknownName

BARS = {
    1: "molecules, shortest basis against igraph",
    2: "molecules, shortest basis against pure Python",
    3: "molecules, relevant cycles against rdkit",
    4: "molecules, shuffled node ids",
    5: "strongly regular and 4-CFI graphs, shortest basis against igraph",
    6: "small dense graphs, shortest basis against igraph",
    7: "planar graphs, shortest basis against igraph",
    8: "random graphs, shortest basis against igraph",
    9: "a grid of 9801 squares while igraph has not ended",
    10: "relevant cycles and uniqueness against the basis alone",
    11: "molecules, projectors against numpy",
    12: "larger projectors against numpy",
    13: "PEOI, forward and backward, against its formula on dense tensors",
    14: "layers from pairs to pairs against fifteen padded matrices",
    15: "basis, relevant cycles and projector against pure Python",
    16: "seconds of the first call",
    17: "two threads against one",
    19: "microseconds a transform takes beyond its kernel",
    20: "a training step with PEOI against the bare network",
    21: "a training step with contracted projectors against the bare network",
    22: "a training step with projectors on pairs against the bare network",
}


def check_ids(ids: Sequence[str]) -> None:
    """See that each id is the number of a bar.

    Args:
        ids: Numbers as the user typed them.

    Raises:
        UnknownName: If there is no bar of that number.
    """
    for text in ids:
        if text not in map(str, BARS):
            hint = f"one of {', '.join(map(str, BARS))}"
            raise UnknownName("bar", text, map(str, BARS), hint=hint)
