"""The battery of laws finds every kind of encoder that breaks one, and passes those that do not."""

import pytest
import torch

from cyclenet import AddCycleProjector, AddShortestCycleBasis, CycleData
from cyclenet.testing import (
    assert_all_parameters_learn,
    assert_batch_invariant,
    assert_cycle_order_invariant,
    assert_permutation_equivariant,
    check_encoder,
    sample_graphs,
)

GRAPHS = sample_graphs()
PLAIN = CycleData.from_data
BASIS = AddShortestCycleBasis(dtype=torch.float64)


def ends(batch):
    """The sum of the node features at both ends of every arc: a sound encoding."""
    return batch.x[batch.edge_index].sum(0)


class Ends(torch.nn.Module):
    """A map of `ends`."""

    def __init__(self):
        super().__init__()
        self.map = torch.nn.Linear(3, 2)

    def forward(self, batch):
        """One row for each arc."""
        return self.map(ends(batch).to(self.map.weight.dtype))


def test_a_sound_encoder_passes():
    check_encoder(Ends(), PLAIN)
    check_encoder(Ends(), BASIS)


def test_samples_hold_every_kind_of_graph_and_are_always_the_same():
    assert any(data.num_nodes == 0 for data in GRAPHS)
    assert any(data.num_nodes and data.num_edges == 0 for data in GRAPHS)
    transformed = [BASIS(data) for data in GRAPHS]
    assert all(bool(item.unique) for item in transformed)
    assert {int(item.num_cycles) > 0 for item in transformed} == {True, False}
    assert all(torch.equal(a.x, b.x) for a, b in zip(GRAPHS, sample_graphs(), strict=True))


@pytest.mark.parametrize(
    "unsound",
    [
        lambda batch: batch.edge_index.t().double(),  # names
        lambda batch: torch.arange(batch.edge_index.size(1)).double().unsqueeze(1),  # order
        lambda batch: AddCycleProjector()(batch).arc_sign.double().unsqueeze(1),  # orientation
    ],
    ids=["names", "order", "orientation"],
)
def test_what_depends_on_names_is_found(unsound):
    with pytest.raises(AssertionError, match="under new names"):
        assert_permutation_equivariant(unsound, PLAIN, GRAPHS)


def test_what_depends_on_the_batch_is_found():
    with pytest.raises(AssertionError, match="graphs in a batch"):
        assert_batch_invariant(lambda batch: ends(batch) + batch.x.mean(), PLAIN, GRAPHS)


@pytest.mark.parametrize("what", ["order", "direction"])
def test_what_depends_on_how_cycles_are_listed_is_found(what):
    def unsound(batch):
        edge, cycle = batch.cycle_incidence
        weight = cycle.double() if what == "order" else batch.cycle_sign.double()
        sums = weight.new_zeros(batch.edges.size(1)).index_add(0, edge, weight)
        return batch.on_arcs(sums).unsqueeze(1)

    with pytest.raises(AssertionError, match="cycles in another order"):
        assert_cycle_order_invariant(unsound, BASIS, GRAPHS)


def test_rows_that_are_missing_or_no_numbers_are_found():
    with pytest.raises(AssertionError, match="one row for each of the"):
        assert_batch_invariant(lambda batch: ends(batch)[1:], PLAIN, GRAPHS)
    with pytest.raises(AssertionError, match="numbers of"):
        assert_batch_invariant(lambda batch: ends(batch) / 0, PLAIN, GRAPHS)


def test_a_parameter_without_a_gradient_is_found():
    class Idle(Ends):
        def __init__(self):
            super().__init__()
            self.idle = torch.nn.Parameter(torch.ones(2))

    with pytest.raises(AssertionError, match="but idle gets none"):
        assert_all_parameters_learn(Idle(), PLAIN, GRAPHS)


def test_a_parameter_that_stays_behind_is_found():
    """As in published code: what `.to(device)` gives back is no parameter any more."""

    class Forgetful(Ends):
        def _apply(self, fn, recurse=True):
            moved = fn(torch.zeros(())).is_meta
            if not moved:
                return super()._apply(fn, recurse)
            lost = dict(self.map._parameters)
            self.map._parameters.clear()
            for name, parameter in lost.items():
                setattr(self.map, name, fn(parameter.detach()))
            return self

    with pytest.raises(AssertionError, match="follow the module to another device"):
        assert_all_parameters_learn(Forgetful(), PLAIN, GRAPHS)


def test_a_module_without_parameters_is_told():
    class Bare(torch.nn.Module):
        def forward(self, batch):
            return ends(batch).requires_grad_()

    with pytest.raises(AssertionError, match="must have parameters"):
        assert_all_parameters_learn(Bare(), PLAIN, GRAPHS)


def test_the_encoder_of_the_caller_is_left_as_it_was():
    encoder = Ends()
    before = {name: value.clone() for name, value in encoder.state_dict().items()}
    check_encoder(encoder, PLAIN)
    assert encoder.training and encoder.map.weight.dtype == torch.float32
    assert all(torch.equal(value, before[name]) for name, value in encoder.state_dict().items())


def test_a_gradient_of_rounding_is_no_learning():
    class Centred(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(3, 4)  # its bias is taken off by what comes next
            self.norm = torch.nn.BatchNorm1d(4)

        def forward(self, batch):
            return self.norm(self.linear(batch.x))

    with pytest.raises(AssertionError, match=r"linear\.bias gets none"):
        assert_all_parameters_learn(Centred(), PLAIN, GRAPHS)
