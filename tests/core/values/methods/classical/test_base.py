"""What all tests on the losses of one design share; CorrectedTTest stands for them."""

import math
import re
from contextlib import ExitStack

import numpy as np
import pytest
from sklearn.model_selection import BaseCrossValidator, KFold, PredefinedSplit, StratifiedKFold

import ucvtest as uv
from ucvtest import hooks
from ucvtest.designs.design import Design, learn_size
from ucvtest.methods.classical import resampling

RNG = np.random.default_rng(5)
Y = np.repeat([0, 1], [28, 32])
X = RNG.normal(size=(60, 3)) + 0.7 * Y[:, None]
LEARNERS = {"lda": "lda", "knn": "knn:3", "majority": "majority"}


@pytest.fixture(scope="module")
def losses():
    return uv.evaluate(LEARNERS, X, Y, 10, rng=0)


class Growing(BaseCrossValidator):
    """A splitter whose test sets are as random as their number: two of them the first time."""

    def __init__(self):
        self.random_state = None

    def get_n_splits(self, X=None, y=None, groups=None):
        return 3

    def split(self, X, y=None, groups=None):
        rng = np.random.default_rng(self.random_state)
        for _ in range(3):
            size = 6 if self.random_state == FIRST_SEED else int(rng.integers(1, 20))
            order = rng.permutation(len(X))
            yield order[size:], order[:size]


FIRST_SEED = int(np.random.default_rng(0).integers(2**31 - 1))


# ---------------------------------------------------------------------------- data and losses


def test_data_and_losses_give_the_same_test():
    direct = uv.CorrectedTTest(X, Y, "lda", "knn:3", design=5).fit(rng=7)
    pair = uv.evaluate(["lda", "knn:3"], X, Y, 5, rng=7)
    found = uv.CorrectedTTest.from_losses(pair, "lda", "knn:3").fit()
    for name in ("estimate", "variance", "statistic", "pvalue", "df", "n_fits", "estimand"):
        assert getattr(found, name) == getattr(direct, name), name
    assert found.settings["rng"] == direct.settings["rng"] == 7
    assert found.settings["design"] == direct.settings["design"] == "5-fold cross-validation"


def test_a_result_from_losses_says_that_nothing_was_fitted(losses):
    result = uv.CorrectedTTest.from_losses(losses, "lda", "knn").fit()
    assert result.n_fits == 20
    assert result.elapsed < losses.elapsed
    note = "Nothing was fitted for this test: its 20 fits are those behind the losses"
    assert note in " ".join(result.notes)
    assert "Nothing was fitted" not in " ".join(uv.CorrectedTTest(X, Y, "lda").fit(rng=0).notes)


def test_only_the_learners_that_are_meant_count_in_diagnostics():
    learning = np.array([[1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 1]])
    three = uv.evaluate(
        ["lda", "knn:1", "majority"],
        np.arange(6.0)[:, None],
        [0, 0, 0, 0, 0, 1],
        Design.checked(learning),
        rng=0,
    )
    result = uv.CorrectedTTest.from_losses(three, 0, 1).fit()
    assert result.diagnostics["one_class_fits"] == 2
    assert "2 fits had a learning set with a single class" in " ".join(result.notes)


# --------------------------------------------------------------------------- which learners


def pair_of(test):
    return test.question.observed.learner, test.question.observed.other


def test_one_learner_is_tested_and_two_are_compared():
    one, two = (uv.evaluate(names, X, Y, 5, rng=0) for names in (["lda"], ["lda", "knn:3"]))
    from_losses = uv.CorrectedTTest.from_losses
    assert pair_of(from_losses(one)) == (0, None)
    assert pair_of(from_losses(two)) == (0, 1)
    assert pair_of(from_losses(two, "lda")) == pair_of(from_losses(two, 0)) == (0, None)
    assert pair_of(from_losses(two, "knn:3", "lda")) == (1, 0)
    assert pair_of(from_losses(two, other=1)) == (0, 1)


def test_of_three_learners_one_must_be_named(losses):
    with pytest.raises(ValueError, match=r"losses has 3 learners \(lda, knn, majority\): name"):
        uv.CorrectedTTest.from_losses(losses)
    assert pair_of(uv.CorrectedTTest.from_losses(losses, 0)) == (0, None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"learner": "tree"}, "learner 'tree' is neither one of lda, knn, majority"),
        ({"learner": 0, "other": 0}, "learner and other are both 'lda'"),
        ({"learner": 0, "alternative": "more"}, "alternative='more' is unknown"),
        ({"learner": 0, "null_value": math.inf}, "null_value must be a finite number"),
    ],
)
def test_arguments_of_from_losses_are_checked(losses, arguments, message):
    with pytest.raises(ValueError, match=message):
        uv.CorrectedTTest.from_losses(losses, **arguments)


@pytest.mark.parametrize("argument", [{"rng": 0}, {"n_jobs": 2}, {"batch_size": 3}])
def test_arguments_about_fits_are_refused_where_there_are_none(losses, argument):
    test = uv.CorrectedTTest.from_losses(losses, 0, 1)
    with pytest.raises(ValueError, match=f"{next(iter(argument))} does not apply when losses are"):
        test.fit(**argument)


def test_the_null_value_of_one_auc_is_one_half():
    scores = uv.evaluate(["lda", "knn:3"], X, Y, StratifiedKFold(4), "auc", rng=0)
    from_losses = uv.CorrectedTTest.from_losses
    assert from_losses(scores, 0).null_value == 0.5
    assert from_losses(scores, 0, null_value=0.7).null_value == 0.7
    assert from_losses(scores).null_value == 0
    assert uv.CorrectedTTest(X, Y, "lda", loss="auc").null_value == 0.5


# --------------------------------------------------------------------------------- admission


def test_a_design_is_refused_by_the_constructor():
    with pytest.raises(ValueError, match="design has one resample"):
        uv.CorrectedTTest(X, Y, "lda", design=uv.designs.HoldOut())
    losses = uv.evaluate("lda", X, Y, uv.designs.SplitHalves(2, 1), rng=0)
    with pytest.raises(ValueError, match="the design does not split the sample in the same"):
        uv.CorrectedTTest.from_losses(losses)


def test_a_design_that_changes_with_chance_is_judged_again_before_the_fits():
    def never(X_train, y_train, X_test):
        raise AssertionError("a fit was run")

    test = uv.CorrectedTTest(X, Y, never, design=Growing())
    with pytest.raises(ValueError, match="its test sets have between"):
        test.fit(rng=1)


def test_memory_is_refused_by_the_constructor():
    with pytest.raises(ValueError, match=r"take 1\.2e\+03 GB of memory"):
        uv.CorrectedTTest(X, Y, "lda", design=uv.designs.RandomSplits(10**10))


def test_designs_of_scikit_learn_and_of_ones_own():
    fold = np.arange(60) % 5
    plan = uv.CorrectedTTest(X, Y, "lda", design=PredefinedSplit(fold)).fit(rng=0)
    testing = fold[None] == np.arange(5)[:, None]
    own = uv.CorrectedTTest(X, Y, "lda", design=Design.checked(~testing)).fit(rng=1)
    assert plan.estimate == own.estimate
    assert plan.variance == own.variance


def test_repeated_fits_with_one_seed_agree():
    test = uv.CorrectedTTest(X, Y, "lda", design=StratifiedKFold(5, shuffle=True))
    assert test.fit(rng=3).estimate == test.fit(rng=3).estimate


# ------------------------------------------------------------------------------------ status


def status_of(values, learning=None, **options):
    learning = 1 - np.eye(len(values[0])) if learning is None else learning
    losses = uv.Losses.from_arrays(values, learning, **options)
    return uv.CorrectedTTest.from_losses(losses).fit()


def test_what_has_no_test_says_why():
    rng = np.random.default_rng(0)
    some = rng.random((1, 4, 4))
    identical = status_of(np.concatenate([some, some]))
    assert identical.status.startswith("degenerate: the two learners had the same loss")
    constant = status_of(np.full((1, 4, 4), 0.25))
    assert constant.status.startswith("degenerate: the loss is the same in every resample, ")
    one_class = status_of(rng.random((1, 4, 4)), loss="auc", y=[0, 1, 0, 1])
    assert one_class.status.startswith("no estimate: a resample tests one class only")
    for result in (identical, constant, one_class):
        assert math.isnan(result.pvalue)
        assert result.reference == "none"
        with pytest.warns(uv.UcvtestWarning, match="no confidence interval"):
            assert np.isnan(result.conf_int()).all()


def test_an_estimate_of_zero_is_zero():
    # The same numbers in another order, whose differences add up to 5.6e-17.
    scores = {"a": [0.7, 0.1, 0.2, 0.4], "b": [0.1, 0.2, 0.4, 0.7]}
    losses = uv.Losses.from_scores(scores, n_learn=9, n_test=3, greater_is_better=True)
    result = uv.CorrectedTTest.from_losses(losses).fit()
    assert np.mean(np.subtract(*map(np.array, scores.values()))) != 0
    assert (result.estimate, result.statistic, result.pvalue) == (0, 0, 1)


SHIFTED = {"f": RNG.uniform(1, 2, size=40), "g": 1.0}
SHIFTED["g"] += SHIFTED["f"]


@pytest.mark.parametrize(
    ("test", "losses", "what"),
    [
        (
            uv.HoldOutTest,
            uv.Losses.from_predictions(np.zeros(40), SHIFTED, loss="absolute"),
            "losses is the same at every observation",
        ),
        (
            uv.DieboldMarianoTest,
            uv.Losses.from_predictions(
                np.zeros(40), {"f": np.ones(40), "g": np.full(40, 3.0)}, loss="absolute"
            ),
            "losses is the same at every observation",
        ),
        (
            uv.CorrectedTTest,
            uv.Losses.from_scores(SHIFTED, n_learn=39, n_test=1, greater_is_better=True),
            "scores is the same in every resample",
        ),
        (
            uv.HoldOutTest,
            uv.Losses.from_predictions(
                SHIFTED["f"], {"f": SHIFTED["f"] + 1, "g": SHIFTED["f"] + 2}, metric="rmse"
            ),
            "root mean squared error leaves no variance to estimate, because all observations",
        ),
    ],
)
def test_what_does_not_vary_is_named(test, losses, what):
    status = test.from_losses(losses, "f", "g").fit().status
    assert re.match(f"degenerate: the difference (of the|in) {what}", status)
    assert ("more resamples" in status) == (test is uv.CorrectedTTest)


def test_classes_that_were_not_learnt_are_said():
    y = np.repeat(["a", "b", "c"], 20)
    note = "In 3 of 3 resamples a tested class does not occur in the learning set"
    in_order = uv.CorrectedTTest(X, y, "lda", "knn:3", design=StratifiedKFold(3)).fit(rng=0)
    assert note not in " ".join(in_order.notes)
    by_class = uv.CorrectedTTest(X, y, "lda", "knn:3", design=KFold(3)).fit(rng=0)
    assert note in " ".join(by_class.notes)
    response = np.repeat([1.0, 2.0, 3.0], 20) + RNG.normal(size=60)
    numbers = uv.CorrectedTTest(X, response, "ridge:1", "knn:3", design=KFold(3)).fit(rng=0)
    assert "does not occur" not in " ".join(numbers.notes)


def test_a_negative_variance_is_said():
    losses = uv.Losses.from_arrays(np.eye(2)[None], np.eye(2))
    observed, metric = losses.difference(), losses.metric

    def status_of(variance, known="ok"):
        return resampling.status_of(observed, 0.5, variance, known, metric)

    assert status_of(-0.1).startswith("negative variance estimate (-0.1)")
    assert status_of(math.nan).startswith("no variance estimate")
    assert status_of(0.1, "else") == "else"
    assert status_of(0.1) == "ok"


def test_sizes_of_learning_sets_in_words():
    found = [learn_size(sizes) for sizes in ((3,), (3, 4), (3, 4, 8))]
    assert found == [3, "3 or 4", "3 to 8"]


def test_a_single_learner_without_null_value_has_an_interval_and_no_pvalue(losses):
    result = uv.CorrectedTTest.from_losses(losses, "lda").fit()
    assert math.isnan(result.pvalue)
    assert np.isfinite(result.conf_int()).all()
    assert result.status == "ok"


# ------------------------------------------------------------------------------------- hooks


def test_hooks_surround_the_fits_and_are_told_of_results(losses):
    told = []

    class Hook:
        def fitting(self, test):
            told.append("fitting")
            return ExitStack()

        def fitted(self, test, result):
            told.append(result)

    hook = Hook()
    hooks.add_hook(hook)
    try:
        uv.evaluate("lda", X, Y, 5, rng=0)
        assert told == ["fitting"]
        result = uv.CorrectedTTest.from_losses(losses, 0, 1).fit()
        assert told == ["fitting", result]
        direct = uv.CorrectedTTest(X, Y, "lda").fit(rng=0)
        assert told == ["fitting", result, "fitting", direct]
    finally:
        hooks.remove_hook(hook)
