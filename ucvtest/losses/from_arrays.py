"""Losses from arrays that were computed elsewhere."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ucvtest.common.arrays import as_numbers
from ucvtest.common.checks import check_size, named_options
from ucvtest.common.words import arg, excerpt
from ucvtest.data.positive_class import check_positive, positive_setting
from ucvtest.data.sample import DATES, as_response, code_labels, fault_of_dates, taken_for_classes
from ucvtest.designs.design import Design
from ucvtest.losses.columns import Columns, as_names, refuse_other_rows
from ucvtest.losses.linearised import resample_values
from ucvtest.metrics.base import Metric
from ucvtest.metrics.directions import direction_of
from ucvtest.metrics.means import SCORES_OF_LOSSES
from ucvtest.metrics.recorded import RecordedMetric, known_metric, recorded_metric
from ucvtest.metrics.unknown_names import LOSS_ALIASES as ALIASES

if TYPE_CHECKING:
    from ucvtest.losses.table import Losses


@named_options
def from_arrays(
    cls: "type[Losses]",
    values: Any,
    learning: Any,
    testing: Any = None,
    *,
    learners: Sequence[str] | None = None,
    loss: str = "zero_one",
    y: Any = None,
    pos_label: Any = None,
    groups: Any = None,
    greater_is_better: bool | None = None,
) -> "Losses":
    """Make losses that were computed elsewhere.

    Parameters
    ----------
    values : array, shape (L, R, n) or (R, n)
        Loss of each learner after each fit at each observation; entries of untested
        observations are ignored. Decision scores for ``loss="auc"``.
    learning, testing : array of 0/1, shape (R, n)
        Which observations are in the learning set and which are tested; by default all others
        are tested. A single row with an empty learning set is about fixed rules: see
        `from_predictions`. The columns of data frames are observations. Their names must be the
        same as in `values`, `y` and `groups` if these have names.
    learners : sequence of str, optional
        By default "learner 1", "learner 2", ...
    loss : str
        A name that ucvtest knows ("zero_one", "squared", "absolute", "log"), "auc", or any
        other name for your own loss. Names of scores ("accuracy", "r2"), and names that neither
        ucvtest nor scikit-learn knows, need `greater_is_better`.
    y : array-like, shape (n,), optional
        Labels of any type, or real values; two classes are needed for "auc".
    pos_label : optional
        The positive class, which scores are about. For labels 0 and 1, False and True, or -1
        and 1 it is the larger one. For other labels it must be named for "auc".
    groups : array-like, shape (n,), optional
        The cluster of each observation, which is the unit of resampling: labels of any type.
        Tests take it into account or refuse the losses (see ``from_losses(group_weight=)``).
    greater_is_better : bool, optional
        Whether the values are scores, so that greater is better; False for losses and errors.
        For losses by their names in ucvtest or scikit-learn, this is known.

    Raises
    ------
    ValueError
        If shapes do not match, tested values are not finite or outside the bounds of the loss,
        `y` is missing, the design divides a group, or `greater_is_better` is missing.

    Examples
    --------
    >>> import numpy as np
    >>> import ucvtest as uv
    >>> learning = np.kron(1 - np.eye(2, dtype=int), np.ones((1, 3), dtype=int))
    >>> values = np.array([[[1, 0, 0, 0, 0, 0]] * 2, [[1, 1, 1, 0, 0, 1]] * 2])
    >>> losses = uv.Losses.from_arrays(values, learning, learners=["lda", "knn"])
    >>> losses.means.round(3)
    array([[0.333, 0.   ],
           [1.   , 0.333]])

    Out-of-fold predictions, one for each observation, with the number of its fold:

    >>> y = np.array([0, 1, 0, 1, 0, 1])
    >>> fold = np.array([0, 0, 1, 1, 2, 2])
    >>> lda, knn = np.array([0, 1, 0, 1, 1, 1]), np.array([1, 1, 0, 0, 1, 1])
    >>> testing = fold == np.arange(3)[:, None]
    >>> errors = np.array([lda != y, knn != y])[:, None] * testing
    >>> losses = uv.Losses.from_arrays(errors, ~testing, testing, learners=["lda", "knn"])
    >>> losses.means
    array([[0. , 0. , 0.5],
           [0.5, 0.5, 0.5]])
    """
    if not isinstance(loss, str):
        raise ValueError(f"{arg('loss')} must be the name of the loss, got {excerpt(loss)}")
    greater = direction_of(loss, greater_is_better)
    if not greater and known_metric(ALIASES.get(loss, loss)) is not None:
        # Tests know one of several spellings.
        loss = ALIASES.get(loss, loss)
    several = isinstance(values, (list, tuple))
    value_tables = (
        {f"values[{k}]": x for k, x in enumerate(values)} if several else {"values": values}
    )
    tables = {**value_tables, "learning": learning, "testing": testing}
    refuse_other_rows({"y": y, "groups": groups}, tables)
    design = Design.checked(learning, testing)
    array = as_numbers("values", values)
    array = array[None] if array.ndim == 2 else array
    if array.ndim != 3 or array.shape[1:] != design.testing.shape:
        raise ValueError(
            f"values must have shape (L, R, n) = (L, {design.n_resamples}, {design.n_obs}), "
            f"got {np.shape(values)}"
        )
    names = as_names(learners, len(array))
    metric_of_loss = known_metric(loss)
    score = SCORES_OF_LOSSES.get(loss) if greater else None
    tested_values = array[:, design.testing]
    if metric_of_loss is None or not metric_of_loss.ranks_pairs:
        check_size("values", tested_values)
    if not np.isfinite(tested_values).all():
        raise ValueError(
            "values contains NaN or infinity for tested observations: every tested observation "
            "needs a finite number"
        )
    bounds = None
    if score is not None:
        bounds = score.reported_bounds
    elif metric_of_loss is not None and metric_of_loss.is_mean:
        bounds = metric_of_loss.bounds
    if score is not None and bounds is None and tested_values.max() > 0:
        raise ValueError(
            f"values go up to {tested_values.max():.3g}, but {loss} is never above 0: pass the "
            "negative losses, or name the loss itself"
        )
    if bounds and (tested_values.min() < bounds[0] or tested_values.max() > bounds[1]):
        raise ValueError(
            f"values go from {tested_values.min():.3g} to {tested_values.max():.3g}, but "
            f"{arg('loss', loss)} lies between {bounds[0]:g} and {bounds[1]:g}: give your loss "
            "another name"
        )
    columns = Columns("values", dict.fromkeys(names), {"groups": groups})
    target, positive = (None, None) if y is None else _target(y, pos_label, metric_of_loss)
    if target is not None and target.shape != (design.n_obs,):
        raise ValueError(f"y must have shape ({design.n_obs},), got {target.shape}")
    dates = fault_of_dates(y, *(x.T for x in tables.values() if hasattr(x, "columns")))
    known = metric_of_loss or score
    in_words = f"mean {loss}" if greater else f"mean {loss} loss"
    if known is not None:
        in_words = known.in_words
    metric = recorded_metric(
        RecordedMetric(loss, estimand=in_words, bounds=bounds, greater_is_better=greater)
    )
    if metric.ranks_pairs and (target is None or set(target.tolist()) != {0.0, 1.0}):
        raise ValueError(f"{arg('loss', 'auc')} needs y with labels of two classes")
    return columns.table(
        cls,
        design,
        loss=loss,
        means=resample_values(tested_values, design, metric, target),
        values=tested_values,
        target=target,
        in_words=in_words,
        bounds=bounds,
        settings={"source": "arrays"}
        | positive_setting(positive)
        | ({DATES: dates} if dates else {}),
        greater_is_better=greater,
    )


def _target(y: Any, pos_label: Any, metric_of_loss: Metric | None) -> tuple[np.ndarray, Any]:
    """Labels 0, 1, ..., or the real response, as in `Sample`; and the class that scores rank."""
    response = as_response(y)
    # A user's loss may score labels or numbers, so whole numbers remain labels.
    output = "label" if metric_of_loss is None else metric_of_loss.output
    if response.ndim == 1 and taken_for_classes(y, output, pos_label=pos_label):
        classes, codes = code_labels(y, pos_label)
        ranked = metric_of_loss is not None and metric_of_loss.ranks_pairs
        if ranked:
            check_positive(classes, pos_label, "values contains")
        return codes.astype(float), classes[-1] if ranked else None
    return as_numbers("y", response), None
