"""The numbers of R's functions are those of Python, on the same seed.

Those of tests and metrics are in tests/core/doors/questions.py.
"""

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ucvtest as uv
from tests.support.r_session import LABELS, PACKAGE, SAMPLE, RSession
from ucvtest.methods.registry import TESTS

pytestmark = [pytest.mark.requires_r, pytest.mark.seconds(120, reason="a session of R")]


@pytest.mark.parametrize(
    ("learner", "other", "options"),
    [
        ("lda", "knn:3", {}),
        ("lda", "knn:3", {"tol": 0.3, "alternative": "less"}),
        ("lda", "knn:3", {"n_pairs": 4000, "variance": "unbiased", "max_fits": 40_000}),
        ("knn:3", None, {"n_pairs": 400, "variance": "jackknife"}),
    ],
)
def test_numbers_are_those_of_python(
    r: RSession, learner: str, other: str | None, options: dict[str, object]
) -> None:
    arguments = {"learner": learner, "other": other, "learn_size": 25, **options}
    written = ", ".join(f"{name} = {json.dumps(value)}" for name, value in arguments.items())
    written = written.replace("null", "NULL")
    alternative = options.pop("alternative", "two-sided")
    printed = r(
        f"set.seed(3); result <- ustat_test(x, y, {written}, null_value = 0.1, conf.level = 0.9)\n"
        "cat(result$settings$rng, ''); digits(result)"
    )
    seed, *numbers, n_fits = printed.split()
    test = uv.UStatisticTest(
        SAMPLE, LABELS, learner, other, learn_size=25, null_value=0.1, alternative=alternative
    )
    expected = test.fit(rng=int(seed), **options)
    low, high = expected.conf_int(alpha=0.1)
    np.testing.assert_allclose(
        [float(number) for number in numbers],
        [expected.estimate, expected.se, *expected, low, high, expected.variance],
        rtol=1e-12,
    )
    assert int(n_fits) == expected.n_fits


def test_summary_is_that_of_python(r: RSession) -> None:
    printed = r("set.seed(4); r <- ustat_test(x, y, 'lda', n_pairs = 1000); cat(r$settings$rng)")
    result = uv.UStatisticTest(SAMPLE, LABELS, "lda").fit(n_pairs=1000, rng=int(printed))
    shown = [line.rstrip() for line in r("summary(r)").splitlines()]
    expected = [line.rstrip() for line in result.summary().as_text().strip().splitlines()]
    differing = {a for a, b in zip(shown, expected, strict=True) if a != b}
    # How R writes an argument, and asks for all notes.
    assert all("wald" in line or "notes" in line for line in differing)


RESAMPLING_TESTS = {
    cls.r_function: cls for cls in TESTS.values() if getattr(cls, "default_design", None)
}


@pytest.mark.parametrize(("function", "cls"), RESAMPLING_TESTS.items())
def test_tests_on_resampled_losses_are_those_of_python(
    r: RSession, function: str, cls: type
) -> None:
    printed = r(
        f"set.seed(5); result <- {function}(x, y, 'lda', 'knn:5')\n"
        "seed <- result$settings$rng\n"
        'cat(sprintf("%.17g", c(seed, result$estimate, result$stderr)), result$n_fits)'
    )
    seed, *numbers, n_fits = printed.split()
    expected = cls(SAMPLE, LABELS, "lda", "knn:5").fit(rng=int(seed))
    found = [float(number.replace("NaN", "nan")) for number in numbers]
    np.testing.assert_allclose(found, [expected.estimate, expected.se], rtol=1e-12)
    assert int(n_fits) == expected.n_fits


GROUPED = {
    **RESAMPLING_TESTS,
    "ustat_test": uv.UStatisticTest,
    "influence_test": uv.InfluenceFunctionTest,
}


@pytest.mark.parametrize(
    "function", ["corrected_t_test", "delong_learners_test", "mcnemar_learners_test", "ustat_test"]
)
@pytest.mark.parametrize("weight", ["group", "row"])
def test_groups_give_the_numbers_of_python(r: RSession, function: str, weight: str) -> None:
    patient = np.r_[np.repeat(np.arange(24), 2), np.arange(24, 36)]
    printed = r(
        f"patient <- c({', '.join(map(str, patient))})\n"
        f"set.seed(5); result <- {function}(x, y, 'lda', 'knn:5', groups = patient, "
        f"group_weight = '{weight}')\n"
        "cat(sprintf('%.17g', c(result$settings$rng, result$estimate, result$stderr, "
        "result$p.value)))"
    )
    seed, *numbers = map(float, printed.split())
    test = GROUPED[function](SAMPLE, LABELS, "lda", "knn:5", groups=patient, group_weight=weight)
    expected = test.fit(rng=int(seed))
    np.testing.assert_allclose(
        numbers, [expected.estimate, expected.se, expected.pvalue], rtol=1e-10
    )


@pytest.mark.parametrize(
    ("function", "cls"),
    [
        ("hold_out_test", uv.HoldOutTest),
        ("cross_validation_wald_test", uv.CrossValidationWaldTest),
        ("ustat_test", uv.UStatisticTest),
    ],
)
def test_metrics_of_learners_give_the_numbers_of_python(
    r: RSession, function: str, cls: Any
) -> None:
    printed = r(
        f"set.seed(5); result <- {function}(x, y, 'lda', 'knn:5', metric = 'f_meas', "
        "positive = 'case')\n"
        "cat(sprintf('%.17g', c(result$settings$rng, result$estimate, result$stderr, "
        "result$p.value)))"
    )
    seed, *numbers = map(float, printed.split())
    expected = cls(SAMPLE, LABELS, "lda", "knn:5", metric="f1", pos_label="case").fit(rng=int(seed))
    np.testing.assert_allclose(
        numbers, [expected.estimate, expected.se, expected.pvalue], rtol=1e-12
    )


def test_several_metrics_share_the_fits_as_in_python(r: RSession) -> None:
    printed = r("""
        set.seed(5)
        both <- compare_learners(x, y, c("lda", "knn:5"), "cross_validation_wald",
                                 metric = c("f1", "mcc"), positive = "case")
        cat(both$test, attr(both, "about")$loss, '')
        cat(sprintf('%.17g', c(both$estimate, both$std.error, both$p.value)))
        plan <- plan_sample_size(x, y, "lda", "knn:5", metric = "f1", positive = "case",
                                 width = 0.2)
        cat('', sprintf('%.17g', plan$settings$rng), plan$n_needed)
    """)
    found = printed.split()
    assert found[:4] == ["f1", "mcc", "f1,", "mcc"]
    seed = int(re.search(r'"rng": ([0-9]+)', r("cat(attr(both, 'about')$json)"))[1])
    learners = ("lda", "knn:5")
    expected = uv.compare(
        *(SAMPLE, LABELS, learners, "cross_validation_wald"),
        metric=["f1", "mcc"],
        pos_label="case",
        rng=seed,
    )
    numbers = [expected.frame[name] for name in ("estimate", "se", "pvalue")]
    np.testing.assert_allclose([float(x) for x in found[4:10]], np.concatenate(numbers), rtol=1e-12)
    plan = uv.plan(
        *(SAMPLE, LABELS, *learners),
        metric="f1",
        pos_label="case",
        width=0.2,
        rng=int(float(found[10])),
    )
    assert int(found[11]) == plan.n_needed


def test_losses_give_the_numbers_of_python(r: RSession) -> None:
    printed = r("""
        set.seed(5)
        losses <- evaluate_learners(x, y, list(first = "lda", second = "knn:5"), design = 5)
        rules <- data.frame(a = ifelse(x[, 1] > 0.3, "case", "control"),
                            b = ifelse(x[, 2] > 0.3, "case", "control"))
        scores <- prediction_losses(y, data.frame(a = -x[, 1], b = -x[, 2]), loss = "auc",
                                    positive = "control")
        found <- list(corrected_t_test(losses, 1, "second"), bayesian_t_test(losses),
                      mcnemar_learners_test(prediction_losses(y, rules)),
                      delong_learners_test(scores),
                      corrected_t_test(score_losses(list(a = 1:5 / 10, b = 5:1 / 20), 48, 12)))
        seed <- regmatches(losses$json, regexpr('"rng": [0-9]+', losses$json))
        cat(sub('"rng": ', '', seed), '')
        cat(sprintf('%.17g', sapply(found, function(r) c(r$estimate, r$stderr))))
    """)
    seed, *numbers = printed.split()
    learners = {"first": "lda", "second": "knn:5"}
    losses = uv.evaluate(learners, SAMPLE, LABELS, design=5, rng=int(seed))
    rules = {
        name: np.where(SAMPLE[:, place] > 0.3, "case", "control") for place, name in enumerate("ab")
    }
    scores = {"a": -SAMPLE[:, 0], "b": -SAMPLE[:, 1]}
    five = {"a": np.arange(1, 6) / 10, "b": np.arange(5, 0, -1) / 20}
    expected = [
        uv.CorrectedTTest.from_losses(losses).fit(),
        uv.BayesianTTest.from_losses(losses).fit(),
        uv.McNemarTest.from_losses(uv.Losses.from_predictions(LABELS, rules)).fit(),
        uv.DeLongTest.from_losses(
            uv.Losses.from_predictions(LABELS, scores, loss="auc", pos_label="control")
        ).fit(),
        uv.CorrectedTTest.from_losses(uv.Losses.from_scores(five, n_learn=48, n_test=12)).fit(),
    ]
    np.testing.assert_allclose(
        [float(number) for number in numbers],
        np.ravel([[each.estimate, each.se] for each in expected]),
        rtol=1e-12,
    )


def test_r_has_a_function_for_every_test() -> None:
    exported = set(re.findall(r"export\((\w+)\)", (PACKAGE / "NAMESPACE").read_text()))
    assert [cls.r_function for cls in TESTS.values() if cls.r_function not in exported] == []


def test_a_comparison_is_that_of_python(r: RSession) -> None:
    printed = r(
        "set.seed(6); found <- compare_learners(x, y, c('lda', 'knn:3', 'majority'),\n"
        "  list('corrected_t', list('fold_covariance', rho = 0.3)))\n"
        "cat(attr(found, 'about')$json)"
    )
    here = uv.Comparison.from_dict(json.loads(printed))
    there = uv.compare(
        SAMPLE,
        LABELS,
        ["lda", "knn:3", "majority"],
        ["corrected_t", uv.TestSpec("fold_covariance", fit={"rho": 0.3})],
        # In R the second class in alphabetical order is the positive one, as here.
        rng=here.settings["rng"],
    )
    assert here.n_fits == there.n_fits == 30
    for key, result in there.results.items():
        assert here.results[key].estimate == result.estimate
        assert here.adjusted_pvalues[key] == pytest.approx(there.adjusted_pvalues[key], nan_ok=True)


# --- every other function: R code, and what Python says with the number that R draws ---

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


def _advice(rng: int) -> float:
    return uv.advise(60, 500).evidence.n_fits


ALIKE: dict[str, tuple[str, Callable[[int], Any]]] = {
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
    "glance",
    "install_python",
    "methods_text",
    "r_learner",
    "tidy",
    "ucvtest_available",
}
"""Functions that compute nothing, or nothing that Python has."""


def test_every_function_of_r_is_held_to_the_numbers_of_python() -> None:
    exported = set(re.findall(r"export\((\w+)\)", (PACKAGE / "NAMESPACE").read_text()))
    used = set(re.findall(r"\w+", " ".join(code for code, _ in ALIKE.values())))
    assert exported - used - set(RESAMPLING_TESTS) == WITHOUT_NUMBERS
