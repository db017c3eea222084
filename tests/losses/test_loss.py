"""Losses by name, and losses of users' own."""

import numpy as np
import pytest

from ucvtest.losses.loss import LOSSES, Loss, as_loss


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("zero_one", [[0, 1, 1, 0.5]]),
        ("squared", [[0, 1, 1, 0.25]]),
        ("absolute", [[0, 1, 1, 0.5]]),
        # A certain but wrong prediction stays finite.
        ("log", [[2.2e-16, 36.0437, 36.0437, np.log(2)]]),
    ],
)
def test_values(name, expected):
    found = LOSSES[name].function(np.array([0, 0, 1, 1]), np.array([[0, 1, 0, 0.5]]))
    np.testing.assert_allclose(found, expected, rtol=0.02)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"output": "labels"},
            "output='labels' is unknown: use one of label, number, probability, score",
        ),
        ({"function": "squared"}, "function must be callable, got 'squared'"),
    ],
)
def test_what_is_no_loss_is_refused(arguments, message):
    with pytest.raises(ValueError) as error:
        Loss(
            **{"name": "mine", "function": LOSSES["squared"].function, "output": "number"}
            | arguments
        )
    assert str(error.value) == message


def test_a_function_gives_its_loss_a_name_unless_it_has_none():
    def doubled(y, prediction):
        return 2.0 * (y != prediction)

    assert as_loss(doubled, has_classes=True).in_words == "expected doubled loss"
    unnamed = as_loss(lambda y, prediction: doubled(y, prediction), has_classes=True)
    assert unnamed.in_words == "expected custom loss"
