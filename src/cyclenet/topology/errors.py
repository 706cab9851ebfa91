"""The errors of `cyclenet.topology`: what was expected, what came, what to try."""


class GraphError(ValueError):
    """A graph that cannot be taken as given.

    Args:
        message: One sentence: what was expected, what came, what to do.
        code: A stable word for programs, such as ``"node_out_of_range"``.
        graph_index: Position of the graph in a call on many graphs, or None.
        column: Offending column of the edge or arc list, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        graph_index: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.graph_index = graph_index
        self.column = column

    def __reduce__(self) -> tuple[object, ...]:
        """Survive the trip from a worker process: keyword arguments are kept."""
        return (_rebuild, (type(self), self.args, self.__dict__))


class TooManyCycles(GraphError):
    """There are more relevant cycles than the caller is ready to hold.

    Args:
        num_relevant: The exact number of relevant cycles (saturating at the int64 maximum).
        max_cycles: The cap that was exceeded.
    """

    def __init__(self, num_relevant: int, max_cycles: int) -> None:
        super().__init__(
            f"expected at most `max_cycles` = {max_cycles} relevant cycles, but the graph has "
            f"{num_relevant}; try: a larger `max_cycles`, or the shortest cycle basis",
            code="too_many_cycles",
        )
        self.num_relevant = num_relevant
        self.max_cycles = max_cycles


class TooManyFaces(GraphError):
    """A complex has more faces than the caller is ready to hold.

    Args:
        max_faces: The cap that was exceeded; counting stops there.
        max_length: Most edges of a face.
    """

    def __init__(self, max_faces: int, max_length: int) -> None:
        super().__init__(
            f"expected at most `max_faces` = {max_faces} rings of up to {max_length} edges, but "
            "the graph has more; try: a larger `max_faces`, or shorter rings",
            code="too_many_faces",
        )
        self.max_faces = max_faces
        self.max_length = max_length


class TooLargeError(GraphError):
    """The answer would not fit in the memory the caller allows; nothing was allocated.

    Args:
        what: The thing that was asked for, with its size.
        num_edges: m of the graph.
        largest_block: Number of edges of the largest block.
        bytes_needed: Memory the answer and its work space would take.
        max_bytes: The limit in force.
        hint: What to try instead.
    """

    def __init__(
        self,
        what: str,
        *,
        num_edges: int,
        largest_block: int,
        bytes_needed: int,
        max_bytes: int,
        hint: str,
    ) -> None:
        super().__init__(
            f"{what} of a graph with m = {num_edges} edges, {largest_block} of them in the largest "
            f"block, needs {bytes_needed} bytes, but the limit is {max_bytes} bytes; try: {hint}",
            code="too_large",
        )
        self.num_edges = num_edges
        self.largest_block = largest_block
        self.bytes_needed = bytes_needed
        self.max_bytes = max_bytes


def _rebuild(kind: type[GraphError], args: tuple[object, ...], state: dict) -> GraphError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error
