"""What every test on the losses of one design promises: inherited by the test files of the classes.

``class TestContract(ResamplingContract): cls = uv.CorrectedTTest`` runs all of it.
"""

import math
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import ucvtest as uv
from ucvtest.results.result import TestResult

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:80, [1, 4, 8]], Y[:80]

NUMBERS = ("estimate", "se", "variance", "statistic", "pvalue", "df", "null_value")


def draw(cls: Any, n_obs: int = 40, seed: int = 0) -> uv.designs.NamedDesign:
    """A draw of the default design of a test."""
    return cls.default_design.draw(n_obs, np.random.default_rng(seed))


def made_up(design: Any, values: Any, loss: str = "zero_one", **options: Any) -> uv.Losses:
    """Losses from arrays that broadcast to (L, R, n)."""
    array = np.asarray(values, dtype=float)
    array = np.broadcast_to(array, (len(array), *design.testing.shape))
    return uv.Losses.from_arrays(array, design.learning, design.testing, loss=loss, **options)


def random_losses(design: Any, n_learners: int = 2, seed: int = 1) -> uv.Losses:
    """Squared losses that are different everywhere."""
    rng = np.random.default_rng(seed)
    values = rng.chisquare(1, size=(n_learners, *design.testing.shape))
    values[-1] += 0.2
    return made_up(design, values, "squared")


def means_only(losses: uv.Losses) -> uv.Losses:
    """What scikit-learn's cross_validate would have left of these losses."""
    return replace(losses, values=None)


class ResamplingContract:
    """Tests that every class passes; subclasses say which class, and what is different."""

    cls: ClassVar[Any]
    tests_a_null: ClassVar[bool] = True
    one_sided: ClassVar[bool] = True
    has_interval: ClassVar[bool] = True
    other_design: ClassVar[Any] = uv.designs.NestedKFold(4, n_repeats=1)
    refusal: ClassVar[str] = "design"

    def fit(self, losses: uv.Losses, *args: Any, **options: Any) -> TestResult:
        return self.cls.from_losses(losses, *args, **options).fit()

    def test_the_same_numbers_from_data_and_from_losses(self):
        new = self.cls(X, Y, "lda", "knn:3").fit(rng=3)
        losses = uv.evaluate(["lda", "knn:3"], X, Y, self.cls.default_design, rng=3)
        given = self.fit(losses)
        assert new.status == given.status == "ok"
        for name in NUMBERS:
            np.testing.assert_equal(getattr(new, name), getattr(given, name), err_msg=name)
        assert (new.n_fits, new.n_obs) == (given.n_fits, given.n_obs) == (losses.n_fits, 80)
        assert new.estimand == given.estimand
        *shared, reuse = given.notes
        assert new.notes == tuple(shared)
        assert reuse.startswith(f"Nothing was fitted for this test: its {new.n_fits} fits")
        assert new.settings["rng"] == given.settings["rng"] == 3
        assert (
            new.settings["test"]
            == given.settings["test"]
            == self.cls.from_losses(losses).method_name
        )

    def test_identical_learners_are_no_comparison(self):
        design = draw(self.cls)
        losses = made_up(design, np.random.default_rng(0).random((1, 1, 40)).repeat(2, 0), "log")
        result = self.fit(losses)
        assert result.status.startswith("degenerate: the two learners had the same loss")
        self.check_without_an_answer(result)
        assert result.estimate == 0

    def test_rounding_makes_no_difference(self):
        design = draw(self.cls)
        rng = np.random.default_rng(0)
        first = 1000 * rng.chisquare(1, size=(1, *design.testing.shape))
        second = first + rng.choice([-1, 0, 1], size=first.shape) * np.spacing(first)
        result = self.fit(made_up(design, np.concatenate([first, second]), "squared"))
        assert "differ by no more than rounding" in result.status
        self.check_without_an_answer(result)

    def test_losses_that_do_not_vary_leave_no_variance(self):
        result = self.fit(made_up(draw(self.cls), [[[0.3]], [[0.4]]], "log"))
        assert result.status.startswith("degenerate")
        self.check_without_an_answer(result)

    def check_without_an_answer(self, result: TestResult) -> None:
        assert math.isnan(result.pvalue)
        assert math.isnan(result.statistic)
        assert result.reference == "none"
        with pytest.warns(uv.UcvtestWarning, match="no confidence interval"):
            assert np.isnan(result.conf_int()).all()
        assert result.status[1:].rstrip(".") in result.verdict
        assert "STATUS" in result.summary().as_text()

    def test_a_test_set_of_one_class_has_no_auc(self):
        design = draw(self.cls)
        y = np.zeros(40, dtype=int)
        y[np.flatnonzero(design.learning[0])[0]] = 1
        scores = np.random.default_rng(0).random((2, 1, 40))
        losses = made_up(design, scores, "auc", y=y)
        if "auc" not in self.cls.needs.metrics:
            return
        for result in (self.fit(losses), self.fit(replace(losses, groups=np.arange(40)))):
            assert result.status.startswith("no estimate: a resample tests one class only")
            self.check_without_an_answer(result)

    def test_auc_higher_is_better(self):
        if "auc" not in self.cls.needs.metrics:
            return
        design = draw(self.cls, 200)
        y = np.arange(200) % 2
        noise = np.random.default_rng(0).normal(size=(2, *design.testing.shape))
        losses = made_up(design, noise + 3 * np.array([[[1]], [[0]]]) * y, "auc", y=y)
        result = self.fit(losses)
        assert result.estimate > 0
        assert result.better == "higher"
        assert "AUC" in result.estimand
        single = self.fit(losses, 1, None)
        assert self.cls.from_losses(losses, 1).null_value == 0.5
        assert single.settings["null_value"] == 0.5

    def test_means_suffice(self):
        if self.cls.needs.values:
            return
        full = random_losses(draw(self.cls))
        assert self.fit(means_only(full)).pvalue == pytest.approx(
            self.fit(full).pvalue, nan_ok=True
        )
        assert self.fit(means_only(full)).se == pytest.approx(self.fit(full).se, nan_ok=True)

    def test_two_sided_is_twice_the_smaller_one_sided(self):
        if not (self.one_sided and self.tests_a_null):
            return
        losses = random_losses(draw(self.cls))
        less, greater, both = (
            self.fit(losses, alternative=side) for side in ("less", "greater", "two-sided")
        )
        assert less.pvalue + greater.pvalue == pytest.approx(1)
        assert both.pvalue == pytest.approx(2 * min(less.pvalue, greater.pvalue))
        assert less.conf_int(0.05) == (-math.inf, pytest.approx(both.conf_int(0.1)[1]))
        assert greater.conf_int(0.05) == (pytest.approx(both.conf_int(0.1)[0]), math.inf)

    def test_the_interval_is_what_the_test_does_not_reject(self):
        if not (self.has_interval and self.tests_a_null):
            return
        losses = random_losses(draw(self.cls))
        for end in self.fit(losses).conf_int(0.1):
            assert self.fit(losses, null_value=end).pvalue == pytest.approx(0.1)

    def test_one_learner(self):
        losses = random_losses(draw(self.cls), n_learners=1)
        tested = self.fit(losses, 0, null_value=0.7)
        assert tested.status == "ok"
        assert tested.settings["other"] is None
        if self.tests_a_null:
            assert 0 < tested.pvalue < 1
            assert tested.null_value == 0.7
        if not self.has_interval:
            with pytest.raises(ValueError, match=r"^null_value"):
                self.fit(losses, 0)
            return
        alone = self.fit(losses, 0)
        assert (alone.estimate, alone.se) == (tested.estimate, tested.se)
        assert math.isnan(alone.pvalue)
        assert math.isfinite(alone.conf_int()[0])
        assert "evidence" not in alone.verdict.lower()

    def test_other_designs_are_refused(self):
        design = self.other_design.draw(80, np.random.default_rng(0))
        with pytest.raises(ValueError, match=self.refusal) as refused:
            self.fit(random_losses(design))
        assert str(refused.value).endswith(f"{self.cls.__name__} accepts {self.cls.needs.designs}")
        with pytest.raises(ValueError, match=self.refusal):
            self.cls(X, Y, "lda", "knn:3", design=self.other_design)
