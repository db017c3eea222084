"""The true covariances of cross-validated losses, by simulation: see `studies.simulate`."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from studies.simulate.many_samples import ManySamples, Sampler
from ucvtest.kernels.fold_covariance import moments_by_row


def fold_covariance(
    sampler: Sampler,
    learner: Any,
    n: int,
    n_folds: int,
    n_replications: int,
    *,
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
) -> "FoldCovarianceSimulation":
    """Simulate the covariances of cross-validated losses, and the variance of their mean.

    Parameters
    ----------
    sampler : callable
        ``sampler(rng, n)`` draws features (n, p) and responses (n,) of independent
        observations. Rows must not be sorted by class, because each fold contains neighbouring
        rows.
    n : int
        Sample size, a multiple of `n_folds`, which is n for leave-one-out.
    n_replications : int
        Samples drawn, at least 2.
    n_jobs : int, optional
        joblib's workers, for learners that are not jitted. Results do not depend on them.

    Notes
    -----
    Bengio and Grandvalet (2005), experiments 5.2 and 5.3. Erratum: s - mu^2 with the mean of
    each replication is biased by -theta; the square of the grand mean is used, without the
    variance that it has itself. Jitted learners fit all folds of a sample in one call, ridge
    regression (with penalty 0 least squares) those of several samples.

    Examples
    --------
    >>> from studies import simulate
    >>> sampler = simulate.regression_sampler(n_features=3)
    >>> found = simulate.fold_covariance(sampler, "ridge:0", 20, 5, 200, rng=0)
    >>> bool(found.theta > found.sigma_squared / 20)
    True
    """
    fold = np.repeat(np.arange(n_folds), n // n_folds)
    testing = fold == np.arange(n_folds)[:, None]
    samples = _samples(sampler, learner, ~testing, testing, rng, n_jobs)
    moments = [
        moments_by_row(losses.sum(axis=1), fold) for losses in samples.losses(n_replications)
    ]
    replicates = {name: np.concatenate([batch[name] for batch in moments]) for name in moments[0]}
    return FoldCovarianceSimulation(n, n_folds, replicates)


def hold_out(
    sampler: Sampler,
    learner: Any,
    n: int,
    n_sets: int,
    n_replications: int,
    *,
    rng: int | np.random.Generator | None = None,
) -> dict[str, tuple[float, float]]:
    """Simulate the variance of the mean loss on independent test sets, and two estimates of it.

    `n` is the size of every learning set and of every test set, `n_sets` how many pairs of them a
    replication has: Bengio and Grandvalet (2005), experiment 5.1. "variance" is as the mean loss
    varied from replication to replication, "theta1" the mean of the estimate that ignores
    correlations, "theta2" of the one that takes them into account; each with its Monte-Carlo error.

    Examples
    --------
    >>> from studies import simulate
    >>> sampler = simulate.regression_sampler(n_features=3)
    >>> found = simulate.hold_out(sampler, "ridge:0", 20, 5, 500, rng=0)
    >>> found["theta1"] < found["theta2"]
    True
    """
    learning = (np.arange(2 * n) < n)[None]
    samples = _samples(sampler, learner, learning, ~learning, rng, None)
    tested = [losses[:, 0, n:] for losses in samples.losses(n_replications * n_sets)]
    mean, square = (
        np.concatenate([(losses**power).mean(axis=1) for losses in tested]).reshape(-1, n_sets)
        for power in (1, 2)
    )
    grand = mean.mean(axis=1)
    values = {
        "variance": (grand - grand.mean()) ** 2 * n_replications / (n_replications - 1),
        "theta1": (square.mean(axis=1) - grand**2) / (n_sets * n - 1),
        "theta2": mean.var(axis=1, ddof=1) / n_sets,
    }
    root = math.sqrt(n_replications)
    return {
        name: (float(each.mean()), float(each.std(ddof=1)) / root) for name, each in values.items()
    }


def mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """The mean, and its Monte-Carlo error."""
    return float(values.mean()), float(values.std(ddof=1)) / math.sqrt(len(values))


def _samples(
    sampler: Sampler,
    learner: Any,
    learning: np.ndarray,
    testing: np.ndarray,
    rng: Any,
    n_jobs: int | None,
) -> ManySamples:
    generator = np.random.default_rng(rng)
    return ManySamples(
        sampler, [learner], learning, testing, loss=None, rng=generator, n_jobs=n_jobs
    )


@dataclass(frozen=True, eq=False)
class FoldCovarianceSimulation:
    """True covariances of cross-validated losses, with their Monte-Carlo errors.

    Parameters
    ----------
    n_obs, n_folds : int
    replicates : mapping of str to ndarray, shape (N,)
        mean, s1, s2, s3, lambda1 and lambda2 of every sample: see
        ``uv.kernels.fold_covariance.moments``.
    """

    n_obs: int
    n_folds: int
    replicates: Mapping[str, np.ndarray]

    @property
    def fold_size(self) -> int:
        """Number of observations in a fold, m."""
        return self.n_obs // self.n_folds

    @property
    def n_replications(self) -> int:
        """Number of samples."""
        return len(self.replicates["mean"])

    @property
    def mean(self) -> float:
        """Expected loss (difference)."""
        return float(self.replicates["mean"].mean())

    @property
    def sigma_squared(self) -> float:
        """Variance of a loss."""
        return self._centred("s1")

    @property
    def omega(self) -> float:
        """Covariance of two losses in the same fold; NaN for leave-one-out."""
        return self._centred("s2")

    @property
    def gamma(self) -> float:
        """Covariance of two losses in different folds."""
        return self._centred("s3")

    @property
    def theta(self) -> float:
        """Variance of the mean loss, as it varied from sample to sample."""
        return float(self.replicates["mean"].var(ddof=1))

    @property
    def rho(self) -> float:
        """Correlation of the mean losses of two folds; NaN where no loss varies."""
        return _ratio(self.fold_size * self.gamma, self._of_fold)

    @property
    def contributions(self) -> dict[str, float]:
        """The three parts of the variance, (5.7); their sum is `theta`."""
        return {name: self._weights[name] * self._centred(name) for name in self._weights}

    @property
    def shares(self) -> dict[str, float]:
        """The three parts as shares of the variance."""
        return {name: _ratio(value, self.theta) for name, value in self.contributions.items()}

    @property
    def mc_se(self) -> dict[str, float]:
        """Monte-Carlo standard errors of all estimates, by the delta method."""
        influence = {
            "mean": self.replicates["mean"],
            "theta": self._influence("theta"),
            "sigma_squared": self._influence("s1"),
            "omega": self._influence("s2"),
            "gamma": self._influence("s3"),
            "rho": self._rho_influence(),
        }
        for name, weight in self._weights.items():
            sigma_influence = weight * self._influence(name)
            influence[f"share_{name}"] = _ratio(
                sigma_influence - self.shares[name] * influence["theta"], self.theta
            )
        return {name: mean_and_error(values)[1] for name, values in influence.items()}

    @property
    def _weights(self) -> dict[str, float]:
        n, m = self.n_obs, self.fold_size
        weights = {"s1": 1 / n, "s2": (m - 1) / n, "s3": (n - m) / n}
        return {name: weight for name, weight in weights.items() if weight}

    @property
    def _of_fold(self) -> float:
        """m times the variance of the mean loss of a fold."""
        within_fold_covariance = 0.0 if self.fold_size == 1 else (self.fold_size - 1) * self.omega
        return self.sigma_squared + within_fold_covariance

    def _centred(self, name: str) -> float:
        """Mean product less the squared expectation, estimated by products of two samples."""
        squared = self.mean**2 - self.theta / self.n_replications
        return float(self.replicates[name].mean()) - squared

    def _influence(self, name: str) -> np.ndarray:
        """The contribution of each sample to an estimate."""
        mean = self.replicates["mean"]
        product = mean**2 if name == "theta" else self.replicates[name]
        return product - 2 * self.mean * mean

    def _rho_influence(self) -> np.ndarray:
        m = self.fold_size
        within_fold_influence = 0.0 if m == 1 else (m - 1) * self._influence("s2")
        of_fold = self._influence("s1") + within_fold_influence
        return _ratio(m * self._influence("s3") - self.rho * of_fold, self._of_fold)


def _ratio(numerator: Any, denominator: float) -> Any:
    """NaN where the whole is zero."""
    return numerator / denominator if denominator else numerator * math.nan
