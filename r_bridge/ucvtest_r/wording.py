"""Messages in the language of R: its functions, its values and its counting from 1."""

import re
from typing import Any

import numpy as np

import ucvtest as uv
from ucvtest.hooks import Door, alternatives

R_NAMES = {
    "LeavePairOut": "leave_pair_out_test",
    "compare": "compare_learners",
    "compare_losses": "compare_learners",
    "evaluate": "evaluate_learners",
    "from_arrays": "as_losses",
    "from_correct": "correct_losses",
    "from_predictions": "prediction_losses",
    "from_scores": "score_losses",
    "from_sklearn": "as_losses",
    "plan": "plan_sample_size",
    "survival": "Surv",
}
"""What R calls functions and constructors that have another name there."""


def r_name(name: str) -> str:
    """What R calls a class or a function: tests declare it, designs are in small letters."""
    if name.endswith("Test") and name in uv.__all__:
        return str(getattr(uv, name).r_function)
    if name in uv.designs.__all__:
        return re.sub("(?<!^)(?=[A-Z])", "_", name).lower()
    return R_NAMES.get(name, name)


VALUES = {"True": "TRUE", "False": "FALSE", "None": "NULL"}

ARGUMENTS = {
    "X": "x",
    "fold_scores": "scores",
    "pos_label": "positive",
    "rng": "seed",
    "sample_weight": "weights",
}
"""Arguments that have another name in R."""

CORRECTIONS = {"BH": "fdr_bh", "fdr": "fdr_bh", "BY": "fdr_by", "hochberg": "simes-hochberg"}
"""The names that R's p.adjust() has for what Python calls otherwise."""

TERMS = {
    **{name: r for r, name in reversed(CORRECTIONS.items())},
    "TimeSeriesSplit": "own_folds(testing = , learning = )",
    "scipy.stats.mannwhitneyu": "wilcox.test()",
    " (for a loss function of your own, uv.losses.Loss states the kind)": ", or factor(y)",
    " See help(uv.learners), or pass a scikit-learn estimator": " See ?learners",
    ", or pass y as pd.Categorical(y, categories=[...], ordered=True)": (
        ", or pass y as factor(y, levels = , ordered = TRUE)"
    ),
    "a scikit-learn classifier": 'a classifier such as "ranger"',
    "a scikit-learn estimator": "a function of R, such as "
    '"glm", "ranger" or by package "MASS::lda", see ?learners',
    "a scikit-learn pipeline": "a function(x, y, xnew)",
    "a scikit-learn splitter, or a list of splits, (learning, testing)": "own_folds()",
    "a scikit-learn regressor": 'a regression such as "stats::lm"',
    "a scorer from sklearn.metrics.make_scorer": "a function(truth, prediction)",
    "an estimator of scikit-survival or lifelines, or a function (X_train, y_train, X_test) -> "
    "risks": 'coxph, "glmnet", "ranger", "rfsrc" or a function(x, y, xnew) that returns risks',
    "summary(notes=True)": "summary(x, notes = TRUE)",
    "your own by uv.metrics.Cells or uv.metrics.Moments, ": "",
}
"""What R has in the place of words that only Python's packages have."""


def r_correction(comparison: uv.Comparison) -> str | None:
    """What R calls the correction of a comparison."""
    name = comparison.correction
    return None if name is None else TERMS.get(name, name)


class RDoor(Door):
    """How messages are written in R.

    Examples
    --------
    >>> from ucvtest.common.words import arg, call, place, through
    >>> from ucvtest_r.wording import RDoor
    >>> with through(RDoor()):
    ...     f"split {place(0)}: use {call('designs.KFold', '5')}, or {arg('loss', 'squared')}"
    'split 1: use k_fold(5), or loss = "squared"'
    """

    first = 1
    terms = TERMS

    def arg(self, name: str, *values: Any) -> str:
        """``loss = "log"``."""
        name = ARGUMENTS.get(name, name)
        return f"{name} = {alternatives(map(self.code, values))}" if values else name

    def code(self, value: Any) -> str:
        """A value as it is typed: texts in double quotes."""
        return f'"{value}"' if isinstance(value, str) else self.excerpt(value)

    def call(self, name: str, *arguments: str) -> str:
        """Its function in R."""
        return f"{r_name(name.rpartition('.')[2])}({', '.join(arguments)})"

    def item(self, name: str, key: Any) -> str:
        """A column of a list."""
        return f"{ARGUMENTS.get(name, name)}${key!s:.60}"

    def excerpt(self, value: Any) -> str:
        """A value as R prints it: labels that are whole numbers without a fraction."""
        value = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, tuple):
            return f"c({', '.join(map(self.excerpt, value))})"
        if isinstance(value, float):
            return f"{value:.15g}"
        if value is None or isinstance(value, bool):
            return VALUES[str(value)]
        return super().excerpt(value)

    def cause_of(self, error: BaseException) -> str:
        """What the R function said."""
        return str(error)
