"""Kernels run by the interpreter: the same source, with every index checked."""

from collections.abc import Callable
from types import FunctionType

from numba.core.dispatcher import Dispatcher


def interpreted(kernel: Dispatcher) -> Callable:
    """The python function behind a kernel, in which the kernels it calls are python too.

    Compiled code does not look whether an index is inside an array, and inner kernels cannot be
    called from outside at all.
    """
    known: dict[Dispatcher, FunctionType] = {}

    def twin(dispatcher: Dispatcher) -> FunctionType:
        if dispatcher not in known:
            source = dispatcher.py_func
            names = dict(source.__globals__)
            known[dispatcher] = FunctionType(source.__code__, names, source.__name__)
            for name in source.__code__.co_names:
                if isinstance(names.get(name), Dispatcher):
                    names[name] = twin(names[name])
        return known[dispatcher]

    return twin(kernel)
