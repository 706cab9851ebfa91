import copy
import pickle

import pytest

from cyclenet.topology import GraphError, TooLargeError, TooManyCycles, TooManyFaces

ERRORS = {
    "graph error": GraphError("`edges` must be so", code="edges_shape", graph_index=3, column=5),
    "bare graph error": GraphError("`num_nodes` must be so", code="num_nodes"),
    "too many cycles": TooManyCycles(1000, 10),
    "too many faces": TooManyFaces(10, 6),
    "too large": TooLargeError(
        "the projector",
        num_edges=9,
        largest_block=7,
        bytes_needed=1000,
        max_bytes=100,
        hint="a smaller graph",
    ),
}


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
def test_every_error_is_a_value_error_with_a_code(error):
    assert isinstance(error, ValueError)
    assert isinstance(error, GraphError)
    assert error.code.isidentifier()


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
@pytest.mark.parametrize(
    "trip", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy], ids=["pickle", "copy"]
)
def test_errors_survive_the_trip_from_a_worker(error, trip):
    arrived = trip(error)
    assert type(arrived) is type(error)
    assert str(arrived) == str(error)
    assert vars(arrived) == vars(error)


def test_too_many_cycles_says_how_many_and_what_to_try():
    error = ERRORS["too many cycles"]
    assert (error.num_relevant, error.max_cycles) == (1000, 10)
    for part in ("1000", "10", "try:"):
        assert part in str(error)


def test_too_many_faces_says_the_limits_and_what_to_try():
    error = ERRORS["too many faces"]
    assert (error.max_faces, error.max_length) == (10, 6)
    for part in ("`max_faces` = 10", "up to 6 edges", "try:"):
        assert part in str(error)


def test_too_large_says_the_sizes_and_what_to_try():
    message = str(ERRORS["too large"])
    for part in ("the projector", "m = 9", "7", "1000 bytes", "100 bytes", "try: a smaller graph"):
        assert part in message
