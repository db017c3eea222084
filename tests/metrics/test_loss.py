"""Losses by name, and losses of users' own."""

import numpy as np
import pytest

import ucvtest as uv
from ucvtest.data.sample import make_sample
from ucvtest.metrics.loss import Loss
from ucvtest.metrics.means import LOSSES
from ucvtest.metrics.names import as_loss


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


@pytest.mark.parametrize("place", range(4))
def test_losses_where_tested_refuses_what_is_of_another_kind(place):
    sample = make_sample(np.zeros((3, 1)), [0, 1, 1], as_classes=True)
    parts = [uv.losses.LOSSES["zero_one"], sample, np.zeros((1, 3)), np.ones((1, 3), dtype=bool)]
    assert uv.losses.losses_where_tested(*parts).tolist() == [[0.0, 1.0, 1.0]]
    names = ("loss must be", "sample must be", "predictions and testing", "predictions and testing")
    for other in (None, 3, "zero_one"):
        with pytest.raises(ValueError, match=names[place]):
            uv.losses.losses_where_tested(*parts[:place], other, *parts[place + 1 :])
