"""Checks of arguments that several functions share."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, signature
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin

import numpy as np

from ucvtest.common.exceptions import UNUSABLE
from ucvtest.common.words import alternatives, arg, excerpt

P = ParamSpec("P")
R = TypeVar("R")


def is_integer(value: Any) -> bool:
    """Whether a value is an integer; True and 3.0 are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether a value is a finite number, as a float too; True is not, nor is a Fraction.

    SciPy computes with these kinds only, and format strings accept these only.
    """
    if not isinstance(value, (int, float, np.integer, np.floating)) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def as_integer(name: str, value: Any) -> int:
    """The value as an int, refused unless `is_integer` is true of it."""
    if not is_integer(value):
        raise ValueError(f"{arg(name)} must be an integer, got {excerpt(value)}")
    return int(value)


def at_least(name: str, value: Any, lower_limit: int, remedy: str = "") -> int:
    """The value as an int, refused below `lower_limit`."""
    if not is_integer(value) or value < lower_limit:
        as_integer(name, value)
        remedy_text = f": {remedy}" if remedy else ""
        raise ValueError(f"{arg(name)} must be at least {lower_limit}, got {value}{remedy_text}")
    return int(value)


def check_format_version(source: str, version: Any, known_version: int) -> None:
    """Refuse saved data of any format version but the one that is read."""
    if not is_integer(version) or version < 1:
        raise ValueError(f"{source} has no format version, got {version!r:.60}")
    if version != known_version:
        raise ValueError(
            f"{source} has format version {version}, this ucvtest reads version {known_version}: "
            "upgrade ucvtest"
        )


def check_number(name: str, value: Any, *, low: float = -1e100, high: float = 1e100) -> None:
    """Refuse anything but a number between two limits; the default limits have finite squares."""
    if not is_number(value) or not low <= value <= high:
        limits = f" between {low:g} and {high:g}" if (low, high) != (-1e100, 1e100) else ""
        raise ValueError(f"{arg(name)} must be a finite number{limits}, got {excerpt(value)}")


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Refuse anything but one of some words."""
    known_choices = tuple(choices)
    if not isinstance(value, str) or value not in known_choices:
        raise ValueError(f"{arg(name, value)} is unknown: use one of {', '.join(known_choices)}")


@dataclass(frozen=True)
class Between:
    """Numbers between two limits, which may belong to them."""

    low: float
    high: float
    ends: bool = False

    def __str__(self) -> str:
        """In words that follow the noun; none for all finite numbers."""
        if self.high == HIGHEST:
            above = "of at least" if self.ends else "above"
            return f" {above} {self.low:g}" if self.low > -HIGHEST else ""
        first, last = ("from", "to") if self.ends else ("between", "and")
        return f" {first} {self.low:g} {last} {self.high:g}"


HIGHEST = 1e100
"""Its square is a number too."""


def AtLeast(low: float, high: float = HIGHEST) -> Between:
    """Numbers from a limit on, to another where there is one."""
    return Between(low, high, ends=True)


NUMBERS = {int: (int, np.integer), float: (int, float, np.integer, np.floating)}
"""What is an integer, and a number that SciPy computes with; True is neither."""

Level = Annotated[float, Between(0, 1)]
Seconds = Annotated[float, AtLeast(1e-3, 1e9)]


def declared(name: str, value: Any, declaration: Any, default: Any = Parameter.empty) -> Any:
    """A value in the range that a type declares, as Python's own number; others are refused.

    The type is one of, or a union of: `Annotated[int, AtLeast(2)]`, `Annotated[float, Between(0,
    1)]`, a `Literal` of words, and None. Any other type declares no range.
    """
    union = get_origin(declaration) in (Union, UnionType)
    kinds = get_args(declaration) if union else (declaration,)
    words = [word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind)]
    ranges = [get_args(kind) for kind in kinds if get_origin(kind) is Annotated]
    if any(get_origin(kind) not in (Literal, Annotated) for kind in kinds if kind is not NoneType):
        return value
    if (value is None and NoneType in kinds) or (isinstance(value, str) and value in words):
        return value
    for kind, limits in ranges:
        if isinstance(value, NUMBERS[kind]) and not isinstance(value, bool):
            low, high = limits.low, limits.high
            if low < value < high or (limits.ends and value in (low, high)):
                return value.item() if isinstance(value, np.generic) else value
    none = [excerpt(None)] if NoneType in kinds and default is not None else []
    if not ranges:
        listed = ", ".join(words) + "".join(f", or {word}" for word in none)
        raise ValueError(f"{arg(name, value)} is unknown: use one of {listed}")
    in_words = {int: "an integer", float: "a finite number"}
    listed = alternatives(
        [
            *(f"{in_words[kind]}{limits}{_remark(value, kind, limits)}" for kind, limits in ranges),
            *map(repr, words),
            *none,
        ]
    )
    remedy = "leave it out" if default is None else f"use {default!r}"
    remedy = "" if default is Parameter.empty else f": {remedy}"
    raise ValueError(f"{arg(name)} must be {listed}, got {excerpt(value)}{remedy}")


def undeclared(declaration: Any) -> Any:
    """A type without the ranges of numbers that it declares, as signatures show it."""
    if get_origin(declaration) is Annotated:
        return get_args(declaration)[0]
    kinds = get_args(declaration)
    if not any(get_origin(kind) is Annotated for kind in kinds):
        return declaration
    return Union[tuple(map(undeclared, kinds))]  # noqa: UP007  (of a list)


def _remark(value: Any, kind: type, limits: Between) -> str:
    """Why a value is refused that is not out of range: a Fraction, an array, a text, 10**400."""
    if is_integer(value) and value > limits.high == HIGHEST:
        return f", at most {HIGHEST:g}"
    try:
        inside = kind is float and limits.low < float(value) < limits.high
    except (*UNUSABLE, ArithmeticError):
        return ""
    return " (of the type float)" if inside and not is_number(value) else ""


def check_fields(record: Any) -> None:
    """Refuse fields of a dataclass outside of the ranges that their types declare."""
    for option in fields(record):
        value = declared(option.name, getattr(record, option.name), option.type, option.default)
        object.__setattr__(record, option.name, value)


def check_switch(name: str, value: Any) -> None:
    """Refuse anything but True and False: an array is neither."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(
            f"{arg(name)} must be {excerpt(True)} or {excerpt(False)}, got {excerpt(value)}"
        )


LARGEST = 1e70
"""The variance of squared losses overflows beyond this number; no measurement comes near."""


def check_size(name: str, values: np.ndarray) -> None:
    """Refuse numbers so large that the variance of their squares overflows."""
    largest_size = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
    if largest_size > LARGEST:
        raise ValueError(
            f"{name} contains a number of size {largest_size:.3g}, and the variance of squares of "
            f"numbers above {LARGEST:g} overflows: correct it, drop the observation, or use other "
            "units"
        )


HALF_A_PAIR = re.compile("[\ud800-\udfff]")


def numbered(names: Sequence[str]) -> list[str]:
    """The names, numbered where one comes several times.

    Examples
    --------
    >>> from ucvtest.common.checks import numbered
    >>> numbered(["knn", "lda", "knn"])
    ['knn (1)', 'lda', 'knn (2)']
    """
    counts, seen, different = Counter(names), Counter[str](), []
    for name in names:
        seen[name] += 1
        different.append(f"{name} ({seen[name]})" if counts[name] > 1 else name)
    # "knn (1)" may have been a name before.
    return different if len(set(different)) == len(different) else numbered(different)


def check_names(argument: str, names: Iterable[Any]) -> None:
    """Refuse keys of an argument that could not name rows of a table: str(1) is "1", too."""
    seen = set()
    for name in names:
        if not isinstance(name, str) or not name.strip() or name in seen:
            raise ValueError(
                f"{argument} has the key {name!r:.60}: names must be different strings with text"
            )
        seen.add(name)


def check_text(name: str, value: Any) -> None:
    """Refuse strings with half a surrogate pair, which no file and no terminal accepts."""
    if isinstance(value, str) and HALF_A_PAIR.search(value):
        raise ValueError(
            f"{name} {value!a:.60} contains half a surrogate pair, which cannot be written as "
            "UTF-8: decode the text with the encoding in which it was written"
        )


def check_options(user_callable: Any, called: str, user_options: Iterable[str]) -> None:
    """Refuse keywords that a function does not have, and suggest the nearest one that it has.

    Raises
    ------
    TypeError
        As Python does.
    """
    known_options = set(signature(user_callable).parameters) - {"self", "cls"}
    unknown = next((name for name in user_options if name not in known_options), None)
    if unknown is None:
        return
    near = get_close_matches(unknown, sorted(known_options), 1, 0.75)
    if unknown in ELSEWHERE:
        advice = ELSEWHERE[unknown]
    elif near:
        advice = f"did you mean {near[0]}?"
    else:
        advice = f"it has {', '.join(sorted(known_options))}"
    raise TypeError(f"{called} has no option {unknown!r:.60}: {advice}")


ELSEWHERE = {
    "random_state": "randomness is decided by rng=, of tests in fit(rng=)",
    "seed": "randomness is decided by rng=, of tests in fit(rng=)",
    "sample_weight": "rows are weighted by weights=, in Losses.from_predictions by sample_weight=",
    "fit_params": "rows are weighted by weights=, other parameters belong in the learner",
    "params": "rows are weighted by weights=, other parameters belong in the learner",
}
"""Options of other packages, and where their equivalents are here."""


def named_options(wrapped_callable: Callable[P, R]) -> Callable[P, R]:
    """Name the class or function in errors about unknown keywords and missing arguments.

    Arguments whose types declare a range (see `declared`) are refused outside of it.
    """
    wrapped_signature = signature(wrapped_callable)
    parameters = wrapped_signature.parameters.values()

    @wraps(wrapped_callable)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            bound = wrapped_signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            called = _called(wrapped_callable, args)
            check_options(wrapped_callable, called, kwargs)
            raise TypeError(f"{called}: {error}") from None
        for parameter in parameters:
            if parameter.name in bound:
                declared(
                    parameter.name, bound[parameter.name], parameter.annotation, parameter.default
                )
        return wrapped_callable(*args, **kwargs)

    undeclared_parameters = [
        parameter.replace(annotation=undeclared(parameter.annotation)) for parameter in parameters
    ]
    vars(checked)["__signature__"] = wrapped_signature.replace(parameters=undeclared_parameters)
    return checked


def _called(user_callable: Any, args: tuple[Any, ...]) -> str:
    """A function as the user called it: with the class that it was called on."""
    first = next(iter(signature(user_callable).parameters), "")
    if not args or first not in ("self", "cls"):
        return f"{user_callable.__name__}()"
    kind = args[0] if isinstance(args[0], type) else type(args[0])
    bare = user_callable.__name__ == "__init__"
    return f"{kind.__name__}()" if bare else f"{kind.__name__}.{user_callable.__name__}()"


def check_workers(n_jobs: Any, batch_size: Any) -> None:
    """Refuse invalid numbers of workers and of learning sets; None is the default."""
    if n_jobs is not None and as_integer("n_jobs", n_jobs) == 0:
        raise ValueError(
            f"{arg('n_jobs')} must not be 0: use 1 for one worker, -1 for all processors"
        )
    if batch_size is not None:
        at_least("batch_size", batch_size, 1)
