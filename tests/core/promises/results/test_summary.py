"""The verdict in words, and the summary in its five formats."""

import json
import math
import pickle
import warnings
from dataclasses import replace
from typing import Any

import pytest
from statsmodels.iolib.summary import Summary

import ucvtest as uv
from tests.support.results import sample_result
from ucvtest.common.notes import Note
from ucvtest.results.result import TestResult
from ucvtest.results.wording import direction, pvalue_text, verdict

PAIR = sample_result(
    settings={"learner": "lasso:0.08", "other": "lasso:0.5", "learn_size": 26, "loss": "zero_one"},
    diagnostics={"variance": "unbiased", "mc_se_estimate": 0.0012, "mc_se_variance": 0.0004},
    notes=(
        "The observations are independent.",
        "Ties of 13:13 go to the first class, always; " * 3,
    ),
    tables={
        "Variances": {
            "variance": ("unbiased", "jackknife"),
            "estimate": (0.0114, 0.0215),
            "mc_se": (0.0004, 0.0),
            "conf_low": (-0.35, -0.43),
            "conf_high": (0.07, 0.15),
            "pvalue": (0.19, 0.339),
        }
    },
)
SINGLE = replace(
    PAIR,
    estimate=0.14,
    statistic=math.nan,
    pvalue=math.nan,
    null_value=math.nan,
    estimand="error rate",
    settings={"learner": "lda", "other": None},
    diagnostics={},
    tables={},
    notes=(),
)
NEGATIVE = replace(
    PAIR,
    se=math.nan,
    variance=-0.0003,
    statistic=math.nan,
    pvalue=math.nan,
    status="the variance estimate is negative: use variance='clipped'",
    tables={},
)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (
            PAIR,
            "No evidence at the 5% level that lasso:0.08 and lasso:0.5 differ: the difference of "
            "error rates is -0.14 (95% interval -0.35 to 0.07, p = 0.19).",
        ),
        (
            replace(PAIR, pvalue=0.0004, se=0.039),
            "The first learner (lasso:0.08) is better at the 5% level: the difference of error "
            "rates is -0.140 (95% interval -0.216 to -0.064, p < 0.001).",
        ),
        (
            replace(PAIR, pvalue=0.0004, se=0.039, better="higher"),
            "The second learner (lasso:0.5) is better at the 5% level: the difference of error "
            "rates is -0.140 (95% interval -0.216 to -0.064, p < 0.001).",
        ),
        (
            replace(PAIR, estimate=0.14, pvalue=0.004, se=0.0475),
            "The second learner (lasso:0.5) is better at the 5% level: the difference of error "
            "rates is 0.140 (95% interval 0.047 to 0.233, p = 0.004).",
        ),
        (
            replace(PAIR, alternative="less", pvalue=0.095),
            "No evidence at the 5% level that the first learner (lasso:0.08) is better: the "
            "difference of error rates is -0.14 (one-sided 95% interval up to 0.04, p = 0.10).",
        ),
        (
            replace(PAIR, alternative="greater", pvalue=0.905),
            "No evidence at the 5% level that the second learner (lasso:0.5) is better: the "
            "difference of error rates is -0.14 (one-sided 95% interval from -0.32 up, p = 0.91).",
        ),
        (
            replace(PAIR, null_value=0.05, alternative="less", pvalue=0.038),
            "The difference of error rates is below 0.05 at the 5% level: the difference of error "
            "rates is -0.14 (one-sided 95% interval up to 0.04, p = 0.04).",
        ),
        (
            replace(PAIR, null_value=0.05, pvalue=0.076),
            "No evidence at the 5% level that the difference of error rates differs from 0.05: "
            "the difference of error rates is -0.14 (95% interval -0.35 to 0.07, p = 0.08).",
        ),
        (SINGLE, "The error rate is 0.14 (95% interval -0.07 to 0.35)."),
        (
            replace(SINGLE, null_value=0.5, pvalue=0.0008),
            "The error rate is below 0.5 at the 5% level: the error rate is 0.14 (95% interval "
            "-0.07 to 0.35, p < 0.001).",
        ),
        (
            replace(SINGLE, pvalue=0.2, reference="permutation", estimand="in-sample error"),
            "No evidence at the 5% level against the null hypothesis: the in-sample error is 0.14 "
            "(no interval, p = 0.20).",
        ),
        (
            replace(
                SINGLE,
                null_value=0.5,
                pvalue=0.01,
                reference="permutation",
                null_hypothesis="labels mean nothing",
            ),
            "Evidence at the 5% level against the null hypothesis that labels mean nothing: the "
            "error rate is 0.14 (no interval, p = 0.01).",
        ),
        (
            NEGATIVE,
            "The test could not be carried out: the difference of error rates is -0.14 (no "
            "interval). The variance estimate is negative: use variance='clipped'.",
        ),
        (
            replace(NEGATIVE, estimate=math.nan, status="ok"),
            "The test could not be carried out: the difference of error rates could not be "
            "estimated. The method gives no p-value.",
        ),
        (
            replace(PAIR, status="max_fits was reached: raise it."),
            "No evidence at the 5% level that lasso:0.08 and lasso:0.5 differ: the difference of "
            "error rates is -0.14 (95% interval -0.35 to 0.07, p = 0.19). max_fits was reached: "
            "raise it.",
        ),
    ],
)
def test_verdict(result: TestResult, expected: str) -> None:
    assert verdict(result) == expected


def test_verdict_at_another_level() -> None:
    assert verdict(PAIR, alpha=0.2) == (
        "The first learner (lasso:0.08) is better at the 20% level: the difference of error rates "
        "is -0.140 (80% interval -0.277 to -0.003, p = 0.19)."
    )


@pytest.mark.parametrize("names", [("lda", "lda"), ("x" * 41, "lda"), (None, "lda")])
def test_verdict_leaves_out_names_that_do_not_help(names: tuple[str, str]) -> None:
    result = replace(
        PAIR, pvalue=0.01, settings=dict(zip(("learner", "other"), names, strict=True))
    )
    assert verdict(result).startswith("The first learner is better at the 5% level: ")


def test_verdict_keeps_the_digits_that_tell_the_side_of_the_null() -> None:
    result = replace(PAIR, estimate=-0.2, se=0.1018, pvalue=0.0495)
    low, high = result.conf_int()
    assert (round(low, 2), round(high, 2)) == (-0.4, 0.0)
    assert verdict(result).endswith("is -0.2000 (95% interval -0.3995 to -0.0005, p = 0.0495).")


def test_direction() -> None:
    assert direction(SINGLE) is None
    assert direction(PAIR).below == "first"
    assert direction(replace(PAIR, better="higher")).below == "second"


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0, "< 0.001"),
        (0.00099, "< 0.001"),
        (0.0012, "= 0.001"),
        (0.0321, "= 0.03"),
        (0.04999, "= 0.04999"),
        (0.05, "= 0.05"),
        (0.0504, "= 0.0504"),
        (1.0, "= 1.00"),
    ],
)
def test_pvalue_text(p: float, text: str) -> None:
    assert pvalue_text(p) == text


def test_text() -> None:
    expected = """\
                               U-statistic test                               \n\
==============================================================================
Estimand: difference of error rates                                           \n\
Learner:  lasso:0.08                                                          \n\
Other:    lasso:0.5                                                           \n\
Null:     estimand = 0                                                        \n\
==============================================================================
Observations:                   62 Variance estimator:                unbiased
Model fits:                   8000 Reference:                           normal
Learning-set size:              26 Alternative:                      two-sided
Loss:                     zero_one Seconds:                              24.30
==============================================================================
                  estimate  variance  std err       z p-value 95% low 95% high
------------------------------------------------------------------------------
first - second     -0.1400   0.01140   0.1070  -1.310  0.1900 -0.3497   0.0697
Monte-Carlo s.e.    0.0012   0.00040                                          \n\
                      Variances (* used for this result)                      \n\
==============================================================================
                estimate      MC std err      95% low     95% high     p-value
------------------------------------------------------------------------------
unbiased *       0.01140       0.0004000      -0.3500       0.0700      0.1900
jackknife        0.02150               0      -0.4300       0.1500      0.3390
==============================================================================

Verdict: No evidence at the 5% level that lasso:0.08 and lasso:0.5 differ: the
    difference of error rates is -0.14 (95% interval -0.35 to 0.07, p = 0.19).

Notes:
[1] The observations are independent.
[2] Ties of 13:13 go to the first class, always; Ties of 13:13 go to the first
    class, always; Ties of 13:13 go to the first class, always;"""
    assert PAIR.summary(notes=True).as_text() == expected


def test_what_is_printed_has_at_most_three_lines_of_notes() -> None:
    lines = [Note(f"Note {number}.", f"line {number}", number) for number in (1, 2, 2, 2)]
    noted = replace(PAIR, notes=("can wait", *lines), tables={})
    assert (
        str(noted)
        == """\
                               U-statistic test                               \n\
==============================================================================
Learners: lasso:0.08 minus lasso:0.5                                          \n\
Estimand: difference of error rates                                           \n\
==============================================================================
Observations:                  62 Loss:                               zero_one
Model fits:                  8000                                             \n\
==============================================================================
                  estimate  variance  std err       z p-value 95% low 95% high
------------------------------------------------------------------------------
first - second     -0.1400   0.01140   0.1070  -1.310  0.1900 -0.3497   0.0697
Monte-Carlo s.e.    0.0012   0.00040                                          \n\
==============================================================================

Verdict: No evidence at the 5% level that lasso:0.08 and lasso:0.5 differ: the
    difference of error rates is -0.14 (95% interval -0.35 to 0.07, p = 0.19).

line 2
line 1
3 more notes: summary(notes=True)"""
    )
    again = type(noted).from_dict(json.loads(noted.to_json()))
    assert again.notes_in_brief() == noted.notes_in_brief()
    assert pickle.loads(pickle.dumps(noted)).notes_in_brief() == noted.notes_in_brief()
    assert replace(PAIR, notes=()).notes_in_brief() == []


def test_columns_that_hold_nothing_and_alternatives_alike_are_left_out() -> None:
    nan = float("nan")
    table = {"variance": ("unbiased", "jackknife", "few"), "x": (1.0, 1.0, 2.0), "p": (nan,) * 3}
    text = replace(PAIR, tables={"Variances": table}).summary(notes=True).as_text()
    assert "unbiased *, jackknife" in text
    assert "nan" not in text


def test_columns_keep_two_digits_of_small_numbers_beside_large_ones() -> None:
    table = {"name": ("a", "b"), "near": (0.0009006, -0.2896), "far": (1e-9, 2500.0)}
    lines = replace(PAIR, tables={"Table": table}).summary().as_text().splitlines()
    rows = [line.split() for line in lines if line.startswith(("a ", "b "))]
    assert rows == [["a", "0.00090", "1e-09"], ["b", "-0.28960", "2500.000"]]


def test_a_null_hypothesis_in_words_stands_where_a_value_would() -> None:
    named = replace(PAIR, null_value=0.0, null_hypothesis="labels mean nothing")
    text = named.summary().as_text()
    assert "Null:     labels mean nothing" in text
    assert "estimand =" not in text


def test_summary_of_one_learner_leaves_out_the_test() -> None:
    text = SINGLE.summary().as_text()
    for absent in ("p-value", "Other", "Null", "Alternative", "Monte-Carlo", "nan"):
        assert absent not in text


def test_status_is_shown_and_nothing_warns() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = NEGATIVE.summary().as_text()
    assert "\nSTATUS:   the variance estimate is negative: use variance='clipped'" in text


def test_level_of_the_interval() -> None:
    text = PAIR.summary(alpha=0.1).as_text()
    assert "90% low 90% high" in text
    assert "(90% interval -0.32 to 0.04," in text


def test_all_lines_of_the_tables_have_the_same_width() -> None:
    wide = {f"column {index}": (0.5, -12.25) for index in range(12)}
    long = replace(PAIR, tables={"Wide": {"name": ("a", "b"), **wide}}, estimand="word " * 40)
    lines = long.summary().as_text().split("\n\nVerdict")[0].splitlines()
    assert len({len(line) for line in lines}) == 1


def test_html_and_latex_escape_what_they_would_misread() -> None:
    result = replace(PAIR, settings={"learner": "<lambda>", "other": "my_rule & 50%"})
    summary = result.summary(notes=True)
    page, paper = summary.as_html(), summary.as_latex()
    assert "&lt;lambda&gt;" in page
    assert "<lambda>" not in page
    assert r"my\_rule \& 50\%" in paper
    assert "$<$lambda$>$" in paper
    assert "at the 5\\% level" in paper
    assert r"\textbf{Variances (* used for this result)}" in paper
    assert paper.count(r"\begin{tabular}") == paper.count(r"\end{tabular}") == 4


def test_markdown_has_verdict_tables_and_settings() -> None:
    lines = PAIR.summary().as_markdown().splitlines()
    assert lines[2].startswith(
        "**No evidence at the 5% level that lasso:0.08 and lasso:0.5 differ:"
    )
    assert lines[4:8] == [
        "|  | first - second | Monte-Carlo s.e. |",
        "| --- | ---: | ---: |",
        "| estimate | -0.1400 | 0.0012 |",
        "| variance | 0.01140 | 0.00040 |",
    ]
    assert "| Estimand | difference of error rates |" in lines
    assert "| unbiased \\* | 0.01140 | 0.0004000 | -0.3500 | 0.0700 | 0.1900 |" in lines
    assert "| loss | 'zero\\_one' |" in lines
    assert {line.count("|") for line in lines if line.startswith("| jackknife")} == {7}


LOSSES = uv.Losses.from_predictions([0, 1] * 9, {"new": [0, 1] * 9, "old": [0, 1, 1] * 6})
OUTCOMES = {
    "pair": PAIR,
    "single": SINGLE,
    "negative": NEGATIVE,
    "comparison": uv.compare_losses(LOSSES, ["mcnemar", "hold_out"]),
    "equivalence": PAIR.equivalence(-1, 1),
    "noninferiority": PAIR.noninferiority(0.1),
    "plan": uv.plan(LOSSES, None, "new", "old", difference=0.2),
    "curve": uv.curves.calibration([0, 1] * 9, {"p": [0.1, 0.7, 0.4] * 6}),
}


@pytest.mark.parametrize("outcome", OUTCOMES.values(), ids=OUTCOMES)
def test_every_outcome_has_a_summary_of_statsmodels_in_all_forms(outcome: Any) -> None:
    summary = outcome.summary()
    assert isinstance(summary, Summary)
    # Without the tables of statsmodels, whose import takes longer than a test.
    assert str(outcome) == str(summary) == summary.as_text()
    title = str(outcome).split()[0]
    forms = [getattr(summary, f"as_{form}")() for form in ("html", "latex", "markdown", "csv")]
    assert [title in form for form in forms] == [True] * 4


def test_null_distribution_without_standard_error():
    """What has no standard error by its method shows no empty columns, and no missing interval."""
    result = replace(
        SINGLE,
        se=math.nan,
        variance=math.nan,
        statistic=0.31,
        pvalue=0.012,
        null_value=0.5,
        alternative="greater",
        reference="permutation",
        diagnostics={"mc_se_pvalue": 0.0011},
    )
    text = result.summary().as_text()
    assert "nan" not in text
    assert "0.0011" in text
    assert "interval" not in text
    assert verdict(result).endswith("the error rate is 0.14 (p = 0.01).")
    failed = replace(result, reference="none")
    assert "no interval" in verdict(failed)
    assert "95% low" in failed.summary().as_text()
    assert verdict(replace(result, pvalue=math.nan, null_value=math.nan)) == (
        "The error rate is 0.14."
    )
