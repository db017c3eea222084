"""What R can call, by name: one explicit function each, from R values to R values."""

import json as json_module
from collections.abc import Callable
from typing import Any

import numpy as np

import ucvtest as uv
from ucvtest_r.conversion import matrix, scalar, to_r, vector
from ucvtest_r.learners import RFunctionLearner, RFunctionLoss

__all__ = ["FUNCTIONS"]


def hypothesis_test(
    *, test: Any, x: Any, y: Any, learners: Any, constructor: Any, fit: Any, conf_level: Any
) -> Any:
    """Run a test of ucvtest.

    Parameters
    ----------
    test : R text
        Name of the class.
    x, y : R matrix, R vector
    learners : R list
        One or two learners, as `_learner` reads them.
    constructor, fit : R list
        Further arguments of the class and of its method `fit`, by name.
    conf_level : R number
    """
    response = vector(y)
    compared = [_learner(learner, response) for learner in learners]
    made = getattr(uv, test[0])(matrix(x), response, *compared, **_arguments(constructor))
    # R functions run on R's own thread, and jitted learners need no workers.
    result = made.fit(**_arguments(fit), n_jobs=1)
    return _result(result, float(conf_level[0]))


def autolog(**arguments: Any) -> None:
    """Switch logging to MLflow on or off; the arguments are those of `ucvtest.autolog`."""
    uv.autolog(**{name: scalar(name, value) for name, value in arguments.items()})


def summary(*, json: Any, conf_level: Any) -> Any:
    """Write the summary of a result that R kept as JSON."""
    return to_r(_restored(json).summary(alpha=1 - conf_level[0]).as_text())


def confidence_interval(*, json: Any, conf_level: Any) -> Any:
    """Both ends of the confidence interval of a result that R kept as JSON."""
    interval = _restored(json).confidence_interval(confidence_level=conf_level[0])
    return to_r([interval.low, interval.high])


def _arguments(values: Any) -> dict[str, Any]:
    """A named R list as keyword arguments: functions are losses, all else single values."""
    return {
        name: _loss(value) if name == "loss" else scalar(name, value)
        for name, value in zip(values.names, values, strict=True)
    }


def _learner(learner: Any, response: np.ndarray) -> Any:
    """The short string of a jitted learner, or the list that R makes of a function."""
    import rpy2.rinterface as ri

    if isinstance(learner, ri.ListSexpVector):
        name, predict = learner
        return RFunctionLearner(name[0], predict, response)
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
            "tables": {
                title: {name: np.array(cells) for name, cells in table.items()}
                for title, table in result.tables.items()
            },
            "pictures": {kind: each.to_dict() for kind, each in result.pictures.items()},
            "conf_low": float(frame["conf_low"].iloc[0]),
            "conf_high": float(frame["conf_high"].iloc[0]),
            "conf_level": conf_level,
            "json": result.to_json(),
        }
    )


FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (hypothesis_test, summary, confidence_interval, autolog)
}
