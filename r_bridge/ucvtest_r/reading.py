"""What R sends, as arguments for ucvtest."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import ucvtest as uv
from ucvtest.hooks import computed_from
from ucvtest_r.conversion import is_null, matrix, scalar, vector
from ucvtest_r.learners import RFunctionLearner, RFunctionLoss, RFunctionScore, RSurvivalLearner

if TYPE_CHECKING:
    import pandas as pd


def arguments_of(values: Any) -> dict[str, Any]:
    """A named R list as keyword arguments: losses, designs, sizes, all else single values."""
    read: dict[str, Callable[[Any], Any]] = {
        "loss": loss_of,
        "design": _design,
        "learn_size": _learn_size,
        "scoring": _scoring,
        "metric": _metric,
        "sample_weight": _each_row,
        "fold": _each_row,
        "groups": _each_row,
    }
    return {
        name: read[name](value) if name in read else scalar(name, value)
        for name, value in zip(values.names or (), values, strict=True)
    }


def _design(design: Any) -> Any:
    """The design that R describes by its class and arguments, by row numbers, or by a word."""
    import rpy2.rinterface as ri

    if isinstance(design, ri.StrSexpVector):
        return design[0]
    kind, *values = design
    if kind[0] == "splits":
        sets = dict(zip(design.names, design, strict=True))
        pairs = zip(sets["learning"], sets["testing"], strict=True)
        return [tuple(vector(rows).astype(int) - 1 for rows in pair) for pair in pairs]
    arguments = {
        name: scalar(name, value)
        for name, value in zip(list(design.names)[1:], values, strict=True)
    }
    return getattr(uv.designs, kind[0])(**arguments)


def _scoring(scoring: Any) -> Any:
    """The name of a score, or a scorer of an R function that R sends with its name."""
    import rpy2.rinterface as ri

    if not isinstance(scoring, ri.ListSexpVector):
        return scalar("scoring", scoring)
    from sklearn.metrics import make_scorer

    name, function = scoring
    return make_scorer(RFunctionScore(name[0], function))


def _metric(metric: Any) -> Any:
    """The name of a metric, or several of them."""
    return list(metric) if len(metric) > 1 else scalar("metric", metric)


def _each_row(values: Any) -> Any:
    """A label or a number for each row, or None."""
    return None if is_null(values) else vector(values)


def _learn_size(size: Any) -> Any:
    """A number, or one for each class."""
    import rpy2.rinterface as ri

    numbers = (ri.IntSexpVector, ri.FloatSexpVector)
    if not isinstance(size, numbers) or len(size) == 1:
        return scalar("learn_size", size)
    if any(each is ri.NA_Integer or each != each for each in size):
        raise ValueError("learn_size must not contain NA: give one number for each class")
    return tuple(scalar("learn_size", type(size)([each])) for each in size)


def features_of(x: Any) -> Any:
    """An R matrix as a data frame where its columns have names, with the variables behind it.

    It is an array if a column has no name, or the name of another one.
    """
    dimnames = _attribute(x, "dimnames")
    names = [] if dimnames is None or is_null(dimnames[1]) else list(dimnames[1])
    features = matrix(x)
    if not all(names) or len(set(names)) < features.shape[1]:
        return features
    # Takes long to import, and predictions do without it.
    import pandas as pd

    frame = pd.DataFrame(features, columns=names, copy=False)
    variables = _attribute(x, "variables")
    return frame if variables is None else computed_from(_table(variables), frame)


def _attribute(value: Any, name: str) -> Any:
    """An attribute of an R value, or None."""
    try:
        return value.do_slot(name)
    except LookupError:
        return None


def response_of(y: Any) -> Any:
    """Labels or numbers, or of an R list of time and event survival times.

    Labels with the attribute `order` are an ordered factor.
    """
    import rpy2.rinterface as ri

    if isinstance(y, ri.ListSexpVector):
        return uv.survival(*map(vector, y))
    if "order" not in y.list_attrs():
        return vector(y)
    import pandas as pd

    return pd.Series(pd.Categorical(vector(y), vector(y.do_slot("order")), ordered=True))


def learner_of(learner: Any, response: Any) -> Any:
    """The short string of a jitted learner, or the list that R makes of a function."""
    import rpy2.rinterface as ri

    if isinstance(learner, ri.ListSexpVector):
        parts = dict(zip(learner.names, learner, strict=True))
        code = parts["code"][0] if "code" in parts else ""
        of_survival = hasattr(response, "records")
        kind = RSurvivalLearner if of_survival else RFunctionLearner
        return kind(
            parts["name"][0],
            parts["predict"],
            response.records if of_survival else np.asarray(response),
            parts.get("many"),
            code,
            asks_for_class="asks" in parts,
            as_classes=parts["as_classes"][0] if "as_classes" in parts else None,
        )
    return scalar("learner", learner)


def loss_of(loss: Any) -> Any:
    """The name of a loss, an R function, or costs as a table with the names of the classes."""
    import rpy2.rinterface as ri

    if isinstance(loss, ri.ListSexpVector):
        parts = dict(zip(loss.names, loss, strict=True))
        return _table(parts["costs"]).set_axis(list(parts["rows"]), axis=0)
    return RFunctionLoss(loss) if isinstance(loss, ri.SexpClosure) else scalar("loss", loss)


def remark_of_loss(arguments: Any) -> str | None:
    """What R says of the costs among these arguments: the order of classes that they had."""
    import rpy2.rinterface as ri

    given = dict(zip(arguments.names or (), arguments, strict=True)).get("loss")
    if not isinstance(given, ri.ListSexpVector):
        return None
    parts = dict(zip(given.names, given, strict=True))
    return parts["remark"][0] if "remark" in parts else None


def _table(columns: Any) -> "pd.DataFrame":
    """A list of R vectors of one length, with names or without."""
    import pandas as pd

    unnamed = is_null(columns.names)
    names = range(len(columns)) if unnamed else columns.names
    table = pd.DataFrame({name: vector(each) for name, each in zip(names, columns, strict=True)})
    return table.set_axis(pd.RangeIndex(len(columns)), axis=1) if unnamed else table


def learners_of(learners: Any, names: Any, response: np.ndarray) -> Any:
    """Learners as `learner_of` reads them, by name where they have one."""
    read = [learner_of(learner, response) for learner in learners]
    return read if is_null(names) else dict(zip(list(names), read, strict=True))


def tests_of(tests: Any) -> Any:
    """One text, or tests with options, as R lists them: a mapping where all have labels."""
    import rpy2.rinterface as ri

    if isinstance(tests, ri.StrSexpVector):
        return tests[0]
    specs = [uv.TestSpec.of(name[0], arguments_of(options)) for name, options in tests]
    return specs if is_null(tests.names) else dict(zip(list(tests.names), specs, strict=True))


def vectors_of(values: Any) -> dict[str, "np.ndarray | pd.DataFrame"]:
    """A list of R vectors by name, or of lists with a vector for each class."""
    import rpy2.rinterface as ri

    return {
        name: _table(each) if isinstance(each, ri.ListSexpVector) else vector(each)
        for name, each in zip(values.names, values, strict=True)
    }
