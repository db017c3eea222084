"""The arguments that tests share: declared and documented once, shown in every signature and help.

A class writes `**ask: Unpack[Ask]` and `**run: Unpack[Run]`, which type checkers follow.
`spelled_out` gives the function the signature with their names, which `help`, notebooks, R and the
shell read and by which unknown arguments are refused; `documented` adds the paragraphs.
"""

import inspect
from collections.abc import Callable
from functools import cache
from itertools import groupby
from typing import Annotated, Any, TypedDict, Unpack, get_args, get_origin, get_type_hints

import numpy as np

from ucvtest.common import docstrings
from ucvtest.common.checks import P, R, named_options
from ucvtest.data.groups import GroupWeight
from ucvtest.data.missing import Missing
from ucvtest.learners.adapters.backends import Backend
from ucvtest.stats.wald import Alternative


class Tested(TypedDict, total=False):
    """The hypothesis and the loss; `HypothesisTest` describes each argument.

    A default other than None stands behind the type, here and below.
    """

    null_value: float | None
    alternative: Annotated[Alternative, "two-sided"]
    loss: Any


class OfData(TypedDict, total=False):
    """What a test has to know of the data and of the learners."""

    pos_label: Any
    groups: Any
    group_weight: Annotated[GroupWeight, "group"]
    backend: Annotated[Backend, "auto"]
    scoring: Any
    missing: Annotated[Missing, "raise"]


class Ask(Tested, OfData, total=False):
    """Both, as most tests are asked."""


class Run(TypedDict, total=False):
    """How fits are run; `HypothesisTest.fit` describes each argument."""

    rng: int | np.random.Generator | None
    n_jobs: int | None
    batch_size: int | None
    progress: bool | None


def spelled_out(function: Callable[P, R]) -> Callable[P, R]:
    """The function with the arguments of `Unpack` by their names, which refuses others."""
    signature = inspect.signature(function)
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        if get_origin(parameter.annotation) is not Unpack:
            parameters.append(parameter)
            continue
        parameters += _declared(*get_args(parameter.annotation))
    vars(function)["__signature__"] = signature.replace(parameters=parameters)
    return named_options(function)


@cache
def _declared(shared: type) -> tuple[inspect.Parameter, ...]:
    """The arguments of a declaration, as parameters by name alone."""
    parameters = []
    for name, declared in get_type_hints(shared, include_extras=True).items():
        kind, default = declared, None
        if get_origin(declared) is Annotated:
            kind, default = get_args(declared)
        by_name = inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(name, by_name, default=default, annotation=kind))
    return tuple(parameters)


def documented(own: str | None, base: str | None, function: Callable[..., Any]) -> str | None:
    """A docstring with what it leaves to that of the base: parameters, and returns and raises.

    Parameters of the function stand in the order of its signature.
    """
    # Python leaves docstrings out with -OO.
    if own is None or base is None:
        return own
    sections, of_base = docstrings.sections(own), docstrings.sections(base)
    described = docstrings.parameters(of_base.get("Parameters", ""))
    described |= docstrings.parameters(sections.get("Parameters", ""))
    names = [name for name in inspect.signature(function).parameters if name in described]
    paragraphs = [
        ", ".join(together) + text for text, together in groupby(names, described.__getitem__)
    ]
    shared = {"Parameters": "\n".join(paragraphs)}
    shared |= {title: of_base[title] for title in ("Returns", "Raises") if title in of_base}
    summary = sections.pop("")
    sections = {**shared, **sections, "Parameters": shared["Parameters"]}
    parts = [f"{title}\n{'-' * len(title)}\n{text}" for title, text in sections.items()]
    return "\n\n".join([summary, *parts])
