"""What other packages compute or hold, taken in by ucvtest, with the same numbers where both test.

mlxtend: the examples of its user guide of 5x2 cross-validation and of McNemar's test. baycomp: the
correlated Bayesian t test of fold scores. skore: reports of one split, of cross-validation, and
comparisons of them. Each number is asserted.
"""

import argparse
from collections.abc import Iterator

import baycomp
import numpy as np
import skore
from mlxtend.evaluate import (
    combined_ftest_5x2cv,
    mcnemar,
    mcnemar_table,
    paired_ttest_5x2cv,
)
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split
from sklearn.tree import DecisionTreeClassifier

import ucvtest as uv

Models = dict[str, object]


def halves(n_obs: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The ten splits that mlxtend's 5x2 tests draw."""
    rng = np.random.RandomState(seed)
    for _ in range(5):
        drawn = rng.randint(low=0, high=32767)
        first, second = train_test_split(np.arange(n_obs), test_size=0.5, random_state=drawn)
        yield first, second
        yield second, first


def mlxtend_five_by_two(depth: int | None) -> None:
    """User guide, paired_ttest_5x2cv and combined_ftest_5x2cv: iris, with a tree and a stump."""
    X, y = load_iris(return_X_y=True)
    models = {
        "logistic": LogisticRegression(random_state=1, max_iter=1000),
        "tree": DecisionTreeClassifier(random_state=1, max_depth=depth),
    }
    splits = list(halves(len(y), seed=1))
    losses = uv.evaluate(models, X, y, design=splits, scoring="accuracy", backend="sklearn")
    pairs = [(paired_ttest_5x2cv, uv.FiveByTwoTTest), (combined_ftest_5x2cv, uv.FiveByTwoFTest)]
    for theirs, ours in pairs:
        statistic, pvalue = theirs(*models.values(), X, y, random_seed=1)
        found = ours.from_losses(losses).fit()
        # They subtract accuracies, we subtract errors.
        np.testing.assert_allclose(abs(found.statistic), abs(statistic), rtol=1e-9)
        np.testing.assert_allclose(found.pvalue, pvalue, rtol=1e-9)
        print(
            f"mlxtend {theirs.__name__}, depth {depth}: p = {pvalue:.4f}, ours {found.pvalue:.4f}"
        )


def mlxtend_mcnemar() -> None:
    """User guide, mcnemar: 10 000 labels, and two models that differ on 25 and on 15 of them."""
    y = np.arange(10_000) % 2
    first, second = y.copy(), y.copy()
    first[9945:9970], second[9970:9985] = 1 - y[9945:9970], 1 - y[9970:9985]
    first[9985:], second[9985:] = 1 - y[9985:], 1 - y[9985:]
    table = mcnemar_table(y_target=y, y_model1=first, y_model2=second)
    _, pvalue = mcnemar(ary=table, exact=True)
    losses = uv.Losses.from_predictions(y, {"model 1": first, "model 2": second})
    found = uv.McNemarTest.from_losses(losses).fit()
    np.testing.assert_allclose(found.pvalue, pvalue, rtol=1e-9)
    print(f"mlxtend mcnemar: p = {pvalue:.4f}, ours {found.pvalue:.4f}")


def baycomp_correlated(X: np.ndarray, y: np.ndarray, models: Models, n_repeats: int) -> None:
    """Accuracies of repeated 10-fold cross-validation; a percentage point is as good as equal."""
    splitters = [StratifiedKFold(10, shuffle=True, random_state=seed) for seed in range(n_repeats)]
    scores = {
        name: np.concatenate([cross_val_score(model, X, y, cv=each) for each in splitters])
        for name, model in models.items()
    }
    left, rope, right = baycomp.two_on_single(*scores.values(), rope=0.01, runs=n_repeats)
    assert (left, rope, right) == baycomp.CorrelatedTTest.probs(
        *scores.values(), rope=0.01, runs=n_repeats
    )
    n_test = len(y) // 10
    losses = uv.Losses.from_scores(
        scores, n_learn=len(y) - n_test, n_test=n_test, design="repeated_kfold", n_folds=10
    )
    found = uv.BayesianTTest.from_losses(losses).fit(rope=0.01).posterior
    # "left" is that the first score minus the second is high: baycomp calls it after the first.
    np.testing.assert_allclose(
        (found.p_right, found.p_rope, found.p_left), (left, rope, right), rtol=0, atol=1e-9
    )
    print(f"baycomp: p = {left:.4f}, {rope:.4f} and {right:.4f}, ours {found.p_right:.4f}, ...")


def skore_one_split(X: np.ndarray, y: np.ndarray, models: Models) -> None:
    """A ComparisonReport of two EstimatorReports: rules that are fixed, on one test set."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    data = {"X_train": X_train, "y_train": y_train, "X_test": X_test, "y_test": y_test}
    report = skore.ComparisonReport(
        {name: skore.EstimatorReport(model, **data) for name, model in models.items()}
    )
    labels = report.get_predictions(data_source="test", response_method="predict")
    losses = uv.Losses.from_predictions(y_test, dict(zip(report.reports_, labels, strict=True)))
    accuracies = [each.metrics.accuracy(data_source="test") for each in report.reports_.values()]
    np.testing.assert_allclose(1 - losses.means[:, 0], accuracies, rtol=1e-12)
    print(f"skore, one split: {uv.McNemarTest.from_losses(losses).fit().verdict}")

    chances = report.get_predictions(data_source="test", response_method="predict_proba")
    columns = {name: each[:, 1] for name, each in zip(report.reports_, chances, strict=True)}
    areas = uv.Losses.from_predictions(y_test, columns, loss="auc")
    theirs = [each.metrics.roc_auc(data_source="test") for each in report.reports_.values()]
    np.testing.assert_allclose(areas.means[:, 0], theirs, rtol=1e-12)
    print(f"skore, one split: {uv.DeLongTest.from_losses(areas).fit().verdict}")


def skore_cross_validation(X: np.ndarray, y: np.ndarray, models: Models) -> None:
    """CrossValidationReports: the scores of folds, or the prediction of every observation."""
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    report = skore.ComparisonReport(
        {
            name: skore.CrossValidationReport(each, X, y, splitter=folds)
            for name, each in models.items()
        }
    )
    results, errors = {}, []
    for name, each in report.reports_.items():
        train, test = zip(*each.split_indices, strict=True)
        table = each.metrics.accuracy(aggregate=None)
        results[name] = {
            "test_score": table.to_numpy()[0],
            "indices": {"train": list(train), "test": list(test)},
        }
        wrong = np.zeros((len(test), len(y)))
        labels = each.get_predictions(data_source="test", response_method="predict")
        for row, tested, predicted in zip(wrong, test, labels, strict=True):
            row[tested] = predicted != y[tested]
        errors.append(wrong)
    means = uv.Losses.from_sklearn(results, len(y), score="accuracy")
    by_means = uv.CorrectedTTest.from_losses(means).fit()

    # With the loss of every observation there are more tests.
    design = means.design
    losses = uv.Losses.from_arrays(
        np.array(errors), design.learning, design.testing, learners=list(results)
    )
    np.testing.assert_allclose(losses.means, means.means, atol=1e-12)
    tests = ["corrected_t", "cross_validation_wald", "mcnemar"]
    comparison = uv.compare_losses(losses, tests)
    again = uv.CorrectedTTest(X, y, *models.values(), cv=folds, backend="sklearn").fit()
    for found in (by_means, comparison.result("corrected_t")):
        np.testing.assert_allclose(tuple(found), tuple(again), rtol=1e-9)
    print(f"skore, ten folds: {comparison.verdict}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one repetition of cross-validation")
    n_repeats = 1 if parser.parse_args().quick else 10

    for depth in (None, 1):
        mlxtend_five_by_two(depth)
    mlxtend_mcnemar()

    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:200, :4], y[:200]
    models = {
        "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
        "logistic": LogisticRegression(max_iter=2000),
    }
    baycomp_correlated(X, y, models, n_repeats)
    skore_one_split(X, y, models)
    skore_cross_validation(X, y, models)


if __name__ == "__main__":
    main()
