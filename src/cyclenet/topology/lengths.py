"""Edge weights as whole numbers, so that equal lengths are equal and not merely close."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from cyclenet.topology.errors import GraphError

# Sums along two paths and an edge, and half as much again, must stay below 2^63.
LENGTH_BITS = 60


class WholeLengths(NamedTuple):
    """Weights on a grid.

    Args:
        lengths: The weight of each edge as a multiple of its unit.
        keys: What searches add up: the lengths, or where a group has zeros, lengths and numbers of
            edges in one number, so that every edge counts and no closed walk is free.
        unit: The unit, up to a power of two.
        exponents: That power for each edge, the same throughout a group.
        has_zeros: Whether some length is zero.
    """

    lengths: Int[np.ndarray, " m"]
    keys: Int[np.ndarray, " m"]
    unit: float
    exponents: Int[np.ndarray, " m"]
    has_zeros: bool

    @property
    def weights(self) -> Float[np.ndarray, " m"]:
        """The weights, rounded to the grid."""
        return np.ldexp(self.lengths * self.unit, self.exponents)

    def sums(
        self, edges: Int[np.ndarray, " q"], pointers: Int[np.ndarray, " g1"]
    ) -> Float[np.ndarray, " g"]:
        """Total weight of each of several sets of edges, each set inside one group.

        Whole lengths are summed before they are scaled, so that sets of equal length get equal
        floats and longer ones never smaller floats.

        Args:
            edges: The sets, one after the other; none is empty.
            pointers: Set k is `edges[pointers[k]:pointers[k + 1]]`.

        Returns:
            The weights.
        """
        if edges.size == 0:
            return np.zeros(0)
        first = pointers[:-1]
        totals = np.add.reduceat(self.lengths[edges], first)
        return np.ldexp(totals * self.unit, self.exponents[edges[first]])


def whole_lengths(
    weights: Float[np.ndarray, " m"],
    weight_tol: float | None = None,
    *,
    group: Int[np.ndarray, " m"] | None = None,
) -> WholeLengths:
    r"""Weights as multiples of one unit, so that ties are decided in whole numbers.

    Without a tolerance the unit is the power of two for which the sum of the weights of a group
    just fits into 60 bits. Every weight that is a multiple of it is exact: integers, halves, and
    any float64 not below $2^{-7}$ of the sum. The rest is off by at most half a unit, less than
    the rounding of a float64 sum.

    Args:
        weights: Finite, not negative.
        weight_tol: The unit, where weights closer than that are meant to be equal (0.1 + 0.2
            and 0.3 are different float64 numbers; with `weight_tol=1e-9` they are not).
        group: Group of each weight, -1 for none. Weights of different groups are never compared,
            so each group has a unit of its own: the blocks of a graph. None is one group.

    Returns:
        The lengths and the keys to search with. Weights of no group have length 1.

    Raises:
        GraphError: If `weight_tol` is not positive and finite, or too small for the sum of the
            weights, or if that sum is not finite.
    """
    group = np.zeros(weights.size, dtype=np.int64) if group is None else group
    inside = group >= 0
    own, values = group[inside], weights[inside]
    counts = np.bincount(own)
    with np.errstate(over="ignore"):
        sums = np.bincount(own, values).astype(np.float64)
    _check_sums(sums, counts, weight_tol)
    hop_bits = np.frexp(counts)[1]
    if weight_tol is None:
        unit = 1.0
        # Twice the rounded sum is above the sum, however its rounding went.
        powers = np.frexp(sums)[1] - LENGTH_BITS
        grid = np.rint(np.ldexp(values, -powers[own]))
        holds_zero = np.bincount(own[grid == 0], minlength=counts.size) > 0
        powers += hop_bits * holds_zero
        grid = np.rint(np.ldexp(values, -powers[own]))
    else:
        unit = float(weight_tol)
        powers = np.zeros(counts.size, dtype=np.int64)
        grid = np.rint(values / weight_tol)
        holds_zero = np.bincount(own[grid == 0], minlength=counts.size) > 0
    lengths, keys, exponents = np.ones((3, weights.size), dtype=np.int64)
    lengths[inside] = grid
    exponents[inside] = powers[own]
    shifts = (hop_bits * holds_zero)[own]
    keys[inside] = (lengths[inside] << shifts) + (shifts > 0)
    return WholeLengths(lengths, keys, unit, exponents, bool(holds_zero.any()))


def _check_sums(
    sums: Float[np.ndarray, " groups"],
    counts: Int[np.ndarray, " groups"],
    weight_tol: float | None,
) -> None:
    if not np.isfinite(sums).all():
        raise GraphError(
            "the sum of the `weights` must be a finite float64, but it is not; try: a larger unit",
            code="weight_value",
        )
    if weight_tol is None:
        return
    total = float(sums.max(initial=0.0))
    most = 2.0 ** (LENGTH_BITS - int(counts.max(initial=1)).bit_length())
    if not (0 < weight_tol < np.inf and total / weight_tol < most):
        raise GraphError(
            "`weight_tol` must be positive, finite and not below 2^-40 or so of the sum of the "
            f"weights, {total}, but it is {weight_tol}; try: {max(total, 1.0) * 1e-9:.1g}",
            code="weight_tol",
        )
