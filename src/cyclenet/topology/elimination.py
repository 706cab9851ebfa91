"""Independence over Z2 by witness labels, and the choice of the shortest independent cycles.

Every chain carries a label, a vector of bits, such that a cycle depends on the accepted ones if and
only if the labels of its chains sum to zero. At first the chains outside a spanning tree carry
unit vectors and the others zero, so only the empty set sums to zero. When a cycle with sum x
is accepted, x is added to every label that has a chosen bit of x: sums that had the bit change by
x, so x itself and nothing else becomes zero (the witnesses of de Pina 1995, kept by edge).
"""

import numpy as np

from cyclenet.topology.candidates import (
    BASE,
    CHAINS,
    LENGTH,
    MEMBERS,
    SHARE,
    SIZE,
    saturating_product,
    saturating_sum,
)  # fmt: skip
from cyclenet.topology.chains import END, START
from cyclenet.topology.compiled import ZERO, inlined, inner

WORD = 64


@inner
def first_labels(num_vertices, chain, num_chains, leader, label, words):
    """Unit labels on the chains outside a spanning tree; the tree is found by union-find."""
    for i in range(num_chains * words):
        label[i] = 0
    for v in range(num_vertices):
        leader[v] = v
    outside = 0
    for e in range(num_chains):
        one, other = chain[START, e], chain[END, e]
        while leader[one] != one:
            leader[one] = leader[leader[one]]
            one = leader[one]
        while leader[other] != other:
            leader[other] = leader[leader[other]]
            other = leader[other]
        if one != other:
            leader[one] = other
        else:
            label[e * words + outside // WORD] = np.uint64(1) << np.uint64(outside % WORD)
            outside += 1


@inlined
def label_candidate(p, pool, label, words, sums, slot):
    """Sum the candidate's labels in one slot of `sums`; True unless the sum is zero."""
    target = slot * words
    for w in range(words):
        sums[target + w] = 0
    for i in range(p + CHAINS, p + CHAINS + pool[p + SIZE]):
        for w in range(words):
            sums[target + w] ^= label[pool[i] * words + w]
    for w in range(words):
        if sums[target + w] != 0:
            return True
    return False


@inner
def accept(num_chains, label, words, sums):
    """Make the label in the first slot, which is not zero, count as zero from now on."""
    word = 0
    while sums[word] == 0:
        word += 1
    lowest = sums[word] & (~sums[word] + np.uint64(1))
    for e in range(num_chains):
        if label[e * words + word] & lowest:
            for w in range(words):
                label[e * words + w] ^= sums[w]


@inner
def count_relevant(order, first, last, pool, label, words, sums):
    """Number of relevant cycles among candidates of one length, none of them accepted yet.

    A candidate stands for a family: any shortest paths may take the place of its two. The
    families of one middle vertex are the pairs of its last edges, and a pair is relevant if its
    labels differ.
    """
    total = ZERO
    for k in range(first, last):
        p = order[k]
        if pool[p + MEMBERS] == 0:
            if label_candidate(p, pool, label, words, sums, ZERO):
                total = saturating_sum(total, pool[p + SHARE])
        elif pool[p + MEMBERS] > 0:
            total = saturating_sum(total, _count_group(p, pool, label, words, sums))
    return total


@inner
def _count_group(p, pool, label, words, sums):
    """Relevant cycles through one middle vertex: products of the shares of differing labels."""
    total = ZERO
    listed = ZERO
    q = p
    while listed < pool[p + MEMBERS]:
        if pool[q + MEMBERS] != 0:
            share = pool[q + SHARE]
            if label_candidate(q, pool, label, words, sums, listed):
                total = saturating_sum(total, saturating_product(share, pool[p + BASE]))
            other = _share_of_other_labels(p, listed, pool, words, sums)
            total = saturating_sum(total, saturating_product(share, other))
            listed += 1
        q += CHAINS + pool[q + SIZE]
    return total


@inner
def _share_of_other_labels(p, member, pool, words, sums):
    """Sum of the shares of the members before this one whose labels differ from its own."""
    total = ZERO
    listed = ZERO
    q = p
    while listed < member:
        if pool[q + MEMBERS] != 0:
            for w in range(words):
                if sums[listed * words + w] != sums[member * words + w]:
                    total = saturating_sum(total, pool[q + SHARE])
                    break
            listed += 1
        q += CHAINS + pool[q + SIZE]
    return total


@inner
def select_independent(order, count, missing, num_chains, pool, label, words, sums, counting):
    """Accept the first independent candidates in order; `missing` of them complete the basis.

    Candidates are taken length by length, so that the relevant ones of a length are counted before
    any of them is accepted. The accepted ones are moved to the front of `order`.

    Returns the number of accepted candidates and of relevant cycles.
    """
    accepted = 0
    relevant = ZERO
    first = ZERO
    while first < count and accepted < missing:
        last = first
        while last < count and pool[order[last] + LENGTH] == pool[order[first] + LENGTH]:
            last += 1
        if counting:
            found = count_relevant(order, first, last, pool, label, words, sums)
            relevant = saturating_sum(relevant, found)
        for k in range(first, last):
            if accepted < missing and label_candidate(order[k], pool, label, words, sums, ZERO):
                accept(num_chains, label, words, sums)
                order[accepted] = order[k]
                accepted += 1
        first = last
    return accepted, relevant
