"""The numbers of R's functions are those of Python, with the random number that R draws.

What tests/core/doors/questions.py asks is not asked again.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ucvtest as uv
from tests.support.r_session import LABELS, PACKAGE, SAMPLE, RSession
from ucvtest.methods.registry import TESTS

pytestmark = [pytest.mark.requires_r, pytest.mark.seconds(120, reason="a session of R")]

RESAMPLING_TESTS = {
    cls.r_function: cls for cls in TESTS.values() if getattr(cls, "default_design", None)
}

ROWS = np.r_[np.repeat(np.arange(24), 2), np.arange(24, 36)]
LENGTH = SAMPLE[:, 0] + SAMPLE[:, 1] ** 2
RULES = {name: np.where(SAMPLE[:, at] > 0.3, "case", "control") for at, name in enumerate("ab")}
FOLD = np.arange(60) % 5

PREPARED = """
    z <- x[, 1] + x[, 2]^2
    patient <- c(rep(0:23, each = 2), 24:35)
    rules <- data.frame(a = ifelse(x[, 1] > 0.3, "case", "control"),
                        b = ifelse(x[, 2] > 0.3, "case", "control"))
    folds <- data.frame(truth = y, rules, fold = (0:59) %% 5)
    share <- function(truth, prediction) mean(truth == prediction)
    drawn <- function(code) {
      set.seed(9)
      cat(sample.int(.Machine$integer.max, 1L), "")
      set.seed(9)
      cat(sprintf("%.17g", as.numeric(unlist(code))))
    }
    of <- function(r) c(r$estimate, r$stderr, r$p.value, r$conf.int)
    both <- function(r) c(r$estimate, r$stderr, r$n_fits)
"""


def _of(result: uv.TestResult) -> list[float]:
    return [result.estimate, result.se, result.pvalue, *result.conf_int()]


def _compared(rng: int) -> uv.Comparison:
    ustatistic = uv.TestSpec("ustatistic", fit={"n_pairs": 300})
    learners = ["lda", "knn:5", "majority"]
    return uv.compare(
        SAMPLE, LABELS, learners, [ustatistic], correction="simultaneous", rng=rng, n_jobs=1
    )


def _of_comparison(found: uv.Comparison) -> Any:
    return found.summary_frame()[["estimate", "pvalue_adjusted", "conf_low"]].to_numpy().T


def _own_folds() -> list[tuple[np.ndarray, np.ndarray]]:
    return [(np.flatnonzero(fold != FOLD), np.flatnonzero(fold == FOLD)) for fold in range(5)]


def _table() -> uv.Losses:
    testing = np.arange(5)[:, None] == FOLD
    wrong = np.array([rule != LABELS for rule in RULES.values()])[:, None] & testing
    return uv.Losses.from_arrays(wrong, ~testing, testing, learners=list("ab"), y=LABELS)


def _of_scores() -> list[float]:
    scores = {"a": np.arange(1, 6) / 10, "b": np.arange(5, 0, -1) / 20}
    losses = uv.Losses.from_scores(scores, n_learn=48, n_test=12)
    result = uv.BayesianTTest.from_losses(losses).fit()
    return [result.estimate, result.se, *result.conf_int()]


def _designed(design: Any) -> Callable[[int], Any]:
    def means(rng: int) -> Any:
        losses = uv.evaluate(["lda", "knn:5"], SAMPLE, LABELS, design, rng=rng, n_jobs=1)
        return losses.means.T

    return means


def _plan(rng: int) -> list[Any]:
    found = uv.plan(SAMPLE, LABELS, "lda", "knn:5", difference=0.2, curve=False, rng=rng)
    return [found.n_needed, found.n_low, found.n_high, *found.columns["se"]]


def _margins(rng: int) -> list[float]:
    result = uv.UStatisticTest(SAMPLE, LABELS, "lda", "knn:5").fit(n_pairs=300, rng=rng)
    one, two = result.noninferiority(0.1), result.equivalence(-0.1, 0.1)
    return [one.pvalue, two.pvalue, *one.conf_int]


def _selection(rng: int) -> Any:
    found = uv.select_model(
        *(SAMPLE, LENGTH, ["ridge:1", "ridge:100"]), n_permutations=20, rng=rng, n_jobs=1
    )
    return [found.table[name] for name in ("e_in", "permutation", "kfold", "vc")]


def _gains(rng: int) -> Any:
    blocks = {"one": [0], "two": [1, 2]}
    frame = uv.columns(SAMPLE, LABELS, "lda", blocks, fits=40, rng=rng).frame
    return [frame[name] for name in ("gain", "conf_low", "conf_high", "pvalue_adjusted")]


def _advice(rng: int) -> float:
    return uv.advise(60, 500).evidence.n_fits


def _resampled(cls: Any, **options: Any) -> Callable[[int], list[float]]:
    def numbers(rng: int) -> list[float]:
        result = cls(SAMPLE, LABELS, "lda", "knn:5", **options).fit(rng=rng)
        return [result.estimate, result.se, result.n_fits]

    return numbers


def _several(rng: int) -> Any:
    found = uv.compare(
        *(SAMPLE, LABELS, ("lda", "knn:5"), "cross_validation_wald"),
        metric=["f1", "mcc"],
        pos_label="case",
        rng=rng,
    )
    return [found.frame[name] for name in ("estimate", "se", "pvalue")]


def _losses(rng: int) -> list[float]:
    losses = uv.evaluate({"first": "lda", "second": "knn:5"}, SAMPLE, LABELS, design=5, rng=rng)
    result = uv.CorrectedTTest.from_losses(losses).fit()
    return [result.estimate, result.se]


CLASSES: dict[str, Any] = {**RESAMPLING_TESTS, "ustat_test": uv.UStatisticTest}
SCORES = {"a": -SAMPLE[:, 0], "b": -SAMPLE[:, 1]}

# R code, and what Python says with the number that R draws.
ALIKE: dict[str, tuple[str, Callable[[int], Any]]] = {
    **{
        name: (f"both({name}(x, y, 'lda', 'knn:5'))", _resampled(cls))
        for name, cls in RESAMPLING_TESTS.items()
    },
    **{
        f"{name} by {weight}": (
            f"both({name}(x, y, 'lda', 'knn:5', groups = patient, group_weight = '{weight}'))",
            _resampled(CLASSES[name], groups=ROWS, group_weight=weight),
        )
        for name, weight in [
            ("corrected_t_test", "group"),
            ("delong_learners_test", "row"),
            ("mcnemar_learners_test", "row"),
            ("ustat_test", "group"),
        ]
    },
    **{
        f"{name} of a metric": (
            f"both({name}(x, y, 'lda', 'knn:5', metric = 'f_meas', positive = 'case'))",
            _resampled(CLASSES[name], metric="f1", pos_label="case"),
        )
        for name in ("hold_out_test", "ustat_test")
    },
    "several metrics": (
        "{ k <- compare_learners(x, y, c('lda', 'knn:5'), 'cross_validation_wald', "
        "metric = c('f1', 'mcc'), positive = 'case')\nlist(k$estimate, k$std.error, k$p.value) }",
        _several,
    ),
    "losses": (
        "{ l <- evaluate_learners(x, y, list(first = 'lda', second = 'knn:5'), design = 5)\n"
        "both(corrected_t_test(l, 1, 'second'))[1:2] }",
        _losses,
    ),
    "scores of rules": (
        "of(delong_learners_test(prediction_losses(y, data.frame(a = -x[, 1], b = -x[, 2]), "
        "loss = 'auc', positive = 'control')))",
        lambda rng: _of(
            uv.DeLongTest.from_losses(
                uv.Losses.from_predictions(LABELS, SCORES, loss="auc", pos_label="control")
            ).fit()
        ),
    ),
    "ratio": (
        "of(ustat_test(x, z, 'ridge:1', 'ridge:100', contrast = 'ratio', n_pairs = 200))",
        lambda rng: _of(
            uv.UStatisticTest(SAMPLE, LENGTH, "ridge:1", "ridge:100", contrast="ratio").fit(
                n_pairs=200, rng=rng
            )
        ),
    ),
    "AUC": (
        "of(ustat_test(x, y, 'lda', 'knn:5', loss = 'auc', n_pairs = 200))",
        lambda rng: _of(
            uv.UStatisticTest(SAMPLE, LABELS, "lda", "knn:5", loss="auc").fit(n_pairs=200, rng=rng)
        ),
    ),
    "influence functions with groups": (
        "of(influence_test(x, y, 'lda', groups = patient, n_repeats = 50))",
        lambda rng: _of(
            uv.InfluenceFunctionTest(SAMPLE, LABELS, "lda", groups=ROWS).fit(50, rng=rng)
        ),
    ),
    "fold covariance": (
        "of(fold_covariance_test(x, y, 'lda', 'knn:5'))",
        lambda rng: _of(uv.FoldCovarianceTest(SAMPLE, LABELS, "lda", "knn:5").fit(rng=rng)),
    ),
    "leave-pair-out": (
        "leave_pair_out_test(x, y, 'lda', n_permutations = 99)$p.value",
        lambda rng: (
            uv.LeavePairOutTest(SAMPLE, LABELS, "lda").fit(n_permutations=99, rng=rng).pvalue
        ),
    ),
    "permutations": (
        "permutation_complexity_test(x, y, 'knn:3', n_permutations = 30)$estimate",
        lambda rng: uv.PermutationComplexityTest(SAMPLE, LABELS, "knn:3").fit(30, rng=rng).estimate,
    ),
    "right answers": (
        "of(hold_out_test(correct_losses(list(a = x[, 1] > 0, b = x[, 2] > 0), groups = patient)))",
        lambda rng: _of(
            uv.HoldOutTest.from_losses(
                uv.Losses.from_correct({"a": SAMPLE[:, 0] > 0, "b": SAMPLE[:, 1] > 0}, groups=ROWS)
            ).fit()
        ),
    ),
    "margins": (
        "{ r <- ustat_test(x, y, 'lda', 'knn:5', n_pairs = 300); n <- noninferiority(r, 0.1)\n"
        "c(n$p.value, equivalence(r, -0.1, 0.1)$p.value, n$conf.int) }",
        _margins,
    ),
    "plan": (
        "{ p <- plan_sample_size(x, y, 'lda', 'knn:5', difference = 0.2, curve = FALSE)\n"
        "c(p$n_needed, p$n_low, p$n_high, p$table$se) }",
        _plan,
    ),
    "plan of rules": (
        "plan_sample_size(prediction_losses(y, rules), difference = 0.2)$n_needed",
        lambda rng: uv.plan(uv.Losses.from_predictions(LABELS, RULES), difference=0.2).n_needed,
    ),
    "many learners": (
        "{ k <- compare_learners(x, y, c('lda', 'knn:5', 'majority'), list(list('ustatistic', "
        "n_pairs = 300)), correction = 'simultaneous')\n"
        "list(k$estimate, k$adj.p.value, k$conf.low, match(best_set(k), c('lda', 'knn:5', "
        "'majority'))) }",
        lambda rng: [
            *_of_comparison(_compared(rng)),
            [["lda", "knn:5", "majority"].index(each) + 1 for each in _compared(rng).best_set()],
        ],
    ),
    "comparison by patients": (
        "{ k <- compare_learners(x, y, c('lda', 'knn:5', 'majority'), 'corrected_t', "
        "baseline = 'majority', groups = patient)\nlist(k$estimate, k$adj.p.value, k$conf.low) }",
        lambda rng: _of_comparison(
            uv.compare(
                *(SAMPLE, LABELS, ["lda", "knn:5", "majority"], ["corrected_t"]),
                baseline="majority",
                groups=ROWS,
                rng=rng,
                n_jobs=1,
            )
        ),
    ),
    "gains of columns": (
        "column_gains(x, y, 'lda', list(one = 'x1', two = c('x2', 'x3')), fits = 40)$table[c("
        "'gain', 'conf_low', 'conf_high', 'pvalue_adjusted')]",
        _gains,
    ),
    "selection": (
        "select_model(x, z, c('ridge:1', 'ridge:100'), n_permutations = 20)$table[c('e_in', "
        "'permutation', 'kfold', 'vc')]",
        _selection,
    ),
    "advice": ("advise(60, n_fits = 500)$n_fits", _advice),
    "codes": (
        "c(light_code_bounds(7, 30, 15), critical_values(0.05, 10, c(8, 12)))",
        lambda rng: [
            uv.codes.light_code_bounds(7, 30, 15).lower,
            uv.codes.light_code_bounds(7, 30, 15).upper,
            *np.ravel(uv.codes.critical_values(0.05, [10], [8, 12])),
        ],
    ),
    "score by name": (
        "of(corrected_t_test(x, y, 'lda', 'knn:5', scoring = 'balanced_accuracy'))",
        lambda rng: _of(
            uv.CorrectedTTest(SAMPLE, LABELS, "lda", "knn:5", scoring="balanced_accuracy").fit(
                rng=rng
            )
        ),
    ),
    "table of folds": (
        "of(corrected_t_test(as_losses(folds, 'truth', c('a', 'b'), 'fold')))",
        lambda rng: _of(uv.CorrectedTTest.from_losses(_table()).fit()),
    ),
    "scores of folds": (
        "of(bayesian_t_test(score_losses(list(a = 1:5 / 10, b = 5:1 / 20), 48, 12)))",
        lambda rng: _of_scores(),
    ),
}

DESIGNS: dict[str, Any] = {
    "k_fold(4, n_repeats = 2, stratify = TRUE)": uv.designs.KFold(4, 2, stratify=True),
    "random_splits(3, 0.2)": uv.designs.RandomSplits(3, 0.2),
    "hold_out(0.4)": uv.designs.HoldOut(0.4),
    "split_halves(2, 2)": uv.designs.SplitHalves(2, 2),
    "nested_k_fold(3, 1)": uv.designs.NestedKFold(3, 1),
    "disjoint_sets(20, 3)": uv.designs.DisjointSets(20, 3),
    "own_folds(split(1:60, (0:59) %% 5))": _own_folds(),
}
ALIKE |= {
    code: (f"evaluate_learners(x, y, c('lda', 'knn:5'), design = {code})$means", _designed(design))
    for code, design in DESIGNS.items()
}


@pytest.mark.parametrize("name", ALIKE)
def test_functions_give_the_numbers_of_python(r: RSession, name: str) -> None:
    code, there = ALIKE[name]
    r(PREPARED)
    rng, *numbers = r(f"drawn({code})").split()
    answer = there(int(rng))
    parts = answer if isinstance(answer, list) else [answer]
    expected = np.concatenate([np.ravel(np.asarray(part, dtype=float)) for part in parts])
    found = [float("nan" if number in ("NA", "NaN") else number) for number in numbers]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


WITHOUT_NUMBERS = {
    "autolog",
    "citation_of",
    "gate_ledger",
    "glance",
    "install_python",
    "methods_text",
    "r_learner",
    "tidy",
    "ucvtest_available",
}
"""Functions that compute nothing, or nothing that Python has; test_ledger.py asks about ledgers."""


def test_every_function_of_r_is_held_to_the_numbers_of_python() -> None:
    exported = set(re.findall(r"export\((\w+)\)", (PACKAGE / "NAMESPACE").read_text()))
    assert [cls.r_function for cls in TESTS.values() if cls.r_function not in exported] == []
    used = set(re.findall(r"\w+", " ".join(code for code, _ in ALIKE.values())))
    assert exported - used == WITHOUT_NUMBERS
