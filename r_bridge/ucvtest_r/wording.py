"""Messages in the language of R: its functions, its values and its counting from 1."""

import re
from collections.abc import Callable

__all__ = ["R_NAMES", "in_r"]

R_NAMES = {
    "BayesianTTest": "bayesian_t_test",
    "ConservativeZTest": "conservative_z_test",
    "CorrectedTTest": "corrected_t_test",
    "CrossValidationWaldTest": "cross_validation_wald_test",
    "DeLongTest": "delong_learners_test",
    "FiveByTwoFTest": "five_by_two_f_test",
    "FiveByTwoTTest": "five_by_two_t_test",
    "FoldCovarianceTest": "fold_covariance_test",
    "HoldOutTest": "hold_out_test",
    "InfluenceFunctionTest": "influence_test",
    "LeavePairOutTest": "leave_pair_out_test",
    "McNemarTest": "mcnemar_learners_test",
    "NaiveTTest": "naive_t_test",
    "NestedCrossValidationTest": "nested_cross_validation_test",
    "PermutationComplexityTest": "permutation_complexity_test",
    "UStatisticTest": "ustat_test",
    "DisjointSets": "disjoint_sets",
    "HoldOut": "hold_out",
    "KFold": "k_fold",
    "NestedKFold": "nested_k_fold",
    "RandomSplits": "random_splits",
    "SplitHalves": "split_halves",
    "compare": "compare_learners",
    "plan": "plan_sample_size",
}
"""What R calls the classes and functions that messages name."""

VALUES = {"True": "TRUE", "False": "FALSE", "None": "NULL"}


def _function(found: re.Match[str]) -> str:
    opened = found["call"]
    if found["name"] in R_NAMES:
        return R_NAMES[found["name"]] + (opened or "()")
    return found["name"] + (opened or "")


def _quoted(found: re.Match[str]) -> str:
    """`loss='a', 'b' or 'c'` in R's spelling."""
    return found[0].replace("=", " = ", 1).replace("'", '"')


def _split(found: re.Match[str]) -> str:
    return f"failed on split {int(found[1]) + 1}: "


RULES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    # Of whole numbers as a response: R has a type for labels, and its losses are plain functions.
    (r" \(uv\.losses\.Loss says of a function of your own what it scores\)", ""),
    (r"loss='zero_one'(?= if they are labels)", r"\g<0> or factor(y)"),
    # "learner lda failed on split 0: ValueError: ..."
    (r"failed on split (\d+): (?:\w+(?:Error|Exception|Warning): )?", _split),
    (r"\buv\.learners\.(\w+)\(\)", r'"\1"'),
    (r"\buv\.learners\.(\w+)\(([\d.]+)\)", r'"\1:\2"'),
    (r"\buv\.(?:\w+\.)?(?P<name>[A-Za-z_]\w*)(?P<call>\()?", _function),
    (
        rf"\b(?P<name>{'|'.join(name for name in R_NAMES if name[0].isupper())})\b(?P<call>\()?",
        _function,
    ),
    (r"\bTestSpec\((\"\w+\"), fit=\{\"(\w+)\": \.\.\.\}\)", r"list(\1, \2 = )"),
    (r"\ba scorer from sklearn\.metrics\.make_scorer", "a function(truth, prediction)"),
    (r"^(\w+)\['([^']+)'\]", r"\1$\2"),
    (r"\b(\w+)=\(([\d., ]+)\)", r"\1 = c(\2)"),
    (r"\b([a-z]\w*)=(?=[\d.])", r"\1 = "),
    (r"\bgot \(([\d., ]+)\)", r"got c(\1)"),
    # What is in quotes is R's either way; single ones are Python's habit.
    (r"\b\w+='[^']*'(?:(?:, | or |, or )'[^']*')*", _quoted),
    (r"\ba callable \(X_train, y_train, X_test\) -> predictions", "a function(x, y, xnew)"),
    (r"\ba callable\b", "a function"),
    (
        r"^(.*\blearner '\w+' is unknown: .*)$",
        r"\1; learners of other packages go by the package too, as in "
        r'"MASS::lda" or "rpart::rpart"',
    ),
    (r", or their classes$", ""),
    (r"\b(True|False|None)\b(?! of)", lambda found: VALUES[found[1]]),
    (r"(?<!['\"\w])X(?=(?:'s)? (?:holds|has|must|is|and)\b|,|:)", "x"),
)


def in_r(text: str) -> str:
    """A message with R's names of functions and values; everything else stays.

    Examples
    --------
    >>> from ucvtest_r.wording import in_r
    >>> in_r("use uv.designs.KFold(5), or pass loss='squared'")
    'use k_fold(5), or pass loss = "squared"'
    """
    for pattern, replacement in RULES:
        text = re.sub(pattern, replacement, text)
    return text
