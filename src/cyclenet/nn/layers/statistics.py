"""What a node remembers of many messages: four numbers for each channel."""

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from cyclenet.nn.layers.pooling import sum_pool

# Under the root of the spread, whose slope at 0 would be infinite (Corso et al. 2020).
_SPREAD_FLOOR = 1e-5


def row_statistics(
    rows: Float[Tensor, "r k"], owner: Int64[Tensor, " r"], counts: Float[Tensor, "n 1"]
) -> Float[Tensor, "n 4 k"]:
    r"""Mean, maximum, minimum and spread of the rows of each owner (Corso et al. 2020).

    $$\overline{x}, \qquad \max x, \qquad \min x, \qquad
      \sqrt{\max(0, \overline{x^2} - \overline{x}^2) + 10^{-5}}$$

    in each channel, and 0, 0, 0 and the root of $10^{-5}$ where an owner has no rows.

    Args:
        rows: Any rows.
        owner: Whom each row belongs to, in any order.
        counts: How many rows each owner has.

    Returns:
        The four, in this order, for each owner.
    """
    channels = rows.size(1)
    sums = sum_pool(torch.cat((rows, rows.square()), dim=1), owner, counts.size(0))
    mean, square = (sums / counts.clamp(min=1)).split(channels, dim=1)
    # A minimum is a maximum of opposites, so one pass finds both.
    both = torch.cat((rows, -rows), dim=1)
    lowest = both.new_full((counts.size(0), 2 * channels), -torch.inf)
    peaks = lowest.scatter_reduce(0, owner.unsqueeze(1).expand_as(both), both, "amax")
    high, low = torch.where(counts > 0, peaks, 0.0).split(channels, dim=1)
    spread = ((square - mean.square()).relu() + _SPREAD_FLOOR).sqrt()
    return torch.stack((mean, high, -low, spread), dim=1)
