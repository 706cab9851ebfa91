"""Attention heads: channels cut into parts of equal width."""

from jaxtyping import Float
from torch import Tensor


def heads_of(rows: Float[Tensor, "*r k"], heads: int) -> Float[Tensor, "*r h w"]:
    """The channels of each row, cut into heads.

    Args:
        rows: Any rows.
        heads: Number of heads.

    Returns:
        The same numbers with one more dimension.
    """
    return rows.unflatten(-1, (heads, -1))


def require_heads(channels: int, heads: int) -> None:
    """Refuse heads that do not fit side by side.

    Args:
        channels: Width of all heads together.
        heads: Number of heads.

    Raises:
        ValueError: If the one does not divide the other.
    """
    if heads < 1 or channels % heads:
        raise ValueError(
            f"`heads` must divide the number of channels, but it is {heads} and there are "
            f"{channels} channels; try: heads=1"
        )
