"""Losses from marks of right and wrong answers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ucvtest.common.checks import named_options
from ucvtest.common.words import arg, call, excerpt
from ucvtest.data.groups import as_groups
from ucvtest.data.sample import as_column, check_vector, refuse_missing
from ucvtest.designs.design import Design
from ucvtest.losses.predicted import listed
from ucvtest.losses.resample_means import resample_means
from ucvtest.losses.validation import by_argument, by_name, named_columns, refuse_other_rows
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
    columns, correct = named_columns("correct", correct, {"groups": groups})
    if isinstance(groups, str) and hasattr(correct, "keys") and not len(correct.keys()):
        raise ValueError("correct has no column except groups: pass one column for each model")
    rules, groups = by_name("correct", correct), columns["groups"]
    refuse_other_rows(by_argument("correct", rules) | {"groups": groups})
    rows = {name: _marked(f"correct[{name!r:.60}]", rule) for name, rule in rules.items()}
    n_obs = len(next(iter(rows.values())))
    for name, row in rows.items():
        if len(row) != n_obs:
            raise ValueError(
                f"correct[{name!r:.60}] has {len(row)} values, but {n_obs} are needed: pass one "
                "for each question, the same for all models"
            )
    values, design = np.stack(list(rows.values())), Design.of_fixed_rules(n_obs)
    clusters = as_groups(groups, n_obs)
    score = SCORES_OF_LOSSES[ACCURACY]
    return cls(
        design=design,
        learners=tuple(rows),
        loss=ACCURACY,
        means=resample_means(values, design),
        values=values,
        in_words=score.in_words,
        bounds=score.reported_bounds,
        settings={"source": "right or wrong"},
        groups=None if clusters is None else clusters.index,
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
