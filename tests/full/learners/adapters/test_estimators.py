import functools
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from tests.support.samples import breast_cancer, diabetes, evaluate, iris, learning_sets
from ucvtest.data.sample import make_sample
from ucvtest.learners.adapters.coerce import as_learner
from ucvtest.learners.adapters.estimators import CallableLearner, SklearnLearner


def coded(sample, first="benign", second="malignant"):
    """The same sample with strings for labels."""
    return make_sample(
        sample.matrix, np.array([first, second])[sample.class_index], as_classes=True
    )


def split(sample, learn_size=50):
    learning = learning_sets(sample, learn_size, 1)[0]
    return np.flatnonzero(learning), np.flatnonzero(~learning)


def test_outputs_of_a_classifier():
    sample = coded(breast_cancer())
    learning, testing = split(sample)
    learner = SklearnLearner(LogisticRegression())
    fitted = LogisticRegression().fit(sample.matrix[learning], sample.response[learning])
    tested = sample.matrix[testing]

    def predicted(output):
        return learner.fit_predict(sample, learning, testing, output, 0)

    labels = (fitted.predict(tested) == "malignant").astype(float)
    np.testing.assert_array_equal(predicted("label"), labels)
    np.testing.assert_array_equal(predicted("score"), fitted.decision_function(tested))
    for output in ("probability", "number"):
        np.testing.assert_array_equal(predicted(output), fitted.predict_proba(tested)[:, 1])


@pytest.mark.parametrize("estimator", [LogisticRegression(), DecisionTreeClassifier(max_depth=2)])
def test_scores_and_probabilities_are_those_of_the_positive_class(estimator):
    sample = breast_cancer()
    other = make_sample(sample.matrix, sample.response, as_classes=True, pos_label=0)
    learning, testing = split(sample)
    learner = SklearnLearner(estimator)
    for output in ("score", "probability"):
        first, second = (
            learner.fit_predict(each, learning, testing, output, 0) for each in (sample, other)
        )
        total = 0.0 if output == "score" and hasattr(estimator, "decision_function") else 1.0
        np.testing.assert_allclose(first + second, total, atol=1e-12)


@pytest.mark.parametrize("n_known", [2, 3])
@pytest.mark.parametrize("estimator", [LogisticRegression(max_iter=1000), LinearSVC()])
def test_classes_that_were_not_learnt_have_the_lowest_score(estimator, n_known):
    sample = iris()
    learning = sample.class_index < n_known
    learner = SklearnLearner(estimator)
    rows = np.arange(150)
    found = learner.fit_predict(sample, rows[learning], rows, "score", 0)
    labels = learner.fit_predict(sample, rows[learning], rows, "label", 0)
    assert found.shape == (150, 3)
    np.testing.assert_array_equal(found.argmax(axis=1), labels)
    if n_known == 2:
        lowest = 0.0 if hasattr(estimator, "predict_proba") else -np.inf
        assert set(found[:, 2]) == {lowest}


def test_a_regressor_is_cut_at_one_half():
    sample = coded(breast_cancer())
    learning, testing = split(sample)
    learner = SklearnLearner(LinearRegression())
    number = LinearRegression().fit(sample.matrix[learning], sample.class_index[learning])
    expected = number.predict(sample.matrix[testing])
    found = learner.fit_predict(sample, learning, testing, "label", 0)
    np.testing.assert_array_equal(found, (expected > 0.5).astype(float))
    found = learner.fit_predict(sample, learning, testing, "score", 0)
    np.testing.assert_array_equal(found, expected)
    ties = make_sample(np.zeros((6, 1)), np.array([0, 1, 0, 1, 0, 1]), as_classes=True)
    found = learner.fit_predict(ties, np.arange(4), np.arange(4, 6), "label", 0)
    np.testing.assert_array_equal(found, [0.0, 0.0])


def test_missing_random_states_get_the_seed_of_the_fit_and_given_ones_stay():
    sample = breast_cancer()
    learning, testing = split(sample)

    def predicted(estimator, seed):
        learner = SklearnLearner(estimator)
        return tuple(learner.fit_predict(sample, learning, testing, "label", seed))

    trees = DecisionTreeClassifier(max_features=1)
    for estimator in (
        SGDClassifier(),
        make_pipeline(StandardScaler(), SGDClassifier()),
        VotingClassifier([("tree", trees), ("sgd", SGDClassifier())]),
    ):
        seeded = [predicted(estimator, seed) for seed in range(6)]
        assert seeded == [predicted(estimator, seed) for seed in range(6)]
        assert len(set(seeded)) > 1
    given = SGDClassifier(random_state=3)
    expected = given.fit(sample.matrix[learning], sample.class_index[learning])
    for seed in (0, 2**40 + 1):
        assert predicted(given, seed) == tuple(expected.predict(sample.matrix[testing]))


OF_SAMPLES = {"numbers": diabetes, "three": iris, "two": breast_cancer}


def test_pipelines_digest_what_a_matrix_cannot():
    sample = breast_cancer()
    frame = pd.DataFrame(sample.matrix[:, :2], columns=["a", "b"])
    frame.loc[::7, "a"] = np.nan
    frame["group"] = np.where(sample.class_index + (np.arange(100) % 3 == 0) > 0, "x", "y")
    pipeline = make_pipeline(
        make_column_transformer(
            (SimpleImputer(), ["a", "b"]), (OneHotEncoder(sparse_output=False), ["group"])
        ),
        LogisticRegression(),
    )
    mixed = make_sample(frame, sample.response, as_classes=True)
    learner = SklearnLearner(pipeline)
    learner.check(mixed, "label", 50)
    learning, testing = split(mixed)
    expected = pipeline.fit(frame.iloc[learning], sample.response[learning])
    found = learner.fit_predict(mixed, learning, testing, "label", 0)
    np.testing.assert_array_equal(found, expected.predict(frame.iloc[testing]))


def test_names():
    long = make_pipeline(StandardScaler(), LogisticRegression(C=0.5, max_iter=300))
    assert SklearnLearner(long).name == (
        "Pipeline(steps=[('standardscaler', StandardScaler()), "
        "('logisticregression', LogisticRegression(C=0.5, max_iter=300))])"
    )
    wide = VotingClassifier([(f"tree{i}", DecisionTreeClassifier()) for i in range(30)])
    assert len(SklearnLearner(wide).name) == 200
    assert SklearnLearner(wide).name.endswith("...")

    def rule(X_train, y_train, X_test, power=1):
        return np.ones(len(X_test))

    class Rule:
        def __call__(self, X_train, y_train, X_test):
            return np.ones(len(X_test))

    assert CallableLearner(rule).name == "rule"
    assert CallableLearner(functools.partial(rule, power=2)).name == "rule(power=2)"
    assert CallableLearner(lambda X_train, y_train, X_test: y_train).name == "<lambda>"
    assert CallableLearner(Rule()).name == "Rule"


@pytest.mark.parametrize(
    ("learner", "sample", "output", "message"),
    [
        (LogisticRegression(), "numbers", "number", "needs class labels(?=.*zero_one)"),
        ("ridge", "two", "probability", "gives no probability(?=.*such as lda)"),
        (LinearRegression(), "three", "label", "with this loss needs two classes"),
        (LogisticRegression(), "three", "number", "with this loss needs two classes"),
        (LinearRegression(), "two", "probability", "gives no probability"),
        (LinearSVC(), "two", "probability", "gives no probability"),
        (np.mean, "three", "number", "with this loss needs two classes, but y has 3"),
        *((np.mean, "three", output, "") for output in ("label", "score", "probability")),
        (LinearSVC(), "two", "score", ""),
        (LinearSVC(), "three", "label", ""),
        (LinearRegression(), "numbers", "number", ""),
        (RandomForestClassifier(), "two", "probability", ""),
        (LinearRegression(), "two", "score", ""),
    ],
)
def test_what_an_estimator_cannot_do_is_refused_before_any_fit(learner, sample, output, message):
    made = as_learner(learner)
    if not message:
        made.check(OF_SAMPLES[sample](), output, 50)
        return
    with pytest.raises(ValueError, match=f"^learner {re.escape(made.name)} {message}.*: use "):
        made.check(OF_SAMPLES[sample](), output, 50)


def test_a_callable_sees_what_the_user_gave_and_codes_are_made_of_its_labels():
    sample = coded(breast_cancer())
    frame = pd.DataFrame(sample.matrix, columns=list("abcde"))
    sample = make_sample(frame, sample.response, as_classes=True)
    learning, testing = split(sample)
    seen = []

    def rule(X_train, y_train, X_test):
        assert list(X_train.columns) == list(X_test.columns) == list("abcde")
        seen.append(y_train)
        return [y_train[0], "malignant"] + ["benign"] * (len(X_test) - 2)

    def mean(X_train, y_train, X_test):
        return np.full(len(X_test), y_train.mean())

    found = CallableLearner(rule).fit_predict(sample, learning, testing, "label", 0)
    np.testing.assert_array_equal(seen[0], sample.response[learning])
    np.testing.assert_array_equal(found[:3], [sample.class_index[learning[0]], 1.0, 0.0])
    found = CallableLearner(mean).fit_predict(sample, learning, testing, "number", 0)
    np.testing.assert_allclose(found, sample.class_index[learning].mean())
    with pytest.raises(ValueError, match=r"on split 0: .* 'unclear' is not one of the label"):
        evaluate(
            sample,
            lambda X, y, tested: ["unclear"] * len(tested),
            "label",
            learning_sets(sample, 50, 2),
        )


def test_boolean_and_integer_labels_are_coded():
    sample = breast_cancer()
    for labels in (sample.class_index.astype(bool), sample.class_index * 2 - 1):
        relabeled = make_sample(sample.matrix, labels, as_classes=True)
        learning = learning_sets(relabeled, 50, 3)
        found = evaluate(relabeled, LogisticRegression(), "label", learning).values
        expected = evaluate(sample, LogisticRegression(), "label", learning).values
        np.testing.assert_array_equal(found, expected)
