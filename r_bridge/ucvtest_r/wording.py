"""Messages in the language of R: its functions, its values and its counting from 1."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

import ucvtest as uv
from ucvtest.hooks import Door, alternatives

R_DESIGNS = {
    "DisjointSets": "disjoint_sets",
    "HoldOut": "hold_out",
    "KFold": "k_fold",
    "NestedKFold": "nested_k_fold",
    "RandomSplits": "random_splits",
    "SplitHalves": "split_halves",
}
"""What R calls the designs."""


R_FUNCTIONS = {
    "compare": "compare_learners",
    "evaluate": "evaluate_learners",
    "compare_losses": "compare_learners",
    "LeavePairOut": "leave_pair_out_test",
    "plan": "plan_sample_size",
    "select_model": "select_model",
}
"""What R calls the functions around tests."""

R_CONSTRUCTORS = {
    "from_arrays": "as_losses",
    "from_correct": "correct_losses",
    "from_predictions": "prediction_losses",
    "from_scores": "score_losses",
    "from_sklearn": "as_losses",
    "survival": "Surv",
}
"""What R has in the place of the constructors of `Losses`."""


class _Names(Mapping[str, str]):
    """Names in R by names in Python. A test class declares its own, and is imported when asked."""

    def __init__(self) -> None:
        self._tests = tuple(name for name in uv.__all__ if name.endswith("Test"))
        self._others = R_DESIGNS | R_FUNCTIONS

    def __getitem__(self, name: str) -> str:
        return str(getattr(uv, name).r_function) if name in self._tests else self._others[name]

    def __contains__(self, name: object) -> bool:
        return name in self._tests or name in self._others

    def __iter__(self) -> Iterator[str]:
        return iter((*self._tests, *self._others))

    def __len__(self) -> int:
        return len(self._tests) + len(self._others)


@cache
def r_names() -> Mapping[str, str]:
    """What R calls the classes and functions that messages name."""
    return _Names()


VALUES = {"True": "TRUE", "False": "FALSE", "None": "NULL"}

ARGUMENTS = {
    "X": "x",
    "fold_scores": "scores",
    "pos_label": "positive",
    "rng": "seed",
    "sample_weight": "weights",
}
"""Arguments that have another name in R."""

TERMS = {
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
        name = name.rpartition(".")[2]
        function = R_CONSTRUCTORS.get(name) or r_names().get(name, name)
        return f"{function}({', '.join(arguments)})"

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
