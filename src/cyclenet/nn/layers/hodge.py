r"""Hodge Laplacians of batches of simplicial complexes, as products with incidence matrices.

Nothing here lists pairs of neighbours. In a simplicial complex two edges share at most one node and
at most one triangle, and two triangles share at most one edge. So with B1 the incidence of nodes
and edges, and B2 that of edges and triangles, the sign patterns of the Laplacians are

$$S(B_1^\top B_1) = B_1^\top B_1 - I, \quad S(B_2 B_2^\top) = B_2 B_2^\top - D + I, \quad
  S(B_2^\top B_2) = B_2^\top B_2 - 2 I,$$

where S keeps the signs of a matrix and puts ones on its diagonal, and D is the diagonal of what
stands before it. The patterns without signs, ones for neighbours and for each cell itself, are the
same with |B1| and |B2|. A product with them takes one row for each side of a cell.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int64, Shaped
from torch import Tensor

from cyclenet.data import CycleData
from cyclenet.nn.layers.pooling import repeated

# Nodes, edges, triangles.
DIMENSIONS = 3

# The sides of a triangle.
SIDES = 3

# How a Laplacian is rescaled; see `Complex.rescaled`.
Rescaling = Literal["published", "centred"]


@dataclass(frozen=True, eq=False)
class Incidence:
    """The matrix B between cells and the cells of one dimension more, which all have k sides.

    Rows are the lower cells, columns the higher ones.

    Args:
        sides: The lower cells on the boundary of each higher cell.
        signs: The entries there, or one entry for each row of `sides`.
        degree: How many higher cells each lower cell is a side of.
    """

    sides: Int64[Tensor, "k h"]
    signs: Float[Tensor, "k h"] | Float[Tensor, "k 1"]
    degree: Float[Tensor, "l 1"]

    def to_above(self, rows: Float[Tensor, "l c"], *, signed: bool = True) -> Float[Tensor, "h c"]:
        r"""What the sides of each higher cell add up to: $B^\top x$.

        Args:
            rows: One row for each lower cell.
            signed: Whether entries have their signs; else $|B|^\top x$.

        Returns:
            One row for each higher cell.
        """
        found = rows.index_select(0, self.sides.flatten()).unflatten(0, self.sides.shape)
        return (found * self.signs.unsqueeze(2) if signed else found).sum(0)

    def to_below(self, rows: Float[Tensor, "h c"], *, signed: bool = True) -> Float[Tensor, "l c"]:
        """What each lower cell is given by the higher cells that it is a side of: $B x$.

        Args:
            rows: One row for each higher cell.
            signed: Whether entries have their signs; else $|B| x$.

        Returns:
            One row for each lower cell.
        """
        given = rows.expand(self.sides.size(0), -1, -1)
        if signed:
            given = given * self.signs.unsqueeze(2)
        empty = rows.new_zeros(self.degree.size(0), rows.size(1))
        return empty.index_add(0, self.sides.flatten(), given.flatten(0, 1))

    def upper(self, rows: Float[Tensor, "l c"], *, signed: bool = True) -> Float[Tensor, "l c"]:
        r"""Sums over the neighbours through a higher cell, and the cell itself: $S(B B^\top) x$.

        Args:
            rows: One row for each lower cell.
            signed: Whether neighbours count with their signs; else all count once.

        Returns:
            One row for each lower cell.
        """
        both = self.to_below(self.to_above(rows, signed=signed), signed=signed)
        return both - (self.degree - 1) * rows

    def lower(self, rows: Float[Tensor, "h c"], *, signed: bool = True) -> Float[Tensor, "h c"]:
        r"""Sums over the neighbours through a lower cell, and the cell itself: $S(B^\top B) x$.

        Args:
            rows: One row for each higher cell.
            signed: Whether neighbours count with their signs; else all count once.

        Returns:
            One row for each higher cell.
        """
        both = self.to_above(self.to_below(rows, signed=signed), signed=signed)
        return both - (self.sides.size(0) - 1) * rows

    def upper_pairs(self) -> Int64[Tensor, "2 p"]:
        """The pattern of `upper` as pairs: a cell and one that it hears, itself included.

        Returns:
            Pairs of lower cells. How many there are is known without asking the device.
        """
        count = self.sides.size(0)
        turned = [self.sides.roll(shift, 0) for shift in range(1, count)]
        pairs = [torch.stack((self.sides.flatten(), other.flatten())) for other in turned]
        return torch.cat((*pairs, _itself(self.degree)), dim=1)

    def lower_pairs(self) -> Int64[Tensor, "2 p"]:
        """The pattern of `lower` as pairs: a cell and one that it hears, itself included.

        Returns:
            Pairs of higher cells. How many there are is for the device to tell.
        """
        low, order = self.sides.flatten().sort(stable=True)
        cells = order % max(self.sides.size(1), 1)
        count = torch.bincount(low, minlength=self.degree.size(0))
        sizes = count.index_select(0, low)  # of the group of higher cells that share a side
        hears = repeated(sizes, None)
        place = torch.arange(hears.size(0), device=low.device) - (sizes.cumsum(0) - sizes)[hears]
        heard = (count.cumsum(0) - count)[low[hears]] + place
        pairs = torch.stack((cells[hears], cells[heard]))
        itself = torch.arange(self.sides.size(1), device=low.device).expand(2, -1)
        return torch.cat((pairs[:, pairs[0] != pairs[1]], itself), dim=1)


@dataclass(frozen=True, eq=False)
class Complex:
    """A batch of simplicial complexes of nodes, edges and triangles.

    Args:
        below: The incidence of nodes and edges.
        above: The incidence of edges and triangles.
        ends: The nodes of each edge, in the order that gives it its direction.
        corners: The nodes of each triangle, in the order that gives it its direction, or in some
            order where the triangles have signs of their own.
        owners: The graph of each node, edge and triangle.
        num_graphs: Number of graphs.
        bounds: The largest eigenvalue of the Laplacians of each graph, one for each dimension, or
            None where nobody asked for them.
    """

    below: Incidence
    above: Incidence
    ends: Int64[Tensor, "2 m"]
    corners: Int64[Tensor, "3 f"]
    owners: tuple[Int64[Tensor, " n"], Int64[Tensor, " m"], Int64[Tensor, " f"]]
    num_graphs: int
    bounds: Float[Tensor, "b 3"] | None = None

    def laplacian(self, dimension: int, rows: Float[Tensor, "r c"]) -> Float[Tensor, "r c"]:
        r"""The product with a Hodge Laplacian.

        $$L_0 = B_1 B_1^\top, \quad L_1 = B_1^\top B_1 + B_2 B_2^\top, \quad L_2 = B_2^\top B_2.$$

        Args:
            dimension: 0 for nodes, 1 for edges, 2 for triangles.
            rows: One row for each cell of that dimension.

        Returns:
            As many rows.
        """
        if dimension == 0:
            return self.below.to_below(self.below.to_above(rows))
        if dimension == 2:
            return self.above.to_above(self.above.to_below(rows))
        down = self.below.to_above(self.below.to_below(rows))
        return down + self.above.to_below(self.above.to_above(rows))

    def diagonal(self, dimension: int) -> Float[Tensor, "#r 1"]:
        """The diagonal of a Hodge Laplacian, or the one number that stands everywhere on it.

        Args:
            dimension: 0 for nodes, 1 for edges, 2 for triangles.

        Returns:
            One number for each cell of that dimension, or for all of them.
        """
        if dimension == 0:
            return self.below.degree
        if dimension == 1:
            return self.above.degree + 2
        return self.above.degree.new_full((1, 1), SIDES)

    def rescaled(
        self, dimension: int, rows: Float[Tensor, "r c"], how: Rescaling
    ) -> Float[Tensor, "r c"]:
        r"""The product with a Hodge Laplacian whose eigenvalues are brought near to [-1, 1].

        ``"centred"`` is $N(L) = 2 L / \lambda - I$, with $\lambda$ the largest eigenvalue of the
        graph's own Laplacian: eigenvalues from -1 to 1. ``"published"`` is what the published
        networks compute instead: the same off the diagonal, and the negative of it on the diagonal,
        $1 - 2 L_{ii} / \lambda$. Where $\lambda = 0$ both are the identity.

        Args:
            dimension: 0 for nodes, 1 for edges, 2 for triangles.
            rows: One row for each cell of that dimension.
            how: Which of the two.

        Returns:
            As many rows.

        Raises:
            ValueError: If the largest eigenvalues are not there.
        """
        if self.bounds is None:
            raise ValueError(
                "`batch` must hold `laplacian_bounds`, but it does not; try: "
                "AddLaplacianBounds() as a transform or pre_transform of the dataset"
            )
        largest = self.bounds[:, dimension : dimension + 1].to(rows.dtype)
        is_zero = largest <= 0
        scale = torch.where(is_zero, 0.0, 2 / largest.masked_fill(is_zero, 1.0))
        scale = scale.index_select(0, self.owners[dimension])
        image = scale * self.laplacian(dimension, rows)
        if how == "published":
            return image + (1 - 2 * scale * self.diagonal(dimension)) * rows
        return torch.where(scale > 0, image - rows, rows)


def stored_complex(batch: CycleData, like: Float[Tensor, "..."]) -> Complex:
    """The complexes of a batch with the directions that they are stored with.

    Args:
        batch: Graphs whose faces are triangles.
        like: A tensor of the floating type that is wanted.

    Returns:
        The complexes; edges run from tail to head.

    Raises:
        ValueError: If there are no faces on the batch, or some are no triangles.
    """
    sides, signs = _sides_of_triangles(batch)
    above = Incidence(sides, signs.to(like.dtype), _degree(sides, batch.edges.size(1), like))
    below = edge_incidence(batch.edges, batch.graph_of("nodes").size(0), like)
    return _joined(batch, below, above, batch.edges, _corners(batch, sides))


def ordered_complex(batch: CycleData, keys: Float[Tensor, "n c"]) -> Complex:
    r"""The complexes of a batch with directions that come from an order of the nodes.

    A node comes before another if it has the larger number in the first column where they differ.
    Edges run from the first of their nodes to the last, triangles list theirs in the same order,
    and every boundary is $\sum_p (-1)^p$ times the side that leaves out node p. So the directions
    belong to the graph and its keys: names of nodes decide only between nodes with equal keys.

    Args:
        batch: Graphs whose faces are triangles.
        keys: The columns that the nodes are ordered by.

    Returns:
        The complexes.

    Raises:
        ValueError: If there are no faces on the batch, or some are no triangles.
    """
    sides, _ = _sides_of_triangles(batch)
    stays = comes_first(keys, batch.edges)
    ends = torch.where(stays, batch.edges, batch.edges.flip(0))
    # Of the nodes i < j < k of a triangle, its sides in ascending order are (i, j), (i, k), (j, k).
    before = stays.long().index_select(0, sides.flatten()).view_as(sides)
    i_j, i_k, j_k = before
    place = torch.stack((2 - i_j - i_k, i_j + 1 - j_k, i_k + j_k))
    corners = torch.empty_like(place).scatter(0, place, _corners(batch, sides))
    # Opposite i is the side (j, k), and so on: the list backwards.
    opposite = torch.empty_like(place).scatter(0, place, sides.flip(0))
    above = Incidence(opposite, alternating(SIDES, keys), _degree(opposite, ends.size(1), keys))
    return _joined(batch, edge_incidence(ends, keys.size(0), keys), above, ends, corners)


def comes_first(keys: Float[Tensor, "n c"], pairs: Int64[Tensor, "2 p"]) -> Bool[Tensor, " p"]:
    """Whether the first node of a pair comes before the second in the order of some keys.

    Args:
        keys: The columns that nodes are ordered by: larger numbers first, and earlier columns
            before later ones.
        pairs: Pairs of nodes; of two with equal keys the first comes first.

    Returns:
        One answer for each pair.
    """
    first, second = keys[pairs[0]], keys[pairs[1]]
    # The sign of the first column that differs outweighs all that follow: 1 > 1/3 + 1/9 + ...
    column = torch.arange(keys.size(1), device=keys.device, dtype=keys.dtype)
    return ((first - second).sign() * 3.0**-column).sum(1) >= 0


def edge_incidence(
    ends: Int64[Tensor, "2 m"], num_nodes: int, like: Float[Tensor, "..."]
) -> Incidence:
    """The incidence of nodes and edges: -1 where an edge begins, +1 where it ends.

    Args:
        ends: The nodes of each edge, in the order that gives it its direction.
        num_nodes: Number of nodes.
        like: A tensor of the floating type that is wanted.

    Returns:
        The incidence.
    """
    # The side that leaves out the first node is the second one.
    return Incidence(ends.flip(0), alternating(2, like), _degree(ends, num_nodes, like))


def alternating(count: int, like: Float[Tensor, "..."]) -> Float[Tensor, "{count} 1"]:
    """The signs +1, -1, +1, ... in a column.

    Args:
        count: How many.
        like: A tensor of the type and on the device that is wanted.

    Returns:
        The signs.
    """
    return 1 - 2 * (torch.arange(count, device=like.device).unsqueeze(1) % 2).to(like.dtype)


def _joined(
    batch: CycleData,
    below: Incidence,
    above: Incidence,
    ends: Int64[Tensor, "2 m"],
    corners: Int64[Tensor, "3 f"],
) -> Complex:
    nodes, edges, faces = (batch.graph_of(unit) for unit in ("nodes", "edges", "faces"))
    bounds = batch.laplacian_bounds if "laplacian_bounds" in batch else None
    return Complex(below, above, ends, corners, (nodes, edges, faces), batch.num_joined, bounds)


def _sides_of_triangles(
    batch: CycleData,
) -> tuple[Int64[Tensor, "3 f"], Shaped[Tensor, "3 f"]]:
    """The three sides of each triangle, in ascending order, and their signs."""
    if "face_incidence" not in batch:
        raise ValueError(
            "`batch` must hold the triangles of a complex, but it has no `face_incidence`; try: "
            "`LiftToCliqueComplex()` on every graph"
        )
    num_faces, num_sides = batch.graph_of("faces").size(0), batch.face_incidence.size(1)
    # A filler has as many faces and sides as are left, which do not fit together.
    if num_sides != SIDES * num_faces and not batch.has_filler:
        raise ValueError(
            f"the faces of `batch` must be triangles, but {num_faces} faces have {num_sides} "
            "sides; try: `LiftToCliqueComplex()` on every graph"
        )
    first = SIDES * torch.arange(num_faces, device=batch.edges.device)
    places = first + torch.arange(SIDES, device=first.device).unsqueeze(1)
    places = places.clamp(max=num_sides - 1)
    found = batch.face_incidence[0], batch.face_sign
    sides, signs = (one.index_select(0, places.flatten()).view_as(places) for one in found)
    return sides, signs


def _corners(batch: CycleData, sides: Int64[Tensor, "3 f"]) -> Int64[Tensor, "3 f"]:
    """The nodes i < j < k of triangles with the sides (i, j), (i, k), (j, k)."""
    (i, j), k = batch.edges[:, sides[0]], batch.edges[1, sides[1]]
    return torch.stack((i, j, k))


def _degree(
    sides: Int64[Tensor, "k h"], num_low: int, like: Float[Tensor, "..."]
) -> Float[Tensor, "{num_low} 1"]:
    ones = like.new_ones(sides.numel(), 1)
    return like.new_zeros(num_low, 1).index_add(0, sides.flatten(), ones)


def _itself(rows: Float[Tensor, "l 1"]) -> Int64[Tensor, "2 l"]:
    return torch.arange(rows.size(0), device=rows.device).expand(2, -1)
