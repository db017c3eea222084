"""The MLflow evaluator "ucvtest", which says whether a model is better than a baseline."""

import sys
import time
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from mlflow import MlflowClient
from mlflow.entities import Metric, RunTag
from mlflow.models.evaluation import EvaluationResult, ModelEvaluator
from mlflow.models.evaluation.artifacts import (
    ImageEvaluationArtifact,
    JsonEvaluationArtifact,
    TextEvaluationArtifact,
)

from ucvtest import NoninferiorityResult, TestResult, hooks
from ucvtest_mlflow import content
from ucvtest_mlflow.comparison import (
    Rows,
    compare_predictions,
    identity,
    loaded,
    predicted,
    scored,
    scores_for,
)
from ucvtest_mlflow.delivery import FOLDER, Logged, log_compared

# An evaluator_config without evaluator names goes to all evaluators. By these options, which
# no other one has, this evaluator knows that it is meant.
OURS = ("baseline", "baseline_model", "loss")
OPTIONS = (*OURS, "metric", "pos_label", "alternative", "margin", "groups", "ledger", "stake")
ARTIFACTS: dict[str, Any] = {
    "plot.png": ImageEvaluationArtifact,
    "summary.txt": TextEvaluationArtifact,
    "result.json": JsonEvaluationArtifact,
}


class UcvtestEvaluator(ModelEvaluator):
    """Paired comparison of a model's predictions with those of a baseline.

    Options, in ``evaluator_config``:

    baseline : str or array-like
        Column of the data that contains the baseline's predictions, or these themselves.
    baseline_model : str, model or callable
        Instead: a model URI, a model with ``predict``, or a function of the features.
    loss : {"zero_one", "squared", "absolute", "log", "auc"} or callable
        By default zero_one, for a regressor squared.
    metric : str or metric, optional
        Instead of a loss, a metric that is not a mean of losses: "f1", "f1_macro", "mcc", "r2" and
        others, as in `uv.Losses.from_predictions`.
    pos_label : optional
        The positive class, for the log loss, the AUC and metrics such as F1. Scores and
        probabilities of one class are about it. Models with ``classes_``, and the labels 0 and 1,
        False and True, or -1 and 1, say it themselves.
    alternative : {"two-sided", "less", "greater"}
    groups : str or array-like, optional
        Column of the data, or one label for each row, that says which rows belong together, such
        as those of one patient. The models do not see that column. Number and sizes of groups are
        logged.
    margin : float, optional
        By how much the model may be worse, in units of the loss or metric. The answer, as
        `TestResult.noninferiority` gives it, is logged and returned too; its metric
        ``noninferiority.pvalue`` is one for `mlflow.validate_evaluation_results`.
    ledger : path, optional
        The file of a `uv.Ledger` that was opened with these rows. Then nothing but its answer is
        logged: the metrics ``ucvtest.ledger/passed``, ``asks`` and ``budget``, and the tags
        ``ucvtest.ledger.decision`` and ``chain``. No other evaluator may see the rows.
    stake : float, optional
        The share of the ledger's budget to stake.

    Notes
    -----
    Does nothing where evaluators are not named and none of the first three options is given.
    Zero-one loss: McNemar's exact test; AUC: DeLong's; other losses: the t test of the paired
    differences; metrics: the hold-out test of that metric; with groups their clustered forms. Rows,
    or groups of them, must be independent and unseen by both models.

    Rows of one class, or of one group, may not distinguish models: such a slice ends with a
    warning, and a note among the tags of the run (``ucvtest.model_vs_baseline.auc.note``).
    Registered models are named with their version among the tags.

    For the log loss and the AUC, models are asked for `predict_proba` (for the AUC, if it is
    missing, `decision_function`); predictions that are all labels are refused.
    """

    @classmethod
    def can_evaluate(
        cls, *, model_type: str | None, evaluator_config: dict[str, Any] | None, **kwargs: Any
    ) -> bool:
        """Whether the configuration, or the call, means this evaluator."""
        # MLflow silently leaves out evaluators that are refused here. It asks for the first time
        # here where the evaluators were named, so this one is meant, even if its configuration is
        # incomplete.
        by_name = sys._getframe(1).f_code.co_name == "_evaluate"
        return by_name or any(_meant(name) in OURS for name in evaluator_config or {})

    def evaluate(
        self,
        *,
        model_type: str | None,
        dataset: Any,
        run_id: str,
        evaluator_config: dict[str, Any],
        model: Any = None,
        predictions: str | None = None,
        **kwargs: Any,
    ) -> EvaluationResult:
        """Compare, log to the run, and return the numbers.

        Raises
        ------
        ValueError
            If there is no baseline, or predictions and loss do not fit together.
        """
        config = _checked(evaluator_config)
        if config.get("ledger") is not None:
            _refuse_company(sys._getframe(1).f_locals.get("evaluators", ()))
        other = loaded(config.get("baseline_model"))
        config = {**config, "baseline_model": other}
        metric = config.get("metric")
        default = "squared" if model_type == "regressor" else "zero_one"
        loss = config.get("loss", default if metric is None else None)
        rows = _rows(dataset, model, predictions, config, scores_for(loss, metric))
        if config.get("ledger") is not None:
            return _answer_of_ledger(rows, config, loss, run_id)
        try:
            result = compare_predictions(
                rows,
                loss,
                metric=metric,
                pos_label=config.get("pos_label"),
                alternative=config.get("alternative", "two-sided"),
            )
        except ValueError as error:
            slice_of = rows.slice_of
            if slice_of is None:
                raise
            return _not_tested(rows, metric or loss, f"{slice_of}: {error}", run_id)
        margin = config.get("margin")
        # Before anything is logged: a margin that cannot be used leaves no half of an answer.
        judged = None if margin is None else result.noninferiority(margin)
        own_id = kwargs.get("model_id") or getattr(model, "model_id", None)
        words = identity("model", own_id) | identity("baseline", getattr(other, "model_id", None))
        logged = log_compared(result, run_id, judged, words)
        return _as_evaluation(result, judged, logged)


def _refuse_company(evaluators: Any) -> None:
    """Refuse evaluators that log numbers about the rows of a ledger."""
    others = [each.name for each in evaluators if each.name != "ucvtest"]
    if others:
        raise ValueError(
            f"the evaluator {', '.join(others)} logs numbers about these rows, such as the "
            "accuracy, and a ledger is valid only if nobody knows any: pass evaluators='ucvtest' "
            "alone. Numbers that are logged already remain known: open a ledger with new rows"
        )


def _answer_of_ledger(
    rows: Rows, config: dict[str, Any], loss: Any, run_id: str
) -> EvaluationResult:
    """One bit and the budget, which are all that is logged."""
    # Here, because MLflow imports every evaluator that is installed.
    from ucvtest import Ledger, Losses

    metric, pos_label = config.get("metric"), config.get("pos_label")
    losses = Losses.from_predictions(
        rows.y, rows.by_name, loss=loss, metric=metric, groups=rows.groups, pos_label=pos_label
    )
    answer = Ledger(config["ledger"]).ask(
        losses, 0, 1, margin=config.get("margin") or 0.0, stake=config.get("stake")
    )
    numbers = {"passed": answer.passed, "asks": answer.n_asks, "budget": answer.budget}
    metrics = {f"{FOLDER}.ledger/{name}": float(value) for name, value in numbers.items()}
    words = {"decision": answer.decision, "chain": answer.chain}
    tags = [RunTag(f"{FOLDER}.ledger.{name}", value) for name, value in words.items()]
    when = int(time.time() * 1000)
    logged = [Metric(name, value, when, 0) for name, value in metrics.items()]
    MlflowClient().log_batch(run_id, metrics=logged, tags=tags)
    make: Any = EvaluationResult
    return make(metrics=metrics, artifacts={}, run_id=run_id)


def _not_tested(rows: Rows, metric: Any, reason: str, run_id: str) -> EvaluationResult:
    """No numbers, and a note in the run: of many slices some are of one class, or of one group."""
    key = content.comparison_key(tuple(rows.by_name), getattr(metric, "__name__", metric))
    name, note = f"{FOLDER}.{key}.note", f"not tested, {reason}"
    MlflowClient().set_tag(run_id, name, note[: content.LONGEST_TAG])
    hooks.warn_caller(f"{key} was {note}; the tag {name} of the run says so")
    make: Any = EvaluationResult
    return make(metrics={}, artifacts={}, run_id=run_id)


def _meant(name: str) -> str | None:
    """The option that a name is, or seems to be."""
    found = get_close_matches(str(name).lower(), OPTIONS, n=1, cutoff=0.75)
    return found[0] if found else None


def _checked(config: dict[str, Any]) -> dict[str, Any]:
    unknown = [name for name in config if name not in OPTIONS]
    for name in unknown:
        if _meant(name) is not None:
            raise ValueError(
                f"evaluator_config of ucvtest has {name!r}, which it does not know: did you mean "
                f"{_meant(name)!r}? Its options are {', '.join(OPTIONS)}"
            )
    given = [name for name in ("baseline", "baseline_model") if config.get(name) is not None]
    if len(given) != 1:
        raise ValueError(
            f"evaluator_config of ucvtest has {' and '.join(given) or 'no baseline'}: name either "
            "the column (or array) of the baseline's predictions in baseline, or a model in "
            "baseline_model"
        )
    if unknown:
        hooks.warn_caller(
            f"evaluator_config contains {', '.join(unknown)}, which ucvtest does not know: its "
            f"options are {', '.join(OPTIONS)}"
        )
    return config


def _rows(
    dataset: Any, model: Any, predictions: str | None, config: dict[str, Any], scores: str | None
) -> Rows:
    """The targets and both columns of predictions; `scores` is what `scores_for` says of these."""
    if dataset.labels_data is None:
        raise ValueError("targets are missing: name the column that the models predict in targets")
    y = np.asarray(dataset.labels_data)

    def ask(asked: Any, name: str, column: str | None = None) -> Any:
        if scores is None or column is not None:
            return predicted(asked, features, name, column)
        return scored(asked, features, name, y, probabilities=scores == "probability")

    features, baseline = dataset.features_data, config.get("baseline")
    groups = config.get("groups")
    for option in ("baseline", "groups"):
        _check_row_names(features, config.get(option), option)
    if isinstance(groups, str):
        features, groups = _without_column(
            features, groups, "groups", "pass one label for each row"
        )
    elif groups is not None:
        groups = np.asarray(groups)
    name = "baseline"
    if isinstance(baseline, str):
        name = baseline
        remedy = "pass a model as baseline_model"
        features, baseline = _without_column(features, baseline, "baseline", remedy)
    elif baseline is None:
        baseline = ask(config["baseline_model"], name)
    if model is not None:
        own, own_name = ask(model, "model", predictions), "model"
    elif dataset.predictions_data is not None:
        own, own_name = np.asarray(dataset.predictions_data), str(dataset.predictions_name)
    else:
        raise ValueError(
            "there is nothing to compare with the baseline: pass a model, or name the column of "
            "its predictions in predictions"
        )
    if not isinstance(baseline, pd.DataFrame):
        baseline = np.asarray(baseline)
    return Rows(y, own, baseline, (own_name, name), groups)


def _check_row_names(features: Any, given: Any, option: str) -> None:
    """Refuse rows in another order than those of the data, where both have names."""
    known = pd.DataFrame, pd.Series
    if not isinstance(features, known) or not isinstance(given, known):
        return
    names, other = features.index, given.index
    if len(names) == len(other) and not names.equals(other) and set(names) == set(other):
        raise ValueError(
            f"the data and {option} have the same index in another order, but rows are matched by "
            f"position: pass {option}.loc[data.index]"
        )


def _without_column(
    features: Any, column: str, option: str, remedy: str
) -> tuple[pd.DataFrame, np.ndarray]:
    """The features that the models may see, and the column that an option names."""
    names = list(getattr(features, "columns", ()))
    if column not in names:
        raise ValueError(
            f"{option}={column!r} is not a column of the data, which has "
            f"{', '.join(map(str, names)) or 'no names'}; {remedy}"
        )
    return features.drop(columns=column), features[column].to_numpy()


def _as_evaluation(
    result: TestResult, judged: NoninferiorityResult | None, logged: Logged
) -> EvaluationResult:
    """The numbers and artifacts by their names in the run."""
    prefix = f"{FOLDER}.{logged.key}"
    numbers = {metric.key: metric.value for metric in content.metrics(result, prefix)}
    if judged is not None:
        answer, _ = content.of_margin(judged, prefix)
        numbers |= {metric.key: metric.value for metric in answer}
    folder = f"runs:/{logged.run_id}/{FOLDER}/{logged.key}"
    artifacts: dict[str, Any] = {}
    with TemporaryDirectory() as name:
        content.write_files(result, Path(name), log_plots=True)
        for file, kind in ARTIFACTS.items():
            artifacts[f"{prefix}.{file}"] = artifact = kind(uri=f"{folder}/{file}")
            artifact._load(str(Path(name) / file))  # noqa: SLF001  (MLflow loads its own so)
    make: Any = EvaluationResult
    return make(metrics=numbers, artifacts=artifacts, run_id=logged.run_id)
