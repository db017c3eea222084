"""What R sends, as arguments for ucvtest."""

import json
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
    """A named R list as keyword arguments, each read by its name; all else are single values."""
    named = dict(zip(values.names or (), values, strict=True))
    response = response_of(named["y"]) if "y" in named else None
    read: dict[str, Any] = {}
    for name, value in named.items():
        if name == "y":
            read[name] = response
        elif name in ("learner", "other"):
            read[name] = learner_of(value, response)
        elif name == "learners":
            read[name] = learners_of(value, response)
        elif name in READERS:
            read[name] = READERS[name](value)
        else:
            read[name] = _numbers(name, value) if name in SIZES else scalar(name, value)
    return read


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
    return scalar("metric", metric) if is_null(metric) or len(metric) == 1 else list(metric)


def _each_row(values: Any) -> Any:
    """A label or a number for each row, or None."""
    return None if is_null(values) else vector(values)


def _numbers(name: str, values: Any) -> Any:
    """A number, or several."""
    import rpy2.rinterface as ri

    numbers = (ri.IntSexpVector, ri.FloatSexpVector)
    if not isinstance(values, numbers) or len(values) == 1:
        return scalar(name, values)
    if any(each is ri.NA_Integer or each != each for each in values):
        rest = ": give one number for each class" if name == "learn_size" else ""
        raise ValueError(f"{name} must not contain NA{rest}")
    return tuple(scalar(name, type(values)([each])) for each in values)


def features_of(x: Any) -> Any:
    """An R matrix as a data frame where its columns have names, with the variables behind it.

    It is an array if a column has no name, or the name of another one; text restores losses.
    """
    import rpy2.rinterface as ri

    if isinstance(x, ri.StrSexpVector):
        return restored(x)
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

    if is_null(y):
        return None
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


def _table(columns: Any) -> "pd.DataFrame":
    """A list of R vectors of one length, with names or without."""
    import pandas as pd

    unnamed = is_null(columns.names)
    names = range(len(columns)) if unnamed else columns.names
    table = pd.DataFrame({name: vector(each) for name, each in zip(names, columns, strict=True)})
    return table.set_axis(pd.RangeIndex(len(columns)), axis=1) if unnamed else table


def learners_of(learners: Any, response: Any) -> Any:
    """Learners as `learner_of` reads them, by name where they have one; or their number."""
    import rpy2.rinterface as ri

    if not isinstance(learners, ri.ListSexpVector):
        return scalar("learners", learners)
    read = [learner_of(learner, response) for learner in learners]
    return read if is_null(learners.names) else dict(zip(learners.names, read, strict=True))


def tests_of(tests: Any) -> Any:
    """One text, or tests with options, as R lists them: a mapping where all have labels."""
    import rpy2.rinterface as ri

    if is_null(tests):
        return None
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


def restored(text: Any) -> Any:
    """A result, a comparison or losses that R kept as JSON."""
    data = json.loads(text[0])
    kinds: dict[str, Any] = {
        "ucvtest.Comparison": uv.Comparison,
        "ucvtest.Losses": uv.Losses,
    }
    return kinds.get(data["format"], uv.TestResult).from_dict(data)


def _several(values: Any) -> Any:
    """None, or a list."""
    return None if is_null(values) else list(values)


READERS: dict[str, Callable[[Any], Any]] = {
    "X": features_of,
    "base": _several,
    "blocks": vectors_of,
    "complexity": _several,
    "correct": vectors_of,
    "criteria": _several,
    "design": _design,
    "environment": arguments_of,
    "fold": _each_row,
    "fold_scores": vectors_of,
    "groups": _each_row,
    "learning": matrix,
    "loss": loss_of,
    "losses": restored,
    "metric": _metric,
    "predictions": vectors_of,
    "result": restored,
    "sample_weight": _each_row,
    "scoring": _scoring,
    "tested": response_of,
    "testing": matrix,
    "tests": tests_of,
}
"""How R's values are read, by the name of the argument."""

SIZES = ("learn_size", "n", "n0", "n1")
"""Arguments that are one number, or several."""
