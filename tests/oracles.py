"""Slow and obvious answers, written from the definitions and from other people's libraries.

Nothing here imports `cyclenet`. Edge sets are python integers used as bit masks (bit e is edge e)
or tuples of edge ids; weights are compared as exact fractions.
"""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from importlib.util import find_spec
from itertools import combinations, groupby

import networkx as nx
import numpy as np

Weights = Sequence[float] | np.ndarray | None


# Ranks and bases


def rank_mod_2(columns: Iterable[int]) -> int:
    """Rank over Z2 of vectors given as bit masks."""
    return len(independent_mod_2(columns))


def independent_mod_2(columns: Iterable[int]) -> list[int]:
    """Positions of the vectors that do not depend (mod 2) on the ones before them."""
    reduced: dict[int, int] = {}
    positions = []
    for position, column in enumerate(columns):
        rest = _reduce(column, reduced)
        if rest:
            reduced[rest.bit_length()] = rest
            positions.append(position)
    return positions


def rank_rational(matrix: np.ndarray) -> int:
    """Rank of an integer matrix over the rationals, by elimination of exact fractions."""
    rows = [[Fraction(int(x)) for x in row] for row in np.atleast_2d(matrix)]
    rank = 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for i in range(rank + 1, len(rows)):
            if rows[i][column]:
                factor = rows[i][column] / rows[rank][column]
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank


def rank_mod_prime(matrix: np.ndarray, prime: int = 2_147_483_647) -> int:
    """Rank of an integer matrix over GF(prime): a lower bound of the rational rank."""
    rest = np.asarray(matrix, dtype=np.int64) % prime
    rank = 0
    for column in range(rest.shape[1]):
        pivots = np.flatnonzero(rest[rank:, column])
        if pivots.size == 0:
            continue
        rest[[rank, rank + pivots[0]]] = rest[[rank + pivots[0], rank]]
        rest[rank] = rest[rank] * pow(int(rest[rank, column]), -1, prime) % prime
        others = rank + 1 + np.flatnonzero(rest[rank + 1 :, column])
        rest[others] = (rest[others] - rest[others, column][:, None] * rest[rank]) % prime
        rank += 1
        if rank == rest.shape[0]:
            break
    return rank


def mask_of(edge_ids: Iterable[int]) -> int:
    """The bit mask of a set of edges."""
    return sum(1 << int(edge) for edge in edge_ids)


def edges_of(mask: int) -> tuple[int, ...]:
    """The edges of a bit mask, ascending."""
    return tuple(i for i in range(mask.bit_length()) if mask >> i & 1)


# Graphs


def dense_incidence(edges: np.ndarray, num_nodes: int) -> np.ndarray:
    """B1 with -1 at the tail and +1 at the head; the column of a loop is zero."""
    matrix = np.zeros((num_nodes, edges.shape[1]), dtype=np.int64)
    for column, (tail, head) in enumerate(edges.T):
        matrix[tail, column] -= 1
        matrix[head, column] += 1
    return matrix


def networkx_graph(edges: np.ndarray, num_nodes: int, weights: Weights = None) -> nx.Graph:
    """The simple graph with attributes `edge` (its id) and `weight`."""
    graph = nx.Graph()
    graph.add_nodes_from(range(num_nodes))
    for edge, (tail, head) in enumerate(edges.T.tolist()):
        graph.add_edge(tail, head, edge=edge, weight=1 if weights is None else weights[edge])
    return graph


def atlas() -> list[tuple[np.ndarray, int]]:
    """All 1253 graphs with up to seven nodes, as `(edges, num_nodes)`."""
    found = []
    for graph in nx.graph_atlas_g():
        pairs = sorted((min(a, b), max(a, b)) for a, b in graph.edges())
        edges = np.array(pairs, dtype=np.int64).reshape(-1, 2).T.copy()
        found.append((edges, graph.number_of_nodes()))
    return found


def component_count(edges: np.ndarray, num_nodes: int) -> int:
    """Number of connected components, by networkx."""
    return nx.number_connected_components(networkx_graph(edges, num_nodes))


def betti_by_rank(edges: np.ndarray, num_nodes: int) -> int:
    """Dimension of the kernel of B1, by exact elimination."""
    if edges.shape[1] == 0:
        return 0
    return edges.shape[1] - rank_rational(dense_incidence(edges, num_nodes))


def edge_blocks(edges: np.ndarray, num_nodes: int) -> list[int]:
    """Block of every edge: -1 on bridges, else 0, 1, ... in the order of the lowest edge.

    networkx knows simple graphs only, so every edge is cut into three: parallel edges and loops
    become cycles, and the blocks stay what they were.
    """
    graph = nx.Graph()
    graph.add_nodes_from(range(num_nodes))
    for edge, (tail, head) in enumerate(edges.T.tolist()):
        nx.add_path(graph, [tail, ("first", edge), ("second", edge), head])
    found: dict[int, int] = {}
    for number, component in enumerate(nx.biconnected_component_edges(graph)):
        middles = {a[1] for a, b in component if _is_middle(a) and _is_middle(b)}
        if len(list(component)) > 1:
            found.update(dict.fromkeys(middles, number))
    names: dict[int, int] = {}
    return [
        names.setdefault(found[edge], len(names)) if edge in found else -1
        for edge in range(edges.shape[1])
    ]


def _is_middle(node: object) -> bool:
    return isinstance(node, tuple)


# Cycles


def simple_cycles(
    edges: np.ndarray, num_nodes: int, weights: Weights = None, at_most: float | None = None
) -> list[tuple[int, ...]]:
    """All simple cycles as ascending tuples of edges, by backtracking from their lowest node.

    Args:
        edges: Any edges, parallel ones and loops included.
        num_nodes: Number of nodes.
        weights: Weights for `at_most`; each edge counts 1 without them.
        at_most: Only cycles of at most this weight.
    """
    cost = exact_weights(edges.shape[1], weights)
    limit = sum(cost, Fraction(0)) if at_most is None else Fraction(at_most)
    at_node: list[list[tuple[int, int]]] = [[] for _ in range(num_nodes)]
    found = set()
    for edge, (tail, head) in enumerate(edges.T.tolist()):
        if tail == head:
            if cost[edge] <= limit:
                found.add((edge,))
            continue
        at_node[tail].append((head, edge))
        at_node[head].append((tail, edge))

    def walk(start: int, node: int, path: list[int], seen: set[int], length: Fraction) -> None:
        for nxt, edge in at_node[node]:
            if length + cost[edge] > limit or edge in path:
                continue
            if nxt == start:
                found.add(tuple(sorted([*path, edge])))
            elif nxt > start and nxt not in seen:
                walk(start, nxt, [*path, edge], seen | {nxt}, length + cost[edge])

    for start in range(num_nodes):
        walk(start, start, [], {start}, Fraction(0))
    return sorted(found)


def rings(edges: np.ndarray, num_nodes: int, max_length: int) -> list[tuple[int, ...]]:
    """Cycles without a chord: no edge besides theirs has both ends among their nodes."""
    found = []
    for cycle in simple_cycles(edges, num_nodes, at_most=max_length):
        inside = np.isin(edges, edges[:, list(cycle)]).all(axis=0)
        if inside.sum() == len(cycle):
            found.append(cycle)
    return sorted(found, key=lambda cycle: (len(cycle), cycle))


def rings_by_networkx(
    edges: np.ndarray, num_nodes: int, max_length: int | None
) -> list[tuple[int, ...]]:
    """The same for simple graphs, by networkx."""
    graph = networkx_graph(edges, num_nodes)
    found = []
    for nodes in nx.chordless_cycles(graph, length_bound=max_length):
        pairs = zip(nodes, [*nodes[1:], nodes[0]], strict=True)
        found.append(tuple(sorted(graph.edges[pair]["edge"] for pair in pairs)))
    return sorted(found, key=lambda cycle: (len(cycle), cycle))


def is_simple_cycle(edges: np.ndarray, cycle: Iterable[int]) -> bool:
    """Whether the edges run once around: connected, two at every node (a loop is a cycle)."""
    inside = edges[:, list(cycle)].T.tolist()
    if len(inside) == 1:
        return inside[0][0] == inside[0][1]
    graph = nx.MultiGraph(inside)
    return (
        len(inside) > 0
        and nx.is_connected(graph)
        and all(degree == 2 for _, degree in graph.degree())
    )


def first_shortest_paths(
    edges: np.ndarray, num_nodes: int, root: int, weights: Weights = None, hops: Weights = None
) -> dict[int, tuple[Fraction, tuple[int, ...], int]]:
    """For each node reached: distance, edges of the first shortest path, number of shortest paths.

    The first path has the fewest `hops`, then the lowest edge of those that only one of two has.
    """
    cost, count = exact_weights(edges.shape[1], weights), exact_weights(edges.shape[1], hops)
    at_node: list[list[tuple[int, int]]] = [[] for _ in range(num_nodes)]
    for edge, (tail, head) in enumerate(edges.T.tolist()):
        at_node[tail].append((head, edge))
        at_node[head].append((tail, edge))
    ways: dict[int, list[tuple[Fraction, Fraction, tuple[int, ...]]]] = {}

    def walk(node: int, path: tuple[int, ...], seen: frozenset[int]) -> None:
        length = sum((cost[e] for e in path), Fraction(0))
        jumps = sum((count[e] for e in path), Fraction(0))
        ways.setdefault(node, []).append((length, jumps, tuple(sorted(path))))
        for nxt, edge in at_node[node]:
            if nxt not in seen:
                walk(nxt, (*path, edge), seen | {nxt})

    walk(root, (), frozenset([root]))
    best = {node: min(found) for node, found in ways.items()}
    return {
        node: (best[node][0], best[node][2], sum(way[0] == best[node][0] for way in found))
        for node, found in ways.items()
    }


def exact_weights(num_edges: int, weights: Weights = None) -> list[Fraction]:
    """The weights as fractions: of the floats themselves, or as given if already fractions."""
    if weights is None:
        return [Fraction(1)] * num_edges
    return [w if isinstance(w, Fraction) else Fraction(float(w)) for w in weights]


def cycles_in_order(
    cycles: Iterable[tuple[int, ...]], num_edges: int, weights: Weights = None
) -> list[tuple[Fraction, int, tuple[int, ...]]]:
    """(weight, number of edges, edges) of each cycle, in the order of these three."""
    cost = exact_weights(num_edges, weights)
    return sorted(
        (sum((cost[e] for e in cycle), Fraction(0)), len(cycle), cycle) for cycle in cycles
    )


def lexicographic_shortest_basis(
    edges: np.ndarray, num_nodes: int, weights: Weights = None
) -> list[tuple[int, ...]]:
    """The shortest cycle basis that comes first in the order of (weight, number of edges, edges).

    Greedy over the simple cycles in that order. Longer cycles are listed only when the shorter
    ones do not reach the Betti number, so that graphs of a hundred edges can be asked too.
    """
    num_edges = edges.shape[1]
    wanted = num_edges - num_nodes + _pieces_of(edges, num_nodes)
    everything = sum(exact_weights(num_edges, weights), Fraction(0))
    limit = everything if num_edges <= 12 else everything * 3 / num_edges
    while True:
        cycles = simple_cycles(edges, num_nodes, weights, at_most=limit)
        ordered = [cycle for _, _, cycle in cycles_in_order(cycles, num_edges, weights)]
        chosen = independent_mod_2(map(mask_of, ordered))
        if len(chosen) == wanted:
            return [ordered[i] for i in chosen]
        if limit >= everything:
            raise AssertionError("the simple cycles span the cycle space; this cannot happen")
        limit = min(everything, limit * 4 / 3)


def relevant_cycles_brute_force(
    edges: np.ndarray, num_nodes: int, weights: Weights = None
) -> list[tuple[int, ...]]:
    """All cycles that are no sum of strictly shorter ones, in the order of `cycles_in_order`."""
    ordered = cycles_in_order(simple_cycles(edges, num_nodes), edges.shape[1], weights)
    wanted = edges.shape[1] - num_nodes + _pieces_of(edges, num_nodes)
    shorter: dict[int, int] = {}
    relevant = []
    for _, group in groupby(ordered, key=lambda item: item[0]):
        if len(shorter) == wanted:
            break
        new = [cycle for _, _, cycle in group if _reduce(mask_of(cycle), shorter)]
        relevant += new
        for cycle in new:
            rest = _reduce(mask_of(cycle), shorter)
            if rest:
                shorter[rest.bit_length()] = rest
    return relevant


def shortest_weight_by_networkx(
    edges: np.ndarray, num_nodes: int, weights: Weights = None
) -> float:
    """Total weight of networkx's minimum cycle basis (simple graphs)."""
    graph = networkx_graph(edges, num_nodes, weights)
    name = None if weights is None else "weight"
    total = 0.0
    for cycle in nx.minimum_cycle_basis(graph, weight=name):
        pairs = zip(cycle, [*cycle[1:], cycle[0]], strict=True)
        total += sum(graph.edges[pair]["weight"] for pair in pairs)
    return total


def shortest_lengths(edges: np.ndarray, num_nodes: int) -> list[int]:
    """Sorted lengths of a minimum cycle basis, by igraph, or by networkx where that is missing.

    Parallel edges and loops are cycles; networkx sees them once every edge is cut into three.
    """
    if find_spec("igraph") is None:
        graph = nx.Graph()
        for edge, (tail, head) in enumerate(edges.T.tolist()):
            nx.add_path(graph, [tail, ("first", edge), ("second", edge), head])
        return sorted(len(cycle) // 3 for cycle in nx.minimum_cycle_basis(graph))
    import igraph

    graph = igraph.Graph(n=num_nodes, edges=edges.T.tolist())
    return sorted(len(cycle) for cycle in graph.minimum_cycle_basis())


def _pieces_of(edges: np.ndarray, num_nodes: int) -> int:
    graph = nx.MultiGraph()
    graph.add_nodes_from(range(num_nodes))
    graph.add_edges_from(edges.T.tolist())
    return nx.number_connected_components(graph)


def _reduce(column: int, reduced: dict[int, int]) -> int:
    while column and column.bit_length() in reduced:
        column ^= reduced[column.bit_length()]
    return column


# Projectors and eigenspaces


def projector_by_svd(edges: np.ndarray, num_nodes: int) -> np.ndarray:
    """Projector on the kernel of B1 from its singular vectors; the rank is n - components."""
    return _kernel_projector(
        dense_incidence(edges, num_nodes), num_nodes - _pieces_of(edges, num_nodes)
    )


def arc_projector_by_svd(arcs: np.ndarray, num_nodes: int) -> np.ndarray:
    """Projector on the kernel of the incidence matrix of arcs, each direction a column."""
    return _kernel_projector(
        dense_incidence(arcs, num_nodes), num_nodes - _pieces_of(arcs, num_nodes)
    )


def row_sums(matrix: np.ndarray) -> np.ndarray:
    """Of each row the entry on the diagonal, the sum of all, and the sum of their sizes."""
    return np.stack((np.diag(matrix), matrix.sum(axis=1), np.abs(matrix).sum(axis=1)), axis=1)


def projector_of_cycles(cycles: np.ndarray) -> np.ndarray:
    """Projector on the span of independent columns, by QR."""
    q, _ = np.linalg.qr(np.asarray(cycles, dtype=np.float64))
    return q @ q.T


def effective_resistances(edges: np.ndarray, num_nodes: int) -> np.ndarray:
    """Effective resistance between the ends of every edge, by the pseudo-inverse."""
    b = dense_incidence(edges, num_nodes).astype(np.float64)
    if b.size == 0:
        return np.zeros(edges.shape[1])
    return np.einsum("ve,vw,we->e", b, np.linalg.pinv(b @ b.T, hermitian=True), b)


def _kernel_projector(matrix: np.ndarray, rank: int) -> np.ndarray:
    if matrix.size == 0:
        return np.eye(matrix.shape[1])
    _, _, right = np.linalg.svd(matrix.astype(np.float64))
    return np.eye(matrix.shape[1]) - right[:rank].T @ right[:rank]


# Persistence and homology


def extended_pairs(
    edges: np.ndarray, num_nodes: int, values: Sequence[float] | np.ndarray
) -> dict[str, list[tuple[float, float]]]:
    """Extended persistence by reducing the boundary matrix of the coned graph over Z2.

    Up: nodes and edges by their largest value. Down: cones over nodes and edges by their
    smallest value, from high to low. Every simplex is paired with exactly one other. A pair is
    `ordinary` if both come on the way up, `relative` if both come on the way down, and extended
    (`ext_0` for nodes with coned nodes, `ext_1` for edges with coned edges) otherwise; births
    come first. Pairs on the diagonal are kept.
    """
    f = [float(v) for v in values]
    cells: list[tuple[tuple, tuple[str, int], float]] = [((0,), ("apex", 0), float("nan"))]
    for v in range(num_nodes):
        cells.append(((1, f[v], 0, v), ("node", v), f[v]))
        cells.append(((2, -f[v], 0, v), ("cone node", v), f[v]))
    for e, (a, b) in enumerate(edges.T.tolist()):
        cells.append(((1, max(f[a], f[b]), 1, e), ("edge", e), max(f[a], f[b])))
        cells.append(((2, -min(f[a], f[b]), 1, e), ("cone edge", e), min(f[a], f[b])))
    cells.sort(key=lambda cell: cell[0])
    place = {name: i for i, (_, name, _) in enumerate(cells)}

    def boundary(name: tuple[str, int]) -> int:
        kind, i = name
        ends = edges[:, i].tolist() if "edge" in kind else []
        faces = {
            "apex": [],
            "node": [],
            "edge": [("node", v) for v in ends],
            "cone node": [("node", i), ("apex", 0)],
            "cone edge": [("edge", i), *(("cone node", v) for v in ends)],
        }[kind]
        return sum(1 << place[face] for face in faces)

    reduced: dict[int, int] = {}
    pairs: dict[str, list[tuple[float, float]]] = {
        "ordinary": [],
        "relative": [],
        "ext_0": [],
        "ext_1": [],
    }
    for late, (_, name, value) in enumerate(cells):
        column = _reduce(boundary(name), reduced)
        if not column:
            continue
        reduced[column.bit_length()] = column
        early = column.bit_length() - 1
        kinds = (cells[early][1][0], name[0])
        kind = {
            ("node", "edge"): "ordinary",
            ("cone node", "cone edge"): "relative",
            ("node", "cone node"): "ext_0",
            ("edge", "cone edge"): "ext_1",
        }.get(kinds)
        if kind is not None:
            pairs[kind].append((cells[early][2], value))
        assert late > early
    return {kind: sorted(found) for kind, found in pairs.items()}


def homology_betti(edges: np.ndarray, faces: np.ndarray, num_nodes: int) -> int:
    """Dimension over Z2 of the cycles modulo the sums of boundaries of triangles (3, f)."""
    cycle_dimension = edges.shape[1] - num_nodes + _pieces_of(edges, num_nodes)
    return cycle_dimension - rank_mod_2(triangle_masks(edges, faces))


def triangle_masks(edges: np.ndarray, faces: np.ndarray) -> list[int]:
    """The sides of every triangle as a bit mask of edges."""
    number = {tuple(pair): i for i, pair in enumerate(edges.T.tolist())}
    return [
        mask_of(number[pair] for pair in combinations(sorted(face), 2)) for face in faces.T.tolist()
    ]


def independent_in_homology(
    cycles: Iterable[int], edges: np.ndarray, faces: np.ndarray
) -> Iterator[bool]:
    """For each cycle, whether it depends on neither the triangles nor the cycles before it."""
    reduced: dict[int, int] = {}
    for mask in triangle_masks(edges, faces):
        rest = _reduce(mask, reduced)
        if rest:
            reduced[rest.bit_length()] = rest
    for mask in cycles:
        rest = _reduce(mask, reduced)
        if rest:
            reduced[rest.bit_length()] = rest
        yield bool(rest)


# Exact polynomials, coefficients from the constant one up


def characteristic_polynomial(rows: list[list[Fraction]]) -> list[Fraction]:
    """det(x I - A), by the recursion of Faddeev and LeVerrier."""
    size = len(rows)
    coefficients = [Fraction(1)]
    product = [[Fraction(0)] * size for _ in range(size)]
    for k in range(1, size + 1):
        shifted = [
            [product[i][j] + (coefficients[-1] if i == j else 0) for j in range(size)]
            for i in range(size)
        ]
        product = [
            [
                sum((rows[i][t] * shifted[t][j] for t in range(size)), Fraction(0))
                for j in range(size)
            ]
            for i in range(size)
        ]
        coefficients.append(-sum((product[i][i] for i in range(size)), Fraction(0)) / k)
    return coefficients[::-1]


def distinct_roots(polynomial: list[Fraction]) -> int:
    """Number of different complex roots: the degree minus that of gcd(f, f')."""
    derivative = [k * c for k, c in enumerate(polynomial)][1:]
    a, b = polynomial, _trimmed(derivative)
    while b:
        a, b = b, _remainder(a, b)
    return (len(polynomial) - 1) - (len(a) - 1)


def _remainder(a: list[Fraction], b: list[Fraction]) -> list[Fraction]:
    a = list(a)
    while len(a) >= len(b):
        factor = a[-1] / b[-1]
        for k in range(1, len(b) + 1):
            a[-k] -= factor * b[-k]
        a = _trimmed(a)
    return a


def _trimmed(a: list[Fraction]) -> list[Fraction]:
    while a and a[-1] == 0:
        a = a[:-1]
    return a


# Distances in complexes


def rounds_of_stars_and_links(
    edges: np.ndarray, faces: np.ndarray, num_nodes: int, cycles: Iterable[Sequence[int]]
) -> tuple[list[float], list[float], list[float]]:
    """Distance of each node, edge and triangle from the cycles, by sets of simplices.

    For each cycle: reach it, then its star, then go on from its link, until a round lowers nothing.
    """
    by_kind = [
        [frozenset([v]) for v in range(num_nodes)],
        [frozenset(pair) for pair in edges.T.tolist()],
        [frozenset(face) for face in faces.T.tolist()],
    ]
    simplices = set().union(*by_kind)
    distance = dict.fromkeys(simplices, float("inf"))
    for cycle in cycles:
        reached = _closure(frozenset(edges[:, e].tolist()) for e in cycle)
        time, lowered = 0, True
        while lowered and reached:
            before = dict(distance)
            star = {s for s in simplices if any(r <= s for r in reached)}
            for s in reached:
                distance[s] = min(distance[s], time)
            for s in star - reached:
                distance[s] = min(distance[s], time + 1)
            time += 2
            reached = _closure(star) - star
            lowered = distance != before
    nodes, sides, triangles = ([distance[s] for s in kind] for kind in by_kind)
    return nodes, sides, triangles


def _closure(simplices: Iterable[frozenset[int]]) -> set[frozenset[int]]:
    return {
        frozenset(face)
        for s in simplices
        for size in range(1, len(s) + 1)
        for face in combinations(sorted(s), size)
    }
