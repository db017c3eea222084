"""What every test on the losses of one design promises, whatever its design, about any loss."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ucvtest as uv
from tests.support.resampling import X, Y, draw, made_up, random_losses
from ucvtest.methods.classical.resampling import ResamplingTest
from ucvtest.methods.registry import TESTS

NUMBERS = ("estimate", "se", "variance", "statistic", "pvalue", "df", "null_value")

CLASSES = [
    cls
    for cls in TESTS.values()
    if issubclass(cls, ResamplingTest) and "loss" in cls.needs.metrics and not cls.needs.time
]
each_class = pytest.mark.parametrize("cls", CLASSES)

OTHER_DESIGNS = [
    *(uv.designs.KFold(5), uv.designs.RandomSplits(6), uv.designs.HoldOut()),
    *(uv.designs.KFold(5, 2), uv.designs.SplitHalves(3, 2), uv.designs.NestedKFold(4, 1)),
]


def fit(cls: Any, losses: uv.Losses, *args: Any, **options: Any) -> uv.TestResult:
    result: uv.TestResult = cls.from_losses(losses, *args, **options).fit()
    return result


def has_pvalue(cls: Any) -> bool:
    """Whether it has a p-value; the Bayesian test has none."""
    return not math.isnan(fit(cls, random_losses(draw(cls))).pvalue)


def check_without_an_answer(result: uv.TestResult) -> None:
    assert math.isnan(result.pvalue)
    assert math.isnan(result.statistic)
    assert result.reference == "none"
    with pytest.warns(uv.UcvtestWarning, match="no confidence interval"):
        assert np.isnan(result.conf_int()).all()
    assert result.status[1:].rstrip(".") in result.verdict
    assert "STATUS" in result.summary().as_text()


@each_class
def test_the_same_numbers_from_data_and_from_losses(cls):
    new = cls(X, Y, "lda", "knn:3").fit(rng=3)
    losses = uv.evaluate(["lda", "knn:3"], X, Y, cls.default_design, rng=3)
    given = fit(cls, losses)
    assert new.status == given.status == "ok"
    for name in NUMBERS:
        np.testing.assert_equal(getattr(new, name), getattr(given, name), err_msg=name)
    assert (new.n_fits, new.n_obs) == (given.n_fits, given.n_obs) == (losses.n_fits, 80)
    assert new.estimand == given.estimand
    *shared, reuse = given.notes
    assert new.notes == tuple(shared)
    assert reuse.startswith(f"Nothing was fitted for this test: its {new.n_fits} fits")
    assert new.settings["rng"] == given.settings["rng"] == 3


@each_class
def test_identical_learners_are_no_comparison(cls):
    losses = made_up(draw(cls), np.random.default_rng(0).random((1, 1, 40)).repeat(2, 0), "log")
    result = fit(cls, losses)
    assert result.status.startswith("degenerate: the two learners had the same loss")
    check_without_an_answer(result)
    assert result.estimate == 0


@each_class
def test_rounding_makes_no_difference(cls):
    design, rng = draw(cls), np.random.default_rng(0)
    first = 1000 * rng.chisquare(1, size=(1, *design.testing.shape))
    second = first + rng.choice([-1, 0, 1], size=first.shape) * np.spacing(first)
    result = fit(cls, made_up(design, np.concatenate([first, second]), "squared"))
    assert "differ by no more than rounding" in result.status
    check_without_an_answer(result)


@each_class
def test_losses_that_do_not_vary_leave_no_variance(cls):
    result = fit(cls, made_up(draw(cls), [[[0.3]], [[0.4]]], "log"))
    assert result.status.startswith("degenerate")
    check_without_an_answer(result)


OF_AUCS = [cls for cls in CLASSES if "auc" in cls.needs.metrics]


@pytest.mark.parametrize("cls", [cls for cls in OF_AUCS if not cls.needs.values])
def test_a_test_set_of_one_class_has_no_auc(cls):
    design = draw(cls)
    y = np.zeros(40, dtype=int)
    y[np.flatnonzero(design.learning[0])[0]] = 1
    losses = made_up(design, np.random.default_rng(0).random((2, 1, 40)), "auc", y=y)
    for result in (fit(cls, losses), fit(cls, replace(losses, groups=np.arange(40)))):
        assert result.status.startswith("no estimate: a resample tests one class only")
        check_without_an_answer(result)


@pytest.mark.parametrize("cls", OF_AUCS)
def test_auc_higher_is_better(cls):
    design, y = draw(cls, 200), np.arange(200) % 2
    noise = np.random.default_rng(0).normal(size=(2, *design.testing.shape))
    losses = made_up(design, noise + 3 * np.array([[[1]], [[0]]]) * y, "auc", y=y)
    result = fit(cls, losses)
    assert result.estimate > 0
    assert result.better == "higher"
    assert "AUC" in result.estimand
    assert cls.from_losses(losses, 1).null_value == 0.5
    assert fit(cls, losses, 1, None).settings["null_value"] == 0.5


@pytest.mark.parametrize("cls", [cls for cls in CLASSES if not cls.needs.values])
def test_means_suffice(cls):
    full = random_losses(draw(cls))
    # What scikit-learn's cross_validate would have left of these losses.
    found, expected = fit(cls, replace(full, values=None)), fit(cls, full)
    assert found.pvalue == pytest.approx(expected.pvalue, nan_ok=True)
    assert found.se == pytest.approx(expected.se, nan_ok=True)


@pytest.mark.parametrize("cls", [c for c in CLASSES if "alternative" not in c.needs.without])
def test_two_sided_is_twice_the_smaller_one_sided(cls):
    if not has_pvalue(cls):
        return
    losses = random_losses(draw(cls))
    less, greater, both = (
        fit(cls, losses, alternative=side) for side in ("less", "greater", "two-sided")
    )
    assert less.pvalue + greater.pvalue == pytest.approx(1)
    assert both.pvalue == pytest.approx(2 * min(less.pvalue, greater.pvalue))
    assert less.conf_int(0.05) == (-math.inf, pytest.approx(both.conf_int(0.1)[1]))
    assert greater.conf_int(0.05) == (pytest.approx(both.conf_int(0.1)[0]), math.inf)


@pytest.mark.parametrize("cls", [c for c in CLASSES if "interval" not in c.needs.without])
def test_the_interval_is_what_the_test_does_not_reject(cls):
    losses = random_losses(draw(cls))
    for end in fit(cls, losses).conf_int(0.1):
        assert fit(cls, losses, null_value=end).pvalue == pytest.approx(0.1)


@each_class
def test_one_learner(cls):
    losses = random_losses(draw(cls), n_learners=1)
    tested = fit(cls, losses, 0, null_value=0.7)
    assert tested.status == "ok"
    assert tested.settings["other"] is None
    if has_pvalue(cls):
        assert 0 < tested.pvalue < 1
        assert tested.null_value == 0.7
        if "interval" in cls.needs.without:
            with pytest.raises(ValueError, match=r"^null_value"):
                fit(cls, losses, 0)
            return
    alone = fit(cls, losses, 0)
    assert (alone.estimate, alone.se) == (tested.estimate, tested.se)
    assert math.isnan(alone.pvalue)
    assert math.isfinite(alone.conf_int()[0])
    assert "evidence" not in alone.verdict.lower()


def message_of(call: Callable[[], Any]) -> str:
    """What is said of a call, if it is refused."""
    try:
        call()
    except ValueError as error:
        return str(error)
    return ""


@each_class
def test_other_designs_are_refused(cls):
    """From losses and from data alike, with those that it accepts."""
    messages = []
    for other in OTHER_DESIGNS:
        losses = random_losses(other.draw(80, np.random.default_rng(0)))
        of_losses = message_of(lambda losses=losses: cls.from_losses(losses))
        of_data = message_of(lambda other=other: cls(X, Y, "lda", "knn:3", design=other))
        assert bool(of_losses) == bool(of_data)
        messages += [each for each in (of_losses, of_data) if each]
    accepted = f"{cls.__name__} accepts {cls.needs.designs}"
    assert messages
    assert [each for each in messages if not each.endswith(accepted)] == []
