"""The result of `FoldCovarianceTest`: status, diagnostics, tables, pictures, notes."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ucvtest.common.words import arg
from ucvtest.evaluation.loss_source import LossSource
from ucvtest.inference import quantity
from ucvtest.inference.answer import Answer
from ucvtest.inference.notes import one_class_and_tie_notes
from ucvtest.inference.quantity import Quantity
from ucvtest.inference.studentise import TABLE_ALPHA, variance_table
from ucvtest.methods.fold_covariance.estimation import Decomposition
from ucvtest.methods.fold_covariance.options import Estimator
from ucvtest.results.plot_data import Layer, Picture
from ucvtest.results.wording import SAME_LOSSES, no_spread

Table = Mapping[str, Any]

ESTIMATE_WORDS: Mapping[Estimator, str] = {
    "jackknife": "jackknife error",
    "cross_validation": "cross-validation error",
}

TABLE_RHOS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
"""Rows of the sensitivity table; the picture has the whole curve."""

CURVE_POINTS = 200

MOMENTS = {
    "s1": "sigma^2 + mu^2",
    "s2": "omega + mu^2",
    "s3": "gamma + mu^2",
    "lambda1": "sigma^2 - omega",
    "lambda2": "sigma^2 + (m-1) omega - m gamma",
    "lambda3": "n times the variance: none exists",
}
"""What the moments are unbiased for."""

NO_ASSUMPTION = (
    "no test without an assumption, because the variance of a cross-validation mean has no "
    "unbiased estimate; pass the rho 'nadeau_bengio', or your own correlation, for a p-value"
)


def answer_from(
    decompositions: Sequence[Decomposition],
    source: LossSource,
    estimator: Estimator,
    *,
    estimand: str,
    settings: Mapping[str, Any],
) -> Answer:
    """The answer of a test; each of two learners alone is under the same assumption."""
    decomposition, *of_learners = decompositions
    status = _status(decomposition, identical=source.identical, paired=source.paired)
    pictures = {
        "admissible": _admissible_picture(decomposition),
        "sensitivity": _sensitivity_picture(decomposition),
    }
    assumes = not math.isnan(decomposition.rho)
    return Answer.of_tested(
        decomposition.studentised(decomposition.variance(decomposition.rho), status),
        [(own.mean, own.variance(own.rho)) for own in of_learners],
        method=f"Fold covariance test of the K-fold {ESTIMATE_WORDS[estimator]}",
        estimand=estimand,
        n_fits=source.n_fits,
        settings=settings,
        diagnostics=_diagnostics(decomposition) | source.counts,
        notes=(*_notes(decomposition), *one_class_and_tie_notes(source.counts)),
        tables=_tables(decomposition),
        pictures={kind: picture for kind, picture in pictures.items() if picture is not None},
        assumption=f"rho = {decomposition.rho:.3g}" if assumes else None,
    )


def _status(decomposition: Decomposition, *, identical: bool, paired: bool) -> str:
    """Why there is no test; "ok" where there is one."""
    if identical:
        return SAME_LOSSES
    if math.isnan(decomposition.rho):
        return NO_ASSUMPTION
    if decomposition.only_rounding:
        return no_spread("in every fold", "use other random folds, or another loss", paired=paired)
    variance = decomposition.variance(decomposition.rho)
    if variance < 0:
        if decomposition.lambda2 > 0:
            cure = f"a larger rho, or {arg('n_repeats', 1)}"
        else:
            cure = f"{arg('n_folds')} that divide n"
        return (
            f"negative variance estimate ({variance:.3g}), which can happen with an unbiased "
            f"estimator: use {cure}"
        )
    return "ok"


def _diagnostics(decomposition: Decomposition) -> dict[str, Any]:
    """The moments, the variances, and the covariances under the assumption."""
    sigma_squared, omega, gamma = decomposition.covariances(decomposition.rho)
    moments = {name: x for name, x in decomposition.moments.items() if name != "mean"}
    values: dict[str, Any] = {
        **{name: _marked(name, moment) for name, moment in moments.items()},
        "lambda3": quantity.square(math.nan),
        "variance_independent": quantity.square(decomposition.independent),
        "admissible_low": quantity.square(decomposition.admissible[0]),
        "admissible_high": quantity.square(decomposition.admissible[1]),
        "rho": decomposition.rho,
        "rho_flip": decomposition.rho_flip,
        "sigma_squared": quantity.square(sigma_squared),
        "omega": quantity.square(omega),
        "gamma": quantity.square(gamma),
        "fold_means": quantity.value(decomposition.fold_means),
    }
    return values | ({"variance": decomposition.name} if decomposition.name else {})


# ------------------------------------------------------------------------------- tables


def _marked(name: str, moment: float) -> Quantity:
    """A moment, which s1, s2 and s3 contain the squared mean in."""
    return quantity.second_moment(moment) if name[0] == "s" else quantity.square(moment)


def _tables(decomposition: Decomposition) -> dict[str, Table]:
    """The moments, and the tests with other variances and other assumptions."""
    variances = {"independent": decomposition.independent, "naive": decomposition.variance(0.0)}
    variances["nadeau_bengio"] = decomposition.variance(1 / decomposition.n_folds)
    if decomposition.name:
        variances.setdefault(decomposition.name, decomposition.variance(decomposition.rho))
    admissible_ends = dict(zip(("lowest", "highest"), decomposition.admissible, strict=True))
    tables: dict[str, Table] = {
        "Moments": {
            "moment": tuple(MOMENTS),
            "estimate": tuple(
                _marked(name, decomposition.moments.get(name, math.nan)) for name in MOMENTS
            ),
            "unbiased_for": tuple(MOMENTS.values()),
        },
        "Variances": _variance_table("variance", decomposition, variances),
        "Admissible variances": _variance_table("end", decomposition, admissible_ends),
    }
    if not decomposition.only_rounding:
        rhos = sorted({*TABLE_RHOS, 1 / decomposition.n_folds})
        tests = [decomposition.studentised(decomposition.variance(rho)) for rho in rhos]
        intervals = [studentised.interval() for studentised in tests]
        tables["Sensitivity to rho"] = {
            "rho": tuple(rhos),
            "se": quantity.spread(tuple(studentised.se for studentised in tests)),
            "conf_low": quantity.value(tuple(low for low, _ in intervals)),
            "conf_high": quantity.value(tuple(high for _, high in intervals)),
            "pvalue": tuple(studentised.pvalue for studentised in tests),
        }
    if math.isnan(decomposition.hypothesis.null_value):
        return {
            title: {name: cells for name, cells in table.items() if name != "pvalue"}
            for title, table in tables.items()
        }
    return tables


def _variance_table(
    heading: str, decomposition: Decomposition, variances: Mapping[str, float]
) -> Table:
    return variance_table(
        ((name, None, decomposition.studentised(variance)) for name, variance in variances.items()),
        heading,
    )


# ------------------------------------------------------------------------------- pictures


def _admissible_picture(decomposition: Decomposition) -> Picture | None:
    """Figure 5.3 in units of sigma^2, and the line of values compatible with the estimates.

    With lambda_1 and lambda_2 fixed, gamma/sigma^2 is linear in u = omega/sigma^2, because
    sigma^2 = lambda_1/(1 - u): it is u - slope (1 - u).
    """
    n, m = decomposition.n_obs, decomposition.fold_size
    if not decomposition.lambda1 > 0:
        return None
    smallest_omega = -1 / (m - 1) if decomposition.jackknife else 0.0
    omega_range = np.array([smallest_omega, 1.0])
    above, below = (1 + (m - 1) * omega_range) / m, -(1 + (m - 1) * omega_range) / (n - m)
    slope = (decomposition.lambda2 - decomposition.lambda1) / (m * decomposition.lambda1)
    # The line where the variance of the mean would be zero.
    lowest = (slope - 1 / (n - m)) / (1 + slope + (m - 1) / (n - m))
    highest = max(1 - 4 * decomposition.lambda1 / decomposition.width**2, 0.0)
    line = np.array([max(lowest, smallest_omega), highest])
    around = np.concatenate([omega_range, omega_range[::-1]])
    layers = [
        Layer("area", around, np.concatenate([below, above[::-1]]), label="possible"),
        Layer("line", line, line - slope * (1 - line), "compatible with the losses", "other"),
    ]
    sigma_squared, omega, gamma = decomposition.covariances(decomposition.rho)
    if sigma_squared > 0:
        point = (omega / sigma_squared, gamma / sigma_squared)
        label = f"rho = {decomposition.rho:.3g}"
        layers.append(Layer("points", *point, label=label, role="estimate"))
    zero = "gamma = 0, as the naive variance assumes"
    layers.append(Layer("horizontal", y=0.0, label=zero, role="null"))
    return Picture(
        "omega / sigma^2 (covariance within a fold)",
        "gamma / sigma^2 (covariance between folds)",
        tuple(layers),
    )


def _sensitivity_picture(decomposition: Decomposition) -> Picture | None:
    """The p-value over all admissible rho."""
    lowest = -1 / (decomposition.n_folds - 1)
    rhos = np.linspace(lowest, 1, CURVE_POINTS + 2)[1:-1]
    pvalues = np.array(
        [decomposition.studentised(decomposition.variance(rho)).pvalue for rho in rhos]
    )
    exists = np.isfinite(pvalues)
    if not exists.any():
        return None
    layers = [
        Layer("line", rhos[exists], pvalues[exists], label="p-value"),
        Layer("horizontal", y=TABLE_ALPHA, label=f"{TABLE_ALPHA:.0%} level", role="limit"),
    ]
    if not math.isnan(decomposition.rho):
        label = f"assumed: rho = {decomposition.rho:.3g}"
        layers.append(Layer("vertical", x=decomposition.rho, label=label, role="estimate"))
    if not math.isnan(decomposition.rho_flip):
        label = f"verdict changes: rho = {decomposition.rho_flip:.3g}"
        layers.append(Layer("vertical", x=decomposition.rho_flip, label=label, role="other"))
    return Picture("rho (correlation of the mean losses of two folds)", "p-value", tuple(layers))


# ------------------------------------------------------------------------------- in words


def _notes(decomposition: Decomposition) -> list[str]:
    low, high = decomposition.admissible
    fixed = "lambda2" if math.isnan(decomposition.lambda1) else "lambda1 and lambda2"
    upper_end = "on, without end" if math.isinf(high) else f"to {high:.3g}"
    possible = f"With {fixed} as estimated, every variance from {low:.3g} {upper_end} is possible."
    if high < low:
        possible = (
            "The estimates of lambda1 and lambda2 contradict the bounds of the loss: the variance "
            f"would have to be at least {low:.3g} and at most {high:.3g}. Their errors are large "
            "here."
        )
    return [
        "Assumes independent observations and learners that do not depend on the order of rows.",
        "lambda3, n times the variance of the estimate, has no unbiased estimate (Bengio and "
        "Grandvalet 2005, Theorem 5.1): only quadratic forms a s1 + b s2 + c s3 could be one, with "
        "a + b + c = 1 to match the variance and a + b + c = 0 to be free of the squared mean. The "
        "losses contain a single draw of their mean, and repeating the cross-validation does not "
        "give another.",
        possible,
        "The naive variance treats folds as independent; its expectation is too small by gamma, "
        "the covariance of losses in different folds.",
        *_rho_notes(decomposition),
        *_special_notes(decomposition),
    ]


def _rho_notes(decomposition: Decomposition) -> list[str]:
    notes = []
    if not math.isnan(decomposition.rho):
        _, omega, _ = decomposition.covariances(decomposition.rho)
        source = ", 1/K, after Nadeau and Bengio" if decomposition.name == "nadeau_bengio" else ""
        notes.append(
            f"The test assumes rho = {decomposition.rho:.3g}{source}: a correlation of the mean "
            "losses of two folds that the data cannot confirm. Fold means are assumed to be normal."
        )
        if omega < 0 and not decomposition.jackknife:
            notes.append(
                "With this rho the estimates make omega negative, which is impossible: a larger "
                "rho agrees better with them, or lambda2 is underestimated by chance."
            )
    flip = decomposition.rho_flip
    if math.isnan(flip):
        tested = not math.isnan(decomposition.hypothesis.null_value)
        if tested and decomposition.lambda2 > 0 and not decomposition.only_rounding:
            notes.append(f"No possible rho gives a rejection at the {TABLE_ALPHA:.0%} level.")
        return notes
    # Two decimals hide small values, and -0.00 is not informative.
    flip_text = f"{flip:.2f}" if abs(flip) >= 0.1 else f"{flip:.2g}"
    if math.isnan(decomposition.rho) or decomposition.rho <= flip:
        return [
            *notes,
            f"Rejection at the {TABLE_ALPHA:.0%} level remains up to rho = {flip_text}.",
        ]
    return [*notes, f"Rejection at the {TABLE_ALPHA:.0%} level would need rho below {flip_text}."]


def _special_notes(decomposition: Decomposition) -> list[str]:
    """The notes that apply to some folds only."""
    smallest, largest = min(decomposition.fold_sizes), max(decomposition.fold_sizes)
    special = {
        "Leave-one-out: there are no pairs within folds, so s2, omega and lambda1 do not "
        "exist.": decomposition.n_folds == decomposition.n_obs,
        "Two folds: the learning sets are disjoint, but gamma is not zero, because each is the "
        "test set of the other; one degree of freedom is left.": decomposition.n_folds == 2,
        f"Folds have {smallest} or {largest} observations and are weighted accordingly; one more "
        "or one fewer observation in the learning set is assumed not to change the "
        "variances.": smallest < largest,
        "The losses of the jackknife can have a negative covariance within folds, which makes "
        "more variances possible than for cross-validation.": decomposition.jackknife,
        f"Mean of {decomposition.n_repeats} repetitions: moments are averaged, and the variance "
        "of the estimate is that of one repetition minus "
        f"{decomposition.reduction:.3g}, estimated from the variance between "
        "repetitions.": decomposition.n_repeats > 1,
    }
    return [note for note, applies in special.items() if applies]
