"""What must be settled before `cyclenet` is imported, for `src` (doctests) and `tests` alike."""

import functools
import inspect
import os
from collections.abc import Callable

# Before numba brings numpy: tests share the machine, and equal thread counts give equal floats.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numba  # noqa: E402


def _on_plain_functions(jit: Callable) -> Callable:
    """The decorator `jit`, applied to the function inside jaxtyping's wrapper.

    The hook `--jaxtyping-packages` wraps every function of `cyclenet`, the kernels too, and numba
    can compile only the plain function inside.
    """

    @functools.wraps(jit)
    def decorate(*args, **kwargs):
        if args and inspect.isfunction(args[0]):
            return jit(inspect.unwrap(args[0]), *args[1:], **kwargs)
        decorator = jit(*args, **kwargs)
        return lambda function: decorator(inspect.unwrap(function))

    return decorate


numba.jit = _on_plain_functions(numba.jit)
numba.njit = _on_plain_functions(numba.njit)
