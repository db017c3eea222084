import numpy as np
import pytest

from tests.support.cells import all_of_them
from tests.support.samples import learning_sets
from ucvtest.data.sample import make_sample
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.learners.adapters.coerce import as_learner
from ucvtest.learners.base import JittedLearner

pytestmark = pytest.mark.seconds(40, reason="compiles every learner")

EVERY_LEARNER = [
    "elastic_net:0.1,0.5",
    "gaussian_nb",
    "kernel_ridge:1.0,kernel=rbf",
    "knn:3",
    "lasso:0.1",
    "lda",
    "logistic:1.0",
    "majority",
    "nearest_centroid",
    "polynomial:2",
    "qda",
    "ridge:1.0",
]

# Multiples of 32 from 32 to 224.
SIZES = 7


def most_compilations(name, form):
    """How often a function is compiled for samples of 21 to 220 observations, at most."""
    if "kernel" in name or "many columns" in name:
        # Systems of 16 to 112, samples of 32 to 224: the first rise by 16, the second by 32.
        return SIZES + 1
    if name in ("lasso:0.1", "elastic_net:0.1,0.5") and form == "labelings":
        # Everything is learnt from, so that learning sets rise by 16 up to 224.
        return 2 * SIZES
    return SIZES


LONG_TO_COMPILE = ("elastic_net:0.1,0.5", "lasso:0.1", "logistic:1.0", "polynomial:2", "qda")


def two_classes(n_obs, n_columns=3):
    rng = np.random.default_rng(0)
    y = np.arange(n_obs) % 2
    return make_sample(rng.normal(size=(n_obs, n_columns)) + y[:, None], y, as_classes=True)


def fit_some(name, n_obs, n_columns, form):
    """A few fits, as the tests of this package do them."""
    sample, rng = two_classes(n_obs, n_columns), np.random.default_rng(0)
    evaluator = Evaluator(sample, as_learner(name), "label")
    learning, rows = learning_sets(sample, n_obs // 2, 3), np.arange(3)
    if form == "learning sets":
        evaluator.predict(learning, ~learning, rows)
        return
    labels = rng.permuted(np.tile(sample.target, (3, 1)), axis=1)
    sets = (None, None) if form == "labelings" else (learning, ~learning)
    evaluator.predict_labelings(labels, rows, *sets)


FORMS = ("learning sets", "labelings", "labelings of learning sets")
NAMES = (*EVERY_LEARNER, "ridge:1.0 of many columns")
CELLS = [
    pytest.param(name, form, marks=pytest.mark.slow if name in LONG_TO_COMPILE else ())
    for row, name in enumerate(NAMES)
    for column, form in enumerate(FORMS)
    # Each learner in one form, and each form several times.
    if all_of_them() or name in LONG_TO_COMPILE or row % 3 == column
]


@pytest.mark.parametrize(("name", "form"), CELLS)
def test_many_sizes_need_a_handful_of_compilations(name, form, compiled):
    short, _, many = name.partition(" of ")
    # 20 sizes, which meet every multiple of 32 for samples, and of 16 for learning sets.
    for n_obs in range(21, 221, 10):
        fit_some(short, n_obs, 300 if many else 2, form)
    most = most_compilations(name, form)
    for function in set(compiled):
        assert compiled.count(function) <= most, function
    assert len(set(compiled)) <= 2


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("knn:3", "knn:7"),
        ("logistic:1.0", "logistic:20.0,scale=sum"),
        ("ridge:1.0", "ridge:0.1,penalize_intercept=false,scale=mean"),
    ],
)
def test_other_numbers_of_a_learner_need_no_other_compilation(name, other, compiled):
    sample = two_classes(40)
    learning = learning_sets(sample, 24, 10)

    def fit(learner):
        evaluator = Evaluator(sample, as_learner(learner), "score")
        return evaluator.predict(learning, ~learning, np.arange(10)).values

    found, first = fit(name), list(compiled)
    assert len(first) > 0
    assert np.nanmax(np.abs(fit(other) - found)) > 1e-3
    assert compiled == first


@pytest.mark.parametrize("name", EVERY_LEARNER)
def test_company_and_size_change_only_the_last_digits(name):
    """A sample inside a larger one: the observations never learnt from change nothing."""
    whole = two_classes(70)
    part = make_sample(whole.matrix[:40], whole.response[:40], as_classes=True)
    learning = learning_sets(part, 24, 10)
    longer = np.pad(learning, ((0, 0), (0, 30)))
    alone, inside = (
        Evaluator(sample, as_learner(name), "score").predict(rows, ~rows, np.arange(10)).values
        for sample, rows in ((part, learning), (whole, longer))
    )
    np.testing.assert_allclose(inside[:, :40], alone, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", EVERY_LEARNER)
def test_twenty_batches_of_ten_thousand_end(name):
    """XLA on the CPU can deadlock: the time limit of the test is the watchdog."""
    sample = two_classes(40, 2)
    learner = as_learner(name)
    assert isinstance(learner, JittedLearner)
    evaluator = Evaluator(sample, learner, "label")
    learning = learning_sets(sample, 20, 10_000)
    for _ in range(20):
        predicted = evaluator.predict(learning, ~learning, np.arange(10_000)).values
    assert np.isfinite(predicted[~learning]).all()
