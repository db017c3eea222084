"""The speed of the lasso compared with glmnet and scikit-learn, at which accuracy.

Colon data (62 tissues, 2000 genes), random learning sets of 26, one lambda, one run. The time is
that of one fit and the scores of all observations. glmnet is timed inside R, scikit-learn in a
plain loop; both, and not the lasso here, with one thread. The KKT residual is the largest violation
of an optimality condition of glmnet's problem by any fit, in units of the response: the smaller,
the more exact. liblinear penalises the intercept, so that it solves a slightly different problem.

    python studies/benchmarks/lasso.py --quick
"""

import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import ucvtest as uv
from studies.benchmarks.bench import in_turn, options, seconds, versions
from studies.data import DataMissing, data_set
from ucvtest.data.sample import Sample, make_sample

LEARN_SIZE = 26

GLMNET = """
suppressMessages(library(glmnet))
arguments <- commandArgs(TRUE)
folder <- arguments[1]
read <- function(name) as.matrix(read.csv(file.path(folder, name), header = FALSE))
x <- read("x.csv")
y <- drop(read("y.csv"))
learning <- read("learning.csv") == 1
fit_all <- function(thresh) {
  coefficients <- matrix(0, nrow(learning), ncol(x) + 1)
  seconds <- system.time(for (i in seq_len(nrow(learning))) {
    rows <- learning[i, ]
    fit <- suppressWarnings(glmnet(x[rows, ], y[rows], family = "binomial", thresh = thresh,
                                   lambda = as.numeric(arguments[2]), maxit = 1e7))
    scores <- fit$a0 + x %*% fit$beta
    coefficients[i, ] <- c(fit$a0, as.vector(fit$beta))
  })[["elapsed"]]
  write.table(coefficients, file.path(folder, paste0(thresh, ".csv")), sep = ",",
              row.names = FALSE, col.names = FALSE)
  seconds
}
seconds <- sapply(c(1e-7, 1e-12), fit_all)
cat(as.character(packageVersion("glmnet")), as.character(getRversion()), seconds)
"""


def colon() -> Sample:
    """The data set of the paper on the U-statistic's variance."""
    data = data_set("colon")
    return make_sample(data.iloc[:, 1:].to_numpy(float), data.iloc[:, 0], as_classes=True)


def draw_learning_sets(sample: Sample, count: int) -> np.ndarray:
    """Random learning sets of one size."""
    member = np.arange(sample.n_obs) < LEARN_SIZE
    return np.random.default_rng(1).permuted(np.tile(member, (count, 1)), axis=1)


def kkt_residual(sample: Sample, rows: np.ndarray, fit: np.ndarray, lam: float) -> float:
    """Largest violation of an optimality condition by one fit."""
    x, y = sample.matrix[rows], sample.target[rows]
    sd = x.std(axis=0)
    b = fit[1:] * sd
    error = y - expit(fit[0] + x @ fit[1:])
    gradient = (x - x.mean(axis=0)).T @ error / (len(y) * np.where(sd > 0, sd, 1.0))
    inside = np.maximum(np.abs(gradient) - lam, 0.0)
    violation = np.where(b != 0, np.abs(gradient - lam * np.sign(b)), inside)
    return float(max(violation.max(), abs(error.mean())))


def worst(sample: Sample, learning: np.ndarray, fits: np.ndarray, lam: float) -> float:
    """Largest violation by any of several fits."""
    return max(kkt_residual(sample, *pair, lam) for pair in zip(learning, fits, strict=True))


def fit_ours(
    sample: Sample, learning: np.ndarray, lam: float, repeats: int
) -> tuple[float, float, float]:
    """Seconds of the first call and of one fit, and the KKT residual."""
    learner = uv.learners.lasso(lam)
    state = learner.prepare(sample)
    first = seconds(lambda: learner.scores(state, learning[:64]))[0]
    least = in_turn(lambda: learner.scores(state, learning), repeats=repeats)[0, 0]
    few = learning[:256]
    residual = worst(sample, few, learner.coefficients(state, few), lam)
    return first, least / len(learning), residual


def glmnet(
    sample: Sample, learning: np.ndarray, lam: float
) -> tuple[str, dict[str, tuple[float, float]]]:
    """Versions of glmnet and R; seconds of one fit and KKT residual for two thresholds."""
    with tempfile.TemporaryDirectory() as folder:
        tables = {"x": sample.matrix, "y": sample.target, "learning": learning.astype(int)}
        for name, table in tables.items():
            np.savetxt(Path(folder) / f"{name}.csv", table, delimiter=",", fmt="%.17g")
        script = Path(folder) / "fit.R"
        script.write_text(GLMNET)
        command = ["Rscript", str(script), folder, str(lam)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        version, r_version, *seconds = printed.split()
        timed = {}
        for thresh, elapsed in zip(("1e-07", "1e-12"), seconds, strict=True):
            fits = np.loadtxt(Path(folder) / f"{thresh}.csv", delimiter=",")
            residual = worst(sample, learning, fits, lam)
            timed[f"glmnet, thresh={thresh}"] = float(elapsed) / len(learning), residual
    return f"glmnet {version}, R {r_version}", timed


def loop(
    sample: Sample, learning: np.ndarray, lam: float, estimator: Callable[[], Any]
) -> tuple[float, float]:
    """Seconds of one fit of scikit-learn, standardised inside the learning set; KKT residual."""
    fits = np.empty((len(learning), 1 + sample.matrix.shape[1]))
    start = time.perf_counter()
    for rows, fit in zip(learning, fits, strict=True):
        x = sample.matrix[rows]
        mean, sd = x.mean(axis=0), x.std(axis=0)
        z = (sample.matrix - mean) / sd
        model = estimator().fit(z[rows], sample.class_index[rows])
        model.decision_function(z)
        fit[1:] = model.coef_[0] / sd
        fit[0] = model.intercept_[0] - fit[1:] @ mean
    seconds = (time.perf_counter() - start) / len(learning)
    return seconds, worst(sample, learning, fits, lam)


Found = dict[str, tuple[float, float]]
"""Seconds a fit and KKT residual, by the name of what fits."""


def measure(lam: float, quick: bool) -> tuple[str, Found]:
    """What else there is to say, and the numbers of the lasso here, first, and of the others."""
    n_jitted, n_others, repeats = (2048, 20, 2) if quick else (8192, 200, 3)
    # saga warns where it stops early, which its KKT residual shows.
    warnings.simplefilter("ignore")
    sample = colon()
    learning = draw_learning_sets(sample, n_jitted)
    few = learning[:n_others]
    first, *numbers = fit_ours(sample, learning, lam, repeats)
    said = [
        f"lambda {lam}, {n_jitted} learning sets (others: {n_others})",
        f"first call {first:.1f} s",
    ]
    found: Found = {"ucvtest": (numbers[0], numbers[1])}
    if shutil.which("Rscript"):
        theirs, timed = glmnet(sample, few, lam)
        found |= timed
        said.append(theirs)
    inverse = 1.0 / (LEARN_SIZE * lam)
    with threadpool_limits(1):
        found["scikit-learn, liblinear"] = loop(
            sample,
            few,
            lam,
            lambda: LogisticRegression(
                C=inverse, l1_ratio=1, solver="liblinear", intercept_scaling=100, random_state=0
            ),
        )
        found["scikit-learn, saga"] = loop(
            sample,
            few[: max(n_others // 10, 2)],
            lam,
            lambda: LogisticRegression(
                C=inverse, l1_ratio=1, solver="saga", tol=1e-5, max_iter=2000, random_state=0
            ),
        )
    return "\n".join(said), found


def main() -> None:
    parser = options(__doc__, "fewer fits, in about a minute")
    parser.add_argument("--lam", type=float, default=0.08)
    arguments = parser.parse_args()
    print(versions())
    try:
        said, found = measure(arguments.lam, arguments.quick)
    except DataMissing as error:
        print(error)
        return
    print(said)
    print(f"{'':26} {'us a fit':>10} {'KKT residual':>13}  times ucvtest")
    for name, (a_fit, kkt) in found.items():
        ratio = a_fit / found["ucvtest"][0]
        print(f"{name:26} {a_fit * 1e6:10.0f} {kkt:13.0e} {ratio:14.1f}")


if __name__ == "__main__":
    main()
