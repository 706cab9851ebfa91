"""Kernels run by the interpreter: the same source, with every index checked."""

import inspect
from collections.abc import Callable
from types import FunctionType

from numba.core.dispatcher import Dispatcher


def interpreted(kernel: Callable) -> Callable:
    """The python function behind a kernel, in which the kernels it calls are python too.

    Compiled code does not look whether an index is inside an array, and inner kernels cannot be
    called from outside at all. A plain function that calls kernels is taken too.
    """
    known: dict[Callable, FunctionType] = {}

    def twin(function: Callable) -> FunctionType:
        if function not in known:
            compiled = isinstance(function, Dispatcher)
            source = function.py_func if compiled else inspect.unwrap(function)
            names = dict(source.__globals__)
            known[function] = FunctionType(
                source.__code__, names, source.__name__, source.__defaults__
            )
            for name in source.__code__.co_names:
                if isinstance(names.get(name), Dispatcher):
                    names[name] = twin(names[name])
        return known[function]

    return twin(kernel)
