import pytest
import torch
from bad_input import refused
from feature_graphs import num_parameters

from cyclenet.nn.layers.molecules import TaperedHead, TypeEmbedding


def test_integers_and_one_hot_rows_read_the_same_learned_rows():
    torch.manual_seed(0)
    layer = TypeEmbedding(5, 3)
    types = torch.tensor([4, 0, 4, 2])
    for form in (types, types.unsqueeze(1), types.int(), torch.eye(5)[types]):
        assert torch.equal(layer(layer.as_weights(form, "x")), layer.weight[types])
    assert layer(layer.as_weights(types[:0], "x")).shape == (0, 3)


def test_weights_mix_the_learned_rows():
    layer = TypeEmbedding(2, 3)
    found = layer(torch.tensor([[0.25, 2.0]]))
    torch.testing.assert_close(found[0], 0.25 * layer.weight[0] + 2 * layer.weight[1])


def test_learned_rows_start_with_unit_variance():
    torch.manual_seed(0)
    weight = TypeEmbedding(28, 500).weight.detach()
    assert abs(float(weight.std()) - 1) < 0.05 and abs(float(weight.mean())) < 0.05


def test_values_that_are_no_types_are_named():
    layer = TypeEmbedding(5, 3)
    with refused(ValueError, "`z` must hold types from 0 to 4, but it holds values from 1 to 5"):
        layer.as_weights(torch.tensor([1, 5]), "z")
    with refused(ValueError, r"`z` must hold one type in each row, but its shape is \(1, 2\)"):
        layer.as_weights(torch.tensor([[1, 2]]), "z")


@pytest.mark.parametrize(("width", "halves"), [(122, (61, 30)), (77, (38, 19)), (2, (1, 1))])
def test_a_head_tapers_off_to_a_quarter(width, halves):
    head = TaperedHead(width, 3)
    half, quarter = halves
    assert num_parameters(head) == sum(i * o + o for i, o in ((width, half), (half, quarter),
                                                              (quarter, 3)))  # fmt: skip
    assert [type(module).__name__ for module in head] == ["Linear", "ReLU"] * 2 + ["Linear"]
