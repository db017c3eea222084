"""Losses from marks of right and wrong answers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ucvtest.common.checks import named_options
from ucvtest.common.words import arg, call, excerpt
from ucvtest.data.sample import as_column, check_vector, refuse_missing
from ucvtest.designs.design import Design
from ucvtest.losses.columns import Columns, as_rows, listed, refuse_other_rows
from ucvtest.metrics.means import SCORES_OF_LOSSES

if TYPE_CHECKING:
    from ucvtest.losses.table import Losses

ACCURACY = "accuracy"


@named_options
def from_correct(
    cls: "type[Losses]", correct: Mapping[str, Any], *, groups: Any = None
) -> "Losses":
    """Make losses from marks of the answers of one or several models to the same questions.

    Use it for answers that were marked already, as in evaluations of language models, and for
    shares within one class, such as the sensitivity among the ill. Results are in units of
    accuracy, so higher is better. They are about these models; nothing is fitted.

    Parameters
    ----------
    correct : mapping, DataFrame or path
        The name of each model and its n values: True or 1 for a right answer, False or 0 for a
        wrong one. A path leads to a CSV or parquet file with a column for each model.
    groups : array-like, shape (n,), or str, optional
        The cluster of each row, such as the question of several answers, or the passage of
        several questions: labels of any type. A string names a column of `correct`.

    Raises
    ------
    ValueError
        If values are missing or neither right nor wrong, or if lengths or indices differ.

    See Also
    --------
    from_predictions : For predictions that are not marked yet, if the right answers are known;
        with ``loss="score"``, for answers that can be partly right.

    Notes
    -----
    `HoldOutTest` gives an exact interval for one accuracy (or Wilson's), even if all answers
    are right. `McNemarTest` is the exact test of two. With `groups`, rows count the same: the
    estimate is the share of right answers among all rows, unless a test has
    ``group_weight="group"``.

    Examples
    --------
    >>> import ucvtest as uv
    >>> losses = uv.Losses.from_correct({"model": [True] * 19 + [False]})
    >>> result = uv.HoldOutTest.from_losses(losses).fit()
    >>> result.estimand, result.estimate
    ('accuracy of this rule', 0.95)
    >>> low, high = result.conf_int()
    >>> f"{low:.3f} to {high:.3f}"
    '0.751 to 0.999'
    """
    columns = Columns.read("correct", correct, groups=groups)
    refuse_other_rows(columns.by_argument | columns.of_rows)
    marks = {name: _marked(f"correct[{name!r:.60}]", x) for name, x in columns.learners.items()}
    remedy = ": pass one for each question, the same for all models"
    values, score = as_rows(marks, argument="correct", remedy=remedy), SCORES_OF_LOSSES[ACCURACY]
    return columns.table(
        cls,
        Design.of_fixed_rules(values.shape[1]),
        loss=ACCURACY,
        values=values,
        in_words=score.in_words,
        bounds=score.reported_bounds,
        settings={"source": "right or wrong"},
        greater_is_better=True,
    )


def _marked(argument: str, user_answers: Any) -> np.ndarray:
    """Ones for right answers and zeros for wrong ones; anything else is refused."""
    column = as_column(argument, user_answers)
    check_vector(argument, column)
    if not len(column):
        raise ValueError("correct is empty: at least one answer is needed")
    remedy = "drop these rows for all models, or count them as wrong"
    refuse_missing(argument, column, remedy)
    unmarked = [
        value
        for value in column.tolist()
        if not isinstance(value, (bool, int, float)) or value not in (0, 1)
    ]
    if not unmarked:
        return column.astype(float)
    remedy = (
        "answers that can be partly right are scores: use "
        f"{call('Losses.from_predictions', excerpt(None), '...', arg('loss', 'score'))}; with "
        "several answers to a question, each answer is a row, and the question its group"
    )
    labels = [value for value in dict.fromkeys(unmarked) if isinstance(value, str)]
    if labels:
        compared = " or ".join(
            f"column == {excerpt(label)} if {excerpt(label)} means right" for label in labels[:2]
        )
        remedy = f"pass {compared}, and leave out columns that do not belong to a model"
    raise ValueError(
        f"{argument} contains {listed(unmarked, 3)}, but values must be {excerpt(True)} or "
        f"{excerpt(False)}, or 1 and 0: {remedy}"
    )
