"""Losses from existing predictions: of fixed rules for one test set, or out of fold."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ucvtest.common.arrays import as_numbers
from ucvtest.common.checks import check_size, named_options
from ucvtest.common.words import arg, excerpt
from ucvtest.data.class_order import COST_ORDER, names_classes, order_setting
from ucvtest.data.frames import as_pandas
from ucvtest.data.groups import as_groups
from ucvtest.data.missing import rows_of
from ucvtest.data.output import Output
from ucvtest.data.positive_class import (
    check_positive,
    check_positive_of_metric,
    json_label,
    positive_setting,
    unnamed_setting,
)
from ucvtest.data.sample import (
    DATES,
    Sample,
    as_column,
    as_response,
    code_labels,
    count_missing,
    declared_order,
    fault_of_dates,
    ordered_categories,
    taken_for_classes,
)
from ucvtest.data.weights import N_WEIGHT_0, WEIGHTS, RowWeights, read_weights
from ucvtest.designs.design import Design
from ucvtest.losses.columns import Columns, as_rows, listed, refuse_other_rows
from ucvtest.losses.linearised import CLASSES, fields_of, kept_classes, parts_of, resample_values
from ucvtest.losses.out_of_fold import OutOfFold, unfolded
from ucvtest.losses.predicted import (
    check_finite,
    check_probabilities,
    check_vector,
    column_order,
    columns_of_classes,
    numbered_labels,
    numbers_of,
    of_survival,
    probabilities_of,
    quoted,
)
from ucvtest.metrics.base import Metric
from ucvtest.metrics.loss import WEIGHTED, Loss, losses_where_tested
from ucvtest.metrics.matrix import cost_of_errors, cost_order, costs_in_order
from ucvtest.metrics.means import LOSSES, for_classes
from ucvtest.metrics.named import SMOOTH
from ucvtest.metrics.names import as_loss, metric_or_loss, output_of
from ucvtest.metrics.ranks import AUC
from ucvtest.metrics.recorded import COST_OF_ERRORS, RecordedMetric, recorded_metric
from ucvtest.metrics.refusals import refuse_of_folds, refuse_pooled
from ucvtest.metrics.smooth import SmoothMetric
from ucvtest.metrics.survival import SurvivalMetric
from ucvtest.metrics.unknown_names import LOSS_ALIASES as ALIASES
from ucvtest.metrics.unknown_names import unknown_loss

if TYPE_CHECKING:
    from ucvtest.losses.table import Losses

WEIGHTED_ERRORS = "weighted_zero_one"
"""Name of the loss of weighted errors."""

SCORE, SCORE_IN_WORDS = "score", "mean score"
"""Stands for a loss: numbers in their own units; higher is better."""

GIVEN_SCORES = recorded_metric(
    RecordedMetric(SCORE, estimand=SCORE_IN_WORDS, greater_is_better=True)
)

OF_SCORES: dict[str, Metric] = {metric.name: metric for metric in (AUC, GIVEN_SCORES)}
"""Names of metrics that are not losses."""

OTHER_LOSSES = "'zero_one', or 'log' and 'brier' with a probability for each class"

THE_REST = "the rest"
"""Name of all classes except the one that is ranked above them."""


@named_options
def from_predictions(
    cls: "type[Losses]",
    y: Any,
    predictions: Mapping[str, Any],
    *,
    loss: Any = None,
    metric: Any = None,
    groups: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    fold: Any = None,
    repeat: Any = None,
) -> "Losses":
    """Make losses from predictions for observations that were not learnt from.

    Without `fold` the predictions are of fixed rules on one test set, from which no rule has
    learnt. Tests about rules use them: `HoldOutTest` (the paired t test; for one error rate the
    exact binomial test), `McNemarTest` and `DeLongTest`. Their results are about these rules: n
    is the number of observations, and no fit is counted.

    With `fold` they are out-of-fold predictions of learners. Tests about K-fold
    cross-validation, such as `CorrectedTTest` and `CrossValidationWaldTest`, use them like
    losses of `evaluate`.

    Parameters
    ----------
    y : array-like, shape (n,), or str
        Labels of any type, or real values; None for ``loss="score"``. A string names a column
        of `predictions`. All labels may be the same, as among the ill, if the loss does not
        need two classes; the share of right answers is then the sensitivity. It must be known
        which class probabilities are about. Survival metrics take ``uv.survival(time, event)``.
    predictions : mapping, DataFrame or path
        The name of each rule and its n predictions, of the kind that the loss needs: labels for
        "zero_one", a matrix and functions of labels; numbers for "squared" and "absolute";
        probabilities of the positive class for "log" and "brier"; decision scores or
        probabilities for "auc". A DataFrame for each rule, with a column for each class and
        named by the classes, is also accepted. With more than two classes, "log" and "brier"
        take such a DataFrame or an array (n, C) in the order of the sorted labels, and "auc"
        compares `pos_label` with the rest. A path leads to a CSV or parquet file with a column
        for each rule.
    loss : str, callable, Loss or matrix, optional
        As for the tests; by default "zero_one", for labels. Whole numbers of many values may
        be amounts, which need a named loss. "score" means a score of each observation, as from
        evaluations of language models; higher is better. Scores that are zeros and ones are
        treated as right or wrong answers, as in `from_correct`.
    metric : str or metric, optional
        Instead of a loss, a metric that is not a mean of losses: "f1", "mcc", "r2" and others;
        with arguments as ``uv.metrics.f1("macro")``; your own by ``uv.metrics.Cells``.
        "average_precision" and ``uv.metrics.partial_auc(0.1)`` need decision scores. Rows of
        clusters count the same. For survival times, "harrell", "uno" and
        ``uv.metrics.auc(at=5)`` need risks; higher risks mean earlier events.
        ``uv.metrics.brier(at=5)`` needs probabilities of an event by then, and
        ``uv.metrics.integrated_brier`` a column for each time, in their order or named by
        them.
    groups : array-like, shape (n,), optional
        The cluster of each observation, which is the unit of resampling: labels of any type.
        Tests take it into account or refuse the losses (see ``from_losses(group_weight=)``).
    pos_label : optional
        The positive class, which scores and probabilities are about. For labels 0 and 1, False
        and True, or -1 and 1 it is the larger one. For other labels it must be named, unless
        DataFrames name their columns and the value is the same for both classes, as for "auc",
        "log", "brier" and their skills.
    sample_weight : array-like, shape (n,), or str, optional
        The weight of each observation, for means. `HoldOutTest` is then about the weighted
        mean. The weighted mean is a ratio, with the standard error of weighted least squares
        (HC1). With `fold`, the tests on folds are about the weighted mean of all out-of-fold
        losses. Rows of `groups` count by their weights (``group_weight="row"``). Weights do not
        apply to the AUC and McNemar's counts. Observations of weight 0 are left out, as if they
        were not there.
    fold : array-like, shape (n,) or (R, n), or str, optional
        The fold in which each observation was tested, with labels of any type. The observation
        was predicted by the rule learnt from all rows outside this fold. R repeats of the
        cross-validation have a row of folds each, and a row of predictions in `predictions`,
        (R, n). Folds must not divide groups.
    repeat : array-like, shape (n,), or str, optional
        The repetition of each row, if repeats of the cross-validation are in one long table.
        All other columns then have a row for each observation of each repetition, in the same
        order.

    Raises
    ------
    ValueError
        If lengths or indices do not match, or if predictions are missing or the loss cannot
        score them.

    Notes
    -----
    "squared" and "absolute" use whole numbers in `y` as they are, unless `pos_label` is given.
    With `pos_label`, and for labels that are strings, the positive class counts as 1 and the
    other as 0, so that "squared" is the Brier score of probabilities.

    Examples
    --------
    >>> import ucvtest as uv
    >>> y = ["ill", "ill", "well", "ill", "well", "well", "ill", "well"]
    >>> a = ["ill", "ill", "well", "ill", "well", "ill", "ill", "well"]
    >>> b = ["ill", "well", "well", "well", "ill", "well", "well", "well"]
    >>> losses = uv.Losses.from_predictions(y, {"a": a, "b": b})
    >>> result = uv.McNemarTest.from_losses(losses).fit()
    >>> result.estimand, result.n_obs, result.n_fits
    ('difference in error rate of these rules', 8, 0)
    >>> round(result.pvalue, 3)
    0.375

    Out-of-fold scores of a learner, with the number of the fold of each:

    >>> score = [0.9, 0.6, 0.2, 0.7, 0.5, 0.6, 0.4, 0.3]
    >>> fold = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> losses = uv.Losses.from_predictions(
    ...     y, {"a": score}, loss="auc", pos_label="ill", fold=fold
    ... )
    >>> losses.means
    array([[1.        , 0.33333333]])
    >>> uv.CrossValidationWaldTest.from_losses(losses).fit().estimate
    0.6666666666666666
    """
    if metric is not None:
        if loss is not None:
            raise ValueError(
                f"{arg('loss', loss)} and {arg('metric', metric)} exclude each other: pass one of "
                "them"
            )
        loss = metric_or_loss(metric)
    of_rows = {"y": y, "groups": groups, "sample_weight": sample_weight, "fold": fold}
    columns = Columns.read("predictions", predictions, **of_rows, repeat=repeat)
    if columns.of_rows["repeat"] is not None:
        columns = unfolded(columns)
    y, groups, sample_weight, fold = (columns.of_rows[name] for name in of_rows)
    folds = None if fold is None else OutOfFold.of(fold)
    rounds = [columns.learners] if folds is None else folds.rounds(columns.learners)
    for rules in rounds:
        of_round = replace(columns, learners=rules)
        refuse_other_rows({"y": y, **of_round.by_argument, **columns.of_rows}, strict=True)
    n_weight_0, counts = _rows_that_count(sample_weight, folds, [y, groups, *rounds])
    if n_weight_0:
        y, groups, sample_weight, *rounds = (
            _counting(part, counts) for part in (y, groups, sample_weight, *rounds)
        )
        folds = None if folds is None else folds.of_rows(counts)
        columns = replace(columns, of_rows={"groups": groups})
    if loss is None:
        loss = "zero_one"
        if y is not None:
            # Whole numbers that may be amounts are refused.
            taken_for_classes(y, pos_label=pos_label)
    scored = _known_metric(ALIASES.get(loss, loss) if isinstance(loss, str) else loss)
    if folds is not None:
        refuse_of_folds(scored)
        refuse_pooled(scored)
    in_rounds = [_scored(y, rules, scored, pos_label) for rules in rounds]
    # Labels outside `y` in some repeats only would change the numbers of classes.
    classes = [repeat_fields["settings"].get(CLASSES) for repeat_fields in in_rounds]
    if any(repeat_classes != classes[0] for repeat_classes in classes):
        raise ValueError(
            "predictions contain labels outside y in some repeats but not in others: replace them "
            "by labels of y, or pass the repeats one by one"
        )
    if folds is None:
        fields = in_rounds[0]
        kept = "predictions" if "predictions" in fields else "values"
        design = Design.of_fixed_rules(fields[kept].shape[1])
        settings = {"source": "predictions"}
    else:
        fields = folds.joined(in_rounds)
        design, settings = folds.design, {"source": "out_of_fold", "design": folds.words}
    ranks = isinstance(scored, Metric) and scored.ranks_pairs
    if isinstance(scored, SmoothMetric):
        about = {"design": design, "predictions": fields["predictions"]}
        about |= {"target": fields["target"], "event": fields.get("event")}
        fields |= fields_of(scored, parts_of(**about), **about, settings=fields["settings"])
    elif ranks:
        fields["means"] = resample_values(fields["values"], design, scored, fields["target"])
    if sample_weight is not None:
        if ranks or isinstance(scored, SmoothMetric):
            if ranks:
                problem = "an AUC is not such a mean"
            else:
                problem = f"{arg('metric', scored.name)} is a function of means"
            raise ValueError(
                f"{arg('sample_weight')} is for means over observations, but {problem}: leave it "
                "out"
            )
        fields |= _weighted(fields, sample_weight, groups, design)
        if n_weight_0:
            fields["settings"][N_WEIGHT_0] = n_weight_0
    settings |= fields.pop("settings") | positive_setting(fields.pop("positive", None))
    if dates := fault_of_dates(y, *columns.learners.values()):
        settings[DATES] = dates
    return columns.table(cls, design, settings=settings, **fields)


def _scored(y: Any, rules: Mapping[str, Any], metric: Any, pos_label: Any) -> dict[str, Any]:
    """Predictions for functions of means, losses or scores for others, and their properties."""
    if metric is GIVEN_SCORES:
        for name, user_value in (("y", y), ("pos_label", pos_label)):
            if user_value is not None:
                raise ValueError(
                    f"{arg(name)} does not apply with {arg('loss', 'score')}, which uses scores "
                    f"directly: leave {arg(name)} out"
                )
        rows = {name: numbers_of(name, user_scores) for name, user_scores in rules.items()}
        return {
            "loss": SCORE,
            "values": as_rows(rows),
            "target": None,
            "in_words": SCORE_IN_WORDS,
            "greater_is_better": True,
            "settings": {},
        }
    if y is None:
        raise ValueError(
            f"y must contain the true response: only {arg('loss', 'score')} does not need it"
        )
    if isinstance(metric, Metric) and metric.ranks_pairs:
        check_vector("y", as_response(y))
        if not taken_for_classes(y, "score", pos_label=pos_label):
            raise ValueError("'auc' needs class labels, but y contains real values")
        sample = _sample(y, pos_label, as_classes=True)
        classes = np.asarray(sample.classes)
        rows, settings = _numbers(rules, AUC, classes, pos_label, sample.declared)
        return {
            "loss": AUC.name,
            "values": as_rows(rows, sample.n_obs),
            "target": (sample.target == len(classes) - 1).astype(float),
            "in_words": AUC.in_words,
            "settings": settings | unnamed_setting(classes, is_named=sample.positive_named),
            "positive": classes[-1],
        }
    if isinstance(metric, SurvivalMetric):
        return of_survival(y, rules, metric, pos_label)
    if isinstance(metric, SmoothMetric):
        return _predicted(y, rules, metric, pos_label)
    return _losses(y, rules, metric, pos_label)


def _rows_that_count(
    sample_weight: Any, folds: OutOfFold | None, parts: Sequence[Any]
) -> tuple[int, np.ndarray]:
    """The number of rows of weight 0, and the mask of the others.

    None are left out where lengths differ, or no row counts: both are refused later.
    """
    if sample_weight is None:
        return 0, np.array([])
    counts = as_numbers("sample_weight", as_column("sample_weight", sample_weight)) != 0
    lengths = {len(counts)} if folds is None else {len(counts), folds.numbers.shape[1]}
    for part in parts:
        columns = part.values() if isinstance(part, Mapping) else [part]
        lengths |= {len(column) for column in columns if hasattr(column, "__len__")}
    one_for_each = counts.ndim == 1 and counts.any() and len(lengths) == 1
    return int((~counts).sum()) if one_for_each else 0, counts


def _counting(part: Any, counts: np.ndarray) -> Any:
    """The rows of a column, or of the predictions of each rule, that have a weight."""
    if isinstance(part, Mapping):
        return {name: _counting(column, counts) for name, column in part.items()}
    if isinstance(part, (list, tuple)):
        # An array would turn labels of several types into strings.
        return [value for value, is_counted in zip(part, counts, strict=True) if is_counted]
    return None if part is None else rows_of(as_pandas("predictions", part), counts)


def _weighted(
    fields: Mapping[str, Any], sample_weight: Any, groups: Any, design: Design
) -> dict[str, Any]:
    """Values with the weighted mean, and with the spread of the ratio estimator.

    Their mean lies within the bounds of the loss; single values may lie outside. The loss has a
    separate name, so that nothing counts them as errors.
    """
    weights = RowWeights(None, read_weights("sample_weight", sample_weight, design.n_obs))
    return {
        "loss": f"{WEIGHTED}{fields['loss']}",
        "values": weights.linearised(fields["values"], design.testing),
        "in_words": f"weighted {fields['in_words']}",
        "settings": {
            **fields["settings"],
            WEIGHTS: weights.where,
            **weights.worth(design.testing, as_groups(groups, design.n_obs)),
        },
    }


def _known_metric(loss: Any) -> Any:
    """The named metric; functions that score labels or numbers are used directly."""
    if isinstance(loss, SmoothMetric):
        return loss
    if isinstance(loss, str) and loss in OF_SCORES:
        return OF_SCORES[loss]
    if isinstance(loss, str) and loss not in LOSSES:
        raise unknown_loss(loss, (*LOSSES, *OF_SCORES), SMOOTH)
    if callable(loss) and not isinstance(loss, Loss):
        return loss
    known_loss = as_loss(loss, has_classes=True)
    if known_loss.name in OF_SCORES:
        raise ValueError(
            f"{arg('loss')} has the name {known_loss.name!r}, which has another meaning here: "
            "rename it"
        )
    return known_loss


def _numbers(
    rules: Mapping[str, Any],
    metric: Metric,
    classes: np.ndarray | None,
    pos_label: Any,
    declared: Sequence[Any],
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """A number for each observation, about the positive class if there are any; settings."""
    settings: dict[str, Any] = {}
    if classes is not None:
        # Ranks may be those of one class against the rest.
        if pos_label is None or not (metric.ranks_pairs or _ranks_scores(metric)):
            _check_two(metric, classes)
        settings = column_order(rules, classes)
        rules = _of_positive(rules, classes, pos_label, declared, metric.output)
    infinite = metric.ranks_pairs
    rows = {name: numbers_of(name, column, infinite=infinite) for name, column in rules.items()}
    if metric.output == "probability":
        check_probabilities(rows)
    return rows, settings


def _ranks_scores(metric: Metric) -> bool:
    return metric.linearised and metric.output == "score"


def _of_positive(
    rules: Mapping[str, Any],
    classes: np.ndarray,
    pos_label: Any,
    declared: Sequence[Any],
    output: Output,
) -> dict[str, Any]:
    """The column of the positive class in scores for each class; a single column as it is.

    It is the last one of `classes`. A single column does not tell which class it is about.
    """
    positive_scores = {}
    for name, user_scores in rules.items():
        named, shape = names_classes(user_scores, classes), np.shape(user_scores)
        # Two columns without names are those of predict_proba, whose rows sum to 1.
        is_pair = not named and shape[1:] == (2,) and len(classes) == 2
        if named or is_pair or (len(shape) == 2 and len(classes) > 2):
            sum_to_one = is_pair or output == "probability"
            columns_in_order = probabilities_of if sum_to_one else columns_of_classes
            positive_scores[name] = columns_in_order(name, user_scores, classes, declared)[:, -1]
        else:
            check_positive(classes, pos_label, f"{quoted(name)} contains")
            positive_scores[name] = user_scores
    return positive_scores


def _predicted(
    y: Any, rules: Mapping[str, Any], metric: SmoothMetric, pos_label: Any
) -> dict[str, Any]:
    """Predictions for a metric that is a function of means."""
    check_vector("y", as_response(y))
    needs_classes = metric.output != "number"
    if needs_classes and not taken_for_classes(y, metric.output, pos_label=pos_label):
        raise ValueError(
            f"{arg('metric', metric.name)} needs class labels, but y contains real values: use "
            "'r2', 'rmse' or 'ccc'"
        )
    if not needs_classes:
        metric.refuse_labels(as_response(y))
    only = _only_class(y, rules, metric, pos_label) if needs_classes else None
    sample = only or _sample(y, pos_label, as_classes=needs_classes)
    classes = None if sample.classes is None else [*map(json_label, sample.classes)]
    positive: dict[str, Any] = {}
    order: dict[str, list[Any]] = {}
    if pos_label is not None:
        metric.refuse_positive(sample.n_classes)
        if classes is not None and metric.named_class not in (None, classes[-1]):
            raise ValueError(
                f"{arg('pos_label', classes[-1])} is not the class that "
                f"{arg('metric', metric.name)} names: leave {arg('pos_label')} out, or the class "
                "out of the metric"
            )
    # Before predictions are read.
    metric.made_for(classes or ())
    target = sample.target
    outside: list[Any] = []
    if metric.of_ranks:
        # With several classes, the named class against the rest.
        target = (target == sample.n_classes - 1).astype(float)
        if classes is not None and len(classes) > 2:
            classes = [THE_REST, classes[-1]]
    if metric.output == "label":
        rows, extended = numbered_labels(rules, sample)
        if extended.n_classes > sample.n_classes == 2 and metric.of_two:
            raise ValueError(
                f"{_labels_outside(rows, extended, 2)}, and {arg('metric', metric.name)} is about "
                "the two classes of y: name one class, as in 'f1[\"ill\"]', or an average, such "
                "as 'f1_macro'"
            )
        if sample.n_classes == 2 and metric.of_two:
            known_classes = np.asarray(sample.classes)
            check_positive_of_metric(
                known_classes, arg("metric", metric.name), is_named=sample.positive_named
            )
            positive = {"positive": known_classes[-1]}
        if extended.n_classes > sample.n_classes:
            all_labels = np.asarray(extended.classes).tolist()
            outside = [*map(json_label, all_labels[sample.n_classes :])]
            target, rows, classes = _in_order(target, rows, all_labels, sample.order)
    else:
        rows, order = _numbers(rules, metric, sample.classes, pos_label, sample.declared)
        if sample.classes is not None:
            if metric.asks_for_class:
                # Names of columns do not tell which class the metric is about.
                check_positive_of_metric(
                    sample.classes, arg("metric", metric.name), is_named=sample.positive_named
                )
            positive = {"positive": sample.classes[-1]}
    stacked = metric.decided(as_rows(rows, sample.n_obs))
    settings = kept_classes(classes, sample.order, outside) | unnamed_setting(
        sample.classes, is_named=sample.positive_named
    )
    return {"predictions": stacked, "target": target, "settings": order | settings, **positive}


def _in_order(
    target: np.ndarray, rows: Mapping[str, np.ndarray], classes: list[Any], declared: Sequence[Any]
) -> tuple[np.ndarray, dict[str, np.ndarray], list[Any]]:
    """Numbers of classes in the order of their labels, which may be missing in `y`.

    Weighted kappas depend on that order, which a categorical may declare. Labels without an order
    are left as they came, after the others.
    """
    keys = classes
    if declared:
        places = {label: place for place, label in enumerate(declared)}
        keys = [places.get(label, len(places)) for label in classes]
    try:
        order = sorted(range(len(classes)), key=keys.__getitem__)
    except TypeError:
        order = [*range(len(classes))]
    class_rank = np.argsort(order).astype(float)
    ordered_rows = {name: class_rank[row.astype(int)] for name, row in rows.items()}
    return (
        class_rank[target.astype(int)],
        ordered_rows,
        [json_label(classes[class_number]) for class_number in order],
    )


def _losses(y: Any, rules: Mapping[str, Any], loss: Any, pos_label: Any) -> dict[str, Any]:
    """Losses of labels, numbers or probabilities."""
    check_vector("y", as_response(y))
    output = output_of(loss)
    if output == "number" and pos_label is None and as_response(y).dtype.kind in "iufb":
        # Predictions are in the units of y: two whole numbers are not labels here.
        as_classes = False
    else:
        as_classes = taken_for_classes(y, output, pos_label=pos_label)
    scored = as_loss(loss, has_classes=as_classes)
    sample = _sample(y, pos_label, as_classes=as_classes, output=scored.output)
    if scored.output != "number" and not as_classes:
        raise ValueError(
            f"{scored.name!r} needs class labels, but y contains real values: use "
            "'squared' or 'absolute'"
        )
    target, labels = sample.target, sample.classes
    positive: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    if scored.output == "label":
        if scored.of_one_class and sample.n_classes == 2:
            positive = {"positive": np.asarray(labels)[-1]}
        known_sample = sample
        rows, sample = numbered_labels(rules, sample)
        _check_matrix(scored, labels, sample, rows)
        scored = costs_in_order(scored, known_sample)
        settings = order_setting(COST_ORDER, cost_order(scored, known_sample))
    else:
        scored = for_classes(scored, sample.n_classes)
        if scored.output == "probability" and sample.n_classes > 2:
            settings = column_order(rules, labels)
            rows = {
                name: probabilities_of(name, user_predictions, np.asarray(labels), sample.declared)
                for name, user_predictions in rules.items()
            }
            check_probabilities(rows)
        else:
            rows, settings = _numbers(rules, scored, labels, pos_label, sample.declared)
            positive = {} if labels is None else {"positive": labels[-1]}
    stacked = as_rows(rows, sample.n_obs)
    everywhere = np.ones(stacked.shape[:2], dtype=bool)
    values, units = losses_where_tested(scored, sample, stacked, everywhere), scored.units
    cost = None if scored.matrix is None else cost_of_errors(scored.matrix)
    return {
        "loss": scored.reported_name,
        "values": values if units is None else units.of(values),
        "target": target,
        "in_words": scored.in_words,
        "bounds": scored.reported_bounds,
        "settings": settings | ({} if cost in (None, 1) else {COST_OF_ERRORS: cost}),
        **({} if units is None else {"greater_is_better": units.greater_is_better}),
        **positive,
    }


def _sample(y: Any, pos_label: Any, *, as_classes: bool, output: Output | None = None) -> Sample:
    """The response as a sample without features.

    All labels may be the same if an `output` is scored observation by observation.
    """
    response = as_response(y)
    features = np.empty((len(response), 0))
    if as_classes:
        # Predicted labels are right or wrong, whichever other classes exist.
        classes_and_codes = None if output in (None, "label") else _one_of_two(response, pos_label)
        if classes_and_codes is None:
            classes_and_codes = code_labels(
                y, pos_label, least_classes=1 if output == "label" else 2
            )
        classes, codes = classes_and_codes
        return Sample(
            *(features, response, classes, codes),
            positive_named=pos_label is not None,
            declared=declared_order(y),
            order=ordered_categories(y),
        )
    numbers = as_numbers("y", response)
    check_size("y", numbers)
    check_finite("y", numbers, infinite=False)
    return Sample(features, numbers, None, None)


def _only_class(
    y: Any, rules: Mapping[str, Any], metric: SmoothMetric, pos_label: Any
) -> Sample | None:
    """The response if it has one class only; refused unless the metric is about it alone."""
    response = as_response(y)
    labels = _different_labels(response)
    if len(labels) != 1:
        return None
    about_one = metric.of_two and metric.within is not None
    if about_one and (classes_and_codes := _one_of_two(response, pos_label)):
        classes, codes = classes_and_codes
        predicted = {
            label
            for rule_predictions in rules.values()
            for label in np.asarray(rule_predictions).flat
        }
        other_labels = [label for label in predicted if label != labels[0]]
        if len(other_labels) == 1 and codes[0] == 1:
            classes = np.array([other_labels[0], labels[0]], dtype=object)
        if codes[0] == (metric.within == "positive"):
            return Sample(
                *(np.empty((len(response), 0)), response, classes, codes),
                positive_named=pos_label is not None,
                declared=declared_order(y),
            )
    remedy = "add observations of another class"
    if metric.output == "label":
        # The share of right answers among them.
        remedy += ", or use 'accuracy', which equals the recall of this class if there is no other"
    raise ValueError(
        f"y has one class only ({excerpt(labels[0])}), and {arg('metric', metric.name)} needs "
        f"two: {remedy}"
    )


def _different_labels(response: np.ndarray) -> list[Any]:
    """The labels; empty if values are missing, or cannot be sorted, which is refused later."""
    try:
        return [] if count_missing(response) else np.unique(response).tolist()
    except TypeError:
        return []


def _one_of_two(response: np.ndarray, pos_label: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Both classes, the positive one last, and the position of the only one in the data.

    None unless all labels are the same. It must be known which class is positive, by the labels 0
    and 1 or by its name.
    """
    labels = _different_labels(response)
    if len(labels) != 1:
        return None
    (label,) = labels
    has_positive_label = isinstance(pos_label, (str, bool, int, float, np.generic))
    if has_positive_label and pos_label != label:
        classes = [label, pos_label]
    elif isinstance(label, (bool, int, float)) and label in (0, 1):
        classes = [1 - label, label] if has_positive_label else [0, 1]
    elif has_positive_label:
        classes = [f"not {label}", label]
    else:
        raise ValueError(
            f"y has one class only ({excerpt(label)}), which does not tell which class predictions "
            f"are about: pass {arg('pos_label')}"
        )
    places = np.full(len(response), classes.index(label))
    return np.array(classes, dtype=object), places


def _labels_outside(rows: Mapping[str, np.ndarray], sample: Sample, n_known: int) -> str:
    """The first rule that predicts labels outside `y`, and these labels, as a clause."""
    name = next(name for name, row in rows.items() if (row >= n_known).any())
    extra_labels = np.asarray(sample.classes)[rows[name][rows[name] >= n_known].astype(int)]
    return f"{quoted(name)} contains {listed(extra_labels.tolist())}"


def _check_matrix(loss: Loss, labels: Any, sample: Sample, rows: Mapping[str, np.ndarray]) -> None:
    if loss.matrix is None:
        return
    n_rows, n_known = len(loss.matrix), len(labels)
    if n_rows != n_known:
        raise ValueError(
            f"{arg('loss')} has shape {loss.matrix.shape}, but y has {n_known} classes "
            f"({listed(labels.tolist())}): pass one row for each true class and one column for "
            "each prediction"
        )
    if sample.n_classes > n_known:
        raise ValueError(
            f"{_labels_outside(rows, sample, n_known)}, for which the matrix has no cost, because "
            "y does not contain them"
        )


def _check_two(metric: Metric, classes: np.ndarray) -> None:
    if len(classes) == 2:
        return
    asked_metric = arg("metric", metric.name) if metric.linearised else f"{metric.name!r:.60}"
    remedy = "merge classes"
    if metric.ranks_pairs or _ranks_scores(metric):
        remedy += f", or use {arg('pos_label')} for one of them against the rest"
    elif not metric.linearised:
        remedy += f", or use {OTHER_LOSSES}"
    raise ValueError(f"{asked_metric} needs two classes, but y has {len(classes)}: {remedy}")
