"""A block with its degree-2 nodes contracted: branch nodes joined by chains of edges.

Whatever cycle uses one edge of a chain uses all of them, so a chain is one edge with a length. A
block with g >= 2 has at most 2 (g - 1) branch nodes and 3 (g - 1) chains, however many its edges.
"""

from cyclenet.topology.compiled import ZERO, inner

# Rows of the node table while a block is contracted: degree inside the block, exclusive-or of the
# edges met (it takes a walk through a degree-2 node from one edge to the other), branch number.
COUNT, JOIN, NAME = 0, 1, 2

# Rows of the chain table. Chains are numbered by their lowest edges, so comparing sets of chains
# is comparing the sets of edges. MEMBERS points into the list of edges, chain by chain.
START, END, KEY, HOPS, MEMBERS = 0, 1, 2, 3, 4
CHAIN_ROWS = 5


@inner
def contract(tail, head, key, listed, first, last, node, used, chain, members, num_chains):
    """Append the chains of the block with the edges listed[first:last] (ascending); needs g >= 2.

    Returns the number of branch nodes and the new number of chains.
    """
    _count_degrees(tail, head, listed, first, last, node, used)
    num_branches = ZERO
    filled = chain[MEMBERS, num_chains]
    for i in range(first, last):
        e = listed[i]
        if used[e]:
            continue
        used[e] = 1
        members[filled] = e
        forth, filled = _walk(head[e], e, tail, head, node, used, members, filled + 1)
        back, filled = _walk(tail[e], e, tail, head, node, used, members, filled)
        for v in (back, forth):
            if node[NAME, v] < 0:
                node[NAME, v] = num_branches
                num_branches += 1
        chain[START, num_chains] = node[NAME, back]
        chain[END, num_chains] = node[NAME, forth]
        chain[KEY, num_chains] = 0
        chain[HOPS, num_chains] = filled - chain[MEMBERS, num_chains]
        for j in range(chain[MEMBERS, num_chains], filled):
            chain[KEY, num_chains] += key[members[j]]
        num_chains += 1
        chain[MEMBERS, num_chains] = filled
    return num_branches, num_chains


@inner
def _count_degrees(tail, head, listed, first, last, node, used):
    for i in range(first, last):
        e = listed[i]
        used[e] = 0
        for v in (tail[e], head[e]):
            node[COUNT, v] = 0
            node[JOIN, v] = 0
            node[NAME, v] = -1
    for i in range(first, last):
        e = listed[i]
        for v in (tail[e], head[e]):
            node[COUNT, v] += 1
            node[JOIN, v] ^= e


@inner
def _walk(v, e, tail, head, node, used, members, filled):
    """Follow the chain from edge e through v up to its branch node, listing the edges met."""
    while node[COUNT, v] == 2:
        e ^= node[JOIN, v]
        used[e] = 1
        members[filled] = e
        filled += 1
        v = tail[e] + head[e] - v
    return v, filled
