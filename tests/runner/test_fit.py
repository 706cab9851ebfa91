"""The training loop: what it may look at, what it may depend on, and what it refuses."""

import math
from dataclasses import replace

import pytest
import torch
from bad_input import refused
from tiny_runs import CPU, KIND, SETTINGS, Probe, sets
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from cyclenet.runner.checkpoint import Keeper
from cyclenet.runner.fit import TrainingFailed, fit

PAPER = replace(SETTINGS, lr_watches="train_batch", select_on="test", select_by="metric")
AVERAGED = replace(SETTINGS, average=0.9, schedule="cosine", warmup=2, decoupled=True)


def fitted(items=None, settings=SETTINGS, *, seed=0, model=None, kind=KIND, **options):
    """What came of a training, and the weights."""
    model = model or Probe()
    items = items or sets()
    result = fit(model, kind, items, settings, seed=seed, device=CPU, **options)
    return result, {name: value.clone() for name, value in model.state_dict().items()}


def assert_same_weights(one, other):
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert torch.equal(value, other[name]), name


def test_a_training_learns():
    result, _ = fitted(settings=replace(SETTINGS, epochs=40), model=Probe(dropout=0.0))
    losses = result.curve.train_loss
    assert len(losses) == 40
    assert losses[-1] < 0.5 * losses[0]


def test_the_honest_protocol_does_not_see_the_test_graphs():
    one, weights = fitted(sets(test_seed=3))
    other, same = fitted(sets(test_seed=4))
    assert one.chosen_epoch == other.chosen_epoch
    assert one.curve.validation_loss == other.curve.validation_loss
    assert one.curve.test_metric != other.curve.test_metric
    assert_same_weights(weights, same)


def test_the_honest_epoch_is_the_first_best_on_validation():
    result, _ = fitted(settings=replace(SETTINGS, epochs=12, lr=0.3))
    losses = result.curve.validation_loss
    assert result.chosen_epoch == losses.index(min(losses)) + 1
    assert result.value == pytest.approx(result.curve.test_metric[result.chosen_epoch - 1])
    assert result.details["validation"] == result.curve.validation_metric[result.chosen_epoch - 1]


def test_the_published_epoch_is_the_best_on_test():
    items = sets(sizes=(18, 0, 5))
    result, _ = fitted(items, replace(PAPER, epochs=12, lr=0.3))
    best = min(result.curve.test_metric)
    assert result.value == pytest.approx(best)
    assert result.curve.test_metric[result.chosen_epoch - 1] == best
    assert result.curve.validation_loss == ()


def test_the_last_epoch_counts_where_none_is_chosen():
    items = sets(sizes=(18, 0, 5))
    result, _ = fitted(items, replace(PAPER, select_on="last", epochs=5, lr=0.3))
    assert result.chosen_epoch == 5
    assert result.value == result.curve.test_metric[-1]


def test_the_metric_chooses_the_epoch_if_it_is_asked_to():
    settings = replace(SETTINGS, epochs=20)
    by_loss, _ = fitted(settings=settings)
    by_metric, _ = fitted(settings=replace(settings, select_by="metric"))
    assert by_loss.curve == by_metric.curve
    losses, errors = by_loss.curve.validation_loss, by_loss.curve.validation_metric
    assert losses.index(min(losses)) != errors.index(min(errors)), "settings that tell nothing"
    assert by_loss.chosen_epoch == losses.index(min(losses)) + 1
    assert by_metric.chosen_epoch == errors.index(min(errors)) + 1


def test_the_seed_decides_the_order_of_the_graphs():
    _, one = fitted(seed=0)
    _, same = fitted(seed=0)
    _, other = fitted(seed=1)
    assert_same_weights(one, same)
    assert not torch.equal(one["inner.weight"], other["inner.weight"])


@pytest.mark.parametrize("loss", ["mse", "l1"])
def test_standardised_targets_are_learnt_in_any_unit(loss):
    kind = replace(KIND, loss=loss)
    settings = replace(SETTINGS, standardise=True)
    plain = sets(dtype=torch.float64)
    scaled = sets(dtype=torch.float64)
    for items in scaled:
        for item in items:
            item.y = 1000 * item.y - 70
    one, weights = fitted(plain, settings, kind=kind, model=Probe().double())
    other, same = fitted(scaled, settings, kind=kind, model=Probe().double())
    assert other.chosen_epoch == one.chosen_epoch
    assert other.value == pytest.approx(1000 * one.value, rel=1e-6)
    for name, value in weights.items():
        torch.testing.assert_close(value, same[name], rtol=1e-6, atol=1e-9)


def test_labels_are_not_standardised():
    kind = replace(KIND, loss="bce", metric="accuracy", higher_is_better=True)
    with refused(ValueError, "standardise"):
        fitted(settings=replace(SETTINGS, standardise=True), kind=kind)


class Constant(Probe):
    """A network that cannot learn."""

    def forward(self, batch):
        return 0.0 * super().forward(batch)


def test_the_learning_rate_falls_when_validation_stands_still_and_the_training_ends_with_it():
    settings = replace(SETTINGS, epochs=50, lr=0.1, lr_patience=2, lr_factor=0.5, min_lr=0.02)
    result, _ = fitted(settings=settings, model=Constant())
    # The first look sets the mark; after two more that may pass, each third one halves the rate.
    assert result.curve.lr == pytest.approx([0.1] * 4 + [0.05] * 3 + [0.025] * 3)
    assert result.chosen_epoch == 1


def test_the_published_training_goes_on_at_the_lowest_learning_rate():
    settings = replace(PAPER, epochs=6, lr=0.1, lr_patience=0, lr_factor=0.1, min_lr=0.02)
    result, _ = fitted(settings=settings, model=Constant())
    assert len(result.curve.lr) == 6
    assert result.curve.lr[-1] == pytest.approx(0.02)


@pytest.mark.parametrize("norm", [0.0, 0.01])
def test_gradients_are_clipped_before_every_step(norm):
    norms = []

    def look(optimiser, *_):
        grads = [weight.grad for group in optimiser.param_groups for weight in group["params"]]
        norms.append(float(torch.cat([grad.flatten() for grad in grads]).norm()))

    handle = register_optimizer_step_pre_hook(look)
    try:
        fitted(settings=replace(SETTINGS, clip_norm=norm))
    finally:
        handle.remove()
    assert len(norms) == 5 * 5
    assert max(norms) <= norm * (1 + 1e-4) if norm else max(norms) > 0.01


@pytest.mark.parametrize("poison", [math.nan, math.inf])
def test_a_loss_that_is_no_number_names_its_step_and_graphs(poison):
    items = sets()
    items.train[11].x[0, 0] = poison
    items.train[11].y[0, 0] = poison
    with pytest.raises(TrainingFailed) as caught:
        fitted(items)
    assert "epoch 1" in str(caught.value)
    assert "step" in str(caught.value)
    graphs = str(caught.value).partition("[")[2].partition("]")[0]
    assert 11 in map(int, graphs.split(","))
    assert caught.value.curve.train_loss == ()


def test_weights_that_break_in_the_last_step_are_noticed_too():
    with pytest.raises(TrainingFailed, match="epoch 1") as caught:
        fitted(settings=replace(SETTINGS, batch_size=18, lr=1e39))
    assert "after step 1" in str(caught.value)


@pytest.mark.parametrize(
    ("sizes", "settings", "named"),
    [
        ((0, 3, 3), SETTINGS, "train"),
        ((6, 0, 3), SETTINGS, "validation"),
        ((6, 3, 0), SETTINGS, "test"),
    ],
)
def test_a_set_that_is_needed_must_not_be_empty(sizes, settings, named):
    with refused(ValueError, f"`sets` must have {named}"):
        fitted(sets(sizes=sizes), settings)


class Interrupted(BaseException):
    """Somebody pressed Ctrl-C."""


@pytest.mark.parametrize("stops", [(1,), (2, 3, 4)])
@pytest.mark.parametrize("settings", [SETTINGS, replace(PAPER, lr_patience=1), AVERAGED])
def test_an_interrupted_training_ends_with_the_same_weights(tmp_path, stops, settings):
    expected, weights = fitted(settings=settings)
    for stop in stops:

        def watch(told, stop=stop):
            if told.epoch == stop:
                raise Interrupted

        with pytest.raises(Interrupted):
            # Nothing is written before the end of the interval but on the way out.
            fitted(settings=settings, keeper=Keeper(tmp_path, "same"), watch=watch)
    seen = []
    keeper = Keeper(tmp_path, "same")
    result, same = fitted(settings=settings, model=Probe(seed=7), keeper=keeper, watch=seen.append)
    assert [told.epoch for told in seen] == list(range(stops[-1] + 1, 6))
    assert result.curve == expected.curve
    assert (result.value, result.chosen_epoch) == (expected.value, expected.chosen_epoch)
    assert result.seconds_before > 0
    assert_same_weights(weights, same)


def test_a_wave_rises_falls_and_ends_at_the_lowest_rate():
    settings = replace(SETTINGS, schedule="cosine", epochs=22, warmup=2, lr=0.1, min_lr=0.01)
    rates = fitted(settings=settings)[0].curve.lr
    assert rates[:3] == pytest.approx((0.1 / 3, 0.2 / 3, 0.1))
    assert list(rates[2:]) == sorted(rates[2:], reverse=True)
    assert rates[12] == pytest.approx(0.055) and 0.01 < rates[-1] < 0.011


def test_a_constant_rate_needs_no_validation_graphs():
    settings = replace(PAPER, schedule="constant", lr_watches="validation", epochs=8, lr_patience=0)
    curve = fitted(sets(sizes=(18, 0, 5)), settings)[0].curve
    assert set(curve.lr) == {settings.lr}


def test_a_wave_watches_no_loss():
    settings = replace(SETTINGS, schedule="cosine", lr_patience=0, epochs=6)
    one = fitted(settings=settings)[0].curve
    other = fitted(settings=replace(settings, lr_factor=0.1))[0].curve
    assert one.lr == other.lr and one.train_loss == other.train_loss


def test_weights_decay_by_themselves_only_where_it_is_asked_for():
    """Without a gradient Adam with its own decay goes by the sign, AdamW in proportion."""
    settings = replace(SETTINGS, epochs=1, lr=0.1, weight_decay=0.5, decoupled=True)
    model = Probe()
    model.idle = torch.nn.Parameter(torch.tensor([4.0, -2.0]))
    items = sets()
    steps = math.ceil(len(items.train) / settings.batch_size)

    def forward(batch, plain=model.forward):
        return plain(batch) + 0 * model.idle.sum()

    model.forward = forward
    _, weights = fitted(items, settings, model=model)
    torch.testing.assert_close(weights["idle"], torch.tensor([4.0, -2.0]) * 0.95**steps)


def test_a_running_mean_is_what_its_formula_says():
    settings = replace(SETTINGS, epochs=3, average=0.5)
    seen = []
    hook = register_optimizer_step_post_hook(
        lambda optimiser, *_: seen.append([w.detach().clone() for w in weights_of(optimiser)])
    )
    try:
        result, weights = fitted(settings=replace(settings, lr=0.05), model=Probe(seed=3))
    finally:
        hook.remove()
    per_epoch = len(seen) // 3
    means = [w.detach().clone() for w in Probe(seed=3).parameters()]
    for step, current in enumerate(seen[: per_epoch * result.chosen_epoch], start=1):
        kept = min(0.5, (1 + step) / (10 + step))
        means = [kept * m + (1 - kept) * w for m, w in zip(means, current, strict=True)]
    for mean, found in zip(means, weights.values(), strict=True):
        torch.testing.assert_close(found, mean)


def weights_of(optimiser):
    return optimiser.param_groups[0]["params"]


def test_a_training_that_was_over_is_only_evaluated(tmp_path):
    keeper = Keeper(tmp_path, "same", interval=0.0)
    expected, weights = fitted(keeper=keeper)
    seen = []
    result, same = fitted(model=Probe(seed=7), keeper=keeper, watch=seen.append)
    assert seen == []
    assert result.value == expected.value
    assert_same_weights(weights, same)
