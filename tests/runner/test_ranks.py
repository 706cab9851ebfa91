"""Several ranks are one rank with larger batches."""

from dataclasses import asdict, replace

import pytest
import torch
from forked import on_ranks
from tiny_runs import CPU, KIND, SETTINGS, Probe, sets

from cyclenet.experiments.build import build_model, prepared
from cyclenet.experiments.spec import Part, Row
from cyclenet.runner.fit import Sets, fit
from cyclenet.runner.ranks import Ranks

ROWS = {
    "gin": Row("GIN", backbone=Part("gin", {"hidden_channels": 8, "num_layers": 2})),
    "gin, summed": Row(
        "GIN",
        backbone=Part("gin", {"hidden_channels": 8, "num_layers": 2, "readout": "sum"}),
        encoder=Part("projector"),
    ),
    "peoi": Row(
        "PEOI", backbone=Part("gcn", {"hidden_channels": 8, "num_layers": 2}), encoder=Part("peoi")
    ),
    "profile": Row(
        "profile", backbone=Part("gat", {"hidden_channels": 8, "num_layers": 2, "heads": 2}),
        encoder=Part("profile"),
    ),
    "cwn": Row("CWN", backbone=Part("cwn", {"hidden_channels": 8, "num_layers": 2})),
    "signnet": Row(
        "SignNet",
        backbone=Part("signnet", {"hidden_channels": 8, "attention_layers": 1, "dropout": 0.0}),
    ),
    "ppgn": Row("PPGN", backbone=Part("ppgn", {"hidden_channels": 8, "num_layers": 2})),
}  # fmt: skip


def trained(name, settings, sizes):
    """Everything that comes of a training in float64, on as many ranks as there are."""
    items = sets(sizes=sizes, dtype=torch.float64)
    if name == "probe":
        model = Probe(dropout=0.0).double()
    else:
        row = ROWS[name]
        torch.manual_seed(0)
        model = build_model(row, KIND).double()
        items = Sets(*(prepared(row, part, dtype=torch.float64) for part in items))
    result = fit(model, KIND, items, settings, seed=0, device=CPU, ranks=Ranks())
    return result, model.state_dict()


def assert_ranks_are_one(world, name, settings, sizes=(18, 7, 5)):
    expected, weights = trained(name, settings, sizes)
    for result, same in on_ranks(world, trained, name, settings, sizes):
        assert result.chosen_epoch == expected.chosen_epoch
        assert result.value == pytest.approx(expected.value, abs=1e-6)
        for name_of, numbers in asdict(expected.curve).items():
            assert getattr(result.curve, name_of) == pytest.approx(numbers, abs=1e-6)
        for key, value in weights.items():
            torch.testing.assert_close(same[key], value, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("world", "settings", "sizes"),
    [
        (2, SETTINGS, (18, 7, 5)),  # batches of 4, the last of 2
        (2, replace(SETTINGS, batch_size=17), (18, 7, 5)),  # the last batch leaves a rank empty
        (3, replace(SETTINGS, clip_norm=0.05), (10, 3, 2)),  # fewer sets to look at than ranks
        (2, replace(SETTINGS, standardise=True, lr_patience=0), (9, 7, 5)),
        (2, replace(SETTINGS, lr_watches="train_batch", select_on="test"), (9, 0, 5)),
    ],
)
def test_ranks_take_the_steps_of_one(world, settings, sizes):
    assert_ranks_are_one(world, "probe", settings, sizes)


@pytest.mark.parametrize("name", ROWS)
def test_networks_see_the_rows_of_all_ranks(name):
    assert_ranks_are_one(2, name, replace(SETTINGS, batch_size=17, epochs=3))


def gradients(missing):
    """Gradients after the sum; each rank has none for some of the weights."""
    ranks = Ranks()
    weights = [torch.zeros(n, requires_grad=True) for n in (1, 2, 3)]
    for index, weight in enumerate(weights):
        if index not in missing[ranks.rank]:
            weight.grad = torch.full_like(weight, 10.0 * ranks.rank + index)
    ranks.sum_gradients(weights)
    total = ranks.total(torch.tensor([1.0, float(ranks.rank)]))
    grads = [None if weight.grad is None else weight.grad.tolist() for weight in weights]
    return grads, total.tolist(), (ranks.rank, ranks.world)


def test_a_gradient_that_only_one_rank_has_reaches_all():
    found = on_ranks(2, gradients, [{1, 2}, {0, 2}])
    for rank, (grads, total, place) in enumerate(found):
        assert grads == [[0.0], [11.0, 11.0], None]
        assert total == [2.0, 1.0]
        assert place == (rank, 2)


def test_one_process_is_a_rank_by_itself():
    assert gradients([{1}]) == ([[0.0], None, [2.0, 2.0, 2.0]], [1.0, 0.0], (0, 1))


def counted():
    """How often each graph that is looked at was seen by all ranks together."""
    items = sets(sizes=(8, 7, 5))
    seen = []

    class Counting(Probe):
        def forward(self, batch):
            if not self.training:
                seen.append(batch.num_joined)
            return super().forward(batch)

    settings = replace(SETTINGS, epochs=1, batch_size=1)
    fit(Counting(), KIND, items, settings, seed=0, device=CPU, ranks=Ranks())
    return sum(seen)


def test_every_validation_graph_is_looked_at_once():
    # Validation and test after the epoch, and test once more at the end.
    assert sum(on_ranks(2, counted)) == counted() == 7 + 5 + 5
