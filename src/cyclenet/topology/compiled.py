"""How the kernels of this room are compiled.

Kernels release the interpreter lock, so that graphs can be spread over threads. Only the entry
points, called from Python, are stored on disk; the inner functions are linked into them, and
leaving out the wrappers nobody calls makes the first call on a new machine shorter.
"""

import numba
import numpy as np

entry = numba.njit(nogil=True, cache=True)
inner = numba.njit(
    nogil=True,
    no_cpython_wrapper=True,  # pyright: ignore[reportCallIssue]
    no_cfunc_wrapper=True,
)

# For the small functions of the innermost loops. An array travels as seven arguments, so a call can
# take longer than what it does; the compiler, left alone, keeps some of these calls.
inlined = numba.njit(
    nogil=True,
    forceinline=True,
    no_cpython_wrapper=True,  # pyright: ignore[reportCallIssue]
    no_cfunc_wrapper=True,
)

# A variable that starts as the plain literal 0 has a type of its own at first, and every function
# it is passed to is compiled twice; one that starts as ZERO has not.
ZERO = np.int64(0)
