"""Exact facts about integer matrices, from arithmetic modulo a prime."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Int

# The largest prime below 2^31: products of two residues fit in int64.
PRIME = 2_147_483_647

Residues = Int[np.ndarray, " n"]


def minimal_polynomial(
    apply: Callable[[Residues], Residues], size: int, degree: int, seed: int
) -> Int[np.ndarray, " d1"]:
    r"""A divisor of the minimal polynomial of a matrix mod p, almost surely all of it.

    The numbers $u^\top A^k v$ for random u and v satisfy the recurrence of least length whose
    polynomial divides the minimal polynomial of A mod p, and equals it unless one of fewer
    than 2n / p unlucky choices was made (Wiedemann 1986).

    Args:
        apply: Multiplies a vector of residues by A, mod p.
        size: n.
        degree: Polynomials up to this degree are found; a larger one is reported as some
            polynomial of a larger degree.
        seed: Chooses u and v.

    Returns:
        Coefficients from the leading 1 down to the constant one; the degree is one less than
        their number.
    """
    rng = np.random.default_rng(seed)
    left, right = rng.integers(0, PRIME, size=(2, size))
    terms = []
    for _ in range(2 * degree + 2):
        terms.append(int((left * right % PRIME).sum() % PRIME))
        right = apply(right) % PRIME
    return _shortest_recurrence(np.array(terms, dtype=np.int64))


def _shortest_recurrence(terms: Int[np.ndarray, " k"]) -> Int[np.ndarray, " d1"]:
    """Coefficients c, c_0 = 1, of least length with sum c_j terms[i - j] = 0 (Massey 1969)."""
    # Whenever the recurrence fails to predict a term, a shifted copy of an earlier one mends it.
    current = np.array([1], dtype=np.int64)
    before, failed_by, shift = current, 1, 1
    length = 0
    for i in range(terms.size):
        used = terms[i - current.size + 1 : i + 1][::-1]
        error = int((current * used % PRIME).sum() % PRIME)
        if error == 0:
            shift += 1
            continue
        factor = error * pow(failed_by, -1, PRIME) % PRIME
        longer = np.zeros(max(current.size, before.size + shift), dtype=np.int64)
        longer[: current.size] = current
        longer[shift : shift + before.size] -= factor * before % PRIME
        if 2 * length <= i:
            before, failed_by, shift = current, error, 1
            length = i + 1 - length
        else:
            shift += 1
        current = longer % PRIME
    return np.pad(current, (0, length + 1 - current.size))
