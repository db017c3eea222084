"""What R can call, by name: one explicit function each, from R values to R values."""

import json as json_module
from collections.abc import Callable
from typing import Any

import ucvtest as uv
from ucvtest_r.conversion import matrix, scalar, to_r, vector
from ucvtest_r.learners import RFunctionLearner, RFunctionLoss

__all__ = ["FUNCTIONS"]


def ustat_test(
    *,
    x: Any,
    y: Any,
    learner: Any,
    other: Any,
    learn_size: Any,
    n_pairs: Any,
    variance: Any,
    loss: Any,
    null_value: Any,
    alternative: Any,
    conf_level: Any,
    tol: Any,
    max_fits: Any,
    pos_label: Any,
    seed: Any,
) -> Any:
    """Run the U-statistic test; the arguments are those of `ucvtest.UStatisticTest`."""
    test = uv.UStatisticTest(
        matrix(x),
        vector(y),
        _learner(learner),
        _learner(other),
        learn_size=scalar("learn_size", learn_size),
        null_value=scalar("null_value", null_value),
        alternative=scalar("alternative", alternative),
        loss=_loss(loss),
        pos_label=scalar("pos_label", pos_label),
    )
    result = test.fit(
        n_pairs=scalar("n_pairs", n_pairs),
        variance=scalar("variance", variance),
        tol=scalar("tol", tol),
        max_fits=scalar("max_fits", max_fits),
        rng=scalar("seed", seed),
        # R functions run on R's own thread, and jitted learners need no workers.
        n_jobs=1,
    )
    return _result(result, float(conf_level[0]))


def summary(*, json: Any, conf_level: Any) -> Any:
    """Write the summary of a result that R kept as JSON."""
    return to_r(_restored(json).summary(alpha=1 - conf_level[0]).as_text())


def confidence_interval(*, json: Any, conf_level: Any) -> Any:
    """Both ends of the confidence interval of a result that R kept as JSON."""
    interval = _restored(json).confidence_interval(confidence_level=conf_level[0])
    return to_r([interval.low, interval.high])


def _learner(learner: Any) -> Any:
    """None, the short string of a jitted learner, or the list that R makes of a function."""
    import rpy2.rinterface as ri

    if isinstance(learner, ri.ListSexpVector):
        name, predict = learner
        return RFunctionLearner(name[0], predict)
    return scalar("learner", learner)


def _loss(loss: Any) -> Any:
    import rpy2.rinterface as ri

    return RFunctionLoss(loss) if isinstance(loss, ri.SexpClosure) else scalar("loss", loss)


def _restored(json: Any) -> uv.TestResult:
    return uv.TestResult.from_dict(json_module.loads(json[0]))


def _result(result: uv.TestResult, conf_level: float) -> Any:
    """Everything that R shapes an "htest" from, and the JSON that restores the result."""
    frame = result.summary_frame(alpha=1 - conf_level)
    fields = (
        "estimate", "se", "variance", "statistic", "pvalue", "df", "null_value", "alternative",
        "method", "estimand", "reference", "status", "n_obs", "n_fits", "elapsed", "settings",
        "diagnostics", "notes",
    )  # fmt: skip
    return to_r(
        {name: getattr(result, name) for name in fields}
        | {
            "conf_low": float(frame["conf_low"].iloc[0]),
            "conf_high": float(frame["conf_high"].iloc[0]),
            "conf_level": conf_level,
            "json": result.to_json(),
        }
    )


FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function for function in (ustat_test, summary, confidence_interval)
}
