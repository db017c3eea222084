"""Comparing two lassos is relatively unstable (Bayle, Janson and Mackey 2025, arXiv 2508.04409).

Intervals from cross-validation are valid if the averaged quantity is stable: if a learning set with
another observation in it changes the rule's loss by little compared with the loss's own spread. The
paper shows that each of two lassos can be stable, and their comparison not, in linear models with
few normal features and normal noise. Here least squares is soft-thresholded, which is the lasso
where features are orthogonal: penalties of 1 and of 2 over the root of n, ten features, no signal
or little, squared loss. How often do nominal 95% intervals

contain - the difference between the rules learnt here, with `CrossValidationWaldTest` on ten folds,
- the loss of one of these rules, with the same test,
- the expected difference at learning-set size n/2 - 1, with `UStatisticTest`,
- the same ratio of expected losses (``contrast="ratio"``)?

Settings are ours, as the paper's own could not be read in full. The last column is the standard
deviation of the error that an interval is about over the mean standard error: 1 if that is right.
"""

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

import ucvtest as uv

N_FEATURES, N_FOLDS, N_SPLITS = 10, 10, 2000
SIGNALS = {"none": 0.0, "three of .3": 0.3}
SETS = 20_000
"""Learning sets from which the true differences are known."""


def coefficients(X: np.ndarray, y: np.ndarray, learning: np.ndarray) -> np.ndarray:
    """Least squares on each learning set (R, n), soft-thresholded with two penalties; (2, R, p)."""
    n, p = X.shape
    products = (X[:, :, None] * X[:, None, :]).reshape(n, p * p)
    weights = learning.astype(float)
    gram = (weights @ products).reshape(-1, p, p)
    found = np.linalg.solve(gram, (weights @ (X * y[:, None]))[..., None])[..., 0]
    return thresholded(found, n)


def thresholded(least_squares: np.ndarray, n_obs: int) -> np.ndarray:
    """With both penalties."""
    penalties = np.array([1, 2])[:, None, None] / np.sqrt(n_obs)
    return np.sign(least_squares) * np.maximum(np.abs(least_squares) - penalties, 0)


def losses_of(X: np.ndarray, y: np.ndarray, learning: np.ndarray) -> tuple[uv.Losses, np.ndarray]:
    """Squared losses of both learners under a design, and their rules."""
    rules = coefficients(X, y, learning)
    squares = (y - rules @ X.T) ** 2
    names = ["penalty 1", "penalty 2"]
    return uv.Losses.from_arrays(squares, learning, learners=names, loss="squared", y=y), rules


def expected_losses(n_obs: int, signal: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Of both learners from learning sets of half the sample, less one."""
    size, p, found = n_obs // 2 - 1, len(signal), []
    for _ in range(SETS // 1000):
        X = rng.normal(size=(1000, size, p))
        y = X @ signal + rng.normal(size=(1000, size))
        transposed = X.transpose(0, 2, 1)
        fitted = np.linalg.solve(transposed @ X, transposed @ y[..., None])[..., 0]
        found.append(1 + ((thresholded(fitted, n_obs) - signal) ** 2).sum(axis=2).mean(axis=1))
    return np.mean(found, axis=0)


def one_sample(
    n_obs: int, signal: np.ndarray, truth: np.ndarray, rng: np.random.Generator
) -> list[dict]:
    """The result of every test on one sample, and the true values."""
    X = rng.normal(size=(n_obs, len(signal)))
    y = X @ signal + rng.normal(size=n_obs)
    folds = uv.designs.KFold(N_FOLDS).draw(n_obs, rng).learning
    splits = uv.designs.RandomSplits(N_SPLITS, 0.5 + 1 / n_obs).draw(n_obs, rng).learning
    in_folds, rules = losses_of(X, y, folds)
    in_splits, _ = losses_of(X, y, splits)
    here = (1 + ((rules - signal) ** 2).sum(axis=2)).mean(axis=1)
    wald, both = uv.CrossValidationWaldTest, ("penalty 1", "penalty 2")
    results = {
        "Wald, difference": (wald.from_losses(in_folds, *both).fit(), here[0] - here[1]),
        "Wald, one learner": (wald.from_losses(in_folds, both[0]).fit(), here[0]),
        "U-statistic, difference": (
            uv.UStatisticTest.from_losses(in_splits, *both).fit(),
            truth[0] - truth[1],
        ),
        "U-statistic, ratio": (
            uv.UStatisticTest.from_losses(in_splits, *both, contrast="ratio").fit(),
            truth[0] / truth[1],
        ),
    }
    return [row(name, result, true) for name, (result, true) in results.items()]


def row(name: str, result: uv.TestResult, true: float) -> dict:
    """One result next to the truth; for a ratio the error is that of its logarithm."""
    low, high = result.conf_int()
    ratio = result.contrast == "ratio"
    error = np.log(result.estimate / true) if ratio else result.estimate - true
    return {
        "test": name,
        "answered": not np.isnan(low),
        "covered": low <= true <= high,
        "error": error,
        "se": result.se,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few samples of n = 100")
    parser.add_argument("--samples", type=int, default=300)
    arguments = parser.parse_args()
    sizes, samples = ((100,), 3) if arguments.quick else ((100, 400), arguments.samples)
    warnings.simplefilter("ignore", uv.UcvtestWarning)

    start = time.perf_counter()
    lines = []
    for n_obs in sizes:
        for words, strength in SIGNALS.items():
            rng = np.random.default_rng([20250806, n_obs, round(10 * strength)])
            signal = np.r_[np.full(3, strength), np.zeros(N_FEATURES - 3)]
            truth = expected_losses(n_obs, signal, rng)
            found = [each for _ in range(samples) for each in one_sample(n_obs, signal, truth, rng)]
            for name, cells in pd.DataFrame(found).groupby("test", sort=False):
                answers = cells[cells["answered"]]
                count, total = int(answers["covered"].sum()), len(answers)
                low, high = proportion_confint(count, total, method="beta")
                lines.append(
                    {
                        "n": n_obs,
                        "signal": words,
                        "interval": name,
                        "covered": f"{count / total:.1%} [{low:.1%}, {high:.1%}]",
                        "answers": f"{total} of {len(cells)}",
                        "sd / se": f"{answers['error'].std() / answers['se'].mean():.2f}",
                    }
                )
    print(f"{samples} samples of each setting; nominal 95% intervals, binomial 95% limits")
    print(pd.DataFrame(lines).to_string(index=False))
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
