import named_graphs
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from interpreted import interpreted
from oracles import independent_mod_2, mask_of, rank_mod_2, simple_cycles
from strategies import examples, graphs

from cyclenet.topology.candidates import CHAINS, LENGTH, MEMBERS, SHARE, SIZE
from cyclenet.topology.chains import CHAIN_ROWS, END, START
from cyclenet.topology.elimination import (
    WORD,
    accept,
    count_relevant,
    first_labels,
    label_candidate,
    select_independent,
)


def records(cycles, lengths=None):
    """Candidates closed by an edge, one record after the other, and where each begins."""
    pool, starts = [], []
    for k, cycle in enumerate(cycles):
        fields = [0] * CHAINS
        fields[LENGTH] = len(cycle) if lengths is None else lengths[k]
        fields[SIZE], fields[SHARE], fields[MEMBERS] = len(cycle), 1, 0
        starts.append(len(pool))
        pool += [*fields, *cycle]
    return np.array(pool, dtype=np.int64), np.array(starts, dtype=np.int64)


class Labels:
    """The labels of a graph whose edges are its chains."""

    def __init__(self, edges, num_nodes):
        self.size = edges.shape[1]
        self.words = self.size // WORD + 1
        chain = np.zeros((CHAIN_ROWS, self.size), dtype=np.int64)
        chain[[START, END]] = edges
        self.label = np.full(self.size * self.words, 99, dtype=np.uint64)
        self.sums = np.zeros(self.words, dtype=np.uint64)
        leader = np.empty(num_nodes, dtype=np.int64)
        interpreted(first_labels)(num_nodes, chain, self.size, leader, self.label, self.words)

    def is_independent(self, cycle):
        pool, _ = records([cycle])
        return interpreted(label_candidate)(0, pool, self.label, self.words, self.sums, 0)

    def accept(self, cycle):
        assert self.is_independent(cycle)
        interpreted(accept)(self.size, self.label, self.words, self.sums)


CYCLES_IN_ANY_ORDER = graphs(max_nodes=6).flatmap(
    lambda graph: st.tuples(st.just(graph), st.permutations(simple_cycles(*graph)[:40]))
)


@given(CYCLES_IN_ANY_ORDER)
@examples(100, 5000)
def test_labels_sum_to_zero_exactly_on_cycles_that_depend_on_the_accepted(drawn):
    (edges, num_nodes), order = drawn
    labels = Labels(edges, num_nodes)
    accepted = []
    for cycle in order[:6]:
        depends = rank_mod_2([*accepted, mask_of(cycle)]) == len(accepted)
        assert labels.is_independent(cycle) == (not depends)
        if not depends:
            labels.accept(cycle)
            accepted.append(mask_of(cycle))
        for other in order:
            depends = rank_mod_2([*accepted, mask_of(other)]) == len(accepted)
            assert labels.is_independent(other) == (not depends)


def test_labels_of_several_words_follow_the_same_law():
    edges, num_nodes = named_graphs.complete(13)
    number = {tuple(pair): e for e, pair in enumerate(edges.T.tolist())}
    triangles = [
        (number[a, b], number[a, c], number[b, c])
        for a in range(13) for b in range(a + 1, 13) for c in range(b + 1, 13)
    ]  # fmt: skip
    np.random.default_rng(0).shuffle(triangles)
    labels = Labels(edges, num_nodes)
    chosen = independent_mod_2(map(mask_of, triangles))
    assert labels.words == 2 and len(chosen) == 66 > WORD
    for k, triangle in enumerate(triangles):
        assert labels.is_independent(triangle) == (k in chosen)
        if k in chosen:
            labels.accept(triangle)
    assert not labels.label.any()


@given(CYCLES_IN_ANY_ORDER, st.integers(1, 6))
@examples(100, 5000)
def test_the_first_independent_cycles_are_accepted_until_none_is_missing(drawn, missing):
    (edges, num_nodes), cycles = drawn
    cycles = sorted(cycles, key=len)
    greedy = independent_mod_2(map(mask_of, cycles))[:missing]
    labels = Labels(edges, num_nodes)
    pool, starts = records(cycles)
    order = starts.copy()
    accepted, relevant = interpreted(select_independent)(
        order, len(cycles), missing, labels.size, pool, labels.label, labels.words, labels.sums,
        False,
    )  # fmt: skip
    assert accepted == len(greedy) and relevant == 0
    assert order[:accepted].tolist() == starts[greedy].tolist()


@given(CYCLES_IN_ANY_ORDER)
@examples(100, 5000)
def test_all_cycles_of_a_length_are_counted_before_one_of_them_is_accepted(drawn):
    (edges, num_nodes), cycles = drawn
    cycles = sorted(cycles, key=len)
    expected, shorter = 0, []
    for length in sorted({len(cycle) for cycle in cycles}):
        same = [mask_of(cycle) for cycle in cycles if len(cycle) == length]
        rank = rank_mod_2(shorter)
        expected += sum(rank_mod_2([*shorter, mask]) > rank for mask in same)
        shorter += same
    labels = Labels(edges, num_nodes)
    pool, starts = records(cycles)
    _, relevant = interpreted(select_independent)(
        starts, len(cycles), rank_mod_2(shorter), labels.size, pool, labels.label, labels.words,
        labels.sums, True,
    )  # fmt: skip
    assert relevant == expected


def test_a_family_counts_as_often_as_its_paths_can_be_chosen():
    edges, num_nodes = named_graphs.cycle(3)
    labels = Labels(edges, num_nodes)
    pool, starts = records([(0, 1, 2)])
    pool[SHARE] = 12
    count = interpreted(count_relevant)
    assert count(starts, 0, 1, pool, labels.label, labels.words, labels.sums) == 12
    labels.accept((0, 1, 2))
    assert count(starts, 0, 1, pool, labels.label, labels.words, labels.sums) == 0
