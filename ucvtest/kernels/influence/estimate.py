"""An estimate with its influence values, and what follows from them: variances and errors."""

from dataclasses import dataclass, fields, replace

import numpy as np


@dataclass(frozen=True, eq=False)
class Influence:
    """An estimate, the contribution of each observation to its error, and its Monte-Carlo noise.

    `first`, `second`, `third` (n,) are terms I, II and III of each observation; `by_group` and
    `first_by_group` (G, n) are the contributions of each group of repeats to the influence values
    and to term I, to first order. `rows` (R,) is the AUC or mean loss of every single test.
    `effects` (M,) are the contributions of each repeat to the estimate, to first order, with sum
    zero. `divisor` (n,) divides the influence value of each observation: the number of observations
    in its class (in total, for the error rate). `n_in_kernel` of one class are tested at a time:
    two of a sample that is compared with itself.
    """

    estimate: float
    first: np.ndarray
    second: np.ndarray
    third: np.ndarray
    by_group: np.ndarray
    first_by_group: np.ndarray
    rows: np.ndarray
    effects: np.ndarray
    divisor: np.ndarray
    n_in_kernel: int = 1

    @property
    def values(self) -> np.ndarray:
        """U = I + II - III of each observation, (n,)."""
        return self.first + self.second - self.third

    @property
    def variance(self) -> float:
        """(18): sum of squared influence values over squared sample sizes."""
        return self._variance(self.values)

    @property
    def term_1_variance(self) -> float:
        """The same from term I alone, which leaves out how training sets vary."""
        return self._variance(self.first)

    @property
    def mc_se(self) -> float:
        """Monte-Carlo standard error of the estimate; NaN for a single repeat."""
        m = len(self.effects)
        return float(np.sqrt((self.effects**2).sum() * m / (m - 1))) if m > 1 else np.nan

    @property
    def mc_bias_variance(self) -> float:
        """What the Monte-Carlo noise of the influence values adds to the variance."""
        k = len(self.by_group)
        if k < 2:
            return np.nan
        noise = self.by_group - self.by_group.mean(axis=0)
        return self._variance(noise) * k / (k - 1)

    @property
    def mc_se_variance(self) -> float:
        """Monte-Carlo standard error of `variance`, rough: from the spread of the groups."""
        return self._mc_se(self.values, self.by_group)

    @property
    def mc_se_term_1_variance(self) -> float:
        """Monte-Carlo standard error of `term_1_variance`."""
        return self._mc_se(self.first, self.first_by_group)

    def minus(self, other: "Influence") -> "Influence":
        """The difference of two estimates from the same splits: everything here is linear."""
        mine = {
            influence_field.name: getattr(self, influence_field.name)
            - getattr(other, influence_field.name)
            for influence_field in fields(self)
            if influence_field.name not in ("divisor", "n_in_kernel")
        }
        return replace(self, **mine)

    def of_class(self, members: np.ndarray) -> "Influence":
        """The influence values of one class alone."""
        class_values = {name: getattr(self, name)[members] for name in ("first", "second", "third")}
        groups = {name: getattr(self, name)[:, members] for name in ("by_group", "first_by_group")}
        return replace(self, **class_values, **groups, divisor=self.divisor[members])

    def repaired(self, n_tested: np.ndarray) -> "Influence":
        """The influence values whose variance is that of the delete-one jackknife.

        Terms II and III give the draws of a learning set mass 1 + epsilon, as if they were with
        replacement. Without it an observation cannot enter twice, and the inclusion of one of n
        among the g that are learnt from moves by g/n (1 - g/n) epsilon only. Erratum: II - III
        times (n - 1)/(n - g - 1), and n (n - 1) for n^2 below the squares; exact where the rows
        are all learning sets of one size. `n_tested` (n,) has n - g >= 2 of the class of each. With
        k in the kernel (n - k)/(n - g - k), and n (n - k)^2/(n - 1), by the same algebra.
        """
        k = self.n_in_kernel
        factor = (self.divisor - k) / (n_tested - k)
        return replace(
            self,
            second=factor * self.second,
            third=factor * self.third,
            by_group=self.first_by_group + factor * (self.by_group - self.first_by_group),
            divisor=np.sqrt(self.divisor * (self.divisor - 1))
            * ((self.divisor - k) / (self.divisor - 1)),
        )

    def _mc_se(self, values: np.ndarray, by_group: np.ndarray) -> float:
        k = len(by_group)
        if k < 2:
            return np.nan
        noise = (by_group - by_group.mean(axis=0)) / self.divisor
        linear = 2 * noise @ (values / self.divisor)
        # The square of the noise varies as well, by its covariance matrix of rank k - 1.
        squared = 2 * ((noise @ noise.T) ** 2).sum() * (k / (k - 1)) ** 2
        return float(np.sqrt((linear**2).sum() * k / (k - 1) + squared))

    def _variance(self, values: np.ndarray) -> float:
        return float((values**2 / self.divisor**2).sum())


@dataclass(frozen=True, eq=False)
class Rows:
    """Some tests: tested observations, how often each is learnt from, and in which repeat."""

    tested: np.ndarray
    counts: np.ndarray
    repeat: np.ndarray


def ad_hoc_by_repetition(
    folds: np.ndarray, estimate: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """Variances by name, for each repetition: (R,).

    `folds` is (R, K1, K0) or (R, K), `estimate` (R,): see `ucvtest.kernels.influence`.
    """
    fold_axes = tuple(range(1, folds.ndim))
    centre = folds.mean(axis=fold_axes) if estimate is None else estimate
    pooled = folds.reshape(len(folds), -1)
    n_effective = np.sqrt(np.prod(folds.shape[1:])) if folds.ndim == 3 else folds.shape[1]
    variances = {"adhoc_1": pooled.var(axis=1, ddof=1) / n_effective}
    if folds.ndim == 2:
        variances["adhoc_2"] = variances["adhoc_1"]
    elif folds.shape[1] == folds.shape[2]:
        own_fold_estimates = np.diagonal(folds, axis1=1, axis2=2)
        variances["adhoc_2"] = own_fold_estimates.var(axis=1, ddof=1) / folds.shape[1]
    else:
        variances["adhoc_2"] = np.full(len(folds), np.nan)
    unbiased, mle = np.zeros((2, len(folds)))
    for margin in [folds] if folds.ndim == 2 else [folds.mean(axis=2), folds.mean(axis=1)]:
        k = margin.shape[1]
        squares = ((margin - centre[:, None]) ** 2).sum(axis=1)
        unbiased += squares / (k * (k - 1))
        mle += squares / k**2
    return variances | {"adhoc_3": unbiased, "adhoc_3_mle": mle}
