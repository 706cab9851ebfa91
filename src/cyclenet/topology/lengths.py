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
        lengths: The weight of each edge as a multiple of the unit.
        keys: What searches add up: the lengths, or where some are zero, lengths and numbers of
            edges in one number, so that every edge counts and no closed walk is free.
        has_zeros: Whether some length is zero.
    """

    lengths: Int[np.ndarray, " m"]
    keys: Int[np.ndarray, " m"]
    has_zeros: bool


def whole_lengths(
    weights: Float[np.ndarray, " m"], weight_tol: float | None = None
) -> WholeLengths:
    r"""Weights as multiples of one unit, so that ties are decided in whole numbers.

    Without a tolerance the unit is the power of two for which the sum of all weights just fits
    into 60 bits. Every weight that is a multiple of it is exact: integers, halves, and any
    float64 not below $2^{-7}$ of the sum. The rest is off by at most half a unit, less than the
    rounding of a float64 sum.

    Args:
        weights: Finite, not negative.
        weight_tol: The unit, where weights closer than that are meant to be equal (0.1 + 0.2
            and 0.3 are different float64 numbers; with `weight_tol=1e-9` they are not).

    Returns:
        The lengths and the keys to search with.

    Raises:
        GraphError: If `weight_tol` is not positive, or too small for the sum of the weights, or if
            that sum is not finite.
    """
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if not np.isfinite(total):
        raise GraphError(
            "the sum of the `weights` must be a finite float64, but it is not; try: a larger unit",
            code="weight_value",
        )
    bits = LENGTH_BITS
    if weight_tol is None:
        lengths = _on_grid(weights, total, bits)
        has_zeros = bool((lengths == 0).any())
        if has_zeros:
            bits = LENGTH_BITS - weights.size.bit_length()
            lengths = _on_grid(weights, total, bits)
    else:
        if not (weight_tol > 0 and total / weight_tol < 2.0 ** (bits - weights.size.bit_length())):
            raise GraphError(
                "`weight_tol` must be positive and not below 2^-40 or so of the sum of the "
                f"weights, {total}, but it is {weight_tol}; try: {max(total, 1.0) * 1e-9:.1g}",
                code="weight_tol",
            )
        lengths = np.rint(weights / weight_tol).astype(np.int64)
        has_zeros = bool((lengths == 0).any())
    keys = (lengths << weights.size.bit_length()) + 1 if has_zeros else lengths
    return WholeLengths(lengths, keys, has_zeros)


def _on_grid(weights: Float[np.ndarray, " m"], total: float, bits: int) -> Int[np.ndarray, " m"]:
    _, exponent = np.frexp(total)
    return np.rint(np.ldexp(weights, bits - int(exponent))).astype(np.int64)
