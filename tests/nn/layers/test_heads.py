import pytest
import torch
from bad_input import refused

from cyclenet.nn.layers.heads import heads_of, require_heads


def test_channels_are_cut_in_order():
    rows = torch.arange(12.0).view(2, 6)
    assert heads_of(rows, 3)[1].tolist() == [[6, 7], [8, 9], [10, 11]]
    assert heads_of(rows.view(1, 2, 6), 2).shape == (1, 2, 2, 3)


@pytest.mark.parametrize("heads", [0, -1, 3, 8])
def test_heads_must_fit_side_by_side(heads):
    require_heads(4, 2)
    with refused(ValueError, f"`heads` must divide .* it is {heads} and there are 4 channels; try"):
        require_heads(4, heads)
