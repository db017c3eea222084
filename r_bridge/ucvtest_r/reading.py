"""What R sends, as arguments for ucvtest."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import ucvtest as uv
from ucvtest.hooks import computed_from
from ucvtest_r.conversion import (
    CLOSURE,
    LIST,
    NUMBERS,
    TEXT,
    is_null,
    matrix,
    parts,
    scalar,
    vector,
)
from ucvtest_r.learners import RFunctionLearner, RFunctionLoss, RFunctionScore, RSurvivalLearner
from ucvtest_r.wording import CORRECTIONS

if TYPE_CHECKING:
    import pandas as pd


def arguments_of(values: Any) -> dict[str, Any]:
    """A named R list as keyword arguments, each read by its name; all else are single values."""
    named = parts(values)
    # Learners look at it.
    response = response_of(named["y"]) if "y" in named else None
    read: dict[str, Any] = {}
    for name, value in named.items():
        if is_null(value):
            read[name] = None
        elif name == "y":
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
    if design.typeof == TEXT:
        return design[0]
    named = parts(design)
    kind = named.pop("kind")[0]
    if kind == "splits":
        pairs = zip(named["learning"], named["testing"], strict=True)
        return [tuple(vector(rows).astype(int) - 1 for rows in pair) for pair in pairs]
    arguments = {name: scalar(name, value) for name, value in named.items()}
    return getattr(uv.designs, kind)(**arguments)


def _scoring(scoring: Any) -> Any:
    """The name of a score, or a scorer of an R function that R sends with its name."""
    if scoring.typeof != LIST:
        return scalar("scoring", scoring)
    from sklearn.metrics import make_scorer

    name, function = scoring
    return make_scorer(RFunctionScore(name[0], function))


def _correction(name: Any) -> str:
    """The correction by its name in Python."""
    return CORRECTIONS.get(name[0], name[0])


def _metric(metric: Any) -> Any:
    """The name of a metric, or several of them."""
    return scalar("metric", metric) if len(metric) == 1 else list(metric)


def _numbers(name: str, values: Any) -> Any:
    """A number, or several."""
    import rpy2.rinterface as ri

    if values.typeof not in NUMBERS or len(values) == 1:
        return scalar(name, values)
    if any(each is ri.NA_Integer or each != each for each in values):
        rest = ": give one number for each class" if name == "learn_size" else ""
        raise ValueError(f"{name} must not contain NA{rest}")
    return tuple(scalar(name, type(values)([each])) for each in values)


def features_of(x: Any) -> Any:
    """An R matrix as a data frame where its columns have names, with the variables behind it.

    It is an array if a column has no name, or the name of another one; text restores losses.
    """
    if x.typeof == TEXT:
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
    if is_null(y):
        return None
    if y.typeof == LIST:
        return uv.survival(*map(vector, y))
    if "order" not in y.list_attrs():
        return vector(y)
    import pandas as pd

    return pd.Series(pd.Categorical(vector(y), vector(y.do_slot("order")), ordered=True))


def learner_of(learner: Any, response: Any) -> Any:
    """The short string of a jitted learner, or the list that R makes of a function."""
    if learner.typeof != LIST:
        return scalar("learner", learner)
    named = parts(learner)
    of_survival = hasattr(response, "records")
    kind = RSurvivalLearner if of_survival else RFunctionLearner
    return kind(
        named["name"][0],
        named["predict"],
        response.records if of_survival else np.asarray(response),
        named.get("many"),
        named.get("code", [""])[0],
        asks_for_class="asks" in named,
        as_classes=named.get("as_classes", [None])[0],
    )


def loss_of(loss: Any) -> Any:
    """The name of a loss, an R function, or costs as a table with the names of the classes."""
    if loss.typeof == LIST:
        named = parts(loss)
        return _table(named["costs"]).set_axis(list(named["rows"]), axis=0)
    return RFunctionLoss(loss) if loss.typeof == CLOSURE else scalar("loss", loss)


def _table(columns: Any) -> "pd.DataFrame":
    """A list of R vectors of one length, with names or without."""
    import pandas as pd

    unnamed = is_null(columns.names)
    names = range(len(columns)) if unnamed else columns.names
    table = pd.DataFrame({name: vector(each) for name, each in zip(names, columns, strict=True)})
    return table.set_axis(pd.RangeIndex(len(columns)), axis=1) if unnamed else table


def learners_of(learners: Any, response: Any) -> Any:
    """Learners as `learner_of` reads them, by name where they have one; or their number."""
    if learners.typeof != LIST:
        return scalar("learners", learners)
    read = [learner_of(learner, response) for learner in learners]
    return read if is_null(learners.names) else dict(zip(learners.names, read, strict=True))


def tests_of(tests: Any) -> Any:
    """One text, or tests with options, as R lists them: a mapping where all have labels."""
    if tests.typeof == TEXT:
        return tests[0]
    specs = [uv.TestSpec.of(name[0], arguments_of(options)) for name, options in tests]
    return specs if is_null(tests.names) else dict(zip(list(tests.names), specs, strict=True))


def vectors_of(values: Any) -> dict[str, "np.ndarray | pd.DataFrame"]:
    """A list of R vectors by name, or of lists with a vector for each class."""
    return {
        name: _table(each) if each.typeof == LIST else vector(each)
        for name, each in parts(values).items()
    }


def restored(text: Any) -> Any:
    """A result, a comparison or losses that R kept as JSON."""
    data = json.loads(text[0])
    kinds: dict[str, Any] = {
        "ucvtest.Comparison": uv.Comparison,
        "ucvtest.Losses": uv.Losses,
    }
    return kinds.get(data["format"], uv.TestResult).from_dict(data)


READERS: dict[str, Callable[[Any], Any]] = {
    "X": features_of,
    "base": list,
    "blocks": vectors_of,
    "complexity": list,
    "correct": vectors_of,
    "correction": _correction,
    "criteria": list,
    "design": _design,
    "environment": arguments_of,
    "fold": vector,
    "fold_scores": vectors_of,
    "groups": vector,
    "learning": matrix,
    "loss": loss_of,
    "losses": restored,
    "metric": _metric,
    "predictions": vectors_of,
    "result": restored,
    "sample_weight": vector,
    "scoring": _scoring,
    "tested": response_of,
    "testing": matrix,
    "tests": tests_of,
}
"""How R's values are read, by the name of the argument."""

SIZES = ("learn_size", "n", "n0", "n1")
"""Arguments that are one number, or several."""
