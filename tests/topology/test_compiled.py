import ast
import importlib
import inspect
import json
import os
import pkgutil
import subprocess
import sys
import textwrap

import named_graphs
import numba
import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher
from strategies import packed

import cyclenet.topology as topology
from cyclenet.topology import relevant_cycles, shortest_cycle_bases, shortest_cycle_basis
from cyclenet.topology.compiled import ZERO

# Compiled once for each of two sides, told apart by a literal on purpose.
ONCE_PER_SIDE = {"families._next_path"}

# Every way into the kernels; run in a process of its own, with nothing compiled before.
TOUR = """
import importlib, json, pkgutil
import numpy as np
from numba.core.dispatcher import Dispatcher
import cyclenet.topology as topology
from cyclenet.topology.projector import projector_diagonal

edges = np.array([[0, 0, 0, 1, 2, 3], [1, 2, 3, 4, 4, 4]])
triangles = np.array([[0, 0, 1, 1, 2], [1, 2, 2, 3, 3]])
frozen = edges.copy()
frozen.flags.writeable = False
topology.spanning_forest(edges, 5)
topology.blocks(edges, 5)
topology.shortest_cycle_basis(edges, 5)
topology.shortest_cycle_basis(frozen, 5, np.arange(6.0))
topology.shortest_cycle_basis(np.asfortranarray(edges.astype(np.int32)), 5).is_unique
topology.shortest_cycle_basis(np.repeat(edges, 2, axis=1), 5, multi_edges="distinct")
for num_nodes in (5, np.array([5, 5])):
    both = np.concatenate([edges, frozen], axis=1)
    topology.shortest_cycle_bases(both, np.array([0, 6, 12]), num_nodes, num_threads=2)
topology.relevant_cycles(edges, 5)
topology.relevant_cycles(edges, 5, np.arange(6.0))
topology.count_relevant_cycles(frozen, 5)
topology.cycle_projector(edges, 5)
topology.cycle_projectors(edges, np.array([0, 6]), 5)
complete = np.stack(np.triu_indices(40, 1))
topology.cycle_projector(complete, 40)
topology.cycle_projectors(complete, np.array([0, complete.shape[1]]), 40)
side = np.arange(900).reshape(30, 30)
across, down = (side[:, :-1], side[:, 1:]), (side[:-1], side[1:])
grid = np.concatenate([np.stack([one.ravel(), two.ravel()]) for one, two in (across, down)], axis=1)
projector_diagonal(grid, 900)
topology.ring_complex(triangles, 4, 6)
topology.clique_complex(frozen, 5)
topology.extended_persistence(triangles, 4, np.arange(4.0))

counts = {}
for module in pkgutil.iter_modules(topology.__path__):
    for name, kernel in vars(importlib.import_module(f"cyclenet.topology.{module.name}")).items():
        if isinstance(kernel, Dispatcher):
            place = kernel.py_func.__module__.rpartition(".")[2]
            counts[f"{place}.{name}"] = len(kernel.signatures)
print(json.dumps(counts))
"""


def kernels():
    """Every kernel of the room with the module it is written in."""
    for module in pkgutil.iter_modules(topology.__path__):
        room = importlib.import_module(f"cyclenet.topology.{module.name}")
        for name, kernel in vars(room).items():
            if isinstance(kernel, Dispatcher) and kernel.py_func.__module__ == room.__name__:
                yield f"{module.name}.{name}", kernel


def literals_passed_on(kernel):
    """Variables that are set to a whole number somewhere and passed to another kernel."""
    source = kernel.py_func
    [function] = ast.parse(textwrap.dedent(inspect.getsource(source))).body
    start_as_literals = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(_plain_number(node.value), int):
            start_as_literals |= {t.id for t in node.targets if isinstance(t, ast.Name)}
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if isinstance(source.__globals__.get(node.func.id), Dispatcher):
                for given in node.args:
                    if isinstance(given, ast.Name) and given.id in start_as_literals:
                        yield f"{given.id} to {node.func.id}"


def _plain_number(node):
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def test_zero_is_an_integer_of_the_machine():
    assert type(ZERO) is np.int64 and ZERO == 0


def test_there_are_kernels_to_look_at():
    names = {name for name, _ in kernels()}
    assert {"basis_kernels.split_into_chains", "candidates.grow_tree", "forest.list_arcs"} <= names


def test_what_starts_as_a_literal_is_passed_to_no_kernel():
    found = {name: list(literals_passed_on(kernel)) for name, kernel in kernels()}
    assert {name: passed for name, passed in found.items() if passed} == {}


some_kernel = next(kernel for _, kernel in kernels())


def test_the_look_at_literals_finds_one():
    @numba.njit
    def outer(x):
        start = 0
        return some_kernel(start) + x

    assert list(literals_passed_on(outer)) == ["start to some_kernel"]


def test_all_input_reaches_the_kernels_as_one_kind_of_array(monkeypatch):
    kinds = {}

    def watch(module, name):
        kernel = getattr(module, name)

        def watched(*args):
            kinds.setdefault(name, set()).add(tuple(str(numba.typeof(arg)) for arg in args))
            return kernel(*args)

        monkeypatch.setattr(module, name, watched)

    for room in ("shortest_basis", "relevant"):
        module = importlib.import_module(f"cyclenet.topology.{room}")
        for name in ("split_into_chains", "solve_blocks", "collect_cycles"):
            watch(module, name)
    watch(importlib.import_module("cyclenet.topology.relevant"), "list_relevant")
    watch(importlib.import_module("cyclenet.topology.blocks"), "_find_blocks")

    edges, num_nodes = named_graphs.complete(4)
    frozen = edges.copy()
    frozen.flags.writeable = False
    weights = np.array([0.0, 1, 1, 1, 1, 1])
    weights.flags.writeable = False
    given = [edges, frozen, np.asfortranarray(edges), edges.astype(np.int32), edges[:, ::-1]]
    for own in given:
        topology.blocks(own, num_nodes)
        for own_weights in (None, weights):
            shortest_cycle_basis(own, num_nodes, own_weights)
            relevant_cycles(own, num_nodes, own_weights)
            for counts in (num_nodes, np.array([num_nodes]), np.array([num_nodes], dtype=np.int32)):
                ends = np.array([0, 6])
                ends.flags.writeable = False
                shortest_cycle_bases(own, ends, counts, own_weights, count_relevant=True)
    both, ends, counts = packed([(edges, num_nodes)] * 9)
    counts.flags.writeable = False
    shortest_cycle_bases(both, ends, counts, num_threads=2)
    assert len(kinds) == 5
    assert {name: len(found) for name, found in kinds.items()} == dict.fromkeys(kinds, 1)


@pytest.mark.slow
def test_on_a_tour_of_the_room_each_kernel_is_compiled_at_most_once(tmp_path):
    # Without optimisation compiling is faster, and its result is not kept for anyone.
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_OPT": "0"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", TOUR],
        env=environment, capture_output=True, text=True, check=True, timeout=600,
    )  # fmt: skip
    counts = json.loads(done.stdout)
    assert counts["candidates.grow_tree"] == counts["basis_kernels.collect_cycles"] == 1
    assert {name for name, count in counts.items() if count > 1} <= ONCE_PER_SIDE
