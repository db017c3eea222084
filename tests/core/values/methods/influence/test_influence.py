"""InfluenceFunctionTest: the definition from end to end, the contract, and what users get wrong."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import (
    RepeatedStratifiedKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.tree import DecisionTreeClassifier

import ucvtest as uv
from studies import simulate
from studies.reproductions import influence
from tests.oracles import influence as oracle
from ucvtest.common.execution import Execution
from ucvtest.designs.design import Design
from ucvtest.evaluation.loss_source import FittedLosses
from ucvtest.kernels.influence.calls import repeats_needed
from ucvtest.methods.influence.estimation import draw_resamples, estimates_from
from ucvtest.methods.influence.options import Layout
from ucvtest.methods.influence.resamples import draw_bootstrap, draw_folds
from ucvtest.metrics.means import LOSSES


def difference_of_means(X_train, y_train, X_test):
    """Scores along the line between the class means."""
    return X_test @ (X_train[y_train == 1].mean(axis=0) - X_train[y_train == 0].mean(axis=0))


def first_feature(X_train, y_train, X_test):
    """The first feature, rounded so that there are ties."""
    return np.round(X_test[:, 0])


def nearest_mean(X_train, y_train, X_test):
    """Labels for the error rate."""
    means = np.array([X_train[y_train == label].mean(axis=0) for label in (0, 1)])
    return ((X_test[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)


def constant(X_train, y_train, X_test):
    return np.zeros(len(X_test))


def mixed(n_negative, n_positive, p=2, shift=0.7, seed=0):
    """Two normal classes, the labels in random order."""
    X, y = simulate.normal_classes(n_negative, n_positive, p, shift, rng=seed)
    order = np.random.default_rng(seed).permutation(len(y))
    return X[order], y[order]


def classes_of(y, metric):
    if metric == "error":
        return [np.arange(len(y))]
    return [np.flatnonzero(y == 1), np.flatnonzero(y == 0)]


def evaluated(X, y, learner, tested, counts):
    """Predictions of every rule for what is tested, one rule at a time."""
    values = np.full(tested.shape, np.nan)
    for row in range(len(tested)):
        learnt = np.repeat(np.arange(len(y)), counts[row])
        shown = X[tested[row]]
        if len(shown):
            values[row, tested[row]] = learner(X[learnt], y[learnt], shown)
    return values


class TestDefinition:
    """The class against numeric derivatives, from data and learner to standard error."""

    def expected(self, X, y, learner, tested, counts, metric, bootstrap):
        values = evaluated(X, y, learner, tested, counts)
        given = counts if bootstrap else None
        if metric == "error":
            losses = np.where(tested, values != y, 0.0)
            return oracle.error_influence(losses, tested, given)
        found = np.empty(len(y))
        found[y == 1], found[y == 0] = oracle.auc_influence(values, tested, y, given)
        return found

    @pytest.mark.parametrize(
        ("metric", "learner"),
        [("auc", difference_of_means), ("auc", first_feature), ("error", nearest_mean)],
    )
    @pytest.mark.parametrize("scheme", ["monte_carlo", "repeated", "bootstrap"])
    def test_influence_values_equal_the_numeric_derivative(self, metric, learner, scheme):
        # Folds of one size: with several the numeric derivative would weight them differently.
        X, y = mixed(6, 9, seed=4)
        n_repeats = {"monte_carlo": 100, "repeated": 12, "bootstrap": 60}[scheme]
        result = uv.InfluenceFunctionTest(X, y, learner, metric=metric, n_folds=3).fit(
            n_repeats, scheme, "influence", rng=7
        )
        rng, classes = np.random.default_rng(7), classes_of(y, metric)
        if scheme == "bootstrap":
            counts = draw_bootstrap(rng, n_repeats, classes).drawn.astype(int)
            tested = counts == 0
        else:
            folds = draw_folds(rng, n_repeats, classes, 3, all_tested=scheme == "repeated")
            tested = np.array(
                [
                    [fold[i] == number[code] for i, code in enumerate(self.codes(y, classes))]
                    for fold in folds.drawn
                    for number in itertools.product(*(range(k) for k in folds.n_tested_folds))
                ]
            )
            counts = (~tested).astype(int)
        expected = self.expected(X, y, learner, tested, counts, metric, scheme == "bootstrap")
        assert result.diagnostics["n_repeats"] == n_repeats
        np.testing.assert_allclose(result.diagnostics["influence"], expected, atol=1e-7)
        sizes = np.array([[len(c) for c in classes][code] for code in self.codes(y, classes)])
        assert result.variance == pytest.approx((expected**2 / sizes**2).sum(), abs=1e-8)
        terms = (result.diagnostics[f"term_{number}"] for number in (1, 2, 3))
        first, second, third = terms
        np.testing.assert_allclose(first + second - third, expected, atol=1e-7)
        # Where no rule depends on what it learnt from, nothing is left of II - III.
        assert (np.abs(second - third).max() > 1e-3) == (learner is not first_feature)

    def codes(self, y, classes):
        """Number of the class of each observation, in the order of `classes`."""
        found = np.empty(len(y), dtype=int)
        for code, members in enumerate(classes):
            found[members] = code
        return found

    def test_leave_one_out_is_naive(self):
        X, y = mixed(6, 5)
        result = uv.InfluenceFunctionTest(X, y, difference_of_means).fit(scheme="leave_one_out")
        psi = np.empty((5, 6))
        for i, j in itertools.product(range(5), range(6)):
            pair = [np.flatnonzero(y == 1)[i], np.flatnonzero(y == 0)[j]]
            rest = np.setdiff1d(np.arange(11), pair)
            psi[i, j] = oracle.psi(*difference_of_means(X[rest], y[rest], X[pair]))
        assert result.estimate == pytest.approx(psi.mean())
        expected = psi.mean(1).var() / 5 + psi.mean(0).var() / 6  # (24)
        assert result.variance == pytest.approx(expected)
        assert result.n_fits == 30
        assert result.diagnostics["mc_se_estimate"] == 0
        assert any("is the naive one" in note for note in result.notes)

    def test_leave_one_out_error_rate_is_naive(self):
        X, y = mixed(6, 5)
        test = uv.InfluenceFunctionTest(X, y, nearest_mean, metric="error")
        result = test.fit(scheme="leave_one_out", variance="adhoc_1")
        wrong = np.array(
            [
                nearest_mean(np.delete(X, i, 0), np.delete(y, i), X[[i]])[0] != y[i]
                for i in range(11)
            ]
        )
        assert result.estimate == wrong.mean()
        assert result.variance == pytest.approx(wrong.var(ddof=1) / 11)
        assert result.diagnostics["variance_influence"] == pytest.approx(wrong.var() / 11)

    def test_ad_hoc_variances_equal_the_definitions(self):
        X, y = mixed(9, 9)
        test = uv.InfluenceFunctionTest(X, y, difference_of_means, n_folds=3)
        result = test.fit(scheme="kfold", rng=3)
        fold = draw_folds(
            np.random.default_rng(3), 1, classes_of(y, "auc"), 3, all_tested=True
        ).drawn[0]
        auc = np.empty((3, 3))
        for k1, k0 in itertools.product(range(3), repeat=2):
            tested = np.where(y == 1, fold == k1, fold == k0)
            scores = difference_of_means(X[~tested], y[~tested], X[tested])
            pairs = itertools.product(scores[y[tested] == 1], scores[y[tested] == 0])
            auc[k1, k0] = np.mean([oracle.psi(a, b) for a, b in pairs])
        expected = {
            "adhoc_1": oracle.adhoc_1(auc),
            "adhoc_2": oracle.adhoc_2(auc),
            "adhoc_3": oracle.adhoc_3(auc, auc.mean()),
            "adhoc_3_mle": oracle.adhoc_3(auc, auc.mean(), mle=True),
        }
        for name, value in expected.items():
            assert result.diagnostics[f"variance_{name}"] == pytest.approx(value), name
        assert result.estimate == pytest.approx(auc.mean())

    def test_monte_carlo_ad_hoc_variance(self):
        X, y = mixed(9, 9)
        test = uv.InfluenceFunctionTest(X, y, difference_of_means, n_folds=3)
        result = test.fit(80, variance="adhoc_monte_carlo", rng=3)
        drawn = draw_folds(
            np.random.default_rng(3), 80, classes_of(y, "auc"), 3, all_tested=False
        ).drawn
        auc = []
        for tested in drawn == 0:
            scores = difference_of_means(X[~tested], y[~tested], X[tested])
            pairs = itertools.product(scores[y[tested] == 1], scores[y[tested] == 0])
            auc.append(np.mean([oracle.psi(a, b) for a, b in pairs]))
        assert result.variance == pytest.approx(np.var(auc, ddof=1) / 3)

    def test_repeated_tends_to_monte_carlo(self):
        X, y = mixed(12, 12, seed=2)
        test = uv.InfluenceFunctionTest(X, y, "lda", n_folds=3)
        one, two = test.fit(4000, rng=0), test.fit(1000, "repeated", rng=0)
        error = np.hypot(one.diagnostics["mc_se_estimate"], two.diagnostics["mc_se_estimate"])
        assert abs(one.estimate - two.estimate) < 4 * error
        error = np.hypot(one.diagnostics["mc_se_variance"], two.diagnostics["mc_se_variance"])
        assert abs(one.variance - two.variance) < 4 * error


class TestBootstrap:
    def test_learns_from_observations_as_often_as_drawn(self):
        X, y = mixed(6, 6)
        seen = []

        def spy(X_train, y_train, X_test):
            seen.append(np.sort(X_train[:, 0]))
            return np.zeros(len(X_test)) + (X_test[:, 0] > 0)

        uv.InfluenceFunctionTest(X, y, spy, n_folds=2).fit(60, "bootstrap", rng=0)
        counts = draw_bootstrap(np.random.default_rng(0), 60, classes_of(y, "auc")).drawn
        used = [row for row in counts if (row == 0).any()]
        assert len(seen) == len(used)
        for values, row in zip(seen, used, strict=True):
            np.testing.assert_array_equal(values, np.sort(np.repeat(X[:, 0], row)))

    def test_jitted_learners_take_repeated_observations(self):
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

        X, y = mixed(10, 9)
        jitted, fitted = (
            uv.InfluenceFunctionTest(X, y, LinearDiscriminantAnalysis(), backend=backend)
            for backend in ("jax", "sklearn")
        )
        expected, found = (t.fit(60, "bootstrap", rng=1) for t in (fitted, jitted))
        assert found.estimate == pytest.approx(expected.estimate, abs=1e-12)
        assert found.variance == pytest.approx(expected.variance, rel=1e-9)


class TestPaired:
    X, y = mixed(14, 12, p=3, seed=1)

    @pytest.mark.parametrize("metric", ["auc", "error"])
    def test_difference_of_influence_values(self, metric):
        one, two, both = (
            uv.InfluenceFunctionTest(self.X, self.y, *learners, metric=metric).fit(400, rng=2)
            for learners in (("lda",), ("knn:3",), ("lda", "knn:3"))
        )
        assert both.estimate == pytest.approx(one.estimate - two.estimate)
        difference = one.diagnostics["influence"] - two.diagnostics["influence"]
        np.testing.assert_allclose(both.diagnostics["influence"], difference, atol=1e-12)
        assert both.diagnostics["estimate_learner"] == one.estimate
        assert both.diagnostics["estimate_other"] == two.estimate
        for variance in ("influence", "term_1", "adhoc_monte_carlo"):
            test = uv.InfluenceFunctionTest(self.X, self.y, "lda", "knn:3", metric=metric)
            own = test.fit(400, variance=variance, rng=2).tables["Learners"]["se"]
            alone = [
                uv.InfluenceFunctionTest(self.X, self.y, name, metric=metric)
                .fit(400, variance=variance, rng=2)
                .se
                for name in ("lda", "knn:3")
            ]
            np.testing.assert_allclose(own, alone, rtol=1e-12)
        assert both.null_value == 0
        assert both.n_fits == one.n_fits + two.n_fits

    def test_a_larger_auc_is_better(self):
        X, y = mixed(40, 40, p=4, shift=0.9)
        noise = np.random.default_rng(0).normal(size=(80, 1))
        test = uv.InfluenceFunctionTest(
            np.hstack([noise, X]), y, "lda", lambda a, b, c: c[:, 0], n_folds=5
        )
        result = test.fit(200, rng=0)
        assert result.better == "higher"
        assert result.estimate > 0.1
        assert result.verdict.startswith("The first learner (lda) is better at the 5% level")

    def test_equal_learners_are_degenerate(self):
        result = uv.InfluenceFunctionTest(self.X, self.y, "lda", "lda").fit(200, rng=0)
        assert result.status.startswith("degenerate: the two learners gave the same scores")
        assert math.isnan(result.pvalue)


class TestOptions:
    X, y = mixed(15, 12, seed=3)

    def run(self, *learners, n_repeats="auto", scheme=None, variance="auto", **options):
        test = uv.InfluenceFunctionTest(self.X, self.y, *(learners or ("lda",)), **options)
        return test.fit(n_repeats, scheme, variance, rng=0)

    @pytest.mark.parametrize("scheme", ["monte_carlo", "repeated", "bootstrap", "kfold"])
    def test_each_scheme_has_its_own_estimate(self, scheme):
        estimates = {
            other: self.run(scheme=other).estimate
            for other in ("monte_carlo", "repeated", "bootstrap", "kfold", "leave_one_out")
        }
        del estimates[scheme]
        assert self.run(scheme=scheme).estimate not in estimates.values()

    @pytest.mark.parametrize(
        ("scheme", "metric", "names"),
        [
            ("monte_carlo", "auc", "influence jackknife share term_1 adhoc_monte_carlo"),
            ("monte_carlo", "error", "influence jackknife term_1 adhoc_monte_carlo"),
            ("repeated", "auc", "influence term_1 adhoc_1 adhoc_2 adhoc_3 adhoc_3_mle"),
            ("repeated", "error", "influence term_1 adhoc_1 adhoc_3_mle"),
            ("kfold", "auc", "adhoc_1 adhoc_2 adhoc_3 adhoc_3_mle"),
            ("leave_one_out", "auc", "influence adhoc_1 adhoc_3"),
            ("bootstrap", "auc", "influence term_1"),
            ("bootstrap", "error", "influence term_1"),
        ],
    )
    def test_every_variance_can_be_chosen_and_differs(self, scheme, metric, names):
        found = {}
        for name in names.split():
            result = self.run(scheme=scheme, metric=metric, variance=name)
            assert result.status == "ok"
            table = result.tables["Variances"]
            assert result.variance == table["estimate"][table["variance"].index(name)]
            assert result.variance == result.diagnostics[f"variance_{name}"]
            mc_se = result.diagnostics.get("mc_se_estimate", 0.0)
            assert result.se == pytest.approx(np.hypot(np.sqrt(result.variance), mc_se))
            found[name] = result.se
        assert len(set(found.values())) == len(found)

    def test_n_folds_decides_the_learning_set_size(self):
        result = self.run(n_folds=3)
        assert result.settings["learn_size"] == 27 - 5 - 4
        assert result.estimand == "AUC when learning from 18 observations (positive class 1)"
        assert self.run(n_folds=2).estimate != result.estimate
        assert self.run(n_folds=3, scheme="leave_one_out").settings["learn_size"] == 25

    def test_folds_of_several_sizes_learn_from_several_sizes(self):
        X, y = mixed(12, 11)
        test = uv.InfluenceFunctionTest(X, y, "lda")
        found = test.fit(scheme="kfold", rng=0)
        assert found.estimand == "AUC when learning from 17 to 19 observations (positive class 1)"
        assert test.fit(10, "repeated", rng=0).settings["learn_size"] == "17 to 19"
        assert test.fit(100, rng=0).settings["learn_size"] == 19

    def test_default_null_value(self):
        assert self.run().null_value == 0.5
        assert math.isnan(self.run(metric="error").null_value)
        assert math.isnan(self.run(metric="error").pvalue)
        assert self.run(metric="error", null_value=0.5).pvalue < 1
        assert self.run(null_value=0.9).pvalue != self.run().pvalue

    def test_alternative(self):
        two, above, below = (
            self.run(alternative=name) for name in ("two-sided", "greater", "less")
        )
        assert above.pvalue == pytest.approx(two.pvalue / 2)
        assert below.pvalue == pytest.approx(1 - above.pvalue)
        assert above.conf_int()[1] == 1
        paper = self.run(alternative="greater", variance="influence")
        assert paper.conf_int()[1] == math.inf

    def test_the_positive_class(self):
        result = self.run(pos_label=0)
        assert result.estimate == pytest.approx(self.run().estimate, abs=0.1)
        scored = self.run(lambda a, b, c: c[:, 0], scheme="leave_one_out")
        flipped = self.run(lambda a, b, c: c[:, 0], scheme="leave_one_out", pos_label=0)
        assert flipped.estimate == pytest.approx(1 - scored.estimate)

    def test_more_classes_for_the_error_rate(self):
        y = np.arange(27) % 3
        result = uv.InfluenceFunctionTest(self.X, y, "lda", metric="error").fit(100, rng=0)
        assert result.estimate == pytest.approx(2 / 3, abs=0.25)

    def test_without_a_test_there_is_no_warning_of_its_size(self):
        assert not any("Liberal" in note for note in self.run(metric="error").notes)

    def test_repeats(self):
        assert self.run(n_repeats=300).n_fits == 300
        assert self.run().n_fits == self.run(n_repeats="auto", scheme="monte_carlo").n_fits == 4000
        assert self.run("lda", "knn:3").n_fits == 8000
        assert self.run(scheme="bootstrap").n_fits == 4000
        assert self.run(scheme="repeated").n_fits == 160 * 25
        assert self.run(scheme="repeated", metric="error").n_fits == 800 * 5
        assert self.run(scheme="repeated", n_folds=12).n_fits == 27 * 12**2
        large = Layout((np.arange(40), np.arange(40, 80)), 30)
        assert large.n_repeats("repeated", []) == 20
        assert self.run(first_feature).n_fits == 2000
        assert self.run(first_feature, "lda").n_fits == 2 * 2000
        assert self.run(scheme="repeated", n_repeats=20, metric="error").n_fits == 100
        few, many = self.run(n_repeats=300), self.run(n_repeats=3000)
        ratio = few.diagnostics["mc_se_estimate"] / many.diagnostics["mc_se_estimate"]
        assert ratio == pytest.approx(np.sqrt(10), rel=0.2)

    def test_untested_pairs_bring_more_repeats(self):
        result = self.run(n_repeats=60, n_folds=10)
        added = result.diagnostics["n_repeats"] - 60
        assert added > 0
        assert result.n_fits == 60 + added
        assert (
            f"{added} repeats were added to the 60 requested ones, until every pair had "
            in " ".join(result.notes)
        )

    def test_repeats_that_are_added_have_a_limit(self, monkeypatch):
        monkeypatch.setattr("ucvtest.methods.influence.estimation.UNCOVERED", 180.0)
        with pytest.raises(ValueError) as error:
            self.run(n_repeats=30, n_folds=10)
        assert "of 180 pairs were never tested in 30 repeats: raise n_repeats to about" in str(
            error.value
        )

    def test_training_sets_are_counted(self):
        diagnostics = self.run(n_folds=3).diagnostics
        assert diagnostics["training_sets"] == math.comb(15, 5) * math.comb(12, 4)
        assert diagnostics["training_sets_per_test"] == math.comb(14, 4) * math.comb(11, 3)
        assert self.run(scheme="kfold").diagnostics["training_sets_per_test"] == 1
        samples = self.run(scheme="bootstrap").diagnostics["training_sets"]
        assert samples == math.comb(29, 15) * math.comb(23, 12)
        X, y = mixed(700, 700)
        test = uv.InfluenceFunctionTest(X, y, "nearest_centroid", n_folds=2)
        assert test.fit(30, rng=0).diagnostics["training_sets"] == math.inf

    def test_few_training_sets_are_noted(self):
        X, y = mixed(10, 10)
        test = uv.InfluenceFunctionTest(X, y, "lda", n_folds=5)
        few = test.fit(300, variance="influence", rng=0)
        assert "Only 81 training sets are possible for each tested pair" in " ".join(few.notes)
        test = uv.InfluenceFunctionTest(X, y, "lda", n_folds=2)
        many = test.fit(300, variance="influence", rng=0)
        assert "training sets are possible" not in " ".join(many.notes)
        assert "training sets are possible" not in " ".join(test.fit(300, rng=0).notes)


class TestReproducible:
    X, y = mixed(14, 13, seed=6)

    @pytest.mark.parametrize(
        ("scheme", "options"),
        [
            ("monte_carlo", {"batch_size": 7}),
            ("repeated", {"batch_size": 7}),
            ("bootstrap", {"batch_size": 7}),
            ("bootstrap", {"n_jobs": 2}),
        ],
    )
    def test_same_result_for_every_batch_size_and_number_of_jobs(self, scheme, options):
        test = uv.InfluenceFunctionTest(self.X, self.y, DecisionTreeClassifier(max_depth=2), "lda")
        expected = test.fit(60 if scheme != "repeated" else 12, scheme, rng=4)
        found = test.fit(60 if scheme != "repeated" else 12, scheme, rng=4, **options)
        assert found.estimate == expected.estimate
        assert found.variance == pytest.approx(expected.variance, rel=1e-12)

    @pytest.mark.parametrize("scheme", ["monte_carlo", "repeated", "bootstrap"])
    def test_memory_is_bounded_and_changes_nothing(self, scheme, monkeypatch):
        test = uv.InfluenceFunctionTest(self.X, self.y, first_feature)
        expected = test.fit(120 if scheme != "repeated" else 12, scheme, rng=4)
        monkeypatch.setattr("ucvtest.methods.influence.estimation.STAGE_ROWS", 37)
        monkeypatch.setattr("ucvtest.methods.influence.resamples.DRAW_CELLS", 270)
        found = test.fit(120 if scheme != "repeated" else 12, scheme, rng=4)
        assert found.estimate == pytest.approx(expected.estimate, abs=1e-14)
        assert found.variance == pytest.approx(expected.variance, rel=1e-12)

    def test_a_seed_decides_the_splits_whatever_the_learners(self):
        seen = []

        def spy(X_train, y_train, X_test):
            seen.append(X_train[:, 0].sum())
            return X_test[:, 0]

        uv.InfluenceFunctionTest(self.X, self.y, spy).fit(80, rng=1)
        alone = list(seen)
        seen.clear()
        uv.InfluenceFunctionTest(self.X, self.y, spy, "lda").fit(80, rng=1)
        assert seen == alone

    def test_result_survives_json(self):
        result = uv.InfluenceFunctionTest(self.X, self.y, "lda").fit(200, rng=0)
        copy = uv.TestResult.from_dict(result.to_dict())
        np.testing.assert_array_equal(
            copy.diagnostics["influence"], result.diagnostics["influence"]
        )
        assert copy.summary(notes=True).as_text() == result.summary(notes=True).as_text()
        assert result.settings["rng"] == 0


class TestSummary:
    X, y = mixed(30, 30, shift=0.8)

    def test_one_auc(self):
        result = uv.InfluenceFunctionTest(self.X, self.y, "lda").fit(rng=0)
        text = result.summary(notes=True).as_text()
        for words in (
            "AUC when learning from 48 observations (positive class 1)",
            "estimand = 0.5",
            "adhoc_monte_carlo",
            "Monte-Carlo s.e.",
            "jackknife *",
        ):
            assert words in text
        assert result.verdict.startswith(
            "The AUC when learning from 48 observations (positive class 1) is above 0.5 at the 5% "
        )
        assert "Loss:" not in text
        assert not any("too often in small samples" in note for note in result.notes)

    def test_plot_shows_all_variances(self):
        result = uv.InfluenceFunctionTest(self.X, self.y, "lda").fit(scheme="repeated", rng=0)
        labels = [text.get_text() for text in result.plot().get_yticklabels()]
        assert labels[:2] == ["jackknife, 95%", "influence, 95%"]
        assert "adhoc_2, 95%" in labels

    def test_error_rate(self):
        result = uv.InfluenceFunctionTest(self.X, self.y, "lda", "knn:3", metric="error").fit(rng=0)
        assert result.estimand == "difference in error rate when learning from 48 observations"
        assert result.better == "lower"
        assert "zero_one" in result.summary(notes=True).as_text()

    def test_bootstrap(self):
        result = uv.InfluenceFunctionTest(self.X, self.y, "lda").fit(scheme="bootstrap", rng=0)
        assert result.method == "Influence-function test by leave-pair-out bootstrap"
        assert (
            result.estimand
            == "AUC when learning from bootstrap samples of 60 observations (positive class 1)"
        )

    def test_from_formula(self):
        import pandas as pd

        data = pd.DataFrame(self.X, columns=["a", "b"]).assign(died=self.y)
        test = uv.InfluenceFunctionTest.from_formula("died ~ a + b", data, "lda", n_folds=4)
        estimand = "AUC when learning from 46 observations (positive class 1)"
        assert test.fit(100, rng=0).estimand == estimand


class TestCompareVariances:
    def test_one_table(self):
        X, y = mixed(12, 12)
        test = uv.InfluenceFunctionTest(X, y, "lda", n_folds=3)
        frame = test.compare_variances(100, rng=0)
        assert list(frame) == [
            "scheme",
            "variance",
            "estimate",
            "sd",
            "conf_low",
            "conf_high",
            "pvalue",
            "n_fits",
            "status",
        ]
        counts = frame.groupby("scheme", sort=False).size().to_dict()
        assert counts == {"monte_carlo": 4, "repeated": 7, "kfold": 6, "bootstrap": 2}
        expected = test.fit(100, variance="influence", rng=0)
        assert frame["sd"][0] == pytest.approx(np.sqrt(expected.variance))
        assert (frame["conf_low"] < frame["estimate"]).all()

    def test_chosen_schemes(self):
        X, y = mixed(12, 12)
        test = uv.InfluenceFunctionTest(X, y, "lda", n_folds=3)
        frame = test.compare_variances(50, ["bootstrap"], rng=0)
        assert set(frame["scheme"]) == {"bootstrap"}

    def test_each_variance_has_its_own_status(self):
        X, y = mixed(12, 11)
        test = uv.InfluenceFunctionTest(X, y, "lda")
        frame = test.compare_variances(30, ["bootstrap"], rng=0)
        assert frame["status"][0].startswith("too few resamples")
        assert frame["status"][1] == "ok"
        assert (frame["pvalue"].isna() == (frame["status"] != "ok")).all()

    @pytest.mark.parametrize("schemes", ["repeated", ()])
    def test_schemes_that_are_no_sequence_of_names(self, schemes):
        X, y = mixed(12, 12)
        with pytest.raises(ValueError, match="schemes must be a sequence of names, got"):
            uv.InfluenceFunctionTest(X, y, "lda").compare_variances(50, schemes)

    def test_logs_nothing(self):
        heard = []

        class Hook:
            def fitting(self, test):
                from contextlib import nullcontext

                return nullcontext()

            def fitted(self, test, result):
                heard.append(result)

        hook = Hook()
        uv.hooks.add_hook(hook)
        try:
            X, y = mixed(12, 12)
            test = uv.InfluenceFunctionTest(X, y, "lda", n_folds=3)
            test.compare_variances(50, ["monte_carlo"], rng=0)
            assert heard == []
            test.fit(50, rng=0)
            assert len(heard) == 1
        finally:
            uv.hooks.remove_hook(hook)


class TestStatus:
    X, y = mixed(12, 12)

    def test_equal_scores(self):
        result = uv.InfluenceFunctionTest(self.X, self.y, constant).fit(100, rng=0)
        assert result.estimate == 0.5
        assert result.status == (
            "degenerate: the variance estimate is zero, all scores were equal: the learner does "
            "not distinguish observations"
        )
        assert math.isnan(result.pvalue)

    def test_ranks_that_cancel_are_not_equal_scores(self):
        X, y = np.array([[0.0], [2.0], [1.0], [3.0]]), np.array([0, 0, 1, 1])

        def first_feature_either_way(X_train, y_train, X_test):
            return -X_test[:, 0] if X_train.prod() == 2 else X_test[:, 0]

        test = uv.InfluenceFunctionTest(X, y, first_feature_either_way, n_folds=2)
        result = test.fit(scheme="leave_one_out")
        assert result.estimate == 0.5
        assert result.status.endswith("every observation was ranked equally well")

    def test_few_in_a_class_are_noted(self):
        y = np.arange(24) % 6 == 0
        few = uv.InfluenceFunctionTest(self.X, y, "lda", n_folds=2).fit(50, rng=0)
        assert any(note.startswith("The smaller class has 4 observations") for note in few.notes)
        enough = uv.InfluenceFunctionTest(self.X, self.y, "lda").fit(100, rng=0)
        assert not any("smaller class" in note for note in enough.notes)

    def test_perfect_ranking(self):
        result = uv.InfluenceFunctionTest(self.X + 20 * self.y[:, None], self.y, "lda").fit(rng=0)
        assert result.estimate == 1
        assert result.status == (
            "degenerate: the variance estimate is zero, every observation was ranked equally well"
        )

    def test_perfect_prediction(self):
        X = self.X + 20 * self.y[:, None]
        result = uv.InfluenceFunctionTest(X, self.y, "lda", metric="error").fit(rng=0)
        assert result.status.endswith("every observation was predicted equally well")

    def test_too_few_repeats(self):
        test = uv.InfluenceFunctionTest(self.X, self.y, "lda")
        result = test.fit(3, "repeated", rng=0)
        assert result.status.startswith("too few resamples: 3 repeats are not enough to")
        assert math.isnan(result.pvalue)

    def test_too_noisy_a_variance(self):
        test = uv.InfluenceFunctionTest(self.X, self.y, "knn:1", "knn:3", n_folds=2)
        for variance, words in (("jackknife", "half"), ("influence", "a quarter")):
            result = test.fit(12, variance=variance, rng=0)
            assert f"is above {words} of it" in result.status
            assert result.status.endswith("raise n_repeats")
            assert math.isnan(result.pvalue)
            assert test.fit(3000, variance=variance, rng=0).status == "ok"

    def test_noise_is_noted(self):
        test = uv.InfluenceFunctionTest(self.X, self.y, "knn:1", n_folds=2)
        few, many = (test.fit(n, variance="influence", rng=0) for n in (30, 3000))
        assert any("is Monte-Carlo noise of the influence values" in note for note in few.notes)
        assert not any("Monte-Carlo noise" in note for note in many.notes)
        assert few.diagnostics["mc_bias_variance"] > many.diagnostics["mc_bias_variance"]

    def test_one_class_learning_sets(self):
        y = np.arange(12) < 2
        test = uv.InfluenceFunctionTest(
            self.X[:12], y, "nearest_centroid", metric="error", n_folds=2
        )
        result = test.fit(100, rng=0)
        assert result.diagnostics["one_class_fits"] > 0
        assert any("had a learning set with a single class" in note for note in result.notes)

    def test_nan_scores(self):
        def broken(X_train, y_train, X_test):
            return np.full(len(X_test), np.nan)

        with pytest.raises(ValueError, match="learner broken predicts nan on split 0 for obs"):
            uv.InfluenceFunctionTest(self.X, self.y, broken).fit(50, rng=0)


class TestLoss:
    """What is estimated has a word that all tests know, and one of its own."""

    X, y = mixed(12, 12)

    def made(self, **named):
        return uv.InfluenceFunctionTest(self.X, self.y, "nearest_centroid", **named)

    @pytest.mark.parametrize("loss", ["auc", "roc_auc", "zero_one", "accuracy", LOSSES["zero_one"]])
    def test_the_loss_is_the_metric(self, loss):
        metric = "auc" if loss in ("auc", "roc_auc") else "error"
        expected = self.made(metric=metric)
        for test in (self.made(loss=loss), self.made(loss=loss, metric=metric)):
            assert test.metric == expected.metric == metric
            assert test.loss is expected.loss
            assert test.null_value == pytest.approx(expected.null_value, nan_ok=True)
            estimate = test.fit(30, rng=0).estimate
            assert estimate == expected.fit(30, rng=0).estimate

    def test_the_auc_is_what_it_is_about_by_default(self):
        assert self.made().metric == self.made(loss=None, metric=None).metric == "auc"

    def test_a_question_has_the_loss(self):
        cls = uv.InfluenceFunctionTest
        for test in (self.made(), self.made(loss="zero_one")):
            again = cls.about(test.question, n_folds=3)
            assert (again.metric, again.n_folds) == (test.metric, 3)
        log = uv.FoldCovarianceTest(self.X, self.y, "lda", loss="log").question
        with pytest.raises(ValueError) as error:
            cls.about(log)
        assert str(error.value) == "it knows loss='zero_one' and 'auc' only"


class TestRefused:
    X, y = mixed(12, 12)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"n_folds": 1}, "n_folds must be at least 2, got 1"),
            ({"n_folds": 2.0}, "n_folds must be an integer, got 2.0"),
            ({"metric": "f1"}, "metric='f1' is unknown: use one of auc, error"),
            (
                {"loss": "log"},
                "loss='log' is not known to InfluenceFunctionTest: use 'auc' or 'zero_one'",
            ),
            (
                {"loss": "accuracy", "metric": "auc"},
                "loss='accuracy' and metric='auc' name two different things: pass one of them",
            ),
            (
                {"loss": "roc_auc", "metric": "error"},
                "loss='roc_auc' and metric='error' name two different things: pass one of them",
            ),
            (
                {"metric": "auc", "scoring": "roc_auc"},
                "metric and scoring exclude each other: pass one of them",
            ),
            (
                {"loss": "auc", "scoring": "roc_auc"},
                "loss and scoring exclude each other: pass one of them",
            ),
            (
                {"scoring": "f1"},
                "scoring='f1' is not known to InfluenceFunctionTest: use 'roc_auc' or 'accuracy'",
            ),
        ],
    )
    def test_by_the_constructor(self, options, message):
        with pytest.raises(ValueError) as error:
            uv.InfluenceFunctionTest(self.X, self.y, "lda", **options)
        assert str(error.value) == message

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (
                {"scheme": "jackknife"},
                "scheme='jackknife' is unknown: use one of monte_carlo, repeated, bootstrap, "
                "kfold, leave_one_out",
            ),
            (
                {"scheme": "kfold", "n_repeats": True},
                "n_repeats must be an integer or 'auto', got True",
            ),
            (
                {"scheme": "kfold", "n_repeats": 5},
                "scheme='kfold' has one repeat, got n_repeats=5: use scheme='repeated' for more",
            ),
            ({"n_repeats": 0}, "n_repeats must be at least 1, got 0: use 'auto'"),
            ({"n_repeats": "all"}, "n_repeats must be an integer or 'auto', got 'all'"),
            (
                {"n_repeats": np.zeros(0)},
                "n_repeats must be an integer or 'auto', got array([], dtype=float64)",
            ),
            (
                {"variance": "adhoc_1"},
                "variance='adhoc_1' does not exist for scheme='monte_carlo', metric='auc': use one "
                "of auto, influence, jackknife, share, term_1, adhoc_monte_carlo",
            ),
            (
                {"variance": "naive"},
                "variance='naive' is unknown: use one of auto, influence, jackknife, share, "
                "term_1, adhoc_monte_carlo",
            ),
            ({"n_jobs": 0}, "n_jobs must not be 0: use 1 for one worker, -1 for all processors"),
            ({"batch_size": 0}, "batch_size must be at least 1, got 0"),
        ],
    )
    def test_by_fit(self, options, message):
        with pytest.raises(ValueError) as error:
            uv.InfluenceFunctionTest(self.X, self.y, "lda").fit(**options)
        assert str(error.value) == message

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (
                {"n_folds": 13},
                "n_folds=13 needs at least 13 observations of each class, but class 1 has 12: use "
                "n_folds <= 12, or scheme='leave_one_out'",
            ),
            (
                {"n_folds": 25, "metric": "error"},
                "n_folds=25 needs at least 25 observations, got 24: use fewer folds, or "
                "scheme='leave_one_out'",
            ),
        ],
    )
    def test_more_folds_than_observations(self, options, message):
        test = uv.InfluenceFunctionTest(self.X, self.y, "nearest_centroid", **options)
        for scheme in ("monte_carlo", "repeated", "kfold"):
            with pytest.raises(ValueError) as error:
                test.fit(scheme=scheme)
            assert str(error.value) == message
        fewer = options | {"n_folds": 2}
        other = uv.InfluenceFunctionTest(self.X, self.y, "nearest_centroid", **fewer)
        for scheme in ("leave_one_out", "bootstrap"):
            assert (
                test.fit(scheme=scheme, rng=0).estimate == other.fit(scheme=scheme, rng=0).estimate
            )

    def test_three_classes(self):
        with pytest.raises(ValueError, match="metric='auc' needs two classes, but y has 3: merge"):
            uv.InfluenceFunctionTest(self.X, np.arange(24) % 3, "lda")

    def test_one_class(self):
        with pytest.raises(ValueError, match="y has one class only"):
            uv.InfluenceFunctionTest(self.X, np.zeros(24, dtype=int), "lda")

    def test_real_response(self):
        with pytest.raises(ValueError, match="y must contain class labels for this test, but it"):
            uv.InfluenceFunctionTest(self.X, self.X[:, 0], "lda")

    def test_a_class_of_one(self):
        y = np.where(np.arange(24) == 3, "ill", "well")
        with pytest.raises(ValueError) as error:
            uv.InfluenceFunctionTest(self.X, y, "lda", n_folds=2)
        assert str(error.value) == (
            "n_folds=2 needs at least 2 observations of each class, but class 'ill' has 1: collect "
            "more of them"
        )

    def test_groups(self):
        with pytest.raises(ValueError, match="groups must name a group for each of"):
            uv.InfluenceFunctionTest(self.X, self.y, "lda", groups=np.arange(3))


def test_repeats_needed():
    # The expected number of untested cells is the chance asked for.
    for share, n_cells in ((0.01, 3600), (0.25, 10)):
        needed = repeats_needed(share, n_cells, 0.01)
        assert n_cells * (1 - share) ** needed <= 0.01 < n_cells * (1 - share) ** (needed - 1)
    assert repeats_needed(1.0, 100) == 1


class TestPublished:
    """Table 2 with few data sets; all of them are made by studies/reproductions/influence.py."""

    @pytest.mark.parametrize(("learner", "p", "k"), [("lda", 2, 5), ("qda", 4, 2)])
    def test_influence_standard_deviation(self, learner, p, k):
        column_of = (20, learner, p, k, 1000, 20)
        rows = [influence.simulate(*column_of, number) for number in range(25)]
        frame = pd.DataFrame(rows)
        column = influence.columns(20).index((learner, p, k))
        published = {
            name: int(influence.PUBLISHED[20][name].split()[column]) / 10_000
            for name in ("estimate", "influence", "adhoc_1", "adhoc_2")
        }
        for name in ("influence", "adhoc_1", "adhoc_2"):
            # In data sets with the paper's mean AUC: its own differs from ours by chance.
            value, error = influence.mean_at(frame[name], frame["estimate"], published["estimate"])
            assert abs(value - published[name]) < 4 * error + 0.001, name


# ------------------------------------------------------------------------- losses that exist


def same_result(found, expected, variances):
    for name in ("estimate", "se", "variance", "statistic", "pvalue", "n_obs", "null_value"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), err_msg=name)
    for name in ("estimand", "method", "reference", "status"):
        assert getattr(found, name) == getattr(expected, name)
    for name in ("influence", "term_1", "term_2", "term_3", "training_sets", "n_repeats"):
        np.testing.assert_allclose(found.diagnostics[name], expected.diagnostics[name], atol=1e-12)
    for name in variances:
        name = f"variance_{name}"
        np.testing.assert_allclose(found.diagnostics[name], expected.diagnostics[name])


def drawn_by(test, scheme, n_repeats):
    """The design and the losses of a test's own fit, as `uv.Losses`."""
    kept = []

    class Watched(FittedLosses):
        def losses_for(self, learning, testing, seeds):
            values = super().losses_for(learning, testing, seeds)
            kept.append((testing, values))
            return values

    execution = Execution.of(0, None, None)
    resamples = draw_resamples(
        test._layout, test.fit_options(n_repeats, scheme), execution.generator
    )
    source = Watched(test.question.data(""), execution)
    estimates_from(test._layout, resamples, source, execution.generator)
    testing = np.concatenate([tested for tested, _ in kept])
    values = [np.concatenate(parts) for parts in zip(*(each for _, each in kept), strict=True)]
    return uv.Losses.from_arrays(
        np.array(values),
        ~testing,
        loss="auc" if test.metric == "auc" else "zero_one",
        y=test.sample.target.astype(int),
    )


@pytest.mark.parametrize("other", [None, "knn:3"])
@pytest.mark.parametrize(
    ("metric", "scheme", "n_repeats"),
    [
        ("auc", "monte_carlo", 400),
        ("auc", "leave_one_out", "auto"),
        ("error", "monte_carlo", 60),
        ("error", "repeated", 20),
        ("error", "kfold", "auto"),
        ("error", "leave_one_out", "auto"),
    ],
)
def test_given_losses_are_tested_as_those_of_its_own_fits(metric, scheme, n_repeats, other):
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], [13, 15])
    X = rng.normal(size=(28, 2)) + 0.6 * y[:, None]
    test = uv.InfluenceFunctionTest(X, y, "lda", other, n_folds=3, metric=metric)
    expected = test.fit(n_repeats, scheme, rng=0)
    losses = drawn_by(test, scheme, n_repeats)
    found = uv.InfluenceFunctionTest.from_losses(losses).fit(scheme=scheme)
    names = ["influence", "term_1"]
    if metric == "error" and scheme != "monte_carlo":
        names += ["adhoc_1", "adhoc_3_mle"]
    same_result(found, expected, names)
    assert found.settings["scheme"] == scheme
    assert any("Nothing was fitted" in note for note in found.notes)


def test_losses_of_evaluate_under_leave_pair_out_are_tested_as_its_own():
    rng = np.random.default_rng(3)
    y = np.array(list("bababaabba"))
    X = rng.normal(size=(10, 2)) + (y == "b")[:, None]
    losses = uv.evaluate("lda", X, y, uv.designs.LeavePairOut(), "auc", rng=0)
    found = uv.InfluenceFunctionTest.from_losses(losses).fit()
    expected = uv.InfluenceFunctionTest(X, y, "lda").fit(scheme="leave_one_out", rng=0)
    same_result(found, expected, ["influence", "term_1"])


def test_repeated_stratified_folds_are_a_sample_of_random_folds_of_each_class():
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], [15, 18])
    X = rng.normal(size=(33, 2)) + 0.6 * y[:, None]
    splitter = RepeatedStratifiedKFold(n_splits=3, n_repeats=600)
    losses = uv.evaluate(["lda", "knn:3"], X, y, splitter, "auc", rng=0)
    found = uv.InfluenceFunctionTest.from_losses(losses).fit()
    own = uv.InfluenceFunctionTest(X, y, "lda", "knn:3", n_folds=3).fit(1800, rng=1)
    assert found.settings["scheme"] == "repeated"
    assert found.estimand == own.estimand
    errors = [each.diagnostics["mc_se_estimate"] for each in (found, own)]
    assert abs(found.estimate - own.estimate) < 4 * np.hypot(*errors)
    errors = [each.diagnostics["mc_se_variance"] for each in (found, own)]
    assert abs(found.variance - own.variance) < 4 * np.hypot(*errors)


def test_repeated_stratified_folds_of_any_number():
    X, y = mixed(13, 12)
    splitter = RepeatedStratifiedKFold(n_splits=3, n_repeats=100, random_state=0)
    losses = uv.evaluate("lda", X, y, splitter, "auc", rng=0)
    result = uv.InfluenceFunctionTest.from_losses(losses).fit()
    assert result.tables["Variances"]["variance"] == ("influence", "term_1")
    assert result.diagnostics["n_repeats"] == 100
    assert "make 3 folds of two sizes: use losses of random splits" in " ".join(result.notes)


def test_stratified_random_splits_are_monte_carlo_cross_validation():
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], [15, 20])
    X = rng.normal(size=(35, 2)) + 0.6 * y[:, None]
    splitter = StratifiedShuffleSplit(n_splits=800, test_size=7)
    losses = uv.evaluate("lda", X, y, splitter, "auc", rng=0)
    for variance in ("jackknife", "influence"):
        result = uv.InfluenceFunctionTest.from_losses(losses).fit(variance=variance)
        assert (result.settings["scheme"], result.settings["n_folds"]) == ("monte_carlo", 5)
        assert (result.null_value, result.status) == (0.5, "ok")
        test = uv.InfluenceFunctionTest(X, y, "lda", n_folds=5)
        own = test.fit(800, variance=variance, rng=1)
        error = np.hypot(*(each.diagnostics["mc_se_variance"] for each in (result, own)))
        assert abs(result.variance - own.variance) < 4 * error
    assert abs(result.se / own.se - 1) < 0.1
    default = uv.InfluenceFunctionTest.from_losses(losses).fit()
    assert default.settings["variance"] == "jackknife"
    assert uv.InfluenceFunctionTest.from_losses(losses).fit("auto").pvalue == default.pvalue
    assert uv.InfluenceFunctionTest.from_losses(losses).fit(800).pvalue == default.pvalue


def test_given_losses_that_are_no_use_are_refused():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(24, 2)), np.arange(24) % 2

    def take(design, loss="zero_one"):
        losses = uv.evaluate("lda", X, y, design, loss, rng=0)
        return uv.InfluenceFunctionTest.from_losses(losses)

    with pytest.raises(ValueError, match="losses are of loss='log', but the test is about the"):
        take(4, "log")
    with pytest.raises(ValueError, match="never tests 108 pairs of a positive and a negative"):
        take(StratifiedKFold(4), "auc")
    with pytest.raises(ValueError, match=r"tests between \d and \d observations of one class"):
        take(uv.designs.KFold(4, 5, stratify=False), "auc")
    with pytest.raises(ValueError, match=r"never tests \d+ observations"):
        take(uv.designs.RandomSplits(2))
    with pytest.raises(ValueError, match="has observations that are neither learnt from"):
        take(uv.designs.SplitHalves(2, 1))
    sizes = np.array([5, 6] * 20)[:, None]
    with pytest.raises(ValueError, match="tests between 5 and 6 observations at a time"):
        take(Design.checked(rng.permuted(np.tile(np.arange(24), (40, 1)), axis=1) >= sizes))
    test = take(uv.designs.KFold(4, 2))
    for arguments, message in (
        ({"n_repeats": 3}, "n_repeats=3, but the design of the given losses has 2: leave it out"),
        ({"scheme": "kfold"}, "scheme='kfold', but the design of the given losses has 'repeated'"),
        ({"variance": "adhoc_monte_carlo"}, "does not exist for scheme='repeated'"),
        ({"rng": 0}, "rng does not apply when losses are given"),
    ):
        with pytest.raises(ValueError, match=message):
            test.fit(**arguments)
    with pytest.raises(ValueError, match="compare_variances needs fits, and this test was made"):
        test.compare_variances()


def test_given_losses_are_summed_in_stages(monkeypatch):
    rng = np.random.default_rng(3)
    y = np.arange(24) % 2
    X = rng.normal(size=(24, 2)) + y[:, None]
    losses = uv.evaluate("lda", X, y, uv.designs.KFold(4, 10), rng=0)
    whole = uv.InfluenceFunctionTest.from_losses(losses).fit()
    monkeypatch.setattr("ucvtest.methods.influence.estimation.STAGE_ROWS", 7)
    stages = uv.InfluenceFunctionTest.from_losses(losses).fit()
    np.testing.assert_allclose(stages.estimate, whole.estimate)
    np.testing.assert_allclose(stages.variance, whole.variance)
    np.testing.assert_allclose(whole.estimate, losses.means.mean())
