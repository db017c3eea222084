"""Ranges that types declare: what lies inside is taken, all else is refused in one sentence."""

from fractions import Fraction
from inspect import signature
from typing import Annotated, Any, Literal

import numpy as np
import pytest

from ucvtest.common.checks import AtLeast, Between, declared, named_options

Number = Annotated[int, AtLeast(2)]
Share = Annotated[float, Between(0, 1)]
Seconds = Annotated[float, AtLeast(1, 9)]


@pytest.mark.parametrize(
    ("declaration", "value"),
    [
        (Number, 2),
        (Number, np.int64(7)),
        (Share, 0.5),
        (Share, np.float32(0.5)),
        (Seconds, 1),
        (Seconds | None, None),
        (Number | Literal["auto"], "auto"),
        (Literal["a", "b"] | None, "b"),
        # No range is declared.
        (int | None, "any"),
        (int | Literal["auto"], "any"),
        (Any, [1]),
    ],
)
def test_what_lies_inside_is_taken(declaration, value):
    found = declared("name", value, declaration, "default")
    assert found == value
    assert not isinstance(found, np.generic)


@pytest.mark.parametrize(
    ("declaration", "value", "default", "message"),
    [
        (Number, True, 5, "name must be an integer of at least 2, got True: use 5"),
        (
            Number | Literal["auto", "exact"],
            "all",
            "auto",
            "name must be an integer of at least 2, 'auto' or 'exact', got 'all': use 'auto'",
        ),
        (
            Share | Literal["auto"] | None,
            Fraction(1, 2),
            "auto",
            "name must be a finite number between 0 and 1 (of the type float), 'auto' or None, got "
            "Fraction(1, 2): use 'auto'",
        ),
        (Seconds | None, 0, None, "name must be a finite number from 1 to 9, got 0: leave it out"),
        (Share, 2, 0.5, "name must be a finite number between 0 and 1, got 2: use 0.5"),
        (
            Number,
            10**101,
            5,
            f"name must be an integer of at least 2, at most 1e+100, got {'1' + '0' * 59}: use 5",
        ),
        (Literal["a", "b"] | None, 1, "a", "name=1 is unknown: use one of a, b, or None"),
    ],
)
def test_what_lies_outside_is_refused(declaration, value, default, message):
    with pytest.raises(ValueError) as caught:
        declared("name", value, declaration, default)
    assert str(caught.value) == message


def test_arguments_of_functions_are_checked_and_shown_without_their_ranges():
    @named_options
    def function(x: Any, share: Share = 0.1, *, way: Literal["a", "b"] = "a") -> Any:
        return x, share, way

    assert function(1, 0.5, way="b") == (1, 0.5, "b")
    for wrong in ({"share": 1}, {"way": "c"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            function(1, **wrong)
    assert signature(function).parameters["share"].annotation is float
