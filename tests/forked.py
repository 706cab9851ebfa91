"""Processes that start at once: forked from one that has imported torch and our runner already."""

import multiprocessing
import os
import pickle
import socket
import traceback
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import torch

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["cyclenet.runner"])

SECONDS = 120


def started(work: Callable[..., Any], *arguments: Any) -> Any:
    """A process that does some work.

    Its `queue` holds the result, pickled: ``(True, what was returned)`` or ``(False, the
    traceback)``. As bytes, because tensors would be lent by a process that ends.
    """
    queue = _CONTEXT.Queue()
    process = _CONTEXT.Process(target=_answer, args=(queue, work, arguments), daemon=True)
    process.queue = queue
    process.start()
    return process


def result_of(process: Any) -> Any:
    """What the work of a process returned."""
    is_done, found = pickle.loads(process.queue.get(timeout=SECONDS))
    process.join(SECONDS)
    assert is_done, found
    return found


def on_ranks(world: int, work: Callable[..., Any], *arguments: Any) -> list[Any]:
    """What some work returns on each rank of a group of processes, on loopback."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ranks = [started(_in_group, rank, world, port, work, arguments) for rank in range(world)]
    return [result_of(rank) for rank in ranks]


def _in_group(
    rank: int, world: int, port: int, work: Callable[..., Any], arguments: tuple[Any, ...]
) -> Any:
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    torch.distributed.init_process_group(
        "gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=world,
        timeout=timedelta(seconds=SECONDS),
    )  # fmt: skip
    found = work(*arguments)
    torch.distributed.destroy_process_group()
    return found


def _answer(queue: Any, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    torch.set_num_threads(1)
    try:
        queue.put(pickle.dumps((True, work(*arguments))))
    except BaseException:
        queue.put(pickle.dumps((False, traceback.format_exc())))
        raise
