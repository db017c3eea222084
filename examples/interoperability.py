"""Compare the numbers with those of other packages where both test.

mlxtend: the 5x2 tests and McNemar's, on the
examples of its user guide. baycomp: the Bayesian t test of fold scores. Each number is asserted.
"""

import argparse
from collections.abc import Iterator

import baycomp
import numpy as np
from mlxtend.evaluate import combined_ftest_5x2cv, mcnemar, mcnemar_table, paired_ttest_5x2cv
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split
from sklearn.tree import DecisionTreeClassifier

import ucvtest as uv

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:200, :4], y[:200]
MODELS = {
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "logistic": LogisticRegression(max_iter=2000),
}


def halves(n_obs: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The ten splits that mlxtend's 5x2 tests draw."""
    rng = np.random.RandomState(seed)
    for _ in range(5):
        drawn = rng.randint(low=0, high=32767)
        first, second = train_test_split(np.arange(n_obs), test_size=0.5, random_state=drawn)
        yield first, second
        yield second, first


def mlxtend_five_by_two(depth: int | None) -> None:
    """Iris, with a logistic regression and a tree or a stump."""
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
        assert_allclose([found.statistic, found.pvalue], [statistic, pvalue], rtol=1e-9)
        print(f"{theirs.__name__}, depth {depth}: p = {pvalue:.4f}, ours {found.pvalue:.4f}")


def mlxtend_mcnemar() -> None:
    """10 000 labels, and two models that differ on 25 and on 15 of them."""
    y = np.arange(10_000) % 2
    first, second = y.copy(), y.copy()
    first[9945:9970], second[9970:9985] = 1 - y[9945:9970], 1 - y[9970:9985]
    first[9985:], second[9985:] = 1 - y[9985:], 1 - y[9985:]
    _, pvalue = mcnemar(mcnemar_table(y_target=y, y_model1=first, y_model2=second), exact=True)
    losses = uv.Losses.from_predictions(y, {"model 1": first, "model 2": second})
    found = uv.McNemarTest.from_losses(losses).fit()
    assert_allclose(found.pvalue, pvalue, rtol=1e-9)
    print(f"mlxtend mcnemar: p = {pvalue:.4f}, ours {found.pvalue:.4f}")


def baycomp_correlated(n_repeats: int) -> None:
    """Accuracies of repeated 10-fold cross-validation; a percentage point is as good as equal."""
    splitters = [StratifiedKFold(10, shuffle=True, random_state=seed) for seed in range(n_repeats)]
    scores = {
        name: np.concatenate([cross_val_score(model, X, y, cv=each) for each in splitters])
        for name, model in MODELS.items()
    }
    theirs = baycomp.two_on_single(*scores.values(), rope=0.01, runs=n_repeats)
    design = {"design": "repeated_kfold", "n_folds": 10}
    losses = uv.Losses.from_scores(scores, n_learn=180, n_test=20, **design)
    found = uv.BayesianTTest.from_losses(losses).fit(rope=0.01).posterior
    # "left" is that the first score minus the second is high: baycomp calls it after the first.
    assert_allclose((found.p_right, found.p_rope, found.p_left), theirs, rtol=0, atol=1e-9)
    print(f"baycomp: p = {theirs[0]:.4f}, ours {found.p_right:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one repetition of cross-validation")
    quick = parser.parse_args().quick
    mlxtend_five_by_two(None)
    mlxtend_five_by_two(1)
    mlxtend_mcnemar()
    baycomp_correlated(1 if quick else 10)


if __name__ == "__main__":
    main()
